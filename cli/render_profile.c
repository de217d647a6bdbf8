/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile for people (render_profile.h): what is missing and what is doubtful first, then where the time
 * goes, threads, functions with their callers, and addresses. The rest is in render_profile_parts.c.
 */
#include "cli/render_profile.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

#define BAR        10u
#define NAME_LEAST 20u
#define CALLERS_OF 0.01 /* share from which a function's callers are shown */

/* --- what must be known first --------------------------------------------------------------------------- */

/* A sentence in lines of at most the width, under a label of ten columns. */
static void paragraph(const struct render_profile *r, const char *text)
{
    char clean[TEXT_CLEAN_MAX(sizeof(((struct profiling_remark *)0)->text))];
    size_t room = r->width - 10, at = 0;
    text_escape((const uint8_t *)text, strlen(text), clean, sizeof(clean));
    for (size_t length = strlen(clean); at < length;) {
        size_t n = length - at;
        if (n > room) {
            for (n = room; n > 1 && clean[at + n] != ' ';)
                n--;
            if (n <= 1) /* one long word */
                for (n = room; n > 1 && ((unsigned char)clean[at + n] & 0xc0) == 0x80;)
                    n--;
        }
        fprintf(r->out, "%s%.*s\n", at ? "          " : "", (int)n, clean + at);
        at += n;
        while (clean[at] == ' ')
            at++;
    }
}

static void remarks_text(const struct render_profile *r, const struct profiling_remarks *remarks)
{
    static const char *const labels[] = {"LOST", "WARNING", "note"};
    static const char *const colours[] = {"\x1b[1;31m", "\x1b[1;33m", ""};
    bool lost = false;
    putc('\n', r->out);
    for (size_t i = 0; i < remarks->count; i++)
        lost |= remarks->list[i].weight == PROFILING_LOSS;
    if (!lost)
        fputs("lost      nothing\n", r->out);
    for (int weight = PROFILING_LOSS; weight <= PROFILING_NOTE; weight++) {
        for (size_t i = 0; i < remarks->count; i++) {
            if ((int)remarks->list[i].weight != weight)
                continue;
            if (r->colour && colours[weight][0])
                fprintf(r->out, "%s%-9s\x1b[0m ", colours[weight], labels[weight]);
            else
                fprintf(r->out, "%-9s ", labels[weight]);
            paragraph(r, remarks->list[i].text);
        }
    }
    if (remarks->left_out)
        fprintf(r->out, "note      %zu more remarks were left out\n", remarks->left_out);
}

static double longest(const struct prof_report *report)
{
    double most = -1;
    for (size_t i = 0; i < report->source_count; i++)
        if (report->sources[i].seconds > most)
            most = report->sources[i].seconds;
    return most;
}

static void title(const struct render_profile *r, const struct prof_report *report)
{
    const struct prof_totals *t = &report->totals;
    double seconds = longest(report);
    fprintf(r->out,
            "Profile: %" PRIu64 " samples (%" PRIu64 " active) in %" PRIu64 " packet%s from %" PRIu64
            " sender%s",
            t->samples, t->active_samples, t->packets, t->packets == 1 ? "" : "s", t->sources,
            t->sources == 1 ? "" : "s");
    if (seconds >= 0)
        fprintf(r->out, seconds < 100 ? ", %.3g s" : ", %.0f s", seconds);
    putc('\n', r->out);
    if (r->thread >= 0)
        fprintf(r->out, "Only hardware thread %d is in the functions and addresses below.\n", r->thread);
}

/* --- senders and where their time goes ------------------------------------------------------------------ */

static void number_or_dash(FILE *out, unsigned columns, double value, const char *format)
{
    char text[32] = "-";
    if (isfinite(value) && value >= 0)
        snprintf(text, sizeof(text), format, value);
    fprintf(out, " %*s", (int)columns, text);
}

static void senders(const struct render_profile *r, const struct prof_report *report)
{
    unsigned name = r->width - 62;
    render_profile_heading(r, "Senders");
    fprintf(r->out, "  %-*s %9s %7s %9s %9s %9s %9s\n", (int)name, "", "packets", "lost", "samples", "active",
            "rate/s", "seconds");
    for (size_t i = 0; i < report->source_count; i++) {
        const struct prof_report_source *s = &report->sources[i];
        fputs("  ", r->out);
        render_profile_cell(r->out, s->evicted ? "(put out)" : s->name, name, true);
        fprintf(r->out, " %9" PRIu64 " %7" PRIu64 " %9" PRIu64 " %9" PRIu64, s->totals.packets,
                s->totals.lost, s->totals.samples, s->totals.active_samples);
        number_or_dash(r->out, 9, s->sampling_hz, "%.1f");
        number_or_dash(r->out, 9, s->seconds, "%.3f");
        putc('\n', r->out);
    }
}

