/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that is never run: functions of 64 bytes at known addresses in two ranges, for readers of a profile
 * to find symbols in. gprof gives the highest symbol no time, so each range has one behind its functions.
 */
    .syntax unified
    .macro function name
    .balign 64
    .global \name
    .type \name, %function
\name:
    .fill 32, 2, 0xBF00
    .size \name, 64
    .endm

    .section .fast_text, "ax", %progbits
    .thumb
    function checksum
    function fast_copy
    function fast_end

    .text
    .thumb
    function main
    function net_poll
    function idle
    function text_end
