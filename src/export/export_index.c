/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for distinct things (export_index.h): open addressing, never more than half full. */
#include "export/export_index.h"

#include <stdlib.h>

#define FIRST_ROOM  256u
#define HASH_FACTOR 0x100000001B3u

uint64_t export_hash_text(uint64_t hash, const char *text)
{
    if (!text)
        return (hash ^ 0x1FE) * HASH_FACTOR;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * HASH_FACTOR;
    return (hash ^ 0xFF) * HASH_FACTOR; /* so that "ab","c" is not "a","bc" */
}

uint64_t export_hash_number(uint64_t hash, uint64_t number)
{
    for (unsigned i = 0; i < 64; i += 8)
        hash = (hash ^ (number >> i & 0xFF)) * HASH_FACTOR;
    return hash;
}

bool export_grow(void **list, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return true;
    size_t more = *room ? *room * 2 : 64;
    void *grown = more > SIZE_MAX / 2 / size ? NULL : realloc(*list, more * size);
    if (!grown)
        return false;
    *list = grown;
    *room = more;
    return true;
}

/* The upper bits of these hashes are the better ones. */
static size_t first_slot(uint64_t hash, size_t room)
{
    return (size_t)((hash ^ hash >> 32) & (room - 1));
}

static bool grow(struct export_index *ix)
{
    size_t room = ix->room ? ix->room * 2 : FIRST_ROOM;
    struct export_index_slot *slots = calloc(room, sizeof(*slots));
    if (!slots)
        return false;
    for (size_t i = 0; i < ix->room; i++) {
        if (!ix->slots[i].number)
            continue;
        size_t at = first_slot(ix->slots[i].hash, room);
        while (slots[at].number)
            at = (at + 1) & (room - 1);
        slots[at] = ix->slots[i];
    }
    free(ix->slots);
    ix->slots = slots;
    ix->room = room;
    return true;
}

size_t export_index_number(struct export_index *ix, uint64_t hash, const void *key, bool *fresh)
{
    *fresh = false;
    if (ix->count >= ix->room / 2 && !grow(ix))
        return EXPORT_INDEX_FULL;
    size_t at = first_slot(hash, ix->room);
    for (; ix->slots[at].number; at = (at + 1) & (ix->room - 1))
        if (ix->slots[at].hash == hash && ix->same(ix->ctx, ix->slots[at].number - 1, key))
            return ix->slots[at].number - 1;
    *fresh = true;
    ix->slots[at] = (struct export_index_slot){.hash = hash, .number = ++ix->count};
    return ix->count - 1;
}

void export_index_free(struct export_index *ix)
{
    free(ix->slots);
    ix->slots = NULL;
    ix->room = ix->count = 0;
}
