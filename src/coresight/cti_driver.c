/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driving one CTI. Registers: cross-trigger sheet 1.1 and 1.2; rules: 1.4; order of writes: 1.7; cases A1 to
 * A8, A16 to A18, A25, A30.
 *
 * Must not decide anything (which channels, when to acknowledge) and must not write a bit that is not ours:
 * trace and interrupt triggers belong to the firmware (A7).
 */
#include "coresight/cti_driver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    CTI_CONTROL = 0x000,
    CTI_INTACK = 0x010,
    CTI_APPCLEAR = 0x018,
    CTI_APPPULSE = 0x01C,
    CTI_INEN = 0x020,
    CTI_OUTEN = 0x0A0,
    CTI_TRIGOUTSTATUS = 0x134,
    CTI_GATE = 0x140,
    CTI_ITCTRL = 0xF00,
    CTI_CLAIMCLR = 0xFA4,
    CTI_LAR = 0xFB0,
    CTI_DEVID = 0xFC8,
};

#define CONTROL_GLBEN 1u
#define LAR_KEY       0xC5ACCE55u
#define MAX_TRIGGERS  32
#define MAX_CHANNELS  32

/* How long an output may take to drop: the channel is quiet a few cycles after the last pulse. */
#define ACK_NS    (5 * NS_PER_MS)
#define ACK_TRIES 50

struct registers {
    uint32_t control, gate;
    uint32_t inen[MAX_TRIGGERS], outen[MAX_TRIGGERS];
};

struct cti {
    struct link *link;
    struct cti_info info;
    bool set_up;
    unsigned halt_channel, restart_channel;
    struct registers found, wanted;
};

static enum corral_err reg_read(const struct cti *c, uint32_t reg, uint32_t *value, struct diag *d)
{
    return link_read32(c->link, c->info.ap, c->info.address + reg, value, d);
}

