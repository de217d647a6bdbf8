/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync-check: what is there, what was proven, what was measured, and what of it holds for a user
 * (sync_check.h). The proofs are the group's (group_check); here everything is put together, and looked at
 * once more afterwards: what was changed is to be as it was found.
 */
#include "session/sync_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/session_internal.h"
#include "session/sync_check_rounds.h"
#include "session/sync_check_verdicts.h"

#define DEMCR 0xE000EDFCu

/* What of one core has to be the same before and after. */
struct snapshot {
    enum core_state state;
    bool demcr_known, cti_known;
    uint32_t demcr;
    struct cti_registers cti;
};

struct check_call {
    struct session *s;
    struct session_sync_check *out;
    struct group_check *check;
    struct snapshot *list; /* one a core */
    bool taken;
};

/* Of a core that cannot be asked less is known, the same before and after. */
static enum corral_err take_snapshot(struct link *link, void *ctx, struct diag *d)
{
    struct check_call *c = ctx;
    (void)d;
    for (size_t i = 0; i < c->s->core_count; i++) {
        struct core *core = c->s->cores[i];
        struct snapshot *k = &c->list[i];
        struct core_status status = {0};
        *k = (struct snapshot){.state = CORE_UNKNOWN};
        if (core_peek_status(core, &status, NULL) == CORRAL_OK)
            k->state = status.state;
        k->demcr_known = strcmp(core_type(core), "cortex-m") == 0 &&
                         link_read32(link, core_ap(core), DEMCR, &k->demcr, NULL) == CORRAL_OK;
        k->cti_known = core_cti(core) && cti_show(core_cti(core), &k->cti, NULL) == CORRAL_OK;
    }
    c->taken = true;
    return CORRAL_OK;
}

/* The name of the first register that differs, or NULL. Statuses come and go by themselves. */
static const char *cti_difference(const struct cti_registers *a, const struct cti_registers *b)
{
    if (a->control != b->control)
        return "CTICONTROL";
    if (a->appset != b->appset)
        return "CTIAPPSET";
    if (memcmp(a->inen, b->inen, sizeof(a->inen)) != 0)
        return "a CTIINEN";
    if (memcmp(a->outen, b->outen, sizeof(a->outen)) != 0)
        return "a CTIOUTEN";
    if (a->gate != b->gate)
        return "CTIGATE";
    if (a->asicctl != b->asicctl)
        return "ASICCTL";
    if (a->claim != b->claim)
        return "the claim tags";
    if (a->trigout_status != b->trigout_status)
        return "CTITRIGOUTSTATUS";
    return a->lock_status != b->lock_status ? "the lock" : NULL;
}

static void compare(const struct session *s, const struct snapshot *before, const struct snapshot *after,
                    struct session_sync_check *out)
{
    out->left_as_found = true;
    for (size_t i = 0; i < s->core_count; i++) {
        const struct snapshot *b = &before[i], *a = &after[i];
        const char *name = NULL;
        if (b->cti_known && a->cti_known)
            name = cti_difference(&b->cti, &a->cti);
        if (b->demcr_known && a->demcr_known && b->demcr != a->demcr)
            name = "DEMCR";
        if (b->state != a->state)
            name = "its state";
        if (b->cti_known && !a->cti_known)
            name = "its CTI, which does not answer any more,";
        if (!name)
            continue;
        out->left_as_found = false;
        snprintf(out->difference, sizeof(out->difference), "%s: %s is not as it was found",
                 core_name(s->cores[i]), name);
        return;
    }
}

static enum corral_err do_check(struct link *link, void *ctx, struct diag *d)
{
    struct check_call *c = ctx;
    (void)link;
    return group_check(c->s->group, c->check, d);
}

