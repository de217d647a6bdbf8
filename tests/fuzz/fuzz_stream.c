/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of everything behind the socket: datagrams of several senders through the streams and the
 * analysis, each event as JSON, and the report at the end. The input is a list of steps of four bytes and a
 * body:
 *
 *   sender, step of the clock, size of the body (16 bits, big-endian; at most 2100)
 *
 * Senders 0 and 1 are named, 2 to 99 are addresses (more than the table holds), 100 begins the counting anew,
 * 101 asks for legacy headers, 102 hands over a packet that is no datagram, 103 a table of HRT shares, 104 a
 * sender's name, and the rest are drops told by the kernel. Most have an image (fuzz_image.h), at two places.
 * What must hold whatever comes: sums are sums of their parts, shares are shares, and nothing is infinite or
 * no number.
 */
#include <math.h>
#include <string.h>

#include "base/host_clock.h"
#include "event/event_json.h"
#include "fuzz_image.h"
#include "fuzz_target.h"
#include "prof/analysis.h"
#include "prof/report.h"

#define STEPS_MOST 400 /* of one input, so that none takes long */
#define BODY_MOST  2100

static enum corral_err take_event(void *ctx, const struct event *event, struct diag *d)
{
    uint64_t *events = ctx;
    json_t *json = event_to_json(event); /* jansson makes no number of what is none, so NULL tells */

    (void)d;
    FUZZ_CHECK(json);
    FUZZ_CHECK(json_is_string(json_object_get(json, "kind")));
    ++*events;
    json_decref(json);
    return CORRAL_OK;
}

static int64_t clock_step(uint8_t step)
{
    if (step == 0xff) /* somebody set the clock back */
        return -5 * NS_PER_S;
    return step < 200 ? step * NS_PER_MS : (int64_t)(step - 199) * NS_PER_S;
}

/* Whatever a caller may put into the struct, numbers that no packet can hold with it. */
static void hand_over(struct prof_streams *s, const uint8_t *body, size_t size, int64_t now)
{
    static struct profile_sample samples[PROF_MAX_SAMPLES + 5];
    struct profile_packet packet = {.version = 17, .layout = PROFILE_V17, .samples = samples};

    if (size < 8)
        return;
    packet.header.thread_count = body[0];
    packet.header.perf_counter_count = body[1];
    packet.sample_count = body[2] ? (size - 8) / 8 : sizeof(samples) / sizeof(samples[0]);
    packet.sample_count =
        packet.sample_count < PROF_MAX_SAMPLES + 5 ? packet.sample_count : PROF_MAX_SAMPLES + 5;
    packet.header.sample_count = body[3];
    packet.header.seq = load_be16(body + 4);
    packet.header.enabled = load_be16(body + 6);
    packet.header.clock_hz = 1000000;
    packet.header.clocks = packet.header.seq * 1000u;
    for (size_t i = 0; i < packet.sample_count; i++) {
        const uint8_t *p = body + 8 + (8 * i + 8 <= size - 8 ? 8 * i : 0);
        samples[i] = (struct profile_sample){.thread = size >= 16 ? p[0] : 0};
        if (size < 16)
            continue;
        samples[i].parent_count = p[1];
        samples[i].active = (uint16_t)(p[2] * 0x101);
        samples[i].d_blocked = p[3];
        samples[i].pc = FUZZ_IMAGE_BASE + load_be16(p + 4);
        samples[i].a5 = FUZZ_IMAGE_BASE + load_be16(p + 6);
    }
    prof_streams_packet(s, "core0:pcsr", &packet, now);
}

static void one_step(struct prof_streams *s, struct prof_analysis *analysis, uint8_t sender,
                     const uint8_t *body, size_t size, int64_t now)
{
    char name[32];

    if (sender == 102) {
        hand_over(s, body, size, now);
    } else if (sender == 103) {
        uint8_t table[64] = {0};
        memcpy(table, body, size < sizeof(table) ? size : sizeof(table));
        prof_analysis_hrt_table(analysis, 0, table);
    } else if (sender == 104) {
        snprintf(name, sizeof(name), "10.0.0.%u:51080", size ? body[0] % 100u : 0);
        enum corral_err err = prof_streams_name(s, name, size > 1 ? "named" : "", NULL);
        FUZZ_CHECK(err == CORRAL_OK || err == CORRAL_ERR_LIMIT || (err == CORRAL_ERR_USAGE && size <= 1));
    } else if (sender > 104) {
        prof_streams_kernel_drops(s, sender - 100u, now);
    } else if (sender == 101) {
        prof_streams_legacy_headers(s);
    } else if (sender == 100) {
        prof_streams_reset(s);
    } else {
        uint8_t *exact = malloc(size ? size : 1);
        FUZZ_CHECK(exact);
        memcpy(exact, body, size);
        snprintf(name, sizeof(name), "10.0.0.%u:51080", sender);
        prof_streams_datagram(s, name, exact, size, now);
        free(exact);
    }
}

