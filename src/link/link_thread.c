/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner thread of a link (link_thread.h).
 *
 * Calls wait in one list a priority; their nodes lie on the callers' stacks. Jobs lie in a fixed table. The
 * lock is never held while a call or job runs, so both may add jobs. It must not know what is read through
 * the link, and with a virtual clock it must not look at real time: what runs next depends only on the
 * clock, the priorities and the numbers of the jobs.
 */
#include "link/link_thread.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Time passes, and *stop is looked at, in slices no longer than this. */
#define SLICE_NS (10 * NS_PER_MS)
/* Callers wait for their answer, so this many calls are as many threads. */
#define MAX_CALLS 256
/* After so many calls in a row a job that is due goes first, or busy gdb traffic would lose the log. */
#define CALLS_IN_A_ROW 16
/* A job that is later than this goes before one that is less late, whatever its priority: where the link is
 * too slow for all, each still gets its turn. */
#define LATE_NS (50 * NS_PER_MS)

struct call {
    link_call_fn fn;
    void *ctx;
    struct diag *diag;
    enum corral_err result;
    bool done;
    bool posted; /* nobody waits: it lies on the heap */
    struct call *next;
};

struct job {
    link_call_fn fn;
    void *ctx;
    enum link_priority priority;
    int64_t period;
    int64_t due;
    struct diag last; /* of its last run */
    bool running, ended;
};

/* One link_thread_run_until with a virtual clock, on its caller's stack. */
struct run {
    int64_t until;
    const atomic_bool *stop;
    enum corral_err result;
    bool done;
    struct run *next;
};

struct link_thread {
    struct link *link;
    struct host_clock *clock;
    bool is_virtual;
    pthread_t owner;
    pthread_mutex_t lock;
    pthread_cond_t wake; /* for the owner: something to do, or stopping */
    pthread_cond_t done; /* for callers: a call or run is done; for stop: a caller has left */

    /* All below is guarded by the lock. */
    struct call *first[LINK_PRIO_COUNT];
    struct call *last[LINK_PRIO_COUNT];
    unsigned waiting; /* calls in the lists */
    unsigned users;   /* threads inside link_thread_call or _run_until */
    unsigned calls_in_row;
    struct run *runs;
    struct job jobs[LINK_THREAD_MAX_JOBS];
    int job_count;
    bool stopping;
};

static void timed_wait(struct link_thread *t, pthread_cond_t *cond, int64_t when)
{
    struct timespec ts = {.tv_sec = (time_t)(when / NS_PER_S), .tv_nsec = (long)(when % NS_PER_S)};
    pthread_cond_timedwait(cond, &t->lock, &ts);
}

/* ---- what runs next ---- */

/* `late`: what was due by then is late. */
static bool job_before(const struct job *a, const struct job *b, int64_t late)
{
    if ((a->due <= late || b->due <= late) && a->due != b->due)
        return a->due < b->due;
    if (a->priority != b->priority)
        return a->priority < b->priority;
    return a->due < b->due; /* equal: the lower number, which was met first */
}

/* The job to run among those due by `horizon`; NULL when there is none. */
static struct job *due_job(struct link_thread *t, int64_t horizon)
{
    struct job *best = NULL;
    int64_t late = t->is_virtual ? INT64_MAX : horizon - LATE_NS; /* virtual: time first, always */
    for (int i = 0; i < t->job_count; i++) {
        struct job *job = &t->jobs[i];
        if (!job->ended && job->due <= horizon && (!best || job_before(job, best, late)))
            best = job;
    }
    return best;
}

static int64_t next_due(const struct link_thread *t)
{
    int64_t due = INT64_MAX;
    for (int i = 0; i < t->job_count; i++)
        if (!t->jobs[i].ended && t->jobs[i].due < due)
            due = t->jobs[i].due;
    return due;
}

/* The highest priority that a call waits at; LINK_PRIO_COUNT when none does. */
static enum link_priority waiting_priority(const struct link_thread *t)
{
    for (int p = 0; p < LINK_PRIO_COUNT; p++)
        if (t->first[p])
            return (enum link_priority)p;
    return LINK_PRIO_COUNT;
}

