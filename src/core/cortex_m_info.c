/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kind of core it is, reset, and leaving it as it was found. Cross-trigger sheet 3.1; cases A24 and A25
 * (its cross triggers are the group's to take down first: nothing here touches a CTI).
 */
#include "core/cortex_m.h"

#define CPUID    0xE000ED00u
#define ID_PFR1  0xE000ED44u
#define MVFR0    0xE000EF40u
#define DEVARCH  0xE000EFBCu
#define SCS_V8   0x2A04u /* ARCHID */
#define AIRCRKEY 0x05FA0000u

#define AIRCR_KEPT      0x7708u /* PRIS, BFHFNMINS, PRIGROUP, SYSRESETREQS */
#define SYSRESETREQ     4u
#define VECTRESET       1u
#define RESET_WAIT_NS   (100 * NS_PER_MS)
#define RESET_POLL_NS   (NS_PER_MS / 2)
#define RUN_AGAIN_TRIES 4

static const struct {
    uint16_t implementer, part;
    enum core_arch arch;
    const char *name;
} parts[] = {
    {0x41, 0xC20, CORE_ARCH_V6M, "Cortex-M0"},        {0x41, 0xC21, CORE_ARCH_V6M, "Cortex-M1"},
    {0x41, 0xC60, CORE_ARCH_V6M, "Cortex-M0+"},       {0x41, 0xC30, CORE_ARCH_V6M, "SC000"},
    {0x41, 0xC23, CORE_ARCH_V7M, "Cortex-M3"},        {0x41, 0xC24, CORE_ARCH_V7M, "Cortex-M4"},
    {0x41, 0xC27, CORE_ARCH_V7M, "Cortex-M7"},        {0x41, 0xC33, CORE_ARCH_V7M, "SC300"},
    {0x41, 0xD20, CORE_ARCH_V8M_BASE, "Cortex-M23"},  {0x41, 0xD21, CORE_ARCH_V8M_MAIN, "Cortex-M33"},
    {0x41, 0xD22, CORE_ARCH_V8M_MAIN, "Cortex-M55"},  {0x41, 0xD23, CORE_ARCH_V8M_MAIN, "Cortex-M85"},
    {0x41, 0xD24, CORE_ARCH_V8M_MAIN, "Cortex-M52"},  {0x63, 0xD24, CORE_ARCH_V8M_MAIN, "Cortex-M52"},
    {0x41, 0xD31, CORE_ARCH_V8M_MAIN, "Cortex-M35P"}, {0x63, 0x132, CORE_ARCH_V8M_MAIN, "STAR-MC1"},
    {0x63, 0xD25, CORE_ARCH_V8M_MAIN, "STAR-MC3"},
};

/* The architecture field tells Main from Baseline but not v7 from v8: that is what the SCS' DEVARCH is for.
 */
static enum core_arch arch_of_unknown(struct core *c, uint32_t cpuid)
{
    uint32_t devarch = 0;
    bool v8 = link_read32(c->link, c->ap, DEVARCH, &devarch, NULL) == CORRAL_OK && (devarch & 1u << 20) &&
              (devarch & 0xFFFF) == SCS_V8;
    switch (cpuid >> 16 & 0xF) {
    case 0xC:
        return v8 ? CORE_ARCH_V8M_BASE : CORE_ARCH_V6M;
    case 0xF:
        return v8 ? CORE_ARCH_V8M_MAIN : CORE_ARCH_V7M;
    default:
        return CORE_ARCH_UNKNOWN;
    }
}

void core_part_of_cpuid(uint32_t cpuid, struct core_info *info)
{
    *info = (struct core_info){.cpuid = cpuid, .part = ""};
    info->revision = cpuid >> 20 & 0xF;
    info->patch = cpuid & 0xF;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (parts[i].implementer == cpuid >> 24 && parts[i].part == (cpuid >> 4 & 0xFFF)) {
            info->arch = parts[i].arch;
            info->part = parts[i].name;
        }
}

enum corral_err cortex_m_identify(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t cpuid = 0;
    if (m->identified)
        return CORRAL_OK;
    enum corral_err err = link_read32(c->link, c->ap, CPUID, &cpuid, d);
    if (err)
        return err;
    core_part_of_cpuid(cpuid, &m->info);
    if (m->info.arch == CORE_ARCH_UNKNOWN)
        m->info.arch = arch_of_unknown(c, cpuid);
    m->info.has_restart_flag = cortex_m_is_v8(m);
    m->info.has_core_reset = m->info.arch == CORE_ARCH_V7M;
    m->identified = true;
    return CORRAL_OK;
}

bool cortex_m_is_v8(const struct cortex_m *m)
{
    return m->info.arch == CORE_ARCH_V8M_BASE || m->info.arch == CORE_ARCH_V8M_MAIN;
}

bool cortex_m_is_m7(const struct cortex_m *m)
{
    return (m->info.cpuid >> 4 & 0xFFF) == 0xC27 && m->info.cpuid >> 24 == 0x41;
}

enum corral_err cortex_m_info(struct core *c, struct core_info *info, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t value = 0;
    enum corral_err err = cortex_m_identify(c, d);
    if (err)
        return err;
    struct core_info *i = &m->info;
    bool main = i->arch == CORE_ARCH_V7M || i->arch == CORE_ARCH_V8M_MAIN;
    if (!m->known) {
        if (cortex_m_discover_fpb(c, NULL) == CORRAL_OK) {
            i->breakpoints = m->fpb.count;
            i->breakpoint_version = m->fpb.version;
        }
        err = cortex_m_read_dwt(c, &i->watchpoints, &i->has_cycle_counter, d);
        if (!err && cortex_m_is_v8(m) && !(err = link_read32(c->link, c->ap, ID_PFR1, &value, d)))
            i->has_security = (value >> 4 & 0xF) != 0;
        if (!err && main && !(err = link_read32(c->link, c->ap, MVFR0, &value, d)))
            i->has_fpu = (value & 0xF) != 0;
        if (err)
            return err;
        m->known = true;
    }
    *info = *i;
    return CORRAL_OK;
}

enum corral_err cortex_m_change_demcr(struct core *c, uint32_t bits, bool on, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t now = 0;
    enum corral_err err = link_read32(c->link, c->ap, CORTEX_M_DEMCR, &now, d);
    uint32_t wanted = on ? now | bits : now & ~bits;
    if (err || wanted == now)
        return err;
    m->demcr_ours |= bits;
    return cortex_m_write32(c, CORTEX_M_DEMCR, wanted, d);
}

enum corral_err cortex_m_vector_catch(struct core *c, bool on, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t dhcsr = 0;
    /* Nothing is caught while halting debug is off. */
    enum corral_err err = cortex_m_read_dhcsr(c, &dhcsr, d);
    if (!err && on && !(dhcsr & C_DEBUGEN))
        err = cortex_m_write32(c, CORTEX_M_DHCSR, DBGKEY | C_DEBUGEN, d);
    m->detached = false;
    if (!on) /* nor is it to come back: it was of a reset before */
        m->found.demcr &= ~DEMCR_VC_CORERESET;
    return err ? err : cortex_m_change_demcr(c, DEMCR_VC_CORERESET, on, d);
}

static bool is_out_of_reach(enum corral_err err)
{
    return err == CORRAL_ERR_LINK_FAULT || err == CORRAL_ERR_LINK_WAIT || err == CORRAL_ERR_NO_AP;
}

/* Wait until the reset shows. A core that cannot be reached meanwhile is in it. */
static enum corral_err wait_for_reset(struct core *c, uint32_t before, struct diag *d)
{
    struct cortex_m *m = c->priv;
    struct host_clock *clock = link_clock(c->link);
    struct deadline limit = deadline_in(clock, RESET_WAIT_NS);
    for (;;) {
        uint32_t dhcsr = 0;
        bool late = deadline_passed(&limit);
        enum corral_err err = cortex_m_read_dhcsr(c, &dhcsr, d);
        if (err && !is_out_of_reach(err))
            return err;
        if (m->resets != before || (err && late))
            return CORRAL_OK;
        if (late)
            return diag_set(d, CORRAL_ERR_CORE_STATE, "the reset that was asked for did not come");
        host_clock_sleep(clock, RESET_POLL_NS);
    }
}

enum corral_err cortex_m_expect_reset(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t dhcsr = 0;
    enum corral_err err = cortex_m_read_dhcsr(c, &dhcsr, d); /* what is in it now is of an earlier reset */
    m->in_reset = false;
    m->resets_expected = m->resets;
    return err;
}

void cortex_m_was_reset(struct core *c)
{
    struct cortex_m *m = c->priv;
    link_forget(c->link);
    m->halt_asked = false;
    m->found_in_halt = false;
    cortex_m_read_dhcsr(c, &(uint32_t){0}, NULL);
    if (m->resets == m->resets_expected) { /* who asked for it has seen it instead of us */
        m->resets++;
        m->rearm = true;
    }
}

enum corral_err cortex_m_reset(struct core *c, enum core_reset kind, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t aircr = 0, dhcsr = 0;
    enum corral_err err = cortex_m_identify(c, d);
    if (!err && kind == CORE_RESET_CORE && m->info.arch != CORE_ARCH_V7M) {
        diag_set(d, CORRAL_ERR_UNSUPPORTED, "an %s core has no reset of its own",
                 core_arch_name(m->info.arch));
        diag_hint(d, "reset the system");
        return CORRAL_ERR_UNSUPPORTED;
    }
    if (!err)
        err = cortex_m_read_dhcsr(c, &dhcsr, d); /* what is in it now is of an earlier reset */
    if (!err && kind == CORE_RESET_CORE && !(dhcsr & S_HALT)) {
        /* VECTRESET of a core that is not halted is unpredictable. */
        err = core_request_halt(c, d);
        if (!err)
            err = core_wait_halted(c, CORE_WAIT_NS, d);
    }
    if (!err)
        err = link_read32(c->link, c->ap, CORTEX_M_AIRCR, &aircr, d);
    if (err)
        return err;
    uint32_t before = m->resets;
    m->in_reset = false; /* so that the next one is counted */
    err = cortex_m_write32(
        c, CORTEX_M_AIRCR,
        AIRCRKEY | (aircr & AIRCR_KEPT) | (kind == CORE_RESET_CORE ? VECTRESET : SYSRESETREQ), d);
    if (err && !is_out_of_reach(err)) /* the reset may come before the answer does */
        return err;
    link_forget(c->link);
    m->halt_asked = false;
    m->found_in_halt = false;
    return wait_for_reset(c, before, d);
}

static enum corral_err keep_first(enum corral_err err, enum corral_err next)
{
    return err ? err : next;
}

enum corral_err cortex_m_detach(struct core *c, bool leave_halted, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t dhcsr = 0, demcr = 0;
    struct diag more = DIAG_INIT;
    if (!m->found.known)
        return CORRAL_OK; /* it could never be reached: there is nothing to undo */
    enum corral_err err = cortex_m_read_dhcsr(c, &dhcsr, d);
    if (err)
        return err;
    bool start = (dhcsr & S_HALT) && !m->found.halted && !leave_halted;
    bool waits = false; /* in reset still, to stop at its first instruction */
    if (m->found.halted && !(dhcsr & S_HALT) && (m->found.demcr & DEMCR_VC_CORERESET)) {
        /* That catch has had its core, which was started since: the next reset is the program's own. */
        m->demcr_ours |= DEMCR_VC_CORERESET;
        m->found.demcr &= ~DEMCR_VC_CORERESET;
    }
    if (start)
        err = cortex_m_prepare_run(c, d); /* steps off breakpoints, while they are still ours */
    /* Whatever fails, the rest is put back. */
    err = keep_first(err, cortex_m_release_fpb(c, err ? &more : d));
    err = keep_first(err, cortex_m_release_patches(c, err ? &more : d));
    err = keep_first(err, cortex_m_release_dwt(c, err ? &more : d));
    if (m->demcr_ours) {
        enum corral_err read = link_read32(c->link, c->ap, CORTEX_M_DEMCR, &demcr, err ? &more : d);
        waits = leave_halted && !(dhcsr & S_HALT) && (demcr & m->demcr_ours & DEMCR_VC_CORERESET);
        demcr =
            (demcr & ~m->demcr_ours) | (m->found.demcr & m->demcr_ours) | (waits ? DEMCR_VC_CORERESET : 0);
        err = keep_first(err, read);
        if (!read)
            err = keep_first(err, cortex_m_write32(c, CORTEX_M_DEMCR, demcr, err ? &more : d));
        m->demcr_ours = 0;
    }
    if (start)
        err = keep_first(err, cortex_m_write32(c, CORTEX_M_DHCSR, DBGKEY | C_DEBUGEN, err ? &more : d));
    else if (!(dhcsr & S_HALT) && m->halt_asked) /* a request that it has not seen yet goes away */
        err = keep_first(err, cortex_m_write32(c, CORTEX_M_DHCSR, DBGKEY | C_DEBUGEN, err ? &more : d));
    bool runs = start || !(dhcsr & S_HALT);
    if (runs && !waits && !(m->found.dhcsr & C_DEBUGEN))
        err = keep_first(err, cortex_m_write32(c, CORTEX_M_DHCSR, DBGKEY, err ? &more : d));
    m->halt_asked = false;
    m->detached = true;
    return err;
}
