/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams to events: a bounded table of senders, and for each its place in the sequence and its clock.
 * Profiler sheet 8 and INTERFACE.md "Streams"; events that tell of a loss come before the packet that shows
 * it. Keeps no samples (aggregate.c does) and believes nothing a datagram says about its sender.
 *
 * One lock guards everything, so that totals may be read while the collector's thread feeds it. It is held
 * while events are published, which never blocks.
 */
#include "prof/stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_clock.h"
#include "base/text.h"
#include "prof/aggregate.h"
#include "prof/stream_rates.h"
#include "prof/stream_sequence.h"

#define SOURCE_NAME_MAX PROF_SOURCE_NAME_MAX /* longer ones are told apart by their first 127 bytes */
#define CORE_NAME_MAX   64
#define IDLE_PAUSE_NS   (200 * NS_PER_MS)

struct source {
    bool used;
    bool heard; /* sent anything */
    char name[SOURCE_NAME_MAX];
    char core[CORE_NAME_MAX];               /* "" = nobody named it */
    char stream[5 + PROF_SOURCE_NAME_ROOM]; /* "prof:", and the name or address as text */
    uint64_t last_use;
    int version; /* of the last good data packet, 0 = none yet */
    struct prof_sequence sequence;
    struct prof_clock clock;
    int64_t last_packet_ns;
    bool behind_counters;      /* the packet before was a counters packet */
    struct prof_totals totals; /* of this sender; `evicted` stays 0 */
};

struct prof_streams {
    pthread_mutex_t lock;
    struct event_bus *bus;
    struct prof_aggregate *aggregate;
    struct prof_scratch *scratch;
    struct prof_totals gone; /* of senders that were put out, and what had no place */
    uint64_t uses;
    uint32_t enabled; /* every enabled mask so far, or-ed */
    uint64_t thread_samples[PROFILE_MAX_THREADS];
    struct prof_rate rates[PROFILE_MAX_THREADS];
    struct source sources[PROF_MAX_SOURCES];
};

struct prof_streams *prof_streams_new(struct event_bus *bus, struct prof_aggregate *aggregate)
{
    struct prof_streams *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->bus = bus;
    s->aggregate = aggregate;
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
}

static struct source *find_source(struct prof_streams *s, const char *name)
{
    for (size_t i = 0; i < PROF_MAX_SOURCES; i++) {
        struct source *source = &s->sources[i];
        if (source->used && strncmp(source->name, name, SOURCE_NAME_MAX - 1) == 0)
            return source;
    }
    return NULL;
}

/* A free place, or that of the sender that has been quiet longest. Those the user named are never put out, so
 * that a flood of forged addresses cannot. NULL when all are named. */
static struct source *make_room(struct prof_streams *s)
{
    struct source *oldest = NULL;

    for (size_t i = 0; i < PROF_MAX_SOURCES; i++) {
        struct source *source = &s->sources[i];
        if (!source->used)
            return source;
        if (!source->core[0] && (!oldest || source->last_use < oldest->last_use))
            oldest = source;
    }
    if (oldest)
        s->gone.evicted++;
    return oldest;
}

static struct source *add_source(struct prof_streams *s, const char *name)
{
    struct source *source = make_room(s);

    if (!source)
        return NULL;
    prof_clock_release(&source->clock, s->rates);
    add_totals(&s->gone, &source->totals);
    memset(source, 0, sizeof(*source));
    source->used = true;
    source->last_packet_ns = EVENT_NO_TIME;
    size_t length = strnlen(name, SOURCE_NAME_MAX - 1);
    memcpy(source->name, name, length);
    memcpy(source->stream, "prof:", 5);
    text_escape((const uint8_t *)source->name, length, source->stream + 5, sizeof(source->stream) - 5);
    return source;
}

enum corral_err prof_streams_name(struct prof_streams *s, const char *source_name, const char *core,
                                  struct diag *d)
{
    size_t length = strlen(core);

    if (length == 0 || length >= CORE_NAME_MAX || strlen(source_name) >= SOURCE_NAME_MAX)
        return diag_set(d, CORRAL_ERR_USAGE, "the name of a profile's sender must be 1 to %d bytes long",
                        CORE_NAME_MAX - 1);
    pthread_mutex_lock(&s->lock);
    struct source *source = find_source(s, source_name);
    if (!source)
        source = add_source(s, source_name);
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
    const struct source *source = &s->sources[index];
    used = source->used;
    if (used) {
        memcpy(name, source->stream + 5, strlen(source->stream + 5) + 1);
        *totals = source->totals;
    }
    pthread_mutex_unlock(&s->lock);
    return used;
}

