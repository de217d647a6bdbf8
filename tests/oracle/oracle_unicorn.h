/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unicorn beside our core: the same memory map, the same registers, one step each. Test programs only.
 */
#ifndef CORRAL_TESTS_ORACLE_UNICORN_H
#define CORRAL_TESTS_ORACLE_UNICORN_H

#include <stdbool.h>
#include <stdint.h>
#include <unicorn/unicorn.h>

#include "sim/cpu.h"

#define ORACLE_CODE      0x08000000u
#define ORACLE_CODE_SIZE 0x00020000u
#define ORACLE_RAM       0x20000000u
#define ORACLE_RAM_SIZE  0x00010000u

struct oracle {
    uc_engine *uc;
    uc_context *fresh; /* the state that every case begins with */
    struct cpu cpu;
    struct cpu_monitor monitor;
    uint8_t *code;   /* one for both: nothing stores to it */
    uint8_t *ram;    /* ours */
    uint8_t *uc_ram; /* Unicorn's */
    uint32_t seed;
};

struct oracle *oracle_new(uint32_t seed); /* a Cortex-M7 */
struct oracle *oracle_new_core(uint32_t seed, enum cpu_architecture architecture, int model);
void oracle_free(struct oracle *o);
uint32_t oracle_random(struct oracle *o);

/* Give Unicorn our core's registers and flags, from a fresh context. */
void oracle_copy_registers(struct oracle *o);
/* The same for any core and engine. */
void oracle_write_registers(uc_engine *uc, uc_context *fresh, const struct cpu *c);
bool oracle_registers_equal(uc_engine *uc, const struct cpu *c, const char *what, uint32_t pc);
/* Forget translations of code that has changed. */
void oracle_forget(struct oracle *o, uint32_t from, uint32_t to);
/* True when registers, flags and RAM are equal; else what differs is printed. */
bool oracle_equal(struct oracle *o, const char *what, uint32_t pc);

#endif
