/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cases of the cross-trigger sheet 12.A that the virtual board can play by its switches: cores in reset,
 * without power, clock or debug; CTIs that are missing, apart, elsewhere or a level; latches, steps, resets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/board.h"
#include "sim/board_map.h"
#include "tests/unit/group/group_bench.h"

#define GLBEN  0x000u
#define INEN0  0x020u
#define OUTEN0 0x0A0u
#define GATE   0x140u
#define DEMCR  0xE000EDFCu

static const struct link_sim_options logged = {.log_accesses = true};

static void test_without_sync_no_cti_register_is_written(void **state)
{
    (void)state;
    struct group_bench b = group_bench_open(NULL, &logged);
    struct diag d = DIAG_INIT;
    size_t repaired = 1;
    struct event e;
    bool stopped;
    assert_int_equal(group_repair(b.group, &repaired, &d), CORRAL_OK);
    assert_int_equal(repaired, 0);
    group_bench_assert_works(&b, GROUP_MECHANISM_SOFTWARE);
    group_bench_halt(&b, 0, &e);
    assert_int_equal(group_step(b.group, 1, 2, &e, &d), CORRAL_OK);
    assert_int_equal(group_disarm(b.group, 0, &d), CORRAL_OK);
    assert_int_equal(group_arm(b.group, 0, &d), CORRAL_OK);
    assert_int_equal(group_run_some(b.group, 2, 1, &e, &d), CORRAL_OK);
    assert_int_equal(group_halt_some(b.group, 2, 1, &e, &d), CORRAL_OK);
    assert_int_equal(
        group_reset(b.group, &(struct group_reset){.how = CORE_RESET_SYSTEM, .halt = true}, &e, &d),
        CORRAL_OK);
    assert_int_equal(group_poll(b.group, &stopped, &e, &d), CORRAL_OK);
    assert_int_equal(group_refresh(b.group, &d), CORRAL_OK);
    assert_int_equal(group_detach(b.group, false, &d), CORRAL_OK);
    assert_int_equal(group_bench_cti_writes(&b, 0), 0);
    group_bench_close(&b);
}

static void test_a4_a_closed_gate_is_opened_for_our_channels_and_closed_again(void **state)
{
    (void)state;
    struct group_bench b = group_bench_open(NULL, NULL);
    struct diag d = DIAG_INIT;
    group_bench_set_cti(&b, 0, GATE, 0);
    group_bench_set_cti(&b, 1, GATE, 8);
    group_bench_sync(&b);
    assert_int_equal(group_bench_cti(&b, 0, GATE), 3);
    assert_int_equal(group_bench_cti(&b, 1, GATE), 0xB);
    group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
    assert_int_equal(group_disable_sync(b.group, &d), CORRAL_OK);
    assert_int_equal(group_bench_cti(&b, 0, GATE), 0);
    assert_int_equal(group_bench_cti(&b, 1, GATE), 8);
    group_bench_close(&b);
}

/* A5, 11.4: the level is taken off before the acknowledge, and on again after the restart. */
static void test_a5_level_halted(void **state)
{
    (void)state;
    for (size_t found_halted = 0; found_halted < 2; found_halted++) {
        struct group_bench b = group_bench_open("--level-halted", NULL);
        struct diag d = DIAG_INIT;
        if (found_halted)
            group_bench_halt(&b, 0, NULL);
        group_bench_sync(&b);
        if (found_halted)
            group_bench_run(&b, 0, NULL);
        assert_int_equal(group_mechanism(b.group), GROUP_MECHANISM_CTI);
        group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
        group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
        assert_true(group_get_member(b.group, 0)->level_halted);
        assert_true(group_get_member(b.group, 1)->level_halted);
        assert_int_equal(group_bench_cti(&b, 0, INEN0), 1);
        assert_int_equal(group_disable_sync(b.group, &d), CORRAL_OK);
        assert_int_equal(group_bench_cti(&b, 0, INEN0), 0);
        group_bench_close(&b);
    }
}

