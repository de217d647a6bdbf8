/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral sim: devices and boards for other programs (INTERFACE.md "sim"): the emulated firmware-log device,
 * the profiled target, and the board behind debug probes. This is the one command that knows sim/.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/sim_board.h"
#include "sim/profile_target.h"
#include "sim/tlog_device.h"

enum {
    OPT_JSON = 256,
    OPT_DEVICE,
    OPT_RAM,
    OPT_RATE,
    OPT_COUNT,
    OPT_MISBEHAVE,
    OPT_CONTROL,
    OPT_PROFILE_CONTROL,
    OPT_PROFILE_PORT,
    OPT_SEED,
    OPT_SECONDS,
    OPT_JTAG,
    OPT_STLINK,
    OPT_CMSIS_DAP,
    OPT_PACE,
    OPT_SHM,
    OPT_BOARD /* and behind it: a switch of the board's each */
};

#define OPTIONS_MAX 64

/* But for the switches of the board. */
static const struct option own_options[] = {
    {"json", no_argument, NULL, OPT_JSON},
    {"tlog-device", required_argument, NULL, OPT_DEVICE},
    {"ram", required_argument, NULL, OPT_RAM},
    {"rate", required_argument, NULL, OPT_RATE},
    {"count", required_argument, NULL, OPT_COUNT},
    {"misbehave", required_argument, NULL, OPT_MISBEHAVE},
    {"control", required_argument, NULL, OPT_CONTROL},
    {"profile-control", required_argument, NULL, OPT_PROFILE_CONTROL},
    {"profile-port", required_argument, NULL, OPT_PROFILE_PORT},
    {"seconds", required_argument, NULL, OPT_SECONDS},
    {"stlink", required_argument, NULL, OPT_STLINK},
    {"jtag", required_argument, NULL, OPT_JTAG},
    {"cmsis-dap", required_argument, NULL, OPT_CMSIS_DAP},
    {"shm", required_argument, NULL, OPT_SHM},
    {"pace", required_argument, NULL, OPT_PACE},
    {"help", no_argument, NULL, 'h'},
};

/* With the switches of the board, which are a table of their own. */
static void all_options(struct option options[OPTIONS_MAX])
{
    size_t n = 0;
    bool value = false;
    const char *name = NULL;
    for (; n < sizeof(own_options) / sizeof(own_options[0]); n++)
        options[n] = own_options[n];
    for (unsigned i = 0; n + 1 < OPTIONS_MAX && (name = board_options_name(i, &value)) != NULL; i++)
        options[n++] = (struct option){
            .name = name, .has_arg = value ? required_argument : no_argument, .val = OPT_BOARD + (int)i};
    options[n] = (struct option){0};
}

static json_t *strings(const char *const *list, uint32_t count)
{
    json_t *j = json_array();
    for (uint32_t i = 0; i < count && i < TLOG_DEVICE_NOTES; i++)
        json_array_append_new(j, json_string(list[i]));
    return j;
}

static int print_report(const struct cli *cli, const struct tlog_device_report *r)
{
    if (!cli->json) {
        printf("%" PRIu64 " records in %" PRIu64 " batches, %" PRIu64 " lost; %" PRIu32 " SETUP, %" PRIu32
               " RELEASE, %" PRIu32 " interrupts\n",
               r->records, r->batches, r->dropped, r->setups, r->releases, r->interrupts);
        for (uint32_t i = 0; i < r->violations && i < TLOG_DEVICE_NOTES; i++)
            printf("the device did what it must not: %s\n", r->violation[i]);
        for (uint32_t i = 0; i < r->remarks && i < TLOG_DEVICE_NOTES; i++)
            printf("the guest did what it must not: %s\n", r->remark[i]);
        return 0;
    }
    json_t *j = json_pack(
        "{s:{s:I,s:b,s:b,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o}}", "tlog_device", "generation",
        (json_int_t)r->generation, "connected", r->connected, "active", r->active, "setups",
        (json_int_t)r->setups, "refused", (json_int_t)r->refused, "releases", (json_int_t)r->releases,
        "requests", (json_int_t)r->requests, "doorbells", (json_int_t)r->doorbells, "interrupts",
        (json_int_t)r->interrupts, "withheld", (json_int_t)r->withheld, "batches", (json_int_t)r->batches,
        "records", (json_int_t)r->records, "dropped", (json_int_t)r->dropped, "left", (json_int_t)r->left,
        "violations", strings(r->violation, r->violations), "remarks", strings(r->remark, r->remarks));
    char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
    json_decref(j);
    if (!text)
        return cli_fail(cli, &(struct diag){CORRAL_ERR_NO_MEMORY, "out of memory", "", ""});
    puts(text);
    free(text);
    return 0;
}

