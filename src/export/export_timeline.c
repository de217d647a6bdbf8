/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sink that draws events on a timeline for Chrome's trace viewer and those who read its files: a lane a
 * core with slices for its states, log lines and profile packets as instants, every loss as an instant that
 * says how many. Uses host_ns, but a log line is drawn where its core's own time puts it (export_placing.h);
 * an event without a time is put at the last time known and says so. Draws no state that nobody reported:
 * what a core did before its first halt or run event stays empty.
 */
#include "export/export_sinks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/export_file.h"
#include "export/export_placing.h"
#include "export/export_trace.h"

struct open_slice {
    bool open;
    enum core_state state;
    int64_t since; /* once closed: where it ended, which the next one may not precede */
    json_t *args;
};

struct timeline {
    struct export_file file;
    struct export_trace trace;
    struct open_slice slices[EXPORT_TRACE_MAX_LANES];        /* by lane */
    struct export_placing *placings[EXPORT_TRACE_MAX_LANES]; /* by lane; NULL until it is needed */
};

static const char *const loss_colour = "terrible";

static json_t *text_or_null(const char *text)
{
    return text ? export_trace_string(text) : json_null();
}

static const char *state_colour(enum core_state state)
{
    switch (state) {
    case CORE_RUNNING:
        return "thread_state_running";
    case CORE_HALTED:
        return "thread_state_iowait";
    default:
        return "bad";
    }
}

static void close_slice(struct timeline *t, uint32_t lane, int64_t ns)
{
    struct open_slice *s = &t->slices[lane];
    if (!s->open)
        return;
    export_trace_slice(&t->trace, lane, s->since, ns, core_state_name(s->state), state_colour(s->state),
                       s->args);
    *s = (struct open_slice){.open = false, .since = ns > s->since ? ns : s->since};
}

/* Why and how a core got into its new state, shown with the slice. */
static json_t *state_args(const struct event_halt *halt, const struct event_core *core, bool is_halt)
{
    json_t *args = json_object();
    json_object_set_new(args, "mechanism", json_string(group_mechanism_name(halt->mechanism)));
    if (is_halt) {
        json_object_set_new(args, "reason",
                            core->reason == HALT_REASON_NONE ? json_null()
                                                             : json_string(halt_reason_name(core->reason)));
        json_object_set_new(args, "first", json_boolean(core->first));
        if (core->pc_known) {
            char pc[16];
            snprintf(pc, sizeof(pc), "0x%08" PRIx32, core->pc);
            json_object_set_new(args, "pc", json_string(pc));
        }
        if (halt->skew_ns != EVENT_NO_TIME)
            json_object_set_new(args, "skew_ns", json_integer(halt->skew_ns));
        if (halt->skew_error_ns != EVENT_NO_TIME)
            json_object_set_new(args, "skew_error_ns", json_integer(halt->skew_error_ns));
    } else {
        json_object_set_new(args, "restarted", json_boolean(core->restarted));
    }
    return args;
}

static struct export_placing *placing_of(struct timeline *t, uint32_t lane)
{
    if (!t->placings[lane])
        t->placings[lane] =
            calloc(1, sizeof(*t->placings[lane])); /* without memory: drawn where it was read */
    return t->placings[lane];
}

static void draw_states(struct timeline *t, const struct event *e, int64_t ns)
{
    size_t count = e->halt.core_count < EVENT_MAX_CORES ? e->halt.core_count : EVENT_MAX_CORES;
    for (size_t i = 0; i < count; i++) {
        const struct event_core *core = &e->halt.cores[i];
        uint32_t lane = export_trace_lane(&t->trace, core->name ? core->name : e->stream);
        struct open_slice *s = &t->slices[lane];
        struct export_placing *placing = placing_of(t, lane);
        if (placing && core->state == CORE_HALTED)
            export_placing_halt(placing, ns);
        else if (placing && core->state == CORE_RUNNING)
            export_placing_run(placing, ns);
        if (s->open && s->state == core->state)
            continue;
        close_slice(t, lane, ns);
        if (core->state == CORE_UNKNOWN)
            continue;
        /* A state reported late begins where the last one ended: slices of a lane never overlap. */
        s->open = true;
        s->state = core->state;
        s->since = ns > s->since ? ns : s->since;
        s->args = state_args(&e->halt, core, e->kind == EVENT_HALT);
    }
}

