/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How `corral sequence` shows things (render_sequence.h). All text of a description file is escaped: it may
 * hold anything. INTERFACE.md "Events" has the JSON of an access; corral-sequence(1) the words of both forms.
 */
#include "cli/render_sequence.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/text.h"
#include "cli/pack_options.h"
#include "event/event_json.h"

#define WIDTH_LEAST   40
#define WIDTH_DEFAULT 200 /* where there is no terminal: a line may be as long as the file */
#define WIDTH_MOST    1000
#define COLUMN_MOST   100000 /* behind that nobody looks */
#define ELLIPSIS      3
#define LINE_MOST     4000 /* bytes of a line that are looked at around the place */

#define BOLD    "\033[1m"
#define RED     "\033[1;31m"
#define MAGENTA "\033[1;35m"
#define GREEN   "\033[1;32m"
#define PLAIN   "\033[0m"

unsigned render_sequence_width(FILE *out)
{
    struct winsize size;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 0;
    return size.ws_col;
}

/* ---- a source line */

/* One character of the line: the bytes that it takes, and how it is shown. */
struct shown {
    size_t bytes;
    unsigned columns;
    char text[TEXT_CLEAN_MAX(4)];
};

static struct shown show_one(const char *p, size_t left)
{
    struct shown c = {.bytes = 1};
    uint32_t code = 0;
    size_t n = text_utf8_decode((const uint8_t *)p, left, &code);
    if (*p == '\t' || *p == '\0') { /* a tab is one column, as the caret below counts it */
        memcpy(c.text, *p ? " " : "?", 2);
    } else {
        c.bytes = n ? n : 1;
        text_escape((const uint8_t *)p, c.bytes, c.text, sizeof(c.text));
    }
    c.columns = n > 1 && strlen(c.text) == n ? 1 : (unsigned)strlen(c.text);
    return c;
}

/* `count` columns on from byte `at`: characters as sequence_set.h counts them, all but continuation bytes. */
static size_t advance(const char *line, size_t size, size_t at, unsigned count)
{
    for (; count && at < size; count--)
        do
            at++;
        while (at < size && ((uint8_t)line[at] & 0xC0) == 0x80);
    return at;
}

/* Where the line is cut: bytes [begin, end), and whether something is left out on either side. */
struct cut {
    size_t begin, end;
    bool before, after;
};

static unsigned columns_of(const char *line, size_t begin, size_t end)
{
    unsigned columns = 0;
    while (begin < end) {
        struct shown c = show_one(line + begin, end - begin);
        columns += c.columns;
        begin += c.bytes;
    }
    return columns;
}

/* The place must be seen, and what is left of it before what is right of it: up to two thirds. */
static struct cut cut_line(const char *line, size_t size, size_t at, unsigned width)
{
    size_t low = at > LINE_MOST ? at - LINE_MOST : 0;
    size_t high = size - at > LINE_MOST ? at + LINE_MOST : size;
    unsigned left = columns_of(line, low, at), most = 2 * width / 3;
    struct cut cut = {.begin = low, .end = at};
    if (low == 0 && high == size && left + columns_of(line, at, size) <= width)
        return (struct cut){.end = size};
    cut.before = low > 0 || left > most;
    while (cut.before && cut.begin < at && left > most - ELLIPSIS) {
        struct shown c = show_one(line + cut.begin, at - cut.begin);
        left -= c.columns;
        cut.begin += c.bytes;
    }
    for (unsigned used = left + (cut.before ? ELLIPSIS : 0); cut.end < high;) {
        struct shown c = show_one(line + cut.end, high - cut.end);
        if ((used += c.columns) > width - ELLIPSIS)
            break;
        cut.end += c.bytes;
    }
    cut.after = cut.end < size;
    return cut;
}

static void put_line(FILE *out, bool colour, const char *line, size_t size, size_t at, unsigned wide,
                     unsigned width)
{
    size_t behind = advance(line, size, at, wide);
    struct cut cut = cut_line(line, size, at, width);
    unsigned column = cut.before ? ELLIPSIS : 0, from = 0, to = 0;
    fputs(cut.before ? "  ..." : "  ", out);
    for (size_t i = cut.begin; i < cut.end;) {
        struct shown c = show_one(line + i, cut.end - i);
        if (i <= at)
            from = column;
        column += c.columns;
        if (i < behind)
            to = column;
        fputs(c.text, out);
        i += c.bytes;
    }
    fputs(cut.after ? "...\n" : "\n", out);
    if (at >= cut.end) /* behind the last character */
        from = column;
    fprintf(out, "  %*s%s^", (int)from, "", colour ? GREEN : "");
    for (unsigned i = from + 1; i < to; i++)
        putc('~', out);
    fputs(colour ? PLAIN "\n" : "\n", out);
}

/* ---- a problem */

void render_sequence_problem(FILE *out, bool colour, unsigned width, const struct pack_file *file,
                             const struct sequence_set *set, const struct sequence_problem *problem)
{
    const struct sequence_place *place = &problem->place;
    bool error = problem->severity == SEQUENCE_ERROR;
    char where[PACK_PLACE_MAX];
    const char *line;
    size_t size;
    pack_place_text(file, set, place, where);
    if (colour)
        fprintf(out, BOLD "%s:" PLAIN " %s%s:" PLAIN " %s\n", where, error ? RED : MAGENTA,
                error ? "error" : "warning", problem->text);
    else
        fprintf(out, "%s: %s: %s\n", where, error ? "error" : "warning", problem->text);
    if (!set || !place->line || !place->column || place->column > COLUMN_MOST ||
        !sequence_set_line(set, place->file, place->line, &line, &size))
        return;
    size_t at = advance(line, size, 0, place->column - 1);
    if (width == 0)
        width = WIDTH_DEFAULT;
    if (width < WIDTH_LEAST)
        width = WIDTH_LEAST;
    if (width > WIDTH_MOST)
        width = WIDTH_MOST;
    put_line(out, colour, line, size, at, problem->width, width - 2);
}