static int serve_device(const struct cli *cli, const struct tlog_device_options *o)
{
    struct diag d = DIAG_INIT;
    const atomic_bool *stop = cli_stop_flag(); /* before there is a socket that a signal would leave behind */
    struct tlog_device *dev = tlog_device_open(o, &d);
    if (!dev)
        return cli_fail(cli, &d);
    char name[TEXT_CLEAN_MAX(128)];
    text_escape((const uint8_t *)o->socket, strlen(o->socket), name, sizeof(name));
    if (!cli->quiet)
        fprintf(stderr, "corral: the device waits for QEMU at %s\n", name);
    enum corral_err err = tlog_device_run(dev, stop, &d);
    struct tlog_device_report report;
    tlog_device_get_report(dev, &report);
    tlog_device_free(dev);
    int exit_code = print_report(cli, &report);
    if (err != CORRAL_OK)
        return cli_fail(cli, &d);
    return report.violations ? 1 : exit_code;
}

static int print_target_report(const struct cli *cli, const struct profile_target_report *r)
{
    if (!cli->json) {
        printf("%.3f s of the board; %" PRIu64 " profile packets sent, %" PRIu64
               " made while nobody had asked, %" PRIu64 " refused by this host; %" PRIu64 " clients, %" PRIu64
               " commands\n",
               r->board_seconds, r->datagrams, r->discarded, r->refused, r->clients, r->commands);
        if (r->fell_behind_seconds > 0)
            printf("this machine was %.3f s too slow for the board\n", r->fell_behind_seconds);
        return 0;
    }
    printf("{\"profile_target\":{\"board_seconds\":%.6f,\"fell_behind_seconds\":%.6f,\"datagrams\":%" PRIu64
           ",\"discarded\":%" PRIu64 ",\"refused\":%" PRIu64 ",\"clients\":%" PRIu64 ",\"commands\":%" PRIu64
           ",\"unknown_commands\":%" PRIu64 "}}\n",
           r->board_seconds, r->fell_behind_seconds, r->datagrams, r->discarded, r->refused, r->clients,
           r->commands, r->unknown_commands);
    return 0;
}

static int serve_profile(const struct cli *cli, const struct profile_target_options *o)
{
    struct diag d = DIAG_INIT;
    struct profile_target *target = profile_target_open(o, &d);
    if (!target)
        return cli_fail(cli, &d);
    /* Said also with --quiet where the port was left open: nobody could find it otherwise. */
    if (!cli->quiet || o->control_port == 0)
        fprintf(stderr, "corral: the board runs; its profiler listens on 127.0.0.1:%u\n",
                profile_target_port(target));
    enum corral_err err = profile_target_run(target, cli_stop_flag(), &d);
    struct profile_target_report report;
    profile_target_get_report(target, &report);
    profile_target_free(target);
    int exit_code = print_target_report(cli, &report);
    return err != CORRAL_OK ? cli_fail(cli, &d) : exit_code;
}

struct sim_options {
    struct tlog_device_options device;
    struct profile_target_options target;
    struct sim_board fronts;
    bool profile, device_only, profile_only, fronts_only; /* what was asked for, and with whose options */
    bool seed;                                            /* of the profiled board, or of the fronts' */
};

static bool add_front(const struct cli *cli, const struct cli_command *command, const char *option,
                      const struct front_kind *kind, struct sim_board *o)
{
    uint64_t port = 0;
    if (!cli_parse_u64(cli, command, option, optarg, 0, 65535, &port))
        return false;
    for (unsigned i = 0; i < o->count; i++)
        if (o->kind[i] == kind) {
            cli_usage(cli, command, "sim: %s once is enough", option);
            return false;
        }
    o->kind[o->count] = kind; /* a kind each at most: there is room */
    o->port[o->count++] = (uint16_t)port;
    return true;
}

static bool take_pace(const struct cli *cli, const struct cli_command *command, enum front_pace *pace)
{
    static const char *const names[] = {"wire", "real", "max"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(optarg, names[i]) == 0) {
            *pace = (enum front_pace)i;
            return true;
        }
    cli_usage(cli, command, "sim: --pace is wire, real or max");
    return false;
}

/* One option of the fronts; false = it is wrong, and that was said. */
static bool take_front_option(const struct cli *cli, const struct cli_command *command, int c,
                              struct sim_options *o)
{
    bool good = true;
    switch (c) {
    case OPT_JTAG:
        return add_front(cli, command, "--jtag", &front_jtag, &o->fronts);
    case OPT_STLINK:
        return add_front(cli, command, "--stlink", &front_stlink, &o->fronts);
    case OPT_CMSIS_DAP:
        return add_front(cli, command, "--cmsis-dap", &front_cmsis_dap, &o->fronts);
    case OPT_SHM:
        o->fronts.shm = optarg;
        return true;
    default: /* OPT_PACE */
        good = take_pace(cli, command, &o->fronts.pace);
        break;
    }
    o->fronts_only = true;
    return good;
}

