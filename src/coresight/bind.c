/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cores among the components, and which CTI belongs to which core. Cross-trigger sheet 2.5 (binding), 1.2
 * (DEVID), 1.5 (restart output); cases A2, A3, A26, A27, B13, B15, B25. What corral.yml or an SDF says comes
 * first, but only where the registers at that address are a CTI's. Where it would be a guess, it refuses.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coresight/discovery.h"

#define PPB_FIRST 0xE0000000u
#define PPB_LAST  0xE00FFFFFu

#define M0PLUS          0xC60
#define M0PLUS_CTI_PART 0x9A6

enum { SCS_CPUID = 0xD00, DEBUG_MIDR = 0xD00, CTI_DEVID = 0xFC8, DEVAFF0 = 0xFA8 };

static const char *words_of(enum cs_source source)
{
    return source == CS_SOURCE_SDF ? "the SDF" : source == CS_SOURCE_CONFIG ? "corral.yml" : "the table";
}

static const struct cs_core_type *type_of(const struct cs_topology *t, const struct cs_component *scs,
                                          uint32_t cpuid)
{
    const struct cs_core_type *type = cs_core_type((uint16_t)(cpuid >> 4 & 0xFFF));
    if (type)
        return type;
    if (scs->archid == CS_ARCHID_SCS) /* a v8-M core's blocks carry its part */
        return cs_core_type(scs->part);
    for (size_t i = 0; i < t->component_count; i++) {
        const struct cs_component *c = &t->components[i];
        if (c->ap == scs->ap && cs_is_rom_table(c) && c->address >= PPB_FIRST && c->address <= PPB_LAST)
            type = cs_core_type_of_table(c->designer, c->part);
        if (type)
            return type;
    }
    return NULL;
}

/* ---- what is known beforehand ---- */

static size_t hint_count(const struct cs_scan *scan)
{
    return scan->hints->core_count < CS_MAX_HINTS ? scan->hints->core_count : CS_MAX_HINTS;
}

static size_t cores_behind(const struct cs_topology *t, uint32_t ap)
{
    size_t n = 0;
    for (size_t i = 0; i < t->core_count; i++)
        n += t->cores[i].ap == ap;
    return n;
}

/* Does the hint speak of this core? By its address where it has one; else the core must be the AP's only one.
 * An address where no core was found is taken for a loose one when there is nothing to mix up. */
static bool speaks_of(const struct cs_scan *scan, const struct cs_core_hint *h, const struct cs_core *core)
{
    const struct cs_topology *t = scan->t;
    if (h->ap != core->ap)
        return false;
    bool exact = false;
    size_t named = 0;
    for (size_t i = 0; i < t->core_count; i++)
        exact |=
            t->cores[i].ap == h->ap && h->base_set && t->cores[i].address == (h->base & ~UINT64_C(0xFFF));
    if (exact)
        return core->address == (h->base & ~UINT64_C(0xFFF));
    for (size_t i = 0; i < hint_count(scan); i++) {
        const struct cs_core_hint *other = &scan->hints->cores[i];
        named += other->ap == h->ap && other->base_set && (!h->base_set || other->base != h->base);
    }
    return cores_behind(t, h->ap) == 1 && (!h->base_set || named == 0);
}

/* What the first hint that says something of it says; NULL when none does. */
static const struct cs_core_hint *hint_of(const struct cs_scan *scan, const struct cs_core *core, bool cti)
{
    for (size_t i = 0; i < hint_count(scan); i++) {
        const struct cs_core_hint *h = &scan->hints->cores[i];
        if ((cti ? h->cti_set : h->restart_output >= 0) && speaks_of(scan, h, core))
            return h;
    }
    return NULL;
}

/* ---- taking one ---- */

static const struct cs_core *owner_of(const struct cs_topology *t, uint32_t ap, uint64_t address)
{
    for (size_t i = 0; i < t->core_count; i++)
        if (t->cores[i].has_cti && t->cores[i].cti.ap == ap && t->cores[i].cti.address == address)
            return &t->cores[i];
    return NULL;
}

static void set_restart(const struct cs_scan *scan, struct cs_core *core, const struct cs_core_type *type)
{
    const struct cs_core_hint *h = hint_of(scan, core, false);
    int output = h ? h->restart_output : type ? type->restart_output : -1;
    enum cs_source from = h ? h->restart_from : CS_SOURCE_TABLE;
    if (output >= 0 && core->cti.triggers && output >= (int)core->cti.triggers) {
        /* A3. What data says is not there is no reason to try another number (A26). */
        cs_refuse(scan->t, (int32_t)core->cti.ap, core->cti.address,
                  "%s has no trigger output %d, which %s names for %s's restart: it has %u", "the CTI",
                  output, words_of(from), core->name, core->cti.triggers);
        output = -1;
    }
    if (!core->cti.triggers)
        output = -1;
    core->cti.restart_output = output;
    core->restart_from = output >= 0 ? from : CS_SOURCE_NONE;
}

