/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is anything missing? State by sender, sequence rules of the profiler sheet section 8 and INTERFACE.md,
 * 64-bit clocks. Decodes datagrams and publishes the events; used live and offline alike. Thread-safe: what
 * it adds up to may be read while another thread feeds it.
 */
#ifndef CORRAL_PROF_STREAM_H
#define CORRAL_PROF_STREAM_H

#include "base/text.h"
#include "event/sink.h"
#include "prof/packet.h"

#define PROF_MAX_SOURCES      64  /* the oldest idle one is evicted, and counted */
#define PROF_SOURCE_NAME_MAX  128 /* bytes of a sender's name that are kept, with the NUL */
#define PROF_SOURCE_NAME_ROOM TEXT_CLEAN_MAX(PROF_SOURCE_NAME_MAX)

struct prof_streams;
struct prof_analysis;

/* Why datagrams were refused, by the reasons of struct profile_reject. */
enum prof_reason {
    PROF_REASON_SHORT,
    PROF_REASON_MAGIC,
    PROF_REASON_BYTE_ORDER,
    PROF_REASON_VERSION,
    PROF_REASON_HEADER_SIZE,
    PROF_REASON_TRUNCATED,
    PROF_REASON_SAMPLE_SIZE,
    PROF_REASON_SAMPLE_COUNT,
    PROF_REASON_COUNTER_COUNT,
    PROF_REASON_MAP_COUNT,
    PROF_REASON_PAGE_SHIFT,
    PROF_REASON_SOURCES, /* every place is taken by a sender that was named */
    PROF_REASON_OTHER,
    PROF_REASONS
};
const char *prof_reason_name(enum prof_reason reason); /* short magic byte-order ... */

struct prof_totals {
    uint64_t packets, samples, active_samples, lost, duplicates, late, restarts, idle_steps, rejected,
        bad_samples, sources, evicted;
    /* NSS senders whose clock frequency came byte-swapped and was put right; that fits the clock neither way
     */
    uint64_t frequency_swapped, frequency_disagrees;
    uint64_t rejected_by[PROF_REASONS]; /* adds up to `rejected` */
    uint64_t empty;    /* data packets without a sample: no error, and no driver sends them */
    uint64_t trailing; /* data packets with bytes behind the last sample */
    uint64_t counters_packets, maps_packets;
    uint64_t kernel_drops; /* of all senders together: the kernel does not say whose they were */
};

struct prof_thread_row {
    unsigned thread;
    uint64_t samples;
    bool mips_known;
    double mips;
};

/* `bus` may be NULL; everything is also added up in `analysis` when it is not NULL, which feeds one streams
 * only and must outlive it. */
struct prof_streams *prof_streams_new(struct event_bus *bus, struct prof_analysis *analysis);
void prof_streams_free(struct prof_streams *s);

/* Give a sender a name: events of "127.0.0.1:51100" get stream "prof:core0" and core "core0". A named sender
 * is never evicted. Senders named before the first datagram get the analysis' indexes 0, 1, ... in that
 * order. */
enum corral_err prof_streams_name(struct prof_streams *s, const char *source_name, const char *core,
                                  struct diag *d);
/* The name (or address) of the sender that has this index in the analysis now, and what it alone adds up to
 * since it has it (`sources` is 1 once it has sent anything). False, and both empty, when none has. */
bool prof_streams_source_totals(struct prof_streams *s, unsigned index, char name[PROF_SOURCE_NAME_ROOM],
                                struct prof_totals *totals);

/* One datagram from `source` ("ADDR:PORT", or a file name) at host time `host_ns`. */
void prof_streams_datagram(struct prof_streams *s, const char *source_name, const uint8_t *data, size_t size,
                           int64_t host_ns);
/* A data packet that came another way than as a datagram (PC sampling, records in RAM). Its samples are
 * checked as a datagram's are: those with thread numbers past the header's thread_count are refused and
 * counted; with more than PROF_MAX_SAMPLES the packet is. Everything is copied. */
void prof_streams_packet(struct prof_streams *s, const char *source_name, const struct profile_packet *packet,
                         int64_t host_ns);

/* It is known from elsewhere that this sender was started again: its next good packet begins a new epoch,
 * whatever its number. Nothing happens when it has sent nothing yet. */
void prof_streams_restarted(struct prof_streams *s, const char *source_name);
/* The kernel says it dropped `n` more datagrams: a gap with reason "kernel". */
void prof_streams_kernel_drops(struct prof_streams *s, uint32_t n, int64_t host_ns);

/* From now on the headers of data packets of versions 5 to 16 are read (prof_packet_decode_legacy), which are
 * refused otherwise. */
void prof_streams_legacy_headers(struct prof_streams *s);

/* Count anew from now on, and have the analysis do so. Senders, their names and places in their sequences
 * stay: what is missing between the last packet before and the first one behind is still told. */
void prof_streams_reset(struct prof_streams *s);

/* Over all senders, evicted ones too. What the kernel dropped is not in `lost`: the numbers tell whose it
 * was.
 */
void prof_streams_get_totals(struct prof_streams *s, struct prof_totals *totals);
/* Threads in the enabled masks, in order; returns how many (at most PROFILE_MAX_THREADS). */
size_t prof_streams_threads(struct prof_streams *s, struct prof_thread_row out[PROFILE_MAX_THREADS]);

#endif
