/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The group against modelled cores and CTIs: what goes wrong on real parts and may not on the board. Cross-
 * trigger sheet 1.7, 3.4, 3.5 and cases 12.A.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "group/group.h"
#include "tests/unit/link/fake_target.h"

#define DHCSR    0xE000EDF0u
#define INTACK   (FAKE_CTI_BASE + 0x010)
#define APPPULSE (FAKE_CTI_BASE + 0x01C)
#define CTI_END  (FAKE_CTI_BASE + 0xFFF)

struct bench {
    struct fake_target *t;
    struct link *link;
    struct core *cores[FAKE_CORES];
    size_t count;
    struct group *group;
};

static struct bench open_bench_with(size_t count, int restart_output, const uint32_t *hz)
{
    static const char *const names[] = {"core0", "core1", "core2"};
    struct bench b = {.t = fake_target_new(count), .count = count};
    struct diag d = DIAG_INIT;
    b.link = fake_target_link(b.t);
    for (size_t i = 0; i < count; i++) {
        struct cti *cti =
            restart_output == -2 ? NULL : cti_open(b.link, (uint32_t)i, FAKE_CTI_BASE, restart_output, &d);
        b.cores[i] = core_cortex_m_open(b.link, (uint32_t)i, names[i], hz ? hz[i] : 100000000, cti, &d);
        assert_non_null(b.cores[i]);
    }
    b.group = group_new(b.cores, count, NULL, "group");
    assert_non_null(b.group);
    return b;
}

static struct bench open_bench(size_t count)
{
    return open_bench_with(count, 7, NULL);
}

static struct bench open_synced(size_t count)
{
    struct bench b = open_bench(count);
    struct diag d = DIAG_INIT;
    assert_int_equal(group_enable_sync(b.group, &d), CORRAL_OK);
    return b;
}

static void close_bench(struct bench *b)
{
    group_free(b->group);
    for (size_t i = 0; i < b->count; i++)
        core_close(b->cores[i]);
    link_close(b->link);
    fake_target_free(b->t);
}

static size_t writes_of(const struct bench *b, size_t from, uint32_t address)
{
    size_t n = 0;
    for (size_t i = from; i < b->t->log_count; i++)
        n += b->t->log[i].address == address;
    return n;
}

static void assert_all(const struct event *e, enum core_state state)
{
    for (size_t i = 0; i < e->halt.core_count; i++)
        assert_int_equal(e->halt.cores[i].state, state);
}

static void assert_unlatched(const struct bench *b)
{
    for (size_t i = 0; i < b->count; i++)
        assert_int_equal(b->t->core[i].cti.out, 0);
}

/* Is there a remark that begins like this? */
static bool said(const struct bench *b, const char *words)
{
    const struct group_remark *list;
    size_t n = group_remarks(b->group, &list);
    for (size_t i = 0; i < n; i++)
        if (strncmp(list[i].text, words, strlen(words)) == 0)
            return true;
    return false;
}

static void test_a19_halt_and_run_with_every_member_as_leader(void **state)
{
    (void)state;
    struct bench b = open_synced(3);
    struct diag d = DIAG_INIT;
    for (size_t leader = 0; leader < 3; leader++) { /* A19: also the originator is acknowledged */
        struct event e;
        size_t from = b.t->log_count;
        assert_int_equal(group_halt(b.group, leader, &e, &d), CORRAL_OK);
        assert_int_equal(writes_of(&b, from, DHCSR), 1);
        assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
        assert_all(&e, CORE_HALTED);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(e.halt.cores[i].first, i == leader);
            assert_int_equal(e.halt.cores[i].reason,
                             i == leader ? HALT_REASON_REQUEST : HALT_REASON_CROSS_TRIGGER);
        }
        assert_unlatched(&b);
        from = b.t->log_count;
        assert_int_equal(group_run(b.group, leader, &e, &d), CORRAL_OK);
        assert_int_equal(writes_of(&b, from, APPPULSE), 1);
        assert_int_equal(writes_of(&b, from, DHCSR), 0);
        assert_all(&e, CORE_RUNNING);
        for (size_t i = 0; i < 3; i++)
            assert_true(e.halt.cores[i].restarted);
    }
    close_bench(&b);
}

