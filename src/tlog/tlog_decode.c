/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * One batch of the firmware log: bytes to records. The firmware-log sheet, sections 1 and 8; the outcome of
 * each hostile input is INTERFACE.md's ("The log, exactly").
 *
 * Pure and freestanding (the Linux driver builds this file too): no allocation, no clock, no I/O, no file of
 * another room. Never looks past `capacity`, whatever the header says; all arithmetic on sizes from outside
 * is on offsets already known to be inside the buffer, so nothing can wrap.
 */
#include "tlog/tlog_decode.h"

/* Byte by byte: records start at any offset, and the host may be big-endian. */
static uint32_t le16_at(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t le32_at(const uint8_t *p)
{
    return le16_at(p) | le16_at(p + 2) << 16;
}

static void report(struct tlog_batch_result *result, const struct tlog_callbacks *callbacks,
                   enum tlog_anomaly reason, uint32_t offset, uint32_t value)
{
    result->anomalies++;
    if (callbacks->anomaly)
        callbacks->anomaly(callbacks->ctx, reason, offset, value);
}

/* Whose the buffer is and whether it is one. True when its records may be decoded. */
static bool check_header(const uint8_t *data, size_t capacity, struct tlog_batch_result *result,
                         const struct tlog_callbacks *callbacks)
{
    uint32_t magic;
    uint8_t owner;

    if (capacity < TLOG_HEADER_SIZE) {
        result->status = TLOG_BAD_MAGIC;
        report(result, callbacks, TLOG_ANOMALY_MAGIC, TLOG_OFF_MAGIC, 0);
        return false;
    }

    magic = le32_at(data + TLOG_OFF_MAGIC);
    owner = data[TLOG_OFF_OWNER];
    /* A dead PCIe link or debug port reads as ones everywhere: the owner byte means nothing then. */
    if (magic == 0xFFFFFFFFu) {
        result->status = TLOG_LINK_DOWN;
        report(result, callbacks, TLOG_ANOMALY_LINK_DOWN, TLOG_OFF_MAGIC, magic);
        return false;
    }
    if (owner != 1) {
        result->status = TLOG_EMPTY;
        if (owner != 0)
            report(result, callbacks, TLOG_ANOMALY_OWNER, TLOG_OFF_OWNER, owner);
        return false;
    }

    result->release = true;
    if (magic != TLOG_MAGIC) {
        result->status = TLOG_BAD_MAGIC;
        report(result, callbacks,
               magic == TLOG_MAGIC_SWAPPED ? TLOG_ANOMALY_MAGIC_BYTE_ORDER : TLOG_ANOMALY_MAGIC,
               TLOG_OFF_MAGIC, magic);
        return false;
    }
    result->status = TLOG_OK;
    return true;
}

/* The header fields that are reported but never believed. Returns where the valid bytes end. */
static size_t check_fields(const uint8_t *data, size_t capacity, struct tlog_batch_result *result,
                           const struct tlog_callbacks *callbacks)
{
    uint8_t version = data[TLOG_OFF_VERSION];
    uint32_t buffer_size = le32_at(data + TLOG_OFF_BUFFER_SIZE);
    uint32_t write_offset = le32_at(data + TLOG_OFF_WRITE_OFFSET);

    if (version != 0)
        report(result, callbacks, TLOG_ANOMALY_VERSION, TLOG_OFF_VERSION, version);
    if (buffer_size != capacity)
        report(result, callbacks, TLOG_ANOMALY_BUFFER_SIZE, TLOG_OFF_BUFFER_SIZE, buffer_size);
    if (write_offset >= TLOG_HEADER_SIZE && write_offset <= capacity)
        return write_offset;
    report(result, callbacks, TLOG_ANOMALY_WRITE_OFFSET, TLOG_OFF_WRITE_OFFSET, write_offset);
    return write_offset < TLOG_HEADER_SIZE ? TLOG_HEADER_SIZE : capacity;
}

struct tlog_batch_result tlog_decode_batch(const uint8_t *data, size_t capacity, size_t staging,
                                           const struct tlog_callbacks *callbacks)
{
    struct tlog_batch_result result = {TLOG_EMPTY, false, 0, 0, 0};
    size_t at = TLOG_HEADER_SIZE;
    size_t end;

    if (!check_header(data, capacity, &result, callbacks))
        return result;
    end = check_fields(data, capacity, &result, callbacks);

    while (end - at >= TLOG_RECORD_HEADER) {
        const uint8_t *p = data + at;
        size_t left = end - at;
        size_t msg_size = le16_at(p);
        struct tlog_record record;

        record.torn = msg_size > left;
        if (msg_size < TLOG_RECORD_HEADER || (record.torn && msg_size > staging)) {
            report(&result, callbacks, TLOG_ANOMALY_MSG_SIZE, (uint32_t)at, (uint32_t)msg_size);
            return result;
        }
        if (record.torn)
            msg_size = left;
        record.level = p[2];
        record.source = p[3];
        record.timestamp = le32_at(p + 4);
        record.sequence = le32_at(p + 8);
        record.text = p + TLOG_RECORD_HEADER;
        record.text_size = msg_size - TLOG_RECORD_HEADER;
        result.records++;
        if (callbacks->record)
            callbacks->record(callbacks->ctx, &record);
        at += msg_size;
    }
    result.torn_header_bytes = (uint32_t)(end - at);
    return result;
}

enum tlog_step tlog_sequence_step(struct tlog_sequence *s, uint32_t sequence, uint32_t *lost)
{
    uint32_t ahead = sequence - (s->last + 1u);
    bool seen = s->seen;

    *lost = 0;
    s->seen = true;
    s->last = sequence;
    if (!seen)
        return TLOG_STEP_FIRST;
    if (ahead == 0)
        return TLOG_STEP_NEXT;
    /* Half the number space away or more is behind, not ahead: the firmware restarted. */
    if (ahead >= 0x80000000u)
        return TLOG_STEP_RESTART;
    *lost = ahead;
    return TLOG_STEP_GAP;
}
