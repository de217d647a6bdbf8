/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory batches to DP and AP transfers. Cross-trigger sheet 2.1 (DP registers), 2.2 (WAIT, FAULT, posted
 * reads) and 2.3 (CSW, TAR, auto-increment); cases 12.B B12, B20, B23, B24.
 *
 * Must not know what is read through it, and must never repeat an access that may have had its effect.
 */
#include "link/mem_ap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    DP_ABORT = 0x0,
    DP_CTRL_STAT = 0x4,
    DP_SELECT = 0x8,
    DP_RDBUFF = 0xC,
    AP_CSW = 0x00,
    AP_TAR = 0x04,
    AP_DRW = 0x0C,
    AP_IDR = 0xFC,
};

#define ABORT_CLEAR_ALL 0x1Eu
#define ABORT_DAPABORT  0x01u
#define CTRL_STICKY     0xB2u /* STICKYORUN, STICKYCMP, STICKYERR, WDATAERR */

#define CSW_SIZE_MASK   0x07u
#define CSW_INC_MASK    0x30u
#define CSW_INC_SINGLE  0x10u
#define CSW_IN_PROGRESS 0x80u

#define TAR_WRAP 0x400u /* auto-increment is only sure to work within 1 KiB */

/* A WAIT is repeated this often and for this long, whichever ends first. */
#define WAIT_RETRIES 2000
#define WAIT_NS      (100 * NS_PER_MS)

#define MAX_APS 256

struct ap_cache {
    bool present_known; /* IDR was read and is not zero */
    bool csw_known;
    bool tar_known;
    uint32_t csw;
    uint32_t tar;
};

struct mem_ap {
    const struct link_backend *backend;
    void *ctx;
    struct host_clock *clock;
    bool select_known;
    uint32_t select;
    /* The last AP write, whose failure shows only with a later transfer. */
    bool write_pending;
    struct link_access *write_access;
    uint32_t write_ap;
    uint64_t write_address;
    struct ap_cache aps[MAX_APS];
};

struct mem_ap *mem_ap_new(const struct link_backend *backend, void *ctx, struct host_clock *clock)
{
    struct mem_ap *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->backend = backend;
    m->ctx = ctx;
    m->clock = clock;
    return m;
}

void mem_ap_free(struct mem_ap *m)
{
    free(m);
}

void mem_ap_forget(struct mem_ap *m)
{
    m->select_known = false;
    m->write_pending = false;
    for (size_t i = 0; i < MAX_APS; i++)
        m->aps[i] = (struct ap_cache){false};
}

static bool is_posted(const struct mem_ap *m)
{
    return m->backend->dap_posted != NULL;
}

/* One transfer, WAIT repeated within bounds. In `posted` style where the backend has it. */
static enum dap_ack transfer(struct mem_ap *m, bool posted, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    struct deadline limit = {0};
    for (unsigned i = 0;; i++) {
        enum dap_ack ack = posted && is_posted(m) ? m->backend->dap_posted(m->ctx, ap, read, addr, value)
                                                  : m->backend->dap(m->ctx, ap, read, addr, value);
        if (ack != DAP_ACK_WAIT)
            return ack;
        if (i == 0)
            limit = deadline_in(m->clock, WAIT_NS);
        else if (i >= WAIT_RETRIES || deadline_passed(&limit))
            return ack;
    }
}

static enum corral_err describe(struct diag *d, enum corral_err code, const char *what, const char *space,
                                uint32_t ap, uint64_t address)
{
    if (strcmp(space, "dp") == 0)
        return diag_set(d, code, "the debug port answered %s at DP register 0x%02" PRIx64, what, address);
    if (strcmp(space, "ap") == 0)
        return diag_set(d, code, "AP %" PRIu32 " answered %s at AP register 0x%02" PRIx64, ap, what, address);
    return diag_set(d, code, "AP %" PRIu32 " answered %s at address 0x%08" PRIx64, ap, what, address);
}

