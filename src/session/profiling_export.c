/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as the exporters want it (export_profile.h): a track a sender with its own losses, stacks root
 * first, the images as mappings, and the same remarks that the text shows. Computes nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/export_profile.h"
#include "session/profiling_internal.h"
#include "session/profiling_remarks.h"

#define MAX_MAPPINGS 4096u /* an image at many places: more are left without */

struct drawing {
    struct profiling *p;
    const struct prof_report *report;
    struct export_frame *frames;
    struct export_stack *stacks;
    struct export_track *tracks;
    struct export_mapping *mappings;
    const struct symbol_index **images; /* of the mappings */
    uint64_t *shifts;                   /* target address - image address, of the mappings */
    size_t mapping_count;
    bool names_only; /* the format has no addresses */
    char note[2048];
};

/* --- mappings ------------------------------------------------------------------------------------------- */

/* One executable section of an image, shifted to where it lies in the target. */
static int add_mapping(struct drawing *w, const struct symbol_index *image,
                       const struct symbol_section *section, uint64_t shift)
{
    if (w->mapping_count == MAX_MAPPINGS || section->start >= section->limit)
        return -1;
    w->images[w->mapping_count] = image;
    w->shifts[w->mapping_count] = shift;
    w->mappings[w->mapping_count] = (struct export_mapping){
        .start = section->start + shift,
        .limit = section->limit + shift,
        .file_offset = section->file_offset == SYMBOL_NO_BYTES ? 0 : section->file_offset,
        .path = symbol_path(image),
        .build_id = symbol_build_id(image),
        .has_lines = symbol_has_lines(image),
        .big_endian = symbol_big_endian(image),
        .wide = symbol_wide(image),
    };
    return (int)w->mapping_count++;
}

/* The mapping of the section that covers `at` of an image, made when it is new; -1 = none. */
static int mapping_of(struct drawing *w, const struct symbol_index *image, uint64_t at, uint64_t shift)
{
    struct symbol_section section;
    for (size_t i = 0; i < w->mapping_count; i++)
        if (w->images[i] == image && w->shifts[i] == shift && at + shift >= w->mappings[i].start &&
            at + shift < w->mappings[i].limit)
            return (int)i;
    for (size_t i = 0; i < symbol_section_count(image); i++)
        if (symbol_section_get(image, i, &section) && at >= section.start && at < section.limit)
            return add_mapping(w, image, &section, shift);
    return -1;
}

static int mapping_at(struct drawing *w, const struct symbol_space *space, uint32_t pid, uint64_t address)
{
    struct symbol_place place;
    if (!space || !symbol_space_find(space, pid, address, &place) || !place.image)
        return -1;
    return mapping_of(w, place.image, place.address, address - place.address);
}

/* Images without a sample are mappings, too: an exporter takes the byte order from them. */
static void map_all_images(struct drawing *w, struct symbol_space *const *spaces, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; spaces[i] && k < symbol_space_image_count(spaces[i]); k++) {
            uint64_t offset = 0;
            struct symbol_section section;
            const struct symbol_index *image = symbol_space_image(spaces[i], k, &offset);
            for (size_t m = 0; image && m < symbol_section_count(image); m++)
                if (symbol_section_get(image, m, &section))
                    mapping_of(w, image, section.start, offset);
        }
    }
}

/* --- stacks --------------------------------------------------------------------------------------------- */

static void draw_stack(struct drawing *w, const struct symbol_space *space,
                       const struct prof_report_stack *from, struct export_frame *frames,
                       struct export_stack *to)
{
    for (size_t i = 0; i < from->depth; i++) {
        bool inlined = i > 0 && from->addresses[i] == from->addresses[i - 1];
        frames[i] = (struct export_frame){
            .name = from->frames[i].name,
            .file = from->frames[i].file,
            .line = from->frames[i].line,
            .address = from->addresses[i],
            .inlined = inlined,
            .mapping = inlined ? frames[i - 1].mapping : mapping_at(w, space, from->pid, from->addresses[i]),
        };
    }
    *to = (struct export_stack){
        .frames = frames,
        .depth = from->depth,
        .count = from->count,
        .i_blocked = from->i_blocked,
        .d_blocked = from->d_blocked,
        .thread = (int)from->thread,
        .pid = from->pid,
    };
}

