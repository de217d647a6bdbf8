/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of cores as one object. Cross-trigger sheet 1.7 and 3.4. What is common to all mechanisms is here;
 * how the cores are reached is the strategy's. Never touches a wire.
 */
#include "group/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/group_internal.h"

struct group *group_new(struct core *const *cores, size_t count, struct event_bus *bus, const char *stream)
{
    if (count == 0 || count > EVENT_MAX_CORES)
        return NULL;
    struct group *g = calloc(1, sizeof(*g));
    if (!g)
        return NULL;
    memcpy(g->cores, cores, count * sizeof(*cores));
    g->count = count;
    g->bus = bus;
    g->strategy = &group_strategy_software;
    snprintf(g->stream, sizeof(g->stream), "%s", stream);
    return g;
}

void group_free(struct group *g)
{
    free(g);
}

enum group_mechanism group_mechanism(const struct group *g)
{
    return g->strategy->mechanism;
}

size_t group_order(size_t leader, size_t i)
{
    if (i == 0)
        return leader;
    return i <= leader ? i - 1 : i;
}

void group_halt_one(struct group *g, size_t core, struct group_outcome *member)
{
    member->by_software = true;
    member->err = core_request_halt(g->cores[core], &member->why);
    if (!member->err)
        member->err = core_wait_halted(g->cores[core], CORE_WAIT_NS, &member->why);
}

void group_confirm(struct group *g, size_t core, struct group_outcome *member)
{
    member->err = core_confirm_run(g->cores[core], &member->restarted, &member->why);
    if (!member->err && !member->restarted) {
        member->err =
            diag_set(&member->why, CORRAL_ERR_CORE_NO_RUN, "%s did not restart", core_name(g->cores[core]));
        diag_object(&member->why, "%s", core_name(g->cores[core]));
    }
}

void group_resume_one(struct group *g, size_t core, struct group_outcome *member)
{
    member->by_software = true;
    member->err = core_resume(g->cores[core], &member->why);
    if (!member->err)
        group_confirm(g, core, member);
}

static int64_t now(struct group *g)
{
    return host_clock_now(link_clock(core_link(g->cores[0])));
}

static struct event start_event(struct group *g, enum event_kind kind)
{
    struct event e = event_make(kind, g->stream);
    e.host_ns = now(g);
    e.halt.mechanism = g->strategy->mechanism;
    e.halt.skew_ns = e.halt.skew_error_ns = EVENT_NO_TIME;
    e.halt.core_count = g->count;
    for (size_t i = 0; i < g->count; i++)
        e.halt.cores[i] = (struct event_core){.name = core_name(g->cores[i]), .state = CORE_UNKNOWN};
    return e;
}

static void finish_event(struct group *g, const struct event *e, struct event *out)
{
    if (out)
        *out = *e;
    if (g->bus)
        event_bus_publish(g->bus, e);
}

/* The first member's failure, for the caller; the others were served all the same. */
static enum corral_err first_failure(const struct group *g, const struct group_outcome *members,
                                     struct diag *d)
{
    for (size_t i = 0; i < g->count; i++)
        if (members[i].err) {
            if (d)
                *d = members[i].why;
            return members[i].err;
        }
    return CORRAL_OK;
}

static void take_status(struct event_core *c, const struct core_status *s)
{
    c->state = s->state;
    c->reason = s->state == CORE_HALTED ? s->reason : HALT_REASON_NONE;
    c->pc_known = s->state == CORE_HALTED && s->pc_known;
    c->pc = c->pc_known ? s->pc : 0;
}

/* A reason of the core's own, neither our request nor another core's. */
static bool is_own_reason(enum halt_reason reason)
{
    return reason == HALT_REASON_BREAKPOINT || reason == HALT_REASON_WATCHPOINT ||
           reason == HALT_REASON_VECTOR_CATCH || reason == HALT_REASON_FAULT || reason == HALT_REASON_STEP;
}

/*
 * Who stopped first (sheet 3.4): cores with a reason of their own. Under cross triggers a leader that was
 * halted by our request, and not dragged along, stopped by itself too. Where nobody has a reason of its own
 * it is the core that got the request first.
 */
static void name_first(struct event_halt *h, size_t leader, const struct group_outcome *members)
{
    bool any = false;
    for (size_t i = 0; i < h->core_count; i++) {
        h->cores[i].first = h->cores[i].state == CORE_HALTED && is_own_reason(h->cores[i].reason);
        any |= h->cores[i].first;
    }
    bool asked = h->cores[leader].state == CORE_HALTED && h->cores[leader].reason == HALT_REASON_REQUEST;
    if (asked && (!any || h->mechanism == GROUP_MECHANISM_CTI)) {
        h->cores[leader].first = true;
        any = true;
    }
    for (size_t i = 0; !any && i < h->core_count; i++)
        h->cores[i].first = h->cores[i].state == CORE_HALTED && h->cores[i].reason == HALT_REASON_REQUEST &&
                            !members[i].by_software;
}

/* Halt, reasons, acknowledge: everything but publishing. */
static enum corral_err halt_all(struct group *g, size_t leader, struct event *e, struct diag *d)
{
    struct group_outcome members[EVENT_MAX_CORES] = {0};
    g->strategy->halt(g, leader, members);

