/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of run and halt on the virtual board, on each pairing of its cores: random leaders, breakpoints and
 * wire delays. No core is left running or latched, every reason is right against the board's own log, and the
 * measured skew is the board's. CORRAL_ROUNDS sets how many on each pairing (the soak takes 1000).
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

#define AGREE_NS       50
#define DEFAULT_ROUNDS 100
#define PLACES         4 /* where breakpoints are set: places the program comes past */
#define TRIGOUTSTATUS  0x134u
#define DFSR_EXTERNAL  0x10u
#define DFSR_HALTED    0x01u
#define DFSR_BKPT      0x02u
#define MEASURE_NS     (400 * NS_PER_US)
#define MOST_RUN_NS    (2 * NS_PER_MS)

static const char *const identities[] = {"m7", "m4", "m33", "m0plus"};
#define PAIRINGS 10

struct random {
    uint64_t state;
};

static uint32_t draw(struct random *r, uint32_t below)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(r->state >> 33) % below;
}

struct figures {
    int64_t *values;
    size_t count;
    bool none; /* a core has no cycle counter */
    int64_t worst_difference;
};

struct pairing {
    struct group_bench b;
    struct random r;
    char name[32];
    uint32_t places[LINK_SIM_CORES][PLACES];
    uint32_t breakpoint[LINK_SIM_CORES]; /* 0 = none */
    unsigned own, shared;                /* rounds that a breakpoint, or a request ended */
};

/* What the board's log says of one core's last halt. */
struct truth {
    bool halted;
    int64_t ns;
    uint32_t pc, dfsr;
};

static void read_truth(struct pairing *p, size_t from, struct truth *t)
{
    struct link_sim_record log[64];
    size_t n;
    memset(t, 0, LINK_SIM_CORES * sizeof(*t));
    while ((n = link_sim_log(p->b.link, from, log, 64)) > 0) {
        for (size_t i = 0; i < n; i++)
            t[log[i].core] = (struct truth){log[i].halted, log[i].ns, log[i].pc, log[i].dfsr};
        from += n;
    }
}

static void check_reasons(struct pairing *p, unsigned round, size_t from, const struct event *e)
{
    struct truth t[LINK_SIM_CORES];
    read_truth(p, from, t);
    int64_t first_ns = INT64_MAX;
    for (size_t i = 0; i < p->b.count; i++) {
        if (!t[i].halted)
            fail_msg("%s round %u: the board says that core %zu runs", p->name, round, i);
        first_ns = t[i].ns < first_ns ? t[i].ns : first_ns;
    }
    for (size_t i = 0; i < p->b.count; i++) {
        const struct event_core *c = &e->halt.cores[i];
        enum halt_reason wanted = t[i].dfsr & DFSR_BKPT     ? HALT_REASON_BREAKPOINT
                                  : t[i].dfsr & DFSR_HALTED ? HALT_REASON_REQUEST
                                                            : HALT_REASON_CROSS_TRIGGER;
        if (c->state != CORE_HALTED || c->reason != wanted)
            fail_msg("%s round %u core %zu: %s for %s, and DFSR was 0x%x", p->name, round, i,
                     core_state_name(c->state), halt_reason_name(c->reason), (unsigned)t[i].dfsr);
        assert_true(c->pc_known);
        assert_int_equal(c->pc, t[i].pc);
        if (wanted == HALT_REASON_BREAKPOINT)
            assert_int_equal(c->pc, p->breakpoint[i]);
        /* With no delay on the channel the one that is dragged along stops in the same nanosecond. */
        if (t[i].ns == first_ns && wanted != HALT_REASON_CROSS_TRIGGER && !c->first)
            fail_msg("%s round %u: core %zu stopped first and is not named", p->name, round, i);
        if (wanted == HALT_REASON_CROSS_TRIGGER && c->first)
            fail_msg("%s round %u: core %zu was dragged along and is named first", p->name, round, i);
    }
    bool own = e->halt.cores[0].reason == HALT_REASON_BREAKPOINT ||
               e->halt.cores[1].reason == HALT_REASON_BREAKPOINT;
    p->own += own;
    p->shared += !own;
}

