/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral decode prof: profile packets out of captures or raw datagrams, offline. INTERFACE.md "The profile,
 * exactly". Follows the same path as a live collection: datagram, stream, event, sink.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/prof_summary.h"
#include "export/export_sinks.h"

#define ELFS_MOST 100

struct decode {
    const struct cli *cli;
    struct event_bus *bus;
    struct host_clock *clock;
    struct profiling *profiling;
    struct prof_summary summary;
    bool legacy_headers;
    uint16_t port; /* the destination port that carries the profile */
    const char *elfs[ELFS_MOST];
    size_t elf_count;
};

static enum corral_err attach(struct decode *run, struct diag *d)
{
    struct sink *sink =
        run->cli->json ? export_jsonl_stream(stdout) : render_text_sink(stdout, cli_want_colour(stdout));
    if (!sink)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory to decode profile packets");
    return cli_attach_sink(run->bus, sink, d);
}

static enum corral_err decode_open(struct decode *run, struct diag *d)
{
    run->bus = event_bus_new();
    run->clock = host_clock_new_real();
    if (!run->bus || !run->clock)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory to decode profile packets");
    const struct profiling_options options = {.bus = run->bus, .clock = run->clock};
    run->profiling = profiling_new(&options, d);
    if (!run->profiling)
        return d->code;
    if (run->legacy_headers)
        prof_streams_legacy_headers(profiling_streams(run->profiling));
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < run->elf_count && err == CORRAL_OK; i++)
        err = profiling_add_elf(run->profiling, run->elfs[i], d);
    return err == CORRAL_OK ? attach(run, d) : err;
}

static void decode_close(struct decode *run)
{
    prof_summary_free(&run->summary);
    profiling_free(run->profiling);
    event_bus_free(run->bus, NULL);
    host_clock_free(run->clock);
}

static void add_stats(struct decode *run, const struct profiling_file_stats *one)
{
    struct profiling_file_stats *sum = &run->summary.capture;

    sum->packets += one->packets;
    sum->udp += one->udp;
    sum->other += one->other;
    sum->fragments += one->fragments;
    sum->cut += one->cut;
    sum->unknown_linktype += one->unknown_linktype;
    if (!one->damaged)
        return;
    run->summary.damaged_files++;
    if (!run->cli->quiet) /* what came before stands, so this is a remark */
        cli_fail(run->cli, &one->damage);
}

static enum corral_err decode_all(struct decode *run, int count, char **files, struct diag *d)
{
    enum corral_err err = CORRAL_OK;

    for (int i = 0; i < count && err == CORRAL_OK; i++) {
        struct profiling_file_stats stats = {0};
        err = profiling_read_capture(run->profiling, files[i], run->port, true, cli_stop_flag(), NULL, NULL,
                                     &stats, d);
        add_stats(run, &stats);
    }
    return err;
}

static enum corral_err show_summary(struct decode *run, struct diag *d)
{
    enum corral_err err = event_bus_flush(run->bus, d);

    if (err == CORRAL_OK)
        err = prof_summary_make(&run->summary, run->profiling, d);
    if (err != CORRAL_OK)
        return err;
    if (run->cli->json)
        return prof_summary_json(&run->summary, stdout, d);
    prof_summary_text(&run->summary, stdout);
    return CORRAL_OK;
}

int cmd_decode_prof(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    static const struct option options[] = {{"port", required_argument, NULL, 'p'},
                                            {"elf", required_argument, NULL, 'e'},
                                            {"legacy-headers", no_argument, NULL, 'l'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct diag d = DIAG_INIT;
    struct decode run = {.cli = cli};
    uint64_t port = PROF_PORT;
    int exit_code = 0, c;

    while ((c = cli_getopt(cli, command, argc, argv, options, &exit_code)) != -1) {
        if (c == CLI_DONE)
            return exit_code;
        if (c == 'p' && !cli_parse_u64(cli, command, "decode prof: --port", optarg, 1, 65535, &port))
            return 2;
        if (c == 'l')
            run.legacy_headers = true;
        if (c == 'e' && run.elf_count == ELFS_MOST)
            return cli_usage(cli, command, "decode prof: at most %d times --elf", ELFS_MOST);
        if (c == 'e')
            run.elfs[run.elf_count++] = optarg;
    }
    if (optind >= argc)
        return cli_usage(cli, command, "decode prof: no file given");
    run.port = (uint16_t)port;
    enum corral_err err = decode_open(&run, &d);
    if (err == CORRAL_OK)
        err = decode_all(&run, argc - optind, argv + optind, &d);
    if (err == CORRAL_OK)
        err = show_summary(&run, &d);
    decode_close(&run);
    return err == CORRAL_OK ? 0 : cli_fail(cli, &d);
}
