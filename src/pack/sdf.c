/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an SDF's elements mean (sdf.h): cores, their APs, their CTIs. Knows no XML (sdf_xml.c) and believes
 * nothing: an address is a hint, which discovery verifies by the registers there.
 */
#include "pack/sdf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "pack/sdf_internal.h"

bool sdf_mistake(const char *name, unsigned line, struct diag *d, const char *fmt, ...)
{
    char words[200], shown[96];
    va_list args;
    va_start(args, fmt);
    vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    text_escape((const uint8_t *)name, strlen(name), shown, sizeof(shown));
    diag_set(d, CORRAL_ERR_FORMAT, "%s:%u: %s", shown, line, words);
    diag_object(d, "%s:%u", shown, line);
    return false;
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_ap(const struct sdf_device *v)
{
    return starts_with(v->type, "CSMEMAP");
}

static bool is_cti(const struct sdf_device *v)
{
    return starts_with(v->type, "CSCTI");
}

/* CoreSight's own devices are called CS...; what is neither one nor a debug port is a core. */
static bool is_core(const struct sdf_device *v)
{
    return !starts_with(v->type, "CS") && !strstr(v->type, "-DP") && !strstr(v->type, "-AP");
}

static const struct sdf_device *device_of(const struct sdf_elements *e, const char *name)
{
    for (size_t i = 0; i < e->device_count; i++)
        if (strcmp(e->devices[i].name, name) == 0)
            return &e->devices[i];
    return NULL;
}

/* An index is ADIv5's number, unless the AP with that index has an address (ADIv6). */
static uint32_t ap_of(const struct sdf_elements *e, const struct sdf_device *v)
{
    for (size_t i = 0; i < e->device_count; i++) {
        const struct sdf_device *ap = &e->devices[i];
        if (is_ap(ap) && ap->dap == v->dap && ap->index_set && ap->index == v->index && ap->ap_address_set)
            return ap->ap_address;
    }
    return v->index;
}

static uint64_t base_of(const struct sdf_device *v)
{
    return (uint64_t)(v->msw_set ? v->msw : 0) << 32 | v->base;
}

/* The first CTITrigger link of this core. One without a usable CTI still says the restart output. */
static void take_links(const struct sdf_elements *e, const struct sdf_device *v, struct sdf_core *core)
{
    for (size_t i = 0; i < e->link_count; i++) {
        const struct sdf_link *link = &e->links[i];
        const struct sdf_device *cti = device_of(e, link->slave);
        if (strcmp(link->master, v->name) != 0 || !cti || !is_cti(cti))
            continue;
        if (core->restart_output < 0)
            core->restart_output = link->trigger;
        if (!core->cti_set && cti->index_set && cti->base_set && !cti->dp_space && cti->dap == v->dap) {
            core->cti_set = true;
            core->cti_ap = ap_of(e, cti);
            core->cti_address = base_of(cti);
        }
    }
}

static bool take_core(const struct sdf_elements *e, const struct sdf_device *v, struct sdf *out,
                      struct diag *d)
{
    if (!v->index_set || v->dap != 0 || v->dp_space)
        return true; /* where it is is not said, or behind another debug port */
    if (out->core_count >= SDF_MAX_CORES)
        return sdf_mistake(e->name, v->line, d, "too many cores; at most %d are expected", SDF_MAX_CORES);
    struct sdf_core *core = &out->cores[out->core_count++];
    *core =
        (struct sdf_core){.ap = ap_of(e, v), .base_set = v->base_set, .restart_output = -1, .line = v->line};
    core->base = base_of(v);
    memcpy(core->name, v->name, sizeof(core->name));
    take_links(e, v, core);
    if (!core->cti_set && v->cti_set) {
        core->cti_set = true;
        core->cti_ap = core->ap;
        core->cti_address = v->cti;
    }
    if (core->cti_set && core->cti_address % 4096 != 0)
        return sdf_mistake(e->name, v->line, d, "the CTI of '%s' is not at the start of a 4 KiB block",
                           core->name);
    return true;
}

static bool take_ap(const struct sdf_elements *e, const struct sdf_device *v, struct sdf *out, struct diag *d)
{
    if (!v->index_set || v->dap != 0)
        return true;
    uint32_t ap = ap_of(e, v);
    for (size_t i = 0; i < out->ap_count; i++)
        if (out->aps[i] == ap)
            return true;
    if (out->ap_count >= SDF_MAX_APS)
        return sdf_mistake(e->name, v->line, d, "too many access ports; at most %d are expected",
                           SDF_MAX_APS);
    out->aps[out->ap_count++] = ap;
    return true;
}

static bool take_all(const struct sdf_elements *e, struct sdf *out, struct diag *d)
{
    bool ok = true;
    for (size_t i = 0; ok && i < e->device_count; i++) {
        if (is_ap(&e->devices[i]))
            ok = take_ap(e, &e->devices[i], out, d);
        else if (is_core(&e->devices[i]))
            ok = take_core(e, &e->devices[i], out, d);
    }
    return ok;
}

struct sdf *sdf_parse(const char *name, const char *bytes, size_t size, struct diag *d)
{
    struct sdf *out = calloc(1, sizeof(*out));
    struct sdf_elements *e = calloc(1, sizeof(*e));
    bool ok = false;
    if (!out || !e) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    } else {
        e->name = name;
        ok = sdf_read_elements(e, bytes, size, d) && take_all(e, out, d);
    }
    free(e);
    if (ok)
        return out;
    free(out);
    return NULL;
}

struct sdf *sdf_load(const char *path, struct diag *d)
{
    /* One byte more than is allowed tells that there is more. */
    char *bytes = malloc(SDF_MAX_BYTES + 1);
    if (!bytes) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, SDF_MAX_BYTES + 1, file) : 0;
    struct sdf *out = NULL;
    if (!file || ferror(file)) {
        char shown[160];
        text_escape((const uint8_t *)path, strlen(path), shown, sizeof(shown));
        diag_set(d, CORRAL_ERR_IO, "cannot read %s: %s", shown, strerror(errno));
        diag_object(d, "%s", shown);
    } else {
        out = sdf_parse(path, bytes, size, d);
    }
    if (file)
        fclose(file);
    free(bytes);
    return out;
}

void sdf_free(struct sdf *sdf)
{
    free(sdf);
}
