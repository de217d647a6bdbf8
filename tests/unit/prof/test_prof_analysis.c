/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the analysis adds up, by cases worked out by hand: intervals, threads, latencies, header groups,
 * hardware and named counters, and what late, repeated and restarted packets may be used for. Rows are those
 * of profiler sheet 11.
 */
#include "prof_rig.h"

#include <math.h>
#include <stdio.h>

#define S(state) ((struct rig *)*(state))

static const struct prof_report_source *source_of(const struct prof_report *r)
{
    assert_true(r->source_count >= 1);
    return &r->sources[0];
}

static const struct prof_report_thread *thread_of(const struct prof_report *r, unsigned thread)
{
    for (size_t i = 0; i < r->thread_count; i++)
        if (r->threads[i].source == 0 && r->threads[i].thread == thread)
            return &r->threads[i];
    return NULL;
}

/* One instant: a sample of each thread in `threads`, of which `active` run. */
static void feed_instant(struct rig *r, unsigned threads, unsigned active)
{
    struct profile_sample s[16];
    size_t n = 0;

    for (unsigned t = 0; t < 16; t++)
        if (threads >> t & 1)
            s[n++] =
                (struct profile_sample){.pc = 0x1000 + t, .thread = (uint8_t)t, .active = (uint16_t)active};
    rig_feed(r, s, n);
}

/* --- samples and threads -------------------------------------------------------------------------------- */

static void intervals_and_utilisation(void **state)
{
    struct rig *r = S(state);
    feed_instant(r, 0x7, 0x7); /* 1 */
    feed_instant(r, 0x7, 0x1); /* 1 */
    feed_instant(r, 0x7, 0x0); /* 0: idle */
    feed_instant(r, 0x7, 0x6); /* 1 */
    const struct prof_report *p = rig_report(r);
    assert_int_equal(source_of(p)->intervals, 4);
    expect_near(source_of(p)->utilisation, 3.0 / 4);
    const struct prof_report_thread *t = thread_of(p, 1);
    assert_int_equal(t->samples, 4);
    assert_int_equal(t->active, 2);
    expect_near(t->rate, (1.0 / 3 + 1.0 / 2) / 2);
    expect_near(t->utilisation, (1.0 / 3 + 1.0 / 2) / 4);
}

static void an_instant_may_be_cut_by_the_packets_end(void **state)
{
    struct rig *r = S(state);
    const struct profile_sample a[] = {{.thread = 0, .active = 0xf}, {.thread = 1, .active = 0xf}};
    const struct profile_sample b[] = {{.thread = 2, .active = 0xf}, {.thread = 3, .active = 0xf}};
    rig_feed(r, a, 2);
    rig_feed(r, b, 2);
    assert_int_equal(source_of(rig_report(r))->intervals, 1);
    r->header.seq++; /* what was between is lost: this is another instant */
    rig_feed(r, b, 2);
    assert_int_equal(source_of(rig_report(r))->intervals, 2);
}

static void row_35_thread_0_never_sampled(void **state)
{
    struct rig *r = S(state);
    for (unsigned i = 0; i < 3; i++)
        feed_instant(r, 0x6, 0x6);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(source_of(p)->intervals, 3);
    expect_near(source_of(p)->utilisation, 1);
}

static void row_36_inactive_sample_is_for_the_denominator(void **state)
{
    struct rig *r = S(state);
    feed_instant(r, 0x3, 0x1);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(p->totals.samples, 2);
    assert_int_equal(p->totals.active_samples, 1);
    assert_int_equal(thread_of(p, 1)->samples, 1);
    assert_int_equal(thread_of(p, 1)->active, 0);
    expect_near(thread_of(p, 1)->rate, 0);
    assert_int_equal(p->hot_count, 1); /* its pc is stale, and nowhere */
    assert_int_equal(p->hot[0].pc, 0x1000);
}

static void row_31_thread_past_the_layouts_threads(void **state)
{
    struct rig *r = S(state);
    r->layout = PROFILE_V21;
    r->header.thread_count = 12;
    struct profile_sample s[3] = {{.thread = 11, .active = 0xffff},
                                  {.thread = 12, .active = 0xffff},
                                  {.thread = 255, .active = 0xffff}};
    rig_feed(r, s, 3);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(p->totals.packets, 1);
    assert_int_equal(p->totals.samples, 1);
    assert_int_equal(p->totals.bad_samples, 2);
    assert_int_equal(p->hot_count, 1);
}

