/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A debug port behind a CMSIS-DAP probe (Arm's probe protocol, versions 1 and 2), on SWD or JTAG.
 *
 *   cmsis-dap:tcp:HOST:PORT   a probe on the network, in the frames OpenOCD uses for it; `corral sim
 * --cmsis-dap` cmsis-dap                 the only probe on USB cmsis-dap:SERIAL          the one with this
 * serial number
 *
 * "?targetsel=0x01002927" behind any of them chooses one of several debug ports on one SWD wire (multidrop,
 * cross-trigger sheet case B22).
 */
#ifndef CORRAL_LINK_CMSIS_DAP_H
#define CORRAL_LINK_CMSIS_DAP_H

#include "link/link.h"

#define LINK_CMSIS_DAP_DEFAULT_HZ 1000000u /* of SWCLK and TCK: what a long cable still takes */

#define LINK_CMSIS_DAP_TEXT 80

/* What the probe said of itself; texts are printable, "" where it said nothing. */
struct link_cmsis_dap_info {
    char vendor[LINK_CMSIS_DAP_TEXT], product[LINK_CMSIS_DAP_TEXT], serial[LINK_CMSIS_DAP_TEXT];
    char protocol[LINK_CMSIS_DAP_TEXT], firmware[LINK_CMSIS_DAP_TEXT]; /* versions */
    bool swd, jtag;
    unsigned packet_size, packet_count; /* as it said */
    enum link_protocol connected;
    uint32_t dpidr; /* on JTAG the port's IDCODE, where it has no DPIDR */
};

/* `spec` as above, `options` NULL = defaults. NULL with *d set. Waits and time-outs are real time. */
struct link *link_cmsis_dap_open(const char *spec, const struct link_options *options,
                                 struct host_clock *clock, struct diag *d);

bool link_cmsis_dap_get_info(struct link *link, struct link_cmsis_dap_info *info);

/* For tests: over a wire of their own, which it takes over. */
struct cmsis_dap_wire;
struct link *link_cmsis_dap_open_wire(const struct cmsis_dap_wire *wire, const char *spec,
                                      const struct link_options *options, struct host_clock *clock,
                                      struct diag *d);

#endif
