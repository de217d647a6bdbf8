/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multiply, multiply accumulate and divide, 32-bit Thumb (DDI0403E A5.3.16 and A5.3.17).
 */
#include "sim/cpu_internal.h"

#define RN(i) (((i) >> 16) & 15u)
#define RA(i) (((i) >> 12) & 15u)
#define RD(i) (((i) >> 8) & 15u)
#define RM(i) ((i)&15u)

static int64_t half(uint32_t v, bool top)
{
    return (int16_t)(top ? v >> 16 : v);
}

/* The sum as a register holds it; Q tells that it did not fit. */
static uint32_t fit_q(struct cpu *c, int64_t v)
{
    if (v != (int32_t)v)
        c->q = 1;
    return (uint32_t)v;
}

static uint32_t sum_of_differences(uint32_t n, uint32_t m)
{
    uint32_t sum = 0;

    for (unsigned k = 0; k < 32; k += 8) {
        uint32_t a = (n >> k) & 0xFFu, b = (m >> k) & 0xFFu;
        sum += a > b ? a - b : b - a;
    }
    return sum;
}

void cpu_multiply(struct cpu *c, uint32_t i)
{
    unsigned op = cpu_bits(i, 20, 3), op2 = cpu_bits(i, 4, 4), ra = RA(i);
    uint32_t n = c->r[RN(i)], m = c->r[RM(i)], r;
    uint64_t both;
    int64_t accumulate = ra == CPU_PC ? 0 : (int32_t)c->r[ra], product;

    if ((op2 & 0xCu) || (op != 1 && (op2 & 2u)) || (op == 7 && op2) || (op == 6 && ra == CPU_PC)) {
        cpu_undefined(c, i);
        return;
    }
    switch (op) {
    case 0: /* MUL, MLA, MLS */
        if (op2 && ra == CPU_PC) {
            cpu_undefined(c, i);
            return;
        }
        r = op2 ? (uint32_t)accumulate - n * m : (uint32_t)accumulate + n * m;
        break;
    case 1: /* SMULxy, SMLAxy */
        r = fit_q(c, accumulate + half(n, op2 & 2u) * half(m, op2 & 1u));
        break;
    case 2: /* SMUAD, SMLAD */
    case 4: /* SMUSD, SMLSD */
        if (op2)
            m = m >> 16 | m << 16;
        product = half(n, true) * half(m, true);
        r = fit_q(c, accumulate + half(n, false) * half(m, false) + (op == 2 ? product : -product));
        break;
    case 3: /* SMULWy, SMLAWy */
        r = fit_q(c, accumulate + (((int64_t)(int32_t)n * half(m, op2)) >> 16));
        break;
    case 5: /* SMMUL, SMMLA */
    case 6: /* SMMLS */
        both = (uint64_t)((int64_t)(int32_t)n * (int32_t)m);
        both = ((uint64_t)accumulate << 32) + (op == 5 ? both : 0 - both) + (op2 ? 0x80000000u : 0u);
        r = (uint32_t)(both >> 32);
        break;
    default: /* USAD8, USADA8 */
        r = sum_of_differences(n, m) + (uint32_t)accumulate;
        break;
    }
    cpu_put(c, RD(i), r);
}

static void divide(struct cpu *c, uint32_t i, bool is_signed)
{
    uint32_t n = c->r[RN(i)], m = c->r[RM(i)], r = 0;

    if (m == 0) {
        if (c->ccr & CPU_CCR_DIV_0_TRP) {
            c->fault = CPU_FAULT_DIVBYZERO;
            return;
        }
    } else if (!is_signed) {
        r = n / m;
    } else {
        r = (uint32_t)((int64_t)(int32_t)n / (int32_t)m); /* wide: the most negative number by -1 */
    }
    cpu_put(c, RD(i), r);
}

/* Both result registers together; RdLo in bits 15..12, RdHi in 11..8. */
static void put_long(struct cpu *c, uint32_t i, uint64_t v)
{
    unsigned low = RA(i), high = RD(i);

    if (low == CPU_PC || high == CPU_PC || low == high) {
        cpu_undefined(c, i);
        return;
    }
    cpu_put(c, low, (uint32_t)v);
    cpu_put(c, high, (uint32_t)(v >> 32));
}

void cpu_long_multiply(struct cpu *c, uint32_t i)
{
    unsigned op = cpu_bits(i, 20, 3), op2 = cpu_bits(i, 4, 4);
    uint32_t n = c->r[RN(i)], m = c->r[RM(i)];
    uint64_t both = (uint64_t)c->r[RD(i)] << 32 | c->r[RA(i)];
    uint64_t sproduct = (uint64_t)((int64_t)(int32_t)n * (int32_t)m), uproduct = (uint64_t)n * m;

    if (op == 0 && op2 == 0) {
        put_long(c, i, sproduct);
    } else if ((op == 1 || op == 3) && op2 == 15) {
        if (RA(i) != 15)
            cpu_undefined(c, i);
        else
            divide(c, i, op == 1);
    } else if (op == 2 && op2 == 0) {
        put_long(c, i, uproduct);
    } else if (op == 4 && op2 == 0) {
        put_long(c, i, both + sproduct);
    } else if (op == 4 && (op2 & 0xCu) == 8) { /* SMLALxy */
        put_long(c, i, both + (uint64_t)(half(n, op2 & 2u) * half(m, op2 & 1u)));
    } else if ((op == 4 || op == 5) && (op2 & 0xEu) == 0xC) { /* SMLALD, SMLSLD */
        if (op2 & 1u)
            m = m >> 16 | m << 16;
        uint64_t top = (uint64_t)(half(n, true) * half(m, true));
        put_long(c, i, both + (uint64_t)(half(n, false) * half(m, false)) + (op == 4 ? top : 0 - top));
    } else if (op == 6 && op2 == 0) {
        put_long(c, i, both + uproduct);
    } else if (op == 6 && op2 == 6) { /* UMAAL: two 32-bit addends */
        put_long(c, i, uproduct + c->r[RD(i)] + c->r[RA(i)]);
    } else {
        cpu_undefined(c, i);
    }
}
