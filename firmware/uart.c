/* SPDX-License-Identifier: Apache-2.0 */
/* The UART: the CMSDK subset of the board's memory map. */
#include "firmware/uart.h"

#include "firmware/registers.h"

void uart_start(void)
{
    reg_write(BOARD_UART_BASE + BOARD_UART_BAUDDIV, 16);
    reg_write(BOARD_UART_BASE + BOARD_UART_CTRL, 1);
}

__attribute__((noinline)) void uart_write(const char *text, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        reg_write(BOARD_UART_BASE + BOARD_UART_DATA, (uint8_t)text[i]);
}
