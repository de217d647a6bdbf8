/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed values of a cbuild-run.yml (pack_cbuild_internal.h). Whether a scalar is quoted decides nothing:
 * numbers may be texts, and words such as "off" or "yes" are no booleans (cross-trigger sheet 5). A wrong
 * type is told with its line, what was there, and what was expected.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "pack/pack_cbuild_internal.h"

#define PACK_ROOT "${CMSIS_PACK_ROOT}"

static const char *shown(const char *text, char out[48])
{
    text_escape((const uint8_t *)text, strlen(text), out, 48);
    for (char *tab = out; (tab = strchr(tab, '\t')) != NULL;) /* which escaping leaves alone */
        *tab = ' ';
    return out;
}

static bool is_null(const struct yaml_tree_node *node)
{
    return node->kind == YAML_TREE_SCALAR && !node->quoted &&
           (node->text[0] == '\0' || strcmp(node->text, "~") == 0 || strcasecmp(node->text, "null") == 0);
}

bool pack_cbuild_wrong(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *expected)
{
    char value[48], key[48];
    const char *name = node->key ? shown(node->key, key) : "an entry";
    if (is_null(node))
        return pack_mistake(r->file, node->line, r->d, "%s has no value; expected %s", name, expected);
    if (node->kind == YAML_TREE_SCALAR)
        return pack_mistake(r->file, node->line, r->d, "%s is '%s'; expected %s", name,
                            shown(node->text, value), expected);
    return pack_mistake(r->file, node->line, r->d, "%s is a %s; expected %s", name,
                        node->kind == YAML_TREE_LIST ? "list" : "mapping", expected);
}

struct sequence_place pack_cbuild_place(const struct yaml_tree_node *node)
{
    return (struct sequence_place){PACK_DESCRIPTION, node->line, node->column};
}

void pack_cbuild_warn(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *fmt, ...)
{
    char words[240];
    va_list args;
    va_start(args, fmt);
    vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    size_t width = node->kind == YAML_TREE_SCALAR ? node->size + (node->quoted ? 2 : 0) : 1;
    sequence_problems_add(r->problems, SEQUENCE_WARNING, pack_cbuild_place(node),
                          width > 0 && width < 1000 ? (unsigned)width : 1, NULL, "%s", words);
}

bool pack_cbuild_list(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                      const struct yaml_tree_node **value)
{
    *value = yaml_tree_child(node, key);
    return !*value || (*value)->kind == YAML_TREE_LIST ||
           pack_cbuild_wrong(r, *value, "a list (lines that begin with '- ')");
}

bool pack_cbuild_is_mapping(struct pack_cbuild_reading *r, const struct yaml_tree_node *node,
                            const char *what)
{
    return node->kind == YAML_TREE_MAPPING || pack_cbuild_wrong(r, node, what);
}

bool pack_cbuild_mapping(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                         const struct yaml_tree_node **value)
{
    *value = yaml_tree_child(node, key);
    return !*value || pack_cbuild_is_mapping(r, *value, "a mapping of keys to values");
}

bool pack_cbuild_scalar(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                        const char *expected, const struct yaml_tree_node **value)
{
    *value = yaml_tree_child(node, key);
    return !*value || ((*value)->kind == YAML_TREE_SCALAR && !is_null(*value)) ||
           pack_cbuild_wrong(r, *value, expected);
}

bool pack_cbuild_text(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                      char *out, size_t size)
{
    const struct yaml_tree_node *value;
    if (!pack_cbuild_scalar(r, node, key, "text", &value))
        return false;
    if (!value)
        return true;
    if (value->size >= size)
        return pack_mistake(r->file, value->line, r->d, "%s is too long; expected at most %zu characters",
                            key, size - 1);
    if (text_escape((const uint8_t *)value->text, value->size, out, size) != value->size || strchr(out, '\t'))
        return pack_mistake(r->file, value->line, r->d,
                            "%s has a character that is not printable; expected one line of text", key);
    return true;
}

bool pack_cbuild_number(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                        uint64_t most, uint64_t *value, bool *there)
{
    const struct yaml_tree_node *child;
    uint64_t number = 0;
    char expected[80];
    if (most > UINT32_MAX)
        snprintf(expected, sizeof(expected), "a number, decimal or 0x hexadecimal");
    else
        snprintf(expected, sizeof(expected), "a number from 0 to %llu, decimal or 0x hexadecimal",
                 (unsigned long long)most);
    if (!pack_cbuild_scalar(r, node, key, expected, &child))
        return false;
    if (!child)
        return true;
    if (!text_number(child->text, strlen(child->text), false, most, &number))
        return pack_cbuild_wrong(r, child, expected);
    *value = number;
    if (there)
        *there = true;
    return true;
}

bool pack_cbuild_number32(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                          uint32_t *value, bool *there)
{
    uint64_t wide = *value;
    if (!pack_cbuild_number(r, node, key, UINT32_MAX, &wide, there))
        return false;
    *value = (uint32_t)wide;
    return true;
}

bool pack_cbuild_bool(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                      bool *value)
{
    const struct yaml_tree_node *child;
    if (!pack_cbuild_scalar(r, node, key, "true or false", &child))
        return false;
    if (!child)
        return true;
    bool yes = strcasecmp(child->text, "true") == 0;
    if (!yes && strcasecmp(child->text, "false") != 0)
        return pack_cbuild_wrong(r, child, "true or false");
    *value = yes;
    return true;
}

bool pack_cbuild_needs(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                       const char *what)
{
    return yaml_tree_child(node, key) || pack_mistake(r->file, node->line, r->d, "%s without %s:", what, key);
}

bool pack_cbuild_path(struct pack_cbuild_reading *r, const struct yaml_tree_node *node, const char *key,
                      char **path, bool *unknown)
{
    char text[PACK_MAX_PATH] = "";
    size_t root = strlen(PACK_ROOT), used = 0;
    *path = NULL;
    *unknown = false;
    if (!pack_cbuild_text(r, node, key, text, sizeof(text)))
        return false;
    if (!text[0])
        return !yaml_tree_child(node, key) ||
               pack_cbuild_wrong(r, yaml_tree_child(node, key), "the path of a file");
    *unknown = strstr(text, PACK_ROOT) && !r->file->root;
    if (*unknown)
        return true;
    char *whole = malloc(PACK_MAX_PATH);
    if (!whole)
        return pack_no_memory(r->d);
    for (const char *from = text; *from;) {
        bool is_root = strncmp(from, PACK_ROOT, root) == 0;
        const char *piece = is_root ? r->file->root : from;
        size_t length = is_root ? strlen(piece) : 1;
        if (length >= PACK_MAX_PATH - used) {
            free(whole);
            return pack_mistake(r->file, yaml_tree_child(node, key)->line, r->d,
                                "%s is too long; expected at most %d characters", key, PACK_MAX_PATH - 1);
        }
        memcpy(whole + used, piece, length);
        used += length;
        from += is_root ? root : 1;
    }
    whole[used] = '\0';
    *path = whole;
    return true;
}
