/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The torture image's frame: vectors, entry stub, trace printing, reset of state between cases. Freestanding.
 */
#include "torture.h"

#define UART_DATA  0x40004000u
#define UART_STATE 0x40004004u
#define UART_CTRL  0x40004008u
#define UART_BAUD  0x40004010u

struct torture torture;
extern uint32_t torture_bss_start[], torture_bss_end[], torture_stack_top[];

void torture_reset(void);
void torture_entry(void);
uint32_t torture_dispatch(struct frame *f, uint32_t number, uint32_t exc_return);

static void send(char c)
{
    while (get(UART_STATE) & 1u)
        ;
    *(volatile uint32_t *)(uintptr_t)UART_DATA = (uint8_t)c;
}

static void send_text(const char *text)
{
    while (*text)
        send(*text++);
}

static void send_hex(uint32_t value)
{
    for (int shift = 28; shift >= 0; shift -= 4)
        send("0123456789abcdef"[value >> shift & 15u]);
}

APART void say(const char *text)
{
    send_text(text);
    send('\n');
}

APART void say_value(const char *name, uint32_t value)
{
    send_text(name);
    send('=');
    send_hex(value);
    send('\n');
}

APART void say_faults(void)
{
    uint32_t cfsr = get(CFSR);
    say_value("  cfsr", cfsr);
    say_value("  hfsr", get(HFSR));
    if (cfsr & 1u << 7)
        say_value("  mmfar", get(MMFAR));
    if (cfsr & 1u << 15)
        say_value("  bfar", get(BFAR));
    put(CFSR, 0xFFFFFFFFu);
    put(HFSR, 0xFFFFFFFFu);
}

uint32_t quiet(struct frame *f, uint32_t number, uint32_t exc_return)
{
    (void)f;
    (void)number;
    return exc_return;
}

/* VECTPENDING leaves out what BASEPRI and FAULTMASK hold back (Armv7-M ARM B3.2.4); QEMU's does not. */
uint32_t icsr(void)
{
    uint32_t value = get(ICSR);
    return MRS("basepri") || MRS("faultmask") ? value & ~0x001FF000u : value;
}

uint32_t report(struct frame *f, uint32_t number, uint32_t exc_return)
{
    say_value("> exception", number);
    say_value("  exc_return", exc_return);
    say_value("  icsr", icsr());
    say_value("  shcsr", get(SHCSR));
    say_value("  iabr", get(IABR));
    say_value("  frame", (uint32_t)(uintptr_t)f);
    if (number >= HARDFAULT && number <= SVCALL)
        say_value("  pc", f->pc);               /* of the others it depends on how soon the machine notices */
    say_value("  xpsr", f->xpsr & 0x0700FFFFu); /* the flags are whatever the compiler left */
    if (number >= HARDFAULT && number <= USAGEFAULT)
        say_faults();
    say_value("< exception", number);
    return exc_return;
}

uint32_t report_skip2(struct frame *f, uint32_t number, uint32_t exc_return)
{
    report(f, number, exc_return);
    f->pc += 2;
    return exc_return;
}

uint32_t report_skip4(struct frame *f, uint32_t number, uint32_t exc_return)
{
    report(f, number, exc_return);
    f->pc += 4;
    return exc_return;
}

/* An SVC or BKPT that could not be taken: whether the frame's pc is at it or behind it depends on the
 * machine. */
uint32_t report_escalated(struct frame *f, uint32_t number, uint32_t exc_return)
{
    say_value("> exception", number);
    say_value("  exc_return", exc_return);
    say_value("  icsr", icsr());
    say_value("  iabr", get(IABR));
    uint32_t opcode = *(const uint16_t *)(uintptr_t)f->pc >> 8;
    if (opcode == 0xBE || *(const uint16_t *)(uintptr_t)(f->pc - 2) >> 8 == 0xBE)
        put(HFSR, 0xFFFFFFFFu);
    say_faults();
    if (opcode == 0xDF || opcode == 0xBE)
        f->pc += 2;
    return exc_return;
}

static uint32_t unexpected(struct frame *f, uint32_t number, uint32_t exc_return)
{
    say("UNEXPECTED");
    report(f, number, exc_return);
    say("torture: end");
    for (;;)
        ;
    return exc_return;
}

APART void torture_begin(const char *name)
{
    CPSID_I();
    put(ICER, 0xFFFFFFFFu);
    put(ICPR, 0xFFFFFFFFu);
    put(SYST, 0);
    put(ICSR, 1u << 27 | 1u << 25); /* clear PendSV and SysTick */
    put(SHCSR, 0);
    put(SCR, 0);
    put(CCR, get(CCR) & ~0x1Au); /* traps and USERSETMPEND off */
    put(AIRCR, 0x05FA0000u);     /* PRIGROUP 0 */
    for (uint32_t number = 4; number < 16; number++) {
        if (number < 7 || number == SVCALL || number == DEBUGMON || number >= PENDSV)
            priority(number, 0);
    }
    for (uint32_t irq = 0; irq < 32; irq++)
        priority(16 + irq, 0);
    for (uint32_t i = 0; i < sizeof(torture.on) / sizeof(torture.on[0]); i++) {
        torture.on[i] = unexpected;
        torture.count[i] = 0;
    }
    put(CFSR, 0xFFFFFFFFu);
    put(HFSR, 0xFFFFFFFFu);
    MSR("basepri", 0);
    CPSIE_F();
    CPSIE_I();
    send_text("== ");
    say(name);
}

__attribute__((used)) uint32_t torture_dispatch(struct frame *f, uint32_t number, uint32_t exc_return)
{
    torture.count[number]++;
    return torture.on[number](f, number, exc_return);
}

/* One entry for all: finds the frame, calls, and leaves with the EXC_RETURN it gets. */
__attribute__((naked)) void torture_entry(void)
{
    __asm__ volatile("tst lr, #4\n"
                     "ite eq\n"
                     "mrseq r0, msp\n"
                     "mrsne r0, psp\n"
                     "mrs r1, ipsr\n"
                     "mov r2, lr\n"
                     "push {r4, lr}\n"
                     "bl torture_dispatch\n"
                     "pop {r4, lr}\n"
                     "bx r0\n");
}

__attribute__((noreturn)) void torture_reset(void)
{
    for (volatile uint32_t *p = torture_bss_start; p < torture_bss_end; p++)
        *p = 0;
    put(UART_BAUD, 16);
    put(UART_CTRL, 1);
    say("torture: start");
    torture_priorities();
    torture_masks();
    torture_system();
    torture_nvic();
    torture_sleep();
    torture_stacks();
    torture_privilege();
    torture_faults();
    torture_stacking_faults();
    torture_returns();
    say("torture: end");
    for (;;)
        ;
}

typedef void (*vector)(void);
#define E  torture_entry
#define E8 E, E, E, E, E, E, E, E
__attribute__((section(".vectors"), used)) static const vector vectors[48] = {
    (vector)(uintptr_t)torture_stack_top, torture_reset, E, E, E, E, E, E, E8, E8, E8, E8, E8,
};
