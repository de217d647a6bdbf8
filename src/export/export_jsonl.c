/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sink that writes events as JSON lines (INTERFACE.md "Events"): one object a line, in the order drawn.
 */
#include "export/export_sinks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "event/event_json.h"

struct jsonl {
    FILE *out;
    bool ours;      /* to be closed */
    char name[160]; /* for messages */
};

static enum corral_err io_error(const struct jsonl *j, struct diag *d)
{
    return diag_set(d, CORRAL_ERR_IO, "cannot write %s: %s", j->name, strerror(errno));
}

static enum corral_err jsonl_write(void *ctx, const struct event *event, struct diag *d)
{
    struct jsonl *j = ctx;
    char *line = event_to_json_line(event);
    if (!line)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory to write an event");
    bool failed = fputs(line, j->out) == EOF || putc('\n', j->out) == EOF;
    free(line);
    return failed ? io_error(j, d) : CORRAL_OK;
}

static enum corral_err jsonl_flush(void *ctx, struct diag *d)
{
    struct jsonl *j = ctx;
    return fflush(j->out) ? io_error(j, d) : CORRAL_OK;
}

static enum corral_err jsonl_close(void *ctx, struct diag *d)
{
    struct jsonl *j = ctx;
    enum corral_err err = CORRAL_OK;
    /* An earlier failed write was reported when it happened; here only what the close itself finds. */
    if (j->ours ? fclose(j->out) : fflush(j->out))
        err = io_error(j, d);
    free(j);
    return err;
}

static const struct sink_ops jsonl_ops = {"jsonl", jsonl_write, jsonl_flush, jsonl_close};

static struct sink *new_sink(FILE *out, bool ours, const char *name)
{
    struct jsonl *j = calloc(1, sizeof(*j));
    if (!j)
        return NULL;
    j->out = out;
    j->ours = ours;
    text_escape((const uint8_t *)name, strlen(name), j->name, sizeof(j->name));
    struct sink *sink = sink_new(&jsonl_ops, j, SINK_QUEUE_DEFAULT);
    if (!sink)
        free(j);
    return sink;
}

struct sink *export_jsonl_stream(FILE *out)
{
    return new_sink(out, false, "the output");
}

struct sink *export_jsonl_open(const char *path, struct diag *d)
{
    FILE *out = fopen(path, "we");
    if (!out) {
        char name[160];
        text_escape((const uint8_t *)path, strlen(path), name, sizeof(name));
        diag_set(d, CORRAL_ERR_IO, "cannot create %s: %s", name, strerror(errno));
        return NULL;
    }
    struct sink *sink = new_sink(out, true, path);
    if (!sink) {
        fclose(out);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory for an event sink");
    }
    return sink;
}
