/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed profiles for the programs that read what Corral exports. Usage: export_samples PROFILE FORMAT FILE.
 * The addresses of "board" are those of exports.ld. Says on standard output what the exporter said; the exit
 * code is 1 when it refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export_profile.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { FAST = 0x10000000, TEXT = 0x20000000, STEP = 0x40 };

static const struct export_mapping board_mappings[] = {
    {.start = FAST,
     .limit = FAST + 3 * STEP,
     .file_offset = 0x1000,
     .path = "exports.elf",
     .build_id = "c0ffee",
     .has_lines = true},
    {.start = TEXT,
     .limit = TEXT + 4 * STEP,
     .file_offset = 0x2000,
     .path = "exports.elf",
     .build_id = "c0ffee",
     .has_lines = true},
};

#define AT_MAIN                                                                                \
    {                                                                                          \
        .name = "main", .file = "app/main.c", .line = 12, .address = TEXT + 0x10, .mapping = 1 \
    }
#define AT_POLL(a)                                                                                \
    {                                                                                             \
        .name = "net_poll", .file = "net/poll.c", .line = 40 + (a), .address = TEXT + STEP + (a), \
        .mapping = 1                                                                              \
    }
#define AT_SUM(a)                                                                                         \
    {                                                                                                     \
        .name = "checksum", .file = "net/sum.c", .line = 7 + (a) / 4, .address = FAST + (a), .mapping = 0 \
    }
#define IN_SUM(a)                                                                                      \
    {                                                                                                  \
        .name = "add_carry", .file = "net/carry.h", .line = 3, .address = FAST + (a), .inlined = true, \
        .mapping = 0                                                                                   \
    }

static const struct export_frame sum_4[] = {AT_MAIN, AT_POLL(8), AT_SUM(4)};
static const struct export_frame sum_8[] = {AT_MAIN, AT_POLL(8), AT_SUM(8), IN_SUM(8)};
static const struct export_frame poll[] = {AT_MAIN, AT_POLL(12)};
static const struct export_frame copy[] = {
    AT_MAIN, {.name = "fast_copy", .file = "lib/copy.S", .line = 3, .address = FAST + STEP, .mapping = 0}};
static const struct export_frame idle[] = {
    {.name = "idle", .file = "app/idle.c", .line = 5, .address = TEXT + 2 * STEP + 2, .mapping = 1}};
static const struct export_frame unknown[] = {{.name = "[unknown]", .address = 0x60000000, .mapping = -1}};

static const struct export_stack core0[] = {
    {.frames = sum_4, .depth = 3, .count = 200000, .i_blocked = 1000, .d_blocked = 60000, .thread = 0},
    {.frames = sum_8, .depth = 4, .count = 70000, .thread = 0, .pid = 77},
    {.frames = poll, .depth = 2, .count = 100000, .i_blocked = 25000, .thread = 0},
    {.frames = copy, .depth = 2, .count = 30000, .d_blocked = 30000, .thread = 1},
};
static const struct export_stack core1[] = {
    {.frames = idle, .depth = 1, .count = 95000, .thread = 0},
    {.frames = poll, .depth = 2, .count = 4000, .thread = 0},
    {.frames = unknown, .depth = 1, .count = 1000, .thread = -1},
};
static const struct export_track board_tracks[] = {
    {"core0", core0, COUNT(core0), 0, 1000},
    {"core1", core1, COUNT(core1), 3, 1000},
    {"core2", NULL, 0, 1, 1000},
};
static const struct export_profile board = {.title = "board: net firmware",
                                            .tracks = board_tracks,
                                            .count = COUNT(board_tracks),
                                            .mappings = board_mappings,
                                            .mapping_count = COUNT(board_mappings),
                                            .start_ns = 1764525600000000000,
                                            .seconds = 400,
                                            .note = "1 % of core1's samples lie in no image."};

/* Names that want to be something else. */
static const struct export_frame nasty[] = {
    {.name = "</text></svg><script>alert(1)</script>",
     .file = "\"onload=alert(2) a='",
     .line = 1,
     .mapping = -1},
    {.name = "]]>&amp;&lt;<![CDATA[", .file = "<a>.c", .line = 2, .mapping = -1},
    {.name = "semi;colon\nnew line\r\ttab", .mapping = -1},
    {.name = "\x1B[31mred\x07 \x01\x7F", .mapping = -1},
    {.name = "bad \xFF\xC3 \xED\xA0\x80 utf \xEF\xBF\xBE", .mapping = -1},
    {.name = "\xE2\x80\xAE"
             "desrever \xE2\x82\xAC \xF0\x9F\x94\xA5",
     .mapping = -1},
    {.name = "operator()(int, char const*) [clone .part.0] 12", .mapping = -1},
    {.name = "%s%n%n", .file = "../../etc/%n", .line = 4294967295u, .mapping = -1},
    {.name = "", .file = "", .mapping = -1},
};
static const struct export_stack nasty_stacks[] = {
    {.frames = nasty, .depth = COUNT(nasty), .count = 11, .thread = 0},
    {.frames = nasty + 1, .depth = 3, .count = 7, .thread = 11},
    {.frames = NULL, .depth = 0, .count = 2, .thread = -1}};
