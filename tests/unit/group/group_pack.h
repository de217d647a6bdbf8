/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pack's debug sequences for the tests of this folder: the seed's three for a Cortex-M7 (DebugCoreSetup,
 * ProcessorStart, ProcessorHaltAcknowledge) and its ProcessorStop, as functions that make exactly their
 * accesses; counted, and with what a pack may get wrong.
 */
#ifndef CORRAL_TESTS_GROUP_PACK_H
#define CORRAL_TESTS_GROUP_PACK_H

#include "group/group.h"

#define GROUP_PACK_CORES 4
#define GROUP_PACK_EVER  1000000u

struct group_pack_core {
    uint32_t ap;
    unsigned halt, restart; /* channels: 0 and 1 in the seed */
    bool without;           /* has no sequences */
    bool without_run;       /* has none of the three of run control */
    unsigned bad_set_ups;   /* that many leave the debug request unconnected */
    bool no_restart;        /* its set-up leaves the restart output unconnected */
    enum corral_err set_up_error, start_error, stop_error, acknowledge_error; /* after the accesses */
    unsigned set_ups, starts, stops, acknowledges;
};

struct group_pack {
    struct group_sequences sequences;
    struct link *link;
    uint32_t cti; /* base of each core's */
    struct group_pack_core core[GROUP_PACK_CORES];
    bool start_does_nothing, start_moves_one; /* the latter: by DHCSR, as without cross triggers */
    bool start_reads_dhcsr;                   /* and so takes the proof of a restart away */
    bool stop_does_nothing, acknowledge_does_nothing;
    size_t count;
    unsigned restart_output; /* 7 in the seed */
};

/* Each with all four, on channels 0 and 1. Stays where it is: what the group gets points into it. */
void group_pack_init(struct group_pack *p, struct link *link, struct core *const *cores, size_t count,
                     uint32_t cti);
void group_pack_use(struct group_pack *p, struct group *g);
unsigned group_pack_starts(const struct group_pack *p); /* of all cores */
void group_pack_forget(struct group_pack *p);           /* the counts */

#endif
