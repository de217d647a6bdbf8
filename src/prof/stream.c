/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of senders, and the ways in: datagrams, packets from elsewhere, what the kernel dropped. Profiler
 * sheet 8 and INTERFACE.md "Streams"; what a packet means for its sender is in stream_take.c. Keeps no
 * samples (the analysis does) and believes nothing a datagram says about its sender.
 */
#include "prof/stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "prof/analysis_state.h"
#include "prof/stream_state.h"

struct prof_streams *prof_streams_new(struct event_bus *bus, struct prof_analysis *analysis)
{
    struct prof_streams *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->bus = bus;
    s->analysis = analysis;
    s->scratch = calloc(1, sizeof(*s->scratch));
    if (!s->scratch || pthread_mutex_init(&s->lock, NULL) != 0) {
        free(s->scratch);
        free(s);
        return NULL;
    }
    return s;
}

void prof_streams_free(struct prof_streams *s)
{
    if (!s)
        return;
    pthread_mutex_destroy(&s->lock);
    free(s->scratch);
    free(s);
}

const char *prof_reason_name(enum prof_reason reason)
{
    static const char *const names[PROF_REASONS] = {
        "short",      "magic",       "byte-order",   "version",       "header-size",
        "truncated",  "sample-size", "sample-count", "counter-count", "map-count",
        "page-shift", "sources",     "other",
    };

    return (unsigned)reason < PROF_REASONS ? names[reason] : names[PROF_REASON_OTHER];
}

static void add_totals(struct prof_totals *sum, const struct prof_totals *one)
{
    sum->packets += one->packets;
    sum->samples += one->samples;
    sum->active_samples += one->active_samples;
    sum->lost += one->lost;
    sum->duplicates += one->duplicates;
    sum->late += one->late;
    sum->restarts += one->restarts;
    sum->idle_steps += one->idle_steps;
    sum->rejected += one->rejected;
    sum->bad_samples += one->bad_samples;
    sum->sources += one->sources;
    sum->evicted += one->evicted;
    sum->frequency_swapped += one->frequency_swapped;
    sum->frequency_disagrees += one->frequency_disagrees;
    for (size_t i = 0; i < PROF_REASONS; i++)
        sum->rejected_by[i] += one->rejected_by[i];
    sum->empty += one->empty;
    sum->trailing += one->trailing;
    sum->counters_packets += one->counters_packets;
    sum->maps_packets += one->maps_packets;
    sum->kernel_drops += one->kernel_drops;
}

static void add_rates(struct prof_rates *sum, const struct prof_rates *one)
{
    for (size_t t = 0; t < PROFILE_MAX_THREADS; t++) {
        sum->threads[t].instructions += one->threads[t].instructions;
        sum->threads[t].seconds += one->threads[t].seconds;
    }
    sum->seconds += one->seconds;
}

static bool is_source(const struct prof_source *source, const char *name)
{
    return source->used && strncmp(source->name, name, PROF_SOURCE_NAME_MAX - 1) == 0;
}

static struct prof_source *find(struct prof_streams *s, const char *name)
{
    if (s->recent && is_source(s->recent, name))
        return s->recent;
    for (size_t i = 0; i < PROF_MAX_SOURCES; i++)
        if (is_source(&s->sources[i], name))
            return &s->sources[i];
    return NULL;
}

/* A free place, or that of the sender that has been quiet longest. Those the user named are never put out, so
 * that a flood of forged addresses cannot. NULL when all are named. */
static struct prof_source *make_room(struct prof_streams *s)
{
    struct prof_source *oldest = NULL;

    for (size_t i = 0; i < PROF_MAX_SOURCES; i++) {
        struct prof_source *source = &s->sources[i];
        if (!source->used)
            return source;
        if (!source->core[0] && (!oldest || source->last_use < oldest->last_use))
            oldest = source;
    }
    return oldest;
}

static void put_out(struct prof_streams *s, struct prof_source *source)
{
    s->gone.evicted++;
    prof_clock_release(&source->clock, &source->rates);
    add_totals(&s->gone, &source->totals);
    add_rates(&s->gone_rates, &source->rates);
    if (s->analysis)
        prof_analysis_evict(s->analysis, (unsigned)(source - s->sources));
}

static struct prof_source *add_source(struct prof_streams *s, const char *name)
{
    struct prof_source *source = make_room(s);

