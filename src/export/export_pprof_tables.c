/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a pprof file (export_pprof_tables.h). */
#include "export/export_pprof_tables.h"

#include <stdlib.h>
#include <string.h>

#include "export/export_text.h"

static bool same_string(const void *ctx, size_t number, const void *key)
{
    const struct export_pprof_tables *t = ctx;
    return strcmp(t->strings[number], key) == 0;
}

static bool same_function(const void *ctx, size_t number, const void *key)
{
    const struct export_pprof_tables *t = ctx;
    const struct export_pprof_function *f = key;
    return t->functions[number].name == f->name && t->functions[number].file == f->file;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

const struct export_frame *export_pprof_innermost(const struct export_pprof_location *l)
{
    return &l->frames[l->count - 1];
}

static bool same_location(const void *ctx, size_t number, const void *key)
{
    const struct export_pprof_tables *t = ctx;
    const struct export_pprof_location *a = &t->locations[number];
    const struct export_pprof_location *b = key;
    if (a->count != b->count || export_pprof_innermost(a)->address != export_pprof_innermost(b)->address ||
        a->frames[0].mapping != b->frames[0].mapping)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->frames[i].line != b->frames[i].line || !same_text(a->frames[i].name, b->frames[i].name) ||
            !same_text(a->frames[i].file, b->frames[i].file))
            return false;
    return true;
}

uint64_t export_pprof_string(struct export_pprof_tables *t, const char *text)
{
    bool fresh = false;
    char *clean = export_text_clean(text ? text : "");
    size_t number = EXPORT_INDEX_FULL;
    if (clean && export_grow((void **)&t->strings, &t->string_room, t->string_index.count, sizeof(char *)))
        number =
            export_index_number(&t->string_index, export_hash_text(EXPORT_HASH_START, clean), clean, &fresh);
    if (fresh)
        t->strings[number] = clean;
    else
        free(clean);
    t->failed = t->failed || number == EXPORT_INDEX_FULL;
    return number == EXPORT_INDEX_FULL ? 0 : number;
}

uint64_t export_pprof_function(struct export_pprof_tables *t, const struct export_frame *frame)
{
    bool fresh = false;
    const struct export_pprof_function f = {.name = export_pprof_string(t, *frame->name ? frame->name : "?"),
                                            .file = export_pprof_string(t, frame->file)};
    size_t number = EXPORT_INDEX_FULL;
    if (export_grow((void **)&t->functions, &t->function_room, t->function_index.count, sizeof(f)))
        number = export_index_number(
            &t->function_index, export_hash_number(export_hash_number(EXPORT_HASH_START, f.name), f.file), &f,
            &fresh);
    if (fresh)
        t->functions[number] = f;
    t->failed = t->failed || number == EXPORT_INDEX_FULL;
    return number == EXPORT_INDEX_FULL ? 0 : number + 1;
}

uint64_t export_pprof_location(struct export_pprof_tables *t, const struct export_pprof_location *l)
{
    bool fresh = false;
    uint64_t hash = export_hash_number(EXPORT_HASH_START, export_pprof_innermost(l)->address);
    hash = export_hash_number(hash, (uint64_t)l->frames[0].mapping);
    for (size_t i = 0; i < l->count; i++)
        hash = export_hash_number(export_hash_text(hash, l->frames[i].name), l->frames[i].line);
    size_t number = EXPORT_INDEX_FULL;
    if (export_grow((void **)&t->locations, &t->location_room, t->location_index.count, sizeof(*l)))
        number = export_index_number(&t->location_index, hash, l, &fresh);
    if (fresh)
        t->locations[number] = *l;
    t->failed = t->failed || number == EXPORT_INDEX_FULL;
    return number == EXPORT_INDEX_FULL ? 0 : number + 1;
}

void export_pprof_tables_init(struct export_pprof_tables *t)
{
    *t = (struct export_pprof_tables){.failed = false};
    t->string_index = (struct export_index){.same = same_string, .ctx = t};
    t->function_index = (struct export_index){.same = same_function, .ctx = t};
    t->location_index = (struct export_index){.same = same_location, .ctx = t};
}

void export_pprof_tables_free(struct export_pprof_tables *t)
{
    for (size_t i = 0; t->strings && i < t->string_index.count; i++)
        free(t->strings[i]);
    free(t->strings);
    free(t->functions);
    free(t->locations);
    export_index_free(&t->string_index);
    export_index_free(&t->function_index);
    export_index_free(&t->location_index);
}
