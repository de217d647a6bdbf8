/* SPDX-License-Identifier: Apache-2.0 */
/* corral serve --print-launch: what an IDE needs to start this server and a debugger for each core. */
#ifndef CORRAL_CLI_PRINT_LAUNCH_H
#define CORRAL_CLI_PRINT_LAUNCH_H

#include "cli/pack_options.h"

struct launch_request {
    const struct pack_options *pack;
    const char *folder;  /* NULL = on standard output */
    const char *address; /* --listen; NULL = not given */
    bool port_set;       /* --gdb-port */
    unsigned port;
    const char *const *cores; /* --core */
    size_t core_count;
    char **argv; /* the words behind "serve", for whoever is to start it */
    int argc;
};

/*
 * launch.json and tasks.json on standard output, or into a folder: both or none, and nothing that is there is
 * overwritten. Opens no link and no port. Returns the exit code.
 */
int print_launch(const struct cli *cli, const struct launch_request *r);

#endif
