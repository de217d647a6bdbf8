/* SPDX-License-Identifier: Apache-2.0 */
/* Halting, stepping, breakpoints, watchpoints, vector catch, counters: cross-trigger sheet 3, DDI0403E C1. */
#include "board_fixture.h"

#define DWT(offset) (BOARD_DWT_BASE + (offset))
#define TRCENA      (1u << 24)

#define BKPT    (1u << 1)
#define DWTTRAP (1u << 2)
#define VCATCH  (1u << 3)

static struct board *board_with(const struct program *p)
{
    struct board *b = board_counting(NULL, NULL);
    load_program(b, 0, p);
    return b;
}

static void halt_needs_the_key(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, DHCSR, 0x00000003u);
    assert_int_equal(mem_read(b, 0, DHCSR) & 3u, 0);
    halt(b, 0);
    mem_write(b, 0, DHCSR, 0x12340001u);
    assert_true(is_halted(b, 0));
    board_free(b);
}

static void halt_and_resume_are_logged(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    const struct board_record *r = NULL;
    halt(b, 0);
    assert_int_equal(mem_read(b, 0, DFSR), 1);
    uint32_t pc = core_register(b, 0, 15);
    uint32_t cell = mem_read(b, 0, CELL);
    assert_int_equal(mem_read(b, 0, CELL), cell);
    resume(b, 0);
    assert_int_equal(mem_read(b, 0, DHCSR) & 3u, 1);
    assert_true(mem_read(b, 0, CELL) > cell);
    assert_int_equal(board_log(b, &r), 2);
    assert_true(r[0].halted && r[0].core == 0 && r[0].pc == pc && r[0].dfsr == 1);
    assert_true(!r[1].halted && r[1].core == 0 && r[1].pc == pc && r[1].tick > r[0].tick);
    board_free(b);
}

static void dfsr_is_write_1_to_clear(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    halt(b, 0);
    mem_write(b, 0, DFSR, 0x1E);
    assert_int_equal(mem_read(b, 0, DFSR), 1);
    mem_write(b, 0, DFSR, 1);
    assert_int_equal(mem_read(b, 0, DFSR), 0);
    board_free(b);
}

static void sticky_bits_clear_when_read(void **state)
{
    (void)state;
    const uint32_t retire = 1u << 24, reset = 1u << 25;
    struct board *b = board_counting(NULL, NULL);
    assert_int_equal(mem_read(b, 0, DHCSR) & (retire | reset), retire | reset);
    assert_int_equal(mem_read(b, 0, DHCSR) & (retire | reset), retire);
    halt(b, 0);
    mem_read(b, 0, DHCSR);
    assert_int_equal(mem_read(b, 0, DHCSR) & (retire | reset), 0);
    board_free(b);
}

static void registers_go_through_dcrsr(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    halt(b, 0);
    for (unsigned n = 0; n <= 12; n++)
        set_core_register(b, 0, n, 0x1000 + n);
    for (unsigned n = 0; n <= 12; n++)
        assert_int_equal(core_register(b, 0, n), 0x1000 + n);
    set_core_register(b, 0, 18, 0x20000800);
    assert_int_equal(core_register(b, 0, 18), 0x20000800);
    assert_int_equal(core_register(b, 0, 13), core_register(b, 0, 17));
    assert_int_equal(core_register(b, 0, 16) >> 24 & 1u, 1); /* T */
    board_free(b);
}

static void dcrsr_does_nothing_while_running(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, DHCSR, KEY_RUN);
    set_core_register(b, 0, 1, 0);
    mem_write(b, 0, DCRDR, 0x5555);
    mem_write(b, 0, DCRSR, 1);
    assert_int_equal(mem_read(b, 0, DCRDR), 0x5555);
    uint32_t cell = mem_read(b, 0, CELL);
    assert_true(mem_read(b, 0, CELL) > cell);
    board_free(b);
}

