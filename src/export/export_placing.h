/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a log line belongs on the host's timeline. A line is read some time after it was written, but carries
 * the core's own time, which stands still while the core is halted. The least delay seen before the first
 * halt gives the offset between the two (latency is one-sided, so the lower envelope is the best there is);
 * from there on the halts are added. Private to src/export; one a lane.
 */
#ifndef CORRAL_EXPORT_EXPORT_PLACING_H
#define CORRAL_EXPORT_EXPORT_PLACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT_PLACING_MAX_STOPS 4096u /* lines behind the last one stay where they were read */

struct export_placing_stop {
    int64_t from_ns, to_ns; /* host time */
};

struct export_placing {
    bool known;
    int64_t offset_ns; /* host time minus the core's, before the first stop */
    bool stopped, full;
    size_t count;
    struct export_placing_stop stops[EXPORT_PLACING_MAX_STOPS];
};

/* A line written at `target_ns` had been read by `read_ns`. */
void export_placing_line(struct export_placing *p, int64_t target_ns, int64_t read_ns);
void export_placing_halt(struct export_placing *p, int64_t host_ns);
void export_placing_run(struct export_placing *p, int64_t host_ns);

/* Host time of the core's time `target_ns`; never after `read_ns`, and `read_ns` where it cannot be told. */
int64_t export_placing_host(const struct export_placing *p, int64_t target_ns, int64_t read_ns);

#endif
