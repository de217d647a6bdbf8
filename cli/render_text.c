/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as text for people: one line an event, losses loud (DESIGN.md "The idea of the house").
 *
 * The first column is the target's own time where the event has one; host time is marked with '@', because
 * the two clocks have nothing to do with each other. Text from outside reaches a line through base/text.h
 * only, and is never a format. Holds no logic a library user would want.
 */
#include <inttypes.h>
#include <string.h>

#include "base/host_clock.h"
#include "base/text.h"
#include "cli/cli.h"

#define RED    "31"
#define YELLOW "33"
#define BOLD   "1"
#define LOUD   "1;31"
#define DIM    "2"

struct text_out {
    FILE *out;
    bool colour;
};

static void colour_on(const struct text_out *t, const char *code)
{
    if (t->colour && code)
        fprintf(t->out, "\033[%sm", code);
}

static void colour_off(const struct text_out *t, const char *code)
{
    if (t->colour && code)
        fputs("\033[0m", t->out);
}

/* A name or message that did not come through text_clean_log. */
static void put_text(const struct text_out *t, const char *text)
{
    char piece[TEXT_CLEAN_MAX(512)];
    if (!text)
        text = "";
    text_escape((const uint8_t *)text, strlen(text), piece, sizeof(piece));
    fputs(piece, t->out);
}

static void put_time(const struct text_out *t, const struct event *e)
{
    bool target = e->target_ns != EVENT_NO_TIME;
    int64_t ns = target ? e->target_ns : e->host_ns;
    if (ns == EVENT_NO_TIME)
        return;
    ns = ns < 0 ? 0 : ns;
    int64_t s = ns / NS_PER_S;
    fprintf(t->out, "%s%02" PRId64 ":%02d:%02d.%03d ", target ? "" : "@", s / 3600, (int)(s / 60 % 60),
            (int)(s % 60), (int)(ns % NS_PER_S / NS_PER_MS));
}

/* Time, then the core or else the stream. */
static void put_head(const struct text_out *t, const struct event *e)
{
    put_time(t, e);
    put_text(t, e->core ? e->core : e->stream);
    putc(' ', t->out);
}

static void put_log(const struct text_out *t, const struct event *e)
{
    const struct event_log *log = &e->log;
    char level[EVENT_LOG_NAME_MAX], source[EVENT_LOG_NAME_MAX];
    const char *code = log->level == 1 ? RED : log->level == 2 ? YELLOW : log->level >= 4 ? DIM : NULL;
    if (!log->text || (!log->text[0] && !log->torn))
        return; /* an empty record has nothing to read */
    put_head(t, e);
    colour_on(t, code);
    fprintf(t->out, "%s %s %s", event_log_source_name(log->source, source),
            event_log_level_name(log->level, level), log->text);
    colour_off(t, code);
    fputs(log->torn ? " [cut by the firmware]\n" : "\n", t->out);
}

static void put_gap(const struct text_out *t, const struct event *e)
{
    const char *what = strncmp(e->stream, "prof", 4) == 0 ? "packets" : "records";
    bool own = strcmp(e->gap.reason ? e->gap.reason : "", "sink") == 0;
    if (own)
        what = "events";
    put_head(t, e);
    colour_on(t, LOUD);
    if (e->gap.lost == EVENT_LOST_UNKNOWN)
        fprintf(t->out, "-- %s lost, nobody knows how many", what);
    else
        fprintf(t->out, "-- %" PRId64 " %.*s lost", e->gap.lost, (int)strlen(what) - (e->gap.lost == 1),
                what);
    if (own)
        fputs(" on the way to this output", t->out);
    else
        fprintf(t->out, " (expected %" PRIu32 ", got %" PRIu32 ")", e->gap.expected, e->gap.sequence);
    fputs(" --", t->out);
    colour_off(t, LOUD);
    putc('\n', t->out);
}

static void put_restart(const struct text_out *t, const struct event *e)
{
    put_head(t, e);
    colour_on(t, BOLD);
    fprintf(t->out, "-- restarted (sequence %" PRIu32 ", then %" PRIu32 ") --", e->restart.previous,
            e->restart.sequence);
    colour_off(t, BOLD);
    putc('\n', t->out);
}

