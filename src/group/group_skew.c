/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far apart the cores stop and start, by their cycle counts. DESIGN.md "Threads, time, pressure" says why
 * a round is started by one core and stopped by another.
 */
#include "group/group_internal.h"

/* Half of how far two counts differ, in nanoseconds. Counts of unlike clocks must not have wrapped. */
static int64_t half_difference(const struct group *g, const struct group_skew *skew, size_t a, size_t b)
{
    uint32_t hz_a = core_hz(g->cores[a]), hz_b = core_hz(g->cores[b]);
    int64_t difference;
    if (hz_a == hz_b) { /* in cycles, modulo 2^32: exact, whatever the length of the round */
        int64_t cycles = (int32_t)(skew->cycles[a] - skew->cycles[b]);
        difference = cycles * NS_PER_S / hz_a;
    } else {
        difference = (int64_t)((uint64_t)skew->cycles[a] * (uint64_t)NS_PER_S / hz_a) -
                     (int64_t)((uint64_t)skew->cycles[b] * (uint64_t)NS_PER_S / hz_b);
    }
    return (difference < 0 ? -difference : difference) / 2;
}

/* A round in which a core stopped by itself ended at another moment for it: no skew of ours. */
static bool anyone_stopped_by_itself(const struct event_halt *h)
{
    for (size_t i = 0; i < h->core_count; i++)
        if (group_own_reason(h->cores[i].reason))
            return true;
    return false;
}

void group_skew_of(const struct group *g, int64_t round_ns, struct group_skew *skew)
{
    skew->skew_ns = skew->error_ns = EVENT_NO_TIME;
    uint32_t slowest = core_hz(g->cores[0]), fastest = slowest;
    for (size_t i = 0; i < g->count; i++) {
        uint32_t hz = core_hz(g->cores[i]);
        if (hz == 0)
            return; /* cycles of an unknown clock are no time */
        slowest = hz < slowest ? hz : slowest;
        fastest = hz > fastest ? hz : fastest;
    }
    if (slowest != fastest && (double)round_ns / (double)NS_PER_S * fastest >= (double)UINT32_MAX)
        return; /* a count has wrapped, and nothing tells how often */
    int64_t worst = 0;
    for (size_t a = 0; a < g->count; a++)
        for (size_t b = a + 1; b < g->count; b++) {
            int64_t half = half_difference(g, skew, a, b);
            if (half > worst)
                worst = half;
        }
    skew->skew_ns = worst;
    skew->error_ns = (NS_PER_S + slowest - 1) / slowest; /* half a cycle at each end, of each of two counts */
}

/* *counted false: a core has no cycle counter. */
static enum corral_err read_counts(struct group *g, uint32_t *counts, bool *counted, struct diag *d)
{
    *counted = true;
    for (size_t i = 0; i < g->count; i++) {
        enum corral_err err = core_read_cycles(g->cores[i], &counts[i], d);
        if (err == CORRAL_ERR_UNSUPPORTED) {
            group_remark(g, i, "%s has no cycle counter: skew cannot be measured", core_name(g->cores[i]));
            *counted = false;
        } else if (err) {
            return err;
        }
    }
    return CORRAL_OK;
}

static enum corral_err check_round(struct group *g, size_t starter, size_t stopper, struct diag *d)
{
    if (starter >= g->count || stopper >= g->count || starter == stopper)
        return diag_set(d, CORRAL_ERR_USAGE, "a measured round wants two different cores of the group");
    for (size_t i = 0; i < g->count; i++) {
        struct core_status status;
        enum corral_err err = core_read_status(g->cores[i], false, &status, d);
        if (err)
            return err;
        if (status.state != CORE_HALTED)
            return diag_set(d, CORRAL_ERR_CORE_STATE,
                            "%s is not halted: a measured round begins with all cores halted",
                            core_name(g->cores[i]));
    }
    return CORRAL_OK;
}

static int64_t now(const struct group *g)
{
    return host_clock_now(link_clock(core_link(g->cores[0])));
}

enum corral_err group_measure_round(struct group *g, size_t starter, size_t stopper, int64_t run_ns,
                                    struct group_skew *skew, struct diag *d)
{
    struct group_skew result = {.skew_ns = EVENT_NO_TIME, .error_ns = EVENT_NO_TIME};
    uint32_t before[EVENT_MAX_CORES] = {0}, after[EVENT_MAX_CORES] = {0};
    bool counted = false;
    *skew = result;
    int64_t begin = now(g);
    enum corral_err err = check_round(g, starter, stopper, d);
    if (!err)
        err = read_counts(g, before, &counted, d);
    if (!err)
        err = group_run(g, starter, NULL, d);
    if (err)
        return err;
    host_clock_sleep(link_clock(core_link(g->cores[starter])), run_ns);

    struct event e;
    err = group_halt_members(g, GROUP_ALL, stopper, true, &e, d);
    if (!err && counted)
        err = read_counts(g, after, &counted, d);
    if (!err && counted) {
        for (size_t i = 0; i < g->count; i++)
            result.cycles[i] = after[i] - before[i];
        if (!anyone_stopped_by_itself(&e.halt))
            group_skew_of(g, now(g) - begin, &result);
        e.halt.skew_ns = result.skew_ns;
        e.halt.skew_error_ns = result.error_ns;
        *skew = result;
    }
    group_finish_event(g, &e, NULL);
    return err;
}
