/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stops a core from outside: resets of every kind, the lines that hold it in reset, and its power.
 * docs/board.md "Reset and images", "Switches".
 *
 * Between instructions only: whoever is inside one asks with board_request_reset or sets limit to 0.
 */
#include <string.h>

#include "sim/board_internal.h"

#define AIRCR_VECTRESET 1u

void board_request_reset(struct board_core *k, uint32_t aircr_bits)
{
    k->debug.reset_request |= aircr_bits;
    k->board->limit = 0;
}

/* Does anything hold it? Without an image there is nothing that it could run. */
static bool in_reset(const struct board_core *k)
{
    return !k->loaded || k->held || k->forced || k->unpowered || k->board->pin_reset;
}

/* Registers, private peripherals; then the core runs, or is held. */
static void core_reset(struct board_core *k, bool power_on)
{
    struct board *b = k->board;
    bool was_halted = (k->cpu.attention & CPU_ATTN_HALTED) != 0;
    board_core_wake(k);
    if (k->idle) /* halted or held: takes up its clock again */
        board_core_resume(k);
    uint64_t cycles = k->cpu.cycles;
    uint64_t instructions = k->cpu.instructions;
    k->cpu.attention = 0;
    k->cpu.mask_ints = false;
    board_peripherals_reset(k);
    cpu_reset(&k->cpu);
    k->cpu.cycles = cycles;
    k->cpu.instructions = instructions;
    if (power_on) {
        board_cti_reset(k);
        board_fpb_reset(k);
        board_dwt_reset(k);
        memset(&k->itm, 0, sizeof(k->itm));
    }
    board_debug_reset(k, power_on);
    board_dwt_arm(k);
    board_cti_halted(k, false);
    board_cti_irq_lines(k); /* the CTI outlives a system reset, and so do the levels it holds */
    board_core_set_due(k);
    if (was_halted) {
        struct board_record r = {.core = k->number, .tick = b->tick, .pc = k->cpu.r[CPU_PC]};
        board_list_add(&b->log, &r, sizeof(r));
    }
    if (in_reset(k)) {
        k->cpu.attention |= CPU_ATTN_RESET;
        board_core_rest(k);
    }
}

/* Carry out what the lines say. Both edges are a reset: it starts from its vectors. */
static void follow_lines(struct board *b)
{
    for (unsigned n = 0; n < BOARD_CORES; n++) {
        struct board_core *k = &b->core[n];
        if (in_reset(k) != ((k->cpu.attention & CPU_ATTN_RESET) != 0))
            core_reset(k, false);
    }
}

void board_do_resets(struct board *b)
{
    uint32_t system = 0;
    for (unsigned n = 0; n < BOARD_CORES; n++)
        system |= b->core[n].debug.reset_request & ~AIRCR_VECTRESET;
    for (unsigned n = 0; n < BOARD_CORES; n++) {
        struct board_core *k = &b->core[n];
        bool wanted = system || k->debug.reset_request;
        k->debug.reset_request = 0;
        if (system)
            k->held = b->config.held_in_reset[n];
        if (wanted)
            core_reset(k, false);
    }
    follow_lines(b);
}

void board_reset(struct board *b)
{
    b->finished = false;
    b->finish_value = 0;
    b->monitor.valid = 0;
    board_dap_reset(b);
    for (unsigned n = 0; n < BOARD_CORES; n++) {
        b->core[n].held = b->config.held_in_reset[n];
        core_reset(&b->core[n], true);
    }
    b->ctm.count = 0;
    b->ctm.head = 0;
}

void board_hold_reset(struct board *b, unsigned core, bool hold)
{
    if (core >= BOARD_CORES)
        return;
    b->core[core].forced = hold;
    follow_lines(b);
}

void board_pin_reset(struct board *b, bool asserted)
{
    b->pin_reset = asserted;
    follow_lines(b);
    for (unsigned n = 0; n < BOARD_CORES && !asserted; n++)
        b->core[n].held = b->config.held_in_reset[n];
    follow_lines(b);
}

void board_set_power(struct board *b, unsigned core, bool on)
{
    if (core >= BOARD_CORES || b->core[core].unpowered == !on)
        return;
    struct board_core *k = &b->core[core];
    if (!on)
        board_cti_lose(b, core); /* while it can still let go of its channels */
    k->unpowered = !on;
    k->held = b->config.held_in_reset[core];
    board_dap_ap_reset(b, core);
    core_reset(k, true);
    board_cti_join(k);
}

uint32_t board_held_cores(const struct board *b)
{
    uint32_t held = 0;
    for (unsigned n = 0; n < BOARD_CORES; n++)
        held |= (uint32_t)b->core[n].held << n;
    return held;
}

void board_set_held_cores(struct board *b, uint32_t held)
{
    for (unsigned n = 0; n < BOARD_CORES; n++)
        b->core[n].held = (held >> n & 1u) != 0;
    b->limit = 0; /* between instructions */
}
