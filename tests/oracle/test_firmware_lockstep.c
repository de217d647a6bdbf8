/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled program (lockstep_program.c) in lockstep with Unicorn: 300,000 instructions, all equal.
 *
 * Arguments: the program at two optimisation levels. An IT block is one step of the oracle, so ours runs to
 * the end of it before the comparison.
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

#define INSTRUCTIONS 300000u

static uint32_t oracle_pc(struct oracle *o)
{
    uint32_t pc = 0;
    uc_reg_read(o->uc, UC_ARM_REG_PC, &pc);
    return pc;
}

static void run_program(const char *path)
{
    struct oracle *o = oracle_new(1);
    uint32_t sum = 0;

    assert_non_null(o);
    assert_true(oracle_program_start(o, path));
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
