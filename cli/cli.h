/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every command gets, and what every command uses to answer. Commands are thin: they parse their own
 * options, call the library and render. Data goes to stdout, everything else to stderr (INTERFACE.md).
 */
#ifndef CORRAL_CLI_CLI_H
#define CORRAL_CLI_CLI_H

#include <getopt.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "event/sink.h"
#include "session/connect.h"

struct cli {
    const char *target; /* --target, or NULL */
    const char *link;   /* --link, or NULL */
    uint32_t clock_hz;  /* --clock: SWCLK or TCK in Hz; 0 = not given */
    bool json;
    bool quiet;
    int verbose;
    int64_t timeout_ns;       /* --timeout, or -1 */
    struct session_wire wire; /* --protocol, --connect, --wire-log; for session_options.wire */
};

/* A command: argv[0] is its name. Returns the exit code. */
struct cli_command {
    const char *name;
    const char *summary; /* one line for corral --help */
    const char *help;    /* whole text of COMMAND --help, with an example */
    int (*run)(const struct cli *cli, const struct cli_command *command, int argc, char **argv);
};

extern const struct cli_command cmd_demo, cmd_decode, cmd_scan, cmd_status, cmd_halt, cmd_run, cmd_sim,
    cmd_log, cmd_probes, cmd_profile, cmd_serve, cmd_top, cmd_read, cmd_write, cmd_watch, cmd_regs, cmd_load,
    cmd_step, cmd_reset, cmd_cti, cmd_sync_check, cmd_sequence;

/* The two halves of `corral decode`; argv[0] is "tlog" or "prof", the rest its options and files. */
int cmd_decode_tlog(const struct cli *cli, const struct cli_command *command, int argc, char **argv);
int cmd_decode_prof(const struct cli *cli, const struct cli_command *command, int argc, char **argv);

/* Print the error (JSON object with --json) on stderr and return its exit code. */
int cli_fail(const struct cli *cli, const struct diag *d);
/* A usage error of `command`: the sentence and a pointer to --help. Returns 2. */
int cli_usage(const struct cli *cli, const struct cli_command *command, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A sentence beside the answer, on stderr; not with --quiet. `ctx` is a struct cli: it fits
 * session_wire.note. */
void cli_note(void *ctx, const char *sentence);
/* A warning beside the answer, on stderr; with --json an object. `core` is NULL where it is about no core.
 * Not with --quiet. */
void cli_warn(const struct cli *cli, const char *core, const char *sentence);
/* Print `command`'s help on stdout; returns 0. */
int cli_help(const struct cli_command *command);

/*
 * getopt_long with Corral's manners: an unknown option, a missing value or --help is answered here. Returns
 * the option's value; -1 at the end; CLI_DONE with *exit_code set when the command is over.
 */
#define CLI_DONE (-2)
int cli_getopt(const struct cli *cli, const struct cli_command *command, int argc, char **argv,
               const struct option *options, int *exit_code);

/* Whole-string numbers with a range; false = usage error already printed. */
bool cli_parse_u64(const struct cli *cli, const struct cli_command *command, const char *what,
                   const char *text, uint64_t least, uint64_t most, uint64_t *value);
bool cli_parse_seconds(const struct cli *cli, const struct cli_command *command, const char *what,
                       const char *text, double least, double most, double *value);

/* The description of the target: --target FILE, else ./corral.yml when it is there, else none (*config NULL).
 * Free with config_free. */
struct config;
enum corral_err cli_load_config(const struct cli *cli, struct config **config, struct diag *d);

/* Finish stdout: CORRAL_ERR_IO as a diag when it could not all be written. */
enum corral_err cli_close_stdout(struct diag *d);

/* True once SIGINT or SIGTERM came (a second one ends the process at once). cli_stop_flag gives the flag. */
const atomic_bool *cli_stop_flag(void);

/* Give the bus a sink: it is the bus's, or freed where that fails. NULL is what came of a want of memory. */
enum corral_err cli_attach_sink(struct event_bus *bus, struct sink *sink, struct diag *d);
/* A sink that draws events for people on `out`; colour when `colour`. cli/render_text.c. */
struct sink *render_text_sink(FILE *out, bool colour);
/* One event for people: what render_text_sink draws. */
void render_text_event(FILE *out, bool colour, const struct event *event);
bool cli_want_colour(FILE *out); /* a terminal, and NO_COLOR is unset */

#endif
