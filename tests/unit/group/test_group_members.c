/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups whose members are not alike: with and without usable CTIs, on several matrices, with data that is
 * wrong, behind a link that dies. Cross-trigger sheet 12.A and 13, on modelled cores.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/group/group_fake.h"

#define REG(offset)  (FAKE_CTI_BASE + (offset))
#define INTACK       REG(0x010)
#define APPPULSE     REG(0x01C)
#define INEN(n)      REG(0x020 + 4 * (n))
#define OUTEN(n)     REG(0x0A0 + 4 * (n))
#define DHCSR        0xE000EDF0u
#define C_DEBUGEN    0x1u
#define C_HALT       0x2u
#define C_STEP       0x4u
#define C_MASKINTS   0x8u
#define DFSR_BKPT    0x02u
#define DFSR_DWTTRAP 0x04u

static void enable_sync(struct group_fake *b)
{
    struct diag d = DIAG_INIT;
    if (group_enable_sync(b->group, &d))
        fail_msg("%s", d.message);
}

static void assert_round(struct group_fake *b, enum group_mechanism mechanism)
{
    struct event e;
    for (size_t leader = 0; leader < b->count; leader++) {
        group_fake_halt(b, leader, &e);
        group_fake_assert_all(&e, CORE_HALTED);
        group_fake_assert_unlatched(b);
        assert_int_equal(e.halt.mechanism, mechanism);
        assert_true(e.halt.cores[leader].first);
        group_fake_run(b, leader, &e);
        group_fake_assert_all(&e, CORE_RUNNING);
        assert_int_equal(e.halt.mechanism, mechanism);
    }
}

/* Two are joined, the third is asked by itself, and it says why. */
static void test_a_member_without_cti_goes_along_by_software(void **state)
{
    (void)state;
    struct group_fake b = group_fake_new(3);
    group_fake_start(&b, (const int[]){7, GROUP_FAKE_NO_CTI, 7});
    enable_sync(&b);
    assert_int_equal(group_mechanism(b.group), GROUP_MECHANISM_CTI);
    assert_int_equal(group_get_member(b.group, 0)->halt, GROUP_MECHANISM_CTI);
    assert_int_equal(group_get_member(b.group, 0)->island, group_get_member(b.group, 2)->island);
    const struct group_member *m = group_get_member(b.group, 1);
    assert_int_equal(m->halt, GROUP_MECHANISM_SOFTWARE);
    assert_int_equal(m->run, GROUP_MECHANISM_SOFTWARE);
    assert_int_equal(m->halt_why, GROUP_WHY_NO_CTI);
    assert_int_equal(m->island, -1);
    assert_true(group_fake_said(&b, "core1 is halted and started by itself: it has no CTI"));
    assert_false(group_fake_said(&b, "no two cores"));
    struct event e;
    size_t from = b.t->log_count;
    group_fake_halt(&b, 0, &e);
    assert_int_equal(group_fake_writes(&b, from, DHCSR), 2); /* the leader's, and core1's own */
    from = b.t->log_count;
    group_fake_run(&b, 0, &e);
    assert_int_equal(group_fake_writes(&b, from, APPPULSE), 1);
    assert_int_equal(group_fake_writes(&b, from, DHCSR), 1);
    assert_round(&b, GROUP_MECHANISM_SOFTWARE);
    assert_null(group_get_member(b.group, 3));
    group_fake_close(&b);
}

static void test_a18_a_cti_that_cannot_be_written_leaves_its_core_to_software(void **state)
{
    (void)state;
    struct group_fake b = group_fake_new(3);
    b.t->core[2].cti_read_only = true;
    group_fake_start(&b, NULL);
    enable_sync(&b);
    assert_int_equal(group_get_member(b.group, 0)->halt, GROUP_MECHANISM_CTI);
    assert_int_equal(group_get_member(b.group, 2)->halt_why, GROUP_WHY_NOT_WRITABLE);
    assert_non_null(strstr(group_get_member(b.group, 2)->detail, "does not read back"));
    assert_true(group_fake_said(&b, "core2 is halted and started by itself: its CTI is not writable"));
    assert_round(&b, GROUP_MECHANISM_SOFTWARE);
    group_fake_close(&b);
}

