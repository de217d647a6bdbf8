/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory accesses to AP registers. Cross-trigger sheet 2.3 (CSW, TAR, auto-increment); cases 12.B B12, B20,
 * B23, B24. The registers themselves, and what goes wrong with them, are mem_ap_port.c's.
 *
 * Must not know what is read through it, and must never repeat an access that may have had its effect.
 */
#include "link/mem_ap.h"

#include <inttypes.h>
#include <string.h>

#include "link/mem_ap_port.h"

#define CFG_LA      2u
#define CFG_LD      4u
#define IDR_TYPE(v) ((v)&0xFu)
#define IDR_AHB3    1u
#define IDR_APB3    2u

#define CSW_SIZE_MASK   0x07u
#define CSW_INC_MASK    0x30u
#define CSW_INC_SINGLE  0x10u
#define CSW_IN_PROGRESS 0x80u

#define TAR_WRAP 0x400u /* auto-increment is only sure to work within 1 KiB */

/* Make sure that the AP is there, and know whether it has an upper half of TAR (B12). */
static enum corral_err know_ap(struct mem_ap *m, struct ap_cache *c, uint32_t ap, struct diag *d)
{
    if (c->present_known)
        return CORRAL_OK;
    uint32_t idr = 0, cfg = 0;
    enum corral_err err = mem_ap_read_register(m, ap, mem_ap_register(m, AP_IDR), &idr, d);
    if (err)
        return err;
    if (idr == 0)
        return mem_ap_no_ap(ap, d);
    /* AHB3 and APB2/3 end at 4 GiB whatever an old AP reads at CFG. */
    if (IDR_TYPE(idr) != IDR_AHB3 && IDR_TYPE(idr) != IDR_APB3)
        err = mem_ap_read_register(m, ap, mem_ap_register(m, AP_CFG), &cfg, d);
    if (err)
        return err;
    c->large = (cfg & CFG_LA) != 0;
    c->doubles = (cfg & CFG_LD) != 0;
    c->present_known = true;
    return CORRAL_OK;
}

/* Make sure that CSW says `size` and the increment wanted. */
static enum corral_err set_csw(struct mem_ap *m, uint32_t ap, uint8_t size, bool increment, struct diag *d)
{
    struct ap_cache *c = mem_ap_cache(m, ap);
    if (!c->csw_known) {
        enum corral_err err = mem_ap_read_register(m, ap, mem_ap_register(m, AP_CSW), &c->csw, d);
        if (err)
            return err;
    }
    uint32_t want = c->csw & ~(CSW_SIZE_MASK | CSW_INC_MASK | CSW_IN_PROGRESS);
    want |= size == 8 ? 3u : size == 4 ? 2u : size == 2 ? 1u : 0u;
    want |= increment ? CSW_INC_SINGLE : 0;
    if (c->csw_known && c->csw == want)
        return CORRAL_OK;
    c->csw_known = false;
    enum corral_err err = mem_ap_write_register(m, ap, mem_ap_register(m, AP_CSW), want, d);
    if (err)
        return err;
    c->csw = want;
    c->csw_known = true;
    return CORRAL_OK;
}

