/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reset, instruction fetch and the step of one instruction, with its IT state (DDI0403E A5.1, A7.3.2,
 * B1.5.5).
 */
#include "sim/cpu.h"

#include "sim/cpu_internal.h"

/* Peripheral, device and system parts of the default address map are never executable. */
static bool never_executable(uint32_t address)
{
    unsigned part = address >> 29;
    return part == 2 || part >= 5;
}

/* r[15] is always even and regions have even sizes: a halfword that begins in one ends in it. */
static bool fetch(struct cpu *c, uint32_t address, uint32_t *half, const struct cpu_region **from)
{
    if (never_executable(address)) {
        c->fault = CPU_FAULT_FETCH_XN;
        return false;
    }
    for (unsigned i = 0; i < CPU_REGIONS; i++) {
        const struct cpu_region *g = &c->region[i];
        if (address - g->base < g->size) {
            uint16_t v;
            memcpy(&v, g->mem + (address - g->base), 2);
            *half = v;
            *from = g;
            return true;
        }
    }
    c->fault = CPU_FAULT_FETCH_BUS;
    return false;
}

/* Fetch and decode the instruction at `pc`, into its region's table if that has one, else into `here`. NULL
 * = fault. */
static const struct cpu_decoded *__attribute__((noinline))
decode(struct cpu *c, uint32_t pc, struct cpu_decoded *here)
{
    const struct cpu_region *g, *last;
    uint32_t half, second;

    if (!fetch(c, pc, &half, &g))
        return NULL;
    if (half < 0xE800u) {
        last = g;
        *here = (struct cpu_decoded){cpu_decode(c, half, false), half, 2};
    } else {
        if (!fetch(c, pc + 2u, &second, &last))
            return NULL;
        *here = (struct cpu_decoded){cpu_decode(c, half << 16 | second, true), half << 16 | second, 4};
    }
    if (g->decoded && last == g) {
        c->code.base = g->base;
        c->code.size = g->size;
        c->code.decoded = g->decoded;
        g->decoded[(pc - g->base) / 2] = *here;
    }
    return here;
}

/* What is known of the instruction at `pc`, or NULL. */
static inline const struct cpu_decoded *look_up(const struct cpu *c, uint32_t pc)
{
    uint32_t offset = pc - c->code.base;

    if (CPU_UNLIKELY(offset >= c->code.size))
        return NULL;
    return c->code.decoded[offset / 2].op ? &c->code.decoded[offset / 2] : NULL;
}

static uint8_t it_advance(uint8_t it)
{
    return (uint8_t)(it & 7u ? (it & 0xE0u) | ((it << 1) & 0x1Fu) : 0u);
}

/* The instruction inside an IT block: perhaps passed over, and the state moves on unless it faults. BKPT and
 * the fetch of it do not depend on the condition. */
static void __attribute__((noinline)) step_in_it(struct cpu *c, const struct cpu_decoded *d)
{
    uint8_t it = c->it;

    if (cpu_condition(c, it >> 4) || d->insn >> 8 == 0xBE)
        d->op(c, d->insn);
    c->it = it_advance(it);
}

unsigned cpu_step(struct cpu *c)
{
    struct cpu_decoded here;
    const struct cpu_decoded *d;
    uint32_t pc;
    uint8_t it;

    if (CPU_UNLIKELY(c->attention & CPU_ATTN_EXCEPTION)) {
        unsigned cycles = cpu_enter_pending(c);
        if (cycles)
            return cycles;
    }
    pc = c->r[CPU_PC];
    it = c->it;
    if (CPU_UNLIKELY(!c->t)) {
        c->fault = CPU_FAULT_INVSTATE;
        return cpu_trap(c, pc, it);
    }
    d = look_up(c, pc);
    if (CPU_UNLIKELY(!d)) {
        d = decode(c, pc, &here);
        if (CPU_UNLIKELY(!d))
            return cpu_trap(c, pc, it);
    }
    c->instructions++;
    c->r[CPU_PC] = pc + d->length;
    if (CPU_LIKELY(!it))
        d->op(c, d->insn);
    else
        step_in_it(c, d);
    if (CPU_UNLIKELY(c->fault))
        return cpu_trap(c, pc, it);
    return 1;
}

void cpu_reset(struct cpu *c)
{
    uint32_t sp = 0, pc = 0;

    memset(c->r, 0, sizeof c->r);
    c->r[CPU_LR] = 0xFFFFFFFFu;
    c->sp_other = 0;
    c->sp_limit = c->sp_limit_other = 0;
    c->n = c->z = c->c = c->v = c->q = c->ge = 0;
    c->it = 0;
    c->code.size = 0;
    c->ipsr = 0;
    c->primask = c->faultmask = c->basepri = c->control = 0;
    c->attention &= CPU_ATTN_DEBUG | CPU_ATTN_HALTED | CPU_ATTN_RESET;
    c->event = false;
    c->wfe = false;
    c->vtor = c->aircr = c->scr = c->shcsr = c->cfsr = c->hfsr = c->mmfar = c->bfar = c->cpacr = 0;
    c->ccr = cpu_ccr(c, CPU_CCR_STKALIGN);
    memset(c->shpr, 0, sizeof c->shpr);
    memset(c->irq_priority, 0, sizeof c->irq_priority);
    c->irq_enabled = c->irq_active = 0;
    c->irq_pending = c->irq_level; /* a line that is still high pends again at once */
    c->sys_pending = c->sys_active = 0;
    c->fault = CPU_FAULT_NONE;
    c->fault_address = 0;
    cpu_systick_reset(c);
    cpu_monitor_clear(c);
    if (!cpu_bus_read(c, 0, 4, &sp) || !cpu_bus_read(c, 4, 4, &pc)) {
        c->t = 1;
        c->ipsr = CPU_EXC_HARDFAULT;
        c->sys_active = 1u << CPU_EXC_HARDFAULT;
        cpu_lockup(c);
        return;
    }
    c->r[CPU_SP] = sp & ~3u;
    c->r[CPU_PC] = pc & ~1u;
    c->t = pc & 1u;
    cpu_update(c);
}
