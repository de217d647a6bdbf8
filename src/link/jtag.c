/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See jtag.h. DP and AP transfers of a JTAG-DP: cross-trigger sheet 2.1 and 2.2 (last paragraph), case B21.
 *
 * A scan shifts a request in and the answer to the one before out. Its acknowledge says whether that one had
 * ended: on WAIT the new request was dropped. A fault shows in CTRL/STAT only, so whatever reads or writes
 * memory ends with a look there. In a block requests follow without waiting for their acknowledges; for that
 * CTRL/STAT.ORUNDETECT makes the port drop everything behind a WAIT, and the block goes on from there.
 *
 * Must never repeat an access that the port has taken.
 */
#include "link/jtag.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "link/jtag_wire.h"
#include "link/link_backend.h"

enum { IR_ABORT = 0x8, IR_DPACC = 0xA, IR_APACC = 0xB, IR_IDCODE = 0xE };
enum { DP_ABORT = 0x0, DP_DPIDR = 0x0, DP_CTRL_STAT = 0x4, DP_SELECT = 0x8, DP_RDBUFF = 0xC };
enum { AP_TAR = 0x4 };
/* A port of version 3 (ADIv6) tells OK from FAULT here; what ends an access finds faults on both kinds. */
enum { JTAG_WAIT = 1, JTAG_OK_FAULT = 2, JTAG_OK_V3 = 4 };

#define CTRL_ORUNDETECT 0x01u
#define CTRL_STICKYORUN 0x02u
#define CTRL_STICKYCMP  0x10u
#define CTRL_STICKYERR  0x20u
#define CTRL_STICKY     (CTRL_STICKYORUN | CTRL_STICKYCMP | CTRL_STICKYERR)
#define CTRL_WDATAERR   0x80u

#define ABORT_DAPABORT   0x01u
#define ABORT_STKCMPCLR  0x02u
#define ABORT_STKERRCLR  0x04u
#define ABORT_ORUNERRCLR 0x10u

#define DPBANKSEL 0xFu

#define IDCODE_BITS 32u
#define ACCESS_BITS 35u
#define ACK_BITS    3u
#define QUEUE       2u   /* SELECT and TAR */
#define BATCH       256u /* requests in one go */

/* The pins of CMSIS-DAP. */
#define PIN_TCK    0x01u
#define PIN_TMS    0x02u
#define PIN_TDI    0x04u
#define PIN_NTRST  0x20u
#define PIN_NRESET 0x80u

/* WAIT is repeated at least so often, however slow this machine is, and in the end at least so long. */
#define WAIT_ROUNDS 64u
#define WAIT_NS     (100 * NS_PER_MS)

_Static_assert(QUEUE + BATCH + 2 <= JTAG_WIRE_SCANS, "a batch and its end fit in a run");

struct jtag {
    struct jtag_wire *wire;
    struct host_clock *clock;
    uint32_t ctrl; /* CTRL/STAT as last written, without sticky bits */
    /* The port has taken this AP read, but its value has not come yet. */
    bool read_taken;
    uint8_t read_taken_addr;
    bool one_by_one; /* the port does not detect overruns: no access before the one ahead has ended */
    /* Writes that go out with what comes next, see may_wait. */
    unsigned queued, queued_scan[QUEUE];
    bool queued_ap;
    bool quiet;             /* the last AP access is known to have ended */
    bool careful;           /* a port that says WAIT where nothing is under way: nothing is queued any more */
    uint32_t bank, dp_bank; /* SELECT's, of AP and DP registers */
    uint32_t select;        /* as it was written last */
    bool lost;              /* an acknowledge that is none: the TAP must be reset */
    bool moved;             /* the wires, by somebody's own sequences: it must be found again, too */
    struct diag why;
};

struct answer {
    unsigned ack;
    uint32_t data;
};

static unsigned scan_of(struct jtag *j, bool ap, bool read, uint8_t addr, uint32_t data, unsigned wanted)
{
    uint64_t bits = (uint64_t)data << 3 | (uint64_t)(addr >> 2 & 3u) << 1 | (read ? 1u : 0u);
    return jtag_wire_scan(j->wire, ap ? IR_APACC : IR_DPACC, bits, ACCESS_BITS, wanted);
}

static unsigned request(struct jtag *j, bool ap, bool read, uint8_t addr, uint32_t data)
{
    return scan_of(j, ap, read, addr, data, ACCESS_BITS);
}

