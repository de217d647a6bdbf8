/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the processor a sampled thread had at its instant: the rate weighting of profiler sheet 9. The
 * weights of one instant add up to at most 1. Pure.
 */
#ifndef CORRAL_PROF_WEIGHTS_H
#define CORRAL_PROF_WEIGHTS_H

#include "event/profile_event.h"

/* What the HRT table guarantees each thread, 0..1; they add up to at most 1. */
struct prof_shares {
    bool known;
    double share[PROFILE_MAX_THREADS];
};

/* 64 entries: low 5 bits a thread, bit 6 = empty, bit 7 = the last one. Threads that there are not count as
 * empty. A table without an entry gives no shares. */
void prof_weights_table(struct prof_shares *shares, const uint8_t table[64]);

/* An instant's threads as masks, and what each has. Which threads have anything is up to `active`. */
struct prof_instant {
    bool known;
    uint16_t active, blocked, hrt, high;
    double weight[PROFILE_MAX_THREADS];
};

/* Fill in `instant` for these masks; nothing is done where it holds them already. */
void prof_weights_instant(struct prof_instant *instant, const struct prof_shares *shares, uint16_t active,
                          uint16_t blocked, uint16_t hrt, uint16_t high);

#endif
