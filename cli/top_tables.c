/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of `corral top`: columns, and what is in a cell of them (top_parts.h). All of it is the
 * report's. */
#include "cli/top_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/render_profile.h"

double top_ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

const char *top_percent(double share, char *out, size_t size)
{
    if (!isfinite(share) || share < 0)
        snprintf(out, size, "-");
    else
        snprintf(out, size, "%.1f %%", 100 * share);
    return out;
}

const char *top_number(double value, bool known, char *out, size_t size)
{
    if (!known || !isfinite(value))
        snprintf(out, size, "-");
    else
        render_profile_si(value, out, size);
    return out;
}

const char *top_source_name(const struct prof_report *r, unsigned source)
{
    if (source >= r->source_count)
        return "?";
    return r->sources[source].evicted ? "(put out)" : r->sources[source].name;
}

static const char *or_unknown(const char *name)
{
    return name && name[0] ? name : "[unknown]";
}

static void count_cell(struct top_value *v, uint64_t n)
{
    v->number = (double)n;
    snprintf(v->shown, sizeof(v->shown), "%" PRIu64, n);
}

static void percent_cell(struct top_value *v, double share)
{
    v->number = isfinite(share) ? share : -1;
    top_percent(share, v->shown, sizeof(v->shown));
}

static void number_cell(struct top_value *v, double value, bool known)
{
    v->number = known && isfinite(value) ? value : -INFINITY;
    top_number(value, known, v->shown, sizeof(v->shown));
}

static void mips_cell(struct top_value *v, double mips, bool known)
{
    number_cell(v, mips, known);
    if (known && isfinite(mips))
        snprintf(v->shown, sizeof(v->shown), "%.1f", mips);
}

static void place_cell(struct top_value *v, const char *file, uint32_t line)
{
    v->text = file ? file : "";
    v->number = line;
    render_profile_place(v->shown, sizeof(v->shown), file, line);
}

static void address_cell(struct top_value *v, uint64_t address)
{
    v->number = (double)address;
    snprintf(v->shown, sizeof(v->shown), "0x%08" PRIx64, address);
}

/* --- threads -------------------------------------------------------------------------------------------- */

static size_t thread_count(const struct prof_report *r)
{
    return r->thread_count;
}

static const char *thread_name(const struct prof_report *r, size_t row)
{
    return top_source_name(r, r->threads[row].source);
}

enum { TH_NUMBER, TH_TYPE, TH_SAMPLES, TH_ACTIVE, TH_I, TH_D, TH_BUSY, TH_MIPS, TH_SP, TH_SOURCE };
static const struct top_column thread_columns[] = {
    {.title = "thread", .width = 6, .text = true},
    {.title = "type", .width = 8, .least = 60, .text = true},
    {.title = "samples", .width = 9},
    {.title = "active", .width = 7},
    {.title = "I-wait", .width = 7, .least = 60},
    {.title = "D-wait", .width = 7, .least = 60},
    {.title = "busy", .width = 7},
    {.title = "MIPS", .width = 7, .least = 70},
    {.title = "lowest SP", .width = 11, .least = 100},
    {.title = "sender", .part = 1, .least = 50, .text = true},
};

static void thread_cell(const struct prof_report *r, size_t row, unsigned column, struct top_value *v)
{
    const struct prof_report_thread *t = &r->threads[row];
    switch (column) {
    case TH_NUMBER:
        v->number = t->thread;
        snprintf(v->shown, sizeof(v->shown), "%u%s", t->thread, t->enabled ? "" : " off");
        return;
    case TH_TYPE:
        v->text = prof_thread_type_name(t->type);
        return;
    case TH_SAMPLES:
        count_cell(v, t->samples);
        return;
    case TH_ACTIVE:
        percent_cell(v, top_ratio(t->active, t->samples));
        return;
    case TH_I:
        percent_cell(v, top_ratio(t->i_blocked, t->active));
        return;
    case TH_D:
        percent_cell(v, top_ratio(t->d_blocked, t->active));
        return;
    case TH_BUSY:
        percent_cell(v, t->utilisation);
        return;
    case TH_MIPS:
        mips_cell(v, t->mips, t->mips_known);
        return;
    case TH_SP:
        if (t->min_sp_known)
            address_cell(v, t->min_sp);
        else
            number_cell(v, 0, false);
        return;
    default:
        v->text = top_source_name(r, t->source);
    }
}

