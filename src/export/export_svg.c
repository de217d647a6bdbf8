/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flame graph in one SVG file: each track is a root of its own, as wide as the picture, with what it called
 * below it. Shown by a browser it searches and zooms; without scripts it is a picture. Nothing in it comes
 * over the network, and nothing from outside reaches its style or script: names are text, escaped for XML.
 * What was lost stands in the picture, and functions too small to draw are merged, never left out of a count.
 */
#include "export/export_profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "export/export_file.h"
#include "export/export_svg_parts.h"
#include "export/export_svg_tree.h"
#include "export/export_text.h"

#define WIDTH       1200 /* pixels, until a script fits it to the window */
#define MARGIN      10
#define ROW         20
#define LINE        17 /* of text in the header */
#define BAND_GAP    16
#define LEAST_PX    0.1
#define TEXT_PX     14 /* narrower frames have no text, as in the script */
#define STROKE_PX   3
#define PERCENT_PX  120
#define NOTE_CHARS  170 /* in a line of the banner */
#define NOTE_LINES  24u
#define COLOURS     12u
#define TRACK_MAX_Y 30000000 /* pixels; far above what a browser draws */

struct picture {
    FILE *out;
    bool failed; /* for want of memory */
    struct export_svg_tree *trees;
    size_t frames; /* drawn so far: their numbers, by which the script finds a parent */
};

/* As text or attribute of XML. `text` is clean; what XML forbids nevertheless is shown as its code. */
static void put_xml(FILE *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        uint32_t code = 0;
        size_t n = text_utf8_decode((const uint8_t *)text + i, size - i, &code);
        if (code == '&' || code == '<' || code == '>' || code == '"')
            fprintf(out, "&#%u;", (unsigned)code);
        else if (n == 0 || code == 0xFFFE || code == 0xFFFF || (code < 0x20 && code != '\t'))
            fprintf(out, "\\u%04x", (unsigned)(n ? code : (unsigned char)text[i]));
        else
            fwrite(text + i, 1, n, out);
        i += n ? n : 1;
    }
}

static void put_text(struct picture *p, const char *text)
{
    char *clean = export_text_clean(text);
    p->failed = p->failed || !clean;
    if (clean)
        put_xml(p->out, *clean ? clean : "?", strlen(*clean ? clean : "?"));
    free(clean);
}

/* "12 samples" */
static void put_count(struct picture *p, uint64_t count, const char *of)
{
    char grouped[EXPORT_GROUPED_ROOM];
    fprintf(p->out, "%s %s%s", export_text_grouped(count, grouped), of, count == 1 ? "" : "s");
}

/* How many bytes of `text` go into a line: up to a space, or to a whole character. */
static size_t line_length(const char *text)
{
    size_t at = 0;
    size_t space = 0;
    for (size_t chars = 0; text[at]; chars++) {
        uint32_t code;
        size_t n = text_utf8_decode((const uint8_t *)text + at, strlen(text + at), &code);
        if (chars == NOTE_CHARS)
            return space ? space : at;
        if (text[at] == ' ')
            space = at;
        at += n ? n : 1;
    }
    return at;
}

static size_t count_lines(const char *note)
{
    size_t lines = 0;
    while (*note && lines < NOTE_LINES) {
        note += line_length(note);
        while (*note == ' ')
            note++;
        lines++;
    }
    return lines;
}

/* Returns its height. */
static int put_banner(struct picture *p, const char *note, int y)
{
    size_t lines = count_lines(note);
    if (lines == 0)
        return 0;
    int height = (int)lines * LINE + 10;
    fprintf(p->out,
            "<g class=\"banner\" id=\"note\"><rect class=\"w\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
            "rx=\"4\"/>\n",
            MARGIN, y, WIDTH - 2 * MARGIN, height);
    for (size_t i = 0; i < lines; i++) {
        size_t n = line_length(note);
        fprintf(p->out, "<text x=\"%d\" y=\"%d\">", MARGIN + 8, y + 17 + (int)i * LINE);
        put_xml(p->out, note, n);
        note += n;
        while (*note == ' ')
            note++;
        fputs(i + 1 == lines && *note ? " ...</text>\n" : "</text>\n", p->out);
    }
    fputs("</g>\n", p->out);
    return height + 8;
}