/* ---- accesses */

/* What is no register: the wires, and time. */
static bool put_wires(FILE *out, const struct event_access *a, const char *space)
{
    if (strcmp(space, "pins") == 0 && a->write)
        fprintf(out, "0x%02" PRIX64 " of 0x%02" PRIX64 ", wait %" PRIu64 " us", a->value, a->address & 0xFF,
                a->address >> 8);
    else if (strcmp(space, "pins") == 0)
        fprintf(out, "-> 0x%02" PRIX64, a->value);
    else if (strcmp(space, "swj") == 0)
        fprintf(out, "%u bits <- 0x%" PRIX64, (unsigned)a->size, a->value);
    else if (strcmp(space, "jtag") == 0)
        fprintf(out, "%u cycles, TMS %" PRIu64 " %s 0x%" PRIX64, (unsigned)a->size, a->address,
                a->write ? "<-" : "->", a->value);
    else if (strcmp(space, "clock") == 0)
        fprintf(out, "<- %" PRIu64 " Hz", a->value);
    else if (strcmp(space, "delay") == 0)
        fprintf(out, "%" PRIu64 " us", a->value);
    else
        return false;
    return true;
}

void render_sequence_access(FILE *out, const struct event_access *a)
{
    const char *space = a->space ? a->space : "mem";
    char ap[LINK_AP_NAME_MAX];
    int digits = a->size == 1 || a->size == 2 || a->size == 8 ? 2 * a->size : 8;
    fprintf(out, "%-5s %s ", a->write ? "write" : "read", space);
    if (!put_wires(out, a, space)) {
        if (strcmp(space, "mem") == 0)
            fprintf(out, "ap %s 0x%08" PRIX64 " ", link_ap_name(a->ap, ap), a->address);
        else if (strcmp(space, "ap") == 0)
            fprintf(out, "%s 0x%02" PRIX64 " ", link_ap_name(a->ap, ap), a->address);
        else if (strcmp(space, "dp") == 0)
            fprintf(out, "0x%" PRIX64 " ", a->address);
        fprintf(out, "%s 0x%0*" PRIX64, a->write ? "<-" : "->", digits, a->value);
    }
    putc('\n', out);
}

struct trace {
    FILE *out;
    bool json;
};

static enum corral_err check(const struct trace *t, struct diag *d)
{
    return ferror(t->out) ? diag_set(d, CORRAL_ERR_IO, "cannot write to standard output: %s", strerror(errno))
                          : CORRAL_OK;
}

/* Accesses only: what sequences say goes to standard error. */
static enum corral_err trace_write(void *ctx, const struct event *event, struct diag *d)
{
    const struct trace *t = ctx;
    if (event->kind == EVENT_ACCESS && !t->json)
        render_sequence_access(t->out, &event->access);
    if ((event->kind == EVENT_ACCESS && t->json) || event->kind == EVENT_GAP) {
        char *line = event_to_json_line(event);
        if (!line)
            return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        fprintf(t->out, "%s\n", line);
        free(line);
    }
    return check(t, d);
}

static enum corral_err trace_flush(void *ctx, struct diag *d)
{
    const struct trace *t = ctx;
    fflush(t->out);
    return check(t, d);
}

static enum corral_err trace_close(void *ctx, struct diag *d)
{
    (void)d;
    free(ctx);
    return CORRAL_OK;
}

static const struct sink_ops trace_ops = {"trace", trace_write, trace_flush, trace_close};

struct sink *render_sequence_trace(FILE *out, bool json)
{
    struct trace *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    *t = (struct trace){out, json};
    struct sink *sink = sink_new(&trace_ops, t, SINK_QUEUE_DEFAULT);
    if (!sink)
        free(t);
    return sink;
}

/* ---- the end of one */

void render_sequence_summary(FILE *out, bool json, const char *name, const struct sequence_result *r)
{
    char clean[TEXT_CLEAN_MAX(SEQUENCE_NAME_MAX)];
    text_escape((const uint8_t *)name, strnlen(name, SEQUENCE_NAME_MAX), clean, sizeof(clean));
    if (json) {
        /* __Result as the number that is meant: 2^64 - 1 is -1 */
        json_t *j = json_pack("{s:s,s:s,s:b,s:I,s:I,s:I}", "kind", "summary", "sequence", clean, "ran",
                              (int)r->ran, "result", (json_int_t)r->result, "accesses",
                              (json_int_t)r->accesses, "statements", (json_int_t)r->statements);
        char *line = j ? json_dumps(j, JSON_COMPACT) : NULL;
        if (line)
            fprintf(out, "%s\n", line);
        free(line);
        json_decref(j);
    } else if (!r->ran) {
        fprintf(out, "%s: nothing to run\n", clean);
    } else {
        fprintf(out, "%s: result %" PRId64 ", %" PRIu64 " access%s, %" PRIu64 " statement%s\n", clean,
                (int64_t)r->result, r->accesses, r->accesses == 1 ? "" : "es", r->statements,
                r->statements == 1 ? "" : "s");
    }
}