static void packets_from_elsewhere_are_checked(void **state)
{
    struct rig *r = S(state);
    static struct profile_sample many[300];
    rig_feed(r, many, 300);
    r->header.thread_count = 200;
    r->header.perf_counter_count = 200;
    struct profile_sample s = {.thread = 16, .active = 1, .parent_count = 255};
    rig_feed(r, &s, 1);
    s.thread = 0;
    r->layout = PROFILE_V21;
    rig_feed(r, &s, 1);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(p->totals.rejected, 1);
    assert_int_equal(p->totals.rejected_by[PROF_REASON_SAMPLE_COUNT], 1);
    assert_int_equal(p->totals.samples, 1);
    assert_int_equal(p->totals.bad_samples, 1);
}

static void rows_32_and_34_threads_outside_the_mask(void **state)
{
    struct rig *r = S(state);
    r->header.enabled = 0x1;
    feed_instant(r, 0x5, 0x5);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(p->totals.samples, 2);
    assert_int_equal(p->thread_count, 2);
    assert_true(thread_of(p, 0)->enabled);
    assert_false(thread_of(p, 2)->enabled); /* shown, and flagged */
}

static void row_34_no_thread_enabled(void **state)
{
    struct rig *r = S(state);
    r->header.enabled = 0;
    rig_feed(r, NULL, 0);
    assert_int_equal(rig_report(r)->thread_count, 0);
    feed_instant(r, 0x3, 0x3);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(thread_of(p, 1)->active, 1);
    expect_near(source_of(p)->utilisation, 1);
}

static void row_33_profiler_thread(void **state)
{
    struct rig *r = S(state);
    r->header.enabled = 0xf;
    r->header.profiler_thread = 3;
    r->header.hrt = 0x2;
    r->header.high = 0x4;
    feed_instant(r, 0x1, 0x9); /* 3 runs, of course: it is taking the sample */
    const struct prof_report *p = rig_report(r);
    assert_int_equal(thread_of(p, 3)->type, PROF_THREAD_PROFILER);
    assert_int_equal(thread_of(p, 0)->type, PROF_THREAD_NRT);
    assert_int_equal(thread_of(p, 1)->type, PROF_THREAD_HRT);
    assert_int_equal(thread_of(p, 2)->type, PROF_THREAD_HIGH);
    expect_near(thread_of(p, 0)->rate, 1); /* it does not compete */
    r->header.profiler_thread = 0xffff;
    r->header.hrt = r->header.high = 0;
    feed_instant(r, 0x1, 0x1);
    p = rig_report(r);
    assert_int_equal(thread_of(p, 3)->type, PROF_THREAD_NRT);
    assert_int_equal(thread_of(p, 1)->type, PROF_THREAD_HRT); /* only ever promoted */
    r->header.profiler_thread = 200;
    feed_instant(r, 0x1, 0x1);
    assert_int_equal(thread_of(rig_report(r), 3)->type, PROF_THREAD_NRT);
    r->header.profiler_thread = 0; /* a sampled thread is not the profiler's */
    feed_instant(r, 0x1, 0x1);
    assert_int_equal(thread_of(rig_report(r), 0)->type, PROF_THREAD_NRT);
}

static void blocked_samples(void **state)
{
    struct rig *r = S(state);
    const struct profile_sample s[] = {
        {.pc = 4, .active = 1, .i_blocked = 1},
        {.pc = 4, .active = 1, .d_blocked = 3},
        {.pc = 4, .active = 1, .self_d_blocked = true, .self_i_blocked = true},
        {.pc = 4, .active = 1, .d_blocked = 2}, /* another thread's */
        {.pc = 4, .active = 0, .d_blocked = 1},
    };
    rig_feed(r, s, 5);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(thread_of(p, 0)->i_blocked, 2);
    assert_int_equal(thread_of(p, 0)->d_blocked, 2);
    assert_int_equal(p->hot[0].count, 4);
    assert_int_equal(p->hot[0].i_blocked, 2);
    assert_int_equal(p->hot[0].d_blocked, 2);
    assert_int_equal(p->functions[0].i_blocked, 2);
    assert_int_equal(p->functions[0].d_blocked, 2);
}