struct share_of_time {
    uint64_t active, i_blocked, d_blocked;
};

static struct share_of_time time_of(const struct prof_report *report, size_t source)
{
    struct share_of_time sum = {0};
    for (size_t i = 0; i < report->thread_count; i++) {
        const struct prof_report_thread *t = &report->threads[i];
        if (t->source != source)
            continue;
        sum.active += t->active;
        sum.i_blocked += t->i_blocked;
        sum.d_blocked += t->d_blocked;
    }
    return sum;
}

/* Busy is by weight (profiler sheet 9); waiting is of the samples of threads that were not suspended. */
static void where_time_goes(const struct render_profile *r, const struct prof_report *report)
{
    unsigned name = 22, bar = r->width - name - 47;
    render_profile_heading(r, "Where the time goes");
    for (size_t i = 0; i < report->source_count; i++) {
        const struct prof_report_source *s = &report->sources[i];
        struct share_of_time t = time_of(report, i);
        if (s->totals.samples == 0 || s->utilisation < 0)
            continue;
        fputs("  ", r->out);
        render_profile_cell(r->out, s->name, name, true);
        fprintf(r->out, " busy %5.1f %% ", render_profile_percent(s->utilisation));
        render_profile_bar(r->out, s->utilisation, bar);
        double all = t.active ? (double)t.active : 1;
        fprintf(r->out, "  I-wait %4.1f %%, D-wait %4.1f %%\n",
                render_profile_percent((double)t.i_blocked / all),
                render_profile_percent((double)t.d_blocked / all));
        if (s->profiler_share > 0)
            fprintf(r->out, "  %-*s profiler's own instructions %.2f %%\n", (int)name, "",
                    render_profile_percent(s->profiler_share));
    }
}

static void thread_row(const struct render_profile *r, const struct prof_report_thread *t)
{
    double all = t->samples ? (double)t->samples : 1, active = t->active ? (double)t->active : 1;
    fprintf(r->out, "  %5u%s %-9s %9" PRIu64 " %9.1f %9.1f %9.1f %9.1f", t->thread, t->enabled ? " " : "*",
            prof_thread_type_name(t->type), t->samples, render_profile_percent((double)t->active / all),
            render_profile_percent((double)t->i_blocked / active),
            render_profile_percent((double)t->d_blocked / active), render_profile_percent(t->utilisation));
    if (t->mips_known)
        fprintf(r->out, " %9.1f\n", t->mips);
    else
        fprintf(r->out, " %9s\n", "-");
}

static void threads(const struct render_profile *r, const struct prof_report *report, size_t source)
{
    char text[PROF_SOURCE_NAME_ROOM + 64];
    size_t shown = 0, silent = 0;
    bool marked = false;
    snprintf(text, sizeof(text), "Threads of %s", report->sources[source].name);
    for (size_t i = 0; i < report->thread_count; i++) {
        const struct prof_report_thread *t = &report->threads[i];
        if (t->source != source)
            continue;
        if (t->samples == 0 && !(t->mips_known && t->mips > 0)) {
            silent++;
            continue;
        }
        if (shown++ == 0) {
            render_profile_heading(r, text);
            fputs(" thread  type        samples  active %  I-wait %  D-wait %    busy %      MIPS\n", r->out);
        }
        thread_row(r, t);
        marked |= !t->enabled;
    }
    if (shown && silent)
        fprintf(r->out, "  %zu more thread%s never sampled\n", silent, silent == 1 ? " was" : "s were");
    if (marked)
        fputs("  * sampled, but not in the mask of enabled threads\n", r->out);
}

/* --- functions ------------------------------------------------------------------------------------------ */

static const char *certainty(enum prof_certainty c)
{
    return c == PROF_CALLER_POSSIBLE ? " (perhaps)" : "";
}

static void callers(const struct render_profile *r, const struct prof_report_function *f)
{
    bool known = false;
    for (size_t i = 0; i < f->caller_count; i++)
        known |= f->callers[i].certainty != PROF_CALLER_UNKNOWN;
    if (!known || f->share < CALLERS_OF)
        return;
    for (size_t i = 0; i < f->caller_count; i++) {
        const struct prof_report_caller *c = &f->callers[i];
        char place[256];
        render_profile_place(place, sizeof(place), c->frame.file, c->frame.line);
        fprintf(r->out, "%*s%5.1f %% ", 31, "", render_profile_percent((double)c->count / (double)f->self));
        if (c->certainty == PROF_CALLER_UNKNOWN) {
            fputs("caller not known\n", r->out);
            continue;
        }
        fputs("from ", r->out);
        render_profile_cell(r->out, c->frame.name, r->width - 44 - 10, false);
        fprintf(r->out, "%s\n", certainty(c->certainty));
    }
}

