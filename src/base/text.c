/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleaning text from outside. INTERFACE.md "The log, exactly", Text; firmware-log sheet 8, cases 15 to 19.
 *
 * Every function looks at no byte past `size` and writes no byte past `out_size`; each input byte is looked
 * at a bounded number of times. Nothing here is a format string.
 */
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

size_t text_utf8_decode(const uint8_t *in, size_t size, uint32_t *code)
{
    if (!size)
        return 0;
    uint8_t lead = in[0];
    size_t n = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : (lead & 0xF0) == 0xE0 ? 3 : 0;
    if (lead >= 0xF0 && lead < 0xF5)
        n = 4;
    if (!n || n > size)
        return 0;
    static const uint8_t lead_mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t c = lead & lead_mask[n];
    for (size_t i = 1; i < n; i++) {
        if ((in[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (in[i] & 0x3Fu);
    }
    /* Over-long forms, surrogates, and what lies above the last plane are not UTF-8. */
    if ((n == 3 && c < 0x800) || (n == 4 && (c < 0x10000 || c > 0x10FFFF)) || (c >= 0xD800 && c < 0xE000))
        return 0;
    *code = c;
    return n;
}

/* Valid, but able to act on a terminal or to turn the order of a line round. */
static bool is_unsafe(uint32_t c)
{
    return (c < 0x20 && c != '\t') || (c >= 0x7F && c <= 0x9F) || c == 0x061C || c == 0x200E || c == 0x200F ||
           (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029;
}

/* Parameters, intermediates and final byte; also ends before a byte that cannot belong to it. */
static size_t csi_end(const uint8_t *in, size_t size, size_t i)
{
    while (i < size && in[i] >= 0x20 && in[i] < 0x40)
        i++;
    return i < size && in[i] >= 0x40 && in[i] <= 0x7E ? i + 1 : i;
}

/* After OSC, DCS, SOS, PM or APC: up to BEL, ESC \ or the end. */
static size_t string_end(const uint8_t *in, size_t size, size_t i)
{
    for (; i < size; i++) {
        if (in[i] == 0x07)
            return i + 1;
        if (in[i] == 0x1B && i + 1 < size && in[i + 1] == '\\')
            return i + 2;
    }
    return size;
}

/* Where the escape sequence that starts with the ESC at `i` ends; `i` when the ESC starts none. */
static size_t escape_end(const uint8_t *in, size_t size, size_t i)
{
    size_t at = i + 1;
    if (at == size)
        return at; /* a lone final ESC */
    switch (in[at]) {
    case '[':
        return csi_end(in, size, at + 1);
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
        return string_end(in, size, at + 1);
    default:
        break;
    }
    while (at < size && in[at] >= 0x20 && in[at] < 0x30)
        at++;
    return at < size && in[at] >= 0x30 && in[at] <= 0x7E ? at + 1 : i;
}

struct text_out {
    char *data;
    size_t size; /* NUL included; 0 = nothing may be written */
    size_t used;
    bool full;
};

/* All of it or nothing, and nothing behind a cut: the text ends at a whole character. */
static void put(struct text_out *out, const void *bytes, size_t n)
{
    if (out->full || n >= out->size - out->used) {
        out->full = true;
        return;
    }
    memcpy(out->data + out->used, bytes, n);
    out->used += n;
}

static void put_hex(struct text_out *out, uint8_t byte)
{
    static const char digits[] = "0123456789abcdef";
    const char escaped[4] = {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    put(out, escaped, sizeof(escaped));
}

/* One character, or one invalid byte; returns how many bytes it was. */
static size_t put_character(struct text_out *out, const uint8_t *in, size_t size)
{
    uint32_t code = 0;
    size_t n = text_utf8_decode(in, size, &code);
    if (n == 1 && code == '\r') {
        put(out, "\\r", 2);
    } else if (n == 1 && code == '\n') {
        put(out, "\\n", 2);
    } else if (n == 0 || is_unsafe(code)) {
        n = n ? n : 1;
        for (size_t i = 0; i < n; i++)
            put_hex(out, in[i]);
    } else {
        put(out, in, n);
    }
    return n;
}

static size_t finish(struct text_out *out)
{
    if (!out->size)
        return 0;
    out->data[out->used] = '\0';
    return out->used;
}

static size_t up_to_nul(const uint8_t *in, size_t size)
{
    const uint8_t *nul = size ? memchr(in, 0, size) : NULL;
    return nul ? (size_t)(nul - in) : size;
}

/* The end of the ANSI sequence at `i`, or `i` when there is none. */
static size_t ansi_end(const uint8_t *in, size_t size, size_t i)
{
    if (in[i] == 0x1B)
        return escape_end(in, size, i);
    /* A continuation byte of valid UTF-8 never gets here: characters are consumed whole. */
    return in[i] == 0x9B ? csi_end(in, size, i + 1) : i;
}

static size_t skip_ansi(const uint8_t *in, size_t size, size_t i)
{
    size_t end;
    while (i < size && (end = ansi_end(in, size, i)) > i)
        i = end;
    return i;
}

/* Nothing but this CR LF is left, once the ANSI sequences in it and behind it are dropped. */
static bool is_final_line_end(const uint8_t *in, size_t size, size_t i)
{
    if (in[i] != '\r')
        return false;
    i = skip_ansi(in, size, i + 1);
    return i < size && in[i] == '\n' && skip_ansi(in, size, i + 1) == size;
}

size_t text_clean_log(const uint8_t *in, size_t size, char *out, size_t out_size)
{
    struct text_out o = {.size = out_size, .full = out_size == 0};
    o.data = out;
    size = up_to_nul(in, size);
    size_t i = skip_ansi(in, size, 0);
    while (i < size && !o.full && !is_final_line_end(in, size, i)) {
        i += put_character(&o, in + i, size - i);
        i = skip_ansi(in, size, i);
    }
    return finish(&o);
}

size_t text_escape(const uint8_t *in, size_t size, char *out, size_t out_size)
{
    struct text_out o = {.size = out_size, .full = out_size == 0};
    o.data = out;
    size = up_to_nul(in, size);
    if (size >= 2 && in[size - 2] == '\r' && in[size - 1] == '\n')
        size -= 2;
    for (size_t i = 0; i < size && !o.full;)
        i += put_character(&o, in + i, size - i);
    return finish(&o);
}

int text_hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool text_number(const char *bytes, size_t length, bool hex, uint64_t most, uint64_t *value)
{
    bool prefix = length > 2 && bytes[0] == '0' && (bytes[1] == 'x' || bytes[1] == 'X');
    unsigned base = prefix || hex ? 16 : 10;
    uint64_t v = 0;
    if (length == 0)
        return false;
    for (size_t i = prefix ? 2 : 0; i < length; i++) {
        int digit = text_hex_digit((uint8_t)bytes[i]);
        if (digit < 0 || (unsigned)digit >= base || v > (UINT64_MAX - (unsigned)digit) / base)
            return false;
        v = v * base + (unsigned)digit;
    }
    if (v > most)
        return false;
    *value = v;
    return true;
}
