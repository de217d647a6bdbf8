/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a target's profiler daemon says and does with the lines of its control channel: profiler sheet 6, for
 * a target without an MMU. Pure: no sockets, no clocks; hostile input.
 */
#ifndef CORRAL_SIM_PROFILE_DAEMON_H
#define CORRAL_SIM_PROFILE_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_DAEMON_LINE 256 /* bytes; a longer line is dropped to its end */

struct profile_daemon {
    /* Set by the owner. */
    void *ctx;
    void (*answer)(void *ctx, const char *text, size_t size);  /* to the client */
    void (*maps)(void *ctx, const uint8_t *data, size_t size); /* a maps packet, to the client's collector */
    /* What the client said. */
    bool started;
    bool address_known;
    uint8_t address[4]; /* IPv4, network order */
    bool closing;       /* the session is over */
    /* Over all clients. */
    uint64_t commands, unknown;
    /* The line so far. */
    size_t used;
    bool dropping;
    char line[PROFILE_DAEMON_LINE + 1];
};

/* A client is there, and has said nothing yet. */
void profile_daemon_begin(struct profile_daemon *p);
void profile_daemon_feed(struct profile_daemon *p, const uint8_t *data, size_t size);

#endif
