/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seed's two options on the virtual board, two Cortex-M7 with CTIs at 0xE0042000 as in its examples: what
 * Corral does itself (option 1) and what the seed's debug sequences do (option 2) leave the same registers
 * and the same skew; and rounds with random leaders, breakpoints and steps. Cross-trigger sheet 13.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/group/group_bench.h"
#include "tests/unit/group/group_pack.h"

#define SEED_BOARD "--identity m7,m7 --cti-base 0xE0042000"
#define SEED_CTI   0xE0042000u
#define AGREE_NS   50
#define MEASURED   8
#define ROUNDS     100
#define RUN_NS     (400 * NS_PER_US)

struct bench {
    struct group_bench b;
    struct group_pack p;
};

static void open_bench(struct bench *x, const char *board, bool sequences)
{
    x->b = group_bench_open(board, &(struct link_sim_options){.log_accesses = true});
    assert_int_equal(x->b.count, 2);
    assert_int_equal(x->b.cti[0], SEED_CTI);
    assert_int_equal(x->b.cti[1], SEED_CTI);
    group_pack_init(&x->p, x->b.link, x->b.cores, x->b.count, SEED_CTI);
    if (sequences)
        group_pack_use(&x->p, x->b.group);
}

/* CONTROL, GATE, every INEN and OUTEN of both. */
#define WORDS 18
struct registers {
    uint32_t of[2][WORDS];
};

static void read_registers(struct bench *x, struct registers *r)
{
    for (size_t core = 0; core < 2; core++) {
        r->of[core][0] = group_bench_cti(&x->b, core, 0x000);
        r->of[core][1] = group_bench_cti(&x->b, core, 0x140);
        for (uint32_t n = 0; n < 8; n++) {
            r->of[core][2 + n] = group_bench_cti(&x->b, core, 0x020 + 4 * n);
            r->of[core][10 + n] = group_bench_cti(&x->b, core, 0x0A0 + 4 * n);
        }
    }
}

static void assert_same(const struct registers *a, const struct registers *b)
{
    for (size_t core = 0; core < 2; core++)
        for (size_t i = 0; i < WORDS; i++)
            assert_int_equal(a->of[core][i], b->of[core][i]);
}

struct option {
    struct registers found, set_up, after_rounds, left;
    int64_t skew[MEASURED];
};

/* The same course for both: set up while the cores run or are halted, measured rounds, detached. */
static void go_through(const char *board, bool sequences, bool running, struct option *o)
{
    struct bench x;
    struct diag d = DIAG_INIT;
    open_bench(&x, board, sequences);
    read_registers(&x, &o->found);
    if (!running)
        group_bench_halt(&x.b, 0, NULL);
    group_bench_sync(&x.b);
    read_registers(&x, &o->set_up);
    if (running)
        group_bench_halt(&x.b, 0, NULL);
    assert_int_equal(group_mechanism(x.b.group), sequences ? GROUP_MECHANISM_SEQUENCE : GROUP_MECHANISM_CTI);
    for (unsigned i = 0; i < MEASURED; i++) {
        struct group_skew skew;
        if (group_measure_round(x.b.group, i % 2, 1 - i % 2, RUN_NS + i * 977, &skew, &d))
            fail_msg("%s", d.message);
        assert_true(skew.skew_ns != EVENT_NO_TIME);
        o->skew[i] = skew.skew_ns;
    }
    read_registers(&x, &o->after_rounds);
    assert_int_equal(group_pack_starts(&x.p), sequences ? MEASURED : 0);
    if (group_detach(x.b.group, false, &d))
        fail_msg("%s", d.message);
    read_registers(&x, &o->left);
    group_bench_assert_unlatched(&x.b);
    const struct group_remark *list;
    if (group_remarks(x.b.group, &list) != 0)
        fail_msg("%s", list[0].text);
    group_bench_close(&x.b);
}

