/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual board: two Cortex-M cores, shared SRAM, peripherals, CoreSight, one debug port. A library:
 * link/sim.c and the fronts use it, nothing else of Corral knows it. docs/board.md is its data sheet.
 *
 * Deterministic: time is counted in integer base ticks; each core runs at a divider of them; the same calls
 * give the same ticks. Not thread-safe: one thread at a time.
 */
#ifndef CORRAL_SIM_BOARD_H
#define CORRAL_SIM_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define BOARD_CORES 2

#define BOARD_DEFAULT_CORE_HZ     100000000u
#define BOARD_DEFAULT_SWCLK_HZ    4000000u
#define BOARD_CLOCKS_PER_TRANSFER 46u /* SWD: 8 request, 1 + 3 + 1 acknowledge, 33 data, turnaround */
#define BOARD_DEFAULT_CTM_LATENCY 3u  /* cycles of core 0 */
#define BOARD_DEFAULT_DEADLINE_US 20u

struct board;

/* Which core a core is: instruction set, debug blocks, component numbers (sim/identity.h). */
enum board_identity { BOARD_M7, BOARD_M4, BOARD_M33, BOARD_M0PLUS, BOARD_IDENTITIES };

/* Zero means the default, except where said. */
struct board_config {
    enum board_identity identity[BOARD_CORES];
    bool adiv6;                     /* a DPv3 whose APs lie in an address space, below a class 9 root table */
    bool separate_ctm;              /* the two CTIs have no channel in common */
    bool level_halted;              /* HALTED is a level as long as the core is in debug state, no pulse */
    bool no_cti[BOARD_CORES];       /* this core has none */
    uint32_t cti_base[BOARD_CORES]; /* where in the private peripheral bus */
    bool held_in_reset[BOARD_CORES];     /* until released: by the other core, by board_hold_reset */
    bool unpowered[BOARD_CORES];         /* its whole AP faults until board_set_power */
    bool sleep_stops_clock[BOARD_CORES]; /* asleep it has no clock: its AP's bus accesses wait */
    bool no_debug[BOARD_CORES];          /* its debug authentication is off */
    uint32_t core_hz[BOARD_CORES];
    uint32_t swclk_hz;
    uint32_t ctm_latency; /* with ctm_latency_set also 0 */
    bool ctm_latency_set;
    uint32_t deadline_us;
    uint64_t seed;
    uint8_t *sram;     /* BOARD_SRAM_SIZE bytes for the SRAM, the caller's, or NULL */
    bool count_pcs;    /* keep board_pc_count */
    bool log_accesses; /* keep board_bus_log */
    void (*datagram)(void *ctx, unsigned core, const uint8_t *data, size_t size);
    void (*uart)(void *ctx, unsigned core, uint8_t byte);
    void *ctx;
};

/* NULL with *d set when memory is out or a number makes no sense. */
struct board *board_new(const struct board_config *config, struct diag *d);
void board_free(struct board *b); /* NULL is allowed */

/* The numbers in force (defaults filled in). Borrowed. */
const struct board_config *board_get_config(const struct board *b);

/*
 * Load an ELF32 little-endian Arm executable into core `core`'s flash and the SRAM (PT_LOAD by physical
 * address). Hostile input: everything is checked; on error memory is unchanged. Segments outside flash and
 * SRAM are refused. The core is reset and runs from its vector table; without an image it is held in reset.
 */
enum corral_err board_load_elf(struct board *b, unsigned core, const uint8_t *image, size_t size,
                               struct diag *d);

/* Put bytes into core `core`'s flash, or erase them (`data` NULL): what a maker's programmer does, in no
 * time. Nothing is reset. CORRAL_ERR_USAGE, and nothing changed, for what is not all in flash. */
enum corral_err board_program_flash(struct board *b, unsigned core, uint32_t address, const uint8_t *data,
                                    size_t size, struct diag *d);

/* Power-on reset of cores, peripherals and debug logic. Tick count and logs go on. */
void board_reset(struct board *b);

