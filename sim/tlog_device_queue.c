/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emulated device's message queues in BAR2 (firmware-log sheet 5): src/tlog's server over BAR2, and the
 * answers that misbehaviours refuse, delay or leave out (sheet 8, inputs 35 and 36).
 */
#include "sim/tlog_device_internal.h"

#include <string.h>

static enum corral_err bar_read(void *ctx, uint64_t address, uint32_t *value, struct diag *d)
{
    (void)d;
    *value = address <= UINT32_MAX ? tlog_device_bar_read(ctx, (uint32_t)address) : 0;
    return CORRAL_OK;
}

static enum corral_err bar_write(void *ctx, uint64_t address, uint32_t value, struct diag *d)
{
    (void)d;
    if (address <= UINT32_MAX)
        tlog_device_bar_write(ctx, (uint32_t)address, value);
    return CORRAL_OK;
}

static bool answer_later(struct tlog_device *dev, unsigned queue, const uint32_t *request)
{
    for (uint32_t i = 0; i < DEVICE_LATE; i++) {
        struct tlog_device_late *late = &dev->late[i];
        if (late->used)
            continue;
        late->used = true;
        late->queue = queue;
        memcpy(late->words, request, sizeof(late->words));
        late->due_ns = tlog_device_now() + (int64_t)dev->late_ms * 1000000;
        return true;
    }
    return false;
}

static enum arc_reply handle(void *ctx, unsigned queue, const uint32_t *request, uint32_t *response)
{
    struct tlog_device *dev = ctx;
    dev->report.requests++;
    if ((request[0] & 0xFFu) != ARC_MSG_TLOG)
        return ARC_REPLY_UNKNOWN;
    if (dev->mute_left) {
        dev->mute_left--;
        return ARC_REPLY_NONE;
    }
    if (dev->late_left && answer_later(dev, queue, request)) {
        dev->late_left--;
        return ARC_REPLY_NONE;
    }
    response[0] = tlog_device_control_message(dev, request);
    return ARC_REPLY_ANSWER;
}

enum corral_err tlog_device_queue_start(struct tlog_device *dev, struct diag *d)
{
    tlog_device_queue_stop(dev);
    const struct arc_server_options options = {
        .memory = {.ctx = dev, .read32 = bar_read, .write32 = bar_write},
        .control = CONTROL_BLOCK,
        .queues = FIRST_QUEUE,
        .handle = handle,
        .ctx = dev,
    };
    dev->firmware.server = arc_server_new(&options, d);
    if (!dev->firmware.server)
        return d ? d->code : CORRAL_ERR_NO_MEMORY;
    tlog_device_bar_write(dev, TLOG_PCI_SCRATCH(ARC_SCRATCH_QUEUE_CONTROL), CONTROL_BLOCK);
    tlog_device_bar_write(dev, TLOG_PCI_SCRATCH(ARC_SCRATCH_BOOT_STATUS), ARC_BOOT_STATUS_READY);
    return CORRAL_OK;
}

void tlog_device_queue_stop(struct tlog_device *dev)
{
    memset(dev->late, 0, sizeof(dev->late));
    arc_server_free(dev->firmware.server);
    dev->firmware.server = NULL;
}

void tlog_device_queue_scan(struct tlog_device *dev)
{
    if (!dev->firmware.server)
        return;
    uint64_t bad = arc_server_bad_pointers(dev->firmware.server);
    arc_server_poll(dev->firmware.server, NULL, NULL);
    if (arc_server_bad_pointers(dev->firmware.server) != bad)
        tlog_device_remark(dev, "a queue pointer that cannot be");
}

void tlog_device_queue_late(struct tlog_device *dev, int64_t now)
{
    for (uint32_t i = 0; i < DEVICE_LATE; i++) {
        struct tlog_device_late *late = &dev->late[i];
        if (!late->used || now < late->due_ns || !dev->firmware.server)
            continue;
        uint32_t response[ARC_MESSAGE_WORDS] = {0};
        late->used = false;
        response[0] = tlog_device_control_message(dev, late->words);
        if (arc_server_respond(dev->firmware.server, late->queue, response, NULL) != CORRAL_OK)
            tlog_device_remark(dev, "no room for an answer in the queue");
    }
}

int64_t tlog_device_queue_due(const struct tlog_device *dev)
{
    int64_t due = INT64_MAX;
    for (uint32_t i = 0; i < DEVICE_LATE; i++)
        if (dev->late[i].used && dev->late[i].due_ns < due)
            due = dev->late[i].due_ns;
    return due;
}

uint32_t tlog_device_queue_stale(struct tlog_device *dev, uint32_t count)
{
    /* An error code, so that a client that takes it for its own answer is caught out. */
    const uint32_t response[ARC_MESSAGE_WORDS] = {ARC_TLOG_NO_TRANSLATION, 0xDEADu};
    uint32_t done = 0;
    while (done < count && dev->firmware.server &&
           arc_server_respond(dev->firmware.server, ARC_QUEUE_DRIVER, response, NULL) == CORRAL_OK)
        done++;
    return done;
}
