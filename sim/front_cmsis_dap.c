/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CMSIS-DAP front: Arm's probe protocol, version 2, over TCP in the frames that OpenOCD uses for it
 * (after 0.12): 8 bytes "DAP\0", length, kind (1 request, 2 answer), 0; then the packet. SWD only, no SWO.
 *
 * A command that is cut or not known is answered with 0xFF. A frame that is none ends the connection.
 * Commands in one packet are carried out back to back; queued ones at once, since TCP keeps their order all
 * the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "sim/front_transfer.h"

#define HEADER_SIZE  8u
#define SIGNATURE    0x00504144u
#define KIND_REQUEST 1u
#define KIND_ANSWER  2u
#define PACKET_MAX   1024u
#define PACKETS      4u /* that a client may have under way */

#define CAPABILITIES 0x11u /* SWD, atomic commands */
#define PORT_SWD     1u
#define INVALID      0xFFu
#define FAILED       0xFFu

#define COMMAND_EXECUTE 0x7Fu
#define COMMAND_QUEUE   0x7Eu
#define BUDGET          20000u /* transfers that one packet may make */
#define WAIT_MAX_US     65535u /* that one packet may ask for */
#define RESET_PIN       0x80u  /* nRESET */
#define PINS            0x83u  /* with SWCLK and SWDIO */

struct cmsis_dap {
    struct front front;
    struct front_transfer transfer;
    bool connected;
    uint8_t pins;
    uint32_t wait_left_us; /* of this packet */
};

static void give_text(struct front_answer *a, const char *text)
{
    size_t size = strlen(text) + 1;

    front_give(a, 1, (uint32_t)size);
    for (size_t i = 0; i < size; i++)
        front_give(a, 1, (uint8_t)text[i]);
}

static void info(struct front_answer *a, uint8_t id)
{
    switch (id) {
    case 0x01:
        give_text(a, "Corral");
        break;
    case 0x02:
        give_text(a, "Corral board CMSIS-DAP");
        break;
    case 0x03:
        give_text(a, "CORRALBOARD");
        break;
    case 0x04: /* of the protocol */
        give_text(a, "2.1.1");
        break;
    case 0x09:
        give_text(a, CORRAL_VERSION);
        break;
    case 0xF0:
        front_give(a, 2, 1 | CAPABILITIES << 8);
        break;
    case 0xFE:
        front_give(a, 2, 1 | PACKETS << 8);
        break;
    case 0xFF:
        front_give(a, 3, 2 | PACKET_MAX << 8);
        break;
    default:
        front_give(a, 1, 0);
        break;
    }
}

/* The probe waits, and the board's time goes on. */
static void delay(struct cmsis_dap *c, uint32_t us)
{
    struct board *b = c->front.board;

    if (us > c->wait_left_us)
        us = c->wait_left_us;
    c->wait_left_us -= us;
    board_run_until(b, board_tick(b) + board_tick_hz(b) / 1000000u * us);
}

static void idle_bits(struct cmsis_dap *c, unsigned bits)
{
    board_dap_idle(c->front.board, bits);
}

static void swj_sequence(struct cmsis_dap *c, struct front_request *r, struct front_answer *a)
{
    unsigned bits = front_take(r, 1);

    bits = bits ? bits : 256;
    for (unsigned i = 0; i < (bits + 7) / 8; i++)
        front_take(r, 1);
    if (!r->cut)
        idle_bits(c, bits);
    front_give(a, 1, 0);
}

/* Bits as they are: nobody drives the line, so what is read is ones. */
static void swd_sequence(struct cmsis_dap *c, struct front_request *r, struct front_answer *a)
{
    unsigned count = front_take(r, 1);

    front_give(a, 1, 0);
    for (unsigned i = 0; i < count && !r->cut; i++) {
        unsigned kind = front_take(r, 1), bits = kind & 0x3Fu ? kind & 0x3Fu : 64;
        for (unsigned n = 0; n < (bits + 7) / 8; n++) {
            if (kind & 0x80u)
                front_give(a, 1, 0xFF);
            else
                front_take(r, 1);
        }
        if (!r->cut)
            idle_bits(c, bits);
    }
}

