/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the virtual board runs, alone and beside Unicorn: a table, then one line of JSON.
 *
 * What the cost grows with: the instructions executed, in both cores together. An idle core (asleep, halted)
 * costs nothing; an exception, entry and return, costs as much as some ten instructions; counting addresses
 * (count_pcs) adds a store to each. Most of an instruction's time is the host's guess at the next handler
 * going wrong, and two programs interleaved are harder to guess than one: the same cores run faster in long
 * slices. Unicorn is fast while it runs on by itself, and pays for each start; on the board, whose cores
 * alternate, it would start for every instruction. That is why the board has a core of its own.
 *
 * Times are the process's CPU time, each the median of several runs, so that a busy machine does little
 * harm. Nothing here is asserted but that the work was done: the target is printed beside what was measured.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "oracle/oracle_program.h"
#include "sim/board_internal.h"

#define RUNS         5
#define RUN_SECONDS  0.3
#define TARGET_MIPS  100
#define BOARD_SLICE  500000u /* ticks */
#define TRIAL_ROUNDS 50u
#define LEAD         12345u /* instructions */

static const unsigned slices[] = {1, 100, 10000};
#define SLICES (sizeof slices / sizeof slices[0])

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v)
{
    qsort(v, RUNS, sizeof *v, ascending);
    return v[RUNS / 2];
}

/* Millions a second. */
struct speed {
    double instructions, cycles;
};

static uint64_t board_instructions(const struct board *b)
{
    return b->core[0].cpu.instructions + b->core[1].cpu.instructions;
}

static uint64_t board_cycles(const struct board *b)
{
    return b->core[0].cpu.cycles + b->core[1].cpu.cycles;
}

static bool load_firmware(struct board *b)
{
    struct diag d = {0};

    return board_load_elf(b, 0, board_image_core0, (size_t)(board_image_core0_end - board_image_core0), &d) ==
               CORRAL_OK &&
           board_load_elf(b, 1, board_image_core1, (size_t)(board_image_core1_end - board_image_core1), &d) ==
               CORRAL_OK;
}

/* The board with its own firmware: log lines, samples, mailbox and all, with nobody at the debug port. */
static bool measure_board(bool count_pcs, struct speed *speed)
{
    const struct board_config config = {.seed = 7, .count_pcs = count_pcs};
    double instructions[RUNS], cycles[RUNS];
    struct diag d = {0};
    struct board *b = board_new(&config, &d);
    bool ok = b && load_firmware(b);

    for (unsigned k = 0; ok && k < RUNS; k++) {
        uint64_t i = board_instructions(b), c = board_cycles(b);
        double start = cpu_seconds(), used;
        do {
            board_run_until(b, board_tick(b) + BOARD_SLICE);
            used = cpu_seconds() - start;
        } while (used < RUN_SECONDS);
        instructions[k] = (double)(board_instructions(b) - i) / used * 1e-6;
        cycles[k] = (double)(board_cycles(b) - c) / used * 1e-6;
        ok = !(b->core[0].cpu.attention & b->core[1].cpu.attention & (CPU_ATTN_LOCKUP | CPU_ATTN_HALTED));
    }
    board_free(b);
    if (ok)
        *speed = (struct speed){median(instructions), median(cycles)};
    return ok;
}

/* Two cores of ours, and two engines of Unicorn, on the compiled program. */
struct pair {
    struct oracle *side[2];
    const char *program;
};

/* Flash is never written, so its instructions are decoded once, as on the board. */
static bool keep_decoded(struct oracle *o)
{
    o->cpu.region[0].decoded = calloc(ORACLE_CODE_SIZE / 2, sizeof *o->cpu.region[0].decoded);
    return o->cpu.region[0].decoded != NULL;
}

static uint32_t rounds_done(const struct pair *p, bool unicorn)
{
    uint32_t sum = 0;

    for (unsigned k = 0; k < 2; k++) {
        uint32_t v;
        memcpy(&v, (unicorn ? p->side[k]->uc_ram : p->side[k]->ram) + (ORACLE_PROGRAM_ROUND - ORACLE_RAM), 4);
        sum += v;
    }
    return sum;
}

static void our_slice(struct pair *p, unsigned slice)
{
    for (unsigned k = 0; k < 2; k++) {
        struct cpu *c = &p->side[k]->cpu;
        for (unsigned n = 0; n < slice; n++)
            cpu_step_inline(c);
    }
}

static bool unicorn_one(struct oracle *o, unsigned slice)
{
    uint32_t pc = 0;
    return !uc_reg_read(o->uc, UC_ARM_REG_PC, &pc) && !uc_emu_start(o->uc, pc | 1u, 0, 0, slice);
}

static bool unicorn_slice(struct pair *p, unsigned slice)
{
    return unicorn_one(p->side[0], slice) && unicorn_one(p->side[1], slice);
}

