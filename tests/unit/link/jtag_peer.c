/* SPDX-License-Identifier: Apache-2.0 */
/* See jtag_peer.h. */
#include "tests/unit/link/jtag_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/board.h"

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

/* Next state by TMS; states in the order above. */
static const uint8_t next_state[16][2] = {
    {TAP_IDLE, TAP_RESET},         {TAP_IDLE, TAP_SELECT_DR},     {TAP_CAPTURE_DR, TAP_SELECT_IR},
    {TAP_SHIFT_DR, TAP_EXIT1_DR},  {TAP_SHIFT_DR, TAP_EXIT1_DR},  {TAP_PAUSE_DR, TAP_UPDATE_DR},
    {TAP_PAUSE_DR, TAP_EXIT2_DR},  {TAP_SHIFT_DR, TAP_UPDATE_DR}, {TAP_IDLE, TAP_SELECT_DR},
    {TAP_CAPTURE_IR, TAP_RESET},   {TAP_SHIFT_IR, TAP_EXIT1_IR},  {TAP_SHIFT_IR, TAP_EXIT1_IR},
    {TAP_PAUSE_IR, TAP_UPDATE_IR}, {TAP_PAUSE_IR, TAP_EXIT2_IR},  {TAP_SHIFT_IR, TAP_UPDATE_IR},
    {TAP_IDLE, TAP_SELECT_DR},
};

enum { IR_ABORT = 0x8, IR_DPACC = 0xA, IR_APACC = 0xB, IR_IDCODE = 0xE };
enum { ACK_WAIT = 1, ACK_OK_FAULT = 2 };
#define FOREVER UINT32_MAX

/* One TAP of the chain: a shift register, an instruction. */
struct tap_register {
    unsigned ir_length;
    uint32_t idcode;
    unsigned ir;
    uint64_t shift;
    unsigned length;
};

struct jtag_peer {
    struct jtag_peer_options options;
    struct board *board;
    struct tap_register dap, other;
    unsigned state;
    bool tck;
    char lines; /* 'r' to 'u', 0 before the first */
    uint64_t clocks, samples;
    /* The JTAG-DP. */
    uint32_t result;
    unsigned busy, accesses;
    bool waiting, overrun_detect, overrun;
    int listener;
    uint16_t port;
    pthread_t thread;
    char words[40];
};

static void perform(struct jtag_peer *p, bool ap)
{
    bool read = p->dap.shift & 1u;
    uint8_t addr = (uint8_t)((p->dap.shift >> 1 & 3u) << 2);
    uint32_t value = (uint32_t)(p->dap.shift >> 3);
    if (ap && p->overrun)
        return; /* dropped */
    p->result = 0;
    if (!ap && addr == 0x0)
        return;
    if (!ap && addr == 0x4 && !read) {
        p->overrun_detect = value & 1u;
        p->overrun = p->overrun && !(value & 2u);
        if (value & 0x30u) {
            uint32_t clear = 0x1E;
            board_dap_transfer(p->board, false, false, 0x0, &clear);
        }
        value &= ~0xB3u;
    }
    if (ap) {
        p->accesses++;
        if (p->options.slow_every && p->accesses % p->options.slow_every == 0)
            p->busy = p->options.slow_for;
        if (p->options.hang_at && p->accesses == p->options.hang_at)
            p->busy = FOREVER;
    }
    if (board_dap_transfer(p->board, ap, read, addr, &value) != 1 || !read)
        return;
    if (ap && board_dap_transfer(p->board, false, true, 0xC, &value) != 1)
        return;
    p->result = value;
    if (!ap && addr == 0x4)
        p->result |= (p->overrun_detect ? 1u : 0u) | (p->overrun ? 2u : 0u);
}

static void capture_access(struct jtag_peer *p)
{
    p->waiting = p->busy > 0;
    if (p->busy && p->busy != FOREVER)
        p->busy--;
    if (p->waiting && p->overrun_detect && !p->options.no_overruns)
        p->overrun = true;
    unsigned ack = p->waiting ? ACK_WAIT : p->options.bad_ack ? p->options.bad_ack : ACK_OK_FAULT;
    p->dap.shift = (p->waiting ? 0 : (uint64_t)p->result << 3) | ack;
    p->dap.length = 35;
}

static void capture_dr(struct jtag_peer *p, struct tap_register *t)
{
    t->shift = 0;
    t->length = 1;
    if (t->ir == IR_IDCODE) {
        t->shift = t->idcode;
        t->length = 32;
    } else if (t == &p->dap && (t->ir == IR_DPACC || t->ir == IR_APACC)) {
        capture_access(p);
    } else if (t == &p->dap && t->ir == IR_ABORT) {
        t->length = 35;
    }
}

static void update_dr(struct jtag_peer *p)
{
    if (p->dap.ir == IR_ABORT && (p->dap.shift >> 3 & 1u))
        p->busy = 0;
    else if ((p->dap.ir == IR_DPACC || p->dap.ir == IR_APACC) && !p->waiting)
        perform(p, p->dap.ir == IR_APACC);
}

/* One clock of a TAP: what comes in at TDI; the state has not moved yet. */
static void tap_clock(struct jtag_peer *p, struct tap_register *t, unsigned tdi)
{
    if (p->state == TAP_CAPTURE_DR)
        capture_dr(p, t);
    if (p->state == TAP_CAPTURE_IR) {
        t->shift = 1;
        t->length = t->ir_length;
    }
    if (p->state == TAP_SHIFT_DR || p->state == TAP_SHIFT_IR)
        t->shift = t->shift >> 1 | (uint64_t)tdi << (t->length - 1);
}

