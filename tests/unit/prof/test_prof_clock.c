/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, rates and target time: profiler sheet 8 and rows 24 to 30 and 40 of section 11. */
#include "prof_testing.h"

#include <math.h>

#include "event/event_json.h"

#define A "192.0.2.1:40000"
#define B "192.0.2.1:40001"

struct point {
    uint32_t seq, clocks, instructions, hz;
    int64_t ns;
};

static void feed(struct testing_stream *s, const char *source, struct point p)
{
    struct testing_packet packet = {.seq = p.seq,
                                    .clocks = p.clocks,
                                    .instructions = p.instructions,
                                    .hz = p.hz,
                                    .enabled = 1,
                                    .count = 1};
    testing_feed_packet(s, source, &packet, p.ns);
}

/* MIPS of thread 0, or -1 where it is not known. */
static double mips(const struct testing_stream *s)
{
    struct prof_thread_row rows[PROFILE_MAX_THREADS];

    assert_int_equal(prof_streams_threads(s->streams, rows), 1);
    return rows[0].mips_known ? rows[0].mips : -1;
}

static void expect_mips(const struct testing_stream *s, double want)
{
    assert_true(fabs(mips(s) - want) < 1e-9);
}

static int64_t target_ns(const struct testing_stream *s)
{
    return testing_last(s, EVENT_PROFILE)->target_ns;
}

static void golden_125_mips(void **state)
{
    struct testing_stream *s = *state;
    feed(s, A, (struct point){.seq = 0, .clocks = 4100000000u, .instructions = 4294967000u, .hz = HZ});
    expect_mips(s, -1); /* one packet is only a baseline */
    feed(s, A, (struct point){1, 4100000000u + 250000000u, 4294967000u + 125000000u, HZ, NS_PER_S});
    expect_mips(s, 125.0);
}

static void row_24_clock_wraps(void **state)
{
    struct testing_stream *s = *state;
    feed(s, A, (struct point){.seq = 0, .clocks = 0xffffff00, .hz = 1000000000});
    int64_t before = target_ns(s);
    assert_int_equal(before, 0xffffff00);
    feed(s, A, (struct point){.seq = 1, .clocks = 0x00000100, .hz = 1000000000});
    assert_int_equal(target_ns(s) - before, 512);
}

static void row_25_clock_zero_is_a_baseline(void **state)
{
    struct testing_stream *s = *state;
    feed(s, A, (struct point){.seq = 0, .clocks = 0, .hz = HZ});
    assert_int_equal(target_ns(s), 0);
    feed(s, A, (struct point){.seq = 1, .clocks = 250, .instructions = 125, .hz = HZ});
    assert_int_equal(target_ns(s), 1000);
    expect_mips(s, 125.0);
}

static void row_26_equal_clocks(void **state)
{
    struct testing_stream *s = *state;
    for (uint32_t i = 0; i < 5; i++)
        feed(s, A, (struct point){.seq = i, .clocks = 1000, .instructions = 7, .hz = HZ});
    expect_mips(s, -1);
    feed(s, A, (struct point){.seq = 5, .clocks = 2000, .instructions = 507, .hz = HZ});
    expect_mips(s, 125.0);
}

static void row_27_silence_longer_than_a_wrap(void **state)
{
    struct testing_stream *s = *state;
    feed(s, A, (struct point){.seq = 0, .clocks = 0, .hz = HZ});
    feed(s, A, (struct point){1, 250000000, 125000000, HZ, NS_PER_S});
    /* 30 s at 250 MHz wrap the clock once or twice: whatever the difference is, it is no measurement */
    feed(s, A, (struct point){2, 250000100, 125000100, HZ, 31 * NS_PER_S});
    expect_mips(s, 125.0);
    feed(s, A, (struct point){3, 500000100, 250000100, HZ, 32 * NS_PER_S});
    expect_mips(s, 125.0);
    assert_true(mips(s) <= HZ / 1e6);
    assert_int_equal(target_ns(s), 2000000400); /* the least that fits: a halted target's clock stood still */
}

