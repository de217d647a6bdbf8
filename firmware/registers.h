/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Register access for the programs of the virtual board: the board's peripherals (sim/board_map.h) and the
 * few system registers of the Armv7-M architecture that they use. Word accesses only; no state.
 */
#ifndef CORRAL_FIRMWARE_REGISTERS_H
#define CORRAL_FIRMWARE_REGISTERS_H

#include <stdint.h>

#include "sim/board_map.h"

/* System control space (Armv7-M): names as in the architecture. */
#define SCS_SYST_CSR   0xE000E010u
#define SCS_SYST_RVR   0xE000E014u
#define SCS_SYST_CVR   0xE000E018u
#define SCS_NVIC_ISER0 0xE000E100u
#define SCS_NVIC_IPR0  0xE000E400u
#define SCS_ICSR       0xE000ED04u
#define ICSR_PENDSTSET (1u << 26)
#define SCS_VTOR       0xE000ED08u
#define SCS_SHPR3      0xE000ED20u
#define SCS_CFSR       0xE000ED28u
#define SCS_HFSR       0xE000ED2Cu
#define SCS_DEMCR      0xE000EDFCu
#define DWT_CTRL       0xE0001000u
#define DWT_CYCCNT     0xE0001004u

/* Armv6-M: no cycle counter, no division, priorities in whole words. */
#define CORE_IS_SMALL (__ARM_ARCH == 6)

/* A jump that reaches all of the flash, for naked functions: the small core's B reaches 2 KiB. */
#if CORE_IS_SMALL
#define TAIL_CALL(name)   \
    "ldr r3, =" name "\n" \
    "bx r3\n"             \
    ".pool\n"
#else
#define TAIL_CALL(name) "b " name "\n"
#endif

static inline uint32_t reg_read(uint32_t address)
{
    return *(volatile uint32_t *)(uintptr_t)address;
}

static inline void reg_write(uint32_t address, uint32_t value)
{
    *(volatile uint32_t *)(uintptr_t)address = value;
}

#if CORE_IS_SMALL
/* Made of SysTick (journal.c): it counts from journal_start on. */
uint32_t cycles_now(void);
static inline void cycles_start(void) {}
#else
static inline uint32_t cycles_now(void)
{
    return reg_read(DWT_CYCCNT);
}

/* DWT_CYCCNT counts from here on. */
static inline void cycles_start(void)
{
    reg_write(SCS_DEMCR, reg_read(SCS_DEMCR) | 1u << 24); /* TRCENA */
    reg_write(DWT_CTRL, reg_read(DWT_CTRL) | 1u);         /* CYCCNTENA */
}
#endif

/* Enable external interrupt `irq` at `priority`. */
static inline void irq_enable(uint32_t irq, uint8_t priority)
{
#if CORE_IS_SMALL
    uint32_t at = SCS_NVIC_IPR0 + (irq & ~3u), shift = irq % 4u * 8u;
    reg_write(at, (reg_read(at) & ~(0xFFu << shift)) | (uint32_t)priority << shift);
#else
    *(volatile uint8_t *)(uintptr_t)(SCS_NVIC_IPR0 + irq) = priority;
#endif
    reg_write(SCS_NVIC_ISER0 + irq / 32u * 4u, 1u << (irq % 32u));
}

#endif
