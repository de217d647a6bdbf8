/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See front_transfer.h. A read of an access port is posted: its value comes with the next such read or with
 * RDBUFF, so a row of reads costs one transfer more than it has words. After writes RDBUFF is read too, since
 * an error of the last one shows only then.
 */
#include "sim/front_transfer.h"

#define REQUEST_AP     0x01u
#define REQUEST_READ   0x02u
#define REQUEST_ADDR   0x0Cu
#define REQUEST_VALUE  0x10u /* of a read: wait for a value */
#define REQUEST_MASK   0x20u /* of a write: the mask for that */
#define REQUEST_RDBUFF (REQUEST_READ | 0x0Cu)

#define ACK_OK       1u
#define ACK_WAIT     2u
#define ACK_MISMATCH 0x10u
#define ACK_PROTOCOL 0x08u

uint32_t front_take(struct front_request *r, unsigned bytes)
{
    uint32_t value = 0;

    if (r->left < bytes) {
        r->left = 0;
        r->cut = true;
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint32_t)r->at[i] << 8 * i;
    r->at += bytes;
    r->left -= bytes;
    return value;
}

void front_give(struct front_answer *a, unsigned bytes, uint32_t value)
{
    if (a->room - a->size < bytes) {
        a->full = true;
        return;
    }
    for (unsigned i = 0; i < bytes; i++)
        a->data[a->size++] = (uint8_t)(value >> 8 * i);
}

/* One request on the wire, again after WAIT. Without budget it is WAIT. */
static unsigned wire(struct front_transfer *t, uint8_t request, uint32_t *value)
{
    unsigned ack = ACK_WAIT;

    for (uint32_t i = 0; i <= t->wait_retry && ack == ACK_WAIT && t->budget > 0; i++) {
        t->budget--;
        t->front->transfers++;
        ack = board_dap_transfer(t->front->board, request & REQUEST_AP, (request & REQUEST_READ) != 0,
                                 request & REQUEST_ADDR, value);
        if (t->idle)
            board_dap_idle(t->front->board, t->idle);
    }
    return ack;
}

unsigned front_transfer_write(struct front_transfer *t, uint8_t request, uint32_t value)
{
    return wire(t, request & (uint8_t)~REQUEST_READ, &value);
}

/* A row of requests as it goes by. */
struct row {
    bool posted;  /* a value waits in RDBUFF */
    bool written; /* the last one was a write that nothing has confirmed */
};

/* The value that waits is fetched; `next`: the read that is posted with it, or RDBUFF. */
static unsigned fetch(struct front_transfer *t, struct row *row, struct front_answer *a, uint8_t next)
{
    uint32_t value = 0;
    unsigned ack = wire(t, next, &value);

    row->posted = ack == ACK_OK && next != REQUEST_RDBUFF;
    if (ack == ACK_OK)
        front_give(a, 4, value);
    return ack;
}

static unsigned read_one(struct front_transfer *t, struct row *row, struct front_answer *a, uint8_t request)
{
    uint32_t value = 0;
    unsigned ack = ACK_OK;

    row->written = false;
    if (row->posted && (request & REQUEST_AP))
        return fetch(t, row, a, request);
    if (row->posted)
        ack = fetch(t, row, a, REQUEST_RDBUFF);
    if (ack == ACK_OK)
        ack = wire(t, request, &value);
    if (ack == ACK_OK && (request & REQUEST_AP))
        row->posted = true;
    else if (ack == ACK_OK)
        front_give(a, 4, value);
    return ack;
}

/* Reads until the value is there. Nothing is answered but whether it came. */
static unsigned match(struct front_transfer *t, struct row *row, struct front_answer *a, uint8_t request,
                      uint32_t wanted)
{
    uint32_t value = 0;
    unsigned ack = row->posted ? fetch(t, row, a, REQUEST_RDBUFF) : ACK_OK;

    row->written = false;
    if (ack == ACK_OK && (request & REQUEST_AP))
        ack = wire(t, request, &value); /* posted; what comes with it is an old value */
    for (uint32_t i = 0; i <= t->match_retry && ack == ACK_OK; i++) {
        ack = wire(t, request, &value);
        if (ack == ACK_OK && (value & t->match_mask) == wanted)
            return ACK_OK;
    }
    return ack == ACK_OK ? ACK_OK | ACK_MISMATCH : ack;
}

