/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two files of mem_ap.h share: mem_ap_port.c makes DP and AP register accesses of transfers,
 * mem_ap.c memory accesses of those. Only they include this.
 */
#ifndef CORRAL_LINK_MEM_AP_PORT_H
#define CORRAL_LINK_MEM_AP_PORT_H

#include "link/mem_ap.h"

enum {
    DP_ABORT = 0x0,
    DP_DPIDR = 0x0,
    DP_CTRL_STAT = 0x4,
    DP_SELECT = 0x8,
    DP_RDBUFF = 0xC,
    DP_TARGETSEL = 0xC, /* of a write */
    /* Offsets in the AP's own registers: ADIv6 has them at ADIV6_REGISTERS. */
    AP_CSW = 0x00,
    AP_TAR = 0x04,
    AP_TARH = 0x08,
    AP_DRW = 0x0C,
    AP_BD0 = 0x10, /* and BD1 to BD3: the words of the 16 bytes that TAR is in */
    AP_CFG = 0xF4,
    AP_IDR = 0xFC,
    ADIV6_REGISTERS = 0xD00,
};

#define MAX_APS     256
#define ADIV6_APS   64      /* remembered at a time */
#define ADIV6_BLOCK 0x1000u /* an AP's registers */

struct ap_cache {
    bool used;
    uint32_t ap;
    unsigned waits; /* in a row */
    bool dead;
    struct deadline dead_until;
    bool present_known; /* IDR was read and is not zero */
    bool large;         /* CFG.LA: has TARH */
    bool doubles;       /* CFG.LD: 64 bits in one access */
    bool tarh_known;
    uint32_t tarh;
    bool csw_known;
    bool tar_known;
    uint32_t csw;
    uint32_t tar;
};

struct mem_ap {
    const struct link_backend *backend;
    void *ctx;
    struct host_clock *clock;
    bool version_known;
    bool adiv6;
    bool select_known;
    uint32_t select;
    /* DPBANKSEL as link_write_dp was told, which holds for DP accesses whatever AP accesses need. */
    bool bank_told;
    uint32_t bank;
    unsigned next_slot;
    /* The last AP write, whose failure shows only with a later transfer. */
    bool write_pending;
    struct link_access *write_access;
    uint32_t write_ap;
    uint64_t write_address;
    struct ap_cache aps[MAX_APS];
};

static inline bool mem_ap_is_posted(const struct mem_ap *m)
{
    return m->backend->dap_posted != NULL;
}

/* Where register `reg` of an AP is in its own block. */
static inline uint32_t mem_ap_register(const struct mem_ap *m, uint32_t reg)
{
    return m->adiv6 ? ADIV6_REGISTERS + reg : reg;
}

/* What is remembered of an AP. An ADIv5 number is its place; the base of an ADIv6 one takes the next. */
struct ap_cache *mem_ap_cache(struct mem_ap *m, uint32_t ap);

/* Sets the diag for a transfer that was not acknowledged, and makes the port usable again. */
enum corral_err mem_ap_recover(struct mem_ap *m, enum dap_ack ack, const char *space, uint32_t ap,
                               uint64_t address, struct diag *d);
/*
 * One transfer of the access under way. A FAULT while an earlier write is outstanding is that write's: SWD
 * writes are buffered and their error is sticky.
 */
enum corral_err mem_ap_step(struct mem_ap *m, bool posted, bool ap, bool read, uint8_t addr, uint32_t *value,
                            const char *space, uint32_t ap_number, uint64_t address, struct diag *d);
/* `reg` is the register's offset in the AP: up to 0xFC in ADIv5, anywhere in 4 KiB in ADIv6. */
enum corral_err mem_ap_select(struct mem_ap *m, uint32_t ap, uint32_t reg, struct diag *d);
/* Before the first access to an AP: what SELECT means depends on the port's version. */
enum corral_err mem_ap_know_version(struct mem_ap *m, struct diag *d);
enum corral_err mem_ap_read_register(struct mem_ap *m, uint32_t ap, uint32_t reg, uint32_t *value,
                                     struct diag *d);
enum corral_err mem_ap_write_register(struct mem_ap *m, uint32_t ap, uint32_t reg, uint32_t value,
                                      struct diag *d);
enum corral_err mem_ap_no_ap(uint32_t ap, struct diag *d);
enum corral_err mem_ap_dp_register(struct mem_ap *m, struct link_access *a, struct diag *d);

#endif
