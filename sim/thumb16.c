/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 16-bit Thumb instructions (DDI0403E A5.2 and A7), by a decode table over bits 15..6.
 *
 * Inside an IT block (cpu.it is not 0 then) the data-processing forms leave the flags alone. A handler that
 * sets cpu.fault must have changed no register.
 */
#include "sim/cpu_internal.h"

#define RD(i)   ((i)&7u)
#define RN(i)   (((i) >> 3) & 7u)
#define RM(i)   (((i) >> 6) & 7u)
#define RD8(i)  (((i) >> 8) & 7u)
#define IMM5(i) (((i) >> 6) & 31u)
#define IMM8(i) ((i)&0xFFu)

static void result(struct cpu *c, unsigned rd, uint32_t v)
{
    c->r[rd] = v;
    if (!c->it)
        cpu_set_nz(c, v);
}

static void result_shift(struct cpu *c, unsigned rd, uint32_t v, uint8_t carry)
{
    c->r[rd] = v;
    if (!c->it) {
        cpu_set_nz(c, v);
        c->c = carry;
    }
}

static void result_add(struct cpu *c, unsigned rd, uint32_t a, uint32_t b, unsigned carry)
{
    c->r[rd] = c->it ? a + b + carry : cpu_add_flags(c, a, b, carry);
}

/* A register operand of the encodings with four-bit numbers: the PC reads as the instruction + 4. */
static uint32_t high(const struct cpu *c, unsigned n)
{
    return n == CPU_PC ? c->r[CPU_PC] + 2u : c->r[n];
}

static void lsl_imm(struct cpu *c, uint32_t i)
{
    uint8_t carry = c->c;
    uint32_t v = cpu_shift(c->r[RN(i)], 0, IMM5(i), &carry);
    result_shift(c, RD(i), v, carry);
}

static void lsr_imm(struct cpu *c, uint32_t i)
{
    uint8_t carry = c->c;
    unsigned n = IMM5(i);
    uint32_t v = cpu_shift(c->r[RN(i)], 1, n ? n : 32, &carry);
    result_shift(c, RD(i), v, carry);
}

static void asr_imm(struct cpu *c, uint32_t i)
{
    uint8_t carry = c->c;
    unsigned n = IMM5(i);
    uint32_t v = cpu_shift(c->r[RN(i)], 2, n ? n : 32, &carry);
    result_shift(c, RD(i), v, carry);
}

static void add_reg(struct cpu *c, uint32_t i)
{
    result_add(c, RD(i), c->r[RN(i)], c->r[RM(i)], 0);
}

static void sub_reg(struct cpu *c, uint32_t i)
{
    result_add(c, RD(i), c->r[RN(i)], ~c->r[RM(i)], 1);
}

static void add_imm3(struct cpu *c, uint32_t i)
{
    result_add(c, RD(i), c->r[RN(i)], RM(i), 0);
}

static void sub_imm3(struct cpu *c, uint32_t i)
{
    result_add(c, RD(i), c->r[RN(i)], ~RM(i), 1);
}

static void mov_imm(struct cpu *c, uint32_t i)
{
    result(c, RD8(i), IMM8(i));
}

static void cmp_imm(struct cpu *c, uint32_t i)
{
    cpu_add_flags(c, c->r[RD8(i)], ~IMM8(i), 1);
}

static void add_imm8(struct cpu *c, uint32_t i)
{
    result_add(c, RD8(i), c->r[RD8(i)], IMM8(i), 0);
}

static void sub_imm8(struct cpu *c, uint32_t i)
{
    result_add(c, RD8(i), c->r[RD8(i)], ~IMM8(i), 1);
}

static void and_reg(struct cpu *c, uint32_t i)
{
    result(c, RD(i), c->r[RD(i)] & c->r[RN(i)]);
}

static void eor_reg(struct cpu *c, uint32_t i)
{
    result(c, RD(i), c->r[RD(i)] ^ c->r[RN(i)]);
}

static void shift_reg(struct cpu *c, uint32_t i, unsigned type)
{
    uint8_t carry = c->c;
    uint32_t v = cpu_shift(c->r[RD(i)], type, c->r[RN(i)] & 0xFFu, &carry);
    result_shift(c, RD(i), v, carry);
}

static void lsl_reg(struct cpu *c, uint32_t i)
{
    shift_reg(c, i, 0);
}

