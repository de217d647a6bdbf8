/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of the core: usage, bus and fetch faults, escalation, lockup, bad returns. DDI0403E B1.5.14,
 * B1.5.15.
 */
#include "core_rig.h"

#define RIG                 \
    struct rig *r = *state; \
    struct cpu *c = &r->core[0]

#define UNDEFINSTR (1u << 16)
#define INVSTATE   (1u << 17)
#define INVPC      (1u << 18)
#define NOCP       (1u << 19)
#define UNALIGNED  (1u << 24)
#define DIVBYZERO  (1u << 25)
#define FORCED     (1u << 30)
#define DEBUGEVT   (1u << 31)

/* The fault's own handler was entered, and the frame points at the instruction. */
static void expect_fault(struct rig *r, unsigned number, uint32_t cfsr, uint32_t pc)
{
    struct cpu *c = &r->core[0];

    assert_int_equal(c->ipsr, number);
    assert_int_equal(rig_read(c, CFSR), cfsr);
    assert_int_equal(rig_word(r, c->r[CPU_SP] + 24), pc);
    assert_false(c->attention & CPU_ATTN_LOCKUP);
}

static void expect_usage(struct rig *r, uint32_t cfsr)
{
    expect_fault(r, CPU_EXC_USAGEFAULT, cfsr, RIG_MAIN);
}

static void udf_is_a_usage_fault(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    RIG_CODE(r, 0, RIG_MAIN, 0xDE00);
    assert_int_equal(rig_step(c), 13);
    expect_usage(r, UNDEFINSTR);
    assert_int_equal(rig_read(c, HFSR), 0);
    assert_int_equal(rig_read(c, SHCSR), FAULTS_ON | 8);
    rig_write(c, CFSR, UNDEFINSTR);
    assert_int_equal(rig_read(c, CFSR), 0);
    rig_step(c);
    assert_int_equal(c->r[CPU_PC], RIG_MAIN); /* and it would fault again */
}

static void udf_escalates_while_usage_faults_are_disabled(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xDE00);
    rig_step(c);
    expect_fault(r, CPU_EXC_HARDFAULT, UNDEFINSTR, RIG_MAIN);
    assert_int_equal(rig_read(c, HFSR), FORCED);
    assert_int_equal(r->entered, CPU_EXC_HARDFAULT);
}

static void udf_escalates_when_its_priority_is_too_low(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    rig_write(c, SHPR1, 0x00800000);
    c->basepri = 0x40;
    RIG_CODE(r, 0, RIG_MAIN, 0xDE00);
    rig_step(c);
    expect_fault(r, CPU_EXC_HARDFAULT, UNDEFINSTR, RIG_MAIN);
}

static void udf_with_primask_escalates(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    c->primask = 1;
    RIG_CODE(r, 0, RIG_MAIN, 0xDE00);
    rig_step(c);
    expect_fault(r, CPU_EXC_HARDFAULT, UNDEFINSTR, RIG_MAIN);
}

static void a_fault_in_an_it_block_keeps_its_state(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    RIG_CODE(r, 0, RIG_MAIN, 0x4280, 0xBF02, 0xBF00, 0xDE00, 0xBF00); /* CMP; ITTT EQ */
    rig_steps(c, 4);
    expect_fault(r, CPU_EXC_USAGEFAULT, UNDEFINSTR, RIG_MAIN + 6);
    assert_int_equal(rig_word(r, c->r[CPU_SP] + 28) & 0x0600FC00u, 0x0400u);
}

static void a_failed_condition_passes_over_an_undefined_instruction(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0x4280, 0xBF18, 0xDE00); /* CMP r0, r0; IT NE; UDF */
    rig_steps(c, 3);
    assert_int_equal(c->ipsr, 0);
    assert_int_equal(c->r[CPU_PC], RIG_MAIN + 6);
}

