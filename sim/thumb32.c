/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 32-bit Thumb: the decode table, data processing with immediates and shifted registers, branches and
 * miscellaneous control (DDI0403E A5.3.1 to A5.3.4, A5.3.11). Loads, multiplies and DSP have their own files.
 */
#include "sim/cpu_internal.h"

#define RN(i) (((i) >> 16) & 15u)
#define RD(i) (((i) >> 8) & 15u)
#define RM(i) ((i)&15u)

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

/* i:imm3:imm8 */
static uint32_t imm12(uint32_t i)
{
    return (i & 0xFFu) | ((i >> 4) & 0x700u) | ((i >> 15) & 0x800u);
}

/* ThumbExpandImm_C (A5.3.2). */
static inline uint32_t expand_immediate(uint32_t i, uint8_t *carry)
{
    static const uint32_t repeated[4] = {1, 0x00010001u, 0x01000100u, 0x01010101u};
    uint32_t number = imm12(i), v = i & 0xFFu;
    unsigned amount = number >> 7;

    if (number < 0x400u)
        return v * repeated[number >> 8];
    v = 0x80u | (v & 0x7Fu);
    v = v >> amount | v << (32 - amount); /* amount is 8..31 */
    *carry = (uint8_t)(v >> 31);
    return v;
}

/* The operations that both operand forms share. `b` and `carry` come from the shifter or the expansion; `op`
 * (bits 24..21) and `s` are constants in each handler. */
