/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled program (lockstep_program.c) in lockstep with Unicorn: 300,000 instructions, all equal.
 *
 * Arguments: the program at two optimisation levels. An IT block is one step of the oracle, so ours runs to
 * the end of it before the comparison.
 */
#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle_unicorn.h"

#define INSTRUCTIONS 300000u

static bool load_segment(struct oracle *o, FILE *f, const Elf32_Phdr *p)
{
    uint8_t *to = NULL;

    if (p->p_vaddr >= ORACLE_CODE && p->p_vaddr - ORACLE_CODE <= ORACLE_CODE_SIZE &&
        p->p_filesz <= ORACLE_CODE_SIZE - (p->p_vaddr - ORACLE_CODE))
        to = o->code + (p->p_vaddr - ORACLE_CODE);
    if (p->p_vaddr >= ORACLE_RAM && p->p_vaddr - ORACLE_RAM <= ORACLE_RAM_SIZE &&
        p->p_filesz <= ORACLE_RAM_SIZE - (p->p_vaddr - ORACLE_RAM))
        to = o->ram + (p->p_vaddr - ORACLE_RAM);
    return to && fseek(f, (long)p->p_offset, SEEK_SET) == 0 && fread(to, 1, p->p_filesz, f) == p->p_filesz;
}

static bool load(struct oracle *o, const char *path, uint32_t *entry)
{
    FILE *f = fopen(path, "rb");
    Elf32_Ehdr h;
    bool ok;

    if (!f)
        return false;
    ok = fread(&h, sizeof h, 1, f) == 1 && memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_machine == EM_ARM;
    for (unsigned k = 0; ok && k < h.e_phnum; k++) {
        Elf32_Phdr p;
        ok = fseek(f, (long)(h.e_phoff + k * sizeof p), SEEK_SET) == 0 && fread(&p, sizeof p, 1, f) == 1;
        if (ok && p.p_type == PT_LOAD)
            ok = load_segment(o, f, &p);
    }
    fclose(f);
    *entry = h.e_entry;
    return ok;
}

static uint32_t oracle_pc(struct oracle *o)
{
    uint32_t pc = 0;
    uc_reg_read(o->uc, UC_ARM_REG_PC, &pc);
    return pc;
}

static void run_program(const char *path)
{
    struct oracle *o = oracle_new(1);
    uint32_t entry = 0, sum = 0;

    assert_non_null(o);
    memset(o->ram, 0, ORACLE_RAM_SIZE);
    assert_true(load(o, path, &entry));
    memcpy(o->uc_ram, o->ram, ORACLE_RAM_SIZE);
    cpu_reset(&o->cpu);
    cpu_set_xpsr(&o->cpu, 1u << 24);
    o->cpu.r[CPU_SP] = ORACLE_RAM + ORACLE_RAM_SIZE;
    o->cpu.r[CPU_PC] = entry & ~1u;
    o->cpu.instructions = 0;
    oracle_copy_registers(o);
    while (o->cpu.instructions < INSTRUCTIONS) {
        uint32_t pc = o->cpu.r[CPU_PC];
        do {
            cpu_step(&o->cpu);
        } while (o->cpu.it);
        assert_int_equal(uc_emu_start(o->uc, pc | 1u, 0, 0, 1), UC_ERR_OK);
        /* At the end of its 1 KiB page the oracle stops inside the block. */
        for (unsigned k = 0; k < 4 && oracle_pc(o) != o->cpu.r[CPU_PC]; k++)
            assert_int_equal(uc_emu_start(o->uc, oracle_pc(o) | 1u, 0, 0, 1), UC_ERR_OK);
        assert_true(oracle_equal(o, path, pc));
    }
    for (uint32_t k = 0; k < ORACLE_RAM_SIZE; k++)
        sum += o->ram[k];
    assert_int_not_equal(sum, 0); /* it did leave something in memory to compare */
    print_message("# %" PRIu64 " instructions equal\n", o->cpu.instructions);
    oracle_free(o);
}

static void test_program(void **state)
{
    run_program(*state);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: test_firmware_lockstep PROGRAM-O2 PROGRAM-Os\n");
        return 2;
    }
    const struct CMUnitTest tests[] = {
        {"program_optimised_for_speed", test_program, NULL, NULL, argv[1]},
        {"program_optimised_for_size", test_program, NULL, NULL, argv[2]},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
