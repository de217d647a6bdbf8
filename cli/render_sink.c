/* SPDX-License-Identifier: Apache-2.0 */
/* The sink that draws events as text (render_text.c) on a stream. Knows nothing about what they look like. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

struct text_sink {
    FILE *out;
    bool colour;
};

static enum corral_err check(const struct text_sink *t, struct diag *d)
{
    return ferror(t->out) ? diag_set(d, CORRAL_ERR_IO, "cannot write the output: %s", strerror(errno))
                          : CORRAL_OK;
}

static enum corral_err text_write(void *ctx, const struct event *event, struct diag *d)
{
    const struct text_sink *t = ctx;
    render_text_event(t->out, t->colour, event);
    return check(t, d);
}

static enum corral_err text_flush(void *ctx, struct diag *d)
{
    const struct text_sink *t = ctx;
    fflush(t->out);
    return check(t, d);
}

static enum corral_err text_close(void *ctx, struct diag *d)
{
    (void)d;
    free(ctx);
    return CORRAL_OK;
}

static const struct sink_ops text_ops = {"text", text_write, text_flush, text_close};

struct sink *render_text_sink(FILE *out, bool colour)
{
    struct text_sink *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->out = out;
    t->colour = colour;
    struct sink *sink = sink_new(&text_ops, t, SINK_QUEUE_DEFAULT);
    if (!sink)
        free(t);
    return sink;
}
