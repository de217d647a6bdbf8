/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reset of a group. Cross-trigger sheet 11.2: each member that must stop catches its own vector; a reset may
 * take the CTIs' registers with it, or not. Cases A12, A13.
 */
#include "group/group_internal.h"

/* How long a core may take to come out of reset before it counts as held there. */
#define RESET_NS      (200 * NS_PER_MS)
#define RESET_LOOK_NS NS_PER_MS

struct reset {
    struct group *g;
    const struct group_reset *how;
    group_mask targets; /* that are reset, or may be */
    uint32_t resets_before[EVENT_MAX_CORES];
    bool was_halted[EVENT_MAX_CORES];
    struct group_outcome outcomes[EVENT_MAX_CORES];
};

static bool is_target(const struct reset *r, size_t i)
{
    return (r->targets & group_bit(i)) != 0;
}

static void look_before(struct reset *r)
{
    for (size_t i = 0; i < r->g->count; i++) {
        struct core_status status;
        if (core_read_status(r->g->cores[i], false, &status, NULL))
            continue;
        r->resets_before[i] = status.resets;
        r->was_halted[i] = status.state == CORE_HALTED;
    }
}

static enum corral_err catch_vector(const struct reset *r, size_t i, bool on, struct diag *d)
{
    const struct group_reset_by *by = r->how->by;
    bool done = false;
    enum corral_err err = by ? by->catch_vector(by->ctx, by->first + i, on, &done, d) : CORRAL_OK;
    return err || done ? err : core_vector_catch(r->g->cores[i], on, d);
}

static enum corral_err ask_for_reset(const struct reset *r, struct diag *d)
{
    const struct group_reset_by *by = r->how->by;
    struct core *core = r->g->cores[r->how->core];
    bool done = false;
    if (!by)
        return core_reset(core, r->how->how, d);
    enum corral_err err = core_expect_reset(core, d);
    if (!err)
        err = by->reset(by->ctx, by->first + r->how->core, r->how->how, &done, d);
    if (err || !done)
        return err ? err : core_reset(core, r->how->how, d);
    core_was_reset(core);
    return CORRAL_OK;
}

static enum corral_err catch_vectors(struct reset *r, bool on, struct diag *d)
{
    struct group *g = r->g;
    for (size_t i = 0; i < g->count; i++) {
        struct group_outcome *o = &r->outcomes[i];
        struct diag words = DIAG_INIT;
        if (!is_target(r, i) || (!on && o->status.state == CORE_RESET))
            continue; /* it is still to come: it stops when it is let go */
        enum corral_err err = catch_vector(r, i, on, &words);
        if (group_is_fatal(err)) {
            if (d)
                *d = words;
            return err;
        }
        if (err && on && i != r->how->core)
            group_remark(g, i, "%s cannot be stopped at its first instruction: %s", core_name(g->cores[i]),
                         words.message);
        else if (err && on) {
            if (d)
                *d = words;
            return err;
        }
    }
    return CORRAL_OK;
}

/* A core that was reset by itself: its halt is nobody else's business meanwhile. */
static enum corral_err keep_to_itself(struct reset *r, bool on, struct diag *d)
{
    struct cti *cti = group_cti(r->g, r->how->core);
    if (!cti || r->how->how != CORE_RESET_CORE)
        return CORRAL_OK;
    if (on)
        return cti_engage(cti, 0, d);
    bool halted = group_is_halted(r->g, r->how->core);
    return cti_engage(cti, group_connections(r->g, r->how->core, halted), d);
}

/* Until the core is out of reset, and halted if it is to halt. */
static enum corral_err wait_for(struct reset *r, size_t i, struct diag *d)
{
    struct group *g = r->g;
    struct group_outcome *o = &r->outcomes[i];
    struct host_clock *clock = link_clock(core_link(g->cores[i]));
    struct deadline limit = deadline_in(clock, RESET_NS);
    for (unsigned look = 0;; look++) {
        o->err = core_read_status(g->cores[i], false, &o->status, &o->why);
        if (group_is_fatal(o->err)) {
            if (d)
                *d = o->why;
            return o->err;
        }
        bool out = !o->err && o->status.state != CORE_RESET && o->status.state != CORE_UNKNOWN;
        if (out && (!r->how->halt || o->status.state == CORE_HALTED))
            return CORRAL_OK;
        /* Not reset at all (another domain), and running: no vector will catch it. */
        if (out && look > 20 && o->status.resets == r->resets_before[i])
            return CORRAL_OK;
        if (deadline_passed(&limit))
            return CORRAL_OK;
        if (look > 5)
            host_clock_sleep(clock, RESET_LOOK_NS);
    }
}

