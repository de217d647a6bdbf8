/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The histograms of a gmon file (profiler sheet 10.1): counts by address, cut into records. A range that is
 * small enough is one record, repeated for what a bin cannot hold; of others only the parts with samples are
 * written, and a bin with a large count is a record of its own, so that the repeats stay short. All records
 * have bins of 4 bytes and ends at multiples of 4, which is what readers demand. Private to src/export.
 */
#ifndef CORRAL_EXPORT_EXPORT_GMON_BINS_H
#define CORRAL_EXPORT_EXPORT_GMON_BINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"

#define EXPORT_GMON_BIN_BYTES 4u

/* Fields in the byte order and with the pointers of the image. */
struct export_gmon_out {
    FILE *file;
    bool big_endian, wide;
};
void export_gmon_put_u32(const struct export_gmon_out *out, uint32_t value);
void export_gmon_put_address(const struct export_gmon_out *out, uint64_t value);

struct export_gmon_range { /* half open */
    uint64_t start, limit;
};

struct export_gmon_bin {
    uint64_t address; /* a multiple of the bin's width */
    uint64_t count;
};

struct export_gmon_piece { /* a record, written as often as its largest bin needs */
    uint64_t start, limit;
    size_t first, count; /* of the bins */
    uint64_t repeats;
};

struct export_gmon_bins {
    struct export_gmon_bin *bins;
    size_t count, room;
    struct export_gmon_piece *pieces;
    size_t piece_count, piece_room;
};

/* False without memory. */
bool export_gmon_bins_add(struct export_gmon_bins *b, uint64_t address, uint64_t count);
/* Once all are added, each inside one of the ranges (which are sorted and merged): how they are written.
 * CORRAL_ERR_LIMIT when a count is above what readers add up, or the file would be enormous. */
enum corral_err export_gmon_bins_plan(struct export_gmon_bins *b, struct export_gmon_range *ranges,
                                      size_t *range_count, bool wide, struct diag *d);
/* `hz` 0 = not known: then the unit is a sample. */
void export_gmon_bins_put(const struct export_gmon_bins *b, const struct export_gmon_out *out, uint32_t hz);
void export_gmon_bins_free(struct export_gmon_bins *b);

#endif
