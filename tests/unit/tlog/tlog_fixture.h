/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the tests of the firmware log: building shared buffers byte by byte (firmware-log sheet 1), and a sink
 * that keeps every event.
 */
#ifndef CORRAL_TESTS_TLOG_FIXTURE_H
#define CORRAL_TESTS_TLOG_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "tlog/consumer.h"

struct batch {
    uint8_t *data; /* exactly `capacity` bytes, so that the sanitizer sees a read past them */
    size_t capacity;
    size_t end;
};

static inline void batch_seal(struct batch *b)
{
    store_le32(b->data + TLOG_OFF_WRITE_OFFSET, (uint32_t)b->end);
}

static inline struct batch batch_begin(size_t capacity)
{
    struct batch b = {calloc(1, capacity), capacity, TLOG_HEADER_SIZE};
    assert_non_null(b.data);
    store_le32(b.data + TLOG_OFF_BUFFER_SIZE, (uint32_t)capacity);
    store_le32(b.data + TLOG_OFF_MAGIC, TLOG_MAGIC);
    b.data[TLOG_OFF_OWNER] = 1;
    batch_seal(&b);
    return b;
}

static inline void batch_put(struct batch *b, const void *bytes, size_t size)
{
    assert_true(size <= b->capacity - b->end);
    if (size)
        memcpy(b->data + b->end, bytes, size);
    b->end += size;
    batch_seal(b);
}

/* A record whose header claims `msg_size`, whatever `size` bytes of payload follow. */
static inline void batch_claim(struct batch *b, uint16_t msg_size, uint8_t level, uint8_t source,
                               uint32_t timestamp, uint32_t sequence, const void *payload, size_t size)
{
    uint8_t header[TLOG_RECORD_HEADER];
    store_le16(header, msg_size);
    header[2] = level;
    header[3] = source;
    store_le32(header + 4, timestamp);
    store_le32(header + 8, sequence);
    batch_put(b, header, sizeof(header));
    batch_put(b, payload, size);
}

/* A well-formed record of level inf, source SMC; the NUL is counted. */
static inline void batch_line(struct batch *b, uint32_t timestamp, uint32_t sequence, const char *text)
{
    size_t size = strlen(text) + 1;
    batch_claim(b, (uint16_t)(TLOG_RECORD_HEADER + size), 3, 0, timestamp, sequence, text, size);
}

#define KEPT_MAX 8192

struct kept_events {
    struct event *list[KEPT_MAX];
    size_t count;
};

static inline enum corral_err kept_write(void *ctx, const struct event *event, struct diag *d)
{
    struct kept_events *kept = ctx;
    (void)d;
    assert_true(kept->count < KEPT_MAX);
    kept->list[kept->count] = event_clone(event);
    assert_non_null(kept->list[kept->count]);
    kept->count++;
    return CORRAL_OK;
}

/* A bus whose events end up in *kept after event_bus_drain. */
static inline struct event_bus *kept_bus(struct kept_events *kept)
{
    static const struct sink_ops ops = {.name = "kept", .write = kept_write};
    struct event_bus *bus = event_bus_new();
    struct sink *sink = sink_new(&ops, kept, SINK_QUEUE_DEFAULT);
    assert_non_null(bus);
    assert_non_null(sink);
    assert_int_equal(event_bus_attach(bus, sink, NULL), CORRAL_OK);
    return bus;
}

static inline void kept_clear(struct kept_events *kept)
{
    for (size_t i = 0; i < kept->count; i++)
        event_free(kept->list[i]);
    kept->count = 0;
}

static inline size_t kept_count(const struct kept_events *kept, enum event_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < kept->count; i++)
        n += kept->list[i]->kind == kind;
    return n;
}

/* The n-th event of a kind; fails the test when there is none. */
static inline const struct event *kept_get(const struct kept_events *kept, enum event_kind kind, size_t n)
{
    for (size_t i = 0; i < kept->count; i++)
        if (kept->list[i]->kind == kind && n-- == 0)
            return kept->list[i];
    fail_msg("there is no such %s event", event_kind_name(kind));
    return NULL;
}

#endif
