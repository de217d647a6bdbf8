/* SPDX-License-Identifier: Apache-2.0 */
/* What packet numbers say: INTERFACE.md "Streams", profiler sheet 8 and the rows of 11 that are about
 * streams. Every packet carries two samples, so that what a packet adds can be told. */
#include "prof_testing.h"

#include <stdio.h>

#define A "192.0.2.1:40000"
#define B "192.0.2.1:40001"

static void feed_all(struct testing_stream *s, const uint32_t *seqs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        testing_feed(s, A, seqs[i], 2, EVENT_NO_TIME);
}

#define FEED(s, ...) feed_all(s, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

struct expected {
    uint64_t packets, samples, lost, duplicates, late, restarts, idle_steps;
};

static void expect(const struct testing_stream *s, struct expected e)
{
    struct prof_totals t = testing_totals(s);

    assert_int_equal(t.packets, e.packets);
    assert_int_equal(t.samples, e.samples);
    assert_int_equal(t.lost, e.lost);
    assert_int_equal(t.duplicates, e.duplicates);
    assert_int_equal(t.late, e.late);
    assert_int_equal(t.restarts, e.restarts);
    assert_int_equal(t.idle_steps, e.idle_steps);
    assert_int_equal(testing_count(s, EVENT_PROFILE), e.packets); /* duplicates too */
}

static void in_order(void **state)
{
    struct testing_stream *s = *state;
    FEED(s, 0, 1, 2, 3);
    expect(s, (struct expected){.packets = 4, .samples = 8});
    assert_int_equal(s->count, 4);
}

static void gap_comes_before_its_packet(void **state)
{
    struct testing_stream *s = *state;
    FEED(s, 10, 15);
    expect(s, (struct expected){.packets = 2, .samples = 4, .lost = 4});
    assert_int_equal(s->count, 3);
    assert_int_equal(s->events[1]->kind, EVENT_GAP);
    assert_int_equal(s->events[1]->gap.expected, 11);
    assert_int_equal(s->events[1]->gap.sequence, 15);
    assert_int_equal(s->events[1]->gap.lost, 4);
    assert_string_equal(s->events[1]->gap.reason, "sequence");
    assert_string_equal(s->events[1]->stream, "prof:" A);
    assert_int_equal(s->events[2]->kind, EVENT_PROFILE);
}

static void row_18_number_wraps(void **state)
{
    struct testing_stream *s = *state;
    FEED(s, 0xfffffffe, 0xffffffff, 0, 1);
    expect(s, (struct expected){.packets = 4, .samples = 8});
    FEED(s, 0xffffffff); /* a repeat across the wrap */
    expect(s, (struct expected){.packets = 5, .samples = 8, .duplicates = 1});
}

static void row_18_first_number_zero_is_checked(void **state)
{
    struct testing_stream *s = *state;
    FEED(s, 0, 2);
    expect(s, (struct expected){.packets = 2, .samples = 4, .lost = 1});
}

static void row_19_duplicate(void **state)
{
    struct testing_stream *s = *state;
    FEED(s, 5, 7, 7, 7, 8);
    expect(s, (struct expected){.packets = 5, .samples = 6, .lost = 1, .duplicates = 2});
    FEED(s, 7, 5); /* repeats further back are repeats too, not late ones */
    expect(s, (struct expected){.packets = 7, .samples = 6, .lost = 1, .duplicates = 4});
}

static void row_20_reorder(void **state)
{
    struct testing_stream *s = *state;
    FEED(s, 10, 12, 11, 13);
    expect(s, (struct expected){.packets = 4, .samples = 8, .late = 1});
    FEED(s, 11);
    expect(s, (struct expected){.packets = 5, .samples = 8, .late = 1, .duplicates = 1});
}

static void late_takes_back_only_what_was_counted(void **state)
{
    struct testing_stream *s = *state;
    FEED(s, 100, 99, 98); /* before the first one: nothing was counted lost there */
    expect(s, (struct expected){.packets = 3, .samples = 6, .late = 2});
    FEED(s, 103, 101);
    expect(s, (struct expected){.packets = 5, .samples = 10, .late = 3, .lost = 1});
}