/* JTAG's clocks pass, but there is no JTAG: refused, and no TDO. */
static void jtag_sequence(struct cmsis_dap *c, struct front_request *r, struct front_answer *a)
{
    unsigned count = front_take(r, 1);

    front_give(a, 1, FAILED);
    for (unsigned i = 0; i < count && !r->cut; i++) {
        unsigned kind = front_take(r, 1), bits = kind & 0x3Fu ? kind & 0x3Fu : 64;
        for (unsigned n = 0; n < (bits + 7) / 8; n++)
            front_take(r, 1);
        if (!r->cut)
            idle_bits(c, bits);
    }
}

static void swj_pins(struct cmsis_dap *c, struct front_request *r, struct front_answer *a)
{
    uint8_t output = (uint8_t)front_take(r, 1), mask = (uint8_t)front_take(r, 1);

    front_take(r, 4); /* how long to wait for the pins, which are there at once */
    if (!r->cut) {
        c->pins = (c->pins & (uint8_t)~mask) | (output & mask);
        c->front.pulls_reset = !(c->pins & RESET_PIN);
        board_pin_reset(c->front.board, c->front.pulls_reset);
    }
    front_give(a, 1, c->pins & PINS);
}

static void configure_transfers(struct cmsis_dap *c, struct front_request *r, struct front_answer *a)
{
    c->transfer.idle = (uint8_t)front_take(r, 1);
    c->transfer.wait_retry = (uint16_t)front_take(r, 2);
    c->transfer.match_retry = (uint16_t)front_take(r, 2);
    front_give(a, 1, 0);
}

static void write_abort(struct cmsis_dap *c, struct front_request *r, struct front_answer *a)
{
    front_take(r, 1);
    uint32_t value = front_take(r, 4);
    if (!r->cut)
        front_give(a, 1, front_transfer_write(&c->transfer, 0, value) == 1 ? 0 : FAILED);
}

static void connect_port(struct cmsis_dap *c, struct front_request *r, struct front_answer *a)
{
    bool swd = front_take(r, 1) <= PORT_SWD; /* 0 is the probe's default */

    c->connected = swd && !r->cut;
    front_give(a, 1, c->connected ? PORT_SWD : 0);
}

/* One command but for its first byte. False = it is not known. */
static bool command(struct cmsis_dap *c, uint8_t id, struct front_request *r, struct front_answer *a)
{
    switch (id) {
    case 0x00:
        info(a, (uint8_t)front_take(r, 1));
        return true;
    case 0x01: /* the lamps */
        front_take(r, 2);
        front_give(a, 1, 0);
        return true;
    case 0x02:
        connect_port(c, r, a);
        return true;
    case 0x03:
        c->connected = false;
        front_give(a, 1, 0);
        return true;
    case 0x04:
        configure_transfers(c, r, a);
        return true;
    case 0x05:
        front_transfer_list(&c->transfer, r, a);
        return true;
    case 0x06:
        front_transfer_block(&c->transfer, r, a);
        return true;
    case 0x08:
        write_abort(c, r, a);
        return true;
    case 0x09:
        delay(c, front_take(r, 2));
        front_give(a, 1, 0);
        return true;
    case 0x0A: /* no sequence of its own for that */
        front_give(a, 2, 0);
        return true;
    case 0x10:
        swj_pins(c, r, a);
        return true;
    case 0x11: /* the wire has the board's clock whatever is asked for */
        front_give(a, 1, front_take(r, 4) ? 0 : FAILED);
        return true;
    case 0x12:
        swj_sequence(c, r, a);
        return true;
    case 0x13:
        front_take(r, 1);
        front_give(a, 1, 0);
        return true;
    case 0x14:
        jtag_sequence(c, r, a);
        return true;
    case 0x1D:
        swd_sequence(c, r, a);
        return true;
    default:
        return false;
    }
}

