/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reader must know before believing a profile, as sentences: losses, then what makes it doubtful, then
 * notes. Found once, so that text, JSON and the exported files say the same.
 */
#ifndef CORRAL_SESSION_PROFILING_REMARKS_H
#define CORRAL_SESSION_PROFILING_REMARKS_H

#include "prof/report.h"

#define PROFILING_MAX_REMARKS 96

enum profiling_weight { PROFILING_LOSS, PROFILING_WARNING, PROFILING_NOTE };
const char *profiling_weight_name(enum profiling_weight weight); /* loss warning note */

struct profiling_remark {
    enum profiling_weight weight;
    int source;       /* index into the report's sources; -1 = of all or of none */
    const char *code; /* a stable word for programs: "lost", "no-image", ... */
    char text[400];   /* without a full stop */
};

struct profiling_remarks {
    size_t count;
    size_t left_out; /* there was no room for */
    struct profiling_remark list[PROFILING_MAX_REMARKS];
};

/* Those that the report itself gives. `out` is begun anew. */
void profiling_remarks_find(const struct prof_report *report, struct profiling_remarks *out);
void profiling_remarks_add(struct profiling_remarks *out, enum profiling_weight weight, int source,
                           const char *code, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Losses and warnings in one line, for files; "" when there are none. */
void profiling_remarks_line(const struct profiling_remarks *remarks, char *out, size_t size);

/* Lost packets of all that were sent, 0..1; 0 when nothing was. */
double profiling_lost_share(const struct prof_totals *totals);
/* Everything that is known to be missing from the report; 0 = nothing. */
uint64_t profiling_loss(const struct prof_report *report);

#endif
