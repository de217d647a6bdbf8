/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is told of a file as a whole, and its code as bytes: does a pc that was seen on a target fit the file
 * (profiler sheet 3.7 and 9: alignment, illegal opcodes)? Must not call a file wrong for a pc outside of it:
 * another image may be there.
 */
#include <string.h>

#include "base/bytes.h"
#include "symbol/symbol_index.h"

size_t symbol_function_count(const struct symbol_index *s)
{
    return s->function_count;
}

bool symbol_function_get(const struct symbol_index *s, size_t index, struct symbol_function *out)
{
    if (index >= s->function_count)
        return false;
    *out = s->functions[index].function;
    return true;
}

uint64_t symbol_entry(const struct symbol_index *s)
{
    return s->entry;
}

const char *symbol_note(const struct symbol_index *s)
{
    return s->note[0] ? s->note : NULL;
}

const char *symbol_path(const struct symbol_index *s)
{
    return s->label;
}

uint16_t symbol_machine(const struct symbol_index *s)
{
    return s->machine;
}

bool symbol_big_endian(const struct symbol_index *s)
{
    return s->big;
}

bool symbol_wide(const struct symbol_index *s)
{
    return s->wide;
}

const char *symbol_build_id(const struct symbol_index *s)
{
    return s->build_id;
}

bool symbol_has_lines(const struct symbol_index *s)
{
    return s->row_count > 0;
}

bool symbol_has_inlines(const struct symbol_index *s)
{
    return s->inline_count > 0;
}

unsigned symbol_alignment(const struct symbol_index *s)
{
    return s->alignment;
}

size_t symbol_section_count(const struct symbol_index *s)
{
    return s->code_count;
}

bool symbol_section_get(const struct symbol_index *s, size_t index, struct symbol_section *out)
{
    if (index >= s->code_count)
        return false;
    *out = s->code[index];
    return true;
}

bool symbol_address_of_offset(const struct symbol_index *s, uint64_t file_offset, uint64_t *address)
{
    for (size_t i = 0; i < s->segment_count; i++) {
        const struct symbol_segment *segment = &s->segments[i];
        if (file_offset >= segment->offset && file_offset - segment->offset < segment->size) {
            *address = (segment->address + (file_offset - segment->offset)) & s->address_mask;
            return true;
        }
    }
    return false;
}

bool symbol_code(const struct symbol_index *s, uint64_t address, uint8_t *out, size_t size)
{
    const struct symbol_section *section = symbol_code_at(s, address);
    if (!section || section->file_offset == SYMBOL_NO_BYTES || size > section->limit - address)
        return false;
    /* The section's header was checked against the size of the file when it was opened. */
    if (size > 0)
        memcpy(out, s->data + section->file_offset + (address - section->start), size);
    return true;
}

/* Is `address` inside of what the mapping symbol before it calls data, or ARM code, which is aligned to 4? */
static enum symbol_misfit by_marks(const struct symbol_index *s, const struct symbol_section *section,
                                   uint64_t address)
{
    size_t low = 0;
    size_t high = s->mark_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->marks[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || s->marks[low - 1].address < section->start)
        return SYMBOL_FITS;
    if (s->marks[low - 1].kind == 'd')
        return SYMBOL_MISFIT_DATA;
    return s->marks[low - 1].kind == 'a' && address % 4 != 0 ? SYMBOL_MISFIT_UNALIGNED : SYMBOL_FITS;
}

/* Ubicom32's major opcodes 0x01, 0x07, 0x17 and 0x1f are of no instruction; nor is minor opcode 0 of major 0.
 * So neither zeros nor erased flash pass for code. */
static bool is_illegal_ubicom32(uint32_t word)
{
    const uint32_t unused =
        UINT32_C(1) << 0x01 | UINT32_C(1) << 0x07 | UINT32_C(1) << 0x17 | UINT32_C(1) << 0x1F;
    unsigned major = word >> 27;
    return (unused >> major & 1) || (major == 0 && (word >> 11 & 0x1F) == 0);
}

enum symbol_misfit symbol_misfit(const struct symbol_index *s, uint64_t address)
{
    bool aligned = symbol_code_address(s, &address);
    const struct symbol_section *section = symbol_code_at(s, address);
    uint8_t bytes[4];
    if (!section)
        return SYMBOL_MISFIT_OUTSIDE;
    if (!aligned)
        return SYMBOL_MISFIT_UNALIGNED;
    if (s->machine == SYMBOL_MACHINE_UBICOM32 && symbol_code(s, address, bytes, sizeof(bytes)) &&
        is_illegal_ubicom32(load_be32(bytes)))
        return SYMBOL_MISFIT_ILLEGAL;
    return by_marks(s, section, address);
}

bool symbol_fits(const struct symbol_index *s, uint64_t address)
{
    return symbol_misfit(s, address) == SYMBOL_FITS;
}
