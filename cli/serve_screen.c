/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing for `corral serve` (serve_screen.h). What a line looks like is render_text.c's and event_json.c's.
 */
#include "cli/serve_screen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_json.h"

#define LEVEL_DEBUG 4u /* those above count as it */

struct serve_screen {
    bool json, colour;
    const atomic_uint *level;
};

static enum corral_err check(struct diag *d)
{
    return ferror(stdout) ? diag_set(d, CORRAL_ERR_IO, "cannot write the output: %s", strerror(errno))
                          : CORRAL_OK;
}

static enum corral_err screen_write(void *ctx, const struct event *event, struct diag *d)
{
    const struct serve_screen *s = ctx;
    if (event->kind == EVENT_LOG) {
        unsigned level = event->log.level < LEVEL_DEBUG ? event->log.level : LEVEL_DEBUG;
        if (level > atomic_load(s->level))
            return CORRAL_OK;
    }
    if (!s->json) {
        render_text_event(stdout, s->colour, event);
        return check(d);
    }
    char *line = event_to_json_line(event);
    if (!line)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    fputs(line, stdout);
    putchar('\n');
    free(line);
    return check(d);
}

static enum corral_err screen_flush(void *ctx, struct diag *d)
{
    (void)ctx;
    fflush(stdout);
    return check(d);
}

static enum corral_err screen_close(void *ctx, struct diag *d)
{
    (void)d;
    free(ctx);
    return CORRAL_OK;
}

static const struct sink_ops screen_ops = {"serve", screen_write, screen_flush, screen_close};

struct sink *serve_screen_new(bool json, bool colour, const atomic_uint *level)
{
    struct serve_screen *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    *s = (struct serve_screen){json, colour, level};
    struct sink *sink = sink_new(&screen_ops, s, SINK_QUEUE_DEFAULT);
    if (!sink)
        free(s);
    return sink;
}