/* A write with no read ahead of it: nothing comes out but the acknowledge. */
static unsigned write_request(struct jtag *j, bool ap, uint8_t addr, uint32_t data)
{
    return scan_of(j, ap, false, addr, data, ACK_BITS);
}

/* False with the reason kept when it is no acknowledge. */
static bool take(struct jtag *j, unsigned scan, struct answer *a)
{
    uint64_t bits = jtag_wire_value(j->wire, scan);
    a->ack = (unsigned)(bits & 7u);
    a->data = (uint32_t)(bits >> 3);
    if (a->ack == JTAG_OK_V3)
        a->ack = JTAG_OK_FAULT;
    if (a->ack == JTAG_OK_FAULT || a->ack == JTAG_WAIT)
        return true;
    j->lost = true;
    if (a->ack == 0 || a->ack == 7)
        diag_set(&j->why, CORRAL_ERR_LINK_DOWN,
                 "the debug port behind %s does not answer (no acknowledge, TDO is %s)",
                 jtag_wire_name(j->wire), a->ack ? "high" : "low");
    else
        diag_set(&j->why, CORRAL_ERR_LINK_PROTOCOL,
                 "the debug port behind %s answered the undefined acknowledge %u", jtag_wire_name(j->wire),
                 a->ack);
    return false;
}

/* What is queued, out and back. A queued write that was dropped is a write at a place that nobody meant. */
static bool run(struct jtag *j)
{
    bool good = jtag_wire_run(j->wire);
    for (unsigned i = 0; good && i < j->queued; i++) {
        struct answer a;
        good = take(j, j->queued_scan[i], &a);
        if (good && a.ack == JTAG_WAIT) {
            diag_set(&j->why, CORRAL_ERR_LINK_PROTOCOL,
                     "the debug port behind %s answered WAIT where nothing was under way",
                     jtag_wire_name(j->wire));
            j->careful = j->lost = true;
            good = false;
        }
    }
    j->queued = 0;
    j->queued_ap = j->quiet = false;
    return good;
}

/*
 * May this write wait for what comes next, to save a round trip? SELECT, CSW and TAR may while no AP access
 * is under way: only such a one makes WAIT of the next request, which is dropped then. So nothing stands
 * behind a queued AP write but the one access that would be repeated.
 */
static bool may_wait(const struct jtag *j, bool ap, uint8_t addr)
{
    bool setting = ap ? j->bank == 0 && addr <= AP_TAR : addr == DP_SELECT;
    return setting && j->quiet && !j->careful && !j->queued_ap && j->queued < QUEUE;
}

static void queue(struct jtag *j, bool ap, uint8_t addr, uint32_t data)
{
    j->queued_scan[j->queued++] = write_request(j, ap, addr, data);
    j->queued_ap |= ap;
}

static enum dap_ack jtag_flush(void *ctx)
{
    struct jtag *j = ctx;
    if (!j->queued)
        return DAP_ACK_OK;
    bool quiet = !j->queued_ap; /* SELECT alone starts nothing */
    if (jtag_wire_failed(j->wire) || !run(j))
        return DAP_ACK_NONE;
    j->quiet = quiet;
    return DAP_ACK_OK;
}

/* A write. */
static enum dap_ack simple(struct jtag *j, bool ap, uint8_t addr, uint32_t data)
{
    bool quiet = !ap && j->quiet && !j->queued_ap; /* a DP register starts nothing */
    for (unsigned i = 0; i < WAIT_ROUNDS; i++) {
        struct answer a;
        unsigned scan = write_request(j, ap, addr, data);
        if (!run(j) || !take(j, scan, &a))
            return DAP_ACK_NONE;
        j->quiet = quiet;
        if (a.ack != JTAG_WAIT)
            return DAP_ACK_OK;
    }
    return DAP_ACK_WAIT;
}

/*
 * What ends an access: CTRL/STAT is read, whose scan brings the last answer, and one more scan brings
 * CTRL/STAT: either of RDBUFF, which does nothing, or a write of CTRL/STAT.
 */
enum due { DUE_NOTHING, DUE_LAST, DUE_STAT };

struct ending {
    bool write_ctrl;
    uint32_t ctrl;
    unsigned first; /* of its two scans */
    enum due due;   /* what the next answer is */
    bool complete;
    uint32_t last, stat;
};

static void ending_put(struct jtag *j, struct ending *e)
{
    e->first = request(j, false, true, DP_CTRL_STAT, 0);
    if (e->write_ctrl)
        request(j, false, false, DP_CTRL_STAT, e->ctrl);
    else
        request(j, false, true, DP_RDBUFF, 0);
}

