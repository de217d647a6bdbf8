/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a word from a sample the return address of a call into the sampled function? Profiler sheet 3.7 for
 * Ubicom32, and the same idea by the instructions of Arm and AArch64; elsewhere only what is plausible. A
 * word that does not stand the test is no caller, so that no caller is ever made up. Pure, and reads images
 * only.
 */
#ifndef CORRAL_PROF_CALLER_H
#define CORRAL_PROF_CALLER_H

#include "prof/report.h"

/* A function as it lies in the target. */
struct prof_target {
    const struct symbol_index *image; /* never NULL */
    uint64_t function;                /* where it begins, in the target */
    uint64_t shift;                   /* target address - image address, modulo 2^64 */
};
/* The function that covers `address` of process `pid`; false when no image has one there. */
bool prof_target_at(const struct symbol_space *space, uint32_t pid, uint64_t address,
                    struct symbol_function *function, struct prof_target *place);

struct prof_caller {
    uint64_t call;            /* address of the call instruction, or inside of it */
    struct prof_target place; /* the calling function's */
    struct symbol_function function;
    enum prof_certainty certainty; /* never PROF_CALLER_UNKNOWN */
    bool proven;                   /* by the instruction, not by the address alone */
};

/* The chain of calls that a sample shows, nearest first: the link register, then the words of the stack, each
 * behind the one before and only those that stand the test. Returns its length. */
#define PROF_CHAIN_MAX (1 + PROF_AGGREGATE_PARENTS)
size_t prof_caller_chain(const struct symbol_space *space, const struct prof_aggregate_entry *entry,
                         const struct prof_target *leaf, struct prof_caller chain[PROF_CHAIN_MAX]);

/* A conditional jump of Ubicom32, and whether cond_codes take it (profiler sheet 3.6, 3.7). */
bool prof_branch_decode(uint32_t word, bool *predicted_taken);
bool prof_branch_taken(uint32_t word, uint8_t cond_codes);

#endif
