/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text that a profiler daemon answers with: bytes to lines to the blocks of profiler sheet 6; hostile
 * inputs of section 11, rows 61 and 62. Pure: no sockets, no clocks. Must not believe that a block is whole,
 * that it was asked for, or that a line is text.
 */
#include "prof/control.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct prof_control_text {
    struct prof_control_sink sink;
    struct prof_control_counts counts;
    size_t used;
    bool dropping;        /* the line was too long: to its LF nothing counts */
    bool has_nul;         /* in the line so far */
    bool in_block;        /* a PID line came */
    bool expects_command; /* the next line is a process's command line, whatever it looks like */
    uint32_t pid;
    uint32_t maps; /* of this block */
    char line[PROF_CONTROL_LINE_MAX + 1];
};

struct prof_control_text *prof_control_text_new(const struct prof_control_sink *sink)
{
    struct prof_control_text *t = calloc(1, sizeof(*t));

    if (t)
        t->sink = *sink;
    return t;
}

void prof_control_text_free(struct prof_control_text *t)
{
    free(t);
}

static void bad_line(struct prof_control_text *t)
{
    char clean[TEXT_CLEAN_MAX(64)];

    t->counts.bad_lines++;
    if (!t->sink.bad_line)
        return;
    text_escape((const uint8_t *)t->line, strnlen(t->line, 64), clean, sizeof(clean));
    t->sink.bad_line(t->sink.ctx, clean);
}

/* At most `digits` digits of base 10 or 16, and at least one. Moves *at behind them. */
static bool take_number(const char **at, unsigned base, unsigned digits, uint64_t *value)
{
    const char *p = *at;
    uint64_t v = 0;
    unsigned n = 0;

    for (; isxdigit((unsigned char)*p) && (base == 16 || isdigit((unsigned char)*p)); p++, n++) {
        unsigned digit = isdigit((unsigned char)*p) ? (unsigned)(*p - '0')
                                                    : (unsigned)(tolower((unsigned char)*p) - 'a') + 10;
        if (n >= digits)
            return false;
        v = v * base + digit;
    }
    *value = v;
    *at = p;
    return n > 0;
}

static bool take_char(const char **at, char c)
{
    if (**at != c)
        return false;
    ++*at;
    return true;
}

static void skip_blanks(const char **at)
{
    while (**at == ' ' || **at == '\t')
        ++*at;
}

/* One word, which may be anything but blank; false when there is none. */
static bool skip_word(const char **at)
{
    skip_blanks(at);
    const char *begin = *at;
    while (**at && **at != ' ' && **at != '\t')
        ++*at;
    return *at != begin;
}

/* "PID:<n>" or "PID:0 <version>" */
static bool take_pid(struct prof_control_text *t)
{
    const char *at = t->line + 4;
    uint64_t pid;

    if (!take_number(&at, 10, 10, &pid) || pid > UINT32_MAX - 1 || (*at != '\0' && *at != ' '))
        return false;
    skip_blanks(&at);
    t->in_block = true;
    t->pid = (uint32_t)pid;
    t->expects_command = pid != 0;
    t->maps = 0;
    t->counts.blocks++;
    if (t->sink.begin) {
        char clean[TEXT_CLEAN_MAX(PROF_CONTROL_LINE_MAX)];
        text_escape((const uint8_t *)at, strlen(at), clean, sizeof(clean));
        t->sink.begin(t->sink.ctx, t->pid, pid == 0 ? clean : NULL);
    }
    return true;
}

/* "done" or "done - <reason>" */
static bool is_done(const char *line)
{
    return strcmp(line, "done") == 0 || strncmp(line, "done -", 6) == 0;
}

/* The block may go on: a target without MMU sends PID 0's in two parts with a "done" each. */
static void take_done(struct prof_control_text *t)
{
    const char *reason = t->line + 4;

    t->expects_command = false;
    while (*reason == ' ' || *reason == '-')
        reason++;
    if (t->sink.done) {
        char clean[TEXT_CLEAN_MAX(PROF_CONTROL_LINE_MAX)];
        text_escape((const uint8_t *)reason, strlen(reason), clean, sizeof(clean));
        t->sink.done(t->sink.ctx, t->pid, clean[0] ? clean : NULL);
    }
}