static void row_39_latencies(void **state)
{
    struct rig *r = S(state);
    const uint32_t latencies[] = {0, 1, 2, 3, 4, 0x80000000, 0xffffffff};
    for (size_t i = 0; i < 7; i++) {
        const struct profile_sample s[] = {{.latency = latencies[i], .active = 3},
                                           {.latency = 77, .thread = 1, .active = 3}}; /* not thread 0 */
        rig_feed(r, s, 2);
    }
    const struct prof_report_source *s = source_of(rig_report(r));
    assert_int_equal(s->latency_count, 7);
    assert_int_equal(s->latency_max, 0xffffffff);
    assert_int_equal(s->latency[0], 1);
    assert_int_equal(s->latency[1], 1);
    assert_int_equal(s->latency[2], 2);
    assert_int_equal(s->latency[3], 1);
    assert_int_equal(s->latency[32], 2);
}

static void latencies_that_are_all_zero_are_not_reported(void **state)
{
    struct rig *r = S(state);
    feed_instant(r, 0x1, 0x1);
    assert_int_equal(source_of(rig_report(r))->latency_count, 0);
}

/* --- headers -------------------------------------------------------------------------------------------- */

static void row_41_groups_that_are_all_zero(void **state)
{
    struct rig *r = S(state);
    feed_instant(r, 0x1, 0x1);
    const struct prof_report_source *s = source_of(rig_report(r));
    assert_false(s->heap.known || s->netpage.known || s->extheap.known || s->extnetpage.known);
    assert_false(s->timing.known || s->dsr.known);
    assert_int_equal(s->perf.count, 0);
    assert_false(thread_of(r->report, 0)->min_sp_known);
    expect_near(s->profiler_share, -1);
    assert_int_equal(s->ddr_hz, 0);
}

static void groups_show_the_newest(void **state)
{
    struct rig *r = S(state);
    r->header.heap_free = 5000;
    r->header.heap_low_water = 4000;
    r->header.extnetpage_free = 7;
    r->header.min_sp[2] = 0x3ffc1000;
    r->header.timing_function = 0x40001000;
    r->header.timing_worst_time = 99;
    r->header.dsr_max_latency = 50;
    r->header.dsr_ave_latency = 10;
    r->header.dsr_count = 3;
    feed_instant(r, 0x5, 0x5);
    r->header.heap_free = 0; /* once it was reported, 0 is a value */
    r->header.min_sp[2] = 0x3ffc2000;
    r->header.dsr_max_latency = 20;
    r->header.dsr_ave_latency = 11;
    feed_instant(r, 0x5, 0x5);
    const struct prof_report_source *s = source_of(rig_report(r));
    assert_true(s->heap.known);
    assert_int_equal(s->heap.free, 0);
    assert_int_equal(s->heap.low_water, 4000);
    assert_false(s->netpage.known);
    assert_int_equal(s->extnetpage.free, 7);
    assert_int_equal(thread_of(r->report, 2)->min_sp, 0x3ffc1000); /* the lowest */
    assert_false(thread_of(r->report, 0)->min_sp_known);
    assert_true(s->timing.known);
    assert_int_equal(s->timing.worst_clocks, 99);
    assert_string_equal(s->timing.frame.name, "[unknown]");
    assert_int_equal(s->dsr.max_clocks, 50);
    assert_int_equal(s->dsr.average_clocks, 11);
    assert_int_equal(s->dsr.count, 6);
}

/* 125,000,000 instructions in 250,000,000 clocks at 250 MHz: profiler sheet 11's golden value. */
static void golden_125_mips_and_rates(void **state)
{
    struct rig *r = S(state);
    r->header.clocks = 0xf0000000; /* wraps on the way */
    r->header.instruction_count[0] = 0xfffffff0;
    r->header.instruction_count[1] = 7; /* it counts, and executes nothing */
    feed_instant(r, 0x3, 0x3);
    for (unsigned i = 0; i < 10; i++) {
        r->header.clocks += 25000000;
        r->header.instruction_count[0] += 12500000;
        r->header.profile_instructions = 125000;
        feed_instant(r, 0x3, 0x3);
    }
    const struct prof_report_source *s = source_of(rig_report(r));
    expect_near(s->seconds, 1);
    assert_int_equal(s->intervals, 11);
    expect_near(s->sampling_hz, 10); /* the first packet's was before the clock was based */
    assert_true(thread_of(r->report, 0)->mips_known);
    expect_near(thread_of(r->report, 0)->mips, 125);
    assert_true(thread_of(r->report, 1)->mips_known);
    expect_near(thread_of(r->report, 1)->mips, 0);
    expect_near(s->profiler_share, 0.01);
    /* functions get what their threads executed, by their share of them */
    assert_true(r->report->functions[0].mips_known);
    expect_near(r->report->functions[0].mips, 125);
}

