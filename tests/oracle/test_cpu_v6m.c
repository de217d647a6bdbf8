/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exception model of an Armv6-M core: HardFault for every fault, four priorities, no masks but PRIMASK,
 * no flags but NZCV. DDI0419E B1.5, B3.2.
 */
#include "core_rig.h"

#include <string.h>

#define RIG                 \
    struct rig *r = *state; \
    struct cpu *c = &r->core[0]

static int setup(void **state)
{
    if (rig_setup(state))
        return -1;
    struct rig *r = *state;
    for (unsigned k = 0; k < 2; k++) {
        r->core[k].architecture = CPU_V6M;
        r->core[k].cpuid = 0x410CC601;
        cpu_reset(&r->core[k]);
    }
    return 0;
}

/* Every kind of fault, at RIG_MAIN from privileged thread mode. r1 is an address in RAM that is no multiple
 * of 4, r2 one where nothing is, r3 an even address, r4 an address of the peripherals. */
static const struct {
    const char *what;
    uint32_t code;
} faults[] = {
    {"UDF", 0xDE00},
    {"UDF.W", 0xF7F0A000},
    {"IT", 0xBF08},
    {"CBZ", 0xB108},
    {"MOVW", 0xF2400001},
    {"LDREX", 0xE8510F00},
    {"UDIV", 0xFBB1F0F1},
    {"CLREX", 0xF3BF8F2F},
    {"B.W", 0xF000B800},
    {"MSR BASEPRI", 0xF3808811},
    {"MSR FAULTMASK", 0xF3808813},
    {"MRS MSPLIM", 0xF3EF800A},
    {"CPSID f", 0xB671},
    {"coprocessor", 0xEE000000},
    {"LDR unaligned", 0x6808},
    {"LDRH unaligned", 0x8808},
    {"STR unaligned", 0x6008},
    {"LDM unaligned", 0xC901},
    {"LDR from nowhere", 0x6810},
    {"BKPT without a debugger", 0xBE00},
};

static void every_fault_is_a_hardfault(void **state)
{
    RIG;
    for (unsigned k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        cpu_reset(c);
        c->r[1] = RIG_RAM + 0x101;
        c->r[2] = 0x60000000;
        RIG_CODE(r, 0, RIG_MAIN, faults[k].code);
        rig_step(c);
        if (c->ipsr != CPU_EXC_HARDFAULT || c->r[CPU_PC] != RIG_HANDLER(3) ||
            rig_word(r, c->r[CPU_SP] + 24) != RIG_MAIN)
            fail_msg("%s: exception %u at %08x", faults[k].what, c->ipsr, c->r[CPU_PC]);
        assert_int_equal(r->entered, CPU_EXC_HARDFAULT);
        /* There is no register that says which. */
        uint32_t value = 1;
        assert_false(cpu_scs_read(c, CFSR, 4, &value, true));
        assert_false(cpu_scs_read(c, HFSR, 4, &value, true));
        assert_int_equal(value, 0);
    }
}

static void a_branch_to_an_even_address_or_to_devices_is_a_hardfault(void **state)
{
    RIG;
    c->r[3] = RIG_MAIN + 8;
    RIG_CODE(r, 0, RIG_MAIN, 0x4718); /* BX r3 */
    rig_steps(c, 2);
    assert_int_equal(c->ipsr, CPU_EXC_HARDFAULT);
    assert_int_equal(rig_word(r, c->r[CPU_SP] + 24), RIG_MAIN + 8);
    cpu_reset(c);
    c->r[3] = 0x40000001;
    rig_steps(c, 2);
    assert_int_equal(c->ipsr, CPU_EXC_HARDFAULT);
}

