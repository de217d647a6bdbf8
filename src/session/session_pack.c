/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session whose device is described (session_options.pack): the port and the cores are come to and left by
 * the pack's debug sequences, cores have their processors' names, and the group gets the sequences for cross
 * triggers. Cross-trigger sheet 4.8, 4.9, 13.14 to 13.17.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/described.h"
#include "session/sequences.h"
#include "session/session_internal.h"

#define NOTES_MOST 64

struct session_pack {
    struct session *session;
    struct sequences *sequences;
    struct {
        const struct pack_processor *processor;
        uint32_t ap;
    } bound[PACK_MAX_PROCESSORS]; /* processors and where their cores are */
    size_t bound_count;
    struct group_sequences group;
    struct group_reset_by reset_by;
    bool left;
    char *notes[NOTES_MOST]; /* until the caller's thread tells them */
    size_t note_count;
};

static void note(void *ctx, enum sequence_message kind, const char *sentence)
{
    struct session_pack *p = ctx;
    (void)kind;
    for (size_t i = 0; i < p->note_count; i++)
        if (strcmp(p->notes[i], sentence) == 0)
            return;
    if (p->note_count < NOTES_MOST && (p->notes[p->note_count] = strdup(sentence)))
        p->note_count++;
}

static void note_of(struct session_pack *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note_of(struct session_pack *p, const char *fmt, ...)
{
    char sentence[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof(sentence), fmt, args);
    va_end(args);
    note(p, SEQUENCE_WARN, sentence);
}

void session_pack_note(struct session *s, const char *sentence)
{
    if (s->pack)
        note(s->pack, SEQUENCE_WARN, sentence);
}

void session_pack_tell(struct session *s)
{
    struct session_pack *p = s->pack;
    for (size_t i = 0; p && i < p->note_count; i++) {
        if (s->options.wire.note)
            s->options.wire.note(s->options.wire.ctx, p->notes[i]);
        free(p->notes[i]);
    }
    if (p)
        p->note_count = 0;
}

enum corral_err session_pack_open(struct session *s, struct diag *d)
{
    if (!s->options.pack)
        return CORRAL_OK;
    struct session_pack *p = s->pack = calloc(1, sizeof(*p));
    if (!p)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    p->session = s;
    struct sequences_options options = {
        .device = s->options.pack,
        .program = s->options.program,
        .bus = s->bus,
        .trace = s->options.trace_sequences,
        .sync = s->options.pack_sync,
        .protocol = sequences_protocol(s->options.link, s->options.wire.protocol),
        .connection = 1,
        .tolerant = session_is_board(s),
        .stop = s->options.stop,
        .timeout_ns = s->options.timeout_ns,
        .say = note,
        .ctx = p,
    };
    p->sequences = sequences_new(&options, d);
    return p->sequences ? CORRAL_OK : d ? d->code : CORRAL_ERR_NO_MEMORY;
}

const struct pack_device *session_pack_for_target(const struct session *s)
{
    return session_is_board(s) ? NULL : s->options.pack;
}

void session_pack_close(struct session *s)
{
    struct session_pack *p = s->pack;
    if (!p)
        return;
    session_pack_tell(s);
    sequences_free(p->sequences);
    free(p);
    s->pack = NULL;
}

enum corral_err session_pack_connect(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    return s->pack ? sequences_connect(s->pack->sequences, link, d) : CORRAL_OK;
}

/* ---- which processor is which core */

static bool has_core(const struct cs_topology *t, uint32_t ap)
{
    for (size_t i = 0; i < t->core_count; i++)
        if (t->cores[i].ap == ap && (t->cores[i].cortex_m || t->cores[i].stub))
            return true;
    return false;
}

static void bind(struct session_pack *p, const struct pack_processor *processor, uint32_t ap)
{
    p->bound[p->bound_count].processor = processor;
    p->bound[p->bound_count++].ap = ap;
}

/* The virtual board is none of the devices that packs are for: its cores stand in for the processors in
 * order, so that a description can be tried on it. */
static enum corral_err bind_in_order(struct session_pack *p, const struct cs_topology *t, struct diag *d)
{
    const struct pack_device *device = p->session->options.pack;
    for (size_t i = 0; i < t->core_count && p->bound_count < device->processor_count; i++) {
        const struct pack_processor *processor = &device->processors[p->bound_count];
        uint32_t ap;
        if (!t->cores[i].cortex_m)
            continue;
        enum corral_err err = sequences_ap_of(device, processor, &ap)
                                  ? sequences_stand_in(p->sequences, ap, t->cores[i].ap, d)
                                  : CORRAL_OK;
        if (err)
            return err;
        bind(p, processor, t->cores[i].ap);
    }
    if (p->bound_count)
        note_of(p,
                "the access ports of %s are not those of the virtual board: its cores stand for the "
                "processors in order",
                device->name);
    return CORRAL_OK;
}

enum corral_err session_pack_bind(struct session *s, struct diag *d)
{
    struct session_pack *p = s->pack;
    const struct cs_topology *t = s->topology;
    if (!p)
        return CORRAL_OK;
    const struct pack_device *device = s->options.pack;
    const struct pack_processor *missing = NULL, *start = sequences_start_processor(device);
    p->bound_count = 0;
    for (size_t i = 0; i < device->processor_count; i++) {
        uint32_t ap; /* of the debug port that the link is at: another port's has the same numbers */
        if (device->processors[i].dp == start->dp && sequences_ap_of(device, &device->processors[i], &ap) &&
            has_core(t, ap))
            bind(p, &device->processors[i], ap);
        else
            missing = &device->processors[i];
    }
    if (missing && session_is_board(s)) {
        p->bound_count = 0;
        return bind_in_order(p, t, d);
    }
    if (missing && p->bound_count)
        note_of(p,
                missing->dp == start->dp
                    ? "%s has a processor %s where no core answers"
                    : "%s has a processor %s at debug port %u, which this link is not at",
                device->name, missing->pname, missing->dp);
    if (missing && !p->bound_count && t->core_count) {
        diag_set(d, CORRAL_ERR_NO_CORE, "no core is where %s has its processors", device->name);
        diag_hint(d, "'corral scan' lists what is there");
        return CORRAL_ERR_NO_CORE;
    }
    return CORRAL_OK;
}

const struct pack_processor *session_pack_processor(const struct session *s, uint32_t ap)
{
    const struct session_pack *p = s->pack;
    for (size_t i = 0; p && i < p->bound_count; i++)
        if (p->bound[i].ap == ap)
            return p->bound[i].processor;
    return NULL;
}

bool session_pack_knows(const struct session *s, uint32_t ap)
{
    return !s->pack || !s->pack->bound_count || session_pack_processor(s, ap);
}

static const char *pname_of(const struct session *s, size_t core)
{
    const struct pack_processor *processor = session_pack_processor(s, core_ap(s->cores[core]));
    return processor ? processor->pname : NULL;
}

/* ---- cores */

static enum corral_err run_for(struct session_pack *p, size_t core, const char *name, struct diag *d)
{
    struct session *s = p->session;
    return sequences_run(p->sequences, core_link(s->cores[core]), name, pname_of(s, core), NULL, d);
}

/* The pack's own sequence of this name for this core, without mistakes. */
static bool core_has(const struct session_pack *p, size_t core, const char *name)
{
    const char *pname = pname_of(p->session, core);
    return pname && sequences_has(p->sequences, name, pname);
}

static bool has(void *ctx, size_t core)
{
    return core_has(ctx, core, "DebugCoreSetup") && core_has(ctx, core, "ProcessorHaltAcknowledge");
}

/* Asked for by the group, so sync is on. */
static enum corral_err set_up(void *ctx, size_t core, struct diag *d)
{
    struct session_pack *p = ctx;
    sequences_set_sync(p->sequences, true);
    return run_for(p, core, "DebugCoreSetup", d);
}

/* Of run control a member may have some and not others: then the group knows what to do. */
static enum corral_err run_own(void *ctx, size_t core, const char *name, struct diag *d)
{
    struct session_pack *p = ctx;
    if (!core_has(p, core, name))
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "%s has no %s", core_name(p->session->cores[core]), name);
    enum corral_err err = run_for(p, core, name, d);
    if (err != CORRAL_ERR_UNSUPPORTED)
        return err;
    /* It ran, perhaps past its pulse: to the group the code means that nothing happened. */
    if (d)
        d->code = CORRAL_ERR_SEQUENCE;
    return CORRAL_ERR_SEQUENCE;
}

