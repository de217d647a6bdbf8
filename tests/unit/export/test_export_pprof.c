/* SPDX-License-Identifier: Apache-2.0 */
/* pprof files, unzipped and taken apart by a reader of this test's own (profiler sheet 10.2): exact bytes of
 * a small one, and what must hold of any: every number refers to something, and nothing is counted twice. */
#include "export_testing.h"

#include <inttypes.h>
#include <zlib.h>

#include "export/export_profile.h"

enum { ROOM = 8 << 20, MAX_STRINGS = 30000, MAX_COMMENTS = 4 };

struct field {
    unsigned number;
    uint64_t value;      /* of a varint, or the length */
    const uint8_t *body; /* NULL for a varint */
};

struct reading {
    const uint8_t *at, *end;
};

static uint64_t varint(struct reading *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        assert_true(r->at < r->end);
        value |= (uint64_t)(*r->at & 0x7F) << shift;
        if (!(*r->at++ & 0x80))
            return value;
    }
    fail_msg("a varint of more than ten bytes");
    return 0;
}

static bool next_field(struct reading *r, struct field *f)
{
    if (r->at == r->end)
        return false;
    uint64_t tag = varint(r);
    assert_true((tag & 7) == 0 || (tag & 7) == 2);
    *f = (struct field){.number = (unsigned)(tag >> 3), .value = varint(r)};
    if ((tag & 7) == 2) {
        assert_true(f->value <= (uint64_t)(r->end - r->at));
        f->body = r->at;
        r->at += f->value;
    }
    return true;
}

static struct reading inside(const struct field *f)
{
    assert_non_null(f->body);
    return (struct reading){f->body, f->body + f->value};
}

struct taken { /* what a file has */
    uint8_t *bytes;
    size_t size;
    size_t types, samples, mappings, locations, functions, strings;
    char *string[MAX_STRINGS];
    int64_t sum[2], columns;
    size_t labels;
    uint64_t default_type, period, time, duration, comments, comment[MAX_COMMENTS];
};

static void take_sample(struct taken *t, struct reading r, uint64_t *largest_location)
{
    struct field f;
    struct reading packed;
    size_t locations = 0;
    int64_t columns = 0;
    while (next_field(&r, &f)) {
        packed = f.number < 3 ? inside(&f) : (struct reading){NULL, NULL};
        if (f.number == 1)
            for (; packed.at < packed.end; locations++) {
                uint64_t id = varint(&packed);
                assert_int_not_equal(id, 0);
                *largest_location = id > *largest_location ? id : *largest_location;
            }
        else if (f.number == 2)
            for (; packed.at < packed.end; columns++)
                t->sum[columns] += (int64_t)varint(&packed);
        else
            t->labels++;
    }
    assert_true(locations > 0);
    assert_int_equal(columns, t->types);
    t->samples++;
}

static void take_location(struct taken *t, struct reading r, uint64_t *largest_function)
{
    struct field f;
    struct field line;
    size_t lines = 0;
    while (next_field(&r, &f)) {
        if (f.number == 1)
            assert_int_equal(f.value, t->locations + 1);
        if (f.number != 4)
            continue;
        struct reading in = inside(&f);
        assert_true(next_field(&in, &line));
        assert_int_equal(line.number, 1);
        assert_int_not_equal(line.value, 0);
        *largest_function = line.value > *largest_function ? line.value : *largest_function;
        lines++;
    }
    assert_true(lines > 0);
    t->locations++;
}

/* Writes, reads, takes apart. To be ended with drop(). */
static struct taken *take(const struct export_profile *profile)
{
    char folder[32];
    char path[64];
    struct diag d = DIAG_INIT;
    uint64_t largest_location = 0;
    uint64_t largest_function = 0;
    struct taken *t = calloc(1, sizeof(*t));
    assert_non_null(t);
    t->bytes = malloc(ROOM);
    assert_non_null(t->bytes);
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/p.pb.gz", folder);
    assert_int_equal(export_pprof(profile, path, &d), CORRAL_OK);
    assert_int_equal(entries_in(folder), 1);
    gzFile zip = gzopen(path, "rb");
    assert_non_null(zip);
    int n = gzread(zip, t->bytes, ROOM);
    assert_in_range(n, 1, ROOM - 1);
    assert_int_equal(gzdirect(zip), 0); /* it was zipped */
    assert_int_equal(gzclose(zip), Z_OK);
    remove_folder(folder, path);
    t->size = (size_t)n;
    struct reading r = {t->bytes, t->bytes + t->size};
    struct field f;
    while (next_field(&r, &f)) {
        t->types += f.number == 1;
        t->mappings += f.number == 3;
        t->functions += f.number == 5;
        if (f.number == 2)
            take_sample(t, inside(&f), &largest_location);
        else if (f.number == 4)
            take_location(t, inside(&f), &largest_function);
        else if (f.number == 9)
            t->time = f.value;
        else if (f.number == 10)
            t->duration = f.value;
        else if (f.number == 12)
            t->period = f.value;
        else if (f.number == 14)
            t->default_type = f.value;
        else if (f.number == 13 && t->comments < MAX_COMMENTS)
            t->comment[t->comments++] = f.value;
        else if (f.number == 6) {
            assert_true(t->strings < MAX_STRINGS);
            t->string[t->strings++] = strndup((const char *)f.body, f.value);
        }
    }
    assert_string_equal(t->string[0], "");
    assert_int_equal(largest_location, t->locations);
    assert_int_equal(largest_function, t->functions);
    assert_true(t->types >= 1);
    return t;
}

