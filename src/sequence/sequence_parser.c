/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks and controls of a sequence, and their statements (cross-trigger sheet 4.2, 4.4; cases C10, C22, C32,
 * C33, C39). Liberal in what real descriptions hold, with a warning. After a mistake the next statement is
 * read.
 */
#include "sequence/sequence_parser.h"

#include <stdio.h>
#include <string.h>

static void say_bad(struct sequence_parser *p)
{
    compiler_say(p->c, SEQUENCE_ERROR, p->token.place, p->token.width, "%s", p->lexer.problem);
}

void parser_next(struct sequence_parser *p)
{
    p->last_line = p->token.place.line;
    sequence_lexer_next(&p->lexer, &p->token);
    while (p->token.kind == TOKEN_BAD && p->token.passing) {
        say_bad(p);
        sequence_lexer_next(&p->lexer, &p->token);
    }
}

void parser_begin(struct sequence_parser *p, struct sequence_compiler *c, const struct sequence_text *text,
                  struct sequence_place within)
{
    *p = (struct sequence_parser){.c = c};
    sequence_lexer_begin(&p->lexer, text, within.file, within);
    parser_next(p);
    p->last_line = p->token.place.line;
}

void parser_expected(struct sequence_parser *p, const char *expected)
{
    const struct sequence_token *t = &p->token;
    int size = (int)(t->size > 40 ? 40 : t->size);
    if (t->kind == TOKEN_BAD)
        say_bad(p);
    else if (t->kind == TOKEN_END)
        compiler_say(p->c, SEQUENCE_ERROR, t->place, t->width, "expected %s, but the text ends here",
                     expected);
    else if (t->kind == TOKEN_STRING)
        compiler_say(p->c, SEQUENCE_ERROR, t->place, t->width, "expected %s, not a string", expected);
    else
        compiler_say(p->c, SEQUENCE_ERROR, t->place, t->width, "expected %s, not '%.*s'", expected, size,
                     t->bytes);
}

/* Behind the next ';'. */
static void skip_statement(struct sequence_parser *p)
{
    while (p->token.kind != TOKEN_SEMICOLON && p->token.kind != TOKEN_END) {
        p->last_line = p->token.place.line;
        sequence_lexer_next(&p->lexer, &p->token);
    }
    if (p->token.kind == TOKEN_SEMICOLON)
        parser_next(p);
}

/* ---- statements */

/* The ';', which people leave out at the end of a text or of a line. */
static bool end_statement(struct sequence_parser *p)
{
    const struct sequence_token *t = &p->token;
    if (t->kind == TOKEN_SEMICOLON) {
        parser_next(p);
        return true;
    }
    bool next_line = t->place.line > p->last_line && (t->kind == TOKEN_NAME || t->kind == TOKEN_VAR);
    if (t->kind != TOKEN_END && !next_line) {
        parser_expected(p, "';'");
        return false;
    }
    struct sequence_place place = t->place;
    compiler_say(p->c, SEQUENCE_WARNING, place, t->width, "expected ';' before %s",
                 t->kind == TOKEN_END ? "the end of the text" : "this line");
    return true;
}

static bool has_effect(const struct sequence_node *node)
{
    if (!node)
        return false;
    return node->kind == NODE_ASSIGN || node->kind == NODE_CALL || has_effect(node->a) ||
           has_effect(node->b) || has_effect(node->c);
}

/* Behind `__var`. */
static bool parse_declaration(struct sequence_parser *p, struct sequence_statement *statement)
{
    struct sequence_compiler *c = p->c;
    struct sequence_token name = p->token;
    if (name.kind != TOKEN_NAME) {
        parser_expected(p, "the name of a variable");
        return false;
    }
    parser_next(p);
    if (p->token.kind == TOKEN_ASSIGN && p->token.op == OP_NONE) {
        parser_next(p);
        statement->expression = parser_expression(p, false);
        if (!statement->expression) {
            /* Declared all the same: its uses are no further mistakes. */
            compiler_declare(c, &name, &statement->slot);
            return false;
        }
    } else if (p->token.kind == TOKEN_SEMICOLON || p->token.kind == TOKEN_END) {
        compiler_say(c, SEQUENCE_WARNING, name.place, name.width,
                     "%.*s has no initial value, which the specification demands: it is 0", (int)name.size,
                     name.bytes);
    } else {
        compiler_declare(c, &name, &statement->slot);
        parser_expected(p, "'=' or ';'");
        return false;
    }
    statement->declares = true;
    return compiler_declare(c, &name, &statement->slot);
}

static bool parse_expression_statement(struct sequence_parser *p, struct sequence_statement *statement)
{
    unsigned said = p->c->said_errors;
    const struct sequence_node *e = statement->expression = parser_expression(p, true);
    if (!e)
        return false;
    if (!has_effect(e) && p->c->said_errors == said)
        compiler_say(p->c, SEQUENCE_WARNING, e->place, e->width, "this statement has no effect");
    return true;
}

static void parse_block(struct sequence_compiler *c, const struct sequence_text *text,
                        struct sequence_element *block)
{
    struct sequence_parser p;
    struct sequence_statement **tail = &block->statements;
    parser_begin(&p, c, text, block->place);
    if (block->atomic)
        compiler_atomic_begin(c);
    while (p.token.kind != TOKEN_END && !compiler_stopped(c)) {
        if (p.token.kind == TOKEN_SEMICOLON) {
            parser_next(&p);
            continue;
        }
        struct sequence_statement *statement = compiler_take(c, sizeof(*statement));
        if (!statement)
            return;
        statement->place = p.token.place;
        bool declares = p.token.kind == TOKEN_VAR;
        if (declares)
            parser_next(&p);
        bool good = declares ? parse_declaration(&p, statement) : parse_expression_statement(&p, statement);
        if (!good || !end_statement(&p)) {
            skip_statement(&p);
            continue;
        }
        if (block->atomic)
            compiler_atomic_statement(c, statement);
        *tail = statement;
        tail = &statement->next;
    }
}

