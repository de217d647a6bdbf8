/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which image covers an address of a process: images at fixed offsets, as a sorted array without overlaps,
 * and the processes' memory maps (symbol_maps.c). Must not show a reader a map half replaced.
 */
#include "symbol/symbol_space.h"

#include <pthread.h>
#include <stdlib.h>

#include "symbol/symbol_index.h"
#include "symbol/symbol_maps.h"

#define MAX_PIECES (1u << 20)

/* Addresses of every process that one image covers. */
struct piece {
    uint64_t start;
    uint64_t last; /* inclusive: the last address of all is one, too */
    size_t image;
};

struct placed {
    const struct symbol_index *image;
    uint64_t offset;
};

struct symbol_space {
    pthread_rwlock_t *lock; /* apart, since readers of a constant space take it, too */
    struct placed images[SYMBOL_SPACE_MAX_IMAGES];
    size_t image_count;
    struct piece *pieces; /* by address */
    size_t piece_count;
    struct symbol_maps maps;
};

struct symbol_space *symbol_space_new(void)
{
    struct symbol_space *space = calloc(1, sizeof(*space));
    pthread_rwlock_t *lock = malloc(sizeof(*lock));
    if (!space || !lock || pthread_rwlock_init(lock, NULL) != 0) {
        free(space);
        free(lock);
        return NULL;
    }
    space->lock = lock;
    return space;
}

void symbol_space_free(struct symbol_space *space)
{
    if (!space)
        return;
    free(space->pieces);
    symbol_maps_free(&space->maps);
    pthread_rwlock_destroy(space->lock);
    free(space->lock);
    free(space);
}

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a;
    const struct piece *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->last < y->last ? -1 : x->last > y->last;
}

/* One range of the image's own addresses, moved; in two where that wraps. Returns how many. */
static size_t move(const struct symbol_index *image, uint64_t offset, uint64_t start, uint64_t size,
                   size_t number, struct piece out[2])
{
    uint64_t mask = image->address_mask;
    uint64_t first = (start + offset) & mask;
    uint64_t last = (first + (size - 1)) & mask;
    if (last >= first) {
        out[0] = (struct piece){first, last, number};
        return 1;
    }
    out[0] = (struct piece){first, mask, number};
    out[1] = (struct piece){0, last, number};
    return 2;
}

/* What the image covers: its executable sections, and functions of a ROM that it names. By address, without
 * overlaps. NULL when memory is out. */
static struct piece *image_pieces(const struct symbol_index *image, uint64_t offset, size_t number,
                                  size_t *count)
{
    size_t outside = 0;
    for (size_t i = 0; i < image->function_count; i++)
        outside += !symbol_code_at(image, image->functions[i].function.address);
    struct piece *pieces = calloc(2 * (image->code_count + outside) + 1, sizeof(*pieces));
    if (!pieces)
        return NULL;
    size_t n = 0;
    for (size_t i = 0; i < image->code_count; i++)
        n += move(image, offset, image->code[i].start, image->code[i].limit - image->code[i].start, number,
                  &pieces[n]);
    for (size_t i = 0; i < image->function_count && outside > 0; i++) {
        const struct symbol_function *f = &image->functions[i].function;
        if (f->size > 0 && !symbol_code_at(image, f->address))
            n += move(image, offset, f->address, f->size, number, &pieces[n]);
    }
    qsort(pieces, n, sizeof(*pieces), compare_pieces);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && pieces[i].start <= pieces[kept - 1].last) {
            if (pieces[i].last > pieces[kept - 1].last)
                pieces[kept - 1].last = pieces[i].last;
        } else {
            pieces[kept++] = pieces[i];
        }
    }
    *count = kept;
    return pieces;
}

/* Both lists in one, the old pieces whole and the new ones where no old one is. */
static size_t merge_pieces(const struct piece *old, size_t old_count, const struct piece *new,
                           size_t new_count, struct piece *out)
{
    size_t n = 0;
    size_t i = 0;
    for (size_t k = 0; k < new_count; k++) {
        struct piece rest = new[k];
        bool left = true;
        while (left && i < old_count && old[i].start <= rest.last) {
            if (old[i].last < rest.start) {
                out[n++] = old[i++];
                continue;
            }
            if (old[i].start > rest.start)
                out[n++] = (struct piece){rest.start, old[i].start - 1, rest.image};
            if (old[i].last >= rest.last) {
                left = false; /* the old one may cover the next, too */
            } else {
                rest.start = old[i].last + 1;
                out[n++] = old[i++];
            }
        }
        if (left)
            out[n++] = rest;
    }
    while (i < old_count)
        out[n++] = old[i++];
    return n;
}

