/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host time in nanoseconds: the real monotonic clock, or a virtual one that moves only when somebody says so.
 *
 * Every time-out in src/ goes through this object, so that with the virtual clock the whole program is
 * deterministic. With the virtual clock, sleeping asks the "driver" (the virtual board's link) to let that
 * much time pass; without a driver it simply advances.
 *
 * Thread-safe. Times are int64 nanoseconds from an arbitrary zero, never negative.
 */
#ifndef CORRAL_BASE_HOST_CLOCK_H
#define CORRAL_BASE_HOST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct host_clock;

#define NS_PER_US 1000LL
#define NS_PER_MS 1000000LL
#define NS_PER_S  1000000000LL

/* NULL when memory is out. Free with host_clock_free (NULL is allowed). */
struct host_clock *host_clock_new_real(void);
struct host_clock *host_clock_new_virtual(void);
void host_clock_free(struct host_clock *clock);

bool host_clock_is_virtual(const struct host_clock *clock);
int64_t host_clock_now(struct host_clock *clock);

/* Wait until `when` (at once when it is past). May return late, never early. */
void host_clock_sleep_until(struct host_clock *clock, int64_t when);
void host_clock_sleep(struct host_clock *clock, int64_t ns);

/* Virtual only: move the clock forward to `now`; going back is ignored. */
void host_clock_set(struct host_clock *clock, int64_t now);

/* Virtual only: what lets time pass. `pass(ctx, until)` must have called host_clock_set(until) or later when
 * it returns. NULL takes the driver away; then sleeping advances the clock by itself. */
void host_clock_set_driver(struct host_clock *clock, void (*pass)(void *ctx, int64_t until), void *ctx);

/* A bounded wait: `struct deadline d = deadline_in(clock, ns); while (!deadline_passed(&d)) ...` */
struct deadline {
    struct host_clock *clock;
    int64_t when;
};

struct deadline deadline_in(struct host_clock *clock, int64_t ns);
bool deadline_passed(const struct deadline *d);

#endif
