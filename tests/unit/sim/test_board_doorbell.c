/* SPDX-License-Identifier: Apache-2.0 */
/* SYSINFO's scratch words and doorbell, as docs/board.md describes them. */
#include "board_fixture.h"

#define SCRATCH(n)      (BOARD_SYSINFO_BASE + BOARD_SYSINFO_SCRATCH(n))
#define DOORBELL        (BOARD_SYSINFO_BASE + BOARD_SYSINFO_DOORBELL)
#define DOORBELL_STATUS (BOARD_SYSINFO_BASE + BOARD_SYSINFO_DOORBELL_STATUS)
#define ISPR            0xE000E200u
#define ISER            0xE000E100u
#define LINE            (1u << BOARD_IRQ_DOORBELL)
#define SYSRESETREQ     0x05FA0004u
#define VECTRESET       0x05FA0001u

static void scratch_words_are_shared_by_all(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    struct program p = {0};
    for (unsigned n = 0; n < BOARD_SYSINFO_SCRATCH_COUNT; n++)
        assert_int_equal(mem_read(b, n % 2, SCRATCH(n)), 0);
    for (unsigned n = 0; n < BOARD_SYSINFO_SCRATCH_COUNT; n++)
        mem_write(b, n % 2, SCRATCH(n), 0xABCD0000u + n);
    for (unsigned n = 0; n < BOARD_SYSINFO_SCRATCH_COUNT; n++)
        assert_int_equal(mem_read(b, 1 - n % 2, SCRATCH(n)), 0xABCD0000u + n);
    /* The neighbours on both sides are no scratch words. */
    mem_write(b, 0, SCRATCH(0) - 4, 0xFFFFFFFF);
    mem_write(b, 0, SCRATCH(64), 0xFFFFFFFF);
    assert_int_equal(mem_read(b, 0, SCRATCH(0) - 4), 0);
    assert_int_equal(mem_read(b, 0, SCRATCH(64)), 0);
    assert_int_equal(mem_read(b, 0, SCRATCH(0)), 0xABCD0000u);
    assert_int_equal(mem_read(b, 0, SCRATCH(63)), 0xABCD0000u + 63);
    /* A core's own store. */
    program_store(&p, SCRATCH(11), 0x20044000);
    load_program(b, 1, &p); /* a reset of core 1 */
    board_run_until(b, board_tick(b) + 100);
    assert_int_equal(mem_read(b, 0, SCRATCH(11)), 0x20044000);
    assert_int_equal(mem_read(b, 0, SCRATCH(12)), 0xABCD0000u + 12);
    board_free(b);
}

static void a_ring_is_a_level_on_core_0_until_it_is_acknowledged(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    for (unsigned ap = 0; ap < BOARD_CORES; ap++) {
        assert_int_equal(mem_read(b, 0, ISPR) & LINE, 0);
        mem_write(b, ap, DOORBELL, 0); /* the value does not matter */
        assert_int_equal(mem_read(b, 1 - ap, DOORBELL_STATUS), 1);
        assert_int_equal(mem_read(b, 0, ISPR) & LINE, LINE);
        assert_int_equal(mem_read(b, 1, ISPR) & LINE, 0);
        mem_write(b, 0, DOORBELL_STATUS, 0xFFFFFFFE);
        assert_int_equal(mem_read(b, 0, DOORBELL_STATUS), 1);
        mem_write(b, 0, DOORBELL_STATUS, 1);
        assert_int_equal(mem_read(b, 0, DOORBELL_STATUS), 0);
        mem_write(b, 0, 0xE000E280u, LINE); /* ICPR: it had been pended */
        assert_int_equal(mem_read(b, 0, DOORBELL), 0);
    }
    board_free(b);
}

static void a_ring_wakes_core_0_and_comes_once(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    struct program p = {0};
    program_store(&p, ISER, LINE);
    uint32_t sleep = program_here(&p);
    program_op(&p, OP_WFI);
    program_branch(&p, sleep);
    p.vector[16 + BOARD_IRQ_DOORBELL] = program_here(&p);
    program_store(&p, DOORBELL_STATUS, 1);
    program_mov32(&p, 1, CELL);
    program_op(&p, OP_LDR(0u, 1u, 0u));
    program_op(&p, OP_ADDS(0u, 1u));
    program_op(&p, OP_STR(0u, 1u, 0u));
    program_op(&p, OP_BX_LR);
    halt(b, 0);
    load_program(b, 0, &p);
    mem_write(b, 0, CELL, 0);
    assert_int_equal(mem_read(b, 0, DHCSR) & S_SLEEP, S_SLEEP);
    for (uint32_t n = 1; n <= 5; n++) {
        mem_write(b, n % 2, DOORBELL, n);
        board_run_until(b, board_tick(b) + 100);
        assert_int_equal(mem_read(b, 0, CELL), n);
        assert_int_equal(mem_read(b, 0, DOORBELL_STATUS), 0);
        assert_int_equal(mem_read(b, 0, DHCSR) & S_SLEEP, S_SLEEP);
    }
    board_free(b);
}

static void a_reset_of_core_0_clears_them_and_one_of_core_1_does_not(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, SCRATCH(2), 1);
    mem_write(b, 0, DOORBELL, 1);
    mem_write(b, 1, AIRCR, VECTRESET);
    assert_int_equal(mem_read(b, 0, SCRATCH(2)), 1);
    assert_int_equal(mem_read(b, 0, DOORBELL_STATUS), 1);
    static const struct {
        unsigned ap;
        uint32_t request;
    } resets[] = {{0, VECTRESET}, {0, SYSRESETREQ}, {1, SYSRESETREQ}};
    for (unsigned n = 0; n < 3; n++) {
        mem_write(b, 0, SCRATCH(2), 1);
        mem_write(b, 0, DOORBELL, 1);
        mem_write(b, resets[n].ap, AIRCR, resets[n].request);
        assert_int_equal(mem_read(b, 0, SCRATCH(2)), 0);
        assert_int_equal(mem_read(b, 0, DOORBELL_STATUS), 0);
        assert_int_equal(mem_read(b, 0, ISPR) & LINE, 0);
    }
    mem_write(b, 0, SCRATCH(63), 1);
    mem_write(b, 0, DOORBELL, 1);
    board_reset(b);
    dp_power_up(b);
    assert_int_equal(mem_read(b, 0, SCRATCH(63)), 0);
    assert_int_equal(mem_read(b, 0, ISPR) & LINE, 0);
    board_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scratch_words_are_shared_by_all),
        cmocka_unit_test(a_ring_is_a_level_on_core_0_until_it_is_acknowledged),
        cmocka_unit_test(a_ring_wakes_core_0_and_comes_once),
        cmocka_unit_test(a_reset_of_core_0_clears_them_and_one_of_core_1_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
