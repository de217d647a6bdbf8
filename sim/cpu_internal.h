/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the core share: faults, bit names, the inline memory paths and flag helpers. DDI0403E.
 *
 * Private to the core (cpu*.c, thumb*.c, exception.c, scs.c): the board includes cpu.h only.
 */
#ifndef CORRAL_SIM_CPU_INTERNAL_H
#define CORRAL_SIM_CPU_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "sim/cpu.h"

#define CPU_LIKELY(x)   __builtin_expect(!!(x), 1)
#define CPU_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Why an instruction did not simply complete (cpu.fault). */
enum cpu_fault {
    CPU_FAULT_NONE = 0,
    CPU_FAULT_UNDEFINED,
    CPU_FAULT_INVSTATE,
    CPU_FAULT_NOCP,
    CPU_FAULT_UNALIGNED,
    CPU_FAULT_DIVBYZERO,
    CPU_FAULT_BUS,       /* precise data access error at fault_address */
    CPU_FAULT_FETCH_BUS, /* instruction fetch from nowhere */
    CPU_FAULT_STKOF,     /* a stack pointer would have gone below its limit */
    CPU_FAULT_FETCH_XN,  /* instruction fetch from a never-executable part of the default map */
    CPU_TRAP_SVC,
    CPU_TRAP_BKPT,
    CPU_TRAP_EXC_RETURN, /* fault_address holds the EXC_RETURN value */
};

#define CPU_CCR_NONBASETHRDENA (1u << 0)
#define CPU_CCR_USERSETMPEND   (1u << 1)
#define CPU_CCR_UNALIGN_TRP    (1u << 3)
#define CPU_CCR_DIV_0_TRP      (1u << 4)
#define CPU_CCR_BFHFNMIGN      (1u << 8)
#define CPU_CCR_STKALIGN       (1u << 9)
#define CPU_CCR_STKOFHFNMIGN   (1u << 10)

#define CPU_SCR_SLEEPONEXIT (1u << 1)
#define CPU_SCR_SEVONPEND   (1u << 4)

#define CPU_SHCSR_MEMFAULTENA (1u << 16)
#define CPU_SHCSR_BUSFAULTENA (1u << 17)
#define CPU_SHCSR_USGFAULTENA (1u << 18)

#define CPU_CFSR_IACCVIOL   (1u << 0)
#define CPU_CFSR_IBUSERR    (1u << 8)
#define CPU_CFSR_PRECISERR  (1u << 9)
#define CPU_CFSR_UNSTKERR   (1u << 11)
#define CPU_CFSR_STKERR     (1u << 12)
#define CPU_CFSR_BFARVALID  (1u << 15)
#define CPU_CFSR_UNDEFINSTR (1u << 16)
#define CPU_CFSR_INVSTATE   (1u << 17)
#define CPU_CFSR_INVPC      (1u << 18)
#define CPU_CFSR_NOCP       (1u << 19)
#define CPU_CFSR_STKOF      (1u << 20)
#define CPU_CFSR_UNALIGNED  (1u << 24)
#define CPU_CFSR_DIVBYZERO  (1u << 25)

#define CPU_HFSR_VECTTBL  (1u << 1)
#define CPU_HFSR_FORCED   (1u << 30)
#define CPU_HFSR_DEBUGEVT (1u << 31)

/* The bits of a priority byte that exist: the top four, in Armv6-M the top two. */
static inline uint8_t cpu_priority_bits(const struct cpu *c)
{
    return c->architecture == CPU_V6M ? 0xC0u : 0xF0u;
}

/* The monitor's granule: 8 bytes, the smallest the architecture allows. */
#define CPU_GRANULE_MASK (~7u)

/* Handlers of one encoding: 16-bit ones get the halfword, 32-bit ones first halfword << 16 | second. While
 * they run r[15] is the address of the following instruction. */
