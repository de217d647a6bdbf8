/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps what the readers of description files hand over: sequence_set.h. Copies everything and bounds
 * everything; must not look into the texts, which are the compiler's.
 */
#include "sequence/sequence_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sequence/sequence_store.h"
#include "sequence/sequence_tree.h"

#define MAX_FILES    256
#define MAX_ELEMENTS 262144  /* blocks and controls */
#define MAX_MARKS    4194304 /* of all texts together */
#define MAX_INFO     1024    /* bytes of an info text; the rest is left out */

struct sequence_set *sequence_set_new(void)
{
    return calloc(1, sizeof(struct sequence_set));
}

static void free_text(struct sequence_text *text)
{
    free((void *)text->bytes);
    free((void *)text->marks);
    *text = (struct sequence_text){0};
}

/* Depth is bounded by STORE_MAX_DEPTH, so the recursion is. */
static void free_elements(struct store_element *e)
{
    while (e) {
        struct store_element *next = e->next;
        free_elements(e->first);
        free_text(&e->text);
        free_text(&e->if_);
        free_text(&e->while_);
        free_text(&e->timeout);
        free(e);
        e = next;
    }
}

void sequence_set_free(struct sequence_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->file_count; i++) {
        free(set->files[i].name);
        free(set->files[i].own);
        free(set->files[i].lines);
    }
    for (size_t i = 0; i < set->sequence_count; i++) {
        free(set->sequences[i].info);
        free_elements(set->sequences[i].first);
    }
    for (size_t i = 0; i < set->variables_count; i++)
        free_text(&set->variables[i].text);
    for (size_t i = 0; i < set->configuration_count; i++)
        free_text(&set->configurations[i]);
    free(set->files);
    free(set->sequences);
    free(set->variables);
    free(set->configurations);
    free(set);
}

static enum corral_err out_of_memory(struct diag *d)
{
    return diag_set(d, CORRAL_ERR_NO_MEMORY, "no memory for the debug sequences");
}

/* Room for one more; the table as it is, or NULL. */
static void *make_room(void *table, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return table;
    size_t wanted = *room ? 2 * *room : 8;
    void *larger = realloc(table, wanted * size);
    if (larger)
        *room = wanted;
    return larger;
}

/* ---- files */

static bool find_lines(struct store_file *file)
{
    const char *const end = file->bytes + file->size, *at = file->bytes;
    size_t count = 1;
    while ((at = memchr(at, '\n', (size_t)(end - at)))) {
        at++;
        count++;
    }
    file->lines = malloc(count * sizeof(*file->lines));
    if (!file->lines)
        return false;
    file->lines[0] = 0;
    file->line_count = 1;
    for (at = file->bytes; (at = memchr(at, '\n', (size_t)(end - at)));)
        file->lines[file->line_count++] = (size_t)(++at - file->bytes);
    return true;
}

/* The name is shown in every message. */
static char *safe_copy(const char *text, size_t size)
{
    char *copy = malloc(TEXT_CLEAN_MAX(size));
    if (copy)
        text_escape((const uint8_t *)text, size, copy, TEXT_CLEAN_MAX(size));
    return copy;
}

/* `bytes` are the caller's, or with `copy` the set gets its own. */
static enum corral_err take_file(struct sequence_set *set, const char *name, const char *bytes, size_t size,
                                 bool copy, unsigned *file, struct diag *d)
{
    if (set->file_count >= MAX_FILES)
        return diag_set(d, CORRAL_ERR_LIMIT, "more than %d files with debug sequences", MAX_FILES);
    if (size > SEQUENCE_MAX_FILE - set->file_bytes)
        return diag_set(d, CORRAL_ERR_LIMIT, "the files with debug sequences have more than %d MB",
                        SEQUENCE_MAX_FILE / 1048576);
    struct store_file *files = make_room(set->files, &set->file_room, set->file_count, sizeof(*files));
    if (!files)
        return out_of_memory(d);
    set->files = files;
    struct store_file one = {.name = safe_copy(name, strlen(name))};
    if (bytes && copy && (one.own = malloc(size + 1))) {
        memcpy(one.own, bytes, size);
        one.own[size] = '\0';
    }
    if (!one.name || (bytes && copy && !one.own)) {
        free(one.name);
        free(one.own);
        return out_of_memory(d);
    }
    one.bytes = copy ? one.own : bytes;
    one.size = bytes ? size : 0;
    set->files[set->file_count++] = one;
    set->file_bytes += one.size;
    *file = (unsigned)set->file_count;
    return CORRAL_OK;
}

enum corral_err sequence_set_add_file(struct sequence_set *set, const char *name, const char *bytes,
                                      size_t size, unsigned *file, struct diag *d)
{
    return take_file(set, name, bytes, size, true, file, d);
}

enum corral_err sequence_set_lend_file(struct sequence_set *set, const char *name, const char *bytes,
                                       size_t size, unsigned *file, struct diag *d)
{
    return take_file(set, name, bytes, size, false, file, d);
}

