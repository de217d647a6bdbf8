/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See cmsis_dap.h. DP and AP transfers by DAP_Transfer and DAP_TransferBlock.
 *
 * The probe does what posted reads need by itself: an answer has the value of its own read, and behind the
 * last of a command's accesses the probe waits for it. So where a command fails, its count includes one
 * access that the port has taken but whose end nobody has seen: that one is never repeated, and never called
 * done.
 *
 * Blocks are cut into packets, several under way. A write must not land in the wrong place because the one
 * ahead was given up: so each packet of writes behind the first sets TAR itself, or waits for the one ahead.
 *
 * JTAG shows no FAULT; there CTRL/STAT is read behind what reads or writes memory (case B21).
 */
#include "link/cmsis_dap.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "link/cmsis_dap_port.h"
#include "link/cmsis_dap_wire.h"
#include "link/link_backend.h"
#include "link/link_tcp.h"

enum { DP_ABORT = 0x0, DP_DPIDR = 0x0, DP_CTRL_STAT = 0x4, DP_SELECT = 0x8, DP_RDBUFF = 0xC };
enum { AP_CSW = 0x0, AP_TAR = 0x4, AP_TARH = 0x8 }; /* A[3:2] in the bank of both ADIv5 and ADIv6 */

#define CTRL_STICKYORUN  0x02u
#define CTRL_STICKYCMP   0x10u
#define CTRL_STICKYERR   0x20u
#define CTRL_STICKY      (CTRL_STICKYORUN | CTRL_STICKYCMP | CTRL_STICKYERR)
#define CTRL_WDATAERR    0x80u
#define CTRL_ORUNDETECT  0x01u
#define ABORT_DAPABORT   0x01u
#define ABORT_STKCMPCLR  0x02u
#define ABORT_STKERRCLR  0x04u
#define ABORT_ORUNERRCLR 0x10u
#define DPBANKSEL        0x0Fu
#define CSW_SIZE         0x07u
#define CSW_INC          0x30u
#define CSW_INC_SINGLE   0x10u
#define TAR_WRAP         0x400u

#define PIN_NRESET     0x80u
#define PINS_WAIT_US   100000u
#define QUEUE          8u
#define GOOD_BYE_MS    1000
#define WAIT_ROUNDS    16u /* of the probe's own, at least, and at least so long: */
#define WAIT_NS        (100 * NS_PER_MS)
#define REQUESTS_MAX   255u /* of a DAP_Transfer */
#define UNDER_WAY_MAX  16u
#define TARGETSEL_WORD "?targetsel="

struct cmsis_dap {
    struct cmsis_dap_port port;
    struct host_clock *clock;
    uint32_t select; /* as last written */
    bool select_known;
    uint32_t ctrl; /* CTRL/STAT as last written, without sticky bits; JTAG clears those by writing it */
    /* What the selected AP was told, as far as it is known: for writes in several packets. */
    bool tar_known, step_known;
    uint32_t tar, step;
    /* The port has taken this access, but its end has not been seen. */
    bool taken;
    uint8_t taken_request;
    /* Writes that only prepare an access; they ride along with it. */
    struct {
        uint8_t request;
        uint32_t value;
    } queue[QUEUE];
    unsigned queued;
    bool owed; /* a SELECT that a FAULT kept from being written, which mem_ap.c takes for done */
    uint32_t owed_select;
    bool lost; /* no acknowledge: the wire must be reset before anything else */
    bool slow; /* WAIT came to an end in a block: from then on a packet at a time */
    struct diag why;
};

static bool probe_failed(const struct cmsis_dap *c)
{
    return cmsis_dap_probe_failed(c->port.probe);
}

static enum dap_ack nonsense(struct cmsis_dap *c, const char *what)
{
    cmsis_dap_probe_refuse(c->port.probe, what);
    return DAP_ACK_NONE;
}

