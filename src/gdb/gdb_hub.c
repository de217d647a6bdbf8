/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Domains of cores, and what their halts and runs mean to those who wait. Cross-trigger sheet 10.3: a domain
 * is stopped or running, each stop is an epoch, a client waits or does not. One reply to each resume, however
 * the stop came about.
 *
 * Must not decide how cores are halted: the group does.
 */
#include "gdb/gdb_hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdb/gdb_parts.h"

struct gdb_domain *gdb_domain_of(struct gdb_hub *hub, size_t core)
{
    return &hub->domains[hub->cores[core].domain];
}

bool gdb_client_covers(const struct gdb_client *client, size_t core)
{
    return client->core == GDB_ALL_CORES || client->core == core;
}

static bool covers_domain(const struct gdb_client *client, const struct gdb_domain *d)
{
    return client->core == GDB_ALL_CORES || (client->core >= d->first && client->core < d->first + d->count);
}

bool gdb_client_alone(const struct gdb_client *client)
{
    const struct gdb_hub *hub = client->hub;
    for (size_t i = 0; i < hub->domain_count; i++)
        for (const struct gdb_client *other = hub->clients; other; other = other->next)
            if (other != client && covers_domain(client, &hub->domains[i]) &&
                covers_domain(other, &hub->domains[i]))
                return false;
    return true;
}

bool gdb_core_halted(const struct gdb_hub *hub, size_t core, const char **why)
{
    const struct gdb_core *c = &hub->cores[core];
    const struct gdb_domain *d = &hub->domains[c->domain];
    static const char *const sentences[] = {
        [CORE_UNKNOWN] = "core does not answer",      [CORE_HALTED] = "",
        [CORE_RUNNING] = "core is running",           [CORE_RESET] = "core in reset",
        [CORE_LOCKUP] = "core is locked up, halt it", [CORE_UNPOWERED] = "core without power",
    };
    *why = sentences[c->last.state];
    if (c->last.state == CORE_HALTED && (d->running || c->late))
        *why = sentences[CORE_RUNNING];
    return (*why)[0] == '\0';
}

static void tell_log(struct gdb_hub *hub, const struct gdb_domain *d, const char *text)
{
    struct event e = event_make(EVENT_MARKER, hub->options.stream);
    e.host_ns = host_clock_now(link_clock(core_link(hub->cores[d->first].core)));
    e.marker.text = text;
    if (hub->options.bus)
        event_bus_publish(hub->options.bus, &e);
}

/* What the group did otherwise than asked: to those who wait in the domain, and to the log. */
static void tell_remarks(struct gdb_hub *hub, struct gdb_domain *d)
{
    const struct group_remark *list;
    size_t n = group_remarks(d->group, &list);
    for (size_t i = 0; i < n; i++) {
        char text[400];
        snprintf(text, sizeof(text), "%s%s%s\n", list[i].core ? list[i].core : "", list[i].core ? ": " : "",
                 list[i].text);
        for (struct gdb_client *c = hub->clients; c; c = c->next)
            if (c->state == GDB_CLIENT_WAITING && covers_domain(c, d))
                gdb_client_print(c, text);
        text[strlen(text) - 1] = '\0';
        tell_log(hub, d, text);
    }
    group_forget_remarks(d->group);
}

/* Which core of a domain a client of all cores is shown: the one that stopped first. */
static size_t shown_core(const struct gdb_hub *hub, const struct gdb_domain *d,
                         const struct gdb_client *client)
{
    if (client->core != GDB_ALL_CORES)
        return client->core;
    for (size_t i = d->first; i < d->first + d->count; i++)
        if (hub->cores[i].last.first)
            return i;
    return d->first;
}

static void answer_waiting(struct gdb_hub *hub, struct gdb_domain *d)
{
    for (struct gdb_client *c = hub->clients; c; c = c->next) {
        if (c->state != GDB_CLIENT_WAITING || !covers_domain(c, d))
            continue;
        size_t core = shown_core(hub, d, c);
        /* One that did not halt in time: its own client is told once it has (D20). */
        if (!hub->cores[core].late || c->core == GDB_ALL_CORES)
            gdb_client_stopped(c, core);
    }
}

static void take_event(struct gdb_hub *hub, struct gdb_domain *d, const struct event *e)
{
    for (size_t i = 0; i < d->count && i < e->halt.core_count; i++) {
        struct gdb_core *c = &hub->cores[d->first + i];
        c->last = e->halt.cores[i];
        c->last.name = core_name(c->core);
    }
}

