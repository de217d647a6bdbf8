/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases: two stack pointers, EXC_RETURN, frame alignment, unprivileged code. Armv7-M ARM B1.4, B1.5.
 */
#include "torture.h"

#define PSP_TOP ((uint32_t)(uintptr_t)(torture.psp_area + 200))

static uint32_t with_stacks(struct frame *f, uint32_t number, uint32_t exc_return)
{
    say_value("> exception", number);
    say_value("  exc_return", exc_return);
    say_value("  frame", (uint32_t)(uintptr_t)f);
    say_value("  align", f->xpsr >> 9 & 1u);
    say_value("  psp", MRS("psp"));
    say_value("  control", MRS("control"));
    return exc_return;
}

static uint32_t nests_9(struct frame *f, uint32_t number, uint32_t exc_return)
{
    with_stacks(f, number, exc_return);
    pend_irq(9);
    say_value("< exception", number);
    return exc_return;
}

/* Move to the other stack: return to the same place through a frame copied there. */
static uint32_t to_process_stack(struct frame *f, uint32_t number, uint32_t exc_return)
{
    with_stacks(f, number, exc_return);
    struct frame *copy = (struct frame *)(uintptr_t)(PSP_TOP - sizeof(struct frame));
    *copy = *f;
    copy->xpsr &= ~(1u << 9);
    /* The main stack keeps the frame that is not popped; the way back below pops it. */
    MSR("psp", (uint32_t)(uintptr_t)copy);
    return 0xFFFFFFFDu;
}

static uint32_t to_main_stack(struct frame *f, uint32_t number, uint32_t exc_return)
{
    with_stacks(f, number, exc_return);
    /* Above the stub's two words lies the frame left by to_process_stack: go on from there, at this place. */
    struct frame *left = (struct frame *)(uintptr_t)MRS("msp");
    (void)left;
    return exc_return;
}

void torture_stacks(void)
{
    torture_begin("thread on the process stack");
    torture.on[SVCALL] = with_stacks;
    torture.on[IRQ0 + 8] = nests_9;
    torture.on[IRQ0 + 9] = with_stacks;
    enable_irq(8, 0x80);
    enable_irq(9, 0x40);
    MSR("psp", PSP_TOP);
    SVC(0);
    /* Aligned, then four off: the frame is put on eight bytes, and bit 9 says so. */
    for (uint32_t off = 0; off < 16; off += 4) {
        MSR("psp", PSP_TOP - off);
        __asm__ volatile("mrs r1, control\n"
                         "orr r2, r1, #2\n"
                         "msr control, r2\n"
                         "isb\n"
                         "svc 1\n"
                         "mov r3, sp\n"
                         "msr control, r1\n"
                         "isb\n"
                         "str r3, [%0]\n" ::"r"(&torture.word[1])
                         : "r1", "r2", "r3", "memory");
        say_value("sp after", torture.word[1]);
        say_value("psp after", MRS("psp"));
    }
    torture_begin("interrupts on the process stack, nested on the main stack");
    torture.on[IRQ0 + 8] = nests_9;
    torture.on[IRQ0 + 9] = with_stacks;
    enable_irq(8, 0x80);
    enable_irq(9, 0x40);
    MSR("psp", PSP_TOP - 4);
    __asm__ volatile("mrs r1, control\n"
                     "orr r2, r1, #2\n"
                     "msr control, r2\n"
                     "isb\n"
                     "str %1, [%0]\n"
                     "dsb\n"
                     "isb\n"
                     "mrs r3, psp\n"
                     "msr control, r1\n"
                     "isb\n"
                     "str r3, [%2]\n" ::"r"(ISPR),
                     "r"(1u << 8), "r"(&torture.word[1])
                     : "r1", "r2", "r3", "memory");
    say_value("psp after", torture.word[1]);

    torture_begin("the main stack off by four");
    torture.on[SVCALL] = with_stacks;
    __asm__ volatile("sub sp, #4\n"
                     "svc 2\n"
                     "add sp, #4\n" ::
                         : "memory");
    __asm__ volatile("svc 3" ::: "memory");

    torture_begin("a return that changes the stack in use");
    /* From the main stack to the process stack by EXC_RETURN; CONTROL follows. */
    torture.on[SVCALL] = to_process_stack;
    uint32_t main_before = MRS("msp");
    SVC(4);
    uint32_t control = MRS("control");
    uint32_t left = main_before - MRS("msp");
    MSR("control", 0);
    MSR("msp", main_before);
    say_value("control", control);
    say_value("left on the main stack", left);
    say_value("control", MRS("control"));
    torture.on[SVCALL] = to_main_stack;
    SVC(5);

    torture_begin("registers survive");
    torture.on[SVCALL] = quiet;
    uint32_t sum;
    __asm__ volatile("mov r0, #1\nmov r1, #2\nmov r2, #4\nmov r3, #8\nmov r12, #16\nmov r14, #32\n"
                     "movs r4, #0\n" /* Z */
                     "svc 6\n"
                     "ite eq\n"
                     "moveq r4, #64\n"
                     "movne r4, #0\n"
                     "add %0, r0, r1\nadd %0, r2\nadd %0, r3\nadd %0, r12\nadd %0, r14\nadd %0, r4"
                     : "=&r"(sum)
                     :
                     : "r0", "r1", "r2", "r3", "r4", "r12", "r14", "cc", "memory");
    say_value("sum", sum);
}

