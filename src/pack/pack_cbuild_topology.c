/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a cbuild-run.yml says of a device's build: debug-topology with its ports, access ports within each
 * other, data patches and processors, and system-resources.processors. Cross-trigger sheet 5.
 *
 * Who the processors are, the first of these says: debug-topology.processors, system-resources.processors,
 * the pnames of debugger.gdbserver; else it is one without a name. A processor whose access port is not said
 * gets the one that has its place in the file's order: the first processor the first access port.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pack/pack_cbuild_internal.h"

/* ---- ports */

static bool take_patch(struct pack_cbuild_reading *r, const struct yaml_tree_node *node,
                       const struct pack_access_port *ap)
{
    struct pack_device *device = r->device;
    struct pack_patch patch = {.dp = ap->dp, .by_id = true, .ap = ap->id, .mask = UINT32_MAX};
    char type[16] = "Mem";
    if (!pack_cbuild_is_mapping(r, node, "address: and value: of a data patch") ||
        !pack_cbuild_needs(r, node, "address", "a data patch") ||
        !pack_cbuild_needs(r, node, "value", "a data patch") ||
        !pack_cbuild_number(r, node, "address", UINT64_MAX, &patch.address, NULL) ||
        !pack_cbuild_number32(r, node, "value", &patch.value, NULL) ||
        !pack_cbuild_number32(r, node, "mask", &patch.mask, NULL) ||
        !pack_cbuild_text(r, node, "type", type, sizeof(type)))
        return false;
    patch.ap_register = strcmp(type, "AP") == 0;
    if (!patch.ap_register && strcmp(type, "Mem") != 0)
        return pack_cbuild_wrong(r, yaml_tree_child(node, "type"), "AP or Mem");
    if (device->patch_count == PACK_MAX_PATCHES)
        return pack_mistake(r->file, node->line, r->d, "too many data patches; expected at most %d",
                            PACK_MAX_PATCHES);
    device->patches[device->patch_count++] = patch;
    return true;
}

/* Its numbers, and that it is the only one with this id. */
static bool read_ap(struct pack_cbuild_reading *r, const struct yaml_tree_node *node,
                    struct pack_access_port *ap)
{
    bool index = false;
    if (!pack_cbuild_is_mapping(r, node, "apid: and index: or address: of an access port") ||
        !pack_cbuild_needs(r, node, "apid", "an access port") ||
        !pack_cbuild_number32(r, node, "apid", &ap->id, NULL) ||
        !pack_cbuild_number(r, node, "address", UINT64_MAX, &ap->address, &ap->v2) ||
        !pack_cbuild_number32(r, node, "index", &ap->index, &index) ||
        !pack_cbuild_number32(r, node, "HPROT", &ap->hprot, &ap->hprot_set) ||
        !pack_cbuild_number32(r, node, "SPROT", &ap->sprot, &ap->sprot_set))
        return false;
    if (index == ap->v2)
        return pack_mistake(r->file, node->line, r->d,
                            "access port %u has %s; expected either index: or address:", ap->id,
                            index ? "an index and an address" : "neither index nor address");
    if (index && ap->has_parent)
        return pack_mistake(r->file, node->line, r->d,
                            "access port %u is behind another; expected its address:, not an index", ap->id);
    if (pack_access_port_of(r->device, ap->id))
        return pack_cbuild_wrong(r, yaml_tree_child(node, "apid"), "an id that no other access port has");
    if (r->device->ap_count == PACK_MAX_APS)
        return pack_mistake(r->file, node->line, r->d, "too many access ports; expected at most %d",
                            PACK_MAX_APS);
    return true;
}

/* The depth of the tree bounds that of the recursion. */
static bool take_aps(struct pack_cbuild_reading *r, const struct yaml_tree_node *holder, uint32_t dp,
                     const uint32_t *parent)
{
    const struct yaml_tree_node *list, *patches;
    if (!pack_cbuild_list(r, holder, "accessports", &list))
        return false;
    for (const struct yaml_tree_node *node = list ? list->first : NULL; node; node = node->next) {
        struct pack_access_port ap = {.dp = dp, .has_parent = parent != NULL, .parent = parent ? *parent : 0};
        if (!read_ap(r, node, &ap))
            return false;
        r->device->aps[r->device->ap_count++] = ap;
        if (!pack_cbuild_list(r, node, "datapatch", &patches))
            return false;
        for (const struct yaml_tree_node *n = patches ? patches->first : NULL; n; n = n->next)
            if (!take_patch(r, n, &ap))
                return false;
        if (!take_aps(r, node, dp, &ap.id))
            return false;
    }
    return true;
}