/*
 * What happens to a core from outside, between two calls of board_run_until. Held in reset or without power
 * it does nothing. Without power its AP answers with faults, and its debug registers and its CTI are lost.
 */
void board_hold_reset(struct board *b, unsigned core, bool hold);
void board_set_power(struct board *b, unsigned core, bool on);
void board_cti_lose(struct board *b, unsigned core);  /* its CTI alone forgets everything */
void board_pin_reset(struct board *b, bool asserted); /* nRESET: both cores and their peripherals */

/* Let the cores run until base tick `tick`. */
void board_run_until(struct board *b, uint64_t tick);
uint64_t board_tick(const struct board *b);
uint64_t board_tick_hz(const struct board *b);

/* A firmware wrote SYSINFO.FINISH: true, and its value. */
bool board_finished(const struct board *b, uint32_t *value);

/*
 * The debug port's seam: one SWD transfer, which first lets BOARD_CLOCKS_PER_TRANSFER wire clocks pass.
 * `ap`: APnDP; `addr` 0x0, 0x4, 0x8 or 0xC. AP reads are posted, as on the wire (RDBUFF or the next AP read
 * gives the value). Returns the acknowledge: 1 OK, 2 WAIT, 4 FAULT.
 */
unsigned board_dap_transfer(struct board *b, bool ap, bool read, uint8_t addr, uint32_t *value);
/* The same in no time, for who counts the wire clocks himself. */
unsigned board_dap_access(struct board *b, bool ap, bool read, uint8_t addr, uint32_t *value);
void board_dap_idle(struct board *b, uint64_t clocks); /* wire clocks with nothing on the wire */
uint64_t board_wire_clocks(const struct board *b);

/* Fault injection at the same seam: called before each transfer; non-zero = that acknowledge is answered and
 * nothing happens on the board. NULL takes it away. */
void board_dap_inject(struct board *b, unsigned (*fault)(void *ctx, bool ap, bool read, uint8_t addr),
                      void *ctx);

/* The same without a function: `count` transfers are answered with `ack` (2 WAIT, 4 FAULT), after `after`
 * more that are not. */
void board_dap_fault_next(struct board *b, unsigned ack, uint64_t count, uint64_t after);
/* Memory accesses through core `core`'s port fail where (address & mask) is this one's; false when there are
 * too many of them. board_ap_mend takes all away. */
bool board_ap_fault(struct board *b, unsigned core, uint32_t address, uint32_t mask);
void board_ap_mend(struct board *b);
/* A transfer came while another one waited: STICKYORUN, where overrun detection is on. For who counts the
 * wire clocks himself; board_dap_transfer does it. */
void board_dap_overrun(struct board *b);
/* An access that was answered with WAIT, once more: an overrun meanwhile has lost others, not this one. */
unsigned board_dap_access_again(struct board *b, bool ap, bool read, uint8_t addr, uint32_t *value);

/* The board's own log of every halt and restart. */
struct board_record {
    unsigned core;
    bool halted;
    uint64_t tick;
    uint32_t pc;
    uint32_t dfsr;
};
size_t board_log(const struct board *b,
                 const struct board_record **records); /* borrowed until the next run */
/* The logs keep at least the last 1 Mi records; how many older ones went. `bus`: of board_bus_log. */
uint64_t board_log_dropped(const struct board *b, bool bus);

struct board_bus_record {
    uint64_t tick;
    uint32_t ap; /* whose core's it is, 0 or 1, with ADIv6 too */
    uint32_t address;
    uint32_t value;
    uint8_t size;
    bool write;
};
size_t board_bus_log(const struct board *b, const struct board_bus_record **records);

/* Exact cycles at each flash halfword: counts[i] belongs to BOARD_FLASH_BASE + 2*i, whichever alias ran.
 * Sleep is counted at the instruction that sleeps. Exception entry and return count where they arrive. */
const uint64_t *board_pc_count(const struct board *b, unsigned core, size_t *n);

/* The built-in firmware images (board_images.S). */
extern const uint8_t board_image_core0[], board_image_core0_end[];
extern const uint8_t board_image_core1[], board_image_core1_end[];

#endif
