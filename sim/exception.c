/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exceptions: priorities, entry, tail-chaining, return, escalation, lockup (DDI0403E B1.5, DDI0419E B1.5
 * where HardFault is the only fault, DDI0553 B3 with its stack limits).
 *
 * A fault raised by an instruction is entered in the step of that instruction; everything else waits for the
 * next step, which cpu_update announces with CPU_ATTN_EXCEPTION.
 */
#include "sim/cpu_internal.h"

#define ENTRY_CYCLES      12u
#define TAIL_CHAIN_CYCLES 6u
#define RETURN_CYCLES     10u

#define LOWEST 256 /* below every priority: thread mode with nothing active */

static int priority_of(const struct cpu *c, unsigned n)
{
    if (n >= CPU_EXC_IRQ0)
        return c->irq_priority[(n - CPU_EXC_IRQ0) % CPU_IRQS];
    return n >= 4 ? c->shpr[n - 4] : (int)n - 4; /* reset -3, NMI -2, HardFault -1 */
}

int cpu_group_priority(const struct cpu *c, int priority)
{
    unsigned group = (2u << ((c->aircr >> 8) & 7u)) - 1u;
    return priority < 0 ? priority : (int)((unsigned)priority & ~group);
}

int cpu_execution_priority(const struct cpu *c, bool with_primask)
{
    int best = LOWEST, boosted = LOWEST;

    for (uint32_t m = c->sys_active; m; m &= m - 1u) {
        int p = priority_of(c, (unsigned)__builtin_ctz(m));
        best = p < best ? p : best;
    }
    for (uint32_t m = c->irq_active; m; m &= m - 1u) {
        int p = c->irq_priority[__builtin_ctz(m)];
        best = p < best ? p : best;
    }
    if (best < LOWEST)
        best = cpu_group_priority(c, best);
    if (c->basepri)
        boosted = cpu_group_priority(c, c->basepri);
    if (c->primask && with_primask)
        boosted = 0;
    if (c->faultmask)
        boosted = -1;
    return boosted < best ? boosted : best;
}

static bool fault_enabled(const struct cpu *c, unsigned n)
{
    switch (n) {
    case CPU_EXC_MEMMANAGE:
        return c->shcsr & CPU_SHCSR_MEMFAULTENA;
    case CPU_EXC_BUSFAULT:
        return c->shcsr & CPU_SHCSR_BUSFAULTENA;
    case CPU_EXC_USAGEFAULT:
        return c->shcsr & CPU_SHCSR_USGFAULTENA;
    default:
        return true;
    }
}

/* The pending and enabled exception that comes first: by priority with subpriority, then by number. */
unsigned cpu_highest_pending(const struct cpu *c, int *priority)
{
    unsigned found = 0;
    int best = LOWEST + 1;

    for (uint32_t m = c->sys_pending; m; m &= m - 1u) {
        unsigned n = (unsigned)__builtin_ctz(m);
        int p = priority_of(c, n);
        if (c->mask_ints && (n == CPU_EXC_PENDSV || n == CPU_EXC_SYSTICK))
            continue;
        if (p < best && fault_enabled(c, n)) {
            best = p;
            found = n;
        }
    }
    for (uint32_t m = c->mask_ints ? 0 : c->irq_pending & c->irq_enabled; m; m &= m - 1u) {
        unsigned n = (unsigned)__builtin_ctz(m);
        if (c->irq_priority[n] < best) {
            best = c->irq_priority[n];
            found = n + CPU_EXC_IRQ0;
        }
    }
    *priority = best;
    return found;
}

static void update_sleep(struct cpu *c, int pending)
{
    bool wake;

    if (c->wfe) {
        wake = c->event || cpu_group_priority(c, pending) < cpu_execution_priority(c, true);
        /* The event that wakes is used up: no second WFE falls through because of it. */
        if (wake)
            c->event = false;
    } else {
        wake = cpu_group_priority(c, pending) < cpu_execution_priority(c, false);
    }
    if (wake)
        c->attention &= ~(uint32_t)CPU_ATTN_SLEEP;
}

