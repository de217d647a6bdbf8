/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral sequence: the debug sequences of a .pdsc, .pack or .cbuild-run.yml, checked, listed, run
 * (INTERFACE.md "Commands"). Words and options only; check_sequences.c, list_sequences.c and run_sequences.c
 * do it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sequence_request.h"

enum { OPT_DEVICE = 256, OPT_CORE, OPT_VAR, OPT_TRACE, OPT_SYNC, OPT_DBGCONF };

static const struct option options[] = {
    {"device", required_argument, NULL, OPT_DEVICE},
    {"core", required_argument, NULL, OPT_CORE},
    {"var", required_argument, NULL, OPT_VAR},
    {"trace", no_argument, NULL, OPT_TRACE},
    {"sync", no_argument, NULL, OPT_SYNC},
    {"dbgconf", required_argument, NULL, OPT_DBGCONF},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* As in the language: decimal or 0x; no octal numbers. */
static bool parse_value(const char *text, uint64_t *value)
{
    char *end = NULL;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (!isxdigit((unsigned char)text[hex ? 2 : 0]))
        return false;
    errno = 0;
    *value = strtoull(text, &end, hex ? 16 : 10);
    return !*end && !errno;
}

static bool take_variable(const struct cli *cli, const struct cli_command *command,
                          struct sequence_request *r)
{
    const char *equals = strchr(optarg, '=');
    uint64_t value = 0;
    if (r->var_count >= SEQUENCE_REQUEST_VARS) {
        cli_usage(cli, command, "--var: at most %d variables", SEQUENCE_REQUEST_VARS);
        return false;
    }
    if (!equals || equals == optarg) {
        cli_usage(cli, command, "--var: '%s' is not NAME=VALUE", optarg);
        return false;
    }
    if (!parse_value(equals + 1, &value)) {
        cli_usage(cli, command, "--var: '%s' is not a number, decimal or 0x, of 64 bits", equals + 1);
        return false;
    }
    r->vars[r->var_count++] = (struct sequence_variable){optarg, value};
    return true;
}

static bool take(const struct cli *cli, const struct cli_command *command, int c, struct sequence_request *r)
{
    switch (c) {
    case OPT_DEVICE:
        r->device = optarg;
        return true;
    case OPT_CORE:
        r->core = optarg;
        return true;
    case OPT_DBGCONF:
        r->dbgconf = optarg;
        return true;
    case OPT_TRACE:
        r->trace = true;
        return true;
    case OPT_SYNC:
        r->sync = true;
        return true;
    default:
        return take_variable(cli, command, r);
    }
}

/* An option that does nothing here was meant to do something. */
static bool fits(const struct cli *cli, const struct cli_command *command, const char *verb,
                 const struct sequence_request *r)
{
    const char *odd = NULL;
    if (strcmp(verb, "run") != 0)
        odd = r->trace ? "--trace" : r->sync ? "--sync" : r->var_count ? "--var" : NULL;
    if (!odd && strcmp(verb, "check") == 0 && r->core)
        odd = "--core";
    if (odd)
        cli_usage(cli, command, "sequence %s: %s has no meaning here", verb, odd);
    return !odd;
}

static int run_sequence(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct sequence_request r = {0};
    int exit_code = 0;
    for (int c; (c = cli_getopt(cli, command, argc, argv, options, &exit_code)) != -1;) {
        if (c == CLI_DONE)
            return exit_code;
        if (!take(cli, command, c, &r))
            return 2;
    }
    int words = argc - optind;
    const char *verb = words > 0 ? argv[optind] : "";
    bool run = strcmp(verb, "run") == 0, list = strcmp(verb, "list") == 0;
    if (!words)
        return cli_usage(cli, command, "sequence: check, list or run?");
    if (!run && !list && strcmp(verb, "check") != 0)
        return cli_usage(cli, command, "sequence: '%s' is none of check, list and run", verb);
    if (words < (run ? 3 : 2))
        return cli_usage(
            cli, command,
            run ? "sequence run: a sequence's NAME and a FILE are wanted" : "sequence %s: which FILE?", verb);
    if (words > (run ? 3 : 2))
        return cli_usage(cli, command, "sequence %s: '%s' is one word too many", verb,
                         argv[optind + (run ? 3 : 2)]);
    if (!fits(cli, command, verb, &r))
        return 2;
    r.names = run ? argv[optind + 1] : NULL;
    r.file = argv[optind + (run ? 2 : 1)];
    return run ? run_sequences(cli, &r) : list ? list_sequences(cli, &r) : check_sequences(cli, &r);
}

const struct cli_command cmd_sequence = {
    .name = "sequence",
    .summary = "debug sequences of a device's pack: check, list, run them",
    .help =
        "Usage: corral [--json] sequence check FILE [--device D] [--dbgconf FILE]\n"
        "       corral [--json] sequence list FILE [--device D] [--core P]\n"
        "       corral [--link LINK] [--json] sequence run NAME[,NAME...] FILE [--device D] [--core P]\n"
        "                   [--var N=V]... [--trace] [--sync] [--dbgconf FILE]\n"
        "\n"
        "FILE is a .pdsc, a .pack or a .cbuild-run.yml: see corral-pack(5).\n"
        "\n"
        "check  compiles the sequences of every device and shows each mistake where it stands; exit code\n"
        "       1 when one is an error\n"
        "list   shows what there is: the file's own sequences, and the defaults that nothing overrides\n"
        "run    runs them one after the other on the link. Where the first is none that sets the debug\n"
        "       port up, that is done before. Queries get their default answers\n"
        "\n"
        "  --device D      this device; not needed where the file has one, nor by check and list\n"
        "  --core P        for the processor with this Pname (default: the start core, else the first)\n"
        "  --var N=V       another value for a debug variable, or for __connection and its like\n"
        "  --trace         show each access\n"
        "  --sync          sequences are told that cores shall stop and start together (__options)\n"
        "  --dbgconf FILE  this configuration in place of the one that FILE names\n"
        "\n"
        "Example: corral --link dry sequence run DebugPortSetup,DebugPortStart device.pdsc --trace\n",
    .run = run_sequence,
};