/* ---- controls */

static struct sequence_node *parse_condition(struct sequence_compiler *c, const struct sequence_text *text,
                                             struct sequence_place within, const char *what)
{
    struct sequence_parser p;
    c->in_condition = true;
    parser_begin(&p, c, text, within);
    struct sequence_node *node = NULL;
    if (p.token.kind == TOKEN_END)
        compiler_say(c, SEQUENCE_ERROR, within, 1, "an empty %s: expected an expression", what);
    else
        node = parser_expression(&p, false);
    if (node && p.token.kind == TOKEN_SEMICOLON) {
        compiler_say(c, SEQUENCE_WARNING, p.token.place, 1, "there is no ';' behind the expression of %s",
                     what);
        parser_next(&p);
    }
    if (node && p.token.kind != TOKEN_END)
        parser_expected(&p, "the end of the expression");
    c->in_condition = false;
    return node;
}

static void parse_timeout(struct sequence_compiler *c, const struct store_element *from,
                          struct sequence_element *control)
{
    struct sequence_node *node = parse_condition(c, &from->timeout, control->place, "timeout");
    bool by_zero;
    if (!node)
        return;
    if (!compiler_constant(c, node, &control->timeout_us, &by_zero))
        compiler_say(c, SEQUENCE_ERROR, node->place, node->width,
                     by_zero ? "the timeout is divided by 0"
                             : "the timeout is not a constant: expected a number of microseconds");
    else if (!from->has_while)
        compiler_say(c, SEQUENCE_WARNING, node->place, node->width,
                     "a timeout without a while has no meaning: it is ignored");
    if (!from->has_while)
        control->timeout_us = 0;
}

static void parse_elements(struct sequence_compiler *c, const struct store_element *from,
                           struct sequence_element **tail, unsigned depth, bool is_default);

static void parse_control(struct sequence_compiler *c, const struct store_element *from,
                          struct sequence_element *control, unsigned depth, bool is_default)
{
    if (depth > SEQUENCE_MAX_DEPTH) {
        compiler_say(c, SEQUENCE_ERROR, control->place, 1, "controls are nested more than %d deep",
                     SEQUENCE_MAX_DEPTH);
        return;
    }
    if (from->has_if)
        control->if_ = parse_condition(c, &from->if_, control->place, "if");
    if (from->has_while)
        control->while_ = parse_condition(c, &from->while_, control->place, "while");
    if (from->has_timeout)
        parse_timeout(c, from, control);
    unsigned opened = compiler_scope_open(c);
    parse_elements(c, from->first, &control->first, depth, is_default);
    compiler_scope_close(c, opened);
}

static void parse_elements(struct sequence_compiler *c, const struct store_element *from,
                           struct sequence_element **tail, unsigned depth, bool is_default)
{
    for (; from && !compiler_stopped(c); from = from->next) {
        struct sequence_element *element = compiler_take(c, sizeof(*element));
        if (!element)
            return;
        element->place = from->place;
        if (is_default)
            element->place.file = SEQUENCE_FILE_DEFAULT;
        *tail = element;
        tail = &element->next;
        if (from->kind == STORE_BLOCK) {
            element->kind = ELEMENT_BLOCK;
            element->atomic = from->atomic;
            parse_block(c, &from->text, element);
        } else {
            element->kind = ELEMENT_CONTROL;
            parse_control(c, from, element, depth + 1, is_default);
        }
    }
}

void compiler_code(struct sequence_compiler *c, const struct store_element *first, bool is_default)
{
    compiler_scope_reset(c);
    parse_elements(c, first, &c->code->first, 0, is_default);
}

/* ---- debugvars */

static bool parse_value(struct sequence_parser *p, compiler_declared declare, void *ctx)
{
    struct sequence_node *expression = NULL;
    if (p->token.kind != TOKEN_VAR) {
        parser_expected(p, "'__var'");
        return false;
    }
    parser_next(p);
    struct sequence_token name = p->token;
    if (name.kind != TOKEN_NAME) {
        parser_expected(p, "the name of a variable");
        return false;
    }
    parser_next(p);
    if (p->token.kind == TOKEN_ASSIGN && p->token.op == OP_NONE) {
        parser_next(p);
        expression = parser_expression(p, false);
        if (!expression) {
            declare(p->c, &name, NULL, true, ctx);
            return false;
        }
    } else if (p->token.kind == TOKEN_SEMICOLON || p->token.kind == TOKEN_END) {
        compiler_say(p->c, SEQUENCE_WARNING, name.place, name.width,
                     "%.*s has no value, which the specification demands: it is 0", (int)name.size,
                     name.bytes);
    } else {
        parser_expected(p, "'=' or ';'");
        return false;
    }
    declare(p->c, &name, expression, false, ctx);
    return true;
}

void compiler_declarations(struct sequence_compiler *c, const struct sequence_text *text,
                           compiler_declared declare, void *ctx)
{
    struct sequence_parser p;
    parser_begin(&p, c, text, (struct sequence_place){.file = text->file});
    while (p.token.kind != TOKEN_END && !compiler_stopped(c)) {
        if (p.token.kind == TOKEN_SEMICOLON)
            parser_next(&p);
        else if (!parse_value(&p, declare, ctx) || !end_statement(&p))
            skip_statement(&p);
    }
}
