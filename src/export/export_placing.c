/* SPDX-License-Identifier: Apache-2.0 */
/* A core's own time to host time for drawing (export_placing.h). */
#include "export/export_placing.h"

void export_placing_line(struct export_placing *p, int64_t target_ns, int64_t read_ns)
{
    /* After a stop the delay holds the stop too, or part of it: it says nothing of the offset. */
    if (p->count || p->stopped)
        return;
    int64_t delay = (int64_t)((uint64_t)read_ns - (uint64_t)target_ns);
    if (!p->known || delay < p->offset_ns)
        p->offset_ns = delay;
    p->known = true;
}

void export_placing_halt(struct export_placing *p, int64_t host_ns)
{
    if (p->stopped)
        return;
    if (p->count == EXPORT_PLACING_MAX_STOPS) {
        p->full = true;
        return;
    }
    p->stopped = true;
    p->stops[p->count++] = (struct export_placing_stop){.from_ns = host_ns, .to_ns = INT64_MAX};
}

void export_placing_run(struct export_placing *p, int64_t host_ns)
{
    if (!p->stopped)
        return;
    p->stopped = false;
    p->stops[p->count - 1].to_ns = host_ns;
}

int64_t export_placing_host(const struct export_placing *p, int64_t target_ns, int64_t read_ns)
{
    if (!p->known)
        return read_ns;
    int64_t host = (int64_t)((uint64_t)p->offset_ns + (uint64_t)target_ns);
    for (size_t i = 0; i < p->count && host > p->stops[i].from_ns; i++) {
        if (p->stops[i].to_ns ==
            INT64_MAX) /* later than the clock can have come: it had a lead on the offset */
            return p->stops[i].from_ns < read_ns ? p->stops[i].from_ns : read_ns;
        host = (int64_t)((uint64_t)host + (uint64_t)p->stops[i].to_ns - (uint64_t)p->stops[i].from_ns);
    }
    if (p->full && host > p->stops[p->count - 1].to_ns)
        return read_ns;
    return host < read_ns ? host : read_ns;
}