void cpu_update(struct cpu *c)
{
    int pending = LOWEST + 1;
    bool preempts = false;

    if (c->sys_pending || (c->irq_pending & c->irq_enabled)) {
        cpu_highest_pending(c, &pending);
        preempts = pending <= LOWEST && cpu_group_priority(c, pending) < cpu_execution_priority(c, true);
    }
    if (CPU_UNLIKELY(c->attention & CPU_ATTN_SLEEP))
        update_sleep(c, pending);
    if (!preempts) {
        c->attention &= ~(uint32_t)CPU_ATTN_EXCEPTION;
        return;
    }
    c->attention |= CPU_ATTN_EXCEPTION;
    if (pending == -2) /* only NMI gets a core out of lockup at HardFault priority */
        c->attention &= ~(uint32_t)CPU_ATTN_LOCKUP;
}

void cpu_lockup(struct cpu *c)
{
    c->attention |= CPU_ATTN_LOCKUP;
    c->r[CPU_PC] = 0xFFFFFFFEu;
    c->it = 0;
    cpu_update(c);
    if (c->hooks.exception_entered)
        c->hooks.exception_entered(c->hooks.ctx, CPU_EXC_HARDFAULT);
}

void cpu_set_sys_pending(struct cpu *c, unsigned number)
{
    bool fresh = !(c->sys_pending & (1u << number));

    c->sys_pending |= (uint16_t)(1u << number);
    if (fresh && (c->scr & CPU_SCR_SEVONPEND))
        c->event = true;
}

/* What synchronous exception `number` becomes: itself, HardFault, or 0: lockup. */
static unsigned escalate(struct cpu *c, unsigned number)
{
    int now = cpu_execution_priority(c, true);

    if (c->architecture == CPU_V6M && number != CPU_EXC_SVCALL)
        number = CPU_EXC_HARDFAULT;
    if (number != CPU_EXC_HARDFAULT) {
        if (fault_enabled(c, number) && cpu_group_priority(c, priority_of(c, number)) < now)
            return number;
        if (now > -1)
            c->hfsr |= CPU_HFSR_FORCED;
    }
    return now > -1 ? CPU_EXC_HARDFAULT : 0;
}

static void deactivate(struct cpu *c, unsigned n)
{
    if (n >= CPU_EXC_IRQ0) {
        uint32_t bit = 1u << ((n - CPU_EXC_IRQ0) % CPU_IRQS);
        c->irq_active &= ~bit;
        c->irq_pending |= c->irq_level & bit;
    } else {
        c->sys_active &= (uint16_t) ~(1u << n);
    }
    if (n != CPU_EXC_NMI)
        c->faultmask = 0;
}

static bool read_vector(struct cpu *c, unsigned n, uint32_t *vector)
{
    return cpu_bus_read(c, c->vtor + 4u * n, 4, vector);
}

/* ExceptionTaken: the frame is on the stack (or still is, when tail-chaining). False = lockup. */
static bool take(struct cpu *c, unsigned n, uint32_t exc_return)
{
    uint32_t vector = 0;

    if (!read_vector(c, n, &vector)) {
        bool hopeless = n == CPU_EXC_HARDFAULT || cpu_execution_priority(c, true) < 0;
        c->hfsr |= CPU_HFSR_VECTTBL;
        n = CPU_EXC_HARDFAULT;
        if (hopeless || !read_vector(c, n, &vector)) {
            c->ipsr = CPU_EXC_HARDFAULT;
            c->sys_active |= 1u << CPU_EXC_HARDFAULT;
            cpu_lockup(c);
            return false;
        }
    }
    if (cpu_using_psp(c))
        cpu_swap_stacks(c);
    c->control &= 1u;
    if (n >= CPU_EXC_IRQ0) {
        uint32_t bit = 1u << ((n - CPU_EXC_IRQ0) % CPU_IRQS);
        c->irq_pending &= ~bit;
        c->irq_active |= bit;
    } else {
        c->sys_pending &= (uint16_t) ~(1u << n);
        c->sys_active |= (uint16_t)(1u << n);
    }
    c->ipsr = (uint16_t)n;
    c->it = 0;
    c->r[CPU_LR] = exc_return;
    c->r[CPU_PC] = vector & ~1u;
    c->t = vector & 1u;
    c->event = true;
    cpu_monitor_clear(c);
    cpu_update(c);
    if (c->hooks.exception_entered)
        c->hooks.exception_entered(c->hooks.ctx, n);
    return true;
}

