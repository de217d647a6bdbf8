/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access ports of an ADIv5 debug port: IDR and BASE. Cross-trigger sheet 2.3; cases B11, B12, B17, B24.
 * Reads only. A port that does not answer fails the list; an AP that does not is listed with its error.
 */
#include <stdio.h>
#include <string.h>

#include "coresight/discovery.h"

#define APSEL_COUNT  256
#define MAX_WAITS    3 /* in a row: this AP is given up (B9) */
#define IDR_CLASS(v) ((v) >> 13 & 0xF)
#define CLASS_MEM_AP 8
#define CFG_LA       2u

/* Of the AP's management registers: ADIv5 at 0, ADIv6 at 0xD00. */
enum { AP_BASEH = 0xF0, AP_CFG = 0xF4, AP_BASE = 0xF8, AP_IDR = 0xFC };

void cs_error_text(char error[CS_ERROR_MAX], const char *text)
{
    size_t n = strnlen(text, CS_ERROR_MAX - 1);
    memcpy(error, text, n);
    error[n] = '\0';
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

void cs_read_base(struct link *link, struct cs_ap *ap, uint32_t regs, enum corral_err *err)
{
    struct diag d = DIAG_INIT;
    uint32_t low = 0, high = 0, cfg = 0;
    *err = CORRAL_OK;
    if (IDR_CLASS(ap->idr) != CLASS_MEM_AP)
        return;
    *err = link_read_ap(link, ap->ap, regs + AP_CFG, &cfg, &d);
    if (!*err)
        *err = link_read_ap(link, ap->ap, regs + AP_BASE, &low, &d);
    /* Without large addresses there is no BASEH to read. */
    if (!*err && (cfg & CFG_LA))
        *err = link_read_ap(link, ap->ap, regs + AP_BASEH, &high, &d);
    if (*err)
        cs_error_text(ap->error, d.message);
    ap->base = (uint64_t)high << 32 | low;
}

enum corral_err cs_list_aps(struct link *link, struct cs_topology *t, struct diag *d)
{
    unsigned waits = 0;
    for (uint32_t n = 0; n < APSEL_COUNT; n++) {
        struct diag why = DIAG_INIT;
        uint32_t idr = 0;
        enum corral_err err = link_read_ap(link, n, AP_IDR, &idr, &why);
        if (err == CORRAL_ERR_LINK_DOWN || err == CORRAL_ERR_LINK_PROTOCOL) {
            if (d)
                *d = why;
            return err;
        }
        if (!err && idr == 0)
            continue; /* a gap: more may follow */
        waits = err == CORRAL_ERR_LINK_WAIT ? waits + 1 : 0;
        if (waits > MAX_WAITS) {
            t->cut = true; /* the port hangs on ports that are not there */
            return CORRAL_OK;
        }
        if (t->ap_count >= CS_MAX_APS) {
            t->cut = true;
            return CORRAL_OK;
        }
        struct cs_ap *ap = &t->aps[t->ap_count++];
        *ap = (struct cs_ap){.ap = n, .idr = idr};
        if (err) {
            cs_error_text(ap->error, why.message);
            continue;
        }
        cs_read_base(link, ap, 0, &err);
        if (err == CORRAL_ERR_LINK_DOWN)
            return diag_set(d, err, "%s", ap->error);
    }
    return CORRAL_OK;
}
