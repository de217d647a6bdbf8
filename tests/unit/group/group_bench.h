/* SPDX-License-Identifier: Apache-2.0 */
/* A group on the virtual board with its switches, for the tests of this folder. */
#ifndef CORRAL_TESTS_GROUP_BENCH_H
#define CORRAL_TESTS_GROUP_BENCH_H

#include "group/group.h"
#include "link/sim.h"

struct group_bench {
    struct host_clock *clock;
    struct link *link;
    struct core *cores[LINK_SIM_CORES];
    uint64_t cti[LINK_SIM_CORES]; /* address, 0 = none */
    uint32_t hz[LINK_SIM_CORES];
    size_t count;
    struct group *group;
};

/* With the board's words ("--identity m7,m33"; NULL = none); fails the test where that cannot be. */
struct group_bench group_bench_open(const char *board, const struct link_sim_options *more);
void group_bench_close(struct group_bench *b);
/* A remark that holds these words. */
bool group_bench_said(const struct group_bench *b, const char *words);
void group_bench_print_remarks(const struct group_bench *b);
/* Writes to any CTI register in the bus log from record `from` on (needs log_accesses). */
size_t group_bench_cti_writes(struct group_bench *b, size_t from);
size_t group_bench_bus_count(struct group_bench *b);
/* A register of a core's CTI, read behind the group's back. */
uint32_t group_bench_cti(struct group_bench *b, size_t core, uint32_t reg);
void group_bench_set_cti(struct group_bench *b, size_t core, uint32_t reg, uint32_t value);
uint32_t group_bench_read(struct group_bench *b, size_t core, uint32_t address);
void group_bench_write(struct group_bench *b, size_t core, uint32_t address, uint32_t value);

/* These fail the test with the sentence of the error. */
void group_bench_halt(struct group_bench *b, size_t leader, struct event *e);
void group_bench_run(struct group_bench *b, size_t leader, struct event *e);
void group_bench_sync(struct group_bench *b);
void group_bench_assert_states(const struct event *e, enum core_state a, enum core_state b);
void group_bench_assert_unlatched(struct group_bench *b);
/* Halt and run work, with every member as the leader. */
void group_bench_assert_works(struct group_bench *b, enum group_mechanism mechanism);

#endif
