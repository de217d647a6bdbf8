/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One Cross Trigger Interface: the registers of the cross-trigger sheet 1.1, in the order of 1.7. Holds no
 * policy: which trigger goes to which channel is told by the caller. Owner thread of the link only.
 */
#ifndef CORRAL_CORESIGHT_CTI_DRIVER_H
#define CORRAL_CORESIGHT_CTI_DRIVER_H

#include "link/link.h"

struct cti;

/* What the part says about itself, and where the core's halt and restart are wired. */
struct cti_info {
    uint64_t address;
    uint32_t ap;
    unsigned triggers;      /* DEVID.NUMTRIG */
    unsigned channels;      /* DEVID.NUMCHAN */
    bool gate_masks_inputs; /* DEVID.INOUT */
    unsigned halted_input;  /* trigger input: core halted (0) */
    unsigned halt_output;   /* trigger output: debug request (0) */
    int restart_output;     /* trigger output: restart (7 v7-M, 1 v8-M); -1 = none known */
};

/* Reads DEVID. `restart_output` as found out by discovery (rom_table.h). Writes nothing. */
struct cti *cti_open(struct link *link, uint32_t ap, uint64_t address, int restart_output, struct diag *d);
void cti_close(struct cti *cti); /* writes nothing; NULL is allowed */
const struct cti_info *cti_get_info(const struct cti *cti);

/* For `restart_channel`: the core is not started through this CTI. */
#define CTI_NO_CHANNEL 0xFFu

/*
 * Map halted -> halt_channel -> debug request, restart_channel -> restart; gate open for both; read back.
 * Foreign mappings on other channels are kept. On failure everything written is put back:
 * CORRAL_ERR_CTI_UNUSABLE when nothing at all was taken (no authentication, no clock) or the part does not
 * fit, CORRAL_ERR_CTI_PARTIAL when a part of it was (case A30), else the link's error.
 */
enum corral_err cti_setup(struct cti *cti, unsigned halt_channel, unsigned restart_channel, struct diag *d);
/* Why the last cti_setup was refused, where CORRAL_ERR_CTI_UNUSABLE alone does not say it. */
enum cti_refusal {
    CTI_REFUSAL_NONE,
    CTI_REFUSAL_CHANNELS,    /* it has not got these channels */
    CTI_REFUSAL_TAKEN,       /* somebody else uses them */
    CTI_REFUSAL_TEST_MODE,   /* integration test mode */
    CTI_REFUSAL_NOT_WRITABLE /* writes have no effect */
};
enum cti_refusal cti_why_refused(const struct cti *cti);
/* The same without our three connections: to see which channels arrive (cti_channels_seen) without halting or
 * starting anything. cti_setup then makes the connections. */
enum corral_err cti_setup_silent(struct cti *cti, unsigned halt_channel, unsigned restart_channel,
                                 struct diag *d);
/*
 * Where somebody else programs it (a debug sequence, sheet 13): cti_set_aside before that, so that
 * cti_teardown knows what to put back; cti_adopt afterwards takes what is there now as set up: on, halted and
 * debug request on one channel, which becomes *halt_channel; the restart output on another one,
 * *restart_channel, or CTI_NO_CHANNEL where it has none; both through the gate.
 *
 * cti_set_aside opens the lock and claims, as cti_setup does; and where the CTI is off and nobody's, it makes
 * the state after reset (no connections, gates open, nothing held), which sequences rely on. It may be called
 * again, also on one that is adopted, before its sequence runs again; what was found stays what it was.
 *
 * cti_adopt writes nothing. CORRAL_ERR_CTI_UNUSABLE with what differs where it is not so, or where somebody
 * else had the channels; what was adopted before stays so.
 */
enum corral_err cti_set_aside(struct cti *cti, struct diag *d);
enum corral_err cti_adopt(struct cti *cti, unsigned *halt_channel, unsigned *restart_channel, struct diag *d);
/* After cti_set_aside, where the same sequence had run before it: its connections count as found off, and so
 * does the CTI when there are no others. Writes nothing; and does nothing where it had been set aside before
 * that, too: then it is known what was found. */
void cti_take_over(struct cti *cti);
/* Put back what cti_setup or cti_set_aside found. Where that fails (the link) it stays owed: the next call
 * tries again, set up or not, and the next cti_setup keeps it in mind. */
enum corral_err cti_teardown(struct cti *cti, struct diag *d);
bool cti_is_set_up(const struct cti *cti);

/* Acknowledge the debug request: APPCLEAR the halt channel, INTACK, poll TRIGOUTSTATUS until it is low
 * (bounded). Only after ALL members of the group have halted. CORRAL_ERR_CTI_STUCK when it stays. */
