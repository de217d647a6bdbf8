/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log consumers of a session: where each core's shared buffer is, and who polls it. Getting a buffer from a
 * message queue is log_queue.c's, telling why one is silent log_status.c's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "link/shm.h"
#include "session/session_internal.h"

#define LOG_POLL_NS    (5 * NS_PER_MS)
#define LOG_QUIET      40  /* empty polls in a row (200 ms): then every second turn */
#define LOG_SLEEPY     200 /* and every fourth, 20 ms: what the firmware waits with a batch anyway */
#define LOG_SIZE_MOST  (1u << 20)
#define LOG_SETUP_NS   (200 * NS_PER_MS) /* a job on the link's thread does not wait a second */
#define LOG_DRAIN_MOST 64                /* batches a buffer may hand over while it is being drained */

/* Where one log is, and how it is to be read. */
struct log_place {
    uint64_t address;
    uint32_t size;
    uint32_t staging;      /* 0 = the consumer's default */
    uint32_t timestamp_hz; /* likewise */
    bool set_up;           /* through the board's message queue, when there is one */
};

/* Of a symbol, whose size is the file's own word: no log is that large, and the consumer refuses it. */
static uint32_t log_size(uint64_t size)
{
    return size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}

/* The image knows best; the board's published default is second. False: this core has no log. */
static bool default_place(const struct session *s, size_t core, struct log_place *place)
{
    size_t of_board = session_board_core(s, core_ap(s->cores[core]));
    bool board = of_board < LINK_SIM_CORES;
    uint64_t address = 0, size = 0;
    *place = (struct log_place){.size = board ? s->board.log_buffer_size : 0,
                                .set_up = board && of_board == 0}; /* the queue is core 0's */
    if (s->symbols[core] && symbol_lookup(s->symbols[core], "tlog_buffer", &address, &size)) {
        place->address = address;
        if (size)
            place->size = log_size(size);
        return place->size != 0;
    }
    if (board)
        place->address = s->board.log_buffer[of_board];
    return board;
}

static enum corral_err poll_one(struct link *link, struct session_log *log, bool *took, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    *took = false;
    if (!log->look_only)
        err = tlog_consumer_poll(log->consumer, link, took, d);
    session_log_note(log, link, *took);
    return err;
}

static enum corral_err poll_log(struct link *link, void *ctx, struct diag *d)
{
    struct session_log *log = ctx;
    bool took = false;
    if (log->session->logs_stopped)
        return CORRAL_OK;
    if (log->setup)
        session_log_set_up(log, link);
    if (log->skip > 0) {
        log->skip--;
        return CORRAL_OK;
    }
    enum corral_err err = poll_one(link, log, &took, d);
    log->idle = took || err != CORRAL_OK ? 0 : log->idle + 1;
    log->skip = log->idle >= LOG_SLEEPY ? 3 : log->idle >= LOG_QUIET ? 1 : 0;
    return err;
}

static void on_raw_batch(void *ctx, const uint8_t *data, size_t size, int64_t host_ns)
{
    const struct session_log *log = ctx;
    const struct session *s = log->session;
    if (s->capture) /* an error stays with the writer and is reported when it is closed */
        capture_writer_packet(s->capture, s->capture_logs[log->core], host_ns, data, size, NULL, NULL);
}

