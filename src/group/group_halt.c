/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Halting: one request drags along all that share its channels, one pulse each further island, one request
 * each core that cross triggers do not reach. Cross-trigger sheet 1.7 "halt", 3.4 (who was first), 11.1;
 * cases A6, A10 to A15, A23, A28.
 *
 * A core that cannot halt (no power, no clock, in reset, debug disabled) is named and fails nobody.
 */
#include "group/group_internal.h"

/* How often a core is seen in a state that cannot halt before it is given up: it may just come out of it. One
 * that does not answer counts more: each look may take long. */
#define HOPELESS_LOOKS 24
#define SILENT_WEIGHT  8
#define FAST_LOOKS     20
#define LOOK_NS        NS_PER_MS

static bool can_halt(const struct core_status *s)
{
    return (s->state == CORE_RUNNING || s->state == CORE_LOCKUP) && s->why != CORE_WHY_DEBUG_DISABLED &&
           s->why != CORE_WHY_NO_CLOCK;
}

enum corral_err group_wait_halted(struct group *g, size_t core, int64_t wait_ns, struct group_outcome *o)
{
    struct host_clock *clock = link_clock(core_link(g->cores[core]));
    struct deadline limit = deadline_in(clock, wait_ns);
    unsigned hopeless = 0;
    for (unsigned i = 0;; i++) {
        o->err = core_read_status(g->cores[core], false, &o->status, &o->why);
        if (group_is_fatal(o->err) || (!o->err && o->status.state == CORE_HALTED))
            return o->err;
        if (o->err || o->status.state == CORE_UNPOWERED || o->status.state == CORE_UNKNOWN)
            hopeless += SILENT_WEIGHT;
        else
            hopeless = can_halt(&o->status) ? 0 : hopeless + 1;
        if (i >= FAST_LOOKS)
            host_clock_sleep(clock, LOOK_NS);
        /* Look once more after the time is up: the sleep may have taken long. */
        if (hopeless >= HOPELESS_LOOKS || (i > 0 && deadline_passed(&limit)))
            break;
    }
    if (!o->err) {
        o->err = diag_set(
            &o->why, CORRAL_ERR_CORE_NO_HALT, "%s did not halt: it is %s", core_name(g->cores[core]),
            o->status.why != CORE_WHY_NONE ? core_why_text(o->status.why) : core_state_name(o->status.state));
        diag_object(&o->why, "%s", core_name(g->cores[core]));
    }
    return o->err;
}

void group_excuse(struct group *g, size_t core, struct group_outcome *o)
{
    const char *name = core_name(g->cores[core]);
    if (!o->err || group_is_fatal(o->err) || o->status.state == CORE_HALTED)
        return;
    if (o->err != CORRAL_ERR_CORE_NO_HALT) {
        /* It does not answer, or with faults: no power, no clock (A11). The words are the link's. */
        o->status.state = o->status.state == CORE_UNPOWERED ? CORE_UNPOWERED : CORE_UNKNOWN;
        group_remark(g, core, "%s was left out: it cannot be asked (%s)", name, o->why.message);
        o->excused = true;
    } else if (o->status.state == CORE_RESET) {
        group_remark(g, core, "%s was left out: it is held in reset", name);
        o->excused = true;
    } else if (!can_halt(&o->status)) {
        group_remark(g, core, "%s was left out: %s", name,
                     o->status.why != CORE_WHY_NONE ? core_why_text(o->status.why) : "its state is unknown");
        o->excused = true;
    } else if (!o->status.debug_enabled) {
        group_remark(g, core, "%s was left out: debug is disabled on it", name);
        o->excused = true;
    } else if (o->status.asleep) {
        group_remark(g, core, "%s was left out: it sleeps, and a request does not reach it (no clock?)",
                     name);
        o->excused = true;
    }
    if (o->excused)
        o->err = CORRAL_OK;
}

/* Keep a halt from the members outside `mask`, or let it reach them again. */
static enum corral_err shield_others(struct group *g, group_mask mask, bool on, struct diag *d)
{
    for (size_t i = 0; i < g->count; i++) {
        struct cti *cti = group_cti(g, i);
        if (!cti || (mask & group_bit(i)) || !group_linked(g, i))
            continue;
        unsigned now = cti_engaged(cti);
        enum corral_err err = cti_engage(cti, on ? now & ~(unsigned)CTI_REQUEST : now | CTI_REQUEST, d);
        if (err && err != CORRAL_ERR_LINK_FAULT && err != CORRAL_ERR_LINK_WAIT)
            return err; /* one that does not answer is not dragged along either */
    }
    return CORRAL_OK;
}

