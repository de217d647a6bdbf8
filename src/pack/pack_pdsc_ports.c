/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a device is connected: debugconfig with its SDF, debugport, accessportV1 and accessportV2. A lower
 * level overrides an upper one attribute by attribute, access ports as a whole. Cross-trigger sheet 4.1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "pack/pack_pdsc_internal.h"

/* ---- debugconfig */

static bool take_protocol(struct pack_pdsc_reading *r, const struct pack_xml_node *node)
{
    static const struct {
        const char *name;
        enum pack_protocol protocol;
    } known[] = {{"jtag", PACK_PROTOCOL_JTAG}, {"swd", PACK_PROTOCOL_SWD}, {"cjtag", PACK_PROTOCOL_CJTAG}};
    char text[32] = "";
    if (!pack_pdsc_string(r, node, "default", text, sizeof(text)))
        return false;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcasecmp(text, known[i].name) == 0) {
            r->device->protocol = known[i].protocol;
            return true;
        }
    }
    if (text[0])
        sequence_problems_add(r->problems, SEQUENCE_WARNING, pack_pdsc_place(r, node, "default"),
                              (unsigned)strlen(text), NULL,
                              "protocol '%s' is not known; jtag, swd or cjtag is expected", text);
    return true;
}

/* A hint for discovery: without it all goes on, but who has the file is told. */
static bool load_sdf(struct pack_pdsc_reading *r, const char *name, struct sequence_place place)
{
    char *bytes = NULL, *path = NULL;
    size_t size = 0;
    struct diag own = DIAG_INIT;
    enum corral_err err = pack_read_named(r->file, name, PACK_MAX_SIDE, &bytes, &size, &path, &own);
    if (err == CORRAL_OK)
        r->device->sdf = sdf_parse(path, bytes, size, &own);
    free(bytes);
    free(path);
    if (own.code == CORRAL_ERR_NO_MEMORY)
        return pack_no_memory(r->d);
    if (err == CORRAL_ERR_IO)
        sequence_problems_add(r->problems, SEQUENCE_WARNING, place, (unsigned)strlen(name), NULL,
                              "the system description %s is not there: cores and CTIs are found without it",
                              name);
    else if (!r->device->sdf)
        sequence_problems_add(r->problems, SEQUENCE_WARNING, place, (unsigned)strlen(name), NULL,
                              "the system description is left out: %.150s", own.message);
    return true;
}

static bool take_config(struct pack_pdsc_reading *r)
{
    char sdf[200] = "";
    struct sequence_place place = {0};
    for (size_t i = 0; i < r->chain_length; i++) {
        for (const struct pack_xml_node *n = pack_pdsc_first(r, r->chain[i].node, PACK_XML_DEBUGCONFIG); n;
             n = pack_pdsc_next(r, n)) {
            uint32_t begin, end;
            if (!take_protocol(r, n) ||
                !pack_pdsc_number(r, n, "clock", UINT32_MAX, &r->device->clock_hz, NULL) ||
                !pack_pdsc_flag(r, n, "swj", &r->device->swj) ||
                !pack_pdsc_flag(r, n, "dormant", &r->device->dormant) ||
                !pack_pdsc_string(r, n, "sdf", sdf, sizeof(sdf)))
                return false;
            if (pack_xml_find(r->x, n, "sdf", &begin, &end))
                place = pack_xml_place(r->x, begin);
        }
    }
    return sdf[0] == '\0' || load_sdf(r, sdf, place);
}

/* ---- debugport */

static struct pack_debug_port *port_of(struct pack_pdsc_reading *r, uint32_t dp,
                                       const struct pack_xml_node *node)
{
    struct pack_device *device = r->device;
    for (size_t i = 0; i < device->port_count; i++)
        if (device->ports[i].dp == dp)
            return &device->ports[i];
    if (device->port_count == PACK_MAX_PORTS) {
        pack_mistake(r->file, pack_xml_place_of(r->x, node).line, r->d,
                     "too many debug ports; at most %d are expected", PACK_MAX_PORTS);
        return NULL;
    }
    struct pack_debug_port *port = &device->ports[device->port_count++];
    *port = (struct pack_debug_port){.dp = dp, .tapindex = -1};
    return port;
}

