/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile at one moment, as every view and exporter draws it: the analyses of the profiler sheet section 9
 * computed once, so that text, JSON, the live view and the files never disagree. Immutable.
 *
 * Counts are samples unless said otherwise. "Active" = the sampled thread was not suspended; inactive samples
 * count for the denominator only. Groups that a sender leaves all zero are not reported, and said to be so.
 * Strings are the report's own or borrowed from the symbol spaces, which must outlive it.
 */
#ifndef CORRAL_PROF_REPORT_H
#define CORRAL_PROF_REPORT_H

#include "prof/analysis.h"
#include "symbol/symbol_space.h"

#define PROF_REPORT_CALLERS 3
#define PROF_REPORT_INLINES 8

enum prof_thread_type { PROF_THREAD_NRT, PROF_THREAD_HIGH, PROF_THREAD_HRT, PROF_THREAD_PROFILER };
const char *prof_thread_type_name(enum prof_thread_type type); /* NRT high HRT profiler */

struct prof_report_thread {
    unsigned source; /* index into sources[] */
    unsigned thread; /* hardware thread */
    bool enabled;    /* in the enabled mask; samples of others are shown, too, and flagged by this */
    enum prof_thread_type type;
    uint64_t samples, active, i_blocked, d_blocked; /* blocked: of the active ones */
    bool mips_known;    /* false too where its counter never was anything but 0: it does not count */
    double mips;        /* executed, from the instruction counters */
    double rate;        /* 0..1: weight a sample of this thread had on average (sheet 9) */
    double utilisation; /* 0..1: sum of its weights by the source's intervals */
    bool min_sp_known;
    uint64_t min_sp; /* lowest stack pointer seen, an address */
};

struct prof_report_frame {
    const char *name; /* "[unknown]" where no image covers it */
    const char *file; /* or NULL */
    uint32_t line;    /* 0 = not known */
};

enum prof_certainty { PROF_CALLER_VALID, PROF_CALLER_POSSIBLE, PROF_CALLER_UNKNOWN };

struct prof_report_caller {
    struct prof_report_frame frame;
    uint64_t address; /* of the call, in the target; 0 = unknown caller */
    uint64_t count;
    enum prof_certainty certainty;
};

struct prof_report_function {
    unsigned source;
    uint32_t pid; /* 0 where it is the same in every process, and where none was told */
    struct prof_report_frame frame;
    const struct symbol_index *image; /* NULL = unknown */
    uint64_t address;                 /* of the function, in the target; of [unknown]: an example pc */
    uint64_t size;                    /* bytes, 0 = unknown */
    uint64_t self, inclusive; /* inclusive >= self: with callees whose caller is known to be this one */
    uint64_t i_blocked, d_blocked;
    double share;       /* self, of the source's `active`, 0..1 */
    double share_error; /* +- one standard error of `share` by sampling alone, 0..1 */
    double weight;      /* self, summed rate weights */
    bool mips_known;    /* of every thread that it was sampled on */
    double mips;        /* by its share of its threads' instructions */
    uint64_t by_thread[PROFILE_MAX_THREADS];
    size_t caller_count; /* at most PROF_REPORT_CALLERS, biggest first */
    struct prof_report_caller callers[PROF_REPORT_CALLERS];
};

struct prof_report_hot {
    unsigned source;
    uint32_t pid;
    uint64_t pc;
    uint64_t count, i_blocked, d_blocked;
    double share; /* of the source's `active`, 0..1 */
    const struct symbol_index *image;
    size_t
        frame_count; /* innermost first: frames[0] has file and line of pc, the last is the function itself */
    struct prof_report_frame frames[PROF_REPORT_INLINES];
    bool is_branch;                                  /* the image has a conditional jump here */
    uint64_t taken, not_taken, mispredicted_at_most; /* by cond_codes; the last where prediction is coded */
};

/* One distinct (source, thread, pid, pc, stack), for exporters: frames root first. */
struct prof_report_stack {
    unsigned source, thread;
    uint32_t pid;
    uint64_t pc;     /* of the leaf */
    uint64_t caller; /* address of the call into the leaf's function; 0 = not known */
    size_t depth;    /* callers, then the leaf's function with its inlines last */
    const struct prof_report_frame *frames;
    const uint64_t *addresses; /* one a frame, in the target; inlined frames share their leaf's */
    uint64_t count, i_blocked, d_blocked;
};

/* What a sender reports of itself; `known` false = all zero or never sent: "not reported". */
struct prof_report_pool { /* heap, extheap: bytes; netpage, extnetpage: pages of 256 bytes */
    bool known;
    uint64_t free, low_water;
};
struct prof_report_timing {
    bool known;
    uint32_t sequence, interval_s, worst_clocks, average_clocks, count;
    uint64_t function; /* address */
    struct prof_report_frame frame;
};
struct prof_report_dsr {
    bool known;
    uint32_t max_clocks, average_clocks; /* largest of all packets; the last one sent */
    uint64_t count;                      /* added up; incomplete when packets were lost */
};
struct prof_report_perf { /* hardware event counters, and rates by the sheet's formulas */
    unsigned count;       /* 0, 4 or 8 */
    uint64_t total[PROFILE_MAX_COUNTERS];
    bool rate_known;
    double per_second[PROFILE_MAX_COUNTERS];
    bool miss_rates_known;
    double i_miss_per_instruction, d_miss_rate; /* 0..1; d: counter3 / (counter2 - counter3) */
};

