/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driving one CTI: its set-up for run control, acknowledge, tear-down. Registers: cross-trigger sheet 1.1 and
 * 1.2; rules: 1.4; order of writes: 1.7; cases A1 to A8, A16 to A18, A25, A30.
 *
 * Must not decide anything (which channels, when to acknowledge) and must not write a bit that is not ours:
 * trace and interrupt triggers belong to the firmware (A7). Never writes past NUMTRIG and NUMCHAN (A2, A3).
 */
#include "coresight/cti_driver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coresight/cti_internal.h"

enum corral_err cti_reg_read(const struct cti *c, uint32_t reg, uint32_t *value, struct diag *d)
{
    return link_read32(c->link, c->info.ap, c->info.address + reg, value, d);
}

enum corral_err cti_reg_write(const struct cti *c, uint32_t reg, uint32_t value, struct diag *d)
{
    return link_write32(c->link, c->info.ap, c->info.address + reg, value, d);
}

static enum corral_err block(const struct cti *c, enum link_op op, uint32_t reg, uint32_t *words,
                             struct diag *d)
{
    struct link_access a = {.op = op,
                            .size = 4,
                            .ap = c->info.ap,
                            .address = c->info.address + reg,
                            .count = c->info.triggers,
                            .data = words};
    return link_execute(c->link, &a, 1, d);
}

struct cti *cti_open(struct link *link, uint32_t ap, uint64_t address, int restart_output, struct diag *d)
{
    uint32_t devid = 0;
    if (link_read32(link, ap, address + CTI_REG_DEVID, &devid, d))
        return NULL;
    unsigned triggers = devid >> 8 & 0x3F, channels = devid >> 16 & 0x3F;
    if (triggers == 0 || triggers > CTI_MAX_TRIGGERS || channels == 0 || channels > CTI_MAX_CHANNELS) {
        diag_set(d, CORRAL_ERR_CTI_UNUSABLE,
                 "the CTI at 0x%08" PRIx64 " cannot be used: DEVID 0x%08" PRIx32
                 " names %u triggers and %u channels",
                 address, devid, triggers, channels);
        return NULL;
    }
    struct cti *c = calloc(1, sizeof(*c));
    if (!c) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    c->link = link;
    c->channel_mask = channels == 32 ? UINT32_MAX : (1u << channels) - 1;
    c->info = (struct cti_info){
        .address = address,
        .ap = ap,
        .triggers = triggers,
        .channels = channels,
        .gate_masks_inputs = (devid >> 24 & 3) == 1,
        .halted_input = 0,
        .halt_output = 0,
        .restart_output = restart_output > 0 && restart_output < (int)triggers ? restart_output : -1,
    };
    return c;
}

void cti_close(struct cti *cti)
{
    free(cti);
}

const struct cti_info *cti_get_info(const struct cti *cti)
{
    return &cti->info;
}

bool cti_is_set_up(const struct cti *cti)
{
    return cti->set_up;
}

enum cti_refusal cti_why_refused(const struct cti *cti)
{
    return cti->refusal;
}

unsigned cti_engaged(const struct cti *cti)
{
    return cti->set_up ? cti->engaged : 0;
}

static enum corral_err not_set_up(const struct cti *c, struct diag *d)
{
    return diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " is not set up", c->info.address);
}

uint32_t cti_halt_mask(const struct cti *c)
{
    return c->halt_channel != CTI_NO_CHANNEL ? 1u << c->halt_channel : 0;
}

uint32_t cti_restart_mask(const struct cti *c)
{
    return c->info.restart_output >= 0 && c->restart_channel != CTI_NO_CHANNEL ? 1u << c->restart_channel : 0;
}

enum corral_err cti_read_mapping(const struct cti *c, struct cti_mapping *m, struct diag *d)
{
    enum corral_err err = cti_reg_read(c, CTI_REG_CONTROL, &m->control, d);
    if (!err)
        err = block(c, LINK_MEM_READ, CTI_REG_INEN, m->inen, d);
    if (!err)
        err = block(c, LINK_MEM_READ, CTI_REG_OUTEN, m->outen, d);
    if (!err)
        err = cti_reg_read(c, CTI_REG_GATE, &m->gate, d);
    for (unsigned n = 0; n < c->info.triggers; n++) {
        m->inen[n] &= c->channel_mask;
        m->outen[n] &= c->channel_mask;
    }
    m->gate &= c->channel_mask;
    m->control &= CTI_GLBEN;
    return err;
}

