/* SPDX-License-Identifier: Apache-2.0 */
/* Reading /dev/tlogN (log_device.h). Knows the driver's user ABI, and nothing of the shared buffer. */
#include "session/log_device.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "kernel/include/uapi/linux/tlog.h"
#include "tlog/arc_queue.h"

#define BUFFER_SIZE (2 * TLOG_FRAME_MOST)
#define READS_MOST  3 /* one call does not read for ever */
#define EVENTS_MOST 4 /* of one frame: what the reader lost, a restart, a gap, the record */

_Static_assert(sizeof(struct tlog_frame) == TLOG_FRAME_HEADER, "the frame of the ABI and of tlog_frame.h");
/* The caller draws after each call: what one call publishes must find room, or this program loses it. */
_Static_assert((READS_MOST + 1) * BUFFER_SIZE / TLOG_FRAME_HEADER * EVENTS_MOST <= SINK_QUEUE_DEFAULT,
               "one call's events and a sink's queue");

struct log_device {
    int fd;
    bool is_device; /* its driver holds ready all that there is */
    char name[160];
    struct tlog_emitter *emitter;
    size_t used; /* bytes of an unfinished frame, at the start of the buffer */
    uint8_t buffer[BUFFER_SIZE];
};

struct log_device *log_device_open(const char *path, struct event_bus *bus, struct diag *d)
{
    const struct tlog_consumer_options options = {.stream = "tlog"};
    struct log_device *device = calloc(1, sizeof(*device));
    if (!device) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    text_escape((const uint8_t *)path, strlen(path), device->name, sizeof(device->name));
    device->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (device->fd < 0) {
        int why = errno;
        diag_set(d, CORRAL_ERR_LINK_DOWN, "cannot open %s: %s", device->name, strerror(why));
        diag_object(d, "%s", device->name);
        if (why == EACCES)
            diag_hint(d, "only root may read it, unless a udev rule says otherwise");
        else
            diag_hint(d, "is the driver loaded (modprobe tlog_pci)? It is built with the kernel's headers "
                         "(linux-headers-...): docs/kernel.md");
        log_device_close(device);
        return NULL;
    }
    struct stat st;
    device->is_device = fstat(device->fd, &st) == 0 && S_ISCHR(st.st_mode);
    device->emitter = tlog_emitter_new(&options, bus);
    if (!device->emitter) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        log_device_close(device);
        return NULL;
    }
    return device;
}

void log_device_close(struct log_device *device)
{
    if (!device)
        return;
    if (device->fd >= 0)
        close(device->fd);
    tlog_emitter_free(device->emitter);
    free(device);
}

/* Publish the whole frames in the buffer; what is left moves to its start. */
static enum corral_err publish(struct log_device *device, struct diag *d)
{
    size_t at = 0, used = 0;
    struct tlog_frame_view frame;
    enum tlog_frame_status status = TLOG_FRAME_MORE;
    while (at < device->used && (status = tlog_frame_decode(device->buffer + at, device->used - at, &frame,
                                                            &used)) == TLOG_FRAME_OK) {
        tlog_emitter_frame(device->emitter, &frame);
        at += used;
    }
    device->used -= at;
    memmove(device->buffer, device->buffer + at, device->used);
    if (status != TLOG_FRAME_BAD)
        return CORRAL_OK;
    diag_set(d, CORRAL_ERR_FORMAT, "%s does not give frames of the log", device->name);
    diag_hint(d, "is it the device of the log's driver? See tlog(4)");
    return CORRAL_ERR_FORMAT;
}

enum corral_err log_device_read(struct log_device *device, int wait_ms, bool *got, bool *ended,
                                struct diag *d)
{
    struct pollfd p = {.fd = device->fd, .events = POLLIN};
    *got = *ended = false;
    int events = poll(&p, 1, wait_ms);
    if (events < 0 && errno != EINTR)
        return diag_set(d, CORRAL_ERR_IO, "cannot wait for %s: %s", device->name, strerror(errno));
    if (events <= 0) { /* not read: a pipe that nobody has opened for writing yet would be at its end */
        *got = events < 0;
        return CORRAL_OK;
    }
    for (int i = 0; i < READS_MOST; i++) {
        ssize_t n = read(device->fd, device->buffer + device->used, BUFFER_SIZE - device->used);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            if (device->is_device && errno == EAGAIN)
                *got = false; /* this was all */
            return CORRAL_OK;
        }
        if (n < 0 && errno == ENODEV) {
            *ended = true;
            return diag_set(d, CORRAL_ERR_LINK_DOWN, "the device of %s has gone away", device->name);
        }
        if (n < 0)
            return diag_set(d, CORRAL_ERR_IO, "cannot read %s: %s", device->name, strerror(errno));
        if (n == 0) {
            *ended = true;
            return device->used == 0 ? CORRAL_OK
                                     : diag_set(d, CORRAL_ERR_FORMAT, "%s ends within a frame", device->name);
        }
        *got = true;
        device->used += (size_t)n;
        enum corral_err err = publish(device, d);
        if (err != CORRAL_OK)
            return err;
    }
    return CORRAL_OK;
}

void log_device_stats(const struct log_device *device, struct tlog_consumer_stats *stats)
{
    tlog_emitter_get_stats(device->emitter, stats);
}

enum corral_err log_device_info(struct log_device *device, struct log_device_info *info, struct diag *d)
{
    struct tlog_info raw;
    *info = (struct log_device_info){.state = "unknown", .setup_answer = -1};
    memset(&raw, 0, sizeof(raw));
    if (ioctl(device->fd, TLOG_IOC_GET_INFO, &raw) != 0) {
        if (errno == ENODEV)
            return diag_set(d, CORRAL_ERR_LINK_DOWN, "the device of %s has gone away", device->name);
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "%s does not answer as the log's device: %s", device->name,
                        strerror(errno));
    }
    if (raw.abi_version != TLOG_ABI_VERSION)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED,
                        "the driver of %s has version %" PRIu32 ", this program knows %u", device->name,
                        (uint32_t)raw.abi_version, TLOG_ABI_VERSION);
    info->known = true;
    info->buffer_size = raw.buffer_size;
    info->firmware_version = raw.firmware_version;
    info->batches = raw.batches;
    info->records = raw.records;
    info->gaps = raw.gaps;
    info->lost = raw.lost;
    if (raw.setup_status != UINT32_MAX)
        info->setup_answer = raw.setup_status;
    const char *sentence = "the driver's state is not known to this program";
    switch (raw.state) {
    case TLOG_STATE_OFF:
        info->state = "not-set-up";
        sentence = "the driver has not set the log up";
        break;
    case TLOG_STATE_ACTIVE:
        info->state = "active";
        sentence = "set up by the driver";
        break;
    case TLOG_STATE_REFUSED:
        info->state = arc_answer_of(raw.setup_status) == ARC_ANSWER_UNSUPPORTED ? "unsupported" : "refused";
        snprintf(info->message, sizeof(info->message),
                 "SETUP failed: the firmware %s (answer 0x%02" PRIx32 ")", arc_answer_text(raw.setup_status),
                 (uint32_t)raw.setup_status);
        return CORRAL_OK;
    case TLOG_STATE_BAD_MAGIC:
        info->state = "wrong-magic";
        sentence = "the header in the buffer is not the log's";
        break;
    case TLOG_STATE_DEAD:
        info->state = "link-dead";
        sentence = "the device does not answer";
        break;
    default:
        break;
    }
    snprintf(info->message, sizeof(info->message), "%s", sentence);
    return CORRAL_OK;
}
