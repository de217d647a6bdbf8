/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets written are packets read: every well-formed reference vector comes back byte for byte, every random
 * struct field by field (as JSON, which has them all). What no packet can say, or what does not fit, is
 * refused.
 */
#include <dirent.h>
#include <stdio.h>

#include "prof_testing.h"

#include "event/event_json.h"
#include "prof/packet_parts.h"

static uint8_t written[8192], again[8192];
static uint32_t random_state = 1;

static uint32_t any(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

/* A word; now and then one of those at an end of the range. */
static uint32_t word(void)
{
    static const uint32_t ends[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff};
    return any() % 8 ? any() : ends[any() % 5];
}

static size_t write_decoded(const struct prof_decoded *d, uint8_t *out, size_t size)
{
    switch (d->kind) {
    case PROF_DATA:
        return prof_packet_write(&d->data, out, size);
    case PROF_COUNTERS:
        return prof_counters_write(&d->counters, out, size);
    case PROF_MAPS:
        return prof_maps_write(&d->maps, out, size);
    case PROF_REJECT:
        break;
    }
    return 0;
}

/* Every byte is needed: one byte less is refused, and nothing is written past what there is. */
static void expect_exact_room(const struct prof_decoded *d, size_t size)
{
    for (size_t room = 0; room < size; room += room + 8 < size ? 7 : 1) {
        uint8_t *small = malloc(room ? room : 1);
        assert_non_null(small);
        assert_int_equal(write_decoded(d, small, room), 0);
        free(small);
    }
    uint8_t *exact = malloc(size);
    assert_non_null(exact);
    assert_int_equal(write_decoded(d, exact, size), size);
    free(exact);
}

static json_t *as_json(const struct prof_decoded *d)
{
    struct event e = event_make(d->kind == PROF_DATA       ? EVENT_PROFILE
                                : d->kind == PROF_COUNTERS ? EVENT_COUNTERS
                                                           : EVENT_MAPS,
                                "prof");
    if (d->kind == PROF_DATA)
        e.profile = d->data;
    else if (d->kind == PROF_COUNTERS)
        e.counters = d->counters;
    else
        e.maps = d->maps;
    json_t *json = event_to_json(&e);
    assert_non_null(json);
    return json;
}

/* The struct, written and read, is the same struct; and written again the same bytes. */
static void expect_round_trip(const struct prof_decoded *d, int version)
{
    size_t size = write_decoded(d, written, sizeof(written));
    assert_true(size > 0 && size <= PROF_MAX_DATAGRAM);
    json_t *before = as_json(d);
    const struct prof_decoded *read = testing_decode(written, size, version);
    assert_int_equal(read->kind, d->kind);
    assert_int_equal(read->consumed, size);
    json_t *after = as_json(read);
    if (!json_equal(before, after))
        fail_msg("%s\n%s", json_dumps(before, JSON_COMPACT), json_dumps(after, JSON_COMPACT));
    json_decref(before);
    json_decref(after);
    assert_int_equal(write_decoded(read, again, sizeof(again)), size);
    assert_memory_equal(again, written, size);
}

static void fill_samples(struct profile_sample *samples, size_t count, size_t threads, size_t words, bool v17)
{
    for (size_t i = 0; i < count; i++) {
        struct profile_sample *s = &samples[i];
        *s = (struct profile_sample){.pc = word(),
                                     .active = (uint16_t)any(),
                                     .d_blocked = (uint16_t)any(),
                                     .i_blocked = (uint16_t)any(),
                                     .cond_codes = (uint8_t)any(),
                                     .thread = (uint8_t)(any() % threads),
                                     .self_d_blocked = any() & 1,
                                     .self_i_blocked = any() & 1,
                                     .btb_status = any() & 3,
                                     .parent_count = (uint8_t)words};
        if (v17) {
            s->a5 = word();
            s->parent = word();
            s->latency = word();
            continue;
        }
        s->pid = word();
        s->a_reg = word();
        for (size_t k = 0; k < words; k++)
            s->parents[k] = word();
    }
}

static void fill_words(uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        words[i] = word();
}

/* What all layouts have. */
static struct profile_header some_header(size_t header_size, size_t count, size_t threads)
{
    struct profile_header h = {.header_size = (uint8_t)header_size,
                               .sample_count = (uint8_t)count,
                               .thread_count = (uint8_t)threads,
                               .clocks = word(),
                               .profile_instructions = word(),
                               .enabled = (uint16_t)any(),
                               .hrt = (uint16_t)any(),
                               .high = (uint16_t)any(),
                               .profiler_thread = (uint16_t)any(),
                               .clock_hz = word(),
                               .seq = word(),
                               .cpu_id = word(),
                               .ddr_hz = word()};
    fill_words(h.instruction_count, threads);
    return h;
}

static struct profile_packet some_v17(struct profile_sample *samples)
{
    size_t header_size = 252 + any() % 4, count = any() % 74;
    struct profile_header h = some_header(header_size, count, 16);
    fill_words(h.min_sp, 16);
    h.heap_free = word();
    h.heap_low_water = word();
    h.netpage_free = word();
    h.netpage_low_water = word();
    h.timing_sequence = word();
    h.timing_interval = word();
    h.timing_worst_time = word();
    h.timing_function = word();
    h.timing_average = word();
    h.timing_count = word();
    h.extheap_free = word();
    h.extheap_low_water = word();
    fill_words(h.perf_counters, 4);
    for (size_t i = 0; i < 4; i++)
        h.perf_config[i] = (uint8_t)any();
    h.perf_counter_count = 4;
    h.extnetpage_free = word();
    h.extnetpage_low_water = word();
    h.dsr_max_latency = word();
    h.dsr_ave_latency = word();
    h.dsr_count = word();
    fill_samples(samples, count, 16, 0, true);
    return (struct profile_packet){
        .version = 17, .layout = PROFILE_V17, .header = h, .samples = samples, .sample_count = count};
}

static struct profile_packet some_v21(struct profile_sample *samples, bool nss)
{
    size_t words = any() % 17, real = nss && words == 0 ? 4 : words;
    size_t header_size = nss ? 132 : 128;
    size_t count = any() % ((PROF_MAX_DATAGRAM - header_size) / (20 + 4 * real) + 1);
    struct profile_header h = some_header(header_size, count, 12);
    h.sample_stack_words = (uint32_t)words;
    if (nss) {
        h.profiler_thread &= 0xff;
        h.stat_select[0] = (uint8_t)any();
        h.stat_select[1] = (uint8_t)any();
        h.d_blocked = (uint16_t)any();
        h.i_blocked = (uint16_t)any();
        h.sample_sets = (uint8_t)any();
        h.sets_map = word();
        fill_words(h.stats, 8);
    } else {
        fill_words(h.perf_counters, 8);
        for (size_t i = 0; i < 8; i++)
            h.perf_config[i] = (uint8_t)any();
        h.perf_counter_count = 8;
    }
    fill_samples(samples, count, 12, real, false);
    return (struct profile_packet){.version = 21,
                                   .layout = nss ? PROFILE_NSS : PROFILE_V21,
                                   .header = h,
                                   .samples = samples,
                                   .sample_count = count};
}

static void random_data_packets(void **state)
{
    (void)state;
    static struct profile_sample samples[PROF_MAX_SAMPLES];
    static struct prof_decoded d;
    for (unsigned round = 0; round < 600; round++) {
        d = (struct prof_decoded){.kind = PROF_DATA};
        d.data = round % 3 == 0 ? some_v17(samples) : some_v21(samples, round % 3 == 1);
        expect_round_trip(&d, -1);
        if (round < 30)
            expect_exact_room(&d, write_decoded(&d, written, sizeof(written)));
        for (size_t i = 0; i < d.data.sample_count; i++) /* in no JSON */
            assert_int_equal(testing_decode(written, write_decoded(&d, written, sizeof(written)), -1)
                                 ->data.samples[i]
                                 .btb_status,
                             samples[i].btb_status);
    }
}

/* A name as the reader makes it: its bytes on the wire, escaped. */
static void some_name(char *out)
{
    size_t length = any() % 21;
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = (uint8_t)(1 + any() % 255);
        if (byte >= 0x20 && byte < 0x7f && byte != '\\')
            *out++ = (char)byte;
        else if (byte == '\\')
            *out++ = '/'; /* might spell an escape by chance, which is not told from one */
        else
            out += sprintf(out, "\\x%02x", byte);
    }
    *out = '\0';
}

