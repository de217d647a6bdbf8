/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the reader of cbuild-run.yml files share. Private to src/pack/pack_cbuild*.c.
 *
 * Functions that return bool return false with the diag set: "FILE:LINE: what is wrong".
 */
#ifndef CORRAL_PACK_PACK_CBUILD_INTERNAL_H
#define CORRAL_PACK_PACK_CBUILD_INTERNAL_H

#include "base/yaml_tree.h"
#include "pack/pack_internal.h"

struct pack_cbuild {
    struct yaml_tree *tree;
    const struct yaml_tree_node *run; /* what is under cbuild-run: */
};

struct pack_cbuild_reading {
    const struct pack_file *file;
    struct pack_device *device;
    struct sequence_problems *problems;
    struct diag *d;
};

/* ---- pack_cbuild_value.c: values of a mapping's keys. What is not there leaves its variable alone. */

bool pack_cbuild_wrong(struct pack_cbuild_reading *r, const struct yaml_tree_node *node,
                       const char *expected);
/* The key's list or mapping; *value is NULL when it is not there. */
bool pack_cbuild_list(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                      const struct yaml_tree_node **value);
bool pack_cbuild_mapping(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                         const struct yaml_tree_node **value);
bool pack_cbuild_is_mapping(struct pack_cbuild_reading *r, const struct yaml_tree_node *node,
                            const char *what);
/* A scalar that says something; *value is NULL when it is not there. */
bool pack_cbuild_scalar(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                        const char *expected, const struct yaml_tree_node **value);
/* One line of printable text that fits, its NUL included. */
bool pack_cbuild_text(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                      char *out, size_t size);
bool pack_cbuild_number(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                        uint64_t most, uint64_t *value, bool *there);
bool pack_cbuild_number32(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                          uint32_t *value, bool *there);
bool pack_cbuild_bool(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                      bool *value);
/* The value of a key as a path with ${CMSIS_PACK_ROOT} replaced, to be freed; NULL when it is not there, or
 * the root is not known (then *unknown is true). Not yet relative to anything. */
bool pack_cbuild_path(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                      char **path, bool *unknown);
bool pack_cbuild_needs(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                       const char *what);
struct sequence_place pack_cbuild_place(const struct yaml_tree_node *node);
void pack_cbuild_warn(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- its parts: `run` is what is under cbuild-run: */

bool pack_cbuild_take_topology(struct pack_cbuild_reading *r, const struct yaml_tree_node *run);
bool pack_cbuild_take_debugger(struct pack_cbuild_reading *r, const struct yaml_tree_node *run);
bool pack_cbuild_take_sequences(struct pack_cbuild_reading *r, const struct yaml_tree_node *run);

#endif
