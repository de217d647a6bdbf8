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

#define AP_BLOCK         0x1000u /* an ADIv6 access port's registers */
#define BATCH_MOST       1024    /* accesses of an atomic block */
#define PROTOCOL_JTAG    1u
#define PROTOCOL_SWD     2u
#define PROTOCOL_CJTAG   3u
#define PROTOCOL_SWJ     (1u << 16)
#define PROTOCOL_DORMANT (1u << 17)

struct sequences {
    struct sequences_options o;
    /* Of the run under way. */
    struct link *link;
    const char *name;
    uint64_t dp;
};

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

void sequences_set_sync(struct sequences *s, bool on)
{
    s->o.sync = on;
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

/* Those behind others must be known to the link before something is read through them. */
static enum corral_err declare_nested(const struct sequences *s, struct link *link, struct diag *d)
{
    const struct pack_device *device = s->o.device;
    for (size_t i = 0; i < device->ap_count; i++) {
        uint32_t parent, ap;
        const struct pack_access_port *port = &device->aps[i];
        if (!port->has_parent || !sequences_ap_of_id(device, port->id, &ap) ||
            !sequences_ap_of_id(device, port->parent, &parent))
            continue;
        enum corral_err err = link_add_nested_ap(link, ap, parent, port->address, d);
        if (err)
            return err;
    }
    return CORRAL_OK;
}

static enum corral_err port_of(const struct sequences *s, const struct sequence_port *port, uint32_t *ap,
                               struct diag *d)
{
    if (port->by_id) {
        if (port->id <= UINT32_MAX && sequences_ap_of_id(s->o.device, (uint32_t)port->id, ap))
            return CORRAL_OK;
        return diag_set(d, CORRAL_ERR_NO_AP, "no access port has the __apid %" PRIu64, port->id);
    }
    if (port->ap > UINT32_MAX)
        return diag_set(d, CORRAL_ERR_NO_AP, "there is no access port 0x%" PRIx64, port->ap);
    *ap = (uint32_t)port->ap;
    return CORRAL_OK;
}

/* ---- accesses */

static bool is_raw(enum sequence_access_op op)
{
    return op == SEQUENCE_PINS || op == SEQUENCE_CLOCK || op == SEQUENCE_SWJ_SEQUENCE ||
           op == SEQUENCE_JTAG_SEQUENCE || op == SEQUENCE_ABORT;
}

static struct link_raw raw_of(const struct sequence_access *a)
{
    switch (a->op) {
    case SEQUENCE_PINS:
        return (struct link_raw){.op = LINK_RAW_PINS,
                                 .out = a->value,
                                 .select = a->address & 0xFF,
                                 .wait_us = (uint32_t)(a->address >> 8)};
    case SEQUENCE_CLOCK:
        return (struct link_raw){.op = LINK_RAW_CLOCK, .out = a->value};
    case SEQUENCE_SWJ_SEQUENCE:
        return (struct link_raw){.op = LINK_RAW_SWJ, .bits = a->size, .out = a->value};
    case SEQUENCE_JTAG_SEQUENCE:
        return (struct link_raw){
            .op = LINK_RAW_JTAG, .bits = a->size, .select = a->address & 1, .out = a->value};
    default:
        return (struct link_raw){.op = LINK_RAW_ABORT, .out = a->value};
    }
}

static const char *space_of(enum sequence_access_op op)
{
    static const char *const names[] = {
        [SEQUENCE_MEM] = "mem",
        [SEQUENCE_AP] = "ap",
        [SEQUENCE_AP_SPACE] = "ap",
        [SEQUENCE_DP] = "dp",
        [SEQUENCE_ABORT] = "abort",
        [SEQUENCE_PINS] = "pins",
        [SEQUENCE_CLOCK] = "clock",
        [SEQUENCE_SWJ_SEQUENCE] = "swj",
        [SEQUENCE_JTAG_SEQUENCE] = "jtag",
        [SEQUENCE_DELAY] = "delay",
    };
    return names[op];
}

static void publish(const struct sequences *s, const struct sequence_access *a, uint32_t ap)
{
    if (!s->o.trace || !s->o.bus)
        return;
    struct event e = event_make(EVENT_ACCESS, SEQUENCES_STREAM);
    e.host_ns = host_clock_now(link_clock(s->link));
    e.access =
        (struct event_access){.write = a->write,
                              .space = space_of(a->op),
                              .ap = ap,
                              .address = a->op == SEQUENCE_AP_SPACE ? a->address % AP_BLOCK : a->address,
                              .size = (uint8_t)a->size,
                              .value = a->value};
    event_bus_publish(s->o.bus, &e);
}

/* One that this link can do at all, and on which access port: before anything is sent. */
static enum corral_err check(const struct sequences *s, const struct sequence_access *a, uint32_t *ap,
                             struct diag *d)
{
    const struct link *link = s->link;
    unsigned caps = link_caps(link);
    *ap = 0;
    if (is_raw(a->op)) {
        struct link_raw raw = raw_of(a);
        if (a->op == SEQUENCE_ABORT ? (caps & LINK_CAP_DAP) != 0 : link_can_raw(link, raw.op))
            return CORRAL_OK;
        diag_set(d, CORRAL_ERR_UNSUPPORTED, "link '%s' cannot do this: its wires are not ours",
                 link_name(link));
        diag_hint(d, "cmsis-dap and jtag links can");
        return CORRAL_ERR_UNSUPPORTED;
    }
    if (a->op == SEQUENCE_DELAY)
        return CORRAL_OK;
    if (a->port.dp != s->dp && strncmp(link_name(link), "dry", 3) != 0)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED,
                        "debug port %" PRIu64
                        " cannot be reached over link '%s', which is at number %" PRIu64,
                        a->port.dp, link_name(link), s->dp);
    if (!(caps & LINK_CAP_DAP) && a->op != SEQUENCE_MEM)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "link '%s' has no debug port registers", link_name(link));
    if (a->op == SEQUENCE_AP_SPACE) {
        if (a->address > UINT32_MAX)
            return diag_set(d, CORRAL_ERR_NO_AP, "there is no access port register 0x%" PRIx64, a->address);
        *ap = (uint32_t)a->address & ~(AP_BLOCK - 1);
        return CORRAL_OK;
    }
    return a->op == SEQUENCE_DP ? CORRAL_OK : port_of(s, &a->port, ap, d);
}

