/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 32-bit Thumb: the decode table, data processing with immediates and shifted registers, branches and
 * miscellaneous control (DDI0403E A5.3.1 to A5.3.4, A5.3.11). Loads, multiplies and DSP have their own files.
 */
#include "sim/cpu_internal.h"

#define RN(i) (((i) >> 16) & 15u)
#define RD(i) (((i) >> 8) & 15u)
#define RM(i) ((i)&15u)
#define S(i)  (((i) >> 20) & 1u)

void cpu_undefined(struct cpu *c, uint32_t i)
{
    (void)i;
    c->fault = CPU_FAULT_UNDEFINED;
}

static void coprocessor(struct cpu *c, uint32_t i)
{
    (void)i;
    c->fault = CPU_FAULT_NOCP;
}

/* ThumbExpandImm_C (A5.3.2). */
static uint32_t expand_immediate(uint32_t i, uint8_t *carry)
{
    uint32_t imm12 = (i & 0xFFu) | ((i >> 4) & 0x700u) | ((i >> 15) & 0x800u), v = i & 0xFFu;
    unsigned amount = imm12 >> 7;

    switch (imm12 >> 8) {
    case 0:
        return v;
    case 1:
        return v << 16 | v;
    case 2:
        return v << 24 | v << 8;
    case 3:
        return v * 0x01010101u;
    default:
        v = 0x80u | (v & 0x7Fu);
        v = v >> amount | v << (32 - amount); /* amount is 8..31 */
        *carry = (uint8_t)(v >> 31);
        return v;
    }
}

/* The operations that both operand forms share. `b` and `carry` come from the shifter or the expansion. */
static void data_processing(struct cpu *c, uint32_t i, uint32_t b, uint8_t carry)
{
    unsigned rn = RN(i), rd = RD(i), s = S(i);
    uint32_t a = c->r[rn], r;
    bool compare = rd == CPU_PC && s; /* TST, TEQ, CMN and CMP: no result register */

    switch (cpu_bits(i, 21, 4)) {
    case 0: /* AND, TST */
        r = a & b;
        break;
    case 1:
        r = a & ~b;
        compare = false;
        break;
    case 2: /* ORR, MOV */
        r = rn == CPU_PC ? b : a | b;
        compare = false;
        break;
    case 3: /* ORN, MVN */
        r = rn == CPU_PC ? ~b : a | ~b;
        compare = false;
        break;
    case 4: /* EOR, TEQ */
        r = a ^ b;
        break;
    case 8: /* ADD, CMN */
        r = s ? cpu_add_flags(c, a, b, 0) : a + b;
        goto arithmetic;
    case 10:
        r = s ? cpu_add_flags(c, a, b, c->c) : a + b + c->c;
        compare = false;
        goto arithmetic;
    case 11:
        r = s ? cpu_add_flags(c, a, ~b, c->c) : a + ~b + c->c;
        compare = false;
        goto arithmetic;
    case 13: /* SUB, CMP */
        r = s ? cpu_add_flags(c, a, ~b, 1) : a - b;
        goto arithmetic;
    case 14:
        r = s ? cpu_add_flags(c, ~a, b, 1) : b - a;
        compare = false;
        goto arithmetic;
    default:
        cpu_undefined(c, i);
        return;
    }
    if (s) {
        cpu_set_nz(c, r);
        c->c = carry;
    }
arithmetic:
    if (!compare)
        cpu_put(c, rd, r);
}

static void dp_shifted_register(struct cpu *c, uint32_t i)
{
    unsigned type = cpu_bits(i, 4, 2), amount = cpu_bits(i, 6, 2) | (cpu_bits(i, 12, 3) << 2);
    uint32_t m = c->r[RM(i)];
    uint8_t carry = c->c;

    if (cpu_bits(i, 21, 4) == 6) { /* PKHBT, PKHTB */
        uint32_t n = c->r[RN(i)];
        if (i & 0x00100010u)
            cpu_undefined(c, i);
        else if (i & 0x20u)
            cpu_put(c, RD(i), (n & 0xFFFF0000u) | (cpu_shift(m, 2, amount ? amount : 32, &carry) & 0xFFFFu));
        else
            cpu_put(c, RD(i), (n & 0xFFFFu) | (m << amount & 0xFFFF0000u));
        return;
    }
    if (amount != 0) {
        m = cpu_shift(m, type, amount, &carry);
    } else if (type == 1 || type == 2) {
        m = cpu_shift(m, type, 32, &carry);
    } else if (type == 3) { /* RRX */
        carry = m & 1u;
        m = m >> 1 | (uint32_t)c->c << 31;
    }
    data_processing(c, i, m, carry);
}

