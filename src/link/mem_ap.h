/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory, AP and DP accesses made of single debug-port transfers (ADIv5, IHI0031; cross-trigger sheet 2.1 to
 * 2.3). SELECT is cached, CSW and TAR are cached for each AP and survive a switch to another AP, so that a
 * register that is accessed again and again costs DRW alone (SELECT + DRW when APs alternate).
 *
 * Only files of src/link/ include this.
 */
#ifndef CORRAL_LINK_MEM_AP_H
#define CORRAL_LINK_MEM_AP_H

#include "link/link_backend.h"

struct mem_ap;

/* `backend` has `dap`; it, `ctx` and `clock` must outlive the object. NULL when memory is out. */
struct mem_ap *mem_ap_new(const struct link_backend *backend, void *ctx, struct host_clock *clock);
void mem_ap_free(struct mem_ap *m);

/* One access, already checked by link.c (size, alignment, range). Sets status and done. Sticky errors are
 * cleared on return. Writes may still be on their way: see mem_ap_finish. */
enum corral_err mem_ap_access(struct mem_ap *m, struct link_access *a, struct diag *d);

/* Wait for the last write and learn whether it failed; costs a transfer only where a write is outstanding. */
enum corral_err mem_ap_finish(struct mem_ap *m, struct diag *d);

void mem_ap_forget(struct mem_ap *m);
/* After somebody else moved the wires: it may be another debug port now. */
void mem_ap_forget_port(struct mem_ap *m);
/* After a write of ABORT: the AP must be selected anew, and what was under way there is not known. */
void mem_ap_aborted(struct mem_ap *m);

#endif
