/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watchpoints and the cycle count: the DWT of v6-M, v7-M (MASK, FUNCTION as one number) and v8-M (FUNCTION
 * with MATCH, ACTION and DATAVSIZE). Cross-trigger sheet 3.1. Comparators that somebody else uses are left
 * alone; what a comparator cannot do shows by reading back.
 */
#include <inttypes.h>

#include "core/cortex_m.h"

#define DWT_CTRL     0xE0001000u
#define DWT_CYCCNT   0xE0001004u
#define DWT_COMP     0xE0001020u
#define DWT_MASK     0xE0001024u
#define DWT_FUNCTION 0xE0001028u
#define STRIDE       16u

#define CYCCNTENA  1u
#define NOCYCCNT   (1u << 25)
#define V8_ACTION  (1u << 4) /* debug event */
#define V8_WRITTEN 0xC3Fu    /* DATAVSIZE, ACTION, MATCH */
#define V8_LARGEST 4u
#define V7_WRITTEN 0xFu
#define V7_LARGEST 0x8000u /* MASK has at most 15 */

/* DWT_CTRL; its clock goes with TRCENA, which is put back where we only look. */
static enum corral_err read_ctrl(struct core *c, uint32_t *ctrl, struct diag *d)
{
    uint32_t demcr = 0;
    enum corral_err err = link_read32(c->link, c->ap, CORTEX_M_DEMCR, &demcr, d);
    if (!err && !(demcr & DEMCR_TRCENA))
        err = cortex_m_write32(c, CORTEX_M_DEMCR, demcr | DEMCR_TRCENA, d);
    if (!err)
        err = link_read32(c->link, c->ap, DWT_CTRL, ctrl, d);
    if (!(demcr & DEMCR_TRCENA)) {
        enum corral_err after = cortex_m_write32(c, CORTEX_M_DEMCR, demcr, err ? NULL : d);
        err = err ? err : after;
    }
    return err;
}

enum corral_err cortex_m_read_dwt(struct core *c, unsigned *watchpoints, bool *cycle_counter, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t ctrl = 0;
    enum corral_err err = cortex_m_identify(c, d);
    if (!err)
        err = read_ctrl(c, &ctrl, d);
    *watchpoints = ctrl >> 28;
    *cycle_counter = m->info.arch != CORE_ARCH_V6M && !(ctrl & NOCYCCNT);
    return err;
}

enum corral_err cortex_m_read_cycles(struct core *c, uint32_t *cycles, struct diag *d)
{
    struct cortex_m *m = c->priv;
    uint32_t ctrl = 0;
    enum corral_err err = cortex_m_identify(c, d);
    if (!err && m->info.arch == CORE_ARCH_V6M)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "an Armv6-M core has no cycle counter");
    if (!err)
        err = cortex_m_change_demcr(c, DEMCR_TRCENA, true, d);
    if (!err)
        err = link_read32(c->link, c->ap, DWT_CTRL, &ctrl, d);
    if (err)
        return err;
    if (ctrl & NOCYCCNT)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "the core has no cycle counter");
    if (!(ctrl & CYCCNTENA)) {
        m->cyccnt_ours = true;
        err = cortex_m_write32(c, DWT_CTRL, ctrl | CYCCNTENA, d);
    }
    return err ? err : link_read32(c->link, c->ap, DWT_CYCCNT, cycles, d);
}

/* FUNCTION and MASK for a watchpoint. */
static enum corral_err encode_watch(const struct cortex_m *m, struct cortex_m_watch *w, enum core_watch watch,
                                    struct diag *d)
{
    bool v8 = cortex_m_is_v8(m);
    uint32_t largest = v8 ? V8_LARGEST : V7_LARGEST, log2 = 0;
    if (w->size == 0 || (w->size & (w->size - 1)) || w->address % w->size)
        return diag_set(d, CORRAL_ERR_USAGE,
                        "a watchpoint needs a power of two bytes, at an address that is a multiple of it");
    if (w->size > largest)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED,
                        "a comparator of this core watches at most %" PRIu32 " bytes", largest);
    while (1u << log2 < w->size)
        log2++;
    w->comp = w->address;
    w->mask = v8 ? 0 : log2;
    if (v8)
        w->function = log2 << 10 | V8_ACTION |
                      (watch == CORE_WATCH_ACCESS  ? 4u
                       : watch == CORE_WATCH_WRITE ? 5u
                                                   : 6u);
    else
        w->function = watch == CORE_WATCH_ACCESS ? 7u : watch == CORE_WATCH_WRITE ? 6u : 5u;
    return CORRAL_OK;
}

static uint32_t written_bits(const struct cortex_m *m)
{
    return cortex_m_is_v8(m) ? V8_WRITTEN : V7_WRITTEN;
}

