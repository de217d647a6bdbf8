/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debug access port: one SW-DP (version 2) and an AHB-AP a core. Cross-trigger sheet 2.1 to 2.3.
 *
 * Only transfers, no wire bits: fronts that speak a wire protocol stand before board_dap_transfer. AP
 * accesses take the core's own bus (board_bus.c); must not reach into memory another way.
 */
#include "sim/board_internal.h"

#define ACK_OK    1u
#define ACK_FAULT 4u

#define DP_DPIDR    0x6BA02477u
#define DP_TARGETID 0x00000001u /* no designer: the board is not a part anybody sells */
#define DP_DLPIDR   0x00000001u
#define DP_DLCR     0x00000040u /* one turnaround cycle */

#define CTRL_STICKYORUN 0x00000002u
#define CTRL_STICKYCMP  0x00000010u
#define CTRL_STICKYERR  0x00000020u
#define CTRL_READOK     0x00000040u
#define CTRL_WDATAERR   0x00000080u
#define CTRL_CDBGPWRUP  0x10000000u
#define CTRL_REQUESTS   0x54000000u /* CDBGRSTREQ, CDBGPWRUPREQ, CSYSPWRUPREQ; each ACK is the bit above */
#define CTRL_KEPT       0x543FFF0Du /* requests, TRNCNT, MASKLANE, TRNMODE, ORUNDETECT */

#define ABORT_STKCMPCLR  0x02u
#define ABORT_STKERRCLR  0x04u
#define ABORT_WDERRCLR   0x08u
#define ABORT_ORUNERRCLR 0x10u

#define AP_CSW  0x00u
#define AP_TAR  0x04u
#define AP_DRW  0x0Cu
#define AP_BD0  0x10u
#define AP_BD3  0x1Cu
#define AP_BASE 0xF8u
#define AP_IDR  0xFCu

#define AP_IDR_AHB     0x84770001u
#define CSW_RESET      0x23000012u /* protection bits of an AHB-AP, AddrInc single, word */
#define CSW_KEPT       0xFF000037u
#define CSW_SIZE       0x07u
#define CSW_INC_SINGLE 0x10u
#define CSW_INC_PACKED 0x20u
#define CSW_INC        0x30u
#define CSW_DEVICE_EN  0x40u
#define TAR_WRAP       0x3FFu /* the address increments inside 1 KiB */

void board_dap_reset(struct board *b)
{
    struct board_dap *p = &b->dap;
    p->ctrl = 0;
    p->select = 0;
    p->posted = 0;
    for (unsigned n = 0; n < BOARD_CORES; n++)
        p->ap[n] = (struct board_ap){.csw = CSW_RESET};
}

void board_dap_inject(struct board *b, unsigned (*fault)(void *ctx, bool ap, bool read, uint8_t addr),
                      void *ctx)
{
    b->dap.fault = fault;
    b->dap.fault_ctx = ctx;
}

uint64_t board_wire_clocks(const struct board *b)
{
    return b->wire_clocks;
}

void board_dap_idle(struct board *b, uint64_t clocks)
{
    uint64_t swclk = b->config.swclk_hz;
    uint64_t rest = clocks % swclk * b->hz + b->wire_rest; /* below 1e8 * 1e11 + 1e8 */
    b->wire_clocks += clocks;
    b->wire_rest = rest % swclk;
    board_run_until(b, b->tick + clocks / swclk * b->hz + rest / swclk);
}

