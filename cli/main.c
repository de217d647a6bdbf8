/* SPDX-License-Identifier: Apache-2.0 */
/* The front door: global options, then the command (INTERFACE.md "General"). Holds no logic of its own. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host_clock.h"
#include "cli/cli.h"

static const struct cli_command *const commands[] = {
    &cmd_demo, &cmd_probes,  &cmd_scan,  &cmd_status, &cmd_halt,  &cmd_run, &cmd_step,       &cmd_reset,
    &cmd_read, &cmd_write,   &cmd_watch, &cmd_regs,   &cmd_load,  &cmd_cti, &cmd_sync_check, &cmd_sequence,
    &cmd_log,  &cmd_profile, &cmd_top,   &cmd_decode, &cmd_serve, &cmd_sim};

static int cmd_decode_run(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "tlog") == 0)
        return cmd_decode_tlog(cli, command, argc - 1, argv + 1);
    if (argc >= 2 && strcmp(argv[1], "prof") == 0)
        return cmd_decode_prof(cli, command, argc - 1, argv + 1);
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return cli_help(command);
    if (argc < 2)
        return cli_usage(cli, command, "decode: what is to be decoded, 'tlog' or 'prof'?");
    return cli_usage(cli, command, "decode: '%s' is neither 'tlog' nor 'prof'", argv[1]);
}

const struct cli_command cmd_decode = {
    .name = "decode",
    .summary = "read firmware log buffers or profile packets from files",
    .help =
        "Usage: corral [--json] decode tlog [--staging N] [--level L] FILE...\n"
        "       corral [--json] decode prof [--port N] [--elf [SOURCE=]FILE[@OFFSET]]...\n"
        "                                 [--legacy-headers] FILE...\n"
        "\n"
        "tlog  Each FILE is one shared log buffer; its length is the buffer's capacity. Several files are\n"
        "      successive batches of one stream: what is lost between them is counted.\n"
        "      --staging N  the producer's staging size in bytes (default 4096)\n"
        "      --level L    show L and worse: err, wrn, inf, dbg (default dbg)\n"
        "prof  FILE is a pcap or pcapng capture, or one raw datagram.\n"
        "      For both, - is standard input.\n"
        "      --port N     the UDP destination port to read in captures (default 51080)\n"
        "      --elf [SOURCE=]FILE[@OFFSET]  names for the addresses in the summary, as for 'corral "
        "profile'\n"
        "      --legacy-headers  also read the headers, never the samples, of packets of versions 5 to 16\n"
        "\n"
        "Exit code 0 whatever anomalies are found; 1 when a file cannot be read.\n"
        "\n"
        "Example: corral --json decode tlog buffer.bin\n",
    .run = cmd_decode_run,
};

static void print_help(void)
{
    puts("Usage: corral [--target FILE] [--link LINK] [--json] [--quiet] [-v] [--timeout S] COMMAND ...\n"
         "\n"
         "One host tool for every core of a multi-core target: halts and runs all cores together through\n"
         "cross triggers, reads firmware logs, collects a profile, and shows the three on one timeline.\n"
         "\n"
         "Commands:");
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        printf("  %-11s %s\n", commands[i]->name, commands[i]->summary);
    puts("\n"
         "Links: sim (a virtual two-core board in this process; the default), sim:A.elf,B.elf (your\n"
         "       programs on it), shm:PATH[@BASE] (memory in a file, for log), dry[:ADDRESS=VALUE,...]\n"
         "       (no target: writes are kept, reads give what was written or preset, else 0),\n"
         "       cmsis-dap[:SERIAL] (a CMSIS-DAP probe on USB; 'corral probes' lists them),\n"
         "       cmsis-dap:tcp:HOST:PORT (one on the network; behind either ?targetsel=N for one of\n"
         "       several ports on a wire), jtag:HOST:PORT (a JTAG debug port behind a remote_bitbang\n"
         "       server), openocd:HOST:PORT (the Tcl port of a running OpenOCD with mem_ap targets),\n"
         "       openocd:spawn:CFG (an OpenOCD with this configuration, for as long as it is needed),\n"
         "       gdb:HOST:PORT (a gdb stub, such as QEMU's), replay:FILE (what --wire-log wrote)\n"
         "\n"
         "  --link LINK   how to reach the target\n"
         "  --clock HZ    of the debug port's wire, where the link has one (sim: 4000000)\n"
         "  --protocol P  swd or jtag, where the link has the choice\n"
         "  --connect M   attach (the default), under-reset (nRESET is held until every core will stop at "
         "its\n"
         "                reset vector) or pre-reset (a pulse on nRESET first)\n"
         "  --wire-log F  write down every access; --link replay:F gives the same answers without a target\n"
         "  --target FILE what the target is made of; without it ./corral.yml when there is one (not for\n"
         "                demo). Options win over the file\n"
         "  --json        one JSON document, or JSON lines for a stream; errors as JSON on stderr\n"
         "  --quiet       no progress and no remarks\n"
         "  --timeout S   give up on a target after S seconds\n"
         "  -v            more detail; no command has any yet\n"
         "  --version     print the version\n"
         "\n"
         "Example: corral demo\n"
         "See 'corral COMMAND --help'.");
}

enum {
    OPT_TARGET = 256,
    OPT_LINK,
    OPT_CLOCK,
    OPT_PROTOCOL,
    OPT_CONNECT,
    OPT_WIRE_LOG,
    OPT_JSON,
    OPT_QUIET,
    OPT_TIMEOUT,
    OPT_VERSION
};

static const struct option global_options[] = {
    {"target", required_argument, NULL, OPT_TARGET},
    {"link", required_argument, NULL, OPT_LINK},
    {"clock", required_argument, NULL, OPT_CLOCK},
    {"protocol", required_argument, NULL, OPT_PROTOCOL},
    {"connect", required_argument, NULL, OPT_CONNECT},
    {"wire-log", required_argument, NULL, OPT_WIRE_LOG},
    {"json", no_argument, NULL, OPT_JSON},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"version", no_argument, NULL, OPT_VERSION},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* True when the command line goes on with a command at argv[optind]; else *exit_code is the answer. */
