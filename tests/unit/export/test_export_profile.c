/* SPDX-License-Identifier: Apache-2.0 */
/* Folded stacks and speedscope files: read back by parsing, with names that want to break the format, empty
 * profiles, losses, and places that cannot be written. */
#include "export_testing.h"

#include "export/export_profile.h"

static const struct export_frame plain[] = {
    {"main", "main.c", 10}, {"work", "work.c", 20}, {"crc32", NULL, 0}};
static const struct export_frame nasty[] = {
    {"a;b", "dir \"x\"\\y.c", 1}, {"line\nbreak\r\t", NULL, 0},          {"ends in 12", NULL, 0},
    {"", "h\xC3\xA4us.c", 2},     {"op\"quote\\ \xE2\x82\xAC", NULL, 0}, {"bad \xFF\xC3 utf", NULL, 0},
};
static const struct export_stack core0_stacks[] = {
    {plain, 3, 41}, {plain, 2, 1}, {nasty, COUNT(nasty), 7}, {plain, 1, 0}};
static const struct export_stack core1_stacks[] = {{plain, 2, 5}, {NULL, 0, 2}};
static const struct export_track tracks[] = {
    {"core0", core0_stacks, COUNT(core0_stacks), 0},
    {"core1", core1_stacks, COUNT(core1_stacks), 3},
    {"idle one", NULL, 0, 1},
};
static const struct export_profile profile = {"title \"q\"", tracks, COUNT(tracks)};
static const struct export_profile empty = {"empty", NULL, 0};

static void folded_lines_are_exact(void **state)
{
    (void)state;
    char folder[32];
    char path[64];
    struct diag d = DIAG_INIT;
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/p.folded", folder);
    assert_int_equal(export_folded(&profile, path, &d), CORRAL_OK);
    assert_int_equal(entries_in(folder), 1);
    char *text = read_whole(path);
    assert_string_equal(text,
                        "core0;main;work;crc32 41\n"
                        "core0;main;work 1\n"
                        "core0;a:b;line break  ;ends in_12;?;op\"quote\\ \xE2\x82\xAC;bad \xFF\xC3 utf 7\n"
                        "core1 (3 packets lost);main;work 5\n"
                        "core1 (3 packets lost) 2\n"
                        "idle one (1 packet lost) 0\n");
    assert_null(strstr(text, "[lost"));
    free(text);
    assert_int_equal(export_folded(&empty, path, &d), CORRAL_OK);
    text = read_whole(path);
    assert_string_equal(text, "");
    free(text);
    remove_folder(folder, path);
}

static void folded_final_numbers_are_no_second_count(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *want;
    } names[] = {{"f 1", "f_1"},     {"f 1.5", "f_1.5"},
                 {"f 1 2", "f 1_2"}, {"f1", "f1"},
                 {"12", "12"},       {" 12", "_12"},
                 {"f 1x", "f 1x"},   {"f  3", "f _3"},
                 {"f ", "f "},       {"operator new", "operator new"},
                 {"f\v7", "f_7"}};
    char folder[32];
    char path[64];
    struct diag d = DIAG_INIT;
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/p.folded", folder);
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct export_frame frame = {names[i].name, NULL, 0};
        const struct export_stack stack = {&frame, 1, 9};
        const struct export_track track = {"t", &stack, 1, 0};
        const struct export_profile one = {"one", &track, 1};
        assert_int_equal(export_folded(&one, path, &d), CORRAL_OK);
        char want[64];
        snprintf(want, sizeof(want), "t;%s 9\n", names[i].want);
        char *text = read_whole(path);
        assert_string_equal(text, want);
        free(text);
    }
    remove_folder(folder, path);
}

