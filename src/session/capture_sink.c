/* SPDX-License-Identifier: Apache-2.0 */
/* Events into the capture file (capture_sink.h). Log batches and datagrams go there raw, from their sources.
 */
#include "session/capture_sink.h"

#include <stdlib.h>
#include <string.h>

#include "event/event_json.h"

struct capture_sink {
    struct capture_writer *capture;
    uint32_t interface_id;
};

static bool is_captured(enum event_kind kind)
{
    return kind == EVENT_HALT || kind == EVENT_RUN || kind == EVENT_CLOCK || kind == EVENT_MARKER ||
           kind == EVENT_GAP || kind == EVENT_RESTART || kind == EVENT_LINK;
}

static enum corral_err capture_sink_write(void *ctx, const struct event *event, struct diag *d)
{
    struct capture_sink *c = ctx;
    if (!is_captured(event->kind))
        return CORRAL_OK;
    char *line = event_to_json_line(event);
    if (!line)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    int64_t ns = event->host_ns == EVENT_NO_TIME ? 0 : event->host_ns;
    enum corral_err err = capture_writer_packet(c->capture, c->interface_id, ns, line, strlen(line), NULL, d);
    free(line);
    return err;
}

static enum corral_err capture_sink_close(void *ctx, struct diag *d)
{
    (void)d;
    free(ctx);
    return CORRAL_OK;
}

static const struct sink_ops capture_sink_ops = {
    .name = "capture", .write = capture_sink_write, .close = capture_sink_close};

struct sink *capture_sink_new(struct capture_writer *capture, struct diag *d)
{
    struct capture_sink *c = calloc(1, sizeof(*c));
    struct sink *sink = NULL;
    if (c) {
        c->capture = capture;
        if (capture_writer_interface(capture, CAPTURE_LINKTYPE_EVENT, "events", &c->interface_id, d) !=
            CORRAL_OK) {
            free(c);
            return NULL;
        }
        sink = sink_new(&capture_sink_ops, c, SINK_QUEUE_DEFAULT);
    }
    if (!sink) {
        free(c);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    }
    return sink;
}