/* --- functions ------------------------------------------------------------------------------------------ */

static size_t function_count(const struct prof_report *r)
{
    return r->function_count;
}

static const char *function_name(const struct prof_report *r, size_t row)
{
    return or_unknown(r->functions[row].frame.name);
}

enum { FN_SHARE, FN_ERROR, FN_SELF, FN_ALL, FN_I, FN_D, FN_MIPS, FN_NAME, FN_PLACE, FN_PID, FN_SOURCE };
static const struct top_column function_columns[] = {
    {.title = "share", .width = 8},
    {.title = "+-", .width = 7, .least = 70},
    {.title = "samples", .width = 9},
    {.title = "inclusive", .width = 9, .least = 76},
    {.title = "I-wait", .width = 7, .least = 120},
    {.title = "D-wait", .width = 7, .least = 120},
    {.title = "MIPS", .width = 7, .least = 130},
    {.title = "function", .part = 3, .text = true},
    {.title = "file:line", .tail = true, .part = 2, .least = 60, .text = true},
    {.title = "pid", .width = 7, .least = 140},
    {.title = "sender", .part = 2, .least = 90, .text = true},
};

static void function_cell(const struct prof_report *r, size_t row, unsigned column, struct top_value *v)
{
    const struct prof_report_function *f = &r->functions[row];
    switch (column) {
    case FN_SHARE:
        percent_cell(v, f->share);
        return;
    case FN_ERROR:
        percent_cell(v, f->share_error);
        return;
    case FN_SELF:
        count_cell(v, f->self);
        return;
    case FN_ALL:
        count_cell(v, f->inclusive);
        return;
    case FN_I:
        percent_cell(v, top_ratio(f->i_blocked, f->self));
        return;
    case FN_D:
        percent_cell(v, top_ratio(f->d_blocked, f->self));
        return;
    case FN_MIPS:
        mips_cell(v, f->mips, f->mips_known);
        return;
    case FN_NAME:
        v->text = or_unknown(f->frame.name);
        return;
    case FN_PLACE:
        place_cell(v, f->frame.file, f->frame.line);
        if (!f->image)
            snprintf(v->shown, sizeof(v->shown), "e.g. 0x%08" PRIx64, f->address);
        return;
    case FN_PID:
        number_cell(v, f->pid, f->pid != 0);
        if (f->pid)
            count_cell(v, f->pid);
        return;
    default:
        v->text = top_source_name(r, f->source);
    }
}

/* --- addresses ------------------------------------------------------------------------------------------ */

static size_t hot_count(const struct prof_report *r)
{
    return r->hot_count;
}

static const char *hot_name(const struct prof_report *r, size_t row)
{
    const struct prof_report_hot *h = &r->hot[row];
    return h->frame_count ? or_unknown(h->frames[h->frame_count - 1].name) : "[unknown]";
}

enum { HOT_PC, HOT_SHARE, HOT_COUNT, HOT_I, HOT_D, HOT_PLACE, HOT_NAME, HOT_PID, HOT_SOURCE };
static const struct top_column hot_columns[] = {
    {.title = "address", .width = 11, .text = true},
    {.title = "share", .width = 8, .least = 50},
    {.title = "samples", .width = 8},
    {.title = "I-wait", .width = 7, .least = 120},
    {.title = "D-wait", .width = 7, .least = 120},
    {.title = "file:line", .tail = true, .part = 2, .text = true},
    {.title = "function", .part = 3, .least = 50, .text = true},
    {.title = "pid", .width = 7, .least = 140},
    {.title = "sender", .part = 2, .least = 90, .text = true},
};

