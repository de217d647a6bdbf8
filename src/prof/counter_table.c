/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identity is name, side, and the how manieth of that name in the packet, because positions change when
 * counters are added and names may be equal after they were cut. A value of 0 is a value like any other; a
 * flag says whether there is one before it to compare with.
 */
#include "prof/counter_table.h"

#include <stdlib.h>
#include <string.h>

#include "event/event.h"

#define RESET_FACTOR \
    8 /* a fall to an eighth or less is a counter begun anew, unless it is known as a gauge */

static bool is_it(const struct prof_counter_state *c, const struct profile_counter *sent, unsigned occurrence)
{
    return c->occurrence == occurrence && c->linux_side == sent->linux_side &&
           strcmp(c->name, sent->name) == 0;
}

/* `hint`: where it was when the packets are always the same. NULL when there is no room for one more. */
static struct prof_counter_state *find(struct prof_counter_table *t, const struct profile_counter *sent,
                                       unsigned occurrence, size_t hint)
{
    if (hint < t->count && is_it(&t->items[hint], sent, occurrence))
        return &t->items[hint];
    for (size_t i = 0; i < t->count; i++)
        if (is_it(&t->items[i], sent, occurrence))
            return &t->items[i];
    if (t->count == PROF_MAX_COUNTER_NAMES)
        return NULL;
    if (t->count == t->room) {
        size_t room = t->room ? t->room * 2 : 16;
        struct prof_counter_state *items = realloc(t->items, room * sizeof(*items));
        if (!items)
            return NULL;
        t->items = items;
        t->room = room;
    }
    struct prof_counter_state *c = &t->items[t->count++];
    *c = (struct prof_counter_state){.linux_side = sent->linux_side,
                                     .occurrence = (uint8_t)occurrence,
                                     .min = sent->value,
                                     .max = sent->value};
    memcpy(c->name, sent->name, sizeof(c->name));
    c->name[sizeof(c->name) - 1] = '\0';
    return c;
}

/* True when a whole wrap of the 32-bit clock may have passed between two packets. */
static bool too_long(int64_t before, int64_t now, uint32_t hz)
{
    if (before == EVENT_NO_TIME || now == EVENT_NO_TIME || now <= before)
        return false;
    return (double)((uint64_t)now - (uint64_t)before) / 1e9 >= 4294967296.0 / hz;
}

/* What a new value says about the one before. */
static void compare(struct prof_counter_state *c, uint32_t value, uint32_t time, uint32_t hz, int64_t host_ns)
{
    uint32_t up = value - c->value;
    bool fell = value < c->value;
    /* A fall that is a short way up through 2^32 is the counter going round. */
    bool wrapped = fell && !c->gauge && c->value >= UINT32_C(0xc0000000) && up < UINT32_C(0x40000000);
    bool reset = fell && !wrapped && !c->gauge && value <= c->value / RESET_FACTOR;

    if (reset)
        c->resets++;
    else if (fell && !wrapped)
        c->gauge = true;
    uint32_t clocks = time - c->time;
    c->rate_known = hz && clocks && !reset && !too_long(c->host_ns, host_ns, hz);
    if (!c->rate_known)
        return;
    double change = fell && !wrapped ? -(double)(c->value - value) : (double)up;
    c->per_second = change * hz / clocks;
}

static unsigned occurrence_of(const struct profile_counter *counters, size_t index)
{
    unsigned n = 0;

    for (size_t i = 0; i < index; i++)
        n += counters[i].linux_side == counters[index].linux_side &&
             strcmp(counters[i].name, counters[index].name) == 0;
    return n < UINT8_MAX ? n : UINT8_MAX;
}

void prof_counter_table_add(struct prof_counter_table *t, const struct profile_counters *packet, uint32_t hz,
                            int64_t host_ns)
{
    t->truncated += packet->truncated;
    for (size_t i = 0; i < packet->count; i++) {
        const struct profile_counter *sent = &packet->counters[i];
        uint32_t time = sent->linux_side ? packet->linux_sample_time : packet->ultra_sample_time;
        struct prof_counter_state *c = find(t, sent, occurrence_of(packet->counters, i), i);
        if (!c) {
            t->ignored++;
            continue;
        }
        if (c->based)
            compare(c, sent->value, time, hz, host_ns);
        c->based = true;
        c->value = sent->value;
        c->time = time;
        c->host_ns = host_ns;
        if (sent->value < c->min)
            c->min = sent->value;
        if (sent->value > c->max)
            c->max = sent->value;
    }
}

void prof_counter_table_rebase(struct prof_counter_table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        t->items[i].based = false;
        t->items[i].rate_known = false;
    }
}

void prof_counter_table_clear(struct prof_counter_table *t)
{
    free(t->items);
    *t = (struct prof_counter_table){0};
}