static void step_executes_one_instruction(void **state)
{
    (void)state;
    uint32_t loop = 0;
    struct board *b = board_counting(NULL, &loop);
    halt(b, 0);
    mem_write(b, 0, DHCSR, KEY_HALT);
    for (unsigned n = 0; n < 6; n++) {
        uint32_t pc = core_register(b, 0, 15);
        uint32_t next = pc == loop + 4 ? loop : pc + 2;
        step(b, 0);
        assert_int_equal(core_register(b, 0, 15), next);
        assert_int_equal(mem_read(b, 0, DFSR), 1);
    }
    board_free(b);
}

static void step_enters_a_pending_exception_unless_masked(void **state)
{
    (void)state;
    struct program p = {0};
    uint32_t loop = 0;
    program_counter(&p, 0, &loop);
    p.vector[15] = program_here(&p); /* SysTick */
    program_op(&p, OP_NOP);
    program_op(&p, OP_BX_LR);
    struct board *b = board_with(&p);
    halt(b, 0);
    mem_write(b, 0, DHCSR, 0xA05F000Bu); /* C_MASKINTS, in a separate access */
    mem_write(b, 0, 0xE000ED04u, 1u << 26);
    uint32_t pc = core_register(b, 0, 15);
    mem_write(b, 0, DHCSR, 0xA05F000Du);
    assert_true(is_halted(b, 0));
    assert_int_equal(core_register(b, 0, 15), pc == loop + 4 ? loop : pc + 2);
    mem_write(b, 0, DHCSR, KEY_HALT);
    step(b, 0);
    assert_int_equal(core_register(b, 0, 15), p.vector[15]); /* the handler, not yet executed */
    assert_int_equal(core_register(b, 0, 16) & 0x1FFu, 15);
    board_free(b);
}

static void maskints_changes_only_in_debug_state(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, DHCSR, 0xA05F0009u);
    assert_int_equal(mem_read(b, 0, DHCSR) & 0xFu, 1);
    halt(b, 0);
    mem_write(b, 0, DHCSR, 0xA05F000Bu);
    mem_write(b, 0, DHCSR, 0xA05F0009u);
    assert_int_equal(mem_read(b, 0, DHCSR) & 0xFu, 9);
    board_free(b);
}

static void breakpoint_halts_before_execution(void **state)
{
    (void)state;
    uint32_t loop = 0;
    struct board *b = board_counting(NULL, &loop);
    assert_int_equal(mem_read(b, 0, BOARD_FPB_BASE), 0x10000080);
    mem_write(b, 0, DHCSR, KEY_RUN);
    for (unsigned n = 0; n < 8; n++) {
        mem_write(b, 0, DFSR, 0x1F);
        breakpoint(b, 0, n, loop + 2);
        assert_true(is_halted(b, 0));
        assert_int_equal(core_register(b, 0, 15), loop + 2);
        assert_int_equal(mem_read(b, 0, DFSR), BKPT);
        assert_int_equal(core_register(b, 0, 0), mem_read(b, 0, CELL) + 1); /* added, not yet stored */
        mem_write(b, 0, BOARD_FPB_BASE + 8 + 4 * n, 0);
        resume(b, 0);
        assert_false(is_halted(b, 0));
    }
    board_free(b);
}

static void breakpoint_at_the_pc_stops_again_at_once(void **state)
{
    (void)state;
    uint32_t loop = 0;
    struct board *b = board_counting(NULL, &loop);
    mem_write(b, 0, DHCSR, KEY_RUN);
    breakpoint(b, 0, 3, loop);
    assert_true(is_halted(b, 0));
    uint32_t count = core_register(b, 0, 0);
    resume(b, 0);
    assert_true(is_halted(b, 0));
    assert_int_equal(core_register(b, 0, 0), count);
    board_free(b);
}

