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
#define CS_ARCHID_GPR    0x0A34

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

/* One scan. `hints` is never NULL here. */
struct cs_scan {
    struct link *link;
    const struct cs_hints *hints;
    struct cs_topology *t;
};

/* An address space to walk: memory behind AP `ap`, or with ap -1 the ADIv6 root (AP registers). */
struct cs_space {
    struct link *link;
    const struct cs_hints *hints;
    int32_t ap;
    bool wide; /* does not end at 4 GiB */
};
struct cs_space cs_space_of(const struct cs_scan *scan, int32_t ap);

/* space.c: words as they are, or as hints patch them (B18). */
enum corral_err cs_read_words(const struct cs_space *s, uint64_t address, uint32_t *words, uint32_t count,
                              struct diag *d);
enum corral_err cs_write_word(const struct cs_space *s, uint64_t address, uint32_t value, struct diag *d);
/* Errors that end the scan, and not just one part of it: the port is gone, or the time is up. What could not
 * be read for that reason is not missing. */
bool cs_ends_scan(enum corral_err err);
enum corral_err cs_read_ap(const struct cs_scan *scan, uint32_t ap, uint32_t reg, uint32_t *value,
                           struct diag *d);
enum cs_found { CS_FOUND_NOTHING, CS_FOUND_BLOCK, CS_FOUND_ERROR };
/* The identification registers of the block at `address`: *c without its table, *devid of a class 9 block. On
 * CS_FOUND_ERROR c->error and *d say why; a block whose class 9 registers cannot be read has an error, too.
 */
enum cs_found cs_identify(const struct cs_space *s, uint64_t address, struct cs_component *c, uint32_t *devid,
                          struct diag *d);

/* ap.c: list the APs in the topology (IDR, BASE). Fails only when the port is dead. */
enum corral_err cs_list_aps(const struct cs_scan *scan, struct diag *d);
/* Those of hints that are behind other APs, or on an ADIv6 port, where they are not listed yet. */
enum corral_err cs_list_hinted_aps(const struct cs_scan *scan, bool adiv6, struct diag *d);
/* A new entry with IDR and BASE read; NULL when the topology is full. `regs`: where the AP's management
 * registers begin, 0 or 0xD00. *err is the port's own failure. */
struct cs_ap *cs_add_ap(const struct cs_scan *scan, uint32_t number, uint32_t regs, enum corral_err *err);
/* The MEM-AP at `address` behind AP `parent` (B16). Nothing is added where its IDR says it is none. */
enum corral_err cs_add_nested_ap(const struct cs_scan *scan, uint32_t number, uint32_t parent,
                                 uint64_t address);
/* A number for one, LINK_NESTED_LAST + 1 when there is none left. */
uint32_t cs_free_nested_number(const struct cs_scan *scan);
/* Does BASE name a table? *sure false = try it, and accept it if its CID is a table's (sheet 2.3). */
bool cs_base_usable(uint64_t base, bool *sure);

/* power_request.c: see that a power domain is on (B10). */
struct cs_domain {
    unsigned id;        /* of the ROM table's entry */
    bool class9;        /* of the table */
    uint32_t devid;     /* class 9: the table's */
    uint64_t registers; /* the table, or for class 1 the GPR */
};
/* False with the reason in `why` when it stays off. True also where there is nothing to request it with. */
bool cs_power_domain(const struct cs_space *s, const struct cs_domain *domain, char why[CS_ERROR_MAX]);
bool cs_is_gpr(const struct cs_component *c);

/* rom_table.c: walk from `address`, adding to the topology. */
enum corral_err cs_walk(const struct cs_scan *scan, int32_t ap, uint64_t address, bool sure, struct diag *d);

/* bind.c: cores from the components, and each core's CTI (sheet 2.5). */
enum corral_err cs_bind(const struct cs_scan *scan, struct diag *d);

void cs_error_text(char error[CS_ERROR_MAX], const char *text);
/* Adds to what was refused. */
void cs_refuse(struct cs_topology *t, int32_t ap, uint64_t address, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
