/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML events to a tree (config_tree.h). A file is from outside: libyaml's event interface is used, not its
 * documents, because there aliases are already resolved and depth is not ours to bound.
 */
#include "session/config_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/text.h"

struct config_tree {
    struct config_node *root;
    struct config_node *nodes[CONFIG_MAX_NODES];
    size_t count;
};

struct reader {
    const char *name;
    const char *bytes;
    size_t size;
    yaml_parser_t parser;
    struct config_tree *tree;
    struct diag *diag;
};

enum corral_err config_mistake(struct diag *d, const char *name, unsigned line, const char *fmt, ...)
{
    char words[sizeof(d->message)];
    char shown[96];
    va_list args;
    va_start(args, fmt);
    vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    /* The name is the user's own, but it ends up on a terminal. */
    text_escape((const uint8_t *)name, strlen(name), shown, sizeof(shown));
    diag_set(d, CORRAL_ERR_CONFIG, "%s:%u: %s", shown, line, words);
    diag_object(d, "%s:%u", shown, line);
    return CORRAL_ERR_CONFIG;
}

/* ---- what libyaml says, in our words ---- */

static bool line_has_tab_indent(const struct reader *r, size_t line)
{
    size_t at = 0;
    for (size_t i = 1; i < line && at < r->size; at++)
        if (r->bytes[at] == '\n')
            i++;
    for (; at < r->size && (r->bytes[at] == ' ' || r->bytes[at] == '\t'); at++)
        if (r->bytes[at] == '\t')
            return true;
    return false;
}

static void syntax_mistake(struct reader *r)
{
    size_t line = r->parser.problem_mark.line + 1;
    const char *problem = r->parser.problem ? r->parser.problem : "unreadable";
    if (r->parser.error == YAML_MEMORY_ERROR) {
        diag_set(r->diag, CORRAL_ERR_NO_MEMORY, "out of memory reading the configuration");
        return;
    }
    if (r->parser.error == YAML_READER_ERROR) { /* marks are not set: the offset is what there is */
        line = 1;
        for (size_t i = 0; i < r->parser.problem_offset && i < r->size; i++)
            line += r->bytes[i] == '\n';
        config_mistake(r->diag, r->name, (unsigned)line, "%s; expected UTF-8 text", problem);
        return;
    }
    /* Its mark may be behind the line that is wrong. */
    for (size_t back = 0; back < 2 && back < line; back++) {
        if (line_has_tab_indent(r, line - back)) {
            config_mistake(r->diag, r->name, (unsigned)(line - back),
                           "a tab in the indentation; expected spaces");
            return;
        }
    }
    config_mistake(r->diag, r->name, (unsigned)line, "this is not YAML (%s); expected \"key: value\" lines",
                   problem);
}

/* The next event; false with the diag set. The caller deletes it. */
static bool next_event(struct reader *r, yaml_event_t *event)
{
    if (!yaml_parser_parse(&r->parser, event)) {
        syntax_mistake(r);
        return false;
    }
    unsigned line = (unsigned)event->start_mark.line + 1;
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    const char *what = event->type == YAML_ALIAS_EVENT ? "an alias (*)"
                       : anchor                        ? "an anchor (&)"
                       : tag                           ? "a tag (!)"
                                                       : NULL;
    if (!what)
        return true;
    config_mistake(r->diag, r->name, line, "%s is not supported here; expected the value itself", what);
    yaml_event_delete(event);
    return false;
}

/* ---- the tree ---- */

static struct config_node *new_node(struct reader *r, enum config_kind kind, const yaml_event_t *event)
{
    struct config_tree *tree = r->tree;
    unsigned line = (unsigned)event->start_mark.line + 1;
    if (tree->count == CONFIG_MAX_NODES) {
        config_mistake(r->diag, r->name, line, "too many entries; expected at most %d", CONFIG_MAX_NODES);
        return NULL;
    }
    struct config_node *node = calloc(1, sizeof(*node));
    if (!node) {
        diag_set(r->diag, CORRAL_ERR_NO_MEMORY, "out of memory reading the configuration");
        return NULL;
    }
    node->kind = kind;
    node->line = line;
    tree->nodes[tree->count++] = node;
    return node;
}

/* A scalar's text, checked and copied; NULL with the diag set. */
static char *scalar_text(struct reader *r, const yaml_event_t *event)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)value[i] < 0x20 || value[i] == 0x7F) {
            config_mistake(r->diag, r->name, (unsigned)event->start_mark.line + 1,
                           "a control character in a value; expected one line of printable text");
            return NULL;
        }
    }
    char *text = malloc(length + 1);
    if (!text) {
        diag_set(r->diag, CORRAL_ERR_NO_MEMORY, "out of memory reading the configuration");
        return NULL;
    }
    memcpy(text, value, length);
    text[length] = '\0';
    return text;
}

static struct config_node *read_value(struct reader *r, yaml_event_t *event, unsigned depth);