/* Handlers at priority -1 and -2 may be allowed to go on below the limit. */
bool cpu_stack_overflow(struct cpu *c)
{
    if ((c->ccr & CPU_CCR_STKOFHFNMIGN) && cpu_execution_priority(c, true) < 0)
        return false;
    c->fault = CPU_FAULT_STKOF;
    return true;
}

/* Pend what a failed stacking or unstacking becomes. False = lockup. */
static bool derived_fault(struct cpu *c, uint32_t status)
{
    unsigned n;

    c->cfsr |= status;
    n = escalate(c, status == CPU_CFSR_STKOF ? CPU_EXC_USAGEFAULT : CPU_EXC_BUSFAULT);
    if (n == 0)
        return false;
    c->sys_pending |= (uint16_t)(1u << n);
    return true;
}

/* Returns 0, or the CFSR bit that says what went wrong. */
static uint32_t push_frame(struct cpu *c)
{
    uint32_t sp = c->r[CPU_SP], align = (c->ccr & CPU_CCR_STKALIGN) && (sp & 4u) ? 1u : 0;
    uint32_t frame = (sp - 0x20u) & ~(align ? 4u : 0u);
    const uint32_t word[8] = {c->r[0],  c->r[1],      c->r[2],      c->r[3],
                              c->r[12], c->r[CPU_LR], c->r[CPU_PC], cpu_xpsr(c) | align << 9};

    if (cpu_below_limit(c, frame)) { /* nothing is written; the handler gets the stack from the limit up */
        c->fault = CPU_FAULT_NONE;
        c->r[CPU_SP] = c->sp_limit;
        return CPU_CFSR_STKOF;
    }
    c->r[CPU_SP] = frame;
    for (unsigned k = 0; k < 8; k++) {
        if (!cpu_bus_write(c, frame + 4u * k, 4, word[k]))
            return CPU_CFSR_STKERR;
    }
    return 0;
}

static uint32_t exc_return_now(const struct cpu *c)
{
    /* Armv8-M: the S bit is 0 without security, the bits DCRS and FType are 1. */
    uint32_t base = c->architecture == CPU_V8M ? 0xFFFFFFB0u : 0xFFFFFFF1u;

    if (c->ipsr)
        return base;
    return base | (cpu_using_psp(c) ? 0xCu : 0x8u);
}

/* Stack, then enter whatever has the highest priority by then. Returns cycles, 0 when nothing was pending. */
static unsigned enter(struct cpu *c)
{
    uint32_t exc_return = exc_return_now(c), status = push_frame(c);
    int priority;
    unsigned n;

    if (status && !derived_fault(c, status)) {
        cpu_lockup(c);
        return ENTRY_CYCLES;
    }
    n = cpu_highest_pending(c, &priority);
    take(c, n, exc_return);
    return ENTRY_CYCLES;
}

unsigned cpu_enter_pending(struct cpu *c)
{
    int priority;
    unsigned n = cpu_highest_pending(c, &priority);

    if (n == 0 || cpu_group_priority(c, priority) >= cpu_execution_priority(c, true)) {
        c->attention &= ~(uint32_t)CPU_ATTN_EXCEPTION;
        return 0;
    }
    return enter(c);
}

