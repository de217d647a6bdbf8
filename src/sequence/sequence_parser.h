/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser's two halves: sequence_parser.c (elements, statements) and sequence_parser_expression.c.
 * Private to them.
 */
#ifndef CORRAL_SEQUENCE_SEQUENCE_PARSER_H
#define CORRAL_SEQUENCE_SEQUENCE_PARSER_H

#include "sequence/sequence_compiler.h"

struct sequence_parser {
    struct sequence_compiler *c;
    struct sequence_lexer lexer;
    struct sequence_token token; /* the next one, not yet taken */
    unsigned last_line;          /* of the one taken last */
    unsigned depth;              /* of expressions in work */
};

void parser_begin(struct sequence_parser *p, struct sequence_compiler *c, const struct sequence_text *text,
                  struct sequence_place within);
void parser_next(struct sequence_parser *p);
/* Say that `expected` was, where the next token is. */
void parser_expected(struct sequence_parser *p, const char *expected);

/* NULL: the mistake is said, or c->err is set. As a statement an assignment is not remarked on. */
struct sequence_node *parser_expression(struct sequence_parser *p, bool is_statement);

#endif
