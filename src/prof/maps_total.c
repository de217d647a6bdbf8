/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a dump begins is not on the wire. Version 21 marks its last packet; of version 17 it is only known
 * that packets are filled before the next is begun. So a dump has ended with a marked packet, or one that is
 * not full; and a pause, another encoding or another page size begins a new one, too.
 */
#include "prof/maps_total.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_clock.h"
#include "event/event.h"

#define FULL_PACKET 358 /* entries that fit a sender's 1440 bytes */
#define PAUSE_NS    NS_PER_S

static void forget(struct prof_dump *d)
{
    d->begun = d->ended = false;
    d->count = 0;
    d->ignored = d->bad_entries = 0;
}

static bool belongs(const struct prof_dump *d, const struct profile_maps *packet, int64_t host_ns)
{
    if (d->v21 != packet->v21 || d->page_shift != packet->page_shift)
        return false;
    if (d->host_ns == EVENT_NO_TIME || host_ns == EVENT_NO_TIME || host_ns < d->host_ns)
        return true;
    return (uint64_t)host_ns - (uint64_t)d->host_ns < (uint64_t)PAUSE_NS;
}

/* `growing` becomes what is shown; its successor uses the memory of what was shown before. */
static void show(struct prof_maps_state *m)
{
    struct prof_dump old = m->whole;

    m->whole = m->growing;
    m->growing = old;
    forget(&m->growing);
}

static void append(struct prof_dump *d, const struct profile_map *entry)
{
    if (d->count == d->room && d->room < PROF_MAX_MAPS) {
        size_t room = d->room ? d->room * 2 : 512;
        if (room > PROF_MAX_MAPS)
            room = PROF_MAX_MAPS;
        struct profile_map *entries = realloc(d->entries, room * sizeof(*entries));
        if (entries) {
            d->entries = entries;
            d->room = room;
        }
    }
    if (d->count < d->room)
        d->entries[d->count++] = *entry;
    else
        d->ignored++;
}

void prof_maps_add(struct prof_maps_state *m, const struct profile_maps *packet, int64_t host_ns)
{
    struct prof_dump *d = &m->growing;

    if (d->begun && !belongs(d, packet, host_ns))
        show(m);
    d->begun = true;
    d->v21 = packet->v21;
    d->page_shift = packet->page_shift;
    d->host_ns = host_ns;
    d->bad_entries += packet->bad_entries;
    for (size_t i = 0; i < packet->count; i++)
        append(d, &packet->entries[i]);
    d->ended = packet->v21 ? packet->last : packet->count + packet->bad_entries < FULL_PACKET;
    if (d->ended)
        show(m);
}

void prof_maps_clear(struct prof_maps_state *m)
{
    free(m->whole.entries);
    free(m->growing.entries);
    *m = (struct prof_maps_state){0};
}

const struct prof_dump *prof_maps_newest(const struct prof_maps_state *m)
{
    if (m->whole.begun)
        return &m->whole;
    return m->growing.begun ? &m->growing : NULL;
}

const char *prof_map_type_name(unsigned type, bool v21, char room[16])
{
    static const char *const v17_names[32] = {
        [0] = "unknown",   [1] = "free",      [2] = "small",     [3] = "fs",
        [16] = "text",     [17] = "stack",    [18] = "app-data", [19] = "cache",
        [24] = "reserved", [25] = "reserved", [26] = "reserved", [27] = "reserved",
        [28] = "reserved", [29] = "reserved", [30] = "reserved", [31] = "reserved",
    };
    static const char *const v21_names[32] = {
        [0] = "free",        [1] = "small",  [2] = "fs",         [4] = "unknown",
        [5] = "text",        [6] = "stack",  [7] = "app-data",   [8] = "ashmem",
        [9] = "read-shared", [10] = "cache", [11] = "vma-waste", [15] = "reserved",
    };
    const char *name = v21 ? v21_names[type & 31] : v17_names[type & 31];

    if (name)
        return name;
    snprintf(room, 16, "type %u", type & 31);
    return room;
}
