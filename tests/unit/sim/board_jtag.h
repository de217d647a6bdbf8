/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JTAG-DP in front of the board's debug port, as far as OpenOCD needs it: cross-trigger sheet 2.2 (last
 * paragraph). For the test with OpenOCD 0.12, whose remote_bitbang driver has no SWD.
 */
#ifndef CORRAL_TESTS_BOARD_JTAG_H
#define CORRAL_TESTS_BOARD_JTAG_H

#include <stdint.h>

#include "sim/board.h"

#define BOARD_JTAG_IDCODE 0x4BA00477u

struct board_jtag {
    struct board *board;
    unsigned state; /* of the TAP controller */
    unsigned ir;
    uint64_t shift;
    unsigned length; /* of the data register in `shift` */
    uint32_t result; /* of the last access */
    int tck;
};

void board_jtag_init(struct board_jtag *j, struct board *b);
/* One character of the remote_bitbang protocol: '0'..'7' moves the pins, 'R' samples TDO. Returns '0' or '1'
 * for 'R', 'Q' for the end, 0 otherwise. */
char board_jtag_character(struct board_jtag *j, char c);

#endif