static void assert_nothing_latched(struct pairing *p, unsigned round)
{
    for (size_t i = 0; i < p->b.count; i++)
        if (group_bench_cti(&p->b, i, TRIGOUTSTATUS) & 1u)
            fail_msg("%s round %u: core %zu is latched", p->name, round, i);
}

/* Where the programs come past: the pcs at which they are halted now and then. */
static void find_places(struct pairing *p)
{
    struct event e;
    struct diag d = DIAG_INIT;
    for (unsigned k = 0; k < PLACES; k++) {
        group_bench_run(&p->b, 0, NULL);
        host_clock_sleep(p->b.clock, 700 * NS_PER_US + k * 13 * NS_PER_US);
        group_bench_halt(&p->b, 0, &e);
        for (size_t i = 0; i < p->b.count; i++) {
            /* An instruction further on: a sleeping instruction is passed once only. */
            assert_int_equal(core_step(p->b.cores[i], &d), CORRAL_OK);
            assert_int_equal(core_read_register(p->b.cores[i], CORE_REGISTER_PC, &p->places[i][k], &d),
                             CORRAL_OK);
        }
    }
}

static void change_breakpoint(struct pairing *p, size_t core)
{
    struct diag d = DIAG_INIT;
    struct core *c = p->b.cores[core];
    if (p->breakpoint[core] && draw(&p->r, 2) == 0) {
        assert_int_equal(core_clear_breakpoint(c, p->breakpoint[core], &d), CORRAL_OK);
        p->breakpoint[core] = 0;
    }
    if (!p->breakpoint[core] && draw(&p->r, 4) == 0) {
        uint32_t where = p->places[core][draw(&p->r, PLACES)];
        if (core_set_breakpoint(c, where, &d))
            fail_msg("%s: %s", p->name, d.message);
        p->breakpoint[core] = where;
    }
}

static void one_round(struct pairing *p, unsigned round)
{
    struct event e;
    for (size_t i = 0; i < p->b.count; i++)
        change_breakpoint(p, i);
    if (draw(&p->r, 8) == 0) {
        struct diag d = DIAG_INIT;
        if (group_step(p->b.group, draw(&p->r, 2), 1 + draw(&p->r, 3), NULL, &d))
            fail_msg("%s round %u: step: %s", p->name, round, d.message);
        assert_nothing_latched(p, round);
    }
    size_t from = link_sim_log_count(p->b.link), leader = draw(&p->r, 2);
    group_bench_run(&p->b, draw(&p->r, 2), &e);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
    for (size_t i = 0; i < p->b.count; i++)
        assert_true(e.halt.cores[i].restarted);
    host_clock_sleep(p->b.clock, draw(&p->r, (uint32_t)MOST_RUN_NS));
    group_bench_halt(&p->b, leader, &e);
    if (e.halt.mechanism != GROUP_MECHANISM_CTI)
        group_bench_print_remarks(&p->b);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
    check_reasons(p, round, from, &e);
    assert_nothing_latched(p, round);
}

/* Half of start plus stop skew in the board's log: one restart and one halt a core. */
static int64_t board_skew(struct pairing *p, size_t from)
{
    struct link_sim_record log[16];
    int64_t first[2] = {INT64_MAX, INT64_MAX}, last[2] = {0, 0};
    size_t n = link_sim_log(p->b.link, from, log, 16);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++) {
        int kind = log[i].halted;
        first[kind] = log[i].ns < first[kind] ? log[i].ns : first[kind];
        last[kind] = log[i].ns > last[kind] ? log[i].ns : last[kind];
    }
    return (last[0] - first[0] + last[1] - first[1]) / 2;
}

