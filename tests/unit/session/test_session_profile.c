/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile of a session when the host misbehaves: a datagram that gets lost between the board and the
 * collector, one that the socket refuses; whose loss an export shows; a range of addresses from a hostile
 * ELF.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/session_internal.h"

struct fixture {
    struct event_bus *bus;
    struct session *session;
    unsigned markers;
    char last[256];
};

static enum corral_err keep_marker(void *ctx, const struct event *event, struct diag *d)
{
    struct fixture *f = ctx;
    (void)d;
    if (event->kind == EVENT_MARKER) {
        f->markers++;
        snprintf(f->last, sizeof(f->last), "%s", event->marker.text);
    }
    return CORRAL_OK;
}

static const struct sink_ops marker_ops = {.name = "markers", .write = keep_marker};

static int open_session(void **state)
{
    struct diag d = DIAG_INIT;
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->bus = event_bus_new();
    assert_non_null(f->bus);
    assert_int_equal(event_bus_attach(f->bus, sink_new(&marker_ops, f, 0), &d), CORRAL_OK);
    struct session_options options = {.profile = true, .count_pcs = true, .listen_port = 0, .bus = f->bus};
    f->session = session_open(&options, &d);
    if (!f->session)
        fail_msg("%s", d.message);
    assert_int_equal(session_connect(f->session, &d), CORRAL_OK);
    *state = f;
    return 0;
}

static int close_session(void **state)
{
    struct fixture *f = *state;
    session_close(f->session);
    event_bus_free(f->bus, NULL);
    free(f);
    return 0;
}

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* A version 17 packet with one active sample, as core `core` would send it. */
static void datagram(struct fixture *f, unsigned core, uint32_t seq)
{
    const struct profile_sample sample = {.pc = 0x100, .active = 1};
    struct profile_packet packet = {
        .version = 17, .layout = PROFILE_V17, .samples = &sample, .sample_count = 1};
    uint8_t bytes[2048];
    packet.header.seq = seq;
    packet.header.thread_count = 16;
    packet.header.enabled = 1;
    size_t size = prof_packet_write(&packet, bytes, sizeof(bytes));
    assert_true(size > 0);
    session_on_datagram(f->session, core, bytes, size);
}

static void a_datagram_that_gets_lost_is_waited_for_once(void **state)
{
    struct fixture *f = *state;
    struct session *s = f->session;
    struct sockaddr_in nowhere = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in collector = nowhere;
    socklen_t length = sizeof(nowhere);
    int other = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(other >= 0);
    assert_int_equal(bind(other, (struct sockaddr *)&nowhere, sizeof(nowhere)), 0);
    assert_int_equal(getsockname(other, (struct sockaddr *)&nowhere, &length), 0);
    collector.sin_port = htons(session_profile_port(s));

    datagram(f, 0, 1);
    event_bus_drain(f->bus, NULL);
    assert_int_equal(f->markers, 0);
    assert_int_equal(connect(s->senders[0], (struct sockaddr *)&nowhere, sizeof(nowhere)), 0);
    datagram(f, 0, 2); /* never gets to the collector */
    assert_int_equal(connect(s->senders[0], (struct sockaddr *)&collector, sizeof(collector)), 0);
    double begin = seconds();
    for (uint32_t seq = 3; seq < 10; seq++)
        datagram(f, 0, seq);
    assert_true(seconds() - begin < 1.0);
    event_bus_drain(f->bus, NULL);
    assert_int_equal(f->markers, 1);
    assert_non_null(strstr(f->last, "was not taken in time"));
    close(other);
}

static void a_datagram_that_the_socket_refuses_is_told(void **state)
{
    struct fixture *f = *state;
    static uint8_t large[70000]; /* more than UDP takes */
    session_on_datagram(f->session, 1, large, sizeof(large));
    event_bus_drain(f->bus, NULL);
    assert_int_equal(f->markers, 1);
    assert_non_null(strstr(f->last, "of core 1 could not be sent"));
}

/* Whose packets are missing: one core's loss is not drawn on another's track. */
static void an_export_shows_whose_packets_were_lost(void **state)
{
    struct fixture *f = *state;
    struct diag d = DIAG_INIT;
    char path[] = "test_session_profile.XXXXXX", text[4096];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    datagram(f, 0, 1);
    datagram(f, 0, 2);
    datagram(f, 1, 1);
    datagram(f, 1, 5);
    enum corral_err err = session_export_profile(f->session, "folded", path, &d);
    FILE *in = fopen(path, "r");
    size_t size = in ? fread(text, 1, sizeof(text) - 1, in) : 0;
    text[size] = '\0';
    if (in)
        fclose(in);
    close(fd);
    unlink(path);
    assert_int_equal(err, CORRAL_OK);
    assert_non_null(strstr(text, "core0;"));
    assert_non_null(strstr(text, "core1 (3 packets lost);"));
}