static void request(struct group *g, size_t core, struct group_outcome *o)
{
    o->by_software = true;
    o->err = core_request_halt(g->cores[core], &o->why);
}

/* One pulse on the halt channel of every island that the leader's request does not reach (A28). */
static enum corral_err pulse_islands(struct group *g, group_mask mask, size_t leader,
                                     struct group_outcome *outcomes)
{
    int own = group_linked(g, leader) ? g->seats[leader].island : -1;
    int done[EVENT_MAX_CORES];
    size_t count = 0;
    for (size_t i = 0; i < g->count; i++) {
        int island = g->seats[i].island;
        if (!(mask & group_bit(i)) || i == leader || !group_linked(g, i) || island == own)
            continue;
        outcomes[i].by_software = true; /* a copy of ours, not the trigger of the core that stopped */
        bool again = false;
        for (size_t k = 0; k < count; k++)
            again |= done[k] == island;
        if (again)
            continue;
        struct diag why = DIAG_INIT;
        enum corral_err err = cti_pulse(group_cti(g, i), g->halt_channel, &why);
        if (!err)
            done[count++] = island; /* else the next member of this island may do it */
        if (group_is_fatal(err)) {
            outcomes[i].err = err;
            outcomes[i].why = why;
            return err;
        }
    }
    return CORRAL_OK;
}

/* All requests first, then the waiting: the cores stop as close together as can be. */
static void request_all(struct group *g, group_mask mask, size_t leader, bool ask_leader,
                        struct group_outcome *outcomes)
{
    struct group_outcome *first = &outcomes[leader];
    if (ask_leader && group_stops_by_sequence(g, leader))
        first->err = group_sequence_stop(g, leader, &first->by_stop, &first->why);
    if (ask_leader && !first->err && !first->by_stop)
        request(g, leader, first);
    /* The leader of linked cores is asked, and is no straggler. */
    first->by_software = !group_linked(g, leader);
    if (group_is_fatal(first->err) || pulse_islands(g, mask, leader, outcomes))
        return;
    for (size_t i = 1; i < g->count; i++) {
        size_t core = group_order(leader, i);
        if (!(mask & group_bit(core)) || group_linked(g, core))
            continue;
        outcomes[core].by_software = true;
        if (!group_domain_served(g, leader, i, mask))
            request(g, core, &outcomes[core]);
        if (group_is_fatal(outcomes[core].err))
            return;
    }
}

static bool any_fatal(const struct group *g, const struct group_outcome *outcomes)
{
    for (size_t i = 0; i < g->count; i++)
        if (group_is_fatal(outcomes[i].err))
            return true;
    return false;
}

/* The leader's ProcessorStop may have done nothing: then our own request, before the others count as late. */
static void look_after_stop(struct group *g, size_t leader, struct group_outcome *o)
{
    if (!o->by_stop || !group_wait_halted(g, leader, GROUP_STRAGGLER_NS, o) || group_is_fatal(o->err))
        return;
    o->err = core_request_halt(g->cores[leader], &o->why);
    if (!o->err)
        group_remark(g, leader, "ProcessorStop of %s did not halt it: Corral asked it to",
                     core_name(g->cores[leader]));
}

static void wait_all(struct group *g, group_mask mask, size_t leader, struct group_outcome *outcomes)
{
    look_after_stop(g, leader, &outcomes[leader]);
    if (group_is_fatal(outcomes[leader].err))
        return;
    for (size_t i = 0; i < g->count; i++) {
        size_t core = group_order(leader, i);
        struct group_outcome *o = &outcomes[core];
        if (!(mask & group_bit(core)) || (o->err && !group_linked(g, core)))
            continue;
        if (group_is_fatal(
                group_wait_halted(g, core, group_linked(g, core) ? GROUP_STRAGGLER_NS : CORE_WAIT_NS, o)))
            return;
    }
    /* Stragglers: another CTM after all, a CTI that lost its registers, not listening. */
    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < g->count; i++) {
            size_t core = group_order(leader, i);
            struct group_outcome *o = &outcomes[core];
            if (!(mask & group_bit(core)) || !group_linked(g, core) || !o->err)
                continue;
            if (pass == 0)
                request(g, core, o);
            if (pass == 1 || o->err)
                group_wait_halted(g, core, CORE_WAIT_NS, o);
            else
                o->err = CORRAL_ERR_CORE_NO_HALT; /* until the second pass has waited for it */
            if (group_is_fatal(o->err))
                return;
        }
}