static uint32_t ctrl_stat(const struct board_dap *p)
{
    return p->ctrl | (p->ctrl & CTRL_REQUESTS) << 1;
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
        bool ok = read ? board_debugger_read(k, at, size, &beat) : board_debugger_write(k, at, size, beat);
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

/* False = the access failed on the bus. A port that is not there reads zero and ignores writes. */
static bool ap_access(struct board *b, bool read, uint8_t addr, uint32_t *value)
{
    unsigned number = b->dap.select >> 24;
    uint32_t reg = (b->dap.select & 0xF0u) | addr;
    if (read)
        *value = 0;
    if (number >= BOARD_CORES)
        return true;
    struct board_ap *a = &b->dap.ap[number];
    struct board_core *k = &b->core[number];
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
    } else if (reg == AP_DRW) {
        return memory_beats(k, a, 0, read, value, false);
    } else if (reg >= AP_BD0 && reg <= AP_BD3) {
        return memory_beats(k, a, (a->tar & ~0xFu) | (reg - AP_BD0), read, value, true);
    } else if (read && reg == AP_BASE) {
        *value = BOARD_ROM_BASE | 3u;
    } else if (read && reg == AP_IDR) {
        *value = AP_IDR_AHB;
    }
    return true;
}

static void abort_write(struct board_dap *p, uint32_t value)
{
    p->ctrl &=
        ~((value & ABORT_STKCMPCLR ? CTRL_STICKYCMP : 0u) | (value & ABORT_STKERRCLR ? CTRL_STICKYERR : 0u) |
          (value & ABORT_WDERRCLR ? CTRL_WDATAERR : 0u) | (value & ABORT_ORUNERRCLR ? CTRL_STICKYORUN : 0u));
}

static uint32_t bank4_read(const struct board_dap *p)
{
    switch (p->select & 0xFu) {
    case 0:
        return ctrl_stat(p);
    case 1:
        return DP_DLCR;
    case 2:
        return DP_TARGETID;
    case 3:
        return DP_DLPIDR;
    default: /* 4 EVENTSTAT: nothing to tell */
        return 0;
    }
}

static unsigned dp_read(struct board_dap *p, uint8_t addr, uint32_t *value)
{
    bool error = (p->ctrl & CTRL_STICKYERR) != 0;
    switch (addr) {
    case 0x0:
        *value = DP_DPIDR;
        return ACK_OK;
    case 0x4:
        if (error && (p->select & 0xFu) != 0)
            return ACK_FAULT;
        *value = bank4_read(p);
        return ACK_OK;
    default: /* RESEND and RDBUFF */
        if (error)
            return ACK_FAULT;
        *value = p->posted;
        return ACK_OK;
    }
}

static unsigned dp_write(struct board_dap *p, uint8_t addr, uint32_t value)
{
    if (addr == 0x0) {
        abort_write(p, value);
        return ACK_OK;
    }
    if (p->ctrl & CTRL_STICKYERR)
        return ACK_FAULT;
    if (addr == 0x4 && (p->select & 0xFu) == 0)
        p->ctrl = (value & CTRL_KEPT) | (p->ctrl & ~CTRL_KEPT);
    else if (addr == 0x8)
        p->select = value & 0xFF0000FFu;
    return ACK_OK; /* TARGETSEL: one target, nothing to select */
}

unsigned board_dap_transfer(struct board *b, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    board_dap_idle(b, BOARD_CLOCKS_PER_TRANSFER);
    return board_dap_access(b, ap, read, addr, value);
}

unsigned board_dap_access(struct board *b, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    struct board_dap *p = &b->dap;
    if (p->fault) {
        unsigned answer = p->fault(p->fault_ctx, ap, read, addr);
        if (answer)
            return answer;
    }
    addr &= 0xCu;
    if (!ap)
        return read ? dp_read(p, addr, value) : dp_write(p, addr, *value);
    if (p->ctrl & CTRL_STICKYERR)
        return ACK_FAULT;
    if (!(p->ctrl & CTRL_CDBGPWRUP)) {
        p->ctrl |= CTRL_STICKYERR;
        return ACK_FAULT;
    }
    uint32_t data = read ? 0 : *value;
    bool ok = ap_access(b, read, addr, &data);
    if (read) {
        /* Posted: the answer to this read comes with the next one, or with RDBUFF. */
        *value = p->posted;
        p->posted = data;
        p->ctrl = ok ? p->ctrl | CTRL_READOK : p->ctrl & ~CTRL_READOK;
    }
    if (!ok)
        p->ctrl |= CTRL_STICKYERR;
    return ACK_OK;
}