static void row_28_no_frequency(void **state)
{
    struct rig *r = S(state);
    r->header.clock_hz = 0;
    for (unsigned i = 0; i < 3; i++) {
        r->header.clocks += 1000;
        r->header.instruction_count[0] += 500;
        feed_instant(r, 0x1, 0x1);
    }
    const struct prof_report_source *s = source_of(rig_report(r));
    assert_int_equal(s->clock_hz, 0);
    expect_near(s->seconds, -1);
    expect_near(s->sampling_hz, -1);
    assert_false(thread_of(r->report, 0)->mips_known);
    assert_false(r->report->functions[0].mips_known);
}

/* The Linux sender counts for all threads or none; a counter that is 0 from the boot on was never counted. */
static void counters_that_stay_0_are_no_measurement(void **state)
{
    struct rig *r = S(state);
    for (unsigned i = 0; i < 3; i++) {
        r->header.clocks += 25000000;
        feed_instant(r, 0x3, 0x3);
    }
    const struct prof_report *p = rig_report(r);
    assert_true(source_of(p)->seconds > 0);
    assert_false(thread_of(p, 0)->mips_known);
    expect_near(thread_of(p, 0)->mips, 0);
    assert_false(p->functions[0].mips_known);
    /* of what runs on two threads, half a sum would not be true */
    r->header.instruction_count[0] = 1000;
    feed_instant(r, 0x3, 0x3);
    p = rig_report(r);
    assert_true(thread_of(p, 0)->mips_known);
    assert_false(thread_of(p, 1)->mips_known);
    assert_false(p->functions[0].mips_known);
    expect_near(p->functions[0].mips, 0);
}

static void without_a_sample_nothing_is_busy_or_idle(void **state)
{
    struct rig *r = S(state);
    r->header.clocks = 1000;
    rig_feed(r, NULL, 0);
    expect_near(source_of(rig_report(r))->utilisation, -1);
}

static void row_26_identical_clocks(void **state)
{
    struct rig *r = S(state);
    for (unsigned i = 0; i < 5; i++)
        feed_instant(r, 0x1, 0x1);
    const struct prof_report_source *s = source_of(rig_report(r));
    expect_near(s->seconds, -1); /* nothing passed: nothing to divide by */
    expect_near(s->sampling_hz, -1);
    assert_false(thread_of(r->report, 0)->mips_known);
}

static void hardware_counters(void **state)
{
    struct rig *r = S(state);
    r->header.perf_counters[1] = 0xffffff00;
    feed_instant(r, 0x1, 0x1);
    for (unsigned i = 0; i < 4; i++) {
        r->header.clocks += HZ / 4;
        r->header.instruction_count[0] += 1000000;
        r->header.perf_counters[1] += 10000; /* wraps */
        r->header.perf_counters[2] += 300000;
        r->header.perf_counters[3] += 50000;
        feed_instant(r, 0x1, 0x1);
    }
    const struct prof_report_perf *p = &source_of(rig_report(r))->perf;
    assert_int_equal(p->count, 4);
    assert_int_equal(p->total[0], 0);
    assert_int_equal(p->total[1], 40000);
    assert_int_equal(p->total[2], 1200000);
    assert_true(p->rate_known);
    expect_near(p->per_second[1], 40000);
    assert_true(p->miss_rates_known);
    expect_near(p->i_miss_per_instruction, 0.01);
    expect_near(p->d_miss_rate, 200000.0 / 1000000); /* a miss counts twice as an access */
}

static void hardware_counter_that_was_reset(void **state)
{
    struct rig *r = S(state);
    r->header.perf_counters[0] = 1000000;
    feed_instant(r, 0x1, 0x1);
    r->header.clocks += 1000;
    r->header.perf_counters[0] = 5; /* 4 billion events in 1000 clocks there were not */
    feed_instant(r, 0x1, 0x1);
    r->header.clocks += 1000;
    r->header.perf_counters[0] = 105;
    feed_instant(r, 0x1, 0x1);
    assert_int_equal(source_of(rig_report(r))->perf.total[0], 100);
}

