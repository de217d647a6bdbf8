/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switches of the board as words: of `corral sim`, of link_sim_options.board and of the key `board:` of
 * corral.yml, all by the one table in board_options.c. docs/board.md "Switches" describes each.
 *
 * Must not make a board: what a word means is put into a struct board_config.
 */
#ifndef CORRAL_SIM_BOARD_OPTIONS_H
#define CORRAL_SIM_BOARD_OPTIONS_H

#include "sim/board.h"

#define BOARD_OPTIONS_TEXT 1024 /* of all the words together, with the NUL */

struct board_options {
    struct board_config config;
    const char *elf;               /* A.elf[,B.elf]; NULL = the built-in programs */
    char text[BOARD_OPTIONS_TEXT]; /* what `elf` points into after board_options_parse */
};

/* The switches there are: the name of number `i` without its dashes, and whether a value follows. NULL behind
 * the last. */
const char *board_options_name(unsigned i, bool *value);

/* One switch, its name without dashes; `value` is NULL where it has none, else it must outlive *o. A mistake
 * is CORRAL_ERR_USAGE with a sentence that names the switch. */
enum corral_err board_options_take(struct board_options *o, const char *name, const char *value,
                                   struct diag *d);

/* All switches of a line: "--identity m7,m33 --level-halted", or with '=' for the blank before a value. Words
 * are separated by blanks, so a file's name in them has none. NULL and "" are allowed. */
enum corral_err board_options_parse(struct board_options *o, const char *words, struct diag *d);

#endif
