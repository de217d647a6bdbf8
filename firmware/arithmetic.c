/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a compiler calls where the core has no such instruction: division and 64-bit products on Armv6-M.
 * Names and results as the run-time ABI for the Arm architecture wants them (RTABI32 4.2, 4.3). Must not
 * divide or multiply 64-bit numbers itself. Empty on other cores.
 */
#include <stdint.h>

#if __ARM_ARCH == 6

uint32_t __aeabi_uidiv(uint32_t n, uint32_t d);
uint64_t __aeabi_uidivmod(uint32_t n, uint32_t d);
int32_t __aeabi_idiv(int32_t n, int32_t d);
uint64_t __aeabi_idivmod(int32_t n, int32_t d);
uint64_t __aeabi_lmul(uint64_t a, uint64_t b);

/* The quotient comes back in r0, the remainder in r1. A division by zero gives 0, as UDIV does. */
uint64_t __aeabi_uidivmod(uint32_t n, uint32_t d)
{
    uint32_t quotient = 0, bit = 1;
    if (d == 0)
        return (uint64_t)n << 32;
    while (d < n && !(d >> 31)) {
        d <<= 1;
        bit <<= 1;
    }
    for (; bit; bit >>= 1, d >>= 1) {
        if (n >= d) {
            n -= d;
            quotient |= bit;
        }
    }
    return (uint64_t)n << 32 | quotient;
}

uint32_t __aeabi_uidiv(uint32_t n, uint32_t d)
{
    return (uint32_t)__aeabi_uidivmod(n, d);
}

uint64_t __aeabi_idivmod(int32_t n, int32_t d)
{
    uint32_t un = n < 0 ? 0u - (uint32_t)n : (uint32_t)n, ud = d < 0 ? 0u - (uint32_t)d : (uint32_t)d;
    uint64_t both = __aeabi_uidivmod(un, ud);
    uint32_t quotient = (uint32_t)both, rest = (uint32_t)(both >> 32);
    if ((n < 0) != (d < 0))
        quotient = 0u - quotient;
    if (n < 0)
        rest = 0u - rest;
    return (uint64_t)rest << 32 | quotient;
}

int32_t __aeabi_idiv(int32_t n, int32_t d)
{
    return (int32_t)(uint32_t)__aeabi_idivmod(n, d);
}

/* By halfwords: MULS gives the low word only. */
uint64_t __aeabi_lmul(uint64_t a, uint64_t b)
{
    uint32_t al = (uint32_t)a, bl = (uint32_t)b;
    uint32_t a0 = al & 0xFFFFu, a1 = al >> 16, b0 = bl & 0xFFFFu, b1 = bl >> 16;
    uint32_t low = a0 * b0, middle = a1 * b0, other = a0 * b1, high = a1 * b1;
    middle += low >> 16;
    high += middle >> 16;
    other += middle & 0xFFFFu;
    high += other >> 16;
    low = (low & 0xFFFFu) | other << 16;
    high += (uint32_t)(a >> 32) * bl + al * (uint32_t)(b >> 32);
    return (uint64_t)high << 32 | low;
}

#endif
