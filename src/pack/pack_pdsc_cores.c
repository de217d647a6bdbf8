/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device's processors, where each is debugged (debug), and what is to be read otherwise there (datapatch).
 * Cross-trigger sheet 4.1: a lower level overrides an upper one attribute by attribute, and what is said for
 * one Pname overrides what is said for all.
 */
#include <stdio.h>
#include <string.h>

#include "pack/pack_pdsc_internal.h"

typedef bool (*take_fn)(struct pack_pdsc_reading *r, const struct pack_xml_node *node,
                        struct pack_processor *p);

/* All elements of a kind that are said for a Pname ("" = for all), the uppermost first. */
static bool take_each(struct pack_pdsc_reading *r, enum pack_xml_kind kind, const char *pname, take_fn take,
                      struct pack_processor *p)
{
    for (size_t i = 0; i < r->chain_length; i++) {
        for (const struct pack_xml_node *n = pack_pdsc_first(r, r->chain[i].node, kind); n;
             n = pack_pdsc_next(r, n)) {
            char own[SEQUENCE_NAME_MAX] = "";
            if (!pack_pdsc_string(r, n, "Pname", own, sizeof(own)))
                return false;
            if (strcmp(own, pname) == 0 && !take(r, n, p))
                return false;
        }
    }
    return true;
}

/* What is said for all, then what is said for this one. */
static bool take_for(struct pack_pdsc_reading *r, enum pack_xml_kind kind, take_fn take,
                     struct pack_processor *p)
{
    return take_each(r, kind, "", take, p) && (!p->pname[0] || take_each(r, kind, p->pname, take, p));
}

/* ---- processor */

static bool add_processor(struct pack_pdsc_reading *r, const char *pname, const struct pack_xml_node *node)
{
    struct pack_device *device = r->device;
    if (pack_processor_named(device, pname))
        return true;
    if (device->processor_count == PACK_MAX_PROCESSORS)
        return pack_mistake(r->file, pack_xml_place_of(r->x, node).line, r->d,
                            "too many processors; at most %d are expected", PACK_MAX_PROCESSORS);
    struct pack_processor *p = &device->processors[device->processor_count++];
    *p = (struct pack_processor){.units = 1};
    snprintf(p->pname, sizeof(p->pname), "%s", pname);
    return true;
}

/* The Pnames of a kind of element. */
static bool name_processors(struct pack_pdsc_reading *r, enum pack_xml_kind kind)
{
    for (size_t i = 0; i < r->chain_length; i++) {
        for (const struct pack_xml_node *n = pack_pdsc_first(r, r->chain[i].node, kind); n;
             n = pack_pdsc_next(r, n)) {
            char pname[SEQUENCE_NAME_MAX] = "";
            if (!pack_pdsc_string(r, n, "Pname", pname, sizeof(pname)))
                return false;
            if (pname[0] && !add_processor(r, pname, n))
                return false;
        }
    }
    return true;
}

static bool take_processor(struct pack_pdsc_reading *r, const struct pack_xml_node *node,
                           struct pack_processor *p)
{
    uint64_t units = p->units;
    if (!pack_pdsc_string(r, node, "Dcore", p->core, sizeof(p->core)) ||
        !pack_pdsc_number(r, node, "Punits", 1024, &units, NULL))
        return false;
    p->units = units ? (unsigned)units : 1;
    return true;
}

/* ---- debug */

static bool is_later_unit(struct pack_pdsc_reading *r, const struct pack_xml_node *node, bool *later)
{
    uint32_t unit = 0;
    if (!pack_pdsc_number32(r, node, "Punit", &unit, NULL))
        return false;
    *later = unit > 0;
    return true;
}

/* Of several units of one processor the first is the one that a Pname stands for. */
static bool take_debug(struct pack_pdsc_reading *r, const struct pack_xml_node *node,
                       struct pack_processor *p)
{
    bool ap = false, apid = false, later = false;
    if (!is_later_unit(r, node, &later))
        return false;
    if (later)
        return true;
    if (!pack_pdsc_number32(r, node, "__dp", &p->dp, NULL) ||
        !pack_pdsc_number32(r, node, "__ap", &p->ap, &ap) ||
        !pack_pdsc_number32(r, node, "__apid", &p->apid, &apid) ||
        !pack_pdsc_number(r, node, "address", UINT64_MAX, &p->address, &p->address_set) ||
        !pack_pdsc_string(r, node, "defaultResetSequence", p->reset_sequence, sizeof(p->reset_sequence)))
        return false;
    if (ap || apid) {
        p->by_id = apid;
        p->ap_said = true;
    }
    const struct pack_access_port *port = apid ? pack_access_port_of(r->device, p->apid) : NULL;
    if (port)
        p->dp = port->dp;
    if (apid && !port)
        sequence_problems_add(r->problems, SEQUENCE_ERROR, pack_pdsc_place(r, node, "__apid"), 1, NULL,
                              "access port __apid %u is not declared by an accessportV1 or accessportV2",
                              p->apid);
    return true;
}

/* A Pname that no processor has: what is said for it goes nowhere. */
static bool check_names(struct pack_pdsc_reading *r)
{
    for (size_t i = 0; i < r->chain_length; i++) {
        for (const struct pack_xml_node *n = pack_pdsc_first(r, r->chain[i].node, PACK_XML_DEBUG); n;
             n = pack_pdsc_next(r, n)) {
            char pname[SEQUENCE_NAME_MAX] = "";
            if (!pack_pdsc_string(r, n, "Pname", pname, sizeof(pname)))
                return false;
            if (pname[0] && !pack_processor_named(r->device, pname))
                sequence_problems_add(r->problems, SEQUENCE_WARNING, pack_pdsc_place(r, n, "Pname"),
                                      (unsigned)strlen(pname), NULL, "there is no processor with Pname %s",
                                      pname);
        }
    }
    return true;
}

