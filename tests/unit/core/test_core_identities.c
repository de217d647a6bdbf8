/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Cortex-M back end on each of the board's cores (Armv6-M, v7-M, v8-M), with a program of the test's own
 * in SRAM, where nothing else runs. Cross-trigger sheet 3.1 to 3.5; cases A9, A11, A12, D14.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/core.h"
#include "coresight/rom_table.h"
#include "link/sim.h"

#define PROGRAM 0x20070000u
#define LOOP    (PROGRAM + 0x00)
#define STORE   (PROGRAM + 0x02)
#define BRANCH  (PROGRAM + 0x04)
#define USER_BP (PROGRAM + 0x08)
#define SLEEP   (PROGRAM + 0x10)
#define WORD    0x20070100u
#define AIRCR   0xE000ED0Cu
#define DEMCR   0xE000EDFCu
#define DHCSR   0xE000EDF0u
#define FP_CTRL 0xE0002000u
#define FP_COMP 0xE0002008u
#define DWT_FUN 0xE0001028u

static const char *const identities[] = {"m7", "m4", "m33", "m0plus"};
enum { M7, M4, M33, M0PLUS };

struct bench {
    struct host_clock *clock;
    struct link *link;
    struct core *core;
    int identity;
};

static void ok(enum corral_err err, const struct diag *d)
{
    if (err)
        fail_msg("%s", d->message);
}
#define OK(call) ok(call, &d)

/* Core 0 is `identity`; nothing of it is touched yet. */
static struct bench open_board(int identity, const char *switches)
{
    struct bench b = {.clock = host_clock_new_virtual(), .identity = identity};
    struct diag d = DIAG_INIT;
    char board[160];
    snprintf(board, sizeof(board), "--identity %s,m7 %s", identities[identity], switches);
    struct link_sim_options o = {.clock = b.clock, .board = board};
    b.link = link_sim_open(&o, &d);
    assert_non_null(b.link);
    OK(dp_power_up(b.link, &d));
    host_clock_sleep(b.clock, NS_PER_MS);
    return b;
}

static struct bench open_bench(int identity, const char *switches)
{
    struct bench b = open_board(identity, switches);
    struct diag d = DIAG_INIT;
    b.core = core_cortex_m_open(b.link, 0, "core0", 100000000, NULL, &d);
    assert_non_null(b.core);
    return b;
}

static void close_bench(struct bench *b)
{
    core_close(b->core);
    link_close(b->link);
    host_clock_free(b->clock);
}

static uint32_t word(struct bench *b, uint32_t address)
{
    struct diag d = DIAG_INIT;
    uint32_t v = 0;
    OK(link_read32(b->link, 0, address, &v, &d));
    return v;
}

static struct core_status status_of(struct bench *b)
{
    struct diag d = DIAG_INIT;
    struct core_status s;
    OK(core_read_status(b->core, true, &s, &d));
    return s;
}

static void expect_halt(struct bench *b, enum halt_reason reason, uint32_t pc)
{
    struct diag d = DIAG_INIT;
    OK(core_wait_halted(b->core, CORE_WAIT_NS, &d));
    struct core_status s = status_of(b);
    assert_int_equal(s.state, CORE_HALTED);
    assert_int_equal(s.reason, reason);
    if (pc)
        assert_int_equal(s.pc, pc);
    assert_false(s.false_halt);
}

static uint32_t reg(struct bench *b, unsigned number)
{
    struct diag d = DIAG_INIT;
    uint32_t v = 0;
    OK(core_read_register(b->core, number, &v, &d));
    return v;
}

static void set_reg(struct bench *b, unsigned number, uint32_t value)
{
    struct diag d = DIAG_INIT;
    OK(core_write_register(b->core, number, value, &d));
}

