/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of samples: open addressing over a dense array of entries. Addresses come from outside, so the
 * hash is seeded and the number of entries is bounded; what does not fit is counted, never dropped silently.
 *
 * A packet is added in two passes, the first of which only computes hashes and asks for the memory that the
 * second will need: with many distinct addresses the wait for memory is most of the cost.
 */
#include "prof/aggregate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "prof/packet.h"

#define FIRST_SLOTS   1024u /* a power of two */
#define INDEX_MASK    UINT64_C(0xffffffff)
#define NO_STACK_FROM (PROF_MAX_ADDRESSES / 2)     /* entries: from here on new ones have no stack ... */
#define NO_LINK_FROM  (PROF_MAX_ADDRESSES / 4 * 3) /* ... and from here on no link register either */

/*
 * A slot holds an entry's number + 1 in its low half and its hash in the high one, so that other entries on
 * the way need not be looked at; 0 = free.
 */
struct prof_aggregate {
    pthread_mutex_t lock; /* guards all below but the seed */
    struct prof_aggregate_entry *entries;
    size_t entry_count, entry_room;
    uint64_t *slots;
    size_t slot_count; /* a power of two, more than 4/3 of entry_count */
    uint64_t seed[8];  /* the odd ones are odd, to multiply with */
    size_t stale;      /* at most this many entries are of senders that were put out */
    uint32_t generations[PROF_AGGREGATE_SOURCES];
    size_t held[PROF_AGGREGATE_SOURCES]; /* entries of the present generation */
    uint64_t samples[PROF_AGGREGATE_SOURCES], active[PROF_AGGREGATE_SOURCES];
    uint64_t overflow[PROF_AGGREGATE_SOURCES], coarse[PROF_AGGREGATE_SOURCES];
    uint64_t evicted_samples, evicted_active, evicted_overflow;
};

_Static_assert(PROF_MAX_ADDRESSES < UINT32_MAX, "entry numbers");

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

/* The words are multiplied apart, so that no multiplication waits for another. */
static uint32_t hash_of(const struct prof_aggregate *a, const struct prof_aggregate_entry *key)
{
    uint64_t place = (uint64_t)key->pc << 32 | key->link;
    uint64_t who = ((uint64_t)key->pid << 32 | key->generation) ^ (uint64_t)key->source << 24 ^
                   (uint64_t)key->thread << 56;
    uint64_t h = (place ^ a->seed[0]) * a->seed[1] ^ (who + a->seed[2]) * a->seed[3];

    if (key->parent_count) {
        uint64_t near = (uint64_t)key->parents[0] << 32 | key->parents[1];
        uint64_t far = (uint64_t)key->parents[2] << 32 | key->parents[3];
        h += (near ^ a->seed[4]) * a->seed[5] ^ (far + a->seed[6]) * a->seed[7];
    }
    h = (h ^ h >> 32) * a->seed[1];
    return (uint32_t)(h >> 32);
}

