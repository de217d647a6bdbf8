/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user's own channels of one CTI, and all of its registers to look at. Registers: cross-trigger sheet 1.1;
 * rules 1.4; 13.21 (channels are shared with others' tools); cases A2, A3, A7, A16.
 *
 * Must not touch what halts and restarts the core, nor the channels that a group uses, unless forced to.
 */
#include <inttypes.h>
#include <string.h>

#include "coresight/cti_driver.h"
#include "coresight/cti_internal.h"

/* A register that not every part has: one that faults reads 0. A link that is gone is an error. */
static enum corral_err optional(const struct cti *c, uint32_t reg, uint32_t *value, struct diag *d)
{
    *value = 0;
    enum corral_err err = cti_reg_read(c, reg, value, d);
    if (err != CORRAL_ERR_LINK_FAULT)
        return err;
    *value = 0;
    return CORRAL_OK;
}

enum corral_err cti_show(struct cti *cti, struct cti_registers *r, struct diag *d)
{
    struct cti_mapping m = {0};
    memset(r, 0, sizeof(*r));
    enum corral_err err = cti_read_mapping(cti, &m, d);
    if (err)
        return err;
    r->control = m.control;
    r->gate = m.gate;
    memcpy(r->inen, m.inen, sizeof(r->inen));
    memcpy(r->outen, m.outen, sizeof(r->outen));
    const struct {
        uint32_t reg;
        uint32_t *value;
    } others[] = {
        {CTI_REG_APPSET, &r->appset},
        {CTI_REG_TRIGINSTATUS, &r->trigin_status},
        {CTI_REG_TRIGOUTSTATUS, &r->trigout_status},
        {CTI_REG_CHINSTATUS, &r->channel_in_status},
        {CTI_REG_CHOUTSTATUS, &r->channel_out_status},
        {CTI_REG_ASICCTL, &r->asicctl},
        {CTI_REG_ITCTRL, &r->itctrl},
        {CTI_REG_CLAIMSET, &r->claim_tags},
        {CTI_REG_CLAIMCLR, &r->claim},
        {CTI_REG_LSR, &r->lock_status},
        {CTI_REG_AUTHSTATUS, &r->auth_status},
        {CTI_REG_DEVARCH, &r->devarch},
        {CTI_REG_DEVID, &r->devid},
        {CTI_REG_DEVTYPE, &r->devtype},
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && !err; i++)
        err = optional(cti, others[i].reg, others[i].value, d);
    return err;
}

static uint32_t *word_of(struct cti_mapping *m, enum cti_side side, unsigned trigger)
{
    return side == CTI_SIDE_IN ? &m->inen[trigger] : &m->outen[trigger];
}

/* The channels that halt or restart the core, or would with what the group has at hand. */
static uint32_t run_control_channels(const struct cti *c, const struct cti_mapping *m)
{
    uint32_t mask = m->outen[c->info.halt_output];
    if (c->info.restart_output >= 0)
        mask |= m->outen[c->info.restart_output];
    return c->set_up ? mask | cti_halt_mask(c) | cti_restart_mask(c) : mask;
}

static enum corral_err refuse(const struct cti *c, struct diag *d, const char *what, unsigned number)
{
    diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "%s %u of the CTI at 0x%08" PRIx64 " halts or restarts the core",
             what, number, c->info.address);
    diag_hint(d, "choose another %s; --force does it all the same", what);
    return CORRAL_ERR_CTI_UNUSABLE;
}

static enum corral_err check_channel(const struct cti *c, unsigned channel, struct diag *d)
{
    if (channel >= c->info.channels)
        return diag_set(d, CORRAL_ERR_USAGE, "the CTI at 0x%08" PRIx64 " has channels 0 to %u, and no %u",
                        c->info.address, c->info.channels - 1, channel);
    return CORRAL_OK;
}

static enum corral_err check_connection(const struct cti *c, const struct cti_mapping *m, enum cti_side side,
                                        unsigned trigger, unsigned channel, bool force, struct diag *d)
{
    bool output = side == CTI_SIDE_OUT;
    if (force)
        return CORRAL_OK;
    if (output && (trigger == c->info.halt_output || (int)trigger == c->info.restart_output))
        return refuse(c, d, "output", trigger);
    return run_control_channels(c, m) & 1u << channel ? refuse(c, d, "channel", channel) : CORRAL_OK;
}

static bool is_empty(const struct cti *c, const struct cti_mapping *m)
{
    uint32_t any = 0;
    for (unsigned n = 0; n < c->info.triggers; n++)
        any |= m->inen[n] | m->outen[n];
    return any == 0;
}

/* The group's tear-down must keep what the user connected, and nothing of what a reset had left there. */
static void keep_for_later(struct cti *c, enum cti_side side, unsigned trigger, uint32_t bit, bool on)
{
    if (!c->set_up)
        return;
    if (!c->live) {
        memset(c->found.inen, 0, sizeof(c->found.inen));
        memset(c->found.outen, 0, sizeof(c->found.outen));
        c->live = true;
    }
    struct cti_mapping *both[] = {&c->found, &c->base};
    for (size_t i = 0; i < 2; i++) {
        uint32_t *word = word_of(both[i], side, trigger);
        *word = on ? *word | bit : *word & ~bit;
        if (on)
            both[i]->gate |= bit;
    }
    c->found.control = is_empty(c, &c->found) ? 0 : CTI_GLBEN;
}

/* Zero all connections: while the CTI is off they are what reset left, which may be anything (1.4.12). */
static enum corral_err clear_connections(const struct cti *c, struct cti_mapping *m, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    for (unsigned n = 0; n < c->info.triggers && !err; n++) {
        m->inen[n] = m->outen[n] = 0;
        err = cti_reg_write(c, CTI_REG_INEN + 4 * n, 0, d);
        if (!err)
            err = cti_reg_write(c, CTI_REG_OUTEN + 4 * n, 0, d);
    }
    return err ? err : cti_reg_write(c, CTI_REG_APPCLEAR, c->channel_mask, d);
}

