/* SPDX-License-Identifier: Apache-2.0 */
/* Cells and pages of `corral top` (top_canvas.h). Knows no profile and no terminal. */
#include "cli/top_canvas.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"

#define TEXT_MOST  512u /* bytes of a text that are looked at */
#define LABEL      10u
#define BAR_COLUMN 20u

bool top_canvas_begin(struct top_canvas *c, unsigned rows, unsigned columns)
{
    rows = rows > TOP_CANVAS_MOST ? TOP_CANVAS_MOST : rows;
    columns = columns > TOP_CANVAS_MOST ? TOP_CANVAS_MOST : columns;
    if (!c->cells || rows != c->rows || columns != c->columns) {
        free(c->cells);
        c->cells = calloc((size_t)rows * columns + 1, sizeof(*c->cells));
        c->rows = c->cells ? rows : 0;
        c->columns = c->cells ? columns : 0;
    }
    for (size_t i = 0; i < (size_t)c->rows * c->columns; i++)
        c->cells[i] = (struct top_cell){.code = ' ', .style = TOP_PLAIN};
    return c->cells != NULL;
}

void top_canvas_free(struct top_canvas *c)
{
    free(c->cells);
    *c = (struct top_canvas){0};
}

/* --- text ----------------------------------------------------------------------------------------------- */

/* The next code point to show and its columns; anything that has no width of its own becomes '?', such as
 * marks that would sit on a neighbour, or turn the writing direction. */
static size_t next(const char *text, size_t length, uint32_t *code, unsigned *columns)
{
    size_t n = text_utf8_decode((const uint8_t *)text, length, code);
    int width = n ? wcwidth((wchar_t)*code) : -1;
    if (*text >= 0x20 && *text < 0x7f) {
        *code = (uint32_t)*text;
        width = 1;
    }
    if (width < 1 || width > 2) {
        *code = '?';
        width = 1;
    }
    *columns = (unsigned)width;
    return n ? n : 1;
}

static size_t clean(const char *text, char out[TEXT_CLEAN_MAX(TEXT_MOST)])
{
    return text_escape((const uint8_t *)text, strnlen(text, TEXT_MOST), out, TEXT_CLEAN_MAX(TEXT_MOST));
}

static unsigned width_of(const char *text, size_t length)
{
    unsigned sum = 0, columns;
    uint32_t code;
    for (size_t at = 0; at < length; sum += columns)
        at += next(text + at, length - at, &code, &columns);
    return sum;
}

unsigned top_canvas_width(const char *text)
{
    char safe[TEXT_CLEAN_MAX(TEXT_MOST)];
    return width_of(safe, clean(text, safe));
}

/* Code points in at most `width` columns; returns the columns filled. */
static unsigned draw(struct top_canvas *c, unsigned row, unsigned column, unsigned width,
                     enum top_style style, const char *text, size_t length)
{
    struct top_cell *line = c->cells + (size_t)row * c->columns;
    unsigned used = 0;
    for (size_t at = 0; at < length;) {
        uint32_t code;
        unsigned columns;
        at += next(text + at, length - at, &code, &columns);
        if (used + columns > width)
            break;
        line[column + used] = (struct top_cell){.code = code, .style = (uint8_t)style};
        if (columns == 2)
            line[column + used + 1] = (struct top_cell){.code = 0, .style = (uint8_t)style};
        used += columns;
    }
    return used;
}

unsigned top_canvas_put(struct top_canvas *c, unsigned row, unsigned column, unsigned width,
                        enum top_style style, const char *text)
{
    char safe[TEXT_CLEAN_MAX(TEXT_MOST)];
    if (row >= c->rows || column >= c->columns)
        return 0;
    if (width > c->columns - column)
        width = c->columns - column;
    size_t length = clean(text, safe);
    if (width_of(safe, length) <= width || width <= 3)
        return draw(c, row, column, width, style, safe, length);
    unsigned used = draw(c, row, column, width - 2, style, safe, length);
    return used + draw(c, row, column + used, 2, style, "..", 2);
}

unsigned top_canvas_put_tail(struct top_canvas *c, unsigned row, unsigned column, unsigned width,
                             enum top_style style, const char *text)
{
    char safe[TEXT_CLEAN_MAX(TEXT_MOST)];
    size_t length = clean(text, safe), at = 0;
    unsigned whole = width_of(safe, length);
    if (row >= c->rows || column >= c->columns)
        return 0;
    if (width > c->columns - column)
        width = c->columns - column;
    if (whole <= width || width <= 3)
        return draw(c, row, column, width, style, safe, length);
    while (whole > width - 2) {
        uint32_t code;
        unsigned columns;
        at += next(safe + at, length - at, &code, &columns);
        whole -= columns;
    }
    unsigned used = draw(c, row, column, 2, style, "..", 2);
    return used + draw(c, row, column + used, width - used, style, safe + at, length - at);
}