static bool ending_take(struct jtag *j, struct ending *e)
{
    bool have_stat = false;
    for (unsigned i = 0; i < 2; i++) {
        struct answer a;
        if (!take(j, e->first + i, &a))
            return false;
        if (a.ack == JTAG_WAIT)
            continue;
        if (e->due == DUE_LAST)
            e->last = a.data;
        if (e->due == DUE_STAT) {
            e->stat = a.data;
            have_stat = true;
        }
        e->due = i == 0 ? DUE_STAT : DUE_NOTHING;
        e->complete = i == 1 && have_stat;
    }
    return true;
}

/* After the run that had it queued: until it is complete. WAIT when that takes too long. */
static enum dap_ack ending_finish(struct jtag *j, struct ending *e)
{
    struct deadline limit = deadline_in(j->clock, WAIT_NS);
    for (unsigned i = 0;; i++) {
        if (i) {
            ending_put(j, e);
            if (!run(j))
                return DAP_ACK_NONE;
        }
        if (!ending_take(j, e))
            return DAP_ACK_NONE;
        if (e->complete)
            return DAP_ACK_OK;
        if (i >= WAIT_ROUNDS && deadline_passed(&limit))
            return DAP_ACK_WAIT;
    }
}

static enum dap_ack read_ap(struct jtag *j, uint8_t addr, uint32_t *value)
{
    struct ending e = {.due = DUE_LAST};
    bool taken = j->read_taken && j->read_taken_addr == addr;
    j->read_taken = false;
    for (unsigned i = 0; i == 0 || !taken; i++) {
        struct answer a;
        if (i == WAIT_ROUNDS)
            return DAP_ACK_WAIT;
        unsigned scan = taken ? 0 : request(j, true, true, addr, 0);
        ending_put(j, &e);
        if (!run(j))
            return DAP_ACK_NONE;
        if (taken)
            break;
        if (!take(j, scan, &a))
            return DAP_ACK_NONE;
        taken = a.ack != JTAG_WAIT;
    }
    enum dap_ack ack = ending_finish(j, &e);
    if (ack == DAP_ACK_WAIT) {
        j->read_taken = e.due == DUE_LAST;
        j->read_taken_addr = addr;
    }
    j->quiet = ack == DAP_ACK_OK;
    if (ack == DAP_ACK_OK && (e.stat & CTRL_STICKY))
        ack = DAP_ACK_FAULT;
    *value = e.last;
    return ack;
}

static enum dap_ack read_dp(struct jtag *j, uint8_t addr, uint32_t *value)
{
    struct answer a, b;
    for (unsigned i = 0;; i++) {
        unsigned scan = request(j, false, true, addr, 0);
        request(j, false, true, DP_RDBUFF, 0);
        if (!run(j) || !take(j, scan, &a) || !take(j, scan + 1, &b))
            return DAP_ACK_NONE;
        j->quiet = a.ack != JTAG_WAIT && b.ack != JTAG_WAIT;
        if (j->quiet)
            break;
        if (i == WAIT_ROUNDS)
            return DAP_ACK_WAIT;
    }
    *value = b.data;
    /* The first debug ports have no DPIDR behind JTAG; their IDCODE says the same. */
    const struct link_jtag_info *info = jtag_wire_info(j->wire);
    if (addr == DP_DPIDR && j->dp_bank == 0 && b.data == 0)
        *value = info->idcode[info->dap];
    return DAP_ACK_OK;
}

/* A write of CTRL/STAT, whatever bank of DP registers is selected. */
static enum dap_ack write_ctrl(struct jtag *j, uint32_t value)
{
    enum dap_ack ack = DAP_ACK_OK;
    if (j->dp_bank)
        ack = simple(j, false, DP_SELECT, j->select & ~DPBANKSEL);
    if (ack == DAP_ACK_OK)
        ack = simple(j, false, DP_CTRL_STAT, value);
    if (ack == DAP_ACK_OK && j->dp_bank)
        ack = simple(j, false, DP_SELECT, j->select);
    return ack;
}

/* ABORT as on SWD: here only DAPABORT is its own, sticky bits are cleared by writing them to CTRL/STAT. */
static enum dap_ack abort_access(struct jtag *j, uint32_t value)
{
    uint32_t sticky = (value & ABORT_STKCMPCLR ? CTRL_STICKYCMP : 0) |
                      (value & ABORT_STKERRCLR ? CTRL_STICKYERR : 0) |
                      (value & ABORT_ORUNERRCLR ? CTRL_STICKYORUN : 0);
    if (value & ABORT_DAPABORT) {
        jtag_wire_scan(j->wire, IR_ABORT, (uint64_t)ABORT_DAPABORT << 3, ACCESS_BITS, 0);
        if (!run(j))
            return DAP_ACK_NONE;
    }
    return sticky ? write_ctrl(j, j->ctrl | sticky) : DAP_ACK_OK;
}