static unsigned write_one(struct front_transfer *t, struct row *row, struct front_answer *a, uint8_t request,
                          uint32_t value)
{
    unsigned ack = row->posted ? fetch(t, row, a, REQUEST_RDBUFF) : ACK_OK;

    if (ack == ACK_OK)
        ack = wire(t, request, &value);
    row->written = ack == ACK_OK;
    return ack;
}

/* What the row still owes. */
static unsigned finish(struct front_transfer *t, struct row *row, struct front_answer *a)
{
    uint32_t ignored = 0;

    if (row->posted)
        return fetch(t, row, a, REQUEST_RDBUFF);
    return row->written ? wire(t, REQUEST_RDBUFF, &ignored) : ACK_OK;
}

static bool has_data(uint8_t request)
{
    return !(request & REQUEST_READ) || (request & REQUEST_VALUE);
}

static unsigned one(struct front_transfer *t, struct row *row, struct front_answer *a, uint8_t kind,
                    uint32_t data)
{
    uint8_t request = kind & (REQUEST_AP | REQUEST_READ | REQUEST_ADDR);

    if ((kind & REQUEST_READ) && (kind & REQUEST_VALUE))
        return match(t, row, a, request, data);
    if (kind & REQUEST_READ)
        return read_one(t, row, a, request);
    if (kind & REQUEST_MASK) {
        t->match_mask = data;
        return ACK_OK;
    }
    return write_one(t, row, a, request, data);
}

/* Puts the count and the acknowledge where room was kept for them. */
static void settle(struct front_answer *a, size_t at, unsigned count_bytes, unsigned count, unsigned ack)
{
    if (at + count_bytes + 1 > a->size)
        return;
    for (unsigned i = 0; i < count_bytes; i++)
        a->data[at + i] = (uint8_t)(count >> 8 * i);
    a->data[at + count_bytes] = (uint8_t)ack;
}

void front_transfer_list(struct front_transfer *t, struct front_request *r, struct front_answer *a)
{
    struct row row = {0};
    unsigned ack = ACK_OK, done = 0;
    size_t at = a->size;

    front_take(r, 1); /* which device of a JTAG chain */
    unsigned count = front_take(r, 1);
    front_give(a, 2, 0);
    for (unsigned i = 0; i < count; i++) {
        uint8_t kind = (uint8_t)front_take(r, 1);
        uint32_t data = has_data(kind) ? front_take(r, 4) : 0;
        if (r->cut) {
            ack = ack == ACK_OK ? ACK_PROTOCOL : ack;
            break;
        }
        if (ack != ACK_OK) /* only skipped, so that the command behind is found */
            continue;
        ack = one(t, &row, a, kind, data);
        done += ack == ACK_OK;
    }
    if (ack == ACK_OK)
        ack = finish(t, &row, a);
    settle(a, at, 1, done, a->full ? ACK_PROTOCOL : ack);
}

void front_transfer_block(struct front_transfer *t, struct front_request *r, struct front_answer *a)
{
    struct row row = {0};
    unsigned ack = ACK_OK, done = 0;
    size_t at = a->size;

    front_take(r, 1);
    unsigned count = front_take(r, 2);
    uint8_t request = front_take(r, 1) & (REQUEST_AP | REQUEST_READ | REQUEST_ADDR);
    bool read = (request & REQUEST_READ) != 0;
    front_give(a, 3, 0);
    if (read && count > (a->room - a->size) / 4) /* no more than can be answered */
        count = (unsigned)((a->room - a->size) / 4);
    for (unsigned i = 0; i < count; i++) {
        uint32_t data = read ? 0 : front_take(r, 4);
        if (r->cut) {
            ack = ack == ACK_OK ? ACK_PROTOCOL : ack;
            break;
        }
        if (ack != ACK_OK) {
            if (read)
                break;
            continue;
        }
        ack = read ? read_one(t, &row, a, request) : write_one(t, &row, a, request, data);
        done += ack == ACK_OK;
    }
    if (ack == ACK_OK)
        ack = finish(t, &row, a);
    settle(a, at, 2, done, a->full ? ACK_PROTOCOL : ack);
}
