/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `corral log`: the firmware log of a target, of mapped memory or of the Linux driver's device; and
 * `log --status`, why it is silent (INTERFACE.md "Commands"). Where buffers are and who hands them over is
 * the session's.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/text.h"
#include "cli/log_screen.h"
#include "cli/view_session.h"
#include "session/config.h"
#include "session/log_device.h"
#include "session/session.h"

#define SLICE_NS   (20 * NS_PER_MS)  /* how long a line may wait before it is drawn */
#define BOARD_NS   (200 * NS_PER_MS) /* a board that has just been switched on has nothing to say yet */
#define WATCH_NS   NS_PER_S          /* --status */
#define DEVICE_MS  50
#define FOREVER    INT64_MAX
#define CORES_MOST SESSION_MAX_CORES

struct log_options {
    bool follow, status, fail_on_loss;
    int64_t ns; /* --seconds; -1 = not given */
    struct session_log_request where;
    const char *device;
    const char *cores[CORES_MOST];
    size_t core_count;
    struct log_screen_options screen;
};

/* ---- a target ---- */

/* Interrupted is how a stream without an end ends. */
static enum corral_err let_run(struct session *s, struct event_bus *bus, int64_t ns, struct diag *d)
{
    const atomic_bool *stop = cli_stop_flag();
    enum corral_err err = CORRAL_OK;
    while (err == CORRAL_OK && ns > 0 && !atomic_load(stop)) {
        int64_t slice = ns < SLICE_NS ? ns : SLICE_NS;
        err = session_run_for(s, slice, stop, d);
        if (err == CORRAL_OK)
            err = event_bus_flush(bus, d);
        if (ns != FOREVER)
            ns -= slice;
    }
    return err == CORRAL_ERR_INTERRUPTED ? CORRAL_OK : err;
}

static const char *or_unknown(const char *text)
{
    return text ? text : "-";
}

static json_t *status_json(const struct session_log_status *st)
{
    json_t *j = json_pack("{s:s, s:s?, s:I, s:I, s:s, s:s?, s:s}", "stream", st->stream, "core", st->core,
                          "address", (json_int_t)st->address, "size", (json_int_t)st->size, "state",
                          st->state, "setup", st->setup, "message", st->message);
    json_t *null = json_null();
    if (!j)
        return NULL;
    json_object_set_new(j, "setup_answer", st->setup_answer < 0 ? null : json_integer(st->setup_answer));
    json_object_set_new(j, "magic", st->header_known ? json_integer(st->magic) : null);
    json_object_set_new(j, "owner", st->header_known ? json_integer(st->owner) : null);
    json_object_set_new(j, "version", st->header_known ? json_integer(st->version) : null);
    json_object_set_new(j, "write_offset", st->header_known ? json_integer(st->write_offset) : null);
    json_object_set_new(j, "quiet_ns", st->quiet_ns == EVENT_NO_TIME ? null : json_integer(st->quiet_ns));
    return j;
}

static enum corral_err show_status(const struct cli *cli, struct session *s, struct diag *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < session_log_count(s); i++) {
        struct session_log_status st;
        session_log_status(s, i, &st);
        if (cli->json)
            json_array_append_new(list, status_json(&st));
        else
            printf("%-8s 0x%08" PRIx64 " %6" PRIu32 " bytes  %s: %s\n",
                   or_unknown(st.core ? st.core : st.stream), st.address, st.size, st.state, st.message);
    }
    json_t *root = json_pack("{s:o}", "logs", list);
    bool ok = !cli->json || (root && json_dumpf(root, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF);
    json_decref(root);
    return ok ? CORRAL_OK : diag_set(d, CORRAL_ERR_IO, "cannot write the output: %s", strerror(errno));
}

/* Of a log that showed nothing: why, in the words of --status. */
static void say_why_silent(const struct cli *cli, struct session *s)
{
    if (cli->json || cli->quiet)
        return;
    for (size_t i = 0; i < session_log_count(s); i++) {
        struct session_log_status st;
        session_log_status(s, i, &st);
        if (st.records == 0)
            fprintf(stderr, "corral: no records from %s (%s): %s\n",
                    or_unknown(st.core ? st.core : st.stream), st.state, st.message);
    }
}

