/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory batches to DP and AP transfers. Cross-trigger sheet 2.1 (DP registers), 2.2 (WAIT, FAULT, posted
 * reads) and 2.3 (CSW, TAR, auto-increment); cases 12.B B12, B20, B23, B24. ADIv5 and, where DPIDR says
 * version 3, ADIv6: an access port is then a base address, and its registers stand 0xD00 above it.
 *
 * Must not know what is read through it, and must never repeat an access that may have had its effect.
 */
#include "link/mem_ap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    DP_ABORT = 0x0,
    DP_DPIDR = 0x0,
    DP_CTRL_STAT = 0x4,
    DP_SELECT = 0x8,
    DP_RDBUFF = 0xC,
    DP_TARGETSEL = 0xC, /* of a write */
    /* Offsets in the AP's own registers: ADIv6 has them at ADIV6_REGISTERS. */
    AP_CSW = 0x00,
    AP_TAR = 0x04,
    AP_TARH = 0x08,
    AP_DRW = 0x0C,
    AP_BD0 = 0x10, /* and BD1 to BD3: the words of the 16 bytes that TAR is in */
    AP_CFG = 0xF4,
    AP_IDR = 0xFC,
    ADIV6_REGISTERS = 0xD00,
};

/* DP registers of version 3 that need DPBANKSEL. */
enum { BANK_DPIDR1 = 1, BANK_SELECT1 = 5, DP_SELECT1 = 0x4 };
#define DPBANKSEL        0xFu
#define DPIDR_VERSION(v) ((v) >> 12 & 0xFu)
#define DPIDR1_ASIZE     0x7Fu
#define CFG_LA           2u
#define IDR_TYPE(v)      ((v)&0xFu)
#define IDR_AHB3         1u
#define IDR_APB3         2u

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

/* So many times in a row without an answer, and the AP is left alone for so long (B24): the others must not
 * be kept waiting by it. A core that only slept is asked again afterwards. */
#define DEAD_AFTER 3
#define DEAD_NS    NS_PER_S

#define MAX_APS     256
#define ADIV6_APS   64      /* remembered at a time */
#define ADIV6_BLOCK 0x1000u /* an AP's registers */

struct ap_cache {
    bool used;
    uint32_t ap;
    unsigned waits; /* in a row */
    bool dead;
    struct deadline dead_until;
    bool present_known; /* IDR was read and is not zero */
    bool large;         /* CFG.LA: has TARH */
    bool tarh_known;
    uint32_t tarh;
    bool csw_known;
    bool tar_known;
    uint32_t csw;
    uint32_t tar;
};

struct mem_ap {
    const struct link_backend *backend;
    void *ctx;
    struct host_clock *clock;
    bool version_known;
    bool adiv6;
    bool select_known;
    uint32_t select;
    /* DPBANKSEL as link_write_dp was told, which holds for DP accesses whatever AP accesses need. */
    bool bank_told;
    uint32_t bank;
    unsigned next_slot;
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
    m->select_known = m->bank_told = false;
    m->write_pending = false;
    for (size_t i = 0; i < MAX_APS; i++)
        m->aps[i] = (struct ap_cache){false};
}

void mem_ap_forget_port(struct mem_ap *m)
{
    mem_ap_forget(m);
    m->version_known = false;
}

void mem_ap_aborted(struct mem_ap *m)
{
    m->select_known = false;
    m->write_pending = false;
    for (size_t i = 0; i < MAX_APS; i++)
        m->aps[i].tar_known = m->aps[i].tarh_known = m->aps[i].csw_known = false;
}

/* What is remembered of an AP. An ADIv5 number is its place; the base of an ADIv6 one takes the next. */
static struct ap_cache *cache_of(struct mem_ap *m, uint32_t ap)
{
    if (!m->adiv6)
        return &m->aps[ap % MAX_APS];
    for (size_t i = 0; i < ADIV6_APS; i++)
        if (m->aps[i].used && m->aps[i].ap == ap)
            return &m->aps[i];
    struct ap_cache *c = &m->aps[m->next_slot++ % ADIV6_APS];
    *c = (struct ap_cache){.used = true, .ap = ap};
    return c;
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
    char name[LINK_AP_NAME_MAX];
    link_ap_name(ap, name);
    if (strcmp(space, "dp") == 0)
        return diag_set(d, code, "the debug port answered %s at DP register 0x%02" PRIx64, what, address);
    if (strcmp(space, "ap") == 0)
        return diag_set(d, code, "AP %s answered %s at AP register 0x%02" PRIx64, name, what, address);
    return diag_set(d, code, "AP %s answered %s at address 0x%08" PRIx64, name, what, address);
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
    struct ap_cache *c = strcmp(space, "dp") != 0 ? cache_of(m, ap) : NULL;
    if (c)
        c->tar_known = c->tarh_known = c->csw_known = false;
    m->write_pending = false;

