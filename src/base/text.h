/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turning bytes from outside into text that is safe on a terminal and valid in JSON.
 *
 * The rules are INTERFACE.md's ("The log, exactly", Text): stop at the first NUL, drop ANSI sequences whole,
 * drop one final CR LF, escape the rest. A backslash is not escaped.
 */
#ifndef CORRAL_BASE_TEXT_H
#define CORRAL_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest output that `size` input bytes can give, final NUL included: four characters a byte. */
#define TEXT_CLEAN_MAX(size) ((size)*4 + 1)

/*
 * Clean one log payload of `size` bytes into `out` of `out_size` bytes (TEXT_CLEAN_MAX(size) always fits;
 * with less the text is cut at a whole character). NUL-terminated, valid UTF-8. Returns the length without
 * the NUL.
 */
size_t text_clean_log(const uint8_t *in, size_t size, char *out, size_t out_size);

/* Escape for messages and names: as above, but ANSI sequences are escaped rather than dropped. */
size_t text_escape(const uint8_t *in, size_t size, char *out, size_t out_size);

/* Number of bytes of the valid UTF-8 sequence at `in` (1..4), 0 when it is not valid there. Sets *code. */
size_t text_utf8_decode(const uint8_t *in, size_t size, uint32_t *code);

/* A whole number, all of the `length` bytes: decimal, or hexadecimal behind 0x; with `hex` hexadecimal also
 * without that. False for anything else, and above `most`. */
bool text_number(const char *bytes, size_t length, bool hex, uint64_t most, uint64_t *value);

/* The value of a hexadecimal digit; -1 for any other byte. */
int text_hex_digit(uint8_t c);

#endif
