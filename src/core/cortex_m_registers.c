/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core registers through DCRSR and DCRDR (cross-trigger sheet 3.1), and the list of those that a core has.
 * PRIMASK, BASEPRI, FAULTMASK and CONTROL share one register; writing one of them keeps the others.
 */
#include "core/cortex_m.h"

#define DCRSR_WRITE      (1u << 16)
#define REGISTER_LAST    0x7Fu
#define REGISTER_CFBP    20u
#define REGISTER_WAIT_NS (10 * NS_PER_MS)

/* DCRSR, DHCSR and the data in one batch; polls on where the core needs longer. */
static enum corral_err read_selected(struct core *c, unsigned number, uint32_t *value, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t select = number, status = 0, data = 0;
    struct link_access batch[] = {
        {.op = LINK_MEM_WRITE,
         .size = 4,
         .ap = c->ap,
         .address = CORTEX_M_DCRSR,
         .count = 1,
         .data = &select},
        {.op = LINK_MEM_READ, .size = 4, .ap = c->ap, .address = CORTEX_M_DHCSR, .count = 1, .data = &status},
        {.op = LINK_MEM_READ, .size = 4, .ap = c->ap, .address = CORTEX_M_DCRDR, .count = 1, .data = &data},
    };
    enum corral_err err = link_execute(c->link, batch, 3, d);
    if (err)
        return err;
    cortex_m_note_dhcsr(m, status);
    if (!(status & S_HALT))
        return diag_set(d, CORRAL_ERR_CORE_STATE, "registers can only be read while the core is halted");
    struct deadline limit = deadline_in(link_clock(c->link), REGISTER_WAIT_NS);
    for (bool again = !(status & S_REGRDY); again;) {
        if ((err = cortex_m_read_dhcsr(c, &status, d)) ||
            (err = link_read32(c->link, c->ap, CORTEX_M_DCRDR, &data, d)))
            return err;
        again = !(status & S_REGRDY);
        if (again && deadline_passed(&limit))
            return diag_set(d, CORRAL_ERR_TIMEOUT, "the core did not give register %u in time", number);
    }
    *value = data;
    return CORRAL_OK;
}

static enum corral_err write_selected(struct core *c, unsigned number, uint32_t value, struct diag *d)
{
    uint32_t status = 0;
    enum corral_err err = cortex_m_read_dhcsr(c, &status, d);
    if (err)
        return err;
    if (!(status & S_HALT))
        return diag_set(d, CORRAL_ERR_CORE_STATE, "registers can only be written while the core is halted");
    err = cortex_m_write32(c, CORTEX_M_DCRDR, value, d);
    if (!err)
        err = cortex_m_write32(c, CORTEX_M_DCRSR, number | DCRSR_WRITE, d);
    struct deadline limit = deadline_in(link_clock(c->link), REGISTER_WAIT_NS);
    while (!err) {
        err = cortex_m_read_dhcsr(c, &status, d);
        if (err || (status & S_REGRDY))
            return err;
        if (deadline_passed(&limit))
            err = diag_set(d, CORRAL_ERR_TIMEOUT, "the core did not take register %u in time", number);
    }
    return err;
}

static bool is_part(unsigned number, unsigned *shift)
{
    if (number < CORE_REGISTER_PRIMASK || number > CORE_REGISTER_CONTROL)
        return false;
    *shift = 8 * (number - CORE_REGISTER_PRIMASK);
    return true;
}

enum corral_err cortex_m_read_register(struct core *c, unsigned number, uint32_t *value, struct diag *d)
{
    unsigned shift = 0;
    bool part = is_part(number, &shift);
    if (!part && number > REGISTER_LAST)
        return diag_set(d, CORRAL_ERR_USAGE, "there is no register %u", number);
    enum corral_err err = read_selected(c, part ? REGISTER_CFBP : number, value, d);
    if (!err && part)
        *value = *value >> shift & 0xFF;
    return err;
}

#define BATCH_REGISTERS 20u

/*
 * Up to BATCH_REGISTERS whole registers in one batch of the link. A core gives a register faster than any
 * link asks for the next; should one not have been ready, what was read is worth nothing, and *ready says so.
 */
static enum corral_err read_batch(struct core *c, const unsigned *numbers, size_t count, uint32_t *values,
                                  bool *ready, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t select[BATCH_REGISTERS], status[BATCH_REGISTERS], all = UINT32_MAX;
    struct link_access batch[3 * BATCH_REGISTERS];
    for (size_t i = 0; i < count; i++) {
        struct link_access one = {.size = 4, .ap = c->ap, .count = 1};
        select[i] = numbers[i];
        status[i] = 0;
        one.op = LINK_MEM_WRITE;
        one.address = CORTEX_M_DCRSR;
        one.data = &select[i];
        batch[3 * i] = one;
        one.op = LINK_MEM_READ;
        one.address = CORTEX_M_DHCSR;
        one.data = &status[i];
        batch[3 * i + 1] = one;
        one.address = CORTEX_M_DCRDR;
        one.data = &values[i];
        batch[3 * i + 2] = one;
    }
    enum corral_err err = link_execute(c->link, batch, 3 * count, d);
    for (size_t i = 0; i < count; i++) {
        cortex_m_note_dhcsr(m, status[i]);
        all &= status[i];
    }
    *ready = (all & S_HALT) && (all & S_REGRDY);
    return err;
}

