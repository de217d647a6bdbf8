/* SPDX-License-Identifier: Apache-2.0 */
/* gmon.out byte for byte (profiler sheet 10.1, and 64 and 65 of section 11): both byte orders, both sizes of
 * pointers, ends of ranges, counts above a bin's, and everything that is refused. */
#include "export_testing.h"

#include <inttypes.h>

#include "export/export_profile.h"

enum { HEADER = 20 };

static struct export_mapping image = {.start = 0x1000, .limit = 0x1010, .path = "a.elf", .build_id = ""};

/* What was read back, without its header; the file is gone. */
struct content {
    char *bytes;
    size_t size;
    struct diag d;
};

static enum corral_err write_it(const struct export_profile *profile, struct content *c)
{
    char folder[32];
    char path[64];
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/gmon.out", folder);
    c->d = (struct diag)DIAG_INIT;
    c->bytes = NULL;
    enum corral_err err = export_gmon(profile, path, &c->d);
    if (err == CORRAL_OK) {
        struct stat st;
        assert_int_equal(stat(path, &st), 0);
        c->size = (size_t)st.st_size;
        c->bytes = read_whole(path);
    }
    remove_folder(folder, path); /* nothing else is left, and nothing at all of what was refused */
    return err;
}

/* A profile of one track; `hz` of it. */
static struct export_profile profile_of(struct export_track *track, const struct export_stack *stacks,
                                        size_t count, double hz)
{
    *track = (struct export_track){"core0", stacks, count, 0, hz};
    return (struct export_profile){
        .title = "t", .tracks = track, .count = 1, .mappings = &image, .mapping_count = 1};
}

static const struct export_frame caller = {.name = "f", .address = 0x1002, .mapping = 0};

static void golden_little_endian(void **state)
{
    (void)state;
    const struct export_frame frames[] = {caller, {.name = "g", .address = 0x100C, .mapping = 0}};
    const struct export_stack stacks[] = {{frames, 2, 7}, {frames, 1, 2}};
    struct export_track track;
    struct content c;
    const struct export_profile p = profile_of(&track, stacks, 2, 250);
    assert_int_equal(write_it(&p, &c), CORRAL_OK);
    static const char want[] = "gmon\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
                               "\x00\x00\x10\x00\x00\x10\x10\x00\x00\x04\x00\x00\x00\xFA\x00\x00\x00"
                               "seconds\x00\x00\x00\x00\x00\x00\x00\x00s"
                               "\x02\x00\x00\x00\x00\x00\x07\x00"
                               "\x01\x02\x10\x00\x00\x0C\x10\x00\x00\x07\x00\x00";
    assert_int_equal(c.size, sizeof(want)); /* the last byte, a zero, is the literal's own */
    assert_memory_equal(c.bytes, want, sizeof(want));
    assert_string_equal(c.d.message, "2 samples have no known caller, so no arc");
    free(c.bytes);
}

static void golden_big_endian(void **state)
{
    (void)state;
    const struct export_frame frames[] = {caller, {.name = "g", .address = 0x100C, .mapping = 0}};
    const struct export_stack stack = {frames, 2, 0x107};
    struct export_track track;
    struct content c;
    struct export_mapping mapping = image;
    mapping.big_endian = true;
    struct export_profile p = profile_of(&track, &stack, 1, 250);
    p.mappings = &mapping;
    assert_int_equal(write_it(&p, &c), CORRAL_OK);
    static const char want[] = "gmon\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
                               "\x00\x00\x00\x10\x00\x00\x00\x10\x10\x00\x00\x00\x04\x00\x00\x00\xFA"
                               "seconds\x00\x00\x00\x00\x00\x00\x00\x00s"
                               "\x00\x00\x00\x00\x00\x00\x01\x07"
                               "\x01\x00\x00\x10\x02\x00\x00\x10\x0C\x00\x00\x01\x07";
    assert_int_equal(c.size, sizeof(want) - 1);
    assert_memory_equal(c.bytes, want, sizeof(want) - 1);
    assert_string_equal(c.d.message, "");
    free(c.bytes);
}

