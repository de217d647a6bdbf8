/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core 0's message queues for a host: TEST, and SETUP and RELEASE of the log. docs/board.md, "The handshake".
 * Thread mode only, like the log.
 */
#ifndef CORRAL_FIRMWARE_HOST_QUEUE_H
#define CORRAL_FIRMWARE_HOST_QUEUE_H

/* Lay the queues out, publish them, and let the doorbell ring. After journal_start. */
void host_queue_start(void);

/* As often as you like: answers messages after a ring, and looks for them every 20 ms without one. When no
 * host has set the log up in the first 20 ms, the log gets its default buffer. */
void host_queue_serve(void);

#endif
