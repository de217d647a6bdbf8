/* SPDX-License-Identifier: Apache-2.0 */
/* Real and virtual host time (host_clock.h). */
#include "base/host_clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct host_clock {
    bool is_virtual;
    pthread_mutex_t lock;
    int64_t now; /* virtual only */
    void (*pass)(void *ctx, int64_t until);
    void *pass_ctx;
};

static struct host_clock *host_clock_new(bool is_virtual)
{
    struct host_clock *clock = calloc(1, sizeof(*clock));
    if (!clock)
        return NULL;
    clock->is_virtual = is_virtual;
    pthread_mutex_init(&clock->lock, NULL);
    return clock;
}

struct host_clock *host_clock_new_real(void)
{
    return host_clock_new(false);
}

struct host_clock *host_clock_new_virtual(void)
{
    return host_clock_new(true);
}

void host_clock_free(struct host_clock *clock)
{
    if (!clock)
        return;
    pthread_mutex_destroy(&clock->lock);
    free(clock);
}

bool host_clock_is_virtual(const struct host_clock *clock)
{
    return clock->is_virtual;
}

int64_t host_clock_now(struct host_clock *clock)
{
    if (clock->is_virtual) {
        pthread_mutex_lock(&clock->lock);
        int64_t now = clock->now;
        pthread_mutex_unlock(&clock->lock);
        return now;
    }
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

void host_clock_sleep_until(struct host_clock *clock, int64_t when)
{
    if (!clock->is_virtual) {
        struct timespec ts = {.tv_sec = when / NS_PER_S, .tv_nsec = when % NS_PER_S};
        if (when <= host_clock_now(clock))
            return;
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
            ; /* interrupted by a signal: the deadline has not moved */
        return;
    }
    pthread_mutex_lock(&clock->lock);
    void (*pass)(void *, int64_t) = clock->pass;
    void *ctx = clock->pass_ctx;
    bool due = when <= clock->now;
    pthread_mutex_unlock(&clock->lock);
    if (due)
        return;
    if (pass)
        pass(ctx, when);
    host_clock_set(clock, when);
}

void host_clock_sleep(struct host_clock *clock, int64_t ns)
{
    if (ns > 0)
        host_clock_sleep_until(clock, host_clock_now(clock) + ns);
}

void host_clock_set(struct host_clock *clock, int64_t now)
{
    if (!clock->is_virtual)
        return;
    pthread_mutex_lock(&clock->lock);
    if (now > clock->now)
        clock->now = now;
    pthread_mutex_unlock(&clock->lock);
}

void host_clock_set_driver(struct host_clock *clock, void (*pass)(void *ctx, int64_t until), void *ctx)
{
    pthread_mutex_lock(&clock->lock);
    clock->pass = pass;
    clock->pass_ctx = ctx;
    pthread_mutex_unlock(&clock->lock);
}

struct deadline deadline_in(struct host_clock *clock, int64_t ns)
{
    return (struct deadline){.clock = clock, .when = host_clock_now(clock) + ns};
}

bool deadline_passed(const struct deadline *d)
{
    return host_clock_now(d->clock) >= d->when;
}