typedef void cpu_op(struct cpu *c, uint32_t insn);
extern cpu_op *const cpu_thumb16[1024]; /* Armv7E-M, by bits 15..6 */
cpu_op *cpu_thumb32(uint32_t insn);     /* Armv7E-M */
/* The handler of an instruction in the core's own architecture (thumb_profile.c). */
cpu_op *cpu_decode(const struct cpu *c, uint32_t insn, bool wide);

cpu_op cpu_undefined;
cpu_op cpu_ldm_stm, cpu_dual_exclusive; /* thumb32_load.c */
void cpu_load_exclusive(struct cpu *c, unsigned rt, uint32_t address, unsigned size);
void cpu_store_exclusive(struct cpu *c, unsigned rd, unsigned rt, uint32_t address, unsigned size);
extern cpu_op *const cpu_load_store_single[32];       /* by bits 24..20 */
cpu_op cpu_multiply, cpu_long_multiply;               /* thumb_multiply.c */
cpu_op cpu_dp_register;                               /* thumb_dsp.c */
void cpu_saturate(struct cpu *c, uint32_t i);         /* SSAT, USAT and their 16-bit pairs */
void cpu_msr(struct cpu *c, unsigned rn, uint32_t i); /* cpu_special.c */
void cpu_mrs(struct cpu *c, unsigned rd, uint32_t i);
void cpu_cps(struct cpu *c, bool disable, bool i, bool f);
void cpu_hint(struct cpu *c, unsigned hint);
void cpu_put_xpsr(struct cpu *c,
                  uint32_t value); /* all that the core has of it; the stacks are the caller's */

/* exception.c */
unsigned cpu_enter_pending(struct cpu *c);
int cpu_execution_priority(const struct cpu *c, bool with_primask);
int cpu_group_priority(const struct cpu *c, int priority);
unsigned cpu_highest_pending(const struct cpu *c, int *priority);
void cpu_lockup(struct cpu *c);
void cpu_set_sys_pending(struct cpu *c, unsigned number);
bool cpu_stack_overflow(struct cpu *c); /* what a stack pointer below its limit means now: a fault? */

/* scs.c */
uint32_t cpu_ccr(const struct cpu *c, uint32_t v); /* what CCR holds once `v` is written to it */

/* systick.c */
void cpu_systick_reset(struct cpu *c);
uint32_t cpu_systick_read(struct cpu *c, uint32_t offset, bool debugger);
void cpu_systick_write(struct cpu *c, uint32_t offset, uint32_t v);

/* cpu_memory.c: everything but an aligned access to a region while nobody watches. */
bool cpu_load_slow(struct cpu *c, uint32_t address, unsigned size, uint32_t *value);
bool cpu_store_slow(struct cpu *c, uint32_t address, unsigned size, uint32_t value);
void cpu_monitor_store(struct cpu *c, uint32_t address, unsigned size, uint32_t cores);
void cpu_monitor_clear(struct cpu *c);

static inline uint32_t cpu_bits(uint32_t w, unsigned low, unsigned n)
{
    return (w >> low) & ((1u << n) - 1u);
}

static inline bool cpu_using_psp(const struct cpu *c)
{
    return (c->control & 2u) && c->ipsr == 0;
}

/* MSP and PSP change places, with their limits. */
static inline void cpu_swap_stacks(struct cpu *c)
{
    uint32_t sp = c->r[CPU_SP], limit = c->sp_limit;

    c->r[CPU_SP] = c->sp_other;
    c->sp_other = sp;
    c->sp_limit = c->sp_limit_other;
    c->sp_limit_other = limit;
}

/* The stack pointer is about to become `v`: true, with cpu.fault set, when its limit forbids it. */
static inline bool cpu_below_limit(struct cpu *c, uint32_t v)
{
    return CPU_UNLIKELY(v < c->sp_limit) && cpu_stack_overflow(c);
}

static inline bool cpu_privileged(const struct cpu *c)
{
    return c->ipsr != 0 || !(c->control & 1u);
}

