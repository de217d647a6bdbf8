/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile's other two packets: named counters, and memory maps (profiler sheet 4 and 5.1; big-endian).
 * Written into the caller's buffer and handed to the same send function as the samples. They carry no
 * sequence number, so the host cannot tell when one is lost: send them now and then.
 *
 * No heap, no library, no state.
 */
#ifndef CORRAL_TARGET_PROF_COUNTERS_H
#define CORRAL_TARGET_PROF_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#define PROF_COUNTERS_MAX    59u /* in the 1440 bytes that senders use */
#define PROF_COUNTERS_NAME   20u /* bytes of a name; a shorter one is padded with zeros */
#define PROF_COUNTERS_PACKET (16u + PROF_COUNTERS_MAX * (PROF_COUNTERS_NAME + 4u))

struct prof_counter {
    const char *name; /* the first 20 bytes count, and tell counters apart */
    uint32_t value;   /* a free-running count, or a level */
};

/*
 * Send `count` counters as they stood when the core clock counter was at `clocks`: the one that the samples
 * are stamped with. The host makes rates of it. `buffer` has PROF_COUNTERS_PACKET bytes, or 16 + 24 * count
 * where that is less. False when there are too many, or when it was not sent.
 */
bool prof_counters_send(bool (*send)(void *ctx, const uint8_t *packet, uint32_t size), void *ctx,
                        uint8_t *buffer, const struct prof_counter *counters, uint32_t count,
                        uint32_t clocks);

#define PROF_MAPS_MAX    358u /* in one packet */
#define PROF_MAPS_PACKET (8u + PROF_MAPS_MAX * 4u)

/* What a run of pages holds. Below 16 the size is an order: 2^size pages; from 16 on it is pages, up to 2047.
 */
enum prof_map_type {
    PROF_MAP_UNKNOWN = 0,
    PROF_MAP_FREE = 1,
    PROF_MAP_SMALL = 2,
    PROF_MAP_FILESYSTEM = 3,
    PROF_MAP_TEXT = 16,
    PROF_MAP_STACK = 17,
    PROF_MAP_APP_DATA = 18,
    PROF_MAP_CACHE = 19,
};

struct prof_map {
    uint16_t start; /* page number, from the start of DRAM */
    uint16_t size;  /* order or pages, as the type has it */
    enum prof_map_type type;
};

/* Send `count` runs of pages of 2^page_shift bytes (10 to 20). `buffer` has 8 + 4 * count bytes. False when
 * there are too many, when a size does not fit its field, or when it was not sent: nothing is cut silently.
 */
bool prof_maps_send(bool (*send)(void *ctx, const uint8_t *packet, uint32_t size), void *ctx, uint8_t *buffer,
                    const struct prof_map *maps, uint32_t count, uint32_t page_shift);

#endif
