/* SPDX-License-Identifier: Apache-2.0 */
/* The difference of two profiles for people (render_profile.h). What was lost stands above what differs. */
#include <inttypes.h>
#include <string.h>

#include "cli/render_profile.h"

static void side(const struct render_profile *r, const char *letter, const struct profiling_side *from)
{
    struct profiling_side_totals t;
    profiling_side_totals(from, &t);
    fprintf(r->out, "%s  ", letter);
    render_profile_cell(r->out, t.label, r->width - 4, false);
    fprintf(r->out, "\n   %" PRIu64 " active samples of %" PRIu64 " in %" PRIu64 " packets; ",
            t.active_samples, t.samples, t.packets);
    if (t.lost)
        fprintf(r->out, "%sLOST%s %" PRIu64 " packets (%.2g %%)\n", r->colour ? "\x1b[1;31m" : "",
                r->colour ? "\x1b[0m" : "", t.lost,
                100.0 * (double)t.lost / ((double)t.lost + (double)t.packets));
    else if (t.loss)
        fprintf(r->out, "LOST %" PRIu64 " things that its own report names\n", t.loss);
    else
        fputs("lost nothing\n", r->out);
}

static void row_text(const struct render_profile *r, const struct profiling_diff_row *row)
{
    char place[256];
    unsigned left = r->width - 46;
    fprintf(r->out, " %6.2f %% %6.2f %% %+7.2f +-%-5.2f ", render_profile_percent(row->share_a),
            render_profile_percent(row->share_b), 100 * row->difference, 100 * row->error);
    fprintf(r->out, "%-8s ",
            row->significant ? (row->difference > 0 ? "MORE" : "LESS")
            : row->tested    ? "noise"
                             : "too few");
    render_profile_place(place, sizeof(place), row->file, 0);
    render_profile_cell(r->out, row->name, place[0] ? left * 6 / 10 : left, place[0] != '\0');
    if (place[0]) {
        putc(' ', r->out);
        render_profile_cell(r->out, place, left - left * 6 / 10 - 1, false);
    }
    putc('\n', r->out);
}

static void verdict(const struct render_profile *r, const struct profiling_diff *diff)
{
    size_t real = 0;
    for (size_t i = 0; i < diff->count; i++)
        real += diff->rows[i].significant;
    fprintf(r->out,
            "%zu of %zu functions differ by more than the noise of sampling (two-proportion z\n"
            "test, %.0f %% confidence over all %zu tests, Holm's correction); +- is one standard\n"
            "error. Losses are not in that error.\n",
            real, diff->count, 100 * PROFILING_DIFF_CONFIDENCE, diff->tests);
}

void render_profile_diff_text(const struct render_profile *r, const struct profiling_side *a,
                              const struct profiling_side *b, const struct profiling_diff *diff)
{
    side(r, "A", a);
    side(r, "B", b);
    putc('\n', r->out);
    if (diff->count == 0) {
        fputs("There is no function in either.\n", r->out);
        return;
    }
    if (diff->count == 1 && strcmp(diff->rows[0].name, "[unknown]") == 0)
        fputs("There are no names to compare: give the ELF files with --elf.\n", r->out);
    verdict(r, diff);
    fputs("\n  share A  share B   B - A  error          function\n", r->out);
    for (size_t i = 0; i < diff->count && i < r->top; i++)
        row_text(r, &diff->rows[i]);
    if (diff->count > r->top)
        fprintf(r->out, "  and %zu more functions (--top %zu shows them)\n", diff->count - r->top,
                diff->count);
}