static void lsr_reg(struct cpu *c, uint32_t i)
{
    shift_reg(c, i, 1);
}

static void asr_reg(struct cpu *c, uint32_t i)
{
    shift_reg(c, i, 2);
}

static void ror_reg(struct cpu *c, uint32_t i)
{
    shift_reg(c, i, 3);
}

static void adc_reg(struct cpu *c, uint32_t i)
{
    result_add(c, RD(i), c->r[RD(i)], c->r[RN(i)], c->c);
}

static void sbc_reg(struct cpu *c, uint32_t i)
{
    result_add(c, RD(i), c->r[RD(i)], ~c->r[RN(i)], c->c);
}

static void tst_reg(struct cpu *c, uint32_t i)
{
    cpu_set_nz(c, c->r[RD(i)] & c->r[RN(i)]);
}

static void rsb_imm(struct cpu *c, uint32_t i)
{
    result_add(c, RD(i), ~c->r[RN(i)], 0, 1);
}

static void cmp_reg(struct cpu *c, uint32_t i)
{
    cpu_add_flags(c, c->r[RD(i)], ~c->r[RN(i)], 1);
}

static void cmn_reg(struct cpu *c, uint32_t i)
{
    cpu_add_flags(c, c->r[RD(i)], c->r[RN(i)], 0);
}

static void orr_reg(struct cpu *c, uint32_t i)
{
    result(c, RD(i), c->r[RD(i)] | c->r[RN(i)]);
}

static void mul_reg(struct cpu *c, uint32_t i)
{
    result(c, RD(i), c->r[RD(i)] * c->r[RN(i)]);
}

static void bic_reg(struct cpu *c, uint32_t i)
{
    result(c, RD(i), c->r[RD(i)] & ~c->r[RN(i)]);
}

static void mvn_reg(struct cpu *c, uint32_t i)
{
    result(c, RD(i), ~c->r[RN(i)]);
}

/* ADD and MOV here may write the PC (a plain branch) and the SP. */
static void put_high(struct cpu *c, unsigned rd, uint32_t v)
{
    if (rd == CPU_PC)
        cpu_branch(c, v);
    else
        cpu_put(c, rd, v);
}

static void add_high(struct cpu *c, uint32_t i)
{
    unsigned rd = (i & 7u) | ((i >> 4) & 8u);
    put_high(c, rd, high(c, rd) + high(c, cpu_bits(i, 3, 4)));
}

static void cmp_high(struct cpu *c, uint32_t i)
{
    unsigned rn = (i & 7u) | ((i >> 4) & 8u);
    cpu_add_flags(c, high(c, rn), ~high(c, cpu_bits(i, 3, 4)), 1);
}

static void mov_high(struct cpu *c, uint32_t i)
{
    put_high(c, (i & 7u) | ((i >> 4) & 8u), high(c, cpu_bits(i, 3, 4)));
}

static void bx(struct cpu *c, uint32_t i)
{
    cpu_branch_exchange(c, high(c, cpu_bits(i, 3, 4)));
}

static void blx(struct cpu *c, uint32_t i)
{
    uint32_t target = high(c, cpu_bits(i, 3, 4));

    c->r[CPU_LR] = c->r[CPU_PC] | 1u;
    c->t = target & 1u;
    cpu_branch(c, target);
}

static void load_word(struct cpu *c, unsigned rt, uint32_t address)
{
    uint32_t v;
    if (cpu_load32(c, address, &v))
        c->r[rt] = v;
}

static void load_half(struct cpu *c, unsigned rt, uint32_t address)
{
    uint32_t v;
    if (cpu_load16(c, address, &v))
        c->r[rt] = v;
}

static void load_byte(struct cpu *c, unsigned rt, uint32_t address)
{
    uint32_t v;
    if (cpu_load8(c, address, &v))
        c->r[rt] = v;
}

static void ldr_literal(struct cpu *c, uint32_t i)
{
    load_word(c, RD8(i), ((c->r[CPU_PC] + 2u) & ~3u) + IMM8(i) * 4u);
}

static void str_reg(struct cpu *c, uint32_t i)
{
    cpu_store32(c, c->r[RN(i)] + c->r[RM(i)], c->r[RD(i)]);
}

static void strh_reg(struct cpu *c, uint32_t i)
{
    cpu_store16(c, c->r[RN(i)] + c->r[RM(i)], c->r[RD(i)]);
}