static struct profile_counters some_counters(struct profile_counter *list)
{
    size_t count = any() % 60, ultra = any() % (count + 1);
    for (size_t i = 0; i < count; i++) {
        memset(&list[i], 0, sizeof(list[i]));
        some_name(list[i].name);
        list[i].value = word();
        list[i].linux_side = i >= ultra;
    }
    return (struct profile_counters){
        .counters = list, .count = count, .ultra_sample_time = word(), .linux_sample_time = word()};
}

static void random_counters(void **state)
{
    (void)state;
    static struct profile_counter list[64];
    static struct prof_decoded d;
    for (unsigned round = 0; round < 500; round++) {
        d = (struct prof_decoded){.kind = PROF_COUNTERS, .counters = some_counters(list)};
        expect_round_trip(&d, round % 2 ? 21 : -1);
        if (round < 30)
            expect_exact_room(&d, write_decoded(&d, written, sizeof(written)));
    }
}

static void random_maps(void **state)
{
    (void)state;
    static struct profile_map list[512];
    static struct prof_decoded d;
    for (unsigned round = 0; round < 500; round++) {
        bool v21 = round % 2;
        size_t count = any() % 511;
        for (size_t i = 0; i < count; i++) {
            list[i] =
                (struct profile_map){.start = (uint16_t)any(), .type = (uint8_t)(any() % (v21 ? 16 : 32))};
            list[i].pages = v21                  ? 1 + any() % 4096
                            : list[i].type >= 16 ? any() % 2048
                                                 : UINT32_C(1) << any() % 17;
        }
        d = (struct prof_decoded){.kind = PROF_MAPS,
                                  .maps = {.v21 = v21,
                                           .page_shift = 10 + any() % 11,
                                           .entries = list,
                                           .count = count,
                                           .last = v21 && any() % 2}};
        expect_round_trip(&d, v21 ? 21 : 17);
        if (round < 30)
            expect_exact_room(&d, write_decoded(&d, written, sizeof(written)));
    }
}

