/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `corral decode tlog`: raw shared buffers in files to log lines. INTERFACE.md "The log, exactly".
 *
 * One file is one buffer, several files are batches of one stream. Reads files, writes stdout, touches no
 * target; anomalies never change the exit code.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/text.h"
#include "cli/cli.h"
#include "export/export_sinks.h"
#include "tlog/consumer.h"

#define FILE_MAX    (16u << 20) /* bytes; a real buffer has a few KiB */
#define STREAM_NAME "tlog"
#define LEVEL_DEBUG 4

/* Passes events on, but for log lines that nobody asked for. Draws at once, so nothing can overflow. */
struct level_filter {
    struct sink *inner;
    uint8_t level;
};

static enum corral_err filter_write(void *ctx, const struct event *e, struct diag *d)
{
    const struct level_filter *f = ctx;
    if (e->kind == EVENT_LOG) {
        uint8_t level = e->log.level < LEVEL_DEBUG ? e->log.level : LEVEL_DEBUG;
        if (level > f->level) /* raw is 0: always shown */
            return CORRAL_OK;
    }
    sink_submit(f->inner, e);
    return sink_drain(f->inner, SIZE_MAX, d);
}

static enum corral_err filter_close(void *ctx, struct diag *d)
{
    struct level_filter *f = ctx;
    enum corral_err err = sink_free(f->inner, d);
    free(f);
    return err;
}

static const struct sink_ops filter_ops = {"output", filter_write, NULL, filter_close};

/* What the callback after each publish needs: draw it now, and remember the first error. */
struct decode {
    const struct cli *cli;
    struct event_bus *bus;
    struct tlog_emitter *emitter;
    enum corral_err err;
    struct diag diag;
};

static void draw(void *ctx)
{
    struct decode *decode = ctx;
    struct diag d = DIAG_INIT;
    enum corral_err err = event_bus_drain(decode->bus, &d);
    if (err != CORRAL_OK && decode->err == CORRAL_OK) {
        decode->err = err;
        decode->diag = d;
    }
}

static enum corral_err attach_output(struct decode *decode, uint8_t level, struct diag *d)
{
    struct level_filter *f = calloc(1, sizeof(*f));
    if (!f)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory for the output");
    f->level = level;
    f->inner =
        decode->cli->json ? export_jsonl_stream(stdout) : render_text_sink(stdout, cli_want_colour(stdout));
    struct sink *outer = f->inner ? sink_new(&filter_ops, f, SINK_QUEUE_DEFAULT) : NULL;
    if (!outer) {
        sink_free(f->inner, NULL);
        free(f);
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory for the output");
    }
    return cli_attach_sink(decode->bus, outer, d);
}

/* The whole file; free() it. NULL with *d set. */
static uint8_t *read_file(const char *path, size_t *size, struct diag *d)
{
    bool is_stdin = strcmp(path, "-") == 0;
    char name[TEXT_CLEAN_MAX(60)];
    text_escape((const uint8_t *)path, strlen(path), name, sizeof(name));

    FILE *in = is_stdin ? stdin : fopen(path, "rbe");
    if (!in) {
        diag_set(d, CORRAL_ERR_IO, "cannot open %s: %s", name, strerror(errno));
        return NULL;
    }
    size_t room = 64 << 10, used = 0;
    uint8_t *data = malloc(room);
    while (data) {
        used += fread(data + used, 1, room - used, in);
        if (used < room || room > FILE_MAX)
            break;
        room = room >= FILE_MAX ? FILE_MAX + 1 : room * 2;
        uint8_t *more = realloc(data, room);
        if (!more)
            free(data);
        data = more;
    }
    enum corral_err err = CORRAL_OK;
    if (!data) {
        err = diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory to read %s", name);
    } else if (ferror(in)) {
        err = diag_set(d, CORRAL_ERR_IO, "cannot read %s: %s", name, strerror(errno));
    } else if (used > FILE_MAX) {
        err = diag_set(d, CORRAL_ERR_LIMIT, "%s is larger than %u MiB", name, FILE_MAX >> 20);
        diag_hint(d, "a file is one shared log buffer, usually of a few KiB");
    }
    if (!is_stdin)
        fclose(in);
    if (err != CORRAL_OK) {
        free(data);
        return NULL;
    }
    *size = used;
    return data;
}

