/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML events to a tree (yaml_tree.h). A file is from outside: libyaml's event interface is used, not its
 * documents, because there aliases are already resolved and depth is not ours to bound.
 */
#include "base/yaml_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/text.h"

struct yaml_tree {
    struct yaml_tree_node *root;
    struct yaml_tree_node **nodes;
    size_t count, room;
};

struct reader {
    const char *name;
    const char *bytes;
    size_t size;
    const struct yaml_tree_limits *limits;
    struct {
        size_t at;     /* in bytes, ... */
        size_t number; /* ... where this line begins; from 0 */
    } line;
    yaml_parser_t parser;
    struct yaml_tree *tree;
    struct diag *diag;
};

#define MISTAKE(r, line, ...) yaml_tree_mistake((r)->diag, (r)->limits->err, (r)->name, line, __VA_ARGS__)

static bool out_of_memory(struct reader *r)
{
    diag_set(r->diag, CORRAL_ERR_NO_MEMORY, "out of memory reading %s", r->limits->what);
    return false;
}

enum corral_err yaml_tree_mistake(struct diag *d, enum corral_err err, const char *name, unsigned line,
                                  const char *fmt, ...)
{
    char words[sizeof(d->message)];
    char shown[96];
    va_list args;
    va_start(args, fmt);
    vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    /* The name is the user's own, but it ends up on a terminal. */
    text_escape((const uint8_t *)name, strlen(name), shown, sizeof(shown));
    diag_set(d, err, "%s:%u: %s", shown, line, words);
    diag_object(d, "%s:%u", shown, line);
    return err;
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

/* "key: !..." in this line: what follows the mark may be no tag, so that the words are libyaml's, not ours.
 */
static bool line_has_tag(const struct reader *r, size_t line)
{
    size_t at = 0;
    for (size_t i = 1; i < line && at < r->size; at++)
        if (r->bytes[at] == '\n')
            i++;
    while (at < r->size && (r->bytes[at] == ' ' || r->bytes[at] == '-'))
        at++;
    while (at < r->size && r->bytes[at] != ':' && r->bytes[at] != '\n')
        at++;
    for (at++; at < r->size && r->bytes[at] == ' '; at++)
        if (at + 1 < r->size && r->bytes[at + 1] == '!')
            return true;
    return false;
}

static const char *expected_for_tag(const struct reader *r)
{
    return r->limits->tag_expected ? r->limits->tag_expected : "the value itself";
}

static void syntax_mistake(struct reader *r)
{
    size_t line = r->parser.problem_mark.line + 1;
    const char *problem = r->parser.problem ? r->parser.problem : "unreadable";
    if (r->parser.error == YAML_MEMORY_ERROR) {
        out_of_memory(r);
        return;
    }
    if (r->parser.error == YAML_READER_ERROR) { /* marks are not set: the offset is what there is */
        line = 1;
        for (size_t i = 0; i < r->parser.problem_offset && i < r->size; i++)
            line += r->bytes[i] == '\n';
        MISTAKE(r, (unsigned)line, "%s; expected UTF-8 text", problem);
        return;
    }
    /* Its mark may be behind the line that is wrong. */
    for (size_t back = 0; back < 2 && back < line; back++) {
        if (line_has_tab_indent(r, line - back)) {
            MISTAKE(r, (unsigned)(line - back), "a tab in the indentation; expected spaces");
            return;
        }
    }
    if (r->limits->tag_expected && line_has_tag(r, line)) {
        MISTAKE(r, (unsigned)line, "a tag (!) is not supported here; expected %s", expected_for_tag(r));
        return;
    }
    MISTAKE(r, (unsigned)line, "this is not YAML (%s); expected \"key: value\" lines", problem);
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
    MISTAKE(r, line, "%s is not supported here; expected %s", what,
            event->type != YAML_ALIAS_EVENT && !anchor ? expected_for_tag(r) : "the value itself");
    yaml_event_delete(event);
    return false;
}

/* ---- the tree ---- */

static struct yaml_tree_node *new_node(struct reader *r, enum yaml_tree_kind kind, const yaml_event_t *event)
{
    struct yaml_tree *tree = r->tree;
    unsigned line = (unsigned)event->start_mark.line + 1;
    if (tree->count == r->limits->nodes) {
        MISTAKE(r, line, "too many entries; expected at most %zu", r->limits->nodes);
        return NULL;
    }
    if (tree->count == tree->room) {
        size_t room = tree->room ? tree->room * 2 : 64;
        struct yaml_tree_node **grown = realloc(tree->nodes, room * sizeof(struct yaml_tree_node *));
        if (!grown) {
            out_of_memory(r);
            return NULL;
        }
        tree->nodes = grown;
        tree->room = room;
    }
    struct yaml_tree_node *node = calloc(1, sizeof(*node));
    if (!node) {
        out_of_memory(r);
        return NULL;
    }
    node->kind = kind;
    node->line = line;
    node->column = (unsigned)event->start_mark.column + 1;
    tree->nodes[tree->count++] = node;
    return node;
}

/* A scalar's text, checked and copied; NULL with the diag set. */
static char *scalar_text(struct reader *r, const yaml_event_t *event, bool line_feeds)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    for (size_t i = 0; i < length; i++) {
        bool allowed = line_feeds && (value[i] == '\n' || value[i] == '\t');
        if (((unsigned char)value[i] < 0x20 && !allowed) || value[i] == 0x7F) {
            MISTAKE(r, (unsigned)event->start_mark.line + 1, "a control character in a %s; expected %s",
                    line_feeds ? "text" : "value",
                    line_feeds ? "printable text" : "one line of printable text");
            return NULL;
        }
    }
    char *text = malloc(length + 1);
    if (!text) {
        out_of_memory(r);
        return NULL;
    }
    memcpy(text, value, length);
    text[length] = '\0';
    return text;
}

