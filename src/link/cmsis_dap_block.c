/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of memory through a CMSIS-DAP probe: cut into packets, several under way. A write must not land in
 * the wrong place because the one ahead was given up: so each packet of writes behind the first sets TAR
 * itself, or waits for the one ahead. Whatever a failed packet's last access is, see cmsis_dap_access.c.
 */
#include <string.h>

#include "base/bytes.h"
#include "link/cmsis_dap_access.h"

#define TAR_WRAP      0x400u
#define UNDER_WAY_MAX 16u

/* A packet of a block on its way. */
struct piece {
    uint32_t first, count; /* words of the block */
    unsigned extra;        /* accesses ahead of them */
    bool list;             /* a DAP_Transfer, else a DAP_TransferBlock */
};

struct block {
    bool read;
    uint8_t request;
    uint32_t *values;
    uint32_t count;
    struct piece piece[UNDER_WAY_MAX];
    unsigned head, under_way;
    uint32_t sent;
};

static bool send_block(struct cmsis_dap *c, const struct block *b, uint32_t first, uint32_t n)
{
    uint8_t packet[CMSIS_DAP_PACKET_MAX] = {CMD_TRANSFER_BLOCK, c->port.index};
    store_le16(packet + 2, (uint16_t)n);
    packet[4] = b->request;
    for (uint32_t i = 0; !b->read && i < n; i++)
        store_le32(packet + 5 + 4 * i, b->values[first + i]);
    return cmsis_dap_probe_send(c->port.probe, packet, 5 + (b->read ? 0 : 4 * (size_t)n));
}

/* The next packet of the block. `place`: it says itself where its words go. */
static bool send_piece(struct cmsis_dap *c, struct block *b, bool place)
{
    size_t room = cmsis_dap_probe_packet(c->port.probe);
    uint32_t most = (uint32_t)(b->read ? (room - 4) / 4 : (room - 5) / 4), left = b->count - b->sent;
    struct piece p = {.first = b->sent, .list = place};
    if (place) {
        struct cmsis_dap_list l;
        cmsis_dap_list_begin(&l, c);
        p.extra = 1;
        cmsis_dap_list_add(&l, c, REQUEST_AP | AP_TAR, c->tar + b->sent * c->step);
        while (p.count < left && cmsis_dap_list_add(&l, c, b->request, b->values[p.first + p.count]))
            p.count++;
        if (!cmsis_dap_list_send(c, &l))
            return false;
    } else {
        p.count = left < most ? left : most;
        if (!send_block(c, b, p.first, p.count))
            return false;
    }
    b->piece[(b->head + b->under_way++) % UNDER_WAY_MAX] = p;
    b->sent += p.count;
    return true;
}

/* The answer to the oldest packet. *taken: of its words, those the port has taken. */
static enum dap_ack take_piece(struct cmsis_dap *c, struct block *b, uint32_t *taken)
{
    struct piece p = b->piece[b->head];
    size_t size = 0;
    *taken = 0;
    b->head = (b->head + 1) % UNDER_WAY_MAX;
    b->under_way--;
    if (p.list) {
        const uint8_t *data = NULL;
        unsigned done = 0;
        enum dap_ack ack = cmsis_dap_list_take(c, p.count + p.extra, 0, &done, &data);
        *taken = done > p.extra ? done - p.extra : 0;
        return ack;
    }
    const uint8_t *answer = cmsis_dap_probe_take(c->port.probe, 4, &size);
    if (!answer)
        return DAP_ACK_NONE;
    uint32_t done = load_le16(answer + 1);
    if (done > p.count || (answer[3] == DAP_ACK_OK && done != p.count))
        return cmsis_dap_nonsense(c, "counts other transfers than it was asked for");
    /* Where it did not end well the last of what was taken has brought no word. */
    uint32_t words = answer[3] == DAP_ACK_OK ? done : done ? done - 1 : 0;
    if (b->read && size < 4 + 4 * (size_t)words)
        return cmsis_dap_nonsense(c, "sent fewer words than it was asked for");
    for (uint32_t i = 0; b->read && i < words; i++)
        b->values[p.first + i] = load_le32(answer + 4 + 4 * i);
    *taken = done;
    return cmsis_dap_acknowledge(c, answer[3]);
}

/*
 * Packets until the block is through or one fails; *good: words from the first that are known to have
 * happened, *taken: those that the port has taken. *clean: nothing behind those was touched.
 */
