/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DP and AP registers by single debug-port transfers. Cross-trigger sheet 2.1 (DP registers), 2.2 (WAIT,
 * FAULT, posted reads); cases 12.B B20, B23, B24. ADIv5 and, where DPIDR says version 3, ADIv6: an access
 * port is then a base address, and its registers stand 0xD00 above it.
 *
 * Must never repeat an access that may have had its effect.
 */
#include "link/mem_ap_port.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* DP registers of version 3 that need DPBANKSEL. */
enum { BANK_DPIDR1 = 1, BANK_SELECT1 = 5, DP_SELECT1 = 0x4 };
#define DPBANKSEL        0xFu
#define DPIDR_VERSION(v) ((v) >> 12 & 0xFu)
#define DPIDR1_ASIZE     0x7Fu

#define ABORT_CLEAR_ALL 0x1Eu
#define ABORT_DAPABORT  0x01u
#define CTRL_STICKY     0xB2u /* STICKYORUN, STICKYCMP, STICKYERR, WDATAERR */

/* A WAIT is repeated this often and for this long, whichever ends first. */
#define WAIT_RETRIES 2000
#define WAIT_NS      (100 * NS_PER_MS)

/* So many times in a row without an answer, and the AP is left alone for so long (B24): the others must not
 * be kept waiting by it. A core that only slept is asked again afterwards. */
#define DEAD_AFTER 3
#define DEAD_NS    NS_PER_S

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

struct ap_cache *mem_ap_cache(struct mem_ap *m, uint32_t ap)
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

/* One transfer, WAIT repeated within bounds. In `posted` style where the backend has it. */
static enum dap_ack transfer(struct mem_ap *m, bool posted, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    struct deadline limit = {0};
    for (unsigned i = 0;; i++) {
        enum dap_ack ack = posted && mem_ap_is_posted(m)
                               ? m->backend->dap_posted(m->ctx, ap, read, addr, value)
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

enum corral_err mem_ap_recover(struct mem_ap *m, enum dap_ack ack, const char *space, uint32_t ap,
                               uint64_t address, struct diag *d)
{
    uint32_t value = 0;
    /* The access that failed was under way through this AP: where its TAR stands now is not known. */
    struct ap_cache *c = strcmp(space, "dp") != 0 ? mem_ap_cache(m, ap) : NULL;
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
    enum corral_err err = mem_ap_recover(m, ack, "mem", ap, m->write_address, d);
    if (a) {
        a->status = err;
        if (a->done)
            a->done--;
    }
    return err;
}

enum corral_err mem_ap_step(struct mem_ap *m, bool posted, bool ap, bool read, uint8_t addr, uint32_t *value,
                            const char *space, uint32_t ap_number, uint64_t address, struct diag *d)
{
    enum dap_ack ack = transfer(m, posted, ap, read, addr, value);
    if (ack == DAP_ACK_OK)
        return CORRAL_OK;
    if (ack == DAP_ACK_FAULT && m->write_pending)
        return fail_write(m, ack, d);
    return mem_ap_recover(m, ack, space, ap_number, address, d);
}

static enum corral_err write_select(struct mem_ap *m, uint32_t want, struct diag *d)
{
    if (m->select_known && m->select == want)
        return CORRAL_OK;
    m->select_known = false;
    uint32_t value = want;
    enum corral_err err = mem_ap_step(m, true, false, false, DP_SELECT, &value, "dp", 0, DP_SELECT, d);
    if (err)
        return err;
    m->select = want;
    m->select_known = true;
    return CORRAL_OK;
}

enum corral_err mem_ap_select(struct mem_ap *m, uint32_t ap, uint32_t reg, struct diag *d)
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
        err = mem_ap_step(m, true, false, true, DP_DPIDR, &value, "dp", 0, DP_DPIDR, d);
    if (err || (value & DPIDR1_ASIZE) <= 32)
        return err;
    err = write_select(m, BANK_SELECT1, d);
    value = 0;
    if (!err)
        err = mem_ap_step(m, true, false, false, DP_SELECT1, &value, "dp", 0, DP_SELECT1, d);
    return err;
}

enum corral_err mem_ap_know_version(struct mem_ap *m, struct diag *d)
{
    if (m->version_known)
        return CORRAL_OK;
    uint32_t dpidr = 0;
    enum corral_err err = write_select(m, 0, d);
    if (!err)
        err = mem_ap_step(m, true, false, true, DP_DPIDR, &dpidr, "dp", 0, DP_DPIDR, d);
    if (err)
        return err;
    m->adiv6 = DPIDR_VERSION(dpidr) >= 3;
    if (m->adiv6)
        err = clear_select1(m, d);
    m->version_known = !err;
    return err;
}

enum corral_err mem_ap_read_register(struct mem_ap *m, uint32_t ap, uint32_t reg, uint32_t *value,
                                     struct diag *d)
{
    enum corral_err err = mem_ap_select(m, ap, reg, d);
    if (err)
        return err;
    err = mem_ap_step(m, true, true, true, (uint8_t)(reg & 0xC), value, "ap", ap, reg, d);
    if (!err && mem_ap_is_posted(m))
        err = mem_ap_step(m, true, false, true, DP_RDBUFF, value, "ap", ap, reg, d);
    if (!err)
        m->write_pending = false; /* a later AP transfer got through: the write did too */
    return err;
}

enum corral_err mem_ap_write_register(struct mem_ap *m, uint32_t ap, uint32_t reg, uint32_t value,
                                      struct diag *d)
{
    enum corral_err err = mem_ap_select(m, ap, reg, d);
    if (err)
        return err;
    return mem_ap_step(m, true, true, false, (uint8_t)(reg & 0xC), &value, "ap", ap, reg, d);
}

enum corral_err mem_ap_no_ap(uint32_t ap, struct diag *d)
{
    char name[LINK_AP_NAME_MAX];
    return diag_set(d, CORRAL_ERR_NO_AP, "there is no access port %s", link_ap_name(ap, name));
}

/* The bank of DP registers that was asked for last, where an AP access has selected another since. */
static enum corral_err set_bank(struct mem_ap *m, struct diag *d)
{
    uint32_t rest = m->select_known ? m->select & ~DPBANKSEL : 0;
    return m->bank_told ? write_select(m, rest | m->bank, d) : CORRAL_OK;
}

enum corral_err mem_ap_dp_register(struct mem_ap *m, struct link_access *a, struct diag *d)
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
        err = mem_ap_step(m, true, false, read, reg, &value, "dp", 0, reg, d);
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

enum corral_err mem_ap_finish(struct mem_ap *m, struct diag *d)
{
    if (!m->write_pending) {
        enum dap_ack flushed = m->backend->flush ? m->backend->flush(m->ctx) : DAP_ACK_OK;
        return flushed == DAP_ACK_OK ? CORRAL_OK : mem_ap_recover(m, flushed, "dp", 0, DP_SELECT, d);
    }
    uint32_t value = 0;
    enum dap_ack ack = transfer(m, true, false, true, DP_RDBUFF, &value);
    if (ack != DAP_ACK_OK)
        return fail_write(m, ack, d);
    m->write_pending = false;
    m->write_access = NULL;
    return CORRAL_OK;
}