static enum corral_err dead(struct mem_ap *m, const char *sentence, struct diag *d)
{
    struct diag own = DIAG_INIT;
    d = d ? d : &own; /* the code is the caller's whether or not he wants the sentence */
    m->select_known = false;
    diag_set(d, CORRAL_ERR_LINK_DOWN, "%s", sentence);
    if (m->backend->explain)
        m->backend->explain(m->ctx, d);
    return d->code;
}

/* Sets the diag for a transfer that was not acknowledged, and makes the port usable again. */
static enum corral_err recover(struct mem_ap *m, enum dap_ack ack, const char *space, uint32_t ap,
                               uint64_t address, struct diag *d)
{
    uint32_t value = 0;
    /* The access that failed was under way through this AP: where its TAR stands now is not known. */
    if (ap < MAX_APS && strcmp(space, "dp") != 0)
        m->aps[ap].tar_known = m->aps[ap].csw_known = false;
    m->write_pending = false;

    if (ack == DAP_ACK_WAIT) {
        value = ABORT_CLEAR_ALL | ABORT_DAPABORT;
        enum dap_ack aborted = m->backend->dap(m->ctx, false, false, DP_ABORT, &value);
        m->select_known = false; /* the AP must be selected anew (sheet 2.2) */
        if (aborted != DAP_ACK_OK && aborted != DAP_ACK_FAULT && aborted != DAP_ACK_WAIT)
            return dead(m, "the target stopped answering", d);
        describe(d, CORRAL_ERR_LINK_WAIT, "WAIT without end", space, ap, address);
        diag_hint(d,
                  "the transaction was aborted; the bus behind this access port may be stuck or unclocked");
        return CORRAL_ERR_LINK_WAIT;
    }
    if (ack != DAP_ACK_FAULT) {
        m->select_known = false;
        if (ack == DAP_ACK_NONE)
            return dead(m, "the target does not answer (no acknowledge)", d);
        return diag_set(d, CORRAL_ERR_LINK_PROTOCOL, "the target answered the undefined acknowledge %u",
                        (unsigned)ack);
    }

    /* Only CTRL/STAT and ABORT get through now. DPBANKSEL stays as it was: where it is not 0 the value read
     * is another register's, which is only used for the sentence. */
    uint32_t stat = 0;
    if (transfer(m, false, false, true, DP_CTRL_STAT, &stat) == DAP_ACK_NONE)
        return dead(m, "the target stopped answering", d);
    value = ABORT_CLEAR_ALL;
    if (transfer(m, false, false, false, DP_ABORT, &value) == DAP_ACK_NONE)
        return dead(m, "the target stopped answering", d);
    describe(d, CORRAL_ERR_LINK_FAULT, "FAULT", space, ap, address);
    if (stat & CTRL_STICKY)
        diag_hint(d, "CTRL/STAT was 0x%08" PRIx32 "; the sticky errors have been cleared", stat);
    return CORRAL_ERR_LINK_FAULT;
}

static enum corral_err fail_write(struct mem_ap *m, enum dap_ack ack, struct diag *d)
{
    struct link_access *a = m->write_access;
    uint32_t ap = m->write_ap;
    enum corral_err err = recover(m, ack, "mem", ap, m->write_address, d);
    if (a) {
        a->status = err;
        if (a->done)
            a->done--;
    }
    return err;
}

/*
 * One transfer of the access under way. A FAULT while an earlier write is outstanding is that write's: SWD
 * writes are buffered and their error is sticky.
 */
static enum corral_err step(struct mem_ap *m, bool posted, bool ap, bool read, uint8_t addr, uint32_t *value,
                            const char *space, uint32_t ap_number, uint64_t address, struct diag *d)
{
    enum dap_ack ack = transfer(m, posted, ap, read, addr, value);
    if (ack == DAP_ACK_OK)
        return CORRAL_OK;
    if (ack == DAP_ACK_FAULT && m->write_pending)
        return fail_write(m, ack, d);
    return recover(m, ack, space, ap_number, address, d);
}

