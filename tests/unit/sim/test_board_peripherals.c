/* SPDX-License-Identifier: Apache-2.0 */
/* The peripherals of the board as docs/board.md describes them, time, and determinism. */
#include "board_fixture.h"

#include <stdlib.h>
#include <string.h>

#define TIMER(offset)    (BOARD_TIMER_BASE + (offset))
#define MAILBOX(offset)  (BOARD_MAILBOX_BASE + (offset))
#define DATAGRAM(offset) (BOARD_DATAGRAM_BASE + (offset))
#define ISPR             0xE000E200u

struct outside {
    uint8_t uart[BOARD_CORES][64];
    unsigned uart_count[BOARD_CORES];
    uint8_t datagram[BOARD_DATAGRAM_MAX];
    size_t datagram_size;
    unsigned datagrams[BOARD_CORES];
};

static void take_uart(void *ctx, unsigned core, uint8_t byte)
{
    struct outside *o = ctx;
    assert_true(o->uart_count[core] < sizeof(o->uart[0]));
    o->uart[core][o->uart_count[core]++] = byte;
}

static void take_datagram(void *ctx, unsigned core, const uint8_t *data, size_t size)
{
    struct outside *o = ctx;
    assert_in_range(size, 1, BOARD_DATAGRAM_MAX);
    memcpy(o->datagram, data, size);
    o->datagram_size = size;
    o->datagrams[core]++;
}

static void sysinfo_tells_what_the_board_is(void **state)
{
    (void)state;
    struct board_config c = {
        .core_hz = {120000000, 60000000}, .deadline_us = 35, .seed = 0x1122334400000007ull};
    struct board *b = board_counting(&c, NULL);
    for (unsigned core = 0; core < 2; core++) {
        assert_int_equal(mem_read(b, core, BOARD_SYSINFO_BASE), BOARD_SYSINFO_ID_VALUE);
        assert_int_equal(mem_read(b, core, BOARD_SYSINFO_BASE + BOARD_SYSINFO_MAP_VERSION),
                         BOARD_MAP_VERSION);
        assert_int_equal(mem_read(b, core, BOARD_SYSINFO_BASE + BOARD_SYSINFO_CORE), core);
        assert_int_equal(mem_read(b, core, BOARD_SYSINFO_BASE + BOARD_SYSINFO_CORE_HZ),
                         core ? 60000000 : 120000000);
        assert_int_equal(mem_read(b, core, BOARD_SYSINFO_BASE + BOARD_SYSINFO_DEADLINE_US), 35);
        assert_int_equal(mem_read(b, core, BOARD_SYSINFO_BASE + BOARD_SYSINFO_SEED), 0x11223343);
        assert_int_equal(mem_read(b, core, BOARD_SYSINFO_BASE + BOARD_SYSINFO_LOG_BUFFER),
                         core ? BOARD_LOG_BUFFER1 : BOARD_LOG_BUFFER0);
        assert_int_equal(mem_read(b, core, BOARD_SYSINFO_BASE + BOARD_SYSINFO_LOG_BUFFER_SIZE), 4112);
    }
    board_free(b);
}

static void finish_is_told_once(void **state)
{
    (void)state;
    struct program p = {0};
    program_store(&p, BOARD_SYSINFO_BASE + BOARD_SYSINFO_FINISH, 42);
    program_store(&p, BOARD_SYSINFO_BASE + BOARD_SYSINFO_FINISH, 43);
    struct board *b = board_counting(NULL, NULL);
    uint32_t value = 7;
    assert_false(board_finished(b, &value));
    assert_int_equal(value, 7);
    load_program(b, 1, &p);
    board_run_until(b, board_tick(b) + 100);
    assert_true(board_finished(b, &value));
    assert_int_equal(value, 42);
    board_free(b);
}