/* Halted at `pc` of the program, interrupts off. */
static void load(struct bench *b, uint32_t pc)
{
    static const uint16_t program[] = {
        0x3001, /* 00 loop: adds r0, #1 */
        0x6008, /* 02       str  r0, [r1] */
        0xE7FC, /* 04       b    loop */
        0x46C0, /* 06       mov  r8, r8 */
        0xBE11, /* 08       bkpt 0x11 */
        0x3201, /* 0A       adds r2, #1 */
        0xE7FC, /* 0C       b    08 */
        0x46C0, /* 0E       mov  r8, r8 */
        0xBF30, /* 10       wfi */
        0xE7FD, /* 12       b    10 */
    };
    struct diag d = DIAG_INIT;
    OK(core_request_halt(b->core, &d));
    OK(core_wait_halted(b->core, CORE_WAIT_NS, &d));
    for (size_t i = 0; i < sizeof(program) / sizeof(program[0]); i++) {
        uint8_t bytes[2] = {(uint8_t)program[i], (uint8_t)(program[i] >> 8)};
        OK(link_write_bytes(b->link, 0, PROGRAM + 2 * i, bytes, 2, &d));
    }
    /* SysTick off, no interrupt enabled, none pending: a core asleep stays so. */
    OK(link_write32(b->link, 0, 0xE000E010, 0, &d));
    OK(link_write32(b->link, 0, 0xE000E180, UINT32_MAX, &d));
    OK(link_write32(b->link, 0, 0xE000E280, UINT32_MAX, &d));
    OK(link_write32(b->link, 0, 0xE000ED04, 1u << 25 | 1u << 27, &d));
    set_reg(b, CORE_REGISTER_PRIMASK, 1);
    set_reg(b, CORE_REGISTER_XPSR, 0x01000000);
    set_reg(b, CORE_REGISTER_PC, pc);
    set_reg(b, 0, 0);
    set_reg(b, 1, WORD);
    set_reg(b, 2, 0);
}

static void run(struct bench *b)
{
    struct diag d = DIAG_INIT;
    bool restarted = false;
    OK(core_prepare_run(b->core, &d));
    OK(core_resume(b->core, &d));
    OK(core_confirm_run(b->core, &restarted, &d));
    assert_true(restarted);
}

static void halt(struct bench *b)
{
    struct diag d = DIAG_INIT;
    OK(core_request_halt(b->core, &d));
    expect_halt(b, HALT_REASON_REQUEST, 0);
}

static void on_each(void (*test)(struct bench *b))
{
    for (int i = 0; i < 4; i++) {
        struct bench b = open_bench(i, "");
        test(&b);
        close_bench(&b);
    }
}

static void registers(struct bench *b)
{
    struct diag d = DIAG_INIT;
    const struct core_register *list, *found;
    size_t count;
    load(b, LOOP);
    OK(core_registers(b->core, &list, &count, &d));
    for (size_t i = 0; i < count; i++) {
        uint32_t v = 0;
        OK(core_read_register(b->core, list[i].number, &v, &d));
        if (list[i].bits < 32)
            assert_int_equal(v >> 8, 0);
    }
    bool main_line = b->identity != M0PLUS;
    assert_int_equal(core_find_register(b->core, "basepri", &found, &d) == CORRAL_OK, main_line);
    assert_int_equal(core_find_register(b->core, "FAULTMASK", &found, &d) == CORRAL_OK, main_line);
    assert_int_equal(core_find_register(b->core, "msplim", &found, &d) == CORRAL_OK, b->identity == M33);
    OK(core_find_register(b->core, "R15", &found, &d));
    assert_int_equal(found->number, CORE_REGISTER_PC);
    assert_int_equal(core_find_register(b->core, "r16", &found, &d), CORRAL_ERR_USAGE);

    /* One of the four that share a register, the others stay. */
    if (main_line) {
        set_reg(b, CORE_REGISTER_BASEPRI, 0xE0);
        assert_int_equal(reg(b, CORE_REGISTER_BASEPRI), 0xE0);
    }
    assert_int_equal(reg(b, CORE_REGISTER_PRIMASK), 1);
    set_reg(b, CORE_REGISTER_PRIMASK, 0);
    assert_int_equal(reg(b, CORE_REGISTER_BASEPRI), main_line ? 0xE0 : 0);
    if (b->identity == M33) {
        OK(core_find_register(b->core, "psplim", &found, &d));
        set_reg(b, found->number, 0x20071000);
        assert_int_equal(reg(b, found->number), 0x20071000);
    }
}

