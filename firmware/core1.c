/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core 1's program. First light: sends one line to the UART and counts.
 */
#include "firmware/board.h"

void core_main(void);

__attribute__((section(".tlog_buffer"), used, aligned(16))) uint8_t tlog_buffer[BOARD_LOG_BUFFER_SIZE];
volatile uint32_t loop_count;

void core_main(void)
{
    static const char text[] = "core1: first light\r\n";
    reg_write(BOARD_UART_BASE + BOARD_UART_CTRL, 1);
    for (const char *p = text; *p; p++)
        reg_write(BOARD_UART_BASE + BOARD_UART_DATA, (uint8_t)*p);
    for (;;)
        loop_count = loop_count + 1;
}
