/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clock domains against clocks whose true host time is known: each reading's true moment is computed here, is
 * delivered late by a pseudo-random latency, and the converted time must be right to within its own error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "clock/clock_domain.h"
#include "clock/clock_unwrap.h"

#define HZ      100000000ULL /* 10 ns a tick */
#define TICK    10
#define START   5000000000LL /* host time at ticks 0 */
#define LATENCY 2000000LL    /* 2 ms at most */

static struct clock_domain *domain_new(uint64_t hz, uint32_t ppm)
{
    struct diag d = DIAG_INIT;
    struct clock_domain *domain = clock_domain_new(
        &(struct clock_domain_options){.name = "core0", .hz = hz, .drift_ppm = ppm, .latency_ns = LATENCY},
        &d);
    assert_non_null(domain);
    return domain;
}

/* A small generator of its own, so that a run can be repeated. */
static int64_t random_below(uint32_t *state, int64_t bound)
{
    *state = *state * 1664525u + 1013904223u;
    return (int64_t)(*state >> 8) % bound;
}

static int64_t pair_at(struct clock_domain *domain, int64_t ticks, int64_t host_ns)
{
    int64_t time = EVENT_NO_TIME;
    struct diag d = DIAG_INIT;
    assert_int_equal(clock_domain_pair(domain, ticks, host_ns, -1, &time, &d), CORRAL_OK);
    return time;
}

static void assert_right(const struct clock_domain *domain, int64_t time, int64_t truth, int64_t most_error)
{
    struct clock_moment m = clock_domain_host(domain, time);
    assert_true(m.known);
    assert_in_range(m.error_ns, 0, (uintmax_t)most_error);
    assert_true(llabs(m.host_ns - truth) <= m.error_ns);
}

/* ---- unwrapping ---- */

static void test_unwrap_follows_wraps_both_ways(void **state)
{
    (void)state;
    struct clock_unwrap u = {0};
    assert_int_equal(clock_unwrap32(&u, 0xFFFFFFF0u), 0xFFFFFFF0LL);
    assert_int_equal(clock_unwrap32(&u, 0x00000010u), 0x100000010LL);
    assert_int_equal(clock_unwrap32(&u, 0xFFFFFFFFu), 0xFFFFFFFFLL); /* late, from before the wrap */
    assert_int_equal(u.newest, 0x100000010LL);
    assert_int_equal(clock_unwrap32(&u, 0x80000000u), 0x180000000LL);
    assert_int_equal(clock_unwrap32(&u, 0xFFFFFFFFu), 0x1FFFFFFFFLL);
    assert_int_equal(clock_unwrap32(&u, 0x00000000u), 0x200000000LL);
}

static void test_unwrap_before_the_first_reading_is_negative(void **state)
{
    (void)state;
    struct clock_unwrap u = {0};
    assert_int_equal(clock_unwrap32(&u, 5), 5);
    assert_int_equal(clock_unwrap32(&u, 0xFFFFFFFEu), -2);
    assert_int_equal(u.newest, 5);
}

/* Readings 100 s apart of a counter that wraps in 43 s: only the expectation tells how many wraps passed. */
static void test_unwrap_near_counts_whole_wraps(void **state)
{
    (void)state;
    struct clock_unwrap u = {0};
    clock_unwrap32(&u, 1000);
    int64_t truth = 1000 + 10000000000LL; /* 100 s at 100 MHz */
    assert_int_equal(clock_unwrap_near(&u, (uint32_t)truth, truth + 300000000), truth);
    assert_int_equal(clock_unwrap_near(&u, (uint32_t)truth, truth - 300000000), truth);
    /* Hostile: the ends of the range do not overflow. */
    clock_unwrap_near(&u, 0x80000000u, INT64_MAX);
    clock_unwrap_near(&u, 0x80000000u, INT64_MIN);
}

/* ---- one piece ---- */

static void test_no_pairs_is_unknown(void **state)
{
    (void)state;
    struct clock_domain *domain = domain_new(HZ, 0);
    assert_false(clock_domain_host(domain, 0).known);
    assert_int_equal(clock_domain_time(domain, 500), 5000); /* its own scale needs no pair */
    clock_domain_free(domain);
    clock_domain_free(NULL);
}

