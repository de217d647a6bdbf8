/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the profiler's tests share: packets built field by field from the sheet's tables (never through the
 * decoder's own writer), decoding out of an allocation of the exact size, and a sink that keeps every event.
 */
#ifndef CORRAL_TEST_PROF_TESTING_H
#define CORRAL_TEST_PROF_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/host_clock.h"
#include "event/sink.h"
#include "prof/analysis.h"
#include "prof/stream.h"

#define HZ 250000000u

struct testing_packet { /* all zero but for what a test sets */
    uint32_t seq, clocks, hz;
    uint32_t instructions; /* of thread 0 */
    uint16_t enabled;
    unsigned count;
    unsigned header_size; /* v17: 0 = 252 */
};

/* Version 17: `count` samples; sample i has pc 0x40000000 + 4 i, thread i % 16, all threads active. */
size_t testing_v17(uint8_t *out, const struct testing_packet *packet);
/* Version 21 (Ubicom) and NSS with `words` stack words announced and `real_words` present in each sample. */
size_t testing_v21(uint8_t *out, const struct testing_packet *packet, uint32_t words, uint32_t real_words);
size_t testing_nss(uint8_t *out, const struct testing_packet *packet, uint8_t words, uint32_t real_words);
/* `count` counters "c0", "c1", ...; count of them are Ultra's. */
size_t testing_counters(uint8_t *out, unsigned count);

/* Decode from an allocation of exactly `size` bytes; the result stays valid until the next call or the
 * test's end. Checks what must hold for every packet. */
struct prof_decoded *testing_decode(const uint8_t *data, size_t size, int version);
void testing_expect_reject(const uint8_t *data, size_t size, const char *reason, int version);
int testing_release(void **state); /* teardown of a group that decoded */

struct testing_stream {
    struct prof_streams *streams;
    struct prof_analysis *analysis;
    struct prof_aggregate *aggregate; /* the analysis' */
    struct event_bus *bus;
    struct event *events[4096];
    size_t count;
    uint8_t data[PROF_MAX_DATAGRAM + 1024];
};

struct testing_stream *testing_stream_new(void);
void testing_stream_free(struct testing_stream *s);
/* Feed a version 17 packet with `count` samples at `ns`. */
void testing_feed(struct testing_stream *s, const char *source, uint32_t seq, unsigned count, int64_t ns);
void testing_feed_packet(struct testing_stream *s, const char *source, const struct testing_packet *packet,
                         int64_t ns);
void testing_feed_counters(struct testing_stream *s, const char *source, int64_t ns);
struct prof_totals testing_totals(const struct testing_stream *s);
const struct event *testing_last(const struct testing_stream *s, enum event_kind kind);
size_t testing_count(const struct testing_stream *s, enum event_kind kind);

struct testing_hot {
    unsigned source;
    uint32_t pc;
    uint32_t caller; /* the nearest stack word, else the link register */
    uint64_t count;
};
/* Active samples by (source, pc, caller), biggest count first, then in that order. Free with free(). */
struct testing_hot *testing_hot_list(struct prof_aggregate *a, size_t *count);

#endif
