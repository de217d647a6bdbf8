/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `corral top`: what `corral profile` reports, live on the terminal. Thin: a report a second
 * (session/profiling.h), drawn by top_view.c, put on the screen by top_term.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/profile_sources.h"
#include "cli/top_term.h"
#include "cli/top_terminfo.h"
#include "cli/top_view.h"
#include "session/session.h"

#define REPORT_NS  NS_PER_S
#define SLICE_NS   (50 * NS_PER_MS)
#define IDLE_MS    100
#define SAID_NS    (4 * NS_PER_S)
#define HOT_LIMIT  20000 /* addresses of each sender */
#define COST_SHARE 4     /* reports take at most a quarter of the time, however long one takes */

struct top {
    const struct cli *cli;
    struct profile_options o;
    struct profile_sources sources;
    const atomic_bool *stop;
    struct top_view *view;
    struct top_canvas canvas;
    struct host_clock *clock; /* real time, whatever the target's */
    struct prof_report *report;
    struct profiling_remarks *remarks;
    char source[160];
    bool live, shown, dirty, quit;
    int64_t begin_target, begin, next_report, next_draw;
    uint64_t came; /* packets and what was refused, as of `came_at` */
    int64_t came_at;
    char said[200]; /* an answer to a key, until `said_until` */
    int64_t said_until;
    struct diag trouble;
};

static void say(struct top *t, int64_t now, const char *text)
{
    snprintf(t->said, sizeof(t->said), "%s", text);
    t->said_until = now + SAID_NS;
    t->dirty = true;
}

/* --- the report ----------------------------------------------------------------------------------------- */

static enum corral_err take_report(struct top *t, struct diag *d)
{
    int64_t before = host_clock_now(t->clock);
    struct prof_report *report =
        profiling_report(t->sources.profiling, top_view_thread(t->view), HOT_LIMIT, false, d);
    if (!report)
        return d->code;
    profiling_remarks_find(report, t->remarks);
    profile_sources_remarks(&t->sources, report, t->remarks);
    top_view_set_report(t->view, report, t->remarks);
    prof_report_free(t->report);
    t->report = report;
    if (t->o.connect)
        profiling_ask_maps(t->sources.profiling, report);
    int64_t after = host_clock_now(t->clock);
    int64_t rest = COST_SHARE * (after - before);
    t->next_report = after + (rest > REPORT_NS ? rest : REPORT_NS);
    t->dirty = true;
    return CORRAL_OK;
}

/* Does the target live? Whatever it sent counts. */
static void look_for_life(struct top *t, int64_t now)
{
    struct prof_totals sum;
    prof_streams_get_totals(profiling_streams(t->sources.profiling), &sum);
    uint64_t came = sum.packets + sum.rejected + sum.counters_packets + sum.maps_packets;
    if (came != t->came) {
        t->came = came;
        t->came_at = now;
    }
}

/* --- keys ----------------------------------------------------------------------------------------------- */

static enum corral_err act(struct top *t, enum top_action action, int64_t now, struct diag *d)
{
    switch (action) {
    case TOP_QUIT:
        t->quit = true;
        return CORRAL_OK;
    case TOP_RESET:
        if (!t->live) {
            say(t, now, "a file counts once: there is nothing to count anew");
            return CORRAL_OK;
        }
        profiling_reset(t->sources.profiling);
        t->begin = now;
        t->begin_target = host_clock_now(profile_sources_clock(&t->sources));
        say(t, now, "counting anew from now on");
        return take_report(t, d);
    case TOP_PAUSE:
        say(t, now, top_view_paused(t->view) ? "standing still; collecting goes on" : "going on");
        return top_view_paused(t->view) ? CORRAL_OK : take_report(t, d);
    case TOP_THREAD: {
        char text[64];
        if (top_view_thread(t->view) < 0)
            snprintf(text, sizeof(text), "all threads");
        else
            snprintf(text, sizeof(text), "only thread %d (t and a number: that one)",
                     top_view_thread(t->view));
        say(t, now, text);
        return take_report(t, d);
    }
    case TOP_REPAINT:
        top_term_repaint();
        return CORRAL_OK;
    default:
        return CORRAL_OK;
    }
}

static enum corral_err take_keys(struct top *t, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    uint32_t key = 0;
    bool resized = false;
    while (err == CORRAL_OK && !t->quit && top_term_key(&key, &resized)) {
        int64_t now = host_clock_now(t->clock);
        t->dirty = true;
        if (key)
            err = act(t, top_view_key(t->view, key, now), now, d);
    }
    return err;
}