static void a_fault_in_hardfault_locks_up(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xDE00);
    RIG_CODE(r, 0, RIG_HANDLER(3), 0xDE00);
    rig_steps(c, 2);
    assert_true(c->attention & CPU_ATTN_LOCKUP);
    assert_int_equal(c->r[CPU_PC], 0xFFFFFFFE);
    rig_write(c, ICSR, 1u << 31); /* NMI gets out */
    assert_false(c->attention & CPU_ATTN_LOCKUP);
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_NMI);
}

static void svc_under_primask_is_a_hardfault(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xDF00, 0xB672, 0xDF00);
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_SVCALL);
    assert_int_equal(rig_word(r, c->r[CPU_SP] + 24), RIG_MAIN + 2);
    rig_steps(c, 3);
    assert_int_equal(c->ipsr, CPU_EXC_HARDFAULT);
    assert_int_equal(rig_word(r, c->r[CPU_SP] + 24), RIG_MAIN + 6);
}

static void priorities_have_two_bits_and_words_only(void **state)
{
    RIG;
    rig_write(c, IPR, 0xFF8040C1);
    assert_int_equal(rig_read(c, IPR), 0xC08040C0);
    rig_write(c, SHPR2, 0xFFFFFFFF);
    rig_write(c, SHPR3, 0xFFFFFFFF);
    assert_int_equal(rig_read(c, SHPR2), 0xC0000000); /* SVCall */
    assert_int_equal(rig_read(c, SHPR3), 0xC0C00000); /* SysTick, PendSV; no DebugMonitor */
    assert_false(cpu_bus_write(c, IPR, 1, 0));
    assert_false(cpu_bus_write(c, IPR, 2, 0));
    uint32_t value;
    assert_false(cpu_bus_read(c, IPR, 1, &value));
    assert_int_equal(rig_read(c, IPR), 0xC08040C0);
}

static void a_better_priority_preempts_and_an_equal_one_waits(void **state)
{
    RIG;
    rig_write(c, IPR, 0x00408080);
    rig_write(c, ISER, 7);
    cpu_irq_pend(c, 1);
    rig_step(c);
    assert_int_equal(c->ipsr, RIG_IRQ(1));
    cpu_irq_pend(c, 0);
    assert_false(c->attention & CPU_ATTN_EXCEPTION);
    cpu_irq_pend(c, 2);
    rig_step(c);
    assert_int_equal(c->ipsr, RIG_IRQ(2));
    assert_int_equal(c->r[CPU_LR], 0xFFFFFFF1u);
    rig_step(c);
    assert_int_equal(c->ipsr, RIG_IRQ(1));
    assert_int_equal(rig_step(c), 6); /* tail-chain */
    assert_int_equal(c->ipsr, RIG_IRQ(0));
    rig_step(c);
    assert_int_equal(c->ipsr, 0);
    c->primask = 1;
    cpu_update(c);
    cpu_irq_pend(c, 2);
    assert_false(c->attention & CPU_ATTN_EXCEPTION);
}

static void there_is_no_priority_group(void **state)
{
    RIG;
    rig_write(c, AIRCR, 0x05FA0700);
    assert_int_equal(rig_read(c, AIRCR), 0xFA050000);
    rig_write(c, AIRCR, 0x05FA0001); /* VECTRESET */
    assert_int_equal(r->resets, 0);
    rig_write(c, AIRCR, 0x05FA0004);
    assert_int_equal(r->resets, 1);
}

static void xpsr_has_no_q_no_ge_and_no_it(void **state)
{
    RIG;
    cpu_set_xpsr(c, 0xFF0FFC00);
    assert_int_equal(cpu_xpsr(c), 0xF1000000);
    RIG_CODE(r, 0, RIG_MAIN, 0xF3818800, 0xF3EF8200); /* MSR APSR, r1; MRS r2, APSR */
    c->r[1] = 0xF80F0000;
    rig_steps(c, 2);
    assert_int_equal(c->r[2], 0xF0000000);
    /* And a return does not bring them. */
    rig_write(c, ISER, 1);
    cpu_irq_pend(c, 0);
    rig_step(c);
    rig_write(c, c->r[CPU_SP] + 28, 0xFF0FFC00);
    rig_step(c);
    assert_int_equal(cpu_xpsr(c), 0xF1000000);
}

