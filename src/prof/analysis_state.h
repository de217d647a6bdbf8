/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the analysis: what the streams feed it with, and what the report reads. Private to prof/.
 */
#ifndef CORRAL_PROF_ANALYSIS_STATE_H
#define CORRAL_PROF_ANALYSIS_STATE_H

#include <pthread.h>

#include "prof/analysis.h"
#include "prof/counter_table.h"
#include "prof/maps_total.h"
#include "prof/stream_rates.h"
#include "prof/stream_sequence.h"
#include "prof/weights.h"

struct prof_thread_state {
    uint64_t samples, active, i_blocked, d_blocked;
    double weight;
    uint32_t min_sp; /* 0 = not reported */
};

struct prof_perf_state {
    unsigned count; /* 0, 4 or 8: of the layout */
    bool based;
    bool nonzero; /* any was ever not 0: they are reported */
    uint32_t last[PROFILE_MAX_COUNTERS];
    uint8_t config[PROFILE_MAX_COUNTERS];
    uint64_t total[PROFILE_MAX_COUNTERS];
    double seconds[PROFILE_MAX_COUNTERS]; /* that the totals were counted in */
};

/* Groups of header fields that a sender which has none leaves all zero. */
enum prof_group {
    PROF_GROUP_HEAP,
    PROF_GROUP_NETPAGE,
    PROF_GROUP_EXTHEAP,
    PROF_GROUP_EXTNETPAGE,
    PROF_GROUP_TIMING,
    PROF_GROUP_DSR,
    PROF_GROUPS
};

/* Of one sender. */
struct prof_source_state {
    struct prof_thread_state threads[PROFILE_MAX_THREADS];
    uint16_t enabled, hrt, high; /* every mask so far, or-ed: a type is only ever promoted */
    uint16_t counting;           /* threads whose instruction counter ever was anything but 0 */
    int profiler;                /* thread number, -1 = none, or it was sampled and so is none */
    uint64_t intervals;
    uint64_t timed_intervals;     /* of them, those that fell into the seconds that the clock counted */
    unsigned previous_thread;     /* of the sample before; PROFILE_MAX_THREADS = none */
    bool moved;                   /* the clock has moved since it was based */
    struct profile_header header; /* the newest in order */
    enum profile_layout layout;
    uint8_t version;
    bool sent;
    bool known[PROF_GROUPS];
    uint32_t dsr_max;
    uint64_t dsr_count, profile_instructions;
    struct prof_perf_state perf;
    uint64_t latency_count, latency_max, latency[33];
    struct prof_shares shares;
    struct prof_instant instant; /* the last one computed */
    bool conditions;
    struct prof_counter_table counters;
    struct prof_maps_state maps;
};

struct prof_analysis {
    pthread_mutex_t lock; /* guards all below but the aggregates, which have their own */
    struct prof_aggregate *aggregate;
    struct prof_aggregate *conditions; /* by pc: `link` holds cond_codes. NULL until wanted */
    struct prof_source_state sources[PROF_MAX_SOURCES];
};

/* --- fed by the streams, which see to it that thread numbers and counts are in range ----------------------
 */

/* A data packet that is no duplicate. `order` says what of it can be believed; `clock` has taken it already.
 */
void prof_analysis_data(struct prof_analysis *a, unsigned source, const struct profile_packet *packet,
                        enum prof_order order, const struct prof_clock *clock);
/* `hz` = the sender's clock frequency now, 0 = not known. */
void prof_analysis_counters(struct prof_analysis *a, unsigned source, const struct profile_counters *counters,
                            uint32_t hz, int64_t host_ns);
void prof_analysis_maps(struct prof_analysis *a, unsigned source, const struct profile_maps *maps,
                        int64_t host_ns);
/* The sender with this index was put out. */
void prof_analysis_evict(struct prof_analysis *a, unsigned source);
/* Count anew; what each sender's next packet is compared with stays, and so do tables and settings. */
void prof_analysis_reset(struct prof_analysis *a);

#endif
