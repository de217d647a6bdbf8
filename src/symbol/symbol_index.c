/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbol index: opening, closing and the look-ups, each a binary search over a sorted array. It works on
 * a copy of the file, so that the file may change or go while the index is in use. Loading is in
 * symbol_elf.c, symbol_table.c, symbol_dwarf.c and symbol_inline.c. Must not offer a name for an address that
 * no symbol covers.
 */
#include "symbol/symbol_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How many enclosing functions a look-up tries; compilers nest none, aliases make a few. */
#define MAX_NESTING 64

void symbol_add_note(struct symbol_index *s, const char *what, const char *why)
{
    size_t used = strlen(s->note);
    if (used == 0)
        used = (size_t)snprintf(s->note, sizeof(s->note), "%.100s: ", s->label);
    else if (strstr(s->note, what))
        return; /* of every unit again */
    else
        used += (size_t)snprintf(s->note + used, sizeof(s->note) - used, "; ");
    if (used < sizeof(s->note))
        snprintf(s->note + used, sizeof(s->note) - used, "%s%s%.40s", what, why ? ": " : "", why ? why : "");
}

uint64_t symbol_room(const struct symbol_index *s, uint64_t address)
{
    return s->address_mask - (address & s->address_mask) + (s->wide ? 0 : 1);
}

bool symbol_code_address(const struct symbol_index *s, uint64_t *address)
{
    if (s->mode_bit)
        *address &= ~UINT64_C(1);
    return *address % s->alignment == 0;
}

const struct symbol_section *symbol_code_at(const struct symbol_index *s, uint64_t address)
{
    size_t low = 0;
    size_t high = s->code_count; /* the first that begins behind `address` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->code[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low > 0 && s->code_reach[low - 1] > address; low--)
        if (address < s->code[low - 1].limit)
            return &s->code[low - 1];
    return NULL;
}

/* Takes over `data`, which was allocated with malloc. */
static struct symbol_index *open_owned(uint8_t *data, size_t size, const char *label, struct diag *d)
{
    struct symbol_index *s = calloc(1, sizeof(*s));
    if (s)
        s->label = strdup(label);
    if (!s || !s->label) {
        free(data);
        symbol_close(s);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory for the symbols of %.100s", label);
        return NULL;
    }
    s->data = data;
    s->size = size;
    if (symbol_elf_load(s, d) != CORRAL_OK || symbol_dwarf_load(s, d) != CORRAL_OK ||
        symbol_inline_load(s, d) != CORRAL_OK) {
        diag_object(d, "%.150s", label);
        symbol_close(s);
        return NULL;
    }
    return s;
}

/* The whole file in memory; NULL with *d set. */
static uint8_t *read_file(const char *path, size_t *size, struct diag *d)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0) {
        diag_set(d, CORRAL_ERR_IO, "%.200s: cannot be opened: %s", path, strerror(errno));
        goto fail;
    }
    if (!S_ISREG(st.st_mode)) {
        diag_set(d, CORRAL_ERR_ELF, "%.200s: not a file, so not an ELF file", path);
        goto fail;
    }
    if (st.st_size > SYMBOL_MAX_FILE) {
        diag_set(d, CORRAL_ERR_LIMIT, "%.200s: larger than the %u MiB that are read as ELF", path,
                 SYMBOL_MAX_FILE >> 20);
        goto fail;
    }
    size_t want = (size_t)st.st_size;
    uint8_t *data = malloc(want ? want : 1);
    if (!data) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "%.200s: out of memory for its %zu bytes", path, want);
        goto fail;
    }
    *size = 0;
    while (*size < want) {
        ssize_t got = read(fd, data + *size, want - *size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            diag_set(d, CORRAL_ERR_IO, "%.200s: cannot be read: %s", path, strerror(errno));
            free(data);
            goto fail;
        }
        if (got == 0)
            break; /* it became shorter; the checks on its contents decide */
        *size += (size_t)got;
    }
    close(fd);
    return data;

fail:
    diag_object(d, "%.150s", path);
    if (fd >= 0)
        close(fd);
    return NULL;
}