/* A new epoch: the domain has stopped. */
static void stopped(struct gdb_hub *hub, struct gdb_domain *d, const struct event *e)
{
    take_event(hub, d, e);
    d->running = false;
    d->epoch++;
    /* Who waits for a core that could not be halted, or is in reset, waits on: gdb would ask for registers
     * (D20, D27). */
    for (size_t i = d->first; i < d->first + d->count; i++)
        hub->cores[i].late = hub->cores[i].last.state != CORE_HALTED;
    tell_remarks(hub, d);
    answer_waiting(hub, d);
}

/* A link that is gone is gone for all: gdb_hub_poll says so, whoever found it. `d` is the caller's own. */
static enum corral_err noted(struct gdb_hub *hub, enum corral_err err, const struct diag *d)
{
    if (err == CORRAL_ERR_LINK_DOWN && !hub->down.code)
        hub->down = *d;
    return err;
}

enum corral_err gdb_hub_halt(struct gdb_hub *hub, size_t core, struct diag *d)
{
    struct gdb_domain *domain = gdb_domain_of(hub, core);
    struct event e;
    enum corral_err err = noted(hub, group_halt(domain->group, hub->cores[core].member, &e, d), d);
    if (err == CORRAL_ERR_LINK_DOWN)
        return err;
    stopped(hub, domain, &e);
    return err == CORRAL_ERR_CORE_NO_HALT ? CORRAL_OK : err; /* it is late, and named */
}

enum corral_err gdb_hub_run(struct gdb_hub *hub, size_t core, struct diag *d)
{
    struct gdb_domain *domain = gdb_domain_of(hub, core);
    struct event e;
    for (struct gdb_client *c = hub->clients; c; c = c->next)
        if (c->state == GDB_CLIENT_IDLE && covers_domain(c, domain))
            gdb_client_keep_registers(c);
    enum corral_err err = noted(hub, group_run(domain->group, hub->cores[core].member, &e, d), d);
    if (err == CORRAL_ERR_LINK_DOWN) /* gdb_hub_lost tells them */
        return err;
    if (err) {
        /* Some may run. Nobody is left in the dark: all are halted again, and everybody who waits is told. */
        struct diag why = DIAG_INIT;
        enum corral_err halt = group_halt(domain->group, hub->cores[core].member, &e, &why);
        if (noted(hub, halt, &why) != CORRAL_ERR_LINK_DOWN)
            stopped(hub, domain, &e);
        return err;
    }
    take_event(hub, domain, &e);
    domain->running = true;
    for (size_t i = domain->first; i < domain->first + domain->count; i++)
        hub->cores[i].late = false;
    tell_remarks(hub, domain);
    return CORRAL_OK;
}

enum corral_err gdb_hub_step(struct gdb_hub *hub, size_t core, struct diag *d)
{
    struct gdb_domain *domain = gdb_domain_of(hub, core);
    struct event e;
    enum corral_err err = noted(hub, group_step(domain->group, hub->cores[core].member, 1, &e, d), d);
    if (!err) /* nobody else moved: no new epoch */
        hub->cores[core].last = e.halt.cores[hub->cores[core].member];
    tell_remarks(hub, domain);
    return err;
}

enum corral_err gdb_hub_reset(struct gdb_hub *hub, size_t core, bool halt, struct diag *d)
{
    struct gdb_domain *domain = gdb_domain_of(hub, core);
    const struct group_reset_by *sequences = hub->options.reset_by;
    struct group_reset_by by = sequences ? *sequences : (struct group_reset_by){0};
    by.first = domain->first;
    struct group_reset how = {.how = CORE_RESET_SYSTEM,
                              .halt = halt,
                              .core = hub->cores[core].member,
                              .by = sequences ? &by : NULL};
    struct event e;
    enum corral_err err = noted(hub, group_reset(domain->group, &how, &e, d), d);
    if (err) {
        tell_remarks(hub, domain);
        return err;
    }
    if (halt) {
        stopped(hub, domain, &e);
        return CORRAL_OK;
    }
    take_event(hub, domain, &e);
    domain->running = true;
    tell_remarks(hub, domain);
    return CORRAL_OK;
}

/* ---- attaching and detaching */

