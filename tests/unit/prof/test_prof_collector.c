/* SPDX-License-Identifier: Apache-2.0 */
/* The collector over the loopback interface, on ports the kernel chooses. */
#include "prof_testing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "prof/collector.h"

#define WAIT (20 * NS_PER_S)

struct fixture {
    struct testing_stream *stream;
    struct host_clock *clock;
    struct prof_collector *collector;
    uint64_t raw_count, raw_bytes; /* collector's thread; read after it has stopped */
    uint16_t raw_port;
    atomic_bool hold; /* the collector's thread waits in on_raw while it is set */
};

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

static void on_raw(void *ctx, const char *address, uint16_t port, const uint8_t *data, size_t size,
                   int64_t host_ns)
{
    struct fixture *f = ctx;
    (void)data;
    f->raw_count += strcmp(address, "127.0.0.1") == 0 && host_ns >= 0;
    f->raw_bytes += size;
    f->raw_port = port;
    while (atomic_load(&f->hold))
        usleep(1000);
}

static int setup_with(void **state, bool gro)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct diag d = DIAG_INIT;
    assert_non_null(f);
    f->stream = testing_stream_new();
    f->clock = host_clock_new_real();
    assert_non_null(f->clock);
    struct prof_collector_options options = {
        .clock = f->clock, .streams = f->stream->streams, .raw = on_raw, .ctx = f, .gro = gro};
    f->collector = prof_collector_start(&options, &d);
    assert_non_null(f->collector);
    *state = f;
    return 0;
}

static int setup(void **state)
{
    return setup_with(state, false);
}

static int setup_gro(void **state)
{
    return setup_with(state, true);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    prof_collector_stop(f->collector);
    host_clock_free(f->clock);
    testing_stream_free(f->stream);
    free(f);
    return 0;
}

static void stop(struct fixture *f)
{
    prof_collector_stop(f->collector);
    f->collector = NULL;
    event_bus_drain(f->stream->bus, NULL);
}

static int open_sender(const struct fixture *f)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(prof_collector_port(f->collector))};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static void all_of_2000_datagrams_are_taken(void **state)
{
    struct fixture *f = *state;
    uint8_t data[PROF_MAX_DATAGRAM];
    int fd = open_sender(f);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < 2000; i++) {
        size_t size = testing_v17(data, &(struct testing_packet){.seq = i, .count = i % 50, .enabled = 1});
        assert_int_equal(send(fd, data, size, 0), (ssize_t)size);
        bytes += size;
        if (i % 100 == 99) /* as the virtual board does it: nothing is sent before all was taken */
            assert_true(prof_collector_wait(f->collector, i + 1, WAIT));
    }
    assert_int_equal(prof_collector_taken(f->collector), 2000);
    close(fd);
    stop(f);
    struct prof_totals t = testing_totals(f->stream);
    assert_int_equal(t.packets, 2000);
    assert_int_equal(t.lost, 0);
    assert_int_equal(t.sources, 1);
    assert_int_equal(f->raw_count, 2000);
    assert_int_equal(f->raw_bytes, bytes);
    assert_int_equal(testing_count(f->stream, EVENT_PROFILE), 2000);
    assert_true(f->stream->events[0]->host_ns >= 0);
}

static void events_are_there_when_the_wait_ends(void **state)
{
    struct fixture *f = *state;
    uint8_t data[PROF_MAX_DATAGRAM];
    int fd = open_sender(f);
    for (uint32_t i = 0; i < 300; i++) {
        size_t size = testing_v17(data, &(struct testing_packet){.seq = i, .count = 1});
        assert_int_equal(send(fd, data, size, 0), (ssize_t)size);
        assert_true(prof_collector_wait(f->collector, i + 1, WAIT));
        event_bus_drain(f->stream->bus, NULL);
        assert_int_equal(testing_count(f->stream, EVENT_PROFILE), i + 1);
    }
    close(fd);
}

static void row_59_oversized_datagram_is_refused(void **state)
{
    struct fixture *f = *state;
    static uint8_t data[8192];
    int fd = open_sender(f);
    size_t size = testing_v17(data, &(struct testing_packet){.seq = 1, .count = 255});
    assert_int_equal(send(fd, data, size, 0), (ssize_t)size);
    memset(data + 252, 0, PROF_MAX_DATAGRAM + 1 - 252);
    data[3] = 1;
    assert_int_equal(send(fd, data, PROF_MAX_DATAGRAM + 1, 0), PROF_MAX_DATAGRAM + 1); /* one byte too long */
    assert_int_equal(send(fd, data, PROF_MAX_DATAGRAM, 0), PROF_MAX_DATAGRAM);
    assert_int_equal(send(fd, data, 0, 0), 0);
    assert_true(prof_collector_wait(f->collector, 4, WAIT));
    close(fd);
    stop(f);
    assert_int_equal(testing_count(f->stream, EVENT_REJECT), 3);
    assert_int_equal(testing_count(f->stream, EVENT_PROFILE), 1);
    assert_string_equal(f->stream->events[0]->reject.reason, "truncated");
    assert_int_equal(f->stream->events[0]->reject.size, size); /* its true length */
    assert_string_equal(f->stream->events[1]->reject.reason, "truncated");
    assert_int_equal(f->stream->events[2]->profile.trailing, PROF_MAX_DATAGRAM - 276);
    assert_string_equal(f->stream->events[3]->reject.reason, "short");
}