/* By a table of the sixteen values of NZCV, because the host cannot foretell the firmware's branches. */
static inline bool cpu_condition(const struct cpu *c, unsigned cond)
{
    static const uint16_t holds[16] = {0xF0F0, 0x0F0F, 0xCCCC, 0x3333,  /* EQ NE CS CC */
                                       0xFF00, 0x00FF, 0xAAAA, 0x5555,  /* MI PL VS VC */
                                       0x0C0C, 0xF3F3, 0xAA55, 0x55AA,  /* HI LS GE LT */
                                       0x0A05, 0xF5FA, 0xFFFF, 0xFFFF}; /* GT LE, always */
    unsigned nzcv = (unsigned)(c->n << 3 | c->z << 2 | c->c << 1 | c->v);

    return holds[cond] >> nzcv & 1u;
}

static inline void cpu_set_nz(struct cpu *c, uint32_t r)
{
    c->n = (uint8_t)(r >> 31);
    c->z = r == 0;
}

static inline uint32_t cpu_add_flags(struct cpu *c, uint32_t a, uint32_t b, unsigned carry)
{
    uint64_t wide = (uint64_t)a + b + carry;
    uint32_t r = (uint32_t)wide;

    c->n = (uint8_t)(r >> 31);
    c->z = r == 0;
    c->c = (uint8_t)(wide >> 32);
    c->v = (uint8_t)(((a ^ r) & (b ^ r)) >> 31);
    return r;
}

/* Shift with carry out; type 0 LSL, 1 LSR, 2 ASR, 3 ROR; any amount. */
static inline uint32_t cpu_shift(uint32_t v, unsigned type, unsigned amount, uint8_t *carry)
{
    if (amount == 0)
        return v;
    switch (type) {
    case 0:
        *carry = (uint8_t)(amount <= 32 ? (v >> (32 - amount)) & 1u : 0u);
        return amount < 32 ? v << amount : 0;
    case 1:
        *carry = (uint8_t)(amount <= 32 ? (v >> (amount - 1)) & 1u : 0u);
        return amount < 32 ? v >> amount : 0;
    case 2:
        if (amount > 31) {
            *carry = (uint8_t)(v >> 31);
            return v >> 31 ? 0xFFFFFFFFu : 0;
        }
        *carry = (uint8_t)((v >> (amount - 1)) & 1u);
        return (uint32_t)((int32_t)v >> amount);
    default:
        amount &= 31;
        if (amount)
            v = v >> amount | v << (32 - amount);
        *carry = (uint8_t)(v >> 31);
        return v;
    }
}

/* Write a general register from a 32-bit instruction. The PC there is UNPREDICTABLE and is refused, so that
 * r[15] never gets an odd value; the stack pointers have no bits 0 and 1. */
static inline void cpu_put(struct cpu *c, unsigned rd, uint32_t v)
{
    if (CPU_UNLIKELY(rd == CPU_SP)) {
        v &= ~3u;
        if (cpu_below_limit(c, v))
            return;
    } else if (CPU_UNLIKELY(rd == CPU_PC)) {
        c->fault = CPU_FAULT_UNDEFINED;
        return;
    }
    c->r[rd] = v;
}

static inline void cpu_branch(struct cpu *c, uint32_t address)
{
    c->r[CPU_PC] = address & ~1u;
}

/* BXWritePC and LoadWritePC: an interworking branch, or in handler mode an exception return. Armv8-M wants
 * eight ones at the top of an EXC_RETURN; the rest of what the others take leads nowhere anyway. */
static inline void cpu_branch_exchange(struct cpu *c, uint32_t address)
{
    if (c->ipsr != 0 && address >> 28 == 0xF && (c->architecture != CPU_V8M || address >> 24 == 0xFF)) {
        c->fault = CPU_TRAP_EXC_RETURN;
        c->fault_address = address;
        return;
    }
    c->t = address & 1u;
    c->r[CPU_PC] = address & ~1u;
}

