/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the board's fronts share: a client who speaks to a front as the server does, and hostile
 * ones. */
#ifndef CORRAL_TESTS_FRONT_FIXTURE_H
#define CORRAL_TESTS_FRONT_FIXTURE_H

#include "board_fixture.h"

#include "sim/front.h"

/* A client's buffers, as the server keeps them. */
struct talk {
    struct board *board;
    struct front *front;
    uint8_t in[FRONT_IN_MAX], out[FRONT_OUT_MAX];
    size_t in_size, out_size;
    bool closed;
};

struct talk *talk_begin(const struct front_kind *kind); /* two cores counting */
struct talk *talk_begin_with(const struct front_kind *kind, const struct board_config *config);
void talk_end(struct talk *t);
/* Says `size` bytes; `out` then holds what was answered since the last call. Returns its size. Everything
 * must be taken, or `closed` set. */
size_t talk_say(struct talk *t, const void *data, size_t size);
/* The same in pieces of `step` bytes. */
size_t talk_say_cut(struct talk *t, const void *data, size_t size, size_t step);
/* 1 MB of nonsense, several kinds, each for a new client: the front stays in its buffers, and afterwards
 * another client is served. `first`: bytes with which each message begins (so that the rest gets deep). */
void talk_nonsense(struct talk *t, const uint8_t *first, size_t first_size);

#endif
