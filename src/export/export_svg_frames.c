/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a flame graph (export_svg_frames.h): each an <svg> of its own, so that its text ends where it
 * does, with its place in parts of the whole, for the script to zoom by.
 */
#include "export/export_svg_frames.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "export/export_text.h"

#define TEXT_PX    14 /* narrower frames have no text, as in the script */
#define STROKE_PX  3
#define PERCENT_PX 120
#define MAX_LISTED 100000u /* functions too small to draw, over all tracks */

void export_svg_put_xml(struct export_svg_out *p, const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        uint32_t code = 0;
        size_t n = text_utf8_decode((const uint8_t *)text + i, size - i, &code);
        if (code == '&' || code == '<' || code == '>' || code == '"')
            fprintf(p->file, "&#%u;", (unsigned)code);
        else if (n == 0 || code == 0xFFFE || code == 0xFFFF || (code < 0x20 && code != '\t'))
            fprintf(p->file, "\\u%04x", (unsigned)(n ? code : (unsigned char)text[i]));
        else
            fwrite(text + i, 1, n, p->file);
        i += n ? n : 1;
    }
}

void export_svg_put_text(struct export_svg_out *p, const char *text)
{
    char *clean = export_text_clean(text);
    p->failed = p->failed || !clean;
    if (clean)
        export_svg_put_xml(p, *clean ? clean : "?", strlen(*clean ? clean : "?"));
    free(clean);
}

void export_svg_put_count(struct export_svg_out *p, uint64_t count, const char *of)
{
    char grouped[EXPORT_GROUPED_ROOM];
    fprintf(p->file, "%s %s%s", export_text_grouped(count, grouped), of, count == 1 ? "" : "s");
}

static void put_lines(struct export_svg_out *p, const struct export_svg_node *node)
{
    if (!node->frame->file)
        return;
    putc('\n', p->file);
    export_svg_put_text(p, node->frame->file);
    if (node->first_line)
        fprintf(p->file, ":%" PRIu32, node->first_line);
    if (node->last_line != node->first_line)
        fprintf(p->file, "-%" PRIu32, node->last_line);
}

static void put_blocked(struct export_svg_out *p, const struct export_svg_node *node)
{
    if (node->i_blocked || node->d_blocked) {
        fputs("\nwaiting for instructions: ", p->file);
        export_svg_put_count(p, node->i_blocked, "sample");
        fputs(", for data: ", p->file);
        export_svg_put_count(p, node->d_blocked, "sample");
    }
}

/* What a pointer that rests on it shows; the script takes its first line for the name. */
static void put_title(struct export_svg_out *p, const struct export_track *track,
                      const struct export_svg_node *root, const struct export_svg_node *node)
{
    uint64_t count = node->merged > 1 ? node->merged_count : node->count;
    fputs("<title>", p->file);
    if (node->merged > 1) {
        export_svg_put_count(p, node->merged, "function");
        fputs(" too small to draw", p->file);
    } else {
        export_svg_put_text(p, node->frame ? node->frame->name : track->name);
        if (node->frame)
            put_lines(p, node);
    }
    putc('\n', p->file);
    export_svg_put_count(p, count, "sample");
    if (node != root) {
        fprintf(p->file, ", %.2f %% of ", 100 * node->width);
        export_svg_put_text(p, track->name);
        if (node->merged <= 1) {
            fputs("\nitself: ", p->file);
            export_svg_put_count(p, node->self, "sample");
            fputs(node->frame->inlined ? "\ninlined" : "", p->file);
            put_blocked(p, node);
        }
    } else {
        if (track->sampling_hz > 0 && isfinite(track->sampling_hz))
            fprintf(p->file, " at %.6g Hz", track->sampling_hz);
        put_blocked(p, node);
        if (track->lost_packets) {
            fputs("\nlost: ", p->file);
            export_svg_put_count(p, track->lost_packets, "packet");
        }
    }
    fputs("</title>", p->file);
}

/* One colour a source file, so that the parts of a program stand out. */
static unsigned colour(const struct export_frame *frame)
{
    return (unsigned)(export_hash_text(EXPORT_HASH_START, frame->file ? frame->file : frame->name) >> 20) %
           EXPORT_SVG_COLOURS;
}

static void put_class(struct export_svg_out *p, const struct export_track *track,
                      const struct export_svg_node *node)
{
    fputs("class=\"f", p->file);
    if (!node->frame)
        fputs(track->lost_packets ? " r l" : " r", p->file);
    else if (node->merged > 1)
        fputs(" k", p->file);
    else if (node->frame->name[0] == '[')
        fputs(" u", p->file);
    else
        fprintf(p->file, " c%u", colour(node->frame));
    if (node->frame && node->frame->inlined && node->merged <= 1)
        fputs(" n", p->file);
    fputs(node->width * EXPORT_SVG_WIDTH < TEXT_PX ? " t\"" : "\"", p->file);
}

