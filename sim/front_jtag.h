/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JTAG front: OpenOCD's remote_bitbang, a character for each movement of the pins, with a TAP and a
 * JTAG-DP behind it. Cross-trigger sheet 2.2 (last paragraph). Each rising edge of TCK is a wire clock of the
 * board; the accesses themselves cost none.
 */
#ifndef CORRAL_SIM_FRONT_JTAG_H
#define CORRAL_SIM_FRONT_JTAG_H

#include "sim/front.h"

#define FRONT_JTAG_IDCODE    0x4BA00477u
#define FRONT_JTAG_IR_LENGTH 4u

#endif
