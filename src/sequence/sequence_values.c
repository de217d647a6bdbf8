/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug variables: their declarations at each level, a .dbgconf over them, and what is constant
 * (cross-trigger sheet 4.1; case C45). A .dbgconf may only give declared ones another number.
 */
#include <stdio.h>
#include <string.h>

#include "sequence/sequence_compiler.h"

#define VALUE_BUCKETS 512

/* ---- constants */

bool sequence_operate(enum sequence_op op, uint64_t a, uint64_t b, uint64_t *value)
{
    switch (op) {
    case OP_ADD:
        *value = a + b;
        return true;
    case OP_SUB:
        *value = a - b;
        return true;
    case OP_MUL:
        *value = a * b;
        return true;
    case OP_DIV:
        *value = b ? a / b : 0;
        return b != 0;
    case OP_MOD:
        *value = b ? a % b : 0;
        return b != 0;
    case OP_AND:
        *value = a & b;
        return true;
    case OP_OR:
        *value = a | b;
        return true;
    case OP_XOR:
        *value = a ^ b;
        return true;
    case OP_SHL:
        *value = b < 64 ? a << b : 0;
        return true;
    case OP_SHR:
        *value = b < 64 ? a >> b : 0;
        return true;
    case OP_EQ:
        *value = a == b;
        return true;
    case OP_NE:
        *value = a != b;
        return true;
    case OP_LT:
        *value = a < b;
        return true;
    case OP_GT:
        *value = a > b;
        return true;
    case OP_LE:
        *value = a <= b;
        return true;
    case OP_GE:
        *value = a >= b;
        return true;
    case OP_LAND:
        *value = a && b;
        return true;
    case OP_LOR:
        *value = a || b;
        return true;
    case OP_NOT:
        *value = !a;
        return true;
    case OP_INVERT:
        *value = ~a;
        return true;
    case OP_NEGATE:
        *value = 0 - a;
        return true;
    case OP_PLUS:
        *value = a;
        return true;
    case OP_NONE:
        break;
    }
    *value = 0;
    return false;
}

bool compiler_constant(const struct sequence_compiler *c, const struct sequence_node *node, uint64_t *value,
                       bool *by_zero)
{
    uint64_t a = 0, b = 0;
    const struct sequence_program *program = c->program;
    *by_zero = false;
    *value = 0;
    switch (node->kind) {
    case NODE_NUMBER:
        *value = node->number;
        return true;
    case NODE_DEBUGVAR:
        *value = program->values[sequence_value_slot(program, node->slot, c->pname)].value;
        return true;
    case NODE_UNARY:
        return compiler_constant(c, node->a, &a, by_zero) && sequence_operate(node->op, a, 0, value);
    case NODE_BINARY:
        if (!compiler_constant(c, node->a, &a, by_zero))
            return false;
        if ((node->op == OP_LAND && !a) || (node->op == OP_LOR && a)) {
            *value = a != 0;
            return true;
        }
        if (!compiler_constant(c, node->b, &b, by_zero))
            return false;
        *by_zero = !sequence_operate(node->op, a, b, value);
        return !*by_zero;
    case NODE_TERNARY:
        return compiler_constant(c, node->a, &a, by_zero) &&
               compiler_constant(c, a ? node->b : node->c, value, by_zero);
    default:
        return false;
    }
}

/* ---- the table */

/* The one of exactly this processor. */
static bool find_exactly(const struct sequence_compiler *c, const char *name, size_t size, const char *pname,
                         unsigned *slot)
{
    if (!c->value_heads)
        return false;
    unsigned at = c->value_heads[compiler_hash(name, size) % VALUE_BUCKETS];
    for (; at; at = c->value_chain[at - 1]) {
        const struct sequence_value *value = &c->program->values[at - 1];
        if (strncmp(value->name, name, size) != 0 || value->name[size] != '\0')
            continue;
        if (!pname || strcmp(value->pname, pname) == 0) {
            *slot = at - 1;
            return true;
        }
    }
    return false;
}

bool compiler_value_find(const struct sequence_compiler *c, const char *name, size_t size, const char *pname,
                         unsigned *slot)
{
    unsigned own;
    /* While they are declared, the processor's own ones are not yet linked to those for all. */
    if (c->values_only && pname[0] && find_exactly(c, name, size, pname, slot))
        return true;
    if (find_exactly(c, name, size, "", slot))
        return true;
    if (pname[0]) {
        if (!find_exactly(c, name, size, pname, slot))
            return false;
    } else if (!find_exactly(c, name, size, NULL, slot)) {
        return false;
    }
    /* The first of its name stands for all of them. */
    for (own = 0; own < *slot; own++)
        if (strcmp(c->program->values[own].name, c->program->values[*slot].name) == 0)
            *slot = own;
    return true;
}

struct declaring {
    const struct store_variables *from;
    unsigned *levels; /* of each value */
    size_t room;      /* of the tables */
};

