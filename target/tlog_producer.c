/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The careful producer of the firmware log. Firmware-log sheet 1.1, 1.2, 3.2 to 3.5 and 6. Freestanding: it
 * must not call a library, allocate, or touch shared memory other than by whole words inside the buffer.
 */
#include "target/tlog_producer.h"

#define OWNER_FREE 0u
#define OWNER_HOST 1u

/* Shared header, byte offsets. */
#define OFF_WRITE_OFFSET 0u
#define OFF_BUFFER_SIZE  4u
#define OFF_MAGIC        8u
#define OFF_OWNER        12u

static void put_le32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void put_size(uint8_t *record, uint32_t size)
{
    record[0] = (uint8_t)size;
    record[1] = (uint8_t)(size >> 8);
}

static uint32_t get_size(const uint8_t *record)
{
    return (uint32_t)record[0] | ((uint32_t)record[1] << 8);
}

static bool window(const struct tlog_producer *p, uint64_t address, uint32_t size)
{
    return !p->port->map_window || p->port->map_window(p->port->ctx, address, size);
}

bool tlog_producer_init(struct tlog_producer *p, const struct tlog_producer_config *config)
{
    const struct target_port *port = config->port;
    if (!port || !port->read32 || !port->write32 || !port->now || !config->staging)
        return false;
    if (config->mode != TLOG_PRODUCER_CAREFUL)
        return false;
    p->port = port;
    p->staging = config->staging;
    p->staging_size = config->staging_size;
    p->used = 0;
    p->address = 0;
    p->room = 0;
    p->sequence = 0;
    p->unreported = 0;
    p->mode = config->mode;
    p->version = config->version;
    p->notice_source = config->notice_source;
    p->flush_on_error = config->flush_on_error;
    p->counts.logged = p->counts.notices = p->counts.delivered = p->counts.dropped = p->counts.cut = 0;
    p->counts.batches = p->counts.busy = p->counts.bad_owner = p->counts.bad_magic = 0;
    return true;
}

bool tlog_producer_attach(struct tlog_producer *p, uint64_t address, uint32_t size)
{
    if (address == 0 || (address & 3u) != 0 || size < TLOG_PRODUCER_BUFFER_MIN || !window(p, address, size))
        return false;
    void *ctx = p->port->ctx;
    /* The magic comes last: until it is there no host takes the other words for a header. */
    p->port->write32(ctx, address + OFF_OWNER, (uint32_t)p->version << 8 | OWNER_FREE);
    p->port->write32(ctx, address + OFF_WRITE_OFFSET, TLOG_PRODUCER_BUFFER_HEADER);
    p->port->write32(ctx, address + OFF_BUFFER_SIZE, size);
    p->port->write32(ctx, address + OFF_MAGIC, TLOG_PRODUCER_MAGIC);
    p->address = address;
    /* Whole words only, or the last store of a full batch would land past the buffer. */
    p->room = (size & ~3u) - TLOG_PRODUCER_BUFFER_HEADER;
    return true;
}

void tlog_producer_detach(struct tlog_producer *p)
{
    p->room = 0;
    p->address = 0;
}

/* Stage one record whose text fits at least as an empty one; the caller has checked that. */
static void stage(struct tlog_producer *p, uint8_t level, uint8_t source, const char *text, uint32_t length)
{
    uint8_t *record = p->staging + p->used;
    uint32_t space = p->staging_size - p->used;
    if (space > UINT16_MAX)
        space = UINT16_MAX; /* msg_size has 16 bits */
    /* No longer than the buffer can ever take, where that is known: cut once, here, not at the flush. */
    if (p->room && space > p->room)
        space = p->room;
    if (length > space - TLOG_PRODUCER_RECORD_MIN) {
        length = space - TLOG_PRODUCER_RECORD_MIN;
        p->counts.cut++;
    }
    put_size(record, length + TLOG_PRODUCER_RECORD_MIN);
    record[2] = level;
    record[3] = source;
    put_le32(record + 4, p->port->now(p->port->ctx));
    put_le32(record + 8, p->sequence++);
    uint8_t *to = record + TLOG_PRODUCER_RECORD_HEADER;
    for (uint32_t i = 0; i < length; i++)
        to[i] = (uint8_t)text[i];
    to[length] = 0;
    p->used += length + TLOG_PRODUCER_RECORD_MIN;
}

