/* SPDX-License-Identifier: Apache-2.0 */
/* A profile's report and the difference of two, for people and for programs. Draws; finds nothing out. */
#ifndef CORRAL_CLI_RENDER_PROFILE_H
#define CORRAL_CLI_RENDER_PROFILE_H

#include <stdio.h>

#include "prof/report.h"
#include "session/profiling.h"
#include "session/profiling_diff.h"
#include "session/profiling_remarks.h"

struct render_profile {
    FILE *out;
    unsigned width; /* columns */
    bool colour;
    size_t top; /* functions and addresses shown of each sender */
    int thread; /* -1 = all */
};

/* The width of a terminal, 80 for anything else. */
unsigned render_profile_width(FILE *out);

/* Everything; write errors stay with `out`. */
void render_profile_text(const struct render_profile *r, const struct prof_report *report,
                         const struct profiling_remarks *remarks);
/* render_profile_parts.c: what a sender tells besides its samples. */
void render_profile_parts(const struct render_profile *r, const struct prof_report *report);

struct render_profile_source {
    const struct profiling_file_stats *files; /* of all capture files together, or NULL */
    uint64_t damaged_files;
    uint64_t events_dropped;
};
/* One document, in a line. CORRAL_ERR_NO_MEMORY. */
enum corral_err render_profile_json(FILE *out, const struct prof_report *report,
                                    const struct profiling_remarks *remarks, int thread,
                                    const struct render_profile_source *source, struct diag *d);

void render_profile_diff_text(const struct render_profile *r, const struct profiling_side *a,
                              const struct profiling_side *b, const struct profiling_diff *diff);
enum corral_err render_profile_diff_json(FILE *out, const struct profiling_side *a,
                                         const struct profiling_side *b, const struct profiling_diff *diff,
                                         struct diag *d);

/* --- small things that the files share (render_profile_columns.c) --------------------------------------- */

/* Text from outside, safe to show, in exactly `columns` columns when `pad`, else at most as many. */
void render_profile_cell(FILE *out, const char *text, unsigned columns, bool pad);
/* A heading: "== title". */
void render_profile_heading(const struct render_profile *r, const char *title);
/* "name.c:12", or "" when it is not known. */
void render_profile_place(char *out, size_t size, const char *file, uint32_t line);
/* A bar of `columns` columns for 0..1. */
void render_profile_bar(FILE *out, double share, unsigned columns);
/* 0..1 as percent: a number in any case. */
double render_profile_percent(double share);
/* 12345678 as "12.3 M": at most 8 columns. */
const char *render_profile_si(double value, char *out, size_t size);

#endif
