/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Special registers and hints: MRS, MSR, CPS, WFI, WFE, SEV (DDI0403E B5.2, B1.5.18, B1.5.19).
 */
#include "sim/cpu_internal.h"

static void set_apsr(struct cpu *c, uint32_t v, bool nzcvq, bool ge)
{
    if (c->architecture == CPU_V6M) /* neither Q nor GE */
        v &= 0xF0000000u;
    if (nzcvq) {
        c->n = (uint8_t)((v >> 31) & 1u);
        c->z = (uint8_t)((v >> 30) & 1u);
        c->c = (uint8_t)((v >> 29) & 1u);
        c->v = (uint8_t)((v >> 28) & 1u);
        c->q = (uint8_t)((v >> 27) & 1u);
    }
    if (ge)
        c->ge = (uint8_t)((v >> 16) & 0xFu);
}

static uint32_t get_stack(const struct cpu *c, bool psp)
{
    return psp == cpu_using_psp(c) ? c->r[CPU_SP] : c->sp_other;
}

static void set_stack(struct cpu *c, bool psp, uint32_t v)
{
    if (psp == cpu_using_psp(c))
        c->r[CPU_SP] = v & ~3u;
    else
        c->sp_other = v & ~3u;
}

static uint32_t get_limit(const struct cpu *c, bool psp)
{
    return psp == cpu_using_psp(c) ? c->sp_limit : c->sp_limit_other;
}

/* Limits are multiples of eight; before Armv8-M there are none. */
static void set_limit(struct cpu *c, bool psp, uint32_t v)
{
    if (c->architecture != CPU_V8M)
        return;
    if (psp == cpu_using_psp(c))
        c->sp_limit = v & ~7u;
    else
        c->sp_limit_other = v & ~7u;
}

/* SPSEL moves only in thread mode. */
static void set_control(struct cpu *c, uint32_t v)
{
    bool psp = c->ipsr == 0 ? v & 2u : c->control & 2u;

    if (psp != (bool)(c->control & 2u))
        cpu_swap_stacks(c);
    c->control = (uint8_t)((v & 1u) | (psp ? 2u : 0u));
}

void cpu_mrs(struct cpu *c, unsigned rd, uint32_t i)
{
    unsigned sysm = i & 0xFFu;
    bool privileged = cpu_privileged(c);
    uint32_t v = 0;

    if (sysm < 8) { /* xPSR parts; EPSR reads as zero */
        if (!(sysm & 4u))
            v = cpu_xpsr(c) & 0xF80F0000u;
        if (sysm & 1u)
            v |= c->ipsr;
    } else if (sysm == 8 || sysm == 9) {
        v = privileged ? get_stack(c, sysm == 9) : 0;
    } else if (sysm == 10 || sysm == 11) {
        v = privileged ? get_limit(c, sysm == 11) : 0;
    } else if (sysm == 16) {
        v = privileged ? c->primask : 0;
    } else if (sysm == 17 || sysm == 18) {
        v = privileged ? c->basepri : 0;
    } else if (sysm == 19) {
        v = privileged ? c->faultmask : 0;
    } else if (sysm == 20) {
        v = c->control;
    }
    cpu_put(c, rd, v);
}

void cpu_msr(struct cpu *c, unsigned rn, uint32_t i)
{
    unsigned sysm = i & 0xFFu, mask = cpu_bits(i, 10, 2);
    uint32_t v = c->r[rn];

    if (sysm < 8) {
        if (!(sysm & 4u))
            set_apsr(c, v, mask & 2u, mask & 1u);
        return;
    }
    if (!cpu_privileged(c))
        return;
    switch (sysm) {
    case 8:
    case 9:
        set_stack(c, sysm == 9, v);
        break;
    case 10:
    case 11:
        set_limit(c, sysm == 11, v);
        break;
    case 16:
        c->primask = v & 1u;
        break;
    case 17:
        c->basepri = (uint8_t)(v & cpu_priority_bits(c));
        break;
    case 18: /* BASEPRI_MAX only raises the priority */
        v &= cpu_priority_bits(c);
        if (v != 0 && (v < c->basepri || c->basepri == 0))
            c->basepri = (uint8_t)v;
        break;
    case 19:
        if (cpu_execution_priority(c, true) > -1 || !(v & 1u))
            c->faultmask = v & 1u;
        break;
    case 20:
        set_control(c, v);
        break;
    default:
        break;
    }
    cpu_update(c);
}

