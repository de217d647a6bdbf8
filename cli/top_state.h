/* SPDX-License-Identifier: Apache-2.0 */
/* The state of `corral top`'s views: top_view.c draws it, top_keys.c changes it. Nobody else looks inside. */
#ifndef CORRAL_CLI_TOP_STATE_H
#define CORRAL_CLI_TOP_STATE_H

#include "cli/top_parts.h"

#define TOP_UNSORTED (-1)
#define TOP_NO_TIME  INT64_MIN

struct top_view {
    const struct prof_report *report;
    const struct profiling_remarks *remarks;

    enum top_tab tab;
    size_t cursor[TOP_TABS]; /* row of a table, first line of a page */
    size_t first[TOP_TABS];  /* row at the top */
    int sort[TOP_TABS];      /* column, or TOP_UNSORTED: as the report has it */
    bool reversed[TOP_TABS];
    bool paused, help;
    bool details;
    struct top_chosen chosen;
    size_t overlay_first; /* line of help or details at the top */
    int thread;           /* -1 = all */
    int64_t thread_typed; /* when `t` or a digit behind it was pressed, or TOP_NO_TIME */
    bool thread_digit;    /* a digit has been typed */
    bool searching;
    char search[TOP_SEARCH_MAX]; /* UTF-8 */

    /* What the last drawing found; keys need it. */
    size_t page_rows, lines;
    unsigned columns;

    /* Rows of the table in the order and choice that they are shown in, kept until something changes. */
    bool rows_good;
    enum top_tab rows_tab;
    size_t *rows;
    size_t row_count, all_count;
};

/* Makes rows[] fit what is to be shown. False when memory is out. */
bool top_rows_prepare(struct top_view *v);
/* Is this column shown on a screen of so many columns? */
bool top_column_shown(const struct top_column *column, unsigned columns);

#endif