static void test_a_cti_in_test_mode_leaves_its_core_to_software(void **state)
{
    (void)state;
    struct group_fake b = group_fake_new(2);
    b.t->core[0].cti.itctrl = 1;
    group_fake_start(&b, NULL);
    enable_sync(&b);
    assert_int_equal(group_get_member(b.group, 0)->halt_why, GROUP_WHY_UNUSABLE);
    assert_true(group_fake_said(&b, "no two cores can be joined"));
    assert_int_equal(b.t->core[0].cti.control, 0);
    assert_round(&b, GROUP_MECHANISM_SOFTWARE);
    group_fake_close(&b);
}

/* A2: three channels, one channel. What a CTI has not got is never written. */
static void test_a2_masks_end_at_numchan(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 3; channels++) {
        struct group_fake b = group_fake_new(2);
        b.t->core[0].cti.devid = b.t->core[1].cti.devid = channels << 16 | 8 << 8;
        group_fake_start(&b, NULL);
        enable_sync(&b);
        const struct group_member *m = group_get_member(b.group, 0);
        assert_int_equal(m->halt, GROUP_MECHANISM_CTI);
        assert_int_equal(m->run_why, channels == 1 ? GROUP_WHY_NO_RESTART_CHANNEL : GROUP_WHY_NONE);
        assert_int_equal(group_fake_said(&b, "core0 is halted by cross triggers, but started by itself"),
                         channels == 1);
        struct event e;
        group_fake_halt(&b, 0, &e);
        assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
        group_fake_run(&b, 1, &e);
        assert_int_equal(e.halt.mechanism, channels == 1 ? GROUP_MECHANISM_SOFTWARE : GROUP_MECHANISM_CTI);
        struct diag d = DIAG_INIT;
        assert_int_equal(group_disable_sync(b.group, &d), CORRAL_OK);
        for (size_t i = 0; i < b.t->log_count; i++) {
            uint32_t a = b.t->log[i].address;
            if ((a >= REG(0x014) && a < REG(0x120)) || a == REG(0x140))
                assert_int_equal(b.t->log[i].value >> channels, 0);
        }
        group_fake_close(&b);
    }
}

/* A3: the core's map says 7, and there are two triggers. */
static void test_a3_no_write_past_numtrig(void **state)
{
    (void)state;
    struct group_fake b = group_fake_new(2);
    b.t->core[0].cti.devid = b.t->core[1].cti.devid = 4 << 16 | 2 << 8;
    group_fake_start(&b, NULL);
    enable_sync(&b);
    assert_int_equal(group_get_member(b.group, 1)->run_why, GROUP_WHY_NO_RESTART_OUTPUT);
    struct event e;
    group_fake_halt(&b, 0, &e);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
    group_fake_run(&b, 0, &e);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SOFTWARE);
    assert_int_equal(fake_target_writes(b.t, INEN(2), REG(0x09F)), 0);
    assert_int_equal(fake_target_writes(b.t, OUTEN(2), REG(0x12F)), 0);
    group_fake_close(&b);
}

static void test_channels_are_chosen_and_can_be_asked_for(void **state)
{
    (void)state;
    struct group_fake b = group_fake_new(2);
    struct diag d = DIAG_INIT;
    int halt = 9, restart = 9;
    group_fake_start(&b, NULL);
    assert_false(group_channels(b.group, &halt, &restart));
    assert_int_equal(group_set_channels(b.group, 2, 2, &d), CORRAL_ERR_USAGE);
    assert_int_equal(group_set_channels(b.group, 32, 0, &d), CORRAL_ERR_USAGE);
    assert_int_equal(group_set_channels(b.group, 3, 2, &d), CORRAL_OK);
    enable_sync(&b);
    assert_true(group_channels(b.group, &halt, &restart));
    assert_int_equal(halt, 3);
    assert_int_equal(restart, 2);
    assert_int_equal(b.t->core[1].cti.inen[0], 8);
    assert_int_equal(b.t->core[1].cti.outen[7], 4);
    assert_int_equal(group_set_channels(b.group, 0, 1, &d), CORRAL_ERR_CORE_STATE);
    assert_round(&b, GROUP_MECHANISM_CTI);
    assert_int_equal(group_disable_sync(b.group, &d), CORRAL_OK);
    /* Taken: the reason is said, and the group works by software. */
    b.t->core[0].cti.control = 1;
    b.t->core[0].cti.inen[4] = 8;
    size_t from = b.t->log_count;
    enable_sync(&b);
    assert_int_equal(group_get_member(b.group, 1)->halt_why, GROUP_WHY_CHANNELS_TAKEN);
    assert_int_equal(b.t->log_count, from);
    assert_round(&b, GROUP_MECHANISM_SOFTWARE);
    assert_int_equal(group_disable_sync(b.group, &d), CORRAL_OK);
    assert_int_equal(group_set_channels(b.group, GROUP_ANY_CHANNEL, GROUP_ANY_CHANNEL, &d), CORRAL_OK);
    enable_sync(&b);
    assert_true(group_channels(b.group, &halt, &restart));
    assert_int_equal(halt, 0);
    assert_int_equal(restart, 1);
    group_fake_close(&b);
}

