/* SPDX-License-Identifier: Apache-2.0 */
/* The totals of a profile stream, for programs and for people (prof_summary.h). Computes nothing that the
 * library has not counted, but for adding up the callers of one address. */
#include "cli/prof_summary.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "cli/render_profile.h"

static int by_pc(const void *x, const void *y)
{
    const struct prof_summary_line *a = x, *b = y;

    if (a->pc != b->pc)
        return a->pc > b->pc ? 1 : -1;
    return (a->count < b->count) - (a->count > b->count);
}

static int by_count(const void *x, const void *y)
{
    const struct prof_summary_line *a = x, *b = y;

    return a->count != b->count ? (a->count < b->count) - (a->count > b->count) : by_pc(x, y);
}

/* One address of several senders or processes is one line; the biggest of them names it. */
static size_t merge_lines(struct prof_summary_line *lines, const struct prof_report *report)
{
    size_t kept = 0;

    for (size_t i = 0; i < report->hot_count; i++) {
        const struct prof_report_hot *hot = &report->hot[i];
        lines[i] = (struct prof_summary_line){.pc = hot->pc, .count = hot->count};
        if (hot->image && hot->frame_count) { /* the function's name, the place of the address */
            lines[i].frame = hot->frames[0];
            lines[i].frame.name = hot->frames[hot->frame_count - 1].name;
        }
    }
    qsort(lines, report->hot_count, sizeof(*lines), by_pc);
    for (size_t i = 0; i < report->hot_count; i++) {
        if (kept && lines[kept - 1].pc == lines[i].pc) {
            lines[kept - 1].count += lines[i].count;
            if (!lines[kept - 1].frame.name)
                lines[kept - 1].frame = lines[i].frame;
        } else {
            lines[kept++] = lines[i];
        }
    }
    qsort(lines, kept, sizeof(*lines), by_count);
    return kept;
}

enum corral_err prof_summary_make(struct prof_summary *summary, struct profiling *profiling, struct diag *d)
{
    summary->report = profiling_report(profiling, -1, SIZE_MAX, false, d);
    if (!summary->report)
        return d->code;
    struct prof_summary_line *lines = calloc(summary->report->hot_count + 1, sizeof(*lines));
    if (!lines)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory to sort the profile's addresses");
    summary->totals = summary->report->totals;
    summary->thread_count = prof_streams_threads(profiling_streams(profiling), summary->threads);
    summary->named = profiling_has_images(profiling);
    size_t n = merge_lines(lines, summary->report);
    summary->top_count = n < PROF_SUMMARY_TOP ? n : PROF_SUMMARY_TOP;
    for (size_t i = 0; i < summary->top_count; i++)
        summary->top[i] = lines[i];
    free(lines);
    return CORRAL_OK;
}

void prof_summary_free(struct prof_summary *summary)
{
    prof_report_free(summary->report);
    summary->report = NULL;
}

