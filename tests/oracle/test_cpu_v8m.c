/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an Armv8-M core without the security extension does otherwise than an Armv7-M one: EXC_RETURN, stack
 * limits, TT, acquire and release. DDI0553 B3.18 to B3.22, C2.
 */
#include "core_rig.h"

#include <string.h>

#define RIG                 \
    struct rig *r = *state; \
    struct cpu *c = &r->core[0]

#define INVPC     (1u << 18)
#define STKOF     (1u << 20)
#define UNALIGNED (1u << 24)
#define FORCED    (1u << 30)

#define LIMIT (RIG_STACK - 0x100u)

static int setup(void **state)
{
    if (rig_setup(state))
        return -1;
    struct rig *r = *state;
    for (unsigned k = 0; k < 2; k++) {
        r->core[k].architecture = CPU_V8M;
        r->core[k].cpuid = 0x410FD214;
        cpu_reset(&r->core[k]);
    }
    return 0;
}

static void exc_return_tells_mode_and_stack(void **state)
{
    RIG;
    rig_write(c, ISER, 3);
    rig_write(c, IPR, 0x00000080);
    cpu_irq_pend(c, 0);
    rig_step(c);
    assert_int_equal(c->r[CPU_LR], 0xFFFFFFB8u);
    cpu_irq_pend(c, 1);
    rig_step(c);
    assert_int_equal(c->r[CPU_LR], 0xFFFFFFB0u);
    rig_step(c);
    assert_int_equal(c->ipsr, RIG_IRQ(0));
    rig_step(c);
    assert_int_equal(c->ipsr, 0);
    assert_int_equal(c->r[CPU_SP], RIG_STACK);
    cpu_set_register(c, 18, RIG_RAM + 0x1000);
    cpu_set_register(c, 20, 2u << 24);
    cpu_irq_pend(c, 0);
    rig_step(c);
    assert_int_equal(c->r[CPU_LR], 0xFFFFFFBCu);
    assert_int_equal(c->r[CPU_SP], RIG_STACK);
    rig_step(c);
    assert_int_equal(c->r[CPU_SP], RIG_RAM + 0x1000);
    assert_int_equal(c->control, 2);
}

/* S, ES and a cleared DCRS speak of a secure state; the values of Armv7-M have ES and S set. */
static void other_exc_return_values_are_invpc(void **state)
{
    RIG;
    static const uint32_t bad[] = {0xFFFFFFF9, 0xFFFFFFF1, 0xFFFFFFFD, 0xFFFFFF98, 0xFFFFFFB9,
                                   0xFFFFFFF8, 0xFFFFFFBA, 0xFF0000B8, 0xFFFFFFB4};
    for (unsigned k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        cpu_reset(c);
        rig_write(c, SHCSR, FAULTS_ON);
        rig_write(c, ISER, 1);
        rig_write(c, IPR, 0x80);
        cpu_irq_pend(c, 0);
        rig_step(c);
        c->r[CPU_LR] = bad[k];
        rig_step(c);
        if (c->ipsr != CPU_EXC_USAGEFAULT || rig_read(c, CFSR) != INVPC)
            fail_msg("%08x: exception %u, CFSR %08x", bad[k], c->ipsr, rig_read(c, CFSR));
    }
}

static void an_address_that_begins_with_fe_is_no_exc_return(void **state)
{
    RIG;
    rig_write(c, ISER, 1);
    cpu_irq_pend(c, 0);
    rig_step(c);
    c->r[CPU_LR] = 0xFEFFFFB9;
    rig_step(c);
    assert_int_equal(c->r[CPU_PC], 0xFEFFFFB8);
    assert_int_equal(c->ipsr, RIG_IRQ(0));
    rig_step(c); /* nothing can be fetched from there */
    assert_int_equal(c->ipsr, CPU_EXC_HARDFAULT);
}

static void thread_mode_can_be_returned_to_from_any_level(void **state)
{
    RIG;
    assert_int_equal(rig_read(c, CCR), 0x201);
    rig_write(c, CCR, 0);
    assert_int_equal(rig_read(c, CCR), 0x201);
    rig_write(c, CCR, 0xFFFFFFFF);
    assert_int_equal(rig_read(c, CCR), 0x71B);
    rig_write(c, ISER, 3);
    rig_write(c, IPR, 0x00000080);
    cpu_irq_pend(c, 0);
    rig_step(c);
    uint32_t frame = c->r[CPU_SP];
    cpu_irq_pend(c, 1);
    rig_step(c);
    c->r[CPU_SP] = frame;
    c->r[CPU_LR] = 0xFFFFFFB8;
    rig_step(c);
    assert_int_equal(c->ipsr, 0);
    assert_int_equal(rig_read(c, IABR), 1);
}