/* Twice as much: the old tables stay behind in the arena. */
static bool make_room(struct sequence_compiler *c, struct declaring *d)
{
    struct sequence_program *program = c->program;
    size_t room = d->room ? 2 * d->room : 16;
    struct sequence_value *values = compiler_take(c, room * sizeof(*values));
    unsigned *chain = compiler_take(c, room * sizeof(*chain));
    unsigned *levels = compiler_take(c, room * sizeof(*levels));
    if (c->err)
        return false;
    if (d->room) {
        memcpy(values, program->values, d->room * sizeof(*values));
        memcpy(chain, c->value_chain, d->room * sizeof(*chain));
        memcpy(levels, d->levels, d->room * sizeof(*levels));
    }
    program->values = values;
    c->value_chain = chain;
    d->levels = levels;
    d->room = room;
    return true;
}

static bool add_value(struct sequence_compiler *c, const struct sequence_token *name, struct declaring *d,
                      unsigned *slot)
{
    struct sequence_program *program = c->program;
    if (program->value_count >= SEQUENCE_MAX_VALUES) {
        compiler_say(c, SEQUENCE_ERROR, name->place, name->width, "more than %d debug variables",
                     SEQUENCE_MAX_VALUES);
        return false;
    }
    if (program->value_count == d->room && !make_room(c, d))
        return false;
    *slot = (unsigned)program->value_count++;
    struct sequence_value *value = &program->values[*slot];
    memcpy(value->name, name->bytes, name->size);
    snprintf(value->pname, sizeof(value->pname), "%s", d->from->pname);
    unsigned *head = &c->value_heads[compiler_hash(name->bytes, name->size) % VALUE_BUCKETS];
    c->value_chain[*slot] = *head;
    *head = *slot + 1;
    return true;
}

static void declare(struct sequence_compiler *c, const struct sequence_token *name,
                    const struct sequence_node *expression, bool wrong, void *ctx)
{
    struct declaring *d = ctx;
    uint64_t number = 0;
    bool by_zero = false;
    unsigned slot;
    if (expression && !compiler_constant(c, expression, &number, &by_zero)) {
        wrong = true;
        compiler_say(c, SEQUENCE_ERROR, expression->place, expression->width,
                     by_zero ? "this is divided by 0" : "expected a constant expression");
    }
    if (sequence_predefined_named(name->bytes, name->size) != VAR_COUNT) {
        compiler_say(c, SEQUENCE_ERROR, name->place, name->width,
                     "%.*s is a predefined variable: expected another name", (int)name->size, name->bytes);
        return;
    }
    if (name->size > 2 && memcmp(name->bytes, "__", 2) == 0)
        compiler_say(c, SEQUENCE_WARNING, name->place, name->width,
                     "%.*s: names that begin with __ are kept for predefined variables", (int)name->size,
                     name->bytes);
    if (find_exactly(c, name->bytes, name->size, d->from->pname, &slot)) {
        if (d->levels[slot] == d->from->level)
            compiler_say(c, SEQUENCE_WARNING, name->place, name->width,
                         "%.*s is declared again: this one counts, not that of line %u", (int)name->size,
                         name->bytes, c->program->values[slot].place.line);
    } else if (!add_value(c, name, d, &slot)) {
        return;
    }
    d->levels[slot] = d->from->level;
    c->program->values[slot].value = number;
    c->program->values[slot].wrong = wrong;
    c->program->values[slot].place = name->place;
}

/* ---- .dbgconf */

static void skip_assignment(struct sequence_lexer *l, struct sequence_token *t)
{
    while (t->kind != TOKEN_SEMICOLON && t->kind != TOKEN_END)
        sequence_lexer_next(l, t);
}

static void say_not_number(struct sequence_compiler *c, const struct sequence_lexer *l,
                           const struct sequence_token *name, const struct sequence_token *t)
{
    int size = (int)name->size;
    if (t->kind == TOKEN_BAD)
        compiler_say(c, SEQUENCE_ERROR, t->place, t->width, "%s", l->problem);
    else
        compiler_say(c, SEQUENCE_ERROR, t->place, t->width,
                     "%.*s is given no number: expected one alone, and ';' behind it", size, name->bytes);
}

/* All of that name, of whatever processor. */
static void configure(struct sequence_compiler *c, const struct sequence_token *name, uint64_t number,
                      bool wrong)
{
    unsigned known = 0;
    for (unsigned at = c->value_heads[compiler_hash(name->bytes, name->size) % VALUE_BUCKETS]; at;
         at = c->value_chain[at - 1]) {
        struct sequence_value *value = &c->program->values[at - 1];
        if (strncmp(value->name, name->bytes, name->size) != 0 || value->name[name->size] != '\0')
            continue;
        if (!wrong)
            value->value = number;
        value->wrong = wrong;
        known++;
    }
    if (!known)
        compiler_say(c, SEQUENCE_WARNING, name->place, name->width,
                     "%.*s is no debug variable of this device: the setting is ignored", (int)name->size,
                     name->bytes);
}

