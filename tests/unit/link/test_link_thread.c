/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link's owner thread: order, priorities, time, stopping. The link is a fake made here (link_thread.c is
 * compiled into this test by itself); with the virtual clock every order asserted is exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bus_guard.h"
#include "link/link_thread.h"

#define MS NS_PER_MS

/* ---- a fake link: a clock, and whether it was closed ---- */

struct link {
    struct host_clock *clock;
    int *closed;
};

struct host_clock *link_clock(const struct link *link)
{
    return link->clock;
}

void link_close(struct link *link)
{
    if (!link)
        return;
    ++*link->closed;
    free(link);
}

struct bench {
    struct host_clock *clock;
    struct link_thread *thread;
    int closed;
};

static void bench_open(struct bench *b, bool virtual_time)
{
    b->closed = 0;
    b->clock = virtual_time ? host_clock_new_virtual() : host_clock_new_real();
    assert_non_null(b->clock);
    struct link *link = calloc(1, sizeof(*link));
    assert_non_null(link);
    link->clock = b->clock;
    link->closed = &b->closed;
    struct diag d = DIAG_INIT;
    b->thread = link_thread_start(link, &d);
    assert_non_null(b->thread);
}

static void bench_close(struct bench *b)
{
    link_thread_stop(b->thread);
    assert_int_equal(b->closed, 1);
    host_clock_free(b->clock);
}

/* ---- a trace that jobs and calls write into: "name@ms " ---- */

struct trace {
    pthread_mutex_t lock;
    char text[512];
    size_t used;
};

#define TRACE_INIT                        \
    {                                     \
        .lock = PTHREAD_MUTEX_INITIALIZER \
    }

static void trace_add(struct trace *trace, char name, int64_t now)
{
    pthread_mutex_lock(&trace->lock);
    int n = snprintf(trace->text + trace->used, sizeof(trace->text) - trace->used, "%c%lld ", name,
                     (long long)(now / MS));
    assert_true(n > 0 && trace->used + (size_t)n < sizeof(trace->text));
    trace->used += (size_t)n;
    pthread_mutex_unlock(&trace->lock);
}

struct step {
    struct trace *trace;
    char name;
    int64_t takes; /* virtual time the step uses up */
    enum corral_err result;
    unsigned runs;
};

static enum corral_err step_run(struct link *link, void *ctx, struct diag *d)
{
    struct step *step = ctx;
    step->runs++;
    trace_add(step->trace, step->name, host_clock_now(link->clock));
    if (step->takes)
        host_clock_sleep(link->clock, step->takes);
    return step->result == CORRAL_OK ? CORRAL_OK : diag_set(d, step->result, "step %c failed", step->name);
}

/* ---- virtual time ---- */

static void test_call_runs_on_owner_and_returns_result(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, true);
    struct trace trace = TRACE_INIT;
    struct step good = {.trace = &trace, .name = 'g'};
    struct step bad = {.trace = &trace, .name = 'b', .result = CORRAL_ERR_LINK_FAULT};
    struct diag d = DIAG_INIT;
    assert_int_equal(link_thread_call(b.thread, LINK_PRIO_GDB, step_run, &good, &d), CORRAL_OK);
    assert_int_equal(link_thread_call(b.thread, LINK_PRIO_LOG, step_run, &bad, &d), CORRAL_ERR_LINK_FAULT);
    assert_int_equal(d.code, CORRAL_ERR_LINK_FAULT);
    assert_string_equal(d.message, "step b failed");
    assert_string_equal(trace.text, "g0 b0 ");
    bench_close(&b);
}

/* Two jobs due at the same moment: the priority decides, then the number. */
static void test_virtual_order_is_due_priority_number(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, true);
    struct trace trace = TRACE_INIT;
    struct step sample = {.trace = &trace, .name = 's'}, log1 = {.trace = &trace, .name = 'l'},
                log2 = {.trace = &trace, .name = 'm'}, halt = {.trace = &trace, .name = 'h'};
    assert_int_equal(link_thread_every(b.thread, LINK_PRIO_SAMPLE, 5 * MS, step_run, &sample), 0);
    assert_int_equal(link_thread_every(b.thread, LINK_PRIO_LOG, 10 * MS, step_run, &log1), 1);
    assert_int_equal(link_thread_every(b.thread, LINK_PRIO_LOG, 10 * MS, step_run, &log2), 2);
    assert_int_equal(link_thread_every(b.thread, LINK_PRIO_HALT, 10 * MS, step_run, &halt), 3);
    assert_int_equal(link_thread_run_until(b.thread, 20 * MS, NULL, NULL), CORRAL_OK);
    assert_int_equal(host_clock_now(b.clock), 20 * MS);
    assert_string_equal(trace.text, "s5 h10 l10 m10 s10 s15 h20 l20 m20 s20 ");
    bench_close(&b);
}

