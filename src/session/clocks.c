/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each core's cycle counter as a clock domain: (counter, host time) pairs while it runs, cuts where it was
 * halted and started. Pairs go to the bus as events; conversion happens at reading. (DESIGN.md "Threads,
 * time, pressure")
 */
#include <stdio.h>

#include "session/session_internal.h"

#define PAIR_EVERY_NS (20 * NS_PER_MS)

/* Where the counter must have come to by `now`, had it run since it was last read: several wraps may lie
 * between (CYCCNT at 100 MHz wraps every 43 s). */
static int64_t expected_ticks(const struct session_clock *c, int64_t now, uint32_t hz)
{
    double ran = (double)(now - c->last_host_ns) / (double)NS_PER_S * (double)hz;
    return c->halted ? c->unwrap.newest : c->unwrap.newest + (int64_t)ran;
}

static enum corral_err take_pair(struct session *s, size_t core, struct diag *d)
{
    struct session_clock *c = &s->clocks[core];
    uint32_t cycles;
    int64_t before = host_clock_now(s->clock), time;
    enum corral_err err = core_read_cycles(s->cores[core], &cycles, d);
    if (err != CORRAL_OK)
        return err;
    int64_t now = host_clock_now(s->clock);
    int64_t ticks = clock_unwrap_near(&c->unwrap, cycles, expected_ticks(c, now, core_hz(s->cores[core])));
    c->last_host_ns = now;
    err = clock_domain_pair(c->domain, ticks, now, now - before, &time, d);
    if (err != CORRAL_OK || c->halted)
        return err;
    struct event event = clock_domain_event(c->domain, "clock", time, now);
    event.core = core_name(s->cores[core]);
    event_bus_publish(s->bus, &event);
    return CORRAL_OK;
}

static enum corral_err take_pairs(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    enum corral_err err = CORRAL_OK;
    (void)link;
    for (size_t i = 0; i < s->core_count && err == CORRAL_OK; i++)
        if (s->clocks[i].domain)
            err = take_pair(s, i, d);
    return err;
}

enum corral_err session_start_clocks(struct session *s, struct diag *d)
{
    for (size_t i = 0; i < s->core_count; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%s.cycles", core_name(s->cores[i]));
        struct clock_domain_options options = {.name = name, .hz = core_hz(s->cores[i])};
        /* without a frequency a count is no time */
        if (options.hz && !s->clocks[i].domain && !(s->clocks[i].domain = clock_domain_new(&options, d)))
            return d ? d->code : CORRAL_ERR_FAILED;
    }
    if (link_thread_every(s->thread, LINK_PRIO_SAMPLE, PAIR_EVERY_NS, take_pairs, s) < 0)
        return diag_set(d, CORRAL_ERR_LIMIT, "too many periodic jobs on one link");
    return CORRAL_OK;
}

void session_clocks_cut(struct session *s, bool halted)
{
    for (size_t i = 0; i < s->core_count; i++) {
        struct session_clock *c = &s->clocks[i];
        if (c->domain && c->halted != halted)
            clock_domain_cut(c->domain, halted ? CLOCK_CUT_HALT : CLOCK_CUT_RUN, CLOCK_TICKS_UNKNOWN, 0,
                             NULL);
        if (c->halted && !halted)
            c->last_host_ns = host_clock_now(s->clock);
        c->halted = halted;
    }
}

void session_clocks_close(struct session *s)
{
    for (size_t i = 0; i < SESSION_MAX_CORES; i++)
        clock_domain_free(s->clocks[i].domain);
}
