/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scan from end to end: power-up, access ports, their ROM tables, blocks that only hints name, cores.
 * Cross- trigger sheet 2.1 to 2.5; cases B11, B16, B17. Finds things out; what to do with them is not known
 * here.
 */
#include "coresight/discovery.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "coresight/stub_scan.h"
#include "link/link_gdb.h"

#define DPIDR_VERSION(v) ((v) >> 12 & 0xF)
#define IDR_CLASS(v)     ((v) >> 13 & 0xF)
#define CLASS_MEM_AP     8
#define BASEPTR_VALID    1u
#define M_PROFILE_SCS    0xE000E000u

enum { DP_DPIDR = 0x0, DP_SELECT = 0x8, BANK_BASEPTR0 = 2, BANK_BASEPTR1 = 3 };

/* ADIv6: the root table is reached through AP registers, BASEPTR0 says where it is (sheet 2.1). */
static enum corral_err scan_root(const struct cs_scan *scan, struct diag *d)
{
    uint32_t low = 0, high = 0;
    enum corral_err err = link_write_dp(scan->link, DP_SELECT, BANK_BASEPTR0, d);
    if (!err)
        err = link_read_dp(scan->link, DP_DPIDR, &low, d);
    if (!err)
        err = link_write_dp(scan->link, DP_SELECT, BANK_BASEPTR1, d);
    if (!err)
        err = link_read_dp(scan->link, DP_DPIDR, &high, d);
    if (!err)
        err = link_write_dp(scan->link, DP_SELECT, 0, d);
    if (err)
        return err;
    if (!(low & BASEPTR_VALID)) {
        if (!scan->hints->ap_count)
            cs_refuse(scan->t, -1, low,
                      "the debug port does not say where its ROM table is (BASEPTR0 0x%08" PRIx32
                      "): name its access ports in corral.yml (aps:)",
                      low);
        return CORRAL_OK;
    }
    if (high) {
        cs_refuse(scan->t, -1, (uint64_t)high << 32 | low, "the debug port's ROM table lies above 4 GiB");
        return CORRAL_OK;
    }
    return cs_walk(scan, -1, low & ~0xFFFu, true, d);
}

/* The list grows meanwhile where there are APs behind APs. */
static enum corral_err walk_aps(const struct cs_scan *scan, struct diag *d)
{
    struct cs_topology *t = scan->t;
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; !err && i < t->ap_count; i++) {
        bool sure;
        const struct cs_ap *ap = &t->aps[i];
        if (IDR_CLASS(ap->idr) == CLASS_MEM_AP && !ap->error[0] && cs_base_usable(ap->base, &sure))
            err = cs_walk(scan, (int32_t)ap->ap, ap->base & ~UINT64_C(0xFFF), sure, d);
    }
    return err;
}

static bool is_known(const struct cs_topology *t, uint32_t ap, uint64_t address)
{
    for (size_t i = 0; i < t->component_count; i++)
        if (t->components[i].ap == (int32_t)ap && t->components[i].address == address)
            return true;
    return false;
}

static bool has_scs(const struct cs_topology *t, uint32_t ap)
{
    for (size_t i = 0; i < t->component_count; i++)
        if (t->components[i].ap == (int32_t)ap && cs_is_scs(&t->components[i]))
            return true;
    return false;
}

static bool has_ap(const struct cs_topology *t, uint32_t ap)
{
    for (size_t i = 0; i < t->ap_count; i++)
        if (t->aps[i].ap == ap && IDR_CLASS(t->aps[i].idr) == CLASS_MEM_AP)
            return true;
    return false;
}

/* A block that no table names. It is a component if its registers say so; `named` says whether not to is a
 * refusal. */
static enum corral_err look_at(const struct cs_scan *scan, uint32_t ap, uint64_t address, bool named,
                               struct diag *d)
{
    struct cs_topology *t = scan->t;
    struct cs_space space = cs_space_of(scan, (int32_t)ap);
    struct cs_component c;
    uint32_t devid;
    char name[LINK_AP_NAME_MAX];
    struct diag why = DIAG_INIT;
    if (is_known(t, ap, address) || ap > INT32_MAX)
        return CORRAL_OK;
    if (!has_ap(t, ap)) {
        if (named)
            cs_refuse(t, (int32_t)ap, address,
                      "AP %s is not there, though a block at 0x%08" PRIx64 " was named",
                      link_ap_name(ap, name), address);
        return CORRAL_OK;
    }
    enum cs_found found = cs_identify(&space, address, &c, &devid, &why);
    if (cs_ends_scan(why.code)) {
        if (d)
            *d = why;
        return why.code;
    }
    if (found == CS_FOUND_BLOCK && t->component_count < CS_MAX_COMPONENTS)
        t->components[t->component_count++] = c;
    else if (found == CS_FOUND_BLOCK)
        t->cut = true;
    else if (named)
        cs_refuse(t, (int32_t)ap, address,
                  "there is nothing at 0x%08" PRIx64 " on AP %s, though it was named%s%s", address,
                  link_ap_name(ap, name), found == CS_FOUND_ERROR ? ": " : "",
                  found == CS_FOUND_ERROR ? c.error : "");
    return CORRAL_OK;
}