static void late_window_ends_at_64(void **state)
{
    struct testing_stream *s = *state;
    FEED(s, 1000, 1100, 1036); /* 64 behind: late */
    expect(s, (struct expected){.packets = 3, .samples = 6, .late = 1, .lost = 98});
    FEED(s, 1035); /* 65 behind: a restart, and nothing is taken back */
    expect(s, (struct expected){.packets = 4, .samples = 8, .late = 1, .lost = 98, .restarts = 1});
}

static void row_21_idle_step_behind_counters(void **state)
{
    struct testing_stream *s = *state;
    FEED(s, 1, 2);
    testing_feed_counters(s, A, EVENT_NO_TIME);
    FEED(s, 4);
    expect(s, (struct expected){.packets = 3, .samples = 6, .idle_steps = 1});
    assert_int_equal(testing_count(s, EVENT_GAP), 0);
    FEED(s, 6); /* within the burst: loss */
    expect(s, (struct expected){.packets = 4, .samples = 8, .idle_steps = 1, .lost = 1});
    testing_feed_counters(s, A, EVENT_NO_TIME);
    FEED(s, 9); /* two missing: loss, also at a burst's edge */
    expect(s, (struct expected){.packets = 5, .samples = 10, .idle_steps = 1, .lost = 3});
    testing_feed_counters(s, B, EVENT_NO_TIME);
    FEED(s, 11); /* somebody else's counters */
    expect(s, (struct expected){.packets = 6, .samples = 12, .idle_steps = 1, .lost = 4});
}

static void row_21_idle_step_after_a_pause(void **state)
{
    struct testing_stream *s = *state;
    testing_feed(s, A, 1, 2, 0);
    testing_feed(s, A, 3, 2, 199999999);
    expect(s, (struct expected){.packets = 2, .samples = 4, .lost = 1});
    testing_feed(s, A, 5, 2, 399999999);
    expect(s, (struct expected){.packets = 3, .samples = 6, .lost = 1, .idle_steps = 1});
    testing_feed(s, B, 1, 2, 400000000); /* another sender's packet is not this one's previous packet */
    testing_feed(s, A, 7, 2, 600000000);
    expect(s, (struct expected){.packets = 5, .samples = 10, .lost = 1, .idle_steps = 2});
    testing_feed(s, A, 9, 2, 100); /* time that runs back is no pause */
    expect(s, (struct expected){.packets = 6, .samples = 12, .lost = 2, .idle_steps = 2});
    testing_feed(s, A, 10, 2, 50 * NS_PER_S);
    testing_feed(s, A, 12, 2, 50 * NS_PER_S + 199999999);
    expect(s, (struct expected){.packets = 8, .samples = 16, .lost = 3, .idle_steps = 2});
}

static void row_21_late_packet_takes_an_idle_step_back(void **state)
{
    struct testing_stream *s = *state;
    FEED(s, 1);
    testing_feed_counters(s, A, EVENT_NO_TIME);
    FEED(s, 3);
    expect(s, (struct expected){.packets = 2, .samples = 4, .idle_steps = 1});
    FEED(s, 2);
    expect(s, (struct expected){.packets = 3, .samples = 6, .late = 1});
}

static void row_21_version_21_has_no_idle_step(void **state)
{
    struct testing_stream *s = *state;
    for (uint32_t seq = 1; seq <= 3; seq += 2) {
        size_t size = testing_v21(s->data, &(struct testing_packet){.seq = seq, .count = 2}, 4, 4);
        prof_streams_datagram(s->streams, A, s->data, size, (int64_t)seq * NS_PER_S);
        event_bus_drain(s->bus, NULL);
        testing_feed_counters(s, A, (int64_t)seq * NS_PER_S);
    }
    expect(s, (struct expected){.packets = 2, .samples = 4, .lost = 1});
}

static void row_22_restart(void **state)
{
    struct testing_stream *s = *state;
    FEED(s, 4999, 5000, 3, 4);
    expect(s, (struct expected){.packets = 4, .samples = 8, .restarts = 1});
    assert_int_equal(s->events[2]->kind, EVENT_RESTART);
    assert_int_equal(s->events[2]->restart.previous, 5000);
    assert_int_equal(s->events[2]->restart.sequence, 3);
    FEED(s, 2); /* late in the new epoch; it was never counted lost */
    expect(s, (struct expected){.packets = 5, .samples = 10, .restarts = 1, .late = 1});
}

