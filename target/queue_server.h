/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware's end of the ARC message queue: request and response rings in memory that a host reaches too.
 * Firmware-log sheet 5; the layout is tlog/arc_queue_layout.h.
 *
 * Everything the host can write is checked, and that is all of the memory: this side's own pointers and the
 * queue's shape are kept privately and only ever written. A queue whose host pointers are impossible is left
 * alone until they are not; the others go on.
 *
 * No heap, no library, no state of its own. Not re-entrant. RAM 40 bytes and 8 a queue.
 */
#ifndef CORRAL_TARGET_QUEUE_SERVER_H
#define CORRAL_TARGET_QUEUE_SERVER_H

#include "target/port.h"

#include "tlog/arc_queue_layout.h"

/* The most queues that a server's state has room for. */
#ifndef QUEUE_SERVER_QUEUES
#define QUEUE_SERVER_QUEUES ARC_QUEUES_DEFAULT
#endif

/* Answers messages with this code (bits 7:0 of word 0). `request` is a copy; `response` comes zeroed. */
struct queue_server_handler {
    uint8_t code;
    void (*handle)(void *ctx, const uint32_t request[8], uint32_t response[8]);
    void *ctx;
};

struct queue_server_config {
    const struct target_port *port; /* read32 and write32 are used, and map_window is not */
    uint64_t control;               /* 16 bytes for the control block, aligned to 4 */
    uint64_t queues;                /* ARC_QUEUE_SIZE(entries) bytes a queue, aligned to 4, below 4 GiB */
    uint8_t entries;                /* a queue, 1 to ARC_ENTRIES_MAX; 0 = ARC_ENTRIES_DEFAULT */
    uint8_t queue_count;            /* 1 to QUEUE_SERVER_QUEUES; 0 = ARC_QUEUES_DEFAULT */
    const struct queue_server_handler *handlers; /* must outlive the server */
    uint8_t handler_count;
};

/* All state; the members are the server's own, but for the counters, which anyone may read. */
struct queue_server {
    const struct target_port *port;
    uint64_t queues;
    const struct queue_server_handler *handlers;
    uint8_t entries, queue_count, handler_count;
    struct {
        uint8_t request_rptr, response_wptr;
        uint32_t serial; /* messages handled */
    } queue[QUEUE_SERVER_QUEUES];
    uint32_t handled;      /* messages, modulo 2^32 */
    uint32_t unknown;      /* of these, with a code that has no handler */
    uint32_t bad_pointers; /* looks at a queue whose host pointers were impossible */
};

/*
 * Lay the queues out, empty, and the control block last. False when the configuration is impossible. The
 * caller then publishes the control block's address (scratch word ARC_SCRATCH_QUEUE_CONTROL) and after that
 * the boot status (ARC_SCRATCH_BOOT_STATUS).
 */
bool queue_server_init(struct queue_server *s, const struct queue_server_config *config);

/*
 * Answer what is there, at most as many messages a queue as it has entries, so that a host that never stops
 * cannot hold the caller. True when it answered any: look again soon. A message is taken only when its answer
 * has room.
 */
bool queue_server_poll(struct queue_server *s);

#endif
