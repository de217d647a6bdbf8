/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples to counts: by sender, thread, process, pc and stack. Memory grows with distinct addresses, not with
 * samples, and is bounded. Adding is O(1) a sample, under one lock a packet; a report works on a snapshot,
 * which shows one moment. Thread-safe.
 */
#ifndef CORRAL_PROF_AGGREGATE_H
#define CORRAL_PROF_AGGREGATE_H

#include "event/profile_event.h"

#define PROF_MAX_ADDRESSES     (1u << 20) /* distinct keys; samples with more go to `overflow` */
#define PROF_AGGREGATE_SOURCES 64         /* senders at a time: PROF_MAX_SOURCES of stream.h */
#define PROF_AGGREGATE_PARENTS 4          /* stack words that are told apart; those behind are not kept */

struct prof_aggregate;

struct prof_aggregate *prof_aggregate_new(void);
void prof_aggregate_free(struct prof_aggregate *a); /* NULL is allowed */

/* All of a packet's samples from the sender that has index `source` now (0..63). `weights[i]` is sample i's
 * (NULL = 0 each). Inactive samples count for the denominator only: their pc is stale. The caller has checked
 * that thread numbers are below PROFILE_MAX_THREADS. */
void prof_aggregate_packet(struct prof_aggregate *a, unsigned source, const struct profile_packet *packet,
                           const double *weights);

/* The sender with this index was put out; who gets the index next begins with nothing. Its samples are
 * counted in the snapshot's `evicted_*`, and its addresses are given up. O(1). */
void prof_aggregate_evict(struct prof_aggregate *a, unsigned source);
/* Count anew: as just made. */
void prof_aggregate_reset(struct prof_aggregate *a);

struct prof_aggregate_entry {
    uint32_t pc, pid;
    uint32_t link;                            /* a5 or a_reg */
    uint32_t parents[PROF_AGGREGATE_PARENTS]; /* words of the stack, nearest first; 0 behind the last */
    uint8_t source, thread, parent_count, unused;
    uint32_t generation; /* of the source: how many senders had its index before */
    uint32_t hash;
    uint64_t samples;              /* active ones */
    uint64_t i_blocked, d_blocked; /* of them */
    double weight;
};

struct prof_aggregate_snapshot {
    struct prof_aggregate_entry *entries; /* of senders that are there now, in no order that means anything */
    size_t count;
    uint64_t samples[PROF_AGGREGATE_SOURCES], active[PROF_AGGREGATE_SOURCES];
    uint64_t overflow[PROF_AGGREGATE_SOURCES]; /* active samples that no entry holds */
    uint64_t coarse[PROF_AGGREGATE_SOURCES];   /* active samples kept without their stack, for want of room */
    uint64_t evicted_samples, evicted_active, evicted_overflow;
};
/* False when memory is out. Free with prof_aggregate_snapshot_free, which may be called after a failure. */
bool prof_aggregate_snapshot(struct prof_aggregate *a, struct prof_aggregate_snapshot *s);
void prof_aggregate_snapshot_free(struct prof_aggregate_snapshot *s);

uint64_t prof_aggregate_samples(struct prof_aggregate *a, unsigned source);
uint64_t prof_aggregate_active(struct prof_aggregate *a, unsigned source);
uint64_t prof_aggregate_overflow(struct prof_aggregate *a); /* over all senders, put out or not */

#endif