struct prof_aggregate *prof_aggregate_new(void)
{
    struct prof_aggregate *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    /* Reports are sorted, so the seed never shows in what comes out. */
    if (getrandom(a->seed, sizeof(a->seed), GRND_NONBLOCK) != (ssize_t)sizeof(a->seed)) {
        for (size_t i = 0; i < 8; i++)
            a->seed[i] = mix((uintptr_t)a + (uintptr_t)&i * i);
    }
    for (size_t i = 1; i < 8; i += 2)
        a->seed[i] |= 1;
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

static bool same_key(const struct prof_aggregate_entry *x, const struct prof_aggregate_entry *y)
{
    return memcmp(x, y, offsetof(struct prof_aggregate_entry, hash)) == 0;
}

/* The slot that holds `key`, or the free one where it belongs. There always is a free one. */
static uint64_t *find_slot(const struct prof_aggregate *a, const struct prof_aggregate_entry *key)
{
    size_t mask = a->slot_count - 1;
    size_t at = key->hash & mask;
    uint64_t slot;

    while ((slot = a->slots[at]) != 0) {
        if (slot >> 32 == key->hash && same_key(&a->entries[(slot & INDEX_MASK) - 1], key))
            break;
        at = (at + 1) & mask;
    }
    return &a->slots[at];
}

static void fill_slots(struct prof_aggregate *a)
{
    size_t mask = a->slot_count - 1;

    memset(a->slots, 0, a->slot_count * sizeof(*a->slots));
    for (size_t i = 0; i < a->entry_count; i++) { /* all keys differ: any free slot will do */
        size_t at = a->entries[i].hash & mask;
        while (a->slots[at])
            at = (at + 1) & mask;
        a->slots[at] = (uint64_t)a->entries[i].hash << 32 | (i + 1);
    }
}

static bool grow_slots(struct prof_aggregate *a)
{
    uint64_t *slots = realloc(a->slots, a->slot_count * 2 * sizeof(*slots));

    if (!slots)
        return false;
    a->slots = slots;
    a->slot_count *= 2;
    fill_slots(a);
    return true;
}

static bool grow_entries(struct prof_aggregate *a)
{
    size_t room = a->entry_room ? a->entry_room * 2 : FIRST_SLOTS / 2;
    struct prof_aggregate_entry *entries = realloc(a->entries, room * sizeof(*entries));

    if (!entries)
        return false;
    a->entries = entries;
    a->entry_room = room;
    return true;
}

/* Give up the addresses of senders that were put out. */
static void sweep(struct prof_aggregate *a)
{
    size_t kept = 0;

    for (size_t i = 0; i < a->entry_count; i++) {
        const struct prof_aggregate_entry *e = &a->entries[i];
        if (e->generation == a->generations[e->source])
            a->entries[kept++] = *e;
    }
    a->entry_count = kept;
    a->stale = 0;
    fill_slots(a);
}

/* Room for one more entry, or NULL. A sweep is only worth its walk when it frees a good part. */
static struct prof_aggregate_entry *make_room(struct prof_aggregate *a)
{
    if (a->stale > a->entry_room / 8 && a->entry_count == a->entry_room)
        sweep(a);
    if (a->entry_count >= PROF_MAX_ADDRESSES || (a->entry_count == a->entry_room && !grow_entries(a)))
        return NULL;
    if ((a->entry_count + 1) * 4 > a->slot_count * 3 && !grow_slots(a))
        return NULL;
    return a->entries ? &a->entries[a->entry_count] : NULL;
}

/* Less of the stack, where the table is so full that functions matter more: a sender whose stack words are
 * not return addresses must not crowd all others out. True when the key became another. */
static bool coarsen(const struct prof_aggregate *a, struct prof_aggregate_entry *key)
{
    bool stack = a->entry_count >= NO_STACK_FROM && key->parent_count > 0;
    bool link = a->entry_count >= NO_LINK_FROM && key->link != 0;

    if (stack) {
        memset(key->parents, 0, sizeof(key->parents));
        key->parent_count = 0;
    }
    if (link)
        key->link = 0;
    if (stack || link)
        key->hash = hash_of(a, key);
    return stack || link;
}

static struct prof_aggregate_entry *find_or_add(struct prof_aggregate *a, struct prof_aggregate_entry *key)
{
    uint64_t *slot = find_slot(a, key);

    if (!*slot && coarsen(a, key)) {
        a->coarse[key->source]++;
        slot = find_slot(a, key);
    }
    if (*slot)
        return &a->entries[(*slot & INDEX_MASK) - 1];
    struct prof_aggregate_entry *e = make_room(a);
    if (!e) {
        a->overflow[key->source]++;
        return NULL;
    }
    *e = *key;
    slot = find_slot(a, key); /* the table may have moved */
    *slot = (uint64_t)key->hash << 32 | ++a->entry_count;
    a->held[key->source]++;
    return e;
}

static void make_key(const struct prof_aggregate *a, unsigned source, bool v17,
                     const struct profile_sample *sample, struct prof_aggregate_entry *key)
{
    size_t words = v17 ? 1 : sample->parent_count;

    key->pc = sample->pc;
    key->pid = sample->pid;
    key->link = v17 ? sample->a5 : sample->a_reg;
    memset(key->parents, 0, sizeof(key->parents));
    if (words > PROF_AGGREGATE_PARENTS)
        words = PROF_AGGREGATE_PARENTS;
    if (v17)
        key->parents[0] = sample->parent;
    for (size_t i = 0; !v17 && i < words; i++)
        key->parents[i] = sample->parents[i];
    while (words && !key->parents[words - 1]) /* 0 is no address: it says that there was no more */
        words--;
    key->source = (uint8_t)source;
    key->thread = sample->thread;
    key->parent_count = (uint8_t)words;
    key->unused = 0;
    key->generation = a->generations[source];
    key->hash = hash_of(a, key);
    key->samples = 0; /* a new entry begins as its key stands; what the sample adds comes on top */
    key->i_blocked = key->d_blocked = 0;
    key->weight = 0;
    __builtin_prefetch(&a->slots[key->hash & (a->slot_count - 1)]);
}

#define BATCH 64

/* Keys wait for the memory that they ask for. */
struct batch {
    size_t count;
    struct prof_aggregate_entry keys[BATCH];
    const struct profile_sample *samples[BATCH];
    double weights[BATCH];
};

static void add_batch(struct prof_aggregate *a, struct batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        uint64_t slot = a->slots[b->keys[i].hash & (a->slot_count - 1)];
        if (!slot)
            continue;
        const struct prof_aggregate_entry *e = &a->entries[(slot & INDEX_MASK) - 1]; /* most often the one */
        __builtin_prefetch(e);
        __builtin_prefetch(&e->weight, 1); /* it may be across two lines */
    }
    for (size_t i = 0; i < b->count; i++) {
        const struct profile_sample *sample = b->samples[i];
        struct prof_aggregate_entry *e = find_or_add(a, &b->keys[i]);
        if (!e)
            continue;
        e->samples++;
        e->i_blocked += sample->self_i_blocked | (sample->i_blocked >> sample->thread & 1u);
        e->d_blocked += sample->self_d_blocked | (sample->d_blocked >> sample->thread & 1u);
        e->weight += b->weights[i];
    }
    b->count = 0;
}

