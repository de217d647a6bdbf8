/* SPDX-License-Identifier: Apache-2.0 */
/* See cmsis_dap_peer.h. */
#include "tests/unit/link/cmsis_dap_peer.h"

#include <setjmp.h>
#include <stdarg.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "sim/front.h"

#define HEADER 8u

enum { ACK_OK = 1, ACK_WAIT = 2, ACK_FAULT = 4 };
enum { TAP_RESET, TAP_IDLE, TAP_CAPTURE_DR = 3, TAP_SHIFT_DR = 4, TAP_CAPTURE_IR = 10, TAP_SHIFT_IR = 11 };

/* Next state by TMS: reset, idle, the seven of DR, the seven of IR, in IEEE 1149.1's order. */
static const uint8_t next_state[16][2] = {
    {1, 0}, {1, 2},  {3, 9},   {4, 5},   {4, 5},   {6, 8},   {6, 7},   {4, 8},
    {1, 2}, {10, 0}, {11, 12}, {11, 12}, {13, 15}, {13, 14}, {11, 15}, {1, 2},
};

static void front_packet(struct cmsis_dap_peer *p, const uint8_t *in, size_t size, uint8_t *out, size_t *n)
{
    static uint8_t from[HEADER + 2048], to[2 * (HEADER + 2048)];
    struct front_io io = {.in = from, .size = HEADER + size, .out = to, .room = sizeof(to)};
    memcpy(from, "DAP\0", 4);
    store_le16(from + 4, (uint16_t)size);
    from[6] = 1;
    from[7] = 0;
    memcpy(from + HEADER, in, size);
    p->front->kind->work(p->front, &io);
    assert_false(io.close);
    assert_int_equal(io.used, io.size);
    *n = io.filled ? io.filled - HEADER : 0;
    memcpy(out, to + HEADER, *n);
}

/* One clock of the chain; the answer is TDO before it. */
static unsigned clock_chain(struct cmsis_dap_peer *p, unsigned tms, unsigned tdi)
{
    unsigned tdo = p->tap[p->taps - 1].shift & 1u, in = tdi;
    for (unsigned i = 0; i < p->taps; i++) {
        unsigned out = p->tap[i].shift & 1u;
        if (p->tap_state == TAP_CAPTURE_DR) {
            bool id = p->tap[i].ir == 0xE;
            p->tap[i].shift = id ? p->tap[i].idcode : 0;
            p->tap[i].length = id ? 32 : 1;
        } else if (p->tap_state == TAP_CAPTURE_IR) {
            p->tap[i].shift = 1;
            p->tap[i].length = p->tap[i].ir_length;
        } else if (p->tap_state == TAP_SHIFT_DR || p->tap_state == TAP_SHIFT_IR) {
            p->tap[i].shift = p->tap[i].shift >> 1 | (uint32_t)in << (p->tap[i].length - 1);
        }
        in = out;
    }
    p->tap_state = next_state[p->tap_state][tms];
    for (unsigned i = 0; i < p->taps; i++) {
        if (p->tap_state == TAP_RESET)
            p->tap[i].ir = 0xE;
        if (p->tap_state == 15)
            p->tap[i].ir = p->tap[i].shift & 0xFu;
    }
    return tdo;
}

static void jtag_sequence(struct cmsis_dap_peer *p, const uint8_t *in, size_t size, uint8_t *out, size_t *n)
{
    size_t at = 2;
    out[1] = 0;
    *n = 2;
    for (unsigned s = 0; s < in[1]; s++) {
        unsigned info = in[at++], bits = info & 0x3Fu ? info & 0x3Fu : 64;
        assert_true(at + (bits + 7) / 8 <= size);
        for (unsigned i = 0; i < bits; i++) {
            unsigned tdo = clock_chain(p, info >> 6 & 1u, in[at + i / 8] >> (i % 8) & 1u);
            if ((info & 0x80u) && i % 8 == 0)
                out[(*n)++] = 0;
            if (info & 0x80u)
                out[*n - 1] |= (uint8_t)(tdo << (i % 8));
        }
        at += (bits + 7) / 8;
    }
}

