/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debug port of version 3: SELECT as an address, SELECT1, BASEPTR, the root ROM table, access ports at
 * addresses. Cross-trigger sheet 2.1, 2.3, 2.4. And overruns, of either version.
 */
#include "board_fixture.h"

#define AP0 0x2000u
#define AP1 0x4000u

static struct board *board_v6(void)
{
    struct board_config config = {.adiv6 = true};
    return board_counting(&config, NULL);
}

/* A word of the debug port's address space. */
static uint32_t space_read(struct board *b, uint32_t address)
{
    uint32_t value = 0;
    dp_write(b, 0x8, address & ~0xFu);
    assert_int_equal(board_dap_transfer(b, true, true, address & 0xCu, &value), 1);
    return dp_read(b, 0xC);
}

static void space_write(struct board *b, uint32_t address, uint32_t value)
{
    dp_write(b, 0x8, address & ~0xFu);
    assert_int_equal(board_dap_transfer(b, true, false, address & 0xCu, &value), 1);
}

static uint32_t bank(struct board *b, unsigned n, uint8_t reg)
{
    dp_write(b, 0x8, n);
    return dp_read(b, reg);
}

static void identification(void **state)
{
    (void)state;
    struct board *b = board_v6();
    assert_int_equal(bank(b, 0, 0) >> 12 & 0xFu, 3);
    assert_int_equal(bank(b, 0, 0) & 0xFFFu, 0x477);
    assert_int_equal(bank(b, 1, 0) & 0x7Fu, 32); /* ASIZE */
    assert_int_equal(bank(b, 2, 0), 1);          /* BASEPTR0: valid, at 0 */
    assert_int_equal(bank(b, 3, 0), 0);
    assert_int_equal(bank(b, 0, 4) & 0xF0000000u, 0xF0000000u);
    board_free(b);
}

/* Of version 2 every bank of address 0 is DPIDR, and SELECT1 does not exist. */
static void version_2_is_as_it_was(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    for (unsigned n = 0; n < 4; n++)
        assert_int_equal(bank(b, n, 0), 0x6BA02477u);
    dp_write(b, 0x8, 5);
    dp_write(b, 0x4, 1);
    assert_int_equal(bank(b, 5, 4), 0);
    assert_int_equal(ap_read(b, 1, 0xFC), 0x84770001u);
    board_free(b);
}

static void root_table(void **state)
{
    (void)state;
    struct board *b = board_v6();
    assert_int_equal(space_read(b, 0x0), AP0 | 3u);
    assert_int_equal(space_read(b, 0x4), AP1 | 3u);
    assert_int_equal(space_read(b, 0x8), 0);
    assert_int_equal(space_read(b, 0x7FC), 0);
    assert_int_equal(space_read(b, 0xFBC), 0x47700AF7u);
    assert_int_equal(space_read(b, 0xFC8), 0); /* 32-bit entries */
    assert_int_equal(space_read(b, 0xFF4), 0x90);
    space_write(b, 0x0, 0);
    assert_int_equal(space_read(b, 0x0), AP0 | 3u);
    board_free(b);
}

static void access_ports(void **state)
{
    (void)state;
    struct board *b = board_v6();
    for (unsigned n = 0; n < 2; n++) {
        uint32_t ap = n ? AP1 : AP0;
        assert_int_equal(space_read(b, ap + 0xFBC), 0x47700A17u);
        assert_int_equal(space_read(b, ap + 0xDFC) >> 13 & 0xFu, 8); /* class MEM-AP */
        assert_int_equal(space_read(b, ap + 0xDF8), BOARD_ROM_BASE | 3u);
        assert_int_equal(space_read(b, ap + 0xDF4), 0); /* no large addresses */
        space_write(b, ap + 0xD00, 0x23000012);
        space_write(b, ap + 0xD04, BOARD_SYSINFO_BASE + BOARD_SYSINFO_CORE);
        assert_int_equal(space_read(b, ap + 0xD0C), n);
        assert_int_equal(space_read(b, ap + 0xD04), BOARD_SYSINFO_BASE + BOARD_SYSINFO_CORE + 4);
        assert_int_equal(space_read(b, ap + 0xD1C), 100000000u); /* BD3: CORE_HZ */
    }
    board_free(b);
}

