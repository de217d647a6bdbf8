/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sinks with bounded queues, and the bus that feeds them. DESIGN.md "Threads, time, pressure".
 *
 * A submit takes a short lock and never waits for a writer: queue operations only happen under the lock,
 * drawing happens outside it. A loss is remembered with the entry that follows it, so the gap is drawn at its
 * place and needs no room of its own in a queue that was full a moment ago. No I/O but what the ops do.
 */
#include "event/sink.h"

#include <pthread.h>
#include <stdlib.h>

#define SINK_QUEUE_FIRST 64 /* entries at the start; doubled up to the limit */
#define BUS_MAX_SINKS    32

struct entry {
    struct event *event;
    uint64_t ordinal;     /* of this event among all submitted */
    uint64_t lost_before; /* dropped right before it */
};

struct sink {
    const struct sink_ops *ops;
    void *ctx;
    pthread_mutex_t lock;
    struct entry *ring; /* room entries, count used from head on */
    size_t room, limit, head, count;
    uint64_t submitted, dropped;
    uint64_t lost; /* dropped since the last event that fitted */
};

struct sink *sink_new(const struct sink_ops *ops, void *ctx, size_t queue_limit)
{
    struct sink *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->ops = ops;
    s->ctx = ctx;
    s->limit = queue_limit ? queue_limit : SINK_QUEUE_DEFAULT;
    if (pthread_mutex_init(&s->lock, NULL)) {
        free(s);
        return NULL;
    }
    return s;
}

/* Where the i-th entry lies; head + count never reaches twice the room. */
static struct entry *slot(const struct sink *s, size_t i)
{
    size_t at = s->head + i;
    return &s->ring[at < s->room ? at : at - s->room];
}

/* Make the ring bigger; the entries keep their order. False at the limit or without memory. */
static bool grow(struct sink *s)
{
    if (s->room >= s->limit)
        return false;
    size_t room = s->room ? s->room : SINK_QUEUE_FIRST / 2;
    room = room > s->limit / 2 ? s->limit : room * 2;
    struct entry *ring = calloc(room, sizeof(*ring));
    if (!ring)
        return false;
    for (size_t i = 0; i < s->count; i++)
        ring[i] = *slot(s, i);
    free(s->ring);
    s->ring = ring;
    s->room = room;
    s->head = 0;
    return true;
}

bool sink_submit(struct sink *s, const struct event *event)
{
    /* Cloned outside the lock: a copy of a large packet must not hold up the reader. */
    struct event *copy = event_clone(event);
    pthread_mutex_lock(&s->lock);
    uint64_t ordinal = s->submitted++;
    bool fits = copy && (s->count < s->room || grow(s));
    if (fits) {
        *slot(s, s->count) = (struct entry){copy, ordinal, s->lost};
        s->count++;
        s->lost = 0;
    } else {
        s->dropped++;
        s->lost++;
    }
    pthread_mutex_unlock(&s->lock);
    if (!fits)
        event_free(copy);
    return fits;
}

/* The first entry, or, when only a loss is left, an entry without event. False when there is neither. */
static bool take(struct sink *s, struct entry *out)
{
    bool any = true;
    pthread_mutex_lock(&s->lock);
    if (s->count) {
        *out = *slot(s, 0);
        s->head = s->head + 1 < s->room ? s->head + 1 : 0;
        s->count--;
    } else if (s->lost) {
        *out = (struct entry){NULL, s->submitted, s->lost};
        s->lost = 0;
    } else {
        any = false;
    }
    pthread_mutex_unlock(&s->lock);
    return any;
}

enum corral_err sink_drain(struct sink *s, size_t most, struct diag *d)
{
    enum corral_err first = CORRAL_OK;
    struct entry entry;
    for (size_t i = 0; i < most && take(s, &entry); i++) {
        struct diag seen = DIAG_INIT;
        if (entry.lost_before) {
            struct event gap = event_make(EVENT_GAP, s->ops->name);
            gap.host_ns = entry.event ? entry.event->host_ns : EVENT_NO_TIME;
            gap.gap.expected = (uint32_t)(entry.ordinal - entry.lost_before);
            gap.gap.sequence = (uint32_t)entry.ordinal;
            gap.gap.lost = entry.lost_before > INT64_MAX ? EVENT_LOST_UNKNOWN : (int64_t)entry.lost_before;
            gap.gap.reason = "sink";
            diag_keep_first(&first, d, s->ops->write(s->ctx, &gap, &seen), &seen);
        }
        if (entry.event)
            diag_keep_first(&first, d, s->ops->write(s->ctx, entry.event, &seen), &seen);
        event_free(entry.event);
    }
    return first;
}

