/* SPDX-License-Identifier: Apache-2.0 */
/* Named counters and memory maps from datagram to report: profiler sheet 4, 5, and 11's rows 42 to 57 as far
 * as they are about what is added up. Datagrams are built byte by byte. */
#include "prof_rig.h"

#include <stdio.h>

#define S(state) ((struct rig *)*(state))

static uint8_t data[2048];

struct named {
    const char *name;
    uint32_t value;
};

/* `ultra` of the counters are the RTOS'. */
static size_t write_counters(const struct named *list, unsigned count, unsigned ultra, uint32_t time)
{
    memset(data, 0, sizeof(data));
    store_be16(data, 0x9ea0);
    store_be16(data + 2, (uint16_t)ultra);
    store_be32(data + 4, time);
    store_be32(data + 8, count - ultra);
    store_be32(data + 12, time);
    for (unsigned i = 0; i < count; i++) {
        size_t length = strlen(list[i].name);
        memcpy(data + 16 + 24 * i, list[i].name, length > 20 ? 20 : length);
        store_be32(data + 36 + 24 * i, list[i].value);
    }
    return 16 + 24 * (size_t)count;
}

static void feed_counters(struct rig *r, const struct named *list, unsigned count, uint32_t time)
{
    prof_streams_datagram(r->streams, SENDER, data, write_counters(list, count, count, time), r->ns);
}

static void feed_value(struct rig *r, const char *name, uint32_t value, uint32_t time)
{
    const struct named c = {name, value};

    feed_counters(r, &c, 1, time);
}

static const struct prof_report_counter *counter(struct rig *r, const char *name)
{
    const struct prof_report *p = rig_report(r);

    for (size_t i = 0; i < p->counter_count; i++)
        if (strcmp(p->counters[i].name, name) == 0)
            return &p->counters[i];
    fail_msg("no counter '%s'", name);
    return NULL;
}

static void know_frequency(struct rig *r)
{
    rig_feed(r, NULL, 0); /* a data packet: HZ */
}

static void rate_between_the_last_two(void **state)
{
    struct rig *r = S(state);
    know_frequency(r);
    feed_value(r, "rx", 0, 0xfffffff0); /* the clock wraps; 0 is a value like any other */
    feed_value(r, "rx", 1000, 0xfffffff0 + HZ);
    const struct prof_report_counter *c = counter(r, "rx");
    assert_true(c->rate_known);
    expect_near(c->per_second, 1000);
    feed_value(r, "rx", 1500, 0xfffffff0 + HZ + HZ / 2);
    c = counter(r, "rx");
    expect_near(c->per_second, 1000);
    assert_int_equal(c->value, 1500);
    assert_int_equal(c->min, 0);
    assert_int_equal(c->max, 1500);
    assert_false(c->gauge);
}

static void counter_that_wraps_is_no_gauge(void **state)
{
    struct rig *r = S(state);
    know_frequency(r);
    feed_value(r, "bytes", 0xffffff00, 0);
    feed_value(r, "bytes", 0x100, HZ);
    const struct prof_report_counter *c = counter(r, "bytes");
    assert_true(c->rate_known);
    expect_near(c->per_second, 512);
    assert_false(c->gauge);
    assert_int_equal(c->resets, 0);
}

static void row_46_a_fall_is_a_reset_or_a_gauge(void **state)
{
    struct rig *r = S(state);
    know_frequency(r);
    feed_value(r, "n", 5000, 0);
    feed_value(r, "n", 100, HZ);
    const struct prof_report_counter *c = counter(r, "n");
    assert_int_equal(c->value, 100);
    assert_int_equal(c->resets, 1);
    assert_false(c->rate_known);
    assert_false(c->gauge);
    feed_value(r, "Free memory(KB)", 5000, 0);
    feed_value(r, "Free memory(KB)", 4000, HZ);
    c = counter(r, "Free memory(KB)");
    assert_true(c->gauge);
    assert_true(c->rate_known);
    expect_near(c->per_second, -1000); /* not 4 billion */
    assert_int_equal(c->resets, 0);
    feed_value(r, "Free memory(KB)", 10, 2 * HZ); /* known as a gauge: a deep fall is one, too */
    c = counter(r, "Free memory(KB)");
    assert_int_equal(c->resets, 0);
    expect_near(c->per_second, -3990);
    assert_int_equal(c->min, 10);
    feed_value(r, "Free memory(KB)", 3010, 3 * HZ);
    expect_near(counter(r, "Free memory(KB)")->per_second, 3000);
}