static void strb_reg(struct cpu *c, uint32_t i)
{
    cpu_store8(c, c->r[RN(i)] + c->r[RM(i)], c->r[RD(i)]);
}

static void ldrsb_reg(struct cpu *c, uint32_t i)
{
    uint32_t v;
    if (cpu_load8(c, c->r[RN(i)] + c->r[RM(i)], &v))
        c->r[RD(i)] = (uint32_t)(int8_t)v;
}

static void ldr_reg(struct cpu *c, uint32_t i)
{
    load_word(c, RD(i), c->r[RN(i)] + c->r[RM(i)]);
}

static void ldrh_reg(struct cpu *c, uint32_t i)
{
    load_half(c, RD(i), c->r[RN(i)] + c->r[RM(i)]);
}

static void ldrb_reg(struct cpu *c, uint32_t i)
{
    load_byte(c, RD(i), c->r[RN(i)] + c->r[RM(i)]);
}

static void ldrsh_reg(struct cpu *c, uint32_t i)
{
    uint32_t v;
    if (cpu_load16(c, c->r[RN(i)] + c->r[RM(i)], &v))
        c->r[RD(i)] = (uint32_t)(int16_t)v;
}

static void str_imm(struct cpu *c, uint32_t i)
{
    cpu_store32(c, c->r[RN(i)] + IMM5(i) * 4u, c->r[RD(i)]);
}

static void ldr_imm(struct cpu *c, uint32_t i)
{
    load_word(c, RD(i), c->r[RN(i)] + IMM5(i) * 4u);
}

static void strb_imm(struct cpu *c, uint32_t i)
{
    cpu_store8(c, c->r[RN(i)] + IMM5(i), c->r[RD(i)]);
}

static void ldrb_imm(struct cpu *c, uint32_t i)
{
    load_byte(c, RD(i), c->r[RN(i)] + IMM5(i));
}

static void strh_imm(struct cpu *c, uint32_t i)
{
    cpu_store16(c, c->r[RN(i)] + IMM5(i) * 2u, c->r[RD(i)]);
}

static void ldrh_imm(struct cpu *c, uint32_t i)
{
    load_half(c, RD(i), c->r[RN(i)] + IMM5(i) * 2u);
}

static void str_sp(struct cpu *c, uint32_t i)
{
    cpu_store32(c, c->r[CPU_SP] + IMM8(i) * 4u, c->r[RD8(i)]);
}

static void ldr_sp(struct cpu *c, uint32_t i)
{
    load_word(c, RD8(i), c->r[CPU_SP] + IMM8(i) * 4u);
}

static void adr(struct cpu *c, uint32_t i)
{
    c->r[RD8(i)] = ((c->r[CPU_PC] + 2u) & ~3u) + IMM8(i) * 4u;
}

static void add_sp_rd(struct cpu *c, uint32_t i)
{
    c->r[RD8(i)] = c->r[CPU_SP] + IMM8(i) * 4u;
}

static void add_sp(struct cpu *c, uint32_t i)
{
    uint32_t sp = c->r[CPU_SP] + (i & 0x7Fu) * 4u;

    if (!cpu_below_limit(c, sp))
        c->r[CPU_SP] = sp;
}

static void sub_sp(struct cpu *c, uint32_t i)
{
    uint32_t sp = c->r[CPU_SP] - (i & 0x7Fu) * 4u;

    if (!cpu_below_limit(c, sp))
        c->r[CPU_SP] = sp;
}

static void cbz(struct cpu *c, uint32_t i)
{
    bool nonzero = (i >> 11) & 1u;

    if (c->it)
        cpu_undefined(c, i);
    else
        c->r[CPU_PC] +=
            ((c->r[RD(i)] != 0) == nonzero) * (2u + (((i >> 3) & 0x1Fu) << 1) + ((i >> 3) & 0x40u));
}

static void sxth(struct cpu *c, uint32_t i)
{
    c->r[RD(i)] = (uint32_t)(int16_t)c->r[RN(i)];
}

static void sxtb(struct cpu *c, uint32_t i)
{
    c->r[RD(i)] = (uint32_t)(int8_t)c->r[RN(i)];
}

static void uxth(struct cpu *c, uint32_t i)
{
    c->r[RD(i)] = (uint16_t)c->r[RN(i)];
}

