/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work that the two programs do: filtering, checksums, sorting, parsing. Plain computing on memory that
 * the caller gives: no registers, no state, so that the unit tests run the same code on the host.
 *
 * Each function is kept apart (WORK_APART), so that a profile by function names it.
 */
#ifndef CORRAL_FIRMWARE_WORK_H
#define CORRAL_FIRMWARE_WORK_H

#include <stdbool.h>
#include <stdint.h>

#define WORK_APART __attribute__((noinline))

#define WORK_TAPS 32u /* of the FIR filter; even */

/* Xorshift: never returns 0 for a state that is not 0. */
uint32_t noise_next(uint32_t *state);
/* A triangle of the given period with noise on it, within +-16383. */
void signal_block(uint32_t *noise, uint32_t *phase, uint32_t step, int16_t *out, uint32_t n);

/* `in` holds WORK_TAPS - 1 samples of the past in front of the n new ones. Q15, rounded down, saturated. */
void fir_filter(const int16_t taps[WORK_TAPS], const int16_t *in, int16_t *out, uint32_t n);
/* A windowed low-pass for it; the taps add up to about 1. */
extern const int16_t work_low_pass[WORK_TAPS];

struct biquad {
    int32_t b0, b1, b2, a1, a2; /* Q30; a1 and a2 with their signs turned */
    int32_t x1, x2, y1, y2;
};
/* Run one sample through `sections` biquads. */
int32_t iir_filter(struct biquad *sections, uint32_t count, int32_t x);
int64_t signal_energy(const int16_t *in, uint32_t n); /* sum of squares; n even */

void crc32_table(uint32_t table[256]);
uint32_t crc32_update(const uint32_t table[256], uint32_t crc, const uint8_t *data, uint32_t n);
uint16_t crc16_update(uint16_t crc, const uint8_t *data, uint32_t n); /* CCITT, bit by bit */

void sort_shell(int32_t *values, uint32_t n);
/* Heap sort in small steps: `step` counts from 0 and is kept by the caller; true when the values are sorted.
 */
bool sort_heap_step(int32_t *values, uint32_t n, uint32_t *step);

enum command_kind { COMMAND_BAD, COMMAND_GET, COMMAND_SET, COMMAND_SUM };
struct command {
    enum command_kind kind;
    uint32_t name; /* hash of the name */
    int32_t value; /* of set; the sum of sum */
};
/* One line of the text protocol: "get NAME", "set NAME VALUE", "sum A B ...". Ends at NUL or newline. */
struct command parse_command(const char *line);

#endif