struct symbol_index *symbol_open(const char *path, struct diag *d)
{
    size_t size = 0;
    uint8_t *data = read_file(path, &size, d);
    return data ? open_owned(data, size, path, d) : NULL;
}

struct symbol_index *symbol_open_memory(const uint8_t *data, size_t size, const char *label, struct diag *d)
{
    if (size > SYMBOL_MAX_FILE) {
        diag_set(d, CORRAL_ERR_LIMIT, "%.200s: larger than the %u MiB that are read as ELF", label,
                 SYMBOL_MAX_FILE >> 20);
        return NULL;
    }
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "%.200s: out of memory for its %zu bytes", label, size);
        return NULL;
    }
    if (size)
        memcpy(copy, data, size);
    return open_owned(copy, size, label, d);
}

void symbol_close(struct symbol_index *s)
{
    if (!s)
        return;
    if (s->dwarf)
        dwarf_end(s->dwarf);
    if (s->elf)
        elf_end(s->elf);
    symbol_text_free(s);
    free(s->functions);
    free(s->reach);
    free(s->names);
    free(s->marks);
    free(s->rows);
    free(s->inlines);
    free(s->spans);
    free(s->code);
    free(s->code_reach);
    free(s->segments);
    free(s->data);
    free(s->label);
    free(s);
}

bool symbol_function_at(const struct symbol_index *s, uint64_t address, struct symbol_function *out)
{
    if (!symbol_code_address(s, &address))
        return false;
    size_t low = 0;
    size_t high = s->function_count; /* the first that begins behind `address` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->functions[middle].function.address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t tries = 0; low > 0 && tries < MAX_NESTING && s->reach[low - 1] > address; tries++) {
        const struct symbol_function *f = &s->functions[--low].function;
        if (address - f->address < f->size) {
            *out = *f;
            return true;
        }
    }
    return false;
}

/* The row that covers `address`, NULL when none does. */
static const struct symbol_row *row_at(const struct symbol_index *s, uint64_t address)
{
    size_t low = 0;
    size_t high = s->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && s->rows[low - 1].file ? &s->rows[low - 1] : NULL;
}

bool symbol_line_at(const struct symbol_index *s, uint64_t address, const char **file, uint32_t *line)
{
    const struct symbol_row *row = symbol_code_address(s, &address) ? row_at(s, address) : NULL;
    if (!row || row->line == 0)
        return false;
    *file = row->file;
    *line = row->line;
    return true;
}

/* The innermost function inlined at `address`: index + 1, 0 = none. */
static uint32_t inlined_at(const struct symbol_index *s, uint64_t address)
{
    size_t low = 0;
    size_t high = s->span_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->spans[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? s->spans[low - 1].inlined : 0;
}

size_t symbol_frames(const struct symbol_index *s, uint64_t address, struct symbol_frame *out, size_t max)
{
    struct symbol_function function;
    if (!symbol_function_at(s, address, &function) || !symbol_code_address(s, &address))
        return 0;
    const struct symbol_row *row = row_at(s, address);
    struct symbol_frame place = {.file = row ? row->file : NULL, .line = row ? row->line : 0};
    size_t n = 0;
    for (uint32_t at = inlined_at(s, address); at != 0; at = s->inlines[at - 1].parent) {
        const struct symbol_inline *i = &s->inlines[at - 1];
        if (n < max)
            out[n] = (struct symbol_frame){i->name, place.file, place.line, true};
        n++;
        place = (struct symbol_frame){.file = i->call_file, .line = i->call_line};
    }
    if (n < max)
        out[n] = (struct symbol_frame){function.name, place.file, place.line, false};
    return n + 1;
}

bool symbol_lookup(const struct symbol_index *s, const char *name, uint64_t *address, uint64_t *size)
{
    size_t low = 0;
    size_t high = s->name_count; /* the first that is not below `name` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(s->names[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == s->name_count || strcmp(s->names[low].name, name) != 0)
        return false;
    if (address)
        *address = s->names[low].address;
    if (size)
        *size = s->names[low].size;
    return true;
}
