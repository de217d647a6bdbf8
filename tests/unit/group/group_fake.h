/* SPDX-License-Identifier: Apache-2.0 */
/* A group of modelled cores (tests/unit/link/fake_target.h), for the tests of this folder. */
#ifndef CORRAL_TESTS_GROUP_FAKE_H
#define CORRAL_TESTS_GROUP_FAKE_H

#include "group/group.h"
#include "tests/unit/link/fake_target.h"

#define GROUP_FAKE_NO_CTI (-2)

struct group_fake {
    struct fake_target *t;
    struct link *link;
    struct core *cores[FAKE_CORES];
    size_t count;
    struct group *group;
};

/* The model alone: change it, then group_fake_start. */
struct group_fake group_fake_new(size_t count);
/* `restart`: each core's restart output, or -1, or GROUP_FAKE_NO_CTI; NULL = 7 each. */
void group_fake_start(struct group_fake *b, const int *restart);
/* Both, with sync on. */
struct group_fake group_fake_synced(size_t count);
void group_fake_close(struct group_fake *b);
bool group_fake_said(const struct group_fake *b, const char *words);
/* Writes to a register of any core from log entry `from` on. */
size_t group_fake_writes(const struct group_fake *b, size_t from, uint32_t address);
/* These fail the test with the sentence of the error. */
void group_fake_halt(struct group_fake *b, size_t leader, struct event *e);
void group_fake_run(struct group_fake *b, size_t leader, struct event *e);
void group_fake_assert_all(const struct event *e, enum core_state state);
void group_fake_assert_unlatched(const struct group_fake *b);

#endif
