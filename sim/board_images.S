/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware images inside the host program: one a core, and the same for Armv6-M. sim/meson.build names the
 * files in BOARD_IMAGE_CORE0 and the like; without them the images are empty.
 */
    .section .rodata
    .balign 8
    .globl board_image_core0
    .globl board_image_core0_end
    .globl board_image_core1
    .globl board_image_core1_end
    .globl board_image_core0_v6m
    .globl board_image_core0_v6m_end
    .globl board_image_core1_v6m
    .globl board_image_core1_v6m_end
board_image_core0:
#ifdef BOARD_IMAGE_CORE0
    .incbin BOARD_IMAGE_CORE0
#endif
board_image_core0_end:
    .balign 8
board_image_core1:
#ifdef BOARD_IMAGE_CORE1
    .incbin BOARD_IMAGE_CORE1
#endif
board_image_core1_end:
    .balign 8
board_image_core0_v6m:
#ifdef BOARD_IMAGE_CORE0_V6M
    .incbin BOARD_IMAGE_CORE0_V6M
#endif
board_image_core0_v6m_end:
    .balign 8
board_image_core1_v6m:
#ifdef BOARD_IMAGE_CORE1_V6M
    .incbin BOARD_IMAGE_CORE1_V6M
#endif
board_image_core1_v6m_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