/* The TAPs in a known state again, and the debug port still the same. */
static bool find_again(struct jtag *j)
{
    const struct link_jtag_info *info = jtag_wire_info(j->wire);
    uint32_t idcode = info->idcode[info->dap];
    jtag_wire_reset(j->wire);
    if (!idcode)
        return true;
    unsigned scan = jtag_wire_scan(j->wire, IR_IDCODE, 0, IDCODE_BITS, IDCODE_BITS);
    if (!jtag_wire_run(j->wire))
        return false;
    uint32_t now = (uint32_t)jtag_wire_value(j->wire, scan);
    if (now == idcode)
        return true;
    diag_set(&j->why, CORRAL_ERR_LINK_DOWN,
             "the debug port behind %s is not there any more after what was done with the wires: its TAP "
             "shows IDCODE 0x%08" PRIx32 ", not 0x%08" PRIx32,
             jtag_wire_name(j->wire), now, idcode);
    return false;
}

/* False when nothing can be done on this wire any more. */
static bool ready(struct jtag *j)
{
    if (jtag_wire_failed(j->wire))
        return false;
    if (j->moved && !find_again(j))
        return false;
    if (j->lost && !j->moved)
        jtag_wire_reset(j->wire);
    j->quiet &= !j->lost && !j->moved;
    j->lost = j->moved = false;
    return true;
}

static enum dap_ack jtag_dap(void *ctx, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    struct jtag *j = ctx;
    if (!ready(j))
        return DAP_ACK_NONE;
    if (ap && read)
        return read_ap(j, addr, value);
    j->read_taken = false;
    if (!ap && !read && addr == DP_SELECT) {
        j->bank = *value & 0xF0u;
        j->dp_bank = *value & DPBANKSEL;
        j->select = *value;
    }
    if (!read && may_wait(j, ap, addr)) {
        queue(j, ap, addr, *value);
        return DAP_ACK_OK;
    }
    if (ap)
        return simple(j, true, addr, *value);
    if (read)
        return read_dp(j, addr, value);
    if (addr == DP_ABORT)
        return abort_access(j, *value);
    uint32_t data = *value;
    if (addr == DP_CTRL_STAT && j->dp_bank == 0) { /* as on SWD, where sticky bits cannot be written */
        data &= ~(CTRL_STICKY | CTRL_WDATAERR | CTRL_ORUNDETECT);
        j->ctrl = data;
    }
    return simple(j, false, addr, data);
}

/* `n` accesses at most. *taken: how many the port has done, when the result is OK. */
static enum dap_ack batch(struct jtag *j, bool read, uint8_t addr, uint32_t *values, uint32_t n,
                          uint32_t *taken)
{
    /* A single access has nothing behind it that could get past a WAIT. */
    struct ending e = {.write_ctrl = n > 1, .ctrl = j->ctrl};
    bool dropped = false;
    *taken = 0;
    if (n > 1) {
        enum dap_ack ack = simple(j, false, DP_CTRL_STAT, j->ctrl | CTRL_ORUNDETECT | CTRL_STICKYORUN);
        if (ack != DAP_ACK_OK)
            return ack;
    }
    unsigned first = 0;
    for (uint32_t i = 0; i < n; i++) {
        unsigned scan = read ? request(j, true, true, addr, 0) : write_request(j, true, addr, values[i]);
        first = i ? first : scan;
    }
    ending_put(j, &e);
    if (!run(j))
        return DAP_ACK_NONE;
    for (uint32_t i = 0; i < n; i++) {
        struct answer a;
        if (!take(j, first + i, &a))
            return DAP_ACK_NONE;
        if (a.ack == JTAG_WAIT) {
            dropped = true;
            continue;
        }
        if (e.due == DUE_LAST && read)
            values[*taken - 1] = a.data;
        e.due = DUE_NOTHING;
        if (!dropped) {
            e.due = DUE_LAST;
            ++*taken;
        }
    }
    bool last_due = e.due == DUE_LAST;
    enum dap_ack ack = ending_finish(j, &e);
    if (ack == DAP_ACK_WAIT && last_due)
        --*taken; /* it may never end */
    j->quiet = ack == DAP_ACK_OK;
    if (ack != DAP_ACK_OK)
        return ack;
    if (e.stat & (CTRL_STICKYERR | CTRL_STICKYCMP))
        return DAP_ACK_FAULT;
    if (last_due && read)
        values[*taken - 1] = e.last;
    if (dropped && n > 1 && !(e.stat & CTRL_STICKYORUN)) {
        diag_set(&j->why, CORRAL_ERR_LINK_PROTOCOL,
                 "the debug port behind %s answered WAIT in a block and did not drop what followed",
                 jtag_wire_name(j->wire));
        j->lost = j->one_by_one = true;
        return DAP_ACK_NONE;
    }
    return e.stat & CTRL_STICKYORUN ? simple(j, false, DP_CTRL_STAT, e.ctrl | CTRL_STICKYORUN) : DAP_ACK_OK;
}