/* The fields that the published schema requires, and what ties them together. */
static void check_speedscope(const json_t *root, size_t profiles)
{
    size_t i;
    size_t k;
    size_t n;
    const json_t *p;
    const json_t *stack;
    const json_t *frame;
    assert_string_equal(json_string_value(json_object_get(root, "$schema")),
                        "https://www.speedscope.app/file-format-schema.json");
    assert_true(json_is_string(json_object_get(root, "exporter")));
    const json_t *frames = json_object_get(json_object_get(root, "shared"), "frames");
    assert_true(json_is_array(frames));
    json_array_foreach(frames, i, frame)
    {
        assert_true(json_is_string(json_object_get(frame, "name")));
        if (json_object_get(frame, "line"))
            assert_true(json_is_integer(json_object_get(frame, "line")));
    }
    const json_t *list = json_object_get(root, "profiles");
    assert_int_equal(json_array_size(list), profiles);
    assert_in_range(json_integer_value(json_object_get(root, "activeProfileIndex")), 0, profiles - 1);
    json_array_foreach(list, i, p)
    {
        assert_string_equal(json_string_value(json_object_get(p, "type")), "sampled");
        assert_true(json_is_string(json_object_get(p, "name")));
        assert_string_equal(json_string_value(json_object_get(p, "unit")), "none");
        const json_t *samples = json_object_get(p, "samples");
        const json_t *weights = json_object_get(p, "weights");
        assert_true(json_is_array(samples) && json_is_array(weights));
        assert_int_equal(json_array_size(samples), json_array_size(weights));
        json_int_t total = 0;
        json_array_foreach(samples, k, stack)
        {
            json_array_foreach(stack, n, frame)
                assert_in_range(json_integer_value(frame), 0, json_array_size(frames) - 1);
            total += json_integer_value(json_array_get(weights, k));
        }
        assert_int_equal(json_integer_value(json_object_get(p, "startValue")), 0);
        assert_int_equal(json_integer_value(json_object_get(p, "endValue")), total);
    }
}

static void speedscope_holds_every_stack(void **state)
{
    (void)state;
    char folder[32];
    char path[64];
    struct diag d = DIAG_INIT;
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/p.speedscope.json", folder);
    assert_int_equal(export_speedscope(&profile, path, &d), CORRAL_OK);
    assert_int_equal(entries_in(folder), 1);
    json_t *root = read_json(path);
    check_speedscope(root, 3);
    assert_string_equal(json_string_value(json_object_get(root, "name")), "title \"q\" (4 packets lost)");
    const json_t *frames = json_object_get(json_object_get(root, "shared"), "frames");
    assert_int_equal(json_array_size(frames), 9); /* each distinct frame once */
    const json_t *list = json_object_get(root, "profiles");
    for (size_t t = 0; t < COUNT(tracks); t++) {
        const json_t *p = json_array_get(list, t);
        const json_t *samples = json_object_get(p, "samples");
        assert_int_equal(json_array_size(samples), tracks[t].count);
        for (size_t i = 0; i < tracks[t].count; i++) {
            const struct export_stack *stack = &tracks[t].stacks[i];
            const json_t *sample = json_array_get(samples, i);
            assert_int_equal(json_integer_value(json_array_get(json_object_get(p, "weights"), i)),
                             stack->count);
            assert_int_equal(json_array_size(sample), stack->depth);
            for (size_t k = 0; k < stack->depth; k++) {
                size_t at = (size_t)json_integer_value(json_array_get(sample, k));
                const json_t *frame = json_array_get(frames, at);
                const char *name = json_string_value(json_object_get(frame, "name"));
                if (strcmp(stack->frames[k].name, "bad \xFF\xC3 utf") == 0)
                    assert_string_equal(name, "bad \\xff\\xc3 utf");
                else
                    assert_string_equal(name, stack->frames[k].name);
                const char *file = json_string_value(json_object_get(frame, "file"));
                if (stack->frames[k].file)
                    assert_string_equal(file, stack->frames[k].file);
                else
                    assert_null(file);
                assert_int_equal(json_integer_value(json_object_get(frame, "line")), stack->frames[k].line);
            }
        }
    }
    static const char *const names[] = {"core0", "core1 (3 packets lost)", "idle one (1 packet lost)"};
    for (size_t t = 0; t < COUNT(names); t++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(list, t), "name")), names[t]);
    json_decref(root);
    remove_folder(folder, path);
}

static void speedscope_of_nothing_is_still_a_profile(void **state)
{
    (void)state;
    char folder[32];
    char path[64];
    struct diag d = DIAG_INIT;
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/p.json", folder);
    assert_int_equal(export_speedscope(&empty, path, &d), CORRAL_OK);
    json_t *root = read_json(path);
    check_speedscope(root, 1);
    json_decref(root);
    remove_folder(folder, path);
}

