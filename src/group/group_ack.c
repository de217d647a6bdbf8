/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acknowledging the debug requests: of every core that halted, the originator too. Cross-trigger sheet 1.4
 * (rules 2, 5, 7, 8, 9), 1.7 "ack", 11.4 (pulse or level); cases A5, A6, A19.
 *
 * Must not be called before all have halted: a core that halts later latches all the others again (A6).
 */
#include "group/group_internal.h"

static bool belongs(const struct group *g, group_mask mask, size_t i)
{
    return (mask & group_bit(i)) && group_cti(g, i);
}

static void keep_first(enum corral_err *first, enum corral_err err, struct diag *d, const struct diag *why)
{
    if (!err || (*first && !group_is_fatal(err)))
        return;
    *first = err;
    if (d)
        *d = *why;
}

/* One round; *stuck are those whose request stays. Any other error is the result. */
static enum corral_err round_of(struct group *g, group_mask mask, bool always, group_mask *stuck,
                                struct diag *d)
{
    enum corral_err first = CORRAL_OK;
    *stuck = 0;
    for (size_t i = 0; i < g->count; i++) {
        struct diag why = DIAG_INIT;
        if (!belongs(g, mask, i))
            continue;
        enum corral_err err = group_acknowledges_by_sequence(g, i)
                                  ? group_sequence_acknowledge(g, i, always, &why)
                                  : cti_acknowledge(group_cti(g, i), &why);
        if (err == CORRAL_ERR_CTI_STUCK)
            *stuck |= group_bit(i);
        else
            keep_first(&first, err, d, &why);
        if (group_is_fatal(err))
            break;
    }
    return first;
}

/* Take the halted input of every CTI in use off whose core is halted: one level holds the channel of all. */
static enum corral_err disarm_halted(struct group *g, bool levels_only, struct diag *d)
{
    for (size_t i = 0; i < g->count; i++) {
        struct cti *cti = group_cti(g, i);
        if (!cti || !(cti_engaged(cti) & CTI_HALTED) || (levels_only && !g->seats[i].level) ||
            !group_is_halted(g, i))
            continue;
        enum corral_err err = cti_arm(cti, false, d);
        if (err)
            return err;
    }
    return CORRAL_OK;
}

/* It was a level that held the channel. Whose? Where none shows on the status register it may be any. */
static enum corral_err learn_levels(struct group *g, struct diag *d)
{
    bool high[EVENT_MAX_CORES] = {false}, any = false;
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < g->count && !err; i++)
        if (group_cti(g, i)) {
            err = cti_halted_is_high(group_cti(g, i), &high[i], d);
            any |= high[i];
        }
    for (size_t i = 0; i < g->count && !err; i++) {
        struct cti *cti = group_cti(g, i);
        if (!cti || (cti_engaged(cti) & CTI_HALTED))
            continue;
        if (!any || high[i])
            g->seats[i].level = true;
        else if (!g->seats[i].isolated)
            err = cti_arm(cti, true, d);
    }
    return err;
}

/* The last resort: the output itself. What then drops is a core that can only be halted by itself. */
static enum corral_err disconnect_stuck(struct group *g, group_mask stuck, struct diag *d)
{
    for (size_t i = 0; i < g->count; i++) {
        if (!(stuck & group_bit(i)))
            continue;
        struct cti *cti = group_cti(g, i);
        enum corral_err err = cti_engage(cti, cti_engaged(cti) & ~(unsigned)CTI_REQUEST, d);
        if (!err)
            err = cti_acknowledge(cti, d);
        if (err == CORRAL_ERR_CTI_STUCK)
            cti_engage(cti, cti_engaged(cti) | CTI_REQUEST, NULL);
        if (err) {
            if (d && err == CORRAL_ERR_CTI_STUCK)
                diag_object(d, "%s", core_name(g->cores[i]));
            return err;
        }
        g->seats[i].why = GROUP_WHY_UNUSABLE;
        group_remark(g, i,
                     "the debug request of %s could not be acknowledged while its channel was connected: "
                     "something else holds the channel, so it is halted by software from now on",
                     core_name(g->cores[i]));
    }
    return CORRAL_OK;
}

static enum corral_err acknowledge(struct group *g, group_mask mask, bool always, struct diag *d)
{
    group_mask stuck = 0;
    bool any = false;
    for (size_t i = 0; i < g->count; i++)
        any |= belongs(g, mask, i);
    if (!any)
        return CORRAL_OK;
    enum corral_err err = disarm_halted(g, true, d);
    if (!err)
        err = round_of(g, mask, always, &stuck, d);
    if (err || !stuck)
        return err;
    err = disarm_halted(g, false, d);
    if (!err)
        err = round_of(g, stuck, false, &stuck, d);
    if (!err && !stuck)
        return learn_levels(g, d);
    if (!err)
        err = disconnect_stuck(g, stuck, d);
    return err;
}

enum corral_err group_acknowledge(struct group *g, group_mask mask, struct diag *d)
{
    return acknowledge(g, mask, false, d);
}

enum corral_err group_acknowledge_halt(struct group *g, group_mask mask, struct diag *d)
{
    return acknowledge(g, mask, true, d);
}

enum corral_err group_acknowledge_late(struct group *g, group_mask mask, struct diag *d)
{
    group_mask late = 0;
    for (size_t i = 0; i < g->count; i++) {
        bool asserted = false;
        if (!belongs(g, mask, i))
            continue;
        enum corral_err err = cti_request_asserted(group_cti(g, i), &asserted, d);
        if (err)
            return err;
        if (asserted)
            late |= group_bit(i);
    }
    return late ? group_acknowledge(g, late, d) : CORRAL_OK;
}
