/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cores among the components, and which CTI belongs to which core. Cross-trigger sheet 2.5 (binding), 1.2
 * (DEVID), 1.5 (restart output); cases A2, A3, A27, B13, B15, B25. Where it would be a guess, it refuses.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coresight/discovery.h"

#define PPB_FIRST 0xE0000000u
#define PPB_LAST  0xE00FFFFFu

enum { SCS_CPUID = 0xD00, DEBUG_MIDR = 0xD00, CTI_DEVID = 0xFC8 };

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

/* DEVID is believed only when both fields say something (B15). */
static void take_cti(struct link *link, struct cs_core *core, const struct cs_component *c,
                     const struct cs_core_type *type)
{
    struct diag d = DIAG_INIT;
    uint32_t devid = 0;
    if (link_read32(link, core->ap, c->address + CTI_DEVID, &devid, &d)) {
        cs_error_text(core->why_no_cti, d.message);
        return;
    }
    unsigned triggers = devid >> 8 & 0x3F, channels = devid >> 16 & 0x3F;
    if (triggers == 0 || channels == 0 || triggers > 32 || channels > 32) {
        /* It is the core's all the same: cti_open refuses to use it. */
        triggers = channels = 0;
        snprintf(core->why_no_cti, CS_ERROR_MAX, "the CTI says DEVID 0x%08" PRIx32 ": no usable channels",
                 devid);
    }
    core->has_cti = true;
    core->cti_from = CS_SOURCE_TABLE;
    core->cti = (struct cs_cti){
        .ap = core->ap,
        .address = c->address,
        .triggers = triggers,
        .channels = channels,
        .restart_output = type ? type->restart_output : -1,
    };
    if (core->cti.restart_output >= (int)triggers)
        core->cti.restart_output = -1; /* A3 */
    core->restart_from = core->cti.restart_output >= 0 ? CS_SOURCE_TABLE : CS_SOURCE_NONE;
}

static void bind_cti(struct link *link, const struct cs_topology *t, struct cs_core *core,
                     const struct cs_core_type *type)
{
    const struct cs_component *only = NULL, *own = NULL;
    size_t candidates = 0, own_candidates = 0;
    for (size_t i = 0; i < t->component_count; i++) {
        const struct cs_component *c = &t->components[i];
        if (c->ap != (int32_t)core->ap || !cs_is_cti(c) || c->address < PPB_FIRST || c->address > PPB_LAST)
            continue;
        candidates++;
        only = c;
        if (type && type->v8m && c->archid == CS_ARCHID_CTI && c->part == type->part) {
            own_candidates++;
            own = c;
        }
    }
    if (own_candidates == 1)
        take_cti(link, core, own, type);
    else if (candidates == 1)
        take_cti(link, core, only, type);
    else if (candidates == 0)
        cs_error_text(core->why_no_cti, "there is no CTI in the core's private peripheral bus");
    else
        snprintf(core->why_no_cti, CS_ERROR_MAX,
                 "%zu CTIs in the core's private peripheral bus: which one is not "
                 "known",
                 candidates);
}

enum corral_err cs_bind(struct link *link, struct cs_topology *t, struct diag *d)
{
    for (size_t i = 0; i < t->component_count; i++) {
        const struct cs_component *c = &t->components[i];
        bool m_core = c->ap >= 0 && cs_is_scs(c), a_core = c->ap >= 0 && cs_is_a_core(c);
        if (!m_core && !a_core)
            continue;
        if (t->core_count >= CS_MAX_CORES) {
            t->cut = true;
            break;
        }
        struct cs_core *core = &t->cores[t->core_count];
        struct diag why = DIAG_INIT;
        *core = (struct cs_core){
            .ap = (uint32_t)c->ap, .type = "unknown", .address = c->address, .cortex_m = m_core};
        snprintf(core->name, sizeof(core->name), "core%zu", t->core_count);
        t->core_count++;
        enum corral_err err =
            link_read32(link, core->ap, c->address + (m_core ? SCS_CPUID : DEBUG_MIDR), &core->cpuid, &why);
        if (err == CORRAL_ERR_LINK_DOWN) {
            if (d)
                *d = why;
            return err;
        }
        if (err) /* the core is there all the same; what it is may be known from its blocks */
            core->cpuid = 0;
        const struct cs_core_type *type = m_core ? type_of(t, c, core->cpuid) : cs_core_type(c->part);
        if (type)
            core->type = type->name;
        if (m_core)
            bind_cti(link, t, core, type);
        else
            cs_error_text(core->why_no_cti, "which CTI belongs to an application core is not found out yet");
    }
    return CORRAL_OK;
}
