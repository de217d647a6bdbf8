/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams, an analysis and the report of both, fed with packets that a test fills in as structs: for tests of
 * what is added up, where the bytes of a datagram do not matter.
 */
#ifndef CORRAL_TEST_PROF_RIG_H
#define CORRAL_TEST_PROF_RIG_H

#include "prof_testing.h"

#include "prof/report.h"

#define SENDER "192.0.2.1:40000"
#define OTHER  "192.0.2.1:40001"

struct rig {
    struct prof_analysis *analysis;
    struct prof_streams *streams;
    struct prof_report *report;
    struct profile_header header; /* of the next packet; seq counts up by itself */
    enum profile_layout layout;
    int64_t ns;
    struct symbol_space *spaces[2];
};

static inline struct rig *rig_new(void)
{
    struct rig *r = calloc(1, sizeof(*r));

    assert_non_null(r);
    r->analysis = prof_analysis_new();
    r->streams = prof_streams_new(NULL, r->analysis);
    assert_true(r->analysis && r->streams);
    r->header = (struct profile_header){
        .thread_count = 16, .perf_counter_count = 4, .enabled = 0xffff, .clock_hz = HZ};
    r->layout = PROFILE_V17;
    return r;
}

static inline void rig_free(struct rig *r)
{
    prof_report_free(r->report);
    prof_streams_free(r->streams);
    prof_analysis_free(r->analysis);
    free(r);
}

/* One packet from `sender`, at the rig's header, time and layout. */
static inline void rig_feed_from(struct rig *r, const char *sender, const struct profile_sample *samples,
                                 size_t count)
{
    struct profile_packet packet = {.version = r->layout == PROFILE_V17 ? 17 : 21,
                                    .layout = r->layout,
                                    .header = r->header,
                                    .samples = samples,
                                    .sample_count = count};

    packet.header.sample_count = (uint8_t)count;
    prof_streams_packet(r->streams, sender, &packet, r->ns);
    r->header.seq++;
}

static inline void rig_feed(struct rig *r, const struct profile_sample *samples, size_t count)
{
    rig_feed_from(r, SENDER, samples, count);
}

/* `times` samples at `pc` of thread 0, by link register `link` and stack word `parent`. */
static inline void rig_sample(struct rig *r, uint32_t pc, uint32_t link, uint32_t parent, unsigned times)
{
    struct profile_sample s = {.pc = pc, .a5 = link, .a_reg = link, .parent = parent, .active = 1};

    if (parent && r->layout != PROFILE_V17) {
        s.parent_count = 1;
        s.parents[0] = parent;
    }
    while (times--)
        rig_feed(r, &s, 1);
}

static inline const struct prof_report *rig_report_with(struct rig *r,
                                                        const struct prof_report_options *options)
{
    struct diag d = DIAG_INIT;

    prof_report_free(r->report);
    r->report = prof_report_make(r->streams, r->analysis, options, &d);
    assert_non_null(r->report);
    return r->report;
}

static inline const struct prof_report *rig_report(struct rig *r)
{
    struct prof_report_options options = {
        .spaces = r->spaces, .space_count = 2, .thread = -1, .hot_limit = 1000, .stacks = true};

    return rig_report_with(r, &options);
}

static inline const struct prof_report_function *rig_function(const struct prof_report *report,
                                                              const char *name)
{
    for (size_t i = 0; i < report->function_count; i++)
        if (strcmp(report->functions[i].frame.name, name) == 0)
            return &report->functions[i];
    return NULL;
}

static inline void expect_near(double got, double want)
{
    double d = got - want;

    if (!(d < 1e-9 && d > -1e-9))
        fail_msg("%.12g is not %.12g", got, want);
}

static inline int rig_setup(void **state)
{
    *state = rig_new();
    return 0;
}

static inline int rig_teardown(void **state)
{
    rig_free(*state);
    return 0;
}

#endif
