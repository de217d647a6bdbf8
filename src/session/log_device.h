/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware log out of /dev/tlogN (the Linux driver's; tlog(4)), or out of a pipe or file with the same
 * frames. The driver has done the owner protocol and counted what is missing; this only reads.
 */
#ifndef CORRAL_SESSION_LOG_DEVICE_H
#define CORRAL_SESSION_LOG_DEVICE_H

#include "event/sink.h"
#include "tlog/consumer.h"

struct log_device;

/* NULL with *d set; CORRAL_ERR_LINK_DOWN when it is not there. The bus must outlive it. */
struct log_device *log_device_open(const char *path, struct event_bus *bus, struct diag *d);
void log_device_close(struct log_device *device); /* NULL is allowed */

/*
 * Wait up to wait_ms for frames and publish them. *got: there may be more now; *ended: nothing will come any
 * more (end of a file, the device is gone). CORRAL_ERR_FORMAT for bytes that are no frames.
 */
enum corral_err log_device_read(struct log_device *device, int wait_ms, bool *got, bool *ended,
                                struct diag *d);
void log_device_stats(const struct log_device *device, struct tlog_consumer_stats *stats);

/* What the driver says of itself. `known` false: this is not the driver's device. */
struct log_device_info {
    bool known;
    const char *state; /* as session_log_status.state */
    uint32_t buffer_size, firmware_version;
    uint64_t batches, records, gaps, lost;
    int64_t setup_answer; /* -1 = none came */
    char message[200];
};
enum corral_err log_device_info(struct log_device *device, struct log_device_info *info, struct diag *d);

#endif