static void pointers_of_64_bits(void **state)
{
    (void)state;
    const struct export_frame frame = {.name = "f", .address = 0xFFFFFFFF81000004, .mapping = 0};
    const struct export_stack stack = {&frame, 1, 1};
    struct export_track track;
    struct content c;
    const struct export_mapping mapping = {.start = 0xFFFFFFFF81000000,
                                           .limit = 0xFFFFFFFF81000008,
                                           .path = "vmlinux",
                                           .build_id = "",
                                           .wide = true};
    struct export_profile p = profile_of(&track, &stack, 1, 250);
    p.mappings = &mapping;
    assert_int_equal(write_it(&p, &c), CORRAL_OK);
    assert_int_equal(c.size, HEADER + 41 + 4);
    assert_memory_equal(c.bytes + HEADER,
                        "\x00\x00\x00\x00\x81\xFF\xFF\xFF\xFF\x08\x00\x00\x81\xFF\xFF\xFF\xFF\x02", 18);
    free(c.bytes);
}

/* The records of a file, checked on the way: one scale, no overlap but of equal ranges. Sums by address. */
static uint64_t samples_at(const struct content *c, uint32_t address, size_t *records)
{
    const unsigned char *b = (const unsigned char *)c->bytes;
    uint64_t sum = 0;
    uint32_t last_start = 0;
    uint32_t last_limit = 0;
    *records = 0;
    size_t at = HEADER;
    while (at < c->size && b[at] == 0) {
        uint32_t start;
        uint32_t limit;
        uint32_t bins;
        memcpy(&start, b + at + 1, 4);
        memcpy(&limit, b + at + 5, 4);
        memcpy(&bins, b + at + 9, 4);
        assert_int_equal(start % 4, 0);
        assert_int_equal(limit - start, 4 * bins);
        assert_true(start >= last_limit || (start == last_start && limit == last_limit));
        last_start = start;
        last_limit = limit;
        if (address >= start && address < limit) {
            uint16_t count;
            memcpy(&count, b + at + 33 + (size_t)(address - start) / 4 * 2, 2);
            sum += count;
        }
        at += 33 + (size_t)bins * 2;
        assert_true(at <= c->size);
        ++*records;
    }
    return sum;
}

static void a_record_is_repeated_for_counts_above_65535(void **state)
{
    (void)state;
    static const struct {
        uint64_t count;
        size_t records;
    } rows[] = {{65535, 1}, {65536, 2}, {131070, 2}, {131071, 3}, {200000, 4}};
    const struct export_frame hot = {.name = "f", .address = 0x1008, .mapping = 0};
    const struct export_frame cold = {.name = "f", .address = 0x100F, .mapping = 0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct export_stack stacks[] = {{&hot, 1, rows[i].count}, {&cold, 1, 5}};
        struct export_track track;
        struct content c;
        size_t records;
        const struct export_profile p = profile_of(&track, stacks, 2, 250);
        assert_int_equal(write_it(&p, &c), CORRAL_OK);
        assert_int_equal(samples_at(&c, 0x1008, &records), rows[i].count);
        assert_int_equal(records, rows[i].records);
        assert_int_equal(samples_at(&c, 0x100C, &records), 5);
        assert_int_equal(samples_at(&c, 0x1004, &records), 0);
        free(c.bytes);
    }
}

static void counts_that_readers_cannot_add_up_are_refused(void **state)
{
    (void)state;
    static const uint64_t counts[] = {(uint64_t)INT32_MAX + 1, UINT64_C(1) << 53, UINT64_MAX};
    for (size_t i = 0; i < COUNT(counts); i++) {
        const struct export_stack stack = {&caller, 1, counts[i]};
        struct export_track track;
        struct content c;
        const struct export_profile p = profile_of(&track, &stack, 1, 250);
        assert_int_equal(write_it(&p, &c), CORRAL_ERR_LIMIT);
        assert_non_null(strstr(c.d.message, "0x1000 are more than gprof can count"));
    }
}

