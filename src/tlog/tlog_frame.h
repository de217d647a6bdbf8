/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One frame of /dev/tlogN, as kernel/include/uapi/linux/tlog.h lays it out: bytes to a view. Pure: no
 * allocation, no I/O. Fields are in host byte order, because the driver runs on this machine; they are
 * checked all the same, because what is opened may be any file.
 */
#ifndef CORRAL_TLOG_TLOG_FRAME_H
#define CORRAL_TLOG_TLOG_FRAME_H

#include "tlog/tlog_decode.h"

#define TLOG_FRAME_HEADER 40u
#define TLOG_FRAME_MOST   (TLOG_FRAME_HEADER + 65536u)

struct tlog_frame_view {
    struct tlog_record record; /* its text lies in the caller's bytes */
    int64_t host_ns;           /* CLOCK_MONOTONIC when the batch was copied */
    bool gap, restart;
    uint32_t missing; /* with gap */
    uint64_t lost;    /* this reader was too slow for so many since its last frame */
};

enum tlog_frame_status {
    TLOG_FRAME_OK,
    TLOG_FRAME_MORE, /* the frame is longer than what is here */
    TLOG_FRAME_BAD,  /* not a frame: nothing behind it can be trusted */
};

/* The frame at the start of data[0..size). *used is its length when the answer is TLOG_FRAME_OK. */
enum tlog_frame_status tlog_frame_decode(const uint8_t *data, size_t size, struct tlog_frame_view *frame,
                                         size_t *used);

#endif
