/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See jtag_wire.h. The remote_bitbang protocol: '0'..'7' sets TCK (4), TMS (2) and TDI (1), 'r' to 'u' set
 * TRST (2) and SRST (1), 'R' asks for TDO and is answered with '0' or '1', 'Q' is good-bye. TDO is sampled
 * while TCK is low; a pin moves the TAP at the rising edge. At most 255 samples are outstanding: what every
 * server is known to take.
 */
#include "link/jtag_wire.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCAN_BITS   35u
#define OUTSTANDING 255u
#define OUT_ROOM    2048u
#define ANSWER_MS   5000  /* for some answer */
#define RUN_MS      20000 /* for all answers of a run */

#define DAP_IR_LENGTH 4u
#define IR_BITS_MAX   96u /* of a whole chain */
#define CHAIN_BITS    (32u * (LINK_JTAG_TAPS + 1u))
#define NO_SELECTION  0xFFu

#define PIN_TCK 4u

#define SAMPLES_MAX (JTAG_WIRE_SCANS * SCAN_BITS)
_Static_assert(SAMPLES_MAX >= CHAIN_BITS && SAMPLES_MAX >= IR_BITS_MAX, "the chain's own scans fit");

struct jtag_wire {
    int fd;
    bool failed;
    unsigned instruction;            /* NO_SELECTION: not known */
    unsigned skip_ir, pad_ir;        /* instruction bits of the TAPs towards TDO, and towards TDI */
    unsigned skip_dr, pad_dr;        /* their bypass bits */
    unsigned scans;                  /* queued since the last run */
    unsigned start[JTAG_WIRE_SCANS]; /* first sample of each */
    unsigned length[JTAG_WIRE_SCANS];
    unsigned asked, got; /* samples */
    bool ran;
    bool srst, trst; /* asserted */
    unsigned pins;   /* as they stand */
    int64_t end;     /* of the run under way, link_tcp_now */
    int64_t limit;   /* of everything, likewise */
    uint64_t clocks;
    size_t filled;
    char out[OUT_ROOM];
    uint8_t sample[SAMPLES_MAX];
    char name[LINK_TCP_NAME];
    struct diag why;
    struct link_jtag_info info;
};

static void fail(struct jtag_wire *w, enum corral_err code, const char *what, const char *reason)
{
    if (w->failed)
        return;
    w->failed = true;
    diag_set(&w->why, code, "the JTAG server %s %s%s", w->name, what, reason);
    diag_object(&w->why, "%s", w->name);
}

static void fail_by_errno(struct jtag_wire *w)
{
    if (errno == ETIMEDOUT)
        fail(w, CORRAL_ERR_LINK_DOWN, "does not answer", "");
    else
        fail(w, CORRAL_ERR_LINK_DOWN, "is gone: ", strerror(errno));
}

static int left_ms(const struct jtag_wire *w)
{
    return link_tcp_left(w->end < w->limit ? w->end : w->limit, ANSWER_MS);
}

static void send_queued(struct jtag_wire *w)
{
    if (!w->failed && w->filled && link_tcp_send(w->fd, w->out, w->filled, left_ms(w)) != 0)
        fail_by_errno(w);
    w->filled = 0;
}

/* Take answers until at most `most` are outstanding. */
static void collect(struct jtag_wire *w, unsigned most)
{
    char in[OUTSTANDING + 1];
    send_queued(w);
    while (!w->failed && w->asked - w->got > most) {
        /* One more than is due, to see what nobody asked for. */
        ssize_t n = link_tcp_receive(w->fd, in, w->asked - w->got + 1, left_ms(w));
        if (n < 0) {
            fail_by_errno(w);
        } else if (n == 0) {
            fail(w, CORRAL_ERR_LINK_DOWN, "closed the connection", "");
        } else if ((size_t)n > w->asked - w->got) {
            fail(w, CORRAL_ERR_LINK_PROTOCOL, "sent more than it was asked for", "");
        }
        for (ssize_t i = 0; !w->failed && i < n; i++) {
            if (in[i] != '0' && in[i] != '1')
                fail(w, CORRAL_ERR_LINK_PROTOCOL, "sent something else than 0 or 1", "");
            else
                w->sample[w->got++] = (uint8_t)(in[i] - '0');
        }
    }
}

static void put(struct jtag_wire *w, char c)
{
    if (w->filled == OUT_ROOM)
        send_queued(w);
    if (!w->failed)
        w->out[w->filled++] = c;
}

/* Before the first movement of a new run. */
static void begin(struct jtag_wire *w)
{
    if (!w->ran)
        return;
    w->ran = false;
    w->asked = w->got = w->scans = 0;
    w->end = link_tcp_now() + RUN_MS;
}