enum corral_err cti_unlock(const struct cti *c, bool *locked, struct diag *d)
{
    uint32_t lsr = 0;
    enum corral_err err = cti_reg_read(c, CTI_REG_LSR, &lsr, d);
    *locked = !err && (lsr & CTI_LSR_LOCKED);
    /* Harmless where there is no lock; without it every write vanishes where there is one (A17). */
    return err ? err : cti_reg_write(c, CTI_REG_LAR, CTI_LAR_KEY, d);
}

enum corral_err cti_relock(const struct cti *c, bool locked, struct diag *d)
{
    return locked ? cti_reg_write(c, CTI_REG_LAR, 0, d) : CORRAL_OK;
}

uint32_t cti_foreign_channels(const struct cti *c, const struct cti_mapping *m)
{
    uint32_t mask = m->inen[c->info.halted_input] ^ m->outen[c->info.halt_output];
    for (unsigned n = 0; n < c->info.triggers; n++) {
        if (n != c->info.halted_input)
            mask |= m->inen[n];
        if (n != c->info.halt_output && (int)n != c->info.restart_output)
            mask |= m->outen[n];
    }
    return mask;
}

/* Are the mappings found in force? While GLBEN is 0 and nobody claims the CTI they are what reset left. */
static enum corral_err mappings_live(const struct cti *c, const struct cti_mapping *m, bool *live,
                                     struct diag *d)
{
    uint32_t claim = 0;
    *live = m->control != 0;
    if (*live)
        return CORRAL_OK;
    enum corral_err err = cti_reg_read(c, CTI_REG_CLAIMCLR, &claim, d);
    *live = !err && claim != 0;
    return err;
}

/* What is routed, or held by the application side, while the CTI is on. */
static enum corral_err channels_in_use(const struct cti *c, const struct cti_mapping *m, uint32_t *mask,
                                       struct diag *d)
{
    uint32_t held = 0;
    enum corral_err err = cti_reg_read(c, CTI_REG_APPSET, &held, d);
    *mask = cti_foreign_channels(c, m) | (held & c->channel_mask);
    return err;
}

enum corral_err cti_used_channels(struct cti *cti, uint32_t *mask, struct diag *d)
{
    struct cti_mapping m = {0};
    bool live = false;
    *mask = 0;
    enum corral_err err = cti_read_mapping(cti, &m, d);
    if (!err)
        err = mappings_live(cti, &m, &live, d);
    if (!err && live)
        err = channels_in_use(cti, &m, mask, d);
    return err;
}

/* The mapping with those of our own connections that are engaged. */
static void compose(const struct cti *c, struct cti_mapping *m)
{
    *m = c->base;
    if (c->engaged & CTI_HALTED)
        m->inen[c->info.halted_input] |= cti_halt_mask(c);
    if (c->engaged & CTI_REQUEST)
        m->outen[c->info.halt_output] |= cti_halt_mask(c);
    if ((c->engaged & CTI_RESTART) && cti_restart_mask(c))
        m->outen[c->info.restart_output] |= cti_restart_mask(c);
}

/* What the registers have to say when we are done. What reset left is cleared: it may be anything (1.4.12).
 */
static void plan(struct cti *c)
{
    uint32_t ours = cti_halt_mask(c) | cti_restart_mask(c);
    c->base = c->found;
    for (unsigned n = 0; n < c->info.triggers; n++) {
        c->base.inen[n] &= c->live ? ~ours : 0;
        c->base.outen[n] &= c->live ? ~ours : 0;
    }
    c->base.gate |= ours;
    c->base.control = CTI_GLBEN;
}

/* Acknowledge the debug request if it is asserted. Other outputs are the firmware's (A7). */
static enum corral_err acknowledge_if_asserted(const struct cti *c, uint32_t channels, struct diag *d)
{
    uint32_t status = 0;
    enum corral_err err = cti_reg_write(c, CTI_REG_APPCLEAR, channels, d);
    if (!err)
        err = cti_reg_read(c, CTI_REG_TRIGOUTSTATUS, &status, d);
    if (!err && (status & 1u << c->info.halt_output))
        err = cti_reg_write(c, CTI_REG_INTACK, 1u << c->info.halt_output, d);
    return err;
}