/* The acknowledge in the answer to a transfer. */
static enum dap_ack acknowledge(struct cmsis_dap *c, unsigned response)
{
    const char *name = cmsis_dap_probe_name(c->port.probe);
    if (response == DAP_ACK_OK || response == DAP_ACK_WAIT || (response == DAP_ACK_FAULT && !c->port.jtag))
        return (enum dap_ack)response;
    c->lost = true;
    c->tar_known = c->step_known = false;
    if (response & RESPONSE_PROTOCOL)
        diag_set(&c->why, CORRAL_ERR_LINK_PROTOCOL,
                 "the probe %s saw a protocol error on the wire (parity, or no whole answer)", name);
    else if ((response & 7u) == DAP_ACK_NONE || response == 0)
        diag_set(&c->why, CORRAL_ERR_LINK_DOWN, "the debug port behind %s does not answer (no acknowledge)",
                 name);
    else
        diag_set(&c->why, CORRAL_ERR_LINK_PROTOCOL,
                 "the debug port behind %s answered the undefined acknowledge %u", name, response & 7u);
    return DAP_ACK_NONE;
}

/* A list of accesses in one DAP_Transfer. */
struct list {
    uint8_t packet[CMSIS_DAP_PACKET_MAX];
    size_t size, answer; /* of the request, of the whole answer */
    unsigned count, reads;
};

static void list_begin(struct list *l, const struct cmsis_dap *c)
{
    l->packet[0] = CMD_TRANSFER;
    l->packet[1] = c->port.index;
    l->size = l->answer = 3;
    l->count = l->reads = 0;
}

/* False when it does not fit. */
static bool list_add(struct list *l, const struct cmsis_dap *c, uint8_t request, uint32_t value)
{
    size_t room = cmsis_dap_probe_packet(c->port.probe);
    bool read = request & REQUEST_READ;
    if (l->count == REQUESTS_MAX || l->size + (read ? 1 : 5) > room || l->answer + (read ? 4 : 0) > room)
        return false;
    l->packet[l->size++] = request;
    if (read) {
        l->answer += 4;
        l->reads++;
    } else {
        store_le32(l->packet + l->size, value);
        l->size += 4;
    }
    l->packet[2] = (uint8_t)++l->count;
    return true;
}

static bool list_send(struct cmsis_dap *c, const struct list *l)
{
    return cmsis_dap_probe_send(c->port.probe, l->packet, l->size);
}

/* *done: of its accesses, those the port has taken. *data: as many words as it had reads, where it is OK. */
static enum dap_ack list_take(struct cmsis_dap *c, unsigned count, unsigned reads, unsigned *done,
                              const uint8_t **data)
{
    size_t size = 0;
    *done = 0;
    const uint8_t *answer = cmsis_dap_probe_take(c->port.probe, 3, &size);
    if (!answer)
        return DAP_ACK_NONE;
    unsigned response = answer[2];
    if (answer[1] > count || (response == DAP_ACK_OK && answer[1] != count))
        return nonsense(c, "counts other transfers than it was asked for");
    if (response == DAP_ACK_OK && size < 3 + 4 * (size_t)reads)
        return nonsense(c, "sent fewer words than it was asked for");
    *done = answer[1];
    *data = answer + 3;
    return acknowledge(c, response);
}

static void list_add_queue(struct list *l, const struct cmsis_dap *c)
{
    for (unsigned i = 0; i < c->queued; i++)
        list_add(l, c, c->queue[i].request, c->queue[i].value);
}

/* `done` of the queue have been written, in a command that was answered with `ack`. */
static void settle_queue(struct cmsis_dap *c, enum dap_ack ack, unsigned done)
{
    unsigned left = done < c->queued ? c->queued - done : 0;
    if (ack == DAP_ACK_FAULT)
        for (unsigned i = c->queued - left; i < c->queued; i++)
            if (c->queue[i].request == DP_SELECT) {
                c->owed = true;
                c->owed_select = c->queue[i].value;
            }
    if (ack == DAP_ACK_WAIT) /* what is left is tried again */
        memmove(c->queue, c->queue + (c->queued - left), left * sizeof(c->queue[0]));
    c->queued = ack == DAP_ACK_WAIT ? left : 0;
}

static enum dap_ack cmsis_dap_flush(void *ctx)
{
    struct cmsis_dap *c = ctx;
    struct deadline limit = deadline_in(c->clock, WAIT_NS);
    enum dap_ack ack = DAP_ACK_OK;
    for (unsigned i = 0; c->queued && ack != DAP_ACK_NONE; i++) {
        struct list l;
        const uint8_t *data = NULL;
        unsigned done = 0;
        list_begin(&l, c);
        list_add_queue(&l, c);
        ack = list_send(c, &l) ? list_take(c, l.count, 0, &done, &data) : DAP_ACK_NONE;
        settle_queue(c, ack, done);
        if (ack == DAP_ACK_FAULT || (ack == DAP_ACK_WAIT && i >= WAIT_ROUNDS && deadline_passed(&limit)))
            break;
        ack = ack == DAP_ACK_WAIT && !c->queued ? DAP_ACK_OK : ack;
    }
    return ack;
}