static bool parse_global(struct cli *cli, int argc, char **argv, int *exit_code)
{
    opterr = 0;
    for (int c, index = 1; (c = getopt_long(argc, argv, "+:vh", global_options, NULL)) != -1;
         index = optind) {
        double seconds;
        uint64_t hz;
        switch (c) {
        case OPT_TARGET:
            cli->target = optarg;
            break;
        case OPT_LINK:
            cli->link = optarg;
            break;
        case OPT_CLOCK:
            *exit_code = 2;
            if (!cli_parse_u64(cli, NULL, "--clock", optarg, 1, 1000000000, &hz))
                return false;
            cli->clock_hz = (uint32_t)hz;
            break;
        case OPT_JSON:
            cli->json = true;
            break;
        case OPT_PROTOCOL:
            if (connect_protocol_named(optarg, &cli->wire.protocol))
                break;
            *exit_code = cli_usage(cli, NULL, "--protocol: '%s' is neither swd nor jtag", optarg);
            return false;
        case OPT_CONNECT:
            if (connect_mode_named(optarg, &cli->wire.connect))
                break;
            *exit_code =
                cli_usage(cli, NULL, "--connect: '%s' is not attach, under-reset or pre-reset", optarg);
            return false;
        case OPT_WIRE_LOG:
            cli->wire.log = optarg;
            break;
        case OPT_QUIET:
            cli->quiet = true;
            break;
        case OPT_TIMEOUT:
            *exit_code = 2;
            if (!cli_parse_seconds(cli, NULL, "--timeout", optarg, 0.001, 86400.0, &seconds))
                return false;
            cli->timeout_ns = (int64_t)llround(seconds * (double)NS_PER_S);
            break;
        case OPT_VERSION:
            puts("corral " CORRAL_VERSION);
            *exit_code = 0;
            return false;
        case 'v':
            cli->verbose++;
            break;
        case 'h':
            print_help();
            *exit_code = 0;
            return false;
        case ':':
            *exit_code = cli_usage(cli, NULL, "option '%s' needs a value", argv[optind - 1]);
            return false;
        default:
            *exit_code = cli_usage(cli, NULL, "option '%s' is unknown or takes no value", argv[index]);
            return false;
        }
    }
    return true;
}

/*
 * Where standard streams are closed, the next files and sockets that are opened would get their numbers, and
 * text for people would end up in a capture. What is put in their place refuses the access.
 */
static void hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(1);
}

/* A reader that goes away and a file that may not grow are errors of write(), not the end of the process. */
static void ignore_write_signals(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

/* Switches may stand behind the command too; a value that is spelt like one is written --option=--json. */
static int take_switches(struct cli *cli, int argc, char **argv)
{
    int kept = 1;
    bool over = false; /* behind "--" all words are the command's */
    for (int i = 1; i < argc; i++) {
        over |= strcmp(argv[i], "--") == 0;
        if (!over && strcmp(argv[i], "--json") == 0)
            cli->json = true;
        else if (!over && strcmp(argv[i], "--quiet") == 0)
            cli->quiet = true;
        else
            argv[kept++] = argv[i];
    }
    argv[kept] = NULL;
    return kept;
}

int main(int argc, char **argv)
{
    struct cli cli = {.timeout_ns = -1};
    int exit_code = 0;
    cli.wire.note = cli_note;
    cli.wire.ctx = &cli;
    hold_standard_streams();
    ignore_write_signals();
    /* --json decides how errors look, also those of options before it */
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        cli.json |= strcmp(argv[i], "--json") == 0;
    if (parse_global(&cli, argc, argv, &exit_code)) {
        if (optind >= argc)
            return cli_usage(&cli, NULL, "no command given");
        const char *name = argv[optind];
        const struct cli_command *command = NULL;
        for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
            if (strcmp(commands[i]->name, name) == 0)
                command = commands[i];
        if (!command)
            return cli_usage(&cli, NULL, "there is no command '%s'", name);
        argc -= optind;
        argv += optind;
        argc = take_switches(&cli, argc, argv);
        optind = 0; /* start getopt anew */
        exit_code = command->run(&cli, command, argc, argv);
    }
    struct diag d = DIAG_INIT;
    if (cli_close_stdout(&d) != CORRAL_OK && exit_code == 0)
        exit_code = cli_fail(&cli, &d);
    return exit_code;
}