/* What a level would do to others that run on when one is halted or started by itself. */
static void test_a5_level_halted_with_some_of_the_cores(void **state)
{
    (void)state;
    struct group_bench b = group_bench_open("--level-halted", NULL);
    struct diag d = DIAG_INIT;
    struct event e;
    group_bench_sync(&b);
    for (unsigned round = 0; round < 2; round++)
        for (size_t who = 0; who < 2; who++) {
            assert_int_equal(group_halt_some(b.group, 1u << who, who, &e, &d), CORRAL_OK);
            assert_int_equal(e.halt.cores[who].state, CORE_HALTED);
            assert_int_equal(e.halt.cores[1 - who].state, CORE_RUNNING);
            assert_int_equal(group_run_some(b.group, 1u << who, who, &e, &d), CORRAL_OK);
            group_bench_assert_states(&e, CORE_RUNNING, CORE_RUNNING);
            host_clock_sleep(b.clock, NS_PER_MS);
            assert_int_equal(group_status(b.group, &e, &d), CORRAL_OK);
            group_bench_assert_states(&e, CORE_RUNNING, CORE_RUNNING);
        }
    group_bench_halt(&b, 0, &e);
    assert_int_equal(group_run_some(b.group, 2, 1, &e, &d), CORRAL_OK);
    group_bench_assert_states(&e, CORE_HALTED, CORE_RUNNING);
    group_bench_run(&b, 0, &e);
    group_bench_assert_states(&e, CORE_RUNNING, CORE_RUNNING);
    group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
    group_bench_close(&b);
}

static void test_a11_a_sleeping_core_without_clock_does_not_fail_the_other(void **state)
{
    (void)state;
    struct group_bench b = group_bench_open("--sleep-stops-clock core1", NULL);
    struct diag d = DIAG_INIT;
    struct event e;
    group_bench_sync(&b);
    for (unsigned round = 0; round < 6; round++) {
        group_forget_remarks(b.group);
        if (group_halt(b.group, 0, &e, &d))
            fail_msg("%s", d.message);
        assert_int_equal(e.halt.cores[0].state, CORE_HALTED);
        if (e.halt.cores[1].state != CORE_HALTED) {
            assert_true(e.halt.cores[1].state == CORE_UNKNOWN || e.halt.cores[1].state == CORE_RUNNING);
            assert_true(group_bench_said(&b, "core1 was left out"));
        }
        if (group_run(b.group, 0, &e, &d))
            fail_msg("%s", d.message);
        assert_int_equal(e.halt.cores[0].state, CORE_RUNNING);
        host_clock_sleep(b.clock, 333 * NS_PER_US);
    }
    group_bench_close(&b);
}

/* A12, D27: it is left out while it is in reset, and joins when it is let go. */
static void test_a12_a_core_held_in_reset_joins_when_it_is_let_go(void **state)
{
    (void)state;
    struct group_bench b = group_bench_open("--held-in-reset core1", NULL);
    struct diag d = DIAG_INIT;
    struct event e;
    group_bench_sync(&b);
    assert_int_equal(group_get_member(b.group, 1)->halt_why, GROUP_WHY_UNREACHABLE);
    assert_true(group_bench_said(&b, "held in reset"));
    group_forget_remarks(b.group);
    for (size_t leader = 0; leader < 2; leader++) {
        group_bench_halt(&b, leader, &e);
        group_bench_assert_states(&e, CORE_HALTED, CORE_RESET);
        assert_true(group_bench_said(&b, "core1 was left out: held in reset") ||
                    group_bench_said(&b, "core1 was left out: it is held in reset"));
        group_bench_run(&b, leader, &e);
        group_bench_assert_states(&e, CORE_RUNNING, CORE_RESET);
    }
    assert_int_equal(group_halt_some(b.group, 2, 1, &e, &d), CORRAL_ERR_CORE_NO_HALT);
    group_bench_write(&b, 0, BOARD_SYSINFO_BASE + BOARD_SYSINFO_RESET_HOLD, 0);
    host_clock_sleep(b.clock, NS_PER_MS);
    group_bench_halt(&b, 0, &e);
    group_bench_assert_states(&e, CORE_HALTED, CORE_HALTED);
    group_bench_run(&b, 0, &e);
    group_bench_assert_states(&e, CORE_RUNNING, CORE_RUNNING);
    assert_int_equal(group_get_member(b.group, 1)->halt, GROUP_MECHANISM_CTI);
    group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
    group_bench_close(&b);
}