    *e = start_event(g, EVENT_HALT);
    bool all = true;
    for (size_t i = 0; i < g->count; i++) {
        struct core_status status;
        struct diag why = DIAG_INIT;
        enum corral_err err = core_read_status(g->cores[i], true, &status, &why);
        take_status(&e->halt.cores[i], &status);
        if (err && !members[i].err) {
            members[i].err = err;
            members[i].why = why;
        }
        all &= e->halt.cores[i].state == CORE_HALTED;
        /* Cross triggers that did not reach everybody are not what halted the group. */
        if (members[i].by_software)
            e->halt.mechanism = GROUP_MECHANISM_SOFTWARE;
    }
    name_first(&e->halt, leader, members);
    enum corral_err err = first_failure(g, members, d);
    if (all && g->strategy->after_halt) {
        struct diag why = DIAG_INIT;
        enum corral_err ack = g->strategy->after_halt(g, &why);
        if (ack && !err) {
            err = ack;
            if (d)
                *d = why;
        }
    }
    return err;
}

static enum corral_err check_leader(const struct group *g, size_t leader, struct diag *d)
{
    return leader < g->count
               ? CORRAL_OK
               : diag_set(d, CORRAL_ERR_NO_CORE, "there is no core number %zu in the group", leader);
}

enum corral_err group_halt(struct group *g, size_t leader, struct event *event, struct diag *d)
{
    struct event e;
    enum corral_err err = check_leader(g, leader, d);
    if (err)
        return err;
    err = halt_all(g, leader, &e, d);
    finish_event(g, &e, event);
    return err;
}

/* Make every halted core ready. A core that cannot be is left out, and named. False when none is ready. */
static bool prepare_all(struct group *g, struct group_outcome *members)
{
    bool any = false;
    for (size_t i = 0; i < g->count; i++) {
        struct core_status status;
        struct group_outcome *m = &members[i];
        m->err = core_read_status(g->cores[i], false, &status, &m->why);
        if (m->err || status.state != CORE_HALTED)
            continue; /* not halted: nothing to start, nothing wrong */
        /* A step over a breakpoint would halt again at once under a request that is still latched. */
        if (g->strategy->before_prepare)
            m->err = g->strategy->before_prepare(g, i, &m->why);
        if (!m->err)
            m->err = core_prepare_run(g->cores[i], &m->why);
        m->prepared = !m->err;
        any |= m->prepared;
    }
    return any;
}

enum corral_err group_run(struct group *g, size_t leader, struct event *event, struct diag *d)
{
    struct group_outcome members[EVENT_MAX_CORES] = {0};
    enum corral_err err = check_leader(g, leader, d);
    if (err)
        return err;
    /* Where no core is halted there is nothing to start: no pulse is sent into running cores. */
    bool any = prepare_all(g, members);
    if (any)
        err = g->strategy->run(g, leader, members, d);

    struct event e = start_event(g, EVENT_RUN);
    if (!any)
        e.halt.mechanism = GROUP_MECHANISM_NONE;
    for (size_t i = 0; i < g->count; i++) {
        struct core_status status;
        if (!core_read_status(g->cores[i], false, &status, NULL))
            e.halt.cores[i].state = status.state;
        e.halt.cores[i].restarted = members[i].restarted;
        if (members[i].by_software)
            e.halt.mechanism = GROUP_MECHANISM_SOFTWARE;
    }
    finish_event(g, &e, event);
    return err ? err : first_failure(g, members, d);
}

enum corral_err group_status(struct group *g, struct event *event, struct diag *d)
{
    struct event e = start_event(g, EVENT_HALT);
    struct group_outcome members[EVENT_MAX_CORES] = {0};
    e.halt.mechanism = GROUP_MECHANISM_NONE;
    for (size_t i = 0; i < g->count; i++) {
        struct core_status status;
        members[i].err = core_peek_status(g->cores[i], &status, &members[i].why);
        take_status(&e.halt.cores[i], &status);
        e.halt.cores[i].first = status.state == CORE_HALTED && is_own_reason(status.reason);
    }
    if (event)
        *event = e;
    /* A core that cannot be read is "unknown"; a link that is gone is an error. */
    for (size_t i = 0; i < g->count; i++)
        if (members[i].err == CORRAL_ERR_LINK_DOWN) {
            if (d)
                *d = members[i].why;
            return members[i].err;
        }
    return CORRAL_OK;
}

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
        if (is_own_reason(h->cores[i].reason))
            return true;
    return false;
}

/* `round_ns` is how long the whole round took, at least. */
static void compute_skew(const struct group *g, int64_t round_ns, struct group_skew *skew)
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

static enum corral_err read_counts(struct group *g, uint32_t *counts, struct diag *d)
{
    for (size_t i = 0; i < g->count; i++) {
        enum corral_err err = core_read_cycles(g->cores[i], &counts[i], d);
        if (err)
            return err;
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

enum corral_err group_measure_round(struct group *g, size_t starter, size_t stopper, int64_t run_ns,
                                    struct group_skew *skew, struct diag *d)
{
    struct group_skew result = {.skew_ns = EVENT_NO_TIME, .error_ns = EVENT_NO_TIME};
    uint32_t before[EVENT_MAX_CORES] = {0}, after[EVENT_MAX_CORES] = {0};
    *skew = result;
    int64_t begin = now(g);
    enum corral_err err = check_round(g, starter, stopper, d);
    if (!err)
        err = read_counts(g, before, d);
    if (!err)
        err = group_run(g, starter, NULL, d);
    if (err)
        return err;
    host_clock_sleep(link_clock(core_link(g->cores[starter])), run_ns);

    struct event e;
    err = halt_all(g, stopper, &e, d);
    if (!err)
        err = read_counts(g, after, d);
    if (!err) {
        for (size_t i = 0; i < g->count; i++)
            result.cycles[i] = after[i] - before[i];
        if (!anyone_stopped_by_itself(&e.halt))
            compute_skew(g, now(g) - begin, &result);
        e.halt.skew_ns = result.skew_ns;
        e.halt.skew_error_ns = result.error_ns;
        *skew = result;
    }
    finish_event(g, &e, NULL);
    return err;
}