/* DEVID is believed only when both fields say something (B15). */
static bool take_cti(const struct cs_scan *scan, struct cs_core *core, const struct cs_component *c,
                     const struct cs_core_type *type, enum cs_source from)
{
    struct diag d = DIAG_INIT;
    struct cs_space space = cs_space_of(scan, c->ap);
    uint32_t devid = 0;
    const struct cs_core *owner = owner_of(scan->t, (uint32_t)c->ap, c->address);
    if (owner) {
        snprintf(core->why_no_cti, CS_ERROR_MAX, "the CTI at 0x%08" PRIx64 " is %s's already", c->address,
                 owner->name);
        return false;
    }
    if (cs_read_words(&space, c->address + CTI_DEVID, &devid, 1, &d)) {
        cs_error_text(core->why_no_cti, d.message);
        return false;
    }
    core->why_no_cti[0] = '\0';
    unsigned triggers = devid >> 8 & 0x3F, channels = devid >> 16 & 0x3F;
    if (triggers == 0 || channels == 0 || triggers > 32 || channels > 32) {
        /* It is the core's all the same: cti_open refuses to use it. */
        triggers = channels = 0;
        snprintf(core->why_no_cti, CS_ERROR_MAX, "the CTI says DEVID 0x%08" PRIx32 ": no usable channels",
                 devid);
    }
    core->has_cti = true;
    core->cti_from = from;
    core->cti = (struct cs_cti){
        .ap = (uint32_t)c->ap, .address = c->address, .triggers = triggers, .channels = channels};
    set_restart(scan, core, type);
    return true;
}

/* Rule 2.5.2, before rule 1: what is said of the target. Refused, with the reason, where there is no CTI. */
static bool bind_by_hint(const struct cs_scan *scan, struct cs_core *core, const struct cs_core_type *type)
{
    const struct cs_topology *t = scan->t;
    const struct cs_core_hint *h = hint_of(scan, core, true);
    if (!h)
        return false;
    const struct cs_component *there = NULL;
    for (size_t i = 0; i < t->component_count; i++)
        if (t->components[i].ap == (int32_t)h->cti_ap && t->components[i].address == h->cti_address)
            there = &t->components[i];
    if (there && cs_is_cti(there)) {
        if (take_cti(scan, core, there, type, h->cti_from))
            return true;
        cs_refuse(scan->t, (int32_t)h->cti_ap, h->cti_address, "%s's CTI as %s says: %s", core->name,
                  words_of(h->cti_from), core->why_no_cti);
        return false;
    }
    cs_refuse(scan->t, (int32_t)h->cti_ap, h->cti_address,
              "%s says that %s's CTI is at 0x%08" PRIx64 ": there is %s (part %03x), no CTI",
              words_of(h->cti_from), core->name, h->cti_address, there ? there->name : "nothing",
              there ? there->part : 0u);
    snprintf(core->why_no_cti, CS_ERROR_MAX, "there is no CTI at 0x%08" PRIx64 ", where %s says that it is",
             h->cti_address, words_of(h->cti_from));
    return false;
}

/* The core's own, among several: v8-M blocks carry its part, and the M0+ has a CTI of its own (sheet 1.3). */
static bool is_own(const struct cs_component *c, const struct cs_core_type *type)
{
    if (!type || c->archid != CS_ARCHID_CTI)
        return false;
    return (type->v8m && c->part == type->part) || (type->part == M0PLUS && c->part == M0PLUS_CTI_PART);
}

/* Rule 2.5.1 with its cross-checks. */
static void bind_in_ppb(const struct cs_scan *scan, struct cs_core *core, const struct cs_core_type *type)
{
    const struct cs_topology *t = scan->t;
    const struct cs_component *only = NULL, *own = NULL, *elsewhere = NULL;
    size_t candidates = 0, own_candidates = 0;
    for (size_t i = 0; i < t->component_count; i++) {
        const struct cs_component *c = &t->components[i];
        if (c->ap != (int32_t)core->ap || !cs_is_cti(c))
            continue;
        if (c->address < PPB_FIRST || c->address > PPB_LAST) {
            elsewhere = c;
            continue;
        }
        candidates++;
        only = c;
        if (is_own(c, type)) {
            own_candidates++;
            own = c;
        }
    }
    if (own_candidates == 1)
        take_cti(scan, core, own, type, CS_SOURCE_TABLE);
    else if (candidates == 1)
        take_cti(scan, core, only, type, CS_SOURCE_TABLE);
    else if (candidates > 1)
        snprintf(core->why_no_cti, CS_ERROR_MAX,
                 "%u CTIs in the core's private peripheral bus: corral.yml can say which (cti:)",
                 (unsigned)candidates);
    else if (core->why_no_cti[0] == '\0' && elsewhere)
        snprintf(core->why_no_cti, CS_ERROR_MAX,
                 "no CTI in the private peripheral bus; whose 0x%08" PRIx64 " is, corral.yml can say",
                 elsewhere->address);
    else if (core->why_no_cti[0] == '\0')
        cs_error_text(core->why_no_cti, "there is no CTI in the core's private peripheral bus");
}

