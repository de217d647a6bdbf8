/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a component is, after its identification registers. Cross-trigger sheet 1.3 (CTIs), 1.5 (cores), 2.4
 * (classes, parts, architecture numbers). Const tables only; a part number alone never identifies a block.
 */
#include "coresight/discovery.h"

enum { CLASS_GENERIC = 0xE, CLASS_SYSTEM = 0xF };

enum { DEVTYPE_TRIGGER = 0x14, DEVTYPE_CORE_DEBUG = 0x15 };

struct arch_name {
    uint16_t archid;
    const char *name;
};

static const struct arch_name architectures[] = {
    {CS_ARCHID_ROM, "ROM table"},
    {CS_ARCHID_SCS, "SCS"},
    {0x1A02, "DWT"},
    {0x1A03, "FPB"},
    {0x1A01, "ITM"},
    {0x4A13, "ETM"},
    {0x0A06, "PMU"},
    {0x2A16, "PMU"},
    {0x0A31, "MTB"},
    {CS_ARCHID_CTI, "CTI"},
    {CS_ARCHID_MEM_AP, "MEM-AP"},
    {0x0A34, "GPR"},
    {0x6A15, "core debug"},
    {0x7A15, "core debug"},
    {0x8A15, "core debug"},
    {0x0A63, "STM"},
};

struct part_name {
    uint8_t component_class;
    uint16_t part;
    uint8_t devtype; /* class 9 only; 0 = not looked at */
    const char *name;
};

/* Blocks without DEVARCH, designer Arm. */
static const struct part_name arm_parts[] = {
    {CLASS_GENERIC, 0x000, 0, "SCS"},
    {CLASS_GENERIC, 0x00C, 0, "SCS"},
    {CLASS_GENERIC, 0x008, 0, "SCS"},
    {CLASS_GENERIC, 0x001, 0, "ITM"},
    {CLASS_GENERIC, 0x002, 0, "DWT"},
    {CLASS_GENERIC, 0x00A, 0, "DWT"},
    {CLASS_GENERIC, 0x003, 0, "FPB"},
    {CLASS_GENERIC, 0x00E, 0, "FPB"},
    {CLASS_GENERIC, 0x00B, 0, "FPB"},
    {CLASS_SYSTEM, 0x101, 0, "timestamp"},
    {CS_CLASS_CORESIGHT, 0x906, DEVTYPE_TRIGGER, "CTI"},
    {CS_CLASS_CORESIGHT, 0x907, 0, "ETB"},
    {CS_CLASS_CORESIGHT, 0x908, 0, "funnel"},
    {CS_CLASS_CORESIGHT, 0x909, 0, "replicator"},
    {CS_CLASS_CORESIGHT, 0x912, 0, "TPIU"},
    {CS_CLASS_CORESIGHT, 0x913, 0, "ITM"},
    {CS_CLASS_CORESIGHT, 0x914, 0, "SWO"},
    {CS_CLASS_CORESIGHT, 0x923, 0, "TPIU"},
    {CS_CLASS_CORESIGHT, 0x924, 0, "ETM"},
    {CS_CLASS_CORESIGHT, 0x925, 0, "ETM"},
    {CS_CLASS_CORESIGHT, 0x932, 0, "MTB"},
    {CS_CLASS_CORESIGHT, 0x961, 0, "TMC"},
    {CS_CLASS_CORESIGHT, 0x962, 0, "STM"},
    {CS_CLASS_CORESIGHT, 0x975, 0, "ETM"},
    {CS_CLASS_CORESIGHT, 0x9A1, 0, "TPIU"},
    {CS_CLASS_CORESIGHT, 0x9A4, 0, "GPR"},
    {CS_CLASS_CORESIGHT, 0x9A9, 0, "TPIU"},
    {CS_CLASS_CORESIGHT, 0x9E7, 0, "TPIU"},
    {CS_CLASS_CORESIGHT, 0x9E8, 0, "TMC"},
    {CS_CLASS_CORESIGHT, 0x9EB, 0, "funnel"},
};