/* *took: it reads back as it was written. */
static enum corral_err write_comparator(struct core *c, unsigned i, const struct cortex_m_watch *w,
                                        bool *took, struct diag *d)
{
    const struct cortex_m *m = c->priv;
    uint32_t at = STRIDE * i, function = 0, mask = 0;
    bool v8 = cortex_m_is_v8(m);
    enum corral_err err = cortex_m_write32(c, DWT_COMP + at, w->comp, d);
    if (!err && !v8)
        err = cortex_m_write32(c, DWT_MASK + at, w->mask, d);
    if (!err && !v8)
        err = link_read32(c->link, c->ap, DWT_MASK + at, &mask, d);
    if (!err)
        err = cortex_m_write32(c, DWT_FUNCTION + at, w->function, d);
    if (!err)
        err = link_read32(c->link, c->ap, DWT_FUNCTION + at, &function, d);
    *took = !err && (function & written_bits(m)) == w->function && mask == w->mask;
    if (!err && !*took)
        err = cortex_m_write32(c, DWT_FUNCTION + at, 0, d);
    return err;
}

enum corral_err cortex_m_set_watchpoint(struct core *c, uint32_t address, uint32_t size,
                                        enum core_watch watch, struct diag *d)
{
    struct cortex_m *m = c->priv;
    struct cortex_m_watch w = {.used = true, .address = address, .size = size};
    uint32_t ctrl = 0;
    enum corral_err err = cortex_m_identify(c, d);
    if (!err)
        err = encode_watch(m, &w, watch, d);
    if (!err)
        err = cortex_m_change_demcr(c, DEMCR_TRCENA, true, d);
    if (!err)
        err = link_read32(c->link, c->ap, DWT_CTRL, &ctrl, d);
    if (err)
        return err;
    unsigned count = ctrl >> 28;
    if (count == 0)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "the core has no watchpoints");
    for (unsigned i = 0; i < count; i++)
        if (m->watch[i].used && m->watch[i].address == address && m->watch[i].size == size)
            return m->watch[i].function == w.function
                       ? CORRAL_OK
                       : diag_set(d, CORRAL_ERR_USAGE, "0x%08" PRIx32 " is watched already", address);
    for (unsigned i = 0; i < count; i++) {
        uint32_t function = 0;
        bool took = false;
        if (m->watch[i].used)
            continue;
        err = link_read32(c->link, c->ap, DWT_FUNCTION + STRIDE * i, &function, d);
        if (!err && (function & V7_WRITTEN))
            continue; /* another tool's */
        if (!err)
            err = write_comparator(c, i, &w, &took, d);
        if (err)
            return err;
        if (took) {
            m->watch[i] = w;
            return CORRAL_OK;
        }
    }
    return diag_set(d, CORRAL_ERR_LIMIT, "none of the %u watchpoints is free and can do this", count);
}

enum corral_err cortex_m_clear_watchpoint(struct core *c, uint32_t address, uint32_t size, struct diag *d)
{
    struct cortex_m *m = c->priv;
    for (unsigned i = 0; i < CORTEX_M_MAX_WATCHPOINTS; i++) {
        if (!m->watch[i].used || m->watch[i].address != address || m->watch[i].size != size)
            continue;
        enum corral_err err = cortex_m_write32(c, DWT_FUNCTION + STRIDE * i, 0, d);
        if (!err)
            m->watch[i].used = false;
        return err;
    }
    return diag_set(d, CORRAL_ERR_USAGE, "there is no watchpoint at 0x%08" PRIx32, address);
}

enum corral_err cortex_m_rearm_dwt(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    enum corral_err err = CORRAL_OK;
    bool took = false, any = false;
    for (unsigned i = 0; i < CORTEX_M_MAX_WATCHPOINTS; i++)
        any |= m->watch[i].used;
    if (any)
        err = cortex_m_change_demcr(c, DEMCR_TRCENA, true, d);
    for (unsigned i = 0; !err && any && i < CORTEX_M_MAX_WATCHPOINTS; i++)
        if (m->watch[i].used)
            err = write_comparator(c, i, &m->watch[i], &took, d);
    return err;
}

enum corral_err cortex_m_release_dwt(struct core *c, struct diag *d)
{
    struct cortex_m *m = c->priv;
    enum corral_err err = CORRAL_OK;
    uint32_t ctrl = 0;
    for (unsigned i = 0; i < CORTEX_M_MAX_WATCHPOINTS; i++) {
        if (!m->watch[i].used)
            continue;
        enum corral_err one =
            cortex_m_clear_watchpoint(c, m->watch[i].address, m->watch[i].size, err ? NULL : d);
        err = err ? err : one;
    }
    if (m->cyccnt_ours) {
        enum corral_err one = link_read32(c->link, c->ap, DWT_CTRL, &ctrl, err ? NULL : d);
        if (!one)
            one = cortex_m_write32(c, DWT_CTRL, ctrl & ~CYCCNTENA, err ? NULL : d);
        err = err ? err : one;
        m->cyccnt_ours = false;
    }
    return err;
}
