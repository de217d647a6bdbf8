/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest program for both Cortex-M33 of QEMU's mps2-an521: core 0 starts core 1, then each counts in a
 * word of its own. Freestanding; runs from the vector tables of an521.ld.
 */
#include <stdint.h>

#define INITSVTOR1 (*(volatile uint32_t *)0x50021114u)
#define CPUWAIT    (*(volatile uint32_t *)0x50021118u)

extern uint32_t stack_top0[], stack_top1[];
extern uint32_t vectors1[];

volatile uint32_t counts[2] __attribute__((section(".counts")));
volatile uint32_t faults __attribute__((section(".counts")));

void reset0(void);
void reset1(void);
void fault(void);
void tick(unsigned core);

void fault(void)
{
    faults++;
    for (;;)
        ;
}

__attribute__((noinline)) void tick(unsigned core)
{
    counts[core]++;
}

void reset1(void)
{
    for (;;)
        tick(1);
}

void reset0(void)
{
    counts[0] = counts[1] = faults = 0;
    INITSVTOR1 = (uint32_t)(uintptr_t)vectors1;
    CPUWAIT = 0;
    for (;;)
        tick(0);
}

typedef void (*vector)(void);
__attribute__((used, section(".vectors0")))
const vector table0[16] = {(vector)(uintptr_t)stack_top0, reset0, fault, fault, fault, fault, fault, fault};
__attribute__((used, section(".vectors1")))
const vector table1[16] = {(vector)(uintptr_t)stack_top1, reset1, fault, fault, fault, fault, fault, fault};
