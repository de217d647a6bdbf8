/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process that owns the link: gdb on a port for each core, while logs, profile and events go on (they are
 * started as for any other session). After session_connect.
 */
#ifndef CORRAL_SESSION_SERVE_H
#define CORRAL_SESSION_SERVE_H

#include "gdb/gdb_server.h"
#include "session/session.h"

struct session_serve_options {
    const char *address;  /* to listen on; NULL = 127.0.0.1 */
    unsigned port;        /* of the first core, unless there are `ports`; 0 = any free ones */
    bool described_ports; /* those that the description of the device gives, where it gives any */
    bool all;             /* also a port for all cores as threads */
    unsigned all_port;    /* 0 = any free one */
    bool sync;
    enum gdb_on_detach on_detach;
    /* `monitor log level N`: called on the link's thread; may be NULL. */
    void (*set_log_level)(void *ctx, unsigned level);
    void *ctx;
};

struct session_server;

/* Listens. NULL with *d set. */
struct session_server *session_serve_start(struct session *s, const struct session_serve_options *o,
                                           struct diag *d);
/* The port of core number `core`, or of GDB_ALL_CORES; 0 = none. */
unsigned session_serve_port(const struct session_server *server, size_t core);
/*
 * Serve until *stop; events are drained to the sinks meanwhile. A virtual board keeps pace with real time, or
 * falls behind where this machine is too slow for it. Fails when the link is gone.
 */
enum corral_err session_serve(struct session *s, struct session_server *server, const atomic_bool *stop,
                              struct diag *d);
void session_serve_report(struct session_server *server, struct gdb_server_report *report);
/* Closes the ports and leaves the target as `on_detach` says: the session can only be closed then. */
enum corral_err session_serve_stop(struct session *s, struct session_server *server, struct diag *d);

#endif
