/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See cmsis_dap_access.h. DP and AP accesses by DAP_Transfer.
 *
 * The probe does what posted reads need by itself: an answer has the value of its own read, and behind the
 * last of a command's accesses the probe waits for it. So where a command fails, its count includes one
 * access that the port has taken but whose end nobody has seen: that one is never repeated, and never called
 * done.
 *
 * JTAG shows no FAULT; there CTRL/STAT is read behind what reads or writes memory (case B21).
 */
#include "link/cmsis_dap_access.h"

#include <string.h>

#include "base/bytes.h"

#define CTRL_WDATAERR    0x80u
#define CTRL_ORUNDETECT  0x01u
#define ABORT_DAPABORT   0x01u
#define ABORT_STKCMPCLR  0x02u
#define ABORT_STKERRCLR  0x04u
#define ABORT_ORUNERRCLR 0x10u
#define CSW_SIZE         0x07u
#define CSW_INC          0x30u
#define CSW_INC_SINGLE   0x10u
#define REQUESTS_MAX     255u /* of a DAP_Transfer */

static bool probe_failed(const struct cmsis_dap *c)
{
    return cmsis_dap_probe_failed(c->port.probe);
}

enum dap_ack cmsis_dap_nonsense(struct cmsis_dap *c, const char *what)
{
    cmsis_dap_probe_refuse(c->port.probe, what);
    return DAP_ACK_NONE;
}

enum dap_ack cmsis_dap_acknowledge(struct cmsis_dap *c, unsigned response)
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

void cmsis_dap_list_begin(struct cmsis_dap_list *l, const struct cmsis_dap *c)
{
    l->packet[0] = CMD_TRANSFER;
    l->packet[1] = c->port.index;
    l->size = l->answer = 3;
    l->count = l->reads = 0;
}

bool cmsis_dap_list_add(struct cmsis_dap_list *l, const struct cmsis_dap *c, uint8_t request, uint32_t value)
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

bool cmsis_dap_list_send(struct cmsis_dap *c, const struct cmsis_dap_list *l)
{
    return cmsis_dap_probe_send(c->port.probe, l->packet, l->size);
}

enum dap_ack cmsis_dap_list_take(struct cmsis_dap *c, unsigned count, unsigned reads, unsigned *done,
                                 const uint8_t **data)
{
    size_t size = 0;
    *done = 0;
    const uint8_t *answer = cmsis_dap_probe_take(c->port.probe, 3, &size);
    if (!answer)
        return DAP_ACK_NONE;
    unsigned response = answer[2];
    if (answer[1] > count || (response == DAP_ACK_OK && answer[1] != count))
        return cmsis_dap_nonsense(c, "counts other transfers than it was asked for");
    if (response == DAP_ACK_OK && size < 3 + 4 * (size_t)reads)
        return cmsis_dap_nonsense(c, "sent fewer words than it was asked for");
    *done = answer[1];
    *data = answer + 3;
    return cmsis_dap_acknowledge(c, response);
}