static uint32_t back_to_privileged(struct frame *f, uint32_t number, uint32_t exc_return)
{
    say_value("> exception", number);
    say_value("  exc_return", exc_return);
    say_value("  control", MRS("control"));
    say_value("  pc", f->pc);
    MSR("control", MRS("control") & ~1u);
    return exc_return;
}

static uint32_t bus_report_skip2(struct frame *f, uint32_t number, uint32_t exc_return)
{
    say_value("> exception", number);
    say_value("  pc", f->pc);
    say_faults();
    f->pc += 2;
    return exc_return;
}

void torture_privilege(void)
{
    torture_begin("unprivileged: msr is ignored, svc gets back");
    torture.on[SVCALL] = back_to_privileged;
    MSR("control", 1);
    MSR("primask", 1);
    MSR("basepri", 0x40);
    __asm__ volatile("cpsid i\ncpsid f\nisb" ::: "memory");
    MSR("control", 0);
    uint32_t control = MRS("control");
    SVC(0);
    say_value("control then", control);
    say_value("control now", MRS("control"));
    say_value("primask", MRS("primask"));
    say_value("faultmask", MRS("faultmask"));
    say_value("basepri", MRS("basepri"));

    torture_begin("unprivileged: the system space is a bus fault");
    torture.on[SVCALL] = back_to_privileged;
    torture.on[BUSFAULT] = bus_report_skip2;
    put(SHCSR, 1u << 17);
    MSR("control", 1);
    /* 16-bit accesses, so that the handler can step over them */
    __asm__ volatile("mov r1, %0\nldr r0, [r1]\nnop\nstr r0, [r1]\nnop" ::"r"(ICSR) : "r0", "r1", "memory");
    SVC(0);
    say_value("times", torture.count[BUSFAULT]);

    torture_begin("unprivileged: stir if allowed");
    torture.on[SVCALL] = back_to_privileged;
    torture.on[BUSFAULT] = bus_report_skip2;
    torture.on[IRQ0 + 8] = report;
    put(SHCSR, 1u << 17);
    enable_irq(8, 0);
    MSR("control", 1);
    __asm__ volatile("mov r1, %0\nmovs r0, #8\nstr r0, [r1]\ndsb\nisb" ::"r"(STIR) : "r0", "r1", "memory");
    SVC(0);
    put(CCR, get(CCR) | 2u); /* USERSETMPEND */
    MSR("control", 1);
    __asm__ volatile("mov r1, %0\nmovs r0, #8\nstr r0, [r1]\ndsb\nisb" ::"r"(STIR) : "r0", "r1", "memory");
    SVC(0);
    say_value("bus faults", torture.count[BUSFAULT]);
    say_value("interrupts", torture.count[IRQ0 + 8]);
}