/* One access as a JTAG-DP takes it: no FAULT, errors are sticky. */
static unsigned jtag_access(struct cmsis_dap_peer *p, uint8_t request, uint32_t *value)
{
    bool ap = request & 1u, read = request & 2u;
    uint8_t addr = request & 0xCu;
    unsigned ack = ACK_WAIT;
    if (!ap && read && addr == 0) {
        *value = 0;
        return ACK_OK;
    }
    if (!ap && !read && addr == 8)
        p->bank = *value & 0xFu;
    if (!ap && !read && addr == 4 && (*value & 0x30u)) {
        uint32_t clear = 0x1E;
        p->wrong += p->bank != 0; /* it is not CTRL/STAT that is written */
        board_dap_access(p->board, false, false, 0, &clear);
    }
    for (unsigned i = 0; i < 2000 && ack == ACK_WAIT; i++)
        ack = board_dap_transfer(p->board, ap, read, addr, value);
    if (ack == ACK_OK && ap && read)
        ack = board_dap_transfer(p->board, false, true, 0xC, value);
    return ack == ACK_FAULT ? ACK_OK : ack;
}

static void jtag_transfer(struct cmsis_dap_peer *p, const uint8_t *in, size_t size, uint8_t *out, size_t *n)
{
    bool block = in[0] == 6;
    unsigned count = block ? load_le16(in + 2) : in[2], done = 0, ack = ACK_OK;
    size_t at = block ? 5 : 3;
    *n = block ? 4 : 3;
    assert_true(in[1] < p->ir_lengths && p->ir_length[in[1]] == 4);
    p->wrong += p->tap_state != TAP_IDLE; /* no probe would find the chain there */
    for (unsigned i = 0; i < count && ack == ACK_OK; i++) {
        uint8_t request = block ? in[4] : in[at++];
        uint32_t value = 0;
        if (!(request & 2u)) {
            value = load_le32(in + at);
            at += 4;
        }
        assert_true(at <= size);
        ack = jtag_access(p, request, &value);
        done += ack == ACK_OK;
        if (ack == ACK_OK && (request & 2u)) {
            store_le32(out + *n, value);
            *n += 4;
        }
    }
    if (block)
        store_le16(out + 1, (uint16_t)done);
    else
        out[1] = (uint8_t)done;
    out[block ? 3 : 2] = (uint8_t)ack;
}

static bool is_selected(const struct cmsis_dap_peer *p)
{
    return p->options.instances == 0 ||
           ((p->selected & 0x0FFFFFFFu) == PEER_TARGETSEL && p->selected >> 28 < p->options.instances);
}

/* What a wire without anybody on it gives. */
static bool deaf(struct cmsis_dap_peer *p, const uint8_t *in, uint8_t *out, size_t *n)
{
    bool first = in[0] == 5 && in[2] >= 1 && in[3] == 2;
    if (p->jtag || (p->awake && is_selected(p) && (!p->fresh || first))) {
        p->fresh = false;
        return false;
    }
    *n = out[0] == 6 ? 4 : 3;
    memset(out + 1, 0, *n);
    out[*n - 1] = 7;
    return true;
}

