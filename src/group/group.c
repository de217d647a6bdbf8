/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of cores as one object: members, remarks, events. Cross-trigger sheet 3.4. How the cores are reached
 * is in group_halt.c, group_run.c and group_sync.c. Never touches a wire.
 */
#include "group/group.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/group_internal.h"

struct group *group_new(struct core *const *cores, size_t count, struct event_bus *bus, const char *stream)
{
    if (count == 0 || count > EVENT_MAX_CORES)
        return NULL;
    struct group *g = calloc(1, sizeof(*g));
    if (!g)
        return NULL;
    memcpy(g->cores, cores, count * sizeof(*cores));
    g->count = count;
    g->bus = bus;
    g->asked_halt = g->asked_restart = GROUP_ANY_CHANNEL;
    g->restart_channel = CTI_NO_CHANNEL;
    for (size_t i = 0; i < count; i++) {
        g->seats[i].island = -1;
        g->seats[i].why = GROUP_WHY_OFF;
    }
    snprintf(g->stream, sizeof(g->stream), "%s", stream);
    return g;
}

void group_free(struct group *g)
{
    free(g);
}

size_t group_count(const struct group *g)
{
    return g->count;
}

group_mask group_bit(size_t i)
{
    return (group_mask)1 << i;
}

size_t group_order(size_t leader, size_t i)
{
    if (i == 0)
        return leader;
    return i <= leader ? i - 1 : i;
}

bool group_is_fatal(enum corral_err err)
{
    return err == CORRAL_ERR_LINK_DOWN || err == CORRAL_ERR_LINK_PROTOCOL || err == CORRAL_ERR_TIMEOUT ||
           err == CORRAL_ERR_INTERRUPTED || err == CORRAL_ERR_NO_MEMORY;
}

void group_remark(struct group *g, size_t core, const char *fmt, ...)
{
    if (g->remark_count == GROUP_REMARKS_MAX)
        return;
    struct group_remark *r = &g->remarks[g->remark_count];
    r->core = core == GROUP_WHOLE ? NULL : core_name(g->cores[core]);
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->text, sizeof(r->text), fmt, args);
    va_end(args);
    for (size_t i = 0; i < g->remark_count; i++)
        if (strcmp(g->remarks[i].text, r->text) == 0)
            return;
    g->remark_count++;
}

size_t group_remarks(const struct group *g, const struct group_remark **list)
{
    *list = g->remarks;
    return g->remark_count;
}

void group_forget_remarks(struct group *g)
{
    g->remark_count = 0;
}

const char *group_why_text(enum group_why why)
{
    switch (why) {
    case GROUP_WHY_NONE:
        break;
    case GROUP_WHY_OFF:
        return "cross triggers are off";
    case GROUP_WHY_NO_CTI:
        return "it has no CTI that is known to be its own";
    case GROUP_WHY_UNREACHABLE:
        return "its CTI cannot be reached now";
    case GROUP_WHY_NOT_WRITABLE:
        return "its CTI is not writable";
    case GROUP_WHY_UNUSABLE:
        return "its CTI cannot be used";
    case GROUP_WHY_CHANNELS_TAKEN:
        return "no channels are free";
    case GROUP_WHY_OTHER_CTM:
        return "the channels of its CTI reach no other core of the group";
    case GROUP_WHY_NO_RESTART_OUTPUT:
        return "the restart output of its CTI is not known";
    case GROUP_WHY_NO_RESTART_CHANNEL:
        return "there is only one channel";
    case GROUP_WHY_RESTART_IGNORED:
        return "a pulse on its restart output had no effect";
    case GROUP_WHY_DEBUG_DISABLED:
        return "debug is disabled on it";
    case GROUP_WHY_ISOLATED:
        return "it is kept to itself for now";
    case GROUP_WHY_STUB:
        return "its gdb stub halts and starts it together with others";
    case GROUP_WHY_NO_SEQUENCE:
        return "the pack has no debug sequences of run control for it";
    case GROUP_WHY_SET_UP_NOT_HELD:
        return "its CTI is not as its DebugCoreSetup should leave it";
    case GROUP_WHY_OTHER_CHANNELS:
        return "its DebugCoreSetup takes other channels than those of the others";
    case GROUP_WHY_RESTART_NOT_SET_UP:
        return "its DebugCoreSetup connects nothing to the restart output of its CTI";
    }
    return "";
}

