/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JTAG-DP behind a remote_bitbang server (OpenOCD's protocol: a character for each movement of the pins).
 * "jtag:HOST:PORT". The server may be a probe's, a simulator's, or `corral sim --jtag`.
 */
#ifndef CORRAL_LINK_JTAG_H
#define CORRAL_LINK_JTAG_H

#include "link/link.h"

#define LINK_JTAG_TAPS 8

/* What was found on the chain; [0] is nearest to TDO. */
struct link_jtag_info {
    unsigned taps;
    uint32_t idcode[LINK_JTAG_TAPS]; /* 0: a TAP without one */
    unsigned dap;                    /* which of them is the debug port */
};

/* `clock` must tell real time and outlive the link. NULL with *d set. */
struct link *link_jtag_open(const char *spec, const struct link_options *options, struct host_clock *clock,
                            struct diag *d);
bool link_jtag_get_info(struct link *link, struct link_jtag_info *info); /* false: another kind of link */

#endif