static enum dap_ack run_block(struct cmsis_dap *c, struct block *b, uint32_t *good, uint32_t *taken,
                              bool *clean)
{
    size_t room = cmsis_dap_probe_packet(c->port.probe);
    bool whole = (b->count - b->sent) <= (b->read ? (room - 4) / 4 : (room - 5) / 4);
    bool place = !b->read && !whole && !c->slow && c->tar_known && c->step_known;
    unsigned depth = cmsis_dap_probe_depth(c->port.probe);
    depth = c->slow || (!b->read && !place) ? 1 : depth < UNDER_WAY_MAX ? depth : UNDER_WAY_MAX;
    enum dap_ack ack = DAP_ACK_OK;
    *good = *taken = b->sent;
    *clean = true;
    while (ack == DAP_ACK_OK && *taken < b->count) {
        while (b->sent < b->count && b->under_way < depth)
            if (!send_piece(c, b, place))
                return DAP_ACK_NONE;
        uint32_t n;
        ack = take_piece(c, b, &n);
        *taken += n;
        *good += ack == DAP_ACK_OK ? n : n ? n - 1 : 0;
    }
    while (b->under_way &&
           !cmsis_dap_probe_failed(
               c->port.probe)) { /* what was sent behind the failure has happened, or has not */
        uint32_t n;
        enum dap_ack late = take_piece(c, b, &n);
        *clean = *clean && n == 0;
        if (late == DAP_ACK_NONE)
            ack = late;
    }
    return ack;
}

/* What a JTAG-DP says of a fault, it says in CTRL/STAT. */
static enum dap_ack look(struct cmsis_dap *c)
{
    uint32_t stat = 0;
    enum dap_ack ack = cmsis_dap_acknowledge(c, cmsis_dap_port_dp(&c->port, true, DP_CTRL_STAT, &stat));
    return ack == DAP_ACK_OK && (stat & CTRL_STICKY) ? DAP_ACK_FAULT : ack;
}

/* On SWD the last read that was taken still has its value in RDBUFF. */
static enum dap_ack fetch_last(struct cmsis_dap *c, struct block *b, uint32_t at)
{
    uint32_t value = 0;
    enum dap_ack ack = cmsis_dap_acknowledge(c, cmsis_dap_port_dp(&c->port, true, DP_RDBUFF, &value));
    if (ack == DAP_ACK_OK && b->read)
        b->values[at] = value;
    return ack;
}

static enum dap_ack block_through(struct cmsis_dap *c, struct block *b, uint32_t *done)
{
    struct deadline limit = deadline_in(c->clock, CMSIS_DAP_WAIT_NS);
    for (unsigned idle = 0; *done < b->count;) {
        uint32_t good, taken, before = *done;
        bool clean;
        b->sent = *done;
        b->head = b->under_way = 0;
        enum dap_ack ack = run_block(c, b, &good, &taken, &clean);
        *done = good;
        if (ack != DAP_ACK_WAIT)
            return ack;
        c->slow = true;
        if (!clean || c->port.jtag)
            return ack;
        /* The one that was taken may end yet; the rest goes on behind it. */
        for (; taken > good; idle++) {
            ack = fetch_last(c, b, good);
            if (ack == DAP_ACK_OK)
                *done = ++good;
            else if (ack != DAP_ACK_WAIT || (idle >= CMSIS_DAP_WAIT_ROUNDS && deadline_passed(&limit)))
                return ack;
        }
        if (*done > before) {
            limit = deadline_in(c->clock, CMSIS_DAP_WAIT_NS);
            idle = 0;
        } else if (++idle > CMSIS_DAP_WAIT_ROUNDS && deadline_passed(&limit)) {
            return DAP_ACK_WAIT;
        }
    }
    return DAP_ACK_OK;
}

/* A single word: no need for a block, and on JTAG its look at CTRL/STAT rides along. */
static enum dap_ack single(struct cmsis_dap *c, struct block *b)
{
    struct deadline limit = deadline_in(c->clock, CMSIS_DAP_WAIT_NS);
    for (unsigned i = 0;; i++) {
        enum dap_ack ack = cmsis_dap_one(c, b->request, b->values);
        if (ack != DAP_ACK_WAIT || c->port.jtag || (i >= CMSIS_DAP_WAIT_ROUNDS && deadline_passed(&limit)))
            return ack;
    }
}

enum dap_ack cmsis_dap_block(void *ctx, bool read, uint8_t addr, uint32_t *values, uint32_t count,
                             uint32_t *done)
{
    struct cmsis_dap *c = ctx;
    struct block b = {.read = read, .values = values, .count = count};
    b.request = (uint8_t)(addr | REQUEST_AP | (read ? REQUEST_READ : 0));
    *done = 0;
    c->taken = false;
    if (!cmsis_dap_ready(c, false))
        return DAP_ACK_NONE;
    enum dap_ack ack;
    if (count == 1) {
        ack = single(c, &b);
        *done = ack == DAP_ACK_OK;
    } else {
        ack = cmsis_dap_flush(c);
        if (ack == DAP_ACK_OK)
            ack = block_through(c, &b, done);
    }
    if (ack == DAP_ACK_OK && count > 1 && c->port.jtag) {
        ack = look(c);
        *done = ack == DAP_ACK_OK ? count : 0; /* of what a fault was in, nothing is known (case B21) */
    }
    c->tar += count * c->step;
    if (ack != DAP_ACK_OK || c->tar % TAR_WRAP == 0)
        c->tar_known = false;
    if (ack != DAP_ACK_OK)
        c->step_known = false;
    return ack;
}