/* At 2^20 Hz the clock wraps in exactly 4096 s. */
static void row_27_from_which_moment_a_silence_is_too_long(void **state)
{
    static const struct {
        int64_t first, second;
        bool trusted;
    } cases[] = {
        {0, 4096 * NS_PER_S, false},
        {0, 4096 * NS_PER_S - 1, true},
        {EVENT_NO_TIME, 9000 * NS_PER_S, true}, /* without host times nothing is known against it */
        {0, EVENT_NO_TIME, true},
        {9000 * NS_PER_S, 0, true},
        {7, 7, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct testing_stream *s = testing_stream_new();
        feed(s, A, (struct point){0, 0, 0, 1 << 20, cases[i].first});
        feed(s, A, (struct point){1, 1 << 20, 1000000, 1 << 20, cases[i].second});
        expect_mips(s, cases[i].trusted ? 1.0 : -1.0);
        testing_stream_free(s);
    }
}

static void row_28_no_frequency(void **state)
{
    struct testing_stream *s = *state;
    feed(s, A, (struct point){.seq = 0, .clocks = 0});
    feed(s, A, (struct point){.seq = 1, .clocks = 1000, .instructions = 500});
    expect_mips(s, -1);
    assert_int_equal(target_ns(s), EVENT_NO_TIME);
    char *line = event_to_json_line(testing_last(s, EVENT_PROFILE));
    assert_non_null(line);
    assert_null(strstr(line, "inf"));
    assert_null(strstr(line, "nan"));
    free(line);
    /* it becomes known: the clocks so far count at that rate */
    feed(s, A, (struct point){.seq = 2, .clocks = 2000, .instructions = 1000, .hz = HZ});
    assert_int_equal(target_ns(s), 8000);
    expect_mips(s, 125.0);
    /* a header that does not report it leaves it in force */
    feed(s, A, (struct point){.seq = 3, .clocks = 2250, .instructions = 1000, .hz = 0});
    assert_int_equal(target_ns(s), 9000);
    expect_mips(s, 125.0);
}

static void row_29_frequency_changes(void **state)
{
    struct testing_stream *s = *state;
    feed(s, A, (struct point){.seq = 0, .clocks = 0, .hz = 100000000});
    feed(s, A, (struct point){.seq = 1, .clocks = 100, .instructions = 50, .hz = 100000000});
    assert_int_equal(target_ns(s), 1000);
    /* 200 clocks at the newer header's 200 MHz */
    feed(s, A, (struct point){.seq = 2, .clocks = 300, .instructions = 250, .hz = 200000000});
    assert_int_equal(target_ns(s), 2000);
    expect_mips(s, 250 / 2e-6 / 1e6);
    feed(s, A, (struct point){.seq = 3, .clocks = 400, .instructions = 250, .hz = 100000000});
    assert_int_equal(target_ns(s), 3000);
}

static void row_20_late_clocks_are_not_used(void **state)
{
    struct testing_stream *s = *state;
    feed(s, A, (struct point){.seq = 10, .clocks = 0, .hz = HZ});
    feed(s, A, (struct point){.seq = 12, .clocks = 500, .instructions = 250, .hz = HZ});
    feed(s, A, (struct point){.seq = 11, .clocks = 250, .instructions = 0xdead, .hz = 1});
    assert_int_equal(target_ns(s), EVENT_NO_TIME);
    feed(s, A, (struct point){.seq = 12, .clocks = 0x80000000, .hz = 1}); /* nor a duplicate's */
    assert_int_equal(target_ns(s), EVENT_NO_TIME);
    feed(s, A, (struct point){.seq = 13, .clocks = 750, .instructions = 375, .hz = HZ});
    assert_int_equal(target_ns(s), 3000);
    expect_mips(s, 125.0);
}

static void row_22_restart_rebaselines(void **state)
{
    struct testing_stream *s = *state;
    feed(s, A, (struct point){.seq = 5000, .clocks = 1000000, .instructions = 1000000, .hz = HZ});
    feed(s, A, (struct point){.seq = 3, .clocks = 500, .instructions = 100, .hz = HZ});
    expect_mips(s, -1);
    assert_int_equal(target_ns(s), 2000);
    feed(s, A, (struct point){.seq = 4, .clocks = 750, .instructions = 225, .hz = HZ});
    expect_mips(s, 125.0);
}

static void row_40_more_instructions_than_clocks(void **state)
{
    struct testing_stream *s = *state;
    feed(s, A, (struct point){.seq = 0, .clocks = 0, .instructions = 1000, .hz = HZ});
    feed(s, A, (struct point){.seq = 1, .clocks = 1000, .instructions = 0, .hz = HZ}); /* counter reset */
    expect_mips(s, -1);
    feed(s, A, (struct point){.seq = 2, .clocks = 2000, .instructions = 500, .hz = HZ});
    expect_mips(s, 125.0);
    feed(s, A,
         (struct point){
             .seq = 3, .clocks = 3000, .instructions = 1500, .hz = HZ}); /* one a clock is all right */
    expect_mips(s, 187.5);
}

/* NSS packets one a second from a `real_hz` clock whose header says `sent_hz`; half an instruction a clock.
 */
static void feed_nss(struct testing_stream *s, uint32_t first, uint32_t count, uint32_t real_hz,
                     uint32_t sent_hz)
{
    for (uint32_t i = first; i < first + count; i++) {
        struct testing_packet packet = {.seq = i,
                                        .clocks = i * real_hz,
                                        .instructions = i * (real_hz / 2),
                                        .hz = sent_hz,
                                        .enabled = 1,
                                        .count = 1};
        size_t size = testing_nss(s->data, &packet, 4, 4);
        prof_streams_datagram(s->streams, A, s->data, size, (int64_t)i * NS_PER_S);
    }
    event_bus_drain(s->bus, NULL);
}

static void row_30_swapped_frequency_is_put_right(void **state)
{
    struct testing_stream *s = *state;
    feed_nss(s, 0, 3, 500000000, 0x0065cd1d); /* 2 s: too short to tell, so as sent */
    assert_true(mips(s) < 4);
    feed_nss(s, 3, 3, 500000000, 0x0065cd1d);
    expect_mips(s, 250.0);
    assert_int_equal(testing_totals(s).frequency_swapped, 1);
    assert_int_equal(testing_totals(s).frequency_disagrees, 0);
    int64_t before = target_ns(s);
    feed_nss(s, 6, 1, 500000000, 0x0065cd1d);
    assert_int_equal(target_ns(s) - before, NS_PER_S);
    /* a restart of the same sender does not unlearn it */
    feed_nss(s, 100000, 2, 500000000, 0x0065cd1d);
    expect_mips(s, 250.0);
    assert_int_equal(testing_totals(s).frequency_swapped, 1);
}

static void row_30_swapped_frequency_that_looks_fine(void **state)
{
    struct testing_stream *s = *state;
    feed_nss(s, 0, 8, 250000000, 0x80b2e60e); /* reads as 2.16 GHz */
    expect_mips(s, 125.0);
    assert_int_equal(testing_totals(s).frequency_swapped, 1);
}

static void row_30_frequency_that_fits_is_kept(void **state)
{
    struct testing_stream *s = *state;
    feed_nss(s, 0, 8, 250000000, 250000000);
    expect_mips(s, 125.0);
    assert_int_equal(testing_totals(s).frequency_swapped, 0);
    assert_int_equal(testing_totals(s).frequency_disagrees, 0);
}

static void row_30_frequency_that_fits_neither_way_is_kept(void **state)
{
    struct testing_stream *s = *state;
    feed_nss(s, 0, 20, 100000000, 250000000);
    expect_mips(s, 125.0); /* as sent; the clock only ran 40 % of the time */
    assert_int_equal(testing_totals(s).frequency_swapped, 0);
    assert_int_equal(testing_totals(s).frequency_disagrees, 1);
}

/* The target stood still while it was first measured; what it did then counts once the order is known. */
static void row_30_measured_again_until_it_fits(void **state)
{
    struct testing_stream *s = *state;
    struct testing_packet packet = {.seq = 0, .hz = 0x0065cd1d, .enabled = 1};
    feed_nss(s, 0, 2, 500000000, 0x0065cd1d);
    for (uint32_t i = 2; i < 6; i++) { /* halted for 4 s */
        packet.seq = i;
        packet.clocks = 500000000;
        packet.instructions = 250000000;
        size_t size = testing_nss(s->data, &packet, 4, 4);
        prof_streams_datagram(s->streams, A, s->data, size, (int64_t)i * NS_PER_S);
    }
    assert_int_equal(testing_totals(s).frequency_disagrees, 1);
    for (uint32_t i = 6; i < 14; i++) {
        packet.seq = i;
        packet.clocks += 500000000;
        packet.instructions += 250000000;
        size_t size = testing_nss(s->data, &packet, 4, 4);
        prof_streams_datagram(s->streams, A, s->data, size, (int64_t)i * NS_PER_S);
    }
    assert_int_equal(testing_totals(s).frequency_swapped, 1);
    expect_mips(s, 250.0);
}

static void row_30_confirmed_stays_confirmed(void **state)
{
    struct testing_stream *s = *state;
    feed_nss(s, 0, 5, 250000000, 250000000);
    for (uint32_t i = 5; i < 15; i++) { /* halted: not the frequency's fault */
        struct testing_packet packet = {.seq = i, .clocks = 1000000000, .instructions = 500000000, .hz = HZ};
        size_t size = testing_nss(s->data, &packet, 4, 4);
        prof_streams_datagram(s->streams, A, s->data, size, (int64_t)i * NS_PER_S);
    }
    assert_int_equal(testing_totals(s).frequency_disagrees, 0);
}

static void row_30_new_frequency_is_measured_anew(void **state)
{
    struct testing_stream *s = *state;
    feed_nss(s, 10, 5, 250000000, 250000000); /* its clock did not begin at 0 */
    assert_int_equal(testing_totals(s).frequency_disagrees, 0);
    feed_nss(s, 15, 8, 250000000, 0x80b2e60e);
    assert_int_equal(testing_totals(s).frequency_swapped, 1);
    expect_mips(s, 125.0 * (12 + 0) / (11 + 250000000.0 / 0x80b2e60e)); /* one second before it was known */
}

static void row_30_what_is_held_back_shows_for_every_sender(void **state)
{
    struct testing_stream *s = *state;
    feed(s, B, (struct point){0, 0, 0, HZ, 0});
    feed_nss(s, 0, 2, 250000000, 250000000);
    expect_mips(s, 125.0);
}

static void row_30_edges_of_a_fifth(void **state)
{
    static const struct {
        uint32_t real;
        bool fits;
    } cases[] = {{80000000, true}, {79999999, false}, {120000000, true}, {120000001, false}};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct testing_stream *s = testing_stream_new();
        feed_nss(s, 0, 4, cases[i].real, 100000000);
        assert_int_equal(testing_totals(s).frequency_disagrees, !cases[i].fits);
        testing_stream_free(s);
    }
}

