/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading one value of a corral.yml with its type and range. It does not know what the keys mean (config.c).
 * Functions return false with the diag set: CORRAL_ERR_CONFIG and "FILE:LINE: ...; expected ...". Private to
 * src/session/.
 */
#ifndef CORRAL_SESSION_CONFIG_VALUE_H
#define CORRAL_SESSION_CONFIG_VALUE_H

#include <stdint.h>

#include "base/yaml_tree.h"
#include "session/config.h"

#define CONFIG_MAX_BYTES (1024 * 1024)
extern const struct yaml_tree_limits config_limits; /* of a corral.yml */

#define CONFIG_SHOWN_MAX 48 /* of the file's own words in a message */

struct config_context {
    struct config *config;
    const char *file;
    size_t directory; /* the first bytes of `file` that are its directory, slash included */
    struct diag *diag;
};

/* Reads the value of a key into what its mapping is read into. */
typedef bool (*config_read_fn)(struct config_context *x, const struct yaml_tree_node *node, void *into);

struct config_field {
    const char *key;
    config_read_fn read;
};

/* "FILE:LINE: words", CORRAL_ERR_CONFIG. Returns the code. */
enum corral_err config_mistake(struct diag *d, const char *name, unsigned line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* "KEY is 'VALUE'; expected WORDS". False. */
bool config_refuse(struct config_context *x, const struct yaml_tree_node *node, const char *expected);
bool config_out_of_memory(struct config_context *x); /* false */

bool config_read_mapping(struct config_context *x, const struct yaml_tree_node *node,
                         const struct config_field *fields, size_t count, void *into);
#define CONFIG_READ_MAPPING(x, node, fields, into) \
    config_read_mapping(x, node, fields, sizeof(fields) / sizeof((fields)[0]), into)
/* Each entry of a list, at most `most`; `read` gets the configuration as `into`. */
bool config_read_list(struct config_context *x, const struct yaml_tree_node *node, size_t most,
                      config_read_fn read);

/* Text that says something: not empty, not YAML's null. */
bool config_text(struct config_context *x, const struct yaml_tree_node *node, const char *expected);
bool config_number(struct config_context *x, const struct yaml_tree_node *node, uint64_t least, uint64_t most,
                   uint64_t *value);
bool config_bool(struct config_context *x, const struct yaml_tree_node *node, bool *value);
/* "ADDR:PORT", or without `port_needed` "ADDR" too (*port = -1); IPv4. */
bool config_address(struct config_context *x, const struct yaml_tree_node *node, bool port_needed,
                    char address[64], int *port);

/* Copies; the caller frees. NULL with the diag set. */
char *config_copy(struct config_context *x, const char *text);
char *config_resolve(struct config_context *x, const char *path); /* relative to the file's directory */

#endif
