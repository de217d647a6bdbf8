/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coming and going: what another tool left, leaving the target as it was found, and a link that came back.
 * Cross-trigger sheet 1.7 "teardown"; cases A24, A25, A29.
 */
#include "group/group_internal.h"

enum corral_err group_detach(struct group *g, bool leave_halted, struct diag *d)
{
    enum corral_err first = CORRAL_OK;
    struct diag words = DIAG_INIT;
    /* A24: every CTI first. A request that is still asserted would stop, or divert, a core that is let go. */
    diag_keep_first(&first, d, group_disable_sync(g, &words), &words);
    for (size_t i = 0; i < g->count && !group_is_fatal(first); i++) {
        struct core_status status;
        words = (struct diag)DIAG_INIT;
        enum corral_err err = core_detach(g->cores[i], leave_halted, &words);
        bool gone = err == CORRAL_ERR_LINK_FAULT || err == CORRAL_ERR_LINK_WAIT;
        if (gone && !core_read_status(g->cores[i], false, &status, NULL) &&
            (status.state == CORE_UNPOWERED || status.state == CORE_UNKNOWN)) {
            group_remark(g, i, "%s could not be left as it was found: %s", core_name(g->cores[i]),
                         words.message);
            continue;
        }
        diag_keep_first(&first, d, err, &words);
    }
    return first;
}

static void name_leftovers(struct group *g, size_t i, const struct cti_leftovers *l)
{
    const char *name = core_name(g->cores[i]);
    if (l->request)
        group_remark(g, i, "%s had a debug request asserted that nobody had acknowledged: acknowledged",
                     name);
    if (l->held)
        group_remark(g, i, "%s had channels held (mask 0x%x) that halt or start it: let go", name,
                     (unsigned)l->held);
    if (l->halt_channels || l->restart_channels)
        group_remark(
            g, i,
            "%s was still connected for cross triggers (halt mask 0x%x, restart mask 0x%x) by a tool "
            "that ended without detaching: disconnected",
            name, (unsigned)l->halt_channels, (unsigned)l->restart_channels);
    if (l->claimed && !l->halt_channels && !l->restart_channels)
        group_remark(g, i, "the CTI of %s was still claimed by a tool that ended without detaching: released",
                     name);
    if (group_is_halted(g, i))
        group_remark(g, i, "%s is halted since then: `corral run` starts it", name);
}

enum corral_err group_repair(struct group *g, size_t *repaired, struct diag *d)
{
    struct cti_leftovers left[EVENT_MAX_CORES];
    enum corral_err last = CORRAL_OK;
    bool again[EVENT_MAX_CORES] = {false}, any = false;
    size_t count = 0;
    if (repaired)
        *repaired = 0;
    for (size_t i = 0; i < g->count; i++) {
        struct cti *cti = core_cti(g->cores[i]);
        struct diag words = DIAG_INIT;
        left[i] = (struct cti_leftovers){false};
        enum corral_err err = cti && !group_cti(g, i) ? cti_find_leftovers(cti, &left[i], &words) : CORRAL_OK;
        if (group_is_fatal(err)) {
            if (d)
                *d = words;
            return err;
        }
        if (err) /* it cannot be reached: then nothing can be said of it, or done */
            left[i] = (struct cti_leftovers){false};
        /* What stands here is of now, and a core that has halted since has latched the others: not left over,
         * and put right with the first start. */
        if (g->sequences && g->sequences->already_run && group_has_sequences(g, i))
            left[i] = (struct cti_leftovers){false};
        again[i] = cti_has_leftovers(&left[i]);
        any |= again[i];
        count += again[i];
        if (again[i])
            name_leftovers(g, i, &left[i]);
    }
    /* Twice: a level of one holds the channel of another until its connections are gone too. */
    for (unsigned pass = 0; pass < 2 && any; pass++) {
        any = false;
        last = CORRAL_OK;
        for (size_t i = 0; i < g->count; i++) {
            struct diag words = DIAG_INIT;
            if (!again[i])
                continue;
            enum corral_err err = cti_clear_leftovers(core_cti(g->cores[i]), &left[i], &words);
            again[i] = err != CORRAL_OK;
            any |= again[i];
            diag_keep_first(&last, d, err, &words);
            if (group_is_fatal(err))
                return err;
        }
    }
    if (repaired)
        *repaired = count;
    return last;
}

enum corral_err group_refresh(struct group *g, struct diag *d)
{
    g->islands_proven = false;
    link_forget(core_link(g->cores[0]));
    for (size_t i = 0; i < g->count; i++) {
        struct group_seat *s = &g->seats[i];
        struct core_status status;
        struct cti *cti = group_cti(g, i);
        s->running = false;
        enum corral_err err = core_read_status(g->cores[i], false, &status, d);
        if (group_is_fatal(err))
            return err;
        if (!err && !cti && core_cti(g->cores[i])) /* what could not be put back when the link went */
            err = cti_teardown(core_cti(g->cores[i]), d);
        if (group_is_fatal(err))
            return err;
        if (err || !cti)
            continue;
        s->resets = status.resets;
        bool halted = status.state == CORE_HALTED;
        s->running = status.state == CORE_RUNNING;
        /* The last write may have been made or not: read back, and made again where it was not. */
        bool intact = false;
        err = cti_engage(cti, group_connections(g, i, halted), d);
        if (!err)
            err = cti_verify(cti, &intact, d);
        if (!err && !intact)
            err = group_set_again(g, i, d);
        if (group_is_fatal(err))
            return err;
    }
    return CORRAL_OK;
}
