/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words that several exporters need: names that are safe in any file, and what is said about losses. Private
 * to src/export.
 */
#ifndef CORRAL_EXPORT_EXPORT_TEXT_H
#define CORRAL_EXPORT_EXPORT_TEXT_H

#include "export/export_profile.h"

/* `text` as one line of valid UTF-8: control characters, what turns the order of a line round, and what is no
 * UTF-8 become \xNN. To be freed; NULL without memory. */
char *export_text_clean(const char *text);

/* 1234567 as "1,234,567". Returns `out`. */
#define EXPORT_GROUPED_ROOM 32
const char *export_text_grouped(uint64_t value, char out[EXPORT_GROUPED_ROOM]);

/* The profile's note, and behind it a sentence with each track that lost packets; "" when there is nothing to
 * say. To be freed; NULL without memory. */
char *export_text_note(const struct export_profile *profile);

/* What a track has lost: "", or " (3 packets lost, 5 samples without a place)". Returns `out`. */
#define EXPORT_LOSS_ROOM 96
const char *export_text_loss(const struct export_track *track, char out[EXPORT_LOSS_ROOM]);

/* Its name with that behind it. To be freed; NULL without memory. */
char *export_text_track(const struct export_track *track);

/* The largest value instead of a wrong one. */
static inline uint64_t export_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
