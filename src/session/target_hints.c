/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See target_hints.h. What corral.yml says stands first, so that it wins over the SDF (hints.h: those that
 * stand first). It decides nothing else, and verifies nothing.
 */
#include "session/target_hints.h"

#include <stdlib.h>

#include "pack/sdf.h"

_Static_assert(CONFIG_MAX_APS + SDF_MAX_APS <= CS_MAX_HINTS, "all APs are looked at");
_Static_assert(CONFIG_MAX_CORES + SDF_MAX_CORES <= CS_MAX_HINTS, "all cores are looked at");
_Static_assert(CONFIG_MAX_PATCHES <= CS_MAX_HINTS, "all patches are looked at");

struct target_hints {
    struct cs_ap_hint aps[CS_MAX_HINTS];
    struct cs_patch patches[CS_MAX_HINTS];
    struct cs_core_hint cores[CS_MAX_HINTS];
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

struct target_hints *target_hints_new(const struct config *config, struct diag *d)
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
