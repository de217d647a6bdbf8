/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link to the virtual board in this process. The only file of src/ that knows sim/ is sim.c.
 *
 * The board's pace is "wire": it runs only while SWCLK cycles pass (46 a transfer) and while somebody sleeps
 * on the virtual clock. The link drives that clock: host time is board time.
 */
#ifndef CORRAL_LINK_SIM_H
#define CORRAL_LINK_SIM_H

#include "link/link.h"

#define LINK_SIM_CORES 2

struct link_sim_options {
    const char *elf[LINK_SIM_CORES]; /* paths; both NULL = the built-in firmware; core 1's alone may be NULL:
                                        held in reset */
    const char *board; /* the board's switches as `corral sim` has them ("--identity m7,m33 --level-halted"),
                          or NULL. What is given here beside it goes before its words */
    uint32_t ctm_latency; /* core cycles; 0 = the default (3) unless ctm_latency_set */
    bool ctm_latency_set;
    uint32_t swclk_hz;        /* of the debug port; 0 = the default (4 MHz) */
    uint64_t seed;            /* 0 = the default */
    bool count_pcs;           /* keep exact counts for link_sim_pc_count */
    bool log_accesses;        /* keep the bus log for link_sim_bus_log */
    struct host_clock *clock; /* virtual; must outlive the link */
    /* A datagram left a core's port. Called on the link's thread; may block until it has been taken. `data`
     * is borrowed. May be NULL. */
    void (*datagram)(void *ctx, unsigned core, const uint8_t *data, size_t size);
    /* A core's UART wrote a byte. May be NULL. */
    void (*uart)(void *ctx, unsigned core, uint8_t byte);
    void *ctx;
};

/* The board's published numbers, for people and for the demo. */
struct link_sim_info {
    uint32_t ap[LINK_SIM_CORES]; /* each core's access port: ADIv5 number, or ADIv6 base address */
    uint32_t core_hz[LINK_SIM_CORES];
    uint32_t swclk_hz;
    uint32_t clocks_per_transfer;
    uint32_t ctm_latency; /* core cycles */
    uint32_t deadline_us;
    uint32_t log_buffer[LINK_SIM_CORES]; /* default addresses of the shared log buffers (docs/board.md) */
    uint32_t log_buffer_size;
    uint32_t scratch, doorbell; /* scratch register 0 and the doorbell of core 0's message queue */
    uint32_t queue_memory, queue_memory_size; /* where that queue lies */
    uint32_t log_host_buffer;                 /* free for a SETUP; log_buffer_size bytes */
};

/* One entry of the board's own log of halts and restarts. */
struct link_sim_record {
    unsigned core;
    bool halted;   /* else restarted */
    uint64_t tick; /* base ticks since power-on */
    int64_t ns;    /* the same in nanoseconds */
    uint32_t pc;
    uint32_t dfsr; /* halts: the reason bits */
};

struct link_sim_bus_record {
    uint64_t tick;
    uint32_t ap; /* whose core's it is, 0 or 1, with ADIv6 too */
    uint32_t address;
    uint32_t value;
    uint8_t size;
    bool write;
};

struct link *link_sim_open(const struct link_sim_options *options, struct diag *d);

/* A command of docs/board.md "Control", for what makes misfortunes happen: "power core1 off". With "vanish"
 * or "stall" the wire is dead. NULL for another link or without memory; else the answer, "ok" or "error: ..."
 * in its last line, borrowed until the next one. */
const char *link_sim_command(struct link *link, const char *line);

/* Would link_sim_options.board be understood? */
enum corral_err link_sim_check_board(const char *board, struct diag *d);

/* These work on a link made by link_sim_open only (others: false or 0). Owner thread only. */
bool link_sim_get_info(struct link *link, struct link_sim_info *info);
/* The ELF image core `core` runs (bytes borrowed, as long as the link lives). */
bool link_sim_image(struct link *link, unsigned core, const uint8_t **data, size_t *size);
/* Copy log entries from number `from` on, at most `most`; returns how many. */
size_t link_sim_log(struct link *link, size_t from, struct link_sim_record *out, size_t most);
size_t link_sim_log_count(struct link *link);
/* Memory accesses that came through the APs (kept with log_accesses). */
size_t link_sim_bus_log(struct link *link, size_t from, struct link_sim_bus_record *out, size_t most);
/* Exact cycles spent at each flash halfword of a core: counts[i] belongs to base + 2*i. Kept with count_pcs.
 */
bool link_sim_pc_count(struct link *link, unsigned core, uint32_t *base, const uint64_t **counts, size_t *n);

/* The board itself, for tests: what happens to it from outside (sim/board.h). NULL on another link. */
struct board;
struct board *link_sim_board(struct link *link);

#endif
