/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of the report's making, shared by report*.c and nobody else: a copy of all that was added up, taken
 * under the locks, and the tables that are built from it without them.
 */
#ifndef CORRAL_PROF_REPORT_PARTS_H
#define CORRAL_PROF_REPORT_PARTS_H

#include "prof/analysis_state.h"
#include "prof/caller.h"
#include "prof/report.h"
#include "prof/stream_state.h"

#define REPORT_NONE UINT32_MAX

/* Memory that lives as long as the report, in blocks. */
struct report_block;
struct report_box {
    struct prof_report report; /* first: prof_report_free gets this one's address */
    struct report_block *blocks;
};
/* Zeroed; NULL when memory is out. */
void *report_alloc(struct report_box *box, size_t size);
const char *report_string(struct report_box *box, const char *text);

struct report_sender {
    bool used;
    char name[PROF_SOURCE_NAME_ROOM];
    struct prof_totals totals;
    struct prof_rates rates; /* with what is held back */
    uint32_t clock_hz;
    struct prof_source_state state; /* its tables are copies */
};

/* One (source, process, pc) that was sampled. */
struct report_site {
    uint32_t pid; /* 0 where the place is the same in every process */
    uint32_t pc;
    uint32_t function; /* number in report_work.functions */
    uint8_t source;
    bool known; /* place is set: an image has a function there */
    struct prof_target place;
    uint64_t samples, i_blocked, d_blocked;
};

struct report_work {
    struct report_box *box;
    const struct prof_report_options *options;
    struct report_sender senders[PROF_MAX_SOURCES];
    size_t sender_count;
    struct prof_totals totals; /* over all */
    struct prof_totals gone;
    struct prof_aggregate_snapshot samples, conditions;
    uint64_t active[PROF_MAX_SOURCES]; /* that the report is of: with options.thread, that thread's */

    struct report_site *sites; /* by source, pid, pc */
    size_t site_count;
    uint32_t *site_of;                            /* by entry of `samples`, which is sorted the same way */
    struct prof_caller (*chains)[PROF_CHAIN_MAX]; /* by entry, when stacks are wanted; else NULL */
    uint8_t *depths;
    struct prof_report_function *functions;
    size_t function_count, function_room;
    uint32_t *slots; /* of functions, number + 1; 0 = free */
    size_t slot_count;
};

static inline int report_order(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

const struct symbol_space *report_space(const struct report_work *w, unsigned source);
/* A thread's MIPS by its instructions and seconds. False when not known, or when it does not count them. */
bool report_mips(const struct report_sender *sender, size_t thread, double *mips);

/* Each false when memory is out. In this order: */
bool report_add_functions(struct report_work *w); /* sites, functions, callers; not yet in order */
bool report_add_hot(struct report_work *w);
bool report_add_stacks(struct report_work *w);
bool report_add_images(struct report_work *w);
bool report_add_sources(struct report_work *w); /* sources, threads, counters, maps */

/* The frames at a site, innermost first, the last the function itself. */
size_t report_frames(const struct report_work *w, const struct report_site *site,
                     struct prof_report_frame frames[PROF_REPORT_INLINES]);

#endif