/* The safe order: off, mappings, gate, on. */
static enum corral_err write_mapping(const struct cti *c, const struct cti_mapping *m, struct diag *d)
{
    struct cti_mapping copy = *m;
    enum corral_err err = cti_reg_write(c, CTI_REG_CONTROL, 0, d);
    if (!err)
        err = block(c, LINK_MEM_WRITE, CTI_REG_INEN, copy.inen, d);
    if (!err)
        err = block(c, LINK_MEM_WRITE, CTI_REG_OUTEN, copy.outen, d);
    if (!err)
        err = acknowledge_if_asserted(c, cti_halt_mask(c) | cti_restart_mask(c), d);
    if (!err)
        err = cti_reg_write(c, CTI_REG_GATE, copy.gate, d);
    if (!err && copy.control)
        err = cti_reg_write(c, CTI_REG_CONTROL, copy.control, d);
    return err;
}

const char *cti_difference(const struct cti *c, const struct cti_mapping *a, const struct cti_mapping *b)
{
    for (unsigned n = 0; n < c->info.triggers; n++) {
        if (a->inen[n] != b->inen[n])
            return "CTIINEN";
        if (a->outen[n] != b->outen[n])
            return "CTIOUTEN";
    }
    if (a->gate != b->gate)
        return "CTIGATE";
    return a->control != b->control ? "CTICONTROL" : NULL;
}

static enum corral_err read_back(struct cti *c, struct diag *d)
{
    struct cti_mapping now = {0}, wanted;
    uint32_t lsr = 0;
    compose(c, &wanted);
    enum corral_err err = cti_read_mapping(c, &now, d);
    if (err)
        return err;
    const char *name = cti_difference(c, &now, &wanted);
    c->unsure &= name != NULL;
    if (!name)
        return CORRAL_OK;
    /* A18: as it was before, whatever was written. A30: some of it was taken. */
    if (cti_difference(c, &now, &c->found)) {
        diag_set(d, CORRAL_ERR_CTI_PARTIAL,
                 "the CTI at 0x%08" PRIx64 " took only a part of what was written: %s does not read back",
                 c->info.address, name);
        diag_hint(d, "was it reset meanwhile, or is another tool or the firmware writing to it?");
        return CORRAL_ERR_CTI_PARTIAL;
    }
    c->refusal = CTI_REFUSAL_NOT_WRITABLE;
    diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " is not writable: %s does not read back",
             c->info.address, name);
    if (!cti_reg_read(c, CTI_REG_LSR, &lsr, NULL) && (lsr & CTI_LSR_LOCKED))
        diag_hint(d, "its lock does not open");
    else
        diag_hint(d, "it may be without clock, or debug authentication may be off");
    return CORRAL_ERR_CTI_UNUSABLE;
}

static enum corral_err check_channels(struct cti *c, unsigned halt, unsigned restart, struct diag *d)
{
    bool two = restart != CTI_NO_CHANNEL;
    if (halt < c->info.channels && (!two || (restart < c->info.channels && restart != halt)))
        return CORRAL_OK;
    c->refusal = CTI_REFUSAL_CHANNELS;
    if (two)
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE,
                        "the CTI at 0x%08" PRIx64 " has %u channels: %u and %u cannot be used",
                        c->info.address, c->info.channels, halt, restart);
    return diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " has no channel %u",
                    c->info.address, halt);
}

enum corral_err cti_claim(struct cti *c, struct diag *d)
{
    uint32_t tags = 0;
    enum corral_err err = cti_reg_read(c, CTI_REG_CLAIMSET, &tags, d);
    if (err || !(tags & CTI_CLAIM_OURS))
        return err;
    err = cti_reg_write(c, CTI_REG_CLAIMSET, CTI_CLAIM_OURS, d);
    c->claimed = !err;
    return err;
}

static enum corral_err unclaim(struct cti *c, struct diag *d)
{
    enum corral_err err = c->claimed ? cti_reg_write(c, CTI_REG_CLAIMCLR, CTI_CLAIM_OURS, d) : CORRAL_OK;
    c->claimed &= err != CORRAL_OK;
    return err;
}