/* The one access at the end of what `l` has; on JTAG with a look at CTRL/STAT behind it. */
static enum dap_ack run_one(struct cmsis_dap *c, struct list *l, uint8_t request, uint32_t *value)
{
    bool look = c->port.jtag && (request & REQUEST_AP);
    unsigned ahead = 0, done = 0;
    const uint8_t *data = NULL;
    uint8_t actual = request;
    if (c->taken && c->taken_request == request) {
        if (c->port.jtag) /* the answer went by with the scan that was told to wait; it cannot be had again */
            return DAP_ACK_WAIT;
        actual = DP_RDBUFF | REQUEST_READ;
    }
    bool was_taken = c->taken;
    c->taken = false;
    list_begin(l, c);
    list_add_queue(l, c);
    ahead = l->count;
    if (!list_add(l, c, actual, *value) || (look && !list_add(l, c, DP_CTRL_STAT | REQUEST_READ, 0)))
        return nonsense(c, "has no room for a transfer");
    if (!list_send(c, l))
        return DAP_ACK_NONE;
    enum dap_ack ack = list_take(c, l->count, l->reads, &done, &data);
    settle_queue(c, ack, done);
    if (ack == DAP_ACK_WAIT && (done > ahead || was_taken)) {
        c->taken = true;
        c->taken_request = request;
    }
    if (ack != DAP_ACK_OK)
        return ack;
    if (request & REQUEST_READ)
        *value = load_le32(data);
    if (look && (load_le32(data + 4 * (l->reads - 1)) & CTRL_STICKY))
        return DAP_ACK_FAULT;
    return DAP_ACK_OK;
}

static void queue_write(struct cmsis_dap *c, uint8_t request, uint32_t value)
{
    c->queue[c->queued].request = request;
    c->queue[c->queued++].value = value;
}

/* SELECT, and a MEM-AP's CSW, TAR and TARH: they do nothing until the access behind them. */
static bool may_queue(const struct cmsis_dap *c, bool ap, uint8_t addr)
{
    bool adiv6 = !c->port.jtag && (c->port.dpidr >> 12 & 0xFu) >= 3;
    bool mem_ap = c->select_known && (c->select & 0xFF0u) == (adiv6 ? 0xD00u : 0);
    return c->queued < QUEUE && (ap ? mem_ap && addr <= AP_TARH : addr == DP_SELECT);
}

/* ABORT as on SWD. A JTAG-DP has only DAPABORT there, and sticky bits are cleared by writing them. */
static enum dap_ack abort_access(struct cmsis_dap *c, uint32_t value)
{
    uint32_t sticky = (value & ABORT_STKCMPCLR ? CTRL_STICKYCMP : 0) |
                      (value & ABORT_STKERRCLR ? CTRL_STICKYERR : 0) |
                      (value & ABORT_ORUNERRCLR ? CTRL_STICKYORUN : 0);
    c->taken = false;
    c->queued = 0;
    if (c->owed)
        queue_write(c, DP_SELECT, c->owed_select);
    c->owed = false;
    if (!c->port.jtag || (value & ABORT_DAPABORT)) {
        uint8_t request[6] = {CMD_WRITE_ABORT, c->port.index};
        store_le32(request + 2, c->port.jtag ? ABORT_DAPABORT : value);
        if (!cmsis_dap_probe_do(c->port.probe, request, sizeof(request))) {
            if (!probe_failed(c))
                acknowledge(c, DAP_ACK_NONE);
            return DAP_ACK_NONE;
        }
    }
    if (!c->port.jtag || !sticky)
        return DAP_ACK_OK;
    sticky |= c->ctrl;
    return acknowledge(c, cmsis_dap_port_dp(&c->port, false, DP_CTRL_STAT, &sticky));
}

/* False when nothing can be done on this wire any more. */
static bool ready(struct cmsis_dap *c)
{
    if (probe_failed(c))
        return false;
    if (c->lost) {
        c->taken = c->owed = c->select_known = false;
        c->queued = 0;
        if (!cmsis_dap_port_recover(&c->port)) {
            c->why = c->port.why;
            return false;
        }
    }
    c->lost = false;
    return true;
}

