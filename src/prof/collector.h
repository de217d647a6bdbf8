/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives profiler datagrams over UDP on a thread of its own: recvmmsg, SO_RXQ_OVFL reported as loss, the
 * receive buffer's real size checked. Binds to loopback unless told otherwise.
 */
#ifndef CORRAL_PROF_COLLECTOR_H
#define CORRAL_PROF_COLLECTOR_H

#include "base/host_clock.h"
#include "prof/stream.h"

#define PROF_PORT 51080

struct prof_collector;

struct prof_collector_options {
    const char *address; /* "127.0.0.1" when NULL */
    uint16_t port;       /* 0 = any free one (prof_collector_port tells) */
    struct host_clock *clock;
    struct prof_streams *streams; /* fed on the collector's thread while it runs */
    bool gro; /* let the kernel hand over several datagrams of one sender at once (UDP_GRO) */
    /* Each datagram as it came, before it is decoded (capture). Collector's thread. May be NULL. */
    void (*raw)(void *ctx, const char *source_address, uint16_t source_port, const uint8_t *data, size_t size,
                int64_t host_ns);
    void *ctx;
};

/* CORRAL_ERR_PROF_PORT in *d when the port cannot be had. NULL on failure. */
struct prof_collector *prof_collector_start(const struct prof_collector_options *options, struct diag *d);
uint16_t prof_collector_port(const struct prof_collector *c);
/* Bytes of receive buffer the kernel really gave (its own book-keeping included). Below PROF_BUFFER_ENOUGH a
 * burst may be lost while the host is busy; say so to the user. */
#define PROF_BUFFER_ENOUGH (512u * 1024u)
size_t prof_collector_receive_buffer(const struct prof_collector *c);

/* Does the kernel coalesce? False without the option, and where the kernel has no UDP_GRO. */
bool prof_collector_gro(const struct prof_collector *c);

/* Datagrams taken from the socket and fully handled so far; prof_collector_wait waits (bounded, real time)
 * until at least `count` are. False on time-out. */
uint64_t prof_collector_taken(struct prof_collector *c);
bool prof_collector_wait(struct prof_collector *c, uint64_t count, int64_t wait_ns);

/* Take what has come so far and end the thread: nothing more goes to the streams or to `raw`, and the counts
 * are final. Once. NULL is allowed. */
void prof_collector_finish(struct prof_collector *c);
/* Finish, where that was not done, and free. NULL is allowed. */
void prof_collector_stop(struct prof_collector *c);

#endif