static void row_23_half_the_numbers_away(void **state)
{
    struct testing_stream *s = *state;
    FEED(s, 7, 7 + 0x80000000u, 8 + 0x80000000u);
    expect(s, (struct expected){.packets = 3, .samples = 6, .restarts = 1});
}

static void hole_above_65536_is_a_resync(void **state)
{
    struct testing_stream *s = *state;
    FEED(s, 0, 65537); /* 65536 missing */
    expect(s, (struct expected){.packets = 2, .samples = 4, .lost = 65536});
    FEED(s, 65537 + 65538); /* 65537 missing */
    expect(s, (struct expected){.packets = 3, .samples = 6, .lost = 65536, .restarts = 1});
    FEED(s, 65537 + 65537); /* before the new epoch's first: not counted lost */
    expect(s, (struct expected){.packets = 4, .samples = 8, .lost = 65536, .restarts = 1, .late = 1});
}

static void row_11_number_of_a_refused_packet_is_seen(void **state)
{
    struct testing_stream *s = *state;
    FEED(s, 1);
    size_t size = testing_v17(s->data, &(struct testing_packet){.seq = 2, .count = 2});
    prof_streams_datagram(s->streams, A, s->data, size - 1, EVENT_NO_TIME);
    FEED(s, 3);
    expect(s, (struct expected){.packets = 2, .samples = 4});
    assert_int_equal(testing_totals(s).rejected, 1);
    /* one that is refused shows a gap before it, and fills one */
    size = testing_v17(s->data, &(struct testing_packet){.seq = 6, .count = 2});
    prof_streams_datagram(s->streams, A, s->data, size - 1, EVENT_NO_TIME);
    event_bus_drain(s->bus, NULL);
    expect(s, (struct expected){.packets = 2, .samples = 4, .lost = 2});
    assert_int_equal(s->events[s->count - 2]->kind, EVENT_GAP);
    assert_int_equal(s->events[s->count - 1]->kind, EVENT_REJECT);
    size = testing_v17(s->data, &(struct testing_packet){.seq = 5, .count = 2});
    prof_streams_datagram(s->streams, A, s->data, size - 1, EVENT_NO_TIME);
    expect(s, (struct expected){.packets = 2, .samples = 4, .lost = 1});
    /* a number far away is too doubtful to begin an epoch with */
    size = testing_v17(s->data, &(struct testing_packet){.seq = 0x70000000, .count = 2});
    prof_streams_datagram(s->streams, A, s->data, size - 1, EVENT_NO_TIME);
    FEED(s, 7);
    expect(s, (struct expected){.packets = 3, .samples = 6, .lost = 1});
}

static void refused_packets_poison_nothing(void **state)
{
    struct testing_stream *s = *state;
    FEED(s, 1);
    for (unsigned i = 0; i < 100; i++) {
        memset(s->data, (int)i, 300);
        prof_streams_datagram(s->streams, A, s->data, 300, 0);
    }
    prof_streams_datagram(s->streams, A, NULL, 0, 0);
    FEED(s, 2);
    expect(s, (struct expected){.packets = 2, .samples = 4});
    assert_int_equal(testing_totals(s).rejected, 101);
    assert_int_equal(testing_count(s, EVENT_REJECT), 101);
}

static void refusals_are_counted_by_reason(void **state)
{
    struct testing_stream *s = *state;
    static const enum prof_reason reasons[] = {PROF_REASON_SHORT, PROF_REASON_MAGIC, PROF_REASON_BYTE_ORDER,
                                               PROF_REASON_VERSION, PROF_REASON_HEADER_SIZE};
    static const uint8_t data[][4] = {
        {0x3e}, {0x3e, 0xc0}, {0xb1, 0x3e}, {0x3e, 0xbf, 252, 0}, {0x3e, 0xb1, 3, 0}};
    static const size_t sizes[] = {1, 2, 2, 4, 4};
    struct prof_totals t;
    uint64_t sum = 0;
    for (size_t i = 0; i < 5; i++) /* rows 1, 2, 3, 14 and 5 */
        for (size_t k = 0; k <= i; k++)
            prof_streams_datagram(s->streams, A, data[i], sizes[i], 0);
    t = testing_totals(s);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(t.rejected_by[reasons[i]], i + 1);
    for (unsigned i = 0; i < PROF_REASONS; i++)
        sum += t.rejected_by[i];
    assert_int_equal(sum, t.rejected);
    assert_int_equal(t.rejected, 15);
    assert_string_equal(prof_reason_name(PROF_REASON_BYTE_ORDER), "byte-order");
}