static void eight_hardware_counters_have_eight_baselines(void **state)
{
    struct rig *r = S(state);
    r->layout = PROFILE_V21;
    r->header.perf_counter_count = 8;
    r->header.thread_count = 12;
    for (unsigned i = 0; i < 8; i++)
        r->header.perf_counters[i] = 1000 * (i + 1);
    feed_instant(r, 0x1, 0x1);
    r->header.clocks += HZ;
    for (unsigned i = 0; i < 8; i++)
        r->header.perf_counters[i] += i;
    feed_instant(r, 0x1, 0x1);
    const struct prof_report_perf *p = &source_of(rig_report(r))->perf;
    assert_int_equal(p->count, 8);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(p->total[i], i);
}

/* --- the order of packets ------------------------------------------------------------------------------- */

static void row_19_duplicate_adds_nothing(void **state)
{
    struct rig *r = S(state);
    r->header.dsr_count = 5;
    feed_instant(r, 0x3, 0x3);
    r->header.seq--;
    feed_instant(r, 0x3, 0x3);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(p->totals.duplicates, 1);
    assert_int_equal(p->totals.samples, 2);
    assert_int_equal(thread_of(p, 0)->samples, 1);
    assert_int_equal(source_of(p)->intervals, 1);
    assert_int_equal(source_of(p)->dsr.count, 5);
    assert_int_equal(p->functions[0].self, 2);
}

static void row_20_late_packet_gives_samples_and_no_clock(void **state)
{
    struct rig *r = S(state);
    r->header.seq = 10;
    r->header.clocks = 0;
    feed_instant(r, 0x1, 0x1);
    r->header.seq = 12;
    r->header.clocks = HZ;
    r->header.instruction_count[0] = 100000000;
    r->header.perf_counters[0] = 1000;
    r->header.heap_free = 200;
    feed_instant(r, 0x1, 0x1);
    r->header.seq = 11; /* half way */
    r->header.clocks = HZ / 2;
    r->header.instruction_count[0] = 50000000;
    r->header.perf_counters[0] = 500;
    r->header.heap_free = 100;
    feed_instant(r, 0x1, 0x1);
    r->header.seq = 13;
    r->header.clocks = 2 * HZ;
    r->header.instruction_count[0] = 200000000;
    r->header.perf_counters[0] = 2000;
    r->header.heap_free = 300;
    feed_instant(r, 0x1, 0x1);
    const struct prof_report_source *s = source_of(rig_report(r));
    assert_int_equal(s->totals.lost, 0);
    assert_int_equal(s->totals.late, 1);
    assert_int_equal(s->totals.samples, 4);
    expect_near(s->seconds, 2);
    expect_near(thread_of(r->report, 0)->mips, 100);
    assert_int_equal(s->perf.total[0], 2000);
    assert_int_equal(s->heap.free, 300);
    assert_int_equal(s->intervals, 4);
}

static void row_22_restart_rebases(void **state)
{
    struct rig *r = S(state);
    r->header.seq = 5000;
    r->header.clocks = 1000000000;
    r->header.instruction_count[0] = 1000000;
    r->header.perf_counters[0] = 77777;
    r->header.min_sp[0] = 0x100;
    feed_instant(r, 0x1, 0x1);
    r->header.seq = 3;
    r->header.clocks = 10;
    r->header.instruction_count[0] = 5;
    r->header.perf_counters[0] = 1;
    r->header.min_sp[0] = 0x900;
    feed_instant(r, 0x1, 0x1);
    r->header.clocks += HZ;
    r->header.instruction_count[0] += 50000000;
    r->header.perf_counters[0] += 10;
    feed_instant(r, 0x1, 0x1);
    const struct prof_report_source *s = source_of(rig_report(r));
    assert_int_equal(s->totals.restarts, 1);
    assert_int_equal(s->totals.samples, 3); /* the profile is kept */
    expect_near(s->seconds, 1);
    expect_near(thread_of(r->report, 0)->mips, 50);
    assert_int_equal(s->perf.total[0], 10);
    assert_int_equal(thread_of(r->report, 0)->min_sp, 0x900);
}