static json_t *number(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *threads_json(const struct prof_summary *s)
{
    json_t *threads = json_array();

    for (size_t i = 0; i < s->thread_count; i++) {
        const struct prof_thread_row *row = &s->threads[i];
        json_t *mips = row->mips_known ? json_real(row->mips) : json_null();
        json_array_append_new(threads, json_pack("{s:i,s:o,s:o}", "thread", (int)row->thread, "samples",
                                                 number(row->samples), "mips", mips));
    }
    return threads;
}

static json_t *top_json(const struct prof_summary *s)
{
    json_t *top = json_array();

    for (size_t i = 0; i < s->top_count; i++) {
        const struct prof_summary_line *line = &s->top[i];
        json_array_append_new(top, json_pack("{s:o,s:o,s:s?,s:s?,s:o}", "pc", number(line->pc), "count",
                                             number(line->count), "function", line->frame.name, "file",
                                             line->frame.file, "line",
                                             line->frame.line ? number(line->frame.line) : json_null()));
    }
    return top;
}

enum corral_err prof_summary_json(const struct prof_summary *s, FILE *out, struct diag *d)
{
    const struct prof_totals *t = &s->totals;
    const struct {
        const char *name;
        uint64_t value;
    } totals[] = {
        {"packets", t->packets},
        {"samples", t->samples},
        {"active_samples", t->active_samples},
        {"lost", t->lost},
        {"duplicates", t->duplicates},
        {"late", t->late},
        {"restarts", t->restarts},
        {"idle_steps", t->idle_steps},
        {"rejected", t->rejected},
        {"bad_samples", t->bad_samples},
        {"sources", t->sources},
        {"evicted_sources", t->evicted},
        {"frequency_swapped", t->frequency_swapped},
        {"frequency_disagrees", t->frequency_disagrees},
        {"fragments", s->capture.fragments},
        {"cut_frames", s->capture.cut},
        {"damaged_files", s->damaged_files},
    };
    json_t *root = json_pack("{s:s,s:s}", "kind", "summary", "stream", "prof");

    for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
        json_object_set_new(root, totals[i].name, number(totals[i].value));
    json_object_set_new(root, "threads", threads_json(s));
    json_object_set_new(root, "top", top_json(s));
    char *line = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (!line)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory for the summary");
    fprintf(out, "%s\n", line);
    free(line);
    return CORRAL_OK;
}

static void count_text(FILE *out, uint64_t count, const char *what)
{
    if (count)
        fprintf(out, ", %" PRIu64 " %s", count, what);
}

void prof_summary_text(const struct prof_summary *s, FILE *out)
{
    const struct prof_totals *t = &s->totals;

    fprintf(out,
            "%" PRIu64 " packet%s from %" PRIu64 " source%s, %" PRIu64 " samples (%" PRIu64
            " active), %" PRIu64 " lost",
            t->packets, t->packets == 1 ? "" : "s", t->sources, t->sources == 1 ? "" : "s", t->samples,
            t->active_samples, t->lost);
    count_text(out, t->duplicates, "duplicates");
    count_text(out, t->late, "late");
    count_text(out, t->restarts, "restarts");
    count_text(out, t->idle_steps, "idle steps");
    count_text(out, t->rejected, "refused");
    count_text(out, t->bad_samples, "samples refused");
    count_text(out, s->capture.fragments, "fragments not read");
    count_text(out, s->capture.cut, "cut frames not read");
    fputc('\n', out);
    if (t->frequency_swapped)
        fputs("A clock frequency came with its bytes swapped; the clock itself told, and it was put right.\n",
              out);
    if (t->frequency_disagrees)
        fputs("A clock frequency does not fit the clock by this host's time: MIPS are doubtful.\n", out);
    if (s->thread_count)
        fprintf(out, "\nthread    samples       MIPS\n");
    for (size_t i = 0; i < s->thread_count; i++) {
        const struct prof_thread_row *row = &s->threads[i];
        fprintf(out, "%6u %10" PRIu64, row->thread, row->samples);
        if (row->mips_known && row->mips > 0) /* a sender that counts no instructions leaves them 0 */
            fprintf(out, " %10.1f\n", row->mips);
        else
            fprintf(out, " %10s\n", "n/a");
    }
    if (s->top_count)
        fprintf(out, "\naddress        samples       %%\n");
    for (size_t i = 0; i < s->top_count; i++) { /* an address shown is active, so the total is not 0 */
        const struct prof_summary_line *line = &s->top[i];
        char place[256];
        fprintf(out, "0x%08" PRIx64 " %11" PRIu64 " %7.1f", line->pc, line->count,
                100.0 * (double)line->count / (double)t->active_samples);
        if (s->named) {
            render_profile_place(place, sizeof(place), line->frame.file, line->frame.line);
            fputs("  ", out);
            render_profile_cell(out, line->frame.name ? line->frame.name : "[unknown]", 24, place[0] != '\0');
            putc(place[0] ? ' ' : '\n', out);
            if (place[0])
                render_profile_cell(out, place, 22, false);
        }
        if (!s->named || place[0])
            putc('\n', out);
    }
}