static void a_fault_in_hardfault_locks_up_and_nmi_gets_out(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xDE00);
    RIG_CODE(r, 0, RIG_HANDLER(3), 0xDE00);
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_HARDFAULT);
    rig_step(c);
    assert_true(c->attention & CPU_ATTN_LOCKUP);
    assert_int_equal(c->r[CPU_PC], 0xFFFFFFFEu);
    assert_int_equal(c->ipsr, CPU_EXC_HARDFAULT);
    cpu_irq_pend(c, 0);
    assert_true(c->attention & CPU_ATTN_LOCKUP);
    rig_write(c, ICSR, 1u << 31);
    assert_false(c->attention & CPU_ATTN_LOCKUP);
    assert_true(c->attention & CPU_ATTN_EXCEPTION);
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_NMI);
    rig_step(c); /* back to where nothing can be fetched */
    rig_step(c);
    assert_true(c->attention & CPU_ATTN_LOCKUP);
}

static void a_fault_under_faultmask_locks_up(void **state)
{
    RIG;
    c->faultmask = 1;
    RIG_CODE(r, 0, RIG_MAIN, 0xDE00);
    rig_step(c);
    assert_true(c->attention & CPU_ATTN_LOCKUP);
    assert_int_equal(c->ipsr, 0);
}

static void an_svc_in_hardfault_locks_up(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xDE00);
    RIG_CODE(r, 0, RIG_HANDLER(3), 0xDF00);
    rig_steps(c, 2);
    assert_true(c->attention & CPU_ATTN_LOCKUP);
}

static void coprocessor_instructions_are_nocp(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    RIG_CODE(r, 0, RIG_MAIN, 0xEEB70A00); /* VMOV.F32 s0, #1.0 */
    rig_step(c);
    expect_usage(r, NOCP);
}

static void division_by_zero_traps_only_when_asked(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    RIG_CODE(r, 0, RIG_MAIN, 0xFBB0F1F2, 0xFB90F1F2); /* UDIV, SDIV r1, r0, r2 */
    c->r[0] = 5;
    c->r[1] = 77;
    rig_step(c);
    assert_int_equal(c->r[1], 0);
    rig_write(c, CCR, 0x210);
    c->r[1] = 77;
    rig_step(c);
    expect_fault(r, CPU_EXC_USAGEFAULT, DIVBYZERO, RIG_MAIN + 4);
    assert_int_equal(c->r[1], 77);
}

static void unaligned_words_work_unless_trapped(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    RIG_CODE(r, 0, RIG_MAIN, 0x6001, 0x6802, 0x6802); /* STR r1, [r0]; LDR r2, [r0] twice */
    c->r[0] = RIG_RAM + 0x103;
    c->r[1] = 0x11223344;
    rig_steps(c, 2);
    assert_int_equal(c->r[2], 0x11223344);
    assert_int_equal(rig_word(r, RIG_RAM + 0x100), 0x44000000);
    assert_int_equal(rig_word(r, RIG_RAM + 0x104), 0x00112233);
    rig_write(c, CCR, 0x208);
    rig_step(c);
    expect_fault(r, CPU_EXC_USAGEFAULT, UNALIGNED, RIG_MAIN + 4);
}

static void ldm_ldrd_and_exclusives_always_want_alignment(void **state)
{
    static const uint32_t code[] = {0xC806,     0xC006,     0xE9D01200, 0xE9C01200, 0xE8501F00,
                                    0xE8402100, 0xE8D01F5F, 0xE8901006, 0xE8800006};

    for (unsigned k = 0; k < sizeof code / sizeof code[0]; k++) {
        RIG;
        cpu_reset(c);
        rig_write(c, SHCSR, FAULTS_ON);
        rig_code(r, 0, RIG_MAIN, 1, &code[k]);
        c->r[0] = RIG_RAM + 0x101;
        rig_step(c);
        expect_usage(r, UNALIGNED);
        assert_int_equal(c->r[0], RIG_RAM + 0x101);
    }
}

static void unaligned_device_accesses_fault(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    RIG_CODE(r, 0, RIG_MAIN, 0x6802);
    c->r[0] = 0xE000E102;
    rig_step(c);
    expect_usage(r, UNALIGNED);
}