size_t sink_pending(struct sink *s)
{
    pthread_mutex_lock(&s->lock);
    size_t n = s->count + (s->lost ? 1 : 0);
    pthread_mutex_unlock(&s->lock);
    return n;
}

uint64_t sink_dropped(struct sink *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t n = s->dropped;
    pthread_mutex_unlock(&s->lock);
    return n;
}

enum corral_err sink_free(struct sink *s, struct diag *d)
{
    if (!s)
        return CORRAL_OK;
    enum corral_err first = sink_drain(s, SIZE_MAX, d);
    struct diag seen = DIAG_INIT;
    if (s->ops->flush)
        diag_keep_first(&first, d, s->ops->flush(s->ctx, &seen), &seen);
    if (s->ops->close)
        diag_keep_first(&first, d, s->ops->close(s->ctx, &seen), &seen);
    pthread_mutex_destroy(&s->lock);
    free(s->ring);
    free(s);
    return first;
}

struct event_bus {
    pthread_mutex_t lock; /* one order of events for all sinks */
    struct sink *sinks[BUS_MAX_SINKS];
    size_t count; /* only grows */
    void (*wake)(void *ctx);
    void *wake_ctx;
};

struct event_bus *event_bus_new(void)
{
    struct event_bus *bus = calloc(1, sizeof(*bus));
    if (bus && pthread_mutex_init(&bus->lock, NULL)) {
        free(bus);
        return NULL;
    }
    return bus;
}

enum corral_err event_bus_attach(struct event_bus *bus, struct sink *sink, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    if (!sink)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory for an event sink");
    pthread_mutex_lock(&bus->lock);
    if (bus->count < BUS_MAX_SINKS)
        bus->sinks[bus->count++] = sink;
    else
        err = diag_set(d, CORRAL_ERR_LIMIT, "there can be at most %d event sinks", BUS_MAX_SINKS);
    pthread_mutex_unlock(&bus->lock);
    return err;
}

void event_bus_on_publish(struct event_bus *bus, void (*wake)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&bus->lock);
    bus->wake = wake;
    bus->wake_ctx = ctx;
    pthread_mutex_unlock(&bus->lock);
}

void event_bus_publish(struct event_bus *bus, const struct event *event)
{
    pthread_mutex_lock(&bus->lock);
    for (size_t i = 0; i < bus->count; i++)
        sink_submit(bus->sinks[i], event);
    void (*wake)(void *ctx) = bus->wake;
    void *ctx = bus->wake_ctx;
    pthread_mutex_unlock(&bus->lock);
    if (wake)
        wake(ctx);
}

static size_t sink_count(struct event_bus *bus)
{
    pthread_mutex_lock(&bus->lock);
    size_t n = bus->count;
    pthread_mutex_unlock(&bus->lock);
    return n;
}

enum corral_err event_bus_drain(struct event_bus *bus, struct diag *d)
{
    enum corral_err first = CORRAL_OK;
    size_t n = sink_count(bus);
    for (size_t i = 0; i < n; i++) {
        struct diag seen = DIAG_INIT;
        /* What is queued now, not what comes meanwhile: a fast source must not keep us here for ever. */
        enum corral_err err = sink_drain(bus->sinks[i], sink_pending(bus->sinks[i]), &seen);
        diag_keep_first(&first, d, err, &seen);
    }
    return first;
}

enum corral_err event_bus_flush(struct event_bus *bus, struct diag *d)
{
    enum corral_err first = CORRAL_OK;
    size_t n = sink_count(bus);
    for (size_t i = 0; i < n; i++) {
        struct sink *s = bus->sinks[i];
        struct diag seen = DIAG_INIT;
        if (s->ops->flush)
            diag_keep_first(&first, d, s->ops->flush(s->ctx, &seen), &seen);
    }
    return first;
}

uint64_t event_bus_dropped(struct event_bus *bus)
{
    uint64_t sum = 0;
    size_t n = sink_count(bus);
    for (size_t i = 0; i < n; i++)
        sum += sink_dropped(bus->sinks[i]);
    return sum;
}

enum corral_err event_bus_free(struct event_bus *bus, struct diag *d)
{
    if (!bus)
        return CORRAL_OK;
    enum corral_err first = CORRAL_OK;
    for (size_t i = 0; i < bus->count; i++) {
        struct diag seen = DIAG_INIT;
        diag_keep_first(&first, d, sink_free(bus->sinks[i], &seen), &seen);
    }
    pthread_mutex_destroy(&bus->lock);
    free(bus);
    return first;
}
