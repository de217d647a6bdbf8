/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral.yml: what a target is made of, in one file. (INTERFACE.md "General")
 *
 *     link: sim                       # as --link; paths in it are relative to this file
 *     board: --level-halted           # the virtual board's switches, as of corral sim; or a list of them
 *     clock: 4000000                  # SWCLK or TCK in Hz
 *     protocol: swd                   # or jtag, where the link has the choice
 *     connect: attach                 # or under-reset, pre-reset: what is done to nRESET first
 *     sync: true                      # halt and run through cross triggers
 *     channels: {halt: 0, restart: 1} # of the cross-trigger matrix
 *     cores:
 *       - name: core0
 *         ap: 0
 *         elf: build/core0.elf
 *         hz: 100000000               # its CYCCNT's frequency
 *         cti: {address: 0xE0042000, ap: 0, restart_output: 7}
 *     sdf: part.sdf                   # a system description file: the same facts for all cores
 *     pack: Vendor.Part_DFP.pdsc      # or a .pack: --pack, and with several devices
 *     device: PART-1                  # --device; or, in place of both,
 *     cbuild-run: out/app.cbuild-run.yml
 *     aps: [0, 3]                     # the access ports there are; or {ap: 256, parent: 3, address:
 * 0x80000000} patches:                        # what is to be seen instead of what is there
 *       - {ap: 0, register: 0xF8, value: 0xE00FF003}
 *       - {ap: 3, address: 0xE00FF008, value: 0, mask: 1}
 *     logs:
 *       - core: core0
 *         symbol: tlog_buffer         # or address: and size:
 *         staging: 4096
 *         timestamp_hz: 1000
 *     profile:
 *       listen: 127.0.0.1:51080
 *       sources:
 *         - address: 192.168.1.10     # or ADDR:PORT
 *           core: core0
 *
 * Every key may be left out, but a core has a name, a log a core and a place, a source an address and a core.
 * What is said of access ports and CTIs is verified by discovery, never believed. Numbers are decimal or 0x
 * hexadecimal. Any mistake is CORRAL_ERR_CONFIG with "FILE:LINE: what it is; expected what" as message and
 * FILE:LINE as object: unknown and repeated keys, wrong types, numbers out of range, ELF files that cannot be
 * read, cores that are not there, tabs, anchors, aliases, tags, more than one document, too large or too deep
 * a file.
 */
#ifndef CORRAL_SESSION_CONFIG_H
#define CORRAL_SESSION_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "session/connect.h"

#define CONFIG_MAX_CORES   16
#define CONFIG_MAX_LOGS    32
#define CONFIG_MAX_SOURCES 32
#define CONFIG_MAX_APS     32
#define CONFIG_MAX_PATCHES 32
#define CONFIG_NAME_MAX    32 /* with the NUL */

struct config_core {
    char name[CONFIG_NAME_MAX]; /* letters, digits, '_', '-', '.'; unique */
    bool ap_set, cti_set, cti_ap_set;
    uint32_t ap;            /* 0..255, an ADIv6 base address, or the number of one behind another */
    uint32_t cti_ap;        /* with cti_ap_set; else the core's */
    char *elf;              /* a readable file, relative to the working directory or absolute; or NULL */
    uint64_t hz;            /* 0 = not given */
    uint64_t cti_address;   /* with cti_set */
    int cti_restart_output; /* 0..31, -1 = not given */
    unsigned line;          /* where it stands */
};

struct config_log {
    size_t core;  /* index into cores */
    char *symbol; /* NULL: address and size are given */
    uint64_t address;
    uint32_t size;         /* bytes: 29..1 MiB */
    uint32_t staging;      /* 0 = not given */
    uint32_t timestamp_hz; /* 0 = not given */
    unsigned line;
};

struct config_source {
    char address[64]; /* IPv4 */
    int port;         /* of the sender; -1 = any */
    size_t core;      /* index into cores */
    unsigned line;
};

struct config_ap {
    uint32_t ap; /* as in config_core; with nested LINK_NESTED_FIRST..LINK_NESTED_LAST */
    bool nested;
    uint32_t parent;
    uint64_t address;
    unsigned line;
};

struct config_patch {
    bool ap_register; /* address is the offset of an AP's register; else in the memory behind it */
    uint32_t ap;
    uint64_t address;
    uint32_t value, mask;
    unsigned line;
};

struct config {
    char *file;        /* as given to config_load */
    char *link;        /* NULL = not given; the paths in it are resolved */
    char *board;       /* the switches of the virtual board, checked; NULL = not given */
    uint64_t clock_hz; /* 0 = not given */
    enum link_protocol protocol;
    enum connect_mode connect;
    bool sync_set, sync;
    int halt_channel, restart_channel; /* 0..31; -1 = not given */
    size_t core_count;
    struct config_core cores[CONFIG_MAX_CORES];
    char *sdf;               /* a readable file, as config_core.elf; NULL = not given */
    char *pack, *cbuild_run; /* readable files likewise, at most one of them; NULL = not given */
    char *device;            /* with `pack`; NULL = not given */
    unsigned device_line, cbuild_run_line;
    size_t ap_count;
    struct config_ap aps[CONFIG_MAX_APS];
    size_t patch_count;
    struct config_patch patches[CONFIG_MAX_PATCHES];
    size_t log_count;
    struct config_log logs[CONFIG_MAX_LOGS];
    bool profile_set;
    char listen[64]; /* IPv4 address, "" = not given */
    int listen_port; /* 0..65535, -1 = not given */
    size_t source_count;
    struct config_source sources[CONFIG_MAX_SOURCES];
};

/* Read and check a file. NULL with *d set. Free with config_free. */
struct config *config_load(const char *path, struct diag *d);
/* The same for bytes already read; `path` names them and is what relative paths start from. */
struct config *config_parse(const char *path, const char *bytes, size_t size, struct diag *d);
void config_free(struct config *config); /* NULL is allowed */
/* What it says of the core on this access port; NULL where it says nothing, or is NULL. A core without `ap:`
 * stands for the number of its place in the list. */
const struct config_core *config_core_on(const struct config *config, uint32_t ap);

#endif
