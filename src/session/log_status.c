/* SPDX-License-Identifier: Apache-2.0 */
/* Why a log is silent: what was seen of each buffer, put into a word and a sentence. Takes nothing, changes
 * nothing. (INTERFACE.md: `corral log --status`; the firmware-log sheet, section 8.) */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "session/session_internal.h"

#define ALL_ONES 0xFFFFFFFFu
#define LONG_AGO_NS \
    (NS_PER_S / 4) /* "batches come" is no answer to a log that stopped while it was watched */

void session_log_note(struct session_log *log, struct link *link, bool took)
{
    uint8_t header[sizeof(log->header)];
    int64_t now = host_clock_now(log->session->clock);
    if (took)
        log->active_ns = now;
    /* A consumer reads no more than it must. What cannot be read is told by the next look. */
    if (!log->look_only || link_read_bytes(link, log->options.ap, log->options.address, header,
                                           sizeof(header), NULL) != CORRAL_OK)
        return;
    if (log->header_known && memcmp(header, log->header, sizeof(header)) != 0)
        log->active_ns = now;
    memcpy(log->header, header, sizeof(header));
    log->header_known = true;
}

static enum corral_err look_again(struct link *link, struct session_log *log, struct diag *d)
{
    uint8_t header[sizeof(log->header)];
    enum corral_err err =
        link_read_bytes(link, log->options.ap, log->options.address, header, sizeof(header), d);
    if (err == CORRAL_OK) {
        log->header_known = true;
        memcpy(log->header, header, sizeof(header));
    }
    return err;
}

static void say(struct session_log_status *st, const char *state, const char *sentence)
{
    st->state = state;
    snprintf(st->message, sizeof(st->message), "%s", sentence);
}

/* SETUP did not succeed, and nobody else has set the buffer up either. */
static void say_setup(const struct session_log *log, struct session_log_status *st)
{
    const char *state = "not-set-up";
    switch (tlog_setup_state(log->setup)) {
    case TLOG_SETUP_UNSUPPORTED:
        state = "unsupported";
        break;
    case TLOG_SETUP_REFUSED:
    case TLOG_SETUP_BUSY:
        state = "refused";
        break;
    case TLOG_SETUP_DEAD:
        state = "link-dead";
        break;
    case TLOG_SETUP_BAD_MAGIC:
        state = "wrong-magic";
        break;
    case TLOG_SETUP_BAD_VERSION:
        state = "wrong-version";
        break;
    case TLOG_SETUP_OFF:
    case TLOG_SETUP_ACTIVE:
    case TLOG_SETUP_NOT_READY:
    case TLOG_SETUP_UNKNOWN:
    case TLOG_SETUP_BAD_QUEUE:
        break;
    }
    say(st, state,
        log->setup_error.message[0]
            ? log->setup_error.message
            : "there is no header, and no message queue is ready that could be asked to "
              "set one up: the firmware has not come so far, or has no log");
}

static void say_magic(struct session_log_status *st)
{
    if (st->magic == 0) {
        say(st, "not-set-up", "there is no header: nobody has set this buffer up");
        return;
    }
    st->state = "wrong-magic";
    snprintf(st->message, sizeof(st->message),
             st->magic == TLOG_MAGIC_SWAPPED ? "the magic 0x%08" PRIx32 " has its bytes the other way round"
                                             : "the magic is 0x%08" PRIx32
                                               ": this is no log buffer, or its header was overwritten",
             st->magic);
}

static void say_owner(const struct session_log *log, int64_t now, struct session_log_status *st)
{
    bool changed = log->active_ns != EVENT_NO_TIME;
    st->quiet_ns = now - (changed ? log->active_ns : log->since_ns);
    if (st->owner > 1) {
        st->state = "owner-stuck";
        snprintf(st->message, sizeof(st->message),
                 "the owner byte is 0x%02x: neither the firmware's nor ours", st->owner);
    } else if (changed && st->quiet_ns < LONG_AGO_NS) {
        say(st, "active", "batches come");
    } else if (changed) {
        st->state = "active";
        snprintf(st->message, sizeof(st->message), "batches came, the last one %.1f s ago",
                 (double)st->quiet_ns / (double)NS_PER_S);
    } else if (st->owner == 1) {
        st->state = "owner-stuck";
        snprintf(st->message, sizeof(st->message),
                 "a batch of %" PRIu32
                 " bytes waits and nobody takes it: the firmware drops what comes after",
                 st->write_offset > 16 ? st->write_offset - 16 : 0);
    } else {
        st->state = "quiet";
        snprintf(st->message, sizeof(st->message), "set up, but the firmware has sent nothing for %.1f s",
                 (double)st->quiet_ns / (double)NS_PER_S);
    }
}

/* Where there is no queue to ask, what lies in the buffer is all that there is to tell. */
static bool was_asked(const struct session_log *log)
{
    enum tlog_setup_state state = tlog_setup_state(log->setup);
    return state != TLOG_SETUP_NOT_READY && state != TLOG_SETUP_OFF;
}

struct question {
    struct session_log *log;
    struct session_log_status *st;
};

/* On the link's thread: all that is looked at here is that thread's. */
static enum corral_err tell(struct link *link, void *ctx, struct diag *d)
{
    const struct question *q = ctx;
    struct session_log *log = q->log;
    struct session_log_status *st = q->st;
    struct tlog_consumer_stats stats;
    enum corral_err err = look_again(link, log, d);
    tlog_consumer_get_stats(log->consumer, &stats);
    st->address = log->options.address;
    st->setup = log->setup ? tlog_setup_state_name(tlog_setup_state(log->setup)) : NULL;
    if (log->setup && tlog_setup_answer(log->setup) != ALL_ONES)
        st->setup_answer = tlog_setup_answer(log->setup);
    st->header_known = log->header_known;
    st->magic = load_le32(log->header + TLOG_OFF_MAGIC);
    st->write_offset = load_le32(log->header + TLOG_OFF_WRITE_OFFSET);
    st->owner = log->header[TLOG_OFF_OWNER];
    st->version = log->header[TLOG_OFF_VERSION];
    st->records = stats.records;
    if (err != CORRAL_OK)
        return err;
    if (st->magic == ALL_ONES)
        say(st, "link-dead", "the buffer reads as all ones: the link or the device is dead");
    else if (st->magic != TLOG_MAGIC && log->setup && (st->magic == 0 || was_asked(log)))
        say_setup(log, st);
    else if (st->magic != TLOG_MAGIC)
        say_magic(st);
    else
        say_owner(log, host_clock_now(log->session->clock), st);
    return CORRAL_OK;
}

void session_log_status(struct session *s, size_t index, struct session_log_status *st)
{
    struct session_log *log = &s->logs[index];
    struct question q = {log, st};
    struct diag d = DIAG_INIT;
    *st = (struct session_log_status){.stream = log->stream,
                                      .core = log->core_name[0] ? log->core_name : NULL,
                                      .address = log->own_address,
                                      .size = log->options.capacity,
                                      .setup_answer = -1,
                                      .quiet_ns = EVENT_NO_TIME};
    if (link_thread_call(s->thread, LINK_PRIO_LOG, tell, &q, &d) != CORRAL_OK)
        say(st, "link-dead", d.message);
}
