/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unicorn beside our core: set-up, copying of state, comparison.
 *
 * Must not flush Unicorn's whole translation cache (seconds and a GiB): single addresses only.
 */
#include "oracle_unicorn.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORACLE_REGS 17

static const int reg_ids[ORACLE_REGS] = {
    UC_ARM_REG_R0,  UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3, UC_ARM_REG_R4,   UC_ARM_REG_R5,
    UC_ARM_REG_R6,  UC_ARM_REG_R7, UC_ARM_REG_R8, UC_ARM_REG_R9, UC_ARM_REG_R10,  UC_ARM_REG_R11,
    UC_ARM_REG_R12, UC_ARM_REG_SP, UC_ARM_REG_LR, UC_ARM_REG_PC, UC_ARM_REG_APSR,
};

/* Zeros around the code, so that the target of every branch (16 MiB) can be fetched. */
#define ORACLE_BRANCH 0x01100000u

#define APSR_MASK 0xF80F0000u

uint32_t oracle_random(struct oracle *o)
{
    uint32_t x = o->seed;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    o->seed = x;
    return x * 0x9E3779B1u;
}

struct oracle *oracle_new(uint32_t seed)
{
    return oracle_new_core(seed, CPU_V7EM, UC_CPU_ARM_CORTEX_M7);
}

struct oracle *oracle_new_core(uint32_t seed, enum cpu_architecture architecture, int model)
{
    struct oracle *o = calloc(1, sizeof *o);

    if (!o)
        return NULL;
    o->seed = seed ? seed : 1;
    o->code = aligned_alloc(4096, ORACLE_CODE_SIZE);
    o->ram = aligned_alloc(4096, ORACLE_RAM_SIZE);
    o->uc_ram = aligned_alloc(4096, ORACLE_RAM_SIZE);
    if (!o->code || !o->ram || !o->uc_ram || uc_open(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS, &o->uc) ||
        uc_ctl_set_cpu_model(o->uc, model) ||
        uc_mem_map_ptr(o->uc, ORACLE_CODE, ORACLE_CODE_SIZE, UC_PROT_READ | UC_PROT_EXEC, o->code) ||
        uc_mem_map_ptr(o->uc, ORACLE_RAM, ORACLE_RAM_SIZE, UC_PROT_READ | UC_PROT_WRITE, o->uc_ram) ||
        uc_mem_map(o->uc, ORACLE_CODE - ORACLE_BRANCH, ORACLE_BRANCH, UC_PROT_READ | UC_PROT_EXEC) ||
        uc_mem_map(o->uc, ORACLE_CODE + ORACLE_CODE_SIZE, ORACLE_BRANCH, UC_PROT_READ | UC_PROT_EXEC) ||
        uc_context_alloc(o->uc, &o->fresh) || uc_context_save(o->uc, o->fresh)) {
        oracle_free(o);
        return NULL;
    }
    for (uint32_t k = 0; k < ORACLE_CODE_SIZE; k += 4) {
        uint32_t v = oracle_random(o);
        memcpy(o->code + k, &v, 4);
    }
    for (uint32_t k = 0; k < ORACLE_RAM_SIZE; k += 4) {
        uint32_t v = oracle_random(o);
        memcpy(o->ram + k, &v, 4);
    }
    memcpy(o->uc_ram, o->ram, ORACLE_RAM_SIZE);
    o->cpu.architecture = architecture;
    o->cpu.monitor = &o->monitor;
    o->cpu.region[0] = (struct cpu_region){ORACLE_CODE, ORACLE_CODE_SIZE, o->code, false};
    o->cpu.region[1] = (struct cpu_region){ORACLE_RAM, ORACLE_RAM_SIZE, o->ram, true};
    o->cpu.region[2] = (struct cpu_region){0, 64, o->code, false}; /* a vector table, for the reset */
    cpu_reset(&o->cpu);
    o->cpu.t = 1;
    return o;
}

void oracle_free(struct oracle *o)
{
    if (!o)
        return;
    if (o->fresh)
        uc_context_free(o->fresh);
    if (o->uc)
        uc_close(o->uc);
    free(o->code);
    free(o->ram);
    free(o->uc_ram);
    free(o);
}

void oracle_write_registers(uc_engine *uc, uc_context *fresh, const struct cpu *c)
{
    uint32_t value[ORACLE_REGS];
    void *where[ORACLE_REGS];
    int ids[ORACLE_REGS];

    uc_context_restore(uc, fresh);
    for (int k = 0; k < ORACLE_REGS; k++) {
        value[k] = k < 16 ? c->r[k] : cpu_xpsr(c) & APSR_MASK;
        where[k] = &value[k];
        ids[k] = k < 16 ? reg_ids[k] : UC_ARM_REG_APSR_NZCVQG; /* the one name that writes GE too */
    }
    value[15] |= 1; /* Unicorn takes the Thumb bit from here */
    uc_reg_write_batch(uc, ids, where, ORACLE_REGS);
}

void oracle_copy_registers(struct oracle *o)
{
    oracle_write_registers(o->uc, o->fresh, &o->cpu);
}

void oracle_forget(struct oracle *o, uint32_t from, uint32_t to)
{
    uc_ctl_remove_cache(o->uc, (uint64_t)from, (uint64_t)to);
}

bool oracle_registers_equal(uc_engine *uc, const struct cpu *c, const char *what, uint32_t pc)
{
    uint32_t value[ORACLE_REGS];
    void *where[ORACLE_REGS];
    int ids[ORACLE_REGS];
    bool equal = true;

    for (int k = 0; k < ORACLE_REGS; k++) {
        value[k] = 0;
        where[k] = &value[k];
        ids[k] = reg_ids[k];
    }
    uc_reg_read_batch(uc, ids, where, ORACLE_REGS);
    for (int k = 0; k < ORACLE_REGS; k++) {
        uint32_t ours = k < 16 ? c->r[k] : cpu_xpsr(c) & APSR_MASK;
        if (k == 16)
            value[k] &= APSR_MASK;
        if (ours == value[k])
            continue;
        equal = false;
        fprintf(stderr, "%s at %08" PRIx32 ": %s%d is %08" PRIx32 ", oracle %08" PRIx32 "\n", what, pc,
                k < 16 ? "r" : "apsr", k, ours, value[k]);
    }
    return equal;
}

bool oracle_equal(struct oracle *o, const char *what, uint32_t pc)
{
    bool equal = oracle_registers_equal(o->uc, &o->cpu, what, pc);

    if (memcmp(o->ram, o->uc_ram, ORACLE_RAM_SIZE) != 0) {
        uint32_t at = 0;
        while (o->ram[at] == o->uc_ram[at])
            at++;
        equal = false;
        fprintf(stderr, "%s at %08" PRIx32 ": memory %08" PRIx32 " is %02x, oracle %02x\n", what, pc,
                ORACLE_RAM + at, o->ram[at], o->uc_ram[at]);
    }
    return equal;
}
