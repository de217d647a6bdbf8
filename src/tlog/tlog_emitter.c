/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a private copy of a shared buffer to events: loss by sequence, 64-bit time, cleaned text, totals.
 * Shared by `decode tlog`, the live consumer and the replay of a capture, so the same rules hold everywhere
 * (INTERFACE.md "The log, exactly"; the firmware-log sheet 1.4, 6 and 8 cases 22 to 27).
 *
 * Only publishes; touches no link and no file.
 */
#include "tlog/consumer.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define TEXT_MAX   TEXT_CLEAN_MAX(UINT16_MAX) /* msg_size has 16 bits */
#define DEFAULT_HZ 1000u
#define JITTER_SECONDS                                                                   \
    10 /* neighbours logged from interrupts may stand back by a little; more is a reboot \
        */
#define TICKS_MAX (INT64_MAX / 2)
#define LOST_MAX  ((uint64_t)INT64_MAX) /* what any output can show */

struct tlog_emitter {
    struct event_bus *bus;
    char *stream;
    char *core; /* or NULL */
    size_t staging;
    uint32_t hz;
    struct tlog_sequence sequence;
    bool restarted; /* known before the next record says so */
    bool time_known;
    uint32_t last_timestamp;
    int64_t ticks; /* last_timestamp, unwrapped */
    struct tlog_consumer_stats stats;
    int64_t host_ns; /* of the batch being decoded */
    char *text;      /* TEXT_MAX bytes */
};

struct tlog_emitter *tlog_emitter_new(const struct tlog_consumer_options *options, struct event_bus *bus)
{
    struct tlog_emitter *e = calloc(1, sizeof(*e));
    if (!e)
        return NULL;
    e->bus = bus;
    e->staging = options->staging ? options->staging : TLOG_STAGING_DEFAULT;
    e->hz = options->timestamp_hz ? options->timestamp_hz : DEFAULT_HZ;
    e->stream = strdup(options->stream ? options->stream : "tlog");
    e->core = options->core ? strdup(options->core) : NULL;
    e->text = malloc(TEXT_MAX);
    if (!e->stream || !e->text || (options->core && !e->core)) {
        tlog_emitter_free(e);
        return NULL;
    }
    return e;
}

void tlog_emitter_free(struct tlog_emitter *e)
{
    if (!e)
        return;
    free(e->stream);
    free(e->core);
    free(e->text);
    free(e);
}

void tlog_emitter_reset(struct tlog_emitter *e)
{
    e->sequence = (struct tlog_sequence){0};
    e->restarted = false;
    e->time_known = false;
}

void tlog_emitter_restarted(struct tlog_emitter *e)
{
    e->restarted = e->sequence.seen;
    e->time_known = false;
}

static struct event make(const struct tlog_emitter *e, enum event_kind kind)
{
    struct event event = event_make(kind, e->stream);
    event.core = e->core;
    event.host_ns = e->host_ns;
    return event;
}

/* The 32-bit stamp on a 64-bit scale. A restart, or a step back beyond jitter, begins a new scale at the
 * stamp itself: the target's clock began anew, too. */
static int64_t unwrap(struct tlog_emitter *e, uint32_t timestamp, bool restarted)
{
    /* Modulo 2^32; the nearer way round is the one taken. */
    int64_t step = (int32_t)(timestamp - e->last_timestamp);
    int64_t jitter = (int64_t)JITTER_SECONDS * e->hz;
    bool near = step >= -jitter && (step <= jitter || !restarted);

    if (e->time_known && near && e->ticks < TICKS_MAX)
        e->ticks += step;
    else
        e->ticks = timestamp;
    e->time_known = true;
    e->last_timestamp = timestamp;

    int64_t ticks = e->ticks < 0 ? 0 : e->ticks; /* jitter right behind the start of the scale */
    int64_t seconds = ticks / e->hz;
    if (seconds >= INT64_MAX / NS_PER_S)
        return EVENT_NO_TIME; /* only stamps made up to do so get here */
    return seconds * NS_PER_S + ticks % e->hz * NS_PER_S / e->hz;
}

/* Whoever counts for us may say any number: the total must not come round to none. */
static void count_lost(struct tlog_emitter *e, uint64_t lost)
{
    e->stats.lost = lost < LOST_MAX - e->stats.lost ? e->stats.lost + lost : LOST_MAX;
}

/* Say what the sequence number shows, before the record itself. True when it shows a restart. */
static bool check_sequence(struct tlog_emitter *e, uint32_t sequence)
{
    uint32_t previous = e->sequence.last;
    uint32_t lost = 0;
    struct event event;
    enum tlog_step step = tlog_sequence_step(&e->sequence, sequence, &lost);
    /* Numbers of two runs of the firmware say nothing about each other. */
    if (e->restarted)
        step = TLOG_STEP_RESTART;
    e->restarted = false;
    switch (step) {
    case TLOG_STEP_GAP:
        event = make(e, EVENT_GAP);
        event.gap = (struct event_gap){previous + 1, sequence, lost, "sequence"};
        e->stats.gaps++;
        count_lost(e, lost);
        event_bus_publish(e->bus, &event);
        return false;
    case TLOG_STEP_RESTART:
        event = make(e, EVENT_RESTART);
        event.restart = (struct event_restart){previous, sequence};
        e->stats.restarts++;
        event_bus_publish(e->bus, &event);
        return true;
    case TLOG_STEP_FIRST:
    case TLOG_STEP_NEXT:
        break;
    }
    return false;
}

