/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral status, halt and run: one look at the cores, or one command to all of them together (INTERFACE.md
 * "Commands"). With --sync through cross triggers; without it not one CTI register is written.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "event/event_json.h"
#include "session/config.h"
#include "session/session.h"

/* A board in this process has only just been powered on: let its programs come to something. */
#define WARM_UP_NS (5 * NS_PER_MS)

enum { OPT_CORE = 256, OPT_SYNC, OPT_NO_SYNC, OPT_LEAVE_HALTED, OPT_JSON };

static const struct option options[] = {
    {"core", required_argument, NULL, OPT_CORE},
    {"sync", no_argument, NULL, OPT_SYNC},
    {"no-sync", no_argument, NULL, OPT_NO_SYNC},
    {"leave-halted", no_argument, NULL, OPT_LEAVE_HALTED},
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

enum action { ACTION_STATUS, ACTION_HALT, ACTION_RUN };

struct request {
    enum action action;
    const char *names[EVENT_MAX_CORES]; /* --core */
    size_t name_count;
    bool sync, sync_set;
};

/* *done tells whether there is an event to show, also when the command failed. */
static enum corral_err act(struct session *s, const struct request *r, struct event *event, bool *done,
                           struct diag *d)
{
    enum corral_err err = session_connect(s, d);
    if (!err && host_clock_is_virtual(session_clock(s)))
        err = session_run_for(s, WARM_UP_NS, cli_stop_flag(), d);
    if (!err && r->sync && r->action != ACTION_STATUS)
        err = session_set_sync(s, true, d);
    if (err)
        return err;
    *done = true;
    if (r->action == ACTION_STATUS)
        return session_status(s, event, d);
    err = r->action == ACTION_HALT ? session_halt(s, 0, event, d) : session_run(s, 0, event, d);
    struct diag why = DIAG_INIT;
    enum corral_err off = r->sync ? session_set_sync(s, false, &why) : CORRAL_OK;
    if (off && !err) {
        *d = why;
        err = off;
    }
    return err;
}

/* A state is no event: one line a core. */
static void show_status(const struct event_halt *h)
{
    for (size_t i = 0; i < h->core_count; i++) {
        const struct event_core *c = &h->cores[i];
        printf("%-8s %s", c->name, core_state_name(c->state));
        if (c->pc_known)
            printf(" at 0x%08" PRIx32, c->pc);
        if (c->reason != HALT_REASON_NONE)
            printf(", %s", halt_reason_name(c->reason));
        putchar('\n');
    }
}

static int show(const struct cli *cli, enum action action, const struct event *event)
{
    if (!cli->json) {
        if (action == ACTION_STATUS)
            show_status(&event->halt);
        else
            render_text_event(stdout, cli_want_colour(stdout), event);
        return 0;
    }
    char *line = event_to_json_line(event);
    if (!line) {
        struct diag d = DIAG_INIT;
        diag_set(&d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return cli_fail(cli, &d);
    }
    puts(line);
    free(line);
    return 0;
}

static int perform(const struct cli *cli, const struct request *r)
{
    struct diag d = DIAG_INIT;
    struct request request = *r;
    struct config *config = NULL;
    struct session *s = NULL;
    struct event_bus *bus = event_bus_new();
    struct event event;
    bool done = false;
    int exit_code = 0;
    enum corral_err err =
        bus ? cli_load_config(cli, &config, &d) : diag_set(&d, CORRAL_ERR_NO_MEMORY, "out of memory");
    if (!err) {
        /* corral.yml speaks of the group: one core alone has nobody to follow it */
        if (!request.sync_set && config && config->sync_set)
            request.sync = config->sync && request.name_count != 1;
        struct session_options how = {.link = cli->link,
                                      .clock_hz = cli->clock_hz,
                                      .wire = cli->wire,
                                      .config = config,
                                      .core_names = request.names,
                                      .core_name_count = request.name_count,
                                      .timeout_ns = cli->timeout_ns,
                                      .bus = bus};
        s = session_open(&how, &d);
        err = s ? act(s, &request, &event, &done, &d) : d.code;
    }
    if (done)
        exit_code = show(cli, request.action, &event);
    if (err)
        exit_code = cli_fail(cli, &d);
    session_close(s);
    event_bus_free(bus, NULL);
    config_free(config);
    return exit_code;
}

static int run_action(const struct cli *cli, const struct cli_command *command, int argc, char **argv,
                      enum action action)
{
    struct cli local = *cli;
    struct request r = {.action = action};
    int exit_code = 0, c;
    while ((c = cli_getopt(&local, command, argc, argv, options, &exit_code)) != -1) {
        switch (c) {
        case CLI_DONE:
            return exit_code;
        case OPT_CORE:
            if (r.name_count >= EVENT_MAX_CORES)
                return cli_usage(&local, command, "%s: at most %d cores can be named", command->name,
                                 EVENT_MAX_CORES);
            r.names[r.name_count++] = optarg;
            break;
        case OPT_SYNC:
        case OPT_NO_SYNC:
            r.sync = c == OPT_SYNC;
            r.sync_set = true;
            break;
        case OPT_JSON:
            local.json = true;
            break;
        default: /* --leave-halted: these commands leave the cores as they put them in any case */
            break;
        }
    }
    if (optind < argc)
        return cli_usage(&local, command, "%s: '%s' is one word too many", command->name, argv[optind]);

    return perform(&local, &r);
}

static int run_status(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    return run_action(cli, command, argc, argv, ACTION_STATUS);
}

static int run_halt(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    return run_action(cli, command, argc, argv, ACTION_HALT);
}

static int run_run(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    return run_action(cli, command, argc, argv, ACTION_RUN);
}

const struct cli_command cmd_status = {
    .name = "status",
    .summary = "show whether each core runs, and why it does not",
    .help = "Usage: corral [--link LINK] [--json] status [--core NAME]...\n"
            "\n"
            "Reads every core's state without changing it. With --link sim each invocation is a new board.\n"
            "\n"
            "  --core NAME  only this core (core0, core1, ...); may be given several times\n"
            "\n"
            "Example: corral --link sim status\n",
    .run = run_status,
};

const struct cli_command cmd_halt = {
    .name = "halt",
    .summary = "halt the cores together",
    .help =
        "Usage: corral [--link LINK] [--json] halt [--core NAME]... [--sync | --no-sync] [--leave-halted]\n"
        "\n"
        "Halts the cores and tells which one stopped first, and why each did. The cores stay halted. With\n"
        "--link sim each invocation is a new board: a halted one is gone when the command ends.\n"
        "\n"
        "  --core NAME     only this core; may be given several times\n"
        "  --sync          through cross triggers: one request, the others follow in hardware\n"
        "  --no-sync       one after the other (default); no cross trigger register is written\n"
        "  --leave-halted  accepted; halt always does\n"
        "\n"
        "Example: corral --link sim --json halt --sync\n",
    .run = run_halt,
};

const struct cli_command cmd_run = {
    .name = "run",
    .summary = "start the cores together",
    .help =
        "Usage: corral [--link LINK] [--json] run [--core NAME]... [--sync | --no-sync]\n"
        "\n"
        "Starts every core that is halted, and proves for each that it left debug state. Cores that run are\n"
        "left alone. With --link sim each invocation is a new board, on which nothing is halted.\n"
        "\n"
        "  --core NAME  only this core; may be given several times\n"
        "  --sync       through cross triggers: one pulse starts them all\n"
        "  --no-sync    one after the other (default); no cross trigger register is written\n"
        "\n"
        "Example: corral --link sim run --sync\n",
    .run = run_run,
};