static enum corral_err start(void *ctx, size_t core, struct diag *d)
{
    return run_own(ctx, core, "ProcessorStart", d);
}

static enum corral_err stop(void *ctx, size_t core, struct diag *d)
{
    return run_own(ctx, core, "ProcessorStop", d);
}

static enum corral_err acknowledge(void *ctx, size_t core, struct diag *d)
{
    return run_own(ctx, core, "ProcessorHaltAcknowledge", d);
}

const struct group_sequences *session_pack_sequences(const struct session *s)
{
    return s->pack && s->pack->group.ctx ? &s->pack->group : NULL;
}

/* Some members with a sequence of this name: then it is used for all that have it. */
static bool any_has(const struct session_pack *p, const char *name)
{
    for (size_t i = 0; i < p->session->core_count; i++)
        if (core_has(p, i, name))
            return true;
    return false;
}

/* The proposed names (the seed's option 2). */
static const char *const trigger_names[] = {"DebugCoreSetup", "ProcessorStart", "ProcessorStop",
                                            "ProcessorHaltAcknowledge"};
#define TRIGGER_NAMES (sizeof(trigger_names) / sizeof(trigger_names[0]))

/* One that is there and has mistakes: our own way is taken, and that is said. */
static void tell_unusable(struct session_pack *p)
{
    const struct sequence_program *program = p->session->options.program;
    for (size_t n = 0; n < TRIGGER_NAMES; n++)
        for (size_t i = 0; i < p->session->core_count; i++) {
            struct sequence_info info;
            const char *pname = pname_of(p->session, i);
            if (pname && sequence_is_defined(program, trigger_names[n], pname) &&
                sequence_find(program, trigger_names[n], pname, &info) && info.has_errors)
                note_of(p, "%s of %s is not used: it has mistakes, which 'corral sequence check' shows",
                        trigger_names[n],
                        sequence_set_file_name(p->session->options.pack->set, info.place.file));
        }
}

