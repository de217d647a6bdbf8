/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board's fronts on loopback TCP ports: one poll loop, one client a front at a time (the next one waits).
 * A client that does not read its answers is not served meanwhile, and hung up on after a while.
 * docs/board.md "For other tools".
 *
 * Not thread-safe; everything happens in front_server_run.
 */
#ifndef CORRAL_SIM_FRONT_SERVER_H
#define CORRAL_SIM_FRONT_SERVER_H

#include <stdatomic.h>

#include "base/diag.h"
#include "sim/front.h"

#define FRONT_SERVER_FRONTS 4u

enum front_pace {
    FRONT_PACE_WIRE, /* only wire clocks move the board */
    FRONT_PACE_REAL, /* it keeps to real time where this machine is fast enough */
    FRONT_PACE_MAX,  /* as fast as this machine can */
};

struct front_report {
    const char *name;
    uint64_t clients;
    uint64_t put_off;  /* did not read their answers */
    uint64_t nonsense; /* said what is no message of the protocol */
    uint64_t transfers;
};

struct front_server_report {
    unsigned fronts;
    struct front_report front[FRONT_SERVER_FRONTS];
    uint64_t wire_clocks;
    double board_seconds;       /* how long the board ran, by its own clock */
    double fell_behind_seconds; /* how much real time it could not keep up with */
};

struct front_server;

/* The board stays the caller's and must live as long. `patience_ms`: how long a client may leave its answers
 * unread; 0 = 10 s. NULL with *d set. */
struct front_server *front_server_new(struct board *b, enum front_pace pace, int patience_ms, struct diag *d);
void front_server_free(struct front_server *s); /* NULL is allowed */

/* Adds a front, which listens from now on; port 0 = any free one, and *port says which. */
enum corral_err front_server_add(struct front_server *s, const struct front_kind *kind, uint16_t *port,
                                 struct diag *d);

/* Takes the commands of board_control.h on the unix socket `path`, the caller's, from now on. */
enum corral_err front_server_control(struct front_server *s, const char *path, struct diag *d);

/* Serves until *stop. */
enum corral_err front_server_run(struct front_server *s, const atomic_bool *stop, struct diag *d);
void front_server_get_report(const struct front_server *s, struct front_server_report *report);

#endif
