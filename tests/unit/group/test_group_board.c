/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group run control on the virtual board: one request halts all, one pulse starts all, and the skew measured
 * by CYCCNT is the board's own. DESIGN.md "Threads, time, pressure"; cross-trigger sheet 1.7, 3.4, D25.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coresight/rom_table.h"
#include "group/group.h"
#include "link/sim.h"

#define ROUNDS     24
#define RUN_NS     (2 * NS_PER_MS)
#define AGREE_NS   50
#define MAX_ACCESS 200000

#define DHCSR_ADDRESS 0xE000EDF0u
#define C_HALT        0x2u
#define CTI_FIRST     0xE0042000u
#define CTI_LAST      0xE0042FFFu

struct bench {
    struct host_clock *clock;
    struct link *link;
    struct core *cores[LINK_SIM_CORES];
    size_t count;
    struct group *group;
};

static struct bench open_bench(const struct link_sim_options *options)
{
    struct bench b = {0};
    struct diag d = DIAG_INIT;
    struct link_sim_options o = *options;
    b.clock = o.clock = host_clock_new_virtual();
    assert_non_null(b.clock);
    b.link = link_sim_open(&o, &d);
    if (!b.link)
        fail_msg("%s", d.message);
    host_clock_sleep(b.clock, 2 * NS_PER_MS);
    struct cs_topology *t = cs_scan(b.link, NULL, &d);
    assert_non_null(t);
    assert_int_equal(t->core_count, LINK_SIM_CORES);
    struct link_sim_info info;
    assert_true(link_sim_get_info(b.link, &info));
    for (size_t i = 0; i < t->core_count; i++) {
        const struct cs_core *c = &t->cores[i];
        assert_true(c->has_cti);
        struct cti *cti = cti_open(b.link, c->cti.ap, c->cti.address, c->cti.restart_output, &d);
        assert_non_null(cti);
        b.cores[i] = core_cortex_m_open(b.link, c->ap, c->name, info.core_hz[c->ap], cti, &d);
        assert_non_null(b.cores[i]);
    }
    b.count = t->core_count;
    cs_topology_free(t);
    b.group = group_new(b.cores, b.count, NULL, "group");
    assert_non_null(b.group);
    return b;
}

static void close_bench(struct bench *b)
{
    group_free(b->group);
    for (size_t i = 0; i < b->count; i++)
        core_close(b->cores[i]);
    link_close(b->link);
    host_clock_free(b->clock);
}

/* The accesses of the bus log from `from` on; free() it. */
static struct link_sim_bus_record *bus_log(struct bench *b, size_t from, size_t *count)
{
    struct link_sim_bus_record *records = malloc(MAX_ACCESS * sizeof(*records));
    assert_non_null(records);
    *count = link_sim_bus_log(b->link, from, records, MAX_ACCESS);
    assert_true(*count < MAX_ACCESS);
    return records;
}

static size_t bus_count(struct bench *b)
{
    size_t count;
    free(bus_log(b, 0, &count));
    return count;
}

/* Half of start plus stop skew in the board's log from record `from` on: one restart and one halt a core. */
static int64_t board_skew(struct bench *b, size_t from)
{
    struct link_sim_record records[16];
    int64_t first[2] = {INT64_MAX, INT64_MAX}, last[2] = {0, 0};
    size_t seen[2] = {0, 0};
    size_t n = link_sim_log(b->link, from, records, 16);
    for (size_t i = 0; i < n; i++) {
        int kind = records[i].halted;
        first[kind] = records[i].ns < first[kind] ? records[i].ns : first[kind];
        last[kind] = records[i].ns > last[kind] ? records[i].ns : last[kind];
        seen[kind]++;
    }
    assert_int_equal(seen[0], 2);
    assert_int_equal(seen[1], 2);
    return (last[0] - first[0] + last[1] - first[1]) / 2;
}

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* ROUNDS rounds; returns the median, *worst the largest; each agrees with the board's log. */
static int64_t measure(struct bench *b, int64_t *worst)
{
    int64_t figures[ROUNDS];
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct diag d = DIAG_INIT;
        struct group_skew skew;
        size_t from = link_sim_log_count(b->link);
        enum corral_err err = group_measure_round(b->group, i % 2, 1 - i % 2, RUN_NS + i * 977, &skew, &d);
        if (err)
            fail_msg("round %u: %s", i, d.message);
        int64_t board = board_skew(b, from);
        if (llabs(skew.skew_ns - board) > AGREE_NS)
            fail_msg("round %u: measured %lld ns, the board says %lld ns", i, (long long)skew.skew_ns,
                     (long long)board);
        assert_int_equal(skew.error_ns, 10);
        figures[i] = skew.skew_ns;
    }
    qsort(figures, ROUNDS, sizeof(figures[0]), compare_ns);
    *worst = figures[ROUNDS - 1];
    return figures[ROUNDS / 2];
}