static void take_core(struct session *s, size_t i, const struct group_check *check,
                      struct session_sync_check *out)
{
    struct sync_check_core *c = &out->cores[i];
    struct core *core = s->cores[i];
    const struct cs_core *found = s->topology ? &s->topology->cores[s->found[i]] : NULL;
    struct core_status status = {0};
    *c = (struct sync_check_core){.name = core_name(core),
                                  .ap = core_ap(core),
                                  .member = check->members[i],
                                  .restart_output = check->members[i].with_sync.restart_output,
                                  .hz = core_hz(core)};
    c->type = found && found->type ? found->type : core_type(core);
    if (found) {
        c->cti_from = found->cti_from;
        c->restart_from = found->restart_from;
        snprintf(c->why_no_cti, sizeof(c->why_no_cti), "%s", found->why_no_cti);
    }
    if (session_core_status(s, i, &status, NULL) == CORRAL_OK)
        snprintf(c->state_why, sizeof(c->state_why), "%s", core_why_text(status.why));
}

static void take_ports(const struct session *s, struct session_sync_check *out)
{
    uint32_t ap;
    const char *why;
    while (out->port_count < SYNC_CHECK_PORTS && session_silent_port(s, out->port_count, &ap, &why)) {
        out->ports[out->port_count].ap = ap;
        snprintf(out->ports[out->port_count].error, sizeof(out->ports[0].error), "%s", why);
        out->port_count++;
    }
}

static enum corral_err check_all(struct session *s, unsigned rounds, const atomic_bool *stop,
                                 struct group_check *check, struct session_sync_check *out, struct diag *d)
{
    struct check_call call = {.s = s, .check = check};
    enum corral_err err = session_call(s, do_check, &call, d);
    if (err)
        return err;
    out->core_count = check->count < s->core_count ? check->count : s->core_count;
    out->islands = check->islands;
    out->halt_channel = check->halt_channel;
    out->restart_channel = check->restart_channel;
    for (size_t i = 0; i < out->core_count; i++)
        take_core(s, i, check, out);
    take_ports(s, out);
    if (stop && atomic_load(stop))
        return diag_set(d, CORRAL_ERR_INTERRUPTED, "interrupted");
    err = sync_check_ratios(s, out, d);
    if (!err)
        err = sync_check_rounds(s, rounds, stop, out, d);
    if (!err)
        sync_check_judge(out);
    return err;
}

enum corral_err session_sync_check(struct session *s, unsigned rounds, const atomic_bool *stop,
                                   struct session_sync_check *out, struct diag *d)
{
    struct snapshot *before = calloc(2 * EVENT_MAX_CORES, sizeof(*before));
    struct group_check *check = calloc(1, sizeof(*check));
    struct check_call look = {.s = s, .list = before};
    struct diag late = DIAG_INIT;
    enum corral_err err = CORRAL_OK;
    *out = (struct session_sync_check){.halt_channel = -1, .restart_channel = -1};
    if (!before || !check) {
        free(before);
        free(check);
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    }
    if (rounds > SYNC_CHECK_ROUNDS_MOST)
        err = diag_set(d, CORRAL_ERR_USAGE, "at most %d rounds", SYNC_CHECK_ROUNDS_MOST);
    if (!err)
        err = session_call(s, take_snapshot, &look, d);
    if (!err)
        err = check_all(s, rounds, stop, check, out, d);
    look.list = before + EVENT_MAX_CORES;
    look.taken = false;
    bool gone = corral_err_exit_code(err) == 3;
    enum corral_err leaving =
        session_detach_and_look(s, false, gone ? NULL : take_snapshot, gone ? NULL : &look, &late);
    if (look.taken)
        compare(s, before, look.list, out);
    /* What was found out is shown all the same, and beside it what could not be put back. */
    if (!err && leaving && !out->left_as_found && corral_err_exit_code(leaving) != 3) {
        size_t used = strlen(out->difference);
        snprintf(out->difference + used, sizeof(out->difference) - used, " (%s)", late.message);
        leaving = CORRAL_OK;
    }
    if (!err && leaving) {
        if (d)
            *d = late;
        err = leaving;
    }
    free(before);
    free(check);
    return err;
}
