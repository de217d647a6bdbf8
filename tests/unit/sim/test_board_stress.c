/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of the logs, and a debugger that writes anything anywhere: nothing may break or stand still. */
#include "board_fixture.h"

#include <stdlib.h>

#include "sim/board_internal.h"

static void logs_drop_the_oldest_and_count_them(void **state)
{
    (void)state;
    const size_t total = 5u * BOARD_LOG_KEEP + 3;
    struct board_list list = {0};
    for (size_t n = 0; n < total; n++) {
        uint32_t record = (uint32_t)n;
        board_list_add(&list, &record, sizeof(record));
        assert_true(list.count <= 2 * (size_t)BOARD_LOG_KEEP);
    }
    assert_int_equal(list.count + list.dropped, total);
    assert_true(list.count >= BOARD_LOG_KEEP);
    const uint32_t *records = list.records;
    for (size_t n = 0; n < list.count; n++)
        assert_int_equal(records[n], (uint32_t)(total - list.count + n));
    free(list.records);
}

static void late_timer_keeps_to_whole_periods(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    struct board_core *k = &b->core[0];
    mem_write(b, 0, BOARD_TIMER_BASE + BOARD_TIMER_LOAD, 10);
    mem_write(b, 0, BOARD_TIMER_BASE + BOARD_TIMER_CTRL, BOARD_TIMER_CTRL_ENABLE | BOARD_TIMER_CTRL_RELOAD);
    uint64_t deadline = k->cpu.cycles - 17; /* an exception entry came between */
    k->timer.deadline = deadline;
    board_timer_expire(k);
    assert_true(k->timer.deadline == deadline + 20);
    assert_int_equal(k->timer.status, 1);
    board_free(b);
}

static uint32_t next(uint32_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 17;
    *random ^= *random << 5;
    return *random;
}

/* An address of a register block, of SRAM, or anything. */
static uint32_t any_address(uint32_t *random)
{
    static const uint32_t blocks[] = {BOARD_UART_BASE,     BOARD_TIMER_BASE, BOARD_MAILBOX_BASE,
                                      BOARD_DATAGRAM_BASE, BOARD_ITM_BASE,   BOARD_DWT_BASE,
                                      BOARD_FPB_BASE,      BOARD_SCS_BASE,   BOARD_CTI_BASE,
                                      BOARD_CTI_BASE,      BOARD_ROM_BASE,   BOARD_SRAM_BASE};
    static const uint32_t chosen[] = {DHCSR, DHCSR, DCRSR, DCRDR, DEMCR, DFSR, AIRCR, 0xE000E010, 0xE000E014};
    uint32_t r = next(random);
    if (r % 16 == 0)
        return next(random);
    if (r % 3 == 0)
        return chosen[(r >> 8) % 9];
    return blocks[(r >> 8) % 12] + ((r >> 16) & 0x3FCu);
}

static uint32_t any_value(uint32_t address, uint32_t *random)
{
    uint32_t r = next(random);
    if (address == DHCSR)
        return 0xA05F0000u | (r & 0xFu);
    if (address == AIRCR)
        return 0x05FA0000u | (r & 0x707u);
    if (address == CTI_LAR)
        return CTI_KEY;
    return r % 4 ? r & 0xFu : r;
}

static uint64_t random_traffic(uint32_t seed, enum board_identity first, enum board_identity second)
{
    struct board_config c = {
        .identity = {first, second}, .core_hz = {10000000, 6400000}, .count_pcs = true, .log_accesses = true};
    struct board *b = board_counting(&c, NULL);
    uint32_t random = seed;
    uint64_t sum = 0;
    for (unsigned round = 0; round < 5000; round++) {
        uint32_t address = any_address(&random);
        uint32_t value = any_value(address, &random);
        uint32_t r = next(&random);
        uint64_t before = board_tick(b);
        if (r % 500 == 0)
            board_reset(b);
        if (r % 50 == 0)
            board_dap_idle(b, r >> 16);
        dp_write(b, 0x0, 0x1E);
        dp_write(b, 0x4, 0x50000000);
        ap_write(b, r & 1u, 0x00, 0x23000000 | (r >> 4 & 0x3u) | (r >> 8 & 0x30u));
        ap_write(b, r & 1u, 0x04, address);
        assert_int_equal(board_dap_transfer(b, true, (r & 2u) != 0, 0xC, &value), 1);
        sum = sum * 31 + value;
        assert_true(board_tick(b) > before);
    }
    const struct board_record *records = NULL;
    size_t count = board_log(b, &records);
    for (size_t n = 0; n < count; n++) {
        sum = sum * 31 + records[n].pc + records[n].tick;
        assert_true(n == 0 || records[n].tick >= records[n - 1].tick);
    }
    sum = sum * 31 + board_tick(b);
    board_free(b);
    return sum;
}

static void random_debugger_traffic_is_survived_and_repeatable(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 3; seed++)
        assert_true(random_traffic(seed, BOARD_M7, BOARD_M7) == random_traffic(seed, BOARD_M7, BOARD_M7));
}

static void random_debugger_traffic_on_the_other_cores(void **state)
{
    static const enum board_identity pairs[][2] = {
        {BOARD_M33, BOARD_M4}, {BOARD_M0PLUS, BOARD_M33}, {BOARD_M4, BOARD_M0PLUS}};
    (void)state;
    for (uint32_t k = 0; k < 3; k++)
        assert_true(random_traffic(4 + k, pairs[k][0], pairs[k][1]) ==
                    random_traffic(4 + k, pairs[k][0], pairs[k][1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_drop_the_oldest_and_count_them),
        cmocka_unit_test(late_timer_keeps_to_whole_periods),
        cmocka_unit_test(random_debugger_traffic_is_survived_and_repeatable),
        cmocka_unit_test(random_debugger_traffic_on_the_other_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
