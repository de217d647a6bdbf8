/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases: nesting, tail-chaining order, priority groups, PRIMASK, BASEPRI, FAULTMASK, SVC, PendSV and SysTick.
 * Armv7-M ARM B1.5.
 */
#include "torture.h"

static uint32_t pends_9(struct frame *f, uint32_t number, uint32_t exc_return)
{
    (void)f;
    say_value("> pends irq 9, exception", number);
    pend_irq(9);
    say_value("< pends irq 9, exception", number);
    return exc_return;
}

static uint32_t pends_10_and_11(struct frame *f, uint32_t number, uint32_t exc_return)
{
    (void)f;
    say_value("> pends irqs 10 and 11, exception", number);
    pend_irq(11);
    pend_irq(10);
    say_value("< pends irqs 10 and 11, exception", number);
    return exc_return;
}

static uint32_t pends_itself_once(struct frame *f, uint32_t number, uint32_t exc_return)
{
    if (torture.count[number] == 1)
        pend_irq(number - IRQ0);
    return report(f, number, exc_return);
}

void torture_priorities(void)
{
    torture_begin("nesting: 8 below 9 below 10; 11 waits");
    enable_irq(8, 0xC0);
    enable_irq(9, 0x80);
    enable_irq(10, 0x40);
    enable_irq(11, 0x80);
    torture.on[IRQ0 + 8] = pends_9;
    torture.on[IRQ0 + 9] = pends_10_and_11;
    torture.on[IRQ0 + 10] = report;
    torture.on[IRQ0 + 11] = report;
    pend_irq(8);
    say_value("pending", get(ISPR));

    torture_begin("tail-chaining: by priority, then by number");
    for (uint32_t irq = 8; irq < 14; irq++) {
        enable_irq(irq, irq < 11 ? 0x80 : 0x40);
        torture.on[IRQ0 + irq] = report;
    }
    CPSID_I();
    put(ISPR, 0x3F00);
    CPSIE_I();

    torture_begin("equal priority does not preempt");
    enable_irq(8, 0x80);
    enable_irq(9, 0x80);
    torture.on[IRQ0 + 8] = pends_9;
    torture.on[IRQ0 + 9] = report;
    pend_irq(8);

    torture_begin("pended again while active: runs once more");
    enable_irq(8, 0x80);
    torture.on[IRQ0 + 8] = pends_itself_once;
    pend_irq(8);
    say_value("times", torture.count[IRQ0 + 8]);

    torture_begin("groups: sub-priority orders but does not preempt");
    put(AIRCR, 0x05FA0600u); /* group: bit 7 */
    enable_irq(8, 0xC0);
    enable_irq(9, 0x80);
    enable_irq(10, 0x00);
    torture.on[IRQ0 + 8] = pends_9;
    torture.on[IRQ0 + 9] = pends_10_and_11;
    torture.on[IRQ0 + 10] = report;
    pend_irq(8);
    put(ICPR, 1u << 11);
    torture.on[IRQ0 + 8] = report;
    torture.on[IRQ0 + 9] = report;
    CPSID_I();
    put(ISPR, 0x700);
    CPSIE_I();
    say_value("aircr", get(AIRCR) & 0xFFFF0700u);
}

static uint32_t lowers_masks(struct frame *f, uint32_t number, uint32_t exc_return)
{
    report(f, number, exc_return);
    say_value("  primask", MRS("primask"));
    say_value("  faultmask", MRS("faultmask"));
    say_value("  basepri", MRS("basepri"));
    return exc_return;
}

static uint32_t sets_faultmask(struct frame *f, uint32_t number, uint32_t exc_return)
{
    CPSID_F();
    say_value("> faultmask in handler", MRS("faultmask"));
    pend_irq(9);
    put(ICSR, 1u << 31); /* NMI is not masked by it */
    (void)f;
    say_value("< exception", number);
    return exc_return; /* the return clears it */
}

void torture_masks(void)
{
    torture_begin("primask holds interrupts, not NMI");
    enable_irq(8, 0);
    torture.on[IRQ0 + 8] = report;
    torture.on[NMI] = report;
    CPSID_I();
    pend_irq(8);
    say_value("icsr", icsr());
    put(ICSR, 1u << 31);
    say("unmask");
    CPSIE_I();

    torture_begin("basepri holds its level and below");
    for (uint32_t irq = 8; irq < 12; irq++) {
        enable_irq(irq, 0x20 + (irq - 8) * 0x40); /* 20 60 a0 e0 */
        torture.on[IRQ0 + irq] = lowers_masks;
    }
    MSR("basepri", 0x80);
    put(ISPR, 0xF00);
    say_value("pending", get(ISPR));
    MSR("basepri_max", 0xC0);
    say_value("basepri", MRS("basepri"));
    MSR("basepri_max", 0x60);
    say_value("basepri", MRS("basepri"));
    MSR("basepri", 0xC0);
    say_value("pending", get(ISPR));
    MSR("basepri", 0);

    torture_begin("faultmask holds all but NMI");
    enable_irq(8, 0);
    torture.on[IRQ0 + 8] = lowers_masks;
    torture.on[NMI] = lowers_masks;
    torture.on[SYSTICK] = report;
    CPSID_F();
    pend_irq(8);
    put(ICSR, 1u << 26);
    put(ICSR, 1u << 31);
    say_value("faultmask", MRS("faultmask"));
    CPSIE_F();

    torture_begin("faultmask is cleared by the return");
    enable_irq(8, 0x80);
    enable_irq(9, 0);
    torture.on[IRQ0 + 8] = sets_faultmask;
    torture.on[IRQ0 + 9] = report;
    torture.on[NMI] = report;
    pend_irq(8);
    say_value("faultmask", MRS("faultmask"));
}