/* Large ranges are written only where there are samples, and a large count has a record of its own. */
static void large_ranges_are_cut(void **state)
{
    (void)state;
    const struct export_mapping flash = {
        .start = 0x08000000, .limit = 0x18000000, .path = "a.elf", .build_id = ""};
    const struct export_frame frames[] = {{.name = "a", .address = 0x08000000, .mapping = 0},
                                          {.name = "a", .address = 0x08000100, .mapping = 0},
                                          {.name = "b", .address = 0x08000104, .mapping = 0},
                                          {.name = "c", .address = 0x0A000000, .mapping = 0},
                                          {.name = "c", .address = 0x17FFFFFE, .mapping = 0}};
    const struct export_stack stacks[] = {{&frames[0], 1, 3},
                                          {&frames[1], 1, 5},
                                          {&frames[2], 1, INT32_MAX},
                                          {&frames[3], 1, 7},
                                          {&frames[4], 1, 9}};
    struct export_track track;
    struct content c;
    size_t records;
    struct export_profile p = profile_of(&track, stacks, COUNT(stacks), 250);
    p.mappings = &flash;
    char folder[32];
    char path[64];
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/gmon.out", folder);
    assert_int_equal(export_gmon(&p, path, &c.d), CORRAL_OK);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    c.size = (size_t)st.st_size;
    c.bytes = malloc(c.size);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(c.bytes, 1, c.size, f), c.size);
    fclose(f);
    remove_folder(folder, path);
    assert_int_equal(samples_at(&c, 0x08000000, &records), 3);
    assert_int_equal(records, 32769 + 3);
    assert_int_equal(samples_at(&c, 0x08000100, &records), 5);
    assert_int_equal(samples_at(&c, 0x08000104, &records), INT32_MAX);
    assert_int_equal(samples_at(&c, 0x0A000000, &records), 7);
    assert_int_equal(samples_at(&c, 0x17FFFFFC, &records), 9);
    assert_in_range(c.size, 32769 * 35, 32769 * 35 + 1000);
    free(c.bytes);
}

/* Ends that are no multiple of 4 grow; ranges that touch, or are the same, become one record. */
static void ranges_are_merged(void **state)
{
    (void)state;
    const struct export_mapping mappings[] = {
        {.start = 0x1001, .limit = 0x1006, .path = "a.elf", .build_id = ""},
        {.start = 0x1006, .limit = 0x1009, .path = "a.elf", .build_id = ""},
        {.start = 0x1001, .limit = 0x1006, .path = "a.elf", .build_id = ""},
        {.start = 0x2000, .limit = 0x2004, .path = "a.elf", .build_id = ""},
        {.start = 0x3000, .limit = 0x3004, .path = "b.elf", .build_id = "", .big_endian = true}};
    const struct export_frame frames[] = {{.name = "a", .address = 0x1005, .mapping = 0},
                                          {.name = "b", .address = 0x1008, .mapping = 1},
                                          {.name = "a", .address = 0x1004, .mapping = 2},
                                          {.name = "c", .address = 0x2003, .mapping = 3}};
    const struct export_stack stacks[] = {
        {&frames[0], 1, 1}, {&frames[1], 1, 2}, {&frames[2], 1, 4}, {&frames[3], 1, 8}};
    struct export_track track;
    struct content c;
    size_t records;
    struct export_profile p = profile_of(&track, stacks, COUNT(stacks), 250);
    p.mappings = mappings;
    p.mapping_count = COUNT(mappings); /* the last has no sample, so its byte order does not matter */
    assert_int_equal(write_it(&p, &c), CORRAL_OK);
    assert_int_equal(samples_at(&c, 0x1004, &records), 5);
    assert_int_equal(records, 2);
    assert_int_equal(samples_at(&c, 0x1008, &records), 2);
    assert_int_equal(samples_at(&c, 0x2000, &records), 8);
    assert_memory_equal(c.bytes + HEADER + 1, "\x00\x10\x00\x00\x0C\x10\x00\x00\x03", 9);
    free(c.bytes);
}