static bool take_port(struct pack_cbuild_reading *r, const struct yaml_tree_node *node)
{
    struct pack_device *device = r->device;
    struct pack_debug_port port = {.tapindex = -1};
    const struct yaml_tree_node *jtag, *swd;
    uint64_t tapindex = 0;
    bool tapindex_set = false;
    if (!pack_cbuild_is_mapping(r, node, "dpid: and accessports: of a debug port") ||
        !pack_cbuild_number32(r, node, "dpid", &port.dp, NULL) ||
        !pack_cbuild_mapping(r, node, "jtag", &jtag) || !pack_cbuild_mapping(r, node, "swd", &swd) ||
        !pack_cbuild_number(r, jtag, "tapindex", 1023, &tapindex, &tapindex_set) ||
        !pack_cbuild_number32(r, jtag, "irlen", &port.irlen, NULL) ||
        !pack_cbuild_number32(r, jtag, "idcode", &port.idcode, NULL) ||
        !pack_cbuild_number32(r, jtag, "targetsel", &port.targetsel, &port.targetsel_set) ||
        !pack_cbuild_number32(r, swd, "targetsel", &port.targetsel, &port.targetsel_set))
        return false;
    port.jtag = jtag != NULL;
    port.swd = swd != NULL;
    port.tapindex = tapindex_set ? (int)tapindex : -1;
    for (size_t i = 0; i < device->port_count; i++)
        if (device->ports[i].dp == port.dp)
            return pack_mistake(r->file, node->line, r->d,
                                "debug port %u is here twice; expected each dpid once", port.dp);
    if (device->port_count == PACK_MAX_PORTS)
        return pack_mistake(r->file, node->line, r->d, "too many debug ports; expected at most %d",
                            PACK_MAX_PORTS);
    device->ports[device->port_count++] = port;
    return take_aps(r, node, port.dp, NULL);
}

/* A hint for discovery: without it all goes on. */
static bool take_sdf(struct pack_cbuild_reading *r, const struct yaml_tree_node *topology)
{
    char *name = NULL, *bytes = NULL, *path = NULL;
    size_t size = 0;
    bool unknown = false;
    struct diag own = DIAG_INIT;
    if (!pack_cbuild_path(r, topology, "sdf", &name, &unknown))
        return false;
    const struct yaml_tree_node *node = yaml_tree_child(topology, "sdf");
    if (unknown)
        pack_cbuild_warn(r, node, "the system description is left out: ${CMSIS_PACK_ROOT} is not known");
    if (!name)
        return true;
    if (pack_read_named(r->file, name, PACK_MAX_SIDE, &bytes, &size, &path, &own) == CORRAL_OK)
        r->device->sdf = sdf_parse(path, bytes, size, &own);
    if (!r->device->sdf)
        pack_cbuild_warn(r, node, "the system description is left out: %.180s", own.message);
    free(name);
    free(bytes);
    free(path);
    return own.code != CORRAL_ERR_NO_MEMORY || pack_no_memory(r->d);
}

/* ---- processors */

static struct pack_processor *add_processor(struct pack_cbuild_reading *r, const struct yaml_tree_node *node)
{
    struct pack_device *device = r->device;
    struct pack_processor p = {.units = 1};
    if (!pack_cbuild_text(r, node, "pname", p.pname, sizeof(p.pname)))
        return NULL;
    if (pack_processor_named(device, p.pname)) {
        pack_mistake(r->file, node->line, r->d, "%s%s is here twice; expected each pname once",
                     p.pname[0] ? "processor " : "a processor without pname:", p.pname);
        return NULL;
    }
    if (device->processor_count == PACK_MAX_PROCESSORS) {
        pack_mistake(r->file, node->line, r->d, "too many processors; expected at most %d",
                     PACK_MAX_PROCESSORS);
        return NULL;
    }
    device->processors[device->processor_count] = p;
    return &device->processors[device->processor_count++];
}

static bool read_place(struct pack_cbuild_reading *r, const struct yaml_tree_node *node,
                       struct pack_processor *p)
{
    bool apid = false;
    if (!pack_cbuild_number32(r, node, "apid", &p->apid, &apid) ||
        !pack_cbuild_number(r, node, "address", UINT64_MAX, &p->address, &p->address_set))
        return false;
    if (!apid)
        return true;
    const struct pack_access_port *ap = pack_access_port_of(r->device, p->apid);
    p->by_id = p->ap_said = true;
    if (ap)
        p->dp = ap->dp;
    else
        sequence_problems_add(r->problems, SEQUENCE_ERROR, pack_cbuild_place(yaml_tree_child(node, "apid")),
                              1, NULL, "access port %u is not declared under debugports:", p->apid);
    return true;
}