    if (!source)
        return NULL;
    if (source->used)
        put_out(s, source);
    memset(source, 0, sizeof(*source));
    source->used = true;
    source->last_packet_ns = EVENT_NO_TIME;
    size_t length = strnlen(name, PROF_SOURCE_NAME_MAX - 1);
    memcpy(source->name, name, length);
    memcpy(source->stream, "prof:", 5);
    text_escape((const uint8_t *)source->name, length, source->stream + 5, sizeof(source->stream) - 5);
    return source;
}

/* The sender of this name, with a place made for it where it has none; NULL when there is none to be had. */
static struct prof_source *find_or_add(struct prof_streams *s, const char *name)
{
    struct prof_source *source = find(s, name);

    return source ? source : add_source(s, name);
}

enum corral_err prof_streams_name(struct prof_streams *s, const char *source_name, const char *core,
                                  struct diag *d)
{
    size_t length = strlen(core);

    if (length == 0 || length >= STREAM_CORE_NAME_MAX || strlen(source_name) >= PROF_SOURCE_NAME_MAX)
        return diag_set(d, CORRAL_ERR_USAGE, "the name of a profile's sender must be 1 to %d bytes long",
                        STREAM_CORE_NAME_MAX - 1);
    pthread_mutex_lock(&s->lock);
    struct prof_source *source = find_or_add(s, source_name);
    if (source) {
        text_escape((const uint8_t *)core, length, source->stream + 5, sizeof(source->stream) - 5);
        memcpy(source->core, core, length + 1);
    }
    pthread_mutex_unlock(&s->lock);
    return source ? CORRAL_OK
                  : diag_set(d, CORRAL_ERR_LIMIT, "at most %d senders of profile packets can be named",
                             PROF_MAX_SOURCES);
}

bool prof_streams_source_totals(struct prof_streams *s, unsigned index, char name[PROF_SOURCE_NAME_ROOM],
                                struct prof_totals *totals)
{
    bool used = false;

    *totals = (struct prof_totals){0};
    name[0] = '\0';
    if (index >= PROF_MAX_SOURCES)
        return false;
    pthread_mutex_lock(&s->lock);
    const struct prof_source *source = &s->sources[index];
    used = source->used;
    if (used) {
        memcpy(name, source->stream + 5, strlen(source->stream + 5) + 1);
        *totals = source->totals;
    }
    pthread_mutex_unlock(&s->lock);
    return used;
}

/* The sender of what has just come; NULL when every place is taken by a named one: refused unseen, but
 * counted. */
static struct prof_source *heard(struct prof_streams *s, const char *source_name)
{
    struct prof_source *source = find_or_add(s, source_name);

    if (!source) {
        s->gone.rejected++;
        s->gone.rejected_by[PROF_REASON_SOURCES]++;
        return NULL;
    }
    s->recent = source;
    source->last_use = ++s->uses;
    if (!source->heard) {
        source->heard = true;
        source->totals.sources++;
    }
    return source;
}

void prof_streams_datagram(struct prof_streams *s, const char *source_name, const uint8_t *data, size_t size,
                           int64_t host_ns)
{
    struct prof_decoded packet;
    size_t at = 0;

    pthread_mutex_lock(&s->lock);
    struct prof_source *source = heard(s, source_name);
    if (source) {
        do { /* each packet uses up 16 bytes or all that is left */
            (s->legacy_headers ? prof_packet_decode_legacy : prof_packet_decode_after)(
                data ? data + at : NULL, size - at, source->version, s->scratch, &packet);
            stream_take(s, source, &packet, host_ns);
            at += packet.consumed;
        } while (at < size);
    }
    pthread_mutex_unlock(&s->lock);
}

/* The packet with nothing in it that is out of range; samples go into `scratch`. */
static void copy_checked(const struct profile_packet *from, struct prof_scratch *scratch,
                         struct prof_decoded *to)
{
    struct profile_packet *packet = &to->data;

    *to = (struct prof_decoded){.kind = PROF_DATA, .data = *from};
    if (packet->header.thread_count > PROFILE_MAX_THREADS)
        packet->header.thread_count = PROFILE_MAX_THREADS;
    if (packet->header.perf_counter_count > PROFILE_MAX_COUNTERS)
        packet->header.perf_counter_count = PROFILE_MAX_COUNTERS;
    packet->samples = scratch->samples;
    packet->sample_count = 0;
    for (size_t i = 0; i < from->sample_count; i++) {
        struct profile_sample *sample = &scratch->samples[packet->sample_count];
        *sample = from->samples[i];
        if (sample->parent_count > PROFILE_MAX_STACK_WORDS)
            sample->parent_count = PROFILE_MAX_STACK_WORDS;
        if (sample->thread < packet->header.thread_count)
            packet->sample_count++;
        else
            packet->bad_samples++;
    }
}

