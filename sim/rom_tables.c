/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ROM table of a core's private peripheral bus. Cross-trigger sheet 2.4. Must not hold state.
 */
#include "sim/board_internal.h"

uint32_t board_rom_table(const struct board_core *k, uint32_t offset)
{
    const struct board_config *c = &k->board->config;
    const struct {
        enum board_component which;
        uint32_t base;
    } entries[] = {{BOARD_ID_SCS, BOARD_SCS_BASE},
                   {BOARD_ID_DWT, BOARD_DWT_BASE},
                   {BOARD_ID_FPB, BOARD_FPB_BASE},
                   {BOARD_ID_ITM, BOARD_ITM_BASE},
                   {BOARD_ID_CTI, c->cti_base[k->number]}};
    unsigned at = 0;

    for (unsigned n = 0; n < sizeof(entries) / sizeof(entries[0]); n++) {
        if (!k->identity->component[entries[n].which].present ||
            (entries[n].which == BOARD_ID_CTI && c->no_cti[k->number]))
            continue;
        if (offset == 4 * at++)
            return (entries[n].base - BOARD_ROM_BASE) | 3u; /* present, 32-bit format */
    }
    return board_component_id(k->identity, BOARD_ID_ROM, offset);
}