/* ---- running one thing; entered and left with the lock held ---- */

static void run_call(struct link_thread *t, enum link_priority priority)
{
    struct call *call = t->first[priority];
    t->first[priority] = call->next;
    if (!call->next)
        t->last[priority] = NULL;
    t->waiting--;
    bool call_was_posted = call->posted;
    pthread_mutex_unlock(&t->lock);
    enum corral_err result = call->fn(t->link, call->ctx, call->diag);
    if (call->posted)
        free(call);
    pthread_mutex_lock(&t->lock);
    if (call_was_posted)
        return;
    call->result = result;
    call->done = true;
    pthread_cond_broadcast(&t->done);
}

static void run_job(struct link_thread *t, struct job *job)
{
    struct diag d = DIAG_INIT;
    job->running = true;
    pthread_mutex_unlock(&t->lock);
    enum corral_err err = job->fn(t->link, job->ctx, &d);
    int64_t now = host_clock_now(t->clock);
    pthread_mutex_lock(&t->lock);
    job->running = false;
    if (job->ended)
        pthread_cond_broadcast(&t->done);
    d.code = err; /* a job may leave words in *d and still succeed */
    job->last = d;
    /* Missed turns are dropped, not made up for; the phase is kept. */
    job->due += job->period;
    if (job->due <= now)
        job->due += ((now - job->due) / job->period + 1) * job->period;
}

/* Run the most urgent call or job; false when there is neither. */
static bool run_next(struct link_thread *t, int64_t horizon)
{
    struct job *job = due_job(t, horizon);
    enum link_priority priority = waiting_priority(t);
    bool call_first = priority < LINK_PRIO_COUNT && (!job || priority <= job->priority);
    if (call_first && !(job && t->calls_in_row >= CALLS_IN_A_ROW)) {
        t->calls_in_row++;
        run_call(t, priority);
        return true;
    }
    if (!job)
        return false;
    t->calls_in_row = 0;
    run_job(t, job);
    return true;
}

/* ---- the thread ---- */

static void owner_real(struct link_thread *t)
{
    while (!t->stopping) {
        if (run_next(t, host_clock_now(t->clock)))
            continue;
        int64_t due = next_due(t);
        if (due == INT64_MAX)
            pthread_cond_wait(&t->wake, &t->lock);
        else
            timed_wait(t, &t->wake, due);
    }
}

/* Take out the runs that have ended. Returns the first time a remaining one ends at; *horizon is the last. */
static int64_t finish_runs(struct link_thread *t, int64_t now, int64_t *horizon)
{
    int64_t soonest = INT64_MAX;
    *horizon = INT64_MIN;
    for (struct run **link = &t->runs; *link;) {
        struct run *run = *link;
        bool stopped = run->stop && atomic_load(run->stop);
        if (stopped || (now >= run->until && !due_job(t, run->until))) {
            *link = run->next;
            run->result = stopped ? CORRAL_ERR_INTERRUPTED : CORRAL_OK;
            run->done = true;
            pthread_cond_broadcast(&t->done);
            continue;
        }
        if (run->until < soonest)
            soonest = run->until;
        if (run->until > *horizon)
            *horizon = run->until;
        link = &run->next;
    }
    return soonest;
}

static void owner_virtual(struct link_thread *t)
{
    while (!t->stopping) {
        int64_t now = host_clock_now(t->clock);
        int64_t horizon;
        int64_t end = finish_runs(t, now, &horizon);
        /* No job is run before its time, nor one that is due only after the last run's end. */
        if (run_next(t, horizon < now ? horizon : now))
            continue;
        if (!t->runs) {
            pthread_cond_wait(&t->wake, &t->lock);
            continue;
        }
        int64_t due = next_due(t);
        int64_t until = due < end ? due : end;
        if (until - now > SLICE_NS)
            until = now + SLICE_NS;
        pthread_mutex_unlock(&t->lock);
        host_clock_sleep_until(t->clock, until);
        pthread_mutex_lock(&t->lock);
    }
}

