/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PC sampling over the debug port: on the virtual board against its own exact count of cycles, and on memory
 * of the test's own for cores that have no such register, or do not answer any more.
 */
#include "prof/pcsr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coresight/rom_table.h"
#include "link/link_backend.h"
#include "link/sim.h"
#include "prof_testing.h"

#define DEMCR  0xE000EDFCu
#define TRCENA (1u << 24)

struct bench {
    struct host_clock *clock;
    struct link *link;
    struct core *cores[2];
    size_t count;
    struct testing_stream *stream;
};

static void open_cores(struct bench *b, struct diag *d)
{
    struct cs_topology *t = cs_scan(b->link, NULL, d);
    assert_non_null(t);
    for (size_t i = 0; i < t->core_count; i++) {
        b->cores[i] = core_cortex_m_open(b->link, t->cores[i].ap, t->cores[i].name, 100000000, NULL, d);
        assert_non_null(b->cores[i]);
    }
    b->count = t->core_count;
    cs_topology_free(t);
}

static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));
    struct diag d = DIAG_INIT;
    assert_non_null(b);
    b->clock = host_clock_new_virtual();
    struct link_sim_options o = {.clock = b->clock, .count_pcs = true, .log_accesses = true};
    b->link = link_sim_open(&o, &d);
    assert_non_null(b->link);
    host_clock_sleep(b->clock, 2 * NS_PER_MS);
    open_cores(b, &d);
    b->stream = testing_stream_new();
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    for (size_t i = 0; i < b->count; i++)
        core_close(b->cores[i]);
    link_close(b->link);
    host_clock_free(b->clock);
    testing_stream_free(b->stream);
    free(b);
    return 0;
}

static struct prof_pcsr *open_sampler(struct bench *b, struct diag *d)
{
    struct prof_pcsr_options options = {.cores = b->cores, .count = b->count, .streams = b->stream->streams};
    return prof_pcsr_open(&options, d);
}

static void poll_for(struct bench *b, struct prof_pcsr *p, unsigned times)
{
    struct diag d = DIAG_INIT;
    for (unsigned i = 0; i < times; i++) {
        assert_int_equal(prof_pcsr_poll(p, &d), CORRAL_OK);
        host_clock_sleep(b->clock, 20 * NS_PER_US);
        if (i % 1000 == 999)
            event_bus_drain(b->stream->bus, NULL);
    }
    assert_int_equal(prof_pcsr_flush(p, &d), CORRAL_OK);
}

/* Shares of the hottest kilobytes of code against the board's own count, for both cores. */
static void shares_are_the_boards_own(void **state)
{
    struct bench *b = *state;
    struct diag d = DIAG_INIT;
    enum { BLOCK = 256, BLOCKS = 1024 };
    static uint64_t before[2][BLOCKS], exact[2][BLOCKS], sampled[2][BLOCKS];
    struct prof_pcsr *p = open_sampler(b, &d);
    uint32_t base = 0;
    const uint64_t *counts;
    size_t n;
    struct prof_aggregate_snapshot s;
    assert_non_null(p);
    assert_string_equal(prof_pcsr_note(p), "");
    memset(sampled, 0, sizeof(sampled));
    for (int pass = 0; pass < 2; pass++) {
        for (unsigned core = 0; core < 2; core++) {
            assert_true(link_sim_pc_count(b->link, core, &base, &counts, &n));
            memset(exact[core], 0, sizeof(exact[core]));
            for (size_t i = 0; i < n && i * 2 / BLOCK < BLOCKS; i++)
                exact[core][i * 2 / BLOCK] += counts[i];
            if (pass == 0)
                memcpy(before[core], exact[core], sizeof(exact[core]));
        }
        if (pass == 0)
            poll_for(b, p, 10000);
    }
    prof_pcsr_close(p);
    assert_true(prof_aggregate_snapshot(b->stream->aggregate, &s));
    uint64_t total[2] = {0}, exact_total[2] = {0};
    for (size_t i = 0; i < s.count; i++) {
        const struct prof_aggregate_entry *e = &s.entries[i];
        assert_true(e->source < 2);
        assert_true(e->pc >= base && (e->pc - base) / BLOCK < BLOCKS);
        sampled[e->source][(e->pc - base) / BLOCK] += e->samples;
        total[e->source] += e->samples;
    }
    prof_aggregate_snapshot_free(&s);
    for (unsigned core = 0; core < 2; core++) {
        assert_true(total[core] > 4000);
        for (size_t i = 0; i < BLOCKS; i++)
            exact_total[core] += exact[core][i] -= before[core][i];
        for (size_t i = 0; i < BLOCKS; i++) {
            double is = (double)exact[core][i] / (double)exact_total[core];
            double seen = (double)sampled[core][i] / (double)total[core];
            if (is > 0.05 && (seen - is > 0.03 || is - seen > 0.03))
                fail_msg("core %u, 0x%zx: %.3f of the cycles, %.3f of the samples", core, base + i * BLOCK,
                         is, seen);
        }
    }
}

