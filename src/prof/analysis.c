/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets to sums by sender: profiler sheet 8 (what may be compared with what) and 9 (weights, intervals).
 * What a packet may be used for depends on its place in the sequence: a late one gives samples, but neither
 * clocks nor counters nor levels; after a restart nothing is compared with what was before. It knows nothing
 * of symbols, and prints nothing.
 */
#include "prof/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "prof/analysis_state.h"

#define NO_THREAD       PROFILE_MAX_THREADS
#define EVENTS_A_CLOCK  4    /* more than this of any event a clock cannot be: the counter was reset */
#define EVENTS_AT_LEAST 4096 /* clocks and counters are not read at the same moment */

_Static_assert(PROF_MAX_SOURCES == PROF_AGGREGATE_SOURCES, "one index for both");

/* With what was set for its index. */
static void begin_source(struct prof_source_state *s)
{
    struct prof_shares shares = s->shares;
    bool conditions = s->conditions;

    *s = (struct prof_source_state){
        .profiler = -1, .previous_thread = NO_THREAD, .shares = shares, .conditions = conditions};
}

struct prof_analysis *prof_analysis_new(void)
{
    struct prof_analysis *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    a->aggregate = prof_aggregate_new();
    if (!a->aggregate || pthread_mutex_init(&a->lock, NULL) != 0) {
        prof_aggregate_free(a->aggregate);
        free(a);
        return NULL;
    }
    for (size_t i = 0; i < PROF_MAX_SOURCES; i++)
        begin_source(&a->sources[i]);
    return a;
}

void prof_analysis_free(struct prof_analysis *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < PROF_MAX_SOURCES; i++) {
        prof_counter_table_clear(&a->sources[i].counters);
        prof_maps_clear(&a->sources[i].maps);
    }
    prof_aggregate_free(a->conditions);
    prof_aggregate_free(a->aggregate);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

struct prof_aggregate *prof_analysis_aggregate(struct prof_analysis *a)
{
    return a->aggregate;
}

void prof_analysis_hrt_table(struct prof_analysis *a, unsigned source, const uint8_t table[64])
{
    pthread_mutex_lock(&a->lock);
    for (unsigned i = 0; i < PROF_MAX_SOURCES; i++) {
        if (source != i && source != PROF_EVERY_SOURCE)
            continue;
        prof_weights_table(&a->sources[i].shares, table);
        a->sources[i].instant.known = false;
    }
    pthread_mutex_unlock(&a->lock);
}

void prof_analysis_count_conditions(struct prof_analysis *a, unsigned source)
{
    pthread_mutex_lock(&a->lock);
    if (!a->conditions)
        a->conditions = prof_aggregate_new(); /* without memory there are no branch outcomes, and all else */
    for (unsigned i = 0; i < PROF_MAX_SOURCES; i++)
        if (source == i || source == PROF_EVERY_SOURCE)
            a->sources[i].conditions = a->conditions != NULL;
    pthread_mutex_unlock(&a->lock);
}

/* --- samples -------------------------------------------------------------------------------------------- */

static unsigned latency_class(uint32_t latency)
{
    return latency ? 32u - (unsigned)__builtin_clz(latency) : 0;
}

/* The profiler's own thread is never sampled: one that was is none, whatever the header says. */
static void doubt_profiler(struct prof_source_state *s, const struct profile_packet *packet)
{
    if (s->profiler < 0)
        return;
    if (s->threads[s->profiler].samples)
        s->profiler = -1;
    for (size_t i = 0; s->profiler >= 0 && i < packet->sample_count; i++)
        if (packet->samples[i].thread == s->profiler)
            s->profiler = -1;
}

/* The threads that compete: those that are enabled and run, but for the profiler's own. */
static uint16_t competitors(const struct prof_source_state *s, const struct profile_header *h,
                            const struct profile_sample *sample)
{
    unsigned mask = sample->active;

    if (h->enabled)
        mask &= h->enabled;
    if (s->profiler >= 0)
        mask &= ~(1u << s->profiler);
    return (uint16_t)(mask | 1u << sample->thread);
}

static double weigh(struct prof_source_state *s, const struct profile_header *h,
                    const struct profile_sample *sample, unsigned i_blocked, unsigned d_blocked)
{
    unsigned blocked =
        (unsigned)sample->i_blocked | sample->d_blocked | (i_blocked | d_blocked) << sample->thread;

    prof_weights_instant(&s->instant, &s->shares, competitors(s, h, sample), (uint16_t)blocked, h->hrt,
                         h->high);
    return s->instant.weight[sample->thread];
}