/* Both packets come back out of the one datagram, and nothing is written when only the first fits. */
static void random_glued_packets(void **state)
{
    (void)state;
    static struct profile_counter list[64];
    static struct profile_sample samples[PROF_MAX_SAMPLES];
    for (unsigned round = 0; round < 300; round++) {
        struct profile_counters counters = some_counters(list);
        struct profile_packet packet = some_v21(samples, true);
        counters.count %= 10;
        packet.sample_count %= 5;
        packet.header.sample_count = (uint8_t)packet.sample_count;
        size_t first = prof_counters_write(&counters, again, sizeof(again));
        size_t size = prof_glued_write(&counters, &packet, written, sizeof(written));
        assert_true(size > first);
        assert_int_equal(prof_glued_write(&counters, &packet, written, size - 1), 0);
        assert_int_equal(prof_glued_write(&counters, &packet, written, first), 0);
        assert_int_equal(prof_glued_write(&counters, &packet, written, size), size);
        struct prof_decoded *d = testing_decode(written, size, -1);
        assert_int_equal(d->kind, PROF_COUNTERS);
        assert_int_equal(d->consumed, first);
        assert_int_equal(prof_counters_write(&d->counters, again, sizeof(again)), first);
        assert_memory_equal(again, written, first);
        d = testing_decode(written + first, size - first, -1);
        assert_int_equal(d->kind, PROF_DATA);
        assert_int_equal(prof_packet_write(&d->data, again, sizeof(again)), size - first);
        assert_memory_equal(again, written + first, size - first);
    }
}