static void pending_exception_goes_before_a_breakpoint(void **state)
{
    (void)state;
    struct program p = {0};
    uint32_t loop = 0;
    program_counter(&p, 0, &loop);
    p.vector[15] = program_here(&p);
    program_store(&p, CELL + 8, 0x15);
    program_op(&p, OP_BX_LR);
    struct board *b = board_with(&p);
    mem_write(b, 0, DHCSR, KEY_RUN);
    breakpoint(b, 0, 0, loop);
    assert_true(is_halted(b, 0));
    mem_write(b, 0, 0xE000ED04u, 1u << 26); /* SysTick pends */
    resume(b, 0);
    assert_true(is_halted(b, 0)); /* at the breakpoint again, but the handler came first */
    assert_int_equal(core_register(b, 0, 15), loop);
    assert_int_equal(mem_read(b, 0, CELL + 8), 0x15);
    board_free(b);
}

static void breakpoint_unit_off_or_without_key(void **state)
{
    (void)state;
    uint32_t loop = 0;
    struct board *b = board_counting(NULL, &loop);
    mem_write(b, 0, DHCSR, KEY_RUN);
    mem_write(b, 0, BOARD_FPB_BASE + 8, loop | 1u);
    mem_write(b, 0, BOARD_FPB_BASE, 1); /* no key */
    assert_false(is_halted(b, 0));
    mem_write(b, 0, BOARD_FPB_BASE, 3);
    assert_true(is_halted(b, 0));
    board_free(b);
}

static void breakpoint_without_c_debugen_is_ignored(void **state)
{
    (void)state;
    uint32_t loop = 0;
    struct board *b = board_counting(NULL, &loop);
    breakpoint(b, 0, 0, loop);
    uint32_t cell = mem_read(b, 0, CELL);
    assert_true(mem_read(b, 0, CELL) > cell);
    assert_int_equal(mem_read(b, 0, DFSR), 0);
    board_free(b);
}

static void bkpt_instruction_stops_on_itself(void **state)
{
    (void)state;
    struct program p = {0};
    program_op(&p, OP_NOP);
    program_op(&p, OP_BKPT);
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, DHCSR, KEY_RUN);
    load_program(b, 0, &p);
    assert_true(is_halted(b, 0));
    assert_int_equal(core_register(b, 0, 15), CODE_BASE + 2);
    assert_int_equal(mem_read(b, 0, DFSR), BKPT);
    resume(b, 0);
    assert_true(is_halted(b, 0));
    assert_int_equal(core_register(b, 0, 15), CODE_BASE + 2);
    board_free(b);
}

static void bkpt_instruction_without_debugger_is_a_hardfault(void **state)
{
    (void)state;
    struct program p = {0};
    program_op(&p, OP_BKPT);
    p.vector[3] = program_here(&p);
    program_store(&p, CELL, 0xFA);
    struct board *b = board_with(&p);
    assert_int_equal(mem_read(b, 0, CELL), 0xFA);
    assert_int_equal(mem_read(b, 0, 0xE000ED2Cu) >> 31, 1); /* HFSR.DEBUGEVT */
    board_free(b);
}

static void watchpoint(struct board *b, unsigned n, uint32_t address, uint32_t mask, uint32_t function)
{
    mem_write(b, 0, DEMCR, TRCENA);
    mem_write(b, 0, DWT(0x28 + 16 * n), 0); /* the old and the new half must not match together */
    mem_write(b, 0, DWT(0x20 + 16 * n), address);
    mem_write(b, 0, DWT(0x24 + 16 * n), mask);
    mem_write(b, 0, DWT(0x28 + 16 * n), function);
}

