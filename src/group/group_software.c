/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core by core, beginning with the leader, each through its own debug register: works everywhere, but the
 * cores stop and start as far apart as the wire needs for an access. Writes no CTI register.
 */
#include "group/group_internal.h"

static void software_halt(struct group *g, size_t leader, struct group_outcome *members)
{
    /* All requests first, then the waiting: the cores stop as close together as this way allows. */
    for (size_t i = 0; i < g->count; i++) {
        size_t core = group_order(leader, i);
        members[core].by_software = true;
        members[core].err = core_request_halt(g->cores[core], &members[core].why);
    }
    for (size_t i = 0; i < g->count; i++) {
        size_t core = group_order(leader, i);
        if (!members[core].err)
            members[core].err = core_wait_halted(g->cores[core], CORE_WAIT_NS, &members[core].why);
    }
}

static enum corral_err software_run(struct group *g, size_t leader, struct group_outcome *members,
                                    struct diag *d)
{
    (void)d;
    for (size_t i = 0; i < g->count; i++) {
        size_t core = group_order(leader, i);
        if (!members[core].prepared)
            continue;
        members[core].by_software = true;
        members[core].err = core_resume(g->cores[core], &members[core].why);
    }
    for (size_t i = 0; i < g->count; i++) {
        size_t core = group_order(leader, i);
        if (members[core].prepared && !members[core].err)
            group_confirm(g, core, &members[core]);
    }
    return CORRAL_OK;
}

const struct group_strategy group_strategy_software = {
    .mechanism = GROUP_MECHANISM_SOFTWARE,
    .halt = software_halt,
    .run = software_run,
};