static enum corral_err set_tar(struct mem_ap *m, uint32_t ap, uint64_t address, struct diag *d)
{
    struct ap_cache *c = mem_ap_cache(m, ap);
    uint32_t low = (uint32_t)address, high = (uint32_t)(address >> 32);
    enum corral_err err;
    if (c->large && (!c->tarh_known || c->tarh != high)) {
        c->tarh_known = false;
        err = mem_ap_write_register(m, ap, mem_ap_register(m, AP_TARH), high, d);
        if (err)
            return err;
        c->tarh = high;
        c->tarh_known = true;
    }
    if (c->tar_known && c->tar == low)
        return CORRAL_OK;
    c->tar_known = false;
    err = mem_ap_write_register(m, ap, mem_ap_register(m, AP_TAR), low, d);
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
            return mem_ap_recover(m, ack, "mem", a->ap,
                                  address + (uint64_t)(done < k ? done : k - 1) * a->size, d);
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
    bool posted = mem_ap_is_posted(m);
    enum corral_err err = CORRAL_OK;
    for (uint32_t i = 0; i < n; i++) {
        /* On a posted wire a refusal here is about the element before. */
        uint64_t about = address + (uint64_t)(posted && i ? i - 1 : i) * a->size;
        err = mem_ap_step(m, true, true, true, reg, &value, "mem", a->ap, about, d);
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
        err = mem_ap_step(m, true, false, true, DP_RDBUFF, &value, "mem", a->ap, about, d);
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
        enum corral_err err = mem_ap_step(m, true, true, false, reg, &value, "mem", a->ap, at, d);
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
    uint32_t want = m->adiv6 ? ap | mem_ap_register(m, AP_BD0) : ap << 24 | AP_BD0;
    return m->select_known && m->select == want;
}

/* Of each 64 bits the lower half goes first, through the same DRW; TAR stays until both have gone. */
static enum corral_err double_words(struct mem_ap *m, struct link_access *a, struct diag *d)
{
    char name[LINK_AP_NAME_MAX];
    struct ap_cache *c = mem_ap_cache(m, a->ap);
    enum corral_err err = CORRAL_OK;
    if (!c->doubles)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "access port %s has no 64-bit accesses",
                        link_ap_name(a->ap, name));
    for (uint32_t i = 0; !err && i < a->count; i++) {
        uint8_t *at = (uint8_t *)a->data + (size_t)i * 8;
        uint64_t value;
        uint32_t words[2];
        struct link_access halves = {.op = a->op, .size = 4, .ap = a->ap, .count = 2, .data = words};
        halves.address = a->address + (uint64_t)i * 8;
        memcpy(&value, at, sizeof(value));
        words[0] = (uint32_t)value;
        words[1] = (uint32_t)(value >> 32);
        err = set_csw(m, a->ap, a->size, false, d);
        if (!err)
            err = set_tar(m, a->ap, halves.address, d);
        if (!err)
            err = mem_ap_select(m, a->ap, mem_ap_register(m, AP_DRW), d);
        if (!err && m->backend->dap_block)
            err = block_run(m, &halves, AP_DRW, 0, 2, d);
        else if (!err)
            err = a->op == LINK_MEM_WRITE ? write_run(m, &halves, AP_DRW, 0, 2, d)
                                          : read_run(m, &halves, AP_DRW, 0, 2, d);
        if (!err) /* not to be seen later: `halves` is gone then */
            err = mem_ap_finish(m, d);
        if (err)
            break;
        value = words[0] | (uint64_t)words[1] << 32;
        memcpy(at, &value, sizeof(value));
        a->done++;
    }
    return err;
}

static enum corral_err memory(struct mem_ap *m, struct link_access *a, struct diag *d)
{
    bool write = a->op == LINK_MEM_WRITE;
    /* A single element leaves TAR where it is, so that a register polled or written again needs no TAR. */
    bool increment = a->count > 1;
    struct ap_cache *c = mem_ap_cache(m, a->ap);
    enum corral_err err = know_ap(m, c, a->ap, d);
    uint64_t size = (uint64_t)a->count * a->size;
    if (!err && !c->large && (a->address > UINT32_MAX || a->address + size > UINT64_C(1) << 32)) {
        char name[LINK_AP_NAME_MAX];
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "address 0x%" PRIx64 " is past AP %s's 32 bits",
                        a->address, link_ap_name(a->ap, name));
    }
    if (!err && a->size == 8)
        return double_words(m, a, d);
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
            err = mem_ap_select(m, a->ap, mem_ap_register(m, reg), d);
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
        err = mem_ap_read_register(m, a->ap, reg, &value, d);
        if (!err)
            memcpy(a->data, &value, sizeof(value));
    } else {
        memcpy(&value, a->data, sizeof(value));
        err = mem_ap_write_register(m, a->ap, reg, value, d);
    }
    struct ap_cache *c = mem_ap_cache(m, a->ap);
    if (a->op == LINK_AP_WRITE && reg == mem_ap_register(m, AP_CSW))
        c->csw_known = false;
    if (a->op == LINK_AP_WRITE && reg == mem_ap_register(m, AP_TARH))
        c->tarh_known = false;
    if ((a->op == LINK_AP_WRITE && reg == mem_ap_register(m, AP_TAR)) || reg == mem_ap_register(m, AP_DRW))
        c->tar_known = false;
    if (!err)
        a->done = 1;
    return err;
}

enum corral_err mem_ap_access(struct mem_ap *m, struct link_access *a, struct diag *d)
{
    if (a->op == LINK_DP_READ || a->op == LINK_DP_WRITE)
        return mem_ap_dp_register(m, a, d);
    bool ap = a->op == LINK_AP_READ || a->op == LINK_AP_WRITE;
    enum corral_err err = mem_ap_know_version(m, d);
    if (err)
        return err;
    if (m->adiv6 ? a->ap % ADIV6_BLOCK != 0 : a->ap >= MAX_APS)
        return mem_ap_no_ap(a->ap, d);
    if (ap && !m->adiv6 && a->address > AP_IDR)
        return diag_set(d, CORRAL_ERR_USAGE, "0x%" PRIx64 " is not an access port register", a->address);
    struct ap_cache *c = mem_ap_cache(m, a->ap);
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
        mem_ap_cache(m, a->ap)->waits = 0;
    return err;
}