static void what_no_data_packet_can_say_is_refused(void **state)
{
    (void)state;
    static struct profile_sample samples[PROF_MAX_SAMPLES + 1];
    struct profile_packet p;
    for (enum profile_layout layout = PROFILE_V21; layout <= PROFILE_NSS; layout++) {
        const struct profile_packet good = {.version = 21,
                                            .layout = layout,
                                            .samples = samples,
                                            .sample_count = 1,
                                            .header = {.sample_stack_words = 2}};
        memset(samples, 0, sizeof(samples));
        assert_true(prof_packet_write(&good, written, sizeof(written)) > 0);
        samples[0].thread = 12;
        assert_int_equal(prof_packet_write(&good, written, sizeof(written)), 0);
        samples[0].thread = 11;
        samples[0].parent_count = 3;
        assert_int_equal(prof_packet_write(&good, written, sizeof(written)), 0);
        samples[0].parent_count = 2;
        assert_true(prof_packet_write(&good, written, sizeof(written)) > 0);
        static const uint32_t words[] = {17, 256, 0x3ffffffb, 0xffffffff};
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            p = good;
            p.header.sample_stack_words = words[i];
            assert_int_equal(prof_packet_write(&p, written, sizeof(written)), 0);
        }
        p = good;
        p.version = 17;
        assert_int_equal(prof_packet_write(&p, written, sizeof(written)), 0);
        p = good;
        p.sample_count = 256;
        assert_int_equal(prof_packet_write(&p, written, sizeof(written)), 0);
    }
    p = (struct profile_packet){.version = 21, .layout = PROFILE_NSS, .header = {.profiler_thread = 256}};
    assert_int_equal(prof_packet_write(&p, written, sizeof(written)), 0);
    p = (struct profile_packet){.version = 12, .layout = PROFILE_LEGACY};
    assert_int_equal(prof_packet_write(&p, written, sizeof(written)), 0);
}

static void what_no_counters_packet_can_say_is_refused(void **state)
{
    (void)state;
    static struct profile_counter list[64];
    struct profile_counters c = {.counters = list, .count = 59};
    assert_int_equal(prof_counters_write(&c, written, sizeof(written)), 1432); /* golden */
    c.count = 60;
    assert_int_equal(prof_counters_write(&c, written, sizeof(written)), 0);
    c.count = 2;
    c.truncated = 1;
    assert_int_equal(prof_counters_write(&c, written, sizeof(written)), 0);
    c.truncated = 0;
    list[0].linux_side = true; /* Ultra's come first */
    assert_int_equal(prof_counters_write(&c, written, sizeof(written)), 0);
    list[1].linux_side = true;
    assert_int_equal(prof_counters_write(&c, written, sizeof(written)), 64);
    strcpy(list[0].name, "twenty characters it");
    assert_int_equal(prof_counters_write(&c, written, sizeof(written)), 64);
    strcpy(list[0].name, "twenty-one characters");
    assert_int_equal(prof_counters_write(&c, written, sizeof(written)), 0);
    strcpy(list[0].name, "\\xff\\x01 is six bytes");
    assert_int_equal(prof_counters_write(&c, written, sizeof(written)), 64);
    assert_memory_equal(written + 16, "\xff\x01 is six bytes\0\0\0\0", 20);
    strcpy(list[0].name, "\\x41\\x0g\\x4"); /* stands for nothing that is escaped, so it is text */
    assert_int_equal(prof_counters_write(&c, written, sizeof(written)), 64);
    assert_memory_equal(written + 16, "\\x41\\x0g\\x4\0\0", 13);
}