static void test_both_options_leave_the_same_registers_and_the_same_skew(void **state)
{
    (void)state;
    for (unsigned running = 0; running < 2; running++) {
        struct option one, two;
        go_through(SEED_BOARD, false, running, &one);
        go_through(SEED_BOARD, true, running, &two);
        assert_same(&one.found, &two.found);
        assert_same(&one.set_up, &two.set_up);
        assert_same(&one.after_rounds, &two.after_rounds);
        assert_same(&one.set_up, &one.after_rounds);
        assert_same(&one.found, &one.left);
        assert_same(&two.found, &two.left);
        for (size_t core = 0; core < 2; core++) {
            assert_int_equal(two.set_up.of[core][0], 1);      /* CONTROL */
            assert_int_equal(two.set_up.of[core][2], 1);      /* INEN0: channel 0 */
            assert_int_equal(two.set_up.of[core][10], 1);     /* OUTEN0: channel 0 */
            assert_int_equal(two.set_up.of[core][10 + 7], 2); /* OUTEN7: channel 1 */
        }
        for (unsigned i = 0; i < MEASURED; i++)
            if (llabs(one.skew[i] - two.skew[i]) > AGREE_NS)
                fail_msg("round %u: %lld ns by ourselves, %lld ns by sequences", i, (long long)one.skew[i],
                         (long long)two.skew[i]);
        print_message("# skew: %lld ns by ourselves, %lld ns by sequences\n", (long long)one.skew[0],
                      (long long)two.skew[0]);
    }
}

/* Cases A19 and sheet 13.10: the same with a halted input that is a level. */
static void test_both_options_agree_with_a_level_too(void **state)
{
    (void)state;
    struct option one, two;
    go_through(SEED_BOARD " --level-halted", false, false, &one);
    go_through(SEED_BOARD " --level-halted", true, false, &two);
    assert_same(&one.set_up, &two.set_up);
    assert_same(&one.after_rounds, &two.after_rounds);
    assert_same(&one.found, &two.left);
    for (unsigned i = 0; i < MEASURED; i++)
        assert_true(llabs(one.skew[i] - two.skew[i]) <= AGREE_NS);
}

