/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board's firmware by name: the built-in images, or files. For the programs in which the board is for
 * others; the link to the board reads its files itself, since it keeps them for their symbols.
 */
#ifndef CORRAL_SIM_BOARD_FILE_H
#define CORRAL_SIM_BOARD_FILE_H

#include "sim/board.h"

/* `words`: "A.elf,B.elf" for both cores, "A.elf" (core 1 is held in reset), NULL for the built-in images. */
enum corral_err board_load_words(struct board *b, const char *words, struct diag *d);

/* A file for board_config.sram, mapped shared, so that others see the SRAM while the board runs; all zero, as
 * after power-on. It is made, or it is empty or has the SRAM's size already; it stays when the board ends.
 * Who cuts it meanwhile kills the program. */
enum corral_err board_map_sram(const char *path, uint8_t **sram, struct diag *d);
void board_unmap_sram(uint8_t *sram); /* NULL is allowed */

#endif
