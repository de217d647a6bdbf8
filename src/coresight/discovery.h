/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of discovery share. Only files of src/coresight/ and its tests include this. */
#ifndef CORRAL_CORESIGHT_DISCOVERY_H
#define CORRAL_CORESIGHT_DISCOVERY_H

#include "coresight/rom_table.h"

#define CS_ARM       0x43B
#define CS_ARM_CHINA 0xA75

#define CS_ARCHID_ROM    0x0AF7
#define CS_ARCHID_CTI    0x1A14
#define CS_ARCHID_MEM_AP 0x0A17
#define CS_ARCHID_SCS    0x2A04

enum { CS_CLASS_ROM = 0x1, CS_CLASS_CORESIGHT = 0x9 };

/* component.c: names after (designer, class, part, devtype, archid), sheet 1.3 and 2.4. Never NULL. */
const char *cs_component_name(const struct cs_component *c);
bool cs_is_rom_table(const struct cs_component *c);
/* B14, B15: the part number alone never identifies a CTI. */
bool cs_is_cti(const struct cs_component *c);
bool cs_is_scs(const struct cs_component *c);
/* A v8-A or v7-A core's own debug block. */
bool cs_is_a_core(const struct cs_component *c);

struct cs_core_type {
    uint16_t part; /* CPUID.PARTNO */
    const char *name;
    bool v8m;
    int restart_output; /* sheet 1.5; -1 = not known */
};
/* NULL for a part that is not listed. */
const struct cs_core_type *cs_core_type(uint16_t part);
/* The core whose private ROM table has this part number, NULL when not known. */
const struct cs_core_type *cs_core_type_of_table(uint16_t designer, uint16_t part);

/* An address space to walk: memory behind AP `ap`, or with ap -1 the ADIv6 root (AP registers). */
struct cs_space {
    struct link *link;
    int32_t ap;
};
enum corral_err cs_read_words(const struct cs_space *s, uint64_t address, uint32_t *words, uint32_t count,
                              struct diag *d);

/* ap.c: list APs of an ADIv5 port (IDR, BASE) in t. Fails only when the port is dead. */
enum corral_err cs_list_aps(struct link *link, struct cs_topology *t, struct diag *d);
/* Reads BASE of an AP whose IDR is known. `regs` is where the AP's management registers begin: 0 or 0xD00. */
void cs_read_base(struct link *link, struct cs_ap *ap, uint32_t regs, enum corral_err *err);
/* Does BASE name a table? *sure false = try it, and accept it if its CID is a table's (sheet 2.3). */
bool cs_base_usable(uint64_t base, bool *sure);

/* rom_table.c: walk from `address`, adding to t. */
enum corral_err cs_walk(struct link *link, struct cs_topology *t, int32_t ap, uint64_t address, bool sure,
                        struct diag *d);

/* bind.c: cores from the components, and each core's CTI (sheet 2.5). */
enum corral_err cs_bind(struct link *link, struct cs_topology *t, struct diag *d);

void cs_error_text(char error[CS_ERROR_MAX], const char *text);

#endif