/* Instructions that move the stack pointer (r13) from LIMIT + `above` to below the limit. */
static const struct {
    const char *what;
    uint32_t code, above;
} overflows[] = {
    {"PUSH", 0xB407, 8},                 /* PUSH {r0-r2} */
    {"SUB SP, #16", 0xB084, 8},          /* SUB sp, #16 */
    {"SUB.W SP", 0xF1AD0D10, 8},         /* SUB.W sp, sp, #16 */
    {"SUBW SP", 0xF2AD0D10, 8},          /* SUBW sp, sp, #16 */
    {"SUB.W SP, r1", 0xEBAD0D01, 8},     /* SUB.W sp, sp, r1 */
    {"ADD SP, r2", 0x4495, 8},           /* ADD sp, r2 */
    {"MOV SP, r3", 0x469D, 8},           /* MOV sp, r3 */
    {"STMDB SP!", 0xE92D0007, 8},        /* STMDB sp!, {r0-r2} */
    {"STR [SP, #-12]!", 0xF84D0D0C, 8},  /* STR r0, [sp, #-12]! */
    {"STR [SP], #-12", 0xF84D090C, 8},   /* STR r0, [sp], #-12 */
    {"LDR [SP, #-12]!", 0xF85D0D0C, 8},  /* LDR r0, [sp, #-12]! */
    {"STRD [SP, #-16]!", 0xE96D0104, 8}, /* STRD r0, r1, [sp, #-16]! */
    {"LDMDB SP!", 0xE93D0007, 8},        /* LDMDB sp!, {r0-r2} */
};

static void moving_the_stack_pointer_below_its_limit_is_stkof(void **state)
{
    RIG;
    for (unsigned k = 0; k < sizeof overflows / sizeof overflows[0]; k++) {
        for (unsigned psp = 0; psp < 2; psp++) {
            cpu_reset(c);
            rig_write(c, SHCSR, FAULTS_ON);
            cpu_set_register(c, 17, RIG_STACK);
            cpu_set_register(c, 18, RIG_STACK);
            cpu_set_register(c, 20, psp << 25);
            cpu_set_register(c, 30 + psp, LIMIT);
            c->r[1] = 16;
            c->r[2] = 0u - 16u;
            c->r[3] = LIMIT - 8;
            RIG_CODE(r, 0, RIG_MAIN, overflows[k].code);
            memset(r->ram, 0x5A, RIG_RAM_SIZE);
            /* Just to the limit is allowed. */
            c->r[CPU_SP] = LIMIT + 16;
            c->r[3] = LIMIT;
            rig_step(c);
            if (c->ipsr != 0)
                fail_msg("%s to the limit: CFSR %08x", overflows[k].what, rig_read(c, CFSR));
            assert_in_range(c->r[CPU_SP], LIMIT, LIMIT + 4);
            memset(r->ram, 0x5A, RIG_RAM_SIZE);
            c->r[CPU_PC] = RIG_MAIN;
            c->r[3] = LIMIT - 8;
            c->r[CPU_SP] = LIMIT + overflows[k].above;
            if (psp) /* the handler has room on the other stack */
                rig_step(c);
            else { /* and here none: the fault's own frame would be below too */
                c->r[CPU_SP] = LIMIT + overflows[k].above;
                rig_step(c);
            }
            if (!(rig_read(c, CFSR) & STKOF))
                fail_msg("%s: CFSR %08x", overflows[k].what, rig_read(c, CFSR));
            for (uint32_t at = LIMIT - 32; at < LIMIT; at += 4)
                assert_int_equal(rig_word(r, at), 0x5A5A5A5A);
            assert_int_equal(c->ipsr, psp ? CPU_EXC_USAGEFAULT : CPU_EXC_USAGEFAULT);
        }
    }
}