static void rows_9_and_12_empty_packets_and_trailing_bytes(void **state)
{
    struct testing_stream *s = *state;
    testing_feed(s, A, 1, 0, 0);
    size_t size = testing_v17(s->data, &(struct testing_packet){.seq = 2, .count = 2});
    prof_streams_datagram(s->streams, A, s->data, size + 1, 0);
    struct prof_totals t = testing_totals(s);
    assert_int_equal(t.empty, 1);
    assert_int_equal(t.trailing, 1);
    assert_int_equal(t.rejected, 0);
    assert_int_equal(t.samples, 2);
}

static void rows_32_and_34_enabled_mask(void **state)
{
    struct testing_stream *s = *state;
    struct prof_thread_row rows[PROFILE_MAX_THREADS];
    struct testing_packet packet = {.seq = 1, .count = 4, .enabled = 0};
    testing_feed_packet(s, A, &packet, 0);
    assert_int_equal(prof_streams_threads(s->streams, rows), 0);
    assert_int_equal(testing_totals(s).samples, 4); /* still counted */
    packet = (struct testing_packet){.seq = 2, .count = 4, .enabled = 0x8005};
    testing_feed_packet(s, A, &packet, 0);
    assert_int_equal(prof_streams_threads(s->streams, rows), 3);
    assert_int_equal(rows[0].thread, 0);
    assert_int_equal(rows[0].samples, 2);
    assert_int_equal(rows[1].thread, 2);
    assert_int_equal(rows[2].thread, 15);
    assert_int_equal(rows[2].samples, 0);
    assert_false(rows[0].mips_known);
}

static void row_36_own_active_bit_clear(void **state)
{
    struct testing_stream *s = *state;
    size_t n = 0;
    size_t size = testing_v17(s->data, &(struct testing_packet){.seq = 1, .count = 3});
    store_be16(s->data + 252 + 24 + 16, 0xfffd); /* the second sample is thread 1 */
    prof_streams_datagram(s->streams, A, s->data, size, 0);
    assert_int_equal(testing_totals(s).samples, 3);
    assert_int_equal(testing_totals(s).active_samples, 2);
    assert_int_equal(prof_aggregate_samples(s->aggregate, 0), 3);
    assert_int_equal(prof_aggregate_active(s->aggregate, 0), 2);
    struct testing_hot *hot = testing_hot_list(s->aggregate, &n);
    assert_int_equal(n, 2);
    free(hot);
}

static void row_38_unknown_caller(void **state)
{
    struct testing_stream *s = *state;
    size_t n = 0;
    size_t size = testing_v17(s->data, &(struct testing_packet){.seq = 1, .count = 3});
    store_be32(s->data + 252 + 24 + 4, 0x1111);     /* second: link register only */
    store_be32(s->data + 252 + 2 * 24 + 4, 0x2222); /* third: both */
    store_be32(s->data + 252 + 2 * 24 + 8, 0x3333);
    prof_streams_datagram(s->streams, A, s->data, size, 0);
    struct testing_hot *hot = testing_hot_list(s->aggregate, &n);
    assert_int_equal(n, 3);
    assert_int_equal(hot[0].caller, 0);
    assert_int_equal(hot[1].caller, 0x1111);
    assert_int_equal(hot[2].caller, 0x3333);
    free(hot);
}

static void row_38_unknown_caller_of_version_21(void **state)
{
    struct testing_stream *s = *state;
    size_t n = 0;
    size_t size = testing_v21(s->data, &(struct testing_packet){.seq = 1, .count = 3}, 2, 2);
    store_be32(s->data + 128 + 16, 0x1111);      /* first: stack word and register */
    store_be32(s->data + 128 + 28 + 16, 0x2222); /* second: register, empty stack word */
    store_be32(s->data + 128 + 28 + 20, 0);
    store_be32(s->data + 128 + 56 + 20, 0); /* third: neither */
    prof_streams_datagram(s->streams, A, s->data, size, 0);
    struct testing_hot *hot = testing_hot_list(s->aggregate, &n);
    assert_int_equal(n, 3);
    assert_int_equal(hot[0].caller, 0x50000000);
    assert_int_equal(hot[1].caller, 0x2222);
    assert_int_equal(hot[2].caller, 0);
    free(hot);
}