static enum dap_ack jtag_dap_block(void *ctx, bool read, uint8_t addr, uint32_t *values, uint32_t count,
                                   uint32_t *done)
{
    struct jtag *j = ctx;
    struct deadline limit = deadline_in(j->clock, WAIT_NS);
    *done = 0;
    j->read_taken = false;
    if (!ready(j))
        return DAP_ACK_NONE;
    uint32_t most = j->one_by_one ? 1 : BATCH;
    for (unsigned idle = 0; *done < count;) {
        uint32_t n = count - *done < most ? count - *done : most, taken;
        enum dap_ack ack = batch(j, read, addr, values + *done, n, &taken);
        if (ack == DAP_ACK_OK || ack == DAP_ACK_WAIT)
            *done += taken;
        if (ack != DAP_ACK_OK)
            return ack; /* of what a fault was in, nothing is known to have happened (case B21) */
        /* Where the target is slow, long batches are mostly dropped. */
        most = j->one_by_one ? 1 : taken < n ? taken + 1 : most < BATCH / 2 ? most * 2 : BATCH;
        if (taken) {
            limit = deadline_in(j->clock, WAIT_NS);
            idle = 0;
        } else if (++idle > WAIT_ROUNDS && deadline_passed(&limit)) {
            return DAP_ACK_WAIT;
        }
    }
    return DAP_ACK_OK;
}

static void jtag_explain(void *ctx, struct diag *d)
{
    const struct jtag *j = ctx;
    const struct diag *why = jtag_wire_failed(j->wire) ? jtag_wire_why(j->wire) : &j->why;
    if (d && why->code != CORRAL_OK)
        *d = *why;
}

static enum corral_err explained(struct jtag *j, struct diag *d)
{
    diag_set(d, CORRAL_ERR_LINK_DOWN, "the target behind %s does not answer", jtag_wire_name(j->wire));
    jtag_explain(j, d);
    return d->code;
}

static void jtag_set_deadline(void *ctx, int64_t when)
{
    struct jtag *j = ctx;
    jtag_wire_set_limit(j->wire, link_tcp_limit(j->clock, when));
}

static enum corral_err jtag_drive_reset(void *ctx, bool asserted, struct diag *d)
{
    struct jtag *j = ctx;
    j->read_taken = false;
    jtag_flush(j);
    j->quiet = false;
    if (!jtag_wire_failed(j->wire) && jtag_wire_drive_reset(j->wire, asserted))
        return CORRAL_OK;
    jtag_explain(j, d);
    return jtag_wire_why(j->wire)->code;
}

/* Their order on the wire is the other way round. */
static unsigned wire_pins(unsigned pins)
{
    return (pins & PIN_TCK ? 4u : 0) | (pins & PIN_TMS ? 2u : 0) | (pins & PIN_TDI ? 1u : 0);
}

/* remote_bitbang has TCK, TMS, TDI and the two reset lines; of its pins only TDO can be read. */
static void drive_pins(struct jtag *j, const struct link_raw *raw)
{
    bool srst = jtag_wire_srst(j->wire), trst = jtag_wire_trst(j->wire);
    unsigned moved = (unsigned)raw->select & (PIN_TCK | PIN_TMS | PIN_TDI);
    if (raw->select & (PIN_NRESET | PIN_NTRST))
        jtag_wire_drive_lines(j->wire, raw->select & PIN_NRESET ? !(raw->out & PIN_NRESET) : srst,
                              raw->select & PIN_NTRST ? !(raw->out & PIN_NTRST) : trst);
    if (moved)
        jtag_wire_drive_pins(j->wire, wire_pins((unsigned)raw->out), wire_pins(moved));
}

