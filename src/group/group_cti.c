/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Through cross triggers: one halt request drags the others, one pulse starts them all. Cross-trigger sheet
 * 1.7 (sequences), 1.4 rules 2, 9, 10 (every core is latched, the originator too), 3.5 (proof); cases A5, A6,
 * A8, A14, A15, A19.
 *
 * Acknowledges only when all have halted, and again right before a restart. Sends a second restart pulse only
 * while nobody has stopped again: it would start that core against the user's will.
 */
#include "group/group_internal.h"

/* How long the cross triggers get before a core is asked by itself. They need microseconds. */
#define STRAGGLER_NS (5 * NS_PER_MS)

/* A13: a reset or a loss of power may have taken a CTI's registers: then its core, or all others, were not
 * reached. Where it cannot be put right the core goes on being halted by itself. */
static void repair_ctis(struct group *g)
{
    for (size_t i = 0; i < g->count; i++) {
        bool intact = true;
        struct cti *cti = core_cti(g->cores[i]);
        if (!cti_verify(cti, &intact, NULL) && !intact)
            cti_set_again(cti, NULL);
    }
}

static void cti_halt(struct group *g, size_t leader, struct group_outcome *members)
{
    members[leader].err = core_request_halt(g->cores[leader], &members[leader].why);
    for (size_t i = 0; i < g->count; i++) {
        size_t core = group_order(leader, i);
        struct group_outcome *m = &members[core];
        if (!m->err)
            m->err = core_wait_halted(g->cores[core], STRAGGLER_NS, &m->why);
    }
    /* Stragglers: another CTM, no clock, not listening. The leader has its request already. */
    for (size_t i = 1; i < g->count; i++) {
        size_t core = group_order(leader, i);
        if (members[core].err)
            group_halt_one(g, core, &members[core]);
    }
    if (members[leader].err == CORRAL_ERR_CORE_NO_HALT)
        members[leader].err = core_wait_halted(g->cores[leader], CORE_WAIT_NS, &members[leader].why);
    for (size_t i = 0; i < g->count; i++)
        if (members[i].by_software) {
            repair_ctis(g);
            break;
        }
}

/* Acknowledge all. A source that is a level holds the channel: then the halted inputs go off first. */
static enum corral_err acknowledge_all(struct group *g, struct diag *d)
{
    enum corral_err first = CORRAL_OK;
    for (size_t i = 0; i < g->count; i++) {
        struct diag why = DIAG_INIT;
        enum corral_err err = cti_acknowledge(core_cti(g->cores[i]), &why);
        if (err && !first) {
            first = err;
            if (d)
                *d = why;
        }
    }
    if (first != CORRAL_ERR_CTI_STUCK || g->disarmed)
        return first;
    g->disarmed = true;
    for (size_t i = 0; i < g->count; i++) {
        enum corral_err err = cti_arm(core_cti(g->cores[i]), false, d);
        if (err)
            return err;
    }
    for (size_t i = 0; i < g->count; i++) {
        enum corral_err err = cti_acknowledge(core_cti(g->cores[i]), d);
        if (err)
            return err;
    }
    return CORRAL_OK;
}

static enum corral_err cti_before_prepare(struct group *g, size_t core, struct diag *d)
{
    (void)core;
    return acknowledge_all(g, d);
}

/* A core that stopped again by itself, seen without taking its reason away. */
static bool stopped_by_itself(struct group *g, size_t core)
{
    struct core_status status;
    if (core_peek_status(g->cores[core], &status, NULL) || status.state != CORE_HALTED)
        return false;
    return status.reason != HALT_REASON_CROSS_TRIGGER && status.reason != HALT_REASON_NONE;
}

static bool is_halted(struct group *g, size_t core)
{
    struct core_status status;
    return !core_read_status(g->cores[core], false, &status, NULL) && status.state == CORE_HALTED;
}

static bool anyone_stopped(struct group *g, const struct group_outcome *members)
{
    for (size_t i = 0; i < g->count; i++)
        if (members[i].restarted && stopped_by_itself(g, i))
            return true;
    return false;
}

/* Can this core be started by a pulse on the restart channel? */
static bool has_restart(struct group *g, size_t core)
{
    return cti_get_info(core_cti(g->cores[core]))->restart_output >= 0;
}

static enum corral_err pulse_from(struct group *g, size_t leader, struct diag *d)
{
    return cti_pulse(core_cti(g->cores[leader]), g->restart_channel, d);
}

static void confirm_all(struct group *g, struct group_outcome *members)
{
    for (size_t i = 0; i < g->count; i++)
        if (members[i].prepared && !members[i].restarted && has_restart(g, i))
            group_confirm(g, i, &members[i]);
}

static bool all_restarted(const struct group *g, const struct group_outcome *members)
{
    for (size_t i = 0; i < g->count; i++)
        if (members[i].prepared && !members[i].restarted)
            return false;
    return true;
}

/*
 * A8: a core whose request was still latched left debug state and came right back. That is no stop. A core
 * that was dragged along by one that stopped by itself looks the same: that one had halted before it, so it
 * is looked for after the halted ones have been seen.
 */
static enum corral_err restart_latched(struct group *g, struct group_outcome *members, struct diag *d)
{
    bool halted[EVENT_MAX_CORES] = {false}, any = false;
    for (size_t i = 0; i < g->count; i++) {
        halted[i] = members[i].restarted && is_halted(g, i);
        any |= halted[i];
    }
    if (!any || anyone_stopped(g, members))
        return CORRAL_OK;
    enum corral_err err = acknowledge_all(g, d);
    for (size_t i = 0; !err && i < g->count; i++) {
        if (!halted[i])
            continue;
        members[i].err = core_prepare_run(g->cores[i], &members[i].why);
        if (!members[i].err)
            group_resume_one(g, i, &members[i]);
    }
    return err;
}

static enum corral_err rearm(struct group *g, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < g->count && !err; i++)
        err = cti_arm(core_cti(g->cores[i]), true, d);
    g->disarmed = g->disarmed && err;
    /* Somebody may have halted while nobody was listening. */
    for (size_t i = 0; i < g->count && !err; i++)
        if (is_halted(g, i))
            return cti_pulse(core_cti(g->cores[i]), g->halt_channel, d);
    return err;
}

static enum corral_err cti_run(struct group *g, size_t leader, struct group_outcome *members, struct diag *d)
{
    enum corral_err err = acknowledge_all(g, d);
    if (err)
        return err;
    err = pulse_from(g, leader, d);
    if (err)
        return err;
    for (size_t i = 0; i < g->count; i++)
        if (members[i].prepared && !has_restart(g, i))
            group_resume_one(g, i, &members[i]);
    confirm_all(g, members);
    bool stopped = anyone_stopped(g, members);
    if (!all_restarted(g, members) && !stopped) {
        err = pulse_from(g, leader, d);
        if (err)
            return err;
        confirm_all(g, members);
        stopped = anyone_stopped(g, members);
    }
    for (size_t i = 0; i < g->count && !stopped; i++)
        if (members[i].prepared && !members[i].restarted && !members[i].by_software)
            group_resume_one(g, i, &members[i]);
    if (!stopped)
        err = restart_latched(g, members, d);
    if (!err && g->disarmed)
        err = rearm(g, d);
    return err;
}

const struct group_strategy group_strategy_cti = {
    .mechanism = GROUP_MECHANISM_CTI,
    .halt = cti_halt,
    .after_halt = acknowledge_all,
    .before_prepare = cti_before_prepare,
    .run = cti_run,
};
