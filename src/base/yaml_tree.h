/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of a YAML file: its bytes as a tree of mappings, lists and scalars with their places. Only what
 * description files need of YAML: one document, no anchors, aliases or tags, bounded in size, depth and
 * number. It does not know a single key: corral.yml's are src/session/config.c's, those of a cbuild-run.yml
 * src/pack/pack_cbuild.c's.
 */
#ifndef CORRAL_BASE_YAML_TREE_H
#define CORRAL_BASE_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

struct yaml_tree_limits {
    const char *what;    /* of messages when memory is out: "the configuration" */
    enum corral_err err; /* the code of every mistake in the file */
    size_t bytes;
    unsigned depth;
    size_t nodes;
    size_t keys;              /* of one mapping; 0 = as many as nodes */
    bool line_feeds;          /* a value may hold line feeds and tabs (a key may not) */
    const char *tag_expected; /* what to write instead of a tag; NULL = the value itself */
};

enum yaml_tree_kind { YAML_TREE_SCALAR, YAML_TREE_LIST, YAML_TREE_MAPPING };

/* From byte `offset` of a scalar's text on, its characters stand at this place, one behind the other. */
struct yaml_tree_mark {
    size_t offset;
    unsigned line, column; /* from 1 */
};

struct yaml_tree_node {
    enum yaml_tree_kind kind;
    unsigned line, column; /* from 1 */
    char *text;            /* scalar: NUL-terminated, without control characters but those allowed */
    size_t size;           /* of the text, without its NUL */
    bool quoted;           /* scalar: then it is text, whatever it looks like */
    /* A scalar that may hold line feeds: where its text stands. The first mark's offset is 0. Of a literal
     * block (|) each line that is not empty has one, behind the indentation; the lines of other kinds are not
     * told apart. */
    struct yaml_tree_mark *marks;
    size_t mark_count;
    char *key;                         /* in a mapping: its key ... */
    unsigned key_line, key_column;     /* ... and where that stands */
    const struct yaml_tree_node *next; /* in its parent's order */
    const struct yaml_tree_node *first;
};

struct yaml_tree;

/*
 * `name` is the file as the user wrote it, for messages. NULL with *d set ("NAME:LINE: ..., expected ...")
 * for anything that is not a mapping of that shape; duplicate keys are refused too. `limits` may go
 * afterwards.
 */
struct yaml_tree *yaml_tree_parse(const char *name, const char *bytes, size_t size,
                                  const struct yaml_tree_limits *limits, struct diag *d);
const struct yaml_tree_node *yaml_tree_root(const struct yaml_tree *tree);
/* The value of a key; NULL when it is not there, or `node` is NULL or no mapping. */
const struct yaml_tree_node *yaml_tree_child(const struct yaml_tree_node *node, const char *key);
void yaml_tree_free(struct yaml_tree *tree); /* NULL is allowed */

/* "NAME:LINE: words" as `err`, NAME:LINE as the object. Returns the code. */
enum corral_err yaml_tree_mistake(struct diag *d, enum corral_err err, const char *name, unsigned line,
                                  const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#endif
