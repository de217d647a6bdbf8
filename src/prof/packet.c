/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which packet is it? Profiler sheet 2 (the 16-bit magic) and INTERFACE.md's order of checks, which decides
 * what a packet with several faults is refused for. The layouts are in packet_v17.c, packet_v21.c,
 * packet_legacy.c and packet_counters.c. Pure: no allocation, no clocks; byte loads only, because samples may
 * sit at any offset.
 */
#include "prof/packet.h"

#include <string.h>

#include "base/bytes.h"
#include "prof/packet_parts.h"

void packet_reject(struct prof_decoded *out, const char *reason, int version, uint32_t value, size_t size)
{
    out->kind = PROF_REJECT;
    out->reject = (struct profile_reject){.reason = reason, .version = version, .value = value, .size = size};
}

bool packet_check_samples(struct prof_decoded *out, int version, size_t header_size, size_t count,
                          size_t sample_size, size_t size, uint32_t seq)
{
    /* No wrap: count is at most 255, a sample at most 84 bytes. */
    size_t need = header_size + count * sample_size;

    out->seq_known = true;
    out->seq = seq;
    if (need > size) {
        packet_reject(out, "sample-count", version, (uint32_t)count, size);
        return false;
    }
    out->kind = PROF_DATA;
    out->data.version = (uint8_t)version;
    out->data.trailing = (uint32_t)(size - need);
    return true;
}

static bool kind_known(uint16_t magic)
{
    unsigned kind = magic & PROF_KIND_MASK;

    return kind == PROF_KIND_DATA || kind == PROF_KIND_COUNTERS || kind == PROF_KIND_MAPS;
}

static void decode_data(const uint8_t *data, size_t size, uint16_t magic, bool legacy,
                        struct prof_scratch *scratch, struct prof_decoded *out)
{
    int version = magic & 0x1f;

    if (size < 4)
        packet_reject(out, "short", version, (uint32_t)size, size);
    else if (version == 17)
        packet_decode_v17(data, size, scratch, out);
    else if (version == 21)
        packet_decode_v21(data, size, scratch, out);
    else if (legacy && packet_is_legacy(version))
        packet_decode_legacy(data, size, version, scratch, out);
    else /* the sample's size is not on the wire, so nothing can be read safely */
        packet_reject(out, "version", version, (uint32_t)version, size);
}

static void decode(const uint8_t *data, size_t size, int version, bool legacy, struct prof_scratch *scratch,
                   struct prof_decoded *out)
{
    memset(out, 0, sizeof(*out));
    out->consumed = size;
    if (size < 2) {
        packet_reject(out, "short", -1, (uint32_t)size, size);
        return;
    }
    uint16_t magic = load_be16(data);
    uint16_t swapped = load_le16(data);
    unsigned kind = magic & PROF_KIND_MASK;
    if (!kind_known(magic)) {
        packet_reject(out, kind_known(swapped) ? "byte-order" : "magic", -1, magic, size);
        return;
    }
    if (size > PROF_MAX_DATAGRAM) {
        /* The socket cut it, or could have: what is behind the magic is not looked at. */
        packet_reject(out, "truncated", kind == PROF_KIND_DATA ? magic & 0x1f : -1, (uint32_t)size, size);
        return;
    }
    if (kind == PROF_KIND_DATA)
        decode_data(data, size, magic, legacy, scratch, out);
    else if (kind == PROF_KIND_COUNTERS)
        packet_decode_counters(data, size, scratch, out);
    else
        packet_decode_maps(data, size, version >= 18, scratch, out);
}

void prof_packet_decode(const uint8_t *data, size_t size, struct prof_scratch *scratch,
                        struct prof_decoded *out)
{
    decode(data, size, 0, false, scratch, out);
}

void prof_packet_decode_after(const uint8_t *data, size_t size, int version, struct prof_scratch *scratch,
                              struct prof_decoded *out)
{
    decode(data, size, version, false, scratch, out);
}

void prof_packet_decode_legacy(const uint8_t *data, size_t size, int version, struct prof_scratch *scratch,
                               struct prof_decoded *out)
{
    decode(data, size, version, true, scratch, out);
}