static void uart_sends_when_enabled(void **state)
{
    (void)state;
    struct outside o = {0};
    struct board_config c = {.uart = take_uart, .ctx = &o};
    struct program p = {0};
    program_store(&p, BOARD_UART_BASE + BOARD_UART_DATA, 'x'); /* dropped */
    program_store(&p, BOARD_UART_BASE + BOARD_UART_CTRL, 1);
    program_store(&p, BOARD_UART_BASE + BOARD_UART_DATA, 0x12345600u + 'h');
    program_store(&p, BOARD_UART_BASE + BOARD_UART_DATA, 'i');
    struct board *b = board_counting(&c, NULL);
    load_program(b, 1, &p);
    board_run_until(b, board_tick(b) + 1000);
    assert_int_equal(o.uart_count[0], 0);
    assert_int_equal(o.uart_count[1], 2);
    assert_memory_equal(o.uart[1], "hi", 2);
    assert_int_equal(mem_read(b, 1, BOARD_UART_BASE + BOARD_UART_STATE), 0);
    assert_int_equal(mem_read(b, 1, BOARD_UART_BASE + BOARD_UART_CTRL), 1);
    board_free(b);
}

static void datagram_sends_memory(void **state)
{
    (void)state;
    struct outside o = {0};
    struct board_config c = {.datagram = take_datagram, .ctx = &o};
    struct board *b = board_counting(&c, NULL);
    mem_write(b, 0, 0x20001000, 0x64636261);
    mem_write(b, 0, 0x20001004, 0x68676665);
    mem_write(b, 0, DATAGRAM(BOARD_DATAGRAM_ADDRESS), 0x20001001);
    mem_write(b, 0, DATAGRAM(BOARD_DATAGRAM_LENGTH), 6);
    mem_write(b, 0, DATAGRAM(BOARD_DATAGRAM_SEND), 0);
    assert_int_equal(o.datagrams[0], 0);
    mem_write(b, 0, DATAGRAM(BOARD_DATAGRAM_SEND), 1);
    assert_int_equal(o.datagrams[0], 1);
    assert_int_equal(o.datagram_size, 6);
    assert_memory_equal(o.datagram, "bcdefg", 6);
    assert_int_equal(mem_read(b, 0, DATAGRAM(BOARD_DATAGRAM_STATUS)), 1);
    assert_int_equal(mem_read(b, 0, DATAGRAM(BOARD_DATAGRAM_COUNT)), 1);
    mem_write(b, 0, DATAGRAM(BOARD_DATAGRAM_ADDRESS), BOARD_FLASH_BASE);
    mem_write(b, 0, DATAGRAM(BOARD_DATAGRAM_LENGTH), BOARD_DATAGRAM_MAX);
    mem_write(b, 0, DATAGRAM(BOARD_DATAGRAM_SEND), 1);
    assert_int_equal(o.datagram_size, BOARD_DATAGRAM_MAX);
    board_free(b);
}

static void datagram_refuses_what_it_cannot_send(void **state)
{
    (void)state;
    static const struct {
        uint32_t address, length;
    } bad[] = {{0x20001000, 0},          {0x20001000, BOARD_DATAGRAM_MAX + 1},
               {0x20001000, 0xFFFFFFFF}, {BOARD_SRAM_BASE + BOARD_SRAM_SIZE - 4, 5},
               {BOARD_SYSINFO_BASE, 4},  {0x10000000, 4},
               {0xFFFFFFFF, 4}};
    struct outside o = {0};
    struct board_config c = {.datagram = take_datagram, .ctx = &o};
    struct board *b = board_counting(&c, NULL);
    for (unsigned n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
        mem_write(b, 1, DATAGRAM(BOARD_DATAGRAM_ADDRESS), bad[n].address);
        mem_write(b, 1, DATAGRAM(BOARD_DATAGRAM_LENGTH), bad[n].length);
        mem_write(b, 1, DATAGRAM(BOARD_DATAGRAM_SEND), 1);
        assert_int_equal(mem_read(b, 1, DATAGRAM(BOARD_DATAGRAM_STATUS)), 3);
    }
    assert_int_equal(o.datagrams[1], 0);
    assert_int_equal(mem_read(b, 1, DATAGRAM(BOARD_DATAGRAM_COUNT)), 0);
    board_free(b);
}

static void mailbox_carries_a_word_each_way(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, MAILBOX(BOARD_MAILBOX_TX_DATA), 0xCAFE);
    mem_write(b, 1, MAILBOX(BOARD_MAILBOX_TX_DATA), 0xBEEF);
    assert_int_equal(mem_read(b, 0, MAILBOX(BOARD_MAILBOX_TX_STATUS)), 1);
    assert_int_equal(mem_read(b, 1, MAILBOX(BOARD_MAILBOX_RX_STATUS)), 1);
    assert_int_equal(mem_read(b, 1, MAILBOX(BOARD_MAILBOX_RX_DATA)), 0xCAFE);
    assert_int_equal(mem_read(b, 0, MAILBOX(BOARD_MAILBOX_TX_STATUS)), 0);
    assert_int_equal(mem_read(b, 1, MAILBOX(BOARD_MAILBOX_RX_STATUS)), 0);
    assert_int_equal(mem_read(b, 0, MAILBOX(BOARD_MAILBOX_RX_DATA)), 0xBEEF);
    board_free(b);
}