static void uxtb(struct cpu *c, uint32_t i)
{
    c->r[RD(i)] = (uint8_t)c->r[RN(i)];
}

static void rev(struct cpu *c, uint32_t i)
{
    c->r[RD(i)] = __builtin_bswap32(c->r[RN(i)]);
}

static void rev16(struct cpu *c, uint32_t i)
{
    uint32_t v = c->r[RN(i)];
    c->r[RD(i)] = ((v >> 8) & 0x00FF00FFu) | ((v & 0x00FF00FFu) << 8);
}

static void revsh(struct cpu *c, uint32_t i)
{
    c->r[RD(i)] = (uint32_t)(int16_t)__builtin_bswap16((uint16_t)c->r[RN(i)]);
}

static void push(struct cpu *c, uint32_t i)
{
    uint32_t list = IMM8(i) | ((i & 0x100u) << 6);
    uint32_t base = c->r[CPU_SP] - 4u * (uint32_t)__builtin_popcount(list);
    uint32_t address = base;

    if (cpu_below_limit(c, base))
        return;
    for (; list; list &= list - 1u, address += 4) {
        if (!cpu_store32(c, address, c->r[__builtin_ctz(list)]))
            return;
    }
    c->r[CPU_SP] = base;
}

/* Load up to nine words before any register changes, so that a fault leaves all as it was. */
static unsigned load_list(struct cpu *c, uint32_t address, uint32_t n, uint32_t word[9])
{
    const uint8_t *p = c->watch ? NULL : cpu_region_span(c, address, n * 4u, false);

    if (!cpu_aligned(c, address, 4))
        return 0;
    if (p) {
        memcpy(word, p, n * 4u);
        return n;
    }
    for (uint32_t k = 0; k < n; k++) {
        if (!cpu_load32(c, address + 4u * k, &word[k]))
            return 0;
    }
    return n;
}

static void pop(struct cpu *c, uint32_t i)
{
    uint32_t list = IMM8(i), n = (uint32_t)__builtin_popcount(i & 0x1FFu);
    uint32_t word[9];
    unsigned k = 0;

    if (!load_list(c, c->r[CPU_SP], n, word))
        return;
    c->r[CPU_SP] += n * 4u;
    for (; list; list &= list - 1u)
        c->r[__builtin_ctz(list)] = word[k++];
    if (i & 0x100u)
        cpu_branch_exchange(c, word[k]);
}

static void stm(struct cpu *c, uint32_t i)
{
    uint32_t address = c->r[RD8(i)];

    if (!cpu_aligned(c, address, 4))
        return;
    for (uint32_t list = IMM8(i); list; list &= list - 1u, address += 4) {
        if (!cpu_store32(c, address, c->r[__builtin_ctz(list)]))
            return;
    }
    c->r[RD8(i)] = address;
}

static void ldm(struct cpu *c, uint32_t i)
{
    uint32_t list = IMM8(i), n = (uint32_t)__builtin_popcount(list);
    uint32_t word[9];
    unsigned k = 0;

    if (!load_list(c, c->r[RD8(i)], n, word))
        return;
    c->r[RD8(i)] += n * 4u; /* when the base is in the list, what was loaded wins */
    for (; list; list &= list - 1u)
        c->r[__builtin_ctz(list)] = word[k++];
}

static void cps(struct cpu *c, uint32_t i)
{
    if (!(i & 0x20u) || (i & 8u)) /* SETEND does not exist in the M profile */
        cpu_undefined(c, i);
    else
        cpu_cps(c, (i >> 4) & 1u, (i >> 1) & 1u, i & 1u);
}

static void bkpt(struct cpu *c, uint32_t i)
{
    (void)i;
    c->fault = CPU_TRAP_BKPT;
}

static void it_hint(struct cpu *c, uint32_t i)
{
    if (!(i & 0xFu))
        cpu_hint(c, cpu_bits(i, 4, 4));
    else if (c->it)
        cpu_undefined(c, i);
    else
        c->it = (uint8_t)i;
}

static void b_cond(struct cpu *c, uint32_t i)
{
    uint32_t offset = 2u + ((uint32_t)(int8_t)i << 1);

    c->r[CPU_PC] += cpu_condition(c, cpu_bits(i, 8, 4)) * offset;
}

