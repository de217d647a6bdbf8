/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of `corral top` that are no tables: summary, memory, latency, losses (top_parts.h). */
#include "cli/top_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/render_profile.h"

#define PAGE_BYTES    256u /* of the netpage pools (profiler sheet 3.1) */
#define SUMMARY_MOST  8    /* functions */
#define REASON_WIDTH  18u
#define SENDER_INDENT "  "

static void remark_lines(struct top_page *p, const struct profiling_remarks *remarks)
{
    static const char *const labels[] = {"LOST", "WARNING", "note"};
    static const enum top_style styles[] = {TOP_LOSS, TOP_WARNING, TOP_PLAIN};
    for (int weight = PROFILING_LOSS; weight <= PROFILING_NOTE; weight++)
        for (size_t i = 0; remarks && i < remarks->count; i++)
            if ((int)remarks->list[i].weight == weight)
                top_page_paragraph(p, styles[weight], labels[weight], remarks->list[i].text);
    if (remarks && remarks->left_out)
        top_page_line(p, TOP_PLAIN, "note      %zu more remarks were left out", remarks->left_out);
}

/* --- summary -------------------------------------------------------------------------------------------- */

static void sender_lines(struct top_page *p, const struct prof_report *r)
{
    char rate[32], busy[32], seconds[32];
    for (unsigned i = 0; i < r->source_count; i++) {
        const struct prof_report_source *s = &r->sources[i];
        top_page_line(p, TOP_BOLD, "%.200s%s", top_source_name(r, i),
                      s->sent || s->evicted ? "" : ": nothing came yet");
        if (!s->sent && !s->evicted)
            continue;
        snprintf(seconds, sizeof(seconds), "unknown time");
        if (s->seconds >= 0)
            snprintf(seconds, sizeof(seconds), "%.1f s", s->seconds);
        top_page_line(p, TOP_PLAIN,
                      SENDER_INDENT "%" PRIu64 " samples (%" PRIu64 " active) in %" PRIu64
                                    " packets, %" PRIu64 " lost; %s",
                      s->totals.samples, s->totals.active_samples, s->totals.packets, s->totals.lost,
                      seconds);
        top_page_line(p, TOP_PLAIN, SENDER_INDENT "busy %s, %s samples a second",
                      top_percent(s->utilisation, busy, sizeof(busy)),
                      top_number(s->sampling_hz, s->sampling_hz >= 0, rate, sizeof(rate)));
        if (s->profiler_share > 0)
            top_page_line(p, TOP_PLAIN, SENDER_INDENT "the profiler's own instructions: %s",
                          top_percent(s->profiler_share, busy, sizeof(busy)));
    }
}

static void biggest_lines(struct top_page *p, const struct prof_report *r)
{
    char tail[600], share[32];
    size_t shown = r->function_count < SUMMARY_MOST ? r->function_count : SUMMARY_MOST;
    if (!shown)
        return;
    top_page_line(p, TOP_PLAIN, "%s", "");
    top_page_line(p, TOP_HEADING, "Biggest functions (3 shows all %zu)", r->function_count);
    for (size_t i = 0; i < shown; i++) {
        const struct prof_report_function *f = &r->functions[i];
        if (f->self == 0)
            continue;
        snprintf(tail, sizeof(tail), "%.400s%s%.100s", f->frame.name ? f->frame.name : "[unknown]",
                 r->source_count > 1 ? "  " : "", r->source_count > 1 ? top_source_name(r, f->source) : "");
        top_page_bar(p, top_percent(f->share, share, sizeof(share)), 7, f->share, tail);
    }
}

static void summary(struct top_page *p, const struct prof_report *r, const struct profiling_remarks *remarks)
{
    sender_lines(p, r);
    biggest_lines(p, r);
    if (remarks && remarks->count) {
        top_page_line(p, TOP_PLAIN, "%s", "");
        remark_lines(p, remarks);
    }
}

/* --- memory --------------------------------------------------------------------------------------------- */

static bool pool(struct top_page *p, const char *what, const struct prof_report_pool *pool, uint64_t unit)
{
    char now[24], low[24];
    if (pool->known)
        top_page_line(p, TOP_PLAIN, SENDER_INDENT "%-19s free %8s bytes, lowest %8s bytes", what,
                      render_profile_si((double)pool->free * (double)unit, now, sizeof(now)),
                      render_profile_si((double)pool->low_water * (double)unit, low, sizeof(low)));
    return pool->known;
}