static void test_an_unpowered_core_does_not_fail_the_other(void **state)
{
    (void)state;
    struct group_bench b = group_bench_open(NULL, NULL);
    struct diag d = DIAG_INIT;
    struct event e;
    group_bench_sync(&b);
    group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
    board_set_power(link_sim_board(b.link), 1, false);
    for (size_t leader = 0; leader < 2; leader++) {
        group_forget_remarks(b.group);
        group_bench_halt(&b, leader, &e);
        group_bench_assert_states(&e, CORE_HALTED, CORE_UNPOWERED);
        assert_true(group_bench_said(&b, "core1 was left out"));
        group_bench_run(&b, leader, &e);
        group_bench_assert_states(&e, CORE_RUNNING, CORE_UNPOWERED);
    }
    assert_int_equal(group_status(b.group, &e, &d), CORRAL_OK);
    group_bench_assert_states(&e, CORE_RUNNING, CORE_UNPOWERED);
    /* A13: with its power its CTI's registers went. The first halt misses it, and mends that. */
    board_set_power(link_sim_board(b.link), 1, true);
    host_clock_sleep(b.clock, NS_PER_MS);
    group_forget_remarks(b.group);
    group_bench_halt(&b, 0, &e);
    group_bench_assert_states(&e, CORE_HALTED, CORE_HALTED);
    assert_true(group_bench_said(&b, "had lost its connections"));
    group_bench_run(&b, 0, &e);
    group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
    assert_int_equal(group_detach(b.group, false, &d), CORRAL_OK);
    group_bench_close(&b);
}

/* A13: each core's CTI in turn forgets everything, at each moment of a round. */
static void test_a13_a_cti_that_lost_its_registers_is_set_up_again(void **state)
{
    (void)state;
    for (unsigned lost = 0; lost < 2; lost++)
        for (unsigned halted = 0; halted < 2; halted++) {
            struct group_bench b = group_bench_open(NULL, NULL);
            struct event e;
            group_bench_sync(&b);
            group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
            if (halted)
                group_bench_halt(&b, 0, &e);
            board_cti_lose(link_sim_board(b.link), lost);
            if (halted) {
                group_bench_run(&b, 0, &e);
                group_bench_assert_states(&e, CORE_RUNNING, CORE_RUNNING);
            }
            group_bench_halt(&b, 0, &e);
            group_bench_assert_states(&e, CORE_HALTED, CORE_HALTED);
            assert_true(group_bench_said(&b, "had lost its connections"));
            group_bench_run(&b, 0, &e);
            group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
            group_bench_close(&b);
        }
}

static void test_a28_separate_matrices_are_seen_then_proven_and_given_up(void **state)
{
    (void)state;
    for (size_t found_halted = 0; found_halted < 2; found_halted++) {
        struct group_bench b = group_bench_open("--separate-ctm", NULL);
        struct event e;
        if (found_halted)
            group_bench_halt(&b, 0, NULL);
        group_bench_sync(&b);
        assert_int_equal(group_mechanism(b.group), GROUP_MECHANISM_SOFTWARE);
        assert_true(group_bench_said(&b, "no two cores can be joined"));
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(group_get_member(b.group, i)->halt_why, GROUP_WHY_OTHER_CTM);
        if (!found_halted)
            group_bench_halt(&b, 0, &e);
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(group_bench_cti(&b, i, GLBEN), 0); /* proven: given back */
        group_bench_run(&b, 0, &e);
        group_bench_assert_works(&b, GROUP_MECHANISM_SOFTWARE);
        group_bench_close(&b);
    }
}