static uint32_t svc_body(struct frame *f, uint32_t number, uint32_t exc_return)
{
    report(f, number, exc_return);
    say_value("  immediate", *(const uint8_t *)(uintptr_t)(f->pc - 2));
    say_value("  r0", f->r0);
    f->r0 = f->r0 * 2 + 1;
    return exc_return;
}

static uint32_t svc_pends_all(struct frame *f, uint32_t number, uint32_t exc_return)
{
    (void)f;
    say_value("> pends PendSV, SysTick and irq 8 from exception", number);
    put(ICSR, 1u << 28 | 1u << 26);
    pend_irq(8);
    say_value("  icsr", icsr());
    say_value("  shcsr", get(SHCSR));
    say_value("< exception", number);
    return exc_return;
}

static uint32_t svc_again(struct frame *f, uint32_t number, uint32_t exc_return)
{
    (void)f;
    say_value("> svc from exception", number);
    SVC(7);
    say_value("< svc from exception", number);
    return exc_return;
}

void torture_system(void)
{
    torture_begin("svc: immediate, argument, result");
    torture.on[SVCALL] = svc_body;
    uint32_t result;
    __asm__ volatile("mov r0, %1\nsvc 42\nmov %0, r0" : "=r"(result) : "r"(20) : "r0", "memory");
    say_value("result", result);

    torture_begin("svc in an IT block");
    torture.on[SVCALL] = report;
    __asm__ volatile("movs r0, #0\nitet eq\nsvceq 1\nsvcne 2\nsvceq 3" ::: "r0", "cc", "memory");
    __asm__ volatile("movs r0, #1\nitte ne\nsvcne 4\nnopne\nsvceq 5" ::: "r0", "cc", "memory");
    say_value("times", torture.count[SVCALL]);

    torture_begin("svc first, then what it pended, by priority");
    priority(SVCALL, 0x40);
    priority(PENDSV, 0xE0);
    priority(SYSTICK, 0xC0);
    enable_irq(8, 0x80);
    torture.on[SVCALL] = svc_pends_all;
    torture.on[PENDSV] = report;
    torture.on[SYSTICK] = report;
    torture.on[IRQ0 + 8] = report;
    SVC(1);

    torture_begin("irq 8, SysTick and PendSV at one level: by number");
    priority(PENDSV, 0x80);
    priority(SYSTICK, 0x80);
    enable_irq(8, 0x80);
    torture.on[PENDSV] = report;
    torture.on[SYSTICK] = report;
    torture.on[IRQ0 + 8] = report;
    CPSID_I();
    pend_irq(8);
    put(ICSR, 1u << 26);
    put(ICSR, 1u << 28);
    say_value("icsr", icsr());
    CPSIE_I();

    torture_begin("PendSV and SysTick pending can be taken back");
    torture.on[PENDSV] = report;
    torture.on[SYSTICK] = report;
    CPSID_I();
    put(ICSR, 1u << 28 | 1u << 26);
    say_value("icsr", icsr());
    put(ICSR, 1u << 27);
    say_value("icsr", icsr());
    put(ICSR, 1u << 25);
    say_value("icsr", icsr());
    CPSIE_I();

    torture_begin("svc from a handler of lower priority nests");
    priority(SVCALL, 0x40);
    enable_irq(8, 0x80);
    torture.on[IRQ0 + 8] = svc_again;
    torture.on[SVCALL] = report;
    pend_irq(8);

    torture_begin("svc from a handler of equal priority is a HardFault");
    priority(SVCALL, 0x80);
    enable_irq(8, 0x80);
    torture.on[IRQ0 + 8] = svc_again;
    torture.on[SVCALL] = report;
    torture.on[HARDFAULT] = report_escalated;
    pend_irq(8);

    torture_begin("SysTick counts and interrupts");
    torture.on[SYSTICK] = quiet;
    put(SYST + 4, 500);
    put(SYST + 8, 0);
    put(SYST, 7);
    while (*(volatile uint32_t *)&torture.count[SYSTICK] < 3)
        ;
    put(SYST, 0);
    say("three times");
}