/* Of several units of one processor the first is the one that a pname stands for, as in a PDSC. */
static bool take_processor(struct pack_cbuild_reading *r, const struct yaml_tree_node *node)
{
    const struct yaml_tree_node *units;
    unsigned count = 0;
    if (!pack_cbuild_is_mapping(r, node, "pname: and apid: of a processor"))
        return false;
    struct pack_processor *p = add_processor(r, node);
    if (!p || !read_place(r, node, p) ||
        !pack_cbuild_text(r, node, "reset-sequence", p->reset_sequence, sizeof(p->reset_sequence)) ||
        !pack_cbuild_list(r, node, "punits", &units))
        return false;
    for (const struct yaml_tree_node *n = units ? units->first : NULL; n; n = n->next) {
        if (!pack_cbuild_is_mapping(r, n, "punit: and apid: of a unit") ||
            (n == units->first && !read_place(r, n, p)))
            return false;
        count++;
    }
    p->units = count ? count : 1;
    return true;
}

/* Which core each is; and, where debug-topology has none, that they are there. */
static bool take_resources(struct pack_cbuild_reading *r, const struct yaml_tree_node *run)
{
    const struct yaml_tree_node *resources, *list;
    bool declared = r->device->processor_count > 0;
    if (!pack_cbuild_mapping(r, run, "system-resources", &resources) ||
        !pack_cbuild_list(r, resources, "processors", &list))
        return false;
    for (const struct yaml_tree_node *n = list ? list->first : NULL; n; n = n->next) {
        char pname[SEQUENCE_NAME_MAX] = "", core[32] = "";
        if (!pack_cbuild_is_mapping(r, n, "core: and pname: of a processor") ||
            !pack_cbuild_text(r, n, "pname", pname, sizeof(pname)) ||
            !pack_cbuild_text(r, n, "core", core, sizeof(core)))
            return false;
        struct pack_processor *p =
            declared ? (struct pack_processor *)pack_processor_named(r->device, pname) : add_processor(r, n);
        if (!p && !declared)
            return false;
        if (p)
            snprintf(p->core, sizeof(p->core), "%s", core);
    }
    return true;
}

static bool take_servers_names(struct pack_cbuild_reading *r, const struct yaml_tree_node *run)
{
    const struct yaml_tree_node *debugger, *servers;
    if (!pack_cbuild_mapping(r, run, "debugger", &debugger) ||
        !pack_cbuild_list(r, debugger, "gdbserver", &servers))
        return false;
    for (const struct yaml_tree_node *n = servers ? servers->first : NULL; n; n = n->next) {
        char pname[SEQUENCE_NAME_MAX] = "";
        if (!pack_cbuild_text(r, n, "pname", pname, sizeof(pname)))
            return false;
        if (pname[0] && !pack_processor_named(r->device, pname) && !add_processor(r, n))
            return false;
    }
    return true;
}

static void place_by_order(struct pack_cbuild_reading *r)
{
    struct pack_device *device = r->device;
    for (size_t i = 0; i < device->processor_count; i++) {
        struct pack_processor *p = &device->processors[i];
        if (p->ap_said)
            continue;
        if (i < device->ap_count) {
            p->by_id = true;
            p->apid = device->aps[i].id;
            p->dp = device->aps[i].dp;
        } else if (device->ap_count == 0) {
            p->ap = (uint32_t)i;
        }
    }
}

bool pack_cbuild_take_topology(struct pack_cbuild_reading *r, const struct yaml_tree_node *run)
{
    struct pack_device *device = r->device;
    const struct yaml_tree_node *topology, *ports, *processors;
    if (!pack_cbuild_mapping(r, run, "debug-topology", &topology) ||
        !pack_cbuild_list(r, topology, "debugports", &ports) ||
        !pack_cbuild_list(r, topology, "processors", &processors) ||
        !pack_cbuild_bool(r, topology, "swj", &device->swj) ||
        !pack_cbuild_bool(r, topology, "dormant", &device->dormant))
        return false;
    for (const struct yaml_tree_node *n = ports ? ports->first : NULL; n; n = n->next)
        if (!take_port(r, n))
            return false;
    for (const struct yaml_tree_node *n = processors ? processors->first : NULL; n; n = n->next)
        if (!take_processor(r, n))
            return false;
    if (!take_resources(r, run) || (device->processor_count == 0 && !take_servers_names(r, run)))
        return false;
    if (device->processor_count == 0)
        device->processors[device->processor_count++] = (struct pack_processor){.units = 1};
    place_by_order(r);
    return take_sdf(r, topology);
}
