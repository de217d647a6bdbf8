/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases: enable, pend and active bits of the NVIC, STIR, the vector table's offset, WFE, WFI, the exclusive
 * monitor across exceptions. Armv7-M ARM B3.4, B1.5.
 */
#include "torture.h"

static uint32_t bits(struct frame *f, uint32_t number, uint32_t exc_return)
{
    (void)f;
    say_value("> exception", number);
    say_value("  iser", get(ISER));
    say_value("  ispr", get(ISPR));
    say_value("  iabr", get(IABR));
    say_value("  icsr", icsr());
    return exc_return;
}

void torture_nvic(void)
{
    torture_begin("enable and pend bits");
    torture.on[IRQ0 + 8] = bits;
    put(ISER, 0x00FF0000u);
    say_value("iser", get(ISER));
    say_value("icer", get(ICER));
    put(ICER, 0x000F0000u);
    say_value("iser", get(ISER));
    put(ISER, 0); /* writing zeros does nothing */
    put(ICER, 0);
    say_value("iser", get(ISER));
    pend_irq(8);
    say_value("ispr", get(ISPR));
    say_value("icsr", icsr());
    put(ICPR, 1u << 8);
    say_value("ispr", get(ISPR));
    put(ISER, 1u << 8);
    say("enabled, taken back: nothing");
    put(ICER, 1u << 8);
    pend_irq(8);
    say("pended while disabled: waits");
    put(ISER, 1u << 8);
    say_value("ispr", get(ISPR));

    torture_begin("priority bytes");
    for (uint32_t irq = 4; irq < 8; irq++)
        priority(IRQ0 + irq, 0x20 * (irq - 3));
    say_value("ipr", get(IPR + 4));
    put(IPR + 4, 0xE0A06020u);
    say_value("ipr", get(IPR + 4));
    priority(PENDSV, 0xE0);
    priority(SYSTICK, 0x60);
    say_value("shpr3", get(SHPR + 8));

    torture_begin("stir");
    enable_irq(13, 0x40);
    torture.on[IRQ0 + 13] = bits;
    put(STIR, 13);
    put(STIR, 14);
    say_value("ispr", get(ISPR));

    torture_begin("a moved vector table");
    for (uint32_t i = 0; i < 48; i++)
        torture.vectors[i] = get(4 * i);
    put(VTOR, (uint32_t)(uintptr_t)torture.vectors);
    say_value("vtor", get(VTOR));
    enable_irq(9, 0);
    torture.on[IRQ0 + 9] = bits;
    pend_irq(9);
    torture.vectors[IRQ0 + 9] = 0xDEADBEEFu; /* not used any more after going back */
    put(VTOR, 0);
    pend_irq(9);
}

static uint32_t load_exclusive(volatile uint32_t *at)
{
    uint32_t value;
    __asm__ volatile("ldrex %0, [%1]" : "=r"(value) : "r"(at) : "memory");
    return value;
}

static uint32_t store_exclusive(volatile uint32_t *at, uint32_t value)
{
    uint32_t failed;
    __asm__ volatile("strex %0, %2, [%1]" : "=&r"(failed) : "r"(at), "r"(value) : "memory");
    return failed;
}

void torture_sleep(void)
{
    torture_begin("sev then wfe falls through");
    __asm__ volatile("sev\nwfe" ::: "memory");
    say("awake");

    torture_begin("a pending interrupt wakes wfe with SEVONPEND");
    put(SCR, 1u << 4);
    CPSID_I();
    __asm__ volatile("sev\nwfe" ::: "memory"); /* the event register is clear now */
    pend_irq(8);                               /* disabled: pending alone is the event */
    __asm__ volatile("wfe" ::: "memory");
    say_value("ispr", get(ISPR));
    CPSIE_I();

    torture_begin("wfi wakes although primask is set");
    torture.on[SYSTICK] = report;
    CPSID_I();
    put(SYST + 4, 1000);
    put(SYST + 8, 0);
    put(SYST, 7);
    __asm__ volatile("wfi" ::: "memory");
    put(SYST, 0);
    say_value("icsr", icsr());
    CPSIE_I();

    torture_begin("wfi with something pending does not sleep");
    enable_irq(8, 0);
    torture.on[IRQ0 + 8] = report;
    CPSID_I();
    pend_irq(8);
    __asm__ volatile("wfi" ::: "memory");
    say("awake");
    CPSIE_I();

    torture_begin("exclusives");
    torture.on[SVCALL] = quiet;
    torture.word[0] = 5;
    say_value("value", load_exclusive(&torture.word[0]));
    say_value("failed", store_exclusive(&torture.word[0], 6));
    say_value("failed", store_exclusive(&torture.word[0], 7)); /* without a load before */
    load_exclusive(&torture.word[0]);
    __asm__ volatile("clrex" ::: "memory");
    say_value("failed", store_exclusive(&torture.word[0], 8));
    load_exclusive(&torture.word[0]);
    SVC(0);
    say_value("failed", store_exclusive(&torture.word[0], 9)); /* an exception lost the tag */
    say_value("value", torture.word[0]);
}
