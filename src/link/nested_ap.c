/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See nested_ap.h. Registers of a MEM-AP at 0xD00 of its block, TARH only with CFG.LA (B12), TAR written
 * again at each 1 KiB (B20), CSW's other bits left as read: the cross-trigger sheet 2.3.
 *
 * A parent stands before its children, so that no circle can be made. Must never repeat an access that may
 * have had its effect.
 */
#include "link/nested_ap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NESTED 16

enum { CSW = 0xD00, TAR = 0xD04, TARH = 0xD08, DRW = 0xD0C, CFG = 0xDF4, IDR = 0xDFC };

#define CSW_CHANGED    0xB7u /* Size, AddrInc, TrInProg */
#define CSW_INC_SINGLE 0x10u
#define CFG_LA         2u
#define TAR_WRAP       0x400u
#define BLOCK          0x1000u
#define BATCH          64u

struct nested_ap {
    uint32_t ap, parent;
    uint64_t address;
    bool known; /* csw and large below were read */
    uint32_t csw;
    bool large;
};

struct nested_aps {
    struct nested_ap list[MAX_NESTED];
    size_t count;
};

struct nested_aps *nested_ap_new(void)
{
    return calloc(1, sizeof(struct nested_aps));
}

void nested_ap_free(struct nested_aps *n)
{
    free(n);
}

static bool is_nested(uint32_t ap)
{
    return ap >= LINK_NESTED_FIRST && ap <= LINK_NESTED_LAST;
}

static struct nested_ap *find(struct nested_aps *n, uint32_t ap)
{
    for (size_t i = 0; n && i < n->count; i++)
        if (n->list[i].ap == ap)
            return &n->list[i];
    return NULL;
}

enum corral_err nested_ap_add(struct nested_aps *n, uint32_t ap, uint32_t parent, uint64_t address,
                              struct diag *d)
{
    char name[LINK_AP_NAME_MAX];
    const struct nested_ap *same = find(n, ap);
    if (same && same->parent == parent && same->address == address)
        return CORRAL_OK;
    if (!is_nested(ap) || same)
        return diag_set(d, CORRAL_ERR_USAGE, "%s is no number that an access port behind another can have",
                        link_ap_name(ap, name));
    if (is_nested(parent) && !find(n, parent))
        return diag_set(d, CORRAL_ERR_NO_AP, "there is no access port %s", link_ap_name(parent, name));
    if (address % BLOCK != 0)
        return diag_set(d, CORRAL_ERR_USAGE, "0x%" PRIx64 " is not the start of a 4 KiB block", address);
    if (n->count >= MAX_NESTED)
        return diag_set(d, CORRAL_ERR_LIMIT, "at most %d access ports can stand behind others", MAX_NESTED);
    n->list[n->count++] = (struct nested_ap){.ap = ap, .parent = parent, .address = address};
    return CORRAL_OK;
}

void nested_ap_forget(struct nested_aps *n)
{
    for (size_t i = 0; i < n->count; i++)
        n->list[i].known = false;
}

bool nested_ap_concerned(const struct link_access *accesses, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (accesses[i].op != LINK_DP_READ && accesses[i].op != LINK_DP_WRITE && is_nested(accesses[i].ap))
            return true;
    return false;
}

static struct link_access to_register(const struct nested_ap *p, bool write, uint32_t reg, uint32_t *value)
{
    return (struct link_access){.op = write ? LINK_MEM_WRITE : LINK_MEM_READ,
                                .size = 4,
                                .ap = p->parent,
                                .address = p->address + reg,
                                .count = 1,
                                .data = value};
}

static enum corral_err know(struct nested_ap *p, struct link *link, struct diag *d)
{
    if (p->known)
        return CORRAL_OK;
    uint32_t idr = 0, cfg = 0;
    struct link_access a[] = {to_register(p, false, IDR, &idr), to_register(p, false, CFG, &cfg),
                              to_register(p, false, CSW, &p->csw)};
    enum corral_err err = link_execute(link, a, sizeof(a) / sizeof(a[0]), d);
    if (err)
        return err;
    char name[LINK_AP_NAME_MAX];
    if (idr == 0)
        return diag_set(d, CORRAL_ERR_NO_AP, "there is no access port %s", link_ap_name(p->ap, name));
    p->large = (cfg & CFG_LA) != 0;
    p->known = true;
    return CORRAL_OK;
}

/* DRW carries narrow data in the byte lanes of the address. */
static uint32_t lanes(const struct link_access *a, uint32_t i, uint64_t address)
{
    const uint8_t *from = (const uint8_t *)a->data + (size_t)i * a->size;
    uint32_t word = 0;
    uint16_t half;
    if (a->size == 4)
        memcpy(&word, from, 4);
    else if (a->size == 2)
        word = (memcpy(&half, from, 2), half);
    else
        word = *from;
    return a->size == 4 ? word : word << 8 * (address & 3);
}

