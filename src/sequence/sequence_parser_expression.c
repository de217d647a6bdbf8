/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions, by recursive descent with C's precedence (cross-trigger sheet 4.2; cases C1 to C8, C34). Both
 * the recursion and the height of the trees are bounded, since the interpreter walks them. Must not evaluate.
 */
#include <stdio.h>
#include <string.h>

#include "sequence/sequence_parser.h"

/* A tree and how high it is. */
struct grown {
    struct sequence_node *node;
    unsigned height;
};

static const struct grown NOTHING = {NULL, 0};

static struct grown parse_assignment(struct sequence_parser *p, bool is_statement);

struct sequence_node *compiler_node(struct sequence_compiler *c, enum sequence_node_kind kind,
                                    struct sequence_place place, unsigned width)
{
    struct sequence_node *node = compiler_take(c, sizeof(*node));
    if (!node)
        return NULL;
    node->kind = kind;
    node->place = place;
    node->width = width ? width : 1;
    return node;
}

static struct grown too_high(struct sequence_parser *p)
{
    compiler_say(p->c, SEQUENCE_ERROR, p->token.place, p->token.width,
                 "this expression is nested more than %d deep", COMPILER_MAX_HEIGHT);
    return NOTHING;
}

static unsigned higher(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/* The columns from a to the end of b, where they are on one line. */
static unsigned span(const struct sequence_node *a, const struct sequence_node *b)
{
    if (a->place.line != b->place.line || b->place.column < a->place.column)
        return a->width;
    return b->place.column - a->place.column + b->width;
}

static struct grown join(struct sequence_parser *p, enum sequence_node_kind kind, enum sequence_op op,
                         struct grown a, struct grown b)
{
    unsigned height = higher(a.height, b.height) + 1;
    if (height > COMPILER_MAX_HEIGHT)
        return too_high(p);
    struct sequence_node *node = compiler_node(p->c, kind, a.node->place, span(a.node, b.node));
    if (!node)
        return NOTHING;
    node->op = op;
    node->a = a.node;
    node->b = b.node;
    return (struct grown){node, height};
}

/* ---- calls */

static bool is_statement_word(const struct sequence_token *name)
{
    static const char *const words[] = {"if", "while", "for", "do", "switch", "return"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i]) == name->size && memcmp(words[i], name->bytes, name->size) == 0)
            return true;
    return false;
}

static void find_function(struct sequence_parser *p, const struct sequence_token *name,
                          struct sequence_node *call)
{
    struct sequence_compiler *c = p->c;
    bool exact = true;
    call->function = sequence_function_named(name->bytes, name->size, &exact);
    if (!call->function) {
        compiler_say(c, SEQUENCE_ERROR, name->place, name->width, "there is no function %.*s%s",
                     (int)name->size, name->bytes,
                     is_statement_word(name) ? ": conditions and loops are controls outside of the text"
                                             : "");
    } else if (c->values_only) {
        compiler_say(c, SEQUENCE_ERROR, name->place, name->width,
                     "%.*s is called: expected a constant expression", (int)name->size, name->bytes);
    } else if (!exact && !(c->said_once & ONCE_CASE)) {
        c->said_once |= ONCE_CASE;
        compiler_say(c, SEQUENCE_WARNING, name->place, name->width, "%.*s is written %s in the specification",
                     (int)name->size, name->bytes, call->function->name);
    }
}

static struct sequence_node *parse_string(struct sequence_parser *p)
{
    struct sequence_token token = p->token;
    struct sequence_node *node = compiler_node(p->c, NODE_STRING, token.place, token.width);
    char *bytes = node ? compiler_take(p->c, token.size + 1) : NULL;
    if (!bytes)
        return NULL;
    memcpy(bytes, token.bytes, token.size);
    node->string.bytes = bytes;
    node->string.size = token.size;
    parser_next(p);
    if (p->token.kind == TOKEN_STRING || p->token.kind == TOKEN_OPERATOR) {
        compiler_say(p->c, SEQUENCE_ERROR, p->token.place, p->token.width,
                     "strings cannot be put together: expected ',' or ')'");
        return NULL;
    }
    return node;
}

static struct grown parse_argument(struct sequence_parser *p)
{
    if (p->token.kind == TOKEN_STRING)
        return (struct grown){parse_string(p), 1};
    return parse_assignment(p, false);
}

/* Behind the '('. */
static bool parse_arguments(struct sequence_parser *p, struct sequence_node *call, unsigned *height)
{
    struct sequence_node **tail = &call->a;
    unsigned count = 0;
    if (p->token.kind == TOKEN_CLOSE)
        return true;
    for (;;) {
        if (++count > COMPILER_ARGUMENTS) {
            compiler_say(p->c, SEQUENCE_ERROR, p->token.place, p->token.width,
                         "more than %d arguments in a call", COMPILER_ARGUMENTS);
            return false;
        }
        struct grown argument = parse_argument(p);
        if (!argument.node)
            return false;
        *tail = argument.node;
        tail = &argument.node->next;
        *height = higher(*height, argument.height);
        if (p->token.kind == TOKEN_CLOSE)
            return true;
        if (p->token.kind != TOKEN_COMMA) {
            parser_expected(p, "',' or ')'");
            return false;
        }
        parser_next(p);
    }
}

