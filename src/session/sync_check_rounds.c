/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Skew with and without cross triggers (sync_check_rounds.h). DESIGN.md "Threads, time, pressure" says why a
 * round is led by one core and ended by another. Clocks are compared while both run, by reading both counters
 * in one order twice: what lies between the two reads is the same both times and cancels.
 */
#include "session/sync_check_rounds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "session/session_internal.h"

#define ROUND_NS   (1 * NS_PER_MS)
#define RATIO_NS   (2 * NS_PER_MS)
#define RATIO_READ 64   /* reads in between, for a board that only moves while its wire does */
#define LIKE       0.02 /* clocks nearer than this are the same clock */

struct counts {
    struct session *s;
    uint32_t cycles[EVENT_MAX_CORES];
    bool known[EVENT_MAX_CORES];
};

static enum corral_err read_counts(struct link *link, void *ctx, struct diag *d)
{
    struct counts *c = ctx;
    (void)link;
    (void)d;
    for (size_t i = 0; i < c->s->core_count; i++)
        if (c->known[i] && core_read_cycles(c->s->cores[i], &c->cycles[i], NULL) != CORRAL_OK)
            c->known[i] = false;
    return CORRAL_OK;
}

static bool counts_and_runs(const struct sync_check_core *c)
{
    return c->member.has_cycle_counter && c->member.state == CORE_RUNNING;
}

enum corral_err sync_check_ratios(struct session *s, struct session_sync_check *out, struct diag *d)
{
    struct counts before = {.s = s}, after;
    for (size_t i = 0; i < out->core_count; i++)
        before.known[i] = counts_and_runs(&out->cores[i]);
    /* the first look switches the counters on */
    enum corral_err err = session_call(s, read_counts, &before, d);
    if (!err)
        err = session_call(s, read_counts, &before, d);
    if (!err)
        err = session_run_for(s, RATIO_NS, NULL, d);
    after = before;
    for (unsigned i = 0; i < RATIO_READ && !err; i++)
        err = session_call(s, read_counts, &after, d);
    double first = 0;
    for (size_t i = 0; i < out->core_count && !err; i++) {
        double went = (uint32_t)(after.cycles[i] - before.cycles[i]);
        if (!after.known[i] || went <= 0)
            continue;
        if (first <= 0)
            first = went;
        out->cores[i].ratio = went / first;
    }
    return err;
}

struct round {
    struct session *s;
    size_t starter, stopper;
    int64_t run_ns;
    struct group_skew skew;
};