static enum corral_err attach(struct gdb_hub *hub, struct gdb_domain *d, struct diag *diag)
{
    struct event e;
    if (d->attached)
        return CORRAL_OK;
    enum corral_err err = CORRAL_OK;
    for (size_t i = d->first; i < d->first + d->count && !err; i++)
        err = core_attach(hub->cores[i].core, diag);
    if (!err && hub->sync && d->count > 1)
        err = group_enable_sync(d->group, diag);
    if (!err)
        err = group_status(d->group, &e, diag);
    if (err)
        return err;
    take_event(hub, d, &e);
    d->attached = true;
    d->running = false;
    for (size_t i = d->first; i < d->first + d->count; i++)
        d->running |= hub->cores[i].last.state == CORE_RUNNING;
    tell_remarks(hub, d);
    return CORRAL_OK;
}

static enum corral_err detach(struct gdb_hub *hub, struct gdb_domain *d, struct diag *diag)
{
    struct event e;
    enum corral_err err = CORRAL_OK;
    if (!d->attached)
        return CORRAL_OK;
    d->attached = false;
    if (hub->options.on_detach == GDB_DETACH_RESUME && !d->running) {
        err = group_run(d->group, 0, &e, diag);
        struct diag why = DIAG_INIT;
        enum corral_err off = group_disable_sync(d->group, &why);
        if (off && !err) {
            err = off;
            if (diag)
                *diag = why;
        }
        return err;
    }
    return group_detach(d->group, hub->options.on_detach == GDB_DETACH_KEEP, diag);
}

static bool anyone_in(const struct gdb_hub *hub, const struct gdb_domain *d)
{
    for (const struct gdb_client *c = hub->clients; c; c = c->next)
        if (covers_domain(c, d))
            return true;
    return false;
}

struct gdb_client *gdb_hub_connect(struct gdb_hub *hub, size_t core, gdb_send_fn send, void *ctx,
                                   struct diag *d)
{
    if (core != GDB_ALL_CORES && core >= hub->core_count) {
        diag_set(d, CORRAL_ERR_NO_CORE, "there is no core number %zu", core);
        return NULL;
    }
    struct gdb_client *c = calloc(1, sizeof(*c));
    if (!c) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    *c = (struct gdb_client){.hub = hub, .core = core, .send = send, .ctx = ctx};
    c->registers_of = core == GDB_ALL_CORES ? 0 : core;
    c->control_of = core;
    struct diag why = DIAG_INIT;
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < hub->domain_count && !err; i++)
        if (covers_domain(c, &hub->domains[i]))
            err = attach(hub, &hub->domains[i], &why);
    if (err) {
        tell_log(hub, gdb_domain_of(hub, c->registers_of), why.message); /* gdb sees a closed connection */
        for (size_t i = 0; i < hub->domain_count; i++)
            if (covers_domain(c, &hub->domains[i]) && !anyone_in(hub, &hub->domains[i]))
                detach(hub, &hub->domains[i], NULL);
        free(c);
        if (d)
            *d = why;
        return NULL;
    }
    c->seen_epoch = gdb_domain_of(hub, c->registers_of)->epoch;
    c->next = hub->clients;
    hub->clients = c;
    return c;
}

void gdb_client_leave(struct gdb_client *client)
{
    struct gdb_hub *hub = client->hub;
    gdb_points_drop(client);
    for (struct gdb_client **at = &hub->clients; *at; at = &(*at)->next)
        if (*at == client) {
            *at = client->next;
            break;
        }
    for (size_t i = 0; i < hub->domain_count; i++)
        if (covers_domain(client, &hub->domains[i]) && !anyone_in(hub, &hub->domains[i])) {
            struct diag why = DIAG_INIT;
            if (detach(hub, &hub->domains[i], &why)) /* nobody is left to be told but the log */
                tell_log(hub, &hub->domains[i], why.message);
            tell_remarks(hub, &hub->domains[i]);
        }
    free(client->points);
    free(client);
}

