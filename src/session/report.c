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
    return symbol_function_at(symbols, pc, &f) && strncmp(f.name, "prof_sampler_", 13) == 0;
}

static enum corral_err do_exact(struct link *link, void *ctx, struct diag *d)
{
    struct exact *e = ctx;
    const struct symbol_index *symbols = e->s->symbols[e->core];
    uint32_t ap = core_ap(e->s->cores[e->core]);
    uint32_t base;
    const uint64_t *counts;
    size_t n;
    uint64_t own = 0, total = 0;
    (void)d;
    if (ap >= LINK_SIM_CORES || !link_sim_pc_count(link, ap, &base, &counts, &n))
        return CORRAL_OK;
    for (size_t i = 0; i < n; i++) {
        uint64_t at =
            (uint64_t)base + i * 2; /* the function's range is the file's word: it may wrap 32 bits */
        if (!counts[i])
            continue;
        if (at >= e->address && at - e->address < e->size)
            own += counts[i];
        if (!symbols || !is_sampler(symbols, (uint32_t)at))
            total += counts[i];
    }
    e->share = total ? (double)own / (double)total : -1;
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

/* A sender of profile packets: a track of the profile. */
struct profile_source {
    bool known;
    char name[PROF_SOURCE_NAME_ROOM];
    const struct symbol_index *symbols; /* NULL = of no core, or of one without an ELF */
    uint64_t lost;
};

struct profile_report {
    struct profile_source sources[PROF_MAX_SOURCES];
    struct export_track tracks[PROF_MAX_SOURCES];
    size_t track_count;
    struct prof_hot *hot;
    struct named_row *rows;
    struct export_stack *stacks;
};

/* The core that `source` samples, or NULL: the board's ports are the first senders, in the order of the APs;
 * others are told by the name that corral.yml gave them. */
static const struct core *core_of_source(const struct session *s, unsigned source, const char *name,
                                         size_t *number)
{
    for (*number = 0; *number < s->core_count; (*number)++) {
        const struct core *core = s->cores[*number];
        bool board = s->is_board && source < LINK_SIM_CORES;
        if (board ? core_ap(core) == source : strcmp(core_name(core), name) == 0)
            return core;
    }
    return NULL;
}

static void find_sources(const struct session *s, struct profile_report *r)
{
    for (unsigned i = 0; s->streams && i < PROF_MAX_SOURCES; i++) {
        struct profile_source *source = &r->sources[i];
        struct prof_totals totals;
        size_t number;
        source->known = prof_streams_source_totals(s->streams, i, source->name, &totals);
        if (!source->known)
            continue;
        source->lost = totals.lost;
        const struct core *core = core_of_source(s, i, source->name, &number);
        if (core) {
            snprintf(source->name, sizeof(source->name), "%s", core_name(core));
            source->symbols = s->symbols[number];
        }
    }
}

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

/* One track a sender, also one that sent nothing: a core without samples must not look like no core. */
static enum corral_err make_tracks(struct session *s, struct profile_report *r, struct diag *d)
{
    size_t n = 0;
    /* The samples first: who sent them is then known, too. */
    if (s->aggregate && !(r->hot = prof_aggregate_hot(s->aggregate, &n)))
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    find_sources(s, r);
    r->rows = calloc(n + 1, sizeof(*r->rows));
    r->stacks = calloc(n + 1, sizeof(*r->stacks));
    if (!r->rows || !r->stacks)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < n; i++)
        name_row(&r->rows[i], &r->hot[i], r->sources[r->hot[i].source].symbols);
    size_t kept = merge_rows(r->rows, n), row = 0;
    for (unsigned i = 0; i < PROF_MAX_SOURCES; i++) {
        if (!r->sources[i].known)
            continue;
        struct export_track *track = &r->tracks[r->track_count++];
        *track = (struct export_track){
            .name = r->sources[i].name, .stacks = &r->stacks[row], .lost_packets = r->sources[i].lost};
        for (; row < kept && r->rows[row].source == i; row++) {
            r->stacks[row] = (struct export_stack){
                .frames = r->rows[row].frames, .depth = r->rows[row].depth, .count = r->rows[row].count};
            track->count++;
        }
    }
    return CORRAL_OK;
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
    struct profile_report *r = calloc(1, sizeof(*r));
    if (!r)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    enum corral_err err = make_tracks(s, r, d);
    struct export_profile profile = {.title = "corral profile", .tracks = r->tracks, .count = r->track_count};
    if (err == CORRAL_OK)
        err = write_profile(&profile, format, path, d);
    free(r->hot);
    free(r->rows);
    free(r->stacks);
    free(r);
    return err;
}
