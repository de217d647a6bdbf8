/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a capture file as the two format readers see them: read forward only (so a pipe works), in the
 * byte order the file announced, with the offset kept for messages. Private to src/capture. Holds no format.
 */
#ifndef CORRAL_CAPTURE_CAPTURE_INPUT_H
#define CORRAL_CAPTURE_CAPTURE_INPUT_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "capture/capture_reader.h"

/* Room for one packet block: the largest packet and 64 KiB of options behind it. */
#define CAPTURE_INPUT_BUFFER (CAPTURE_MAX_PACKET + 64u * 1024u)

struct capture_input {
    FILE *file;
    char *path;
    const uint8_t *ahead; /* borrowed: bytes that were taken from the file before, read first */
    size_t ahead_size;
    uint64_t offset; /* of the next byte to be read */
    bool big_endian;
    uint8_t *buffer; /* CAPTURE_INPUT_BUFFER bytes */
};

/* Up to `size` bytes; fewer only at the end of the file or on a read error. */
size_t capture_input_read(struct capture_input *in, void *to, size_t size);
/* True when all `size` bytes were there. Overwrites the buffer. */
bool capture_input_skip(struct capture_input *in, uint64_t size);

uint16_t capture_input_u16(const struct capture_input *in, const uint8_t *p);
uint32_t capture_input_u32(const struct capture_input *in, const uint8_t *p);

/* Says what is wrong at `offset`, or that reading itself failed; returns -1. */
int capture_input_damaged(const struct capture_input *in, uint64_t offset, struct diag *d, const char *fmt,
                          ...) __attribute__((format(printf, 4, 5)));

#endif
