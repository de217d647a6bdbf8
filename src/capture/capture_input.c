/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a capture file forward, with offsets for messages (capture_input.h). Must not know a format. */
#include "capture/capture_input.h"

#include <stdarg.h>
#include <string.h>

#include "base/bytes.h"

size_t capture_input_read(struct capture_input *in, void *to, size_t size)
{
    size_t got = size < in->ahead_size ? size : in->ahead_size;
    if (got > 0) {
        memcpy(to, in->ahead, got);
        in->ahead += got;
        in->ahead_size -= got;
    }
    if (got < size)
        got += fread((uint8_t *)to + got, 1, size - got, in->file);
    in->offset += got;
    return got;
}

bool capture_input_skip(struct capture_input *in, uint64_t size)
{
    while (size > 0) {
        size_t step = size < CAPTURE_INPUT_BUFFER ? (size_t)size : CAPTURE_INPUT_BUFFER;
        if (capture_input_read(in, in->buffer, step) != step)
            return false;
        size -= step;
    }
    return true;
}

uint16_t capture_input_u16(const struct capture_input *in, const uint8_t *p)
{
    return in->big_endian ? load_be16(p) : load_le16(p);
}

uint32_t capture_input_u32(const struct capture_input *in, const uint8_t *p)
{
    return in->big_endian ? load_be32(p) : load_le32(p);
}

static void print_to(char *out, size_t size, const char *fmt, va_list args)
{
    if (vsnprintf(out, size, fmt, args) < 0)
        out[0] = '\0';
}

int capture_input_damaged(const struct capture_input *in, uint64_t offset, struct diag *d, const char *fmt,
                          ...)
{
    char what[200];
    va_list args;
    va_start(args, fmt);
    print_to(what, sizeof(what), fmt, args);
    va_end(args);
    if (ferror(in->file)) {
        diag_set(d, CORRAL_ERR_IO, "%.100s: reading failed at offset %llu", in->path,
                 (unsigned long long)in->offset);
    } else {
        diag_set(d, CORRAL_ERR_CAPTURE, "%.100s: damaged at offset %llu: %s", in->path,
                 (unsigned long long)offset, what);
        diag_hint(d, "what came before that offset was read and stands");
    }
    diag_object(d, "%.150s", in->path);
    return -1;
}