static void what_is_loaded_into_the_stack_pointer_is_not_checked(void **state)
{
    RIG;
    cpu_set_register(c, 30, LIMIT);
    rig_write(c, RIG_RAM + 0x100, RIG_RAM + 0x80);
    c->r[1] = RIG_RAM + 0x100;
    RIG_CODE(r, 0, RIG_MAIN, 0xF8D1D000, 0xF3818808); /* LDR.W sp, [r1]; MSR MSP, r1 */
    rig_step(c);
    assert_int_equal(c->r[CPU_SP], RIG_RAM + 0x80);
    rig_step(c);
    assert_int_equal(c->r[CPU_SP], RIG_RAM + 0x100);
    assert_int_equal(c->ipsr, 0);
}

static void limits_are_multiples_of_eight_and_privileged(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xF381880A, 0xF3EF820A, 0xF381880B, 0xF3EF820B);
    c->r[1] = RIG_RAM + 0x207;
    rig_steps(c, 2);
    assert_int_equal(c->r[2], RIG_RAM + 0x200);
    rig_steps(c, 2);
    assert_int_equal(c->r[2], RIG_RAM + 0x200);
    cpu_set_register(c, 20, 1u << 24); /* unprivileged: reads as zero, writes nothing */
    c->r[CPU_PC] = RIG_MAIN;
    c->r[1] = 0;
    rig_steps(c, 2);
    assert_int_equal(c->r[2], 0);
    assert_int_equal(cpu_get_register(c, 30), RIG_RAM + 0x200);
    cpu_reset(c);
    assert_int_equal(cpu_get_register(c, 30), 0);
    assert_int_equal(cpu_get_register(c, 31), 0);
}

static void each_stack_has_its_own_limit(void **state)
{
    RIG;
    cpu_set_register(c, 30, LIMIT);
    cpu_set_register(c, 31, RIG_RAM + 0x800);
    cpu_set_register(c, 18, RIG_RAM + 0x1000);
    cpu_set_register(c, 20, 2u << 24);
    assert_int_equal(cpu_get_register(c, 30), LIMIT);
    assert_int_equal(cpu_get_register(c, 31), RIG_RAM + 0x800);
    assert_int_equal(c->sp_limit, RIG_RAM + 0x800);
    rig_write(c, ISER, 1);
    cpu_irq_pend(c, 0);
    rig_step(c);
    assert_int_equal(c->sp_limit, LIMIT);
    rig_step(c);
    assert_int_equal(c->sp_limit, RIG_RAM + 0x800);
}

static void a_frame_below_the_limit_is_not_written(void **state)
{
    RIG;
    rig_write(c, SHCSR, FAULTS_ON);
    cpu_set_register(c, 30, LIMIT);
    c->r[CPU_SP] = LIMIT + 0x18;
    memset(r->ram, 0x5A, RIG_RAM_SIZE);
    rig_write(c, ISER, 1);
    rig_write(c, IPR, 0x80);
    cpu_irq_pend(c, 0);
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_USAGEFAULT); /* the better priority of the two */
    assert_int_equal(rig_read(c, CFSR), STKOF);
    assert_int_equal(c->r[CPU_SP], LIMIT);
    for (uint32_t at = LIMIT - 0x20; at < LIMIT + 0x18; at += 4)
        assert_int_equal(rig_word(r, at), 0x5A5A5A5A);
    assert_int_equal(rig_read(c, ISPR), 1); /* the interrupt waits */
    rig_write(c, CFSR, STKOF);
    assert_int_equal(rig_read(c, CFSR), 0);
    /* Without the UsageFault it is a HardFault. */
    cpu_reset(c);
    cpu_set_register(c, 30, LIMIT);
    c->r[CPU_SP] = LIMIT + 0x1C;
    rig_write(c, ISER, 1);
    cpu_irq_pend(c, 0);
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_HARDFAULT);
    assert_int_equal(rig_read(c, HFSR), FORCED);
    /* A frame that just fits. */
    cpu_reset(c);
    cpu_set_register(c, 30, LIMIT);
    c->r[CPU_SP] = LIMIT + 0x20;
    rig_write(c, ISER, 1);
    cpu_irq_pend(c, 0);
    rig_step(c);
    assert_int_equal(c->ipsr, RIG_IRQ(0));
    assert_int_equal(c->r[CPU_SP], LIMIT);
}