/* A private board's log may be taken to see whether it speaks; elsewhere somebody else may be reading. */
static enum corral_err run_session(const struct cli *cli, struct log_options *o, struct session *s,
                                   struct event_bus *bus, struct diag *d)
{
    bool board = session_is_board(s);
    o->where.look_only = o->status && !board;
    o->screen.clock = session_clock(s);
    enum corral_err err = o->status ? CORRAL_OK : cli_attach_sink(bus, log_screen_new(&o->screen), d);
    if (err == CORRAL_OK)
        err = session_connect(s, d);
    if (err == CORRAL_OK)
        err = session_start_logs_at(s, &o->where, d);
    if (err != CORRAL_OK)
        return err;
    if (o->status) {
        let_run(s, bus, o->ns >= 0 ? o->ns : WATCH_NS, NULL); /* its errors are what is to be told */
        return show_status(cli, s, d);
    }
    int64_t ns = o->ns >= 0 ? o->ns : o->follow ? FOREVER : board ? BOARD_NS : 0;
    err = let_run(s, bus, ns, d);
    if (err == CORRAL_OK)
        err = session_drain_logs(s, d);
    if (err == CORRAL_OK)
        say_why_silent(cli, s); /* before RELEASE, which would be the answer */
    enum corral_err stop = session_stop_logs(s, err == CORRAL_OK ? d : NULL);
    return err == CORRAL_OK ? stop : err;
}

static enum corral_err log_session(const struct cli *cli, struct log_options *o, struct event_bus *bus,
                                   struct tlog_consumer_stats *stats, struct diag *d)
{
    struct config *config = NULL;
    enum corral_err err = cli_load_config(cli, &config, d);
    if (err != CORRAL_OK)
        return err;
    struct session_options options = {.link = cli->link,
                                      .clock_hz = cli->clock_hz,
                                      .wire = cli->wire,
                                      .config = config,
                                      .core_names = o->cores,
                                      .core_name_count = o->core_count,
                                      .listen_port = -1,
                                      .timeout_ns = cli->timeout_ns,
                                      .bus = bus};
    cli_stop_flag(); /* from here on there is something to close properly */
    struct session *s = session_open(&options, d);
    if (s) {
        err = run_session(cli, o, s, bus, d);
        session_stop_logs(s, NULL);
        session_log_stats(s, stats);
    } else {
        err = d->code;
    }
    err = cli_leave(s, err, d);
    config_free(config);
    return err;
}

/* ---- the driver's device ---- */