/* The end of a range is exclusive and of 32 bits. */
static void the_last_bin_of_the_address_space(void **state)
{
    (void)state;
    const struct export_mapping top = {
        .start = 0xFFFFFF00, .limit = 0x100000000, .path = "a.elf", .build_id = ""};
    struct export_frame frame = {.name = "f", .address = 0xFFFFFFF8, .mapping = 0};
    const struct export_stack stack = {&frame, 1, 1};
    struct export_track track;
    struct content c;
    size_t records;
    struct export_profile p = profile_of(&track, &stack, 1, 250);
    p.mappings = &top;
    assert_int_equal(write_it(&p, &c), CORRAL_OK);
    assert_int_equal(samples_at(&c, 0xFFFFFFF8, &records), 1);
    free(c.bytes);
    frame.address = 0xFFFFFFFC;
    assert_int_equal(write_it(&p, &c), CORRAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(c.d.message, "0xfffffffc"));
}

/* Never 0, and never a rate that nobody measured: then the unit is a sample. */
static void rates(void **state)
{
    (void)state;
    static const struct {
        double hz;
        uint32_t rate;
        char unit;
    } rows[] = {{1000, 1000, 's'}, {999.6, 1000, 's'}, {0, 1, 'n'},     {-1, 1, 'n'},
                {0.5, 1, 'n'},     {1.4, 1, 'n'},      {1.005, 1, 's'}, {1e300, 1, 'n'}};
    const struct export_stack stack = {&caller, 1, 1};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct export_track track;
        struct content c;
        uint32_t rate;
        const struct export_profile p = profile_of(&track, &stack, 1, rows[i].hz);
        assert_int_equal(write_it(&p, &c), CORRAL_OK);
        memcpy(&rate, c.bytes + HEADER + 13, 4);
        assert_int_equal(rate, rows[i].rate);
        assert_int_equal(c.bytes[HEADER + 32], rows[i].unit);
        assert_string_equal(c.bytes + HEADER + 17, rows[i].unit == 's' ? "seconds" : "samples");
        free(c.bytes);
    }
    const struct export_track tracks[] = {{"a", &stack, 1, 0, 100}, {"b", &stack, 1, 0, 200}};
    const struct export_profile two = {.tracks = tracks, .count = 2, .mappings = &image, .mapping_count = 1};
    struct content c;
    assert_int_equal(write_it(&two, &c), CORRAL_OK);
    assert_int_equal(c.bytes[HEADER + 32], 'n');
    free(c.bytes);
}

/* What is inlined belongs to its function; every call of a stack is an arc; equal ones are added up. */
static void arcs_are_between_functions(void **state)
{
    (void)state;
    const struct export_frame frames[] = {
        {.name = "main", .address = 0x1000, .mapping = 0},
        {.name = "in main", .address = 0x1000, .mapping = 0, .inlined = true},
        {.name = "f", .address = 0x1004, .mapping = 0},
        {.name = "g", .address = 0x1008, .mapping = 0},
        {.name = "in g", .address = 0x1008, .mapping = 0, .inlined = true}};
    const struct export_frame outside[] = {{.name = "?", .address = 0x9000, .mapping = -1}, frames[3]};
    const struct export_stack stacks[] = {
        {frames, 5, 3}, {frames, 4, 4}, {outside, 2, 1}, {frames + 3, 1, 1}};
    struct export_track track;
    struct content c;
    const struct export_profile p = profile_of(&track, stacks, COUNT(stacks), 250);
    assert_int_equal(write_it(&p, &c), CORRAL_OK);
    size_t at = HEADER + 33 + 8;
    assert_int_equal(c.size, at + 2 * 13);
    assert_memory_equal(c.bytes + at, "\x01\x00\x10\x00\x00\x04\x10\x00\x00\x07\x00\x00\x00", 13);
    assert_memory_equal(c.bytes + at + 13, "\x01\x04\x10\x00\x00\x08\x10\x00\x00\x07\x00\x00\x00", 13);
    assert_string_equal(c.d.message, "2 samples have no known caller, so no arc");
    free(c.bytes);
}

