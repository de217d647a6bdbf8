/* SPDX-License-Identifier: Apache-2.0 */
/* What can be had behind a gdb stub, in place of a walk: its cores. For discovery.c only. */
#ifndef CORRAL_CORESIGHT_STUB_SCAN_H
#define CORRAL_CORESIGHT_STUB_SCAN_H

#include "coresight/rom_table.h"

/* On a link of the kind link/link_gdb.h is about. */
enum corral_err cs_scan_stub(struct link *link, struct cs_topology *t, struct diag *d);

#endif