static void test_a_core_without_cti_is_reached_by_software_and_said_so(void **state)
{
    (void)state;
    struct group_bench b = group_bench_open("--no-cti core1", NULL);
    group_bench_sync(&b);
    assert_true(group_bench_said(&b, "core1 is halted and started by itself: it has no CTI"));
    assert_true(group_bench_said(&b, "no two cores can be joined"));
    group_bench_assert_works(&b, GROUP_MECHANISM_SOFTWARE);
    group_bench_close(&b);
}

static void test_ctis_lie_where_they_lie(void **state)
{
    (void)state;
    struct group_bench b = group_bench_open("--cti-base 0xE0043000,0xE0044000", NULL);
    assert_int_equal(b.cti[0], 0xE0043000u);
    assert_int_equal(b.cti[1], 0xE0044000u);
    group_bench_sync(&b);
    group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
    group_bench_close(&b);
}

/* Rule 16: triggers into a core whose debug is disabled do nothing. */
static void test_a_core_with_debug_disabled_does_not_fail_the_other(void **state)
{
    (void)state;
    struct group_bench b = group_bench_open("--no-debug core1", NULL);
    struct event e;
    group_bench_sync(&b);
    assert_int_not_equal(group_get_member(b.group, 1)->halt_why, GROUP_WHY_NONE);
    group_forget_remarks(b.group);
    group_bench_halt(&b, 0, &e);
    assert_int_equal(e.halt.cores[0].state, CORE_HALTED);
    assert_int_not_equal(e.halt.cores[1].state, CORE_HALTED);
    assert_true(group_bench_said(&b, "core1 was left out"));
    group_bench_run(&b, 0, &e);
    assert_int_equal(e.halt.cores[0].state, CORE_RUNNING);
    group_bench_close(&b);
}

static void test_a20_a_step_moves_one_core_and_latches_nobody(void **state)
{
    (void)state;
    static const char *const boards[] = {NULL, "--level-halted", "--identity m33,m0plus"};
    for (size_t k = 0; k < 3; k++) {
        struct group_bench b = group_bench_open(boards[k], NULL);
        struct diag d = DIAG_INIT;
        struct event e;
        group_bench_sync(&b);
        group_bench_halt(&b, 0, &e);
        for (size_t who = 0; who < 2; who++) {
            size_t from = link_sim_log_count(b.link);
            uint32_t pc[2] = {e.halt.cores[0].pc, e.halt.cores[1].pc};
            assert_int_equal(group_step(b.group, who, 3, &e, &d), CORRAL_OK);
            assert_int_equal(e.halt.cores[who].reason, HALT_REASON_STEP);
            assert_int_not_equal(e.halt.cores[who].pc, pc[who]);
            assert_int_equal(e.halt.cores[1 - who].pc, pc[1 - who]);
            struct link_sim_record log[16];
            size_t n = link_sim_log(b.link, from, log, 16);
            assert_int_equal(n, 6); /* three steps: each left debug state once and came back once */
            for (size_t i = 0; i < n; i++)
                assert_int_equal(log[i].core, who);
            group_bench_assert_unlatched(&b);
        }
        group_bench_run(&b, 1, &e);
        group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
        group_bench_close(&b);
    }
}

/* A20 again: a step while the other core runs, and goes on running. */
static void test_a20_a_step_beside_a_running_core(void **state)
{
    (void)state;
    struct group_bench b = group_bench_open(NULL, NULL);
    struct diag d = DIAG_INIT;
    struct event e;
    group_bench_sync(&b);
    assert_int_equal(group_halt_some(b.group, 1, 0, &e, &d), CORRAL_OK);
    group_bench_assert_states(&e, CORE_HALTED, CORE_RUNNING);
    assert_int_equal(group_step(b.group, 0, 5, &e, &d), CORRAL_OK);
    group_bench_assert_states(&e, CORE_HALTED, CORE_RUNNING);
    assert_int_equal(group_step(b.group, 1, 1, &e, &d), CORRAL_ERR_CORE_STATE);
    /* Still armed: the next halt of the one drags along the other. */
    assert_int_equal(group_run_some(b.group, 1, 0, &e, &d), CORRAL_OK);
    group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
    group_bench_close(&b);
}

