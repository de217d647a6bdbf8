/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral sim: devices and boards for other programs (INTERFACE.md "sim"). Of its fronts there is the emulated
 * firmware-log device so far; with sim/tlog_device.h this is the one command that knows sim/.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "sim/tlog_device.h"

enum { OPT_JSON = 256, OPT_DEVICE, OPT_RAM, OPT_RATE, OPT_COUNT, OPT_MISBEHAVE, OPT_CONTROL, OPT_NOT_YET };

static const struct option options[] = {
    {"json", no_argument, NULL, OPT_JSON},
    {"tlog-device", required_argument, NULL, OPT_DEVICE},
    {"ram", required_argument, NULL, OPT_RAM},
    {"rate", required_argument, NULL, OPT_RATE},
    {"count", required_argument, NULL, OPT_COUNT},
    {"misbehave", required_argument, NULL, OPT_MISBEHAVE},
    {"control", required_argument, NULL, OPT_CONTROL},
    {"stlink", required_argument, NULL, OPT_NOT_YET},
    {"jtag", required_argument, NULL, OPT_NOT_YET},
    {"cmsis-dap", required_argument, NULL, OPT_NOT_YET},
    {"shm", required_argument, NULL, OPT_NOT_YET},
    {"identity", required_argument, NULL, OPT_NOT_YET},
    {"pace", required_argument, NULL, OPT_NOT_YET},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

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

static int serve(const struct cli *cli, const struct tlog_device_options *o)
{
    struct diag d = DIAG_INIT;
    struct tlog_device *dev = tlog_device_open(o, &d);
    if (!dev)
        return cli_fail(cli, &d);
    if (!cli->quiet)
        fprintf(stderr, "corral: the device waits for QEMU at %s\n", o->socket);
    enum corral_err err = tlog_device_run(dev, cli_stop_flag(), &d);
    struct tlog_device_report report;
    tlog_device_get_report(dev, &report);
    tlog_device_free(dev);
    int exit_code = print_report(cli, &report);
    if (err != CORRAL_OK)
        return cli_fail(cli, &d);
    return report.violations ? 1 : exit_code;
}

static int run_sim(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct cli local = *cli;
    struct tlog_device_options o = {0};
    uint64_t value;
    int exit_code = 0, c;
    while ((c = cli_getopt(&local, command, argc, argv, options, &exit_code)) != -1) {
        switch (c) {
        case CLI_DONE:
            return exit_code;
        case OPT_JSON:
            local.json = true;
            break;
        case OPT_DEVICE:
            o.socket = optarg;
            break;
        case OPT_RAM:
            o.ram = optarg;
            break;
        case OPT_RATE:
            if (!cli_parse_u64(&local, command, "--rate", optarg, 0, 1000000, &value))
                return 2;
            o.rate = (uint32_t)value;
            break;
        case OPT_COUNT:
            if (!cli_parse_u64(&local, command, "--count", optarg, 0, UINT64_MAX, &o.count))
                return 2;
            break;
        case OPT_MISBEHAVE:
            o.misbehave = optarg;
            break;
        case OPT_CONTROL:
            o.control = optarg;
            break;
        default: {
            struct diag d = DIAG_INIT;
            diag_set(&d, CORRAL_ERR_UNSUPPORTED, "sim: this version emulates the firmware-log device only");
            diag_hint(&d, "give --tlog-device SOCKET; the virtual board is there as --link sim");
            return cli_fail(&local, &d);
        }
        }
    }
    if (optind < argc)
        return cli_usage(&local, command, "sim: '%s' is one word too many", argv[optind]);
    if (!o.socket)
        return cli_usage(&local, command, "sim: nothing to emulate; --tlog-device SOCKET is what there is");
    if (!o.ram)
        return cli_usage(&local, command,
                         "sim: --tlog-device needs --ram FILE, the file behind the guest's memory");
    return serve(&local, &o);
}

const struct cli_command cmd_sim = {
    .name = "sim",
    .summary = "emulate the firmware log's device for a virtual machine",
    .help = "Usage: corral [--json] sim --tlog-device SOCKET --ram FILE [--control SOCKET] [--count N] "
            "[--rate N]\n"
            "                           [--misbehave LIST]\n"
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
            "Exit code 1 when the device caught itself at a store that it must not do.\n"
            "\n"
            "Example: corral --json sim --tlog-device tlog.sock --ram guest.ram --count 1000\n",
    .run = run_sim,
};
