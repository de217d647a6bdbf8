/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware breakpoints of a Cortex-M: FPB version 1 (and the BPU of v6-M) and 2. Cross-trigger sheet 3.1;
 * cases D13, D14. Comparators that somebody else has enabled are left alone. What no comparator can have is
 * tried as an instruction in RAM (code_patch.c), never below 0x20000000, where flash lies.
 */
#include <inttypes.h>
#include <string.h>

#include "core/cortex_m.h"

#define FP_CTRL  0xE0002000u
#define FP_COMP0 0xE0002008u

#define FP_CTRL_ON    3u /* KEY and ENABLE */
#define FP_CTRL_OFF   2u
#define COMP_ENABLE   1u
#define V1_LIMIT      0x20000000u
#define V1_LOWER      0x40000000u
#define V1_UPPER      0x80000000u
#define V1_COMPARE(a) ((a)&0x1FFFFFFCu)

enum corral_err cortex_m_discover_fpb(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t ctrl = 0;
    if (!m->fpb.known) {
        enum corral_err err = link_read32(c->link, c->ap, FP_CTRL, &ctrl, d);
        if (err)
            return err;
        m->fpb.version = (ctrl >> 28) + 1;
        m->fpb.count = (ctrl >> 8 & 0x70) | (ctrl >> 4 & 0xF);
        m->fpb.was_enabled = (ctrl & 1) != 0;
        if (m->fpb.version > 2)
            m->fpb.count = 0;
        m->fpb.known = true;
    }
    if (m->fpb.count == 0)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "the core has no breakpoint unit that is known");
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

/* A comparator of its own. CORRAL_ERR_LIMIT or CORRAL_ERR_UNSUPPORTED where none can have it. */
static enum corral_err set_comparator(struct core *c, uint32_t address, struct diag *d)
{
    struct cortex_m *m = c->priv;
    enum corral_err err = cortex_m_discover_fpb(c, d);
    if (err)
        return err;
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
        m->fpb.written = true;
        m->fpb.used[i] = true;
        m->fpb.address[i] = address;
        return CORRAL_OK;
    }
    return diag_set(d, CORRAL_ERR_LIMIT, "all %u hardware breakpoints are in use", m->fpb.count);
}

enum corral_err cortex_m_set_breakpoint(struct core *c, uint32_t address, struct diag *d)
{
    struct cortex_m *m = c->priv;
    address &= ~1u;
    if (find(&m->fpb, address) >= 0 || cortex_m_has_patch(c, address))
        return CORRAL_OK;
    struct diag why = DIAG_INIT;
    enum corral_err err = set_comparator(c, address, &why);
    bool none = err == CORRAL_ERR_LIMIT || err == CORRAL_ERR_UNSUPPORTED;
    /* In RAM an instruction will do. Where that fails, why there is no comparator is what is told. */
    if (none && address >= V1_LIMIT && cortex_m_set_patch(c, address, NULL) == CORRAL_OK)
        return CORRAL_OK;
    if (err && d)
        *d = why;
    return err;
}

enum corral_err cortex_m_clear_breakpoint(struct core *c, uint32_t address, struct diag *d)
{
    struct cortex_m *m = c->priv;
    address &= ~1u;
    int i = find(&m->fpb, address);
    if (i < 0)
        return cortex_m_clear_patch(c, address, d);
    enum corral_err err = link_write32(c->link, c->ap, FP_COMP0 + 4 * (uint32_t)i, 0, d);
    if (!err)
        m->fpb.used[i] = false;
    return err;
}

/* Does this comparator, as read, match an instruction at `address`? */
static bool matches(const struct cortex_m_fpb *fpb, uint32_t comp, uint32_t address)
{
    if (!(comp & COMP_ENABLE))
        return false;
    if (fpb->version == 2)
        return (comp & ~1u) == address;
    return address < V1_LIMIT && V1_COMPARE(comp) == V1_COMPARE(address) &&
           (comp & (address & 2 ? V1_UPPER : V1_LOWER)) != 0;
}

enum corral_err cortex_m_comparator_at(struct core *c, uint32_t address, bool *there, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t comp[CORTEX_M_MAX_BREAKPOINTS] = {0};
    *there = false;
    if (cortex_m_discover_fpb(c, NULL) != CORRAL_OK)
        return CORRAL_OK;
    struct link_access a = {.op = LINK_MEM_READ,
                            .size = 4,
                            .ap = c->ap,
                            .address = FP_COMP0,
                            .count = m->fpb.count < CORTEX_M_MAX_BREAKPOINTS ? m->fpb.count
                                                                             : CORTEX_M_MAX_BREAKPOINTS,
                            .data = comp};
    enum corral_err err = link_execute(c->link, &a, 1, d);
    for (uint32_t i = 0; !err && i < a.count; i++)
        *there |= matches(&m->fpb, comp[i], address & ~1u);
    return err;
}

enum corral_err cortex_m_rearm_fpb(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    enum corral_err err = CORRAL_OK;
    bool any = false;
    for (unsigned i = 0; !err && i < m->fpb.count && i < CORTEX_M_MAX_BREAKPOINTS; i++)
        if (m->fpb.used[i]) {
            any = true;
            err = link_write32(c->link, c->ap, FP_COMP0 + 4 * i, encode(&m->fpb, m->fpb.address[i]), d);
        }
    return err || !any ? err : link_write32(c->link, c->ap, FP_CTRL, FP_CTRL_ON, d);
}

enum corral_err cortex_m_release_fpb(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    enum corral_err err = CORRAL_OK;
    for (unsigned i = 0; i < m->fpb.count && i < CORTEX_M_MAX_BREAKPOINTS; i++) {
        if (!m->fpb.used[i])
            continue;
        enum corral_err one = link_write32(c->link, c->ap, FP_COMP0 + 4 * i, 0, err ? NULL : d);
        m->fpb.used[i] = false;
        err = err ? err : one;
    }
    if (m->fpb.written && !m->fpb.was_enabled) {
        enum corral_err one = link_write32(c->link, c->ap, FP_CTRL, FP_CTRL_OFF, err ? NULL : d);
        err = err ? err : one;
    }
    m->fpb.written = false;
    return err;
}
