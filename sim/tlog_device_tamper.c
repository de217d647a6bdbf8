/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the emulated firmware does wrong on purpose with a batch (firmware-log sheet 8). Deliberate stores go
 * through tlog_device_poke, which still keeps to the guest's buffer: a lie about the buffer must never become
 * a store into somebody else's memory.
 */
#include "sim/tlog_device_internal.h"

#define OFF_WRITE_OFFSET 0u
#define OFF_BUFFER_SIZE  4u
#define OFF_MAGIC        8u
#define OFF_OWNER        12u
#define OFF_RECORDS      TLOG_PRODUCER_BUFFER_HEADER

void tlog_device_poke(struct tlog_device *dev, uint32_t offset, uint32_t value, unsigned size)
{
    const struct tlog_device_firmware *fw = &dev->firmware;
    uint8_t *at = fw->active && offset <= fw->size && size <= fw->size - offset
                      ? tlog_device_ram_at(dev, fw->address + offset, size)
                      : NULL;
    if (at)
        tlog_device_ram_store(at, size, value);
}

static uint32_t peek16(const struct tlog_device *dev, uint32_t offset)
{
    const uint8_t *at = tlog_device_ram_at(dev, dev->firmware.address + offset, 2);
    uint32_t value = 0;
    if (at)
        tlog_device_ram_load(at, 2, &value);
    return value;
}

/* Start of record `index` of the batch that is written already, or of the last one; 0 = there is none. */
static uint32_t record_at(const struct tlog_device *dev, uint32_t index, uint32_t *size)
{
    uint32_t end = tlog_device_ram_read(dev, dev->firmware.address + OFF_WRITE_OFFSET);
    uint32_t at = OFF_RECORDS, found = 0;
    if (end > dev->firmware.size)
        return 0;
    for (uint32_t i = 0; at + TLOG_PRODUCER_RECORD_HEADER <= end && i <= index; i++) {
        uint32_t next = peek16(dev, at);
        if (next < TLOG_PRODUCER_RECORD_HEADER || next > end - at)
            break;
        found = at;
        *size = next;
        at += next;
    }
    return found;
}

void tlog_device_tamper_before(struct tlog_device *dev, uint32_t *owner_word)
{
    struct tlog_device_tamper *t = &dev->tamper;
    uint32_t size = 0, at;
    if (t->magic.set || t->buffer_size.set || t->write_offset.set || t->torn_record || t->torn_header)
        dev->firmware.intact = false;
    if ((t->torn_record || t->torn_header) && (at = record_at(dev, UINT32_MAX - 1, &size)) != 0) {
        uint32_t keep = TLOG_PRODUCER_RECORD_HEADER + (size - TLOG_PRODUCER_RECORD_HEADER) / 2;
        tlog_device_poke(dev, OFF_WRITE_OFFSET, at + (t->torn_header ? 5 : keep), 4);
    }
    if (t->msg_size.set && (at = record_at(dev, t->msg_index, &size)) != 0)
        tlog_device_poke(dev, at, t->msg_size.value, 2);
    if (t->magic.set)
        tlog_device_poke(dev, OFF_MAGIC, t->magic.value, 4);
    if (t->buffer_size.set)
        tlog_device_poke(dev, OFF_BUFFER_SIZE, t->buffer_size.value, 4);
    if (t->write_offset.set)
        tlog_device_poke(dev, OFF_WRITE_OFFSET, t->write_offset.value, 4);
    if (t->owner.set)
        *owner_word = (*owner_word & ~0xFFu) | (t->owner.value & 0xFFu);
}

void tlog_device_tamper_after(struct tlog_device *dev)
{
    struct tlog_device_tamper *t = &dev->tamper;
    if (t->scribble_ms)
        dev->firmware.scribble_until_ns = tlog_device_now() + (int64_t)t->scribble_ms * 1000000;
    if (t->flip)
        tlog_device_poke(dev, OFF_OWNER, 0, 1);
    *t = (struct tlog_device_tamper){0};
}

void tlog_device_scribble(struct tlog_device *dev)
{
    /* Sizes, NUL and text of the first records, and write_offset: all that a copy must be safe from. */
    uint32_t noise = (uint32_t)tlog_device_now();
    dev->firmware.intact = false;
    for (uint32_t offset = OFF_RECORDS; offset < OFF_RECORDS + 256; offset += 4)
        tlog_device_poke(dev, offset, noise * 2654435761u ^ offset * 40503u, 4);
    tlog_device_poke(dev, OFF_WRITE_OFFSET, noise % 8192u, 4);
}
