/* SPDX-License-Identifier: Apache-2.0 */
/* Data packets, one test a row of the profiler sheet 11 (the number is the row's), golden values, and the
 * writer. INTERFACE.md's order of checks decides what a packet with two faults is refused for. */
#include "prof_testing.h"

#include "event/event_json.h"

static uint8_t buffer[8192];

static void row_01_short(void **state)
{
    (void)state;
    uint8_t one = 0x3e;
    testing_expect_reject(&one, 0, "short", -1);
    testing_expect_reject(&one, 1, "short", -1);
}

static void row_02_unknown_kind(void **state)
{
    (void)state;
    static const uint16_t magics[] = {0x3ec0, 0x0000, 0xffff, 0x3e80, 0x9ec0, 0xae80};
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        memset(buffer, 0, 300);
        store_be16(buffer, magics[i]);
        testing_expect_reject(buffer, 300, "magic", -1);
        assert_int_equal(testing_decode(buffer, 300, -1)->reject.value, magics[i]);
        testing_expect_reject(buffer, 2, "magic", -1);
    }
}

static void row_03_byte_order(void **state)
{
    (void)state;
    static const uint16_t magics[] = {0x3eb1, 0x3eb5, 0x9ea0, 0xaea0, 0xaea1};
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        memset(buffer, 0, 300);
        store_le16(buffer, magics[i]);
        testing_expect_reject(buffer, 300, "byte-order", -1);
        /* as read: whoever shows it swaps it */
        assert_int_equal(testing_decode(buffer, 300, -1)->reject.value,
                         (uint16_t)(magics[i] << 8 | magics[i] >> 8));
    }
}

static void row_04_data_packet_below_4_bytes(void **state)
{
    (void)state;
    static const uint8_t v17[] = {0x3e, 0xb1, 252, 0};
    testing_expect_reject(v17, 2, "short", 17);
    testing_expect_reject(v17, 3, "short", 17);
    testing_expect_reject(v17, 4, "truncated", 17);
}

static void row_05_header_size_too_small(void **state)
{
    (void)state;
    size_t size = testing_v17(buffer, &(struct testing_packet){.count = 1});
    static const uint8_t sizes[] = {0, 1, 2, 3, 100, 251};
    for (size_t i = 0; i < sizeof(sizes); i++) {
        buffer[2] = sizes[i];
        testing_expect_reject(buffer, size, "header-size", 17);
    }
}

static void row_06_header_longer_than_datagram(void **state)
{
    (void)state;
    testing_v17(buffer, &(struct testing_packet){.count = 0});
    for (size_t size = 4; size < 252; size++)
        testing_expect_reject(buffer, size, "truncated", 17);
    buffer[2] = 255;
    testing_expect_reject(buffer, 254, "truncated", 17);
    /* two faults: the header's size is looked at before its presence */
    buffer[2] = 3;
    testing_expect_reject(buffer, 4, "header-size", 17);
}

static void row_07_v17_header_is_fixed(void **state)
{
    (void)state;
    size_t size = testing_v17(buffer, &(struct testing_packet){.count = 1, .header_size = 248});
    testing_expect_reject(buffer, size, "header-size", 17);
    size = testing_v17(buffer, &(struct testing_packet){.count = 1, .header_size = 251});
    testing_expect_reject(buffer, size, "header-size", 17);
}

static void row_08_longer_header_is_skipped(void **state)
{
    (void)state;
    for (unsigned header_size = 252; header_size <= 255; header_size++) {
        size_t size = testing_v17(buffer, &(struct testing_packet){.count = 3, .header_size = header_size});
        struct prof_decoded *d = testing_decode(buffer, size, -1);
        assert_int_equal(d->kind, PROF_DATA);
        assert_int_equal(d->data.header.header_size, header_size);
        assert_int_equal(d->data.sample_count, 3);
        assert_int_equal(d->data.trailing, 0);
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(d->data.samples[i].pc, 0x40000000u + 4 * i);
    }
}

