/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled program (lockstep_program.c) in lockstep with Unicorn: 300,000 instructions on a Cortex-M7, and
 * 150,000 on an M0 and an M33, all equal.
 *
 * Arguments: the program at two optimisation levels, for Armv6-M and for Armv8-M. An IT block is one step of
 * the oracle, so ours runs to the end of it before the comparison.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle_program.h"

struct subject {
    const char *path;
    enum cpu_architecture architecture;
    int model;
    unsigned instructions;
};

static uint32_t oracle_pc(struct oracle *o)
{
    uint32_t pc = 0;
    uc_reg_read(o->uc, UC_ARM_REG_PC, &pc);
    return pc;
}

static void test_program(void **state)
{
    const struct subject *s = *state;
    const char *path = s->path;
    struct oracle *o = oracle_new_core(1, s->architecture, s->model);
    uint32_t sum = 0;

    assert_non_null(o);
    assert_true(oracle_program_start(o, path));
    while (o->cpu.instructions < s->instructions) {
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

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: test_firmware_lockstep PROGRAM-O2 PROGRAM-Os PROGRAM-V6M PROGRAM-V8M\n");
        return 2;
    }
    struct subject subjects[] = {
        {argv[1], CPU_V7EM, UC_CPU_ARM_CORTEX_M7, 300000},
        {argv[2], CPU_V7EM, UC_CPU_ARM_CORTEX_M7, 300000},
        {argv[3], CPU_V6M, UC_CPU_ARM_CORTEX_M0, 150000},
        {argv[4], CPU_V8M, UC_CPU_ARM_CORTEX_M33, 150000},
    };
    const struct CMUnitTest tests[] = {
        {"program_optimised_for_speed", test_program, NULL, NULL, &subjects[0]},
        {"program_optimised_for_size", test_program, NULL, NULL, &subjects[1]},
        {"program_for_armv6m", test_program, NULL, NULL, &subjects[2]},
        {"program_for_armv8m", test_program, NULL, NULL, &subjects[3]},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
