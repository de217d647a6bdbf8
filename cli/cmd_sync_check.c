/* SPDX-License-Identifier: Apache-2.0 */
/* corral sync-check: what cross triggering can do on the target (INTERFACE.md "Commands"). */
#include <stdlib.h>

#include "cli/render_sync_check.h"
#include "cli/run_request.h"
#include "cli/view_session.h"
#include "session/sync_check.h"

enum { OPT_ROUNDS = 256 };

static const struct option options[] = {
    {"rounds", required_argument, NULL, OPT_ROUNDS},
    PACK_OPTIONS,
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static enum corral_err act(const struct cli *cli, struct view_session *v, unsigned rounds,
                           struct session_sync_check *check, struct diag *d)
{
    if (v->view.by_ap)
        return diag_set(d, CORRAL_ERR_NO_CORE, "this link reaches memory only: there is no core");
    enum corral_err err = session_repair(v->s, NULL, d);
    if (!err)
        err = session_sync_check(v->s, rounds, cli_stop_flag(), check, d);
    run_tell_remarks(cli, v->s);
    if (err)
        return err;
    if (cli->json)
        err = render_sync_check_json(check, d);
    else
        render_sync_check_text(check);
    if (!err && !check->left_as_found)
        err = diag_set(d, CORRAL_ERR_FAILED, "the target is not as it was found: %s", check->difference);
    return err;
}

static int run_sync_check(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct view_request request = {0};
    uint64_t rounds = 20;
    int exit_code = 0;
    for (int c; (c = cli_getopt(cli, command, argc, argv, options, &exit_code)) != -1;) {
        if (c == CLI_DONE)
            return exit_code;
        if (pack_options_take(c, &request.pack))
            continue;
        if (!cli_parse_u64(cli, command, "--rounds", optarg, 0, SYNC_CHECK_ROUNDS_MOST, &rounds))
            return 2;
    }
    if (optind < argc)
        return cli_usage(cli, command, "sync-check: '%s' is one word too many", argv[optind]);
    if (!pack_options_check(cli, command, &request.pack))
        return 2;
    struct diag d = DIAG_INIT, late = DIAG_INIT;
    struct view_session v;
    struct session_sync_check *check = calloc(1, sizeof(*check));
    if (!check) {
        diag_set(&d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return cli_fail(cli, &d);
    }
    enum corral_err err = view_open(cli, &request, &v, &d);
    if (!err)
        err = act(cli, &v, (unsigned)rounds, check, &d);
    enum corral_err closing = view_close(&v, false, &late);
    free(check);
    if (!err && closing)
        d = late;
    return err || closing ? cli_fail(cli, &d) : 0;
}

const struct cli_command cmd_sync_check = {
    .name = "sync-check",
    .summary = "what cross triggering can do on this target, with proof",
    .help =
        "Usage: corral [--link LINK] [--json] sync-check [--rounds N]\n"
        "                   [--pack FILE [--device D] | --cbuild-run FILE]\n"
        "\n"
        "Looks at every core and its cross trigger interface, and tries them: which share channels, whether\n"
        "HALTED is a pulse or a level, whether each core can be started by its restart output. Then it\n"
        "measures how far apart the cores halt and start, with and without cross triggers, by their cycle\n"
        "counters, and says of each feature whether it works here and why not. The cores are halted for\n"
        "some milliseconds, several times; the target is left as it was found. Where a pack has debug\n"
        "sequences for it, they are what is tried.\n"
        "\n"
        "  --rounds N      rounds of run and halt each way (default 20, 0 = none)\n" PACK_OPTIONS_HELP "\n"
        "Example: corral --link sim sync-check\n",
    .run = run_sync_check,
};