static void row_09_no_samples(void **state)
{
    (void)state;
    size_t size = testing_v17(buffer, &(struct testing_packet){.seq = 9, .clocks = 5});
    struct prof_decoded *d = testing_decode(buffer, size, -1);
    assert_int_equal(size, 252);
    assert_int_equal(d->kind, PROF_DATA);
    assert_int_equal(d->data.sample_count, 0);
    assert_int_equal(d->data.header.sample_count, 0);
    assert_int_equal(d->data.header.clocks, 5);
}

static void row_09_counts_as_empty_and_moves_the_clock(void **state)
{
    (void)state;
    struct testing_stream *s = testing_stream_new();
    struct testing_packet packet = {.seq = 1, .clocks = 1000, .hz = HZ, .enabled = 1};
    testing_feed_packet(s, "a", &packet, 0);
    packet.seq = 2;
    packet.clocks = 1000 + HZ;
    testing_feed_packet(s, "a", &packet, 1);
    struct prof_totals t = testing_totals(s);
    assert_int_equal(t.packets, 2);
    assert_int_equal(t.empty, 2);
    assert_int_equal(t.samples, 0);
    assert_int_equal(t.rejected + t.lost, 0);
    assert_int_equal(testing_last(s, EVENT_PROFILE)->target_ns, NS_PER_S + 4000); /* 1000 clocks were there */
    testing_stream_free(s);
}

static void row_10_more_samples_than_fit(void **state)
{
    (void)state;
    testing_v17(buffer, &(struct testing_packet){.count = 255, .seq = 4711});
    testing_expect_reject(buffer, 1440, "sample-count", 17);
    struct prof_decoded *d = testing_decode(buffer, 1440, -1);
    assert_true(d->seq_known); /* the number counts as seen */
    assert_int_equal(d->seq, 4711);
    assert_int_equal(d->reject.value, 255);
}

static void row_11_last_sample_cut(void **state)
{
    (void)state;
    size_t size = testing_v17(buffer, &(struct testing_packet){.count = 2, .seq = 12});
    for (size_t cut = 1; cut <= 48; cut++) {
        testing_expect_reject(buffer, size - cut, "sample-count", 17);
        assert_true(testing_decode(buffer, size - cut, -1)->seq_known);
    }
    assert_int_equal(testing_decode(buffer, size, -1)->kind, PROF_DATA);
}

static void row_12_trailing_bytes(void **state)
{
    (void)state;
    size_t size = testing_v17(buffer, &(struct testing_packet){.count = 1});
    memset(buffer + size, 0xee, 100);
    for (unsigned more = 0; more < 100; more++) {
        struct prof_decoded *d = testing_decode(buffer, size + more, -1);
        assert_int_equal(d->kind, PROF_DATA);
        assert_int_equal(d->data.trailing, more);
        assert_int_equal(d->data.sample_count, 1);
    }
    /* another packet behind data is trailing bytes, not a packet */
    testing_v17(buffer + size, &(struct testing_packet){.count = 1});
    struct prof_decoded *d = testing_decode(buffer, size * 2, -1);
    assert_int_equal(d->data.trailing, size);
    assert_int_equal(d->consumed, size * 2);
}

static struct prof_decoded *decode_legacy(size_t size)
{
    static struct prof_scratch room;
    static struct prof_decoded decoded;
    uint8_t *exact = malloc(size);
    assert_non_null(exact);
    memcpy(exact, buffer, size);
    memset(&decoded, 0xa5, sizeof(decoded));
    prof_packet_decode_legacy(exact, size, 0, &room, &decoded);
    free(exact);
    return &decoded;
}

/* Refused by name and number, before any size but that of the first four bytes is looked at; with and without
 * legacy headers. */
