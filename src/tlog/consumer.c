/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live half of the firmware log: the owner protocol over a link. The firmware-log sheet, section 6
 * (consumer algorithm) and section 8 (cases 1 to 7, 28, 30, 32).
 *
 * Shared memory is read once, into a private copy; the copy alone is checked and decoded. The owner byte goes
 * back before decoding, because the firmware drops whole batches while it waits. Writes nothing but that one
 * byte, and not even that before the right magic was seen since the last reset: the RAM may be another
 * program's.
 */
#include "tlog/consumer.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define CAPACITY_MIN 29u /* what the firmware accepts at SETUP */
#define CAPACITY_MAX (1u << 20)

/* What is wrong in the same way poll after poll is said once. */
struct complaint {
    bool made;
    enum tlog_anomaly reason;
    uint32_t value;
};

struct tlog_consumer {
    uint32_t ap;
    uint64_t address;
    uint32_t capacity;
    struct tlog_emitter *emitter;
    void (*raw)(void *ctx, const uint8_t *data, size_t size, int64_t host_ns);
    void *raw_ctx;
    uint8_t *copy;       /* capacity bytes; zero behind copy_size */
    uint8_t *unreleased; /* the batch before, when its owner byte could not be handed back */
    size_t copy_size, unreleased_size;
    bool magic_seen;
    bool bad_magic; /* as of the last poll */
    struct complaint complaint;
    uint64_t polls, bytes;
};

struct tlog_consumer *tlog_consumer_new(const struct tlog_consumer_options *options, struct event_bus *bus,
                                        struct diag *d)
{
    if (options->capacity < CAPACITY_MIN || options->capacity > CAPACITY_MAX) {
        diag_set(d, CORRAL_ERR_USAGE, "a log buffer has %u to %u bytes, not %u", CAPACITY_MIN, CAPACITY_MAX,
                 options->capacity);
        return NULL;
    }
    struct tlog_consumer *c = calloc(1, sizeof(*c));
    if (c) {
        c->ap = options->ap;
        c->address = options->address;
        c->capacity = options->capacity;
        c->raw = options->raw;
        c->raw_ctx = options->raw_ctx;
        c->emitter = tlog_emitter_new(options, bus);
        c->copy = calloc(1, options->capacity);
        c->unreleased = calloc(1, options->capacity);
    }
    if (!c || !c->emitter || !c->copy || !c->unreleased) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory for a log buffer of %u bytes",
                 options->capacity);
        tlog_consumer_free(c);
        return NULL;
    }
    return c;
}

void tlog_consumer_free(struct tlog_consumer *c)
{
    if (!c)
        return;
    tlog_emitter_free(c->emitter);
    free(c->copy);
    free(c->unreleased);
    free(c);
}

void tlog_consumer_reset(struct tlog_consumer *c)
{
    c->magic_seen = false;
    c->bad_magic = false;
    c->unreleased_size = 0;
    c->complaint.made = false;
    tlog_emitter_reset(c->emitter);
}

void tlog_consumer_move(struct tlog_consumer *c, uint64_t address)
{
    c->address = address;
    c->magic_seen = false;
    c->bad_magic = false;
    c->unreleased_size = 0;
    c->complaint.made = false;
}

void tlog_consumer_restarted(struct tlog_consumer *c)
{
    tlog_consumer_move(c, c->address);
    tlog_emitter_restarted(c->emitter);
}

static void complain(struct tlog_consumer *c, enum tlog_anomaly reason, uint32_t offset, uint32_t value,
                     int64_t host_ns)
{
    struct complaint now = {true, reason, value};
    if (c->complaint.made && c->complaint.reason == reason && c->complaint.value == value)
        return;
    c->complaint = now;
    tlog_emitter_anomaly(c->emitter, reason, offset, value, host_ns);
}

/* What the magic and owner in `tail` (bytes 8..15 of a header) say, by the order of INTERFACE.md's checks.
 * Complains where there is something to complain about. */
static enum tlog_status look(struct tlog_consumer *c, const uint8_t tail[8], int64_t host_ns)
{
    uint32_t magic = load_le32(tail);
    uint8_t owner = tail[TLOG_OFF_OWNER - TLOG_OFF_MAGIC];
    if (magic == 0xFFFFFFFFu) {
        complain(c, TLOG_ANOMALY_LINK_DOWN, TLOG_OFF_MAGIC, magic, host_ns);
        return TLOG_LINK_DOWN;
    }
    if (owner != 1) {
        if (owner != 0)
            complain(c, TLOG_ANOMALY_OWNER, TLOG_OFF_OWNER, owner, host_ns);
        else
            c->complaint.made = false;
        return TLOG_EMPTY;
    }
    if (magic != TLOG_MAGIC) {
        complain(c, magic == TLOG_MAGIC_SWAPPED ? TLOG_ANOMALY_MAGIC_BYTE_ORDER : TLOG_ANOMALY_MAGIC,
                 TLOG_OFF_MAGIC, magic, host_ns);
        return TLOG_BAD_MAGIC;
    }
    c->complaint.made = false;
    return TLOG_OK;
}

static enum corral_err read_at(const struct tlog_consumer *c, struct link *link, uint32_t offset, void *out,
                               size_t size, struct diag *d)
{
    return link_read_bytes(link, c->ap, c->address + offset, out, size, d);
}

static enum corral_err release(const struct tlog_consumer *c, struct link *link, struct diag *d)
{
    return link_write8(link, c->ap, c->address + TLOG_OFF_OWNER, 0, d);
}