static void clock_edge(struct jtag_peer *p, unsigned tms, unsigned tdi)
{
    p->clocks++;
    if (p->options.other_ahead) {
        unsigned between = p->other.shift & 1u;
        tap_clock(p, &p->other, tdi);
        tap_clock(p, &p->dap, between);
    } else if (p->options.other_behind) {
        unsigned between = p->dap.shift & 1u;
        tap_clock(p, &p->dap, tdi);
        tap_clock(p, &p->other, between);
    } else {
        tap_clock(p, &p->dap, tdi);
    }
    p->state = next_state[p->state][tms];
    if (p->state == TAP_RESET)
        p->dap.ir = p->other.ir = IR_IDCODE;
    if (p->state == TAP_UPDATE_IR) {
        p->dap.ir = (unsigned)(p->dap.shift & 0xFu);
        p->other.ir = (unsigned)(p->other.shift & 0x1Fu);
    }
    if (p->state == TAP_UPDATE_DR)
        update_dr(p);
}

static char sample(struct jtag_peer *p)
{
    const struct tap_register *last = p->options.other_behind ? &p->other : &p->dap;
    bool bad = p->options.misdeed != PEER_HONEST && p->samples++ >= p->options.misdeed_after;
    if (bad && p->options.misdeed == PEER_TDO_LOW)
        return '0';
    if (bad && p->options.misdeed == PEER_TDO_HIGH)
        return '1';
    if (bad)
        return 'x';
    return last->shift & 1u ? '1' : '0';
}

/* One lump of input; false when the client is to be left. */
static bool answer(struct jtag_peer *p, int s, const char *in, size_t size)
{
    char out[4096 + 8];
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        if (in[i] == 'Q')
            return false;
        if (in[i] == 'R') {
            char c = sample(p);
            if (c == 'x' && p->options.misdeed == PEER_CLOSES)
                return false;
            if (c != 'x' || p->options.misdeed == PEER_SENDS_LETTERS)
                out[n++] = c;
            else if (p->options.misdeed == PEER_SENDS_MORE)
                n += (size_t)snprintf(out + n, 9, "01010101") && n + 8 < sizeof(out) - 8 ? 8 : 0;
        } else if (in[i] >= '0' && in[i] <= '7') {
            unsigned pins = (unsigned)(in[i] - '0');
            bool tck = pins >> 2 & 1u;
            if (tck && !p->tck)
                clock_edge(p, pins >> 1 & 1u, pins & 1u);
            p->tck = tck;
        } else if (in[i] >= 'r' && in[i] <= 'u') { /* TRST and SRST */
            p->lines = in[i];
            if (in[i] >= 't') {
                p->state = TAP_RESET;
                p->dap.ir = p->other.ir = IR_IDCODE;
            }
        }
    }
    return n == 0 || send(s, out, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static void *serve(void *arg)
{
    struct jtag_peer *p = arg;
    char in[4096];
    int one = 1;
    int s = accept(p->listener, NULL, NULL);
    if (s < 0)
        return NULL;
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    ssize_t n;
    while ((n = recv(s, in, sizeof(in), 0)) > 0 && answer(p, s, in, (size_t)n))
        ;
    close(s);
    return NULL;
}

struct jtag_peer *jtag_peer_start(const struct jtag_peer_options *options)
{
    struct jtag_peer *p = calloc(1, sizeof(*p));
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    struct board_config config = {0};
    struct diag d = DIAG_INIT;
    assert_non_null(p);
    if (options)
        p->options = *options;
    p->dap = (struct tap_register){.ir_length = 4, .idcode = JTAG_PEER_IDCODE, .ir = IR_IDCODE};
    p->other = (struct tap_register){.ir_length = 5, .idcode = JTAG_PEER_OTHER, .ir = IR_IDCODE};
    p->board = board_new(&config, &d);
    assert_non_null(p->board);
    size_t length = (size_t)((uintptr_t)board_image_core0_end - (uintptr_t)board_image_core0);
    assert_int_equal(board_load_elf(p->board, 0, board_image_core0, length, &d), CORRAL_OK);
    length = (size_t)((uintptr_t)board_image_core1_end - (uintptr_t)board_image_core1);
    assert_int_equal(board_load_elf(p->board, 1, board_image_core1, length, &d), CORRAL_OK);
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(p->listener >= 0);
    assert_int_equal(bind(p->listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(p->listener, 1), 0);
    assert_int_equal(getsockname(p->listener, (struct sockaddr *)&address, &size), 0);
    p->port = ntohs(address.sin_port);
    snprintf(p->words, sizeof(p->words), "jtag:127.0.0.1:%u", p->port);
    assert_int_equal(pthread_create(&p->thread, NULL, serve, p), 0);
    return p;
}

const char *jtag_peer_words(const struct jtag_peer *p)
{
    return p->words;
}

uint16_t jtag_peer_port(const struct jtag_peer *p)
{
    return p->port;
}

void jtag_peer_change(struct jtag_peer *p, const struct jtag_peer_options *options)
{
    /* The peer's thread sleeps in recv: it sees this after the client's next send, which comes after. */
    p->options = *options;
    p->accesses = 0;
    p->samples = 0;
}

char jtag_peer_lines(const struct jtag_peer *p)
{
    return p->lines;
}

uint64_t jtag_peer_stop(struct jtag_peer *p)
{
    shutdown(p->listener, SHUT_RDWR); /* ends an accept that nobody came to */
    pthread_join(p->thread, NULL);
    close(p->listener);
    board_free(p->board);
    uint64_t clocks = p->clocks;
    free(p);
    return clocks;
}