static void expect_no_layout(int version)
{
    size_t size = testing_v17(buffer, &(struct testing_packet){.count = 1});
    store_be16(buffer, (uint16_t)(0x3ea0 | version));
    testing_expect_reject(buffer, size, "version", version);
    testing_expect_reject(buffer, 4, "version", version);
    testing_expect_reject(buffer, 3, "short", version);
    struct prof_decoded *d = testing_decode(buffer, size, -1);
    assert_int_equal(d->reject.value, version);
    assert_false(d->seq_known);
    if (version < 5 || version > 16) {
        d = decode_legacy(size);
        assert_int_equal(d->kind, PROF_REJECT);
        assert_string_equal(d->reject.reason, "version");
    }
}

static void row_13_version_0(void **state)
{
    (void)state;
    expect_no_layout(0);
}

static void row_14_version_31_and_others_without_a_layout(void **state)
{
    (void)state;
    static const int versions[] = {1, 2, 3, 4, 18, 19, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
        expect_no_layout(versions[i]);
}

static void row_15_versions_5_to_16_are_refused_unless_asked_for(void **state)
{
    (void)state;
    for (int version = 5; version <= 16; version++)
        expect_no_layout(version);
}

/* Fixed bytes of a header, without the eight a thread: the sheet's table, by version. */
static const uint8_t legacy_fixed[17] = {0, 0, 0, 0, 0, 36, 40, 44, 68, 76, 76, 100, 112, 112, 112, 124, 124};

/* A legacy header without a pattern, so that a field read elsewhere shows. */
static size_t legacy(int version, size_t threads, unsigned samples)
{
    size_t size = legacy_fixed[version] + 8 * threads;
    for (size_t i = 4; i < size; i++)
        buffer[i] = (uint8_t)(i * 7 + 1);
    memset(buffer + size, 0xee, 20 * (size_t)samples);
    store_be16(buffer, (uint16_t)(0x3ea0 | version));
    buffer[2] = (uint8_t)size;
    buffer[3] = (uint8_t)samples;
    return size + 20 * (size_t)samples;
}

static void row_15_header_only_gated_by_header_size(void **state)
{
    (void)state;
    for (int version = 5; version <= 16; version++) {
        for (size_t n = version == 16 ? 16 : 1; n <= 16; n++) {
            size_t size = legacy(version, n, 3);
            const struct prof_decoded *d = decode_legacy(size);
            const struct profile_header *h = &d->data.header;
            const uint8_t *p = buffer + 8 + 4 * n, *q = p + 28 + 4 * n;
            assert_int_equal(d->kind, PROF_DATA);
            assert_int_equal(d->data.layout, PROFILE_LEGACY);
            assert_int_equal(d->data.version, version);
            assert_int_equal(d->data.sample_count, 0); /* never */
            assert_int_equal(h->sample_count, 3);
            assert_int_equal(h->thread_count, n);
            assert_int_equal(h->clocks, load_be32(buffer + 4));
            for (size_t t = 0; t < 16; t++) {
                assert_int_equal(h->instruction_count[t], t < n ? load_be32(buffer + 8 + 4 * t) : 0);
                assert_int_equal(h->min_sp[t], t < n ? load_be32(p + 28 + 4 * t) : 0);
            }
            assert_int_equal(h->profile_instructions, load_be32(p));
            assert_int_equal(h->enabled, load_be16(p + 4));
            assert_int_equal(h->profiler_thread, load_be16(p + 10));
            assert_int_equal(h->netpage_low_water, load_be32(p + 24));
            assert_int_equal(h->clock_hz, version >= 6 ? load_be32(q) : 0);
            assert_int_equal(h->seq, version >= 7 ? load_be32(q + 4) : 0);
            assert_int_equal(d->seq_known, version >= 7);
            assert_int_equal(d->seq, h->seq);
            assert_int_equal(h->timing_count, version >= 8 ? load_be32(q + 28) : 0);
            assert_int_equal(h->extheap_low_water, version >= 9 ? load_be32(q + 36) : 0);
            assert_int_equal(h->cpu_id, version >= 11 ? load_be32(q + 40) : 0);
            assert_int_equal(h->perf_counters[3], version >= 11 ? load_be32(q + 56) : 0);
            assert_int_equal(h->perf_config[3], version >= 11 ? q[63] : 0);
            assert_int_equal(h->perf_counter_count, version >= 11 ? 4 : 0);
            assert_int_equal(h->ddr_hz, version >= 12 ? load_be32(q + 64) : 0);
            assert_int_equal(h->extnetpage_low_water, version >= 12 ? load_be32(q + 72) : 0);
            assert_int_equal(h->dsr_max_latency, version >= 15 ? load_be32(q + 76) : 0);
            assert_int_equal(h->dsr_count, version >= 15 ? load_be32(q + 84) : 0);
        }
    }
}

static void row_15_a_header_of_no_thread_count_is_refused(void **state)
{
    (void)state;
    for (int version = 5; version <= 16; version++) {
        legacy(version, 16, 0);
        for (unsigned size = 0; size < 256; size++) {
            buffer[2] = (uint8_t)size;
            int rest = (int)size - legacy_fixed[version];
            bool fits = rest > 0 && rest % 8 == 0 && rest / 8 <= 16 && (version < 16 || rest == 128);
            const struct prof_decoded *d = decode_legacy(256);
            assert_int_equal(d->kind, fits ? PROF_DATA : PROF_REJECT);
            if (!fits)
                assert_string_equal(d->reject.reason, "header-size");
            else
                assert_int_equal(d->data.header.thread_count, rest / 8);
        }
        size_t size = legacy(version, 16, 0);
        for (size_t cut = 4; cut < size; cut++)
            assert_string_equal(decode_legacy(cut)->reject.reason, "truncated");
        assert_string_equal(decode_legacy(3)->reject.reason, "short");
    }
}

static void row_15_fields_a_version_lacks_are_null(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int since;
    } fields[] = {{"clocks", 5},       {"min_sp", 5},       {"clock_hz", 6},         {"seq", 7},
                  {"timing_count", 8}, {"extheap_free", 9}, {"cpu_id", 11},          {"perf_counters", 11},
                  {"perf_config", 11}, {"ddr_hz", 12},      {"extnetpage_free", 12}, {"dsr_count", 15}};
    for (int version = 5; version <= 16; version++) {
        struct event e = event_make(EVENT_PROFILE, "prof");
        e.profile = decode_legacy(legacy(version, 16, 2))->data;
        json_t *json = event_to_json(&e);
        assert_non_null(json);
        assert_string_equal(json_string_value(json_object_get(json, "layout")), "legacy");
        assert_int_equal(json_array_size(json_object_get(json, "samples")), 0);
        for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
            assert_non_null(json_object_get(json, fields[i].name));
            assert_int_equal(json_is_null(json_object_get(json, fields[i].name)), version < fields[i].since);
        }
        json_decref(json);
    }
}

