/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debug port: SW-DP version 2, or with adiv6 version 3. Cross-trigger sheet 2.1, 2.2. The access ports
 * behind it are dap_ap.c.
 *
 * Only transfers, no wire bits: fronts that speak a wire protocol stand before board_dap_transfer.
 */
#include "sim/board_internal.h"

#define ACK_OK    1u
#define ACK_WAIT  2u
#define ACK_FAULT 4u

#define DP_DPIDR    0x6BA02477u
#define DP_DPIDR6   0x6BA03477u /* ADIv6 */
#define DP_DPIDR1   0x00000020u /* ASIZE: 32 bits of address */
#define DP_BASEPTR0 0x00000001u /* valid: the root table is at 0 */
#define DP_TARGETID 0x00000001u /* no designer: the board is not a part anybody sells */
#define DP_DLPIDR   0x00000001u
#define DP_DLCR     0x00000040u /* one turnaround cycle */

#define CTRL_ORUNDETECT 0x00000001u
#define CTRL_STICKYORUN 0x00000002u
#define CTRL_STICKYCMP  0x00000010u
#define CTRL_STICKYERR  0x00000020u
#define CTRL_READOK     0x00000040u
#define CTRL_WDATAERR   0x00000080u
#define CTRL_CDBGPWRUP  0x10000000u
#define CTRL_STICKY     0x000000B2u /* any of them stops the port until it is cleared */
#define CTRL_REQUESTS   0x54000000u /* CDBGRSTREQ, CDBGPWRUPREQ, CSYSPWRUPREQ; each ACK is the bit above */
#define CTRL_KEPT       0x543FFF0Du /* requests, TRNCNT, MASKLANE, TRNMODE, ORUNDETECT */

#define ABORT_STKCMPCLR  0x02u
#define ABORT_STKERRCLR  0x04u
#define ABORT_WDERRCLR   0x08u
#define ABORT_ORUNERRCLR 0x10u

void board_dap_reset(struct board *b)
{
    struct board_dap *p = &b->dap;
    p->ctrl = 0;
    p->select = 0;
    p->select1 = 0;
    p->posted = 0;
    for (unsigned n = 0; n < BOARD_CORES; n++)
        board_dap_ap_reset(b, n);
}

void board_dap_fault_next(struct board *b, unsigned ack, uint64_t count, uint64_t after)
{
    b->dap.fault_ack = ack;
    b->dap.fault_count = count;
    b->dap.fault_after = after;
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
    case 5: /* of ADIv6, zero else */
        return p->select1;
    default: /* 4 EVENTSTAT: nothing to tell */
        return 0;
    }
}

static uint32_t bank0_read(const struct board_dap *p, bool adiv6)
{
    static const uint32_t banks[] = {DP_DPIDR6, DP_DPIDR1, DP_BASEPTR0, 0};
    unsigned bank = p->select & 0xFu;
    if (!adiv6)
        return DP_DPIDR;
    return bank < sizeof(banks) / sizeof(banks[0]) ? banks[bank] : 0;
}

static unsigned dp_read(struct board_dap *p, bool adiv6, uint8_t addr, uint32_t *value)
{
    bool error = (p->ctrl & CTRL_STICKY) != 0;
    switch (addr) {
    case 0x0:
        *value = bank0_read(p, adiv6);
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

static unsigned dp_write(struct board_dap *p, bool adiv6, uint8_t addr, uint32_t value)
{
    if (addr == 0x0) {
        abort_write(p, value);
        return ACK_OK;
    }
    if (p->ctrl & CTRL_STICKY)
        return ACK_FAULT;
    if (addr == 0x4 && adiv6 && (p->select & 0xFu) == 5)
        p->select1 = value;
    else if (addr == 0x4 && (p->select & 0xFu) == 0)
        p->ctrl = (value & CTRL_KEPT) | (p->ctrl & ~CTRL_KEPT);
    else if (addr == 0x8)
        p->select = adiv6 ? value : value & 0xFF0000FFu;
    return ACK_OK; /* TARGETSEL: one target, nothing to select */
}

/* The acknowledge that somebody asked for; 0 = none. */
static unsigned injected(struct board_dap *p, bool ap, bool read, uint8_t addr)
{
    if (p->fault_count && p->fault_after) {
        p->fault_after--;
    } else if (p->fault_count) {
        p->fault_count--;
        return p->fault_ack;
    }
    return p->fault ? p->fault(p->fault_ctx, ap, read, addr) : 0;
}

unsigned board_dap_access(struct board *b, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    struct board_dap *p = &b->dap;
    unsigned answer = injected(p, ap, read, addr);
    if (answer)
        return answer;
    addr &= 0xCu;
    if (!ap)
        return read ? dp_read(p, b->config.adiv6, addr, value) : dp_write(p, b->config.adiv6, addr, *value);
    if (p->ctrl & CTRL_STICKY)
        return ACK_FAULT;
    if (!(p->ctrl & CTRL_CDBGPWRUP)) {
        p->ctrl |= CTRL_STICKYERR;
        return ACK_FAULT;
    }
    uint32_t data = read ? 0 : *value;
    enum board_ap_answer got = board_ap_access(b, read, addr, &data);
    if (got == BOARD_AP_WAIT)
        return ACK_WAIT;
    bool ok = got == BOARD_AP_OK;
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

void board_dap_overrun(struct board *b)
{
    if (b->dap.ctrl & CTRL_ORUNDETECT)
        b->dap.ctrl |= CTRL_STICKYORUN;
}

unsigned board_dap_access_again(struct board *b, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    uint32_t overrun = b->dap.ctrl & CTRL_STICKYORUN;
    b->dap.ctrl &= ~CTRL_STICKYORUN;
    unsigned ack = board_dap_access(b, ap, read, addr, value);
    b->dap.ctrl |= overrun;
    return ack;
}

unsigned board_dap_transfer(struct board *b, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    board_dap_idle(b, BOARD_CLOCKS_PER_TRANSFER);
    unsigned ack = board_dap_access(b, ap, read, addr, value);
    /* With overrun detection the data phase comes all the same, and what it carried is lost. */
    if (ack != ACK_OK)
        board_dap_overrun(b);
    return ack;
}
