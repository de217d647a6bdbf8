/* SPDX-License-Identifier: Apache-2.0 */
/* The debug port and the two access ports: cross-trigger sheet 2.1, 2.3, 2.4. */
#include "board_fixture.h"

#include <string.h>

#define OK    1u
#define WAIT  2u
#define FAULT 4u

static unsigned transfer(struct board *b, bool ap, bool read, uint8_t addr, uint32_t value)
{
    return board_dap_transfer(b, ap, read, addr, &value);
}

static void dpidr_is_a_version_2_port(void **state)
{
    (void)state;
    struct board *b = board_new(NULL, NULL);
    uint32_t id = dp_read(b, 0x0);
    assert_int_equal(id & 1u, 1);
    assert_int_equal(id >> 12 & 0xFu, 2);
    assert_int_equal(id >> 1 & 0x7FFu, 0x23B);
    board_free(b);
}

static void power_up_acknowledges_what_is_requested(void **state)
{
    (void)state;
    struct board *b = board_new(NULL, NULL);
    assert_int_equal(dp_read(b, 0x4) >> 28, 0);
    dp_write(b, 0x4, 0x10000000);
    assert_int_equal(dp_read(b, 0x4) >> 28, 3);
    dp_write(b, 0x4, 0x50000F00);
    assert_int_equal(dp_read(b, 0x4) & 0xFFFFFF00u, 0xF0000F00u);
    dp_write(b, 0x4, 0);
    assert_int_equal(dp_read(b, 0x4) >> 28, 0);
    board_free(b);
}

static void ap_access_without_power_is_a_sticky_fault(void **state)
{
    (void)state;
    struct board *b = board_new(NULL, NULL);
    assert_int_equal(transfer(b, true, true, 0xC, 0), FAULT);
    assert_int_equal(dp_read(b, 0x4) & 0x20u, 0x20u);
    dp_write(b, 0x0, 0x04);
    assert_int_equal(dp_read(b, 0x4) & 0x20u, 0);
    dp_power_up(b);
    assert_int_equal(ap_read(b, 0, 0xFC), 0x84770001u);
    board_free(b);
}

static void during_fault_only_three_registers_answer(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    ap_write(b, 0, 0x04, 0x70000000);
    assert_int_equal(transfer(b, true, true, 0xC, 0), OK); /* the error comes out with the next transfer */
    assert_int_equal(transfer(b, true, true, 0xC, 0), FAULT);
    assert_int_equal(transfer(b, true, false, 0x4, 0), FAULT);
    assert_int_equal(transfer(b, false, true, 0xC, 0), FAULT);
    assert_int_equal(transfer(b, false, true, 0x8, 0), FAULT);
    assert_int_equal(transfer(b, false, false, 0x8, 0), FAULT);
    assert_int_equal(transfer(b, false, false, 0x4, 0), FAULT);
    assert_int_equal(transfer(b, false, true, 0x0, 0), OK);
    assert_int_equal(dp_read(b, 0x4) & 0x20u, 0x20u);
    dp_write(b, 0x0, 0x1B); /* every clear bit but STKERRCLR */
    assert_int_equal(transfer(b, true, true, 0xC, 0), FAULT);
    dp_write(b, 0x0, 0x04);
    assert_int_equal(mem_read(b, 0, BOARD_FLASH_BASE), BOARD_SRAM_CORE0 + BOARD_SRAM_EACH);
    board_free(b);
}

static void ap_reads_are_posted(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    uint32_t v = 0;
    mem_write(b, 0, CELL + 0x100, 0x11111111);
    mem_write(b, 0, CELL + 0x104, 0x22222222);
    ap_write(b, 0, 0x00, 0x23000012);
    ap_write(b, 0, 0x04, CELL + 0x100);
    assert_int_equal(board_dap_transfer(b, true, true, 0xC, &v), OK);
    assert_int_equal(board_dap_transfer(b, true, true, 0xC, &v), OK);
    assert_int_equal(v, 0x11111111);
    assert_int_equal(dp_read(b, 0xC), 0x22222222);
    assert_int_equal(dp_read(b, 0xC), 0x22222222); /* RDBUFF starts nothing */
    assert_int_equal(dp_read(b, 0x8), 0x22222222); /* RESEND */
    board_free(b);
}

