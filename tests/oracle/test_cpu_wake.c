/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleep and wake-up, the event register, exclusives between two cores, watching. DDI0403E B1.5.17 to B1.5.19,
 * A3.4.
 */
#include "core_rig.h"

#define RIG                 \
    struct rig *r = *state; \
    struct cpu *c = &r->core[0]

static bool asleep(const struct cpu *c)
{
    return (c->attention & CPU_ATTN_SLEEP) != 0;
}

static void wfi_sleeps_until_an_interrupt_that_is_then_taken(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xBF30);
    rig_write(c, ISER, 2);
    rig_step(c);
    assert_true(asleep(c));
    cpu_irq_pend(c, 0); /* not enabled */
    assert_true(asleep(c));
    cpu_set_event(c); /* events are nothing to WFI */
    assert_true(asleep(c));
    cpu_irq_pend(c, 1);
    assert_false(asleep(c));
    rig_step(c);
    assert_int_equal(c->ipsr, RIG_IRQ(1));
    assert_int_equal(rig_word(r, c->r[CPU_SP] + 24), RIG_MAIN + 2);
}

static void wfi_under_primask_wakes_without_taking(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xB672, 0xBF30, 0x2105); /* CPSID i; WFI; MOVS r1, #5 */
    rig_write(c, ISER, 2);
    rig_steps(c, 2);
    assert_true(asleep(c));
    cpu_irq_pend(c, 1);
    assert_false(asleep(c));
    assert_false(c->attention & CPU_ATTN_EXCEPTION);
    rig_step(c);
    assert_int_equal(c->r[1], 5);
    assert_int_equal(c->ipsr, 0);
}

static void wfi_under_basepri_stays_asleep_for_what_it_masks(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xBF30);
    rig_write(c, ISER, 6);
    rig_write(c, IPR, 0x00408000);
    c->basepri = 0x80;
    rig_step(c);
    cpu_irq_pend(c, 1);
    assert_true(asleep(c));
    cpu_irq_pend(c, 2);
    assert_false(asleep(c));
}

static void wfi_with_something_pending_does_not_sleep(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xBF30);
    rig_write(c, ISER, 2);
    c->primask = 1;
    cpu_irq_pend(c, 1);
    rig_step(c);
    assert_false(asleep(c));
}

static void wfe_uses_up_the_event(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xBF40, 0xBF20, 0xBF20); /* SEV; WFE; WFE */
    rig_step(c);
    assert_true(c->event);
    assert_true(r->core[1].event); /* both cores see it */
    rig_step(c);
    assert_false(asleep(c));
    assert_false(c->event);
    rig_step(c);
    assert_true(asleep(c));
    cpu_set_event(c);
    assert_false(asleep(c));
    assert_false(c->event);
}

static void sev_of_one_core_wakes_the_other(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xBF20);
    RIG_CODE(r, 1, RIG_MAIN, 0xBF40);
    rig_step(c);
    assert_true(asleep(c));
    rig_step(&r->core[1]);
    assert_false(asleep(c));
    assert_true(r->core[1].event); /* its own event register was set too */
}

static void wfe_does_not_wake_for_masked_interrupts_but_with_sevonpend(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xBF20, 0xBF20);
    c->primask = 1;
    rig_write(c, ISER, 2);
    rig_step(c);
    cpu_irq_pend(c, 1);
    assert_true(asleep(c));
    rig_write(c, ICPR, 2);
    rig_write(c, SCR, 0x10);
    cpu_irq_pend(c, 5); /* SEVONPEND: even a disabled one */
    assert_false(asleep(c));
    rig_step(c);
    assert_true(asleep(c));
    cpu_irq_pend(c, 5); /* already pending: no event */
    assert_true(asleep(c));
}

static void exception_entry_and_return_set_the_event(void **state)
{
    RIG;
    rig_write(c, ISER, 1);
    cpu_irq_pend(c, 0);
    rig_step(c);
    assert_true(c->event);
    c->event = false;
    rig_step(c);
    assert_true(c->event);
}

static void sleeponexit_sleeps_on_return_to_thread(void **state)
{
    RIG;
    rig_write(c, SCR, 2);
    rig_write(c, ISER, 3);
    rig_write(c, ISPR, 3);
    rig_step(c);
    assert_int_equal(rig_step(c), 6); /* the second first */
    assert_false(asleep(c));
    rig_step(c);
    assert_int_equal(c->ipsr, 0);
    assert_true(asleep(c));
    assert_int_equal(c->r[CPU_PC], RIG_MAIN);
    cpu_irq_pend(c, 0);
    assert_false(asleep(c));
}

static void systick_wakes(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xBF30);
    rig_write(c, SYST_RVR, 99);
    rig_write(c, SYST_CSR, 3);
    rig_step(c);
    assert_true(asleep(c));
    c->cycles = c->next_event;
    cpu_timed_event(c);
    assert_false(asleep(c));
}

/* LDREX r1, [r0]; STREX r2, r3, [r0] for both cores. */
static void exclusive_code(struct rig *r)
{
    for (unsigned k = 0; k < 2; k++) {
        RIG_CODE(r, k, RIG_MAIN, 0xE8501F00, 0xE8403200, 0xE8501F00, 0xE8403200);
        r->core[k].r[0] = RIG_RAM + 0x100;
        r->core[k].r[2] = 77;
        r->core[k].r[3] = 100 + k;
    }
}

