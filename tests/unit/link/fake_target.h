/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small model of Cortex-M debug registers and CTIs behind a link, for unit tests: what hardware does is
 * modelled after the cross-trigger sheet 1.4 and 3, what hardware may fail to do is switched on by the test.
 * Every write is logged, so that tests can assert their order.
 */
#ifndef CORRAL_TESTS_FAKE_TARGET_H
#define CORRAL_TESTS_FAKE_TARGET_H

#include "link/link.h"

#define FAKE_CORES     4
#define FAKE_TRIGGERS  8
#define FAKE_CHANNELS  4
#define FAKE_MAX_LOG   8192
#define FAKE_CTI_BASE  0xE0042000u
#define FAKE_RAM       0x20000000u
#define FAKE_ACCESS_NS (10 * NS_PER_US)

struct fake_cti {
    uint32_t control, inen[FAKE_TRIGGERS], outen[FAKE_TRIGGERS], gate, appset, out, claim, itctrl;
    uint32_t devid;
    uint32_t claim_tags; /* those that there are */
    bool has_lock, unlocked;
};

struct fake_core {
    uint32_t control; /* DHCSR 15:0 */
    bool halted;
    uint32_t sticky; /* DHCSR bits that reading clears */
    uint32_t dfsr, demcr, dwt_ctrl, cyccnt, dcrdr, fp_ctrl, fp_comp[8], regs[32];
    struct fake_cti cti;

    /* what the test wants it to do */
    bool other_ctm;       /* not joined to the others */
    unsigned ctm;         /* joined to those with the same number */
    bool blind;           /* its status registers do not show what goes in */
    bool level_halted;    /* the halted input is a level, not a pulse */
    bool stuck;           /* the debug request never drops */
    bool cti_read_only;   /* authentication off: writes have no effect */
    bool outen_read_only; /* only the output mapping cannot be written */
    bool in_reset, locked_up, asleep;
    bool deaf_to_halt;      /* no clock: requests have no effect */
    bool deaf_to_restart;   /* ignores the restart output */
    unsigned deaf_restarts; /* ignores that many restart pulses */
    bool latch_at_start;    /* a request is latched again just before it starts; cleared when used */
    uint32_t stop_at_once;  /* DFSR bits with which it halts right after each start; cleared when used */
    bool faults;            /* every access to it faults */
    bool cti_faults;        /* every access to its CTI does */
    unsigned stop_after;    /* with stop_dfsr: halts at the so-manyth read of any DHCSR after its start */
    uint32_t stop_dfsr;
    unsigned register_lag; /* reads of DHCSR before S_REGRDY */
    unsigned lag_left;
    uint32_t takes;      /* the number of an exception that it takes at its next start; cleared when used */
    uint32_t run_cycles; /* its cycle count moves by this at each start */
    uint64_t starts, stops;
};

struct fake_write {
    uint32_t ap;
    uint32_t address;
    uint32_t value;
    bool all_halted; /* as the write came: every core was halted */
};

struct fake_target {
    struct host_clock *clock;
    struct fake_core core[FAKE_CORES];
    size_t count;
    struct fake_write log[FAKE_MAX_LOG];
    size_t log_count;
    uint32_t fault_write; /* a write to this address faults; 0 = none */
    uint32_t fault_ap;
    uint32_t cpuid;          /* of all cores; 0 = as memory reads */
    uint64_t link_dies;      /* the so-manyth access from now on, and all after it, find no link; 0 = never */
    enum corral_err dies_of; /* with which error; 0 = CORRAL_ERR_LINK_DOWN */
    uint16_t code;           /* what memory reads, halfword by halfword */
    uint32_t ram_size;       /* bytes at FAKE_RAM that keep what halfword writes put there */
    uint16_t ram[64];
};

/* `count` running cores with halting debug off. */
struct fake_target *fake_target_new(size_t count);
void fake_target_free(struct fake_target *t);
/* A link to it (link_close leaves the target alone). */
struct link *fake_target_link(struct fake_target *t);
/* The core halts by itself, as at a breakpoint. */
void fake_target_stop(struct fake_target *t, size_t core, uint32_t dfsr);

/* Number of the first logged write at or after `from` to `address` of `ap`; log_count when there is none. */
size_t fake_target_find(const struct fake_target *t, size_t from, uint32_t ap, uint32_t address);
size_t fake_target_writes(const struct fake_target *t, uint32_t first, uint32_t last);

#endif
