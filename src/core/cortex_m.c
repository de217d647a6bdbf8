/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Cortex-M core through its debug registers. Cross-trigger sheet 3.1 (registers), 3.2 (rules), 3.3 (what a
 * restart from outside needs), 3.4 (reasons, in their order of preference), 3.5 (proof of a restart).
 *
 * DFSR is read before it is cleared, once for each halt; DHCSR bits that reading clears are gathered. Knows
 * of no other core: the cross triggers are the group's.
 */
#include "core/cortex_m.h"

#include <inttypes.h>
#include <stdlib.h>

#define DHCSR      0xE000EDF0u
#define DCRSR      0xE000EDF4u
#define DCRDR      0xE000EDF8u
#define DEMCR      0xE000EDFCu
#define DFSR       0xE000ED30u
#define DWT_CTRL   0xE0001000u
#define DWT_CYCCNT 0xE0001004u

#define DBGKEY       0xA05F0000u
#define C_DEBUGEN    0x1u
#define C_HALT       0x2u
#define C_STEP       0x4u
#define C_MASKINTS   0x8u
#define S_REGRDY     (1u << 16)
#define S_HALT       (1u << 17)
#define S_SLEEP      (1u << 18)
#define S_LOCKUP     (1u << 19)
#define S_RETIRE_ST  (1u << 24)
#define S_RESET_ST   (1u << 25)
#define S_RESTART_ST (1u << 26)
#define STICKY       (S_RETIRE_ST | S_RESET_ST | S_RESTART_ST)

#define DFSR_HALTED   0x01u
#define DFSR_BKPT     0x02u
#define DFSR_DWTTRAP  0x04u
#define DFSR_VCATCH   0x08u
#define DFSR_EXTERNAL 0x10u
#define DFSR_PMU      0x20u
#define DFSR_ALL      0x3Fu

#define DEMCR_TRCENA     (1u << 24)
#define DWT_CYCCNTENA    1u
#define DWT_NOCYCCNT     (1u << 25)
#define DCRSR_WRITE      (1u << 16)
#define REGISTER_PC      15u
#define REGISTER_LAST    0x7Fu
#define PC_LOCKUP        0xFFFFFFFEu
#define REGISTER_WAIT_NS (10 * NS_PER_MS)
#define CONFIRM_NS       (5 * NS_PER_MS)
#define CONFIRM_TRIES    8
#define STEP_WAIT_NS     (100 * NS_PER_MS)

static enum corral_err write32(struct core *c, uint32_t address, uint32_t value, struct diag *d)
{
    return link_write32(c->link, c->ap, address, value, d);
}

static enum corral_err read_dhcsr(struct core *c, uint32_t *value, struct diag *d)
{
    struct cortex_m *m = c->priv;
    enum corral_err err = link_read32(c->link, c->ap, DHCSR, value, d);
    if (!err)
        m->sticky |= *value & STICKY;
    return err;
}

static enum corral_err request_halt(struct core *c, struct diag *d)
{
    return write32(c, DHCSR, DBGKEY | C_DEBUGEN | C_HALT, d);
}

/* DCRSR, DHCSR and the data in one batch; polls on where the core needs longer. */
static enum corral_err read_register(struct core *c, unsigned number, uint32_t *value, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t select = number, status = 0, data = 0;
    if (number > REGISTER_LAST)
        return diag_set(d, CORRAL_ERR_USAGE, "there is no register %u", number);
    struct link_access batch[] = {
        {.op = LINK_MEM_WRITE, .size = 4, .ap = c->ap, .address = DCRSR, .count = 1, .data = &select},
        {.op = LINK_MEM_READ, .size = 4, .ap = c->ap, .address = DHCSR, .count = 1, .data = &status},
        {.op = LINK_MEM_READ, .size = 4, .ap = c->ap, .address = DCRDR, .count = 1, .data = &data},
    };
    enum corral_err err = link_execute(c->link, batch, 3, d);
    if (err)
        return err;
    m->sticky |= status & STICKY;
    if (!(status & S_HALT))
        return diag_set(d, CORRAL_ERR_CORE_STATE, "registers can only be read while the core is halted");
    struct deadline limit = deadline_in(link_clock(c->link), REGISTER_WAIT_NS);
    for (bool again = !(status & S_REGRDY); again;) {
        if ((err = read_dhcsr(c, &status, d)) || (err = link_read32(c->link, c->ap, DCRDR, &data, d)))
            return err;
        again = !(status & S_REGRDY);
        if (again && deadline_passed(&limit))
            return diag_set(d, CORRAL_ERR_TIMEOUT, "the core did not give register %u in time", number);
    }
    *value = data;
    return CORRAL_OK;
}