static void test_a6_acknowledge_only_after_all_have_halted(void **state)
{
    (void)state;
    struct bench b = open_synced(3);
    struct diag d = DIAG_INIT;
    b.t->core[2].other_ctm = true; /* comes late: it has to be asked by itself */
    size_t from = b.t->log_count;
    assert_int_equal(group_halt(b.group, 0, NULL, &d), CORRAL_OK);
    size_t acknowledged = 0;
    for (size_t i = from; i < b.t->log_count; i++)
        if (b.t->log[i].address == INTACK) {
            acknowledged++;
            assert_true(b.t->log[i].all_halted);
        }
    assert_true(acknowledged >= 3);
    assert_unlatched(&b);
    close_bench(&b);
}

static void test_a28_a_core_on_another_matrix_is_asked_by_itself(void **state)
{
    (void)state;
    struct bench b = open_synced(3);
    struct diag d = DIAG_INIT;
    struct event e;
    b.t->core[1].other_ctm = true;
    assert_int_equal(group_halt(b.group, 0, &e, &d), CORRAL_OK);
    assert_all(&e, CORE_HALTED);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SOFTWARE); /* the truth */
    assert_true(e.halt.cores[0].first);
    assert_false(e.halt.cores[1].first);
    assert_false(e.halt.cores[2].first);
    assert_int_equal(group_run(b.group, 0, &e, &d), CORRAL_OK);
    assert_all(&e, CORE_RUNNING);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SOFTWARE);
    close_bench(&b);
}

/* A13: each core in turn loses its CTI's registers; the next halt is by software and puts them back. */
static void test_a13_a_cti_that_a_reset_cleared_is_set_up_again(void **state)
{
    (void)state;
    for (size_t lost = 0; lost < 2; lost++) {
        struct bench b = open_synced(2);
        struct diag d = DIAG_INIT;
        struct event e;
        struct fake_cti *x = &b.t->core[lost].cti;
        x->control = x->inen[0] = x->outen[0] = x->outen[7] = 0;
        assert_int_equal(group_halt(b.group, 0, &e, &d), CORRAL_OK);
        assert_all(&e, CORE_HALTED);
        assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SOFTWARE);
        assert_int_equal(x->control, 1);
        for (size_t leader = 0; leader < 2; leader++) {
            assert_int_equal(group_run(b.group, leader, &e, &d), CORRAL_OK);
            assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
            assert_all(&e, CORE_RUNNING);
            assert_int_equal(group_halt(b.group, leader, &e, &d), CORRAL_OK);
            assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
            assert_all(&e, CORE_HALTED);
        }
        assert_int_equal(group_disable_sync(b.group, &d), CORRAL_OK);
        assert_int_equal(x->control, 0);
        assert_int_equal(x->outen[7], 0);
        close_bench(&b);
    }
}

static void test_a12_a_core_in_reset_does_not_fail_the_others(void **state)
{
    (void)state;
    struct bench b = open_synced(3);
    struct diag d = DIAG_INIT;
    struct event e;
    b.t->core[2].in_reset = true;
    b.t->core[2].sticky = 1u << 25;
    assert_int_equal(group_halt(b.group, 0, &e, &d), CORRAL_OK);
    assert_true(said(&b, "core2 was left out: it is held in reset"));
    assert_int_equal(e.halt.cores[0].state, CORE_HALTED);
    assert_int_equal(e.halt.cores[1].state, CORE_HALTED);
    assert_int_equal(e.halt.cores[2].state, CORE_RESET);
    /* Those that can halt are acknowledged; what is latched for the one in reset stays: it halts on its first
     * instruction when it is let go. */
    assert_int_equal(b.t->core[0].cti.out, 0);
    assert_int_equal(b.t->core[1].cti.out, 0);
    assert_int_equal(b.t->core[2].cti.out, 1);
    group_forget_remarks(b.group);
    assert_int_equal(group_run(b.group, 0, &e, &d), CORRAL_OK);
    assert_true(said(&b, "core2 was left out"));
    assert_int_equal(e.halt.cores[0].state, CORE_RUNNING);
    assert_int_equal(e.halt.cores[1].state, CORE_RUNNING);
    assert_int_equal(e.halt.cores[2].state, CORE_RESET);
    close_bench(&b);
}