static enum corral_err set_select(struct mem_ap *m, uint32_t ap, uint32_t reg, struct diag *d)
{
    uint32_t want = ap << 24 | (reg & 0xF0u);
    if (m->select_known && m->select == want)
        return CORRAL_OK;
    m->select_known = false;
    uint32_t value = want;
    enum corral_err err = step(m, true, false, false, DP_SELECT, &value, "dp", ap, DP_SELECT, d);
    if (err)
        return err;
    m->select = want;
    m->select_known = true;
    return CORRAL_OK;
}

static enum corral_err ap_read(struct mem_ap *m, uint32_t ap, uint32_t reg, uint32_t *value, struct diag *d)
{
    enum corral_err err = set_select(m, ap, reg, d);
    if (err)
        return err;
    err = step(m, true, true, true, (uint8_t)(reg & 0xC), value, "ap", ap, reg, d);
    if (!err && is_posted(m))
        err = step(m, true, false, true, DP_RDBUFF, value, "ap", ap, reg, d);
    if (!err)
        m->write_pending = false; /* a later AP transfer got through: the write did too */
    return err;
}

static enum corral_err ap_write(struct mem_ap *m, uint32_t ap, uint32_t reg, uint32_t value, struct diag *d)
{
    enum corral_err err = set_select(m, ap, reg, d);
    if (err)
        return err;
    return step(m, true, true, false, (uint8_t)(reg & 0xC), &value, "ap", ap, reg, d);
}

/* Make sure that the AP is there and CSW says `size` and the increment wanted. */
static enum corral_err set_csw(struct mem_ap *m, uint32_t ap, uint8_t size, bool increment, struct diag *d)
{
    struct ap_cache *c = &m->aps[ap];
    if (!c->present_known) {
        uint32_t idr = 0;
        enum corral_err err = ap_read(m, ap, AP_IDR, &idr, d);
        if (err)
            return err;
        if (idr == 0) {
            diag_set(d, CORRAL_ERR_NO_AP, "there is no access port %" PRIu32, ap);
            return CORRAL_ERR_NO_AP;
        }
        c->present_known = true;
    }
    if (!c->csw_known) {
        enum corral_err err = ap_read(m, ap, AP_CSW, &c->csw, d);
        if (err)
            return err;
    }
    uint32_t want = c->csw & ~(CSW_SIZE_MASK | CSW_INC_MASK | CSW_IN_PROGRESS);
    want |= size == 4 ? 2u : size == 2 ? 1u : 0u;
    want |= increment ? CSW_INC_SINGLE : 0;
    if (c->csw_known && c->csw == want)
        return CORRAL_OK;
    c->csw_known = false;
    enum corral_err err = ap_write(m, ap, AP_CSW, want, d);
    if (err)
        return err;
    c->csw = want;
    c->csw_known = true;
    return CORRAL_OK;
}

static enum corral_err set_tar(struct mem_ap *m, uint32_t ap, uint32_t address, struct diag *d)
{
    struct ap_cache *c = &m->aps[ap];
    if (c->tar_known && c->tar == address)
        return CORRAL_OK;
    c->tar_known = false;
    enum corral_err err = ap_write(m, ap, AP_TAR, address, d);
    if (err)
        return err;
    c->tar = address;
    c->tar_known = true;
    return CORRAL_OK;
}

/* DRW carries narrow data in the byte lanes of the address. */
static uint32_t lanes_in(const struct link_access *a, uint32_t i, uint32_t address)
{
    const uint8_t *p = (const uint8_t *)a->data + (size_t)i * a->size;
    uint16_t half;
    uint32_t word;
    switch (a->size) {
    case 1:
        return (uint32_t)*p << 8 * (address & 3);
    case 2:
        memcpy(&half, p, sizeof(half));
        return (uint32_t)half << 8 * (address & 2);
    default:
        memcpy(&word, p, sizeof(word));
        return word;
    }
}