static void row_15_streams_take_the_headers_when_asked(void **state)
{
    (void)state;
    struct testing_stream *s = testing_stream_new();
    for (unsigned i = 0; i < 8; i++) {
        if (i == 4)
            prof_streams_legacy_headers(s->streams);
        size_t size = legacy(9, 12, 3);
        store_be32(buffer + 36 + 8 * 12 + 4, i == 7 ? 10 : i); /* three are missing before the last */
        prof_streams_datagram(s->streams, "v9", buffer, size, i);
        size = legacy(5, 8, 3); /* without numbers nothing is missing, and nothing comes twice */
        prof_streams_datagram(s->streams, "v5", buffer, size, i);
    }
    struct prof_totals t = testing_totals(s);
    assert_int_equal(t.rejected, 8);
    assert_int_equal(t.rejected_by[PROF_REASON_VERSION], 8);
    assert_int_equal(t.packets, 8);
    assert_int_equal(t.lost, 3);
    assert_int_equal(t.samples + t.duplicates + t.late + t.restarts + t.empty, 0);
    testing_stream_free(s);
}

static void row_28_clock_zero_is_kept_raw(void **state)
{
    (void)state;
    size_t size = testing_v17(buffer, &(struct testing_packet){.count = 1, .clocks = 77});
    struct prof_decoded *d = testing_decode(buffer, size, -1);
    assert_int_equal(d->data.header.clock_hz, 0);
    struct event e = event_make(EVENT_PROFILE, "prof");
    e.profile = d->data;
    json_t *json = event_to_json(&e);
    assert_non_null(json);
    assert_true(json_is_null(json_object_get(json, "clock_hz")));
    assert_int_equal(json_integer_value(json_object_get(json, "clocks")), 77);
    json_decref(json);
}