static void test_a11_a_core_that_faults_does_not_fail_the_others(void **state)
{
    (void)state;
    struct bench b = open_bench(2);
    struct diag d = DIAG_INIT;
    struct event e;
    b.t->core[1].faults = true;
    assert_int_equal(group_halt(b.group, 1, &e, &d), CORRAL_OK);
    assert_true(said(&b, "core1 was left out"));
    assert_int_equal(e.halt.cores[0].state, CORE_HALTED);
    assert_int_equal(e.halt.cores[1].state, CORE_UNPOWERED);
    assert_int_equal(group_status(b.group, &e, &d), CORRAL_OK);
    assert_int_equal(e.halt.cores[1].state, CORE_UNPOWERED);
    close_bench(&b);
}

static void test_a14_simultaneous_breakpoints_are_both_first(void **state)
{
    (void)state;
    struct bench b = open_synced(3);
    struct diag d = DIAG_INIT;
    struct event e;
    fake_target_stop(b.t, 1, 0x02);
    b.t->core[2].dfsr |= 0x04; /* its watchpoint hit in the same cycle as the trigger came */
    assert_int_equal(group_halt(b.group, 0, &e, &d), CORRAL_OK);
    assert_int_equal(e.halt.cores[0].reason, HALT_REASON_CROSS_TRIGGER);
    assert_int_equal(e.halt.cores[1].reason, HALT_REASON_BREAKPOINT);
    assert_int_equal(e.halt.cores[2].reason, HALT_REASON_WATCHPOINT);
    assert_false(e.halt.cores[0].first);
    assert_true(e.halt.cores[1].first);
    assert_true(e.halt.cores[2].first);
    close_bench(&b);
}

static void test_software_halt_names_the_core_that_stopped_by_itself(void **state)
{
    (void)state;
    struct bench b = open_bench(2);
    struct diag d = DIAG_INIT;
    struct event e;
    fake_target_stop(b.t, 1, 0x02);
    assert_int_equal(group_halt(b.group, 0, &e, &d), CORRAL_OK);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SOFTWARE);
    assert_false(e.halt.cores[0].first);
    assert_true(e.halt.cores[1].first);
    close_bench(&b);
}

static void test_software_starts_with_the_leader(void **state)
{
    (void)state;
    struct bench b = open_bench(3);
    struct diag d = DIAG_INIT;
    struct event e;
    size_t from = b.t->log_count;
    assert_int_equal(group_halt(b.group, 2, &e, &d), CORRAL_OK);
    assert_true(e.halt.cores[2].first);
    assert_false(e.halt.cores[0].first);
    size_t order[3];
    for (uint32_t i = 0; i < 3; i++)
        order[i] = fake_target_find(b.t, from, i, DHCSR);
    assert_true(order[2] < order[0] && order[0] < order[1]);
    from = b.t->log_count;
    assert_int_equal(group_run(b.group, 1, &e, &d), CORRAL_OK);
    for (uint32_t i = 0; i < 3; i++)
        order[i] = fake_target_find(b.t, from, i, DHCSR);
    assert_true(order[1] < order[0] && order[0] < order[2]);
    assert_int_equal(fake_target_writes(b.t, FAKE_CTI_BASE, CTI_END), 0); /* D25 */
    close_bench(&b);
}

static void test_a5_a_level_source_is_disarmed_before_acknowledge(void **state)
{
    (void)state;
    struct bench b = open_synced(2);
    struct diag d = DIAG_INIT;
    struct event e;
    b.t->core[0].level_halted = b.t->core[1].level_halted = true;
    assert_int_equal(group_halt(b.group, 0, &e, &d), CORRAL_OK);
    assert_unlatched(&b);
    assert_int_equal(group_run(b.group, 0, &e, &d), CORRAL_OK);
    assert_all(&e, CORE_RUNNING);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(b.t->core[i].cti.inen[0], 1); /* armed again */
    close_bench(&b);
}