enum corral_err cti_remember(struct cti *c, struct diag *d)
{
    uint32_t itctrl = 0;
    bool locked = false;
    enum corral_err err = cti_unlock(c, &locked, d);
    if (!err && !c->owed) { /* else what was found the first time is what is to be put back */
        memset(&c->found, 0, sizeof(c->found));
        c->locked = locked;
        err = cti_read_mapping(c, &c->found, d);
        if (!err)
            err = mappings_live(c, &c->found, &c->live, d);
    }
    if (!err)
        err = cti_reg_read(c, CTI_REG_ITCTRL, &itctrl, d);
    if (err || !(itctrl & 1))
        return err;
    c->refusal = CTI_REFUSAL_TEST_MODE;
    return diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " is in integration test mode",
                    c->info.address);
}

enum corral_err cti_refuse_taken(struct cti *c, unsigned halt, unsigned restart, struct diag *d)
{
    c->refusal = CTI_REFUSAL_TAKEN;
    return diag_set(d, CORRAL_ERR_CTI_UNUSABLE,
                    "the CTI at 0x%08" PRIx64
                    " is in use: another tool or the firmware routes or holds channel %u or %u",
                    c->info.address, halt, restart);
}

/* Look at what is there, before anything but the lock is written. */
static enum corral_err look(struct cti *c, struct diag *d)
{
    uint32_t used = 0;
    enum corral_err err = cti_remember(c, d);
    if (!err && c->live)
        err = channels_in_use(c, &c->found, &used, d);
    if (!err && (used & (cti_halt_mask(c) | cti_restart_mask(c))))
        err = cti_refuse_taken(c, c->halt_channel, c->restart_channel, d);
    return err;
}

/* Put back what was found, as far as it goes. The first error is the one to tell, but for one write that
 * faulted after others had been taken: where those cannot be put back it is a part (A30). */
static enum corral_err roll_back(struct cti *c, enum corral_err why, struct diag *d)
{
    struct cti_mapping now = {0};
    enum corral_err err = write_mapping(c, &c->found, NULL);
    enum corral_err tag = unclaim(c, NULL);
    if (!err)
        err = cti_read_mapping(c, &now, NULL);
    if (!err && cti_difference(c, &now, &c->found))
        err = CORRAL_ERR_CTI_PARTIAL;
    cti_relock(c, c->locked, NULL);
    c->owed = err || tag;
    if (!err)
        return why;
    if (why == CORRAL_ERR_LINK_FAULT)
        why = diag_set(d, CORRAL_ERR_CTI_PARTIAL,
                       "the CTI at 0x%08" PRIx64 " took only a part of what was written: a write faulted",
                       c->info.address);
    if (d)
        diag_hint(d, "what was written to it could not be put back");
    return why;
}

static enum corral_err set_up(struct cti *c, unsigned halt_channel, unsigned restart_channel,
                              unsigned connections, struct diag *d)
{
    c->refusal = CTI_REFUSAL_NONE;
    enum corral_err err = check_channels(c, halt_channel, restart_channel, d);
    if (err)
        return err;
    c->halt_channel = halt_channel;
    c->restart_channel = restart_channel;
    c->engaged = connections;
    err = look(c, d);
    if (err) {
        cti_relock(c, c->locked, NULL);
        return err;
    }
    plan(c);
    struct cti_mapping wanted;
    compose(c, &wanted);
    err = cti_claim(c, d);
    /* Acknowledge before GLBEN goes off: afterwards an output may stay (sheet 1.4, rule 3). */
    if (!err)
        err = acknowledge_if_asserted(c, cti_halt_mask(c) | cti_restart_mask(c), d);
    if (!err)
        err = write_mapping(c, &wanted, d);
    if (!err)
        err = read_back(c, d);
    if (err)
        err = roll_back(c, err, d);
    c->set_up = !err;
    return err;
}

enum corral_err cti_already_set_up(const struct cti *c, struct diag *d)
{
    return diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " is already set up",
                    c->info.address);
}

