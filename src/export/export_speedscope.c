/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope's file format (its published file-format-schema.json): one table of frames, one "sampled"
 * profile a track, a weight for each stack. A profile that is empty is still a valid file with one empty
 * profile. Losses are in the names. Counts are decimal numbers of any size; readers are programs whose
 * numbers are exact up to 2^53.
 */
#include "export/export_profile.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "export/export_file.h"
#include "export/export_index.h"
#include "export/export_text.h"

/* Distinct functions, which is what speedscope takes a frame for: were lines part of it, one function would
 * be as many as it has sampled lines. The lowest line seen stands for it. */
struct frame_entry {
    const struct export_frame *frame;
    uint32_t line;
};

struct frame_table {
    struct frame_entry *entries;
    size_t room;
    struct export_index index;
};

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_frame(const void *ctx, size_t number, const void *key)
{
    const struct export_frame *a = ((const struct frame_table *)ctx)->entries[number].frame;
    const struct export_frame *b = key;
    return same_text(a->name, b->name) && same_text(a->file, b->file);
}

static size_t frame_number(struct frame_table *t, const struct export_frame *frame, bool *fresh)
{
    uint64_t hash = export_hash_text(export_hash_text(EXPORT_HASH_START, frame->name), frame->file);
    return export_index_number(&t->index, hash, frame, fresh);
}

static bool add_frame(struct frame_table *t, const struct export_frame *frame)
{
    bool fresh;
    if (!export_grow((void **)&t->entries, &t->room, t->index.count, sizeof(*t->entries)))
        return false;
    size_t number = frame_number(t, frame, &fresh);
    if (number == EXPORT_INDEX_FULL)
        return false;
    if (fresh)
        t->entries[number] = (struct frame_entry){.frame = frame, .line = frame->line};
    else if (frame->line && (frame->line < t->entries[number].line || !t->entries[number].line))
        t->entries[number].line = frame->line;
    return true;
}

static bool add_frames(struct frame_table *t, const struct export_profile *profile)
{
    for (size_t i = 0; i < profile->count; i++)
        for (size_t k = 0; k < profile->tracks[i].count; k++)
            for (size_t n = 0; n < profile->tracks[i].stacks[k].depth; n++)
                if (!add_frame(t, &profile->tracks[i].stacks[k].frames[n]))
                    return false;
    return true;
}

static void put_frames(FILE *out, const struct frame_table *t)
{
    for (size_t i = 0; i < t->index.count; i++) {
        fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
        export_file_json_string(out, t->entries[i].frame->name);
        if (t->entries[i].frame->file) {
            fputs(",\"file\":", out);
            export_file_json_string(out, t->entries[i].frame->file);
        }
        if (t->entries[i].line)
            fprintf(out, ",\"line\":%" PRIu32, t->entries[i].line);
        putc('}', out);
    }
}

static void put_stack(FILE *out, struct frame_table *t, const struct export_stack *stack)
{
    bool fresh;
    for (size_t k = 0; k < stack->depth; k++)
        fprintf(out, "%s%zu", k ? "," : "", frame_number(t, &stack->frames[k], &fresh));
}

/* Nobody shows a profile's other texts, so what was lost is in the names. */
static bool put_name_with_loss(FILE *out, const struct export_track *track)
{
    char *text = export_text_track(track);
    if (text)
        export_file_json_string(out, text);
    free(text);
    return text != NULL;
}

static bool put_profile(FILE *out, struct frame_table *t, const struct export_track *track)
{
    uint64_t total = 0;
    fputs("{\"type\":\"sampled\",\"name\":", out);
    bool ok = put_name_with_loss(out, track);
    fputs(",\"unit\":\"none\",\"startValue\":0,\"samples\":[", out);
    for (size_t i = 0; i < track->count; i++) {
        fputs(i ? ",\n[" : "\n[", out);
        put_stack(out, t, &track->stacks[i]);
        putc(']', out);
    }
    fputs("],\"weights\":[", out);
    for (size_t i = 0; i < track->count; i++) {
        total = export_add(total, track->stacks[i].count);
        fprintf(out, "%s%" PRIu64, i ? "," : "", track->stacks[i].count);
    }
    fprintf(out, "],\"endValue\":%" PRIu64 "}", total);
    return ok;
}

static bool put_all(FILE *out, struct frame_table *t, const struct export_profile *profile)
{
    const char *title = profile->title ? profile->title : "corral";
    const struct export_track empty = {.name = title};
    struct export_track all = empty;
    bool ok = add_frames(t, profile);
    for (size_t i = 0; i < profile->count; i++) {
        all.lost_packets = export_add(all.lost_packets, profile->tracks[i].lost_packets);
        all.unplaced = export_add(all.unplaced, profile->tracks[i].unplaced);
    }
    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"name\":", out);
    ok = put_name_with_loss(out, &all) && ok;
    fputs(",\"exporter\":\"corral " CORRAL_VERSION "\",\"activeProfileIndex\":0,\"shared\":{\"frames\":[",
          out);
    put_frames(out, t);
    fputs("]},\"profiles\":[\n", out);
    for (size_t i = 0; i < profile->count; i++) {
        ok = put_profile(out, t, &profile->tracks[i]) && ok;
        fputs(i + 1 < profile->count ? ",\n" : "\n", out);
    }
    if (profile->count == 0)
        ok = put_profile(out, t, &empty) && ok;
    fputs("]}\n", out);
    return ok;
}

enum corral_err export_speedscope(const struct export_profile *profile, const char *path, struct diag *d)
{
    struct frame_table table = {.index = {.same = same_frame}};
    struct export_file f;
    enum corral_err err = export_file_begin(&f, path, d);
    if (err != CORRAL_OK)
        return err;
    table.index.ctx = &table;
    if (put_all(f.out, &table, profile)) {
        err = export_file_end(&f, d);
    } else {
        export_file_abandon(&f);
        err = diag_set(d, CORRAL_ERR_NO_MEMORY, "%.200s: out of memory for its frames", path);
    }
    free(table.entries);
    export_index_free(&table.index);
    return err;
}