void gdb_client_interrupt(struct gdb_client *client)
{
    struct gdb_hub *hub = client->hub;
    struct diag d = DIAG_INIT;
    /* Nobody waits: the stop was told already, and the next run is not meant (D5, D6). */
    if (client->state != GDB_CLIENT_WAITING)
        return;
    if (client->range.on) {
        client->range.on = false;
        gdb_client_stopped(client, client->range.core);
        return;
    }
    size_t core = client->core == GDB_ALL_CORES ? client->registers_of : client->core;
    enum corral_err err = gdb_hub_halt(hub, core, &d);
    if (err)
        gdb_client_print(client, d.message);
    if (err == CORRAL_ERR_LINK_DOWN) /* gdb_hub_lost tells it */
        return;
    /* All that the client shows halts: with cores that are domains of their own, each of these. */
    for (size_t i = 0; client->core == GDB_ALL_CORES && i < hub->domain_count; i++)
        if (hub->domains[i].running)
            gdb_hub_halt(hub, hub->domains[i].first, &d);
    /* Its user asked for the prompt, and gets it also where the core is in reset. */
    if (client->state == GDB_CLIENT_WAITING && hub->cores[core].last.state != CORE_RUNNING)
        gdb_client_stopped(client, core);
}

/* ---- looking whether somebody stopped */

static enum corral_err look_at_late(struct gdb_hub *hub, struct gdb_domain *d, struct diag *diag)
{
    for (size_t i = d->first; i < d->first + d->count; i++) {
        struct gdb_core *c = &hub->cores[i];
        struct core_status s;
        if (!c->late)
            continue;
        enum corral_err err = core_read_status(c->core, true, &s, diag);
        if (err)
            return err;
        if (s.state != CORE_HALTED)
            continue;
        c->late = false;
        c->last.state = s.state;
        c->last.reason = s.reason;
        c->last.pc = s.pc;
        c->last.pc_known = s.pc_known;
        answer_waiting(hub, d);
    }
    return CORRAL_OK;
}

/* How many instructions of a range are stepped before others get their turn. */
#define RANGE_STEPS 32

static void go_on_stepping(struct gdb_client *c)
{
    struct diag d = DIAG_INIT;
    for (unsigned i = 0; i < RANGE_STEPS; i++) {
        enum corral_err err = gdb_hub_step(c->hub, c->range.core, &d);
        const struct event_core *last = &c->hub->cores[c->range.core].last;
        if (err)
            gdb_client_print(c, d.message);
        if (err == CORRAL_ERR_LINK_DOWN) {
            c->range.on = false;
            return;
        }
        if (err || last->state != CORE_HALTED || last->reason != HALT_REASON_STEP || !last->pc_known ||
            last->pc < c->range.start || last->pc >= c->range.end) {
            c->range.on = false;
            gdb_client_stopped(c, c->range.core);
            return;
        }
    }
}

enum corral_err gdb_hub_poll(struct gdb_hub *hub, struct diag *d)
{
    if (hub->down.code) {
        *d = hub->down;
        return hub->down.code;
    }
    enum corral_err first = CORRAL_OK;
    for (size_t i = 0; i < hub->domain_count && first != CORRAL_ERR_LINK_DOWN; i++) {
        struct gdb_domain *domain = &hub->domains[i];
        struct diag why = DIAG_INIT;
        enum corral_err err = CORRAL_OK;
        bool stop = false;
        struct event e;
        if (!domain->attached && !anyone_in(hub, domain))
            continue;
        if (!domain->attached) /* it could not be when the domains were made anew */
            err = attach(hub, domain, &why);
        else if (!domain->running)
            err = look_at_late(hub, domain, &why);
        else
            err = group_poll(domain->group, &stop, &e, &why);
        if (stop)
            stopped(hub, domain, &e);
        if (!err || err == CORRAL_ERR_CORE_NO_HALT)
            continue;
        /* The trouble of one domain is not that of the others; a link that is gone is. */
        if (!first || err == CORRAL_ERR_LINK_DOWN) {
            first = err;
            if (d)
                *d = why;
        }
    }
    for (struct gdb_client *c = hub->clients; c && first != CORRAL_ERR_LINK_DOWN; c = c->next)
        if (c->range.on)
            go_on_stepping(c);
    return first;
}

void gdb_hub_lost(struct gdb_hub *hub, const char *why)
{
    for (struct gdb_client *c = hub->clients; c; c = c->next) {
        if (c->state == GDB_CLIENT_WAITING) {
            gdb_client_print(c, why);
            gdb_client_print(c, "\n");
        }
        /* No stop is told: gdb would ask for registers, and hang on the refusal. */
        c->leaving = true;
        c->send(c->ctx, NULL, 0, GDB_SEND_CLOSE);
    }
}

/* ---- domains are made */

static void free_domains(struct gdb_hub *hub)
{
    for (size_t i = 0; i < hub->domain_count; i++)
        group_free(hub->domains[i].group);
    hub->domain_count = 0;
}

