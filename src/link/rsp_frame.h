/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of the gdb remote serial protocol, as bytes: `$data#NN`, acknowledgements, notifications; escapes
 * and run-length encoding. Pure: no sockets, no time. Cross-trigger sheet 10.1.
 */
#ifndef CORRAL_LINK_RSP_FRAME_H
#define CORRAL_LINK_RSP_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RSP_FRAME_MAX (64u << 10) /* bytes of a packet, unpacked */

enum rsp_frame_event {
    RSP_FRAME_MORE,         /* all bytes were taken; nothing is complete yet */
    RSP_FRAME_PACKET,       /* in data, NUL behind it */
    RSP_FRAME_NOTIFICATION, /* likewise */
    RSP_FRAME_ACK,
    RSP_FRAME_NAK,
    RSP_FRAME_BAD,      /* checksum or encoding: what was sent is not to be believed */
    RSP_FRAME_TOO_LONG, /* likewise; reading goes on behind it */
};

/* Zeroed, it waits for a packet. */
struct rsp_frame {
    int state;
    bool notification, broken, long_one;
    uint8_t sum, expected;
    size_t size;
    uint8_t data[RSP_FRAME_MAX + 1];
};

/* Takes bytes up to the end of one event; *used: how many. */
enum rsp_frame_event rsp_frame_feed(struct rsp_frame *f, const uint8_t *in, size_t size, size_t *used);

/* The frame of `size` bytes of data into `out`; escapes what must be. 0 when `room` is too small (at most
 * 2 * size + 4 bytes are needed). */
size_t rsp_frame_write(const void *data, size_t size, uint8_t *out, size_t room);

#endif
