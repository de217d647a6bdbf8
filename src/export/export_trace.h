/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Chrome trace ("Trace Event Format", JSON object form) being put together: lanes, and entries with a time
 * each. Entries may come in any order; they are written sorted by time, lane by lane. Private to src/export;
 * knows nothing of events.
 */
#ifndef CORRAL_EXPORT_EXPORT_TRACE_H
#define CORRAL_EXPORT_EXPORT_TRACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* More than trace viewers open; what comes behind is counted and said at the end of the trace. */
#define EXPORT_TRACE_MAX_ENTRIES 1000000u
#define EXPORT_TRACE_MAX_LANES   256u

struct export_trace_entry {
    int64_t ns;
    int64_t duration_ns; /* -1 = an instant */
    uint32_t lane;
    uint32_t order; /* of arrival, among those of one time */
    char *text;     /* the fields behind the times, without braces */
    bool placed;    /* target_ns is to be turned into ns before it is written */
    int64_t target_ns;
};

struct export_trace {
    struct export_trace_entry *entries;
    size_t count;
    size_t room;
    uint64_t left_out; /* behind the limit, or for want of memory */
    char *lanes[EXPORT_TRACE_MAX_LANES];
    size_t lane_count;
    int64_t first_ns; /* of all entries, once there is one */
    int64_t last_ns;
    bool has_time;
};

/* The number of the lane called `name`, made when it is new. Beyond the limit all share the last one. */
uint32_t export_trace_lane(struct export_trace *t, const char *name);

/* Something was known at `ns`: the trace reaches at least there. */
void export_trace_see(struct export_trace *t, int64_t ns);

/* Both take over `args` (may be NULL). `colour` is one of the viewer's reserved names, or NULL. */
void export_trace_slice(struct export_trace *t, uint32_t lane, int64_t ns, int64_t end_ns, const char *name,
                        const char *colour, json_t *args);
/* The entry, until the next call; NULL when it was left out. */
struct export_trace_entry *export_trace_instant(struct export_trace *t, uint32_t lane, int64_t ns,
                                                const char *name, const char *colour, json_t *args);

/* A JSON string whatever the bytes are; what is no UTF-8 is escaped. */
json_t *export_trace_string(const char *text);

/* Sorts and writes the whole document. Write errors stay with `out`. */
void export_trace_write(struct export_trace *t, FILE *out);
void export_trace_free(struct export_trace *t);

#endif
