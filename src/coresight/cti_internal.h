/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the CTI driver share. Only src/coresight/cti_*.c include this. */
#ifndef CORRAL_CORESIGHT_CTI_INTERNAL_H
#define CORRAL_CORESIGHT_CTI_INTERNAL_H

#include "coresight/cti_driver.h"

enum {
    CTI_REG_CONTROL = 0x000,
    CTI_REG_INTACK = 0x010,
    CTI_REG_APPSET = 0x014,
    CTI_REG_APPCLEAR = 0x018,
    CTI_REG_APPPULSE = 0x01C,
    CTI_REG_INEN = 0x020,
    CTI_REG_OUTEN = 0x0A0,
    CTI_REG_TRIGINSTATUS = 0x130,
    CTI_REG_TRIGOUTSTATUS = 0x134,
    CTI_REG_CHINSTATUS = 0x138,
    CTI_REG_CHOUTSTATUS = 0x13C,
    CTI_REG_GATE = 0x140,
    CTI_REG_ASICCTL = 0x144,
    CTI_REG_ITCTRL = 0xF00,
    CTI_REG_CLAIMSET = 0xFA0,
    CTI_REG_CLAIMCLR = 0xFA4,
    CTI_REG_LAR = 0xFB0,
    CTI_REG_LSR = 0xFB4,
    CTI_REG_AUTHSTATUS = 0xFB8,
    CTI_REG_DEVARCH = 0xFBC,
    CTI_REG_DEVID = 0xFC8,
    CTI_REG_DEVTYPE = 0xFCC,
};

#define CTI_GLBEN        1u
#define CTI_LAR_KEY      0xC5ACCE55u
#define CTI_LSR_LOCKED   2u
#define CTI_MAX_TRIGGERS 32
#define CTI_MAX_CHANNELS 32
/* Claim tags: bit 0 is the external debugger's, bit 1 the software's on the target. */
#define CTI_CLAIM_OURS 1u

#define CTI_ALL_CONNECTIONS ((unsigned)(CTI_HALTED | CTI_REQUEST | CTI_RESTART))

/* How long an output may take to drop: the channel is quiet a few cycles after the last pulse. */
#define CTI_ACK_NS    (5 * NS_PER_MS)
#define CTI_ACK_TRIES 50

/* The registers that make connections. */
struct cti_mapping {
    uint32_t control, gate;
    uint32_t inen[CTI_MAX_TRIGGERS], outen[CTI_MAX_TRIGGERS];
};

struct cti {
    struct link *link;
    struct cti_info info;
    uint32_t channel_mask;
    bool set_up;
    bool owed;    /* `found` is to be put back: it was set aside, or that failed before (the link died) */
    bool fresh;   /* `found` is of the last cti_set_aside, and not of an earlier one */
    bool silent;  /* by cti_setup_silent */
    bool locked;  /* it was locked before we came */
    bool live;    /* what was found was in force: GLBEN, or somebody's claim */
    bool claimed; /* by us */
    enum cti_refusal refusal;
    unsigned halt_channel, restart_channel; /* either may be CTI_NO_CHANNEL */
    unsigned engaged;                       /* enum cti_connection */
    bool unsure;                            /* a write of these failed: what the registers say is not known */
    struct cti_mapping found;
    struct cti_mapping base; /* what it has to be, but for our own three connections */
};

enum corral_err cti_reg_read(const struct cti *c, uint32_t reg, uint32_t *value, struct diag *d);
enum corral_err cti_reg_write(const struct cti *c, uint32_t reg, uint32_t value, struct diag *d);
enum corral_err cti_read_mapping(const struct cti *c, struct cti_mapping *m, struct diag *d);
/* Open the lock; *locked says whether it was closed before. */
enum corral_err cti_unlock(const struct cti *c, bool *locked, struct diag *d);
/* Close it again, if it was. */
enum corral_err cti_relock(const struct cti *c, bool locked, struct diag *d);
/* INTACK and poll TRIGOUTSTATUS, bounded. */
enum corral_err cti_drop_request(const struct cti *c, struct diag *d);
/* Open the lock, remember what is there unless something is owed, see that it is not in test mode. */
enum corral_err cti_remember(struct cti *c, struct diag *d);
/* The channels that `m` routes. Left out: restart, and halted with the debug request on one channel, which is
 * what a debugger before us made. */
uint32_t cti_foreign_channels(const struct cti *c, const struct cti_mapping *m);
/* The first register in which the two differ, NULL where they do not. */
const char *cti_difference(const struct cti *c, const struct cti_mapping *a, const struct cti_mapping *b);
/* Our claim tag, where there are any: for other tools to see, and for us after we died. */
enum corral_err cti_claim(struct cti *c, struct diag *d);
/* Errors, with their words. */
enum corral_err cti_already_set_up(const struct cti *c, struct diag *d);
enum corral_err cti_refuse_taken(struct cti *c, unsigned halt, unsigned restart, struct diag *d);
/* Our channels, as masks; 0 where there is none. */
uint32_t cti_halt_mask(const struct cti *c);
uint32_t cti_restart_mask(const struct cti *c);

#endif
