/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 32-bit Thumb loads and stores (DDI0403E A5.3.5 to A5.3.10): multiple, dual, exclusive, table branch,
 * single.
 *
 * No register changes before every access of the instruction has succeeded.
 */
#include "sim/cpu_internal.h"

#define RN(i) (((i) >> 16) & 15u)
#define RT(i) (((i) >> 12) & 15u)
#define RD(i) (((i) >> 8) & 15u)
#define RM(i) ((i)&15u)

static inline bool load_single(struct cpu *c, uint32_t address, unsigned size, bool sign, uint32_t *v)
{
    if (size == 4)
        return cpu_load32(c, address, v);
    if (size == 2) {
        if (!cpu_load16(c, address, v))
            return false;
        if (sign)
            *v = (uint32_t)(int16_t)*v;
        return true;
    }
    if (!cpu_load8(c, address, v))
        return false;
    if (sign)
        *v = (uint32_t)(int8_t)*v;
    return true;
}

static inline bool store_single(struct cpu *c, uint32_t address, unsigned size, uint32_t v)
{
    if (size == 4)
        return cpu_store32(c, address, v);
    return size == 2 ? cpu_store16(c, address, v) : cpu_store8(c, address, v);
}

void cpu_ldm_stm(struct cpu *c, uint32_t i)
{
    unsigned rn = RN(i), op = cpu_bits(i, 23, 2), k = 0;
    bool load = i & (1u << 20), writeback = i & (1u << 21);
    uint32_t list = i & 0xFFFFu, n = (uint32_t)__builtin_popcount(list);
    uint32_t base = c->r[rn], address = base, after, word[16];

    if (op == 0 || op == 3 || n == 0 || rn == CPU_PC || (list & (1u << CPU_SP)) ||
        (!load && (list & (1u << CPU_PC)))) {
        cpu_undefined(c, i);
        return;
    }
    after = op == 1 ? base + 4u * n : base - 4u * n;
    if (op == 2)
        address = after;
    if (!cpu_aligned(c, address, 4) || (rn == CPU_SP && writeback && cpu_below_limit(c, after)))
        return;
    for (uint32_t rest = list; rest; rest &= rest - 1u, k++) {
        uint32_t at = address + 4u * k;
        if (!(load ? cpu_load32(c, at, &word[k]) : cpu_store32(c, at, c->r[__builtin_ctz(rest)])))
            return;
    }
    if (writeback)
        cpu_put(c, rn, after);
    if (!load)
        return;
    k = 0;
    for (uint32_t rest = list & 0x7FFFu; rest; rest &= rest - 1u)
        c->r[__builtin_ctz(rest)] = word[k++];
    if (list & (1u << CPU_PC))
        cpu_branch_exchange(c, word[k]);
}

static void load_store_dual(struct cpu *c, uint32_t i)
{
    unsigned rn = RN(i), rt = RT(i), rt2 = RD(i);
    bool index = i & (1u << 24), add = i & (1u << 23), writeback = i & (1u << 21), load = i & (1u << 20);
    uint32_t base = rn == CPU_PC ? c->r[CPU_PC] & ~3u : c->r[rn];
    uint32_t offset = (i & 0xFFu) * 4u, moved = add ? base + offset : base - offset;
    uint32_t address = index ? moved : base, low, high;

    if ((rn == CPU_PC && (writeback || !load)) || rt == CPU_PC || rt2 == CPU_PC || rt == CPU_SP ||
        rt2 == CPU_SP) {
        cpu_undefined(c, i);
        return;
    }
    if (!cpu_aligned(c, address, 4) || (rn == CPU_SP && writeback && cpu_below_limit(c, moved)))
        return;
    if (load) {
        if (!cpu_load32(c, address, &low) || !cpu_load32(c, address + 4u, &high))
            return;
        if (writeback)
            cpu_put(c, rn, moved);
        c->r[rt] = low;
        c->r[rt2] = high;
    } else {
        if (!cpu_store32(c, address, c->r[rt]) || !cpu_store32(c, address + 4u, c->r[rt2]))
            return;
        if (writeback)
            cpu_put(c, rn, moved);
    }
}

void cpu_load_exclusive(struct cpu *c, unsigned rt, uint32_t address, unsigned size)
{
    uint32_t v;

    if (!cpu_aligned(c, address, size))
        return;
    if (!load_single(c, address, size, false, &v))
        return;
    c->monitor->tag[c->number & 1u] = address & CPU_GRANULE_MASK;
    c->monitor->valid |= 1u << c->number;
    cpu_put(c, rt, v);
}

void cpu_store_exclusive(struct cpu *c, unsigned rd, unsigned rt, uint32_t address, unsigned size)
{
    if (!cpu_aligned(c, address, size))
        return;
    if (!(c->monitor->valid & (1u << c->number)) ||
        c->monitor->tag[c->number & 1u] != (address & CPU_GRANULE_MASK)) {
        cpu_monitor_clear(c);
        cpu_put(c, rd, 1);
        return;
    }
    if (!store_single(c, address, size, c->r[rt]))
        return;
    cpu_monitor_clear(c);
    cpu_put(c, rd, 0);
}

static void table_branch(struct cpu *c, uint32_t i, bool half)
{
    uint32_t base = RN(i) == CPU_PC ? c->r[CPU_PC] : c->r[RN(i)], entry;

    if (half ? cpu_load16(c, base + c->r[RM(i)] * 2u, &entry) : cpu_load8(c, base + c->r[RM(i)], &entry))
        cpu_branch(c, c->r[CPU_PC] + entry * 2u);
}

