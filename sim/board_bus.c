/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The peripherals of the board: UART, SYSINFO, TIMER, MAILBOX, DATAGRAM, as sim/board_map.h lays them out
 * and docs/board.md describes them; and the debugger's way onto the same bus.
 *
 * Each core has its own set. Unknown registers of a peripheral read as zero and ignore writes; what is no
 * peripheral at all is a bus fault, and so is anything but an aligned word.
 */
#include <string.h>

#include "sim/board_internal.h"

#define PAGE(address) ((address) & ~0xFFFu)

static struct board_core *other(const struct board_core *k)
{
    return &k->board->core[1 - k->number];
}

static void set_line(struct board_core *k, unsigned irq, bool high)
{
    cpu_irq_level(&k->cpu, irq, high);
    board_core_wake(k);
}

/* The mailbox line of `k`: full and wanted. */
static void mailbox_line(struct board_core *k)
{
    set_line(k, BOARD_IRQ_MAILBOX, other(k)->mail.full && (k->mailbox_ctrl & 1u));
}

static void timer_line(struct board_core *k)
{
    set_line(k, BOARD_IRQ_TIMER, (k->timer.status & 1u) && (k->timer.ctrl & BOARD_TIMER_CTRL_IRQ));
}

static uint32_t timer_left(const struct board_core *k)
{
    const struct board_timer *t = &k->timer;
    if (t->deadline == BOARD_NEVER)
        return t->left;
    return t->deadline > k->cpu.cycles ? (uint32_t)(t->deadline - k->cpu.cycles) : 0;
}

static uint32_t timer_load(const struct board_timer *t)
{
    return t->load ? t->load : 1;
}

void board_timer_expire(struct board_core *k)
{
    struct board_timer *t = &k->timer;
    t->status = 1;
    if (t->ctrl & BOARD_TIMER_CTRL_RELOAD) {
        /* Whole periods, so that a period does not grow by the time the interrupt was found late. */
        uint64_t late = k->cpu.cycles - t->deadline;
        t->deadline += (late / timer_load(t) + 1) * timer_load(t);
    } else {
        t->left = 0;
        t->deadline = BOARD_NEVER;
    }
    timer_line(k);
}

static void timer_write(struct board_core *k, uint32_t offset, uint32_t value)
{
    struct board_timer *t = &k->timer;
    bool enabled = (t->ctrl & BOARD_TIMER_CTRL_ENABLE) != 0;
    switch (offset) {
    case BOARD_TIMER_CTRL:
        if (enabled && !(value & BOARD_TIMER_CTRL_ENABLE)) {
            t->left = timer_left(k);
            t->deadline = BOARD_NEVER;
        } else if (!enabled && (value & BOARD_TIMER_CTRL_ENABLE)) {
            t->deadline = k->cpu.cycles + (t->left ? t->left : timer_load(t));
        }
        t->ctrl = value & (BOARD_TIMER_CTRL_ENABLE | BOARD_TIMER_CTRL_IRQ | BOARD_TIMER_CTRL_RELOAD);
        break;
    case BOARD_TIMER_LOAD:
        t->load = value;
        t->left = timer_load(t);
        if (enabled)
            t->deadline = k->cpu.cycles + t->left;
        break;
    case BOARD_TIMER_STATUS:
        t->status &= ~value;
        break;
    default:
        return;
    }
    timer_line(k);
    board_core_set_due(k);
}

static uint32_t timer_read(const struct board_core *k, uint32_t offset)
{
    switch (offset) {
    case BOARD_TIMER_CTRL:
        return k->timer.ctrl;
    case BOARD_TIMER_COUNT:
        return timer_left(k);
    case BOARD_TIMER_LOAD:
        return k->timer.load;
    case BOARD_TIMER_STATUS:
        return k->timer.status;
    default:
        return 0;
    }
}

static uint32_t mailbox_read(struct board_core *k, uint32_t offset)
{
    struct board_mail *in = &other(k)->mail;
    uint32_t word;
    switch (offset) {
    case BOARD_MAILBOX_TX_DATA:
        return k->mail.word;
    case BOARD_MAILBOX_TX_STATUS:
        return (k->mail.full ? 1u : 0u) | (k->mail.overwritten ? 2u : 0u);
    case BOARD_MAILBOX_RX_DATA:
        word = in->word;
        in->full = false;
        mailbox_line(k);
        return word;
    case BOARD_MAILBOX_RX_STATUS:
        return in->full ? 1u : 0u;
    case BOARD_MAILBOX_CTRL:
        return k->mailbox_ctrl;
    default:
        return 0;
    }
}

