/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: bytes as they might come out of /dev/tlogN. Checks what tlog_frame.h promises: a frame lies
 * inside the bytes, its text inside the frame, and a cut frame is asked for again, never refused. Then, that
 * the emitter makes of any frame, and of the same bytes as a shared buffer, events that can be drawn, and
 * totals that agree with them.
 */
#include <string.h>

#include "event/sink.h"
#include "fuzz_target.h"
#include "tlog/consumer.h"
#include "tlog/tlog_frame.h"

#define KEPT_MOST 65536

struct drawn {
    uint64_t records, gaps, restarts, torn, anomalies;
    uint64_t lost; /* as far as it was said; stops at the top, as the emitter's */
    bool unknown;  /* a loss whose size does not fit */
};

static enum corral_err draw(void *ctx, const struct event *e, struct diag *d)
{
    struct drawn *drawn = ctx;
    (void)d;
    FUZZ_CHECK(e->host_ns >= 0 && (e->target_ns == EVENT_NO_TIME || e->target_ns >= 0));
    if (e->kind == EVENT_LOG) {
        drawn->records++;
        drawn->torn += e->log.torn;
        FUZZ_CHECK(e->log.text);
    } else if (e->kind == EVENT_GAP) {
        drawn->gaps++;
        FUZZ_CHECK(e->gap.lost >= 0 || e->gap.lost == EVENT_LOST_UNKNOWN);
        drawn->unknown |= e->gap.lost < 0;
        drawn->lost += e->gap.lost > 0 ? (uint64_t)e->gap.lost : 0;
    } else if (e->kind == EVENT_ANOMALY) {
        drawn->anomalies++;
        FUZZ_CHECK(e->anomaly.reason && strcmp(e->anomaly.reason, "unknown") != 0);
    } else if (e->kind == EVENT_RESTART) {
        drawn->restarts++;
    } else {
        FUZZ_CHECK(e->kind == EVENT_BATCH && strcmp(e->batch.status, "unknown") != 0);
    }
    return CORRAL_OK;
}

static const struct sink_ops ops = {"fuzz", draw, NULL, NULL};

/* One frame of data[0..size), as the device's reader takes it. */
static size_t take_frame(const uint8_t *data, size_t size, struct tlog_frame_view *frame)
{
    struct tlog_frame_view again;
    size_t used = 0, same = 0;
    enum tlog_frame_status status = tlog_frame_decode(data, size, frame, &used);
    if (status != TLOG_FRAME_OK) {
        FUZZ_CHECK(used == 0);
        FUZZ_CHECK(status != TLOG_FRAME_MORE || size < TLOG_FRAME_MOST);
        return 0;
    }
    FUZZ_CHECK(used >= TLOG_FRAME_HEADER && used <= size && used % 8 == 0 && used <= TLOG_FRAME_MOST);
    FUZZ_CHECK(frame->record.text == data + TLOG_FRAME_HEADER);
    FUZZ_CHECK(frame->record.text_size <= used - TLOG_FRAME_HEADER);
    FUZZ_CHECK(frame->host_ns >= 0);
    /* what follows changes nothing, and one byte less is not enough */
    FUZZ_CHECK(tlog_frame_decode(data, used, &again, &same) == TLOG_FRAME_OK && same == used);
    FUZZ_CHECK(again.record.sequence == frame->record.sequence && again.lost == frame->lost);
    FUZZ_CHECK(tlog_frame_decode(data, used - 1, &again, &same) == TLOG_FRAME_MORE);
    return used;
}

/* What was published is drawn, and the totals are those of what was drawn. */
static void settle(struct event_bus *bus, const struct tlog_emitter *emitter, const struct drawn *drawn)
{
    struct tlog_consumer_stats stats;
    FUZZ_CHECK(event_bus_drain(bus, NULL) == CORRAL_OK && event_bus_dropped(bus) == 0);
    tlog_emitter_get_stats(emitter, &stats);
    FUZZ_CHECK(stats.records == drawn->records && stats.gaps == drawn->gaps);
    FUZZ_CHECK(stats.restarts == drawn->restarts && stats.torn == drawn->torn);
    FUZZ_CHECK(stats.anomalies == drawn->anomalies);
    /* a count that cannot go further stands still: it never runs over */
    FUZZ_CHECK(drawn->unknown || stats.lost >= INT64_MAX || stats.lost == drawn->lost);
    FUZZ_CHECK(!drawn->unknown || stats.lost >= INT64_MAX);
}

static void as_frames(struct tlog_emitter *emitter, struct event_bus *bus, const struct drawn *drawn,
                      const uint8_t *data, size_t size)
{
    for (size_t at = 0, used; at < size; at += used) {
        struct tlog_frame_view frame;
        used = take_frame(data + at, size - at, &frame);
        if (!used)
            return;
        tlog_emitter_frame(emitter, &frame);
        settle(bus, emitter, drawn);
    }
}

/* The same buffer again and again: a stream that goes back, one that was known to start again, a new one. */
static void as_batches(struct tlog_emitter *emitter, struct event_bus *bus, const struct drawn *drawn,
                       const uint8_t *data, size_t size)
{
    bool first = false, release = false;
    for (unsigned i = 0; i < 4; i++) {
        tlog_emitter_batch(emitter, data, size, i == 3 ? NULL : "fuzz", (int64_t)i, &release);
        FUZZ_CHECK(i == 0 || release == first);
        first = release;
        settle(bus, emitter, drawn);
        if (i == 1)
            tlog_emitter_restarted(emitter);
        if (i == 2)
            tlog_emitter_reset(emitter);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (unsigned kind = 0; kind < 2; kind++) {
        const struct tlog_consumer_options options = {.stream = "tlog", .core = kind ? "core0" : NULL};
        struct drawn drawn = {0};
        struct event_bus *bus = event_bus_new();
        struct sink *sink = sink_new(&ops, &drawn, KEPT_MOST);
        FUZZ_CHECK(bus && sink && event_bus_attach(bus, sink, NULL) == CORRAL_OK);
        struct tlog_emitter *emitter = tlog_emitter_new(&options, bus);
        FUZZ_CHECK(emitter);
        (kind ? as_batches : as_frames)(emitter, bus, &drawn, data, size);
        tlog_emitter_free(emitter);
        event_bus_free(bus, NULL);
    }
    return 0;
}