const char *sequence_set_file_name(const struct sequence_set *set, unsigned file)
{
    if (file == SEQUENCE_FILE_DEFAULT)
        return "default";
    return file >= 1 && file <= set->file_count ? set->files[file - 1].name : "";
}

bool sequence_set_line(const struct sequence_set *set, unsigned file, unsigned line, const char **bytes,
                       size_t *size)
{
    if (file < 1 || file > set->file_count || line < 1)
        return false;
    struct store_file *f = &set->files[file - 1];
    if (!f->bytes || (!f->lines && !find_lines(f)) || line > f->line_count)
        return false;
    size_t begin = f->lines[line - 1];
    size_t end = line < f->line_count ? f->lines[line] - 1 : f->size;
    if (end > begin && f->bytes[end - 1] == '\r')
        end--;
    *bytes = f->bytes + begin;
    *size = end - begin;
    return true;
}

/* ---- texts */

static enum corral_err copy_text(struct sequence_set *set, struct sequence_text *to,
                                 const struct sequence_text *from, struct diag *d)
{
    *to = (struct sequence_text){.size = from->size, .file = from->file, .mark_count = from->mark_count};
    if (from->size > SEQUENCE_MAX_TEXT - set->text_bytes)
        return diag_set(d, CORRAL_ERR_LIMIT, "the debug sequences have more than %d MB of text",
                        SEQUENCE_MAX_TEXT / 1048576);
    if (from->mark_count > MAX_MARKS - set->mark_count)
        return diag_set(d, CORRAL_ERR_LIMIT, "the debug sequences have more than %d pieces of text",
                        MAX_MARKS);
    char *bytes = malloc(from->size + 1);
    struct sequence_mark *marks = NULL;
    if (from->mark_count)
        marks = malloc(from->mark_count * sizeof(*marks));
    if (!bytes || (from->mark_count && !marks)) {
        free(bytes);
        free(marks);
        return out_of_memory(d);
    }
    if (from->size)
        memcpy(bytes, from->bytes, from->size);
    bytes[from->size] = '\0';
    if (marks)
        memcpy(marks, from->marks, from->mark_count * sizeof(*marks));
    to->bytes = bytes;
    to->marks = marks;
    set->text_bytes += from->size;
    set->mark_count += from->mark_count;
    return CORRAL_OK;
}

/* ---- sequences */

/* A name of a sequence or processor: shown, compared, written between quotes in a call. */
static enum corral_err copy_name(char to[SEQUENCE_NAME_MAX], const char *from, const char *what,
                                 struct diag *d)
{
    char safe[TEXT_CLEAN_MAX(SEQUENCE_NAME_MAX)];
    if (!from)
        from = "";
    size_t size = strnlen(from, SEQUENCE_NAME_MAX);
    text_escape((const uint8_t *)from, size, safe, sizeof(safe));
    if (size >= SEQUENCE_NAME_MAX)
        return diag_set(d, CORRAL_ERR_LIMIT, "the name %.60s... of a %s has more than %d characters", safe,
                        what, SEQUENCE_NAME_MAX - 1);
    if (strcmp(safe, from) != 0)
        return diag_set(d, CORRAL_ERR_FORMAT, "%.200s cannot be the name of a %s", safe, what);
    memcpy(to, from, size + 1);
    return CORRAL_OK;
}

static enum corral_err not_open(struct diag *d)
{
    return diag_set(d, CORRAL_ERR_USAGE, "a block or control outside a sequence");
}

enum corral_err sequence_set_begin(struct sequence_set *set, const struct sequence_head *head, struct diag *d)
{
    struct store_sequence one = {.disabled = head->disabled, .level = head->level, .place = head->place};
    if (set->open)
        return diag_set(d, CORRAL_ERR_USAGE, "a sequence within a sequence");
    if (set->sequence_count >= SEQUENCE_MAX_COUNT)
        return diag_set(d, CORRAL_ERR_LIMIT, "more than %d debug sequences", SEQUENCE_MAX_COUNT);
    enum corral_err err = copy_name(one.name, head->name, "sequence", d);
    if (!err && !one.name[0])
        err = diag_set(d, CORRAL_ERR_FORMAT, "a debug sequence without a name");
    if (!err)
        err = copy_name(one.pname, head->pname, "processor", d);
    if (err)
        return err;
    struct store_sequence *list =
        make_room(set->sequences, &set->sequence_room, set->sequence_count, sizeof(*list));
    if (!list)
        return out_of_memory(d);
    set->sequences = list;
    const char *info = head->info ? head->info : "";
    one.info = safe_copy(info, strnlen(info, MAX_INFO));
    if (!one.info)
        return out_of_memory(d);
    struct store_sequence *kept = &set->sequences[set->sequence_count++];
    *kept = one;
    set->open = true;
    set->depth = 0;
    set->parent[0] = NULL;
    set->tail[0] = NULL;
    return CORRAL_OK;
}