/* Base and size of regions are multiples of 4: an aligned access that begins in one ends in it. */
static inline uint8_t *cpu_region_find(const struct cpu *c, uint32_t address, bool write)
{
    for (unsigned i = 0; i < CPU_REGIONS; i++) {
        const struct cpu_region *g = &c->region[i];
        uint32_t offset = address - g->base;

        if (offset < g->size)
            return write && !g->writable ? NULL : g->mem + offset;
    }
    return NULL;
}

/* The whole span in one region, or NULL. */
static inline uint8_t *cpu_region_span(const struct cpu *c, uint32_t address, uint32_t size, bool write)
{
    for (unsigned i = 0; i < CPU_REGIONS; i++) {
        const struct cpu_region *g = &c->region[i];
        uint32_t offset = address - g->base;

        if (offset < g->size)
            return g->size - offset < size || (write && !g->writable) ? NULL : g->mem + offset;
    }
    return NULL;
}

static inline bool cpu_load32(struct cpu *c, uint32_t address, uint32_t *value)
{
    if (CPU_LIKELY(!(address & 3u) && !c->watch)) {
        const uint8_t *p = cpu_region_find(c, address, false);
        if (CPU_LIKELY(p != NULL)) {
            memcpy(value, p, 4);
            return true;
        }
    }
    return cpu_load_slow(c, address, 4, value);
}

static inline bool cpu_load16(struct cpu *c, uint32_t address, uint32_t *value)
{
    if (CPU_LIKELY(!(address & 1u) && !c->watch)) {
        const uint8_t *p = cpu_region_find(c, address, false);
        if (CPU_LIKELY(p != NULL)) {
            uint16_t half;
            memcpy(&half, p, 2);
            *value = half;
            return true;
        }
    }
    return cpu_load_slow(c, address, 2, value);
}

static inline bool cpu_load8(struct cpu *c, uint32_t address, uint32_t *value)
{
    if (CPU_LIKELY(!c->watch)) {
        const uint8_t *p = cpu_region_find(c, address, false);
        if (CPU_LIKELY(p != NULL)) {
            *value = *p;
            return true;
        }
    }
    return cpu_load_slow(c, address, 1, value);
}

/* Another core's tag may have to go, or somebody watches: the slow path. */
static inline bool cpu_plain_store(const struct cpu *c)
{
    return !((c->monitor->valid & ~(1u << c->number)) | c->watch);
}

static inline bool cpu_store32(struct cpu *c, uint32_t address, uint32_t value)
{
    if (CPU_LIKELY(!(address & 3u) && cpu_plain_store(c))) {
        uint8_t *p = cpu_region_find(c, address, true);
        if (CPU_LIKELY(p != NULL)) {
            memcpy(p, &value, 4);
            return true;
        }
    }
    return cpu_store_slow(c, address, 4, value);
}

static inline bool cpu_store16(struct cpu *c, uint32_t address, uint32_t value)
{
    if (CPU_LIKELY(!(address & 1u) && cpu_plain_store(c))) {
        uint8_t *p = cpu_region_find(c, address, true);
        if (CPU_LIKELY(p != NULL)) {
            uint16_t half = (uint16_t)value;
            memcpy(p, &half, 2);
            return true;
        }
    }
    return cpu_store_slow(c, address, 2, value & 0xFFFFu);
}

static inline bool cpu_store8(struct cpu *c, uint32_t address, uint32_t value)
{
    if (CPU_LIKELY(cpu_plain_store(c))) {
        uint8_t *p = cpu_region_find(c, address, true);
        if (CPU_LIKELY(p != NULL)) {
            *p = (uint8_t)value;
            return true;
        }
    }
    return cpu_store_slow(c, address, 1, value & 0xFFu);
}

/* LDM, LDRD and the exclusives fault when unaligned, whatever CCR says. */
static inline bool cpu_aligned(struct cpu *c, uint32_t address, uint32_t size)
{
    if (CPU_LIKELY(!(address & (size - 1u))))
        return true;
    c->fault = CPU_FAULT_UNALIGNED;
    return false;
}

#endif