static bool is_active(const struct profile_sample *s)
{
    return s->thread < PROFILE_MAX_THREADS && (s->active >> s->thread & 1);
}

/* The program counter that most active samples of a packet share; false when there is none. */
static bool hottest(const struct profile_packet *p, uint32_t *pc, size_t *hits)
{
    *hits = 0;
    for (size_t i = 0; i < p->sample_count; i++) {
        size_t same = 0;
        for (size_t k = 0; k < p->sample_count; k++)
            same += p->samples[k].pc == p->samples[i].pc && is_active(&p->samples[k]);
        if (same > *hits) {
            *hits = same;
            *pc = p->samples[i].pc;
        }
    }
    return *hits > 0;
}

/* Samples carry no time of their own, so a packet is one instant: when it came, and what was hottest in it.
 */
static const char *profile_entry(const struct event *e, json_t *args, char *name, size_t size)
{
    uint32_t pc = 0;
    size_t hits = 0;
    json_object_set_new(args, "seq", json_integer(e->profile.header.seq));
    json_object_set_new(args, "samples", json_integer((json_int_t)e->profile.sample_count));
    if (e->profile.bad_samples)
        json_object_set_new(args, "bad_samples", json_integer(e->profile.bad_samples));
    if (hottest(&e->profile, &pc, &hits)) {
        char text[16];
        snprintf(text, sizeof(text), "0x%08" PRIx32, pc);
        json_object_set_new(args, "hottest_pc", json_string(text));
        json_object_set_new(args, "hottest_count", json_integer((json_int_t)hits));
    }
    snprintf(name, size, "%zu samples", e->profile.sample_count);
    return name;
}

static const char *log_entry(const struct event *e, json_t *args, const char **colour)
{
    char level[EVENT_LOG_NAME_MAX];
    char source[EVENT_LOG_NAME_MAX];
    json_object_set_new(args, "level", json_string(event_log_level_name(e->log.level, level)));
    json_object_set_new(args, "source", json_string(event_log_source_name(e->log.source, source)));
    json_object_set_new(args, "sequence", json_integer(e->log.sequence));
    json_object_set_new(args, "timestamp", json_integer(e->log.timestamp));
    json_object_set_new(args, "text", text_or_null(e->log.text));
    if (e->log.torn)
        json_object_set_new(args, "torn", json_true());
    *colour = e->log.level == 1 ? "bad" : e->log.level == 2 ? "yellow" : NULL;
    return e->log.text && e->log.text[0] ? e->log.text : "(empty)";
}

static const char *gap_entry(const struct event *e, json_t *args, char *name, size_t size)
{
    bool known = e->gap.lost != EVENT_LOST_UNKNOWN;
    json_object_set_new(args, "lost", known ? json_integer(e->gap.lost) : json_null());
    json_object_set_new(args, "expected", json_integer(e->gap.expected));
    json_object_set_new(args, "sequence", json_integer(e->gap.sequence));
    json_object_set_new(args, "reason", text_or_null(e->gap.reason));
    if (known)
        snprintf(name, size, "lost %" PRId64, e->gap.lost);
    else
        snprintf(name, size, "lost, nobody knows how many");
    return name;
}

