/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that goes with a compiled program: taken piece by piece, given back whole. Must not grow past the
 * limit it was made with, since how much is asked for is the file's to say.
 */
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "sequence/sequence_tree.h"

#define CHUNK_BYTES (64 * 1024)

struct arena_chunk {
    struct arena_chunk *next;
    alignas(max_align_t) unsigned char bytes[];
};

struct sequence_arena {
    struct arena_chunk *chunks;
    size_t used, room; /* of the first chunk */
    size_t total, limit;
};

struct sequence_arena *sequence_arena_new(size_t limit)
{
    struct sequence_arena *arena = calloc(1, sizeof(*arena));
    if (arena)
        arena->limit = limit;
    return arena;
}

void sequence_arena_free(struct sequence_arena *arena)
{
    if (!arena)
        return;
    struct arena_chunk *chunk = arena->chunks;
    while (chunk) {
        struct arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(arena);
}

void *sequence_arena_take(struct sequence_arena *arena, size_t size)
{
    const size_t align = alignof(max_align_t);
    if (size > arena->limit - arena->total)
        return NULL;
    size = size ? (size + align - 1) / align * align : align;
    if (size > arena->room - arena->used) {
        size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
        struct arena_chunk *chunk = malloc(sizeof(*chunk) + room);
        if (!chunk)
            return NULL;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
        arena->room = room;
        arena->used = 0;
    }
    if (size > arena->limit - arena->total)
        return NULL;
    void *piece = arena->chunks->bytes + arena->used;
    arena->used += size;
    arena->total += size;
    memset(piece, 0, size);
    return piece;
}
