/* SPDX-License-Identifier: Apache-2.0 */
/* Typed values out of the tree (config_value.h). Every refusal says what was there and what was expected. */
#include "session/config_value.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const struct yaml_tree_limits config_limits = {
    .what = "the configuration",
    .err = CORRAL_ERR_CONFIG,
    .bytes = CONFIG_MAX_BYTES,
    .depth = 8,
    .nodes = 4096,
};

enum corral_err config_mistake(struct diag *d, const char *name, unsigned line, const char *fmt, ...)
{
    char words[sizeof(d->message)];
    va_list args;
    va_start(args, fmt);
    vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    return yaml_tree_mistake(d, CORRAL_ERR_CONFIG, name, line, "%s", words);
}

static const char *shown(const char *text, char out[CONFIG_SHOWN_MAX])
{
    text_escape((const uint8_t *)text, strlen(text), out, CONFIG_SHOWN_MAX);
    return out;
}

/* "KEY is WHAT; expected WORDS". False, so that readers can return it. */
bool config_refuse(struct config_context *x, const struct yaml_tree_node *node, const char *expected)
{
    char value[CONFIG_SHOWN_MAX], key[CONFIG_SHOWN_MAX];
    const char *name = node->key ? shown(node->key, key) : "an entry";
    if (node->kind == YAML_TREE_SCALAR)
        config_mistake(x->diag, x->file, node->line, "%s is '%s'; expected %s", name,
                       shown(node->text, value), expected);
    else
        config_mistake(x->diag, x->file, node->line, "%s is a %s; expected %s", name,
                       node->kind == YAML_TREE_LIST ? "list" : "mapping", expected);
    return false;
}

bool config_out_of_memory(struct config_context *x)
{
    diag_set(x->diag, CORRAL_ERR_NO_MEMORY, "out of memory reading the configuration");
    return false;
}

/* ---- values ---- */

bool config_read_mapping(struct config_context *x, const struct yaml_tree_node *node,
                         const struct config_field *fields, size_t count, void *into)
{
    if (node->kind != YAML_TREE_MAPPING)
        return config_refuse(x, node, "a mapping of keys to values");
    for (const struct yaml_tree_node *child = node->first; child; child = child->next) {
        size_t i = 0;
        while (i < count && strcmp(fields[i].key, child->key) != 0)
            i++;
        if (i < count) {
            if (!fields[i].read(x, child, into))
                return false;
            continue;
        }
        char keys[160] = "", key[CONFIG_SHOWN_MAX];
        for (i = 0; i < count; i++) {
            size_t used = strlen(keys);
            snprintf(keys + used, sizeof(keys) - used, "%s%s", i ? ", " : "", fields[i].key);
        }
        config_mistake(x->diag, x->file, child->key_line, "unknown key '%s'; expected %s%s",
                       shown(child->key, key), count > 1 ? "one of " : "", keys);
        return false;
    }
    return true;
}
/* Each entry of a list by `read`, at most `most`; what `read` gets as `into` is the configuration. */
bool config_read_list(struct config_context *x, const struct yaml_tree_node *node, size_t most,
                      config_read_fn read)
{
    size_t count = 0;
    if (node->kind != YAML_TREE_LIST)
        return config_refuse(x, node, "a list (lines that begin with '- ')");
    for (const struct yaml_tree_node *child = node->first; child; child = child->next) {
        if (++count > most) {
            config_mistake(x->diag, x->file, child->line, "too many entries under %s; expected at most %zu",
                           node->key, most);
            return false;
        }
        if (!read(x, child, x->config))
            return false;
    }
    return true;
}

/* Text that says something: not empty, not YAML's null. */
bool config_text(struct config_context *x, const struct yaml_tree_node *node, const char *expected)
{
    bool null = node->kind == YAML_TREE_SCALAR && !node->quoted &&
                (strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
    if (node->kind != YAML_TREE_SCALAR || node->text[0] == '\0' || null)
        return config_refuse(x, node, expected);
    return true;
}

bool config_number(struct config_context *x, const struct yaml_tree_node *node, uint64_t least, uint64_t most,
                   uint64_t *value)
{
    char expected[96];
    if (most > UINT32_MAX)
        snprintf(expected, sizeof(expected), "a whole number, decimal or 0x hexadecimal");
    else
        snprintf(expected, sizeof(expected), "a whole number from %" PRIu64 " to %" PRIu64, least, most);
    if (node->kind != YAML_TREE_SCALAR || node->quoted)
        return config_refuse(x, node, expected);
    const char *text = node->text;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hex ? text + 2 : text;
    /* strtoull would take signs, blanks and a leading 0 as octal. */
    if (digits[0] == '\0' || digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789")] != '\0')
        return config_refuse(x, node, expected);
    errno = 0;
    *value = strtoull(digits, NULL, hex ? 16 : 10);
    if (errno == ERANGE || *value < least || *value > most)
        return config_refuse(x, node, expected);
    return true;
}

bool config_bool(struct config_context *x, const struct yaml_tree_node *node, bool *value)
{
    if (node->kind == YAML_TREE_SCALAR && !node->quoted) {
        *value = strcmp(node->text, "true") == 0;
        if (*value || strcmp(node->text, "false") == 0)
            return true;
    }
    return config_refuse(x, node, "true or false");
}

/* "ADDR[:PORT]" with a dotted IPv4 address. */
bool config_address(struct config_context *x, const struct yaml_tree_node *node, bool port_needed,
                    char address[64], int *port)
{
    const char *expected =
        port_needed ? "ADDR:PORT, such as 127.0.0.1:51080" : "ADDR or ADDR:PORT with an IPv4 address";
    struct in_addr parsed;
    if (node->kind != YAML_TREE_SCALAR)
        return config_refuse(x, node, expected);
    const char *colon = strchr(node->text, ':');
    size_t length = colon ? (size_t)(colon - node->text) : strlen(node->text);
    if (length >= 64 || (port_needed && !colon))
        return config_refuse(x, node, expected);
    memcpy(address, node->text, length);
    address[length] = '\0';
    if (inet_pton(AF_INET, address, &parsed) != 1)
        return config_refuse(x, node, expected);
    *port = -1;
    if (colon) {
        size_t digits = strspn(colon + 1, "0123456789");
        long number = digits >= 1 && digits <= 5 ? strtol(colon + 1, NULL, 10) : -1;
        if (number < 0 || number > 65535 || colon[1 + digits] != '\0')
            return config_refuse(x, node, expected);
        *port = (int)number;
    }
    return true;
}

char *config_copy(struct config_context *x, const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        config_out_of_memory(x);
    return copy;
}

/* A path as the file means it: relative to the file's own directory. */
char *config_resolve(struct config_context *x, const char *path)
{
    size_t directory = path[0] == '/' ? 0 : x->directory;
    size_t length = strlen(path);
    char *full = malloc(directory + length + 1);
    if (!full) {
        config_out_of_memory(x);
        return NULL;
    }
    memcpy(full, x->file, directory);
    memcpy(full + directory, path, length + 1);
    return full;
}
