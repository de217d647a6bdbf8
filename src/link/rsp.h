/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to a gdb stub: packets there, answers back, each wait bounded in real time. Knows frames and
 * acknowledgements, not what packets mean. For link_gdb*.c only. What failed once stays dead, so that a late
 * answer is never taken for the next one's.
 */
#ifndef CORRAL_LINK_RSP_H
#define CORRAL_LINK_RSP_H

#include "link/link_tcp.h"
#include "link/rsp_frame.h"

struct rsp;

/* "HOST:PORT"; NULL with *d set. */
struct rsp *rsp_open(const char *words, struct diag *d);
void rsp_close(struct rsp *r);             /* NULL is allowed */
const char *rsp_name(const struct rsp *r); /* escaped */

/* From now on nothing is acknowledged (after QStartNoAckMode was answered with OK). */
void rsp_no_ack(struct rsp *r);
/* No packet longer than this is sent. */
void rsp_limit(struct rsp *r, size_t size);
size_t rsp_room(const struct rsp *r); /* bytes of data in a packet */

/* How long an answer is waited for; 0 = as long as it is by itself. */
void rsp_patience(struct rsp *r, int ms);
/* Console output of the target or the stub, in hex as it came (hostile); NULL: it is dropped. */
void rsp_listen(struct rsp *r, void (*output)(void *ctx, const char *hex), void *ctx);

/* Send a packet and wait for no answer (vCont). */
enum corral_err rsp_send(struct rsp *r, const void *data, size_t size, struct diag *d);
/*
 * Send one and wait for its answer: NUL-terminated, borrowed until the next call, hostile. An answer may be
 * empty: the stub does not know the packet.
 */
enum corral_err rsp_ask(struct rsp *r, const void *data, size_t size, const char **answer, struct diag *d);
/* A packet that comes by itself, within `ms`; *packet is NULL when none came. Likewise. */
enum corral_err rsp_wait(struct rsp *r, int ms, const char **packet, struct diag *d);
/* The byte 0x03: please stop. Its answer comes as a packet by itself. */
enum corral_err rsp_interrupt(struct rsp *r, struct diag *d);

#endif
