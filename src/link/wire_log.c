/* SPDX-License-Identifier: Apache-2.0 */
/* See wire_log.h and docs/wire-log.md. Must not fail or delay a session for the sake of its log. */
#include "link/wire_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

#define BUFFER (64u << 10)

const struct wire_log_cap wire_log_caps[WIRE_LOG_CAPS] = {
    {"mem", LINK_CAP_MEM, 0},       {"dap", LINK_CAP_DAP, 0},         {"wire", LINK_CAP_WIRE, 0},
    {"wide", LINK_CAP_WIDE, 0},     {"pins", 0, 1u << LINK_RAW_PINS}, {"clock", 0, 1u << LINK_RAW_CLOCK},
    {"swj", 0, 1u << LINK_RAW_SWJ}, {"jtag", 0, 1u << LINK_RAW_JTAG}, {"abort", 0, 1u << LINK_RAW_ABORT},
};

const char *wire_log_raw_word(enum link_raw_op op)
{
    for (size_t i = 0; i < WIRE_LOG_CAPS; i++)
        if (wire_log_caps[i].raw == 1u << op)
            return wire_log_caps[i].word;
    return "?";
}

struct wire_log {
    int fd;
    bool stopped, told;
    off_t written; /* whole lines only; -1 = what is behind it cannot be cut off */
    size_t used;   /* of `buffer`: whole lines */
    size_t line;   /* of the line that is being made, behind them */
    char buffer[BUFFER];
    char name[160];
    struct diag why;
};

_Static_assert(BUFFER >= 2 * WIRE_LOG_LINE, "a line always fits behind what is buffered");

struct wire_log *wire_log_open(const char *path, struct diag *d)
{
    struct wire_log *log = calloc(1, sizeof(*log));
    if (!log) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    text_escape((const uint8_t *)path, strlen(path), log->name, sizeof(log->name));
    log->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (log->fd >= 0)
        return log;
    diag_set(d, CORRAL_ERR_IO, "cannot write the wire log %s: %s", log->name, strerror(errno));
    diag_object(d, "%s", log->name);
    free(log);
    return NULL;
}

void wire_log_close(struct wire_log *log)
{
    if (!log)
        return;
    close(log->fd);
    free(log);
}

static void flush(struct wire_log *log)
{
    size_t at = 0;
    while (!log->stopped && at < log->used) {
        ssize_t n = write(log->fd, log->buffer + at, log->used - at);
        if (n > 0) {
            at += (size_t)n;
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        log->stopped = true;
        diag_set(&log->why, CORRAL_ERR_IO, "the wire log %s ends here: %s", log->name,
                 n < 0 ? strerror(errno) : "nothing more is taken");
        diag_object(&log->why, "%s", log->name);
        /* Of what fitted, whole lines stay. Where the file is a pipe there is nothing to cut. */
        while (at && log->buffer[at - 1] != '\n')
            at--;
        if (ftruncate(log->fd, log->written + (off_t)at) != 0)
            break;
    }
    log->written += (off_t)at;
    log->used = 0;
}

static void put(struct wire_log *log, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct wire_log *log, const char *fmt, ...)
{
    char *at = log->buffer + log->used + log->line;
    size_t room = WIRE_LOG_LINE - 1 - log->line; /* the line's end has its place */
    va_list args;
    va_start(args, fmt);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): just started */
    int n = vsnprintf(at, room, fmt, args);
    va_end(args);
    if (n > 0)
        log->line += (size_t)n < room ? (size_t)n : room - 1;
}

static void end_line(struct wire_log *log)
{
    log->buffer[log->used + log->line] = '\n';
    log->used += log->line + 1;
    log->line = 0;
    if (BUFFER - log->used < WIRE_LOG_LINE)
        flush(log);
}

void wire_log_header(struct wire_log *log, const char *link_name, unsigned caps, unsigned raws,
                     bool virtual_clock, int64_t now)
{
    char name[512];
    text_escape((const uint8_t *)link_name, strlen(link_name), name, sizeof(name));
    put(log, "%s %u ", WIRE_LOG_MAGIC, WIRE_LOG_VERSION);
    for (size_t i = 0, n = 0; i < WIRE_LOG_CAPS; i++)
        if ((caps & wire_log_caps[i].cap) || (raws & wire_log_caps[i].raw))
            put(log, "%s%s", n++ ? "+" : "", wire_log_caps[i].word);
    put(log, " %s %" PRId64 " %s", virtual_clock ? "virtual" : "real", now, name);
    end_line(log);
    flush(log);
}