static void row_47_same_sample_time_twice(void **state)
{
    struct rig *r = S(state);
    know_frequency(r);
    feed_value(r, "n", 1, 77);
    feed_value(r, "n", 2, 77);
    assert_false(counter(r, "n")->rate_known);
    assert_int_equal(counter(r, "n")->value, 2);
}

static void row_48_counters_before_any_data_packet(void **state)
{
    struct rig *r = S(state);
    feed_value(r, "n", 1, 0);
    feed_value(r, "n", 2, HZ);
    assert_false(counter(r, "n")->rate_known);
    assert_int_equal(counter(r, "n")->value, 2);
    know_frequency(r);
    feed_value(r, "n", 3, 2 * HZ);
    assert_true(counter(r, "n")->rate_known);
    expect_near(counter(r, "n")->per_second, 1);
}

static void a_silence_of_more_than_a_wrap_has_no_rate(void **state)
{
    struct rig *r = S(state);
    know_frequency(r);
    feed_value(r, "n", 0, 0);
    r->ns += 30 * NS_PER_S;
    feed_value(r, "n", 1000, HZ);
    assert_false(counter(r, "n")->rate_known);
}

static void row_22_restart_rebases_counters(void **state)
{
    struct rig *r = S(state);
    r->header.seq = 5000;
    know_frequency(r);
    feed_value(r, "n", 5000, 1000);
    r->header.seq = 1;
    know_frequency(r);
    feed_value(r, "n", 10, 1000 + HZ);
    const struct prof_report_counter *c = counter(r, "n");
    assert_false(c->rate_known);
    assert_false(c->gauge);
    assert_int_equal(c->resets, 0); /* it was the sender that began anew */
}

static void row_44_name_of_20_bytes(void **state)
{
    struct rig *r = S(state);
    feed_value(r, "12345678901234567890", 7, 0);
    assert_int_equal(counter(r, "12345678901234567890")->value, 7);
}

static void row_45_equal_and_empty_names(void **state)
{
    struct rig *r = S(state);
    const struct named list[] = {{"a", 1}, {"a", 2}, {"", 3}, {"a#2", 4}, {"", 5}, {"a", 6}};
    prof_streams_datagram(r->streams, SENDER, data, write_counters(list, 6, 5, 0), 0);
    prof_streams_datagram(r->streams, SENDER, data, write_counters(list, 6, 5, 0), 0);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(p->counter_count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(p->counters[i].value, i + 1); /* each its own */
        assert_int_equal(p->counters[i].linux_side, i == 5);
        assert_true(p->counters[i].name[0] != '\0');
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(p->counters[i].name, p->counters[k].name);
    }
    assert_string_equal(p->counters[0].name, "a");
    assert_string_equal(p->counters[1].name, "a#2");
}

static void counters_are_known_by_name_not_by_place(void **state)
{
    struct rig *r = S(state);
    const struct named before[] = {{"x", 10}, {"y", 1000}}, after[] = {{"new", 5}, {"x", 30}, {"y", 3000}};
    know_frequency(r);
    feed_counters(r, before, 2, 0);
    feed_counters(r, after, 3, HZ);
    expect_near(counter(r, "x")->per_second, 20);
    expect_near(counter(r, "y")->per_second, 2000);
    assert_false(counter(r, "new")->rate_known);
}

static void row_43_cut_packet_keeps_what_is_missing(void **state)
{
    struct rig *r = S(state);
    const struct named list[] = {{"x", 10}, {"y", 20}}, newer[] = {{"x", 11}, {"y", 21}};
    feed_counters(r, list, 2, 0);
    size_t size = write_counters(newer, 2, 2, HZ);
    prof_streams_datagram(r->streams, SENDER, data, size - 11, 0);
    assert_int_equal(counter(r, "x")->value, 11);
    assert_int_equal(counter(r, "y")->value, 20);
    assert_int_equal(r->report->sources[0].counters_cut, 1);
}

static void row_42_refused_packet_changes_nothing(void **state)
{
    struct rig *r = S(state);
    const struct named newer[] = {{"x", 99}};
    feed_value(r, "x", 10, 0);
    size_t size = write_counters(newer, 1, 1, HZ);
    store_be32(data + 8, 0xffffffff);
    prof_streams_datagram(r->streams, SENDER, data, size, 0);
    assert_int_equal(counter(r, "x")->value, 10);
    assert_int_equal(r->report->totals.rejected_by[PROF_REASON_COUNTER_COUNT], 1);
}