static void list_add_queue(struct cmsis_dap_list *l, const struct cmsis_dap *c)
{
    for (unsigned i = 0; i < c->queued; i++)
        cmsis_dap_list_add(l, c, c->queue[i].request, c->queue[i].value);
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

enum dap_ack cmsis_dap_flush(void *ctx)
{
    struct cmsis_dap *c = ctx;
    struct deadline limit = deadline_in(c->clock, CMSIS_DAP_WAIT_NS);
    enum dap_ack ack = DAP_ACK_OK;
    for (unsigned i = 0; c->queued && ack != DAP_ACK_NONE; i++) {
        struct cmsis_dap_list l;
        const uint8_t *data = NULL;
        unsigned done = 0;
        cmsis_dap_list_begin(&l, c);
        list_add_queue(&l, c);
        ack = cmsis_dap_list_send(c, &l) ? cmsis_dap_list_take(c, l.count, 0, &done, &data) : DAP_ACK_NONE;
        settle_queue(c, ack, done);
        if (ack == DAP_ACK_FAULT ||
            (ack == DAP_ACK_WAIT && i >= CMSIS_DAP_WAIT_ROUNDS && deadline_passed(&limit)))
            break;
        ack = ack == DAP_ACK_WAIT && !c->queued ? DAP_ACK_OK : ack;
    }
    return ack;
}

enum dap_ack cmsis_dap_one(struct cmsis_dap *c, uint8_t request, uint32_t *value)
{
    struct cmsis_dap_list own, *l = &own;
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
    cmsis_dap_list_begin(l, c);
    list_add_queue(l, c);
    ahead = l->count;
    if (!cmsis_dap_list_add(l, c, actual, *value) ||
        (look && !cmsis_dap_list_add(l, c, DP_CTRL_STAT | REQUEST_READ, 0)))
        return cmsis_dap_nonsense(c, "has no room for a transfer");
    if (!cmsis_dap_list_send(c, l))
        return DAP_ACK_NONE;
    enum dap_ack ack = cmsis_dap_list_take(c, l->count, l->reads, &done, &data);
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
    return c->queued < CMSIS_DAP_QUEUE && (ap ? mem_ap && addr <= AP_TARH : addr == DP_SELECT);
}

/* The acknowledge of a write of CTRL/STAT, whatever bank of DP registers is selected. */
static enum dap_ack write_ctrl(struct cmsis_dap *c, uint32_t value)
{
    uint32_t bank = c->select_known ? c->select & DPBANKSEL : 0, select = c->select & ~DPBANKSEL;
    unsigned ack = DAP_ACK_OK;
    if (bank)
        ack = cmsis_dap_port_dp(&c->port, false, DP_SELECT, &select);
    if (ack == DAP_ACK_OK)
        ack = cmsis_dap_port_dp(&c->port, false, DP_CTRL_STAT, &value);
    if (ack == DAP_ACK_OK && bank)
        ack = cmsis_dap_port_dp(&c->port, false, DP_SELECT, &c->select);
    return cmsis_dap_acknowledge(c, ack);
}

/* A JTAG-DP has only DAPABORT there, and sticky bits are cleared by writing them. */
enum dap_ack cmsis_dap_abort(struct cmsis_dap *c, uint32_t value)
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
                cmsis_dap_acknowledge(c, DAP_ACK_NONE);
            return DAP_ACK_NONE;
        }
    }
    return c->port.jtag && sticky ? write_ctrl(c, c->ctrl | sticky) : DAP_ACK_OK;
}

bool cmsis_dap_ready(struct cmsis_dap *c, bool first)
{
    if (probe_failed(c))
        return false;
    if (c->lost || c->moved) {
        c->taken = c->owed = c->select_known = false;
        c->queued = 0;
    }
    /* On SWD the port may be as it was left. */
    bool there = !c->lost && (!c->moved || (!c->port.jtag && (first || cmsis_dap_port_answers(&c->port))));
    bool found = there || (c->moved ? cmsis_dap_port_find(&c->port) : cmsis_dap_port_recover(&c->port));
    if (!found) {
        c->why = c->port.why;
        return false;
    }
    c->lost = c->moved = false;
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

/* Nobody acknowledges this write (case B22): who is meant now shows when DPIDR is read. */
static enum dap_ack select_target(struct cmsis_dap *c, uint32_t value)
{
    enum dap_ack ack = cmsis_dap_flush(c);
    c->select_known = c->tar_known = c->step_known = c->taken = false;
    if (ack == DAP_ACK_OK && !cmsis_dap_port_select(&c->port, value)) {
        c->why = c->port.why;
        return DAP_ACK_NONE;
    }
    return ack;
}

enum dap_ack cmsis_dap_dap(void *ctx, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    struct cmsis_dap *c = ctx;
    uint32_t data = *value;
    if (!cmsis_dap_ready(c, !ap && (read ? addr == DP_DPIDR : addr == DP_TARGETSEL)))
        return DAP_ACK_NONE;
    if (!ap && !read && addr == DP_ABORT)
        return cmsis_dap_abort(c, data);
    if (!ap && !read && addr == DP_TARGETSEL && !c->port.jtag)
        return select_target(c, data);
    if (!ap && !read && addr == DP_CTRL_STAT && c->port.jtag && !(c->select & DPBANKSEL)) {
        /* as on SWD, where these cannot be written */
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
    enum dap_ack ack = cmsis_dap_one(c, request, &data);
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