/* ---- datapatch */

static bool same_patch(const struct pack_patch *a, const struct pack_patch *b)
{
    return a->ap_register == b->ap_register && a->dp == b->dp && a->by_id == b->by_id && a->ap == b->ap &&
           a->address == b->address;
}

static bool add_patch(struct pack_pdsc_reading *r, const struct pack_patch *patch,
                      const struct pack_xml_node *node)
{
    struct pack_device *device = r->device;
    size_t i = 0;
    while (i < device->patch_count && !same_patch(&device->patches[i], patch))
        i++;
    if (i == PACK_MAX_PATCHES)
        return pack_mistake(r->file, pack_xml_place_of(r->x, node).line, r->d,
                            "too many data patches; at most %d are expected", PACK_MAX_PATCHES);
    device->patches[i] = *patch;
    device->patch_count += i == device->patch_count;
    return true;
}

/* `at` holds where it is unless the element says otherwise. */
static bool take_patch(struct pack_pdsc_reading *r, const struct pack_xml_node *node, struct pack_patch at)
{
    char type[16] = "Mem";
    uint32_t apid = 0;
    bool ap_set = false, apid_set = false;
    at.mask = UINT32_MAX;
    if (!pack_pdsc_needs(r, node, "datapatch", "address") ||
        !pack_pdsc_needs(r, node, "datapatch", "value") ||
        !pack_pdsc_string(r, node, "type", type, sizeof(type)) ||
        !pack_pdsc_number32(r, node, "__dp", &at.dp, NULL) ||
        !pack_pdsc_number32(r, node, "__ap", &at.ap, &ap_set) ||
        !pack_pdsc_number32(r, node, "__apid", &apid, &apid_set) ||
        !pack_pdsc_number(r, node, "address", UINT64_MAX, &at.address, NULL) ||
        !pack_pdsc_number32(r, node, "value", &at.value, NULL) ||
        !pack_pdsc_number32(r, node, "mask", &at.mask, NULL))
        return false;
    at.ap_register = strcmp(type, "AP") == 0;
    if (!at.ap_register && strcmp(type, "Mem") != 0) {
        sequence_problems_add(r->problems, SEQUENCE_WARNING, pack_pdsc_place(r, node, "type"),
                              (unsigned)strlen(type), NULL,
                              "type '%s', where AP or Mem is expected: the data patch is left out", type);
        return true;
    }
    if (apid_set) {
        at.by_id = true;
        at.ap = apid;
    } else if (ap_set) {
        at.by_id = false;
    }
    return add_patch(r, &at, node);
}

static bool take_patches_at(struct pack_pdsc_reading *r, const struct pack_xml_node *node,
                            const struct pack_patch *at)
{
    for (const struct pack_xml_node *n = pack_pdsc_first(r, node, PACK_XML_DATAPATCH); n;
         n = pack_pdsc_next(r, n))
        if (!take_patch(r, n, *at))
            return false;
    return true;
}

static bool take_debug_patches(struct pack_pdsc_reading *r, const struct pack_xml_node *node,
                               struct pack_processor *p)
{
    struct pack_patch at = {.dp = p->dp, .by_id = p->by_id, .ap = p->by_id ? p->apid : p->ap};
    return take_patches_at(r, node, &at);
}

static bool take_port_patches(struct pack_pdsc_reading *r, enum pack_xml_kind kind)
{
    for (size_t i = 0; i < r->chain_length; i++) {
        for (const struct pack_xml_node *n = pack_pdsc_first(r, r->chain[i].node, kind); n;
             n = pack_pdsc_next(r, n)) {
            struct pack_patch at = {.by_id = true};
            if (!pack_pdsc_number32(r, n, "__apid", &at.ap, NULL) ||
                !pack_pdsc_number32(r, n, "__dp", &at.dp, NULL) || !take_patches_at(r, n, &at))
                return false;
        }
    }
    return true;
}

/* ---- all */

bool pack_pdsc_take_cores(struct pack_pdsc_reading *r)
{
    struct pack_device *device = r->device;
    bool ok = name_processors(r, PACK_XML_PROCESSOR);
    /* None has a Pname: there is one; or they are only known by their debug elements. */
    bool any = false;
    for (size_t i = 0; i < r->chain_length; i++)
        any |= pack_pdsc_first(r, r->chain[i].node, PACK_XML_PROCESSOR) != NULL;
    if (ok && !any)
        ok = name_processors(r, PACK_XML_DEBUG);
    if (ok && device->processor_count == 0)
        ok = add_processor(r, "", r->chain[0].node);
    ok = ok && check_names(r) && take_port_patches(r, PACK_XML_ACCESSPORT_V1) &&
         take_port_patches(r, PACK_XML_ACCESSPORT_V2);
    for (size_t i = 0; i < device->processor_count && ok; i++) {
        struct pack_processor *p = &device->processors[i];
        ok = take_for(r, PACK_XML_PROCESSOR, take_processor, p) && take_for(r, PACK_XML_DEBUG, take_debug, p);
    }
    for (size_t i = 0; i < device->processor_count && ok; i++)
        ok = take_for(r, PACK_XML_DEBUG, take_debug_patches, &device->processors[i]);
    return ok;
}
