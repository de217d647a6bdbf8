/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a flame graph as elements of SVG, and text that is safe in XML. Private to src/export.
 */
#ifndef CORRAL_EXPORT_EXPORT_SVG_FRAMES_H
#define CORRAL_EXPORT_EXPORT_SVG_FRAMES_H

#include <stdio.h>

#include "export/export_svg_tree.h"

#define EXPORT_SVG_WIDTH   1200 /* pixels, until a script fits it to the window */
#define EXPORT_SVG_MARGIN  10
#define EXPORT_SVG_ROW     20
#define EXPORT_SVG_COLOURS 12u /* classes c0, c1 ... */

struct export_svg_out {
    FILE *file;
    bool failed;   /* for want of memory */
    size_t frames; /* drawn so far: their numbers, by which the script finds a parent */
    size_t listed; /* of those too small to be drawn */
};

/* `text` is clean; what XML forbids nevertheless is shown as its code. */
void export_svg_put_xml(struct export_svg_out *p, const char *text, size_t size);
/* Text that may be anything; "" is "?". */
void export_svg_put_text(struct export_svg_out *p, const char *text);
/* "1,200 samples" */
void export_svg_put_count(struct export_svg_out *p, uint64_t count, const char *of);

/* All frames of a track, the first row at `y`. */
void export_svg_put_track(struct export_svg_out *p, const struct export_track *track,
                          const struct export_svg_tree *tree, int y);

#endif
