/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report: everything copied at one moment, under the locks in their order, then worked on without them.
 * Profiler sheet 9. What each part of it is made of is in report_*.c.
 */
#include "prof/report.h"

#include <stdlib.h>
#include <string.h>

#include "prof/report_parts.h"

#define BLOCK_SIZE 65536u

struct report_block {
    struct report_block *next;
    size_t used, room;
    max_align_t data[];
};

void *report_alloc(struct report_box *box, size_t size)
{
    struct report_block *b = box->blocks;

    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (!b || b->room - b->used < size) {
        size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
        b = calloc(1, sizeof(*b) + room);
        if (!b)
            return NULL;
        b->room = room;
        b->next = box->blocks;
        box->blocks = b;
    }
    void *memory = (char *)b->data + b->used;
    b->used += size;
    return memory;
}

const char *report_string(struct report_box *box, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = report_alloc(box, size);

    return copy ? memcpy(copy, text, size) : NULL;
}

const char *prof_thread_type_name(enum prof_thread_type type)
{
    static const char *const names[] = {"NRT", "high", "HRT", "profiler"};

    return (unsigned)type < sizeof(names) / sizeof(names[0]) ? names[type] : "?";
}

const struct symbol_space *report_space(const struct report_work *w, unsigned source)
{
    const struct prof_report_options *o = w->options;

    return o->spaces && source < o->space_count ? o->spaces[source] : NULL;
}

bool report_mips(const struct report_sender *sender, size_t thread, double *mips)
{
    const struct prof_rate *rate = &sender->rates.threads[thread];
    bool known = rate->seconds > 0 && (sender->state.counting >> thread & 1);

    *mips = known ? (double)rate->instructions / rate->seconds / 1e6 : 0;
    return known;
}

/* --- the copy ------------------------------------------------------------------------------------------- */

static bool copy_tables(struct prof_source_state *to, const struct prof_source_state *from)
{
    const struct prof_dump *dump = prof_maps_newest(&from->maps);

    *to = *from;
    to->counters = (struct prof_counter_table){.count = from->counters.count,
                                               .ignored = from->counters.ignored,
                                               .truncated = from->counters.truncated};
    to->maps = (struct prof_maps_state){0};
    if (from->counters.count) {
        to->counters.items = malloc(from->counters.count * sizeof(*to->counters.items));
        if (!to->counters.items)
            return false;
        memcpy(to->counters.items, from->counters.items, from->counters.count * sizeof(*to->counters.items));
    }
    if (!dump)
        return true;
    struct profile_map *entries = malloc((dump->count + 1) * sizeof(*entries));
    if (!entries)
        return false;
    if (dump->count)
        memcpy(entries, dump->entries, dump->count * sizeof(*entries));
    to->maps.whole = *dump;
    to->maps.whole.entries = entries;
    return true;
}

static void add_held(struct prof_rates *rates, const struct prof_rates *held)
{
    for (size_t t = 0; t < PROFILE_MAX_THREADS; t++) {
        rates->threads[t].instructions += held->threads[t].instructions;
        rates->threads[t].seconds += held->threads[t].seconds;
    }
    rates->seconds += held->seconds;
}

static bool copy_senders(struct report_work *w, const struct prof_streams *s, const struct prof_analysis *a)
{
    for (size_t i = 0; i < PROF_MAX_SOURCES; i++) {
        const struct prof_source *from = &s->sources[i];
        struct report_sender *to = &w->senders[i];
        if (!from->used)
            continue;
        w->sender_count = i + 1;
        to->used = true;
        memcpy(to->name, from->stream + 5, sizeof(to->name));
        to->totals = from->totals;
        to->clock_hz = from->clock.hz;
        to->rates = from->rates;
        add_held(&to->rates, &from->clock.held);
        if (!copy_tables(&to->state, &a->sources[i]))
            return false;
    }
    return true;
}

