/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exceptions of the core: frames, priorities, masks, tail-chaining, SVC, PendSV, SysTick, NVIC. DDI0403E
 * B1.5, B3.
 */
#include "core_rig.h"

#define RIG                 \
    struct rig *r = *state; \
    struct cpu *c = &r->core[0]

static void irq_on(struct cpu *c, unsigned irq, uint8_t priority)
{
    rig_write(c, ISER, 1u << irq);
    assert_true(cpu_bus_write(c, IPR + irq, 1, priority));
}

static void entry_stacks_eight_words_and_return_unstacks_them(void **state)
{
    RIG;
    static const uint32_t before[6] = {10, 11, 12, 13, 22, 0x55555555};

    for (unsigned k = 0; k < 4; k++)
        c->r[k] = before[k];
    c->r[12] = before[4];
    c->r[14] = before[5];
    cpu_set_xpsr(c, 0xF9000000u | 0x000F0000u);
    irq_on(c, 3, 0x40);
    cpu_irq_pend(c, 3);
    assert_true(c->attention & CPU_ATTN_EXCEPTION);
    assert_int_equal(rig_step(c), 12);
    assert_int_equal(c->r[CPU_PC], RIG_HANDLER(RIG_IRQ(3)));
    assert_int_equal(c->ipsr, RIG_IRQ(3));
    assert_int_equal(c->r[CPU_LR], 0xFFFFFFF9u);
    assert_int_equal(c->r[CPU_SP], RIG_STACK - 32);
    for (unsigned k = 0; k < 6; k++)
        assert_int_equal(rig_word(r, RIG_STACK - 32 + 4 * k), before[k]);
    assert_int_equal(rig_word(r, RIG_STACK - 8), RIG_MAIN);
    assert_int_equal(rig_word(r, RIG_STACK - 4), 0xF90F0000u);
    assert_int_equal(r->entered, RIG_IRQ(3));
    assert_int_equal(rig_read(c, IABR), 8);
    assert_int_equal(rig_read(c, ISPR), 0);
    for (unsigned k = 0; k < 4; k++)
        c->r[k] = 0;
    assert_int_equal(rig_step(c), 10);
    for (unsigned k = 0; k < 4; k++)
        assert_int_equal(c->r[k], before[k]);
    assert_int_equal(c->r[12], before[4]);
    assert_int_equal(c->r[14], before[5]);
    assert_int_equal(c->r[CPU_PC], RIG_MAIN);
    assert_int_equal(c->r[CPU_SP], RIG_STACK);
    assert_int_equal(cpu_xpsr(c), 0xF90F0000u);
    assert_int_equal(rig_read(c, IABR), 0);
}

static void stack_is_aligned_to_eight_unless_stkalign_is_clear(void **state)
{
    RIG;
    irq_on(c, 0, 0);
    c->r[CPU_SP] = RIG_STACK - 4;
    cpu_irq_pend(c, 0);
    rig_step(c);
    assert_int_equal(c->r[CPU_SP], RIG_STACK - 40);
    assert_int_equal(rig_word(r, RIG_STACK - 40 + 28), 1u << 24 | 1u << 9);
    rig_step(c);
    assert_int_equal(c->r[CPU_SP], RIG_STACK - 4);
    rig_write(c, CCR, 0);
    cpu_irq_pend(c, 0);
    rig_step(c);
    assert_int_equal(c->r[CPU_SP], RIG_STACK - 36);
    assert_int_equal(rig_word(r, RIG_STACK - 36 + 28), 1u << 24);
    rig_step(c);
    assert_int_equal(c->r[CPU_SP], RIG_STACK - 4);
}