/* Values in the host's form of that size, and back. */
union word {
    uint8_t b;
    uint16_t h;
    uint32_t w;
    uint64_t d;
};

static void put_value(union word *w, unsigned size, uint64_t value)
{
    if (size == 1)
        w->b = (uint8_t)value;
    else if (size == 2)
        w->h = (uint16_t)value;
    else if (size == 4)
        w->w = (uint32_t)value;
    else
        w->d = value;
}

static uint64_t get_value(const union word *w, unsigned size)
{
    return size == 1 ? w->b : size == 2 ? w->h : size == 4 ? w->w : w->d;
}

static struct link_access access_of(const struct sequence_access *a, uint32_t ap, union word *data)
{
    static const enum link_op read_ops[] = {LINK_MEM_READ, LINK_AP_READ, LINK_AP_READ, LINK_DP_READ};
    static const enum link_op write_ops[] = {LINK_MEM_WRITE, LINK_AP_WRITE, LINK_AP_WRITE, LINK_DP_WRITE};
    put_value(data, a->size, a->value);
    return (struct link_access){.op = a->write ? write_ops[a->op] : read_ops[a->op],
                                .size = (uint8_t)a->size,
                                .ap = ap,
                                .address = a->op == SEQUENCE_AP_SPACE ? a->address % AP_BLOCK : a->address,
                                .count = 1,
                                .data = data};
}