/* Sizes of symbols are the file's word: one that reaches round all 32 bits must not run for ever. */
static void an_exact_share_of_an_absurd_range_ends(void **state)
{
    struct fixture *f = *state;
    struct diag d = DIAG_INIT;
    assert_int_equal(session_run_for(f->session, 5 * NS_PER_MS, NULL, &d), CORRAL_OK);
    double all = session_exact_share(f->session, 0, 0, UINT32_MAX);
    assert_true(all >= 1.0); /* the sampler's cycles are in the range, and not in the whole */
    assert_true(session_exact_share(f->session, 0, UINT32_MAX - 1, UINT32_MAX) == 0.0);
    assert_true(session_exact_share(f->session, 0, 0, 0) == 0.0);
}

static void an_exact_share_is_of_now(void **state)
{
    struct fixture *f = *state;
    struct diag d = DIAG_INIT;
    for (unsigned i = 0; i < 3; i++) { /* shares of the halves add up at any time, not only the first */
        assert_int_equal(session_run_for(f->session, 5 * NS_PER_MS, NULL, &d), CORRAL_OK);
        double all = session_exact_share(f->session, 0, 0, UINT32_MAX);
        assert_true(all >= 1.0 && all < 1.5);
    }
}

static void expect_same(const struct prof_totals *read, const struct prof_totals *live)
{
    assert_int_equal(read->packets, live->packets);
    assert_int_equal(read->samples, live->samples);
    assert_int_equal(read->active_samples, live->active_samples);
    assert_int_equal(read->lost, live->lost);
    assert_int_equal(read->rejected, 0);
}

static bool totals_of(struct profiling *p, const char *wanted, struct prof_totals *totals)
{
    char name[PROF_SOURCE_NAME_ROOM];
    for (unsigned i = 0; i < PROF_MAX_SOURCES; i++)
        if (prof_streams_source_totals(profiling_streams(p), i, name, totals) && strcmp(name, wanted) == 0)
            return true;
    return false;
}

/* What comes through the link is in the capture file like what comes over the network, and is read back. */
static void sampled_pcs_are_captured_and_read_back(void **state)
{
    struct fixture *f = *state;
    struct diag d = DIAG_INIT;
    struct prof_totals live[2], all, read;
    struct profiling_file_stats stats;
    char path[] = "session_capture_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct capture_writer *capture = capture_writer_open(path, 0, &d);
    assert_non_null(capture);
    assert_int_equal(session_capture(f->session, capture, &d), CORRAL_OK);
    assert_int_equal(session_start_pcsr(f->session, &d), CORRAL_OK);
    assert_int_equal(session_run_for(f->session, 200 * NS_PER_MS, NULL, &d), CORRAL_OK);
    assert_int_equal(session_stop_profile(f->session, &d), CORRAL_OK);
    assert_true(totals_of(session_profiling(f->session), "pcsr:core0", &live[0]));
    assert_true(totals_of(session_profiling(f->session), "pcsr:core1", &live[1]));
    session_profile_totals(f->session, &all);
    assert_true(live[0].packets > 2 && live[1].packets > 2);
    assert_true(all.packets > live[0].packets + live[1].packets); /* and the datagrams */
    session_close(f->session);
    f->session = NULL;
    assert_int_equal(capture_writer_close(capture, &d), CORRAL_OK);

    struct host_clock *clock = host_clock_new_real();
    const struct profiling_options options = {.clock = clock};
    struct profiling *p = profiling_new(&options, &d);
    assert_non_null(p);
    enum corral_err err = profiling_read_capture(p, path, PROF_PORT, false, NULL, NULL, NULL, &stats, &d);
    unlink(path);
    assert_int_equal(err, CORRAL_OK);
    assert_false(stats.damaged);
    assert_true(totals_of(p, "pcsr:core0", &read));
    expect_same(&read, &live[0]);
    assert_true(totals_of(p, "pcsr:core1", &read));
    expect_same(&read, &live[1]);
    profiling_free(p);
    host_clock_free(clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_datagram_that_gets_lost_is_waited_for_once, open_session,
                                        close_session),
        cmocka_unit_test_setup_teardown(a_datagram_that_the_socket_refuses_is_told, open_session,
                                        close_session),
        cmocka_unit_test_setup_teardown(an_export_shows_whose_packets_were_lost, open_session, close_session),
        cmocka_unit_test_setup_teardown(an_exact_share_of_an_absurd_range_ends, open_session, close_session),
        cmocka_unit_test_setup_teardown(an_exact_share_is_of_now, open_session, close_session),
        cmocka_unit_test_setup_teardown(sampled_pcs_are_captured_and_read_back, open_session, close_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