/* Writes that say where the next block goes. */
static void note(struct cmsis_dap *c, bool ap, uint8_t addr, uint32_t value)
{
    if (!ap && addr == DP_SELECT) {
        c->select = value;
        c->select_known = true;
        c->owed = false;
        c->tar_known = c->step_known = false;
    }
    if (ap && addr == AP_TAR) {
        c->tar_known = true;
        c->tar = value;
    }
    if (ap && addr == AP_CSW) {
        c->step = (value & CSW_INC) == CSW_INC_SINGLE ? 1u << (value & CSW_SIZE) : 0;
        c->step_known = (value & CSW_INC) == 0 || ((value & CSW_INC) == CSW_INC_SINGLE && c->step <= 4);
    }
}

static enum dap_ack cmsis_dap_dap(void *ctx, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    struct cmsis_dap *c = ctx;
    struct list l;
    uint32_t data = *value;
    if (!ready(c))
        return DAP_ACK_NONE;
    if (!ap && !read && addr == DP_ABORT)
        return abort_access(c, data);
    if (!ap && !read && addr == DP_CTRL_STAT && c->port.jtag) { /* as on SWD, where these cannot be written */
        data &= ~(CTRL_STICKY | CTRL_WDATAERR | CTRL_ORUNDETECT);
        c->ctrl = data;
    }
    if (!read)
        note(c, ap, addr, data);
    else if (ap)
        c->tar_known = c->tar_known && addr < 0xC; /* a read of DRW moves it */
    uint8_t request = (uint8_t)(addr | (ap ? REQUEST_AP : 0) | (read ? REQUEST_READ : 0));
    if (!read && may_queue(c, ap, addr)) {
        c->taken = false;
        queue_write(c, request, data);
        return DAP_ACK_OK;
    }
    enum dap_ack ack = run_one(c, &l, request, &data);
    if (ack != DAP_ACK_OK)
        c->tar_known = c->step_known = false;
    if (read && ack == DAP_ACK_OK) {
        /* The first debug ports have no DPIDR behind JTAG; their IDCODE says the same. */
        if (c->port.jtag && !ap && addr == DP_DPIDR && data == 0 && !(c->select & DPBANKSEL))
            data = c->port.dpidr;
        *value = data;
    }
    if (ap && !read && addr == 0xC)
        c->tar_known = false;
    return ack;
}

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
        struct list l;
        list_begin(&l, c);
        p.extra = 1;
        list_add(&l, c, REQUEST_AP | AP_TAR, c->tar + b->sent * c->step);
        while (p.count < left && list_add(&l, c, b->request, b->values[p.first + p.count]))
            p.count++;
        if (!list_send(c, &l))
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
        enum dap_ack ack = list_take(c, p.count + p.extra, 0, &done, &data);
        *taken = done > p.extra ? done - p.extra : 0;
        return ack;
    }
    const uint8_t *answer = cmsis_dap_probe_take(c->port.probe, 4, &size);
    if (!answer)
        return DAP_ACK_NONE;
    uint32_t done = load_le16(answer + 1);
    if (done > p.count || (answer[3] == DAP_ACK_OK && done != p.count))
        return nonsense(c, "counts other transfers than it was asked for");
    /* Where it did not end well the last of what was taken has brought no word. */
    uint32_t words = answer[3] == DAP_ACK_OK ? done : done ? done - 1 : 0;
    if (b->read && size < 4 + 4 * (size_t)words)
        return nonsense(c, "sent fewer words than it was asked for");
    for (uint32_t i = 0; b->read && i < words; i++)
        b->values[p.first + i] = load_le32(answer + 4 + 4 * i);
    *taken = done;
    return acknowledge(c, answer[3]);
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
    while (b->under_way && !probe_failed(c)) { /* what was sent behind the failure has happened, or has not */
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
    enum dap_ack ack = acknowledge(c, cmsis_dap_port_dp(&c->port, true, DP_CTRL_STAT, &stat));
    return ack == DAP_ACK_OK && (stat & CTRL_STICKY) ? DAP_ACK_FAULT : ack;
}