void cpu_cps(struct cpu *c, bool disable, bool i, bool f)
{
    if (!cpu_privileged(c))
        return;
    if (i)
        c->primask = disable;
    if (f && (!disable || cpu_execution_priority(c, true) > -1))
        c->faultmask = disable;
    cpu_update(c);
}

void cpu_hint(struct cpu *c, unsigned hint)
{
    switch (hint) {
    case 2: /* WFE */
        if (c->event) {
            c->event = false;
        } else {
            c->wfe = true;
            c->attention |= CPU_ATTN_SLEEP;
            cpu_update(c);
        }
        break;
    case 3: /* WFI */
        c->wfe = false;
        c->attention |= CPU_ATTN_SLEEP;
        cpu_update(c);
        break;
    case 4: /* SEV */
        if (c->hooks.send_event)
            c->hooks.send_event(c->hooks.ctx);
        else
            cpu_set_event(c);
        break;
    default: /* NOP, YIELD, DBG and the unallocated hints */
        break;
    }
}

uint32_t cpu_xpsr(const struct cpu *c)
{
    return (uint32_t)c->n << 31 | (uint32_t)c->z << 30 | (uint32_t)c->c << 29 | (uint32_t)c->v << 28 |
           (uint32_t)c->q << 27 | (uint32_t)(c->it & 3u) << 25 | (uint32_t)c->t << 24 |
           (uint32_t)c->ge << 16 | (uint32_t)(c->it >> 2) << 10 | c->ipsr;
}

void cpu_put_xpsr(struct cpu *c, uint32_t value)
{
    if (c->architecture == CPU_V6M) /* no Q, no GE, no IT */
        value &= 0xF10001FFu;
    set_apsr(c, value, true, true);
    c->it = (uint8_t)(((value >> 25) & 3u) | ((value >> 8) & 0xFCu));
    c->t = (uint8_t)((value >> 24) & 1u);
    c->ipsr = value & 0x1FFu;
}

/* The debugger's write: all of it, the exception number too, with the stack that goes with it. */
void cpu_set_xpsr(struct cpu *c, uint32_t value)
{
    bool before = cpu_using_psp(c);

    cpu_put_xpsr(c, value);
    if (before != cpu_using_psp(c))
        cpu_swap_stacks(c);
    cpu_update(c);
}

uint32_t cpu_get_register(const struct cpu *c, unsigned regsel)
{
    if (regsel < 16)
        return c->r[regsel];
    switch (regsel) {
    case 16:
        return cpu_xpsr(c);
    case 17:
    case 18:
        return get_stack(c, regsel == 18);
    case 30:
    case 31:
        return get_limit(c, regsel == 31);
    case 20:
        return (uint32_t)c->control << 24 | (uint32_t)c->faultmask << 16 | (uint32_t)c->basepri << 8 |
               c->primask;
    default:
        return 0;
    }
}

void cpu_set_register(struct cpu *c, unsigned regsel, uint32_t value)
{
    if (regsel == CPU_PC)
        cpu_branch(c, value);
    else if (regsel == CPU_SP)
        c->r[CPU_SP] = value & ~3u;
    else if (regsel < 16)
        c->r[regsel] = value;
    else if (regsel == 16)
        cpu_set_xpsr(c, value);
    else if (regsel == 17 || regsel == 18)
        set_stack(c, regsel == 18, value);
    else if (regsel == 30 || regsel == 31)
        set_limit(c, regsel == 31, value);
    else if (regsel == 20) {
        if (c->architecture == CPU_V6M)
            value &= 0xFF0000FFu;
        set_control(c, value >> 24);
        c->faultmask = (value >> 16) & 1u;
        c->basepri = (uint8_t)((value >> 8) & cpu_priority_bits(c));
        c->primask = value & 1u;
        cpu_update(c);
    }
}
