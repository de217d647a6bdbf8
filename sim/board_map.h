/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual board's memory map and peripheral registers, as docs/board.md publishes them.
 *
 * Only #defines: the simulator and the firmware in firmware/ both include this file, so that there is one
 * place where an address is written down. Every register is a 32-bit word and wants word accesses.
 */
#ifndef CORRAL_SIM_BOARD_MAP_H
#define CORRAL_SIM_BOARD_MAP_H

#define BOARD_MAP_VERSION 1u

/* Memory. Flash is private to each core and appears twice; SRAM is one memory that both cores see. */
#define BOARD_FLASH_ALIAS 0x00000000u
#define BOARD_FLASH_BASE  0x08000000u
#define BOARD_FLASH_SIZE  0x00040000u /* 256 KiB a core */
#define BOARD_SRAM_BASE   0x20000000u
#define BOARD_SRAM_SIZE   0x00080000u /* 512 KiB */
/* The split of SRAM is a convention between the images; nothing enforces it. */
#define BOARD_SRAM_CORE0       0x20000000u
#define BOARD_SRAM_CORE1       0x20020000u
#define BOARD_SRAM_EACH        0x00020000u /* 128 KiB a core */
#define BOARD_SRAM_SHARED      0x20040000u
#define BOARD_SRAM_SHARED_SIZE 0x00040000u

/* Default places of the shared log buffers: where Corral looks when an image has no symbol tlog_buffer. */
#define BOARD_LOG_BUFFER0     0x20040000u
#define BOARD_LOG_BUFFER1     0x20042000u
#define BOARD_LOG_BUFFER_SIZE 4112u
/* Where core 0's built-in program keeps its message queues, and a place of BOARD_LOG_BUFFER_SIZE bytes that
 * no image uses, for a host's SETUP. */
#define BOARD_QUEUE_MEMORY      0x20044000u
#define BOARD_QUEUE_MEMORY_SIZE 0x00001000u
#define BOARD_LOG_HOST_BUFFER   0x20046000u

/* UART: the subset of Arm's CMSDK APB UART that polled output needs. One a core. */
#define BOARD_UART_BASE      0x40004000u
#define BOARD_UART_DATA      0x00u /* W: send the low byte */
#define BOARD_UART_STATE     0x04u /* R: bit 0 transmit full (always 0), bit 1 receive full (always 0) */
#define BOARD_UART_CTRL      0x08u /* RW: bit 0 transmit enable; a byte sent while it is 0 is dropped */
#define BOARD_UART_INTSTATUS 0x0Cu /* R: 0 */
#define BOARD_UART_BAUDDIV   0x10u /* RW: kept, without effect */

/* SYSINFO: what the board is. One a core. */
#define BOARD_SYSINFO_BASE            0x40010000u
#define BOARD_SYSINFO_ID              0x00u /* R: BOARD_SYSINFO_ID_VALUE */
#define BOARD_SYSINFO_ID_VALUE        0x4C525243u
#define BOARD_SYSINFO_MAP_VERSION     0x04u /* R: BOARD_MAP_VERSION */
#define BOARD_SYSINFO_CORE            0x08u /* R: 0 or 1 */
#define BOARD_SYSINFO_CORE_HZ         0x0Cu /* R: this core's clock */
#define BOARD_SYSINFO_DEADLINE_US     0x10u /* R: the mailbox deadline */
#define BOARD_SYSINFO_SEED            0x14u /* R: for the firmware's random numbers */
#define BOARD_SYSINFO_LOG_BUFFER      0x18u /* R: BOARD_LOG_BUFFERn of this core */
#define BOARD_SYSINFO_LOG_BUFFER_SIZE 0x1Cu /* R: BOARD_LOG_BUFFER_SIZE */
/* Words without a meaning of their own, the same ones for both cores and the debugger. A reset of core 0
 * clears them and the doorbell. */