/* One sample into the sums of its thread; returns its weight. */
static double take_sample(struct prof_source_state *s, const struct profile_packet *packet,
                          const struct profile_sample *sample)
{
    struct prof_thread_state *t = &s->threads[sample->thread];
    unsigned i_blocked = sample->self_i_blocked | (sample->i_blocked >> sample->thread & 1u);
    unsigned d_blocked = sample->self_d_blocked | (sample->d_blocked >> sample->thread & 1u);

    t->samples++;
    if (!(sample->active >> sample->thread & 1))
        return 0;
    t->active++;
    t->i_blocked += i_blocked;
    t->d_blocked += d_blocked;
    if (packet->layout == PROFILE_V17 && sample->thread == 0) {
        s->latency_count++;
        s->latency[latency_class(sample->latency)]++;
        if (sample->latency > s->latency_max)
            s->latency_max = sample->latency;
    }
    double weight = weigh(s, &packet->header, sample, i_blocked, d_blocked);
    t->weight += weight;
    return weight;
}

/* Fills in weights[]; returns how many instants began in the packet. */
static uint64_t take_samples(struct prof_source_state *s, const struct profile_packet *packet, bool late,
                             double weights[PROF_MAX_SAMPLES])
{
    unsigned previous = late ? NO_THREAD : s->previous_thread;
    uint64_t intervals = 0;

    doubt_profiler(s, packet);
    for (size_t i = 0; i < packet->sample_count; i++) {
        const struct profile_sample *sample = &packet->samples[i];
        intervals += previous == NO_THREAD || sample->thread <= previous;
        previous = sample->thread;
        weights[i] = take_sample(s, packet, sample);
    }
    if (!late) /* what comes next follows the packet in order, not the late one */
        s->previous_thread = previous;
    s->intervals += intervals;
    return intervals;
}

/* The same samples once more, with cond_codes in the place of the stack. */
static void count_conditions(struct prof_aggregate *conditions, unsigned source,
                             const struct profile_packet *packet)
{
    struct profile_sample samples[PROF_MAX_SAMPLES];
    struct profile_packet copy = *packet;

    for (size_t i = 0; i < packet->sample_count; i++)
        samples[i] = (struct profile_sample){.pc = packet->samples[i].pc,
                                             .pid = packet->samples[i].pid,
                                             .active = packet->samples[i].active,
                                             .thread = packet->samples[i].thread,
                                             .a5 = packet->samples[i].cond_codes};
    copy.layout = PROFILE_V17;
    copy.samples = samples;
    prof_aggregate_packet(conditions, source, &copy, NULL);
}

/* --- headers -------------------------------------------------------------------------------------------- */

static void note_groups(struct prof_source_state *s, const struct profile_header *h)
{
    s->known[PROF_GROUP_HEAP] |= h->heap_free || h->heap_low_water;
    s->known[PROF_GROUP_NETPAGE] |= h->netpage_free || h->netpage_low_water;
    s->known[PROF_GROUP_EXTHEAP] |= h->extheap_free || h->extheap_low_water;
    s->known[PROF_GROUP_EXTNETPAGE] |= h->extnetpage_free || h->extnetpage_low_water;
    s->known[PROF_GROUP_TIMING] |= h->timing_sequence || h->timing_interval || h->timing_worst_time ||
                                   h->timing_function || h->timing_average || h->timing_count;
    s->known[PROF_GROUP_DSR] |= h->dsr_max_latency || h->dsr_ave_latency || h->dsr_count;
    for (size_t t = 0; t < h->thread_count; t++) {
        uint32_t sp = h->min_sp[t];
        if (sp && (!s->threads[t].min_sp || sp < s->threads[t].min_sp))
            s->threads[t].min_sp = sp;
    }
}

/* NSS calls them stats[]; selectors that change make other counters of them. */
static void take_perf(struct prof_perf_state *p, const struct profile_packet *packet,
                      const struct prof_clock *clock, bool compare)
{
    const struct profile_header *h = &packet->header;
    bool nss = packet->layout == PROFILE_NSS;
    const uint32_t *now = nss ? h->stats : h->perf_counters;
    const uint8_t select[PROFILE_MAX_COUNTERS] = {h->stat_select[0], h->stat_select[1]};
    const uint8_t *config = nss ? select : h->perf_config;
    unsigned count = nss ? PROFILE_MAX_COUNTERS : h->perf_counter_count;

    if (count != p->count || memcmp(config, p->config, sizeof(p->config)) != 0) {
        *p = (struct prof_perf_state){.count = count};
        memcpy(p->config, config, sizeof(p->config));
    }
    uint64_t most = (uint64_t)clock->delta * EVENTS_A_CLOCK + EVENTS_AT_LEAST;
    for (unsigned i = 0; i < count; i++) {
        uint32_t rise = now[i] - p->last[i];
        p->nonzero |= now[i] != 0;
        p->last[i] = now[i];
        if (!compare || !p->based || (!nss && rise > most))
            continue;
        p->total[i] += rise;
        if (clock->hz)
            p->seconds[i] += (double)clock->delta / clock->hz;
    }
    p->based = true;
}

static void take_header(struct prof_source_state *s, const struct profile_packet *packet, bool compare,
                        const struct prof_clock *clock)
{
    const struct profile_header *h = &packet->header;

    s->header = *h;
    s->layout = packet->layout;
    s->version = packet->version;
    s->profiler = h->profiler_thread < h->thread_count ? (int)h->profiler_thread : -1;
    note_groups(s, h);
    for (size_t t = 0; t < h->thread_count; t++)
        s->counting |= (uint16_t)((h->instruction_count[t] != 0) << t);
    if (h->dsr_max_latency > s->dsr_max)
        s->dsr_max = h->dsr_max_latency;
    s->dsr_count += h->dsr_count;
    if (compare)
        s->profile_instructions += h->profile_instructions;
    take_perf(&s->perf, packet, clock, compare);
}