/* ---- where the lines of a block stand */

/* Line `number` of the file, from 0. Scalars come in the file's order, so this only ever goes on. */
static void line_of_file(struct reader *r, size_t number, const char **line, size_t *size)
{
    size_t at = r->line.at;
    while (r->line.number < number && at < r->size)
        if (r->bytes[at++] == '\n')
            r->line.number++;
    r->line.at = at;
    const char *end = memchr(r->bytes + at, '\n', r->size - at);
    *line = r->bytes + at;
    *size = end ? (size_t)(end - *line) : r->size - at;
    if (*size > 0 && (*line)[*size - 1] == '\r')
        --*size;
}

/*
 * libyaml says where the "|" stands, but not how far the block is indented. A line of the text is the end of
 * its line of the file, and before it are blanks only; where that is not so (another encoding, a line end
 * that only Unicode has) the last indentation is as good a guess as any.
 */
static bool mark_block(struct reader *r, struct yaml_tree_node *node)
{
    size_t lines = 1, room, before = 0;
    for (size_t i = 0; i < node->size; i++)
        lines += node->text[i] == '\n' && i + 1 < node->size && node->text[i + 1] != '\n';
    room = lines;
    node->marks = calloc(room, sizeof(*node->marks));
    if (!node->marks)
        return out_of_memory(r);
    size_t number = node->line; /* the line behind the "|", from 0 */
    for (size_t at = 0; at == 0 || at < node->size; number++) {
        const char *text = node->text + at, *line;
        const char *end = memchr(text, '\n', node->size - at);
        size_t length = end ? (size_t)(end - text) : node->size - at, size;
        line_of_file(r, number, &line, &size);
        if (length > 0 && size >= length && memcmp(line + size - length, text, length) == 0) {
            before = size - length;
        }
        if ((length > 0 || at == 0) && node->mark_count < room) {
            struct yaml_tree_mark *mark = &node->marks[node->mark_count++];
            mark->offset = at;
            mark->line = (unsigned)number + 1;
            mark->column = length > 0 ? (unsigned)before + 1 : 1;
        }
        at += length + 1;
    }
    return true;
}

static bool mark_text(struct reader *r, struct yaml_tree_node *node, const yaml_event_t *event)
{
    yaml_scalar_style_t style = event->data.scalar.style;
    if (style == YAML_LITERAL_SCALAR_STYLE)
        return mark_block(r, node);
    node->marks = calloc(1, sizeof(*node->marks));
    if (!node->marks)
        return out_of_memory(r);
    node->mark_count = 1;
    bool quotes = style == YAML_SINGLE_QUOTED_SCALAR_STYLE || style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    bool folded = style == YAML_FOLDED_SCALAR_STYLE;
    node->marks[0].line = node->line + folded;
    node->marks[0].column = folded ? 1 : node->column + quotes;
    return true;
}

static struct yaml_tree_node *read_value(struct reader *r, yaml_event_t *event, unsigned depth);

static bool key_is_new(struct reader *r, const struct yaml_tree_node *mapping, const char *key, unsigned line)
{
    size_t keys = 0;
    for (const struct yaml_tree_node *n = mapping->first; n; n = n->next) {
        if (r->limits->keys && ++keys == r->limits->keys) { /* each is compared with all before it */
            MISTAKE(r, line, "too many keys in one mapping; expected at most %zu", r->limits->keys);
            return false;
        }
        if (strcmp(n->key, key) == 0) {
            char shown[64];
            text_escape((const uint8_t *)key, strlen(key), shown, sizeof(shown));
            MISTAKE(r, line, "key '%s' is here twice (first in line %u); expected it once", shown,
                    n->key_line);
            return false;
        }
    }
    return true;
}