static void test_without_sync_the_bus_shows_no_cti_write(void **state)
{
    (void)state;
    struct bench x;
    struct diag d = DIAG_INIT;
    open_bench(&x, SEED_BOARD, true);
    group_bench_assert_works(&x.b, GROUP_MECHANISM_SOFTWARE);
    assert_int_equal(group_detach(x.b.group, false, &d), CORRAL_OK);
    assert_int_equal(group_bench_cti_writes(&x.b, 0), 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(
            x.p.core[i].set_ups + x.p.core[i].stops + x.p.core[i].starts + x.p.core[i].acknowledges, 0);
    group_bench_close(&x.b);
}

/* Where the seed puts it, before DebugCoreStart: nobody has seen the CTIs before. These have a lock, which
 * the seed's sequence does not open (sheet 13.3): one that did, and one that had no effect for that reason.
 */
static void test_a_set_up_before_the_group_is_taken_away_with_it(void **state)
{
    (void)state;
    for (unsigned opened = 0; opened < 2; opened++) {
        struct bench x;
        struct diag d = DIAG_INIT;
        struct registers found, left;
        open_bench(&x, SEED_BOARD, true);
        read_registers(&x, &found);
        x.p.sequences.already_run = true;
        for (size_t i = 0; i < 2; i++) {
            if (opened)
                group_bench_write(&x.b, i, SEED_CTI + 0xFB0, 0xC5ACCE55);
            assert_int_equal(x.p.sequences.set_up(&x.p, i, &d), CORRAL_OK);
            assert_int_equal(group_bench_cti(&x.b, i, 0x000), opened);
        }
        size_t repaired = 0;
        assert_int_equal(group_repair(x.b.group, &repaired, &d), CORRAL_OK);
        assert_int_equal(repaired, 0);
        group_bench_sync(&x.b);
        assert_int_equal(x.p.core[0].set_ups, opened ? 1 : 2);
        assert_int_equal(x.p.core[1].set_ups, opened ? 1 : 2);
        group_bench_assert_works(&x.b, GROUP_MECHANISM_SEQUENCE);
        assert_int_equal(group_detach(x.b.group, false, &d), CORRAL_OK);
        read_registers(&x, &left);
        assert_same(&found, &left);
        group_bench_close(&x.b);
    }
}

/* A level shows who shares channels while cores run. With the sequences' connections made it would start who
 * is halted: they are taken off meanwhile. */
static void test_turning_it_on_while_one_runs_starts_nobody(void **state)
{
    (void)state;
    struct bench x;
    struct diag d = DIAG_INIT;
    struct event e;
    open_bench(&x, SEED_BOARD, true);
    assert_int_equal(group_halt_some(x.b.group, 2, 1, &e, &d), CORRAL_OK);
    size_t from = link_sim_log_count(x.b.link);
    group_bench_sync(&x.b);
    assert_int_equal(link_sim_log_count(x.b.link), from);
    assert_int_equal(group_get_member(x.b.group, 0)->island, group_get_member(x.b.group, 1)->island);
    group_bench_halt(&x.b, 0, &e);
    group_bench_assert_states(&e, CORE_HALTED, CORE_HALTED);
    group_bench_assert_works(&x.b, GROUP_MECHANISM_SEQUENCE);
    group_bench_close(&x.b);
}

/*
 * Armv8-M: S_RESTART_ST is the one proof of a restart, and reading DHCSR clears it. A sequence that does so
 * leaves a core that stopped at once looking as if it had never started: a second pulse would start it again.
 */
static void test_a_start_that_reads_the_proof_away_starts_nobody_twice(void **state)
{
    (void)state;
    struct bench x;
    struct diag d = DIAG_INIT;
    struct event e;
    uint32_t before = 0, stop = 0;
    open_bench(&x, "--identity m33,m33", true);
    x.p.restart_output = 1;
    x.p.start_reads_dhcsr = true;
    group_bench_halt(&x.b, 0, NULL);
    group_bench_sync(&x.b);
    assert_int_equal(group_mechanism(x.b.group), GROUP_MECHANISM_SEQUENCE);
    /* One instruction ahead of where it stands. */
    assert_int_equal(core_read_register(x.b.cores[1], CORE_REGISTER_PC, &before, &d), CORRAL_OK);
    assert_int_equal(group_step(x.b.group, 1, 1, NULL, &d), CORRAL_OK);
    assert_int_equal(core_read_register(x.b.cores[1], CORE_REGISTER_PC, &stop, &d), CORRAL_OK);
    assert_int_not_equal(before, stop);
    assert_int_equal(core_write_register(x.b.cores[1], CORE_REGISTER_PC, before, &d), CORRAL_OK);
    assert_int_equal(core_set_breakpoint(x.b.cores[1], stop, &d), CORRAL_OK);
    size_t from = link_sim_log_count(x.b.link);
    assert_int_equal(group_run(x.b.group, 0, &e, &d), CORRAL_OK);
    struct link_sim_record log[16];
    size_t n = link_sim_log(x.b.link, from, log, 16), restarts = 0;
    for (size_t i = 0; i < n; i++)
        restarts += !log[i].halted && log[i].core == 1;
    assert_int_equal(restarts, 1);
    group_bench_halt(&x.b, 0, &e);
    assert_int_equal(e.halt.cores[1].reason, HALT_REASON_BREAKPOINT);
    assert_int_equal(e.halt.cores[1].pc, stop);
    assert_true(e.halt.cores[1].first);
    group_bench_assert_unlatched(&x.b);
    group_bench_close(&x.b);
}

struct random {
    uint32_t state;
};

static uint32_t draw(struct random *r, uint32_t below)
{
    r->state = r->state * 1664525u + 1013904223u;
    return (r->state >> 8) % below;
}

/* Sometimes set a breakpoint where the core stands, sometimes take it away. */
static void change_breakpoint(struct core *core, uint32_t *breakpoint, struct random *r)
{
    struct diag d = DIAG_INIT;
    if (*breakpoint && draw(r, 2)) {
        assert_int_equal(core_clear_breakpoint(core, *breakpoint, &d), CORRAL_OK);
        *breakpoint = 0;
    }
    if (!*breakpoint && draw(r, 3) == 0) {
        assert_int_equal(core_read_register(core, CORE_REGISTER_PC, breakpoint, &d), CORRAL_OK);
        assert_int_equal(core_set_breakpoint(core, *breakpoint, &d), CORRAL_OK);
    }
}

static void one_round(struct bench *x, unsigned round, struct random *r, uint32_t *breakpoints)
{
    struct diag d = DIAG_INIT;
    struct event e;
    size_t starter = draw(r, 2), stopper = draw(r, 2);
    for (size_t i = 0; i < 2; i++)
        change_breakpoint(x->b.cores[i], &breakpoints[i], r);
    if (draw(r, 8) == 0 && group_step(x->b.group, draw(r, 2), 1 + draw(r, 3), NULL, &d))
        fail_msg("round %u: %s", round, d.message);
    size_t from = link_sim_log_count(x->b.link);
    group_pack_forget(&x->p);
    group_bench_run(&x->b, starter, &e);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
    for (size_t i = 0; i < 2; i++)
        assert_true(e.halt.cores[i].restarted);
    assert_int_equal(group_pack_starts(&x->p), 1);
    assert_int_equal(x->p.core[starter].starts, 1);
    host_clock_sleep(x->b.clock, draw(r, 2000000));
    group_bench_halt(&x->b, stopper, &e);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
    group_bench_assert_unlatched(&x->b);
    struct link_sim_record log[64], last[2] = {{0}};
    size_t n = link_sim_log(x->b.link, from, log, 64), restarts[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        last[log[i].core] = log[i];
        restarts[log[i].core] += !log[i].halted;
    }
    for (size_t i = 0; i < 2; i++) {
        assert_true(last[i].halted); /* the board's own word for it */
        assert_int_equal(e.halt.cores[i].pc, last[i].pc);
        assert_true(restarts[i] >= 1);
        assert_int_equal(x->p.core[i].acknowledges, 1);
    }
    size_t first = last[0].tick <= last[1].tick ? 0 : 1;
    assert_true(e.halt.cores[first].first);
}

static void test_rounds_with_every_member_as_originator(void **state)
{
    (void)state;
    static const char *const boards[] = {SEED_BOARD, "--identity m7,m7 --level-halted --ctm-latency 20"};
    for (size_t k = 0; k < 2; k++) {
        struct bench x;
        struct random r = {20260 + (uint32_t)k};
        uint32_t breakpoints[2] = {0, 0};
        open_bench(&x, boards[k], true);
        group_bench_halt(&x.b, 0, NULL);
        group_bench_sync(&x.b);
        for (unsigned round = 0; round < ROUNDS; round++)
            one_round(&x, round, &r, breakpoints);
        const struct group_remark *list;
        if (group_remarks(x.b.group, &list) != 0)
            fail_msg("%s", list[0].text);
        group_bench_close(&x.b);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_options_leave_the_same_registers_and_the_same_skew),
        cmocka_unit_test(test_both_options_agree_with_a_level_too),
        cmocka_unit_test(test_without_sync_the_bus_shows_no_cti_write),
        cmocka_unit_test(test_a_set_up_before_the_group_is_taken_away_with_it),
        cmocka_unit_test(test_turning_it_on_while_one_runs_starts_nobody),
        cmocka_unit_test(test_a_start_that_reads_the_proof_away_starts_nobody_twice),
        cmocka_unit_test(test_rounds_with_every_member_as_originator),
    };
    return cmocka_run_group_tests_name("group-sequence-board", tests, NULL, NULL);
}
