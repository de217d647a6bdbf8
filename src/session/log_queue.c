/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log that is given its buffer through the message queue: SETUP once the firmware is ready, again after it
 * was started again, RELEASE at the end. The firmware-log sheet, sections 2 and 6. Until SETUP has succeeded
 * the log is attached to where it would be without a queue.
 */
#include "session/session_internal.h"

#define LOOK_NS      (100 * NS_PER_MS) /* how often a restart of the firmware is looked for */
#define RETRY_NS     NS_PER_S          /* after a SETUP that failed */
#define LAST_BATCHES 4                 /* left over in the buffer when the firmware starts again */

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

static void set_up(struct session_log *log, struct link *link, int64_t now)
{
    bool again = log->options.address == log->setup_address; /* it was set up before */
    log->setup_error = (struct diag)DIAG_INIT;
    if (again)
        take_the_rest(log, link);
    if (tlog_setup_run(log->setup, link, &log->setup_error) != CORRAL_OK) {
        log->next_look = now + RETRY_NS;
        return;
    }
    if (again)
        tlog_consumer_restarted(log->consumer);
    else if (session_log_new_consumer(log, log->setup_address, &log->setup_error) != CORRAL_OK)
        tlog_setup_release(log->setup, link, NULL);
    log->next_look = host_clock_now(log->session->clock) + LOOK_NS;
}

void session_log_set_up(struct session_log *log, struct link *link)
{
    int64_t now = host_clock_now(log->session->clock);
    bool ready = false, restarted = false;
    if (log->look_only || now < log->next_look || log->session->logs_stopped)
        return;
    if (tlog_setup_state(log->setup) == TLOG_SETUP_ACTIVE) {
        log->next_look = now + LOOK_NS;
        if (tlog_setup_restarted(log->setup, link, &restarted, NULL) != CORRAL_OK || !restarted)
            return;
        say_reset(log);
    }
    /* What it has refused once it will refuse again, until it is another firmware. */
    enum tlog_setup_state state = tlog_setup_state(log->setup);
    if (state == TLOG_SETUP_UNSUPPORTED || state == TLOG_SETUP_REFUSED || state == TLOG_SETUP_BAD_VERSION)
        return;
    if (tlog_setup_ready(log->setup, link, &ready, NULL) == CORRAL_OK && ready)
        set_up(log, link, now);
}

void session_log_release(struct session_log *log, struct link *link)
{
    tlog_setup_release(log->setup, link, &log->setup_error);
}
