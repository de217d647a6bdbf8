/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last line of a profile stream: INTERFACE.md "The profile, exactly", summary. As JSON or as text.
 */
#ifndef CORRAL_CLI_PROF_SUMMARY_H
#define CORRAL_CLI_PROF_SUMMARY_H

#include <stdio.h>

#include "session/profiling.h"

#define PROF_SUMMARY_TOP 20 /* addresses shown */

struct prof_summary {
    struct prof_totals totals;
    struct prof_thread_row threads[PROFILE_MAX_THREADS];
    size_t thread_count;
    struct prof_report *report; /* whose frames the lines below borrow */
    struct prof_summary_line {
        uint64_t pc, count;
        struct prof_report_frame frame; /* name NULL where no image covers the address */
    } top[PROF_SUMMARY_TOP];            /* by pc alone, most samples first */
    size_t top_count;
    bool named;                          /* there were images */
    struct profiling_file_stats capture; /* summed over the capture files */
    uint64_t damaged_files;
};

/* Fills all but the capture's part. CORRAL_ERR_NO_MEMORY. Free what it holds with prof_summary_free. */
enum corral_err prof_summary_make(struct prof_summary *summary, struct profiling *profiling, struct diag *d);
void prof_summary_free(struct prof_summary *summary);

/* One line of JSON; CORRAL_ERR_NO_MEMORY. Write errors show when `out` is closed. */
enum corral_err prof_summary_json(const struct prof_summary *s, FILE *out, struct diag *d);
void prof_summary_text(const struct prof_summary *s, FILE *out);

#endif