/* Without run_until no time passes and no job runs, however many calls are made. */
static void test_virtual_jobs_wait_for_run_until(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, true);
    struct trace trace = TRACE_INIT;
    struct step job = {.trace = &trace, .name = 'j'}, call = {.trace = &trace, .name = 'c', .takes = 4 * MS};
    link_thread_every(b.thread, LINK_PRIO_GDB, 3 * MS, step_run, &job);
    for (int i = 0; i < 3; i++)
        link_thread_call(b.thread, LINK_PRIO_LOG, step_run, &call, NULL);
    assert_string_equal(trace.text, "c0 c4 c8 ");
    /* The one turn that came due meanwhile is made, the others are dropped; the phase is kept. */
    assert_int_equal(link_thread_run_until(b.thread, 16 * MS, NULL, NULL), CORRAL_OK);
    assert_string_equal(trace.text, "c0 c4 c8 j12 j15 ");
    bench_close(&b);
}

/* A job that takes longer than its period does not run twice in a row, and others get their turn. */
static void test_long_job_does_not_catch_up(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, true);
    struct trace trace = TRACE_INIT;
    struct step slow = {.trace = &trace, .name = 's', .takes = 25 * MS},
                quick = {.trace = &trace, .name = 'q'};
    link_thread_every(b.thread, LINK_PRIO_HALT, 10 * MS, step_run, &slow);
    link_thread_every(b.thread, LINK_PRIO_SAMPLE, 10 * MS, step_run, &quick);
    link_thread_run_until(b.thread, 60 * MS, NULL, NULL);
    /* s: due 10, ends 35, next 40, ends 65, next 70. q: due 10, run at 35; due 40, run at 65. */
    assert_string_equal(trace.text, "s10 q35 s40 q65 ");
    assert_int_equal(slow.runs, 2);
    bench_close(&b);
}

static void test_jobs_run_in_the_same_order_every_time(void **state)
{
    (void)state;
    char first[512] = "";
    for (int round = 0; round < 20; round++) {
        struct bench b;
        bench_open(&b, true);
        struct trace trace = TRACE_INIT;
        struct step a = {.trace = &trace, .name = 'a', .takes = MS}, c = {.trace = &trace, .name = 'c'},
                    e = {.trace = &trace, .name = 'e', .takes = 2 * MS};
        link_thread_every(b.thread, LINK_PRIO_LOG, 3 * MS, step_run, &a);
        link_thread_every(b.thread, LINK_PRIO_HALT, 7 * MS, step_run, &c);
        link_thread_every(b.thread, LINK_PRIO_SAMPLE, 5 * MS, step_run, &e);
        for (int64_t until = 10 * MS; until <= 60 * MS; until += 10 * MS)
            link_thread_run_until(b.thread, until, NULL, NULL);
        if (round == 0)
            memcpy(first, trace.text, sizeof(first));
        else
            assert_string_equal(trace.text, first);
        bench_close(&b);
    }
    assert_true(strlen(first) > 60);
}

static void test_failing_job_is_kept_and_its_error_read(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, true);
    struct trace trace = TRACE_INIT;
    struct step job = {.trace = &trace, .name = 'x', .result = CORRAL_ERR_LINK_WAIT};
    int number = link_thread_every(b.thread, LINK_PRIO_LOG, 10 * MS, step_run, &job);
    struct diag d = DIAG_INIT;
    assert_int_equal(link_thread_job_error(b.thread, number, &d), CORRAL_OK);
    link_thread_run_until(b.thread, 30 * MS, NULL, NULL);
    assert_int_equal(job.runs, 3);
    assert_int_equal(link_thread_job_error(b.thread, number, &d), CORRAL_ERR_LINK_WAIT);
    assert_string_equal(d.message, "step x failed");
    job.result = CORRAL_OK; /* the thread is idle: nothing else touches the step */
    link_thread_run_until(b.thread, 40 * MS, NULL, NULL);
    assert_int_equal(link_thread_job_error(b.thread, number, &d), CORRAL_OK);
    assert_int_equal(link_thread_job_error(b.thread, number + 1, &d), CORRAL_ERR_USAGE);
    bench_close(&b);
}