static void drop(struct taken *t)
{
    for (size_t i = 0; i < t->strings; i++)
        free(t->string[i]);
    free(t->bytes);
    free(t);
}

static void golden(void **state)
{
    (void)state;
    const struct export_mapping mapping = {
        .start = 0x1000, .limit = 0x2000, .path = "a.elf", .build_id = "ab", .has_lines = true};
    const struct export_frame frames[] = {
        {.name = "m", .file = "m.c", .line = 3, .address = 0x1002, .mapping = 0},
        {.name = "f", .file = "f.c", .line = 5, .address = 0x1100, .mapping = 0},
        {.name = "i", .file = "i.h", .line = 7, .address = 0x1100, .inlined = true, .mapping = 0}};
    const struct export_stack stack = {
        .frames = frames, .depth = 3, .count = 300, .i_blocked = 0, .d_blocked = 1, .thread = 0, .pid = 9};
    const struct export_track track = {"c", &stack, 1, 2, 1000};
    const struct export_profile profile = {.title = "t",
                                           .tracks = &track,
                                           .count = 1,
                                           .mappings = &mapping,
                                           .mapping_count = 1,
                                           .start_ns = 128,
                                           .seconds = 0.000000001,
                                           .note = NULL};
    static const char want[] =
        "\x0A\x04\x08\x01\x10\x02"                         /* samples/count */
        "\x0A\x04\x08\x03\x10\x04"                         /* cpu/nanoseconds */
        "\x5A\x04\x08\x03\x10\x04\x60\xC0\x84\x3D"         /* period: cpu, 1,000,000 ns */
        "\x70\x03\x48\x80\x01\x50\x01"                     /* default cpu, time, duration */
        "\x12\x25\x0A\x02\x01\x02"                         /* a sample: two locations, leaf first */
        "\x12\x07\xAB\x02\xC0\xC1\xC9\x8E\x01"             /* 299, and 299,000,000 ns */
        "\x1A\x04\x08\x05\x10\x0C\x1A\x04\x08\x06\x10\x0D" /* track c, thread 0 */
        "\x1A\x04\x08\x07\x10\x0E\x1A\x04\x08\x08\x10\x09" /* pid 9, state active */
        "\x12\x22\x0A\x02\x01\x02\x12\x04\x01\xC0\x84\x3D" /* the one that waited for data */
        "\x1A\x04\x08\x05\x10\x0C\x1A\x04\x08\x06\x10\x0D" /* */
        "\x1A\x04\x08\x07\x10\x0E\x1A\x04\x08\x08\x10\x0B" /* state d_blocked */
        "\x1A\x14\x08\x01\x10\x80\x20\x18\x80\x40\x28\x0F\x30\x10\x38\x01\x40\x01\x48\x01\x50\x01" /* a.elf */
        "\x22\x13\x08\x01\x10\x01\x18\x80\x22\x22\x04\x08\x01\x10\x07\x22\x04\x08\x02\x10\x05" /* i in f */
        "\x22\x0D\x08\x02\x10\x01\x18\x82\x20\x22\x04\x08\x03\x10\x03"                         /* m */
        "\x2A\x08\x08\x01\x10\x11\x18\x11\x20\x12\x2A\x08\x08\x02\x10\x13\x18\x13\x20\x14"
        "\x2A\x08\x08\x03\x10\x15\x18\x15\x20\x16\x68\x17"
        "\x32\x00\x32\x07samples\x32\x05"
        "count\x32\x03"
        "cpu\x32\x0Bnanoseconds\x32\x05track\x32\x06thread\x32\x03pid\x32\x05state\x32\x06"
        "active\x32\x09i_blocked\x32\x09"
        "d_blocked\x32\x01"
        "c\x32\x01"
        "0\x32\x01"
        "9\x32\x05"
        "a.elf\x32\x02"
        "ab\x32\x01i\x32\x03i.h\x32\x01"
        "f\x32\x03"
        "f.c\x32\x01m\x32\x03m.c"
        "\x32\x34"
        "2 packets lost, whose samples are missing here: c 2.";
    struct taken *t = take(&profile);
    for (size_t i = 0; i < sizeof(want) - 1 && i < t->size; i++)
        if (t->bytes[i] != (uint8_t)want[i])
            fail_msg("byte %zu is 0x%02x, not 0x%02x", i, t->bytes[i], (uint8_t)want[i]);
    assert_int_equal(t->size, sizeof(want) - 1);
    drop(t);
}

