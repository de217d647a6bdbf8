/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer on mapped memory against a writer that runs at the same time: the firmware-log sheet 6 (owner
 * with acquire and release) and 8 case 32. Built a second time with ThreadSanitizer: the owner byte must
 * order everything else.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "link/shm.h"
#include "tlog_fixture.h"

#define CAPACITY 4112u
#define BATCHES  500u
#define EACH     20u
#define WAIT_NS  (60 * NS_PER_S)

struct writer {
    uint8_t *memory;
    bool drops; /* as released firmware: what finds no room is gone, but numbered */
    uint32_t sequence, sent, dropped;
    atomic_bool done;
};

static uint8_t owner_of(const struct writer *w)
{
    return __atomic_load_n(w->memory + TLOG_OFF_OWNER, __ATOMIC_ACQUIRE);
}

static void put_batch(struct writer *w)
{
    uint8_t *p = w->memory + TLOG_HEADER_SIZE;
    for (uint32_t i = 0; i < EACH; i++) {
        char text[32];
        int n = snprintf(text, sizeof(text), "line %u", w->sequence) + 1;
        store_le16(p, (uint16_t)(TLOG_RECORD_HEADER + (unsigned)n));
        p[2] = 3;
        p[3] = 0;
        store_le32(p + 4, w->sequence);
        store_le32(p + 8, w->sequence++);
        memcpy(p + TLOG_RECORD_HEADER, text, (size_t)n);
        p += TLOG_RECORD_HEADER + n;
    }
    w->sent += EACH;
    store_le32(w->memory, (uint32_t)(p - w->memory));
    __atomic_store_n(w->memory + TLOG_OFF_OWNER, (uint8_t)1, __ATOMIC_RELEASE);
}

static void *write_batches(void *arg)
{
    struct writer *w = arg;
    for (uint32_t n = 0; n < BATCHES; n++) {
        unsigned spins = 0;
        while (owner_of(w) != 0 && !(w->drops && ++spins > 50))
            sched_yield();
        if (owner_of(w) == 0) {
            put_batch(w);
        } else {
            w->sequence += EACH;
            w->dropped += EACH;
        }
    }
    while (owner_of(w) != 0)
        sched_yield();
    atomic_store(&w->done, true);
    return NULL;
}

/* The link's own mapping: ThreadSanitizer would not know that a second one is the same memory. */
static uint8_t *mapping_of(const char *name)
{
    char line[512];
    unsigned long start = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (!start && fgets(line, sizeof(line), maps))
        if (strstr(line, name))
            start = strtoul(line, NULL, 16);
    fclose(maps);
    assert_true(start != 0);
    return (uint8_t *)start; /* NOLINT(performance-no-int-to-ptr): the kernel tells addresses as text */
}

static void run(bool drops)
{
    char path[] = "shm-consumer-XXXXXX", spec[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, CAPACITY), 0);
    uint8_t header[TLOG_HEADER_SIZE] = {TLOG_HEADER_SIZE};
    store_le32(header + TLOG_OFF_BUFFER_SIZE, CAPACITY);
    store_le32(header + TLOG_OFF_MAGIC, TLOG_MAGIC);
    assert_int_equal(pwrite(fd, header, sizeof(header), 0), sizeof(header));
    struct writer w = {.drops = drops};

    struct host_clock *clock = host_clock_new_real();
    struct kept_events kept = {.count = 0};
    struct event_bus *bus = kept_bus(&kept);
    snprintf(spec, sizeof(spec), "shm:%s@0x20000000", path);
    struct link *link = link_shm_open(spec, clock, NULL);
    assert_non_null(link);
    struct tlog_consumer_options options = {.stream = "tlog", .address = 0x20000000, .capacity = CAPACITY};
    struct tlog_consumer *consumer = tlog_consumer_new(&options, bus, NULL);
    assert_non_null(consumer);

    w.memory = mapping_of(path);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, write_batches, &w), 0);
    struct deadline until = deadline_in(clock, WAIT_NS);
    uint32_t next = 0, lost = 0, records = 0;
    while (!atomic_load(&w.done) && !deadline_passed(&until)) {
        assert_int_equal(tlog_consumer_poll(consumer, link, NULL, NULL), CORRAL_OK);
        assert_int_equal(event_bus_drain(bus, NULL), CORRAL_OK);
        for (size_t i = 0; i < kept.count; i++) {
            const struct event *e = kept.list[i];
            if (e->kind == EVENT_GAP) {
                assert_int_equal(e->gap.expected, next);
                next += (uint32_t)e->gap.lost;
                lost += (uint32_t)e->gap.lost;
                continue;
            }
            assert_int_equal(e->kind, EVENT_LOG); /* no anomaly: nothing torn, nothing odd */
            char text[32];
            snprintf(text, sizeof(text), "line %u", next);
            assert_int_equal(e->log.sequence, next);
            assert_string_equal(e->log.text, text);
            next++;
            records++;
        }
        kept_clear(&kept);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(atomic_load(&w.done));
    assert_int_equal(records, w.sent);
    /* what was dropped behind the last batch shows with the next one, which does not come */
    assert_true(lost <= w.dropped);
    assert_int_equal(lost + records, next);
    if (!drops)
        assert_int_equal(lost, 0);

    tlog_consumer_free(consumer);
    link_close(link);
    event_bus_free(bus, NULL);
    host_clock_free(clock);
    close(fd);
    unlink(path);
}

static void writer_that_waits(void **state)
{
    (void)state;
    run(false);
}

static void writer_that_drops(void **state)
{
    (void)state;
    run(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writer_that_waits),
        cmocka_unit_test(writer_that_drops),
    };
    return cmocka_run_group_tests_name("shm_consumer", tests, NULL, NULL);
}