/* A21: what runs on a core that is kept to itself starts and stops nobody. */
static void test_a21_a_core_kept_to_itself(void **state)
{
    (void)state;
    struct group_bench b = group_bench_open(NULL, NULL);
    struct diag d = DIAG_INIT;
    struct event e;
    group_bench_sync(&b);
    group_bench_halt(&b, 0, &e);
    assert_int_equal(group_disarm(b.group, 0, &d), CORRAL_OK);
    assert_int_equal(group_get_member(b.group, 0)->halt_why, GROUP_WHY_ISOLATED);
    size_t from = link_sim_log_count(b.link);
    assert_int_equal(group_run_some(b.group, 1, 0, &e, &d), CORRAL_OK);
    group_bench_assert_states(&e, CORE_RUNNING, CORE_HALTED);
    assert_int_equal(group_halt_some(b.group, 1, 0, &e, &d), CORRAL_OK);
    struct link_sim_record log[16];
    size_t n = link_sim_log(b.link, from, log, 16);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(log[i].core, 0);
    group_bench_assert_unlatched(&b);
    assert_int_equal(group_bench_cti(&b, 0, INEN0), 0);
    assert_int_equal(group_bench_cti(&b, 0, OUTEN0), 0);
    assert_int_equal(group_arm(b.group, 0, &d), CORRAL_OK);
    group_bench_run(&b, 0, &e);
    group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
    group_bench_close(&b);
}

/* A loop that asks the host for something by semihosting and adds up what it answers; `who` stands at its
 * beginning. Where nothing else of the images lies. */
#define SEMIHOSTING      0x20070000u
#define SEMIHOSTING_BKPT (SEMIHOSTING + 2)

static void load_semihosting(struct group_bench *b, size_t who)
{
    static const uint32_t program[] = {
        0xBEAB2018, /* movs r0, #0x18; bkpt 0xAB */
        0x3401182D, /* adds r5, r5, r0; adds r4, #1 */
        0x46C0E7FA, /* b SEMIHOSTING; mov r8, r8 */
    };
    static const struct {
        unsigned number;
        uint32_t value;
    } registers[] = {
        {CORE_REGISTER_PRIMASK, 1},      {CORE_REGISTER_XPSR, 0x01000000}, {4, 0}, {5, 0},
        {CORE_REGISTER_PC, SEMIHOSTING},
    };
    struct diag d = DIAG_INIT;
    for (size_t i = 0; i < sizeof(program) / sizeof(program[0]); i++)
        group_bench_write(b, who, SEMIHOSTING + 4 * (uint32_t)i, program[i]);
    for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
        assert_int_equal(core_write_register(b->cores[who], registers[i].number, registers[i].value, &d),
                         CORRAL_OK);
}

static uint32_t register_of(struct group_bench *b, size_t core, unsigned number)
{
    struct diag d = DIAG_INIT;
    uint32_t value = 0;
    assert_int_equal(core_read_register(b->cores[core], number, &value, &d), CORRAL_OK);
    return value;
}

/* A22: the BKPT of a semihosting call stops all; the host answers, and all go on: the caller behind its BKPT,
 * without a step of its own, and the other after a pause. */