/* --- the screen ----------------------------------------------------------------------------------------- */

static enum corral_err draw(struct top *t, int64_t now, struct diag *d)
{
    unsigned rows, columns;
    int64_t target = host_clock_now(profile_sources_clock(&t->sources)) - t->begin_target;
    const struct top_info info = {
        .source = t->source,
        .seconds = t->live ? (double)target / (double)NS_PER_S : -1,
        .silent = t->live ? (double)(now - t->came_at) / (double)NS_PER_S : -1,
        .trouble = t->trouble.code != CORRAL_OK ? t->trouble.message : NULL,
        .said = now < t->said_until ? t->said : NULL,
    };
    top_term_size(&rows, &columns);
    if (!top_view_draw(t->view, &info, &t->canvas, rows, columns))
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    top_term_show(&t->canvas);
    t->dirty = false;
    t->next_draw = now + NS_PER_S;
    return CORRAL_OK;
}

/* The target's time passes, or this host's; a target that cannot be reached is said, and tried again. */
static void let_pass(struct top *t)
{
    int64_t before = host_clock_now(t->clock);
    int wait = IDLE_MS;
    if (t->sources.session) {
        struct diag d = DIAG_INIT;
        enum corral_err err = profile_sources_run(&t->sources, SLICE_NS, &d);
        if (err == CORRAL_ERR_INTERRUPTED)
            return;
        t->dirty |= err != t->trouble.code;
        t->trouble = err == CORRAL_OK ? (struct diag)DIAG_INIT : d;
        /* the virtual board is not bound to real time: it is not to run ahead of it */
        int64_t rest = SLICE_NS - (host_clock_now(t->clock) - before);
        wait = rest > 0 ? (int)(rest / NS_PER_MS) : 0;
    }
    top_term_wait(wait);
}

static bool is_over(struct top *t)
{
    if (t->quit || atomic_load(t->stop))
        return true;
    return t->o.ns >= 0 && t->live &&
           host_clock_now(profile_sources_clock(&t->sources)) - t->begin_target >= t->o.ns;
}

static enum corral_err watch(struct top *t, struct diag *d)
{
    enum corral_err err = take_report(t, d);
    while (err == CORRAL_OK && !is_over(t)) {
        int64_t now = host_clock_now(t->clock);
        look_for_life(t, now);
        if (t->live && !top_view_paused(t->view) && now >= t->next_report)
            err = take_report(t, d);
        if (top_term_attend())
            t->dirty = true;
        if (err == CORRAL_OK && (t->dirty || now >= t->next_draw))
            err = draw(t, now, d);
        let_pass(t);
        if (err == CORRAL_OK)
            err = take_keys(t, d);
    }
    return err;
}

/* --- beginning and end ---------------------------------------------------------------------------------- */

static void tell_file(void *ctx, uint64_t done, uint64_t size)
{
    const struct top *t = ctx;
    if (t->cli->quiet || !isatty(STDERR_FILENO) || !size)
        return;
    fprintf(stderr, "\r%3.0f %% read \x1b[K", 100.0 * (double)done / (double)size);
    fflush(stderr);
}

static void name_source(struct top *t)
{
    struct prof_collector *collector = profiling_collector(t->sources.profiling);
    if (t->sources.session)
        snprintf(t->source, sizeof(t->source), "%s", t->cli->link ? t->cli->link : "target");
    else if (t->o.connect)
        snprintf(t->source, sizeof(t->source), "%.120s", t->o.connect);
    else if (collector)
        snprintf(t->source, sizeof(t->source), "UDP %.100s:%u", t->o.listen ? t->o.listen : "port",
                 (unsigned)prof_collector_port(collector));
    else
        snprintf(t->source, sizeof(t->source), "%.120s%s", t->o.pcaps[0], t->o.pcap_count > 1 ? " ..." : "");
}

static enum corral_err begin(struct top *t, struct diag *d)
{
    t->clock = host_clock_new_real();
    t->view = top_view_new();
    t->remarks = calloc(1, sizeof(*t->remarks));
    if (!t->clock || !t->view || !t->remarks)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    top_view_set_thread(t->view, t->o.thread);
    t->sources.cli = t->cli;
    t->sources.o = &t->o;
    t->sources.stop = t->stop;
    enum corral_err err = profile_sources_open(&t->sources, d);
    if (err == CORRAL_OK)
        err = profile_sources_read_files(&t->sources, tell_file, t, d);
    t->live = err == CORRAL_OK && profile_sources_live(&t->sources);
    if (t->live)
        err = profile_sources_start(&t->sources, d);
    if (err != CORRAL_OK)
        return err;
    name_source(t);
    t->begin = t->came_at = host_clock_now(t->clock);
    t->begin_target = host_clock_now(profile_sources_clock(&t->sources));
    return CORRAL_OK;
}

