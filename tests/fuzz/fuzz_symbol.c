/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the symbol index and its spaces: any bytes as an ELF file. What is opened must answer for
 * any address, and keep what symbol.h promises; what is refused must say why.
 */
#include <string.h>

#include "fuzz_target.h"
#include "symbol/symbol_space.h"

#define MAX_SIZE 65536u /* larger files are but slower */
#define FRAMES   8u

static void check_frames(const struct symbol_index *s, uint64_t address)
{
    struct symbol_frame frames[FRAMES];
    struct symbol_function f;
    const char *file = NULL;
    uint32_t line = 0;
    uint8_t code[8];
    bool named = symbol_function_at(s, address, &f);
    size_t n = symbol_frames(s, address, frames, FRAMES);
    FUZZ_CHECK(named == (n > 0));
    for (size_t i = 0; i < n && i < FRAMES; i++) {
        FUZZ_CHECK(frames[i].name && frames[i].name[0]);
        FUZZ_CHECK(frames[i].inlined == (i + 1 < n));
        FUZZ_CHECK(!frames[i].file || strlen(frames[i].file) < 40000);
    }
    if (named) {
        FUZZ_CHECK(f.size > 0 && f.name[0]);
        FUZZ_CHECK(address - f.address < f.size || (address & ~UINT64_C(1)) - f.address < f.size);
        FUZZ_CHECK(n > FRAMES || strcmp(frames[n - 1].name, f.name) == 0);
    }
    if (symbol_line_at(s, address, &file, &line))
        FUZZ_CHECK(file && line > 0);
    bool inside = symbol_misfit(s, address) != SYMBOL_MISFIT_OUTSIDE;
    FUZZ_CHECK(inside || !symbol_fits(s, address));
    if (symbol_code(s, address, code, sizeof(code)))
        FUZZ_CHECK(symbol_misfit(s, address + 7) != SYMBOL_MISFIT_OUTSIDE);
}

static void check_space(const struct symbol_index *s, uint64_t offset)
{
    struct symbol_space *space = symbol_space_new();
    struct symbol_section section;
    struct symbol_place place;
    if (!space)
        return;
    if (symbol_space_add(space, s, offset, NULL) == CORRAL_OK) {
        for (size_t i = 0; symbol_section_get(s, i, &section); i++) {
            uint64_t at = section.start + offset;
            if (!symbol_wide(s))
                at &= UINT32_MAX;
            FUZZ_CHECK(symbol_space_find(space, 1, at, &place));
            FUZZ_CHECK(place.image == s && place.address == section.start);
        }
    }
    if (symbol_space_add_map(space, 1, offset, offset | 0xFFFFF, 0, "mapped", s, NULL) == CORRAL_OK)
        FUZZ_CHECK(symbol_space_find(space, 1, offset, &place));
    symbol_space_free(space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag d = DIAG_INIT;
    if (size > MAX_SIZE)
        return 0;
    struct symbol_index *s = symbol_open_memory(data, size, "fuzz.elf", &d);
    if (!s) {
        FUZZ_CHECK(d.code != CORRAL_OK && d.message[0]);
        return 0;
    }
    struct symbol_section section;
    struct symbol_function f;
    uint64_t last = 0;
    for (size_t i = 0; i < 16 && symbol_section_get(s, i, &section); i++) {
        FUZZ_CHECK(section.start >= last && section.limit > section.start && section.name);
        last = section.start;
        for (uint64_t k = 0; k < 512 && k < section.limit - section.start; k++)
            check_frames(s, section.start + k);
        check_frames(s, section.limit);
        check_frames(s, section.start - 1);
    }
    last = 0;
    for (size_t i = 0; i < 256 && symbol_function_get(s, i, &f); i++) {
        FUZZ_CHECK(f.address >= last);
        last = f.address;
        check_frames(s, f.address);
        check_frames(s, f.address + f.size - 1);
    }
    static const uint64_t others[] = {0, 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        check_frames(s, others[i]);
        check_space(s, others[i]);
    }
    check_space(s, size * UINT64_C(0x10001));
    FUZZ_CHECK(strlen(symbol_build_id(s)) <= 128);
    symbol_lookup(s, "main", &last, NULL);
    symbol_close(s);
    return 0;
}