static void halt_all(struct bench *b)
{
    struct diag d = DIAG_INIT;
    if (group_halt(b->group, 0, NULL, &d))
        fail_msg("%s", d.message);
}

static void enable_sync(struct bench *b)
{
    struct diag d = DIAG_INIT;
    if (group_enable_sync(b->group, &d))
        fail_msg("%s", d.message);
    assert_int_equal(group_mechanism(b->group), GROUP_MECHANISM_CTI);
}

static void test_a_group_halt_is_one_dhcsr_write_on_one_ap(void **state)
{
    (void)state;
    for (size_t leader = 0; leader < LINK_SIM_CORES; leader++) {
        struct bench b = open_bench(&(struct link_sim_options){.log_accesses = true});
        enable_sync(&b);
        size_t from = bus_count(&b), count, writes = 0;
        struct event e;
        struct diag d = DIAG_INIT;
        assert_int_equal(group_halt(b.group, leader, &e, &d), CORRAL_OK);
        struct link_sim_bus_record *log = bus_log(&b, from, &count);
        for (size_t i = 0; i < count; i++)
            if (log[i].write && log[i].address == DHCSR_ADDRESS) {
                writes++;
                assert_true(log[i].value & C_HALT);
                assert_int_equal(log[i].ap, core_ap(b.cores[leader]));
            }
        free(log);
        assert_int_equal(writes, 1);
        assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
        for (size_t i = 0; i < LINK_SIM_CORES; i++) {
            assert_int_equal(e.halt.cores[i].state, CORE_HALTED);
            assert_int_equal(e.halt.cores[i].first, i == leader);
            assert_int_equal(e.halt.cores[i].reason,
                             i == leader ? HALT_REASON_REQUEST : HALT_REASON_CROSS_TRIGGER);
        }
        close_bench(&b);
    }
}

static void test_a_group_run_is_one_pulse_and_no_dhcsr_write(void **state)
{
    (void)state;
    struct bench b = open_bench(&(struct link_sim_options){.log_accesses = true});
    enable_sync(&b);
    halt_all(&b);
    size_t from = bus_count(&b), count, pulses = 0;
    struct event e;
    struct diag d = DIAG_INIT;
    assert_int_equal(group_run(b.group, 1, &e, &d), CORRAL_OK);
    struct link_sim_bus_record *log = bus_log(&b, from, &count);
    for (size_t i = 0; i < count; i++) {
        assert_false(log[i].write && log[i].address == DHCSR_ADDRESS);
        pulses += log[i].write && log[i].address == CTI_FIRST + 0x1C;
    }
    free(log);
    assert_int_equal(pulses, 1);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
    for (size_t i = 0; i < LINK_SIM_CORES; i++) {
        assert_true(e.halt.cores[i].restarted);
        assert_int_equal(e.halt.cores[i].state, CORE_RUNNING);
    }
    close_bench(&b);
}

static void test_without_sync_not_one_cti_register_is_written(void **state)
{
    (void)state;
    struct bench b = open_bench(&(struct link_sim_options){.log_accesses = true});
    int64_t worst;
    halt_all(&b);
    measure(&b, &worst);
    size_t count;
    struct link_sim_bus_record *log = bus_log(&b, 0, &count);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++)
        assert_false(log[i].write && log[i].address >= CTI_FIRST && log[i].address <= CTI_LAST);
    free(log);
    close_bench(&b);
}

static void test_skew_with_cross_triggers(void **state)
{
    (void)state;
    struct bench b = open_bench(&(struct link_sim_options){0});
    int64_t worst;
    enable_sync(&b);
    halt_all(&b);
    int64_t median = measure(&b, &worst);
    print_message("# cross triggers: median %lld ns, worst %lld ns\n", (long long)median, (long long)worst);
    assert_true(worst < 200);
    assert_true(median > 0);
    close_bench(&b);
}

static void test_skew_core_by_core(void **state)
{
    (void)state;
    struct bench b = open_bench(&(struct link_sim_options){0});
    int64_t worst;
    halt_all(&b);
    int64_t median = measure(&b, &worst);
    print_message("# core by core: median %lld ns, worst %lld ns\n", (long long)median, (long long)worst);
    assert_true(median > 10000);
    close_bench(&b);
}

static void test_the_latency_of_the_trigger_matrix_moves_the_figure(void **state)
{
    (void)state;
    int64_t before = 0;
    static const uint32_t latencies[] = {3, 20, 100};
    for (size_t i = 0; i < 3; i++) {
        struct bench b =
            open_bench(&(struct link_sim_options){.ctm_latency = latencies[i], .ctm_latency_set = true});
        int64_t worst;
        enable_sync(&b);
        halt_all(&b);
        int64_t median = measure(&b, &worst);
        print_message("# latency %u cycles: median %lld ns, worst %lld ns\n", latencies[i], (long long)median,
                      (long long)worst);
        /* Core 0's clock is 100 MHz: 10 ns a cycle. */
        if (i)
            assert_in_range(median - before, (latencies[i] - latencies[i - 1]) * 10 - 60,
                            (latencies[i] - latencies[i - 1]) * 10 + 60);
        before = median;
        close_bench(&b);
    }
}

