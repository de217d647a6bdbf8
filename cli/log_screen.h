/* SPDX-License-Identifier: Apache-2.0 */
/* What `corral log` shows: a sink that chooses and draws, and the summary. */
#ifndef CORRAL_CLI_LOG_SCREEN_H
#define CORRAL_CLI_LOG_SCREEN_H

#include "cli/cli.h"
#include "tlog/consumer.h"

struct log_screen_options {
    FILE *out;
    bool json, colour;
    bool wall_clock;          /* text: the time of day in front of each line */
    struct host_clock *clock; /* of the events' host times; NULL = CLOCK_MONOTONIC */
    uint8_t level;            /* this and worse, 0 (raw) always */
    int source;               /* -1 = all */
};

/* NULL when memory is out. */
struct sink *log_screen_new(const struct log_screen_options *options);

/* The last line. `dropped`: events that did not fit this output's queue. */
void log_screen_summary(const struct log_screen_options *o, const struct tlog_consumer_stats *s,
                        uint64_t dropped);

/* "err" or "1" ...; false when it is none. */
bool log_screen_level(const char *text, uint8_t *level);
/* "SMC", "DMC", "src7" or "7"; false when it is none. */
bool log_screen_source(const char *text, int *source);

#endif