static int by_names(const void *a, const void *b)
{
    const struct export_stack *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    for (size_t i = 0; i < x->depth; i++) {
        int order = strcmp(x->frames[i].name, y->frames[i].name);
        if (order)
            return order;
    }
    return 0;
}

/* Formats that know names only would say the same stack once for each address in it. */
static size_t merge_by_names(struct export_stack *stacks, size_t n)
{
    size_t kept = 0;
    qsort(stacks, n, sizeof(*stacks), by_names);
    for (size_t i = 0; i < n; i++) {
        struct export_stack *into = kept ? &stacks[kept - 1] : NULL;
        if (!into || by_names(into, &stacks[i]) != 0) {
            stacks[kept++] = stacks[i];
            continue;
        }
        into->count += stacks[i].count;
        into->i_blocked += stacks[i].i_blocked;
        into->d_blocked += stacks[i].d_blocked;
        into->thread = into->thread == stacks[i].thread ? into->thread : -1;
        into->pid = into->pid == stacks[i].pid ? into->pid : 0;
    }
    return kept;
}

/* A track a sender, also one that sent nothing: a core without samples must not look like no core. */
static void draw_tracks(struct drawing *w, struct symbol_space *const *spaces, size_t space_count)
{
    const struct prof_report *r = w->report;
    size_t frame = 0, stack = 0;
    for (size_t s = 0; s < r->source_count; s++) {
        struct export_track *track = &w->tracks[s];
        size_t first = stack;
        *track = (struct export_track){
            .name = r->sources[s].name,
            .stacks = &w->stacks[first],
            .lost_packets = r->sources[s].totals.lost,
            .sampling_hz = r->sources[s].sampling_hz > 0 ? r->sources[s].sampling_hz : 0,
            .unplaced = r->sources[s].overflow,
        };
        for (size_t i = 0; i < r->stack_count; i++) {
            if (r->stacks[i].source != s)
                continue;
            draw_stack(w, s < space_count ? spaces[s] : NULL, &r->stacks[i], &w->frames[frame],
                       &w->stacks[stack++]);
            frame += r->stacks[i].depth;
            track->count++;
        }
        if (w->names_only)
            track->count = merge_by_names(&w->stacks[first], track->count);
    }
}

static bool make_room(struct drawing *w)
{
    size_t frames = 1;
    for (size_t i = 0; i < w->report->stack_count; i++)
        frames += w->report->stacks[i].depth;
    w->frames = calloc(frames, sizeof(*w->frames));
    w->stacks = calloc(w->report->stack_count + 1, sizeof(*w->stacks));
    w->tracks = calloc(w->report->source_count + 1, sizeof(*w->tracks));
    w->mappings = calloc(MAX_MAPPINGS, sizeof(*w->mappings));
    w->images = calloc(MAX_MAPPINGS, sizeof(*w->images));
    w->shifts = calloc(MAX_MAPPINGS, sizeof(*w->shifts));
    return w->frames && w->stacks && w->tracks && w->mappings && w->images && w->shifts;
}

static void free_drawing(struct drawing *w)
{
    free(w->frames);
    free(w->stacks);
    free(w->tracks);
    free(w->mappings);
    free(w->images);
    free(w->shifts);
}

static enum corral_err write_note(struct drawing *w, struct diag *d)
{
    struct profiling_remarks *remarks = calloc(1, sizeof(*remarks));
    if (!remarks)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    profiling_remarks_find(w->report, remarks);
    profiling_remarks_line(remarks, w->note, sizeof(w->note));
    free(remarks);
    return CORRAL_OK;
}