static void put_anomaly(const struct text_out *t, const struct event *e)
{
    put_head(t, e);
    colour_on(t, YELLOW);
    fprintf(t->out, "anomaly: %s 0x%" PRIx64 " at offset %" PRIu64,
            e->anomaly.reason ? e->anomaly.reason : "?", e->anomaly.value, e->anomaly.offset);
    colour_off(t, YELLOW);
    putc('\n', t->out);
}

static void put_batch(const struct text_out *t, const struct event *e)
{
    colour_on(t, DIM);
    put_text(t, e->batch.file);
    fprintf(t->out, ": %s, %s", e->batch.status ? e->batch.status : "?",
            e->batch.release ? "to be handed back" : "not to be handed back");
    if (e->batch.torn_header_bytes)
        fprintf(t->out, ", %" PRIu32 " bytes of a cut record header", e->batch.torn_header_bytes);
    colour_off(t, DIM);
    putc('\n', t->out);
}

static void put_profile(const struct text_out *t, const struct event *e)
{
    const struct profile_packet *p = &e->profile;
    put_head(t, e);
    bool legacy = p->layout == PROFILE_LEGACY;
    fprintf(t->out, "profile %s", profile_layout_name(p->layout));
    if (legacy)
        fprintf(t->out, " version %u", p->version);
    if (!legacy || p->version >= 7) /* there were no numbers before */
        fprintf(t->out, " seq %" PRIu32, p->header.seq);
    if (legacy)
        fprintf(t->out, ": header only, %u samples not read", p->header.sample_count);
    else
        fprintf(t->out, ": %zu samples", p->sample_count);
    if (p->bad_samples)
        fprintf(t->out, ", %" PRIu32 " refused", p->bad_samples);
    if (p->header.clock_hz)
        fprintf(t->out, ", %.3f MHz", p->header.clock_hz / 1e6);
    if (p->trailing)
        fprintf(t->out, ", %" PRIu32 " bytes behind the last sample", p->trailing);
    putc('\n', t->out);
}

static void put_packet(const struct text_out *t, const struct event *e)
{
    put_head(t, e);
    if (e->kind == EVENT_COUNTERS) {
        fprintf(t->out, "profile counters: %zu value%s", e->counters.count,
                e->counters.count == 1 ? "" : "s");
        if (e->counters.truncated)
            fprintf(t->out, ", %" PRIu32 " cut off", e->counters.truncated);
    } else if (e->kind == EVENT_MAPS) {
        fprintf(t->out, "profile maps %s: %zu entries, pages of %" PRIu64 " bytes",
                e->maps.v21 ? "v21" : "v17", e->maps.count, UINT64_C(1) << (e->maps.page_shift & 63));
        if (e->maps.bad_entries)
            fprintf(t->out, ", %" PRIu32 " refused", e->maps.bad_entries);
    } else {
        const char *reason = e->reject.reason ? e->reject.reason : "?";
        colour_on(t, YELLOW);
        fprintf(t->out, "refused a packet of %zu bytes: %s", e->reject.size, reason);
        if (e->reject.version >= 0)
            fprintf(t->out, ", version %d", e->reject.version);
        if (strcmp(reason, "magic") == 0)
            fprintf(t->out, ", 0x%04x", (unsigned)e->reject.value);
        else if (strcmp(reason, "byte-order") == 0)
            fprintf(t->out, ", 0x%04x is 0x%04x swapped", (unsigned)e->reject.value,
                    (unsigned)(uint16_t)(e->reject.value << 8 | e->reject.value >> 8));
        colour_off(t, YELLOW);
    }
    putc('\n', t->out);
}

static void put_halted_core(const struct text_out *t, const struct event_core *core, bool alone)
{
    put_text(t, core->name);
    if (core->first && alone)
        fputs(" stopped first:", t->out);
    if (core->state != CORE_HALTED)
        fprintf(t->out, " %s", core_state_name(core->state));
    else if (core->reason != HALT_REASON_NONE)
        fprintf(t->out, " %s", halt_reason_name(core->reason));
    else
        fputs(" halted", t->out);
    if (core->pc_known)
        fprintf(t->out, " at 0x%08" PRIx32, core->pc);
}

