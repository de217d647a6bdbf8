/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of cores as one object: halt, run, who was first, skew. A group never touches a wire; it asks cores
 * and their CTIs. How it halts and runs is a strategy: cross triggers (cti) or core by core (software).
 *
 * Algorithms: the cross-trigger sheet 1.7 (set-up, halt, acknowledge, restart), 3.4 (who was first), 3.5
 * (restart proof). Owner thread of the link only.
 */
#ifndef CORRAL_GROUP_GROUP_H
#define CORRAL_GROUP_GROUP_H

#include "core/core.h"
#include "event/sink.h"

struct group;

/* How two cores' counts over a measured round compare: see group_measure_round. */
struct group_skew {
    int64_t
        skew_ns; /* half of start plus stop skew; EVENT_NO_TIME when it could not be measured: see below */
    int64_t error_ns; /* resolution of the count, as if the clocks were exact; EVENT_NO_TIME likewise */
    uint32_t cycles[EVENT_MAX_CORES]; /* each core's DWT_CYCCNT difference over the round */
};

/* The cores stay the caller's and must outlive the group; at most EVENT_MAX_CORES. Events go to `bus` (may be
 * NULL) on `stream`. NULL when memory is out or there are too many. */
struct group *group_new(struct core *const *cores, size_t count, struct event_bus *bus, const char *stream);
void group_free(struct group *g); /* does not touch the target; NULL is allowed */

/* Use cross triggers from now on: sets every core's CTI up in the safe order with read-back. On failure
 * (CORRAL_ERR_NO_CROSS_TRIGGER, with the reason) what was written is rolled back and the group stays with
 * the software strategy. Without this call not one CTI register is written. */
enum corral_err group_enable_sync(struct group *g, struct diag *d);
/* Acknowledge, put every CTI back as it was found. */
enum corral_err group_disable_sync(struct group *g, struct diag *d);
enum group_mechanism group_mechanism(const struct group *g);

/* Halt all. `leader` is the index of the core that gets the request first. Fills *event when not NULL
 * (borrowed names; valid while the group lives) and publishes it. Bounded: CORRAL_ERR_CORE_NO_HALT names the
 * core; the others are halted all the same. */
enum corral_err group_halt(struct group *g, size_t leader, struct event *event, struct diag *d);
/* Restart all; each core's restart is proven. Likewise. */
enum corral_err group_run(struct group *g, size_t leader, struct event *event, struct diag *d);
/* Read every core's state without changing anything (mechanism none). */
enum corral_err group_status(struct group *g, struct event *event, struct diag *d);

/*
 * One measured round: run (led by core `starter`), let `run_ns` pass, halt (led by core `stopper`, another
 * core), and compare DWT_CYCCNT, which stands still in debug state: over the round the counts differ by start
 * plus stop skew, so half of that is reported. All cores must be halted before, and are halted after. The
 * skew is put into the halt event. It is not known (and the call succeeds) when a core's frequency is not
 * known, when a core stopped by itself in between, or when cores have unlike clocks and the round was so long
 * that a count wrapped (43 s at 100 MHz).
 */
enum corral_err group_measure_round(struct group *g, size_t starter, size_t stopper, int64_t run_ns,
                                    struct group_skew *skew, struct diag *d);

#endif
