/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a block may not do whose accesses are one batch: ask, call sequences, or use a value that it has read
 * itself, since that is known only when all of it is done (cross-trigger sheet 4.5; case C28).
 *
 * What is computed from a read may be assigned to variables of the sequence; they are not used in the block
 * then, and no access hangs on it. Walks are as deep as expressions are high, which the parser bounds.
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

static void check_call(struct sequence_compiler *c, const struct sequence_node *call)
{
    enum sequence_function_id id = call->function->id;
    if (id == FN_SEQUENCE || id == FN_QUERY || id == FN_QUERY_VALUE)
        compiler_say(c, SEQUENCE_ERROR, call->place, call->width, "%s cannot be called in an atomic block",
                     call->function->name);
    else if (id == FN_MESSAGE)
        compiler_say(c, SEQUENCE_WARNING, call->place, call->width,
                     "a Message in an atomic block comes behind all of the block's accesses");
}

/* True when its value is computed from what the block reads. */
static bool check_value(struct sequence_compiler *c, const struct sequence_node *node);

/* The first call or assignment in it, or NULL. */
static const struct sequence_node *find_act(const struct sequence_node *node)
{
    const struct sequence_node *found = NULL;
    if (node && (node->kind == NODE_CALL || node->kind == NODE_ASSIGN))
        return node;
    if (node && (node->kind == NODE_UNARY || node->kind == NODE_BINARY || node->kind == NODE_TERNARY)) {
        found = find_act(node->a);
        found = found ? found : find_act(node->b);
        found = found ? found : find_act(node->c);
    }
    return found;
}

/* Whether something is done must not be decided by what the same block reads. */
static void check_choice(struct sequence_compiler *c, const struct sequence_node *node)
{
    const struct sequence_node *act = find_act(node->b);
    act = act ? act : find_act(node->c);
    if (act)
        compiler_say(
            c, SEQUENCE_ERROR, act->place, act->width,
            "whether this is done hangs on what the same atomic block reads, which is not known yet");
}

static bool check_operator(struct sequence_compiler *c, const struct sequence_node *node)
{
    bool chooses = node->kind == NODE_TERNARY || node->op == OP_LAND || node->op == OP_LOR;
    bool reads = check_value(c, node->a);
    if (reads && chooses)
        check_choice(c, node);
    if (node->b && check_value(c, node->b))
        reads = true;
    if (node->c && check_value(c, node->c))
        reads = true;
    return reads;
}

static bool check_arguments(struct sequence_compiler *c, const struct sequence_node *call)
{
    check_call(c, call);
    for (const struct sequence_node *a = call->a; a; a = a->next)
        if (check_value(c, a))
            compiler_say(c, SEQUENCE_ERROR, a->place, a->width,
                         "what the same atomic block reads cannot be an argument in it: it is not known yet");
    return is_read(call);
}

static bool check_assignment(struct sequence_compiler *c, const struct sequence_node *node)
{
    const struct sequence_node *target = node->a;
    if (node->op != OP_NONE)
        check_value(c, target);
    bool reads = check_value(c, node->b);
    if (target->kind == NODE_LOCAL)
        c->read_stamp[target->slot] = reads ? c->block : 0;
    else if (reads && target->kind == NODE_PREDEFINED && target->slot != VAR_RESULT)
        compiler_say(c, SEQUENCE_ERROR, node->place, node->width,
                     "a predefined variable cannot have what the same atomic block reads");
    return reads;
}

static bool check_value(struct sequence_compiler *c, const struct sequence_node *node)
{
    switch (node->kind) {
    case NODE_LOCAL:
        if (c->read_stamp[node->slot] == c->block)
            compiler_say(c, SEQUENCE_ERROR, node->place, node->width,
                         "this variable holds what the same atomic block reads: its value is not known yet");
        return false;
    case NODE_ASSIGN:
        return check_assignment(c, node);
    case NODE_CALL:
        return check_arguments(c, node);
    case NODE_UNARY:
    case NODE_BINARY:
    case NODE_TERNARY:
        return check_operator(c, node);
    default:
        return false;
    }
}

void compiler_atomic_statement(struct sequence_compiler *c, const struct sequence_statement *statement)
{
    if (!c->read_stamp)
        return;
    bool reads = statement->expression && check_value(c, statement->expression);
    if (statement->declares)
        c->read_stamp[statement->slot] = reads ? c->block : 0;
}