static double seconds_of(const struct prof_report *report)
{
    double most = 0;
    for (size_t i = 0; i < report->source_count; i++)
        if (report->sources[i].seconds > most)
            most = report->sources[i].seconds;
    return most;
}

enum corral_err profiling_export_report(struct profiling *p, const struct prof_report *report,
                                        const char *format, const char *path, struct diag *d)
{
    struct symbol_space *spaces[PROF_MAX_SOURCES];
    struct drawing w = {.p = p, .report = report};
    w.names_only = strcmp(format, "folded") == 0 || strcmp(format, "speedscope") == 0;
    size_t n = profiling_spaces_of(p, report, spaces);
    enum corral_err err =
        make_room(&w) ? write_note(&w, d) : diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    if (err == CORRAL_OK) {
        draw_tracks(&w, spaces, n);
        map_all_images(&w, spaces, n);
        const struct export_profile profile = {
            .title = "corral profile",
            .tracks = w.tracks,
            .count = report->source_count,
            .mappings = w.mappings,
            .mapping_count = w.mapping_count,
            .start_ns = p->start_ns,
            .seconds = seconds_of(report),
            .note = w.note[0] ? w.note : NULL,
        };
        err = export_profile_as(&profile, format, path, d);
    }
    free_drawing(&w);
    return err;
}

enum corral_err profiling_export(struct profiling *p, const char *format, const char *path, struct diag *d)
{
    struct prof_report *report = profiling_report(p, -1, 0, true, d);
    if (!report)
        return d ? d->code : CORRAL_ERR_NO_MEMORY;
    enum corral_err err = profiling_export_report(p, report, format, path, d);
    prof_report_free(report);
    return err;
}

/* --- before anything is collected ----------------------------------------------------------------------- */

static enum corral_err refuse_file(const char *path, const char *why, struct diag *d)
{
    diag_set(d, CORRAL_ERR_IO, "%.200s: cannot be written: %s", path, why);
    diag_object(d, "%.150s", path);
    return CORRAL_ERR_IO;
}

/* Files are written under another name in the same folder, so the folder is what counts. */
static enum corral_err check_folder(const char *path, struct diag *d)
{
    const char *slash = strrchr(path, '/');
    char folder[4096] = ".";
    if (slash && (size_t)(slash - path) >= sizeof(folder))
        return refuse_file(path, strerror(ENAMETOOLONG), d);
    if (slash) {
        memcpy(folder, path, (size_t)(slash - path) + (slash == path));
        folder[(size_t)(slash - path) + (slash == path)] = '\0';
    }
    if (access(folder, W_OK | X_OK) != 0)
        return refuse_file(path, strerror(errno), d);
    return slash && !slash[1] ? refuse_file(path, strerror(EISDIR), d) : CORRAL_OK;
}

enum corral_err profiling_check_export(const char *format, const char *path, struct diag *d)
{
    static const char *const formats[] = {"folded", "speedscope", "pprof", "gmon", "svg", "jsonl"};
    struct stat st;
    bool known = false;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        known |= strcmp(formats[i], format) == 0;
    if (!known) {
        diag_set(d, CORRAL_ERR_USAGE, "there is no export format '%.60s'", format);
        diag_hint(d, "there are folded, speedscope, pprof, gmon, svg and jsonl");
        return CORRAL_ERR_USAGE;
    }
    if (!path[0])
        return diag_set(d, CORRAL_ERR_USAGE, "no file is given for the format '%s'", format);
    if (stat(path, &st) != 0)
        return errno == ENOENT ? check_folder(path, d) : refuse_file(path, strerror(errno), d);
    if (S_ISDIR(st.st_mode))
        return refuse_file(path, strerror(EISDIR), d);
    if (!S_ISREG(st.st_mode))
        return access(path, W_OK) == 0 ? CORRAL_OK : refuse_file(path, strerror(errno), d);
    return check_folder(path, d);
}