static void thread_on_psp_is_stacked_there_and_the_handler_runs_on_msp(void **state)
{
    RIG;
    irq_on(c, 0, 0);
    cpu_set_register(c, 18, RIG_RAM + 0x1000);
    cpu_set_register(c, 20, 2u << 24);
    assert_int_equal(c->r[CPU_SP], RIG_RAM + 0x1000);
    cpu_irq_pend(c, 0);
    rig_step(c);
    assert_int_equal(c->r[CPU_LR], 0xFFFFFFFDu);
    assert_int_equal(c->r[CPU_SP], RIG_STACK);
    assert_int_equal(cpu_get_register(c, 18), RIG_RAM + 0x1000 - 32);
    assert_int_equal(c->control, 0);
    assert_int_equal(rig_word(r, RIG_RAM + 0x1000 - 8), RIG_MAIN);
    rig_step(c);
    assert_int_equal(c->r[CPU_SP], RIG_RAM + 0x1000);
    assert_int_equal(cpu_get_register(c, 17), RIG_STACK);
    assert_int_equal(c->control, 2);
}

static void lower_number_wins_and_only_a_better_priority_preempts(void **state)
{
    RIG;
    irq_on(c, 1, 0x80);
    irq_on(c, 2, 0x80);
    irq_on(c, 3, 0x40);
    rig_write(c, ISPR, 6);
    rig_step(c);
    assert_int_equal(c->ipsr, RIG_IRQ(1));
    assert_false(c->attention & CPU_ATTN_EXCEPTION); /* an equal one waits */
    cpu_irq_pend(c, 3);
    assert_true(c->attention & CPU_ATTN_EXCEPTION);
    rig_step(c);
    assert_int_equal(c->ipsr, RIG_IRQ(3));
    assert_int_equal(c->r[CPU_LR], 0xFFFFFFF1u);
    assert_int_equal(rig_step(c), 10); /* back to handler 1, not to 2 */
    assert_int_equal(c->ipsr, RIG_IRQ(1));
    assert_int_equal(rig_step(c), 6); /* tail-chain to 2 */
    assert_int_equal(c->ipsr, RIG_IRQ(2));
    assert_int_equal(c->r[CPU_LR], 0xFFFFFFF9u);
    assert_int_equal(c->r[CPU_SP], RIG_STACK - 32);
    assert_int_equal(rig_step(c), 10);
    assert_int_equal(c->ipsr, 0);
    assert_int_equal(c->r[CPU_PC], RIG_MAIN);
}

static void subpriority_orders_but_does_not_preempt(void **state)
{
    RIG;
    rig_write(c, AIRCR, 0x05FA0500); /* PRIGROUP 5: two bits of group, two of subpriority */
    irq_on(c, 1, 0x50);
    irq_on(c, 2, 0x40);
    irq_on(c, 3, 0x30);
    cpu_irq_pend(c, 1);
    rig_step(c);
    cpu_irq_pend(c, 2);
    assert_false(c->attention & CPU_ATTN_EXCEPTION);
    cpu_irq_pend(c, 3);
    assert_true(c->attention & CPU_ATTN_EXCEPTION);
    rig_step(c);
    assert_int_equal(c->ipsr, RIG_IRQ(3));
    rig_step(c);
    rig_write(c, ISPR, 1u << 1);
    assert_int_equal(rig_step(c), 6);
    assert_int_equal(c->ipsr, RIG_IRQ(2)); /* the better subpriority, though 1 has the lower number */
    rig_write(c, AIRCR, 0x00000300);       /* no key: nothing changes */
    assert_int_equal(rig_read(c, AIRCR), 0xFA050500);
}

static void primask_basepri_and_faultmask_mask(void **state)
{
    RIG;
    irq_on(c, 1, 0x80);
    cpu_irq_pend(c, 1);
    c->primask = 1;
    cpu_update(c);
    assert_false(c->attention & CPU_ATTN_EXCEPTION);
    c->primask = 0;
    c->basepri = 0x80;
    cpu_update(c);
    assert_false(c->attention & CPU_ATTN_EXCEPTION);
    c->basepri = 0x90;
    cpu_update(c);
    assert_true(c->attention & CPU_ATTN_EXCEPTION);
    c->basepri = 0;
    c->faultmask = 1;
    cpu_update(c);
    assert_false(c->attention & CPU_ATTN_EXCEPTION);
    rig_write(c, ICSR, 1u << 31); /* NMI passes even that */
    assert_true(c->attention & CPU_ATTN_EXCEPTION);
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_NMI);
    rig_step(c);
    assert_int_equal(c->faultmask, 1); /* NMI's return leaves it; any other's clears it */
}