enum corral_err cortex_m_read_registers(struct core *c, const unsigned *numbers, size_t count,
                                        uint32_t *values, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    for (size_t at = 0; at < count && !err;) {
        size_t n = count - at < BATCH_REGISTERS ? count - at : BATCH_REGISTERS;
        bool ready = true;
        for (size_t i = 0; i < n; i++)
            ready &= numbers[at + i] <= REGISTER_LAST;
        if (ready)
            err = read_batch(c, &numbers[at], n, &values[at], &ready, d);
        for (size_t i = 0; i < n && !err && !ready; i++) /* one after the other, with all patience */
            err = cortex_m_read_register(c, numbers[at + i], &values[at + i], d);
        at += n;
    }
    return err;
}

enum corral_err cortex_m_write_register(struct core *c, unsigned number, uint32_t value, struct diag *d)
{
    unsigned shift = 0;
    uint32_t all = 0;
    if (!is_part(number, &shift)) {
        if (number > REGISTER_LAST)
            return diag_set(d, CORRAL_ERR_USAGE, "there is no register %u", number);
        return write_selected(c, number, value, d);
    }
    if (value > 0xFF)
        return diag_set(d, CORRAL_ERR_USAGE, "the register has 8 bits");
    enum corral_err err = read_selected(c, REGISTER_CFBP, &all, d);
    return err ? err : write_selected(c, REGISTER_CFBP, (all & ~(0xFFu << shift)) | value << shift, d);
}

/* Which of them: all cores, those with the Main Extension (or v7-M), v8-M, and of those without and with the
 * Security Extension. */
enum {
    ALL = 0,
    MAIN = 1 << 0,
    V8 = 1 << 1,
    SECURE = 1 << 2,
    PLAIN = 1 << 3,
    FPU = 1 << 4,
};

static const struct {
    struct core_register reg;
    unsigned need;
} table[] = {
    {{"r0", 0, 32}, ALL},
    {{"r1", 1, 32}, ALL},
    {{"r2", 2, 32}, ALL},
    {{"r3", 3, 32}, ALL},
    {{"r4", 4, 32}, ALL},
    {{"r5", 5, 32}, ALL},
    {{"r6", 6, 32}, ALL},
    {{"r7", 7, 32}, ALL},
    {{"r8", 8, 32}, ALL},
    {{"r9", 9, 32}, ALL},
    {{"r10", 10, 32}, ALL},
    {{"r11", 11, 32}, ALL},
    {{"r12", 12, 32}, ALL},
    {{"sp", CORE_REGISTER_SP, 32}, ALL},
    {{"lr", CORE_REGISTER_LR, 32}, ALL},
    {{"pc", CORE_REGISTER_PC, 32}, ALL},
    {{"xpsr", CORE_REGISTER_XPSR, 32}, ALL},
    {{"msp", CORE_REGISTER_MSP, 32}, ALL},
    {{"psp", CORE_REGISTER_PSP, 32}, ALL},
    {{"primask", CORE_REGISTER_PRIMASK, 1}, ALL},
    {{"basepri", CORE_REGISTER_BASEPRI, 8}, MAIN},
    {{"faultmask", CORE_REGISTER_FAULTMASK, 1}, MAIN},
    {{"control", CORE_REGISTER_CONTROL, 8}, ALL},
    {{"msp_s", 0x1A, 32}, V8 | SECURE},
    {{"psp_s", 0x1B, 32}, V8 | SECURE},
    {{"msplim_s", 0x1C, 32}, V8 | SECURE},
    {{"psplim_s", 0x1D, 32}, V8 | SECURE},
    {{"msp_ns", 0x18, 32}, V8 | SECURE},
    {{"psp_ns", 0x19, 32}, V8 | SECURE},
    {{"msplim_ns", 0x1E, 32}, V8 | SECURE | MAIN},
    {{"psplim_ns", 0x1F, 32}, V8 | SECURE | MAIN},
    {{"msplim", 0x1E, 32}, V8 | PLAIN | MAIN},
    {{"psplim", 0x1F, 32}, V8 | PLAIN | MAIN},
    {{"fpscr", 0x21, 32}, FPU},
};

/* The single-precision registers of those cores that have them. */
static const char *const single_names[32] = {
    "s0",  "s1",  "s2",  "s3",  "s4",  "s5",  "s6",  "s7",  "s8",  "s9",  "s10",
    "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21",
    "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31",
};

static unsigned features(const struct core_info *info)
{
    unsigned have = 0;
    bool v8 = info->arch == CORE_ARCH_V8M_BASE || info->arch == CORE_ARCH_V8M_MAIN;
    if (info->arch == CORE_ARCH_V7M || info->arch == CORE_ARCH_V8M_MAIN)
        have |= MAIN;
    if (v8)
        have |= V8 | (info->has_security ? SECURE : PLAIN);
    return have | (info->has_fpu ? FPU : 0u);
}

enum corral_err cortex_m_registers(struct core *c, const struct core_register **list, size_t *count,
                                   struct diag *d)
{
    struct cortex_m *m = c->priv;
    struct core_info info;
    _Static_assert(sizeof(table) / sizeof(table[0]) + 32 <= CORTEX_M_MAX_REGISTERS, "room for all");
    if (m->register_count == 0) {
        enum corral_err err = cortex_m_info(c, &info, d);
        if (err)
            return err;
        unsigned have = features(&info);
        for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
            if ((table[i].need & ~have) == 0)
                m->registers[m->register_count++] = table[i].reg;
        for (unsigned i = 0; i < 32 && info.has_fpu; i++)
            m->registers[m->register_count++] =
                (struct core_register){.name = single_names[i], .number = 0x40 + i, .bits = 32};
    }
    *list = m->registers;
    *count = m->register_count;
    return CORRAL_OK;
}
