/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `corral demo`: the whole story on the virtual board. Logs, profile, and rounds of run and halt without and
 * with cross triggers; says what it does as it does it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/demo.h"
#include "cli/view_session.h"
#include "export/export_sinks.h"
#include "session/config.h"

#define DEMO_ROUND_NS (1 * NS_PER_MS)
#define SETTLE_NS     (5 * NS_PER_MS)

/* --- what goes to the screen ---------------------------------------------------------------------------- */

/* Counts log records by source for the summary, and in text mode lets through what a person wants to follow:
 * halts and packets are summed up in the tables instead. */
struct demo_screen {
    struct demo_result *result;
    FILE *out; /* NULL = count only */
    bool colour;
};

static enum corral_err screen_write(void *ctx, const struct event *event, struct diag *d)
{
    struct demo_screen *screen = ctx;
    (void)d;
    if (event->kind == EVENT_LOG)
        screen->result->logs[event->log.source < 2 ? event->log.source : 2]++;
    bool shown = event->kind != EVENT_PROFILE && event->kind != EVENT_HALT && event->kind != EVENT_RUN &&
                 event->kind != EVENT_CLOCK;
    if (screen->out && shown)
        render_text_event(screen->out, screen->colour, event);
    return CORRAL_OK;
}

static enum corral_err screen_close(void *ctx, struct diag *d)
{
    (void)d;
    free(ctx);
    return CORRAL_OK;
}

static const struct sink_ops screen_ops = {.name = "screen", .write = screen_write, .close = screen_close};

static enum corral_err attach_screen(const struct cli *cli, struct event_bus *bus, struct demo_result *r,
                                     struct diag *d)
{
    struct demo_screen *screen = calloc(1, sizeof(*screen));
    struct sink *sink = screen ? sink_new(&screen_ops, screen, SINK_QUEUE_DEFAULT) : NULL;
    if (!sink) {
        free(screen);
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    }
    screen->result = r;
    screen->out = cli->json || cli->quiet ? NULL : stdout;
    screen->colour = cli_want_colour(stdout);
    enum corral_err err = cli_attach_sink(bus, sink, d);
    if (err != CORRAL_OK || !cli->json)
        return err;
    return cli_attach_sink(bus, export_jsonl_stream(stdout), d);
}

static void say(const struct cli *cli, const char *what)
{
    if (!cli->json && !cli->quiet) {
        puts(what);
        fflush(stdout);
    }
}

/* --- the story ------------------------------------------------------------------------------------------ */

/* Without cross triggers: one core after the other. */
static enum corral_err play_software(const struct cli *cli, const struct demo_options *o, struct session *s,
                                     struct demo_result *r, struct diag *d)
{
    say(cli, "\n== Run and halt, one core after the other (no cross triggers)");
    enum corral_err err = session_halt(s, 0, NULL, d);
    if (err == CORRAL_OK)
        err = session_measure_rounds(s, o->rounds, DEMO_ROUND_NS, cli_stop_flag(), &r->software, d);
    return err == CORRAL_OK ? session_run(s, 0, NULL, d) : err;
}

/* With cross triggers. Before the rounds the cores are run and halted together once, so that a question left
 * over from the software halt is not counted here. */
static enum corral_err play_cti(const struct cli *cli, const struct demo_options *o, struct session *s,
                                struct demo_result *r, struct diag *d)
{
    say(cli, "\n== Run and halt through the cross triggers");
    enum corral_err err = session_halt(s, 0, NULL, d);
    if (err == CORRAL_OK)
        err = session_set_sync(s, true, d);
    if (err == CORRAL_OK)
        err = session_run(s, 0, NULL, d);
    if (err == CORRAL_OK)
        err = session_run_for(s, SETTLE_NS, cli_stop_flag(), d);
    if (err == CORRAL_OK)
        err = session_halt(s, 0, NULL, d);
    if (err == CORRAL_OK)
        err = session_measure_rounds(s, o->rounds, DEMO_ROUND_NS, cli_stop_flag(), &r->cti, d);
    return err == CORRAL_OK ? session_run(s, 0, NULL, d) : err;
}

static enum corral_err play(const struct cli *cli, const struct demo_options *o, struct session *s,
                            struct demo_result *r, struct diag *d)
{
    int64_t half = (int64_t)llround(o->seconds * 0.5 * (double)NS_PER_S);
    say(cli, "\n== Free run: the firmware's log as it comes, the profile meanwhile");
    enum corral_err err = session_announce(s, d);
    if (err == CORRAL_OK)
        err = session_start_logs(s, d);
    if (err == CORRAL_OK)
        err = session_start_clocks(s, d);
    if (err == CORRAL_OK)
        err = session_run_for(s, half, cli_stop_flag(), d);
    if (err == CORRAL_OK)
        err = play_software(cli, o, s, r, d);
    if (err == CORRAL_OK)
        err = play_cti(cli, o, s, r, d);
    if (err == CORRAL_OK) {
        say(cli, "\n== Free run again, cross triggers on");
        err = session_run_for(s, half, cli_stop_flag(), d);
    }
    if (err == CORRAL_OK)
        err = session_halt(s, 0, NULL, d);
    return err == CORRAL_OK ? session_drain_logs(s, d) : err;
}

