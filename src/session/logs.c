/* SPDX-License-Identifier: Apache-2.0 */
/* Log consumers of a session: where each core's shared buffer is, and who polls it. */
#include "session/session_internal.h"

#include <stdio.h>

#define LOG_POLL_NS    (5 * NS_PER_MS)
#define LOG_DRAIN_MOST 64 /* batches a buffer may hand over while it is being drained */

struct log_place {
    uint32_t address;
    uint32_t size;
};

/* The image knows best; the board's published default is second. False: this core has no log. */
static bool log_place(const struct session *s, size_t core, struct log_place *place)
{
    uint32_t ap = core_ap(s->cores[core]);
    bool board = s->is_board && ap < LINK_SIM_CORES;
    place->size = board ? s->board.log_buffer_size : 0;
    uint32_t size = 0;
    if (s->symbols[core] && symbol_lookup(s->symbols[core], "tlog_buffer", &place->address, &size)) {
        if (size)
            place->size = size;
        return place->size != 0;
    }
    if (board)
        place->address = s->board.log_buffer[ap];
    return board;
}

static enum corral_err poll_log(struct link *link, void *ctx, struct diag *d)
{
    struct session_log *log = ctx;
    return tlog_consumer_poll(log->consumer, link, NULL, d);
}

static void on_raw_batch(void *ctx, const uint8_t *data, size_t size, int64_t host_ns)
{
    const struct session_log *log = ctx;
    const struct session *s = log->session;
    if (s->capture) /* an error stays with the writer and is reported when it is closed */
        capture_writer_packet(s->capture, s->capture_logs[log->core], host_ns, data, size, NULL, NULL);
}

enum corral_err session_start_logs(struct session *s, struct diag *d)
{
    for (size_t i = 0; i < s->core_count; i++) {
        struct log_place place;
        if (!log_place(s, i, &place))
            continue;
        char stream[64];
        snprintf(stream, sizeof(stream), "tlog:%s", core_name(s->cores[i]));
        struct session_log *log = &s->logs[s->log_count];
        log->session = s;
        log->core = i;
        struct tlog_consumer_options options = {
            .stream = stream,
            .core = core_name(s->cores[i]),
            .ap = core_ap(s->cores[i]),
            .address = place.address,
            .capacity = place.size,
            .raw = on_raw_batch,
            .raw_ctx = log,
        };
        log->consumer = tlog_consumer_new(&options, s->bus, d);
        if (!log->consumer)
            return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        s->log_count++;
        log->job = link_thread_every(s->thread, LINK_PRIO_LOG, LOG_POLL_NS, poll_log, log);
        if (log->job < 0)
            return diag_set(d, CORRAL_ERR_LIMIT, "too many periodic jobs on one link");
    }
    return CORRAL_OK;
}

static enum corral_err do_drain(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    for (size_t i = 0; i < s->log_count; i++) {
        bool took = true;
        for (int n = 0; took && n < LOG_DRAIN_MOST; n++) {
            enum corral_err err = tlog_consumer_poll(s->logs[i].consumer, link, &took, d);
            if (err != CORRAL_OK)
                return err;
        }
    }
    return CORRAL_OK;
}

enum corral_err session_drain_logs(struct session *s, struct diag *d)
{
    enum corral_err err = link_thread_call(s->thread, LINK_PRIO_LOG, do_drain, s, d);
    return err == CORRAL_OK ? event_bus_drain(s->bus, d) : err;
}

void session_log_stats(const struct session *s, struct tlog_consumer_stats *sum)
{
    *sum = (struct tlog_consumer_stats){0};
    for (size_t i = 0; i < s->log_count; i++) {
        struct tlog_consumer_stats one;
        tlog_consumer_get_stats(s->logs[i].consumer, &one);
        sum->polls += one.polls;
        sum->batches += one.batches;
        sum->records += one.records;
        sum->bytes += one.bytes;
        sum->gaps += one.gaps;
        sum->lost += one.lost;
        sum->restarts += one.restarts;
        sum->torn += one.torn;
        sum->anomalies += one.anomalies;
    }
}

void session_logs_close(struct session *s)
{
    for (size_t i = 0; i < s->log_count; i++)
        tlog_consumer_free(s->logs[i].consumer);
    s->log_count = 0;
}