static void nobody_is_halted_and_only_demcr_is_written(void **state)
{
    struct bench *b = *state;
    struct diag d = DIAG_INIT;
    static struct link_sim_bus_record records[65536];
    uint32_t demcr;
    assert_int_equal(link_write32(b->link, 0, DEMCR, 0, &d), CORRAL_OK);
    assert_int_equal(link_write32(b->link, 1, DEMCR, TRCENA, &d), CORRAL_OK);
    size_t stops = link_sim_log_count(b->link), from = 0, n;
    while (link_sim_bus_log(b->link, from, records, 65536) == 65536)
        from += 65536;
    from += link_sim_bus_log(b->link, from, records, 65536);
    struct prof_pcsr *p = open_sampler(b, &d);
    assert_non_null(p);
    poll_for(b, p, 2000);
    prof_pcsr_close(p);
    assert_int_equal(link_sim_log_count(b->link), stops);
    n = link_sim_bus_log(b->link, from, records, 65536);
    assert_true(n > 2000);
    unsigned writes = 0;
    for (size_t i = 0; i < n; i++) {
        writes += records[i].write;
        assert_true(!records[i].write || (records[i].address == DEMCR && records[i].ap == 0));
    }
    assert_int_equal(writes, 2); /* core 0's TRCENA on, and off again */
    assert_int_equal(link_read32(b->link, 0, DEMCR, &demcr, &d), CORRAL_OK);
    assert_false(demcr & TRCENA);
    assert_int_equal(link_read32(b->link, 1, DEMCR, &demcr, &d), CORRAL_OK);
    assert_true(demcr & TRCENA); /* it was on before */
}

static void a_halted_core_counts_as_inactive(void **state)
{
    struct bench *b = *state;
    struct diag d = DIAG_INIT;
    char name[PROF_SOURCE_NAME_ROOM];
    struct prof_totals totals;
    assert_int_equal(core_request_halt(b->cores[1], &d), CORRAL_OK);
    assert_int_equal(core_wait_halted(b->cores[1], CORE_WAIT_NS, &d), CORRAL_OK);
    struct prof_pcsr *p = open_sampler(b, &d);
    assert_non_null(p);
    poll_for(b, p, 1000);
    prof_pcsr_close(p);
    assert_true(prof_streams_source_totals(b->stream->streams, 0, name, &totals));
    assert_string_equal(name, "pcsr:core0");
    assert_true(totals.samples > 300 && totals.active_samples == totals.samples);
    assert_true(prof_streams_source_totals(b->stream->streams, 1, name, &totals));
    assert_true(totals.samples > 300 && totals.active_samples == 0);
}

/* ---- memory of the test's own ---- */

struct fake {
    uint32_t pcsr, ctrl;
    unsigned reads;
    unsigned dead_from; /* this access and later ones fail; 0 = never */
    unsigned accesses;
};

static enum corral_err execute(void *ctx, struct link_access *accesses, size_t count, struct diag *d)
{
    struct fake *f = ctx;
    for (size_t i = 0; i < count; i++) {
        struct link_access *a = &accesses[i];
        uint32_t value = 0;
        f->accesses++;
        a->status = CORRAL_ERR_LINK_DOWN;
        if (f->dead_from && f->accesses >= f->dead_from)
            return diag_set(d, CORRAL_ERR_LINK_DOWN, "the link is dead");
        if (a->address == 0xE000101Cu)
            value = f->pcsr;
        else if (a->address == 0xE0001000u)
            value = f->ctrl;
        else if (a->address == 0xE000ED00u)
            value = 0x410CC601; /* CPUID: Cortex-M0+ */
        else if (a->address == 0xE000EDF0u)
            value = 1; /* DHCSR: C_DEBUGEN, running */
        if (a->op == LINK_MEM_READ)
            memcpy(a->data, &value, a->size);
        a->status = CORRAL_OK;
        a->done = a->count;
    }
    return CORRAL_OK;
}

static enum corral_err opening_fails(struct fake *f, struct diag *d)
{
    static const struct link_backend backend = {.caps = LINK_CAP_MEM, .execute = execute};
    struct host_clock *clock = host_clock_new_virtual();
    struct link *link = link_new(&backend, f, "test", clock);
    struct testing_stream *stream = testing_stream_new();
    struct core *core = core_cortex_m_open(link, 0, "small", 0, NULL, d);
    struct prof_pcsr_options options = {.cores = &core, .count = 1, .streams = stream->streams};
    assert_non_null(core);
    struct prof_pcsr *p = prof_pcsr_open(&options, d);
    assert_null(p);
    core_close(core);
    link_close(link);
    host_clock_free(clock);
    testing_stream_free(stream);
    return d->code;
}

static void a_core_without_the_register_is_said_to_have_none(void **state)
{
    struct fake f = {.ctrl = 0x10000000};
    struct diag d = DIAG_INIT;
    (void)state;
    assert_int_equal(opening_fails(&f, &d), CORRAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(d.message, "small has no PC sample register"));
    f = (struct fake){.ctrl = 0};
    assert_int_equal(opening_fails(&f, &d), CORRAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(d.message, "small has no DWT"));
}

static void a_core_that_may_not_be_seen_is_said_so(void **state)
{
    struct fake f = {.ctrl = 0x40000000, .pcsr = 0xFFFFFFFF};
    struct diag d = DIAG_INIT;
    (void)state;
    assert_int_equal(opening_fails(&f, &d), CORRAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(d.message, "not permitted"));
}

static void a_dead_link_is_reported(void **state)
{
    struct diag d = DIAG_INIT;
    (void)state;
    struct fake alive = {.ctrl = 0x40000000};
    opening_fails(&alive, &d);
    for (unsigned from = 6; from < 12; from++) {
        struct fake f = {.ctrl = 0x40000000, .pcsr = 0x100, .dead_from = from};
        assert_int_equal(opening_fails(&f, &d), CORRAL_ERR_LINK_DOWN);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(shares_are_the_boards_own),
        TEST(nobody_is_halted_and_only_demcr_is_written),
        TEST(a_halted_core_counts_as_inactive),
        cmocka_unit_test(a_core_without_the_register_is_said_to_have_none),
        cmocka_unit_test(a_core_that_may_not_be_seen_is_said_so),
        cmocka_unit_test(a_dead_link_is_reported),
    };
    return cmocka_run_group_tests_name("prof pcsr", tests, NULL, NULL);
}
