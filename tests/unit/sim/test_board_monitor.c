/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debugging without halting: breakpoints, watchpoints, requests and steps that become DebugMonitor exceptions
 * (DDI0403E C1.5, DEMCR), on the cores that have it.
 */
#include "board_fixture.h"

#define MON_EN   (1u << 16)
#define MON_PEND (1u << 17)
#define MON_STEP (1u << 18)
#define TRCENA   (1u << 24)
#define HANDLED  (CELL + 8) /* what the handler counts */
#define SHPR3    0xE000ED20u

#define DFSR_HALTED 1u
#define DFSR_BKPT   2u
#define DFSR_DWT    4u

/* Core 0 counts at CELL, three instructions a round, and its DebugMonitor handler at HANDLED. *loop as in
 * program_counter. */
static struct board *monitored(enum board_identity identity, uint32_t *loop, bool basepri)
{
    struct board_config config = {.identity = {identity, identity}};
    struct board *b = board_counting(&config, NULL);
    struct program p = {.small = identity == BOARD_M0PLUS};
    if (basepri) { /* MOVS r0, #0x40; MSR BASEPRI, r0 */
        program_op(&p, OP_MOVS(0u, 0x40u));
        program_op(&p, 0xF380u);
        program_op(&p, 0x8811u);
    }
    program_counter(&p, 0, loop);
    p.vector[12] = program_here(&p);
    program_mov32(&p, 2, HANDLED);
    program_op(&p, OP_LDR(3u, 2u, 0u));
    program_op(&p, OP_ADDS(3u, 1u));
    program_op(&p, OP_STR(3u, 2u, 0u));
    program_op(&p, OP_BX_LR);
    mem_write(b, 0, HANDLED, 0);
    load_program(b, 0, &p);
    return b;
}

static void a_breakpoint_is_a_debugmonitor_exception(void **state)
{
    static const enum board_identity ids[] = {BOARD_M7, BOARD_M4, BOARD_M33};
    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        uint32_t loop = 0;
        struct board *b = monitored(ids[k], &loop, false);
        mem_write(b, 0, DEMCR, MON_EN);
        breakpoint(b, 0, 0, loop);
        assert_false(is_halted(b, 0));
        assert_int_equal(mem_read(b, 0, DFSR), DFSR_BKPT);
        assert_true(mem_read(b, 0, HANDLED) > 1); /* it returns to the breakpoint, again and again */
        uint32_t counted = mem_read(b, 0, CELL);
        assert_int_equal(mem_read(b, 0, CELL), counted);
        mem_write(b, 0, BOARD_FPB_BASE, 2);
        assert_true(mem_read(b, 0, CELL) > counted);
        board_free(b);
    }
}

static void a_watchpoint_is_a_debugmonitor_exception(void **state)
{
    uint32_t loop = 0;
    struct board *b = monitored(BOARD_M7, &loop, false);
    (void)state;
    halt(b, 0);
    mem_write(b, 0, DFSR, 0x1F);
    mem_write(b, 0, DEMCR, MON_EN | TRCENA);
    mem_write(b, 0, BOARD_DWT_BASE + 0x20, CELL);
    mem_write(b, 0, BOARD_DWT_BASE + 0x24, 2);
    mem_write(b, 0, BOARD_DWT_BASE + 0x28, 6);
    uint32_t counted = mem_read(b, 0, CELL), handled = mem_read(b, 0, HANDLED);
    mem_write(b, 0, DHCSR, 0xA05F0000); /* C_DEBUGEN off: it runs */
    assert_int_equal(mem_read(b, 0, DFSR), DFSR_DWT);
    halt(b, 0);
    counted = mem_read(b, 0, CELL) - counted;
    handled = mem_read(b, 0, HANDLED) - handled;
    assert_true(counted > 100);
    assert_in_range(handled + 1, counted, counted + 1); /* one for each store, the last perhaps under way */
    board_free(b);
}