static void mailbox_write(struct board_core *k, uint32_t offset, uint32_t value)
{
    switch (offset) {
    case BOARD_MAILBOX_TX_DATA:
        k->mail.overwritten = k->mail.overwritten || k->mail.full;
        k->mail.word = value;
        k->mail.full = true;
        mailbox_line(other(k));
        break;
    case BOARD_MAILBOX_TX_STATUS:
        if (value & 2u)
            k->mail.overwritten = false;
        break;
    case BOARD_MAILBOX_CTRL:
        k->mailbox_ctrl = value & 1u;
        mailbox_line(k);
        break;
    default:
        break;
    }
}

/* The doorbell is one for the whole board, and it rings at core 0. */
static void doorbell_set(struct board *b, bool rung)
{
    b->doorbell = rung;
    set_line(&b->core[0], BOARD_IRQ_DOORBELL, rung);
}

/* The scratch word at `offset`; NULL when it is none. */
static uint32_t *scratch_word(struct board *b, uint32_t offset)
{
    uint32_t n = (offset - BOARD_SYSINFO_SCRATCH(0)) / 4;
    return offset >= BOARD_SYSINFO_SCRATCH(0) && n < BOARD_SYSINFO_SCRATCH_COUNT ? &b->scratch[n] : NULL;
}

static uint32_t sysinfo_read(const struct board_core *k, uint32_t offset)
{
    const struct board_config *c = &k->board->config;
    const uint32_t *scratch = scratch_word(k->board, offset);
    if (scratch)
        return *scratch;
    switch (offset) {
    case BOARD_SYSINFO_ID:
        return BOARD_SYSINFO_ID_VALUE;
    case BOARD_SYSINFO_MAP_VERSION:
        return BOARD_MAP_VERSION;
    case BOARD_SYSINFO_CORE:
        return k->number;
    case BOARD_SYSINFO_CORE_HZ:
        return c->core_hz[k->number];
    case BOARD_SYSINFO_DEADLINE_US:
        return c->deadline_us;
    case BOARD_SYSINFO_SEED:
        return (uint32_t)(c->seed ^ c->seed >> 32);
    case BOARD_SYSINFO_LOG_BUFFER:
        return k->number ? BOARD_LOG_BUFFER1 : BOARD_LOG_BUFFER0;
    case BOARD_SYSINFO_LOG_BUFFER_SIZE:
        return BOARD_LOG_BUFFER_SIZE;
    case BOARD_SYSINFO_DOORBELL_STATUS:
        return k->board->doorbell ? 1u : 0u;
    case BOARD_SYSINFO_RESET_HOLD:
        return board_held_cores(k->board);
    default:
        return 0;
    }
}

static void sysinfo_write(struct board_core *k, uint32_t offset, uint32_t value)
{
    struct board *b = k->board;
    uint32_t *scratch = scratch_word(b, offset);
    if (scratch)
        *scratch = value;
    else if (offset == BOARD_SYSINFO_DOORBELL)
        doorbell_set(b, true);
    else if (offset == BOARD_SYSINFO_DOORBELL_STATUS && (value & 1u))
        doorbell_set(b, false);
    else if (offset == BOARD_SYSINFO_RESET_HOLD)
        board_set_held_cores(b, value);
    if (offset != BOARD_SYSINFO_FINISH || b->finished)
        return;
    b->finished = true;
    b->finish_value = value;
}

/* A range of SRAM or flash; NULL when any byte of it is somewhere else. */
static const uint8_t *memory_range(const struct board_core *k, uint32_t address, uint32_t length)
{
    for (unsigned n = 0; n < CPU_REGIONS; n++) {
        const struct cpu_region *r = &k->cpu.region[n];
        uint32_t offset = address - r->base;
        if (r->mem && address >= r->base && offset < r->size && length <= r->size - offset)
            return r->mem + offset;
    }
    return NULL;
}

static void datagram_send(struct board_core *k)
{
    const struct board_config *c = &k->board->config;
    struct board_datagram *g = &k->datagram;
    uint8_t copy[BOARD_DATAGRAM_MAX];
    const uint8_t *from = memory_range(k, g->address, g->length);
    g->refused = !from || g->length == 0 || g->length > BOARD_DATAGRAM_MAX;
    if (g->refused)
        return;
    memcpy(copy, from, g->length);
    g->count++;
    if (c->datagram)
        c->datagram(c->ctx, k->number, copy, g->length);
}

