/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gdb stub (QEMU's, a probe vendor's) as the link: "gdb:HOST:PORT". Memory goes through its m and M
 * packets, where link_access.ap is the number of the core whose view is meant. It has no debug port, no
 * access ports and no cross triggers: cores are told to halt and run by the stub's own commands, below
 * (core/gdb_stub.c).
 *
 * A stub stops everything as soon as somebody connects, and answers nothing while its target runs. So memory
 * is refused then. Where the user neither halted nor started it, closing the link lets it go again, as gdb
 * does; a QEMU that was never started stays so.
 */
#ifndef CORRAL_LINK_LINK_GDB_H
#define CORRAL_LINK_LINK_GDB_H

#include "link/link.h"
#include "link/rsp_reply.h"

#define LINK_GDB_CORES 16

/* `clock` must tell real time and outlive the link. NULL with *d set. */
struct link *link_gdb_open(const char *spec, const struct link_options *options, struct host_clock *clock,
                           struct diag *d);

/* Everything below works on such a link only; owner thread. */

size_t link_gdb_core_count(struct link *link); /* 0: another kind of link */
/* "p1.1", for people. Borrowed. */
const char *link_gdb_core_id(struct link *link, size_t core);
/* The registers the stub has of a core (below the count); numbers are its own. Borrowed. */
const struct rsp_registers *link_gdb_registers(struct link *link, size_t core);

/* What is known of the target without asking it anything: nothing can be asked while it runs. */
struct link_gdb_state {
    bool running;
    bool ended;   /* there is no program any more */
    bool stepped; /* the stop was the end of a step */
    bool asked;   /* it was asked to stop, by us or by connecting */
    size_t core;  /* who the stop is about */
    struct rsp_stop stop;
};
/* Takes a stop reply that has come, waiting for it at most `ms`. */
enum corral_err link_gdb_poll(struct link *link, int ms, struct link_gdb_state *state, struct diag *d);

enum corral_err link_gdb_halt(struct link *link, struct diag *d); /* asks; link_gdb_poll sees it happen */
enum corral_err link_gdb_run(struct link *link, struct diag *d);  /* all cores; nothing when they run */
/* One instruction of one core; the others stand still. Bounded. */
enum corral_err link_gdb_step(struct link *link, size_t core, struct diag *d);
/* Of a halted target. `bits` is at most 64. */
enum corral_err link_gdb_read_register(struct link *link, size_t core, const struct rsp_register *reg,
                                       uint64_t *value, struct diag *d);
enum corral_err link_gdb_write_register(struct link *link, size_t core, const struct rsp_register *reg,
                                        uint64_t value, struct diag *d);
/* Z and z packets: type 0 software breakpoint, 1 hardware, 2 write watch, 3 read, 4 access. */
enum corral_err link_gdb_set_point(struct link *link, size_t core, bool set, unsigned type, uint32_t address,
                                   uint32_t size, struct diag *d);
/* Would the core stop at a breakpoint when it executes what lies there? *type: of the Z packet. */
bool link_gdb_stops_at(struct link *link, size_t core, uint32_t address, unsigned *type);
/* Take a breakpoint away for a step, or put it back; it stays set for link_gdb_set_point. */
enum corral_err link_gdb_lift_point(struct link *link, size_t core, bool lift, unsigned type,
                                    uint32_t address, uint32_t size, struct diag *d);
/* Where the stub has a monitor that can do it (QEMU). The target is halted at its reset vectors then. */
enum corral_err link_gdb_reset(struct link *link, struct diag *d);
/* What closing the link does: leave the target as it is now, or let it go where nobody has said otherwise. */
void link_gdb_keep(struct link *link, bool keep);

#endif
