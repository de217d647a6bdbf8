/* SPDX-License-Identifier: Apache-2.0 */
/* The other layouts: version 21, NSS, counters, maps. One test a row of the profiler sheet 11. */
#include "prof_testing.h"

#include <stdio.h>

#include "event/event_json.h"

static uint8_t buffer[8192];

static void row_16_header_size_tells_the_layout(void **state)
{
    (void)state;
    size_t size = testing_v21(buffer, &(struct testing_packet){.count = 2, .seq = 5}, 4, 4);
    struct prof_decoded *d = testing_decode(buffer, size, -1);
    assert_int_equal(d->kind, PROF_DATA);
    assert_int_equal(d->data.layout, PROFILE_V21);
    assert_int_equal(d->data.header.seq, 5);
    size = testing_nss(buffer, &(struct testing_packet){.count = 2, .seq = 6}, 4, 4);
    d = testing_decode(buffer, size, -1);
    assert_int_equal(d->data.layout, PROFILE_NSS);
    assert_int_equal(d->data.header.seq, 6);
    for (unsigned header_size = 0; header_size < 256; header_size++) {
        if (header_size == 128 || header_size == 132)
            continue;
        buffer[2] = (uint8_t)header_size;
        testing_expect_reject(buffer, size, "header-size", 21);
    }
    buffer[2] = 132;
    testing_expect_reject(buffer, 131, "truncated", 21);
    buffer[2] = 128;
    testing_expect_reject(buffer, 127, "truncated", 21);
}

static void row_17_stack_words(void **state)
{
    (void)state;
    static const uint32_t bad[] = {17, 1000, 0x3ffffffb, 0x7fffffff, 0xffffffff};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        size_t size = testing_v21(buffer, &(struct testing_packet){.count = 255}, bad[i], 0);
        testing_expect_reject(buffer, size > 2048 ? 2048 : size, "sample-size", 21);
        size = testing_v21(buffer, &(struct testing_packet){.count = 0}, bad[i], 0);
        testing_expect_reject(buffer, size, "sample-size", 21);
    }
    for (uint32_t words = 0; words <= 16; words++) {
        size_t size = testing_v21(buffer, &(struct testing_packet){.count = 3}, words, words);
        struct prof_decoded *d = testing_decode(buffer, size, -1);
        assert_int_equal(d->kind, PROF_DATA);
        assert_int_equal(d->data.trailing, 0);
        assert_int_equal(d->data.samples[2].parent_count, words);
        for (uint32_t w = 0; w < words; w++)
            assert_int_equal(d->data.samples[2].parents[w], 0x50000000u + w);
        testing_expect_reject(buffer, size - 1, "sample-count", 21);
    }
    size_t size = testing_nss(buffer, &(struct testing_packet){.count = 3}, 0, 4);
    struct prof_decoded *d = testing_decode(buffer, size, -1);
    assert_int_equal(d->kind, PROF_DATA);
    assert_int_equal(d->data.samples[0].parent_count, 4);
    assert_int_equal(d->data.trailing, 0);
    size = testing_nss(buffer, &(struct testing_packet){.count = 1}, 17, 4);
    testing_expect_reject(buffer, size, "sample-size", 21);
}

static void row_31_thread_past_the_layout(void **state)
{
    (void)state;
    size_t size = testing_v21(buffer, &(struct testing_packet){.count = 4}, 0, 0);
    buffer[128 + 15] = 12;
    buffer[128 + 40 + 15] = 0x3f; /* thread 15, both blocked bits */
    struct prof_decoded *d = testing_decode(buffer, size, -1);
    assert_int_equal(d->kind, PROF_DATA);
    assert_int_equal(d->data.header.sample_count, 4);
    assert_int_equal(d->data.sample_count, 2);
    assert_int_equal(d->data.bad_samples, 2);
    assert_int_equal(d->data.samples[0].pc, 0x40000004);
    assert_int_equal(d->data.samples[1].pc, 0x4000000c);
    /* version 17 has 16 */
    size = testing_v17(buffer, &(struct testing_packet){.count = 16});
    d = testing_decode(buffer, size, -1);
    assert_int_equal(d->data.sample_count, 16);
    assert_int_equal(d->data.bad_samples, 0);
}

