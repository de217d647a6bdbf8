/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a block may not do whose accesses are one batch: ask, call sequences, or use a value that it has read
 * itself, since that is known only when all of it is done (cross-trigger sheet 4.5; case C28).
 *
 * A read's value may be left alone or be assigned, plainly, to variables of the sequence. Walks are as deep
 * as expressions are high, which the parser bounds.
 */
#include "sequence/sequence_compiler.h"

void compiler_atomic_begin(struct sequence_compiler *c)
{
    if (!c->read_stamp)
        c->read_stamp = compiler_take(c, SEQUENCE_MAX_SLOTS * sizeof(*c->read_stamp));
    c->block++;
}

static bool is_read(const struct sequence_node *node)
{
    return node->kind == NODE_CALL && node->function->reads_target;
}

/* Is the value of `node`, as it stands, one that the block reads: a read, or an assignment of one? */
static bool is_read_value(const struct sequence_node *node)
{
    while (node->kind == NODE_ASSIGN && node->op == OP_NONE)
        node = node->b;
    return is_read(node);
}

static void check_call(struct sequence_compiler *c, const struct sequence_node *call)
{
    enum sequence_function_id id = call->function->id;
    if (id == FN_SEQUENCE || id == FN_QUERY || id == FN_QUERY_VALUE)
        compiler_say(c, SEQUENCE_ERROR, call->place, call->width, "%s cannot be called in an atomic block",
                     call->function->name);
    else if (id == FN_MESSAGE)
        compiler_say(c, SEQUENCE_WARNING, call->place, call->width,
                     "a Message in an atomic block comes before the block's accesses");
}

static void check_value(struct sequence_compiler *c, const struct sequence_node *node);

/* `node` is used: its value may not come from the target. */
static void check_used(struct sequence_compiler *c, const struct sequence_node *node)
{
    if (!node)
        return;
    if (is_read(node))
        compiler_say(c, SEQUENCE_ERROR, node->place, node->width,
                     "what %s reads is not known within its atomic block: expected it to be assigned alone",
                     node->function->name);
    else if (node->kind == NODE_ASSIGN && is_read_value(node))
        compiler_say(c, SEQUENCE_ERROR, node->place, node->width,
                     "a value that an atomic block reads cannot be used in it");
    check_value(c, node);
}

static void check_assignment(struct sequence_compiler *c, const struct sequence_node *node)
{
    bool reads = node->op == OP_NONE && is_read_value(node->b);
    const struct sequence_node *target = node->a;
    if (node->op != OP_NONE) {
        check_used(c, target);
        check_used(c, node->b);
    } else {
        check_value(c, node->b);
    }
    if (target->kind == NODE_LOCAL)
        c->read_stamp[target->slot] = reads ? c->block : 0;
    else if (reads && target->kind == NODE_PREDEFINED && target->slot != VAR_RESULT)
        compiler_say(c, SEQUENCE_ERROR, node->place, node->width,
                     "a predefined variable cannot have what the same atomic block reads");
}

/* What is within `node`, whose own value may be anything. */
static void check_value(struct sequence_compiler *c, const struct sequence_node *node)
{
    switch (node->kind) {
    case NODE_LOCAL:
        if (c->read_stamp[node->slot] == c->block)
            compiler_say(c, SEQUENCE_ERROR, node->place, node->width,
                         "this variable holds what the same atomic block reads: its value is not known yet");
        break;
    case NODE_ASSIGN:
        check_assignment(c, node);
        break;
    case NODE_CALL:
        check_call(c, node);
        for (const struct sequence_node *a = node->a; a; a = a->next)
            check_used(c, a);
        break;
    case NODE_UNARY:
    case NODE_BINARY:
    case NODE_TERNARY:
        check_used(c, node->a);
        check_used(c, node->b);
        check_used(c, node->c);
        break;
    default:
        break;
    }
}

void compiler_atomic_statement(struct sequence_compiler *c, const struct sequence_statement *statement)
{
    if (!c->read_stamp)
        return;
    if (statement->expression)
        check_value(c, statement->expression);
    if (statement->declares)
        c->read_stamp[statement->slot] =
            statement->expression && is_read_value(statement->expression) ? c->block : 0;
}
