/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sinks and the bus. A source publishes to the bus from any thread and is never blocked; each sink has a
 * bounded queue of clones. When a queue is full the event is dropped and counted, and the next event that
 * fits is preceded by a gap (reason "sink") on the sink's own stream, so the loss is drawn like any other.
 */
#ifndef CORRAL_EVENT_SINK_H
#define CORRAL_EVENT_SINK_H

#include "base/diag.h"
#include "event/event.h"

#define SINK_QUEUE_DEFAULT 65536 /* events */

struct sink;
struct event_bus;

struct sink_ops {
    const char *name;
    /* Draw one event. Runs on the thread that calls sink_drain. An error is kept and returned by
     * sink_drain; later events are still offered. */
    enum corral_err (*write)(void *ctx, const struct event *event, struct diag *d);
    /* Push buffered output out; may be NULL. */
    enum corral_err (*flush)(void *ctx, struct diag *d);
    /* Finish properly and free ctx; may be NULL. */
    enum corral_err (*close)(void *ctx, struct diag *d);
};

/* `ops` must outlive the sink; `ctx` becomes the sink's (ops->close frees it). A queue_limit of 0 is
 * SINK_QUEUE_DEFAULT. NULL when memory is out. */
struct sink *sink_new(const struct sink_ops *ops, void *ctx, size_t queue_limit);

/* Never blocks. False when the event was dropped (and counted). Any thread. */
bool sink_submit(struct sink *s, const struct event *event);

/* Write up to `most` queued events out. Returns the first error met, after trying them all. */
enum corral_err sink_drain(struct sink *s, size_t most, struct diag *d);

size_t sink_pending(struct sink *s);
uint64_t sink_dropped(struct sink *s); /* since it was made */

/* Drain, close, free. Returns the first error. NULL is allowed. */
enum corral_err sink_free(struct sink *s, struct diag *d);

/* The bus owns the sinks that are attached to it. */
struct event_bus *event_bus_new(void);
/* On an error (32 sinks at most; a NULL sink is out of memory) the sink stays the caller's. */
enum corral_err event_bus_attach(struct event_bus *bus, struct sink *sink, struct diag *d);

/* `wake(ctx)` is called (on the publishing thread) after each publish; it must not block. May be NULL. */
void event_bus_on_publish(struct event_bus *bus, void (*wake)(void *ctx), void *ctx);

void event_bus_publish(struct event_bus *bus, const struct event *event);
enum corral_err event_bus_drain(struct event_bus *bus, struct diag *d); /* all sinks, everything queued */
enum corral_err event_bus_flush(struct event_bus *bus, struct diag *d);
uint64_t event_bus_dropped(struct event_bus *bus); /* over all sinks */

/* Frees every sink as sink_free does; returns the first error. NULL is allowed. */
enum corral_err event_bus_free(struct event_bus *bus, struct diag *d);

#endif
