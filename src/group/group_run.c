/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting: one pulse an island, and one request each core that cross triggers do not start; every restart is
 * proven. Cross-trigger sheet 1.4 (rules 9, 10), 1.7 "restart", 3.5 (proof), 10.4 (breakpoints where a core
 * stands); cases A6, A8, A9, A19, A26, A28.
 *
 * Must not send a second pulse once a core has stopped again: that would start it against the user's will.
 */
#include "group/group_internal.h"

struct run {
    struct group *g;
    group_mask mask;
    size_t leader;
    bool sequenced; /* ProcessorStart was run, and of use */
    bool ran_start[EVENT_MAX_CORES];
    struct group_outcome outcomes[EVENT_MAX_CORES];
};

static bool is_member(const struct run *r, size_t i)
{
    return (r->mask & group_bit(i)) != 0;
}

/* How many cores a pulse on this one's island would start. */
static size_t pulse_reaches(const struct run *r, size_t core)
{
    size_t n = 0;
    for (size_t i = 0; i < r->g->count; i++)
        n += r->outcomes[i].prepared && group_runs_by_cti(r->g, i) &&
             r->g->seats[i].island == r->g->seats[core].island;
    return n;
}

/* A pulse for a core by itself brings nothing over the core's own register. */
static bool by_pulse(const struct run *r, size_t core)
{
    return group_runs_by_cti(r->g, core) && pulse_reaches(r, core) > 1;
}

/* Does any member's halt matter to another while it is made ready? Then its halted input goes off. */
static enum corral_err arm(struct run *r, bool on, struct diag *d)
{
    struct group *g = r->g;
    for (size_t i = 0; i < g->count; i++) {
        struct cti *cti = group_cti(g, i);
        if (!cti || !is_member(r, i) || g->seats[i].isolated || (on && g->seats[i].level) ||
            r->outcomes[i].status.state != CORE_HALTED)
            continue;
        enum corral_err err = cti_arm(cti, on, d);
        if (err)
            return err;
    }
    return CORRAL_OK;
}

static void read_states(struct run *r)
{
    struct group *g = r->g;
    core_look(g->cores, g->count);
    for (size_t i = 0; i < g->count; i++) {
        struct group_outcome *o = &r->outcomes[i];
        o->asked = is_member(r, i);
        o->err = core_read_status(g->cores[i], false, &o->status, &o->why);
        if (o->err && !group_is_fatal(o->err)) {
            o->err = CORRAL_OK;
            o->status.state = CORE_UNKNOWN;
        }
        if (o->err)
            return;
        group_watch_resets(g, i, &o->status);
        if (!o->asked || o->status.state == CORE_HALTED || o->status.state == CORE_RUNNING ||
            o->status.state == CORE_LOCKUP)
            continue;
        group_remark(g, i, "%s was left out: %s", core_name(g->cores[i]),
                     o->status.why != CORE_WHY_NONE      ? core_why_text(o->status.why)
                     : o->status.state == CORE_RESET     ? "it is held in reset"
                     : o->status.state == CORE_UNPOWERED ? "it has no power"
                                                         : "it cannot be asked");
    }
}

static group_mask halted_members(const struct run *r, bool asked_only)
{
    group_mask halted = 0;
    for (size_t i = 0; i < r->g->count; i++)
        if (r->outcomes[i].status.state == CORE_HALTED && (!asked_only || r->outcomes[i].asked))
            halted |= group_bit(i);
    return halted;
}

/* Every halted core made ready, stepped off a breakpoint where it stands on one (10.4). A core that cannot be
 * is left out, and named. */
static void prepare_all(struct run *r)
{
    for (size_t i = 0; i < r->g->count; i++) {
        struct group_outcome *o = &r->outcomes[i];
        if (!o->asked || o->err || o->status.state != CORE_HALTED)
            continue;
        o->err = core_prepare_run(r->g->cores[i], &o->why);
        o->prepared = !o->err;
        if (group_is_fatal(o->err))
            return;
    }
}

/* A core that stopped again by itself, seen without taking its reason away. */
static bool stopped_by_itself(struct group *g, size_t core)
{
    struct core_status status;
    if (core_peek_status(g->cores[core], &status, NULL) || status.state != CORE_HALTED)
        return false;
    return status.reason != HALT_REASON_CROSS_TRIGGER && status.reason != HALT_REASON_NONE;
}