static void bit_field(struct cpu *c, uint32_t i, unsigned op)
{
    unsigned lsb = cpu_bits(i, 6, 2) | (cpu_bits(i, 12, 3) << 2), low5 = i & 31u;
    uint32_t n = c->r[RN(i)];

    if (op == 0x16) { /* BFI, BFC: low5 is the top bit */
        if (low5 < lsb) {
            cpu_undefined(c, i);
            return;
        }
        uint32_t mask = (0xFFFFFFFFu >> (31u - (low5 - lsb))) << lsb;
        uint32_t from = RN(i) == CPU_PC ? 0 : n << lsb;
        cpu_put(c, RD(i), (c->r[RD(i)] & ~mask) | (from & mask));
        return;
    }
    if (lsb + low5 > 31) { /* SBFX, UBFX: low5 is the width less one */
        cpu_undefined(c, i);
        return;
    }
    n <<= 31u - (lsb + low5);
    if (op == 0x14)
        cpu_put(c, RD(i), (uint32_t)((int32_t)n >> (31u - low5)));
    else
        cpu_put(c, RD(i), n >> (31u - low5));
}

static void dp_plain_immediate(struct cpu *c, uint32_t i)
{
    unsigned op = cpu_bits(i, 20, 5), rn = RN(i), rd = RD(i);
    uint32_t imm12 = (i & 0xFFu) | ((i >> 4) & 0x700u) | ((i >> 15) & 0x800u);
    uint32_t imm16 = imm12 | (rn << 12);
    uint32_t base = rn == CPU_PC ? c->r[CPU_PC] & ~3u : c->r[rn];

    switch (op) {
    case 0x00:
        cpu_put(c, rd, base + imm12);
        break;
    case 0x04:
        cpu_put(c, rd, imm16);
        break;
    case 0x0A:
        cpu_put(c, rd, base - imm12);
        break;
    case 0x0C:
        cpu_put(c, rd, (c->r[rd] & 0xFFFFu) | imm16 << 16);
        break;
    case 0x10:
    case 0x12:
    case 0x18:
    case 0x1A:
        cpu_saturate(c, i);
        break;
    case 0x14:
    case 0x16:
    case 0x1C:
        bit_field(c, i, op);
        break;
    default:
        cpu_undefined(c, i);
        break;
    }
}

/* B T4 and BL: the J bits are XORed with the sign. */
static uint32_t long_offset(uint32_t i)
{
    uint32_t s = (i >> 26) & 1u, j1 = (i >> 13) & 1u, j2 = (i >> 11) & 1u;
    uint32_t v = s << 24 | (~(j1 ^ s) & 1u) << 23 | (~(j2 ^ s) & 1u) << 22 | cpu_bits(i, 16, 10) << 12 |
                 (i & 0x7FFu) << 1;

    return (uint32_t)((int32_t)(v << 7) >> 7);
}

static void barrier_or_clrex(struct cpu *c, uint32_t i)
{
    switch (cpu_bits(i, 4, 4)) {
    case 2:
        cpu_monitor_clear(c);
        break;
    case 4: /* DSB, DMB, ISB: this core does nothing out of order */
    case 5:
    case 6:
        break;
    default:
        cpu_undefined(c, i);
        break;
    }
}

static void misc_control(struct cpu *c, uint32_t i)
{
    switch (cpu_bits(i, 20, 7)) {
    case 0x38:
    case 0x39:
        cpu_msr(c, RN(i), i);
        break;
    case 0x3A:
        if (cpu_bits(i, 8, 3)) /* CPS with a mode: not in the M profile */
            cpu_undefined(c, i);
        else
            cpu_hint(c, i & 0xFFu);
        break;
    case 0x3B:
        barrier_or_clrex(c, i);
        break;
    case 0x3E:
    case 0x3F:
        cpu_mrs(c, RD(i), i);
        break;
    default:
        cpu_undefined(c, i);
        break;
    }
}