static void many_frames_stay_distinct(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    struct export_frame *frames = calloc(MANY, sizeof(*frames));
    struct export_stack *stacks = calloc(MANY, sizeof(*stacks));
    char(*names)[16] = calloc(MANY, sizeof(*names));
    for (size_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "f%zu", i / 2);
        frames[i] = (struct export_frame){names[i], i % 2 ? "b.c" : "a.c", (uint32_t)i};
        stacks[i] = (struct export_stack){&frames[i], 1, i};
    }
    /* The same functions at other lines are the same frames, and the lowest line stands for them. */
    struct export_frame again = frames[6];
    again.line = 1000000;
    const struct export_stack once_more = {&again, 1, 5};
    const struct export_track track = {"t", stacks, MANY, 0};
    const struct export_track both[] = {{"u", &once_more, 1, 0}, track};
    const struct export_profile big = {"big", both, 2};
    char folder[32];
    char path[64];
    struct diag d = DIAG_INIT;
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/p.json", folder);
    assert_int_equal(export_speedscope(&big, path, &d), CORRAL_OK);
    json_t *root = read_json(path);
    check_speedscope(root, 2);
    const json_t *frames_out = json_object_get(json_object_get(root, "shared"), "frames");
    assert_int_equal(json_array_size(frames_out), MANY);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(frames_out, 0), "line")), 6);
    json_decref(root);
    remove_folder(folder, path);
    free(frames);
    free(stacks);
    free(names);
}

/* One sentence, the right code, nothing left; and what was there before stays as it was. */
static void what_cannot_be_written_leaves_nothing(void **state)
{
    (void)state;
    typedef enum corral_err export(const struct export_profile *, const char *, struct diag *);
    static export *const exports[] = {export_folded, export_speedscope, export_pprof, export_svg};
    for (size_t i = 0; i < COUNT(exports); i++) {
        struct diag d = DIAG_INIT;
        assert_int_equal(exports[i](&profile, "no-such-folder/p", &d), CORRAL_ERR_IO);
        assert_non_null(strstr(d.message, "no-such-folder/p"));
        assert_int_equal(exports[i](&profile, "/dev/full", &d), CORRAL_ERR_IO);
        assert_non_null(strstr(d.message, "/dev/full"));
        assert_int_equal(access("/dev/full", F_OK), 0);
        assert_int_equal(exports[i](&profile, "/dev/null", &d), CORRAL_OK); /* not replaced by a file */
        struct stat st;
        assert_int_equal(stat("/dev/null", &st), 0);
        assert_true(S_ISCHR(st.st_mode));
        assert_int_equal(exports[i](&profile, ".", &d), CORRAL_ERR_IO);
        assert_int_equal(exports[i](&profile, "no-such-folder/p", NULL), CORRAL_ERR_IO);

        char folder[32];
        char path[64];
        make_folder(folder);
        snprintf(path, sizeof(path), "%s/p", folder);
        assert_int_equal(exports[i](&profile, path, &d), CORRAL_OK);
        assert_int_equal(exports[i](&profile, path, &d), CORRAL_OK); /* again, over the first */
        assert_int_equal(entries_in(folder), 1);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0400, 0400);
        remove_folder(folder, path);
    }
}

/* Samples that had no room in the table are in no stack: the file must not look whole. */
static void samples_without_a_place_are_said(void **state)
{
    (void)state;
    static const struct export_track full[] = {
        {.name = "core0", .stacks = core0_stacks, .count = 1, .lost_packets = 2, .unplaced = 9},
        {.name = "core1", .stacks = core1_stacks, .count = 1, .unplaced = 1},
        {.name = "core2", .unplaced = 5},
    };
    static const struct export_profile overfull = {"t", full, COUNT(full)};
    char folder[32], path[64];
    struct diag d = DIAG_INIT;
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/p", folder);
    assert_int_equal(export_folded(&overfull, path, &d), CORRAL_OK);
    char *text = read_whole(path);
    assert_string_equal(text, "core0 (2 packets lost, 9 samples without a place);main;work;crc32 41\n"
                              "core1 (1 sample without a place);main;work 5\n"
                              "core2 (5 samples without a place) 0\n");
    free(text);
    assert_int_equal(export_speedscope(&overfull, path, &d), CORRAL_OK);
    json_t *root = read_json(path);
    assert_string_equal(json_string_value(json_object_get(root, "name")),
                        "t (2 packets lost, 15 samples without a place)");
    const json_t *first = json_array_get(json_object_get(root, "profiles"), 0);
    assert_string_equal(json_string_value(json_object_get(first, "name")),
                        "core0 (2 packets lost, 9 samples without a place)");
    json_decref(root);
    remove_folder(folder, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_lines_are_exact),
        cmocka_unit_test(folded_final_numbers_are_no_second_count),
        cmocka_unit_test(samples_without_a_place_are_said),
        cmocka_unit_test(speedscope_holds_every_stack),
        cmocka_unit_test(speedscope_of_nothing_is_still_a_profile),
        cmocka_unit_test(many_frames_stay_distinct),
        cmocka_unit_test(what_cannot_be_written_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
