/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral watch: values in memory, again and again, while the cores run (INTERFACE.md "Commands"). On a
 * terminal they change in place; elsewhere each look is a line.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/view_session.h"

#define FOREVER    INT64_MAX
#define NAME_MOST  48
#define DEFAULT_NS (500 * NS_PER_MS)

enum { OPT_SIZE = 256, OPT_INTERVAL, OPT_COUNT, OPT_SECONDS };

static const struct option options[] = {
    VIEW_OPTIONS,
    {"size", required_argument, NULL, OPT_SIZE},
    {"interval", required_argument, NULL, OPT_INTERVAL},
    {"count", required_argument, NULL, OPT_COUNT},
    {"seconds", required_argument, NULL, OPT_SECONDS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct watch {
    const struct cli *cli;
    struct view_request view;
    uint64_t size;           /* 0 = not given */
    int64_t interval_ns, ns; /* of the target's clock; ns FOREVER = until stopped */
    uint64_t count;          /* UINT64_MAX likewise */
    bool terminal;           /* draw in place */
    bool bounded;            /* ends by itself */
    struct host_clock *real; /* this host's, for a board whose clock is not */
    char **words;            /* as given */
    size_t places;
    char names[SESSION_WATCHED_MOST][TEXT_CLEAN_MAX(NAME_MOST)];
    struct session_watched list[SESSION_WATCHED_MOST];
};

static enum corral_err find_places(struct watch *w, struct view_session *v, struct diag *d)
{
    for (size_t i = 0; i < w->places; i++) {
        struct session_watched *p = &w->list[i];
        uint64_t size;
        enum corral_err err = session_address(v->s, &v->view, w->words[i], &p->address, &size, d);
        if (err)
            return err;
        /* a variable has its own size */
        p->size = w->size ? (unsigned)w->size : size == 1 || size == 2 ? (unsigned)size : 4;
        if (p->address % p->size != 0)
            return diag_set(d, CORRAL_ERR_USAGE, "0x%08" PRIx64 " is no multiple of %u: values are aligned",
                            p->address, p->size);
        text_escape((const uint8_t *)w->words[i], strnlen(w->words[i], NAME_MOST), w->names[i],
                    sizeof(w->names[i]));
    }
    return CORRAL_OK;
}

static void put_value(const struct session_watched *p)
{
    if (p->known)
        printf("0x%0*" PRIx32 " %" PRIu32, (int)p->size * 2, p->value, p->value);
    else
        fputs("not readable", stdout);
}

/* In place: each value has its row, and what was longer before is wiped. */
static void draw_rows(const struct watch *w, bool again)
{
    if (again)
        printf("\033[%zuA", w->places);
    for (size_t i = 0; i < w->places; i++) {
        printf("%-24s ", w->names[i]);
        put_value(&w->list[i]);
        fputs("\033[K\n", stdout);
    }
}

static void draw_line(const struct watch *w, int64_t ns)
{
    printf("@%" PRId64 ".%03d", (int64_t)(ns / NS_PER_S), (int)(ns % NS_PER_S / NS_PER_MS));
    for (size_t i = 0; i < w->places; i++) {
        printf("  %s ", w->names[i]);
        put_value(&w->list[i]);
    }
    putchar('\n');
}

static json_t *event_json(const struct watch *w, const struct view_session *v, int64_t ns)
{
    json_t *values = json_array();
    for (size_t i = 0; i < w->places; i++) {
        const struct session_watched *p = &w->list[i];
        json_t *j = json_pack("{s:s,s:I,s:i,s:o}", "name", w->names[i], "address", (json_int_t)p->address,
                              "size", (int)p->size, "value", p->known ? json_integer(p->value) : json_null());
        if (j && !p->known)
            json_object_set_new(j, "error", json_string(p->why.message));
        json_array_append_new(values, j);
    }
    const char *core = v->view.by_ap ? NULL : session_core_name(v->s, v->view.core);
    return json_pack("{s:s,s:s,s:s?,s:I,s:n,s:o}", "kind", "watch", "stream", "watch", "core", core,
                     "host_ns", (json_int_t)ns, "target_ns", "values", values);
}

static enum corral_err draw(const struct watch *w, const struct view_session *v, int64_t ns, bool again,
                            struct diag *d)
{
    if (w->cli->json) {
        json_t *j = event_json(w, v, ns);
        char *line = j ? json_dumps(j, JSON_COMPACT) : NULL;
        json_decref(j);
        if (!line)
            return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        puts(line);
        free(line);
    } else if (w->terminal) {
        draw_rows(w, again);
    } else {
        draw_line(w, ns);
    }
    return cli_close_stdout(d); /* flushes: who reads it reads it now */
}

/* The board in this process is not bound to real time: watched without an end it is not to run ahead. */
static void keep_pace(const struct watch *w, const struct view_session *v, int64_t since)
{
    if (w->bounded || !host_clock_is_virtual(session_clock(v->s)))
        return;
    int64_t rest = w->interval_ns - (host_clock_now(w->real) - since);
    if (rest > 0)
        poll(NULL, 0, (int)(rest / NS_PER_MS)); /* a signal ends it */
}

static enum corral_err look_again_and_again(struct watch *w, struct view_session *v, struct diag *d)
{
    const atomic_bool *stop = cli_stop_flag();
    int64_t begin = host_clock_now(session_clock(v->s)), ns = 0;
    enum corral_err err = CORRAL_OK;
    for (uint64_t n = 0; !err && n < w->count && !atomic_load(stop); n++) {
        int64_t since = host_clock_now(w->real);
        if (n > 0) {
            int64_t next = ns + w->interval_ns, now = host_clock_now(session_clock(v->s));
            if (w->ns != FOREVER && next - begin > w->ns)
                break;
            if (next > now)
                err = session_run_for(v->s, next - now, stop, d);
            keep_pace(w, v, since);
            if (err || atomic_load(stop))
                break;
        }
        err = session_read_watched(v->s, &v->view, w->list, w->places, &ns, d);
        if (!err)
            err = draw(w, v, ns, n > 0, d);
        else if (n > 0 && err == CORRAL_ERR_LINK_FAULT) /* for the moment nothing can be read */
            err = draw(w, v, ns, true, d);
    }
    return err == CORRAL_ERR_INTERRUPTED ? CORRAL_OK : err;
}

static int perform(struct watch *w)
{
    struct diag d = DIAG_INIT, late = DIAG_INIT;
    struct view_session v;
    w->real = host_clock_new_real();
    enum corral_err err = view_open(w->cli, &w->view, &v, &d);
    if (!err && !w->real)
        err = diag_set(&d, CORRAL_ERR_NO_MEMORY, "out of memory");
    if (!err && session_has_stub(v.s))
        err = diag_set(&d, CORRAL_ERR_UNSUPPORTED,
                       "a gdb stub answers nothing while its target runs: nothing would be seen to change");
    if (!err)
        err = find_places(w, &v, &d);
    if (!err)
        err = look_again_and_again(w, &v, &d);
    enum corral_err closing = view_close(&v, false, &late);
    host_clock_free(w->real);
    if (!err && closing)
        d = late;
    return err || closing ? cli_fail(w->cli, &d) : 0;
}

static bool take(const struct cli_command *command, int c, struct watch *w)
{
    const struct cli *cli = w->cli;
    double seconds = 0;
    switch (c) {
    case OPT_SIZE:
        if (!cli_parse_u64(cli, command, "--size", optarg, 1, 4, &w->size))
            return false;
        if (w->size != 3)
            return true;
        cli_usage(cli, command, "--size: values have 1, 2 or 4 bytes");
        return false;
    case OPT_INTERVAL:
        if (!cli_parse_seconds(cli, command, "--interval", optarg, 0.001, 3600, &seconds))
            return false;
        w->interval_ns = (int64_t)llround(seconds * (double)NS_PER_S);
        return true;
    case OPT_COUNT:
        w->bounded = true;
        return cli_parse_u64(cli, command, "--count", optarg, 1, UINT64_MAX, &w->count);
    case OPT_SECONDS:
        w->bounded = true;
        if (!cli_parse_seconds(cli, command, "--seconds", optarg, 0, 1e6, &seconds))
            return false;
        w->ns = (int64_t)llround(seconds * (double)NS_PER_S);
        return true;
    default:
        return view_take(cli, command, c, &w->view);
    }
}

static int run_watch(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct watch *w = calloc(1, sizeof(*w));
    int exit_code = 0;
    if (!w)
        return cli_fail(cli, &(struct diag){CORRAL_ERR_NO_MEMORY, "out of memory", "", ""});
    w->cli = cli;
    w->interval_ns = DEFAULT_NS;
    w->ns = FOREVER;
    w->count = UINT64_MAX;
    w->terminal = isatty(STDOUT_FILENO) && !cli->json;
    int c = 0;
    bool ok = true;
    while (ok && (c = cli_getopt(cli, command, argc, argv, options, &exit_code)) != -1 && c != CLI_DONE)
        ok = take(command, c, w);
    if (!ok) {
        exit_code = 2;
    } else if (c != CLI_DONE) {
        w->words = argv + optind;
        w->places = (size_t)(argc - optind);
        if (w->places == 0)
            exit_code = cli_usage(cli, command, "watch: which address?");
        else if (w->places > SESSION_WATCHED_MOST)
            exit_code =
                cli_usage(cli, command, "watch: at most %d places can be watched", SESSION_WATCHED_MOST);
        else
            exit_code = perform(w);
    }
    free(w);
    return exit_code;
}

const struct cli_command cmd_watch = {
    .name = "watch",
    .summary = "values in memory as they change, without halting",
    .help =
        "Usage: corral [--link LINK] [--json] watch [--core NAME | --ap N] [--size 1|2|4] [--interval S]\n"
        "                   [--count N | --seconds S] ADDR...\n"
        "\n"
        "Reads the values again and again while the cores run, until Ctrl-C. On a terminal they change in\n"
        "place; elsewhere each look is a line. A value that cannot be read is said to be so, and tried\n"
        "again; that the link is gone ends it with exit code 3. ADDR is as for 'corral read'.\n"
        "\n"
        "  --core NAME   as this core sees it (default: the first)\n"
        "  --ap N        through this access port, no core being looked for\n"
        "  --size N      bytes a value: 1, 2 or 4 (default: the symbol's own size, else 4)\n"
        "  --interval S  from one look to the next (default 0.5)\n"
        "  --count N     end after N looks\n"
        "  --seconds S   end after S seconds (target time on the virtual board)\n"
        "\n"
        "Example: corral --link sim watch --interval 0.01 --count 5 0x20044000\n",
    .run = run_watch,
};
