/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a set holds: texts and elements as sequence_set.h received them. Private to src/sequence/; written by
 * sequence_set.c alone.
 */
#ifndef CORRAL_SEQUENCE_SEQUENCE_STORE_H
#define CORRAL_SEQUENCE_SEQUENCE_STORE_H

#include "sequence/sequence_set.h"

/* Controls deeper than SEQUENCE_MAX_DEPTH are kept up to here, so that the checker can show the one that is
 * too deep (case C39); a reader that goes on is refused. */
#define STORE_MAX_DEPTH 64

enum store_element_kind { STORE_BLOCK, STORE_CONTROL };

struct store_element {
    enum store_element_kind kind;
    struct sequence_place place;
    struct store_element *next, *first; /* first: of a control's children */
    bool atomic;
    struct sequence_text text;                 /* of a block */
    bool has_if, has_while, has_timeout;       /* of a control */
    struct sequence_text if_, while_, timeout; /* owned, as the block's */
};

struct store_sequence {
    char name[SEQUENCE_NAME_MAX], pname[SEQUENCE_NAME_MAX];
    char *info; /* owned, escaped; "" = none */
    bool disabled;
    unsigned level;
    struct sequence_place place;
    struct store_element *first;
};

struct store_variables {
    struct sequence_text text;
    char pname[SEQUENCE_NAME_MAX];
    unsigned level;
};

struct store_file {
    char *name;
    const char *bytes; /* NULL = not kept */
    char *own;         /* the same where they are the set's, else NULL */
    size_t size;
    size_t *lines; /* offset of each line's first byte; found when the first one is asked for */
    size_t line_count;
};

struct sequence_set {
    struct store_file *files; /* file number n is files[n - 1] */
    size_t file_count, file_room;
    struct store_sequence *sequences;
    size_t sequence_count, sequence_room;
    struct store_variables *variables;
    size_t variables_count, variables_room;
    struct sequence_text *configurations;
    size_t configuration_count, configuration_room;
    size_t text_bytes, mark_count, element_count, file_bytes;

    bool open;                                        /* between begin and end */
    struct store_element **tail[STORE_MAX_DEPTH + 1]; /* where the next element of each open depth goes */
    struct store_element *parent[STORE_MAX_DEPTH + 1];
    unsigned depth;
};

#endif
