/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See front_jtag.h. The pins are sampled at the rising edge of TCK; TDO is the lowest bit of the shift
 * register. An access happens in Update-DR, and its answer is what the next Capture-DR finds; while the debug
 * port says WAIT the access stays pending and new ones are thrown away, as the acknowledge tells.
 *
 * Must not touch the board but by its debug port.
 */
#include "sim/front_jtag.h"

#include <stdlib.h>

enum tap {
    TAP_RESET,
    TAP_IDLE,
    TAP_SELECT_DR,
    TAP_CAPTURE_DR,
    TAP_SHIFT_DR,
    TAP_EXIT1_DR,
    TAP_PAUSE_DR,
    TAP_EXIT2_DR,
    TAP_UPDATE_DR,
    TAP_SELECT_IR,
    TAP_CAPTURE_IR,
    TAP_SHIFT_IR,
    TAP_EXIT1_IR,
    TAP_PAUSE_IR,
    TAP_EXIT2_IR,
    TAP_UPDATE_IR,
};

/* Next state by TMS. */
static const uint8_t next_state[16][2] = {
    [TAP_RESET] = {TAP_IDLE, TAP_RESET},
    [TAP_IDLE] = {TAP_IDLE, TAP_SELECT_DR},
    [TAP_SELECT_DR] = {TAP_CAPTURE_DR, TAP_SELECT_IR},
    [TAP_CAPTURE_DR] = {TAP_SHIFT_DR, TAP_EXIT1_DR},
    [TAP_SHIFT_DR] = {TAP_SHIFT_DR, TAP_EXIT1_DR},
    [TAP_EXIT1_DR] = {TAP_PAUSE_DR, TAP_UPDATE_DR},
    [TAP_PAUSE_DR] = {TAP_PAUSE_DR, TAP_EXIT2_DR},
    [TAP_EXIT2_DR] = {TAP_SHIFT_DR, TAP_UPDATE_DR},
    [TAP_UPDATE_DR] = {TAP_IDLE, TAP_SELECT_DR},
    [TAP_SELECT_IR] = {TAP_CAPTURE_IR, TAP_RESET},
    [TAP_CAPTURE_IR] = {TAP_SHIFT_IR, TAP_EXIT1_IR},
    [TAP_SHIFT_IR] = {TAP_SHIFT_IR, TAP_EXIT1_IR},
    [TAP_EXIT1_IR] = {TAP_PAUSE_IR, TAP_UPDATE_IR},
    [TAP_PAUSE_IR] = {TAP_PAUSE_IR, TAP_EXIT2_IR},
    [TAP_EXIT2_IR] = {TAP_SHIFT_IR, TAP_UPDATE_IR},
    [TAP_UPDATE_IR] = {TAP_IDLE, TAP_SELECT_DR},
};

#define IR_LENGTH FRONT_JTAG_IR_LENGTH
#define IR_ABORT  0x8u
#define IR_DPACC  0xAu
#define IR_APACC  0xBu
#define IR_IDCODE 0xEu

#define ACK_OK_FAULT    2u /* of a JTAG-DP: a fault shows in CTRL/STAT only */
#define ACK_WAIT        1u
#define ACK6_OK         4u /* ADIv6 tells them apart */
#define ACK6_FAULT      2u
#define CTRL_STAT       0x4u
#define CTRL_STICKY     0x32u /* write 1 to clear, on a JTAG-DP */
#define ABORT_CLEAR_ALL 0x1Eu
#define DP_ABORT        0x0u
#define DP_RDBUFF       0xCu

enum transfer { TRANSFER_OK = 1, TRANSFER_WAIT = 2 }; /* board_dap_access */

struct jtag {
    struct front front;
    unsigned state; /* of the TAP controller */
    unsigned ir;
    uint64_t shift;
    unsigned length;  /* of the register in `shift` */
    uint32_t result;  /* of the last access */
    uint64_t clocks;  /* wire clocks that the board has not seen yet */
    uint64_t request; /* the access that waits: what was shifted in */
    bool pending, pending_ap;
    bool faulted; /* the last access */
    bool waiting; /* Capture-DR answered WAIT: this scan's access does not count */
    bool tck;
};

static void pass_clocks(struct jtag *j)
{
    if (j->clocks)
        board_dap_idle(j->front.board, j->clocks);
    j->clocks = 0;
}

/* `again`: this access has been answered with WAIT before. */
static unsigned transfer(struct jtag *j, bool again, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    struct board *b = j->front.board;

    pass_clocks(j);
    j->front.transfers++;
    return again ? board_dap_access_again(b, ap, read, addr, value)
                 : board_dap_access(b, ap, read, addr, value);
}

static void clear_sticky(struct jtag *j)
{
    uint32_t value = ABORT_CLEAR_ALL;
    transfer(j, false, false, false, DP_ABORT, &value);
}

