/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbol index: opening, closing and the three look-ups, each a binary search over a sorted array. It
 * works on a copy of the file, so that the file may change or go while the index is in use. Loading is in
 * symbol_elf.c and symbol_dwarf.c. Must not offer a name for an address that no symbol covers.
 */
#include "symbol/symbol_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* How many enclosing functions a look-up tries; compilers nest none, aliases make a few. */
#define MAX_NESTING 64

#define MAX_NAME 4096 /* bytes of a name that are shown */

struct symbol_cleaned {
    struct symbol_cleaned *next;
    char text[];
};

static bool is_clean(const char *name, size_t length)
{
    for (size_t i = 0; i < length;) {
        uint32_t code;
        size_t n = text_utf8_decode((const uint8_t *)name + i, length - i, &code);
        if (n == 0 || code < 0x20 || (code >= 0x7F && code < 0xA0))
            return false;
        i += n;
    }
    return true;
}

const char *symbol_clean(struct symbol_index *s, const char *name)
{
    size_t length = strnlen(name, MAX_NAME);
    if (length < MAX_NAME && is_clean(name, length))
        return name;
    size_t room = TEXT_CLEAN_MAX(length);
    struct symbol_cleaned *c = NULL;
    if (room <= SYMBOL_MAX_CLEANED - s->cleaned_bytes)
        c = malloc(sizeof(*c) + room);
    if (!c)
        return "?";
    text_escape((const uint8_t *)name, length, c->text, room);
    c->next = s->cleaned;
    s->cleaned = c;
    s->cleaned_bytes += room;
    return c->text;
}

const struct symbol_range *symbol_code_at(const struct symbol_index *s, uint64_t address)
{
    for (size_t i = 0; i < s->code_count; i++)
        if (address >= s->code[i].start && address < s->code[i].end)
            return &s->code[i];
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
    if (symbol_elf_load(s, d) != CORRAL_OK || symbol_dwarf_load(s, d) != CORRAL_OK) {
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
    while (s->cleaned) {
        struct symbol_cleaned *next = s->cleaned->next;
        free(s->cleaned);
        s->cleaned = next;
    }
    free(s->functions);
    free(s->reach);
    free(s->names);
    free(s->rows);
    free(s->code);
    free(s->data);
    free(s->label);
    free(s);
}

bool symbol_function_at(const struct symbol_index *s, uint32_t address, struct symbol_function *out)
{
    address &= ~UINT32_C(1);
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

bool symbol_line_at(const struct symbol_index *s, uint32_t address, const char **file, uint32_t *line)
{
    address &= ~UINT32_C(1);
    size_t low = 0;
    size_t high = s->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || !s->rows[low - 1].file || s->rows[low - 1].line == 0)
        return false;
    *file = s->rows[low - 1].file;
    *line = s->rows[low - 1].line;
    return true;
}

bool symbol_lookup(const struct symbol_index *s, const char *name, uint32_t *address, uint32_t *size)
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

size_t symbol_function_count(const struct symbol_index *s)
{
    return s->function_count;
}

uint32_t symbol_entry(const struct symbol_index *s)
{
    return s->entry;
}

const char *symbol_note(const struct symbol_index *s)
{
    return s->note[0] ? s->note : NULL;
}