static bool anyone_stopped(const struct run *r)
{
    for (size_t i = 0; i < r->g->count; i++)
        if (r->outcomes[i].restarted && stopped_by_itself(r->g, i))
            return true;
    return false;
}

/* A sequence may have read the flag that proves a restart, which takes it away. That a core has a reason of
 * its own, which was cleared before, proves it too. */
static bool anyone_stopped_unproven(const struct run *r)
{
    for (size_t i = 0; i < r->g->count && r->sequenced; i++) {
        struct core_status status;
        if (r->outcomes[i].prepared && !r->outcomes[i].restarted &&
            !core_peek_status(r->g->cores[i], &status, NULL) && status.state == CORE_HALTED &&
            group_own_reason(status.reason))
            return true;
    }
    return false;
}

static void confirm(struct run *r, size_t core)
{
    struct group_outcome *o = &r->outcomes[core];
    o->err = core_confirm_run(r->g->cores[core], &o->restarted, &o->why);
    if (!o->err && !o->restarted) {
        o->err =
            diag_set(&o->why, CORRAL_ERR_CORE_NO_RUN, "%s did not restart", core_name(r->g->cores[core]));
        diag_object(&o->why, "%s", core_name(r->g->cores[core]));
    }
}

static void resume(struct run *r, size_t core)
{
    r->outcomes[core].by_software = true;
    r->outcomes[core].err = core_resume(r->g->cores[core], &r->outcomes[core].why);
}

static bool any_fatal(const struct run *r)
{
    for (size_t i = 0; i < r->g->count; i++)
        if (group_is_fatal(r->outcomes[i].err))
            return true;
    return false;
}

/* Keep the restart pulse from halted cores that are not to start, or let it reach them again. */
static enum corral_err shield_others(struct run *r, bool on, struct diag *d)
{
    struct group *g = r->g;
    bool pulses = false;
    for (size_t i = 0; i < g->count; i++)
        pulses |= r->outcomes[i].prepared && by_pulse(r, i);
    for (size_t i = 0; i < g->count && (pulses || !on); i++) {
        struct cti *cti = group_cti(g, i);
        const struct group_outcome *o = &r->outcomes[i];
        if (!cti || o->prepared || g->seats[i].isolated || g->seats[i].run_why != GROUP_WHY_NONE ||
            (o->status.state != CORE_HALTED && o->status.state != CORE_RUNNING))
            continue;
        unsigned now = cti_engaged(cti);
        enum corral_err err = cti_engage(cti, on ? now & ~(unsigned)CTI_RESTART : now | CTI_RESTART, d);
        if (err)
            return err;
    }
    return CORRAL_OK;
}

static bool is_to_start(const struct run *r, size_t core, bool again)
{
    const struct group_outcome *o = &r->outcomes[core];
    return o->prepared && by_pulse(r, core) && !(again && o->restarted);
}

/* Is one of `done` on its island? */
static bool is_served(const struct run *r, const bool *done, size_t core)
{
    bool served = false;
    for (size_t i = 0; i < r->g->count; i++)
        served |= done[i] && r->g->seats[i].island == r->g->seats[core].island;
    return served;
}

/* ProcessorStart, once an island: of its first member that has one. */
static enum corral_err run_starts(struct run *r, bool *done, struct diag *d)
{
    for (size_t k = 0; k < r->g->count; k++) {
        size_t i = group_order(r->leader, k);
        if (!is_to_start(r, i, false) || !group_starts_by_sequence(r->g, i) || is_served(r, done, i))
            continue;
        enum corral_err err = group_sequence_start(r->g, i, &r->ran_start[i], d);
        if (err)
            return err;
        done[i] = r->ran_start[i];
        r->sequenced |= r->ran_start[i];
    }
    return CORRAL_OK;
}

/* One pulse an island that has cores to start (A28), the leader's first. Those still to start, if `again`:
 * that one is always ours. */
static enum corral_err pulse(struct run *r, bool again, struct diag *d)
{
    struct group *g = r->g;
    bool done[EVENT_MAX_CORES] = {false};
    enum corral_err err = again ? CORRAL_OK : run_starts(r, done, d);
    for (size_t k = 0; k < g->count && !err; k++) {
        size_t i = group_order(r->leader, k);
        if (!is_to_start(r, i, again) || is_served(r, done, i))
            continue;
        err = cti_pulse(group_cti(g, i), g->restart_channel, d);
        done[i] = !err;
    }
    return err;
}