static enum corral_err do_round(struct link *link, void *ctx, struct diag *d)
{
    struct round *r = ctx;
    (void)link;
    return group_measure_round(r->s->group, r->starter, r->stopper, r->run_ns, &r->skew, d);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* EVENT_NO_TIME when one of them is not known. */
static void sum_up(int64_t *values, unsigned n, int64_t *median, int64_t *max)
{
    qsort(values, n, sizeof(*values), compare);
    bool known = n > 0 && values[0] != EVENT_NO_TIME;
    *median = !known ? EVENT_NO_TIME : n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    *max = known ? values[n - 1] : EVENT_NO_TIME;
}

static enum corral_err measure(struct session *s, const struct session_sync_check *out, unsigned rounds,
                               const atomic_bool *stop, struct sync_check_skew *skew, struct diag *d)
{
    int64_t *ns = calloc(rounds, sizeof(*ns)), *cycles = calloc(rounds, sizeof(*cycles));
    const struct sync_check_core *a = &out->cores[out->starter], *b = &out->cores[out->stopper];
    bool like = a->ratio > 0 && b->ratio / a->ratio > 1 - LIKE && b->ratio / a->ratio < 1 + LIKE;
    enum corral_err err = CORRAL_OK;
    unsigned n = 0;
    if (!ns || !cycles) {
        free(ns);
        free(cycles);
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    }
    for (; n < rounds && !err; n++) {
        /* unlike lengths, so that rounds do not fall on one phase of what the program does */
        struct round r = {.s = s,
                          .starter = out->starter,
                          .stopper = out->stopper,
                          .run_ns = ROUND_NS + (int64_t)(n * 7919u % 1000u) * NS_PER_US};
        if (stop && atomic_load(stop))
            err = diag_set(d, CORRAL_ERR_INTERRUPTED, "interrupted");
        if (!err)
            err = session_call(s, do_round, &r, d);
        if (err)
            break;
        ns[n] = r.skew.skew_ns;
        int64_t apart = (int64_t)r.skew.cycles[out->starter] - r.skew.cycles[out->stopper];
        cycles[n] = like ? llabs(apart) / 2 : EVENT_NO_TIME;
        err = event_bus_drain(s->bus, d);
    }
    if (!err) {
        skew->rounds = n;
        sum_up(ns, n, &skew->median_ns, &skew->max_ns);
        sum_up(cycles, n, &skew->median_cycles, &skew->max_cycles);
    }
    free(ns);
    free(cycles);
    return err;
}

/* Which two, and why none. */
static bool choose(struct session_sync_check *out, char why[240])
{
    size_t found = 0, pair[2] = {0, 0};
    for (size_t i = 0; i < out->core_count; i++) {
        const struct sync_check_core *c = &out->cores[i];
        if (c->member.state == CORE_HALTED) {
            snprintf(why, 240, "%s was found halted: a round would let it run", c->name);
            return false;
        }
        if (counts_and_runs(c) && found < 2)
            pair[found++] = i;
    }
    for (size_t i = 0; found < 2 && i < out->core_count; i++)
        if (!counts_and_runs(&out->cores[i])) {
            snprintf(why, 240, "two cores that run and count cycles are wanted: %s %s", out->cores[i].name,
                     out->cores[i].member.state == CORE_RUNNING ? "has no cycle counter" : "does not run");
            return false;
        }
    if (found < 2) {
        snprintf(why, 240, "there is one core only");
        return false;
    }
    out->starter = pair[0];
    out->stopper = pair[1];
    return true;
}

/* A measuring that fails is told in the table; what ends everything is returned. */
static bool is_final(enum corral_err err)
{
    return corral_err_exit_code(err) == 3 || err == CORRAL_ERR_NO_MEMORY || err == CORRAL_ERR_TIMEOUT ||
           err == CORRAL_ERR_INTERRUPTED;
}

struct ask_mechanism {
    struct session *s;
    enum group_mechanism now;
};

static enum corral_err ask_mechanism(struct link *link, void *ctx, struct diag *d)
{
    struct ask_mechanism *a = ctx;
    (void)link;
    (void)d;
    a->now = group_mechanism(a->s->group);
    return CORRAL_OK;
}

/* The group belongs to the link's thread. */
static enum group_mechanism mechanism_of(struct session *s)
{
    struct ask_mechanism a = {.s = s, .now = GROUP_MECHANISM_NONE};
    session_call(s, ask_mechanism, &a, NULL);
    return a.now;
}

static enum corral_err one_way(struct session *s, const struct session_sync_check *out, unsigned rounds,
                               const atomic_bool *stop, struct sync_check_skew *skew, struct diag *d)
{
    struct diag why = DIAG_INIT;
    struct event event;
    enum corral_err err = session_halt(s, out->starter, &event, &why);
    if (!err)
        err = measure(s, out, rounds, stop, skew, &why);
    skew->mechanism = mechanism_of(s);
    struct diag late = DIAG_INIT;
    enum corral_err again = session_run(s, out->starter, NULL, &late);
    if (!err && again) {
        why = late;
        err = again;
    }
    if (err)
        snprintf(skew->why, sizeof(skew->why), "%.239s", why.message);
    if (err && d)
        *d = why;
    return is_final(err) ? err : CORRAL_OK;
}

enum corral_err sync_check_rounds(struct session *s, unsigned rounds, const atomic_bool *stop,
                                  struct session_sync_check *out, struct diag *d)
{
    const struct sync_check_skew none = {.median_ns = EVENT_NO_TIME,
                                         .max_ns = EVENT_NO_TIME,
                                         .median_cycles = EVENT_NO_TIME,
                                         .max_cycles = EVENT_NO_TIME};
    out->without = out->with = none;
    out->without.mechanism = GROUP_MECHANISM_SOFTWARE;
    out->with.mechanism = GROUP_MECHANISM_NONE;
    char why[240] = "no rounds were asked for";
    if (rounds == 0 || !choose(out, why)) {
        snprintf(out->without.why, sizeof(out->without.why), "%s", why);
        snprintf(out->with.why, sizeof(out->with.why), "%s", why);
        return CORRAL_OK;
    }
    enum corral_err err = one_way(s, out, rounds, stop, &out->without, d);
    if (err)
        return err;
    struct diag refused = DIAG_INIT;
    err = session_set_sync(s, true, &refused);
    if (!err && !group_by_cross_triggers(mechanism_of(s)))
        snprintf(out->with.why, sizeof(out->with.why), "no two cores can be joined by cross triggers");
    else if (!err)
        err = one_way(s, out, rounds, stop, &out->with, d);
    else {
        snprintf(out->with.why, sizeof(out->with.why), "%.239s", refused.message);
        if (is_final(err) && d)
            *d = refused;
        err = is_final(err) ? err : CORRAL_OK;
    }
    enum corral_err off = session_set_sync(s, false, err ? NULL : d);
    if (err)
        return err;
    return is_final(off) ? off
                         : CORRAL_OK; /* else it stays owed: leaving the target tries again, and tells */
}
