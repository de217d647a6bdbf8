/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Getting at the debug port behind a CMSIS-DAP probe: SWD or JTAG chosen, clocked, switched to, found; again
 * after the wire went quiet. Multidrop (cross-trigger sheet case B22). What is done through it afterwards is
 * cmsis_dap.c's.
 *
 * Only files of src/link/ include this.
 */
#ifndef CORRAL_LINK_CMSIS_DAP_PORT_H
#define CORRAL_LINK_CMSIS_DAP_PORT_H

#include "link/cmsis_dap_probe.h"

/* Bits of a request and of the answer to DAP_Transfer. */
enum { REQUEST_AP = 0x01, REQUEST_READ = 0x02, RESPONSE_PROTOCOL = 0x08, RESPONSE_MISMATCH = 0x10 };

struct cmsis_dap_port {
    struct cmsis_dap_probe *probe;
    bool jtag;
    bool multidrop;
    uint32_t targetsel;
    uint8_t index; /* of the port on the chain */
    uint32_t dpidr;
    struct diag why; /* after a function returned false */
};

/* From nothing to a port that has shown its DPIDR (JTAG: its IDCODE). */
bool cmsis_dap_port_connect(struct cmsis_dap_port *p, const struct link_options *options);
/* The same port again after there was no acknowledge. Registers of the port keep what they hold. */
bool cmsis_dap_port_recover(struct cmsis_dap_port *p);

/* After somebody moved the wires. SWD: does it answer a read of DPIDR, whoever it is now? */
bool cmsis_dap_port_answers(struct cmsis_dap_port *p);
/* Where it does not, and on JTAG: in a known state, and the same as before. */
bool cmsis_dap_port_find(struct cmsis_dap_port *p);
/* SWD multidrop: this one from now on, also after a line reset of ours. */
bool cmsis_dap_port_select(struct cmsis_dap_port *p, uint32_t targetsel);

/* One DP register. The acknowledge of DAP_Transfer; 0 when the probe is given up. */
unsigned cmsis_dap_port_dp(struct cmsis_dap_port *p, bool read, uint8_t addr, uint32_t *value);

#endif
