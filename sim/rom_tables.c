/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ROM table and the identification registers of the debug components. Cross-trigger sheet 2.4 (layout),
 * 1.2 and 1.3 (the CTI's numbers). Read-only tables: must not hold state.
 */
#include "sim/board_internal.h"

#define ID_DEVID   0xFC8u
#define ID_DEVTYPE 0xFCCu
#define ID_PIDR4   0xFD0u
#define ID_PIDR0   0xFE0u
#define ID_CIDR0   0xFF0u
#define ID_AUTH    0xFB8u
#define ID_MEMTYPE 0xFCCu /* of a class 1 table */

#define PIDR2_JEDEC 8u

struct component {
    uint16_t part;
    uint8_t class;
    uint8_t revision;
};

/* Designer Arm: JEP106 identity 0x3B, continuation 4. The parts of a Cortex-M7 r1p2. */
static const struct component components[] = {
    [BOARD_ID_SCS] = {0x00C, 0xE, 0}, [BOARD_ID_DWT] = {0x002, 0xE, 3}, [BOARD_ID_FPB] = {0x00E, 0xE, 0},
    [BOARD_ID_ITM] = {0x001, 0xE, 3}, [BOARD_ID_CTI] = {0x906, 0x9, 4}, [BOARD_ID_ROM] = {0x4C7, 0x1, 0},
};

uint32_t board_component_id(enum board_component which, uint32_t offset)
{
    const struct component *c = &components[which];
    switch (offset) {
    case ID_PIDR4:
        return 0x04;
    case ID_PIDR0:
        return c->part & 0xFFu;
    case ID_PIDR0 + 4:
        return 0xB0u | c->part >> 8; /* low half of the identity, 0xB */
    case ID_PIDR0 + 8:
        return (uint32_t)c->revision << 4 | PIDR2_JEDEC | 0x3u;
    case ID_CIDR0:
        return 0x0D;
    case ID_CIDR0 + 4:
        return (uint32_t)c->class << 4;
    case ID_CIDR0 + 8:
        return 0x05;
    case ID_CIDR0 + 12:
        return 0xB1;
    default:
        break;
    }
    if (which == BOARD_ID_CTI && offset == ID_DEVID)
        return BOARD_CTI_CHANNELS << 16 | BOARD_CTI_TRIGGERS << 8;
    if (which == BOARD_ID_CTI && offset == ID_DEVTYPE)
        return 0x14;
    if (which == BOARD_ID_CTI && offset == ID_AUTH)
        return 0x0F; /* non-secure debug, invasive and not, implemented and enabled */
    if (which == BOARD_ID_ROM && offset == ID_MEMTYPE)
        return 1;
    return 0;
}

uint32_t board_rom_table(uint32_t offset)
{
    static const uint32_t entries[] = {BOARD_SCS_BASE, BOARD_DWT_BASE, BOARD_FPB_BASE, BOARD_ITM_BASE,
                                       BOARD_CTI_BASE};
    if (offset < sizeof(entries))
        return (entries[offset / 4] - BOARD_ROM_BASE) | 3u; /* present, 32-bit format */
    return board_component_id(BOARD_ID_ROM, offset);
}
