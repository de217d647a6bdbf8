/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a program of a set: which sequences count, defaults under them, each compiled; and answers what there
 * is. Cross-trigger sheet 4.1 (inheritance, Pname), 4.8; cases C24, C36.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sequence/sequence_compiler.h"

/* Codes by name and Pname. All numbers are indices + 1, 0 = none. */
struct sequence_index {
    size_t buckets; /* a power of two */
    uint32_t *exact, *exact_next;
    uint32_t *names, *names_next; /* the first code of each name */
    uint32_t *same;               /* the next code of the same name */
};

/* ---- what the parts share */

void *compiler_take(struct sequence_compiler *c, size_t size)
{
    void *piece = c->err ? NULL : sequence_arena_take(c->program->arena, size);
    if (!piece && !c->err)
        c->err = CORRAL_ERR_LIMIT;
    return piece;
}

void compiler_say(struct sequence_compiler *c, enum sequence_severity severity, struct sequence_place place,
                  unsigned width, const char *fmt, ...)
{
    char text[240];
    unsigned *said = severity == SEQUENCE_ERROR ? &c->said_errors : &c->said_warnings;
    if (severity == SEQUENCE_ERROR && c->code)
        c->code->own_errors = true;
    if (++*said > COMPILER_MAX_SAID)
        return;
    va_list args;
    va_start(args, fmt);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is on the line above */
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    sequence_problems_add(c->problems, severity, place, width, c->code ? c->code->info.name : "", "%s", text);
    if (severity == SEQUENCE_ERROR && *said == COMPILER_MAX_SAID)
        sequence_problems_add(c->problems, severity, place, width, c->code ? c->code->info.name : "",
                              "%d mistakes: the rest is not read", COMPILER_MAX_SAID);
}

bool compiler_stopped(const struct sequence_compiler *c)
{
    return c->err || c->said_errors >= COMPILER_MAX_SAID;
}

unsigned compiler_hash(const char *bytes, size_t size)
{
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)bytes[i]) * 16777619u;
    return hash ^ hash >> 15;
}

/* ---- the index */

static unsigned hash_both(const char *name, const char *pname)
{
    return compiler_hash(name, strlen(name)) + 31 * compiler_hash(pname, strlen(pname));
}

static bool index_new(struct sequence_compiler *c, size_t count)
{
    struct sequence_index *index = compiler_take(c, sizeof(*index));
    size_t buckets = 64;
    while (buckets < 2 * count)
        buckets *= 2;
    if (!index)
        return false;
    index->buckets = buckets;
    index->exact = compiler_take(c, buckets * sizeof(*index->exact));
    index->names = compiler_take(c, buckets * sizeof(*index->names));
    index->exact_next = compiler_take(c, count * sizeof(*index->exact_next));
    index->names_next = compiler_take(c, count * sizeof(*index->names_next));
    index->same = compiler_take(c, count * sizeof(*index->same));
    c->program->index = index;
    return !c->err;
}

/* Index + 1 of the one of exactly this name and Pname. */
static uint32_t find_exactly(const struct sequence_program *program, const char *name, const char *pname)
{
    const struct sequence_index *index = program->index;
    uint32_t at = index->exact[hash_both(name, pname) & (index->buckets - 1)];
    while (at && (strcmp(program->codes[at - 1]->info.name, name) != 0 ||
                  strcmp(program->codes[at - 1]->info.pname, pname) != 0))
        at = index->exact_next[at - 1];
    return at;
}

uint32_t compiler_first_named(const struct sequence_program *program, const char *name)
{
    const struct sequence_index *index = program->index;
    uint32_t at = index->names[compiler_hash(name, strlen(name)) & (index->buckets - 1)];
    while (at && strcmp(program->codes[at - 1]->info.name, name) != 0)
        at = index->names_next[at - 1];
    return at;
}

uint32_t compiler_next_named(const struct sequence_program *program, uint32_t at)
{
    return program->index->same[at - 1];
}

