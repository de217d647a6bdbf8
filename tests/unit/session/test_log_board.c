/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of the virtual board through a session: the real handshake, a reset in the middle, RELEASE at the
 * end. Issue 3, "done when"; docs/board.md, "The handshake".
 */
#include <stdlib.h>
#include <string.h>

#include "session/session.h"
#include "tlog/tlog_setup.h"

#include "../tlog/tlog_fixture.h"

#define AIRCR          0xE000ED0Cu
#define AIRCR_RESET    0x05FA0004u
#define SCRATCH_STATUS 0x40010408u

struct rig {
    struct event_bus *bus;
    struct kept_events kept;
    struct session *session;
};

static int set_up(void **state)
{
    struct rig *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    r->bus = kept_bus(&r->kept);
    struct diag d = DIAG_INIT;
    struct session_options options = {.link = "sim", .listen_port = -1, .bus = r->bus};
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
    free(r);
    return 0;
}

static void run_for(struct rig *r, int64_t ns)
{
    struct diag d = DIAG_INIT;
    if (session_run_for(r->session, ns, NULL, &d) != CORRAL_OK)
        fail_msg("%s", d.message);
}

static enum corral_err reset_target(struct link *link, void *ctx, struct diag *d)
{
    (void)ctx;
    return link_write32(link, 0, AIRCR, AIRCR_RESET, d);
}

static enum corral_err read_status(struct link *link, void *ctx, struct diag *d)
{
    return link_read32(link, 0, SCRATCH_STATUS, ctx, d);
}

/* Every record once and in order, or a gap that says how many: `runs` numberings, each from 0. */
static void check_core(struct rig *r, const char *core, unsigned runs, size_t least)
{
    uint32_t next = 0, gap = 0;
    unsigned seen = 1;
    size_t records = 0;
    for (size_t i = 0; i < r->kept.count; i++) {
        const struct event *e = r->kept.list[i];
        if (!e->core || strcmp(e->core, core) != 0)
            continue;
        if (e->kind == EVENT_RESTART) {
            assert_int_equal(e->restart.previous, next - 1);
            assert_int_equal(e->restart.sequence, 0);
            next = 0;
            seen++;
        } else if (e->kind == EVENT_GAP) {
            assert_int_equal(e->gap.expected, next);
            next += (uint32_t)e->gap.lost;
            gap++;
        } else if (e->kind == EVENT_LOG) {
            assert_int_equal(e->log.sequence, next);
            next++;
            records++;
        } else {
            assert_int_equal(e->kind, EVENT_LINK);
        }
    }
    assert_int_equal(seen, runs);
    assert_int_equal(gap, 0);
    assert_true(records >= least);
}

static void handshake_with_the_firmware(void **state)
{
    struct rig *r = *state;
    struct session_log_status st;
    assert_int_equal(session_start_logs(r->session, NULL), CORRAL_OK);
    run_for(r, 100 * NS_PER_MS);
    assert_int_equal(session_log_count(r->session), 2);
    session_log_status(r->session, 0, &st);
    assert_string_equal(st.setup, "active");
    assert_string_equal(st.state, "active");
    assert_int_equal(st.setup_answer, 0);
    session_log_status(r->session, 1, &st);
    assert_null(st.setup);
    assert_string_equal(st.state, "active");
    assert_int_equal(session_stop_logs(r->session, NULL), CORRAL_OK);
    check_core(r, "core0", 1, 5);
    check_core(r, "core1", 1, 5);
    size_t before = r->kept.count;
    session_log_status(r->session, 0, &st);
    assert_string_equal(st.setup, "off");
    run_for(r, 50 * NS_PER_MS); /* nobody listens now */
    assert_int_equal(r->kept.count, before);
}

static void reset_in_the_middle(void **state)
{
    struct rig *r = *state;
    struct session_log_status st;
    assert_int_equal(session_start_logs(r->session, NULL), CORRAL_OK);
    run_for(r, 150 * NS_PER_MS);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(
            link_thread_call(session_thread(r->session), LINK_PRIO_GDB, reset_target, NULL, NULL), CORRAL_OK);
        run_for(r, 250 * NS_PER_MS);
    }
    session_log_status(r->session, 0, &st);
    assert_string_equal(st.setup, "active");
    assert_int_equal(session_stop_logs(r->session, NULL), CORRAL_OK);
    check_core(r, "core0", 3, 30);
    check_core(r, "core1", 3, 30);
    assert_int_equal(kept_count(&r->kept, EVENT_LINK), 2);
    assert_string_equal(kept_get(&r->kept, EVENT_LINK, 0)->link.state, "reset");
    struct tlog_consumer_stats stats;
    session_log_stats(r->session, &stats);
    assert_int_equal(stats.lost, 0);
    assert_int_equal(stats.anomalies, 0);
    assert_int_equal(stats.restarts, 4);
    assert_int_equal(stats.records, kept_count(&r->kept, EVENT_LOG));
}

static enum corral_err overwrite_magic(struct link *link, void *ctx, struct diag *d)
{
    const uint64_t *buffer = ctx;
    return link_write32(link, 0, *buffer + TLOG_OFF_MAGIC, 0, d);
}

/* Case 7: the firmware hands over no more, so the buffer is set up again; no record is lost by it. */
static void case_7_an_overwritten_header_is_set_up_again(void **state)
{
    struct rig *r = *state;
    struct session_log_status st;
    struct tlog_consumer_stats stats;
    assert_int_equal(session_start_logs(r->session, NULL), CORRAL_OK);
    run_for(r, 150 * NS_PER_MS);
    session_log_status(r->session, 0, &st);
    uint64_t before = st.records;
    assert_true(before > 0);
    assert_int_equal(
        link_thread_call(session_thread(r->session), LINK_PRIO_GDB, overwrite_magic, &st.address, NULL),
        CORRAL_OK);
    run_for(r, 400 * NS_PER_MS);
    session_log_status(r->session, 0, &st);
    assert_string_equal(st.setup, "active");
    assert_int_equal(st.magic, TLOG_MAGIC);
    assert_true(st.records > before + 10);
    assert_int_equal(session_stop_logs(r->session, NULL), CORRAL_OK);
    session_log_stats(r->session, &stats);
    assert_int_equal(stats.lost + stats.restarts, 0);
    assert_int_equal(kept_count(&r->kept, EVENT_LINK), 0); /* nobody was started again */
}

/* The firmware lets go even when the session ends without a word. */
static void close_releases(void **state)
{
    struct rig *r = *state;
    uint32_t status = 0;
    assert_int_equal(session_start_logs(r->session, NULL), CORRAL_OK);
    run_for(r, 60 * NS_PER_MS);
    assert_int_equal(link_thread_call(session_thread(r->session), LINK_PRIO_GDB, read_status, &status, NULL),
                     CORRAL_OK);
    assert_int_equal(status, 1);
    session_close(r->session);
    r->session = NULL;
    event_bus_drain(r->bus, NULL);
    check_core(r, "core0", 1, 3);
    check_core(r, "core1", 1, 3);
}

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(handshake_with_the_firmware),
        RIG_TEST(reset_in_the_middle),
        RIG_TEST(case_7_an_overwritten_header_is_set_up_again),
        RIG_TEST(close_releases),
    };
    return cmocka_run_group_tests_name("log_board", tests, NULL, NULL);
}