/* One reading: right at once, and no more certain than its latency allows. */
static void test_one_pair_is_as_good_as_its_span(void **state)
{
    (void)state;
    struct clock_domain *domain = domain_new(HZ, 0);
    int64_t time = pair_at(domain, 1000, START + 700000); /* true moment: START */
    struct clock_moment m = clock_domain_host(domain, time);
    assert_true(m.known);
    assert_true(m.error_ns >= 700000 && m.error_ns <= LATENCY + 2 * TICK);
    assert_true(llabs(m.host_ns - START) <= m.error_ns);
    clock_domain_free(domain);
}

/* A thousand readings 1 ms apart, up to 2 ms late, on a clock 40 ppm fast. */
static void test_jitter_fit_hugs_the_lower_envelope(void **state)
{
    (void)state;
    struct clock_domain *domain = domain_new(HZ, 100);
    uint32_t seed = 1;
    int64_t times[1000], truths[1000];
    for (int i = 0; i < 1000; i++) {
        int64_t truth = START + i * 1000000LL;
        int64_t ticks = (int64_t)((double)(truth - START) * 1.000040 / TICK);
        times[i] = pair_at(domain, ticks, truth + random_below(&seed, LATENCY));
        truths[i] = truth;
    }
    assert_int_equal(clock_domain_pieces(domain), 1);
    for (int i = 0; i < 1000; i++) {
        /* The spread of the latency bounds it from both sides: far better than one reading's 2 ms. */
        assert_right(domain, times[i], truths[i], 150000);
        struct clock_moment m = clock_domain_host(domain, times[i]);
        assert_true(llabs(m.host_ns - truths[i]) < 60000);
    }
    clock_domain_free(domain);
}

/* A read over the debug link is bracketed tightly; among late batches it decides. */
static void test_tight_span_beats_many_loose_ones(void **state)
{
    (void)state;
    struct clock_domain *domain = domain_new(HZ, 10);
    uint32_t seed = 7;
    for (int i = 0; i < 20; i++)
        pair_at(domain, i * 1000, START + i * 1000 * TICK + 500000 + random_below(&seed, 400000));
    int64_t time = EVENT_NO_TIME;
    assert_int_equal(clock_domain_pair(domain, 20000, START + 20000 * TICK + 300, 1000, &time, NULL),
                     CORRAL_OK);
    assert_right(domain, time, START + 20000 * TICK, 1200);
    clock_domain_free(domain);
}

/* Away from its pairs the error grows with the drift, and never lies. */
static void test_extrapolation_costs_certainty(void **state)
{
    (void)state;
    struct clock_domain *domain = domain_new(HZ, 100);
    for (int i = 0; i < 10; i++)
        clock_domain_pair(domain, i * 100000, START + i * 1000000LL + 100, 200, NULL, NULL);
    struct clock_moment near = clock_domain_host(domain, clock_domain_time(domain, 950000));
    struct clock_moment far = clock_domain_host(domain, clock_domain_time(domain, 1000 * 100000LL));
    assert_true(near.known && far.known);
    assert_true(near.error_ns < 400);
    assert_true(far.error_ns > 90000 && far.error_ns < 120000); /* 100 ppm of 1 s */
    clock_domain_free(domain);
}

static void test_late_pairs_are_sorted_in(void **state)
{
    (void)state;
    struct clock_domain *domain = domain_new(HZ, 0);
    pair_at(domain, 500000, START + 5000000);
    int64_t early = pair_at(domain, 100000, START + 1000000 + 300000);
    assert_int_equal(early, -4000000); /* the first pair is the scale's zero */
    assert_right(domain, early, START + 1000000, 2 * LATENCY);
    clock_domain_free(domain);
}

/* ---- cuts ---- */