/* "<hex>-<hex> rwxp <hexoffset> <dev> <inode> <path>". The targets have 32-bit addresses. */
static bool take_map(struct prof_control_text *t)
{
    const char *at = t->line;
    struct prof_control_map map = {0};

    if (!take_number(&at, 16, 8, &map.start) || !take_char(&at, '-') || !take_number(&at, 16, 8, &map.end) ||
        !take_char(&at, ' ') || map.end <= map.start)
        return false;
    skip_blanks(&at);
    for (size_t i = 0; i < 4; i++, at++) {
        if (*at == '\0' || *at == ' ')
            return false;
        map.permissions[i] = *at;
    }
    if (!take_char(&at, ' '))
        return false;
    skip_blanks(&at);
    if (!take_number(&at, 16, 8, &map.file_offset) || !skip_word(&at) || !skip_word(&at))
        return false;
    skip_blanks(&at);
    map.path = at;
    if (t->maps >= PROF_CONTROL_MAX_MAPS) {
        t->counts.ignored++;
        return true;
    }
    t->maps++;
    t->counts.maps++;
    if (t->sink.map)
        t->sink.map(t->sink.ctx, t->pid, &map);
    return true;
}

/* "<name> <size> <refs> <deps> <state> 0x<addr> ..." */
static bool take_module(struct prof_control_text *t)
{
    const char *at = t->line;
    struct prof_control_module module = {.name = t->line};

    if (*at == ' ' || *at == '\t' || !skip_word(&at) || *at == '\0') /* a name begins its line */
        return false;
    t->line[at - t->line] = '\0';
    at++;
    skip_blanks(&at);
    bool good = take_number(&at, 10, 10, &module.size) && *at == ' ' && skip_word(&at) && skip_word(&at) &&
                skip_word(&at);
    if (good) {
        skip_blanks(&at);
        good = take_char(&at, '0') && take_char(&at, 'x') && take_number(&at, 16, 8, &module.address);
    }
    if (!good)
        return false;
    if (t->maps >= PROF_CONTROL_MAX_MAPS) {
        t->counts.ignored++;
        return true;
    }
    t->maps++;
    t->counts.modules++;
    if (t->sink.module)
        t->sink.module(t->sink.ctx, &module);
    return true;
}

/* Does the line begin like "hex-hex"? A module's name may hold a '-', but not behind hex digits alone. */
static bool looks_like_map(const char *line)
{
    size_t digits = strspn(line, "0123456789abcdefABCDEF");

    return digits > 0 && line[digits] == '-';
}

static void take_line(struct prof_control_text *t)
{
    if (t->expects_command && !(t->used >= 6 && is_done(t->line))) {
        t->expects_command = false;
        for (size_t i = 0; i < t->used; i++)
            t->line[i] = t->line[i] ? t->line[i] : ' ';
        if (t->sink.command) {
            char clean[TEXT_CLEAN_MAX(PROF_CONTROL_LINE_MAX)];
            text_escape((const uint8_t *)t->line, t->used, clean, sizeof(clean));
            t->sink.command(t->sink.ctx, t->pid, clean);
        }
        return;
    }
    if (t->used == 0)
        return;
    if (t->has_nul) {
        bad_line(t);
        return;
    }
    if (strncmp(t->line, "PID:", 4) == 0) {
        if (!take_pid(t)) {
            t->in_block = false; /* what follows belongs to nobody known */
            bad_line(t);
        }
        return;
    }
    if (!t->in_block) {
        t->counts.ignored++;
        return;
    }
    if (is_done(t->line))
        take_done(t);
    else if (looks_like_map(t->line) ? !take_map(t) : t->pid != 0 || !take_module(t))
        bad_line(t);
}

static void end_line(struct prof_control_text *t)
{
    if (t->dropping) {
        t->expects_command = false; /* an endless command line was one all the same */
    } else {
        if (t->used && t->line[t->used - 1] == '\r')
            t->used--;
        t->line[t->used] = '\0';
        t->has_nul = memchr(t->line, 0, t->used) != NULL;
        take_line(t);
    }
    t->used = 0;
    t->dropping = false;
}

void prof_control_text_feed(struct prof_control_text *t, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '\n')
            end_line(t);
        else if (t->used < PROF_CONTROL_LINE_MAX)
            t->line[t->used++] = (char)data[i];
        else if (!t->dropping) {
            t->dropping = true;
            t->counts.long_lines++; /* now, for its end may never come */
        }
    }
}

void prof_control_text_counts(const struct prof_control_text *t, struct prof_control_counts *counts)
{
    *counts = t->counts;
}
