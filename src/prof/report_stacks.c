/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks for exporters: samples that differ only in words that were not believed become one. Frames are root
 * first; callers are functions, the leaf has its inlined frames.
 */
#include <stdlib.h>
#include <string.h>

#include "prof/report_parts.h"

/* An entry, as far as it was believed. */
struct believed {
    uint32_t site, entry;
    uint8_t source, thread, depth;
    uint64_t calls[PROF_CHAIN_MAX];
};

static int order_believed(const void *x, const void *y)
{
    const struct believed *a = x, *b = y;
    int order = report_order(a->source, b->source);

    order = order ? order : report_order(a->thread, b->thread);
    order = order ? order : report_order(a->site, b->site);
    order = order ? order : report_order(a->depth, b->depth);
    for (size_t i = 0; !order && i < a->depth; i++)
        order = report_order(a->calls[i], b->calls[i]);
    return order;
}

static void believe(const struct report_work *w, size_t i, struct believed *b)
{
    const struct prof_aggregate_entry *e = &w->samples.entries[i];

    *b = (struct believed){.site = w->site_of[i],
                           .entry = (uint32_t)i,
                           .source = e->source,
                           .thread = e->thread,
                           .depth = w->depths[i]};
    for (size_t k = 0; k < b->depth; k++)
        b->calls[k] = w->chains[i][k].call;
}

static struct prof_report_frame caller_frame(const struct prof_caller *c)
{
    struct prof_report_frame frame = {.name = c->function.name};

    if (!symbol_line_at(c->place.image, c->call - c->place.shift, &frame.file, &frame.line)) {
        frame.file = NULL;
        frame.line = 0;
    }
    return frame;
}

static bool begin_stack(struct report_work *w, const struct believed *b, struct prof_report_stack *to)
{
    const struct report_site *site = &w->sites[b->site];
    struct prof_report_frame leaf[PROF_REPORT_INLINES];
    size_t inlines = report_frames(w, site, leaf);
    size_t depth = b->depth + inlines;
    struct prof_report_frame *frames = report_alloc(w->box, depth * sizeof(*frames));
    uint64_t *addresses = report_alloc(w->box, depth * sizeof(*addresses));

    if (!frames || !addresses)
        return false;
    for (size_t k = 0; k < b->depth; k++) {
        frames[k] = caller_frame(&w->chains[b->entry][b->depth - 1 - k]);
        addresses[k] = b->calls[b->depth - 1 - k];
    }
    for (size_t k = 0; k < inlines; k++) {
        frames[b->depth + k] = leaf[inlines - 1 - k];
        addresses[b->depth + k] = site->pc;
    }
    *to = (struct prof_report_stack){.source = b->source,
                                     .thread = b->thread,
                                     .pid = w->samples.entries[b->entry].pid,
                                     .pc = site->pc,
                                     .caller = b->depth ? b->calls[0] : 0,
                                     .depth = depth,
                                     .frames = frames,
                                     .addresses = addresses};
    return true;
}

bool report_add_stacks(struct report_work *w)
{
    struct prof_report *r = &w->box->report;
    size_t count = w->samples.count;

    if (!w->options->stacks)
        return true;
    struct believed *list = malloc((count + 1) * sizeof(*list));
    r->stacks = report_alloc(w->box, (count + 1) * sizeof(*r->stacks));
    bool ok = list && r->stacks;
    for (size_t i = 0; ok && i < count; i++)
        believe(w, i, &list[i]);
    if (ok && count)
        qsort(list, count, sizeof(*list), order_believed);
    for (size_t i = 0; ok && i < count; i++) {
        const struct prof_aggregate_entry *e = &w->samples.entries[list[i].entry];
        if (i == 0 || order_believed(&list[i - 1], &list[i]) != 0)
            ok = begin_stack(w, &list[i], &r->stacks[r->stack_count++]);
        struct prof_report_stack *to = &r->stacks[r->stack_count - 1];
        to->count += e->samples;
        to->i_blocked += e->i_blocked;
        to->d_blocked += e->d_blocked;
    }
    free(list);
    return ok;
}