/* A stretch of accesses that are the link's own kind, in one batch. *n: how many went well. */
static enum corral_err do_batch(const struct sequences *s, struct sequence_access *list, const uint32_t *aps,
                                size_t count, size_t *n, struct diag *d)
{
    struct link_access one, *accesses = count == 1 ? &one : calloc(count, sizeof(*accesses));
    union word word, *words = count == 1 ? &word : calloc(count, sizeof(*words));
    enum corral_err err = CORRAL_OK;
    *n = 0;
    if (!accesses || !words)
        err = diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; !err && i < count; i++)
        accesses[i] = access_of(&list[i], aps[i], &words[i]);
    if (!err)
        err = link_execute(s->link, accesses, count, d);
    for (size_t i = 0; accesses && words && i < count && accesses[i].status == CORRAL_OK; i++) {
        if (!list[i].write)
            list[i].value = get_value(&words[i], list[i].size);
        publish(s, &list[i], aps[i]);
        ++*n;
    }
    if (err && *n == count)
        *n = count - 1; /* it failed as a whole: which one is not known */
    if (count != 1) {
        free(accesses);
        free(words);
    }
    return err;
}

static enum corral_err do_raw(const struct sequences *s, struct sequence_access *a, struct diag *d)
{
    struct link_raw raw = raw_of(a);
    enum corral_err err;
    if (a->op == SEQUENCE_ABORT && !link_can_raw(s->link, LINK_RAW_ABORT))
        err = link_write_dp(s->link, 0, (uint32_t)a->value, d);
    else
        err = link_raw(s->link, &raw, d);
    if (!err && (a->op == SEQUENCE_PINS || a->op == SEQUENCE_JTAG_SEQUENCE))
        a->value = raw.in;
    if (!err)
        publish(s, a, 0);
    return err;
}

static enum corral_err do_all(const struct sequences *s, struct sequence_access *list, const uint32_t *aps,
                              size_t count, size_t *done, struct diag *d)
{
    while (*done < count) {
        struct sequence_access *a = &list[*done];
        size_t n = 1;
        enum corral_err err = CORRAL_OK;
        if (a->op == SEQUENCE_DELAY) {
            host_clock_sleep(link_clock(s->link), a->value < INT64_MAX / NS_PER_US
                                                      ? (int64_t)a->value * NS_PER_US
                                                      : INT64_MAX / 2);
            publish(s, a, 0);
        } else if (is_raw(a->op)) {
            err = do_raw(s, a, d);
            n = err ? 0 : 1;
        } else {
            size_t stretch = 1;
            while (*done + stretch < count && list[*done + stretch].op <= SEQUENCE_DP)
                stretch++;
            err = do_batch(s, a, &aps[*done], stretch, &n, d);
        }
        *done += n;
        if (err)
            return err;
    }
    return CORRAL_OK;
}

/* Within one call on the link's thread nothing comes between: that is what `atomic` needs. */
static enum corral_err on_access(void *ctx, struct sequence_access *list, size_t count, bool atomic,
                                 size_t *done, struct diag *d)
{
    const struct sequences *s = ctx;
    uint32_t few[4], *aps = count <= 4 ? few : NULL;
    enum corral_err err = CORRAL_OK;
    (void)atomic;
    *done = 0;
    if (count > BATCH_MOST)
        return diag_set(d, CORRAL_ERR_LIMIT, "an atomic block has %zu accesses; at most %d go in one", count,
                        BATCH_MOST);
    if (!aps && !(aps = calloc(count, sizeof(*aps))))
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; !err && i < count; i++)
        err = check(s, &list[i], &aps[i], d);
    if (!err)
        err = do_all(s, list, aps, count, done, d);
    if (aps != few)
        free(aps);
    return err;
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
    static const struct sequence_target target = {.access = on_access, .message = on_message};
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

/* Once for each debug port: by its first processor. */
static enum corral_err start_ports(struct sequences *s, struct link *link, struct diag *d)
{
    const struct pack_device *device = s->o.device;
    const struct pack_processor *start = sequences_start_processor(device);
    enum corral_err err = run_usable_on(s, link, "DebugPortStart", start, start ? start->dp : 0, d);
    for (size_t i = 0; !err && i < device->processor_count; i++) {
        bool served = start && device->processors[i].dp == start->dp;
        for (size_t k = 0; k < i; k++)
            served |= device->processors[k].dp == device->processors[i].dp;
        if (!served)
            err =
                run_usable_on(s, link, "DebugPortStart", &device->processors[i], device->processors[i].dp, d);
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
