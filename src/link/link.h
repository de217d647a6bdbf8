/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reaching a target: batched memory, AP and DP accesses over some wire. A link does not know what is read
 * through it. ADIv5 (IHI0031) terms: DP, AP, MEM-AP, CSW, TAR, DRW.
 *
 * A link is used by one thread at a time: its owner thread (link_thread.h). Memory accesses through a link
 * with raw DP/AP access are made by link/mem_ap.c, which caches SELECT, CSW and TAR.
 */
#ifndef CORRAL_LINK_LINK_H
#define CORRAL_LINK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/host_clock.h"

struct link;

enum link_cap {
    LINK_CAP_MEM = 1 << 0,  /* memory accesses */
    LINK_CAP_DAP = 1 << 1,  /* DP and AP register accesses */
    LINK_CAP_WIRE = 1 << 2, /* wire_clocks is meaningful */
    LINK_CAP_WIDE = 1 << 3, /* memory above 4 GiB, where the AP has such addresses (CFG.LA) */
    LINK_CAP_RAW = 1 << 4,  /* link_raw on the wires themselves: they are ours to set a debug port up */
};

/* AP numbers that no port uses: ADIv5 ends at 255, ADIv6 bases are multiples of 4096. They stand for APs that
 * are reached through another AP's memory (cross-trigger sheet 12, B16). */
#define LINK_NESTED_FIRST 0x100u
#define LINK_NESTED_LAST  0x1FFu

#define LINK_AP_NAME_MAX 16
/* "0", "0x2000": as people write the AP's number or base address. Returns `out`. */
const char *link_ap_name(uint32_t ap, char out[LINK_AP_NAME_MAX]);

enum link_op {
    LINK_MEM_READ,
    LINK_MEM_WRITE,
    LINK_AP_READ,
    LINK_AP_WRITE,
    LINK_DP_READ,
    LINK_DP_WRITE,
};

/* How a link with a wire is to work; zeros = the link's default. Links without the choice refuse it. */
enum link_protocol { LINK_PROTOCOL_ANY, LINK_PROTOCOL_SWD, LINK_PROTOCOL_JTAG };
struct link_options {
    uint32_t wire_hz; /* SWCLK or TCK */
    enum link_protocol protocol;
    int64_t open_ns; /* host_clock time for opening; 0 = as long as the link thinks right */
};

/* One access of a batch. */
struct link_access {
    enum link_op op;
    uint8_t size;     /* bytes an element: 1, 2 or 4; 8 where the AP has such (CFG.LD), in one access */
    uint32_t ap;      /* AP number (ADIv5); ADIv6: the base address in the DP's space of an AP, or of any
                         4 KiB of registers there */
    uint64_t address; /* target address, or register offset (AP 0x00..0xFC, DP 0x0..0xC) */
    uint32_t count;   /* elements; 1 for AP and DP registers */
    void *data;       /* count elements of size bytes in host byte order; the caller's */
    enum corral_err status; /* out: CORRAL_OK, or why this one failed */
    uint32_t done;          /* out: elements known to have been transferred */
};

/*
 * Do the accesses in order. Stops at the first that fails: its status says why, later ones have
 * CORRAL_ERR_INTERRUPTED and done 0. Sticky errors have been cleared when it returns: the next call works.
 * Returns the failing status, with the sentence in *d. Bounded in time.
 */
enum corral_err link_execute(struct link *link, struct link_access *accesses, size_t count, struct diag *d);

enum corral_err link_read32(struct link *link, uint32_t ap, uint64_t address, uint32_t *value,
                            struct diag *d);
enum corral_err link_write32(struct link *link, uint32_t ap, uint64_t address, uint32_t value,
                             struct diag *d);
enum corral_err link_read8(struct link *link, uint32_t ap, uint64_t address, uint8_t *value, struct diag *d);
enum corral_err link_write8(struct link *link, uint32_t ap, uint64_t address, uint8_t value, struct diag *d);
/* Any address and length; bytes as they lie in target memory. */
enum corral_err link_read_bytes(struct link *link, uint32_t ap, uint64_t address, void *out, size_t size,
                                struct diag *d);
enum corral_err link_write_bytes(struct link *link, uint32_t ap, uint64_t address, const void *in,
                                 size_t size, struct diag *d);
enum corral_err link_read_ap(struct link *link, uint32_t ap, uint32_t reg, uint32_t *value, struct diag *d);
enum corral_err link_write_ap(struct link *link, uint32_t ap, uint32_t reg, uint32_t value, struct diag *d);
/*
 * DP registers: 0x0 (DPIDR, ABORT), 0x4, 0x8 (SELECT), 0xC. Which register 0x4 is, and 0x0 of a DPv3, says
 * DPBANKSEL as SELECT was written last by link_write_dp: it holds over memory and AP accesses in between,
 * whose own SELECT is made behind it and puts the caller's bank back before the next DP access. After
 * link_forget, and after the wires were moved (link_raw), it is what the port holds. The rest of SELECT means
 * nothing to AP accesses: each says itself where it goes.
 */