static const struct cs_core_type core_types[] = {
    {0xC20, "Cortex-M0", false, -1}, {0xC21, "Cortex-M1", false, -1}, {0xC60, "Cortex-M0+", false, 7},
    {0xC23, "Cortex-M3", false, 7},  {0xC24, "Cortex-M4", false, 7},  {0xC27, "Cortex-M7", false, 7},
    {0xD20, "Cortex-M23", true, 1},  {0xD21, "Cortex-M33", true, 1},  {0xD31, "Cortex-M35P", true, 1},
    {0xD22, "Cortex-M55", true, 1},  {0xD23, "Cortex-M85", true, 1},  {0xD24, "Cortex-M52", true, 1},
    {0x132, "Star-MC1", true, 1},    {0xD25, "Star-MC3", true, 1},    {0xC05, "Cortex-A5", false, 7},
    {0xC07, "Cortex-A7", false, 7},  {0xC09, "Cortex-A9", false, 7},  {0xC0F, "Cortex-A15", false, 7},
    {0xD01, "Cortex-A32", false, 1}, {0xD03, "Cortex-A53", false, 1}, {0xD04, "Cortex-A35", false, 1},
    {0xD05, "Cortex-A55", false, 1}, {0xD07, "Cortex-A57", false, 1}, {0xD08, "Cortex-A72", false, 1},
    {0xD09, "Cortex-A73", false, 1}, {0xD0A, "Cortex-A75", false, 1}, {0xD0B, "Cortex-A76", false, 1},
    {0xD41, "Cortex-A78", false, 1},
};

/* ROM tables of the cores' private peripheral bus: tells the core where CPUID cannot be read. */
static const struct {
    uint16_t designer, table, core;
} core_tables[] = {
    {CS_ARM, 0x471, 0xC20}, {CS_ARM, 0x4C0, 0xC60}, {CS_ARM, 0x4C3, 0xC23}, {CS_ARM, 0x4C4, 0xC24},
    {CS_ARM, 0x4C7, 0xC27}, {CS_ARM, 0x4C8, 0xC27}, {CS_ARM, 0x4C9, 0xD21}, {CS_ARM, 0x4CB, 0xD20},
};

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

bool cs_is_rom_table(const struct cs_component *c)
{
    return c->component_class == CS_CLASS_ROM ||
           (c->component_class == CS_CLASS_CORESIGHT && c->archid == CS_ARCHID_ROM);
}

bool cs_is_cti(const struct cs_component *c)
{
    if (c->component_class != CS_CLASS_CORESIGHT || c->devtype != DEVTYPE_TRIGGER)
        return false;
    return c->archid == CS_ARCHID_CTI || (c->designer == CS_ARM && c->part == 0x906 && c->archid == 0);
}

bool cs_is_scs(const struct cs_component *c)
{
    if (c->component_class == CLASS_GENERIC)
        return c->designer == CS_ARM && (c->part == 0x000 || c->part == 0x00C || c->part == 0x008);
    return c->component_class == CS_CLASS_CORESIGHT && c->archid == CS_ARCHID_SCS;
}

bool cs_is_a_core(const struct cs_component *c)
{
    if (c->component_class != CS_CLASS_CORESIGHT || c->devtype != DEVTYPE_CORE_DEBUG)
        return false;
    const struct cs_core_type *type = cs_core_type(c->part);
    return (c->archid & 0x0FFF) == 0x0A15 || (type && !type->v8m && c->designer == CS_ARM);
}

const char *cs_component_name(const struct cs_component *c)
{
    if (cs_is_rom_table(c))
        return "ROM table";
    if (cs_is_cti(c))
        return "CTI";
    if (cs_is_a_core(c))
        return "core debug";
    if (c->component_class == CS_CLASS_CORESIGHT && c->archid) {
        for (size_t i = 0; i < LENGTH(architectures); i++)
            if (architectures[i].archid == c->archid && c->archid != CS_ARCHID_CTI)
                return architectures[i].name;
    }
    for (size_t i = 0; c->designer == CS_ARM && i < LENGTH(arm_parts); i++) {
        const struct part_name *p = &arm_parts[i];
        if (p->component_class == c->component_class && p->part == c->part && p->devtype != DEVTYPE_TRIGGER)
            return p->name;
    }
    return "unknown";
}

const struct cs_core_type *cs_core_type(uint16_t part)
{
    for (size_t i = 0; i < LENGTH(core_types); i++)
        if (core_types[i].part == part)
            return &core_types[i];
    return NULL;
}

const struct cs_core_type *cs_core_type_of_table(uint16_t designer, uint16_t part)
{
    for (size_t i = 0; i < LENGTH(core_tables); i++)
        if (core_tables[i].designer == designer && core_tables[i].table == part)
            return cs_core_type(core_tables[i].core);
    return NULL;
}
