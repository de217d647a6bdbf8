/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where gdb clients meet the cores: who waits for a stop, what a resume of one client means to the others,
 * whose breakpoint it is. Cross-trigger sheet 10.2 to 10.4, cases D1 to D30.
 *
 * A client is bound to one core, or to all of them (cores as threads). Cores that stop and start together
 * are a domain: all of them with sync, or where all are one inferior's threads; else each by itself. What
 * halting and running mean is the group's business. Knows no sockets; the link's owner thread only.
 */
#ifndef CORRAL_GDB_GDB_HUB_H
#define CORRAL_GDB_GDB_HUB_H

#include "event/sink.h"
#include "group/group.h"

struct gdb_hub;
struct gdb_client;

/* What happens to the cores when the last client of their domain is gone. */
enum gdb_on_detach {
    GDB_DETACH_AS_FOUND, /* as they were when the first came */
    GDB_DETACH_RESUME,   /* they run */
    GDB_DETACH_KEEP,     /* as they are */
};

/* A stretch of memory as gdb is to know it. Everything that is not listed is RAM. */
struct gdb_region {
    uint64_t start, size; /* bytes */
    uint32_t block;       /* of flash: bytes that are erased at once; 0 = not writable by gdb */
    size_t core;          /* of this core only; GDB_ALL_CORES = seen by all */
};

/* Writing flash, where the link can (OpenOCD's commands). Each may be NULL: refused. */
struct gdb_flash {
    enum corral_err (*erase)(void *ctx, size_t core, uint64_t address, uint64_t size, struct diag *d);
    enum corral_err (*write)(void *ctx, size_t core, uint64_t address, const uint8_t *data, size_t size,
                             struct diag *d);
    enum corral_err (*done)(void *ctx, size_t core, struct diag *d);
    void *ctx;
};

#define GDB_ALL_CORES SIZE_MAX

/* All borrowed; must outlive the hub. */
struct gdb_hub_options {
    struct core *const *cores; /* at most EVENT_MAX_CORES */
    size_t count;
    struct event_bus *bus;                   /* halts, runs and what is said to nobody else; may be NULL */
    const char *stream;                      /* of those events */
    bool sync;                               /* halt and run through cross triggers */
    const struct group_sequences *sequences; /* with sync; NULL = none */
    const struct group_reset_by *reset_by;   /* NULL = the cores' own way */
    bool one_inferior;                 /* there is a port for all cores: they are one domain in any case */
    int halt_channel, restart_channel; /* GROUP_ANY_CHANNEL = choose */
    enum gdb_on_detach on_detach;
    const struct gdb_region *regions;
    size_t region_count;
    struct gdb_flash flash;
    /* A `monitor` command that the hub does not know; *known says whether there is one. `print` may be called
     * with text for the user. NULL = none. */
    enum corral_err (*command)(void *ctx, size_t core, const char *words,
                               void (*print)(void *to, const char *text), void *to, bool *known,
                               struct diag *d);
    void *command_ctx;
};

/* NULL with *d set. Touches the target only to look what a dead tool left (group_repair). */
struct gdb_hub *gdb_hub_new(const struct gdb_hub_options *options, struct diag *d);
/* Clients that are left leave; the target is detached from, as `on_detach` says. NULL is allowed. */
enum corral_err gdb_hub_free(struct gdb_hub *hub, struct diag *d);

/* What goes with a reply. */
enum gdb_send {
    GDB_SEND_REPLY = 0,
    GDB_SEND_NO_ACK = 1, /* acknowledges end after this one (QStartNoAckMode) */
    GDB_SEND_CLOSE = 2,  /* the last one: close the connection once it is out */
};
/* A packet's payload to go out, in order. Must not block, must not call back. */
typedef void (*gdb_send_fn)(void *ctx, const char *payload, size_t size, enum gdb_send how);

/* A client of core number `core`, or of GDB_ALL_CORES. The first one of a domain attaches to it. NULL with *d
 * set. */
struct gdb_client *gdb_hub_connect(struct gdb_hub *hub, size_t core, gdb_send_fn send, void *ctx,
                                   struct diag *d);
/* A packet of the client (frame.h): `payload` is changed and has a NUL at [size]. Bounded in time. */
void gdb_client_packet(struct gdb_client *client, char *payload, size_t size);
/* Ctrl-C. */
void gdb_client_interrupt(struct gdb_client *client);
/* The connection is gone. Frees the client. */
void gdb_client_leave(struct gdb_client *client);

/* To be called every few milliseconds: looks whether a running core has stopped, goes on with range steps.
 * Fails where the link does. */
enum corral_err gdb_hub_poll(struct gdb_hub *hub, struct diag *d);
/* The link is gone: everybody who waits is told why, and every connection ends. */
void gdb_hub_lost(struct gdb_hub *hub, const char *why);

#endif
