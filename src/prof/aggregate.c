/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of samples by (source, thread, pc, caller): an open hash table over a dense array of entries in the
 * order first seen. Addresses come from outside, so the hash is seeded and the number of entries is bounded;
 * what does not fit is counted, never dropped silently.
 */
#include "prof/aggregate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "prof/stream.h"

#define FIRST_SLOTS 1024u /* a power of two */
#define NO_ENTRY    0u    /* slots hold entry number + 1 */

struct entry {
    uint32_t pc;
    uint32_t caller;
    uint8_t source;
    uint8_t thread;
    uint64_t count;
};

struct prof_aggregate {
    pthread_mutex_t lock; /* guards all below but the seed */
    struct entry *entries;
    size_t entry_count;
    size_t entry_room;
    uint32_t *slots;
    size_t slot_count; /* a power of two, more than 4/3 of entry_count */
    uint64_t seed;
    uint64_t overflow;
    uint64_t samples[PROF_MAX_SOURCES];
    uint64_t active[PROF_MAX_SOURCES];
};

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

static size_t hash_of(const struct prof_aggregate *a, const struct entry *key)
{
    uint64_t addresses = (uint64_t)key->pc << 32 | key->caller;
    uint64_t who = (uint64_t)key->source << 8 | key->thread;

    return (size_t)mix(mix(addresses ^ a->seed) + who);
}

struct prof_aggregate *prof_aggregate_new(void)
{
    struct prof_aggregate *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    /* Where the heap put us is seed enough: reports are sorted, so it never shows in what comes out. */
    a->seed = mix((uintptr_t)a);
    a->slot_count = FIRST_SLOTS;
    a->slots = calloc(a->slot_count, sizeof(*a->slots));
    if (!a->slots || pthread_mutex_init(&a->lock, NULL) != 0) {
        free(a->slots);
        free(a);
        return NULL;
    }
    return a;
}

void prof_aggregate_free(struct prof_aggregate *a)
{
    if (!a)
        return;
    pthread_mutex_destroy(&a->lock);
    free(a->entries);
    free(a->slots);
    free(a);
}

static bool same_key(const struct entry *x, const struct entry *y)
{
    return x->pc == y->pc && x->caller == y->caller && x->source == y->source && x->thread == y->thread;
}

/* The slot that holds `key`, or the free one where it belongs. There always is a free one. */
static uint32_t *find_slot(const struct prof_aggregate *a, uint32_t *slots, size_t slot_count,
                           const struct entry *key)
{
    size_t at = hash_of(a, key) & (slot_count - 1);

    while (slots[at] != NO_ENTRY && !same_key(&a->entries[slots[at] - 1], key))
        at = (at + 1) & (slot_count - 1);
    return &slots[at];
}

static bool grow_slots(struct prof_aggregate *a)
{
    size_t slot_count = a->slot_count * 2;
    uint32_t *slots = calloc(slot_count, sizeof(*slots));

    if (!slots)
        return false;
    for (size_t i = 0; i < a->entry_count; i++)
        *find_slot(a, slots, slot_count, &a->entries[i]) = (uint32_t)i + 1;
    free(a->slots);
    a->slots = slots;
    a->slot_count = slot_count;
    return true;
}

static bool grow_entries(struct prof_aggregate *a)
{
    size_t room = a->entry_room ? a->entry_room * 2 : FIRST_SLOTS / 2;
    struct entry *entries = realloc(a->entries, room * sizeof(*entries));

    if (!entries)
        return false;
    a->entries = entries;
    a->entry_room = room;
    return true;
}

/* Room for one more entry, or false. */
static bool make_room(struct prof_aggregate *a)
{
    if (a->entry_count >= PROF_MAX_ADDRESSES)
        return false;
    if (a->entry_count == a->entry_room && !grow_entries(a))
        return false;
    return (a->entry_count + 1) * 4 <= a->slot_count * 3 || grow_slots(a);
}

static void add(struct prof_aggregate *a, unsigned source, const struct profile_sample *sample,
                uint32_t caller, bool active)
{
    a->samples[source]++;
    if (!active)
        return; /* its pc is stale */
    a->active[source]++;
    struct entry key = {
        .pc = sample->pc, .caller = caller, .source = (uint8_t)source, .thread = sample->thread};
    uint32_t *slot = find_slot(a, a->slots, a->slot_count, &key);
    if (*slot == NO_ENTRY) {
        if (!make_room(a)) {
            a->overflow++;
            return;
        }
        slot = find_slot(a, a->slots, a->slot_count, &key); /* the table may have moved */
        a->entries[a->entry_count++] = key;
        *slot = (uint32_t)a->entry_count;
    }
    a->entries[*slot - 1].count++;
}