static void faultmask_is_cleared_by_a_return(void **state)
{
    RIG;
    irq_on(c, 1, 0x80);
    cpu_irq_pend(c, 1);
    rig_step(c);
    RIG_CODE(r, 0, RIG_HANDLER(RIG_IRQ(1)), 0xB671, 0x4770); /* CPSID f; BX LR */
    rig_step(c);
    assert_int_equal(c->faultmask, 1);
    rig_step(c);
    assert_int_equal(c->faultmask, 0);
    assert_int_equal(c->ipsr, 0);
}

static void basepri_max_only_raises(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xF3808812, 0xF3818812, 0xF3828812,
             0xF3EF8312); /* MSR BASEPRI_MAX, r0..r2; MRS r3 */
    c->r[0] = 0x60;
    c->r[1] = 0x80;
    c->r[2] = 0x40;
    rig_step(c);
    assert_int_equal(c->basepri, 0x60);
    rig_step(c);
    assert_int_equal(c->basepri, 0x60);
    rig_steps(c, 2);
    assert_int_equal(c->r[3], 0x40);
}

static void svc_returns_behind_itself_and_pendsv_follows_by_tail_chain(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xDF05);
    rig_write(c, SHPR3, 0x00F00000); /* PendSV last */
    assert_int_equal(rig_step(c), 13);
    assert_int_equal(c->ipsr, CPU_EXC_SVCALL);
    assert_int_equal(rig_word(r, c->r[CPU_SP] + 24), RIG_MAIN + 2);
    assert_int_equal(rig_read(c, SHCSR), 1u << 7);
    rig_write(c, ICSR, 1u << 28);
    assert_int_equal(rig_read(c, ICSR), 1u << 28 | CPU_EXC_PENDSV << 12 | 1u << 11 | CPU_EXC_SVCALL);
    assert_int_equal(rig_step(c), 6);
    assert_int_equal(c->ipsr, CPU_EXC_PENDSV);
    assert_int_equal(rig_step(c), 10);
    assert_int_equal(c->r[CPU_PC], RIG_MAIN + 2);
    rig_write(c, ICSR, 1u << 28);
    rig_write(c, ICSR, 1u << 27);
    assert_int_equal(rig_read(c, ICSR), 1u << 11);
}

static void svc_that_cannot_preempt_escalates(void **state)
{
    RIG;
    irq_on(c, 1, 0x00);
    RIG_CODE(r, 0, RIG_HANDLER(RIG_IRQ(1)), 0xDF00);
    cpu_irq_pend(c, 1);
    rig_step(c);
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_HARDFAULT);
    assert_int_equal(rig_read(c, HFSR), 1u << 30);
    assert_int_equal(rig_read(c, CFSR), 0);
}

static void late_arrival_is_taken_instead(void **state)
{
    RIG;
    irq_on(c, 5, 0x80);
    irq_on(c, 6, 0x40);
    cpu_irq_pend(c, 5);
    cpu_irq_pend(c, 6); /* before the entry of 5 began */
    rig_step(c);
    assert_int_equal(c->ipsr, RIG_IRQ(6));
    rig_step(c);
    assert_int_equal(c->ipsr, RIG_IRQ(5));
}

static void a_level_that_stays_high_pends_again(void **state)
{
    RIG;
    irq_on(c, 4, 0);
    cpu_irq_level(c, 4, true);
    rig_step(c);
    assert_int_equal(rig_read(c, ISPR), 0); /* active, not pending */
    assert_int_equal(rig_step(c), 6);       /* still high on return: again */
    assert_int_equal(c->ipsr, RIG_IRQ(4));
    cpu_irq_level(c, 4, false);
    assert_int_equal(rig_step(c), 10);
    assert_int_equal(c->ipsr, 0);
    rig_write(c, ICER, 1u << 4);
    cpu_irq_level(c, 4, true);
    rig_write(c, ICPR, 1u << 4);
    assert_int_equal(rig_read(c, ISPR), 1u << 4); /* cannot be cleared while the line is high */
    cpu_irq_level(c, 4, false);
    assert_int_equal(rig_read(c, ISPR), 1u << 4); /* latched */
    rig_write(c, ICPR, 1u << 4);
    assert_int_equal(rig_read(c, ISPR), 0);
}

