/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --pack FILE --device D and --cbuild-run FILE, which several commands share: the options, the description
 * read and compiled, and what was found odd in it told. What a session makes of it is session.h's.
 */
#ifndef CORRAL_CLI_PACK_OPTIONS_H
#define CORRAL_CLI_PACK_OPTIONS_H

#include "cli/cli.h"
#include "pack/pack.h"

enum { PACK_OPT_PACK = 2048, PACK_OPT_DEVICE, PACK_OPT_CBUILD_RUN };

/* For the option table of a command; pack_options_take understands them. */
#define PACK_OPTIONS                                                                                        \
    {"pack", required_argument, NULL, PACK_OPT_PACK}, {"device", required_argument, NULL, PACK_OPT_DEVICE}, \
    {                                                                                                       \
        "cbuild-run", required_argument, NULL, PACK_OPT_CBUILD_RUN                                          \
    }

/* For the help of a command. */
#define PACK_OPTIONS_HELP                                                                        \
    "  --pack FILE     what a .pdsc or .pack says of the target, and its debug sequences: see\n" \
    "                  corral-pack(5)\n"                                                         \
    "  --device D      this device of it; not needed where it has one only\n"                    \
    "  --cbuild-run FILE  the same of a project's .cbuild-run.yml\n"

struct pack_options {
    const char *pack, *device, *cbuild_run; /* NULL = not given. Borrowed */
};

/* True when `c` was one of PACK_OPTIONS, and is taken. */
bool pack_options_take(int c, struct pack_options *o);
/* What never goes together, whatever corral.yml says; false when the answer has been given (a usage error).
 */
bool pack_options_check(const struct cli *cli, const struct cli_command *command,
                        const struct pack_options *o);

/* A description file, one of its devices, and that one's program; all NULL where there is none. */
struct pack_target {
    struct pack_file *file;
    struct pack_device *device;
    struct sequence_program *program;
    struct sequence_problems problems; /* of all steps, in the order found */
};

/* Where ${CMSIS_PACK_ROOT} is: the environment's, else the usual folder, else "". Returns `out`. */
#define PACK_ROOT_MAX 1024
const char *pack_options_root(char out[PACK_ROOT_MAX]);

/* Open, describe and compile. Tells nothing; pack_target_close in any case. `device` NULL = the only one. */
enum corral_err pack_target_open(const char *path, const char *device, const char *dbgconf,
                                 struct pack_target *t, struct diag *d);
void pack_target_close(struct pack_target *t);

/*
 * What the command line names, else what corral.yml does, else nothing. Problems are told on standard error:
 * what is about the file as a whole, and errors; the rest is `corral sequence check`'s.
 */
struct config;
enum corral_err pack_options_open(const struct cli *cli, const struct pack_options *o,
                                  const struct config *config, struct pack_target *t, struct diag *d);
/* The same sentences for who has opened it by pack_target_open; those in the sequences `names` (a list with
 * commas; NULL = none) are told as well. */
void pack_target_tell(const struct cli *cli, const struct pack_target *t, const char *names);

/* "FILE:LINE:COLUMN" of a place in the device's files, FILE alone where the line is not known. Escaped. */
#define PACK_PLACE_MAX 600
const char *pack_place_text(const struct pack_file *file, const struct sequence_set *set,
                            const struct sequence_place *place, char out[PACK_PLACE_MAX]);

/* CORRAL_ERR_FORMAT: nothing can be said of a file that describes none. */
enum corral_err pack_target_no_device(const struct pack_target *t, struct diag *d);
/* CORRAL_ERR_USAGE: the device has no processor of that name; the hint has those that there are. */
enum corral_err pack_target_no_core(const struct pack_target *t, const char *name, struct diag *d);

struct session_options;
/* Into a session: its cores' names, programs and sequences are the device's then. `sync` is what
 * pack_options_sync said. Where there is none, nothing is changed. */
void pack_options_apply(const struct pack_target *t, bool sync, struct session_options *how);
/* Through cross triggers? What the command line says (`said`, then `sync`), else corral.yml, else the
 * description, else not. `config` may be NULL. */
bool pack_options_sync(const struct pack_target *t, const struct config *config, bool said, bool sync);

#endif
