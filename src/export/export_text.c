/* SPDX-License-Identifier: Apache-2.0 */
/* Words that several exporters need (export_text.h). */
#include "export/export_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

char *export_text_clean(const char *text)
{
    size_t size = strlen(text);
    char *out = size > SIZE_MAX / 8 ? NULL : malloc(TEXT_CLEAN_MAX(size));
    if (out)
        text_escape((const uint8_t *)text, size, out, TEXT_CLEAN_MAX(size));
    return out;
}

const char *export_text_grouped(uint64_t value, char out[EXPORT_GROUPED_ROOM])
{
    char digits[24];
    size_t n = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, value);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

char *export_text_note(const struct export_profile *profile)
{
    char *text = NULL;
    size_t size = 0;
    uint64_t lost = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    char *note = export_text_clean(profile->note ? profile->note : "");
    bool failed = !note;
    if (note)
        fputs(note, out);
    for (size_t t = 0; t < profile->count; t++)
        lost = export_add(lost, profile->tracks[t].lost_packets);
    if (lost)
        fprintf(out, "%s%" PRIu64 " packet%s lost, whose samples are missing here:", note && *note ? " " : "",
                lost, plural(lost));
    const char *separator = " ";
    for (size_t t = 0; t < profile->count; t++) {
        const struct export_track *track = &profile->tracks[t];
        if (!track->lost_packets)
            continue;
        char *name = export_text_clean(track->name);
        failed = failed || !name;
        fprintf(out, "%s%s %" PRIu64, separator, name ? name : "", track->lost_packets);
        separator = ", ";
        free(name);
    }
    if (lost)
        putc('.', out);
    free(note);
    failed = ferror(out) != 0 || failed;
    if (fclose(out) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}

const char *export_text_loss(const struct export_track *track, char out[EXPORT_LOSS_ROOM])
{
    uint64_t lost = track->lost_packets, unplaced = track->unplaced;
    size_t used = 0;
    out[0] = '\0';
    if (lost)
        used = (size_t)snprintf(out, EXPORT_LOSS_ROOM, " (%" PRIu64 " packet%s lost%s", lost, plural(lost),
                                unplaced ? "" : ")");
    if (unplaced)
        snprintf(out + used, EXPORT_LOSS_ROOM - used, "%s%" PRIu64 " sample%s without a place)",
                 lost ? ", " : " (", unplaced, plural(unplaced));
    return out;
}

char *export_text_track(const struct export_track *track)
{
    char *text = NULL;
    char loss[EXPORT_LOSS_ROOM];
    char *name = export_text_clean(track->name);
    int made = name ? asprintf(&text, "%s%s", name, export_text_loss(track, loss)) : -1;
    free(name);
    return made < 0 ? NULL : text;
}
