/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands by which a test lets the board's misfortunes happen (`corral sim --control`): a line each,
 * with an answer. docs/board.md "Control". Pure: who reads the lines from where, and what is done about the
 * probes, is the caller's.
 */
#ifndef CORRAL_SIM_BOARD_CONTROL_H
#define CORRAL_SIM_BOARD_CONTROL_H

#include "sim/board.h"

#define BOARD_CONTROL_ANSWER (64u << 10)

enum board_probes {
    BOARD_PROBES_THERE,
    BOARD_PROBES_GONE,  /* connections are cut, and refused */
    BOARD_PROBES_STUCK, /* connections stay, and nothing comes */
};

struct board_control {
    struct board *board;
    enum board_probes probes;
    bool probes_asked; /* the two around it were set by the last command; the caller takes it back */
    uint64_t after;    /* debug port transfers from now on until it happens */
    char answer[BOARD_CONTROL_ANSWER];
};

/* One command without its line feed. The answer is one line, "ok" or "error: ..."; before those of `log` come
 * its records. Borrowed until the next call. */
const char *board_control_line(struct board_control *c, const char *line);

#endif