static inline __attribute__((always_inline)) void
data_processing(struct cpu *c, uint32_t i, uint32_t b, uint8_t carry, const unsigned op, const bool s)
{
    unsigned rn = RN(i), rd = RD(i);
    uint32_t a = c->r[rn], r;
    bool compare = rd == CPU_PC && s; /* TST, TEQ, CMN and CMP: no result register */

    switch (op) {
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

static inline __attribute__((always_inline)) void shifted_register(struct cpu *c, uint32_t i,
                                                                   const unsigned op, const bool s)
{
    unsigned type = cpu_bits(i, 4, 2), amount = cpu_bits(i, 6, 2) | (cpu_bits(i, 12, 3) << 2);
    uint32_t m = c->r[RM(i)];
    uint8_t carry = c->c;

    if (amount != 0) {
        m = cpu_shift(m, type, amount, &carry);
    } else if (type == 1 || type == 2) {
        m = cpu_shift(m, type, 32, &carry);
    } else if (type == 3) { /* RRX */
        carry = m & 1u;
        m = m >> 1 | (uint32_t)c->c << 31;
    }
    data_processing(c, i, m, carry, op, s);
}

static inline __attribute__((always_inline)) void modified_immediate(struct cpu *c, uint32_t i,
                                                                     const unsigned op, const bool s)
{
    uint8_t carry = c->c;
    uint32_t b = expand_immediate(i, &carry);

    data_processing(c, i, b, carry, op, s);
}

/* A handler for each form of an operation, with and without flags. */
#define OPERATION(name, op)                             \
    static void name##_reg(struct cpu *c, uint32_t i)   \
    {                                                   \
        shifted_register(c, i, op, false);              \
    }                                                   \
    static void name##_reg_s(struct cpu *c, uint32_t i) \
    {                                                   \
        shifted_register(c, i, op, true);               \
    }                                                   \
    static void name##_imm(struct cpu *c, uint32_t i)   \
    {                                                   \
        modified_immediate(c, i, op, false);            \
    }                                                   \
    static void name##_imm_s(struct cpu *c, uint32_t i) \
    {                                                   \
        modified_immediate(c, i, op, true);             \
    }
OPERATION(and, 0)
OPERATION(bic, 1)
OPERATION(orr, 2)
OPERATION(orn, 3)
OPERATION(eor, 4)
OPERATION(add, 8)
OPERATION(adc, 10)
OPERATION(sbc, 11)
OPERATION(sub, 13)
OPERATION(rsb, 14)

/* PKHBT, PKHTB */
static void pack_halves(struct cpu *c, uint32_t i)
{
    unsigned amount = cpu_bits(i, 6, 2) | (cpu_bits(i, 12, 3) << 2);
    uint32_t n = c->r[RN(i)], m = c->r[RM(i)];
    uint8_t carry;

    if (i & 0x10u)
        cpu_undefined(c, i);
    else if (i & 0x20u)
        cpu_put(c, RD(i), (n & 0xFFFF0000u) | (cpu_shift(m, 2, amount ? amount : 32, &carry) & 0xFFFFu));
    else
        cpu_put(c, RD(i), (n & 0xFFFFu) | (m << amount & 0xFFFF0000u));
}

/* BFI, BFC: bits 4..0 are the top bit. */
static void bit_field_insert(struct cpu *c, uint32_t i)
{
    unsigned lsb = cpu_bits(i, 6, 2) | (cpu_bits(i, 12, 3) << 2), msb = i & 31u;
    uint32_t from = RN(i) == CPU_PC ? 0 : c->r[RN(i)] << lsb;

    if (msb < lsb) {
        cpu_undefined(c, i);
        return;
    }
    uint32_t mask = (0xFFFFFFFFu >> (31u - (msb - lsb))) << lsb;
    cpu_put(c, RD(i), (c->r[RD(i)] & ~mask) | (from & mask));
}

/* SBFX, UBFX: bits 4..0 are the width less one. The field, at the top of the word. */
static bool bit_field(struct cpu *c, uint32_t i, uint32_t *field)
{
    unsigned lsb = cpu_bits(i, 6, 2) | (cpu_bits(i, 12, 3) << 2), width = i & 31u;

    if (lsb + width > 31) {
        cpu_undefined(c, i);
        return false;
    }
    *field = c->r[RN(i)] << (31u - (lsb + width));
    return true;
}

static void sbfx(struct cpu *c, uint32_t i)
{
    uint32_t field;
    if (bit_field(c, i, &field))
        cpu_put(c, RD(i), (uint32_t)((int32_t)field >> (31u - (i & 31u))));
}

static void ubfx(struct cpu *c, uint32_t i)
{
    uint32_t field;
    if (bit_field(c, i, &field))
        cpu_put(c, RD(i), field >> (31u - (i & 31u)));
}

static uint32_t imm16(uint32_t i)
{
    return imm12(i) | RN(i) << 12;
}

/* ADD, SUB and ADR with a plain 12-bit number. */
static uint32_t plain_base(const struct cpu *c, uint32_t i)
{
    return RN(i) == CPU_PC ? c->r[CPU_PC] & ~3u : c->r[RN(i)];
}

static void addw(struct cpu *c, uint32_t i)
{
    cpu_put(c, RD(i), plain_base(c, i) + imm12(i));
}

static void subw(struct cpu *c, uint32_t i)
{
    cpu_put(c, RD(i), plain_base(c, i) - imm12(i));
}

static void movw(struct cpu *c, uint32_t i)
{
    cpu_put(c, RD(i), imm16(i));
}

static void movt(struct cpu *c, uint32_t i)
{
    cpu_put(c, RD(i), (c->r[RD(i)] & 0xFFFFu) | imm16(i) << 16);
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

static void b_cond_or_control(struct cpu *c, uint32_t i)
{
    if (cpu_bits(i, 23, 3) == 7) {
        if (cpu_bits(i, 12, 3) == 0)
            misc_control(c, i);
        else
            cpu_undefined(c, i);
    } else {
        uint32_t v = (i & 0x7FFu) << 1 | cpu_bits(i, 16, 6) << 12 | cpu_bits(i, 13, 1) << 18 |
                     cpu_bits(i, 11, 1) << 19 | cpu_bits(i, 26, 1) << 20;
        c->r[CPU_PC] += cpu_condition(c, cpu_bits(i, 22, 4)) * (uint32_t)((int32_t)(v << 11) >> 11);
    }
}

static void b_long(struct cpu *c, uint32_t i)
{
    c->r[CPU_PC] += long_offset(i);
}

static void bl(struct cpu *c, uint32_t i)
{
    c->r[CPU_LR] = c->r[CPU_PC] | 1u;
    c->r[CPU_PC] += long_offset(i);
}

/* Branches and miscellaneous control, by bits 14..12. BLX immediate would lead to Arm state. */
static cpu_op *const branch[8] = {b_cond_or_control, b_long, b_cond_or_control, b_long,
                                  cpu_undefined,     bl,     cpu_undefined,     bl};

/* Two rows of a data-processing table: the operations by bits 24..21, S. */
#define OPERATIONS(base, form)                                                                          \
    [base + 0x00] = and_##form, [base + 0x01] = and_##form##_s, [base + 0x02] = bic_##form,             \
            [base + 0x03] = bic_##form##_s, [base + 0x04] = orr_##form, [base + 0x05] = orr_##form##_s, \
            [base + 0x06] = orn_##form, [base + 0x07] = orn_##form##_s, [base + 0x08] = eor_##form,     \
            [base + 0x09] = eor_##form##_s, [base + 0x10] = add_##form, [base + 0x11] = add_##form##_s, \
            [base + 0x14] = adc_##form, [base + 0x15] = adc_##form##_s, [base + 0x16] = sbc_##form,     \
            [base + 0x17] = sbc_##form##_s, [base + 0x1A] = sub_##form, [base + 0x1B] = sub_##form##_s, \
            [base + 0x1C] = rsb_##form, [base + 0x1D] = rsb_##form##_s

#define PLAIN_IMMEDIATES(base)                                                                            \
    [base + 0x00] = addw, [base + 0x04] = movw, [base + 0x0A] = subw, [base + 0x0C] = movt,               \
            [base + 0x10] = cpu_saturate, [base + 0x12] = cpu_saturate, [base + 0x14] = sbfx,             \
            [base + 0x16] = bit_field_insert, [base + 0x18] = cpu_saturate, [base + 0x1A] = cpu_saturate, \
            [base + 0x1C] = ubfx

/* By bits 28..20; what is not here is undefined. The first quarter is the 16-bit B. */
static cpu_op *const by_first_half[512] = {
    [0x080 ... 0x083] = cpu_ldm_stm,  [0x084 ... 0x087] = cpu_dual_exclusive,
    [0x088 ... 0x08B] = cpu_ldm_stm,  [0x08C ... 0x08F] = cpu_dual_exclusive,
    [0x090 ... 0x093] = cpu_ldm_stm,  [0x094 ... 0x097] = cpu_dual_exclusive,
    [0x098 ... 0x09B] = cpu_ldm_stm,  [0x09C ... 0x09F] = cpu_dual_exclusive,
    OPERATIONS(0x0A0, reg),           [0x0AC] = pack_halves,
    [0x0C0 ... 0x0EF] = coprocessor,  OPERATIONS(0x100, imm),
    PLAIN_IMMEDIATES(0x120),          OPERATIONS(0x140, imm),
    PLAIN_IMMEDIATES(0x160),          [0x1A0 ... 0x1AF] = cpu_dp_register,
    [0x1B0 ... 0x1B7] = cpu_multiply, [0x1B8 ... 0x1BF] = cpu_long_multiply,
    [0x1C0 ... 0x1EF] = coprocessor,
};

cpu_op *cpu_thumb32(uint32_t insn)
{
    cpu_op *op;

    if ((insn & 0xF8008000u) == 0xF0008000u)
        return branch[cpu_bits(insn, 12, 3)];
    op = insn >> 25 == 0x7C ? cpu_load_store_single[cpu_bits(insn, 20, 5)]
                            : by_first_half[cpu_bits(insn, 20, 9)];
    return op ? op : cpu_undefined;
}