/* A28: two matrices of two cores each: one pulse on each for a command. */
static void test_a28_one_pulse_an_island(void **state)
{
    (void)state;
    for (size_t found_halted = 0; found_halted < 2; found_halted++) {
        struct group_fake b = group_fake_new(4);
        struct event e;
        b.t->core[1].ctm = b.t->core[3].ctm = 1;
        group_fake_start(&b, NULL);
        if (found_halted)
            group_fake_halt(&b, 0, &e);
        enable_sync(&b);
        assert_int_equal(group_get_member(b.group, 0)->island, group_get_member(b.group, 2)->island);
        assert_int_equal(group_get_member(b.group, 1)->island, group_get_member(b.group, 3)->island);
        assert_int_not_equal(group_get_member(b.group, 0)->island, group_get_member(b.group, 1)->island);
        assert_int_equal(group_get_member(b.group, 0)->island_proven, found_halted != 0);
        assert_int_equal(group_get_member(b.group, 3)->halt, GROUP_MECHANISM_CTI);
        if (found_halted)
            group_fake_run(&b, 0, &e);
        else
            assert_round(&b, GROUP_MECHANISM_SOFTWARE);
        assert_true(found_halted || group_get_member(b.group, 0)->island_proven);
        for (size_t leader = 0; leader < 4; leader++) {
            size_t from = b.t->log_count;
            group_fake_halt(&b, leader, &e);
            group_fake_assert_all(&e, CORE_HALTED);
            assert_int_equal(group_fake_writes(&b, from, DHCSR), 1);
            assert_int_equal(group_fake_writes(&b, from, APPPULSE), 1);
            for (size_t i = 0; i < 4; i++)
                assert_int_equal(e.halt.cores[i].first, i == leader);
            assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SOFTWARE); /* not all by one trigger */
            group_fake_assert_unlatched(&b);
            from = b.t->log_count;
            group_fake_run(&b, leader, &e);
            group_fake_assert_all(&e, CORE_RUNNING);
            assert_int_equal(group_fake_writes(&b, from, APPPULSE), 2);
            assert_int_equal(group_fake_writes(&b, from, DHCSR), 0);
        }
        group_fake_close(&b);
    }
}

/* A part whose status does not show the channels (1.4.11): joined all the same, once a test pulse proved it.
 */
static void test_a_channel_that_is_not_shown_is_proven_at_the_first_halt(void **state)
{
    (void)state;
    struct group_fake b = group_fake_new(2);
    struct event e;
    b.t->core[0].blind = b.t->core[1].blind = true;
    group_fake_start(&b, NULL);
    enable_sync(&b);
    assert_int_equal(group_get_member(b.group, 0)->halt_why, GROUP_WHY_OTHER_CTM);
    assert_false(group_get_member(b.group, 0)->island_proven);
    group_fake_halt(&b, 0, &e);
    group_fake_assert_all(&e, CORE_HALTED);
    group_fake_assert_unlatched(&b);
    assert_int_equal(group_get_member(b.group, 0)->halt, GROUP_MECHANISM_CTI);
    assert_true(group_get_member(b.group, 0)->island_proven);
    group_fake_run(&b, 0, &e);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
    assert_round(&b, GROUP_MECHANISM_CTI);
    group_fake_close(&b);
}