static void row_58_state_by_source(void **state)
{
    struct testing_stream *s = *state;
    for (uint32_t i = 0; i < 3; i++) {
        testing_feed(s, A, i, 2, 0);
        testing_feed(s, B, 70000 + i, 2, 0);
        testing_feed(s, "[2001:db8::1]:40000", 5 + i, 2, 0);
    }
    expect(s, (struct expected){.packets = 9, .samples = 18});
    assert_int_equal(testing_totals(s).sources, 3);
}

static void row_60_flood_of_sources(void **state)
{
    struct testing_stream *s = *state;
    char name[32];
    assert_int_equal(prof_streams_name(s->streams, A, "core0", NULL), CORRAL_OK);
    testing_feed(s, A, 1, 2, 0);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "198.51.100.1:%u", i);
        testing_feed(s, name, 1, 2, 0);
        testing_feed(s, B, 1 + i, 2, 0); /* busy: never the oldest idle one */
    }
    testing_feed(s, A, 2, 2, 0);
    struct prof_totals t = testing_totals(s);
    assert_int_equal(t.sources, 1002);
    assert_int_equal(t.evicted, 1002 - PROF_MAX_SOURCES);
    assert_int_equal(t.lost, 0); /* B and the named one kept their places */
    assert_int_equal(t.restarts, 0);
    /* the evicted sender begins anew */
    testing_feed(s, "198.51.100.1:0", 500, 2, 0);
    assert_int_equal(testing_totals(s).lost, 0);
    assert_int_equal(testing_totals(s).sources, 1003);
}

static void named_sender(void **state)
{
    struct testing_stream *s = *state;
    struct diag d = DIAG_INIT;
    char name[32];
    assert_int_equal(prof_streams_name(s->streams, A, "core0", &d), CORRAL_OK);
    assert_int_equal(prof_streams_name(s->streams, B, "core1", &d), CORRAL_OK);
    assert_int_equal(testing_totals(s).sources, 0); /* neither has sent anything */
    char who[PROF_SOURCE_NAME_ROOM];
    struct prof_totals one;
    assert_true(prof_streams_source_totals(s->streams, 0, who, &one));
    assert_string_equal(who, "core0");
    assert_int_equal(one.sources, 0);
    assert_true(prof_streams_source_totals(s->streams, 1, who, &one));
    assert_string_equal(who, "core1");
    assert_false(prof_streams_source_totals(s->streams, 2, who, &one));
    assert_false(prof_streams_source_totals(s->streams, 64, who, &one));
    assert_string_equal(who, "");
    testing_feed(s, B, 1, 2, 0);
    assert_string_equal(s->events[0]->stream, "prof:core1");
    assert_string_equal(s->events[0]->core, "core1");
    assert_int_equal(prof_aggregate_samples(s->aggregate, 1), 2);
    testing_feed(s, "198.51.100.1:9", 1, 2, 0);
    assert_null(s->events[1]->core);
    assert_string_equal(s->events[1]->stream, "prof:198.51.100.1:9");
    assert_int_equal(prof_streams_name(s->streams, A, "", &d), CORRAL_ERR_USAGE);
    for (unsigned i = 0; i < PROF_MAX_SOURCES - 2; i++) {
        snprintf(name, sizeof(name), "203.0.113.1:%u", i);
        assert_int_equal(prof_streams_name(s->streams, name, "x", &d), CORRAL_OK);
    }
    assert_int_equal(prof_streams_name(s->streams, "203.0.113.2:1", "x", &d), CORRAL_ERR_LIMIT);
    testing_feed(s, "203.0.113.2:1", 1, 2, 0); /* no room, and nobody to put out */
    assert_int_equal(testing_totals(s).rejected, 1);
}