static unsigned raise(struct cpu *c, unsigned number)
{
    unsigned n = escalate(c, number);

    if (n == 0) {
        cpu_lockup(c);
        return 1;
    }
    c->sys_pending |= (uint16_t)(1u << n);
    return 1u + enter(c);
}

void cpu_pend(struct cpu *c, enum cpu_exception number)
{
    unsigned n = escalate(c, number);

    if (n == 0) {
        cpu_lockup(c);
        return;
    }
    cpu_set_sys_pending(c, n);
    cpu_update(c);
}

bool cpu_would_take(const struct cpu *c, enum cpu_exception number)
{
    return cpu_group_priority(c, priority_of(c, number)) < cpu_execution_priority(c, true);
}

/* An exception return that is not allowed: UsageFault, on the frame that is still there. */
static unsigned invalid_return(struct cpu *c, uint32_t exc_return)
{
    unsigned n;

    c->cfsr |= CPU_CFSR_INVPC;
    n = escalate(c, CPU_EXC_USAGEFAULT);
    if (n == 0)
        cpu_lockup(c);
    else
        take(c, n, exc_return);
    return TAIL_CHAIN_CYCLES;
}

/* PopStack. False = the frame was bad or could not be read; the registers are unchanged then. */
static bool pop_frame(struct cpu *c, uint32_t exc_return, uint32_t status[1])
{
    bool psp = exc_return & 4u, thread = exc_return & 8u;
    uint32_t sp = psp ? c->sp_other : c->r[CPU_SP], word[8];

    *status = 0;
    for (unsigned k = 0; k < 8; k++) {
        if (!cpu_bus_read(c, sp + 4u * k, 4, &word[k])) {
            *status = CPU_CFSR_UNSTKERR;
            return false;
        }
    }
    if (thread != ((word[7] & 0x1FFu) == 0)) {
        *status = CPU_CFSR_INVPC;
        return false;
    }
    sp += 0x20u;
    if ((word[7] & 0x200u) && (c->ccr & CPU_CCR_STKALIGN))
        sp |= 4u;
    if (psp) {
        cpu_swap_stacks(c);
        c->control |= 2u;
    }
    c->r[CPU_SP] = sp;
    memcpy(c->r, word, 16);
    c->r[12] = word[4];
    c->r[CPU_LR] = word[5];
    c->r[CPU_PC] = word[6] & ~1u;
    cpu_put_xpsr(c, word[7]);
    return true;
}

static bool return_allowed(const struct cpu *c, uint32_t exc_return, unsigned nested)
{
    if (c->architecture == CPU_V8M) /* CCR.NONBASETHRDENA is always 1 there */
        return exc_return == 0xFFFFFFB0u || exc_return == 0xFFFFFFB8u || exc_return == 0xFFFFFFBCu;
    if ((exc_return & 0x0FFFFFF0u) != 0x0FFFFFF0u)
        return false;
    switch (exc_return & 15u) {
    case 1:
        return nested > 1;
    case 9:
    case 13:
        return nested == 1 || (c->ccr & CPU_CCR_NONBASETHRDENA);
    default:
        return false;
    }
}

