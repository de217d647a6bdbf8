/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `corral profile`: collect a statistical profile from whatever sends one, then report. Thin over
 * session/profiling.h; what is shown and exported comes from one report, made when nothing comes any more.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/profile_files.h"
#include "cli/profile_options.h"
#include "cli/profile_sources.h"
#include "cli/render_profile.h"
#include "export/export_sinks.h"
#include "session/session.h"

#define SLICE_NS (50 * NS_PER_MS)
#define FOREVER  INT64_MAX
#define TELL_NS  (500 * NS_PER_MS)
#define ASK_NS   (1 * NS_PER_S)

struct profile {
    const struct cli *cli;
    struct profile_options o;
    struct profile_sources sources;
    struct event_bus *bus; /* with a sink when events are exported */
    uint64_t events_dropped;
    bool told; /* a line of progress stands on the terminal */
    int64_t next_tell, next_ask;
};

/* --- progress: on a terminal's stderr only -------------------------------------------------------------- */

static bool wants_progress(const struct profile *p)
{
    return !p->cli->quiet && isatty(STDERR_FILENO);
}

static void tell_packets(struct profile *p)
{
    struct prof_totals t;
    prof_streams_get_totals(profiling_streams(p->sources.profiling), &t);
    fprintf(stderr, "\r%" PRIu64 " packets, %" PRIu64 " samples, %" PRIu64 " lost; Ctrl-C ends \x1b[K",
            t.packets, t.samples, t.lost);
    fflush(stderr);
    p->told = true;
}

static void tell_live(struct profile *p, int64_t now)
{
    if (!wants_progress(p) || now < p->next_tell)
        return;
    p->next_tell = now + TELL_NS;
    tell_packets(p);
}

static void tell_file(void *ctx, uint64_t done, uint64_t size)
{
    struct profile *p = ctx;
    if (!wants_progress(p))
        return;
    if (size)
        fprintf(stderr, "\r%3.0f %% read \x1b[K", 100.0 * (double)done / (double)size);
    else
        tell_packets(p);
    fflush(stderr);
    p->told = true;
}

static void clear_progress(struct profile *p)
{
    if (p->told)
        fputs("\r\x1b[K", stderr);
    p->told = false;
}

/* --- opening -------------------------------------------------------------------------------------------- */

static enum corral_err attach_events(struct profile *p, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < p->o.export_count && err == CORRAL_OK; i++) {
        if (strcmp(p->o.exports[i].format, "jsonl") != 0)
            continue;
        struct sink *sink = export_jsonl_open(p->o.exports[i].path, d);
        err = sink ? cli_attach_sink(p->bus, sink, d) : d->code;
    }
    return err;
}

static bool wants_events(const struct profile *p)
{
    for (size_t i = 0; i < p->o.export_count; i++)
        if (strcmp(p->o.exports[i].format, "jsonl") == 0)
            return true;
    return false;
}

/* A file that is sure to be refused at the end is refused at the beginning. */
static enum corral_err check_exports(struct profile *p, struct diag *d)
{
    for (size_t i = 0; i < p->o.export_count; i++) {
        if (strcmp(p->o.exports[i].format, "gmon") != 0 || profiling_has_images(p->sources.profiling))
            continue;
        diag_set(d, CORRAL_ERR_UNSUPPORTED,
                 "--export: a gmon file needs an ELF file: its byte order and its "
                 "ranges are in no packet");
        diag_hint(d, "give it with --elf");
        return CORRAL_ERR_UNSUPPORTED;
    }
    return profile_files_check(&p->o, p->sources.profiling, d);
}

static enum corral_err open_all(struct profile *p, struct diag *d)
{
    p->bus = event_bus_new();
    if (!p->bus)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    p->sources = (struct profile_sources){.cli = p->cli, .o = &p->o, .stop = cli_stop_flag()};
    if (wants_events(p))
        p->sources.bus = p->bus;
    enum corral_err err = profile_sources_open(&p->sources, d);
    if (err == CORRAL_OK)
        err = check_exports(p, d);
    return err == CORRAL_OK ? attach_events(p, d) : err;
}

/* --- collecting ----------------------------------------------------------------------------------------- */

static void tell_start(struct profile *p)
{
    struct prof_collector *collector = profiling_collector(p->sources.profiling);
    if (p->cli->quiet || p->cli->json || !collector || p->sources.session)
        return;
    fprintf(stderr, "corral: collecting on UDP port %u of %s%s\n", (unsigned)prof_collector_port(collector),
            profile_sources_address(&p->sources), p->o.ns < 0 ? "; Ctrl-C ends and reports" : "");
}

