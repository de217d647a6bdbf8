/* SPDX-License-Identifier: Apache-2.0 */
/* What `corral top` shows of one row, and its help (top_parts.h). */
#include <inttypes.h>
#include <stdio.h>

#include "cli/render_profile.h"
#include "cli/top_parts.h"

static void by_thread(struct top_page *p, const struct prof_report_function *f)
{
    for (unsigned i = 0; i < PROFILE_MAX_THREADS; i++) {
        char name[24], tail[32];
        if (!f->by_thread[i])
            continue;
        snprintf(name, sizeof(name), "  thread %u", i);
        snprintf(tail, sizeof(tail), "%" PRIu64, f->by_thread[i]);
        top_page_bar(p, name, 12, top_ratio(f->by_thread[i], f->self), tail);
    }
}

static void callers(struct top_page *p, const struct prof_report_function *f)
{
    char share[32], place[280];
    top_page_line(p, TOP_HEADING, "Callers");
    for (size_t i = 0; i < f->caller_count && i < PROF_REPORT_CALLERS; i++) {
        const struct prof_report_caller *c = &f->callers[i];
        top_percent(top_ratio(c->count, f->self), share, sizeof(share));
        if (c->certainty == PROF_CALLER_UNKNOWN) {
            top_page_line(p, TOP_PLAIN, "  %7s  %9" PRIu64 "  not known", share, c->count);
            continue;
        }
        render_profile_place(place, sizeof(place), c->frame.file, c->frame.line);
        top_page_line(p, TOP_PLAIN, "  %7s  %9" PRIu64 "  %.300s%s  0x%08" PRIx64 "  %s", share, c->count,
                      c->frame.name ? c->frame.name : "[unknown]",
                      c->certainty == PROF_CALLER_POSSIBLE ? " (perhaps)" : "", c->address, place);
    }
    if (f->caller_count == 0)
        top_page_line(p, TOP_PLAIN, "  not known");
}

static void waiting(struct top_page *p, uint64_t i_blocked, uint64_t d_blocked, uint64_t of)
{
    char i[32], d[32];
    top_page_line(p, TOP_PLAIN, "waiting for code %s, for data %s",
                  top_percent(top_ratio(i_blocked, of), i, sizeof(i)),
                  top_percent(top_ratio(d_blocked, of), d, sizeof(d)));
}

static void function_details(struct top_page *p, const struct prof_report *r,
                             const struct prof_report_function *f)
{
    char share[32], error[32], place[280];
    top_page_line(p, TOP_BOLD, "%.400s", f->frame.name ? f->frame.name : "[unknown]");
    render_profile_place(place, sizeof(place), f->frame.file, f->frame.line);
    top_page_line(p, TOP_PLAIN, "%s0x%08" PRIx64 "%s%s", f->image ? "at " : "no image covers it, e.g. ",
                  f->address, place[0] ? ", " : "", place);
    top_page_line(p, TOP_PLAIN, "sender %.200s", top_source_name(r, f->source));
    if (f->pid)
        top_page_line(p, TOP_PLAIN, "process %" PRIu32, f->pid);
    top_page_line(p, TOP_PLAIN, "share %s +- %s", top_percent(f->share, share, sizeof(share)),
                  top_percent(f->share_error, error, sizeof(error)));
    top_page_line(p, TOP_PLAIN, "samples %" PRIu64 ", with callees %" PRIu64, f->self, f->inclusive);
    waiting(p, f->i_blocked, f->d_blocked, f->self);
    if (f->mips_known)
        top_page_line(p, TOP_PLAIN, "MIPS %.2f", f->mips);
    callers(p, f);
    top_page_line(p, TOP_HEADING, "By thread");
    by_thread(p, f);
}

static void hot_details(struct top_page *p, const struct prof_report *r, const struct prof_report_hot *h)
{
    char place[280], taken[32], missed[32];
    top_page_line(p, TOP_BOLD, "address 0x%08" PRIx64, h->pc);
    top_page_line(p, TOP_PLAIN, "sender %.200s", top_source_name(r, h->source));
    if (h->pid)
        top_page_line(p, TOP_PLAIN, "process %" PRIu32, h->pid);
    top_page_line(p, TOP_PLAIN, "samples %" PRIu64, h->count);
    waiting(p, h->i_blocked, h->d_blocked, h->count);
    if (h->is_branch && h->taken + h->not_taken > 0)
        top_page_line(
            p, TOP_PLAIN, "branch: taken %s, at most %s mispredicted",
            top_percent(top_ratio(h->taken, h->taken + h->not_taken), taken, sizeof(taken)),
            top_percent(top_ratio(h->mispredicted_at_most, h->taken + h->not_taken), missed, sizeof(missed)));
    top_page_line(p, TOP_HEADING, "Where it is, the innermost first");
    for (size_t i = 0; i < h->frame_count && i < PROF_REPORT_INLINES; i++) {
        render_profile_place(place, sizeof(place), h->frames[i].file, h->frames[i].line);
        top_page_line(p, TOP_PLAIN, "  %.300s%s  %s", h->frames[i].name ? h->frames[i].name : "[unknown]",
                      i + 1 < h->frame_count ? " (inlined)" : "", place);
    }
    if (h->frame_count == 0)
        top_page_line(p, TOP_PLAIN, "  no image covers it");
}