static void name_those_left(struct reset *r)
{
    struct group *g = r->g;
    for (size_t i = 0; i < g->count; i++) {
        const struct group_outcome *o = &r->outcomes[i];
        const char *name = core_name(g->cores[i]);
        if (!is_target(r, i))
            continue;
        if (o->status.state == CORE_RESET && !o->err)
            group_remark(g, i,
                         r->how->halt ? "%s is still held in reset: it will stop at its first instruction"
                                      : "%s is still held in reset",
                         name);
        else if (o->err || o->status.state == CORE_UNKNOWN || o->status.state == CORE_UNPOWERED)
            group_remark(g, i, "%s cannot be asked after the reset: %s", name,
                         o->err ? o->why.message : core_why_text(o->status.why));
        else if (o->status.resets == r->resets_before[i] && i != r->how->core)
            group_remark(g, i,
                         r->how->halt ? "%s was not reset: it is halted where it was" : "%s was not reset",
                         name);
    }
}

/* The members that should be halted and are not yet (another reset domain), or run and do not. */
static enum corral_err finish(struct reset *r, struct event *e, struct diag *d)
{
    struct group *g = r->g;
    group_mask mask = 0;
    for (size_t i = 0; i < g->count; i++) {
        const struct group_outcome *o = &r->outcomes[i];
        bool reachable = !o->err && (o->status.state == CORE_HALTED || o->status.state == CORE_RUNNING ||
                                     o->status.state == CORE_LOCKUP);
        if (is_target(r, i) && reachable)
            mask |= group_bit(i);
    }
    size_t leader = r->how->core;
    for (size_t i = 0; i < g->count && !(mask & group_bit(leader)); i++)
        leader = (mask & group_bit(i)) ? i : leader;
    if (!(mask & group_bit(leader)))
        return diag_set(d, CORRAL_ERR_CORE_STATE, "no core is there after the reset");
    if (r->how->halt)
        return group_halt_members(g, mask, leader, !group_is_halted(g, leader), e, d);
    enum corral_err err = group_run_members(g, mask, leader, e, d);
    for (size_t i = 0; i < g->count && !err; i++) {
        const struct group_outcome *o = &r->outcomes[i];
        if (is_target(r, i) && o->status.resets != r->resets_before[i] &&
            e->halt.cores[i].state == CORE_RUNNING)
            e->halt.cores[i].restarted = true; /* by the reset */
    }
    return err;
}

static enum corral_err do_reset(struct reset *r, struct event *e, struct diag *d)
{
    struct group *g = r->g;
    const struct group_reset *how = r->how;
    look_before(r);
    /* What is latched would halt a core on its first instruction. */
    group_mask halted = 0;
    for (size_t i = 0; i < g->count; i++)
        halted |= r->was_halted[i] ? group_bit(i) : 0;
    enum corral_err err = group_acknowledge(g, halted, d);
    if (!err)
        err = keep_to_itself(r, true, d);
    if (!err && how->halt)
        err = catch_vectors(r, true, d);
    if (!err)
        err = ask_for_reset(r, d);
    for (size_t i = 0; i < g->count && !err; i++)
        if (is_target(r, i))
            err = wait_for(r, i, d);
    if (how->halt && !group_is_fatal(err)) {
        enum corral_err after = catch_vectors(r, false, err ? NULL : d);
        err = err ? err : after;
    }
    if (!group_is_fatal(err)) {
        bool mended;
        enum corral_err after = group_mend(g, &mended, err ? NULL : d);
        if (!after)
            after = keep_to_itself(r, false, err ? NULL : d);
        err = err ? err : after;
    }
    if (err)
        return err;
    name_those_left(r);
    for (size_t i = 0; i < g->count; i++)
        group_watch_resets(g, i, &r->outcomes[i].status);
    return finish(r, e, d);
}

enum corral_err group_reset(struct group *g, const struct group_reset *reset, struct event *event,
                            struct diag *d)
{
    struct reset r = {.g = g, .how = reset};
    enum corral_err err = group_check_leader(g, GROUP_ALL, reset->core, d);
    if (err)
        return err;
    r.targets = reset->how == CORE_RESET_CORE ? group_bit(reset->core) : GROUP_ALL;
    struct event e = group_event(g, reset->halt ? EVENT_HALT : EVENT_RUN);
    err = do_reset(&r, &e, d);
    group_finish_event(g, &e, event);
    return err;
}