enum corral_err link_read_dp(struct link *link, uint32_t reg, uint32_t *value, struct diag *d);
enum corral_err link_write_dp(struct link *link, uint32_t reg, uint32_t value, struct diag *d);

unsigned link_caps(const struct link *link);
const char *link_name(const struct link *link);         /* as the user wrote it: "sim", ... */
struct host_clock *link_clock(const struct link *link); /* borrowed */
uint64_t link_wire_clocks(const struct link *link);     /* SWCLK cycles so far; 0 without LINK_CAP_WIRE */

/* From host_clock time `when` on, every access is refused with CORRAL_ERR_TIMEOUT: one bound over whatever is
 * made of many accesses, on top of the waits of its own that each of them has. LINK_NO_DEADLINE lifts it. */
#define LINK_NO_DEADLINE INT64_MAX
void link_set_deadline(struct link *link, int64_t when);
bool link_deadline_passed(const struct link *link);

/*
 * The probe's wires themselves, as the functions of CMSIS debug sequences want them (cross-trigger
 * sheet 4.7). On a link that keeps no wires (the virtual board in this process, dry) they do what a target
 * would see of them. What is cached of the port is forgotten. Writes before it have reached the target when
 * it begins.
 */
enum link_raw_op {
    LINK_RAW_PINS,  /* `out` onto the pins of `select`, then wait until they read so, at most wait_us (up to
                       3 s): bits SWCLK 0, SWDIO 1, TDI 2, TDO 3, nTRST 5, nRESET 7. in = all pins then;
                       0xFFFFFFFF where they cannot be read */
    LINK_RAW_CLOCK, /* out = Hz */
    LINK_RAW_SWJ,   /* `bits` (1..64) of `out` on SWDIO/TMS, LSB first */
    LINK_RAW_JTAG,  /* `bits` cycles with TMS at `select` & 1, TDI from `out`; in = TDO */
    LINK_RAW_ABORT, /* DP ABORT = out */
};
struct link_raw {
    enum link_raw_op op;
    unsigned bits;
    uint32_t select, wait_us;
    uint64_t out, in;
};
/*
 * CORRAL_ERR_UNSUPPORTED, and nothing sent, on a link without this op: link_can_raw tells; CORRAL_ERR_USAGE
 * for numbers out of range. Whoever moves the wires himself answers for where he leaves them; before the next
 * access JTAG's TAPs are reset and looked at again, and on SWD DPIDR is read where it is not what is read
 * first (after a line reset nothing else is answered). A link without pins that can be read waits all of
 * wait_us.
 */
enum corral_err link_raw(struct link *link, struct link_raw *raw, struct diag *d);
bool link_can_raw(const struct link *link, enum link_raw_op op);

/* Pull the target's reset line (nRESET) low or let it go. CORRAL_ERR_UNSUPPORTED on a link without one. */
enum corral_err link_drive_reset(struct link *link, bool asserted, struct diag *d);

/*
 * Write every access down from now on (wire_log.h, docs/wire-log.md). A file that takes no more ends the log,
 * not the session: link_wire_log_stopped then tells once why.
 */
enum corral_err link_start_wire_log(struct link *link, const char *path, struct diag *d);
bool link_wire_log_stopped(struct link *link, struct diag *d);

/* An AP whose registers are the 4 KiB block at `address` behind `parent` (B16): memory accesses and AP
 * registers (at 0xD00, as in ADIv6) of number `ap` then go there. The same again is no mistake. */
enum corral_err link_add_nested_ap(struct link *link, uint32_t ap, uint32_t parent, uint64_t address,
                                   struct diag *d);

/*
 * Program flash seen through AP `ap`, where the link can: erase `size` bytes at `address` (`data` NULL),
 * write them, and after the last one finish. CORRAL_ERR_UNSUPPORTED where it cannot. Not in a wire log.
 */
enum link_flash_op { LINK_FLASH_ERASE, LINK_FLASH_WRITE, LINK_FLASH_DONE };
bool link_has_flash(const struct link *link);
/* What is known of the flash that can be programmed: stretches of blocks that are erased at once. How many of
 * them were put into `list`; *d says it where some could not be found out. */
struct link_flash_region {
    uint64_t start, size;
    uint32_t block; /* bytes */
    uint32_t ap;
};
size_t link_flash_regions(struct link *link, struct link_flash_region *list, size_t room, struct diag *d);
enum corral_err link_flash(struct link *link, enum link_flash_op op, uint32_t ap, uint64_t address,
                           const uint8_t *data, size_t size, struct diag *d);

/* Forget cached SELECT, CSW and TAR (after a reset, or when another tool used the port). */
void link_forget(struct link *link);

void link_close(struct link *link); /* NULL is allowed */

#endif