static enum corral_err write_connection(const struct cti *c, struct cti_mapping *m, enum cti_side side,
                                        unsigned trigger, uint32_t bit, struct diag *d)
{
    uint32_t reg = (side == CTI_SIDE_IN ? CTI_REG_INEN : CTI_REG_OUTEN) + 4 * trigger;
    enum corral_err err = m->control ? CORRAL_OK : clear_connections(c, m, d);
    uint32_t *word = word_of(m, side, trigger), back = 0;
    *word |= bit;
    if (!err)
        err = cti_reg_write(c, reg, *word, d);
    if (!err && !(m->gate & bit))
        err = cti_reg_write(c, CTI_REG_GATE, m->gate | bit, d);
    if (!err && !m->control)
        err = cti_reg_write(c, CTI_REG_CONTROL, CTI_GLBEN, d);
    if (!err)
        err = cti_reg_read(c, reg, &back, d);
    if (!err && (back & c->channel_mask) != *word)
        err = diag_set(d, CORRAL_ERR_CTI_UNUSABLE,
                       "the CTI at 0x%08" PRIx64 " is not writable: the connection does not read back",
                       c->info.address);
    return err;
}

static enum corral_err begin(const struct cti *c, enum cti_side side, unsigned trigger, unsigned channel,
                             bool force, struct cti_mapping *m, struct diag *d)
{
    if (trigger >= c->info.triggers)
        return diag_set(d, CORRAL_ERR_USAGE, "the CTI at 0x%08" PRIx64 " has triggers 0 to %u, and no %u",
                        c->info.address, c->info.triggers - 1, trigger);
    enum corral_err err = check_channel(c, channel, d);
    if (!err)
        err = cti_read_mapping(c, m, d);
    /* What is off leads nowhere, whatever reset left in it. */
    struct cti_mapping nothing = {0};
    return err ? err : check_connection(c, m->control ? m : &nothing, side, trigger, channel, force, d);
}

enum corral_err cti_connect(struct cti *cti, enum cti_side side, unsigned trigger, unsigned channel,
                            bool force, struct diag *d)
{
    struct cti_mapping m = {0};
    bool locked = false;
    enum corral_err err = begin(cti, side, trigger, channel, force, &m, d);
    if (err)
        return err;
    uint32_t bit = 1u << channel;
    err = cti_unlock(cti, &locked, d);
    if (!err)
        err = write_connection(cti, &m, side, trigger, bit, d);
    if (!err)
        keep_for_later(cti, side, trigger, bit, true);
    enum corral_err after = cti_relock(cti, locked, err ? NULL : d);
    return err ? err : after;
}

enum corral_err cti_disconnect(struct cti *cti, enum cti_side side, unsigned trigger, unsigned channel,
                               bool force, struct diag *d)
{
    struct cti_mapping m = {0};
    bool locked = false;
    enum corral_err err = begin(cti, side, trigger, channel, force, &m, d);
    if (err)
        return err;
    uint32_t bit = 1u << channel, *word = word_of(&m, side, trigger);
    if (!m.control || !(*word & bit))
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE,
                        "%s %u of the CTI at 0x%08" PRIx64 " is not on channel %u",
                        side == CTI_SIDE_IN ? "input" : "output", trigger, cti->info.address, channel);
    *word &= ~bit;
    err = cti_unlock(cti, &locked, d);
    if (!err)
        err =
            cti_reg_write(cti, (side == CTI_SIDE_IN ? CTI_REG_INEN : CTI_REG_OUTEN) + 4 * trigger, *word, d);
    if (!err && !cti->set_up && is_empty(cti, &m))
        err = cti_reg_write(cti, CTI_REG_CONTROL, 0, d);
    if (!err)
        keep_for_later(cti, side, trigger, bit, false);
    enum corral_err after = cti_relock(cti, locked, err ? NULL : d);
    return err ? err : after;
}

static enum corral_err application(struct cti *c, uint32_t reg, unsigned channel, bool force, struct diag *d)
{
    struct cti_mapping m = {0};
    bool locked = false;
    enum corral_err err = check_channel(c, channel, d);
    if (!err)
        err = cti_read_mapping(c, &m, d);
    if (err)
        return err;
    if (!m.control && reg != CTI_REG_APPCLEAR) { /* A16 */
        diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " is off: a channel has no effect",
                 c->info.address);
        diag_hint(d, "connect a trigger to the channel first");
        return CORRAL_ERR_CTI_UNUSABLE;
    }
    if (!force && reg != CTI_REG_APPCLEAR && (run_control_channels(c, &m) & 1u << channel))
        return refuse(c, d, "channel", channel);
    err = cti_unlock(c, &locked, d);
    if (!err)
        err = cti_reg_write(c, reg, 1u << channel, d);
    enum corral_err after = cti_relock(c, locked, err ? NULL : d);
    return err ? err : after;
}

enum corral_err cti_channel_pulse(struct cti *cti, unsigned channel, bool force, struct diag *d)
{
    return application(cti, CTI_REG_APPPULSE, channel, force, d);
}

enum corral_err cti_channel_set(struct cti *cti, unsigned channel, bool force, struct diag *d)
{
    return application(cti, CTI_REG_APPSET, channel, force, d);
}

enum corral_err cti_channel_clear(struct cti *cti, unsigned channel, bool force, struct diag *d)
{
    return application(cti, CTI_REG_APPCLEAR, channel, force, d);
}