static bool stacks(struct top_page *p, const struct prof_report *r, unsigned source)
{
    bool any = false;
    for (size_t i = 0; i < r->thread_count; i++) {
        const struct prof_report_thread *t = &r->threads[i];
        if (t->source != source || !t->min_sp_known)
            continue;
        top_page_line(p, TOP_PLAIN, SENDER_INDENT "thread %-2u            lowest stack pointer 0x%08" PRIx64,
                      t->thread, t->min_sp);
        any = true;
    }
    return any;
}

static void one_map(struct top_page *p, const struct prof_report_maps *m)
{
    char tail[80];
    uint64_t all = 0;
    for (size_t i = 0; i < m->type_count; i++)
        all += m->types[i].pages;
    top_page_line(p, TOP_PLAIN, SENDER_INDENT "map: %" PRIu64 " pages of %" PRIu64 " bytes%s", all,
                  m->page_bytes,
                  m->v21 && m->complete ? ""
                  : m->v21              ? "; the dump is not complete"
                                        : "; may be incomplete");
    for (size_t i = 0; i < m->type_count; i++) {
        char name[24];
        snprintf(name, sizeof(name), "    %.15s", m->types[i].name);
        snprintf(tail, sizeof(tail), "%" PRIu64 " pages, %" PRIu64 " blocks", m->types[i].pages,
                 m->types[i].blocks);
        top_page_bar(p, name, 18, top_ratio(m->types[i].pages, all), tail);
    }
    for (unsigned i = 0; i < 17; i++)
        if (m->free_by_order[i])
            top_page_line(p, TOP_PLAIN, "    free: %" PRIu64 " blocks of %lu pages", m->free_by_order[i],
                          1UL << i);
    if (m->largest_free)
        top_page_line(p, TOP_PLAIN, "    largest free block: %" PRIu64 " pages", m->largest_free);
    if (m->overlaps + m->clipped + m->ignored + m->bad_entries)
        top_page_line(p, TOP_WARNING,
                      "    doubtful: %" PRIu64 " overlap, %" PRIu64 " clipped, %" PRIu64 " ignored, %" PRIu64
                      " bad",
                      m->overlaps, m->clipped, m->ignored, m->bad_entries);
}

static void memory(struct top_page *p, const struct prof_report *r)
{
    for (unsigned i = 0; i < r->source_count; i++) {
        const struct prof_report_source *s = &r->sources[i];
        bool any = false;
        top_page_line(p, TOP_BOLD, "%.200s", top_source_name(r, i));
        any |= pool(p, "on-chip heap", &s->heap, 1);
        any |= pool(p, "DRAM heap", &s->extheap, 1);
        any |= pool(p, "network pages", &s->netpage, PAGE_BYTES);
        any |= pool(p, "DRAM network pages", &s->extnetpage, PAGE_BYTES);
        any |= stacks(p, r, i);
        for (size_t m = 0; m < r->maps_count; m++) {
            if (r->maps[m].source != i)
                continue;
            one_map(p, &r->maps[m]);
            any = true;
        }
        if (!any)
            top_page_line(p, TOP_PLAIN, SENDER_INDENT "not reported");
    }
}

/* --- latency -------------------------------------------------------------------------------------------- */

static bool timing_lines(struct top_page *p, const struct prof_report_source *s)
{
    if (s->timing.known) {
        top_page_line(p, TOP_PLAIN, SENDER_INDENT "slowest: %.200s (0x%08" PRIx64 ")",
                      s->timing.frame.name ? s->timing.frame.name : "[unknown]", s->timing.function);
        top_page_line(p, TOP_PLAIN,
                      SENDER_INDENT "  worst %" PRIu32 ", average %" PRIu32 " clocks, %" PRIu32
                                    " calls in interval %" PRIu32 " of %" PRIu32 " s",
                      s->timing.worst_clocks, s->timing.average_clocks, s->timing.count, s->timing.sequence,
                      s->timing.interval_s);
    }
    if (s->dsr.known)
        top_page_line(p, TOP_PLAIN,
                      SENDER_INDENT "DSRs: %" PRIu64 "%s, longest latency %" PRIu32
                                    " clocks, average %" PRIu32,
                      s->dsr.count, s->totals.lost ? " and those in the lost packets" : "", s->dsr.max_clocks,
                      s->dsr.average_clocks);
    return s->timing.known || s->dsr.known;
}

