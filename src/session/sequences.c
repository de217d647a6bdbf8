/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug sequences on a link (sequences.h): the interpreter's accesses as the link's, and the order of
 * connecting and leaving. Cross-trigger sheet 4.6 to 4.9. Must not know what a sequence is written in.
 */
#include "session/sequences.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_clock.h"
#include "session/sequences_internal.h"
#include "session/session.h"

#define PROTOCOL_JTAG    1u
#define PROTOCOL_SWD     2u
#define PROTOCOL_CJTAG   3u
#define PROTOCOL_SWJ     (1u << 16)
#define PROTOCOL_DORMANT (1u << 17)

struct sequences *sequences_new(const struct sequences_options *options, struct diag *d)
{
    struct sequences *s = calloc(1, sizeof(*s));
    if (!s) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    s->o = *options;
    return s;
}

void sequences_free(struct sequences *s)
{
    free(s);
}

enum pack_protocol sequences_protocol(const char *link_words, enum link_protocol asked)
{
    if (asked == LINK_PROTOCOL_JTAG || session_words_mean(link_words, "jtag"))
        return PACK_PROTOCOL_JTAG;
    return asked == LINK_PROTOCOL_SWD ? PACK_PROTOCOL_SWD : PACK_PROTOCOL_ANY;
}

void sequences_set_sync(struct sequences *s, bool on)
{
    s->o.sync = on;
}

enum corral_err sequences_stand_in(struct sequences *s, uint32_t ap, uint32_t other, struct diag *d)
{
    if (s->stand_in_count == PACK_MAX_PROCESSORS)
        return diag_set(d, CORRAL_ERR_LIMIT, "too many access ports stand in for others");
    s->stand_ins[s->stand_in_count].ap = ap;
    s->stand_ins[s->stand_in_count++].other = other;
    return CORRAL_OK;
}

const struct pack_processor *sequences_start_processor(const struct pack_device *device)
{
    const struct pack_processor *named =
        device->start_pname[0] ? pack_processor_named(device, device->start_pname) : NULL;
    return named || !device->processor_count ? named : &device->processors[0];
}

/* ---- access ports */

bool sequences_ap_of_id(const struct pack_device *device, uint32_t id, uint32_t *ap)
{
    const struct pack_access_port *port = pack_access_port_of(device, id);
    if (!port || port->address > UINT32_MAX)
        return false;
    if (port->has_parent)
        *ap = LINK_NESTED_FIRST + (uint32_t)(port - device->aps);
    else
        *ap = port->v2 ? (uint32_t)port->address : port->index;
    return true;
}

bool sequences_ap_of(const struct pack_device *device, const struct pack_processor *processor, uint32_t *ap)
{
    *ap = processor->ap;
    return !processor->by_id || sequences_ap_of_id(device, processor->apid, ap);
}

#define NESTED_MOST 8 /* access ports behind one another */

/* How many others it is behind; NESTED_MOST for a ring. */
static unsigned depth_of(const struct pack_device *device, const struct pack_access_port *port)
{
    unsigned depth = 0;
    while (port && port->has_parent && depth < NESTED_MOST) {
        port = pack_access_port_of(device, port->parent);
        depth++;
    }
    return depth;
}

/* Those behind others must be known to the link before something is read through them, parents first. */
static enum corral_err declare_nested(struct sequences *s, struct link *link, struct diag *d)
{
    const struct pack_device *device = s->o.device;
    if (s->prepared == link) /* it keeps them, and run control comes here at every halt */
        return CORRAL_OK;
    for (unsigned depth = 1; depth < NESTED_MOST; depth++)
        for (size_t i = 0; i < device->ap_count; i++) {
            uint32_t parent, ap;
            const struct pack_access_port *port = &device->aps[i];
            if (depth_of(device, port) != depth || !sequences_ap_of_id(device, port->id, &ap) ||
                !sequences_ap_of_id(device, port->parent, &parent))
                continue;
            enum corral_err err = link_add_nested_ap(link, ap, parent, port->address, d);
            if (err)
                return err;
        }
    s->prepared = link;
    return CORRAL_OK;
}

/* ---- what is said */

