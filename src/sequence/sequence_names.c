/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a name stands for: a variable of the sequence, a debugvar, a predefined one. Scopes are opened by a
 * sequence and by each control, not by a block (cross-trigger sheet 4.3; cases C11 to C18, C35).
 */
#include <string.h>

#include "sequence/sequence_compiler.h"

#define MAX_DEAD 4096 /* ended names that are still known, so that a use of one can be told why it fails */

void compiler_scope_reset(struct sequence_compiler *c)
{
    memset(c->locals, 0, sizeof(c->locals));
    c->live_count = 0;
    c->dead_count = 0;
}

unsigned compiler_scope_open(const struct sequence_compiler *c)
{
    return c->live_count;
}

/* Take a local out of its bucket. */
static void forget(struct sequence_compiler *c, struct compiler_local *local)
{
    struct compiler_local **at = &c->locals[local->hash % COMPILER_BUCKETS];
    while (*at && *at != local)
        at = &(*at)->next;
    if (*at)
        *at = local->next;
}

void compiler_scope_close(struct sequence_compiler *c, unsigned opened)
{
    while (c->live_count > opened) {
        struct compiler_local *local = c->live[--c->live_count];
        local->live = false;
        if (c->dead_count < MAX_DEAD)
            c->dead_count++;
        else
            forget(c, local);
    }
}

static struct compiler_local *find_local(const struct sequence_compiler *c, const struct sequence_token *name,
                                         bool live)
{
    unsigned hash = compiler_hash(name->bytes, name->size);
    struct compiler_local *local = c->locals[hash % COMPILER_BUCKETS];
    while (local && (local->hash != hash || local->size != name->size || local->live != live ||
                     memcmp(local->name, name->bytes, name->size) != 0))
        local = local->next;
    return local;
}

static bool may_declare(struct sequence_compiler *c, const struct sequence_token *name)
{
    int size = (int)name->size;
    const struct compiler_local *other = find_local(c, name, true);
    unsigned slot;
    if (other)
        compiler_say(c, SEQUENCE_ERROR, name->place, name->width,
                     "%.*s is declared already, on line %u: expected another name, or an assignment", size,
                     name->bytes, other->place.line);
    else if (sequence_predefined_named(name->bytes, name->size) != VAR_COUNT)
        compiler_say(c, SEQUENCE_ERROR, name->place, name->width,
                     "%.*s is a predefined variable: expected another name", size, name->bytes);
    else if (c->live_count >= SEQUENCE_MAX_SLOTS)
        compiler_say(c, SEQUENCE_ERROR, name->place, name->width, "more than %d variables in a sequence",
                     SEQUENCE_MAX_SLOTS);
    else if (size > 2 && name->bytes[0] == '_' && name->bytes[1] == '_')
        compiler_say(c, SEQUENCE_WARNING, name->place, name->width,
                     "%.*s: names that begin with __ are kept for predefined variables", size, name->bytes);
    else if (compiler_value_find(c, name->bytes, name->size, c->pname, &slot))
        compiler_say(c, SEQUENCE_WARNING, name->place, name->width,
                     "%.*s hides the debug variable of the same name", size, name->bytes);
    return !other && sequence_predefined_named(name->bytes, name->size) == VAR_COUNT &&
           c->live_count < SEQUENCE_MAX_SLOTS;
}

bool compiler_declare(struct sequence_compiler *c, const struct sequence_token *name, unsigned *slot)
{
    if (!may_declare(c, name))
        return false;
    struct compiler_local *local = compiler_take(c, sizeof(*local));
    if (!local)
        return false;
    local->name = name->bytes;
    local->size = (unsigned)name->size;
    local->hash = compiler_hash(name->bytes, name->size);
    local->place = name->place;
    local->live = true;
    local->slot = c->live_count;
    local->next = c->locals[local->hash % COMPILER_BUCKETS];
    c->locals[local->hash % COMPILER_BUCKETS] = local;
    c->live[c->live_count++] = local;
    if (c->live_count > c->code->slots)
        c->code->slots = c->live_count;
    *slot = local->slot;
    return true;
}

static void say_undeclared(struct sequence_compiler *c, const struct sequence_token *name, bool assigned)
{
    int size = (int)name->size;
    const struct compiler_local *ended = c->values_only ? NULL : find_local(c, name, false);
    if (ended) {
        compiler_say(c, SEQUENCE_ERROR, name->place, name->width,
                     "%.*s is not declared here: the control in which line %u declares it has ended", size,
                     name->bytes, ended->place.line);
    } else if (assigned) {
        compiler_say(c, SEQUENCE_ERROR, name->place, name->width,
                     "%.*s is not declared: expected '__var %.*s = ...;' before it is assigned to", size,
                     name->bytes, size, name->bytes);
    } else if (c->in_condition) {
        /* Shipped descriptions have such conditions in sequences that nobody runs. */
        compiler_say(c, SEQUENCE_WARNING, name->place, name->width,
                     "%.*s is not declared: the sequence is refused when it is to be run", size, name->bytes);
        c->code->own_errors = true;
        c->unfinished = true;
    } else {
        compiler_say(c, SEQUENCE_ERROR, name->place, name->width, "%.*s is not declared: expected %s", size,
                     name->bytes,
                     c->values_only ? "a debug variable from above" : "a variable that a '__var' declares");
    }
}

/* Case C35 is decided when all of the sequence is known. */
static void note_access_port(struct sequence_compiler *c, enum sequence_predefined variable,
                             const struct sequence_node *node)
{
    bool wrong = (variable == VAR_AP && c->setting->has_access_ports) ||
                 (variable == VAR_APID && !c->setting->has_access_ports);
    if (wrong && c->access_port_count < COMPILER_MAX_SAID)
        c->access_port[c->access_port_count++] = (struct compiler_note){node->place, node->width};
}

static void predefined(struct sequence_compiler *c, const struct sequence_token *name, bool assigned,
                       enum sequence_predefined variable, struct sequence_node *node)
{
    node->kind = NODE_PREDEFINED;
    node->slot = variable;
    note_access_port(c, variable, node);
    if (assigned && !sequence_predefined_writable(variable))
        compiler_say(c, SEQUENCE_ERROR, name->place, name->width,
                     "%.*s cannot be assigned to: the debugger gives its value", (int)name->size,
                     name->bytes);
}

struct sequence_node *compiler_name(struct sequence_compiler *c, const struct sequence_token *name,
                                    bool assigned)
{
    struct sequence_node *node = compiler_node(c, NODE_NUMBER, name->place, name->width);
    const struct compiler_local *local = c->values_only ? NULL : find_local(c, name, true);
    enum sequence_predefined variable = sequence_predefined_named(name->bytes, name->size);
    unsigned slot;
    if (!node)
        return NULL;
    if (local) {
        node->kind = NODE_LOCAL;
        node->slot = local->slot;
    } else if (variable != VAR_COUNT && !c->values_only) {
        predefined(c, name, assigned, variable, node);
    } else if (compiler_value_find(c, name->bytes, name->size, c->pname, &slot)) {
        node->kind = NODE_DEBUGVAR;
        node->slot = slot;
        if (c->code && c->program->values[sequence_value_slot(c->program, slot, c->pname)].wrong)
            c->code->own_errors = true;
        if (assigned)
            compiler_say(c, SEQUENCE_ERROR, name->place, name->width,
                         "%.*s cannot be assigned to: it is a debug variable, whose value is fixed",
                         (int)name->size, name->bytes);
    } else {
        say_undeclared(c, name, assigned);
    }
    return node;
}