/* core NULL: memory only. */
static enum corral_err start_log(struct session *s, const struct core *core, const struct log_place *place,
                                 bool look_only, struct diag *d)
{
    if (s->log_count >= SESSION_MAX_LOGS)
        return diag_set(d, CORRAL_ERR_LIMIT, "at most %d logs can be followed", SESSION_MAX_LOGS);
    struct session_log *log = &s->logs[s->log_count];
    const char *name = core ? core_name(core) : "";
    *log = (struct session_log){
        .session = s, .look_only = look_only, .own_address = place->address, .active_ns = EVENT_NO_TIME};
    snprintf(log->core_name, sizeof(log->core_name), "%s", name);
    snprintf(log->stream, sizeof(log->stream), core ? "tlog:%s" : "tlog", name);
    for (size_t i = 0; i < s->core_count; i++)
        if (s->cores[i] == core)
            log->core = i;
    log->options = (struct tlog_consumer_options){
        .stream = log->stream,
        .core = core ? log->core_name : NULL,
        .ap = core ? core_ap(core) : 0,
        .address = place->address,
        .capacity = place->size,
        .staging = place->staging,
        .timestamp_hz = place->timestamp_hz,
        .raw = core ? on_raw_batch : NULL,
        .raw_ctx = log,
    };
    log->since_ns = host_clock_now(s->clock);
    log->consumer = tlog_consumer_new(&log->options, s->bus, d);
    if (!log->consumer)
        return d->code;
    if (place->set_up && place->size == s->board.log_buffer_size) {
        struct tlog_setup_options setup = {
            .ap = log->options.ap,
            .address = s->board.log_host_buffer,
            .size = place->size,
            .scratch = s->board.scratch,
            .doorbell = s->board.doorbell,
            .valid_base = s->board.queue_memory,
            .valid_end = (uint64_t)s->board.queue_memory + s->board.queue_memory_size,
            .queue = ARC_QUEUE_TOOLS,
            .response_ns = LOG_SETUP_NS,
        };
        log->setup_address = setup.address;
        log->setup = tlog_setup_new(&setup, d);
        if (!log->setup) {
            tlog_consumer_free(log->consumer);
            log->consumer = NULL;
            return d->code;
        }
    }
    s->log_count++;
    log->job = link_thread_every(s->thread, LINK_PRIO_LOG, LOG_POLL_NS, poll_log, log);
    return log->job >= 0 ? CORRAL_OK : diag_set(d, CORRAL_ERR_LIMIT, "too many periodic jobs on one link");
}

/* A buffer that is not wholly there is a mistake in the address, however plausible its start is. */
static enum corral_err check_place(struct link *link, void *ctx, struct diag *d)
{
    const struct log_place *place = ctx;
    uint64_t base = 0, size = 0;
    if (!link_shm_range(link, &base, &size) || (place->address >= base && place->address - base <= size &&
                                                place->size <= size - (place->address - base)))
        return CORRAL_OK;
    return diag_set(d, CORRAL_ERR_USAGE,
                    "a buffer of %" PRIu32 " bytes at 0x%08" PRIx64 " is outside the mapped 0x%08" PRIx64
                    "..0x%08" PRIx64,
                    place->size, place->address, base, base + size - 1);
}

/* What the file says and the target cannot be asked about later: every reader would see nothing, or half. */
static enum corral_err start_config_place(struct session *s, const struct config *c,
                                          const struct config_log *l, size_t core, struct log_place *place,
                                          bool look_only, struct diag *d)
{
    const struct core *of = core < s->core_count ? s->cores[core] : NULL;
    if (session_call(s, check_place, place, d) != CORRAL_OK) {
        diag_prefix(d, "%s:%u", c->file, l->line);
        return d->code;
    }
    for (size_t i = 0; i < s->log_count; i++)
        if (s->logs[i].options.address == place->address && s->logs[i].options.ap == (of ? core_ap(of) : 0))
            return diag_set(d, CORRAL_ERR_CONFIG,
                            "%s:%u: the buffer at 0x%08" PRIx64
                            " is one of the logs above: two readers would take each other's log",
                            c->file, l->line, place->address);
    return start_log(s, of, place, look_only, d);
}