static void test_registers_of_each_architecture(void **state)
{
    (void)state;
    on_each(registers);
}

static void steps(struct bench *b)
{
    struct diag d = DIAG_INIT;
    load(b, LOOP);
    OK(core_step(b->core, &d));
    expect_halt(b, HALT_REASON_STEP, STORE);
    OK(core_step(b->core, &d));
    OK(core_step(b->core, &d));
    expect_halt(b, HALT_REASON_STEP, LOOP);
    assert_int_equal(word(b, WORD), 1);
    assert_int_equal(word(b, DHCSR) & 0xC, 0); /* neither C_STEP nor C_MASKINTS is left */
}

static void test_steps_are_one_instruction(void **state)
{
    (void)state;
    on_each(steps);
}

/* SRAM lies out of version 1's reach: there an instruction of ours stands, and goes without a trace. */
static void ram_breakpoint(struct bench *b)
{
    struct diag d = DIAG_INIT;
    struct core_info info;
    load(b, LOOP);
    OK(core_get_info(b->core, &info, &d));
    uint32_t before = word(b, PROGRAM);
    OK(core_set_breakpoint(b->core, STORE, &d));
    assert_int_equal(word(b, PROGRAM) == before, info.breakpoint_version == 2);
    for (uint32_t i = 1; i <= 3; i++) { /* each start steps off it first */
        run(b);
        expect_halt(b, HALT_REASON_BREAKPOINT, STORE);
        assert_int_equal(reg(b, 0), i);
        assert_int_equal(word(b, WORD), i - 1);
    }
    OK(core_step(b->core, &d));
    expect_halt(b, HALT_REASON_STEP, BRANCH);
    OK(core_clear_breakpoint(b->core, STORE, &d));
    assert_int_equal(word(b, PROGRAM), before);
    run(b);
    assert_int_equal(status_of(b).state, CORE_RUNNING);
}

static void test_d14_breakpoints_in_ram_on_each_breakpoint_unit(void **state)
{
    (void)state;
    on_each(ram_breakpoint);
}

/* Sheet 3.2: a BKPT that the program brought along is gone past, when the core stopped at it. */
static void user_breakpoint(struct bench *b)
{
    struct diag d = DIAG_INIT;
    load(b, USER_BP);
    /* It was only halted in front of it: the program's own breakpoint must not be missed. */
    run(b);
    expect_halt(b, HALT_REASON_BREAKPOINT, USER_BP);
    assert_int_equal(reg(b, 2), 0);
    run(b);
    expect_halt(b, HALT_REASON_BREAKPOINT, USER_BP);
    assert_int_equal(reg(b, 2), 1);
    OK(core_step(b->core, &d));
    expect_halt(b, HALT_REASON_STEP, USER_BP + 2);
    /* Another corral comes and finds it halted there, its reason already taken. */
    OK(core_step(b->core, &d));
    OK(core_step(b->core, &d));
    run(b);
    expect_halt(b, HALT_REASON_BREAKPOINT, USER_BP);
    core_close(b->core);
    b->core = core_cortex_m_open(b->link, 0, "core0", 0, NULL, &d);
    assert_non_null(b->core);
    assert_int_equal(status_of(b).state, CORE_HALTED);
    run(b);
    expect_halt(b, HALT_REASON_BREAKPOINT, USER_BP);
    assert_int_equal(reg(b, 2), 3);
}

static void test_a_bkpt_of_the_program_is_skipped_when_it_was_hit(void **state)
{
    (void)state;
    on_each(user_breakpoint);
}

/* Sheet 3.5: stopped again at once is proof; not started is none. */
static void proof(struct bench *b)
{
    struct diag d = DIAG_INIT;
    bool restarted = true;
    load(b, LOOP);
    OK(core_prepare_run(b->core, &d));
    OK(core_confirm_run(b->core, &restarted, &d));
    assert_false(restarted);
    OK(core_set_breakpoint(b->core, STORE, &d));
    OK(core_prepare_run(b->core, &d));
    OK(core_resume(b->core, &d));
    host_clock_sleep(b->clock, NS_PER_MS); /* long since halted again */
    OK(core_confirm_run(b->core, &restarted, &d));
    assert_true(restarted);
    expect_halt(b, HALT_REASON_BREAKPOINT, STORE);
}