/* One cycle of TCK. */
static void cycle(struct jtag_wire *w, unsigned tms, unsigned tdi, bool sample)
{
    unsigned pins = tms << 1 | tdi;
    begin(w);
    if (sample && w->asked - w->got == OUTSTANDING)
        collect(w, OUTSTANDING / 2);
    put(w, (char)('0' + pins));
    if (sample && w->asked < SAMPLES_MAX) {
        put(w, 'R');
        w->asked++;
    }
    put(w, (char)('4' + pins));
    w->pins = PIN_TCK | pins;
    w->clocks++;
}

static void moves(struct jtag_wire *w, unsigned tms, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        cycle(w, tms >> i & 1u, 0, false);
}

void jtag_wire_reset(struct jtag_wire *w)
{
    moves(w, 0x1F, 6); /* five times TMS 1 from wherever it is, then Run-Test/Idle */
    w->instruction = NO_SELECTION;
}

static void leave_shift(struct jtag_wire *w)
{
    moves(w, 1, 2); /* from Exit1 by Update to Run-Test/Idle */
}

/* Bits of other TAPs: ones, which are BYPASS in an instruction register. */
static void dummies(struct jtag_wire *w, unsigned count, bool last)
{
    for (unsigned i = 0; i < count; i++)
        cycle(w, last && i + 1 == count, 1, false);
}

static void select_instruction(struct jtag_wire *w, unsigned instruction)
{
    if (w->instruction == instruction)
        return;
    moves(w, 3, 4); /* Select-DR, Select-IR, Capture-IR, Shift-IR */
    dummies(w, w->skip_ir, false);
    for (unsigned i = 0; i < DAP_IR_LENGTH; i++)
        cycle(w, i + 1 == DAP_IR_LENGTH && !w->pad_ir, instruction >> i & 1u, false);
    dummies(w, w->pad_ir, true);
    leave_shift(w);
    w->instruction = instruction;
}

unsigned jtag_wire_scan(struct jtag_wire *w, unsigned instruction, uint64_t data, unsigned bits,
                        unsigned wanted)
{
    select_instruction(w, instruction);
    moves(w, 1, 3); /* Select-DR, Capture-DR, Shift-DR */
    unsigned scan = w->scans < JTAG_WIRE_SCANS ? w->scans++ : JTAG_WIRE_SCANS - 1;
    dummies(w, w->skip_dr, false);
    w->start[scan] = w->asked;
    w->length[scan] = wanted;
    for (unsigned i = 0; i < bits; i++)
        cycle(w, i + 1 == bits && !w->pad_dr, data >> i & 1u, i < wanted);
    dummies(w, w->pad_dr, true);
    leave_shift(w);
    return scan;
}

bool jtag_wire_run(struct jtag_wire *w)
{
    collect(w, 0);
    w->ran = true;
    return !w->failed;
}

static uint64_t bits_of(const struct jtag_wire *w, unsigned start, unsigned count)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < count && start + i < w->got; i++)
        v |= (uint64_t)w->sample[start + i] << i;
    return v;
}

uint64_t jtag_wire_value(const struct jtag_wire *w, unsigned scan)
{
    return scan < w->scans ? bits_of(w, w->start[scan], w->length[scan]) : 0;
}

/* After a reset each TAP shows its IDCODE, or a single 0 where it has none. Behind the last come our ones. */
static bool read_idcodes(struct jtag_wire *w)
{
    moves(w, 1, 3);
    for (unsigned i = 0; i < CHAIN_BITS; i++)
        cycle(w, i + 1 == CHAIN_BITS, 1, true);
    leave_shift(w);
    if (!jtag_wire_run(w))
        return false;
    for (unsigned at = 0; at + 32 <= CHAIN_BITS;) {
        uint32_t word = (uint32_t)bits_of(w, at, 32);
        if (word == UINT32_MAX) {
            if (w->info.taps == 0)
                fail(w, CORRAL_ERR_LINK_DOWN, "has no target: TDO is always 1", "");
            return !w->failed;
        }
        if (w->info.taps == LINK_JTAG_TAPS)
            break;
        w->info.idcode[w->info.taps++] = word & 1u ? word : 0;
        at += word & 1u ? 32 : 1;
    }
    bool low = bits_of(w, 0, 64) == 0;
    fail(w, CORRAL_ERR_LINK_DOWN,
         low ? "has no target: TDO is always 0" : "shows no end of the chain of TAPs", "");
    return false;
}

/* Fill all instruction registers with ones, then count how many come out ahead of the zeros. */
static unsigned count_ir_bits(struct jtag_wire *w)
{
    unsigned n = 0;
    moves(w, 3, 4);
    dummies(w, IR_BITS_MAX, false);
    for (unsigned i = 0; i < IR_BITS_MAX; i++)
        cycle(w, 0, 0, true);
    dummies(w, IR_BITS_MAX, true);
    leave_shift(w);
    if (!jtag_wire_run(w))
        return 0;
    while (n < IR_BITS_MAX && w->sample[n])
        n++;
    return n;
}

static bool is_dap(uint32_t idcode)
{
    return (idcode & 0x0FFF0FFFu) == 0x0BA00477u; /* Arm, part BA0x */
}

