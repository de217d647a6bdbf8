/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading what a scan looks at: words through an AP or, in an ADIv6 root, AP registers; data patches laid
 * over them (cross-trigger sheet 4.1, case B18); and what a block's identification registers say (2.4, B6 to
 * B8). Every read of discovery goes through here.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "coresight/discovery.h"

enum { REG_DEVARCH = 0xFBC, REG_PIDR4 = 0xFD0 };

struct cs_space cs_space_of(const struct cs_scan *scan, int32_t ap)
{
    struct cs_space s = {.link = scan->link, .hints = scan->hints, .ap = ap};
    for (size_t i = 0; ap >= 0 && i < scan->t->ap_count; i++)
        if (scan->t->aps[i].ap == (uint32_t)ap)
            s.wide = scan->t->aps[i].wide;
    return s;
}

void cs_error_text(char error[CS_ERROR_MAX], const char *text)
{
    size_t n = strnlen(text, CS_ERROR_MAX - 1);
    memcpy(error, text, n);
    error[n] = '\0';
}

void cs_refuse(struct cs_topology *t, int32_t ap, uint64_t address, const char *fmt, ...)
{
    if (t->refusal_count >= CS_MAX_REFUSALS) {
        t->cut = true;
        return;
    }
    struct cs_refusal *r = &t->refusals[t->refusal_count++];
    r->ap = ap;
    r->address = address;
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->why, sizeof(r->why), fmt, args);
    va_end(args);
}

/* The patch of one word, NULL when there is none. In an ADIv6 root AP registers are addresses. */
static const struct cs_patch *patch_at(const struct cs_space *s, uint64_t address)
{
    size_t count = s->hints->patch_count < CS_MAX_HINTS ? s->hints->patch_count : CS_MAX_HINTS;
    for (size_t i = 0; i < count; i++) {
        const struct cs_patch *p = &s->hints->patches[i];
        if (p->ap_register ? s->ap < 0 && (uint64_t)p->ap + p->address == address
                           : s->ap >= 0 && (int64_t)p->ap == s->ap && p->address == address)
            return p;
    }
    return NULL;
}

static uint32_t patched(const struct cs_patch *p, uint32_t word)
{
    return p ? (word & ~p->mask) | (p->value & p->mask) : word;
}

static enum corral_err read_raw(const struct cs_space *s, uint64_t address, uint32_t *words, uint32_t count,
                                struct diag *d)
{
    if (s->ap >= 0) {
        struct link_access a = {.op = LINK_MEM_READ,
                                .size = 4,
                                .ap = (uint32_t)s->ap,
                                .address = address,
                                .count = count,
                                .data = words};
        return link_execute(s->link, &a, 1, d);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = address + 4 * (uint64_t)i;
        enum corral_err err =
            link_read_ap(s->link, (uint32_t)(at & ~UINT64_C(0xFFF)), at & 0xFFF, &words[i], d);
        if (err)
            return err;
    }
    return CORRAL_OK;
}

enum corral_err cs_read_words(const struct cs_space *s, uint64_t address, uint32_t *words, uint32_t count,
                              struct diag *d)
{
    bool any = false;
    for (uint32_t i = 0; i < count && s->hints->patch_count; i++)
        any |= patch_at(s, address + 4 * (uint64_t)i) != NULL;
    if (!any)
        return read_raw(s, address, words, count, d);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = address + 4 * (uint64_t)i;
        const struct cs_patch *p = patch_at(s, at);
        uint32_t word = 0;
        /* What is patched whole need not be readable. */
        enum corral_err err = p && p->mask == UINT32_MAX ? CORRAL_OK : read_raw(s, at, &word, 1, d);
        if (err)
            return err;
        words[i] = patched(p, word);
    }
    return CORRAL_OK;
}

enum corral_err cs_write_word(const struct cs_space *s, uint64_t address, uint32_t value, struct diag *d)
{
    if (s->ap >= 0)
        return link_write32(s->link, (uint32_t)s->ap, address, value, d);
    return link_write_ap(s->link, (uint32_t)(address & ~UINT64_C(0xFFF)), address & 0xFFF, value, d);
}

bool cs_ends_scan(enum corral_err err)
{
    return err == CORRAL_ERR_LINK_DOWN || err == CORRAL_ERR_LINK_PROTOCOL || err == CORRAL_ERR_TIMEOUT ||
           err == CORRAL_ERR_INTERRUPTED;
}

enum corral_err cs_read_ap(const struct cs_scan *scan, uint32_t ap, uint32_t reg, uint32_t *value,
                           struct diag *d)
{
    const struct cs_hints *h = scan->hints;
    const struct cs_patch *p = NULL;
    for (size_t i = 0; !p && i < h->patch_count && i < CS_MAX_HINTS; i++)
        if (h->patches[i].ap_register && h->patches[i].ap == ap && h->patches[i].address == reg)
            p = &h->patches[i];
    uint32_t word = 0;
    enum corral_err err = CORRAL_OK;
    if (!p || p->mask != UINT32_MAX)
        err = link_read_ap(scan->link, ap, reg, &word, d);
    *value = patched(p, word);
    return err;
}

enum cs_found cs_identify(const struct cs_space *s, uint64_t address, struct cs_component *c, uint32_t *devid,
                          struct diag *d)
{
    uint32_t id[12], arch[5] = {0};
    *c = (struct cs_component){.ap = s->ap, .address = address, .table = -1, .name = "unknown"};
    *devid = 0;
    if (cs_read_words(s, address + REG_PIDR4, id, 12, d)) {
        cs_error_text(c->error, d->message);
        return CS_FOUND_ERROR;
    }
    for (size_t i = 0; i < 12; i++)
        id[i] &= 0xFF; /* B7 */
    const uint32_t *cidr = &id[8], *pidr = &id[4];
    if (cidr[0] != 0x0D || (cidr[1] & 0x0F) != 0 || cidr[2] != 0x05 || cidr[3] != 0xB1)
        return CS_FOUND_NOTHING; /* B6 */
    c->component_class = (uint8_t)(cidr[1] >> 4);
    c->part = (uint16_t)(pidr[0] | (pidr[1] & 0x0F) << 8);
    bool jep = (pidr[2] & 0x08) != 0;
    c->designer = (uint16_t)(pidr[1] >> 4 | (pidr[2] & 7) << 4 | (jep ? (id[0] & 0x0F) << 8 : 0));
    if (c->component_class == CS_CLASS_CORESIGHT) {
        if (cs_read_words(s, address + REG_DEVARCH, arch, 5, d)) {
            cs_error_text(c->error, d->message);
        } else {
            c->archid = arch[0] & 1u << 20 ? (uint16_t)arch[0] : 0;
            *devid = arch[3];
            c->devtype = (uint8_t)arch[4];
        }
    }
    /* The block named is the last one of a component that is larger than 4 KiB (B8). */
    uint64_t before = ((UINT64_C(1) << (id[0] >> 4)) - 1) * 0x1000;
    if (before <= address)
        c->address = address - before;
    c->name = cs_component_name(c);
    return CS_FOUND_BLOCK;
}