static void say(const struct sequences *s, enum sequence_message kind, const char *sentence)
{
    if (s->o.bus) {
        struct event e = event_make(EVENT_MARKER, SEQUENCES_STREAM);
        if (s->link)
            e.host_ns = host_clock_now(link_clock(s->link));
        e.marker.text = sentence;
        event_bus_publish(s->o.bus, &e);
    }
    if (s->o.say)
        s->o.say(s->o.ctx, kind, sentence);
}

static void on_message(void *ctx, enum sequence_message kind, const char *text)
{
    const struct sequences *s = ctx;
    char sentence[SEQUENCE_NAME_MAX + 1100];
    snprintf(sentence, sizeof(sentence), "%s: %s", s->name, text);
    say(s, kind, sentence);
}

static void on_odd(void *ctx, const char *sentence)
{
    say(ctx, SEQUENCE_WARN, sentence);
}

/* ---- running one */

static uint64_t protocol_word(const struct sequences *s)
{
    const struct pack_device *device = s->o.device;
    enum pack_protocol p = s->o.protocol != PACK_PROTOCOL_ANY ? s->o.protocol : device->protocol;
    uint64_t word = p == PACK_PROTOCOL_JTAG    ? PROTOCOL_JTAG
                    : p == PACK_PROTOCOL_CJTAG ? PROTOCOL_CJTAG
                                               : PROTOCOL_SWD;
    return word | (device->swj ? PROTOCOL_SWJ : 0) | (device->dormant ? PROTOCOL_DORMANT : 0);
}

static enum corral_err run_on(struct sequences *s, struct link *link, const char *name,
                              const struct pack_processor *p, uint64_t dp, struct sequence_result *result,
                              struct diag *d)
{
    static const struct sequence_target target = {.access = sequences_access, .message = on_message};
    struct sequence_result own;
    struct sequence_run run = {.target = &target,
                               .ctx = s,
                               .clock = link_clock(link),
                               .pname = p ? p->pname : NULL,
                               .stop = s->o.stop,
                               .timeout_ns = s->o.timeout_ns,
                               .warn = on_odd};
    run.start = (struct sequence_start){.dp = dp,
                                        .ap = p ? p->ap : 0,
                                        .apid = p && p->by_id           ? p->apid
                                                : s->o.device->ap_count ? s->o.device->aps[0].id
                                                                        : 0,
                                        .connection = s->o.connection,
                                        .protocol = protocol_word(s),
                                        .options = s->o.sync};
    enum corral_err err = declare_nested(s, link, d);
    if (err)
        return err;
    s->link = link;
    s->name = name;
    s->dp = dp;
    s->deadline = host_clock_now(run.clock) + (s->o.timeout_ns > 0 ? s->o.timeout_ns : SEQUENCE_TIMEOUT_NS);
    err = sequence_run(s->o.program, name, &run, result ? result : &own, d);
    s->link = NULL;
    return err;
}

static const struct pack_processor *processor_meant(const struct sequences *s, const char *pname)
{
    return pname && pname[0] ? pack_processor_named(s->o.device, pname)
                             : sequences_start_processor(s->o.device);
}

enum corral_err sequences_run(struct sequences *s, struct link *link, const char *name, const char *pname,
                              struct sequence_result *result, struct diag *d)
{
    const struct pack_processor *p = processor_meant(s, pname);
    if (!p && pname && pname[0])
        return diag_set(d, CORRAL_ERR_USAGE, "%s has no processor '%s'", s->o.device->name, pname);
    return run_on(s, link, name, p, p ? p->dp : 0, result, d);
}

void sequences_ignore_stop(struct sequences *s)
{
    s->o.stop = NULL;
}

bool sequences_has(const struct sequences *s, const char *name, const char *pname)
{
    struct sequence_info info;
    return sequence_is_defined(s->o.program, name, pname) &&
           sequence_find(s->o.program, name, pname, &info) && !info.disabled && !info.has_errors;
}

