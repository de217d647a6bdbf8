/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral cti: the cross trigger interfaces in the user's own hands (INTERFACE.md "Commands"). Without it
 * nothing but run control with --sync writes a CTI. What is refused, and why, is cti_driver.h's.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render_cti.h"
#include "cli/view_session.h"
#include "session/cti_control.h"

enum { OPT_ADDRESS = 256, OPT_FORCE };

static const struct option options[] = {
    VIEW_OPTIONS,
    {"address", required_argument, NULL, OPT_ADDRESS},
    {"force", no_argument, NULL, OPT_FORCE},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct request {
    struct view_request view;
    bool address_set, show;
    uint64_t address;
    struct session_cti_change change;
};

/* All cores' CTIs, or the one that was named. A core without one is told, and is no failure among others. */
static enum corral_err show(const struct cli *cli, const struct request *r, struct view_session *v,
                            struct diag *d)
{
    size_t count = r->address_set ? 1 : session_core_count(v->s), shown = 0;
    struct session_cti_view *views = calloc(count ? count : 1, sizeof(*views));
    struct diag why = DIAG_INIT;
    bool untold = false; /* `why` of a core without one: the last becomes the error where none has */
    enum corral_err err = views ? CORRAL_OK : diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < count && !err; i++) {
        struct session_cti which = {
            .by_address = r->address_set, .ap = r->view.ap, .address = r->address, .core = i};
        struct diag new_why = DIAG_INIT;
        enum corral_err one = session_show_cti(v->s, &which, &views[shown], &new_why);
        if (!one) {
            shown++;
            continue;
        }
        if (untold)
            cli_warn(cli, NULL, why.message);
        why = new_why;
        untold = one == CORRAL_ERR_NO_CROSS_TRIGGER;
        if (!untold)
            err = one;
    }
    if (untold && shown)
        cli_warn(cli, NULL, why.message);
    if (err && d->code == CORRAL_OK)
        *d = why;
    if (!err && shown == 0) {
        *d = why;
        err = why.code ? why.code : diag_set(d, CORRAL_ERR_NO_CROSS_TRIGGER, "there is no CTI");
    }
    if (!err)
        err = render_ctis(cli->json, views, shown, d);
    free(views);
    return err;
}

static enum corral_err act(const struct cli *cli, const struct request *r, struct view_session *v,
                           struct diag *d)
{
    if (r->show)
        return show(cli, r, v, d);
    struct session_cti which = {
        .by_address = r->address_set, .ap = r->view.ap, .address = r->address, .core = v->view.core};
    if (!r->address_set && v->view.by_ap)
        return diag_set(d, CORRAL_ERR_NO_CORE,
                        "this link reaches memory only: --ap and --address name a CTI");
    enum corral_err err = session_change_cti(v->s, &which, &r->change, d);
    struct session_cti_view after;
    if (!err)
        err = session_show_cti(v->s, &which, &after, d);
    return err ? err : render_ctis(cli->json, &after, 1, d);
}

static int perform(const struct cli *cli, const struct request *r)
{
    struct diag d = DIAG_INIT, late = DIAG_INIT;
    struct view_session v;
    enum corral_err err = view_open(cli, &r->view, &v, &d);
    if (!err)
        err = act(cli, r, &v, &d);
    enum corral_err closing = view_close(&v, false, &late);
    if (!err && closing)
        d = late;
    return err || closing ? cli_fail(cli, &d) : 0;
}

static bool is_number(const char *word)
{
    return isdigit((unsigned char)word[0]) != 0;
}

static bool take_channel(const struct cli *cli, const struct cli_command *command, const char *word,
                         struct request *r)
{
    uint64_t channel;
    if (!cli_parse_u64(cli, command, "CHANNEL", word, 0, 31, &channel))
        return false;
    r->change.channel = (unsigned)channel;
    return true;
}