/* The instant for an event that is no state: its name, or NULL when it is not drawn. Fills in args. */
static const char *instant_of(const struct event *e, json_t *args, const char **colour, char *name,
                              size_t size)
{
    switch (e->kind) {
    case EVENT_LOG:
        return log_entry(e, args, colour);
    case EVENT_GAP:
        *colour = loss_colour;
        return gap_entry(e, args, name, size);
    case EVENT_RESTART:
        json_object_set_new(args, "previous", json_integer(e->restart.previous));
        json_object_set_new(args, "sequence", json_integer(e->restart.sequence));
        return "restart";
    case EVENT_ANOMALY:
        *colour = loss_colour;
        json_object_set_new(args, "offset", json_integer((json_int_t)e->anomaly.offset));
        json_object_set_new(args, "value", json_integer((json_int_t)e->anomaly.value));
        snprintf(name, size, "anomaly: %s", e->anomaly.reason ? e->anomaly.reason : "?");
        return name;
    case EVENT_PROFILE:
        return profile_entry(e, args, name, size);
    case EVENT_REJECT:
        *colour = loss_colour;
        json_object_set_new(args, "size", json_integer((json_int_t)e->reject.size));
        snprintf(name, size, "rejected: %s", e->reject.reason ? e->reject.reason : "?");
        return name;
    case EVENT_LINK:
        json_object_set_new(args, "message", text_or_null(e->link.message));
        snprintf(name, size, "link %s", e->link.state ? e->link.state : "?");
        return name;
    case EVENT_MARKER:
        return e->marker.text && e->marker.text[0] ? e->marker.text : "marker";
    case EVENT_COUNTERS:
        json_object_set_new(args, "count", json_integer((json_int_t)e->counters.count));
        return "counters";
    default: /* bookkeeping that is no happening on the target */
        return NULL;
    }
}

static enum corral_err timeline_write(void *ctx, const struct event *e, struct diag *d)
{
    struct timeline *t = ctx;
    (void)d; /* an entry that finds no memory is counted, and shown as lost in the file */
    bool timed = e->host_ns != EVENT_NO_TIME;
    int64_t ns = timed ? e->host_ns : t->trace.has_time ? t->trace.last_ns : 0;
    if (timed)
        export_trace_see(&t->trace, ns);
    if (e->kind == EVENT_HALT || e->kind == EVENT_RUN) {
        draw_states(t, e, ns);
        return CORRAL_OK;
    }
    char buffer[64] = "";
    const char *colour = NULL;
    json_t *args = json_object();
    json_object_set_new(args, "stream", text_or_null(e->stream));
    if (!timed)
        json_object_set_new(args, "time", json_string("not known"));
    const char *name = instant_of(e, args, &colour, buffer, sizeof(buffer));
    if (!name) {
        json_decref(args);
        return CORRAL_OK;
    }
    uint32_t lane = export_trace_lane(&t->trace, e->core ? e->core : e->stream);
    bool placed = e->kind == EVENT_LOG && timed && e->target_ns != EVENT_NO_TIME;
    if (placed)
        json_object_set_new(args, "read_ns", json_integer(ns));
    struct export_trace_entry *entry = export_trace_instant(&t->trace, lane, ns, name, colour, args);
    if (placed && entry && placing_of(t, lane)) {
        entry->placed = true;
        entry->target_ns = e->target_ns;
        export_placing_line(t->placings[lane], e->target_ns, ns);
    }
    return CORRAL_OK;
}

/* Once all delays are known, each line goes to where it belongs. */
static void place_lines(struct timeline *t)
{
    for (size_t i = 0; i < t->trace.count; i++) {
        struct export_trace_entry *e = &t->trace.entries[i];
        if (e->placed)
            e->ns = export_placing_host(t->placings[e->lane], e->target_ns, e->ns);
    }
}

static enum corral_err timeline_close(void *ctx, struct diag *d)
{
    struct timeline *t = ctx;
    for (uint32_t lane = 0; lane < t->trace.lane_count; lane++)
        close_slice(t, lane, t->trace.last_ns);
    place_lines(t);
    for (uint32_t lane = 0; lane < EXPORT_TRACE_MAX_LANES; lane++)
        free(t->placings[lane]);
    export_trace_write(&t->trace, t->file.out);
    enum corral_err err = export_file_end(&t->file, d);
    export_trace_free(&t->trace);
    free(t);
    return err;
}

static const struct sink_ops timeline_ops = {"timeline", timeline_write, NULL, timeline_close};

struct sink *export_timeline_open(const char *path, struct diag *d)
{
    struct timeline *t = calloc(1, sizeof(*t));
    if (!t) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory for the timeline");
        return NULL;
    }
    if (export_file_begin(&t->file, path, d) != CORRAL_OK) {
        free(t);
        return NULL;
    }
    struct sink *sink = sink_new(&timeline_ops, t, SINK_QUEUE_DEFAULT);
    if (!sink) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory for the timeline");
        export_file_abandon(&t->file);
        free(t);
    }
    return sink;
}