/* The same profile is the same file, byte for byte: there is no time of writing in it. */
static void files_are_reproducible(void **state)
{
    (void)state;
    const struct export_frame frame = {.name = "f", .mapping = -1};
    const struct export_stack stack = {&frame, 1, 3};
    const struct export_track track = {"c", &stack, 1, 0, 10};
    const struct export_profile profile = {.title = "t", .tracks = &track, .count = 1};
    char folder[32];
    char path[64];
    char *text[2];
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/p", folder);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(export_profile_as(&profile, "pprof", path, NULL), CORRAL_OK);
        text[i] = read_whole(path);
        assert_memory_equal(text[i], "\x1F\x8B\x08\x00\x00\x00\x00\x00", 8);
    }
    assert_memory_equal(text[0], text[1], 100);
    free(text[0]);
    free(text[1]);
    remove_folder(folder, path);
}

static void nothing_is_a_valid_profile(void **state)
{
    (void)state;
    const struct export_profile empty = {.title = "empty"};
    struct taken *t = take(&empty);
    assert_int_equal(t->types, 1);
    assert_int_equal(t->samples + t->comments + t->locations + t->functions, 0);
    assert_string_equal(t->string[t->default_type], "samples");
    drop(t);
    const struct export_track lost = {"c", NULL, 0, 7};
    const struct export_profile only_loss = {.title = "lost", .tracks = &lost, .count = 1};
    t = take(&only_loss);
    assert_int_equal(t->comments, 1);
    assert_string_equal(t->string[t->comment[0]], "7 packets lost, whose samples are missing here: c 7.");
    drop(t);
}

/* A wait for both caches is in both counts, and such counts may be wrong: a stack's samples stay what they
 * are. */
static void states_add_up_to_the_count(void **state)
{
    (void)state;
    const struct export_frame frame = {.name = "f", .mapping = -1};
    const struct export_stack stacks[] = {{&frame, 1, 10, 4, 3},
                                          {&frame, 1, 10, 8, 8},
                                          {&frame, 1, 10, 99, 99},
                                          {NULL, 0, 5, 0, 5},
                                          {&frame, 1, 0, 1, 1}};
    const struct export_track track = {"c", stacks, COUNT(stacks), 0, 0};
    const struct export_profile profile = {.title = "t", .tracks = &track, .count = 1};
    struct taken *t = take(&profile);
    assert_int_equal(t->types, 1);
    assert_int_equal(t->sum[0], 35);
    assert_int_equal(t->samples, 3 + 2 + 1 + 1);
    drop(t);
}

static void rates_are_never_guessed(void **state)
{
    (void)state;
    const struct export_frame frame = {.name = "f", .mapping = -1};
    const struct export_stack stack = {&frame, 1, 10};
    struct export_track tracks[] = {{"a", &stack, 1, 0, 1000}, {"b", &stack, 1, 0, 0}, {"c", NULL, 0, 0, 0}};
    const struct export_profile profile = {.title = "t", .tracks = tracks, .count = COUNT(tracks)};
    struct taken *t = take(&profile);
    assert_int_equal(t->types, 2);
    assert_int_equal(t->sum[1], 10000000); /* of the first only, and that is said */
    assert_int_equal(t->period, 0);
    assert_string_equal(t->string[t->default_type], "samples");
    assert_int_equal(t->comments, 1);
    assert_non_null(strstr(t->string[t->comment[0]], "cpu time is 0 for tracks"));
    drop(t);
    tracks[1].sampling_hz = 500;
    t = take(&profile);
    assert_int_equal(t->sum[1], 30000000);
    assert_int_equal(t->period, 0); /* there is no one period */
    assert_string_equal(t->string[t->default_type], "cpu");
    assert_int_equal(t->comments, 0);
    drop(t);
}

