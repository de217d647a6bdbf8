/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled program: trees whose variables are numbers of slots. Made by the parser and the checker, walked
 * by the interpreter. Private to src/sequence/.
 */
#ifndef CORRAL_SEQUENCE_SEQUENCE_TREE_H
#define CORRAL_SEQUENCE_SEQUENCE_TREE_H

#include "sequence/sequence.h"

enum sequence_op { /* of unary, binary and compound assignment */
                   OP_NONE,
                   OP_ADD,
                   OP_SUB,
                   OP_MUL,
                   OP_DIV,
                   OP_MOD,
                   OP_AND,
                   OP_OR,
                   OP_XOR,
                   OP_SHL,
                   OP_SHR,
                   OP_EQ,
                   OP_NE,
                   OP_LT,
                   OP_GT,
                   OP_LE,
                   OP_GE,
                   OP_LAND,
                   OP_LOR, /* short circuit */
                   OP_NOT,
                   OP_INVERT,
                   OP_NEGATE,
                   OP_PLUS,
};

enum sequence_node_kind {
    NODE_NUMBER,
    NODE_STRING,     /* argument only */
    NODE_LOCAL,      /* slot of the running sequence's frame */
    NODE_DEBUGVAR,   /* slot of program->values */
    NODE_PREDEFINED, /* slot is an enum sequence_predefined */
    NODE_UNARY,      /* op, a */
    NODE_BINARY,     /* op, a, b */
    NODE_TERNARY,    /* a ? b : c */
    NODE_ASSIGN,     /* a (LOCAL or PREDEFINED) op= b; OP_NONE = plain. Its value is the one assigned */
    NODE_CALL,       /* function; arguments a, a->next ... */
};

enum sequence_predefined {
    VAR_DP,
    VAR_AP,
    VAR_APID,
    VAR_ERRORCONTROL,
    VAR_RESULT,
    VAR_CONNECTION,
    VAR_PROTOCOL,
    VAR_TRACEOUT,
    VAR_TRACECLOCKIN,
    VAR_TRACECLOCKOUT,
    VAR_FLASH_OP,
    VAR_FLASH_ADDR,
    VAR_FLASH_LEN,
    VAR_FLASH_ARG,
    VAR_OPTIONS,
    VAR_COUNT,
};

enum sequence_function_id {
    FN_SEQUENCE,
    FN_READ,
    FN_WRITE,
    FN_READ_DP,
    FN_WRITE_DP,
    FN_READ_AP,
    FN_WRITE_AP,
    FN_READ_ACCESS_AP,
    FN_WRITE_ACCESS_AP,
    FN_DELAY,
    FN_WRITE_ABORT,
    FN_PINS,
    FN_CLOCK,
    FN_SWJ_SEQUENCE,
    FN_JTAG_SEQUENCE,
    FN_QUERY,
    FN_QUERY_VALUE,
    FN_MESSAGE,
    FN_LOAD_DEBUG_INFO,
    FN_EXTERNAL, /* of an external tool: known, refused by name */
};

/* sequence_functions.c */
struct sequence_function {
    const char *name;
    enum sequence_function_id id;
    unsigned size;        /* READ and WRITE: bytes */
    unsigned least, most; /* arguments; most 255 = any number (Message) */
    uint32_t strings;     /* bit i: argument i is a string */
    bool reads_target;    /* its value comes from the target (sheet 4.5) */
};
/* In any case of letters; *exact false when it is not the spec's spelling. NULL = none such. */
const struct sequence_function *sequence_function_named(const char *name, size_t length, bool *exact);
/* VAR_COUNT = none such. */
enum sequence_predefined sequence_predefined_named(const char *name, size_t length);
/* The standard names of sequences, one after the other; NULL past the end. */
const char *sequence_predefined_name(size_t i);
bool sequence_predefined_writable(enum sequence_predefined variable);

struct sequence_node {
    enum sequence_node_kind kind;
    enum sequence_op op;
    struct sequence_place place;
    unsigned width; /* columns */
    union {
        uint64_t number;
        unsigned slot;
        const struct sequence_function *function;
        struct {
            const char *bytes; /* what stands between the quotes, escapes left as they are, NUL-terminated */
            size_t size;
        } string;
    };
    struct sequence_node *a, *b, *c, *next;
    struct sequence_code *callee; /* FN_SEQUENCE: NULL until run: found by name for the running processor */
};