/* Header bytes without a pattern, so that a field read at a wrong offset or width shows. */
static void fill_header(size_t size)
{
    for (size_t i = 4; i < size; i++)
        buffer[i] = (uint8_t)(i * 7 + 1);
}

static void v21_fields_at_their_offsets(void **state)
{
    (void)state;
    size_t size = testing_v21(buffer, &(struct testing_packet){.count = 0}, 4, 4);
    fill_header(size);
    store_be32(buffer + 124, 4);
    const struct profile_header *h = &testing_decode(buffer, size, -1)->data.header;
    assert_int_equal(h->thread_count, 12);
    assert_int_equal(h->perf_counter_count, 8);
    assert_int_equal(h->sample_stack_words, 4);
    assert_int_equal(h->clocks, load_be32(buffer + 4));
    assert_int_equal(h->profile_instructions, load_be32(buffer + 56));
    assert_int_equal(h->enabled, load_be16(buffer + 60));
    assert_int_equal(h->hrt, load_be16(buffer + 62));
    assert_int_equal(h->high, load_be16(buffer + 64));
    assert_int_equal(h->profiler_thread, load_be16(buffer + 66));
    assert_int_equal(h->clock_hz, load_be32(buffer + 68));
    assert_int_equal(h->seq, load_be32(buffer + 72));
    assert_int_equal(h->cpu_id, load_be32(buffer + 76));
    assert_int_equal(h->ddr_hz, load_be32(buffer + 80));
    for (size_t i = 0; i < 12; i++)
        assert_int_equal(h->instruction_count[i], load_be32(buffer + 8 + 4 * i));
    for (size_t i = 12; i < PROFILE_MAX_THREADS; i++)
        assert_int_equal(h->instruction_count[i], 0);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(h->perf_counters[i], load_be32(buffer + 84 + 4 * i));
        assert_int_equal(h->perf_config[i], buffer[116 + i]);
    }
}

static void nss_fields_at_their_offsets(void **state)
{
    (void)state;
    size_t size = testing_nss(buffer, &(struct testing_packet){.count = 0}, 4, 4);
    fill_header(size);
    buffer[7] = 3;
    const struct profile_header *h = &testing_decode(buffer, size, -1)->data.header;
    assert_int_equal(h->sample_stack_words, 3);
    assert_int_equal(h->stat_select[0], buffer[4]);
    assert_int_equal(h->stat_select[1], buffer[5]);
    assert_int_equal(h->seq, load_be32(buffer + 8));
    assert_int_equal(h->profile_instructions, load_be32(buffer + 12));
    assert_int_equal(h->cpu_id, load_be32(buffer + 20));
    assert_int_equal(h->clock_hz, load_be32(buffer + 24));
    assert_int_equal(h->ddr_hz, load_be32(buffer + 28));
    assert_int_equal(h->d_blocked, load_be16(buffer + 32));
    assert_int_equal(h->i_blocked, load_be16(buffer + 34));
    assert_int_equal(h->high, load_be16(buffer + 36));
    assert_int_equal(h->enabled, load_be16(buffer + 38));
    assert_int_equal(h->hrt, load_be16(buffer + 40));
    assert_int_equal(h->profiler_thread, buffer[42]);
    assert_int_equal(h->sample_sets, buffer[43]);
    assert_int_equal(h->sets_map, load_be32(buffer + 44));
    assert_int_equal(h->clocks, load_be32(buffer + 48));
    for (size_t i = 0; i < 12; i++)
        assert_int_equal(h->instruction_count[i], load_be32(buffer + 52 + 4 * i));
    for (size_t i = 12; i < PROFILE_MAX_THREADS; i++)
        assert_int_equal(h->instruction_count[i], 0);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(h->stats[i], load_be32(buffer + 100 + 4 * i));
}