static void test_a5_a_stuck_request_is_an_error_and_no_pulse_is_sent(void **state)
{
    (void)state;
    struct bench b = open_synced(2);
    struct diag d = DIAG_INIT;
    struct event e;
    b.t->core[1].stuck = true;
    assert_int_equal(group_halt(b.group, 0, &e, &d), CORRAL_ERR_CTI_STUCK);
    assert_all(&e, CORE_HALTED);
    size_t from = b.t->log_count;
    assert_int_equal(group_run(b.group, 0, &e, &d), CORRAL_ERR_CTI_STUCK);
    assert_int_equal(writes_of(&b, from, APPPULSE), 0);
    assert_all(&e, CORE_HALTED);
    close_bench(&b);
}

static void test_a_straggler_gets_one_more_pulse(void **state)
{
    (void)state;
    struct bench b = open_synced(3);
    struct diag d = DIAG_INIT;
    struct event e;
    assert_int_equal(group_halt(b.group, 0, NULL, &d), CORRAL_OK);
    b.t->core[2].deaf_restarts = 1;
    size_t from = b.t->log_count;
    assert_int_equal(group_run(b.group, 0, &e, &d), CORRAL_OK);
    assert_int_equal(writes_of(&b, from, APPPULSE), 2);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(b.t->core[i].starts, 1);
    close_bench(&b);
}

static void test_a_core_deaf_to_restart_is_resumed_by_itself(void **state)
{
    (void)state;
    struct bench b = open_synced(3);
    struct diag d = DIAG_INIT;
    struct event e;
    assert_int_equal(group_halt(b.group, 0, NULL, &d), CORRAL_OK);
    b.t->core[1].deaf_to_restart = true;
    assert_int_equal(group_run(b.group, 0, &e, &d), CORRAL_OK);
    assert_all(&e, CORE_RUNNING);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SOFTWARE);
    assert_true(e.halt.cores[1].restarted);
    close_bench(&b);
}

/* Seed 14: a pulse into a group of which one core has stopped again would start it against the user's will.
 */
static void test_no_second_pulse_into_a_half_stopped_group(void **state)
{
    (void)state;
    struct bench b = open_synced(3);
    struct diag d = DIAG_INIT;
    struct event e;
    assert_int_equal(group_halt(b.group, 0, NULL, &d), CORRAL_OK);
    b.t->core[1].stop_at_once = 0x02;
    b.t->core[2].deaf_restarts = 1;
    size_t from = b.t->log_count;
    group_run(b.group, 0, &e, &d);
    assert_int_equal(writes_of(&b, from, APPPULSE), 1);
    assert_true(e.halt.cores[1].restarted);
    assert_int_equal(e.halt.cores[1].state, CORE_HALTED);
    assert_int_equal(b.t->core[1].starts, 1);
    assert_int_equal(group_halt(b.group, 0, &e, &d), CORRAL_OK);
    assert_all(&e, CORE_HALTED);
    assert_int_equal(e.halt.cores[1].reason, HALT_REASON_BREAKPOINT);
    assert_true(e.halt.cores[1].first);
    close_bench(&b);
}

/* It left debug state and came right back: no user's stop, so it is acknowledged and started again. */
static void test_a8_a_core_that_was_still_latched_is_started_again(void **state)
{
    (void)state;
    struct bench b = open_synced(2);
    struct diag d = DIAG_INIT;
    struct event e;
    assert_int_equal(group_halt(b.group, 0, NULL, &d), CORRAL_OK);
    b.t->core[1].latch_at_start = true;
    assert_int_equal(group_run(b.group, 0, &e, &d), CORRAL_OK);
    assert_all(&e, CORE_RUNNING);
    assert_unlatched(&b);
    close_bench(&b);
}

