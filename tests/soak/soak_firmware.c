/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the soak test logs: a program for both cores of the virtual board (SOAK_CORE) whose every line says
 * which it is, and which resets the board again and again (docs/board.md, "Reset and images").
 * tests/soak/soak_log.py knows what the lines must be.
 *
 * A line every LINE_MS, and now and then so many at once that the log cannot take them all. Core 0 resets
 * both cores right behind such a burst, after BOOT_MS: every second time it has core 1 stand still first, so
 * that the counts of both are exact; the other times core 1 is caught in whatever it does. What was counted
 * stays in SRAM, which a reset does not clear, and is told in the first line of the next boot. Nothing is
 * flushed before a reset.
 */
#include "firmware/journal.h"
#include "firmware/registers.h"
#include "firmware/uart.h"
#if SOAK_CORE == 0
#include "firmware/host_queue.h"
#endif

#define LINE_MS      10u
#define BURST_EVERY  256u /* lines; and behind so many comes a burst */
#define BURST        100u /* lines of about 100 bytes: more than staging and buffer take together */
#define PARK_MS      100u
#define IRQ_PRIORITY 0x40u
#define SCS_AIRCR    0xE000ED0Cu
#define SYSRESETREQ  0x05FA0004u
#ifndef BOOT_MS
#define BOOT_MS 10000u
#endif

struct kept_counts {
    uint32_t logged, notices, delivered, dropped, cut;
    uint32_t held; /* records of a batch that the host had not handed back */
};

/* Above everything that the board's memory map has a use for. Zero at power-on. */
#define KEPT_BASE (BOARD_LOG_HOST_BUFFER + 0x2000u)
struct kept {
    uint32_t boots;
    uint32_t exact; /* did core 1 stand still? */
    uint32_t stop, parked;
    struct kept_counts counts[2];
};

static volatile struct kept *kept_words(void)
{
    return (volatile struct kept *)(uintptr_t)KEPT_BASE;
}

static struct {
    uint32_t boot, number;
    uint32_t batches, delivered, last_batch; /* how many records were in it */
} soak;

void core_main(void);
void systick_handler(void);
void mailbox_handler(void);
void prof_sampler_interrupt(void);

void systick_handler(void)
{
    journal_count_ms();
}

/* Neither is ever enabled. */
void mailbox_handler(void) {}
void prof_sampler_interrupt(void) {}

static void note_batches(void)
{
    const struct tlog_producer *p = journal_producer();
    if (p->counts.batches == soak.batches)
        return;
    soak.batches = p->counts.batches;
    soak.last_batch = p->counts.delivered - soak.delivered;
    soak.delivered = p->counts.delivered;
}

static void keep_counts(void)
{
    const struct tlog_producer *p = journal_producer();
    volatile struct kept_counts *k = &kept_words()->counts[SOAK_CORE];
    k->logged = p->counts.logged;
    k->notices = p->counts.notices;
    k->delivered = p->counts.delivered;
    k->dropped = p->counts.dropped;
    k->cut = p->counts.cut;
    bool held = p->room != 0 && (reg_read((uint32_t)p->address + 12u) & 0xFFu) != 0;
    k->held = held ? soak.last_batch : 0;
}

static void start_line(struct line *l)
{
    line_start(l, SOAK_CORE ? "soak c1 b" : "soak c0 b");
    line_decimal(l, soak.boot);
    line_text(l, " n=");
    line_decimal(l, soak.number++);
    line_text(l, " d=");
    line_decimal(l, journal_producer()->counts.dropped);
    line_text(l, " ");
}

static void write_line(void)
{
    struct line l;
    uint32_t number = soak.number, length = 20u + number * 7u % 80u;
    start_line(&l);
    for (uint32_t i = 0; i < length; i++) {
        char letter[2] = {(char)('a' + (number + i) % 26u), 0};
        line_text(&l, letter);
    }
    journal_write((uint8_t)(TLOG_ERR + number % 4u), &l);
    note_batches();
}

static void write_counts(const char *name, uint32_t value, struct line *l)
{
    line_text(l, name);
    line_decimal(l, value);
}

static void write_first_line(void)
{
    const volatile struct kept *k = kept_words();
    const volatile struct kept_counts *c = &k->counts[SOAK_CORE];
    struct line l;
    start_line(&l);
    write_counts("exact=", soak.boot && (SOAK_CORE == 0 || k->exact), &l);
    write_counts(" logged=", c->logged, &l);
    write_counts(" notices=", c->notices, &l);
    write_counts(" delivered=", c->delivered, &l);
    write_counts(" dropped=", c->dropped, &l);
    write_counts(" cut=", c->cut, &l);
    write_counts(" held=", c->held, &l);
    journal_write(TLOG_INF, &l);
}

#if SOAK_CORE == 0
static __attribute__((noreturn)) void reset_board(void)
{
    volatile struct kept *k = kept_words();
    k->exact = 0;
    if (soak.boot % 2 == 0) {
        uint32_t since = journal_ms();
        k->stop = 1;
        while (!k->parked && journal_ms() - since < PARK_MS)
            ;
        k->exact = k->parked;
    }
    keep_counts();
    k->boots = k->boots + 1;
    for (;;) {
        __asm__ volatile("dsb" ::: "memory");
        reg_write(SCS_AIRCR, SYSRESETREQ);
    }
}
#else
static void stand_still(void)
{
    keep_counts();
    kept_words()->parked = 1;
    for (;;)
        __asm__ volatile("wfi");
}
#endif

void core_main(void)
{
    volatile struct kept *k = kept_words();
    uint32_t core_hz = reg_read(BOARD_SYSINFO_BASE + BOARD_SYSINFO_CORE_HZ);
    cycles_start();
    uart_start();
    journal_start(SOAK_CORE ? TLOG_DMC : TLOG_SMC, core_hz, IRQ_PRIORITY);
    soak.boot = k->boots;
#if SOAK_CORE == 0
    host_queue_start();
#else
    k->stop = 0;
    k->parked = 0;
    journal_attach_default();
#endif
    write_first_line();

    uint32_t due = LINE_MS;
    for (;;) {
        __asm__ volatile("wfi");
        if ((int32_t)(journal_ms() - due) >= 0) {
            due += LINE_MS;
            write_line();
            if (soak.number % BURST_EVERY == 0) {
                for (unsigned i = 0; i < BURST; i++)
                    write_line();
#if SOAK_CORE == 0
                if (journal_ms() >= BOOT_MS)
                    reset_board();
#endif
            }
        }
#if SOAK_CORE == 0
        host_queue_serve();
#else
        if (k->stop)
            stand_still();
#endif
        journal_tick();
        note_batches();
    }
}