static void a_load_from_nowhere_is_a_precise_bus_fault(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    RIG_CODE(r, 0, RIG_MAIN, 0xF8502B04); /* LDR r2, [r0], #4 */
    c->r[0] = 0x40000000;
    c->r[2] = 77;
    rig_step(c);
    expect_fault(r, CPU_EXC_BUSFAULT, 1u << 15 | 1u << 9, RIG_MAIN);
    assert_int_equal(rig_read(c, BFAR), 0x40000000);
    assert_int_equal(c->r[0], 0x40000000); /* no write-back */
    assert_int_equal(c->r[2], 77);
}

static void a_store_to_flash_is_a_bus_fault_and_escalates(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0x6001);
    c->r[0] = 0x100;
    c->r[1] = 77;
    rig_step(c);
    expect_fault(r, CPU_EXC_HARDFAULT, 1u << 15 | 1u << 9, RIG_MAIN);
    assert_int_equal(rig_read(c, HFSR), FORCED);
    assert_int_equal(rig_read(c, 0x100), 0); /* flash is as it was */
}

static void bfhfnmign_lets_hardfault_probe_memory(void **state)
{
    RIG;
    rig_write(c, CCR, 0x300);
    RIG_CODE(r, 0, RIG_MAIN, 0xDE00);
    RIG_CODE(r, 0, RIG_HANDLER(3), 0x6802);
    rig_step(c);
    c->r[0] = 0x40000000;
    c->r[2] = 77;
    rig_step(c);
    assert_false(c->attention & CPU_ATTN_LOCKUP);
    assert_int_equal(c->r[2], 0);
    assert_int_equal(rig_read(c, CFSR), UNDEFINSTR);
}

static void a_multiple_load_that_faults_changes_no_register(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    RIG_CODE(r, 0, RIG_MAIN, 0xC806); /* LDM r0!, {r1, r2}: the second word is beyond the RAM */
    c->r[0] = RIG_RAM + RIG_RAM_SIZE - 4;
    c->r[1] = c->r[2] = 77;
    rig_step(c);
    expect_fault(r, CPU_EXC_BUSFAULT, 1u << 15 | 1u << 9, RIG_MAIN);
    assert_int_equal(rig_read(c, BFAR), RIG_RAM + RIG_RAM_SIZE);
    assert_int_equal(c->r[0], RIG_RAM + RIG_RAM_SIZE - 4);
    assert_int_equal(c->r[1], 77);
}

static void fetching_from_nowhere_and_from_devices(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    RIG_CODE(r, 0, RIG_MAIN, 0x4700); /* BX r0 */
    c->r[0] = 0x10000001;
    rig_steps(c, 2);
    expect_fault(r, CPU_EXC_BUSFAULT, 1u << 8, 0x10000000);
    cpu_reset(c);
    rig_write(c, SHCSR, FAULTS_ON);
    c->r[0] = 0x40000001;
    rig_steps(c, 2);
    expect_fault(r, CPU_EXC_MEMMANAGE, 1u << 0, 0x40000000);
    cpu_reset(c);
    rig_write(c, SHCSR, FAULTS_ON);
    c->r[0] = 0xE000E001;
    rig_steps(c, 2);
    expect_fault(r, CPU_EXC_MEMMANAGE, 1u << 0, 0xE000E000);
}

static void the_second_half_beyond_the_end_of_memory(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    RIG_CODE(r, 0, RIG_FLASH_SIZE - 2, 0xF3AF);
    c->r[CPU_PC] = RIG_FLASH_SIZE - 2;
    rig_step(c);
    expect_fault(r, CPU_EXC_BUSFAULT, 1u << 8, RIG_FLASH_SIZE - 2);
}

static void an_even_branch_target_is_invstate(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    RIG_CODE(r, 0, RIG_MAIN, 0x4780); /* BLX r0 */
    c->r[0] = RIG_MAIN + 0x40;
    rig_step(c);
    assert_int_equal(c->ipsr, 0);
    rig_step(c);
    expect_fault(r, CPU_EXC_USAGEFAULT, INVSTATE, RIG_MAIN + 0x40);
    assert_int_equal(rig_word(r, c->r[CPU_SP] + 28) & 1u << 24, 0);
}