/* ... but a core that another one's breakpoint dragged along stays where it is. */
static void test_a_core_dragged_along_right_after_the_start_stays_halted(void **state)
{
    (void)state;
    struct bench b = open_synced(2);
    struct diag d = DIAG_INIT;
    struct event e;
    assert_int_equal(group_halt(b.group, 0, NULL, &d), CORRAL_OK);
    b.t->core[1].stop_at_once = 0x02;
    assert_int_equal(group_run(b.group, 0, &e, &d), CORRAL_OK);
    assert_all(&e, CORE_HALTED);
    assert_int_equal(b.t->core[0].starts, 1);
    assert_int_equal(b.t->core[1].starts, 1);
    assert_true(e.halt.cores[0].restarted && e.halt.cores[1].restarted);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
    close_bench(&b);
}

/* A20: the step over a breakpoint halts again, and that pulse latches the request of all. */
static void test_a_step_before_the_run_leaves_nothing_latched(void **state)
{
    (void)state;
    struct bench b = open_synced(2);
    struct diag d = DIAG_INIT;
    struct event e;
    assert_int_equal(core_set_breakpoint(b.cores[1], b.t->core[1].regs[15], &d), CORRAL_OK);
    assert_int_equal(core_set_breakpoint(b.cores[0], b.t->core[0].regs[15], &d), CORRAL_OK);
    uint32_t pc = b.t->core[1].regs[15];
    fake_target_stop(b.t, 1, 0x02);
    assert_int_equal(group_halt(b.group, 0, NULL, &d), CORRAL_OK);
    assert_int_equal(group_run(b.group, 0, &e, &d), CORRAL_OK);
    assert_all(&e, CORE_RUNNING);
    assert_unlatched(&b);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
    assert_int_equal(b.t->core[1].regs[15], pc + 4); /* it was stepped off, then started */
    assert_int_equal(b.t->core[1].starts, 2);
    close_bench(&b);
}

/* Whenever after the start a breakpoint is hit: nobody is started twice, and it is named as first. */
static void test_a_breakpoint_at_any_time_after_the_start_ends_the_run(void **state)
{
    (void)state;
    for (size_t who = 0; who < 2; who++)
        for (unsigned when = 1; when < 40; when++) {
            struct bench b = open_synced(2);
            struct diag d = DIAG_INIT;
            struct event e;
            assert_int_equal(group_halt(b.group, 0, NULL, &d), CORRAL_OK);
            b.t->core[who].stop_after = when;
            b.t->core[who].stop_dfsr = 0x02;
            assert_int_equal(group_run(b.group, 0, &e, &d), CORRAL_OK);
            assert_true(e.halt.cores[0].restarted && e.halt.cores[1].restarted);
            assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
            for (unsigned i = 0; i < 50; i++) {
                struct core_status s;
                assert_int_equal(core_read_status(b.cores[0], false, &s, &d), CORRAL_OK);
            }
            assert_int_equal(b.t->core[0].starts, 1);
            assert_int_equal(b.t->core[1].starts, 1);
            assert_int_equal(group_halt(b.group, 1 - who, &e, &d), CORRAL_OK);
            assert_int_equal(e.halt.cores[who].reason, HALT_REASON_BREAKPOINT);
            assert_true(e.halt.cores[who].first);
            assert_false(e.halt.cores[1 - who].first);
            assert_unlatched(&b);
            close_bench(&b);
        }
}

static void test_cores_that_run_are_sent_no_pulse(void **state)
{
    (void)state;
    struct bench b = open_synced(2);
    struct diag d = DIAG_INIT;
    struct event e;
    size_t from = b.t->log_count;
    assert_int_equal(group_run(b.group, 0, &e, &d), CORRAL_OK);
    assert_int_equal(b.t->log_count, from);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_NONE);
    assert_false(e.halt.cores[0].restarted);
    close_bench(&b);
}

static void test_without_restart_output_the_halt_is_shared_and_the_run_is_not(void **state)
{
    (void)state;
    struct bench b = open_bench_with(2, -1, NULL);
    struct diag d = DIAG_INIT;
    struct event e;
    assert_int_equal(group_enable_sync(b.group, &d), CORRAL_OK);
    assert_int_equal(group_halt(b.group, 0, &e, &d), CORRAL_OK);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
    assert_int_equal(group_run(b.group, 0, &e, &d), CORRAL_OK);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SOFTWARE);
    assert_all(&e, CORE_RUNNING);
    close_bench(&b);
}

