/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler: which core runs its next instruction, and when. docs/board.md "Time".
 *
 * The core with the smaller next tick goes first, core 0 on a tie, so two running cores alternate every
 * instruction. Idle cores cost nothing. Must not decide anything by host time.
 */
#include "sim/board_internal.h"

static uint64_t on_grid(uint64_t tick, uint64_t divider)
{
    return (tick + divider - 1) / divider * divider;
}

/* Does the cycle count go on although no instruction runs? */
static bool counts(const struct board_core *k)
{
    return (k->cpu.attention & (CPU_ATTN_HALTED | CPU_ATTN_RESET)) == 0;
}

static void idle_pass(struct board_core *k, uint64_t cycles)
{
    k->cpu.cycles += cycles;
    k->idle_from += cycles * k->divider;
    if (k->pc_count)
        k->pc_count[k->last_index] += cycles;
}

void board_core_sync(struct board_core *k)
{
    uint64_t tick = k->board->tick;
    if (k->idle && counts(k) && tick > k->idle_from)
        idle_pass(k, (tick - k->idle_from) / k->divider);
}

void board_core_wake(struct board_core *k)
{
    if (!k->idle || !counts(k))
        return;
    uint64_t tick = k->board->tick;
    if (tick > k->idle_from)
        idle_pass(k, (tick - k->idle_from + k->divider - 1) / k->divider);
    k->idle = false;
    k->next = k->idle_from;
}

void board_core_resume(struct board_core *k)
{
    uint64_t tick = on_grid(k->board->tick, k->divider);
    if (k->idle || k->next < tick)
        k->next = tick;
    k->idle = false;
}

void board_core_rest(struct board_core *k)
{
    k->idle_from = on_grid(k->idle || k->next == BOARD_NEVER ? k->board->tick : k->next, k->divider);
    k->idle = true;
    k->next = BOARD_NEVER;
    if (counts(k) && k->due != BOARD_NEVER) {
        /* What is already due was handled before the core came here; one cycle keeps time moving. */
        uint64_t wait = k->due > k->cpu.cycles ? k->due - k->cpu.cycles : 1;
        k->next = k->idle_from + wait * k->divider;
    }
}

void board_core_set_due(struct board_core *k)
{
    k->due = k->cpu.next_event < k->timer.deadline ? k->cpu.next_event : k->timer.deadline;
    board_core_wake(k);
}

static void expire(struct board_core *k)
{
    if (k->cpu.cycles >= k->cpu.next_event)
        cpu_timed_event(&k->cpu);
    if (k->cpu.cycles >= k->timer.deadline)
        board_timer_expire(k);
    board_core_set_due(k);
}

bool board_core_clockless(const struct board_core *k)
{
    return (k->cpu.attention & CPU_ATTN_SLEEP) && k->board->config.sleep_stops_clock[k->number];
}

/* Something asks for a look before the next instruction of `k`. False = it does not run now. */
static bool attend(struct board_core *k)
{
    board_core_wake(k);
    if (k->cpu.cycles >= k->due)
        expire(k);
    if (k->cpu.attention & (CPU_ATTN_HALTED | CPU_ATTN_RESET)) {
        board_core_rest(k);
        return false;
    }
    if ((k->cpu.attention & CPU_ATTN_DEBUG) && !board_core_clockless(k) && board_debug_stop(k))
        return false;
    if (k->cpu.attention & (CPU_ATTN_SLEEP | CPU_ATTN_LOCKUP)) {
        board_core_rest(k);
        return false;
    }
    return !(k->cpu.attention & CPU_ATTN_DEBUG) || board_debug_before(k);
}

static uint32_t flash_index(const struct board_core *k, uint32_t pc)
{
    uint32_t offset = pc - BOARD_FLASH_BASE;
    if (offset >= BOARD_FLASH_SIZE)
        offset = pc - BOARD_FLASH_ALIAS;
    return offset < BOARD_FLASH_SIZE ? offset / 2 : k->last_index;
}

/* One instruction of `k`, or what comes in its place. `count` is a constant in both callers. */
static inline __attribute__((always_inline)) void one(struct board *b, struct board_core *k, const bool count)
{
    b->tick = k->next;
    if ((k->cpu.attention & ~(uint32_t)CPU_ATTN_EXCEPTION) && !attend(k))
        return;
    uint32_t pc = k->cpu.r[CPU_PC];
    uint16_t ipsr = k->cpu.ipsr;
    unsigned cycles = cpu_step_inline(&k->cpu);
    k->cpu.cycles += cycles;
    k->next += cycles * k->divider;
    if (count) {
        /* Exception entry and return count where they arrive. */
        k->last_index = flash_index(k, k->cpu.ipsr == ipsr ? pc : k->cpu.r[CPU_PC]);
        k->pc_count[k->last_index] += cycles;
    }
    if (k->cpu.cycles >= k->due)
        expire(k);
}

/* The hot loop. */
static inline __attribute__((always_inline)) void run(struct board *b, const bool count)
{
    struct board_core *const k0 = &b->core[0];
    struct board_core *const k1 = &b->core[1];
    for (;;) {
        while (k0->next <= k1->next) {
            if (k0->next >= b->limit)
                return;
            one(b, k0, count);
        }
        while (k1->next < k0->next) {
            if (k1->next >= b->limit)
                return;
            one(b, k1, count);
        }
    }
}

static __attribute__((noinline)) void run_plain(struct board *b)
{
    run(b, false);
}

static __attribute__((noinline)) void run_counting(struct board *b)
{
    run(b, true);
}

void board_run_until(struct board *b, uint64_t tick)
{
    if (tick < b->tick)
        return;
    for (;;) {
        uint64_t arrival = board_ctm_due(b);
        b->limit = arrival < tick ? arrival : tick;
        if (b->config.count_pcs)
            run_counting(b);
        else
            run_plain(b);
        board_do_resets(b);
        arrival = board_ctm_due(b);
        bool all_past = b->core[0].next >= arrival && b->core[1].next >= arrival;
        if (arrival <= tick && all_past) {
            b->tick = arrival;
            board_ctm_deliver(b);
        } else if (b->core[0].next >= tick && b->core[1].next >= tick) {
            break;
        }
    }
    b->tick = tick;
    for (unsigned n = 0; n < BOARD_CORES; n++)
        board_core_sync(&b->core[n]);
}