static void mailbox_tells_of_an_overwritten_word(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, MAILBOX(BOARD_MAILBOX_TX_DATA), 1);
    mem_write(b, 0, MAILBOX(BOARD_MAILBOX_TX_DATA), 2);
    assert_int_equal(mem_read(b, 0, MAILBOX(BOARD_MAILBOX_TX_STATUS)), 3);
    assert_int_equal(mem_read(b, 1, MAILBOX(BOARD_MAILBOX_RX_DATA)), 2);
    assert_int_equal(mem_read(b, 0, MAILBOX(BOARD_MAILBOX_TX_STATUS)), 2);
    mem_write(b, 0, MAILBOX(BOARD_MAILBOX_TX_STATUS), 2);
    assert_int_equal(mem_read(b, 0, MAILBOX(BOARD_MAILBOX_TX_STATUS)), 0);
    board_free(b);
}

static void mailbox_interrupt_wakes_the_other_core(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    struct program p = {0};
    program_store(&p, MAILBOX(BOARD_MAILBOX_CTRL), 1);
    program_store(&p, 0xE000E100u, 1u << BOARD_IRQ_MAILBOX);
    uint32_t sleep = program_here(&p);
    program_op(&p, OP_WFI);
    program_branch(&p, sleep);
    p.vector[16 + BOARD_IRQ_MAILBOX] = program_here(&p);
    program_mov32(&p, 1, MAILBOX(BOARD_MAILBOX_RX_DATA));
    program_op(&p, OP_LDR(0u, 1u, 0u));
    program_mov32(&p, 1, CELL + 4);
    program_op(&p, OP_STR(0u, 1u, 0u));
    program_op(&p, OP_BX_LR);
    load_program(b, 1, &p);
    assert_int_equal(mem_read(b, 1, DHCSR) & S_SLEEP, S_SLEEP);
    mem_write(b, 0, MAILBOX(BOARD_MAILBOX_TX_DATA), 0x51);
    board_run_until(b, board_tick(b) + 60);
    assert_int_equal(mem_read(b, 1, CELL + 4), 0x51);
    assert_int_equal(mem_read(b, 1, DHCSR) & S_SLEEP, S_SLEEP);
    assert_int_equal(mem_read(b, 1, ISPR), 0);
    board_free(b);
}

static void timer_counts_core_cycles_and_reloads(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, TIMER(BOARD_TIMER_LOAD), 100000);
    assert_int_equal(mem_read(b, 0, TIMER(BOARD_TIMER_COUNT)), 100000); /* not started */
    mem_write(b, 0, TIMER(BOARD_TIMER_CTRL), BOARD_TIMER_CTRL_ENABLE | BOARD_TIMER_CTRL_RELOAD);
    uint32_t left = mem_read(b, 0, TIMER(BOARD_TIMER_COUNT));
    uint64_t tick = board_tick(b) - 46 * 25; /* of the access; RDBUFF came after it */
    board_run_until(b, tick + left - 1 - 6 * 46 * 25);
    assert_int_equal(mem_read(b, 0, TIMER(BOARD_TIMER_STATUS)), 0);
    board_run_until(b, board_tick(b) + 8 * 46 * 25);
    assert_int_equal(mem_read(b, 0, TIMER(BOARD_TIMER_STATUS)), 1);
    mem_write(b, 0, TIMER(BOARD_TIMER_STATUS), 1);
    assert_int_equal(mem_read(b, 0, TIMER(BOARD_TIMER_STATUS)), 0);
    assert_int_equal(mem_read(b, 0, ISPR) & 1u << BOARD_IRQ_TIMER, 0); /* no BOARD_TIMER_CTRL_IRQ */
    board_run_until(b, board_tick(b) + 100000);
    assert_int_equal(mem_read(b, 0, TIMER(BOARD_TIMER_STATUS)), 1);
    board_free(b);
}

