/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running OpenOCD as the link, by its Tcl port: "openocd:HOST:PORT", or one that this link starts and that
 * ends with it: "openocd:spawn:CFG". Memory goes through OpenOCD's targets with an AP number, of type mem_ap
 * where there is a choice; AP and DP registers through its `apreg` and `dpreg`.
 *
 * OpenOCD owns the debug port: it powers it up, selects, and clears sticky errors. So DP registers can be
 * read, and writes of SELECT, CTRL/STAT and ABORT succeed without being passed on.
 */
#ifndef CORRAL_LINK_OPENOCD_H
#define CORRAL_LINK_OPENOCD_H

#include "link/link.h"

#define LINK_OPENOCD_APS 8 /* a spawned OpenOCD gets a mem_ap target for each of the APs below this */

/* `clock` must tell real time and outlive the link. NULL with *d set. */
struct link *link_openocd_open(const char *spec, const struct link_options *options, struct host_clock *clock,
                               struct diag *d);

#endif