static void test_number_of_jobs_is_bounded(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, true);
    struct trace trace = TRACE_INIT;
    struct step job = {.trace = &trace, .name = 'n'};
    assert_int_equal(link_thread_every(b.thread, LINK_PRIO_LOG, 0, step_run, &job), -1);
    for (int i = 0; i < LINK_THREAD_MAX_JOBS; i++)
        assert_int_equal(link_thread_every(b.thread, LINK_PRIO_LOG, NS_PER_S, step_run, &job), i);
    assert_int_equal(link_thread_every(b.thread, LINK_PRIO_LOG, NS_PER_S, step_run, &job), -1);
    bench_close(&b);
}

/* The stop flag is set from outside while virtual time passes. */
static enum corral_err set_flag(struct link *link, void *ctx, struct diag *d)
{
    (void)d;
    if (host_clock_now(link->clock) >= 50 * MS)
        atomic_store((atomic_bool *)ctx, true);
    return CORRAL_OK;
}

static void test_virtual_run_ends_early_on_stop(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, true);
    atomic_bool stop = false;
    struct diag d = DIAG_INIT;
    link_thread_every(b.thread, LINK_PRIO_LOG, 10 * MS, set_flag, &stop);
    assert_int_equal(link_thread_run_until(b.thread, NS_PER_S, &stop, &d), CORRAL_ERR_INTERRUPTED);
    assert_int_equal(d.code, CORRAL_ERR_INTERRUPTED);
    assert_int_equal(host_clock_now(b.clock), 50 * MS);
    bench_close(&b);
}

static enum corral_err call_again(struct link *link, void *ctx, struct diag *d)
{
    struct bench *b = ctx;
    struct trace trace = TRACE_INIT;
    struct step inner = {.trace = &trace, .name = 'i'};
    (void)link;
    if (link_thread_run_until(b->thread, NS_PER_S, NULL, d) != CORRAL_ERR_FAILED)
        return CORRAL_ERR_FAILED;
    return link_thread_call(b->thread, LINK_PRIO_SAMPLE, step_run, &inner, d);
}

static void test_call_from_the_owner_runs_at_once(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, true);
    assert_int_equal(link_thread_call(b.thread, LINK_PRIO_GDB, call_again, &b, NULL), CORRAL_OK);
    bench_close(&b);
}

/* ---- threads ---- */

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool entered, open;
};

static enum corral_err hold_gate(struct link *link, void *ctx, struct diag *d)
{
    struct gate *gate = ctx;
    (void)link;
    (void)d;
    pthread_mutex_lock(&gate->lock);
    gate->entered = true;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
    return CORRAL_OK;
}

struct caller {
    struct bench *bench;
    enum link_priority priority;
    link_call_fn fn;
    void *ctx;
    enum corral_err result;
    pthread_t thread;
};

static void *caller_main(void *arg)
{
    struct caller *caller = arg;
    caller->result = link_thread_call(caller->bench->thread, caller->priority, caller->fn, caller->ctx, NULL);
    return NULL;
}

static void pause_ms(int ms)
{
    struct host_clock *clock = host_clock_new_real();
    host_clock_sleep(clock, ms * MS);
    host_clock_free(clock);
}

