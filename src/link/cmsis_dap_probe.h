/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CMSIS-DAP probe as one object: commands out, answers in, several under way at a time. Answers are
 * hostile: each is checked for its command's byte and its length before anybody looks at it. After the first
 * that cannot be right the probe is given up, since nothing behind it can be matched to its command.
 *
 * Only files of src/link/ and their tests include this.
 */
#ifndef CORRAL_LINK_CMSIS_DAP_PROBE_H
#define CORRAL_LINK_CMSIS_DAP_PROBE_H

#include "link/cmsis_dap.h"
#include "link/cmsis_dap_wire.h"

/* Commands, CMSIS-DAP 2.1. */
enum {
    CMD_INFO = 0x00,
    CMD_HOST_STATUS = 0x01,
    CMD_CONNECT = 0x02,
    CMD_DISCONNECT = 0x03,
    CMD_TRANSFER_CONFIGURE = 0x04,
    CMD_TRANSFER = 0x05,
    CMD_TRANSFER_BLOCK = 0x06,
    CMD_WRITE_ABORT = 0x08,
    CMD_SWJ_PINS = 0x10,
    CMD_SWJ_CLOCK = 0x11,
    CMD_SWJ_SEQUENCE = 0x12,
    CMD_SWD_CONFIGURE = 0x13,
    CMD_JTAG_SEQUENCE = 0x14,
    CMD_JTAG_CONFIGURE = 0x15,
    CMD_JTAG_IDCODE = 0x16,
    CMD_SWD_SEQUENCE = 0x1D,
};

struct cmsis_dap_probe;

/* Takes the wire over, also where it fails: NULL with *d set. Asks the probe who it is. */
struct cmsis_dap_probe *cmsis_dap_probe_open(const struct cmsis_dap_wire *wire, int64_t limit,
                                             struct diag *d);
/* No wait is to last beyond `limit` (link_tcp_now); INT64_MAX lifts it. */
void cmsis_dap_probe_set_limit(struct cmsis_dap_probe *p, int64_t limit);
void cmsis_dap_probe_close(struct cmsis_dap_probe *p);

const struct link_cmsis_dap_info *cmsis_dap_probe_info(const struct cmsis_dap_probe *p);
const char *cmsis_dap_probe_name(const struct cmsis_dap_probe *p);
size_t cmsis_dap_probe_packet(const struct cmsis_dap_probe *p);  /* bytes, at least 64 */
unsigned cmsis_dap_probe_depth(const struct cmsis_dap_probe *p); /* packets under way, at least 1 */
bool cmsis_dap_probe_failed(const struct cmsis_dap_probe *p);
const struct diag *cmsis_dap_probe_why(const struct cmsis_dap_probe *p);
/* Give it up for `what` it did, a whole clause behind "the probe NAME ". */
void cmsis_dap_probe_refuse(struct cmsis_dap_probe *p, const char *what);

/* A command. At most cmsis_dap_probe_depth of them may wait for their answers. */
bool cmsis_dap_probe_send(struct cmsis_dap_probe *p, const uint8_t *request, size_t size);
/* The answer to the oldest of them: it has `least` bytes at least, its command's byte among them. Valid until
 * the next call. NULL when the probe is given up. */
const uint8_t *cmsis_dap_probe_take(struct cmsis_dap_probe *p, size_t least, size_t *size);
/* Both. */
const uint8_t *cmsis_dap_probe_ask(struct cmsis_dap_probe *p, const uint8_t *request, size_t size,
                                   size_t least);
/* Both, of a command that is answered by a status alone; true when that is OK. */
bool cmsis_dap_probe_do(struct cmsis_dap_probe *p, const uint8_t *request, size_t size);

#endif
