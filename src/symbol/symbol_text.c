/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and paths of the file as text that is safe to show, and whole: a relative path is under the folder
 * its unit was compiled in (DWARF 5 section 6.2.4). Must not keep more text than a limit, whatever a file
 * claims.
 */
#include <dwarf.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "symbol/symbol_index.h"

#define MAX_NAME 4096u /* bytes of a name that are shown */

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

/* An own, escaped copy; "?" when there is no room for it. */
static const char *cleaned_copy(struct symbol_index *s, const char *name, size_t length)
{
    size_t room = TEXT_CLEAN_MAX(length);
    struct symbol_cleaned *c = NULL;
    if (room <= SYMBOL_MAX_CLEANED - s->cleaned_bytes)
        c = malloc(sizeof(*c) + room);
    if (!c)
        return "?";
    size_t used = text_escape((const uint8_t *)name, length, c->text, room) + 1;
    struct symbol_cleaned *fitted = realloc(c, sizeof(*c) + used);
    c = fitted ? fitted : c;
    c->next = s->cleaned;
    s->cleaned = c;
    s->cleaned_bytes += used;
    return c->text;
}

const char *symbol_clean(struct symbol_index *s, const char *name)
{
    size_t length = strnlen(name, MAX_NAME);
    if (length < MAX_NAME && is_clean(name, length))
        return name;
    return cleaned_copy(s, name, length);
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void keep_nothing(void *text)
{
    (void)text; /* the list of cleaned names owns it */
}

void symbol_text_free(struct symbol_index *s)
{
    tdestroy(s->paths, keep_nothing);
    while (s->cleaned) {
        struct symbol_cleaned *next = s->cleaned->next;
        free(s->cleaned);
        s->cleaned = next;
    }
}

/* Many units name the same file: one copy serves them all. */
static const char *shared_path(struct symbol_index *s, const char *path)
{
    char **found = tfind(path, &s->paths, compare_text);
    if (found)
        return *found;
    const char *copy = cleaned_copy(s, path, strlen(path));
    if (strcmp(copy, path) == 0)
        tsearch(copy, &s->paths, compare_text); /* when it fails, there will be another copy */
    return copy;
}

bool symbol_files_of(struct symbol_files *f, Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    f->files = NULL;
    f->count = 0;
    f->folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    if (dwarf_getsrcfiles(unit, &f->files, &f->count) != 0) {
        f->files = NULL;
        f->count = 0;
        return true;
    }
    if (f->count > f->room) {
        const char **more = realloc(f->names, f->count * sizeof(*more));
        if (!more)
            return false;
        f->names = more;
        f->room = f->count;
    }
    for (size_t i = 0; i < f->count; i++)
        f->names[i] = NULL;
    return true;
}

const char *symbol_file_name(struct symbol_index *s, struct symbol_files *f, size_t number)
{
    if (number >= f->count)
        return NULL;
    if (f->names[number])
        return f->names[number];
    const char *raw = dwarf_filesrc(f->files, number, NULL, NULL);
    if (!raw)
        return NULL;
    bool absolute = raw[0] == '/' || raw[0] == '\\' || (raw[0] && raw[1] == ':');
    if (absolute || !f->folder || !f->folder[0]) {
        f->names[number] = symbol_clean(s, raw);
        return f->names[number];
    }
    while (strncmp(raw, "./", 2) == 0)
        raw += 2;
    char path[2 * MAX_NAME];
    snprintf(path, sizeof(path), "%.4000s/%.4000s", f->folder, raw);
    f->names[number] = shared_path(s, path);
    return f->names[number];
}
