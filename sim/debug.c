/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debug unit of a core: DHCSR, DCRSR, DCRDR, DEMCR, DFSR; entering and leaving debug state, stepping,
 * vector catch. Armv7-M ARM (DDI0403E) C1, where the others differ Armv6-M ARM (DDI0419E) C1 and Armv8-M ARM
 * (DDI0553) B12; cross-trigger sheet 3 and 1.4.
 *
 * Must not execute instructions: it says before each one whether it may run.
 */
#include "sim/board_internal.h"

#define REG_DFSR  0xE000ED30u
#define REG_DHCSR 0xE000EDF0u
#define REG_DCRSR 0xE000EDF4u
#define REG_DCRDR 0xE000EDF8u
#define REG_DEMCR 0xE000EDFCu

#define DHCSR_KEY     0xA05Fu
#define DCRSR_WRITE   (1u << 16)
#define DEMCR_KEPT    0x010D07F1u /* VC_*, MON_EN, MON_STEP, MON_REQ, TRCENA; MON_PEND is the exception's */
#define DEMCR_KEPT_V6 0x01000401u /* VC_CORERESET, VC_HARDERR, DWTENA */
#define CFSR_STACKING 0x00001818u /* MUNSTKERR, MSTKERR, UNSTKERR, STKERR */
#define CFSR_STATE    0x00070000u /* UNDEFINSTR, INVSTATE, INVPC */
#define CFSR_NOCP     0x00080000u
#define CFSR_CHECK    0x03100000u /* UNALIGNED, DIVBYZERO, STKOF */
#define HFSR_VECTTBL  0x00000002u

static bool is_v6(const struct board_core *k)
{
    return k->identity->architecture == CPU_V6M;
}

static bool halted(const struct board_core *k)
{
    return (k->cpu.attention & CPU_ATTN_HALTED) != 0;
}

static bool debug_enabled(const struct board_core *k)
{
    return (k->debug.control & DHCSR_C_DEBUGEN) != 0;
}

/* The debug request line: output 0 of the core's CTI, held until it is acknowledged there. */
static bool edbgrq(const struct board_core *k)
{
    return (k->cti.trigout >> BOARD_CTI_OUT_DEBUG_REQUEST & 1u) != 0;
}

static void log_change(struct board_core *k, bool halt, uint32_t dfsr)
{
    struct board_record r = {
        .core = k->number, .halted = halt, .tick = k->board->tick, .pc = k->cpu.r[CPU_PC], .dfsr = dfsr};
    board_list_add(&k->board->log, &r, sizeof(r));
}

static bool monitor_steps(const struct board_core *k)
{
    const uint32_t both = DEMCR_MON_EN | DEMCR_MON_STEP;
    return !debug_enabled(k) && (k->debug.demcr & both) == both;
}

void board_debug_arm(struct board_core *k)
{
    const struct board_debug *g = &k->debug;
    bool on = false;
    if (debug_enabled(k))
        on = edbgrq(k) || g->events || g->step != BOARD_STEP_NONE || (g->control & DHCSR_C_HALT);
    if (debug_enabled(k) || (g->demcr & DEMCR_MON_EN))
        on = on || (k->fpb.enabled && k->fpb.filter);
    on = on || k->dwt.pc_match || monitor_steps(k);
    if (on)
        k->cpu.attention |= CPU_ATTN_DEBUG;
    else
        k->cpu.attention &= ~(uint32_t)CPU_ATTN_DEBUG;
}

static void enter(struct board_core *k, uint32_t reason)
{
    struct board_debug *g = &k->debug;
    /* A core leaves WFI, WFE and lockup when it halts. */
    k->cpu.attention &= ~(uint32_t)(CPU_ATTN_SLEEP | CPU_ATTN_LOCKUP);
    k->cpu.attention |= CPU_ATTN_HALTED;
    g->control |= DHCSR_C_HALT;
    g->events = 0;
    g->step = BOARD_STEP_NONE;
    g->dfsr |= reason;
    g->halted_at = k->board->tick;
    log_change(k, true, reason);
    board_core_rest(k);
    board_debug_arm(k);
    board_cti_halted(k, true);
}