static enum corral_err reg_write(const struct cti *c, uint32_t reg, uint32_t value, struct diag *d)
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
    if (link_read32(link, ap, address + CTI_DEVID, &devid, d))
        return NULL;
    unsigned triggers = devid >> 8 & 0x3F, channels = devid >> 16 & 0x3F;
    if (triggers == 0 || triggers > MAX_TRIGGERS || channels == 0 || channels > MAX_CHANNELS) {
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

static enum corral_err read_all(const struct cti *c, struct registers *r, struct diag *d)
{
    enum corral_err err = reg_read(c, CTI_CONTROL, &r->control, d);
    if (!err)
        err = block(c, LINK_MEM_READ, CTI_INEN, r->inen, d);
    if (!err)
        err = block(c, LINK_MEM_READ, CTI_OUTEN, r->outen, d);
    return err ? err : reg_read(c, CTI_GATE, &r->gate, d);
}

/* The channels that `r` routes, our own three connections left out. */
static uint32_t foreign_channels(const struct cti *c, const struct registers *r)
{
    uint32_t mask = 0;
    for (unsigned n = 0; n < c->info.triggers; n++) {
        if (n != c->info.halted_input)
            mask |= r->inen[n];
        if (n != c->info.halt_output && (int)n != c->info.restart_output)
            mask |= r->outen[n];
    }
    return mask;
}

/* Are the mappings found in force? While GLBEN is 0 and nobody claims the CTI they are what reset left. */
static enum corral_err mappings_live(const struct cti *c, const struct registers *r, bool *live,
                                     struct diag *d)
{
    uint32_t claim = 0;
    *live = (r->control & CONTROL_GLBEN) != 0;
    if (*live)
        return CORRAL_OK;
    enum corral_err err = reg_read(c, CTI_CLAIMCLR, &claim, d);
    *live = !err && claim != 0;
    return err;
}

enum corral_err cti_used_channels(struct cti *cti, uint32_t *mask, struct diag *d)
{
    struct registers r = {0};
    bool live;
    *mask = 0;
    enum corral_err err = read_all(cti, &r, d);
    if (!err)
        err = mappings_live(cti, &r, &live, d);
    if (!err && live)
        *mask = foreign_channels(cti, &r);
    return err;
}

/* The debug request, if it is asserted. Other outputs are the firmware's (A7). */
static enum corral_err drop_request(const struct cti *c, unsigned halt_channel, struct diag *d)
{
    uint32_t status = 0;
    enum corral_err err = reg_write(c, CTI_APPCLEAR, 1u << halt_channel, d);
    if (!err)
        err = reg_read(c, CTI_TRIGOUTSTATUS, &status, d);
    if (!err && (status & 1u << c->info.halt_output))
        err = reg_write(c, CTI_INTACK, 1u << c->info.halt_output, d);
    return err;
}

/* What the registers have to say when we are done. */
static void plan(struct cti *c, bool keep)
{
    uint32_t h = 1u << c->halt_channel;
    uint32_t r = c->info.restart_output >= 0 ? 1u << c->restart_channel : 0;
    c->wanted = c->found;
    for (unsigned n = 0; n < c->info.triggers; n++) {
        c->wanted.inen[n] &= keep ? ~(h | r) : 0;
        c->wanted.outen[n] &= keep ? ~(h | r) : 0;
    }
    c->wanted.inen[c->info.halted_input] |= h;
    c->wanted.outen[c->info.halt_output] |= h;
    if (r)
        c->wanted.outen[c->info.restart_output] |= r;
    c->wanted.gate |= h | r;
    c->wanted.control = CONTROL_GLBEN;
}

/* The safe order: off, mappings, gate, on. */
static enum corral_err write_all(const struct cti *c, const struct registers *r, struct diag *d)
{
    struct registers copy = *r;
    enum corral_err err = reg_write(c, CTI_CONTROL, 0, d);
    if (!err)
        err = block(c, LINK_MEM_WRITE, CTI_INEN, copy.inen, d);
    if (!err)
        err = block(c, LINK_MEM_WRITE, CTI_OUTEN, copy.outen, d);
    if (!err)
        err = drop_request(c, c->halt_channel, d);
    if (!err)
        err = reg_write(c, CTI_GATE, r->gate, d);
    if (!err && (r->control & CONTROL_GLBEN))
        err = reg_write(c, CTI_CONTROL, r->control & CONTROL_GLBEN, d);
    return err;
}

static enum corral_err read_back(const struct cti *c, struct diag *d)
{
    struct registers now = {0};
    enum corral_err err = read_all(c, &now, d);
    if (err)
        return err;
    const char *name = NULL;
    uint32_t channels = c->info.channels == 32 ? UINT32_MAX : (1u << c->info.channels) - 1;
    for (unsigned n = 0; n < c->info.triggers; n++) {
        if ((now.inen[n] ^ c->wanted.inen[n]) & channels)
            name = "CTIINEN";
        if ((now.outen[n] ^ c->wanted.outen[n]) & channels)
            name = "CTIOUTEN";
    }
    if ((now.gate ^ c->wanted.gate) & channels)
        name = "CTIGATE";
    if (!(now.control & CONTROL_GLBEN))
        name = "CTICONTROL";
    if (!name)
        return CORRAL_OK;
    diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " is not writable: %s does not read back",
             c->info.address, name);
    diag_hint(d, "it may be locked, without clock, or debug authentication may be off");
    return CORRAL_ERR_CTI_UNUSABLE;
}

static enum corral_err check_channels(const struct cti *c, unsigned halt, unsigned restart, struct diag *d)
{
    bool two = c->info.restart_output >= 0;
    if (halt >= c->info.channels || (two && (restart >= c->info.channels || restart == halt)))
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE,
                        "the CTI at 0x%08" PRIx64 " has %u channels: %u and %u cannot be used",
                        c->info.address, c->info.channels, halt, restart);
    return CORRAL_OK;
}

enum corral_err cti_setup(struct cti *cti, unsigned halt_channel, unsigned restart_channel, struct diag *d)
{
    uint32_t itctrl = 0;
    bool live = false;
    if (cti->set_up)
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " is already set up",
                        cti->info.address);
    enum corral_err err = check_channels(cti, halt_channel, restart_channel, d);
    if (err)
        return err;
    cti->halt_channel = halt_channel;
    cti->restart_channel = restart_channel;
    memset(&cti->found, 0, sizeof(cti->found));
    /* Harmless where there is no lock; without it every write vanishes where there is one (A17). */
    err = reg_write(cti, CTI_LAR, LAR_KEY, d);
    if (!err)
        err = read_all(cti, &cti->found, d);
    if (!err)
        err = mappings_live(cti, &cti->found, &live, d);
    if (!err)
        err = reg_read(cti, CTI_ITCTRL, &itctrl, d);
    if (err)
        return err;
    if (itctrl & 1)
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " is in integration test mode",
                        cti->info.address);
    uint32_t ours = 1u << halt_channel | (cti->info.restart_output >= 0 ? 1u << restart_channel : 0);
    if (live && (foreign_channels(cti, &cti->found) & ours))
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE,
                        "the CTI at 0x%08" PRIx64
                        " is in use: another tool or the firmware routes channel %u or %u",
                        cti->info.address, halt_channel, restart_channel);

    plan(cti, live);
    /* Acknowledge before GLBEN goes off: afterwards an output may stay (sheet 1.4, rule 3). */
    err = drop_request(cti, halt_channel, d);
    if (!err)
        err = write_all(cti, &cti->wanted, d);
    if (!err)
        err = read_back(cti, d);
    if (err) {
        write_all(cti, &cti->found, NULL); /* as far as it goes; the first error is the one to tell */
        return err;
    }
    cti->set_up = true;
    return CORRAL_OK;
}

