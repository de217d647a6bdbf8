/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequence rules of INTERFACE.md "Streams" and profiler sheet 8. The history says what each of the last
 * numbers was counted as, so that a late packet takes back a loss only where there was one.
 */
#include "prof/stream_sequence.h"

#include <stddef.h>
#include <string.h>

enum { NOT_COUNTED, SEEN, COUNTED_LOST, COUNTED_IDLE };

_Static_assert((PROF_HISTORY & (PROF_HISTORY - 1)) == 0 && PROF_HISTORY > PROF_LATE_WINDOW, "history");

static uint8_t *slot(struct prof_sequence *s, uint32_t number)
{
    return &s->history[number & (PROF_HISTORY - 1)];
}

static void new_epoch(struct prof_sequence *s, uint32_t number)
{
    memset(s->history, NOT_COUNTED, sizeof(s->history));
    *slot(s, number) = SEEN;
    s->known = true;
    s->begins_anew = false;
    s->last = number;
}

/* `number` is 1 to PROF_LARGEST_GAP + 1 ahead. */
static struct prof_place place_ahead(struct prof_sequence *s, uint32_t number, bool idle)
{
    uint32_t missing = number - s->last - 1;
    struct prof_place place = {.expected = s->last + 1, .previous = s->last, .missing = missing};

    place.order = !missing ? PROF_ORDER_NEXT : idle && missing == 1 ? PROF_ORDER_IDLE_STEP : PROF_ORDER_GAP;
    uint8_t counted = place.order == PROF_ORDER_IDLE_STEP ? COUNTED_IDLE : COUNTED_LOST;
    for (uint32_t i = 1; i <= missing && i < PROF_HISTORY; i++)
        *slot(s, number - i) = counted;
    *slot(s, number) = SEEN;
    s->last = number;
    return place;
}

/* `number` is 0 to PROF_LATE_WINDOW behind. */
static struct prof_place place_behind(struct prof_sequence *s, uint32_t number)
{
    struct prof_place place = {.order = PROF_ORDER_LATE, .previous = s->last};
    uint8_t *counted = slot(s, number);

    if (*counted == SEEN)
        place.order = PROF_ORDER_DUPLICATE;
    else if (*counted == COUNTED_LOST)
        place.take_back = PROF_TAKE_BACK_LOST;
    else if (*counted == COUNTED_IDLE)
        place.take_back = PROF_TAKE_BACK_IDLE_STEP;
    *counted = SEEN;
    return place;
}

struct prof_place prof_sequence_place(struct prof_sequence *s, uint32_t number, bool idle, bool refused)
{
    if (!s->known) {
        new_epoch(s, number);
        return (struct prof_place){.order = PROF_ORDER_FIRST};
    }
    uint32_t ahead = number - s->last;
    uint32_t behind = s->last - number;
    if (!s->begins_anew && behind <= PROF_LATE_WINDOW)
        return place_behind(s, number);
    if (!s->begins_anew && ahead <= PROF_LARGEST_GAP + 1)
        return place_ahead(s, number, idle);
    struct prof_place place = {.order = PROF_ORDER_RESTART, .previous = s->last};
    if (!refused)
        new_epoch(s, number);
    return place;
}

void prof_sequence_forgive(struct prof_sequence *s)
{
    for (size_t i = 0; i < PROF_HISTORY; i++)
        if (s->history[i] != SEEN)
            s->history[i] = NOT_COUNTED;
}