static void mon_step_is_an_exception_after_every_instruction(void **state)
{
    static const enum board_identity ids[] = {BOARD_M7, BOARD_M33};
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        uint32_t loop = 0;
        struct board *b = monitored(ids[k], &loop, false);
        mem_write(b, 0, DEMCR, MON_EN | MON_STEP);
        uint32_t handled = mem_read(b, 0, HANDLED), counted = mem_read(b, 0, CELL);
        board_run_until(b, board_tick(b) + 60000);
        handled = mem_read(b, 0, HANDLED) - handled;
        counted = mem_read(b, 0, CELL) - counted;
        /* Three instructions a round; between the two readings some more pass. */
        assert_true(counted > 300);
        assert_in_range(handled, 3 * counted - 150, 3 * counted + 150);
        assert_int_equal(mem_read(b, 0, DFSR), DFSR_HALTED);
        board_free(b);
    }
}

static void mon_step_waits_where_debugmonitor_may_not_be_taken(void **state)
{
    uint32_t loop = 0;
    struct board *b = monitored(BOARD_M7, &loop, true);
    (void)state;
    mem_write(b, 0, 0xE000ED30, 0x1F);
    mem_write(b, 0, SHPR3, 0x80); /* DebugMonitor below BASEPRI */
    mem_write(b, 0, DEMCR, MON_EN | MON_STEP);
    uint32_t counted = mem_read(b, 0, CELL);
    assert_true(mem_read(b, 0, CELL) > counted);
    assert_int_equal(mem_read(b, 0, HANDLED), 0);
    assert_int_equal(mem_read(b, 0, DEMCR) & MON_PEND, 0);
    assert_int_equal(mem_read(b, 0, DFSR), 0);
    mem_write(b, 0, SHPR3, 0x20);
    mem_read(b, 0, CELL);
    assert_true(mem_read(b, 0, HANDLED) > 0);
    board_free(b);
}

static void halting_debug_goes_before_the_monitor(void **state)
{
    uint32_t loop = 0;
    struct board *b = monitored(BOARD_M7, &loop, false);
    (void)state;
    mem_write(b, 0, DHCSR, KEY_RUN);
    mem_write(b, 0, DEMCR, MON_EN | MON_STEP);
    breakpoint(b, 0, 0, loop);
    assert_true(is_halted(b, 0));
    assert_int_equal(mem_read(b, 0, HANDLED), 0);
    board_free(b);
}

static void mon_pend_is_taken_without_any_debug_event(void **state)
{
    uint32_t loop = 0;
    struct board *b = monitored(BOARD_M7, &loop, false);
    (void)state;
    mem_write(b, 0, DEMCR, MON_PEND);
    mem_read(b, 0, CELL);
    assert_int_equal(mem_read(b, 0, HANDLED), 1);
    assert_int_equal(mem_read(b, 0, DEMCR), 0);
    board_free(b);
}

static void an_m0plus_has_no_monitor(void **state)
{
    uint32_t loop = 0;
    struct board *b = monitored(BOARD_M0PLUS, &loop, false);
    (void)state;
    mem_write(b, 0, DEMCR, MON_EN | MON_PEND | MON_STEP);
    breakpoint(b, 0, 0, loop);
    uint32_t counted = mem_read(b, 0, CELL);
    assert_true(mem_read(b, 0, CELL) > counted);
    assert_int_equal(mem_read(b, 0, HANDLED), 0);
    assert_int_equal(mem_read(b, 0, DFSR), 0);
    board_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_breakpoint_is_a_debugmonitor_exception),
        cmocka_unit_test(a_watchpoint_is_a_debugmonitor_exception),
        cmocka_unit_test(mon_step_is_an_exception_after_every_instruction),
        cmocka_unit_test(mon_step_waits_where_debugmonitor_may_not_be_taken),
        cmocka_unit_test(halting_debug_goes_before_the_monitor),
        cmocka_unit_test(mon_pend_is_taken_without_any_debug_event),
        cmocka_unit_test(an_m0plus_has_no_monitor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