static void row_27_silence_gives_no_rate(void **state)
{
    struct rig *r = S(state);
    feed_instant(r, 0x1, 0x1);
    r->ns = 30 * NS_PER_S; /* more than one wrap of 17.2 s */
    r->header.clocks += HZ;
    r->header.instruction_count[0] += 200000000;
    r->header.perf_counters[0] += 1000;
    feed_instant(r, 0x1, 0x1);
    const struct prof_report_source *s = source_of(rig_report(r));
    expect_near(s->seconds, -1);
    assert_false(thread_of(r->report, 0)->mips_known);
    assert_int_equal(s->perf.total[0], 0);
    r->ns += NS_PER_S;
    r->header.clocks += HZ;
    r->header.instruction_count[0] += 100000000;
    feed_instant(r, 0x1, 0x1);
    s = source_of(rig_report(r));
    expect_near(s->seconds, 1);
    expect_near(thread_of(r->report, 0)->mips, 100);
}

/* --- senders -------------------------------------------------------------------------------------------- */

static void row_58_senders_do_not_mix(void **state)
{
    struct rig *r = S(state);
    const struct profile_sample s = {.pc = 0x1000, .active = 1};
    for (unsigned i = 0; i < 3; i++)
        rig_feed_from(r, SENDER, &s, 1);
    r->header.seq = 0;
    rig_feed_from(r, OTHER, &s, 1);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(p->source_count, 2);
    assert_int_equal(p->sources[0].totals.samples, 3);
    assert_int_equal(p->sources[1].totals.samples, 1);
    assert_string_equal(p->sources[1].name, OTHER);
    assert_int_equal(p->function_count, 2);
    expect_near(p->functions[0].share, 1);
    expect_near(p->functions[1].share, 1);
}

static void row_60_evicted_samples_are_nobodys(void **state)
{
    struct rig *r = S(state);
    const struct profile_sample first = {.pc = 0x1000, .active = 1}, later = {.pc = 0x2000, .active = 1};
    char name[32];
    for (unsigned i = 0; i < 5; i++)
        rig_feed_from(r, "198.51.100.1:1", &first, 1);
    for (unsigned i = 0; i < PROF_MAX_SOURCES; i++) { /* the last one takes the first one's place */
        snprintf(name, sizeof(name), "203.0.113.1:%u", i);
        r->header.seq = 1;
        rig_feed_from(r, name, &later, 1);
    }
    const struct prof_report *p = rig_report(r);
    assert_int_equal(p->source_count, PROF_MAX_SOURCES + 1);
    assert_string_equal(p->sources[0].name, name);
    assert_int_equal(p->sources[0].totals.samples, 1);
    for (size_t i = 0; i < p->function_count; i++)
        if (p->functions[i].source == 0)
            assert_int_equal(p->functions[i].self, 1);
    for (size_t i = 0; i < p->hot_count; i++)
        assert_int_equal(p->hot[i].pc, 0x2000);
    const struct prof_report_source *evicted = &p->sources[PROF_MAX_SOURCES];
    assert_true(evicted->evicted);
    assert_string_equal(evicted->name, "evicted");
    assert_int_equal(evicted->totals.samples, 5);
    assert_int_equal(evicted->totals.evicted, 1);
    assert_int_equal(p->totals.samples, 5 + PROF_MAX_SOURCES);
    assert_int_equal(thread_of(p, 0)->samples, 1);
}

static void hrt_table_is_of_the_index(void **state)
{
    struct rig *r = S(state);
    uint8_t table[64];
    char name[32];
    memset(table, 0xc0, sizeof(table));
    table[0] = 1; /* thread 1 has every other turn */
    prof_analysis_hrt_table(r->analysis, PROF_EVERY_SOURCE, table);
    prof_analysis_hrt_table(r->analysis, PROF_MAX_SOURCES, table); /* there is no such index */
    r->header.hrt = 0x2;
    feed_instant(r, 0x3, 0x3);
    const struct prof_report *p = rig_report(r);
    expect_near(thread_of(p, 0)->rate, 0.5);
    expect_near(thread_of(p, 1)->rate, 0.5);
    feed_instant(r, 0x1, 0x1);
    expect_near(thread_of(rig_report(r), 0)->rate, 0.75);
    for (unsigned i = 0; i < PROF_MAX_SOURCES; i++) { /* the first sender is put out */
        snprintf(name, sizeof(name), "203.0.113.1:%u", i);
        rig_feed_from(r, name, &(struct profile_sample){.thread = 1, .active = 0x3}, 1);
    }
    expect_near(thread_of(rig_report(r), 1)->rate, 0.5);
}