static void v21_sample_fields(void **state)
{
    (void)state;
    size_t size = testing_v21(buffer, &(struct testing_packet){.count = 1}, 2, 2);
    for (size_t i = 128; i < size; i++)
        buffer[i] = (uint8_t)(i * 7 + 1);
    buffer[128 + 15] = 0xa5; /* branch buffer status 2, I-blocked, thread 5 */
    const struct profile_sample *s = testing_decode(buffer, size, -1)->data.samples;
    assert_int_equal(s->pc, load_be32(buffer + 128));
    assert_int_equal(s->pid, load_be32(buffer + 132));
    assert_int_equal(s->active, load_be16(buffer + 136));
    assert_int_equal(s->d_blocked, load_be16(buffer + 138));
    assert_int_equal(s->i_blocked, load_be16(buffer + 140));
    assert_int_equal(s->cond_codes, buffer[142]);
    assert_int_equal(s->thread, 5);
    assert_true(s->self_i_blocked && !s->self_d_blocked);
    assert_int_equal(s->a_reg, load_be32(buffer + 144));
    assert_int_equal(s->parent_count, 2);
    assert_int_equal(s->parents[0], load_be32(buffer + 148));
    assert_int_equal(s->parents[1], load_be32(buffer + 152));
    assert_int_equal(s->parents[2], 0); /* words that are not there read as 0 */
    buffer[128 + 15] = 0x1b;
    s = testing_decode(buffer, size, -1)->data.samples;
    assert_int_equal(s->thread, 11);
    assert_true(s->self_d_blocked && !s->self_i_blocked);
}

static void row_42_too_many_counters(void **state)
{
    (void)state;
    size_t size = testing_counters(buffer, 59);
    assert_int_equal(size, 1432);
    assert_int_equal(testing_decode(buffer, size, -1)->counters.count, 59);
    size = testing_counters(buffer, 60);
    testing_expect_reject(buffer, size, "counter-count", -1);
    testing_counters(buffer, 1);
    store_be32(buffer + 8, 0xffffffff); /* 1 + this wraps to 0 in 32 bits */
    testing_expect_reject(buffer, 40, "counter-count", -1);
    store_be16(buffer + 2, 0);
    store_be32(buffer + 8, 60);
    testing_expect_reject(buffer, 16, "counter-count", -1);
    for (size_t cut = 2; cut < 16; cut++)
        testing_expect_reject(buffer, cut, "short", -1);
}

static void row_43_last_counter_cut(void **state)
{
    (void)state;
    size_t size = testing_counters(buffer, 5);
    static const struct {
        size_t cut;
        size_t whole;
    } cuts[] = {{0, 5}, {1, 4}, {11, 4}, {22, 4}, {24, 4}, {25, 3}, {119, 0}, {120, 0}};
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        struct prof_decoded *d = testing_decode(buffer, size - cuts[i].cut, -1);
        assert_int_equal(d->kind, PROF_COUNTERS);
        assert_int_equal(d->counters.count, cuts[i].whole);
        assert_int_equal(d->counters.truncated, 5 - cuts[i].whole);
        assert_int_equal(d->consumed, size - cuts[i].cut);
    }
}

static void row_44_name_without_nul(void **state)
{
    (void)state;
    size_t size = testing_counters(buffer, 3);
    memset(buffer + 16, 'A', 20);
    memset(buffer + 36, 'v', 4); /* the value behind it is no part of the name */
    memset(buffer + 40, 0xff, 20);
    memcpy(buffer + 64, "a\\b\x01\x7f\xc3\xa4\n\0zz", 11);
    const struct prof_decoded *d = testing_decode(buffer, size, -1);
    assert_string_equal(d->counters.counters[0].name, "AAAAAAAAAAAAAAAAAAAA");
    assert_int_equal(strlen(d->counters.counters[1].name), PROFILE_COUNTER_NAME_MAX - 1);
    assert_string_equal(d->counters.counters[2].name, "a\\b\\x01\\x7f\\xc3\\xa4\\x0a");
}

static void row_45_empty_and_equal_names_stay(void **state)
{
    (void)state;
    size_t size = testing_counters(buffer, 3);
    memset(buffer + 16, 0, 20);
    memset(buffer + 40, 0, 20);
    store_be16(buffer + 2, 1);
    store_be32(buffer + 8, 2);
    const struct prof_decoded *d = testing_decode(buffer, size, -1);
    assert_int_equal(d->counters.count, 3);
    assert_string_equal(d->counters.counters[0].name, "");
    assert_string_equal(d->counters.counters[1].name, "");
    assert_int_equal(d->counters.counters[1].value, 1);
    assert_false(d->counters.counters[0].linux_side);
    assert_true(d->counters.counters[1].linux_side);
    assert_true(d->counters.counters[2].linux_side);
}

