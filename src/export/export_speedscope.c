/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope's file format (its published file-format-schema.json): one table of frames, one "sampled"
 * profile a track, a weight for each stack. A profile that is empty is still a valid file with one empty
 * profile. Losses are in a profile's name.
 */
#include "export/export_profile.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "export/export_file.h"

struct frame_entry {
    const struct export_frame *frame;
};

/* Distinct frames: open addressing over their order of appearance. */
struct frame_table {
    struct frame_entry *entries;
    size_t count;
    size_t room;
    size_t *slots; /* 0 = free, else number + 1 */
    size_t slot_count;
};

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001B3u;
    return (hash ^ 0xFF) * 0x100000001B3u; /* so that "ab","c" is not "a","bc" */
}

static uint64_t hash_frame(const struct export_frame *f)
{
    uint64_t hash = hash_text(0xCBF29CE484222325u, f->name);
    return (hash_text(hash, f->file) ^ f->line) * 0x100000001B3u;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_frame(const struct export_frame *a, const struct export_frame *b)
{
    return a->line == b->line && same_text(a->name, b->name) && same_text(a->file, b->file);
}

/* The slot of `frame`, or the free one where it belongs. There is always a free one. */
static size_t find_slot(const struct frame_table *t, const struct export_frame *frame)
{
    size_t slot = (size_t)(hash_frame(frame) % t->slot_count);
    while (t->slots[slot] && !same_frame(t->entries[t->slots[slot] - 1].frame, frame))
        slot = (slot + 1) % t->slot_count;
    return slot;
}

static bool grow(struct frame_table *t)
{
    size_t room = t->room ? t->room * 2 : 256;
    struct frame_entry *entries = realloc(t->entries, room * sizeof(*entries));
    if (entries)
        t->entries = entries;
    size_t *slots = calloc(room * 2, sizeof(*slots));
    if (!entries || !slots) {
        free(slots);
        return false;
    }
    free(t->slots);
    t->slots = slots;
    t->slot_count = room * 2;
    t->room = room;
    for (size_t i = 0; i < t->count; i++)
        t->slots[find_slot(t, t->entries[i].frame)] = i + 1;
    return true;
}

static bool add_frame(struct frame_table *t, const struct export_frame *frame)
{
    if (t->count == t->room && !grow(t))
        return false;
    size_t slot = find_slot(t, frame);
    if (t->slots[slot] == 0) {
        t->entries[t->count++].frame = frame;
        t->slots[slot] = t->count;
    }
    return true;
}

static bool add_frames(struct frame_table *t, const struct export_profile *profile)
{
    if (!grow(t))
        return false;
    for (size_t i = 0; i < profile->count; i++)
        for (size_t k = 0; k < profile->tracks[i].count; k++)
            for (size_t n = 0; n < profile->tracks[i].stacks[k].depth; n++)
                if (!add_frame(t, &profile->tracks[i].stacks[k].frames[n]))
                    return false;
    return true;
}

static void put_frames(FILE *out, const struct frame_table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
        export_file_json_string(out, t->entries[i].frame->name);
        if (t->entries[i].frame->file) {
            fputs(",\"file\":", out);
            export_file_json_string(out, t->entries[i].frame->file);
        }
        if (t->entries[i].frame->line)
            fprintf(out, ",\"line\":%" PRIu32, t->entries[i].frame->line);
        putc('}', out);
    }
}

static void put_profile_name(FILE *out, const struct export_track *track)
{
    size_t room = strlen(track->name) + 64;
    char *name = malloc(room);
    if (name && track->lost_packets)
        snprintf(name, room, "%s (%" PRIu64 " packet%s lost)", track->name, track->lost_packets,
                 track->lost_packets == 1 ? "" : "s");
    export_file_json_string(out, name && track->lost_packets ? name : track->name);
    free(name);
}

static void put_profile(FILE *out, const struct frame_table *t, const struct export_track *track)
{
    uint64_t total = 0;
    fputs("{\"type\":\"sampled\",\"name\":", out);
    put_profile_name(out, track);
    fputs(",\"unit\":\"none\",\"startValue\":0,\"samples\":[", out);
    for (size_t i = 0; i < track->count; i++) {
        fputs(i ? ",\n[" : "\n[", out);
        for (size_t k = 0; k < track->stacks[i].depth; k++)
            fprintf(out, "%s%zu", k ? "," : "", t->slots[find_slot(t, &track->stacks[i].frames[k])] - 1);
        putc(']', out);
    }
    fputs("],\"weights\":[", out);
    for (size_t i = 0; i < track->count; i++) {
        total += track->stacks[i].count;
        fprintf(out, "%s%" PRIu64, i ? "," : "", track->stacks[i].count);
    }
    fprintf(out, "],\"endValue\":%" PRIu64 "}", total);
}

enum corral_err export_speedscope(const struct export_profile *profile, const char *path, struct diag *d)
{
    struct frame_table table = {.entries = NULL};
    struct export_file f;
    enum corral_err err = export_file_begin(&f, path, d);
    if (err != CORRAL_OK)
        return err;
    if (!add_frames(&table, profile)) {
        export_file_abandon(&f);
        err = diag_set(d, CORRAL_ERR_NO_MEMORY, "%.200s: out of memory for its frames", path);
        goto out;
    }
    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"name\":", f.out);
    export_file_json_string(f.out, profile->title ? profile->title : "corral");
    fputs(",\"exporter\":\"corral " CORRAL_VERSION "\",\"activeProfileIndex\":0,\"shared\":{\"frames\":[",
          f.out);
    put_frames(f.out, &table);
    fputs("]},\"profiles\":[\n", f.out);
    const struct export_track empty = {.name = profile->title ? profile->title : "corral"};
    for (size_t i = 0; i < profile->count; i++) {
        put_profile(f.out, &table, &profile->tracks[i]);
        fputs(i + 1 < profile->count ? ",\n" : "\n", f.out);
    }
    if (profile->count == 0)
        put_profile(f.out, &table, &empty);
    fputs("]}\n", f.out);
    err = export_file_end(&f, d);
out:
    free(table.entries);
    free(table.slots);
    return err;
}
