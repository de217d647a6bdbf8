/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gdb's sockets: a port for each core, and one for all of them. A thread of its own with a libuv loop serves
 * them; what clients ask is done on the link's owner thread, in the order it came, and what is answered goes
 * back here. Neither waits for the other, and a client that sends too much or reads too little is held, then
 * put off, alone.
 */
#ifndef CORRAL_GDB_GDB_SERVER_H
#define CORRAL_GDB_GDB_SERVER_H

#include "gdb/gdb_hub.h"
#include "link/link_thread.h"

struct gdb_server;

#define GDB_SERVER_CLIENTS  64 /* in all; one more is put off at once */
#define GDB_SERVER_PER_PORT 8

struct gdb_server_options {
    struct link_thread *thread; /* must outlive the server */
    struct gdb_hub_options hub;
    const char *address;   /* to listen on; NULL = 127.0.0.1 */
    unsigned port;         /* of core 0, the others follow; 0 = any free ones */
    const uint16_t *ports; /* one for each core instead; NULL = as `port` says */
    bool all;              /* also a port for all cores */
    unsigned all_port;     /* 0 = any free one */
};

struct gdb_server_report {
    uint64_t clients, put_off; /* connections taken; refused, or closed for what they did */
    uint64_t packets, damaged, junk_bytes;
};

/* Makes the hub and listens on all ports, or fails and listens on none. NULL with *d set. */
struct gdb_server *gdb_server_start(const struct gdb_server_options *options, struct diag *d);
/* The port of core number `core`, or of GDB_ALL_CORES (0 when there is none). */
unsigned gdb_server_port(const struct gdb_server *s, size_t core);
/* The last error of looking at the cores: CORRAL_ERR_LINK_DOWN when the link is gone. Any thread. */
enum corral_err gdb_server_error(struct gdb_server *s, struct diag *d);
void gdb_server_get_report(struct gdb_server *s, struct gdb_server_report *report);
/* Closes all connections, leaves the target as the hub's on_detach says, frees. NULL is allowed. */
enum corral_err gdb_server_stop(struct gdb_server *s, struct diag *d);

#endif