static void thread_details(struct top_page *p, const struct prof_report *r,
                           const struct prof_report_thread *t)
{
    char busy[32];
    top_page_line(p, TOP_BOLD, "thread %u of %.200s", t->thread, top_source_name(r, t->source));
    top_page_line(p, TOP_PLAIN, "type %s, %s", prof_thread_type_name(t->type),
                  t->enabled ? "enabled" : "sampled, but not in the mask of enabled threads");
    top_page_line(p, TOP_PLAIN, "samples %" PRIu64 ", active %" PRIu64, t->samples, t->active);
    waiting(p, t->i_blocked, t->d_blocked, t->active);
    top_page_line(p, TOP_PLAIN, "busy %s", top_percent(t->utilisation, busy, sizeof(busy)));
    if (t->mips_known)
        top_page_line(p, TOP_PLAIN, "MIPS %.2f", t->mips);
    if (t->min_sp_known)
        top_page_line(p, TOP_PLAIN, "lowest stack pointer 0x%08" PRIx64, t->min_sp);
    top_page_line(p, TOP_PLAIN, "t %u shows only what this thread ran", t->thread);
}

static void perf_details(struct top_page *p, const struct prof_report *r, unsigned source, size_t index)
{
    const struct prof_report_perf *c = &r->sources[source].perf;
    char rate[32], miss[32];
    top_page_line(p, TOP_BOLD, "%s", prof_perf_name(r->sources[source].layout, index));
    top_page_line(p, TOP_PLAIN, "hardware counter %zu of %.200s", index, top_source_name(r, source));
    top_page_line(p, TOP_PLAIN, "counted %" PRIu64 ", per second %s", c->total[index],
                  top_number(c->per_second[index], c->rate_known, rate, sizeof(rate)));
    if (c->miss_rates_known)
        top_page_line(p, TOP_PLAIN, "I misses by instruction %s, D miss rate %s",
                      top_percent(c->i_miss_per_instruction, rate, sizeof(rate)),
                      top_percent(c->d_miss_rate, miss, sizeof(miss)));
}

static void counter_details(struct top_page *p, const struct prof_report *r, size_t row)
{
    unsigned source;
    size_t i;
    char rate[32];
    if (top_counter_is_perf(r, row, &source, &i)) {
        perf_details(p, r, source, i);
        return;
    }
    const struct prof_report_counter *c = &r->counters[i];
    top_page_line(p, TOP_BOLD, "%.200s", c->name && c->name[0] ? c->name : "(no name)");
    top_page_line(p, TOP_PLAIN, "%s counter of %.200s", c->linux_side ? "Linux" : "firmware",
                  top_source_name(r, source));
    top_page_line(p, TOP_PLAIN, "now %" PRIu32 ", least %" PRIu32 ", most %" PRIu32, c->value, c->min,
                  c->max);
    top_page_line(p, TOP_PLAIN, "per second %s%s",
                  top_number(c->per_second, c->rate_known, rate, sizeof(rate)),
                  c->gauge ? "; it has fallen: it is a level" : "");
    if (c->resets)
        top_page_line(p, TOP_PLAIN, "begun anew %" PRIu32 " times", c->resets);
}

void top_page_details(struct top_page *p, const struct prof_report *r, const struct top_chosen *chosen)
{
    size_t row;
    if (!top_find_chosen(r, chosen, &row)) {
        top_page_line(p, TOP_BOLD, "%.200s", chosen->name);
        top_page_line(p, TOP_PLAIN, "is not in the profile now");
        return;
    }
    switch (chosen->tab) {
    case TOP_THREADS:
        thread_details(p, r, &r->threads[row]);
        break;
    case TOP_FUNCTIONS:
        function_details(p, r, &r->functions[row]);
        break;
    case TOP_HOT:
        hot_details(p, r, &r->hot[row]);
        break;
    default:
        counter_details(p, r, row);
    }
}

void top_page_help(struct top_page *p)
{
    static const char *const lines[][2] = {
        {"1 ... 8", "a view; Tab, Shift-Tab, left and right go through them"},
        {"up, down", "a row, or a line of a page; also k and j, page keys, Home and End"},
        {"Enter", "details of the row: callers, threads, inlined frames; Esc goes back"},
        {"< >", "sort by the column before or behind; s the next one, S turns the order round"},
        {"/", "show only rows with this in their name; Esc shows all again"},
        {"t", "only one hardware thread, the next one each time; t and a number: that one"},
        {"space, p", "stand still; collecting goes on"},
        {"r", "count anew from now on"},
        {"Ctrl-L", "draw the screen anew"},
        {"q, Ctrl-C", "end"},
        {"lost", "packets that were sent and did not come, by their numbers"},
        {"drops", "datagrams that this host's kernel had no room for"},
        {"rejected", "datagrams that are no profile packets"},
        {"late", "packets that came after later ones; they count"},
        {"unknown", "samples at addresses that no ELF file covers"},
        {"images", "ELF files that are missing, or do not fit what runs"},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        top_page_paragraph(p, TOP_PLAIN, lines[i][0], lines[i][1]);
}
