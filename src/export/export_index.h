/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for distinct things, in the order in which they first appear: 0, 1, 2 ... The things themselves are
 * the caller's, who says how two of them compare. Private to src/export.
 */
#ifndef CORRAL_EXPORT_EXPORT_INDEX_H
#define CORRAL_EXPORT_EXPORT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct export_index_slot {
    uint64_t hash;
    size_t number; /* plus one; 0 = free */
};

struct export_index {
    struct export_index_slot *slots;
    size_t room, count;
    /* Whether the thing numbered `number` is `key`. */
    bool (*same)(const void *ctx, size_t number, const void *key);
    const void *ctx;
};

#define EXPORT_INDEX_FULL SIZE_MAX

/* The number of `key`. *fresh: it is new, and the next call must find the thing with that number in its
 * place. EXPORT_INDEX_FULL without memory. */
size_t export_index_number(struct export_index *ix, uint64_t hash, const void *key, bool *fresh);
void export_index_free(struct export_index *ix);

#define EXPORT_HASH_START 0xCBF29CE484222325u
/* Hashes go on from one another; NULL counts as a text of its own. */
uint64_t export_hash_text(uint64_t hash, const char *text);
uint64_t export_hash_number(uint64_t hash, uint64_t number);

/* Room for one more in a list of `count` things of `size` bytes: it grows by doubling. */
bool export_grow(void **list, size_t *room, size_t count, size_t size);

#endif
