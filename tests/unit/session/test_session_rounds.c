/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of run and halt on the board: what they count, and what ends them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/session_internal.h"

struct fixture {
    struct event_bus *bus;
    struct session *session;
};

static int open_session(void **state)
{
    struct diag d = DIAG_INIT;
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->bus = event_bus_new();
    assert_non_null(f->bus);
    f->session = session_open(&(struct session_options){.bus = f->bus}, &d);
    if (!f->session)
        fail_msg("%s", d.message);
    assert_int_equal(session_connect(f->session, &d), CORRAL_OK);
    assert_int_equal(session_run_for(f->session, 5 * NS_PER_MS, NULL, &d), CORRAL_OK);
    assert_int_equal(session_halt(f->session, 0, NULL, &d), CORRAL_OK);
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

static enum corral_err set_missed(struct link *link, void *ctx, struct diag *d)
{
    const struct session *s = ctx;
    uint64_t address = 0;
    assert_true(symbol_lookup(s->symbols[0], "mailbox_missed", &address, NULL));
    return link_write32(link, core_ap(s->cores[0]), address, UINT32_MAX, d);
}

static enum corral_err break_where_core0_stands(struct link *link, void *ctx, struct diag *d)
{
    const struct session *s = ctx;
    uint32_t pc = 0;
    (void)link;
    enum corral_err err = core_step(s->cores[0], d); /* the program is a loop: it comes past here again */
    if (!err)
        err = core_read_register(s->cores[0], 15, &pc, d);
    return err ? err : core_set_breakpoint(s->cores[0], pc, d);
}

/* The firmware's counter has 32 bits; what a set of rounds added to it must not come out negative. */
static void missed_deadlines_are_counted_across_a_wrap(void **state)
{
    struct fixture *f = *state;
    struct diag d = DIAG_INIT;
    struct session_rounds rounds;
    assert_int_equal(session_call(f->session, set_missed, f->session, &d), CORRAL_OK);
    assert_int_equal(session_measure_rounds(f->session, 10, NS_PER_MS, NULL, &rounds, &d), CORRAL_OK);
    assert_int_equal(rounds.rounds, 10);
    assert_true(rounds.deadlines_missed > 0 && rounds.deadlines_missed <= 20);
    assert_true(rounds.worst_difference_ns >= 0 && rounds.worst_difference_ns <= 50);
}

static void a_round_that_a_breakpoint_ends_is_no_measurement(void **state)
{
    struct fixture *f = *state;
    struct diag d = DIAG_INIT;
    struct session_rounds rounds;
    assert_int_equal(session_call(f->session, break_where_core0_stands, f->session, &d), CORRAL_OK);
    assert_int_equal(session_measure_rounds(f->session, 3, 50 * NS_PER_MS, NULL, &rounds, &d),
                     CORRAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(d.message, "a core stopped by itself"));
}

static void numbers_that_make_no_sense_are_refused(void **state)
{
    struct fixture *f = *state;
    struct diag d = DIAG_INIT;
    struct session_rounds rounds;
    assert_int_equal(session_measure_rounds(f->session, 0, NS_PER_MS, NULL, &rounds, &d), CORRAL_ERR_USAGE);
    assert_int_equal(session_measure_rounds(f->session, 1001, NS_PER_MS, NULL, &rounds, &d),
                     CORRAL_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(missed_deadlines_are_counted_across_a_wrap, open_session,
                                        close_session),
        cmocka_unit_test_setup_teardown(a_round_that_a_breakpoint_ends_is_no_measurement, open_session,
                                        close_session),
        cmocka_unit_test_setup_teardown(numbers_that_make_no_sense_are_refused, open_session, close_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