static void branch_misc(struct cpu *c, uint32_t i)
{
    switch (cpu_bits(i, 12, 3)) {
    case 0:
    case 2:
        if (cpu_bits(i, 23, 3) == 7) {
            if (cpu_bits(i, 12, 3) == 0)
                misc_control(c, i);
            else
                cpu_undefined(c, i);
        } else if (cpu_condition(c, cpu_bits(i, 22, 4))) {
            uint32_t v = (i & 0x7FFu) << 1 | cpu_bits(i, 16, 6) << 12 | cpu_bits(i, 13, 1) << 18 |
                         cpu_bits(i, 11, 1) << 19 | cpu_bits(i, 26, 1) << 20;
            c->r[CPU_PC] += (uint32_t)((int32_t)(v << 11) >> 11);
        }
        break;
    case 1:
    case 3:
        c->r[CPU_PC] += long_offset(i);
        break;
    case 5:
    case 7:
        c->r[CPU_LR] = c->r[CPU_PC] | 1u;
        c->r[CPU_PC] += long_offset(i);
        break;
    default: /* BLX immediate: no Arm state here */
        cpu_undefined(c, i);
        break;
    }
}

static void dp_modified_or_branch(struct cpu *c, uint32_t i)
{
    if (i & 0x8000u) {
        branch_misc(c, i);
    } else {
        uint8_t carry = c->c;
        uint32_t b = expand_immediate(i, &carry);
        if (cpu_bits(i, 21, 4) == 6)
            cpu_undefined(c, i);
        else
            data_processing(c, i, b, carry);
    }
}

static void dp_plain_or_branch(struct cpu *c, uint32_t i)
{
    if (i & 0x8000u)
        branch_misc(c, i);
    else
        dp_plain_immediate(c, i);
}

#define LDST(base)                                                                                          \
    [base] = cpu_load_store_single, [base + 1] = cpu_load_store_single, [base + 2] = cpu_load_store_single, \
    [base + 3] = cpu_load_store_single, [base + 4] = cpu_load_store_single,                                 \
    [base + 5] = cpu_load_store_single

cpu_op *const cpu_thumb32[512] = {
    [0x000 ... 0x07F] = cpu_undefined, /* never looked up: 16-bit B */
    [0x080 ... 0x083] = cpu_ldm_stm,         [0x084 ... 0x087] = cpu_dual_exclusive,
    [0x088 ... 0x08B] = cpu_ldm_stm,         [0x08C ... 0x08F] = cpu_dual_exclusive,
    [0x090 ... 0x093] = cpu_ldm_stm,         [0x094 ... 0x097] = cpu_dual_exclusive,
    [0x098 ... 0x09B] = cpu_ldm_stm,         [0x09C ... 0x09F] = cpu_dual_exclusive,
    [0x0A0 ... 0x0BF] = dp_shifted_register, [0x0C0 ... 0x0EF] = coprocessor,
    [0x0F0 ... 0x0FF] = cpu_undefined,       [0x100 ... 0x11F] = dp_modified_or_branch,
    [0x120 ... 0x13F] = dp_plain_or_branch,  [0x140 ... 0x15F] = dp_modified_or_branch,
    [0x160 ... 0x17F] = dp_plain_or_branch,  LDST(0x180),
    [0x186 ... 0x187] = cpu_undefined,       LDST(0x188),
    [0x18E ... 0x18F] = cpu_undefined,       LDST(0x190),
    [0x196 ... 0x197] = cpu_undefined,       LDST(0x198),
    [0x19E ... 0x19F] = cpu_undefined,       [0x1A0 ... 0x1AF] = cpu_dp_register,
    [0x1B0 ... 0x1B7] = cpu_multiply,        [0x1B8 ... 0x1BF] = cpu_long_multiply,
    [0x1C0 ... 0x1EF] = coprocessor,         [0x1F0 ... 0x1FF] = cpu_undefined,
};