static void glued_packet_behind_counters(void **state)
{
    (void)state;
    size_t first = testing_counters(buffer, 2);
    size_t second = testing_nss(buffer + first, &(struct testing_packet){.count = 1}, 4, 4);
    assert_int_equal(testing_decode(buffer, first + second, -1)->consumed, first);
    store_be16(buffer + first, 0x1234); /* no known kind: nothing more to read */
    assert_int_equal(testing_decode(buffer, first + second, -1)->consumed, first + second);
    static const uint16_t kinds[] = {0x3eb5, 0x3ea0, 0x9ea0, 0xaea0, 0xaea1};
    for (size_t i = 0; i < 5; i++) {
        store_be16(buffer + first, kinds[i]);
        assert_int_equal(testing_decode(buffer, first + 1, -1)->consumed, first + 1);
        assert_int_equal(testing_decode(buffer, first + 2, -1)->consumed, first);
        assert_int_equal(testing_decode(buffer, first + second, -1)->consumed, first);
    }
}

static size_t make_maps(unsigned count, uint32_t shift)
{
    memset(buffer, 0, 8 + 4 * (size_t)count);
    store_be16(buffer, 0xaea0);
    store_be16(buffer + 2, (uint16_t)count);
    store_be32(buffer + 4, shift);
    for (unsigned i = 0; i < count; i++) {
        store_be16(buffer + 8 + 4 * i, (uint16_t)i);
        store_be16(buffer + 10 + 4 * i, 16 << 11 | 1);
    }
    return 8 + 4 * (size_t)count;
}

static void rows_49_and_50_map_count(void **state)
{
    (void)state;
    assert_int_equal(make_maps(358, 12), 1440);
    assert_int_equal(testing_decode(buffer, 1440, -1)->maps.count, 358);
    make_maps(400, 12);
    testing_expect_reject(buffer, 1440, "map-count", -1);
    size_t size = make_maps(510, 12); /* the most that any accepted datagram holds */
    assert_int_equal(size, PROF_MAX_DATAGRAM);
    assert_int_equal(testing_decode(buffer, size, -1)->maps.count, 510);
    make_maps(0, 12);
    assert_int_equal(testing_decode(buffer, 8, -1)->maps.count, 0);
    testing_expect_reject(buffer, 7, "short", -1);
    store_be16(buffer + 2, 0xffff);
    testing_expect_reject(buffer, 8, "map-count", -1);
}

static void row_50_last_of_a_dump_may_be_empty(void **state)
{
    (void)state;
    size_t size = make_maps(0, 12);
    store_be16(buffer, 0xaea1);
    const struct prof_decoded *d = testing_decode(buffer, size, 21);
    assert_int_equal(d->kind, PROF_MAPS);
    assert_int_equal(d->maps.count, 0);
    assert_true(d->maps.last); /* the dump is complete */
    store_be16(buffer, 0xaea0);
    assert_false(testing_decode(buffer, size, 21)->maps.last);
}

static void row_51_page_shift(void **state)
{
    (void)state;
    static const uint32_t bad[] = {0, 9, 21, 31, 64, 0xffffffff};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        size_t size = make_maps(1, bad[i]);
        testing_expect_reject(buffer, size, "page-shift", -1);
    }
    for (uint32_t shift = 10; shift <= 20; shift++) {
        size_t size = make_maps(1, shift);
        assert_int_equal(testing_decode(buffer, size, -1)->maps.page_shift, shift);
    }
    make_maps(3, 31); /* two faults: the count comes first */
    testing_expect_reject(buffer, 12, "map-count", -1);
}

static void row_52_absurd_order(void **state)
{
    (void)state;
    size_t size = make_maps(4, 12);
    store_be16(buffer + 10, 1 << 11 | 2047);
    store_be16(buffer + 14, 1 << 11 | 17);
    store_be16(buffer + 18, 1 << 11 | 16);
    const struct prof_decoded *d = testing_decode(buffer, size, -1);
    assert_int_equal(d->maps.bad_entries, 2);
    assert_int_equal(d->maps.count, 2);
    assert_int_equal(d->maps.entries[0].pages, 65536);
    assert_int_equal(d->maps.entries[1].start, 3);
}