/* A9: what another tool left in DHCSR goes before the pulse, and in a write of its own while halted. */
static void test_a9_c_step_is_cleared_before_the_pulse(void **state)
{
    (void)state;
    struct group_fake b = group_fake_synced(2);
    struct event e;
    group_fake_halt(&b, 0, &e);
    b.t->core[1].control |= C_STEP | C_MASKINTS;
    size_t from = b.t->log_count;
    group_fake_run(&b, 0, &e);
    group_fake_assert_all(&e, CORE_RUNNING);
    assert_int_equal(b.t->core[1].starts, 1);
    size_t clear = fake_target_find(b.t, from, 1, DHCSR), pulse = fake_target_find(b.t, from, 0, APPPULSE);
    assert_true(clear < pulse && pulse < b.t->log_count);
    assert_int_equal(b.t->log[clear].value, 0xA05F0000u | C_DEBUGEN | C_HALT);
    assert_true(b.t->log[clear].all_halted);
    group_fake_close(&b);
}

/* A10: a core whose debug went off does not halt by a trigger; it is asked by itself, which turns it on. */
static void test_a10_a_core_whose_debug_went_off_is_halted_all_the_same(void **state)
{
    (void)state;
    for (size_t leader = 0; leader < 2; leader++) {
        struct group_fake b = group_fake_synced(2);
        struct event e;
        b.t->core[1].control = 0;
        group_fake_halt(&b, leader, &e);
        group_fake_assert_all(&e, CORE_HALTED);
        group_fake_run(&b, leader, &e);
        group_fake_assert_all(&e, CORE_RUNNING);
        assert_round(&b, GROUP_MECHANISM_CTI);
        group_fake_close(&b);
    }
}

/* A15: pulses merge or not; whoever is halted stays halted, and one acknowledge is enough. */
static void test_a15_a_second_halt_pulse_changes_nothing(void **state)
{
    (void)state;
    struct group_fake b = group_fake_synced(2);
    struct diag d = DIAG_INIT;
    struct event e;
    group_fake_halt(&b, 0, &e);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(cti_pulse(core_cti(b.cores[0]), 0, &d), CORRAL_OK);
    group_fake_halt(&b, 1, &e);
    group_fake_assert_all(&e, CORE_HALTED);
    group_fake_assert_unlatched(&b);
    group_fake_run(&b, 0, &e);
    group_fake_assert_all(&e, CORE_RUNNING);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(b.t->core[i].starts, 1);
    group_fake_close(&b);
}

/* A6: a core that halts late latches all again. The poll before the restart catches it. */
static void test_a6_what_is_latched_after_the_acknowledge_is_caught_before_the_restart(void **state)
{
    (void)state;
    struct group_fake b = group_fake_synced(3);
    struct event e;
    group_fake_halt(&b, 0, &e);
    for (size_t i = 0; i < 3; i++)
        b.t->core[i].cti.out = 1;
    group_fake_run(&b, 0, &e);
    group_fake_assert_all(&e, CORE_RUNNING);
    group_fake_assert_unlatched(&b);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(b.t->core[i].starts, 1);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
    group_fake_close(&b);
}

/* A23: the M7's false halt stops all; all go on, and nobody is told. */
static void test_a23_a_false_halt_resumes_the_whole_group(void **state)
{
    (void)state;
    struct group_fake b = group_fake_new(2);
    struct diag d = DIAG_INIT;
    struct event e;
    bool stopped = false;
    b.t->cpuid = 0x410FC270; /* r0p0 */
    group_fake_start(&b, NULL);
    enable_sync(&b);
    group_fake_halt(&b, 0, &e);
    group_fake_run(&b, 0, &e);
    for (size_t who = 0; who < 2; who++) {
        uint64_t starts[2] = {b.t->core[0].starts, b.t->core[1].starts};
        fake_target_stop(b.t, who, DFSR_BKPT); /* there is no breakpoint where it stands */
        assert_true(b.t->core[0].halted && b.t->core[1].halted);
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(group_poll(b.group, &stopped, &e, &d), CORRAL_OK);
            assert_false(stopped);
        }
        for (size_t i = 0; i < 2; i++) {
            assert_false(b.t->core[i].halted);
            assert_int_equal(b.t->core[i].starts, starts[i] + 1);
        }
        group_fake_assert_unlatched(&b);
    }
    /* Beside a true one it is no reason to go on. */
    assert_int_equal(core_set_breakpoint(b.cores[1], b.t->core[1].regs[15], &d), CORRAL_OK);
    b.t->core[1].dfsr |= DFSR_BKPT;
    fake_target_stop(b.t, 0, DFSR_BKPT);
    for (unsigned i = 0; i < 2 && !stopped; i++)
        assert_int_equal(group_poll(b.group, &stopped, &e, &d), CORRAL_OK);
    assert_true(stopped);
    assert_true(e.halt.cores[1].first);
    assert_false(e.halt.cores[0].first);
    group_fake_close(&b);
}