static void hot_cell(const struct prof_report *r, size_t row, unsigned column, struct top_value *v)
{
    const struct prof_report_hot *h = &r->hot[row];
    switch (column) {
    case HOT_PC:
        address_cell(v, h->pc);
        return;
    case HOT_SHARE:
        percent_cell(v, h->share);
        return;
    case HOT_COUNT:
        count_cell(v, h->count);
        return;
    case HOT_I:
        percent_cell(v, top_ratio(h->i_blocked, h->count));
        return;
    case HOT_D:
        percent_cell(v, top_ratio(h->d_blocked, h->count));
        return;
    case HOT_PLACE:
        if (h->frame_count)
            place_cell(v, h->frames[0].file, h->frames[0].line);
        if (!v->shown[0])
            snprintf(v->shown, sizeof(v->shown), "-");
        return;
    case HOT_NAME:
        v->text = hot_name(r, row);
        return;
    case HOT_PID:
        number_cell(v, h->pid, h->pid != 0);
        if (h->pid)
            count_cell(v, h->pid);
        return;
    default:
        v->text = top_source_name(r, h->source);
    }
}

/* --- counters ------------------------------------------------------------------------------------------- */

/* A sender that has no hardware counters leaves them all 0. */
static size_t perf_rows(const struct prof_report_perf *p)
{
    size_t count = p->count < PROFILE_MAX_COUNTERS ? p->count : PROFILE_MAX_COUNTERS;
    for (size_t i = 0; i < count; i++)
        if (p->total[i])
            return count;
    return 0;
}

static size_t counter_count(const struct prof_report *r)
{
    size_t sum = r->counter_count;
    for (size_t i = 0; i < r->source_count; i++)
        sum += perf_rows(&r->sources[i].perf);
    return sum;
}

bool top_counter_is_perf(const struct prof_report *r, size_t row, unsigned *source, size_t *index)
{
    for (size_t i = 0; i < r->source_count; i++) {
        size_t rows = perf_rows(&r->sources[i].perf);
        if (row < rows) {
            *source = (unsigned)i;
            *index = row;
            return true;
        }
        row -= rows;
    }
    *index = row;
    *source = row < r->counter_count ? r->counters[row].source : 0;
    return false;
}

static const char *counter_name(const struct prof_report *r, size_t row)
{
    unsigned source;
    size_t i;
    if (top_counter_is_perf(r, row, &source, &i))
        return prof_perf_name(r->sources[source].layout, i);
    return r->counters[i].name && r->counters[i].name[0] ? r->counters[i].name : "(no name)";
}

enum { CO_NAME, CO_NOW, CO_RATE, CO_LEAST, CO_MOST, CO_KIND, CO_SOURCE };
static const struct top_column counter_columns[] = {
    {.title = "counter", .part = 3, .text = true},
    {.title = "now", .width = 11},
    {.title = "per second", .width = 11},
    {.title = "least", .width = 11, .least = 90},
    {.title = "most", .width = 11, .least = 90},
    {.title = "kind", .width = 10, .least = 60, .text = true},
    {.title = "sender", .part = 2, .least = 70, .text = true},
};

static void perf_cell(const struct prof_report *r, unsigned source, size_t i, unsigned column,
                      struct top_value *v)
{
    const struct prof_report_perf *p = &r->sources[source].perf;
    switch (column) {
    case CO_NAME:
        v->text = prof_perf_name(r->sources[source].layout, i);
        return;
    case CO_NOW:
        number_cell(v, (double)p->total[i], true);
        return;
    case CO_RATE:
        number_cell(v, p->per_second[i], p->rate_known);
        return;
    case CO_LEAST:
    case CO_MOST:
        number_cell(v, 0, false);
        return;
    case CO_KIND:
        v->text = "hardware";
        return;
    default:
        v->text = top_source_name(r, source);
    }
}