static void apply_mask(struct board_core *k)
{
    const uint32_t both = DHCSR_C_DEBUGEN | DHCSR_C_MASKINTS;
    k->cpu.mask_ints = (k->debug.control & both) == both;
    cpu_update(&k->cpu);
}

static void leave(struct board_core *k)
{
    struct board_debug *g = &k->debug;
    k->cpu.attention &= ~(uint32_t)CPU_ATTN_HALTED;
    g->control &= ~(uint32_t)DHCSR_C_HALT;
    g->restarted = k->identity->architecture == CPU_V8M; /* by a write or by a restart trigger */
    g->step = (g->control & DHCSR_C_STEP) && debug_enabled(k) ? BOARD_STEP_ARMED : BOARD_STEP_NONE;
    log_change(k, false, 0);
    board_core_resume(k);
    board_cti_halted(k, false);
    /* A HALTED trigger that is mapped to the restart and a latched debug request chase each other: each round
     * must cost a cycle, or time would stand still for ever. */
    if (g->halted_at == k->board->tick)
        k->next += k->divider;
    apply_mask(k);
    board_debug_arm(k);
}

bool board_debug_stop(struct board_core *k)
{
    const struct board_debug *g = &k->debug;
    if (!debug_enabled(k))
        return false;
    uint32_t reason = g->events;
    if ((g->control & DHCSR_C_HALT) || (g->step == BOARD_STEP_DONE && !(g->events & DFSR_BKPT)))
        reason |= DFSR_HALTED;
    if (edbgrq(k))
        reason |= DFSR_EXTERNAL;
    if (!reason)
        return false;
    enter(k, reason);
    return true;
}

/* MON_STEP: below DebugMonitor's priority one instruction, or the entry to an exception, then DebugMonitor.
 */
static void step_monitor(struct board_core *k)
{
    bool takes = cpu_would_take(&k->cpu, CPU_EXC_DEBUGMON), stepped = k->debug.monitor_stepped;
    k->debug.monitor_stepped = takes && !stepped;
    if (!takes || !stepped)
        return;
    k->debug.dfsr |= DFSR_HALTED;
    k->cpu.sys_pending |= 1u << CPU_EXC_DEBUGMON;
    cpu_update(&k->cpu);
}

bool board_debug_before(struct board_core *k)
{
    if (monitor_steps(k))
        step_monitor(k);
    /* A pending exception goes first: the instruction at the pc is not executed now. */
    if (!(k->cpu.attention & CPU_ATTN_EXCEPTION)) {
        uint32_t pc = k->cpu.r[CPU_PC];
        if (k->fpb.enabled && board_fpb_match(k, pc) && board_debug_event(k, DFSR_BKPT) &&
            board_debug_stop(k))
            return false;
        if (k->dwt.pc_match)
            board_dwt_pc(k, pc);
    }
    if (k->debug.step == BOARD_STEP_ARMED)
        k->debug.step = BOARD_STEP_DONE;
    return true;
}

bool board_debug_event(struct board_core *k, uint32_t dfsr_bit)
{
    if (debug_enabled(k)) {
        k->debug.events |= dfsr_bit;
        k->cpu.attention |= CPU_ATTN_DEBUG;
        return true;
    }
    if (k->debug.demcr & DEMCR_MON_EN) {
        k->debug.dfsr |= dfsr_bit;
        /* A breakpoint is synchronous and escalates; the others wait until DebugMonitor may be taken. */
        if (dfsr_bit == DFSR_BKPT)
            cpu_pend(&k->cpu, CPU_EXC_DEBUGMON);
        else
            k->cpu.sys_pending |= 1u << CPU_EXC_DEBUGMON;
        cpu_update(&k->cpu);
        return true;
    }
    return false;
}

