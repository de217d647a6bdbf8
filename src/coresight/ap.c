/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access ports: IDR and BASE of an ADIv5 port's, of ADIv6 ones by their base, of those behind others. Cross-
 * trigger sheet 2.3; cases B11, B12, B16, B17, B24. Reads only. A port that does not answer fails the list;
 * an AP that does not is listed with its error.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coresight/discovery.h"

#define APSEL_COUNT  256
#define MAX_WAITS    3 /* ports in a row that hang; the next one ends the search (B17) */
#define IDR_CLASS(v) ((v) >> 13 & 0xF)
#define CLASS_MEM_AP 8
#define CFG_LA       2u

/* Of the AP's management registers: ADIv5 at 0, ADIv6 at 0xD00. */
enum { AP_BASEH = 0xF0, AP_CFG = 0xF4, AP_BASE = 0xF8, AP_IDR = 0xFC, ADIV6_REGISTERS = 0xD00 };

static bool is_nested_number(uint32_t ap)
{
    return ap >= LINK_NESTED_FIRST && ap <= LINK_NESTED_LAST;
}

bool cs_base_usable(uint64_t base, bool *sure)
{
    *sure = (base & 1) != 0;
    if ((uint32_t)base == UINT32_MAX)
        return false;
    if (*sure)
        return true;
    /* Not present in the new format, unless it carries an address all the same (nRF5340, nRF54L15); with the
     * format bit clear 0 is the legacy way to say "at 0". */
    return (base & ~UINT64_C(0xFFF)) != 0 || (base & 2) == 0;
}

static enum corral_err read_base(const struct cs_scan *scan, struct cs_ap *ap, uint32_t regs)
{
    struct diag d = DIAG_INIT;
    uint32_t low = 0, high = 0, cfg = 0;
    if (IDR_CLASS(ap->idr) != CLASS_MEM_AP)
        return CORRAL_OK;
    enum corral_err err = cs_read_ap(scan, ap->ap, regs + AP_CFG, &cfg, &d);
    if (!err)
        err = cs_read_ap(scan, ap->ap, regs + AP_BASE, &low, &d);
    ap->wide = (cfg & CFG_LA) != 0;
    /* Without large addresses there is no BASEH to read. */
    if (!err && ap->wide)
        err = cs_read_ap(scan, ap->ap, regs + AP_BASEH, &high, &d);
    if (err)
        cs_error_text(ap->error, d.message);
    ap->base = (uint64_t)high << 32 | low;
    return err;
}

static struct cs_ap *new_ap(struct cs_topology *t, uint32_t ap)
{
    if (t->ap_count >= CS_MAX_APS || ap > INT32_MAX) {
        t->cut = true;
        return NULL;
    }
    struct cs_ap *new = &t->aps[t->ap_count++];
    *new = (struct cs_ap){.ap = ap};
    return new;
}

static bool is_listed(const struct cs_topology *t, uint32_t ap)
{
    for (size_t i = 0; i < t->ap_count; i++)
        if (t->aps[i].ap == ap)
            return true;
    return false;
}

struct cs_ap *cs_add_ap(const struct cs_scan *scan, uint32_t number, uint32_t regs, enum corral_err *err)
{
    *err = CORRAL_OK;
    struct cs_ap *ap = is_listed(scan->t, number) ? NULL : new_ap(scan->t, number);
    if (!ap)
        return NULL;
    struct diag d = DIAG_INIT;
    *err = cs_read_ap(scan, number, regs + AP_IDR, &ap->idr, &d);
    if (*err)
        cs_error_text(ap->error, d.message);
    else
        *err = read_base(scan, ap, regs);
    if (!cs_ends_scan(*err))
        *err = CORRAL_OK;
    return ap;
}

uint32_t cs_free_nested_number(const struct cs_scan *scan)
{
    for (uint32_t ap = LINK_NESTED_FIRST; ap <= LINK_NESTED_LAST; ap++) {
        bool taken = is_listed(scan->t, ap);
        for (size_t i = 0; i < scan->hints->ap_count; i++)
            taken |= scan->hints->aps[i].ap == ap;
        if (!taken)
            return ap;
    }
    return LINK_NESTED_LAST + 1;
}

enum corral_err cs_add_nested_ap(const struct cs_scan *scan, uint32_t number, uint32_t parent,
                                 uint64_t address)
{
    struct cs_topology *t = scan->t;
    struct diag d = DIAG_INIT;
    char name[LINK_AP_NAME_MAX];
    for (size_t i = 0; i < t->ap_count; i++)
        if (t->aps[i].nested && t->aps[i].parent == parent && t->aps[i].address == address)
            return CORRAL_OK;
    uint32_t idr = 0;
    enum corral_err err = link_add_nested_ap(scan->link, number, parent, address, &d);
    if (!err)
        err = cs_read_ap(scan, number, ADIV6_REGISTERS + AP_IDR, &idr, &d);
    if (cs_ends_scan(err))
        return err;
    if (err || IDR_CLASS(idr) != CLASS_MEM_AP) {
        cs_refuse(t, (int32_t)parent, address, "no access port behind AP %s here: %s",
                  link_ap_name(parent, name), err ? d.message : "its IDR is no MEM-AP's");
        return CORRAL_OK;
    }
    struct cs_ap *ap = new_ap(t, number);
    if (!ap)
        return CORRAL_OK;
    ap->idr = idr;
    ap->nested = true;
    ap->parent = parent;
    ap->address = address;
    err = read_base(scan, ap, ADIV6_REGISTERS);
    return cs_ends_scan(err) ? err : CORRAL_OK;
}