static void senders_are_told_apart_by_port(void **state)
{
    struct fixture *f = *state;
    uint8_t data[PROF_MAX_DATAGRAM];
    int one = open_sender(f), two = open_sender(f);
    struct sockaddr_in own;
    socklen_t length = sizeof(own);
    char name[64];
    assert_int_equal(getsockname(two, (struct sockaddr *)&own, &length), 0);
    size_t size = testing_v17(data, &(struct testing_packet){.seq = 1, .count = 1});
    assert_int_equal(send(one, data, size, 0), (ssize_t)size);
    assert_true(prof_collector_wait(f->collector, 1, WAIT));
    size = testing_v17(data, &(struct testing_packet){.seq = 900, .count = 1});
    assert_int_equal(send(two, data, size, 0), (ssize_t)size);
    assert_true(prof_collector_wait(f->collector, 2, WAIT));
    close(one);
    close(two);
    stop(f);
    assert_int_equal(testing_totals(f->stream).sources, 2);
    assert_int_equal(testing_totals(f->stream).lost, 0);
    snprintf(name, sizeof(name), "prof:127.0.0.1:%u", ntohs(own.sin_port));
    assert_string_equal(f->stream->events[1]->stream, name);
    assert_int_equal(f->raw_port, ntohs(own.sin_port));
}

static void what_came_before_the_stop_is_taken(void **state)
{
    struct fixture *f = *state;
    uint8_t data[PROF_MAX_DATAGRAM];
    int fd = open_sender(f);
    for (uint32_t i = 0; i < 100; i++) {
        size_t size = testing_v17(data, &(struct testing_packet){.seq = i, .count = 1});
        assert_int_equal(send(fd, data, size, 0), (ssize_t)size);
    }
    stop(f);
    close(fd);
    assert_int_equal(testing_totals(f->stream).packets, 100);
}

/* A sender that hands the kernel many datagrams in one call: they come coalesced, the last one shorter. */
static void coalesced_datagrams_are_taken_apart(void **state)
{
    struct fixture *f = *state;
    uint8_t *data = malloc(40 * 1428), one[PROF_MAX_DATAGRAM];
    int fd = open_sender(f), each = 1428;
    size_t size = 0;
    assert_non_null(data);
    if (!prof_collector_gro(f->collector) || setsockopt(fd, SOL_UDP, UDP_SEGMENT, &each, sizeof(each)) != 0) {
        close(fd);
        free(data);
        skip(); /* a kernel before 5.0 */
    }
    for (uint32_t i = 0; i < 40; i++) {
        size_t n =
            testing_v17(one, &(struct testing_packet){.seq = i, .count = i < 39 ? 49 : 3, .enabled = 1});
        memcpy(data + size, one, n);
        size += n;
    }
    assert_int_equal(send(fd, data, size, 0), (ssize_t)size);
    assert_true(prof_collector_wait(f->collector, 40, WAIT));
    close(fd);
    free(data);
    stop(f);
    struct prof_totals t = testing_totals(f->stream);
    assert_int_equal(t.packets, 40);
    assert_int_equal(t.samples, 39 * 49 + 3);
    assert_int_equal(t.lost + t.rejected, 0);
    assert_int_equal(f->raw_count, 40);
    assert_int_equal(f->raw_bytes, size);
}

/* More than the socket's buffer holds while nobody reads: the kernel counts what it dropped, and so do we. */
static void kernel_drops_are_reported(void **state)
{
    struct fixture *f = *state;
    uint8_t data[PROF_MAX_DATAGRAM];
    int fd = open_sender(f);
    uint32_t sent = 0;
    uint64_t dropped = 0;
    atomic_store(&f->hold, true);
    for (; sent < 30000; sent++) {
        size_t size = testing_v17(data, &(struct testing_packet){.seq = sent, .count = 49, .enabled = 1});
        assert_int_equal(send(fd, data, size, 0), (ssize_t)size);
    }
    atomic_store(&f->hold, false);
    /* the count comes with the next datagram that fits: at first it may be dropped like those before it */
    for (int i = 0; i < 1000 && !dropped; i++, sent++) {
        size_t size = testing_v17(data, &(struct testing_packet){.seq = sent, .count = 1, .enabled = 1});
        assert_int_equal(send(fd, data, size, 0), (ssize_t)size);
        usleep(20000);
        event_bus_drain(f->stream->bus, NULL);
        for (size_t k = 0; k < f->stream->count; k++)
            if (f->stream->events[k]->kind == EVENT_GAP &&
                strcmp(f->stream->events[k]->gap.reason, "kernel") == 0)
                dropped += (uint64_t)f->stream->events[k]->gap.lost;
    }
    close(fd);
    stop(f);
    assert_true(dropped > 0);
    struct prof_totals t = testing_totals(f->stream);
    assert_int_equal(t.packets + t.lost, sent); /* the numbers tell the same, once what came last has come */
}