static void what_no_maps_packet_can_say_is_refused(void **state)
{
    (void)state;
    static const struct {
        bool v21;
        uint8_t type;
        uint32_t pages;
        bool good;
    } entries[] = {
        {false, 1, 0, false},         {false, 1, 1, true},       {false, 1, 3, false},
        {false, 1, 65536, true},      {false, 1, 131072, false}, {false, 16, 0, true},
        {false, 16, 2047, true},      {false, 16, 2048, false},  {false, 31, 5, true},
        {false, 32, 5, false},        {true, 0, 0, false},       {true, 0, 1, true},
        {true, 15, 4096, true},       {true, 15, 4097, false},   {true, 16, 1, false},
        {true, 3, 0xffffffff, false},
    };
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        struct profile_map entry = {.type = entries[i].type, .pages = entries[i].pages};
        struct profile_maps m = {.v21 = entries[i].v21, .page_shift = 12, .entries = &entry, .count = 1};
        assert_int_equal(prof_maps_write(&m, written, sizeof(written)), entries[i].good ? 12 : 0);
    }
    static struct profile_map many[358];
    struct profile_maps m = {.v21 = true, .page_shift = 14, .entries = many, .count = 358};
    for (size_t i = 0; i < 358; i++)
        many[i].pages = 1;
    assert_int_equal(prof_maps_write(&m, written, sizeof(written)), 1440); /* golden */
    m.last = true;
    assert_int_equal(prof_maps_write(&m, written, sizeof(written)), 1440);
    assert_int_equal(load_be16(written), 0xaea1);
    m.v21 = false; /* has no such bit */
    assert_int_equal(prof_maps_write(&m, written, sizeof(written)), 0);
    m = (struct profile_maps){.page_shift = 9};
    assert_int_equal(prof_maps_write(&m, written, sizeof(written)), 0);
    m.page_shift = 21;
    assert_int_equal(prof_maps_write(&m, written, sizeof(written)), 0);
    m.page_shift = 20;
    assert_int_equal(prof_maps_write(&m, written, sizeof(written)), 8);
}

/* --- the reference vectors --------------------------------------------------------------------------------
 */

static size_t read_vector(const char *name, uint8_t *bytes, size_t room)
{
    char path[1024];
    assert_in_range(snprintf(path, sizeof(path), "%s/%s", VECTORS, name), 1, sizeof(path) - 1);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    size_t size = fread(bytes, 1, room, in);
    fclose(in);
    return size;
}

/* What the reader does not keep, zeroed in the original: bytes of a longer header, spare words of NSS. */
static void forget(uint8_t *bytes, const struct prof_decoded *d)
{
    if (d->kind == PROF_DATA && d->data.layout == PROFILE_V17)
        memset(bytes + 252, 0, d->data.header.header_size - 252u);
    if (d->kind == PROF_DATA && d->data.layout == PROFILE_NSS) {
        bytes[6] = 0;
        memset(bytes + 16, 0, 4);
    }
}

static void every_well_formed_vector_comes_back(void **state)
{
    (void)state;
    static uint8_t bytes[4096];
    unsigned whole = 0;
    DIR *folder = opendir(VECTORS);
    if (!folder) {
        print_message("no reference vectors at %s\n", VECTORS);
        skip();
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, ".bin") != 0)
            continue;
        size_t size = read_vector(entry->d_name, bytes, sizeof(bytes));
        for (size_t at = 0; at < size;) {
            const struct prof_decoded *d = testing_decode(bytes + at, size - at, -1);
            size_t consumed = d->consumed;
            bool cut = d->kind == PROF_REJECT || (d->kind == PROF_DATA && d->data.bad_samples) ||
                       (d->kind == PROF_COUNTERS && d->counters.truncated) ||
                       (d->kind == PROF_MAPS && d->maps.bad_entries);
            if (!cut) {
                size_t want = consumed - (d->kind == PROF_DATA ? d->data.trailing : 0);
                forget(bytes + at, d);
                if (write_decoded(d, written, sizeof(written)) != want ||
                    memcmp(written, bytes + at, want) != 0)
                    fail_msg("%s does not come back", entry->d_name);
                whole++;
            }
            at += consumed;
        }
    }
    closedir(folder);
    assert_true(whole >= 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_data_packets),
        cmocka_unit_test(random_counters),
        cmocka_unit_test(random_maps),
        cmocka_unit_test(random_glued_packets),
        cmocka_unit_test(what_no_data_packet_can_say_is_refused),
        cmocka_unit_test(what_no_counters_packet_can_say_is_refused),
        cmocka_unit_test(what_no_maps_packet_can_say_is_refused),
        cmocka_unit_test(every_well_formed_vector_comes_back),
    };
    return cmocka_run_group_tests_name("prof writer", tests, NULL, testing_release);
}
