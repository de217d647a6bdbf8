/* SPDX-License-Identifier: Apache-2.0 */
/* The model behind fake_target.h. Test code: it knows more of the hardware than the code under test may. */
#include "tests/unit/link/fake_target.h"

#include <stdlib.h>
#include <string.h>

#include "link/link_backend.h"

#define C_DEBUGEN     0x1u
#define C_HALT        0x2u
#define C_STEP        0x4u
#define S_REGRDY      (1u << 16)
#define S_HALT        (1u << 17)
#define S_SLEEP       (1u << 18)
#define S_LOCKUP      (1u << 19)
#define S_RETIRE_ST   (1u << 24)
#define S_RESET_ST    (1u << 25)
#define DFSR_HALTED   0x01u
#define DFSR_EXTERNAL 0x10u

static void halt(struct fake_target *t, size_t n, uint32_t dfsr);
static void start(struct fake_target *t, size_t n);

static bool joined(const struct fake_core *a, const struct fake_core *b)
{
    return !a->other_ctm && !b->other_ctm && a->ctm == b->ctm;
}

static void channel_event(struct fake_target *t, size_t from, uint32_t mask)
{
    const struct fake_core *source = &t->core[from];
    if (!(source->cti.control & 1))
        return;
    for (size_t n = 0; n < t->count; n++) {
        struct fake_core *c = &t->core[n];
        uint32_t seen = mask;
        if (n != from)
            seen = joined(source, c) ? mask & source->cti.gate : 0;
        if (!(c->cti.control & 1))
            continue;
        if (c->cti.outen[0] & seen) {
            c->cti.out |= 1;
            halt(t, n, DFSR_EXTERNAL);
        }
        if (c->cti.outen[7] & seen) {
            if (c->deaf_restarts)
                c->deaf_restarts--;
            else if (c->halted && !c->deaf_to_restart)
                start(t, n);
        }
    }
}

static void halt(struct fake_target *t, size_t n, uint32_t dfsr)
{
    struct fake_core *c = &t->core[n];
    if (c->halted || !(c->control & C_DEBUGEN) || c->deaf_to_halt || c->in_reset)
        return;
    c->halted = true;
    c->locked_up = false;
    c->control |= C_HALT;
    c->dfsr |= dfsr;
    c->stops++;
    channel_event(t, n, c->cti.inen[0]);
}

static void start(struct fake_target *t, size_t n)
{
    struct fake_core *c = &t->core[n];
    c->halted = false;
    c->control &= ~C_HALT;
    c->sticky |= S_RETIRE_ST;
    c->starts++;
    c->cyccnt += c->run_cycles;
    if (c->latch_at_start)
        c->cti.out |= 1;
    c->latch_at_start = false;
    if (c->cti.out & 1) { /* back at once: not one instruction gets done */
        halt(t, n, DFSR_EXTERNAL);
        return;
    }
    c->regs[15] += 2;
    if (c->takes)
        c->regs[16] = (c->regs[16] & ~0x1FFu) | c->takes;
    c->takes = 0;
    if (c->control & C_STEP) {
        halt(t, n, DFSR_HALTED);
    } else if (c->stop_at_once) {
        uint32_t dfsr = c->stop_at_once;
        c->stop_at_once = 0;
        halt(t, n, dfsr);
    }
}

void fake_target_stop(struct fake_target *t, size_t core, uint32_t dfsr)
{
    halt(t, core, dfsr);
}

static void write_dhcsr(struct fake_target *t, size_t n, uint32_t value)
{
    struct fake_core *c = &t->core[n];
    if (value >> 16 != 0xA05F)
        return;
    bool was_halted = c->halted;
    uint32_t control = value & 0xF;
    if (c->deaf_to_halt && !was_halted)
        control &= ~C_HALT;
    c->control = was_halted ? control | C_HALT : control & ~C_HALT;
    if (!was_halted && (control & C_HALT))
        halt(t, n, DFSR_HALTED);
    else if (was_halted && !(control & C_HALT))
        start(t, n);
}

/* A level source holds the channel, and the request cannot be acknowledged, as long as its core is halted. */
static bool channel_is_held(const struct fake_target *t, const struct fake_core *c)
{
    for (size_t n = 0; n < t->count; n++) {
        const struct fake_core *s = &t->core[n];
        if (s->level_halted && s->halted && (s == c || joined(s, c)) && (s->cti.inen[0] & c->cti.outen[0]))
            return true;
    }
    return (c->cti.appset & c->cti.outen[0]) != 0;
}