/* A26: the data says 1, the core listens to 7. The data is tried, no other number is, and 1 not again. */
static void test_a26_a_restart_output_that_is_wrong_is_given_up(void **state)
{
    (void)state;
    struct group_fake b = group_fake_new(3);
    struct event e;
    group_fake_start(&b, (const int[]){1, 1, 7});
    enable_sync(&b);
    group_fake_halt(&b, 0, &e);
    size_t from = b.t->log_count;
    group_fake_run(&b, 0, &e);
    group_fake_assert_all(&e, CORE_RUNNING);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SOFTWARE);
    assert_int_equal(group_fake_writes(&b, from, APPPULSE), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(group_get_member(b.group, i)->run_why, GROUP_WHY_RESTART_IGNORED);
        assert_int_equal(group_get_member(b.group, i)->halt, GROUP_MECHANISM_CTI);
        assert_int_equal(b.t->core[i].cti.outen[1], 0);
        for (unsigned n = 2; n < 8; n++)
            assert_int_equal(b.t->core[i].cti.outen[n], 0);
    }
    assert_true(group_fake_said(&b, "core0 did not restart by a pulse on output 1"));
    group_fake_halt(&b, 0, &e);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
    from = b.t->log_count;
    group_fake_run(&b, 0, &e);
    assert_int_equal(group_fake_writes(&b, from, APPPULSE), 0); /* one core is left: no pulse for it alone */
    group_fake_assert_all(&e, CORE_RUNNING);
    group_fake_close(&b);
}

/* A27: nothing but the members' own CTIs is ever written. */
static void test_a27_no_other_cti_is_touched(void **state)
{
    (void)state;
    struct group_fake b = group_fake_new(3);
    struct diag d = DIAG_INIT;
    struct event e;
    /* AP 2 has no core of the group: what lies there at a CTI's place is the system's */
    struct core *two[2];
    group_fake_start(&b, NULL);
    two[0] = b.cores[0];
    two[1] = b.cores[1];
    struct group *g = group_new(two, 2, NULL, "group");
    assert_non_null(g);
    size_t from = b.t->log_count;
    assert_int_equal(group_enable_sync(g, &d), CORRAL_OK);
    assert_int_equal(group_halt(g, 0, &e, &d), CORRAL_OK);
    assert_int_equal(group_run(g, 0, &e, &d), CORRAL_OK);
    assert_int_equal(group_disable_sync(g, &d), CORRAL_OK);
    assert_true(b.t->log_count > from);
    for (size_t i = from; i < b.t->log_count; i++)
        assert_int_not_equal(b.t->log[i].ap, 2);
    group_free(g);
    group_fake_close(&b);
}

/* One round from the start; the first error, if the link is gone. */
static enum corral_err whole_round(struct group_fake *b)
{
    struct event e;
    enum corral_err err = group_enable_sync(b->group, NULL);
    if (!err)
        err = group_halt(b->group, 0, &e, NULL);
    if (!err)
        err = group_step(b->group, 1, 1, &e, NULL);
    return err ? err : group_run(b->group, 1, &e, NULL);
}

