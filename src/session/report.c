/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a profile adds up to: the board's exact share of a function, and the collected stacks handed to the
 * exporters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export_profile.h"
#include "session/session_internal.h"

/* --- the board's own count ------------------------------------------------------------------------------ */

struct exact {
    struct session *s;
    size_t core;
    uint32_t address, size;
    double share;
};

/* The profiler's interrupt is where samples cannot fall; its functions carry the sampler's prefix. */
static bool is_sampler(const struct symbol_index *symbols, uint32_t pc)
{
    struct symbol_function f;
    return symbol_function_at(symbols, pc, &f) &&
           (strncmp(f.name, "prof_sampler_", 13) == 0 || strcmp(f.name, "timer_handler") == 0);
}

static enum corral_err do_exact(struct link *link, void *ctx, struct diag *d)
{
    struct exact *e = ctx;
    struct session *s = e->s;
    uint32_t ap = core_ap(s->cores[e->core]);
    uint32_t base;
    const uint64_t *counts;
    size_t n;
    (void)d;
    e->share = -1;
    if (ap >= LINK_SIM_CORES || !link_sim_pc_count(link, ap, &base, &counts, &n))
        return CORRAL_OK;
    if (s->exact_total[ap] == 0)
        for (size_t i = 0; i < n; i++)
            if (counts[i] &&
                !(s->symbols[e->core] && is_sampler(s->symbols[e->core], base + (uint32_t)i * 2)))
                s->exact_total[ap] += counts[i];
    uint64_t own = 0;
    for (uint32_t a = e->address; a - e->address < e->size; a += 2)
        if (a >= base && (a - base) / 2 < n)
            own += counts[(a - base) / 2];
    e->share = s->exact_total[ap] ? (double)own / (double)s->exact_total[ap] : -1;
    return CORRAL_OK;
}

double session_exact_share(struct session *s, size_t core, uint32_t address, uint32_t size)
{
    struct exact e = {.s = s, .core = core, .address = address, .size = size, .share = -1};
    if (core < s->core_count && s->is_board)
        session_call(s, do_exact, &e, NULL);
    return e.share;
}

/* --- stacks --------------------------------------------------------------------------------------------- */

/* One row of the aggregate with its names, so that rows of one function can be merged. */
struct named_row {
    unsigned source;
    struct export_frame frames[2]; /* caller, then function; only the last when the caller is not known */
    size_t depth;
    uint64_t count;
};

static struct export_frame frame_at(const struct symbol_index *symbols, uint32_t pc)
{
    struct export_frame frame = {.name = "[unknown]"};
    struct symbol_function f;
    if (symbols && symbol_function_at(symbols, pc, &f)) {
        frame.name = f.name;
        symbol_line_at(symbols, f.address, &frame.file, &frame.line);
    }
    return frame;
}

static int compare_rows(const void *a, const void *b)
{
    const struct named_row *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    for (size_t i = 0; i < x->depth; i++) {
        int c = strcmp(x->frames[i].name, y->frames[i].name);
        if (c)
            return c;
    }
    return 0;
}

/* The caller by the link register is believed only where it is a Thumb address inside another function: in a
 * leaf it is right, elsewhere it is often the function's own. */
static void name_row(struct named_row *row, const struct prof_hot *hot, const struct symbol_index *symbols)
{
    struct export_frame self = frame_at(symbols, hot->pc);
    struct export_frame caller = frame_at(symbols, hot->caller - 1);
    bool known = (hot->caller & 1) && caller.name[0] != '[' && strcmp(caller.name, self.name) != 0;
    row->source = hot->source;
    row->count = hot->count;
    row->depth = known ? 2 : 1;
    row->frames[0] = known ? caller : self;
    row->frames[1] = self;
}

static size_t merge_rows(struct named_row *rows, size_t n)
{
    size_t kept = 0;
    qsort(rows, n, sizeof(*rows), compare_rows);
    for (size_t i = 0; i < n; i++) {
        if (kept && compare_rows(&rows[kept - 1], &rows[i]) == 0)
            rows[kept - 1].count += rows[i].count;
        else
            rows[kept++] = rows[i];
    }
    return kept;
}

static enum corral_err write_profile(const struct export_profile *profile, const char *format,
                                     const char *path, struct diag *d)
{
    if (strcmp(format, "folded") == 0)
        return export_folded(profile, path, d);
    if (strcmp(format, "speedscope") == 0)
        return export_speedscope(profile, path, d);
    return diag_set(d, CORRAL_ERR_USAGE, "there is no export format '%s'", format);
}

enum corral_err session_export_profile(struct session *s, const char *format, const char *path,
                                       struct diag *d)
{
    size_t n = 0;
    struct prof_hot *hot = s->aggregate ? prof_aggregate_hot(s->aggregate, &n) : NULL;
    struct named_row *rows = calloc(n + 1, sizeof(*rows));
    struct export_stack *stacks = calloc(n + 1, sizeof(*stacks));
    struct export_track tracks[SESSION_MAX_CORES] = {{0}};
    enum corral_err err = CORRAL_OK;
    if (!rows || !stacks) {
        err = diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        goto out;
    }
    for (size_t i = 0; i < n; i++)
        name_row(&rows[i], &hot[i], session_symbols(s, hot[i].source));
    size_t kept = merge_rows(rows, n);
    struct prof_totals totals;
    session_profile_totals(s, &totals);
    for (size_t core = 0, row = 0; core < s->core_count; core++) {
        tracks[core] = (struct export_track){.name = core_name(s->cores[core]), .stacks = &stacks[row]};
        for (; row < kept && rows[row].source == core; row++) {
            stacks[row] = (struct export_stack){
                .frames = rows[row].frames, .depth = rows[row].depth, .count = rows[row].count};
            tracks[core].count++;
        }
    }
    tracks[0].lost_packets = totals.lost; /* the streams do not tell the cores apart here */
    struct export_profile profile = {.title = "corral profile", .tracks = tracks, .count = s->core_count};
    err = write_profile(&profile, format, path, d);
out:
    free(hot);
    free(rows);
    free(stacks);
    return err;
}