/* One moment: nothing is added while this lasts. */
static bool copy_all(struct report_work *w, struct prof_streams *streams, struct prof_analysis *a)
{
    pthread_mutex_lock(&streams->lock);
    pthread_mutex_lock(&a->lock);
    bool ok = copy_senders(w, streams, a) && prof_aggregate_snapshot(a->aggregate, &w->samples) &&
              (!a->conditions || prof_aggregate_snapshot(a->conditions, &w->conditions));
    w->gone = streams->gone;
    stream_totals(streams, &w->totals);
    pthread_mutex_unlock(&a->lock);
    pthread_mutex_unlock(&streams->lock);
    return ok;
}

static void keep_thread(struct prof_aggregate_snapshot *s, int thread)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->count; i++)
        if (s->entries[i].thread == thread)
            s->entries[kept++] = s->entries[i];
    s->count = kept;
}

static void count_active(struct report_work *w)
{
    int thread = w->options->thread;

    for (size_t i = 0; i < w->sender_count; i++)
        w->active[i] = thread < 0                     ? w->samples.active[i]
                       : thread < PROFILE_MAX_THREADS ? w->senders[i].state.threads[thread].active
                                                      : 0;
    if (thread >= 0) {
        keep_thread(&w->samples, thread);
        keep_thread(&w->conditions, thread);
    }
}

/* --- the whole ------------------------------------------------------------------------------------------ */

static void free_work(struct report_work *w)
{
    for (size_t i = 0; i < PROF_MAX_SOURCES; i++) {
        prof_counter_table_clear(&w->senders[i].state.counters);
        prof_maps_clear(&w->senders[i].state.maps);
    }
    prof_aggregate_snapshot_free(&w->samples);
    prof_aggregate_snapshot_free(&w->conditions);
    free(w->sites);
    free(w->site_of);
    free(w->chains);
    free(w->depths);
    free(w->functions);
    free(w->slots);
    free(w);
}

static int order_functions(const void *x, const void *y)
{
    const struct prof_report_function *a = x, *b = y;

    if (a->self != b->self)
        return a->self < b->self ? 1 : -1;
    if (a->inclusive != b->inclusive)
        return a->inclusive < b->inclusive ? 1 : -1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return strcmp(a->frame.name, b->frame.name);
}

static bool finish_functions(struct report_work *w)
{
    struct prof_report *r = &w->box->report;
    struct prof_report_function *list = report_alloc(w->box, (w->function_count + 1) * sizeof(*list));

    if (!list)
        return false;
    if (w->function_count)
        memcpy(list, w->functions, w->function_count * sizeof(*list));
    qsort(list, w->function_count, sizeof(*list), order_functions);
    r->functions = list;
    r->function_count = w->function_count;
    return true;
}

struct prof_report *prof_report_make(struct prof_streams *streams, struct prof_analysis *analysis,
                                     const struct prof_report_options *options, struct diag *d)
{
    static const struct prof_report_options all = {.thread = -1, .hot_limit = 100};
    struct report_box *box = calloc(1, sizeof(*box));
    struct report_work *w = calloc(1, sizeof(*w));
    bool ok = box && w;

    if (ok) {
        w->box = box;
        w->options = options ? options : &all;
        ok = copy_all(w, streams, analysis);
    }
    if (ok) {
        box->report.totals = w->totals;
        box->report.kernel_drops = w->totals.kernel_drops;
        box->report.foreign = w->totals.rejected_by[PROF_REASON_MAGIC];
        count_active(w);
        box->report.sources = report_alloc(box, (w->sender_count + 1) * sizeof(*box->report.sources));
        ok = box->report.sources && report_add_functions(w) && report_add_hot(w) && report_add_stacks(w) &&
             report_add_images(w) && report_add_sources(w) && finish_functions(w);
    }
    if (w)
        free_work(w);
    if (!ok) {
        if (box)
            prof_report_free(&box->report);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory for a report of the profile");
        return NULL;
    }
    return &box->report;
}

void prof_report_free(struct prof_report *report)
{
    struct report_box *box = (struct report_box *)report;

    if (!box)
        return;
    while (box->blocks) {
        struct report_block *next = box->blocks->next;
        free(box->blocks);
        box->blocks = next;
    }
    free(box);
}
