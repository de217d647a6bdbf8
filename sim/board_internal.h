/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the virtual board share. Not for anybody outside sim/ (tests use board.h).
 *
 * Time: `tick` is the base tick at which the instruction now running started. A core that is not running
 * (asleep, locked up, halted, in reset) is idle: its cycle count is brought up to date only when somebody
 * looks or wakes it.
 */
#ifndef CORRAL_SIM_BOARD_INTERNAL_H
#define CORRAL_SIM_BOARD_INTERNAL_H

#include "sim/board.h"
#include "sim/board_map.h"
#include "sim/cpu.h"
#include "sim/cti.h"
#include "sim/identity.h"

#define BOARD_NEVER    UINT64_MAX
#define BOARD_LOG_KEEP (1u << 20) /* records kept at least; at twice that the older half goes */

#define BOARD_FPB_COMPARATORS 8
#define BOARD_DWT_COMPARATORS 4

enum board_dhcsr {
    DHCSR_C_DEBUGEN = 1u << 0,
    DHCSR_C_HALT = 1u << 1,
    DHCSR_C_STEP = 1u << 2,
    DHCSR_C_MASKINTS = 1u << 3,
    DHCSR_C_SNAPSTALL = 1u << 5,
    DHCSR_S_REGRDY = 1u << 16,
    DHCSR_S_HALT = 1u << 17,
    DHCSR_S_SLEEP = 1u << 18,
    DHCSR_S_LOCKUP = 1u << 19,
    DHCSR_S_RETIRE_ST = 1u << 24,
    DHCSR_S_RESET_ST = 1u << 25,
    DHCSR_S_RESTART_ST = 1u << 26, /* Armv8-M */
};

enum board_dfsr {
    DFSR_HALTED = 1u << 0,
    DFSR_BKPT = 1u << 1,
    DFSR_DWTTRAP = 1u << 2,
    DFSR_VCATCH = 1u << 3,
    DFSR_EXTERNAL = 1u << 4,
    DFSR_ALL = 0x1Fu,
};

enum board_demcr {
    DEMCR_VC_CORERESET = 1u << 0,
    DEMCR_VC_MMERR = 1u << 4,
    DEMCR_VC_NOCPERR = 1u << 5,
    DEMCR_VC_CHKERR = 1u << 6,
    DEMCR_VC_STATERR = 1u << 7,
    DEMCR_VC_BUSERR = 1u << 8,
    DEMCR_VC_INTERR = 1u << 9,
    DEMCR_VC_HARDERR = 1u << 10,
    DEMCR_MON_EN = 1u << 16,
    DEMCR_MON_PEND = 1u << 17,
    DEMCR_MON_STEP = 1u << 18,
    DEMCR_MON_REQ = 1u << 19,
    DEMCR_TRCENA = 1u << 24,
};

enum board_step {
    BOARD_STEP_NONE,
    BOARD_STEP_ARMED, /* the next instruction is the one */
    BOARD_STEP_DONE,  /* it has been executed: halt */
};

struct board_debug {
    uint32_t control; /* the C_ bits of DHCSR */
    uint32_t demcr;
    uint32_t dfsr;
    uint32_t dcrdr;
    uint32_t events; /* DFSR bits of what has happened and halts before the next instruction */
    enum board_step step;
    bool reset_seen;        /* S_RESET_ST */
    bool restarted;         /* S_RESTART_ST */
    bool monitor_stepped;   /* MON_STEP: the one instruction was executed */
    uint64_t retired_seen;  /* cpu.instructions when DHCSR was last read */
    uint32_t reset_request; /* AIRCR bits written, to be carried out between instructions */
    uint64_t halted_at;     /* base tick of the last entry to debug state */
};

struct board_fpb {
    bool enabled;
    uint32_t comp[BOARD_FPB_COMPARATORS]; /* as written */
    uint64_t filter; /* bit (pc >> 1) & 63 of each breakpoint: most instructions need one look */
};

/* What a comparator looks for, whichever way its registers say so. */
struct board_watch {
    bool pc;          /* instructions; else data */
    bool read, write; /* both false and no pc: it is off */
    bool halt;        /* else it pulses its CTI input */
    uint32_t first, last;
};