static void function_row(const struct render_profile *r, const struct prof_report_function *f, double largest)
{
    unsigned left = r->width - 34, name = left * 11 / 20;
    char place[256], address[40];
    const char *text = f->frame.name;
    render_profile_place(place, sizeof(place), f->frame.file, f->frame.line);
    if (!f->image)
        snprintf(place, sizeof(place), "e.g. 0x%08" PRIx64, f->address);
    if (name < NAME_LEAST)
        name = NAME_LEAST;
    if (f->pid) {
        snprintf(address, sizeof(address), " pid %" PRIu32, f->pid);
        strncat(place, address, sizeof(place) - strlen(place) - 1);
    }
    fprintf(r->out, " %5.1f %%+-%-4.1f ", render_profile_percent(f->share),
            render_profile_percent(f->share_error));
    render_profile_bar(r->out, largest > 0 ? f->share / largest : 0, BAR);
    fprintf(r->out, " %7" PRIu64 " ", f->self);
    render_profile_cell(r->out, text, name, place[0] != '\0');
    if (place[0]) {
        putc(' ', r->out);
        render_profile_cell(r->out, place, left > name + 2 ? left - name - 2 : 8, false);
    }
    putc('\n', r->out);
    callers(r, f);
}

static void functions(const struct render_profile *r, const struct prof_report *report, size_t source)
{
    char text[PROF_SOURCE_NAME_ROOM + 64];
    double largest = 0, rest = 0;
    size_t shown = 0, all = 0;
    for (size_t i = 0; i < report->function_count; i++) {
        const struct prof_report_function *f = &report->functions[i];
        if (f->source == source && f->self > 0 && ++all == 1)
            largest = f->share;
    }
    snprintf(text, sizeof(text), "Functions of %s", report->sources[source].name);
    render_profile_heading(r, text);
    if (all == 0) {
        fputs(report->sources[source].evicted
                  ? "  not kept: of senders that were put out there are only totals\n"
                  : "  none: no active sample\n",
              r->out);
        return;
    }
    fputs("   share  error             samples function\n", r->out);
    for (size_t i = 0; i < report->function_count; i++) {
        const struct prof_report_function *f = &report->functions[i];
        if (f->source != source || f->self == 0)
            continue;
        if (shown++ < r->top)
            function_row(r, f, largest);
        else
            rest += f->share;
    }
    if (all > r->top)
        fprintf(r->out, " %5.1f %%                         in %zu more functions (--top %zu shows them)\n",
                render_profile_percent(rest), all - r->top, all);
}

/* --- addresses ------------------------------------------------------------------------------------------ */

static void hot_row(const struct render_profile *r, const struct prof_report_hot *h)
{
    char place[256] = "";
    const char *name = h->frame_count ? h->frames[h->frame_count - 1].name : "[unknown]";
    unsigned left = r->width - 31;
    if (h->frame_count)
        render_profile_place(place, sizeof(place), h->frames[0].file, h->frames[0].line);
    fprintf(r->out, "  0x%08" PRIx64 " %5.1f %% %7" PRIu64 " ", h->pc, render_profile_percent(h->share),
            h->count);
    render_profile_cell(r->out, name, left * 6 / 10, true);
    putc(' ', r->out);
    render_profile_cell(r->out, place, left - left * 6 / 10 - 1, false);
    putc('\n', r->out);
    if (h->is_branch && h->taken + h->not_taken > 0)
        fprintf(r->out, "%31sbranch: taken %.1f %%, at most %.1f %% mispredicted\n", "",
                100.0 * (double)h->taken / (double)(h->taken + h->not_taken),
                100.0 * (double)h->mispredicted_at_most / (double)(h->taken + h->not_taken));
}

static void hot(const struct render_profile *r, const struct prof_report *report, size_t source)
{
    char text[PROF_SOURCE_NAME_ROOM + 64];
    size_t shown = 0;
    snprintf(text, sizeof(text), "Hot addresses of %s", report->sources[source].name);
    for (size_t i = 0; i < report->hot_count && shown < r->top; i++) {
        if (report->hot[i].source != source)
            continue;
        if (shown++ == 0)
            render_profile_heading(r, text);
        hot_row(r, &report->hot[i]);
    }
}

void render_profile_text(const struct render_profile *r, const struct prof_report *report,
                         const struct profiling_remarks *remarks)
{
    title(r, report);
    remarks_text(r, remarks);
    if (report->source_count) {
        senders(r, report);
        where_time_goes(r, report);
    }
    for (size_t i = 0; i < report->source_count; i++) {
        if (report->sources[i].totals.samples == 0)
            continue;
        threads(r, report, i);
        functions(r, report, i);
        hot(r, report, i);
    }
    if (report->source_count)
        render_profile_parts(r, report);
}