static void address_increment_wraps_at_1_kib(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, 0x20001000, 0xAAAA0000);
    mem_write(b, 0, 0x200013FC, 0xAAAA03FC);
    mem_write(b, 0, 0x20001400, 0xAAAA0400);
    ap_write(b, 0, 0x00, 0x23000012);
    ap_write(b, 0, 0x04, 0x200013FC);
    assert_int_equal(ap_read(b, 0, 0x0C), 0xAAAA03FC);
    assert_int_equal(ap_read(b, 0, 0x04), 0x20001000);
    assert_int_equal(ap_read(b, 0, 0x0C), 0xAAAA0000);
    board_free(b);
}

static void no_increment_leaves_tar_alone(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    ap_write(b, 0, 0x00, 0x23000002);
    ap_write(b, 0, 0x04, 0x20001000);
    ap_read(b, 0, 0x0C);
    assert_int_equal(ap_read(b, 0, 0x04), 0x20001000);
    board_free(b);
}

static void byte_lanes_and_packed_transfers(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, 0x20001000, 0x44332211);
    ap_write(b, 0, 0x00, 0x23000010); /* bytes, single increment */
    ap_write(b, 0, 0x04, 0x20001001);
    assert_int_equal(ap_read(b, 0, 0x0C), 0x00002200);
    assert_int_equal(ap_read(b, 0, 0x0C), 0x00330000);
    ap_write(b, 0, 0x0C, 0xEE000000);
    assert_int_equal(ap_read(b, 0, 0x04), 0x20001004);
    assert_int_equal(mem_read(b, 0, 0x20001000), 0xEE332211);
    ap_write(b, 0, 0x00, 0x23000021); /* halfwords, packed: two beats a transfer */
    ap_write(b, 0, 0x04, 0x20001000);
    ap_write(b, 0, 0x0C, 0x0BAD0CAF);
    assert_int_equal(ap_read(b, 0, 0x04), 0x20001004);
    assert_int_equal(mem_read(b, 0, 0x20001000), 0x0BAD0CAF);
    ap_write(b, 0, 0x00, 0x23000020); /* bytes, packed: four */
    ap_write(b, 0, 0x04, 0x20001000);
    assert_int_equal(ap_read(b, 0, 0x0C), 0x0BAD0CAF);
    assert_int_equal(ap_read(b, 0, 0x04), 0x20001004);
    board_free(b);
}

static void banked_data_registers_reach_four_words(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    ap_write(b, 0, 0x00, 0x23000012);
    ap_write(b, 0, 0x04, 0x20001004);
    for (unsigned n = 0; n < 4; n++)
        ap_write(b, 0, 0x10 + 4 * n, 0x50 + n);
    assert_int_equal(ap_read(b, 0, 0x04), 0x20001004);
    assert_int_equal(ap_read(b, 0, 0x1C), 0x53);
    for (unsigned n = 0; n < 4; n++)
        assert_int_equal(mem_read(b, 0, 0x20001000 + 4 * n), 0x50 + n);
    board_free(b);
}

static void csw_is_readable_and_keeps_to_what_exists(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    board_reset(b);
    dp_power_up(b);
    assert_int_equal(ap_read(b, 0, 0x00), 0x23000052);
    ap_write(b, 0, 0x00, 0xA3000033);
    assert_int_equal(ap_read(b, 0, 0x00), 0xA3000042); /* no double words, no fourth kind of increment */
    board_free(b);
}

static void only_two_access_ports_exist(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    for (unsigned ap = 0; ap < 256; ap++) {
        assert_int_equal(ap_read(b, ap, 0xFC), ap < 2 ? 0x84770001u : 0);
        assert_int_equal(ap_read(b, ap, 0xF8), ap < 2 ? 0xE00FF003u : 0);
    }
    ap_write(b, 7, 0x0C, 1);
    assert_int_equal(ap_read(b, 7, 0x0C), 0);
    board_free(b);
}

