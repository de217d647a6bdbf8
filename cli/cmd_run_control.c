/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral status, halt, run, step and reset: one look at the cores, or one command to them (INTERFACE.md
 * "Commands"). With --sync through cross triggers; without it not one CTI register is written. What they do
 * is run_request.c's.
 */
#include "cli/pack_options.h"
#include "cli/run_request.h"

static int run_status(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    return run_request(cli, command, argc, argv, RUN_STATUS);
}

static int run_halt(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    return run_request(cli, command, argc, argv, RUN_HALT);
}

static int run_run(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    return run_request(cli, command, argc, argv, RUN_RUN);
}

static int run_step(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    return run_request(cli, command, argc, argv, RUN_STEP);
}

static int run_reset(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    return run_request(cli, command, argc, argv, RUN_RESET);
}

#define SYNC_HELP                                                                                         \
    "  --sync          through cross triggers: one request, the others follow in hardware. A core that\n" \
    "                  cannot is halted and started by itself, and a warning says why\n"                  \
    "  --no-sync       one after the other (default); no cross trigger register is written\n"             \
    "  --leave-halted  also when it fails or is interrupted, what is halted then stays so\n"

const struct cli_command cmd_status = {
    .name = "status",
    .summary = "show whether each core runs, and why it does not",
    .help =
        "Usage: corral [--link LINK] [--json] status [--core NAME]... [--pack FILE --device D |\n"
        "                   --cbuild-run FILE]\n"
        "\n"
        "Reads every core's state without changing it: running, halted and why, held in reset, locked\n"
        "up, without power. What a tool that died left latched in cross triggers is named and taken\n"
        "away. With --link sim each invocation is a new board.\n"
        "\n"
        "  --core NAME  only this core (core0, core1, ...); may be given several times\n" PACK_OPTIONS_HELP
        "\n"
        "Example: corral --link sim status\n",
    .run = run_status,
};

const struct cli_command cmd_halt = {
    .name = "halt",
    .summary = "halt the cores together",
    .help =
        "Usage: corral [--link LINK] [--json] halt [--core NAME]... [--sync | --no-sync] [--leave-halted]\n"
        "                   [--pack FILE --device D | --cbuild-run FILE]\n"
        "\n"
        "Halts the cores and tells which one stopped first, and why each did. The cores stay halted; cross\n"
        "triggers are left as they were found. Interrupted, it lets those run again that ran. With --link\n"
        "sim each invocation is a new board: a halted one is gone when the command ends.\n"
        "\n"
        "  --core NAME     only this core; may be given several times\n" SYNC_HELP PACK_OPTIONS_HELP "\n"
        "Example: corral --link sim --json halt --sync\n",
    .run = run_halt,
};

const struct cli_command cmd_run = {
    .name = "run",
    .summary = "start the cores together",
    .help =
        "Usage: corral [--link LINK] [--json] run [--core NAME]... [--sync | --no-sync] [--leave-halted]\n"
        "                   [--pack FILE --device D | --cbuild-run FILE]\n"
        "\n"
        "Starts every core that is halted, and proves for each that it left debug state. Cores that run are\n"
        "left alone. With --link sim each invocation is a new board, on which nothing is halted.\n"
        "\n"
        "  --core NAME     only this core; may be given several times\n" SYNC_HELP PACK_OPTIONS_HELP "\n"
        "Example: corral --link sim run --sync\n",
    .run = run_run,
};

const struct cli_command cmd_step = {
    .name = "step",
    .summary = "execute one instruction on one halted core",
    .help = "Usage: corral [--link LINK] [--json] step [--core NAME] [--sync | --no-sync] [--leave-halted]\n"
            "                   [--pack FILE --device D | --cbuild-run FILE] [N]\n"
            "\n"
            "Executes N instructions (default 1) with interrupts masked, and tells where the core stands.\n"
            "It must be halted, and stays so. No other core moves, with or without --sync. It ends early\n"
            "where the core stops for a reason of its own.\n"
            "\n"
            "  --core NAME     this core (default: the first)\n" SYNC_HELP PACK_OPTIONS_HELP "\n"
            "Example: corral --link jtag:localhost:9824 step --core core1 10\n",
    .run = run_step,
};

const struct cli_command cmd_reset = {
    .name = "reset",
    .summary = "reset the target, or one core",
    .help =
        "Usage: corral [--link LINK] [--json] reset [--halt] [--core NAME] [--sync | --no-sync]\n"
        "                   [--leave-halted] [--pack FILE --device D | --cbuild-run FILE]\n"
        "\n"
        "Resets the system (SYSRESETREQ of the first core); all cores run afterwards, or with --halt all\n"
        "stop before their first instruction. A core that is held in reset is named; it will stop when\n"
        "it is let go.\n"
        "\n"
        "  --halt          stop at the reset vector\n"
        "  --core NAME     reset this core alone (Armv7-M only: VECTRESET)\n" SYNC_HELP PACK_OPTIONS_HELP "\n"
        "Example: corral --link sim reset --halt\n",
    .run = run_reset,
};