static enum corral_err write_register(struct core *c, unsigned number, uint32_t value, struct diag *d)
{
    uint32_t status = 0;
    if (number > REGISTER_LAST)
        return diag_set(d, CORRAL_ERR_USAGE, "there is no register %u", number);
    enum corral_err err = read_dhcsr(c, &status, d);
    if (err)
        return err;
    if (!(status & S_HALT))
        return diag_set(d, CORRAL_ERR_CORE_STATE, "registers can only be written while the core is halted");
    err = write32(c, DCRDR, value, d);
    if (!err)
        err = write32(c, DCRSR, number | DCRSR_WRITE, d);
    struct deadline limit = deadline_in(link_clock(c->link), REGISTER_WAIT_NS);
    while (!err) {
        err = read_dhcsr(c, &status, d);
        if (err || (status & S_REGRDY))
            return err;
        if (deadline_passed(&limit))
            err = diag_set(d, CORRAL_ERR_TIMEOUT, "the core did not take register %u in time", number);
    }
    return err;
}

static enum halt_reason reason_of(const struct cortex_m *m, const struct core_status *status)
{
    uint32_t dfsr = status->dfsr;
    if (m->was_locked_up || (status->pc_known && status->pc >= PC_LOCKUP))
        return HALT_REASON_FAULT;
    if (dfsr & DFSR_VCATCH)
        return HALT_REASON_VECTOR_CATCH;
    if (dfsr & DFSR_DWTTRAP)
        return HALT_REASON_WATCHPOINT;
    if (dfsr & DFSR_BKPT)
        return HALT_REASON_BREAKPOINT;
    if (dfsr & DFSR_PMU) /* a counter overflowed: the nearest there is a name for */
        return HALT_REASON_WATCHPOINT;
    if (dfsr & DFSR_HALTED)
        return m->stepped ? HALT_REASON_STEP : HALT_REASON_REQUEST;
    return dfsr & DFSR_EXTERNAL ? HALT_REASON_CROSS_TRIGGER : HALT_REASON_NONE;
}

static enum corral_err read_state(struct core *c, struct core_status *status, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t dhcsr = 0;
    enum corral_err err = read_dhcsr(c, &dhcsr, d);
    if (!err && (dhcsr & S_RESET_ST) && !(dhcsr & S_HALT))
        err = read_dhcsr(c, &dhcsr, d); /* sticky: set twice means that it is in reset now */
    if (err)
        return err;
    if (dhcsr & S_HALT)
        status->state = CORE_HALTED;
    else if (dhcsr & S_RESET_ST)
        status->state = CORE_RESET;
    else if (dhcsr & S_LOCKUP)
        status->state = CORE_LOCKUP;
    else
        status->state = CORE_RUNNING;
    status->asleep = (dhcsr & S_SLEEP) != 0;
    if (status->state != CORE_HALTED) {
        m->dfsr = 0;
        m->stepped = false;
        m->was_locked_up = status->state == CORE_LOCKUP;
    }
    return CORRAL_OK;
}

static enum corral_err read_reason(struct core *c, bool clear, struct core_status *status, struct diag *d)
{
    struct cortex_m *m = c->priv;
    enum corral_err err = read_state(c, status, d);
    if (err || status->state != CORE_HALTED)
        return err;
    uint32_t dfsr = 0;
    err = link_read32(c->link, c->ap, DFSR, &dfsr, d);
    if (!err && clear && (dfsr & DFSR_ALL))
        err = write32(c, DFSR, dfsr & DFSR_ALL, d);
    if (err)
        return err;
    status->dfsr = m->dfsr | (dfsr & DFSR_ALL);
    if (clear)
        m->dfsr = status->dfsr;
    err = read_register(c, REGISTER_PC, &status->pc, d);
    status->pc_known = !err;
    status->reason = reason_of(m, status);
    return err;
}

