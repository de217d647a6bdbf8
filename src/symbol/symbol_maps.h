/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes' memory maps. Private to src/symbol: symbol_space.c holds the lock around all of it.
 */
#ifndef CORRAL_SYMBOL_SYMBOL_MAPS_H
#define CORRAL_SYMBOL_SYMBOL_MAPS_H

#include "symbol/symbol_space.h"

struct symbol_process;

struct symbol_map { /* half open */
    uint64_t start;
    uint64_t end;
    uint64_t file_offset; /* of `start` */
    const char *path;     /* kept in symbol_maps.paths */
    const struct symbol_index *image;
};

struct symbol_maps {                  /* all 0 at first */
    struct symbol_process *processes; /* by pid */
    size_t process_count;
    size_t map_count; /* of all processes */
    void *paths;      /* tree of strings: readers hold them, so they stay */
    size_t path_bytes;
};

/* As symbol_space_add_map; the path is copied, and `d` is not NULL. */
enum corral_err symbol_maps_add(struct symbol_maps *maps, uint32_t pid, const struct symbol_map *map,
                                struct diag *d);
void symbol_maps_clear(struct symbol_maps *maps, uint32_t pid);
bool symbol_maps_find(const struct symbol_maps *maps, uint32_t pid, uint64_t address,
                      struct symbol_place *place);
void symbol_maps_free(struct symbol_maps *maps);

#endif