/* Has another member of its island started, by a pulse? */
static bool started_beside(const struct run *r, size_t core)
{
    bool any = false;
    for (size_t i = 0; i < r->g->count; i++)
        any |= i != core && r->outcomes[i].restarted && !r->outcomes[i].by_software &&
               r->g->seats[i].island == r->g->seats[core].island;
    return any;
}

/* What a ProcessorStart that was run has to answer for, before our own pulse. */
enum doubt { DOUBT_NONE, DOUBT_OWN_CORE_ONLY, DOUBT_NOBODY_STARTED };

static void doubt_starts(const struct run *r, enum doubt *doubt)
{
    for (size_t i = 0; i < r->g->count; i++) {
        if (!r->ran_start[i] || started_beside(r, i))
            doubt[i] = DOUBT_NONE;
        else
            doubt[i] = r->outcomes[i].restarted ? DOUBT_OWN_CORE_ONLY : DOUBT_NOBODY_STARTED;
    }
}

/* After it: where it helped, it did what the sequence should have done. */
static void judge_starts(struct run *r, const enum doubt *doubt)
{
    struct group *g = r->g;
    for (size_t i = 0; i < g->count; i++) {
        bool helped = started_beside(r, i) || (doubt[i] == DOUBT_NOBODY_STARTED && r->outcomes[i].restarted);
        if (doubt[i] == DOUBT_NONE || !helped)
            continue;
        r->sequenced = false;
        g->start_ignored = true;
        group_remark(g, i, "ProcessorStart of %s did not start the cores: Corral did, and does from now on",
                     core_name(g->cores[i]));
    }
}

static bool is_pulsed(const struct run *r, size_t core)
{
    const struct group_outcome *o = &r->outcomes[core];
    return o->prepared && !o->restarted && !o->by_software && by_pulse(r, core);
}

static void confirm_pulsed(struct run *r)
{
    struct core *pulsed[EVENT_MAX_CORES];
    size_t count = 0;
    for (size_t i = 0; i < r->g->count; i++)
        if (is_pulsed(r, i))
            pulsed[count++] = r->g->cores[i];
    core_look(pulsed, count);
    for (size_t i = 0; i < r->g->count; i++)
        if (is_pulsed(r, i))
            confirm(r, i);
}

static bool all_restarted(const struct run *r)
{
    for (size_t i = 0; i < r->g->count; i++)
        if (r->outcomes[i].prepared && !r->outcomes[i].restarted)
            return false;
    return true;
}

static void resume_by_software(struct run *r)
{
    struct group *g = r->g;
    struct core *cores[EVENT_MAX_CORES];
    struct core_start started[EVENT_MAX_CORES];
    size_t number[EVENT_MAX_CORES], count = 0;
    for (size_t k = 0; k < g->count; k++) {
        size_t i = group_order(r->leader, k);
        if (!r->outcomes[i].prepared || by_pulse(r, i))
            continue;
        r->outcomes[i].by_software = true;
        if (group_domain_served(g, r->leader, k, r->mask))
            continue;
        number[count] = i;
        cores[count++] = g->cores[i];
    }
    core_start_all(cores, count, started);
    for (size_t k = 0; k < count; k++) {
        r->outcomes[number[k]].err = started[k].err;
        r->outcomes[number[k]].why = started[k].why;
    }
}

static void confirm_by_software(struct run *r)
{
    for (size_t k = 0; k < r->g->count; k++) {
        size_t i = group_order(r->leader, k);
        if (r->outcomes[i].prepared && r->outcomes[i].by_software && !r->outcomes[i].err)
            confirm(r, i);
    }
}

/* A26: two pulses did nothing, though all connections are there. Fall back to the core's own register, and do
 * not drive that output again: it may be another line than we were told. */
static enum corral_err fall_back(struct run *r, size_t core, bool mended, struct diag *d)
{
    struct group *g = r->g;
    struct cti *cti = group_cti(g, core);
    resume(r, core);
    if (!r->outcomes[core].err)
        confirm(r, core);
    if (r->outcomes[core].err || mended)
        return CORRAL_OK;
    g->seats[core].run_why = GROUP_WHY_RESTART_IGNORED;
    group_remark(
        g, core,
        "%s did not restart by a pulse on output %d of its CTI: it is started by software from now on",
        core_name(g->cores[core]), cti_get_info(cti)->restart_output);
    return cti_engage(cti, cti_engaged(cti) & ~(unsigned)CTI_RESTART, d);
}

