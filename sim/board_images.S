/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two firmware images inside the host program. sim/meson.build names the files in BOARD_IMAGE_CORE0 and
 * BOARD_IMAGE_CORE1; without them the images are empty.
 */
    .section .rodata
    .balign 8
    .globl board_image_core0
    .globl board_image_core0_end
    .globl board_image_core1
    .globl board_image_core1_end
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
    .byte 0
    .section .note.GNU-stack, "", %progbits
