/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One straight piece of a target clock against host time: bounded pairs, a fit that hugs their lower
 * envelope, and what can be said for certain about a moment in it. (DESIGN.md "Threads, time, pressure")
 *
 * A pair says: the clock stood at `time` at some moment of [host_ns - span_ns, host_ns]. Latency only ever
 * makes host_ns later, so no pair lies below the true line and the fit is the line below all pairs that is
 * closest to them. The rate is trusted to drift_ppm, and that with the spans bounds the error from both
 * sides: nothing here is an average. It knows nothing of ticks, cuts or domains (clock_domain.h).
 */
#ifndef CORRAL_CLOCK_CLOCK_FIT_H
#define CORRAL_CLOCK_CLOCK_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLOCK_FIT_PAIRS 64

struct clock_pair {
    int64_t time;    /* ns on the domain's scale */
    int64_t host_ns; /* host time when it was seen */
    int64_t span_ns; /* it was taken at most this much before */
};

struct clock_fit {
    double drift; /* the rate is within this share of nominal: ppm / 1e6 */
    size_t count;
    struct clock_pair pairs[CLOCK_FIT_PAIRS]; /* by time */
    double rate;                              /* of (host - time) against time */
    double intercept;                         /* of (host - time), relative to pairs[0], at pairs[0].time */
};

void clock_fit_init(struct clock_fit *fit, uint32_t drift_ppm);

/* Add a pair. When the table is full it is thinned first; what bounds the error tightest stays. */
void clock_fit_add(struct clock_fit *fit, struct clock_pair pair);

/*
 * Could the pair lie on this piece's line at all? 0 yes; 1 no, the clock has stood still (it is later than
 * any latency explains); -1 no, the clock has run ahead. With no pairs: 0.
 */
int clock_fit_check(const struct clock_fit *fit, struct clock_pair pair);

/* Host time at `time`, and by how much it may be off at most. False with no pairs. */
bool clock_fit_convert(const struct clock_fit *fit, int64_t time, int64_t *host_ns, int64_t *error_ns);

#endif
