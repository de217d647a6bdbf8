/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See replay.h; the format is that of docs/wire-log.md. Lines are read one at a time, as they are needed: no
 * size of the file matters. Must not let time go back, and must not answer an access that was not recorded.
 */
#include "link/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "link/link_backend.h"
#include "link/wire_log.h"

#define LINES_MAX 100000000u
#define TIME_MAX  (INT64_MAX / 4)
#define QUOTE     100 /* characters of a line in a sentence */

struct replay {
    struct link_backend backend; /* with the capabilities that the log tells */
    FILE *file;
    struct host_clock *clock;
    bool dead, have; /* `line` has one that nobody has taken yet */
    uint64_t number; /* of that line */
    uint64_t clocks;
    char line[WIRE_LOG_LINE + 2];
    char name[160];
    struct diag why;
};

static enum corral_err end(struct replay *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static enum corral_err end(struct replay *r, const char *fmt, ...)
{
    char what[sizeof(r->why.message)];
    va_list args;
    if (r->dead)
        return r->why.code;
    r->dead = true;
    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args); /* NOLINT(clang-analyzer-valist.Uninitialized): just started */
    va_end(args);
    diag_set(&r->why, CORRAL_ERR_LINK_DOWN, "wire log %s:%" PRIu64 ": %s", r->name, r->number, what);
    diag_object(&r->why, "%s:%" PRIu64, r->name, r->number);
    return r->why.code;
}

/* The line to be taken next, or NULL with the link ended. Comments are skipped. */
static char *next(struct replay *r)
{
    while (!r->dead && !r->have) {
        if (r->number == LINES_MAX) {
            end(r, "there are more lines than can be");
            break;
        }
        r->number++;
        if (!fgets(r->line, sizeof(r->line), r->file)) {
            end(r, ferror(r->file) ? "it cannot be read" : "the log ends here, and more was asked");
            break;
        }
        size_t n = strlen(r->line);
        if (n == 0 || r->line[n - 1] != '\n') {
            end(r, "this is no whole line of a wire log");
            break;
        }
        r->line[n - 1] = '\0';
        r->have = r->line[0] != '#' && r->line[0] != '\0';
    }
    return r->dead ? NULL : r->line;
}

static enum corral_err malformed(struct replay *r)
{
    char quote[QUOTE];
    text_escape((const uint8_t *)r->line, strlen(r->line), quote, sizeof(quote));
    return end(r, "'%s' is not understood", quote);
}