/* Maps of processes come while it runs, so that the report has names for them. */
static void ask_maps(struct profile *p, int64_t now)
{
    if (!p->o.connect || now < p->next_ask)
        return;
    p->next_ask = now + ASK_NS;
    struct prof_report *report = profiling_report(p->sources.profiling, -1, 0, false, NULL);
    if (report)
        profiling_ask_maps(p->sources.profiling, report);
    prof_report_free(report);
}

static enum corral_err wait_slice(struct profile *p, int64_t ns, struct diag *d)
{
    if (p->sources.session)
        return profile_sources_run(&p->sources, ns, d);
    host_clock_sleep(profile_sources_clock(&p->sources), ns); /* packets come on a thread of their own */
    return event_bus_drain(p->bus, d);
}

/* Interrupted is how a collection without an end ends. */
static enum corral_err collect(struct profile *p, struct diag *d)
{
    const atomic_bool *stop = cli_stop_flag();
    struct host_clock *clock = profile_sources_clock(&p->sources);
    enum corral_err err = CORRAL_OK;
    int64_t left = p->o.ns < 0 ? FOREVER : p->o.ns;
    while (err == CORRAL_OK && left > 0 && !atomic_load(stop)) {
        int64_t before = host_clock_now(clock);
        tell_live(p, before);
        ask_maps(p, before);
        err = wait_slice(p, left < SLICE_NS ? left : SLICE_NS, d);
        if (left != FOREVER)
            left -= host_clock_now(clock) - before;
    }
    return err == CORRAL_ERR_INTERRUPTED ? CORRAL_OK : err;
}

static enum corral_err collect_live(struct profile *p, struct diag *d)
{
    enum corral_err err = profile_sources_start(&p->sources, d);
    if (err != CORRAL_OK)
        return err;
    tell_start(p);
    return collect(p, d);
}

/* The last packets, and every event of them drawn. */
static enum corral_err finish(struct profile *p, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    if (p->sources.session)
        err = session_stop_profile(p->sources.session, d);
    else
        profiling_finish(p->sources.profiling);
    if (err == CORRAL_OK)
        err = event_bus_drain(p->bus, d);
    return err == CORRAL_OK ? event_bus_flush(p->bus, d) : err;
}

/* --- what came out -------------------------------------------------------------------------------------- */

/* A format may have no place for all there is: what is not in the file is said. */
static enum corral_err export_file(struct profile *p, const struct prof_report *report,
                                   const struct profile_export *export, struct diag *d)
{
    *d = (struct diag)DIAG_INIT;
    enum corral_err err =
        profiling_export_report(p->sources.profiling, report, export->format, export->path, d);
    if (err == CORRAL_OK && d->message[0] && !p->cli->quiet)
        fprintf(stderr, "corral: %s: %s\n", export->path, d->message);
    return err;
}

static enum corral_err export_files(struct profile *p, const struct prof_report *report, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < p->o.export_count && err == CORRAL_OK; i++)
        if (strcmp(p->o.exports[i].format, "jsonl") != 0)
            err = export_file(p, report, &p->o.exports[i], d);
    return err;
}

static enum corral_err show(struct profile *p, const struct prof_report *report,
                            struct profiling_remarks *remarks, struct diag *d)
{
    const struct profile_sources *s = &p->sources;
    profiling_remarks_find(report, remarks);
    profile_sources_remarks(&p->sources, report, remarks);
    if (p->events_dropped)
        profiling_remarks_add(remarks, PROFILING_LOSS, -1, "events-dropped",
                              "%" PRIu64 " events did not get into the jsonl file: it is too slow",
                              p->events_dropped);
    if (p->cli->json) {
        const struct render_profile_source source = {.files = p->o.pcap_count ? &s->files : NULL,
                                                     .damaged_files = s->damaged_files,
                                                     .events_dropped = p->events_dropped};
        return render_profile_json(stdout, report, remarks, p->o.thread, &source, d);
    }
    const struct render_profile r = {.out = stdout,
                                     .width = render_profile_width(stdout),
                                     .colour = cli_want_colour(stdout),
                                     .top = p->o.top,
                                     .thread = p->o.thread};
    render_profile_text(&r, report, remarks);
    return CORRAL_OK;
}

static enum corral_err judge_loss(struct profile *p, const struct prof_report *report, struct diag *d)
{
    uint64_t loss = profiling_loss(report) + p->sources.damaged_files + p->events_dropped;
    if (!p->o.fail_on_loss || loss == 0)
        return CORRAL_OK;
    fflush(stdout);
    return diag_set(d, CORRAL_ERR_DATA_LOST, "data was lost: %" PRIu64 " packet%s%s", report->totals.lost,
                    report->totals.lost == 1 ? "" : "s",
                    loss > report->totals.lost ? ", and more (see the report)" : "");
}