/* A sentence is one line: what could break it was escaped when it was made, or is now. */
static void put_text(struct wire_log *log, const char *word, const char *text)
{
    char clean[TEXT_CLEAN_MAX(sizeof(((struct diag *)0)->message))];
    if (!text[0])
        return;
    text_escape((const uint8_t *)text, strlen(text), clean, sizeof(clean));
    put(log, "%s %s", word, clean);
    end_line(log);
}

static void put_failure(struct wire_log *log, enum corral_err err, const struct diag *d)
{
    char word[48];
    if (err == CORRAL_OK)
        return;
    snprintf(word, sizeof(word), "fail %s", corral_err_name(err));
    put_text(log, word, d->message[0] ? d->message : "failed");
    put_text(log, "hint", d->hint);
    put_text(log, "about", d->object);
}

static uint64_t element(const struct link_access *a, uint32_t i)
{
    const uint8_t *p = (const uint8_t *)a->data + (size_t)i * a->size;
    uint16_t half;
    uint32_t word;
    uint64_t both;
    if (a->size == 8) {
        memcpy(&both, p, sizeof(both));
        return both;
    }
    if (a->size == 1)
        return *p;
    if (a->size == 2) {
        memcpy(&half, p, sizeof(half));
        return half;
    }
    memcpy(&word, p, sizeof(word));
    return word;
}

static void put_access(struct wire_log *log, const struct link_access *a)
{
    static const char *const words[] = {"r mem", "w mem", "r ap", "w ap", "r dp", "w dp"};
    bool write = a->op == LINK_MEM_WRITE || a->op == LINK_AP_WRITE || a->op == LINK_DP_WRITE;
    uint32_t values = write ? a->count : a->done < a->count ? a->done : a->count;
    put(log, " %s 0x%" PRIx32 " 0x%08" PRIx64 " %u %" PRIu32 " %" PRIu32 " %s", words[a->op], a->ap,
        a->address, a->size, a->count, a->done, corral_err_name(a->status));
    for (uint32_t i = 0; i < values; i++) {
        if (i && i % (a->size == 8 ? WIRE_LOG_VALUES / 2 : WIRE_LOG_VALUES) == 0) {
            end_line(log);
            put(log, ".");
        }
        put(log, " 0x%0*" PRIx64, 2 * a->size, element(a, i));
    }
    end_line(log);
}

void wire_log_accesses(struct wire_log *log, int64_t start, int64_t end, uint64_t wire_clocks,
                       const struct link_access *accesses, size_t count, enum corral_err err,
                       const struct diag *d)
{
    if (log->stopped)
        return;
    for (size_t i = 0; i < count; i++) {
        put(log, "%" PRId64 " +%" PRId64 " %" PRIu64, start, end - start, wire_clocks);
        put_access(log, &accesses[i]);
    }
    put_failure(log, err, d);
    flush(log);
}

void wire_log_late(struct wire_log *log, int64_t now, size_t count)
{
    if (log->stopped)
        return;
    put(log, "%" PRId64 " late %zu", now, count);
    end_line(log);
    flush(log);
}

void wire_log_reset(struct wire_log *log, int64_t start, int64_t end, uint64_t wire_clocks, bool asserted,
                    enum corral_err err, const struct diag *d)
{
    if (log->stopped)
        return;
    put(log, "%" PRId64 " +%" PRId64 " %" PRIu64 " reset %s %s", start, end - start, wire_clocks,
        asserted ? "low" : "high", corral_err_name(err));
    end_line(log);
    put_failure(log, err, d);
    flush(log);
}

void wire_log_raw(struct wire_log *log, int64_t start, int64_t end, uint64_t wire_clocks,
                  const struct link_raw *raw, enum corral_err err, const struct diag *d)
{
    if (log->stopped)
        return;
    put(log,
        "%" PRId64 " +%" PRId64 " %" PRIu64 " raw %s %u 0x%" PRIx32 " %" PRIu32 " 0x%" PRIx64
        " %s 0x%" PRIx64,
        start, end - start, wire_clocks, wire_log_raw_word(raw->op), raw->bits, raw->select, raw->wait_us,
        raw->out, corral_err_name(err), raw->in);
    end_line(log);
    put_failure(log, err, d);
    flush(log);
}

bool wire_log_stopped(struct wire_log *log, struct diag *d)
{
    if (!log->stopped || log->told)
        return false;
    log->told = true;
    if (d)
        *d = log->why;
    return true;
}