static void find_dap(struct jtag_wire *w, unsigned ir_bits)
{
    struct link_jtag_info *info = &w->info;
    unsigned found = 0;
    for (unsigned i = info->taps; i-- > 0;)
        if (is_dap(info->idcode[i])) {
            info->dap = i;
            found++;
        }
    if (!found && info->taps > 1) {
        fail(w, CORRAL_ERR_LINK_DOWN, "has a chain without an Arm debug port", "");
        return;
    }
    w->skip_dr = info->dap;
    w->pad_dr = info->taps - 1 - info->dap;
    unsigned others = ir_bits - DAP_IR_LENGTH;
    if (ir_bits < DAP_IR_LENGTH || ir_bits == IR_BITS_MAX || (info->taps == 1 && others))
        fail(w, CORRAL_ERR_LINK_PROTOCOL, "shows instruction registers that no debug port has", "");
    else if (w->skip_dr && w->pad_dr)
        fail(w, CORRAL_ERR_UNSUPPORTED, "has TAPs on both sides of the debug port's, which is not supported",
             "");
    w->skip_ir = w->skip_dr ? others : 0;
    w->pad_ir = w->pad_dr ? others : 0;
}

struct jtag_wire *jtag_wire_open(const char *words, int64_t limit, struct diag *d)
{
    struct jtag_wire *w = calloc(1, sizeof(*w));
    if (!w) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    w->limit = limit;
    w->fd = link_tcp_connect_within(words, "jtag", link_tcp_left(limit, INT_MAX), w->name, d);
    if (w->fd < 0) {
        free(w);
        return NULL;
    }
    w->ran = true;
    jtag_wire_reset(w);
    if (read_idcodes(w)) {
        unsigned ir_bits = count_ir_bits(w);
        if (!w->failed)
            find_dap(w, ir_bits);
    }
    jtag_wire_reset(w);
    if (!w->failed)
        return w;
    if (d)
        *d = w->why;
    jtag_wire_close(w);
    return NULL;
}

void jtag_wire_close(struct jtag_wire *w)
{
    if (!w)
        return;
    if (!w->failed) {
        w->end = link_tcp_now() + ANSWER_MS;
        put(w, 'Q');
        send_queued(w);
    }
    close(w->fd);
    free(w);
}

void jtag_wire_set_limit(struct jtag_wire *w, int64_t limit)
{
    w->limit = limit;
}

void jtag_wire_drive_lines(struct jtag_wire *w, bool srst, bool trst)
{
    begin(w);
    put(w, (char)('r' + (trst ? 2 : 0) + (srst ? 1 : 0)));
    w->srst = srst;
    w->trst = trst;
    w->instruction = NO_SELECTION;
}

bool jtag_wire_srst(const struct jtag_wire *w)
{
    return w->srst;
}

bool jtag_wire_trst(const struct jtag_wire *w)
{
    return w->trst;
}

bool jtag_wire_drive_reset(struct jtag_wire *w, bool asserted)
{
    jtag_wire_drive_lines(w, asserted, w->trst);
    jtag_wire_reset(w); /* the TAPs may have been reset with all else, or not */
    return jtag_wire_run(w);
}

void jtag_wire_drive_pins(struct jtag_wire *w, unsigned pins, unsigned select)
{
    unsigned before = w->pins;
    begin(w);
    /* TMS and TDI are where they are to be before TCK rises. */
    w->pins = (before & ~(select & ~PIN_TCK)) | (pins & select & ~PIN_TCK);
    put(w, (char)('0' + w->pins));
    w->pins = (w->pins & ~(select & PIN_TCK)) | (pins & select & PIN_TCK);
    put(w, (char)('0' + w->pins));
    w->clocks += !(before & PIN_TCK) && (w->pins & PIN_TCK);
    w->instruction = NO_SELECTION;
}

unsigned jtag_wire_cycles(struct jtag_wire *w, uint64_t tms, uint64_t tdi, unsigned bits, bool wanted)
{
    begin(w);
    unsigned scan = w->scans < JTAG_WIRE_SCANS ? w->scans++ : JTAG_WIRE_SCANS - 1;
    w->start[scan] = w->asked;
    w->length[scan] = wanted ? bits : 0;
    for (unsigned i = 0; i < bits; i++)
        cycle(w, tms >> i & 1u, tdi >> i & 1u, wanted);
    w->instruction = NO_SELECTION;
    return scan;
}

bool jtag_wire_failed(const struct jtag_wire *w)
{
    return w->failed;
}

const struct diag *jtag_wire_why(const struct jtag_wire *w)
{
    return &w->why;
}

const char *jtag_wire_name(const struct jtag_wire *w)
{
    return w->name;
}

uint64_t jtag_wire_clocks(const struct jtag_wire *w)
{
    return w->clocks;
}

const struct link_jtag_info *jtag_wire_info(const struct jtag_wire *w)
{
    return &w->info;
}