static void print_summary(const struct decode *decode)
{
    struct tlog_consumer_stats s;
    tlog_emitter_get_stats(decode->emitter, &s);
    if (!decode->cli->json) {
        printf("%" PRIu64 " records, %" PRIu64 " lost in %" PRIu64 " gaps, %" PRIu64 " restarts, %" PRIu64
               " cut, %" PRIu64 " anomalies\n",
               s.records, s.lost, s.gaps, s.restarts, s.torn, s.anomalies);
        return;
    }
    json_t *root = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "kind", "summary", "stream",
                             STREAM_NAME, "records", (json_int_t)s.records, "lost", (json_int_t)s.lost,
                             "gaps", (json_int_t)s.gaps, "restarts", (json_int_t)s.restarts, "torn",
                             (json_int_t)s.torn, "anomalies", (json_int_t)s.anomalies);
    if (root && json_dumpf(root, stdout, JSON_COMPACT) == 0)
        putchar('\n');
    json_decref(root);
}

static enum corral_err decode_files(struct decode *decode, char **files, int count, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    int done = 0;
    for (; done < count && err == CORRAL_OK && decode->err == CORRAL_OK; done++) {
        size_t size = 0;
        uint8_t *data = read_file(files[done], &size, d);
        if (!data) {
            err = d->code;
            break;
        }
        tlog_emitter_batch(decode->emitter, data, size, files[done], EVENT_NO_TIME, NULL);
        free(data);
    }
    if (decode->err != CORRAL_OK) {
        *d = decode->diag;
        return decode->err;
    }
    if (done)
        print_summary(decode);
    return err;
}

static bool parse_level(const char *text, uint8_t *level)
{
    static const char *const names[] = {"raw", "err", "wrn", "inf", "dbg"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(text, names[i]) == 0 || (text[0] == '0' + (int)i && !text[1])) {
            *level = (uint8_t)i;
            return true;
        }
    return false;
}

enum { OPT_STAGING = 256, OPT_LEVEL };

int cmd_decode_tlog(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    static const struct option options[] = {
        {"staging", required_argument, NULL, OPT_STAGING},
        {"level", required_argument, NULL, OPT_LEVEL},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    uint64_t staging = TLOG_STAGING_DEFAULT;
    uint8_t level = LEVEL_DEBUG;
    int exit_code = 0;
    for (int c; (c = cli_getopt(cli, command, argc, argv, options, &exit_code)) != -1;) {
        if (c == CLI_DONE)
            return exit_code;
        if (c == OPT_STAGING && !cli_parse_u64(cli, command, "--staging", optarg, 1, UINT32_MAX, &staging))
            return 2;
        if (c == OPT_LEVEL && !parse_level(optarg, &level))
            return cli_usage(cli, command, "--level: '%s' is none of err, wrn, inf, dbg", optarg);
    }
    if (optind >= argc)
        return cli_usage(cli, command, "decode tlog: no file given");

    struct diag d = DIAG_INIT;
    struct decode decode = {.cli = cli, .bus = event_bus_new()};
    struct tlog_consumer_options log = {.stream = STREAM_NAME, .staging = (uint32_t)staging};
    enum corral_err err = CORRAL_OK;
    if (decode.bus)
        decode.emitter = tlog_emitter_new(&log, decode.bus);
    if (!decode.emitter)
        err = diag_set(&d, CORRAL_ERR_NO_MEMORY, "there is no memory to decode a log");
    else
        err = attach_output(&decode, level, &d);
    if (err == CORRAL_OK) {
        event_bus_on_publish(decode.bus, draw, &decode);
        err = decode_files(&decode, argv + optind, argc - optind, &d);
    }
    struct diag closing = DIAG_INIT;
    enum corral_err close_err = event_bus_free(decode.bus, &closing);
    tlog_emitter_free(decode.emitter);
    if (err != CORRAL_OK)
        return cli_fail(cli, &d);
    return close_err == CORRAL_OK ? 0 : cli_fail(cli, &closing);
}