static void put_subtitle(struct picture *p, const struct export_profile *profile, int y)
{
    uint64_t samples = 0;
    for (size_t t = 0; t < profile->count; t++)
        samples = export_add(samples, p->trees[t].nodes[0].count);
    fprintf(p->out, "<text class=\"muted\" x=\"%d\" y=\"%d\">", MARGIN, y);
    put_count(p, samples, "sample");
    fputs(" on ", p->out);
    put_count(p, profile->count, "track");
    if (profile->seconds > 0 && isfinite(profile->seconds))
        fprintf(p->out, " in %.3g s", profile->seconds);
    struct tm tm;
    time_t start = (time_t)(profile->start_ns / 1000000000);
    char when[64];
    if (profile->start_ns > 0 && gmtime_r(&start, &tm) &&
        strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm))
        fprintf(p->out, ", begun %s", when);
    fputs("</text>\n", p->out);
}

static void put_lines(struct picture *p, const struct export_svg_node *node)
{
    if (!node->frame->file)
        return;
    putc('\n', p->out);
    put_text(p, node->frame->file);
    if (node->first_line)
        fprintf(p->out, ":%" PRIu32, node->first_line);
    if (node->last_line != node->first_line)
        fprintf(p->out, "-%" PRIu32, node->last_line);
}

static void put_blocked(struct picture *p, const struct export_svg_node *node)
{
    if (node->i_blocked || node->d_blocked) {
        fputs("\nwaiting for instructions: ", p->out);
        put_count(p, node->i_blocked, "sample");
        fputs(", for data: ", p->out);
        put_count(p, node->d_blocked, "sample");
    }
}

/* What a pointer that rests on it shows; the script takes its first line for the name. */
static void put_title(struct picture *p, const struct export_track *track, const struct export_svg_node *root,
                      const struct export_svg_node *node)
{
    uint64_t count = node->merged > 1 ? node->merged_count : node->count;
    fputs("<title>", p->out);
    if (node->merged > 1) {
        put_count(p, node->merged, "function");
        fputs(" too small to draw", p->out);
    } else {
        put_text(p, node->frame ? node->frame->name : track->name);
        if (node->frame)
            put_lines(p, node);
    }
    putc('\n', p->out);
    put_count(p, count, "sample");
    if (node != root) {
        fprintf(p->out, ", %.2f %% of ", 100 * node->width);
        put_text(p, track->name);
        if (node->merged <= 1) {
            fputs("\nitself: ", p->out);
            put_count(p, node->self, "sample");
            fputs(node->frame->inlined ? "\ninlined" : "", p->out);
            put_blocked(p, node);
        }
    } else {
        if (track->sampling_hz > 0 && isfinite(track->sampling_hz))
            fprintf(p->out, " at %.6g Hz", track->sampling_hz);
        put_blocked(p, node);
        if (track->lost_packets) {
            fputs("\nlost: ", p->out);
            put_count(p, track->lost_packets, "packet");
        }
    }
    fputs("</title>", p->out);
}

/* One colour a source file, so that the parts of a program stand out. */
static unsigned colour(const struct export_frame *frame)
{
    return (unsigned)(export_hash_text(EXPORT_HASH_START, frame->file ? frame->file : frame->name) >> 20) %
           COLOURS;
}

static void put_class(struct picture *p, const struct export_track *track, const struct export_svg_node *node)
{
    fputs("class=\"f", p->out);
    if (!node->frame)
        fputs(track->lost_packets ? " r l" : " r", p->out);
    else if (node->merged > 1)
        fputs(" k", p->out);
    else if (node->frame->name[0] == '[')
        fputs(" u", p->out);
    else
        fprintf(p->out, " c%u", colour(node->frame));
    if (node->frame && node->frame->inlined && node->merged <= 1)
        fputs(" n", p->out);
    fputs(node->width * WIDTH < TEXT_PX ? " t\"" : "\"", p->out);
}

/* A bar at the frame's foot: how much of it waited. */
static void put_blocked_bar(struct picture *p, const struct export_svg_node *node)
{
    double i_share = node->weight > 0 ? (double)node->i_blocked / node->weight : 0;
    double d_share = node->weight > 0 ? (double)node->d_blocked / node->weight : 0;
    i_share = i_share > 1 ? 1 : i_share;
    d_share = d_share > 1 - i_share ? 1 - i_share : d_share;
    if (i_share > 0)
        fprintf(p->out, "<rect class=\"bi\" y=\"16\" width=\"%.2f%%\" height=\"3\"/>", 100 * i_share);
    if (d_share > 0)
        fprintf(p->out, "<rect class=\"bd\" x=\"%.2f%%\" y=\"16\" width=\"%.2f%%\" height=\"3\"/>",
                100 * i_share, 100 * d_share);
}