/* Which side a trigger is on follows from the order: an input drives a channel, a channel an output. */
static bool take_words(const struct cli *cli, const struct cli_command *command, int argc, char **argv,
                       struct request *r)
{
    const char *verb = argc > 0 ? argv[0] : "";
    int wanted = 3;
    if (strcmp(verb, "show") == 0) {
        r->show = true;
        wanted = 1;
    } else if (strcmp(verb, "pulse") == 0) {
        r->change.action = CTI_ACTION_PULSE;
        wanted = 2;
    } else if (strcmp(verb, "connect") == 0 || strcmp(verb, "disconnect") == 0) {
        r->change.action = verb[0] == 'c' ? CTI_ACTION_CONNECT : CTI_ACTION_DISCONNECT;
    } else {
        cli_usage(cli, command,
                  argc > 0 ? "cti: '%s' is none of show, connect, disconnect and pulse"
                           : "cti: show, connect, disconnect or pulse?%s",
                  verb);
        return false;
    }
    if (argc != wanted) {
        cli_usage(cli, command, "cti %s: %s", verb,
                  argc > wanted ? "too many words"
                  : wanted == 2 ? "which channel?"
                                : "a trigger and a channel are wanted");
        return false;
    }
    if (wanted == 1)
        return true;
    if (wanted == 2)
        return take_channel(cli, command, argv[1], r);
    if (is_number(argv[1]) == is_number(argv[2])) {
        cli_usage(cli, command, "cti %s: a trigger's name and a channel's number, in the order of the signal",
                  verb);
        return false;
    }
    bool input = is_number(argv[2]);
    r->change.side = input ? CTI_SIDE_IN : CTI_SIDE_OUT;
    r->change.trigger = argv[input ? 1 : 2];
    return take_channel(cli, command, argv[input ? 2 : 1], r);
}

static int run_cti(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct request r = {0};
    int exit_code = 0;
    for (int c; (c = cli_getopt(cli, command, argc, argv, options, &exit_code)) != -1;) {
        if (c == CLI_DONE)
            return exit_code;
        if (c == OPT_FORCE) {
            r.change.force = true;
        } else if (c == OPT_ADDRESS) {
            r.address_set = true;
            if (!cli_parse_u64(cli, command, "--address", optarg, 0, UINT64_MAX, &r.address))
                return 2;
        } else if (!view_take(cli, command, c, &r.view)) {
            return 2;
        }
    }
    if (r.view.ap_set != r.address_set)
        return cli_usage(cli, command, "cti: --ap and --address belong together");
    if (r.address & 0xFFF)
        return cli_usage(cli, command, "--address: a CTI begins at a multiple of 4096 (0x1000)");
    if (!take_words(cli, command, argc - optind, argv + optind, &r))
        return 2;
    return perform(cli, &r);
}

const struct cli_command cmd_cti = {
    .name = "cti",
    .summary = "cross trigger interfaces by hand: your own channels",
    .help =
        "Usage: corral [--link LINK] [--json] cti show [--core NAME | --ap N --address A]\n"
        "       corral ... cti connect|disconnect [--core NAME | --ap N --address A] [--force] FROM TO\n"
        "       corral ... cti pulse [--core NAME | --ap N --address A] [--force] CHANNEL\n"
        "\n"
        "show        every register of each core's CTI: which triggers drive and follow which channels\n"
        "connect     a trigger input to a channel, or a channel to a trigger output, in that order: 'dwt0\n"
        "            2', '2 etm0'. A connection stays until it is taken away; the CTI is switched on for it\n"
        "disconnect  takes it away\n"
        "pulse       gives one event on a channel\n"
        "\n"
        "Triggers have the names that 'show' lists (halted, dwt0, etm1, debug-request, restart, irq0), or\n"
        "in0 ..., out0 ... A channel is a number. What halts or restarts the core is refused, as is a\n"
        "channel that does.\n"
        "\n"
        "  --core NAME   this core's CTI (default: show all, else the first core's)\n"
        "  --ap N --address A  any CTI behind access port N, for example the one of the trace port\n"
        "  --force       do it all the same\n"
        "\n"
        "Example: corral --link sim cti show\n",
    .run = run_cti,
};
