/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of an ELF executable is to be loaded, and where (load.h). ELF (TIS 1.2) part 1; Arm: e_machine 40.
 * Hostile input. Must not look at sections or symbols, and touches no target.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "session/load.h"

#define ELF_HEADER  52u
#define ELF_PHENTRY 32u
#define ELF_EXEC    2u
#define ELF_ARM     40u
#define ELF_PT_LOAD 1u

static enum corral_err check_header(const uint8_t *file, size_t size, struct diag *d)
{
    if (size < ELF_HEADER || memcmp(file, "\177ELF", 4) != 0)
        return diag_set(d, CORRAL_ERR_ELF, "not an ELF file");
    if (file[4] != 1 || file[5] != 1)
        return diag_set(d, CORRAL_ERR_ELF, "not a 32-bit little-endian ELF file");
    if (load_le16(file + 18) != ELF_ARM)
        return diag_set(d, CORRAL_ERR_ELF, "an ELF file for machine %u, not for Arm (40)",
                        load_le16(file + 18));
    if (load_le16(file + 16) != ELF_EXEC)
        return diag_set(d, CORRAL_ERR_ELF, "an ELF file of type %u, not an executable (2)",
                        load_le16(file + 16));
    return CORRAL_OK;
}

static bool lies_in(uint64_t address, uint64_t size, uint64_t start, uint64_t length)
{
    return address >= start && address - start <= length && size <= length - (address - start);
}

static bool is_ram(uint64_t address, uint64_t size, const struct load_range *ram, size_t ranges)
{
    for (size_t i = 0; i < ranges; i++)
        if (lies_in(address, size, ram[i].address, ram[i].size))
            return true;
    return lies_in(address, size, 0x20000000u, 0x20000000u) ||
           lies_in(address, size, 0x60000000u, 0x40000000u);
}

static enum corral_err check_segment(const struct load_segment *s, unsigned n, size_t file_size,
                                     const struct load_range *ram, size_t ranges, struct diag *d)
{
    if (s->offset > file_size || s->size > file_size - s->offset)
        return diag_set(d, CORRAL_ERR_ELF, "segment %u lies outside the file: truncated?", n);
    if (s->address + s->size > UINT64_C(1) << 32)
        return diag_set(d, CORRAL_ERR_ELF, "segment %u does not fit 32-bit addresses", n);
    if (is_ram(s->address, s->size, ram, ranges))
        return CORRAL_OK;
    diag_set(d, CORRAL_ERR_UNSUPPORTED,
             "segment %u is to lie at 0x%08" PRIx64 " (%" PRIu64
             " bytes), which is no RAM: flash is not programmed",
             n, s->address, s->size);
    diag_hint(d, "--ram ADDR:SIZE says what else is RAM; for flash take the vendor's programmer");
    return CORRAL_ERR_UNSUPPORTED;
}

static bool overlap(const struct load_segment *a, const struct load_segment *b)
{
    return a->address < b->address + b->size && b->address < a->address + a->size;
}

/* Reset takes the first two words: a stack pointer, and the entry with its Thumb bit. */
static void look_for_vectors(const uint8_t *file, const struct load_segment *s, struct load_image *image)
{
    if (s->size < 8 || s->address % 128 != 0 || image->has_vectors)
        return;
    uint32_t stack = load_le32(file + s->offset), reset = load_le32(file + s->offset + 4);
    if (stack % 4 != 0 || !(reset & 1) || reset != (image->entry | 1))
        return;
    image->has_vectors = true;
    image->vectors = (uint32_t)s->address;
    image->stack = stack;
}

enum corral_err load_parse(const uint8_t *file, size_t size, const struct load_range *ram, size_t ranges,
                           struct load_image *image, struct diag *d)
{
    *image = (struct load_image){0};
    enum corral_err err = check_header(file, size, d);
    if (err)
        return err;
    image->entry = load_le32(file + 24);
    uint64_t table = load_le32(file + 28);
    unsigned entry = load_le16(file + 42), entries = load_le16(file + 44);
    if (entries == 0 || entries > LOAD_SEGMENTS_MOST || entry != ELF_PHENTRY)
        return diag_set(d, CORRAL_ERR_ELF, "%u program headers of %u bytes; 1 to %u of %u bytes are possible",
                        entries, entry, LOAD_SEGMENTS_MOST, ELF_PHENTRY);
    if (table > size || (uint64_t)entries * entry > size - table)
        return diag_set(d, CORRAL_ERR_ELF, "the program headers lie outside the file: truncated?");
    for (unsigned n = 0; n < entries; n++) {
        const uint8_t *p = file + table + (size_t)n * ELF_PHENTRY;
        struct load_segment s = {
            .offset = load_le32(p + 4), .address = load_le32(p + 12), .size = load_le32(p + 16)};
        if (load_le32(p) != ELF_PT_LOAD || s.size == 0)
            continue;
        if (load_le32(p + 20) < s.size)
            return diag_set(d, CORRAL_ERR_ELF, "segment %u is larger in the file than in memory", n);
        err = check_segment(&s, n, size, ram, ranges, d);
        if (err)
            return err;
        for (size_t i = 0; i < image->count; i++)
            if (overlap(&image->segments[i], &s))
                return diag_set(d, CORRAL_ERR_ELF, "segment %u overlaps an earlier one at 0x%08" PRIx64, n,
                                s.address);
        image->bytes += s.size;
        image->entry_loaded |= lies_in(image->entry & ~1u, 2, s.address, s.size);
        look_for_vectors(file, &s, image);
        image->segments[image->count++] = s;
    }
    if (image->count == 0)
        return diag_set(d, CORRAL_ERR_ELF, "nothing to load: no segment has bytes");
    return CORRAL_OK;
}
