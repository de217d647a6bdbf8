/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `corral serve`: one process owns the link and serves gdb (a port a core), the firmware log, the profile and
 * events at once (INTERFACE.md "Commands"). Thin over session/serve.h.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/pack_options.h"
#include "cli/print_launch.h"
#include "cli/run_request.h"
#include "cli/serve_screen.h"
#include "cli/view_session.h"
#include "session/capture_sink.h"
#include "session/config.h"
#include "session/run_control.h"
#include "session/serve.h"

#define DEFAULT_PORT 3333

enum {
    OPT_GDB_PORT = 256,
    OPT_GDB_ALL,
    OPT_SYNC,
    OPT_NO_SYNC,
    OPT_LISTEN,
    OPT_ON_DETACH,
    OPT_RUN,
    OPT_NO_LOG,
    OPT_PROFILE,
    OPT_CAPTURE,
    OPT_CORE,
    OPT_PRINT_LAUNCH,
    OPT_JSON,
};

static const struct option options[] = {
    {"gdb-port", required_argument, NULL, OPT_GDB_PORT},
    {"gdb-all", required_argument, NULL, OPT_GDB_ALL},
    {"sync", no_argument, NULL, OPT_SYNC},
    {"no-sync", no_argument, NULL, OPT_NO_SYNC},
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"on-detach", required_argument, NULL, OPT_ON_DETACH},
    {"run", no_argument, NULL, OPT_RUN},
    {"no-log", no_argument, NULL, OPT_NO_LOG},
    {"profile", required_argument, NULL, OPT_PROFILE},
    {"capture", required_argument, NULL, OPT_CAPTURE},
    {"core", required_argument, NULL, OPT_CORE},
    PACK_OPTIONS,
    {"print-launch", optional_argument, NULL, OPT_PRINT_LAUNCH},
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct serve_options {
    struct session_serve_options serve;
    struct pack_options pack;
    bool sync_set, port_set, run, no_log;
    bool print_launch;
    const char *launch_folder; /* NULL = on standard output */
    char *profile;             /* ADDR, cut off at its colon */
    int profile_port;
    const char *capture;
    const char *cores[SESSION_MAX_CORES];
    size_t core_count;
};

static bool take_port(const struct cli *cli, const struct cli_command *command, const char *what,
                      unsigned *port)
{
    uint64_t value = 0;
    if (!cli_parse_u64(cli, command, what, optarg, 0, 65535, &value))
        return false;
    *port = (unsigned)value;
    return true;
}

static bool is_address(const char *text)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

static bool take_on_detach(const struct cli *cli, const struct cli_command *command, enum gdb_on_detach *how)
{
    static const char *const names[] = {"as-found", "resume", "keep"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(optarg, names[i]) == 0) {
            *how = (enum gdb_on_detach)i;
            return true;
        }
    cli_usage(cli, command, "serve: --on-detach is as-found, resume or keep");
    return false;
}

static bool take_profile(const struct cli *cli, const struct cli_command *command, struct serve_options *o)
{
    char *colon = strrchr(optarg, ':');
    uint64_t port = 0;
    if (!colon || colon == optarg) {
        cli_usage(cli, command, "serve: --profile: '%s' is not ADDR:PORT", optarg);
        return false;
    }
    if (!cli_parse_u64(cli, command, "--profile: port", colon + 1, 0, 65535, &port))
        return false;
    *colon = '\0';
    o->profile = optarg;
    o->profile_port = (int)port;
    return true;
}

/* One option; -1 = taken, else the exit code. */
static int take_option(struct cli *cli, const struct cli_command *command, int c, struct serve_options *o)
{
    bool good = true;
    if (pack_options_take(c, &o->pack))
        return -1;
    switch (c) {
    case OPT_PRINT_LAUNCH:
        o->print_launch = true;
        o->launch_folder = optarg;
        break;
    case OPT_GDB_PORT:
        o->port_set = true;
        good = take_port(cli, command, "--gdb-port", &o->serve.port);
        break;
    case OPT_GDB_ALL:
        good = take_port(cli, command, "--gdb-all", &o->serve.all_port);
        o->serve.all = true;
        break;
    case OPT_SYNC:
    case OPT_NO_SYNC:
        o->serve.sync = c == OPT_SYNC;
        o->sync_set = true;
        break;
    case OPT_LISTEN:
        if (!is_address(optarg))
            return cli_usage(cli, command, "serve: --listen: '%s' is not an address of this machine", optarg);
        o->serve.address = optarg;
        break;
    case OPT_ON_DETACH:
        good = take_on_detach(cli, command, &o->serve.on_detach);
        break;
    case OPT_RUN:
        o->run = true;
        break;
    case OPT_NO_LOG:
        o->no_log = true;
        break;
    case OPT_PROFILE:
        good = take_profile(cli, command, o);
        break;
    case OPT_CAPTURE:
        o->capture = optarg;
        break;
    case OPT_CORE:
        if (o->core_count >= SESSION_MAX_CORES)
            return cli_usage(cli, command, "serve: at most %d cores can be named", SESSION_MAX_CORES);
        o->cores[o->core_count++] = optarg;
        break;
    default:
        cli->json = true;
        break;
    }
    return good ? -1 : 2;
}