/* The board's ports are the first senders, in the order of its cores. */
static enum corral_err collect_top(struct session *s, struct demo_result *r, struct diag *d)
{
    unsigned taken[LINK_SIM_CORES] = {0};
    struct prof_report *report = profiling_report(session_profiling(s), -1, 0, false, d);
    if (!report)
        return d->code;
    for (size_t i = 0; i < report->function_count; i++) {
        const struct prof_report_function *f = &report->functions[i];
        unsigned core = f->source;
        if (f->self == 0 || core >= LINK_SIM_CORES || taken[core]++ >= DEMO_TOP)
            continue;
        struct demo_function *top = &r->top[r->top_count++];
        *top = (struct demo_function){.core = core, .count = f->self, .share = f->share, .board_share = -1};
        snprintf(top->name, sizeof(top->name), "%s", f->frame.name);
        if (f->image && f->address <= UINT32_MAX && f->size <= UINT32_MAX)
            top->board_share = session_exact_share(s, core, (uint32_t)f->address, (uint32_t)f->size);
    }
    prof_report_free(report);
    return CORRAL_OK;
}

static enum corral_err collect(struct session *s, struct demo_result *r, struct diag *d)
{
    uint32_t sent;
    struct tlog_consumer_stats logs;
    session_profile_totals(s, &r->totals);
    session_log_stats(s, &logs);
    /* not by the gaps that were drawn: what came late after all is taken back in the totals only */
    r->lost = logs.lost + r->totals.lost;
    r->firmware_samples = 0;
    for (size_t i = 0; i < session_core_count(s) && r->firmware_samples >= 0; i++)
        r->firmware_samples = session_read_variable(s, i, "prof_samples_sent", &sent, NULL) == CORRAL_OK
                                  ? r->firmware_samples + sent
                                  : -1;
    return collect_top(s, r, d);
}

static enum corral_err perform(const struct cli *cli, const struct demo_options *o,
                               const struct config *config, struct event_bus *bus, struct demo_files **files,
                               struct demo_result *r, struct diag *d)
{
    struct session_options options = {
        .link = cli->link,
        .clock_hz = cli->clock_hz,
        .wire = cli->wire,
        .config = config,
        .ctm_latency = o->ctm_latency,
        .ctm_latency_set = o->ctm_latency_set,
        .seed = o->seed,
        .count_pcs = true,
        .profile = true,
        .listen = o->listen,
        .listen_port = o->listen_port,
        .timeout_ns = cli->timeout_ns,
        .bus = bus,
    };
    struct session *s = session_open(&options, d);
    if (!s)
        return d->code;
    enum corral_err err = CORRAL_OK;
    if (!session_is_board(s))
        err =
            diag_set(d, CORRAL_ERR_USAGE, "demo: it plays on the virtual board only (--link sim or sim:A,B)");
    else if (session_board_programs(s) < LINK_SIM_CORES)
        err = diag_set(d, CORRAL_ERR_USAGE, "demo: it plays with two cores, and the link names one ELF file");
    if (err == CORRAL_OK)
        err = demo_files_create(o->out, bus, files, d);
    if (err == CORRAL_OK)
        err = session_capture(s, demo_files_capture(*files), d);
    if (err == CORRAL_OK)
        err = session_connect(s, d);
    if (err == CORRAL_OK) {
        session_board_info(s, &r->board);
        if (!cli->json && !cli->quiet)
            demo_render_board(&r->board, session_profile_port(s));
        err = play(cli, o, s, r, d);
    }
    if (err == CORRAL_OK)
        err = collect(s, r, d);
    if (err == CORRAL_OK)
        err = demo_files_export(*files, s, d);
    return cli_leave(s, err, d);
}

