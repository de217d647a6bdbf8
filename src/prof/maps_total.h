/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sender's memory maps (profiler sheet 5): packets to dumps, and a dump to totals. Private to the analysis
 * and the report.
 */
#ifndef CORRAL_PROF_MAPS_TOTAL_H
#define CORRAL_PROF_MAPS_TOTAL_H

#include "event/profile_event.h"

#define PROF_MAX_MAPS 5000 /* entries of a dump; more are counted and ignored */

struct prof_dump {
    bool begun, v21;
    bool ended; /* v21: the last packet came. v17: one that was not full did, which is no proof */
    uint32_t page_shift;
    struct profile_map *entries;
    size_t count, room;
    uint64_t ignored, bad_entries;
    int64_t host_ns; /* of its newest packet */
};

struct prof_maps_state {
    struct prof_dump whole;   /* the newest that has ended, or was overtaken by another */
    struct prof_dump growing; /* what comes now */
};

void prof_maps_add(struct prof_maps_state *m, const struct profile_maps *packet, int64_t host_ns);
void prof_maps_clear(struct prof_maps_state *m);
/* The dump to be shown, or NULL: the newest that ended, else what there is. */
const struct prof_dump *prof_maps_newest(const struct prof_maps_state *m);

/* "free", "stack" ...; "type N" in `room`, for types without a name. */
const char *prof_map_type_name(unsigned type, bool v21, char room[16]);

#endif