/* Readers add up in 64 bits with a sign. */
static void large_counts_are_cut_and_said(void **state)
{
    (void)state;
    static const struct {
        uint64_t a, b;
        double hz;
        int64_t samples, ns;
        bool said;
    } rows[] = {{(UINT64_C(1) << 53) + 1, 1, 0, (INT64_C(1) << 53) + 2, 0, false},
                {INT64_MAX, 0, 0, INT64_MAX, 0, false},
                {INT64_MAX, 1, 0, INT64_MAX, 0, true},
                {UINT64_MAX, UINT64_MAX, 0, INT64_MAX, 0, true},
                {UINT64_C(1) << 60, 1, 1000, (INT64_C(1) << 60) + 1, INT64_MAX, true},
                {1, 1, 1e-300, 2, INT64_MAX, true},
                {1, 1, 1e300, 2, 0, false}};
    const struct export_frame frames[] = {{.name = "a", .mapping = -1}, {.name = "b", .mapping = -1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct export_stack stacks[] = {{&frames[0], 1, rows[i].a}, {&frames[1], 1, rows[i].b}};
        const struct export_track track = {"c", stacks, 2, 0, rows[i].hz};
        const struct export_profile profile = {.title = "t", .tracks = &track, .count = 1};
        struct taken *t = take(&profile);
        assert_int_equal(t->sum[0], rows[i].samples);
        assert_int_equal(t->sum[1], rows[i].ns);
        assert_int_equal(t->comments, rows[i].said);
        drop(t);
    }
}

/* Names that are no UTF-8, or act on a terminal, are text; those that are equal then are one string. */
static void strings_are_clean(void **state)
{
    (void)state;
    const struct export_frame frames[] = {{.name = "\xFF\x1B[2J", .mapping = -1},
                                          {.name = "\\xff\\x1b[2J", .file = "\n", .mapping = 7},
                                          {.name = "", .file = "", .mapping = -5}};
    const struct export_stack stack = {frames, 3, 1};
    const struct export_track track = {"c\x07", &stack, 1, 0, 0};
    const struct export_profile profile = {.title = "t", .tracks = &track, .count = 1, .note = "\x9B"};
    struct taken *t = take(&profile);
    size_t seen = 0;
    for (size_t i = 0; i < t->strings; i++) {
        seen += strcmp(t->string[i], "\\xff\\x1b[2J") == 0;
        for (const char *c = t->string[i]; *c; c++)
            assert_in_range(*c, 0x20, 0x7E);
    }
    assert_int_equal(seen, 1);
    assert_int_equal(t->functions, 3);
    drop(t);
}

static void ten_thousand_functions(void **state)
{
    (void)state;
    enum { MANY = 10000 };
    struct export_frame(*frames)[2] = calloc(MANY, sizeof(*frames));
    struct export_stack *stacks = calloc(2 * MANY, sizeof(*stacks));
    char(*names)[16] = calloc(MANY, sizeof(*names));
    assert_true(frames && stacks && names);
    for (size_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "f%zu", i);
        frames[i][0] =
            (struct export_frame){.name = names[i / 100], .file = "a.c", .address = 4, .mapping = -1};
        frames[i][1] =
            (struct export_frame){.name = names[i], .file = "a.c", .address = i * 8, .mapping = -1};
        stacks[i] = stacks[MANY + i] = (struct export_stack){frames[i], 2, 3};
    }
    const struct export_track track = {"c", stacks, 2 * (size_t)MANY, 0, 1000};
    const struct export_profile profile = {.title = "t", .tracks = &track, .count = 1};
    struct taken *t = take(&profile);
    assert_int_equal(t->samples, 2 * MANY);
    assert_int_equal(t->sum[0], 6 * MANY);
    assert_int_equal(t->functions, MANY);
    assert_int_equal(t->locations, MANY + MANY / 100);
    drop(t);
    free(frames);
    free(stacks);
    free(names);
}

static void formats_have_names(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    const struct export_profile empty = {.title = "empty"};
    static const char *const formats[] = {"folded", "speedscope", "pprof", "svg"};
    for (size_t i = 0; i < COUNT(formats); i++)
        assert_int_equal(export_profile_as(&empty, formats[i], "/dev/null", &d), CORRAL_OK);
    assert_int_equal(export_profile_as(&empty, "gmon", "/dev/null", &d), CORRAL_ERR_UNSUPPORTED);
    assert_int_equal(export_profile_as(&empty, "Pprof", "/dev/null", &d), CORRAL_ERR_USAGE);
    assert_non_null(strstr(d.hint, "folded, speedscope, pprof, gmon and svg"));
    assert_int_equal(export_profile_as(&empty, "", "/dev/null", NULL), CORRAL_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),
        cmocka_unit_test(files_are_reproducible),
        cmocka_unit_test(nothing_is_a_valid_profile),
        cmocka_unit_test(states_add_up_to_the_count),
        cmocka_unit_test(rates_are_never_guessed),
        cmocka_unit_test(large_counts_are_cut_and_said),
        cmocka_unit_test(strings_are_clean),
        cmocka_unit_test(ten_thousand_functions),
        cmocka_unit_test(formats_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
