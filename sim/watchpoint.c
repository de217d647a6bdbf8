/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data watchpoint and trace unit: CYCCNT, PC sampling, up to four comparators. Armv7-M ARM (DDI0403E)
 * C1.8, Armv6-M ARM (DDI0419E) C1.8, Armv8-M ARM (DDI0553) D1.2 for FUNCTION; cross-trigger sheet 3.1. No
 * trace output, no profiling counters, no data values.
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
#define DWT_CTRL_NO_TRACE  0x09000000u /* NOTRCPKT, NOPRFCNT */
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

/* Armv8-M: FUNCTION has MATCH, ACTION and DATAVSIZE; the odd comparators can be limits of their neighbours.
 */
#define V8_KEPT        0xC3Fu
#define V8_MATCH(f)    ((f)&0xFu)
#define V8_ACTION(f)   ((f) >> 4 & 3u)
#define V8_SIZE(f)     (1u << ((f) >> 10 & 3u))
#define V8_ACTION_HALT 1u
#define V8_ID_PLAIN    (0x0Au << 27) /* instruction and data address */
#define V8_ID_LIMIT    (0x1Au << 27) /* and limits */

enum dwt_match {
    V8_PC = 2,
    V8_PC_LIMIT = 3,
    V8_ACCESS = 4,
    V8_WRITE = 5,
    V8_READ = 6,
    V8_ACCESS_LIMIT = 7,
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

static bool valid_limit(uint32_t function)
{
    uint32_t match = V8_MATCH(function);
    return match == V8_PC_LIMIT || match == V8_ACCESS_LIMIT;
}

/* Armv8-M: comparator `n` alone, or as the lower end of a range that its neighbour ends. */
static struct board_watch watch_v8(const struct board_dwt *w, unsigned n)
{
    uint32_t f = w->function[n], match = V8_MATCH(f);
    uint32_t above = n % 2 == 0 && n + 1 < BOARD_DWT_COMPARATORS ? w->function[n + 1] : 0;
    struct board_watch watch = {.pc = match == V8_PC, .halt = V8_ACTION(f) == V8_ACTION_HALT};

    watch.read = match == V8_ACCESS || match == V8_READ;
    watch.write = match == V8_ACCESS || match == V8_WRITE;
    watch.first = w->comp[n] & ~(watch.pc ? 1u : V8_SIZE(f) - 1u);
    watch.last = watch.first | (watch.pc ? 1u : V8_SIZE(f) - 1u);
    if (V8_MATCH(above) == (watch.pc ? V8_PC_LIMIT : V8_ACCESS_LIMIT)) {
        watch.first = w->comp[n];
        watch.last = w->comp[n + 1];
    }
    return watch;
}

static struct board_watch watch_v7(const struct board_core *k, unsigned n)
{
    const struct board_dwt *w = &k->dwt;
    uint32_t f = w->function[n] & DWT_FUNCTION_KEPT, kind = f >= DWT_PC_TRIGGER ? f - 4 : f;
    uint32_t last = k->identity->architecture == CPU_V6M ? DWT_ACCESS_HALT : DWT_ACCESS_TRIGGER;
    uint32_t within = (uint32_t)((1ull << w->mask[n]) - 1);
    struct board_watch watch = {.halt = f < DWT_PC_TRIGGER};