static bool pair_start(struct pair *p)
{
    for (unsigned k = 0; k < 2; k++)
        if (!oracle_program_start(p->side[k], p->program))
            return false;
    /* Out of step with each other, or one core's branches would foretell the other's to the host. */
    for (unsigned n = 0; n < LEAD; n++)
        cpu_step(&p->side[0]->cpu);
    return unicorn_one(p->side[0], LEAD);
}

/* Rounds of the program a second. Unicorn takes an IT block for one instruction and miscounts slices that
 * end in one, so both are measured by the work they did. */
static bool measure_rounds(struct pair *p, bool unicorn, unsigned slice, double *rate)
{
    double rates[RUNS];
    unsigned batch = slice < 1000 ? 10000u / slice : 10;

    if (!pair_start(p))
        return false;
    for (unsigned k = 0; k < RUNS; k++) {
        uint32_t before = rounds_done(p, unicorn);
        double start = cpu_seconds(), used;
        do {
            for (unsigned n = 0; n < batch; n++) {
                if (!unicorn)
                    our_slice(p, slice);
                else if (!unicorn_slice(p, slice))
                    return false;
            }
            used = cpu_seconds() - start;
        } while (used < RUN_SECONDS);
        rates[k] = (rounds_done(p, unicorn) - before) / used;
    }
    *rate = median(rates);
    return *rate > 0;
}

static bool instructions_per_round(struct pair *p, double *count)
{
    if (!pair_start(p))
        return false;
    for (uint64_t n = 0; rounds_done(p, false) < 2 * TRIAL_ROUNDS; n++) {
        if (n > 1000000)
            return false;
        our_slice(p, 100);
    }
    *count = (double)(p->side[0]->cpu.instructions + p->side[1]->cpu.instructions) / rounds_done(p, false);
    return true;
}

static bool run(struct pair *p)
{
    struct speed plain, counting;
    double ours[SLICES], unicorn[SLICES], round;

    if (!measure_board(false, &plain) || !measure_board(true, &counting)) {
        fprintf(stderr, "bench: the board does not run its firmware\n");
        return false;
    }
    printf("The board with its firmware, cores alternating every instruction (target %d MIPS in all)\n",
           TARGET_MIPS);
    printf("  %-24s %7.1f MIPS %7.1f million cycles/s\n", "plain", plain.instructions, plain.cycles);
    printf("  %-24s %7.1f MIPS %7.1f million cycles/s\n", "counting addresses", counting.instructions,
           counting.cycles);
    if (!instructions_per_round(p, &round)) {
        fprintf(stderr, "bench: the lockstep program '%s' does not run\n", p->program);
        return false;
    }
    printf("Two cores on the lockstep program, million instructions a second in all\n");
    printf("  %-24s %7s %9s %12s\n", "instructions a slice", "ours", "Unicorn", "ours/Unicorn");
    for (unsigned k = 0; k < SLICES; k++) {
        if (!measure_rounds(p, false, slices[k], &ours[k]) ||
            !measure_rounds(p, true, slices[k], &unicorn[k])) {
            fprintf(stderr, "bench: the lockstep program does not run\n");
            return false;
        }
        ours[k] *= round * 1e-6;
        unicorn[k] *= round * 1e-6;
        printf("  %-24u %7.1f %9.1f %12.2f\n", slices[k], ours[k], unicorn[k], ours[k] / unicorn[k]);
    }
    printf("{\"bench\":\"sim\",\"target_mips\":%d,\"board\":{\"mips\":%.1f,\"mcycles\":%.1f},"
           "\"board_counting\":{\"mips\":%.1f,\"mcycles\":%.1f},\"slices\":[",
           TARGET_MIPS, plain.instructions, plain.cycles, counting.instructions, counting.cycles);
    for (unsigned k = 0; k < SLICES; k++)
        printf("%s{\"instructions\":%u,\"mips\":%.1f,\"unicorn_mips\":%.1f,\"ratio\":%.2f}", k ? "," : "",
               slices[k], ours[k], unicorn[k], ours[k] / unicorn[k]);
    printf("]}\n");
    return true;
}

int main(int argc, char **argv)
{
    struct pair p = {.program = argv[1]};
    bool ok = false;

    if (argc != 2) {
        fprintf(stderr, "usage: bench_sim PROGRAM\n");
        return 2;
    }
    p.side[0] = oracle_new(1);
    p.side[1] = oracle_new(2);
    if (p.side[0] && p.side[1] && keep_decoded(p.side[0]) && keep_decoded(p.side[1]))
        ok = run(&p);
    for (unsigned k = 0; k < 2; k++) {
        if (p.side[k])
            free(p.side[k]->cpu.region[0].decoded);
        oracle_free(p.side[k]);
    }
    return ok ? 0 : 1;
}
