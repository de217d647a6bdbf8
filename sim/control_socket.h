/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A control socket of an emulated device: a unix stream, a line a command, an answer each. One controller at
 * a time; the newest counts, the one before may have died. Not thread-safe.
 */
#ifndef CORRAL_SIM_CONTROL_SOCKET_H
#define CORRAL_SIM_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

#define CONTROL_LINE 256u /* longest command with its end */

struct control_socket {
    int listener, client; /* -1 = none */
    const char *path;     /* the caller's */
    size_t used;
    char line[CONTROL_LINE];
};

/* A listening unix socket at `path`, also in place of one that nobody listens on any more; -1 with *d set. */
int control_socket_listen(const char *path, struct diag *d);

enum corral_err control_socket_open(struct control_socket *s, const char *path, struct diag *d);
void control_socket_close(struct control_socket *s); /* and removes it */
void control_socket_accept(struct control_socket *s);

/* Reads what came and has each whole line carried out by `run`, which returns the answer, ended with a line
 * feed and borrowed until the next call. A client that does not read its answers is hung up on. */
void control_socket_input(struct control_socket *s, const char *(*run)(void *ctx, const char *line),
                          void *ctx);

#endif
