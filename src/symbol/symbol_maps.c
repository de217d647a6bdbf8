/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes' memory maps (profiler sheet 6): of each process a sorted array without overlaps. Must not keep
 * more of a sender's maps than the limits.
 */
#include "symbol/symbol_maps.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "symbol/symbol_index.h"

#define MAX_PROCESSES  4096u
#define MAX_PATH       4096u
#define MAX_PATH_BYTES (8u << 20)

struct symbol_process {
    uint32_t pid;
    struct symbol_map *maps; /* by address */
    size_t count;
    size_t room;
};

static int compare_paths(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The space's own copy, safe to show. NULL with *d set. */
static const char *keep_path(struct symbol_maps *maps, const char *path, struct diag *d)
{
    size_t length = strnlen(path, MAX_PATH);
    size_t room = TEXT_CLEAN_MAX(length);
    char *copy = malloc(room);
    if (!copy) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory for a memory map");
        return NULL;
    }
    text_escape((const uint8_t *)path, length, copy, room);
    char **found = tfind(copy, &maps->paths, compare_paths);
    if (found) {
        free(copy);
        return *found;
    }
    size_t bytes = strlen(copy) + 1;
    if (bytes > MAX_PATH_BYTES - maps->path_bytes) {
        free(copy);
        diag_set(d, CORRAL_ERR_LIMIT, "the files of the memory maps have more names than are kept");
        return NULL;
    }
    char *fitted = realloc(copy, bytes);
    copy = fitted ? fitted : copy;
    if (!tsearch(copy, &maps->paths, compare_paths)) {
        free(copy);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory for a memory map");
        return NULL;
    }
    maps->path_bytes += bytes;
    return copy;
}

/* Where `pid` is among the processes, or would be. */
static size_t process_index(const struct symbol_maps *maps, uint32_t pid)
{
    size_t low = 0;
    size_t high = maps->process_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (maps->processes[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct symbol_process *process_of(const struct symbol_maps *maps, uint32_t pid)
{
    size_t i = process_index(maps, pid);
    return i < maps->process_count && maps->processes[i].pid == pid ? &maps->processes[i] : NULL;
}

/* The process, with room for two more maps. NULL with *d set. */
static struct symbol_process *process_with_room(struct symbol_maps *maps, uint32_t pid, struct diag *d)
{
    struct symbol_process *p = process_of(maps, pid);
    if (!p) {
        if (maps->process_count == MAX_PROCESSES) {
            diag_set(d, CORRAL_ERR_LIMIT, "memory maps of more than the %u processes that are kept",
                     MAX_PROCESSES);
            return NULL;
        }
        struct symbol_process *more = realloc(maps->processes, (maps->process_count + 1) * sizeof(*more));
        if (!more)
            goto no_memory;
        maps->processes = more;
        size_t i = process_index(maps, pid);
        memmove(&more[i + 1], &more[i], (maps->process_count - i) * sizeof(*more));
        more[i] = (struct symbol_process){.pid = pid};
        maps->process_count++;
        p = &more[i];
    }
    if (p->count + 2 > p->room) {
        size_t room = p->room ? p->room * 2 : 16;
        struct symbol_map *more = realloc(p->maps, room * sizeof(*more));
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
static size_t map_index(const struct symbol_process *p, uint64_t address)
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
static void replace(struct symbol_process *p, struct symbol_map new)
{
    size_t first = map_index(p, new.start);
    size_t end = first;
    while (end < p->count && p->maps[end].start < new.end)
        end++;
    struct symbol_map parts[3];
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

enum corral_err symbol_maps_add(struct symbol_maps *maps, uint32_t pid, const struct symbol_map *map,
                                struct diag *d)
{
    if (map->start >= map->end)
        return diag_set(d, CORRAL_ERR_FORMAT, "a memory map of process %u ends before it begins", pid);
    if (maps->map_count + 2 > SYMBOL_SPACE_MAX_MAPS)
        return diag_set(d, CORRAL_ERR_LIMIT, "more than the %u memory maps that are kept",
                        SYMBOL_SPACE_MAX_MAPS);
    struct symbol_map kept = *map;
    kept.path = keep_path(maps, map->path, d);
    struct symbol_process *p = kept.path ? process_with_room(maps, pid, d) : NULL;
    if (!p)
        return d->code;
    size_t before = p->count;
    replace(p, kept);
    maps->map_count = maps->map_count - before + p->count;
    return CORRAL_OK;
}

void symbol_maps_clear(struct symbol_maps *maps, uint32_t pid)
{
    struct symbol_process *p = process_of(maps, pid);
    if (!p)
        return;
    maps->map_count -= p->count;
    free(p->maps);
    size_t i = (size_t)(p - maps->processes);
    memmove(p, p + 1, (maps->process_count - i - 1) * sizeof(*p));
    maps->process_count--;
}

bool symbol_maps_find(const struct symbol_maps *maps, uint32_t pid, uint64_t address,
                      struct symbol_place *place)
{
    const struct symbol_process *p = process_of(maps, pid);
    if (!p)
        return false;
    size_t i = map_index(p, address);
    if (i == p->count || p->maps[i].start > address)
        return false;
    const struct symbol_map *m = &p->maps[i];
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

void symbol_maps_free(struct symbol_maps *maps)
{
    for (size_t i = 0; i < maps->process_count; i++)
        free(maps->processes[i].maps);
    free(maps->processes);
    tdestroy(maps->paths, free);
}