/* Whose packets are missing: a core's loss must not be drawn on another's track. */
static void totals_of_each_source(void **state)
{
    struct testing_stream *s = *state;
    struct diag d = DIAG_INIT;
    char who[PROF_SOURCE_NAME_ROOM];
    struct prof_totals a, b, sum;
    assert_int_equal(prof_streams_name(s->streams, A, "core0", &d), CORRAL_OK);
    assert_int_equal(prof_streams_name(s->streams, B, "core1", &d), CORRAL_OK);
    testing_feed(s, A, 1, 2, 0);
    testing_feed(s, A, 2, 2, 0);
    testing_feed(s, B, 1, 3, 0);
    testing_feed(s, B, 5, 3, 0); /* 2 to 4 are missing */
    testing_feed(s, B, 3, 3, 0); /* late: taken back where it was counted */
    testing_feed(s, B, 5, 3, 0);
    assert_true(prof_streams_source_totals(s->streams, 0, who, &a));
    assert_true(prof_streams_source_totals(s->streams, 1, who, &b));
    assert_int_equal(a.packets, 2);
    assert_int_equal(a.samples, 4);
    assert_int_equal(a.lost, 0);
    assert_int_equal(a.sources, 1);
    assert_int_equal(b.packets, 4);
    assert_int_equal(b.samples, 9);
    assert_int_equal(b.lost, 2);
    assert_int_equal(b.late, 1);
    assert_int_equal(b.duplicates, 1);
    prof_streams_get_totals(s->streams, &sum);
    assert_int_equal(sum.packets, 6);
    assert_int_equal(sum.samples, 13);
    assert_int_equal(sum.lost, 2);
    assert_int_equal(sum.sources, 2);
}

/* What a sender that was put out had lost stays in the sum, and is not the next one's. */
static void totals_outlive_an_evicted_source(void **state)
{
    struct testing_stream *s = *state;
    char name[32], who[PROF_SOURCE_NAME_ROOM];
    struct prof_totals one;
    testing_feed(s, A, 1, 2, 0);
    testing_feed(s, A, 4, 2, 0);
    for (unsigned i = 0; i < PROF_MAX_SOURCES; i++) {
        snprintf(name, sizeof(name), "198.51.100.1:%u", i);
        testing_feed(s, name, 1, 1, 0);
    }
    struct prof_totals sum = testing_totals(s);
    assert_int_equal(sum.evicted, 1);
    assert_int_equal(sum.lost, 2);
    assert_int_equal(sum.samples, 4 + PROF_MAX_SOURCES);
    assert_true(prof_streams_source_totals(s->streams, 0, who, &one));
    assert_string_equal(who, "198.51.100.1:63");
    assert_int_equal(one.lost, 0);
    assert_int_equal(one.packets, 1);
}

static void source_name_from_outside(void **state)
{
    struct testing_stream *s = *state;
    static char name[5000];
    memset(name, 'x', sizeof(name) - 1);
    testing_feed(s, name, 1, 2, 0);
    testing_feed(s, name, 2, 2, 0);
    assert_null(s->events[0]->core);
    assert_int_equal(strlen(s->events[0]->stream), 5 + 127);
    testing_feed(s, "file\x1b[2J\xff.bin", 1, 2, 0);
    assert_int_equal(testing_totals(s).sources, 2);
    assert_string_equal(s->events[2]->stream, "prof:file\\x1b[2J\\xff.bin");
}

static void glued_nss_datagram(void **state)
{
    struct testing_stream *s = *state;
    size_t size = testing_counters(s->data, 3);
    size += testing_nss(s->data + size, &(struct testing_packet){.seq = 9, .count = 2}, 4, 4);
    prof_streams_datagram(s->streams, A, s->data, size, 0);
    event_bus_drain(s->bus, NULL);
    assert_int_equal(s->count, 2);
    assert_int_equal(s->events[0]->kind, EVENT_COUNTERS);
    assert_int_equal(s->events[1]->kind, EVENT_PROFILE);
    assert_int_equal(s->events[1]->profile.layout, PROFILE_NSS);
    assert_int_equal(s->events[1]->profile.header.seq, 9);
}

