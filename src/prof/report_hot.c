/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single addresses: the hot list with inlined frames and branch outcomes (profiler sheet 3.6, 3.7), and what
 * the samples say of the images. Frames are looked up only for what is shown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "prof/report_parts.h"

#define FRAMES_MAX     64
#define MISFIT_PERCENT 1 /* more samples than this where no instruction can be: another build */

size_t report_frames(const struct report_work *w, const struct report_site *site,
                     struct prof_report_frame frames[PROF_REPORT_INLINES])
{
    struct symbol_frame all[FRAMES_MAX];
    size_t count = 0;

    if (site->known)
        count = symbol_frames(site->place.image, site->pc - site->place.shift, all, FRAMES_MAX);
    if (count > FRAMES_MAX)
        count = FRAMES_MAX;
    if (!count) {
        frames[0] = w->functions[site->function].frame;
        if (site->known)
            symbol_line_at(site->place.image, site->pc - site->place.shift, &frames[0].file, &frames[0].line);
        return 1;
    }
    size_t kept = count < PROF_REPORT_INLINES ? count : PROF_REPORT_INLINES;
    for (size_t i = 0; i < kept; i++) /* the last one stays the function itself, whatever is left out */
        frames[i] = (struct prof_report_frame){.name = all[i].name, .file = all[i].file, .line = all[i].line};
    if (kept < count)
        frames[kept - 1] = (struct prof_report_frame){
            .name = all[count - 1].name, .file = all[count - 1].file, .line = all[count - 1].line};
    return kept;
}

static int order_places(const void *x, const void *y)
{
    const struct report_site *a = x, *b = y;
    int order = report_order(a->source, b->source);

    order = order ? order : report_order(a->pid, b->pid);
    return order ? order : report_order(a->pc, b->pc);
}

static int order_hot(const void *x, const void *y)
{
    const struct report_site *a = x, *b = y;

    return a->samples != b->samples ? (a->samples < b->samples ? 1 : -1) : order_places(x, y);
}

/* Conditions are sorted by source, then pc. */
static int order_conditions(const void *x, const void *y)
{
    const struct prof_aggregate_entry *a = x, *b = y;
    int order = report_order(a->source, b->source);

    return order ? order : report_order(a->pc, b->pc);
}

static void fill_branch(const struct report_work *w, const struct report_site *site,
                        struct prof_report_hot *to)
{
    const struct prof_aggregate_snapshot *s = &w->conditions;
    uint8_t bytes[4];
    bool predicted;
    size_t low = 0, high = s->count;

