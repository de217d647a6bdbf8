/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CTI that somebody else programs, a debug sequence of a pack: what is there is set aside before, and what
 * the sequence made is taken as set up afterwards. Cross-trigger sheet 1.4 (rules 8, 12), 13.2, 13.3.
 *
 * Must not program the connections themselves. A sequence writes as if after reset, and may rely on it
 * (13.2: GATE is never written), so that state is made where the CTI is off and nobody claims it; a closed
 * lock is opened for it (13.3).
 */
#include <inttypes.h>

#include "coresight/cti_driver.h"
#include "coresight/cti_internal.h"

static uint32_t lowest(uint32_t mask)
{
    return mask & (~mask + 1);
}

static unsigned number_of(uint32_t bit)
{
    unsigned n = 0;
    while (n < CTI_MAX_CHANNELS && !(bit >> n & 1))
        n++;
    return bit ? n : CTI_NO_CHANNEL;
}

static uint32_t restart_of(const struct cti *c, const struct cti_mapping *m)
{
    return c->info.restart_output >= 0 ? m->outen[c->info.restart_output] : 0;
}

/* As reset leaves an M-profile CTI: no connection, all gates open, no channel held. Only what differs is
 * written. */
static enum corral_err as_after_reset(const struct cti *c, struct diag *d)
{
    struct cti_mapping now = {0};
    uint32_t held = 0;
    enum corral_err err = cti_read_mapping(c, &now, d);
    if (err || now.control)
        return err;
    for (uint32_t n = 0; n < c->info.triggers && !err; n++) {
        if (now.inen[n])
            err = cti_reg_write(c, CTI_REG_INEN + 4 * n, 0, d);
        if (!err && now.outen[n])
            err = cti_reg_write(c, CTI_REG_OUTEN + 4 * n, 0, d);
    }
    if (!err && now.gate != c->channel_mask)
        err = cti_reg_write(c, CTI_REG_GATE, c->channel_mask, d);
    if (!err)
        err = cti_reg_read(c, CTI_REG_APPSET, &held, d);
    if (!err && (held & c->channel_mask))
        err = cti_reg_write(c, CTI_REG_APPCLEAR, held & c->channel_mask, d);
    return err;
}

enum corral_err cti_set_aside(struct cti *cti, struct diag *d)
{
    if (cti->set_up && !cti->owed) /* by cti_setup */
        return cti_already_set_up(cti, d);
    cti->refusal = CTI_REFUSAL_NONE;
    bool again = cti->set_up;
    cti->fresh = !cti->owed;
    if (cti->fresh)
        cti->halt_channel = cti->restart_channel = CTI_NO_CHANNEL;
    enum corral_err err = cti_remember(cti, d);
    if (err) {
        if (!again)
            cti_relock(cti, cti->locked, NULL);
        return err;
    }
    cti->owed = true;
    if (!again || cti->claimed)
        err = cti_claim(cti, d);
    if (!err && (again || !cti->live))
        err = as_after_reset(cti, d);
    return err;
}

void cti_take_over(struct cti *cti)
{
    struct cti_mapping *m = &cti->found;
    unsigned in = cti->info.halted_input, out = cti->info.halt_output;
    uint32_t any = 0, both = m->inen[in] & m->outen[out];
    if (!cti->owed || !cti->fresh || cti->set_up)
        return;
    /* Where it did not come to its end, all of the three are what it got to. */
    m->inen[in] &= both ? ~both : 0;
    m->outen[out] &= both ? ~both : 0;
    if (cti->info.restart_output >= 0)
        m->outen[cti->info.restart_output] = 0;
    for (unsigned n = 0; n < cti->info.triggers; n++)
        any |= m->inen[n] | m->outen[n];
    if (!any)
        m->control = 0;
    cti->live &= m->control != 0;
}

/* Off, a connection or a gate that is missing: what a set-up that did not hold looks like. */
static enum corral_err incomplete(const struct cti *c, const struct cti_mapping *m, struct diag *d)
{
    uint64_t at = c->info.address;
    uint32_t in = m->inen[c->info.halted_input], out = m->outen[c->info.halt_output];
    uint32_t restart = restart_of(c, m);
    if (!m->control)
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " is off: CTICONTROL is 0", at);
    if (!(in & out))
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE,
                        "the CTI at 0x%08" PRIx64
                        " has no channel from halted to the debug request: CTIINEN%u "
                        "is 0x%" PRIx32 ", CTIOUTEN%u is 0x%" PRIx32,
                        at, c->info.halted_input, in, c->info.halt_output, out);
    if (restart & (in | out))
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE,
                        "the CTI at 0x%08" PRIx64 " would restart on the channel that halts: CTIOUTEN%d is "
                        "0x%" PRIx32 ", CTIOUTEN%u is 0x%" PRIx32,
                        at, c->info.restart_output, restart, c->info.halt_output, out);
    if ((lowest(in & out) | lowest(restart)) & ~m->gate)
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE,
                        "the CTI at 0x%08" PRIx64 " keeps its channels to itself: CTIGATE is 0x%" PRIx32, at,
                        m->gate);
    return CORRAL_OK;
}

enum corral_err cti_adopt(struct cti *cti, unsigned *halt_channel, unsigned *restart_channel, struct diag *d)
{
    struct cti_mapping now = {0};
    uint32_t held = 0;
    unsigned in = cti->info.halted_input, out = cti->info.halt_output;
    *halt_channel = *restart_channel = CTI_NO_CHANNEL;
    if (!cti->owed)
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " has not been set aside",
                        cti->info.address);
    cti->refusal = CTI_REFUSAL_NONE;
    enum corral_err err = cti_read_mapping(cti, &now, d);
    if (!err)
        err = cti_reg_read(cti, CTI_REG_APPSET, &held, d);
    if (!err)
        err = incomplete(cti, &now, d);
    if (err)
        return err;
    uint32_t h = lowest(now.inen[in] & now.outen[out]), r = lowest(restart_of(cti, &now));
    uint32_t taken = held & cti->channel_mask;
    if (cti->live)
        taken |= cti_foreign_channels(cti, &cti->found);
    if (taken & (h | r))
        return cti_refuse_taken(cti, number_of(h), number_of(r), d);
    *halt_channel = cti->halt_channel = number_of(h);
    *restart_channel = cti->restart_channel = number_of(r);
    cti->base = now;
    cti->base.inen[in] &= ~h;
    cti->base.outen[out] &= ~h;
    if (r)
        cti->base.outen[cti->info.restart_output] &= ~r;
    cti->engaged = CTI_ALL_CONNECTIONS;
    cti->unsure = cti->silent = false;
    cti->set_up = true;
    return CORRAL_OK;
}
