/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a profile comes from, by the options of `corral profile` (profile_options.h): a target, datagrams, a
 * daemon, capture files. Opens, reads and closes; shows nothing.
 */
#ifndef CORRAL_CLI_PROFILE_SOURCES_H
#define CORRAL_CLI_PROFILE_SOURCES_H

#include "cli/profile_options.h"
#include "session/profiling.h"
#include "session/profiling_remarks.h"

struct config;
struct session;

struct profile_sources {
    const struct cli *cli;
    const struct profile_options *o;
    const atomic_bool *stop;
    struct config *config; /* or NULL */
    struct event_bus *bus; /* set before the opening: events go to its sinks, and it stays the caller's */
    bool bus_given;
    struct host_clock *own_clock; /* where there is no session */
    struct session *session;      /* or NULL */
    struct profiling *profiling;
    struct profiling_file_stats files; /* of all capture files together */
    uint64_t damaged_files;
    struct diag damage; /* of the last damaged file */
};

/* The target, the images and the names, all that is needed before the first packet. */
enum corral_err profile_sources_open(struct profile_sources *s, struct diag *d);
/* All capture files. CORRAL_ERR_INTERRUPTED when a signal came, but for a pipe, which has no end of its own.
 */
enum corral_err profile_sources_read_files(struct profile_sources *s,
                                           void (*progress)(void *ctx, uint64_t done, uint64_t size),
                                           void *ctx, struct diag *d);
/* Will anything come beyond the files? */
bool profile_sources_live(const struct profile_sources *s);
/* Where packets are listened for without a session. */
const char *profile_sources_address(const struct profile_sources *s);
enum corral_err profile_sources_start(struct profile_sources *s, struct diag *d);
/* Let `ns` of the source's time pass, less where a signal comes. Without a session it returns at once:
 * packets come on a thread of their own. */
enum corral_err profile_sources_run(struct profile_sources *s, int64_t ns, struct diag *d);
/* The clock by which --seconds counts: the target's on the virtual board. */
struct host_clock *profile_sources_clock(struct profile_sources *s);
/* How the packets got here, which a report cannot know. */
void profile_sources_remarks(struct profile_sources *s, const struct prof_report *report,
                             struct profiling_remarks *remarks);
/* Leaves the target; returns `err`, or what that failed with (then in *d). */
enum corral_err profile_sources_close(struct profile_sources *s, enum corral_err err, struct diag *d);

#endif
