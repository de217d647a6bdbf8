/* SPDX-License-Identifier: Apache-2.0 */
/* The Cortex-M back end against modelled debug registers. Cross-trigger sheet 3.1 to 3.5. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/core.h"
#include "tests/unit/link/fake_target.h"

#define DHCSR 0xE000EDF0u
#define DFSR  0xE000ED30u

struct bench {
    struct fake_target *t;
    struct link *link;
    struct core *core;
    struct fake_core *f;
};

static struct bench open_bench(void)
{
    struct bench b = {.t = fake_target_new(1)};
    struct diag d = DIAG_INIT;
    b.link = fake_target_link(b.t);
    b.core = core_cortex_m_open(b.link, 0, "core0", 100000000, NULL, &d);
    assert_non_null(b.core);
    b.f = &b.t->core[0];
    return b;
}

static void close_bench(struct bench *b)
{
    core_close(b->core);
    link_close(b->link);
    fake_target_free(b->t);
}

static void test_open_enables_halting_debug_and_halts_nothing(void **state)
{
    (void)state;
    struct bench b = open_bench();
    assert_int_equal(b.f->control, 1);
    assert_false(b.f->halted);
    assert_int_equal(b.t->log_count, 1);
    close_bench(&b);
}

static void test_halt_is_one_write(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    size_t from = b.t->log_count;
    assert_int_equal(core_request_halt(b.core, &d), CORRAL_OK);
    assert_int_equal(b.t->log_count, from + 1);
    assert_int_equal(b.t->log[from].value, 0xA05F0003);
    assert_int_equal(core_wait_halted(b.core, CORE_WAIT_NS, &d), CORRAL_OK);
    close_bench(&b);
}

static void test_a_core_that_does_not_halt_is_named_in_bounded_time(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    b.f->in_reset = true;
    b.f->sticky = 1u << 25;
    int64_t from = host_clock_now(b.t->clock);
    assert_int_equal(core_request_halt(b.core, &d), CORRAL_OK);
    assert_int_equal(core_wait_halted(b.core, 100 * NS_PER_MS, &d), CORRAL_ERR_CORE_NO_HALT);
    assert_non_null(strstr(d.message, "core0"));
    assert_non_null(strstr(d.message, "reset"));
    assert_true(host_clock_now(b.t->clock) - from < 150 * NS_PER_MS);
    close_bench(&b);
}

/* Sheet 3.4: order of preference, whatever else is set. */
static void test_reasons_by_preference(void **state)
{
    (void)state;
    static const struct {
        uint32_t dfsr;
        enum halt_reason reason;
    } cases[] = {
        {0x1F, HALT_REASON_VECTOR_CATCH}, {0x17, HALT_REASON_WATCHPOINT},    {0x13, HALT_REASON_BREAKPOINT},
        {0x11, HALT_REASON_REQUEST},      {0x10, HALT_REASON_CROSS_TRIGGER}, {0x12, HALT_REASON_BREAKPOINT},
        {0x01, HALT_REASON_REQUEST},      {0x20, HALT_REASON_WATCHPOINT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b = open_bench();
        struct diag d = DIAG_INIT;
        struct core_status s;
        fake_target_stop(b.t, 0, cases[i].dfsr);
        assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
        assert_int_equal(s.state, CORE_HALTED);
        assert_int_equal(s.reason, cases[i].reason);
        assert_int_equal(s.dfsr, cases[i].dfsr);
        assert_true(s.pc_known);
        assert_int_equal(s.pc, 0x08000100);
        close_bench(&b);
    }
}

static void test_dfsr_is_read_before_it_is_cleared_and_remembered(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct core_status s;
    fake_target_stop(b.t, 0, 0x02);
    assert_int_equal(core_peek_status(b.core, &s, &d), CORRAL_OK);
    assert_int_equal(s.reason, HALT_REASON_BREAKPOINT);
    assert_int_equal(b.f->dfsr, 0x02); /* a look changes nothing */
    assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
    assert_int_equal(b.f->dfsr, 0);
    size_t i = fake_target_find(b.t, 0, 0, DFSR);
    assert_int_equal(b.t->log[i].value, 0x02); /* what was read is written back */
    assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
    assert_int_equal(s.reason, HALT_REASON_BREAKPOINT);
    close_bench(&b);
}

static void test_lockup_is_a_fault_not_a_breakpoint(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct core_status s;
    b.f->locked_up = true;
    b.f->regs[15] = 0xFFFFFFFE;
    assert_int_equal(core_read_status(b.core, false, &s, &d), CORRAL_OK);
    assert_int_equal(s.state, CORE_LOCKUP);
    assert_int_equal(core_request_halt(b.core, &d), CORRAL_OK);
    assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
    assert_int_equal(s.state, CORE_HALTED);
    assert_int_equal(s.reason, HALT_REASON_FAULT);
    close_bench(&b);
}

static void test_states_reset_and_sleep(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct core_status s;
    b.f->sticky = 1u << 25; /* was reset once: that is history */
    b.f->asleep = true;
    assert_int_equal(core_read_status(b.core, false, &s, &d), CORRAL_OK);
    assert_int_equal(s.state, CORE_RUNNING);
    assert_true(s.asleep);
    b.f->sticky = 1u << 25;
    b.f->in_reset = true;
    assert_int_equal(core_read_status(b.core, false, &s, &d), CORRAL_OK);
    assert_int_equal(s.state, CORE_RESET);
    close_bench(&b);
}

/* A9: C_STEP and C_MASKINTS go while C_HALT is still 1, and DFSR is cleared, before anything starts the core.
 */
static void test_a9_prepare_leaves_no_step_and_no_mask(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    bool restarted = false;
    fake_target_stop(b.t, 0, 0x10);
    b.f->control |= 0xC;
    size_t from = b.t->log_count;
    assert_int_equal(core_prepare_run(b.core, &d), CORRAL_OK);
    assert_int_equal(b.f->control, 0x3);
    assert_int_equal(b.f->dfsr, 0);
    assert_true(b.f->halted);
    size_t at = fake_target_find(b.t, from, 0, DHCSR);
    assert_int_equal(b.t->log[at].value, 0xA05F0003);
    assert_int_equal(core_resume(b.core, &d), CORRAL_OK);
    assert_int_equal(core_confirm_run(b.core, &restarted, &d), CORRAL_OK);
    assert_true(restarted);
    assert_int_equal(b.f->starts, 1);
    close_bench(&b);
}

static void test_prepare_refuses_a_running_core(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    assert_int_equal(core_prepare_run(b.core, &d), CORRAL_ERR_CORE_STATE);
    close_bench(&b);
}

/* Sheet 3.5: still halted and no reason = did not restart; halted with a new one = did, and stopped again. */
static void test_proof_of_a_restart(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct core_status s;
    bool restarted = true;
    fake_target_stop(b.t, 0, 0x01);
    b.f->sticky = 1u << 24; /* instructions retired before the halt prove nothing */
    assert_int_equal(core_prepare_run(b.core, &d), CORRAL_OK);
    assert_int_equal(core_confirm_run(b.core, &restarted, &d), CORRAL_OK);
    assert_false(restarted);
    b.f->stop_at_once = 0x02;
    assert_int_equal(core_resume(b.core, &d), CORRAL_OK);
    assert_int_equal(core_confirm_run(b.core, &restarted, &d), CORRAL_OK);
    assert_true(restarted);
    assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
    assert_int_equal(s.reason, HALT_REASON_BREAKPOINT); /* the proof did not take the reason away */
    close_bench(&b);
}

static void test_step_masks_interrupts_in_a_write_of_its_own(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct core_status s;
    fake_target_stop(b.t, 0, 0x01);
    size_t from = b.t->log_count;
    assert_int_equal(core_step(b.core, &d), CORRAL_OK);
    uint32_t written[8] = {0};
    size_t n = 0;
    for (size_t i = from; i < b.t->log_count && n < 8; i++)
        if (b.t->log[i].address == DHCSR)
            written[n++] = b.t->log[i].value;
    assert_int_equal(n, 3);
    assert_int_equal(written[0], 0xA05F000B);
    assert_int_equal(written[1], 0xA05F000D);
    assert_int_equal(written[2], 0xA05F0003); /* neither is left behind */
    assert_int_equal(b.f->starts, 1);
    assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
    assert_int_equal(s.reason, HALT_REASON_STEP);
    close_bench(&b);
}

static void test_registers_wait_for_s_regrdy(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    uint32_t value = 0;
    assert_int_equal(core_read_register(b.core, 0, &value, &d), CORRAL_ERR_CORE_STATE);
    fake_target_stop(b.t, 0, 0x01);
    b.f->register_lag = 3;
    assert_int_equal(core_write_register(b.core, 3, 0x12345678, &d), CORRAL_OK);
    assert_int_equal(b.f->regs[3], 0x12345678);
    assert_int_equal(core_read_register(b.core, 3, &value, &d), CORRAL_OK);
    assert_int_equal(value, 0x12345678);
    b.f->register_lag = 1000000;
    assert_int_equal(core_read_register(b.core, 3, &value, &d), CORRAL_ERR_TIMEOUT);
    close_bench(&b);
}

static void test_registers_in_one_batch(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    unsigned numbers[23];
    uint32_t values[23] = {0};
    for (unsigned i = 0; i < 23; i++) {
        numbers[i] = i % 17;
        b.f->regs[i % 17] = 0x1000 + i % 17;
    }
    assert_int_equal(core_read_registers(b.core, numbers, 23, values, &d), CORRAL_ERR_CORE_STATE);
    fake_target_stop(b.t, 0, 0x01);
    assert_int_equal(core_read_registers(b.core, numbers, 23, values, &d), CORRAL_OK); /* more than a batch */
    for (unsigned i = 0; i < 23; i++)
        assert_int_equal(values[i], b.f->regs[numbers[i]]);
    memset(values, 0, sizeof(values));
    b.f->register_lag = 3; /* none of the batch is ready: each is waited for */
    assert_int_equal(core_read_registers(b.core, numbers, 23, values, &d), CORRAL_OK);
    for (unsigned i = 0; i < 23; i++)
        assert_int_equal(values[i], b.f->regs[numbers[i]]);
    b.f->register_lag = 1000000;
    assert_int_equal(core_read_registers(b.core, numbers, 2, values, &d), CORRAL_ERR_TIMEOUT);
    b.f->register_lag = 0;
    numbers[1] = 0x200;
    assert_int_equal(core_read_registers(b.core, numbers, 2, values, &d), CORRAL_ERR_USAGE);
    close_bench(&b);
}

static void test_breakpoints_version_2(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    b.f->fp_comp[0] = 0x20000001; /* another tool's */
    assert_int_equal(core_set_breakpoint(b.core, 0x20000102, &d), CORRAL_OK);
    assert_int_equal(b.f->fp_comp[0], 0x20000001);
    assert_int_equal(b.f->fp_comp[1], 0x20000103);
    assert_int_equal(b.f->fp_ctrl & 1, 1);
    assert_int_equal(core_set_breakpoint(b.core, 0x20000102, &d), CORRAL_OK); /* twice is once */
    assert_int_equal(core_set_breakpoint(b.core, 0x08000200, &d), CORRAL_OK);
    assert_int_equal(core_set_breakpoint(b.core, 0x08000300, &d), CORRAL_OK);
    assert_int_equal(core_set_breakpoint(b.core, 0x08000400, &d), CORRAL_ERR_LIMIT);
    assert_int_equal(core_clear_breakpoint(b.core, 0x08000200, &d), CORRAL_OK);
    assert_int_equal(b.f->fp_comp[2], 0);
    assert_int_equal(core_set_breakpoint(b.core, 0x08000400, &d), CORRAL_OK);
    assert_int_equal(core_clear_breakpoint(b.core, 0x1234, &d), CORRAL_ERR_USAGE);
    close_bench(&b);
}

static void test_d14_breakpoints_version_1_reach_code_memory_only(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    b.f->fp_ctrl = 6u << 4;
    assert_int_equal(core_set_breakpoint(b.core, 0x20000000, &d), CORRAL_ERR_UNSUPPORTED);
    assert_int_equal(core_set_breakpoint(b.core, 0x08000100, &d), CORRAL_OK);
    assert_int_equal(b.f->fp_comp[0], 0x48000101);
    assert_int_equal(core_set_breakpoint(b.core, 0x08000106, &d), CORRAL_OK);
    assert_int_equal(b.f->fp_comp[1], 0x88000105);
    close_bench(&b);
}

/* Sheet 3.2: a core on a breakpoint steps off it, or it would stop there again. */
static void test_prepare_steps_over_a_breakpoint_of_ours(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    assert_int_equal(core_set_breakpoint(b.core, 0x08000100, &d), CORRAL_OK);
    fake_target_stop(b.t, 0, 0x02);
    assert_int_equal(core_prepare_run(b.core, &d), CORRAL_OK);
    assert_int_equal(b.f->regs[15], 0x08000102);
    assert_int_equal(b.f->starts, 1);
    assert_true(b.f->halted);
    assert_int_equal(b.f->fp_comp[0], 0x08000101); /* armed again */
    assert_int_equal(b.f->control, 0x3);
    close_bench(&b);
}

static void test_prepare_skips_a_bkpt_instruction(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct core_status s;
    b.t->code = 0xBE00;
    fake_target_stop(b.t, 0, 0x02);
    assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
    assert_int_equal(core_prepare_run(b.core, &d), CORRAL_OK);
    assert_int_equal(b.f->regs[15], 0x08000102);
    assert_int_equal(b.f->starts, 0);
    close_bench(&b);
}

static void test_the_cycle_count_is_switched_on_and_never_reset(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    uint32_t cycles = 0;
    b.f->cyccnt = 0xFFFFFFF0;
    b.f->demcr = 0x1;
    b.f->dwt_ctrl = 0x40000000;
    assert_int_equal(core_read_cycles(b.core, &cycles, &d), CORRAL_OK);
    assert_int_equal(cycles, 0xFFFFFFF0);
    assert_int_equal(b.f->demcr, 0x01000001);
    assert_int_equal(b.f->dwt_ctrl, 0x40000001);
    assert_int_equal(fake_target_writes(b.t, 0xE0001004, 0xE0001004), 0);
    size_t n = b.t->log_count;
    assert_int_equal(core_read_cycles(b.core, &cycles, &d), CORRAL_OK);
    assert_int_equal(b.t->log_count, n); /* already on: nothing is written */
    b.f->dwt_ctrl = 1u << 25;
    assert_int_equal(core_read_cycles(b.core, &cycles, &d), CORRAL_ERR_UNSUPPORTED);
    close_bench(&b);
}

/* Case A11: a core that cannot be reached is a state, not a failure of whoever asks. */
static void test_a_core_that_faults_has_no_power(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct core_status s;
    b.f->faults = true;
    assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
    assert_int_equal(s.state, CORE_UNPOWERED);
    assert_int_equal(s.why, CORE_WHY_NO_POWER);
    assert_int_equal(core_peek_status(b.core, &s, &d), CORRAL_OK);
    assert_int_equal(s.state, CORE_UNPOWERED);
    assert_int_equal(core_request_halt(b.core, &d), CORRAL_ERR_CORE_NO_HALT);
    assert_non_null(strstr(d.message, "core0"));
    assert_non_null(strstr(d.message, "without power"));
    int64_t from = host_clock_now(b.t->clock);
    assert_int_equal(core_wait_halted(b.core, CORE_WAIT_NS, &d), CORRAL_ERR_CORE_NO_HALT);
    assert_true(host_clock_now(b.t->clock) - from < 10 * NS_PER_MS); /* hopeless: not waited for */
    b.f->faults = false;
    assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
    assert_int_equal(s.state, CORE_RUNNING);
    close_bench(&b);
}

#define M4_R0P1  0x410FC241u
#define M7_R0P1  0x410FC271u
#define M7_R1P2  0x411FC272u
#define M33_R0P3 0x410FD213u

/* Sheet 3.2, erratum 3092511: the core says breakpoint, and stands where there is none. */
static void test_m7_a_halt_at_no_breakpoint_is_false(void **state)
{
    (void)state;
    static const struct {
        uint32_t cpuid, dfsr, comparator;
        uint16_t code;
        bool is_false;
    } cases[] = {
        {M7_R1P2, 0x02, 0, 0x46C0, true},           {M7_R0P1, 0x02, 0x08000105, 0x46C0, true},
        {M7_R1P2, 0x02, 0x08000101, 0x46C0, false}, /* another tool's comparator */
        {M7_R1P2, 0x02, 0, 0xBE42, false},          /* the program's own */
        {M7_R1P2, 0x06, 0, 0x46C0, false},          /* it had a watchpoint, too */
        {M7_R1P2, 0x12, 0, 0x46C0, false},          /* and here it was asked to by another core */
        {M7_R1P2, 0x01, 0, 0x46C0, false},          {M4_R0P1, 0x02, 0, 0x46C0, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b = open_bench();
        struct diag d = DIAG_INIT;
        struct core_status s;
        b.t->cpuid = cases[i].cpuid;
        b.t->code = cases[i].code;
        b.f->fp_comp[3] = cases[i].comparator;
        fake_target_stop(b.t, 0, cases[i].dfsr);
        assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
        assert_int_equal(s.state, CORE_HALTED);
        assert_int_equal(s.false_halt, cases[i].is_false);
        assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
        assert_int_equal(s.false_halt, cases[i].is_false); /* as often as asked */
        assert_int_equal(core_prepare_run(b.core, &d), CORRAL_OK);
        fake_target_stop(b.t, 0, 0x01);
        assert_int_equal(core_resume(b.core, &d), CORRAL_OK);
        assert_int_equal(core_request_halt(b.core, &d), CORRAL_OK);
        assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
        assert_false(s.false_halt); /* that was the last halt's */
        close_bench(&b);
    }
}

/* A breakpoint that is taken away while the core stands on it was there. */
static void test_m7_a_cleared_breakpoint_makes_no_halt_false(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct core_status s;
    b.t->cpuid = M7_R1P2;
    assert_int_equal(core_set_breakpoint(b.core, 0x08000100, &d), CORRAL_OK);
    fake_target_stop(b.t, 0, 0x02);
    assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
    assert_false(s.false_halt);
    assert_int_equal(core_clear_breakpoint(b.core, 0x08000100, &d), CORRAL_OK);
    assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
    assert_false(s.false_halt);
    close_bench(&b);
}

/* Sheet 3.2: M7 r0p0 and r0p1 take an interrupt in a masked step. */
static void test_m7_r0p1_a_step_into_an_interrupt_is_false(void **state)
{
    (void)state;
    static const struct {
        uint32_t cpuid, takes;
        bool is_false;
    } cases[] = {
        {M7_R0P1, 15, true}, {M7_R0P1, 16 + 7, true}, {M7_R0P1, 11, false}, /* SVC: the instruction's own */
        {M7_R0P1, 0, false}, {M7_R1P2, 15, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b = open_bench();
        struct diag d = DIAG_INIT;
        struct core_status s;
        b.t->cpuid = cases[i].cpuid;
        fake_target_stop(b.t, 0, 0x01);
        b.f->takes = cases[i].takes;
        assert_int_equal(core_step(b.core, &d), CORRAL_OK);
        assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
        assert_int_equal(s.reason, HALT_REASON_STEP);
        assert_int_equal(s.false_halt, cases[i].is_false);
        close_bench(&b);
    }
}

/* Sheet 3.5: on v8-M it is S_RESTART_ST, and a reason alone is none (a request may be latched meanwhile). */
static void test_v8m_only_s_restart_st_proves(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    bool restarted = true;
    b.t->cpuid = M33_R0P3;
    fake_target_stop(b.t, 0, 0x01);
    assert_int_equal(core_prepare_run(b.core, &d), CORRAL_OK);
    b.f->dfsr = 0x10;
    b.f->sticky = 1u << 24;
    assert_int_equal(core_confirm_run(b.core, &restarted, &d), CORRAL_OK);
    assert_false(restarted);
    b.f->sticky = 1u << 26;
    assert_int_equal(core_confirm_run(b.core, &restarted, &d), CORRAL_OK);
    assert_true(restarted);
    close_bench(&b);
}

/* D14: comparators first; in RAM, and there only, an instruction where they are all taken. */
static void test_d14_a_breakpoint_in_ram_when_comparators_are_out(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    b.t->ram_size = sizeof(b.t->ram);
    for (unsigned i = 0; i < 64; i++)
        b.t->ram[i] = (uint16_t)(0x4600 + i);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(core_set_breakpoint(b.core, 0x08000200 + 4 * i, &d), CORRAL_OK);
    assert_int_equal(core_set_breakpoint(b.core, 0x08000300, &d), CORRAL_ERR_LIMIT); /* flash */
    assert_int_equal(core_set_breakpoint(b.core, 0x20000010, &d), CORRAL_OK);
    assert_int_equal(b.t->ram[8], 0xBE00);
    assert_int_equal(core_set_breakpoint(b.core, 0x20000012, &d), CORRAL_OK);
    assert_int_equal(core_clear_breakpoint(b.core, 0x20000010, &d), CORRAL_OK);
    assert_int_equal(b.t->ram[8], 0x4608);
    /* Somebody loaded another program over it: that is not written over. */
    b.t->ram[9] = 0x1234;
    assert_int_equal(core_clear_breakpoint(b.core, 0x20000012, &d), CORRAL_OK);
    assert_int_equal(b.t->ram[9], 0x1234);
    /* Behind the end of RAM nothing sticks: the comparators' sentence is what is told. */
    assert_int_equal(core_set_breakpoint(b.core, 0x20000100, &d), CORRAL_ERR_LIMIT);
    assert_non_null(strstr(d.message, "all 4 hardware breakpoints"));
    close_bench(&b);
}

static void test_comparators_are_set_again_after_a_reset(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct core_status s;
    assert_int_equal(core_set_breakpoint(b.core, 0x08000200, &d), CORRAL_OK);
    assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
    assert_int_equal(s.resets, 0);
    b.f->fp_comp[0] = 0;
    b.f->fp_ctrl &= ~1u;
    b.f->sticky = 1u << 25;
    fake_target_stop(b.t, 0, 0x08);
    assert_int_equal(core_read_status(b.core, true, &s, &d), CORRAL_OK);
    assert_int_equal(s.resets, 1);
    assert_int_equal(b.f->fp_comp[0], 0x08000201);
    assert_int_equal(b.f->fp_ctrl & 1, 1);
    close_bench(&b);
}

/* A look writes nothing at all, whatever the core is in. */
static void test_a_peek_writes_nothing(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct core_status s;
    b.f->control = 0; /* halting debug went off */
    b.f->sticky = 1u << 25;
    size_t n = b.t->log_count;
    assert_int_equal(core_peek_status(b.core, &s, &d), CORRAL_OK);
    assert_int_equal(s.state, CORE_RUNNING);
    assert_int_equal(b.t->log_count, n);
    assert_int_equal(core_read_status(b.core, false, &s, &d), CORRAL_OK);
    assert_int_equal(b.f->control, 1); /* an ordinary look switches it on again */
    close_bench(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_enables_halting_debug_and_halts_nothing),
        cmocka_unit_test(test_halt_is_one_write),
        cmocka_unit_test(test_a_core_that_does_not_halt_is_named_in_bounded_time),
        cmocka_unit_test(test_reasons_by_preference),
        cmocka_unit_test(test_dfsr_is_read_before_it_is_cleared_and_remembered),
        cmocka_unit_test(test_lockup_is_a_fault_not_a_breakpoint),
        cmocka_unit_test(test_states_reset_and_sleep),
        cmocka_unit_test(test_a9_prepare_leaves_no_step_and_no_mask),
        cmocka_unit_test(test_prepare_refuses_a_running_core),
        cmocka_unit_test(test_proof_of_a_restart),
        cmocka_unit_test(test_step_masks_interrupts_in_a_write_of_its_own),
        cmocka_unit_test(test_registers_wait_for_s_regrdy),
        cmocka_unit_test(test_registers_in_one_batch),
        cmocka_unit_test(test_breakpoints_version_2),
        cmocka_unit_test(test_d14_breakpoints_version_1_reach_code_memory_only),
        cmocka_unit_test(test_prepare_steps_over_a_breakpoint_of_ours),
        cmocka_unit_test(test_prepare_skips_a_bkpt_instruction),
        cmocka_unit_test(test_the_cycle_count_is_switched_on_and_never_reset),
        cmocka_unit_test(test_a_core_that_faults_has_no_power),
        cmocka_unit_test(test_m7_a_halt_at_no_breakpoint_is_false),
        cmocka_unit_test(test_m7_a_cleared_breakpoint_makes_no_halt_false),
        cmocka_unit_test(test_m7_r0p1_a_step_into_an_interrupt_is_false),
        cmocka_unit_test(test_v8m_only_s_restart_st_proves),
        cmocka_unit_test(test_d14_a_breakpoint_in_ram_when_comparators_are_out),
        cmocka_unit_test(test_comparators_are_set_again_after_a_reset),
        cmocka_unit_test(test_a_peek_writes_nothing),
    };
    return cmocka_run_group_tests_name("core-cortex-m", tests, NULL, NULL);
}
