/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two cores with their own flash and one RAM, and nothing else of the board: for tests of the core alone.
 *
 * Flash is at 0, RAM at 0x20000000. The vector of exception n leads to RIG_HANDLER(n), where a BX LR waits.
 */
#ifndef CORRAL_TESTS_ORACLE_CORE_RIG_H
#define CORRAL_TESTS_ORACLE_CORE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/cpu.h"

#define RIG_FLASH_SIZE 0x8000u
#define RIG_RAM        0x20000000u
#define RIG_RAM_SIZE   0x4000u
#define RIG_STACK      (RIG_RAM + 0x2000u)
#define RIG_MAIN       0x4000u
#define RIG_HANDLER(n) (0x1000u + (n)*0x40u)
#define RIG_IRQ(n)     (16u + (n))

#define ICSR     0xE000ED04u
#define VTOR     0xE000ED08u
#define AIRCR    0xE000ED0Cu
#define SCR      0xE000ED10u
#define CCR      0xE000ED14u
#define SHPR1    0xE000ED18u
#define SHPR2    0xE000ED1Cu
#define SHPR3    0xE000ED20u
#define SHCSR    0xE000ED24u
#define CFSR     0xE000ED28u
#define HFSR     0xE000ED2Cu
#define BFAR     0xE000ED38u
#define STIR     0xE000EF00u
#define ISER     0xE000E100u
#define ICER     0xE000E180u
#define ISPR     0xE000E200u
#define ICPR     0xE000E280u
#define IABR     0xE000E300u
#define IPR      0xE000E400u
#define SYST_CSR 0xE000E010u
#define SYST_RVR 0xE000E014u
#define SYST_CVR 0xE000E018u

#define FAULTS_ON 0x70000u /* SHCSR: MemManage, BusFault and UsageFault enabled */

struct rig {
    struct cpu core[2];
    struct cpu_monitor monitor;
    uint8_t flash[2][RIG_FLASH_SIZE];
    uint8_t ram[RIG_RAM_SIZE];
    unsigned entered; /* the last exception that hooks.exception_entered told of */
    unsigned resets;
    unsigned breakpoints;
    bool halt_on_bkpt;
    unsigned accesses;
    uint32_t accessed;
};

int rig_setup(void **state);
int rig_teardown(void **state);

/* Halfwords into a core's flash; a value above 0xFFFF is a 32-bit instruction. */
void rig_code(struct rig *r, unsigned core, uint32_t address, unsigned n, const uint32_t *code);
#define RIG_CODE(r, core, address, ...) \
    rig_code(r, core, address, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (const uint32_t[]){__VA_ARGS__})

/* One step, which adds its cycles; returns them. */
unsigned rig_step(struct cpu *c);
void rig_steps(struct cpu *c, unsigned n);
uint32_t rig_word(struct rig *r, uint32_t address);
void rig_write(struct cpu *c, uint32_t address, uint32_t value);
uint32_t rig_read(struct cpu *c, uint32_t address);

#endif