static bool latency_lines(struct top_page *p, const struct prof_report_source *s)
{
    char name[32], tail[32];
    uint64_t most = 0;
    if (s->latency_count == 0 || s->latency_max == 0)
        return false;
    top_page_line(p, TOP_PLAIN,
                  SENDER_INDENT "thread 0 since its last dispatch: %" PRIu64 " samples, longest %" PRIu64
                                " clocks",
                  s->latency_count, s->latency_max);
    for (unsigned i = 0; i < 33; i++)
        most = s->latency[i] > most ? s->latency[i] : most;
    for (unsigned i = 0; i < 33; i++) {
        if (!s->latency[i])
            continue;
        snprintf(name, sizeof(name), "%11" PRIu64 " and more", i ? UINT64_C(1) << (i - 1) : 0);
        snprintf(tail, sizeof(tail), "%" PRIu64, s->latency[i]);
        top_page_bar(p, name, 20, top_ratio(s->latency[i], most), tail);
    }
    return true;
}

static void latency(struct top_page *p, const struct prof_report *r)
{
    for (unsigned i = 0; i < r->source_count; i++) {
        top_page_line(p, TOP_BOLD, "%.200s", top_source_name(r, i));
        bool any = timing_lines(p, &r->sources[i]);
        any |= latency_lines(p, &r->sources[i]);
        if (!any)
            top_page_line(p, TOP_PLAIN, SENDER_INDENT "not reported");
    }
}

/* --- losses --------------------------------------------------------------------------------------------- */

static void amount(struct top_page *p, const char *what, uint64_t n, enum top_style style)
{
    top_page_line(p, n ? style : TOP_PLAIN, SENDER_INDENT "%-*s %12" PRIu64, (int)REASON_WIDTH, what, n);
}

static void source_losses(struct top_page *p, const struct prof_report *r, unsigned source)
{
    const struct prof_report_source *s = &r->sources[source];
    char share[32];
    top_page_line(p, TOP_BOLD, "%.200s", top_source_name(r, source));
    top_page_line(p, s->totals.lost ? TOP_LOSS : TOP_PLAIN,
                  SENDER_INDENT "%-*s %12" PRIu64 "  (%s of what was sent)", (int)REASON_WIDTH,
                  "lost packets", s->totals.lost,
                  top_percent(profiling_lost_share(&s->totals), share, sizeof(share)));
    amount(p, "late", s->totals.late, TOP_WARNING);
    amount(p, "came twice", s->totals.duplicates, TOP_PLAIN);
    amount(p, "restarts", s->totals.restarts, TOP_PLAIN);
    amount(p, "bad samples", s->totals.bad_samples, TOP_WARNING);
    amount(p, "beyond the table", s->overflow, TOP_LOSS);
    if (s->coarse)
        amount(p, "callers not kept", s->coarse, TOP_WARNING);
    if (s->counters_cut + s->counters_ignored)
        amount(p, "counters cut off", s->counters_cut + s->counters_ignored, TOP_WARNING);
    top_page_line(p, s->unknown_pc ? TOP_WARNING : TOP_PLAIN,
                  SENDER_INDENT "%-*s %12" PRIu64 "  (%s of active)", (int)REASON_WIDTH, "unknown pcs",
                  s->unknown_pc, top_percent(top_ratio(s->unknown_pc, s->active), share, sizeof(share)));
    amount(p, "rejected", s->totals.rejected, TOP_WARNING);
    for (int i = 0; i < PROF_REASONS; i++)
        if (s->totals.rejected_by[i])
            top_page_line(p, TOP_WARNING, SENDER_INDENT "  %-*s %12" PRIu64, (int)REASON_WIDTH - 2,
                          prof_reason_name((enum prof_reason)i), s->totals.rejected_by[i]);
}

static void losses(struct top_page *p, const struct prof_report *r, const struct profiling_remarks *remarks)
{
    amount(p, "kernel drops", r->kernel_drops, TOP_LOSS);
    amount(p, "foreign datagrams", r->foreign, TOP_PLAIN);
    for (unsigned i = 0; i < r->source_count; i++)
        source_losses(p, r, i);
    if (remarks && remarks->count) {
        top_page_line(p, TOP_PLAIN, "%s", "");
        remark_lines(p, remarks);
    }
}

void top_page_of(struct top_page *p, const struct prof_report *r, const struct profiling_remarks *remarks,
                 enum top_tab tab)
{
    switch (tab) {
    case TOP_MEMORY:
        memory(p, r);
        break;
    case TOP_LATENCY:
        latency(p, r);
        break;
    case TOP_LOSSES:
        losses(p, r, remarks);
        break;
    default:
        summary(p, r, remarks);
    }
    if (p->lines == 0)
        top_page_line(p, TOP_PLAIN, "nothing came yet");
}
