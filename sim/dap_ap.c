/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The access ports: an AHB-AP a core, by its number (ADIv5) or at a place in the debug port's address space
 * below a ROM table of class 9 (ADIv6). Cross-trigger sheet 2.3, 2.4.
 *
 * Memory is reached on the core's own bus (board_bus.c); must not reach into it another way.
 */
#include "sim/board_internal.h"

#define AP_CSW  0x00u
#define AP_TAR  0x04u
#define AP_DRW  0x0Cu
#define AP_BD0  0x10u
#define AP_BD3  0x1Cu
#define AP_BASE 0xF8u
#define AP_IDR  0xFCu

#define AP_IDR_AHB    0x84770001u
#define AP6_REGISTERS 0xD00u /* where they begin in ADIv6; below 0x400 are the DARs */
#define AP6_DAR_END   0x400u
#define AP6_DEVARCH   0xFBCu
#define AP6_PIDR4     0xFD0u
#define AP6_PIDR0     0xFE0u
#define AP6_CIDR0     0xFF0u
#define AP6_IDR       0x34770008u /* AHB5+, as of CoreSight SoC-600 */
#define DEVARCH_AP    0x47700A17u
#define DEVARCH_ROM   0x47700AF7u
#define PART_AP       0x9E3u
#define PART_ROM      0x4ABu

#define CSW_RESET      0x23000012u /* protection bits of an AHB-AP, AddrInc single, word */
#define CSW_KEPT       0xFF000037u
#define CSW_SIZE       0x07u
#define CSW_INC_SINGLE 0x10u
#define CSW_INC_PACKED 0x20u
#define CSW_INC        0x30u
#define CSW_DEVICE_EN  0x40u
#define TAR_WRAP       0x3FFu /* the address increments inside 1 KiB */

void board_dap_ap_reset(struct board *b, unsigned core)
{
    b->dap.ap[core] = (struct board_ap){.csw = CSW_RESET};
}

bool board_ap_fault(struct board *b, unsigned core, uint32_t address, uint32_t mask)
{
    struct board_dap *p = &b->dap;
    if (core >= BOARD_CORES || p->bad_count == BOARD_BAD_RANGES)
        return false;
    p->bad[p->bad_count++] = (struct board_bad_range){.core = core, .address = address & mask, .mask = mask};
    return true;
}

void board_ap_mend(struct board *b)
{
    b->dap.bad_count = 0;
}

/* Did somebody ask for a fault there? */
static bool is_bad(const struct board_core *k, uint32_t address)
{
    const struct board_dap *p = &k->board->dap;
    for (unsigned i = 0; i < p->bad_count; i++)
        if (p->bad[i].core == k->number && (address & p->bad[i].mask) == p->bad[i].address)
            return true;
    return false;
}

static void advance(struct board_ap *a, uint32_t bytes)
{
    a->tar = (a->tar & ~TAR_WRAP) | ((a->tar + bytes) & TAR_WRAP);
}

/* One DRW or BD access: one beat, or with packed increment as many as fill the word. Byte lanes as on AHB. */
static bool memory_beats(struct board_core *k, struct board_ap *a, uint32_t address, bool read,
                         uint32_t *value, bool banked)
{
    unsigned size = banked ? 4u : 1u << (a->csw & CSW_SIZE);
    uint32_t increment = banked ? 0 : a->csw & CSW_INC;
    unsigned beats = increment == CSW_INC_PACKED ? 4 / size : 1;
    uint32_t mask = size == 4 ? 0xFFFFFFFFu : (1u << size * 8) - 1;
    uint32_t result = 0;
    for (unsigned i = 0; i < beats; i++) {
        uint32_t at = (banked ? address : a->tar) & ~(size - 1);
        unsigned lane = (at & 3u) * 8;
        uint32_t beat = read ? 0 : *value >> lane & mask;
        bool ok = !is_bad(k, at);
        if (ok)
            ok = read ? board_debugger_read(k, at, size, &beat) : board_debugger_write(k, at, size, beat);
        if (!ok)
            return false;
        result |= (beat & mask) << lane;
        if (increment)
            advance(a, size);
    }
    if (read)
        *value = result;
    return true;
}

static uint32_t csw_legal(uint32_t value)
{
    uint32_t csw = value & CSW_KEPT;
    if ((csw & CSW_SIZE) > 2) /* no wider than a word */
        csw = (csw & ~CSW_SIZE) | 2u;
    if ((csw & CSW_INC) == CSW_INC)
        csw &= ~CSW_INC;
    return csw;
}