enum corral_err cti_acknowledge(struct cti *cti, struct diag *d);
enum corral_err cti_pulse(struct cti *cti, unsigned channel, struct diag *d);
/* Re-read CONTROL, INEN, OUTEN, GATE of our channels; false when a reset took them. */
enum corral_err cti_verify(struct cti *cti, bool *intact, struct diag *d);

/* Write again, in the safe order and with read-back, what cti_setup wrote: after a reset took it. What
 * teardown will put back stays what cti_setup found. */
enum corral_err cti_set_again(struct cti *cti, struct diag *d);

/* Channels that somebody else routes while the CTI is on (or claimed): bit n = channel n. Not ours to use. */
enum corral_err cti_used_channels(struct cti *cti, uint32_t *mask, struct diag *d);
/* Which of our three connections are made: the others are taken away. Of a CTI that is set up. */
enum cti_connection {
    CTI_HALTED = 1 << 0,  /* halted -> halt channel */
    CTI_REQUEST = 1 << 1, /* halt channel -> debug request */
    CTI_RESTART = 1 << 2, /* restart channel -> restart */
};
enum corral_err cti_engage(struct cti *cti, unsigned connections, struct diag *d);
unsigned cti_engaged(const struct cti *cti);

/* Is the debug request asserted (TRIGOUTSTATUS), is the halted input high (TRIGINSTATUS; a pulse reads 0)? */
enum corral_err cti_request_asserted(struct cti *cti, bool *asserted, struct diag *d);
enum corral_err cti_halted_is_high(struct cti *cti, bool *high, struct diag *d);
/* The channels that are active at this CTI (CHINSTATUS): levels only. */
enum corral_err cti_channels_seen(struct cti *cti, uint32_t *mask, struct diag *d);
/* Hold a channel, or let it go, of a CTI that is set up: to see where it arrives. */
enum corral_err cti_hold(struct cti *cti, unsigned channel, bool on, struct diag *d);

/* Every register there is (sheet 1.1); those that the part does not have read 0. */
struct cti_registers {
    uint32_t control, appset, inen[32], outen[32];
    uint32_t trigin_status, trigout_status, channel_in_status, channel_out_status;
    uint32_t gate, asicctl, itctrl;
    uint32_t claim_tags, claim; /* which tag bits there are; which are set */
    uint32_t lock_status, auth_status, devarch, devid, devtype;
};
enum corral_err cti_show(struct cti *cti, struct cti_registers *r, struct diag *d);

/*
 * A user's own connections: trigger input or output `trigger` to `channel`. They stay after cti_close and
 * cti_teardown, until cti_disconnect. Read back. Where the CTI was off it is turned on, with nothing else
 * connected; with the last connection it is turned off again. Refused (CORRAL_ERR_CTI_UNUSABLE, with a hint)
 * unless `force`: a channel that cti_setup uses, and the outputs that halt and restart the core.
 */
enum cti_side { CTI_SIDE_IN, CTI_SIDE_OUT };
enum corral_err cti_connect(struct cti *cti, enum cti_side side, unsigned trigger, unsigned channel,
                            bool force, struct diag *d);
enum corral_err cti_disconnect(struct cti *cti, enum cti_side side, unsigned trigger, unsigned channel,
                               bool force, struct diag *d);
/* One event on a channel, or hold it, or let it go. Refused as above; and where the CTI is off (case A16). A
 * channel that halts or restarts the core counts as one that is used. */
enum corral_err cti_channel_pulse(struct cti *cti, unsigned channel, bool force, struct diag *d);
enum corral_err cti_channel_set(struct cti *cti, unsigned channel, bool force, struct diag *d);
enum corral_err cti_channel_clear(struct cti *cti, unsigned channel, bool force, struct diag *d);

/* What a tool left that ended without cti_teardown; all false when nothing was. */
struct cti_leftovers {
    bool request;              /* the debug request is asserted */
    uint32_t held;             /* channels that are held by APPSET and lead to the debug request or restart */
    uint32_t halt_channels;    /* connected from halted and to the debug request, while the CTI is on */
    uint32_t restart_channels; /* connected to restart, likewise */
    bool claimed;              /* our claim tag is set */
};
bool cti_has_leftovers(const struct cti_leftovers *l);
/* Reads only. Of a CTI that is not set up. */
enum corral_err cti_find_leftovers(struct cti *cti, struct cti_leftovers *l, struct diag *d);
/* Take them away: connections, held channels, then the request (acknowledge and poll), the claim tag; the CTI
 * is turned off when nothing else is connected. */
enum corral_err cti_clear_leftovers(struct cti *cti, const struct cti_leftovers *l, struct diag *d);

/* Connect or disconnect the halted input (INEN) of a CTI that is set up. Off: for a source that is a level
 * and would hold the channel, and to keep a halt of this core from the others. */
enum corral_err cti_arm(struct cti *cti, bool on, struct diag *d);

#endif
