/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF and DWARF (libdw) as one flat index: address to function, inlines, file and line; name to address.
 * Hostile input: a wrong or cut ELF is refused with a sentence, never guessed at. Immutable once opened, so
 * it may be read from any thread.
 */
#ifndef CORRAL_SYMBOL_SYMBOL_H
#define CORRAL_SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct symbol_index;

struct symbol_function {
    const char *name; /* borrowed from the index */
    uint32_t address; /* Thumb bit cleared */
    uint32_t size;
};

/* From a file, or from bytes (borrowed until symbol_close). NULL with *d set. `label` names it in messages.
 */
struct symbol_index *symbol_open(const char *path, struct diag *d);
struct symbol_index *symbol_open_memory(const uint8_t *data, size_t size, const char *label, struct diag *d);
void symbol_close(struct symbol_index *s); /* NULL is allowed */

/* The function that covers `address` (bit 0 ignored); false when none does. */
bool symbol_function_at(const struct symbol_index *s, uint32_t address, struct symbol_function *out);
/* Source line of `address`; *file is borrowed. False when there is no line information for it. */
bool symbol_line_at(const struct symbol_index *s, uint32_t address, const char **file, uint32_t *line);
/* Address (Thumb bit cleared) and size of the global or local symbol `name`; false when there is none. */
bool symbol_lookup(const struct symbol_index *s, const char *name, uint32_t *address, uint32_t *size);
size_t symbol_function_count(const struct symbol_index *s);
uint32_t symbol_entry(const struct symbol_index *s);
/* A sentence on what of the file could not be used (no DWARF, a damaged line table), or NULL. */
const char *symbol_note(const struct symbol_index *s);

#endif