enum corral_err cti_set_again(struct cti *cti, struct diag *d)
{
    if (!cti->set_up)
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " is not set up",
                        cti->info.address);
    enum corral_err err = reg_write(cti, CTI_LAR, LAR_KEY, d);
    if (!err)
        err = write_all(cti, &cti->wanted, d);
    return err ? err : read_back(cti, d);
}

enum corral_err cti_teardown(struct cti *cti, struct diag *d)
{
    if (!cti->set_up)
        return CORRAL_OK;
    struct diag first = DIAG_INIT;
    enum corral_err stuck = cti_acknowledge(cti, &first);
    cti->set_up = false;
    enum corral_err err = write_all(cti, &cti->found, d);
    if (!err)
        err = drop_request(cti, cti->halt_channel, d); /* what came in between must not stay latched (A25) */
    if (!err && stuck) {
        if (d)
            *d = first;
        err = stuck;
    }
    return err;
}

enum corral_err cti_acknowledge(struct cti *cti, struct diag *d)
{
    if (!cti->set_up)
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " is not set up",
                        cti->info.address);
    uint32_t bit = 1u << cti->info.halt_output, status = 0;
    enum corral_err err = reg_write(cti, CTI_APPCLEAR, 1u << cti->halt_channel, d);
    struct deadline limit = deadline_in(link_clock(cti->link), ACK_NS);
    for (unsigned i = 0; !err; i++) {
        err = reg_write(cti, CTI_INTACK, bit, d);
        if (!err)
            err = reg_read(cti, CTI_TRIGOUTSTATUS, &status, d);
        if (err || !(status & bit))
            return err;
        if (i >= ACK_TRIES || deadline_passed(&limit))
            break;
    }
    if (!err)
        err = diag_set(d, CORRAL_ERR_CTI_STUCK,
                       "the debug request of the CTI at 0x%08" PRIx64 " stays asserted after acknowledge",
                       cti->info.address);
    return err;
}

enum corral_err cti_pulse(struct cti *cti, unsigned channel, struct diag *d)
{
    if (!cti->set_up) /* with GLBEN off a pulse has no defined effect (A16) */
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " is not set up",
                        cti->info.address);
    if (channel >= cti->info.channels)
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " has no channel %u",
                        cti->info.address, channel);
    return reg_write(cti, CTI_APPPULSE, 1u << channel, d);
}

enum corral_err cti_arm(struct cti *cti, bool on, struct diag *d)
{
    if (!cti->set_up)
        return diag_set(d, CORRAL_ERR_CTI_UNUSABLE, "the CTI at 0x%08" PRIx64 " is not set up",
                        cti->info.address);
    unsigned n = cti->info.halted_input;
    uint32_t h = 1u << cti->halt_channel;
    uint32_t value = on ? cti->wanted.inen[n] | h : cti->wanted.inen[n] & ~h;
    enum corral_err err = reg_write(cti, CTI_INEN + 4 * n, value, d);
    if (!err)
        cti->wanted.inen[n] = value;
    return err;
}

enum corral_err cti_verify(struct cti *cti, bool *intact, struct diag *d)
{
    struct registers now = {0};
    *intact = false;
    if (!cti->set_up)
        return CORRAL_OK;
    const struct cti_info *info = &cti->info;
    uint32_t h = 1u << cti->halt_channel;
    uint32_t r = info->restart_output >= 0 ? 1u << cti->restart_channel : 0;
    enum corral_err err = read_all(cti, &now, d);
    if (err)
        return err;
    *intact = (now.control & CONTROL_GLBEN) && (now.gate & (h | r)) == (h | r) &&
              (now.outen[info->halt_output] & h) &&
              (now.inen[info->halted_input] & h) == (cti->wanted.inen[info->halted_input] & h) &&
              (!r || (now.outen[info->restart_output] & r));
    return CORRAL_OK;
}
