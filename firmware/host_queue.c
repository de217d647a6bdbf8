/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core 0's message queues for a host. Firmware-log sheet 2 and 5; docs/board.md, "The handshake". Messages
 * are handled between two pieces of work, never in the interrupt: they touch the log, and answering core 0's
 * own mailbox must not wait for them.
 */
#include "firmware/host_queue.h"

#include "firmware/journal.h"
#include "firmware/registers.h"
#include "target/queue_server.h"
#include "target/tlog_control.h"

#define DOORBELL_PRIORITY 0xC0u
#define LOOK_MS           20u /* a ring may be lost; and how long the log waits for a host */

#define SCRATCH(n) (BOARD_SYSINFO_BASE + BOARD_SYSINFO_SCRATCH(n))

static struct {
    struct queue_server server;
#ifndef FIRMWARE_NO_LOG
    struct tlog_control control;
#endif
    struct queue_server_handler handlers[1];
    uint32_t looked_at;
    bool decided; /* a host has set the log up, or the default buffer has been taken */
    volatile bool rung;
} queue;

void doorbell_handler(void);

void doorbell_handler(void)
{
    /* Cleared before the look, so that a ring during it makes another. */
    reg_write(BOARD_SYSINFO_BASE + BOARD_SYSINFO_DOORBELL_STATUS, 1);
    queue.rung = true;
}

static uint32_t port_read32(void *ctx, uint64_t address)
{
    (void)ctx;
    return reg_read((uint32_t)address);
}

static void port_write32(void *ctx, uint64_t address, uint32_t value)
{
    (void)ctx;
    __asm__ volatile("dmb" ::: "memory");
    reg_write((uint32_t)address, value);
}

static const struct target_port port = {.read32 = port_read32, .write32 = port_write32};

#ifndef FIRMWARE_NO_LOG
static void log_changed(void *ctx, bool attached)
{
    (void)ctx;
    (void)attached;
    queue.decided = true;
}
#endif

void host_queue_start(void)
{
    struct queue_server_config config = {
        .port = &port,
        .control = BOARD_QUEUE_MEMORY,
        .queues = BOARD_QUEUE_MEMORY + ARC_CONTROL_SIZE,
        .handlers = queue.handlers,
    };
#ifndef FIRMWARE_NO_LOG
    queue.control.producer = journal_producer();
    queue.control.changed = log_changed;
    queue.handlers[0].code = ARC_MSG_TLOG;
    queue.handlers[0].handle = tlog_control_message;
    queue.handlers[0].ctx = &queue.control;
    config.handler_count = 1;
#endif
    reg_write(SCRATCH(ARC_SCRATCH_BOOT_STATUS), 0);
    if (!queue_server_init(&queue.server, &config))
        return;
    reg_write(SCRATCH(ARC_SCRATCH_QUEUE_CONTROL), BOARD_QUEUE_MEMORY);
    reg_write(SCRATCH(ARC_SCRATCH_BOOT_STATUS), ARC_BOOT_STATUS_READY);
    irq_enable(BOARD_IRQ_DOORBELL, DOORBELL_PRIORITY);
}

void host_queue_serve(void)
{
    uint32_t now = journal_ms();
    if (queue.rung || now - queue.looked_at >= LOOK_MS) {
        queue.rung = false;
        queue.looked_at = now;
        if (queue_server_poll(&queue.server))
            queue.rung = true; /* there may be more */
    }
    if (!queue.decided && now >= LOOK_MS) {
        queue.decided = true;
        journal_attach_default();
    }
}