/* NAME = NUMBER, with `name` taken. False: said, and the rest up to ';' is to be left out. */
static bool read_assignment(struct sequence_compiler *c, struct sequence_lexer *l,
                            const struct sequence_token *name, struct sequence_token *t)
{
    sequence_lexer_next(l, t);
    if (t->kind != TOKEN_ASSIGN || t->op != OP_NONE) {
        compiler_say(c, SEQUENCE_ERROR, t->place, t->width, "expected '=' behind %.*s", (int)name->size,
                     name->bytes);
        return false;
    }
    sequence_lexer_next(l, t);
    struct sequence_token number = *t;
    if (number.kind != TOKEN_NUMBER) {
        say_not_number(c, l, name, t);
        configure(c, name, 0, true);
        return false;
    }
    sequence_lexer_next(l, t);
    bool next_line = t->place.line > number.place.line && (t->kind == TOKEN_NAME || t->kind == TOKEN_VAR);
    if (t->kind != TOKEN_SEMICOLON && t->kind != TOKEN_END && !next_line) {
        say_not_number(c, l, name, t);
        configure(c, name, 0, true);
        return false;
    }
    if (t->kind != TOKEN_SEMICOLON)
        compiler_say(c, SEQUENCE_WARNING, number.place, number.width,
                     "expected ';' behind the value of %.*s: it is taken", (int)name->size, name->bytes);
    configure(c, name, number.value, false);
    return true;
}

static void read_configuration(struct sequence_compiler *c, const struct sequence_text *text)
{
    struct sequence_lexer lexer;
    struct sequence_token t;
    sequence_lexer_begin(&lexer, text, text->file, (struct sequence_place){.file = text->file});
    lexer.block_comments = true;
    sequence_lexer_next(&lexer, &t);
    while (t.kind != TOKEN_END && !compiler_stopped(c)) {
        if (t.kind == TOKEN_SEMICOLON) {
            sequence_lexer_next(&lexer, &t);
            continue;
        }
        if (t.kind == TOKEN_VAR) {
            compiler_say(c, SEQUENCE_WARNING, t.place, t.width,
                         "'__var' declares nothing here: expected an assignment alone");
            sequence_lexer_next(&lexer, &t);
        }
        struct sequence_token name = t;
        if (name.kind == TOKEN_BAD)
            compiler_say(c, SEQUENCE_ERROR, t.place, t.width, "%s", lexer.problem);
        else if (name.kind != TOKEN_NAME)
            compiler_say(c, SEQUENCE_ERROR, t.place, t.width, "expected the name of a debug variable");
        if (name.kind != TOKEN_NAME || !read_assignment(c, &lexer, &name, &t))
            skip_assignment(&lexer, &t);
    }
}

/* ---- all of it */

static unsigned next_level(const struct sequence_set *set, unsigned above, bool *found)
{
    unsigned level = 0;
    *found = false;
    for (size_t i = 0; i < set->variables_count; i++) {
        unsigned at = set->variables[i].level;
        if (at >= above && (!*found || at < level)) {
            level = at;
            *found = true;
        }
    }
    return level;
}

/* Link those of one name behind the first, or the one for all processors. */
static void link_names(struct sequence_compiler *c)
{
    struct sequence_value *values = c->program->values;
    for (unsigned i = 0; i < c->program->value_count; i++) {
        unsigned base;
        if (!compiler_value_find(c, values[i].name, strlen(values[i].name), values[i].pname, &base) ||
            base == i)
            continue;
        values[i].next = values[base].next;
        values[base].next = i + 1;
    }
}

enum corral_err compiler_values(struct sequence_compiler *c, const struct sequence_set *set)
{
    struct declaring d = {0};
    c->value_heads = compiler_take(c, VALUE_BUCKETS * sizeof(*c->value_heads));
    if (c->err)
        return c->err;
    bool found = true;
    for (unsigned level = next_level(set, 0, &found); found; level = next_level(set, level + 1, &found)) {
        for (size_t i = 0; i < set->variables_count && !c->err; i++) {
            d.from = &set->variables[i];
            if (d.from->level != level)
                continue;
            c->pname = d.from->pname;
            c->values_only = true;
            c->said_errors = c->said_warnings = c->said_once = 0;
            compiler_declarations(c, &d.from->text, declare, &d);
        }
        if (level == UINT32_MAX)
            break;
    }
    c->values_only = false;
    link_names(c);
    for (size_t i = 0; i < set->configuration_count && !c->err; i++) {
        c->said_errors = c->said_warnings = c->said_once = 0;
        read_configuration(c, &set->configurations[i]);
    }
    return c->err;
}
