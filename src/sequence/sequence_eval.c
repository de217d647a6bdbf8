/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of a sequence: unsigned 64 bit, wrapping. Cross-trigger sheet 4.2, cases C1 to C8. Only what
 * counts is evaluated (&&, ||, ?:). Recursion is bounded by SEQUENCE_EVAL_DEPTH, whatever the parser let
 * through.
 */
#include "sequence/sequence_state.h"

/* ---- variables; in an atomic block also whether their value is known */

static bool local_unknown(const struct sequence_state *s, unsigned slot)
{
    return slot < SEQUENCE_MAX_SLOTS && (s->atomic.locals[slot / 64] >> slot % 64) & 1;
}

static void note_local(struct sequence_state *s, unsigned slot)
{
    if (slot >= SEQUENCE_MAX_SLOTS)
        return;
    uint64_t bit = UINT64_C(1) << slot % 64;
    if (s->atomic.unknown)
        s->atomic.locals[slot / 64] |= bit;
    else
        s->atomic.locals[slot / 64] &= ~bit;
}

bool sequence_assign_local(struct sequence_state *s, unsigned slot, uint64_t value)
{
    s->locals[s->frames[s->depth - 1].base + slot] = value;
    s->assignments++;
    if (s->atomic.mode == MODE_COLLECT)
        note_local(s, slot);
    return true;
}

static bool assign_predefined(struct sequence_state *s, unsigned slot, uint64_t value)
{
    s->variables[slot] = value;
    s->assignments++;
    if (s->atomic.mode != MODE_COLLECT)
        return true;
    if (s->atomic.unknown)
        s->atomic.variables |= UINT32_C(1) << slot;
    else
        s->atomic.variables &= ~(UINT32_C(1) << slot);
    return true;
}

static uint64_t debugvar(struct sequence_state *s, unsigned slot)
{
    if (!s->values[slot])
        s->values[slot] = &s->program->values[sequence_value_slot(s->program, slot, s->run->pname)].value;
    return *s->values[slot];
}

static uint64_t variable(struct sequence_state *s, const struct sequence_node *node)
{
    bool collecting = s->atomic.mode == MODE_COLLECT;
    if (node->kind == NODE_DEBUGVAR)
        return debugvar(s, node->slot);
    if (node->kind == NODE_PREDEFINED) {
        if (collecting && (s->atomic.variables >> node->slot) & 1)
            s->atomic.unknown = true;
        return s->variables[node->slot];
    }
    if (collecting && local_unknown(s, node->slot))
        s->atomic.unknown = true;
    return s->locals[s->frames[s->depth - 1].base + node->slot];
}

/* ---- operators */

static bool divide(struct sequence_state *s, const struct sequence_node *node, enum sequence_op op,
                   uint64_t a, uint64_t b, uint64_t *value)
{
    if (sequence_operate(op, a, b, value))
        return true;
    if (s->atomic.mode == MODE_COLLECT && s->atomic.unknown)
        return true; /* what is read will show */
    if (!(s->variables[VAR_ERRORCONTROL] & 1))
        return sequence_fail(s, node->place, CORRAL_ERR_SEQUENCE, "%s by 0",
                             op == OP_DIV ? "division" : "remainder of a division");
    s->variables[VAR_RESULT] = UINT64_MAX;
    return true;
}

static bool combine(struct sequence_state *s, const struct sequence_node *node, enum sequence_op op,
                    uint64_t a, uint64_t b, uint64_t *value)
{
    if (op == OP_DIV || op == OP_MOD)
        return divide(s, node, op, a, b, value);
    if (!sequence_operate(op, a, b, value))
        return sequence_fail(s, node->place, CORRAL_ERR_FAILED, "an operator that the interpreter lacks");
    return true;
}

static bool unary(struct sequence_state *s, const struct sequence_node *node, uint64_t *value)
{
    uint64_t a;
    return sequence_eval(s, node->a, &a) && combine(s, node, node->op, a, 0, value);
}

/* Does it call a function, or assign? On the C stack it goes as deep as the expression: bounded like that. */
static bool acts(struct sequence_state *s, const struct sequence_node *node)
{
    if (!node)
        return false;
    if (node->kind == NODE_CALL || node->kind == NODE_ASSIGN || s->eval_depth >= SEQUENCE_EVAL_DEPTH)
        return true;
    s->eval_depth++;
    bool found = acts(s, node->a) || acts(s, node->b) || acts(s, node->c);
    s->eval_depth--;
    return found;
}

