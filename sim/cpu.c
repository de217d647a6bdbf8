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

static bool __attribute__((noinline)) fetch_slow(struct cpu *c, uint32_t address, uint32_t *half)
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
            c->code = (uint8_t)i;
            return true;
        }
    }
    c->fault = CPU_FAULT_FETCH_BUS;
    return false;
}

/* r[15] is always even and regions have even sizes: a halfword that begins in one ends in it. */
static inline bool fetch(struct cpu *c, uint32_t address, uint32_t *half)
{
    const struct cpu_region *g = &c->region[c->code];
    uint32_t offset = address - g->base;
    uint16_t v;

    if (CPU_UNLIKELY(offset >= g->size))
        return fetch_slow(c, address, half);
    memcpy(&v, g->mem + offset, 2);
    *half = v;
    return true;
}

static uint8_t it_advance(uint8_t it)
{
    return (uint8_t)(it & 7u ? (it & 0xE0u) | ((it << 1) & 0x1Fu) : 0u);
}

/* The instruction inside an IT block: perhaps passed over, and the state moves on unless it faults. BKPT and
 * the fetch of it do not depend on the condition. */
static void __attribute__((noinline)) step_in_it(struct cpu *c, uint32_t half, uint32_t insn)
{
    uint8_t it = c->it;

    if (cpu_condition(c, it >> 4) || half >> 8 == 0xBE) {
        if (half < 0xE800u)
            cpu_thumb16[half >> 6](c, half);
        else
            cpu_thumb32[(half >> 4) & 0x1FFu](c, insn);
    }
    c->it = it_advance(it);
}

unsigned cpu_step(struct cpu *c)
{
    uint32_t pc, half, second, insn = 0;
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
    if (CPU_UNLIKELY(!fetch(c, pc, &half)))
        return cpu_trap(c, pc, it);
    c->instructions++;
    if (half < 0xE800u) {
        c->r[CPU_PC] = pc + 2u;
        if (CPU_LIKELY(!it))
            cpu_thumb16[half >> 6](c, half);
    } else {
        if (CPU_UNLIKELY(!fetch(c, pc + 2u, &second)))
            return cpu_trap(c, pc, it);
        insn = half << 16 | second;
        c->r[CPU_PC] = pc + 4u;
        if (CPU_LIKELY(!it))
            cpu_thumb32[(half >> 4) & 0x1FFu](c, insn);
    }
    if (CPU_UNLIKELY(it))
        step_in_it(c, half, insn);
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
    c->n = c->z = c->c = c->v = c->q = c->ge = 0;
    c->it = 0;
    c->code = 0;
    c->ipsr = 0;
    c->primask = c->faultmask = c->basepri = c->control = 0;
    c->attention &= CPU_ATTN_DEBUG | CPU_ATTN_HALTED | CPU_ATTN_RESET;
    c->event = false;
    c->wfe = false;
    c->vtor = c->aircr = c->scr = c->shcsr = c->cfsr = c->hfsr = c->mmfar = c->bfar = c->cpacr = 0;
    c->ccr = CPU_CCR_STKALIGN;
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
