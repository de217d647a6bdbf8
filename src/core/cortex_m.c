/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Cortex-M core (v6-M, v7-M, v8-M) through its debug registers: state, halt, step, restart. Cross-trigger
 * sheet 3.1 (registers), 3.2 (rules), 3.3 (what a restart from outside needs), 3.4 (reasons, in their order
 * of preference), 3.5 (proof of a restart).
 *
 * DFSR is read before it is cleared, once for each halt; DHCSR bits that reading clears are gathered. A core
 * that cannot be reached is a state of it, not a failure. Knows of no other core: the cross triggers are the
 * group's.
 */
#include "core/cortex_m.h"

#include <inttypes.h>
#include <stdlib.h>

#define STICKY (S_RETIRE_ST | S_RESET_ST | S_RESTART_ST)

#define AP_CSW       0x00u
#define AP_CSW_V6    0xD00u /* from the base of an ADIv6 access port */
#define AP_V5_LAST   0xFFu
#define CSW_DEVICEEN (1u << 6)

#define PC_LOCKUP     0xFFFFFFFEu
#define OPCODE_BKPT   0xBE00u
#define OPCODE_MASK   0xFF00u
#define IPSR_MASK     0x1FFu
#define FIRST_MASKED  14u /* PendSV; then SysTick and the interrupts */
#define CONFIRM_NS    (5 * NS_PER_MS)
#define CONFIRM_TRIES 8
#define STEP_WAIT_NS  (100 * NS_PER_MS)

enum corral_err cortex_m_write32(struct core *c, uint32_t address, uint32_t value, struct diag *d)
{
    struct cortex_m *m = c->priv;
    m->look.known = false;
    return link_write32(c->link, c->ap, address, value, d);
}

void cortex_m_note_dhcsr(struct cortex_m *m, uint32_t value)
{
    m->sticky |= value & STICKY;
    m->dfsr_clear &= (value & S_HALT) && !(value & STICKY);
    bool reset = (value & S_RESET_ST) != 0;
    if (reset && !m->in_reset) {
        m->resets++;
        m->rearm = true;
    }
    m->in_reset = reset;
}

enum corral_err cortex_m_read_dhcsr(struct core *c, uint32_t *value, struct diag *d)
{
    struct cortex_m *m = c->priv;
    m->look.known = false;
    enum corral_err err = link_read32(c->link, c->ap, CORTEX_M_DHCSR, value, d);
    if (!err)
        cortex_m_note_dhcsr(m, *value);
    return err;
}

/* As seen by core_look, where that was. */
static enum corral_err seen_dhcsr(struct core *c, uint32_t *value, struct diag *d)
{
    const struct cortex_m *m = c->priv;
    if (!m->look.known)
        return cortex_m_read_dhcsr(c, value, d);
    *value = m->look.dhcsr;
    return CORRAL_OK;
}

/* The registers as they are now are what detach puts back. Halting debug on, without halting: a core that
 * another tool has halted stays as it is. */
static enum corral_err attach(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t dhcsr = 0, demcr = 0;
    enum corral_err err = cortex_m_read_dhcsr(c, &dhcsr, d);
    if (!err)
        err = link_read32(c->link, c->ap, CORTEX_M_DEMCR, &demcr, d);
    if (!err && !(dhcsr & C_DEBUGEN))
        err = cortex_m_write32(c, CORTEX_M_DHCSR, DBGKEY | C_DEBUGEN, d);
    if (err)
        return err;
    m->found.dhcsr = dhcsr;
    m->found.demcr = demcr;
    m->found.halted = m->found_in_halt = (dhcsr & S_HALT) != 0;
    m->found.known = true;
    m->resets = 0; /* those before do not count */
    m->rearm = false;
    return CORRAL_OK;
}

/* What an access that the target refused says of the core. False: it says nothing, and is a failure. */
static bool is_out_of_reach(struct core *c, enum corral_err err, struct core_status *status)
{
    uint32_t csw = 0;
    if (link_deadline_passed(c->link))
        return false;
    switch (err) {
    case CORRAL_ERR_LINK_FAULT:
        status->state = CORE_UNPOWERED;
        status->why = CORE_WHY_NO_POWER;
        /* An access port that is disabled faults, too. */
        if ((link_caps(c->link) & LINK_CAP_DAP) &&
            link_read_ap(c->link, c->ap, c->ap > AP_V5_LAST ? AP_CSW_V6 : AP_CSW, &csw, NULL) == CORRAL_OK &&
            !(csw & CSW_DEVICEEN)) {
            status->state = CORE_UNKNOWN;
            status->why = CORE_WHY_DEBUG_DISABLED;
        }
        return true;
    case CORRAL_ERR_LINK_WAIT:
        status->state = CORE_UNKNOWN;
        status->why = CORE_WHY_NO_CLOCK;
        return true;
    case CORRAL_ERR_NO_AP:
        status->state = CORE_UNKNOWN;
        status->why = CORE_WHY_NO_POWER;
        return true;
    default:
        return false;
    }
}

