/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pieces of the packet decoder, shared by its files and by nobody else. Each takes a datagram whose magic
 * has been looked at and whose size is at most PROF_MAX_DATAGRAM.
 */
#ifndef CORRAL_PROF_PACKET_PARTS_H
#define CORRAL_PROF_PACKET_PARTS_H

#include "prof/packet.h"

#define PROF_KIND_DATA     0x3ea0u
#define PROF_KIND_COUNTERS 0x9ea0u
#define PROF_KIND_MAPS     0xaea0u
#define PROF_KIND_MASK     0xffe0u

#define PROF_V21_HEADER      128
#define PROF_V21_THREADS     12
#define PROF_NSS_HEADER      132
#define PROF_NSS_STACK_WORDS 4  /* what a 0 in an NSS header means (profiler sheet 7) */
#define PROF_V21_SAMPLE      20 /* without the stack words */

#define PROF_COUNTER_NAME   20
#define PROF_COUNTERS_MAX   59 /* what fits the senders' 1440 bytes */
#define PROF_MAPS_MAX_ORDER 16 /* 2^16 pages is all of the page number's range */
#define PROF_MIN_PAGE_SHIFT 10
#define PROF_MAX_PAGE_SHIFT 20

/* Make *out a refusal. `reason` is a string literal; `value` is what was seen. */
void packet_reject(struct prof_decoded *out, const char *reason, int version, uint32_t value, size_t size);

/*
 * The checks that every data layout shares once its header is known to be whole: room for the announced
 * samples, of `sample_size` bytes each. Sets out->data's bookkeeping. False = refused, with the sequence
 * number kept (INTERFACE.md, "Streams").
 */
bool packet_check_samples(struct prof_decoded *out, int version, size_t header_size, size_t count,
                          size_t sample_size, size_t size, uint32_t seq);

void packet_decode_v17(const uint8_t *data, size_t size, struct prof_scratch *scratch,
                       struct prof_decoded *out);
/* The header of versions 5 to 16, never a sample. */
bool packet_is_legacy(int version);
void packet_decode_legacy(const uint8_t *data, size_t size, int version, struct prof_scratch *scratch,
                          struct prof_decoded *out);
void packet_decode_v21(const uint8_t *data, size_t size, struct prof_scratch *scratch,
                       struct prof_decoded *out);
void packet_decode_counters(const uint8_t *data, size_t size, struct prof_scratch *scratch,
                            struct prof_decoded *out);
void packet_decode_maps(const uint8_t *data, size_t size, bool v21, struct prof_scratch *scratch,
                        struct prof_decoded *out);

#endif
