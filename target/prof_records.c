/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile packets as records in RAM: docs/profile-records.md. Freestanding: it must not call a library,
 * allocate, or store into a slot that the host owns.
 */
#include "target/prof_records.h"

#ifndef PROF_RECORDS_BARRIER
#define PROF_RECORDS_BARRIER() __atomic_thread_fence(__ATOMIC_SEQ_CST) /* on Arm: dmb */
#endif

/* Words of the header and of a slot. */
enum { WORD_MAGIC, WORD_SHAPE, WORD_SLOT_SIZE, WORD_LOST };
enum { SLOT_OWNER, SLOT_USED, SLOT_NUMBER };

static volatile uint32_t *slot_at(const struct prof_records *r, uint32_t index)
{
    return r->memory + PROF_RECORDS_HEADER / 4 + index * r->slot_words;
}

bool prof_records_init(struct prof_records *r, void *memory, uint32_t size, uint32_t slots)
{
    if (!memory || ((uintptr_t)memory & 3u) != 0 || slots < 2 || slots > PROF_RECORDS_MAX_SLOTS ||
        size < PROF_RECORDS_HEADER)
        return false;
    uint32_t slot_words = (size - PROF_RECORDS_HEADER) / slots / 4;
    if (slot_words * 4 < PROF_RECORDS_SLOT_MIN)
        return false;
    r->memory = memory;
    r->slots = slots;
    r->slot_words = slot_words;
    r->slot = r->used = r->number = 0;
    r->packets = r->lost = 0;
    /* The magic comes last: until it is there no host takes the other words for a header. */
    r->memory[WORD_MAGIC] = 0;
    PROF_RECORDS_BARRIER();
    r->memory[WORD_SHAPE] = PROF_RECORDS_VERSION | slots << 8;
    r->memory[WORD_SLOT_SIZE] = slot_words * 4;
    r->memory[WORD_LOST] = 0;
    for (uint32_t i = 0; i < slots; i++)
        for (uint32_t word = SLOT_OWNER; word <= SLOT_NUMBER; word++)
            slot_at(r, i)[word] = 0;
    PROF_RECORDS_BARRIER();
    r->memory[WORD_MAGIC] = PROF_RECORDS_MAGIC;
    return true;
}

void prof_records_flush(struct prof_records *r)
{
    if (r->used == 0)
        return;
    volatile uint32_t *slot = slot_at(r, r->slot);
    slot[SLOT_USED] = r->used;
    slot[SLOT_NUMBER] = r->number++;
    PROF_RECORDS_BARRIER(); /* the records before the word that gives them away */
    slot[SLOT_OWNER] = 1;
    r->slot = r->slot + 1 < r->slots ? r->slot + 1 : 0;
    r->used = 0;
}

/* The slot for a record of `need` bytes, or false: then the host has not yet taken any. */
static bool find_room(struct prof_records *r, uint32_t need)
{
    if (r->used && need > r->slot_words * 4 - PROF_RECORDS_SLOT_HEADER - r->used)
        prof_records_flush(r);
    /* Ours while it is partly filled; only the host gives a whole one back. */
    return r->used || slot_at(r, r->slot)[SLOT_OWNER] == 0;
}

bool prof_records_send(void *ctx, const uint8_t *packet, uint32_t size)
{
    struct prof_records *r = ctx;
    uint32_t words = (size + 3u) / 4;

    r->packets++;
    if (size == 0 || size > PROF_RECORDS_MAX_PACKET || !find_room(r, 4 + words * 4)) {
        r->memory[WORD_LOST] = ++r->lost;
        return false;
    }
    volatile uint32_t *to = slot_at(r, r->slot) + (PROF_RECORDS_SLOT_HEADER + r->used) / 4;
    *to++ = size;
    for (uint32_t i = 0; i < words; i++) {
        uint32_t word = 0; /* the last one is padded with zeros */
        for (uint32_t k = 0; k < 4 && i * 4 + k < size; k++)
            word |= (uint32_t)packet[i * 4 + k] << (8 * k);
        *to++ = word;
    }
    r->used += 4 + words * 4;
    return true;
}