static struct event make_event(const struct source *source, enum event_kind kind, int64_t host_ns)
{
    struct event e = event_make(kind, source->stream);

    e.core = source->core[0] ? source->stream + 5 : NULL;
    e.host_ns = host_ns;
    return e;
}

static void publish(struct prof_streams *s, const struct event *event)
{
    if (s->bus)
        event_bus_publish(s->bus, event);
}

/* Place the number in the sequence, count what it shows, and say so before the packet itself is shown. */
static struct prof_place place_number(struct prof_streams *s, struct source *source, uint32_t number,
                                      int version, bool refused, int64_t host_ns)
{
    bool paused = host_ns != EVENT_NO_TIME && source->last_packet_ns != EVENT_NO_TIME &&
                  host_ns >= source->last_packet_ns && /* so the difference below cannot overflow */
                  (uint64_t)host_ns - (uint64_t)source->last_packet_ns >= (uint64_t)IDLE_PAUSE_NS;
    bool idle = version == 17 && (source->behind_counters || paused);
    struct prof_place place = prof_sequence_place(&source->sequence, number, idle, refused);

    if (place.take_back == PROF_TAKE_BACK_LOST)
        source->totals.lost--;
    else if (place.take_back == PROF_TAKE_BACK_IDLE_STEP)
        source->totals.idle_steps--;
    if (place.order == PROF_ORDER_IDLE_STEP)
        source->totals.idle_steps++;
    if (place.order == PROF_ORDER_GAP) {
        struct event e = make_event(source, EVENT_GAP, host_ns);
        e.gap = (struct event_gap){
            .expected = place.expected, .sequence = number, .lost = place.missing, .reason = "sequence"};
        source->totals.lost += place.missing;
        publish(s, &e);
    }
    if (place.order == PROF_ORDER_RESTART && !refused) {
        struct event e = make_event(source, EVENT_RESTART, host_ns);
        e.restart = (struct event_restart){.previous = place.previous, .sequence = number};
        source->totals.restarts++;
        publish(s, &e);
    }
    return place;
}

/* Who called: the return address from the stack, else the link register; 0 = not known. */
static uint32_t caller_of(enum profile_layout layout, const struct profile_sample *sample)
{
    if (layout == PROFILE_V17)
        return sample->parent ? sample->parent : sample->a5;
    if (sample->parent_count && sample->parents[0])
        return sample->parents[0];
    return sample->a_reg;
}

static void take_samples(struct prof_streams *s, struct source *source, const struct profile_packet *packet)
{
    unsigned index = (unsigned)(source - s->sources);

    source->totals.bad_samples += packet->bad_samples;
    s->enabled |= packet->header.enabled & ((UINT32_C(1) << packet->header.thread_count) - 1);
    for (size_t i = 0; i < packet->sample_count; i++) {
        const struct profile_sample *sample = &packet->samples[i];
        bool active = (sample->active >> sample->thread & 1) != 0;
        source->totals.samples++;
        source->totals.active_samples += active;
        s->thread_samples[sample->thread]++;
        if (s->aggregate)
            prof_aggregate_add(s->aggregate, index, sample, caller_of(packet->layout, sample), active);
    }
}

static void take_data(struct prof_streams *s, struct source *source, const struct profile_packet *packet,
                      int64_t host_ns)
{
    struct prof_place place = place_number(s, source, packet->header.seq, packet->version, false, host_ns);

    bool nss = packet->layout == PROFILE_NSS;
    enum prof_frequency before = source->clock.frequency;

    source->totals.packets++;
    source->version = packet->version;
    switch (place.order) {
    case PROF_ORDER_FIRST:
    case PROF_ORDER_RESTART:
        prof_clock_baseline(&source->clock, &packet->header, nss, host_ns, s->rates);
        break;
    case PROF_ORDER_NEXT:
    case PROF_ORDER_GAP:
    case PROF_ORDER_IDLE_STEP:
        prof_clock_advance(&source->clock, &packet->header, nss, host_ns, s->rates);
        break;
    case PROF_ORDER_DUPLICATE:
        source->totals.duplicates++;
        break;
    case PROF_ORDER_LATE:
        source->totals.late++;
        break;
    }
    if (source->clock.frequency != before) {
        source->totals.frequency_swapped += source->clock.frequency == PROF_FREQUENCY_SWAPPED;
        source->totals.frequency_disagrees += source->clock.frequency == PROF_FREQUENCY_DISAGREES;
    }
    if (place.order != PROF_ORDER_DUPLICATE)
        take_samples(s, source, packet);
    struct event e = make_event(source, EVENT_PROFILE, host_ns);
    /* A late or repeated packet's clock is older than the one in hand and says nothing new. */
    if (place.order != PROF_ORDER_DUPLICATE && place.order != PROF_ORDER_LATE)
        e.target_ns = prof_clock_ns(&source->clock);
    e.profile = *packet;
    publish(s, &e);
}