static void row_33_profiler_thread_is_kept_as_sent(void **state)
{
    (void)state;
    size_t size = testing_v17(buffer, &(struct testing_packet){.count = 1});
    store_be16(buffer + 82, 0xffff);
    assert_int_equal(testing_decode(buffer, size, -1)->data.header.profiler_thread, 0xffff);
}

static void row_39_latency_may_be_anything(void **state)
{
    (void)state;
    size_t size = testing_v17(buffer, &(struct testing_packet){.count = 1});
    store_be32(buffer + 252 + 12, 0xffffffff);
    assert_int_equal(testing_decode(buffer, size, -1)->data.samples[0].latency, 0xffffffff);
}

static void row_41_nothing_reported(void **state)
{
    (void)state;
    static const char *const groups[] = {"heap_free",       "netpage_low_water", "min_sp",
                                         "timing_count",    "extheap_free",      "extnetpage_free",
                                         "dsr_ave_latency", "perf_config",       "ddr_hz"};
    size_t size = testing_v17(buffer, &(struct testing_packet){.count = 1});
    struct event e = event_make(EVENT_PROFILE, "prof");
    e.profile = testing_decode(buffer, size, -1)->data;
    json_t *json = event_to_json(&e);
    assert_non_null(json);
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        assert_non_null(json_object_get(json, groups[i]));
        assert_true(json_is_null(json_object_get(json, groups[i])));
    }
    json_decref(json);
}

static void row_59_oversized(void **state)
{
    (void)state;
    size_t size = testing_v17(buffer, &(struct testing_packet){.count = 255});
    assert_true(size > PROF_MAX_DATAGRAM);
    testing_expect_reject(buffer, size, "truncated", 17);
    testing_counters(buffer, 1);
    testing_expect_reject(buffer, PROF_MAX_DATAGRAM + 1, "truncated", -1);
    /* of a cut datagram only its magic is there for certain: nothing else may be read */
    uint8_t *two = malloc(2);
    assert_non_null(two);
    store_be16(two, 0x3eb1);
    static struct prof_scratch room;
    struct prof_decoded d;
    prof_packet_decode(two, 65507, &room, &d);
    assert_int_equal(d.kind, PROF_REJECT);
    assert_string_equal(d.reject.reason, "truncated");
    free(two);
}

static void largest_datagram(void **state)
{
    (void)state;
    size_t size = testing_v17(buffer, &(struct testing_packet){.count = 74});
    memset(buffer + size, 0, PROF_MAX_DATAGRAM - size);
    struct prof_decoded *d = testing_decode(buffer, PROF_MAX_DATAGRAM, -1);
    assert_int_equal(d->kind, PROF_DATA);
    assert_int_equal(d->data.sample_count, 74);
}

static void sample_fields(void **state)
{
    (void)state;
    static const uint8_t sample[24] = {0x40, 0x00, 0x10, 0x2c, 0x11, 0x22, 0x33, 0x44,
                                       0x55, 0x66, 0x77, 0x88, 0x00, 0x00, 0x12, 0xfb,
                                       0x0f, 0xff, 0x00, 0x10, 0x00, 0x20, 0x5a, 0xf3};
    size_t size = testing_v17(buffer, &(struct testing_packet){.count = 1});
    memcpy(buffer + 252, sample, 24);
    const struct profile_sample *s = testing_decode(buffer, size, -1)->data.samples;
    assert_int_equal(s->pc, 0x4000102c);
    assert_int_equal(s->a5, 0x11223344);
    assert_int_equal(s->parent, 0x55667788);
    assert_int_equal(s->latency, 0x12fb);
    assert_int_equal(s->active, 0x0fff);
    assert_int_equal(s->d_blocked, 0x10);
    assert_int_equal(s->i_blocked, 0x20);
    assert_int_equal(s->cond_codes, 0x5a);
    assert_int_equal(s->thread, 3); /* bits 7..6 are undefined in version 17 */
    assert_true(s->self_d_blocked && s->self_i_blocked);
    assert_int_equal(s->parent_count, 0);
}