/* On SWD the last read that was taken still has its value in RDBUFF. */
static enum dap_ack fetch_last(struct cmsis_dap *c, struct block *b, uint32_t at)
{
    uint32_t value = 0;
    enum dap_ack ack = acknowledge(c, cmsis_dap_port_dp(&c->port, true, DP_RDBUFF, &value));
    if (ack == DAP_ACK_OK && b->read)
        b->values[at] = value;
    return ack;
}

static enum dap_ack block_through(struct cmsis_dap *c, struct block *b, uint32_t *done)
{
    struct deadline limit = deadline_in(c->clock, WAIT_NS);
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
            else if (ack != DAP_ACK_WAIT || (idle >= WAIT_ROUNDS && deadline_passed(&limit)))
                return ack;
        }
        if (*done > before) {
            limit = deadline_in(c->clock, WAIT_NS);
            idle = 0;
        } else if (++idle > WAIT_ROUNDS && deadline_passed(&limit)) {
            return DAP_ACK_WAIT;
        }
    }
    return DAP_ACK_OK;
}

/* A single word: no need for a block, and on JTAG its look at CTRL/STAT rides along. */
static enum dap_ack single(struct cmsis_dap *c, struct block *b)
{
    struct deadline limit = deadline_in(c->clock, WAIT_NS);
    for (unsigned i = 0;; i++) {
        struct list l;
        enum dap_ack ack = run_one(c, &l, b->request, b->values);
        if (ack != DAP_ACK_WAIT || c->port.jtag || (i >= WAIT_ROUNDS && deadline_passed(&limit)))
            return ack;
    }
}