static void timer_stops_after_one_shot_and_starts_by_load(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, TIMER(BOARD_TIMER_LOAD), 500);
    mem_write(b, 0, TIMER(BOARD_TIMER_CTRL), BOARD_TIMER_CTRL_ENABLE | BOARD_TIMER_CTRL_IRQ);
    assert_int_equal(mem_read(b, 0, TIMER(BOARD_TIMER_STATUS)), 1);
    assert_int_equal(mem_read(b, 0, ISPR) & 1u << BOARD_IRQ_TIMER, 1u << BOARD_IRQ_TIMER);
    mem_write(b, 0, TIMER(BOARD_TIMER_STATUS), 1);
    board_run_until(b, board_tick(b) + 10000);
    assert_int_equal(mem_read(b, 0, TIMER(BOARD_TIMER_STATUS)), 0);
    assert_int_equal(mem_read(b, 0, TIMER(BOARD_TIMER_COUNT)), 0);
    mem_write(b, 0, TIMER(BOARD_TIMER_LOAD), 0); /* counts as 1 */
    assert_int_equal(mem_read(b, 0, TIMER(BOARD_TIMER_STATUS)), 1);
    board_free(b);
}

static void timer_stands_still_in_debug_state(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, TIMER(BOARD_TIMER_LOAD), 1000000);
    mem_write(b, 0, TIMER(BOARD_TIMER_CTRL), BOARD_TIMER_CTRL_ENABLE);
    halt(b, 0);
    uint32_t left = mem_read(b, 0, TIMER(BOARD_TIMER_COUNT));
    assert_in_range(left, 900000, 999999);
    board_run_until(b, board_tick(b) + 5000000);
    assert_int_equal(mem_read(b, 0, TIMER(BOARD_TIMER_COUNT)), left);
    resume(b, 0);
    assert_true(mem_read(b, 0, TIMER(BOARD_TIMER_COUNT)) < left);
    board_free(b);
}

static void timer_wakes_a_sleeping_core_at_its_cycle(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    struct program p = {0};
    program_store(&p, 0xE000E100u, 1u << BOARD_IRQ_TIMER);
    program_store(&p, TIMER(BOARD_TIMER_LOAD), 1000);
    program_store(&p, TIMER(BOARD_TIMER_CTRL),
                  BOARD_TIMER_CTRL_ENABLE | BOARD_TIMER_CTRL_IRQ | BOARD_TIMER_CTRL_RELOAD);
    uint32_t sleep = program_here(&p);
    program_op(&p, OP_WFI);
    program_branch(&p, sleep);
    p.vector[16 + BOARD_IRQ_TIMER] = program_here(&p);
    program_store(&p, TIMER(BOARD_TIMER_STATUS), 1);
    program_mov32(&p, 1, CELL);
    program_op(&p, OP_LDR(0u, 1u, 0u));
    program_op(&p, OP_ADDS(0u, 1u));
    program_op(&p, OP_STR(0u, 1u, 0u));
    program_op(&p, OP_BX_LR);
    mem_write(b, 0, CELL, 0);
    halt(b, 0);
    mem_write(b, 0, CELL, 0);
    load_program(b, 0, &p);
    board_run_until(b, board_tick(b) + 1000000);
    uint32_t count = mem_read(b, 0, CELL);
    assert_in_range(count, 1000, 1020); /* every 1000 cycles, not every 1000 and the time of the handler */
    board_free(b);
}

static void unaligned_or_narrow_peripheral_access_faults(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    struct program p = {0};
    p.vector[3] = CODE_BASE + 0x100;
    program_mov32(&p, 1, BOARD_UART_BASE);
    program_op(&p, 0x7008); /* STRB r0, [r1] */
    load_program(b, 0, &p);
    board_run_until(b, board_tick(b) + 100);
    assert_int_equal(mem_read(b, 0, 0xE000ED28u) & 0x200u, 0x200u); /* BFSR.PRECISERR */
    board_free(b);
}

static void unknown_registers_read_as_zero(void **state)
{
    (void)state;
    static const uint32_t bases[] = {BOARD_UART_BASE, BOARD_SYSINFO_BASE, BOARD_TIMER_BASE,
                                     BOARD_MAILBOX_BASE, BOARD_DATAGRAM_BASE};
    struct board *b = board_counting(NULL, NULL);
    for (unsigned n = 0; n < 5; n++) {
        mem_write(b, 0, bases[n] + 0x800, 0xFFFFFFFF);
        assert_int_equal(mem_read(b, 0, bases[n] + 0x800), 0);
    }
    board_free(b);
}