static void maps_follow_the_version_of_their_sender(void **state)
{
    struct testing_stream *s = *state;
    static const uint8_t maps[] = {0xae, 0xa0, 0, 1, 0, 0, 0, 12, 0, 1, 0x08, 0x04};
    prof_streams_datagram(s->streams, A, maps, sizeof(maps), 0);
    size_t size = testing_v21(s->data, &(struct testing_packet){.seq = 1, .count = 1}, 4, 4);
    prof_streams_datagram(s->streams, A, s->data, size, 0);
    prof_streams_datagram(s->streams, A, maps, sizeof(maps), 0);
    prof_streams_datagram(s->streams, B, maps, sizeof(maps), 0);
    event_bus_drain(s->bus, NULL);
    assert_false(s->events[0]->maps.v21); /* not known yet */
    assert_true(s->events[2]->maps.v21);
    assert_false(s->events[3]->maps.v21); /* another sender */
}

static void kernel_drops(void **state)
{
    struct testing_stream *s = *state;
    prof_streams_kernel_drops(s->streams, 0, 5);
    prof_streams_kernel_drops(s->streams, 17, 5);
    event_bus_drain(s->bus, NULL);
    assert_int_equal(s->count, 1);
    assert_int_equal(s->events[0]->kind, EVENT_GAP);
    assert_int_equal(s->events[0]->gap.lost, 17);
    assert_string_equal(s->events[0]->gap.reason, "kernel");
    assert_int_equal(testing_totals(s).lost, 0); /* the numbers will tell whose they were */
}

/* Random jumps against a set of all numbers seen, within a window that never restarts. */
static void loss_against_a_set_of_numbers(void **state)
{
    struct testing_stream *s = *state;
    static bool seen[4096];
    uint32_t highest = 100, x = 7;
    uint64_t distinct = 1, late = 0, duplicates = 0;
    memset(seen, 0, sizeof(seen));
    seen[100] = true;
    testing_feed(s, A, 100, 0, EVENT_NO_TIME);
    for (unsigned i = 0; i < 1000; i++) {
        x = x * 1664525 + 1013904223;
        uint32_t seq = x >> 28 < 9 ? highest + 1 + (x >> 8) % 3 : highest - (x >> 8) % 30;
        testing_feed(s, A, seq, 0, EVENT_NO_TIME);
        duplicates += seen[seq];
        late += !seen[seq] && seq < highest;
        distinct += !seen[seq] && seq > 100;
        seen[seq] = true;
        highest = seq > highest ? seq : highest;
    }
    struct prof_totals t = testing_totals(s);
    assert_int_equal(t.lost, highest - 100 + 1 - distinct);
    assert_int_equal(t.late, late);
    assert_int_equal(t.duplicates, duplicates);
    assert_int_equal(t.restarts, 0);
}

static int setup(void **state)
{
    *state = testing_stream_new();
    return 0;
}

static int teardown(void **state)
{
    testing_stream_free(*state);
    return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(in_order),
        TEST(gap_comes_before_its_packet),
        TEST(row_18_number_wraps),
        TEST(row_18_first_number_zero_is_checked),
        TEST(row_19_duplicate),
        TEST(row_20_reorder),
        TEST(late_takes_back_only_what_was_counted),
        TEST(late_window_ends_at_64),
        TEST(row_21_idle_step_behind_counters),
        TEST(row_21_idle_step_after_a_pause),
        TEST(row_21_late_packet_takes_an_idle_step_back),
        TEST(row_21_version_21_has_no_idle_step),
        TEST(row_22_restart),
        TEST(row_23_half_the_numbers_away),
        TEST(hole_above_65536_is_a_resync),
        TEST(row_11_number_of_a_refused_packet_is_seen),
        TEST(refused_packets_poison_nothing),
        TEST(refusals_are_counted_by_reason),
        TEST(rows_9_and_12_empty_packets_and_trailing_bytes),
        TEST(rows_32_and_34_enabled_mask),
        TEST(row_36_own_active_bit_clear),
        TEST(row_38_unknown_caller),
        TEST(row_38_unknown_caller_of_version_21),
        TEST(row_58_state_by_source),
        TEST(row_60_flood_of_sources),
        TEST(named_sender),
        TEST(totals_of_each_source),
        TEST(totals_outlive_an_evicted_source),
        TEST(source_name_from_outside),
        TEST(glued_nss_datagram),
        TEST(maps_follow_the_version_of_their_sender),
        TEST(kernel_drops),
        TEST(loss_against_a_set_of_numbers),
    };
    return cmocka_run_group_tests_name("prof stream", tests, NULL, NULL);
}