struct board_dwt {
    uint32_t ctrl; /* writable bits */
    bool counting;
    uint32_t cyccnt; /* while not counting */
    uint64_t base;   /* while counting: CYCCNT = cycles - base */
    uint32_t comp[BOARD_DWT_COMPARATORS];
    uint32_t mask[BOARD_DWT_COMPARATORS];
    uint32_t function[BOARD_DWT_COMPARATORS];
    struct board_watch watch[BOARD_DWT_COMPARATORS];
    bool pc_match; /* a comparator looks at the pc */
};

struct board_itm {
    uint32_t ter, tpr, tcr;
};

struct board_timer {
    uint32_t ctrl;
    uint32_t load;
    uint32_t status;
    uint32_t left;     /* while it does not run */
    uint64_t deadline; /* in cycles of its core; BOARD_NEVER while it does not run */
};

struct board_datagram {
    uint32_t address;
    uint32_t length;
    uint32_t count;
    bool refused;
};

/* The word a core has given to the other. */
struct board_mail {
    uint32_t word;
    bool full;
    bool overwritten;
};

struct board_core {
    struct cpu cpu;
    uint64_t next; /* tick at which it wants to run: its next instruction, or while idle its next event */
    uint64_t due;  /* cpu.cycles at which SysTick or TIMER expires */
    uint64_t divider;
    bool idle;
    uint64_t idle_from; /* tick that cpu.cycles stands for while idle */
    bool debugger;      /* the access under way comes through the AP */
    bool loaded;        /* flash holds an image */
    bool held;          /* in reset: SYSINFO's RESET_HOLD */
    bool forced;        /* in reset: board_hold_reset */
    bool unpowered;
    unsigned number;
    const struct board_identity_info *identity; /* never NULL */
    uint32_t last_index;                        /* count_pcs: flash halfword of the last instruction */
    struct board *board;
    uint8_t *flash;
    struct cpu_decoded *decoded; /* of flash, which only board_load_elf changes */
    uint64_t *pc_count;

    struct board_debug debug;
    struct board_fpb fpb;
    struct board_dwt dwt;
    struct board_itm itm;
    struct board_cti cti;
    struct board_timer timer;
    struct board_datagram datagram;
    struct board_mail mail; /* what this core sent */
    uint32_t mailbox_ctrl;
    uint32_t uart_ctrl;
    uint32_t uart_bauddiv;
};

struct board_ap {
    uint32_t csw;
    uint32_t tar;
};

/* Accesses through core `core`'s port to such addresses fail. */
#define BOARD_BAD_RANGES 16u
struct board_bad_range {
    unsigned core;
    uint32_t address, mask;
};

struct board_dap {
    uint32_t ctrl; /* CTRL/STAT: request bits and sticky bits */
    uint32_t select, select1;
    uint32_t posted; /* value of the last AP read */
    struct board_ap ap[BOARD_CORES];
    unsigned (*fault)(void *ctx, bool ap, bool read, uint8_t addr);
    void *fault_ctx;
    unsigned fault_ack; /* board_dap_fault_next: after so many transfers so often this answer */
    uint64_t fault_count, fault_after;
    unsigned bad_count;
    struct board_bad_range bad[BOARD_BAD_RANGES];
};

/* An append-only list that keeps at least the last BOARD_LOG_KEEP records, in one piece. */
struct board_list {
    void *records;
    size_t count;
    size_t room;
    uint64_t dropped;
};

struct board {
    uint64_t tick;
    uint64_t limit; /* the hot loop stops here: end of the run, an arrival, or at once for a reset */
    uint64_t until;
    uint64_t hz; /* base ticks a second */
    struct board_core core[BOARD_CORES];
    struct cpu_monitor monitor;
    struct board_ctm ctm;
    uint64_t ctm_latency; /* in ticks */
    struct board_dap dap;
    bool pin_reset; /* nRESET is low */
    uint64_t wire_clocks;
    uint64_t wire_rest; /* ticks * swclk_hz not yet given to the cores */
    bool finished;
    uint32_t finish_value;
    uint32_t scratch[BOARD_SYSINFO_SCRATCH_COUNT];
    bool doorbell;
    uint8_t *sram;
    struct board_config config;
    struct board_list log;
    struct board_list bus_log;
};

/* board.c */
void board_list_add(struct board_list *list, const void *record, size_t size);
void board_core_wake(struct board_core *k);    /* something may have changed for an idle core */
void board_core_sync(struct board_core *k);    /* bring the cycle count of an idle core up to the tick */
void board_core_set_due(struct board_core *k); /* SysTick or TIMER was written */
void board_core_resume(struct board_core *k);  /* from debug state or reset: runs from this tick on */
void board_core_rest(struct board_core *k);    /* stops running at this tick */
bool board_core_clockless(const struct board_core *k); /* asleep, and its clock stands still (board_run.c) */