/* Those that have started and could have been stopped by others since, at once. */
static void look_again(struct run *r)
{
    struct core *cores[EVENT_MAX_CORES];
    size_t count = 0;
    for (size_t i = 0; i < r->g->count; i++)
        if (r->outcomes[i].restarted && group_cti(r->g, i))
            cores[count++] = r->g->cores[i];
    core_look(cores, count);
}

/*
 * A8: a core whose request was still latched left debug state and came right back. That is no stop. A core
 * that was dragged along by one that stopped by itself looks the same: that one had halted before it, so it
 * is looked for after the halted ones have been seen.
 */
static enum corral_err restart_latched(struct run *r, struct diag *d)
{
    struct group *g = r->g;
    group_mask halted = 0;
    look_again(r);
    for (size_t i = 0; i < g->count; i++)
        if (r->outcomes[i].restarted && group_cti(g, i) && group_is_halted(g, i))
            halted |= group_bit(i);
    if (!halted || anyone_stopped(r))
        return CORRAL_OK;
    enum corral_err err = group_acknowledge(g, halted, d);
    for (size_t i = 0; !err && i < g->count; i++) {
        struct group_outcome *o = &r->outcomes[i];
        if (!(halted & group_bit(i)))
            continue;
        o->err = core_prepare_run(g->cores[i], &o->why);
        if (!o->err)
            resume(r, i);
        if (!o->err)
            confirm(r, i);
        o->status.state = CORE_HALTED; /* for the arming that follows */
    }
    return err;
}

/* Inputs that are levels were off while their cores were halted: on again, and then look once more whether
 * somebody halted while nobody was listening. */
static enum corral_err rearm(struct run *r, struct diag *d)
{
    struct group *g = r->g;
    bool any = false;
    for (size_t i = 0; i < g->count; i++) {
        struct cti *cti = group_cti(g, i);
        if (!cti || !r->outcomes[i].restarted || (cti_engaged(cti) & CTI_HALTED) || g->seats[i].isolated)
            continue;
        enum corral_err err = cti_arm(cti, true, d);
        if (err)
            return err;
        any = true;
    }
    if (any)
        look_again(r);
    for (size_t i = 0; any && i < g->count; i++)
        if (r->outcomes[i].restarted && group_linked(g, i) && group_is_halted(g, i)) {
            enum corral_err err = cti_pulse(group_cti(g, i), g->halt_channel, d);
            if (err)
                return err;
        }
    return CORRAL_OK;
}

static enum corral_err start_all(struct run *r, struct diag *d)
{
    struct group *g = r->g;
    enum corral_err err = pulse(r, false, d);
    if (err)
        return err;
    resume_by_software(r);
    if (!any_fatal(r))
        confirm_pulsed(r);
    if (!any_fatal(r))
        confirm_by_software(r);
    if (any_fatal(r))
        return CORRAL_OK;
    bool stopped = !all_restarted(r) && (anyone_stopped(r) || anyone_stopped_unproven(r));
    if (!all_restarted(r) && !stopped) {
        enum doubt doubt[EVENT_MAX_CORES] = {DOUBT_NONE};
        doubt_starts(r, doubt);
        err = pulse(r, true, d);
        if (err)
            return err;
        confirm_pulsed(r);
        judge_starts(r, doubt);
        stopped = anyone_stopped(r);
    }
    bool mended = false;
    if (!all_restarted(r) && !stopped) /* A13: or a CTI has lost its registers */
        err = group_mend(g, &mended, d);
    for (size_t i = 0; i < g->count && !err; i++) {
        struct group_outcome *o = &r->outcomes[i];
        if (!o->prepared || o->restarted || o->by_software || group_is_fatal(o->err))
            continue;
        if (stopped)
            o->err = CORRAL_OK; /* the group has stopped again: it stays where it is */
        else
            err = fall_back(r, i, mended, d);
    }
    if (!err && !stopped)
        err = restart_latched(r, d);
    return err;
}