static void watchpoint_halts_after_the_access(void **state)
{
    (void)state;
    uint32_t loop = 0;
    struct board *b = board_counting(NULL, &loop);
    assert_int_equal(mem_read(b, 0, DWT(0)) >> 28, 4);
    mem_write(b, 0, DHCSR, KEY_RUN);
    for (unsigned n = 0; n < 4; n++) {
        watchpoint(b, n, CELL, 0, 5); /* reads only: nobody reads it */
        assert_false(is_halted(b, 0));
        watchpoint(b, n, CELL, 0, 6);
        assert_true(is_halted(b, 0));
        assert_int_equal(mem_read(b, 0, DFSR), DWTTRAP);
        assert_int_equal(core_register(b, 0, 15), loop + 4);
        assert_int_equal(mem_read(b, 0, CELL), core_register(b, 0, 0));
        assert_int_equal(mem_read(b, 0, DWT(0x28 + 16 * n)), 1u << 24 | 6u); /* MATCHED, cleared by reading */
        assert_int_equal(mem_read(b, 0, DWT(0x28 + 16 * n)), 6);
        mem_write(b, 0, DWT(0x28 + 16 * n), 0);
        resume(b, 0);
        assert_false(is_halted(b, 0));
    }
    board_free(b);
}

static void watchpoint_reads_and_blocks(void **state)
{
    (void)state;
    struct program p = {0};
    program_mov32(&p, 1, CELL);
    uint32_t loop = program_here(&p);
    program_op(&p, OP_LDR(0u, 1u, 12u));
    program_branch(&p, loop);
    struct board *b = board_with(&p);
    mem_write(b, 0, DHCSR, KEY_RUN);
    watchpoint(b, 0, CELL, 4, 6); /* writes only */
    assert_false(is_halted(b, 0));
    watchpoint(b, 0, CELL, 3, 7); /* eight bytes: one short */
    assert_false(is_halted(b, 0));
    watchpoint(b, 0, CELL + 8, 2, 7); /* four, up to the word that is read */
    assert_false(is_halted(b, 0));
    watchpoint(b, 0, CELL + 16, 2, 7); /* four, right behind it */
    assert_false(is_halted(b, 0));
    watchpoint(b, 0, CELL + 8, 4, 7); /* sixteen: the low bits of the address do not count */
    assert_true(is_halted(b, 0));
    mem_write(b, 0, DWT(0x28), 0);
    resume(b, 0);
    watchpoint(b, 1, CELL + 12, 0, 5);
    assert_true(is_halted(b, 0));
    board_free(b);
}

static void watchpoint_needs_trcena(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, DHCSR, KEY_RUN);
    mem_write(b, 0, DWT(0x20), CELL);
    mem_write(b, 0, DWT(0x28), 6);
    assert_false(is_halted(b, 0));
    mem_write(b, 0, DEMCR, TRCENA);
    assert_true(is_halted(b, 0));
    board_free(b);
}

static void watchpoint_does_not_see_the_debugger(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, DHCSR, KEY_RUN);
    watchpoint(b, 0, CELL + 0x40, 0, 7);
    mem_write(b, 0, CELL + 0x40, 1);
    mem_read(b, 0, CELL + 0x40);
    assert_false(is_halted(b, 0));
    board_free(b);
}

static void pc_match_halts_after_the_instruction(void **state)
{
    (void)state;
    uint32_t loop = 0;
    struct board *b = board_counting(NULL, &loop);
    mem_write(b, 0, DHCSR, KEY_RUN);
    watchpoint(b, 2, loop + 2, 0, 4);
    assert_true(is_halted(b, 0));
    assert_int_equal(core_register(b, 0, 15), loop + 4);
    assert_int_equal(mem_read(b, 0, DFSR), DWTTRAP);
    board_free(b);
}

static void vector_catch_of_a_fault(void **state)
{
    (void)state;
    struct program p = {0};
    p.vector[3] = CODE_BASE + 0x80;
    program_op(&p, OP_UDF);
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, DHCSR, KEY_RUN);
    mem_write(b, 0, DEMCR, 1u << 10);
    load_program(b, 0, &p);
    assert_true(is_halted(b, 0));
    assert_int_equal(core_register(b, 0, 15), CODE_BASE + 0x80);
    assert_int_equal(mem_read(b, 0, DFSR), VCATCH);
    board_free(b);
}