static enum corral_err run_usable_on(struct sequences *s, struct link *link, const char *name,
                                     const struct pack_processor *p, uint64_t dp, struct diag *d)
{
    struct sequence_info info;
    char sentence[480];
    if (sequence_find(s->o.program, name, p ? p->pname : NULL, &info) && info.has_errors) {
        snprintf(sentence, sizeof(sentence),
                 "%s was not run: it has mistakes, which 'corral sequence check' shows (%s:%u)", name,
                 sequence_set_file_name(sequence_program_set(s->o.program), info.place.file),
                 info.place.line);
        say(s, SEQUENCE_WARN, sentence);
        return CORRAL_OK;
    }
    struct diag why = DIAG_INIT;
    enum corral_err err = run_on(s, link, name, p, dp, NULL, &why);
    if (!err)
        return CORRAL_OK;
    if (s->o.tolerant && err != CORRAL_ERR_LINK_DOWN && err != CORRAL_ERR_INTERRUPTED) {
        snprintf(sentence, sizeof(sentence), "%s ended early: %s", name, why.message);
        say(s, SEQUENCE_WARN, sentence);
        return CORRAL_OK;
    }
    if (d)
        *d = why;
    return diag_prefix(d, "%s", name);
}

enum corral_err sequences_run_usable(struct sequences *s, struct link *link, const char *name,
                                     const char *pname, struct diag *d)
{
    const struct pack_processor *p = processor_meant(s, pname);
    return run_usable_on(s, link, name, p, p ? p->dp : 0, d);
}

/* ---- the order of connecting and leaving */

static enum corral_err set_up_port(struct sequences *s, struct link *link, struct diag *d)
{
    const struct pack_processor *start = sequences_start_processor(s->o.device);
    char sentence[160];
    if (link_caps(link) & LINK_CAP_RAW)
        return run_usable_on(s, link, "DebugPortSetup", start, start ? start->dp : 0, d);
    if (sequence_is_defined(s->o.program, "DebugPortSetup", start ? start->pname : NULL)) {
        snprintf(sentence, sizeof(sentence),
                 "DebugPortSetup was not run: who is behind link '%.40s' has set the debug port up",
                 link_name(link));
        say(s, SEQUENCE_WARN, sentence);
    }
    return CORRAL_OK;
}

bool sequences_any_dp(struct link *link)
{
    return session_words_mean(link_name(link), "dry");
}

static void tell_out_of_reach(const struct sequences *s, struct link *link, uint64_t dp, uint64_t at)
{
    char sentence[200];
    snprintf(sentence, sizeof(sentence),
             "DebugPortStart of debug port %" PRIu64 " was not run: link '%.40s' is at debug port %" PRIu64,
             dp, link_name(link), at);
    say(s, SEQUENCE_WARN, sentence);
}

/* Once for each debug port, by its first processor: never twice on the one that the link is at (case C37). */
static enum corral_err start_ports(struct sequences *s, struct link *link, struct diag *d)
{
    const struct pack_device *device = s->o.device;
    const struct pack_processor *start = sequences_start_processor(device);
    enum corral_err err = run_usable_on(s, link, "DebugPortStart", start, start ? start->dp : 0, d);
    for (size_t i = 0; !err && i < device->processor_count; i++) {
        bool served = start && device->processors[i].dp == start->dp;
        for (size_t k = 0; k < i; k++)
            served |= device->processors[k].dp == device->processors[i].dp;
        if (served)
            continue;
        if (sequences_any_dp(link))
            err =
                run_usable_on(s, link, "DebugPortStart", &device->processors[i], device->processors[i].dp, d);
        else
            tell_out_of_reach(s, link, device->processors[i].dp, start ? start->dp : 0);
    }
    return err;
}

enum corral_err sequences_connect(struct sequences *s, struct link *link, struct diag *d)
{
    const struct pack_processor *start = sequences_start_processor(s->o.device);
    if (!(link_caps(link) & LINK_CAP_DAP))
        return CORRAL_OK;
    enum corral_err err = set_up_port(s, link, d);
    if (!err)
        err = start_ports(s, link, d);
    if (!err)
        err = run_usable_on(s, link, "DebugDeviceUnlock", start, start ? start->dp : 0, d);
    return err;
}

enum corral_err sequences_stop_core(struct sequences *s, struct link *link, const char *pname, struct diag *d)
{
    if (!sequence_is_defined(s->o.program, "DebugCoreStop", pname))
        return CORRAL_OK;
    return sequences_run_usable(s, link, "DebugCoreStop", pname, d);
}

enum corral_err sequences_disconnect(struct sequences *s, struct link *link, struct diag *d)
{
    if (!(link_caps(link) & LINK_CAP_DAP))
        return CORRAL_OK;
    return sequences_run_usable(s, link, "DebugPortStop", NULL, d);
}
