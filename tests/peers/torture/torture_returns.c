/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases: frames that do not fit their EXC_RETURN, IT state in frames, memory that must not run code, accesses
 * as an unprivileged program makes them. Armv7-M ARM B1.5.8, A7.3, B3.1.
 */
#include "torture.h"

#define USAGE_ON (1u << 18)
#define BUS_ON   (1u << 17)
#define MEM_ON   (1u << 16)

static uint32_t spoils_ipsr(struct frame *f, uint32_t number, uint32_t exc_return)
{
    say_value("> spoils the IPSR in the frame, exception", number);
    f->xpsr = (f->xpsr & ~0x1FFu) | torture.word[4];
    return exc_return;
}

static uint32_t repairs_ipsr(struct frame *f, uint32_t number, uint32_t exc_return)
{
    say_value("> exception", number);
    say_value("  exc_return", exc_return);
    say_value("  ipsr in the frame", f->xpsr & 0x1FFu);
    say_value("  icsr", icsr());
    say_value("  iabr", get(IABR));
    say_faults();
    f->xpsr = (f->xpsr & ~0x1FFu) | torture.word[5];
    return exc_return;
}

static uint32_t nests_9(struct frame *f, uint32_t number, uint32_t exc_return)
{
    (void)f;
    say_value("> exception", number);
    pend_irq(9);
    say_value("< exception", number);
    return exc_return;
}

static uint32_t leaves_it_block(struct frame *f, uint32_t number, uint32_t exc_return)
{
    report(f, number, exc_return);
    f->xpsr &= ~0x0600FC00u;
    f->pc = torture.word[3] & ~1u;
    return exc_return;
}

static uint32_t to_lr(struct frame *f, uint32_t number, uint32_t exc_return)
{
    report(f, number, exc_return);
    f->pc = f->lr & ~1u;
    f->xpsr = 1u << 24;
    return exc_return;
}

static void call_address(uint32_t address)
{
    say_value("call", address);
    __asm__ volatile("blx %0" ::"r"(address) : "r0", "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

/* An undefined instruction that the IT block lets run; the handler goes on behind the block. */
static void undefined_in_it_block(void)
{
    __asm__ volatile("adr.w r1, 1f\n"
                     "str r1, [%0]\n"
                     "movs r0, #0\n"
                     ".inst.n 0xBF07\n" /* ittee eq, as numbers: assemblers will not have udf in it */
                     ".inst.n 0x2201\n"
                     ".inst.n 0xDE05\n"
                     ".inst.n 0x2202\n"
                     ".inst.n 0x2203\n"
                     ".balign 4\n"
                     "1:\n" ::"r"(&torture.word[3])
                     : "r0", "r1", "r2", "cc", "memory");
    /* And one that it does not let run. */
    __asm__ volatile("movs r0, #1\n"
                     ".inst.n 0xBF08\n" /* it eq */
                     ".inst.n 0xDE06\n" ::
                         : "r0", "cc", "memory");
    say("stepped over");
}

void torture_returns(void)
{
    torture_begin("a return to thread mode whose frame has an exception number");
    put(SHCSR, USAGE_ON);
    enable_irq(8, 0x80);
    torture.on[IRQ0 + 8] = spoils_ipsr;
    torture.on[USAGEFAULT] = repairs_ipsr;
    torture.word[4] = IRQ0 + 20;
    torture.word[5] = 0;
    pend_irq(8);

    torture_begin("the same, escalated");
    enable_irq(8, 0x80);
    torture.on[IRQ0 + 8] = spoils_ipsr;
    torture.on[HARDFAULT] = repairs_ipsr;
    pend_irq(8);

    torture_begin("a return to handler mode whose frame has none");
    put(SHCSR, USAGE_ON);
    enable_irq(8, 0x80);
    enable_irq(9, 0x40);
    torture.on[IRQ0 + 8] = nests_9;
    torture.on[IRQ0 + 9] = spoils_ipsr;
    torture.on[USAGEFAULT] = repairs_ipsr;
    torture.word[4] = 0;
    torture.word[5] = IRQ0 + 8;
    pend_irq(8);

    torture_begin("undefined in an IT block");
    put(SHCSR, USAGE_ON);
    torture.on[USAGEFAULT] = leaves_it_block;
    undefined_in_it_block();
    say_value("times", torture.count[USAGEFAULT]);

    torture_begin("code in memory for devices and the system");
    put(SHCSR, MEM_ON | BUS_ON);
    torture.on[MEMMANAGE] = to_lr;
    torture.on[BUSFAULT] = to_lr;
    call_address(0x40004001u);
    call_address(0xE000E001u);

    torture_begin("the same, escalated");
    torture.on[HARDFAULT] = to_lr;
    call_address(0x40004001u);
    call_address(0xE000E001u);

    torture_begin("ldrt and strt see the system space as an unprivileged program");
    put(SHCSR, BUS_ON);
    torture.on[BUSFAULT] = report_skip4;
    __asm__ volatile("ldrt r0, [%0]\nstrt r0, [%0]" ::"r"(ICSR) : "r0", "memory");
    torture.word[0] = 7;
    uint32_t value;
    __asm__ volatile("ldrt %0, [%1]" : "=r"(value) : "r"(&torture.word[0]) : "memory");
    say_value("value", value);
    say_value("times", torture.count[BUSFAULT]);

    torture_begin("a handler's bits can be seen and cleared in SHCSR");
    put(SHCSR, USAGE_ON | BUS_ON | MEM_ON);
    put(SHCSR, USAGE_ON);
    say_value("shcsr", get(SHCSR));
    CPSID_I();
    torture.on[HARDFAULT] = report_skip2;
    torture.on[USAGEFAULT] = report_skip2;
    put(SHCSR, USAGE_ON | 1u << 12);
    say_value("shcsr", get(SHCSR));
    put(SHCSR, USAGE_ON);
    say_value("shcsr", get(SHCSR));
    CPSIE_I();
    say("nothing left");
}
