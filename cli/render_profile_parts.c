/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What senders tell besides their samples, for people: hardware counters, memory, timing and latencies, named
 * counters, memory maps. What no sender reports is named in one line, never drawn as a table of zeros.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/render_profile.h"

#define NAME       16u
#define BAR        24u
#define PAGE_BYTES 256u /* of the netpage pools (profiler sheet 3.1) */

/* A heading that comes with the first line below it. */
struct section {
    const struct render_profile *r;
    const char *title;
    bool begun;
};

static void begin(struct section *s)
{
    if (!s->begun)
        render_profile_heading(s->r, s->title);
    s->begun = true;
}

static void name_cell(const struct render_profile *r, const struct prof_report *report, unsigned source)
{
    fputs("  ", r->out);
    render_profile_cell(r->out, report->sources[source].name, NAME, true);
    putc(' ', r->out);
}

/* --- hardware counters ---------------------------------------------------------------------------------- */

static void perf_row(const struct render_profile *r, const struct prof_report *report, unsigned source)
{
    const struct prof_report_perf *p = &report->sources[source].perf;
    for (unsigned i = 0; i < p->count && i < PROFILE_MAX_COUNTERS; i++) {
        char total[24], rate[24];
        name_cell(r, report, source);
        fprintf(r->out, "%-18s %10s", prof_perf_name(report->sources[source].layout, i),
                render_profile_si((double)p->total[i], total, sizeof(total)));
        if (p->rate_known)
            fprintf(r->out, " %10s/s", render_profile_si(p->per_second[i], rate, sizeof(rate)));
        putc('\n', r->out);
    }
    if (p->miss_rates_known) {
        name_cell(r, report, source);
        fprintf(r->out, "I misses by instruction %.3f %%, D miss rate %.2f %%\n",
                render_profile_percent(p->i_miss_per_instruction), render_profile_percent(p->d_miss_rate));
    }
}

static bool perf_reported(const struct prof_report_perf *p)
{
    for (unsigned i = 0; i < p->count && i < PROFILE_MAX_COUNTERS; i++)
        if (p->total[i])
            return true;
    return false;
}

static bool perf(const struct render_profile *r, const struct prof_report *report)
{
    struct section s = {.r = r, .title = "Hardware counters"};
    for (unsigned i = 0; i < report->source_count; i++) {
        if (!perf_reported(&report->sources[i].perf))
            continue;
        begin(&s);
        perf_row(r, report, i);
    }
    return s.begun;
}

/* --- named counters ------------------------------------------------------------------------------------- */

static bool counters(const struct render_profile *r, const struct prof_report *report)
{
    struct section s = {.r = r, .title = "Counters"};
    for (size_t i = 0; i < report->counter_count; i++) {
        const struct prof_report_counter *c = &report->counters[i];
        char rate[24];
        if (!s.begun) {
            begin(&s);
            fprintf(r->out, "  %-*s %-24s %11s %11s %11s %8s\n", (int)NAME - 8, "", "", "now", "least",
                    "most", "per s");
        }
        fputs("  ", r->out);
        render_profile_cell(r->out, report->sources[c->source].name, NAME - 8, true);
        putc(' ', r->out);
        render_profile_cell(r->out, c->name[0] ? c->name : "(no name)", 24, true);
        fprintf(r->out, " %11" PRIu32 " %11" PRIu32 " %11" PRIu32 " %8s", c->value, c->min, c->max,
                c->gauge        ? "a level"
                : c->rate_known ? render_profile_si(c->per_second, rate, sizeof(rate))
                                : "-");
        if (c->resets)
            fprintf(r->out, " %" PRIu32 "x reset", c->resets);
        putc('\n', r->out);
    }
    return s.begun;
}

/* --- memory --------------------------------------------------------------------------------------------- */

static void pool(struct section *s, const struct prof_report *report, unsigned source, const char *what,
                 const struct prof_report_pool *p, uint64_t unit)
{
    char now[24], low[24];
    if (!p->known)
        return;
    begin(s);
    name_cell(s->r, report, source);
    fprintf(s->r->out, "%-18s free %9s bytes, lowest %9s bytes\n", what,
            render_profile_si((double)p->free * (double)unit, now, sizeof(now)),
            render_profile_si((double)p->low_water * (double)unit, low, sizeof(low)));
}

static bool memory(const struct render_profile *r, const struct prof_report *report)
{
    struct section s = {.r = r, .title = "Memory"};
    for (unsigned i = 0; i < report->source_count; i++) {
        const struct prof_report_source *from = &report->sources[i];
        pool(&s, report, i, "on-chip heap", &from->heap, 1);
        pool(&s, report, i, "DRAM heap", &from->extheap, 1);
        pool(&s, report, i, "network pages", &from->netpage, PAGE_BYTES);
        pool(&s, report, i, "DRAM netw. pages", &from->extnetpage, PAGE_BYTES);
    }
    for (size_t i = 0; i < report->thread_count; i++) {
        const struct prof_report_thread *t = &report->threads[i];
        if (!t->min_sp_known)
            continue;
        begin(&s);
        name_cell(r, report, t->source);
        fprintf(r->out, "lowest stack pointer of thread %u: 0x%08" PRIx64 "\n", t->thread, t->min_sp);
    }
    return s.begun;
}

