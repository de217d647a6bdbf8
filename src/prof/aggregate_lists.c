/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two lists that were made before there was a report (report.h): by address, and by function of one
 * image. Kept for the callers that have not moved yet.
 */
#include <stdlib.h>
#include <string.h>

#include "prof/aggregate.h"

/* Who called: the return address from the stack, else the link register; 0 = not known. */
static uint32_t caller_of(const struct prof_aggregate_entry *e)
{
    return e->parent_count && e->parents[0] ? e->parents[0] : e->link;
}

static int order_u64(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

static int by_address(const void *x, const void *y)
{
    const struct prof_hot *a = x, *b = y;
    int order = order_u64(a->source, b->source);

    order = order ? order : order_u64(a->pc, b->pc);
    return order ? order : order_u64(a->caller, b->caller);
}

static int by_count(const void *x, const void *y)
{
    const struct prof_hot *a = x, *b = y;
    int order = order_u64(b->count, a->count);

    return order ? order : by_address(x, y);
}

struct prof_hot *prof_aggregate_hot(struct prof_aggregate *a, size_t *count)
{
    struct prof_aggregate_snapshot s;
    size_t n = 0;

    *count = 0;
    if (!prof_aggregate_snapshot(a, &s))
        return NULL;
    struct prof_hot *hot = calloc(s.count ? s.count : 1, sizeof(*hot));
    if (!hot) {
        prof_aggregate_snapshot_free(&s);
        return NULL;
    }
    for (size_t i = 0; i < s.count; i++) {
        const struct prof_aggregate_entry *e = &s.entries[i];
        hot[i] =
            (struct prof_hot){.source = e->source, .pc = e->pc, .caller = caller_of(e), .count = e->samples};
    }
    qsort(hot, s.count, sizeof(*hot), by_address);
    for (size_t i = 0; i < s.count; i++) { /* the threads of one place become one */
        if (n && by_address(&hot[n - 1], &hot[i]) == 0)
            hot[n - 1].count += hot[i].count;
        else
            hot[n++] = hot[i];
    }
    prof_aggregate_snapshot_free(&s);
    qsort(hot, n, sizeof(*hot), by_count);
    *count = n;
    return hot;
}

/* One function of one source while its counts are gathered. */
struct gathered {
    struct prof_function function;
    size_t first; /* entry that was seen first */
    bool known;
};

static int by_function(const void *x, const void *y)
{
    const struct gathered *a = x, *b = y;
    int order = order_u64(a->function.source, b->function.source);

    order = order ? order : order_u64(a->known, b->known);
    if (!order && a->known)
        order = order_u64(a->function.address, b->function.address);
    return order ? order : order_u64(a->first, b->first);
}

static bool same_function(const struct gathered *a, const struct gathered *b)
{
    return a->function.source == b->function.source && a->known == b->known &&
           (!a->known || a->function.address == b->function.address);
}

static int by_function_count(const void *x, const void *y)
{
    const struct prof_function *a = x, *b = y;
    int order = order_u64(b->count, a->count);

    order = order ? order : order_u64(a->source, b->source);
    order = order ? order : order_u64(a->address, b->address);
    return order ? order : strcmp(a->name, b->name);
}

static struct gathered look_up(const struct prof_aggregate_entry *e, size_t index,
                               const struct symbol_index *symbols)
{
    struct gathered g = {
        .function = {.source = e->source, .name = "[unknown]", .address = e->pc, .count = e->samples},
        .first = index};
    struct symbol_function f;

    if (symbols && symbol_function_at(symbols, e->pc, &f)) {
        g.known = true;
        g.function.name = f.name;
        g.function.address = (uint32_t)f.address;
        if (!symbol_line_at(symbols, f.address, &g.function.file, &g.function.line)) {
            g.function.file = NULL;
            g.function.line = 0;
        }
    }
    return g;
}

struct prof_function *prof_aggregate_functions(struct prof_aggregate *a, struct symbol_index *const *symbols,
                                               size_t symbol_count, size_t *count)
{
    struct prof_aggregate_snapshot s;
    size_t n = 0;

    *count = 0;
    if (!prof_aggregate_snapshot(a, &s))
        return NULL;
    size_t room = s.count ? s.count : 1;
    struct gathered *all = calloc(room, sizeof(*all));
    struct prof_function *functions = calloc(room, sizeof(*functions));
    if (!all || !functions) {
        free(all);
        free(functions);
        prof_aggregate_snapshot_free(&s);
        return NULL;
    }
    for (size_t i = 0; i < s.count; i++) {
        const struct prof_aggregate_entry *e = &s.entries[i];
        all[i] = look_up(e, i, e->source < symbol_count ? symbols[e->source] : NULL);
    }
    qsort(all, s.count, sizeof(*all), by_function);
    for (size_t i = 0; i < s.count; i++) {
        if (i && same_function(&all[i - 1], &all[i]))
            functions[n - 1].count += all[i].function.count;
        else
            functions[n++] = all[i].function;
    }
    free(all);
    for (size_t i = 0; i < n; i++) /* an entry is active, so its source's count is not 0 */
        functions[i].share = (double)functions[i].count / (double)s.active[functions[i].source];
    prof_aggregate_snapshot_free(&s);
    qsort(functions, n, sizeof(*functions), by_function_count);
    *count = n;
    return functions;
}