static void take_packet(struct prof_streams *s, struct source *source, const struct prof_decoded *packet,
                        int64_t host_ns)
{
    struct event e;

    switch (packet->kind) {
    case PROF_DATA:
        take_data(s, source, &packet->data, host_ns);
        break;
    case PROF_COUNTERS:
        e = make_event(source, EVENT_COUNTERS, host_ns);
        e.counters = packet->counters;
        publish(s, &e);
        break;
    case PROF_MAPS:
        e = make_event(source, EVENT_MAPS, host_ns);
        e.maps = packet->maps;
        publish(s, &e);
        break;
    case PROF_REJECT:
        source->totals.rejected++;
        if (packet->seq_known)
            place_number(s, source, packet->seq, packet->reject.version, true, host_ns);
        e = make_event(source, EVENT_REJECT, host_ns);
        e.reject = packet->reject;
        publish(s, &e);
        break;
    }
    if (packet->kind == PROF_REJECT && !packet->seq_known)
        return; /* may be anybody's: it does not tell where the sender's bursts begin */
    source->behind_counters = packet->kind == PROF_COUNTERS;
    source->last_packet_ns = host_ns;
}

static void take_datagram(struct prof_streams *s, const char *source_name, const uint8_t *data, size_t size,
                          int64_t host_ns)
{
    struct source *source = find_source(s, source_name);

    if (!source)
        source = add_source(s, source_name);
    if (!source) { /* every place is taken by a named sender: refused unseen, but counted */
        s->gone.rejected++;
        return;
    }
    source->last_use = ++s->uses;
    if (!source->heard) {
        source->heard = true;
        source->totals.sources++;
    }
    size_t at = 0;
    do { /* each packet uses up 16 bytes or all that is left */
        struct prof_decoded packet;
        prof_packet_decode_after(data ? data + at : NULL, size - at, source->version, s->scratch, &packet);
        take_packet(s, source, &packet, host_ns);
        at += packet.consumed;
    } while (at < size);
}

void prof_streams_datagram(struct prof_streams *s, const char *source_name, const uint8_t *data, size_t size,
                           int64_t host_ns)
{
    pthread_mutex_lock(&s->lock);
    take_datagram(s, source_name, data, size, host_ns);
    pthread_mutex_unlock(&s->lock);
}

void prof_streams_kernel_drops(struct prof_streams *s, uint32_t n, int64_t host_ns)
{
    struct event e = event_make(EVENT_GAP, "prof"); /* the kernel does not say whose they were */

    if (!n)
        return;
    e.host_ns = host_ns;
    e.gap = (struct event_gap){.lost = n, .reason = "kernel"};
    publish(s, &e);
}

void prof_streams_get_totals(struct prof_streams *s, struct prof_totals *totals)
{
    pthread_mutex_lock(&s->lock);
    *totals = s->gone;
    for (size_t i = 0; i < PROF_MAX_SOURCES; i++)
        add_totals(totals, &s->sources[i].totals);
    pthread_mutex_unlock(&s->lock);
}

size_t prof_streams_threads(struct prof_streams *s, struct prof_thread_row out[PROFILE_MAX_THREADS])
{
    size_t count = 0;

    pthread_mutex_lock(&s->lock);
    for (unsigned t = 0; t < PROFILE_MAX_THREADS; t++) {
        if (!(s->enabled >> t & 1))
            continue;
        struct prof_rate rate = s->rates[t];
        for (size_t i = 0; i < PROF_MAX_SOURCES; i++) { /* what waits for a measurement counts as sent */
            rate.instructions += s->sources[i].clock.held[t].instructions;
            rate.seconds += s->sources[i].clock.held[t].seconds;
        }
        struct prof_thread_row *row = &out[count++];
        *row = (struct prof_thread_row){.thread = t, .samples = s->thread_samples[t]};
        if (rate.seconds > 0) {
            row->mips_known = true;
            row->mips = (double)rate.instructions / rate.seconds / 1e6;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return count;
}