enum corral_err symbol_space_add(struct symbol_space *space, const struct symbol_index *image,
                                 uint64_t offset, struct diag *d)
{
    size_t new_count = 0;
    enum corral_err err = CORRAL_OK;
    struct piece *merged = NULL;
    pthread_rwlock_wrlock(space->lock);
    struct piece *new = NULL;
    if (space->image_count == SYMBOL_SPACE_MAX_IMAGES) {
        err = diag_set(d, CORRAL_ERR_LIMIT, "%.150s: more than the %u ELF files that are taken",
                       symbol_path(image), SYMBOL_SPACE_MAX_IMAGES);
        goto out;
    }
    new = image_pieces(image, offset, space->image_count, &new_count);
    if (new &&new_count + space->piece_count > MAX_PIECES) {
        err = diag_set(d, CORRAL_ERR_LIMIT, "%.150s: its code lies in too many pieces", symbol_path(image));
        goto out;
    }
    /* An old piece can cut a new one in two, so each may add one. */
    merged = new ? calloc(new_count + 2 * space->piece_count + 1, sizeof(*merged)) : NULL;
    if (!merged) {
        err = diag_set(d, CORRAL_ERR_NO_MEMORY, "%.150s: out of memory for its ranges", symbol_path(image));
        goto out;
    }
    space->piece_count = merge_pieces(space->pieces, space->piece_count, new, new_count, merged);
    free(space->pieces);
    space->pieces = merged;
    space->images[space->image_count++] = (struct placed){image, offset};
out:
    pthread_rwlock_unlock(space->lock);
    free(new);
    return err;
}

enum corral_err symbol_space_add_map(struct symbol_space *space, uint32_t pid, uint64_t start, uint64_t end,
                                     uint64_t file_offset, const char *path, const struct symbol_index *image,
                                     struct diag *d)
{
    struct diag own = DIAG_INIT;
    const struct symbol_map map = {start, end, file_offset, path, image};
    pthread_rwlock_wrlock(space->lock);
    enum corral_err err = symbol_maps_add(&space->maps, pid, &map, d ? d : &own);
    pthread_rwlock_unlock(space->lock);
    return err;
}

void symbol_space_clear_maps(struct symbol_space *space, uint32_t pid)
{
    pthread_rwlock_wrlock(space->lock);
    symbol_maps_clear(&space->maps, pid);
    pthread_rwlock_unlock(space->lock);
}

static bool find_image(const struct symbol_space *space, uint64_t address, struct symbol_place *place)
{
    size_t low = 0;
    size_t high = space->piece_count; /* the first that begins behind `address` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (space->pieces[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || space->pieces[low - 1].last < address)
        return false;
    const struct placed *p = &space->images[space->pieces[low - 1].image];
    *place = (struct symbol_place){p->image, symbol_path(p->image),
                                   (address - p->offset) & p->image->address_mask};
    return true;
}

bool symbol_space_find(const struct symbol_space *space, uint32_t pid, uint64_t address,
                       struct symbol_place *place)
{
    pthread_rwlock_rdlock(space->lock);
    bool found = (pid != 0 && pid != SYMBOL_ANY_PID && symbol_maps_find(&space->maps, pid, address, place)) ||
                 find_image(space, address, place) || symbol_maps_find(&space->maps, 0, address, place);
    pthread_rwlock_unlock(space->lock);
    return found;
}

size_t symbol_space_image_count(const struct symbol_space *space)
{
    return space->image_count;
}

const struct symbol_index *symbol_space_image(const struct symbol_space *space, size_t index,
                                              uint64_t *offset)
{
    if (index >= space->image_count)
        return NULL;
    if (offset)
        *offset = space->images[index].offset;
    return space->images[index].image;
}
