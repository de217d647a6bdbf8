/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What corral.yml, an SDF or a pack says of a target, for discovery: it is tried, never believed. Each
 * address is verified by its identification registers (cross-trigger sheet 9), each refusal is listed in the
 * topology with its reason. Data only; arrays are the caller's and must outlive the call they are given to.
 */
#ifndef CORRAL_CORESIGHT_HINTS_H
#define CORRAL_CORESIGHT_HINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a fact comes from. For a CTI "table" is a ROM table, for a restart output the table of sheet 1.5. */
enum cs_source { CS_SOURCE_NONE, CS_SOURCE_TABLE, CS_SOURCE_SDF, CS_SOURCE_CONFIG };

/* An access port: an ADIv5 number, an ADIv6 base address, or one behind another AP (B16): then `ap` is the
 * caller's own number for it (LINK_NESTED_FIRST..LINK_NESTED_LAST, link.h). */
struct cs_ap_hint {
    uint32_t ap;
    bool nested;
    uint32_t parent;  /* with nested: the AP it is behind, listed before it */
    uint64_t address; /* with nested: of its 4 KiB block in the parent's memory */
};

/* What is to be seen instead of what is there (B18): (read & ~mask) | (value & mask). */
struct cs_patch {
    bool ap_register; /* `address` is a register of the AP (BASE is 0xF8, ADIv6 0xDF8); else memory behind it
                       */
    uint32_t ap;
    uint64_t address; /* a multiple of 4 */
    uint32_t value, mask;
};

/* A core, known by its AP and, where several share one, by the address of its SCS or debug registers. */
struct cs_core_hint {
    uint32_t ap;
    bool base_set;
    uint64_t base;
    bool cti_set;
    uint32_t cti_ap;
    uint64_t cti_address;
    enum cs_source cti_from;
    int restart_output; /* -1 = not given */
    enum cs_source restart_from;
};

#define CS_MAX_HINTS 64 /* of each kind; more are not looked at, and the topology says so */

struct cs_hints {
    const struct cs_ap_hint *aps; /* not empty on an ADIv5 port: only these are looked at (B17) */
    size_t ap_count;
    const struct cs_patch *patches;
    size_t patch_count;
    const struct cs_core_hint *cores; /* those that stand first win */
    size_t core_count;
};

#endif