/* After a restart the sender's own minima and maxima begin anew, too; the profile goes on. */
static void begin_epoch(struct prof_source_state *s)
{
    s->moved = false;
    s->perf.based = false;
    for (size_t t = 0; t < PROFILE_MAX_THREADS; t++)
        s->threads[t].min_sp = 0;
}

void prof_analysis_data(struct prof_analysis *a, unsigned source, const struct profile_packet *packet,
                        enum prof_order order, const struct prof_clock *clock)
{
    double weights[PROF_MAX_SAMPLES];
    struct prof_source_state *s = &a->sources[source];
    bool late = order == PROF_ORDER_LATE;
    bool anew = order == PROF_ORDER_FIRST || order == PROF_ORDER_RESTART;
    uint16_t threads = (uint16_t)((UINT32_C(1) << packet->header.thread_count) - 1);

    pthread_mutex_lock(&a->lock);
    s->sent = true;
    s->enabled |= packet->header.enabled & threads;
    s->hrt |= packet->header.hrt & threads;
    s->high |= packet->header.high & threads;
    if (anew)
        begin_epoch(s);
    if (order == PROF_ORDER_RESTART) /* the first packet is not news to counters that came before it */
        prof_counter_table_rebase(&s->counters);
    if (anew || order == PROF_ORDER_GAP) /* the rest of the last instant was lost */
        s->previous_thread = NO_THREAD;
    if (!late)
        take_header(s, packet, !anew && clock->trusted, clock);
    uint64_t intervals = take_samples(s, packet, late, weights);
    if (!anew && !late && clock->trusted && clock->delta)
        s->moved = true;
    /* Before the clock moves, samples are older than the moment it was based at. */
    if (s->moved && (late || clock->trusted))
        s->timed_intervals += intervals;
    prof_aggregate_packet(a->aggregate, source, packet, weights);
    if (s->conditions)
        count_conditions(a->conditions, source, packet);
    pthread_mutex_unlock(&a->lock);
}

void prof_analysis_counters(struct prof_analysis *a, unsigned source, const struct profile_counters *counters,
                            uint32_t hz, int64_t host_ns)
{
    pthread_mutex_lock(&a->lock);
    a->sources[source].sent = true;
    prof_counter_table_add(&a->sources[source].counters, counters, hz, host_ns);
    pthread_mutex_unlock(&a->lock);
}

void prof_analysis_maps(struct prof_analysis *a, unsigned source, const struct profile_maps *maps,
                        int64_t host_ns)
{
    pthread_mutex_lock(&a->lock);
    a->sources[source].sent = true;
    prof_maps_add(&a->sources[source].maps, maps, host_ns);
    pthread_mutex_unlock(&a->lock);
}

/* --- ends ----------------------------------------------------------------------------------------------- */

void prof_analysis_evict(struct prof_analysis *a, unsigned source)
{
    pthread_mutex_lock(&a->lock);
    prof_counter_table_clear(&a->sources[source].counters);
    prof_maps_clear(&a->sources[source].maps);
    begin_source(&a->sources[source]);
    prof_aggregate_evict(a->aggregate, source);
    if (a->conditions)
        prof_aggregate_evict(a->conditions, source);
    pthread_mutex_unlock(&a->lock);
}

static void reset_source(struct prof_source_state *s)
{
    struct prof_source_state old = *s;

    begin_source(s);
    s->sent = old.sent;
    s->enabled = old.enabled;
    s->hrt = old.hrt;
    s->high = old.high;
    s->counting = old.counting;
    s->profiler = old.profiler;
    s->header = old.header;
    s->layout = old.layout;
    s->version = old.version;
    s->moved = old.moved;
    s->maps = old.maps; /* a level, not a sum */
    s->counters = old.counters;
    s->counters.truncated = s->counters.ignored = 0;
    memcpy(s->known, old.known, sizeof(s->known));
    s->perf = old.perf;
    memset(s->perf.total, 0, sizeof(s->perf.total));
    memset(s->perf.seconds, 0, sizeof(s->perf.seconds));
    for (size_t t = 0; t < PROFILE_MAX_THREADS; t++)
        s->threads[t].min_sp = old.threads[t].min_sp;
    for (size_t i = 0; i < s->counters.count; i++) {
        struct prof_counter_state *c = &s->counters.items[i];
        c->min = c->max = c->value;
        c->resets = 0;
    }
}

void prof_analysis_reset(struct prof_analysis *a)
{
    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < PROF_MAX_SOURCES; i++)
        reset_source(&a->sources[i]);
    prof_aggregate_reset(a->aggregate);
    if (a->conditions)
        prof_aggregate_reset(a->conditions);
    pthread_mutex_unlock(&a->lock);
}