static enum corral_err read_status(struct core *c, bool reason, struct core_status *status, struct diag *d)
{
    return reason ? read_reason(c, true, status, d) : read_state(c, status, d);
}

static enum corral_err peek_status(struct core *c, struct core_status *status, struct diag *d)
{
    return read_reason(c, false, status, d);
}

/* One instruction with interrupts masked (sheet 3.2): MASKINTS changes in an access of its own, while halted.
 */
static enum corral_err step_once(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    enum corral_err err = write32(c, DHCSR, DBGKEY | C_DEBUGEN | C_HALT | C_MASKINTS, d);
    if (!err)
        err = write32(c, DFSR, DFSR_ALL, d);
    if (!err)
        err = write32(c, DHCSR, DBGKEY | C_DEBUGEN | C_STEP | C_MASKINTS, d);
    m->dfsr = 0;
    m->was_locked_up = false;
    if (!err)
        err = core_wait_halted(c, STEP_WAIT_NS, d);
    m->stepped = true;
    /* Leave neither C_STEP nor C_MASKINTS behind, whatever happened. */
    enum corral_err after = write32(c, DHCSR, DBGKEY | C_DEBUGEN | C_HALT, err ? NULL : d);
    return err ? err : after;
}

static enum corral_err require_halted(struct core *c, const char *what, uint32_t *dhcsr, struct diag *d)
{
    enum corral_err err = read_dhcsr(c, dhcsr, d);
    if (!err && !(*dhcsr & S_HALT))
        err = diag_set(d, CORRAL_ERR_CORE_STATE, "the core cannot %s: it is not halted", what);
    return err;
}

/* Step off one of our own breakpoints, or it would be hit again at once. */
static enum corral_err step_over(struct core *c, uint32_t pc, struct diag *d)
{
    enum corral_err err = cortex_m_enable_breakpoint(c, pc, false, d);
    if (err)
        return err;
    err = step_once(c, d);
    enum corral_err after = cortex_m_enable_breakpoint(c, pc, true, err ? NULL : d);
    return err ? err : after;
}

static enum corral_err step(struct core *c, struct diag *d)
{
    uint32_t dhcsr = 0, pc = 0;
    enum corral_err err = require_halted(c, "step", &dhcsr, d);
    if (!err)
        err = read_register(c, REGISTER_PC, &pc, d);
    if (err)
        return err;
    return cortex_m_has_breakpoint(c, pc) ? step_over(c, pc, d) : step_once(c, d);
}

static bool has_breakpoints(const struct cortex_m *m)
{
    for (unsigned i = 0; i < m->fpb.count; i++)
        if (m->fpb.used[i])
            return true;
    return false;
}

/* Get past what would stop the core again where it stands. */
static enum corral_err leave_breakpoint(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t pc = 0;
    uint16_t opcode = 0;
    bool on_bkpt = (m->dfsr & DFSR_BKPT) != 0;
    if (!on_bkpt && !has_breakpoints(m))
        return CORRAL_OK;
    enum corral_err err = read_register(c, REGISTER_PC, &pc, d);
    if (err)
        return err;
    if (cortex_m_has_breakpoint(c, pc))
        return step_over(c, pc, d);
    if (!on_bkpt)
        return CORRAL_OK;
    uint8_t bytes[2] = {0};
    if (link_read_bytes(c->link, c->ap, pc & ~1u, bytes, sizeof(bytes), NULL))
        return CORRAL_OK; /* not readable: then it is not an instruction to skip */
    opcode = (uint16_t)(bytes[0] | bytes[1] << 8);
    return (opcode & 0xFF00) == 0xBE00 ? write_register(c, REGISTER_PC, pc + 2, d) : CORRAL_OK;
}