bool board_debug_bkpt(void *ctx)
{
    /* True for DebugMonitor too: the pc stays on the BKPT and the pending exception is entered from there. */
    return board_debug_event(ctx, DFSR_BKPT);
}

void board_debug_exception(void *ctx, unsigned number)
{
    struct board_core *k = ctx;
    uint32_t caught = 0;
    uint32_t cfsr = k->cpu.cfsr;
    switch (number) {
    case CPU_EXC_HARDFAULT:
        caught = DEMCR_VC_HARDERR;
        break;
    case CPU_EXC_MEMMANAGE:
        caught = DEMCR_VC_MMERR;
        break;
    case CPU_EXC_BUSFAULT:
        caught = DEMCR_VC_BUSERR;
        break;
    case CPU_EXC_USAGEFAULT:
        caught |= cfsr & CFSR_STATE ? DEMCR_VC_STATERR : 0u;
        caught |= cfsr & CFSR_NOCP ? DEMCR_VC_NOCPERR : 0u;
        caught |= cfsr & CFSR_CHECK ? DEMCR_VC_CHKERR : 0u;
        break;
    default:
        return;
    }
    if ((cfsr & CFSR_STACKING) || (k->cpu.hfsr & HFSR_VECTTBL))
        caught |= DEMCR_VC_INTERR;
    if (debug_enabled(k) && (k->debug.demcr & caught))
        board_debug_event(k, DFSR_VCATCH);
}

void board_debug_request(struct board_core *k, bool high)
{
    /* Cross-trigger sheet 3.2: with C_DEBUGEN = 0 the request does not halt: DebugMonitor, or nothing. */
    if (high && !debug_enabled(k))
        board_debug_event(k, DFSR_EXTERNAL);
    board_debug_arm(k);
    board_core_wake(k);
}

void board_debug_restart(struct board_core *k)
{
    /* Clause 10: a core that is not in debug state ignores the restart. Sheet 3.3: it clears C_HALT. */
    if (halted(k))
        leave(k);
}

void board_debug_reset(struct board_core *k, bool power_on)
{
    struct board_debug *g = &k->debug;
    if (power_on)
        *g = (struct board_debug){0};
    g->control &= ~(uint32_t)DHCSR_C_HALT;
    g->step = BOARD_STEP_NONE;
    g->events = 0;
    g->monitor_stepped = false;
    g->reset_request = 0;
    g->reset_seen = true;
    g->retired_seen = k->cpu.instructions;
    if (debug_enabled(k) && (g->demcr & DEMCR_VC_CORERESET))
        g->events = DFSR_VCATCH;
    apply_mask(k);
    board_debug_arm(k);
}

static uint32_t read_dhcsr(struct board_core *k)
{
    struct board_debug *g = &k->debug;
    uint32_t v = g->control | DHCSR_S_REGRDY;
    if (!halted(k)) /* a request that waits for the end of an instruction shows as C_HALT alone */
        v |= (k->cpu.attention & CPU_ATTN_SLEEP ? DHCSR_S_SLEEP : 0u) |
             (k->cpu.attention & CPU_ATTN_LOCKUP ? DHCSR_S_LOCKUP : 0u);
    else
        v |= DHCSR_S_HALT;
    if (k->cpu.instructions != g->retired_seen)
        v |= DHCSR_S_RETIRE_ST;
    if (g->reset_seen)
        v |= DHCSR_S_RESET_ST;
    if (g->restarted)
        v |= DHCSR_S_RESTART_ST;
    g->restarted = false;
    g->retired_seen = k->cpu.instructions;
    g->reset_seen = (k->cpu.attention & CPU_ATTN_RESET) != 0;
    return v;
}

