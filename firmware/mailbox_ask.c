/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core 0's end of the conversation. Everything here runs at the mailbox interrupt's priority (or before
 * interrupts are on), so that nothing needs masking. It must never wait: a late answer is counted when it
 * comes.
 */
#include "firmware/mailbox.h"

volatile uint32_t mailbox_asked, mailbox_missed, mailbox_wrong, mailbox_worst;

/* The question in flight. */
static struct {
    uint32_t number;
    uint32_t asked_at;
    uint32_t expected;
    uint32_t deadline; /* cycles */
    uint32_t second;   /* cycles; without an answer for so long, the question is taken for lost */
    bool in_flight;
} question;

void mailbox_handler(void);

void mailbox_ask_start(uint32_t core_hz, uint32_t deadline_us)
{
    question.deadline = core_hz / 1000000u * deadline_us;
    question.second = core_hz;
    question.asked_at = cycles_now();
    reg_write(BOARD_MAILBOX_BASE + BOARD_MAILBOX_CTRL, 1);
}

__attribute__((noinline)) void mailbox_ask(void)
{
    question.number++;
    question.expected = mailbox_mix(question.number);
    question.in_flight = true;
    mailbox_asked = mailbox_asked + 1;
    question.asked_at = cycles_now();
    reg_write(BOARD_MAILBOX_BASE + BOARD_MAILBOX_TX_DATA, question.number);
}

void mailbox_handler(void)
{
    uint32_t taken = cycles_now() - question.asked_at;
    uint32_t word = reg_read(BOARD_MAILBOX_BASE + BOARD_MAILBOX_RX_DATA);
    if (question.in_flight && word == question.expected) {
        if (taken > question.deadline)
            mailbox_missed = mailbox_missed + 1;
        if (taken > mailbox_worst)
            mailbox_worst = taken;
    } else if (word != MAILBOX_HELLO) {
        /* Not what was asked: the answer to a question given up. The right one is still to come. */
        mailbox_wrong = mailbox_wrong + 1;
        return;
    }
    mailbox_ask(); /* also after a greeting: core 1 has started, and knows of no question */
}

void mailbox_ask_tick(void)
{
    /* No greeting yet: core 1 may have been running long before. */
    uint32_t patience = question.in_flight ? question.second : question.second / 100u;
    if (cycles_now() - question.asked_at <= patience)
        return;
    if (question.in_flight)
        mailbox_missed = mailbox_missed + 1;
    mailbox_ask();
}