/* Halted for a second at ticks 1000000 (10 ms), then on: two lines with a hole between them. */
static void test_halt_and_run_make_two_pieces(void **state)
{
    (void)state;
    struct clock_domain *domain = domain_new(HZ, 0);
    int64_t stop = 1000000000;
    for (int i = 0; i <= 5; i++)
        pair_at(domain, i * 200000, START + i * 2000000LL);
    clock_domain_cut(domain, CLOCK_CUT_HALT, 1000000, 0, NULL);
    for (int i = 0; i < 5; i++) /* read while it stands: says nothing of the line */
        pair_at(domain, 1000000, START + 10000000 + i * 100000000LL);
    clock_domain_cut(domain, CLOCK_CUT_RUN, 1000000, 0, NULL);
    for (int i = 1; i <= 5; i++)
        pair_at(domain, 1000000 + i * 200000, START + 10000000 + stop + i * 2000000LL);
    assert_int_equal(clock_domain_pieces(domain), 2);
    assert_int_equal(clock_domain_piece_cut(domain, 1), CLOCK_CUT_RUN);
    assert_right(domain, clock_domain_time(domain, 900000), START + 9000000, LATENCY + 1000);
    assert_right(domain, clock_domain_time(domain, 1100000), START + 11000000 + stop, LATENCY + 1000);
    clock_domain_free(domain);
}

static void test_beyond_a_standing_clock_is_unknown(void **state)
{
    (void)state;
    struct clock_domain *domain = domain_new(HZ, 0);
    pair_at(domain, 0, START);
    clock_domain_cut(domain, CLOCK_CUT_HALT, 1000, 0, NULL);
    assert_true(clock_domain_host(domain, clock_domain_time(domain, 1000)).known);
    assert_false(clock_domain_host(domain, clock_domain_time(domain, 1001)).known);
    /* On again, with no pair yet: nothing is known of the new piece, the old one stays. */
    clock_domain_cut(domain, CLOCK_CUT_RUN, 1000, 0, NULL);
    assert_false(clock_domain_host(domain, clock_domain_time(domain, 2000)).known);
    assert_true(clock_domain_host(domain, clock_domain_time(domain, 999)).known);
    clock_domain_free(domain);
}

/* Nobody read the counter at the halt: a line stamped near it may be of either side, and says so. */
static void test_cut_without_ticks_converts_with_that_error(void **state)
{
    (void)state;
    struct clock_domain *domain = domain_new(HZ, 0);
    pair_at(domain, 0, START);
    pair_at(domain, 100000, START + 1000000);
    clock_domain_cut(domain, CLOCK_CUT_HALT, CLOCK_TICKS_UNKNOWN, 0, NULL);
    clock_domain_cut(domain, CLOCK_CUT_RUN, CLOCK_TICKS_UNKNOWN, 0, NULL);
    /* It ran to 150000, stood for 1 s, and was seen at 300000. */
    pair_at(domain, 300000, START + 3000000 + 1000000000);
    assert_right(domain, clock_domain_time(domain, 140000), START + 1400000, 510000000);
    assert_right(domain, clock_domain_time(domain, 160000), START + 1600000 + 1000000000, 510000000);
    assert_right(domain, clock_domain_time(domain, 310000), START + 3100000 + 1000000000, LATENCY + 1000);
    clock_domain_free(domain);
}

/* Sleep stops CYCCNT and nobody says so: a reading later than any latency explains proves it. */
static void test_sleep_is_found_as_a_stall(void **state)
{
    (void)state;
    struct clock_domain *domain = domain_new(HZ, 0);
    for (int i = 0; i < 10; i++)
        pair_at(domain, i * 100000, START + i * 1000000LL);
    int64_t slept = 50000000; /* 50 ms */
    for (int i = 10; i < 20; i++)
        pair_at(domain, i * 100000, START + i * 1000000LL + slept);
    assert_int_equal(clock_domain_pieces(domain), 2);
    assert_int_equal(clock_domain_piece_cut(domain, 1), CLOCK_CUT_STALL);
    assert_right(domain, clock_domain_time(domain, 500000), START + 5000000, LATENCY + 1000);
    assert_right(domain, clock_domain_time(domain, 1500000), START + 15000000 + slept, LATENCY + 1000);
    /* In between it is known only as well as the sleep was long. */
    struct clock_moment m = clock_domain_host(domain, clock_domain_time(domain, 950000));
    assert_true(m.known && m.error_ns > 20000000 && m.error_ns < 30000000);
    clock_domain_free(domain);
}

