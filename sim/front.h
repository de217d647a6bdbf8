/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A front of the board: a debug probe's protocol on one side, the board's debug port on the other. A front is
 * pure: bytes in, bytes out, no sockets, no waiting. What comes in is hostile. docs/board.md "For other
 * tools".
 *
 * A front keeps no half messages: what it does not take stays with the caller, who offers it again with more
 * behind it. So every message must fit FRONT_IN_MAX and every answer FRONT_OUT_MAX.
 */
#ifndef CORRAL_SIM_FRONT_H
#define CORRAL_SIM_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/board.h"

#define FRONT_IN_MAX  (72u << 10)
#define FRONT_OUT_MAX (72u << 10)

struct front_io {
    const uint8_t *in;
    size_t size, used; /* of `in`: offered, taken */
    uint8_t *out;
    size_t room, filled; /* of `out`: the front writes behind `filled` */
    bool close;          /* the client said good-bye, or what no front can make sense of */
};

/* The first member of every front. */
struct front {
    const struct front_kind *kind;
    struct board *board;
    uint64_t transfers; /* on the debug port */
    bool pulls_reset;   /* holds nRESET low: let go of when its client goes */
};

struct front_kind {
    const char *name;                       /* as in the program's options */
    struct front *(*make)(struct board *b); /* NULL when memory is out */
    void (*release)(struct front *f);       /* NULL is allowed */
    void (*begin)(struct front *f);         /* a new client, who knows of nothing before */
    void (*work)(struct front *f, struct front_io *io);
};

extern const struct front_kind front_jtag, front_stlink, front_cmsis_dap;

#endif