/* Some of the four names, and not those that the others need. */
static void tell_incomplete(struct session_pack *p)
{
    for (size_t i = 0; i < p->session->core_count; i++)
        for (size_t n = 0; n < TRIGGER_NAMES && !has(p, i); n++)
            if (core_has(p, i, trigger_names[n]))
                note_of(p,
                        "%s is not used for %s: cross triggers by sequences need DebugCoreSetup and "
                        "ProcessorHaltAcknowledge",
                        trigger_names[n], core_name(p->session->cores[i]));
}

static enum corral_err use_sequences(struct session_pack *p, struct diag *d)
{
    struct session *s = p->session;
    bool any = false;
    for (size_t i = 0; i < s->core_count; i++)
        any |= has(p, i);
    if (!any)
        return CORRAL_OK;
    p->group = (struct group_sequences){.ctx = p,
                                        .has = has,
                                        .set_up = set_up,
                                        .start = any_has(p, "ProcessorStart") ? start : NULL,
                                        .stop = any_has(p, "ProcessorStop") ? stop : NULL,
                                        .acknowledge = acknowledge};
    return group_use_sequences(s->group, &p->group, d);
}

/* ---- resets */

static enum corral_err run_if_own(struct session_pack *p, size_t core, const char *name, bool *done,
                                  struct diag *d)
{
    *done = core_has(p, core, name);
    return *done ? run_for(p, core, name, d) : CORRAL_OK;
}

static enum corral_err reset_by(void *ctx, size_t core, enum core_reset how, bool *done, struct diag *d)
{
    struct session_pack *p = ctx;
    const struct pack_processor *processor =
        session_pack_processor(p->session, core_ap(p->session->cores[core]));
    const char *name = how == CORE_RESET_CORE                      ? "ResetProcessor"
                       : processor && processor->reset_sequence[0] ? processor->reset_sequence
                                                                   : "ResetSystem";
    return run_if_own(p, core, name, done, d);
}