static void test_a22_a_semihosting_call_is_a_pause_of_the_whole_group(void **state)
{
    (void)state;
    static const char *const boards[] = {NULL, "--level-halted", "--identity m33,m0plus", "--no-cti core1"};
    for (size_t k = 0; k < 4; k++)
        for (size_t who = 0; who < 2; who++) {
            struct group_bench b = group_bench_open(boards[k], NULL);
            struct diag d = DIAG_INIT;
            struct event e;
            bool cti = k < 3;
            group_bench_sync(&b);
            group_bench_halt(&b, 0, &e);
            load_semihosting(&b, who);
            for (uint32_t round = 0; round < 3; round++) {
                size_t from = link_sim_log_count(b.link);
                uint32_t pc = e.halt.cores[1 - who].pc;
                bool stopped = false;
                group_bench_run(&b, 1 - who, &e);
                assert_true(e.halt.cores[0].restarted && e.halt.cores[1].restarted);
                host_clock_sleep(b.clock, 100 * NS_PER_US);
                for (unsigned i = 0; i < 8 && !stopped; i++)
                    assert_int_equal(group_poll(b.group, &stopped, &e, &d), CORRAL_OK);
                assert_true(stopped);
                group_bench_assert_states(&e, CORE_HALTED, CORE_HALTED);
                assert_int_equal(e.halt.cores[who].reason, HALT_REASON_BREAKPOINT);
                assert_int_equal(e.halt.cores[who].pc, SEMIHOSTING_BKPT);
                assert_true(e.halt.cores[who].first);
                assert_false(e.halt.cores[1 - who].first);
                assert_int_equal(e.halt.cores[1 - who].reason,
                                 cti ? HALT_REASON_CROSS_TRIGGER : HALT_REASON_REQUEST);
                assert_int_not_equal(e.halt.cores[1 - who].pc, pc); /* it has moved between two calls */
                /* Each left debug state once and came back once, the caller first. */
                struct link_sim_record log[16];
                size_t n = link_sim_log(b.link, from, log, 16);
                assert_int_equal(n, 4);
                assert_true(!log[0].halted && !log[1].halted && log[2].halted && log[3].halted);
                assert_int_equal(log[2].core, who);
                assert_int_equal(log[3].core, 1 - who);
                group_bench_assert_unlatched(&b);
                /* The answers so far have been taken, each once. */
                assert_int_equal(register_of(&b, who, 0), 0x18);
                assert_int_equal(register_of(&b, who, 4), round);
                assert_int_equal(register_of(&b, who, 5), 1000 * round);
                assert_int_equal(core_write_register(b.cores[who], 0, 1000, &d), CORRAL_OK);
            }
            group_bench_close(&b);
        }
}

static void test_some_halt_and_run_and_the_others_go_on(void **state)
{
    (void)state;
    struct group_bench b = group_bench_open(NULL, NULL);
    struct diag d = DIAG_INIT;
    struct event e;
    group_bench_sync(&b);
    for (size_t who = 0; who < 2; who++) {
        size_t from = link_sim_log_count(b.link);
        assert_int_equal(group_halt_some(b.group, 1u << who, who, &e, &d), CORRAL_OK);
        assert_int_equal(e.halt.cores[who].state, CORE_HALTED);
        assert_true(e.halt.cores[who].first);
        assert_int_equal(e.halt.cores[1 - who].state, CORE_RUNNING);
        assert_int_equal(group_run_some(b.group, 1u << who, who, &e, &d), CORRAL_OK);
        group_bench_assert_states(&e, CORE_RUNNING, CORE_RUNNING);
        struct link_sim_record log[16];
        size_t n = link_sim_log(b.link, from, log, 16);
        assert_int_equal(n, 2);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(log[i].core, who);
        /* Start one of two that are halted: the other stays. */
        group_bench_halt(&b, 0, &e);
        assert_int_equal(group_run_some(b.group, 1u << who, who, &e, &d), CORRAL_OK);
        assert_int_equal(e.halt.cores[1 - who].state, CORE_HALTED);
        assert_int_equal(e.halt.cores[who].state, CORE_RUNNING);
        group_bench_run(&b, 0, &e);
        group_bench_assert_states(&e, CORE_RUNNING, CORE_RUNNING);
    }
    assert_int_equal(group_halt_some(b.group, 1, 1, &e, &d), CORRAL_ERR_NO_CORE);
    group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
    group_bench_close(&b);
}

