/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core 1's program: answers core 0's questions between small pieces of work (a recursive filter, checksums, a
 * heap sort, parsing) and logs what it does (source DMC). A piece takes at most about 6 us at 100 MHz;
 * writing a line takes longer, so the mailbox interrupt answers meanwhile. Interrupt priorities: sampling 0,
 * mailbox and SysTick 0x40.
 */
#include "firmware/journal.h"
#include "firmware/mailbox.h"
#include "firmware/registers.h"
#include "firmware/sampling.h"
#include "firmware/uart.h"
#include "firmware/work.h"

#define PIECE        5u /* samples a piece */
#define HEAP_COUNT   96u
#define LINE_MS      7u
#define SLOW_HZ      80000000u
#define IRQ_PRIORITY 0x40u

static struct {
    uint32_t noise, phase;
    struct biquad section[2];
    int16_t in[PIECE];
    int32_t peak;
    uint32_t samples;
    uint16_t crc;
    int32_t heap[HEAP_COUNT];
    uint32_t heap_step, heaps, fresh;
    uint32_t commands, refused;
    int32_t sum;
} work;

static const char *const script[] = {
    "sum 3 5 8 13 21", "get fan", "set fan 40", "get volts", "sum -9 -8 -7 100", "set limit 85c", "get amps",
};
#define SCRIPT_LINES (sizeof(script) / sizeof(script[0]))

static const struct sampling_counter counters[] = {
    {"mailbox answered", &mailbox_answered},
};

void core_main(void);
void systick_handler(void);

void systick_handler(void)
{
    journal_count_ms();
}

static WORK_APART void filter_piece(void)
{
    signal_block(&work.noise, &work.phase, 0x00456789u, work.in, PIECE);
    for (uint32_t i = 0; i < PIECE; i++) {
        int32_t y = iir_filter(work.section, 2, (int32_t)work.in[i] * 16384);
        if (y > work.peak)
            work.peak = y;
    }
    work.samples += PIECE;
}

static WORK_APART void heap_piece(void)
{
    if (work.fresh < HEAP_COUNT) { /* an eighth anew: the rest is in order already */
        work.heap[work.fresh] = (int32_t)(noise_next(&work.noise) >> 4);
        work.fresh += 8;
        return;
    }
    for (unsigned i = 0; i < 3; i++) {
        if (sort_heap_step(work.heap, HEAP_COUNT, &work.heap_step)) {
            work.heap_step = 0;
            work.fresh = work.heaps++ % 8;
            return;
        }
    }
}

static WORK_APART void run_script(void)
{
    struct command c = parse_command(script[work.commands % SCRIPT_LINES]);
    work.commands++;
    if (c.kind == COMMAND_BAD)
        work.refused++;
    else
        work.sum += c.value;
}

static void report_line(uint32_t number)
{
    struct line l;
    uint8_t level = TLOG_INF;
    switch (number % 5) {
    case 0:
        line_start(&l, "mbox: ");
        line_decimal(&l, mailbox_answered);
        line_text(&l, " answered");
        break;
    case 1:
        line_start(&l, "iir: sample ");
        line_decimal(&l, work.samples);
        line_text(&l, ", peak ");
        line_decimal(&l, work.peak);
        work.peak = 0;
        break;
    case 2:
        level = TLOG_DBG;
        line_start(&l, "heap: run ");
        line_decimal(&l, work.heaps);
        line_text(&l, ", least ");
        line_decimal(&l, work.heap[0]);
        break;
    case 3:
        level = TLOG_WRN;
        line_start(&l, "cmd: ");
        line_decimal(&l, work.refused);
        line_text(&l, " of ");
        line_decimal(&l, work.commands);
        line_text(&l, " lines refused, last \"set limit 85c\"");
        break;
    default:
        level = TLOG_DBG;
        line_start(&l, "crc: ");
        line_hex(&l, work.crc);
        line_text(&l, ", prof: ");
        line_decimal(&l, prof_samples_taken);
        line_text(&l, " samples");
        break;
    }
    journal_write(level, &l);
}

void core_main(void)
{
    uint32_t core_hz = reg_read(BOARD_SYSINFO_BASE + BOARD_SYSINFO_CORE_HZ);
    uint32_t seed = reg_read(BOARD_SYSINFO_BASE + BOARD_SYSINFO_SEED);
    struct line l;

    cycles_start();
    uart_start();
    journal_start(TLOG_DMC, core_hz, IRQ_PRIORITY);
    journal_attach_default();
    line_start(&l, "boot: core 1 at ");
    line_decimal(&l, core_hz);
    line_text(&l, " Hz");
    journal_write(TLOG_INF, &l);

    work.noise = seed ^ 0x2468ACE1u;
    if (work.noise == 0)
        work.noise = 1;
    for (unsigned i = 0; i < 2; i++) { /* a low-pass at a tenth of the sample rate */
        struct biquad *s = work.section + i;
        s->b0 = 72429549;
        s->b1 = 144859098;
        s->b2 = 72429549;
        s->a1 = 1227265917;
        s->a2 = -443242289;
    }
    irq_enable(BOARD_IRQ_MAILBOX, IRQ_PRIORITY);
    sampling_start(1, core_hz, seed, counters, sizeof(counters) / sizeof(counters[0]));
    mailbox_answer_start();

    /* On a slow clock, or where products take long, a piece takes longer than an answer may: the interrupt
     * answers always. */
    bool slow = core_hz < SLOW_HZ || CORE_IS_SMALL;
    mailbox_answer_by_interrupt(slow);
    uint32_t lines = 0, due = LINE_MS;
    for (;;) {
        filter_piece();
        if (!slow)
            mailbox_answer_poll();
        work.crc = crc16_update(work.crc, (const uint8_t *)work.in, 4);
        heap_piece();
        if (!slow)
            mailbox_answer_poll();
        run_script();
        if (!slow)
            mailbox_answer_poll();
        if ((int32_t)(journal_ms() - due) >= 0) {
            due += LINE_MS;
            mailbox_answer_by_interrupt(true);
            report_line(lines++);
            journal_tick();
            mailbox_answer_by_interrupt(slow);
        }
    }
}
