/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sender's packet numbers: what each new one says about the ones before. INTERFACE.md "Streams" and
 * profiler sheet 8. Private to the stream; knows nothing of packets or clocks.
 */
#ifndef CORRAL_PROF_STREAM_SEQUENCE_H
#define CORRAL_PROF_STREAM_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

#define PROF_LATE_WINDOW 64    /* further back is a restart */
#define PROF_LARGEST_GAP 65536 /* a bigger hole is a resync, not a loss */
#define PROF_HISTORY     128   /* power of two above PROF_LATE_WINDOW */

struct prof_sequence {
    bool known;
    bool begins_anew;              /* told so: the next good packet begins an epoch, whatever its number */
    uint32_t last;                 /* highest in this epoch */
    uint8_t history[PROF_HISTORY]; /* enum in the .c file, by number modulo PROF_HISTORY */
};

enum prof_order {
    PROF_ORDER_FIRST, /* nothing to compare with */
    PROF_ORDER_NEXT,
    PROF_ORDER_GAP,       /* `missing` numbers, the first of them `expected` */
    PROF_ORDER_IDLE_STEP, /* one number spent on an empty read; not loss */
    PROF_ORDER_DUPLICATE,
    PROF_ORDER_LATE,
    PROF_ORDER_RESTART, /* a new epoch; `previous` was the last number of the old one */
};

enum prof_take_back { PROF_TAKE_BACK_NOTHING, PROF_TAKE_BACK_LOST, PROF_TAKE_BACK_IDLE_STEP };

struct prof_place {
    enum prof_order order;
    uint32_t expected;
    uint32_t previous;
    uint32_t missing;
    enum prof_take_back take_back; /* what a late packet had been counted as */
};

/*
 * Place `number`. `idle` = exactly one missing would be an idle step here. `refused` = the packet was refused
 * but its number counts as seen: it may fill or show a hole, but is too doubtful to begin a new epoch.
 */
struct prof_place prof_sequence_place(struct prof_sequence *s, uint32_t number, bool idle, bool refused);

/* What was counted so far has been forgotten: nothing of it can be taken back any more. */
void prof_sequence_forgive(struct prof_sequence *s);

#endif