/* What follows a key or list dash has been started with `event`. */
static bool read_children(struct reader *r, struct yaml_tree_node *parent, unsigned depth)
{
    enum yaml_event_type_e end =
        parent->kind == YAML_TREE_MAPPING ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    const struct yaml_tree_node **tail = &parent->first;
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
        unsigned key_column = (unsigned)event.start_mark.column + 1;
        if (parent->kind == YAML_TREE_MAPPING) {
            if (event.type != YAML_SCALAR_EVENT) {
                MISTAKE(r, key_line, "a key that is not text; expected \"key: value\"");
                yaml_event_delete(&event);
                return false;
            }
            key = scalar_text(r, &event, false);
            yaml_event_delete(&event);
            if (!key || !key_is_new(r, parent, key, key_line) || !next_event(r, &event)) {
                free(key);
                return false;
            }
        }
        struct yaml_tree_node *child = read_value(r, &event, depth);
        yaml_event_delete(&event);
        if (!child) {
            free(key);
            return false;
        }
        child->key = key;
        child->key_line = key_line;
        child->key_column = key_column;
        *tail = child;
        tail = &child->next;
    }
}

static struct yaml_tree_node *read_value(struct reader *r, yaml_event_t *event, unsigned depth)
{
    if (event->type == YAML_SCALAR_EVENT) {
        struct yaml_tree_node *node = new_node(r, YAML_TREE_SCALAR, event);
        if (node)
            node->text = scalar_text(r, event, r->limits->line_feeds);
        if (!node || !node->text)
            return NULL;
        node->size = event->data.scalar.length;
        node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        return !r->limits->line_feeds || mark_text(r, node, event) ? node : NULL;
    }
    if (depth >= r->limits->depth) {
        MISTAKE(r, (unsigned)event->start_mark.line + 1, "nested too deep; expected at most %u levels",
                r->limits->depth);
        return NULL;
    }
    enum yaml_tree_kind kind = event->type == YAML_MAPPING_START_EVENT ? YAML_TREE_MAPPING : YAML_TREE_LIST;
    struct yaml_tree_node *node = new_node(r, kind, event);
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
            MISTAKE(r, 1, "the file is empty; expected \"key: value\" lines");
            return false;
        }
    }
    if (!next_event(r, &event))
        return false;
    if (event.type != YAML_MAPPING_START_EVENT) {
        MISTAKE(r, (unsigned)event.start_mark.line + 1,
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
            MISTAKE(r, line, "a second document; expected one");
            return false;
        }
    }
    return true;
}

struct yaml_tree *yaml_tree_parse(const char *name, const char *bytes, size_t size,
                                  const struct yaml_tree_limits *limits, struct diag *d)
{
    struct reader r = {.name = name, .bytes = bytes, .size = size, .limits = limits, .diag = d};
    if (size > limits->bytes) {
        MISTAKE(&r, 1, "the file is too large; expected at most %zu bytes", limits->bytes);
        return NULL;
    }
    r.tree = calloc(1, sizeof(*r.tree));
    if (!r.tree || !yaml_parser_initialize(&r.parser)) {
        free(r.tree);
        out_of_memory(&r);
        return NULL;
    }
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)bytes, size);
    bool ok = read_document(&r);
    yaml_parser_delete(&r.parser);
    if (!ok) {
        yaml_tree_free(r.tree);
        return NULL;
    }
    return r.tree;
}

const struct yaml_tree_node *yaml_tree_root(const struct yaml_tree *tree)
{
    return tree->root;
}

const struct yaml_tree_node *yaml_tree_child(const struct yaml_tree_node *node, const char *key)
{
    if (!node || node->kind != YAML_TREE_MAPPING)
        return NULL;
    for (const struct yaml_tree_node *n = node->first; n; n = n->next)
        if (strcmp(n->key, key) == 0)
            return n;
    return NULL;
}

void yaml_tree_free(struct yaml_tree *tree)
{
    if (!tree)
        return;
    for (size_t i = 0; i < tree->count; i++) {
        free(tree->nodes[i]->text);
        free(tree->nodes[i]->marks);
        free(tree->nodes[i]->key);
        free(tree->nodes[i]);
    }
    free(tree->nodes);
    free(tree);
}
