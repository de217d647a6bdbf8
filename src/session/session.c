/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing a session, and letting time pass (session.h). */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

#include "link/link_gdb.h"
#include "session/session_internal.h"
#include "session/target_hints.h"

struct bounded_call {
    link_call_fn fn;
    void *ctx;
    int64_t timeout_ns;
};

/* What a scan or a halt makes of single refusals may be any error: if the time ran out, that is the reason.
 */
enum corral_err session_bounded(struct link *link, link_call_fn fn, void *ctx, int64_t timeout_ns,
                                struct diag *d)
{
    link_set_deadline(link, host_clock_now(link_clock(link)) + timeout_ns);
    enum corral_err err = fn(link, ctx, d);
    if (err != CORRAL_OK && link_deadline_passed(link)) {
        err =
            diag_set(d, CORRAL_ERR_TIMEOUT, "not done within %.3g s", (double)timeout_ns / (double)NS_PER_S);
        diag_hint(d, "--timeout gives it more time");
    }
    link_set_deadline(link, LINK_NO_DEADLINE);
    return err;
}

static enum corral_err call_bounded(struct link *link, void *ctx, struct diag *d)
{
    struct bounded_call *call = ctx;
    return session_bounded(link, call->fn, call->ctx, call->timeout_ns, d);
}

enum corral_err session_call(struct session *s, link_call_fn fn, void *ctx, struct diag *d)
{
    if (s->options.timeout_ns <= 0)
        return link_thread_call(s->thread, LINK_PRIO_HALT, fn, ctx, d);
    struct bounded_call call = {.fn = fn, .ctx = ctx, .timeout_ns = s->options.timeout_ns};
    return link_thread_call(s->thread, LINK_PRIO_HALT, call_bounded, &call, d);
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
    s->options.link = session_link_words(options->link, options->config);
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
    struct session_link_how how = {.clock_hz = options->clock_hz,
                                   .wire = &options->wire,
                                   .timeout_ns = options->timeout_ns,
                                   .config = options->config,
                                   .sim = &sim};
    struct link *link = session_open_kind(s->options.link, &how, s->clock, d);
    if (!link)
        goto fail;
    s->thread = link_thread_start(link, d);
    if (!s->thread) {
        link_close(link);
        goto fail;
    }
    if (session_call(s, session_open_images, s, d) != CORRAL_OK || session_pack_open(s, d) != CORRAL_OK)
        goto fail;
    return s;
fail:
    session_close(s);
    return NULL;
}

struct connecting {
    struct session *s;
    enum connect_mode mode;
    const struct cs_hints *hints;
    char note[CONNECT_NOTE];
};

/* A pack's sequences set the port up first; where the core would lock it, with the reset line held. */
static enum corral_err do_connect(struct link *link, void *ctx, struct diag *d)
{
    struct connecting *c = ctx;
    enum corral_err err = CORRAL_OK;
    if (c->s->pack && c->mode == CONNECT_UNDER_RESET)
        err = link_drive_reset(link, true, d);
    if (!err)
        err = session_pack_connect(link, c->s, d);
    if (err && c->s->pack && c->mode == CONNECT_UNDER_RESET)
        link_drive_reset(link, false, NULL); /* nobody would let it go */
    return err ? err : connect_target(link, c->mode, c->hints, c->note, d);
}

enum corral_err session_come_to_target(struct session *s, struct diag *d)
{
    const struct config *config = s->options.config;
    struct connecting c = {.s = s, .mode = session_connect_mode(s->options.link, &s->options.wire, config)};
    if (s->came)
        return CORRAL_OK;
    s->came = true;
    struct target_hints *hints = target_hints_new(config, session_pack_for_target(s), d);
    if (!hints)
        return d ? d->code : CORRAL_ERR_NO_MEMORY;
    c.hints = target_hints_get(hints);
    enum corral_err err = session_call(s, do_connect, &c, d);
    target_hints_free(hints);
    if (c.note[0] && s->options.wire.note)
        s->options.wire.note(s->options.wire.ctx, c.note);
    session_pack_tell(s);
    return err;
}

static enum corral_err ask_log(struct link *link, void *ctx, struct diag *d)
{
    bool *stopped = ctx;
    *stopped = link_wire_log_stopped(link, d);
    return CORRAL_OK;
}

/* A log that ended early is not the whole of what happened: who asked for it must know. */
static void tell_of_log(struct session *s)
{
    struct diag why = DIAG_INIT;
    bool stopped = false;
    if (s->options.wire.log && s->options.wire.note &&
        link_thread_call(s->thread, LINK_PRIO_HALT, ask_log, &stopped, &why) == CORRAL_OK && stopped)
        s->options.wire.note(s->options.wire.ctx, why.message);
}

static enum corral_err ask_caps(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    (void)d;
    s->caps = link_caps(link);
    s->has_stub = link_gdb_core_count(link) > 0;
    return CORRAL_OK;
}

/* Memory alone has logs, but no cores. */
static enum corral_err check_no_cores(const struct session *s, struct diag *d)
{
    if (s->options.core_name_count == 0)
        return CORRAL_OK;
    return diag_set(d, CORRAL_ERR_USAGE, "there is no core '%s' on link '%s': it reaches memory only",
                    s->options.core_names[0], s->options.link);
}

enum corral_err session_connect(struct session *s, struct diag *d)
{
    if (s->group)
        return CORRAL_OK;
    enum corral_err came = session_come_to_target(s, d);
    if (came != CORRAL_OK)
        return came;
    if (session_call(s, ask_caps, s, NULL) == CORRAL_OK && !(s->caps & LINK_CAP_DAP) && !s->has_stub)
        return check_no_cores(s, d);
    enum corral_err err = session_call(s, session_discover, s, d);
    session_pack_tell(s);
    return err == CORRAL_OK ? session_capture_cores(s, d) : err;
}

static enum corral_err close_cores(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    enum corral_err err = CORRAL_OK;
    if (s->group && !s->detached) {
        err = group_detach(s->group, false, d);
        struct diag why = DIAG_INIT;
        diag_keep_first(&err, d, session_pack_leave(s, link, false, &why), &why);
    } else if (!s->group && s->came) { /* connecting ended early: the port is left all the same */
        session_pack_leave(s, link, false, NULL);
    }
    group_free(s->group);
    s->group = NULL;
    for (size_t i = 0; i < s->core_count; i++)
        core_close(s->cores[i]);
    s->core_count = 0;
    return err;
}

enum corral_err session_close(struct session *s)
{
    enum corral_err err = CORRAL_OK;
    if (!s)
        return CORRAL_OK;
    if (s->thread) {
        session_stop_logs(s, NULL);
        session_pcsr_close(s, NULL);
        err = link_thread_call(s->thread, LINK_PRIO_HALT, close_cores, s, NULL); /* however long it takes */
        tell_of_log(s);
    }
    link_thread_stop(s->thread);
    session_pack_close(s);
    session_profile_close(s);
    session_logs_close(s);
    session_clocks_close(s);
    for (size_t i = 0; i < SESSION_MAX_CORES; i++)
        symbol_close(s->symbols[i]);
    for (size_t i = 0; i < LINK_SIM_CORES; i++)
        symbol_close(s->images[i]);
    cs_topology_free(s->topology);
    host_clock_free(s->clock);
    free(s);
    return err;
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

unsigned session_board_programs(const struct session *s)
{
    return s->board_programs;
}

bool session_has_stub(const struct session *s)
{
    return s->has_stub;
}

bool session_is_board(const struct session *s)
{
    return session_words_mean_board(s->options.link);
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
