/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where there is no network: profile packets as records in the target's own RAM, for a host that reads them
 * over the debug port. A ring of slots with an owner word each, so that the host takes one while the next is
 * filled; docs/profile-records.md has the format. Corral finds the memory by the symbol `prof_buffer`.
 *
 * No heap, no library. Not re-entrant: it is called where the sampler is. Adding a packet copies it once.
 *
 * The memory must be seen by the debugger as it was written: uncached, or written through. Define
 * PROF_RECORDS_BARRIER() where your machine wants another store barrier than the compiler's (on Arm: dmb).
 */
#ifndef CORRAL_TARGET_PROF_RECORDS_H
#define CORRAL_TARGET_PROF_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#define PROF_RECORDS_MAGIC       0x464F5250u /* "PROF" as it lies in memory */
#define PROF_RECORDS_VERSION     1u
#define PROF_RECORDS_HEADER      16u /* bytes: magic, version and slots, slot size, lost */
#define PROF_RECORDS_SLOT_HEADER 12u /* bytes: owner, used, number */
#define PROF_RECORDS_MAX_SLOTS   16u
#define PROF_RECORDS_MAX_PACKET  1440u
#define PROF_RECORDS_SLOT_MIN    (PROF_RECORDS_SLOT_HEADER + 4u + PROF_RECORDS_MAX_PACKET)

/* All state; the members are the recorder's own, but for the counters. */
struct prof_records {
    volatile uint32_t *memory;
    uint32_t slots, slot_words;
    uint32_t slot;                   /* being filled */
    uint32_t used;                   /* bytes of records in it */
    uint32_t number;                 /* of the next batch */
    volatile uint32_t packets, lost; /* taken; lost because no slot was free */
};

/* `memory` is aligned to 4, `size` bytes long, for 2 to 16 slots of at least PROF_RECORDS_SLOT_MIN bytes
 * each. What the host still owns is taken back: it starts anew. False when the numbers make no sense. */
bool prof_records_init(struct prof_records *r, void *memory, uint32_t size, uint32_t slots);

/* Add a packet: what prof_sampler_config.send wants, with the struct prof_records as ctx. False: it was lost.
 */
bool prof_records_send(void *ctx, const uint8_t *packet, uint32_t size);

/* Give the host what there is. Call it now and then where packets are rare. */
void prof_records_flush(struct prof_records *r);

#endif