static void test_proof_of_a_restart_on_each_architecture(void **state)
{
    (void)state;
    on_each(proof);
}

static void watchpoint(struct bench *b)
{
    struct diag d = DIAG_INIT;
    struct core_info info;
    load(b, LOOP);
    OK(core_get_info(b->core, &info, &d));
    OK(core_set_watchpoint(b->core, WORD, 4, CORE_WATCH_WRITE, &d));
    OK(core_set_watchpoint(b->core, WORD, 4, CORE_WATCH_WRITE, &d)); /* twice is once */
    run(b);
    expect_halt(b, HALT_REASON_WATCHPOINT, 0);
    assert_int_equal(reg(b, 0), 1);
    run(b);
    expect_halt(b, HALT_REASON_WATCHPOINT, 0);
    assert_int_equal(reg(b, 0), 2);
    OK(core_clear_watchpoint(b->core, WORD, 4, &d));
    OK(core_set_watchpoint(b->core, WORD, 4, CORE_WATCH_READ, &d)); /* which nobody does */
    run(b);
    host_clock_sleep(b->clock, NS_PER_MS);
    assert_int_equal(status_of(b).state, CORE_RUNNING);
    halt(b);
    assert_int_equal(core_set_watchpoint(b->core, WORD + 1, 4, CORE_WATCH_READ, &d), CORRAL_ERR_USAGE);
    assert_int_equal(core_set_watchpoint(b->core, WORD, 0, CORE_WATCH_READ, &d), CORRAL_ERR_USAGE);
    for (unsigned i = 1; i < info.watchpoints; i++)
        OK(core_set_watchpoint(b->core, WORD + 4 * i, 4, CORE_WATCH_WRITE, &d));
    assert_int_equal(core_set_watchpoint(b->core, WORD + 0x80, 4, CORE_WATCH_WRITE, &d), CORRAL_ERR_LIMIT);
}

static void test_watchpoints_on_each_architecture(void **state)
{
    (void)state;
    on_each(watchpoint);
}

static void cycles(struct bench *b)
{
    struct diag d = DIAG_INIT;
    uint32_t first = 0, second = 0;
    if (b->identity == M0PLUS) {
        assert_int_equal(core_read_cycles(b->core, &first, &d), CORRAL_ERR_UNSUPPORTED);
        assert_non_null(strstr(d.message, "Armv6-M core has no cycle counter"));
        return;
    }
    load(b, LOOP);
    OK(core_read_cycles(b->core, &first, &d));
    OK(core_read_cycles(b->core, &second, &d));
    assert_int_equal(first, second); /* it stands still in debug state */
    run(b);
    host_clock_sleep(b->clock, NS_PER_MS);
    halt(b);
    OK(core_read_cycles(b->core, &second, &d));
    assert_true(second - first > 100000);
}

static void test_the_cycle_count_where_there_is_one(void **state)
{
    (void)state;
    on_each(cycles);
}

static void sleeping(struct bench *b)
{
    struct diag d = DIAG_INIT;
    load(b, SLEEP);
    run(b);
    host_clock_sleep(b->clock, NS_PER_MS);
    struct core_status s = status_of(b);
    assert_int_equal(s.state, CORE_RUNNING);
    assert_true(s.asleep);
    assert_int_equal(s.why, CORE_WHY_NONE);
    OK(core_request_halt(b->core, &d));
    expect_halt(b, HALT_REASON_REQUEST, 0);
}

static void test_a_sleeping_core_halts(void **state)
{
    (void)state;
    on_each(sleeping);
}

