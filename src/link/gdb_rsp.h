/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to a gdb stub: packets there, answers back, each wait bounded in real time. Knows frames and
 * acknowledgements, not what packets mean. For gdb.c only. What failed once stays dead, so that a late answer
 * is never taken for the next one's.
 */
#ifndef CORRAL_LINK_GDB_RSP_H
#define CORRAL_LINK_GDB_RSP_H

#include "link/gdb_frame.h"
#include "link/link_tcp.h"

struct gdb_rsp;

/* "HOST:PORT"; NULL with *d set. */
struct gdb_rsp *gdb_rsp_open(const char *words, struct diag *d);
void gdb_rsp_close(struct gdb_rsp *r);             /* NULL is allowed */
const char *gdb_rsp_name(const struct gdb_rsp *r); /* escaped */

/* From now on nothing is acknowledged (after QStartNoAckMode was answered with OK). */
void gdb_rsp_no_ack(struct gdb_rsp *r);
/* No packet longer than this is sent. */
void gdb_rsp_limit(struct gdb_rsp *r, size_t size);
size_t gdb_rsp_room(const struct gdb_rsp *r); /* bytes of data in a packet */

/* How long an answer is waited for; 0 = as long as it is by itself. */
void gdb_rsp_patience(struct gdb_rsp *r, int ms);
/* Console output of the target or the stub, in hex as it came (hostile); NULL: it is dropped. */
void gdb_rsp_listen(struct gdb_rsp *r, void (*output)(void *ctx, const char *hex), void *ctx);

/* Send a packet and wait for no answer (vCont). */
enum corral_err gdb_rsp_send(struct gdb_rsp *r, const void *data, size_t size, struct diag *d);
/*
 * Send one and wait for its answer: NUL-terminated, borrowed until the next call, hostile. An answer may be
 * empty: the stub does not know the packet.
 */
enum corral_err gdb_rsp_ask(struct gdb_rsp *r, const void *data, size_t size, const char **answer,
                            struct diag *d);
/* A packet that comes by itself, within `ms`; *packet is NULL when none came. Likewise. */
enum corral_err gdb_rsp_wait(struct gdb_rsp *r, int ms, const char **packet, struct diag *d);
/* The byte 0x03: please stop. Its answer comes as a packet by itself. */
enum corral_err gdb_rsp_interrupt(struct gdb_rsp *r, struct diag *d);

#endif
