/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a debugger left in one CTI that ended without tearing it down. Cross-trigger sheet 1.4 (rules 3, 5,
 * 7), cases A5, A24.
 *
 * Must not take away what firmware or a user connected: where the part has claim tags, connections count as
 * left over only under ours; where it has none, only what a debugger alone makes (halted to the debug request
 * on one channel, and restart beside it).
 */
#include "coresight/cti_driver.h"
#include "coresight/cti_internal.h"

bool cti_has_leftovers(const struct cti_leftovers *l)
{
    return l->request || l->held || l->halt_channels || l->restart_channels || l->claimed;
}

static uint32_t restart_of(const struct cti *c, const struct cti_mapping *m)
{
    return c->info.restart_output >= 0 ? m->outen[c->info.restart_output] : 0;
}

enum corral_err cti_find_leftovers(struct cti *cti, struct cti_leftovers *l, struct diag *d)
{
    struct cti_mapping m = {0};
    uint32_t appset = 0, tags = 0, claim = 0;
    *l = (struct cti_leftovers){false};
    enum corral_err err = cti_read_mapping(cti, &m, d);
    if (!err)
        err = cti_reg_read(cti, CTI_REG_APPSET, &appset, d);
    if (!err)
        err = cti_request_asserted(cti, &l->request, d);
    if (!err)
        err = cti_reg_read(cti, CTI_REG_CLAIMSET, &tags, d);
    if (!err && tags)
        err = cti_reg_read(cti, CTI_REG_CLAIMCLR, &claim, d);
    if (err)
        return err;
    uint32_t in = m.inen[cti->info.halted_input], out = m.outen[cti->info.halt_output];
    l->claimed = (claim & CTI_CLAIM_OURS) != 0;
    if (l->claimed) {
        /* It may have died anywhere: with the halted input taken off, or before it was on. */
        l->halt_channels = in | out;
        l->restart_channels = restart_of(cti, &m);
    } else if (m.control && !tags && (in & out)) {
        l->halt_channels = in & out;
        l->restart_channels = restart_of(cti, &m);
    }
    /* A channel that is held drives them for ever (A5). */
    if (m.control || l->claimed)
        l->held = appset & cti->channel_mask & (out | restart_of(cti, &m));
    return CORRAL_OK;
}

static bool is_empty(const struct cti *c, const struct cti_mapping *m)
{
    uint32_t any = 0;
    for (unsigned n = 0; n < c->info.triggers; n++)
        any |= m->inen[n] | m->outen[n];
    return any == 0;
}

enum corral_err cti_clear_leftovers(struct cti *cti, const struct cti_leftovers *l, struct diag *d)
{
    struct cti_mapping m = {0};
    unsigned in = cti->info.halted_input, out = cti->info.halt_output;
    bool locked = false, asserted = false;
    enum corral_err err = cti_unlock(cti, &locked, d);
    if (!err)
        err = cti_read_mapping(cti, &m, d);
    m.inen[in] &= ~l->halt_channels;
    m.outen[out] &= ~l->halt_channels;
    if (!err && l->halt_channels)
        err = cti_reg_write(cti, CTI_REG_INEN + 4 * in, m.inen[in], d);
    if (!err && l->restart_channels) {
        unsigned n = (unsigned)cti->info.restart_output;
        m.outen[n] &= ~l->restart_channels;
        err = cti_reg_write(cti, CTI_REG_OUTEN + 4 * n, m.outen[n], d);
    }
    if (!err && (l->held | l->halt_channels | l->restart_channels))
        err = cti_reg_write(cti, CTI_REG_APPCLEAR, l->held | l->halt_channels | l->restart_channels, d);
    /* Acknowledge with the output still connected, then take that away too. */
    if (!err)
        err = cti_request_asserted(cti, &asserted, d);
    if (!err && asserted)
        err = cti_drop_request(cti, d);
    enum corral_err stuck = err == CORRAL_ERR_CTI_STUCK ? err : CORRAL_OK;
    if (stuck)
        err = CORRAL_OK;
    if (!err && l->halt_channels)
        err = cti_reg_write(cti, CTI_REG_OUTEN + 4 * out, m.outen[out], stuck ? NULL : d);
    if (!err && m.control && (l->halt_channels || l->claimed) && is_empty(cti, &m))
        err = cti_reg_write(cti, CTI_REG_CONTROL, 0, stuck ? NULL : d);
    if (!err && stuck && l->halt_channels) /* without its source it may drop now */
        stuck = cti_drop_request(cti, d);
    if (!err && !stuck && l->claimed)
        err = cti_reg_write(cti, CTI_REG_CLAIMCLR, CTI_CLAIM_OURS, d);
    if (!err)
        err = stuck;
    enum corral_err after = cti_relock(cti, locked, err ? NULL : d);
    return err ? err : after;
}
