/* SPDX-License-Identifier: Apache-2.0 */
/* See dap_front.h. The cross-trigger sheet 2.1 to 2.3. */
#include "dap_front.h"

#include <stdlib.h>

#include "link/link_backend.h"

#define MAX_APS   64
#define STICKYERR (1u << 5)

struct ap_registers {
    bool used, wrapped;
    uint32_t ap, csw, tar, tarh;
};

struct dap_front {
    struct link *inner;
    struct host_clock *clock;
    bool posted, adiv6;
    uint32_t asize, select, select1, stat, last;
    bool hangs;
    uint32_t hanging_ap;
    struct ap_registers aps[MAX_APS];
    struct dap_front_counts counts;
};

struct dap_front *dap_front_new(struct link *inner, struct host_clock *clock, bool posted)
{
    struct dap_front *f = calloc(1, sizeof(*f));
    uint32_t dpidr = 0, zero = 0;
    if (!f || link_write_dp(inner, 0x8, zero, NULL) || link_read_dp(inner, 0x0, &dpidr, NULL)) {
        free(f);
        return NULL;
    }
    *f = (struct dap_front){.inner = inner, .clock = clock, .posted = posted};
    f->adiv6 = (dpidr >> 12 & 0xF) >= 3;
    f->select1 = 0xBAD; /* as an earlier tool may have left it */
    return f;
}

void dap_front_free(struct dap_front *f)
{
    free(f);
}

void dap_front_set_asize(struct dap_front *f, uint32_t bits)
{
    f->asize = bits;
}

void dap_front_hang(struct dap_front *f, uint32_t ap)
{
    f->hangs = true;
    f->hanging_ap = ap;
}

const struct dap_front_counts *dap_front_counts(const struct dap_front *f)
{
    return &f->counts;
}

static struct ap_registers *registers_of(struct dap_front *f, uint32_t ap)
{
    struct ap_registers *free_one = &f->aps[MAX_APS - 1];
    for (size_t i = MAX_APS; i > 0; i--) {
        if (f->aps[i - 1].used && f->aps[i - 1].ap == ap)
            return &f->aps[i - 1];
        if (!f->aps[i - 1].used)
            free_one = &f->aps[i - 1];
    }
    *free_one = (struct ap_registers){.used = true, .ap = ap, .csw = 0x23000052, .tarh = 0xBAD};
    return free_one;
}

static bool is_large(struct dap_front *f, uint32_t ap)
{
    uint32_t cfg = 0;
    return !link_read_ap(f->inner, ap, f->adiv6 ? 0xDF4 : 0xF4, &cfg, NULL) && (cfg & 2);
}

static bool drw(struct dap_front *f, struct ap_registers *r, bool read, uint32_t *value)
{
    uint8_t size = (uint8_t)(1u << (r->csw & 7));
    uint64_t high = is_large(f, r->ap) ? (uint64_t)r->tarh << 32 : 0;
    uint32_t word = *value >> 8 * (r->tar & 3u & ~(size - 1u));
    uint16_t half = (uint16_t)word;
    uint8_t byte = (uint8_t)word;
    void *data = size == 4 ? (void *)&word : size == 2 ? (void *)&half : (void *)&byte;
    struct link_access a = {.op = read ? LINK_MEM_READ : LINK_MEM_WRITE,
                            .size = read ? 4 : size,
                            .ap = r->ap,
                            .address = high | (read ? r->tar & ~3u : r->tar),
                            .count = 1,
                            .data = read ? (void *)&word : data};
    f->counts.past_1k += r->wrapped;
    if (link_execute(f->inner, &a, 1, NULL))
        return false;
    if (read)
        *value = word;
    if (r->csw & 0x10) {
        r->tar = (r->tar & ~0x3FFu) | ((r->tar + size) & 0x3FFu);
        r->wrapped = (r->tar & 0x3FF) == 0;
    }
    return true;
}

/* BD0 to BD3: the words of the 16 bytes that TAR is in, which stays. */
static bool banked(struct dap_front *f, const struct ap_registers *r, uint32_t reg, bool read,
                   uint32_t *value)
{
    struct ap_registers at = *r;
    at.tar = (r->tar & ~0xFu) | (reg & 0xCu);
    at.csw = (r->csw & ~0x37u) | 2u;
    at.wrapped = false;
    return drw(f, &at, read, value);
}

