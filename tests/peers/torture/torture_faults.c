/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases: each fault in its own handler and escalated, bad returns, faults while stacking and unstacking.
 * Armv7-M ARM B1.5.
 */
#include "torture.h"

#define USAGE_ON (1u << 18)
#define BUS_ON   (1u << 17)
#define MEM_ON   (1u << 16)

/* Step over a fetch fault: go back to where the code meant to go on. */
static uint32_t report_to_lr(struct frame *f, uint32_t number, uint32_t exc_return)
{
    report(f, number, exc_return);
    f->pc = f->lr & ~1u;
    f->xpsr = 1u << 24;
    return exc_return;
}

static void call_address(uint32_t address)
{
    __asm__ volatile("blx %0" ::"r"(address) : "r0", "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

static void all_faults(void)
{
    say("undefined");
    __asm__ volatile("udf #1" ::: "memory");
    say("undefined, 32 bits");
    torture.on[USAGEFAULT] = torture.on[USAGEFAULT] == report_skip2 ? report_skip4 : torture.on[USAGEFAULT];
    torture.on[HARDFAULT] = torture.on[HARDFAULT] == report_skip2 ? report_skip4 : torture.on[HARDFAULT];
    __asm__ volatile("udf.w #1" ::: "memory");
    say("divide by zero, trap on");
    put(CCR, get(CCR) | 1u << 4);
    __asm__ volatile("movs r0, #5\nmovs r1, #0\nudiv r0, r0, r1" ::: "r0", "r1", "cc", "memory");
    __asm__ volatile("movs r0, #5\nmovs r1, #0\nsdiv r0, r0, r1" ::: "r0", "r1", "cc", "memory");
    put(CCR, get(CCR) & ~(1u << 4));
    uint32_t quotient;
    __asm__ volatile("movs r1, #0\nudiv %0, %1, r1" : "=r"(quotient) : "r"(77) : "r1", "cc");
    say_value("divide by zero, trap off", quotient);
    say("unaligned, trap on");
    torture.word[0] = 0x33221100u;
    torture.word[1] = 0x77665544u;
    put(CCR, get(CCR) | 1u << 3);
    __asm__ volatile("ldr.w r0, [%0, #1]" ::"r"(torture.word) : "r0", "memory");
    __asm__ volatile("strh.w r0, [%0, #3]" ::"r"(torture.word) : "r0", "memory");
    put(CCR, get(CCR) & ~(1u << 3));
    uint32_t value;
    __asm__ volatile("ldr.w %0, [%1, #1]" : "=r"(value) : "r"(torture.word) : "memory");
    say_value("unaligned, trap off", value);
    say("unaligned multiple and double always trap");
    __asm__ volatile("add r1, %0, #2\nldm.w r1, {r2, r3}" ::"r"(torture.word) : "r1", "r2", "r3", "memory");
    __asm__ volatile("add r1, %0, #2\nldrd r2, r3, [r1]" ::"r"(torture.word) : "r1", "r2", "r3", "memory");
    __asm__ volatile("add r1, %0, #2\nldrex r2, [r1]" ::"r"(torture.word) : "r1", "r2", "memory");
    say("coprocessor");
    __asm__ volatile("mrc p7, 0, r0, c0, c0, 0" ::: "r0", "memory");
}

static void all_bus_faults(void)
{
    say("load from nowhere");
    __asm__ volatile("ldr.w r0, [%0, #8]" ::"r"(NOWHERE) : "r0", "memory");
    say("byte load from nowhere");
    __asm__ volatile("ldrb.w r0, [%0, #9]" ::"r"(NOWHERE) : "r0", "memory");
    say("store to nowhere");
    __asm__ volatile("str.w r0, [%0, #12]" ::"r"(NOWHERE) : "memory");
}

static void all_jumps(void)
{
    say("jump to an even address");
    call_address((uint32_t)(uintptr_t)quiet & ~1u);
}

static uint32_t undefined_inside(struct frame *f, uint32_t number, uint32_t exc_return)
{
    (void)f;
    say_value("> exception", number);
    __asm__ volatile("udf #4" ::: "memory");
    say_value("< exception", number);
    return exc_return;
}

static uint32_t bad_return(struct frame *f, uint32_t number, uint32_t exc_return)
{
    (void)f;
    (void)exc_return;
    say_value("> leaves with a bad EXC_RETURN, exception", number);
    return torture.word[2];
}

static uint32_t usage_after_bad_return(struct frame *f, uint32_t number, uint32_t exc_return)
{
    say_value("> exception", number);
    say_value("  exc_return", exc_return);
    say_value("  icsr", icsr());
    say_value("  iabr", get(IABR));
    say_faults();
    (void)f;
    return 0xFFFFFFF9u; /* all this happens in thread mode on the main stack */
}

void torture_faults(void)
{
    torture_begin("usage faults in their own handler");
    put(SHCSR, USAGE_ON);
    say_value("shcsr", get(SHCSR));
    torture.on[USAGEFAULT] = report_skip2;
    all_faults();
    torture.on[USAGEFAULT] = report_to_lr;
    all_jumps();

    torture_begin("usage faults escalated: handler off");
    torture.on[HARDFAULT] = report_skip2;
    all_faults();
    torture.on[HARDFAULT] = report_to_lr;
    all_jumps();

    torture_begin("usage faults escalated: masked");
    put(SHCSR, USAGE_ON);
    CPSID_I();
    torture.on[HARDFAULT] = report_skip2;
    all_faults();
    torture.on[HARDFAULT] = report_to_lr;
    all_jumps();
    CPSIE_I();

    torture_begin("usage faults escalated: basepri");
    put(SHCSR, USAGE_ON);
    priority(USAGEFAULT, 0x80);
    MSR("basepri", 0x40);
    torture.on[HARDFAULT] = report_skip2;
    __asm__ volatile("udf #2" ::: "memory");
    MSR("basepri", 0xC0);
    torture.on[USAGEFAULT] = report_skip2;
    __asm__ volatile("udf #3" ::: "memory");
    MSR("basepri", 0);

    torture_begin("bus faults in their own handler");
    put(SHCSR, BUS_ON);
    torture.on[BUSFAULT] = report_skip4;
    all_bus_faults();
    say("fetch from nowhere");
    torture.on[BUSFAULT] = report_to_lr;
    call_address(NOWHERE | 1u);

    torture_begin("bus faults escalated");
    torture.on[HARDFAULT] = report_skip4;
    all_bus_faults();
    say("fetch from nowhere");
    torture.on[HARDFAULT] = report_to_lr;
    call_address(NOWHERE | 1u);

    torture_begin("svc while masked is a HardFault");
    torture.on[HARDFAULT] = report_escalated;
    CPSID_I();
    SVC(9);
    CPSIE_I();
    say_value("svc", torture.count[SVCALL]);

    torture_begin("bkpt without a debugger");
    torture.on[HARDFAULT] = report_escalated;
    __asm__ volatile("bkpt #5" ::: "memory");

    torture_begin("a fault in a handler: its own handler nests, or escalates");
    put(SHCSR, USAGE_ON);
    priority(USAGEFAULT, 0x40);
    enable_irq(8, 0x80);
    enable_irq(9, 0x20);
    torture.on[USAGEFAULT] = report_skip2;
    torture.on[HARDFAULT] = report_skip2;
    torture.on[IRQ0 + 8] = undefined_inside;
    torture.on[IRQ0 + 9] = undefined_inside;
    pend_irq(8);
    pend_irq(9);

    torture_begin("pending fault bits in SHCSR");
    put(SHCSR, USAGE_ON | BUS_ON | MEM_ON);
    say_value("shcsr", get(SHCSR));
    torture.on[USAGEFAULT] = usage_after_bad_return;
    torture.on[BUSFAULT] = usage_after_bad_return;
    torture.on[MEMMANAGE] = usage_after_bad_return;
    torture.on[SVCALL] = quiet;
    CPSID_I();
    put(SHCSR, get(SHCSR) | 1u << 12 | 1u << 13 | 1u << 14);
    say_value("shcsr", get(SHCSR));
    say_value("icsr", icsr());
    CPSIE_I();
    say_value("shcsr", get(SHCSR));

    torture_begin("a bad EXC_RETURN");
    put(SHCSR, USAGE_ON);
    enable_irq(8, 0x80);
    torture.on[IRQ0 + 8] = bad_return;
    torture.on[USAGEFAULT] = usage_after_bad_return;
    static const uint32_t bad[] = {0xFFFFFFF1u /* to handler mode, with none active */, 0xFFFFFFF5u,
                                   0xFFFFFFF0u};
    for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        torture.word[2] = bad[i];
        say_value("with", bad[i]);
        pend_irq(8);
        say_value("iabr", get(IABR));
    }
}

static uint32_t new_process_stack(struct frame *f, uint32_t number, uint32_t exc_return)
{
    (void)f;
    say_value("> exception", number);
    say_value("  exc_return", exc_return);
    say_value("  psp", MRS("psp"));
    say_value("  icsr", icsr());
    say_faults();
    /* A frame that goes on behind the case. */
    struct frame *fresh = (struct frame *)(uintptr_t)(torture.psp_area + 100);
    fresh->pc = torture.word[3] & ~1u;
    fresh->xpsr = 1u << 24;
    MSR("psp", (uint32_t)(uintptr_t)fresh);
    return exc_return;
}

static uint32_t loses_process_stack(struct frame *f, uint32_t number, uint32_t exc_return)
{
    (void)f;
    say_value("> loses the process stack, exception", number);
    MSR("psp", NOWHERE + 0x100);
    return exc_return;
}

/* On the process stack at `psp`: svc. The handlers bring it to the label whatever became of the stack. */
static void svc_on(uint32_t psp)
{
    MSR("psp", psp);
    __asm__ volatile("adr.w r1, 1f\n"
                     "str r1, [%0]\n"
                     "mov r1, #2\n"
                     "msr control, r1\n"
                     "isb\n"
                     "svc 1\n"
                     ".balign 4\n"
                     "1: mov r1, #0\n"
                     "msr control, r1\n"
                     "isb\n" ::"r"(&torture.word[3])
                     : "r0", "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

void torture_stacking_faults(void)
{
    torture_begin("unstacking from nowhere");
    put(SHCSR, BUS_ON);
    torture.on[SVCALL] = loses_process_stack;
    torture.on[BUSFAULT] = new_process_stack;
    svc_on((uint32_t)(uintptr_t)(torture.psp_area + 200));

    torture_begin("unstacking from nowhere, escalated");
    torture.on[SVCALL] = loses_process_stack;
    torture.on[HARDFAULT] = new_process_stack;
    svc_on((uint32_t)(uintptr_t)(torture.psp_area + 200));

    torture_begin("stacking to nowhere: the bus fault first");
    put(SHCSR, BUS_ON);
    priority(SVCALL, 0x80);
    torture.on[SVCALL] = quiet;
    torture.on[BUSFAULT] = new_process_stack;
    svc_on(NOWHERE + 0x100);
    say_value("svc", torture.count[SVCALL]);

    torture_begin("stacking to nowhere, escalated");
    priority(SVCALL, 0x80);
    torture.on[SVCALL] = quiet;
    torture.on[HARDFAULT] = new_process_stack;
    svc_on(NOWHERE + 0x100);
    say_value("svc", torture.count[SVCALL]);
}
