/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR Apache-2.0 */
/*
 * /dev/tlogN: the firmware log as a stream of framed records. tlog(4).
 *
 * read() returns whole frames only, as many as fit; -EINVAL when the buffer is smaller than the next frame.
 * Each open file has a position of its own; what it was too slow for is counted in the next frame's `lost`.
 * A new reader begins with the oldest record still kept.
 */
#ifndef _UAPI_LINUX_TLOG_H
#define _UAPI_LINUX_TLOG_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define TLOG_ABI_VERSION 1

#define TLOG_FRAME_TORN    (1 << 0) /* cut by the firmware */
#define TLOG_FRAME_GAP     (1 << 1) /* `missing` records are missing before this one, by sequence */
#define TLOG_FRAME_RESTART (1 << 2) /* the firmware started again before this record */

/* Fixed part of a frame, followed by text_size bytes of text (no NUL) and zero bytes up to `size`. */
struct tlog_frame {
	__u32 size;      /* of the whole frame, a multiple of 8 */
	__u16 text_size;
	__u8 level;      /* as sent by the firmware */
	__u8 source;
	__u32 sequence;
	__u32 timestamp; /* as sent: ms of firmware uptime, low 32 bits */
	__u64 host_ns;   /* CLOCK_MONOTONIC when the batch was copied */
	__u32 missing;   /* records lost by the firmware before this one (TLOG_FRAME_GAP) */
	__u32 flags;
	__u64 lost;      /* records this reader was too slow for since its last frame */
};

struct tlog_info {
	__u32 abi_version; /* TLOG_ABI_VERSION */
	__u32 buffer_size; /* of the shared buffer, bytes */
	__u32 firmware_version; /* header version seen after SETUP */
	__u32 state;       /* TLOG_STATE_* */
	__u64 batches;
	__u64 records;
	__u64 gaps;
	__u64 lost;
	__u32 setup_status; /* word 0 of the last SETUP's answer; ~0 = none came */
	__u32 reserved[7]; /* zero */
};

#define TLOG_STATE_OFF       0 /* not set up */
#define TLOG_STATE_ACTIVE    1
#define TLOG_STATE_REFUSED   2 /* the firmware refused SETUP: setup_status says why */
#define TLOG_STATE_BAD_MAGIC 3
#define TLOG_STATE_DEAD      4 /* the device does not answer */

#define TLOG_IOC_GET_INFO _IOR('T', 0x71, struct tlog_info)

#endif