/* Nobody may wait for ever: what was not begun when the thread stops is answered. */
static void answer_all(struct link_thread *t)
{
    for (int p = 0; p < LINK_PRIO_COUNT; p++) {
        for (struct call *call = t->first[p], *next; call; call = next) {
            next = call->next;
            if (call->posted) {
                free(call);
                continue;
            }
            call->result = diag_set(call->diag, CORRAL_ERR_INTERRUPTED, "the link is being closed");
            call->done = true;
        }
        t->first[p] = t->last[p] = NULL;
    }
    t->waiting = 0;
    for (struct run *run = t->runs; run; run = run->next) {
        run->result = CORRAL_ERR_INTERRUPTED;
        run->done = true;
    }
    t->runs = NULL;
    pthread_cond_broadcast(&t->done);
}

static void *owner_main(void *arg)
{
    struct link_thread *t = arg;
    pthread_mutex_lock(&t->lock);
    if (t->is_virtual)
        owner_virtual(t);
    else
        owner_real(t);
    answer_all(t);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* ---- the callers' side ---- */

struct link_thread *link_thread_start(struct link *link, struct diag *d)
{
    struct link_thread *t = calloc(1, sizeof(*t));
    if (!t) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory for the link's thread");
        return NULL;
    }
    t->link = link;
    t->clock = link_clock(link);
    t->is_virtual = host_clock_is_virtual(t->clock);
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC); /* the clock that host_clock reads */
    pthread_cond_init(&t->wake, &attr);
    pthread_cond_init(&t->done, &attr);
    pthread_condattr_destroy(&attr);

    /* Signals belong to the program's main thread; but not this one, which says that mapped memory is gone
     * (base/bus_guard.h): where it is blocked, the kernel ends the process. */
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&t->owner, NULL, owner_main, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0) {
        diag_set(d, CORRAL_ERR_FAILED, "the link's thread cannot be started: %s", strerror(rc));
        pthread_cond_destroy(&t->wake);
        pthread_cond_destroy(&t->done);
        pthread_mutex_destroy(&t->lock);
        free(t);
        return NULL;
    }
    return t;
}

/* The lock is held. */
static enum corral_err queue_call(struct link_thread *t, enum link_priority priority, struct call *call,
                                  struct diag *d)
{
    if (t->stopping)
        return diag_set(d, CORRAL_ERR_INTERRUPTED, "the link is being closed");
    if (t->waiting >= MAX_CALLS)
        return diag_set(d, CORRAL_ERR_LIMIT, "more than %d calls wait for the link", MAX_CALLS);
    if (t->last[priority])
        t->last[priority]->next = call;
    else
        t->first[priority] = call;
    t->last[priority] = call;
    t->waiting++;
    pthread_cond_signal(&t->wake);
    return CORRAL_OK;
}

enum corral_err link_thread_post(struct link_thread *t, enum link_priority priority, link_call_fn fn,
                                 void *ctx, struct diag *d)
{
    assert((unsigned)priority < LINK_PRIO_COUNT);
    struct call *call = calloc(1, sizeof(*call));
    if (!call)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    *call = (struct call){.fn = fn, .ctx = ctx, .posted = true};
    pthread_mutex_lock(&t->lock);
    enum corral_err err = queue_call(t, priority, call, d);
    pthread_mutex_unlock(&t->lock);
    if (err)
        free(call);
    return err; /* NOLINT(clang-analyzer-unix.Malloc): else it is in the queue, and freed once it has run */
}

enum corral_err link_thread_call(struct link_thread *t, enum link_priority priority, link_call_fn fn,
                                 void *ctx, struct diag *d)
{
    assert((unsigned)priority < LINK_PRIO_COUNT);
    /* On the owner thread itself (a job or call that wants one more) waiting would be for ever. */
    if (pthread_equal(pthread_self(), t->owner))
        return fn(t->link, ctx, d);

    struct call call = {.fn = fn, .ctx = ctx, .diag = d};
    pthread_mutex_lock(&t->lock);
    enum corral_err err = queue_call(t, priority, &call, d);
    if (err) {
        pthread_mutex_unlock(&t->lock);
        return err;
    }
    t->users++;
    while (!call.done)
        pthread_cond_wait(&t->done, &t->lock);
    t->users--;
    pthread_cond_broadcast(&t->done);
    pthread_mutex_unlock(&t->lock);
    return call.result;
}