static void lanes_out(struct link_access *a, uint32_t i, uint32_t address, uint32_t drw)
{
    uint8_t *p = (uint8_t *)a->data + (size_t)i * a->size;
    uint16_t half = (uint16_t)(drw >> 8 * (address & 2));
    switch (a->size) {
    case 1:
        *p = (uint8_t)(drw >> 8 * (address & 3));
        break;
    case 2:
        memcpy(p, &half, sizeof(half));
        break;
    default:
        memcpy(p, &drw, sizeof(drw));
        break;
    }
}

/* Elements from `address` up to where TAR must be written again. */
static uint32_t run_length(const struct link_access *a, uint32_t address, uint32_t left)
{
    uint32_t room = (TAR_WRAP - address % TAR_WRAP) / a->size;
    return left < room ? left : room;
}

#define BLOCK_WORDS 256u

/* A run handed over as a whole. */
static enum corral_err block_run(struct mem_ap *m, struct link_access *a, uint32_t first, uint32_t n,
                                 struct diag *d)
{
    uint32_t values[BLOCK_WORDS];
    bool read = a->op == LINK_MEM_READ;
    while (n) {
        uint32_t address = (uint32_t)a->address + first * a->size;
        uint32_t k = n < BLOCK_WORDS ? n : BLOCK_WORDS, done = 0;
        for (uint32_t i = 0; i < k; i++)
            values[i] = read ? 0 : lanes_in(a, first + i, address + i * a->size);
        enum dap_ack ack = m->backend->dap_block(m->ctx, read, AP_DRW, values, k, &done);
        done = done < k ? done : k;
        for (uint32_t i = 0; read && i < done; i++)
            lanes_out(a, first + i, address + i * a->size, values[i]);
        a->done += done;
        if (ack != DAP_ACK_OK)
            return recover(m, ack, "mem", a->ap, address + (done < k ? done : k - 1) * a->size, d);
        first += k;
        n -= k;
    }
    return CORRAL_OK;
}

static enum corral_err read_run(struct mem_ap *m, struct link_access *a, uint32_t first, uint32_t n,
                                struct diag *d)
{
    uint32_t address = (uint32_t)a->address + first * a->size;
    uint32_t value = 0;
    bool posted = is_posted(m);
    enum corral_err err = CORRAL_OK;
    for (uint32_t i = 0; i < n; i++) {
        /* On a posted wire a refusal here is about the element before. */
        uint32_t about = address + (posted && i ? i - 1 : i) * a->size;
        err = step(m, true, true, true, AP_DRW, &value, "mem", a->ap, about, d);
        if (err)
            return err;
        m->write_pending = false;
        if (!posted) {
            lanes_out(a, first + i, address + i * a->size, value);
            a->done++;
        } else if (i) {
            lanes_out(a, first + i - 1, about, value);
            a->done++;
        }
    }
    if (posted) {
        uint32_t about = address + (n - 1) * a->size;
        err = step(m, true, false, true, DP_RDBUFF, &value, "mem", a->ap, about, d);
        if (err)
            return err;
        lanes_out(a, first + n - 1, about, value);
        a->done++;
    }
    return CORRAL_OK;
}

static enum corral_err write_run(struct mem_ap *m, struct link_access *a, uint32_t first, uint32_t n,
                                 struct diag *d)
{
    uint32_t address = (uint32_t)a->address + first * a->size;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = address + i * a->size;
        uint32_t value = lanes_in(a, first + i, at);
        enum corral_err err = step(m, true, true, false, AP_DRW, &value, "mem", a->ap, at, d);
        if (err)
            return err;
        a->done++;
        m->write_pending = true;
        m->write_access = a;
        m->write_ap = a->ap;
        m->write_address = at;
    }
    return CORRAL_OK;
}