static void measure(struct pairing *p, unsigned rounds, struct figures *f)
{
    struct diag d = DIAG_INIT;
    f->values = calloc(rounds, sizeof(*f->values));
    assert_non_null(f->values);
    for (unsigned i = 0; i < rounds; i++) {
        struct group_skew skew;
        size_t from = link_sim_log_count(p->b.link), starter = draw(&p->r, 2);
        if (group_measure_round(p->b.group, starter, 1 - starter, MEASURE_NS + draw(&p->r, 100000), &skew,
                                &d))
            fail_msg("%s: %s", p->name, d.message);
        if (skew.skew_ns == EVENT_NO_TIME) {
            assert_true(group_bench_said(&p->b, "has no cycle counter"));
            f->none = true;
            return;
        }
        int64_t difference = llabs(skew.skew_ns - board_skew(p, from));
        if (difference > AGREE_NS)
            fail_msg("%s: measured %lld ns, and the board says %lld ns", p->name, (long long)skew.skew_ns,
                     (long long)board_skew(p, from));
        f->worst_difference = difference > f->worst_difference ? difference : f->worst_difference;
        f->values[f->count++] = skew.skew_ns;
    }
}

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void print_figures(char *out, size_t size, struct figures *f)
{
    if (f->none) {
        snprintf(out, size, "null (no cycle counter)");
    } else {
        qsort(f->values, f->count, sizeof(*f->values), compare_ns);
        snprintf(out, size, "%lld / %lld ns (board within %lld)", (long long)f->values[f->count / 2],
                 (long long)f->values[f->count - 1], (long long)f->worst_difference);
    }
    free(f->values);
}

static void run_pairing(unsigned number, unsigned rounds)
{
    static const char *const clocks[] = {"", " --core-hz 100000000,64000000",
                                         " --core-hz 48000000,150000000"};
    struct pairing p = {.r = {number + 1}};
    unsigned a = 0, b = 0, n = number;
    for (a = 0; n >= 4 - a; a++)
        n -= 4 - a;
    b = a + n;
    struct random first = {number * 7919u + 5};
    char board[160], with[96], without[96];
    snprintf(p.name, sizeof(p.name), "%s,%s", identities[a], identities[b]);
    snprintf(board, sizeof(board), "--identity %s --ctm-latency %u%s", p.name, draw(&first, 40),
             clocks[number % 3]);
    p.b = group_bench_open(board, &(struct link_sim_options){.swclk_hz = 1000000 + draw(&first, 20000000)});
    struct figures sync = {0}, software = {0};
    group_bench_halt(&p.b, 0, NULL);
    measure(&p, rounds / 8 + 1, &software);
    group_bench_sync(&p.b);
    assert_int_equal(group_mechanism(p.b.group), GROUP_MECHANISM_CTI);
    find_places(&p);
    measure(&p, rounds / 8 + 1, &sync);
    group_forget_remarks(p.b.group);
    for (unsigned i = 0; i < rounds; i++)
        one_round(&p, i);
    const struct group_remark *list;
    if (group_remarks(p.b.group, &list) != 0)
        fail_msg("%s: %s", p.name, list[0].text);
    print_figures(with, sizeof(with), &sync);
    print_figures(without, sizeof(without), &software);
    print_message("# %-14s %5u rounds (%u by breakpoints)  skew median / worst: with cross triggers %s, "
                  "without %s\n",
                  p.name, rounds, p.own, with, without);
    assert_true(p.own > 0 && p.shared > 0);
    group_bench_close(&p.b);
}

static unsigned rounds_wanted(void)
{
    const char *text = getenv("CORRAL_ROUNDS");
    long n = text ? strtol(text, NULL, 10) : 0;
    return n > 0 && n < 1000000 ? (unsigned)n : DEFAULT_ROUNDS;
}

static void test_rounds_on_each_pairing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PAIRINGS; i++)
        run_pairing(i, rounds_wanted());
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds_on_each_pairing),
    };
    return cmocka_run_group_tests_name("group-rounds", tests, NULL, NULL);
}