static bool take_port(struct pack_pdsc_reading *r, const struct pack_xml_node *node)
{
    uint32_t dp = 0;
    uint64_t tapindex = 0;
    bool tapindex_set = false;
    if (!pack_pdsc_number32(r, node, "__dp", &dp, NULL))
        return false;
    struct pack_debug_port *port = port_of(r, dp, node);
    if (!port)
        return false;
    const struct pack_xml_node *jtag = pack_pdsc_first(r, node, PACK_XML_JTAG);
    const struct pack_xml_node *swd = pack_pdsc_first(r, node, PACK_XML_SWD);
    port->jtag |= jtag != NULL;
    port->swd |= swd != NULL;
    if (jtag && (!pack_pdsc_number(r, jtag, "tapindex", 1023, &tapindex, &tapindex_set) ||
                 !pack_pdsc_number32(r, jtag, "irlen", &port->irlen, NULL) ||
                 !pack_pdsc_number32(r, jtag, "idcode", &port->idcode, NULL) ||
                 !pack_pdsc_number32(r, jtag, "targetsel", &port->targetsel, &port->targetsel_set)))
        return false;
    if (tapindex_set)
        port->tapindex = (int)tapindex;
    return !swd || pack_pdsc_number32(r, swd, "targetsel", &port->targetsel, &port->targetsel_set);
}

/* ---- accessportV1, accessportV2 */

static bool take_ap(struct pack_pdsc_reading *r, const struct pack_xml_node *node)
{
    struct pack_device *device = r->device;
    bool v2 = node->kind == PACK_XML_ACCESSPORT_V2;
    const char *element = v2 ? "accessportV2" : "accessportV1";
    struct pack_access_port ap = {.v2 = v2};
    size_t i = 0;
    if (!pack_pdsc_needs(r, node, element, "__apid") ||
        !pack_pdsc_needs(r, node, element, v2 ? "address" : "index") ||
        !pack_pdsc_number32(r, node, "__apid", &ap.id, NULL) ||
        !pack_pdsc_number32(r, node, "__dp", &ap.dp, NULL) ||
        !pack_pdsc_number32(r, node, "HPROT", &ap.hprot, &ap.hprot_set) ||
        !pack_pdsc_number32(r, node, "SPROT", &ap.sprot, &ap.sprot_set))
        return false;
    if (v2 ? !pack_pdsc_number(r, node, "address", UINT64_MAX, &ap.address, NULL) ||
                 !pack_pdsc_number32(r, node, "parent", &ap.parent, &ap.has_parent)
           : !pack_pdsc_number32(r, node, "index", &ap.index, NULL))
        return false;
    while (i < device->ap_count && device->aps[i].id != ap.id)
        i++;
    if (i == PACK_MAX_APS)
        return pack_mistake(r->file, pack_xml_place_of(r->x, node).line, r->d,
                            "too many access ports; at most %d are expected", PACK_MAX_APS);
    device->aps[i] = ap;
    device->ap_count += i == device->ap_count;
    return true;
}

/* Each must end at one without a parent. */
static bool check_parents(struct pack_pdsc_reading *r)
{
    const struct pack_device *device = r->device;
    for (size_t i = 0; i < device->ap_count; i++) {
        const struct pack_access_port *ap = &device->aps[i];
        for (size_t steps = 0; ap->has_parent; steps++) {
            const struct pack_access_port *parent = pack_access_port_of(device, ap->parent);
            if (!parent || steps == device->ap_count) {
                const char *why = parent ? "is behind itself" : "has a parent that is not declared";
                diag_set(r->d, CORRAL_ERR_FORMAT, "%s: device %s: access port __apid %u %s", r->file->name,
                         device->name, device->aps[i].id, why);
                diag_object(r->d, "%s", r->file->name);
                return false;
            }
            ap = parent;
        }
    }
    return true;
}

static bool take_each(struct pack_pdsc_reading *r, enum pack_xml_kind kind,
                      bool (*take)(struct pack_pdsc_reading *r, const struct pack_xml_node *node))
{
    for (size_t i = 0; i < r->chain_length; i++)
        for (const struct pack_xml_node *n = pack_pdsc_first(r, r->chain[i].node, kind); n;
             n = pack_pdsc_next(r, n))
            if (!take(r, n))
                return false;
    return true;
}

bool pack_pdsc_take_ports(struct pack_pdsc_reading *r)
{
    return take_config(r) && take_each(r, PACK_XML_DEBUGPORT, take_port) &&
           take_each(r, PACK_XML_ACCESSPORT_V1, take_ap) && take_each(r, PACK_XML_ACCESSPORT_V2, take_ap) &&
           check_parents(r);
}
