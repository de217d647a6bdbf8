/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways to a CMSIS-DAP probe: a table that carries packets, and those who fill it. Packets go there and
 * come back whole and in order; what is in them is cmsis_dap_probe.c's.
 *
 * Only files of src/link/ and their tests include this.
 */
#ifndef CORRAL_LINK_CMSIS_DAP_WIRE_H
#define CORRAL_LINK_CMSIS_DAP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define CMSIS_DAP_PACKET_MAX 4096u /* what is used at most, whatever a probe offers */
#define CMSIS_DAP_NAME       160

struct cmsis_dap_wire_ops {
    /* A packet to the probe within `ms` of real time. */
    enum corral_err (*send)(void *ctx, const uint8_t *packet, size_t size, int ms, struct diag *d);
    /* A packet from the probe within `ms`; *size is at most `room`. A longer one is an error. */
    enum corral_err (*receive)(void *ctx, uint8_t *packet, size_t room, size_t *size, int ms, struct diag *d);
    /* Optional: how much a packet holds, now that the probe has said so. */
    void (*set_packet)(void *ctx, size_t size);
    void (*close)(void *ctx);
};

struct cmsis_dap_wire {
    const struct cmsis_dap_wire_ops *ops;
    void *ctx;
    size_t packet;             /* the size until the probe has told its own */
    bool padded;               /* every packet is filled up to its full size (USB HID) */
    char name[CMSIS_DAP_NAME]; /* for sentences; printable */
};

/* False with *d set. Then `wire` is to be closed by its user: wire.ops->close(wire.ctx). */
bool cmsis_dap_tcp_open(struct cmsis_dap_wire *wire, const char *words, int ms, struct diag *d);
/* `serial` "" = the only probe that is there. CORRAL_ERR_LINK_DOWN where there is none, or several. */
bool cmsis_dap_usb_open(struct cmsis_dap_wire *wire, const char *serial, struct diag *d);

#endif
