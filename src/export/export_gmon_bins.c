/* SPDX-License-Identifier: Apache-2.0 */
/* The histograms of a gmon file (export_gmon_bins.h; profiler sheet 10.1). */
#include "export/export_gmon_bins.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "export/export_index.h"
#include "export/export_text.h"

#define TAG_HISTOGRAM  0
#define BIN_MAX        65535u
#define COUNT_MAX      ((uint64_t)INT32_MAX) /* gprof adds a bin up in an int */
#define DENSE_MAX      (UINT64_C(1) << 20)   /* bytes of one range, repeats included, written as it is */
#define GAP_MAX        4096u                 /* bytes of a target without a sample, in larger ones */
#define FILE_MAX_BYTES (UINT64_C(256) << 20)
#define RECORD_BYTES   41u /* tag, two addresses of 8, count, rate, dimension, abbreviation: at most */
#define DIMENSION      15u

static void put_u16(const struct export_gmon_out *out, uint16_t value)
{
    uint8_t bytes[2];
    (out->big_endian ? store_be16 : store_le16)(bytes, value);
    fwrite(bytes, 1, sizeof(bytes), out->file);
}

void export_gmon_put_u32(const struct export_gmon_out *out, uint32_t value)
{
    uint8_t bytes[4];
    (out->big_endian ? store_be32 : store_le32)(bytes, value);
    fwrite(bytes, 1, sizeof(bytes), out->file);
}

void export_gmon_put_address(const struct export_gmon_out *out, uint64_t value)
{
    if (out->wide && out->big_endian)
        export_gmon_put_u32(out, (uint32_t)(value >> 32));
    export_gmon_put_u32(out, (uint32_t)value);
    if (out->wide && !out->big_endian)
        export_gmon_put_u32(out, (uint32_t)(value >> 32));
}

bool export_gmon_bins_add(struct export_gmon_bins *b, uint64_t address, uint64_t count)
{
    if (!export_grow((void **)&b->bins, &b->room, b->count, sizeof(*b->bins)))
        return false;
    b->bins[b->count++] =
        (struct export_gmon_bin){.address = address - address % EXPORT_GMON_BIN_BYTES, .count = count};
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct export_gmon_bin *x = a;
    const struct export_gmon_bin *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static int by_start(const void *a, const void *b)
{
    const struct export_gmon_range *x = a;
    const struct export_gmon_range *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void sort_bins(struct export_gmon_bins *b)
{
    size_t kept = 0;
    if (b->count)
        qsort(b->bins, b->count, sizeof(*b->bins), by_address);
    for (size_t i = 0; i < b->count; i++) {
        if (kept && b->bins[kept - 1].address == b->bins[i].address)
            b->bins[kept - 1].count = export_add(b->bins[kept - 1].count, b->bins[i].count);
        else
            b->bins[kept++] = b->bins[i];
    }
    b->count = kept;
}

/* Ends at whole bins, and no range that touches another. */
static void merge_ranges(struct export_gmon_range *ranges, size_t *count, uint64_t top)
{
    size_t kept = 0;
    if (*count)
        qsort(ranges, *count, sizeof(*ranges), by_start);
    for (size_t i = 0; i < *count; i++) {
        struct export_gmon_range r = ranges[i];
        r.start -= r.start % EXPORT_GMON_BIN_BYTES;
        r.limit =
            r.limit > top ? top : r.limit + (EXPORT_GMON_BIN_BYTES - r.limit % EXPORT_GMON_BIN_BYTES) % 4;
        if (kept && r.start <= ranges[kept - 1].limit) {
            if (r.limit > ranges[kept - 1].limit)
                ranges[kept - 1].limit = r.limit;
        } else {
            ranges[kept++] = r;
        }
    }
    *count = kept;
}

static uint64_t repeats_of(uint64_t count)
{
    return count / BIN_MAX + (count % BIN_MAX != 0);
}

static uint64_t record_bytes(uint64_t start, uint64_t limit)
{
    return RECORD_BYTES + (limit - start) / EXPORT_GMON_BIN_BYTES * 2;
}

static bool add_piece(struct export_gmon_bins *b, struct export_gmon_piece piece)
{
    if (!export_grow((void **)&b->pieces, &b->piece_room, b->piece_count, sizeof(*b->pieces)))
        return false;
    b->pieces[b->piece_count++] = piece;
    return true;
}

/* The bins `first` to `end` of one range. */
static bool plan_range(struct export_gmon_bins *b, const struct export_gmon_range *r, size_t first,
                       size_t end)
{
    uint64_t repeats = 1;
    for (size_t i = first; i < end; i++)
        if (repeats_of(b->bins[i].count) > repeats)
            repeats = repeats_of(b->bins[i].count);
    if (record_bytes(r->start, r->limit) <= DENSE_MAX / repeats)
        return add_piece(b, (struct export_gmon_piece){r->start, r->limit, first, end - first, repeats});
    for (size_t i = first; i < end;) {
        bool large = b->bins[i].count > BIN_MAX;
        size_t next = i + 1;
        while (next < end && !large && b->bins[next].count <= BIN_MAX &&
               b->bins[next].address - b->bins[next - 1].address <= GAP_MAX)
            next++;
        if (!add_piece(b, (struct export_gmon_piece){b->bins[i].address,
                                                     b->bins[next - 1].address + EXPORT_GMON_BIN_BYTES, i,
                                                     next - i, repeats_of(b->bins[i].count)}))
            return false;
        if (!large)
            b->pieces[b->piece_count - 1].repeats = 1;
        i = next;
    }
    return true;
}

static enum corral_err check_limits(const struct export_gmon_bins *b, struct diag *d)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < b->count; i++)
        if (b->bins[i].count > COUNT_MAX) {
            diag_set(d, CORRAL_ERR_LIMIT,
                     "%" PRIu64 " samples at 0x%" PRIx64 " are more than gprof can count", b->bins[i].count,
                     b->bins[i].address);
            diag_hint(d, "export pprof instead, or a shorter time");
            return CORRAL_ERR_LIMIT;
        }
    for (size_t i = 0; i < b->piece_count; i++) {
        const struct export_gmon_piece *p = &b->pieces[i];
        bytes += record_bytes(p->start, p->limit) * p->repeats; /* no overflow: repeats is below 2^16 */
        if (bytes > FILE_MAX_BYTES) {
            diag_set(d, CORRAL_ERR_LIMIT, "the gmon file would be above %" PRIu64 " MiB",
                     FILE_MAX_BYTES >> 20);
            diag_hint(d, "export pprof instead, or a shorter time");
            return CORRAL_ERR_LIMIT;
        }
    }
    return CORRAL_OK;
}