/* A decimal number and the space, or the end, behind it. */
static bool number(const char **at, uint64_t most, uint64_t *value)
{
    const char *p = *at;
    uint64_t v = 0;
    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (digit > most || v > (most - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    if (*p != ' ' && *p != '\0')
        return false;
    *at = *p ? p + 1 : p;
    *value = v;
    return true;
}

static bool hexadecimal64(const char **at, uint64_t *value)
{
    const char *p = *at;
    uint64_t v = 0;
    unsigned digits = 0;
    if (p[0] != '0' || p[1] != 'x')
        return false;
    for (p += 2; digits < 17; p++, digits++) {
        unsigned digit = *p >= '0' && *p <= '9'   ? (unsigned)(*p - '0')
                         : *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a' + 10)
                                                  : 16u;
        if (digit == 16)
            break;
        v = v << 4 | digit;
    }
    if (digits == 0 || digits > 16 || (*p != ' ' && *p != '\0'))
        return false;
    *at = *p ? p + 1 : p;
    *value = v;
    return true;
}

/* A value of `size` bytes. */
static bool hexadecimal(const char **at, unsigned size, uint64_t *value)
{
    const char *p = *at;
    uint64_t v = 0, most = UINT64_MAX >> (64 - 8 * size);
    if (!hexadecimal64(&p, &v) || v > most || (size < 8 && p - *at > 11)) /* 0x, 8 digits and a space */
        return false;
    *at = p;
    *value = v;
    return true;
}

/* An error's name, and the space behind it. */
static bool status(const char **at, enum corral_err *err)
{
    size_t n = strcspn(*at, " ");
    for (unsigned code = 0; code < 256; code++) {
        const char *name = corral_err_name((enum corral_err)code);
        if (strlen(name) == n && memcmp(name, *at, n) == 0 && strcmp(name, "unknown") != 0) {
            *err = (enum corral_err)code;
            *at += (*at)[n] ? n + 1 : n;
            return true;
        }
    }
    return false;
}

struct when {
    uint64_t start, length, clocks;
};

static bool take_when(const char **at, struct when *w)
{
    if (!number(at, TIME_MAX, &w->start) || **at != '+')
        return false;
    ++*at;
    return number(at, TIME_MAX, &w->length) && number(at, UINT64_MAX / 2, &w->clocks);
}

static void set_element(struct link_access *a, uint32_t i, uint64_t value)
{
    uint8_t *p = (uint8_t *)a->data + (size_t)i * a->size;
    uint16_t half = (uint16_t)value;
    uint32_t word = (uint32_t)value;
    if (a->size == 1)
        *p = (uint8_t)value;
    else
        memcpy(p,
               a->size == 2   ? (const void *)&half
               : a->size == 4 ? (const void *)&word
                              : (const void *)&value,
               a->size);
}

static bool element_is(const struct link_access *a, uint32_t i, uint64_t value)
{
    uint8_t wanted[8] = {0};
    struct link_access one = {.size = a->size, .data = wanted};
    set_element(&one, 0, value);
    return memcmp((const uint8_t *)a->data + (size_t)i * a->size, wanted, a->size) == 0;
}

/* `n` values of the access, on the rest of this line and in those that go on with it. */
static enum corral_err take_values(struct replay *r, const char *at, struct link_access *a, uint32_t n,
                                   bool write)
{
    uint64_t value;
    for (uint32_t i = 0; i < n; i++) {
        if (*at == '\0') {
            r->have = false;
            at = next(r);
            if (!at)
                return r->why.code;
            if (at[0] != '.' || at[1] != ' ')
                return malformed(r);
            at += 2;
        }
        if (!hexadecimal(&at, a->size, &value))
            return malformed(r);
        if (!write)
            set_element(a, i, value);
        else if (!element_is(a, i, value))
            return end(r, "another value than 0x%0*" PRIx64 " is written to 0x%08" PRIx64, 2 * a->size, value,
                       a->address + (uint64_t)i * a->size);
    }
    return *at ? malformed(r) : CORRAL_OK;
}

static enum corral_err diverged(struct replay *r, const char *recorded, const char *asked)
{
    char quote[QUOTE];
    text_escape((const uint8_t *)recorded, strcspn(recorded, "\n"), quote, sizeof(quote));
    return end(r, "'%s' was recorded, but '%s' is asked", quote, asked);
}

static enum corral_err take_access(struct replay *r, struct link_access *a, int64_t *until)
{
    static const char *const words[] = {"r mem", "w mem", "r ap", "w ap", "r dp", "w dp"};
    bool write = a->op == LINK_MEM_WRITE || a->op == LINK_AP_WRITE || a->op == LINK_DP_WRITE;
    char asked[96];
    struct when w;
    uint64_t done;
    const char *at = next(r);
    int n = snprintf(asked, sizeof(asked), "%s 0x%" PRIx32 " 0x%08" PRIx64 " %u %" PRIu32, words[a->op],
                     a->ap, a->address, a->size, a->count);
    if (!at)
        return r->why.code;
    const char *line = at;
    if (!take_when(&at, &w))
        return strstr(line, " late ") || strncmp(line, "fail ", 5) == 0 ? diverged(r, line, asked)
                                                                        : malformed(r);
    if (strncmp(at, asked, (size_t)n) != 0 || at[n] != ' ')
        return diverged(r, at, asked);
    at += n + 1;
    if (!number(&at, a->count, &done) || !status(&at, &a->status))
        return malformed(r);
    a->done = (uint32_t)done;
    host_clock_set(r->clock, (int64_t)w.start);
    *until = (int64_t)(w.start + w.length);
    r->clocks = w.clocks;
    enum corral_err err = take_values(r, at, a, write ? a->count : a->done, write);
    r->have = false;
    return err;
}

/* Is the next line one that begins with `word`? Its end is not the link's: the log may be over. */
static const char *follows(struct replay *r, const char *word)
{
    if (!r->have) {
        int c = fgetc(r->file);
        if (c == EOF)
            return NULL;
        ungetc(c, r->file);
        if (c != word[0])
            return NULL;
    }
    const char *line = next(r);
    size_t n = strlen(word);
    if (!line || strncmp(line, word, n) != 0)
        return NULL;
    return line + n;
}

/* How a call ended: what was said where it failed. */
static enum corral_err take_failure(struct replay *r, enum corral_err err, struct diag *d)
{
    char text[sizeof(d->message)];
    const char *at = follows(r, "fail ");
    if (r->dead)
        return r->why.code;
    if (!at)
        return err == CORRAL_OK ? err : diag_set(d, err, "it failed when it was recorded");
    if (!status(&at, &err) || err == CORRAL_OK)
        return malformed(r);
    text_escape((const uint8_t *)at, strlen(at), text, sizeof(text));
    diag_set(d, err, "%s", text[0] ? text : "it failed when it was recorded");
    r->have = false;
    if ((at = follows(r, "hint "))) {
        text_escape((const uint8_t *)at, strlen(at), text, sizeof(text));
        diag_hint(d, "%s", text);
        r->have = false;
    }
    if ((at = follows(r, "about "))) {
        text_escape((const uint8_t *)at, strlen(at), text, sizeof(text));
        diag_object(d, "%s", text);
        r->have = false;
    }
    return r->dead ? r->why.code : err;
}

static enum corral_err told(struct replay *r, enum corral_err err, struct diag *d)
{
    if (r->dead && d)
        *d = r->why;
    return r->dead ? r->why.code : err;
}

/* A call that was refused for its time alone, though this one's has not passed: a real clock went on between
 * two looks at it. */
static bool was_late(struct replay *r, size_t count)
{
    uint64_t when, recorded;
    const char *at = next(r);
    if (!at || !number(&at, TIME_MAX, &when) || strncmp(at, "late ", 5) != 0)
        return false;
    at += 5;
    if (!number(&at, UINT64_MAX / 2, &recorded) || *at) {
        malformed(r);
        return false;
    }
    if (recorded != count) {
        end(r, "%" PRIu64 " accesses were refused, but %zu are asked", recorded, count);
        return false;
    }
    host_clock_set(r->clock, (int64_t)when);
    r->have = false;
    return true;
}

static enum corral_err replay_execute(void *ctx, struct link_access *accesses, size_t count, struct diag *d)
{
    struct replay *r = ctx;
    enum corral_err err = CORRAL_OK, failed = CORRAL_OK;
    int64_t until = 0;
    if (count && was_late(r, count)) {
        accesses[0].status = CORRAL_ERR_TIMEOUT;
        return diag_set(d, CORRAL_ERR_TIMEOUT, "the time given for this has run out");
    }
    for (size_t i = 0; i < count && !err; i++) {
        err = take_access(r, &accesses[i], &until);
        if (!err && accesses[i].status != CORRAL_OK && accesses[i].status != CORRAL_ERR_INTERRUPTED)
            failed = accesses[i].status;
        if (err) {
            accesses[i].status = err;
            accesses[i].done = 0;
        }
    }
    if (!err)
        err = take_failure(r, failed, d);
    host_clock_set(r->clock, until);
    return told(r, err, d);
}

static void replay_refused_late(void *ctx)
{
    struct replay *r = ctx;
    uint64_t when;
    const char *at = r->have || !feof(r->file) ? next(r) : NULL;
    if (at && number(&at, TIME_MAX, &when) && strncmp(at, "late ", 5) == 0)
        r->have = false;
}

static enum corral_err replay_drive_reset(void *ctx, bool asserted, struct diag *d)
{
    struct replay *r = ctx;
    struct when w = {0};
    enum corral_err err = CORRAL_OK;
    const char *words = asserted ? "reset low" : "reset high", *at = next(r), *line = at;
    size_t n = strlen(words);
    if (!at)
        return told(r, CORRAL_OK, d);
    if (!take_when(&at, &w) || strncmp(at, words, n) != 0 || at[n] != ' ') {
        diverged(r, line, words);
        return told(r, CORRAL_OK, d);
    }
    at += n + 1;
    if (!status(&at, &err) || *at) {
        malformed(r);
        return told(r, CORRAL_OK, d);
    }
    host_clock_set(r->clock, (int64_t)(w.start + w.length));
    r->clocks = w.clocks;
    r->have = false;
    return told(r, take_failure(r, err, d), d);
}

static enum corral_err take_raw(struct replay *r, struct link_raw *raw, struct diag *d)
{
    char asked[128];
    struct when w = {0};
    enum corral_err err = CORRAL_OK;
    const char *at = next(r), *line = at;
    int n = snprintf(asked, sizeof(asked), "raw %s %u 0x%" PRIx32 " %" PRIu32 " 0x%" PRIx64,
                     wire_log_raw_word(raw->op), raw->bits, raw->select, raw->wait_us, raw->out);
    if (!at)
        return r->why.code;
    if (!take_when(&at, &w))
        return strstr(line, " late ") || strncmp(line, "fail ", 5) == 0 ? diverged(r, line, asked)
                                                                        : malformed(r);
    if (strncmp(at, asked, (size_t)n) != 0 || at[n] != ' ')
        return diverged(r, at, asked);
    at += n + 1;
    if (!status(&at, &err) || !hexadecimal64(&at, &raw->in) || *at)
        return malformed(r);
    host_clock_set(r->clock, (int64_t)(w.start + w.length));
    r->clocks = w.clocks;
    r->have = false;
    return take_failure(r, err, d);
}

static enum corral_err replay_raw(void *ctx, struct link_raw *raw, struct diag *d)
{
    struct replay *r = ctx;
    if (was_late(r, 1))
        return diag_set(d, CORRAL_ERR_TIMEOUT, "the time given for this has run out");
    return told(r, take_raw(r, raw, d), d);
}

static uint64_t replay_wire_clocks(void *ctx)
{
    const struct replay *r = ctx;
    return r->clocks;
}

static void replay_close(void *ctx)
{
    struct replay *r = ctx;
    fclose(r->file);
    free(r);
}

/* "mem+dap+wire" and the space behind it. */
static bool take_caps(const char **at, struct link_backend *b)
{
    for (;;) {
        unsigned cap = 0, raw = 0;
        size_t n = strcspn(*at, "+ ");
        for (size_t i = 0; i < WIRE_LOG_CAPS; i++)
            if (strlen(wire_log_caps[i].word) == n && memcmp(*at, wire_log_caps[i].word, n) == 0) {
                cap = wire_log_caps[i].cap;
                raw = wire_log_caps[i].raw;
            }
        if ((!cap && !raw) || (b->caps & cap) || (b->raws & raw) || (*at)[n] == '\0')
            return false;
        b->caps |= cap;
        b->raws |= raw;
        *at += n + 1;
        if ((*at)[-1] == ' ')
            return true;
    }
}

/* "corral-wire-log 1 mem+dap+wire virtual NS NAME" */
static bool take_header(struct replay *r)
{
    uint64_t version = 0, start = 0;
    const char *at = next(r);
    size_t n = strlen(WIRE_LOG_MAGIC " ");
    if (!at || strncmp(at, WIRE_LOG_MAGIC " ", n) != 0) {
        end(r, "this is no wire log");
        return false;
    }
    at += n;
    if (!number(&at, UINT32_MAX, &version) || version != WIRE_LOG_VERSION) {
        end(r, "this wire log's version is not the one that is known (%u)", WIRE_LOG_VERSION);
        return false;
    }
    bool good = take_caps(&at, &r->backend);
    r->backend.double_words = r->backend.caps & LINK_CAP_WIDE; /* what has the one may have had the other */
    n = strncmp(at, "virtual ", 8) == 0 ? 8 : strncmp(at, "real ", 5) == 0 ? 5 : 0;
    if (!good || n == 0 || (at += n, !number(&at, TIME_MAX, &start))) {
        malformed(r);
        return false;
    }
    host_clock_set(r->clock, (int64_t)start);
    r->have = false;
    return true;
}

struct link *link_replay_open_file(FILE *file, const char *name, struct host_clock *clock, struct diag *d)
{
    struct replay *r = calloc(1, sizeof(*r));
    if (!r) {
        fclose(file);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    r->file = file;
    r->clock = clock;
    r->backend = (struct link_backend){.execute = replay_execute,
                                       .drive_reset = replay_drive_reset,
                                       .raw = replay_raw,
                                       .refused_late = replay_refused_late,
                                       .wire_clocks = replay_wire_clocks,
                                       .close = replay_close};
    text_escape((const uint8_t *)name, strlen(name), r->name, sizeof(r->name));
    char spec[200];
    snprintf(spec, sizeof(spec), "replay:%s", r->name);
    struct link *link = NULL;
    if (!take_header(r)) {
        r->why.code = CORRAL_ERR_FORMAT;
        if (d)
            *d = r->why;
    } else {
        link = link_new(&r->backend, r, spec, clock);
        if (!link)
            diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    }
    if (!link)
        replay_close(r);
    return link;
}

struct link *link_replay_open(const char *spec, struct host_clock *clock, struct diag *d)
{
    const char *path = strncmp(spec, "replay:", 7) == 0 ? spec + 7 : "";
    char name[160];
    if (!*path) {
        diag_set(d, CORRAL_ERR_USAGE, "--link replay: a wire log is wanted");
        diag_hint(d, "for example --link replay:session.log, made with --wire-log session.log");
        return NULL;
    }
    FILE *file = fopen(path, "re");
    if (file)
        return link_replay_open_file(file, path, clock, d);
    text_escape((const uint8_t *)path, strlen(path), name, sizeof(name));
    diag_set(d, CORRAL_ERR_IO, "cannot read the wire log %s: %s", name, strerror(errno));
    diag_object(d, "%s", name);
    return NULL;
}
