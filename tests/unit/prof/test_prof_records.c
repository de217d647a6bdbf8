/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile packets in RAM, both ends together: the target's recorder on memory that the host reads over a link
 * of the test's own (docs/profile-records.md). The target may do anything between two accesses of the host.
 */
#include "prof/records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "link/link_backend.h"
#include "prof_testing.h"
#include "target/prof_counters.h"
#include "target/prof_records.h"
#include "target/prof_sampler.h"

#define BASE  0x20004000u
#define SLOTS 4u
#define SIZE  (PROF_RECORDS_HEADER + SLOTS * 2000u)
#define GUARD 64u

struct rig;
typedef void meddle_fn(struct rig *rig, const struct link_access *access);

struct rig {
    union {
        uint32_t align;
        uint8_t bytes[SIZE + GUARD];
    } memory;
    struct prof_records target;
    struct prof_sampler sampler;
    struct host_clock *clock;
    struct link *link;
    struct testing_stream *stream;
    struct prof_records_reader *reader;
    meddle_fn *meddle; /* before each access */
    unsigned accesses, writes;
    bool wrote_elsewhere; /* anything but a word 0 at a slot's owner */
    bool dead;
    unsigned raw_packets; /* and their bytes, as they came */
    size_t raw_bytes;
};

static enum corral_err execute(void *ctx, struct link_access *accesses, size_t count, struct diag *d)
{
    struct rig *r = ctx;
    for (size_t i = 0; i < count; i++) {
        struct link_access *a = &accesses[i];
        size_t size = (size_t)a->size * a->count;
        r->accesses++;
        if (r->meddle)
            r->meddle(r, a);
        a->status = CORRAL_ERR_LINK_DOWN;
        if (r->dead)
            return diag_set(d, CORRAL_ERR_LINK_DOWN, "the link is dead");
        assert_true(a->address >= BASE && a->address - BASE + size <= SIZE);
        uint8_t *at = r->memory.bytes + (a->address - BASE);
        if (a->op == LINK_MEM_READ) {
            memcpy(a->data, at, size);
        } else {
            r->writes++;
            r->wrote_elsewhere |= size != 4 || (a->address - BASE - PROF_RECORDS_HEADER) % 2000u != 0 ||
                                  *(uint32_t *)a->data != 0;
            memcpy(at, a->data, size);
        }
        a->status = CORRAL_OK;
        a->done = a->count;
    }
    return CORRAL_OK;
}

static void on_raw(void *ctx, const char *source, const uint8_t *data, size_t size, int64_t host_ns)
{
    struct rig *r = ctx;
    assert_string_equal(source, "ram:core0");
    assert_true(size && data && host_ns >= 0);
    r->raw_packets++;
    r->raw_bytes += size;
}

static int setup(void **state)
{
    static const struct link_backend backend = {.caps = LINK_CAP_MEM, .execute = execute};
    struct rig *r = calloc(1, sizeof(*r));
    struct diag d = DIAG_INIT;
    assert_non_null(r);
    memset(r->memory.bytes, 0xA5, sizeof(r->memory.bytes));
    r->clock = host_clock_new_virtual();
    r->link = link_new(&backend, r, "test", r->clock);
    r->stream = testing_stream_new();
    struct prof_records_options options = {.source = "ram:core0",
                                           .address = BASE,
                                           .size = SIZE,
                                           .streams = r->stream->streams,
                                           .raw = on_raw,
                                           .ctx = r};
    r->reader = prof_records_reader_new(&options, &d);
    assert_non_null(r->link);
    assert_non_null(r->reader);
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    struct rig *r = *state;
    assert_false(r->wrote_elsewhere);
    for (size_t i = SIZE; i < SIZE + GUARD; i++)
        assert_int_equal(r->memory.bytes[i], 0xA5);
    prof_records_reader_free(r->reader);
    link_close(r->link);
    host_clock_free(r->clock);
    testing_stream_free(r->stream);
    free(r);
    return 0;
}

