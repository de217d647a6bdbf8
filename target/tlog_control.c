/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SETUP and RELEASE. Firmware-log sheet 2: the order of the checks and their codes. It must not look at the
 * host's memory itself.
 */
#include "target/tlog_control.h"

#include "tlog/arc_queue_layout.h"

static uint32_t set_up(struct tlog_control *c, const uint32_t request[8])
{
    uint64_t address = request[1] | (uint64_t)request[2] << 32;
    uint32_t size = request[3];
    /* The version in bits 23:16 is not looked at: the host reads ours in the header. */
    if (!tlog_producer_attach(c->producer, address, size))
        return ARC_TLOG_BAD_SIZE;
    if (c->changed)
        c->changed(c->ctx, true);
    return ARC_TLOG_OK;
}

static uint32_t release(struct tlog_control *c)
{
    if (!tlog_producer_attached(c->producer))
        return ARC_TLOG_OK;
    if (c->producer->mode == TLOG_PRODUCER_CAREFUL)
        tlog_producer_tick(c->producer);
    tlog_producer_detach(c->producer);
    if (c->changed)
        c->changed(c->ctx, false);
    return ARC_TLOG_OK;
}

void tlog_control_message(void *control, const uint32_t request[8], uint32_t response[8])
{
    struct tlog_control *c = control;
    uint32_t subcommand = request[0] >> 8 & 0xFFu;
    if (c->unable) {
        response[0] = ARC_TLOG_NO_TRANSLATION;
        return;
    }
    if (subcommand != ARC_TLOG_SETUP && subcommand != ARC_TLOG_RELEASE) {
        response[0] = ARC_TLOG_BAD_SUBCOMMAND;
        return;
    }
    /* Before the lock: what cannot succeed need not wait for it. */
    if (subcommand == ARC_TLOG_SETUP && request[3] < ARC_TLOG_MIN_SIZE) {
        response[0] = ARC_TLOG_BAD_SIZE;
        return;
    }
    if (c->lock && !c->lock(c->ctx)) {
        response[0] = ARC_TLOG_BUSY;
        return;
    }
    response[0] = subcommand == ARC_TLOG_SETUP ? set_up(c, request) : release(c);
    if (c->unlock)
        c->unlock(c->ctx);
}
