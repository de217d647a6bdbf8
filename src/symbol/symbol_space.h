/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one sender's addresses mean: which image covers an address of a process, and where in that image it
 * lies. Images are borrowed and may be shared between spaces; a space is filled in by one thread and then
 * only read, but for symbol_space_add_map.
 */
#ifndef CORRAL_SYMBOL_SYMBOL_SPACE_H
#define CORRAL_SYMBOL_SYMBOL_SPACE_H

#include "symbol/symbol.h"

#define SYMBOL_SPACE_MAX_IMAGES 100u
#define SYMBOL_SPACE_MAX_MAPS   65536u
#define SYMBOL_ANY_PID          UINT32_MAX

struct symbol_space;

struct symbol_space *symbol_space_new(void);
void symbol_space_free(struct symbol_space *space); /* NULL is allowed; the images stay */

/* All executable sections of `image` lie `offset` bytes higher than its headers say (wraps as the target's
 * addresses do), for every process. The image added first wins where two overlap. CORRAL_ERR_LIMIT. */
enum corral_err symbol_space_add(struct symbol_space *space, const struct symbol_index *image,
                                 uint64_t offset, struct diag *d);

/* Process `pid` has the file `path` mapped at [start, end), from `file_offset` on: a line of its memory map.
 * `image` is NULL where no ELF was given for it: then frames are "[PATH's last part]" and unresolved. A newer
 * map of a process replaces what it overlaps. Thread-safe against the readers below. */
enum corral_err symbol_space_add_map(struct symbol_space *space, uint32_t pid, uint64_t start, uint64_t end,
                                     uint64_t file_offset, const char *path, const struct symbol_index *image,
                                     struct diag *d);
/* Forget the maps of a process (it is sent anew). */
void symbol_space_clear_maps(struct symbol_space *space, uint32_t pid);

struct symbol_place {
    const struct symbol_index *image; /* NULL: mapped, but no ELF was given for it */
    const char *path;                 /* of the map or the image; borrowed until the map is replaced */
    uint64_t address;                 /* in the image's own addresses */
};
/* False when nothing covers `address`. pid 0 and SYMBOL_ANY_PID see the images that every process has. */
bool symbol_space_find(const struct symbol_space *space, uint32_t pid, uint64_t address,
                       struct symbol_place *place);

size_t symbol_space_image_count(const struct symbol_space *space);
const struct symbol_index *symbol_space_image(const struct symbol_space *space, size_t index,
                                              uint64_t *offset);

#endif