static void vector_catch_of_a_usage_fault_by_kind(void **state)
{
    (void)state;
    struct program p = {0};
    p.vector[6] = CODE_BASE + 0x80;
    program_store(&p, 0xE000ED24u, 1u << 18); /* SHCSR.USGFAULTENA */
    program_op(&p, OP_UDF);
    for (unsigned caught = 0; caught < 2; caught++) {
        struct board *b = board_counting(NULL, NULL);
        mem_write(b, 0, DHCSR, KEY_RUN);
        mem_write(b, 0, DEMCR, caught ? 1u << 7 : 1u << 6); /* STATERR; CHKERR is another kind */
        load_program(b, 0, &p);
        assert_int_equal(is_halted(b, 0), caught);
        board_free(b);
    }
}

static void vector_catch_of_core_reset(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, DHCSR, KEY_RUN);
    mem_write(b, 0, DEMCR, 1);
    mem_write(b, 0, AIRCR, 0x05FA0004);
    assert_true(is_halted(b, 0));
    assert_int_equal(core_register(b, 0, 15), CODE_BASE);
    assert_int_equal(mem_read(b, 0, DFSR), VCATCH);
    assert_false(is_halted(b, 1)); /* reset as well, but not told to stop */
    assert_int_equal(mem_read(b, 1, DHCSR) >> 25 & 1u, 0);
    board_free(b);
}

static void reset_of_a_halted_core_lets_it_run(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    const struct board_record *r = NULL;
    halt(b, 0);
    mem_write(b, 0, AIRCR, 0x05FA0004);
    assert_false(is_halted(b, 0));
    size_t n = board_log(b, &r);
    assert_int_equal(n, 2);
    assert_true(!r[1].halted && r[1].pc == CODE_BASE);
    board_free(b);
}

static void vectreset_is_this_core_alone(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, DHCSR, KEY_RUN);
    halt(b, 1);
    mem_write(b, 0, DEMCR, 1);
    set_core_register(b, 1, 1, 5);
    mem_write(b, 0, AIRCR, 0x05FA0001);
    assert_true(is_halted(b, 0));
    assert_int_equal(core_register(b, 0, 15), CODE_BASE);
    assert_int_equal(core_register(b, 1, 1), 5);
    assert_true(is_halted(b, 1));
    board_free(b);
}

static void vectreset_from_a_program_does_nothing(void **state)
{
    (void)state;
    struct program p = {0};
    program_store(&p, AIRCR, 0x05FA0001);
    program_store(&p, CELL, 0x99);
    struct board *b = board_with(&p);
    assert_int_equal(mem_read(b, 0, CELL), 0x99);
    mem_read(b, 0, DHCSR);
    assert_int_equal(mem_read(b, 0, DHCSR) >> 25 & 1u, 0);
    board_free(b);
}

static void sysresetreq_from_a_program_resets_both_cores(void **state)
{
    (void)state;
    struct program p = {0};
    program_mov32(&p, 1, CELL);
    program_op(&p, OP_LDR(0u, 1u, 0u));
    program_op(&p, OP_ADDS(0u, 1u));
    program_op(&p, OP_STR(0u, 1u, 0u));
    program_store(&p, AIRCR, 0x05FA0004);
    struct board *b = board_counting(NULL, NULL);
    halt(b, 0);
    mem_write(b, 0, CELL, 0);
    load_program(b, 0, &p);
    board_run_until(b, board_tick(b) + 10000);
    assert_true(mem_read(b, 0, CELL) > 100); /* SRAM is kept, the program starts again and again */
    mem_read(b, 1, DHCSR);
    assert_int_equal(mem_read(b, 1, DHCSR) >> 25 & 1u, 1);
    board_free(b);
}

