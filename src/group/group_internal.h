/* SPDX-License-Identifier: Apache-2.0 */
/* The group's state and its strategies. Only files of src/group/ include this. */
#ifndef CORRAL_GROUP_GROUP_INTERNAL_H
#define CORRAL_GROUP_GROUP_INTERNAL_H

#include "group/group.h"

struct group_strategy;

struct group {
    struct core *cores[EVENT_MAX_CORES];
    size_t count;
    struct event_bus *bus;
    char stream[32];
    const struct group_strategy *strategy;
    unsigned halt_channel, restart_channel;
    bool disarmed; /* the halted inputs are off, since a level source held the channel */
};

/* What happened to one core in one group halt or run. */
struct group_outcome {
    bool by_software; /* a request of its own was needed */
    bool prepared;    /* run: was halted and is ready to leave debug state */
    bool restarted;   /* run: proven */
    enum corral_err err;
    struct diag why;
};

struct group_strategy {
    enum group_mechanism mechanism;
    /* Get every core to halt; bounded. Fills members[].by_software, err and why. */
    void (*halt)(struct group *g, size_t leader, struct group_outcome *members);
    /* All cores have halted and their reasons have been read. */
    enum corral_err (*after_halt)(struct group *g, struct diag *d);
    /* Before a core is made ready to run. */
    enum corral_err (*before_prepare)(struct group *g, size_t core, struct diag *d);
    /* Start every core that is prepared and prove it. Fills members[].restarted, by_software, err and why. */
    enum corral_err (*run)(struct group *g, size_t leader, struct group_outcome *members, struct diag *d);
};

extern const struct group_strategy group_strategy_cti, group_strategy_software;

/* Core number `i` of a walk that begins with the leader. */
size_t group_order(size_t leader, size_t i);
/* Request and wait; for a core that the group's own means did not reach. */
void group_halt_one(struct group *g, size_t core, struct group_outcome *member);
/* Prove that a core left debug state; notes the failure in `member`. */
void group_confirm(struct group *g, size_t core, struct group_outcome *member);
/* The core's own debug register, then the proof. */
void group_resume_one(struct group *g, size_t core, struct group_outcome *member);

#endif