/* ---- what is shown and kept */

struct serving {
    const struct cli *cli;
    const struct serve_options *o;
    struct config *config;
    struct pack_target target;
    struct event_bus *bus;
    struct session *s;
    struct session_server *server;
    struct capture_writer *capture;
    atomic_uint log_level; /* `monitor log level N` */
};

static int64_t wall_clock_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

#define ALL_LEVELS 9u

static void set_log_level(void *ctx, unsigned level)
{
    struct serving *v = ctx;
    atomic_store(&v->log_level, level);
}

static enum corral_err make_sinks(struct serving *v, struct diag *d)
{
    struct sink *screen = serve_screen_new(v->cli->json, cli_want_colour(stdout), &v->log_level);
    enum corral_err err = cli_attach_sink(v->bus, screen, d);
    if (err || !v->o->capture)
        return err;
    v->capture = capture_writer_open(v->o->capture, wall_clock_ns(), d);
    if (!v->capture)
        return d->code;
    struct sink *sink = capture_sink_new(v->capture, d);
    return sink ? cli_attach_sink(v->bus, sink, d) : d->code;
}

/* Said also with --quiet where a port was left open: nobody could find it otherwise. */
static void say_ports(const struct serving *v)
{
    const char *address = v->o->serve.address ? v->o->serve.address : "127.0.0.1";
    if (v->cli->quiet && v->o->serve.port != 0)
        return;
    for (size_t i = 0; i < session_core_count(v->s); i++)
        fprintf(stderr, "corral: gdb for %s on %s:%u\n", session_core_name(v->s, i), address,
                session_serve_port(v->server, i));
    if (v->o->serve.all)
        fprintf(stderr, "corral: gdb for all cores on %s:%u\n", address,
                session_serve_port(v->server, GDB_ALL_CORES));
}

/* A board that this command has switched on waits for gdb at its first instruction: its program is there to
 * be debugged. Any other target is left as it is. */
static enum corral_err begin(struct serving *v, struct diag *d)
{
    struct event event;
    struct group_reset reset = {.how = CORE_RESET_SYSTEM, .halt = true};
    if (!session_is_board(v->s) || v->o->run)
        return cli_warm_up(v->s, d);
    return session_reset(v->s, &reset, &event, d);
}

static enum corral_err start(struct serving *v, struct diag *d)
{
    struct session_serve_options serve = v->o->serve;
    struct session_options how = cli_session_options(v->cli, v->config, v->bus);
    how.core_names = v->o->cores;
    how.core_name_count = v->o->core_count;
    how.profile = v->o->profile != NULL;
    how.listen = v->o->profile;
    how.listen_port = v->o->profile ? v->o->profile_port : -1;
    serve.sync = pack_options_sync(&v->target, v->config, v->o->sync_set, serve.sync);
    serve.described_ports = !v->o->port_set;
    pack_options_apply(&v->target, serve.sync, &how);
    v->s = session_open(&how, d);
    if (!v->s)
        return d->code;
    enum corral_err err = make_sinks(v, d);
    if (!err && v->capture)
        err = session_capture(v->s, v->capture, d);
    if (!err)
        err = session_connect(v->s, d);
    if (!err && !v->o->core_count)
        run_tell_silent_ports(v->cli, v->s);
    if (!err)
        err = begin(v, d);
    if (!err && !v->o->no_log)
        err = session_start_logs(v->s, d);
    if (!err && v->o->profile)
        err = session_start_records(v->s, d);
    if (err)
        return err;
    if (!v->o->no_log) {
        serve.set_log_level = set_log_level;
        serve.ctx = v;
    }
    v->server = session_serve_start(v->s, &serve, d);
    if (!v->server)
        return d->code;
    say_ports(v);
    return CORRAL_OK;
}