/* Where tables do not lead to what is known (B11): straight to the address, and its registers must agree. */
static enum corral_err look_at_hints(const struct cs_scan *scan, struct diag *d)
{
    const struct cs_hints *h = scan->hints;
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; !err && i < h->core_count && i < CS_MAX_HINTS; i++) {
        const struct cs_core_hint *core = &h->cores[i];
        if (core->base_set)
            err = look_at(scan, core->ap, core->base & ~UINT64_C(0xFFF), true, d);
        else if (!has_scs(scan->t, core->ap))
            err = look_at(scan, core->ap, M_PROFILE_SCS, false, d);
        if (!err && core->cti_set)
            err = look_at(scan, core->cti_ap, core->cti_address, true, d);
    }
    return err;
}

static bool has_core(const struct cs_topology *t, uint32_t ap)
{
    for (size_t i = 0; i < t->core_count; i++)
        if (t->cores[i].ap == ap)
            return true;
    return false;
}

/* Why nothing can be said of what is behind this AP; false where something can, or where there is no AP. */
static bool is_out_of_reach(const struct cs_scan *scan, uint32_t ap, char why[CS_ERROR_MAX])
{
    const struct cs_topology *t = scan->t;
    for (size_t i = 0; i < t->ap_count; i++)
        if (t->aps[i].ap == ap && t->aps[i].idr == 0 && t->aps[i].error[0]) {
            cs_error_text(why, t->aps[i].error);
            return true;
        }
    struct cs_space space = cs_space_of(scan, (int32_t)ap);
    struct cs_component c;
    uint32_t devid;
    struct diag d = DIAG_INIT;
    if (!has_ap(t, ap) || cs_identify(&space, M_PROFILE_SCS, &c, &devid, &d) != CS_FOUND_ERROR)
        return false;
    cs_error_text(why, d.message);
    return true;
}

/*
 * A core that was named, behind an access port that is there but gives no answer: without power or clock, in
 * reset, locked. It is listed as that, so that the others can be worked with.
 */
static void add_cores_out_of_reach(const struct cs_scan *scan)
{
    const struct cs_hints *h = scan->hints;
    struct cs_topology *t = scan->t;
    for (size_t i = 0; i < h->core_count && i < CS_MAX_HINTS; i++) {
        const struct cs_core_hint *hint = &h->cores[i];
        bool m_profile = !hint->base_set || (hint->base & ~UINT64_C(0xFFF)) == M_PROFILE_SCS;
        char why[CS_ERROR_MAX];
        if (!m_profile || has_core(t, hint->ap) || !is_out_of_reach(scan, hint->ap, why))
            continue;
        if (t->core_count >= CS_MAX_CORES) {
            t->cut = true;
            return;
        }
        struct cs_core *core = &t->cores[t->core_count];
        *core =
            (struct cs_core){.ap = hint->ap, .type = "unknown", .address = M_PROFILE_SCS, .cortex_m = true};
        snprintf(core->name, sizeof(core->name), "core%u", (unsigned)t->core_count++);
        cs_error_text(core->error, why);
        cs_error_text(core->why_no_cti, "the core is out of reach");
    }
}

struct cs_topology *cs_scan(struct link *link, const struct cs_hints *hints, struct diag *d)
{
    static const struct cs_hints none = {0};
    uint32_t dpidr = 0;
    struct cs_topology *t = calloc(1, sizeof(*t));
    if (!t) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    struct cs_scan scan = {.link = link, .hints = hints ? hints : &none, .t = t};
    hints = scan.hints;
    t->cut = hints->ap_count > CS_MAX_HINTS || hints->core_count > CS_MAX_HINTS ||
             hints->patch_count > CS_MAX_HINTS;
    if (link_gdb_core_count(link)) {
        if (cs_scan_stub(link, t, d) == CORRAL_OK)
            return t;
        cs_topology_free(t);
        return NULL;
    }
    enum corral_err err = dp_power_up(link, d);
    if (!err)
        err = link_read_dp(link, DP_DPIDR, &dpidr, d);
    bool adiv6 = DPIDR_VERSION(dpidr) >= 3;
    if (!err)
        err = adiv6 ? scan_root(&scan, d) : cs_list_aps(&scan, d);
    if (!err)
        err = cs_list_hinted_aps(&scan, adiv6, d);
    if (!err)
        err = walk_aps(&scan, d);
    if (!err)
        err = look_at_hints(&scan, d);
    if (!err)
        err = cs_bind(&scan, d);
    if (!err)
        add_cores_out_of_reach(&scan);
    /* What was asked last may have been left out for want of time: half of a target is not the target. */
    if (!err && link_deadline_passed(link))
        err = diag_set(d, CORRAL_ERR_TIMEOUT, "the time given for finding the cores has run out");
    if (err) {
        cs_topology_free(t);
        return NULL;
    }
    return t;
}

void cs_topology_free(struct cs_topology *t)
{
    free(t);
}
