/* SPDX-License-Identifier: Apache-2.0 */
/* Polled output to the core's UART. Never waits: the transmitter is always ready (docs/board.md). */
#ifndef CORRAL_FIRMWARE_UART_H
#define CORRAL_FIRMWARE_UART_H

#include <stdint.h>

void uart_start(void);
void uart_write(const char *text, uint32_t length);

#endif