static void test_a30_a_half_taken_write_fails_the_set_up_as_a_whole(void **state)
{
    (void)state;
    struct bench b = open_bench(3);
    struct diag d = DIAG_INIT;
    b.t->core[2].outen_read_only = true;
    assert_int_equal(group_enable_sync(b.group, &d), CORRAL_ERR_CTI_PARTIAL);
    assert_non_null(strstr(d.message, "core2"));
    assert_false(group_sync_enabled(b.group));
    assert_int_equal(group_mechanism(b.group), GROUP_MECHANISM_SOFTWARE);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(b.t->core[i].cti.control, 0);
        assert_int_equal(b.t->core[i].cti.inen[0], 0);
        assert_int_equal(b.t->core[i].cti.outen[7], 0);
    }
    close_bench(&b);
}

static void test_d26_sync_without_any_cti_works_by_software_and_says_so(void **state)
{
    (void)state;
    struct bench b = open_bench_with(2, -2, NULL);
    struct diag d = DIAG_INIT;
    assert_int_equal(group_enable_sync(b.group, &d), CORRAL_OK);
    assert_true(said(&b, "no two cores can be joined"));
    assert_true(said(&b, "core0 is halted and started by itself: it has no CTI"));
    assert_int_equal(group_get_member(b.group, 1)->halt_why, GROUP_WHY_NO_CTI);
    assert_int_equal(group_mechanism(b.group), GROUP_MECHANISM_SOFTWARE);
    close_bench(&b);
}

static void test_a1_channels_in_use_are_left_alone(void **state)
{
    (void)state;
    struct bench b = open_bench(2);
    struct diag d = DIAG_INIT;
    b.t->core[0].cti.control = 1;
    b.t->core[0].cti.inen[4] = 1;
    b.t->core[1].cti.control = 1;
    b.t->core[1].cti.outen[3] = 4;
    assert_int_equal(group_enable_sync(b.group, &d), CORRAL_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(b.t->core[i].cti.inen[0], 2); /* the two that are free on both: 1 and 3 */
        assert_int_equal(b.t->core[i].cti.outen[7], 8);
    }
    assert_int_equal(b.t->core[0].cti.inen[4], 1);
    assert_int_equal(group_disable_sync(b.group, &d), CORRAL_OK);
    /* A restart needs a second channel; without one the halt alone is shared. */
    b.t->core[1].cti.outen[3] = 0xE;
    b.t->core[0].cti.inen[4] = 0;
    assert_int_equal(group_enable_sync(b.group, &d), CORRAL_OK);
    assert_int_equal(group_get_member(b.group, 0)->halt, GROUP_MECHANISM_CTI);
    assert_int_equal(group_get_member(b.group, 0)->run_why, GROUP_WHY_NO_RESTART_CHANNEL);
    assert_int_equal(group_disable_sync(b.group, &d), CORRAL_OK);
    b.t->core[0].cti.inen[4] = 1;
    size_t from = b.t->log_count;
    group_forget_remarks(b.group);
    assert_int_equal(group_enable_sync(b.group, &d), CORRAL_OK);
    assert_int_equal(group_get_member(b.group, 0)->halt_why, GROUP_WHY_CHANNELS_TAKEN);
    assert_true(said(&b, "no two cores can be joined"));
    assert_int_equal(b.t->log_count, from);
    close_bench(&b);
}

/* Core 0 counts longer at both ends: started first, stopped last. Counts wrap. */
static void round_of(struct bench *b, uint32_t from0, uint32_t cycles0, uint32_t from1, uint32_t cycles1,
                     struct group_skew *skew)
{
    struct diag d = DIAG_INIT;
    assert_int_equal(group_halt(b->group, 0, NULL, &d), CORRAL_OK);
    b->t->core[0].cyccnt = from0;
    b->t->core[1].cyccnt = from1;
    b->t->core[0].run_cycles = cycles0;
    b->t->core[1].run_cycles = cycles1;
    assert_int_equal(group_measure_round(b->group, 0, 1, NS_PER_MS, skew, &d), CORRAL_OK);
}

struct seen {
    struct event events[8];
    size_t count;
};

