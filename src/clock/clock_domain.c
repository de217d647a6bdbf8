/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of a target clock (clock_domain.h). The line within a piece is clock_fit.c's; here it is decided
 * which piece a tick, a time or a pair belongs to. It must never carry what one piece knows into another.
 */
#include "clock/clock_domain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock/clock_fit.h"

#define DRIFT_PPM_DEFAULT 100
#define DRIFT_PPM_MAX     1000000
#define TICKS_MAX         (INT64_MAX / 4)

struct piece {
    enum clock_cut cut;  /* why it began */
    uint64_t hz;         /* from here on */
    uint64_t epoch;      /* how many resets before it: ticks of different epochs cannot be compared */
    int64_t first_ticks; /* at its begin ... */
    int64_t first_time;  /* ... which is this on the domain's scale */
    int64_t last_ticks;  /* the newest seen in it */
    bool settled;        /* first_ticks is known; else its first pair will say */
    bool blurred;        /* the cut before it lies somewhere between the last piece and its first pair */
    bool stands;         /* the clock was stopped at last_ticks */
    bool closed;         /* another piece has followed */
    struct clock_fit fit;
};

struct clock_domain {
    char name[64];
    uint32_t drift_ppm;
    int64_t latency;
    size_t count;
    struct piece *pieces; /* CLOCK_MAX_PIECES; the last one is current */
};

static int64_t ticks_to_ns(int64_t ticks, uint64_t hz)
{
    int64_t seconds = ticks / (int64_t)hz, rest = ticks % (int64_t)hz;
    if (seconds > CLOCK_TIME_MAX / 1000000000)
        return CLOCK_TIME_MAX;
    if (seconds < -(CLOCK_TIME_MAX / 1000000000))
        return -CLOCK_TIME_MAX;
    return seconds * 1000000000 + rest * 1000000000 / (int64_t)hz;
}

/* Times saturate: two hundred years from anything that is true, and far from overflow. */
static int64_t time_plus(int64_t time, int64_t ns)
{
    int64_t sum = time + ns; /* both within a quarter of the range */
    return sum > CLOCK_TIME_MAX ? CLOCK_TIME_MAX : sum < -CLOCK_TIME_MAX ? -CLOCK_TIME_MAX : sum;
}

static int64_t piece_time(const struct piece *p, int64_t ticks)
{
    return time_plus(p->first_time, ticks_to_ns(ticks - p->first_ticks, p->hz));
}

static int64_t piece_end(const struct piece *p)
{
    return piece_time(p, p->last_ticks);
}

static bool ticks_valid(int64_t ticks)
{
    return ticks >= -TICKS_MAX && ticks <= TICKS_MAX;
}

static struct piece *current(const struct clock_domain *domain)
{
    return &domain->pieces[domain->count - 1];
}

/* Begin another piece one nanosecond after the last, so that every time belongs to exactly one. */
static struct piece *new_piece(struct clock_domain *domain, enum clock_cut cut, int64_t ticks, int64_t time)
{
    struct piece before = *current(domain);
    current(domain)->closed = true;
    if (domain->count == CLOCK_MAX_PIECES) {
        memmove(&domain->pieces[0], &domain->pieces[1], (CLOCK_MAX_PIECES - 1) * sizeof(domain->pieces[0]));
        domain->count--;
    }
    struct piece *p = &domain->pieces[domain->count++];
    *p = (struct piece){.cut = cut,
                        .hz = before.hz,
                        .epoch = before.epoch,
                        .first_ticks = ticks,
                        .first_time = time,
                        .last_ticks = ticks};
    clock_fit_init(&p->fit, domain->drift_ppm);
    return p;
}

struct clock_domain *clock_domain_new(const struct clock_domain_options *options, struct diag *d)
{
    if (options->hz == 0 || options->hz > CLOCK_HZ_MAX) {
        diag_set(d, CORRAL_ERR_LIMIT, "a clock of %llu Hz: 1 to %llu can be followed",
                 (unsigned long long)options->hz, CLOCK_HZ_MAX);
        return NULL;
    }
    if (options->latency_ns < 0 || options->latency_ns > CLOCK_TIME_MAX ||
        options->drift_ppm > DRIFT_PPM_MAX) {
        diag_set(d, CORRAL_ERR_LIMIT, "a clock's latency or drift is out of range");
        return NULL;
    }
    struct clock_domain *domain = calloc(1, sizeof(*domain));
    struct piece *pieces = calloc(CLOCK_MAX_PIECES, sizeof(*pieces));
    if (!domain || !pieces) {
        free(domain);
        free(pieces);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory for a clock");
        return NULL;
    }
    snprintf(domain->name, sizeof(domain->name), "%s", options->name ? options->name : "clock");
    domain->drift_ppm = options->drift_ppm ? options->drift_ppm : DRIFT_PPM_DEFAULT;
    domain->latency = options->latency_ns;
    domain->pieces = pieces;
    domain->count = 1;
    pieces[0] = (struct piece){.cut = CLOCK_CUT_RESET, .hz = options->hz};
    clock_fit_init(&pieces[0].fit, domain->drift_ppm);
    return domain;
}