/* The pending access once more; it stays pending when the debug port says WAIT. */
static void perform(struct jtag *j)
{
    bool ap = j->pending_ap, again = j->pending;
    bool read = j->request & 1u;
    uint8_t addr = (uint8_t)((j->request >> 1 & 3u) << 2);
    uint32_t value = (uint32_t)(j->request >> 3);
    unsigned ack;

    j->pending = j->faulted = false;
    j->result = 0;
    if (!ap && !read && addr == DP_ABORT) /* a JTAG-DP has an instruction for it */
        return;
    if (!ap && !read && addr == CTRL_STAT && (value & CTRL_STICKY)) {
        clear_sticky(j);
        value &= ~CTRL_STICKY;
    }
    ack = transfer(j, again, ap, read, addr, &value);
    if (ack == TRANSFER_OK && ap && read) /* what the access gave, not the one before */
        ack = transfer(j, again, false, true, DP_RDBUFF, &value);
    if (ack == TRANSFER_OK && read)
        j->result = value;
    j->pending = ack == TRANSFER_WAIT;
    j->faulted = ack != TRANSFER_OK && !j->pending;
}

static unsigned acknowledge(const struct jtag *j)
{
    if (j->waiting)
        return ACK_WAIT;
    if (!board_get_config(j->front.board)->adiv6)
        return ACK_OK_FAULT;
    return j->faulted ? ACK6_FAULT : ACK6_OK;
}

static void capture_access(struct jtag *j)
{
    if (j->pending)
        perform(j);
    j->waiting = j->pending;
    if (j->waiting) /* what is shifted in now is lost */
        board_dap_overrun(j->front.board);
    j->shift = (uint64_t)j->result << 3 | acknowledge(j);
    j->length = 35;
}

static void capture_dr(struct jtag *j)
{
    j->shift = 0;
    j->length = 1; /* BYPASS */
    if (j->ir == IR_IDCODE) {
        j->shift = FRONT_JTAG_IDCODE;
        j->length = 32;
    } else if (j->ir == IR_DPACC || j->ir == IR_APACC) {
        capture_access(j);
    } else if (j->ir == IR_ABORT) {
        j->length = 35;
    }
}

static void update_dr(struct jtag *j)
{
    if (j->ir == IR_ABORT) {
        j->pending = false;
        clear_sticky(j);
    } else if ((j->ir == IR_DPACC || j->ir == IR_APACC) && !j->waiting) {
        j->request = j->shift;
        j->pending_ap = j->ir == IR_APACC;
        perform(j);
    }
}

static void clock_edge(struct jtag *j, unsigned tms, unsigned tdi)
{
    j->clocks++;
    if (j->state == TAP_CAPTURE_DR) {
        capture_dr(j);
    } else if (j->state == TAP_CAPTURE_IR) {
        j->shift = 1;
        j->length = IR_LENGTH;
    } else if (j->state == TAP_SHIFT_DR || j->state == TAP_SHIFT_IR) {
        j->shift = j->shift >> 1 | (uint64_t)tdi << (j->length - 1);
    }
    j->state = next_state[j->state][tms];
    if (j->state == TAP_RESET)
        j->ir = IR_IDCODE;
    else if (j->state == TAP_UPDATE_IR)
        j->ir = (unsigned)(j->shift & 0xFu);
    else if (j->state == TAP_UPDATE_DR)
        update_dr(j);
}

static void jtag_begin(struct front *f)
{
    struct jtag *j = (struct jtag *)f;

    j->state = TAP_RESET;
    j->ir = IR_IDCODE;
    j->shift = j->clocks = j->result = 0;
    j->length = 1;
    j->pending = j->waiting = j->faulted = j->tck = false;
}

/* One character; true with *answer where it asks for TDO. What is no character of the protocol does nothing.
 */
static bool character(struct jtag *j, char c, uint8_t *answer)
{
    if (c == 'R') {
        bool shifting = j->state == TAP_SHIFT_DR || j->state == TAP_SHIFT_IR;
        *answer = shifting && (j->shift & 1u) ? '1' : '0';
        return true;
    }
    if (c >= '0' && c <= '7') {
        unsigned pins = (unsigned)(c - '0');
        bool tck = pins >> 2 & 1u;
        if (tck && !j->tck)
            clock_edge(j, pins >> 1 & 1u, pins & 1u);
        j->tck = tck;
    } else if (c >= 'r' && c <= 'u') { /* TRST and SRST: none, SRST, TRST, both */
        unsigned lines = (unsigned)(c - 'r');
        if (lines >> 1) {
            j->state = TAP_RESET;
            j->ir = IR_IDCODE;
        }
        pass_clocks(j);
        j->front.pulls_reset = lines & 1u;
        board_pin_reset(j->front.board, j->front.pulls_reset);
    }
    return false;
}

static void jtag_work(struct front *f, struct front_io *io)
{
    struct jtag *j = (struct jtag *)f;

    while (io->used < io->size && io->filled < io->room && !io->close) {
        uint8_t c = io->in[io->used++];
        if (c == 'Q')
            io->close = true;
        else if (character(j, (char)c, io->out + io->filled))
            io->filled++;
    }
    pass_clocks(j);
}

static struct front *jtag_make(struct board *b)
{
    struct jtag *j = calloc(1, sizeof(*j));

    if (!j)
        return NULL;
    j->front = (struct front){.kind = &front_jtag, .board = b};
    jtag_begin(&j->front);
    return &j->front;
}

static void jtag_release(struct front *f)
{
    free(f);
}

const struct front_kind front_jtag = {
    .name = "jtag",
    .make = jtag_make,
    .release = jtag_release,
    .begin = jtag_begin,
    .work = jtag_work,
};
