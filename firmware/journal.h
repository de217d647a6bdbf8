/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs' log: one line to the shared log buffer (target/tlog_producer) and to the UART. Thread mode
 * only: the producer is not re-entrant, and nothing is masked for it. Also the millisecond count.
 */
#ifndef CORRAL_FIRMWARE_JOURNAL_H
#define CORRAL_FIRMWARE_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "target/tlog_producer.h"

/* A line under construction; what does not fit is left out. */
struct line {
    char text[160];
    uint32_t length;
};
void line_text(struct line *l, const char *text);
void line_decimal(struct line *l, int64_t value);
void line_hex(struct line *l, uint32_t value);
static inline void line_start(struct line *l, const char *text)
{
    l->length = 0;
    line_text(l, text);
}

/* Start the log, without a buffer, and the millisecond count (SysTick, at `priority`). */
void journal_start(uint8_t source, uint32_t core_hz, uint8_t priority);
/* Adopt the board's default buffer of this core. */
void journal_attach_default(void);
struct tlog_producer *journal_producer(void); /* not with FIRMWARE_NO_LOG */
uint32_t journal_ms(void);
void journal_count_ms(void); /* from the SysTick handler */
void journal_write(uint8_t level, const struct line *l);
void journal_tick(void); /* as often as you like: flushes every 20 ms */
/* A fault: to the UART and to the log, with what was staged. Waits a little for the host's buffer. */
void journal_fault(const struct line *l);

#endif