struct cti *group_cti(const struct group *g, size_t i)
{
    return g->seats[i].in_use ? core_cti(g->cores[i]) : NULL;
}

bool group_linked(const struct group *g, size_t i)
{
    const struct group_seat *s = &g->seats[i];
    if (!s->in_use || s->isolated || s->island < 0 || s->why != GROUP_WHY_NONE)
        return false;
    for (size_t k = 0; k < g->count; k++) {
        const struct group_seat *other = &g->seats[k];
        if (k != i && other->in_use && !other->isolated && other->island == s->island)
            return true;
    }
    return false;
}

bool group_runs_by_cti(const struct group *g, size_t i)
{
    return group_linked(g, i) && g->seats[i].run_why == GROUP_WHY_NONE;
}

static bool shares_stub(const struct group *g, size_t i)
{
    const void *domain = core_run_domain(g->cores[i]);
    for (size_t k = 0; k < g->count && domain; k++)
        if (k != i && core_run_domain(g->cores[k]) == domain)
            return true;
    return false;
}

bool group_domain_served(const struct group *g, size_t leader, size_t position, group_mask mask)
{
    const void *domain = core_run_domain(g->cores[group_order(leader, position)]);
    for (size_t k = 0; k < position && domain; k++) {
        size_t other = group_order(leader, k);
        if ((mask & group_bit(other)) && core_run_domain(g->cores[other]) == domain)
            return true;
    }
    return false;
}

static enum group_mechanism by_trigger(bool sequence)
{
    return sequence ? GROUP_MECHANISM_SEQUENCE : GROUP_MECHANISM_CTI;
}

const struct group_member *group_get_member(struct group *g, size_t i)
{
    if (i >= g->count)
        return NULL;
    const struct group_seat *s = &g->seats[i];
    struct group_member *m = &g->shown[i];
    bool linked = group_linked(g, i), stub = shares_stub(g, i);
    struct cti *cti = core_cti(g->cores[i]);
    *m = (struct group_member){
        .name = core_name(g->cores[i]),
        .halt = linked ? by_trigger(s->sequenced)
                : stub ? GROUP_MECHANISM_STUB
                       : GROUP_MECHANISM_SOFTWARE,
        .run = stub ? GROUP_MECHANISM_STUB : GROUP_MECHANISM_SOFTWARE,
        .halt_why = s->why,
        .island = s->in_use ? s->island : -1,
        .island_proven = s->in_use && g->islands_proven,
        .level_halted = s->level,
        .restart_output = cti ? cti_get_info(cti)->restart_output : -1,
    };
    if (stub && !linked)
        m->halt_why = GROUP_WHY_STUB;
    else if (s->isolated)
        m->halt_why = GROUP_WHY_ISOLATED;
    else if (s->in_use && !linked && s->why == GROUP_WHY_NONE)
        m->halt_why = GROUP_WHY_OTHER_CTM;
    m->run_why = linked ? s->run_why : m->halt_why;
    if (group_runs_by_cti(g, i))
        m->run = by_trigger(group_starts_by_sequence(g, i));
    memcpy(m->detail, s->detail, sizeof(m->detail));
    return m;
}

bool group_sync_enabled(const struct group *g)
{
    return g->sync;
}

enum group_mechanism group_mechanism(const struct group *g)
{
    bool stub = g->count > 1;
    for (size_t i = 0; i < g->count; i++) {
        if (group_linked(g, i))
            return by_trigger(g->seats[i].sequenced);
        stub &= core_run_domain(g->cores[i]) && core_run_domain(g->cores[i]) == core_run_domain(g->cores[0]);
    }
    return stub ? GROUP_MECHANISM_STUB : GROUP_MECHANISM_SOFTWARE;
}

