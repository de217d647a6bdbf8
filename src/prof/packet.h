/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiler datagrams: bytes to structs and back. The profiler sheet, sections 2 to 5 and 7; order of checks
 * as in INTERFACE.md "The profile, exactly". Pure: no allocation, no sockets, no clocks.
 */
#ifndef CORRAL_PROF_PACKET_H
#define CORRAL_PROF_PACKET_H

#include "event/profile_event.h"

#define PROF_MAX_DATAGRAM  2048 /* longer ones are refused (cut) */
#define PROF_MAX_SAMPLES   255
#define PROF_V17_HEADER    252
#define PROF_V17_SAMPLE    24
#define PROF_V17_MAX_COUNT 49 /* in the 1440 bytes that senders use */

enum prof_kind { PROF_DATA, PROF_COUNTERS, PROF_MAPS, PROF_REJECT };

/* Room for one decoded packet; the event's pointers go into it. About 25 KiB: keep it on the heap. */
struct prof_scratch {
    struct profile_sample samples[PROF_MAX_SAMPLES];
    struct profile_counter counters[64];
    struct profile_map maps[512];
};

struct prof_decoded {
    enum prof_kind kind;
    union {
        struct profile_packet data;
        struct profile_counters counters;
        struct profile_maps maps;
        struct profile_reject reject;
    };
    bool seq_known; /* a refused data packet whose sequence number could be read all the same */
    uint32_t seq;
    size_t consumed; /* bytes; less than size when another packet is glued behind counters */
};

/* Decode the packet at the start of data. Never reads outside it; of a datagram longer than PROF_MAX_DATAGRAM
 * only the magic is read, so `size` may then be more than `data` holds (a cut datagram's true length). */
void prof_packet_decode(const uint8_t *data, size_t size, struct prof_scratch *scratch,
                        struct prof_decoded *out);

/* The same, knowing the version of the sender's last good data packet (0 = none yet), which alone tells the
 * two encodings of maps apart: 18 and up are read as version 21's, all else as version 17's. */
void prof_packet_decode_after(const uint8_t *data, size_t size, int version, struct prof_scratch *scratch,
                              struct prof_decoded *out);

/* The same, and of data packets of versions 5 to 16, which are refused otherwise, the header: layout
 * "legacy", no samples ever. Versions 5 and 6 have no sequence number: seq_known stays false. */
void prof_packet_decode_legacy(const uint8_t *data, size_t size, int version, struct prof_scratch *scratch,
                               struct prof_decoded *out);

/*
 * The inverse: each returns the size written, 0 when it does not fit `size` or no packet can say it. What was
 * read and is written comes back byte for byte, but for what the reader does not keep: spare header words,
 * bytes past header fields and behind the last sample, refused samples and map entries, a name's bytes behind
 * its NUL. A counter's name that spells \xNN on the wire comes back as that byte.
 */
/* Versions 17 and 21 and the NSS port's, by layout and version; sample_count samples, whatever the header
 * says. */
size_t prof_packet_write(const struct profile_packet *packet, uint8_t *out, size_t size);
/* Ultra's counters first; at most 59; not cut (`truncated` 0). */
size_t prof_counters_write(const struct profile_counters *counters, uint8_t *out, size_t size);
/* Version 17's encoding or 21's, by maps->v21. */
size_t prof_maps_write(const struct profile_maps *maps, uint8_t *out, size_t size);
/* Counters with a data packet behind them in one datagram, as the NSS port sends them. */
size_t prof_glued_write(const struct profile_counters *counters, const struct profile_packet *packet,
                        uint8_t *out, size_t size);

#endif
