/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a text of the language, with their places in the file. Cross-trigger sheet 4.2; cases C9,
 * C32, C33. Private to src/sequence/.
 */
#ifndef CORRAL_SEQUENCE_SEQUENCE_LEXER_H
#define CORRAL_SEQUENCE_SEQUENCE_LEXER_H

#include "sequence/sequence_tree.h"

enum sequence_token_kind {
    TOKEN_END,
    TOKEN_BAD, /* lexer->problem has the words */
    TOKEN_NUMBER,
    TOKEN_STRING, /* bytes and size without the quotes */
    TOKEN_NAME,
    TOKEN_VAR, /* __var */
    TOKEN_SEMICOLON,
    TOKEN_COMMA,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_QUESTION,
    TOKEN_COLON,
    TOKEN_OPERATOR, /* op; OP_SUB and OP_ADD also stand for the unary ones */
    TOKEN_ASSIGN,   /* op; OP_NONE = plain */
};

struct sequence_token {
    enum sequence_token_kind kind;
    enum sequence_op op;
    struct sequence_place place;
    unsigned width;
    const char *bytes; /* in the text */
    size_t size;
    uint64_t value;      /* TOKEN_NUMBER */
    bool suffix, binary; /* TOKEN_NUMBER: 1U, 0b1 */
    bool passing;        /* TOKEN_BAD: what follows can be read as if it were not there */
};

struct sequence_lexer {
    const char *bytes;
    size_t size, at;
    const struct sequence_mark *marks;
    size_t mark_count, next_mark;
    struct sequence_place here; /* of bytes[at] */
    bool block_comments;        /* slash-star comments are comments: in a .dbgconf */
    char problem[200];
};

/* `within`: where the element stands that the text is of; it serves where the text's own place is not known.
 */
void sequence_lexer_begin(struct sequence_lexer *lexer, const struct sequence_text *text, unsigned file,
                          struct sequence_place within);
void sequence_lexer_next(struct sequence_lexer *lexer, struct sequence_token *token);

#endif