static unsigned exception_return(struct cpu *c, uint32_t exc_return)
{
    unsigned returning = c->ipsr, n;
    unsigned nested = (unsigned)(__builtin_popcount(c->sys_active) + __builtin_popcount(c->irq_active));
    bool active = returning >= CPU_EXC_IRQ0 ? c->irq_active >> ((returning - CPU_EXC_IRQ0) % CPU_IRQS) & 1u
                                            : c->sys_active >> returning & 1u;
    uint32_t status;
    int priority;

    deactivate(c, returning);
    if (!active || !return_allowed(c, exc_return, nested))
        return invalid_return(c, exc_return);
    n = cpu_highest_pending(c, &priority);
    if (n && cpu_group_priority(c, priority) < cpu_execution_priority(c, true)) {
        take(c, n, exc_return);
        return TAIL_CHAIN_CYCLES;
    }
    if (!pop_frame(c, exc_return, &status)) {
        if (status == CPU_CFSR_INVPC)
            return invalid_return(c, exc_return);
        if (!derived_fault(c, status))
            cpu_lockup(c);
        else
            take(c, cpu_highest_pending(c, &priority), exc_return);
        return TAIL_CHAIN_CYCLES;
    }
    cpu_monitor_clear(c);
    c->event = true;
    if (c->ipsr == 0 && (c->scr & CPU_SCR_SLEEPONEXIT)) {
        c->wfe = false;
        c->attention |= CPU_ATTN_SLEEP;
    }
    cpu_update(c);
    return RETURN_CYCLES;
}

/* BKPT that does not halt: DebugMonitor if the hook pended it, else a HardFault that says so. */
static unsigned breakpoint(struct cpu *c)
{
    if (c->hooks.bkpt && c->hooks.bkpt(c->hooks.ctx))
        return 1;
    if (c->attention & CPU_ATTN_EXCEPTION) /* the hook pended DebugMonitor */
        return 1u + enter(c);
    c->hfsr |= CPU_HFSR_DEBUGEVT;
    return raise(c, CPU_EXC_HARDFAULT);
}

/* The instruction at `pc` (IT state `it` before it) set cpu.fault. */
unsigned cpu_trap(struct cpu *c, uint32_t pc, uint8_t it)
{
    int fault = c->fault;
    unsigned number = CPU_EXC_USAGEFAULT;

    c->fault = CPU_FAULT_NONE;
    if (fault == CPU_TRAP_EXC_RETURN)
        return exception_return(c, c->fault_address); /* its cycles include the instruction */
    if (fault == CPU_TRAP_SVC)
        return raise(c, CPU_EXC_SVCALL);
    c->r[CPU_PC] = pc;
    c->it = it;
    switch (fault) {
    case CPU_TRAP_BKPT:
        return breakpoint(c);
    case CPU_FAULT_INVSTATE:
        c->cfsr |= CPU_CFSR_INVSTATE;
        break;
    case CPU_FAULT_NOCP:
        c->cfsr |= CPU_CFSR_NOCP;
        break;
    case CPU_FAULT_UNALIGNED:
        c->cfsr |= CPU_CFSR_UNALIGNED;
        break;
    case CPU_FAULT_STKOF:
        c->cfsr |= CPU_CFSR_STKOF;
        break;
    case CPU_FAULT_DIVBYZERO:
        c->cfsr |= CPU_CFSR_DIVBYZERO;
        break;
    case CPU_FAULT_BUS:
        c->cfsr |= CPU_CFSR_PRECISERR | CPU_CFSR_BFARVALID;
        c->bfar = c->fault_address;
        number = CPU_EXC_BUSFAULT;
        break;
    case CPU_FAULT_FETCH_BUS:
        c->cfsr |= CPU_CFSR_IBUSERR;
        number = CPU_EXC_BUSFAULT;
        break;
    case CPU_FAULT_FETCH_XN:
        c->cfsr |= CPU_CFSR_IACCVIOL;
        number = CPU_EXC_MEMMANAGE;
        break;
    default:
        c->cfsr |= CPU_CFSR_UNDEFINSTR;
        break;
    }
    return raise(c, number);
}

const char *cpu_exception_name(unsigned number)
{
    static const char *const names[16] = {
        "Thread", "Reset", "NMI", "HardFault", "MemManage",    "BusFault", "UsageFault", "?",
        "?",      "?",     "?",   "SVCall",    "DebugMonitor", "?",        "PendSV",     "SysTick"};
    return number < 16 ? names[number] : "Interrupt";
}