void prof_streams_packet(struct prof_streams *s, const char *source_name, const struct profile_packet *packet,
                         int64_t host_ns)
{
    pthread_mutex_lock(&s->lock);
    struct prof_source *source = heard(s, source_name);
    if (source) {
        struct prof_decoded copy;
        if (packet->sample_count <= PROF_MAX_SAMPLES)
            copy_checked(packet, s->scratch, &copy);
        else
            copy = (struct prof_decoded){.kind = PROF_REJECT,
                                         .reject = {.reason = "sample-count",
                                                    .version = packet->version,
                                                    .value = (uint32_t)packet->sample_count},
                                         .seq_known = true,
                                         .seq = packet->header.seq};
        stream_take(s, source, &copy, host_ns);
    }
    pthread_mutex_unlock(&s->lock);
}

void prof_streams_restarted(struct prof_streams *s, const char *source_name)
{
    pthread_mutex_lock(&s->lock);
    struct prof_source *source = find(s, source_name);
    if (source)
        source->sequence.begins_anew = source->sequence.known;
    pthread_mutex_unlock(&s->lock);
}

void prof_streams_kernel_drops(struct prof_streams *s, uint32_t n, int64_t host_ns)
{
    struct event e = event_make(EVENT_GAP, "prof"); /* the kernel does not say whose they were */

    if (!n)
        return;
    pthread_mutex_lock(&s->lock);
    s->gone.kernel_drops += n;
    pthread_mutex_unlock(&s->lock);
    e.host_ns = host_ns;
    e.gap = (struct event_gap){.lost = n, .reason = "kernel"};
    if (s->bus)
        event_bus_publish(s->bus, &e);
}

void prof_streams_legacy_headers(struct prof_streams *s)
{
    pthread_mutex_lock(&s->lock);
    s->legacy_headers = true;
    pthread_mutex_unlock(&s->lock);
}

void prof_streams_reset(struct prof_streams *s)
{
    pthread_mutex_lock(&s->lock);
    s->gone = (struct prof_totals){0};
    s->gone_rates = (struct prof_rates){0};
    memset(s->thread_samples, 0, sizeof(s->thread_samples));
    for (size_t i = 0; i < PROF_MAX_SOURCES; i++) {
        struct prof_source *source = &s->sources[i];
        source->totals = (struct prof_totals){.sources = source->heard};
        source->rates = (struct prof_rates){0};
        source->clock.held = (struct prof_rates){0};
        prof_sequence_forgive(&source->sequence);
    }
    if (s->analysis)
        prof_analysis_reset(s->analysis);
    pthread_mutex_unlock(&s->lock);
}

void stream_totals(const struct prof_streams *s, struct prof_totals *totals)
{
    *totals = s->gone;
    for (size_t i = 0; i < PROF_MAX_SOURCES; i++)
        add_totals(totals, &s->sources[i].totals);
}

void prof_streams_get_totals(struct prof_streams *s, struct prof_totals *totals)
{
    pthread_mutex_lock(&s->lock);
    stream_totals(s, totals);
    pthread_mutex_unlock(&s->lock);
}

size_t prof_streams_threads(struct prof_streams *s, struct prof_thread_row out[PROFILE_MAX_THREADS])
{
    size_t count = 0;

    pthread_mutex_lock(&s->lock);
    struct prof_rates sum = s->gone_rates;
    for (size_t i = 0; i < PROF_MAX_SOURCES; i++) { /* what waits for a measurement counts as sent */
        add_rates(&sum, &s->sources[i].rates);
        add_rates(&sum, &s->sources[i].clock.held);
    }
    for (unsigned t = 0; t < PROFILE_MAX_THREADS; t++) {
        const struct prof_rate *rate = &sum.threads[t];
        if (!(s->enabled >> t & 1))
            continue;
        struct prof_thread_row *row = &out[count++];
        *row = (struct prof_thread_row){.thread = t, .samples = s->thread_samples[t]};
        if (rate->seconds > 0) {
            row->mips_known = true;
            row->mips = (double)rate->instructions / rate->seconds / 1e6;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return count;
}