static void test_clock_that_runs_ahead_is_a_jump(void **state)
{
    (void)state;
    struct clock_domain *domain = domain_new(HZ, 0);
    pair_at(domain, 0, START);
    pair_at(domain, 100000, START + 1000000);
    pair_at(domain, 100000000, START + 2000000); /* a second of ticks in a millisecond */
    assert_int_equal(clock_domain_pieces(domain), 2);
    assert_int_equal(clock_domain_piece_cut(domain, 1), CLOCK_CUT_JUMP);
    clock_domain_free(domain);
}

static void test_frequency_change(void **state)
{
    (void)state;
    struct clock_domain *domain = domain_new(HZ, 0);
    for (int i = 0; i <= 10; i++)
        pair_at(domain, i * 100000, START + i * 1000000LL);
    clock_domain_cut(domain, CLOCK_CUT_FREQUENCY, 1000000, HZ / 4, NULL);
    for (int i = 1; i <= 10; i++)
        pair_at(domain, 1000000 + i * 25000, START + 10000000 + i * 1000000LL);
    assert_int_equal(clock_domain_pieces(domain), 2);
    int64_t before = clock_domain_time(domain, 900000), after = clock_domain_time(domain, 1000000 + 25000);
    assert_int_equal(before, 9000000);
    assert_int_equal(after, 11000000 + 1);
    assert_right(domain, after, START + 11000000, LATENCY + 1000);
    clock_domain_free(domain);
}

/* After a reset the ticks begin again; times of before keep their meaning. */
static void test_reset_begins_ticks_again_and_time_goes_on(void **state)
{
    (void)state;
    struct clock_domain *domain = domain_new(HZ, 0);
    pair_at(domain, 0, START);
    int64_t before = pair_at(domain, 100000, START + 1000000);
    clock_domain_cut(domain, CLOCK_CUT_RESET, CLOCK_TICKS_UNKNOWN, 0, NULL);
    int64_t after = pair_at(domain, 50000, START + 20000000);
    assert_true(after > before);
    assert_right(domain, before, START + 1000000, LATENCY + 1000);
    assert_right(domain, after, START + 20000000, LATENCY + 1000);
    assert_right(domain, clock_domain_time(domain, 60000), START + 20100000, LATENCY + 1000);
    clock_domain_free(domain);
}

static void test_pieces_are_bounded_and_old_ones_unknown(void **state)
{
    (void)state;
    struct clock_domain *domain = domain_new(HZ, 0);
    int64_t first = pair_at(domain, 0, START);
    int64_t last = first;
    for (int i = 1; i < 3 * CLOCK_MAX_PIECES; i++) {
        clock_domain_cut(domain, CLOCK_CUT_HALT, i * 1000, 0, NULL);
        clock_domain_cut(domain, CLOCK_CUT_RUN, i * 1000, 0, NULL);
        last = pair_at(domain, i * 1000 + 1, START + i * 1000000LL);
    }
    assert_int_equal(clock_domain_pieces(domain), CLOCK_MAX_PIECES);
    assert_false(clock_domain_host(domain, first).known);
    assert_true(clock_domain_host(domain, last).known);
    assert_int_equal(clock_domain_time(domain, 1), EVENT_NO_TIME);
    assert_int_equal(clock_domain_pair(domain, 1, START, -1, NULL, NULL), CORRAL_ERR_LIMIT);
    clock_domain_free(domain);
}

/* ---- order ---- */

static void test_moments_closer_than_their_errors_are_unordered(void **state)
{
    (void)state;
    struct clock_moment a = {true, 1000, 50}, b = {true, 1200, 100}, c = {true, 1100, 60}, unknown = {0};
    assert_int_equal(clock_moment_order(a, b), CLOCK_BEFORE);
    assert_int_equal(clock_moment_order(b, a), CLOCK_AFTER);
    assert_int_equal(clock_moment_order(a, c), CLOCK_UNORDERED);
    assert_int_equal(clock_moment_order(a, unknown), CLOCK_UNORDERED);
}

