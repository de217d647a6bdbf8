/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware breakpoints of a Cortex-M: FPB version 1 and 2. Cross-trigger sheet 3.1; cases D13, D14.
 * Comparators that somebody else has enabled are left alone.
 */
#include <inttypes.h>
#include <string.h>

#include "core/cortex_m.h"

#define FP_CTRL  0xE0002000u
#define FP_COMP0 0xE0002008u

#define FP_CTRL_ON    3u /* KEY and ENABLE */
#define COMP_ENABLE   1u
#define V1_LIMIT      0x20000000u
#define V1_LOWER      0x40000000u
#define V1_UPPER      0x80000000u
#define V1_COMPARE(a) ((a)&0x1FFFFFFCu)

static enum corral_err discover(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t ctrl = 0;
    if (m->fpb.known)
        return CORRAL_OK;
    enum corral_err err = link_read32(c->link, c->ap, FP_CTRL, &ctrl, d);
    if (err)
        return err;
    m->fpb.version = (ctrl >> 28) + 1;
    m->fpb.count = (ctrl >> 8 & 0x70) | (ctrl >> 4 & 0xF);
    m->fpb.known = true;
    if (m->fpb.version > 2 || m->fpb.count == 0) {
        m->fpb.count = 0;
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "the core has no breakpoint unit that is known");
    }
    return CORRAL_OK;
}

static uint32_t encode(const struct cortex_m_fpb *fpb, uint32_t address)
{
    if (fpb->version == 2)
        return (address & ~1u) | COMP_ENABLE;
    return V1_COMPARE(address) | (address & 2 ? V1_UPPER : V1_LOWER) | COMP_ENABLE;
}

static int find(const struct cortex_m_fpb *fpb, uint32_t address)
{
    for (unsigned i = 0; i < fpb->count; i++)
        if (fpb->used[i] && fpb->address[i] == address)
            return (int)i;
    return -1;
}

bool cortex_m_has_breakpoint(const struct core *c, uint32_t address)
{
    const struct cortex_m *m = c->priv;
    return find(&m->fpb, address & ~1u) >= 0;
}

enum corral_err cortex_m_enable_breakpoint(struct core *c, uint32_t address, bool on, struct diag *d)
{
    struct cortex_m *m = c->priv;
    int i = find(&m->fpb, address & ~1u);
    if (i < 0)
        return CORRAL_OK;
    return link_write32(c->link, c->ap, FP_COMP0 + 4 * (uint32_t)i, on ? encode(&m->fpb, address) : 0, d);
}

enum corral_err cortex_m_set_breakpoint(struct core *c, uint32_t address, struct diag *d)
{
    struct cortex_m *m = c->priv;
    address &= ~1u;
    enum corral_err err = discover(c, d);
    if (err)
        return err;
    if (find(&m->fpb, address) >= 0)
        return CORRAL_OK;
    if (m->fpb.version == 1 && address >= V1_LIMIT) {
        diag_set(d, CORRAL_ERR_UNSUPPORTED, "0x%08" PRIx32 " is out of this breakpoint unit's reach",
                 address);
        diag_hint(d, "version 1 of the unit only covers addresses below 0x20000000");
        return CORRAL_ERR_UNSUPPORTED;
    }
    for (unsigned i = 0; i < m->fpb.count && i < CORTEX_M_MAX_BREAKPOINTS; i++) {
        uint32_t now = 0;
        if (m->fpb.used[i])
            continue;
        err = link_read32(c->link, c->ap, FP_COMP0 + 4 * i, &now, d);
        if (err)
            return err;
        if (now & COMP_ENABLE)
            continue; /* another tool's */
        err = link_write32(c->link, c->ap, FP_COMP0 + 4 * i, encode(&m->fpb, address), d);
        if (!err)
            err = link_write32(c->link, c->ap, FP_CTRL, FP_CTRL_ON, d);
        if (err)
            return err;
        m->fpb.used[i] = true;
        m->fpb.address[i] = address;
        return CORRAL_OK;
    }
    return diag_set(d, CORRAL_ERR_LIMIT, "all %u hardware breakpoints are in use", m->fpb.count);
}

enum corral_err cortex_m_clear_breakpoint(struct core *c, uint32_t address, struct diag *d)
{
    struct cortex_m *m = c->priv;
    int i = find(&m->fpb, address & ~1u);
    if (i < 0)
        return diag_set(d, CORRAL_ERR_USAGE, "there is no breakpoint at 0x%08" PRIx32, address);
    enum corral_err err = link_write32(c->link, c->ap, FP_COMP0 + 4 * (uint32_t)i, 0, d);
    if (!err)
        m->fpb.used[i] = false;
    return err;
}