static struct grown parse_call(struct sequence_parser *p, const struct sequence_token *name)
{
    struct sequence_node *call = compiler_node(p->c, NODE_CALL, name->place, name->width);
    unsigned height = 0;
    if (!call)
        return NOTHING;
    parser_next(p);
    find_function(p, name, call);
    if (!parse_arguments(p, call, &height))
        return NOTHING;
    if (p->token.place.line == name->place.line && p->token.place.column > name->place.column)
        call->width = p->token.place.column + 1 - name->place.column;
    parser_next(p);
    if (!call->function || p->c->values_only) {
        /* Said already; a number instead, so that the rest is looked at. */
        call->kind = NODE_NUMBER;
        call->number = 0;
        call->a = NULL;
    } else {
        compiler_check_call(p->c, call, name);
    }
    return (struct grown){call, height + 1};
}

/* ---- operands */

static struct grown parse_number(struct sequence_parser *p)
{
    struct sequence_compiler *c = p->c;
    const struct sequence_token t = p->token;
    struct sequence_node *node = compiler_node(c, NODE_NUMBER, t.place, t.width);
    if (!node)
        return NOTHING;
    node->number = t.value;
    if (t.suffix && !(c->said_once & ONCE_SUFFIX)) {
        c->said_once |= ONCE_SUFFIX;
        compiler_say(c, SEQUENCE_WARNING, t.place, t.width,
                     "a number with letters behind it is not in the specification: all values have 64 bits");
    }
    if (t.binary && !(c->said_once & ONCE_BINARY)) {
        c->said_once |= ONCE_BINARY;
        compiler_say(c, SEQUENCE_WARNING, t.place, t.width, "a binary number is not in the specification");
    }
    parser_next(p);
    return (struct grown){node, 1};
}

static struct grown parse_parentheses(struct sequence_parser *p)
{
    struct sequence_token open = p->token;
    parser_next(p);
    struct grown inner = parse_assignment(p, false);
    if (!inner.node)
        return NOTHING;
    if (p->token.kind != TOKEN_CLOSE) {
        char words[48];
        snprintf(words, sizeof(words), "the ')' of the '(' on line %u", open.place.line);
        parser_expected(p, words);
        return NOTHING;
    }
    parser_next(p);
    return inner;
}

static struct grown parse_operand(struct sequence_parser *p)
{
    struct sequence_token token = p->token;
    switch (token.kind) {
    case TOKEN_NUMBER:
        return parse_number(p);
    case TOKEN_OPEN:
        return parse_parentheses(p);
    case TOKEN_NAME:
        parser_next(p);
        if (p->token.kind == TOKEN_OPEN)
            return parse_call(p, &token);
        return (struct grown){compiler_name(p->c, &token, p->token.kind == TOKEN_ASSIGN), 1};
    case TOKEN_STRING:
        compiler_say(p->c, SEQUENCE_ERROR, token.place, token.width,
                     "a string can only be an argument: expected a value");
        return NOTHING;
    default:
        parser_expected(p, "a value");
        return NOTHING;
    }
}

static struct grown parse_unary_inner(struct sequence_parser *p)
{
    static const enum sequence_op from[] = {OP_ADD, OP_SUB, OP_NOT, OP_INVERT};
    static const enum sequence_op to[] = {OP_PLUS, OP_NEGATE, OP_NOT, OP_INVERT};
    struct sequence_token token = p->token;
    size_t i = 0;
    while (i < sizeof(from) / sizeof(from[0]) && (token.kind != TOKEN_OPERATOR || token.op != from[i]))
        i++;
    if (i == sizeof(from) / sizeof(from[0]))
        return parse_operand(p);
    struct sequence_node *node = compiler_node(p->c, NODE_UNARY, token.place, token.width);
    if (!node)
        return NOTHING;
    parser_next(p);
    p->depth++;
    struct grown a = p->depth > COMPILER_MAX_HEIGHT ? too_high(p) : parse_unary_inner(p);
    p->depth--;
    if (!a.node)
        return NOTHING;
    if (a.height + 1 > COMPILER_MAX_HEIGHT)
        return too_high(p);
    node->op = to[i];
    node->a = a.node;
    node->width = span(node, a.node);
    return (struct grown){node, a.height + 1};
}

/* Everything that nests comes by here. */
static struct grown parse_unary(struct sequence_parser *p)
{
    p->depth++;
    struct grown result = p->depth > COMPILER_MAX_HEIGHT ? too_high(p) : parse_unary_inner(p);
    p->depth--;
    return result;
}

