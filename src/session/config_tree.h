/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of a corral.yml: its bytes as a tree of mappings, lists and scalars with their lines. Only what
 * configuration needs of YAML: one document, no anchors, aliases or tags, bounded in size and depth. It does
 * not know a single key (config.c). Private to src/session/.
 */
#ifndef CORRAL_SESSION_CONFIG_TREE_H
#define CORRAL_SESSION_CONFIG_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

#define CONFIG_MAX_BYTES (1024 * 1024)
#define CONFIG_MAX_DEPTH 8
#define CONFIG_MAX_NODES 4096

enum config_kind { CONFIG_SCALAR, CONFIG_LIST, CONFIG_MAPPING };

struct config_node {
    enum config_kind kind;
    unsigned line;                  /* from 1 */
    char *text;                     /* scalar: NUL-terminated, without control characters */
    bool quoted;                    /* scalar: then it is text, whatever it looks like */
    char *key;                      /* in a mapping: its key ... */
    unsigned key_line;              /* ... and where that stands */
    const struct config_node *next; /* in its parent's order */
    const struct config_node *first;
};

struct config_tree;

/*
 * `name` is the file as the user wrote it, for messages. NULL with *d set (CORRAL_ERR_CONFIG, "NAME:LINE:
 * ..., expected ...") for anything that is not a mapping of that shape; duplicate keys are refused too.
 */
struct config_tree *config_tree_parse(const char *name, const char *bytes, size_t size, struct diag *d);
const struct config_node *config_tree_root(const struct config_tree *tree);
void config_tree_free(struct config_tree *tree); /* NULL is allowed */

/* "NAME:LINE: words" as CORRAL_ERR_CONFIG, NAME:LINE as the object. Returns the code. */
enum corral_err config_mistake(struct diag *d, const char *name, unsigned line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