void cpu_dual_exclusive(struct cpu *c, uint32_t i)
{
    unsigned op1 = cpu_bits(i, 23, 2), op2 = cpu_bits(i, 20, 2), op3 = cpu_bits(i, 4, 4);
    unsigned rn = RN(i), rt = RT(i), rd = RD(i);

    if ((op1 & 2u) || (op2 & 2u)) {
        load_store_dual(c, i);
        return;
    }
    if (op1 == 0) { /* the word forms have an offset; STREX its status register in bits 11..8 */
        uint32_t address = c->r[rn] + (i & 0xFFu) * 4u;
        if (rn == CPU_PC || rt == CPU_PC || rt == CPU_SP)
            cpu_undefined(c, i);
        else if (op2 & 1u)
            cpu_load_exclusive(c, rt, address, 4);
        else
            cpu_store_exclusive(c, rd, rt, address, 4);
        return;
    }
    if (op3 < 2 && op2 == 1) {
        table_branch(c, i, op3);
    } else if ((op3 == 4 || op3 == 5) && rn != CPU_PC && rt != CPU_PC && rt != CPU_SP) {
        if (op2 & 1u)
            cpu_load_exclusive(c, rt, c->r[rn], op3 == 4 ? 1 : 2);
        else
            cpu_store_exclusive(c, RM(i), rt, c->r[rn], op3 == 4 ? 1 : 2);
    } else {
        cpu_undefined(c, i);
    }
}

/* LDRT and its kin access as unprivileged code would: the private peripheral bus is closed to them. */
static bool unprivileged_refused(struct cpu *c, uint32_t address)
{
    if (address >> 20 != 0xE00)
        return false;
    c->fault = CPU_FAULT_BUS;
    c->fault_address = address;
    return true;
}

/* One load or store; all but the first two parameters are constants in each handler. `long_offset`: bit 23,
 * the form with twelve bits. */
static inline __attribute__((always_inline)) void single(struct cpu *c, uint32_t i, const unsigned size,
                                                         const bool load, const bool sign,
                                                         const bool long_offset)
{
    unsigned rn = RN(i), rt = RT(i);
    bool writeback = false, indexed = false;
    uint32_t base = c->r[rn], address, after = 0, v;

    if (rn == CPU_PC) { /* literal */
        if (!load) {
            cpu_undefined(c, i);
            return;
        }
        base &= ~3u;
        address = long_offset ? base + (i & 0xFFFu) : base - (i & 0xFFFu);
    } else if (long_offset) {
        address = base + (i & 0xFFFu);
    } else if (i & (1u << 11)) {
        bool index = i & (1u << 10), add = i & (1u << 9);
        uint32_t moved = add ? base + (i & 0xFFu) : base - (i & 0xFFu);

        writeback = i & (1u << 8);
        indexed = add || writeback; /* all but the plain negative offset */
        if ((!index && !writeback) || (writeback && rn == rt)) {
            cpu_undefined(c, i);
            return;
        }
        address = index ? moved : base;
        after = moved;
        if (CPU_UNLIKELY(rn == CPU_SP) && writeback && cpu_below_limit(c, after))
            return;
        if (index && add && !writeback && unprivileged_refused(c, address))
            return;
    } else if (!(i & 0xFC0u)) {
        address = base + (c->r[RM(i)] << cpu_bits(i, 4, 2));
    } else {
        cpu_undefined(c, i);
        return;
    }
    if (load) {
        if (rt == CPU_PC && size != 4) { /* PLD, PLI and the unallocated hints; not in the indexed forms */
            if (indexed)
                cpu_undefined(c, i);
            return;
        }
        if (!load_single(c, address, size, sign, &v))
            return;
        if (writeback)
            cpu_put(c, rn, after);
        if (rt == CPU_PC)
            cpu_branch_exchange(c, v);
        else
            c->r[rt] = CPU_UNLIKELY(rt == CPU_SP) ? v & ~3u : v; /* no stack limit for what is loaded */
        return;
    }
    if (rt == CPU_PC) {
        cpu_undefined(c, i);
        return;
    }
    if (!store_single(c, address, size, c->r[rt]))
        return;
    if (writeback)
        cpu_put(c, rn, after);
}

#define SINGLE(name, size, load, sign)                  \
    static void name(struct cpu *c, uint32_t i)         \
    {                                                   \
        single(c, i, size, load, sign, false);          \
    }                                                   \
    static void name##_imm12(struct cpu *c, uint32_t i) \
    {                                                   \
        single(c, i, size, load, sign, true);           \
    }
SINGLE(strb, 1, false, false)
SINGLE(ldrb, 1, true, false)
SINGLE(strh, 2, false, false)
SINGLE(ldrh, 2, true, false)
SINGLE(str, 4, false, false)
SINGLE(ldr, 4, true, false)
SINGLE(ldrsb, 1, true, true)
SINGLE(ldrsh, 2, true, true)

cpu_op *const cpu_load_store_single[32] = {
    [0x00] = strb,       [0x01] = ldrb,       [0x02] = strh,        [0x03] = ldrh,
    [0x04] = str,        [0x05] = ldr,        [0x08] = strb_imm12,  [0x09] = ldrb_imm12,
    [0x0A] = strh_imm12, [0x0B] = ldrh_imm12, [0x0C] = str_imm12,   [0x0D] = ldr_imm12,
    [0x11] = ldrsb,      [0x13] = ldrsh,      [0x19] = ldrsb_imm12, [0x1B] = ldrsh_imm12,
};