static uint32_t datagram_read(const struct board_core *k, uint32_t offset)
{
    switch (offset) {
    case BOARD_DATAGRAM_ADDRESS:
        return k->datagram.address;
    case BOARD_DATAGRAM_LENGTH:
        return k->datagram.length;
    case BOARD_DATAGRAM_STATUS:
        return 1u | (k->datagram.refused ? 2u : 0u);
    case BOARD_DATAGRAM_COUNT:
        return k->datagram.count;
    default:
        return 0;
    }
}

static void datagram_write(struct board_core *k, uint32_t offset, uint32_t value)
{
    if (offset == BOARD_DATAGRAM_ADDRESS)
        k->datagram.address = value;
    else if (offset == BOARD_DATAGRAM_LENGTH)
        k->datagram.length = value;
    else if (offset == BOARD_DATAGRAM_SEND && value == 1u)
        datagram_send(k);
}

static void uart_write(struct board_core *k, uint32_t offset, uint32_t value)
{
    const struct board_config *c = &k->board->config;
    if (offset == BOARD_UART_DATA && (k->uart_ctrl & 1u) && c->uart)
        c->uart(c->ctx, k->number, (uint8_t)value);
    else if (offset == BOARD_UART_CTRL)
        k->uart_ctrl = value & 0x7Fu;
    else if (offset == BOARD_UART_BAUDDIV)
        k->uart_bauddiv = value & 0xFFFFFu;
}

void board_peripherals_reset(struct board_core *k)
{
    k->timer = (struct board_timer){.deadline = BOARD_NEVER};
    k->datagram = (struct board_datagram){0};
    k->mail = (struct board_mail){0};
    k->mailbox_ctrl = 0;
    k->uart_ctrl = 0;
    k->uart_bauddiv = 0;
    if (k->number == 0) {
        memset(k->board->scratch, 0, sizeof(k->board->scratch));
        doorbell_set(k->board, false);
    }
    mailbox_line(other(k));
}

bool board_peripheral_read(struct board_core *k, uint32_t address, unsigned size, uint32_t *value)
{
    uint32_t offset = address & 0xFFFu;
    if (size != 4 || address & 3u)
        return false;
    *value = 0;
    switch (PAGE(address)) {
    case BOARD_UART_BASE:
        if (offset == BOARD_UART_CTRL)
            *value = k->uart_ctrl;
        else if (offset == BOARD_UART_BAUDDIV)
            *value = k->uart_bauddiv;
        return true;
    case BOARD_SYSINFO_BASE:
        *value = sysinfo_read(k, offset);
        return true;
    case BOARD_TIMER_BASE:
        *value = timer_read(k, offset);
        return true;
    case BOARD_MAILBOX_BASE:
        *value = mailbox_read(k, offset);
        return true;
    case BOARD_DATAGRAM_BASE:
        *value = datagram_read(k, offset);
        return true;
    default:
        return false;
    }
}

bool board_peripheral_write(struct board_core *k, uint32_t address, unsigned size, uint32_t value)
{
    uint32_t offset = address & 0xFFFu;
    if (size != 4 || address & 3u)
        return false;
    switch (PAGE(address)) {
    case BOARD_UART_BASE:
        uart_write(k, offset, value);
        return true;
    case BOARD_SYSINFO_BASE:
        sysinfo_write(k, offset, value);
        return true;
    case BOARD_TIMER_BASE:
        timer_write(k, offset, value);
        return true;
    case BOARD_MAILBOX_BASE:
        mailbox_write(k, offset, value);
        return true;
    case BOARD_DATAGRAM_BASE:
        datagram_write(k, offset, value);
        return true;
    default:
        return false;
    }
}

static void log_access(struct board_core *k, uint32_t address, unsigned size, uint32_t value, bool write)
{
    struct board *b = k->board;
    struct board_bus_record r = {.tick = b->tick,
                                 .ap = k->number,
                                 .address = address,
                                 .value = value,
                                 .size = (uint8_t)size,
                                 .write = write};
    if (b->config.log_accesses)
        board_list_add(&b->bus_log, &r, sizeof(r));
}

bool board_debugger_read(struct board_core *k, uint32_t address, unsigned size, uint32_t *value)
{
    *value = 0;
    k->debugger = true;
    bool ok = cpu_bus_read(&k->cpu, address, size, value);
    k->debugger = false;
    log_access(k, address, size, *value, false);
    board_do_resets(k->board);
    return ok;
}

bool board_debugger_write(struct board_core *k, uint32_t address, unsigned size, uint32_t value)
{
    k->debugger = true;
    bool ok = cpu_bus_write(&k->cpu, address, size, value);
    k->debugger = false;
    log_access(k, address, size, value, true);
    board_do_resets(k->board);
    return ok;
}
