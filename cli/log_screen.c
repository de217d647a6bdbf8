/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing and drawing for `corral log` (log_screen.h). What a line looks like is render_text.c's. */
#include "cli/log_screen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <jansson.h>

#include "base/host_clock.h"
#include "event/event_json.h"

#define LEVEL_DEBUG 4

struct log_screen {
    struct log_screen_options options;
    bool is_virtual;
    int64_t offset; /* time of day - host time, ns */
};

static int64_t time_of_day(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static bool is_wanted(const struct log_screen_options *o, const struct event *e)
{
    if (e->kind != EVENT_LOG)
        return e->kind != EVENT_HALT && e->kind != EVENT_RUN && e->kind != EVENT_CLOCK;
    uint8_t level = e->log.level < LEVEL_DEBUG ? e->log.level : LEVEL_DEBUG;
    return level <= o->level && (o->source < 0 || e->log.source == o->source);
}

/* When the event's batch was taken. The virtual clock has no time of day: there it is now. */
static void put_wall_clock(const struct log_screen *s, const struct event *e)
{
    int64_t ns = time_of_day();
    if (!s->is_virtual && e->host_ns != EVENT_NO_TIME && __builtin_add_overflow(e->host_ns, s->offset, &ns))
        return; /* a device may say any time */
    ns = ns < 0 ? 0 : ns;
    time_t seconds = (time_t)(ns / NS_PER_S);
    struct tm tm;
    if (localtime_r(&seconds, &tm))
        fprintf(s->options.out, "%02d:%02d:%02d.%03d ", tm.tm_hour, tm.tm_min, tm.tm_sec,
                (int)(ns % NS_PER_S / NS_PER_MS));
}

static enum corral_err screen_write(void *ctx, const struct event *e, struct diag *d)
{
    const struct log_screen *s = ctx;
    const struct log_screen_options *o = &s->options;
    if (!is_wanted(o, e))
        return CORRAL_OK;
    if (o->json) {
        char *line = event_to_json_line(e);
        if (!line)
            return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        fputs(line, o->out);
        free(line);
        putc('\n', o->out);
    } else {
        bool shown = e->kind != EVENT_LOG || e->log.torn || (e->log.text && e->log.text[0]);
        if (shown && o->wall_clock)
            put_wall_clock(s, e);
        render_text_event(o->out, o->colour, e);
    }
    return ferror(o->out) ? diag_set(d, CORRAL_ERR_IO, "cannot write the output: %s", strerror(errno))
                          : CORRAL_OK;
}

static enum corral_err screen_flush(void *ctx, struct diag *d)
{
    const struct log_screen *s = ctx;
    return fflush(s->options.out) == 0
               ? CORRAL_OK
               : diag_set(d, CORRAL_ERR_IO, "cannot write the output: %s", strerror(errno));
}

static enum corral_err screen_close(void *ctx, struct diag *d)
{
    (void)d;
    free(ctx);
    return CORRAL_OK;
}

static const struct sink_ops screen_ops = {"output", screen_write, screen_flush, screen_close};

struct sink *log_screen_new(const struct log_screen_options *options)
{
    struct log_screen *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->options = *options;
    s->is_virtual = options->clock && host_clock_is_virtual(options->clock);
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    s->offset = time_of_day() - ((int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec);
    s->options.clock = NULL; /* may go before the sink does */
    struct sink *sink = sink_new(&screen_ops, s, SINK_QUEUE_DEFAULT);
    if (!sink)
        free(s);
    return sink;
}

void log_screen_summary(const struct log_screen_options *o, const struct tlog_consumer_stats *s,
                        uint64_t dropped)
{
    if (!o->json) {
        fprintf(o->out,
                "%" PRIu64 " records, %" PRIu64 " lost in %" PRIu64 " gaps, %" PRIu64 " restarts, %" PRIu64
                " cut, %" PRIu64 " anomalies\n",
                s->records, s->lost, s->gaps, s->restarts, s->torn, s->anomalies);
        if (dropped)
            fprintf(o->out, "%" PRIu64 " lines were not shown: this output was too slow\n", dropped);
        return;
    }
    json_t *root = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "kind", "summary",
                             "stream", "tlog", "batches", (json_int_t)s->batches, "records",
                             (json_int_t)s->records, "lost", (json_int_t)s->lost, "gaps", (json_int_t)s->gaps,
                             "restarts", (json_int_t)s->restarts, "torn", (json_int_t)s->torn, "anomalies",
                             (json_int_t)s->anomalies, "dropped", (json_int_t)dropped);
    if (root && json_dumpf(root, o->out, JSON_COMPACT) == 0)
        putc('\n', o->out);
    json_decref(root);
}

bool log_screen_level(const char *text, uint8_t *level)
{
    static const char *const names[] = {"raw", "err", "wrn", "inf", "dbg"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(text, names[i]) == 0 || (text[0] == '0' + (int)i && !text[1])) {
            *level = (uint8_t)i;
            return true;
        }
    return false;
}

bool log_screen_source(const char *text, int *source)
{
    char *end;
    if (strcasecmp(text, "SMC") == 0 || strcasecmp(text, "DMC") == 0) {
        *source = text[0] == 'D' || text[0] == 'd';
        return true;
    }
    if (strncasecmp(text, "src", 3) == 0)
        text += 3;
    if (text[0] < '0' || text[0] > '9')
        return false;
    long v = strtol(text, &end, 10);
    *source = (int)v;
    return *end == '\0' && v <= 255;
}