static void test_two_domains_order_by_host_one_by_itself(void **state)
{
    (void)state;
    struct clock_domain *a = domain_new(HZ, 0), *b = domain_new(32768, 0);
    int64_t ta = pair_at(a, 1000, START), tb = pair_at(b, 77, START + 10000000);
    assert_int_equal(clock_domain_order(a, ta, b, tb), CLOCK_BEFORE);
    assert_int_equal(clock_domain_order(b, tb, a, ta), CLOCK_AFTER);
    assert_int_equal(clock_domain_order(a, ta, b, tb - 9000000), CLOCK_UNORDERED);
    assert_int_equal(clock_domain_order(a, ta, a, ta + 1),
                     CLOCK_BEFORE); /* far below the error, yet certain */
    assert_int_equal(clock_domain_order(a, ta, a, ta), CLOCK_UNORDERED);
    clock_domain_free(a);
    clock_domain_free(b);
}

/* ---- limits ---- */

static void test_out_of_range_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    assert_null(clock_domain_new(&(struct clock_domain_options){.hz = 0}, &d));
    assert_int_equal(d.code, CORRAL_ERR_LIMIT);
    assert_null(clock_domain_new(&(struct clock_domain_options){.hz = CLOCK_HZ_MAX + 1}, &d));
    assert_null(clock_domain_new(&(struct clock_domain_options){.hz = 1, .latency_ns = -1}, &d));
    struct clock_domain *domain = domain_new(HZ, 0);
    assert_int_equal(clock_domain_pair(domain, INT64_MAX, 0, -1, NULL, &d), CORRAL_ERR_LIMIT);
    assert_int_equal(clock_domain_pair(domain, 0, INT64_MIN, -1, NULL, &d), CORRAL_ERR_LIMIT);
    assert_int_equal(clock_domain_cut(domain, CLOCK_CUT_RUN, INT64_MAX, 0, &d), CORRAL_ERR_LIMIT);
    assert_int_equal(clock_domain_time(domain, INT64_MAX), EVENT_NO_TIME);
    assert_false(clock_domain_host(domain, INT64_MIN).known);
    assert_int_equal(clock_domain_pieces(domain), 1);
    /* The largest that is allowed, on the slowest clock: saturates, does not overflow. */
    struct clock_domain *slow = domain_new(1, 0);
    assert_int_equal(clock_domain_time(slow, INT64_MAX / 4), CLOCK_TIME_MAX);
    clock_domain_free(slow);
    clock_domain_free(domain);
}

static void test_pair_as_event(void **state)
{
    (void)state;
    struct clock_domain *domain = domain_new(HZ, 0);
    struct event e = clock_domain_event(domain, "core0", 123, 456);
    assert_int_equal(e.kind, EVENT_CLOCK);
    assert_string_equal(e.clock.domain, clock_domain_name(domain));
    assert_int_equal(e.clock.domain_time, 123);
    assert_int_equal(e.host_ns, 456);
    clock_domain_free(domain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unwrap_follows_wraps_both_ways),
        cmocka_unit_test(test_unwrap_before_the_first_reading_is_negative),
        cmocka_unit_test(test_unwrap_near_counts_whole_wraps),
        cmocka_unit_test(test_no_pairs_is_unknown),
        cmocka_unit_test(test_one_pair_is_as_good_as_its_span),
        cmocka_unit_test(test_jitter_fit_hugs_the_lower_envelope),
        cmocka_unit_test(test_tight_span_beats_many_loose_ones),
        cmocka_unit_test(test_extrapolation_costs_certainty),
        cmocka_unit_test(test_late_pairs_are_sorted_in),
        cmocka_unit_test(test_halt_and_run_make_two_pieces),
        cmocka_unit_test(test_beyond_a_standing_clock_is_unknown),
        cmocka_unit_test(test_cut_without_ticks_converts_with_that_error),
        cmocka_unit_test(test_sleep_is_found_as_a_stall),
        cmocka_unit_test(test_clock_that_runs_ahead_is_a_jump),
        cmocka_unit_test(test_frequency_change),
        cmocka_unit_test(test_reset_begins_ticks_again_and_time_goes_on),
        cmocka_unit_test(test_pieces_are_bounded_and_old_ones_unknown),
        cmocka_unit_test(test_moments_closer_than_their_errors_are_unordered),
        cmocka_unit_test(test_two_domains_order_by_host_one_by_itself),
        cmocka_unit_test(test_out_of_range_is_refused_and_changes_nothing),
        cmocka_unit_test(test_pair_as_event),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