static void counter_cell(const struct prof_report *r, size_t row, unsigned column, struct top_value *v)
{
    unsigned source;
    size_t i;
    if (top_counter_is_perf(r, row, &source, &i)) {
        perf_cell(r, source, i, column, v);
        return;
    }
    const struct prof_report_counter *c = &r->counters[i];
    switch (column) {
    case CO_NAME:
        v->text = counter_name(r, row);
        return;
    case CO_NOW:
        count_cell(v, c->value);
        return;
    case CO_RATE: /* the rate of a level says little */
        number_cell(v, c->per_second, c->rate_known && !c->gauge);
        return;
    case CO_LEAST:
        count_cell(v, c->min);
        return;
    case CO_MOST:
        count_cell(v, c->max);
        return;
    case CO_KIND:
        v->text = c->gauge ? "a level" : c->linux_side ? "Linux" : "";
        if (c->resets)
            snprintf(v->shown, sizeof(v->shown), "%" PRIu32 "x reset", c->resets);
        return;
    default:
        v->text = top_source_name(r, source);
    }
}

#define COLUMNS(list) .columns = (list), .column_count = sizeof(list) / sizeof((list)[0])

const struct top_table *top_table_of(enum top_tab tab)
{
    static const struct top_table threads = {"Threads", COLUMNS(thread_columns), thread_count, thread_cell,
                                             thread_name};
    static const struct top_table functions = {"Functions", COLUMNS(function_columns), function_count,
                                               function_cell, function_name};
    static const struct top_table addresses = {"Addresses", COLUMNS(hot_columns), hot_count, hot_cell,
                                               hot_name};
    static const struct top_table counters = {"Counters", COLUMNS(counter_columns), counter_count,
                                              counter_cell, counter_name};
    switch (tab) {
    case TOP_THREADS:
        return &threads;
    case TOP_FUNCTIONS:
        return &functions;
    case TOP_HOT:
        return &addresses;
    case TOP_COUNTERS:
        return &counters;
    default:
        return NULL;
    }
}

/* --- a row that was chosen ------------------------------------------------------------------------------ */

void top_choose(const struct prof_report *r, enum top_tab tab, size_t row, struct top_chosen *out)
{
    const char *name = top_table_of(tab)->name(r, row);
    size_t index;
    *out = (struct top_chosen){.tab = tab};
    snprintf(out->name, sizeof(out->name), "%s", name);
    switch (tab) {
    case TOP_THREADS:
        out->source = r->threads[row].source;
        out->thread = r->threads[row].thread;
        break;
    case TOP_FUNCTIONS:
        out->source = r->functions[row].source;
        out->pid = r->functions[row].pid;
        out->has_image = r->functions[row].image != NULL;
        out->address = r->functions[row].address;
        break;
    case TOP_HOT:
        out->source = r->hot[row].source;
        out->pid = r->hot[row].pid;
        out->address = r->hot[row].pc;
        break;
    default:
        out->has_image = top_counter_is_perf(r, row, &out->source, &index);
    }
}

static bool is_chosen(const struct prof_report *r, size_t row, const struct top_chosen *c)
{
    struct top_chosen other;
    if (c->tab == TOP_FUNCTIONS) { /* by far the longest list: names are compared only where the rest fits */
        const struct prof_report_function *f = &r->functions[row];
        /* the address of what is not known is an example, which may be another one next time */
        return f->source == c->source && f->pid == c->pid && (f->image != NULL) == c->has_image &&
               (!c->has_image || f->address == c->address);
    }
    if (c->tab == TOP_HOT) {
        const struct prof_report_hot *h = &r->hot[row];
        return h->source == c->source && h->pid == c->pid && h->pc == c->address;
    }
    top_choose(r, c->tab, row, &other);
    return other.source == c->source && other.thread == c->thread && other.has_image == c->has_image &&
           strcmp(other.name, c->name) == 0;
}

bool top_find_chosen(const struct prof_report *r, const struct top_chosen *chosen, size_t *row)
{
    size_t count = r ? top_table_of(chosen->tab)->count(r) : 0;
    for (*row = 0; *row < count; ++*row)
        if (is_chosen(r, *row, chosen))
            return true;
    return false;
}
