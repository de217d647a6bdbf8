/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coming, going and looking on, on the virtual board: what a dead tool left, leaving the target as it was
 * found, stops that nobody asked for, and the check of what works. Cross-trigger sheet 11, cases A24, A25.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/group/group_bench.h"

#define GLBEN         0x000u
#define APPSET        0x014u
#define INEN0         0x020u
#define OUTEN0        0x0A0u
#define TRIGOUTSTATUS 0x134u
#define CLAIMCLR      0xFA4u
#define DHCSR         0xE000EDF0u

static const struct link_sim_options logged = {.log_accesses = true};

/* In the bus log from record `from` on: every CTI write comes before the first write that ends halting debug.
 */
static void assert_ctis_first(struct group_bench *b, size_t from)
{
    struct link_sim_bus_record log[512];
    size_t n = link_sim_bus_log(b->link, from, log, 512), last_cti = 0, first_core = SIZE_MAX;
    assert_true(n > 0 && n < 512);
    for (size_t i = 0; i < n; i++) {
        if (!log[i].write)
            continue;
        if (log[i].address == DHCSR && !(log[i].value & 1) && first_core == SIZE_MAX)
            first_core = i;
        if (log[i].address >= b->cti[0] && log[i].address - b->cti[0] < 0x1000)
            last_cti = i;
    }
    assert_true(last_cti > 0);
    assert_true(last_cti < first_core);
}

/* A24, A25: CTI first, and nothing is left: not a latch, a mapping, a claim, a halted core. */
static void test_a24_detach_leaves_the_target_as_it_was_found(void **state)
{
    (void)state;
    static const char *const boards[] = {NULL, "--level-halted", "--identity m33,m4"};
    for (size_t k = 0; k < 3; k++)
        for (size_t leave = 0; leave < 2; leave++) {
            struct group_bench b = group_bench_open(boards[k], &logged);
            struct diag d = DIAG_INIT;
            struct event e;
            group_bench_sync(&b);
            group_bench_halt(&b, 0, &e);
            size_t from = group_bench_bus_count(&b);
            if (group_detach(b.group, leave != 0, &d))
                fail_msg("%s", d.message);
            assert_ctis_first(&b, from);
            assert_false(group_sync_enabled(b.group));
            for (size_t i = 0; i < 2; i++) {
                assert_int_equal(group_bench_cti(&b, i, GLBEN), 0);
                assert_int_equal(group_bench_cti(&b, i, INEN0), 0);
                assert_int_equal(group_bench_cti(&b, i, OUTEN0), 0);
                assert_int_equal(group_bench_cti(&b, i, TRIGOUTSTATUS) & 1, 0);
                assert_int_equal(group_bench_cti(&b, i, CLAIMCLR), 0);
                uint32_t dhcsr = group_bench_read(&b, i, DHCSR);
                assert_int_equal((dhcsr >> 17) & 1, leave);
                assert_int_equal(dhcsr & 1, leave);
            }
            group_bench_close(&b);
        }
}

/* A tool that died in the middle of a halt: everything is latched, and nothing was taken down. */
static void test_repair_names_and_takes_away_what_a_dead_tool_left(void **state)
{
    (void)state;
    static const char *const boards[] = {NULL, "--level-halted", "--identity m33,m0plus"};
    for (size_t k = 0; k < 3; k++) {
        struct group_bench b = group_bench_open(boards[k], NULL);
        struct diag d = DIAG_INIT;
        struct event e;
        size_t repaired = 0;
        group_bench_sync(&b);
        /* the leader's request, and then nothing more */
        assert_int_equal(core_request_halt(b.cores[0], &d), CORRAL_OK);
        host_clock_sleep(b.clock, NS_PER_MS);
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(group_bench_cti(&b, i, TRIGOUTSTATUS) & 1, 1);
        /* the next process */
        struct core *cores[2];
        for (size_t i = 0; i < 2; i++) {
            const struct cti_info *x = cti_get_info(core_cti(b.cores[i]));
            struct cti *cti = cti_open(b.link, x->ap, x->address, x->restart_output, &d);
            assert_non_null(cti);
            cores[i] =
                core_cortex_m_open(b.link, core_ap(b.cores[i]), i ? "core1" : "core0", b.hz[i], cti, &d);
            assert_non_null(cores[i]);
        }
        struct group *dead = b.group;
        b.group = group_new(cores, 2, NULL, "group");
        assert_non_null(b.group);
        if (group_repair(b.group, &repaired, &d))
            fail_msg("%s", d.message);
        assert_int_equal(repaired, 2);
        assert_true(group_bench_said(&b, "core0 had a debug request asserted"));
        assert_true(group_bench_said(&b, "core1 was still connected for cross triggers"));
        assert_true(group_bench_said(&b, "core0 is halted since then"));
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(group_bench_cti(&b, i, GLBEN), 0);
            assert_int_equal(group_bench_cti(&b, i, INEN0), 0);
            assert_int_equal(group_bench_cti(&b, i, TRIGOUTSTATUS) & 1, 0);
            assert_int_equal(group_bench_cti(&b, i, CLAIMCLR), 0);
        }
        assert_int_equal(group_repair(b.group, &repaired, &d), CORRAL_OK);
        assert_int_equal(repaired, 0);
        group_bench_run(&b, 0, &e);
        group_bench_assert_states(&e, CORE_RUNNING, CORE_RUNNING);
        group_bench_sync(&b);
        group_bench_assert_works(&b, GROUP_MECHANISM_CTI);
        group_free(dead);
        for (size_t i = 0; i < 2; i++)
            core_close(cores[i]);
        group_bench_close(&b);
    }
}

