/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stacks of one track as a tree of functions, and where each lies in the picture. Private to src/export;
 * knows nothing of SVG.
 */
#ifndef CORRAL_EXPORT_EXPORT_SVG_TREE_H
#define CORRAL_EXPORT_EXPORT_SVG_TREE_H

#include "export/export_index.h"
#include "export/export_profile.h"

#define EXPORT_SVG_MAX_DEPTH 512u /* what is deeper counts for the last frame drawn */
#define EXPORT_SVG_NONE      SIZE_MAX

struct export_svg_node {
    const struct export_frame *frame; /* NULL: the track itself, which is node 0 */
    size_t parent, first_child, next;
    unsigned depth;
    uint64_t count, self, i_blocked, d_blocked;
    uint32_t first_line, last_line; /* 0 = not known */
    double weight;                  /* `count`, without its limit */
    double x, width;                /* of the whole, 0..1 */
    bool hidden;                    /* in a merged one, or below it */
    size_t merged;                  /* so many small siblings, this one among them, are drawn as one; or 0 */
    uint64_t merged_count;          /* their samples */
};

struct export_svg_tree {
    struct export_svg_node *nodes; /* parents before their children */
    size_t room;
    struct export_index index;
    unsigned depth; /* of the deepest node */
    bool cut;       /* EXPORT_SVG_MAX_DEPTH was reached */
};

/* Builds the tree and lays it out: children by weight, and those narrower than `least` of the whole merged.
 * False without memory. To be freed either way. */
bool export_svg_tree_make(struct export_svg_tree *tree, const struct export_track *track, double least);
void export_svg_tree_free(struct export_svg_tree *tree);

#endif
