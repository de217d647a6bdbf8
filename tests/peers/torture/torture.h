/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exception torture image: what the cases (torture_*.c) share. Armv7-M, Cortex-M3 instructions only, so
 * that the same ELF runs on the virtual board and on QEMU's mps2-an385. It prints a trace on the UART (CMSDK,
 * 0x40004000 on both) in which nothing depends on time; the test compares the traces byte for byte.
 *
 * Known to differ between the two and therefore never printed: CPUID, ICTR, CCR as a whole, ACTLR, SHPR bits
 * below the top three (how many priority bits there are), SysTick's count and calibration, the MPU, the pc in
 * the frame of an SVC or BKPT that became a HardFault (the architecture has the instruction's own address,
 * QEMU the next one's) and HFSR of such a BKPT (DEBUGEVT; QEMU has FORCED), the pc in the frame of an
 * asynchronous exception, VECTPENDING while BASEPRI or FAULTMASK hold something back.
 */
#ifndef CORRAL_TESTS_TORTURE_H
#define CORRAL_TESTS_TORTURE_H

#include <stdint.h>

#define APART __attribute__((noinline))

#define ISER  0xE000E100u
#define ICER  0xE000E180u
#define ISPR  0xE000E200u
#define ICPR  0xE000E280u
#define IABR  0xE000E300u
#define IPR   0xE000E400u
#define STIR  0xE000EF00u
#define SYST  0xE000E010u
#define ICSR  0xE000ED04u
#define VTOR  0xE000ED08u
#define AIRCR 0xE000ED0Cu
#define SCR   0xE000ED10u
#define CCR   0xE000ED14u
#define SHPR  0xE000ED18u /* byte n: exception 4 + n */
#define SHCSR 0xE000ED24u
#define CFSR  0xE000ED28u
#define HFSR  0xE000ED2Cu
#define MMFAR 0xE000ED34u
#define BFAR  0xE000ED38u

enum {
    NMI = 2,
    HARDFAULT,
    MEMMANAGE,
    BUSFAULT,
    USAGEFAULT,
    SVCALL = 11,
    DEBUGMON,
    PENDSV = 14,
    SYSTICK,
    IRQ0
};

/* An address where both machines answer with a bus fault. */
#define NOWHERE 0x60000000u

struct frame {
    uint32_t r0, r1, r2, r3, r12, lr, pc, xpsr;
};

/* What to do on an exception; returns the EXC_RETURN to leave with. */
typedef uint32_t (*action)(struct frame *f, uint32_t number, uint32_t exc_return);

struct torture {
    action on[16 + 32];
    uint32_t count[16 + 32]; /* times entered since torture_begin */
    uint32_t psp_area[256] __attribute__((aligned(8)));
    uint32_t vectors[64] __attribute__((aligned(256)));
    uint32_t word[8] __attribute__((aligned(8)));
};
extern struct torture torture;

void say(const char *text);                       /* a line */
void say_value(const char *name, uint32_t value); /* name=hex, a line */
void torture_begin(const char *name);             /* a new case: everything back to a known state */
uint32_t quiet(struct frame *f, uint32_t number, uint32_t exc_return); /* counts only */
uint32_t report(struct frame *f, uint32_t number,
                uint32_t exc_return); /* prints the exception's circumstances */
uint32_t report_skip2(struct frame *f, uint32_t number, uint32_t exc_return); /* and steps over a halfword */
uint32_t report_skip4(struct frame *f, uint32_t number, uint32_t exc_return);
uint32_t report_escalated(struct frame *f, uint32_t number,
                          uint32_t exc_return); /* without pc; see torture.c */
uint32_t icsr(void);                            /* without what differs */
void say_faults(void);                          /* CFSR, HFSR and valid fault addresses; clears them */

static inline uint32_t get(uint32_t address)
{
    return *(volatile uint32_t *)(uintptr_t)address;
}

static inline void sync(void)
{
    __asm__ volatile("dsb\nisb" ::: "memory");
}

static inline void put(uint32_t address, uint32_t value)
{
    *(volatile uint32_t *)(uintptr_t)address = value;
    sync(); /* what it causes happens here, on every machine */
}

static inline void put8(uint32_t address, uint32_t value)
{
    *(volatile uint8_t *)(uintptr_t)address = (uint8_t)value;
    sync();
}

static inline void priority(uint32_t number, uint32_t value)
{
    put8(number < 16 ? SHPR + number - 4 : IPR + number - 16, value);
}

static inline void enable_irq(uint32_t irq, uint32_t level)
{
    priority(16 + irq, level);
    put(ISER, 1u << irq);
}

static inline void pend_irq(uint32_t irq)
{
    put(ISPR, 1u << irq);
}

#define MRS(name)                                                      \
    ({                                                                 \
        uint32_t mrs_value;                                            \
        __asm__ volatile("mrs %0, " name : "=r"(mrs_value)::"memory"); \
        mrs_value;                                                     \
    })
#define MSR(name, value) __asm__ volatile("msr " name ", %0\nisb" ::"r"((uint32_t)(value)) : "memory")
#define CPSID_I()        __asm__ volatile("cpsid i\nisb" ::: "memory")
#define CPSIE_I()        __asm__ volatile("cpsie i\nisb" ::: "memory")
#define CPSID_F()        __asm__ volatile("cpsid f\nisb" ::: "memory")
#define CPSIE_F()        __asm__ volatile("cpsie f\nisb" ::: "memory")
#define SVC(n)           __asm__ volatile("svc " #n ::: "memory")

void torture_priorities(void);
void torture_masks(void);
void torture_system(void);
void torture_nvic(void);
void torture_sleep(void);
void torture_stacks(void);
void torture_privilege(void);
void torture_faults(void);
void torture_stacking_faults(void);
void torture_returns(void);

#endif
