/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The capture file: pcapng (draft-ietf-opsawg-pcapng). Records raw input, not decoded events: an interface
 * per source. UDP datagrams as raw IPv4 packets; log batches, profile packets that came another way, halts
 * and clock pairs under user link types. Each block is written whole, so the file is readable to its last
 * whole block after a crash.
 */
#ifndef CORRAL_CAPTURE_CAPTURE_WRITER_H
#define CORRAL_CAPTURE_CAPTURE_WRITER_H

#include "base/diag.h"
#include "event/event.h"

#define CAPTURE_LINKTYPE_RAW_IP 101
#define CAPTURE_LINKTYPE_TLOG   147 /* USER0: one shared-buffer batch */
#define CAPTURE_LINKTYPE_EVENT  148 /* USER1: one event (halt, run, clock, marker, gap) as a JSON object */

#define CAPTURE_LINKTYPE_PROFILE                                                                           \
    149 /* USER2: one profile packet that was no datagram; the interface is called as below and its sender \
         */
#define CAPTURE_PROFILE_NAME "profile " /* "profile ram:core0" */

#define CAPTURE_MAX_INTERFACES 128

struct capture_writer;

/* Creates (truncates) the file. `wall_ns` is the wall-clock time of host_ns 0. NULL with *d set. */
struct capture_writer *capture_writer_open(const char *path, int64_t wall_ns, struct diag *d);
/* Thread-safe. Returns the interface number through *id. */
enum corral_err capture_writer_interface(struct capture_writer *w, int linktype, const char *name,
                                         uint32_t *id, struct diag *d);
/* One packet. comment may be NULL. Thread-safe. */
enum corral_err capture_writer_packet(struct capture_writer *w, uint32_t id, int64_t host_ns,
                                      const void *data, size_t size, const char *comment, struct diag *d);
/* A UDP datagram from IPv4 source:port to dest:port, wrapped into IPv4 + UDP headers. */
enum corral_err capture_writer_udp(struct capture_writer *w, uint32_t id, int64_t host_ns, const char *source,
                                   uint16_t source_port, const char *dest, uint16_t dest_port,
                                   const void *data, size_t size, struct diag *d);
/* What was received and dropped on an interface, as an interface statistics block. */
enum corral_err capture_writer_stats(struct capture_writer *w, uint32_t id, int64_t host_ns,
                                     uint64_t received, uint64_t dropped, struct diag *d);
/* Flush and close; frees w. NULL is allowed. */
enum corral_err capture_writer_close(struct capture_writer *w, struct diag *d);

#endif
