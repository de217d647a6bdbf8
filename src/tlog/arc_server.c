/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware's end of the ARC message queue (arc_queue.h): the firmware-log sheet, section 5. For the
 * emulator and the tests. The host's pointers are as untrusted here as the firmware's are there; this side's
 * own are kept privately and only ever written.
 */
#include <stdlib.h>
#include <string.h>

#include "tlog/arc_queue.h"

struct arc_server {
    struct arc_server_options options;
    uint32_t request_rptr[ARC_QUEUES_MAX], response_wptr[ARC_QUEUES_MAX], serial[ARC_QUEUES_MAX];
    uint64_t bad_pointers;
};

static uint64_t queue_at(const struct arc_server *s, unsigned queue)
{
    return s->options.queues + (uint64_t)queue * ARC_QUEUE_SIZE(s->options.entries);
}

static enum corral_err put(const struct arc_server *s, uint64_t address, uint32_t value, struct diag *d)
{
    return s->options.memory.write32(s->options.memory.ctx, address, value, d);
}

struct arc_server *arc_server_new(const struct arc_server_options *options, struct diag *d)
{
    struct diag own = DIAG_INIT;
    d = d ? d : &own;
    unsigned entries = options->entries ? options->entries : ARC_ENTRIES_DEFAULT;
    unsigned queues = options->queue_count ? options->queue_count : ARC_QUEUES_DEFAULT;
    if (entries > ARC_ENTRIES_MAX || queues > ARC_QUEUES_MAX || options->queues % 4 || options->control % 4 ||
        options->queues > UINT32_MAX) {
        diag_set(d, CORRAL_ERR_USAGE, "%u message queues of %u entries are not possible", queues, entries);
        return NULL;
    }
    struct arc_server *s = calloc(1, sizeof(*s));
    if (!s) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    s->options = *options;
    s->options.entries = entries;
    s->options.queue_count = queues;
    enum corral_err err = CORRAL_OK;
    uint64_t size = (uint64_t)ARC_QUEUE_SIZE(entries) * queues;
    for (uint64_t at = 0; at < size && err == CORRAL_OK; at += 4)
        err = put(s, options->queues + at, 0, d);
    const uint32_t control[] = {(uint32_t)options->queues, entries | queues << 8, 0, 0};
    for (unsigned i = 0; i < 4 && err == CORRAL_OK; i++)
        err = put(s, options->control + 4u * i, control[i], d);
    if (err == CORRAL_OK)
        return s;
    arc_server_free(s);
    return NULL;
}

void arc_server_free(struct arc_server *s)
{
    free(s);
}

/* How far the host's two ends are: requests waiting, answers it has not read. False: impossible. */
static enum corral_err look(struct arc_server *s, unsigned queue, uint32_t *requests, uint32_t *unread,
                            bool *possible, struct diag *d)
{
    uint32_t n = s->options.entries, wptr = 0, rptr = 0;
    const struct arc_memory *m = &s->options.memory;
    enum corral_err err = m->read32(m->ctx, queue_at(s, queue) + ARC_QUEUE_REQUEST_WPTR, &wptr, d);
    if (err == CORRAL_OK)
        err = m->read32(m->ctx, queue_at(s, queue) + ARC_QUEUE_RESPONSE_RPTR, &rptr, d);
    *possible = err == CORRAL_OK && wptr < 2 * n && rptr < 2 * n;
    if (!*possible) {
        s->bad_pointers += err == CORRAL_OK;
        return err;
    }
    *requests = (wptr + 2 * n - s->request_rptr[queue]) % (2 * n);
    *unread = (s->response_wptr[queue] + 2 * n - rptr) % (2 * n);
    *possible = *requests <= n && *unread <= n;
    s->bad_pointers += !*possible;
    return CORRAL_OK;
}