/* In an atomic block nothing that is sent may hang on what is read in it. */
static bool may_choose(struct sequence_state *s, const struct sequence_node *node, bool unknown)
{
    if (s->atomic.mode != MODE_COLLECT || !unknown || (!acts(s, node->b) && !acts(s, node->c)))
        return true;
    return sequence_fail(s, node->place, CORRAL_ERR_SEQUENCE,
                         "in an atomic block no access may depend on a value that is read in the block");
}

static bool logic(struct sequence_state *s, const struct sequence_node *node, uint64_t *value)
{
    uint64_t a, b;
    bool before = s->atomic.unknown;
    s->atomic.unknown = false;
    if (!sequence_eval(s, node->a, &a) || !may_choose(s, node, s->atomic.unknown))
        return false;
    s->atomic.unknown |= before;
    if ((a != 0) == (node->op == OP_LOR)) {
        *value = a != 0;
        return true;
    }
    if (!sequence_eval(s, node->b, &b))
        return false;
    *value = b != 0;
    return true;
}

static bool ternary(struct sequence_state *s, const struct sequence_node *node, uint64_t *value)
{
    uint64_t a;
    bool before = s->atomic.unknown;
    s->atomic.unknown = false;
    if (!sequence_eval(s, node->a, &a) || !may_choose(s, node, s->atomic.unknown))
        return false;
    s->atomic.unknown |= before;
    return sequence_eval(s, a ? node->b : node->c, value);
}

static bool binary(struct sequence_state *s, const struct sequence_node *node, uint64_t *value)
{
    uint64_t a, b;
    return sequence_eval(s, node->a, &a) && sequence_eval(s, node->b, &b) &&
           combine(s, node, node->op, a, b, value);
}

/* The right side first: what it calls may change the variable. */
static bool assign(struct sequence_state *s, const struct sequence_node *node, uint64_t *value)
{
    bool before = s->atomic.unknown;
    s->atomic.unknown = false;
    if (!sequence_eval(s, node->b, value))
        return false;
    if (node->op != OP_NONE && !combine(s, node, node->op, variable(s, node->a), *value, value))
        return false;
    if (node->a->kind == NODE_LOCAL)
        sequence_assign_local(s, node->a->slot, *value);
    else if (node->a->kind == NODE_PREDEFINED && sequence_predefined_writable(node->a->slot))
        assign_predefined(s, node->a->slot, *value);
    else
        return sequence_fail(s, node->place, CORRAL_ERR_FORMAT, "what is assigned to is no variable");
    s->atomic.unknown |= before;
    return true;
}

static bool eval(struct sequence_state *s, const struct sequence_node *node, uint64_t *value)
{
    switch (node->kind) {
    case NODE_NUMBER:
        *value = node->number;
        return true;
    case NODE_LOCAL:
    case NODE_DEBUGVAR:
    case NODE_PREDEFINED:
        *value = variable(s, node);
        return true;
    case NODE_UNARY:
        return unary(s, node, value);
    case NODE_BINARY:
        return node->op == OP_LAND || node->op == OP_LOR ? logic(s, node, value) : binary(s, node, value);
    case NODE_TERNARY:
        return ternary(s, node, value);
    case NODE_ASSIGN:
        return assign(s, node, value);
    case NODE_CALL:
        return sequence_eval_call(s, node, value);
    case NODE_STRING:
        break;
    }
    return sequence_fail(s, node->place, CORRAL_ERR_FORMAT, "a text stands where a number is needed");
}

bool sequence_eval(struct sequence_state *s, const struct sequence_node *node, uint64_t *value)
{
    *value = 0;
    if (s->eval_depth >= SEQUENCE_EVAL_DEPTH)
        return sequence_fail(s, node->place, CORRAL_ERR_LIMIT,
                             "expressions are nested more than %u deep, with those that call them",
                             SEQUENCE_EVAL_DEPTH);
    s->eval_depth++;
    bool well = eval(s, node, value);
    s->eval_depth--;
    return well;
}
