/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a link's file offers: a small table. Only files of src/link/ include this.
 *
 * A back end fills either `execute` (it can do memory accesses itself) or `dap` (raw transfers; link.c then
 * builds memory accesses with mem_ap.c).
 */
#ifndef CORRAL_LINK_LINK_BACKEND_H
#define CORRAL_LINK_LINK_BACKEND_H

#include "link/link.h"

enum dap_ack { DAP_ACK_OK = 1, DAP_ACK_WAIT = 2, DAP_ACK_FAULT = 4, DAP_ACK_NONE = 7 };

struct link_backend {
    unsigned caps;
    /* One DP or AP transfer (A[3:2] in `addr`: 0x0, 0x4, 0x8, 0xC). AP reads are NOT posted here: the value
     * is that of this read. Returns the acknowledge; DAP_ACK_NONE when the wire is dead. */
    enum dap_ack (*dap)(void *ctx, bool ap, bool read, uint8_t addr, uint32_t *value);
    /* Optional, beside `dap`: the same transfer as it is on an SWD wire. An AP read gives the value of the AP
     * read before it; a DP read of RDBUFF (0xC) gives that of the last. Block reads then cost one transfer a
     * word. */
    enum dap_ack (*dap_posted)(void *ctx, bool ap, bool read, uint8_t addr, uint32_t *value);
    /* Optional, beside `dap`: `count` reads or writes of one AP register in one go, WAIT repeated within
     * bounds. Complete when it returns OK: a failed write is not left to be seen later. *done: how many of
     * them, from the first, are known to have happened. */
    enum dap_ack (*dap_block)(void *ctx, bool read, uint8_t addr, uint32_t *values, uint32_t count,
                              uint32_t *done);
    /* Optional, beside `dap`: writes that were answered OK may be on their way still; this waits for them. */
    enum dap_ack (*flush)(void *ctx);
    /* Optional, beside `dap`: why the last transfer came to DAP_ACK_NONE. Sets *d, or leaves it as it is. */
    void (*explain)(void *ctx, struct diag *d);
    enum corral_err (*execute)(void *ctx, struct link_access *accesses, size_t count, struct diag *d);
    bool double_words; /* `execute` knows accesses of 8 bytes an element */
    /* Optional: the reset line, see link_drive_reset. */
    enum corral_err (*drive_reset)(void *ctx, bool asserted, struct diag *d);
    /* Optional: see link_raw; `raws` has bit 1 << op of each op that there is. link.c has checked the
     * numbers, and written what was queued; LINK_CAP_RAW is its to say. */
    enum corral_err (*raw)(void *ctx, struct link_raw *raw, struct diag *d);
    unsigned raws;
    /* Optional: no wait for a peer is to last beyond host_clock time `when` (link_set_deadline). */
    void (*set_deadline)(void *ctx, int64_t when);
    /* Optional: accesses were refused because that time had passed. */
    void (*refused_late)(void *ctx);
    /* Optional: see link_flash. */
    enum corral_err (*flash)(void *ctx, enum link_flash_op op, uint32_t ap, uint64_t address,
                             const uint8_t *data, size_t size, struct diag *d);
    /* Optional: see link_flash_regions. */
    size_t (*flash_regions)(void *ctx, struct link_flash_region *list, size_t room, struct diag *d);
    uint64_t (*wire_clocks)(void *ctx);
    void (*close)(void *ctx);
};

/* `backend` must outlive the link; `ctx` becomes the link's. `name` is copied. NULL when memory is out. */
struct link *link_new(const struct link_backend *backend, void *ctx, const char *name,
                      struct host_clock *clock);
void *link_backend_ctx(struct link *link,
                       const struct link_backend *backend); /* NULL when it is another kind */

#endif