static enum corral_err request_halt(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    struct core_status status = {0};
    struct diag why = DIAG_INIT;
    enum corral_err err = m->found.known ? CORRAL_OK : attach(c, &why);
    if (!err)
        err = cortex_m_write32(c, CORTEX_M_DHCSR, DBGKEY | C_DEBUGEN | C_HALT, &why);
    if (err && is_out_of_reach(c, err, &status)) {
        diag_set(d, CORRAL_ERR_CORE_NO_HALT, "%s cannot be halted: it is %s", c->name,
                 core_why_text(status.why));
        diag_hint(d, "%s", why.message);
        return CORRAL_ERR_CORE_NO_HALT;
    }
    if (err && d)
        *d = why;
    m->dfsr_clear = false;
    if (!err) {
        m->halt_asked = true;
        m->detached = false;
    }
    return err;
}

static enum corral_err attach_again(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    struct core_status status = {0};
    m->detached = m->disabled = false;
    m->found.known = false;
    struct diag why = DIAG_INIT;
    enum corral_err err = attach(c, &why);
    if (err && is_out_of_reach(c, err, &status))
        return CORRAL_OK; /* attached to once it can be reached */
    if (err && d)
        *d = why;
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

/* Halting debug went off: with the power, or because somebody else let go. Once more, and if it does not
 * stick, it is not allowed. */
static enum corral_err enable_debug(struct core *c, uint32_t *dhcsr, struct diag *d)
{
    struct cortex_m *m = c->priv;
    enum corral_err err = cortex_m_write32(c, CORTEX_M_DHCSR, DBGKEY | C_DEBUGEN, d);
    if (!err)
        err = cortex_m_read_dhcsr(c, dhcsr, d);
    if (!err)
        m->disabled = !(*dhcsr & C_DEBUGEN);
    return err;
}

static void take_state(struct cortex_m *m, uint32_t dhcsr, struct core_status *status)
{
    if (dhcsr & S_HALT) {
        status->state = CORE_HALTED;
    } else if (dhcsr & S_RESET_ST) {
        status->state = CORE_RESET;
        status->why = CORE_WHY_IN_RESET;
    } else if (dhcsr & S_LOCKUP) {
        status->state = CORE_LOCKUP;
        status->why = CORE_WHY_LOCKUP;
    } else {
        status->state = CORE_RUNNING;
    }
    status->asleep = (dhcsr & S_SLEEP) != 0;
    status->debug_enabled = (dhcsr & C_DEBUGEN) != 0;
    if (status->state == CORE_RUNNING && m->disabled)
        status->why = CORE_WHY_DEBUG_DISABLED;
    else if (status->state == CORE_RUNNING && status->asleep && m->halt_asked)
        status->why = CORE_WHY_NO_CLOCK; /* a sleeping core with a clock halts when it is asked to */
    if (status->state == CORE_HALTED) {
        m->halt_asked = false;
        return;
    }
    m->dfsr = 0;
    m->stepped = m->false_halt = m->false_judged = m->found_in_halt = false;
    m->was_locked_up = status->state == CORE_LOCKUP;
}

/* `look_only`: writes nothing. */
static enum corral_err read_state(struct core *c, bool look_only, struct core_status *status, struct diag *d)
{
    struct cortex_m *m = c->priv;
    struct diag why = DIAG_INIT;
    uint32_t dhcsr = 0;
    enum corral_err err = m->found.known || look_only ? CORRAL_OK : attach(c, &why);
    if (!err)
        err = look_only ? cortex_m_read_dhcsr(c, &dhcsr, &why) : seen_dhcsr(c, &dhcsr, &why);
    if (!err && (dhcsr & S_RESET_ST) && !(dhcsr & S_HALT))
        err = cortex_m_read_dhcsr(c, &dhcsr, &why); /* sticky: set twice means that it is in reset now */
    if (!err && (dhcsr & C_DEBUGEN))
        m->disabled = false;
    else if (!err && !look_only && !m->detached && !m->disabled && !(dhcsr & S_RESET_ST))
        err = enable_debug(c, &dhcsr, &why);
    status->resets = m->resets;
    if (!err) {
        take_state(m, dhcsr, status);
    } else if (!is_out_of_reach(c, err, status)) {
        if (d)
            *d = why;
        return err;
    }
    status->resets = m->resets;
    return CORRAL_OK;
}

/* Set the comparators again that a reset took away. */
static enum corral_err rearm(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    if (!m->rearm)
        return CORRAL_OK;
    enum corral_err err = cortex_m_rearm_fpb(c, d);
    if (!err)
        err = cortex_m_rearm_dwt(c, d);
    m->rearm = err != CORRAL_OK;
    return err;
}

static bool read_opcode(struct core *c, uint32_t pc, uint16_t *opcode)
{
    uint8_t bytes[2] = {0};
    if (link_read_bytes(c->link, c->ap, pc & ~1u, bytes, sizeof(bytes), NULL))
        return false; /* not readable: then it is no instruction to look at */
    *opcode = (uint16_t)(bytes[0] | bytes[1] << 8);
    return true;
}

static bool is_ours(const struct core *c, uint32_t pc)
{
    return cortex_m_has_breakpoint(c, pc) || cortex_m_has_patch(c, pc);
}

/* Erratum 3092511 of the Cortex-M7: it says breakpoint, and stands where there is none. Looked into once a
 * halt, since the breakpoint may be taken away while the core stands on it. */
static enum corral_err judge_breakpoint(struct core *c, const struct core_status *status, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint16_t opcode = 0;
    bool there = false;
    uint32_t others = status->dfsr & (DFSR_DWTTRAP | DFSR_VCATCH | DFSR_HALTED | DFSR_EXTERNAL);
    if (m->false_judged || !(status->dfsr & DFSR_BKPT) || others || m->was_locked_up)
        return CORRAL_OK;
    enum corral_err err = cortex_m_identify(c, d);
    if (!err && cortex_m_is_m7(m) && !is_ours(c, status->pc)) {
        err = cortex_m_comparator_at(c, status->pc, &there, d);
        if (!there && read_opcode(c, status->pc, &opcode))
            there = (opcode & OPCODE_MASK) == OPCODE_BKPT;
        m->false_halt = !err && !there;
    }
    m->false_judged = !err;
    return err;
}

static enum corral_err read_reason(struct core *c, bool clear, struct core_status *status, struct diag *d)
{
    struct cortex_m *m = c->priv;
    enum corral_err err = read_state(c, !clear, status, d);
    if (err || status->state != CORE_HALTED)
        return err;
    uint32_t dfsr = 0;
    err = link_read32(c->link, c->ap, CORTEX_M_DFSR, &dfsr, d);
    if (!err && clear && (dfsr & DFSR_ALL))
        err = cortex_m_write32(c, CORTEX_M_DFSR, dfsr & DFSR_ALL, d);
    if (err)
        return err;
    status->dfsr = m->dfsr | (dfsr & DFSR_ALL);
    if (clear)
        m->dfsr = status->dfsr;
    /* A debug request that is held may set it again: then it is cleared once more before the restart. */
    if (clear)
        m->dfsr_clear = !c->cti || !cti_engaged(c->cti);
    err = cortex_m_read_register(c, CORE_REGISTER_PC, &status->pc, d);
    status->pc_known = !err;
    status->reason = reason_of(m, status);
    if (!err)
        err = judge_breakpoint(c, status, d);
    status->false_halt = m->false_halt;
    return err || !clear ? err : rearm(c, d);
}

static enum corral_err read_status(struct core *c, bool reason, struct core_status *status, struct diag *d)
{
    return reason ? read_reason(c, true, status, d) : read_state(c, false, status, d);
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
    enum corral_err err = cortex_m_write32(c, CORTEX_M_DHCSR, DBGKEY | C_DEBUGEN | C_HALT | C_MASKINTS, d);
    if (!err)
        err = cortex_m_write32(c, CORTEX_M_DFSR, DFSR_ALL, d);
    if (!err)
        err = cortex_m_write32(c, CORTEX_M_DHCSR, DBGKEY | C_DEBUGEN | C_STEP | C_MASKINTS, d);
    m->dfsr = 0;
    m->dfsr_clear = false;
    m->was_locked_up = m->false_halt = m->false_judged = m->found_in_halt = false;
    if (!err)
        err = core_wait_halted(c, STEP_WAIT_NS, d);
    m->stepped = true;
    /* Leave neither C_STEP nor C_MASKINTS behind, whatever happened. */
    enum corral_err after = cortex_m_write32(c, CORTEX_M_DHCSR, DBGKEY | C_DEBUGEN | C_HALT, err ? NULL : d);
    return err ? err : after;
}

static enum corral_err require_halted(struct core *c, const char *what, uint32_t *dhcsr, struct diag *d)
{
    enum corral_err err = seen_dhcsr(c, dhcsr, d);
    if (!err && !(*dhcsr & S_HALT))
        err = diag_set(d, CORRAL_ERR_CORE_STATE, "the core cannot %s: it is not halted", what);
    return err;
}

static enum corral_err enable_breakpoint(struct core *c, uint32_t pc, bool on, struct diag *d)
{
    if (cortex_m_has_breakpoint(c, pc))
        return cortex_m_enable_breakpoint(c, pc, on, d);
    return cortex_m_enable_patch(c, pc, on, d);
}

/* Step off one of our own breakpoints, or it would be hit again at once. */
static enum corral_err step_over(struct core *c, uint32_t pc, struct diag *d)
{
    enum corral_err err = enable_breakpoint(c, pc, false, d);
    if (err)
        return err;
    err = step_once(c, d);
    enum corral_err after = enable_breakpoint(c, pc, true, err ? NULL : d);
    return err ? err : after;
}

/* Cortex-M7 r0p0 and r0p1: a step may take an interrupt in spite of C_MASKINTS. */
static bool steps_into_interrupts(const struct cortex_m *m)
{
    return cortex_m_is_m7(m) && m->info.revision == 0 && m->info.patch <= 1;
}

static enum corral_err step(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t dhcsr = 0, pc = 0, before = 0, after = 0;
    uint16_t opcode = 0;
    enum corral_err err = require_halted(c, "step", &dhcsr, d);
    if (!err)
        err = cortex_m_identify(c, d);
    if (!err)
        err = cortex_m_read_register(c, CORE_REGISTER_PC, &pc, d);
    if (err)
        return err;
    if (is_ours(c, pc))
        return step_over(c, pc, d);
    if (read_opcode(c, pc, &opcode) && (opcode & OPCODE_MASK) == OPCODE_BKPT) {
        /* It would stop on the same instruction again: the step is to go past it. */
        err = cortex_m_write_register(c, CORE_REGISTER_PC, pc + 2, d);
        if (!err)
            err = cortex_m_write32(c, CORTEX_M_DFSR, DFSR_ALL, d);
        m->dfsr = DFSR_HALTED;
        m->stepped = true;
        m->was_locked_up = m->false_halt = m->found_in_halt = false;
        return err;
    }
    if (!steps_into_interrupts(m))
        return step_once(c, d);
    err = cortex_m_read_register(c, CORE_REGISTER_XPSR, &before, d);
    if (!err)
        err = step_once(c, d);
    if (!err)
        err = cortex_m_read_register(c, CORE_REGISTER_XPSR, &after, d);
    after &= IPSR_MASK;
    if (!err && after >= FIRST_MASKED && after != (before & IPSR_MASK))
        m->false_halt = m->false_judged = true;
    return err;
}

static bool has_breakpoints(const struct cortex_m *m)
{
    for (unsigned i = 0; i < m->fpb.count && i < CORTEX_M_MAX_BREAKPOINTS; i++)
        if (m->fpb.used[i])
            return true;
    for (unsigned i = 0; i < CORTEX_M_MAX_PATCHES; i++)
        if (m->patch[i].used)
            return true;
    return false;
}

/* Get past what would stop the core again where it stands. */
static enum corral_err leave_breakpoint(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t pc = 0;
    uint16_t opcode = 0;
    /* Who halted it before we came may have taken the reason away. A core that was only asked to halt in
     * front of a BKPT must not be made to miss it. */
    bool on_bkpt = (m->dfsr & DFSR_BKPT) != 0 || (m->found_in_halt && m->dfsr == 0);
    if (!on_bkpt && !has_breakpoints(m))
        return CORRAL_OK;
    enum corral_err err = cortex_m_read_register(c, CORE_REGISTER_PC, &pc, d);
    if (err)
        return err;
    if (is_ours(c, pc))
        return step_over(c, pc, d);
    if (on_bkpt && read_opcode(c, pc, &opcode) && (opcode & OPCODE_MASK) == OPCODE_BKPT)
        return cortex_m_write_register(c, CORE_REGISTER_PC, pc + 2, d);
    return CORRAL_OK;
}

static enum corral_err clear_reasons(struct core *c, struct diag *d)
{
    uint32_t all = DFSR_ALL, dhcsr = 0;
    struct link_access batch[] = {
        {.op = LINK_MEM_WRITE, .size = 4, .ap = c->ap, .address = CORTEX_M_DFSR, .count = 1, .data = &all},
        {.op = LINK_MEM_READ, .size = 4, .ap = c->ap, .address = CORTEX_M_DHCSR, .count = 1, .data = &dhcsr},
    };
    enum corral_err err = link_execute(c->link, batch, 2, d);
    if (!err)
        cortex_m_note_dhcsr(c->priv, dhcsr);
    return err;
}

enum corral_err cortex_m_prepare_run(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t dhcsr = 0, dfsr = 0;
    enum corral_err err = require_halted(c, "be started", &dhcsr, d);
    if (!err)
        err = cortex_m_identify(c, d); /* how its restart is proven depends on it */
    if (!err && !m->dfsr_clear)
        err = link_read32(c->link, c->ap, CORTEX_M_DFSR, &dfsr, d);
    m->dfsr |= dfsr & DFSR_ALL;
    if (!err)
        err = rearm(c, d);
    if (!err)
        err = leave_breakpoint(c, d);
    m->dfsr_clear &= !(dhcsr & (C_STEP | C_MASKINTS));
    if (!err && (dhcsr & (C_STEP | C_MASKINTS)))
        err = cortex_m_write32(c, CORTEX_M_DHCSR, DBGKEY | C_DEBUGEN | C_HALT, d);
    /* DHCSR last: reading it clears its sticky bits, so that what shows from now on is the restart's. Where
     * that has been done since the halt, and the core did not move, it is so still. */
    if (!err && !m->dfsr_clear)
        err = clear_reasons(c, d);
    m->look.known = m->dfsr_clear = false;
    m->sticky = 0;
    m->dfsr = 0;
    m->stepped = m->was_locked_up = m->false_halt = m->false_judged = m->found_in_halt = false;
    return err;
}

static enum corral_err resume(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    m->halt_asked = m->detached = m->dfsr_clear = false;
    return cortex_m_write32(c, CORTEX_M_DHCSR, DBGKEY | C_DEBUGEN, d);
}

static void forget_look(struct core *c)
{
    struct cortex_m *m = c->priv;
    m->look.known = false;
}

/*
 * DHCSR of each core in one batch of the link; with `started`, each is first made to leave debug state, all
 * of them before the first is looked at. What does not come through is found out by who asks that core.
 */
static void look(struct core *const *cores, size_t count, struct core_start *started)
{
    uint32_t dhcsr[CORTEX_M_LOOK] = {0}, go = DBGKEY | C_DEBUGEN;
    struct link_access batch[2 * CORTEX_M_LOOK];
    size_t writes = started ? count : 0;
    struct diag why = DIAG_INIT;
    for (size_t i = 0; i < writes; i++)
        batch[i] = (struct link_access){.op = LINK_MEM_WRITE,
                                        .size = 4,
                                        .ap = cores[i]->ap,
                                        .address = CORTEX_M_DHCSR,
                                        .count = 1,
                                        .data = &go};
    /* The other way round: the access port selected last is the first to be read, and the first one last. */
    for (size_t i = 0; i < count; i++)
        batch[writes + i] = (struct link_access){.op = LINK_MEM_READ,
                                                 .size = 4,
                                                 .ap = cores[count - 1 - i]->ap,
                                                 .address = CORTEX_M_DHCSR,
                                                 .count = 1,
                                                 .data = &dhcsr[count - 1 - i]};
    for (size_t i = 0; i < count; i++) {
        struct cortex_m *m = cores[i]->priv;
        m->look.known = false;
        if (writes)
            m->halt_asked = m->detached = m->dfsr_clear = false;
    }
    link_execute(cores[0]->link, batch, writes + count, &why);
    for (size_t i = 0; i < count; i++) {
        struct cortex_m *m = cores[i]->priv;
        m->look.known = batch[writes + count - 1 - i].status == CORRAL_OK;
        m->look.dhcsr = dhcsr[i];
        if (m->look.known)
            cortex_m_note_dhcsr(m, dhcsr[i]);
        if (!writes)
            continue;
        started[i].done = batch[i].status != CORRAL_ERR_INTERRUPTED;
        started[i].err = started[i].done ? batch[i].status : CORRAL_OK;
        started[i].why = why;
    }
}

/* Does what has been seen prove that the core left debug state, though it is halted? (sheet 3.5) */
static bool proves_restart(const struct cortex_m *m, uint32_t dfsr)
{
    if (m->info.has_restart_flag) /* the one proof: instructions may retire, and DFSR be set, without it */
        return (m->sticky & S_RESTART_ST) != 0;
    return (m->sticky & (S_RESTART_ST | S_RETIRE_ST)) != 0 || (dfsr & DFSR_ALL) != 0;
}

static enum corral_err confirm_run(struct core *c, bool *restarted, struct diag *d)
{
    struct cortex_m *m = c->priv;
    struct deadline limit = deadline_in(link_clock(c->link), CONFIRM_NS);
    *restarted = false;
    for (unsigned i = 0;; i++) {
        uint32_t dhcsr = 0, dfsr = 0;
        struct diag why = DIAG_INIT;
        enum corral_err err = i ? cortex_m_read_dhcsr(c, &dhcsr, &why) : seen_dhcsr(c, &dhcsr, &why);
        if (!err && (dhcsr & S_HALT)) /* again, if there is a new reason */
            err = link_read32(c->link, c->ap, CORTEX_M_DFSR, &dfsr, &why);
        if (err == CORRAL_ERR_LINK_WAIT && !link_deadline_passed(c->link)) {
            *restarted = true; /* in debug state it had a clock: it ran into a sleep without one (A11) */
            return CORRAL_OK;
        }
        if (err && d)
            *d = why;
        if (err)
            return err;
        if (!(dhcsr & S_HALT) || proves_restart(m, dfsr)) {
            *restarted = true;
            m->halt_asked = false;
            return CORRAL_OK;
        }
        if (i + 1 >= CONFIRM_TRIES || deadline_passed(&limit))
            return CORRAL_OK;
    }
}

static void free_cortex_m(struct core *c)
{
    free(c->priv);
}

static const struct core_ops cortex_m_ops = {
    .type = "cortex-m",
    .request_halt = request_halt,
    .read_status = read_status,
    .prepare_run = cortex_m_prepare_run,
    .resume = resume,
    .confirm_run = confirm_run,
    .step = step,
    .read_register = cortex_m_read_register,
    .read_registers = cortex_m_read_registers,
    .look = look,
    .forget_look = forget_look,
    .write_register = cortex_m_write_register,
    .set_breakpoint = cortex_m_set_breakpoint,
    .clear_breakpoint = cortex_m_clear_breakpoint,
    .read_cycles = cortex_m_read_cycles,
    .free = free_cortex_m,
    .peek_status = peek_status,
    .screen = cortex_m_screen,
    .attach = attach_again,
    .reset = cortex_m_reset,
    .expect_reset = cortex_m_expect_reset,
    .was_reset = cortex_m_was_reset,
    .vector_catch = cortex_m_vector_catch,
    .detach = cortex_m_detach,
    .info = cortex_m_info,
    .registers = cortex_m_registers,
    .set_watchpoint = cortex_m_set_watchpoint,
    .clear_watchpoint = cortex_m_clear_watchpoint,
};

struct core *core_cortex_m_open(struct link *link, uint32_t ap, const char *name, uint32_t hz,
                                struct cti *cti, struct diag *d)
{
    struct diag why = DIAG_INIT;
    struct core_status status = {0};
    struct core *c = core_alloc(link, ap, name, hz, cti);
    struct cortex_m *m = calloc(1, sizeof(*m));
    if (!c || !m) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        free(m);
        free(c);
        return NULL;
    }
    c->ops = &cortex_m_ops;
    c->priv = m;
    enum corral_err err = attach(c, &why);
    /* A core without power or clock may come to life later. */
    if (!err || is_out_of_reach(c, err, &status))
        return c;
    if (d)
        *d = why;
    free(m);
    free(c); /* not core_close: `cti` stays the caller's on failure */
    return NULL;
}
