/* SPDX-License-Identifier: Apache-2.0 */
/* The part of corral sim that is the virtual board for other programs: behind probes, as shared memory. */
#ifndef CORRAL_CLI_SIM_BOARD_H
#define CORRAL_CLI_SIM_BOARD_H

#include "cli/cli.h"
#include "sim/board_options.h"
#include "sim/front_server.h"

struct sim_board {
    unsigned count; /* of fronts */
    const struct front_kind *kind[FRONT_SERVER_FRONTS];
    uint16_t port[FRONT_SERVER_FRONTS];
    enum front_pace pace;
    const char *shm;     /* the file that is the SRAM, or NULL */
    const char *control; /* the socket for commands, or NULL */
    struct board_options board;
};

/* Serves until SIGINT or SIGTERM. Returns the exit code. */
int sim_board_serve(const struct cli *cli, struct sim_board *o);

#endif