static void sleeping_core_halts_and_goes_on(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 2; n++) {
        struct program p = {0};
        program_op(&p, n ? OP_WFE : OP_WFI);
        uint32_t after = program_here(&p);
        program_store(&p, CELL, 0x77);
        struct board *b = board_with(&p);
        mem_write(b, 0, DHCSR, KEY_RUN);
        assert_int_equal(mem_read(b, 0, DHCSR) & S_SLEEP, S_SLEEP);
        mem_write(b, 0, CELL, 0);
        halt(b, 0);
        assert_int_equal(mem_read(b, 0, DHCSR) & S_SLEEP, 0);
        assert_int_equal(core_register(b, 0, 15), after);
        resume(b, 0);
        assert_int_equal(mem_read(b, 0, CELL), 0x77);
        board_free(b);
    }
}

static void slow_sleeping_core_does_not_halt_before_it_is_asked(void **state)
{
    (void)state;
    struct board_config c = {.core_hz = {100000000, 7000000}, .log_accesses = true};
    struct board *b = board_counting(&c, NULL);
    struct program p = {0};
    program_op(&p, OP_WFI);
    load_program(b, 1, &p);
    for (unsigned n = 0; n < 20; n++) {
        const struct board_record *log = NULL;
        const struct board_bus_record *bus = NULL;
        mem_write(b, 1, DHCSR, KEY_HALT);
        size_t accesses = board_bus_log(b, &bus);
        uint64_t asked = bus[accesses - 1].tick;
        assert_true(is_halted(b, 1));
        size_t changes = board_log(b, &log);
        uint64_t halted = log[changes - 1].tick;
        assert_in_range(halted - asked, 0, board_tick_hz(b) / 7000000 - 1); /* at its next clock edge */
        set_core_register(b, 1, 15, CODE_BASE);                             /* to sleep again */
        resume(b, 1);
        board_dap_idle(b, n);
    }
    board_free(b);
}

static void lockup_is_shown_and_halting_ends_it(void **state)
{
    (void)state;
    struct program p = {0};
    p.vector[3] = CODE_BASE + 2;
    program_op(&p, OP_UDF);
    program_op(&p, OP_UDF);
    struct board *b = board_with(&p);
    mem_write(b, 0, DHCSR, KEY_RUN);
    assert_int_equal(mem_read(b, 0, DHCSR) & S_LOCKUP, S_LOCKUP);
    halt(b, 0);
    assert_int_equal(mem_read(b, 0, DHCSR) & S_LOCKUP, 0);
    resume(b, 0);
    assert_int_equal(mem_read(b, 0, DHCSR) & S_LOCKUP, S_LOCKUP);
    board_free(b);
}

static void cyccnt_counts_core_cycles_and_stops_in_debug_state(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, DWT(0), 1);
    assert_int_equal(mem_read(b, 0, DWT(4)), mem_read(b, 0, DWT(4))); /* without TRCENA it stands */
    mem_write(b, 0, DEMCR, TRCENA);
    uint64_t tick = board_tick(b);
    uint32_t from = mem_read(b, 0, DWT(4));
    uint32_t to = mem_read(b, 0, DWT(4));
    /* Two equal accesses apart; an instruction here takes one cycle. */
    assert_int_equal(to - from, (board_tick(b) - tick) / 2);
    halt(b, 0);
    uint32_t still = mem_read(b, 0, DWT(4));
    assert_int_equal(mem_read(b, 0, DWT(4)), still);
    mem_write(b, 0, DWT(4), 1000);
    assert_int_equal(mem_read(b, 0, DWT(4)), 1000);
    step(b, 0);
    assert_int_equal(mem_read(b, 0, DWT(4)), 1001);
    board_free(b);
}

