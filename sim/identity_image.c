/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in firmware image that a core of an identity runs (board_images.S). Must hold no state. */
#include "sim/identity.h"

extern const uint8_t board_image_core0_v6m[], board_image_core0_v6m_end[];
extern const uint8_t board_image_core1_v6m[], board_image_core1_v6m_end[];

const uint8_t *board_identity_image(enum board_identity identity, unsigned core, size_t *size)
{
    bool small = board_identity_info(identity)->architecture == CPU_V6M;
    const uint8_t *begin, *end;

    if (small) {
        begin = core ? board_image_core1_v6m : board_image_core0_v6m;
        end = core ? board_image_core1_v6m_end : board_image_core0_v6m_end;
    } else { /* Armv7E-M, which Armv8-M runs too */
        begin = core ? board_image_core1 : board_image_core0;
        end = core ? board_image_core1_end : board_image_core0_end;
    }
    *size = (size_t)((uintptr_t)end - (uintptr_t)begin);
    return begin;
}
