/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which image covers an address of a process: images at fixed offsets and the processes' memory maps
 * (profiler sheet 6), each a sorted array without overlaps, looked up by binary search. Must not keep more of
 * a sender's maps than the header's limits, nor show a reader a map half replaced.
 */
#include "symbol/symbol_space.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "symbol/symbol_index.h"

#define MAX_PIECES     (1u << 20)
#define MAX_PROCESSES  4096u
#define MAX_PATH       4096u
#define MAX_PATH_BYTES (8u << 20)

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

struct map {
    uint64_t start;
    uint64_t end;
    uint64_t file_offset;
    const char *path; /* in `paths` */
    const struct symbol_index *image;
};

struct process {
    uint32_t pid;
    struct map *maps; /* by address */
    size_t count;
    size_t room;
};

struct symbol_space {
    pthread_rwlock_t *lock; /* apart, since readers of a constant space take it, too */
    struct placed images[SYMBOL_SPACE_MAX_IMAGES];
    size_t image_count;
    struct piece *pieces; /* by address */
    size_t piece_count;
    struct process *processes; /* by pid */
    size_t process_count;
    size_t map_count; /* of all processes */
    void *paths;      /* tree of strings: readers hold them, so they stay */
    size_t path_bytes;
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
    for (size_t i = 0; i < space->process_count; i++)
        free(space->processes[i].maps);
    free(space->processes);
    free(space->pieces);
    tdestroy(space->paths, free);
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

static int compare_paths(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The space's own copy, safe to show. NULL with *d set. */
static const char *keep_path(struct symbol_space *space, const char *path, struct diag *d)
{
    size_t length = strnlen(path, MAX_PATH);
    size_t room = TEXT_CLEAN_MAX(length);
    char *copy = malloc(room);
    if (!copy) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory for a memory map");
        return NULL;
    }
    text_escape((const uint8_t *)path, length, copy, room);
    char **found = tfind(copy, &space->paths, compare_paths);
    if (found) {
        free(copy);
        return *found;
    }
    size_t bytes = strlen(copy) + 1;
    if (bytes > MAX_PATH_BYTES - space->path_bytes) {
        free(copy);
        diag_set(d, CORRAL_ERR_LIMIT, "the files of the memory maps have more names than are kept");
        return NULL;
    }
    char *fitted = realloc(copy, bytes);
    copy = fitted ? fitted : copy;
    if (!tsearch(copy, &space->paths, compare_paths)) {
        free(copy);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory for a memory map");
        return NULL;
    }
    space->path_bytes += bytes;
    return copy;
}

/* Where `pid` is among the processes, or would be. */
static size_t process_index(const struct symbol_space *space, uint32_t pid)
{
    size_t low = 0;
    size_t high = space->process_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (space->processes[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct process *process_of(const struct symbol_space *space, uint32_t pid)
{
    size_t i = process_index(space, pid);
    return i < space->process_count && space->processes[i].pid == pid ? &space->processes[i] : NULL;
}

/* The process, with room for two more maps. NULL with *d set. */
static struct process *process_with_room(struct symbol_space *space, uint32_t pid, struct diag *d)
{
    struct process *p = process_of(space, pid);
    if (!p) {
        if (space->process_count == MAX_PROCESSES) {
            diag_set(d, CORRAL_ERR_LIMIT, "memory maps of more than the %u processes that are kept",
                     MAX_PROCESSES);
            return NULL;
        }
        struct process *more = realloc(space->processes, (space->process_count + 1) * sizeof(*more));
        if (!more)
            goto no_memory;
        space->processes = more;
        size_t i = process_index(space, pid);
        memmove(&more[i + 1], &more[i], (space->process_count - i) * sizeof(*more));
        more[i] = (struct process){.pid = pid};
        space->process_count++;
        p = &more[i];
    }
    if (p->count + 2 > p->room) {
        size_t room = p->room ? p->room * 2 : 16;
        struct map *more = realloc(p->maps, room * sizeof(*more));
        if (!more)
            goto no_memory;
        p->maps = more;
        p->room = room;
    }
    return p;

no_memory:
    diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory for a memory map");
    return NULL;
}

/* The first map of the process that ends behind `address`. */
static size_t map_index(const struct process *p, uint64_t address)
{
    size_t low = 0;
    size_t high = p->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->maps[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The new map in the place of whatever of others it covers. There is room for two more. */
static void replace(struct process *p, struct map new)
{
    size_t first = map_index(p, new.start);
    size_t end = first;
    while (end < p->count && p->maps[end].start < new.end)
        end++;
    struct map parts[3];
    size_t n = 0;
    if (first < end && p->maps[first].start < new.start) {
        parts[n] = p->maps[first];
        parts[n++].end = new.start;
    }
    parts[n++] = new;
    if (first < end && p->maps[end - 1].end > new.end) {
        parts[n] = p->maps[end - 1];
        parts[n].file_offset += new.end - parts[n].start;
        parts[n++].start = new.end;
    }
    memmove(&p->maps[first + n], &p->maps[end], (p->count - end) * sizeof(*p->maps));
    memcpy(&p->maps[first], parts, n * sizeof(*parts));
    p->count = p->count - (end - first) + n;
}

enum corral_err symbol_space_add_map(struct symbol_space *space, uint32_t pid, uint64_t start, uint64_t end,
                                     uint64_t file_offset, const char *path, const struct symbol_index *image,
                                     struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    struct diag own = DIAG_INIT;
    d = d ? d : &own;
    if (start >= end)
        return diag_set(d, CORRAL_ERR_FORMAT, "a memory map of process %u ends before it begins", pid);
    pthread_rwlock_wrlock(space->lock);
    const char *kept = NULL;
    struct process *p = NULL;
    if (space->map_count + 2 > SYMBOL_SPACE_MAX_MAPS)
        err = diag_set(d, CORRAL_ERR_LIMIT, "more than the %u memory maps that are kept",
                       SYMBOL_SPACE_MAX_MAPS);
    else if (!(kept = keep_path(space, path, d)) || !(p = process_with_room(space, pid, d)))
        err = d->code;
    if (p) {
        size_t before = p->count;
        replace(p, (struct map){start, end, file_offset, kept, image});
        space->map_count = space->map_count - before + p->count;
    }
    pthread_rwlock_unlock(space->lock);
    return err;
}

void symbol_space_clear_maps(struct symbol_space *space, uint32_t pid)
{
    pthread_rwlock_wrlock(space->lock);
    struct process *p = process_of(space, pid);
    if (p) {
        space->map_count -= p->count;
        free(p->maps);
        size_t i = (size_t)(p - space->processes);
        memmove(p, p + 1, (space->process_count - i - 1) * sizeof(*p));
        space->process_count--;
    }
    pthread_rwlock_unlock(space->lock);
}

static bool find_map(const struct symbol_space *space, uint32_t pid, uint64_t address,
                     struct symbol_place *place)
{
    const struct process *p = process_of(space, pid);
    if (!p)
        return false;
    size_t i = map_index(p, address);
    if (i == p->count || p->maps[i].start > address)
        return false;
    const struct map *m = &p->maps[i];
    uint64_t offset = m->file_offset + (address - m->start);
    *place = (struct symbol_place){m->image, m->path, address};
    if (!m->image)
        return true;
    /* Where no segment holds the offset, it is the ELF's address itself (profiler sheet 6, last note). */
    if (symbol_address_of_offset(m->image, offset, &place->address))
        return true;
    place->address = offset;
    if (!symbol_code_at(m->image, offset))
        place->image = NULL;
    return true;
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
    bool found = (pid != 0 && pid != SYMBOL_ANY_PID && find_map(space, pid, address, place)) ||
                 find_image(space, address, place) || find_map(space, 0, address, place);
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
