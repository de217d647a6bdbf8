/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The breakpoint unit: FPB version 2 with eight code comparators, no literal comparators, no remap.
 * Cross-trigger sheet 3.1 (FP_CTRL, FP_COMPn). A match halts in front of the instruction.
 */
#include "sim/board_internal.h"

#define FP_CTRL  0x000u
#define FP_REMAP 0x004u
#define FP_COMP0 0x008u

#define FP_CTRL_ENABLE 1u
#define FP_CTRL_KEY    2u
#define FP_CTRL_REV2   (1u << 28)

void board_fpb_reset(struct board_core *k)
{
    k->fpb = (struct board_fpb){0};
}

static unsigned filter_bit(uint32_t pc)
{
    return pc >> 1 & 63u;
}

static void refresh(struct board_core *k)
{
    k->fpb.filter = 0;
    for (unsigned n = 0; n < BOARD_FPB_COMPARATORS; n++)
        if (k->fpb.comp[n] & 1u)
            k->fpb.filter |= 1ull << filter_bit(k->fpb.comp[n]);
    board_debug_arm(k);
}

void board_fpb_read(struct board_core *k, uint32_t offset, uint32_t *value)
{
    *value = 0; /* FP_REMAP: RMPSPT 0, no remapping */
    if (offset == FP_CTRL)
        *value = FP_CTRL_REV2 | (uint32_t)BOARD_FPB_COMPARATORS << 4 | (k->fpb.enabled ? FP_CTRL_ENABLE : 0u);
    else if (offset >= FP_COMP0 && offset < FP_COMP0 + 4 * BOARD_FPB_COMPARATORS)
        *value = k->fpb.comp[(offset - FP_COMP0) / 4];
}

void board_fpb_write(struct board_core *k, uint32_t offset, uint32_t value)
{
    if (offset == FP_CTRL && (value & FP_CTRL_KEY))
        k->fpb.enabled = (value & FP_CTRL_ENABLE) != 0;
    else if (offset >= FP_COMP0 && offset < FP_COMP0 + 4 * BOARD_FPB_COMPARATORS)
        k->fpb.comp[(offset - FP_COMP0) / 4] = value;
    refresh(k);
}

bool board_fpb_match(const struct board_core *k, uint32_t pc)
{
    if (!(k->fpb.filter >> filter_bit(pc) & 1u))
        return false;
    for (unsigned n = 0; n < BOARD_FPB_COMPARATORS; n++)
        if (k->fpb.comp[n] == (pc | 1u))
            return true;
    return false;
}
