/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of one track as a tree (export_svg_tree.h). Nothing recurses: stacks may be deep. */
#include "export/export_svg_tree.h"

#include <stdlib.h>
#include <string.h>

#include "export/export_text.h"

/* What makes a node: the same function in the same place of the tree, whichever of its lines. */
struct node_key {
    const struct export_frame *frame;
    size_t parent;
};

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_node(const void *ctx, size_t number, const void *key)
{
    const struct export_svg_node *node = &((const struct export_svg_tree *)ctx)->nodes[number];
    const struct node_key *k = key;
    if (!node->frame || !k->frame)
        return node->frame == k->frame;
    return node->parent == k->parent && node->frame->inlined == k->frame->inlined &&
           same_text(node->frame->name, k->frame->name) && same_text(node->frame->file, k->frame->file);
}

static size_t find_node(struct export_svg_tree *t, size_t parent, const struct export_frame *frame)
{
    bool fresh;
    const struct node_key key = {.frame = frame, .parent = parent};
    uint64_t hash = export_hash_number(EXPORT_HASH_START, parent);
    if (frame)
        hash = export_hash_text(export_hash_text(hash, frame->name), frame->file);
    if (!export_grow((void **)&t->nodes, &t->room, t->index.count, sizeof(*t->nodes)))
        return EXPORT_SVG_NONE;
    size_t number = export_index_number(&t->index, hash, &key, &fresh);
    if (number == EXPORT_INDEX_FULL || !fresh)
        return number;
    struct export_svg_node *node = &t->nodes[number];
    *node = (struct export_svg_node){
        .frame = frame, .parent = parent, .first_child = EXPORT_SVG_NONE, .next = EXPORT_SVG_NONE};
    if (frame) {
        node->depth = t->nodes[parent].depth + 1;
        node->next = t->nodes[parent].first_child;
        t->nodes[parent].first_child = number;
        if (node->depth > t->depth)
            t->depth = node->depth;
    }
    return number;
}

static void count(struct export_svg_node *node, const struct export_stack *stack)
{
    node->count = export_add(node->count, stack->count);
    node->weight += (double)stack->count;
    node->i_blocked = export_add(node->i_blocked, stack->i_blocked);
    node->d_blocked = export_add(node->d_blocked, stack->d_blocked);
}

static void see_line(struct export_svg_node *node, uint32_t line)
{
    if (line && (!node->first_line || line < node->first_line))
        node->first_line = line;
    if (line > node->last_line)
        node->last_line = line;
}

static bool add_stack(struct export_svg_tree *t, const struct export_stack *stack)
{
    size_t at = 0;
    size_t depth = stack->depth;
    if (depth > EXPORT_SVG_MAX_DEPTH) {
        depth = EXPORT_SVG_MAX_DEPTH;
        t->cut = true;
    }
    count(&t->nodes[0], stack);
    for (size_t k = 0; k < depth; k++) {
        at = find_node(t, at, &stack->frames[k]);
        if (at == EXPORT_SVG_NONE)
            return false;
        count(&t->nodes[at], stack);
        see_line(&t->nodes[at], stack->frames[k].line);
    }
    t->nodes[at].self = export_add(t->nodes[at].self, stack->count);
    return true;
}

/* Biggest first, and one order whatever the order of the stacks was. */
static int by_weight(const void *a, const void *b)
{
    const struct export_svg_node *x = *(struct export_svg_node *const *)a;
    const struct export_svg_node *y = *(struct export_svg_node *const *)b;
    if (x->weight > y->weight || x->weight < y->weight)
        return x->weight > y->weight ? -1 : 1;
    int order = strcmp(x->frame->name, y->frame->name);
    if (order == 0 && x->frame->file && y->frame->file)
        order = strcmp(x->frame->file, y->frame->file);
    return order ? order : x < y ? -1 : x > y;
}

static void place_children(struct export_svg_tree *t, const struct export_svg_node *node,
                           struct export_svg_node **children, size_t n, double least)
{
    double total = t->nodes[0].weight;
    double x = node->x;
    struct export_svg_node *run = NULL; /* the first of the small ones, which are the last */
    qsort(children, n, sizeof(*children), by_weight);
    for (size_t i = 0; i < n; i++) {
        struct export_svg_node *child = children[i];
        child->x = x;
        child->width = total > 0 ? child->weight / total : 0;
        x += child->width;
        if (node->hidden || (node->merged && node->merged > 1)) {
            child->hidden = true;
        } else if (run) {
            child->hidden = true;
            run->merged++;
            run->merged_count = export_add(run->merged_count, child->count);
            run->width += child->width;
        } else if (child->width < least && i + 1 < n) {
            run = child;
            run->merged = 1;
            run->merged_count = child->count;
        }
    }
}

static bool lay_out(struct export_svg_tree *t, double least)
{
    struct export_svg_node **children = NULL;
    size_t room = 0;
    bool ok = true;
    t->nodes[0].width = 1;
    for (size_t i = 0; i < t->index.count && ok; i++) {
        size_t n = 0;
        for (size_t c = t->nodes[i].first_child; c != EXPORT_SVG_NONE && ok; c = t->nodes[c].next) {
            ok = export_grow((void **)&children, &room, n, sizeof(struct export_svg_node *));
            if (ok)
                children[n++] = &t->nodes[c];
        }
        if (n && ok)
            place_children(t, &t->nodes[i], children, n, least);
    }
    free(children);
    return ok;
}

bool export_svg_tree_make(struct export_svg_tree *tree, const struct export_track *track, double least)
{
    *tree = (struct export_svg_tree){.index = {.same = same_node, .ctx = tree}};
    if (find_node(tree, EXPORT_SVG_NONE, NULL) == EXPORT_SVG_NONE)
        return false;
    for (size_t i = 0; i < track->count; i++)
        if (track->stacks[i].count && !add_stack(tree, &track->stacks[i]))
            return false;
    return lay_out(tree, least);
}

void export_svg_tree_free(struct export_svg_tree *tree)
{
    free(tree->nodes);
    export_index_free(&tree->index);
    *tree = (struct export_svg_tree){.nodes = NULL};
}
