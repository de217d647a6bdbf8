/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sender's named counters over time (profiler sheet 4 and 11, rows 42 to 48): who is who, and what rose or
 * fell by how much in how many clocks. Nothing on the wire says which are gauges, so falls decide. Private to
 * the analysis; knows nothing of sequence numbers.
 */
#ifndef CORRAL_PROF_COUNTER_TABLE_H
#define CORRAL_PROF_COUNTER_TABLE_H

#include "event/profile_event.h"

#define PROF_MAX_COUNTER_NAMES 256 /* of one sender; more are counted and ignored */

struct prof_counter_state {
    char name[PROFILE_COUNTER_NAME_MAX];
    bool linux_side;
    uint8_t occurrence; /* the how manieth of this name and side in its packet: 0, 1 ... */
    bool based;         /* value and time below can be compared with */
    uint32_t value, time;
    int64_t host_ns;
    bool rate_known;
    double per_second;
    bool gauge;
    uint32_t resets, min, max;
};

struct prof_counter_table {
    struct prof_counter_state *items; /* in the order first seen */
    size_t count, room;
    uint64_t ignored, truncated;
};

/* `hz` = the sender's clock frequency now, 0 = not known: values yes, rates no. */
void prof_counter_table_add(struct prof_counter_table *t, const struct profile_counters *packet, uint32_t hz,
                            int64_t host_ns);
/* The sender began anew: nothing before is compared with what comes. */
void prof_counter_table_rebase(struct prof_counter_table *t);
void prof_counter_table_clear(struct prof_counter_table *t);

#endif