static void a_disabled_line_is_pending_but_not_taken(void **state)
{
    RIG;
    rig_write(c, STIR, 7);
    assert_int_equal(rig_read(c, ISPR), 1u << 7);
    assert_false(c->attention & CPU_ATTN_EXCEPTION);
    assert_int_equal(rig_read(c, ICSR), 1u << 22 | 1u << 11);
    rig_write(c, ISER, 1u << 7);
    assert_true(c->attention & CPU_ATTN_EXCEPTION);
}

static void priorities_have_four_bits_and_byte_access(void **state)
{
    RIG;
    uint32_t v = 0;

    rig_write(c, IPR + 28, 0xFFEF1F0F);
    assert_int_equal(rig_read(c, IPR + 28), 0xF0E01000);
    assert_true(cpu_bus_read(c, IPR + 30, 1, &v));
    assert_int_equal(v, 0xE0);
    assert_int_equal(rig_read(c, IPR + 32), 0);
    rig_write(c, SHPR1, 0xFFFFFFFF);
    rig_write(c, SHPR2, 0xFFFFFFFF);
    rig_write(c, SHPR3, 0xFFFFFFFF);
    assert_int_equal(rig_read(c, SHPR1), 0x00F0F0F0);
    assert_int_equal(rig_read(c, SHPR2), 0xF0000000);
    assert_int_equal(rig_read(c, SHPR3), 0xF0F000F0);
}

static void c_maskints_holds_pendsv_systick_and_lines_back(void **state)
{
    RIG;
    irq_on(c, 0, 0);
    c->mask_ints = true;
    cpu_irq_pend(c, 0);
    rig_write(c, ICSR, 1u << 28 | 1u << 26);
    cpu_update(c);
    assert_false(c->attention & CPU_ATTN_EXCEPTION);
    RIG_CODE(r, 0, RIG_MAIN, 0xDF00);
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_SVCALL);
    c->mask_ints = false;
    cpu_update(c);
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_PENDSV);
}

static void systick_counts_and_pends(void **state)
{
    RIG;
    rig_write(c, SYST_RVR, 9);
    rig_write(c, SYST_CVR, 1234);
    assert_int_equal(c->next_event, UINT64_MAX);
    rig_write(c, SYST_CSR, 3);
    assert_int_equal(c->next_event, c->cycles + 10);
    assert_int_equal(rig_read(c, SYST_CVR), 0);
    rig_steps(c, 1);
    assert_int_equal(rig_read(c, SYST_CVR), 9);
    rig_steps(c, 4);
    assert_int_equal(rig_read(c, SYST_CVR), 5);
    rig_steps(c, 5);
    assert_int_equal(c->next_event, c->cycles);
    cpu_timed_event(c);
    assert_int_equal(c->next_event, c->cycles + 10);
    assert_int_equal(rig_read(c, SYST_CSR), 0x10007);
    assert_int_equal(rig_read(c, SYST_CSR), 0x7); /* reading clears COUNTFLAG */
    assert_true(c->attention & CPU_ATTN_EXCEPTION);
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_SYSTICK);
    rig_write(c, SYST_CSR, 0);
    assert_int_equal(c->next_event, UINT64_MAX);
}

static void systick_without_tickint_only_sets_countflag(void **state)
{
    RIG;
    rig_write(c, SYST_RVR, 3);
    rig_write(c, SYST_CSR, 1);
    c->cycles += 103; /* many periods of four at once */
    assert_true(c->next_event <= c->cycles);
    cpu_timed_event(c);
    assert_true(c->next_event > c->cycles);
    assert_false(c->attention & CPU_ATTN_EXCEPTION);
    assert_int_equal(rig_read(c, SYST_CVR), 1); /* 103 = 25 periods and 3 cycles: 0, 3, 2, 1 */
    assert_int_equal(rig_read(c, SYST_CSR), 0x10005);
}

