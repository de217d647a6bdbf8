/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Visual Studio Code needs for a target that `corral serve` serves: launch.json (0.2.0), a gdbtarget
 * configuration for each core and a compound of all, and tasks.json (2.0.0). Cross-trigger sheet 7; the keys
 * are those of the CDT GDB debug adapter. Makes texts only: it reads and writes no file and knows no target.
 *
 * The start core's configuration launches the server, the others attach to it: gdb waits for a port that is
 * not there yet. The tasks are one that starts the server by itself, and one for each core's image that loads
 * it ("corral load NAME"), with "corral load" for all of them.
 */
#ifndef CORRAL_SESSION_LAUNCH_H
#define CORRAL_SESSION_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct launch_core {
    const char *name; /* as serve calls it; unique */
    uint16_t port;
    const char *elf;       /* NULL = none */
    const char *load_name; /* what `corral load --core` calls it; NULL = its name */
};

struct launch_options {
    const char *name;          /* of the target, for the compound; NULL = "all cores" */
    const char *const *server; /* the words of the server's command line: "corral", "--link", ... */
    size_t server_count;       /* at least 1 */
    const char *const *load;   /* of the loader's, up to and with "load"; --core NAME and the ELF follow */
    size_t load_count;         /* 0 = no task loads anything */
    const struct launch_core *cores;
    size_t core_count;
    size_t start;           /* the core that the server comes with */
    const char *host;       /* where gdb finds the server; NULL = "localhost" */
    const char *gdb;        /* NULL = "gdb-multiarch" */
    const char *cwd;        /* of gdb, server and loader; NULL = "${workspaceFolder}" */
    const char *cbuild_run; /* the project's file, for the editor's own views; NULL = none */
};

#define LAUNCH_MAX_CORES 64

/*
 * Both as texts that end with a line feed, the same ones for the same options; to be freed. CORRAL_ERR_FORMAT
 * for a core's name or ELF with "${" in it, which the editor would take as a command, or that is not UTF-8;
 * CORRAL_ERR_USAGE for two cores of one name, none, or too many; CORRAL_ERR_NO_MEMORY.
 */
enum corral_err launch_make(const struct launch_options *options, char **launch, char **tasks,
                            struct diag *d);

#endif
