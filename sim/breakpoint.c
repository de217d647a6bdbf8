/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The breakpoint unit: an FPB of version 1 or 2, or the BPU of Armv6-M; no literal comparators, no remapping.
 * Cross-trigger sheet 3.1 (FP_CTRL, FP_COMPn). A match halts in front of the instruction.
 */
#include "sim/board_internal.h"

#define FP_CTRL  0x000u
#define FP_COMP0 0x008u

#define FP_CTRL_ENABLE 1u
#define FP_CTRL_KEY    2u
#define FP_CTRL_REV2   (1u << 28)

#define COMP_ENABLE 1u
/* Version 1: a word below 0x20000000, and which of its two halfwords. */
#define V1_WORD       0x1FFFFFFCu
#define V1_REPLACE(c) ((c) >> 30) /* 1 lower, 2 upper, 3 both; 0 would remap, which this unit cannot */
#define V1_KEPT       0xDFFFFFFDu

void board_fpb_reset(struct board_core *k)
{
    k->fpb = (struct board_fpb){0};
}

static unsigned filter_bit(uint32_t pc)
{
    return pc >> 1 & 63u;
}

static bool version_2(const struct board_core *k)
{
    return k->identity->fpb.version == 2;
}

static void refresh(struct board_core *k)
{
    k->fpb.filter = 0;
    for (unsigned n = 0; n < k->identity->fpb.comparators; n++) {
        uint32_t comp = k->fpb.comp[n];
        if (!(comp & COMP_ENABLE))
            continue;
        if (version_2(k))
            k->fpb.filter |= 1ull << filter_bit(comp);
        else
            k->fpb.filter |= (uint64_t)V1_REPLACE(comp) << filter_bit(comp & V1_WORD);
    }
    board_debug_arm(k);
}

/* The comparator register at `offset`, or NULL. */
static uint32_t *comparator(struct board_core *k, uint32_t offset)
{
    if (offset < FP_COMP0 || offset >= FP_COMP0 + 4u * k->identity->fpb.comparators)
        return NULL;
    return &k->fpb.comp[(offset - FP_COMP0) / 4];
}

void board_fpb_read(struct board_core *k, uint32_t offset, uint32_t *value)
{
    const uint32_t *comp = comparator(k, offset);

    *value = comp ? *comp : 0; /* FP_REMAP: RMPSPT 0, no remapping */
    if (offset == FP_CTRL)
        *value = (version_2(k) ? FP_CTRL_REV2 : 0u) | (uint32_t)k->identity->fpb.comparators << 4 |
                 (k->fpb.enabled ? FP_CTRL_ENABLE : 0u);
}

void board_fpb_write(struct board_core *k, uint32_t offset, uint32_t value)
{
    uint32_t *comp = comparator(k, offset);

    if (offset == FP_CTRL && (value & FP_CTRL_KEY))
        k->fpb.enabled = (value & FP_CTRL_ENABLE) != 0;
    else if (comp)
        *comp = version_2(k) ? value : value & V1_KEPT;
    refresh(k);
}

bool board_fpb_match(const struct board_core *k, uint32_t pc)
{
    if (!(k->fpb.filter >> filter_bit(pc) & 1u))
        return false;
    for (unsigned n = 0; n < k->identity->fpb.comparators; n++) {
        uint32_t comp = k->fpb.comp[n];
        if (version_2(k)) {
            if (comp == (pc | COMP_ENABLE))
                return true;
        } else if ((comp & COMP_ENABLE) && (comp & V1_WORD) == (pc & ~3u) &&
                   (V1_REPLACE(comp) >> (pc >> 1 & 1u) & 1u)) {
            return true;
        }
    }
    return false;
}