void top_canvas_put_right(struct top_canvas *c, unsigned row, unsigned column, unsigned width,
                          enum top_style style, const char *text)
{
    unsigned used = top_canvas_width(text);
    used = used > width ? width : used;
    top_canvas_put(c, row, column + width - used, used, style, text);
}

unsigned top_canvas_printf(struct top_canvas *c, unsigned row, unsigned column, unsigned width,
                           enum top_style style, const char *fmt, ...)
{
    char text[TEXT_MOST];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args); /* NOLINT(clang-analyzer-valist.Uninitialized): just started */
    va_end(args);
    return top_canvas_put(c, row, column, width, style, text);
}

void top_canvas_style_row(struct top_canvas *c, unsigned row, enum top_style style)
{
    for (unsigned i = 0; row < c->rows && i < c->columns; i++)
        c->cells[(size_t)row * c->columns + i].style = (uint8_t)style;
}

static size_t encode(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[n] | code);
    return n;
}

bool top_canvas_text(const struct top_canvas *c, unsigned row, char *out, size_t size)
{
    size_t used = 0, end = 0;
    out[0] = '\0';
    for (unsigned i = 0; row < c->rows && i < c->columns; i++) {
        uint32_t code = c->cells[(size_t)row * c->columns + i].code;
        char bytes[4];
        size_t n = code ? encode(code, bytes) : 0;
        if (n + 1 > size - used)
            return false;
        memcpy(out + used, bytes, n);
        used += n;
        end = n == 1 && bytes[0] == ' ' ? end : used;
    }
    out[end] = '\0';
    return true;
}

/* --- pages ---------------------------------------------------------------------------------------------- */

/* Where the next line goes; false = out of sight. */
static bool place(struct top_page *p, unsigned *row)
{
    size_t line = p->lines++;
    if (line < p->first || line - p->first >= p->height)
        return false;
    *row = p->row + (unsigned)(line - p->first);
    return true;
}

void top_page_line(struct top_page *p, enum top_style style, const char *fmt, ...)
{
    char text[TEXT_MOST];
    unsigned row;
    va_list args;
    if (!place(p, &row))
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args); /* NOLINT(clang-analyzer-valist.Uninitialized): just started */
    va_end(args);
    top_canvas_put(p->canvas, row, 0, p->canvas->columns, style, text);
}

/* Bytes of `text` that go into a line of `room` columns: to a blank where there is one. */
static size_t line_of(const char *text, size_t length, unsigned room)
{
    size_t at = 0, blank = 0;
    for (unsigned used = 0; at < length;) {
        uint32_t code;
        unsigned columns;
        size_t n = next(text + at, length - at, &code, &columns);
        if (used + columns > room)
            return blank ? blank : at ? at : n;
        if (code == ' ')
            blank = at;
        used += columns;
        at += n;
    }
    return length;
}

void top_page_paragraph(struct top_page *p, enum top_style style, const char *label, const char *text)
{
    char safe[TEXT_CLEAN_MAX(TEXT_MOST)];
    size_t length = clean(text, safe), at = 0;
    unsigned row, room = p->canvas->columns > LABEL + 10 ? p->canvas->columns - LABEL : 10;
    for (bool begin = true; begin || at < length; begin = false) {
        size_t n = line_of(safe + at, length - at, room);
        if (place(p, &row)) {
            if (begin)
                top_canvas_put(p->canvas, row, 0, LABEL - 1, style, label);
            if (p->canvas->columns > LABEL)
                draw(p->canvas, row, LABEL, p->canvas->columns - LABEL, style, safe + at, n);
        }
        at += n;
        while (at < length && safe[at] == ' ')
            at++;
    }
}

void top_page_bar(struct top_page *p, const char *name, unsigned name_columns, double share, const char *tail)
{
    char bar[BAR_COLUMN + 1];
    double filled = isfinite(share) && share > 0 ? share * BAR_COLUMN : 0;
    unsigned row, n = filled > BAR_COLUMN ? BAR_COLUMN : (unsigned)lround(filled);
    if (!place(p, &row))
        return;
    for (unsigned i = 0; i < BAR_COLUMN; i++)
        bar[i] = i < n ? '#' : '.';
    unsigned shown = p->canvas->columns < 60 ? BAR_COLUMN / 2 : BAR_COLUMN;
    bar[BAR_COLUMN] = '\0';
    if (shown < BAR_COLUMN) { /* half as long: every other one */
        for (unsigned i = 0; i < shown; i++)
            bar[i] = bar[2 * i];
        bar[shown] = '\0';
    }
    top_canvas_put(p->canvas, row, 0, name_columns, TOP_PLAIN, name);
    top_canvas_put(p->canvas, row, name_columns + 1, shown, TOP_PLAIN, bar);
    top_canvas_put(p->canvas, row, name_columns + shown + 2, p->canvas->columns, TOP_PLAIN, tail);
}
