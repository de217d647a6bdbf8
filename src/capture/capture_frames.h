/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One captured frame to its UDP payload. Pure: no state, no allocation. Private to src/capture.
 */
#ifndef CORRAL_CAPTURE_CAPTURE_FRAMES_H
#define CORRAL_CAPTURE_CAPTURE_FRAMES_H

#include "capture/capture_reader.h"

enum capture_frame {
    CAPTURE_FRAME_UDP,
    CAPTURE_FRAME_OTHER,        /* no UDP, or headers that are cut or wrong */
    CAPTURE_FRAME_FRAGMENT,     /* part of a fragmented datagram; never put together */
    CAPTURE_FRAME_UNKNOWN_LINK, /* a link type that is not listed in capture_frames.c */
};

/* *udp must be zeroed; it is filled in for CAPTURE_FRAME_UDP only. */
enum capture_frame capture_frames_udp(uint16_t linktype, const uint8_t *data, size_t size,
                                      struct capture_udp *udp);

#endif
