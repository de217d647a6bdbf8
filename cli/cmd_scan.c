/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral scan: access ports, ROM tables, components, cores and each core's CTI (INTERFACE.md "scan"). Reads
 * only, but for power requests. Finding things out is src/coresight's, drawing is render_scan.c's.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/render_scan.h"
#include "coresight/rom_table.h"
#include "session/config.h"
#include "session/session.h"
#include "session/target_hints.h"

enum { OPT_JSON = 256 };

static const struct option options[] = {
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct scanning {
    enum connect_mode mode;
    const struct cs_hints *hints;
    char note[CONNECT_NOTE];
    struct cs_topology *topology;
};

/* A list that the time-out cut short is no answer. */
static enum corral_err do_scan(struct link *link, void *ctx, struct diag *d)
{
    struct scanning *s = ctx;
    enum corral_err err = connect_target(link, s->mode, s->hints, s->note, d);
    if (err != CORRAL_OK)
        return err;
    s->topology = cs_scan(link, s->hints, d);
    if (s->topology && !link_deadline_passed(link))
        return CORRAL_OK;
    cs_topology_free(s->topology);
    s->topology = NULL;
    return link_deadline_passed(link) ? CORRAL_ERR_TIMEOUT : d->code;
}

/* Cores are found, not believed: what corral.yml and its SDF say of access ports and CTIs is verified. */
static struct cs_topology *scan_link(const struct cli *cli, struct diag *d)
{
    struct cs_topology *t = NULL;
    struct config *config;
    if (cli_load_config(cli, &config, d) != CORRAL_OK)
        return NULL;
    struct host_clock *clock = NULL;
    const char *words = session_link_words(cli->link, config);
    struct link *link =
        session_open_wire(words, cli->clock_hz, &cli->wire, cli->timeout_ns, config, &clock, d);
    struct target_hints *hints = link ? target_hints_new(config, NULL, d) : NULL;
    struct scanning scanning = {.mode = session_connect_mode(words, &cli->wire, config),
                                .hints = hints ? target_hints_get(hints) : NULL};
    if (hints && cli->timeout_ns > 0)
        session_bounded(link, do_scan, &scanning, cli->timeout_ns, d);
    else if (hints)
        do_scan(link, &scanning, d);
    t = scanning.topology;
    struct diag why = DIAG_INIT;
    if (scanning.note[0])
        cli->wire.note(cli->wire.ctx, scanning.note);
    if (link && link_wire_log_stopped(link, &why))
        cli->wire.note(cli->wire.ctx, why.message);
    target_hints_free(hints);
    link_close(link);
    host_clock_free(clock);
    config_free(config);
    return t;
}

static int run_scan(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct cli local = *cli;
    int exit_code = 0, c;
    while ((c = cli_getopt(&local, command, argc, argv, options, &exit_code)) != -1) {
        if (c == CLI_DONE)
            return exit_code;
        local.json = true;
    }
    if (optind < argc)
        return cli_usage(&local, command, "scan: '%s' is one word too many", argv[optind]);

    struct diag d = DIAG_INIT;
    struct cs_topology *t = scan_link(&local, &d);
    if (!t)
        return cli_fail(&local, &d);
    if (local.json) {
        char *text = render_scan_json(t);
        if (text)
            puts(text);
        else
            exit_code = cli_fail(&local, &(struct diag){CORRAL_ERR_NO_MEMORY, "out of memory", "", ""});
        free(text);
    } else {
        render_scan_tree(stdout, cli_want_colour(stdout), t);
    }
    cs_topology_free(t);
    return exit_code;
}

const struct cli_command cmd_scan = {
    .name = "scan",
    .summary = "list access ports, components, cores and their cross triggers",
    .help = "Usage: corral [--link LINK] [--json] scan\n"
            "\n"
            "Powers the debug port up and walks all ROM tables. Shows every access port with its components, "
            "and\n"
            "every core with its CTI. What cannot be read is listed with the reason. Nothing is halted.\n"
            "What corral.yml says of access ports and CTIs (aps, patches, sdf, a core's cti) is tried, and "
            "refused\n"
            "where the registers there say otherwise.\n"
            "\n"
            "Example: corral --link sim scan\n",
    .run = run_scan,
};