/* The link dies at each access of a round in turn. It says so, and once it is back nothing is assumed. */
static void dies_anywhere(enum corral_err of)
{
    bool through = false;
    for (uint64_t at = 1; !through; at++) {
        struct group_fake b = group_fake_new(2);
        struct diag d = DIAG_INIT;
        struct event e;
        group_fake_start(&b, NULL);
        b.t->core[0].level_halted = b.t->core[1].level_halted = at % 2;
        assert_int_equal(core_set_breakpoint(b.cores[0], b.t->core[0].regs[15], &d), CORRAL_OK);
        b.t->link_dies = at;
        b.t->dies_of = of;
        enum corral_err err = whole_round(&b);
        through = b.t->link_dies > 1;
        if (!through && err != of)
            fail_msg("the link died at access %llu, and the answer was %d", (unsigned long long)at, (int)err);
        b.t->link_dies = 0;
        if (group_refresh(b.group, &d) || (!group_sync_enabled(b.group) && (group_repair(b.group, NULL, &d) ||
                                                                            group_enable_sync(b.group, &d))))
            fail_msg("access %llu: %s", (unsigned long long)at, d.message);
        for (unsigned round = 0; round < 2; round++) {
            group_fake_halt(&b, round, &e);
            group_fake_assert_all(&e, CORE_HALTED);
            group_fake_assert_unlatched(&b);
            group_fake_run(&b, round, &e);
            group_fake_assert_all(&e, CORE_RUNNING);
            group_fake_assert_unlatched(&b);
        }
        if (group_mechanism(b.group) != GROUP_MECHANISM_CTI)
            fail_msg("access %llu: no cross triggers any more", (unsigned long long)at);
        assert_int_equal(group_disable_sync(b.group, &d), CORRAL_OK);
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(b.t->core[i].cti.control, 0);
        group_fake_close(&b);
        assert_true(at < 3000);
    }
}

/* A29, with either way for a link to end: nobody answers, or nonsense. */
static void test_a29_a_link_that_dies_anywhere_in_a_round(void **state)
{
    (void)state;
    dies_anywhere(CORRAL_ERR_LINK_DOWN);
    dies_anywhere(CORRAL_ERR_LINK_PROTOCOL);
}

/* A core two faults deep halts like any other, and says so. */
static void test_a_locked_up_core_halts_with_reason_fault(void **state)
{
    (void)state;
    struct group_fake b = group_fake_synced(2);
    struct diag d = DIAG_INIT;
    struct event e;
    b.t->core[1].locked_up = true;
    assert_int_equal(group_status(b.group, &e, &d), CORRAL_OK);
    assert_int_equal(e.halt.cores[1].state, CORE_LOCKUP);
    group_fake_halt(&b, 0, &e);
    group_fake_assert_all(&e, CORE_HALTED);
    assert_int_equal(e.halt.cores[1].reason, HALT_REASON_FAULT);
    assert_true(e.halt.cores[1].first);
    group_fake_close(&b);
}

/* No clock, though its port answers: named, and the others go on. One that should have halted is an error. */
static void test_a11_a_core_that_sleeps_without_clock_is_named(void **state)
{
    (void)state;
    struct group_fake b = group_fake_synced(3);
    struct diag d = DIAG_INIT;
    struct event e;
    b.t->core[2].asleep = b.t->core[2].deaf_to_halt = true;
    group_fake_halt(&b, 0, &e);
    assert_int_equal(e.halt.cores[0].state, CORE_HALTED);
    assert_int_equal(e.halt.cores[1].state, CORE_HALTED);
    assert_int_not_equal(e.halt.cores[2].state, CORE_HALTED);
    assert_true(group_fake_said(&b, "core2 was left out"));
    group_fake_run(&b, 0, &e);
    assert_int_equal(e.halt.cores[0].state, CORE_RUNNING);
    b.t->core[2].asleep = false; /* it runs, and takes no request */
    assert_int_equal(group_halt(b.group, 0, &e, &d), CORRAL_ERR_CORE_NO_HALT);
    assert_non_null(strstr(d.message, "core2"));
    assert_int_equal(e.halt.cores[0].state, CORE_HALTED);
    assert_int_equal(e.halt.cores[1].state, CORE_HALTED);
    group_fake_close(&b);
}

/* One core that could be joined, and nobody to join it to: not one write. */
static void test_a_lone_cti_is_not_written(void **state)
{
    (void)state;
    struct group_fake b = group_fake_new(2);
    group_fake_start(&b, (const int[]){7, GROUP_FAKE_NO_CTI});
    size_t from = b.t->log_count;
    enable_sync(&b);
    assert_int_equal(b.t->log_count, from);
    assert_int_equal(group_get_member(b.group, 0)->halt_why, GROUP_WHY_OTHER_CTM);
    assert_true(group_fake_said(&b, "no two cores can be joined"));
    assert_round(&b, GROUP_MECHANISM_SOFTWARE);
    group_fake_close(&b);
}

