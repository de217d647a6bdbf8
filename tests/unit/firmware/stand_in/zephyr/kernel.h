/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for the few parts of Zephyr that the log back end uses, with the types and meanings of Zephyr's
 * public interface, and what a test needs to steer them. Written for this test; nothing of Zephyr is in it.
 */
#ifndef CORRAL_TESTS_ZEPHYR_KERNEL_H
#define CORRAL_TESTS_ZEPHYR_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARG_UNUSED(x)      (void)(x)
#define IS_ENABLED(option) (option)
#define K_MSEC(ms)         (ms)

typedef int k_timeout_t;
typedef long atomic_t;
typedef long atomic_val_t;

static inline atomic_val_t atomic_add(atomic_t *target, atomic_val_t value)
{
    atomic_val_t before = *target;
    *target = before + value;
    return before;
}

static inline atomic_val_t atomic_set(atomic_t *target, atomic_val_t value)
{
    atomic_val_t before = *target;
    *target = value;
    return before;
}

struct k_mutex {
    int held;
};
#define K_MUTEX_DEFINE(name) static struct k_mutex name

struct k_work {
    void (*handler)(struct k_work *work);
};
struct k_work_delayable {
    struct k_work work; /* first, as in Zephyr */
};

/* The test's own: what the kernel does, and what it was asked. */
struct stand_in {
    int refuse_lock;       /* so many locks time out */
    int locks, longest_ms; /* asked for */
    struct k_work *scheduled;
    int delay_ms;
};
extern struct stand_in stand_in;

int k_mutex_lock(struct k_mutex *mutex, k_timeout_t timeout);
int k_mutex_unlock(struct k_mutex *mutex);
void k_work_init_delayable(struct k_work_delayable *work, void (*handler)(struct k_work *work));
int k_work_reschedule(struct k_work_delayable *work, k_timeout_t delay);
int k_work_cancel_delayable(struct k_work_delayable *work);

#endif
