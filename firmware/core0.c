/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core 0's program: filters a noisy signal in blocks, sorts, checks and parses, asks core 1 questions through
 * the mailbox, and logs what it does (source SMC). It answers a host's messages too, among them the log's
 * SETUP. Interrupt priorities: sampling 0, mailbox and SysTick 0x40, doorbell 0xC0.
 */
#include "firmware/host_queue.h"
#include "firmware/journal.h"
#include "firmware/mailbox.h"
#include "firmware/registers.h"
#include "firmware/sampling.h"
#include "firmware/uart.h"
#include "firmware/work.h"

#define BLOCK        64u
#define SORT_COUNT   48u
#define LINE_MS      8u /* a log line every so many milliseconds */
#define IRQ_PRIORITY 0x40u

static struct {
    uint32_t noise, phase;
    int16_t in[WORK_TAPS - 1 + BLOCK];
    int16_t out[BLOCK];
    int32_t keys[SORT_COUNT];
    uint32_t table[256];
    uint32_t crc;
    int64_t energy;
    uint32_t blocks, sorted, commands, refused;
    int32_t gain;
} work;

static const char *const script[] = {
    "get temperature", "set gain 17",     "sum 12 -7 30100 44 -1024 6", "set window hann",
    "get uptime",      "set offset -250", "sum 1 2 3 4 5 6 7 8 9 10",   "get gain",
};
#define SCRIPT_LINES (sizeof(script) / sizeof(script[0]))

static const struct sampling_counter counters[] = {
    {"mailbox asked", &mailbox_asked},
    {"mailbox missed", &mailbox_missed},
    {"worst answer, cycles", &mailbox_worst},
};

void core_main(void);
void systick_handler(void);

void systick_handler(void)
{
    journal_count_ms();
    mailbox_ask_tick();
}

static WORK_APART void filter_block(void)
{
    for (uint32_t i = 0; i < WORK_TAPS - 1; i++)
        work.in[i] = work.in[BLOCK + i];
    signal_block(&work.noise, &work.phase, 0x02345678u, work.in + WORK_TAPS - 1, BLOCK);
    fir_filter(work_low_pass, work.in, work.out, BLOCK);
    work.energy = signal_energy(work.out, BLOCK);
    work.crc = crc32_update(work.table, work.crc, (const uint8_t *)work.out, sizeof(work.out));
    work.blocks++;
}

static WORK_APART void sort_block(void)
{
    for (uint32_t i = 0; i < SORT_COUNT; i++)
        work.keys[i] = (int32_t)(noise_next(&work.noise) >> 8);
    sort_shell(work.keys, SORT_COUNT);
    work.sorted++;
}

static WORK_APART void run_script(void)
{
    struct command c = parse_command(script[work.commands % SCRIPT_LINES]);
    work.commands++;
    if (c.kind == COMMAND_BAD)
        work.refused++;
    else if (c.kind == COMMAND_SET)
        work.gain = c.value;
}

static void report_line(uint32_t number)
{
    struct line l;
    uint8_t level = TLOG_INF;
    switch (number % 6) {
    case 0:
        line_start(&l, "mbox: ");
        line_decimal(&l, mailbox_asked);
        line_text(&l, " asked, ");
        line_decimal(&l, mailbox_missed);
        line_text(&l, " missed");
        break;
    case 1:
        line_start(&l, "filt: block ");
        line_decimal(&l, work.blocks);
        line_text(&l, ", energy ");
        line_decimal(&l, work.energy);
        break;
    case 2:
        level = TLOG_DBG;
        line_start(&l, "crc: ");
        line_hex(&l, work.crc);
        line_text(&l, " over ");
        line_decimal(&l, (int64_t)work.blocks * BLOCK * 2);
        line_text(&l, " bytes");
        break;
    case 3:
        level = TLOG_DBG;
        line_start(&l, "sort: run ");
        line_decimal(&l, work.sorted);
        line_text(&l, ", median ");
        line_decimal(&l, work.keys[SORT_COUNT / 2]);
        break;
    case 4:
        level = TLOG_WRN;
        line_start(&l, "cmd: ");
        line_decimal(&l, work.refused);
        line_text(&l, " of ");
        line_decimal(&l, work.commands);
        line_text(&l, " lines refused, last \"set window hann\"");
        break;
    default:
        line_start(&l, "prof: ");
        line_decimal(&l, prof_samples_taken);
        line_text(&l, " samples, worst answer ");
        line_decimal(&l, mailbox_worst);
        line_text(&l, " cycles");
        if (mailbox_wrong) {
            level = TLOG_ERR;
            line_text(&l, ", wrong answers ");
            line_decimal(&l, mailbox_wrong);
        }
        break;
    }
    journal_write(level, &l);
}

void core_main(void)
{
    uint32_t core_hz = reg_read(BOARD_SYSINFO_BASE + BOARD_SYSINFO_CORE_HZ);
    uint32_t seed = reg_read(BOARD_SYSINFO_BASE + BOARD_SYSINFO_SEED);
    uint32_t deadline_us = reg_read(BOARD_SYSINFO_BASE + BOARD_SYSINFO_DEADLINE_US);
    struct line l;

    cycles_start();
    uart_start();
    journal_start(TLOG_SMC, core_hz, IRQ_PRIORITY);
    host_queue_start();
    line_start(&l, "boot: core 0 at ");
    line_decimal(&l, core_hz);
    line_text(&l, " Hz, answers due in ");
    line_decimal(&l, deadline_us);
    line_text(&l, " us");
    journal_write(TLOG_INF, &l);

    work.noise = seed ^ 0x13579BDFu;
    if (work.noise == 0)
        work.noise = 1;
    crc32_table(work.table);
    irq_enable(BOARD_IRQ_MAILBOX, IRQ_PRIORITY);
    mailbox_ask_start(core_hz, deadline_us);
    sampling_start(0, core_hz, seed, counters, sizeof(counters) / sizeof(counters[0]));

    uint32_t lines = 0, due = LINE_MS;
    for (;;) {
        filter_block();
        filter_block();
        sort_block();
        for (unsigned i = 0; i < 3; i++)
            run_script();
        if ((int32_t)(journal_ms() - due) >= 0) {
            due += LINE_MS;
            report_line(lines++);
        }
        host_queue_serve();
        journal_tick();
    }
}