/* Every header byte belongs to one field: setting it changes that field to the value at the sheet's offset.
 */
static void header_fields_at_their_offsets(void **state)
{
    (void)state;
    testing_v17(buffer, &(struct testing_packet){0});
    for (size_t i = 4; i < 252; i++)
        buffer[i] = (uint8_t)(i * 7 + 1);
    buffer[3] = 0;
    const struct profile_header *h = &testing_decode(buffer, 252, -1)->data.header;
    const struct {
        size_t offset;
        uint32_t value;
    } words[] = {
        {4, h->clocks},
        {72, h->profile_instructions},
        {84, h->heap_free},
        {88, h->heap_low_water},
        {92, h->netpage_free},
        {96, h->netpage_low_water},
        {164, h->clock_hz},
        {168, h->seq},
        {172, h->timing_sequence},
        {176, h->timing_interval},
        {180, h->timing_worst_time},
        {184, h->timing_function},
        {188, h->timing_average},
        {192, h->timing_count},
        {196, h->extheap_free},
        {200, h->extheap_low_water},
        {204, h->cpu_id},
        {228, h->ddr_hz},
        {232, h->extnetpage_free},
        {236, h->extnetpage_low_water},
        {240, h->dsr_max_latency},
        {244, h->dsr_ave_latency},
        {248, h->dsr_count},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        assert_int_equal(words[i].value, load_be32(buffer + words[i].offset));
    for (size_t i = 0; i < 16; i++) {
        assert_int_equal(h->instruction_count[i], load_be32(buffer + 8 + 4 * i));
        assert_int_equal(h->min_sp[i], load_be32(buffer + 100 + 4 * i));
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(h->perf_counters[i], load_be32(buffer + 208 + 4 * i));
        assert_int_equal(h->perf_config[i], buffer[224 + i]);
    }
    assert_int_equal(h->enabled, load_be16(buffer + 76));
    assert_int_equal(h->hrt, load_be16(buffer + 78));
    assert_int_equal(h->high, load_be16(buffer + 80));
    assert_int_equal(h->profiler_thread, load_be16(buffer + 82));
    assert_int_equal(h->thread_count, 16);
    assert_int_equal(h->perf_counter_count, 4);
}

static struct profile_packet packet_with(const struct profile_sample *samples, size_t count)
{
    return (struct profile_packet){
        .version = 17, .layout = PROFILE_V17, .samples = samples, .sample_count = count};
}

static void golden_sizes(void **state)
{
    (void)state;
    static struct profile_sample samples[PROF_MAX_SAMPLES];
    static const uint8_t begins[] = {0x3e, 0xb1, 0xfc, 0x01};
    struct profile_packet packet = packet_with(samples, 1);
    assert_int_equal(prof_packet_write(&packet, buffer, sizeof(buffer)), 276);
    assert_memory_equal(buffer, begins, sizeof(begins));
    packet = packet_with(samples, PROF_V17_MAX_COUNT);
    assert_int_equal(prof_packet_write(&packet, buffer, sizeof(buffer)), 1428);
    assert_int_equal(buffer[3], 0x31);
    assert_int_equal(prof_packet_write(&packet, buffer, 1428), 1428);
    assert_int_equal(prof_packet_write(&packet, buffer, 1427), 0);
    assert_int_equal(prof_packet_write(&packet, buffer, 0), 0);
    packet = packet_with(samples, 255);
    assert_int_equal(prof_packet_write(&packet, buffer, sizeof(buffer)), 6372);
    packet.sample_count = 256;
    assert_int_equal(prof_packet_write(&packet, buffer, sizeof(buffer)), 0);
    packet = packet_with(samples, 1);
    packet.layout = PROFILE_NSS;
    assert_int_equal(prof_packet_write(&packet, buffer, sizeof(buffer)), 0);
    packet.layout = PROFILE_V17;
    packet.version = 21;
    assert_int_equal(prof_packet_write(&packet, buffer, sizeof(buffer)), 0);
    size_t v21 = testing_v21(buffer, &(struct testing_packet){.count = 36}, 4, 4);
    assert_int_equal(v21, 1424);
    assert_int_equal(testing_decode(buffer, v21, -1)->data.sample_count, 36);
    size_t nss = testing_nss(buffer, &(struct testing_packet){.count = 36}, 4, 4);
    assert_int_equal(nss, 1428);
    assert_int_equal(testing_decode(buffer, nss, -1)->data.sample_count, 36);
}

/* Random bytes, decoded and written again, are the same bytes; so is every field in between. */
static void writer_and_reader_agree(void **state)
{
    (void)state;
    uint32_t x = 12345;
    static uint8_t again[2048];
    for (unsigned round = 0; round < 500; round++) {
        unsigned count = round % 75;
        size_t size = testing_v17(buffer, &(struct testing_packet){.count = count});
        for (size_t i = 4; i < size; i++) {
            x = x * 1664525 + 1013904223;
            buffer[i] = (uint8_t)(x >> 24);
        }
        for (unsigned i = 0; i < count; i++)
            buffer[252 + 24 * i + 23] &= 0x3f; /* two bits are undefined in version 17 */
        struct prof_decoded *d = testing_decode(buffer, size, -1);
        assert_int_equal(d->kind, PROF_DATA);
        assert_int_equal(prof_packet_write(&d->data, again, sizeof(again)), size);
        assert_memory_equal(again, buffer, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_01_short),
        cmocka_unit_test(row_02_unknown_kind),
        cmocka_unit_test(row_03_byte_order),
        cmocka_unit_test(row_04_data_packet_below_4_bytes),
        cmocka_unit_test(row_05_header_size_too_small),
        cmocka_unit_test(row_06_header_longer_than_datagram),
        cmocka_unit_test(row_07_v17_header_is_fixed),
        cmocka_unit_test(row_08_longer_header_is_skipped),
        cmocka_unit_test(row_09_no_samples),
        cmocka_unit_test(row_09_counts_as_empty_and_moves_the_clock),
        cmocka_unit_test(row_10_more_samples_than_fit),
        cmocka_unit_test(row_11_last_sample_cut),
        cmocka_unit_test(row_12_trailing_bytes),
        cmocka_unit_test(row_13_version_0),
        cmocka_unit_test(row_14_version_31_and_others_without_a_layout),
        cmocka_unit_test(row_15_versions_5_to_16_are_refused_unless_asked_for),
        cmocka_unit_test(row_15_header_only_gated_by_header_size),
        cmocka_unit_test(row_15_a_header_of_no_thread_count_is_refused),
        cmocka_unit_test(row_15_fields_a_version_lacks_are_null),
        cmocka_unit_test(row_15_streams_take_the_headers_when_asked),
        cmocka_unit_test(row_28_clock_zero_is_kept_raw),
        cmocka_unit_test(row_33_profiler_thread_is_kept_as_sent),
        cmocka_unit_test(row_39_latency_may_be_anything),
        cmocka_unit_test(row_41_nothing_reported),
        cmocka_unit_test(row_59_oversized),
        cmocka_unit_test(largest_datagram),
        cmocka_unit_test(sample_fields),
        cmocka_unit_test(header_fields_at_their_offsets),
        cmocka_unit_test(golden_sizes),
        cmocka_unit_test(writer_and_reader_agree),
    };
    return cmocka_run_group_tests_name("prof packet", tests, NULL, testing_release);
}
