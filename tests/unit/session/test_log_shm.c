/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs of a session over mapped memory: a real clock, so the link's thread takes batches while the caller
 * looks at what it has taken. Firmware-log sheet 8, cases 7, 31 and 40; INTERFACE.md "The log, exactly".
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "session/session.h"

#include "../tlog/tlog_fixture.h"

#define BASE      0x20000000u
#define FILE_SIZE 0x4000u
#define CAPACITY  4112u
#define RECORDS   100u /* in a batch */
#define BATCHES   60u

struct rig {
    char path[32];
    uint8_t *memory;
    struct event_bus *bus;
    struct kept_events kept;
    struct session *session;
    atomic_bool ended; /* the firmware has */
};

static int set_up(void **state)
{
    struct rig *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    strcpy(r->path, "log-shm-XXXXXX");
    int fd = mkstemp(r->path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, FILE_SIZE), 0);
    r->memory = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(r->memory != MAP_FAILED);
    close(fd);
    r->bus = kept_bus(&r->kept);
    struct diag d = DIAG_INIT;
    char words[64];
    snprintf(words, sizeof(words), "shm:%s@%u", r->path, BASE);
    struct session_options options = {.link = words, .listen_port = -1, .bus = r->bus};
    r->session = session_open(&options, &d);
    if (!r->session || session_connect(r->session, &d) != CORRAL_OK)
        fail_msg("%s", d.message);
    *state = r;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *r = *state;
    session_close(r->session);
    event_bus_free(r->bus, NULL);
    kept_clear(&r->kept);
    munmap(r->memory, FILE_SIZE);
    unlink(r->path);
    free(r);
    return 0;
}

static void hand_over(struct rig *r, uint32_t at, const struct batch *b)
{
    uint8_t *to = r->memory + at;
    memcpy(to, b->data, TLOG_OFF_OWNER);
    memcpy(to + TLOG_OFF_VERSION, b->data + TLOG_OFF_VERSION, b->capacity - TLOG_OFF_VERSION);
    __atomic_store_n(to + TLOG_OFF_OWNER, 1, __ATOMIC_RELEASE);
}

static bool is_taken(const struct rig *r, uint32_t at)
{
    return __atomic_load_n(r->memory + at + TLOG_OFF_OWNER, __ATOMIC_ACQUIRE) == 0;
}

static void nap(void)
{
    const struct timespec t = {.tv_nsec = 200000};
    nanosleep(&t, NULL);
}

/* The firmware: the next batch as soon as the one before was taken. */
static void *firmware(void *arg)
{
    struct rig *r = arg;
    struct batch b = batch_begin(CAPACITY);
    for (uint32_t n = 0; n < BATCHES; n++) {
        b.end = TLOG_HEADER_SIZE;
        for (uint32_t i = 0; i < RECORDS; i++)
            batch_line(&b, n, n * RECORDS + i, "a line");
        hand_over(r, 0, &b);
        for (unsigned naps = 0; !is_taken(r, 0) && naps < 100000; naps++)
            nap();
    }
    free(b.data);
    atomic_store(&r->ended, true);
    return NULL;
}

static void start_at(struct rig *r, uint32_t offset)
{
    const struct session_log_request where = {.at_set = true, .address = BASE + offset, .size = CAPACITY};
    struct diag d = DIAG_INIT;
    if (session_start_logs_at(r->session, &where, &d) != CORRAL_OK)
        fail_msg("%s", d.message);
}

/* What the caller sees while the link's thread decodes is never half a batch. */
static void totals_are_read_between_batches(void **state)
{
    struct rig *r = *state;
    struct tlog_consumer_stats stats;
    struct session_log_status st;
    pthread_t thread;
    uint64_t before = 0, halves = 0;
    start_at(r, 0);
    assert_int_equal(pthread_create(&thread, NULL, firmware, r), 0);
    for (bool last = false; !last;) {
        last = atomic_load(&r->ended);
        session_log_stats(r->session, &stats);
        session_log_status(r->session, 0, &st);
        halves += stats.records != stats.batches * RECORDS;
        halves += stats.bytes != stats.batches * (TLOG_HEADER_SIZE + RECORDS * 19);
        halves += stats.records < before || st.records < stats.records;
        before = stats.records;
        event_bus_drain(r->bus, NULL);
    }
    pthread_join(thread, NULL);
    assert_int_equal(halves, 0);
    assert_int_equal(session_stop_logs(r->session, NULL), CORRAL_OK);
    session_log_stats(r->session, &stats);
    assert_int_equal(stats.records, RECORDS * BATCHES);
    assert_int_equal(stats.lost + stats.gaps + stats.anomalies, 0);
}

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(totals_are_read_between_batches),
    };
    return cmocka_run_group_tests_name("log_shm", tests, NULL, NULL);
}