/* A bar at the frame's foot: how much of it waited. */
static void put_blocked_bar(struct export_svg_out *p, const struct export_svg_node *node)
{
    double i_share = node->weight > 0 ? (double)node->i_blocked / node->weight : 0;
    double d_share = node->weight > 0 ? (double)node->d_blocked / node->weight : 0;
    i_share = i_share > 1 ? 1 : i_share;
    d_share = d_share > 1 - i_share ? 1 - i_share : d_share;
    if (i_share > 0)
        fprintf(p->file, "<rect class=\"bi\" y=\"16\" width=\"%.2f%%\" height=\"3\"/>", 100 * i_share);
    if (d_share > 0)
        fprintf(p->file, "<rect class=\"bd\" x=\"%.2f%%\" y=\"16\" width=\"%.2f%%\" height=\"3\"/>",
                100 * i_share, 100 * d_share);
}

static void put_root_label(struct export_svg_out *p, const struct export_track *track,
                           const struct export_svg_node *node)
{
    export_svg_put_text(p, track->name);
    fputs("  \xC2\xB7  ", p->file);
    if (node->count)
        export_svg_put_count(p, node->count, "sample");
    else
        fputs("no samples", p->file);
    if (track->lost_packets) {
        fputs("  \xC2\xB7  ", p->file);
        export_svg_put_count(p, track->lost_packets, "packet");
        fputs(" lost", p->file);
    }
}

/* The next one behind `at` of a walk through all below `top`, a node before its children. */
static size_t walk_below(const struct export_svg_tree *tree, size_t at, size_t top)
{
    if (tree->nodes[at].first_child != EXPORT_SVG_NONE)
        return tree->nodes[at].first_child;
    while (at != top && tree->nodes[at].next == EXPORT_SVG_NONE)
        at = tree->nodes[at].parent;
    return at == top ? EXPORT_SVG_NONE : tree->nodes[at].next;
}

/* All that a merged frame stands for, so that a search finds it: depth, samples, name. Without a list the
 * script says how much it could not search. */
static void put_merged(struct export_svg_out *p, const struct export_svg_tree *tree,
                       const struct export_svg_node *first)
{
    if (p->listed > MAX_LISTED)
        return;
    fputs("<metadata>\n", p->file);
    for (size_t s = tree->nodes[first->parent].first_child; s != EXPORT_SVG_NONE; s = tree->nodes[s].next) {
        if (&tree->nodes[s] != first && !tree->nodes[s].hidden)
            continue;
        for (size_t at = s; at != EXPORT_SVG_NONE; at = walk_below(tree, at, s)) {
            const struct export_svg_node *node = &tree->nodes[at];
            fprintf(p->file, "%u %" PRIu64 " ", node->depth, node->count);
            export_svg_put_text(p, node->frame->name);
            putc('\n', p->file);
            p->listed++;
        }
    }
    fputs("</metadata>", p->file);
}

static void put_node(struct export_svg_out *p, const struct export_track *track,
                     const struct export_svg_tree *tree, const struct export_svg_node *node, size_t parent,
                     int y)
{
    const struct export_svg_node *root = tree->nodes;
    fputs("<svg ", p->file);
    put_class(p, track, node);
    fprintf(p->file,
            " x=\"%.5f%%\" y=\"%d\" width=\"%.5f%%\" height=\"%d\" data-x=\"%.12g\" data-w=\"%.12g\"",
            100 * node->x, y + (int)node->depth * EXPORT_SVG_ROW, 100 * node->width, EXPORT_SVG_ROW - 1,
            node->x, node->width);
    if (node == root)
        fprintf(p->file, " data-n=\"%.17g\"", node->weight);
    else
        fprintf(p->file, " data-p=\"%zu\"", parent);
    putc('>', p->file);
    put_title(p, track, root, node);
    if (node->merged > 1)
        put_merged(p, tree, node);
    fprintf(p->file, "<rect class=\"s\" width=\"100%%\" height=\"%d\"%s/>", EXPORT_SVG_ROW - 1,
            node->width * EXPORT_SVG_WIDTH < STROKE_PX ? " style=\"stroke-width:0\"" : "");
    if (node != root && node->merged <= 1)
        put_blocked_bar(p, node);
    if (node->width * EXPORT_SVG_WIDTH >= TEXT_PX) {
        fputs("<text x=\"4\" y=\"13\">", p->file);
        if (node == root)
            put_root_label(p, track, node);
        else if (node->merged <= 1)
            export_svg_put_text(p, node->frame->name);
        if (node != root && node->width * EXPORT_SVG_WIDTH >= PERCENT_PX)
            fprintf(p->file, "<tspan class=\"p\" dx=\"8\">%.1f %%</tspan>", 100 * node->width);
        fputs("</text>", p->file);
    }
    fputs("</svg>\n", p->file);
    p->frames++;
}

void export_svg_put_track(struct export_svg_out *p, const struct export_track *track,
                          const struct export_svg_tree *tree, int y)
{
    size_t *number = calloc(tree->index.count, sizeof(*number)); /* of what is drawn, by node */
    if (!number) {
        p->failed = true;
        return;
    }
    for (size_t i = 0; i < tree->index.count; i++) {
        const struct export_svg_node *node = &tree->nodes[i];
        if (node->hidden)
            continue;
        number[i] = p->frames;
        put_node(p, track, tree, node, i ? number[node->parent] : 0, y);
    }
    free(number);
}