static void run_steps(struct prof_streams *s, struct prof_analysis *analysis, struct event_bus *bus,
                      const uint8_t *data, size_t size)
{
    int64_t now = NS_PER_S;

    for (unsigned n = 0; size >= 4 && n < STEPS_MOST; n++) {
        size_t body = (size_t)data[2] << 8 | data[3];
        body = body < BODY_MOST ? body : BODY_MOST;
        body = body < size - 4 ? body : size - 4;
        now += clock_step(data[1]);
        one_step(s, analysis, data[0], data + 4, body, now);
        FUZZ_CHECK(event_bus_drain(bus, NULL) == CORRAL_OK);
        data += 4 + body;
        size -= 4 + body;
    }
}

static void check_share(double share)
{
    FUZZ_CHECK(isfinite(share) && share >= 0 && share <= 1.0000001);
}

/* Not known (below 0), or a number. */
static void check_rate(double rate)
{
    FUZZ_CHECK(isfinite(rate) && (rate >= 0 || rate == -1));
}

static void check_totals(const struct prof_totals *t)
{
    uint64_t rejected = 0;

    for (unsigned i = 0; i < PROF_REASONS; i++)
        rejected += t->rejected_by[i];
    FUZZ_CHECK(rejected == t->rejected && t->rejected_by[PROF_REASON_OTHER] == 0);
    FUZZ_CHECK(t->active_samples <= t->samples);
    FUZZ_CHECK(t->duplicates + t->late <= t->packets);
    FUZZ_CHECK(t->empty + t->trailing <= 2 * t->packets);
    FUZZ_CHECK(t->lost <= (t->packets + t->rejected) * 65536); /* nothing went below 0 */
    FUZZ_CHECK(t->idle_steps <= t->packets + t->rejected);
}

static void check_sources(const struct prof_report *r)
{
    uint64_t samples = 0, lost = 0, packets = 0;

    for (size_t i = 0; i < r->source_count; i++) {
        const struct prof_report_source *s = &r->sources[i];
        check_totals(&s->totals);
        samples += s->totals.samples;
        lost += s->totals.lost;
        packets += s->totals.packets;
        FUZZ_CHECK(s->utilisation == -1 || (s->utilisation >= 0 && s->utilisation <= 1));
        FUZZ_CHECK(s->active <= s->totals.active_samples && s->unknown_pc <= s->active);
        check_rate(s->seconds);
        check_rate(s->sampling_hz);
        FUZZ_CHECK(isfinite(s->profiler_share) && s->profiler_share <= 1);
        FUZZ_CHECK(s->perf.count <= PROFILE_MAX_COUNTERS);
        for (unsigned k = 0; k < s->perf.count; k++)
            check_rate(s->perf.per_second[k]);
        if (s->perf.miss_rates_known) {
            check_share(s->perf.d_miss_rate);
            check_share(s->perf.i_miss_per_instruction);
        }
    }
    FUZZ_CHECK(samples == r->totals.samples && packets == r->totals.packets && lost == r->totals.lost);
}

static void check_functions(const struct prof_report *r)
{
    uint64_t self = 0, hot = 0, stacks = 0, overflow = 0;

    for (size_t i = 0; i < r->function_count; i++) {
        const struct prof_report_function *f = &r->functions[i];
        check_share(f->share);
        check_share(f->share_error);
        FUZZ_CHECK(f->frame.name && f->inclusive >= f->self && f->source < r->source_count);
        FUZZ_CHECK(isfinite(f->weight) && f->weight >= 0 && f->caller_count <= PROF_REPORT_CALLERS);
        FUZZ_CHECK(f->i_blocked <= f->self && f->d_blocked <= f->self);
        if (f->mips_known)
            check_rate(f->mips);
        self += f->self;
    }
    for (size_t i = 0; i < r->hot_count; i++)
        hot += r->hot[i].count;
    for (size_t i = 0; i < r->stack_count; i++)
        stacks += r->stacks[i].count;
    for (size_t i = 0; i < r->source_count; i++)
        overflow += r->sources[i].overflow;
    FUZZ_CHECK(self == stacks && hot <= self);
    FUZZ_CHECK(self + overflow <= r->totals.active_samples);
}

static void check_rest(const struct prof_report *r)
{
    for (size_t i = 0; i < r->thread_count; i++) {
        const struct prof_report_thread *t = &r->threads[i];
        FUZZ_CHECK(t->thread < PROFILE_MAX_THREADS && t->source < r->source_count);
        FUZZ_CHECK(t->active <= t->samples && t->i_blocked <= t->active && t->d_blocked <= t->active);
        check_share(t->rate);
        check_share(t->utilisation);
        if (t->mips_known)
            check_rate(t->mips);
    }
    for (size_t i = 0; i < r->counter_count; i++) {
        const struct prof_report_counter *c = &r->counters[i];
        FUZZ_CHECK(c->name && c->min <= c->value && c->value <= c->max);
        FUZZ_CHECK(!c->rate_known || isfinite(c->per_second));
        for (size_t k = 0; k < i; k++)
            FUZZ_CHECK(r->counters[k].source != c->source || strcmp(r->counters[k].name, c->name) != 0);
    }
    for (size_t i = 0; i < r->maps_count; i++)
        FUZZ_CHECK(r->maps[i].type_count <= 32 && r->maps[i].page_bytes >= 1024);
}