/* Return with `value` from an interrupt handler that was entered from thread mode. */
static void bad_return(struct rig *r, uint32_t value, bool clear_active)
{
    struct cpu *c = &r->core[0];

    cpu_reset(c);
    rig_write(c, SHCSR, FAULTS_ON);
    rig_write(c, ISER, 1);
    cpu_irq_pend(c, 0);
    rig_step(c);
    c->r[CPU_LR] = value;
    if (value == 0xFFFFFFF1u) /* a frame that would pass */
        rig_write(c, c->r[CPU_SP] + 28, 1u << 24 | RIG_IRQ(3));
    if (clear_active)
        c->irq_active = 0;
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_USAGEFAULT);
    assert_int_equal(rig_read(c, CFSR), INVPC);
    assert_int_equal(c->r[CPU_LR], value);
    assert_int_equal(c->r[CPU_SP], RIG_STACK - 32);
    assert_int_equal(rig_read(c, IABR), 0);
}

static void returns_that_are_not_allowed(void **state)
{
    struct rig *r = *state;

    bad_return(r, 0xFFFFFFF1u, false); /* to handler mode, but nothing else is active */
    bad_return(r, 0xFFFFFFF5u, false);
    bad_return(r, 0xFFFFFFE9u, false); /* a floating-point frame */
    bad_return(r, 0xFFFFFFF9u, true);  /* not active */
}

static void a_return_to_thread_needs_the_last_exception(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    RIG_CODE(r, 0, RIG_MAIN, 0xDF00);
    rig_step(c);
    rig_write(c, ISER, 1);
    rig_write(c, SHPR2, 0x80000000);
    cpu_irq_pend(c, 0);
    rig_step(c);
    c->r[CPU_LR] = 0xFFFFFFF9u;
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_USAGEFAULT);
    assert_int_equal(rig_read(c, CFSR), INVPC);
    /* With NONBASETHRDENA it is allowed. */
    cpu_reset(c);
    rig_write(c, CCR, 0x201);
    rig_step(c);
    rig_write(c, ISER, 1);
    rig_write(c, SHPR2, 0x80000000);
    cpu_irq_pend(c, 0);
    rig_step(c);
    c->r[CPU_LR] = 0xFFFFFFF9u;
    c->r[CPU_SP] += 32; /* the thread's frame */
    rig_step(c);
    assert_int_equal(c->ipsr, 0);
}

static void a_frame_of_the_other_mode_is_invpc(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    RIG_CODE(r, 0, RIG_MAIN, 0xDF00);
    rig_step(c);
    rig_write(c, c->r[CPU_SP] + 28, 1u << 24 | 5); /* an exception number in a thread's frame */
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_USAGEFAULT);
    assert_int_equal(rig_read(c, CFSR), INVPC);
}

static void an_exc_return_value_in_thread_mode_is_just_an_address(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    RIG_CODE(r, 0, RIG_MAIN, 0x4700);
    c->r[0] = 0xFFFFFFF9u;
    rig_steps(c, 2);
    expect_fault(r, CPU_EXC_MEMMANAGE, 1u << 0, 0xFFFFFFF8u);
}

static void a_bad_stack_on_entry_is_stkerr(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    rig_write(c, ISER, 1);
    rig_write(c, IPR, 0x80);
    c->r[CPU_SP] = 0x10000000;
    cpu_irq_pend(c, 0);
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_BUSFAULT); /* better priority than the interrupt, which waits */
    assert_int_equal(rig_read(c, CFSR), 1u << 12);
    assert_int_equal(rig_read(c, ISPR), 1);
    assert_int_equal(c->r[CPU_SP], 0x10000000 - 32);
}

static void a_bad_stack_on_return_is_unstkerr(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    rig_write(c, ISER, 1);
    cpu_irq_pend(c, 0);
    rig_step(c);
    c->r[CPU_SP] = 0x10000000;
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_BUSFAULT);
    assert_int_equal(rig_read(c, CFSR), 1u << 11);
    assert_int_equal(c->r[CPU_SP], 0x10000000);
    assert_int_equal(c->r[CPU_LR], 0xFFFFFFF9u);
}

static void a_hardfault_that_cannot_stack_is_still_entered(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xDE00);
    c->r[CPU_SP] = 0x10000000;
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_HARDFAULT);
    assert_int_equal(rig_read(c, CFSR), UNDEFINSTR | 1u << 12);
    assert_int_equal(c->r[CPU_PC], RIG_HANDLER(3));
}