void prof_aggregate_packet(struct prof_aggregate *a, unsigned source, const struct profile_packet *packet,
                           const double *weights)
{
    bool v17 = packet->layout == PROFILE_V17 || packet->layout == PROFILE_LEGACY;
    uint64_t active = 0;
    struct batch b;

    if (source >= PROF_AGGREGATE_SOURCES)
        return;
    b.count = 0;
    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < packet->sample_count; i++) {
        const struct profile_sample *sample = &packet->samples[i];
        if (!(sample->active >> sample->thread & 1))
            continue;
        active++;
        make_key(a, source, v17, sample, &b.keys[b.count]);
        b.samples[b.count] = sample;
        b.weights[b.count++] = weights ? weights[i] : 0;
        if (b.count == BATCH)
            add_batch(a, &b);
    }
    add_batch(a, &b);
    a->samples[source] += packet->sample_count;
    a->active[source] += active;
    pthread_mutex_unlock(&a->lock);
}

void prof_aggregate_evict(struct prof_aggregate *a, unsigned source)
{
    if (source >= PROF_AGGREGATE_SOURCES)
        return;
    pthread_mutex_lock(&a->lock);
    a->evicted_samples += a->samples[source];
    a->evicted_active += a->active[source];
    a->evicted_overflow += a->overflow[source];
    a->stale += a->held[source];
    a->samples[source] = a->active[source] = a->overflow[source] = a->coarse[source] = 0;
    a->held[source] = 0;
    a->generations[source]++;
    pthread_mutex_unlock(&a->lock);
}

void prof_aggregate_reset(struct prof_aggregate *a)
{
    pthread_mutex_lock(&a->lock);
    a->entry_count = 0;
    a->stale = 0;
    memset(a->slots, 0, a->slot_count * sizeof(*a->slots));
    memset(a->held, 0, sizeof(a->held));
    memset(a->samples, 0, sizeof(a->samples));
    memset(a->active, 0, sizeof(a->active));
    memset(a->overflow, 0, sizeof(a->overflow));
    memset(a->coarse, 0, sizeof(a->coarse));
    a->evicted_samples = a->evicted_active = a->evicted_overflow = 0;
    pthread_mutex_unlock(&a->lock);
}

bool prof_aggregate_snapshot(struct prof_aggregate *a, struct prof_aggregate_snapshot *s)
{
    *s = (struct prof_aggregate_snapshot){0};
    pthread_mutex_lock(&a->lock);
    s->entries = malloc((a->entry_count + 1) * sizeof(*s->entries));
    for (size_t i = 0; s->entries && i < a->entry_count; i++) {
        const struct prof_aggregate_entry *e = &a->entries[i];
        if (e->generation == a->generations[e->source])
            s->entries[s->count++] = *e;
    }
    memcpy(s->samples, a->samples, sizeof(s->samples));
    memcpy(s->active, a->active, sizeof(s->active));
    memcpy(s->overflow, a->overflow, sizeof(s->overflow));
    memcpy(s->coarse, a->coarse, sizeof(s->coarse));
    s->evicted_samples = a->evicted_samples;
    s->evicted_active = a->evicted_active;
    s->evicted_overflow = a->evicted_overflow;
    pthread_mutex_unlock(&a->lock);
    return s->entries != NULL;
}

void prof_aggregate_snapshot_free(struct prof_aggregate_snapshot *s)
{
    free(s->entries);
    *s = (struct prof_aggregate_snapshot){0};
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
    return source < PROF_AGGREGATE_SOURCES ? read_count(a, &a->samples[source]) : 0;
}

uint64_t prof_aggregate_active(struct prof_aggregate *a, unsigned source)
{
    return source < PROF_AGGREGATE_SOURCES ? read_count(a, &a->active[source]) : 0;
}

uint64_t prof_aggregate_overflow(struct prof_aggregate *a)
{
    pthread_mutex_lock(&a->lock);
    uint64_t sum = a->evicted_overflow;
    for (size_t i = 0; i < PROF_AGGREGATE_SOURCES; i++)
        sum += a->overflow[i];
    pthread_mutex_unlock(&a->lock);
    return sum;
}
