/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the compiler share while a program is made: sequence_program.c (what counts),
 * sequence_values.c (debugvars), sequence_parser.c (texts to trees), sequence_names.c (scopes),
 * sequence_checker.c (calls, atomic blocks, calls in a circle). Private to src/sequence/.
 */
#ifndef CORRAL_SEQUENCE_SEQUENCE_COMPILER_H
#define CORRAL_SEQUENCE_SEQUENCE_COMPILER_H

#include "sequence/sequence_lexer.h"
#include "sequence/sequence_store.h"

#define COMPILER_MAX_MEMORY (128u * 1024 * 1024) /* bytes of a program */
#define COMPILER_MAX_HEIGHT                                                                               \
    200                       /* operators, calls and parentheses within each other: recursion is bounded \
                               */
#define COMPILER_MAX_SAID  50 /* mistakes of a sequence; then the rest of it is not read */
#define COMPILER_ARGUMENTS 64 /* of one call */
#define COMPILER_BUCKETS   1024

/* Kinds of warnings that are said once a sequence. */
enum compiler_once { ONCE_SUFFIX = 1, ONCE_BINARY = 2, ONCE_CASE = 4, ONCE_PORT = 8 };

struct compiler_local {
    const char *name; /* in the text */
    unsigned size, hash;
    unsigned slot;
    struct sequence_place place;
    bool live;                   /* its scope has not ended */
    struct compiler_local *next; /* of the bucket; newest first */
};

struct compiler_call {
    unsigned caller; /* index of the code */
    struct sequence_node *node;
};

struct compiler_note {
    struct sequence_place place;
    unsigned width;
};

struct sequence_compiler {
    struct sequence_program *program;
    const struct sequence_setting *setting;
    struct sequence_problems *problems;
    enum corral_err err; /* memory or a limit: all stops */

    /* of the text in work */
    struct sequence_code *code; /* NULL = variables */
    unsigned code_index;
    const char *pname;
    const struct store_sequence **sources; /* of each code */
    bool values_only;                      /* names are debugvars, and nothing is called */
    bool in_condition;
    unsigned said_errors, said_warnings;
    unsigned said_once;        /* bits of enum compiler_once */
    uint8_t said_compound[32]; /* bit n: of file n */

    /* sequence_names.c */
    struct compiler_local *locals[COMPILER_BUCKETS];
    struct compiler_local *live[SEQUENCE_MAX_SLOTS]; /* by slot */
    unsigned live_count, dead_count;
    unsigned *value_heads; /* buckets of debugvars: slot + 1 */
    unsigned *value_chain;

    /* sequence_checker.c */
    struct compiler_call *calls;
    size_t call_count, call_room;
    uint32_t *read_stamp; /* by slot: block in which it was assigned from the target */
    uint32_t block;       /* number of the atomic block */
    bool unfinished;      /* a condition names what is not declared: it is refused when it is run */
    struct compiler_note access_port[COMPILER_MAX_SAID]; /* __ap, __apid where they are not allowed */
    unsigned access_port_count;
};

/* sequence_program.c */
void *compiler_take(struct sequence_compiler *c, size_t size); /* NULL: c->err is set */
void compiler_say(struct sequence_compiler *c, enum sequence_severity severity, struct sequence_place place,
                  unsigned width, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
bool compiler_stopped(const struct sequence_compiler *c); /* nothing more is read of this text */
unsigned compiler_hash(const char *bytes, size_t size);
/* The codes of a name, whatever their Pname: index + 1, 0 = none. */
uint32_t compiler_first_named(const struct sequence_program *program, const char *name);
uint32_t compiler_next_named(const struct sequence_program *program, uint32_t at);

/* sequence_values.c */
enum corral_err compiler_values(struct sequence_compiler *c, const struct sequence_set *set);
/* The debugvar of a name as processor `pname` has it, or of any where pname is ""; false = none. */
bool compiler_value_find(const struct sequence_compiler *c, const char *name, size_t size, const char *pname,
                         unsigned *slot);
/* The value of an expression of numbers and debugvars; false when it has other things in it. *by_zero: it is
 * one, but divides by 0. */
bool compiler_constant(const struct sequence_compiler *c, const struct sequence_node *node, uint64_t *value,
                       bool *by_zero);

/* sequence_names.c */
void compiler_scope_reset(struct sequence_compiler *c); /* a new sequence */
unsigned compiler_scope_open(const struct sequence_compiler *c);
void compiler_scope_close(struct sequence_compiler *c, unsigned opened);
/* False when it may not be declared: said. */
bool compiler_declare(struct sequence_compiler *c, const struct sequence_token *name, unsigned *slot);
/* A name as a value or to be assigned to. NULL with c->err set only. */
struct sequence_node *compiler_name(struct sequence_compiler *c, const struct sequence_token *name,
                                    bool assigned);

/* sequence_parser.c */
struct sequence_node *compiler_node(struct sequence_compiler *c, enum sequence_node_kind kind,
                                    struct sequence_place place, unsigned width);
void compiler_code(struct sequence_compiler *c, const struct store_element *first, bool is_default);
/* A text of `__var name = expression;`: `declare` is called for each; with `wrong` for one whose expression
 * cannot be read. */
typedef void (*compiler_declared)(struct sequence_compiler *c, const struct sequence_token *name,
                                  const struct sequence_node *expression, bool wrong, void *ctx);
void compiler_declarations(struct sequence_compiler *c, const struct sequence_text *text,
                           compiler_declared declare, void *ctx);

/* sequence_checker.c */
void compiler_check_call(struct sequence_compiler *c, struct sequence_node *call,
                         const struct sequence_token *name);
void compiler_check_names(struct sequence_compiler *c); /* at the end of a code: what depends on all of it */
void compiler_check_circles(struct sequence_compiler *c);

/* sequence_near_names.c */
void compiler_check_near_names(struct sequence_compiler *c);

/* sequence_checker_atomic.c */
void compiler_atomic_begin(struct sequence_compiler *c);
void compiler_atomic_statement(struct sequence_compiler *c, const struct sequence_statement *statement);

#endif