static void test_sync_off_puts_the_ctis_back(void **state)
{
    (void)state;
    struct bench b = open_bench(&(struct link_sim_options){0});
    static const uint32_t registers[] = {0x000, 0x020, 0x0A0, 0x0A0 + 4 * 7, 0x140, 0x134};
    uint32_t before[LINK_SIM_CORES][6], after;
    struct diag d = DIAG_INIT;
    for (uint32_t ap = 0; ap < LINK_SIM_CORES; ap++)
        for (size_t i = 0; i < 6; i++)
            assert_int_equal(link_read32(b.link, ap, CTI_FIRST + registers[i], &before[ap][i], &d),
                             CORRAL_OK);
    enable_sync(&b);
    halt_all(&b);
    assert_int_equal(group_run(b.group, 0, NULL, &d), CORRAL_OK);
    assert_int_equal(group_disable_sync(b.group, &d), CORRAL_OK);
    assert_int_equal(group_mechanism(b.group), GROUP_MECHANISM_SOFTWARE);
    for (uint32_t ap = 0; ap < LINK_SIM_CORES; ap++)
        for (size_t i = 0; i < 6; i++) {
            assert_int_equal(link_read32(b.link, ap, CTI_FIRST + registers[i], &after, &d), CORRAL_OK);
            assert_int_equal(after, before[ap][i]);
        }
    close_bench(&b);
}

static void test_a_breakpoint_on_either_core_is_named_as_first(void **state)
{
    (void)state;
    for (size_t who = 0; who < LINK_SIM_CORES; who++) {
        struct bench b = open_bench(&(struct link_sim_options){0});
        struct diag d = DIAG_INIT;
        uint32_t pc = 0;
        struct event e;
        enable_sync(&b);
        halt_all(&b);
        /* Where it stands now it comes past again: the program is a loop. */
        assert_int_equal(core_step(b.cores[who], &d), CORRAL_OK);
        assert_int_equal(core_read_register(b.cores[who], 15, &pc, &d), CORRAL_OK);
        assert_int_equal(core_set_breakpoint(b.cores[who], pc, &d), CORRAL_OK);
        for (unsigned round = 0; round < 3; round++) {
            size_t from = link_sim_log_count(b.link);
            assert_int_equal(group_run(b.group, 1 - who, NULL, &d), CORRAL_OK);
            host_clock_sleep(b.clock, 50 * NS_PER_MS);
            struct link_sim_record log[64];
            size_t n = link_sim_log(b.link, from, log, 64);
            assert_true(n >= 4 && log[n - 1].halted); /* both have stopped by themselves */
            assert_int_equal(group_halt(b.group, 1 - who, &e, &d), CORRAL_OK);
            assert_int_equal(e.halt.cores[who].reason, HALT_REASON_BREAKPOINT);
            assert_true(e.halt.cores[who].first);
            assert_int_equal(e.halt.cores[who].pc, pc);
            assert_int_equal(e.halt.cores[1 - who].reason, HALT_REASON_CROSS_TRIGGER);
            assert_false(e.halt.cores[1 - who].first);
        }
        close_bench(&b);
    }
}

/* What a breakpoint ends is no round of ours: how far apart the cores' counts are then says nothing. */
static void test_a_round_that_a_breakpoint_ends_has_no_skew(void **state)
{
    (void)state;
    struct bench b = open_bench(&(struct link_sim_options){0});
    struct diag d = DIAG_INIT;
    uint32_t pc = 0;
    struct group_skew skew;
    halt_all(&b);
    assert_int_equal(core_step(b.cores[0], &d), CORRAL_OK);
    assert_int_equal(core_read_register(b.cores[0], 15, &pc, &d), CORRAL_OK);
    assert_int_equal(core_set_breakpoint(b.cores[0], pc, &d), CORRAL_OK);
    assert_int_equal(group_measure_round(b.group, 0, 1, 50 * NS_PER_MS, &skew, &d), CORRAL_OK);
    assert_true(skew.skew_ns == EVENT_NO_TIME);
    assert_true(skew.error_ns == EVENT_NO_TIME);
    assert_true(skew.cycles[1] > skew.cycles[0]); /* core 1 ran on alone */
    assert_int_equal(core_clear_breakpoint(b.cores[0], pc, &d), CORRAL_OK);
    assert_int_equal(group_measure_round(b.group, 0, 1, NS_PER_MS, &skew, &d), CORRAL_OK);
    assert_true(skew.skew_ns != EVENT_NO_TIME);
    close_bench(&b);
}

