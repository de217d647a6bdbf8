/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual board with a gdb hub on it and clients that keep what they are sent: everything in this thread,
 * and time passes only where a test lets it.
 */
#ifndef CORRAL_TESTS_GDB_RIG_H
#define CORRAL_TESTS_GDB_RIG_H

#include "gdb/gdb_hub.h"
#include "link/sim.h"
#include "symbol/symbol.h"

#define RIG_REPLIES 64
#define RIG_REPLY   4096

struct rig_client {
    struct gdb_client *client;
    size_t count;                       /* replies not taken yet */
    char reply[RIG_REPLIES][RIG_REPLY]; /* payloads, ended by a NUL */
    enum gdb_send how;                  /* of the last */
};

struct rig {
    struct host_clock *clock;
    struct link *link;
    struct core *cores[LINK_SIM_CORES];
    struct symbol_index *symbols[LINK_SIM_CORES];
    struct gdb_hub *hub;
    struct rig_client a, b, aux; /* on core 0, on core 1, and a second one */
};

struct rig_options {
    const char *board; /* switches of the board; may be NULL */
    bool sync, all;
    enum gdb_on_detach on_detach;
};

/* A board that has run for some milliseconds, a hub, no client. */
void rig_open(struct rig *r, const struct rig_options *o);
void rig_close(struct rig *r);

/* On core `core`, or GDB_ALL_CORES; with the first words of gdb: qSupported and ?. */
void rig_connect(struct rig *r, struct rig_client *c, size_t core);
void rig_leave(struct rig_client *c);
/* Give a packet; what is answered is taken by rig_reply. */
void rig_send(struct rig_client *c, const char *packet);
/* The oldest reply that is no console text, or "" when there is none. */
const char *rig_reply(struct rig_client *c);
/* Send, and the reply. */
const char *rig_ask(struct rig_client *c, const char *packet);
/* All console texts so far, decoded, one after the other; they are taken. */
const char *rig_texts(struct rig_client *c);
/* Let `ms` milliseconds of the board pass, the hub polling. */
void rig_wait(struct rig *r, unsigned ms);

/* Formatted; kept until the next one. */
const char *rig_packet(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* One reply that begins so, and no second; no reply; a resume that is answered so, at once: it has not heard
 * of the last stop yet, and starts nothing. */
void rig_expect_stop(struct rig_client *c, const char *begin);
void rig_expect_silence(struct rig_client *c);
void rig_catch_up(struct rig_client *c, const char *begin);

uint32_t rig_symbol(struct rig *r, size_t core, const char *name);
uint32_t rig_read32(struct rig *r, size_t core, uint32_t address);
/* Writes to the CTIs that came through the access ports so far. */
size_t rig_cti_writes(struct rig *r);
/* Is the debug request of a core's CTI asserted? */
bool rig_latched(struct rig *r, size_t core);

#endif