static void write_dhcsr(struct board_core *k, uint32_t value)
{
    struct board_debug *g = &k->debug;
    if (value >> 16 != DHCSR_KEY)
        return;
    /* Only the debugger enables halting debug; a program cannot. */
    uint32_t enable = (k->debugger ? value : g->control) & DHCSR_C_DEBUGEN;
    if (k->board->config.no_debug[k->number]) /* not authenticated: it cannot be enabled */
        enable = 0;
    if (!enable) {
        g->control = 0;
        g->events = 0;
        g->step = BOARD_STEP_NONE;
        if (halted(k))
            leave(k);
        apply_mask(k);
        board_debug_arm(k);
        return;
    }
    g->control |= DHCSR_C_DEBUGEN;
    if (!is_v6(k))
        g->control = (g->control & ~(uint32_t)DHCSR_C_SNAPSTALL) | (value & DHCSR_C_SNAPSTALL);
    if (halted(k)) {
        /* C_STEP and C_MASKINTS are only defined to change in debug state: writes while running are dropped.
         */
        const uint32_t both = DHCSR_C_STEP | DHCSR_C_MASKINTS;
        g->control = (g->control & ~both) | (value & both);
        apply_mask(k);
        if (!(value & DHCSR_C_HALT))
            leave(k);
    } else {
        g->control = (g->control & ~(uint32_t)DHCSR_C_HALT) | (value & DHCSR_C_HALT);
        board_debug_arm(k);
        board_core_wake(k);
    }
}

static void write_dcrsr(struct board_core *k, uint32_t value)
{
    unsigned regsel = value & 0x7Fu;
    if (!halted(k)) /* unpredictable while it runs: nothing happens */
        return;
    bool limit = (regsel == 30 || regsel == 31) && k->identity->architecture == CPU_V8M;
    bool known = regsel <= 18 || regsel == 20 || limit;
    if (!(value & DCRSR_WRITE)) {
        k->debug.dcrdr = known ? cpu_get_register(&k->cpu, regsel) : 0;
    } else if (known) {
        cpu_set_register(&k->cpu, regsel, k->debug.dcrdr);
        cpu_update(&k->cpu);
    }
}

static void write_demcr(struct board_core *k, uint32_t value)
{
    const uint16_t monitor = 1u << CPU_EXC_DEBUGMON;
    k->debug.demcr = value & (is_v6(k) ? DEMCR_KEPT_V6 : DEMCR_KEPT);
    if ((value & DEMCR_MON_PEND) && !is_v6(k))
        k->cpu.sys_pending |= monitor;
    else
        k->cpu.sys_pending &= (uint16_t)~monitor;
    cpu_update(&k->cpu);
    board_dwt_arm(k);
    board_debug_arm(k);
    board_core_wake(k);
}

bool board_debug_read(struct board_core *k, uint32_t address, uint32_t *value)
{
    switch (address) {
    case REG_DFSR:
        *value = k->debug.dfsr;
        return true;
    case REG_DHCSR:
        *value = read_dhcsr(k);
        return true;
    case REG_DCRSR: /* write only */
        *value = 0;
        return true;
    case REG_DCRDR:
        *value = k->debug.dcrdr;
        return true;
    case REG_DEMCR:
        *value = k->debug.demcr | (k->cpu.sys_pending >> CPU_EXC_DEBUGMON & 1u ? DEMCR_MON_PEND : 0u);
        return true;
    default:
        return false;
    }
}

bool board_debug_write(struct board_core *k, uint32_t address, uint32_t value)
{
    switch (address) {
    case REG_DFSR:
        k->debug.dfsr &= ~(value & DFSR_ALL);
        return true;
    case REG_DHCSR:
        write_dhcsr(k, value);
        return true;
    case REG_DCRSR:
        write_dcrsr(k, value);
        return true;
    case REG_DCRDR:
        k->debug.dcrdr = value;
        return true;
    case REG_DEMCR:
        write_demcr(k, value);
        return true;
    default:
        return false;
    }
}
