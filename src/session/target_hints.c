/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See target_hints.h. What corral.yml says stands first, so that it wins over the SDF (hints.h: those that
 * stand first). It decides nothing else, and verifies nothing.
 */
#include "session/target_hints.h"

#include <stdlib.h>

#include "session/sequences.h"

/* Room for all there can be: discovery says where that is more than it looks at (CS_MAX_HINTS). */
struct target_hints {
    struct cs_ap_hint aps[CONFIG_MAX_APS + 2 * SDF_MAX_APS + PACK_MAX_APS + PACK_MAX_PROCESSORS];
    struct cs_patch patches[CONFIG_MAX_PATCHES + PACK_MAX_PATCHES];
    struct cs_core_hint cores[CONFIG_MAX_CORES + 2 * SDF_MAX_CORES];
    struct cs_hints hints;
};

static void add_ap(struct target_hints *h, const struct cs_ap_hint *ap)
{
    for (size_t i = 0; i < h->hints.ap_count; i++)
        if (h->aps[i].ap == ap->ap)
            return;
    h->aps[h->hints.ap_count++] = *ap;
}

static void add_core(struct target_hints *h, const struct cs_core_hint *core)
{
    h->cores[h->hints.core_count++] = *core;
}

static void take_config(struct target_hints *h, const struct config *c)
{
    for (size_t i = 0; i < c->ap_count; i++)
        add_ap(h, &(struct cs_ap_hint){.ap = c->aps[i].ap,
                                       .nested = c->aps[i].nested,
                                       .parent = c->aps[i].parent,
                                       .address = c->aps[i].address});
    for (size_t i = 0; i < c->patch_count; i++)
        h->patches[h->hints.patch_count++] = (struct cs_patch){.ap_register = c->patches[i].ap_register,
                                                               .ap = c->patches[i].ap,
                                                               .address = c->patches[i].address,
                                                               .value = c->patches[i].value,
                                                               .mask = c->patches[i].mask};
    for (size_t i = 0; i < c->core_count; i++) {
        const struct config_core *core = &c->cores[i];
        uint32_t ap = core->ap_set ? core->ap : (uint32_t)i;
        add_core(h, &(struct cs_core_hint){.ap = ap,
                                           .cti_set = core->cti_set,
                                           .cti_ap = core->cti_ap_set ? core->cti_ap : ap,
                                           .cti_address = core->cti_address,
                                           .cti_from = CS_SOURCE_CONFIG,
                                           .restart_output = core->cti_restart_output,
                                           .restart_from = CS_SOURCE_CONFIG});
    }
}

static void take_sdf(struct target_hints *h, const struct sdf *sdf)
{
    for (size_t i = 0; i < sdf->ap_count; i++)
        add_ap(h, &(struct cs_ap_hint){.ap = sdf->aps[i]});
    for (size_t i = 0; i < sdf->core_count; i++) {
        const struct sdf_core *core = &sdf->cores[i];
        add_core(h, &(struct cs_core_hint){.ap = core->ap,
                                           .base_set = core->base_set,
                                           .base = core->base,
                                           .cti_set = core->cti_set,
                                           .cti_ap = core->cti_ap,
                                           .cti_address = core->cti_address,
                                           .cti_from = CS_SOURCE_SDF,
                                           .restart_output = core->restart_output,
                                           .restart_from = CS_SOURCE_SDF});
    }
}

static void take_patch(struct target_hints *h, const struct pack_device *pack, const struct pack_patch *patch)
{
    uint32_t ap = patch->ap;
    if (patch->by_id && !sequences_ap_of_id(pack, patch->ap, &ap))
        return;
    h->patches[h->hints.patch_count++] = (struct cs_patch){.ap_register = patch->ap_register,
                                                           .ap = ap,
                                                           .address = patch->address,
                                                           .value = patch->value,
                                                           .mask = patch->mask};
}

/* Its access ports, where it lists them; in the older form those of its processors, if they are said. */
static void take_pack(struct target_hints *h, const struct pack_device *pack)
{
    for (size_t i = 0; i < pack->ap_count; i++) {
        const struct pack_access_port *port = &pack->aps[i];
        struct cs_ap_hint hint = {.nested = port->has_parent, .address = port->address};
        if (sequences_ap_of_id(pack, port->id, &hint.ap) &&
            (!port->has_parent || sequences_ap_of_id(pack, port->parent, &hint.parent)))
            add_ap(h, &hint);
    }
    for (size_t i = 0; !pack->ap_count && i < pack->processor_count; i++)
        if (pack->processors[i].ap_said)
            add_ap(h, &(struct cs_ap_hint){.ap = pack->processors[i].ap});
    for (size_t i = 0; i < pack->patch_count; i++)
        take_patch(h, pack, &pack->patches[i]);
    if (pack->sdf)
        take_sdf(h, pack->sdf);
}

struct target_hints *target_hints_new(const struct config *config, const struct pack_device *pack,
                                      struct diag *d)
{
    struct target_hints *h = calloc(1, sizeof(*h));
    if (!h) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    if (config)
        take_config(h, config);
    if (config && config->sdf) {
        struct sdf *sdf = sdf_load(config->sdf, d);
        if (!sdf) {
            free(h);
            return NULL;
        }
        take_sdf(h, sdf);
        sdf_free(sdf);
    }
    if (pack)
        take_pack(h, pack);
    h->hints.aps = h->aps;
    h->hints.patches = h->patches;
    h->hints.cores = h->cores;
    return h;
}

const struct cs_hints *target_hints_get(const struct target_hints *h)
{
    return &h->hints;
}

void target_hints_free(struct target_hints *h)
{
    free(h);
}
