/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fit of one piece (clock_fit.h). All sums are over at most CLOCK_FIT_PAIRS pairs and relative to the
 * first, so that doubles hold them exactly enough (2^53 ns are 104 days).
 */
#include "clock/clock_fit.h"

#include <math.h>

#define RANGE 2e18 /* ns: callers' times are below a quarter of int64's range, 2.3e18 */

void clock_fit_init(struct clock_fit *fit, uint32_t drift_ppm)
{
    *fit = (struct clock_fit){.drift = drift_ppm / 1e6};
}

/* A pair as a point: time, and host minus time, both relative to the piece's first pair. */
static double point_x(const struct clock_fit *fit, int64_t time)
{
    return (double)(time - fit->pairs[0].time);
}

static double point_y(const struct clock_fit *fit, const struct clock_pair *p)
{
    return (double)(p->host_ns - fit->pairs[0].host_ns) - point_x(fit, p->time);
}

/* The true line's lowest and highest place at x that the pairs leave open; low > high when they disagree. */
static void bounds(const struct clock_fit *fit, double x, double *low, double *high)
{
    *low = -INFINITY;
    *high = INFINITY;
    for (size_t i = 0; i < fit->count; i++) {
        const struct clock_pair *p = &fit->pairs[i];
        double y = point_y(fit, p);
        double drift = fit->drift * fabs(x - point_x(fit, p->time));
        *high = fmin(*high, y + drift);
        *low = fmax(*low, y - (double)p->span_ns - drift);
    }
}

/*
 * The line below all points with the least sum of distances to them is the edge of their lower convex hull
 * that spans the mean of x: lifting it anywhere else would cut off a point. Without two distinct x the
 * nominal rate stands.
 */
static double envelope_rate(const struct clock_fit *fit)
{
    size_t hull[CLOCK_FIT_PAIRS];
    size_t n = 0;
    double mean = 0;
    for (size_t i = 0; i < fit->count; i++) {
        double x = point_x(fit, fit->pairs[i].time), y = point_y(fit, &fit->pairs[i]);
        mean += x / (double)fit->count;
        if (n > 0 && point_x(fit, fit->pairs[hull[n - 1]].time) == x) {
            if (point_y(fit, &fit->pairs[hull[n - 1]]) <= y)
                continue;
            n--;
        }
        while (n >= 2) {
            const struct clock_pair *a = &fit->pairs[hull[n - 2]], *b = &fit->pairs[hull[n - 1]];
            double ax = point_x(fit, a->time), ay = point_y(fit, a);
            double bx = point_x(fit, b->time), by = point_y(fit, b);
            if ((by - ay) * (x - ax) < (y - ay) * (bx - ax))
                break; /* b lies below the line from a to here: it stays */
            n--;
        }
        hull[n++] = i;
    }
    for (size_t i = 1; i < n; i++) {
        const struct clock_pair *a = &fit->pairs[hull[i - 1]], *b = &fit->pairs[hull[i]];
        double ax = point_x(fit, a->time), bx = point_x(fit, b->time);
        if (mean <= bx)
            return (point_y(fit, b) - point_y(fit, a)) / (bx - ax);
    }
    return 0;
}

static void refit(struct clock_fit *fit)
{
    double rate = envelope_rate(fit);
    fit->rate = fmin(fmax(rate, -fit->drift), fit->drift);
    fit->intercept = INFINITY;
    for (size_t i = 0; i < fit->count; i++)
        fit->intercept =
            fmin(fit->intercept, point_y(fit, &fit->pairs[i]) - fit->rate * point_x(fit, fit->pairs[i].time));
}

/* Halve the table: of every four pairs the one that bounds the line best from above and from below stay. */
static void thin(struct clock_fit *fit)
{
    size_t kept = 0;
    struct clock_pair out[CLOCK_FIT_PAIRS];
    for (size_t i = 0; i < fit->count; i += 4) {
        size_t high = i, low = i;
        for (size_t k = i; k < i + 4 && k < fit->count; k++) {
            if (point_y(fit, &fit->pairs[k]) < point_y(fit, &fit->pairs[high]))
                high = k;
            if (point_y(fit, &fit->pairs[k]) - (double)fit->pairs[k].span_ns >
                point_y(fit, &fit->pairs[low]) - (double)fit->pairs[low].span_ns)
                low = k;
        }
        out[kept++] = fit->pairs[high < low ? high : low];
        if (high != low)
            out[kept++] = fit->pairs[high < low ? low : high];
    }
    for (size_t i = 0; i < kept; i++)
        fit->pairs[i] = out[i];
    fit->count = kept;
}

void clock_fit_add(struct clock_fit *fit, struct clock_pair pair)
{
    if (fit->count == CLOCK_FIT_PAIRS)
        thin(fit);
    size_t at = fit->count;
    while (at > 0 && fit->pairs[at - 1].time > pair.time) {
        fit->pairs[at] = fit->pairs[at - 1];
        at--;
    }
    fit->pairs[at] = pair;
    fit->count++;
    refit(fit);
}

int clock_fit_check(const struct clock_fit *fit, struct clock_pair pair)
{
    if (fit->count == 0)
        return 0;
    double low, high;
    double y = point_y(fit, &pair);
    bounds(fit, point_x(fit, pair.time), &low, &high);
    if (y - (double)pair.span_ns > high)
        return 1;
    return y < low ? -1 : 0;
}

bool clock_fit_convert(const struct clock_fit *fit, int64_t time, int64_t *host_ns, int64_t *error_ns)
{
    if (fit->count == 0)
        return false;
    double x = point_x(fit, time), low, high;
    bounds(fit, x, &low, &high);
    if (low > high) { /* only pairs that clock_fit_check has refused can bring this about */
        double swap = low;
        low = high;
        high = swap;
    }
    double y = fmin(fmax(fit->intercept + fit->rate * x, low), high);
    /* A drift times a hostile distance can pass any range; the sum of three such terms must still fit. */
    double error = fmin(fmax(high - y, y - low), RANGE);
    int64_t host =
        fit->pairs[0].host_ns + (time - fit->pairs[0].time) + llround(fmin(fmax(y, -RANGE), RANGE));
    *host_ns = host > (int64_t)RANGE ? (int64_t)RANGE : host < -(int64_t)RANGE ? -(int64_t)RANGE : host;
    *error_ns = (int64_t)ceil(error);
    return true;
}