static void a_vector_table_out_of_reach(void **state)
{
    RIG;
    c->vtor = 0x10000000;
    RIG_CODE(r, 0, RIG_MAIN, 0xDF00);
    rig_step(c);
    assert_int_equal(rig_read(c, HFSR), 1u << 1);
    assert_true(c->attention & CPU_ATTN_LOCKUP);
}

static void bkpt_halts_or_escalates(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xBE11);
    r->halt_on_bkpt = true;
    rig_step(c);
    assert_int_equal(r->breakpoints, 1);
    assert_int_equal(c->r[CPU_PC], RIG_MAIN);
    assert_int_equal(c->ipsr, 0);
    r->halt_on_bkpt = false;
    rig_step(c);
    expect_fault(r, CPU_EXC_HARDFAULT, 0, RIG_MAIN);
    assert_int_equal(rig_read(c, HFSR), DEBUGEVT);
}

static void bkpt_ignores_the_condition(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0x4280, 0xBF18, 0xBE00); /* CMP r0, r0; IT NE; BKPT */
    r->halt_on_bkpt = true;
    rig_steps(c, 3);
    assert_int_equal(r->breakpoints, 1);
    assert_int_equal(c->r[CPU_PC], RIG_MAIN + 4);
    assert_int_equal(c->it, 0x18);
}

static void unprivileged_code_cannot_reach_the_system_space(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    cpu_set_register(c, 20, 1u << 24);
    RIG_CODE(r, 0, RIG_MAIN, 0xB672, 0xF3EF8108, 0x6001,
             0x6001); /* CPSID i; MRS r1, MSP; STR r1, [r0] twice */
    c->r[0] = STIR;
    c->r[1] = 9;
    rig_step(c);
    assert_int_equal(c->primask, 0);
    rig_step(c);
    assert_int_equal(c->r[1], 0);
    c->ccr |= 2; /* USERSETMPEND */
    c->r[1] = 9;
    rig_step(c);
    assert_int_equal(c->irq_pending, 1u << 9);
    c->ccr &= ~2u;
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_BUSFAULT);
    assert_int_equal(rig_read(c, BFAR), STIR);
    assert_int_equal(c->control, 1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(udf_is_a_usage_fault),
        T(udf_escalates_while_usage_faults_are_disabled),
        T(udf_escalates_when_its_priority_is_too_low),
        T(udf_with_primask_escalates),
        T(a_fault_in_an_it_block_keeps_its_state),
        T(a_failed_condition_passes_over_an_undefined_instruction),
        T(a_fault_in_hardfault_locks_up_and_nmi_gets_out),
        T(a_fault_under_faultmask_locks_up),
        T(an_svc_in_hardfault_locks_up),
        T(coprocessor_instructions_are_nocp),
        T(division_by_zero_traps_only_when_asked),
        T(unaligned_words_work_unless_trapped),
        T(ldm_ldrd_and_exclusives_always_want_alignment),
        T(unaligned_device_accesses_fault),
        T(a_load_from_nowhere_is_a_precise_bus_fault),
        T(a_store_to_flash_is_a_bus_fault_and_escalates),
        T(bfhfnmign_lets_hardfault_probe_memory),
        T(a_multiple_load_that_faults_changes_no_register),
        T(fetching_from_nowhere_and_from_devices),
        T(the_second_half_beyond_the_end_of_memory),
        T(an_even_branch_target_is_invstate),
        T(returns_that_are_not_allowed),
        T(a_return_to_thread_needs_the_last_exception),
        T(a_frame_of_the_other_mode_is_invpc),
        T(an_exc_return_value_in_thread_mode_is_just_an_address),
        T(a_bad_stack_on_entry_is_stkerr),
        T(a_bad_stack_on_return_is_unstkerr),
        T(a_hardfault_that_cannot_stack_is_still_entered),
        T(a_vector_table_out_of_reach),
        T(bkpt_halts_or_escalates),
        T(bkpt_ignores_the_condition),
        T(unprivileged_code_cannot_reach_the_system_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