static void names_are_bounded(void **state)
{
    struct rig *r = S(state);
    char name[16];
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        feed_value(r, name, i, 0);
    }
    assert_int_equal(rig_report(r)->counter_count, 256);
    assert_int_equal(counter(r, "n255")->value, 255);
    assert_int_equal(r->report->sources[0].counters_ignored, 1000 - 256);
}

/* --- maps ----------------------------------------------------------------------------------------------- */

struct area {
    unsigned start, type_size;
};

static void feed_maps(struct rig *r, unsigned magic, const struct area *areas, unsigned count)
{
    memset(data, 0, sizeof(data));
    store_be16(data, (uint16_t)magic);
    store_be16(data + 2, (uint16_t)count);
    store_be32(data + 4, 12);
    for (unsigned i = 0; i < count; i++) {
        store_be16(data + 8 + 4 * i, (uint16_t)areas[i].start);
        store_be16(data + 10 + 4 * i, (uint16_t)areas[i].type_size);
    }
    prof_streams_datagram(r->streams, SENDER, data, 8 + 4 * (size_t)count, r->ns);
}

static const struct prof_report_maps *maps(struct rig *r)
{
    const struct prof_report *p = rig_report(r);

    assert_int_equal(p->maps_count, 1);
    return &p->maps[0];
}

static const struct prof_report_map_type *type(const struct prof_report_maps *m, const char *name)
{
    for (size_t i = 0; i < m->type_count; i++)
        if (strcmp(m->types[i].name, name) == 0)
            return &m->types[i];
    fail_msg("no type '%s'", name);
    return NULL;
}

/* Sheet 5's worked values: 0x0804 is free of order 4, 0x980a ten pages of cache. */
static void totals_of_version_17(void **state)
{
    struct rig *r = S(state);
    const struct area list[] = {{0, 0x0804},   {16, 0x980a},  {100, 0x0800},
                                {200, 0x2003}, {300, 0xc001}, {400, 0xf801}};
    feed_maps(r, 0xaea0, list, 6);
    const struct prof_report_maps *m = maps(r);
    assert_false(m->v21);
    assert_false(m->complete); /* version 17 cannot tell: row 57 */
    assert_int_equal(m->page_bytes, 4096);
    assert_int_equal(type(m, "free")->blocks, 2);
    assert_int_equal(type(m, "free")->pages, 17);
    assert_int_equal(type(m, "cache")->pages, 10);
    assert_int_equal(type(m, "type 4")->pages, 8); /* row 53: by the rule of types below 16 */
    assert_int_equal(type(m, "reserved")->blocks, 2);
    assert_int_equal(m->free_by_order[4], 1);
    assert_int_equal(m->free_by_order[0], 1);
    assert_int_equal(m->largest_free, 16);
    assert_int_equal(m->largest_used, 10);
    assert_int_equal(m->overlaps, 0);
    assert_int_equal(m->clipped, 0);
}

static void totals_of_version_21(void **state)
{
    struct rig *r = S(state);
    const struct area first[] = {{0, 0x0804}, {0x2000, 0x980a}}, second[] = {{0x8000, 0x0000}};
    r->layout = PROFILE_V21;
    r->header.thread_count = 12;
    know_frequency(r);
    feed_maps(r, 0xaea0, first, 2);
    assert_false(maps(r)->complete);
    feed_maps(r, 0xaea1, second, 1);
    const struct prof_report_maps *m = maps(r);
    assert_true(m->v21);
    assert_true(m->complete);
    assert_int_equal(type(m, "free")->blocks, 2);
    assert_int_equal(type(m, "free")->pages, 2052 + 4096); /* a size of 0 is 4096 */
    assert_int_equal(type(m, "read-shared")->pages, 2058);
    assert_int_equal(m->free_by_order[11], 1); /* the largest power that fits 2052 */
    assert_int_equal(m->free_by_order[12], 1);
    assert_int_equal(m->largest_free, 4096);
    /* the next dump replaces it once it is whole */
    feed_maps(r, 0xaea0, first, 1);
    assert_int_equal(type(maps(r), "free")->blocks, 2);
    feed_maps(r, 0xaea1, NULL, 0); /* row 50: empty, and the last */
    m = maps(r);
    assert_int_equal(m->type_count, 1);
    assert_int_equal(type(m, "free")->pages, 2052);
}

static void row_52_absurd_orders(void **state)
{
    struct rig *r = S(state);
    const struct area list[] = {{0, 0x0fff}, {0, 0x0811}, {0, 0x0803}};
    feed_maps(r, 0xaea0, list, 3);
    assert_int_equal(maps(r)->bad_entries, 2);
    assert_int_equal(type(maps(r), "free")->pages, 8);
}