/* Make ready with nothing latched and nothing that can latch: see 10.4 and A20. */
static enum corral_err make_ready(struct run *r, struct diag *d)
{
    struct group *g = r->g;
    enum corral_err err = CORRAL_OK;
    bool any = false;
    for (size_t i = 0; i < g->count; i++)
        any |= r->outcomes[i].asked && r->outcomes[i].status.state == CORE_HALTED;
    if (!any)
        return CORRAL_OK;
    err = arm(r, false, d);
    if (!err)
        err = group_acknowledge(g, halted_members(r, false), d);
    if (!err && !g->islands_proven) {
        bool all = true;
        for (size_t i = 0; i < g->count; i++)
            all &= !group_cti(g, i) || r->outcomes[i].status.state == CORE_HALTED;
        if (all)
            err = group_prove_islands(g, d);
    }
    if (!err)
        prepare_all(r);
    enum corral_err after = arm(r, true, err ? NULL : d);
    if (!err)
        err = after;
    /* Right before the restart: what halted late latched all again (A6). */
    return err ? err : group_acknowledge_late(g, halted_members(r, true), d);
}

static void fill_event(struct run *r, struct event *e)
{
    struct group *g = r->g;
    bool any = false, software = false, stub = true;
    int island = -1;
    for (size_t i = 0; i < g->count; i++) {
        struct core_status status;
        struct group_outcome *o = &r->outcomes[i];
        if (group_is_fatal(o->err))
            return;
        if (o->prepared && !o->by_software) {
            /* Two islands took two pulses: that was not one trigger. */
            software |= island >= 0 && g->seats[i].island != island;
            island = g->seats[i].island;
        }
        struct diag why = DIAG_INIT;
        if (!o->restarted) /* else as it was seen when that was proven, or later */
            core_forget_look(&g->cores[i], 1);
        enum corral_err err = core_read_status(g->cores[i], false, &status, &why);
        if (group_is_fatal(err)) {
            o->err = err;
            o->why = why;
            return;
        }
        if (!err)
            e->halt.cores[i].state = status.state;
        e->halt.cores[i].restarted = o->restarted;
        /* It was started: whatever it did since is for the next look. */
        g->seats[i].running = o->restarted || (!err && status.state == CORE_RUNNING);
        any |= o->prepared;
        software |= o->by_software;
        stub &= core_run_domain(g->cores[i]) != NULL;
    }
    if (e->halt.mechanism == GROUP_MECHANISM_SEQUENCE && !r->sequenced)
        e->halt.mechanism = GROUP_MECHANISM_CTI;
    if (!any)
        e->halt.mechanism = GROUP_MECHANISM_NONE;
    else if (software)
        e->halt.mechanism = stub && e->halt.mechanism == GROUP_MECHANISM_STUB ? GROUP_MECHANISM_STUB
                                                                              : GROUP_MECHANISM_SOFTWARE;
}

enum corral_err group_run_members(struct group *g, group_mask mask, size_t leader, struct event *e,
                                  struct diag *d)
{
    struct run r = {.g = g, .mask = mask, .leader = leader};
    *e = group_event(g, EVENT_RUN);
    enum corral_err err = group_adopt(g, d);
    if (err)
        return err;
    read_states(&r);
    if (!any_fatal(&r))
        err = make_ready(&r, d);
    bool any = false;
    for (size_t i = 0; i < g->count; i++)
        any |= r.outcomes[i].prepared;
    /* Where no core is halted there is nothing to start: no pulse is sent into running cores. */
    if (!err && any && !any_fatal(&r)) {
        err = shield_others(&r, true, d);
        if (!err)
            err = start_all(&r, d);
        enum corral_err after = shield_others(&r, false, err ? NULL : d);
        if (!err)
            err = after;
        if (!err && !any_fatal(&r))
            err = rearm(&r, d);
    }
    fill_event(&r, e);
    core_forget_look(g->cores, g->count);
    return err ? err : group_first_failure(g, r.outcomes, d);
}

enum corral_err group_run_some(struct group *g, group_mask mask, size_t leader, struct event *event,
                               struct diag *d)
{
    struct event e;
    enum corral_err err = group_check_leader(g, mask, leader, d);
    if (err)
        return err;
    err = group_run_members(g, mask, leader, &e, d);
    group_finish_event(g, &e, event);
    return err;
}

enum corral_err group_run(struct group *g, size_t leader, struct event *event, struct diag *d)
{
    return group_run_some(g, GROUP_ALL, leader, event, d);
}
