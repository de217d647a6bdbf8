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

/* Map halted -> halt_channel -> debug request, restart_channel -> restart; gate open for both; read back.
 * Foreign mappings on other channels are kept. On failure everything written is put back. */
enum corral_err cti_setup(struct cti *cti, unsigned halt_channel, unsigned restart_channel, struct diag *d);
/* Put back what cti_setup found. */
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
/* Connect or disconnect the halted input (INEN) of a CTI that is set up. Off: for a source that is a level
 * and would hold the channel, and to keep a halt of this core from the others. */
enum corral_err cti_arm(struct cti *cti, bool on, struct diag *d);

#endif
