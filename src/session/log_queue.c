/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log that is given its buffer through the message queue: SETUP once the firmware is ready, again after it
 * was started again, RELEASE at the end. The firmware-log sheet, sections 2 and 6. Until SETUP has succeeded
 * the log is attached to where it would be without a queue.
 */
#include "session/session_internal.h"

#define LOOK_NS      (100 * NS_PER_MS) /* how often a restart of the firmware is looked for */
#define RETRY_NS     NS_PER_S          /* after a SETUP that failed */
#define SOON_NS      (5 * NS_PER_MS)   /* how often in the first 100 ms */
#define LAST_BATCHES 4                 /* left over in a buffer that the firmware leaves */

static void take_the_rest(struct session_log *log, struct link *link)
{
    bool took = true;
    for (int n = 0; took && n < LAST_BATCHES; n++)
        if (tlog_consumer_poll(log->consumer, link, &took, NULL) != CORRAL_OK)
            return;
}

static void say_reset(struct session_log *log)
{
    struct event e = event_make(EVENT_LINK, log->stream);
    e.core = log->core_name[0] ? log->core_name : NULL;
    e.host_ns = host_clock_now(log->session->clock);
    e.link = (struct event_link){"reset", "the firmware was started again"};
    event_bus_publish(log->session->bus, &e);
}

static void move_to(struct session_log *log, uint64_t address)
{
    log->options.address = address;
    tlog_consumer_move(log->consumer, address);
}

/* The firmware was started again: it has forgotten our buffer, and may already have taken its own. */
static void go_back(struct session_log *log, struct link *link)
{
    take_the_rest(log, link);
    tlog_consumer_restarted(log->consumer);
    move_to(log, log->own_address);
    say_reset(log);
}

static void set_up(struct session_log *log, struct link *link, int64_t now)
{
    log->setup_error = (struct diag)DIAG_INIT;
    take_the_rest(log, link);
    if (tlog_setup_run(log->setup, link, &log->setup_error) != CORRAL_OK) {
        log->next_look = now + RETRY_NS;
        return;
    }
    take_the_rest(log, link); /* what came while we asked stays in the old buffer */
    move_to(log, log->setup_address);
    log->next_look = host_clock_now(log->session->clock) + LOOK_NS;
}

/* What it has refused once it will refuse again, until it is another firmware. */
static bool is_refused(enum tlog_setup_state state)
{
    return state == TLOG_SETUP_UNSUPPORTED || state == TLOG_SETUP_REFUSED || state == TLOG_SETUP_BAD_VERSION;
}

void session_log_set_up(struct session_log *log, struct link *link)
{
    int64_t now = host_clock_now(log->session->clock);
    bool ready = false, restarted = false;
    if (log->look_only || now < log->next_look || log->session->logs_stopped)
        return;
    enum tlog_setup_state state = tlog_setup_state(log->setup);
    log->next_look = now + (now - log->since_ns < LOOK_NS ? SOON_NS : LOOK_NS);
    if (state == TLOG_SETUP_ACTIVE || is_refused(state)) {
        if (tlog_setup_restarted(log->setup, link, &restarted, NULL) != CORRAL_OK)
            return;
        if (restarted)
            go_back(log, link);
        /* A header that was overwritten: the firmware waits for a new one. */
        else if (is_refused(state) || !tlog_consumer_bad_magic(log->consumer))
            return;
    }
    if (tlog_setup_ready(log->setup, link, &ready, NULL) == CORRAL_OK && ready)
        set_up(log, link, now);
}

void session_log_release(struct session_log *log, struct link *link)
{
    tlog_setup_release(log->setup, link, &log->setup_error);
}
