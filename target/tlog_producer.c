/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer of the firmware log: what both modes share, and the careful one. Firmware-log sheet 1.1, 1.2,
 * 3.2 to 3.5 and 6. Freestanding: it must not call a library, allocate, or touch shared memory other than by
 * whole words inside the buffer.
 */
#include "target/tlog_producer.h"

#include "target/tlog_producer_parts.h"

#define BUILT_CAREFUL    (TLOG_PRODUCER_MODES & 1)
#define BUILT_COMPATIBLE (TLOG_PRODUCER_MODES & 2)

/* A constant where only one mode is built, so that nothing of the other remains. */
#if BUILT_CAREFUL && BUILT_COMPATIBLE
#define COMPATIBLE(p) ((p)->mode == TLOG_PRODUCER_COMPATIBLE)
#elif BUILT_COMPATIBLE
#define COMPATIBLE(p) 1
#elif BUILT_CAREFUL
#define COMPATIBLE(p) 0
#else
#error "TLOG_PRODUCER_MODES names no mode"
#endif

/* Room for the producer's own "4294967295 messages dropped". */
#define NOTICE_MAX (TLOG_PRODUCER_RECORD_MIN + 27u)

/* What the program had stored when a fault interrupts it: the compiler keeps the order across this. */
#define ORDER() __asm__ volatile("" ::: "memory")

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

bool tlog_producer_init(struct tlog_producer *p, const struct tlog_producer_config *config)
{
    const struct target_port *port = config->port;
    if (!port || !port->read32 || !port->write32 || !port->now || !config->staging)
        return false;
    if (config->slack > 3 || !(config->mode == TLOG_PRODUCER_CAREFUL      ? BUILT_CAREFUL
                               : config->mode == TLOG_PRODUCER_COMPATIBLE ? BUILT_COMPATIBLE
                                                                          : 0))
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
    p->slack = config->slack;
    p->flush_on_error = config->flush_on_error;
    p->panicking = false;
    p->panic_polls = config->panic_polls;
    p->counts.logged = p->counts.notices = p->counts.delivered = p->counts.dropped = p->counts.cut = 0;
    p->counts.batches = p->counts.busy = p->counts.bad_owner = p->counts.bad_magic = 0;
    p->counts.torn = 0;
    return true;
}

bool tlog_producer_attach(struct tlog_producer *p, uint64_t address, uint32_t size)
{
    if (COMPATIBLE(p) ? size < TLOG_PRODUCER_COMPATIBLE_MIN : address == 0 || size < TLOG_PRODUCER_BUFFER_MIN)
        return false;
    if ((address & 3u) != 0 || !window(p, address, size))
        return false;
    void *ctx = p->port->ctx;
    /* The magic comes last: until it is there no host takes the other words for a header. */
    p->port->write32(ctx, address + OFF_OWNER, (uint32_t)p->version << 8 | OWNER_FREE);
    p->port->write32(ctx, address + OFF_WRITE_OFFSET, TLOG_PRODUCER_BUFFER_HEADER);
    p->port->write32(ctx, address + OFF_BUFFER_SIZE, size);
    p->port->write32(ctx, address + OFF_MAGIC, TLOG_PRODUCER_MAGIC);
    p->address = address;
    /* Whole words only, or the last store of a full batch would land past the buffer. */
    p->room = (COMPATIBLE(p) ? size : size & ~3u) - TLOG_PRODUCER_BUFFER_HEADER;
    return true;
}

void tlog_producer_detach(struct tlog_producer *p)
{
    p->room = 0;
    p->address = 0;
}

void tlog_producer_stage(struct tlog_producer *p, uint8_t level, uint8_t source, const char *text,
                         uint32_t length, uint32_t space)
{
    uint8_t *record = p->staging + p->used;
    if (space > UINT16_MAX)
        space = UINT16_MAX; /* msg_size has 16 bits */
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
    ORDER();
    p->used += length + TLOG_PRODUCER_RECORD_MIN;
}