static void watch_wire(struct cmsis_dap_peer *p, const uint8_t *in)
{
    static const uint8_t alert[4] = {0x92, 0xF3, 0x09, 0x62};
    if (in[0] == 0x12 && in[1] == 128 && memcmp(in + 2, alert, 4) == 0)
        p->awake = true;
    static const uint8_t high[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    if (in[0] == 0x12) {
        p->swj_bits = in[1];
        memcpy(p->swj, in + 2, (in[1] ? in[1] + 7u : 256u) / 8u);
    }
    if (in[0] == 0x10) {
        memcpy(p->pins, in + 1, 2);
        p->pins_wait = load_le32(in + 3);
    }
    if (in[0] == 0x12 && in[1] >= 50 && memcmp(in + 2, high, 6) == 0 && (in[8] & 3u) == 3) {
        p->line_resets++;
        p->fresh = true;
        p->selected = p->options.instances ? 0 : p->selected; /* nobody until TARGETSEL */
    }
    if (in[0] == 0x12 && p->jtag)
        for (unsigned i = 0; i < (in[1] ? in[1] : 256u); i++)
            clock_chain(p, in[2 + i / 8] >> (i % 8) & 1u, 1);
    /* A write of TARGETSEL: eight bits, five of turnaround and acknowledge, 33. */
    if (in[0] == 0x1D && in[1] == 3 && in[2] == 8 && in[3] == 0x99 && in[4] == 0x85 && in[5] == 33) {
        p->selected = load_le32(in + 6);
        p->wrong += (unsigned)(__builtin_popcount(p->selected) & 1) != (in[10] & 1u);
    }
}

static void info(struct cmsis_dap_peer *p, uint8_t id, uint8_t *out, size_t *n)
{
    const struct cmsis_dap_peer_options *o = &p->options;
    if (id == 0xFF && (o->packet_size || o->announce_zero_size)) {
        store_le16(out + 2, (uint16_t)(o->announce_zero_size ? 0 : o->packet_size));
    } else if (id == 0xFE && (o->packet_count || o->announce_zero_count)) {
        out[2] = (uint8_t)(o->announce_zero_count ? 0 : o->packet_count);
    } else if (id == 0xF0) {
        out[2] = (uint8_t)((o->jtag_only ? 0 : 1) | (o->swd_only ? 0 : 2));
    } else if (id == 0x02 && o->long_text) {
        out[1] = 0xF0;
    }
    (void)n;
}

static void connect_port(struct cmsis_dap_peer *p, const uint8_t *in, uint8_t *out)
{
    bool jtag = in[1] == 2;
    p->jtag = jtag && !p->options.swd_only;
    out[1] = p->jtag ? 2 : jtag || p->options.jtag_only ? 0 : 1;
}

/* One packet as an honest probe takes it. */
static void honest(struct cmsis_dap_peer *p, const uint8_t *in, size_t size, uint8_t *out, size_t *n)
{
    static const uint8_t swd[] = {2, 1};
    out[0] = in[0];
    watch_wire(p, in);
    if ((in[0] == 5 || in[0] == 6) && deaf(p, in, out, n))
        return;
    if (in[0] == 2) {
        front_packet(p, swd, 2, out, n);
        connect_port(p, in, out);
    } else if (p->jtag && in[0] == 0x14) {
        jtag_sequence(p, in, size, out, n);
    } else if (p->jtag && in[0] == 0x15) {
        assert_true(in[1] <= 16 && size >= 2u + in[1]);
        p->ir_lengths = in[1];
        memcpy(p->ir_length, in + 2, in[1]);
        *n = 2;
        out[1] = 0;
    } else if (p->jtag && in[0] == 0x16) {
        *n = 6;
        out[1] = 0;
        store_le32(out + 2, p->tap[p->taps - 1 - in[1]].idcode);
    } else if (p->jtag && (in[0] == 5 || in[0] == 6)) {
        jtag_transfer(p, in, size, out, n);
    } else {
        front_packet(p, in, size, out, n);
    }
    if (in[0] == 0x10 && p->options.stuck_reset)
        out[1] = 0x80;
    if (in[0] == 0)
        info(p, in[1], out, n);
    if (in[0] == 0x11)
        p->clock_hz = load_le32(in + 1);
    if (in[0] == 0x03)
        p->hung_up++;
    /* DLPIDR: which instance answers. */
    if (p->options.instances && in[0] == 5 && in[2] == 1 && in[3] == 6 && *n == 7 && out[6] == 0 &&
        out[3] == 1)
        out[6] = (uint8_t)((p->options.lie_instance ? p->options.lie_instance : p->selected >> 28) << 4);
}

static bool misbehaves(struct cmsis_dap_peer *p, uint8_t command)
{
    const struct cmsis_dap_peer_options *o = &p->options;
    if (o->misdeed == DAP_HONEST || (o->misdeed_command && o->misdeed_command != command))
        return false;
    unsigned at = p->commands++;
    return at >= o->misdeed_after && (!o->misdeed_for || at < o->misdeed_after + o->misdeed_for);
}

static void spoil(struct cmsis_dap_peer *p, const uint8_t *in, uint8_t *out, size_t *n)
{
    bool transfer = in[0] == 5 || in[0] == 6;
    unsigned ack_at = in[0] == 6 ? 3 : 2;
    switch (p->options.misdeed) {
    case DAP_SHORT:
        --*n;
        break;
    case DAP_EMPTY:
        *n = 0;
        break;
    case DAP_LONG:
        *n = (p->options.packet_size ? p->options.packet_size : 1024) + 1;
        break;
    case DAP_OTHER_ECHO:
        out[0] ^= 0x20;
        break;
    case DAP_UNKNOWN:
        out[0] = 0xFF;
        break;
    case DAP_MORE_DONE:
        out[1] = transfer ? out[1] + 1 : out[1];
        break;
    case DAP_LESS_DONE:
        out[1] = transfer ? out[1] - 1 : out[1];
        break;
    case DAP_NO_ACK:
    case DAP_PARITY:
    case DAP_ACK_5:
        if (!transfer)
            break;
        out[1] = 0;
        out[ack_at] = p->options.misdeed == DAP_NO_ACK ? 7 : p->options.misdeed == DAP_PARITY ? 8 : 5;
        *n = ack_at + 1;
        break;
    default:
        break;
    }
}

static unsigned depth(const struct cmsis_dap_peer *p)
{
    return p->options.packet_count ? p->options.packet_count : 4;
}

static size_t packet_size(const struct cmsis_dap_peer *p)
{
    return p->options.packet_size ? p->options.packet_size : 1024;
}

static enum corral_err peer_send(void *ctx, const uint8_t *packet, size_t size, int ms, struct diag *d)
{
    struct cmsis_dap_peer *p = ctx;
    (void)ms;
    bool bad = misbehaves(p, packet[0]);
    if (bad && p->options.misdeed == DAP_GONE)
        return diag_set(d, CORRAL_ERR_LINK_DOWN, "the probe is gone: pulled out");
    p->packets++;
    p->wrong += size > packet_size(p) || (p->options.padded && size != packet_size(p) && p->packets > 1) ||
                p->waiting == depth(p);
    assert_true(p->waiting < 20);
    unsigned slot = (p->first + p->waiting++) % 20;
    uint8_t *out = p->answer[slot].data;
    size_t n = 0;
    honest(p, packet, size, out, &n);
    if (bad)
        spoil(p, packet, out, &n);
    if (bad && p->options.misdeed == DAP_SILENT)
        n = PEER_NO_ANSWER;
    else
        p->wrong += n > packet_size(p) && !bad;
    p->answer[slot].size = n;
    if (p->waiting > p->most_waiting)
        p->most_waiting = p->waiting;
    return CORRAL_OK;
}

static enum corral_err peer_receive(void *ctx, uint8_t *packet, size_t room, size_t *size, int ms,
                                    struct diag *d)
{
    struct cmsis_dap_peer *p = ctx;
    assert_true(p->waiting > 0 && ms > 0);
    size_t n = p->answer[p->first].size;
    if (n == PEER_NO_ANSWER)
        return diag_set(d, CORRAL_ERR_LINK_DOWN, "the probe does not answer");
    size_t full = p->options.padded && n ? packet_size(p) : n;
    if (n > room)
        return diag_set(d, CORRAL_ERR_LINK_PROTOCOL, "the probe sent a packet that is too long");
    memset(packet, 0xA5, full <= room ? full : room);
    memcpy(packet, p->answer[p->first].data, n);
    *size = full <= room ? full : room;
    p->first = (p->first + 1) % 20;
    p->waiting--;
    return CORRAL_OK;
}

static void peer_close(void *ctx)
{
    struct cmsis_dap_peer *p = ctx;
    assert_false(p->closed);
    p->closed = true;
}

static const struct cmsis_dap_wire_ops peer_ops = {
    .send = peer_send, .receive = peer_receive, .close = peer_close};

static void load_images(struct board *board)
{
    struct diag d = DIAG_INIT;
    size_t length = (size_t)((uintptr_t)board_image_core0_end - (uintptr_t)board_image_core0);
    assert_int_equal(board_load_elf(board, 0, board_image_core0, length, &d), CORRAL_OK);
    length = (size_t)((uintptr_t)board_image_core1_end - (uintptr_t)board_image_core1);
    assert_int_equal(board_load_elf(board, 1, board_image_core1, length, &d), CORRAL_OK);
}

void cmsis_dap_peer_start(struct cmsis_dap_peer *p, const struct cmsis_dap_peer_options *options)
{
    struct board_config config = {.log_accesses = true};
    struct diag d = DIAG_INIT;
    memset(p, 0, sizeof(*p));
    if (options)
        p->options = *options;
    config.adiv6 = p->options.adiv6;
    p->board = board_new(&config, &d);
    assert_non_null(p->board);
    if (p->options.run)
        load_images(p->board);
    p->front = front_cmsis_dap.make(p->board);
    assert_non_null(p->front);
    p->awake = !p->options.dormant;
    p->dap = p->options.others_ahead;
    p->taps = p->options.others_ahead + 1 + p->options.others_behind;
    for (unsigned i = 0; i < p->taps; i++) {
        p->tap[i].ir_length = i == p->dap ? 4 : 5;
        p->tap[i].idcode = i == p->dap ? PEER_IDCODE : PEER_OTHER;
        p->tap[i].ir = 0xE;
        p->tap[i].length = 32;
    }
}

struct cmsis_dap_wire cmsis_dap_peer_wire(struct cmsis_dap_peer *p)
{
    return (struct cmsis_dap_wire){.ops = &peer_ops,
                                   .ctx = p,
                                   .packet = p->options.padded ? packet_size(p) : 1024,
                                   .padded = p->options.padded,
                                   .name = "PEER"};
}

void cmsis_dap_peer_change(struct cmsis_dap_peer *p, const struct cmsis_dap_peer_options *options)
{
    p->options = *options;
    p->commands = 0;
}

void cmsis_dap_peer_stop(struct cmsis_dap_peer *p)
{
    assert_true(p->closed);
    front_cmsis_dap.release(p->front);
    board_free(p->board);
}