/* A13: a linked core that was not dragged along: its CTI, or the leader's, may have lost its registers. */
static enum corral_err mend_after_stragglers(struct group *g, size_t leader,
                                             const struct group_outcome *outcomes, struct diag *d)
{
    int own = group_linked(g, leader) ? g->seats[leader].island : -1;
    bool any = false;
    for (size_t i = 0; i < g->count; i++)
        any |= outcomes[i].by_software && i != leader && group_linked(g, i) && g->seats[i].island == own;
    if (!any)
        return CORRAL_OK;
    bool mended;
    g->islands_proven = false;
    return group_mend(g, &mended, d);
}

/* Reasons are taken (and with that cleared) from the members that were asked for; others are looked at. */
static void read_reasons(struct group *g, group_mask mask, struct group_outcome *outcomes, struct event *e)
{
    for (size_t i = 0; i < g->count; i++) {
        struct group_outcome *o = &outcomes[i];
        struct core_status status;
        struct diag why = DIAG_INIT;
        bool asked = (mask & group_bit(i)) != 0;
        enum corral_err err = asked ? core_read_status(g->cores[i], true, &status, &why)
                                    : core_peek_status(g->cores[i], &status, &why);
        if (!err || status.state != CORE_UNKNOWN)
            o->status = status;
        if (asked && err && !o->err) {
            o->err = err;
            o->why = why;
        }
        /* It halted between the last look and this one: late, but it did. */
        if (asked && !err && status.state == CORE_HALTED && o->err == CORRAL_ERR_CORE_NO_HALT)
            o->err = CORRAL_OK;
        if (asked)
            group_excuse(g, i, o);
        group_take_status(&e->halt.cores[i], &o->status);
        g->seats[i].running = o->status.state == CORE_RUNNING;
        if (group_is_fatal(err))
            return;
    }
}

/*
 * Who stopped first (sheet 3.4): cores with a reason of their own. A leader that was halted by our request,
 * and not dragged along by one on its channels, stopped by itself too. Where nobody has a reason of its own
 * it is the core that got the request first.
 */
static void name_first(struct group *g, struct event_halt *h, size_t leader,
                       const struct group_outcome *outcomes)
{
    bool any = false, beside = false, unwanted = false;
    for (size_t i = 0; i < h->core_count; i++) {
        bool own = outcomes[i].asked && h->cores[i].state == CORE_HALTED &&
                   (group_own_reason(h->cores[i].reason) || outcomes[i].status.false_halt);
        h->cores[i].first = own && !outcomes[i].status.false_halt;
        unwanted |= own && outcomes[i].status.false_halt;
        any |= h->cores[i].first;
        beside |= h->cores[i].first && group_linked(g, i) && group_linked(g, leader) &&
                  g->seats[i].island == g->seats[leader].island;
    }
    bool asked = h->cores[leader].state == CORE_HALTED && h->cores[leader].reason == HALT_REASON_REQUEST;
    if (asked && (!any || beside)) {
        h->cores[leader].first = true;
        any = true;
    }
    for (size_t i = 0; !any && i < h->core_count; i++)
        h->cores[i].first = outcomes[i].asked && h->cores[i].state == CORE_HALTED &&
                            h->cores[i].reason == HALT_REASON_REQUEST && !outcomes[i].by_software;
    g->false_alarm = unwanted && !any;
}

static void name_mechanism(const struct group *g, struct event_halt *h, const struct group_outcome *outcomes)
{
    bool software = false, stub = true;
    for (size_t i = 0; i < g->count; i++) {
        if (!outcomes[i].asked || h->cores[i].state != CORE_HALTED)
            continue;
        software |= outcomes[i].by_software;
        stub &= core_run_domain(g->cores[i]) != NULL;
    }
    /* Cross triggers that did not reach everybody are not what halted the group. */
    if (software)
        h->mechanism =
            stub && h->mechanism == GROUP_MECHANISM_STUB ? GROUP_MECHANISM_STUB : GROUP_MECHANISM_SOFTWARE;
}