#define BOARD_SYSINFO_SCRATCH(n)      (0x400u + 4u * (n)) /* RW */
#define BOARD_SYSINFO_SCRATCH_COUNT   64u
#define BOARD_SYSINFO_DOORBELL        0x800u /* W: any value raises BOARD_IRQ_DOORBELL on core 0 */
#define BOARD_SYSINFO_DOORBELL_STATUS 0x804u /* R: bit 0 rung; W: writing 1 clears it */
#define BOARD_SYSINFO_RESET_HOLD      0x808u /* RW: bit n: core n is held in reset */
#define BOARD_SYSINFO_FINISH          0xFF0u /* W: ends a test run; the value is its result */

/* TIMER: a down-counter in core cycles; it stands still while its core is in debug state. One a core. */
#define BOARD_TIMER_BASE        0x40011000u
#define BOARD_TIMER_CTRL        0x00u /* RW: bits below */
#define BOARD_TIMER_CTRL_ENABLE 1u
#define BOARD_TIMER_CTRL_IRQ    2u
#define BOARD_TIMER_CTRL_RELOAD 4u    /* start again from LOAD when it expires */
#define BOARD_TIMER_COUNT       0x04u /* R: cycles left */
#define BOARD_TIMER_LOAD        0x08u /* RW: writing sets COUNT too; 0 counts as 1 */
#define BOARD_TIMER_STATUS      0x0Cu /* R: bit 0 expired; W: writing 1 clears it */

/* MAILBOX: one word each way. Each core sees its own end. */
#define BOARD_MAILBOX_BASE    0x40012000u
#define BOARD_MAILBOX_TX_DATA 0x00u /* W: give a word to the other core */
#define BOARD_MAILBOX_TX_STATUS \
    0x04u /* R: bit 0 not taken yet, bit 1 overwritten before it was taken; W: 2 clears */
#define BOARD_MAILBOX_RX_DATA   0x08u /* R: take the word (clears full) */
#define BOARD_MAILBOX_RX_STATUS 0x0Cu /* R: bit 0 full */
#define BOARD_MAILBOX_CTRL      0x10u /* RW: bit 0 interrupt while full */

/* DATAGRAM: sends memory as one UDP datagram; each core has its own source port. One a core. */
#define BOARD_DATAGRAM_BASE    0x40013000u
#define BOARD_DATAGRAM_ADDRESS 0x00u /* RW: in SRAM or flash */
#define BOARD_DATAGRAM_LENGTH  0x04u /* RW: bytes, 1..BOARD_DATAGRAM_MAX */
#define BOARD_DATAGRAM_SEND    0x08u /* W: 1 copies and sends at once */
#define BOARD_DATAGRAM_STATUS  0x0Cu /* R: bit 0 ready (always), bit 1 the last send was refused */
#define BOARD_DATAGRAM_COUNT   0x10u /* R: datagrams sent */
#define BOARD_DATAGRAM_MAX     1472u

/* Interrupt lines (external interrupt number, exception number - 16). */
#define BOARD_IRQ_MAILBOX  0u
#define BOARD_IRQ_TIMER    1u
#define BOARD_IRQ_CTI0     2u /* CTI trigger output 1 */
#define BOARD_IRQ_CTI1     3u /* CTI trigger output 2 */
#define BOARD_IRQ_DOORBELL 4u /* core 0 only */
#define BOARD_IRQ_COUNT    32u

/* Debug components in each core's private peripheral bus. */
#define BOARD_ITM_BASE 0xE0000000u
#define BOARD_DWT_BASE 0xE0001000u
#define BOARD_FPB_BASE 0xE0002000u
#define BOARD_SCS_BASE 0xE000E000u
#define BOARD_CTI_BASE 0xE0042000u
#define BOARD_ROM_BASE 0xE00FF000u

/* The access ports in the debug port's own address space, with ADIv6. */
#define BOARD_AP6_BASE(core) (0x2000u * ((core) + 1u))

#endif
