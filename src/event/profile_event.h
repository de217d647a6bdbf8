/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The payload of profile, counters, maps and reject events: decoded packets of the statistical profiler.
 *
 * Layouts and field names: the profiler sheet (docs/profile-packets), sections 3 to 5 and 7. Big enough for
 * every published layout; a layout that lacks a field leaves it 0. All pointers are borrowed, as in event.h.
 */
#ifndef CORRAL_EVENT_PROFILE_EVENT_H
#define CORRAL_EVENT_PROFILE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_MAX_THREADS      16
#define PROFILE_MAX_COUNTERS     8 /* perf_counters in a header */
#define PROFILE_MAX_STACK_WORDS  16
#define PROFILE_COUNTER_NAME_MAX 81 /* 20 bytes, each escaped to four characters, NUL */

enum profile_layout { PROFILE_V17, PROFILE_V21, PROFILE_NSS, PROFILE_LEGACY };
const char *profile_layout_name(enum profile_layout layout); /* v17 v21 nss legacy */

struct profile_sample {
    uint32_t pc;
    uint32_t a5;      /* v17: link register */
    uint32_t parent;  /* v17: return address from the stack */
    uint32_t latency; /* v17: core clocks */
    uint32_t pid;     /* v21, nss */
    uint32_t a_reg;   /* v21, nss */
    uint16_t active;
    uint16_t d_blocked;
    uint16_t i_blocked;
    uint8_t cond_codes;
    uint8_t thread; /* hardware thread number, 0..15 */
    bool self_d_blocked;
    bool self_i_blocked;
    uint8_t btb_status;                        /* v21, nss: branch target buffer, 0..3; undefined in v17 */
    uint8_t parent_count;                      /* v21, nss: words used in parents[] */
    uint32_t parents[PROFILE_MAX_STACK_WORDS]; /* v21, nss */
};

struct profile_header {
    uint8_t header_size;
    uint8_t sample_count; /* as sent, refused samples included */
    uint8_t thread_count; /* of the layout: 16 or 12 */
    uint32_t clocks;
    uint32_t instruction_count[PROFILE_MAX_THREADS];
    uint32_t profile_instructions;
    uint16_t enabled;
    uint16_t hrt;
    uint16_t high;
    uint16_t profiler_thread;
    uint32_t heap_free;
    uint32_t heap_low_water;
    uint32_t netpage_free;
    uint32_t netpage_low_water;
    uint32_t min_sp[PROFILE_MAX_THREADS];
    uint32_t clock_hz; /* 0 = not reported */
    uint32_t seq;
    uint32_t timing_sequence;
    uint32_t timing_interval;
    uint32_t timing_worst_time;
    uint32_t timing_function;
    uint32_t timing_average;
    uint32_t timing_count;
    uint32_t extheap_free;
    uint32_t extheap_low_water;
    uint32_t cpu_id;
    uint32_t perf_counters[PROFILE_MAX_COUNTERS];
    uint8_t perf_config[PROFILE_MAX_COUNTERS];
    uint8_t perf_counter_count; /* of the layout: 4 or 8 */
    uint32_t ddr_hz;            /* 0 = not reported */
    uint32_t extnetpage_free;
    uint32_t extnetpage_low_water;
    uint32_t dsr_max_latency;
    uint32_t dsr_ave_latency;
    uint32_t dsr_count;
    uint32_t sample_stack_words; /* v21, nss */
    /* nss only */
    uint8_t stat_select[2];
    uint16_t d_blocked;
    uint16_t i_blocked;
    uint8_t sample_sets;
    uint32_t sets_map;
    uint32_t stats[PROFILE_MAX_COUNTERS];
};

struct profile_packet {
    uint8_t version; /* 17, 21, ... */
    enum profile_layout layout;
    struct profile_header header;
    const struct profile_sample *samples; /* the accepted ones */
    size_t sample_count;                  /* of samples[]; header.sample_count is what was announced */
    uint32_t bad_samples;                 /* refused: thread number past the layout's threads */
    uint32_t trailing;                    /* bytes behind the last sample */
};

struct profile_counter {
    char name[PROFILE_COUNTER_NAME_MAX];
    uint32_t value;
    bool linux_side;
};

struct profile_counters {
    const struct profile_counter *counters;
    size_t count;
    uint32_t truncated;
    uint32_t ultra_sample_time;
    uint32_t linux_sample_time;
};

struct profile_map {
    uint16_t start;
    uint8_t type;
    uint32_t pages;
};

struct profile_maps {
    bool v21; /* encoding */
    uint32_t page_shift;
    const struct profile_map *entries;
    size_t count;
    uint32_t bad_entries;
    bool last;
};

struct profile_reject {
    const char *reason; /* a string literal: short magic byte-order ... */
    int version;        /* -1 where it is not known */
    uint32_t value;     /* what was seen (magic, size, ...), for text */
    size_t size;        /* of the datagram */
};

#endif