/* 10.4: stepping off a breakpoint before a start is no halt for the other, which runs. */
static void test_a_core_steps_off_its_breakpoint_beside_a_running_core(void **state)
{
    (void)state;
    static const char *const boards[] = {NULL, "--level-halted", "--identity m33,m0plus"};
    for (size_t k = 0; k < 3; k++)
        for (size_t who = 0; who < 2; who++) {
            struct group_bench b = group_bench_open(boards[k], NULL);
            struct diag d = DIAG_INIT;
            struct event e;
            uint32_t pc = 0;
            group_bench_sync(&b);
            group_bench_halt(&b, 0, &e);
            assert_int_equal(group_step(b.group, who, 1, NULL, &d), CORRAL_OK);
            assert_int_equal(core_read_register(b.cores[who], CORE_REGISTER_PC, &pc, &d), CORRAL_OK);
            assert_int_equal(core_set_breakpoint(b.cores[who], pc, &d), CORRAL_OK);
            assert_int_equal(group_run_some(b.group, 2u >> who, 1 - who, &e, &d), CORRAL_OK);
            size_t from = link_sim_log_count(b.link);
            assert_int_equal(group_run_some(b.group, 1u << who, who, &e, &d), CORRAL_OK);
            assert_true(e.halt.cores[who].restarted);
            struct link_sim_record log[16];
            size_t n = link_sim_log(b.link, from, log, 16);
            assert_true(n >= 3); /* out and back for the step, and out */
            for (size_t i = 0; i < 3; i++)
                assert_int_equal(log[i].core, who);
            assert_int_equal(core_clear_breakpoint(b.cores[who], pc, &d), CORRAL_OK);
            group_bench_halt(&b, 0, &e);
            group_bench_assert_states(&e, CORE_HALTED, CORE_HALTED);
            group_bench_assert_unlatched(&b);
            group_bench_close(&b);
        }
}

static void test_reset_halts_every_core_at_its_vector(void **state)
{
    (void)state;
    for (size_t sync = 0; sync < 2; sync++)
        for (size_t halted = 0; halted < 2; halted++) {
            struct group_bench b = group_bench_open(NULL, NULL);
            struct diag d = DIAG_INIT;
            struct event e;
            if (sync)
                group_bench_sync(&b);
            if (halted)
                group_bench_halt(&b, 0, &e);
            const struct group_reset reset = {.how = CORE_RESET_SYSTEM, .halt = true, .core = 0};
            if (group_reset(b.group, &reset, &e, &d))
                fail_msg("%s", d.message);
            assert_int_equal(e.kind, EVENT_HALT);
            assert_int_equal(e.halt.cores[0].state, CORE_HALTED);
            assert_int_equal(e.halt.cores[0].reason, HALT_REASON_VECTOR_CATCH);
            assert_int_equal(e.halt.cores[1].state, CORE_HALTED);
            assert_int_equal(group_bench_read(&b, 0, DEMCR) & 1, 0);
            group_bench_assert_unlatched(&b);
            group_bench_run(&b, 0, &e);
            group_bench_assert_works(&b, sync ? GROUP_MECHANISM_CTI : GROUP_MECHANISM_SOFTWARE);
            group_bench_close(&b);
        }
}

static void test_reset_and_run(void **state)
{
    (void)state;
    for (size_t halted = 0; halted < 2; halted++) {
        struct group_bench b = group_bench_open(NULL, NULL);
        struct diag d = DIAG_INIT;
        struct event e;
        group_bench_sync(&b);
        if (halted)
            group_bench_halt(&b, 0, &e);
        if (group_reset(b.group, &(struct group_reset){.how = CORE_RESET_SYSTEM}, &e, &d))
            fail_msg("%s", d.message);
        assert_int_equal(e.kind, EVENT_RUN);
        group_bench_assert_states(&e, CORE_RUNNING, CORE_RUNNING);
        assert_true(e.halt.cores[0].restarted);
        group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
        group_bench_close(&b);
    }
}