static void row_30_without_host_times(void **state)
{
    struct testing_stream *s = *state;
    for (uint32_t i = 0; i < 8; i++) {
        struct testing_packet packet = {
            .seq = i, .clocks = i * 1000, .instructions = i * 500, .hz = HZ, .enabled = 1};
        size_t size = testing_nss(s->data, &packet, 4, 4);
        prof_streams_datagram(s->streams, A, s->data, size, EVENT_NO_TIME);
    }
    expect_mips(s, 125.0);
    assert_int_equal(testing_totals(s).frequency_disagrees, 0);
}

static void row_30_is_for_nss_alone(void **state)
{
    struct testing_stream *s = *state;
    for (uint32_t i = 0; i < 8; i++)
        feed(s, A, (struct point){i, i * 500000000u, i * 3000000u, 0x0065cd1d, i * NS_PER_S});
    assert_int_equal(testing_totals(s).frequency_swapped, 0);
    assert_true(mips(s) < 1);
}

static void refused_number_gives_no_clock(void **state)
{
    struct testing_stream *s = *state;
    struct testing_packet packet = {.seq = 0, .clocks = 99, .hz = HZ, .count = 1, .enabled = 1};
    size_t size = testing_v17(s->data, &packet);
    prof_streams_datagram(s->streams, A, s->data, size - 1, 0);
    feed(s, A, (struct point){.seq = 1, .clocks = 250, .hz = HZ});
    assert_int_equal(target_ns(s), 1000);
    expect_mips(s, -1);
}