    if (ack == DAP_ACK_WAIT) {
        value = ABORT_CLEAR_ALL | ABORT_DAPABORT;
        enum dap_ack aborted = m->backend->dap(m->ctx, false, false, DP_ABORT, &value);
        m->select_known = false; /* the AP must be selected anew (sheet 2.2) */
        if (aborted != DAP_ACK_OK && aborted != DAP_ACK_FAULT && aborted != DAP_ACK_WAIT)
            return dead(m, "the target stopped answering", d);
        describe(d, CORRAL_ERR_LINK_WAIT, "WAIT without end", space, ap, address);
        if (c && ++c->waits >= DEAD_AFTER) {
            c->dead = true;
            c->dead_until = deadline_in(m->clock, DEAD_NS);
        }
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

static enum corral_err write_select(struct mem_ap *m, uint32_t want, struct diag *d)
{
    if (m->select_known && m->select == want)
        return CORRAL_OK;
    m->select_known = false;
    uint32_t value = want;
    enum corral_err err = step(m, true, false, false, DP_SELECT, &value, "dp", 0, DP_SELECT, d);
    if (err)
        return err;
    m->select = want;
    m->select_known = true;
    return CORRAL_OK;
}

/* `reg` is the register's offset in the AP: up to 0xFC in ADIv5, anywhere in 4 KiB in ADIv6. */
static enum corral_err set_select(struct mem_ap *m, uint32_t ap, uint32_t reg, struct diag *d)
{
    return write_select(m, m->adiv6 ? ap | (reg & 0xFF0u) : ap << 24 | (reg & 0xF0u), d);
}

/* SELECT holds the lower half of an AP's address. The upper one must be 0 before the first access: where the
 * port has it (addresses of more than 32 bits), another tool may have left it elsewhere. */
static enum corral_err clear_select1(struct mem_ap *m, struct diag *d)
{
    uint32_t value = 0;
    enum corral_err err = write_select(m, BANK_DPIDR1, d);
    if (!err)
        err = step(m, true, false, true, DP_DPIDR, &value, "dp", 0, DP_DPIDR, d);
    if (err || (value & DPIDR1_ASIZE) <= 32)
        return err;
    err = write_select(m, BANK_SELECT1, d);
    value = 0;
    if (!err)
        err = step(m, true, false, false, DP_SELECT1, &value, "dp", 0, DP_SELECT1, d);
    return err;
}

/* Before the first access to an AP: what SELECT means depends on the port's version. */
static enum corral_err know_version(struct mem_ap *m, struct diag *d)
{
    if (m->version_known)
        return CORRAL_OK;
    uint32_t dpidr = 0;
    enum corral_err err = write_select(m, 0, d);
    if (!err)
        err = step(m, true, false, true, DP_DPIDR, &dpidr, "dp", 0, DP_DPIDR, d);
    if (err)
        return err;
    m->adiv6 = DPIDR_VERSION(dpidr) >= 3;
    if (m->adiv6)
        err = clear_select1(m, d);
    m->version_known = !err;
    return err;
}

static uint32_t register_of(const struct mem_ap *m, uint32_t reg)
{
    return m->adiv6 ? ADIV6_REGISTERS + reg : reg;
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

static enum corral_err no_ap(uint32_t ap, struct diag *d)
{
    char name[LINK_AP_NAME_MAX];
    return diag_set(d, CORRAL_ERR_NO_AP, "there is no access port %s", link_ap_name(ap, name));
}

/* Make sure that the AP is there, and know whether it has an upper half of TAR (B12). */
static enum corral_err know_ap(struct mem_ap *m, struct ap_cache *c, uint32_t ap, struct diag *d)
{
    if (c->present_known)
        return CORRAL_OK;
    uint32_t idr = 0, cfg = 0;
    enum corral_err err = ap_read(m, ap, register_of(m, AP_IDR), &idr, d);
    if (err)
        return err;
    if (idr == 0)
        return no_ap(ap, d);
    /* AHB3 and APB2/3 end at 4 GiB whatever an old AP reads at CFG. */
    if (IDR_TYPE(idr) != IDR_AHB3 && IDR_TYPE(idr) != IDR_APB3)
        err = ap_read(m, ap, register_of(m, AP_CFG), &cfg, d);
    if (err)
        return err;
    c->large = (cfg & CFG_LA) != 0;
    c->present_known = true;
    return CORRAL_OK;
}

/* Make sure that CSW says `size` and the increment wanted. */
static enum corral_err set_csw(struct mem_ap *m, uint32_t ap, uint8_t size, bool increment, struct diag *d)
{
    struct ap_cache *c = cache_of(m, ap);
    if (!c->csw_known) {
        enum corral_err err = ap_read(m, ap, register_of(m, AP_CSW), &c->csw, d);
        if (err)
            return err;
    }
    uint32_t want = c->csw & ~(CSW_SIZE_MASK | CSW_INC_MASK | CSW_IN_PROGRESS);
    want |= size == 4 ? 2u : size == 2 ? 1u : 0u;
    want |= increment ? CSW_INC_SINGLE : 0;
    if (c->csw_known && c->csw == want)
        return CORRAL_OK;
    c->csw_known = false;
    enum corral_err err = ap_write(m, ap, register_of(m, AP_CSW), want, d);
    if (err)
        return err;
    c->csw = want;
    c->csw_known = true;
    return CORRAL_OK;
}

static enum corral_err set_tar(struct mem_ap *m, uint32_t ap, uint64_t address, struct diag *d)
{
    struct ap_cache *c = cache_of(m, ap);
    uint32_t low = (uint32_t)address, high = (uint32_t)(address >> 32);
    enum corral_err err;
    if (c->large && (!c->tarh_known || c->tarh != high)) {
        c->tarh_known = false;
        err = ap_write(m, ap, register_of(m, AP_TARH), high, d);
        if (err)
            return err;
        c->tarh = high;
        c->tarh_known = true;
    }
    if (c->tar_known && c->tar == low)
        return CORRAL_OK;
    c->tar_known = false;
    err = ap_write(m, ap, register_of(m, AP_TAR), low, d);
    if (err)
        return err;
    c->tar = low;
    c->tar_known = true;
    return CORRAL_OK;
}

/* DRW carries narrow data in the byte lanes of the address. */
static uint32_t lanes_in(const struct link_access *a, uint32_t i, uint64_t address)
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

static void lanes_out(struct link_access *a, uint32_t i, uint64_t address, uint32_t drw)
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
static uint32_t run_length(const struct link_access *a, uint64_t address, uint32_t left)
{
    uint32_t room = (TAR_WRAP - (uint32_t)(address % TAR_WRAP)) / a->size;
    return left < room ? left : room;
}

#define BLOCK_WORDS 256u

/* A run handed over as a whole. */
static enum corral_err block_run(struct mem_ap *m, struct link_access *a, uint8_t reg, uint32_t first,
                                 uint32_t n, struct diag *d)
{
    uint32_t values[BLOCK_WORDS];
    bool read = a->op == LINK_MEM_READ;
    while (n) {
        uint64_t address = a->address + (uint64_t)first * a->size;
        uint32_t k = n < BLOCK_WORDS ? n : BLOCK_WORDS, done = 0;
        for (uint32_t i = 0; i < k; i++)
            values[i] = read ? 0 : lanes_in(a, first + i, address + (uint64_t)i * a->size);
        enum dap_ack ack = m->backend->dap_block(m->ctx, read, reg, values, k, &done);
        done = done < k ? done : k;
        for (uint32_t i = 0; read && i < done; i++)
            lanes_out(a, first + i, address + (uint64_t)i * a->size, values[i]);
        a->done += done;
        if (ack != DAP_ACK_OK)
            return recover(m, ack, "mem", a->ap, address + (uint64_t)(done < k ? done : k - 1) * a->size, d);
        first += k;
        n -= k;
    }
    return CORRAL_OK;
}

static enum corral_err read_run(struct mem_ap *m, struct link_access *a, uint8_t reg, uint32_t first,
                                uint32_t n, struct diag *d)
{
    uint64_t address = a->address + (uint64_t)first * a->size;
    uint32_t value = 0;
    bool posted = is_posted(m);
    enum corral_err err = CORRAL_OK;
    for (uint32_t i = 0; i < n; i++) {
        /* On a posted wire a refusal here is about the element before. */
        uint64_t about = address + (uint64_t)(posted && i ? i - 1 : i) * a->size;
        err = step(m, true, true, true, reg, &value, "mem", a->ap, about, d);
        if (err)
            return err;
        m->write_pending = false;
        if (!posted) {
            lanes_out(a, first + i, address + (uint64_t)i * a->size, value);
            a->done++;
        } else if (i) {
            lanes_out(a, first + i - 1, about, value);
            a->done++;
        }
    }
    if (posted) {
        uint64_t about = address + (uint64_t)(n - 1) * a->size;
        err = step(m, true, false, true, DP_RDBUFF, &value, "mem", a->ap, about, d);
        if (err)
            return err;
        lanes_out(a, first + n - 1, about, value);
        a->done++;
    }
    return CORRAL_OK;
}

static enum corral_err write_run(struct mem_ap *m, struct link_access *a, uint8_t reg, uint32_t first,
                                 uint32_t n, struct diag *d)
{
    uint64_t address = a->address + (uint64_t)first * a->size;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t at = address + (uint64_t)i * a->size;
        uint32_t value = lanes_in(a, first + i, at);
        enum corral_err err = step(m, true, true, false, reg, &value, "mem", a->ap, at, d);
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

/*
 * A single word beside the one accessed last, as the debug registers of a core are: TAR can stay. Which costs
 * no SELECT either where it must be written for another AP, or is there already.
 */
static bool is_beside(const struct ap_cache *c, const struct link_access *a)
{
    return a->count == 1 && a->size == 4 && c->tar_known && (!c->large || c->tarh_known) &&
           (a->address ^ (c->tar | (uint64_t)(c->large ? c->tarh : 0) << 32)) < 16;
}

/* BD0 to BD3 are selected now. */
static bool is_banked(const struct mem_ap *m, uint32_t ap)
{
    uint32_t want = m->adiv6 ? ap | register_of(m, AP_BD0) : ap << 24 | AP_BD0;
    return m->select_known && m->select == want;
}

static enum corral_err memory(struct mem_ap *m, struct link_access *a, struct diag *d)
{
    bool write = a->op == LINK_MEM_WRITE;
    /* A single element leaves TAR where it is, so that a register polled or written again needs no TAR. */
    bool increment = a->count > 1;
    struct ap_cache *c = cache_of(m, a->ap);
    enum corral_err err = know_ap(m, c, a->ap, d);
    uint64_t size = (uint64_t)a->count * a->size;
    if (!err && !c->large && (a->address > UINT32_MAX || a->address + size > UINT64_C(1) << 32)) {
        char name[LINK_AP_NAME_MAX];
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "address 0x%" PRIx64 " is past AP %s's 32 bits",
                        a->address, link_ap_name(a->ap, name));
    }
    if (!err)
        err = set_csw(m, a->ap, a->size, increment, d);
    for (uint32_t i = 0; !err && i < a->count;) {
        uint64_t address = a->address + (uint64_t)i * a->size;
        uint32_t n = run_length(a, address, a->count - i);
        uint32_t reg = AP_DRW;
        if (is_beside(c, a) && (c->tar != (uint32_t)address || is_banked(m, a->ap)))
            reg = AP_BD0 + ((uint32_t)address & 0xC);
        else
            err = set_tar(m, a->ap, address, d);
        if (!err) /* CSW and TAR may both have been right while another AP was selected */
            err = set_select(m, a->ap, register_of(m, reg), d);
        if (err)
            break;
        if (m->backend->dap_block)
            err = block_run(m, a, (uint8_t)(reg & 0xC), i, n, d);
        else
            err = write ? write_run(m, a, (uint8_t)(reg & 0xC), i, n, d)
                        : read_run(m, a, (uint8_t)(reg & 0xC), i, n, d);
        if (err)
            break;
        if (increment) {
            c->tar = (uint32_t)address + n * a->size;
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
    struct ap_cache *c = cache_of(m, a->ap);
    if (a->op == LINK_AP_WRITE && reg == register_of(m, AP_CSW))
        c->csw_known = false;
    if (a->op == LINK_AP_WRITE && reg == register_of(m, AP_TARH))
        c->tarh_known = false;
    if ((a->op == LINK_AP_WRITE && reg == register_of(m, AP_TAR)) || reg == register_of(m, AP_DRW))
        c->tar_known = false;
    if (!err)
        a->done = 1;
    return err;
}

/* The bank of DP registers that was asked for last, where an AP access has selected another since. */
static enum corral_err set_bank(struct mem_ap *m, struct diag *d)
{
    uint32_t rest = m->select_known ? m->select & ~DPBANKSEL : 0;
    return m->bank_told ? write_select(m, rest | m->bank, d) : CORRAL_OK;
}

static enum corral_err dp_register(struct mem_ap *m, struct link_access *a, struct diag *d)
{
    uint8_t reg = (uint8_t)a->address;
    bool read = a->op == LINK_DP_READ;
    uint32_t value = 0;
    enum corral_err err = CORRAL_OK;
    if (!read)
        memcpy(&value, a->data, sizeof(value));
    if (reg == DP_CTRL_STAT || (read && reg == DP_DPIDR))
        err = set_bank(m, d);
    else if (!read && reg == DP_ABORT)
        err = mem_ap_finish(m, d); /* what is queued would be lost, and what has failed go unseen */
    if (!read && reg == DP_SELECT)
        m->select_known = false;
    if (!err)
        err = step(m, true, false, read, reg, &value, "dp", 0, reg, d);
    if (err)
        return err;
    if (read) {
        memcpy(a->data, &value, sizeof(value));
        /* ADIv5 is all that need not be asked for again: ADIv6 has SELECT1 to be looked at. */
        if (reg == DP_DPIDR && m->select_known && (m->select & DPBANKSEL) == 0 && DPIDR_VERSION(value) < 3)
            m->version_known = true;
    } else if (reg == DP_SELECT) {
        m->select = value;
        m->select_known = m->bank_told = true;
        m->bank = value & DPBANKSEL;
    } else if (reg == DP_ABORT && (value & ABORT_DAPABORT)) {
        mem_ap_aborted(m);
    } else if (reg == DP_TARGETSEL) {
        mem_ap_forget_port(m); /* another debug port, perhaps */
    }
    a->done = 1;
    return CORRAL_OK;
}

enum corral_err mem_ap_access(struct mem_ap *m, struct link_access *a, struct diag *d)
{
    if (a->op == LINK_DP_READ || a->op == LINK_DP_WRITE)
        return dp_register(m, a, d);
    bool ap = a->op == LINK_AP_READ || a->op == LINK_AP_WRITE;
    enum corral_err err = know_version(m, d);
    if (err)
        return err;
    if (m->adiv6 ? a->ap % ADIV6_BLOCK != 0 : a->ap >= MAX_APS)
        return no_ap(a->ap, d);
    if (ap && !m->adiv6 && a->address > AP_IDR)
        return diag_set(d, CORRAL_ERR_USAGE, "0x%" PRIx64 " is not an access port register", a->address);
    struct ap_cache *c = cache_of(m, a->ap);
    if (c->dead && !deadline_passed(&c->dead_until)) {
        char name[LINK_AP_NAME_MAX];
        diag_set(d, CORRAL_ERR_LINK_WAIT, "AP %s is given up for now: its bus does not answer",
                 link_ap_name(a->ap, name));
        diag_hint(d, "the bus behind this access port may be stuck or unclocked; it is asked again later");
        return CORRAL_ERR_LINK_WAIT;
    }
    c->dead = false;
    err = ap ? ap_register(m, a, d) : memory(m, a, d);
    if (err != CORRAL_ERR_LINK_WAIT)
        cache_of(m, a->ap)->waits = 0;
    return err;
}

enum corral_err mem_ap_finish(struct mem_ap *m, struct diag *d)
{
    if (!m->write_pending) {
        enum dap_ack flushed = m->backend->flush ? m->backend->flush(m->ctx) : DAP_ACK_OK;
        return flushed == DAP_ACK_OK ? CORRAL_OK : recover(m, flushed, "dp", 0, DP_SELECT, d);
    }
    uint32_t value = 0;
    enum dap_ack ack = transfer(m, true, false, true, DP_RDBUFF, &value);
    if (ack != DAP_ACK_OK)
        return fail_write(m, ack, d);
    m->write_pending = false;
    m->write_access = NULL;
    return CORRAL_OK;
}