static enum corral_err list_one(const struct cs_scan *scan, uint32_t n, bool expected, bool *waited,
                                struct diag *d)
{
    struct cs_topology *t = scan->t;
    struct diag why = DIAG_INIT;
    uint32_t idr = 0;
    *waited = false;
    if (is_listed(t, n))
        return CORRAL_OK;
    enum corral_err err = cs_read_ap(scan, n, AP_IDR, &idr, &why);
    if (cs_ends_scan(err)) {
        if (d)
            *d = why;
        return err;
    }
    *waited = err == CORRAL_ERR_LINK_WAIT;
    if (!err && idr == 0) { /* a gap: more may follow */
        if (expected)
            cs_refuse(t, (int32_t)n, AP_IDR, "AP %" PRIu32 " is not there (IDR 0), though it was named", n);
        return CORRAL_OK;
    }
    struct cs_ap *ap = new_ap(t, n);
    if (!ap)
        return CORRAL_OK;
    ap->idr = idr;
    if (err)
        cs_error_text(ap->error, why.message);
    else
        err = read_base(scan, ap, 0);
    if (!cs_ends_scan(err))
        return CORRAL_OK;
    return diag_set(d, err, "%s", ap->error);
}

/* What is named: the list itself, and what cores are said to be behind. */
static enum corral_err list_named(const struct cs_scan *scan, struct diag *d)
{
    const struct cs_hints *h = scan->hints;
    enum corral_err err = CORRAL_OK;
    bool waited;
    for (size_t i = 0; !err && i < h->ap_count && i < CS_MAX_HINTS; i++)
        if (!h->aps[i].nested && h->aps[i].ap < APSEL_COUNT)
            err = list_one(scan, h->aps[i].ap, true, &waited, d);
    for (size_t i = 0; !err && i < h->core_count && i < CS_MAX_HINTS; i++) {
        if (h->cores[i].ap < APSEL_COUNT)
            err = list_one(scan, h->cores[i].ap, true, &waited, d);
        if (!err && h->cores[i].cti_set && h->cores[i].cti_ap < APSEL_COUNT)
            err = list_one(scan, h->cores[i].cti_ap, true, &waited, d);
    }
    return err;
}

enum corral_err cs_list_aps(const struct cs_scan *scan, struct diag *d)
{
    unsigned waits = 0;
    if (scan->hints->ap_count)
        return list_named(scan, d); /* some parts hang on ports that are not there (B17) */
    for (uint32_t n = 0; n < APSEL_COUNT && scan->t->ap_count < CS_MAX_APS; n++) {
        bool waited;
        enum corral_err err = list_one(scan, n, false, &waited, d);
        if (err)
            return err;
        waits = waited ? waits + 1 : 0;
        if (waits > MAX_WAITS) {
            scan->t->cut = true;
            cs_refuse(scan->t, (int32_t)n, AP_IDR, "ports from AP %" PRIu32 " on are not looked at: %s",
                      n + 1, "the debug port hangs on them; name those that are there in corral.yml (aps:)");
            return CORRAL_OK;
        }
    }
    if (scan->t->ap_count >= CS_MAX_APS)
        scan->t->cut = true;
    return CORRAL_OK;
}

/* By its base address, on an ADIv6 port. */
static enum corral_err list_base(const struct cs_scan *scan, uint32_t base)
{
    enum corral_err err = CORRAL_OK;
    if (base < LINK_NESTED_FIRST || is_nested_number(base) || is_listed(scan->t, base))
        return err;
    const struct cs_ap *ap = cs_add_ap(scan, base, ADIV6_REGISTERS, &err);
    if (ap && !ap->error[0] && IDR_CLASS(ap->idr) != CLASS_MEM_AP) {
        cs_refuse(scan->t, (int32_t)base, ADIV6_REGISTERS + AP_IDR,
                  "there is no MEM-AP at 0x%08" PRIx32 ", though it was named (IDR 0x%08" PRIx32 ")", base,
                  ap->idr);
        scan->t->ap_count--; /* the last one: just added */
    }
    return err;
}

enum corral_err cs_list_hinted_aps(const struct cs_scan *scan, bool adiv6, struct diag *d)
{
    const struct cs_hints *h = scan->hints;
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; !err && i < h->ap_count && i < CS_MAX_HINTS; i++)
        if (h->aps[i].nested)
            err = cs_add_nested_ap(scan, h->aps[i].ap, h->aps[i].parent, h->aps[i].address);
        else if (adiv6)
            err = list_base(scan, h->aps[i].ap);
    for (size_t i = 0; !err && adiv6 && i < h->core_count && i < CS_MAX_HINTS; i++) {
        err = list_base(scan, h->cores[i].ap);
        if (!err && h->cores[i].cti_set)
            err = list_base(scan, h->cores[i].cti_ap);
    }
    if (err)
        diag_set(d, err, "the debug port does not answer any more");
    return err;
}