/* One command with its byte. False = nothing behind it can be made sense of. */
static bool answer_command(struct cmsis_dap *c, struct front_request *r, struct front_answer *a)
{
    size_t at = a->size;
    uint8_t id = (uint8_t)front_take(r, 1);

    front_give(a, 1, id);
    if (!r->cut && (c->connected || (id != 0x05 && id != 0x06)) && command(c, id, r, a) && !r->cut &&
        !a->full)
        return true;
    if (!r->cut && !c->connected && id == 0x05) {
        front_give(a, 2, 0); /* nothing done, no acknowledge; what follows is not looked at */
        return false;
    }
    a->size = at;
    front_give(a, 1, INVALID);
    return false;
}

static void packet(struct cmsis_dap *c, struct front_request *r, struct front_answer *a)
{
    c->transfer.budget = BUDGET;
    c->wait_left_us = WAIT_MAX_US;
    if (r->left == 0 || r->at[0] == 0x07) /* an abort of transfers that are over; it has no answer */
        return;
    if (r->at[0] != COMMAND_EXECUTE && r->at[0] != COMMAND_QUEUE) {
        answer_command(c, r, a);
        return;
    }
    front_take(r, 1);
    unsigned count = front_take(r, 1), done = 0;
    front_give(a, 2, COMMAND_EXECUTE);
    while (done < count && answer_command(c, r, a))
        done++;
    a->data[1] = (uint8_t)(done < count ? done + 1 : done); /* with the one that ended it */
}

/* Returns false when the frame, or the room for its answer, is not whole yet. */
static bool frame(struct cmsis_dap *c, struct front_io *io)
{
    const uint8_t *m = io->in + io->used;
    size_t offered = io->size - io->used;

    if (offered < HEADER_SIZE)
        return false;
    size_t size = load_le(m + 4, 2);
    if (load_le(m, 4) != SIGNATURE || m[6] != KIND_REQUEST || size > PACKET_MAX) {
        io->close = true;
        return false;
    }
    if (offered < HEADER_SIZE + size || io->room - io->filled < HEADER_SIZE + PACKET_MAX)
        return false;
    uint8_t *answer = io->out + io->filled;
    struct front_answer head = {.data = answer, .room = HEADER_SIZE};
    struct front_request r = {.at = m + HEADER_SIZE, .left = size};
    struct front_answer a = {.data = answer + HEADER_SIZE, .room = PACKET_MAX};
    packet(c, &r, &a);
    io->used += HEADER_SIZE + size;
    if (a.size == 0)
        return true;
    front_give(&head, 4, SIGNATURE);
    front_give(&head, 2, (uint32_t)a.size);
    front_give(&head, 2, KIND_ANSWER);
    io->filled += HEADER_SIZE + a.size;
    return true;
}

static void cmsis_dap_work(struct front *f, struct front_io *io)
{
    while (!io->close && frame((struct cmsis_dap *)f, io))
        ;
}

static void cmsis_dap_begin(struct front *f)
{
    struct cmsis_dap *c = (struct cmsis_dap *)f;

    c->transfer = (struct front_transfer){.front = f, .wait_retry = 100};
    c->connected = false;
    c->pins = PINS;
}

static struct front *cmsis_dap_make(struct board *b)
{
    struct cmsis_dap *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->front = (struct front){.kind = &front_cmsis_dap, .board = b};
    cmsis_dap_begin(&c->front);
    return &c->front;
}

static void cmsis_dap_release(struct front *f)
{
    free(f);
}

const struct front_kind front_cmsis_dap = {
    .name = "cmsis-dap",
    .make = cmsis_dap_make,
    .release = cmsis_dap_release,
    .begin = cmsis_dap_begin,
    .work = cmsis_dap_work,
};
