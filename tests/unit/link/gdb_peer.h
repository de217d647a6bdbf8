/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gdb stub of the tests' own, in a thread: answers packets by a table, as QEMU's dual Cortex-M33 does where
 * the table says nothing, and remembers what it was asked.
 */
#ifndef CORRAL_TESTS_GDB_PEER_H
#define CORRAL_TESTS_GDB_PEER_H

#include <stdbool.h>
#include <stddef.h>

/* A packet that begins with `packet` is answered with `reply`: the data of a packet, or with `raw` the very
 * bytes. The packet "^connect" stands for somebody's coming. NULL: with nothing. `close`: and the connection
 * ends. The first match counts. */
struct gdb_peer_rule {
    const char *packet;
    const char *reply;
    bool raw, close;
};

struct gdb_peer;
/* `rules` end with a packet of NULL and must outlive the peer. */
struct gdb_peer *gdb_peer_start(const struct gdb_peer_rule *rules);
const char *gdb_peer_spec(const struct gdb_peer *p); /* "gdb:127.0.0.1:PORT" */
/* Ends it; what it was asked, a line a packet, "^C" for the byte 0x03. Free it. */
char *gdb_peer_stop(struct gdb_peer *p);

#endif