static void losses_are_said(void **state)
{
    (void)state;
    const struct export_stack stack = {&caller, 1, 1};
    struct export_track track;
    struct content c;
    const struct export_profile p = profile_of(&track, &stack, 1, 250);
    track.lost_packets = 9;
    assert_int_equal(write_it(&p, &c), CORRAL_OK);
    assert_non_null(strstr(c.d.message, "9 packets lost, whose samples are missing here: core0 9"));
    assert_int_equal(c.d.code, CORRAL_OK);
    free(c.bytes);
}

/* Number 65 of section 11, and images that one file cannot be of. */
static void refusals(void **state)
{
    (void)state;
    const struct export_frame outside = {.name = "?", .address = 0x9000, .mapping = -1};
    const struct export_frame beside = {.name = "?", .address = 0x1010, .mapping = 0}; /* at the limit */
    const struct export_frame beyond = {.name = "?", .address = 0x1000, .mapping = 99};
    const struct export_stack none = {&caller, 1, 0};
    const struct export_stack some = {&caller, 1, 1};
    const struct export_stack wrong[] = {{&outside, 1, 1}, {&beside, 1, 1}, {&beyond, 1, 1}, {NULL, 0, 1}};
    struct export_track track;
    struct content c;
    struct export_profile p = profile_of(&track, &some, 1, 250);
    p.mapping_count = 0;
    assert_int_equal(write_it(&p, &c), CORRAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(c.d.message, "needs an image"));
    p = profile_of(&track, &none, 1, 250);
    assert_int_equal(write_it(&p, &c), CORRAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(c.d.message, "there is no sample"));
    p.count = 0;
    assert_int_equal(write_it(&p, &c), CORRAL_ERR_UNSUPPORTED);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        p = profile_of(&track, &wrong[i], 1, 250);
        assert_int_equal(write_it(&p, &c), CORRAL_ERR_UNSUPPORTED);
        assert_non_null(strstr(c.d.message, "none of the samples lies in an image"));
    }
    struct export_mapping two[] = {image, image};
    const struct export_frame other = {.name = "g", .address = 0x2000, .mapping = 1};
    const struct export_stack both[] = {some, {&other, 1, 1}};
    two[1].start = 0x2000;
    two[1].limit = 0x2010;
    two[1].path = "b.elf";
    p = profile_of(&track, both, 2, 250);
    p.mappings = two;
    p.mapping_count = 2;
    assert_int_equal(write_it(&p, &c), CORRAL_OK);
    assert_non_null(strstr(c.d.message, "it covers 2 images"));
    free(c.bytes);
    two[1].big_endian = true;
    assert_int_equal(write_it(&p, &c), CORRAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(c.d.message, "one byte order"));
    two[1].big_endian = false;
    two[1].wide = true;
    assert_int_equal(write_it(&p, &c), CORRAL_ERR_UNSUPPORTED);
    two[1].wide = false;
    two[1].start = 0x100F; /* the other ends at 0x1010 */
    assert_int_equal(write_it(&p, &c), CORRAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(c.d.message, "at the same addresses"));
    assert_int_equal(export_gmon(&p, "no-such-folder/gmon.out", NULL), CORRAL_ERR_UNSUPPORTED);
    p = profile_of(&track, &some, 1, 250);
    assert_int_equal(export_gmon(&p, "no-such-folder/gmon.out", NULL), CORRAL_ERR_IO);
    assert_int_equal(export_gmon(&p, "/dev/full", &c.d), CORRAL_ERR_IO);
    assert_int_equal(export_gmon(&p, "/dev/null", NULL), CORRAL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_little_endian),
        cmocka_unit_test(golden_big_endian),
        cmocka_unit_test(pointers_of_64_bits),
        cmocka_unit_test(a_record_is_repeated_for_counts_above_65535),
        cmocka_unit_test(counts_that_readers_cannot_add_up_are_refused),
        cmocka_unit_test(large_ranges_are_cut),
        cmocka_unit_test(ranges_are_merged),
        cmocka_unit_test(the_last_bin_of_the_address_space),
        cmocka_unit_test(rates),
        cmocka_unit_test(arcs_are_between_functions),
        cmocka_unit_test(losses_are_said),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
