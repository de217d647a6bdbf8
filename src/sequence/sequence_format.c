/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Message()'s format: how many arguments it takes, and the text it makes. Cross-trigger sheet 4.7, cases C29
 * and C30. The format comes out of a file: it is read character by character and never handed to printf;
 * widths and precisions are capped, and no argument is looked at that is not there.
 */
#include "sequence/sequence_tree.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define MOST_COLUMNS 64 /* of a width or precision: all binary digits */

struct spec {
    bool zero, wide, has_precision;
    unsigned width, precision;
    char conversion; /* u x X o b f s %; '?' = an unknown one that stands where an argument belongs; 0 = text
                      */
    size_t length;   /* of the specifier; of an unknown one only its '%' */
};

static unsigned columns(const char *format, size_t size, size_t *at)
{
    unsigned n = 0;
    for (; *at < size && format[*at] >= '0' && format[*at] <= '9'; ++*at)
        n = n < MOST_COLUMNS ? n * 10 + (unsigned)(format[*at] - '0') : n;
    return n < MOST_COLUMNS ? n : MOST_COLUMNS;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* `format` begins with '%'. */
static struct spec read_spec(const char *format, size_t size)
{
    struct spec spec = {0};
    size_t at = 1;
    for (; at < size && format[at] == '0'; at++)
        spec.zero = true;
    spec.width = columns(format, size, &at);
    if (at < size && format[at] == '.') {
        at++;
        spec.has_precision = true;
        spec.precision = columns(format, size, &at);
    }
    bool is_double = at + 1 < size && format[at] == 'L' && format[at + 1] == 'f';
    spec.wide = is_double || (at + 2 < size && format[at] == 'l' && format[at + 1] == 'l');
    size_t length = is_double ? 1 : spec.wide ? 2 : 0;
    char c = at + length < size ? format[at + length] : '\0';
    bool known = c == '\0'   ? false
                 : is_double ? true
                 : spec.wide ? strchr("uxXob", c) != NULL
                 : c == '%'  ? at == 1
                             : strchr("uxXobfs", c) != NULL;
    if (known) {
        spec.conversion = c;
        spec.length = at + length + 1;
    } else {
        spec.conversion = at < size && is_letter(format[at]) ? '?' : '\0';
        spec.length = 1;
    }
    return spec;
}

struct walk {
    const char *format;
    size_t size, at;
    unsigned argument; /* of the specifier found, or of the next one */
    bool had_argument;
};

/* The next specifier, or false; what lies before it is [*text, w->at - spec->length). */
static bool next_spec(struct walk *w, size_t *text, struct spec *spec)
{
    if (w->had_argument)
        w->argument++;
    w->had_argument = false;
    *text = w->at;
    const char *found = w->at < w->size ? memchr(w->format + w->at, '%', w->size - w->at) : NULL;
    if (!found) {
        w->at = w->size;
        return false;
    }
    size_t begin = (size_t)(found - w->format);
    *spec = read_spec(found, w->size - begin);
    w->at = begin + spec->length;
    w->had_argument = spec->conversion != '\0' && spec->conversion != '%';
    return true;
}

unsigned sequence_format_arguments(const char *format, size_t size, unsigned *unknown)
{
    struct walk w = {.format = format, .size = size};
    struct spec spec;
    size_t text;
    unsigned needed = 0, odd = 0;
    while (next_spec(&w, &text, &spec)) {
        odd += spec.conversion == '?' || spec.conversion == '\0';
        if (w.had_argument && spec.conversion != '?')
            needed = w.argument + 1;
    }
    if (unknown)
        *unknown = odd;
    return needed;
}

bool sequence_format_wants_string(const char *format, size_t size, unsigned i)
{
    struct walk w = {.format = format, .size = size};
    struct spec spec;
    size_t text;
    while (next_spec(&w, &text, &spec))
        if (w.had_argument && w.argument == i)
            return spec.conversion == 's';
    return false;
}

struct out {
    uint8_t bytes[SEQUENCE_MESSAGE_MAX];
    size_t used;
    bool cut;
};

static void put(struct out *out, const char *bytes, size_t size)
{
    size_t room = sizeof(out->bytes) - out->used;
    out->cut = out->cut || size > room;
    size = size < room ? size : room;
    memcpy(out->bytes + out->used, bytes, size);
    out->used += size;
}

static void put_padding(struct out *out, char c, unsigned width, size_t used)
{
    for (size_t i = used; i < width; i++)
        put(out, &c, 1);
}

static void put_integer(struct out *out, const struct spec *spec, uint64_t value)
{
    const char *digits = spec->conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    unsigned base = spec->conversion == 'u'   ? 10
                    : spec->conversion == 'o' ? 8
                    : spec->conversion == 'b' ? 2
                                              : 16;
    char text[64];
    size_t n = 0;
    if (!spec->wide)
        value &= 0xFFFFFFFFu;
    for (; value; value /= base)
        text[sizeof(text) - ++n] = digits[value % base];
    unsigned least = spec->has_precision ? spec->precision : 1;
    size_t length = n > least ? n : least;
    /* As in C, a precision takes the flag 0 away. */
    if (!spec->has_precision && spec->zero)
        put_padding(out, '0', spec->width, length);
    else
        put_padding(out, ' ', spec->width, length);
    put_padding(out, '0', least, n);
    put(out, text + sizeof(text) - n, n);
}

/* The number is the bit pattern of a float, or of a double with L. */
static void put_float(struct out *out, const struct spec *spec, uint64_t bits)
{
    double value;
    if (spec->wide) {
        memcpy(&value, &bits, sizeof(value));
    } else {
        uint32_t low = (uint32_t)bits;
        float narrow;
        memcpy(&narrow, &low, sizeof(narrow));
        value = narrow;
    }
    char text[512]; /* 309 digits, point, precision */
    int n = snprintf(text, sizeof(text), spec->zero ? "%0*.*f" : "%*.*f", (int)spec->width,
                     spec->has_precision ? (int)spec->precision : 6, value);
    if (n > 0)
        put(out, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

static void put_string(struct out *out, const struct spec *spec, const char *string)
{
    size_t length = string ? strlen(string) : 0;
    if (spec->has_precision && length > spec->precision)
        length = spec->precision;
    put_padding(out, ' ', spec->width, length);
    put(out, string ? string : "", length);
}

static void put_argument(struct out *out, const struct spec *spec,
                         const struct sequence_format_argument *argument)
{
    if (spec->conversion == 's')
        put_string(out, spec, argument->is_string ? argument->string : NULL);
    else if (spec->conversion == 'f')
        put_float(out, spec, argument->number);
    else
        put_integer(out, spec, argument->number);
}

void sequence_format(const char *format, size_t size, const struct sequence_format_argument *arguments,
                     size_t count, char out[SEQUENCE_MESSAGE_MAX])
{
    struct walk w = {.format = format, .size = size};
    struct out raw = {.used = 0};
    struct spec spec;
    size_t text;
    while (next_spec(&w, &text, &spec)) {
        put(&raw, format + text, w.at - spec.length - text);
        if (spec.conversion == '%' || spec.conversion == '?' || spec.conversion == '\0')
            put(&raw, "%", 1);
        else if (w.argument < count)
            put_argument(&raw, &spec, &arguments[w.argument]);
        else
            put(&raw, format + w.at - spec.length, spec.length);
    }
    put(&raw, format + text, size - text);

    char shown[TEXT_CLEAN_MAX(SEQUENCE_MESSAGE_MAX)];
    size_t length = text_escape(raw.bytes, raw.used, shown, sizeof(shown));
    if (!raw.cut && length < SEQUENCE_MESSAGE_MAX) {
        memcpy(out, shown, length + 1);
        return;
    }
    static const char dots[] = "...";
    length = text_escape(raw.bytes, raw.used, out, SEQUENCE_MESSAGE_MAX - (sizeof(dots) - 1));
    memcpy(out + length, dots, sizeof(dots));
}