static void bus_errors_where_the_core_would_fault(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_read_fails(b, 0, 0x10000000);
    mem_write_fails(b, 0, BOARD_FLASH_BASE, 0);
    mem_write_fails(b, 1, BOARD_FLASH_ALIAS, 0);
    mem_read_fails(b, 0, BOARD_SRAM_BASE + BOARD_SRAM_SIZE);
    mem_read_fails(b, 0, 0xE0050000);
    mem_read_fails(b, 0, 0x40000000);
    ap_write(b, 0, 0x00, 0x23000000); /* a byte of a peripheral */
    ap_write(b, 0, 0x04, BOARD_SYSINFO_BASE);
    uint32_t v = 0;
    assert_int_equal(board_dap_transfer(b, true, true, 0xC, &v), OK);
    assert_int_equal(transfer(b, false, true, 0xC, 0), FAULT);
    board_free(b);
}

static void ports_see_their_own_core(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    for (unsigned ap = 0; ap < 2; ap++) {
        assert_int_equal(mem_read(b, ap, BOARD_SYSINFO_BASE + BOARD_SYSINFO_CORE), ap);
        assert_int_equal(mem_read(b, ap, 0xE000ED00u), 0x411FC272);
    }
    assert_int_not_equal(mem_read(b, 0, BOARD_FLASH_BASE), mem_read(b, 1, BOARD_FLASH_BASE));
    assert_int_equal(mem_read(b, 0, BOARD_FLASH_BASE), mem_read(b, 0, BOARD_FLASH_ALIAS));
    mem_write(b, 0, 0x20040000, 0x1234);
    assert_int_equal(mem_read(b, 1, 0x20040000), 0x1234);
    board_free(b);
}

static void memory_is_reachable_while_the_core_runs(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    uint32_t first = mem_read(b, 0, CELL);
    uint32_t second = mem_read(b, 0, CELL);
    assert_true(second > first);
    assert_false(is_halted(b, 0));
    board_free(b);
}

static void a_transfer_lets_46_wire_clocks_pass(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    uint64_t clocks = board_wire_clocks(b);
    uint64_t tick = board_tick(b);
    dp_read(b, 0x0);
    assert_int_equal(board_wire_clocks(b) - clocks, 46);
    assert_int_equal(board_tick(b) - tick, 46 * 25); /* 100 MHz, 4 MHz */
    board_dap_idle(b, 4);
    assert_int_equal(board_tick(b) - tick, 50 * 25);
    board_free(b);
}

static void wire_clocks_that_do_not_divide_add_up(void **state)
{
    (void)state;
    struct board_config c = {.core_hz = {1000000, 1000000}, .swclk_hz = 3000000};
    struct board *b = board_new(&c, NULL);
    for (unsigned n = 0; n < 3; n++)
        board_dap_idle(b, 1);
    assert_int_equal(board_tick(b), 1);
    board_dap_idle(b, 3000000ull * 5);
    assert_int_equal(board_tick(b), 5000001);
    board_free(b);
}

static unsigned every_other_waits(void *ctx, bool ap, bool read, uint8_t addr)
{
    unsigned *n = ctx;
    (void)read;
    (void)addr;
    return ap && (*n)++ % 2 == 0 ? WAIT : 0;
}

static void injected_answers_leave_the_board_alone(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    unsigned n = 0;
    ap_write(b, 0, 0x00, 0x23000012);
    ap_write(b, 0, 0x04, 0x20001000);
    board_dap_inject(b, every_other_waits, &n);
    assert_int_equal(transfer(b, true, false, 0xC, 0x77), WAIT);
    assert_int_equal(transfer(b, true, false, 0xC, 0x88), OK);
    board_dap_inject(b, NULL, NULL);
    assert_int_equal(mem_read(b, 0, 0x20001000), 0x88);
    assert_int_equal(mem_read(b, 0, 0x20001004), 0);
    board_free(b);
}

