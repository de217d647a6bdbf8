/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the profiler's tests (prof_testing.h). Offsets are typed from the profiler sheet, 3 to 7. */
#include "tests/unit/prof/prof_testing.h"

static struct prof_scratch *scratch;
static struct prof_decoded *decoded;
static uint8_t *exact;

static size_t write_v17_samples(uint8_t *p, unsigned count)
{
    for (unsigned i = 0; i < count; i++, p += 24) {
        memset(p, 0, 24);
        store_be32(p, 0x40000000u + 4 * i);
        store_be16(p + 16, 0xffff);
        p[23] = (uint8_t)(i % 16);
    }
    return (size_t)count * 24;
}

size_t testing_v17(uint8_t *out, const struct testing_packet *packet)
{
    unsigned header_size = packet->header_size ? packet->header_size : 252;

    memset(out, 0, 256);
    store_be16(out, 0x3eb1);
    out[2] = (uint8_t)header_size;
    out[3] = (uint8_t)packet->count;
    store_be32(out + 4, packet->clocks);
    store_be32(out + 8, packet->instructions);
    store_be16(out + 76, packet->enabled);
    store_be32(out + 164, packet->hz);
    store_be32(out + 168, packet->seq);
    return header_size + write_v17_samples(out + header_size, packet->count);
}

static size_t write_v21_samples(uint8_t *p, unsigned count, uint32_t words)
{
    for (unsigned i = 0; i < count; i++, p += 20 + 4 * words) {
        memset(p, 0, 20 + 4 * words);
        store_be32(p, 0x40000000u + 4 * i);
        store_be32(p + 4, 7);
        store_be16(p + 8, 0x0fff);
        p[15] = (uint8_t)(i % 12);
        for (uint32_t w = 0; w < words; w++)
            store_be32(p + 20 + 4 * w, 0x50000000u + w);
    }
    return (size_t)count * (20 + 4 * words);
}

size_t testing_v21(uint8_t *out, const struct testing_packet *packet, uint32_t words, uint32_t real_words)
{
    memset(out, 0, 128);
    store_be16(out, 0x3eb5);
    out[2] = 128;
    out[3] = (uint8_t)packet->count;
    store_be32(out + 4, packet->clocks);
    store_be32(out + 8, packet->instructions);
    store_be16(out + 60, packet->enabled);
    store_be32(out + 68, packet->hz);
    store_be32(out + 72, packet->seq);
    store_be32(out + 124, words);
    return 128 + write_v21_samples(out + 128, packet->count, real_words);
}

size_t testing_nss(uint8_t *out, const struct testing_packet *packet, uint8_t words, uint32_t real_words)
{
    memset(out, 0, 132);
    store_be16(out, 0x3eb5);
    out[2] = 132;
    out[3] = (uint8_t)packet->count;
    out[7] = words;
    store_be32(out + 8, packet->seq);
    store_be32(out + 24, packet->hz);
    store_be16(out + 38, packet->enabled);
    store_be32(out + 48, packet->clocks);
    store_be32(out + 52, packet->instructions);
    return 132 + write_v21_samples(out + 132, packet->count, real_words);
}

size_t testing_counters(uint8_t *out, unsigned count)
{
    memset(out, 0, 16 + 24 * (size_t)count);
    store_be16(out, 0x9ea0);
    store_be16(out + 2, (uint16_t)count);
    for (unsigned i = 0; i < count; i++) {
        out[16 + 24 * i] = 'c';
        out[17 + 24 * i] = (uint8_t)('0' + i % 10);
        store_be32(out + 16 + 24 * i + 20, i);
    }
    return 16 + 24 * (size_t)count;
}

struct prof_decoded *testing_decode(const uint8_t *data, size_t size, int version)
{
    if (!scratch) {
        scratch = calloc(1, sizeof(*scratch));
        decoded = calloc(1, sizeof(*decoded));
    }
    free(exact);
    exact = malloc(size ? size : 1);
    assert_true(scratch && decoded && exact);
    memcpy(exact, data, size);
    /* What is left over from another packet must not show through. */
    memset(scratch, 0xa5, sizeof(*scratch));
    memset(decoded, 0xa5, sizeof(*decoded));
    if (version < 0)
        prof_packet_decode(exact, size, scratch, decoded);
    else
        prof_packet_decode_after(exact, size, version, scratch, decoded);
    assert_true(decoded->consumed <= size);
    assert_true(decoded->consumed == size || decoded->kind == PROF_COUNTERS);
    return decoded;
}

void testing_expect_reject(const uint8_t *data, size_t size, const char *reason, int version)
{
    struct prof_decoded *d = testing_decode(data, size, -1);

    assert_int_equal(d->kind, PROF_REJECT);
    assert_string_equal(d->reject.reason, reason);
    assert_int_equal(d->reject.version, version);
    assert_int_equal(d->reject.size, size);
}