static void resets(struct bench *b)
{
    struct diag d = DIAG_INIT;
    load(b, LOOP);
    uint32_t seen = status_of(b).resets;
    OK(core_set_breakpoint(b->core, STORE, &d));
    OK(core_vector_catch(b->core, true, &d));
    OK(core_reset(b->core, CORE_RESET_SYSTEM, &d));
    expect_halt(b, HALT_REASON_VECTOR_CATCH, 0);
    struct core_status s = status_of(b);
    assert_int_equal(s.resets, seen + 1);
    uint32_t entry = s.pc;
    assert_true(entry < 0x10000000); /* in flash */

    /* Breakpoints that stood in comparators work on. Memory is as the reset left it, here: whole. */
    load(b, LOOP);
    if (b->identity == M7 || b->identity == M33)
        OK(core_set_breakpoint(b->core, STORE, &d));
    else
        OK(core_clear_breakpoint(b->core, STORE, &d));
    OK(core_set_breakpoint(b->core, entry, &d));
    OK(core_reset(b->core, CORE_RESET_SYSTEM, &d));
    expect_halt(b, HALT_REASON_VECTOR_CATCH, entry);
    OK(core_vector_catch(b->core, false, &d));
    assert_int_equal(word(b, DEMCR) & 1, 0);
    OK(core_clear_breakpoint(b->core, entry, &d));
    OK(core_reset(b->core, CORE_RESET_SYSTEM, &d));
    assert_int_equal(status_of(b).state, CORE_RUNNING);
    assert_int_equal(status_of(b).resets, seen + 3);

    enum corral_err err = core_reset(b->core, CORE_RESET_CORE, &d);
    if (b->identity == M7 || b->identity == M4) {
        ok(err, &d);
        assert_int_equal(status_of(b).resets, seen + 4);
    } else {
        assert_int_equal(err, CORRAL_ERR_UNSUPPORTED);
        assert_int_equal(status_of(b).resets, seen + 3);
    }
}

static void test_resets_are_seen_counted_and_caught(void **state)
{
    (void)state;
    on_each(resets);
}

/* Case A24's other half: the core itself is left as it was found. */
static void detaches(struct bench *b)
{
    struct diag d = DIAG_INIT;
    load(b, LOOP);
    run(b);
    uint32_t program = word(b, PROGRAM);
    core_close(b->core);
    OK(link_write32(b->link, 0, DHCSR, 0xA05F0000, &d)); /* as nobody had ever been there */
    OK(link_write32(b->link, 0, DEMCR, 0, &d));
    b->core = core_cortex_m_open(b->link, 0, "core0", 0, NULL, &d);
    assert_non_null(b->core);
    halt(b);
    OK(core_vector_catch(b->core, true, &d));
    OK(core_set_breakpoint(b->core, STORE, &d));
    OK(core_set_breakpoint(b->core, 0x08000100, &d));
    OK(core_set_watchpoint(b->core, WORD + 4, 4, CORE_WATCH_ACCESS, &d));
    run(b);
    expect_halt(b, HALT_REASON_BREAKPOINT, STORE);
    OK(core_detach(b->core, false, &d));
    assert_int_equal(word(b, DHCSR) & 0x2000F, 0); /* running, halting debug off */
    assert_int_equal(word(b, DEMCR), 0);
    assert_int_equal(word(b, FP_CTRL) & 1, 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(word(b, FP_COMP + 4 * i) & 1, 0);
    OK(link_write32(b->link, 0, DEMCR, 1u << 24, &d)); /* to look at the watchpoints */
    assert_int_equal(word(b, DWT_FUN) & 0xF, 0);
    assert_int_equal(word(b, PROGRAM), program);
    uint32_t counted = word(b, WORD);
    host_clock_sleep(b->clock, NS_PER_MS);
    assert_true(word(b, WORD) > counted);

    /* A look at it afterwards does not switch debug on again; asking it to halt does. */
    struct core_status s;
    OK(core_read_status(b->core, false, &s, &d));
    assert_int_equal(s.state, CORE_RUNNING);
    assert_false(s.debug_enabled);
    assert_int_equal(word(b, DHCSR) & 1, 0);
    halt(b);
    OK(core_detach(b->core, true, &d));
    assert_int_equal(word(b, DHCSR) & 0x20003, 0x20003); /* kept halted, as asked */

    /* Found halted, it stays halted. */
    core_close(b->core);
    b->core = core_cortex_m_open(b->link, 0, "core0", 0, NULL, &d);
    assert_non_null(b->core);
    OK(core_step(b->core, &d));
    OK(core_detach(b->core, false, &d));
    assert_int_equal(word(b, DHCSR) & 0x2000F, 0x20003);
}

static void test_a_core_is_left_as_it_was_found(void **state)
{
    (void)state;
    on_each(detaches);
}

static void test_a11_a_core_whose_clock_stops_is_unknown(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct bench b = open_bench(i, "--sleep-stops-clock core0");
        struct diag d = DIAG_INIT;
        load(&b, SLEEP);
        run(&b);
        host_clock_sleep(b.clock, NS_PER_MS);
        struct core_status s = status_of(&b); /* no failure */
        assert_int_equal(s.state, CORE_UNKNOWN);
        assert_int_equal(s.why, CORE_WHY_NO_CLOCK);
        assert_int_equal(core_request_halt(b.core, &d), CORRAL_ERR_CORE_NO_HALT);
        assert_non_null(strstr(d.message, "without a clock"));
        close_bench(&b);
    }
}