static void cores_alternate_every_instruction(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    for (unsigned n = 0; n < 50; n++) {
        /* Seven transfers between the two reads; a turn of the loop takes three cycles. */
        uint32_t first = mem_read(b, 0, CELL);
        uint32_t second = mem_read(b, 1, CELL + 4);
        assert_in_range(second - first, 7 * 46 * 25 / 3, 7 * 46 * 25 / 3 + 1);
    }
    board_free(b);
}

static void clocks_of_unlike_cores_keep_their_ratio(void **state)
{
    (void)state;
    struct board_config c = {.core_hz = {150000000, 100000000}};
    struct board *b = board_counting(&c, NULL);
    assert_int_equal(board_tick_hz(b), 300000000);
    board_run_until(b, board_tick(b) + 3000000);
    uint32_t fast = mem_read(b, 0, CELL);
    uint32_t slow = mem_read(b, 1, CELL + 4);
    assert_in_range((uint64_t)fast * 1000 / slow, 1480, 1520);
    board_free(b);
}

static void impossible_numbers_are_refused(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    struct board_config c = {.core_hz = {999999937, 999999929}};
    assert_null(board_new(&c, &d));
    assert_int_equal(d.code, CORRAL_ERR_USAGE);
    c = (struct board_config){.swclk_hz = 100000001};
    assert_null(board_new(&c, &d));
    c = (struct board_config){.ctm_latency = 1000001};
    assert_null(board_new(&c, &d));
    c = (struct board_config){.deadline_us = 1000001};
    assert_null(board_new(&c, &d));
    assert_int_equal(d.code, CORRAL_ERR_USAGE);
}

static void defaults_are_the_published_ones(void **state)
{
    (void)state;
    struct board *b = board_new(NULL, NULL);
    const struct board_config *c = board_get_config(b);
    assert_int_equal(c->core_hz[0], 100000000);
    assert_int_equal(c->core_hz[1], 100000000);
    assert_int_equal(c->swclk_hz, 4000000);
    assert_int_equal(c->ctm_latency, 3);
    assert_int_equal(c->deadline_us, 20);
    board_free(b);
}

static void exact_counts_cover_every_cycle(void **state)
{
    (void)state;
    uint32_t loop = 0;
    size_t n = 0;
    struct board *plain = board_counting(NULL, NULL);
    assert_null(board_pc_count(plain, 0, &n));
    assert_int_equal(n, 0);
    board_free(plain);
    struct board_config c = {.count_pcs = true};
    struct board *b = board_counting(&c, &loop);
    struct program p = {0};
    program_op(&p, OP_WFI);
    load_program(b, 1, &p);
    uint64_t tick = board_tick(b);
    const uint64_t *counts = board_pc_count(b, 1, &n);
    assert_int_equal(n, BOARD_FLASH_SIZE / 2);
    uint64_t before = counts[0x80];
    board_run_until(b, tick + 12345);
    assert_int_equal(counts[0x80] - before, 12345); /* asleep at the WFI */
    uint64_t sum = 0;
    counts = board_pc_count(b, 0, &n);
    for (size_t i = 0; i < n; i++)
        sum += counts[i];
    assert_int_equal(sum, board_tick(b));
    uint32_t at = (loop - BOARD_FLASH_BASE) / 2;
    assert_in_range(counts[at] - counts[at + 1], 0, 1);
    board_free(b);
}