/* The files first: the text on a pipe that nobody reads must not keep them from being written. */
static enum corral_err report_all(struct profile *p, struct diag *d)
{
    struct profiling_remarks *remarks = calloc(1, sizeof(*remarks));
    struct prof_report *report = NULL;
    struct diag late = DIAG_INIT;
    enum corral_err written = CORRAL_OK;
    enum corral_err err = remarks ? CORRAL_OK : diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    if (err == CORRAL_OK) {
        report = profiling_report(p->sources.profiling, p->o.thread, p->o.top, true, d);
        err = report ? CORRAL_OK : d->code;
    }
    if (report) {
        p->events_dropped = event_bus_dropped(p->bus);
        written = export_files(p, report, &late);
        err = show(p, report, remarks, d);
    }
    if (err == CORRAL_OK && written != CORRAL_OK) {
        fflush(stdout);
        err = written;
        *d = late;
    }
    if (err == CORRAL_OK && report)
        err = judge_loss(p, report, d);
    prof_report_free(report);
    free(remarks);
    return err;
}

static int profile(struct profile *p)
{
    struct diag d = DIAG_INIT, late = DIAG_INIT;
    cli_stop_flag(); /* from here on Ctrl-C finds files that must be closed properly */
    enum corral_err err = open_all(p, &d);
    if (err == CORRAL_OK)
        err = profile_sources_read_files(&p->sources, tell_file, p, &d);
    if (err == CORRAL_OK && profile_sources_live(&p->sources))
        err = collect_live(p, &d);
    clear_progress(p);
    if (err == CORRAL_OK)
        err = finish(p, &d); /* only now is it known what was lost */
    if (err == CORRAL_OK)
        err = report_all(p, &d);
    err = profile_sources_close(&p->sources, err, &d);
    enum corral_err closing = event_bus_free(p->bus, &late);
    if (err == CORRAL_OK && closing != CORRAL_OK) {
        err = closing;
        d = late;
    }
    return err == CORRAL_OK ? 0 : cli_fail(p->cli, &d);
}

/* --- the command ------------------------------------------------------------------------------------------
 */

static int cmd_profile_run(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct profile *p = calloc(1, sizeof(*p));
    struct diag d = DIAG_INIT;
    int exit_code = 0;
    if (!p) {
        diag_set(&d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return cli_fail(cli, &d);
    }
    p->cli = cli;
    if (profile_options_parse(cli, command, argc, argv, &p->o, &exit_code)) {
        if (p->o.diff[0]) {
            exit_code = profile_compare(cli, &p->o);
        } else {
            exit_code = profile(p);
        }
    }
    free(p);
    return exit_code;
}

const struct cli_command cmd_profile = {
    .name = "profile",
    .summary = "collect a statistical profile, then report where the time goes",
    .help =
        "Usage: corral [--link LINK] [--json] profile [OPTION]...\n"
        "       corral [--json] profile [--elf ...] --diff A B\n"
        "\n"
        "Collects the packets of a target's sampler until --seconds are over or Ctrl-C, and reports: what\n"
        "was lost, where the time goes, threads, functions, addresses, counters, memory and latencies.\n"
        "\n"
        "  --listen ADDR:PORT   collect UDP packets there (default 127.0.0.1:51080, which only this machine\n"
        "                       reaches: 0.0.0.0:51080 for a target on the network; port 0 = any free one)\n"
        "  --connect HOST[:PORT]  have the target's daemon send here, and take the process maps it tells\n"
        "  --pcap FILE          read a capture file instead, - is standard input; may be given again\n"
        "  --port N             the UDP destination port to read in captures (default 51080)\n"
        "  --pcsr               sample the cores' PC over the debug link; the firmware needs no sampler\n"
        "  --elf [SOURCE=]FILE[@OFFSET]  names for addresses: of the sender SOURCE (its name, ADDR[:PORT],\n"
        "                       or its number in the report), or of all; loaded OFFSET bytes higher\n"
        "  --seconds S          end after S seconds (target time on the virtual board)\n"
        "  --export FORMAT:FILE folded, speedscope, pprof, gmon, svg, or jsonl (the events); again for more\n"
        "  --diff A B           compare two captures or reports saved with --json\n"
        "  --thread N           only hardware thread N\n"
        "  --top N              functions and addresses shown of each sender (default 20)\n"
        "  --fail-on-loss       exit code 4 when anything was lost\n"
        "  --legacy-headers     also read the headers, never the samples, of packets of versions 5 to 16\n"
        "\n"
        "With --link the target's own packets are collected: --link sim is the virtual board.\n"
        "\n"
        "Example: corral --link sim profile --seconds 1 --export svg:profile.svg\n"
        "         corral profile --listen 0.0.0.0:51080 --elf 192.168.1.10=fw.elf\n",
    .run = cmd_profile_run,
};