static void index_add(struct sequence_program *program, uint32_t at)
{
    struct sequence_index *index = program->index;
    const struct sequence_info *info = &program->codes[at - 1]->info;
    uint32_t first = compiler_first_named(program, info->name);
    uint32_t *exact = &index->exact[hash_both(info->name, info->pname) & (index->buckets - 1)];
    uint32_t *names = &index->names[compiler_hash(info->name, strlen(info->name)) & (index->buckets - 1)];
    index->exact_next[at - 1] = *exact;
    *exact = at;
    if (first) {
        index->same[at - 1] = index->same[first - 1];
        index->same[first - 1] = at;
    } else {
        index->names_next[at - 1] = *names;
        *names = at;
    }
}

/* ---- which count */

static const char *keep(struct sequence_compiler *c, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = compiler_take(c, size);
    return copy ? memcpy(copy, text, size) : "";
}

static void describe(struct sequence_compiler *c, struct sequence_code *code,
                     const struct store_sequence *from, bool is_default)
{
    code->level = from->level;
    code->info = (struct sequence_info){.name = keep(c, from->name),
                                        .pname = keep(c, from->pname),
                                        .info = keep(c, from->info),
                                        .place = from->place,
                                        .is_default = is_default,
                                        .disabled = from->disabled,
                                        .predefined = sequence_is_predefined(from->name)};
    if (is_default)
        code->info.place.file = SEQUENCE_FILE_DEFAULT;
}

static void select_one(struct sequence_compiler *c, const struct store_sequence *from, bool is_default)
{
    struct sequence_program *program = c->program;
    uint32_t at = find_exactly(program, from->name, from->pname);
    if (is_default && (at || find_exactly(program, from->name, "")))
        return; /* the file has its own */
    if (at) {
        struct sequence_code *other = program->codes[at - 1];
        if (from->level < other->level)
            return;
        if (from->level == other->level)
            sequence_problems_add(c->problems, SEQUENCE_WARNING, from->place, 1, from->name,
                                  "%s%s%s is defined again: this one counts, not that of line %u", from->name,
                                  from->pname[0] ? " for " : "", from->pname, other->info.place.line);
        describe(c, other, from, is_default);
        c->sources[at - 1] = from;
        return;
    }
    struct sequence_code *code = compiler_take(c, sizeof(*code));
    if (!code)
        return;
    describe(c, code, from, is_default);
    code->index = (unsigned)program->code_count;
    program->codes[program->code_count] = code;
    c->sources[program->code_count++] = from;
    index_add(program, (uint32_t)program->code_count);
}

static void select_all(struct sequence_compiler *c, const struct sequence_set *set,
                       const struct sequence_set *defaults)
{
    size_t most = set->sequence_count + defaults->sequence_count;
    c->program->codes = compiler_take(c, most * sizeof(*c->program->codes));
    c->sources = compiler_take(c, most * sizeof(*c->sources));
    if (c->err || !index_new(c, most))
        return;
    for (size_t i = 0; i < set->sequence_count && !c->err; i++)
        select_one(c, &set->sequences[i], false);
    for (size_t i = 0; i < defaults->sequence_count && !c->err; i++)
        select_one(c, &defaults->sequences[i], true);
}

/* ---- compiling */

static void compile_all(struct sequence_compiler *c)
{
    struct sequence_program *program = c->program;
    for (size_t i = 0; i < program->code_count && !c->err; i++) {
        c->code = program->codes[i];
        c->code_index = (unsigned)i;
        c->pname = c->code->info.pname;
        c->said_errors = c->said_warnings = c->said_once = 0;
        c->access_port_count = 0;
        c->unfinished = false;
        if (c->code->info.disabled)
            continue; /* its text never runs */
        compiler_code(c, c->sources[i]->first, c->code->info.is_default);
        compiler_check_names(c);
    }
    if (!c->err)
        compiler_check_circles(c);
    if (!c->err)
        compiler_check_near_names(c);
}

static enum corral_err compile_with(struct sequence_compiler *c, const struct sequence_set *set,
                                    const struct sequence_set *defaults)
{
    select_all(c, set, defaults);
    if (!c->err)
        compiler_values(c, set);
    if (!c->err)
        compile_all(c);
    return c->err;
}