static void start(struct rig *r)
{
    const struct prof_sampler_config config = {
        .send = prof_records_send, .ctx = &r->target, .clock_hz = 100000000, .enabled = 1};
    assert_true(prof_records_init(&r->target, r->memory.bytes, SIZE, SLOTS));
    assert_true(prof_sampler_init(&r->sampler, &config));
}

static void sample(struct rig *r, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct prof_sampler_sample s = {.pc = 0x08000100 + i % 64 * 2, .active = 1};
        prof_sampler_add(&r->sampler, &s, i * 100);
    }
}

static bool poll(struct rig *r)
{
    struct diag d = DIAG_INIT;
    bool took = false;
    assert_int_equal(prof_records_poll(r->reader, r->link, &took, &d), CORRAL_OK);
    return took;
}

static unsigned drain(struct rig *r)
{
    unsigned batches = 0;
    for (unsigned idle = 0; idle < 3; idle++)
        while (poll(r)) {
            batches++;
            idle = 0;
        }
    return batches;
}

/* As long as it takes to notice that the target began anew. */
static void follow(struct rig *r)
{
    for (unsigned i = 0; i < 200; i++)
        poll(r);
}

static struct prof_records_stats stats(const struct rig *r)
{
    struct prof_records_stats s;
    prof_records_reader_stats(r->reader, &s);
    return s;
}

static void every_sample_comes_once_and_in_order(void **state)
{
    struct rig *r = *state;
    start(r);
    for (unsigned i = 0; i < 1000; i++) {
        sample(r, 49);
        drain(r);
    }
    sample(r, 17);
    prof_sampler_flush(&r->sampler, 5);
    prof_records_flush(&r->target);
    drain(r);
    struct prof_totals t = testing_totals(r->stream);
    assert_int_equal(t.samples, 49 * 1000 + 17);
    assert_int_equal(t.packets, 1001);
    assert_int_equal(t.lost + t.duplicates + t.late + t.rejected + t.restarts, 0);
    assert_int_equal(stats(r).packets, 1001);
    assert_int_equal(r->raw_packets, 1001);
    assert_int_equal(r->raw_bytes + 4 * 1001, stats(r).bytes);
    assert_int_equal(stats(r).lost + stats(r).restarts + stats(r).bad_records + stats(r).bad_batches, 0);
    assert_true(stats(r).ready);
}

static void what_finds_no_slot_is_counted_on_both_sides(void **state)
{
    struct rig *r = *state;
    start(r);
    sample(r, 49 * 100); /* nobody reads */
    assert_true(r->target.lost > 0);
    uint32_t lost = r->target.lost;
    drain(r);
    sample(r, 49 * 2);
    prof_records_flush(&r->target);
    drain(r);
    assert_int_equal(stats(r).lost, lost);
    struct prof_totals t = testing_totals(r->stream);
    assert_int_equal(t.lost, lost); /* the sequence numbers say the same */
    assert_int_equal(t.packets + lost, 102);
    assert_int_equal(r->sampler.samples_sent, t.samples);
}

static void other_packets_come_too(void **state)
{
    struct rig *r = *state;
    uint8_t buffer[PROF_COUNTERS_PACKET];
    static const struct prof_counter counters[] = {{"frames", 7}, {"a name of twenty-four ...", 9}};
    static const struct prof_map maps[] = {{3, 4, PROF_MAP_FREE}, {100, 2047, PROF_MAP_CACHE}};
    start(r);
    assert_true(prof_counters_send(prof_records_send, &r->target, buffer, counters, 2, 99));
    assert_true(prof_maps_send(prof_records_send, &r->target, buffer, maps, 2, 12));
    prof_records_flush(&r->target);
    assert_int_equal(drain(r), 1);
    assert_int_equal(event_bus_drain(r->stream->bus, NULL), CORRAL_OK);
    assert_int_equal(r->stream->count, 2);
    const struct event *e = r->stream->events[0];
    assert_int_equal(e->kind, EVENT_COUNTERS);
    assert_int_equal(e->counters.count, 2);
    assert_int_equal(e->counters.ultra_sample_time, 99);
    assert_string_equal(e->counters.counters[0].name, "frames");
    assert_string_equal(e->counters.counters[1].name, "a name of twenty-fou"); /* all 20 bytes, no NUL */
    assert_int_equal(e->counters.counters[1].value, 9);
    e = r->stream->events[1];
    assert_int_equal(e->kind, EVENT_MAPS);
    assert_int_equal(e->maps.page_shift, 12);
    assert_int_equal(e->maps.count, 2);
    assert_int_equal(e->maps.entries[0].pages, 16);
    assert_int_equal(e->maps.entries[1].pages, 2047);
    assert_int_equal(e->maps.entries[1].type, PROF_MAP_CACHE);
}

