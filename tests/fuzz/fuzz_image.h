/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF files for the fuzz target of the streams: four functions of 4 KiB at 0x40000000, full of calls,
 * indirect calls and conditional jumps, so that whatever addresses a packet names are looked for callers and
 * branches (profiler sheet 3.7; Arm's and AArch64's manuals for theirs). Sound themselves: hostile files are
 * fuzz_symbol.c's.
 */
#ifndef CORRAL_TESTS_FUZZ_IMAGE_H
#define CORRAL_TESTS_FUZZ_IMAGE_H

#include <string.h>

#include "base/bytes.h"

#define FUZZ_IMAGE_BASE      0x40000000u
#define FUZZ_IMAGE_TEXT      0x4000u
#define FUZZ_IMAGE_FUNCTIONS 4u
#define FUZZ_IMAGE_SIZE      (FUZZ_IMAGE_TEXT + 52u + 16u * 5u + 16u + 40u * 4u)

static inline uint32_t fuzz_image_ubicom(uint32_t index)
{
    uint32_t from = FUZZ_IMAGE_BASE + 4 * index;
    uint32_t to =
        FUZZ_IMAGE_BASE + (index / 8 % FUZZ_IMAGE_FUNCTIONS) * (FUZZ_IMAGE_TEXT / FUZZ_IMAGE_FUNCTIONS);
    uint32_t words = (to - from) / 4, high = to >> 7;

    switch (index % 8) {
    case 0:
    case 1: /* CALL */
        return UINT32_C(0x1b) << 27 | (words & 0xe00000) << 3 | 5u << 21 | (words & 0x1fffff);
    case 2: /* MOVEAI, newer cores */
        return UINT32_C(0xe) << 28 | (high & 0x1000000) << 3 | (high & 0xe00000) << 3 | 5u << 21 |
               (high & 0x1fffff);
    case 3:
    case 4: /* CALLI, behind a MOVEAI and without */
        return UINT32_C(0x1e) << 27;
    case 5: /* JMPcc, each condition, forward, predicted taken every other time */
        return UINT32_C(0x1a) << 27 | (index / 8 & 15) << 23 | (index / 128 & 1) << 22 |
               (index / 256 & 1) << 21 | 4;
    case 6: /* and backward */
        return UINT32_C(0x1a) << 27 | (index / 8 & 15) << 23 | (index / 128 & 1) << 22 | 0x1ffffe;
    default: /* MOVEAI, older cores */
        return UINT32_C(0x1c) << 27 | (high & 0xe00000) << 3 | 5u << 21 | (high & 0x1fffff);
    }
}

/* Arm and Thumb mixed: a word holds one instruction of the one or two of the other. */
static inline uint32_t fuzz_image_arm(uint32_t index)
{
    uint32_t to = (index / 8 % FUZZ_IMAGE_FUNCTIONS) * (FUZZ_IMAGE_TEXT / FUZZ_IMAGE_FUNCTIONS);
    uint32_t from = 4 * index, offset = to - from - 4, sign = offset >> 24 & 1;
    uint32_t j1 = (offset >> 23 & 1) == sign, j2 = (offset >> 22 & 1) == sign;

    switch (index % 8) {
    case 0: /* BL */
        return 0xeb000000 | ((to - from - 8) >> 2 & 0xffffff);
    case 1: /* BLX of a register */
        return 0xe12fff33;
    case 2: /* Thumb's BL */
    case 3: /* and BLX */
        return (0xf000 | sign << 10 | (offset >> 12 & 0x3ff)) |
               (0xc000 | j1 << 13 | (index % 8 == 2) << 12 | j2 << 11 | (offset >> 1 & 0x7fe)) << 16;
    case 4: /* Thumb's BLX of a register, twice */
        return 0x47984798;
    case 5:
        return 0xffffffff;
    default:
        return 0xe1a00000;
    }
}

static inline uint32_t fuzz_image_aarch64(uint32_t index)
{
    uint32_t to = index / 8 % FUZZ_IMAGE_FUNCTIONS * (FUZZ_IMAGE_TEXT / FUZZ_IMAGE_FUNCTIONS / 4);

    return index % 3 == 0   ? 0x94000000 | ((to - index) & 0x3ffffff)
           : index % 3 == 1 ? 0xd63f0060
                            : 0xd503201f;
}

static inline void fuzz_image_u16(uint8_t *p, bool big, unsigned v)
{
    if (big)
        store_be16(p, (uint16_t)v);
    else
        store_le16(p, (uint16_t)v);
}

static inline void fuzz_image_u32(uint8_t *p, bool big, uint32_t v)
{
    if (big)
        store_be32(p, v);
    else
        store_le32(p, v);
}

enum fuzz_machine { FUZZ_MIPS = 8, FUZZ_ARM = 40, FUZZ_AARCH64 = 183, FUZZ_UBICOM = 0xde3d }; /* e_machine */

/* `out` has FUZZ_IMAGE_SIZE bytes. */
static inline void fuzz_image_make(uint8_t *out, enum fuzz_machine machine)
{
    const bool big = machine == FUZZ_UBICOM || machine == FUZZ_MIPS;
    const uint32_t symbols = 52 + FUZZ_IMAGE_TEXT, strings = symbols + 16 * 5, headers = strings + 16;
    const uint32_t sections[4][10] = {
        {0},
        {0, 1, 2 | 4, FUZZ_IMAGE_BASE, 52, FUZZ_IMAGE_TEXT, 0, 0, 4, 0},
        {0, 2, 0, 0, symbols, 16 * 5, 3, 1, 4, 16},
        {0, 3, 0, 0, strings, 16, 0, 0, 1, 0},
    };

    memset(out, 0, FUZZ_IMAGE_SIZE);
    memcpy(out, (const uint8_t[]){0x7f, 'E', 'L', 'F', 1, big ? 2 : 1, 1}, 7);
    fuzz_image_u16(out + 16, big, 2); /* ET_EXEC */
    fuzz_image_u16(out + 18, big, machine);
    fuzz_image_u32(out + 20, big, 1);
    fuzz_image_u32(out + 24, big, FUZZ_IMAGE_BASE);
    fuzz_image_u32(out + 32, big, headers);
    fuzz_image_u16(out + 40, big, 52);
    fuzz_image_u16(out + 46, big, 40);
    fuzz_image_u16(out + 48, big, 4);
    fuzz_image_u16(out + 50, big, 3);
    for (uint32_t i = 0; i < FUZZ_IMAGE_TEXT / 4; i++)
        fuzz_image_u32(out + 52 + 4 * i, big,
                       machine == FUZZ_ARM       ? fuzz_image_arm(i)
                       : machine == FUZZ_AARCH64 ? fuzz_image_aarch64(i)
                                                 : fuzz_image_ubicom(i));
    for (uint32_t i = 0; i < FUZZ_IMAGE_FUNCTIONS; i++) {
        uint8_t *symbol = out + symbols + 16 * (i + 1);
        uint32_t size = FUZZ_IMAGE_TEXT / FUZZ_IMAGE_FUNCTIONS;
        fuzz_image_u32(symbol, big, 1 + 3 * i);
        fuzz_image_u32(symbol + 4, big, FUZZ_IMAGE_BASE + size * i);
        fuzz_image_u32(symbol + 8, big, size);
        symbol[12] = 0x12; /* global function */
        fuzz_image_u16(symbol + 14, big, 1);
        memcpy(out + strings + 1 + 3 * i, (const char[]){'f', (char)('0' + i)}, 2);
    }
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 10; k++)
            fuzz_image_u32(out + headers + 40 * i + 4 * k, big, sections[i][k]);
}

#endif