static void reset_counts_anew(void **state)
{
    struct rig *r = S(state);
    assert_int_equal(prof_streams_name(r->streams, SENDER, "core0", NULL), CORRAL_OK);
    r->header.heap_free = 9;
    feed_instant(r, 0x3, 0x3);
    r->header.seq++; /* one lost */
    r->header.clocks += HZ;
    feed_instant(r, 0x3, 0x3);
    prof_streams_kernel_drops(r->streams, 3, 0);
    assert_int_equal(rig_report(r)->totals.lost, 1);
    assert_int_equal(r->report->kernel_drops, 3);
    prof_streams_reset(r->streams);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(p->source_count, 1);
    assert_string_equal(p->sources[0].name, "core0");
    assert_int_equal(p->totals.lost, 0);
    assert_int_equal(p->totals.samples, 0);
    assert_int_equal(p->totals.sources, 1);
    assert_int_equal(p->kernel_drops, 0);
    assert_int_equal(p->function_count, 0);
    assert_int_equal(p->hot_count, 0);
    assert_int_equal(source_of(p)->intervals, 0);
    expect_near(source_of(p)->seconds, -1);
    assert_true(source_of(p)->heap.known); /* levels stay */
    r->header.seq -= 2;                    /* what was counted lost before comes late: nothing to take back */
    feed_instant(r, 0x3, 0x3);
    r->header.seq += 2; /* and one is missing between before and after */
    r->header.clocks += HZ;
    feed_instant(r, 0x3, 0x3);
    p = rig_report(r);
    assert_int_equal(p->totals.lost, 1);
    assert_int_equal(p->totals.late, 1);
    assert_int_equal(p->totals.samples, 4);
    expect_near(source_of(p)->seconds, 1); /* the clock went on */
}

static void no_quotient_is_infinite(void **state)
{
    struct rig *r = S(state);
    feed_instant(r, 0x1, 0x0);
    const struct prof_report *p = rig_report(r);
    assert_true(isfinite(source_of(p)->utilisation) && isfinite(source_of(p)->seconds));
    assert_true(isfinite(source_of(p)->sampling_hz) && isfinite(source_of(p)->profiler_share));
    assert_true(isfinite(thread_of(p, 0)->rate) && isfinite(thread_of(p, 0)->utilisation));
    assert_int_equal(p->function_count, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(intervals_and_utilisation),
        TEST(an_instant_may_be_cut_by_the_packets_end),
        TEST(row_35_thread_0_never_sampled),
        TEST(row_36_inactive_sample_is_for_the_denominator),
        TEST(row_31_thread_past_the_layouts_threads),
        TEST(packets_from_elsewhere_are_checked),
        TEST(rows_32_and_34_threads_outside_the_mask),
        TEST(row_34_no_thread_enabled),
        TEST(row_33_profiler_thread),
        TEST(blocked_samples),
        TEST(row_39_latencies),
        TEST(latencies_that_are_all_zero_are_not_reported),
        TEST(row_41_groups_that_are_all_zero),
        TEST(groups_show_the_newest),
        TEST(golden_125_mips_and_rates),
        TEST(counters_that_stay_0_are_no_measurement),
        TEST(without_a_sample_nothing_is_busy_or_idle),
        TEST(row_28_no_frequency),
        TEST(row_26_identical_clocks),
        TEST(hardware_counters),
        TEST(hardware_counter_that_was_reset),
        TEST(eight_hardware_counters_have_eight_baselines),
        TEST(row_19_duplicate_adds_nothing),
        TEST(row_20_late_packet_gives_samples_and_no_clock),
        TEST(row_22_restart_rebases),
        TEST(row_27_silence_gives_no_rate),
        TEST(row_58_senders_do_not_mix),
        TEST(row_60_evicted_samples_are_nobodys),
        TEST(hrt_table_is_of_the_index),
        TEST(reset_counts_anew),
        TEST(no_quotient_is_infinite),
    };
    return cmocka_run_group_tests_name("prof analysis", tests, NULL, NULL);
}
