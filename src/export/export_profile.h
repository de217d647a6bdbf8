/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile as exporters want it: stacks with counts, root first. Neutral, so that exporters need know
 * nothing of prof/ and symbol/; session fills it in.
 */
#ifndef CORRAL_EXPORT_EXPORT_PROFILE_H
#define CORRAL_EXPORT_EXPORT_PROFILE_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct export_frame {
    const char *name;
    const char *file; /* or NULL */
    uint32_t line;    /* 0 = not known */
    uint64_t address; /* in the target: of the sample, or of the call; inlined frames share their leaf's */
    bool inlined;     /* into the frame before it */
    int mapping;      /* index into mappings; -1 = none */
};

struct export_stack {
    const struct export_frame *frames; /* root first */
    size_t depth;
    uint64_t count;
    uint64_t i_blocked, d_blocked; /* of `count` */
    int thread;                    /* hardware thread; -1 = of several, or not known */
    uint32_t pid;                  /* 0 = none */
};

/* One per core (or sender). */
struct export_track {
    const char *name;
    const struct export_stack *stacks;
    size_t count;
    uint64_t lost_packets; /* shown, never averaged over */
    double sampling_hz;    /* <= 0 = not known */
    uint64_t unplaced;     /* samples that are in no stack: there was no room for their addresses */
};

struct export_mapping {
    uint64_t start, limit, file_offset; /* in the target; half open */
    const char *path;
    const char *build_id; /* hexadecimal, "" = none */
    bool has_lines;
    bool big_endian, wide; /* wide: 64-bit pointers */
};

struct export_profile {
    const char *title;
    const struct export_track *tracks;
    size_t count;
    const struct export_mapping *mappings;
    size_t mapping_count;
    int64_t start_ns; /* since the epoch; 0 = not known */
    double seconds;   /* profiled; <= 0 = not known */
    const char *note; /* a sentence on losses and wrong images, drawn by every format that can; or NULL */
};

/* Each writes the file whole or not at all. An empty profile gives a valid file, but for gmon, which is
 * refused. With CORRAL_OK, d->message says what the format has no place for; "" where there is nothing. */

/* Brendan Gregg's folded stacks: "track;root;...;leaf count". */
enum corral_err export_folded(const struct export_profile *profile, const char *path, struct diag *d);
/* speedscope's "sampled" profiles, one a track. */
enum corral_err export_speedscope(const struct export_profile *profile, const char *path, struct diag *d);
/* pprof's profile.proto, gzip: samples/count and cpu/nanoseconds, labels thread, pid, state, track. */
enum corral_err export_pprof(const struct export_profile *profile, const char *path, struct diag *d);
/* gprof's gmon.out in the byte order of the only mapping's image: CORRAL_ERR_UNSUPPORTED without an image,
 * with images of two byte orders or pointer sizes, with two at the same addresses, or without a sample;
 * CORRAL_ERR_LIMIT with more samples at one address than readers can add up. */
enum corral_err export_gmon(const struct export_profile *profile, const char *path, struct diag *d);
/* One self-contained flame graph, with search and zoom and no network. */
enum corral_err export_svg(const struct export_profile *profile, const char *path, struct diag *d);

/* By name: folded speedscope pprof gmon svg. CORRAL_ERR_USAGE names those there are. */
enum corral_err export_profile_as(const struct export_profile *profile, const char *format, const char *path,
                                  struct diag *d);

#endif
