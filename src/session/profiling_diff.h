/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two profiles, function by function: has its share changed, or is that the noise of sampling? A two-sided
 * two-proportion z test (pooled) for each function that both profiles have enough samples for, with Holm's
 * correction for as many tests as are made. It takes samples for independent; what loss did is not in it.
 */
#ifndef CORRAL_SESSION_PROFILING_DIFF_H
#define CORRAL_SESSION_PROFILING_DIFF_H

#include "prof/report.h"

#define PROFILING_DIFF_CONFIDENCE \
    0.95                         /* that no difference is called one where none is, over all functions */
#define PROFILING_DIFF_LEAST 5.0 /* samples of it and of all else that a test must expect on both sides */

/* One profile, reduced to what is compared: functions by name and the last part of their file, over all
 * senders. */
struct profiling_side;
struct profiling_side *profiling_side_of_report(const char *label, const struct prof_report *report,
                                                struct diag *d);
/* A report that was saved with --json. CORRAL_ERR_FORMAT. */
struct profiling_side *profiling_side_of_json(const char *label, const char *json, size_t size,
                                              struct diag *d);
void profiling_side_free(struct profiling_side *side); /* NULL is allowed */

struct profiling_side_totals {
    const char *label; /* borrowed from the side */
    uint64_t packets, samples, active_samples, lost;
    uint64_t loss; /* profiling_loss: all that is known to be missing */
};
void profiling_side_totals(const struct profiling_side *side, struct profiling_side_totals *totals);

struct profiling_diff_row {
    const char *name, *file;   /* borrowed from the sides; file may be NULL */
    uint64_t count_a, count_b; /* active samples */
    double share_a, share_b;   /* 0..1; 0 where a side has no samples at all */
    double difference;         /* share_b - share_a */
    double error;              /* +- one standard error of the difference */
    bool tested;               /* there are samples enough */
    double z, p;               /* with `tested`; p before the correction */
    bool significant;          /* more than noise */
};
struct profiling_diff {
    size_t tests;
    size_t count;
    struct profiling_diff_row
        *rows; /* those that are more than noise first, then by size of the difference */
};
/* The sides must outlive it. NULL with *d set. Free with profiling_diff_free. */
struct profiling_diff *profiling_diff_make(const struct profiling_side *a, const struct profiling_side *b,
                                           struct diag *d);
void profiling_diff_free(struct profiling_diff *diff); /* NULL is allowed */

#endif