static enum corral_err jtag_raw(void *ctx, struct link_raw *raw, struct diag *d)
{
    struct jtag *j = ctx;
    uint64_t tms = raw->op == LINK_RAW_SWJ ? raw->out : raw->select & 1u ? UINT64_MAX : 0;
    unsigned scan = 0;
    if (raw->op == LINK_RAW_CLOCK) /* the other end's own */
        return CORRAL_OK;
    if (raw->op == LINK_RAW_ABORT) {
        uint32_t value = (uint32_t)raw->out;
        if (jtag_dap(j, false, false, DP_ABORT, &value) != DAP_ACK_NONE)
            return CORRAL_OK;
        return explained(j, d);
    }
    j->moved = true;
    j->read_taken = false;
    if (raw->op == LINK_RAW_PINS)
        drive_pins(j, raw);
    else
        scan = jtag_wire_cycles(j->wire, tms, raw->op == LINK_RAW_JTAG ? raw->out : 0, raw->bits,
                                raw->op == LINK_RAW_JTAG);
    if (!jtag_wire_run(j->wire))
        return explained(j, d);
    if (raw->op == LINK_RAW_JTAG)
        raw->in = jtag_wire_value(j->wire, scan);
    if (raw->op == LINK_RAW_PINS) {
        raw->in = UINT32_MAX;
        host_clock_sleep(j->clock, (int64_t)raw->wait_us * NS_PER_US);
    }
    return CORRAL_OK;
}

static uint64_t jtag_clocks(void *ctx)
{
    const struct jtag *j = ctx;
    return jtag_wire_clocks(j->wire);
}

static void jtag_close(void *ctx)
{
    struct jtag *j = ctx;
    if (!j)
        return;
    jtag_wire_close(j->wire);
    free(j);
}

static const struct link_backend jtag_backend = {
    .caps = LINK_CAP_MEM | LINK_CAP_DAP | LINK_CAP_WIRE,
    .dap = jtag_dap,
    .dap_block = jtag_dap_block,
    .flush = jtag_flush,
    .explain = jtag_explain,
    .drive_reset = jtag_drive_reset,
    .raw = jtag_raw,
    .raws = 1u << LINK_RAW_PINS | 1u << LINK_RAW_CLOCK | 1u << LINK_RAW_SWJ | 1u << LINK_RAW_JTAG |
            1u << LINK_RAW_ABORT,
    .set_deadline = jtag_set_deadline,
    .wire_clocks = jtag_clocks,
    .close = jtag_close,
};

struct link *link_jtag_open(const char *spec, const struct link_options *options, struct host_clock *clock,
                            struct diag *d)
{
    struct diag own = DIAG_INIT;
    d = d ? d : &own;
    const char *words = strncmp(spec, "jtag:", 5) == 0 ? spec + 5 : "";
    if (options && options->protocol == LINK_PROTOCOL_SWD) {
        diag_set(d, CORRAL_ERR_USAGE, "link '%s' speaks JTAG only", spec);
        return NULL;
    }
    if (options && options->wire_hz) {
        diag_set(d, CORRAL_ERR_USAGE, "link '%s': the other end alone knows how fast TCK is", spec);
        return NULL;
    }
    struct jtag *j = calloc(1, sizeof(*j));
    if (!j) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    j->clock = clock;
    j->wire = jtag_wire_open(words, link_tcp_open_limit(options), d);
    uint32_t ctrl = 0;
    /* The bank of DP registers may be anything that was left; without one this changes nothing. */
    if (j->wire &&
        (simple(j, false, DP_SELECT, 0) == DAP_ACK_NONE || read_dp(j, DP_CTRL_STAT, &ctrl) == DAP_ACK_NONE)) {
        jtag_explain(j, d);
        jtag_close(j);
        return NULL;
    }
    j->ctrl = ctrl & 0x54000000u; /* what was requested before us stays so */
    if (j->wire)
        jtag_wire_set_limit(j->wire, INT64_MAX);
    struct link *link = j->wire ? link_new(&jtag_backend, j, spec, clock) : NULL;
    if (!link) {
        if (j->wire)
            diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        jtag_close(j);
    }
    return link;
}

bool link_jtag_get_info(struct link *link, struct link_jtag_info *info)
{
    const struct jtag *j = link_backend_ctx(link, &jtag_backend);
    if (!j)
        return false;
    *info = *jtag_wire_info(j->wire);
    return true;
}