static const struct export_track nasty_tracks[] = {
    {"core<0>;&\n 7", nasty_stacks, COUNT(nasty_stacks), 2, 0}};
static const struct export_profile hostile = {.title = "<b>\"title\"</b> & 'co' ]]>",
                                              .tracks = nasty_tracks,
                                              .count = 1,
                                              .note = "note <i>with</i> & ]]> \x1B[0m \xFF"};

static const struct export_profile empty = {.title = "empty"};

/* "board" with images of another kind, or without what it knows; false when there is no such variant. */
static bool write_variant(const char *name, const char *format, const char *path, enum corral_err *err,
                          struct diag *d)
{
    struct export_mapping mappings[COUNT(board_mappings)];
    struct export_track tracks[COUNT(board_tracks)];
    struct export_profile variant = board;
    memcpy(mappings, board_mappings, sizeof(mappings));
    memcpy(tracks, board_tracks, sizeof(tracks));
    variant.mappings = mappings;
    variant.tracks = tracks;
    for (size_t i = 0; i < COUNT(mappings); i++) {
        mappings[i].big_endian = strcmp(name, "board-big-endian") == 0;
        mappings[i].wide = strcmp(name, "board-wide") == 0;
        if (strcmp(name, "board-sparse") == 0)
            mappings[i].limit = mappings[i].start + 0x08000000;
    }
    for (size_t i = 0; i < COUNT(tracks); i++)
        if (strcmp(name, "board-no-rate") == 0)
            tracks[i].sampling_hz = 0;
    if (strncmp(name, "board", strlen("board")) != 0)
        return false;
    *err = export_profile_as(&variant, format, path, d);
    return true;
}

/* 10,000 functions, a hundred each a caller; the rest is a long tail. */
static enum corral_err write_many(const char *format, const char *path, struct diag *d)
{
    enum { FUNCTIONS = 10000, CALLERS = 100 };
    static struct export_frame frames[FUNCTIONS][3];
    static struct export_stack stacks[FUNCTIONS];
    static char names[FUNCTIONS][32];
    static char files[CALLERS][16];
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        unsigned c = i % CALLERS;
        snprintf(names[i], sizeof(names[i]), "function_%u", i);
        snprintf(files[c], sizeof(files[c]), "part%u.c", c);
        frames[i][0] = (struct export_frame){
            .name = "main", .file = "main.c", .line = 1, .address = TEXT, .mapping = -1};
        frames[i][1] = (struct export_frame){
            .name = names[c], .file = files[c], .line = c + 1, .address = TEXT + c * 16, .mapping = -1};
        frames[i][2] = (struct export_frame){
            .name = names[i], .file = files[c], .line = i + 1, .address = TEXT + i * 16, .mapping = -1};
        stacks[i] = (struct export_stack){.frames = frames[i],
                                          .depth = i < CALLERS ? 2 : 3,
                                          .count = 1 + 1000000 / (i + 1) / (c + 1),
                                          .thread = 0};
        if (i < CALLERS)
            frames[i][1] = frames[i][2];
    }
    const struct export_track track = {"core0", stacks, FUNCTIONS, 0, 997};
    const struct export_profile many = {.title = "many", .tracks = &track, .count = 1};
    return export_profile_as(&many, format, path, d);
}

/* Counts at the edges of what readers can hold. */
static enum corral_err write_large(const char *format, const char *path, struct diag *d)
{
    static const struct export_frame a[] = {{.name = "a", .mapping = -1}};
    static const struct export_frame b[] = {{.name = "b", .mapping = -1}};
    static const struct export_stack stacks[] = {
        {.frames = a, .depth = 1, .count = (UINT64_C(1) << 53) + 1, .thread = 0},
        {.frames = b, .depth = 1, .count = UINT64_MAX, .thread = 0}};
    const struct export_track track = {"core0", stacks, 2, 0, 1000};
    const struct export_profile large = {.title = "large", .tracks = &track, .count = 1};
    return export_profile_as(&large, format, path, d);
}

int main(int argc, char **argv)
{
    struct diag d = DIAG_INIT;
    enum corral_err err = CORRAL_ERR_USAGE;
    if (argc != 4) {
        fprintf(stderr, "usage: export_samples PROFILE FORMAT FILE\n");
        return 2;
    }
    bool done = write_variant(argv[1], argv[2], argv[3], &err, &d);
    if (!done && strcmp(argv[1], "hostile") == 0)
        err = export_profile_as(&hostile, argv[2], argv[3], &d);
    else if (strcmp(argv[1], "empty") == 0)
        err = export_profile_as(&empty, argv[2], argv[3], &d);
    else if (strcmp(argv[1], "many") == 0)
        err = write_many(argv[2], argv[3], &d);
    else if (strcmp(argv[1], "large") == 0)
        err = write_large(argv[2], argv[3], &d);
    printf("%s\n", d.message);
    return err == CORRAL_OK ? 0 : 1;
}
