/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks, as flamegraph.pl and speedscope read them: "track;root;...;leaf count", a line a stack.
 * The format has no escapes, so what would end a frame, a line or the count is replaced in names. It has no
 * place for losses either: they are in the track's name, and never in a frame that nobody sampled. A track
 * that lost something and has no sample at all is a line with a count of 0.
 */
#include "export/export_profile.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "export/export_file.h"
#include "export/export_text.h"

/* Control characters are written as spaces. */
static bool is_space(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7F;
}

/* Where a final "space and number" begins; readers would take it for a second count. */
static size_t number_tail(const char *name, size_t length)
{
    size_t at = length;
    while (at > 0 && (strchr("0123456789.", name[at - 1]) != NULL))
        at--;
    return at < length && at > 0 && is_space(name[at - 1]) ? at - 1 : length;
}

static void put_name(FILE *out, const char *name)
{
    size_t length = strlen(name);
    size_t tail = number_tail(name, length);
    if (length == 0)
        putc('?', out);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)name[i];
        if (c == ';')
            putc(':', out);
        else if (i == tail)
            putc('_', out);
        else
            putc(is_space(name[i]) ? ' ' : c, out);
    }
}

static void put_track(FILE *out, const struct export_track *track)
{
    char loss[EXPORT_LOSS_ROOM];
    put_name(out, track->name);
    fputs(export_text_loss(track, loss), out);
}

static bool has_samples(const struct export_track *track)
{
    for (size_t i = 0; i < track->count; i++)
        if (track->stacks[i].count)
            return true;
    return false;
}

enum corral_err export_folded(const struct export_profile *profile, const char *path, struct diag *d)
{
    struct export_file f;
    enum corral_err err = export_file_begin(&f, path, d);
    if (err != CORRAL_OK)
        return err;
    for (size_t t = 0; t < profile->count; t++) {
        const struct export_track *track = &profile->tracks[t];
        if ((track->lost_packets || track->unplaced) && !has_samples(track)) {
            put_track(f.out, track); /* readers skip a count of 0; whoever looks sees it */
            fputs(" 0\n", f.out);
        }
        for (size_t i = 0; i < track->count; i++) {
            const struct export_stack *stack = &track->stacks[i];
            if (stack->count == 0)
                continue;
            put_track(f.out, track);
            for (size_t k = 0; k < stack->depth; k++) {
                putc(';', f.out);
                put_name(f.out, stack->frames[k].name);
            }
            fprintf(f.out, " %" PRIu64 "\n", stack->count);
        }
    }
    return export_file_end(&f, d);
}