static void only_one_core_wins_an_exclusive(void **state)
{
    RIG;
    struct cpu *d = &r->core[1];

    exclusive_code(r);
    rig_step(c);
    rig_step(d);
    rig_step(d);
    rig_step(c);
    assert_int_equal(d->r[2], 0);
    assert_int_equal(c->r[2], 1);
    assert_int_equal(rig_word(r, RIG_RAM + 0x100), 101);
    rig_steps(c, 2); /* the second try */
    assert_int_equal(c->r[2], 0);
    assert_int_equal(c->r[1], 101);
    assert_int_equal(rig_word(r, RIG_RAM + 0x100), 100);
}

static void a_to_b_to_a_is_seen(void **state)
{
    RIG;
    exclusive_code(r);
    rig_step(c);
    RIG_CODE(r, 1, RIG_MAIN, 0x6003, 0x6004); /* STR r3, [r0]; STR r4, [r0] */
    r->core[1].r[4] = 0;
    rig_steps(&r->core[1], 2);
    assert_int_equal(rig_word(r, RIG_RAM + 0x100), 0);
    rig_step(c);
    assert_int_equal(c->r[2], 1);
}

static void stores_elsewhere_leave_the_tag(void **state)
{
    RIG;
    exclusive_code(r);
    rig_step(c);
    RIG_CODE(r, 1, RIG_MAIN, 0x6003);
    r->core[1].r[0] += 8; /* the next granule */
    rig_step(&r->core[1]);
    rig_step(c);
    assert_int_equal(c->r[2], 0);
}

static void a_byte_store_and_a_multiple_store_to_the_granule_count(void **state)
{
    static const uint32_t code[] = {0x70C3, 0xC018, 0xE9C03400, 0x8083, 0xB408};

    for (unsigned k = 0; k < sizeof code / sizeof code[0]; k++) {
        RIG;
        cpu_reset(c);
        cpu_reset(&r->core[1]);
        exclusive_code(r);
        rig_step(c);
        rig_code(r, 1, RIG_MAIN, 1, &code[k]);
        r->core[1].r[CPU_SP] = RIG_RAM + 0x104;
        rig_step(&r->core[1]);
        rig_step(c);
        assert_int_equal(c->r[2], 1);
    }
}

static void an_unaligned_store_counts_in_both_granules(void **state)
{
    for (uint32_t offset = 0; offset < 2; offset++) {
        RIG;
        cpu_reset(c);
        cpu_reset(&r->core[1]);
        exclusive_code(r);
        c->r[0] = RIG_RAM + 0x100 + 8 * offset;
        rig_step(c);
        RIG_CODE(r, 1, RIG_MAIN, 0x6003);
        r->core[1].r[0] = RIG_RAM + 0x106;
        rig_step(&r->core[1]);
        rig_step(c);
        assert_int_equal(c->r[2], 1);
    }
}

static void the_debugger_s_store_clears_the_tag(void **state)
{
    RIG;
    exclusive_code(r);
    rig_step(c);
    rig_write(c, RIG_RAM + 0x104, 5);
    rig_step(c);
    assert_int_equal(c->r[2], 1);
}

static void exceptions_and_clrex_clear_the_tag(void **state)
{
    RIG;
    exclusive_code(r);
    rig_write(c, ISER, 1);
    rig_step(c);
    cpu_irq_pend(c, 0);
    rig_steps(c, 2);
    rig_step(c);
    assert_int_equal(c->r[2], 1);
    RIG_CODE(r, 0, RIG_MAIN + 8, 0xE8501F00, 0xF3BF8F2F, 0xE8403200);
    rig_steps(c, 3);
    assert_int_equal(c->r[2], 1);
}

static void watching_sees_every_data_access(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0x6001, 0x7801, 0xC806, 0xB403, 0xBF00);
    c->r[0] = RIG_RAM + 0x40;
    rig_step(c);
    assert_int_equal(r->accesses, 0);
    c->r[CPU_PC] = RIG_MAIN;
    c->watch = true;
    rig_step(c);
    assert_int_equal(r->accesses, 1);
    assert_int_equal(r->accessed, RIG_RAM + 0x40);
    rig_step(c);
    assert_int_equal(r->accesses, 2);
    rig_step(c);
    assert_int_equal(r->accesses, 4);
    assert_int_equal(r->accessed, RIG_RAM + 0x44);
    rig_step(c);
    assert_int_equal(r->accesses, 6);
    rig_step(c);
    assert_int_equal(r->accesses, 6);
}

#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(wfi_sleeps_until_an_interrupt_that_is_then_taken),
        T(wfi_under_primask_wakes_without_taking),
        T(wfi_under_basepri_stays_asleep_for_what_it_masks),
        T(wfi_with_something_pending_does_not_sleep),
        T(wfe_uses_up_the_event),
        T(sev_of_one_core_wakes_the_other),
        T(wfe_does_not_wake_for_masked_interrupts_but_with_sevonpend),
        T(exception_entry_and_return_set_the_event),
        T(sleeponexit_sleeps_on_return_to_thread),
        T(systick_wakes),
        T(only_one_core_wins_an_exclusive),
        T(a_to_b_to_a_is_seen),
        T(stores_elsewhere_leave_the_tag),
        T(a_byte_store_and_a_multiple_store_to_the_granule_count),
        T(an_unaligned_store_counts_in_both_granules),
        T(the_debugger_s_store_clears_the_tag),
        T(exceptions_and_clrex_clear_the_tag),
        T(watching_sees_every_data_access),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
