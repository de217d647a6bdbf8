/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several cores looked at and started in one batch, and what need not be cleared again before a restart.
 * Cross-trigger sheet 1.7 "restart", 3.2, 3.5.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/core.h"
#include "tests/unit/link/fake_target.h"

#define DHCSR       0xE000EDF0u
#define DFSR        0xE000ED30u
#define S_RETIRE_ST (1u << 24)
#define BKPT        0x02u

#define CORES 3

struct bench {
    struct fake_target *t;
    struct link *link;
    struct core *cores[CORES];
};

static struct bench open_bench(void)
{
    struct bench b = {.t = fake_target_new(CORES)};
    struct diag d = DIAG_INIT;
    b.link = fake_target_link(b.t);
    for (uint32_t i = 0; i < CORES; i++) {
        char name[] = {'c', (char)('0' + i), 0};
        b.cores[i] = core_cortex_m_open(b.link, i, name, 100000000, NULL, &d);
        assert_non_null(b.cores[i]);
    }
    return b;
}

static void close_bench(struct bench *b)
{
    for (size_t i = 0; i < CORES; i++)
        core_close(b->cores[i]);
    link_close(b->link);
    fake_target_free(b->t);
}

/* All halted at a breakpoint, and their reasons taken. */
static void stop_all(struct bench *b)
{
    struct diag d = DIAG_INIT;
    struct core_status s;
    for (size_t i = 0; i < CORES; i++) {
        fake_target_stop(b->t, i, BKPT);
        assert_int_equal(core_read_status(b->cores[i], true, &s, &d), CORRAL_OK);
        assert_int_equal(s.reason, HALT_REASON_BREAKPOINT);
        assert_int_equal(b->t->core[i].dfsr, 0);
    }
}

static void test_a_core_that_stayed_halted_needs_nothing_cleared(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    bool restarted = true;
    stop_all(&b);
    size_t from = b.t->log_count;
    assert_int_equal(core_prepare_run(b.cores[0], &d), CORRAL_OK);
    assert_int_equal(fake_target_find(b.t, from, 0, DFSR), b.t->log_count);
    assert_int_equal(core_confirm_run(b.cores[0], &restarted, &d), CORRAL_OK);
    assert_false(restarted);
    /* only once: from here on anything may have happened */
    assert_int_equal(core_prepare_run(b.cores[0], &d), CORRAL_OK);
    assert_true(fake_target_find(b.t, from, 0, DFSR) < b.t->log_count);
    close_bench(&b);
}

/* Somebody else started it meanwhile, and it stopped again: that reason is not the proof of our start. */
static void test_a_core_that_left_debug_state_since_is_cleared_again(void **state)
{
    (void)state;
    for (unsigned looked = 0; looked < 2; looked++) {
        struct bench b = open_bench();
        struct diag d = DIAG_INIT;
        bool restarted = true;
        stop_all(&b);
        b.t->core[0].sticky = S_RETIRE_ST;
        b.t->core[0].dfsr = BKPT;
        if (looked)
            core_look(b.cores, CORES);
        size_t from = b.t->log_count;
        assert_int_equal(core_prepare_run(b.cores[0], &d), CORRAL_OK);
        assert_true(fake_target_find(b.t, from, 0, DFSR) < b.t->log_count);
        assert_int_equal(core_confirm_run(b.cores[0], &restarted, &d), CORRAL_OK);
        assert_false(restarted);
        close_bench(&b);
    }
}

static void test_c_step_left_by_another_is_cleared_all_the_same(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    stop_all(&b);
    b.t->core[1].control |= 0x4;
    size_t from = b.t->log_count;
    core_look(b.cores, CORES);
    assert_int_equal(core_prepare_run(b.cores[1], &d), CORRAL_OK);
    size_t at = fake_target_find(b.t, from, 1, DHCSR);
    assert_true(at < b.t->log_count);
    assert_int_equal(b.t->log[at].value, 0xA05F0003);
    assert_true(fake_target_find(b.t, at, 1, DFSR) < b.t->log_count);
    close_bench(&b);
}

