/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner thread of a link: a priority queue of calls, and periodic jobs in bounded slices.
 * Priorities: gdb > halt polling > log > PC sampling.
 *
 * With a real clock jobs run when they are due, whatever the callers do. With the virtual clock time passes
 * only inside a call and inside link_thread_run_until, so the order of everything is the same in every run.
 */
#ifndef CORRAL_LINK_LINK_THREAD_H
#define CORRAL_LINK_LINK_THREAD_H

#include <stdatomic.h>

#include "link/link.h"

struct link_thread;

enum link_priority { LINK_PRIO_GDB, LINK_PRIO_HALT, LINK_PRIO_LOG, LINK_PRIO_SAMPLE, LINK_PRIO_COUNT };

#define LINK_THREAD_MAX_JOBS 64

typedef enum corral_err (*link_call_fn)(struct link *link, void *ctx, struct diag *d);

/* Takes the link over (link_thread_stop closes it). NULL with *d set on failure. */
struct link_thread *link_thread_start(struct link *link, struct diag *d);

/* Run fn on the owner thread and wait for it. */
enum corral_err link_thread_call(struct link_thread *t, enum link_priority priority, link_call_fn fn,
                                 void *ctx, struct diag *d);

/* The same without waiting: fn runs later, at most once, and its result goes nowhere. `ctx` must live until
 * it has run; where the thread is stopped first it never runs. CORRAL_ERR_LIMIT when too many calls wait,
 * CORRAL_ERR_INTERRUPTED when the link is being closed. Any thread, the owner too. */
enum corral_err link_thread_post(struct link_thread *t, enum link_priority priority, link_call_fn fn,
                                 void *ctx, struct diag *d);

/*
 * Run fn every period_ns, first after one period. A job that fails is kept and run again; its last error is
 * read with link_thread_job_error. `ctx` must live until link_thread_stop. Returns the job number, or -1
 * when there are too many.
 */
int link_thread_every(struct link_thread *t, enum link_priority priority, int64_t period_ns, link_call_fn fn,
                      void *ctx);
/* No more turns of this job, and none is under way when it returns. Not for the owner thread. */
void link_thread_end_job(struct link_thread *t, int job);
enum corral_err link_thread_job_error(struct link_thread *t, int job, struct diag *d);

/*
 * Let time pass until host_clock time `until`, periodic jobs running when due; ends early when *stop becomes
 * true (stop may be NULL). CORRAL_ERR_INTERRUPTED then.
 */
enum corral_err link_thread_run_until(struct link_thread *t, int64_t until, const atomic_bool *stop,
                                      struct diag *d);

/* Ends the thread, closes the link, frees. NULL is allowed. */
void link_thread_stop(struct link_thread *t);

#endif
