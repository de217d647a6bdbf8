/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two modes of the producer share (tlog_producer.c, tlog_compatible.c). Firmware-log sheet 1.1 and
 * 1.2. Not for users of the producer.
 */
#ifndef CORRAL_TARGET_TLOG_PRODUCER_PARTS_H
#define CORRAL_TARGET_TLOG_PRODUCER_PARTS_H

#include "target/tlog_producer.h"

#define OWNER_FREE 0u
#define OWNER_HOST 1u

/* Shared header, byte offsets. */
#define OFF_WRITE_OFFSET 0u
#define OFF_BUFFER_SIZE  4u
#define OFF_MAGIC        8u
#define OFF_OWNER        12u

static inline uint32_t get_size(const uint8_t *record)
{
    return (uint32_t)record[0] | ((uint32_t)record[1] << 8);
}

static inline bool window(const struct tlog_producer *p, uint64_t address, uint32_t size)
{
    return !p->port->map_window || p->port->map_window(p->port->ctx, address, size);
}

/* Append a record of at most `space` bytes, which are there and at least TLOG_PRODUCER_RECORD_MIN. */
void tlog_producer_stage(struct tlog_producer *p, uint8_t level, uint8_t source, const char *text,
                         uint32_t length, uint32_t space);
/* The first `size` staged bytes as words, then the header; the interrupt is the caller's next thing. */
void tlog_producer_hand_over(struct tlog_producer *p, uint32_t size, uint32_t owner_word);
void tlog_producer_interrupt(const struct tlog_producer *p);

bool tlog_compatible_log(struct tlog_producer *p, uint8_t level, uint8_t source, const char *text,
                         uint32_t length);
bool tlog_compatible_flush(struct tlog_producer *p);

#endif
