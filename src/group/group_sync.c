/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turning cross triggers on and off for a group: free channels, every CTI set up or none. Cross-trigger sheet
 * 1.7; cases A1, A18, A24, A30, D26.
 */
#include <stdio.h>

#include "group/group_internal.h"

/* Two channels that nobody routes, the same on every CTI. */
static enum corral_err choose_channels(struct group *g, struct diag *d)
{
    uint32_t used = 0;
    unsigned least = 32, found = 0;
    for (size_t i = 0; i < g->count; i++) {
        struct cti *cti = core_cti(g->cores[i]);
        uint32_t mask = 0;
        enum corral_err err = cti_used_channels(cti, &mask, d);
        if (err)
            return err;
        used |= mask;
        if (cti_get_info(cti)->channels < least)
            least = cti_get_info(cti)->channels;
    }
    for (unsigned n = 0; n < least && found < 2; n++) {
        if (used & 1u << n)
            continue;
        *(found == 0 ? &g->halt_channel : &g->restart_channel) = n;
        found++;
    }
    if (found < 2)
        return diag_set(d, CORRAL_ERR_NO_CROSS_TRIGGER,
                        "there are no two free channels (%u channels, used mask 0x%x)", least,
                        (unsigned)used);
    return CORRAL_OK;
}

static enum corral_err refuse(struct diag *d, const char *name, const struct diag *why)
{
    struct diag copy = *why;
    if (name)
        diag_set(d, CORRAL_ERR_NO_CROSS_TRIGGER, "%s cannot be cross-triggered: %s", name, copy.message);
    else
        diag_set(d, CORRAL_ERR_NO_CROSS_TRIGGER, "the cores cannot be cross-triggered: %s", copy.message);
    if (copy.hint[0])
        diag_hint(d, "%s", copy.hint);
    return CORRAL_ERR_NO_CROSS_TRIGGER;
}

enum corral_err group_enable_sync(struct group *g, struct diag *d)
{
    struct diag why = DIAG_INIT;
    if (g->strategy == &group_strategy_cti)
        return CORRAL_OK;
    if (g->count < 2)
        return diag_set(d, CORRAL_ERR_NO_CROSS_TRIGGER, "there is only one core: nothing to cross-trigger");
    for (size_t i = 0; i < g->count; i++)
        if (!core_cti(g->cores[i]))
            return diag_set(d, CORRAL_ERR_NO_CROSS_TRIGGER, "%s has no CTI that is known to be its own",
                            core_name(g->cores[i]));
    if (choose_channels(g, &why))
        return refuse(d, NULL, &why);
    for (size_t i = 0; i < g->count; i++) {
        if (!cti_setup(core_cti(g->cores[i]), g->halt_channel, g->restart_channel, &why))
            continue;
        for (size_t k = 0; k < i; k++)
            cti_teardown(core_cti(g->cores[k]), NULL);
        return refuse(d, core_name(g->cores[i]), &why);
    }
    g->strategy = &group_strategy_cti;
    g->disarmed = false;
    return CORRAL_OK;
}

enum corral_err group_disable_sync(struct group *g, struct diag *d)
{
    enum corral_err first = CORRAL_OK;
    if (g->strategy != &group_strategy_cti)
        return CORRAL_OK;
    g->strategy = &group_strategy_software;
    for (size_t i = 0; i < g->count; i++) {
        struct diag why = DIAG_INIT;
        enum corral_err err = cti_teardown(core_cti(g->cores[i]), &why);
        if (err && !first) {
            first = err;
            if (d)
                *d = why;
        }
    }
    return first;
}
