/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding what is there: debug port power-up, access ports, ROM tables, components, cores and their CTIs.
 * The cross-trigger sheet 2.1, 2.3 to 2.5, 1.3 and 1.5. Reads only, but for DP power-up, AP set-up and the
 * power requests of what a ROM table says is in a domain of its own (B10); those stay until the port is
 * powered down.
 */
#ifndef CORRAL_CORESIGHT_ROM_TABLE_H
#define CORRAL_CORESIGHT_ROM_TABLE_H

#include "coresight/hints.h"
#include "link/link.h"

#define CS_MAX_APS        32
#define CS_MAX_COMPONENTS 256
#define CS_MAX_CORES      16
#define CS_MAX_REFUSALS   32
#define CS_ERROR_MAX      96

struct cs_component {
    int32_t ap; /* -1 = an ADIv6 root address space */
    uint64_t address;
    uint8_t component_class;
    uint16_t designer; /* continuation << 8 | JEP106 id; 0x43B = Arm */
    uint16_t part;
    uint8_t devtype;
    uint16_t archid;
    int table;                /* number of the ROM table that names it; -1 = the AP's BASE, or a hint */
    const char *name;         /* a string literal: "ROM table", "CTI", "SCS", ... or "unknown" */
    char error[CS_ERROR_MAX]; /* "" or why it could not be read */
};

struct cs_ap {
    uint32_t ap;
    uint32_t idr;
    uint64_t base;
    bool wide;   /* CFG.LA: its memory does not end at 4 GiB */
    bool nested; /* behind another AP (B16), see hints.h */
    uint32_t parent;
    uint64_t address;
    char error[CS_ERROR_MAX];
};

struct cs_cti {
    uint32_t ap;
    uint64_t address;
    unsigned triggers;
    unsigned channels;
    int restart_output; /* -1 = not known */
};

struct cs_core {
    char name[16]; /* core0, core1, ... in the order found */
    uint32_t ap;
    uint32_t cpuid;
    const char *type; /* a string literal: "Cortex-M7", ... */
    uint64_t address; /* of its SCS or debug registers */
    bool has_cti;
    struct cs_cti cti;
    enum cs_source cti_from;     /* NONE without a CTI */
    enum cs_source restart_from; /* NONE where the restart output is not known */
    /* Why has_cti is false; or, with has_cti, why that CTI cannot be used (its triggers and channels are 0).
     */
    char why_no_cti[CS_ERROR_MAX];
    char error[CS_ERROR_MAX]; /* "", or why a core that was named cannot be looked at: no power, in reset, ...
                               */
    bool cortex_m;            /* has M-profile debug registers: core_cortex_m_open works on it */
    bool stub; /* behind a gdb stub: core_gdb_stub_open works on it; `ap` is its number there */
};

struct cs_refusal {
    int32_t ap;       /* -1 = an ADIv6 root address space */
    uint64_t address; /* of the block, or of the AP's register */
    char why[2 * CS_ERROR_MAX];
};

struct cs_topology {
    struct cs_ap aps[CS_MAX_APS];
    size_t ap_count;
    struct cs_component components[CS_MAX_COMPONENTS];
    size_t component_count;
    struct cs_core cores[CS_MAX_CORES];
    size_t core_count;
    bool cut; /* a table limit was reached: there is more than is listed */
    /* What was refused, and why: hints that turned out wrong, domains that stayed off. */
    struct cs_refusal refusals[CS_MAX_REFUSALS];
    size_t refusal_count;
};

/* Power the debug port up (bounded by 1 s of host_clock time) and clear sticky errors. */
enum corral_err dp_power_up(struct link *link, struct diag *d);

/* Walk everything, with what is known beforehand (NULL = nothing). A new topology (cs_topology_free); NULL
 * with *d set only when the port itself is dead: APs and components that cannot be read are listed with
 * `error`. */
struct cs_topology *cs_scan(struct link *link, const struct cs_hints *hints, struct diag *d);
void cs_topology_free(struct cs_topology *t);

#endif
