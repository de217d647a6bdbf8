/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts a text into words: sequence_lexer.h. Any bytes may come; each step takes at least one of them, so that
 * the end is reached. Must not know what a sentence of the language is.
 */
#include "sequence/sequence_lexer.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Take over the marks that have been reached. */
static void settle(struct sequence_lexer *l)
{
    while (l->next_mark < l->mark_count && l->marks[l->next_mark].offset <= l->at) {
        l->here.line = l->marks[l->next_mark].line;
        l->here.column = l->marks[l->next_mark].column;
        l->next_mark++;
    }
}

void sequence_lexer_begin(struct sequence_lexer *lexer, const struct sequence_text *text, unsigned file,
                          struct sequence_place within)
{
    *lexer = (struct sequence_lexer){
        .bytes = text->bytes, .size = text->size, .marks = text->marks, .mark_count = text->mark_count};
    lexer->here = within;
    lexer->here.file = file;
    settle(lexer);
    if (lexer->size >= 3 && memcmp(lexer->bytes, "\xef\xbb\xbf", 3) == 0) {
        lexer->at = 3; /* a byte order mark has no column */
        settle(lexer);
    }
}

static uint8_t peek(const struct sequence_lexer *l, size_t ahead)
{
    return ahead < l->size - l->at ? (uint8_t)l->bytes[l->at + ahead] : 0;
}

static bool at_end(const struct sequence_lexer *l)
{
    return l->at >= l->size;
}

static void skip(struct sequence_lexer *l, size_t count)
{
    while (count-- && !at_end(l)) {
        uint8_t c = (uint8_t)l->bytes[l->at++];
        if (l->mark_count) {
            if (c == '\n') {
                l->here.line++;
                l->here.column = 1;
            } else if ((c & 0xc0) != 0x80) {
                l->here.column++;
            }
            settle(l);
        }
    }
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(uint8_t c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void finish(const struct sequence_lexer *l, struct sequence_token *t)
{
    t->size = l->at - (size_t)(t->bytes - l->bytes);
    t->width = 1;
    if (l->here.line == t->place.line && l->here.column > t->place.column)
        t->width = l->here.column - t->place.column;
}

static void bad(struct sequence_lexer *l, struct sequence_token *t, const char *words)
{
    t->kind = TOKEN_BAD;
    snprintf(l->problem, sizeof(l->problem), "%s", words);
}

/* Past the end of a comment; false when it has none. */
static bool skip_block_comment(struct sequence_lexer *l)
{
    skip(l, 2);
    while (!at_end(l) && !(peek(l, 0) == '*' && peek(l, 1) == '/'))
        skip(l, 1);
    bool ended = !at_end(l);
    skip(l, 2);
    return ended;
}

/* False when a token is made: a comment that is not one of the language. */
static bool skip_blanks(struct sequence_lexer *l, struct sequence_token *t)
{
    while (!at_end(l)) {
        uint8_t c = peek(l, 0);
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            skip(l, 1);
        } else if (c == '/' && peek(l, 1) == '/') {
            while (!at_end(l) && peek(l, 0) != '\n')
                skip(l, 1);
        } else if (c == '/' && peek(l, 1) == '*') {
            t->place = l->here;
            t->bytes = l->bytes + l->at;
            t->width = 2;
            bool ended = skip_block_comment(l);
            if (ended && l->block_comments)
                continue;
            t->passing = true;
            bad(l, t,
                l->block_comments ? "this comment has no end: expected '*/'"
                                  : "'/*' does not begin a comment here: expected '//'");
            return false;
        } else {
            break;
        }
    }
    return true;
}

/* ---- numbers */

/* What follows the digits: U, L, LL and both together. */
static bool is_suffix(const char *bytes, size_t size)
{
    static const char *const known[] = {"U", "L", "LL", "UL", "LU", "ULL", "LLU"};
    char upper[4] = "";
    if (size == 0 || size > 3)
        return false;
    for (size_t i = 0; i < size; i++)
        upper[i] = (char)(bytes[i] & ~0x20);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i], upper) == 0)
            return true;
    return false;
}

