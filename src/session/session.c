/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a session, letting time pass, and run control (session.h). */
#include "session/session_internal.h"

#include <stdlib.h>
#include <string.h>

enum corral_err session_call(struct session *s, link_call_fn fn, void *ctx, struct diag *d)
{
    return link_thread_call(s->thread, LINK_PRIO_HALT, fn, ctx, d);
}

static enum corral_err open_one_core(struct session *s, struct link *link, const struct cs_core *found,
                                     struct diag *d)
{
    struct cti *cti = NULL;
    size_t i = s->core_count;
    if (found->has_cti) {
        cti = cti_open(link, found->cti.ap, found->cti.address, found->cti.restart_output, d);
        if (!cti)
            return d->code;
    }
    uint32_t hz = s->is_board && found->ap < LINK_SIM_CORES ? s->board.core_hz[found->ap] : 0;
    s->cores[i] = core_cortex_m_open(link, found->ap, found->name, hz, cti, d);
    if (!s->cores[i])
        return d->code;
    s->core_count++;
    return CORRAL_OK;
}

static enum corral_err load_board_symbols(struct session *s, struct link *link, struct diag *d)
{
    for (size_t i = 0; i < s->core_count; i++) {
        const uint8_t *image;
        size_t size;
        uint32_t ap = core_ap(s->cores[i]);
        if (!link_sim_image(link, ap, &image, &size))
            continue;
        s->symbols[i] = symbol_open_memory(image, size, core_name(s->cores[i]), d);
        /* an image without a symbol table runs all the same: its names are then not known */
        if (!s->symbols[i] && d->code != CORRAL_ERR_NO_SYMBOL && d->code != CORRAL_ERR_ELF)
            return d->code;
    }
    return CORRAL_OK;
}

static enum corral_err discover(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    s->is_board = link_sim_get_info(link, &s->board);
    struct cs_topology *t = cs_scan(link, d);
    if (!t)
        return d->code;
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < t->core_count && i < SESSION_MAX_CORES && err == CORRAL_OK; i++)
        err = open_one_core(s, link, &t->cores[i], d);
    if (err == CORRAL_OK && t->core_count == 0)
        err = diag_set(d, CORRAL_ERR_NO_CORE, "no core was found on link '%s'", link_name(link));
    cs_topology_free(t);
    if (err == CORRAL_OK)
        err = load_board_symbols(s, link, d);
    if (err != CORRAL_OK)
        return err;
    s->group = group_new(s->cores, s->core_count, s->bus, "group");
    return s->group ? CORRAL_OK : diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
}

struct session *session_open(const struct session_options *options, struct diag *d)
{
    struct session *s = calloc(1, sizeof(*s));
    if (!s) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    struct diag own = DIAG_INIT;
    d = d ? d : &own;
    s->options = *options;
    s->bus = options->bus;
    if (!s->options.link)
        s->options.link = "sim";
    for (size_t i = 0; i < LINK_SIM_CORES; i++)
        s->senders[i] = -1;
    s->clock = session_clock_for(s->options.link, d);
    if (!s->clock)
        goto fail;
    if (options->profile && session_profile_open(s, d) != CORRAL_OK)
        goto fail;
    struct link_sim_options sim = {
        .ctm_latency = options->ctm_latency,
        .ctm_latency_set = options->ctm_latency_set,
        .seed = options->seed,
        .count_pcs = options->count_pcs,
        .log_accesses = options->log_accesses,
        .datagram = session_on_datagram,
        .ctx = s,
    };
    struct link *link = session_open_link_with(s->options.link, &sim, s->clock, d);
    if (!link)
        goto fail;
    s->thread = link_thread_start(link, d);
    if (!s->thread) {
        link_close(link);
        goto fail;
    }
    if (session_call(s, discover, s, d) != CORRAL_OK)
        goto fail;
    return s;
fail:
    session_close(s);
    return NULL;
}

static enum corral_err close_cores(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    enum corral_err err = CORRAL_OK;
    (void)link;
    if (s->group && group_mechanism(s->group) == GROUP_MECHANISM_CTI)
        err = group_disable_sync(s->group, d);
    group_free(s->group);
    s->group = NULL;
    for (size_t i = 0; i < s->core_count; i++)
        core_close(s->cores[i]);
    s->core_count = 0;
    return err;
}

void session_close(struct session *s)
{
    if (!s)
        return;
    struct symbol_index *symbols[SESSION_MAX_CORES];
    memcpy(symbols, s->symbols, sizeof(symbols));
    if (s->thread)
        session_call(s, close_cores, s, NULL);
    link_thread_stop(s->thread);
    session_logs_close(s);
    session_profile_close(s);
    for (size_t i = 0; i < SESSION_MAX_CORES; i++)
        symbol_close(symbols[i]);
    host_clock_free(s->clock);
    free(s);
}

struct host_clock *session_clock(struct session *s)
{
    return s->clock;
}

struct link_thread *session_thread(struct session *s)
{
    return s->thread;
}

size_t session_core_count(const struct session *s)
{
    return s->core_count;
}

const char *session_core_name(const struct session *s, size_t core)
{
    return core_name(s->cores[core]);
}

bool session_board_info(struct session *s, struct link_sim_info *info)
{
    *info = s->board;
    return s->is_board;
}

struct symbol_index *session_symbols(struct session *s, size_t core)
{
    return core < s->core_count ? s->symbols[core] : NULL;
}

enum corral_err session_run_for(struct session *s, int64_t ns, const atomic_bool *stop, struct diag *d)
{
    int64_t end = host_clock_now(s->clock) + ns;
    for (int64_t now; (now = host_clock_now(s->clock)) < end;) {
        int64_t until = end - now > SESSION_SLICE_NS ? now + SESSION_SLICE_NS : end;
        enum corral_err err = link_thread_run_until(s->thread, until, stop, d);
        if (err == CORRAL_OK)
            err = event_bus_drain(s->bus, d);
        for (size_t i = 0; i < s->log_count && err == CORRAL_OK; i++)
            err = link_thread_job_error(s->thread, s->logs[i].job, d);
        if (err != CORRAL_OK)
            return err;
    }
    return CORRAL_OK;
}

struct run_control {
    struct session *s;
    size_t leader;
};

static enum corral_err do_halt(struct link *link, void *ctx, struct diag *d)
{
    struct run_control *r = ctx;
    (void)link;
    return group_halt(r->s->group, r->leader, NULL, d);
}

static enum corral_err do_run(struct link *link, void *ctx, struct diag *d)
{
    struct run_control *r = ctx;
    (void)link;
    return group_run(r->s->group, r->leader, NULL, d);
}

enum corral_err session_halt(struct session *s, size_t leader, struct diag *d)
{
    return session_call(s, do_halt, &(struct run_control){s, leader}, d);
}

enum corral_err session_run(struct session *s, size_t leader, struct diag *d)
{
    return session_call(s, do_run, &(struct run_control){s, leader}, d);
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
    uint32_t address;
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
    uint32_t size = 0;
    if (core >= s->core_count)
        return diag_set(d, CORRAL_ERR_NO_CORE, "there is no core number %zu", core);
    if (!s->symbols[core] || !symbol_lookup(s->symbols[core], name, &v.address, &size))
        return diag_set(d, CORRAL_ERR_NO_SYMBOL, "the program of %s has no variable '%s'",
                        core_name(s->cores[core]), name);
    return session_call(s, do_read_variable, &v, d);
}
