/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of top_view.h share: tables with rows that can be chosen, and pages of lines. */
#ifndef CORRAL_CLI_TOP_PARTS_H
#define CORRAL_CLI_TOP_PARTS_H

#include "cli/top_view.h"

struct top_column {
    const char *title;
    unsigned width; /* 0 = what is left over, shared out by `part` */
    unsigned part;
    unsigned least; /* columns the screen must have for it to be shown */
    bool tail;      /* the end of the text counts most */
    bool text;      /* left-aligned, sorted from A on; else a number, the biggest first */
};

/* A cell's content. `text` is what is sorted and shown where `shown` is empty; borrowed. */
struct top_value {
    const char *text;
    double number;
    char shown[280];
};

struct top_table {
    const char *what; /* "functions" */
    const struct top_column *columns;
    unsigned column_count;
    size_t (*count)(const struct prof_report *r);
    void (*cell)(const struct prof_report *r, size_t row, unsigned column, struct top_value *out);
    const char *(*name)(const struct prof_report *r, size_t row); /* what is searched */
};

/* The table of a tab, or NULL: it is a page. */
const struct top_table *top_table_of(enum top_tab tab);
/* Counters are two lists one behind the other: those of the hardware, then those with names. False = it is a
 * named one, number *index. */
bool top_counter_is_perf(const struct prof_report *r, size_t row, unsigned *source, size_t *index);

/* What a row was that details are shown of, in a later report. */
struct top_chosen {
    enum top_tab tab;
    unsigned source, thread;
    uint32_t pid;
    uint64_t address;
    bool has_image;
    char name[256];
};
void top_choose(const struct prof_report *r, enum top_tab tab, size_t row, struct top_chosen *out);
/* Its row in this report; false = it is in it no more. */
bool top_find_chosen(const struct prof_report *r, const struct top_chosen *chosen, size_t *row);

void top_page_of(struct top_page *p, const struct prof_report *r, const struct profiling_remarks *remarks,
                 enum top_tab tab);
void top_page_details(struct top_page *p, const struct prof_report *r, const struct top_chosen *chosen);
void top_page_help(struct top_page *p);

/* "12.3 %" of 0..1, "-" for what is not known. */
const char *top_percent(double share, char *out, size_t size);
const char *top_number(double value, bool known, char *out, size_t size);
/* Name of a sender by its index, whatever the index. */
const char *top_source_name(const struct prof_report *r, unsigned source);
double top_ratio(uint64_t part, uint64_t whole);

#endif
