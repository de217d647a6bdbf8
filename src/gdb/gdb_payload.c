/* SPDX-License-Identifier: Apache-2.0 */
/* A reply's payload, bounded: whoever sends it looks whether it was cut. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gdb/gdb_parts.h"

void gdb_payload_start(struct gdb_payload *r, char *data, size_t room)
{
    *r = (struct gdb_payload){.data = data, .room = room};
}

void gdb_payload_bytes(struct gdb_payload *r, const char *bytes, size_t size)
{
    if (size > r->room - r->size) {
        r->cut = true;
        return;
    }
    memcpy(r->data + r->size, bytes, size);
    r->size += size;
}

void gdb_payload_text(struct gdb_payload *r, const char *text)
{
    gdb_payload_bytes(r, text, strlen(text));
}

void gdb_payload_format(struct gdb_payload *r, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): just started */
    int n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof(text))
        r->cut = true;
    else
        gdb_payload_bytes(r, text, (size_t)n);
}

void gdb_payload_hex(struct gdb_payload *r, const void *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *p = bytes;
    if (size > (r->room - r->size) / 2) {
        r->cut = true;
        return;
    }
    for (size_t i = 0; i < size; i++) {
        r->data[r->size++] = digits[p[i] >> 4];
        r->data[r->size++] = digits[p[i] & 0xF];
    }
}

void gdb_payload_hex32(struct gdb_payload *r, uint32_t value)
{
    uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                        (uint8_t)(value >> 24)};
    gdb_payload_hex(r, bytes, sizeof(bytes));
}
