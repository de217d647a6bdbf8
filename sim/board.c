/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making, resetting and describing the virtual board, and its logs. docs/board.md is the data sheet.
 * Running it is board_run.c; must not know a host protocol.
 */
#include "sim/board.h"

#include <stdlib.h>
#include <string.h>

#include "sim/board_internal.h"

#define BOARD_MAX_HZ       100000000000u
#define BOARD_MAX_SWCLK    100000000u
#define BOARD_MAX_LATENCY  1000000u
#define BOARD_MAX_DEADLINE 1000000u
#define BOARD_DEFAULT_SEED 1u

void board_list_add(struct board_list *list, const void *record, size_t size)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 256;
        void *bigger = list->room < 2 * (size_t)BOARD_LOG_KEEP ? realloc(list->records, room * size) : NULL;
        if (bigger) {
            list->records = bigger;
            list->room = room;
        } else if (list->room < 2) {
            list->dropped++;
            return;
        } else {
            size_t drop = list->count - list->room / 2;
            memmove(list->records, (char *)list->records + drop * size, (list->count - drop) * size);
            list->count -= drop;
            list->dropped += drop;
        }
    }
    memcpy((char *)list->records + list->count++ * size, record, size);
}

static bool bus_read(void *ctx, uint32_t address, unsigned size, uint32_t *value)
{
    struct board_core *k = ctx;
    if (address >> 20 == 0xE00u || board_cti_here(k, address))
        return board_ppb_read(k, address, size, value);
    return board_peripheral_read(k, address, size, value);
}

static bool bus_write(void *ctx, uint32_t address, unsigned size, uint32_t value)
{
    struct board_core *k = ctx;
    if (address >> 20 == 0xE00u || board_cti_here(k, address))
        return board_ppb_write(k, address, size, value);
    return board_peripheral_write(k, address, size, value);
}

static void send_event(void *ctx)
{
    struct board *b = ((struct board_core *)ctx)->board;
    for (unsigned n = 0; n < BOARD_CORES; n++) {
        cpu_set_event(&b->core[n].cpu);
        board_core_wake(&b->core[n]);
    }
}

/* The register file's own request: ppb.c has already noted which kind of reset was written. */
static void reset_request(void *ctx)
{
    struct board_core *k = ctx;
    if (!k->debug.reset_request)
        board_request_reset(k, 1u << 2);
}

static uint64_t gcd(uint64_t a, uint64_t c)
{
    while (c) {
        uint64_t rest = a % c;
        a = c;
        c = rest;
    }
    return a;
}

/* A block of its own in the private peripheral bus, or where some parts have their CTIs: behind it. */
static bool cti_place(uint32_t base)
{
    static const uint32_t taken[] = {BOARD_ITM_BASE, BOARD_DWT_BASE, BOARD_FPB_BASE, BOARD_SCS_BASE,
                                     BOARD_ROM_BASE};
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (base == taken[i])
            return false;
    return (base & 0xFFFu) == 0 && (base >> 20 == 0xE00u || base >> 20 == 0xF00u);
}

static enum corral_err config_fill(struct board_config *c, uint64_t *hz, struct diag *d)
{
    for (unsigned n = 0; n < BOARD_CORES; n++)
        if (!c->core_hz[n])
            c->core_hz[n] = BOARD_DEFAULT_CORE_HZ;
    if (!c->swclk_hz)
        c->swclk_hz = BOARD_DEFAULT_SWCLK_HZ;
    if (!c->ctm_latency_set && !c->ctm_latency)
        c->ctm_latency = BOARD_DEFAULT_CTM_LATENCY;
    if (!c->deadline_us)
        c->deadline_us = BOARD_DEFAULT_DEADLINE_US;
    if (!c->seed)
        c->seed = BOARD_DEFAULT_SEED;
    for (unsigned n = 0; n < BOARD_CORES; n++) {
        c->cti_base[n] = c->cti_base[n] ? c->cti_base[n] : BOARD_CTI_BASE;
        if (!cti_place(c->cti_base[n]))
            return diag_set(
                d, CORRAL_ERR_USAGE,
                "a CTI cannot be at 0x%08X: a free block of 4 KiB from 0xE0000000 or 0xF0000000 on",
                c->cti_base[n]);
    }
    *hz = c->core_hz[0] / gcd(c->core_hz[0], c->core_hz[1]) * (uint64_t)c->core_hz[1];
    if (*hz > BOARD_MAX_HZ)
        return diag_set(d, CORRAL_ERR_USAGE,
                        "the least common multiple of the core clocks %u Hz and %u Hz is above 100 GHz",
                        c->core_hz[0], c->core_hz[1]);
    if (c->swclk_hz > BOARD_MAX_SWCLK)
        return diag_set(d, CORRAL_ERR_USAGE, "SWCLK of %u Hz is above 100 MHz", c->swclk_hz);
    if (c->ctm_latency > BOARD_MAX_LATENCY)
        return diag_set(d, CORRAL_ERR_USAGE, "a CTM latency of %u cycles is above a million", c->ctm_latency);
    if (c->deadline_us > BOARD_MAX_DEADLINE)
        return diag_set(d, CORRAL_ERR_USAGE, "a mailbox deadline of %u us is above a second", c->deadline_us);
    return CORRAL_OK;
}