static void test_reset_of_one_core_alone(void **state)
{
    (void)state;
    struct group_bench b = group_bench_open(NULL, NULL);
    struct diag d = DIAG_INIT;
    struct event e;
    group_bench_sync(&b);
    const struct group_reset reset = {.how = CORE_RESET_CORE, .halt = true, .core = 1};
    size_t from = link_sim_log_count(b.link);
    if (group_reset(b.group, &reset, &e, &d))
        fail_msg("%s", d.message);
    group_bench_assert_states(&e, CORE_RUNNING, CORE_HALTED);
    assert_int_equal(e.halt.cores[1].reason, HALT_REASON_VECTOR_CATCH);
    struct link_sim_record log[16];
    size_t n = link_sim_log(b.link, from, log, 16);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(log[i].core, 1);
    assert_int_equal(group_run_some(b.group, 2, 1, &e, &d), CORRAL_OK);
    group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
    group_bench_close(&b);
}

/* A12 with 11.2: the vector catch of a core that stays in reset waits for it. */
static void test_a_core_held_in_reset_stops_at_its_vector_when_it_is_let_go(void **state)
{
    (void)state;
    struct group_bench b = group_bench_open("--held-in-reset core1", NULL);
    struct diag d = DIAG_INIT;
    struct event e;
    group_bench_sync(&b);
    const struct group_reset reset = {.how = CORE_RESET_SYSTEM, .halt = true};
    if (group_reset(b.group, &reset, &e, &d))
        fail_msg("%s", d.message);
    group_bench_assert_states(&e, CORE_HALTED, CORE_RESET);
    assert_true(group_bench_said(&b, "core1 is still held in reset"));
    group_bench_write(&b, 0, BOARD_SYSINFO_BASE + BOARD_SYSINFO_RESET_HOLD, 0);
    host_clock_sleep(b.clock, NS_PER_MS);
    assert_int_equal(group_status(b.group, &e, &d), CORRAL_OK);
    group_bench_assert_states(&e, CORE_HALTED, CORE_HALTED);
    assert_int_equal(e.halt.cores[1].reason, HALT_REASON_VECTOR_CATCH);
    group_bench_close(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_sync_no_cti_register_is_written),
        cmocka_unit_test(test_a4_a_closed_gate_is_opened_for_our_channels_and_closed_again),
        cmocka_unit_test(test_a5_level_halted),
        cmocka_unit_test(test_a5_level_halted_with_some_of_the_cores),
        cmocka_unit_test(test_a11_a_sleeping_core_without_clock_does_not_fail_the_other),
        cmocka_unit_test(test_a12_a_core_held_in_reset_joins_when_it_is_let_go),
        cmocka_unit_test(test_an_unpowered_core_does_not_fail_the_other),
        cmocka_unit_test(test_a13_a_cti_that_lost_its_registers_is_set_up_again),
        cmocka_unit_test(test_a28_separate_matrices_are_seen_then_proven_and_given_up),
        cmocka_unit_test(test_a_core_without_cti_is_reached_by_software_and_said_so),
        cmocka_unit_test(test_ctis_lie_where_they_lie),
        cmocka_unit_test(test_a_core_with_debug_disabled_does_not_fail_the_other),
        cmocka_unit_test(test_a20_a_step_moves_one_core_and_latches_nobody),
        cmocka_unit_test(test_a20_a_step_beside_a_running_core),
        cmocka_unit_test(test_a21_a_core_kept_to_itself),
        cmocka_unit_test(test_a22_a_semihosting_call_is_a_pause_of_the_whole_group),
        cmocka_unit_test(test_some_halt_and_run_and_the_others_go_on),
        cmocka_unit_test(test_a_core_steps_off_its_breakpoint_beside_a_running_core),
        cmocka_unit_test(test_reset_halts_every_core_at_its_vector),
        cmocka_unit_test(test_reset_and_run),
        cmocka_unit_test(test_reset_of_one_core_alone),
        cmocka_unit_test(test_a_core_held_in_reset_stops_at_its_vector_when_it_is_let_go),
    };
    return cmocka_run_group_tests_name("group-cases", tests, NULL, NULL);
}