/* One switch of the board. Its seed may also be the profiled board's. */
static bool take_board_option(const struct cli *cli, const struct cli_command *command, int c,
                              struct sim_options *o)
{
    struct diag d = DIAG_INIT;
    bool value = false;
    const char *name = board_options_name((unsigned)(c - OPT_BOARD), &value);
    if (board_options_take(&o->fronts.board, name, optarg, &d) != CORRAL_OK) {
        cli_usage(cli, command, "sim: %s", d.message);
        return false;
    }
    if (strcmp(name, "seed") != 0) {
        o->fronts_only = true;
        return true;
    }
    o->seed = true;
    o->target.seed = o->fronts.board.config.seed;
    return true;
}

/* One option; -1 = taken, else the exit code. */
static int take_option(const struct cli *cli, const struct cli_command *command, int c, struct sim_options *o)
{
    uint64_t value = 0;
    bool good = true;
    switch (c) {
    case OPT_DEVICE:
        o->device.socket = optarg;
        break;
    case OPT_RAM:
        o->device.ram = optarg;
        o->device_only = true;
        break;
    case OPT_RATE:
        good = cli_parse_u64(cli, command, "--rate", optarg, 0, 1000000, &value);
        o->device.rate = (uint32_t)value;
        o->device_only = true;
        break;
    case OPT_COUNT:
        good = cli_parse_u64(cli, command, "--count", optarg, 0, INT64_MAX, &o->device.count);
        o->device_only = true;
        break;
    case OPT_MISBEHAVE:
        o->device.misbehave = optarg;
        o->device_only = true;
        break;
    case OPT_CONTROL:
        o->device.control = optarg;
        o->fronts.control = optarg;
        break;
    case OPT_PROFILE_CONTROL:
        good = cli_parse_u64(cli, command, "--profile-control", optarg, 0, 65535, &value);
        o->target.control_port = (uint16_t)value;
        o->profile = true;
        break;
    case OPT_PROFILE_PORT:
        good = cli_parse_u64(cli, command, "--profile-port", optarg, 1, 65535, &value);
        o->target.udp_port = (uint16_t)value;
        o->profile_only = true;
        break;
    case OPT_SECONDS:
        good = cli_parse_seconds(cli, command, "--seconds", optarg, 0.001, 1e6, &o->target.seconds);
        o->profile_only = true;
        break;
    default:
        good = c >= OPT_BOARD ? take_board_option(cli, command, c, o) : take_front_option(cli, command, c, o);
        break;
    }
    return good ? -1 : 2;
}

static int run_sim(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct cli local = *cli;
    struct sim_options o = {0};
    struct option options[OPTIONS_MAX];
    int exit_code = 0, c;
    all_options(options);
    while ((c = cli_getopt(&local, command, argc, argv, options, &exit_code)) != -1) {
        if (c == CLI_DONE)
            return exit_code;
        if (c == OPT_JSON)
            local.json = true;
        else if ((exit_code = take_option(&local, command, c, &o)) != -1)
            return exit_code;
    }
    if (optind < argc)
        return cli_usage(&local, command, "sim: '%s' is one word too many", argv[optind]);
    bool board = o.fronts.count > 0 || o.fronts.shm;
    if (board + o.profile + (o.device.socket != NULL) > 1)
        return cli_usage(
            &local, command,
            "sim: --tlog-device, --profile-control and the board behind probes are devices of their "
            "own; run one each");
    if (!board && !o.profile && !o.device.socket)
        return cli_usage(&local, command,
                         "sim: nothing to emulate; --jtag PORT, --stlink PORT, --cmsis-dap PORT, --shm PATH, "
                         "--tlog-device SOCKET and --profile-control PORT are what there is");
    if ((o.device_only && !o.device.socket) || (o.profile_only && !o.profile) || (o.fronts_only && !board) ||
        (o.seed && o.device.socket) || (o.fronts.control && o.profile))
        return cli_usage(&local, command, "sim: an option belongs to another device than the one asked for");
    if (board && !o.fronts.count && o.fronts.pace == FRONT_PACE_WIRE)
        return cli_usage(&local, command,
                         "sim: without a probe nothing moves the board; --pace real or --pace max does");
    if (board)
        return sim_board_serve(&local, &o.fronts);
    if (o.profile)
        return serve_profile(&local, &o.target);
    if (!o.device.ram)
        return cli_usage(&local, command,
                         "sim: --tlog-device needs --ram FILE, the file behind the guest's memory");
    return serve_device(&local, &o.device);
}