static void the_target_refuses_what_does_not_fit(void **state)
{
    struct rig *r = *state;
    struct prof_records records;
    uint8_t buffer[PROF_COUNTERS_PACKET], big[PROF_RECORDS_MAX_PACKET + 1] = {0};
    static const struct prof_map order[] = {{0, 17, PROF_MAP_FREE}}, pages[] = {{0, 2048, PROF_MAP_CACHE}};
    assert_false(prof_records_init(&records, NULL, SIZE, 4));
    assert_false(prof_records_init(&records, r->memory.bytes + 2, SIZE - 4, 4));
    assert_false(prof_records_init(&records, r->memory.bytes, SIZE, 1));
    assert_false(prof_records_init(&records, r->memory.bytes, SIZE, 17));
    assert_false(prof_records_init(&records, r->memory.bytes, 12, 2));
    assert_false(
        prof_records_init(&records, r->memory.bytes, PROF_RECORDS_HEADER + 2 * PROF_RECORDS_SLOT_MIN - 4, 2));
    assert_true(
        prof_records_init(&records, r->memory.bytes, PROF_RECORDS_HEADER + 2 * PROF_RECORDS_SLOT_MIN, 2));
    assert_false(prof_records_send(&records, big, 0));
    assert_false(prof_records_send(&records, big, sizeof(big)));
    assert_int_equal(records.lost, 2);
    assert_true(prof_records_send(&records, big, PROF_RECORDS_MAX_PACKET));
    assert_false(prof_counters_send(prof_records_send, &records, buffer, NULL, PROF_COUNTERS_MAX + 1, 0));
    assert_false(prof_maps_send(prof_records_send, &records, buffer, order, 1, 12));
    assert_false(prof_maps_send(prof_records_send, &records, buffer, pages, 1, 12));
    assert_false(prof_maps_send(prof_records_send, &records, buffer, pages, 0, 9));
    memset(r->memory.bytes + SIZE, 0xA5, GUARD);
}

static void memory_without_the_magic_is_left_alone(void **state)
{
    struct rig *r = *state;
    for (unsigned i = 0; i < 200; i++)
        assert_false(poll(r));
    assert_int_equal(r->writes, 0);
    assert_false(stats(r).ready);
    assert_int_equal(stats(r).bad_shapes, 0);
    start(r); /* it comes up later */
    sample(r, 98);
    prof_records_flush(&r->target);
    assert_int_equal(drain(r), 2);
    assert_int_equal(testing_totals(r->stream).samples, 98);
}

/* Row by row: each word of the header as a hostile target may have it. */
static void impossible_shapes_are_refused(void **state)
{
    struct rig *r = *state;
    static const uint32_t shapes[][2] = {
        {0x401, 2004},       /* one word too long for the buffer */
        {0x401, 2002},       /* no multiple of 4 */
        {0x401, 1452},       /* too small for a packet */
        {0x101, 2000},       /* one slot */
        {0x1101, 64},        /* seventeen */
        {0x402, 2000},       /* version 2 */
        {0x10401, 2000},     /* bits that mean nothing yet */
        {0x401, 0xFFFFFFFC}, /* overflows 32 bits by four slots */
        {0x401, 0},
    };
    start(r);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        store_le32(r->memory.bytes + 4, shapes[i][0]);
        store_le32(r->memory.bytes + 8, shapes[i][1]);
        assert_false(poll(r));
        assert_int_equal(stats(r).bad_shapes, i + 1);
    }
    assert_int_equal(r->writes, 0);
}

