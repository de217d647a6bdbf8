/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the control channel's text: the first byte says how the rest is cut into pieces, which must
 * not change a word of what is handed out. What the sink may rely on (prof/control.h) is checked at each
 * call.
 */
#include <string.h>

#include "base/text.h"
#include "fuzz_target.h"
#include "prof/control.h"

struct seen {
    uint64_t digest;
    uint64_t blocks, maps, modules, bad_lines;
    uint32_t in_block; /* maps and modules of this block */
    bool any_block;
};

static void mix(struct seen *s, const void *data, size_t size)
{
    const uint8_t *p = data;

    for (size_t i = 0; i < size; i++)
        s->digest = (s->digest ^ p[i]) * UINT64_C(0x100000001b3);
}

static void mix_text(struct seen *s, const char *text, size_t most)
{
    size_t length = strlen(text);

    FUZZ_CHECK(length <= most);
    mix(s, text, length + 1);
}

/* What was escaped is UTF-8 and holds nothing that a terminal would obey; a tab may stay. */
static void check_clean(const char *text)
{
    size_t size = strlen(text), n;
    uint32_t code;

    for (; size; text += n, size -= n) {
        n = text_utf8_decode((const uint8_t *)text, size, &code);
        FUZZ_CHECK(n > 0 && (code >= 0x20 || code == '\t') && (code < 0x7f || code > 0x9f));
    }
}

static void on_begin(void *ctx, uint32_t pid, const char *version)
{
    struct seen *s = ctx;

    s->blocks++;
    s->in_block = 0;
    s->any_block = true;
    FUZZ_CHECK((pid == 0) == (version != NULL));
    mix(s, &pid, sizeof(pid));
    if (version) {
        check_clean(version);
        mix_text(s, version, 4 * PROF_CONTROL_LINE_MAX);
    }
}

static void on_command(void *ctx, uint32_t pid, const char *command_line)
{
    struct seen *s = ctx;

    FUZZ_CHECK(s->any_block && pid != 0);
    check_clean(command_line);
    mix(s, &pid, sizeof(pid));
    mix_text(s, command_line, 4 * PROF_CONTROL_LINE_MAX);
}

static void on_map(void *ctx, uint32_t pid, const struct prof_control_map *map)
{
    struct seen *s = ctx;

    s->maps++;
    FUZZ_CHECK(s->any_block && ++s->in_block <= PROF_CONTROL_MAX_MAPS);
    FUZZ_CHECK(map->start < map->end && map->end <= UINT32_MAX && map->file_offset <= UINT32_MAX);
    FUZZ_CHECK(strlen(map->permissions) == 4);
    mix(s, &pid, sizeof(pid));
    mix(s, &map->start, 3 * sizeof(map->start));
    mix_text(s, map->permissions, 4);
    mix_text(s, map->path, PROF_CONTROL_LINE_MAX);
}

static void on_module(void *ctx, const struct prof_control_module *module)
{
    struct seen *s = ctx;

    s->modules++;
    FUZZ_CHECK(s->any_block && ++s->in_block <= PROF_CONTROL_MAX_MAPS);
    FUZZ_CHECK(module->name[0] && !strchr(module->name, ' ') && module->address <= UINT32_MAX);
    mix(s, &module->address, sizeof(module->address));
    mix(s, &module->size, sizeof(module->size));
    mix_text(s, module->name, PROF_CONTROL_LINE_MAX);
}

static void on_done(void *ctx, uint32_t pid, const char *reason)
{
    struct seen *s = ctx;

    FUZZ_CHECK(s->any_block && (!reason || reason[0]));
    mix(s, &pid, sizeof(pid));
    if (reason) {
        check_clean(reason);
        mix_text(s, reason, 4 * PROF_CONTROL_LINE_MAX);
    }
}

static void on_bad_line(void *ctx, const char *line)
{
    struct seen *s = ctx;

    s->bad_lines++;
    check_clean(line);
    mix_text(s, line, 4 * 64);
}

/* In pieces of pseudo-random sizes below `step`, each an allocation of its own; 0 = all at once. */
static uint64_t feed_all(const uint8_t *data, size_t size, unsigned step)
{
    struct seen seen = {0};
    const struct prof_control_sink sink = {.ctx = &seen,
                                           .begin = on_begin,
                                           .command = on_command,
                                           .map = on_map,
                                           .module = on_module,
                                           .done = on_done,
                                           .bad_line = on_bad_line};
    struct prof_control_text *t = prof_control_text_new(&sink);
    struct prof_control_counts counts;
    uint32_t random = step;

    FUZZ_CHECK(t);
    for (size_t at = 0, n; at < size; at += n) {
        random = random * 1664525 + 1013904223;
        n = step ? (random >> 16) % step : size;
        n = n < size - at ? n : size - at;
        uint8_t *piece = malloc(n ? n : 1);
        FUZZ_CHECK(piece);
        memcpy(piece, data + at, n);
        prof_control_text_feed(t, piece, n);
        free(piece);
    }
    prof_control_text_counts(t, &counts);
    FUZZ_CHECK(counts.blocks == seen.blocks && counts.maps == seen.maps && counts.modules == seen.modules &&
               counts.bad_lines == seen.bad_lines);
    mix(&seen, &counts, sizeof(counts));
    prof_control_text_free(t);
    return seen.digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    uint64_t whole = feed_all(data + 1, size - 1, 0);
    FUZZ_CHECK(whole == feed_all(data + 1, size - 1, 2 + data[0]));

    /* A sink that asks for nothing gets nothing. */
    struct prof_control_text *quiet = prof_control_text_new(&(struct prof_control_sink){0});
    FUZZ_CHECK(quiet);
    prof_control_text_feed(quiet, data + 1, size - 1);
    prof_control_text_free(quiet);
    return 0;
}