/* Rule 2.5.3: a v8-A core and its CTI say the same affinity. */
static void bind_by_affinity(const struct cs_scan *scan, struct cs_core *core,
                             const struct cs_core_type *type)
{
    const struct cs_topology *t = scan->t;
    struct cs_space space = cs_space_of(scan, (int32_t)core->ap);
    uint32_t mine[2] = {0}, other[2];
    const struct cs_component *match = NULL;
    size_t matches = 0;
    struct diag d = DIAG_INIT;
    if (core->why_no_cti[0])
        return;
    if (cs_read_words(&space, core->address + DEVAFF0, mine, 2, &d) || (mine[0] | mine[1]) == 0) {
        cs_error_text(core->why_no_cti,
                      "the core has no affinity registers: corral.yml can say which CTI is its");
        return;
    }
    for (size_t i = 0; i < t->component_count; i++) {
        const struct cs_component *c = &t->components[i];
        if (c->ap != (int32_t)core->ap || !cs_is_cti(c) || c->archid != CS_ARCHID_CTI)
            continue;
        if (cs_read_words(&space, c->address + DEVAFF0, other, 2, &d) || other[0] != mine[0] ||
            other[1] != mine[1])
            continue;
        match = c;
        matches++;
    }
    if (matches == 1)
        take_cti(scan, core, match, type, CS_SOURCE_TABLE);
    else
        snprintf(core->why_no_cti, CS_ERROR_MAX, "%zu CTIs have the core's affinity 0x%" PRIx32, matches,
                 mine[0]);
}

/* ---- cores ---- */

static enum corral_err add_core(const struct cs_scan *scan, const struct cs_component *c, bool m_core,
                                struct diag *d)
{
    struct cs_topology *t = scan->t;
    struct cs_space space = cs_space_of(scan, c->ap);
    struct cs_core *core = &t->cores[t->core_count];
    struct diag why = DIAG_INIT;
    *core =
        (struct cs_core){.ap = (uint32_t)c->ap, .type = "unknown", .address = c->address, .cortex_m = m_core};
    snprintf(core->name, sizeof(core->name), "core%zu", t->core_count);
    t->core_count++;
    enum corral_err err =
        cs_read_words(&space, c->address + (m_core ? SCS_CPUID : DEBUG_MIDR), &core->cpuid, 1, &why);
    if (cs_ends_scan(err)) {
        if (d)
            *d = why;
        return err;
    }
    if (err) /* the core is there all the same; what it is may be known from its blocks */
        core->cpuid = 0;
    const struct cs_core_type *type = m_core ? type_of(t, c, core->cpuid) : cs_core_type(c->part);
    if (type)
        core->type = type->name;
    return CORRAL_OK;
}

static const struct cs_component *block_of(const struct cs_topology *t, const struct cs_core *core)
{
    for (size_t i = 0; i < t->component_count; i++)
        if (t->components[i].ap == (int32_t)core->ap && t->components[i].address == core->address)
            return &t->components[i];
    return NULL;
}

enum corral_err cs_bind(const struct cs_scan *scan, struct diag *d)
{
    struct cs_topology *t = scan->t;
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; !err && i < t->component_count; i++) {
        const struct cs_component *c = &t->components[i];
        bool m_core = c->ap >= 0 && cs_is_scs(c), a_core = c->ap >= 0 && cs_is_a_core(c);
        if (!m_core && !a_core)
            continue;
        if (t->core_count >= CS_MAX_CORES) {
            t->cut = true;
            break;
        }
        err = add_core(scan, c, m_core, d);
    }
    const struct cs_core_type *types[CS_MAX_CORES] = {NULL};
    for (size_t i = 0; !err && i < t->core_count; i++) {
        struct cs_core *core = &t->cores[i];
        const struct cs_component *c = block_of(t, core);
        types[i] = core->cortex_m ? type_of(t, c, core->cpuid) : cs_core_type(c->part);
        bind_by_hint(scan, core, types[i]);
    }
    /* Those that data gives first: then no rule hands the same CTI to another core. */
    for (size_t i = 0; !err && i < t->core_count; i++) {
        struct cs_core *core = &t->cores[i];
        if (core->has_cti)
            continue;
        if (core->cortex_m)
            bind_in_ppb(scan, core, types[i]);
        else
            bind_by_affinity(scan, core, types[i]);
    }
    return err;
}
