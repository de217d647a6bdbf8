/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one random instruction of a class and the registers it needs.
 */
#ifndef CORRAL_TESTS_ORACLE_THUMB_CASE_H
#define CORRAL_TESTS_ORACLE_THUMB_CASE_H

#include "oracle_unicorn.h"
#include "thumb_classes.h"

struct encoded {
    uint32_t word;          /* 16-bit: the halfword; 32-bit: first << 16 | second */
    unsigned size;          /* bytes */
    uint32_t field[26 * 2]; /* by letter; upper case from 26 */
};

/* Draw until nothing about it is UNPREDICTABLE. */
void case_choose(struct oracle *o, const struct thumb_class *k, struct encoded *e);
/* Random registers and flags, an SP in the scratch RAM, a PC in the code. */
void case_random_state(struct oracle *o);
/* Make the addresses of one instruction fall into the scratch RAM. */
void case_prepare(struct oracle *o, const struct thumb_class *k, const struct encoded *e);
/* Returns the address behind it. */
uint32_t case_put_code(struct oracle *o, uint32_t at, const struct encoded *e);

/* Run `ours` steps and `theirs` of the oracle from the registers as they are; theirs 0 = until `end`. False,
 * and said why, when they differ. */
bool case_run(struct oracle *o, const char *what, uint32_t pc, uint32_t end, unsigned ours, unsigned theirs);

#endif