void clock_domain_free(struct clock_domain *domain)
{
    if (!domain)
        return;
    free(domain->pieces);
    free(domain);
}

const char *clock_domain_name(const struct clock_domain *domain)
{
    return domain->name;
}

size_t clock_domain_pieces(const struct clock_domain *domain)
{
    return domain->count;
}

enum clock_cut clock_domain_piece_cut(const struct clock_domain *domain, size_t index)
{
    return domain->pieces[index < domain->count ? index : domain->count - 1].cut;
}

enum corral_err clock_domain_cut(struct clock_domain *domain, enum clock_cut cut, int64_t ticks, uint64_t hz,
                                 struct diag *d)
{
    struct piece *p = current(domain);
    bool ticks_known = ticks != CLOCK_TICKS_UNKNOWN;
    if ((ticks_known && !ticks_valid(ticks)) || hz > CLOCK_HZ_MAX)
        return diag_set(d, CORRAL_ERR_LIMIT, "clock %s: ticks or frequency out of range", domain->name);
    if (cut != CLOCK_CUT_RESET && ticks_known && ticks > p->last_ticks)
        p->last_ticks = ticks;
    if (cut == CLOCK_CUT_HALT) {
        p->stands = true;
        return CORRAL_OK;
    }
    int64_t first = ticks_known ? ticks : cut == CLOCK_CUT_RESET ? 0 : p->last_ticks;
    bool stands = p->stands && cut == CLOCK_CUT_FREQUENCY; /* changed while it stood: it stands on */
    struct piece *next = new_piece(domain, cut, first, time_plus(piece_end(p), 1));
    next->settled = ticks_known || cut == CLOCK_CUT_RESET;
    next->stands = stands;
    if (hz)
        next->hz = hz;
    if (cut == CLOCK_CUT_RESET)
        next->epoch++;
    return CORRAL_OK;
}

/* The piece that `ticks` belongs to: the latest of this epoch that had begun by then. */
static struct piece *piece_of_ticks(const struct clock_domain *domain, int64_t ticks)
{
    uint64_t epoch = current(domain)->epoch;
    struct piece *oldest = NULL;
    for (size_t i = domain->count; i-- > 0 && domain->pieces[i].epoch == epoch;) {
        oldest = &domain->pieces[i];
        if (ticks >= oldest->first_ticks)
            return oldest;
    }
    /* Late readings from before the domain's first pair; what a later epoch did before its cut is unknown. */
    return oldest && oldest->epoch == 0 && oldest->cut == CLOCK_CUT_RESET ? oldest : NULL;
}

int64_t clock_domain_time(const struct clock_domain *domain, int64_t ticks)
{
    if (!ticks_valid(ticks))
        return EVENT_NO_TIME;
    const struct piece *p = piece_of_ticks(domain, ticks);
    return p ? piece_time(p, ticks) : EVENT_NO_TIME;
}

/*
 * Nobody said where the counter stood when this piece began; its first pair does. What lies between the last
 * piece's end and this pair may belong to either, and is converted with the error that this means.
 */
static void settle(struct clock_domain *domain, struct piece *p, int64_t ticks)
{
    if (p->settled || ticks < p->first_ticks)
        return;
    if (domain->count > 1 && ticks > p->first_ticks) {
        int64_t passed = ticks_to_ns(ticks - p->first_ticks, domain->pieces[domain->count - 2].hz);
        p->first_time = time_plus(p->first_time, passed);
        p->blurred = true;
    }
    p->first_ticks = p->last_ticks = ticks;
    p->settled = true;
}

