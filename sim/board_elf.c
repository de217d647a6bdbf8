/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading an ELF32 executable into the board. Hostile input: every number is checked in 64 bits before
 * anything is written, so that on error the memory is as it was. ELF (TIS 1.2) part 1; Arm: e_machine 40.
 *
 * Must not look at sections, symbols or anything else but the program headers.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "sim/board_internal.h"

#define ELF_HEADER  52u
#define ELF_PHENTRY 32u
#define ELF_PHMAX   64u
#define ELF_EXEC    2u
#define ELF_ARM     40u
#define ELF_PT_LOAD 1u

struct segment {
    uint64_t offset;
    uint64_t address; /* physical */
    uint64_t size;    /* in the file */
    uint64_t virtual;
    uint64_t memory_size;
    uint8_t *to;
};

/* Room for `size` bytes at `address` in this core's flash or the SRAM; NULL when there is none. */
static uint8_t *place(struct board_core *k, uint64_t address, uint64_t size)
{
    for (unsigned n = 0; n < CPU_REGIONS; n++) {
        const struct cpu_region *r = &k->cpu.region[n];
        if (r->mem && address >= r->base && address - r->base < r->size &&
            size <= r->size - (address - r->base))
            return r->mem + (address - r->base);
    }
    return NULL;
}

static enum corral_err check_header(const uint8_t *image, size_t size, struct diag *d)
{
    if (size < ELF_HEADER || memcmp(image, "\177ELF", 4) != 0)
        return diag_set(d, CORRAL_ERR_ELF, "not an ELF file");
    if (image[4] != 1)
        return diag_set(d, CORRAL_ERR_ELF, "not a 32-bit ELF file");
    if (image[5] != 1)
        return diag_set(d, CORRAL_ERR_ELF, "not a little-endian ELF file");
    if (load_le16(image + 18) != ELF_ARM)
        return diag_set(d, CORRAL_ERR_ELF, "an ELF file for machine %u, not for Arm (40)",
                        load_le16(image + 18));
    if (load_le16(image + 16) != ELF_EXEC)
        return diag_set(d, CORRAL_ERR_ELF, "an ELF file of type %u, not an executable (2)",
                        load_le16(image + 16));
    return CORRAL_OK;
}

/* Finds the segment's place; false with *d set when a number in it cannot be. */
static bool check_segment(struct board_core *k, struct segment *s, unsigned n, size_t size, struct diag *d)
{
    if (s->offset > size || s->size > size - s->offset) {
        diag_set(d, CORRAL_ERR_ELF, "segment %u lies outside the file: truncated?", n);
        return false;
    }
    if (s->memory_size < s->size) {
        diag_set(d, CORRAL_ERR_ELF, "segment %u is larger in the file than in memory", n);
        return false;
    }
    s->to = place(k, s->address, s->size);
    if (s->to && place(k, s->virtual, s->memory_size))
        return true;
    diag_set(d, CORRAL_ERR_ELF,
             "segment %u (0x%08" PRIx64 ", %" PRIu64 " bytes; runs at 0x%08" PRIx64 ", %" PRIu64
             " bytes) is outside flash and SRAM",
             n, s->address, s->size, s->virtual, s->memory_size);
    diag_hint(d, "docs/board.md has the memory map and a linker script");
    return false;
}

static bool overlap(const struct segment *a, const struct segment *c)
{
    uintptr_t a_to = (uintptr_t)a->to;
    uintptr_t c_to = (uintptr_t)c->to;
    return a_to < c_to + c->size && c_to < a_to + a->size;
}

/* Collect the segments with bytes in the file. `segments` has room for ELF_PHMAX. */
static enum corral_err collect(struct board_core *k, const uint8_t *image, size_t size,
                               struct segment *segments, unsigned *count, struct diag *d)
{
    uint64_t table = load_le32(image + 28);
    unsigned entry = load_le16(image + 42);
    unsigned entries = load_le16(image + 44);
    if (entries == 0 || entries > ELF_PHMAX || entry != ELF_PHENTRY)
        return diag_set(d, CORRAL_ERR_ELF, "%u program headers of %u bytes; 1 to %u of %u bytes are possible",
                        entries, entry, ELF_PHMAX, ELF_PHENTRY);
    if (table > size || (uint64_t)entries * entry > size - table)
        return diag_set(d, CORRAL_ERR_ELF, "the program headers lie outside the file: truncated?");
    for (unsigned n = 0; n < entries; n++) {
        const uint8_t *p = image + table + (size_t)n * ELF_PHENTRY;
        struct segment s = {.offset = load_le32(p + 4),
                            .virtual = load_le32(p + 8),
                            .address = load_le32(p + 12),
                            .size = load_le32(p + 16),
                            .memory_size = load_le32(p + 20)};
        if (load_le32(p) != ELF_PT_LOAD || s.memory_size == 0)
            continue;
        if (s.size == 0) { /* zeroed by the program itself; its load address means nothing */
            s.address = s.virtual;
        }
        if (!check_segment(k, &s, n, size, d))
            return CORRAL_ERR_ELF;
        if (s.size == 0)
            continue;
        for (unsigned i = 0; i < *count; i++)
            if (overlap(&segments[i], &s))
                return diag_set(d, CORRAL_ERR_ELF, "segment %u overlaps an earlier one at 0x%08" PRIx64, n,
                                s.address);
        segments[(*count)++] = s;
    }
    if (*count == 0)
        return diag_set(d, CORRAL_ERR_ELF, "nothing to load: no segment has bytes");
    return CORRAL_OK;
}

enum corral_err board_load_elf(struct board *b, unsigned core, const uint8_t *image, size_t size,
                               struct diag *d)
{
    struct segment segments[ELF_PHMAX];
    unsigned count = 0;
    if (core >= BOARD_CORES)
        return diag_set(d, CORRAL_ERR_NO_CORE, "the board has no core %u", core);
    struct board_core *k = &b->core[core];
    if (check_header(image, size, d) != CORRAL_OK ||
        collect(k, image, size, segments, &count, d) != CORRAL_OK)
        return CORRAL_ERR_ELF;
    memset(k->flash, 0xFF, BOARD_FLASH_SIZE);
    memset(k->decoded, 0, BOARD_FLASH_SIZE / 2 * sizeof(*k->decoded));
    for (unsigned n = 0; n < count; n++)
        memcpy(segments[n].to, image + segments[n].offset, (size_t)segments[n].size);
    k->loaded = true;
    board_request_reset(k, 1u); /* this core alone */
    board_do_resets(b);
    return CORRAL_OK;
}

enum corral_err board_program_flash(struct board *b, unsigned core, uint32_t address, const uint8_t *data,
                                    size_t size, struct diag *d)
{
    uint32_t base = address >= BOARD_FLASH_BASE ? BOARD_FLASH_BASE : BOARD_FLASH_ALIAS;
    uint32_t offset = address - base;
    if (core >= BOARD_CORES)
        return diag_set(d, CORRAL_ERR_NO_CORE, "the board has no core %u", core);
    if (offset > BOARD_FLASH_SIZE || size > BOARD_FLASH_SIZE - offset)
        return diag_set(d, CORRAL_ERR_USAGE, "%zu bytes at 0x%08" PRIx32 " are not all in flash", size,
                        address);
    struct board_core *k = &b->core[core];
    if (data)
        memcpy(k->flash + offset, data, size);
    else
        memset(k->flash + offset, 0xFF, size);
    /* An instruction that begins before the change may reach into it. */
    memset(k->decoded, 0, BOARD_FLASH_SIZE / 2 * sizeof(*k->decoded));
    return CORRAL_OK;
}