/* The keys of every status, also what only a look into the buffer would tell. */
static void set_device_unknowns(json_t *j, const struct log_device_info *info)
{
    static const char *const names[] = {"core",  "address",      "setup",   "magic",
                                        "owner", "write_offset", "quiet_ns"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        json_object_set_new(j, names[i], json_null());
    json_object_set_new(j, "setup_answer",
                        info->setup_answer < 0 ? json_null() : json_integer(info->setup_answer));
}

static enum corral_err show_device_status(const struct cli *cli, struct log_device *device, const char *file,
                                          struct diag *d)
{
    struct log_device_info info;
    char path[TEXT_CLEAN_MAX(200)];
    text_escape((const uint8_t *)file, strlen(file), path, sizeof(path));
    enum corral_err err = log_device_info(device, &info, d);
    if (err != CORRAL_OK)
        return err;
    if (!cli->json) {
        printf("%s  %s: %s; %" PRIu64 " records, %" PRIu64 " lost in %" PRIu64 " gaps\n", path, info.state,
               info.message, info.records, info.lost, info.gaps);
        return CORRAL_OK;
    }
    json_t *j =
        json_pack("{s:[{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I}]}", "logs", "stream", path, "state",
                  info.state, "message", info.message, "size", (json_int_t)info.buffer_size, "version",
                  (json_int_t)info.firmware_version, "batches", (json_int_t)info.batches, "records",
                  (json_int_t)info.records, "gaps", (json_int_t)info.gaps, "lost", (json_int_t)info.lost);
    if (j)
        set_device_unknowns(json_array_get(json_object_get(j, "logs"), 0), &info);
    bool ok = j && json_dumpf(j, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF;
    json_decref(j);
    return ok ? CORRAL_OK : diag_set(d, CORRAL_ERR_IO, "cannot write the output: %s", strerror(errno));
}

static enum corral_err log_device(const struct cli *cli, struct log_options *o, struct event_bus *bus,
                                  struct tlog_consumer_stats *stats, struct diag *d)
{
    const atomic_bool *stop = cli_stop_flag();
    struct host_clock *clock = host_clock_new_real();
    struct log_device *device = log_device_open(o->device, bus, d);
    enum corral_err err = !clock   ? diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory")
                          : device ? CORRAL_OK
                                   : d->code;
    bool got = true, ended = false;
    if (err == CORRAL_OK && o->status) {
        err = show_device_status(cli, device, o->device, d);
        ended = true;
    } else if (err == CORRAL_OK) {
        err = cli_attach_sink(bus, log_screen_new(&o->screen), d);
    }
    int64_t end = o->ns >= 0 && clock ? host_clock_now(clock) + o->ns : FOREVER;
    while (err == CORRAL_OK && !ended && !atomic_load(stop) && host_clock_now(clock) < end) {
        err = log_device_read(device, DEVICE_MS, &got, &ended, d);
        enum corral_err drawn = event_bus_drain(bus, err == CORRAL_OK ? d : NULL);
        if (drawn == CORRAL_OK)
            drawn = event_bus_flush(bus, err == CORRAL_OK ? d : NULL);
        err = err == CORRAL_OK ? drawn : err;
        if (!o->follow && o->ns < 0 && !got)
            break;
    }
    if (device)
        log_device_stats(device, stats);
    struct log_device_info info;
    if (err == CORRAL_OK && !o->status && stats->records == 0 && !cli->json && !cli->quiet &&
        log_device_info(device, &info, NULL) == CORRAL_OK)
        fprintf(stderr, "corral: no records (%s): %s\n", info.state, info.message);
    log_device_close(device);
    host_clock_free(clock);
    return err;
}

static int run(const struct cli *cli, struct log_options *o)
{
    struct diag d = DIAG_INIT, late = DIAG_INIT;
    struct tlog_consumer_stats stats = {0};
    struct event_bus *bus = event_bus_new();
    enum corral_err err = !bus        ? diag_set(&d, CORRAL_ERR_NO_MEMORY, "out of memory")
                          : o->device ? log_device(cli, o, bus, &stats, &d)
                                      : log_session(cli, o, bus, &stats, &d);
    uint64_t dropped = bus ? event_bus_dropped(bus) : 0;
    enum corral_err closing = event_bus_free(bus, &late);
    bool began = err == CORRAL_OK || stats.polls || stats.records;
    if (began && !o->status)
        log_screen_summary(&o->screen, &stats, dropped);
    if (err != CORRAL_OK)
        return cli_fail(cli, &d);
    if (closing != CORRAL_OK)
        return cli_fail(cli, &late);
    if (!o->follow && atomic_load(cli_stop_flag())) {
        diag_set(&d, CORRAL_ERR_INTERRUPTED, "interrupted");
        return cli_fail(cli, &d);
    }
    if (o->fail_on_loss && stats.lost + dropped > 0) {
        fflush(stdout);
        diag_set(&d, CORRAL_ERR_DATA_LOST, "%" PRIu64 " records were lost", stats.lost + dropped);
        return cli_fail(cli, &d);
    }
    return 0;
}

/* ---- the command line ---- */

/* "ADDR:SIZE" */
static bool parse_buffer(const struct cli *cli, const struct cli_command *command, const char *text,
                         struct session_log_request *where)
{
    char address[32];
    const char *colon = strchr(text, ':');
    uint64_t size;
    if (!colon || (size_t)(colon - text) >= sizeof(address)) {
        cli_usage(cli, command, "--buffer: '%s' is not ADDR:SIZE", text);
        return false;
    }
    memcpy(address, text, (size_t)(colon - text));
    address[colon - text] = '\0';
    where->at_set =
        cli_parse_u64(cli, command, "--buffer: address", address, 0, UINT32_MAX, &where->address) &&
        cli_parse_u64(cli, command, "--buffer: size", colon + 1, 29, 1u << 20, &size);
    if (where->at_set)
        where->size = (uint32_t)size;
    return where->at_set;
}

enum {
    OPT_FOLLOW = 256,
    OPT_STATUS,
    OPT_SECONDS,
    OPT_LEVEL,
    OPT_SOURCE,
    OPT_SYMBOL,
    OPT_BUFFER,
    OPT_DEVICE,
    OPT_CORE,
    OPT_FAIL_ON_LOSS
};

static const struct option options[] = {
    {"follow", no_argument, NULL, OPT_FOLLOW},
    {"status", no_argument, NULL, OPT_STATUS},
    {"seconds", required_argument, NULL, OPT_SECONDS},
    {"level", required_argument, NULL, OPT_LEVEL},
    {"source", required_argument, NULL, OPT_SOURCE},
    {"symbol", required_argument, NULL, OPT_SYMBOL},
    {"buffer", required_argument, NULL, OPT_BUFFER},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"core", required_argument, NULL, OPT_CORE},
    {"fail-on-loss", no_argument, NULL, OPT_FAIL_ON_LOSS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* One option; false when the answer has been given (a usage error). */
static bool take_option(const struct cli *cli, const struct cli_command *command, int c,
                        struct log_options *o)
{
    double seconds;
    switch (c) {
    case OPT_FOLLOW:
        o->follow = true;
        return true;
    case OPT_STATUS:
        o->status = true;
        return true;
    case OPT_FAIL_ON_LOSS:
        o->fail_on_loss = true;
        return true;
    case OPT_SECONDS:
        if (!cli_parse_seconds(cli, command, "--seconds", optarg, 0, 1e6, &seconds))
            return false;
        o->ns = (int64_t)llround(seconds * (double)NS_PER_S);
        return true;
    case OPT_LEVEL:
        if (log_screen_level(optarg, &o->screen.level))
            return true;
        cli_usage(cli, command, "--level: '%s' is none of err, wrn, inf, dbg", optarg);
        return false;
    case OPT_SOURCE:
        if (log_screen_source(optarg, &o->screen.source))
            return true;
        cli_usage(cli, command, "--source: '%s' is neither SMC, DMC nor a number from 0 to 255", optarg);
        return false;
    case OPT_SYMBOL:
        o->where.symbol = optarg;
        return true;
    case OPT_BUFFER:
        return parse_buffer(cli, command, optarg, &o->where);
    case OPT_DEVICE:
        o->device = optarg;
        return true;
    default: /* OPT_CORE */
        if (o->core_count < CORES_MOST) {
            o->cores[o->core_count++] = optarg;
            return true;
        }
        cli_usage(cli, command, "--core: at most %d of them", CORES_MOST);
        return false;
    }
}

static int cmd_log_run(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct log_options o = {
        .ns = -1,
        .screen = {
            .out = stdout, .json = cli->json, .colour = cli_want_colour(stdout), .level = 4, .source = -1}};
    int exit_code = 0;
    for (int c; (c = cli_getopt(cli, command, argc, argv, options, &exit_code)) != -1;) {
        if (c == CLI_DONE)
            return exit_code;
        if (!take_option(cli, command, c, &o))
            return 2;
    }
    if (optind < argc)
        return cli_usage(cli, command, "log: '%s' is one word too many", argv[optind]);
    if (o.follow && o.status)
        return cli_usage(cli, command, "log: --follow or --status, not both");
    if ((o.where.symbol != NULL) + o.where.at_set + (o.device != NULL) > 1)
        return cli_usage(cli, command, "log: only one of --symbol, --buffer and --device");
    if (o.device && (o.core_count || cli->link))
        return cli_usage(cli, command, "log: --device is not read through a link and knows no cores");
    o.screen.wall_clock = o.follow;
    return run(cli, &o);
}

const struct cli_command cmd_log = {
    .name = "log",
    .summary = "the firmware log: what is there, as it comes, or why it is silent",
    .help =
        "Usage: corral [--link LINK] [--json] log [--follow | --status] [OPTION]...\n"
        "\n"
        "Takes the batches out of the firmware's shared log buffers and shows a line a record; what was\n"
        "lost is counted where it is missing. Ends with a summary; of a log without records the reason\n"
        "is said on stderr.\n"
        "\n"
        "  --follow           go on until Ctrl-C; time of day and target time on each line\n"
        "  --status           say of each log why it is silent, and take nothing from another reader\n"
        "  --seconds S        end after S seconds (target time on the virtual board)\n"
        "  --level L          show L and worse: err, wrn, inf, dbg (default dbg); raw is always shown\n"
        "  --source S         only SMC, DMC or source number S\n"
        "  --symbol NAME      the buffer is this symbol of each core's program\n"
        "  --buffer ADDR:SIZE the buffer is there, already set up\n"
        "  --device FILE      read the Linux driver's device, for example /dev/tlog0\n"
        "  --core NAME        only this core; may be given several times\n"
        "  --fail-on-loss     exit code 4 when anything was lost\n"
        "\n"
        "Without any of the three places: logs: of corral.yml, else the symbol tlog_buffer, else what the\n"
        "virtual board offers.\n"
        "\n"
        "Example: corral --link shm:ram.bin@0x20000000 log --buffer 0x20000400:4112\n",
    .run = cmd_log_run,
};