static void test_what_was_seen_holds_until_it_is_forgotten(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct core_status s;
    core_look(b.cores, CORES);
    fake_target_stop(b.t, 1, BKPT);
    assert_int_equal(core_read_status(b.cores[1], false, &s, &d), CORRAL_OK);
    assert_int_equal(s.state, CORE_RUNNING);
    assert_int_equal(core_peek_status(b.cores[1], &s, &d), CORRAL_OK); /* never from memory */
    assert_int_equal(s.state, CORE_HALTED);
    assert_int_equal(core_read_status(b.cores[1], false, &s, &d), CORRAL_OK);
    assert_int_equal(s.state, CORE_HALTED);
    core_look(b.cores, CORES);
    fake_target_stop(b.t, 2, BKPT);
    core_forget_look(b.cores, CORES);
    assert_int_equal(core_read_status(b.cores[2], false, &s, &d), CORRAL_OK);
    assert_int_equal(s.state, CORE_HALTED);
    close_bench(&b);
}

/* All starts before the first look, in the order given; each is proven. */
static void test_all_are_started_in_one_go(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct core_start started[CORES];
    struct core *order[CORES] = {b.cores[2], b.cores[0], b.cores[1]};
    static const uint32_t aps[CORES] = {2, 0, 1};
    stop_all(&b);
    for (size_t i = 0; i < CORES; i++)
        assert_int_equal(core_prepare_run(b.cores[i], &d), CORRAL_OK);
    b.t->core[0].stop_at_once = BKPT;
    size_t from = b.t->log_count;
    core_start_all(order, CORES, started);
    for (size_t i = 0; i < CORES; i++) {
        bool restarted = false;
        assert_true(started[i].done);
        assert_int_equal(started[i].err, CORRAL_OK);
        assert_int_equal(b.t->log[from + i].ap, aps[i]);
        assert_int_equal(b.t->log[from + i].value, 0xA05F0001);
        assert_int_equal(core_confirm_run(order[i], &restarted, &d), CORRAL_OK);
        assert_true(restarted);
        assert_int_equal(b.t->core[i].starts, 1);
    }
    assert_int_equal(b.t->log_count, from + CORES);
    close_bench(&b);
}

/* One that cannot be reached is named by itself, and takes nothing from the others. */
static void test_one_that_faults_leaves_the_others_theirs(void **state)
{
    (void)state;
    for (size_t bad = 0; bad < CORES; bad++) {
        struct bench b = open_bench();
        struct diag d = DIAG_INIT;
        struct core_start started[CORES];
        struct core_status s;
        stop_all(&b);
        for (size_t i = 0; i < CORES; i++)
            assert_int_equal(core_prepare_run(b.cores[i], &d), CORRAL_OK);
        b.t->core[bad].faults = true;
        core_start_all(b.cores, CORES, started);
        for (size_t i = 0; i < CORES; i++) {
            bool restarted = false;
            assert_true(started[i].done);
            assert_int_equal(started[i].err, i == bad ? CORRAL_ERR_LINK_FAULT : CORRAL_OK);
            assert_int_equal(b.t->core[i].starts, i == bad ? 0 : 1);
            if (i == bad) {
                assert_non_null(strstr(started[i].why.message, core_name(b.cores[i])));
                continue;
            }
            assert_int_equal(core_confirm_run(b.cores[i], &restarted, &d), CORRAL_OK);
            assert_true(restarted);
        }
        core_look(b.cores, CORES);
        for (size_t i = 0; i < CORES; i++) {
            assert_int_equal(core_read_status(b.cores[i], false, &s, &d), CORRAL_OK);
            assert_int_equal(s.state, i == bad ? CORE_UNPOWERED : CORE_RUNNING);
        }
        close_bench(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_core_that_stayed_halted_needs_nothing_cleared),
        cmocka_unit_test(test_a_core_that_left_debug_state_since_is_cleared_again),
        cmocka_unit_test(test_c_step_left_by_another_is_cleared_all_the_same),
        cmocka_unit_test(test_what_was_seen_holds_until_it_is_forgotten),
        cmocka_unit_test(test_all_are_started_in_one_go),
        cmocka_unit_test(test_one_that_faults_leaves_the_others_theirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