/* What was lost is said at the end, too, where it stays; but not to a terminal that has gone. */
static void say_goodbye(const struct top *t)
{
    if (!t->report || t->cli->quiet || !isatty(STDOUT_FILENO))
        return;
    printf("%" PRIu64 " samples in %" PRIu64 " packets, %" PRIu64 " lost, %" PRIu64
           " dropped by the kernel, %" PRIu64 " rejected\n",
           t->report->totals.samples, t->report->totals.packets, t->report->totals.lost,
           t->report->kernel_drops, t->report->totals.rejected);
}

static int top(struct top *t)
{
    struct diag d = DIAG_INIT;
    t->stop = top_term_signals();
    enum corral_err err = begin(t, &d);
    if (err == CORRAL_OK)
        err = top_term_open(cli_want_colour(stdout), &d);
    if (err == CORRAL_OK)
        err = watch(t, &d);
    if (err == CORRAL_ERR_INTERRUPTED)
        err = CORRAL_OK;
    top_term_close();
    if (err == CORRAL_OK)
        say_goodbye(t);
    prof_report_free(t->report);
    err = profile_sources_close(&t->sources, err, &d);
    top_view_free(t->view);
    top_canvas_free(&t->canvas);
    free(t->remarks);
    host_clock_free(t->clock);
    return err == CORRAL_OK ? 0 : cli_fail(t->cli, &d);
}

/* Options that are for a report at the end. */
static const char *not_here(const struct profile_options *o)
{
    if (o->export_count)
        return "--export";
    if (o->diff[0])
        return "--diff";
    if (o->fail_on_loss)
        return "--fail-on-loss";
    for (size_t i = 0; i < o->pcap_count; i++)
        if (strcmp(o->pcaps[i], "-") == 0)
            return "--pcap - (standard input is the keyboard)";
    return NULL;
}

static int cmd_top_run(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct top *t = calloc(1, sizeof(*t));
    struct diag d = DIAG_INIT;
    int exit_code = 0;
    if (!t) {
        diag_set(&d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return cli_fail(cli, &d);
    }
    t->cli = cli;
    if (profile_options_parse(cli, command, argc, argv, &t->o, &exit_code)) {
        const char *wrong = cli->json ? "--json" : not_here(&t->o);
        if (wrong)
            exit_code = cli_usage(cli, command, "top: %s is for 'corral profile'", wrong);
        else if (top_terminfo_check(&d) != CORRAL_OK)
            exit_code = cli_fail(cli, &d);
        else
            exit_code = top(t);
    }
    free(t);
    return exit_code;
}

const struct cli_command cmd_top = {
    .name = "top",
    .summary = "the same live on the terminal, a view for each question",
    .help =
        "Usage: corral [--link LINK] top [OPTION]...\n"
        "\n"
        "Shows a profile while it is collected: summary, threads, functions, addresses, counters, memory,\n"
        "latencies and losses. What is lost is in sight in every view. Keys: 1 to 8 or Tab for the views,\n"
        "Enter for details, < and > to sort, / to search, t for one thread, space to stand still, r to\n"
        "count anew, ? for help, q to end.\n"
        "\n"
        "  --listen ADDR:PORT   collect UDP packets there (default 127.0.0.1:51080, which only this machine\n"
        "                       reaches: 0.0.0.0:51080 for a target on the network; port 0 = any free one)\n"
        "  --connect HOST[:PORT]  have the target's daemon send here, and take the process maps it tells\n"
        "  --pcap FILE          look through a capture file; may be given again\n"
        "  --port N             the UDP destination port to read in captures (default 51080)\n"
        "  --pcsr               sample the cores' PC over the debug link; the firmware needs no sampler\n"
        "  --elf [SOURCE=]FILE[@OFFSET]  names for addresses, as for 'corral profile'\n"
        "  --seconds S          end after S seconds (target time on the virtual board)\n"
        "  --legacy-headers     also read the headers, never the samples, of packets of versions 5 to 16\n"
        "  --thread N           only hardware thread N to begin with\n"
        "\n"
        "With --link the target's own packets are collected: --link sim is the virtual board.\n"
        "\n"
        "Example: corral --link sim top\n",
    .run = cmd_top_run,
};
