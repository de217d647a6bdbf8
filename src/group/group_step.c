/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One member by itself: steps, and runs that are nobody else's business. Cross-trigger sheet 1.4 rule 8 (the
 * gate isolates nobody on CTIv1), cases A20, A21.
 */
#include "group/group_internal.h"

/* So many steps at most that are asked for at once: each is some ten accesses. */
#define STEPS_MAX 1000000

static enum corral_err check_core(const struct group *g, size_t core, struct diag *d)
{
    return group_check_leader(g, GROUP_ALL, core, d);
}

/* False: it stopped for another reason, and the rest of the steps is off. */
static enum corral_err step_once(struct group *g, size_t core, bool *go_on, struct diag *d)
{
    struct core_status status;
    enum corral_err err = core_step(g->cores[core], d);
    if (!err)
        err = core_peek_status(g->cores[core], &status, d);
    *go_on = !err && status.state == CORE_HALTED && status.reason == HALT_REASON_STEP;
    return err;
}

static enum corral_err step_alone(struct group *g, size_t core, unsigned count, struct diag *d)
{
    struct cti *cti = group_cti(g, core);
    bool go_on = true;
    enum corral_err err = CORRAL_OK;
    /* Its halt after the step must reach neither the others nor itself: the source goes, not the gate. Then
     * what is latched is acknowledged, or the step executes nothing. */
    if (cti) {
        err = cti_arm(cti, false, d);
        if (!err)
            err = group_acknowledge(g, group_bit(core), d);
    }
    for (unsigned i = 0; i < count && go_on && !err; i++)
        err = step_once(g, core, &go_on, d);
    if (!cti)
        return err;
    enum corral_err after = group_acknowledge_late(g, group_bit(core), err ? NULL : d);
    if (!after)
        after = cti_engage(cti, group_connections(g, core, true), err ? NULL : d);
    return err ? err : after;
}

enum corral_err group_step(struct group *g, size_t core, unsigned count, struct event *event, struct diag *d)
{
    struct core_status status;
    enum corral_err err = check_core(g, core, d);
    if (!err && (count == 0 || count > STEPS_MAX))
        err = diag_set(d, CORRAL_ERR_USAGE, "%u is not a number of steps from 1 to %d", count, STEPS_MAX);
    if (!err)
        err = core_read_status(g->cores[core], false, &status, d);
    if (err)
        return err;
    if (status.state != CORE_HALTED) {
        diag_set(d, CORRAL_ERR_CORE_STATE, "%s cannot step: it is %s", core_name(g->cores[core]),
                 core_state_name(status.state));
        diag_object(d, "%s", core_name(g->cores[core]));
        return CORRAL_ERR_CORE_STATE;
    }
    err = step_alone(g, core, count, d);
    struct event e = group_event(g, EVENT_HALT);
    e.halt.mechanism = GROUP_MECHANISM_NONE;
    for (size_t i = 0; i < g->count && !group_is_fatal(err); i++) {
        enum corral_err look = i == core ? core_read_status(g->cores[i], true, &status, err ? NULL : d)
                                         : core_peek_status(g->cores[i], &status, NULL);
        group_take_status(&e.halt.cores[i], &status);
        e.halt.cores[i].first = i == core;
        if (!err && (i == core || group_is_fatal(look)))
            err = look;
    }
    group_finish_event(g, &e, event);
    return err;
}

enum corral_err group_disarm(struct group *g, size_t core, struct diag *d)
{
    enum corral_err err = check_core(g, core, d);
    struct cti *cti = err ? NULL : group_cti(g, core);
    if (!cti)
        return err;
    err = cti_engage(cti, 0, d);
    if (!err)
        err = group_acknowledge(g, group_bit(core), d);
    if (!err)
        g->seats[core].isolated = true;
    return err;
}

enum corral_err group_arm(struct group *g, size_t core, struct diag *d)
{
    enum corral_err err = check_core(g, core, d);
    struct cti *cti = err ? NULL : group_cti(g, core);
    if (!cti || !g->seats[core].isolated)
        return err;
    g->seats[core].isolated = false;
    return cti_engage(cti, group_connections(g, core, group_is_halted(g, core)), d);
}