int testing_release(void **state)
{
    (void)state;
    free(scratch);
    free(decoded);
    free(exact);
    scratch = NULL;
    decoded = NULL;
    exact = NULL;
    return 0;
}

static enum corral_err keep(void *ctx, const struct event *event, struct diag *d)
{
    struct testing_stream *s = ctx;
    (void)d;

    assert_true(s->count < sizeof(s->events) / sizeof(s->events[0]));
    s->events[s->count] = event_clone(event);
    assert_non_null(s->events[s->count]);
    s->count++;
    return CORRAL_OK;
}

static const struct sink_ops keep_ops = {.name = "keep", .write = keep};

struct testing_stream *testing_stream_new(void)
{
    struct testing_stream *s = calloc(1, sizeof(*s));

    assert_non_null(s);
    s->bus = event_bus_new();
    s->analysis = prof_analysis_new();
    s->streams = prof_streams_new(s->bus, s->analysis);
    assert_true(s->bus && s->analysis && s->streams);
    s->aggregate = prof_analysis_aggregate(s->analysis);
    struct sink *sink = sink_new(&keep_ops, s, 0);
    assert_non_null(sink);
    assert_int_equal(event_bus_attach(s->bus, sink, NULL), CORRAL_OK);
    return s;
}

void testing_stream_free(struct testing_stream *s)
{
    prof_streams_free(s->streams);
    prof_analysis_free(s->analysis);
    event_bus_free(s->bus, NULL);
    for (size_t i = 0; i < s->count; i++)
        event_free(s->events[i]);
    free(s);
}

static void feed_bytes(struct testing_stream *s, const char *source, size_t size, int64_t ns)
{
    prof_streams_datagram(s->streams, source, s->data, size, ns);
    assert_int_equal(event_bus_drain(s->bus, NULL), CORRAL_OK);
}

void testing_feed_packet(struct testing_stream *s, const char *source, const struct testing_packet *packet,
                         int64_t ns)
{
    feed_bytes(s, source, testing_v17(s->data, packet), ns);
}

void testing_feed(struct testing_stream *s, const char *source, uint32_t seq, unsigned count, int64_t ns)
{
    struct testing_packet packet = {.seq = seq, .count = count, .enabled = 0xffff};

    testing_feed_packet(s, source, &packet, ns);
}

void testing_feed_counters(struct testing_stream *s, const char *source, int64_t ns)
{
    feed_bytes(s, source, testing_counters(s->data, 2), ns);
}

struct prof_totals testing_totals(const struct testing_stream *s)
{
    struct prof_totals totals;

    prof_streams_get_totals(s->streams, &totals);
    return totals;
}

const struct event *testing_last(const struct testing_stream *s, enum event_kind kind)
{
    for (size_t i = s->count; i > 0; i--)
        if (s->events[i - 1]->kind == kind)
            return s->events[i - 1];
    fail_msg("no event of kind %s", event_kind_name(kind));
    return NULL;
}

size_t testing_count(const struct testing_stream *s, enum event_kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < s->count; i++)
        n += s->events[i]->kind == kind;
    return n;
}

static int order_hot(const struct testing_hot *x, const struct testing_hot *y)
{
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return x->caller < y->caller ? -1 : x->caller > y->caller;
}

static int by_address(const void *x, const void *y)
{
    return order_hot(x, y);
}

static int by_count(const void *x, const void *y)
{
    const struct testing_hot *a = x, *b = y;

    return a->count != b->count ? (a->count < b->count ? 1 : -1) : order_hot(a, b);
}

struct testing_hot *testing_hot_list(struct prof_aggregate *a, size_t *count)
{
    struct prof_aggregate_snapshot s;
    size_t n = 0;

    assert_true(prof_aggregate_snapshot(a, &s));
    struct testing_hot *hot = calloc(s.count + 1, sizeof(*hot));
    assert_non_null(hot);
    for (size_t i = 0; i < s.count; i++) {
        const struct prof_aggregate_entry *e = &s.entries[i];
        hot[i] = (struct testing_hot){e->source, e->pc, e->parents[0] ? e->parents[0] : e->link, e->samples};
    }
    qsort(hot, s.count, sizeof(*hot), by_address);
    for (size_t i = 0; i < s.count; i++) { /* the threads of one place become one */
        if (n && order_hot(&hot[n - 1], &hot[i]) == 0)
            hot[n - 1].count += hot[i].count;
        else
            hot[n++] = hot[i];
    }
    qsort(hot, n, sizeof(*hot), by_count);
    prof_aggregate_snapshot_free(&s);
    *count = n;
    return hot;
}
