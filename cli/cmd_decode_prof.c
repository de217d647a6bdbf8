/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral decode prof: profile packets out of captures or raw datagrams, offline. INTERFACE.md "The profile,
 * exactly". Follows the same path as a live collection: datagram, stream, event, sink.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/prof_summary.h"
#include "export/export_sinks.h"
#include "prof/analysis.h"
#include "prof/collector.h"

#define RAW_MAX 65536 /* no UDP datagram is this long; one byte more tells nothing more */

struct decode {
    const struct cli *cli;
    struct event_bus *bus;
    struct prof_analysis *analysis;
    struct prof_streams *streams;
    struct prof_summary summary;
    uint16_t port;          /* the destination port that carries the profile */
    const char *raw_source; /* all raw files are one sender: the first one's name */
};

static enum corral_err decode_open(struct decode *run, struct diag *d)
{
    struct sink *sink =
        run->cli->json ? export_jsonl_stream(stdout) : render_text_sink(stdout, cli_want_colour(stdout));

    run->bus = event_bus_new();
    run->analysis = prof_analysis_new();
    if (run->bus && run->analysis)
        run->streams = prof_streams_new(run->bus, run->analysis);
    if (!run->streams || !sink) {
        sink_free(sink, NULL);
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory to decode profile packets");
    }
    return event_bus_attach(run->bus, sink, d);
}

static void decode_close(struct decode *run)
{
    prof_streams_free(run->streams);
    prof_analysis_free(run->analysis);
    event_bus_free(run->bus, NULL);
}

/* Hand one datagram on and draw what comes of it, so that the queue never fills. */
static enum corral_err take(struct decode *run, const char *source, const uint8_t *data, size_t size,
                            int64_t ns, struct diag *d)
{
    prof_streams_datagram(run->streams, source, data, size, ns);
    enum corral_err err = event_bus_drain(run->bus, d);
    if (err == CORRAL_OK && atomic_load(cli_stop_flag()))
        err = diag_set(d, CORRAL_ERR_INTERRUPTED, "interrupted");
    return err;
}

static void add_stats(struct capture_reader_stats *sum, const struct capture_reader *reader)
{
    struct capture_reader_stats one;

    capture_reader_get_stats(reader, &one);
    sum->packets += one.packets;
    sum->udp += one.udp;
    sum->other += one.other;
    sum->fragments += one.fragments;
    sum->cut += one.cut;
    sum->unknown_linktype += one.unknown_linktype;
}

/* The rest of `file`, of which `size` bytes have been read: it may be a pipe. Closes it. */
static enum corral_err decode_capture(struct decode *run, FILE *file, const uint8_t *data, size_t size,
                                      const char *path, struct diag *d)
{
    struct capture_reader *reader = capture_reader_open_stream(file, data, size, path, d);
    struct capture_packet packet;
    struct capture_udp udp;
    struct diag damage = DIAG_INIT;
    enum corral_err err = CORRAL_OK;
    int more = 1;

    if (!reader)
        return d->code;
    while (err == CORRAL_OK && (more = capture_reader_next(reader, &packet, &damage)) > 0) {
        if (capture_reader_udp(reader, &packet, &udp) && udp.dest_port == run->port)
            err = take(run, udp.source, udp.data, udp.size, packet.ns, d);
    }
    if (err == CORRAL_OK && more < 0 && atomic_load(cli_stop_flag())) {
        err = diag_set(d, CORRAL_ERR_INTERRUPTED, "interrupted");
    } else if (err == CORRAL_OK && more < 0 && damage.code == CORRAL_ERR_IO) {
        err = damage.code;
        *d = damage;
    } else if (err == CORRAL_OK && more < 0) { /* what came before stands, so this is a remark */
        run->summary.damaged_files++;
        if (!run->cli->quiet)
            cli_fail(run->cli, &damage);
    }
    add_stats(&run->summary.capture, reader);
    capture_reader_close(reader);
    return err;
}

static enum corral_err decode_file(struct decode *run, const char *path, uint8_t *data, struct diag *d)
{
    FILE *file = strcmp(path, "-") == 0 ? fdopen(dup(STDIN_FILENO), "rb") : fopen(path, "rbe");

    if (!file)
        return diag_set(d, CORRAL_ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    errno = 0;
    size_t size = fread(data, 1, RAW_MAX, file);
    int why = errno;
    if (ferror(file)) {
        fclose(file);
        return diag_set(d, CORRAL_ERR_IO, "cannot read '%s': %s", path, strerror(why));
    }
    if (capture_reader_probe(data, size))
        return decode_capture(run, file, data, size, path, d);
    fclose(file);
    if (!run->raw_source)
        run->raw_source = path;
    return take(run, run->raw_source, data, size, EVENT_NO_TIME, d);
}

static enum corral_err decode_all(struct decode *run, int count, char **files, struct diag *d)
{
    uint8_t *data = malloc(RAW_MAX);
    enum corral_err err = CORRAL_OK;

    if (!data)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory to read a file");
    for (int i = 0; i < count && err == CORRAL_OK; i++)
        err = decode_file(run, files[i], data, d);
    free(data);
    return err;
}

static enum corral_err show_summary(struct decode *run, struct diag *d)
{
    enum corral_err err = event_bus_flush(run->bus, d);

    if (err == CORRAL_OK)
        err = prof_summary_make(&run->summary, run->streams, prof_analysis_aggregate(run->analysis), d);
    if (err != CORRAL_OK)
        return err;
    if (run->cli->json)
        return prof_summary_json(&run->summary, stdout, d);
    prof_summary_text(&run->summary, stdout);
    return CORRAL_OK;
}

int cmd_decode_prof(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    static const struct option options[] = {
        {"port", required_argument, NULL, 'p'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    struct diag d = DIAG_INIT;
    uint64_t port = PROF_PORT;
    int exit_code = 0, c;

    while ((c = cli_getopt(cli, command, argc, argv, options, &exit_code)) != -1) {
        if (c == CLI_DONE)
            return exit_code;
        if (!cli_parse_u64(cli, command, "decode prof: --port", optarg, 1, 65535, &port))
            return 2;
    }
    if (optind >= argc)
        return cli_usage(cli, command, "decode prof: no file given");
    struct decode run = {.cli = cli, .port = (uint16_t)port};
    enum corral_err err = decode_open(&run, &d);
    if (err == CORRAL_OK)
        err = decode_all(&run, argc - optind, argv + optind, &d);
    if (err == CORRAL_OK)
        err = show_summary(&run, &d);
    decode_close(&run);
    return err == CORRAL_OK ? 0 : cli_fail(cli, &d);
}