static void write_cti(struct fake_target *t, size_t n, uint32_t reg, uint32_t value)
{
    struct fake_core *c = &t->core[n];
    struct fake_cti *x = &c->cti;
    if (reg == 0xFB0) {
        x->unlocked = value == 0xC5ACCE55u;
        return;
    }
    if (c->cti_read_only || (x->has_lock && !x->unlocked))
        return;
    uint32_t mask = (1u << FAKE_CHANNELS) - 1;
    if (reg == 0x000)
        x->control = value & 1;
    else if (reg == 0x010 && (value & 1) && !c->stuck && !channel_is_held(t, c))
        x->out &= ~1u;
    else if (reg == 0x014)
        x->appset |= value & mask;
    else if (reg == 0x018)
        x->appset &= ~value;
    else if (reg == 0x01C)
        channel_event(t, n, value & mask);
    else if (reg >= 0x020 && reg < 0x020 + 4 * FAKE_TRIGGERS)
        x->inen[(reg - 0x020) / 4] = value & mask;
    else if (reg >= 0x0A0 && reg < 0x0A0 + 4 * FAKE_TRIGGERS && !c->outen_read_only)
        x->outen[(reg - 0x0A0) / 4] = value & mask;
    else if (reg == 0x140)
        x->gate = value & mask;
    else if (reg == 0xFA0)
        x->claim |= value & x->claim_tags;
    else if (reg == 0xFA4)
        x->claim &= ~value;
}

/* Levels that arrive from the others' application sides and halted inputs. */
static uint32_t channels_in(const struct fake_target *t, size_t n)
{
    uint32_t seen = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct fake_core *s = &t->core[i];
        if (i == n || !joined(s, &t->core[n]) || !(s->cti.control & 1))
            continue;
        seen |= (s->cti.appset | (s->level_halted && s->halted ? s->cti.inen[0] : 0)) & s->cti.gate;
    }
    return t->core[n].blind ? 0 : seen;
}

static uint32_t read_cti(const struct fake_target *t, size_t n, uint32_t reg)
{
    const struct fake_core *c = &t->core[n];
    const struct fake_cti *x = &c->cti;
    if (reg >= 0x020 && reg < 0x020 + 4 * FAKE_TRIGGERS)
        return x->inen[(reg - 0x020) / 4];
    if (reg >= 0x0A0 && reg < 0x0A0 + 4 * FAKE_TRIGGERS)
        return x->outen[(reg - 0x0A0) / 4];
    switch (reg) {
    case 0x000:
        return x->control;
    case 0x014:
        return x->appset;
    case 0x130:
        return c->level_halted && c->halted && !c->blind;
    case 0x134:
        return x->out;
    case 0x138:
        return channels_in(t, n);
    case 0x140:
        return x->gate;
    case 0xF00:
        return x->itctrl;
    case 0xFA0:
        return x->claim_tags;
    case 0xFA4:
        return x->claim;
    case 0xFB4:
        return x->has_lock ? 1u | (x->unlocked ? 0 : 2u) : 0;
    case 0xFC8:
        return x->devid;
    default:
        return 0;
    }
}

static void write_word(struct fake_target *t, size_t n, uint32_t address, uint32_t value)
{
    struct fake_core *c = &t->core[n];
    if (address >= FAKE_CTI_BASE && address < FAKE_CTI_BASE + 0x1000) {
        write_cti(t, n, address - FAKE_CTI_BASE, value);
        return;
    }
    if (address >= 0xE0002008u && address < 0xE0002028u) {
        c->fp_comp[(address - 0xE0002008u) / 4] = value;
        return;
    }
    switch (address) {
    case 0xE000EDF0u:
        write_dhcsr(t, n, value);
        break;
    case 0xE000EDF4u:
        c->lag_left = c->register_lag;
        if (value & 1u << 16)
            c->regs[value & 31] = c->dcrdr;
        else
            c->dcrdr = c->regs[value & 31];
        break;
    case 0xE000EDF8u:
        c->dcrdr = value;
        break;
    case 0xE000EDFCu:
        c->demcr = value;
        break;
    case 0xE000ED30u:
        c->dfsr &= ~value;
        break;
    case 0xE0001000u:
        c->dwt_ctrl = value;
        break;
    case 0xE0002000u:
        c->fp_ctrl = (c->fp_ctrl & ~3u) | (value & 1);
        break;
    default:
        break;
    }
}

static uint32_t read_dhcsr(struct fake_target *t, struct fake_core *c)
{
    for (size_t n = 0; n < t->count; n++) {
        struct fake_core *k = &t->core[n];
        if (!k->halted && k->stop_after && --k->stop_after == 0)
            halt(t, n, k->stop_dfsr);
    }
    uint32_t v = c->control | c->sticky;
    c->sticky = c->in_reset ? S_RESET_ST : 0;
    if (c->halted)
        v |= S_HALT;
    if (c->locked_up)
        v |= S_LOCKUP;
    if (c->asleep)
        v |= S_SLEEP;
    if (c->lag_left)
        c->lag_left--;
    else
        v |= S_REGRDY;
    return v;
}

