/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which handler an instruction has in each architecture, and the instructions that only Armv8-M has
 * (DDI0403E A5, DDI0419E A5, DDI0553 C2).
 *
 * Looked up once for each place of the flash. What is UNPREDICTABLE in Armv6-M because its bits say more than
 * that architecture knows is refused, so that a program built for another core does not run by accident.
 */
#include "sim/cpu_internal.h"

#define RN(i) (((i) >> 16) & 15u)
#define RT(i) (((i) >> 12) & 15u)
#define RD(i) (((i) >> 8) & 15u)
#define RM(i) ((i)&15u)

#define SG 0xE97FE97Fu

#define TT_READ       (1u << 18)
#define TT_READ_WRITE (1u << 19)

static cpu_op *narrow_v6m(uint32_t i)
{
    bool compare_and_branch = (i & 0xF500u) == 0xB100u;
    bool if_then = (i & 0xFF00u) == 0xBF00u && (i & 0xFu);
    bool change_state = (i & 0xFFC0u) == 0xB640u; /* CPS: only CPSIE i and CPSID i */

    if (compare_and_branch || if_then || (change_state && (i & 0xFFEFu) != 0xB662u))
        return cpu_undefined;
    return cpu_thumb16[i >> 6];
}

/* Of the special registers Armv6-M has APSR, IPSR, EPSR and their sums, MSP, PSP, PRIMASK and CONTROL. */
static bool special_v6m(uint32_t i)
{
    const uint32_t known = 0xEFu | 1u << 8 | 1u << 9 | 1u << 16 | 1u << 20;
    uint32_t sysm = i & 0xFFu;

    return sysm < 32 && (known >> sysm & 1u);
}

/* BL, MSR, MRS, DSB, DMB, ISB: there are no others. */
static cpu_op *wide_v6m(uint32_t i)
{
    if ((i & 0xF800D000u) == 0xF000D000u)
        return cpu_thumb32(i);
    if ((i & 0xF800F000u) != 0xF0008000u)
        return cpu_undefined;
    switch (cpu_bits(i, 20, 7)) {
    case 0x38:
    case 0x39:
    case 0x3E:
    case 0x3F:
        return special_v6m(i) ? cpu_thumb32(i) : cpu_undefined;
    case 0x3B:
        return cpu_bits(i, 4, 4) >= 4 && cpu_bits(i, 4, 4) <= 6 ? cpu_thumb32(i) : cpu_undefined;
    default:
        return cpu_undefined;
    }
}

static void no_operation(struct cpu *c, uint32_t i)
{
    (void)c;
    (void)i;
}

/* TT and TTT: without an MPU all that the default map allows, and nothing to tell to unprivileged code. */
static void test_target(struct cpu *c, uint32_t i)
{
    if (RN(i) == CPU_PC || RD(i) == CPU_SP || (i & 0x80u)) /* TTA and TTAT need security */
        cpu_undefined(c, i);
    else
        cpu_put(c, RD(i), cpu_privileged(c) ? TT_READ | TT_READ_WRITE : 0);
}

/* LDA, STL, LDAEX, STLEX and their kin. This core does nothing out of order; they differ from the plain ones
 * in that they are never unaligned. Bits 5..4 give the size, bit 6 says exclusive. */
static void acquire_release(struct cpu *c, uint32_t i)
{
    unsigned size = 1u << cpu_bits(i, 4, 2), rt = RT(i), rn = RN(i);
    bool load = i & (1u << 20), exclusive = i & 0x40u;
    uint32_t address = c->r[rn], v = 0;

    if (size > 4 || rn == CPU_PC || rt == CPU_PC || rt == CPU_SP) {
        cpu_undefined(c, i);
        return;
    }
    if (exclusive && load) {
        cpu_load_exclusive(c, rt, address, size);
        return;
    }
    if (exclusive) {
        if (RM(i) == rn || RM(i) == rt || RM(i) == CPU_SP)
            cpu_undefined(c, i);
        else
            cpu_store_exclusive(c, RM(i), rt, address, size);
        return;
    }
    if (!cpu_aligned(c, address, size))
        return;
    if (!load) {
        if (size == 4)
            cpu_store32(c, address, c->r[rt]);
        else
            size == 2 ? cpu_store16(c, address, c->r[rt]) : cpu_store8(c, address, c->r[rt]);
        return;
    }
    if (size == 4 ? cpu_load32(c, address, &v)
                  : (size == 2 ? cpu_load16(c, address, &v) : cpu_load8(c, address, &v)))
        cpu_put(c, rt, v);
}

static cpu_op *narrow_v8m(uint32_t i)
{
    /* BXNS and BLXNS lead out of the secure state, which there is not. */
    return (i & 0xFF04u) == 0x4704u ? cpu_undefined : cpu_thumb16[i >> 6];
}

static cpu_op *wide_v8m(uint32_t i)
{
    if (i == SG) /* a gate into the secure state: without one a NOP */
        return no_operation;
    if ((i & 0xFFF0F03Fu) == 0xE840F000u)
        return test_target;
    if ((i & 0xFFE00080u) == 0xE8C00080u)
        return acquire_release;
    return cpu_thumb32(i);
}

cpu_op *cpu_decode(const struct cpu *c, uint32_t insn, bool wide)
{
    switch (c->architecture) {
    case CPU_V6M:
        return wide ? wide_v6m(insn) : narrow_v6m(insn);
    case CPU_V8M:
        return wide ? wide_v8m(insn) : narrow_v8m(insn);
    case CPU_V7EM:
    default:
        return wide ? cpu_thumb32(insn) : cpu_thumb16[insn >> 6];
    }
}
