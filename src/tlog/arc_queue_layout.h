/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The ARC message queue in memory, and the firmware log's control messages: the firmware-log sheet, sections
 * 2 and 5. Only #defines: host, firmware, emulator and Linux driver include this one file.
 *
 * All fields are little-endian 32-bit words. Offsets are in bytes.
 */
#ifndef CORRAL_TLOG_ARC_QUEUE_LAYOUT_H
#define CORRAL_TLOG_ARC_QUEUE_LAYOUT_H

/* Scratch registers: how the host finds the queues. */
#define ARC_SCRATCH_BOOT_STATUS   2u  /* bit 0: queues are ready; all ones: link or chip is dead */
#define ARC_SCRATCH_QUEUE_CONTROL 11u /* address of the control block */
#define ARC_BOOT_STATUS_READY     1u

/* Control block, 16 bytes. */
#define ARC_CONTROL_QUEUE_ADDRESS 0x0u /* address of queue 0 */
#define ARC_CONTROL_SHAPE         0x4u /* bits 7:0 entries a queue, bits 15:8 number of queues */
#define ARC_CONTROL_SIZE          16u

/* One queue: 32 bytes of header, then N requests, then N responses, of eight words each. Queues lie back to
 * back. Pointers run modulo 2N: equal = empty, difference N = full; slot = pointer modulo N. */
#define ARC_QUEUE_REQUEST_WPTR  0x00u /* host writes */
#define ARC_QUEUE_RESPONSE_RPTR 0x04u /* host writes */
#define ARC_QUEUE_REQUEST_RPTR  0x10u /* firmware writes */
#define ARC_QUEUE_RESPONSE_WPTR 0x14u /* firmware writes */
#define ARC_QUEUE_SERIAL        0x18u /* firmware writes: messages handled */
#define ARC_QUEUE_HEADER_SIZE   32u
#define ARC_MESSAGE_WORDS       8u
#define ARC_MESSAGE_SIZE        32u
#define ARC_QUEUE_SIZE(entries) (ARC_QUEUE_HEADER_SIZE + 2u * (entries)*ARC_MESSAGE_SIZE)

#define ARC_ENTRIES_DEFAULT 4u
#define ARC_QUEUES_DEFAULT  4u
/* What this side believes at most, whatever the other side writes. */
#define ARC_ENTRIES_MAX 64u
#define ARC_QUEUES_MAX  16u

/* Conventional owners of the queues. */
#define ARC_QUEUE_DRIVER     0u
#define ARC_QUEUE_MONITORING 1u
#define ARC_QUEUE_TOOLS      2u
#define ARC_QUEUE_APPS       3u

/* Message codes: bits 7:0 of word 0. */
#define ARC_MSG_TEST    0x90u /* word 1 = argument; answer: word 1 = argument + 1, word 2 = serial + 1 */
#define ARC_MSG_TLOG    0xC7u
#define ARC_MSG_UNKNOWN 0xFFu /* word 0 of the answer to a code that is not known */

/* ARC_MSG_TLOG: bits 15:8 subcommand, bits 23:16 the host's protocol version. SETUP: words 1 and 2 are the
 * buffer's address (low, high), word 3 its size in bytes. Words that are not named are sent as 0. */
#define ARC_TLOG_SETUP   1u
#define ARC_TLOG_RELEASE 2u
#define ARC_TLOG_VERSION 0u

/* Word 0 of the answer. */
#define ARC_TLOG_OK             0x00u
#define ARC_TLOG_BAD_SIZE       0x01u /* SETUP: size below ARC_TLOG_MIN_SIZE */
#define ARC_TLOG_NO_TRANSLATION 0x13u /* this part cannot */
#define ARC_TLOG_BAD_SUBCOMMAND 0x16u
#define ARC_TLOG_BUSY           0xF5u /* try again; 0xF0..0xF5 are all of this kind */
#define ARC_TLOG_MIN_SIZE       29u   /* header, record header, one byte */

/* What a host keeps to so that no firmware overruns the buffer. */
#define ARC_TLOG_HOST_MIN_SIZE 4112u      /* staging of 4096 plus the header */
#define ARC_TLOG_WINDOW        0x1000000u /* a buffer must not cross a multiple of this */

#endif
