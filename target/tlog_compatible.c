/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compatible mode of the producer: released firmware, drop for drop. Firmware-log sheet 3.2, 3.3 and 3.5.
 * Its faults are the point; they must not be mended here. Two things it must not reproduce: stores past the
 * buffer where the caller has declared no slack, and the 16-bit overflow of msg_size with a staging buffer
 * above 65535 bytes.
 */
#include "target/tlog_producer_parts.h"

/* All that is staged is lost; the sequence numbers are used up already. */
static void drop_batch(struct tlog_producer *p)
{
    for (uint32_t at = 0; at < p->used; at += get_size(p->staging + at))
        p->counts.dropped++;
    p->used = 0;
}

bool tlog_compatible_flush(struct tlog_producer *p)
{
    if (p->used == 0 || p->room == 0)
        return false;
    void *ctx = p->port->ctx;
    if (!window(p, p->address, p->room + TLOG_PRODUCER_BUFFER_HEADER) ||
        p->port->read32(ctx, p->address + OFF_MAGIC) != TLOG_PRODUCER_MAGIC) {
        p->counts.bad_magic++;
        drop_batch(p);
        return false;
    }
    /* Whatever is not the host counts as free. */
    if ((p->port->read32(ctx, p->address + OFF_OWNER) & 0xFFu) == OWNER_HOST) {
        p->counts.busy++;
        drop_batch(p);
        return false;
    }
    uint32_t size = p->used < p->room ? p->used : p->room;
    /* The last word of a full batch may reach up to 3 bytes past the buffer. */
    if (((size + 3u) & ~3u) > p->room + p->slack)
        size &= ~3u;
    tlog_producer_hand_over(p, size, OWNER_HOST); /* the whole word: the version is gone */
    tlog_producer_interrupt(p);
    p->counts.batches++;
    for (uint32_t at = 0; at < p->used;) {
        uint32_t next = get_size(p->staging + at);
        if (at + next <= size)
            p->counts.delivered++;
        else if (at < size)
            p->counts.torn++;
        else
            p->counts.dropped++;
        at += next;
    }
    p->used = 0;
    return true;
}

bool tlog_compatible_log(struct tlog_producer *p, uint8_t level, uint8_t source, const char *text,
                         uint32_t length)
{
    p->counts.logged++;
    if (p->staging_size - p->used < TLOG_PRODUCER_NEAR)
        tlog_compatible_flush(p);
    uint32_t space = p->staging_size - p->used;
    if (space < TLOG_PRODUCER_RECORD_MIN) {
        p->sequence++;
        p->counts.dropped++;
        return false;
    }
    tlog_producer_stage(p, level, source, text, length, space);
    if (p->flush_on_error && level == TLOG_ERR)
        tlog_compatible_flush(p);
    return true;
}
