/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run control from the command line (run_request.h). Every command attaches, names and repairs what a dead
 * tool left, does its one thing, and leaves the target: CTIs as they were found, cores as the command says.
 * What fails or is interrupted is undone.
 */
#include "cli/run_request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/pack_options.h"
#include "cli/view_session.h"
#include "event/event_json.h"
#include "link/link.h"
#include "session/config.h"
#include "session/run_control.h"

enum { OPT_CORE = 256, OPT_SYNC, OPT_NO_SYNC, OPT_LEAVE_HALTED, OPT_HALT };

#define STEPS_MOST 1000000

struct request {
    enum run_action action;
    const char *names[EVENT_MAX_CORES]; /* --core */
    size_t name_count;
    bool sync, sync_set, leave_halted;
    bool halt;      /* reset */
    uint64_t steps; /* step */
    struct pack_options pack;
};

void run_tell_remarks(const struct cli *cli, struct session *s)
{
    struct group_remark *list = calloc(GROUP_REMARKS_MAX, sizeof(*list));
    size_t count = list ? session_take_remarks(s, list, GROUP_REMARKS_MAX) : 0;
    for (size_t i = 0; i < count; i++)
        cli_warn(cli, list[i].core, list[i].text);
    free(list);
}

void run_tell_silent_ports(const struct cli *cli, const struct session *s)
{
    uint32_t ap;
    const char *why;
    for (size_t i = 0; session_silent_port(s, i, &ap, &why); i++) {
        char number[LINK_AP_NAME_MAX], text[sizeof(((struct diag *)0)->message)];
        snprintf(text, sizeof(text), "AP %s does not answer, a core behind it is not seen: %s",
                 link_ap_name(ap, number), why);
        cli_warn(cli, NULL, text);
    }
}

/* Step and reset of one core alone: with --sync the session has all of them. */
static enum corral_err core_meant(const struct session *s, const struct request *r, size_t *core,
                                  struct diag *d)
{
    *core = 0;
    for (size_t i = 0; r->name_count && i < session_core_count(s); i++)
        if (strcmp(session_core_name(s, i), r->names[0]) == 0) {
            *core = i;
            return CORRAL_OK;
        }
    if (r->name_count)
        return diag_set(d, CORRAL_ERR_USAGE, "there is no core '%s'", r->names[0]);
    return CORRAL_OK;
}

static enum corral_err act(struct session *s, const struct request *r, struct event *event, struct diag *d)
{
    size_t core;
    enum corral_err err = core_meant(s, r, &core, d);
    if (err)
        return err;
    struct group_reset reset = {
        .how = r->name_count ? CORE_RESET_CORE : CORE_RESET_SYSTEM, .halt = r->halt, .core = core};
    switch (r->action) {
    case RUN_STATUS:
        return session_status(s, event, d);
    case RUN_HALT:
        return session_halt(s, 0, event, d);
    case RUN_RUN:
        return session_run(s, 0, event, d);
    case RUN_STEP:
        return session_step(s, core, (unsigned)r->steps, event, d);
    default:
        return session_reset(s, &reset, event, d);
    }
}

/* *done tells whether there is an event to show, also when the command failed. */
static enum corral_err attach_and_act(const struct cli *cli, struct session *s, const struct request *r,
                                      struct event *event, bool *done, struct diag *d)
{
    enum corral_err err = session_connect(s, d);
    if (!err && !r->name_count)
        run_tell_silent_ports(cli, s);
    if (!err && session_core_count(s) == 0)
        err = diag_set(d, CORRAL_ERR_NO_CORE, "this link reaches memory only: there is no core");
    if (!err)
        err = session_repair(s, NULL, d);
    if (!err)
        err = cli_warm_up(s, d);
    if (!err && r->sync && r->action != RUN_STATUS)
        err = session_set_sync(s, true, d);
    if (!err) {
        err = act(s, r, event, d);
        *done = err != CORRAL_ERR_USAGE && err != CORRAL_ERR_CORE_STATE && err != CORRAL_ERR_UNSUPPORTED;
    }
    if (session_core_count(s))
        run_tell_remarks(cli, s);
    if (!err && atomic_load(cli_stop_flag())) {
        *done = false; /* it is undone */
        err = diag_set(d, CORRAL_ERR_INTERRUPTED, "interrupted: the target is left as it was found");
    }
    return err;
}

/* A state is no event: one line a core, with what the state means. */
static void show_status(struct session *s, const struct event_halt *h)
{
    for (size_t i = 0; i < h->core_count; i++) {
        const struct event_core *c = &h->cores[i];
        struct core_status status = {0};
        printf("%-8s %s", c->name, core_state_name(c->state));
        if (c->pc_known)
            printf(" at 0x%08" PRIx32, c->pc);
        if (c->reason != HALT_REASON_NONE)
            printf(", %s", halt_reason_name(c->reason));
        if (c->state != CORE_HALTED && session_core_status(s, i, &status, NULL) == CORRAL_OK) {
            const char *why = core_why_text(status.why);
            printf("%s%s%s", why[0] ? ": " : "", why, status.asleep ? ", asleep" : "");
        }
        putchar('\n');
    }
}

/* Cores that run after a reset were not started by us: the event's line would say so. */
static void show_reset(const struct event_halt *h)
{
    fputs("reset:", stdout);
    for (size_t i = 0; i < h->core_count; i++)
        printf("%s %s %s", i ? ";" : "", h->cores[i].name, core_state_name(h->cores[i].state));
    putchar('\n');
}