enum corral_err export_gmon_bins_plan(struct export_gmon_bins *b, struct export_gmon_range *ranges,
                                      size_t *range_count, bool wide, struct diag *d)
{
    /* A range's end is exclusive, so the very last bin of the address space cannot be written. */
    uint64_t top = wide ? UINT64_MAX - 3 : UINT32_MAX - UINT32_C(3);
    sort_bins(b);
    merge_ranges(ranges, range_count, top);
    size_t at = 0;
    for (size_t r = 0; r < *range_count; r++) {
        size_t first = at;
        while (at < b->count && b->bins[at].address < ranges[r].limit)
            at++;
        if (at > first && !plan_range(b, &ranges[r], first, at))
            return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory for the gmon histogram");
    }
    if (at < b->count)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED,
                        "the samples at 0x%" PRIx64
                        " are at an address that a gmon file of this image cannot hold",
                        b->bins[at].address);
    return check_limits(b, d);
}

static void put_record(const struct export_gmon_bins *b, const struct export_gmon_piece *p,
                       const struct export_gmon_out *out, uint32_t hz, uint64_t round)
{
    char dimension[DIMENSION + 1] = {0};
    size_t next = p->first;
    snprintf(dimension, sizeof(dimension), "%s", hz ? "seconds" : "samples");
    putc(TAG_HISTOGRAM, out->file);
    export_gmon_put_address(out, p->start);
    export_gmon_put_address(out, p->limit);
    export_gmon_put_u32(out, (uint32_t)((p->limit - p->start) / EXPORT_GMON_BIN_BYTES));
    export_gmon_put_u32(out, hz ? hz : 1);
    fwrite(dimension, 1, DIMENSION, out->file);
    putc(hz ? 's' : 'n', out->file);
    for (uint64_t a = p->start; a < p->limit; a += EXPORT_GMON_BIN_BYTES) {
        uint64_t left = 0;
        if (next < p->first + p->count && b->bins[next].address == a) {
            uint64_t done = round * BIN_MAX;
            left = b->bins[next].count > done ? b->bins[next].count - done : 0;
            next++;
        }
        put_u16(out, (uint16_t)(left > BIN_MAX ? BIN_MAX : left));
    }
}

void export_gmon_bins_put(const struct export_gmon_bins *b, const struct export_gmon_out *out, uint32_t hz)
{
    for (size_t i = 0; i < b->piece_count; i++)
        for (uint64_t round = 0; round < b->pieces[i].repeats; round++)
            put_record(b, &b->pieces[i], out, hz, round);
}

void export_gmon_bins_free(struct export_gmon_bins *b)
{
    free(b->bins);
    free(b->pieces);
    *b = (struct export_gmon_bins){.bins = NULL};
}
