/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a clever probe does on its own behind a front: register accesses with SELECT kept, memory in blocks,
 * WAIT said again, sticky errors found and cleared. Cross-trigger sheet 2.1 to 2.3.
 */
#ifndef CORRAL_SIM_FRONT_PORT_H
#define CORRAL_SIM_FRONT_PORT_H

#include "sim/front.h"

#define FRONT_PORTS 256u

enum front_ack { FRONT_ACK_OK = 1, FRONT_ACK_WAIT = 2, FRONT_ACK_FAULT = 4 }; /* of board_dap_transfer */

struct front_port {
    struct front *front;
    uint32_t select;
    bool select_known;
    uint32_t csw[FRONT_PORTS]; /* protection bits of each access port, as last asked for; 0 = the default */
    uint32_t fault_address;    /* of the last memory access that failed */
};

struct front_block {
    uint8_t ap;
    uint8_t size; /* 1, 2 or 4 bytes an access */
    bool increment;
    uint32_t address;
    uint32_t length; /* in bytes; a rest that is smaller than an access is left out */
};

void front_port_begin(struct front_port *p, struct front *f);
/* `reg`: the bank in bits 7..4. */
unsigned front_port_dp(struct front_port *p, bool read, uint8_t reg, uint32_t *value);
unsigned front_port_ap(struct front_port *p, uint8_t ap, bool read, uint8_t reg, uint32_t *value);
/* A write of what is at `from`, or a read into `to`; the other one is NULL. */
unsigned front_port_memory(struct front_port *p, const struct front_block *block, const uint8_t *from,
                           uint8_t *to);

#endif
