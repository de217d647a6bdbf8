/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A free-running 32-bit counter as a 64-bit one. Readings may come late: one that lies up to 2^31 before the
 * newest is put before it, not a whole wrap after it.
 */
#ifndef CORRAL_CLOCK_CLOCK_UNWRAP_H
#define CORRAL_CLOCK_CLOCK_UNWRAP_H

#include <stdbool.h>
#include <stdint.h>

/* Zero it to begin. Kept per counter; a restart of the counter (reset) zeroes it again. */
struct clock_unwrap {
    bool known;
    int64_t newest; /* the largest unwrapped value so far; the first one is what was read */
};

/*
 * `value` unwrapped: of the numbers that end in these 32 bits, the one nearest to `expected`. For readings
 * that may be more than half a wrap apart, where the caller knows about how far the counter must have come
 * (CYCCNT at 100 MHz wraps every 43 s). The result is negative only for a late reading from before the first.
 */
static inline int64_t clock_unwrap_near(struct clock_unwrap *u, uint32_t value, int64_t expected)
{
    /* Unsigned, so that hostile `expected` cannot overflow; the low half's distance is at most 2^31. */
    int64_t total = (int64_t)((uint64_t)expected + (uint64_t)(int64_t)(int32_t)(value - (uint32_t)expected));
    if (!u->known)
        total = value;
    if (!u->known || total > u->newest)
        u->newest = total;
    u->known = true;
    return total;
}

static inline int64_t clock_unwrap32(struct clock_unwrap *u, uint32_t value)
{
    return clock_unwrap_near(u, value, u->newest);
}

#endif