static struct sequence_compiler *compiler_new(const struct sequence_set *set,
                                              const struct sequence_setting *setting,
                                              struct sequence_problems *problems)
{
    struct sequence_compiler *c = calloc(1, sizeof(*c));
    struct sequence_program *program = calloc(1, sizeof(*program));
    if (program)
        program->arena = sequence_arena_new(COMPILER_MAX_MEMORY);
    if (!c || !program || !program->arena) {
        free(c);
        sequence_program_free(program);
        return NULL;
    }
    program->set = set;
    program->has_access_ports = setting->has_access_ports;
    c->program = program;
    c->setting = setting;
    c->problems = problems;
    c->pname = "";
    return c;
}

struct sequence_program *sequence_compile(const struct sequence_set *set,
                                          const struct sequence_setting *setting,
                                          struct sequence_problems *problems, struct diag *d)
{
    struct sequence_set *defaults = sequence_set_new();
    struct sequence_compiler *c = defaults ? compiler_new(set, setting, problems) : NULL;
    struct sequence_program *program = c ? c->program : NULL;
    enum corral_err err = CORRAL_ERR_NO_MEMORY;
    if (c)
        err = sequence_add_defaults(defaults, setting, d);
    if (!err && (err = compile_with(c, set, defaults)) == CORRAL_ERR_LIMIT)
        diag_set(d, err, "the debug sequences are too large: compiled they take more than %u MB",
                 COMPILER_MAX_MEMORY / 1048576);
    if (err == CORRAL_ERR_NO_MEMORY)
        diag_set(d, err, "no memory to compile the debug sequences");
    if (c)
        free(c->calls);
    free(c);
    sequence_set_free(defaults);
    if (!err)
        return program;
    sequence_program_free(program);
    return NULL;
}

void sequence_program_free(struct sequence_program *program)
{
    if (!program)
        return;
    sequence_arena_free(program->arena);
    free(program);
}

/* ---- what there is */

const struct sequence_set *sequence_program_set(const struct sequence_program *program)
{
    return program->set;
}

size_t sequence_count(const struct sequence_program *program)
{
    return program->code_count;
}

bool sequence_get(const struct sequence_program *program, size_t i, struct sequence_info *info)
{
    if (i >= program->code_count)
        return false;
    *info = program->codes[i]->info;
    return true;
}

const struct sequence_code *sequence_code_find(const struct sequence_program *program, const char *name,
                                               const char *pname)
{
    uint32_t at = 0;
    if (pname && pname[0])
        at = find_exactly(program, name, pname);
    if (!at)
        at = find_exactly(program, name, "");
    return at ? program->codes[at - 1] : NULL;
}

bool sequence_find(const struct sequence_program *program, const char *name, const char *pname,
                   struct sequence_info *info)
{
    const struct sequence_code *code = sequence_code_find(program, name, pname);
    if (code)
        *info = code->info;
    return code != NULL;
}

bool sequence_is_defined(const struct sequence_program *program, const char *name, const char *pname)
{
    const struct sequence_code *code = sequence_code_find(program, name, pname);
    return code && !code->info.is_default;
}

unsigned sequence_value_slot(const struct sequence_program *program, unsigned slot, const char *pname)
{
    if (!pname || !pname[0] || strcmp(program->values[slot].pname, pname) == 0)
        return slot;
    for (unsigned at = program->values[slot].next; at; at = program->values[at - 1].next)
        if (strcmp(program->values[at - 1].pname, pname) == 0)
            return at - 1;
    return slot;
}

enum corral_err sequence_set_value(struct sequence_program *program, const char *name, uint64_t value,
                                   struct diag *d)
{
    bool known = false;
    for (size_t i = 0; i < program->value_count; i++) {
        if (strcmp(program->values[i].name, name) != 0)
            continue;
        program->values[i].value = value;
        known = true;
    }
    if (known)
        return CORRAL_OK;
    enum sequence_predefined variable = sequence_predefined_named(name, strlen(name));
    if (variable != VAR_COUNT && sequence_predefined_writable(variable))
        return diag_set(d, CORRAL_ERR_USAGE, "%s is set by the sequences themselves", name);
    if (variable == VAR_COUNT) {
        char safe[4 * SEQUENCE_NAME_MAX + 1];
        text_escape((const uint8_t *)name, strnlen(name, SEQUENCE_NAME_MAX), safe, sizeof(safe));
        return diag_set(d, CORRAL_ERR_USAGE, "there is no debug variable %s", safe);
    }
    program->forced[variable] = value;
    program->is_forced[variable] = true;
    return CORRAL_OK;
}