static void row_54_past_the_end_and_overlapping(void **state)
{
    struct rig *r = S(state);
    /* 65530 + 64 pages are past 65536; the second overlaps it, the third touches nothing; the last is all */
    const struct area list[] = {{65530, 0x0806}, {65535, 0x8001}, {65529, 0x8001}, {0, 0x0810}};
    feed_maps(r, 0xaea0, list, 4);
    const struct prof_report_maps *m = maps(r);
    assert_int_equal(m->clipped, 1);
    assert_int_equal(m->overlaps, 2);
    assert_int_equal(type(m, "free")->pages, 6 + 65536);
    assert_int_equal(m->largest_free, 65536);
    assert_int_equal(m->free_by_order[16], 1);
    assert_int_equal(m->free_by_order[2], 1); /* what is left of 64 */
}

static void row_56_never_ending_dump(void **state)
{
    struct rig *r = S(state);
    static struct area list[358];
    for (unsigned i = 0; i < 358; i++)
        list[i] = (struct area){i, 0x8001};
    for (unsigned i = 0; i < 20; i++)
        feed_maps(r, 0xaea0, list, 358);
    const struct prof_report_maps *m = maps(r);
    assert_int_equal(type(m, "text")->blocks, 5000);
    assert_int_equal(m->ignored, 20 * 358 - 5000);
    assert_int_equal(m->overlaps, 5000 - 358);
}

static void row_57_a_pause_begins_another_dump(void **state)
{
    struct rig *r = S(state);
    static struct area list[358];
    for (unsigned i = 0; i < 358; i++)
        list[i] = (struct area){i, 0x8001};
    feed_maps(r, 0xaea0, list, 358); /* its other packets are lost */
    r->ns += 4 * NS_PER_S;
    feed_maps(r, 0xaea0, list, 358);
    feed_maps(r, 0xaea0, list, 10);
    assert_int_equal(type(maps(r), "text")->blocks, 368);
    assert_false(maps(r)->complete);
}

static void row_55_maps_with_no_data_packet(void **state)
{
    struct rig *r = S(state);
    const struct area list[] = {{0, 0x0804}};
    feed_maps(r, 0xaea0, list, 1);
    assert_false(maps(r)->v21);
    assert_int_equal(type(maps(r), "free")->pages, 16);
}

static void row_49_and_51_refused_maps_change_nothing(void **state)
{
    struct rig *r = S(state);
    const struct area list[] = {{0, 0x0804}};
    feed_maps(r, 0xaea0, list, 1);
    store_be16(data + 2, 400);
    prof_streams_datagram(r->streams, SENDER, data, 1440, 0);
    store_be16(data + 2, 1);
    store_be32(data + 4, 31);
    prof_streams_datagram(r->streams, SENDER, data, 12, 0);
    assert_int_equal(type(maps(r), "free")->blocks, 1);
    assert_int_equal(r->report->totals.rejected_by[PROF_REASON_MAP_COUNT], 1);
    assert_int_equal(r->report->totals.rejected_by[PROF_REASON_PAGE_SHIFT], 1);
    assert_int_equal(r->report->totals.rejected, 2);
    assert_int_equal(r->report->totals.maps_packets, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rate_between_the_last_two),
        TEST(counter_that_wraps_is_no_gauge),
        TEST(row_46_a_fall_is_a_reset_or_a_gauge),
        TEST(row_47_same_sample_time_twice),
        TEST(row_48_counters_before_any_data_packet),
        TEST(a_silence_of_more_than_a_wrap_has_no_rate),
        TEST(row_22_restart_rebases_counters),
        TEST(row_44_name_of_20_bytes),
        TEST(row_45_equal_and_empty_names),
        TEST(counters_are_known_by_name_not_by_place),
        TEST(row_43_cut_packet_keeps_what_is_missing),
        TEST(row_42_refused_packet_changes_nothing),
        TEST(names_are_bounded),
        TEST(totals_of_version_17),
        TEST(totals_of_version_21),
        TEST(row_52_absurd_orders),
        TEST(row_54_past_the_end_and_overlapping),
        TEST(row_56_never_ending_dump),
        TEST(row_57_a_pause_begins_another_dump),
        TEST(row_55_maps_with_no_data_packet),
        TEST(row_49_and_51_refused_maps_change_nothing),
    };
    return cmocka_run_group_tests_name("prof counters and maps", tests, NULL, NULL);
}