static void cyccnt_goes_on_in_sleep(void **state)
{
    (void)state;
    struct program p = {0};
    program_op(&p, OP_WFI);
    struct board *b = board_with(&p);
    mem_write(b, 0, DEMCR, TRCENA);
    mem_write(b, 0, DWT(0), 1);
    uint64_t tick = board_tick(b);
    uint32_t from = mem_read(b, 0, DWT(4));
    uint32_t to = mem_read(b, 0, DWT(4));
    assert_int_equal(to - from, (board_tick(b) - tick) / 2);
    board_free(b);
}

static void pcsr_samples_the_running_core(void **state)
{
    (void)state;
    uint32_t loop = 0;
    struct board *b = board_counting(NULL, &loop);
    mem_write(b, 0, DEMCR, TRCENA);
    for (unsigned n = 0; n < 16; n++)
        assert_in_range(mem_read(b, 0, DWT(0x1C)), loop, loop + 4);
    halt(b, 0);
    assert_int_equal(mem_read(b, 0, DWT(0x1C)), 0xFFFFFFFFu);
    board_free(b);
}

static void program_cannot_enable_debug(void **state)
{
    (void)state;
    struct program p = {0};
    program_store(&p, DHCSR, KEY_HALT);
    program_store(&p, CELL, 0x99);
    struct board *b = board_with(&p);
    assert_int_equal(mem_read(b, 0, CELL), 0x99);
    assert_int_equal(mem_read(b, 0, DHCSR) & 3u, 0);
    board_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halt_needs_the_key),
        cmocka_unit_test(halt_and_resume_are_logged),
        cmocka_unit_test(dfsr_is_write_1_to_clear),
        cmocka_unit_test(sticky_bits_clear_when_read),
        cmocka_unit_test(registers_go_through_dcrsr),
        cmocka_unit_test(dcrsr_does_nothing_while_running),
        cmocka_unit_test(step_executes_one_instruction),
        cmocka_unit_test(step_enters_a_pending_exception_unless_masked),
        cmocka_unit_test(maskints_changes_only_in_debug_state),
        cmocka_unit_test(breakpoint_halts_before_execution),
        cmocka_unit_test(breakpoint_at_the_pc_stops_again_at_once),
        cmocka_unit_test(pending_exception_goes_before_a_breakpoint),
        cmocka_unit_test(breakpoint_unit_off_or_without_key),
        cmocka_unit_test(breakpoint_without_c_debugen_is_ignored),
        cmocka_unit_test(bkpt_instruction_stops_on_itself),
        cmocka_unit_test(bkpt_instruction_without_debugger_is_a_hardfault),
        cmocka_unit_test(watchpoint_halts_after_the_access),
        cmocka_unit_test(watchpoint_reads_and_blocks),
        cmocka_unit_test(watchpoint_needs_trcena),
        cmocka_unit_test(watchpoint_does_not_see_the_debugger),
        cmocka_unit_test(pc_match_halts_after_the_instruction),
        cmocka_unit_test(vector_catch_of_a_fault),
        cmocka_unit_test(vector_catch_of_a_usage_fault_by_kind),
        cmocka_unit_test(vector_catch_of_core_reset),
        cmocka_unit_test(reset_of_a_halted_core_lets_it_run),
        cmocka_unit_test(vectreset_is_this_core_alone),
        cmocka_unit_test(vectreset_from_a_program_does_nothing),
        cmocka_unit_test(sysresetreq_from_a_program_resets_both_cores),
        cmocka_unit_test(sleeping_core_halts_and_goes_on),
        cmocka_unit_test(slow_sleeping_core_does_not_halt_before_it_is_asked),
        cmocka_unit_test(lockup_is_shown_and_halting_ends_it),
        cmocka_unit_test(cyccnt_counts_core_cycles_and_stops_in_debug_state),
        cmocka_unit_test(cyccnt_goes_on_in_sleep),
        cmocka_unit_test(pcsr_samples_the_running_core),
        cmocka_unit_test(program_cannot_enable_debug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
