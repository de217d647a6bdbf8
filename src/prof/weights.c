/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiler sheet 9, "rate weight of a sample", made strict where the sheet's words would let an instant add
 * up to more than 1: a guaranteed share is given to a thread that is not blocked, whatever its class, and
 * only what those leave is split. Without a table, HRT threads are weighed as high-priority ones.
 */
#include "prof/weights.h"

#include <string.h>

#define TABLE_THREAD 0x1f
#define TABLE_EMPTY  0x40
#define TABLE_END    0x80

void prof_weights_table(struct prof_shares *shares, const uint8_t table[64])
{
    unsigned slots[PROFILE_MAX_THREADS] = {0};
    unsigned count = 0;
    bool any = false;

    for (size_t i = 0; i < 64; i++) {
        unsigned thread = table[i] & TABLE_THREAD;
        count++;
        if (!(table[i] & TABLE_EMPTY) && thread < PROFILE_MAX_THREADS) {
            slots[thread]++;
            any = true;
        }
        if (table[i] & TABLE_END)
            break;
    }
    *shares = (struct prof_shares){.known = any};
    for (size_t t = 0; t < PROFILE_MAX_THREADS; t++)
        shares->share[t] = (double)slots[t] / count;
}

/* Gives the threads of `mask` `each` more. */
static void give(struct prof_instant *instant, uint16_t mask, double each)
{
    for (size_t t = 0; t < PROFILE_MAX_THREADS; t++)
        if (mask >> t & 1)
            instant->weight[t] += each;
}

void prof_weights_instant(struct prof_instant *instant, const struct prof_shares *shares, uint16_t active,
                          uint16_t blocked, uint16_t hrt, uint16_t high)
{
    if (instant->known && instant->active == active && instant->blocked == blocked && instant->hrt == hrt &&
        instant->high == high)
        return;
    *instant =
        (struct prof_instant){.known = true, .active = active, .blocked = blocked, .hrt = hrt, .high = high};
    if (!shares->known) {
        high = (uint16_t)(high | hrt);
        hrt = 0;
    }
    uint16_t running = (uint16_t)(active & ~blocked);
    double rest = 1;
    for (size_t t = 0; shares->known && t < PROFILE_MAX_THREADS; t++) {
        if (running >> t & 1) {
            instant->weight[t] = shares->share[t];
            rest -= shares->share[t];
        }
    }
    if (rest < 0) /* by rounding alone */
        rest = 0;
    uint16_t above = (uint16_t)(active & high & ~hrt);
    uint16_t class = above ? above : (uint16_t)(active & ~high & ~hrt);
    uint16_t takers = (uint16_t)(class & running);
    if (!takers) /* all of them wait for memory: then it is they who use the processor */
        takers = class;
    if (takers) {
        give(instant, takers, rest / __builtin_popcount(takers));
        return;
    }
    for (size_t t = 0; t < PROFILE_MAX_THREADS;
         t++) /* HRT threads alone: the blocked ones' turns are wasted */
        if (active >> t & hrt >> t & blocked >> t & 1)
            instant->weight[t] = shares->share[t];
}