static enum corral_err append(struct arc_server *s, unsigned queue,
                              const uint32_t response[ARC_MESSAGE_WORDS], struct diag *d)
{
    uint32_t n = s->options.entries;
    uint64_t at = queue_at(s, queue);
    uint64_t slot =
        at + ARC_QUEUE_HEADER_SIZE + (uint64_t)(n + s->response_wptr[queue] % n) * ARC_MESSAGE_SIZE;
    enum corral_err err = CORRAL_OK;
    for (unsigned i = 0; i < ARC_MESSAGE_WORDS && err == CORRAL_OK; i++)
        err = put(s, slot + 4u * i, response[i], d);
    if (err != CORRAL_OK)
        return err;
    s->response_wptr[queue] = (s->response_wptr[queue] + 1) % (2 * n);
    return put(s, at + ARC_QUEUE_RESPONSE_WPTR, s->response_wptr[queue], d);
}

static enum arc_reply answer(struct arc_server *s, unsigned queue, const uint32_t request[ARC_MESSAGE_WORDS],
                             uint32_t response[ARC_MESSAGE_WORDS])
{
    if ((request[0] & 0xFF) == ARC_MSG_TEST) {
        response[1] = request[1] + 1;
        response[2] = s->serial[queue] + 1;
        return ARC_REPLY_ANSWER;
    }
    return s->options.handle ? s->options.handle(s->options.ctx, queue, request, response)
                             : ARC_REPLY_UNKNOWN;
}

static enum corral_err serve_one(struct arc_server *s, unsigned queue, struct diag *d)
{
    uint32_t n = s->options.entries;
    uint32_t request[ARC_MESSAGE_WORDS] = {0}, response[ARC_MESSAGE_WORDS] = {0};
    const struct arc_memory *m = &s->options.memory;
    uint64_t at = queue_at(s, queue);
    uint64_t slot = at + ARC_QUEUE_HEADER_SIZE + (uint64_t)(s->request_rptr[queue] % n) * ARC_MESSAGE_SIZE;
    enum corral_err err = CORRAL_OK;
    for (unsigned i = 0; i < ARC_MESSAGE_WORDS && err == CORRAL_OK; i++)
        err = m->read32(m->ctx, slot + 4u * i, &request[i], d);
    if (err != CORRAL_OK)
        return err;
    enum arc_reply reply = answer(s, queue, request, response);
    if (reply == ARC_REPLY_UNKNOWN) {
        memset(response, 0, sizeof(response));
        response[0] = ARC_MSG_UNKNOWN;
    }
    s->serial[queue]++;
    s->request_rptr[queue] = (s->request_rptr[queue] + 1) % (2 * n);
    err = put(s, at + ARC_QUEUE_SERIAL, s->serial[queue], d);
    if (err == CORRAL_OK)
        err = put(s, at + ARC_QUEUE_REQUEST_RPTR, s->request_rptr[queue], d);
    return err == CORRAL_OK && reply != ARC_REPLY_NONE ? append(s, queue, response, d) : err;
}

enum corral_err arc_server_poll(struct arc_server *s, unsigned *served, struct diag *d)
{
    unsigned count = 0;
    enum corral_err err = CORRAL_OK;
    for (unsigned queue = 0; queue < s->options.queue_count && err == CORRAL_OK; queue++) {
        for (unsigned i = 0; i < s->options.entries && err == CORRAL_OK; i++) {
            uint32_t requests = 0, unread = 0;
            bool possible = false;
            err = look(s, queue, &requests, &unread, &possible, d);
            if (err != CORRAL_OK || !possible || requests == 0 || unread >= s->options.entries)
                break;
            err = serve_one(s, queue, d);
            count += err == CORRAL_OK;
        }
    }
    if (served)
        *served = count;
    return err;
}

enum corral_err arc_server_respond(struct arc_server *s, unsigned queue,
                                   const uint32_t response[ARC_MESSAGE_WORDS], struct diag *d)
{
    uint32_t requests = 0, unread = 0;
    bool possible = false;
    if (queue >= s->options.queue_count)
        return diag_set(d, CORRAL_ERR_USAGE, "there is no message queue %u", queue);
    enum corral_err err = look(s, queue, &requests, &unread, &possible, d);
    if (err != CORRAL_OK)
        return err;
    if (!possible || unread >= s->options.entries)
        return diag_set(d, CORRAL_ERR_LIMIT, "message queue %u has no room for an answer", queue);
    return append(s, queue, response, d);
}

uint64_t arc_server_bad_pointers(const struct arc_server *s)
{
    return s->bad_pointers;
}