static bool key_is_new(struct reader *r, const struct config_node *mapping, const char *key, unsigned line)
{
    for (const struct config_node *n = mapping->first; n; n = n->next) {
        if (strcmp(n->key, key) == 0) {
            char shown[64];
            text_escape((const uint8_t *)key, strlen(key), shown, sizeof(shown));
            config_mistake(r->diag, r->name, line,
                           "key '%s' is here twice (first in line %u); expected it once", shown, n->key_line);
            return false;
        }
    }
    return true;
}

/* What follows a key or list dash has been started with `event`. */
static bool read_children(struct reader *r, struct config_node *parent, unsigned depth)
{
    enum yaml_event_type_e end =
        parent->kind == CONFIG_MAPPING ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    const struct config_node **tail = &parent->first;
    for (;;) {
        yaml_event_t event;
        char *key = NULL;
        if (!next_event(r, &event))
            return false;
        if (event.type == end) {
            yaml_event_delete(&event);
            return true;
        }
        unsigned key_line = (unsigned)event.start_mark.line + 1;
        if (parent->kind == CONFIG_MAPPING) {
            if (event.type != YAML_SCALAR_EVENT) {
                config_mistake(r->diag, r->name, key_line, "a key that is not text; expected \"key: value\"");
                yaml_event_delete(&event);
                return false;
            }
            key = scalar_text(r, &event);
            yaml_event_delete(&event);
            if (!key || !key_is_new(r, parent, key, key_line) || !next_event(r, &event)) {
                free(key);
                return false;
            }
        }
        struct config_node *child = read_value(r, &event, depth);
        yaml_event_delete(&event);
        if (!child) {
            free(key);
            return false;
        }
        child->key = key;
        child->key_line = key_line;
        *tail = child;
        tail = &child->next;
    }
}

static struct config_node *read_value(struct reader *r, yaml_event_t *event, unsigned depth)
{
    if (event->type == YAML_SCALAR_EVENT) {
        struct config_node *node = new_node(r, CONFIG_SCALAR, event);
        if (node)
            node->text = scalar_text(r, event);
        if (!node || !node->text)
            return NULL;
        node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        return node;
    }
    if (depth >= CONFIG_MAX_DEPTH) {
        config_mistake(r->diag, r->name, (unsigned)event->start_mark.line + 1,
                       "nested too deep; expected at most %d levels", CONFIG_MAX_DEPTH);
        return NULL;
    }
    enum config_kind kind = event->type == YAML_MAPPING_START_EVENT ? CONFIG_MAPPING : CONFIG_LIST;
    struct config_node *node = new_node(r, kind, event);
    return node && read_children(r, node, depth + 1) ? node : NULL;
}

/* Stream start, one document that is a mapping, stream end. */
static bool read_document(struct reader *r)
{
    yaml_event_t event;
    for (int i = 0; i < 2; i++) { /* stream start, document start */
        if (!next_event(r, &event))
            return false;
        bool empty = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (empty) {
            config_mistake(r->diag, r->name, 1, "the file is empty; expected \"key: value\" lines");
            return false;
        }
    }
    if (!next_event(r, &event))
        return false;
    if (event.type != YAML_MAPPING_START_EVENT) {
        config_mistake(r->diag, r->name, (unsigned)event.start_mark.line + 1,
                       "the file is not a mapping; expected \"key: value\" lines");
        yaml_event_delete(&event);
        return false;
    }
    r->tree->root = read_value(r, &event, 0);
    yaml_event_delete(&event);
    if (!r->tree->root)
        return false;
    for (int i = 0; i < 2; i++) { /* document end, stream end */
        if (!next_event(r, &event))
            return false;
        bool more = event.type == YAML_DOCUMENT_START_EVENT;
        unsigned line = (unsigned)event.start_mark.line + 1;
        yaml_event_delete(&event);
        if (more) {
            config_mistake(r->diag, r->name, line, "a second document; expected one");
            return false;
        }
    }
    return true;
}

struct config_tree *config_tree_parse(const char *name, const char *bytes, size_t size, struct diag *d)
{
    if (size > CONFIG_MAX_BYTES) {
        config_mistake(d, name, 1, "the file is too large; expected at most %d bytes", CONFIG_MAX_BYTES);
        return NULL;
    }
    struct reader r = {.name = name, .bytes = bytes, .size = size, .diag = d};
    r.tree = calloc(1, sizeof(*r.tree));
    if (!r.tree || !yaml_parser_initialize(&r.parser)) {
        free(r.tree);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory reading the configuration");
        return NULL;
    }
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)bytes, size);
    bool ok = read_document(&r);
    yaml_parser_delete(&r.parser);
    if (!ok) {
        config_tree_free(r.tree);
        return NULL;
    }
    return r.tree;
}

const struct config_node *config_tree_root(const struct config_tree *tree)
{
    return tree->root;
}

void config_tree_free(struct config_tree *tree)
{
    if (!tree)
        return;
    for (size_t i = 0; i < tree->count; i++) {
        free(tree->nodes[i]->text);
        free(tree->nodes[i]->key);
        free(tree->nodes[i]);
    }
    free(tree);
}