static void put_record(struct tlog_emitter *e, const struct tlog_record *record, bool restarted)
{
    text_clean_log(record->text, record->text_size, e->text, TEXT_MAX);

    struct event event = make(e, EVENT_LOG);
    event.target_ns = unwrap(e, record->timestamp, restarted);
    event.log.level = record->level;
    event.log.source = record->source;
    event.log.torn = record->torn;
    event.log.timestamp = record->timestamp;
    event.log.sequence = record->sequence;
    event.log.text = e->text;
    e->stats.records++;
    e->stats.torn += record->torn;
    event_bus_publish(e->bus, &event);
}

static void on_record(void *ctx, const struct tlog_record *record)
{
    struct tlog_emitter *e = ctx;
    put_record(e, record, check_sequence(e, record->sequence));
}

static void put_gap(struct tlog_emitter *e, uint32_t expected, uint32_t sequence, uint64_t lost,
                    const char *reason)
{
    struct event event = make(e, EVENT_GAP);
    int64_t count = lost > INT64_MAX ? EVENT_LOST_UNKNOWN : (int64_t)lost;
    event.gap = (struct event_gap){expected, sequence, count, reason};
    e->stats.gaps++;
    count_lost(e, lost);
    event_bus_publish(e->bus, &event);
}

void tlog_emitter_frame(struct tlog_emitter *e, const struct tlog_frame_view *frame)
{
    uint32_t sequence = frame->record.sequence;
    e->host_ns = frame->host_ns;
    if (frame->lost)
        put_gap(e, e->sequence.seen ? e->sequence.last + 1 : sequence, sequence, frame->lost, "reader");
    if (frame->restart) {
        struct event event = make(e, EVENT_RESTART);
        event.restart = (struct event_restart){e->sequence.last, sequence};
        e->stats.restarts++;
        event_bus_publish(e->bus, &event);
    }
    if (frame->gap)
        put_gap(e, sequence - frame->missing, sequence, frame->missing,
                "sequence"); /* the reader's come before */
    e->sequence = (struct tlog_sequence){true, sequence};
    put_record(e, &frame->record, frame->restart);
}

static const char *anomaly_name(enum tlog_anomaly reason)
{
    switch (reason) {
    case TLOG_ANOMALY_OWNER:
        return "owner";
    case TLOG_ANOMALY_WRITE_OFFSET:
        return "write-offset";
    case TLOG_ANOMALY_BUFFER_SIZE:
        return "buffer-size";
    case TLOG_ANOMALY_MAGIC:
        return "magic";
    case TLOG_ANOMALY_MAGIC_BYTE_ORDER:
        return "magic-byte-order";
    case TLOG_ANOMALY_LINK_DOWN:
        return "link-down";
    case TLOG_ANOMALY_MSG_SIZE:
        return "msg-size";
    case TLOG_ANOMALY_VERSION:
        return "version";
    }
    return "unknown";
}

static void on_anomaly(void *ctx, enum tlog_anomaly reason, uint32_t offset, uint32_t value)
{
    struct tlog_emitter *e = ctx;
    struct event event = make(e, EVENT_ANOMALY);
    event.anomaly = (struct event_anomaly){anomaly_name(reason), offset, value};
    e->stats.anomalies++;
    event_bus_publish(e->bus, &event);
}

void tlog_emitter_anomaly(struct tlog_emitter *e, enum tlog_anomaly reason, uint32_t offset, uint32_t value,
                          int64_t host_ns)
{
    e->host_ns = host_ns;
    on_anomaly(e, reason, offset, value);
}

static const char *status_name(enum tlog_status status)
{
    switch (status) {
    case TLOG_OK:
        return "ok";
    case TLOG_EMPTY:
        return "empty";
    case TLOG_BAD_MAGIC:
        return "bad-magic";
    case TLOG_LINK_DOWN:
        return "link-down";
    }
    return "unknown";
}

int tlog_emitter_batch(struct tlog_emitter *e, const uint8_t *data, size_t capacity, const char *file,
                       int64_t host_ns, bool *release)
{
    const struct tlog_callbacks callbacks = {e, on_record, on_anomaly};
    e->host_ns = host_ns;
    struct tlog_batch_result result = tlog_decode_batch(data, capacity, e->staging, &callbacks);
    if (result.status == TLOG_OK)
        e->stats.batches++;
    e->stats.bytes += capacity;
    if (file) {
        struct event event = make(e, EVENT_BATCH);
        event.batch.file = file;
        event.batch.status = status_name(result.status);
        event.batch.release = result.release;
        event.batch.torn_header_bytes = result.torn_header_bytes;
        event_bus_publish(e->bus, &event);
    }
    if (release)
        *release = result.release;
    return (int)result.status;
}

void tlog_emitter_get_stats(const struct tlog_emitter *e, struct tlog_consumer_stats *stats)
{
    *stats = e->stats;
}