struct prof_report_source {
    char name[PROF_SOURCE_NAME_ROOM];
    bool sent;    /* anything at all */
    bool evicted; /* what senders had sent that were put out of the table, together */
    struct prof_totals totals;
    enum profile_layout layout; /* of the last packet */
    uint8_t version;
    uint32_t cpu_id;
    uint64_t clock_hz, ddr_hz; /* 0 = not reported */
    double seconds;            /* of target time; < 0 = not known */
    uint64_t intervals;        /* sampling instants: times the thread number did not increase */
    double sampling_hz;        /* < 0 = not known */
    double utilisation;        /* 0..1 over its threads; < 0 = not known */
    double profiler_share;     /* profile_instructions of all instructions, 0..1; < 0 = not known */
    uint64_t active;           /* samples that functions, addresses and stacks are of: the active ones of all
                                  threads, or of the one that was asked for */
    uint64_t unknown_pc;       /* of them, those that no image covers */
    uint64_t example_pc;       /* one of them */
    bool image_missing;        /* no image was given for it */
    bool image_mismatch;       /* what was seen does not fit the image (see images[].note) */
    uint64_t overflow;         /* samples beyond the table's limit: in the totals, in no function */
    uint64_t coarse;           /* samples kept without their callers, for want of room in the table */
    uint64_t counters_cut;     /* named counters that were announced and cut off their packets */
    uint64_t counters_ignored; /* and those with more distinct names than are kept */
    struct prof_report_pool heap, netpage, extheap, extnetpage;
    struct prof_report_timing timing;
    struct prof_report_dsr dsr;
    struct prof_report_perf perf;
    uint64_t latency_count, latency_max; /* core clocks, thread 0 */
    uint64_t latency[33];                /* [i]: 2^(i-1) <= latency < 2^i; [0]: 0 */
};

struct prof_report_counter {
    unsigned source;
    const char *name; /* unique in its source: repeated names have "#2" ... behind them */
    bool linux_side;
    uint32_t value;
    bool rate_known;
    double per_second; /* between the last two packets that had it; by the sender's clock */
    bool gauge;        /* it has fallen without a restart: a level, whose rate says little */
    uint32_t resets;   /* falls that look like a counter begun anew */
    uint32_t min, max;
};

struct prof_report_map_type {
    char name[16];
    uint64_t blocks, pages;
};
struct prof_report_maps { /* of one source: the last dump */
    unsigned source;
    bool v21;      /* encoding */
    bool complete; /* v21: the last packet came; v17 cannot tell: shown as "may be incomplete" */
    uint64_t page_bytes;
    size_t type_count;
    struct prof_report_map_type types[32];
    uint64_t free_by_order[17];          /* blocks of 2^i pages (the largest power that fits) */
    uint64_t largest_free, largest_used; /* pages */
    uint64_t overlaps, clipped, ignored, bad_entries;
};

struct prof_report_image {
    const struct symbol_index *image;
    uint64_t samples;
    bool mismatch;
    const char *note; /* a sentence: stripped, no lines, wrong build, pc between instructions ...; or NULL */
};

struct prof_report {
    struct prof_totals totals; /* over all senders */
    uint64_t kernel_drops;     /* datagrams the host's kernel had no room for; they show in `lost`, too */
    uint64_t foreign;          /* datagrams of other kinds than profile packets, where that is known */
    struct prof_report_source *sources;
    size_t source_count;
    struct prof_report_thread *threads;
    size_t thread_count;
    struct prof_report_function *functions; /* biggest self first */
    size_t function_count;
    struct prof_report_hot *hot; /* biggest first; of each source at most as many as were asked for */
    size_t hot_count;
    struct prof_report_stack *stacks; /* NULL unless asked for */
    size_t stack_count;
    struct prof_report_counter *counters;
    size_t counter_count;
    struct prof_report_maps *maps;
    size_t maps_count;
    struct prof_report_image *images;
    size_t image_count;
};

struct prof_report_options {
    struct symbol_space *const *spaces; /* by source index; entries and the list may be NULL */
    size_t space_count;
    int thread;       /* only this hardware thread's samples; -1 = all */
    size_t hot_limit; /* addresses of each source; 0 = none */
    bool stacks;
};

/* What hardware counter `index` counts: known by its place for all layouts but NSS, whose senders choose. */
const char *prof_perf_name(enum profile_layout layout, size_t index);

/* What has come so far. Free with prof_report_free. NULL with *d set (CORRAL_ERR_NO_MEMORY). O(n log n) in
 * distinct addresses, whatever the number of samples. */
struct prof_report *prof_report_make(struct prof_streams *streams, struct prof_analysis *analysis,
                                     const struct prof_report_options *options, struct diag *d);
void prof_report_free(struct prof_report *report); /* NULL is allowed */

#endif
