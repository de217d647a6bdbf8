/* SPDX-License-Identifier: Apache-2.0 */
/* What the three halves of `corral sequence` are given: check, list and run of a description file. */
#ifndef CORRAL_CLI_SEQUENCE_REQUEST_H
#define CORRAL_CLI_SEQUENCE_REQUEST_H

#include "cli/cli.h"

#define SEQUENCE_REQUEST_VARS 64

struct sequence_variable {
    const char *name; /* "NAME=VALUE": up to the sign */
    uint64_t value;
};

struct sequence_request {
    const char *file;
    const char *names;                   /* run: with commas */
    const char *device, *core, *dbgconf; /* NULL = not given */
    struct sequence_variable vars[SEQUENCE_REQUEST_VARS];
    size_t var_count;
    bool trace, sync;
};

/* Each returns the exit code. */
int check_sequences(const struct cli *cli, const struct sequence_request *r);
int list_sequences(const struct cli *cli, const struct sequence_request *r);
int run_sequences(const struct cli *cli, const struct sequence_request *r);

#endif