/* While one call holds the thread four more queue up, lowest priority first; they run highest first. */
static void test_waiting_calls_run_by_priority(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, true);
    struct trace trace = TRACE_INIT;
    struct gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    struct caller holder = {.bench = &b, .priority = LINK_PRIO_SAMPLE, .fn = hold_gate, .ctx = &gate};
    pthread_create(&holder.thread, NULL, caller_main, &holder);
    pthread_mutex_lock(&gate.lock);
    while (!gate.entered)
        pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);

    struct step steps[LINK_PRIO_COUNT];
    struct caller callers[LINK_PRIO_COUNT];
    for (int p = LINK_PRIO_COUNT - 1; p >= 0; p--) {
        steps[p] = (struct step){.trace = &trace, .name = "ghls"[p]};
        callers[p] =
            (struct caller){.bench = &b, .priority = (enum link_priority)p, .fn = step_run, .ctx = &steps[p]};
        pthread_create(&callers[p].thread, NULL, caller_main, &callers[p]);
    }
    pause_ms(100); /* the order does not depend on it, but that all four wait does */
    pthread_mutex_lock(&gate.lock);
    gate.open = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
    pthread_join(holder.thread, NULL);
    for (int p = 0; p < LINK_PRIO_COUNT; p++)
        pthread_join(callers[p].thread, NULL);
    assert_string_equal(trace.text, "g0 h0 l0 s0 ");
    bench_close(&b);
}

/* ---- real time ---- */

static enum corral_err count_up(struct link *link, void *ctx, struct diag *d)
{
    (void)link;
    (void)d;
    atomic_fetch_add((atomic_uint *)ctx, 1);
    return CORRAL_OK;
}

static void test_real_jobs_run_whatever_the_callers_do(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, false);
    atomic_uint runs = 0;
    link_thread_every(b.thread, LINK_PRIO_LOG, 5 * MS, count_up, &runs);
    int64_t begin = host_clock_now(b.clock);
    while (atomic_load(&runs) < 5 && host_clock_now(b.clock) < begin + 5 * NS_PER_S)
        pause_ms(1);
    assert_true(atomic_load(&runs) >= 5);
    assert_true(host_clock_now(b.clock) - begin >= 25 * MS - MS); /* never early */
    bench_close(&b);
}

static void test_real_run_until_is_not_early(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, false);
    int64_t until = host_clock_now(b.clock) + 30 * MS;
    assert_int_equal(link_thread_run_until(b.thread, until, NULL, NULL), CORRAL_OK);
    assert_true(host_clock_now(b.clock) >= until);
    bench_close(&b);
}

static void *set_after_20ms(void *stop)
{
    pause_ms(20);
    atomic_store((atomic_bool *)stop, true);
    return NULL;
}

static void test_real_run_until_watches_stop(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, false);
    atomic_bool stop = false;
    pthread_t helper;
    int64_t begin = host_clock_now(b.clock);
    pthread_create(&helper, NULL, set_after_20ms, &stop);
    assert_int_equal(link_thread_run_until(b.thread, begin + 60 * NS_PER_S, &stop, NULL),
                     CORRAL_ERR_INTERRUPTED);
    assert_true(host_clock_now(b.clock) - begin < 10 * NS_PER_S);
    pthread_join(helper, NULL);
    bench_close(&b);
}

/* Calls that follow each other without a pause do not keep a due job of lower priority away. */
static void test_real_busy_calls_do_not_starve_a_job(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, false);
    atomic_uint jobs = 0, calls = 0;
    link_thread_every(b.thread, LINK_PRIO_SAMPLE, MS, count_up, &jobs);
    int64_t end = host_clock_now(b.clock) + 5 * NS_PER_S;
    while (atomic_load(&jobs) < 10 && host_clock_now(b.clock) < end)
        link_thread_call(b.thread, LINK_PRIO_GDB, count_up, &calls, NULL);
    assert_true(atomic_load(&jobs) >= 10);
    bench_close(&b);
}

static enum corral_err count_slowly(struct link *link, void *ctx, struct diag *d)
{
    (void)d;
    atomic_fetch_add((atomic_uint *)ctx, 1);
    host_clock_sleep(link->clock, 5 * MS);
    return CORRAL_OK;
}

/* A poll that takes longer than its period, as over a slow link, is due again as soon as it is done. */
static void test_real_slow_jobs_do_not_starve_those_of_lower_priority(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, false);
    atomic_uint polls = 0, logs = 0, samples = 0;
    link_thread_every(b.thread, LINK_PRIO_HALT, 2 * MS, count_slowly, &polls);
    link_thread_every(b.thread, LINK_PRIO_LOG, 2 * MS, count_slowly, &logs);
    link_thread_every(b.thread, LINK_PRIO_SAMPLE, 10 * MS, count_up, &samples);
    int64_t end = host_clock_now(b.clock) + 20 * NS_PER_S;
    while ((atomic_load(&logs) < 5 || atomic_load(&samples) < 5) && host_clock_now(b.clock) < end)
        host_clock_sleep(b.clock, 5 * MS);
    assert_true(atomic_load(&logs) >= 5 && atomic_load(&samples) >= 5);
    assert_true(atomic_load(&polls) >= 5);
    bench_close(&b);
}

