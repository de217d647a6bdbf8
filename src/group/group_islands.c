/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which members share channels. Cross-trigger sheet 11.3 (test pulse), 1.4 rules 7 and 11, case A28.
 *
 * While cores run a pulse would halt them, so a level on a channel that leads nowhere is looked for on the
 * others' status; a part may not show it there. Once all have halted a test pulse proves it.
 */
#include <stdio.h>

#include "group/group_internal.h"

/* A channel needs microseconds; a link that is faster than that gets this long. */
#define ARRIVAL_NS    NS_PER_MS
#define ARRIVAL_LOOKS 3

static bool takes_part(const struct group *g, size_t i)
{
    return group_cti(g, i) && !g->seats[i].isolated;
}

static void forget(struct group *g)
{
    for (size_t i = 0; i < g->count; i++)
        if (takes_part(g, i))
            g->seats[i].island = -1;
}

/* A number that no member has. */
static int fresh_island(const struct group *g)
{
    int n = 0;
    for (size_t i = 0; i < g->count; i++)
        if (g->seats[i].in_use && g->seats[i].island >= n)
            n = g->seats[i].island + 1;
    return n;
}

/* Put every member that `arrived` says yes for on island `n`; polls until all have or the time is up. */
static enum corral_err
gather(struct group *g, int n,
       enum corral_err (*arrived)(struct group *g, size_t i, bool *yes, struct diag *d), struct diag *d)
{
    struct deadline limit = deadline_in(link_clock(core_link(g->cores[0])), ARRIVAL_NS);
    for (unsigned look = 0;; look++) {
        bool missing = false;
        for (size_t i = 0; i < g->count; i++) {
            bool yes = false;
            if (!takes_part(g, i) || g->seats[i].island >= 0)
                continue;
            enum corral_err err = arrived(g, i, &yes, d);
            if (err)
                return err;
            if (yes)
                g->seats[i].island = n;
            missing |= !yes;
        }
        if (!missing || (look >= ARRIVAL_LOOKS && deadline_passed(&limit)))
            return CORRAL_OK;
    }
}

static unsigned test_channel(const struct group *g)
{
    return g->restart_channel != CTI_NO_CHANNEL ? g->restart_channel : g->halt_channel;
}

static enum corral_err sees_level(struct group *g, size_t i, bool *yes, struct diag *d)
{
    uint32_t mask = 0;
    enum corral_err err = cti_channels_seen(group_cti(g, i), &mask, d);
    *yes = (mask & 1u << test_channel(g)) != 0;
    return err;
}

/* Not one may see the channel before it is held: then it says nothing. */
static enum corral_err is_quiet(struct group *g, bool *quiet, struct diag *d)
{
    struct deadline limit = deadline_in(link_clock(core_link(g->cores[0])), ARRIVAL_NS);
    for (unsigned look = 0;; look++) {
        *quiet = true;
        for (size_t i = 0; i < g->count; i++) {
            bool yes = false;
            if (!takes_part(g, i))
                continue;
            enum corral_err err = sees_level(g, i, &yes, d);
            if (err)
                return err;
            *quiet &= !yes;
        }
        if (*quiet || (look >= ARRIVAL_LOOKS && deadline_passed(&limit)))
            return CORRAL_OK;
    }
}

enum corral_err group_see_islands(struct group *g, struct diag *d)
{
    forget(g);
    g->islands_proven = false;
    for (size_t i = 0; i < g->count; i++) {
        bool quiet = false;
        if (!takes_part(g, i) || g->seats[i].island >= 0)
            continue;
        int n = fresh_island(g);
        enum corral_err err = is_quiet(g, &quiet, d);
        g->seats[i].island = n;
        if (err)
            return err;
        if (!quiet || test_channel(g) >= cti_get_info(group_cti(g, i))->channels)
            continue;
        err = cti_hold(group_cti(g, i), test_channel(g), true, d);
        if (!err)
            err = gather(g, n, sees_level, d);
        enum corral_err after = cti_hold(group_cti(g, i), test_channel(g), false, err ? NULL : d);
        if (err || after)
            return err ? err : after;
    }
    return CORRAL_OK;
}

static enum corral_err has_request(struct group *g, size_t i, bool *yes, struct diag *d)
{
    return cti_request_asserted(group_cti(g, i), yes, d);
}

static group_mask all_in_use(const struct group *g)
{
    group_mask mask = 0;
    for (size_t i = 0; i < g->count; i++)
        if (takes_part(g, i))
            mask |= group_bit(i);
    return mask;
}

enum corral_err group_prove_islands(struct group *g, struct diag *d)
{
    group_mask mask = all_in_use(g);
    if (!mask)
        return CORRAL_OK;
    forget(g);
    for (size_t i = 0; i < g->count; i++) {
        if (!takes_part(g, i) || g->seats[i].island >= 0)
            continue;
        int n = fresh_island(g);
        enum corral_err err = cti_pulse(group_cti(g, i), g->halt_channel, d);
        if (!err)
            err = gather(g, n, has_request, d);
        if (!err)
            err = group_acknowledge(g, mask, d);
        if (err)
            return err;
        if (g->seats[i].island != n && g->seats[i].why == GROUP_WHY_NONE) {
            g->seats[i].why = GROUP_WHY_UNUSABLE;
            snprintf(g->seats[i].detail, sizeof(g->seats[i].detail),
                     "a pulse on its own channel does not reach its debug request");
        }
        g->seats[i].island = n;
    }
    g->islands_proven = true;
    group_drop_lonely(g);
    return CORRAL_OK;
}