static void put_root_label(struct picture *p, const struct export_track *track,
                           const struct export_svg_node *node)
{
    put_text(p, track->name);
    fputs("  \xC2\xB7  ", p->out);
    if (node->count)
        put_count(p, node->count, "sample");
    else
        fputs("no samples", p->out);
    if (track->lost_packets) {
        fputs("  \xC2\xB7  ", p->out);
        put_count(p, track->lost_packets, "packet");
        fputs(" lost", p->out);
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

/* All that a merged frame stands for, so that a search finds it: depth, samples, name. */
static void put_merged(struct picture *p, const struct export_svg_tree *tree,
                       const struct export_svg_node *first)
{
    fputs("<metadata>\n", p->out);
    for (size_t s = tree->nodes[first->parent].first_child; s != EXPORT_SVG_NONE; s = tree->nodes[s].next) {
        if (&tree->nodes[s] != first && !tree->nodes[s].hidden)
            continue;
        for (size_t at = s; at != EXPORT_SVG_NONE; at = walk_below(tree, at, s)) {
            const struct export_svg_node *node = &tree->nodes[at];
            fprintf(p->out, "%u %" PRIu64 " ", node->depth, node->count);
            put_text(p, node->frame->name);
            putc('\n', p->out);
        }
    }
    fputs("</metadata>", p->out);
}

static void put_node(struct picture *p, const struct export_track *track, const struct export_svg_tree *tree,
                     const struct export_svg_node *node, size_t parent, int y)
{
    const struct export_svg_node *root = tree->nodes;
    fputs("<svg ", p->out);
    put_class(p, track, node);
    fprintf(p->out, " x=\"%.5f%%\" y=\"%d\" width=\"%.5f%%\" height=\"%d\" data-x=\"%.12g\" data-w=\"%.12g\"",
            100 * node->x, y + (int)node->depth * ROW, 100 * node->width, ROW - 1, node->x, node->width);
    if (node == root)
        fprintf(p->out, " data-n=\"%.17g\"", node->weight);
    else
        fprintf(p->out, " data-p=\"%zu\"", parent);
    putc('>', p->out);
    put_title(p, track, root, node);
    if (node->merged > 1)
        put_merged(p, tree, node);
    fprintf(p->out, "<rect class=\"s\" width=\"100%%\" height=\"%d\"%s/>", ROW - 1,
            node->width * WIDTH < STROKE_PX ? " style=\"stroke-width:0\"" : "");
    if (node != root && node->merged <= 1)
        put_blocked_bar(p, node);
    if (node->width * WIDTH >= TEXT_PX) {
        fputs("<text x=\"4\" y=\"13\">", p->out);
        if (node == root)
            put_root_label(p, track, node);
        else if (node->merged <= 1)
            put_text(p, node->frame->name);
        if (node != root && node->width * WIDTH >= PERCENT_PX)
            fprintf(p->out, "<tspan class=\"p\" dx=\"8\">%.1f %%</tspan>", 100 * node->width);
        fputs("</text>", p->out);
    }
    fputs("</svg>\n", p->out);
    p->frames++;
}

static void put_track(struct picture *p, const struct export_track *track, const struct export_svg_tree *tree,
                      int y)
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

static void put_style(struct picture *p)
{
    static const unsigned hues[COLOURS] = {14, 24, 34, 44, 54, 4, 350, 66, 190, 150, 210, 270};
    fputs("<style>\n", p->out);
    fputs(export_svg_style, p->out);
    for (unsigned dark = 0; dark < 2; dark++) {
        fputs(dark ? "@media (prefers-color-scheme:dark){\n" : "", p->out);
        for (unsigned i = 0; i < COLOURS; i++)
            fprintf(p->out, ".c%u .s{fill:hsl(%u,%s)}\n", i, hues[i], dark ? "38%,30%" : "82%,77%");
        fprintf(p->out, ".u .s{fill:%s}\n.k .s{fill:%s}\n", dark ? "#484f58" : "#c9d1d9",
                dark ? "#30363d" : "#e4e8ec");
    }
    fputs("}\n</style>\n", p->out);
}

static int band_height(const struct export_svg_tree *tree)
{
    return (int)(tree->depth + 1) * ROW + BAND_GAP;
}

static void put_picture(struct picture *p, const struct export_profile *profile, const char *note)
{
    const char *title = profile->title ? profile->title : "corral";
    int header = 54;
    int banner = (int)count_lines(note) ? (int)count_lines(note) * LINE + 18 : 0;
    int64_t height = header + banner + 66;
    for (size_t t = 0; t < profile->count; t++)
        height += band_height(&p->trees[t]);
    fprintf(
        p->out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
        "height=\"%" PRId64 "\">\n<title>",
        WIDTH, height);
    put_text(p, title);
    fputs("</title>\n", p->out);
    put_style(p);
    fprintf(p->out,
            "<rect class=\"bg\" width=\"100%%\" height=\"100%%\"/>\n<text class=\"title\" x=\"%d\" y=\"25\">",
            MARGIN);
    put_text(p, title);
    fputs("</text>\n", p->out);
    put_subtitle(p, profile, 45);
    int y = header + put_banner(p, note, header);
    fprintf(p->out, "<text id=\"bar\" class=\"muted\" x=\"%d\" y=\"%d\"/>\n", MARGIN, y);
    fprintf(
        p->out,
        "<text class=\"muted\" x=\"100%%\" dx=\"-%d\" y=\"%d\" text-anchor=\"end\">A colour a source file; "
        "<tspan font-style=\"italic\">italics</tspan>: inlined; foot: waiting for "
        "<tspan class=\"bi\">instructions</tspan> or <tspan "
        "class=\"bd\">data</tspan></text>\n",
        MARGIN, y + 19);
    fprintf(p->out, "<text id=\"details\" x=\"%d\" y=\"%d\" aria-live=\"polite\"></text>\n", MARGIN, y + 49);
    y += 62;
    fprintf(p->out, "<svg id=\"all\" x=\"%d\" width=\"%d\" height=\"%" PRId64 "\">\n", MARGIN,
            WIDTH - 2 * MARGIN, height);
    for (size_t t = 0; t < profile->count && y < TRACK_MAX_Y; t++) {
        put_track(p, &profile->tracks[t], &p->trees[t], y);
        y += band_height(&p->trees[t]);
    }
    fputs("</svg>\n<script><![CDATA[\n", p->out);
    fputs(export_svg_script, p->out);
    fputs("]]></script>\n</svg>\n", p->out);
}

/* With what only the picture leaves out. */
static char *make_note(const struct export_profile *profile, const struct export_svg_tree *trees)
{
    char *note = export_text_note(profile);
    char *longer = NULL;
    bool cut = false;
    for (size_t t = 0; t < profile->count; t++)
        cut = cut || trees[t].cut;
    if (!note || !cut)
        return note;
    if (asprintf(&longer, "%s%sStacks deeper than %u functions are drawn so far.", note, *note ? " " : "",
                 EXPORT_SVG_MAX_DEPTH) < 0)
        longer = NULL;
    free(note);
    return longer;
}

enum corral_err export_svg(const struct export_profile *profile, const char *path, struct diag *d)
{
    struct export_file f;
    struct picture p = {.trees = calloc(profile->count + 1, sizeof(*p.trees))};
    char *note = NULL;
    p.failed = !p.trees;
    for (size_t t = 0; t < profile->count && !p.failed; t++)
        p.failed = !export_svg_tree_make(&p.trees[t], &profile->tracks[t], LEAST_PX / WIDTH);
    if (!p.failed)
        note = make_note(profile, p.trees);
    enum corral_err err = export_file_begin(&f, path, d);
    if (err != CORRAL_OK)
        goto out;
    p.out = f.out;
    p.failed = p.failed || !note;
    if (!p.failed)
        put_picture(&p, profile, note);
    if (!p.failed) {
        err = export_file_end(&f, d);
    } else {
        export_file_abandon(&f);
        err = diag_set(d, CORRAL_ERR_NO_MEMORY, "%.200s: out of memory for the picture", path);
    }
out:
    for (size_t t = 0; p.trees && t < profile->count; t++)
        export_svg_tree_free(&p.trees[t]);
    free(p.trees);
    free(note);
    return err;
}
