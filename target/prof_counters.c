/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters and maps packets, byte by byte in network order: profiler sheet 4 and 5.1. Freestanding: it must
 * not call a library or allocate.
 */
#include "target/prof_counters.h"

#define MAGIC_COUNTERS 0x9EA0u
#define MAGIC_MAPS     0xAEA0u
#define MAP_SIZE_MAX   0x7FFu
#define MAP_ORDER_MAX  16u

static uint8_t *put_be16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
    return at + 2;
}

static uint8_t *put_be32(uint8_t *at, uint32_t value)
{
    return put_be16(put_be16(at, value >> 16), value);
}

bool prof_counters_send(bool (*send)(void *ctx, const uint8_t *packet, uint32_t size), void *ctx,
                        uint8_t *buffer, const struct prof_counter *counters, uint32_t count, uint32_t clocks)
{
    if (count > PROF_COUNTERS_MAX)
        return false;
    uint8_t *at = put_be16(buffer, MAGIC_COUNTERS);
    at = put_be16(at, count); /* all are "ultra" counters: their time is core clocks */
    at = put_be32(at, clocks);
    at = put_be32(at, 0);
    at = put_be32(at, 0);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = counters[i].name;
        for (uint32_t k = 0; k < PROF_COUNTERS_NAME; k++) {
            *at++ = (uint8_t)*name;
            name += *name != 0;
        }
        at = put_be32(at, counters[i].value);
    }
    return send(ctx, buffer, (uint32_t)(at - buffer));
}

bool prof_maps_send(bool (*send)(void *ctx, const uint8_t *packet, uint32_t size), void *ctx, uint8_t *buffer,
                    const struct prof_map *maps, uint32_t count, uint32_t page_shift)
{
    if (count > PROF_MAPS_MAX || page_shift < 10 || page_shift > 20)
        return false;
    uint8_t *at = put_be16(buffer, MAGIC_MAPS);
    at = put_be16(at, count);
    at = put_be32(at, page_shift);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t type = (uint32_t)maps[i].type;
        if (type > 31 || maps[i].size > (type < 16 ? MAP_ORDER_MAX : MAP_SIZE_MAX))
            return false;
        at = put_be16(put_be16(at, maps[i].start), type << 11 | maps[i].size);
    }
    return send(ctx, buffer, (uint32_t)(at - buffer));
}