static enum corral_err keep(void *ctx, const struct event *event, struct diag *d)
{
    struct seen *seen = ctx;
    (void)d;
    assert_true(seen->count < 8);
    seen->events[seen->count++] = *event; /* only numbers are looked at afterwards */
    return CORRAL_OK;
}

/* Each halt and run is one event, and a measured round's halt carries the skew. */
static void test_events_of_a_round(void **state)
{
    (void)state;
    static const struct sink_ops ops = {.name = "keep", .write = keep};
    struct bench b = open_bench(2);
    struct diag d = DIAG_INIT;
    struct seen seen = {.count = 0};
    struct group_skew skew;
    struct event_bus *bus = event_bus_new();
    assert_non_null(bus);
    assert_int_equal(event_bus_attach(bus, sink_new(&ops, &seen, 16), &d), CORRAL_OK);
    group_free(b.group);
    b.group = group_new(b.cores, b.count, bus, "cores");
    assert_non_null(b.group);
    assert_int_equal(group_enable_sync(b.group, &d), CORRAL_OK);
    round_of(&b, 0, 1000, 0, 1008, &skew);
    assert_int_equal(group_status(b.group, NULL, &d), CORRAL_OK); /* a look is no event */
    assert_int_equal(event_bus_drain(bus, &d), CORRAL_OK);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.events[0].kind, EVENT_HALT);
    assert_true(seen.events[0].halt.skew_ns == EVENT_NO_TIME);
    assert_int_equal(seen.events[1].kind, EVENT_RUN);
    assert_true(seen.events[1].halt.cores[0].restarted);
    assert_int_equal(seen.events[2].kind, EVENT_HALT);
    assert_int_equal(seen.events[2].halt.skew_ns, 40);
    assert_int_equal(seen.events[2].halt.skew_error_ns, 10);
    assert_true(seen.events[2].halt.cores[1].first); /* the stopper */
    assert_true(seen.events[2].host_ns > seen.events[1].host_ns);
    assert_int_equal(event_bus_free(bus, &d), CORRAL_OK);
    close_bench(&b);
}

static void test_skew_is_half_of_the_difference_modulo_2_32(void **state)
{
    (void)state;
    struct bench b = open_synced(2);
    struct group_skew skew;
    round_of(&b, 0xFFFFFFF0, 0x1000, 5, 0x1000 - 6, &skew);
    assert_int_equal(skew.cycles[0], 0x1000);
    assert_int_equal(skew.cycles[1], 0x1000 - 6);
    assert_int_equal(skew.skew_ns, 30); /* 6 cycles of 10 ns, halved */
    assert_int_equal(skew.error_ns, 10);
    round_of(&b, 0, 100, 0, 106, &skew);
    assert_int_equal(skew.skew_ns, 30);
    round_of(&b, 0, 0xFFFFFFFE, 0, 4, &skew); /* the round itself wraps a count */
    assert_int_equal(skew.skew_ns, 30);
    close_bench(&b);
}

static void test_skew_of_unlike_clocks_is_compared_in_time(void **state)
{
    (void)state;
    static const uint32_t hz[] = {200000000, 50000000};
    struct bench b = open_bench_with(2, 7, hz);
    struct group_skew skew;
    round_of(&b, 0, 400100, 0, 100000, &skew); /* 2000500 ns and 2000000 ns */
    assert_int_equal(skew.skew_ns, 250);
    assert_int_equal(skew.error_ns, 20);
    close_bench(&b);
}

/* Counts of unlike clocks cannot be compared modulo 2^32: a round that wraps one has no skew. */
static void test_skew_of_unlike_clocks_ends_where_a_count_wraps(void **state)
{
    (void)state;
    static const uint32_t unlike[] = {200000000, 50000000}, like[] = {200000000, 200000000};
    struct diag d = DIAG_INIT;
    struct group_skew skew;
    for (size_t i = 0; i < 2; i++) {
        struct bench b = open_bench_with(2, 7, i ? like : unlike);
        assert_int_equal(group_halt(b.group, 0, NULL, &d), CORRAL_OK);
        b.t->core[0].run_cycles = b.t->core[1].run_cycles = 1000;
        assert_int_equal(group_measure_round(b.group, 0, 1, 21 * NS_PER_S, &skew, &d), CORRAL_OK);
        assert_true(skew.skew_ns != EVENT_NO_TIME); /* 2^32 cycles of 200 MHz are 21.5 s */
        assert_int_equal(group_measure_round(b.group, 0, 1, 22 * NS_PER_S, &skew, &d), CORRAL_OK);
        assert_int_equal(skew.skew_ns == EVENT_NO_TIME, i == 0);
        close_bench(&b);
    }
}