static void rates_of_two_senders_do_not_mix(void **state)
{
    struct testing_stream *s = *state;
    feed(s, A, (struct point){.seq = 0, .clocks = 0, .instructions = 0, .hz = HZ});
    feed(s, B, (struct point){.seq = 0, .clocks = 0x80000000, .instructions = 0x80000000, .hz = HZ});
    feed(s, A, (struct point){.seq = 1, .clocks = 1000, .instructions = 500, .hz = HZ});
    feed(s, B,
         (struct point){.seq = 1, .clocks = 0x80000000 + 1000, .instructions = 0x80000000 + 500, .hz = HZ});
    expect_mips(s, 125.0);
}

static void absurd_clocks_stay_in_range(void **state)
{
    struct testing_stream *s = *state;
    int64_t last = -1;
    feed(s, A, (struct point){.seq = 0, .clocks = 0xffffffff, .hz = 1});
    for (uint32_t i = 1; i < 200; i++) {
        feed(s, A, (struct point){.seq = i, .clocks = 0xffffffffu - i, .hz = 1 + i % 2});
        assert_true(target_ns(s) >= last);
        last = target_ns(s);
    }
}

static int setup(void **state)
{
    *state = testing_stream_new();
    return 0;
}

static int teardown(void **state)
{
    testing_stream_free(*state);
    return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(golden_125_mips),
        TEST(row_24_clock_wraps),
        TEST(row_25_clock_zero_is_a_baseline),
        TEST(row_26_equal_clocks),
        TEST(row_27_silence_longer_than_a_wrap),
        cmocka_unit_test(row_27_from_which_moment_a_silence_is_too_long),
        TEST(row_28_no_frequency),
        TEST(row_29_frequency_changes),
        TEST(row_20_late_clocks_are_not_used),
        TEST(row_22_restart_rebaselines),
        TEST(row_40_more_instructions_than_clocks),
        TEST(row_30_swapped_frequency_is_put_right),
        TEST(row_30_swapped_frequency_that_looks_fine),
        TEST(row_30_frequency_that_fits_is_kept),
        TEST(row_30_frequency_that_fits_neither_way_is_kept),
        TEST(row_30_measured_again_until_it_fits),
        TEST(row_30_confirmed_stays_confirmed),
        TEST(row_30_new_frequency_is_measured_anew),
        TEST(row_30_what_is_held_back_shows_for_every_sender),
        cmocka_unit_test(row_30_edges_of_a_fifth),
        TEST(row_30_without_host_times),
        TEST(row_30_is_for_nss_alone),
        TEST(refused_number_gives_no_clock),
        TEST(rates_of_two_senders_do_not_mix),
        TEST(absurd_clocks_stay_in_range),
    };
    return cmocka_run_group_tests_name("prof clock", tests, NULL, NULL);
}