struct random {
    uint32_t state;
};

static uint32_t draw(struct random *r, uint32_t below)
{
    r->state = r->state * 1664525u + 1013904223u;
    return (r->state >> 8) % below;
}

/* Sometimes take the breakpoint of a core away, sometimes set one where the core stands. */
static void change_breakpoint(struct core *core, uint32_t *breakpoint, struct random *r)
{
    struct diag d = DIAG_INIT;
    uint32_t pc = 0;
    if (*breakpoint && draw(r, 2)) {
        assert_int_equal(core_clear_breakpoint(core, *breakpoint, &d), CORRAL_OK);
        *breakpoint = 0;
    }
    if (!*breakpoint && draw(r, 3) == 0) {
        assert_int_equal(core_read_register(core, 15, &pc, &d), CORRAL_OK);
        assert_int_equal(core_set_breakpoint(core, pc, &d), CORRAL_OK);
        *breakpoint = pc;
    }
    if (draw(r, 10) == 0)
        assert_int_equal(core_step(core, &d), CORRAL_OK);
}

/* The event against the board's own log: pc of every core, and the core that really stopped first. */
static void check_against_log(struct bench *b, size_t from, const struct event *e,
                              const uint32_t *breakpoints, bool sync)
{
    struct link_sim_record log[256], last[LINK_SIM_CORES] = {{0}};
    size_t n = link_sim_log(b->link, from, log, 256);
    for (size_t i = 0; i < n; i++)
        if (log[i].halted)
            last[log[i].core] = log[i];
    for (size_t i = 0; i < LINK_SIM_CORES; i++) {
        assert_int_equal(e->halt.cores[i].state, CORE_HALTED);
        assert_int_equal(e->halt.cores[i].pc, last[i].pc);
        if (e->halt.cores[i].reason == HALT_REASON_BREAKPOINT)
            assert_int_equal(e->halt.cores[i].pc, breakpoints[i]);
    }
    size_t first = last[0].tick <= last[1].tick ? 0 : 1;
    if (sync)
        assert_true(e->halt.cores[first].first);
}

static void test_many_rounds_with_random_leaders_and_breakpoints(void **state)
{
    (void)state;
    struct bench b = open_bench(&(struct link_sim_options){0});
    struct diag d = DIAG_INIT;
    struct random r = {20260};
    uint32_t breakpoints[LINK_SIM_CORES] = {0};
    struct event e;
    bool sync = false;
    halt_all(&b);
    for (unsigned round = 0; round < 300; round++) {
        if (draw(&r, 20) == 0) {
            sync = !sync;
            assert_int_equal(sync ? group_enable_sync(b.group, &d) : group_disable_sync(b.group, &d),
                             CORRAL_OK);
        }
        for (size_t i = 0; i < LINK_SIM_CORES; i++)
            change_breakpoint(b.cores[i], &breakpoints[i], &r);
        enum group_mechanism mechanism = sync ? GROUP_MECHANISM_CTI : GROUP_MECHANISM_SOFTWARE;
        size_t from = link_sim_log_count(b.link);
        assert_int_equal(group_run(b.group, draw(&r, LINK_SIM_CORES), &e, &d), CORRAL_OK);
        assert_int_equal(e.halt.mechanism, mechanism);
        for (size_t i = 0; i < LINK_SIM_CORES; i++)
            assert_true(e.halt.cores[i].restarted);
        host_clock_sleep(b.clock, draw(&r, 3000000));
        assert_int_equal(group_halt(b.group, draw(&r, LINK_SIM_CORES), &e, &d), CORRAL_OK);
        assert_int_equal(e.halt.mechanism, mechanism);
        check_against_log(&b, from, &e, breakpoints, sync);
    }
    close_bench(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_group_halt_is_one_dhcsr_write_on_one_ap),
        cmocka_unit_test(test_a_group_run_is_one_pulse_and_no_dhcsr_write),
        cmocka_unit_test(test_without_sync_not_one_cti_register_is_written),
        cmocka_unit_test(test_skew_with_cross_triggers),
        cmocka_unit_test(test_skew_core_by_core),
        cmocka_unit_test(test_the_latency_of_the_trigger_matrix_moves_the_figure),
        cmocka_unit_test(test_sync_off_puts_the_ctis_back),
        cmocka_unit_test(test_a_breakpoint_on_either_core_is_named_as_first),
        cmocka_unit_test(test_a_round_that_a_breakpoint_ends_has_no_skew),
        cmocka_unit_test(test_many_rounds_with_random_leaders_and_breakpoints),
    };
    return cmocka_run_group_tests_name("group-board", tests, NULL, NULL);
}