static void stkofhfnmign_lets_hardfault_go_below(void **state)
{
    RIG;
    for (unsigned ignore = 0; ignore < 2; ignore++) {
        cpu_reset(c);
        rig_write(c, CCR, ignore << 10);
        cpu_set_register(c, 30, LIMIT);
        c->r[CPU_SP] = LIMIT + 0x20;
        RIG_CODE(r, 0, RIG_MAIN, 0xDE00);
        RIG_CODE(r, 0, RIG_HANDLER(3), 0xB403, 0xBF00); /* PUSH {r0, r1} */
        rig_step(c);
        assert_int_equal(c->ipsr, CPU_EXC_HARDFAULT);
        assert_int_equal(c->r[CPU_SP], LIMIT);
        rig_step(c);
        assert_int_equal(c->attention & CPU_ATTN_LOCKUP, ignore ? 0 : CPU_ATTN_LOCKUP);
        if (ignore)
            assert_int_equal(c->r[CPU_SP], LIMIT - 8);
    }
}

static void shcsr_shows_hardfault_and_nmi(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xDE00);
    rig_step(c);
    assert_int_equal(rig_read(c, SHCSR), 1u << 2);
    rig_write(c, ICSR, 1u << 31);
    rig_step(c);
    assert_int_equal(rig_read(c, SHCSR), 1u << 2 | 1u << 5);
}

static void acquire_and_release_want_alignment(void **state)
{
    RIG;
    static const uint32_t code[] = {0xE8D12FAF, 0xE8D12F9F, 0xE8C12FAF, 0xE8C12F9F, 0xE8D12FEF, 0xE8C12FE3};
    for (unsigned k = 0; k < sizeof code / sizeof code[0]; k++) {
        cpu_reset(c);
        rig_write(c, SHCSR, FAULTS_ON);
        c->r[1] = RIG_RAM + 0x101;
        RIG_CODE(r, 0, RIG_MAIN, code[k]);
        rig_step(c);
        assert_int_equal(c->ipsr, CPU_EXC_USAGEFAULT);
        assert_int_equal(rig_read(c, CFSR), UNALIGNED);
    }
}

static void an_exclusive_may_be_taken_and_lost_across_cores(void **state)
{
    struct rig *r = *state;
    struct cpu *a = &r->core[0], *b = &r->core[1];
    for (unsigned k = 0; k < 2; k++) {
        RIG_CODE(r, k, RIG_MAIN, 0xE8D10FEF, 0xE8C12FE3); /* LDAEX r0, [r1]; STLEX r3, r2, [r1] */
        r->core[k].r[1] = RIG_RAM + 0x100;
        r->core[k].r[2] = 7 + k;
    }
    rig_step(a);
    rig_step(b);
    rig_step(b);
    rig_step(a);
    assert_int_equal(b->r[3], 0);
    assert_int_equal(a->r[3], 1);
    assert_int_equal(rig_word(r, RIG_RAM + 0x100), 8);
}

static void tt_answers_what_the_default_map_allows(void **state)
{
    RIG;
    RIG_CODE(r, 0, RIG_MAIN, 0xE841F200, 0xE841F240, 0xE841F280); /* TT, TTT, TTA r2, r1 */
    c->r[1] = RIG_RAM;
    rig_step(c);
    assert_int_equal(c->r[2], 3u << 18);
    c->r[2] = 0;
    rig_step(c);
    assert_int_equal(c->r[2], 3u << 18);
    rig_step(c);
    assert_int_equal(c->ipsr, CPU_EXC_HARDFAULT); /* TTA asks about security */
    cpu_reset(c);
    c->r[2] = 5;
    cpu_set_register(c, 20, 1u << 24);
    rig_step(c);
    assert_int_equal(c->r[2], 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(exc_return_tells_mode_and_stack),
        TEST(other_exc_return_values_are_invpc),
        TEST(an_address_that_begins_with_fe_is_no_exc_return),
        TEST(thread_mode_can_be_returned_to_from_any_level),
        TEST(moving_the_stack_pointer_below_its_limit_is_stkof),
        TEST(what_is_loaded_into_the_stack_pointer_is_not_checked),
        TEST(limits_are_multiples_of_eight_and_privileged),
        TEST(each_stack_has_its_own_limit),
        TEST(a_frame_below_the_limit_is_not_written),
        TEST(stkofhfnmign_lets_hardfault_go_below),
        TEST(shcsr_shows_hardfault_and_nmi),
        TEST(acquire_and_release_want_alignment),
        TEST(an_exclusive_may_be_taken_and_lost_across_cores),
        TEST(tt_answers_what_the_default_map_allows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
