/* SPDX-License-Identifier: Apache-2.0 */
/* Run control of a session, on the link's thread: halt, run, step, reset, status, cross triggers, leaving the
 * target, variables. What is done to cores is the group's. */
#include "session/run_control.h"

#include <string.h>

#include "session/session_internal.h"

struct run_control {
    struct session *s;
    size_t leader; /* or the one core that is meant */
    struct event *event;
    unsigned count;
    const struct group_reset *reset;
    bool leave_halted;
    link_call_fn look; /* at what is left, before the pack's sequences take power and port */
    void *look_ctx;
    size_t repaired;
    struct core_status status;
    struct group_member member;
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
    return session_call(s, do_halt, &(struct run_control){.s = s, .leader = leader, .event = event}, d);
}

enum corral_err session_run(struct session *s, size_t leader, struct event *event, struct diag *d)
{
    return session_call(s, do_run, &(struct run_control){.s = s, .leader = leader, .event = event}, d);
}

enum corral_err session_status(struct session *s, struct event *event, struct diag *d)
{
    return session_call(s, do_status, &(struct run_control){.s = s, .event = event}, d);
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

/* The channels that corral.yml names, else any two that are free. */
static enum corral_err choose_channels(struct session *s, struct diag *d)
{
    const struct config *c = s->options.config;
    if (!c || (c->halt_channel < 0 && c->restart_channel < 0))
        return CORRAL_OK;
    return group_set_channels(s->group, c->halt_channel < 0 ? GROUP_ANY_CHANNEL : c->halt_channel,
                              c->restart_channel < 0 ? GROUP_ANY_CHANNEL : c->restart_channel, d);
}

static enum corral_err do_sync_on(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    (void)link;
    enum corral_err err = group_sync_enabled(s->group) ? CORRAL_OK : choose_channels(s, d);
    return err ? err : group_enable_sync(s->group, d);
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

struct remarks {
    struct session *s;
    struct group_remark *out;
    size_t most, count;
};

static enum corral_err do_take_remarks(struct link *link, void *ctx, struct diag *d)
{
    struct remarks *r = ctx;
    const struct group_remark *list = NULL;
    (void)link;
    (void)d;
    size_t count = group_remarks(r->s->group, &list);
    r->count = count < r->most ? count : r->most;
    if (r->count)
        memcpy(r->out, list, r->count * sizeof(*list));
    group_forget_remarks(r->s->group);
    return CORRAL_OK;
}

size_t session_take_remarks(struct session *s, struct group_remark *out, size_t most)
{
    struct remarks r = {.s = s, .out = out, .most = most};
    if (s->group)
        link_thread_call(s->thread, LINK_PRIO_HALT, do_take_remarks, &r, NULL);
    return r.count;
}

static enum corral_err do_repair(struct link *link, void *ctx, struct diag *d)
{
    struct run_control *r = ctx;
    (void)link;
    return group_repair(r->s->group, &r->repaired, d);
}

enum corral_err session_repair(struct session *s, size_t *repaired, struct diag *d)
{
    struct run_control r = {.s = s};
    enum corral_err err = session_call(s, do_repair, &r, d);
    if (repaired)
        *repaired = r.repaired;
    return err;
}

static enum corral_err do_step(struct link *link, void *ctx, struct diag *d)
{
    struct run_control *r = ctx;
    (void)link;
    return group_step(r->s->group, r->leader, r->count, r->event, d);
}

enum corral_err session_step(struct session *s, size_t core, unsigned count, struct event *event,
                             struct diag *d)
{
    return session_call(s, do_step,
                        &(struct run_control){.s = s, .leader = core, .count = count, .event = event}, d);
}

static enum corral_err do_reset(struct link *link, void *ctx, struct diag *d)
{
    struct run_control *r = ctx;
    (void)link;
    struct group_reset reset = *r->reset;
    reset.by = session_pack_reset_by(r->s);
    enum corral_err err = group_reset(r->s->group, &reset, r->event, d);
    session_clocks_cut(r->s, r->reset->halt);
    return err;
}

enum corral_err session_reset(struct session *s, const struct group_reset *reset, struct event *event,
                              struct diag *d)
{
    return session_call(s, do_reset, &(struct run_control){.s = s, .reset = reset, .event = event}, d);
}

static enum corral_err do_core_status(struct link *link, void *ctx, struct diag *d)
{
    struct run_control *r = ctx;
    (void)link;
    return core_peek_status(r->s->cores[r->leader], &r->status, d);
}

enum corral_err session_core_status(struct session *s, size_t core, struct core_status *status,
                                    struct diag *d)
{
    struct run_control r = {.s = s, .leader = core};
    enum corral_err err = session_call(s, do_core_status, &r, d);
    *status = r.status;
    return err;
}

static enum corral_err do_member(struct link *link, void *ctx, struct diag *d)
{
    struct run_control *r = ctx;
    (void)link;
    const struct group_member *m = group_get_member(r->s->group, r->leader);
    if (!m)
        return diag_set(d, CORRAL_ERR_NO_CORE, "there is no core number %zu", r->leader);
    r->member = *m;
    return CORRAL_OK;
}

enum corral_err session_member(struct session *s, size_t core, struct group_member *member, struct diag *d)
{
    struct run_control r = {.s = s, .leader = core};
    enum corral_err err = session_call(s, do_member, &r, d);
    *member = r.member;
    return err;
}

static enum corral_err do_detach(struct link *link, void *ctx, struct diag *d)
{
    struct run_control *r = ctx;
    struct diag why = DIAG_INIT;
    enum corral_err err = group_detach(r->s->group, r->leave_halted, d);
    if (r->look)
        r->look(link, r->look_ctx, NULL);
    diag_keep_first(&err, d, session_pack_leave(r->s, link, r->leave_halted, &why), &why);
    return err;
}

enum corral_err session_detach(struct session *s, bool leave_halted, struct diag *d)
{
    return session_detach_and_look(s, leave_halted, NULL, NULL, d);
}

enum corral_err session_detach_and_look(struct session *s, bool leave_halted, link_call_fn look, void *ctx,
                                        struct diag *d)
{
    if (!s->group || s->detached)
        return CORRAL_OK;
    session_stop_logs(s, NULL); /* what still reads or waits must not find a target that was left */
    session_pcsr_close(s, NULL);
    s->detached = true;
    struct run_control r = {.s = s, .leave_halted = leave_halted, .look = look, .look_ctx = ctx};
    enum corral_err err = link_thread_call(s->thread, LINK_PRIO_HALT, do_detach, &r, d);
    session_pack_tell(s);
    return err;
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
