/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware log's control messages: the host's SETUP and RELEASE, handed to a producer. Firmware-log sheet
 * 2 and 3.4. For the handler table of queue_server.h, or any other way such messages come.
 *
 * A firmware without the log leaves this file and the producer out: the queue server then answers 0xFF.
 */
#ifndef CORRAL_TARGET_TLOG_CONTROL_H
#define CORRAL_TARGET_TLOG_CONTROL_H

#include "target/tlog_producer.h"

struct tlog_control {
    struct tlog_producer *producer;
    bool unable; /* this part cannot reach the host's memory: every message is answered so */
    /* Serialise with the producer's other callers. False: not within about 100 ms, and the host is told to
     * try again. Both NULL where messages and log calls come from one context. */
    bool (*lock)(void *ctx);
    void (*unlock)(void *ctx);
    /* A SETUP was adopted (true), or a RELEASE carried out (false): start or stop the periodic tick. Called
     * with the lock held. May be NULL. */
    void (*changed)(void *ctx, bool attached);
    void *ctx;
};

/*
 * Handle one message of eight words; `response` comes zeroed and gets the answer in word 0. `control` is a
 * struct tlog_control.
 *
 * SETUP adopts the buffer, also when one was set up already; records staged so far wait for the first flush.
 * A careful producer refuses, with the code for a bad size, whatever tlog_producer_attach refuses.
 *
 * RELEASE forgets the buffer; without one it is answered as done. A careful producer first hands over what is
 * staged if the buffer is free, so a host looks once more after the answer; what remains waits for the next
 * host.
 */
void tlog_control_message(void *control, const uint32_t request[8], uint32_t response[8]);

#endif