static void the_stack_is_always_aligned(void **state)
{
    RIG;
    rig_write(c, CCR, 0);
    assert_int_equal(rig_read(c, CCR), 0x208);
    rig_write(c, ISER, 1);
    c->r[CPU_SP] = RIG_STACK - 4;
    cpu_irq_pend(c, 0);
    rig_step(c);
    assert_int_equal(c->r[CPU_SP], RIG_STACK - 40);
    rig_step(c);
    assert_int_equal(c->r[CPU_SP], RIG_STACK - 4);
}

static void a_bad_return_is_a_hardfault(void **state)
{
    RIG;
    rig_write(c, ISER, 1);
    cpu_irq_pend(c, 0);
    rig_step(c);
    c->r[CPU_LR] = 0xFFFFFFB8;
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_HARDFAULT);
}

static void a_vector_out_of_reach_locks_up_or_is_a_hardfault(void **state)
{
    RIG;
    rig_write(c, ISER, 1);
    rig_write(c, VTOR, 0x60000000);
    cpu_irq_pend(c, 0);
    rig_step(c);
    assert_true(c->attention & CPU_ATTN_LOCKUP); /* the HardFault's vector is there too */
    cpu_reset(c);
    rig_write(c, VTOR, RIG_FLASH_SIZE - 0x40); /* the table ends at the end of the flash */
    uint32_t handler = RIG_HANDLER(3) | 1u;
    memcpy(r->flash[0] + (RIG_FLASH_SIZE & ~0x7Fu) - 0x80 + 12, &handler, 4);
    rig_write(c, VTOR, RIG_FLASH_SIZE - 0x80);
    rig_write(c, ISER, 1u << 31);
    cpu_irq_pend(c, 31);
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_HARDFAULT);
    assert_int_equal(c->r[CPU_PC], RIG_HANDLER(3));
}

static void shcsr_holds_only_the_pending_svcall(void **state)
{
    RIG;
    rig_write(c, SHCSR, 0xFFFFFFFF);
    assert_int_equal(rig_read(c, SHCSR), 1u << 15);
    assert_true(c->attention & CPU_ATTN_EXCEPTION);
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_SVCALL);
    assert_int_equal(rig_read(c, SHCSR), 0); /* active, which it does not show */
    assert_int_equal(rig_read(c, ICSR) & 0x1FF, CPU_EXC_SVCALL);
    assert_int_equal(rig_read(c, ICSR) & 1u << 11, 0); /* no RETTOBASE */
}

static void sleep_and_systick_are_those_of_the_others(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xBF30, 0xBF00);
    rig_write(c, SYST_RVR, 9);
    rig_write(c, SYST_CVR, 0);
    rig_write(c, SYST_CSR, 3);
    rig_step(c);
    assert_true(c->attention & CPU_ATTN_SLEEP);
    c->cycles = c->next_event;
    cpu_timed_event(c);
    assert_false(c->attention & CPU_ATTN_SLEEP);
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_SYSTICK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_fault_is_a_hardfault),
        TEST(a_branch_to_an_even_address_or_to_devices_is_a_hardfault),
        TEST(a_fault_in_hardfault_locks_up),
        TEST(svc_under_primask_is_a_hardfault),
        TEST(priorities_have_two_bits_and_words_only),
        TEST(a_better_priority_preempts_and_an_equal_one_waits),
        TEST(there_is_no_priority_group),
        TEST(xpsr_has_no_q_no_ge_and_no_it),
        TEST(the_stack_is_always_aligned),
        TEST(a_bad_return_is_a_hardfault),
        TEST(a_vector_out_of_reach_locks_up_or_is_a_hardfault),
        TEST(shcsr_holds_only_the_pending_svcall),
        TEST(sleep_and_systick_are_those_of_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