unsigned group_connections(const struct group *g, size_t i, bool halted)
{
    const struct group_seat *s = &g->seats[i];
    unsigned c = 0;
    if (s->isolated)
        return 0;
    if (s->why == GROUP_WHY_NONE)
        c |= CTI_REQUEST;
    if (s->run_why == GROUP_WHY_NONE)
        c |= CTI_RESTART;
    if (!s->level || !halted)
        c |= CTI_HALTED;
    return c;
}

struct event group_event(struct group *g, enum event_kind kind)
{
    struct event e = event_make(kind, g->stream);
    e.host_ns = host_clock_now(link_clock(core_link(g->cores[0])));
    e.halt.mechanism = group_mechanism(g);
    e.halt.skew_ns = e.halt.skew_error_ns = EVENT_NO_TIME;
    e.halt.core_count = g->count;
    for (size_t i = 0; i < g->count; i++)
        e.halt.cores[i] = (struct event_core){.name = core_name(g->cores[i]), .state = CORE_UNKNOWN};
    return e;
}

void group_finish_event(struct group *g, const struct event *e, struct event *out)
{
    if (out)
        *out = *e;
    if (g->bus)
        event_bus_publish(g->bus, e);
}

/* The first member's failure, for the caller; the others were served all the same. */
enum corral_err group_first_failure(const struct group *g, const struct group_outcome *outcomes,
                                    struct diag *d)
{
    for (unsigned fatal = 2; fatal-- > 0;)
        for (size_t i = 0; i < g->count; i++) {
            const struct group_outcome *o = &outcomes[i];
            if (!o->err || (fatal && !group_is_fatal(o->err)))
                continue;
            if (d)
                *d = o->why;
            return o->err;
        }
    return CORRAL_OK;
}

void group_take_status(struct event_core *c, const struct core_status *s)
{
    c->state = s->state;
    c->reason = s->state == CORE_HALTED ? s->reason : HALT_REASON_NONE;
    c->pc_known = s->state == CORE_HALTED && s->pc_known;
    c->pc = c->pc_known ? s->pc : 0;
}

bool group_own_reason(enum halt_reason reason)
{
    return reason == HALT_REASON_BREAKPOINT || reason == HALT_REASON_WATCHPOINT ||
           reason == HALT_REASON_VECTOR_CATCH || reason == HALT_REASON_FAULT || reason == HALT_REASON_STEP;
}

bool group_is_halted(struct group *g, size_t core)
{
    struct core_status status;
    return !core_read_status(g->cores[core], false, &status, NULL) && status.state == CORE_HALTED;
}

enum corral_err group_check_leader(const struct group *g, group_mask mask, size_t leader, struct diag *d)
{
    if (leader >= g->count)
        return diag_set(d, CORRAL_ERR_NO_CORE, "there is no core number %zu in the group", leader);
    if (!(mask & group_bit(leader)))
        return diag_set(d, CORRAL_ERR_NO_CORE, "%s is not one of the cores that were asked for",
                        core_name(g->cores[leader]));
    return CORRAL_OK;
}

enum corral_err group_status(struct group *g, struct event *event, struct diag *d)
{
    struct event e = group_event(g, EVENT_HALT);
    struct group_outcome outcomes[EVENT_MAX_CORES] = {0};
    e.halt.mechanism = GROUP_MECHANISM_NONE;
    for (size_t i = 0; i < g->count; i++) {
        struct core_status status;
        outcomes[i].err = core_peek_status(g->cores[i], &status, &outcomes[i].why);
        group_take_status(&e.halt.cores[i], &status);
        e.halt.cores[i].first =
            status.state == CORE_HALTED && group_own_reason(status.reason) && !status.false_halt;
        if (status.state == CORE_RUNNING)
            g->seats[i].running = true;
        /* A core that cannot be read is "unknown"; a link that is gone is an error. */
        if (!group_is_fatal(outcomes[i].err))
            outcomes[i].err = CORRAL_OK;
    }
    if (event)
        *event = e;
    return group_first_failure(g, outcomes, d);
}
