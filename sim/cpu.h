/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One Cortex-M core without FPU: registers, instructions, exceptions, NVIC and SysTick. Armv7-M ARM
 * (DDI0403E), Armv6-M ARM (DDI0419E), Armv8-M ARM (DDI0553).
 *
 * The core knows nothing of the board: memory that is not in a region, debug and events go through hooks.
 * One instruction costs one cycle; an exception entry 12, a tail-chain 6, a return 10 (docs/board.md).
 */
#ifndef CORRAL_SIM_CPU_H
#define CORRAL_SIM_CPU_H

#include <stdbool.h>
#include <stdint.h>

#define CPU_REGIONS 4
#define CPU_IRQS    32

enum {
    CPU_SP = 13,
    CPU_LR = 14,
    CPU_PC = 15,
};

enum cpu_exception {
    CPU_EXC_NONE = 0,
    CPU_EXC_RESET = 1,
    CPU_EXC_NMI = 2,
    CPU_EXC_HARDFAULT = 3,
    CPU_EXC_MEMMANAGE = 4,
    CPU_EXC_BUSFAULT = 5,
    CPU_EXC_USAGEFAULT = 6,
    CPU_EXC_SVCALL = 11,
    CPU_EXC_DEBUGMON = 12,
    CPU_EXC_PENDSV = 14,
    CPU_EXC_SYSTICK = 15,
    CPU_EXC_IRQ0 = 16,
};

/* Reasons to look before the next instruction. While all are clear the board just calls cpu_step. */
enum cpu_attention {
    CPU_ATTN_EXCEPTION = 1u << 0, /* an exception is pending that can preempt now (kept by cpu_update) */
    CPU_ATTN_SLEEP = 1u << 1,     /* in WFI or WFE */
    CPU_ATTN_DEBUG = 1u << 2,     /* the debug unit wants to look: halt request, step, breakpoint unit on */
    CPU_ATTN_HALTED = 1u << 3,    /* in debug state; the cycle count stands still */
    CPU_ATTN_LOCKUP = 1u << 4,
    CPU_ATTN_RESET = 1u << 5, /* held in reset */
};

/* Which instructions, exceptions and system registers a core has. */
enum cpu_architecture {
    CPU_V7EM, /* Armv7-M with the DSP extension */
    CPU_V6M,  /* Armv6-M with the unprivileged extension and VTOR */
    CPU_V8M,  /* Armv8-M main line with the DSP extension, without security and FPU */
};

struct cpu;

/* One instruction as it was decoded: its handler, its one or two halfwords, its length in bytes. */
struct cpu_decoded {
    void (*op)(struct cpu *c, uint32_t insn); /* NULL = not decoded yet */
    uint32_t insn;
    uint32_t length;
};

/*
 * Memory that the core reaches directly.
 *
 * `decoded`, one for each halfword and all zero to begin with, lets the core decode each instruction once.
 * Only for memory that is not writable; who changes it all the same clears them. NULL = decode every time.
 */
struct cpu_region {
    uint32_t base;
    uint32_t size;
    uint8_t *mem;
    bool writable;
    struct cpu_decoded *decoded;
};

/* The global exclusive monitor: one tag a core, cleared by another core's or the debugger's store to the
 * granule (8 bytes), and by the core's own STREX, CLREX, exception entry and return. */
struct cpu_monitor {
    uint32_t valid; /* bit n: core n holds a tag */
    uint32_t tag[2];
};

struct cpu_hooks {
    void *ctx;
    /* An access outside the regions (peripherals, PPB). size 1, 2 or 4, naturally aligned. False = bus fault.
     */
    bool (*read)(void *ctx, uint32_t address, unsigned size, uint32_t *value);
    bool (*write)(void *ctx, uint32_t address, unsigned size, uint32_t value);
    /* BKPT was reached. True = debug state was entered (pc stays on the BKPT); false = the core escalates. */
    bool (*bkpt)(void *ctx);
    /* A data access happened (only called while `watch` is set). */
    void (*data_access)(void *ctx, uint32_t address, unsigned size, bool write, uint32_t value);
    /* Exception `number` has just been entered or lockup reached: vector catch. */
    void (*exception_entered)(void *ctx, unsigned number);
    /* SEV was executed: set the event register of every core. */
    void (*send_event)(void *ctx);
    /* AIRCR.SYSRESETREQ or VECTRESET was written. */
    void (*reset_request)(void *ctx);
};

struct cpu_systick {
    uint32_t csr; /* ENABLE, TICKINT, CLKSOURCE; COUNTFLAG is bit 16 */
    uint32_t reload;
    uint32_t current; /* at cycle `since` */
    uint64_t since;   /* in cpu cycles */
};

struct cpu {
    uint32_t r[16];    /* r[13] is the stack pointer in use; r[15] the address of the next instruction */
    uint32_t sp_other; /* the banked stack pointer that is not in use */
    uint32_t sp_limit, sp_limit_other; /* MSPLIM and PSPLIM in the same order; 0 before Armv8-M */
    /* APSR as separate flags, each 0 or 1; GE bits 0..3 */
    uint8_t n, z, c, v, q, ge;
    uint8_t it;    /* ITSTATE, 0 outside an IT block */
    uint8_t t;     /* EPSR.T; 0 makes the next instruction an INVSTATE UsageFault */
    uint16_t ipsr; /* exception number, 0 = thread mode */
    uint8_t primask, faultmask, basepri, control;
    uint32_t attention;  /* enum cpu_attention */
    uint64_t cycles;     /* cycles in which this core was clocked and not in debug state */
    uint64_t next_event; /* cycle at which cpu_timed_event must be called; UINT64_MAX = never */
    uint64_t instructions;
    bool event;      /* the event register of WFE */
    bool wfe;        /* asleep in WFE rather than WFI */
    bool watch;      /* call data_access */
    bool mask_ints;  /* DHCSR.C_MASKINTS: PendSV, SysTick and external interrupts are not taken */
    unsigned number; /* core number, for the monitor */
    uint32_t cpuid;  /* what SCB.CPUID reads */
    enum cpu_architecture architecture; /* set once, before the first reset */
    struct cpu_region region[CPU_REGIONS];
    struct { /* the region with a table that the last instruction came from; private to the core's files */
        uint32_t base, size;
        struct cpu_decoded *decoded;
    } code;
    struct cpu_monitor *monitor; /* shared by all cores; never NULL */
    struct cpu_hooks hooks;

