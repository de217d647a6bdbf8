/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile as exporters want it: stacks with counts, root first. Neutral, so that exporters need know
 * nothing of prof/ and symbol/; session fills it in.
 */
#ifndef CORRAL_EXPORT_EXPORT_PROFILE_H
#define CORRAL_EXPORT_EXPORT_PROFILE_H

#include "base/diag.h"

#include <stddef.h>
#include <stdint.h>

struct export_frame {
    const char *name;
    const char *file; /* or NULL */
    uint32_t line;    /* 0 = not known */
};

struct export_stack {
    const struct export_frame *frames; /* root first */
    size_t depth;
    uint64_t count;
};

/* One per core (or hardware thread). */
struct export_track {
    const char *name;
    const struct export_stack *stacks;
    size_t count;
    uint64_t lost_packets; /* shown, never averaged over */
};

struct export_profile {
    const char *title;
    const struct export_track *tracks;
    size_t count;
};

/* Brendan Gregg's folded stacks: "track;root;...;leaf count". The file is written whole or not at all. */
enum corral_err export_folded(const struct export_profile *profile, const char *path, struct diag *d);
/* speedscope's "sampled" profiles, one a track. */
enum corral_err export_speedscope(const struct export_profile *profile, const char *path, struct diag *d);

#endif