static void expect_stop(struct group_bench *b, struct event *e, bool wanted)
{
    struct diag d = DIAG_INIT;
    bool stopped = false;
    for (unsigned i = 0; i < (wanted ? 200u : 20u) && !stopped; i++) {
        if (group_poll(b->group, &stopped, e, &d))
            fail_msg("%s", d.message);
        host_clock_sleep(b->clock, 500 * NS_PER_US);
    }
    assert_int_equal(stopped, wanted);
}

/* 11.1: a breakpoint stops all, over cross triggers or by a copy in software (A28). */
static void test_poll_finds_a_breakpoint_and_stops_all(void **state)
{
    (void)state;
    static const char *const boards[] = {NULL, "--separate-ctm", "--no-cti both", "--level-halted"};
    for (size_t k = 0; k < 4; k++)
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
            for (unsigned round = 0; round < 2; round++) {
                group_bench_run(&b, 0, &e);
                expect_stop(&b, &e, true);
                group_bench_assert_states(&e, CORE_HALTED, CORE_HALTED);
                assert_int_equal(e.halt.cores[who].reason, HALT_REASON_BREAKPOINT);
                assert_int_equal(e.halt.cores[who].pc, pc);
                assert_true(e.halt.cores[who].first);
                assert_false(e.halt.cores[1 - who].first);
            }
            assert_int_equal(core_clear_breakpoint(b.cores[who], pc, &d), CORRAL_OK);
            group_bench_run(&b, 0, &e);
            expect_stop(&b, &e, false);
            group_bench_close(&b);
        }
}

static void test_check_finds_each_switch_out(void **state)
{
    (void)state;
    static const struct {
        const char *board;
        size_t islands;
        enum group_proof halt, run;
        int type;
    } cases[] = {
        {NULL, 1, GROUP_PROOF_DONE, GROUP_PROOF_DONE, GROUP_HALTED_PULSE},
        {"--identity m33,m33", 1, GROUP_PROOF_DONE, GROUP_PROOF_DONE, GROUP_HALTED_PULSE},
        {"--identity m4,m0plus", 1, GROUP_PROOF_DONE, GROUP_PROOF_DONE, GROUP_HALTED_PULSE},
        {"--level-halted", 1, GROUP_PROOF_DONE, GROUP_PROOF_DONE, GROUP_HALTED_LEVEL},
        {"--separate-ctm", 2, GROUP_PROOF_NONE, GROUP_PROOF_NONE, GROUP_HALTED_UNKNOWN},
        {"--no-cti both", 0, GROUP_PROOF_NONE, GROUP_PROOF_NONE, GROUP_HALTED_UNKNOWN},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
        for (unsigned halted = 0; halted < 4; halted++) {
            struct group_bench b = group_bench_open(cases[k].board, NULL);
            struct diag d = DIAG_INIT;
            struct group_check c;
            struct event e;
            uint32_t pc[2] = {0, 0};
            if (halted && group_halt_some(b.group, halted, halted == 2, &e, &d))
                fail_msg("%s", d.message);
            for (size_t i = 0; i < 2 && halted; i++)
                pc[i] = e.halt.cores[i].pc;
            if (group_check(b.group, &c, &d))
                fail_msg("%zu %u: %s", k, halted, d.message);
            assert_int_equal(c.count, 2);
            assert_int_equal(c.islands, cases[k].islands);
            for (size_t i = 0; i < 2; i++) {
                bool was_halted = halted >> i & 1;
                assert_int_equal(c.members[i].state, was_halted ? CORE_HALTED : CORE_RUNNING);
                assert_int_equal(c.members[i].run, cases[k].run);
                assert_int_equal(c.members[i].halt, halted ? GROUP_PROOF_NONE : cases[k].halt);
                assert_int_equal(c.members[i].halted_input, cases[k].type);
                assert_int_equal(c.members[i].why[0] != '\0', cases[k].run != GROUP_PROOF_DONE);
            }
            assert_int_equal(group_status(b.group, &e, &d), CORRAL_OK);
            for (size_t i = 0; i < 2; i++) {
                bool was_halted = halted >> i & 1;
                assert_int_equal(e.halt.cores[i].state, was_halted ? CORE_HALTED : CORE_RUNNING);
                if (was_halted)
                    assert_int_equal(e.halt.cores[i].pc, pc[i]);
                if (!b.cti[i])
                    continue;
                assert_int_equal(group_bench_cti(&b, i, GLBEN), 0);
                assert_int_equal(group_bench_cti(&b, i, INEN0), 0);
                assert_int_equal(group_bench_cti(&b, i, TRIGOUTSTATUS) & 1, 0);
                assert_int_equal(group_bench_cti(&b, i, APPSET), 0);
            }
            assert_false(group_sync_enabled(b.group));
            group_bench_close(&b);
        }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a24_detach_leaves_the_target_as_it_was_found),
        cmocka_unit_test(test_repair_names_and_takes_away_what_a_dead_tool_left),
        cmocka_unit_test(test_poll_finds_a_breakpoint_and_stops_all),
        cmocka_unit_test(test_check_finds_each_switch_out),
    };
    return cmocka_run_group_tests_name("group-attach", tests, NULL, NULL);
}