    /* System control: the core's own, kept by scs.c and exception.c */
    uint32_t vtor, aircr, scr, ccr, shcsr, cfsr, hfsr, mmfar, bfar, cpacr;
    uint8_t shpr[12]; /* SHPR1..3, priority of exceptions 4..15 */
    uint8_t irq_priority[CPU_IRQS];
    uint32_t irq_enabled, irq_pending, irq_active, irq_level;
    uint16_t sys_pending; /* bit n: exception n pending (NMI, faults, SVC, PendSV, SysTick) */
    uint16_t sys_active;
    struct cpu_systick systick;
    int fault; /* set by memory and decode helpers while an instruction runs; private to the core's files */
    uint32_t fault_address;
};

/* Reset: registers, system control and NVIC to their reset values; SP and PC from the vector table (VTOR 0).
 */
void cpu_reset(struct cpu *c);

/*
 * Execute one instruction, or enter the pending exception (CPU_ATTN_EXCEPTION). Not to be called while the
 * core sleeps, is halted, locked up or in reset. Returns the cycles it took (the caller adds them to
 * `cycles`).
 */
unsigned cpu_step(struct cpu *c);

/* The instruction at `pc` set cpu.fault: the exception that it becomes, or the exception return that it is.
 * Returns cycles. For cpu_step and cpu_step_inline only. */
unsigned cpu_trap(struct cpu *c, uint32_t pc, uint8_t it);

/* cpu_step for the hot loop. An instruction that was decoded before, outside an IT block, is executed here,
 * so that each core has its own indirect call, which the host foretells better; cpu_step does the rest. */
static inline __attribute__((always_inline)) unsigned cpu_step_inline(struct cpu *c)
{
    uint32_t pc = c->r[CPU_PC], offset = pc - c->code.base;
    const struct cpu_decoded *d;

    if (__builtin_expect((c->attention & CPU_ATTN_EXCEPTION) || c->it || !c->t || offset >= c->code.size, 0))
        return cpu_step(c);
    d = &c->code.decoded[offset / 2];
    if (__builtin_expect(!d->op, 0))
        return cpu_step(c);
    c->instructions++;
    c->r[CPU_PC] = pc + d->length;
    d->op(c, d->insn);
    return __builtin_expect(c->fault != 0, 0) ? cpu_trap(c, pc, 0) : 1;
}

/* Recompute CPU_ATTN_EXCEPTION, and wake from WFI/WFE (clears CPU_ATTN_SLEEP) where the rules say so. To be
 * called after anything that may change what is pending, masked or asleep. */
void cpu_update(struct cpu *c);

/* `cycles` has reached next_event: SysTick expired. Pends it and sets next_event anew. */
void cpu_timed_event(struct cpu *c);

/* External interrupt line `irq` (0..31): level, or one edge. */
void cpu_irq_level(struct cpu *c, unsigned irq, bool high);
void cpu_irq_pend(struct cpu *c, unsigned irq);

/* Set the event register (SEV by any core, exception entry, debug). */
void cpu_set_event(struct cpu *c);

/* Pend a synchronous fault-like exception from outside (DebugMonitor). Escalates to HardFault as usual. */
void cpu_pend(struct cpu *c, enum cpu_exception number);

/* Would exception `number`, were it pending, be taken now? */
bool cpu_would_take(const struct cpu *c, enum cpu_exception number);

/* Registers by DCRSR.REGSEL (0..15, 16 xPSR, 17 MSP, 18 PSP, 20 CONTROL:FAULTMASK:BASEPRI:PRIMASK; Armv8-M:
 * 30 MSPLIM, 31 PSPLIM). A selector that the core does not have reads as zero and ignores writes. */
uint32_t cpu_get_register(const struct cpu *c, unsigned regsel);
void cpu_set_register(struct cpu *c, unsigned regsel, uint32_t value);
uint32_t cpu_xpsr(const struct cpu *c);
void cpu_set_xpsr(struct cpu *c, uint32_t value);
const char *cpu_exception_name(unsigned number);

/* Data accesses as the core makes them, for the debugger's view too; false = bus fault. No side effect on
 * the core but the exclusive monitor. */
bool cpu_bus_read(struct cpu *c, uint32_t address, unsigned size, uint32_t *value);
bool cpu_bus_write(struct cpu *c, uint32_t address, unsigned size, uint32_t value);

/* System control space 0xE000E000..0xE000EFFF but for DFSR, DHCSR, DCRSR, DCRDR and DEMCR, which belong to
 * the debug unit. `debugger`: the access comes through the AP. False = no such register (reads as zero). */
bool cpu_scs_read(struct cpu *c, uint32_t address, unsigned size, uint32_t *value, bool debugger);
bool cpu_scs_write(struct cpu *c, uint32_t address, unsigned size, uint32_t value, bool debugger);

#endif