enum corral_err sequence_set_end(struct sequence_set *set, struct diag *d)
{
    if (!set->open)
        return diag_set(d, CORRAL_ERR_USAGE, "the end of a sequence that has not begun");
    if (set->depth)
        return diag_set(d, CORRAL_ERR_USAGE, "the end of a sequence within a control");
    set->open = false;
    return CORRAL_OK;
}

/* A new element at the end of what is open. The table of sequences may move, elements do not: the first
 * one's place is looked up anew. */
static enum corral_err append(struct sequence_set *set, struct store_element **out, struct diag *d)
{
    if (!set->open)
        return not_open(d);
    if (set->element_count >= MAX_ELEMENTS)
        return diag_set(d, CORRAL_ERR_LIMIT, "more than %d blocks and controls in debug sequences",
                        MAX_ELEMENTS);
    struct store_element *e = calloc(1, sizeof(*e));
    if (!e)
        return out_of_memory(d);
    struct store_element *parent = set->parent[set->depth];
    if (set->tail[set->depth])
        *set->tail[set->depth] = e;
    else if (parent)
        parent->first = e;
    else
        set->sequences[set->sequence_count - 1].first = e;
    set->tail[set->depth] = &e->next;
    set->element_count++;
    *out = e;
    return CORRAL_OK;
}

enum corral_err sequence_set_block(struct sequence_set *set, const struct sequence_text *text, bool atomic,
                                   struct sequence_place place, struct diag *d)
{
    struct store_element *e = NULL;
    enum corral_err err = append(set, &e, d);
    if (err || !e)
        return err;
    e->kind = STORE_BLOCK;
    e->place = place;
    e->atomic = atomic;
    return copy_text(set, &e->text, text, d);
}

static enum corral_err copy_attribute(struct sequence_set *set, bool *has, struct sequence_text *to,
                                      const struct sequence_text *from, struct diag *d)
{
    *has = from != NULL;
    return from ? copy_text(set, to, from, d) : CORRAL_OK;
}

enum corral_err sequence_set_begin_control(struct sequence_set *set, const struct sequence_control *control,
                                           struct diag *d)
{
    struct store_element *e = NULL;
    if (set->open && set->depth >= STORE_MAX_DEPTH)
        return diag_set(d, CORRAL_ERR_LIMIT, "controls of a debug sequence nested more than %d deep",
                        SEQUENCE_MAX_DEPTH);
    enum corral_err err = append(set, &e, d);
    if (err || !e)
        return err;
    e->kind = STORE_CONTROL;
    e->place = control->place;
    err = copy_attribute(set, &e->has_if, &e->if_, control->if_, d);
    if (!err)
        err = copy_attribute(set, &e->has_while, &e->while_, control->while_, d);
    if (!err)
        err = copy_attribute(set, &e->has_timeout, &e->timeout, control->timeout, d);
    if (err)
        return err;
    set->depth++;
    set->parent[set->depth] = e;
    set->tail[set->depth] = NULL;
    return CORRAL_OK;
}

enum corral_err sequence_set_end_control(struct sequence_set *set, struct diag *d)
{
    if (!set->open || !set->depth)
        return diag_set(d, CORRAL_ERR_USAGE, "the end of a control that has not begun");
    set->depth--;
    return CORRAL_OK;
}

/* ---- variables */

enum corral_err sequence_set_variables(struct sequence_set *set, const struct sequence_text *text,
                                       const char *pname, unsigned level, struct diag *d)
{
    if (set->variables_count >= SEQUENCE_MAX_COUNT)
        return diag_set(d, CORRAL_ERR_LIMIT, "more than %d texts of debug variables", SEQUENCE_MAX_COUNT);
    struct store_variables *list =
        make_room(set->variables, &set->variables_room, set->variables_count, sizeof(*list));
    if (!list)
        return out_of_memory(d);
    set->variables = list;
    struct store_variables one = {.level = level};
    enum corral_err err = copy_name(one.pname, pname, "processor", d);
    if (!err)
        err = copy_text(set, &one.text, text, d);
    if (err)
        return err;
    set->variables[set->variables_count++] = one;
    return CORRAL_OK;
}

enum corral_err sequence_set_configuration(struct sequence_set *set, const struct sequence_text *text,
                                           struct diag *d)
{
    if (set->configuration_count >= MAX_FILES)
        return diag_set(d, CORRAL_ERR_LIMIT, "more than %d .dbgconf texts", MAX_FILES);
    struct sequence_text *list =
        make_room(set->configurations, &set->configuration_room, set->configuration_count, sizeof(*list));
    if (!list)
        return out_of_memory(d);
    set->configurations = list;
    struct sequence_text one;
    enum corral_err err = copy_text(set, &one, text, d);
    if (err)
        return err;
    set->configurations[set->configuration_count++] = one;
    return CORRAL_OK;
}