static enum corral_err catch_by(void *ctx, size_t core, bool on, bool *done, struct diag *d)
{
    return run_if_own(ctx, core, on ? "ResetCatchSet" : "ResetCatchClear", done, d);
}

const struct group_reset_by *session_pack_reset_by(const struct session *s)
{
    return s->pack && s->pack->reset_by.ctx ? &s->pack->reset_by : NULL;
}

/* Before DebugCoreStart, as the proposal has it. What a dead tool left is taken away before that: it would be
 * set aside as what was found. What does not hold the group sets up again. */
static enum corral_err first_set_up(struct session_pack *p, struct diag *d)
{
    struct session *s = p->session;
    enum corral_err err = group_repair(s->group, NULL, d);
    for (size_t i = 0; i < s->core_count && !err; i++) {
        struct diag why = DIAG_INIT;
        struct cti *cti = core_cti(s->cores[i]);
        if (!has(p, i) || !cti || cti_set_aside(cti, &why))
            continue;
        p->group.already_run = true;
        if (set_up(p, i, &why))
            note_of(p, "DebugCoreSetup of %s failed, and is tried again later: %s", core_name(s->cores[i]),
                    why.message);
    }
    return err;
}

enum corral_err session_pack_start(struct session *s, struct link *link, struct diag *d)
{
    struct session_pack *p = s->pack;
    if (!p || !(link_caps(link) & LINK_CAP_DAP))
        return CORRAL_OK;
    p->reset_by = (struct group_reset_by){.ctx = p, .reset = reset_by, .catch_vector = catch_by};
    if (s->options.pack_sync) {
        tell_unusable(p);
        tell_incomplete(p);
    }
    enum corral_err err = use_sequences(p, d);
    if (!err && p->group.ctx && s->options.pack_sync)
        err = first_set_up(p, d);
    for (size_t i = 0; i < s->core_count && !err; i++)
        err = sequences_run_usable(p->sequences, link, "DebugCoreStart", pname_of(s, i), d);
    sequences_ignore_stop(p->sequences);
    return err;
}

static bool any_halted(const struct session *s)
{
    for (size_t i = 0; i < s->core_count; i++) {
        struct core_status status;
        if (core_peek_status(s->cores[i], &status, NULL) == CORRAL_OK && status.state == CORE_HALTED)
            return true;
    }
    return false;
}

/* A core that is to stay halted keeps its debug power and C_DEBUGEN: DebugCoreStop and DebugPortStop would
 * take both, and let it go. */
enum corral_err session_pack_leave(struct session *s, struct link *link, bool leave_halted, struct diag *d)
{
    struct session_pack *p = s->pack;
    enum corral_err first = CORRAL_OK;
    if (!p || p->left || !(link_caps(link) & LINK_CAP_DAP))
        return CORRAL_OK;
    p->left = true;
    sequences_ignore_stop(p->sequences);
    if (leave_halted || any_halted(s))
        return first;
    for (size_t i = 0; i < s->core_count; i++) {
        struct diag why = DIAG_INIT;
        diag_keep_first(&first, d, sequences_stop_core(p->sequences, link, pname_of(s, i), &why), &why);
    }
    struct diag why = DIAG_INIT;
    diag_keep_first(&first, d, sequences_disconnect(p->sequences, link, &why), &why);
    return first;
}

/* ---- what the description says of each core's debugger */

bool session_pack_ports(const struct session *s, uint16_t ports[SESSION_MAX_CORES])
{
    const char *pnames[SESSION_MAX_CORES];
    for (size_t core = 0; core < s->core_count; core++)
        pnames[core] = s->options.pack ? pname_of(s, core) : NULL;
    return s->options.pack && described_ports(s->options.pack, pnames, s->core_count, ports);
}

const char *session_pack_program(const struct session *s, size_t core)
{
    const char *pname = s->options.pack ? pname_of(s, core) : NULL;
    return pname ? described_program(s->options.pack, pname) : NULL;
}