/* After cti_setup_silent: what was found stays what was found then. */
static enum corral_err finish_silent(struct cti *c, struct diag *d)
{
    struct cti_mapping wanted;
    c->silent = false;
    c->engaged = CTI_ALL_CONNECTIONS;
    compose(c, &wanted);
    enum corral_err err = write_mapping(c, &wanted, d);
    if (!err)
        err = read_back(c, d);
    if (err)
        err = roll_back(c, err, d);
    c->set_up = !err;
    return err;
}

enum corral_err cti_setup(struct cti *cti, unsigned halt_channel, unsigned restart_channel, struct diag *d)
{
    if (!cti->set_up)
        return set_up(cti, halt_channel, restart_channel, CTI_ALL_CONNECTIONS, d);
    if (cti->silent && halt_channel == cti->halt_channel && restart_channel == cti->restart_channel)
        return finish_silent(cti, d);
    return cti_already_set_up(cti, d);
}

enum corral_err cti_setup_silent(struct cti *cti, unsigned halt_channel, unsigned restart_channel,
                                 struct diag *d)
{
    if (cti->set_up)
        return cti_already_set_up(cti, d);
    enum corral_err err = set_up(cti, halt_channel, restart_channel, 0, d);
    cti->silent = !err;
    return err;
}

enum corral_err cti_set_again(struct cti *cti, struct diag *d)
{
    struct cti_mapping wanted;
    bool locked;
    if (!cti->set_up)
        return not_set_up(cti, d);
    compose(cti, &wanted);
    enum corral_err err = cti_unlock(cti, &locked, d);
    if (!err && cti->claimed)
        err = cti_claim(cti, d);
    if (!err)
        err = write_mapping(cti, &wanted, d);
    return err ? err : read_back(cti, d);
}

/* What was set aside, and has not been changed: nothing is written to it. */
static bool as_found(const struct cti *c)
{
    struct cti_mapping now = {0};
    return !c->set_up && !cti_read_mapping(c, &now, NULL) && !cti_difference(c, &now, &c->found);
}

enum corral_err cti_teardown(struct cti *cti, struct diag *d)
{
    bool asserted = false;
    if (cti->set_up) {
        /* Its own halted input first: a level holds the channel, and nothing can be acknowledged. */
        cti_engage(cti, cti->engaged & ~(unsigned)CTI_HALTED, NULL);
        cti_acknowledge(cti, NULL); /* while it is on (1.4.3); whether it helped is looked at below */
    } else if (!cti->owed) {
        return CORRAL_OK;
    }
    enum corral_err err = as_found(cti) ? CORRAL_OK : write_mapping(cti, &cti->found, d);
    cti->set_up = cti->silent = false;
    /* What came in between must not stay latched (A25). */
    if (!err)
        err = cti_request_asserted(cti, &asserted, d);
    if (!err && asserted)
        err = cti_drop_request(cti, d);
    enum corral_err last = unclaim(cti, err ? NULL : d);
    if (!last)
        last = cti_relock(cti, cti->locked, err ? NULL : d);
    cti->owed = err || last;
    return err ? err : last;
}

enum corral_err cti_drop_request(const struct cti *c, struct diag *d)
{
    uint32_t bit = 1u << c->info.halt_output, status = 0;
    struct deadline limit = deadline_in(link_clock(c->link), CTI_ACK_NS);
    for (unsigned i = 0; i < CTI_ACK_TRIES; i++) {
        enum corral_err err = cti_reg_write(c, CTI_REG_INTACK, bit, d);
        if (!err)
            err = cti_reg_read(c, CTI_REG_TRIGOUTSTATUS, &status, d);
        if (err || !(status & bit))
            return err;
        if (i > 0 && deadline_passed(&limit))
            break;
    }
    return diag_set(d, CORRAL_ERR_CTI_STUCK,
                    "the debug request of the CTI at 0x%08" PRIx64 " stays asserted after acknowledge",
                    c->info.address);
}

enum corral_err cti_acknowledge(struct cti *cti, struct diag *d)
{
    if (!cti->set_up)
        return not_set_up(cti, d);
    enum corral_err err = cti_reg_write(cti, CTI_REG_APPCLEAR, cti_halt_mask(cti), d);
    return err ? err : cti_drop_request(cti, d);
}

