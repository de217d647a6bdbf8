/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core 1's end of the conversation: polled between two pieces of work, by interrupt while a piece takes long.
 * The longest free-running answer time is the longest piece of work plus an interrupt or two.
 */
#include "firmware/mailbox.h"

volatile uint32_t mailbox_answered;

void mailbox_handler(void);

void mailbox_answer_start(void)
{
    reg_write(BOARD_MAILBOX_BASE + BOARD_MAILBOX_TX_DATA, MAILBOX_HELLO);
}

__attribute__((noinline)) void mailbox_answer(void)
{
    uint32_t word = reg_read(BOARD_MAILBOX_BASE + BOARD_MAILBOX_RX_DATA);
    reg_write(BOARD_MAILBOX_BASE + BOARD_MAILBOX_TX_DATA, mailbox_mix(word));
    mailbox_answered = mailbox_answered + 1;
}

void mailbox_answer_by_interrupt(bool on)
{
    reg_write(BOARD_MAILBOX_BASE + BOARD_MAILBOX_CTRL, on ? 1u : 0u);
}

void mailbox_handler(void)
{
    mailbox_answer_poll(); /* the level may have gone since it was taken */
}
