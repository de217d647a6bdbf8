/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target clock on the host's timeline. (DESIGN.md "Threads, time, pressure")
 *
 * Target clocks stop at every halt, stop in sleep, wrap, change frequency and restart; readings arrive late.
 * So a domain is a run of pieces, cut at halt, run, reset and frequency change, and where the readings prove
 * that the clock stood still or ran ahead without anybody having said so. In a piece the clock is a straight
 * line (clock_fit.h). Pairs are stored when they come; conversion happens at reading, with all that is known
 * then. Domains are never merged.
 *
 * Two scales: `ticks` is the unwrapped counter (clock_unwrap.h), and begins anew after a reset; `time` is
 * nanoseconds on the domain's own scale, begins at 0 and only ever goes forward, so that one value belongs to
 * one piece for as long as the domain lives. While the clock stands no time passes.
 *
 * Not thread-safe: used by one thread at a time.
 */
#ifndef CORRAL_CLOCK_CLOCK_DOMAIN_H
#define CORRAL_CLOCK_CLOCK_DOMAIN_H

#include "base/diag.h"
#include "event/event.h"

#define CLOCK_HZ_MAX     8000000000ULL /* so that a second's ticks times 1e9 fit 63 bits */
#define CLOCK_MAX_PIECES 256           /* older ones are forgotten: their times become unknown */
#define CLOCK_TIME_MAX   (INT64_MAX / 4)

struct clock_domain;

struct clock_domain_options {
    const char *name;   /* copied; as in the clock event's `domain` */
    uint64_t hz;        /* nominal ticks a second, 1..CLOCK_HZ_MAX */
    uint32_t drift_ppm; /* the rate is trusted to this; 0 = 100, crystals and then some */
    int64_t latency_ns; /* a reading is at most this old when it is paired, where a pair does not say; >= 0 */
};

/* NULL with *d set when the options are out of range or memory is out. Free with clock_domain_free. */
struct clock_domain *clock_domain_new(const struct clock_domain_options *options, struct diag *d);
void clock_domain_free(struct clock_domain *domain); /* NULL is allowed */
const char *clock_domain_name(const struct clock_domain *domain);

enum clock_cut {
    CLOCK_CUT_HALT,      /* the clock stops; ticks stay */
    CLOCK_CUT_RUN,       /* it goes on where it stopped */
    CLOCK_CUT_RESET,     /* ticks begin again, at 0 unless `ticks` says otherwise; it runs */
    CLOCK_CUT_FREQUENCY, /* other hz from here on */
    CLOCK_CUT_STALL,     /* found out: it had stood still (sleep) since the pair before */
    CLOCK_CUT_JUMP,      /* found out: it had run ahead, or hz is wrong */
};

#define CLOCK_TICKS_UNKNOWN INT64_MIN

/*
 * The clock was cut. `ticks` is the counter at that moment, or CLOCK_TICKS_UNKNOWN (then what lies between
 * the last reading before and the first after may belong to either side, and converts with that error); `hz`
 * is the new frequency, 0 = unchanged. STALL and JUMP are not the caller's to say. CORRAL_ERR_LIMIT when
 * ticks or hz are out of range: nothing has changed then.
 */
enum corral_err clock_domain_cut(struct clock_domain *domain, enum clock_cut cut, int64_t ticks, uint64_t hz,
                                 struct diag *d);

/*
 * A measured pair: the counter stood at `ticks` at some moment of [host_ns - span_ns, host_ns]. span_ns < 0
 * takes the domain's latency_ns. *time (may be NULL) becomes the place of `ticks` on the domain's scale.
 * While the clock stands the pair only tells where it stopped.
 */
enum corral_err clock_domain_pair(struct clock_domain *domain, int64_t ticks, int64_t host_ns,
                                  int64_t span_ns, int64_t *time, struct diag *d);

/*
 * The place of `ticks` on the domain's scale: in the piece since the last reset that it belongs to.
 * EVENT_NO_TIME when it is from before what is remembered, or out of range.
 */
int64_t clock_domain_time(const struct clock_domain *domain, int64_t ticks);

/* A moment on the host's timeline, right to within error_ns on either side. */
struct clock_moment {
    bool known;
    int64_t host_ns;
    int64_t error_ns;
};

/*
 * Host time of a domain time. In a piece: by its fit, the error growing with the distance from its pairs.
 * Where the clock has stood still unannounced: between the two pieces, the error saying so. Unknown in a
 * piece without pairs, in one forgotten, and beyond the last time of a clock that stands.
 */
struct clock_moment clock_domain_host(const struct clock_domain *domain, int64_t time);

/* Which came first? Moments closer than their errors, or unknown ones, are unordered. */
enum clock_order { CLOCK_UNORDERED, CLOCK_BEFORE, CLOCK_AFTER };
enum clock_order clock_moment_order(struct clock_moment a, struct clock_moment b);

/* The same for times of two domains; of one and the same domain its own scale decides, exactly. */
enum clock_order clock_domain_order(const struct clock_domain *domain_a, int64_t time_a,
                                    const struct clock_domain *domain_b, int64_t time_b);

/* The pair as an event on `stream`; the name in it lives as long as the domain. */
struct event clock_domain_event(const struct clock_domain *domain, const char *stream, int64_t time,
                                int64_t host_ns);

/* For tests and for showing: how many pieces are remembered, and why piece `index` (0 = oldest) began. */
size_t clock_domain_pieces(const struct clock_domain *domain);
enum clock_cut clock_domain_piece_cut(const struct clock_domain *domain, size_t index);

#endif