/* The kernel tells of drops with the next datagram that fits; behind the last one there is none. */
static void drops_behind_the_last_datagram_are_told_at_the_end(void **state)
{
    struct fixture *f = *state;
    uint8_t data[PROF_MAX_DATAGRAM];
    int fd = open_sender(f);
    uint32_t sent = 0;
    atomic_store(&f->hold, true);
    for (; sent < 30000; sent++) {
        size_t size = testing_v17(data, &(struct testing_packet){.seq = sent, .count = 49, .enabled = 1});
        assert_int_equal(send(fd, data, size, 0), (ssize_t)size);
    }
    close(fd);
    atomic_store(&f->hold, false);
    stop(f);
    struct prof_totals t = testing_totals(f->stream);
    assert_true(t.packets < sent);
    assert_int_equal(t.lost, 0); /* no number tells of it */
    assert_int_equal(t.packets + t.kernel_drops, sent);
}

static void port_in_use(void **state)
{
    struct fixture *f = *state;
    struct diag d = DIAG_INIT;
    char port[16];
    struct prof_collector_options options = {
        .clock = f->clock, .streams = f->stream->streams, .port = prof_collector_port(f->collector)};
    assert_null(prof_collector_start(&options, &d));
    assert_int_equal(d.code, CORRAL_ERR_PROF_PORT);
    snprintf(port, sizeof(port), "%u", options.port);
    assert_non_null(strstr(d.message, port));
    assert_non_null(strstr(d.message, "127.0.0.1"));
    assert_true(d.hint[0] != '\0');
}

static void address_that_is_none(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {"",          "localhost",    "127.0.0.1:5",
                                      "256.0.0.1", "203.0.113.77", "2001:db8::77"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct diag d = DIAG_INIT;
        struct prof_collector_options options = {
            .address = bad[i], .clock = f->clock, .streams = f->stream->streams};
        assert_null(prof_collector_start(&options, &d));
        assert_int_equal(d.code, CORRAL_ERR_PROF_PORT);
        assert_true(d.hint[0] != '\0');
    }
}

static void binds_to_loopback_by_itself(void **state)
{
    struct fixture *f = *state;
    struct diag d = DIAG_INIT;
    /* the same port is free on another loopback address, so the collector did not take every address */
    struct prof_collector_options options = {.address = "127.0.0.2",
                                             .clock = f->clock,
                                             .streams = f->stream->streams,
                                             .port = prof_collector_port(f->collector)};
    struct prof_collector *other = prof_collector_start(&options, &d);
    assert_non_null(other);
    assert_true(prof_collector_port(other) == options.port);
    assert_true(prof_collector_receive_buffer(other) > 0);
    prof_collector_stop(other);
    prof_collector_stop(NULL);
}

static void wait_is_bounded(void **state)
{
    struct fixture *f = *state;
    int64_t before = host_clock_now(f->clock);
    assert_false(prof_collector_wait(f->collector, 1, 50 * NS_PER_MS));
    assert_false(prof_collector_wait(f->collector, 1, -5));
    assert_true(prof_collector_wait(f->collector, 0, 0));
    int64_t passed = host_clock_now(f->clock) - before;
    assert_true(passed >= 50 * NS_PER_MS && passed < 10 * NS_PER_S);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define GRO(f)                                        \
    {                                                 \
#f "_coalesced", f, setup_gro, teardown, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_of_2000_datagrams_are_taken),
        GRO(all_of_2000_datagrams_are_taken),
        TEST(events_are_there_when_the_wait_ends),
        GRO(events_are_there_when_the_wait_ends),
        TEST(row_59_oversized_datagram_is_refused),
        GRO(row_59_oversized_datagram_is_refused),
        TEST(senders_are_told_apart_by_port),
        GRO(senders_are_told_apart_by_port),
        TEST(what_came_before_the_stop_is_taken),
        GRO(coalesced_datagrams_are_taken_apart),
        TEST(kernel_drops_are_reported),
        TEST(drops_behind_the_last_datagram_are_told_at_the_end),
        TEST(port_in_use),
        TEST(address_that_is_none),
        TEST(binds_to_loopback_by_itself),
        TEST(wait_is_bounded),
    };
    return cmocka_run_group_tests_name("prof collector", tests, NULL, NULL);
}
