/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * One batch of the firmware log: bytes of a shared buffer to records. The firmware-log sheet, section 1;
 * outcomes for hostile input as in INTERFACE.md "The log, exactly". Pure: no allocation, no clock, no I/O,
 * no stdio; also built into the Linux driver later, so it includes nothing but fixed-width types.
 *
 * The caller hands over a private copy: the buffer must not change under the decoder.
 */
#ifndef CORRAL_TLOG_TLOG_DECODE_H
#define CORRAL_TLOG_TLOG_DECODE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#define TLOG_MAGIC            0x544C4F47u
#define TLOG_MAGIC_SWAPPED    0x474F4C54u
#define TLOG_HEADER_SIZE      16u
#define TLOG_RECORD_HEADER    12u
#define TLOG_STAGING_DEFAULT  4096u
#define TLOG_OFF_WRITE_OFFSET 0u
#define TLOG_OFF_BUFFER_SIZE  4u
#define TLOG_OFF_MAGIC        8u
#define TLOG_OFF_OWNER        12u
#define TLOG_OFF_VERSION      13u

enum tlog_status { TLOG_OK, TLOG_EMPTY, TLOG_BAD_MAGIC, TLOG_LINK_DOWN };

enum tlog_anomaly {
    TLOG_ANOMALY_OWNER,
    TLOG_ANOMALY_WRITE_OFFSET,
    TLOG_ANOMALY_BUFFER_SIZE,
    TLOG_ANOMALY_MAGIC,
    TLOG_ANOMALY_MAGIC_BYTE_ORDER,
    TLOG_ANOMALY_LINK_DOWN,
    TLOG_ANOMALY_MSG_SIZE,
    TLOG_ANOMALY_VERSION,
};

struct tlog_record {
    uint8_t level;
    uint8_t source;
    bool torn;
    uint32_t timestamp;
    uint32_t sequence;
    const uint8_t *text; /* raw payload inside the caller's buffer; may hold a NUL, or none */
    size_t text_size;
};

struct tlog_batch_result {
    enum tlog_status status;
    bool release;               /* what the consumer that set the buffer up does with the owner byte */
    uint32_t torn_header_bytes; /* 1..11 bytes left behind the last record */
    uint32_t records;
    uint32_t anomalies;
};

struct tlog_callbacks {
    void *ctx;
    void (*record)(void *ctx, const struct tlog_record *record);
    void (*anomaly)(void *ctx, enum tlog_anomaly reason, uint32_t offset, uint32_t value);
};

/*
 * Decode the batch in data[0..capacity). `staging` is the producer's staging size (TLOG_STAGING_DEFAULT): a
 * record cut by the end of the batch is torn up to that size and corruption above.
 */
struct tlog_batch_result tlog_decode_batch(const uint8_t *data, size_t capacity, size_t staging,
                                           const struct tlog_callbacks *callbacks);

/* Loss by sequence: feed each record's sequence in order. */
struct tlog_sequence {
    bool seen;
    uint32_t last;
};

enum tlog_step { TLOG_STEP_FIRST, TLOG_STEP_NEXT, TLOG_STEP_GAP, TLOG_STEP_RESTART };

/* For TLOG_STEP_GAP *lost is (u32)(sequence - expected), else 0. */
enum tlog_step tlog_sequence_step(struct tlog_sequence *s, uint32_t sequence, uint32_t *lost);

#endif
