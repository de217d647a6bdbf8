/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sender's free-running 32-bit clock and instruction counters as 64-bit totals: profiler sheet 8 (wraps,
 * zero deltas) and 11 (rows 24 to 29 and 40). Private to the stream; knows nothing of sequence numbers.
 */
#ifndef CORRAL_PROF_STREAM_RATES_H
#define CORRAL_PROF_STREAM_RATES_H

#include "event/event.h"

struct prof_rate { /* of one thread */
    uint64_t instructions;
    double seconds;
};

struct prof_rates {
    struct prof_rate threads[PROFILE_MAX_THREADS];
    double seconds; /* of target time, whatever its threads counted */
};

/*
 * An NSS sender may have its clock_freq in the wrong byte order (profiler sheet 7), and only the clock itself
 * can tell. Until host time has shown which it is, what it adds to the rates is held back.
 */
enum prof_frequency {
    PROF_FREQUENCY_AS_SENT,    /* other layouts, or confirmed */
    PROF_FREQUENCY_UNMEASURED, /* NSS, not long enough yet */
    PROF_FREQUENCY_DISAGREES,  /* measured, and neither order fits: kept as sent, measured again */
    PROF_FREQUENCY_SWAPPED,
};

struct prof_clock {
    bool known;            /* a baseline exists; a clock of 0 is a value like any other */
    uint32_t last;         /* as sent */
    uint64_t total;        /* clocks, unwrapped */
    int64_t host_ns;       /* arrival of the packet that carried `last` */
    uint32_t hz;           /* in force, 0 = not known */
    uint64_t piece_clocks; /* the run of clocks at `hz` began at this total ... */
    uint64_t piece_ns;     /* ... and this target time */
    uint32_t instructions[PROFILE_MAX_THREADS];
    enum prof_frequency frequency;
    uint32_t sent_hz;       /* NSS: what is being checked */
    int64_t window_ns;      /* NSS: the measurement began at this host time ... */
    uint64_t window_clocks; /* ... and this total */
    struct prof_rates held;
    uint32_t delta; /* clocks that the newest header was further; 0 after a baseline */
    bool trusted; /* `delta` is all of it: no wrap can have been missed, and nothing is compared across one */
};

/* Start anew from this header: nothing before it is compared with it. `nss` = its frequency needs checking.
 * What was held back is added to `rates` first. */
void prof_clock_baseline(struct prof_clock *c, const struct profile_header *h, bool nss, int64_t host_ns,
                         struct prof_rates *rates);

/* Add what is held back to `rates`, at the frequency as sent. */
void prof_clock_release(struct prof_clock *c, struct prof_rates *rates);

/* The next header in order. Adds to `rates` where the differences can be trusted. */
void prof_clock_advance(struct prof_clock *c, const struct profile_header *h, bool nss, int64_t host_ns,
                        struct prof_rates *rates);

/* Target time of the newest header, or EVENT_NO_TIME without a clock frequency. */
int64_t prof_clock_ns(const struct prof_clock *c);

#endif