/* Say how many were dropped, as soon as the sentence fits uncut. */
static void stage_notice(struct tlog_producer *p)
{
    static const char words[] = " messages dropped";
    char text[10 + sizeof(words)];
    char digits[10];
    uint32_t n = 0, length = 0, value = p->unreported;
    if (value == 0)
        return;
    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    while (n)
        text[length++] = digits[--n];
    for (uint32_t i = 0; i + 1 < sizeof(words); i++)
        text[length++] = words[i];
    uint32_t need = TLOG_PRODUCER_RECORD_MIN + length;
    if (need > p->staging_size - p->used || (p->room && need > p->room))
        return;
    stage(p, TLOG_WRN, p->notice_source, text, length);
    p->counts.notices++;
    p->unreported = 0;
}

/* How many staged bytes, whole records, go into the buffer now; a first record that is longer is cut to it.
 */
static uint32_t batch_size(struct tlog_producer *p, uint32_t *records, uint32_t *consumed)
{
    uint32_t size = 0;
    *records = 0;
    while (size < p->used) {
        uint32_t next = get_size(p->staging + size);
        if (next > p->room - size)
            break;
        size += next;
        (*records)++;
    }
    *consumed = size;
    if (size == 0) {
        /* Staged before this host came, for a bigger buffer. */
        *consumed = get_size(p->staging);
        size = p->room;
        put_size(p->staging, size);
        p->staging[size - 1] = 0;
        p->counts.cut++;
        *records = 1;
    }
    return size;
}

static void hand_over(struct tlog_producer *p, uint32_t size)
{
    void *ctx = p->port->ctx;
    uint64_t to = p->address + TLOG_PRODUCER_BUFFER_HEADER;
    for (uint32_t i = 0; i < size; i += 4) {
        uint32_t word = 0; /* the last one is padded with zeros; room is a multiple of 4, so it is inside */
        for (uint32_t k = 0; k < 4 && i + k < size; k++)
            word |= (uint32_t)p->staging[i + k] << (8 * k);
        p->port->write32(ctx, to + i, word);
    }
    p->port->write32(ctx, p->address + OFF_WRITE_OFFSET, TLOG_PRODUCER_BUFFER_HEADER + size);
    p->port->write32(ctx, p->address + OFF_OWNER, (uint32_t)p->version << 8 | OWNER_HOST);
    if (p->port->raise_irq)
        p->port->raise_irq(ctx);
}

static bool flush(struct tlog_producer *p)
{
    if (p->used == 0 || p->room == 0)
        return false;
    void *ctx = p->port->ctx;
    if (!window(p, p->address, p->room + TLOG_PRODUCER_BUFFER_HEADER) ||
        p->port->read32(ctx, p->address + OFF_MAGIC) != TLOG_PRODUCER_MAGIC) {
        p->counts.bad_magic++;
        return false;
    }
    uint32_t owner = p->port->read32(ctx, p->address + OFF_OWNER) & 0xFFu;
    if (owner != OWNER_FREE) {
        if (owner == OWNER_HOST)
            p->counts.busy++;
        else
            p->counts.bad_owner++;
        return false;
    }
    uint32_t records, consumed;
    uint32_t size = batch_size(p, &records, &consumed);
    hand_over(p, size);
    p->counts.batches++;
    p->counts.delivered += records;
    p->used -= consumed;
    for (uint32_t i = 0; i < p->used; i++)
        p->staging[i] = p->staging[consumed + i];
    return true;
}

bool tlog_producer_log(struct tlog_producer *p, uint8_t level, uint8_t source, const char *text,
                       uint32_t length)
{
    p->counts.logged++;
    uint32_t left = p->staging_size - p->used;
    if (left < TLOG_PRODUCER_NEAR || length > left - TLOG_PRODUCER_RECORD_MIN)
        flush(p);
    stage_notice(p);
    if (p->staging_size - p->used < TLOG_PRODUCER_RECORD_MIN) {
        p->sequence++; /* the hole tells the reader */
        p->counts.dropped++;
        p->unreported++;
        return false;
    }
    stage(p, level, source, text, length);
    if (p->flush_on_error && level == TLOG_ERR)
        flush(p);
    return true;
}

bool tlog_producer_tick(struct tlog_producer *p)
{
    bool sent = flush(p);
    /* Room again: do not wait for the next message to tell of the lost ones. */
    stage_notice(p);
    return sent;
}