    if (f > last)
        return watch;
    watch.pc = kind == DWT_PC_HALT;
    watch.read = kind == DWT_READ_HALT || kind == DWT_ACCESS_HALT;
    watch.write = kind == DWT_WRITE_HALT || kind == DWT_ACCESS_HALT;
    within |= watch.pc ? 1u : 0u;
    watch.first = w->comp[n] & ~within;
    watch.last = watch.first | within;
    return watch;
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
    for (unsigned n = 0; n < k->identity->dwt.comparators; n++) {
        struct board_watch *watch = &w->watch[n];
        *watch = k->identity->dwt.v8 ? watch_v8(w, n) : watch_v7(k, n);
        if (!trace_enabled(k))
            *watch = (struct board_watch){0};
        w->pc_match = w->pc_match || watch->pc;
        k->cpu.watch = k->cpu.watch || watch->read || watch->write;
    }
    board_debug_arm(k);
}

static uint32_t read_ctrl(const struct board_core *k)
{
    uint32_t count = (uint32_t)k->identity->dwt.comparators << 28;
    return k->identity->dwt.cyccnt ? count | DWT_CTRL_NO_TRACE | k->dwt.ctrl : count;
}

/* What FUNCTION of an Armv8-M comparator can do, in its top bits. */
static uint32_t v8_id(unsigned n)
{
    return n % 2 ? V8_ID_LIMIT : V8_ID_PLAIN;
}

void board_dwt_read(struct board_core *k, uint32_t offset, uint32_t *value)
{
    struct board_dwt *w = &k->dwt;
    *value = 0;
    if (offset == DWT_CTRL) {
        *value = read_ctrl(k);
    } else if (offset == DWT_CYCCNT) {
        *value = cyccnt(k);
    } else if (offset == DWT_PCSR) {
        bool no_sample = (k->cpu.attention & (CPU_ATTN_HALTED | CPU_ATTN_RESET)) || !trace_enabled(k);
        *value = no_sample ? 0xFFFFFFFFu : k->cpu.r[CPU_PC] & ~1u;
    } else if (offset >= DWT_COMP0 && offset < DWT_COMP0 + 16u * k->identity->dwt.comparators) {
        unsigned n = (offset - DWT_COMP0) / 16;
        switch (offset & 0xFu) {
        case 0x0:
            *value = w->comp[n];
            break;
        case 0x4:
            *value = w->mask[n];
            break;
        case 0x8:
            *value = w->function[n] | (k->identity->dwt.v8 ? v8_id(n) : 0u);
            w->function[n] &= ~(uint32_t)DWT_MATCHED; /* cleared by reading */
            break;
        default:
            break;
        }
    }
}

/* Armv8-M: a comparator does not take what it cannot do. */
static uint32_t kept_v8(unsigned n, uint32_t value)
{
    uint32_t match = V8_MATCH(value);
    bool can = match == 0 || (match >= V8_PC && match <= V8_ACCESS_LIMIT && (!valid_limit(value) || n % 2));
    return value & (can ? V8_KEPT : V8_KEPT & ~0xFu);
}

void board_dwt_write(struct board_core *k, uint32_t offset, uint32_t value)
{
    struct board_dwt *w = &k->dwt;
    const struct board_dwt_info *info = &k->identity->dwt;
    if (offset == DWT_CTRL) {
        w->ctrl = info->cyccnt ? value & DWT_CTRL_CYCCNTENA : 0;
    } else if (offset == DWT_CYCCNT) {
        w->cyccnt = info->cyccnt ? value : 0;
        w->base = k->cpu.cycles - w->cyccnt;
    } else if (offset >= DWT_COMP0 && offset < DWT_COMP0 + 16u * info->comparators) {
        unsigned n = (offset - DWT_COMP0) / 16;
        switch (offset & 0xFu) {
        case 0x0:
            w->comp[n] = value;
            break;
        case 0x4:
            w->mask[n] = info->v8 ? 0 : value & DWT_MASK_MAX;
            break;
        case 0x8:
            w->function[n] = info->v8 ? kept_v8(n, value) : value & DWT_FUNCTION_KEPT;
            break;
        default:
            break;
        }
    }
    board_dwt_arm(k);
}

static void matched(struct board_core *k, unsigned n)
{
    const struct board_cti_info *cti = &k->identity->cti;
    k->dwt.function[n] |= DWT_MATCHED;
    if (k->dwt.watch[n].halt)
        board_debug_event(k, DFSR_DWTTRAP);
    else if (n < cti->dwts)
        board_cti_input(k, cti->dwt + n);
}

void board_dwt_pc(struct board_core *k, uint32_t pc)
{
    for (unsigned n = 0; n < k->identity->dwt.comparators; n++) {
        const struct board_watch *watch = &k->dwt.watch[n];
        if (watch->pc && pc >= watch->first && pc <= watch->last)
            matched(k, n);
    }
}

void board_dwt_access(void *ctx, uint32_t address, unsigned size, bool write, uint32_t value)
{
    struct board_core *k = ctx;
    (void)value;
    /* The debugger's own accesses never come here. */
    for (unsigned n = 0; n < k->identity->dwt.comparators; n++) {
        const struct board_watch *watch = &k->dwt.watch[n];
        /* Any byte of the access inside what is watched. */
        if ((write ? watch->write : watch->read) && address <= watch->last &&
            (uint64_t)address + size > watch->first)
            matched(k, n);
    }
}