/* One image at two places, and a map of a process without one. Made once for each machine. */
static struct symbol_space *the_space(size_t index)
{
    static const enum fuzz_machine machines[] = {FUZZ_UBICOM, FUZZ_UBICOM, FUZZ_ARM, FUZZ_AARCH64, FUZZ_MIPS};
    static uint8_t bytes[sizeof(machines) / sizeof(machines[0])][FUZZ_IMAGE_SIZE];
    static struct symbol_space *spaces[sizeof(machines) / sizeof(machines[0])];
    size_t which = index % (sizeof(machines) / sizeof(machines[0]));
    struct diag d = DIAG_INIT;

    if (spaces[which])
        return spaces[which];
    fuzz_image_make(bytes[which], machines[which]);
    struct symbol_index *image = symbol_open_memory(bytes[which], FUZZ_IMAGE_SIZE, "image", &d);
    struct symbol_space *space = symbol_space_new();
    FUZZ_CHECK(image && space && symbol_space_add(space, image, 0, NULL) == CORRAL_OK);
    FUZZ_CHECK(symbol_space_add(space, image, 0x20000000, NULL) == CORRAL_OK);
    FUZZ_CHECK(symbol_space_add_map(space, 7, 0x70000000, 0x70001000, 0, "/bin/x", NULL, NULL) == CORRAL_OK);
    spaces[which] = space;
    return space;
}

static void check_report(struct prof_streams *streams, struct prof_analysis *analysis, int thread)
{
    struct symbol_space *spaces[PROF_MAX_SOURCES];
    struct diag d = DIAG_INIT;

    for (size_t i = 0; i < PROF_MAX_SOURCES; i++)
        spaces[i] = i % 8 == 7 ? NULL : the_space(i);
    const struct prof_report_options options = {
        .spaces = spaces, .space_count = PROF_MAX_SOURCES, .thread = thread, .hot_limit = 20, .stacks = true};
    struct prof_report *report = prof_report_make(streams, analysis, &options, &d);
    FUZZ_CHECK(report);
    check_totals(&report->totals);
    check_sources(report);
    check_functions(report);
    check_rest(report);
    prof_report_free(report);
}

/* What is read of the streams alone, without a report. */
static void check_streams(struct prof_streams *s)
{
    struct prof_thread_row rows[PROFILE_MAX_THREADS];
    struct prof_totals all, one;
    char name[PROF_SOURCE_NAME_ROOM];
    uint64_t samples = 0;
    size_t count = prof_streams_threads(s, rows);

    FUZZ_CHECK(count <= PROFILE_MAX_THREADS);
    for (size_t i = 0; i < count; i++)
        FUZZ_CHECK(!rows[i].mips_known || (isfinite(rows[i].mips) && rows[i].mips >= 0));
    prof_streams_get_totals(s, &all);
    check_totals(&all);
    for (unsigned i = 0; i <= PROF_MAX_SOURCES; i++) {
        bool used = prof_streams_source_totals(s, i, name, &one);
        FUZZ_CHECK(used == (name[0] != 0) && (used || one.samples == 0));
        samples += one.samples;
    }
    FUZZ_CHECK(samples <= all.samples);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sink_ops ops = {.name = "fuzz", .write = take_event};
    uint64_t events = 0;
    struct event_bus *bus = event_bus_new();
    struct prof_analysis *analysis = prof_analysis_new();
    struct prof_streams *streams = bus && analysis ? prof_streams_new(bus, analysis) : NULL;
    FUZZ_CHECK(streams);
    struct sink *sink = sink_new(&ops, &events, 0);
    FUZZ_CHECK(sink && event_bus_attach(bus, sink, NULL) == CORRAL_OK);
    FUZZ_CHECK(prof_streams_name(streams, "10.0.0.0:51080", "core0", NULL) == CORRAL_OK);
    FUZZ_CHECK(prof_streams_name(streams, "10.0.0.1:51080", "core1", NULL) == CORRAL_OK);
    prof_analysis_count_conditions(analysis, 0);

    run_steps(streams, analysis, bus, data, size);

    check_streams(streams);
    check_report(streams, analysis, -1);
    check_report(streams, analysis, size ? data[0] % 16 : 0);
    prof_streams_free(streams);
    prof_analysis_free(analysis);
    event_bus_free(bus, NULL);
    return 0;
}