struct waiter {
    struct bench *bench;
    enum corral_err result;
};

static void *run_for_long(void *arg)
{
    struct waiter *w = arg;
    w->result =
        link_thread_run_until(w->bench->thread, host_clock_now(w->bench->clock) + 60 * NS_PER_S, NULL, NULL);
    return NULL;
}

/* Stop is prompt and lets nobody wait for ever, with jobs far in the future and a run_until going on. */
static void test_stop_is_prompt(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, false);
    atomic_uint runs = 0;
    link_thread_every(b.thread, LINK_PRIO_LOG, 3600 * NS_PER_S, count_up, &runs);
    struct waiter waiter = {.bench = &b};
    pthread_t thread;
    pthread_create(&thread, NULL, run_for_long, &waiter);
    pause_ms(50);
    int64_t begin = host_clock_now(b.clock);
    link_thread_stop(b.thread);
    assert_true(host_clock_now(b.clock) - begin < 5 * NS_PER_S);
    pthread_join(thread, NULL);
    assert_int_equal(waiter.result, CORRAL_ERR_INTERRUPTED);
    assert_int_equal(atomic_load(&runs), 0);
    assert_int_equal(b.closed, 1);
    host_clock_free(b.clock);
    link_thread_stop(NULL);
}

static void read_byte(void *ctx)
{
    (void)*(volatile uint8_t *)ctx;
}

static enum corral_err read_mapped(struct link *link, void *ctx, struct diag *d)
{
    (void)link;
    return bus_guard_run(read_byte, ctx) ? CORRAL_OK : diag_set(d, CORRAL_ERR_LINK_DOWN, "gone");
}

/* A fault on a thread that blocks its signal would be the end, whatever handler there is. */
static void test_mapped_memory_that_is_cut_is_an_error_here(void **state)
{
    (void)state;
    struct bench b;
    struct diag d = DIAG_INIT;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), 4096), 0);
    void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    bus_guard_install();
    bench_open(&b, false);
    assert_int_equal(link_thread_call(b.thread, LINK_PRIO_LOG, read_mapped, map, &d), CORRAL_OK);
    assert_int_equal(ftruncate(fileno(file), 0), 0);
    assert_int_equal(link_thread_call(b.thread, LINK_PRIO_LOG, read_mapped, map, &d), CORRAL_ERR_LINK_DOWN);
    bench_close(&b);
    munmap(map, 4096);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_runs_on_owner_and_returns_result),
        cmocka_unit_test(test_virtual_order_is_due_priority_number),
        cmocka_unit_test(test_virtual_jobs_wait_for_run_until),
        cmocka_unit_test(test_long_job_does_not_catch_up),
        cmocka_unit_test(test_jobs_run_in_the_same_order_every_time),
        cmocka_unit_test(test_failing_job_is_kept_and_its_error_read),
        cmocka_unit_test(test_number_of_jobs_is_bounded),
        cmocka_unit_test(test_virtual_run_ends_early_on_stop),
        cmocka_unit_test(test_call_from_the_owner_runs_at_once),
        cmocka_unit_test(test_waiting_calls_run_by_priority),
        cmocka_unit_test(test_real_jobs_run_whatever_the_callers_do),
        cmocka_unit_test(test_real_run_until_is_not_early),
        cmocka_unit_test(test_real_run_until_watches_stop),
        cmocka_unit_test(test_real_busy_calls_do_not_starve_a_job),
        cmocka_unit_test(test_real_slow_jobs_do_not_starve_those_of_lower_priority),
        cmocka_unit_test(test_stop_is_prompt),
        cmocka_unit_test(test_mapped_memory_that_is_cut_is_an_error_here),
    };
    return cmocka_run_group_tests_name("link_thread", tests, NULL, NULL);
}