/* board_reset.c */
void board_request_reset(struct board_core *k, uint32_t aircr_bits);
void board_do_resets(struct board *b);            /* carry out what was requested */
uint32_t board_held_cores(const struct board *b); /* SYSINFO's RESET_HOLD */
void board_set_held_cores(struct board *b, uint32_t held);

/* board_bus.c: everything outside memory and the private peripheral bus */
bool board_peripheral_read(struct board_core *k, uint32_t address, unsigned size, uint32_t *value);
bool board_peripheral_write(struct board_core *k, uint32_t address, unsigned size, uint32_t value);
void board_peripherals_reset(struct board_core *k);
void board_timer_expire(struct board_core *k);
bool board_debugger_read(struct board_core *k, uint32_t address, unsigned size, uint32_t *value);
bool board_debugger_write(struct board_core *k, uint32_t address, unsigned size, uint32_t value);

/* ppb.c */
bool board_ppb_read(struct board_core *k, uint32_t address, unsigned size, uint32_t *value);
bool board_ppb_write(struct board_core *k, uint32_t address, unsigned size, uint32_t value);

/* debug.c */
void board_debug_reset(struct board_core *k, bool power_on);
bool board_debug_read(struct board_core *k, uint32_t address, uint32_t *value);
bool board_debug_write(struct board_core *k, uint32_t address, uint32_t value);
void board_debug_arm(struct board_core *k);    /* recompute CPU_ATTN_DEBUG */
bool board_debug_stop(struct board_core *k);   /* enter debug state for what is pending? true = halted */
bool board_debug_before(struct board_core *k); /* before an instruction; false = halted in front of it */
void board_debug_request(struct board_core *k, bool high); /* EDBGRQ */
void board_debug_restart(struct board_core *k);            /* external restart request */
bool board_debug_bkpt(void *ctx);
void board_debug_exception(void *ctx, unsigned number);
/* A breakpoint or watchpoint matched: halt before the next instruction, or DebugMonitor. False = ignored. */
bool board_debug_event(struct board_core *k, uint32_t dfsr_bit);

/* breakpoint.c */
void board_fpb_reset(struct board_core *k);
void board_fpb_read(struct board_core *k, uint32_t offset, uint32_t *value);
void board_fpb_write(struct board_core *k, uint32_t offset, uint32_t value);
bool board_fpb_match(const struct board_core *k, uint32_t pc);

/* watchpoint.c */
void board_dwt_reset(struct board_core *k);
void board_dwt_read(struct board_core *k, uint32_t offset, uint32_t *value);
void board_dwt_write(struct board_core *k, uint32_t offset, uint32_t value);
void board_dwt_arm(struct board_core *k); /* TRCENA or a comparator changed */
void board_dwt_pc(struct board_core *k, uint32_t pc);
void board_dwt_access(void *ctx, uint32_t address, unsigned size, bool write, uint32_t value);

/* cti.c */
void board_cti_reset(struct board_core *k);
void board_cti_read(struct board_core *k, uint32_t offset, uint32_t *value);
void board_cti_write(struct board_core *k, uint32_t offset, uint32_t value);
bool board_cti_here(const struct board_core *k, uint32_t address); /* is that address the core's CTI? */
void board_cti_input(struct board_core *k, unsigned trigger);      /* one pulse */
void board_cti_halted(struct board_core *k, bool halted); /* HALTED: a pulse, or with level_halted a level */
void board_cti_irq_lines(struct board_core *k);           /* the core has forgotten its interrupt lines */
void board_cti_join(struct board_core *k); /* it has power again: what do its channels carry? */
uint64_t board_ctm_due(const struct board *b);
void board_ctm_deliver(struct board *b);

/* rom_tables.c: the ROM table (identification blocks: identity.h) */
uint32_t board_rom_table(const struct board_core *k, uint32_t offset);

/* dap.c */
void board_dap_reset(struct board *b);

/* dap_ap.c */
enum board_ap_answer { BOARD_AP_OK, BOARD_AP_FAULT, BOARD_AP_WAIT };
void board_dap_ap_reset(struct board *b, unsigned core);
enum board_ap_answer board_ap_access(struct board *b, bool read, uint8_t addr, uint32_t *value);

#endif
