/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiled program (lockstep_program.c) in the oracle's memory, ready to run on both sides.
 */
#ifndef CORRAL_TESTS_ORACLE_PROGRAM_H
#define CORRAL_TESTS_ORACLE_PROGRAM_H

#include "oracle_unicorn.h"

#define ORACLE_PROGRAM_ROUND ORACLE_RAM /* the word that counts its rounds */

/* Load the ELF file `path` and set both sides to its entry, with an empty stack. False = it cannot be read,
 * or lies outside the oracle's code and RAM. */
bool oracle_program_start(struct oracle *o, const char *path);

#endif