/* Once all that can halt have halted (A6): acknowledge, and let the others' channels in again. */
static enum corral_err settle(struct group *g, group_mask mask, const struct group_outcome *outcomes,
                              struct diag *d)
{
    group_mask halted = 0;
    bool all = true;
    for (size_t i = 0; i < g->count; i++) {
        if (outcomes[i].status.state == CORE_HALTED)
            halted |= group_bit(i);
        else
            all &= !group_cti(g, i);
    }
    enum corral_err err = group_acknowledge_halt(g, halted, d);
    if (!err)
        err = shield_others(g, mask, false, d);
    if (!err && all && !g->islands_proven)
        err = group_prove_islands(g, d);
    return err;
}

enum corral_err group_halt_members(struct group *g, group_mask mask, size_t leader, bool ask_leader,
                                   struct event *e, struct diag *d)
{
    struct group_outcome outcomes[EVENT_MAX_CORES] = {0};
    *e = group_event(g, EVENT_HALT);
    for (size_t i = 0; i < g->count; i++)
        outcomes[i].asked = (mask & group_bit(i)) != 0;
    enum corral_err err = shield_others(g, mask, true, d);
    if (err)
        return err;
    request_all(g, mask, leader, ask_leader, outcomes);
    if (!any_fatal(g, outcomes))
        wait_all(g, mask, leader, outcomes);
    if (!any_fatal(g, outcomes))
        err = mend_after_stragglers(g, leader, outcomes, d);
    if (!any_fatal(g, outcomes) && !group_is_fatal(err))
        read_reasons(g, mask, outcomes, e);
    name_mechanism(g, &e->halt, outcomes);
    name_first(g, &e->halt, leader, outcomes);
    for (size_t i = 0; i < g->count; i++)
        group_watch_resets(g, i, &outcomes[i].status);
    if (!err)
        err = group_first_failure(g, outcomes, d);
    size_t halted = 0;
    for (size_t i = 0; i < g->count; i++)
        halted += outcomes[i].asked && e->halt.cores[i].state == CORE_HALTED;
    if (!err && halted == 0)
        err = diag_set(d, CORRAL_ERR_CORE_NO_HALT, "no core could be halted");
    if (err) {
        shield_others(g, mask, false, NULL);
        return err;
    }
    err = settle(g, mask, outcomes, d);
    return err ? err : group_adopt(g, d);
}

enum corral_err group_halt_some(struct group *g, group_mask mask, size_t leader, struct event *event,
                                struct diag *d)
{
    struct event e;
    enum corral_err err = group_check_leader(g, mask, leader, d);
    if (err)
        return err;
    err = group_halt_members(g, mask, leader, true, &e, d);
    group_finish_event(g, &e, event);
    return err;
}

enum corral_err group_halt(struct group *g, size_t leader, struct event *event, struct diag *d)
{
    return group_halt_some(g, GROUP_ALL, leader, event, d);
}

enum corral_err group_poll(struct group *g, bool *stopped, struct event *event, struct diag *d)
{
    struct core_status status;
    struct event e;
    *stopped = false;
    size_t core = g->next_poll % g->count;
    g->next_poll = core + 1;
    enum corral_err err = core_read_status(g->cores[core], false, &status, d);
    if (err)
        return group_is_fatal(err) ? err : CORRAL_OK; /* A11: it is tried again the next time */
    group_watch_resets(g, core, &status);
    if (status.state == CORE_RUNNING)
        g->seats[core].running = true;
    else if (status.state != CORE_HALTED)
        g->seats[core].away = true;
    /* One that was let go meanwhile, and stopped at once, has stopped like any other. */
    if (status.state != CORE_HALTED || !(g->seats[core].running || g->seats[core].away))
        return CORRAL_OK;
    g->seats[core].away = false;
    /* Those that were running, and this one, stop; who had been halted before stays as it is. */
    group_mask mask = group_bit(core);
    for (size_t i = 0; i < g->count; i++)
        if (g->seats[i].running)
            mask |= group_bit(i);
    err = group_halt_members(g, mask, core, false, &e, d);
    if (!err && g->false_alarm) { /* A23: for nothing but a halt that no one wanted */
        struct event unseen;
        return group_run_members(g, mask, core, &unseen, d);
    }
    *stopped = true;
    group_finish_event(g, &e, event);
    return err;
}