static void test_skew_without_a_known_clock_is_not_a_number(void **state)
{
    (void)state;
    static const uint32_t hz[] = {100000000, 0};
    struct bench b = open_bench_with(2, 7, hz);
    struct group_skew skew;
    round_of(&b, 0, 100, 0, 106, &skew);
    assert_true(skew.skew_ns == EVENT_NO_TIME);
    assert_true(skew.error_ns == EVENT_NO_TIME);
    assert_int_equal(skew.cycles[1], 106);
    close_bench(&b);
}

static void test_a_round_begins_with_all_halted(void **state)
{
    (void)state;
    struct bench b = open_synced(2);
    struct diag d = DIAG_INIT;
    struct group_skew skew;
    assert_int_equal(group_measure_round(b.group, 0, 1, NS_PER_MS, &skew, &d), CORRAL_ERR_CORE_STATE);
    assert_int_equal(group_measure_round(b.group, 0, 0, NS_PER_MS, &skew, &d), CORRAL_ERR_USAGE);
    close_bench(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a19_halt_and_run_with_every_member_as_leader),
        cmocka_unit_test(test_a6_acknowledge_only_after_all_have_halted),
        cmocka_unit_test(test_a28_a_core_on_another_matrix_is_asked_by_itself),
        cmocka_unit_test(test_a13_a_cti_that_a_reset_cleared_is_set_up_again),
        cmocka_unit_test(test_a12_a_core_in_reset_does_not_fail_the_others),
        cmocka_unit_test(test_a11_a_core_that_faults_does_not_fail_the_others),
        cmocka_unit_test(test_a14_simultaneous_breakpoints_are_both_first),
        cmocka_unit_test(test_software_halt_names_the_core_that_stopped_by_itself),
        cmocka_unit_test(test_software_starts_with_the_leader),
        cmocka_unit_test(test_a5_a_level_source_is_disarmed_before_acknowledge),
        cmocka_unit_test(test_a5_a_stuck_request_is_an_error_and_no_pulse_is_sent),
        cmocka_unit_test(test_a_straggler_gets_one_more_pulse),
        cmocka_unit_test(test_a_core_deaf_to_restart_is_resumed_by_itself),
        cmocka_unit_test(test_no_second_pulse_into_a_half_stopped_group),
        cmocka_unit_test(test_a8_a_core_that_was_still_latched_is_started_again),
        cmocka_unit_test(test_a_core_dragged_along_right_after_the_start_stays_halted),
        cmocka_unit_test(test_a_step_before_the_run_leaves_nothing_latched),
        cmocka_unit_test(test_a_breakpoint_at_any_time_after_the_start_ends_the_run),
        cmocka_unit_test(test_cores_that_run_are_sent_no_pulse),
        cmocka_unit_test(test_without_restart_output_the_halt_is_shared_and_the_run_is_not),
        cmocka_unit_test(test_a30_a_half_taken_write_fails_the_set_up_as_a_whole),
        cmocka_unit_test(test_d26_sync_without_any_cti_works_by_software_and_says_so),
        cmocka_unit_test(test_a1_channels_in_use_are_left_alone),
        cmocka_unit_test(test_events_of_a_round),
        cmocka_unit_test(test_skew_is_half_of_the_difference_modulo_2_32),
        cmocka_unit_test(test_skew_of_unlike_clocks_is_compared_in_time),
        cmocka_unit_test(test_skew_of_unlike_clocks_ends_where_a_count_wraps),
        cmocka_unit_test(test_skew_without_a_known_clock_is_not_a_number),
        cmocka_unit_test(test_a_round_begins_with_all_halted),
    };
    return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}