static void bus_log_keeps_what_the_ports_did(void **state)
{
    (void)state;
    struct board_config c = {.log_accesses = true};
    struct board *b = board_counting(&c, NULL);
    const struct board_bus_record *r = NULL;
    size_t before = board_bus_log(b, &r);
    mem_write(b, 1, 0x20001000, 0xABCD);
    mem_read(b, 0, 0x20001000);
    assert_int_equal(board_bus_log(b, &r), before + 2);
    r += before;
    assert_true(r[0].write && r[0].ap == 1 && r[0].address == 0x20001000 && r[0].value == 0xABCD &&
                r[0].size == 4);
    assert_true(!r[1].write && r[1].ap == 0 && r[1].value == 0xABCD && r[1].tick > r[0].tick);
    assert_int_equal(board_log_dropped(b, true), 0);
    board_free(b);
}

static uint32_t cidr(struct board *b, uint32_t base)
{
    uint32_t id = 0;
    for (unsigned n = 0; n < 4; n++)
        id |= (mem_read(b, 0, base + 0xFF0 + 4 * n) & 0xFFu) << 8 * n;
    return id;
}

static uint32_t part(struct board *b, uint32_t base)
{
    return (mem_read(b, 0, base + 0xFE0) & 0xFFu) | (mem_read(b, 0, base + 0xFE4) & 0xFu) << 8;
}

static void rom_table_leads_to_every_component(void **state)
{
    (void)state;
    static const struct {
        uint32_t address, part, cidr;
    } expected[] = {{BOARD_SCS_BASE, 0x00C, 0xB105E00D},
                    {BOARD_DWT_BASE, 0x002, 0xB105E00D},
                    {BOARD_FPB_BASE, 0x00E, 0xB105E00D},
                    {BOARD_ITM_BASE, 0x001, 0xB105E00D},
                    {BOARD_CTI_BASE, 0x906, 0xB105900D}};
    struct board *b = board_counting(NULL, NULL);
    assert_int_equal(cidr(b, BOARD_ROM_BASE), 0xB105100D);
    assert_int_equal(mem_read(b, 0, BOARD_ROM_BASE + 0xFCC) & 1u, 1);
    for (unsigned n = 0; n < 5; n++) {
        uint32_t entry = mem_read(b, 0, BOARD_ROM_BASE + 4 * n);
        assert_int_equal(entry & 3u, 3);
        uint32_t address = BOARD_ROM_BASE + (entry & 0xFFFFF000u);
        assert_int_equal(address, expected[n].address);
        assert_int_equal(part(b, address), expected[n].part);
        assert_int_equal(cidr(b, address), expected[n].cidr);
        assert_int_equal(mem_read(b, 0, address + 0xFD0) & 0xFu, 4); /* designer Arm */
        assert_int_equal(mem_read(b, 0, address + 0xFE4) >> 4, 0xB);
        assert_int_equal(mem_read(b, 0, address + 0xFE8) & 0xFu, 0xB);
    }
    assert_int_equal(mem_read(b, 0, BOARD_ROM_BASE + 4 * 5), 0);
    board_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dpidr_is_a_version_2_port),
        cmocka_unit_test(power_up_acknowledges_what_is_requested),
        cmocka_unit_test(ap_access_without_power_is_a_sticky_fault),
        cmocka_unit_test(during_fault_only_three_registers_answer),
        cmocka_unit_test(ap_reads_are_posted),
        cmocka_unit_test(address_increment_wraps_at_1_kib),
        cmocka_unit_test(no_increment_leaves_tar_alone),
        cmocka_unit_test(byte_lanes_and_packed_transfers),
        cmocka_unit_test(banked_data_registers_reach_four_words),
        cmocka_unit_test(csw_is_readable_and_keeps_to_what_exists),
        cmocka_unit_test(only_two_access_ports_exist),
        cmocka_unit_test(bus_errors_where_the_core_would_fault),
        cmocka_unit_test(ports_see_their_own_core),
        cmocka_unit_test(memory_is_reachable_while_the_core_runs),
        cmocka_unit_test(a_transfer_lets_46_wire_clocks_pass),
        cmocka_unit_test(wire_clocks_that_do_not_divide_add_up),
        cmocka_unit_test(injected_answers_leave_the_board_alone),
        cmocka_unit_test(bus_log_keeps_what_the_ports_did),
        cmocka_unit_test(rom_table_leads_to_every_component),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