static enum corral_err memory(struct mem_ap *m, struct link_access *a, struct diag *d)
{
    bool write = a->op == LINK_MEM_WRITE;
    /* A single element leaves TAR where it is, so that a register polled or written again needs no TAR. */
    bool increment = a->count > 1;
    enum corral_err err = set_csw(m, a->ap, a->size, increment, d);
    struct ap_cache *c = &m->aps[a->ap];
    for (uint32_t i = 0; !err && i < a->count;) {
        uint32_t address = (uint32_t)a->address + i * a->size;
        uint32_t n = run_length(a, address, a->count - i);
        err = set_tar(m, a->ap, address, d);
        if (!err) /* CSW and TAR may both have been right while another AP was selected */
            err = set_select(m, a->ap, AP_DRW, d);
        if (err)
            break;
        if (m->backend->dap_block)
            err = block_run(m, a, i, n, d);
        else
            err = write ? write_run(m, a, i, n, d) : read_run(m, a, i, n, d);
        if (err)
            break;
        if (increment) {
            c->tar = address + n * a->size;
            c->tar_known = c->tar % TAR_WRAP != 0;
        }
        i += n;
    }
    return err;
}

static enum corral_err ap_register(struct mem_ap *m, struct link_access *a, struct diag *d)
{
    uint32_t reg = (uint32_t)a->address;
    uint32_t value = 0;
    enum corral_err err;
    if (a->op == LINK_AP_READ) {
        err = ap_read(m, a->ap, reg, &value, d);
        if (!err)
            memcpy(a->data, &value, sizeof(value));
    } else {
        memcpy(&value, a->data, sizeof(value));
        err = ap_write(m, a->ap, reg, value, d);
    }
    struct ap_cache *c = &m->aps[a->ap];
    if (a->op == LINK_AP_WRITE && reg == AP_CSW)
        c->csw_known = false;
    if ((a->op == LINK_AP_WRITE && reg == AP_TAR) || reg == AP_DRW)
        c->tar_known = false;
    if (!err)
        a->done = 1;
    return err;
}

static enum corral_err dp_register(struct mem_ap *m, struct link_access *a, struct diag *d)
{
    uint8_t reg = (uint8_t)a->address;
    bool read = a->op == LINK_DP_READ;
    uint32_t value = 0;
    if (!read)
        memcpy(&value, a->data, sizeof(value));
    if (!read && reg == DP_SELECT)
        m->select_known = false;
    enum corral_err err = step(m, true, false, read, reg, &value, "dp", 0, reg, d);
    if (err)
        return err;
    if (read) {
        memcpy(a->data, &value, sizeof(value));
    } else if (reg == DP_SELECT) {
        m->select = value;
        m->select_known = true;
    }
    a->done = 1;
    return CORRAL_OK;
}

enum corral_err mem_ap_access(struct mem_ap *m, struct link_access *a, struct diag *d)
{
    bool dp = a->op == LINK_DP_READ || a->op == LINK_DP_WRITE;
    bool ap = a->op == LINK_AP_READ || a->op == LINK_AP_WRITE;
    if (!dp && a->ap >= MAX_APS)
        return diag_set(d, CORRAL_ERR_NO_AP, "there is no access port %" PRIu32, a->ap);
    if (ap && a->address > AP_IDR)
        return diag_set(d, CORRAL_ERR_USAGE, "0x%" PRIx64 " is not an access port register", a->address);
    switch (a->op) {
    case LINK_MEM_READ:
    case LINK_MEM_WRITE:
        return memory(m, a, d);
    case LINK_AP_READ:
    case LINK_AP_WRITE:
        return ap_register(m, a, d);
    case LINK_DP_READ:
    case LINK_DP_WRITE:
        return dp_register(m, a, d);
    }
    return diag_set(d, CORRAL_ERR_USAGE, "unknown kind of access");
}

enum corral_err mem_ap_finish(struct mem_ap *m, struct diag *d)
{
    if (!m->write_pending)
        return CORRAL_OK;
    uint32_t value = 0;
    enum dap_ack ack = transfer(m, true, false, true, DP_RDBUFF, &value);
    if (ack != DAP_ACK_OK)
        return fail_write(m, ack, d);
    m->write_pending = false;
    m->write_access = NULL;
    return CORRAL_OK;
}