static void rows_53_and_55_encoding_follows_the_sender(void **state)
{
    (void)state;
    size_t size = make_maps(4, 12);
    store_be16(buffer + 10, 0x0804);
    store_be16(buffer + 14, 0x980a);
    store_be16(buffer + 18, 5 << 11 | 2);  /* v17: type 5, sized as an order */
    store_be16(buffer + 22, 21 << 11 | 0); /* v17: type 21, sized in pages */
    static const int as_v17[] = {-1, 0, 17};
    for (size_t i = 0; i < 3; i++) {
        const struct profile_maps *m = &testing_decode(buffer, size, as_v17[i])->maps;
        assert_false(m->v21);
        assert_int_equal(m->entries[0].type, 1);
        assert_int_equal(m->entries[0].pages, 16);
        assert_int_equal(m->entries[1].type, 19);
        assert_int_equal(m->entries[1].pages, 10);
        assert_int_equal(m->entries[2].type, 5);
        assert_int_equal(m->entries[2].pages, 4);
        assert_int_equal(m->entries[3].type, 21);
        assert_int_equal(m->entries[3].pages, 0);
    }
    assert_false(testing_decode(buffer, size, 21)->maps.last);
    assert_true(testing_decode(buffer, size, 18)->maps.v21);
    store_be16(buffer, 0xaea1);
    assert_false(testing_decode(buffer, size, 17)->maps.last);
    store_be16(buffer + 22, 0xa000);
    const struct profile_maps *m = &testing_decode(buffer, size, 21)->maps;
    assert_true(m->v21 && m->last);
    assert_int_equal(m->entries[0].type, 0);
    assert_int_equal(m->entries[0].pages, 2052);
    assert_int_equal(m->entries[1].type, 9);
    assert_int_equal(m->entries[1].pages, 2058);
    assert_int_equal(m->entries[3].pages, 4096);
}

static void row_53_types_without_a_name(void **state)
{
    (void)state;
    size_t size = make_maps(32, 12);
    for (unsigned type = 0; type < 32; type++)
        store_be16(buffer + 10 + 4 * type, (uint16_t)(type << 11 | 3));
    struct event e = event_make(EVENT_MAPS, "prof");
    e.maps = testing_decode(buffer, size, 17)->maps;
    json_t *json = event_to_json(&e);
    const json_t *entries = json_object_get(json, "entries");
    assert_int_equal(json_array_size(entries), 32);
    for (unsigned type = 0; type < 32; type++) {
        const json_t *entry = json_array_get(entries, type);
        const char *name = json_string_value(json_object_get(entry, "type"));
        char numbered[16];
        snprintf(numbered, sizeof(numbered), "type %u", type);
        bool nameless = (type >= 4 && type <= 15) || (type >= 20 && type <= 23);
        assert_int_equal(strcmp(name, numbered) == 0, nameless);
        assert_int_equal(json_integer_value(json_object_get(entry, "pages")), type < 16 ? 8 : 3);
    }
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_16_header_size_tells_the_layout),
        cmocka_unit_test(row_17_stack_words),
        cmocka_unit_test(row_31_thread_past_the_layout),
        cmocka_unit_test(v21_fields_at_their_offsets),
        cmocka_unit_test(nss_fields_at_their_offsets),
        cmocka_unit_test(v21_sample_fields),
        cmocka_unit_test(row_42_too_many_counters),
        cmocka_unit_test(row_43_last_counter_cut),
        cmocka_unit_test(row_44_name_without_nul),
        cmocka_unit_test(row_45_empty_and_equal_names_stay),
        cmocka_unit_test(glued_packet_behind_counters),
        cmocka_unit_test(rows_49_and_50_map_count),
        cmocka_unit_test(row_50_last_of_a_dump_may_be_empty),
        cmocka_unit_test(row_51_page_shift),
        cmocka_unit_test(row_52_absurd_order),
        cmocka_unit_test(row_53_types_without_a_name),
        cmocka_unit_test(rows_53_and_55_encoding_follows_the_sender),
    };
    return cmocka_run_group_tests_name("prof layouts", tests, NULL, testing_release);
}