static void put_halt(const struct text_out *t, const struct event *e)
{
    const struct event_halt *halt = &e->halt;
    size_t count = halt->core_count < EVENT_MAX_CORES ? halt->core_count : EVENT_MAX_CORES;
    put_time(t, e);
    colour_on(t, BOLD);
    fputs("halt: ", t->out);
    /* Who was first comes first. Several with a reason of their own: nobody knows, and nobody is called so.
     */
    const char *separator = "";
    size_t firsts = 0;
    for (size_t i = 0; i < count; i++)
        firsts += halt->cores[i].first;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++)
            if (halt->cores[i].first == (pass == 0)) {
                fputs(separator, t->out);
                put_halted_core(t, &halt->cores[i], firsts == 1);
                separator = "; ";
            }
    if (halt->skew_ns != EVENT_NO_TIME)
        fprintf(t->out, "; skew %" PRId64 " ns", halt->skew_ns);
    if (halt->skew_ns != EVENT_NO_TIME && halt->skew_error_ns != EVENT_NO_TIME)
        fprintf(t->out, " +-%" PRId64 " ns", halt->skew_error_ns);
    fprintf(t->out, " (%s)", group_mechanism_name(halt->mechanism));
    colour_off(t, BOLD);
    putc('\n', t->out);
}

static void put_run(const struct text_out *t, const struct event *e)
{
    const struct event_halt *run = &e->halt;
    size_t count = run->core_count < EVENT_MAX_CORES ? run->core_count : EVENT_MAX_CORES;
    put_time(t, e);
    fputs("run: ", t->out);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "; " : "", t->out);
        put_text(t, run->cores[i].name);
        fprintf(t->out, " %s", core_state_name(run->cores[i].state));
        if (!run->cores[i].restarted && run->mechanism != GROUP_MECHANISM_NONE)
            fputs(run->cores[i].state == CORE_RUNNING ? " (ran already)" : " (not seen to restart)", t->out);
    }
    if (run->mechanism == GROUP_MECHANISM_NONE)
        fputs(" (nothing to start: no core was halted)\n", t->out);
    else
        fprintf(t->out, " (%s)\n", group_mechanism_name(run->mechanism));
}

static void put_other(const struct text_out *t, const struct event *e)
{
    const struct event_access *a = &e->access;
    switch (e->kind) {
    case EVENT_CLOCK:
        put_head(t, e);
        fputs("clock ", t->out);
        put_text(t, e->clock.domain);
        fprintf(t->out, ": %" PRId64 " ns", e->clock.domain_time);
        break;
    case EVENT_LINK:
        put_head(t, e);
        fprintf(t->out, "link %s", e->link.state ? e->link.state : "?");
        fputs(e->link.message && e->link.message[0] ? ": " : "", t->out);
        put_text(t, e->link.message);
        break;
    case EVENT_MARKER:
        put_time(t, e);
        fputs("# ", t->out);
        put_text(t, e->marker.text);
        break;
    default:
        put_head(t, e);
        fprintf(t->out, "%s %s", a->write ? "write" : "read", a->space ? a->space : "mem");
        fprintf(t->out, " ap %" PRIu32 " 0x%08" PRIx64 " size %u: 0x%" PRIx64, a->ap, a->address,
                (unsigned)a->size, a->value);
        break;
    }
    putc('\n', t->out);
}

void render_text_event(FILE *out, bool colour, const struct event *event)
{
    const struct text_out screen = {out, colour}, *t = &screen;
    switch (event->kind) {
    case EVENT_LOG:
        put_log(t, event);
        break;
    case EVENT_GAP:
        put_gap(t, event);
        break;
    case EVENT_RESTART:
        put_restart(t, event);
        break;
    case EVENT_ANOMALY:
        put_anomaly(t, event);
        break;
    case EVENT_BATCH:
        put_batch(t, event);
        break;
    case EVENT_PROFILE:
        put_profile(t, event);
        break;
    case EVENT_COUNTERS:
    case EVENT_MAPS:
    case EVENT_REJECT:
        put_packet(t, event);
        break;
    case EVENT_HALT:
        put_halt(t, event);
        break;
    case EVENT_RUN:
        put_run(t, event);
        break;
    case EVENT_CLOCK:
    case EVENT_LINK:
    case EVENT_MARKER:
    case EVENT_ACCESS:
        put_other(t, event);
        break;
    case EVENT_KIND_COUNT:
        break;
    }
}