static int perform(const struct cli *cli, const struct serve_options *o)
{
    struct diag d = DIAG_INIT, why = DIAG_INIT;
    struct serving v = {.cli = cli, .o = o, .log_level = ALL_LEVELS};
    const atomic_bool *stop = cli_stop_flag(); /* from here on a signal leaves the target as it should */
    enum corral_err err = cli_load_config(cli, &v.config, &d);
    if (!err)
        err = pack_options_open(cli, &o->pack, v.config, &v.target, &d);
    v.bus = err ? NULL : event_bus_new();
    if (!err && !v.bus)
        err = diag_set(&d, CORRAL_ERR_NO_MEMORY, "out of memory");
    if (!err)
        err = start(&v, &d);
    if (!err)
        err = session_serve(v.s, v.server, stop, &d);
    if (v.server)
        diag_keep_first(&err, &d, session_serve_stop(v.s, v.server, &why), &why);
    diag_keep_first(&err, &d, session_close(v.s), &why);
    diag_keep_first(&err, &d, event_bus_free(v.bus, &why), &why);
    diag_keep_first(&err, &d, capture_writer_close(v.capture, &why), &why);
    pack_target_close(&v.target);
    config_free(v.config);
    return err ? cli_fail(cli, &d) : 0;
}

/* For the task that starts this server the words are as they were given. */
static int print_launch_of(const struct cli *cli, const struct serve_options *o, int argc, char **argv)
{
    if (o->profile)
        o->profile[strlen(o->profile)] = ':';
    struct launch_request r = {.pack = &o->pack,
                               .folder = o->launch_folder,
                               .address = o->serve.address,
                               .port_set = o->port_set,
                               .port = o->serve.port,
                               .cores = o->cores,
                               .core_count = o->core_count,
                               .argv = argv + 1,
                               .argc = argc - 1};
    return print_launch(cli, &r);
}

static int run_serve(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct cli local = *cli;
    struct serve_options o = {.serve = {.port = DEFAULT_PORT}};
    int exit_code = 0, c;
    while ((c = cli_getopt(&local, command, argc, argv, options, &exit_code)) != -1) {
        if (c == CLI_DONE)
            return exit_code;
        if ((exit_code = take_option(&local, command, c, &o)) != -1)
            return exit_code;
    }
    if (optind < argc)
        return cli_usage(&local, command, "serve: '%s' is one word too many", argv[optind]);
    if (!pack_options_check(&local, command, &o.pack))
        return 2;
    if (o.print_launch)
        return print_launch_of(&local, &o, argc, argv);
    return perform(&local, &o);
}

const struct cli_command cmd_serve = {
    .name = "serve",
    .summary = "own the link: gdb on a port a core, log, profile and events at once",
    .help =
        "Usage: corral [--link LINK] [--json] serve [--gdb-port P] [--gdb-all P] [--sync | --no-sync]\n"
        "                   [--core NAME]... [--listen ADDR] [--on-detach HOW] [--run] [--no-log]\n"
        "                   [--profile ADDR:PORT] [--capture FILE.pcapng]\n"
        "                   [--pack FILE --device D | --cbuild-run FILE] [--print-launch[=DIR]]\n"
        "\n"
        "Serves gdb until SIGINT or SIGTERM: the first core on port P (default 3333), the next one on P+1\n"
        "and so on. What the firmware logs, and every halt and run, goes to stdout. With --sync a core that\n"
        "stops stops all, and a continue of any gdb starts all; each gdb sees its own core.\n"
        "\n"
        "  --gdb-port P        port of the first core; 0 = any free ones, which are said on stderr\n"
        "  --gdb-all P         also a port on which all cores are threads of one program; the cores then\n"
        "                      stop and start together in any case\n"
        "  --sync              through cross triggers; a core that cannot is reached by itself, and why\n"
        "                      is said\n"
        "  --no-sync           each core by itself (default); no cross trigger register is written\n"
        "  --core NAME         only this core; may be given several times\n"
        "  --listen ADDR       listen there (default 127.0.0.1, which only this machine reaches)\n"
        "  --on-detach HOW     what becomes of the cores when the last gdb leaves: as-found (default),\n"
        "                      resume, or keep (as they are then)\n"
        "  --run               the virtual board of --link sim, which this command switches on, runs at "
        "once;\n"
        "                      without it its cores wait at their first instruction\n"
        "  --no-log            leave the firmware's log alone\n"
        "  --profile ADDR:PORT collect profile packets there, too\n"
        "  --capture FILE      write raw input, halts and runs into this pcapng file\n"
        "  --pack FILE         what a .pdsc or .pack says of the target, and its debug sequences: see\n"
        "                      corral-pack(5)\n"
        "  --device D          this device of it; not needed where it has one only\n"
        "  --cbuild-run FILE   the same of a project's .cbuild-run.yml, with its ports and programs\n"
        "  --print-launch[=DIR]  serve nothing: print a launch.json and a tasks.json for an IDE, or write\n"
        "                      them into DIR, where neither may be there yet\n"
        "\n"
        "Example: corral --link sim serve --sync &\n"
        "         gdb-multiarch core0.elf -ex 'target remote :3333'\n",
    .run = run_serve,
};
