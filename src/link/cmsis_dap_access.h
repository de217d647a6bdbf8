/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the CMSIS-DAP link share: its state, and accesses in lists (cmsis_dap_access.c), which
 * blocks (cmsis_dap_block.c) use too. Only those files include this.
 */
#ifndef CORRAL_LINK_CMSIS_DAP_ACCESS_H
#define CORRAL_LINK_CMSIS_DAP_ACCESS_H

#include "link/cmsis_dap_port.h"
#include "link/cmsis_dap_wire.h"
#include "link/link_backend.h"

/* DP and AP registers; those of a MEM-AP by A[3:2] in the bank of both ADIv5 and ADIv6. */
enum {
    DP_ABORT = 0x0,
    DP_DPIDR = 0x0,
    DP_CTRL_STAT = 0x4,
    DP_SELECT = 0x8,
    DP_RDBUFF = 0xC,
    DP_TARGETSEL = 0xC
};
enum { AP_CSW = 0x0, AP_TAR = 0x4, AP_TARH = 0x8 };

#define DPBANKSEL 0x0Fu

#define CTRL_STICKYORUN 0x02u
#define CTRL_STICKYCMP  0x10u
#define CTRL_STICKYERR  0x20u
#define CTRL_STICKY     (CTRL_STICKYORUN | CTRL_STICKYCMP | CTRL_STICKYERR)

#define CMSIS_DAP_QUEUE       8u
#define CMSIS_DAP_WAIT_ROUNDS 16u /* of the probe's own, at least, and at least so long: */
#define CMSIS_DAP_WAIT_NS     (100 * NS_PER_MS)

struct cmsis_dap {
    struct cmsis_dap_port port;
    struct host_clock *clock;
    uint32_t select; /* as last written */
    bool select_known;
    uint32_t ctrl; /* CTRL/STAT as last written, without sticky bits; JTAG clears those by writing it */
    /* What the selected AP was told, as far as it is known: for writes in several packets. */
    bool tar_known, step_known;
    uint32_t tar, step;
    /* The port has taken this access, but its end has not been seen. */
    bool taken;
    uint8_t taken_request;
    /* Writes that only prepare an access; they ride along with it. */
    struct {
        uint8_t request;
        uint32_t value;
    } queue[CMSIS_DAP_QUEUE];
    unsigned queued;
    bool owed; /* a SELECT that a FAULT kept from being written, which mem_ap.c takes for done */
    uint32_t owed_select;
    bool lost;  /* no acknowledge: the wire must be reset before anything else */
    bool moved; /* the wires, by somebody's own sequences: the port must be looked at again */
    bool slow;  /* WAIT came to an end in a block: from then on a packet at a time */
    struct diag why;
};

/* A list of accesses in one DAP_Transfer. */
struct cmsis_dap_list {
    uint8_t packet[CMSIS_DAP_PACKET_MAX];
    size_t size, answer; /* of the request, of the whole answer */
    unsigned count, reads;
};

void cmsis_dap_list_begin(struct cmsis_dap_list *l, const struct cmsis_dap *c);
/* False when it does not fit. */
bool cmsis_dap_list_add(struct cmsis_dap_list *l, const struct cmsis_dap *c, uint8_t request, uint32_t value);
bool cmsis_dap_list_send(struct cmsis_dap *c, const struct cmsis_dap_list *l);
/* *done: of its accesses, those the port has taken. *data: as many words as it had reads, where it is OK. */
enum dap_ack cmsis_dap_list_take(struct cmsis_dap *c, unsigned count, unsigned reads, unsigned *done,
                                 const uint8_t **data);

/* One access, the queue ahead of it; on JTAG with a look at CTRL/STAT behind it. */
enum dap_ack cmsis_dap_one(struct cmsis_dap *c, uint8_t request, uint32_t *value);
/* The acknowledge in the answer to a transfer. */
enum dap_ack cmsis_dap_acknowledge(struct cmsis_dap *c, unsigned response);
/* The probe is given up for `what` it did. */
enum dap_ack cmsis_dap_nonsense(struct cmsis_dap *c, const char *what);
/* False when nothing can be done on this wire any more. `first`: what is read of DPIDR now, or written to
 * TARGETSEL, is what a port expects behind a line reset. */
bool cmsis_dap_ready(struct cmsis_dap *c, bool first);
/* ABORT as on SWD. */
enum dap_ack cmsis_dap_abort(struct cmsis_dap *c, uint32_t value);

/* The hooks of struct link_backend. */
enum dap_ack cmsis_dap_dap(void *ctx, bool ap, bool read, uint8_t addr, uint32_t *value);
enum dap_ack cmsis_dap_block(void *ctx, bool read, uint8_t addr, uint32_t *values, uint32_t count,
                             uint32_t *done);
enum dap_ack cmsis_dap_flush(void *ctx);

#endif