/* The records of the batch whose header is in c->copy; each header field was loaded once, with it. */
static enum corral_err copy_records(struct tlog_consumer *c, struct link *link, struct diag *d)
{
    uint32_t write_offset = load_le32(c->copy + TLOG_OFF_WRITE_OFFSET);
    size_t end = write_offset > c->capacity ? c->capacity : write_offset;
    if (end < TLOG_HEADER_SIZE)
        end = TLOG_HEADER_SIZE;
    if (c->copy_size > end)
        memset(c->copy + end, 0, c->copy_size - end);
    c->copy_size = end;
    if (end == TLOG_HEADER_SIZE)
        return CORRAL_OK;
    return read_at(c, link, TLOG_HEADER_SIZE, c->copy + TLOG_HEADER_SIZE, end - TLOG_HEADER_SIZE, d);
}

/* Keep the batch that was just decoded, to know it again. */
static void keep_unreleased(struct tlog_consumer *c)
{
    uint8_t *copy = c->copy;
    size_t used = c->unreleased_size;
    c->copy = c->unreleased;
    c->unreleased = copy;
    c->unreleased_size = c->copy_size;
    c->copy_size = used;
}

/* After the copy: is the buffer still ours to hand back? Whoever touched the header meanwhile may have
 * touched the records, too; that is said, the copy is delivered all the same, and nothing is written. */
static enum corral_err check_still_ours(struct tlog_consumer *c, struct link *link, int64_t host_ns,
                                        bool *ours, struct diag *d)
{
    uint8_t tail[8];
    enum corral_err err = read_at(c, link, TLOG_OFF_MAGIC, tail, sizeof(tail), d);
    if (err != CORRAL_OK)
        return err;
    enum tlog_status status = look(c, tail, host_ns);
    *ours = status == TLOG_OK;
    /* Owner 0 is nothing to complain about at other times, but it was 1 a moment ago and we did not clear it.
     */
    if (status == TLOG_EMPTY && tail[TLOG_OFF_OWNER - TLOG_OFF_MAGIC] == 0)
        tlog_emitter_anomaly(c->emitter, TLOG_ANOMALY_OWNER, TLOG_OFF_OWNER, 0, host_ns);
    return CORRAL_OK;
}

/* Owner is 1 and the magic right, in the copy: take the batch. */
static enum corral_err take_batch(struct tlog_consumer *c, struct link *link, int64_t host_ns, bool *took,
                                  struct diag *d)
{
    bool ours = false;
    enum corral_err err = copy_records(c, link, d);
    if (err != CORRAL_OK)
        return err; /* nothing was handed back: the next poll reads the batch again */
    err = check_still_ours(c, link, host_ns, &ours, d);
    if (ours)
        err = release(c, link, d);

    /* From here only the copy is used, whatever became of the link: it may hold the target's last words. */
    bool again = c->unreleased_size == c->copy_size && !memcmp(c->unreleased, c->copy, c->copy_size);
    if (!again) {
        c->bytes += c->copy_size;
        if (c->raw)
            c->raw(c->raw_ctx, c->copy, c->copy_size, host_ns);
        tlog_emitter_batch(c->emitter, c->copy, c->capacity, NULL, host_ns, NULL);
        *took = true;
    }
    if (ours && err == CORRAL_OK)
        c->unreleased_size = 0;
    else if (!again)
        keep_unreleased(c);
    return err;
}

enum corral_err tlog_consumer_poll(struct tlog_consumer *c, struct link *link, bool *took, struct diag *d)
{
    bool taken = false;
    uint8_t tail[8];
    const uint8_t *seen = tail; /* bytes 8..15 of the header, as last read */
    if (took)
        *took = false;
    c->polls++;

    /* The owner decides first. The header is read after it: read before, it could be older than the
     * hand-over. */
    enum corral_err err = read_at(c, link, TLOG_OFF_MAGIC, tail, sizeof(tail), d);
    if (err != CORRAL_OK)
        return err;
    int64_t host_ns = host_clock_now(link_clock(link));
    enum tlog_status status = look(c, tail, host_ns);
    if (status == TLOG_OK) {
        err = read_at(c, link, 0, c->copy, TLOG_HEADER_SIZE, d);
        if (err != CORRAL_OK)
            return err;
        seen = c->copy + TLOG_OFF_MAGIC;
        status = look(c, seen, host_ns);
    }

    bool seen_before = c->magic_seen;
    /* A magic that went away is as good as a reset: at most one more byte is written before it is back. */
    c->magic_seen = load_le32(seen) == TLOG_MAGIC;
    c->bad_magic = !c->magic_seen && status != TLOG_LINK_DOWN;
    if (status == TLOG_EMPTY)
        c->unreleased_size = 0; /* it was handed back after all */
    if (status == TLOG_BAD_MAGIC && seen_before)
        err = release(c, link, d);
    if (status == TLOG_OK)
        err = take_batch(c, link, host_ns, &taken, d);
    if (took)
        *took = taken;
    return err;
}

bool tlog_consumer_bad_magic(const struct tlog_consumer *c)
{
    return c->bad_magic;
}

void tlog_consumer_get_stats(const struct tlog_consumer *c, struct tlog_consumer_stats *stats)
{
    tlog_emitter_get_stats(c->emitter, stats);
    stats->polls = c->polls;
    stats->bytes = c->bytes;
}