enum corral_err clock_domain_pair(struct clock_domain *domain, int64_t ticks, int64_t host_ns,
                                  int64_t span_ns, int64_t *time, struct diag *d)
{
    if (!ticks_valid(ticks) || host_ns < -CLOCK_TIME_MAX || host_ns > CLOCK_TIME_MAX ||
        span_ns > CLOCK_TIME_MAX)
        return diag_set(d, CORRAL_ERR_LIMIT, "clock %s: a pair out of range", domain->name);
    struct piece *p = current(domain);
    settle(domain, p, ticks);
    p = piece_of_ticks(domain, ticks);
    if (!p)
        return diag_set(d, CORRAL_ERR_LIMIT, "clock %s: a pair from before what is remembered", domain->name);
    struct clock_pair pair = {
        .time = piece_time(p, ticks), .host_ns = host_ns, .span_ns = span_ns < 0 ? domain->latency : span_ns};
    if (p == current(domain) && p->stands) {
        /* Read while it stands: where it stopped, but not when. */
        if (ticks > p->last_ticks)
            p->last_ticks = ticks;
    } else {
        int check = clock_fit_check(&p->fit, pair);
        if (check != 0 && p == current(domain) && ticks > p->last_ticks) {
            int64_t next = pair.time > piece_end(p) ? pair.time : time_plus(piece_end(p), 1);
            p = new_piece(domain, check > 0 ? CLOCK_CUT_STALL : CLOCK_CUT_JUMP, ticks, next);
            p->settled = p->blurred = true;
            pair.time = next;
        } else if (check != 0) {
            return diag_set(d, CORRAL_ERR_FAILED, "clock %s: a late pair disagrees with the others",
                            domain->name);
        }
        clock_fit_add(&p->fit, pair);
        if (ticks > p->last_ticks)
            p->last_ticks = ticks;
    }
    if (time)
        *time = pair.time;
    return CORRAL_OK;
}

/* A cut lies between two pieces: not before where the one got to, nor after the other must have begun. */
static struct clock_moment between(const struct piece *a, const struct piece *b, int64_t time)
{
    int64_t early, early_error, late, late_error;
    if (!clock_fit_convert(&a->fit, time, &early, &early_error) ||
        !clock_fit_convert(&b->fit, time, &late, &late_error))
        return (struct clock_moment){0};
    int64_t low = early - early_error, high = late + late_error;
    if (low > high) {
        int64_t swap = low;
        low = high;
        high = swap;
    }
    int64_t half = (high - low) / 2;
    return (struct clock_moment){.known = true, .host_ns = low + half, .error_ns = half + 1};
}

struct clock_moment clock_domain_host(const struct clock_domain *domain, int64_t time)
{
    struct clock_moment moment = {0};
    if (time < -CLOCK_TIME_MAX || time > CLOCK_TIME_MAX)
        return moment;
    size_t i = domain->count;
    while (i > 0 && domain->pieces[i - 1].first_time > time)
        i--;
    if (i == 0 && domain->pieces[0].epoch == 0 && domain->pieces[0].cut == CLOCK_CUT_RESET)
        i = 1; /* late records from before the first pair */
    if (i == 0)
        return moment;
    const struct piece *p = &domain->pieces[i - 1];
    if ((p->closed || p->stands) && time > piece_end(p)) {
        if (p->closed && domain->pieces[i].blurred)
            return between(p, &domain->pieces[i], time);
        return moment;
    }
    moment.known = clock_fit_convert(&p->fit, time, &moment.host_ns, &moment.error_ns);
    /* A tick is no finer than itself. */
    moment.error_ns += (int64_t)(1000000000 / p->hz) + 1;
    return moment;
}

enum clock_order clock_moment_order(struct clock_moment a, struct clock_moment b)
{
    if (!a.known || !b.known)
        return CLOCK_UNORDERED;
    if (a.host_ns + a.error_ns < b.host_ns - b.error_ns)
        return CLOCK_BEFORE;
    if (b.host_ns + b.error_ns < a.host_ns - a.error_ns)
        return CLOCK_AFTER;
    return CLOCK_UNORDERED;
}

enum clock_order clock_domain_order(const struct clock_domain *domain_a, int64_t time_a,
                                    const struct clock_domain *domain_b, int64_t time_b)
{
    if (domain_a == domain_b)
        return time_a < time_b ? CLOCK_BEFORE : time_a > time_b ? CLOCK_AFTER : CLOCK_UNORDERED;
    return clock_moment_order(clock_domain_host(domain_a, time_a), clock_domain_host(domain_b, time_b));
}

struct event clock_domain_event(const struct clock_domain *domain, const char *stream, int64_t time,
                                int64_t host_ns)
{
    struct event event = event_make(EVENT_CLOCK, stream);
    event.host_ns = host_ns;
    event.target_ns = time;
    event.clock.domain = domain->name;
    event.clock.domain_time = time;
    return event;
}