/* A30 is an answer of the check, not a failure of it. */
static void test_check_says_when_a_cti_takes_only_a_part(void **state)
{
    (void)state;
    struct group_fake b = group_fake_new(2);
    struct diag d = DIAG_INIT;
    struct group_check c;
    b.t->core[1].outen_read_only = true;
    group_fake_start(&b, NULL);
    assert_int_equal(group_check(b.group, &c, &d), CORRAL_OK);
    assert_true(group_fake_said(&b, "cross triggers cannot be set up"));
    assert_int_equal(c.islands, 0);
    for (size_t i = 0; i < 2; i++) {
        assert_true(c.members[i].why[0] != '\0');
        assert_int_equal(b.t->core[i].cti.control, 0);
        assert_false(b.t->core[i].halted);
    }
    group_fake_close(&b);
}

/* Two cores stop at once on islands of their own; every one with a reason of its own is first (A14). */
static void test_a14_over_islands(void **state)
{
    (void)state;
    struct group_fake b = group_fake_new(4);
    struct diag d = DIAG_INIT;
    struct event e;
    bool stopped = false;
    b.t->core[2].ctm = b.t->core[3].ctm = 1;
    group_fake_start(&b, NULL);
    enable_sync(&b);
    assert_round(&b, GROUP_MECHANISM_SOFTWARE);
    fake_target_stop(b.t, 1, DFSR_DWTTRAP);
    fake_target_stop(b.t, 2, DFSR_BKPT);
    for (unsigned i = 0; i < 4 && !stopped; i++)
        assert_int_equal(group_poll(b.group, &stopped, &e, &d), CORRAL_OK);
    assert_true(stopped);
    group_fake_assert_all(&e, CORE_HALTED);
    assert_int_equal(e.halt.cores[1].reason, HALT_REASON_WATCHPOINT);
    assert_int_equal(e.halt.cores[2].reason, HALT_REASON_BREAKPOINT);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(e.halt.cores[i].first, i == 1 || i == 2);
    group_fake_assert_unlatched(&b);
    group_fake_close(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_member_without_cti_goes_along_by_software),
        cmocka_unit_test(test_a18_a_cti_that_cannot_be_written_leaves_its_core_to_software),
        cmocka_unit_test(test_a_cti_in_test_mode_leaves_its_core_to_software),
        cmocka_unit_test(test_a2_masks_end_at_numchan),
        cmocka_unit_test(test_a3_no_write_past_numtrig),
        cmocka_unit_test(test_channels_are_chosen_and_can_be_asked_for),
        cmocka_unit_test(test_a28_one_pulse_an_island),
        cmocka_unit_test(test_a_channel_that_is_not_shown_is_proven_at_the_first_halt),
        cmocka_unit_test(test_a9_c_step_is_cleared_before_the_pulse),
        cmocka_unit_test(test_a10_a_core_whose_debug_went_off_is_halted_all_the_same),
        cmocka_unit_test(test_a15_a_second_halt_pulse_changes_nothing),
        cmocka_unit_test(test_a6_what_is_latched_after_the_acknowledge_is_caught_before_the_restart),
        cmocka_unit_test(test_a23_a_false_halt_resumes_the_whole_group),
        cmocka_unit_test(test_a26_a_restart_output_that_is_wrong_is_given_up),
        cmocka_unit_test(test_a27_no_other_cti_is_touched),
        cmocka_unit_test(test_a29_a_link_that_dies_anywhere_in_a_round),
        cmocka_unit_test(test_a14_over_islands),
        cmocka_unit_test(test_a_locked_up_core_halts_with_reason_fault),
        cmocka_unit_test(test_a11_a_core_that_sleeps_without_clock_is_named),
        cmocka_unit_test(test_a_lone_cti_is_not_written),
        cmocka_unit_test(test_check_says_when_a_cti_takes_only_a_part),
    };
    return cmocka_run_group_tests_name("group-members", tests, NULL, NULL);
}