static void an_exception_inside_an_it_block_resumes_it(void **state)
{
    RIG;
    irq_on(c, 0, 0);
    /* CMP r0, r0; ITTE EQ; MOVEQ r1, #1; MOVEQ r2, #2; MOVNE r3, #3 */
    RIG_CODE(r, 0, RIG_MAIN, 0x4280, 0xBF06, 0x2101, 0x2202, 0x2303);
    rig_steps(c, 3);
    assert_int_equal(c->r[1], 1);
    assert_int_equal(c->it, 0x0C);
    assert_int_equal(cpu_xpsr(c) & 0x0600FC00u, 0x0C00u);
    cpu_irq_pend(c, 0);
    rig_step(c);
    assert_int_equal(c->it, 0);
    rig_step(c);
    assert_int_equal(c->it, 0x0C);
    rig_step(c);
    assert_int_equal(c->r[2], 2);
    assert_int_equal(c->it, 0x18);
    rig_step(c);
    assert_int_equal(c->r[3], 0);
    assert_int_equal(c->it, 0);
    assert_int_equal(c->r[CPU_PC], RIG_MAIN + 10);
    assert_int_equal(c->z, 1); /* MOV in an IT block leaves the flags alone */
}

static void reset_requests_need_the_key(void **state)
{
    RIG;
    rig_write(c, AIRCR, 4);
    assert_int_equal(r->resets, 0);
    rig_write(c, AIRCR, 0x05FA0004);
    assert_int_equal(r->resets, 1);
    rig_write(c, AIRCR, 0x05FA0001);
    assert_int_equal(r->resets, 2);
}

static void vtor_moves_the_table(void **state)
{
    RIG;
    rig_write(c, RIG_RAM + 0x200 + 4 * 14, RIG_HANDLER(30) | 1u);
    rig_write(c, VTOR, RIG_RAM + 0x27F); /* the low seven bits do not exist */
    assert_int_equal(rig_read(c, VTOR), RIG_RAM + 0x200);
    rig_write(c, ICSR, 1u << 28);
    rig_step(c);
    assert_int_equal(c->r[CPU_PC], RIG_HANDLER(30));
}

static void identification_is_an_m7_without_fpu(void **state)
{
    RIG;
    assert_int_equal(rig_read(c, 0xE000ED00), 0x411FC272);
    assert_int_equal(rig_read(c, 0xE000ED88), 0);
    for (uint32_t k = 0; k < 12; k += 4)
        assert_int_equal(rig_read(c, 0xE000EF40 + k), 0);
    rig_write(c, 0xE000ED88, 0x00F00000);
    assert_int_equal(rig_read(c, 0xE000ED88), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(entry_stacks_eight_words_and_return_unstacks_them),
        T(stack_is_aligned_to_eight_unless_stkalign_is_clear),
        T(thread_on_psp_is_stacked_there_and_the_handler_runs_on_msp),
        T(lower_number_wins_and_only_a_better_priority_preempts),
        T(subpriority_orders_but_does_not_preempt),
        T(primask_basepri_and_faultmask_mask),
        T(faultmask_is_cleared_by_a_return),
        T(basepri_max_only_raises),
        T(svc_returns_behind_itself_and_pendsv_follows_by_tail_chain),
        T(svc_that_cannot_preempt_escalates),
        T(late_arrival_is_taken_instead),
        T(a_level_that_stays_high_pends_again),
        T(a_disabled_line_is_pending_but_not_taken),
        T(priorities_have_four_bits_and_byte_access),
        T(c_maskints_holds_pendsv_systick_and_lines_back),
        T(systick_counts_and_pends),
        T(systick_without_tickint_only_sets_countflag),
        T(an_exception_inside_an_it_block_resumes_it),
        T(reset_requests_need_the_key),
        T(vtor_moves_the_table),
        T(identification_is_an_m7_without_fpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