static enum corral_err add_domain(struct gdb_hub *hub, size_t first, size_t count, struct diag *d)
{
    struct gdb_domain *domain = &hub->domains[hub->domain_count];
    *domain = (struct gdb_domain){.first = first, .count = count};
    domain->group = group_new(&hub->options.cores[first], count, hub->options.bus, hub->options.stream);
    if (!domain->group)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++) {
        hub->cores[first + i].domain = hub->domain_count;
        hub->cores[first + i].member = i;
    }
    hub->domain_count++;
    if (hub->options.sequences && hub->sync) { /* then this is the one domain: members are cores */
        enum corral_err err = group_use_sequences(domain->group, hub->options.sequences, d);
        if (err)
            return err;
    }
    return group_set_channels(domain->group, hub->options.halt_channel, hub->options.restart_channel, d);
}

static enum corral_err make_domains(struct gdb_hub *hub, struct diag *d)
{
    if (hub->sync || hub->options.one_inferior)
        return add_domain(hub, 0, hub->core_count, d);
    for (size_t i = 0; i < hub->core_count; i++) {
        enum corral_err err = add_domain(hub, i, 1, d);
        if (err)
            return err;
    }
    return CORRAL_OK;
}

static enum corral_err remake_domains(struct gdb_hub *hub, bool sync, struct diag *d)
{
    free_domains(hub);
    hub->sync = sync;
    enum corral_err err = make_domains(hub, d);
    for (size_t i = 0; i < hub->domain_count && !err; i++)
        if (anyone_in(hub, &hub->domains[i]))
            err = attach(hub, &hub->domains[i], d);
    return err;
}

enum corral_err gdb_hub_set_sync(struct gdb_hub *hub, bool on, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    if (on == hub->sync)
        return CORRAL_OK;
    for (size_t i = 0; i < hub->domain_count; i++)
        if (hub->domains[i].attached && hub->domains[i].running)
            return diag_set(d, CORRAL_ERR_CORE_STATE, "halt all cores first");
    for (size_t i = 0; i < hub->domain_count && !err; i++)
        err = group_disable_sync(hub->domains[i].group, d);
    if (err)
        return err;
    err = remake_domains(hub, on, d);
    if (err) /* as it was: cores that somebody debugs must not be without anybody who looks at them */
        remake_domains(hub, !on, NULL);
    for (struct gdb_client *c = hub->clients; c; c = c->next)
        c->seen_epoch = gdb_domain_of(hub, c->registers_of)->epoch;
    return err;
}

struct gdb_hub *gdb_hub_new(const struct gdb_hub_options *options, struct diag *d)
{
    if (options->count == 0 || options->count > EVENT_MAX_CORES) {
        diag_set(d, CORRAL_ERR_NO_CORE, "%zu cores cannot be served", options->count);
        return NULL;
    }
    struct gdb_hub *hub = calloc(1, sizeof(*hub));
    if (!hub) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    hub->options = *options;
    hub->core_count = options->count;
    hub->sync = options->sync;
    for (size_t i = 0; i < options->count; i++)
        hub->cores[i] =
            (struct gdb_core){.core = options->cores[i], .last = {.name = core_name(options->cores[i])}};
    enum corral_err err = make_domains(hub, d);
    /* What a tool left that ended without detaching would look like stops of ours. */
    for (size_t i = 0; i < hub->domain_count && !err; i++) {
        err = hub->sync ? group_repair(hub->domains[i].group, NULL, d) : CORRAL_OK;
        tell_remarks(hub, &hub->domains[i]);
    }
    if (!err)
        return hub;
    free_domains(hub);
    free(hub);
    return NULL;
}

enum corral_err gdb_hub_free(struct gdb_hub *hub, struct diag *d)
{
    enum corral_err first = CORRAL_OK;
    if (!hub)
        return CORRAL_OK;
    while (hub->clients) {
        struct gdb_client *c = hub->clients;
        gdb_points_drop(c);
        hub->clients = c->next;
        free(c->points);
        free(c);
    }
    for (size_t i = 0; i < hub->domain_count; i++) {
        struct diag why = DIAG_INIT;
        enum corral_err err = detach(hub, &hub->domains[i], &why);
        if (err && !first) {
            first = err;
            if (d)
                *d = why;
        }
    }
    free_domains(hub);
    free(hub);
    return first;
}