static void take(struct link_access *a, uint32_t i, uint64_t address, uint32_t drw)
{
    uint8_t *to = (uint8_t *)a->data + (size_t)i * a->size;
    uint32_t word = a->size == 4 ? drw : drw >> 8 * (address & 3);
    uint16_t half = (uint16_t)word;
    if (a->size == 4)
        memcpy(to, &word, 4);
    else if (a->size == 2)
        memcpy(to, &half, 2);
    else
        *to = (uint8_t)word;
}

/* Up to BATCH elements from element `first` on, none past where TAR must be written again. */
static enum corral_err run(struct nested_ap *p, struct link *link, struct link_access *a, uint32_t first,
                           uint32_t *n, struct diag *d)
{
    uint64_t at = a->address + (uint64_t)first * a->size;
    uint32_t room = (TAR_WRAP - (uint32_t)(at % TAR_WRAP)) / a->size, left = a->count - first;
    *n = left < room ? left : room;
    *n = *n < BATCH ? *n : BATCH;

    bool write = a->op == LINK_MEM_WRITE;
    uint32_t values[BATCH] = {0}, low = (uint32_t)at, high = (uint32_t)(at >> 32);
    uint32_t csw = (p->csw & ~CSW_CHANGED) | (a->size == 4 ? 2u : a->size == 2 ? 1u : 0u);
    if (*n > 1)
        csw |= CSW_INC_SINGLE;
    struct link_access batch[BATCH + 3];
    size_t count = 0;
    batch[count++] = to_register(p, true, CSW, &csw);
    if (p->large)
        batch[count++] = to_register(p, true, TARH, &high);
    batch[count++] = to_register(p, true, TAR, &low);
    size_t head = count;
    for (uint32_t i = 0; i < *n; i++) {
        if (write)
            values[i] = lanes(a, first + i, at + (uint64_t)i * a->size);
        batch[count++] = to_register(p, write, DRW, &values[i]);
    }
    enum corral_err err = link_execute(link, batch, count, d);
    for (uint32_t i = 0; i < *n && batch[head + i].status == CORRAL_OK; i++) {
        if (!write)
            take(a, first + i, at + (uint64_t)i * a->size, values[i]);
        a->done++;
    }
    return err;
}

static enum corral_err memory(struct nested_ap *p, struct link *link, struct link_access *a, struct diag *d)
{
    char name[LINK_AP_NAME_MAX];
    if (a->size == 8)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "access port %s has no 64-bit accesses",
                        link_ap_name(p->ap, name));
    bool fits = a->size == 1 || a->size == 2 || a->size == 4;
    uint64_t size = (uint64_t)a->count * a->size;
    if (!fits || !a->data || a->count == 0 || a->address % a->size != 0 || a->address + size < a->address)
        return diag_set(d, CORRAL_ERR_USAGE, "0x%" PRIx64 " is not an aligned access of 1, 2 or 4 bytes",
                        a->address);
    enum corral_err err = know(p, link, d);
    if (!err && !p->large && a->address + size > UINT64_C(1) << 32)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "address 0x%" PRIx64 " is past AP %s's 32 bits",
                        a->address, link_ap_name(p->ap, name));
    for (uint32_t i = 0, n = 0; !err && i < a->count; i += n)
        err = run(p, link, a, i, &n, d);
    return err;
}

static enum corral_err through(struct nested_aps *n, struct link *link, struct link_access *a, struct diag *d)
{
    struct nested_ap *p = find(n, a->ap);
    char name[LINK_AP_NAME_MAX];
    if (!p)
        return diag_set(d, CORRAL_ERR_NO_AP, "there is no access port %s", link_ap_name(a->ap, name));
    if (a->op == LINK_MEM_READ || a->op == LINK_MEM_WRITE)
        return memory(p, link, a, d);
    if (!a->data || a->count != 1 || a->size != 4 || a->address >= BLOCK || a->address % 4 != 0)
        return diag_set(d, CORRAL_ERR_USAGE, "0x%" PRIx64 " is not a port register", a->address);
    struct link_access one = to_register(p, a->op == LINK_AP_WRITE, (uint32_t)a->address, a->data);
    if (a->op == LINK_AP_WRITE)
        p->known = false;
    enum corral_err err = link_execute(link, &one, 1, d);
    a->done = one.done;
    return err;
}

enum corral_err nested_ap_execute(struct nested_aps *n, struct link *link, struct link_access *accesses,
                                  size_t count, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < count; i++) {
        accesses[i].status = CORRAL_ERR_INTERRUPTED;
        accesses[i].done = 0;
    }
    for (size_t i = 0; i < count && !err; i++) {
        if (nested_ap_concerned(&accesses[i], 1))
            err = accesses[i].status = through(n, link, &accesses[i], d);
        else
            err = link_execute(link, &accesses[i], 1, d);
    }
    return err;
}