/* The same calls on two boards: the same ticks, logs and memory. */
static void determinism_same_calls_same_logs(void **state)
{
    (void)state;
    struct board *b[2];
    const struct board_record *r[2];
    const struct board_bus_record *bus[2];
    for (unsigned n = 0; n < 2; n++) {
        struct board_config c = {.core_hz = {100000000, 72000000}, .log_accesses = true};
        b[n] = board_cross_triggered(&c);
        for (unsigned round = 0; round < 50; round++) {
            unsigned core = round & 1u;
            board_dap_idle(b[n], 17 * round);
            halt(b[n], core);
            for (unsigned i = 0; i < 2; i++)
                mem_write(b[n], i, CTI_INTACK, 1);
            mem_write(b[n], core, CTI_APPPULSE, RESTART_CHANNEL);
            mem_read(b[n], 0, CELL);
            mem_read(b[n], 1, CELL + 4);
        }
    }
    size_t count = board_log(b[0], &r[0]);
    assert_int_equal(count, 200);
    assert_int_equal(board_log(b[1], &r[1]), count);
    for (size_t i = 0; i < count; i++) {
        assert_true(r[0][i].core == r[1][i].core && r[0][i].halted == r[1][i].halted);
        assert_true(r[0][i].tick == r[1][i].tick && r[0][i].pc == r[1][i].pc && r[0][i].dfsr == r[1][i].dfsr);
    }
    count = board_bus_log(b[0], &bus[0]);
    assert_int_equal(board_bus_log(b[1], &bus[1]), count);
    for (size_t i = 0; i < count; i++)
        assert_true(bus[0][i].tick == bus[1][i].tick && bus[0][i].value == bus[1][i].value);
    assert_true(board_tick(b[0]) == board_tick(b[1]));
    board_free(b[0]);
    board_free(b[1]);
}

/* However a run is cut into pieces, the cores see the same time. */
static void determinism_slices_do_not_matter(void **state)
{
    (void)state;
    struct board *whole = board_counting(NULL, NULL);
    struct board *sliced = board_counting(NULL, NULL);
    uint64_t end = board_tick(whole) + 100000;
    board_run_until(whole, end);
    for (uint64_t t = board_tick(sliced); t < end; t += 7)
        board_run_until(sliced, t);
    board_run_until(sliced, end);
    assert_int_equal(mem_read(whole, 0, CELL), mem_read(sliced, 0, CELL));
    assert_int_equal(mem_read(whole, 1, CELL + 4), mem_read(sliced, 1, CELL + 4));
    board_free(whole);
    board_free(sliced);
}

static void sleeping_time_is_skipped(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    struct program p = {0};
    program_op(&p, OP_WFI);
    load_program(b, 0, &p);
    load_program(b, 1, &p);
    board_run_until(b, 1ull << 50); /* four months; at a billion cycles a second this would not return */
    assert_true(board_tick(b) == 1ull << 50);
    assert_int_equal(mem_read(b, 0, DHCSR) & S_SLEEP, S_SLEEP);
    board_free(b);
}

static void sev_wakes_the_other_core(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    struct program waits = {0};
    program_op(&waits, OP_WFE);
    program_store(&waits, CELL + 4, 0x3E);
    load_program(b, 1, &waits);
    assert_int_equal(mem_read(b, 1, DHCSR) & S_SLEEP, S_SLEEP);
    struct program sends = {0};
    program_op(&sends, OP_SEV);
    load_program(b, 0, &sends);
    board_run_until(b, board_tick(b) + 20);
    assert_int_equal(mem_read(b, 1, CELL + 4), 0x3E);
    board_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sysinfo_tells_what_the_board_is),
        cmocka_unit_test(finish_is_told_once),
        cmocka_unit_test(uart_sends_when_enabled),
        cmocka_unit_test(datagram_sends_memory),
        cmocka_unit_test(datagram_refuses_what_it_cannot_send),
        cmocka_unit_test(mailbox_carries_a_word_each_way),
        cmocka_unit_test(mailbox_tells_of_an_overwritten_word),
        cmocka_unit_test(mailbox_interrupt_wakes_the_other_core),
        cmocka_unit_test(timer_counts_core_cycles_and_reloads),
        cmocka_unit_test(timer_stops_after_one_shot_and_starts_by_load),
        cmocka_unit_test(timer_stands_still_in_debug_state),
        cmocka_unit_test(timer_wakes_a_sleeping_core_at_its_cycle),
        cmocka_unit_test(unaligned_or_narrow_peripheral_access_faults),
        cmocka_unit_test(unknown_registers_read_as_zero),
        cmocka_unit_test(cores_alternate_every_instruction),
        cmocka_unit_test(clocks_of_unlike_cores_keep_their_ratio),
        cmocka_unit_test(impossible_numbers_are_refused),
        cmocka_unit_test(defaults_are_the_published_ones),
        cmocka_unit_test(exact_counts_cover_every_cycle),
        cmocka_unit_test(determinism_same_calls_same_logs),
        cmocka_unit_test(determinism_slices_do_not_matter),
        cmocka_unit_test(sleeping_time_is_skipped),
        cmocka_unit_test(sev_wakes_the_other_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