/* The caller has checked that an empty record fits. */
static void stage(struct tlog_producer *p, uint8_t level, uint8_t source, const char *text, uint32_t length)
{
    uint32_t space = p->staging_size - p->used;
    /* No longer than the buffer can ever take, where that is known: cut once, here, not at the flush. */
    if (p->room && space > p->room)
        space = p->room;
    tlog_producer_stage(p, level, source, text, length, space);
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

void tlog_producer_hand_over(struct tlog_producer *p, uint32_t size, uint32_t owner_word)
{
    void *ctx = p->port->ctx;
    uint64_t to = p->address + TLOG_PRODUCER_BUFFER_HEADER;
    for (uint32_t i = 0; i < size; i += 4) {
        uint32_t word = 0; /* the last one is padded with zeros */
        for (uint32_t k = 0; k < 4 && i + k < size; k++)
            word |= (uint32_t)p->staging[i + k] << (8 * k);
        p->port->write32(ctx, to + i, word);
    }
    p->port->write32(ctx, p->address + OFF_WRITE_OFFSET, TLOG_PRODUCER_BUFFER_HEADER + size);
    p->port->write32(ctx, p->address + OFF_OWNER, owner_word);
}

void tlog_producer_interrupt(const struct tlog_producer *p)
{
    if (p->port->raise_irq)
        p->port->raise_irq(p->port->ctx);
}

/* Remove the first `size` staged bytes. A fault in between must find staging whole: it finds it empty. */
static void take_out(struct tlog_producer *p, uint32_t size)
{
    uint32_t rest = p->used - size;
    p->used = 0;
    ORDER();
    for (uint32_t i = 0; i < rest; i++)
        p->staging[i] = p->staging[size + i];
    ORDER();
    p->used = rest;
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
    tlog_producer_hand_over(p, size, (uint32_t)p->version << 8 | OWNER_HOST);
    p->counts.batches++;
    p->counts.delivered += records;
    take_out(p, consumed); /* before anything that may fail: a panic must not hand them over again */
    tlog_producer_interrupt(p);
    return true;
}

static void lose(struct tlog_producer *p, uint32_t n)
{
    p->counts.dropped += n;
    p->unreported += n;
}

/* In a panic: the oldest records go until `need` bytes are free. */
static void make_room(struct tlog_producer *p, uint32_t need)
{
    uint32_t size = 0;
    if (need > p->staging_size)
        need = p->staging_size;
    while (size < p->used && p->staging_size - p->used + size < need) {
        size += get_size(p->staging + size);
        lose(p, 1);
    }
    if (size)
        take_out(p, size);
}

/* In a panic: as much as the host takes back in time. */
static void flush_all(struct tlog_producer *p)
{
    uint32_t polls = p->panic_polls;
    while (p->used) {
        uint32_t busy = p->counts.busy;
        if (flush(p))
            continue;
        if (busy == p->counts.busy || polls == 0)
            return;
        polls--;
    }
}

static bool careful_log(struct tlog_producer *p, uint8_t level, uint8_t source, const char *text,
                        uint32_t length)
{
    p->counts.logged++;
    uint32_t left = p->staging_size - p->used;
    if (left < TLOG_PRODUCER_NEAR || length > left - TLOG_PRODUCER_RECORD_MIN)
        flush(p);
    if (p->panicking)
        make_room(p, (length < p->staging_size ? length : p->staging_size) + TLOG_PRODUCER_RECORD_MIN +
                         NOTICE_MAX);
    stage_notice(p);
    if (p->staging_size - p->used < TLOG_PRODUCER_RECORD_MIN) {
        p->sequence++; /* the hole tells the reader */
        lose(p, 1);
        return false;
    }
    stage(p, level, source, text, length);
    if (p->panicking)
        flush_all(p);
    else if (p->flush_on_error && level == TLOG_ERR)
        flush(p);
    return true;
}

bool tlog_producer_log(struct tlog_producer *p, uint8_t level, uint8_t source, const char *text,
                       uint32_t length)
{
    return COMPATIBLE(p) ? tlog_compatible_log(p, level, source, text, length)
                         : careful_log(p, level, source, text, length);
}

void tlog_producer_lost(struct tlog_producer *p, uint32_t n)
{
    p->sequence += n;
    p->counts.logged += n;
    lose(p, n);
}

bool tlog_producer_tick(struct tlog_producer *p)
{
    if (COMPATIBLE(p))
        return tlog_compatible_flush(p);
    uint32_t batches = p->counts.batches;
    if (p->panicking)
        flush_all(p);
    else
        flush(p);
    /* Room again: do not wait for the next message to tell of the lost ones. */
    stage_notice(p);
    return batches != p->counts.batches;
}

void tlog_producer_panic(struct tlog_producer *p)
{
    if (COMPATIBLE(p)) {
        tlog_compatible_flush(p);
        return;
    }
    p->panicking = true;
    /* Only whole records, whatever the fault interrupted. */
    for (uint32_t at = 0; at < p->used;) {
        uint32_t size = get_size(p->staging + at);
        if (size < TLOG_PRODUCER_RECORD_MIN || size > p->used - at)
            p->used = at;
        at += size;
    }
}