static enum dap_ack cmsis_dap_block(void *ctx, bool read, uint8_t addr, uint32_t *values, uint32_t count,
                                    uint32_t *done)
{
    struct cmsis_dap *c = ctx;
    struct block b = {.read = read, .values = values, .count = count};
    b.request = (uint8_t)(addr | REQUEST_AP | (read ? REQUEST_READ : 0));
    *done = 0;
    c->taken = false;
    if (!ready(c))
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

static void cmsis_dap_explain(void *ctx, struct diag *d)
{
    const struct cmsis_dap *c = ctx;
    const struct diag *why = probe_failed(c) ? cmsis_dap_probe_why(c->port.probe) : &c->why;
    if (d && why->code != CORRAL_OK)
        *d = *why;
}

static enum corral_err cmsis_dap_drive_reset(void *ctx, bool asserted, struct diag *d)
{
    struct cmsis_dap *c = ctx;
    uint8_t request[7] = {CMD_SWJ_PINS, asserted ? 0 : PIN_NRESET, PIN_NRESET};
    store_le32(request + 3, PINS_WAIT_US); /* until the pin is where it is to be */
    const uint8_t *answer = cmsis_dap_probe_ask(c->port.probe, request, sizeof(request), 2);
    if (!answer) {
        struct diag own = DIAG_INIT;
        d = d ? d : &own;
        cmsis_dap_explain(c, d);
        return d->code;
    }
    c->tar_known = c->step_known = c->taken = false;
    if (asserted && (answer[1] & PIN_NRESET)) {
        diag_set(d, CORRAL_ERR_UNSUPPORTED, "nRESET stays high though the probe %s was told to pull it low",
                 cmsis_dap_probe_name(c->port.probe));
        diag_hint(d, "is the reset line connected?");
        return CORRAL_ERR_UNSUPPORTED;
    }
    return CORRAL_OK;
}

static void cmsis_dap_set_deadline(void *ctx, int64_t when)
{
    struct cmsis_dap *c = ctx;
    cmsis_dap_probe_set_limit(c->port.probe, link_tcp_limit(c->clock, when));
}

static void cmsis_dap_close(void *ctx)
{
    static const uint8_t lamp[] = {CMD_HOST_STATUS, 0, 0}, disconnect[] = {CMD_DISCONNECT};
    struct cmsis_dap *c = ctx;
    if (!c)
        return;
    if (c->port.probe && !probe_failed(c)) {
        cmsis_dap_probe_set_limit(c->port.probe, link_tcp_now() + GOOD_BYE_MS);
        cmsis_dap_probe_do(c->port.probe, lamp, sizeof(lamp));
        cmsis_dap_probe_do(c->port.probe, disconnect, sizeof(disconnect));
    }
    cmsis_dap_probe_close(c->port.probe);
    free(c);
}

static const struct link_backend cmsis_dap_backend = {
    .caps = LINK_CAP_MEM | LINK_CAP_DAP,
    .dap = cmsis_dap_dap,
    .dap_block = cmsis_dap_block,
    .flush = cmsis_dap_flush,
    .explain = cmsis_dap_explain,
    .drive_reset = cmsis_dap_drive_reset,
    .set_deadline = cmsis_dap_set_deadline,
    .close = cmsis_dap_close,
};

/* The words behind "?": TARGETSEL. */
static bool parse_tail(const char *tail, struct cmsis_dap_port *p, struct diag *d)
{
    char *end = NULL;
    if (!tail)
        return true;
    if (strncmp(tail, TARGETSEL_WORD, strlen(TARGETSEL_WORD)) == 0) {
        const char *number = tail + strlen(TARGETSEL_WORD);
        unsigned long long v = *number >= '0' && *number <= '9' ? strtoull(number, &end, 0) : 0;
        if (end && *end == '\0' && v <= UINT32_MAX && (v & 1u)) {
            p->multidrop = true;
            p->targetsel = (uint32_t)v;
            return true;
        }
    }
    diag_set(d, CORRAL_ERR_USAGE,
             "--link cmsis-dap: behind '?' stands targetsel= with a number of 32 bits, odd");
    diag_hint(d, "for example --link \"cmsis-dap?targetsel=0x01002927\"");
    return false;
}

struct link *link_cmsis_dap_open_wire(const struct cmsis_dap_wire *wire, const char *spec,
                                      const struct link_options *options, struct host_clock *clock,
                                      struct diag *d)
{
    struct diag own = DIAG_INIT;
    d = d ? d : &own;
    struct cmsis_dap *c = calloc(1, sizeof(*c));
    if (!c || !parse_tail(strchr(spec, '?'), &c->port, d)) {
        if (!c)
            diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        wire->ops->close(wire->ctx);
        free(c);
        return NULL;
    }
    c->clock = clock;
    c->port.probe = cmsis_dap_probe_open(wire, link_tcp_open_limit(options), d);
    uint32_t ctrl = 0;
    bool good = c->port.probe != NULL;
    if (good && !cmsis_dap_port_connect(&c->port, options)) {
        *d = c->port.why;
        good = false;
    }
    if (good && c->port.jtag) { /* what was requested before us stays so */
        if (cmsis_dap_port_dp(&c->port, true, DP_CTRL_STAT, &ctrl) == DAP_ACK_OK)
            c->ctrl = ctrl & 0x54000000u;
    }
    if (good)
        cmsis_dap_probe_set_limit(c->port.probe, INT64_MAX);
    struct link *link = good ? link_new(&cmsis_dap_backend, c, spec, clock) : NULL;
    if (good && !link)
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    if (!link)
        cmsis_dap_close(c);
    return link;
}

struct link *link_cmsis_dap_open(const char *spec, const struct link_options *options,
                                 struct host_clock *clock, struct diag *d)
{
    struct diag own = DIAG_INIT;
    struct cmsis_dap_port tail = {0};
    struct cmsis_dap_wire wire;
    d = d ? d : &own;
    const char *words = spec + strlen("cmsis-dap");
    const char *end = strchr(spec, '?');
    char *where = strndup(words, (size_t)((end ? end : spec + strlen(spec)) - words));
    if (!where) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    bool open = parse_tail(end, &tail, d);
    if (open && strncmp(where, ":tcp:", 5) == 0)
        open = cmsis_dap_tcp_open(&wire, where + 5, link_tcp_left(link_tcp_open_limit(options), INT_MAX), d);
    else if (open)
        open = cmsis_dap_usb_open(&wire, where[0] ? where + 1 : "", d);
    free(where);
    return open ? link_cmsis_dap_open_wire(&wire, spec, options, clock, d) : NULL;
}

bool link_cmsis_dap_get_info(struct link *link, struct link_cmsis_dap_info *info)
{
    const struct cmsis_dap *c = link_backend_ctx(link, &cmsis_dap_backend);
    if (!c)
        return false;
    *info = *cmsis_dap_probe_info(c->port.probe);
    info->connected = c->port.jtag ? LINK_PROTOCOL_JTAG : LINK_PROTOCOL_SWD;
    info->dpidr = c->port.dpidr;
    return true;
}