int link_thread_every(struct link_thread *t, enum link_priority priority, int64_t period_ns, link_call_fn fn,
                      void *ctx)
{
    assert((unsigned)priority < LINK_PRIO_COUNT);
    int number = -1;
    pthread_mutex_lock(&t->lock);
    if (t->job_count < LINK_THREAD_MAX_JOBS && period_ns > 0) {
        number = t->job_count++;
        t->jobs[number] = (struct job){.fn = fn,
                                       .ctx = ctx,
                                       .priority = priority,
                                       .period = period_ns,
                                       .due = host_clock_now(t->clock) + period_ns,
                                       .last = DIAG_INIT};
        pthread_cond_signal(&t->wake);
    }
    pthread_mutex_unlock(&t->lock);
    return number;
}

void link_thread_end_job(struct link_thread *t, int job)
{
    pthread_mutex_lock(&t->lock);
    if (job >= 0 && job < t->job_count) {
        t->jobs[job].ended = true;
        while (t->jobs[job].running)
            pthread_cond_wait(&t->done, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
}

enum corral_err link_thread_job_error(struct link_thread *t, int job, struct diag *d)
{
    pthread_mutex_lock(&t->lock);
    if (job < 0 || job >= t->job_count) {
        pthread_mutex_unlock(&t->lock);
        return diag_set(d, CORRAL_ERR_USAGE, "there is no job %d on this link", job);
    }
    struct diag last = t->jobs[job].last;
    pthread_mutex_unlock(&t->lock);
    if (d && last.code != CORRAL_OK)
        *d = last;
    return last.code;
}

static enum corral_err run_real(struct link_thread *t, int64_t until, const atomic_bool *stop)
{
    enum corral_err err = CORRAL_OK;
    for (;;) {
        int64_t now = host_clock_now(t->clock);
        if (t->stopping || (stop && atomic_load(stop))) {
            err = CORRAL_ERR_INTERRUPTED;
            break;
        }
        if (now >= until)
            break;
        timed_wait(t, &t->done, until - now > SLICE_NS ? now + SLICE_NS : until);
    }
    return err;
}

static enum corral_err run_virtual(struct link_thread *t, int64_t until, const atomic_bool *stop)
{
    struct run run = {.until = until, .stop = stop, .next = t->runs};
    if (t->stopping)
        return CORRAL_ERR_INTERRUPTED;
    t->runs = &run;
    pthread_cond_signal(&t->wake);
    while (!run.done)
        pthread_cond_wait(&t->done, &t->lock);
    return run.result;
}

enum corral_err link_thread_run_until(struct link_thread *t, int64_t until, const atomic_bool *stop,
                                      struct diag *d)
{
    if (pthread_equal(pthread_self(), t->owner))
        return diag_set(d, CORRAL_ERR_FAILED, "the link's own thread cannot wait for itself");
    pthread_mutex_lock(&t->lock);
    t->users++;
    enum corral_err err = t->is_virtual ? run_virtual(t, until, stop) : run_real(t, until, stop);
    t->users--;
    pthread_cond_broadcast(&t->done);
    pthread_mutex_unlock(&t->lock);
    return err == CORRAL_OK ? err : diag_set(d, err, "interrupted");
}

void link_thread_stop(struct link_thread *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->stopping = true;
    pthread_cond_signal(&t->wake);
    pthread_cond_broadcast(&t->done);
    while (t->users > 0)
        pthread_cond_wait(&t->done, &t->lock);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->owner, NULL);
    pthread_cond_destroy(&t->wake);
    pthread_cond_destroy(&t->done);
    pthread_mutex_destroy(&t->lock);
    link_close(t->link);
    free(t);
}