static void orders(const struct render_profile *r, const struct prof_report_maps *m)
{
    bool any = false;
    for (unsigned i = 0; i < 17; i++) {
        if (!m->free_by_order[i])
            continue;
        fprintf(r->out, "%s%" PRIu64 " x %lu", any ? ", " : "    free blocks by pages: ", m->free_by_order[i],
                1UL << i);
        any = true;
    }
    if (any)
        fprintf(r->out, "\n    largest free block %" PRIu64 " pages, largest used %" PRIu64 "\n",
                m->largest_free, m->largest_used);
}

static void one_map(const struct render_profile *r, const struct prof_report *report,
                    const struct prof_report_maps *m)
{
    uint64_t all = 0;
    for (size_t i = 0; i < m->type_count; i++)
        all += m->types[i].pages;
    name_cell(r, report, m->source);
    fprintf(r->out, "%" PRIu64 " pages of %" PRIu64 " bytes%s\n", all, m->page_bytes,
            m->v21 && m->complete ? ""
            : m->v21              ? "; the dump is not complete"
                                  : "; may be incomplete");
    for (size_t i = 0; i < m->type_count; i++) {
        fputs("    ", r->out);
        render_profile_cell(r->out, m->types[i].name, 14, true);
        fprintf(r->out, " %9" PRIu64 " pages in %6" PRIu64 " blocks ", m->types[i].pages, m->types[i].blocks);
        render_profile_bar(r->out, all ? (double)m->types[i].pages / (double)all : 0, BAR);
        putc('\n', r->out);
    }
    orders(r, m);
    if (m->overlaps || m->clipped || m->ignored || m->bad_entries)
        fprintf(r->out,
                "    doubtful: %" PRIu64 " blocks overlap, %" PRIu64 " clipped, %" PRIu64 " ignored, %" PRIu64
                " refused\n",
                m->overlaps, m->clipped, m->ignored, m->bad_entries);
}

static bool maps(const struct render_profile *r, const struct prof_report *report)
{
    struct section s = {.r = r, .title = "Memory maps"};
    for (size_t i = 0; i < report->maps_count; i++) {
        begin(&s);
        one_map(r, report, &report->maps[i]);
    }
    return s.begun;
}

/* --- timing --------------------------------------------------------------------------------------------- */

static void timing_rows(struct section *s, const struct prof_report *report, unsigned source)
{
    const struct render_profile *r = s->r;
    const struct prof_report_timing *t = &report->sources[source].timing;
    const struct prof_report_dsr *d = &report->sources[source].dsr;
    if (t->known) {
        begin(s);
        name_cell(r, report, source);
        fputs("slowest ", r->out);
        render_profile_cell(r->out, t->frame.name ? t->frame.name : "[unknown]", 24, false);
        fprintf(r->out, " (0x%08" PRIx64 "): worst %" PRIu32 ",\n", t->function, t->worst_clocks);
        fprintf(r->out,
                "%*s average %" PRIu32 " clocks, %" PRIu32 " calls in interval %" PRIu32 " of %" PRIu32
                " s\n",
                (int)NAME + 2, "", t->average_clocks, t->count, t->sequence, t->interval_s);
    }
    if (d->known) {
        begin(s);
        name_cell(r, report, source);
        fprintf(r->out, "DSRs: %" PRIu64 "%s, longest latency %" PRIu32 " clocks, average %" PRIu32 "\n",
                d->count, report->sources[source].totals.lost ? " and those in the lost packets" : "",
                d->max_clocks, d->average_clocks);
    }
}

static void latency_rows(struct section *s, const struct prof_report *report, unsigned source)
{
    const struct prof_report_source *from = &report->sources[source];
    const struct render_profile *r = s->r;
    uint64_t most = 0;
    if (from->latency_count == 0 || from->latency_max == 0)
        return;
    begin(s);
    name_cell(r, report, source);
    fprintf(r->out, "%" PRIu64 " samples of thread 0 since its last dispatch, longest %" PRIu64 " clocks\n",
            from->latency_count, from->latency_max);
    for (unsigned i = 0; i < 33; i++)
        most = from->latency[i] > most ? from->latency[i] : most;
    for (unsigned i = 0; i < 33; i++) {
        if (!from->latency[i])
            continue;
        fprintf(r->out, "    %10" PRIu64 " and more clocks %9" PRIu64 " ", i ? UINT64_C(1) << (i - 1) : 0,
                from->latency[i]);
        render_profile_bar(r->out, (double)from->latency[i] / (double)most, BAR);
        putc('\n', r->out);
    }
}

static bool timing(const struct render_profile *r, const struct prof_report *report)
{
    struct section s = {.r = r, .title = "Latency"};
    for (unsigned i = 0; i < report->source_count; i++) {
        timing_rows(&s, report, i);
        latency_rows(&s, report, i);
    }
    return s.begun;
}

void render_profile_parts(const struct render_profile *r, const struct prof_report *report)
{
    static const struct {
        const char *name;
        bool (*draw)(const struct render_profile *r, const struct prof_report *report);
    } parts[] = {{"hardware counters", perf},
                 {"counters", counters},
                 {"memory", memory},
                 {"memory maps", maps},
                 {"latency", timing}};
    bool missing[sizeof(parts) / sizeof(parts[0])], any = false;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        missing[i] = !parts[i].draw(r, report);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!missing[i])
            continue;
        fprintf(r->out, "%s%s", any ? ", " : "\nNot reported: ", parts[i].name);
        any = true;
    }
    if (any)
        putc('\n', r->out);
}
