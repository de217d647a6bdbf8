/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gprof's gmon.out (profiler sheet 10.1): a histogram of the executable ranges that have samples, in bins of
 * 4 bytes, and an arc for each call that is known. A bin holds 65535; more is carried by repeating the
 * record, never clipped. The file has no place for words: what it cannot hold is said in *d.
 */
#include "export/export_profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/export_file.h"
#include "export/export_gmon_bins.h"
#include "export/export_index.h"
#include "export/export_text.h"

#define TAG_ARC      1
#define GMON_VERSION 1u

struct arc {
    uint64_t from, to, count;
};

struct gmon {
    const struct export_profile *profile;
    struct export_gmon_out out;
    struct export_gmon_bins bins;
    struct export_gmon_range *ranges;
    size_t range_count;
    bool *used; /* by mapping */
    struct arc *arcs;
    size_t arc_count, arc_room;
    uint64_t outside, without_caller, images;
    double hz; /* 0 = not known, or not the same for all */
};

static const struct export_mapping *mapping_of(const struct export_profile *profile,
                                               const struct export_frame *f)
{
    if (f->mapping < 0 || (size_t)f->mapping >= profile->mapping_count)
        return NULL;
    const struct export_mapping *m = &profile->mappings[f->mapping];
    return f->address >= m->start && f->address < m->limit ? m : NULL;
}

static const struct export_mapping *leaf_mapping(const struct gmon *g, const struct export_stack *stack)
{
    return stack->depth && stack->count ? mapping_of(g->profile, &stack->frames[stack->depth - 1]) : NULL;
}

static bool same_image(const struct export_mapping *a, const struct export_mapping *b)
{
    return strcmp(a->path ? a->path : "", b->path ? b->path : "") == 0 &&
           strcmp(a->build_id ? a->build_id : "", b->build_id ? b->build_id : "") == 0;
}

/* Which mappings have samples, and at which rate they came. */
static void look(struct gmon *g)
{
    bool same = true;
    for (size_t t = 0; t < g->profile->count; t++) {
        const struct export_track *track = &g->profile->tracks[t];
        bool any = false;
        for (size_t i = 0; i < track->count; i++) {
            const struct export_mapping *m = leaf_mapping(g, &track->stacks[i]);
            if (m) {
                g->used[m - g->profile->mappings] = true;
                any = true;
            } else {
                g->outside = export_add(g->outside, track->stacks[i].count);
            }
        }
        if (any) {
            double hz = track->sampling_hz > 0 && isfinite(track->sampling_hz) ? track->sampling_hz : 0;
            same = same && hz > 0 && (g->hz <= 0 || hz == g->hz);
            g->hz = hz;
        }
    }
    /* The file has whole Hz only; where that is off by more than a hundredth, samples are shown as such. */
    if (!same || g->hz < 1 || g->hz > UINT32_MAX || fabs(round(g->hz) - g->hz) > g->hz / 100)
        g->hz = 0;
}

/* One byte order, one size of pointers, and no address with two meanings. */
static enum corral_err check_images(struct gmon *g, struct diag *d)
{
    const struct export_profile *profile = g->profile;
    const struct export_mapping *first = NULL;
    for (size_t i = 0; i < profile->mapping_count; i++) {
        const struct export_mapping *m = &profile->mappings[i];
        bool known = false;
        if (!g->used[i])
            continue;
        first = first ? first : m;
        if (m->big_endian != first->big_endian || m->wide != first->wide)
            return diag_set(
                d, CORRAL_ERR_UNSUPPORTED,
                "a gmon file has one byte order and one size of addresses, but %.100s and %.100s differ",
                first->path ? first->path : "?", m->path ? m->path : "?");
        for (size_t k = 0; k < i; k++) {
            const struct export_mapping *other = &profile->mappings[k];
            bool same = g->used[k] && same_image(m, other);
            known = known || same;
            if (g->used[k] && !same && m->start < other->limit && other->start < m->limit) {
                diag_set(d, CORRAL_ERR_UNSUPPORTED,
                         "a gmon file cannot tell %.100s and %.100s apart, which are at the same addresses",
                         other->path ? other->path : "?", m->path ? m->path : "?");
                diag_hint(
                    d, "choose pprof, which keeps them apart, or a capture in which only one of them sends");
                return CORRAL_ERR_UNSUPPORTED;
            }
        }
        g->images += !known;
    }
    if (first)
        return CORRAL_OK;
    if (g->profile->mapping_count == 0) {
        diag_set(d, CORRAL_ERR_UNSUPPORTED, "a gmon file needs an image, for its byte order and its ranges");
        diag_hint(d, "give the target's ELF file with --elf");
        return CORRAL_ERR_UNSUPPORTED;
    }
    if (g->outside)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED,
                        "none of the samples lies in an image, and readers of gmon refuse an empty file");
    return diag_set(d, CORRAL_ERR_UNSUPPORTED,
                    "there is no sample, and readers of gmon refuse an empty file");
}

static bool add_arc(struct gmon *g, const struct export_frame *from, const struct export_frame *to,
                    uint64_t count)
{
    if (from->address == 0 || !mapping_of(g->profile, to) || !mapping_of(g->profile, from)) {
        g->without_caller = export_add(g->without_caller, count);
        return true;
    }
    if (!export_grow((void **)&g->arcs, &g->arc_room, g->arc_count, sizeof(*g->arcs)))
        return false;
    g->arcs[g->arc_count++] = (struct arc){.from = from->address, .to = to->address, .count = count};
    return true;
}