static void svc(struct cpu *c, uint32_t i)
{
    (void)i;
    c->fault = CPU_TRAP_SVC;
}

static void b(struct cpu *c, uint32_t i)
{
    c->r[CPU_PC] += 2u + (uint32_t)((int32_t)(i << 21) >> 20);
}

cpu_op *const cpu_thumb16[1024] = {
    [0x000 ... 0x01F] = lsl_imm,
    [0x020 ... 0x03F] = lsr_imm,
    [0x040 ... 0x05F] = asr_imm,
    [0x060 ... 0x067] = add_reg,
    [0x068 ... 0x06F] = sub_reg,
    [0x070 ... 0x077] = add_imm3,
    [0x078 ... 0x07F] = sub_imm3,
    [0x080 ... 0x09F] = mov_imm,
    [0x0A0 ... 0x0BF] = cmp_imm,
    [0x0C0 ... 0x0DF] = add_imm8,
    [0x0E0 ... 0x0FF] = sub_imm8,
    [0x100] = and_reg,
    [0x101] = eor_reg,
    [0x102] = lsl_reg,
    [0x103] = lsr_reg,
    [0x104] = asr_reg,
    [0x105] = adc_reg,
    [0x106] = sbc_reg,
    [0x107] = ror_reg,
    [0x108] = tst_reg,
    [0x109] = rsb_imm,
    [0x10A] = cmp_reg,
    [0x10B] = cmn_reg,
    [0x10C] = orr_reg,
    [0x10D] = mul_reg,
    [0x10E] = bic_reg,
    [0x10F] = mvn_reg,
    [0x110 ... 0x113] = add_high,
    [0x114 ... 0x117] = cmp_high,
    [0x118 ... 0x11B] = mov_high,
    [0x11C ... 0x11D] = bx,
    [0x11E ... 0x11F] = blx,
    [0x120 ... 0x13F] = ldr_literal,
    [0x140 ... 0x147] = str_reg,
    [0x148 ... 0x14F] = strh_reg,
    [0x150 ... 0x157] = strb_reg,
    [0x158 ... 0x15F] = ldrsb_reg,
    [0x160 ... 0x167] = ldr_reg,
    [0x168 ... 0x16F] = ldrh_reg,
    [0x170 ... 0x177] = ldrb_reg,
    [0x178 ... 0x17F] = ldrsh_reg,
    [0x180 ... 0x19F] = str_imm,
    [0x1A0 ... 0x1BF] = ldr_imm,
    [0x1C0 ... 0x1DF] = strb_imm,
    [0x1E0 ... 0x1FF] = ldrb_imm,
    [0x200 ... 0x21F] = strh_imm,
    [0x220 ... 0x23F] = ldrh_imm,
    [0x240 ... 0x25F] = str_sp,
    [0x260 ... 0x27F] = ldr_sp,
    [0x280 ... 0x29F] = adr,
    [0x2A0 ... 0x2BF] = add_sp_rd,
    [0x2C0 ... 0x2C1] = add_sp,
    [0x2C2 ... 0x2C3] = sub_sp,
    [0x2C4 ... 0x2C7] = cbz,
    [0x2C8] = sxth,
    [0x2C9] = sxtb,
    [0x2CA] = uxth,
    [0x2CB] = uxtb,
    [0x2CC ... 0x2CF] = cbz,
    [0x2D0 ... 0x2D7] = push,
    [0x2D8] = cpu_undefined,
    [0x2D9] = cps,
    [0x2DA ... 0x2E3] = cpu_undefined,
    [0x2E4 ... 0x2E7] = cbz,
    [0x2E8] = rev,
    [0x2E9] = rev16,
    [0x2EA] = cpu_undefined,
    [0x2EB] = revsh,
    [0x2EC ... 0x2EF] = cbz,
    [0x2F0 ... 0x2F7] = pop,
    [0x2F8 ... 0x2FB] = bkpt,
    [0x2FC ... 0x2FF] = it_hint,
    [0x300 ... 0x31F] = stm,
    [0x320 ... 0x33F] = ldm,
    [0x340 ... 0x377] = b_cond,
    [0x378 ... 0x37B] = cpu_undefined,
    [0x37C ... 0x37F] = svc,
    [0x380 ... 0x39F] = b,
    [0x3A0 ... 0x3FF] = cpu_undefined, /* never looked up: these begin 32-bit instructions */
};