/* Fewer and larger slots from one poll to the next: the slot whose turn it was would lie behind the buffer.
 * The rig's link refuses such an access. */
static void a_shape_that_changes_never_leads_out_of_the_buffer(void **state)
{
    struct rig *r = *state;
    start(r);
    sample(r, 49 * 3);
    prof_records_flush(&r->target);
    assert_int_equal(drain(r), 3); /* the last slot is next */
    store_le32(r->memory.bytes + 4, 0x201);
    store_le32(r->memory.bytes + 8, 4000);
    for (unsigned i = 0; i < 2; i++)
        store_le32(r->memory.bytes + PROF_RECORDS_HEADER + 4000 * i, 0);
    follow(r);
    assert_true(stats(r).ready);
    assert_int_equal(stats(r).batches, 3);
}

static void lying_used_counts_and_lengths_end_the_batch(void **state)
{
    struct rig *r = *state;
    uint8_t *slot = r->memory.bytes + PROF_RECORDS_HEADER;
    static const uint32_t used[] = {2000, 1989, 0xFFFFFFFF, 0xFFFFFFF4, 3};
    static const uint32_t lengths[] = {0, 1441, 1985, 0xFFFFFFFF, 0x80000000};
    for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
        start(r);
        sample(r, 49);
        prof_records_flush(&r->target);
        store_le32(slot + 4, used[i]);
        follow(r);
        assert_int_equal(stats(r).bad_batches, i + 1);
    }
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        start(r);
        sample(r, 49);
        prof_records_flush(&r->target);
        store_le32(slot + 12, lengths[i]);
        follow(r);
        assert_int_equal(stats(r).bad_records, i + 1);
    }
    assert_int_equal(stats(r).packets, 0);
    assert_int_equal(load_le32(slot), 0); /* handed back all the same */
}

static void odd_owner_is_nobodys(void **state)
{
    struct rig *r = *state;
    start(r);
    sample(r, 49);
    prof_records_flush(&r->target);
    store_le32(r->memory.bytes + PROF_RECORDS_HEADER, 2);
    assert_false(poll(r));
    assert_int_equal(stats(r).bad_owners, 1);
    assert_int_equal(r->writes, 0);
}

/* The target overwrites the batch when the host is about to hand it back: only the copy is looked at. */
static void scribble(struct rig *r, const struct link_access *access)
{
    if (access->op == LINK_MEM_WRITE)
        memset(r->memory.bytes + PROF_RECORDS_HEADER + 12, 0xFF, 1900);
}

static void only_the_copy_is_looked_at(void **state)
{
    struct rig *r = *state;
    start(r);
    sample(r, 49);
    prof_records_flush(&r->target);
    r->meddle = scribble;
    assert_true(poll(r));
    assert_int_equal(testing_totals(r->stream).samples, 49);
    assert_int_equal(stats(r).bad_records, 0);
}

/* Another program got the memory between the look at the slot and the hand-back. */
static void take_magic_away(struct rig *r, const struct link_access *access)
{
    if (access->op == LINK_MEM_READ && access->address == BASE)
        memset(r->memory.bytes, 0x11, SIZE);
}

static void nothing_is_written_once_the_magic_is_gone(void **state)
{
    struct rig *r = *state;
    start(r);
    sample(r, 49);
    drain(r);
    sample(r, 98);
    prof_records_flush(&r->target);
    unsigned writes = r->writes;
    r->meddle = take_magic_away;
    for (unsigned i = 0; i < 10; i++)
        assert_false(poll(r));
    assert_int_equal(r->writes, writes);
    assert_false(stats(r).ready);
}

static void a_target_that_begins_anew_is_followed(void **state)
{
    struct rig *r = *state;
    start(r);
    for (unsigned i = 0; i < 7; i++) { /* so few that by number alone the new ones would be repeated ones */
        sample(r, 49);
        drain(r);
    }
    uint64_t before = testing_totals(r->stream).samples;
    start(r);
    sample(r, 49 * 3);
    prof_records_flush(&r->target);
    follow(r);
    assert_int_equal(testing_totals(r->stream).samples - before, 49 * 3);
    assert_int_equal(testing_totals(r->stream).restarts, 1);
    assert_int_equal(testing_totals(r->stream).duplicates + testing_totals(r->stream).lost, 0);
    assert_int_equal(stats(r).restarts, 1);
}

