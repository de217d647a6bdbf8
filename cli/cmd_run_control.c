/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral status, halt and run: one look at the cores, or one command to all of them together (INTERFACE.md
 * "Commands"). With --sync through cross triggers; without it not one CTI register is written.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "coresight/rom_table.h"
#include "event/event_json.h"
#include "group/group.h"
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
    bool sync;
};

struct target {
    struct host_clock *clock;
    struct link *link;
    struct core *cores[EVENT_MAX_CORES];
    size_t count;
    struct group *group;
};

static void close_target(struct target *t)
{
    group_free(t->group);
    for (size_t i = 0; i < t->count; i++)
        core_close(t->cores[i]);
    link_close(t->link);
    host_clock_free(t->clock);
}

static enum corral_err open_core(struct target *t, const struct cs_core *found, struct diag *d)
{
    struct cti *cti = NULL;
    if (!found->cortex_m)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "%s is a %s, which cannot be controlled yet", found->name,
                        found->type);
    /* A CTI that cannot be used is a reason not to synchronise, not a reason to do nothing. */
    if (found->has_cti)
        cti = cti_open(t->link, found->cti.ap, found->cti.address, found->cti.restart_output, NULL);
    struct core *core = core_cortex_m_open(t->link, found->ap, found->name, 0, cti, d);
    if (!core) {
        cti_close(cti);
        return d->code;
    }
    t->cores[t->count++] = core;
    return CORRAL_OK;
}

static const struct cs_core *find_core(const struct cs_topology *topology, const char *name)
{
    for (size_t i = 0; i < topology->core_count; i++)
        if (strcmp(topology->cores[i].name, name) == 0)
            return &topology->cores[i];
    return NULL;
}

static bool is_wanted(const struct request *r, const struct cs_core *core)
{
    for (size_t i = 0; i < r->name_count; i++)
        if (strcmp(r->names[i], core->name) == 0)
            return true;
    return r->name_count == 0;
}

static enum corral_err open_cores(struct target *t, const struct request *r,
                                  const struct cs_topology *topology, struct diag *d)
{
    for (size_t i = 0; i < r->name_count; i++)
        if (!find_core(topology, r->names[i])) {
            diag_set(d, CORRAL_ERR_USAGE, "there is no core '%s'", r->names[i]);
            if (topology->core_count)
                diag_hint(d, "the cores are %s to %s; see 'corral scan'", topology->cores[0].name,
                          topology->cores[topology->core_count - 1].name);
            return CORRAL_ERR_USAGE;
        }
    for (size_t i = 0; i < topology->core_count && t->count < EVENT_MAX_CORES; i++) {
        enum corral_err err = CORRAL_OK;
        if (is_wanted(r, &topology->cores[i]))
            err = open_core(t, &topology->cores[i], d);
        if (err)
            return err;
    }
    return t->count ? CORRAL_OK
                    : diag_set(d, CORRAL_ERR_NO_CORE, "no core was found on link '%s'", link_name(t->link));
}

static enum corral_err open_target(struct target *t, const struct request *r, const char *spec,
                                   struct diag *d)
{
    t->link = session_open_link(spec, &t->clock, d);
    if (!t->link)
        return d->code;
    if (host_clock_is_virtual(t->clock))
        host_clock_sleep(t->clock, WARM_UP_NS);
    struct cs_topology *topology = cs_scan(t->link, d);
    if (!topology)
        return d->code;
    enum corral_err err = open_cores(t, r, topology, d);
    cs_topology_free(topology);
    if (err)
        return err;
    t->group = group_new(t->cores, t->count, NULL, "group");
    return t->group ? CORRAL_OK : diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
}

/* *done tells whether there is an event to show, also when the command failed. */
static enum corral_err act(struct target *t, const struct request *r, struct event *event, bool *done,
                           struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    if (r->sync && r->action != ACTION_STATUS)
        err = group_enable_sync(t->group, d);
    if (err)
        return err;
    *done = true;
    if (r->action == ACTION_STATUS)
        return group_status(t->group, event, d);
    err = r->action == ACTION_HALT ? group_halt(t->group, 0, event, d) : group_run(t->group, 0, event, d);
    struct diag why = DIAG_INIT;
    enum corral_err off = group_disable_sync(t->group, &why);
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

    struct diag d = DIAG_INIT;
    struct target target = {0};
    struct event event;
    bool done = false;
    enum corral_err err = open_target(&target, &r, local.link ? local.link : "sim", &d);
    if (!err)
        err = act(&target, &r, &event, &done, &d);
    if (done)
        exit_code = show(&local, action, &event);
    if (err)
        exit_code = cli_fail(&local, &d);
    close_target(&target);
    return exit_code;
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
        "Halts the cores and tells which one stopped first, and why each did. The cores stay halted.\n"
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
        "left alone.\n"
        "\n"
        "  --core NAME  only this core; may be given several times\n"
        "  --sync       through cross triggers: one pulse starts them all\n"
        "  --no-sync    one after the other (default); no cross trigger register is written\n"
        "\n"
        "Example: corral --link sim run --sync\n",
    .run = run_run,
};
