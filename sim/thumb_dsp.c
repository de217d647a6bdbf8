/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data processing (register), parallel addition and subtraction, saturation (DDI0403E A5.3.12 to A5.3.15).
 */
#include "sim/cpu_internal.h"

#define RN(i) (((i) >> 16) & 15u)
#define RD(i) (((i) >> 8) & 15u)
#define RM(i) ((i)&15u)

/* Clamp to `bits` bits, signed or unsigned; *sat is set when that changed the value. */
static int32_t clamp(int64_t v, unsigned bits, bool is_unsigned, bool *sat)
{
    int64_t max = is_unsigned ? ((int64_t)1 << bits) - 1 : ((int64_t)1 << (bits - 1)) - 1;
    int64_t min = is_unsigned ? 0 : -((int64_t)1 << (bits - 1));

    if (v > max) {
        *sat = true;
        return (int32_t)max;
    }
    if (v < min) {
        *sat = true;
        return (int32_t)min;
    }
    return (int32_t)v;
}

void cpu_saturate(struct cpu *c, uint32_t i)
{
    bool is_unsigned = i & (1u << 23), sat = false;
    unsigned amount = cpu_bits(i, 6, 2) | (cpu_bits(i, 12, 3) << 2);
    unsigned bits = is_unsigned ? i & 31u : (i & 31u) + 1u;
    uint32_t n = c->r[RN(i)], r;
    uint8_t carry;

    if (i & 0x20u) {
        cpu_undefined(c, i);
        return;
    }
    if (amount == 0 && (i & (1u << 21))) { /* SSAT16, USAT16: each half */
        if (i & 0x10u) {
            cpu_undefined(c, i);
            return;
        }
        r = (uint16_t)clamp((int16_t)n, bits, is_unsigned, &sat);
        r |= (uint32_t)clamp((int16_t)(n >> 16), bits, is_unsigned, &sat) << 16;
    } else {
        n = cpu_shift(n, i & (1u << 21) ? 2 : 0, amount, &carry);
        r = (uint32_t)clamp((int32_t)n, bits, is_unsigned, &sat);
    }
    cpu_put(c, RD(i), r);
    if (sat)
        c->q = 1;
}

enum { KIND_PLAIN, KIND_SATURATE, KIND_HALVE };

/* One lane; *ge tells what the plain forms leave in GE: no borrow, or carry for an unsigned sum. */
static uint32_t lane(int32_t a, int32_t b, bool add, unsigned bits, unsigned kind, bool is_unsigned, bool *ge)
{
    int32_t v = add ? a + b : a - b;
    bool ignored;

    *ge = is_unsigned && add ? v >> bits != 0 : v >= 0;
    if (kind == KIND_SATURATE)
        v = clamp(v, bits, is_unsigned, &ignored);
    else if (kind == KIND_HALVE)
        v >>= 1;
    return (uint32_t)v & ((1u << bits) - 1u);
}

static int32_t extract(uint32_t v, unsigned shift, unsigned bits, bool is_unsigned)
{
    v >>= shift;
    if (bits == 8)
        return is_unsigned ? (int32_t)(uint8_t)v : (int8_t)v;
    return is_unsigned ? (int32_t)(uint16_t)v : (int16_t)v;
}

static void parallel(struct cpu *c, uint32_t i)
{
    unsigned op = cpu_bits(i, 20, 3), kind = cpu_bits(i, 4, 2), ge = 0;
    bool is_unsigned = i & 0x40u, g;
    uint32_t n = c->r[RN(i)], m = c->r[RM(i)], r = 0;

    if (kind == 3 || op == 3 || op == 7) {
        cpu_undefined(c, i);
        return;
    }
    if (op == 0 || op == 4) { /* ADD8, SUB8 */
        for (unsigned k = 0; k < 4; k++) {
            r |= lane(extract(n, k * 8, 8, is_unsigned), extract(m, k * 8, 8, is_unsigned), op == 0, 8, kind,
                      is_unsigned, &g)
                 << (k * 8);
            ge |= (unsigned)g << k;
        }
    } else { /* ADD16, ASX, SAX, SUB16 */
        bool low_add = op == 1 || op == 6, high_add = op == 1 || op == 2;
        if (op == 2 || op == 6)
            m = m >> 16 | m << 16;
        r = lane(extract(n, 0, 16, is_unsigned), extract(m, 0, 16, is_unsigned), low_add, 16, kind,
                 is_unsigned, &g);
        ge = g ? 3u : 0;
        r |= lane(extract(n, 16, 16, is_unsigned), extract(m, 16, 16, is_unsigned), high_add, 16, kind,
                  is_unsigned, &g)
             << 16;
        ge |= g ? 0xCu : 0;
    }
    cpu_put(c, RD(i), r);
    if (kind == KIND_PLAIN)
        c->ge = (uint8_t)ge;
}