/* A log of corral.yml. The core was left out on the command line: then so is its log. */
static enum corral_err start_config_log(struct session *s, const struct config *c, const struct config_log *l,
                                        bool look_only, struct diag *d)
{
    struct log_place place = {
        .address = l->address, .size = l->size, .staging = l->staging, .timestamp_hz = l->timestamp_hz};
    size_t core = 0;
    while (core < s->core_count && strcmp(core_name(s->cores[core]), c->cores[l->core].name) != 0)
        core++;
    if (core == s->core_count) /* left out, or the link reaches memory only */
        return s->core_count || l->symbol ? CORRAL_OK
                                          : start_config_place(s, c, l, core, &place, look_only, d);
    if (l->symbol) {
        uint64_t address = 0, size = 0;
        if (!s->symbols[core] || !symbol_lookup(s->symbols[core], l->symbol, &address, &size))
            return diag_set(d, CORRAL_ERR_NO_SYMBOL, "%s:%u: the program of %s has no symbol '%s'", c->file,
                            l->line, core_name(s->cores[core]), l->symbol);
        place.address = address;
        if (!place.size)
            place.size = log_size(size);
    }
    return start_config_place(s, c, l, core, &place, look_only, d);
}

/* Two images that name one address share one buffer: two consumers would take each other's batches. */
static bool is_followed(const struct session *s, uint64_t address)
{
    for (size_t i = 0; i < s->log_count; i++)
        if (s->logs[i].own_address == address)
            return true;
    return false;
}

static enum corral_err start_symbol(struct session *s, const struct session_log_request *r, struct diag *d)
{
    bool found = false;
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < s->core_count && err == CORRAL_OK; i++) {
        uint64_t address = 0, size = 0;
        if (!s->symbols[i] || !symbol_lookup(s->symbols[i], r->symbol, &address, &size))
            continue;
        found = true;
        if (size == 0)
            return diag_set(d, CORRAL_ERR_NO_SYMBOL, "the symbol '%s' of %s has no size", r->symbol,
                            core_name(s->cores[i]));
        struct log_place place = {.address = address, .size = log_size(size)};
        if (!is_followed(s, address))
            err = start_log(s, s->cores[i], &place, r->look_only, d);
    }
    if (found)
        return err;
    diag_set(d, CORRAL_ERR_NO_SYMBOL, "no program of this target has a symbol '%s'", r->symbol);
    diag_hint(d, "its ELF is named in corral.yml (cores: elf:) or by --link sim:A.elf,B.elf; or give "
                 "--buffer ADDR:SIZE");
    return CORRAL_ERR_NO_SYMBOL;
}

static enum corral_err ask_range(struct link *link, void *ctx, struct diag *d)
{
    struct log_place *place = ctx;
    uint64_t size = 0;
    if (!link_shm_range(link, &place->address, &size) || size > LOG_SIZE_MOST) {
        diag_set(d, CORRAL_ERR_USAGE, "where is the log buffer in this memory?");
        diag_hint(d, "say it with --buffer ADDR:SIZE");
        return CORRAL_ERR_USAGE;
    }
    place->size = (uint32_t)size;
    return CORRAL_OK;
}

static enum corral_err start_default(struct session *s, const struct session_log_request *r, struct diag *d)
{
    struct log_place place = {0};
    enum corral_err err = CORRAL_OK;
    if (s->core_count == 0) { /* memory only: a file that is one buffer */
        err = session_call(s, ask_range, &place, d);
        return err == CORRAL_OK ? start_log(s, NULL, &place, r->look_only, d) : err;
    }
    for (size_t i = 0; i < s->core_count && err == CORRAL_OK; i++)
        if (default_place(s, i, &place) && !is_followed(s, place.address))
            err = start_log(s, s->cores[i], &place, r->look_only, d);
    if (err != CORRAL_OK || s->log_count)
        return err;
    diag_set(d, CORRAL_ERR_NO_SYMBOL, "no log buffer is known on this target");
    diag_hint(d, "name it with --symbol NAME, --buffer ADDR:SIZE, or logs: in corral.yml");
    return CORRAL_ERR_NO_SYMBOL;
}