enum corral_err cti_pulse(struct cti *cti, unsigned channel, struct diag *d)
{
    if (!cti->set_up) /* with GLBEN off a pulse has no defined effect (A16) */
        return not_set_up(cti, d);
    if (channel >= cti->info.channels)
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " has no channel %u",
                        cti->info.address, channel);
    return cti_reg_write(cti, CTI_REG_APPPULSE, 1u << channel, d);
}

enum corral_err cti_hold(struct cti *cti, unsigned channel, bool on, struct diag *d)
{
    if (!cti->set_up || channel >= cti->info.channels)
        return not_set_up(cti, d);
    return cti_reg_write(cti, on ? CTI_REG_APPSET : CTI_REG_APPCLEAR, 1u << channel, d);
}

/* One of our three registers, if it has to change, or may have to. */
static enum corral_err change(struct cti *c, uint32_t reg, uint32_t now, uint32_t wanted, struct diag *d)
{
    return now == wanted && !c->unsure ? CORRAL_OK : cti_reg_write(c, reg, wanted, d);
}

enum corral_err cti_engage(struct cti *cti, unsigned connections, struct diag *d)
{
    if (!cti->set_up)
        return not_set_up(cti, d);
    struct cti_mapping now, wanted;
    unsigned in = cti->info.halted_input, out = cti->info.halt_output;
    unsigned before = cti->engaged;
    compose(cti, &now);
    cti->engaged = connections;
    compose(cti, &wanted);
    enum corral_err err = CORRAL_OK;
    /* A source goes before, and comes after, what it drives: or a level would latch it in between. */
    bool source_last = (connections & CTI_HALTED) != 0;
    if (!source_last)
        err = change(cti, CTI_REG_INEN + 4 * in, now.inen[in], wanted.inen[in], d);
    if (!err)
        err = change(cti, CTI_REG_OUTEN + 4 * out, now.outen[out], wanted.outen[out], d);
    if (!err && cti->info.restart_output >= 0) {
        unsigned n = (unsigned)cti->info.restart_output;
        err = change(cti, CTI_REG_OUTEN + 4 * n, now.outen[n], wanted.outen[n], d);
    }
    if (!err && source_last)
        err = change(cti, CTI_REG_INEN + 4 * in, now.inen[in], wanted.inen[in], d);
    cti->unsure = err != CORRAL_OK;
    if (err)
        cti->engaged = before;
    return err;
}

enum corral_err cti_arm(struct cti *cti, bool on, struct diag *d)
{
    unsigned rest = cti->engaged & ~(unsigned)CTI_HALTED;
    return cti_engage(cti, on ? rest | CTI_HALTED : rest, d);
}

enum corral_err cti_request_asserted(struct cti *cti, bool *asserted, struct diag *d)
{
    uint32_t status = 0;
    enum corral_err err = cti_reg_read(cti, CTI_REG_TRIGOUTSTATUS, &status, d);
    *asserted = !err && (status & 1u << cti->info.halt_output);
    return err;
}

enum corral_err cti_halted_is_high(struct cti *cti, bool *high, struct diag *d)
{
    uint32_t status = 0;
    enum corral_err err = cti_reg_read(cti, CTI_REG_TRIGINSTATUS, &status, d);
    *high = !err && (status & 1u << cti->info.halted_input);
    return err;
}

enum corral_err cti_channels_seen(struct cti *cti, uint32_t *mask, struct diag *d)
{
    enum corral_err err = cti_reg_read(cti, CTI_REG_CHINSTATUS, mask, d);
    *mask &= cti->channel_mask;
    return err;
}

enum corral_err cti_verify(struct cti *cti, bool *intact, struct diag *d)
{
    struct cti_mapping now = {0}, wanted;
    *intact = false;
    if (!cti->set_up)
        return CORRAL_OK;
    const struct cti_info *info = &cti->info;
    uint32_t h = cti_halt_mask(cti), r = cti_restart_mask(cti);
    compose(cti, &wanted);
    enum corral_err err = cti_read_mapping(cti, &now, d);
    if (err)
        return err;
    *intact = now.control && (now.gate & (h | r)) == (h | r) &&
              now.outen[info->halt_output] == wanted.outen[info->halt_output] &&
              now.inen[info->halted_input] == wanted.inen[info->halted_input] &&
              (!r || now.outen[info->restart_output] == wanted.outen[info->restart_output]);
    return CORRAL_OK;
}
