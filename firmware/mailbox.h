/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conversation of the two cores: core 0 asks a word, core 1 must answer within the board's deadline.
 *
 * Core 0 asks again as soon as an answer is in, from its mailbox interrupt, so that a question is in flight
 * nearly all the time and each stand-still of core 1 longer than the deadline makes exactly one question
 * late. Time is core 0's cycles_now, which stands still while core 0 is in debug state.
 */
#ifndef CORRAL_FIRMWARE_MAILBOX_H
#define CORRAL_FIRMWARE_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/registers.h"

/* Core 1 says this when it starts. */
#define MAILBOX_HELLO 0x48454C4Fu

/* Core 0. Read by the host as symbols. */
extern volatile uint32_t mailbox_asked, mailbox_missed;
extern volatile uint32_t mailbox_wrong; /* answers that fit no question asked */
extern volatile uint32_t mailbox_worst; /* longest answer so far, cycles */
void mailbox_ask_start(uint32_t core_hz, uint32_t deadline_us);
void mailbox_ask(void);
void mailbox_ask_tick(void); /* every millisecond, at the mailbox interrupt's priority */

/* Core 1. */
extern volatile uint32_t mailbox_answered;
void mailbox_answer_start(void);
void mailbox_answer(void); /* a question is there: take it and answer */
/* While `on`, the interrupt answers; else the program polls mailbox_answer_poll. */
void mailbox_answer_by_interrupt(bool on);

static inline void mailbox_answer_poll(void)
{
    if (reg_read(BOARD_MAILBOX_BASE + BOARD_MAILBOX_RX_STATUS) & 1u)
        mailbox_answer();
}

/* What is a right answer. */
static inline uint32_t mailbox_mix(uint32_t word)
{
    for (unsigned i = 0; i < 4; i++) {
        word ^= word >> 15;
        word *= 0x2C1B3C6Du;
        word += 0x9E3779B9u;
    }
    return word;
}

#endif