enum corral_err session_start_logs_at(struct session *s, const struct session_log_request *r, struct diag *d)
{
    struct diag own = DIAG_INIT;
    const struct config *c = s->options.config;
    enum corral_err err = CORRAL_OK;
    d = d ? d : &own;
    if (r->symbol)
        return start_symbol(s, r, d);
    if (r->at_set) {
        struct log_place place = {.address = r->address, .size = r->size};
        if (session_call(s, check_place, &place, d) != CORRAL_OK)
            return d->code;
        return start_log(s, s->core_count ? s->cores[0] : NULL, &place, r->look_only, d);
    }
    for (size_t i = 0; c && i < c->log_count && err == CORRAL_OK; i++)
        err = start_config_log(s, c, &c->logs[i], r->look_only, d);
    return err != CORRAL_OK || (c && c->log_count) ? err : start_default(s, r, d);
}

enum corral_err session_start_logs(struct session *s, struct diag *d)
{
    const struct session_log_request all = {0};
    enum corral_err err = session_start_logs_at(s, &all, d);
    return err == CORRAL_ERR_NO_SYMBOL && s->log_count == 0 &&
                   !(s->options.config && s->options.config->log_count)
               ? CORRAL_OK /* a target without logs is one */
               : err;
}

size_t session_log_count(const struct session *s)
{
    return s->log_count;
}

/* One that cannot be read keeps none of the others from being read. */
static enum corral_err do_drain(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    enum corral_err first = CORRAL_OK;
    for (size_t i = 0; i < s->log_count; i++) {
        struct diag own = DIAG_INIT;
        enum corral_err err = CORRAL_OK;
        bool took = true;
        for (int n = 0; took && err == CORRAL_OK && n < LOG_DRAIN_MOST; n++)
            err = poll_one(link, &s->logs[i], &took, &own);
        if (err != CORRAL_OK && first == CORRAL_OK) {
            first = err;
            if (d)
                *d = own;
        }
    }
    return first;
}

enum corral_err session_drain_logs(struct session *s, struct diag *d)
{
    enum corral_err err = link_thread_call(s->thread, LINK_PRIO_LOG, do_drain, s, d);
    return err == CORRAL_OK ? event_bus_drain(s->bus, d) : err;
}

static enum corral_err do_release(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    (void)d;
    s->logs_stopped = true; /* for the jobs; so on their thread */
    for (size_t i = 0; i < s->log_count; i++)
        if (s->logs[i].setup)
            session_log_release(&s->logs[i], link);
    return CORRAL_OK;
}

enum corral_err session_stop_logs(struct session *s, struct diag *d)
{
    if (s->logs_stopped)
        return CORRAL_OK;
    enum corral_err err = session_drain_logs(s, d);
    link_thread_call(s->thread, LINK_PRIO_LOG, do_release, s, NULL);
    return err == CORRAL_OK ? session_drain_logs(s, d) : err;
}

struct sum {
    const struct session *session;
    struct tlog_consumer_stats *stats;
};

static enum corral_err add_up(struct link *link, void *ctx, struct diag *d)
{
    const struct sum *sum = ctx;
    struct tlog_consumer_stats *to = sum->stats;
    (void)link;
    (void)d;
    for (size_t i = 0; i < sum->session->log_count; i++) {
        struct tlog_consumer_stats one;
        tlog_consumer_get_stats(sum->session->logs[i].consumer, &one);
        to->polls += one.polls;
        to->batches += one.batches;
        to->records += one.records;
        to->bytes += one.bytes;
        to->gaps += one.gaps;
        to->lost += one.lost;
        to->restarts += one.restarts;
        to->torn += one.torn;
        to->anomalies += one.anomalies;
    }
    return CORRAL_OK;
}

void session_log_stats(const struct session *s, struct tlog_consumer_stats *sum)
{
    struct sum ctx = {s, sum};
    *sum = (struct tlog_consumer_stats){0};
    link_thread_call(s->thread, LINK_PRIO_LOG, add_up, &ctx, NULL); /* the consumers are that thread's */
}

void session_logs_close(struct session *s)
{
    for (size_t i = 0; i < SESSION_MAX_LOGS; i++) { /* also one that was not started to the end */
        tlog_consumer_free(s->logs[i].consumer);
        tlog_setup_free(s->logs[i].setup);
    }
    s->log_count = 0;
}
