/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A screen as a table of cells, for `corral top`: what is drawn is decided without a terminal, so that a test
 * can read it. Text from outside becomes safe here, whatever it was before: nothing but code points that fill
 * one or two columns gets into a cell.
 */
#ifndef CORRAL_CLI_TOP_CANVAS_H
#define CORRAL_CLI_TOP_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOP_CANVAS_MOST 1000u /* rows and columns that are used of a larger screen */

enum top_style {
    TOP_PLAIN,
    TOP_BOLD,
    TOP_DIM,
    TOP_HEADING,
    TOP_SELECTED, /* reverse, also without colour */
    TOP_WARNING,
    TOP_LOSS,
};

struct top_cell {
    uint32_t code; /* 0 = the right half of the one before */
    uint8_t style;
};

struct top_canvas {
    unsigned rows, columns;
    struct top_cell *cells;
};

/* Blank, of this size. False when memory is out: the canvas is then empty. */
bool top_canvas_begin(struct top_canvas *c, unsigned rows, unsigned columns);
void top_canvas_free(struct top_canvas *c);

/* How many columns `text` fills when it is shown whole. */
unsigned top_canvas_width(const char *text);
/* Text in at most `width` columns from `column` on; what is cut ends in "..". Returns the columns filled. */
unsigned top_canvas_put(struct top_canvas *c, unsigned row, unsigned column, unsigned width,
                        enum top_style style, const char *text);
/* The same, but it is the beginning that is cut: of "a_long_name.c:12" the line counts most. */
unsigned top_canvas_put_tail(struct top_canvas *c, unsigned row, unsigned column, unsigned width,
                             enum top_style style, const char *text);
/* Text at the right end of the `width` columns. */
void top_canvas_put_right(struct top_canvas *c, unsigned row, unsigned column, unsigned width,
                          enum top_style style, const char *text);
unsigned top_canvas_printf(struct top_canvas *c, unsigned row, unsigned column, unsigned width,
                           enum top_style style, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* A style for a whole row, whatever stands there. */
void top_canvas_style_row(struct top_canvas *c, unsigned row, enum top_style style);
/* One row as UTF-8 without the blanks at its end. False when `size` is too small. */
bool top_canvas_text(const struct top_canvas *c, unsigned row, char *out, size_t size);

/*
 * A page of lines that may be longer than the place it has: lines outside are counted and not drawn.
 */
struct top_page {
    struct top_canvas *canvas;
    unsigned row, height; /* where */
    size_t first;         /* line that is drawn at the top */
    size_t lines;         /* so far */
};

void top_page_line(struct top_page *p, enum top_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* In as many lines as it takes, behind a label of ten columns. */
void top_page_paragraph(struct top_page *p, enum top_style style, const char *label, const char *text);
/* "name   ######....   tail" */
void top_page_bar(struct top_page *p, const char *name, unsigned name_columns, double share,
                  const char *tail);

#endif
