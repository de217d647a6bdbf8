/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breakpoints as BKPT instructions in RAM, for addresses that no comparator can have. Cross-trigger sheet 3.1
 * (version 1 of the breakpoint unit ends below 0x20000000), 10.4. What was there is written back where the
 * breakpoint goes, unless somebody else has written there meanwhile.
 */
#include <inttypes.h>

#include "core/cortex_m.h"

#define BKPT    0xBE00u
#define CCR     0xE000ED14u
#define CCR_IC  (1u << 17)
#define ICIALLU 0xE000EF50u

static struct cortex_m_patch *find_patch(struct cortex_m *m, uint32_t address)
{
    for (unsigned i = 0; i < CORTEX_M_MAX_PATCHES; i++)
        if (m->patch[i].used && m->patch[i].address == address)
            return &m->patch[i];
    return NULL;
}

bool cortex_m_has_patch(const struct core *c, uint32_t address)
{
    return find_patch(c->priv, address & ~1u) != NULL;
}

static enum corral_err access_code(struct core *c, enum link_op op, uint32_t address, uint16_t *code,
                                   struct diag *d)
{
    struct link_access a = {.op = op, .size = 2, .ap = c->ap, .address = address, .count = 1, .data = code};
    return link_execute(c->link, &a, 1, d);
}

/* Write and look whether it is there: flash takes no write, and says nothing. */
static enum corral_err write_code(struct core *c, uint32_t address, uint16_t code, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint16_t now = 0;
    uint32_t ccr = 0;
    enum corral_err err = access_code(c, LINK_MEM_WRITE, address, &code, d);
    if (!err)
        err = access_code(c, LINK_MEM_READ, address, &now, d);
    if (!err && now != code)
        err = diag_set(d, CORRAL_ERR_UNSUPPORTED, "0x%08" PRIx32 " cannot be written: it is no RAM", address);
    /* A core with an instruction cache must not go on executing what was there. */
    if (!err && cortex_m_is_m7(m) && link_read32(c->link, c->ap, CCR, &ccr, NULL) == CORRAL_OK &&
        (ccr & CCR_IC))
        err = cortex_m_write32(c, ICIALLU, 0, d);
    return err;
}

enum corral_err cortex_m_set_patch(struct core *c, uint32_t address, struct diag *d)
{
    struct cortex_m *m = c->priv;
    struct cortex_m_patch *free_one = NULL;
    uint16_t original = 0;
    address &= ~1u;
    if (find_patch(m, address))
        return CORRAL_OK;
    for (unsigned i = 0; !free_one && i < CORTEX_M_MAX_PATCHES; i++)
        if (!m->patch[i].used)
            free_one = &m->patch[i];
    if (!free_one)
        return diag_set(d, CORRAL_ERR_LIMIT, "all %d breakpoints in RAM are in use", CORTEX_M_MAX_PATCHES);
    enum corral_err err = cortex_m_identify(c, d);
    if (!err)
        err = access_code(c, LINK_MEM_READ, address, &original, d);
    if (!err)
        err = write_code(c, address, BKPT, d);
    if (!err)
        *free_one = (struct cortex_m_patch){.used = true, .address = address, .original = original};
    return err;
}

enum corral_err cortex_m_enable_patch(struct core *c, uint32_t address, bool on, struct diag *d)
{
    struct cortex_m_patch *p = find_patch(c->priv, address & ~1u);
    uint16_t now = 0;
    if (!p)
        return CORRAL_OK;
    enum corral_err err = access_code(c, LINK_MEM_READ, p->address, &now, d);
    if (err)
        return err;
    if (on) {
        /* The step may have changed its own code. */
        p->original = now;
        return write_code(c, p->address, BKPT, d);
    }
    return now == BKPT ? write_code(c, p->address, p->original, d) : CORRAL_OK;
}

enum corral_err cortex_m_clear_patch(struct core *c, uint32_t address, struct diag *d)
{
    struct cortex_m_patch *p = find_patch(c->priv, address & ~1u);
    if (!p)
        return diag_set(d, CORRAL_ERR_USAGE, "there is no breakpoint at 0x%08" PRIx32, address);
    enum corral_err err = cortex_m_enable_patch(c, address, false, d);
    if (!err)
        p->used = false;
    return err;
}

enum corral_err cortex_m_release_patches(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    enum corral_err err = CORRAL_OK;
    for (unsigned i = 0; i < CORTEX_M_MAX_PATCHES; i++) {
        if (!m->patch[i].used)
            continue;
        enum corral_err one = cortex_m_clear_patch(c, m->patch[i].address, err ? NULL : d);
        err = err ? err : one;
    }
    return err;
}

bool cortex_m_screen(struct core *c, bool write, uint64_t address, uint8_t *bytes, size_t size)
{
    struct cortex_m *m = c->priv;
    bool any = false;
    for (unsigned i = 0; i < CORTEX_M_MAX_PATCHES; i++) {
        struct cortex_m_patch *p = &m->patch[i];
        for (unsigned half = 0; p->used && half < 2; half++) {
            uint64_t at = (uint64_t)p->address + half;
            unsigned shift = 8 * half;
            if (at < address || at - address >= size)
                continue;
            any = true;
            if (!bytes)
                continue;
            uint8_t *byte = &bytes[at - address];
            if (write) {
                p->original = (uint16_t)((p->original & ~(0xFFu << shift)) | (unsigned)*byte << shift);
                *byte = (uint8_t)(BKPT >> shift);
            } else if (*byte == (uint8_t)(BKPT >> shift)) { /* else somebody has written there since */
                *byte = (uint8_t)(p->original >> shift);
            }
        }
    }
    return any;
}