static void read_number(struct sequence_lexer *l, struct sequence_token *t)
{
    unsigned base = 10;
    size_t digits = 0, i = 0;
    bool large = false;
    while (is_word(peek(l, 0)) || (peek(l, 0) == '.' && !at_end(l)))
        skip(l, 1);
    finish(l, t);
    t->kind = TOKEN_NUMBER;
    if (t->size > 1 && t->bytes[0] == '0' && (t->bytes[1] | 0x20) == 'x')
        base = 16;
    else if (t->size > 1 && t->bytes[0] == '0' && (t->bytes[1] | 0x20) == 'b')
        base = 2;
    for (i = base == 10 ? 0 : 2; i < t->size; i++, digits++) {
        int digit = text_hex_digit((uint8_t)t->bytes[i]);
        if (digit < 0 || (unsigned)digit >= base)
            break;
        large |= t->value > (UINT64_MAX - (unsigned)digit) / base;
        t->value = t->value * base + (unsigned)digit;
    }
    t->binary = base == 2;
    t->suffix = i < t->size && is_suffix(t->bytes + i, t->size - i);
    if (!digits || (i < t->size && !t->suffix)) {
        bad(l, t, "");
        snprintf(l->problem, sizeof(l->problem), "%.*s is not a number: expected digits, or 0x and digits",
                 (int)(t->size > 40 ? 40 : t->size), t->bytes);
    } else if (large) {
        bad(l, t, "this number has more than 64 bits");
    }
}

/* ---- strings, names */

static void read_string(struct sequence_lexer *l, struct sequence_token *t)
{
    skip(l, 1);
    while (!at_end(l) && peek(l, 0) != '"' && peek(l, 0) != '\n' && peek(l, 0) != '\0') {
        bool escape = peek(l, 0) == '\\' && (peek(l, 1) == '"' || peek(l, 1) == '\\');
        skip(l, escape ? 2 : 1);
    }
    bool ended = !at_end(l) && peek(l, 0) == '"';
    bool zero = !at_end(l) && peek(l, 0) == '\0';
    skip(l, ended);
    finish(l, t);
    t->kind = TOKEN_STRING;
    t->bytes++;
    t->size -= ended ? 2 : 1;
    if (zero)
        bad(l, t, "a NUL byte in a string");
    else if (!ended)
        bad(l, t, "this string does not end on its line: expected '\"'");
}

static void read_name(struct sequence_lexer *l, struct sequence_token *t)
{
    while (!at_end(l) && is_word(peek(l, 0)))
        skip(l, 1);
    finish(l, t);
    t->kind = t->size == 5 && memcmp(t->bytes, "__var", 5) == 0 ? TOKEN_VAR : TOKEN_NAME;
    if (t->size >= SEQUENCE_NAME_MAX) {
        bad(l, t, "");
        snprintf(l->problem, sizeof(l->problem), "the name %.20s... has more than %d characters", t->bytes,
                 SEQUENCE_NAME_MAX - 1);
    }
}

/* ---- the rest */

struct sign {
    char text[4];
    enum sequence_token_kind kind;
    enum sequence_op op;
};

