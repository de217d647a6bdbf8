/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device as a description file has it: a PDSC, a .pack archive with one in it, or a cbuild-run.yml, read
 * into one form. Cross-trigger sheet 4.1 (PDSC elements and inheritance), 5 (cbuild-run), 14 (what real packs
 * hold).
 *
 * All of it is from outside: no document type, no entities, no network; no anchors, aliases or tags; bounded
 * in size, depth and number. Nothing is run here, and nothing of the target is known.
 */
#ifndef CORRAL_PACK_PACK_H
#define CORRAL_PACK_PACK_H

#include "pack/sdf.h"
#include "sequence/sequence.h"

#define PACK_NAME_MAX       128
#define PACK_MAX_DEVICES    8192
#define PACK_MAX_PROCESSORS 32
#define PACK_MAX_PORTS      32 /* debug ports */
#define PACK_MAX_APS        64
#define PACK_MAX_PATCHES    256
#define PACK_MAX_OUTPUTS    64
#define PACK_MAX_SERVERS    32

enum pack_kind { PACK_PDSC, PACK_ARCHIVE, PACK_CBUILD_RUN };

struct pack_file;

struct pack_places {
    const char *pack_root; /* what ${CMSIS_PACK_ROOT} stands for; NULL = not known */
    const char *dbgconf; /* this file instead of the one that is named; NULL = that one, where it is there */
};
/*
 * By the name's end: .pdsc, .pack, .zip; .yml and .yaml. What could be read, but is odd, goes into
 * `problems`. NULL with *d set: CORRAL_ERR_FORMAT "FILE:LINE: what is wrong", CORRAL_ERR_IO,
 * CORRAL_ERR_LIMIT.
 */
struct pack_file *pack_open(const char *path, const struct pack_places *places,
                            struct sequence_problems *problems, struct diag *d);
/* The same for bytes already read; relative names are those of `path`'s folder. */
struct pack_file *pack_parse(enum pack_kind kind, const char *path, const char *bytes, size_t size,
                             const struct pack_places *places, struct sequence_problems *problems,
                             struct diag *d);
void pack_close(struct pack_file *file); /* NULL is allowed */

enum pack_kind pack_kind_of(const struct pack_file *file);
const char *pack_path(const struct pack_file *file);
/* Devices and variants by name, in the file's order; a cbuild-run file has one. */
size_t pack_device_count(const struct pack_file *file);
const char *pack_device_name(const struct pack_file *file, size_t i); /* NULL past the end */

enum pack_protocol { PACK_PROTOCOL_ANY, PACK_PROTOCOL_JTAG, PACK_PROTOCOL_SWD, PACK_PROTOCOL_CJTAG };
enum pack_load { PACK_LOAD_IMAGE_SYMBOLS, PACK_LOAD_IMAGE, PACK_LOAD_SYMBOLS, PACK_LOAD_NONE };

struct pack_processor {
    char pname[SEQUENCE_NAME_MAX]; /* "" = the only one */
    char core[32];                 /* "Cortex-M7"; "" = not said */
    unsigned units;                /* Punits; 1 as a rule */
    uint32_t dp;
    bool by_id;  /* apid counts, else ap */
    uint32_t ap; /* __ap; 0 when not said */
    uint32_t apid;
    bool ap_said; /* __ap or __apid stands there */
    bool address_set;
    uint64_t address;                       /* of its debug registers */
    char reset_sequence[SEQUENCE_NAME_MAX]; /* defaultResetSequence; "" = not said */
};

struct pack_debug_port {
    uint32_t dp;
    bool jtag, swd;
    int tapindex; /* -1 = not said */
    uint32_t irlen, idcode;
    bool targetsel_set;
    uint32_t targetsel; /* SWD multidrop */
};

struct pack_access_port {
    uint32_t id, dp;
    bool v2; /* `address` counts, else `index` */
    uint32_t index;
    uint64_t address;
    bool has_parent; /* v2: behind this access port, by its id */
    uint32_t parent;
    bool hprot_set, sprot_set;
    uint32_t hprot, sprot;
};

struct pack_patch { /* datapatch: (read & ~mask) | (value & mask) */
    bool ap_register;
    uint32_t dp;
    bool by_id;
    uint32_t ap; /* or the id */
    uint64_t address;
    uint32_t value, mask;
};

struct pack_output {
    char *path;    /* resolved: relative to the description file, or absolute */
    char type[16]; /* elf hex bin lib */
    enum pack_load load;
    uint64_t load_offset;
    char pname[SEQUENCE_NAME_MAX]; /* "" = not said */
};

struct pack_server {
    uint16_t port;
    char pname[SEQUENCE_NAME_MAX];
    int unit; /* punit; -1 = not said */
};

struct pack_device {
    char name[PACK_NAME_MAX];
    const struct pack_file *file;
    /* debugconfig, debugger: */
    enum pack_protocol protocol;
    uint64_t clock_hz; /* 0 = not said */
    bool swj, dormant;
    char connect[16];    /* "attach", "under-reset", "pre-reset", "halt"; "" = not said */
    bool sync_set, sync; /* debugger: simultaneous-run-halt, there or under device-settings */
    char start_pname[SEQUENCE_NAME_MAX];
    bool trace_setup_full;
    struct pack_processor processors[PACK_MAX_PROCESSORS];
    size_t processor_count;
    struct pack_debug_port ports[PACK_MAX_PORTS];
    size_t port_count;
    struct pack_access_port aps[PACK_MAX_APS]; /* accessport elements; 0 of them = the legacy form */
    size_t ap_count;
    struct pack_patch patches[PACK_MAX_PATCHES];
    size_t patch_count;
    struct pack_output outputs[PACK_MAX_OUTPUTS];
    size_t output_count;
    struct pack_server servers[PACK_MAX_SERVERS];
    size_t server_count;
    struct sdf *sdf; /* NULL = none named, or not there (a problem says so) */
    struct sequence_set *set;
};

/*
 * Device `name` of the file, inheritance resolved. `name` NULL: the only one; else as in the file, or its
 * part before or behind "::" (a cbuild-run file's vendor); a device with variants may be named without the
 * variant. NULL with *d set: CORRAL_ERR_USAGE with the names as hint. Must be freed before the file is
 * closed.
 */
struct pack_device *pack_describe(struct pack_file *file, const char *name,
                                  struct sequence_problems *problems, struct diag *d);
void pack_device_free(struct pack_device *device); /* NULL is allowed */

/* Its sequences compiled; the device must outlive the program. */
struct sequence_program *pack_compile(const struct pack_device *device, struct sequence_problems *problems,
                                      struct diag *d);

const struct pack_processor *pack_processor_named(const struct pack_device *device, const char *pname);
const struct pack_access_port *pack_access_port_of(const struct pack_device *device, uint32_t id);

#endif