/* ---- operators between operands */

static unsigned precedence(enum sequence_op op)
{
    static const uint8_t of[] = {
        [OP_MUL] = 10, [OP_DIV] = 10, [OP_MOD] = 10, [OP_ADD] = 9, [OP_SUB] = 9,  [OP_SHL] = 8,
        [OP_SHR] = 8,  [OP_LT] = 7,   [OP_GT] = 7,   [OP_LE] = 7,  [OP_GE] = 7,   [OP_EQ] = 6,
        [OP_NE] = 6,   [OP_AND] = 5,  [OP_XOR] = 4,  [OP_OR] = 3,  [OP_LAND] = 2, [OP_LOR] = 1,
    };
    return (size_t)op < sizeof(of) / sizeof(of[0]) ? of[op] : 0;
}

static struct grown parse_binary(struct sequence_parser *p, unsigned least)
{
    struct grown left = parse_unary(p);
    while (left.node && p->token.kind == TOKEN_OPERATOR) {
        enum sequence_op op = p->token.op;
        unsigned rank = precedence(op);
        if (!rank || rank < least)
            break;
        parser_next(p);
        struct grown right = parse_binary(p, rank + 1);
        if (!right.node)
            return NOTHING;
        left = join(p, NODE_BINARY, op, left, right);
    }
    return left;
}

static struct grown parse_ternary(struct sequence_parser *p)
{
    struct grown condition = parse_binary(p, 1);
    if (!condition.node || p->token.kind != TOKEN_QUESTION)
        return condition;
    if (++p->depth > COMPILER_MAX_HEIGHT)
        return too_high(p);
    parser_next(p);
    struct grown yes = parse_assignment(p, false);
    if (!yes.node)
        return NOTHING;
    if (p->token.kind != TOKEN_COLON) {
        parser_expected(p, "the ':' of '?'");
        return NOTHING;
    }
    parser_next(p);
    struct grown no = parse_ternary(p);
    if (!no.node)
        return NOTHING;
    p->depth--;
    unsigned height = higher(yes.height, no.height);
    struct grown whole = join(p, NODE_TERNARY, OP_NONE, condition, (struct grown){no.node, height});
    if (whole.node) {
        whole.node->b = yes.node;
        whole.node->c = no.node;
    }
    return whole;
}

static void remark_assignment(struct sequence_parser *p, const struct sequence_token *sign, bool is_statement)
{
    struct sequence_compiler *c = p->c;
    unsigned file = sign->place.file;
    if (!is_statement)
        compiler_say(c, SEQUENCE_WARNING, sign->place, sign->width,
                     "an assignment used as a value is not in the specification%s",
                     c->in_condition && sign->op == OP_NONE ? ": is '==' meant?" : "");
    if (sign->op == OP_NONE)
        return;
    if (file / 8 < sizeof(c->said_compound) && c->said_compound[file / 8] >> file % 8 & 1)
        return;
    if (file / 8 < sizeof(c->said_compound))
        c->said_compound[file / 8] |= (uint8_t)(1u << file % 8);
    compiler_say(c, SEQUENCE_WARNING, sign->place, sign->width,
                 "%.*s is not in the specification (said once a file)", (int)sign->size, sign->bytes);
}

static struct grown parse_assignment(struct sequence_parser *p, bool is_statement)
{
    bool begins_with_name = p->token.kind == TOKEN_NAME;
    struct grown target = parse_ternary(p);
    if (!target.node || p->token.kind != TOKEN_ASSIGN)
        return target;
    struct sequence_token sign = p->token;
    enum sequence_node_kind kind = target.node->kind;
    if (p->c->values_only) {
        compiler_say(p->c, SEQUENCE_ERROR, sign.place, sign.width,
                     "nothing can be assigned here: expected a constant expression");
        return NOTHING;
    }
    /* A number that begins with a name is a name that is not declared: that has been said. */
    if (!begins_with_name ||
        (kind != NODE_LOCAL && kind != NODE_PREDEFINED && kind != NODE_DEBUGVAR && kind != NODE_NUMBER)) {
        compiler_say(p->c, SEQUENCE_ERROR, target.node->place, target.node->width,
                     "this cannot be assigned to: expected the name of a variable before '%.*s'",
                     (int)sign.size, sign.bytes);
        return NOTHING;
    }
    remark_assignment(p, &sign, is_statement);
    parser_next(p);
    if (++p->depth > COMPILER_MAX_HEIGHT)
        return too_high(p);
    struct grown value = parse_assignment(p, false);
    if (!value.node)
        return NOTHING;
    p->depth--;
    return join(p, NODE_ASSIGN, sign.op, target, value);
}

struct sequence_node *parser_expression(struct sequence_parser *p, bool is_statement)
{
    p->depth = 0;
    return parse_assignment(p, is_statement).node;
}
