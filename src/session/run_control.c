/* SPDX-License-Identifier: Apache-2.0 */
/* Run control of a session, on the link's thread: halt, run, status, cross triggers, variables. */
#include "session/session_internal.h"

struct run_control {
    struct session *s;
    size_t leader;
    struct event *event;
};

static enum corral_err do_halt(struct link *link, void *ctx, struct diag *d)
{
    struct run_control *r = ctx;
    (void)link;
    enum corral_err err = group_halt(r->s->group, r->leader, r->event, d);
    if (err == CORRAL_OK)
        session_clocks_cut(r->s, true);
    return err;
}

static enum corral_err do_run(struct link *link, void *ctx, struct diag *d)
{
    struct run_control *r = ctx;
    (void)link;
    enum corral_err err = group_run(r->s->group, r->leader, r->event, d);
    if (err == CORRAL_OK)
        session_clocks_cut(r->s, false);
    return err;
}

static enum corral_err do_status(struct link *link, void *ctx, struct diag *d)
{
    struct run_control *r = ctx;
    (void)link;
    return group_status(r->s->group, r->event, d);
}

enum corral_err session_halt(struct session *s, size_t leader, struct event *event, struct diag *d)
{
    return session_call(s, do_halt, &(struct run_control){s, leader, event}, d);
}

enum corral_err session_run(struct session *s, size_t leader, struct event *event, struct diag *d)
{
    return session_call(s, do_run, &(struct run_control){s, leader, event}, d);
}

enum corral_err session_status(struct session *s, struct event *event, struct diag *d)
{
    return session_call(s, do_status, &(struct run_control){s, 0, event}, d);
}

enum corral_err session_announce(struct session *s, struct diag *d)
{
    struct event event;
    enum corral_err err = session_status(s, &event, d);
    if (err != CORRAL_OK)
        return err;
    event.kind = EVENT_RUN;
    for (size_t i = 0; i < event.halt.core_count; i++)
        if (event.halt.cores[i].state != CORE_RUNNING)
            event.kind = EVENT_HALT;
    event_bus_publish(s->bus, &event);
    return CORRAL_OK;
}

static enum corral_err do_sync_on(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    (void)link;
    return group_enable_sync(s->group, d);
}

static enum corral_err do_sync_off(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    (void)link;
    return group_disable_sync(s->group, d);
}

enum corral_err session_set_sync(struct session *s, bool on, struct diag *d)
{
    return session_call(s, on ? do_sync_on : do_sync_off, s, d);
}

struct variable {
    struct session *s;
    size_t core;
    uint64_t address;
    uint32_t *value;
};

static enum corral_err do_read_variable(struct link *link, void *ctx, struct diag *d)
{
    struct variable *v = ctx;
    return link_read32(link, core_ap(v->s->cores[v->core]), v->address, v->value, d);
}

enum corral_err session_read_variable(struct session *s, size_t core, const char *name, uint32_t *value,
                                      struct diag *d)
{
    struct variable v = {.s = s, .core = core, .value = value};
    if (core >= s->core_count)
        return diag_set(d, CORRAL_ERR_NO_CORE, "there is no core number %zu", core);
    if (!s->symbols[core] || !symbol_lookup(s->symbols[core], name, &v.address, NULL))
        return diag_set(d, CORRAL_ERR_NO_SYMBOL, "the program of %s has no variable '%s'",
                        core_name(s->cores[core]), name);
    return session_call(s, do_read_variable, &v, d);
}