static uint32_t read_word(struct fake_target *t, size_t n, uint32_t address)
{
    struct fake_core *c = &t->core[n];
    if (address >= FAKE_CTI_BASE && address < FAKE_CTI_BASE + 0x1000)
        return read_cti(t, n, address - FAKE_CTI_BASE);
    if (address >= 0xE0002008u && address < 0xE0002028u)
        return c->fp_comp[(address - 0xE0002008u) / 4];
    switch (address) {
    case 0xE000ED00u:
        return t->cpuid ? t->cpuid : t->code;
    case 0xE000EDF0u:
        return read_dhcsr(t, c);
    case 0xE000EDF8u:
        return c->dcrdr;
    case 0xE000EDFCu:
        return c->demcr;
    case 0xE000ED30u:
        return c->dfsr;
    case 0xE0001000u:
        return c->dwt_ctrl;
    case 0xE0001004u:
        return c->cyccnt;
    case 0xE0002000u:
        return c->fp_ctrl;
    default:
        return t->code;
    }
}

static bool all_halted(const struct fake_target *t)
{
    for (size_t n = 0; n < t->count; n++)
        if (!t->core[n].halted)
            return false;
    return true;
}

static enum corral_err one(struct fake_target *t, struct link_access *a, uint32_t i, struct diag *d)
{
    uint32_t address = (uint32_t)a->address + i * a->size;
    bool write = a->op == LINK_MEM_WRITE;
    uint8_t *p = (uint8_t *)a->data + (size_t)i * a->size;
    host_clock_set(t->clock, host_clock_now(t->clock) + FAKE_ACCESS_NS);
    if (t->link_dies && --t->link_dies == 0) {
        t->link_dies = 1; /* it stays dead */
        return diag_set(d, t->dies_of ? t->dies_of : CORRAL_ERR_LINK_DOWN, "the probe went away");
    }
    if (a->ap >= t->count || t->core[a->ap].faults ||
        (t->core[a->ap].cti_faults && address >> 12 == FAKE_CTI_BASE >> 12) ||
        (write && address == t->fault_write && a->ap == t->fault_ap))
        return diag_set(d, CORRAL_ERR_LINK_FAULT, "AP %u answered FAULT at address 0x%08x", a->ap, address);
    if (a->size == 2 && address - FAKE_RAM < t->ram_size && address - FAKE_RAM < sizeof(t->ram)) {
        uint16_t *cell = &t->ram[(address - FAKE_RAM) / 2];
        if (write)
            memcpy(cell, p, 2);
        else
            memcpy(p, cell, 2);
        return CORRAL_OK;
    }
    if (a->size != 4 && write)
        return CORRAL_OK; /* flash: the write has no effect */
    if (a->size != 4) {
        uint32_t word = t->code;
        memcpy(p, (const uint8_t *)&word + (address & 1), a->size);
        return CORRAL_OK;
    }
    uint32_t value;
    if (!write) {
        value = read_word(t, a->ap, address);
        memcpy(p, &value, 4);
        return CORRAL_OK;
    }
    memcpy(&value, p, 4);
    if (t->log_count < FAKE_MAX_LOG)
        t->log[t->log_count++] = (struct fake_write){a->ap, address, value, all_halted(t)};
    write_word(t, a->ap, address, value);
    return CORRAL_OK;
}

static enum corral_err execute(void *ctx, struct link_access *accesses, size_t count, struct diag *d)
{
    for (size_t k = 0; k < count; k++) {
        struct link_access *a = &accesses[k];
        for (uint32_t i = 0; i < a->count; i++) {
            a->status = one(ctx, a, i, d);
            if (a->status)
                return a->status;
            a->done++;
        }
    }
    return CORRAL_OK;
}

static const struct link_backend backend = {.caps = LINK_CAP_MEM, .execute = execute};

struct link *fake_target_link(struct fake_target *t)
{
    return link_new(&backend, t, "fake", t->clock);
}

struct fake_target *fake_target_new(size_t count)
{
    struct fake_target *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->clock = host_clock_new_virtual();
    t->count = count;
    t->code = 0x46C0; /* mov r8, r8 */
    for (size_t n = 0; n < count; n++) {
        t->core[n].cti.devid = FAKE_CHANNELS << 16 | FAKE_TRIGGERS << 8;
        t->core[n].cti.gate = (1u << FAKE_CHANNELS) - 1;
        t->core[n].fp_ctrl = 1u << 28 | 4u << 4; /* version 2, four comparators */
        t->core[n].regs[15] = 0x08000100u;
    }
    return t;
}

void fake_target_free(struct fake_target *t)
{
    host_clock_free(t->clock);
    free(t);
}

size_t fake_target_find(const struct fake_target *t, size_t from, uint32_t ap, uint32_t address)
{
    size_t i = from;
    while (i < t->log_count && (t->log[i].ap != ap || t->log[i].address != address))
        i++;
    return i;
}

size_t fake_target_writes(const struct fake_target *t, uint32_t first, uint32_t last)
{
    size_t n = 0;
    for (size_t i = 0; i < t->log_count; i++)
        n += t->log[i].address >= first && t->log[i].address <= last;
    return n;
}
