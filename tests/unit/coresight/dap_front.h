/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A debug port in front of another link: DP and AP transfers as on a wire, ADIv5 or ADIv6 by that link's
 * DPIDR, so that what mem_ap.c makes of them can be tested over the words of real parts. It counts what must
 * not happen.
 */
#ifndef CORRAL_TESTS_DAP_FRONT_H
#define CORRAL_TESTS_DAP_FRONT_H

#include "link/link.h"

struct dap_front;

/* `inner` must outlive the front. `posted`: AP reads bring the value of the one before. */
struct dap_front *dap_front_new(struct link *inner, struct host_clock *clock, bool posted);
void dap_front_free(struct dap_front *f);
struct link *dap_front_open(struct dap_front *f); /* closing it leaves the front alone */

/* How many bits of AP address the port claims (DPIDR1.ASIZE), where it is more than the inner link's. */
void dap_front_set_asize(struct dap_front *f, uint32_t bits);
/* From now on every transfer of this AP is WAIT, until DAPABORT: then again with the next one. */
void dap_front_hang(struct dap_front *f, uint32_t ap);

struct dap_front_counts {
    unsigned transfers;
    unsigned tarh_without_la; /* writes of TARH, reads of BASEH where CFG.LA is 0 (B12) */
    unsigned past_1k;         /* DRW accesses whose TAR had been incremented over 1 KiB (B20) */
    unsigned select1_writes;
    unsigned while_select1; /* AP accesses while SELECT1 was not 0 */
    unsigned hung;          /* transfers of the AP that hangs */
    unsigned aborts;
};
const struct dap_front_counts *dap_front_counts(const struct dap_front *f);

#endif
