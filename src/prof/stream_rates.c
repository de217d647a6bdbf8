/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks and instruction counts of one sender, unwrapped: profiler sheet 8 and 11. No floating point reaches
 * the target's time line; only the seconds that rates are divided by are doubles.
 */
#include "prof/stream_rates.h"

#include <string.h>

#define MEASURE_NS (3 * INT64_C(1000000000))
#define NS_MAX     (INT64_MAX / 2) /* 146 years; absurd rates stop here, and two of these still add up */

/* clocks at hz as nanoseconds, cut; saturates at NS_MAX. */
static uint64_t clocks_to_ns(uint64_t clocks, uint32_t hz)
{
    uint64_t seconds = clocks / hz;
    uint64_t rest = clocks % hz;

    if (seconds >= NS_MAX / 1000000000u)
        return NS_MAX;
    return seconds * 1000000000u + rest * 1000000000u / hz;
}

static uint32_t byte_swap(uint32_t x)
{
    return x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24;
}

static void copy_counts(struct prof_clock *c, const struct profile_header *h, int64_t host_ns)
{
    c->last = h->clocks;
    c->host_ns = host_ns;
    memcpy(c->instructions, h->instruction_count, sizeof(c->instructions));
}

void prof_clock_release(struct prof_clock *c, struct prof_rates *rates)
{
    for (size_t t = 0; t < PROFILE_MAX_THREADS; t++) {
        rates->threads[t].instructions += c->held.threads[t].instructions;
        rates->threads[t].seconds += c->held.threads[t].seconds;
    }
    rates->seconds += c->held.seconds;
    c->held = (struct prof_rates){0};
}

static void start_window(struct prof_clock *c, const struct profile_header *h, int64_t host_ns)
{
    c->frequency = PROF_FREQUENCY_UNMEASURED;
    c->sent_hz = h->clock_hz;
    c->window_ns = host_ns;
    c->window_clocks = c->total;
}

void prof_clock_baseline(struct prof_clock *c, const struct profile_header *h, bool nss, int64_t host_ns,
                         struct prof_rates *rates)
{
    enum prof_frequency before = c->frequency;
    uint32_t sent_hz = c->sent_hz;

    prof_clock_release(c, rates);
    *c = (struct prof_clock){.known = true, .total = h->clocks, .hz = h->clock_hz};
    copy_counts(c, h, host_ns);
    if (nss)
        start_window(c, h, host_ns);
    if (nss && before == PROF_FREQUENCY_SWAPPED && sent_hz == h->clock_hz) { /* the same sender, restarted */
        c->frequency = before;
        c->hz = byte_swap(h->clock_hz);
    }
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

static bool within_a_fifth(double measured, uint32_t hz)
{
    return measured >= 0.8 * hz && measured <= 1.2 * hz;
}

/* Sheet 11, row 30: clocks by the host's time, over 3 s or more, say which byte order the frequency has. */
static void measure_frequency(struct prof_clock *c, const struct profile_header *h, int64_t host_ns,
                              struct prof_rates *rates)
{
    if (h->clock_hz != c->sent_hz || c->window_ns == EVENT_NO_TIME || host_ns < c->window_ns) {
        prof_clock_release(c, rates);
        start_window(c, h, host_ns);
        return;
    }
    uint64_t passed = (uint64_t)host_ns - (uint64_t)c->window_ns;
    bool open = c->frequency == PROF_FREQUENCY_UNMEASURED || c->frequency == PROF_FREQUENCY_DISAGREES;
    if (!open || !c->sent_hz || passed < MEASURE_NS)
        return;
    double measured = (double)(c->total - c->window_clocks) / ((double)passed / 1e9);
    uint32_t swapped = byte_swap(c->sent_hz);
    if (within_a_fifth(measured, c->sent_hz)) {
        c->frequency = PROF_FREQUENCY_AS_SENT;
    } else if (within_a_fifth(measured, swapped)) {
        c->frequency = PROF_FREQUENCY_SWAPPED;
        for (size_t t = 0; t < PROFILE_MAX_THREADS; t++) /* the seconds were counted at the wrong rate */
            c->held.threads[t].seconds *= (double)c->sent_hz / swapped;
        c->held.seconds *= (double)c->sent_hz / swapped;
        change_frequency(c, swapped);
    } else {
        start_window(c, h, host_ns);
        c->frequency = PROF_FREQUENCY_DISAGREES;
        return; /* still held back */
    }
    prof_clock_release(c, rates);
}

void prof_clock_advance(struct prof_clock *c, const struct profile_header *h, bool nss, int64_t host_ns,
                        struct prof_rates *rates)
{
    if (!c->known) {
        prof_clock_baseline(c, h, nss, host_ns, rates);
        return;
    }
    uint32_t clocks = h->clocks - c->last;
    uint32_t hz = h->clock_hz;
    if (c->frequency == PROF_FREQUENCY_SWAPPED && hz == c->sent_hz)
        hz = byte_swap(hz);
    if (hz && hz != c->hz) /* 0 = not reported: the last one stays in force */
        change_frequency(c, hz);
    /*
     * After a silence the total goes on by the least that fits. Arrival times could say how many wraps were
     * missed, but a target that was halted in between had none, so they are not asked.
     */
    bool silent = silence_too_long(c, hz, host_ns);
    bool hold = c->frequency == PROF_FREQUENCY_UNMEASURED || c->frequency == PROF_FREQUENCY_DISAGREES;
    struct prof_rates *sum = hold ? &c->held : rates;
    if (hz && !silent)
        sum->seconds += (double)clocks / hz;
    for (size_t t = 0; hz && clocks && !silent && t < h->thread_count; t++) {
        uint32_t instructions = h->instruction_count[t] - c->instructions[t];
        if (instructions > clocks)
            continue; /* more than one a clock: the counter was reset */
        sum->threads[t].instructions += instructions;
        sum->threads[t].seconds += (double)clocks / hz;
    }
    c->total += clocks;
    c->delta = clocks;
    c->trusted = !silent;
    copy_counts(c, h, host_ns);
    if (nss && silent)
        start_window(c, h, host_ns);
    else if (nss)
        measure_frequency(c, h, host_ns, rates);
}

int64_t prof_clock_ns(const struct prof_clock *c)
{
    if (!c->known || !c->hz)
        return EVENT_NO_TIME;
    uint64_t ns = c->piece_ns + clocks_to_ns(c->total - c->piece_clocks, c->hz);
    return ns > NS_MAX ? NS_MAX : (int64_t)ns;
}
