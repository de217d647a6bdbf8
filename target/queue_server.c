/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware's end of the ARC message queue. Firmware-log sheet 5. It must not use a value from the shared
 * memory before it has been checked, nor read one twice.
 */
#include "target/queue_server.h"

static uint64_t queue_at(const struct queue_server *s, uint32_t n)
{
    return s->queues + (uint64_t)n * ARC_QUEUE_SIZE((uint32_t)s->entries);
}

static uint32_t get(const struct queue_server *s, uint64_t address)
{
    return s->port->read32(s->port->ctx, address);
}

static void put(const struct queue_server *s, uint64_t address, uint32_t value)
{
    s->port->write32(s->port->ctx, address, value);
}

bool queue_server_init(struct queue_server *s, const struct queue_server_config *config)
{
    uint32_t entries = config->entries ? config->entries : ARC_ENTRIES_DEFAULT;
    uint32_t count = config->queue_count ? config->queue_count : ARC_QUEUES_DEFAULT;
    uint64_t size = (uint64_t)count * ARC_QUEUE_SIZE(entries);
    if (!config->port || !config->port->read32 || !config->port->write32 || entries > ARC_ENTRIES_MAX ||
        count > QUEUE_SERVER_QUEUES || ((config->queues | config->control) & 3u) != 0 ||
        config->queues > UINT32_MAX || size > UINT32_MAX - config->queues ||
        (config->handler_count && !config->handlers))
        return false;
    s->port = config->port;
    s->queues = config->queues;
    s->handlers = config->handlers;
    s->handler_count = config->handler_count;
    s->entries = (uint8_t)entries;
    s->queue_count = (uint8_t)count;
    s->handled = s->unknown = s->bad_pointers = 0;
    for (uint32_t n = 0; n < count; n++) {
        s->queue[n].request_rptr = s->queue[n].response_wptr = 0;
        s->queue[n].serial = 0;
    }
    for (uint32_t at = 0; at < size; at += 4)
        put(s, s->queues + at, 0);
    put(s, config->control + 8, 0);
    put(s, config->control + 12, 0);
    put(s, config->control + ARC_CONTROL_SHAPE, entries | count << 8);
    put(s, config->control + ARC_CONTROL_QUEUE_ADDRESS, (uint32_t)config->queues);
    return true;
}

/* Word 0 of an answer is 0 unless the handler says otherwise. */
static void answer(struct queue_server *s, uint32_t n, const uint32_t request[8], uint32_t response[8])
{
    uint32_t code = request[0] & 0xFFu;
    for (unsigned i = 0; i < ARC_MESSAGE_WORDS; i++)
        response[i] = 0;
    for (uint32_t i = 0; i < s->handler_count; i++) {
        if (s->handlers[i].code == code) {
            s->handlers[i].handle(s->handlers[i].ctx, request, response);
            return;
        }
    }
    if (code == ARC_MSG_TEST) {
        response[1] = request[1] + 1;
        response[2] = s->queue[n].serial + 1;
        return;
    }
    response[0] = ARC_MSG_UNKNOWN;
    s->unknown++;
}

/* Is there a request, and room for its answer? */
static bool ready(struct queue_server *s, uint32_t n)
{
    uint32_t entries = s->entries, turn = 2 * entries;
    uint32_t wptr = get(s, queue_at(s, n) + ARC_QUEUE_REQUEST_WPTR);
    uint32_t rptr = get(s, queue_at(s, n) + ARC_QUEUE_RESPONSE_RPTR);
    if (wptr >= turn || rptr >= turn) {
        s->bad_pointers++;
        return false;
    }
    uint32_t requests = (wptr + turn - s->queue[n].request_rptr) % turn;
    uint32_t unread = (s->queue[n].response_wptr + turn - rptr) % turn;
    if (requests > entries || unread > entries) {
        s->bad_pointers++;
        return false;
    }
    return requests != 0 && unread < entries;
}

static void serve_one(struct queue_server *s, uint32_t n)
{
    uint32_t entries = s->entries, turn = 2 * entries;
    uint32_t request[ARC_MESSAGE_WORDS], response[ARC_MESSAGE_WORDS];
    uint64_t at = queue_at(s, n);
    uint64_t from = at + ARC_QUEUE_HEADER_SIZE + s->queue[n].request_rptr % entries * ARC_MESSAGE_SIZE;
    uint64_t to =
        at + ARC_QUEUE_HEADER_SIZE + (entries + s->queue[n].response_wptr % entries) * ARC_MESSAGE_SIZE;
    for (uint32_t i = 0; i < ARC_MESSAGE_WORDS; i++)
        request[i] = get(s, from + 4 * i);
    answer(s, n, request, response);
    s->handled++;
    s->queue[n].serial++;
    s->queue[n].request_rptr = (uint8_t)((s->queue[n].request_rptr + 1u) % turn);
    s->queue[n].response_wptr = (uint8_t)((s->queue[n].response_wptr + 1u) % turn);
    for (uint32_t i = 0; i < ARC_MESSAGE_WORDS; i++)
        put(s, to + 4 * i, response[i]);
    put(s, at + ARC_QUEUE_SERIAL, s->queue[n].serial);
    put(s, at + ARC_QUEUE_REQUEST_RPTR, s->queue[n].request_rptr);
    put(s, at + ARC_QUEUE_RESPONSE_WPTR, s->queue[n].response_wptr); /* last: the answer is there */
}

bool queue_server_poll(struct queue_server *s)
{
    bool any = false;
    for (uint32_t n = 0; n < s->queue_count; n++) {
        for (uint32_t i = 0; i < s->entries && ready(s, n); i++) {
            serve_one(s, n);
            any = true;
        }
    }
    return any;
}
