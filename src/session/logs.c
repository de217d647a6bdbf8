/* SPDX-License-Identifier: Apache-2.0 */
/* Log consumers of a session: where each core's shared buffer is, and who polls it. */
#include <stdio.h>
#include <string.h>

#include "session/session_internal.h"

#define LOG_POLL_NS    (5 * NS_PER_MS)
#define LOG_DRAIN_MOST 64 /* batches a buffer may hand over while it is being drained */

/* Where one log is, and how it is to be read. */
struct log_place {
    uint64_t address;
    uint32_t size;
    uint32_t staging;      /* 0 = the consumer's default */
    uint32_t timestamp_hz; /* likewise */
};

/* The image knows best; the board's published default is second. False: this core has no log. */
static bool default_place(const struct session *s, size_t core, struct log_place *place)
{
    uint32_t ap = core_ap(s->cores[core]);
    bool board = s->is_board && ap < LINK_SIM_CORES;
    uint32_t address = 0, size = 0;
    *place = (struct log_place){.size = board ? s->board.log_buffer_size : 0};
    if (s->symbols[core] && symbol_lookup(s->symbols[core], "tlog_buffer", &address, &size)) {
        place->address = address;
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

static enum corral_err start_log(struct session *s, size_t core, const struct log_place *place,
                                 struct diag *d)
{
    if (s->log_count >= SESSION_MAX_LOGS)
        return diag_set(d, CORRAL_ERR_LIMIT, "at most %d logs can be followed", SESSION_MAX_LOGS);
    struct session_log *log = &s->logs[s->log_count];
    char stream[64];
    snprintf(stream, sizeof(stream), "tlog:%s", core_name(s->cores[core]));
    struct tlog_consumer_options options = {
        .stream = stream,
        .core = core_name(s->cores[core]),
        .ap = core_ap(s->cores[core]),
        .address = place->address,
        .capacity = place->size,
        .staging = place->staging,
        .timestamp_hz = place->timestamp_hz,
        .raw = on_raw_batch,
        .raw_ctx = log,
    };
    log->session = s;
    log->core = core;
    log->consumer = tlog_consumer_new(&options, s->bus, d);
    if (!log->consumer)
        return d->code;
    s->log_count++;
    log->job = link_thread_every(s->thread, LINK_PRIO_LOG, LOG_POLL_NS, poll_log, log);
    return log->job >= 0 ? CORRAL_OK : diag_set(d, CORRAL_ERR_LIMIT, "too many periodic jobs on one link");
}

/* A log of corral.yml. The core was left out on the command line: then so is its log. */
static enum corral_err start_config_log(struct session *s, const struct config *c, const struct config_log *l,
                                        struct diag *d)
{
    struct log_place place = {
        .address = l->address, .size = l->size, .staging = l->staging, .timestamp_hz = l->timestamp_hz};
    size_t core = 0;
    while (core < s->core_count && strcmp(core_name(s->cores[core]), c->cores[l->core].name) != 0)
        core++;
    if (core == s->core_count)
        return CORRAL_OK;
    if (l->symbol) {
        uint32_t address = 0, size = 0;
        if (!s->symbols[core] || !symbol_lookup(s->symbols[core], l->symbol, &address, &size))
            return diag_set(d, CORRAL_ERR_NO_SYMBOL, "%s:%u: the program of %s has no symbol '%s'", c->file,
                            l->line, core_name(s->cores[core]), l->symbol);
        place.address = address;
        if (!place.size)
            place.size = size;
    }
    return start_log(s, core, &place, d);
}

enum corral_err session_start_logs(struct session *s, struct diag *d)
{
    const struct config *c = s->options.config;
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; c && i < c->log_count && err == CORRAL_OK; i++)
        err = start_config_log(s, c, &c->logs[i], d);
    if (c && c->log_count)
        return err;
    for (size_t i = 0; i < s->core_count && err == CORRAL_OK; i++) {
        struct log_place place;
        if (default_place(s, i, &place))
            err = start_log(s, i, &place, d);
    }
    return err;
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
