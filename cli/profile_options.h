/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `corral profile`, between the file that reads it and the one that does what it says. */
#ifndef CORRAL_CLI_PROFILE_OPTIONS_H
#define CORRAL_CLI_PROFILE_OPTIONS_H

#include "cli/cli.h"

#define PROFILE_FILES_MOST   1000
#define PROFILE_ELFS_MOST    100
#define PROFILE_EXPORTS_MOST 16

struct profile_export {
    const char *format, *path;
};

struct profile_options {
    bool listen_given, pcsr, fail_on_loss, legacy_headers;
    const char *listen; /* address, or NULL */
    int listen_port;    /* -1 = the default */
    uint16_t port;      /* of captures */
    const char *connect;
    const char *pcaps[PROFILE_FILES_MOST];
    size_t pcap_count;
    const char *elfs[PROFILE_ELFS_MOST];
    size_t elf_count;
    struct profile_export exports[PROFILE_EXPORTS_MOST];
    size_t export_count;
    const char *diff[2]; /* both or none */
    int64_t ns;          /* -1 = until a signal */
    int thread;          /* -1 = all */
    size_t top;
};

/* False when the answer has been given: *exit_code. `argv` is written to. */
bool profile_options_parse(const struct cli *cli, const struct cli_command *command, int argc, char **argv,
                           struct profile_options *o, int *exit_code);

/* profile_compare.c: --diff. Returns the exit code. */
int profile_compare(const struct cli *cli, const struct profile_options *o);

#endif
