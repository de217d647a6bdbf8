/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report's rows by sender: the sender itself, its threads, named counters, memory maps. Profiler sheet
 * 9's formulas; a quotient is only made where its divisor is not 0, and what is not known is said to be so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prof/report_parts.h"

static uint64_t instructions_of(const struct report_sender *s)
{
    uint64_t sum = 0;

    for (size_t t = 0; t < PROFILE_MAX_THREADS; t++)
        sum += s->rates.threads[t].instructions;
    return sum;
}

static double clamp(double share)
{
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

const char *prof_perf_name(enum profile_layout layout, size_t index)
{
    /* Profiler sheet 9; of version 17's four it is the same in order [inferred there]. */
    static const char *const names[PROFILE_MAX_COUNTERS] = {"D-cache cancelled", "I misses",     "D accesses",
                                                            "D misses",          "I-TLB misses", "TLB misses",
                                                            "page-table misses", "(unused)"};
    static const char *const chosen[PROFILE_MAX_COUNTERS] = {"statistic 0", "statistic 1", "statistic 2",
                                                             "statistic 3", "statistic 4", "statistic 5",
                                                             "statistic 6", "statistic 7"};

    if (index >= PROFILE_MAX_COUNTERS)
        return "?";
    return layout == PROFILE_NSS ? chosen[index] : names[index];
}

static void fill_perf(struct prof_report_perf *to, const struct report_sender *s)
{
    const struct prof_perf_state *from = &s->state.perf;
    uint64_t instructions = instructions_of(s);

    if (!from->nonzero)
        return;
    to->count = from->count;
    to->rate_known = from->seconds[0] > 0;
    for (unsigned i = 0; i < from->count; i++) {
        to->total[i] = from->total[i];
        if (from->seconds[i] > 0)
            to->per_second[i] = (double)from->total[i] / from->seconds[i];
    }
    /* What each counter counts is known for the layouts of the sheet only: NSS chooses by name. */
    bool named = s->state.layout != PROFILE_NSS && from->count >= 4;
    uint64_t accesses = named && from->total[2] > from->total[3] ? from->total[2] - from->total[3] : 0;
    if (!accesses || !instructions || from->total[1] > instructions || from->total[3] > accesses)
        return;
    to->miss_rates_known = true;
    to->i_miss_per_instruction = (double)from->total[1] / (double)instructions;
    to->d_miss_rate = (double)from->total[3] / (double)accesses;
}

static struct prof_report_pool pool(bool known, uint32_t free, uint32_t low_water)
{
    return known ? (struct prof_report_pool){.known = true, .free = free, .low_water = low_water}
                 : (struct prof_report_pool){0};
}

static void fill_groups(const struct report_work *w, unsigned index, struct prof_report_source *to,
                        const struct prof_source_state *from)
{
    const struct profile_header *h = &from->header;
    struct symbol_function function;
    struct prof_target place;

    to->heap = pool(from->known[PROF_GROUP_HEAP], h->heap_free, h->heap_low_water);
    to->netpage = pool(from->known[PROF_GROUP_NETPAGE], h->netpage_free, h->netpage_low_water);
    to->extheap = pool(from->known[PROF_GROUP_EXTHEAP], h->extheap_free, h->extheap_low_water);
    to->extnetpage = pool(from->known[PROF_GROUP_EXTNETPAGE], h->extnetpage_free, h->extnetpage_low_water);
    if (from->known[PROF_GROUP_TIMING]) {
        to->timing = (struct prof_report_timing){.known = true,
                                                 .sequence = h->timing_sequence,
                                                 .interval_s = h->timing_interval,
                                                 .worst_clocks = h->timing_worst_time,
                                                 .average_clocks = h->timing_average,
                                                 .count = h->timing_count,
                                                 .function = h->timing_function,
                                                 .frame = {.name = "[unknown]"}};
        if (prof_target_at(report_space(w, index), 0, h->timing_function, &function, &place)) {
            to->timing.frame.name = function.name;
            symbol_line_at(place.image, function.address, &to->timing.frame.file, &to->timing.frame.line);
        }
    }
    if (from->known[PROF_GROUP_DSR])
        to->dsr = (struct prof_report_dsr){.known = true,
                                           .max_clocks = from->dsr_max,
                                           .average_clocks = h->dsr_ave_latency,
                                           .count = from->dsr_count};
}

/* A target that sends no latencies sends zeros. */
static void fill_latency(struct prof_report_source *to, const struct prof_source_state *from)
{
    if (!from->latency_max)
        return;
    to->latency_count = from->latency_count;
    to->latency_max = from->latency_max;
    memcpy(to->latency, from->latency, sizeof(to->latency));
}

static void fill_source(const struct report_work *w, unsigned index, struct prof_report_source *to)
{
    const struct report_sender *from = &w->senders[index];
    const struct prof_source_state *state = &from->state;
    uint64_t instructions = instructions_of(from);
    double weight = 0;

    memcpy(to->name, from->name, sizeof(to->name));
    to->sent = from->totals.sources != 0;
    to->totals = from->totals;
    to->layout = state->layout;
    to->version = state->version;
    to->cpu_id = state->header.cpu_id;
    to->clock_hz = from->clock_hz;
    to->ddr_hz = state->header.ddr_hz;
    to->seconds = from->rates.seconds > 0 ? from->rates.seconds : -1;
    to->intervals = state->intervals;
    to->sampling_hz =
        to->seconds > 0 && state->timed_intervals ? (double)state->timed_intervals / to->seconds : -1;
    for (size_t t = 0; t < PROFILE_MAX_THREADS; t++)
        weight += state->threads[t].weight;
    to->utilisation = state->intervals ? clamp(weight / (double)state->intervals) : -1;
    to->profiler_share = state->profile_instructions && instructions
                             ? clamp((double)state->profile_instructions / (double)instructions)
                             : -1;
    to->active = w->active[index];
    to->overflow = w->samples.overflow[index];
    to->coarse = w->samples.coarse[index];
    to->counters_cut = state->counters.truncated;
    to->counters_ignored = state->counters.ignored;
    fill_groups(w, index, to, state);
    fill_perf(&to->perf, from);
    fill_latency(to, state);
}

static enum prof_thread_type type_of(const struct prof_source_state *s, unsigned t)
{
    if (s->profiler == (int)t)
        return PROF_THREAD_PROFILER;
    return s->hrt >> t & 1 ? PROF_THREAD_HRT : s->high >> t & 1 ? PROF_THREAD_HIGH : PROF_THREAD_NRT;
}

static bool has_row(const struct report_work *w, size_t source, unsigned t)
{
    const struct prof_source_state *s = &w->senders[source].state;

    if (w->options->thread >= 0 && w->options->thread != (int)t)
        return false;
    return (s->enabled >> t & 1) || s->threads[t].samples;
}

static void fill_thread(const struct report_work *w, size_t source, unsigned t, struct prof_report_thread *to)
{
    const struct report_sender *sender = &w->senders[source];
    const struct prof_thread_state *from = &sender->state.threads[t];

    *to = (struct prof_report_thread){.source = (unsigned)source,
                                      .thread = t,
                                      .enabled = sender->state.enabled >> t & 1,
                                      .type = type_of(&sender->state, t),
                                      .samples = from->samples,
                                      .active = from->active,
                                      .i_blocked = from->i_blocked,
                                      .d_blocked = from->d_blocked,
                                      .min_sp_known = from->min_sp != 0,
                                      .min_sp = from->min_sp};
    to->mips_known = report_mips(sender, t, &to->mips);
    if (from->active)
        to->rate = clamp(from->weight / (double)from->active);
    if (sender->state.intervals)
        to->utilisation = clamp(from->weight / (double)sender->state.intervals);
}

static bool add_threads(struct report_work *w)
{
    struct prof_report *r = &w->box->report;

    r->threads = report_alloc(w->box, (w->sender_count * PROFILE_MAX_THREADS + 1) * sizeof(*r->threads));
    if (!r->threads)
        return false;
    for (size_t i = 0; i < w->sender_count; i++)
        for (unsigned t = 0; t < PROFILE_MAX_THREADS; t++)
            if (has_row(w, i, t))
                fill_thread(w, i, t, &r->threads[r->thread_count++]);
    return true;
}

/* --- counters ------------------------------------------------------------------------------------------- */

static bool taken(const struct prof_report_counter *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return true;
    return false;
}

/* The sender's name for it, with a number behind it where that is not unique: outputs have keys of it. */
static const char *unique_name(struct report_box *box, const struct prof_report_counter *list, size_t count,
                               const struct prof_counter_state *c)
{
    char name[PROFILE_COUNTER_NAME_MAX + 16];
    const char *base = c->name[0] ? c->name : "(no name)";

    snprintf(name, sizeof(name), "%s", base);
    for (unsigned n = c->occurrence + 1u; taken(list, count, name); n++) /* ends: `list` is finite */
        snprintf(name, sizeof(name), "%s#%u", base, n < 2 ? 2 : n);
    return report_string(box, name);
}

static bool add_counters(struct report_work *w)
{
    struct prof_report *r = &w->box->report;
    size_t count = 0;

    for (size_t i = 0; i < w->sender_count; i++)
        count += w->senders[i].state.counters.count;
    r->counters = report_alloc(w->box, (count + 1) * sizeof(*r->counters));
    if (!r->counters)
        return false;
    for (size_t i = 0; i < w->sender_count; i++) {
        const struct prof_counter_table *t = &w->senders[i].state.counters;
        struct prof_report_counter *list = &r->counters[r->counter_count];
        for (size_t n = 0; n < t->count; n++) {
            const struct prof_counter_state *c = &t->items[n];
            const char *name = unique_name(w->box, list, n, c);
            if (!name)
                return false;
            list[n] = (struct prof_report_counter){.source = (unsigned)i,
                                                   .name = name,
                                                   .linux_side = c->linux_side,
                                                   .value = c->value,
                                                   .rate_known = c->rate_known,
                                                   .per_second = c->rate_known ? c->per_second : 0,
                                                   .gauge = c->gauge,
                                                   .resets = c->resets,
                                                   .min = c->min,
                                                   .max = c->max};
        }
        r->counter_count += t->count;
    }
    return true;
}

/* --- maps ----------------------------------------------------------------------------------------------- */

#define PAGES 65536u /* that a 16-bit page number can name */

/* Marks the pages; true when one of them was marked before. */
static bool mark_pages(uint64_t *marks, uint32_t start, uint32_t pages)
{
    bool before = false;

    for (uint32_t at = start; at < start + pages;) {
        uint32_t bit = at % 64, n = 64 - bit;
        if (n > start + pages - at)
            n = start + pages - at;
        uint64_t mask = (n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << bit;
        before |= (marks[at / 64] & mask) != 0;
        marks[at / 64] |= mask;
        at += n;
    }
    return before;
}

static void add_type(struct prof_report_maps *to, const struct profile_map *entry, uint32_t pages)
{
    char room[16];
    const char *name = prof_map_type_name(entry->type, to->v21, room);
    size_t i = 0;

    while (i < to->type_count && strcmp(to->types[i].name, name) != 0)
        i++;
    if (i == to->type_count) { /* there are 32 types */
        snprintf(to->types[i].name, sizeof(to->types[i].name), "%s", name);
        to->type_count++;
    }
    to->types[i].blocks++;
    to->types[i].pages += pages;
    bool reserved = strcmp(name, "reserved") == 0;
    if (strcmp(name, "free") == 0) {
        if (pages)
            to->free_by_order[31 - __builtin_clz(pages)]++;
        if (pages > to->largest_free)
            to->largest_free = pages;
    } else if (!reserved && pages > to->largest_used) {
        to->largest_used = pages;
    }
}

static void fill_maps(struct prof_report_maps *to, const struct prof_dump *dump, uint64_t marks[PAGES / 64])
{
    memset(marks, 0, PAGES / 8);
    to->v21 = dump->v21;
    to->complete = dump->v21 && dump->ended;
    to->page_bytes = UINT64_C(1) << dump->page_shift; /* the decoder lets 10 to 20 pass */
    to->ignored = dump->ignored;
    to->bad_entries = dump->bad_entries;
    for (size_t i = 0; i < dump->count; i++) {
        const struct profile_map *entry = &dump->entries[i];
        uint32_t pages = entry->pages;
        if (pages > PAGES - entry->start) {
            pages = PAGES - entry->start;
            to->clipped++;
        }
        to->overlaps += mark_pages(marks, entry->start, pages);
        add_type(to, entry, pages);
    }
}

static bool add_maps(struct report_work *w)
{
    struct prof_report *r = &w->box->report;
    uint64_t *marks = malloc(PAGES / 8);

    r->maps = report_alloc(w->box, (w->sender_count + 1) * sizeof(*r->maps));
    for (size_t i = 0; marks && r->maps && i < w->sender_count; i++) {
        const struct prof_dump *dump = prof_maps_newest(&w->senders[i].state.maps);
        if (!dump)
            continue;
        struct prof_report_maps *to = &r->maps[r->maps_count++];
        to->source = (unsigned)i;
        fill_maps(to, dump, marks);
    }
    free(marks);
    return marks && r->maps;
}

/* --- the rows ------------------------------------------------------------------------------------------- */

static void fill_evicted(const struct report_work *w, struct prof_report_source *to)
{
    snprintf(to->name, sizeof(to->name), "evicted");
    to->sent = to->evicted = true;
    to->totals = w->gone;
    to->totals.kernel_drops = 0; /* nobody's in particular */
    to->seconds = to->sampling_hz = to->profiler_share = to->utilisation = -1;
    to->overflow = w->samples.evicted_overflow;
    to->image_missing = true;
}

bool report_add_sources(struct report_work *w)
{
    struct prof_report *r = &w->box->report;

    for (size_t i = 0; i < w->sender_count; i++)
        fill_source(w, (unsigned)i, &r->sources[i]);
    r->source_count = w->sender_count;
    if (w->gone.evicted)
        fill_evicted(w, &r->sources[r->source_count++]);
    return add_threads(w) && add_counters(w) && add_maps(w);
}
