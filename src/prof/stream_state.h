/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the streams: the table of senders. Private to prof/stream*.c and to the report, which reads it
 * under its lock.
 */
#ifndef CORRAL_PROF_STREAM_STATE_H
#define CORRAL_PROF_STREAM_STATE_H

#include <pthread.h>

#include "prof/stream.h"
#include "prof/stream_rates.h"
#include "prof/stream_sequence.h"

#define STREAM_CORE_NAME_MAX 64

struct prof_source {
    bool used;
    bool heard;                             /* sent anything */
    char name[PROF_SOURCE_NAME_MAX];        /* longer ones are told apart by their first 127 bytes */
    char core[STREAM_CORE_NAME_MAX];        /* "" = nobody named it */
    char stream[5 + PROF_SOURCE_NAME_ROOM]; /* "prof:", and the name or address as text */
    uint64_t last_use;
    int version; /* of the last good data packet, 0 = none yet */
    struct prof_sequence sequence;
    struct prof_clock clock;
    struct prof_rates rates;
    int64_t last_packet_ns;
    bool behind_counters;      /* the packet before was a counters packet */
    struct prof_totals totals; /* of this sender; `evicted` stays 0 */
};

/*
 * One lock guards everything, so that totals may be read while the collector's thread feeds it. It is held
 * while events are published, which never blocks. Order: this lock, the analysis', an aggregate's.
 */
struct prof_streams {
    pthread_mutex_t lock;
    struct event_bus *bus;
    struct prof_analysis *analysis;
    struct prof_scratch *scratch;
    bool legacy_headers;
    struct prof_totals gone; /* of senders that were put out, and what had no place */
    struct prof_rates gone_rates;
    uint64_t uses;
    uint32_t enabled; /* every enabled mask so far, or-ed */
    uint64_t thread_samples[PROFILE_MAX_THREADS];
    struct prof_source *recent; /* the sender of the last datagram, a first guess at the next one's */
    struct prof_source sources[PROF_MAX_SOURCES];
};

/* What follows is under the lock. */
void stream_totals(const struct prof_streams *s, struct prof_totals *totals);

/* One decoded packet of this sender, with its events. */
void stream_take(struct prof_streams *s, struct prof_source *source, const struct prof_decoded *packet,
                 int64_t host_ns);

#endif