static void test_a12_a_core_in_reset_is_named(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct bench b = open_bench(i, "--held-in-reset core0");
        struct diag d = DIAG_INIT;
        struct core_status s = status_of(&b);
        assert_int_equal(s.state, CORE_RESET);
        assert_int_equal(s.why, CORE_WHY_IN_RESET);
        OK(core_request_halt(b.core, &d));
        assert_int_equal(core_wait_halted(b.core, 10 * NS_PER_MS, &d), CORRAL_ERR_CORE_NO_HALT);
        assert_non_null(strstr(d.message, "held in reset"));
        close_bench(&b);
    }
}

static void test_a_core_without_power_opens_and_is_named(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct bench b = open_bench(i, "--unpowered core0");
        struct diag d = DIAG_INIT;
        struct core_status s = status_of(&b);
        assert_int_equal(s.state, CORE_UNPOWERED);
        assert_int_equal(s.why, CORE_WHY_NO_POWER);
        OK(core_detach(b.core, false, &d)); /* nothing to undo */
        close_bench(&b);
    }
}

static void test_a_core_closed_to_debug_is_named(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct bench b = open_bench(i, "--no-debug core0");
        struct diag d = DIAG_INIT;
        struct core_status s = status_of(&b);
        assert_int_equal(s.state, CORE_RUNNING);
        assert_int_equal(s.why, CORE_WHY_DEBUG_DISABLED);
        assert_false(s.debug_enabled);
        OK(core_request_halt(b.core, &d));
        int64_t from = host_clock_now(b.clock);
        assert_int_equal(core_wait_halted(b.core, CORE_WAIT_NS, &d), CORRAL_ERR_CORE_NO_HALT);
        assert_true(host_clock_now(b.clock) - from < CORE_WAIT_NS / 2); /* hopeless: not sat out */
        assert_non_null(strstr(d.message, "debug is disabled"));
        close_bench(&b);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registers_of_each_architecture),
        cmocka_unit_test(test_steps_are_one_instruction),
        cmocka_unit_test(test_d14_breakpoints_in_ram_on_each_breakpoint_unit),
        cmocka_unit_test(test_a_bkpt_of_the_program_is_skipped_when_it_was_hit),
        cmocka_unit_test(test_proof_of_a_restart_on_each_architecture),
        cmocka_unit_test(test_watchpoints_on_each_architecture),
        cmocka_unit_test(test_the_cycle_count_where_there_is_one),
        cmocka_unit_test(test_a_sleeping_core_halts),
        cmocka_unit_test(test_resets_are_seen_counted_and_caught),
        cmocka_unit_test(test_a_core_is_left_as_it_was_found),
        cmocka_unit_test(test_a11_a_core_whose_clock_stops_is_unknown),
        cmocka_unit_test(test_a12_a_core_in_reset_is_named),
        cmocka_unit_test(test_a_core_without_power_opens_and_is_named),
        cmocka_unit_test(test_a_core_closed_to_debug_is_named),
    };
    return cmocka_run_group_tests_name("core-identities", tests, NULL, NULL);
}