static void direct_access_registers(void **state)
{
    (void)state;
    struct board *b = board_v6();
    space_write(b, AP1 + 0xD04, BOARD_SRAM_BASE + 0x8000);
    space_write(b, AP1 + 0x3FC, 0x12345678);
    assert_int_equal(space_read(b, AP1 + 0x3FC), 0x12345678);
    assert_int_equal(space_read(b, AP1 + 0xD04), BOARD_SRAM_BASE + 0x8000);
    space_write(b, AP0 + 0xD04, BOARD_SRAM_BASE + 0x83FC);
    assert_int_equal(space_read(b, AP0 + 0xD0C), 0x12345678);
    /* A bus fault is sticky here too. */
    uint32_t value = 0;
    space_write(b, AP1 + 0xD04, 0x60000000);
    dp_write(b, 0x8, AP1);
    assert_int_equal(board_dap_transfer(b, true, true, 0, &value), 1);
    assert_int_equal(board_dap_transfer(b, false, true, 0xC, &value), 4);
    dp_write(b, 0, 0x1E);
    board_free(b);
}

static void nothing_lies_elsewhere(void **state)
{
    (void)state;
    struct board *b = board_v6();
    static const uint32_t nowhere[] = {0x1000, 0x3DFC, 0x6DFC, 0x2DE8, 0xFFFFFFFC, 0x01000000, 0x2C00};
    for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
        space_write(b, nowhere[i], 1);
        assert_int_equal(space_read(b, nowhere[i]), 0);
    }
    dp_write(b, 0x8, 5); /* SELECT1: above 4 GiB there is nothing */
    dp_write(b, 0x4, 1);
    assert_int_equal(dp_read(b, 0x4), 1);
    assert_int_equal(space_read(b, AP0 + 0xDFC), 0);
    dp_write(b, 0x8, 5);
    dp_write(b, 0x4, 0);
    assert_int_not_equal(space_read(b, AP0 + 0xDFC), 0);
    board_free(b);
}

static void an_unpowered_port(void **state)
{
    (void)state;
    struct board_config config = {.adiv6 = true, .unpowered = {false, true}};
    struct board *b = board_counting(&config, NULL);
    static const uint32_t offsets[] = {0x000, 0xD00, 0xDFC, 0xFBC};
    uint32_t value = 0;
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        dp_write(b, 0x8, (AP1 + offsets[i]) & ~0xFu);
        assert_int_equal(board_dap_transfer(b, true, true, offsets[i] & 0xCu, &value), 1);
        assert_int_equal(board_dap_transfer(b, false, true, 0xC, &value), 4);
        dp_write(b, 0, 0x1E);
    }
    assert_int_equal(space_read(b, 0x4), AP1 | 3u); /* the table has power */
    board_free(b);
}

static void overrun_detection(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    uint32_t value = 0;
    board_dap_fault_next(b, 2, 1, 1); /* one is good, then one WAIT */
    dp_write(b, 0x8, 0);
    assert_int_equal(board_dap_transfer(b, true, true, 0, &value), 2);
    assert_int_equal(dp_read(b, 0x4) & 2u, 0); /* off: nothing is lost */
    dp_write(b, 0x4, 0x50000001);
    board_dap_fault_next(b, 2, 1, 0);
    assert_int_equal(board_dap_transfer(b, true, true, 0, &value), 2);
    assert_int_equal(dp_read(b, 0x4) & 2u, 2);
    assert_int_equal(board_dap_transfer(b, true, true, 0, &value), 4); /* everything behind it is refused */
    assert_int_equal(board_dap_transfer(b, false, true, 0xC, &value), 4);
    dp_write(b, 0x0, 0x04); /* another flag's clear does not help */
    assert_int_equal(dp_read(b, 0x4) & 2u, 2);
    dp_write(b, 0x0, 0x10);
    assert_int_equal(dp_read(b, 0x4) & 2u, 0);
    assert_int_equal(board_dap_transfer(b, true, true, 0, &value), 1);
    board_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identification),
        cmocka_unit_test(version_2_is_as_it_was),
        cmocka_unit_test(root_table),
        cmocka_unit_test(access_ports),
        cmocka_unit_test(direct_access_registers),
        cmocka_unit_test(nothing_lies_elsewhere),
        cmocka_unit_test(an_unpowered_port),
        cmocka_unit_test(overrun_detection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