static enum corral_err prepare_run(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t dhcsr = 0, dfsr = 0;
    enum corral_err err = require_halted(c, "be started", &dhcsr, d);
    if (!err)
        err = link_read32(c->link, c->ap, DFSR, &dfsr, d);
    m->dfsr |= dfsr & DFSR_ALL;
    if (!err)
        err = leave_breakpoint(c, d);
    if (!err && (dhcsr & (C_STEP | C_MASKINTS)))
        err = write32(c, DHCSR, DBGKEY | C_DEBUGEN | C_HALT, d);
    if (!err)
        err = write32(c, DFSR, DFSR_ALL, d);
    /* Reading DHCSR last clears its sticky bits, so that what shows from now on is the restart's. */
    if (!err)
        err = read_dhcsr(c, &dhcsr, d);
    m->sticky = 0;
    m->dfsr = 0;
    m->stepped = false;
    m->was_locked_up = false;
    return err;
}

static enum corral_err resume(struct core *c, struct diag *d)
{
    return write32(c, DHCSR, DBGKEY | C_DEBUGEN, d);
}

static enum corral_err confirm_run(struct core *c, bool *restarted, struct diag *d)
{
    struct cortex_m *m = c->priv;
    struct deadline limit = deadline_in(link_clock(c->link), CONFIRM_NS);
    *restarted = false;
    for (unsigned i = 0;; i++) {
        uint32_t dhcsr = 0, dfsr = 0;
        enum corral_err err = read_dhcsr(c, &dhcsr, d);
        if (err)
            return err;
        if (!(dhcsr & S_HALT) || (m->sticky & (S_RESTART_ST | S_RETIRE_ST))) {
            *restarted = true;
            return CORRAL_OK;
        }
        /* Halted: again, if there is a new reason. */
        err = link_read32(c->link, c->ap, DFSR, &dfsr, d);
        if (err)
            return err;
        if (dfsr & DFSR_ALL) {
            *restarted = true;
            return CORRAL_OK;
        }
        if (i + 1 >= CONFIRM_TRIES || deadline_passed(&limit))
            return CORRAL_OK;
    }
}

static enum corral_err read_cycles(struct core *c, uint32_t *cycles, struct diag *d)
{
    uint32_t demcr = 0, ctrl = 0;
    enum corral_err err = link_read32(c->link, c->ap, DEMCR, &demcr, d);
    if (!err && !(demcr & DEMCR_TRCENA))
        err = write32(c, DEMCR, demcr | DEMCR_TRCENA, d);
    if (!err)
        err = link_read32(c->link, c->ap, DWT_CTRL, &ctrl, d);
    if (err)
        return err;
    if (ctrl & DWT_NOCYCCNT)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "the core has no cycle counter");
    if (!(ctrl & DWT_CYCCNTENA))
        err = write32(c, DWT_CTRL, ctrl | DWT_CYCCNTENA, d);
    return err ? err : link_read32(c->link, c->ap, DWT_CYCCNT, cycles, d);
}

static void free_cortex_m(struct core *c)
{
    free(c->priv);
}

static const struct core_ops cortex_m_ops = {
    .type = "cortex-m",
    .request_halt = request_halt,
    .read_status = read_status,
    .prepare_run = prepare_run,
    .resume = resume,
    .confirm_run = confirm_run,
    .step = step,
    .read_register = read_register,
    .write_register = write_register,
    .set_breakpoint = cortex_m_set_breakpoint,
    .clear_breakpoint = cortex_m_clear_breakpoint,
    .read_cycles = read_cycles,
    .free = free_cortex_m,
    .peek_status = peek_status,
};

struct core *core_cortex_m_open(struct link *link, uint32_t ap, const char *name, uint32_t hz,
                                struct cti *cti, struct diag *d)
{
    struct core *c = core_alloc(link, ap, name, hz, cti);
    struct cortex_m *m = calloc(1, sizeof(*m));
    uint32_t dhcsr = 0;
    if (!c || !m) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        free(m);
        free(c);
        return NULL;
    }
    c->ops = &cortex_m_ops;
    c->priv = m;
    enum corral_err err = read_dhcsr(c, &dhcsr, d);
    /* Halting debug on, without halting. A core that another tool has halted stays as it is. */
    if (!err && !(dhcsr & C_DEBUGEN))
        err = write32(c, DHCSR, DBGKEY | C_DEBUGEN, d);
    if (!err)
        return c;
    free(m);
    free(c); /* not core_close: `cti` stays the caller's on failure */
    return NULL;
}