static int show(const struct cli *cli, struct session *s, enum run_action action, const struct event *event)
{
    if (!cli->json) {
        if (action == RUN_STATUS)
            show_status(s, &event->halt);
        else if (action == RUN_RESET && event->kind == EVENT_RUN)
            show_reset(&event->halt);
        else
            render_text_event(stdout, cli_want_colour(stdout), event);
        return 0;
    }
    char *line = event_to_json_line(event);
    if (!line)
        return cli_fail(cli, &(struct diag){CORRAL_ERR_NO_MEMORY, "out of memory", "", ""});
    puts(line);
    free(line);
    return 0;
}

/* What the command is for stays when it succeeded; else the cores are as they were found. */
static bool stays_halted(const struct request *r, bool ok)
{
    if (!ok)
        return r->leave_halted;
    return r->leave_halted || r->action == RUN_HALT || r->action == RUN_STEP ||
           (r->action == RUN_RESET && r->halt);
}

static int perform_in(const struct cli *cli, const struct request *r, struct session *s, struct diag *d)
{
    struct event event = event_make(EVENT_HALT, "group"); /* of no core, until there is one */
    struct diag late = DIAG_INIT;
    bool done = false;
    int exit_code = 0;
    enum corral_err err = attach_and_act(cli, s, r, &event, &done, d);
    if (done)
        exit_code = show(cli, s, r->action, &event);
    enum corral_err leaving = session_detach(s, stays_halted(r, !err), &late);
    if (session_core_count(s))
        run_tell_remarks(cli, s);
    if (leaving && (!err || err == CORRAL_ERR_INTERRUPTED)) {
        diag_prefix(&late, "the target could not be left as it was found");
        *d = late;
        err = leaving;
    }
    return err ? cli_fail(cli, d) : exit_code;
}

static int perform(const struct cli *cli, const struct request *r)
{
    struct diag d = DIAG_INIT;
    struct request request = *r;
    struct config *config = NULL;
    struct pack_target target = {0};
    struct session *s = NULL;
    int exit_code;
    cli_stop_flag(); /* from here on there is something to put back */
    struct event_bus *bus = event_bus_new();
    enum corral_err err =
        bus ? cli_load_config(cli, &config, &d) : diag_set(&d, CORRAL_ERR_NO_MEMORY, "out of memory");
    if (!err)
        err = pack_options_open(cli, &r->pack, config, &target, &d);
    if (!err) {
        /* corral.yml and packs speak of the group: one core alone has nobody to follow it */
        bool single = r->action == RUN_STEP || r->action == RUN_RESET;
        if (!request.sync_set)
            request.sync =
                pack_options_sync(&target, config, false, false) && request.name_count != 1 && !single;
        struct session_options how = cli_session_options(cli, config, bus);
        pack_options_apply(&target, request.sync && r->action != RUN_STATUS, &how);
        how.core_names = request.names;
        how.core_name_count = single && request.sync ? 0 : request.name_count;
        s = session_open(&how, &d);
    }
    exit_code = s ? perform_in(cli, &request, s, &d) : cli_fail(cli, &d);
    session_close(s);
    event_bus_free(bus, NULL);
    pack_target_close(&target);
    config_free(config);
    return exit_code;
}

static bool take(const struct cli *cli, const struct cli_command *command, int c, struct request *r)
{
    bool single = r->action == RUN_STEP || r->action == RUN_RESET;
    if (pack_options_take(c, &r->pack))
        return true;
    switch (c) {
    case OPT_CORE:
        if (r->name_count < (single ? 1 : EVENT_MAX_CORES)) {
            r->names[r->name_count++] = optarg;
            return true;
        }
        if (single)
            cli_usage(cli, command, "%s: one core at most can be named", command->name);
        else
            cli_usage(cli, command, "%s: at most %d cores can be named", command->name, EVENT_MAX_CORES);
        return false;
    case OPT_SYNC:
    case OPT_NO_SYNC:
        r->sync = c == OPT_SYNC;
        r->sync_set = true;
        return true;
    case OPT_LEAVE_HALTED:
        r->leave_halted = true;
        return true;
    default: /* --halt */
        r->halt = true;
        return true;
    }
}

int run_request(const struct cli *cli, const struct cli_command *command, int argc, char **argv,
                enum run_action action)
{
    static const struct option status_options[] = {
        PACK_OPTIONS,
        {"core", required_argument, NULL, OPT_CORE},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    static const struct option options[] = {
        PACK_OPTIONS,
        {"core", required_argument, NULL, OPT_CORE},
        {"sync", no_argument, NULL, OPT_SYNC},
        {"no-sync", no_argument, NULL, OPT_NO_SYNC},
        {"leave-halted", no_argument, NULL, OPT_LEAVE_HALTED},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    static const struct option reset_options[] = {
        PACK_OPTIONS,
        {"core", required_argument, NULL, OPT_CORE},
        {"sync", no_argument, NULL, OPT_SYNC},
        {"no-sync", no_argument, NULL, OPT_NO_SYNC},
        {"leave-halted", no_argument, NULL, OPT_LEAVE_HALTED},
        {"halt", no_argument, NULL, OPT_HALT},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const struct option *list = action == RUN_STATUS  ? status_options
                                : action == RUN_RESET ? reset_options
                                                      : options;
    struct request r = {.action = action, .steps = 1};
    int exit_code = 0;
    for (int c; (c = cli_getopt(cli, command, argc, argv, list, &exit_code)) != -1;) {
        if (c == CLI_DONE)
            return exit_code;
        if (!take(cli, command, c, &r))
            return 2;
    }
    if (!pack_options_check(cli, command, &r.pack))
        return 2;
    if (action == RUN_STEP && optind < argc &&
        !cli_parse_u64(cli, command, "N", argv[optind++], 1, STEPS_MOST, &r.steps))
        return 2;
    if (optind < argc)
        return cli_usage(cli, command, "%s: '%s' is one word too many", command->name, argv[optind]);
    return perform(cli, &r);
}
