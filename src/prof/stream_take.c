/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one packet means: its sender's place in the sequence, its clock, and the events, of which those that
 * tell of a loss come before the packet that shows it. Profiler sheet 8 and INTERFACE.md "Streams".
 */
#include <string.h>

#include "base/host_clock.h"
#include "prof/analysis_state.h"
#include "prof/stream_state.h"

#define IDLE_PAUSE_NS (200 * NS_PER_MS)

static struct event make_event(const struct prof_source *source, enum event_kind kind, int64_t host_ns)
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

static unsigned index_of(const struct prof_streams *s, const struct prof_source *source)
{
    return (unsigned)(source - s->sources);
}

/* Place the number in the sequence, count what it shows, and say so before the packet itself is shown. */
static struct prof_place place_number(struct prof_streams *s, struct prof_source *source, uint32_t number,
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

static void count_samples(struct prof_streams *s, struct prof_source *source,
                          const struct profile_packet *packet)
{
    source->totals.bad_samples += packet->bad_samples;
    source->totals.samples += packet->sample_count;
    s->enabled |= packet->header.enabled & ((UINT32_C(1) << packet->header.thread_count) - 1);
    for (size_t i = 0; i < packet->sample_count; i++) {
        const struct profile_sample *sample = &packet->samples[i];
        source->totals.active_samples += sample->active >> sample->thread & 1;
        s->thread_samples[sample->thread]++;
    }
}

static void move_clock(struct prof_source *source, const struct profile_packet *packet, enum prof_order order,
                       int64_t host_ns)
{
    bool nss = packet->layout == PROFILE_NSS;
    enum prof_frequency before = source->clock.frequency;

    if (order == PROF_ORDER_FIRST || order == PROF_ORDER_RESTART)
        prof_clock_baseline(&source->clock, &packet->header, nss, host_ns, &source->rates);
    else
        prof_clock_advance(&source->clock, &packet->header, nss, host_ns, &source->rates);
    if (source->clock.frequency != before) {
        source->totals.frequency_swapped += source->clock.frequency == PROF_FREQUENCY_SWAPPED;
        source->totals.frequency_disagrees += source->clock.frequency == PROF_FREQUENCY_DISAGREES;
    }
}

/* Versions 5 and 6 count nothing: each packet follows the one before. */
static struct prof_place place_unnumbered(const struct prof_source *source)
{
    return (struct prof_place){.order = source->version ? PROF_ORDER_NEXT : PROF_ORDER_FIRST};
}

static void take_data(struct prof_streams *s, struct prof_source *source, const struct profile_packet *packet,
                      int64_t host_ns)
{
    bool numbered = packet->layout != PROFILE_LEGACY || packet->version >= 7;
    struct prof_place place =
        numbered ? place_number(s, source, packet->header.seq, packet->version, false, host_ns)
                 : place_unnumbered(source);
    bool duplicate = place.order == PROF_ORDER_DUPLICATE;
    bool late = place.order == PROF_ORDER_LATE;

    source->totals.packets++;
    source->totals.duplicates += duplicate;
    source->totals.late += late;
    source->version = packet->version;
    if (!duplicate && !late) /* their clocks are older than the one in hand */
        move_clock(source, packet, place.order, host_ns);
    if (!duplicate) {
        source->totals.empty += packet->header.sample_count == 0;
        source->totals.trailing += packet->trailing != 0;
        count_samples(s, source, packet);
        if (s->analysis)
            prof_analysis_data(s->analysis, index_of(s, source), packet, place.order, &source->clock);
    }
    if (!s->bus)
        return;
    struct event e = make_event(source, EVENT_PROFILE, host_ns);
    if (!duplicate && !late)
        e.target_ns = prof_clock_ns(&source->clock);
    e.profile = *packet;
    publish(s, &e);
}

static void take_counters(struct prof_streams *s, struct prof_source *source,
                          const struct profile_counters *counters, int64_t host_ns)
{
    struct event e = make_event(source, EVENT_COUNTERS, host_ns);

    source->totals.counters_packets++;
    if (s->analysis)
        prof_analysis_counters(s->analysis, index_of(s, source), counters, source->clock.hz, host_ns);
    e.counters = *counters;
    publish(s, &e);
}

static void take_maps(struct prof_streams *s, struct prof_source *source, const struct profile_maps *maps,
                      int64_t host_ns)
{
    struct event e = make_event(source, EVENT_MAPS, host_ns);

    source->totals.maps_packets++;
    if (s->analysis)
        prof_analysis_maps(s->analysis, index_of(s, source), maps, host_ns);
    e.maps = *maps;
    publish(s, &e);
}

static enum prof_reason reason_of(const char *reason)
{
    for (unsigned i = 0; i < PROF_REASONS; i++)
        if (strcmp(prof_reason_name((enum prof_reason)i), reason) == 0)
            return (enum prof_reason)i;
    return PROF_REASON_OTHER;
}

static void take_reject(struct prof_streams *s, struct prof_source *source, const struct prof_decoded *packet,
                        int64_t host_ns)
{
    source->totals.rejected++;
    source->totals.rejected_by[reason_of(packet->reject.reason)]++;
    if (packet->seq_known)
        place_number(s, source, packet->seq, packet->reject.version, true, host_ns);
    struct event e = make_event(source, EVENT_REJECT, host_ns);
    e.reject = packet->reject;
    publish(s, &e);
}

void stream_take(struct prof_streams *s, struct prof_source *source, const struct prof_decoded *packet,
                 int64_t host_ns)
{
    switch (packet->kind) {
    case PROF_DATA:
        take_data(s, source, &packet->data, host_ns);
        break;
    case PROF_COUNTERS:
        take_counters(s, source, &packet->counters, host_ns);
        break;
    case PROF_MAPS:
        take_maps(s, source, &packet->maps, host_ns);
        break;
    case PROF_REJECT:
        take_reject(s, source, packet, host_ns);
        break;
    }
    if (packet->kind == PROF_REJECT && !packet->seq_known)
        return; /* may be anybody's: it does not tell where the sender's bursts begin */
    source->behind_counters = packet->kind == PROF_COUNTERS;
    source->last_packet_ns = host_ns;
}