static const struct sign SIGNS[] = {
    /* longer ones first */
    {"<<=", TOKEN_ASSIGN, OP_SHL},    {">>=", TOKEN_ASSIGN, OP_SHR},  {"<<", TOKEN_OPERATOR, OP_SHL},
    {">>", TOKEN_OPERATOR, OP_SHR},   {"<=", TOKEN_OPERATOR, OP_LE},  {">=", TOKEN_OPERATOR, OP_GE},
    {"==", TOKEN_OPERATOR, OP_EQ},    {"!=", TOKEN_OPERATOR, OP_NE},  {"&&", TOKEN_OPERATOR, OP_LAND},
    {"||", TOKEN_OPERATOR, OP_LOR},   {"+=", TOKEN_ASSIGN, OP_ADD},   {"-=", TOKEN_ASSIGN, OP_SUB},
    {"*=", TOKEN_ASSIGN, OP_MUL},     {"/=", TOKEN_ASSIGN, OP_DIV},   {"%=", TOKEN_ASSIGN, OP_MOD},
    {"&=", TOKEN_ASSIGN, OP_AND},     {"|=", TOKEN_ASSIGN, OP_OR},    {"^=", TOKEN_ASSIGN, OP_XOR},
    {"=", TOKEN_ASSIGN, OP_NONE},     {"+", TOKEN_OPERATOR, OP_ADD},  {"-", TOKEN_OPERATOR, OP_SUB},
    {"*", TOKEN_OPERATOR, OP_MUL},    {"/", TOKEN_OPERATOR, OP_DIV},  {"%", TOKEN_OPERATOR, OP_MOD},
    {"&", TOKEN_OPERATOR, OP_AND},    {"|", TOKEN_OPERATOR, OP_OR},   {"^", TOKEN_OPERATOR, OP_XOR},
    {"<", TOKEN_OPERATOR, OP_LT},     {">", TOKEN_OPERATOR, OP_GT},   {"!", TOKEN_OPERATOR, OP_NOT},
    {"~", TOKEN_OPERATOR, OP_INVERT}, {"?", TOKEN_QUESTION, OP_NONE}, {":", TOKEN_COLON, OP_NONE},
    {"(", TOKEN_OPEN, OP_NONE},       {")", TOKEN_CLOSE, OP_NONE},    {",", TOKEN_COMMA, OP_NONE},
    {";", TOKEN_SEMICOLON, OP_NONE},
};

/* What an XML file writes for < > &, left over in a text. */
static bool read_entity(struct sequence_lexer *l, struct sequence_token *t)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;"};
    for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++) {
        size_t size = strlen(entities[i]);
        if (size > l->size - l->at || memcmp(l->bytes + l->at, entities[i], size) != 0)
            continue;
        skip(l, size);
        finish(l, t);
        bad(l, t, "");
        snprintf(l->problem, sizeof(l->problem), "'%s' is not decoded here: expected the character itself",
                 entities[i]);
        return true;
    }
    return false;
}

static void read_sign(struct sequence_lexer *l, struct sequence_token *t)
{
    for (size_t i = 0; i < sizeof(SIGNS) / sizeof(SIGNS[0]); i++) {
        if (SIGNS[i].text[0] != l->bytes[l->at])
            continue;
        size_t size = strlen(SIGNS[i].text);
        if (size > l->size - l->at || memcmp(l->bytes + l->at, SIGNS[i].text, size) != 0)
            continue;
        skip(l, size);
        finish(l, t);
        t->kind = SIGNS[i].kind;
        t->op = SIGNS[i].op;
        return;
    }
    uint32_t code;
    size_t size = text_utf8_decode((const uint8_t *)l->bytes + l->at, l->size - l->at, &code);
    char shown[TEXT_CLEAN_MAX(4)];
    skip(l, size ? size : 1);
    finish(l, t);
    text_escape((const uint8_t *)t->bytes, t->size, shown, sizeof(shown));
    bad(l, t, "a NUL byte where a statement was expected");
    if (t->bytes[0] == '\'')
        bad(l, t, "there are no character literals: expected a number, or a string in '\"'");
    else if (t->bytes[0])
        snprintf(l->problem, sizeof(l->problem), "'%s' is no part of the language", shown);
}

void sequence_lexer_next(struct sequence_lexer *lexer, struct sequence_token *token)
{
    *token = (struct sequence_token){0};
    if (!skip_blanks(lexer, token))
        return;
    token->place = lexer->here;
    token->bytes = lexer->bytes + lexer->at;
    token->width = 1;
    if (at_end(lexer))
        return;
    uint8_t c = peek(lexer, 0);
    if (is_digit(c))
        read_number(lexer, token);
    else if (c == '"')
        read_string(lexer, token);
    else if (is_word(c))
        read_name(lexer, token);
    else if (c != '&' || !read_entity(lexer, token))
        read_sign(lexer, token);
}
