/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks and instruction counts of one sender, unwrapped: profiler sheet 8 and 11. No floating point reaches
 * the target's time line; only the seconds that rates are divided by are doubles.
 */
#include "prof/stream_rates.h"

#include <string.h>

#define NS_MAX (INT64_MAX / 2) /* 146 years; absurd rates stop here, and two of these still add up */

/* clocks at hz as nanoseconds, cut; saturates at NS_MAX. */
static uint64_t clocks_to_ns(uint64_t clocks, uint32_t hz)
{
    uint64_t seconds = clocks / hz;
    uint64_t rest = clocks % hz;

    if (seconds >= NS_MAX / 1000000000u)
        return NS_MAX;
    return seconds * 1000000000u + rest * 1000000000u / hz;
}

static void copy_counts(struct prof_clock *c, const struct profile_header *h, int64_t host_ns)
{
    c->last = h->clocks;
    c->host_ns = host_ns;
    memcpy(c->instructions, h->instruction_count, sizeof(c->instructions));
}

void prof_clock_baseline(struct prof_clock *c, const struct profile_header *h, int64_t host_ns)
{
    *c = (struct prof_clock){.known = true, .total = h->clocks, .hz = h->clock_hz};
    copy_counts(c, h, host_ns);
}

/* Begin a new piece where the last header stood: each difference is converted at the newer header's rate. */
static void change_frequency(struct prof_clock *c, uint32_t hz)
{
    if (c->hz) { /* else the piece that began at the baseline is converted at the first rate that is known */
        c->piece_ns += clocks_to_ns(c->total - c->piece_clocks, c->hz);
        c->piece_clocks = c->total;
        if (c->piece_ns > NS_MAX)
            c->piece_ns = NS_MAX;
    }
    c->hz = hz;
}

/* True when the host saw a whole wrap period pass, so that 32 bits cannot tell how far the clock went. */
static bool silence_too_long(const struct prof_clock *c, uint32_t hz, int64_t host_ns)
{
    if (!hz || c->host_ns == EVENT_NO_TIME || host_ns == EVENT_NO_TIME || host_ns <= c->host_ns)
        return false;
    return (uint64_t)host_ns - (uint64_t)c->host_ns >= clocks_to_ns(UINT64_C(1) << 32, hz);
}

void prof_clock_advance(struct prof_clock *c, const struct profile_header *h, int64_t host_ns,
                        struct prof_rate rates[PROFILE_MAX_THREADS])
{
    if (!c->known) {
        prof_clock_baseline(c, h, host_ns);
        return;
    }
    uint32_t clocks = h->clocks - c->last;
    if (h->clock_hz && h->clock_hz != c->hz) /* 0 = not reported: the last one stays in force */
        change_frequency(c, h->clock_hz);
    /*
     * After a silence the total goes on by the least that fits. Arrival times could say how many wraps were
     * missed, but a target that was halted in between had none, so they are not asked.
     */
    bool trusted = h->clock_hz && clocks && !silence_too_long(c, h->clock_hz, host_ns);
    for (size_t t = 0; trusted && t < h->thread_count; t++) {
        uint32_t instructions = h->instruction_count[t] - c->instructions[t];
        if (instructions > clocks)
            continue; /* more than one a clock: the counter was reset */
        rates[t].instructions += instructions;
        rates[t].seconds += (double)clocks / h->clock_hz;
    }
    c->total += clocks;
    copy_counts(c, h, host_ns);
}

int64_t prof_clock_ns(const struct prof_clock *c)
{
    if (!c->known || !c->hz)
        return EVENT_NO_TIME;
    uint64_t ns = c->piece_ns + clocks_to_ns(c->total - c->piece_clocks, c->hz);
    return ns > NS_MAX ? NS_MAX : (int64_t)ns;
}
