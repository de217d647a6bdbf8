/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters packets (profiler sheet 4) and memory maps packets (sheet 5). Neither carries a version; the
 * caller says which maps encoding the sender speaks. Names come from firmware raw, so they are escaped here.
 */
#include <string.h>

#include "base/bytes.h"
#include "prof/packet_parts.h"

#define COUNTERS_HEADER 16
#define COUNTERS_ENTRY  24

#define MAPS_HEADER 8
#define MAPS_ENTRY  4

/* 20 bytes up to the first NUL; control and non-ASCII bytes as \xNN. `out` holds PROFILE_COUNTER_NAME_MAX. */
static void read_name(const uint8_t *p, char *out)
{
    static const char hex[] = "0123456789abcdef";

    for (size_t i = 0; i < PROF_COUNTER_NAME && p[i]; i++) {
        if (p[i] >= 0x20 && p[i] < 0x7f) {
            *out++ = (char)p[i];
            continue;
        }
        *out++ = '\\';
        *out++ = 'x';
        *out++ = hex[p[i] >> 4];
        *out++ = hex[p[i] & 0x0f];
    }
    *out = '\0';
}

void packet_decode_counters(const uint8_t *data, size_t size, struct prof_scratch *scratch,
                            struct prof_decoded *out)
{
    _Static_assert(PROF_COUNTERS_MAX <= sizeof(scratch->counters) / sizeof(scratch->counters[0]), "scratch");

    if (size < COUNTERS_HEADER) {
        packet_reject(out, "short", -1, (uint32_t)size, size);
        return;
    }
    uint64_t ultra = load_be16(data + 2);
    uint64_t announced = ultra + load_be32(data + 8);
    if (announced > PROF_COUNTERS_MAX) {
        uint32_t shown = announced > UINT32_MAX ? UINT32_MAX : (uint32_t)announced;
        packet_reject(out, "counter-count", -1, shown, size);
        return;
    }
    size_t whole = (size - COUNTERS_HEADER) / COUNTERS_ENTRY;
    size_t count = announced < whole ? (size_t)announced : whole;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *p = data + COUNTERS_HEADER + i * COUNTERS_ENTRY;
        struct profile_counter *c = &scratch->counters[i];
        memset(c, 0, sizeof(*c));
        read_name(p, c->name);
        c->value = load_be32(p + PROF_COUNTER_NAME);
        c->linux_side = i >= ultra;
    }
    out->kind = PROF_COUNTERS;
    out->counters = (struct profile_counters){
        .counters = scratch->counters,
        .count = count,
        .truncated = (uint32_t)(announced - count),
        .ultra_sample_time = load_be32(data + 4),
        .linux_sample_time = load_be32(data + 12),
    };
    if (count < announced)
        return; /* the tail is a cut entry, not another packet */

    /* NSS glues a data packet behind the counters of a drained queue (sheet 7). */
    size_t end = COUNTERS_HEADER + count * COUNTERS_ENTRY;
    if (size - end >= 2) {
        unsigned kind = load_be16(data + end) & PROF_KIND_MASK;
        if (kind == PROF_KIND_DATA || kind == PROF_KIND_COUNTERS || kind == PROF_KIND_MAPS)
            out->consumed = end;
    }
}

void packet_decode_maps(const uint8_t *data, size_t size, bool v21, struct prof_scratch *scratch,
                        struct prof_decoded *out)
{
    _Static_assert((PROF_MAX_DATAGRAM - MAPS_HEADER) / MAPS_ENTRY <=
                       sizeof(scratch->maps) / sizeof(scratch->maps[0]),
                   "scratch");

    if (size < MAPS_HEADER) {
        packet_reject(out, "short", -1, (uint32_t)size, size);
        return;
    }
    size_t announced = load_be16(data + 2);
    if (MAPS_HEADER + announced * MAPS_ENTRY > size) {
        packet_reject(out, "map-count", -1, (uint32_t)announced, size);
        return;
    }
    uint32_t page_shift = load_be32(data + 4);
    if (page_shift < PROF_MIN_PAGE_SHIFT || page_shift > PROF_MAX_PAGE_SHIFT) {
        packet_reject(out, "page-shift", -1, page_shift, size);
        return;
    }
    struct profile_maps maps = {
        .v21 = v21, .page_shift = page_shift, .entries = scratch->maps, .last = v21 && (data[1] & 1)};
    for (size_t i = 0; i < announced; i++) {
        const uint8_t *p = data + MAPS_HEADER + i * MAPS_ENTRY;
        uint16_t word = load_be16(p + 2);
        struct profile_map m = {.start = load_be16(p)};
        if (v21) {
            m.type = (uint8_t)(word >> 12);
            m.pages = word & 0xfffu ? word & 0xfffu : 4096;
        } else {
            uint32_t length = word & 0x7ffu;
            m.type = (uint8_t)(word >> 11);
            if (m.type < 16 && length > PROF_MAPS_MAX_ORDER) {
                maps.bad_entries++;
                continue;
            }
            m.pages = m.type < 16 ? UINT32_C(1) << length : length;
        }
        scratch->maps[maps.count++] = m;
    }
    out->kind = PROF_MAPS;
    out->maps = maps;
}