static void a_host_that_comes_late_begins_with_the_oldest(void **state)
{
    struct rig *r = *state;
    start(r);
    for (unsigned i = 0; i < 6; i++) { /* an earlier host took these */
        sample(r, 49);
        prof_records_flush(&r->target);
        store_le32(r->memory.bytes + PROF_RECORDS_HEADER + i % SLOTS * 2000u, 0);
    }
    sample(r, 49);
    prof_records_flush(&r->target); /* batch 6 in slot 2 */
    sample(r, 49);
    prof_records_flush(&r->target); /* batch 7 in slot 3 */
    assert_int_equal(drain(r), 2);
    struct prof_totals t = testing_totals(r->stream);
    assert_int_equal(t.packets, 2);
    assert_int_equal(t.lost + t.late, 0);
}

static void a_link_that_dies_is_reported_and_loses_nothing(void **state)
{
    struct rig *r = *state;
    struct diag d = DIAG_INIT;
    bool took = true;
    start(r);
    sample(r, 49);
    prof_records_flush(&r->target);
    r->dead = true;
    assert_int_equal(prof_records_poll(r->reader, r->link, &took, &d), CORRAL_ERR_LINK_DOWN);
    assert_false(took);
    r->dead = false;
    assert_int_equal(drain(r), 1);
    assert_int_equal(testing_totals(r->stream).samples, 49);
}

static void buffers_that_cannot_be_are_refused(void **state)
{
    struct rig *r = *state;
    struct diag d = DIAG_INIT;
    struct prof_records_options o = {.source = "x", .streams = r->stream->streams};
    static const struct {
        uint64_t address;
        uint32_t size;
    } bad[] = {{2, SIZE}, {0, PROF_RECORDS_BUFFER_MIN - 1}, {0, PROF_RECORDS_BUFFER_MAX + 1}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        o.address = bad[i].address;
        o.size = bad[i].size;
        assert_null(prof_records_reader_new(&o, &d));
        assert_int_equal(d.code, CORRAL_ERR_USAGE);
    }
}

/* Whatever the memory holds: bounded, and nothing but owner words is written. */
static void any_memory_does_no_harm(void **state)
{
    struct rig *r = *state;
    uint32_t x = 1;
    for (unsigned round = 0; round < 3000; round++) {
        start(r);
        sample(r, 49 * 3);
        prof_records_flush(&r->target);
        for (unsigned i = 0; i < 1 + round % 7; i++) {
            x = x * 1664525u + 1013904223u;
            uint32_t at = (x >> 8) % (round % 2 ? SIZE : 64);
            if (at >= 12 || round % 5 == 0)
                r->memory.bytes[at] = (uint8_t)(x >> 24);
        }
        for (unsigned i = 0; i < 8; i++)
            poll(r);
    }
    r->wrote_elsewhere = false; /* slots of another size are elsewhere than the fixture thinks */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_sample_comes_once_and_in_order),
        TEST(what_finds_no_slot_is_counted_on_both_sides),
        TEST(other_packets_come_too),
        TEST(the_target_refuses_what_does_not_fit),
        TEST(memory_without_the_magic_is_left_alone),
        TEST(impossible_shapes_are_refused),
        TEST(a_shape_that_changes_never_leads_out_of_the_buffer),
        TEST(lying_used_counts_and_lengths_end_the_batch),
        TEST(odd_owner_is_nobodys),
        TEST(only_the_copy_is_looked_at),
        TEST(nothing_is_written_once_the_magic_is_gone),
        TEST(a_target_that_begins_anew_is_followed),
        TEST(a_host_that_comes_late_begins_with_the_oldest),
        TEST(a_link_that_dies_is_reported_and_loses_nothing),
        TEST(buffers_that_cannot_be_are_refused),
        TEST(any_memory_does_no_harm),
    };
    return cmocka_run_group_tests_name("prof records", tests, NULL, NULL);
}