    if (!site->known || symbol_machine(site->place.image) != SYMBOL_MACHINE_UBICOM32 ||
        !symbol_code(site->place.image, site->pc - site->place.shift, bytes, sizeof(bytes)))
        return;
    uint32_t word = symbol_big_endian(site->place.image) ? load_be32(bytes) : load_le32(bytes);
    if (!prof_branch_decode(word, &predicted))
        return;
    to->is_branch = true;
    const struct prof_aggregate_entry key = {.source = site->source, .pc = site->pc};
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order_conditions(&s->entries[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < s->count && order_conditions(&s->entries[low], &key) == 0; low++) {
        const struct prof_aggregate_entry *e = &s->entries[low];
        if (site->pid && e->pid != site->pid)
            continue;
        bool taken = prof_branch_taken(word, (uint8_t)e->link);
        to->taken += taken ? e->samples : 0;
        to->not_taken += taken ? 0 : e->samples;
        to->mispredicted_at_most += taken != predicted ? e->samples : 0;
    }
}

bool report_add_hot(struct report_work *w)
{
    struct prof_report *r = &w->box->report;
    size_t count = 0, limit = w->options->hot_limit;
    struct report_site *list = calloc(w->site_count + 1, sizeof(*list));

    if (!list)
        return false;
    if (w->site_count && limit) {
        memcpy(list, w->sites, w->site_count * sizeof(*list));
        qsort(list, w->site_count, sizeof(*list), order_places);
    }
    for (size_t i = 0; limit && i < w->site_count; i++) { /* processes that share a place are one */
        if (count && order_places(&list[count - 1], &list[i]) == 0) {
            list[count - 1].samples += list[i].samples;
            list[count - 1].i_blocked += list[i].i_blocked;
            list[count - 1].d_blocked += list[i].d_blocked;
        } else {
            list[count++] = list[i];
        }
    }
    if (count)
        qsort(list, count, sizeof(*list), order_hot);
    if (w->conditions.count)
        qsort(w->conditions.entries, w->conditions.count, sizeof(*w->conditions.entries), order_conditions);
    size_t kept = 0, taken[PROF_MAX_SOURCES] = {0};
    for (size_t i = 0; i < count; i++) /* of each sender, lest a busy one leaves nothing of the others */
        if (taken[list[i].source]++ < limit)
            list[kept++] = list[i];
    r->hot_count = kept;
    r->hot = report_alloc(w->box, (r->hot_count + 1) * sizeof(*r->hot));
    for (size_t i = 0; r->hot && i < r->hot_count; i++) {
        struct prof_report_hot *to = &r->hot[i];
        double active = (double)w->active[list[i].source];
        *to = (struct prof_report_hot){.source = list[i].source,
                                       .pid = list[i].pid,
                                       .pc = list[i].pc,
                                       .count = list[i].samples,
                                       .i_blocked = list[i].i_blocked,
                                       .d_blocked = list[i].d_blocked,
                                       .share = active > 0 ? (double)list[i].samples / active : 0,
                                       .image = list[i].place.image};
        to->frame_count = report_frames(w, &list[i], to->frames);
        fill_branch(w, &list[i], to);
    }
    free(list);
    return r->hot != NULL;
}

/* --- images --------------------------------------------------------------------------------------------- */

struct image_sums {
    uint64_t samples, misfit;
    uint32_t example;
    enum symbol_misfit why;
};

static const char *misfit_words(enum symbol_misfit why)
{
    switch (why) {
    case SYMBOL_MISFIT_UNALIGNED:
        return "between two instructions";
    case SYMBOL_MISFIT_DATA:
        return "where the file has data";
    case SYMBOL_MISFIT_ILLEGAL:
        return "where the file has no instruction";
    default:
        return "where the file has no code";
    }
}

static bool note_image(struct report_work *w, struct prof_report_image *to, const struct image_sums *sums)
{
    char text[200];

    to->samples = sums->samples;
    to->note = symbol_note(to->image);
    to->mismatch = sums->misfit * 100 > sums->samples * MISFIT_PERCENT;
    if (!to->mismatch)
        return true;
    snprintf(text, sizeof(text),
             "%llu of %llu samples lie %s (one at 0x%x): the file is not what runs on the target",
             (unsigned long long)sums->misfit, (unsigned long long)sums->samples, misfit_words(sums->why),
             sums->example);
    to->note = report_string(w->box, text);
    return to->note != NULL;
}

static size_t image_number(const struct prof_report *r, const struct symbol_index *image)
{
    size_t i = 0;

    while (i < r->image_count && r->images[i].image != image)
        i++;
    return i;
}

/* Images of all spaces, each once. */
static bool list_images(struct report_work *w)
{
    struct prof_report *r = &w->box->report;
    size_t room = 1;

    for (unsigned s = 0; s < w->sender_count; s++) {
        const struct symbol_space *space = report_space(w, s);
        room += space ? symbol_space_image_count(space) : 0;
        r->sources[s].image_missing = !space || symbol_space_image_count(space) == 0;
    }
    r->images = report_alloc(w->box, room * sizeof(*r->images));
    for (unsigned s = 0; r->images && s < w->sender_count; s++) {
        const struct symbol_space *space = report_space(w, s);
        size_t count = space ? symbol_space_image_count(space) : 0;
        for (size_t i = 0; i < count; i++) {
            uint64_t offset;
            const struct symbol_index *image = symbol_space_image(space, i, &offset);
            if (image && image_number(r, image) == r->image_count && r->image_count < room)
                r->images[r->image_count++].image = image;
        }
    }
    return r->images != NULL;
}

bool report_add_images(struct report_work *w)
{
    struct prof_report *r = &w->box->report;

    if (!list_images(w))
        return false;
    struct image_sums *sums = calloc(r->image_count + 1, sizeof(*sums));
    if (!sums)
        return false;
    for (size_t i = 0; i < w->site_count; i++) {
        const struct report_site *site = &w->sites[i];
        size_t number = image_number(r, site->place.image);
        if (!site->place.image || number == r->image_count)
            continue;
        enum symbol_misfit why = symbol_misfit(site->place.image, site->pc - site->place.shift);
        sums[number].samples += site->samples;
        if (why == SYMBOL_FITS)
            continue;
        sums[number].misfit += site->samples;
        sums[number].why = why;
        sums[number].example = site->pc;
    }
    bool ok = true;
    for (size_t i = 0; ok && i < r->image_count; i++)
        ok = note_image(w, &r->images[i], &sums[i]);
    free(sums);
    for (unsigned s = 0; ok && s < w->sender_count; s++) {
        const struct symbol_space *space = report_space(w, s);
        size_t count = space ? symbol_space_image_count(space) : 0;
        for (size_t i = 0; i < count; i++) {
            uint64_t offset;
            size_t number = image_number(r, symbol_space_image(space, i, &offset));
            r->sources[s].image_mismatch |= number < r->image_count && r->images[number].mismatch;
        }
        if (count && r->sources[s].unknown_pc * 2 > w->active[s]) /* most of it is elsewhere */
            r->sources[s].image_mismatch = true;
    }
    return ok;
}