struct sequence_statement {
    struct sequence_statement *next;
    bool declares; /* slot = expression (NULL: 0) */
    unsigned slot; /* with declares */
    struct sequence_node *expression;
    struct sequence_place place;
};

enum sequence_element_kind { ELEMENT_BLOCK, ELEMENT_CONTROL };
struct sequence_element {
    struct sequence_element *next;
    enum sequence_element_kind kind;
    struct sequence_place place;
    bool atomic;                           /* block */
    struct sequence_statement *statements; /* block */
    struct sequence_node *if_, *while_;    /* control; NULL = not there */
    uint64_t timeout_us;                   /* control; 0 = none */
    struct sequence_element *first;        /* control: children */
};

struct sequence_code {
    struct sequence_info info;
    unsigned index; /* in program->codes */
    unsigned level;
    bool own_errors; /* in its own text; info.has_errors also counts callees */
    unsigned slots;  /* of its frame, at most SEQUENCE_MAX_SLOTS */
    struct sequence_element *first;
};
#define SEQUENCE_MAX_SLOTS 4096

struct sequence_value { /* a debugvar */
    char name[SEQUENCE_NAME_MAX], pname[SEQUENCE_NAME_MAX];
    uint64_t value;
    struct sequence_place place;
    unsigned next; /* slot + 1 of the next one of the same name for another processor; 0 = none */
    bool wrong;    /* its declaration or setting is a mistake: what uses it is not run */
};

struct sequence_program {
    const struct sequence_set *set;
    struct sequence_arena *arena;
    struct sequence_code **codes; /* only those that count: one a name and Pname */
    size_t code_count;
    /* debugvars. A NODE_DEBUGVAR's slot is that of the variable for all processors, or of the first with its
     * name: sequence_value_slot finds the running processor's. */
    struct sequence_value *values;
    size_t value_count;
    uint64_t forced[VAR_COUNT]; /* --var of predefined ones */
    bool is_forced[VAR_COUNT];
    bool has_access_ports;
    struct sequence_index *index; /* of `codes` by name: sequence_program.c */
};

/* The file number of places in a default sequence: its name is "default", and it has no lines to show. */
#define SEQUENCE_FILE_DEFAULT UINT32_MAX

/* The code that counts for processor `pname`, or NULL. */
const struct sequence_code *sequence_code_find(const struct sequence_program *program, const char *name,
                                               const char *pname);
unsigned sequence_value_slot(const struct sequence_program *program, unsigned slot, const char *pname);

/* sequence_values.c: what an operator but && and || makes of values, wrapping; false for a division by 0. Of
 * a unary one b is not looked at. */
bool sequence_operate(enum sequence_op op, uint64_t a, uint64_t b, uint64_t *value);

/* sequence_arena.c: memory that goes with the program; NULL when it is out or the limit is reached. */
struct sequence_arena *sequence_arena_new(size_t limit);
void sequence_arena_free(struct sequence_arena *arena);
void *sequence_arena_take(struct sequence_arena *arena, size_t size); /* zeroed, aligned for anything */

/* sequence_defaults.c: the default sequences of sheet 4.8, in the language. They are put into a set of their
 * own at level 0 with the file name "default". */
enum corral_err sequence_add_defaults(struct sequence_set *set, const struct sequence_setting *setting,
                                      struct diag *d);

/* sequence_format.c: Message's format. Checks it against the kinds of arguments at compile time, and makes
 * the text at run time (case C29, C30). */
struct sequence_format_argument {
    bool is_string;
    const char *string;
    uint64_t number;
};
#define SEQUENCE_MESSAGE_MAX 1024 /* bytes of a message with the NUL; longer ones end in "..." */
/* How many arguments it must have; unknown specifiers are copied as they are and counted. A letter behind the
 * '%' (`%d`) stands for an argument, so that those behind it find theirs, but does not demand one: up to this
 * many and *unknown more are no mistake. */
unsigned sequence_format_arguments(const char *format, size_t size, unsigned *unknown);
/* Is argument number `i` (from 0) for %s? */
bool sequence_format_wants_string(const char *format, size_t size, unsigned i);
/* Escaped for showing. */
void sequence_format(const char *format, size_t size, const struct sequence_format_argument *arguments,
                     size_t count, char out[SEQUENCE_MESSAGE_MAX]);

#endif
