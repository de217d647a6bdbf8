/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's half of docs/profile-records.md. Must not write before the magic was seen, nor anything but an
 * owner word, nor look at a slot's records anywhere but in its copy.
 */
#include "prof/records.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define MAGIC       0x464F5250u
#define VERSION     1u
#define HEADER      16u
#define SLOT_HEADER 12u
#define SLOT_MIN    1456u
#define MAX_SLOTS   16u
#define MAX_PACKET  1440u
#define LOOK_AGAIN  64 /* empty polls before everything is looked at anew */

struct prof_records_reader {
    uint32_t ap;
    uint64_t address;
    uint32_t size;
    struct prof_streams *streams;
    void (*raw)(void *ctx, const char *source, const uint8_t *data, size_t size, int64_t host_ns);
    void *ctx;
    char source[PROF_SOURCE_NAME_MAX];
    uint32_t slots, slot_size; /* 0 = the header is not known */
    uint32_t slot;             /* where the next batch is expected ... */
    uint32_t number;           /* ... and its number, once one was seen */
    bool number_known;
    uint32_t last_lost;
    unsigned empty; /* polls in a row */
    struct prof_records_stats stats;
    uint8_t *copy; /* of one slot */
};

struct prof_records_reader *prof_records_reader_new(const struct prof_records_options *options,
                                                    struct diag *d)
{
    if ((options->address & 3) != 0 || options->size < PROF_RECORDS_BUFFER_MIN ||
        options->size > PROF_RECORDS_BUFFER_MAX || strlen(options->source) >= PROF_SOURCE_NAME_MAX) {
        diag_set(
            d, CORRAL_ERR_USAGE,
            "a buffer for profile records lies at a multiple of 4 and has %u to %u bytes, not %u at 0x%llx",
            PROF_RECORDS_BUFFER_MIN, PROF_RECORDS_BUFFER_MAX, options->size,
            (unsigned long long)options->address);
        return NULL;
    }
    struct prof_records_reader *r = calloc(1, sizeof(*r));
    if (r)
        r->copy = malloc(options->size);
    if (!r || !r->copy) {
        free(r);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    r->ap = options->ap;
    r->address = options->address;
    r->size = options->size;
    r->streams = options->streams;
    r->raw = options->raw;
    r->ctx = options->ctx;
    memcpy(r->source, options->source, strlen(options->source) + 1);
    return r;
}

void prof_records_reader_free(struct prof_records_reader *r)
{
    if (!r)
        return;
    free(r->copy);
    free(r);
}

static enum corral_err read_words(const struct prof_records_reader *r, struct link *link, uint64_t offset,
                                  uint32_t *words, uint32_t count, struct diag *d)
{
    struct link_access access = {.op = LINK_MEM_READ,
                                 .size = 4,
                                 .ap = r->ap,
                                 .address = r->address + offset,
                                 .count = count,
                                 .data = words};

    return link_execute(link, &access, 1, d);
}

static uint64_t slot_offset(const struct prof_records_reader *r, uint32_t slot)
{
    return HEADER + (uint64_t)slot * r->slot_size;
}

/* The target counts what it lost from its start on; it began anew when the count falls. */
static void note_lost(struct prof_records_reader *r, uint32_t lost)
{
    r->stats.lost += lost >= r->last_lost ? lost - r->last_lost : lost;
    r->last_lost = lost;
}

static void forget(struct prof_records_reader *r)
{
    r->slots = r->slot_size = 0;
    r->number_known = false;
    r->stats.ready = false;
}

/* Is the header one, and does it fit the buffer? */
static enum corral_err read_header(struct prof_records_reader *r, struct link *link, bool *good,
                                   struct diag *d)
{
    uint32_t words[HEADER / 4];
    enum corral_err err = read_words(r, link, 0, words, HEADER / 4, d);

    *good = false;
    if (err != CORRAL_OK)
        return err;
    uint32_t slots = words[1] >> 8 & 0xFF, slot_size = words[2];
    if (words[0] != MAGIC) {
        forget(r); /* not there yet, or another program's memory: no fault */
        return CORRAL_OK;
    }
    if ((words[1] & 0xFF) != VERSION || words[1] >> 16 != 0 || slots < 2 || slots > MAX_SLOTS ||
        slot_size < SLOT_MIN || (slot_size & 3) != 0 || (uint64_t)slots * slot_size > r->size - HEADER) {
        r->stats.bad_shapes++;
        forget(r);
        return CORRAL_OK;
    }
    if (r->slots != slots || r->slot_size != slot_size) {
        r->number_known = false;
        r->slot = 0; /* of the old shape, it may lie behind the buffer by the new one */
    }
    r->slots = slots;
    r->slot_size = slot_size;
    r->stats.ready = true;
    note_lost(r, words[3]);
    *good = true;
    return CORRAL_OK;
}

/* Where the oldest batch is that waits for us: the slot with the lowest number, by the way they wrap. Also
 * the way back in after the target began anew. */
static enum corral_err look_everywhere(struct prof_records_reader *r, struct link *link, struct diag *d)
{
    uint32_t oldest = 0;
    bool good, any = false;
    enum corral_err err = read_header(r, link, &good, d);