/* From each function to the one it called, whatever is inlined into either of them. An address inside the
 * called function stands for it, which is all that readers look at. */
static bool add_arcs(struct gmon *g, const struct export_stack *stack)
{
    size_t end = stack->depth;
    const struct export_frame *called = NULL;
    while (end > 0) {
        const struct export_frame *here = &stack->frames[end - 1];
        if (called && !add_arc(g, here, called, stack->count))
            return false;
        called = here;
        while (end > 1 && stack->frames[end - 1].inlined)
            end--;
        end--;
        if (end == 0 && called == &stack->frames[stack->depth - 1])
            g->without_caller = export_add(g->without_caller, stack->count);
    }
    return true;
}

static int by_addresses(const void *a, const void *b)
{
    const struct arc *x = a;
    const struct arc *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static void merge_arcs(struct gmon *g)
{
    size_t kept = 0;
    if (g->arc_count)
        qsort(g->arcs, g->arc_count, sizeof(*g->arcs), by_addresses);
    for (size_t i = 0; i < g->arc_count; i++) {
        if (kept && by_addresses(&g->arcs[kept - 1], &g->arcs[i]) == 0)
            g->arcs[kept - 1].count = export_add(g->arcs[kept - 1].count, g->arcs[i].count);
        else
            g->arcs[kept++] = g->arcs[i];
    }
    g->arc_count = kept;
}

static enum corral_err gather(struct gmon *g, struct diag *d)
{
    for (size_t t = 0; t < g->profile->count; t++)
        for (size_t i = 0; i < g->profile->tracks[t].count; i++) {
            const struct export_stack *stack = &g->profile->tracks[t].stacks[i];
            if (!leaf_mapping(g, stack))
                continue;
            if (!export_gmon_bins_add(&g->bins, stack->frames[stack->depth - 1].address, stack->count) ||
                !add_arcs(g, stack))
                return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory for the gmon histogram");
        }
    merge_arcs(g);
    for (size_t i = 0; i < g->profile->mapping_count; i++)
        if (g->used[i])
            g->ranges[g->range_count++] = (struct export_gmon_range){.start = g->profile->mappings[i].start,
                                                                     .limit = g->profile->mappings[i].limit};
    return export_gmon_bins_plan(&g->bins, g->ranges, &g->range_count, g->out.wide, d);
}

static void put_arcs(struct gmon *g)
{
    for (size_t i = 0; i < g->arc_count; i++)
        for (uint64_t left = g->arcs[i].count; left > 0;) {
            uint32_t part = left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;
            putc(TAG_ARC, g->out.file);
            export_gmon_put_address(&g->out, g->arcs[i].from);
            export_gmon_put_address(&g->out, g->arcs[i].to);
            export_gmon_put_u32(&g->out, part);
            left -= part;
        }
}

static void put_header(struct gmon *g)
{
    static const uint8_t spare[12];
    fwrite("gmon", 1, 4, g->out.file);
    export_gmon_put_u32(&g->out, GMON_VERSION);
    fwrite(spare, 1, sizeof(spare), g->out.file);
}

/* What the file does not say. */
static void say(const struct gmon *g, struct diag *d)
{
    char *note = export_text_note(g->profile);
    char outside[80] = "";
    char callers[80] = "";
    char images[80] = "";
    if (!d)
        goto out;
    if (g->outside)
        snprintf(outside, sizeof(outside), "%" PRIu64 " samples outside the images are left out; ",
                 g->outside);
    if (g->without_caller)
        snprintf(callers, sizeof(callers), "%" PRIu64 " samples have no known caller, so no arc; ",
                 g->without_caller);
    if (g->images > 1)
        snprintf(images, sizeof(images), "it covers %" PRIu64 " images, of which gprof takes one at a time; ",
                 g->images);
    diag_set(d, CORRAL_OK, "%s%s%s%.200s", outside, callers, images, note ? note : "");
    size_t n = strlen(d->message);
    while (n && strchr("; .", d->message[n - 1]))
        d->message[--n] = '\0';
out:
    free(note);
}

static enum corral_err write_file(struct gmon *g, const char *path, struct diag *d)
{
    struct export_file f;
    enum corral_err err = export_file_begin(&f, path, d);
    if (err != CORRAL_OK)
        return err;
    g->out.file = f.out;
    put_header(g);
    export_gmon_bins_put(&g->bins, &g->out, g->hz > 0 ? (uint32_t)round(g->hz) : 0);
    put_arcs(g);
    return export_file_end(&f, d);
}

enum corral_err export_gmon(const struct export_profile *profile, const char *path, struct diag *d)
{
    struct gmon g = {.profile = profile};
    enum corral_err err = CORRAL_OK;
    g.used = calloc(profile->mapping_count + 1, sizeof(*g.used));
    g.ranges = calloc(profile->mapping_count + 1, sizeof(*g.ranges));
    if (!g.used || !g.ranges) {
        err = diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory for the gmon ranges");
        goto out;
    }
    look(&g);
    err = check_images(&g, d);
    if (err != CORRAL_OK)
        goto out;
    for (size_t i = 0; i < profile->mapping_count; i++)
        if (g.used[i]) {
            g.out.big_endian = profile->mappings[i].big_endian;
            g.out.wide = profile->mappings[i].wide;
        }
    err = gather(&g, d);
    if (err == CORRAL_OK)
        err = write_file(&g, path, d);
    if (err == CORRAL_OK)
        say(&g, d);
out:
    export_gmon_bins_free(&g.bins);
    free(g.arcs);
    free(g.ranges);
    free(g.used);
    return err;
}