/* A register of core `k`'s access port, by its offset in ADIv5. */
static enum board_ap_answer ap_register(struct board_core *k, uint32_t reg, bool read, uint32_t *value)
{
    struct board_ap *a = &k->board->dap.ap[k->number];
    bool banked = reg >= AP_BD0 && reg <= AP_BD3;
    if (k->unpowered)
        return BOARD_AP_FAULT;
    if (reg == AP_DRW || banked) {
        if (board_core_clockless(k))
            return BOARD_AP_WAIT;
        bool ok = memory_beats(k, a, (a->tar & ~0xFu) | (reg - AP_BD0), read, value, banked);
        return ok ? BOARD_AP_OK : BOARD_AP_FAULT;
    }
    if (reg == AP_CSW) {
        if (read)
            *value = a->csw | CSW_DEVICE_EN;
        else
            a->csw = csw_legal(*value);
    } else if (reg == AP_TAR) {
        if (read)
            *value = a->tar;
        else
            a->tar = *value;
    } else if (read && reg == AP_BASE) {
        *value = BOARD_ROM_BASE | 3u;
    } else if (read && reg == AP_IDR) {
        *value = k->board->config.adiv6 ? AP6_IDR : AP_IDR_AHB;
    }
    return BOARD_AP_OK;
}

/* The identification of a CoreSight component of Arm's, class 9. */
static uint32_t coresight_id(uint32_t offset, uint32_t part, uint32_t devarch)
{
    switch (offset) {
    case AP6_DEVARCH:
        return devarch;
    case AP6_PIDR4:
        return 0x04;
    case AP6_PIDR0:
        return part & 0xFFu;
    case AP6_PIDR0 + 4:
        return 0xB0u | part >> 8;
    case AP6_PIDR0 + 8:
        return 0x0B;
    case AP6_CIDR0:
        return 0x0D;
    case AP6_CIDR0 + 4:
        return 0x90;
    case AP6_CIDR0 + 8:
        return 0x05;
    case AP6_CIDR0 + 12:
        return 0xB1;
    default:
        return 0;
    }
}

/* The table at address 0: 32-bit entries, one for each access port. */
static uint32_t root_table(uint32_t offset)
{
    unsigned n = offset / 4;
    if (n < BOARD_CORES)
        return BOARD_AP6_BASE(n) | 3u; /* present */
    return coresight_id(offset, PART_ROM, DEVARCH_ROM);
}

/* ADIv6: `address` in the space of the debug port. What is nowhere reads zero and ignores writes. */
static enum board_ap_answer access_v6(struct board *b, uint32_t address, bool read, uint32_t *value)
{
    uint32_t offset = address & 0xFFFu;
    if (address < 0x1000u) {
        if (read)
            *value = root_table(offset);
        return BOARD_AP_OK;
    }
    for (unsigned n = 0; n < BOARD_CORES; n++) {
        struct board_core *k = &b->core[n];
        if (address - offset != BOARD_AP6_BASE(n))
            continue;
        if (offset < AP6_DAR_END) {
            if (k->unpowered || !board_core_clockless(k)) {
                struct board_ap word = {.csw = CSW_RESET};
                uint32_t at = (b->dap.ap[n].tar & ~TAR_WRAP) | offset;
                bool ok = !k->unpowered && memory_beats(k, &word, at, read, value, true);
                return ok ? BOARD_AP_OK : BOARD_AP_FAULT;
            }
            return BOARD_AP_WAIT;
        }
        if (offset >= AP6_REGISTERS && offset < AP6_REGISTERS + 0x100u)
            return ap_register(k, offset - AP6_REGISTERS, read, value);
        if (read)
            *value = coresight_id(offset, PART_AP, DEVARCH_AP);
        return k->unpowered ? BOARD_AP_FAULT : BOARD_AP_OK;
    }
    return BOARD_AP_OK;
}

/* A port that is not there reads zero and ignores writes. */
enum board_ap_answer board_ap_access(struct board *b, bool read, uint8_t addr, uint32_t *value)
{
    const struct board_dap *p = &b->dap;
    if (read)
        *value = 0;
    if (b->config.adiv6)
        return p->select1 ? BOARD_AP_OK : access_v6(b, (p->select & ~0xFu) | addr, read, value);
    unsigned number = p->select >> 24;
    if (number >= BOARD_CORES)
        return BOARD_AP_OK;
    return ap_register(&b->core[number], (p->select & 0xF0u) | addr, read, value);
}
