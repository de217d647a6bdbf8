/* SPDX-License-Identifier: Apache-2.0 */
/* Why a log is silent: what was seen of each buffer, put into a word and a sentence. Takes nothing, changes
 * nothing. (INTERFACE.md: `corral log --status`; the firmware-log sheet, section 8.) */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "session/session_internal.h"

#define ALL_ONES 0xFFFFFFFFu

void session_log_note(struct session_log *log, struct link *link, bool took, enum corral_err err,
                      const struct diag *d)
{
    uint8_t header[sizeof(log->header)];
    int64_t now = host_clock_now(log->session->clock);
    struct diag own = DIAG_INIT;
    log->error = (struct diag)DIAG_INIT;
    if (took)
        log->active_ns = now;
    if (err == CORRAL_OK && log->look_only) { /* a consumer reads no more than it must */
        err = link_read_bytes(link, log->options.ap, log->options.address, header, sizeof(header), &own);
        d = &own;
        if (err == CORRAL_OK) {
            if (log->header_known && memcmp(header, log->header, sizeof(header)) != 0)
                log->active_ns = now;
            memcpy(log->header, header, sizeof(header));
            log->header_known = true;
        }
    }
    if (err != CORRAL_OK) {
        log->error.code = err;
        if (d)
            log->error = *d;
    }
}

static enum corral_err look_again(struct link *link, void *ctx, struct diag *d)
{
    struct session_log *log = ctx;
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
        log->setup_error.message[0] ? log->setup_error.message
                                    : "the firmware's message queue is not ready: nobody has set the log up");
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
    } else if (changed) {
        say(st, "active", "batches come");
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

void session_log_status(struct session *s, size_t index, struct session_log_status *st)
{
    struct session_log *log = &s->logs[index];
    struct diag d = DIAG_INIT;
    enum corral_err err = link_thread_call(s->thread, LINK_PRIO_LOG, look_again, log, &d);
    *st = (struct session_log_status){
        .stream = log->stream,
        .core = log->core_name[0] ? log->core_name : NULL,
        .address = log->options.address,
        .size = log->options.capacity,
        .setup = log->setup ? tlog_setup_state_name(tlog_setup_state(log->setup)) : NULL,
        .setup_answer = -1,
        .header_known = log->header_known,
        .magic = load_le32(log->header + TLOG_OFF_MAGIC),
        .write_offset = load_le32(log->header + TLOG_OFF_WRITE_OFFSET),
        .owner = log->header[TLOG_OFF_OWNER],
        .version = log->header[TLOG_OFF_VERSION],
        .quiet_ns = EVENT_NO_TIME,
    };
    if (log->setup && tlog_setup_answer(log->setup) != ALL_ONES)
        st->setup_answer = tlog_setup_answer(log->setup);
    if (err != CORRAL_OK)
        say(st, "link-dead", d.message);
    else if (st->magic == ALL_ONES)
        say(st, "link-dead", "the buffer reads as all ones: the link or the device is dead");
    else if (st->magic != TLOG_MAGIC && log->setup)
        say_setup(log, st);
    else if (st->magic != TLOG_MAGIC)
        say_magic(st);
    else
        say_owner(log, host_clock_now(s->clock), st);
}