const struct cli_command cmd_sim = {
    .name = "sim",
    .summary = "be a target for other programs: the firmware log's device, a board behind a probe",
    .help =
        "Usage: corral [--json] sim --tlog-device SOCKET --ram FILE [--control SOCKET] [--count N] "
        "[--rate N]\n"
        "                           [--misbehave LIST]\n"
        "       corral [--json] sim --profile-control PORT [--profile-port P] [--seconds S] [--seed N]\n"
        "       corral [--json] sim [--jtag PORT] [--stlink PORT] [--cmsis-dap PORT] [--shm PATH]\n"
        "                           [--pace wire|real|max] [--control SOCKET] [SWITCH...]\n"
        "\n"
        "Be the device behind QEMU's ivshmem-doorbell, and the firmware in it: message queues and "
        "registers in\n"
        "BAR2, log batches straight into the guest's memory, interrupts. Serves one guest and ends with "
        "it; the\n"
        "last line says what happened. Start it before QEMU.\n"
        "\n"
        "  --tlog-device SOCKET  where QEMU connects (-chardev socket,id=iv,path=SOCKET\n"
        "                        -device ivshmem-doorbell,vectors=2,chardev=iv)\n"
        "  --ram FILE            the guest's memory (-object "
        "memory-backend-file,share=on,mem-path=FILE,...)\n"
        "  --count N             records to log from the start (default 0)\n"
        "  --rate N              records a second; 0 = as fast as the guest takes them (default)\n"
        "  --control SOCKET      take commands there, a line each: docs/tlog-device.md\n"
        "  --misbehave LIST      commands to begin with, separated by commas, '=' for a blank:\n"
        "                        miss-irq=all,refuse=255\n"
        "\n"
        "Or be the virtual board as a profiled target on the network: its profiler answers on TCP port "
        "PORT of\n"
        "loopback (0 = any free one) and sends its packets over UDP to who asked for them.\n"
        "\n"
        "  --profile-control PORT  map, pid, vma, ip, start, stop, close: a line each (port 51081 by "
        "custom)\n"
        "  --profile-port P      where the client's collector listens (default 51080)\n"
        "  --seconds S           end after S seconds (default: never)\n"
        "  --seed N              of the board\n"
        "\n"
        "Or be the virtual board behind debug probes on TCP ports of loopback (0 = any free one), for "
        "OpenOCD\n"
        "and others; docs/board.md has their command lines. Serves until SIGINT or SIGTERM; the last lines "
        "say\n"
        "what happened.\n"
        "\n"
        "  --jtag PORT           OpenOCD's remote_bitbang\n"
        "  --stlink PORT         an ST-Link V3 behind ST's stlink-server\n"
        "  --cmsis-dap PORT      Arm's probe protocol over TCP, as OpenOCD has it after 0.12\n"
        "  --shm PATH            the board's SRAM is this file, for --link shm:PATH@0x20000000\n"
        "  --pace P              what moves the board: wire = only the probes' clocks (default),\n"
        "                        real = real time, max = as fast as this machine can\n"
        "  --control SOCKET      take commands there, a line each: docs/board.md \"Control\"\n"
        "\n"
        "The board's switches, also for --link sim as the key board: of a configuration file; one value is\n"
        "for both cores:\n"
        "\n"
        "  --identity A[,B]      m7 (default), m4, m33 or m0plus\n"
        "  --core-hz A[,B]       the cores' clocks (default 100000000)\n"
        "  --adiv6               a debug port of version 3, whose access ports lie in an address space\n"
        "  --separate-ctm        the cross trigger interfaces are not connected to each other\n"
        "  --level-halted        HALTED is a level, not a pulse\n"
        "  --ctm-latency N       core cycles from one cross trigger interface to the other (default 3)\n"
        "  --cti-base A[,B]      where the cross trigger interfaces are (default 0xE0042000)\n"
        "  --no-cti CORE         core0, core1 or both have none\n"
        "  --held-in-reset CORE  until the other core or the debugger lets it go\n"
        "  --unpowered CORE      until `power CORE on` of --control\n"
        "  --sleep-stops-clock CORE  asleep it cannot be reached\n"
        "  --no-debug CORE       its debug is locked\n"
        "  --seed N              of the firmware's random numbers (default 1)\n"
        "  --elf A.elf[,B.elf]   the cores' programs instead of the built-in ones\n"
        "\n"
        "Exit code 1 when the device caught itself at a store that it must not do.\n"
        "\n"
        "Examples: corral --json sim --tlog-device tlog.sock --ram guest.ram --count 1000\n"
        "          corral sim --stlink 7184\n",
    .run = run_sim,
};
