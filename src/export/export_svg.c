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
#include "export/export_svg_frames.h"
#include "export/export_svg_parts.h"
#include "export/export_text.h"

#define LINE        17 /* of text in the header */
#define BAND_GAP    16
#define LEAST_PX    0.2
#define NOTE_CHARS  170 /* in a line of the banner */
#define NOTE_LINES  24u
#define TRACK_MAX_Y 30000000 /* pixels; far above what a browser draws */

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
static int put_banner(struct export_svg_out *p, const char *note, int y)
{
    size_t lines = count_lines(note);
    if (lines == 0)
        return 0;
    int height = (int)lines * LINE + 10;
    fprintf(p->file,
            "<g class=\"banner\" id=\"note\"><rect class=\"w\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
            "rx=\"4\"/>\n",
            EXPORT_SVG_MARGIN, y, EXPORT_SVG_WIDTH - 2 * EXPORT_SVG_MARGIN, height);
    for (size_t i = 0; i < lines; i++) {
        size_t n = line_length(note);
        fprintf(p->file, "<text x=\"%d\" y=\"%d\">", EXPORT_SVG_MARGIN + 8, y + 17 + (int)i * LINE);
        export_svg_put_xml(p, note, n);
        note += n;
        while (*note == ' ')
            note++;
        fputs(i + 1 == lines && *note ? " ...</text>\n" : "</text>\n", p->file);
    }
    fputs("</g>\n", p->file);
    return height + 8;
}

static void put_subtitle(struct export_svg_out *p, const struct export_profile *profile,
                         const struct export_svg_tree *trees, int y)
{
    uint64_t samples = 0;
    for (size_t t = 0; t < profile->count; t++)
        samples = export_add(samples, trees[t].nodes[0].count);
    fprintf(p->file, "<text class=\"muted\" x=\"%d\" y=\"%d\">", EXPORT_SVG_MARGIN, y);
    export_svg_put_count(p, samples, "sample");
    fputs(" on ", p->file);
    export_svg_put_count(p, profile->count, "track");
    if (profile->seconds > 0 && isfinite(profile->seconds))
        fprintf(p->file, profile->seconds < 100 ? " in %.3g s" : " in %.0f s", profile->seconds);
    struct tm tm;
    time_t start = (time_t)(profile->start_ns / 1000000000);
    char when[64];
    if (profile->start_ns > 0 && gmtime_r(&start, &tm) &&
        strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm))
        fprintf(p->file, ", begun %s", when);
    fputs("</text>\n", p->file);
}

static void put_style(struct export_svg_out *p)
{
    static const unsigned hues[EXPORT_SVG_COLOURS] = {14, 24, 34, 44, 54, 4, 350, 66, 190, 150, 210, 270};
    fputs("<style>\n", p->file);
    fputs(export_svg_style, p->file);
    for (unsigned dark = 0; dark < 2; dark++) {
        fputs(dark ? "@media (prefers-color-scheme:dark){\n" : "", p->file);
        for (unsigned i = 0; i < EXPORT_SVG_COLOURS; i++)
            fprintf(p->file, ".c%u .s{fill:hsl(%u,%s)}\n", i, hues[i], dark ? "38%,30%" : "82%,77%");
        fprintf(p->file, ".u .s{fill:%s}\n.k .s{fill:%s}\n", dark ? "#484f58" : "#c9d1d9",
                dark ? "#30363d" : "#e4e8ec");
    }
    fputs("}\n</style>\n", p->file);
}

static int band_height(const struct export_svg_tree *tree)
{
    return (int)(tree->depth + 1) * EXPORT_SVG_ROW + BAND_GAP;
}

static void put_picture(struct export_svg_out *p, const struct export_profile *profile,
                        const struct export_svg_tree *trees, const char *note)
{
    const char *title = profile->title ? profile->title : "corral";
    int header = 54;
    int banner = (int)count_lines(note) ? (int)count_lines(note) * LINE + 18 : 0;
    int64_t height = header + banner + 66;
    for (size_t t = 0; t < profile->count; t++)
        height += band_height(&trees[t]);
    fprintf(
        p->file,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
        "height=\"%" PRId64 "\">\n<title>",
        EXPORT_SVG_WIDTH, height);
    export_svg_put_text(p, title);
    fputs("</title>\n", p->file);
    put_style(p);
    fprintf(p->file,
            "<rect class=\"bg\" width=\"100%%\" height=\"100%%\"/>\n<text class=\"title\" x=\"%d\" y=\"25\">",
            EXPORT_SVG_MARGIN);
    export_svg_put_text(p, title);
    fputs("</text>\n", p->file);
    put_subtitle(p, profile, trees, 45);
    int y = header + put_banner(p, note, header);
    fprintf(p->file, "<text id=\"bar\" class=\"muted\" x=\"%d\" y=\"%d\"/>\n", EXPORT_SVG_MARGIN, y);
    fprintf(
        p->file,
        "<text class=\"muted\" x=\"100%%\" dx=\"-%d\" y=\"%d\" text-anchor=\"end\">A colour a source file; "
        "<tspan font-style=\"italic\">italics</tspan>: inlined; foot: waiting for "
        "<tspan class=\"bi\">instructions</tspan> or <tspan "
        "class=\"bd\">data</tspan></text>\n",
        EXPORT_SVG_MARGIN, y + 19);
    fprintf(p->file, "<text id=\"details\" x=\"%d\" y=\"%d\" aria-live=\"polite\"></text>\n",
            EXPORT_SVG_MARGIN, y + 49);
    y += 62;
    fprintf(p->file, "<svg id=\"all\" x=\"%d\" width=\"%d\" height=\"%" PRId64 "\">\n", EXPORT_SVG_MARGIN,
            EXPORT_SVG_WIDTH - 2 * EXPORT_SVG_MARGIN, height);
    for (size_t t = 0; t < profile->count && y < TRACK_MAX_Y; t++) {
        export_svg_put_track(p, &profile->tracks[t], &trees[t], y);
        y += band_height(&trees[t]);
    }
    fputs("</svg>\n<script><![CDATA[\n", p->file);
    fputs(export_svg_script, p->file);
    fputs("]]></script>\n</svg>\n", p->file);
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
    struct export_svg_out p = {.file = NULL};
    struct export_svg_tree *trees = calloc(profile->count + 1, sizeof(*trees));
    char *note = NULL;
    p.failed = !trees;
    for (size_t t = 0; t < profile->count && !p.failed; t++)
        p.failed = !export_svg_tree_make(&trees[t], &profile->tracks[t], LEAST_PX / EXPORT_SVG_WIDTH);
    if (!p.failed)
        note = make_note(profile, trees);
    enum corral_err err = export_file_begin(&f, path, d);
    if (err != CORRAL_OK)
        goto out;
    p.file = f.out;
    p.failed = p.failed || !note;
    if (!p.failed)
        put_picture(&p, profile, trees, note);
    if (!p.failed) {
        err = export_file_end(&f, d);
    } else {
        export_file_abandon(&f);
        err = diag_set(d, CORRAL_ERR_NO_MEMORY, "%.200s: out of memory for the picture", path);
    }
out:
    for (size_t t = 0; trees && t < profile->count; t++)
        export_svg_tree_free(&trees[t]);
    free(trees);
    free(note);
    return err;
}