    for (uint32_t i = 0; good && i < r->slots && err == CORRAL_OK; i++) {
        uint32_t words[SLOT_HEADER / 4];
        err = read_words(r, link, slot_offset(r, i), words, SLOT_HEADER / 4, d);
        if (err != CORRAL_OK || words[0] != 1)
            continue;
        if (!any || (int32_t)(words[2] - oldest) < 0) {
            oldest = words[2];
            r->slot = i;
        }
        any = true;
    }
    return err;
}

/* The records of a batch, from the copy. */
static void take_records(struct prof_records_reader *r, uint32_t used, int64_t now)
{
    uint32_t at = 0;

    while (at < used) {
        uint32_t length = load_le32(r->copy + at);
        if (length == 0 || length > MAX_PACKET || length > used - at - 4) {
            r->stats.bad_records++;
            return;
        }
        if (r->raw)
            r->raw(r->ctx, r->source, r->copy + at + 4, length, now);
        prof_streams_datagram(r->streams, r->source, r->copy + at + 4, length, now);
        r->stats.packets++;
        at += 4 + ((length + 3) & ~3u);
    }
}

/* The slot is ours, by words[]. Copied, given back, and then only looked at. */
static enum corral_err take_slot(struct prof_records_reader *r, struct link *link, const uint32_t *words,
                                 bool *took, struct diag *d)
{
    uint64_t offset = slot_offset(r, r->slot);
    uint32_t used = words[1], slots = r->slots, slot_size = r->slot_size;
    bool bad = used > r->slot_size - SLOT_HEADER || (used & 3) != 0, good;
    /* Still the same memory? Nothing is written into another program's. */
    enum corral_err err = read_header(r, link, &good, d);

    if (err != CORRAL_OK || !good || slots != r->slots || slot_size != r->slot_size)
        return err;
    if (!bad && used)
        err = link_read_bytes(link, r->ap, r->address + offset + SLOT_HEADER, r->copy, used, d);
    if (err == CORRAL_OK)
        err = link_write32(link, r->ap, r->address + offset, 0, d);
    if (err != CORRAL_OK)
        return err; /* it stays the host's, and is taken with the next poll */
    r->number = words[2] + 1;
    r->number_known = true;
    r->slot = r->slot + 1 < r->slots ? r->slot + 1 : 0;
    r->stats.batches++;
    *took = true;
    if (bad) {
        r->stats.bad_batches++;
        return CORRAL_OK;
    }
    r->stats.bytes += used;
    take_records(r, used, host_clock_now(link_clock(link)));
    return CORRAL_OK;
}

/* The words of the slot whose turn it is. When its number is not the expected one, the target began anew:
 * then it is the oldest one's turn. */
static enum corral_err read_slot(struct prof_records_reader *r, struct link *link, uint32_t *words,
                                 struct diag *d)
{
    enum corral_err err = read_words(r, link, slot_offset(r, r->slot), words, SLOT_HEADER / 4, d);

    if (err != CORRAL_OK || words[0] != 1 || !r->number_known || words[2] == r->number)
        return err;
    r->stats.restarts++;
    r->number_known = false;
    prof_streams_restarted(r->streams, r->source);
    err = look_everywhere(r, link, d);
    if (err == CORRAL_OK && r->slots == 0)
        words[0] = 0;
    else if (err == CORRAL_OK)
        err = read_words(r, link, slot_offset(r, r->slot), words, SLOT_HEADER / 4, d);
    return err;
}

enum corral_err prof_records_poll(struct prof_records_reader *r, struct link *link, bool *took,
                                  struct diag *d)
{
    uint32_t words[SLOT_HEADER / 4];
    enum corral_err err = CORRAL_OK;
    bool got = false;

    r->stats.polls++;
    if (r->slots == 0 || r->empty >= LOOK_AGAIN) {
        r->empty = 0;
        err = look_everywhere(r, link, d);
    }
    if (err == CORRAL_OK && r->slots)
        err = read_slot(r, link, words, d);
    if (err == CORRAL_OK && r->slots && words[0] == 1) {
        r->empty = 0;
        err = take_slot(r, link, words, &got, d);
    } else if (err == CORRAL_OK && r->slots) {
        r->stats.bad_owners += words[0] != 0;
        r->empty++;
    }
    if (took)
        *took = got;
    return err;
}

void prof_records_reader_stats(const struct prof_records_reader *r, struct prof_records_stats *stats)
{
    *stats = r->stats;
}