void prof_aggregate_add(struct prof_aggregate *a, unsigned source, const struct profile_sample *sample,
                        uint32_t caller, bool active)
{
    if (source >= PROF_MAX_SOURCES)
        return;
    pthread_mutex_lock(&a->lock);
    add(a, source, sample, caller, active);
    pthread_mutex_unlock(&a->lock);
}

static uint64_t read_count(struct prof_aggregate *a, const uint64_t *count)
{
    pthread_mutex_lock(&a->lock);
    uint64_t value = *count;
    pthread_mutex_unlock(&a->lock);
    return value;
}

uint64_t prof_aggregate_samples(struct prof_aggregate *a, unsigned source)
{
    return source < PROF_MAX_SOURCES ? read_count(a, &a->samples[source]) : 0;
}

uint64_t prof_aggregate_active(struct prof_aggregate *a, unsigned source)
{
    return source < PROF_MAX_SOURCES ? read_count(a, &a->active[source]) : 0;
}

uint64_t prof_aggregate_overflow(struct prof_aggregate *a)
{
    return read_count(a, &a->overflow);
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

/* What a report works on: the entries, and each source's active samples, as they were at one moment. */
struct snapshot {
    struct entry *entries;
    size_t count;
    uint64_t active[PROF_MAX_SOURCES];
};

static bool take_snapshot(struct prof_aggregate *a, struct snapshot *s)
{
    pthread_mutex_lock(&a->lock);
    s->count = a->entry_count;
    s->entries = malloc((s->count ? s->count : 1) * sizeof(*s->entries));
    if (s->entries && s->count)
        memcpy(s->entries, a->entries, s->count * sizeof(*s->entries));
    memcpy(s->active, a->active, sizeof(s->active));
    pthread_mutex_unlock(&a->lock);
    return s->entries != NULL;
}

struct prof_hot *prof_aggregate_hot(struct prof_aggregate *a, size_t *count)
{
    struct snapshot s;
    size_t n = 0;

    *count = 0;
    if (!take_snapshot(a, &s))
        return NULL;
    struct prof_hot *hot = calloc(s.count ? s.count : 1, sizeof(*hot));
    if (!hot) {
        free(s.entries);
        return NULL;
    }
    for (size_t i = 0; i < s.count; i++) {
        const struct entry *e = &s.entries[i];
        hot[i] = (struct prof_hot){.source = e->source, .pc = e->pc, .caller = e->caller, .count = e->count};
    }
    free(s.entries);
    qsort(hot, s.count, sizeof(*hot), by_address);
    for (size_t i = 0; i < s.count; i++) { /* the threads of one place become one */
        if (n && by_address(&hot[n - 1], &hot[i]) == 0)
            hot[n - 1].count += hot[i].count;
        else
            hot[n++] = hot[i];
    }
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

static struct gathered look_up(const struct entry *e, size_t index, const struct symbol_index *symbols)
{
    struct gathered g = {
        .function = {.source = e->source, .name = "[unknown]", .address = e->pc, .count = e->count},
        .first = index};
    struct symbol_function f;

    if (symbols && symbol_function_at(symbols, e->pc, &f)) {
        g.known = true;
        g.function.name = f.name;
        g.function.address = f.address;
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
    struct snapshot s;
    size_t n = 0;

    *count = 0;
    if (!take_snapshot(a, &s))
        return NULL;
    size_t room = s.count ? s.count : 1;
    struct gathered *all = calloc(room, sizeof(*all));
    struct prof_function *functions = calloc(room, sizeof(*functions));
    if (!all || !functions) {
        free(all);
        free(functions);
        free(s.entries);
        return NULL;
    }
    for (size_t i = 0; i < s.count; i++) {
        const struct entry *e = &s.entries[i];
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
    free(s.entries);
    for (size_t i = 0; i < n; i++) /* an entry is active, so its source's count is not 0 */
        functions[i].share = (double)functions[i].count / (double)s.active[functions[i].source];
    qsort(functions, n, sizeof(*functions), by_function_count);
    *count = n;
    return functions;
}