static int demo(const struct cli *cli, const struct demo_options *o)
{
    struct diag d = DIAG_INIT, late = DIAG_INIT;
    struct demo_files *files = NULL;
    struct demo_result *r = calloc(1, sizeof(*r));
    struct event_bus *bus = event_bus_new();
    if (!r || !bus) {
        free(r);
        event_bus_free(bus, NULL);
        diag_set(&d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return cli_fail(cli, &d);
    }
    struct config *config = NULL;
    cli_stop_flag(); /* from here on Ctrl-C finds files that must be closed properly */
    /* ./corral.yml describes somebody's own target; the demo has its own and obeys only what it is told to */
    enum corral_err err = cli->target ? cli_load_config(cli, &config, &d) : CORRAL_OK;
    if (err == CORRAL_OK)
        err = attach_screen(cli, bus, r, &d);
    if (err == CORRAL_OK)
        err = perform(cli, o, config, bus, &files, r, &d);
    uint64_t dropped = event_bus_dropped(bus);
    /* the sinks finish their files first, then the capture they write to is closed */
    enum corral_err closing = event_bus_free(bus, &late);
    bool keep = err == CORRAL_OK || err == CORRAL_ERR_INTERRUPTED;
    enum corral_err closing_files = demo_files_close(files, keep, r, closing ? NULL : &late);
    if (err == CORRAL_OK && (closing != CORRAL_OK || closing_files != CORRAL_OK)) {
        err = closing != CORRAL_OK ? closing : closing_files;
        d = late;
    }
    if (err == CORRAL_OK) {
        r->lost += dropped;
        if (cli->json)
            err = demo_render_summary(r, &d);
        else
            demo_render_result(r);
    }
    config_free(config);
    free(r);
    return err == CORRAL_OK ? 0 : cli_fail(cli, &d);
}

/* --- the command line ----------------------------------------------------------------------------------- */

enum { OPT_SECONDS = 256, OPT_OUT, OPT_CTM_LATENCY, OPT_SEED, OPT_LISTEN, OPT_ROUNDS };

static const struct option options[] = {
    {"seconds", required_argument, NULL, OPT_SECONDS},
    {"out", required_argument, NULL, OPT_OUT},
    {"ctm-latency", required_argument, NULL, OPT_CTM_LATENCY},
    {"seed", required_argument, NULL, OPT_SEED},
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"rounds", required_argument, NULL, OPT_ROUNDS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* ADDR:PORT into o; `text` is changed. */
static bool parse_listen(const struct cli *cli, const struct cli_command *command, char *text,
                         struct demo_options *o)
{
    char *colon = strrchr(text, ':');
    uint64_t port;
    if (!colon || colon == text) {
        cli_usage(cli, command, "--listen: '%s' is not ADDR:PORT", text);
        return false;
    }
    if (!cli_parse_u64(cli, command, "--listen: port", colon + 1, 0, 65535, &port))
        return false;
    *colon = '\0';
    o->listen = text;
    o->listen_port = (int)port;
    return true;
}

static int cmd_demo_run(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct demo_options o = {.seconds = 1.0, .rounds = 20, .out = "corral-demo", .listen_port = -1};
    int c, exit_code = 0;
    uint64_t v = 0;
    while ((c = cli_getopt(cli, command, argc, argv, options, &exit_code)) != -1) {
        bool ok = true;
        switch (c) {
        case OPT_SECONDS:
            ok = cli_parse_seconds(cli, command, "--seconds", optarg, 0.05, 3600.0, &o.seconds);
            break;
        case OPT_OUT:
            o.out = optarg;
            break;
        case OPT_CTM_LATENCY:
            ok = cli_parse_u64(cli, command, "--ctm-latency", optarg, 0, 1000000, &v);
            o.ctm_latency = (uint32_t)v;
            o.ctm_latency_set = true;
            break;
        case OPT_SEED:
            ok = cli_parse_u64(cli, command, "--seed", optarg, 1, UINT32_MAX, &o.seed);
            break;
        case OPT_LISTEN:
            ok = parse_listen(cli, command, optarg, &o);
            break;
        case OPT_ROUNDS:
            ok = cli_parse_u64(cli, command, "--rounds", optarg, 1, 1000, &v);
            o.rounds = (unsigned)v;
            break;
        default:
            return exit_code;
        }
        if (!ok)
            return 2;
    }
    if (optind < argc)
        return cli_usage(cli, command, "demo: '%s' is one word too many", argv[optind]);
    return demo(cli, &o);
}

const struct cli_command cmd_demo = {
    .name = "demo",
    .summary = "the whole story on the virtual two-core board",
    .help = "Usage: corral [--json] [--link sim:A.elf,B.elf] demo [OPTION]...\n"
            "\n"
            "Real Thumb firmware on a virtual two-core board logs into shared buffers, sends a statistical\n"
            "profile over UDP, and is halted and restarted, without and with cross triggers.\n"
            "\n"
            "  --seconds S       target time of free running (default 1)\n"
            "  --out DIR         where the files go (default corral-demo): capture.pcapng, events.jsonl,\n"
            "                    profile.folded, profile.speedscope.json, timeline.json\n"
            "  --ctm-latency N   core cycles from one cross trigger interface to the other (default 3)\n"
            "  --rounds N        rounds of run and halt, each way (default 20)\n"
            "  --seed N          seed of the firmware's random numbers; same seed, same trace\n"
            "  --listen ADDR:PORT  where the profile is collected (default 127.0.0.1:51080; port 0 = any)\n"
            "\n"
            "With --json, every event is a line and the last line is the summary. Ctrl-C closes the files\n"
            "properly and ends with exit code 130; a second one ends at once and leaves them as they are.\n"
            "./corral.yml is left alone unless --target names it.\n"
            "\n"
            "Example: corral demo --seconds 5 --out /tmp/demo\n",
    .run = cmd_demo_run,
};