/* False is a bus error. */
static bool access_ap(struct dap_front *f, bool read, uint8_t addr, uint32_t *value)
{
    uint32_t ap = f->adiv6 ? f->select & ~0xFFFu : f->select >> 24;
    uint32_t reg = f->adiv6 ? (f->select & 0xFF0u) | addr : (f->select & 0xF0u) | addr;
    struct ap_registers *r = registers_of(f, ap);
    uint32_t idr = 0;
    f->counts.while_select1 += f->adiv6 && f->asize > 32 && f->select1 != 0;
    bool is_ap = !link_read_ap(f->inner, ap, f->adiv6 ? 0xDFC : 0xFC, &idr, NULL) && (idr >> 13 & 0xF) == 8;
    uint32_t own = f->adiv6 ? reg - 0xD00 : reg;
    if (!is_ap || (f->adiv6 && (reg < 0xD00 || reg > 0xDFC)))
        own = UINT32_MAX;
    switch (own) {
    case 0x00:
        if (read)
            *value = r->csw;
        else
            r->csw = *value;
        return true;
    case 0x04:
        if (read)
            *value = r->tar;
        else
            r->tar = *value;
        r->wrapped = false;
        return true;
    case 0x08:
        f->counts.tarh_without_la += !is_large(f, ap);
        if (read)
            *value = r->tarh;
        else
            r->tarh = *value;
        return true;
    case 0x0C:
        return drw(f, r, read, value);
    case 0x10:
    case 0x14:
    case 0x18:
    case 0x1C:
        return banked(f, r, own, read, value);
    case 0xF0:
        f->counts.tarh_without_la += !is_large(f, ap);
        break;
    default:
        break;
    }
    return !(read ? link_read_ap(f->inner, ap, reg, value, NULL)
                  : link_write_ap(f->inner, ap, reg, *value, NULL));
}

static enum dap_ack access_dp(struct dap_front *f, bool read, uint8_t addr, uint32_t *value)
{
    uint32_t bank = f->select & 0xF;
    if (addr == 0x0 && !read) {
        f->counts.aborts++;
        if (*value & 4)
            f->stat &= ~STICKYERR;
        return DAP_ACK_OK;
    }
    if (addr == 0x4 && read && bank == 0) {
        link_read_dp(f->inner, addr, value, NULL);
        *value |= f->stat;
        return DAP_ACK_OK;
    }
    if (addr == 0x0 && f->asize && f->adiv6 && bank == 1) {
        *value = f->asize;
        return DAP_ACK_OK;
    }
    if ((f->stat & STICKYERR) && !(addr == 0x0 && read))
        return DAP_ACK_FAULT;
    if (addr == 0xC && read) {
        *value = f->last;
        return DAP_ACK_OK;
    }
    if (addr == 0x8 && !read) {
        f->select = *value;
        link_write_dp(f->inner, addr, *value & 0xF, NULL);
    } else if (addr == 0x4 && !read && f->adiv6 && bank == 5) {
        f->counts.select1_writes++;
        f->select1 = *value;
    } else if (read) {
        link_read_dp(f->inner, addr, value, NULL);
    } else {
        link_write_dp(f->inner, addr, *value, NULL);
    }
    return DAP_ACK_OK;
}

static enum dap_ack transfer(struct dap_front *f, bool ap, bool read, uint8_t addr, uint32_t *value,
                             bool posted)
{
    f->counts.transfers++;
    host_clock_set(f->clock, host_clock_now(f->clock) + 11500);
    if (!ap)
        return access_dp(f, read, addr, value);
    if (f->stat & STICKYERR)
        return DAP_ACK_FAULT;
    if (f->hangs && (f->adiv6 ? f->select & ~0xFFFu : f->select >> 24) == f->hanging_ap) {
        f->counts.hung++;
        return DAP_ACK_WAIT;
    }
    uint32_t got = read ? 0 : *value;
    bool ok = access_ap(f, read, addr, &got);
    if (!ok)
        f->stat |= STICKYERR;
    if (!read || !posted) {
        if (read)
            *value = got;
        return ok || !read ? DAP_ACK_OK : DAP_ACK_FAULT;
    }
    *value = f->last; /* on the wire its error, too, shows with the next transfer */
    f->last = got;
    return DAP_ACK_OK;
}

static enum dap_ack plain(void *ctx, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    return transfer(ctx, ap, read, addr, value, false);
}

static enum dap_ack posted(void *ctx, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    return transfer(ctx, ap, read, addr, value, true);
}

static const struct link_backend backend_plain = {.caps = LINK_CAP_MEM | LINK_CAP_DAP, .dap = plain};
static const struct link_backend backend_posted = {
    .caps = LINK_CAP_MEM | LINK_CAP_DAP, .dap = plain, .dap_posted = posted};

struct link *dap_front_open(struct dap_front *f)
{
    return link_new(f->posted ? &backend_posted : &backend_plain, f, "front", f->clock);
}