static uint32_t saturating_32(struct cpu *c, int64_t v)
{
    bool sat = false;
    int32_t r = clamp(v, 32, false, &sat);

    if (sat)
        c->q = 1;
    return (uint32_t)r;
}

static uint32_t reverse_bits(uint32_t v)
{
    v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
    v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
    v = ((v >> 4) & 0x0F0F0F0Fu) | ((v & 0x0F0F0F0Fu) << 4);
    return __builtin_bswap32(v);
}

static uint32_t select_bytes(unsigned ge, uint32_t n, uint32_t m)
{
    uint32_t mask = 0;

    for (unsigned k = 0; k < 4; k++) {
        if (ge & (1u << k))
            mask |= 0xFFu << (k * 8);
    }
    return (n & mask) | (m & ~mask);
}

static void miscellaneous(struct cpu *c, uint32_t i)
{
    uint32_t n = c->r[RN(i)], m = c->r[RM(i)], r;
    int64_t sn = (int32_t)n, sm = (int32_t)m;

    switch (cpu_bits(i, 20, 3) << 2 | cpu_bits(i, 4, 2)) {
    case 0x0: /* QADD */
        r = saturating_32(c, sm + sn);
        break;
    case 0x1: /* QDADD */
        r = saturating_32(c, sm + (int32_t)saturating_32(c, 2 * sn));
        break;
    case 0x2: /* QSUB */
        r = saturating_32(c, sm - sn);
        break;
    case 0x3: /* QDSUB */
        r = saturating_32(c, sm - (int32_t)saturating_32(c, 2 * sn));
        break;
    case 0x4:
        r = __builtin_bswap32(m);
        break;
    case 0x5:
        r = ((m >> 8) & 0x00FF00FFu) | ((m & 0x00FF00FFu) << 8);
        break;
    case 0x6:
        r = reverse_bits(m);
        break;
    case 0x7:
        r = (uint32_t)(int16_t)__builtin_bswap16((uint16_t)m);
        break;
    case 0x8:
        r = select_bytes(c->ge, n, m);
        break;
    case 0xC:
        r = m ? (uint32_t)__builtin_clz(m) : 32u;
        break;
    default:
        cpu_undefined(c, i);
        return;
    }
    cpu_put(c, RD(i), r);
}

static void extend(struct cpu *c, uint32_t i)
{
    unsigned op = cpu_bits(i, 20, 3), turn = cpu_bits(i, 4, 2) * 8, rn = RN(i);
    uint32_t m = c->r[RM(i)], n = rn == CPU_PC ? 0 : c->r[rn], r;

    if (turn)
        m = m >> turn | m << (32 - turn);
    switch (op) {
    case 0:
        r = n + (uint32_t)(int16_t)m;
        break;
    case 1:
        r = n + (uint16_t)m;
        break;
    case 2: /* SXTAB16 */
        r = ((n + (uint32_t)(int8_t)m) & 0xFFFFu) | ((n >> 16) + (uint32_t)(int8_t)(m >> 16)) << 16;
        break;
    case 3: /* UXTAB16 */
        r = ((n + (uint8_t)m) & 0xFFFFu) | ((n >> 16) + (uint8_t)(m >> 16)) << 16;
        break;
    case 4:
        r = n + (uint32_t)(int8_t)m;
        break;
    case 5:
        r = n + (uint8_t)m;
        break;
    default:
        cpu_undefined(c, i);
        return;
    }
    cpu_put(c, RD(i), r);
}

static void shift_register(struct cpu *c, uint32_t i)
{
    uint8_t carry = c->c;
    uint32_t r = cpu_shift(c->r[RN(i)], cpu_bits(i, 21, 2), c->r[RM(i)] & 0xFFu, &carry);

    cpu_put(c, RD(i), r);
    if (i & (1u << 20)) {
        cpu_set_nz(c, r);
        c->c = carry;
    }
}

void cpu_dp_register(struct cpu *c, uint32_t i)
{
    unsigned op2 = cpu_bits(i, 4, 4);

    if (cpu_bits(i, 12, 4) != 15)
        cpu_undefined(c, i);
    else if (i & (1u << 23)) {
        if (op2 < 8)
            parallel(c, i);
        else if (op2 < 12 && !(i & (1u << 22)))
            miscellaneous(c, i);
        else
            cpu_undefined(c, i);
    } else if (op2 == 0) {
        shift_register(c, i);
    } else if (op2 & 8u) {
        extend(c, i);
    } else {
        cpu_undefined(c, i);
    }
}