static bool core_init(struct board *b, unsigned n)
{
    struct board_core *k = &b->core[n];
    k->number = n;
    k->board = b;
    k->divider = b->hz / b->config.core_hz[n];
    k->flash = malloc(BOARD_FLASH_SIZE);
    k->decoded = calloc(BOARD_FLASH_SIZE / 2, sizeof(*k->decoded));
    if (!k->flash || !k->decoded)
        return false;
    memset(k->flash, 0xFF, BOARD_FLASH_SIZE);
    if (b->config.count_pcs) {
        k->pc_count = calloc(BOARD_FLASH_SIZE / 2, sizeof(*k->pc_count));
        if (!k->pc_count)
            return false;
    }
    k->cpu.number = n;
    k->identity = board_identity_info(b->config.identity[n]);
    k->cpu.cpuid = k->identity->cpuid;
    k->cpu.architecture = k->identity->architecture;
    k->cpu.monitor = &b->monitor;
    k->cpu.next_event = BOARD_NEVER;
    k->timer.deadline = BOARD_NEVER;
    k->cpu.region[0] = (struct cpu_region){BOARD_SRAM_BASE, BOARD_SRAM_SIZE, b->sram, true, NULL};
    k->cpu.region[1] = (struct cpu_region){BOARD_FLASH_BASE, BOARD_FLASH_SIZE, k->flash, false, k->decoded};
    k->cpu.region[2] = (struct cpu_region){BOARD_FLASH_ALIAS, BOARD_FLASH_SIZE, k->flash, false, k->decoded};
    k->cpu.hooks = (struct cpu_hooks){
        .ctx = k,
        .read = bus_read,
        .write = bus_write,
        .bkpt = board_debug_bkpt,
        .data_access = board_dwt_access,
        .exception_entered = board_debug_exception,
        .send_event = send_event,
        .reset_request = reset_request,
    };
    return true;
}

struct board *board_new(const struct board_config *config, struct diag *d)
{
    struct board_config filled = {0};
    uint64_t hz = 0;
    if (config)
        filled = *config;
    if (config_fill(&filled, &hz, d) != CORRAL_OK)
        return NULL;
    struct board *b = calloc(1, sizeof(*b));
    if (b) {
        b->config = filled;
        b->hz = hz;
        b->sram = b->config.sram ? b->config.sram : calloc(1, BOARD_SRAM_SIZE);
    }
    if (!b || !b->sram || !core_init(b, 0) || !core_init(b, 1)) {
        board_free(b);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "no memory for the virtual board");
        return NULL;
    }
    b->ctm_latency = b->config.ctm_latency * b->core[0].divider;
    for (unsigned n = 0; n < BOARD_CORES; n++)
        b->core[n].unpowered = b->config.unpowered[n];
    board_reset(b);
    return b;
}

void board_free(struct board *b)
{
    if (!b)
        return;
    for (unsigned n = 0; n < BOARD_CORES; n++) {
        free(b->core[n].flash);
        free(b->core[n].decoded);
        free(b->core[n].pc_count);
    }
    if (!b->config.sram)
        free(b->sram);
    free(b->log.records);
    free(b->bus_log.records);
    free(b);
}

const struct board_config *board_get_config(const struct board *b)
{
    return &b->config;
}

uint64_t board_tick(const struct board *b)
{
    return b->tick;
}

uint64_t board_tick_hz(const struct board *b)
{
    return b->hz;
}

bool board_finished(const struct board *b, uint32_t *value)
{
    if (b->finished && value)
        *value = b->finish_value;
    return b->finished;
}

size_t board_log(const struct board *b, const struct board_record **records)
{
    *records = b->log.records;
    return b->log.count;
}

size_t board_bus_log(const struct board *b, const struct board_bus_record **records)
{
    *records = b->bus_log.records;
    return b->bus_log.count;
}

uint64_t board_log_dropped(const struct board *b, bool bus)
{
    return bus ? b->bus_log.dropped : b->log.dropped;
}

const uint64_t *board_pc_count(const struct board *b, unsigned core, size_t *n)
{
    *n = 0;
    if (core >= BOARD_CORES || !b->core[core].pc_count)
        return NULL;
    *n = BOARD_FLASH_SIZE / 2;
    return b->core[core].pc_count;
}
