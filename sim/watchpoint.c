/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data watchpoint and trace unit: CYCCNT, PC sampling, four comparators. Armv7-M ARM (DDI0403E) C1.8,
 * cross-trigger sheet 3.1. No trace output, no profiling counters.
 *
 * A watchpoint halts after the instruction that made the access; a pc match after the instruction at that
 * address.
 */
#include "sim/board_internal.h"

#define DWT_CTRL   0x000u
#define DWT_CYCCNT 0x004u
#define DWT_PCSR   0x01Cu
#define DWT_COMP0  0x020u /* COMP, MASK, FUNCTION, reserved */

#define DWT_CTRL_CYCCNTENA 1u
#define DWT_CTRL_FIXED     0x49000000u /* four comparators, NOTRCPKT, NOPRFCNT */
#define DWT_FUNCTION_KEPT  0xFu
#define DWT_MATCHED        (1u << 24)
#define DWT_MASK_MAX       31u

enum dwt_function {
    DWT_PC_HALT = 4,
    DWT_READ_HALT = 5,
    DWT_WRITE_HALT = 6,
    DWT_ACCESS_HALT = 7,
    DWT_PC_TRIGGER = 8, /* 8..11: as 4..7, but pulse the CTI input instead */
    DWT_ACCESS_TRIGGER = 11,
};

static uint32_t cyccnt(const struct board_core *k)
{
    return k->dwt.counting ? (uint32_t)(k->cpu.cycles - k->dwt.base) : k->dwt.cyccnt;
}

static bool trace_enabled(const struct board_core *k)
{
    return (k->debug.demcr & DEMCR_TRCENA) != 0;
}

void board_dwt_reset(struct board_core *k)
{
    k->dwt = (struct board_dwt){0};
}

void board_dwt_arm(struct board_core *k)
{
    struct board_dwt *w = &k->dwt;
    bool count = trace_enabled(k) && (w->ctrl & DWT_CTRL_CYCCNTENA);
    if (count && !w->counting) {
        w->base = k->cpu.cycles - w->cyccnt;
    } else if (!count && w->counting) {
        w->cyccnt = cyccnt(k);
    }
    w->counting = count;
    w->pc_match = false;
    k->cpu.watch = false;
    for (unsigned n = 0; n < BOARD_DWT_COMPARATORS && trace_enabled(k); n++) {
        uint32_t f = w->function[n] & DWT_FUNCTION_KEPT;
        if (f == DWT_PC_HALT || f == DWT_PC_TRIGGER)
            w->pc_match = true;
        else if (f > DWT_PC_HALT && f <= DWT_ACCESS_TRIGGER)
            k->cpu.watch = true;
    }
    board_debug_arm(k);
}

void board_dwt_read(struct board_core *k, uint32_t offset, uint32_t *value)
{
    struct board_dwt *w = &k->dwt;
    *value = 0;
    if (offset == DWT_CTRL) {
        *value = DWT_CTRL_FIXED | w->ctrl;
    } else if (offset == DWT_CYCCNT) {
        *value = cyccnt(k);
    } else if (offset == DWT_PCSR) {
        bool no_sample = (k->cpu.attention & (CPU_ATTN_HALTED | CPU_ATTN_RESET)) || !trace_enabled(k);
        *value = no_sample ? 0xFFFFFFFFu : k->cpu.r[CPU_PC] & ~1u;
    } else if (offset >= DWT_COMP0 && offset < DWT_COMP0 + 16 * BOARD_DWT_COMPARATORS) {
        unsigned n = (offset - DWT_COMP0) / 16;
        switch (offset & 0xFu) {
        case 0x0:
            *value = w->comp[n];
            break;
        case 0x4:
            *value = w->mask[n];
            break;
        case 0x8:
            *value = w->function[n];
            w->function[n] &= ~(uint32_t)DWT_MATCHED; /* cleared by reading */
            break;
        default:
            break;
        }
    }
}

void board_dwt_write(struct board_core *k, uint32_t offset, uint32_t value)
{
    struct board_dwt *w = &k->dwt;
    if (offset == DWT_CTRL) {
        w->ctrl = value & DWT_CTRL_CYCCNTENA;
    } else if (offset == DWT_CYCCNT) {
        w->cyccnt = value;
        w->base = k->cpu.cycles - value;
    } else if (offset >= DWT_COMP0 && offset < DWT_COMP0 + 16 * BOARD_DWT_COMPARATORS) {
        unsigned n = (offset - DWT_COMP0) / 16;
        switch (offset & 0xFu) {
        case 0x0:
            w->comp[n] = value;
            break;
        case 0x4:
            w->mask[n] = value & DWT_MASK_MAX;
            break;
        case 0x8:
            w->function[n] = value & DWT_FUNCTION_KEPT;
            break;
        default:
            break;
        }
    }
    board_dwt_arm(k);
}

static void matched(struct board_core *k, unsigned n)
{
    k->dwt.function[n] |= DWT_MATCHED;
    if ((k->dwt.function[n] & DWT_FUNCTION_KEPT) < DWT_PC_TRIGGER)
        board_debug_event(k, DFSR_DWTTRAP);
    else if (n < 3)
        board_cti_input(k, BOARD_CTI_IN_DWT0 + n);
}

void board_dwt_pc(struct board_core *k, uint32_t pc)
{
    for (unsigned n = 0; n < BOARD_DWT_COMPARATORS; n++) {
        uint32_t f = k->dwt.function[n] & DWT_FUNCTION_KEPT;
        uint32_t ignored = (uint32_t)((1ull << k->dwt.mask[n]) - 1) | 1u;
        if ((f == DWT_PC_HALT || f == DWT_PC_TRIGGER) && ((pc ^ k->dwt.comp[n]) & ~ignored) == 0)
            matched(k, n);
    }
}

void board_dwt_access(void *ctx, uint32_t address, unsigned size, bool write, uint32_t value)
{
    struct board_core *k = ctx;
    (void)value;
    if (!trace_enabled(k)) /* the debugger's own accesses never come here */
        return;
    for (unsigned n = 0; n < BOARD_DWT_COMPARATORS; n++) {
        uint32_t f = k->dwt.function[n] & DWT_FUNCTION_KEPT;
        uint32_t kind = f >= DWT_PC_TRIGGER ? f - 4 : f;
        if (f > DWT_ACCESS_TRIGGER || kind < DWT_READ_HALT)
            continue;
        if ((kind == DWT_READ_HALT && write) || (kind == DWT_WRITE_HALT && !write))
            continue;
        /* Any byte of the access inside the watched block. */
        uint64_t block = 1ull << k->dwt.mask[n];
        uint64_t first = k->dwt.comp[n] & ~(block - 1);
        if (address < first + block && (uint64_t)address + size > first)
            matched(k, n);
    }
}
