/* SPDX-License-Identifier: Apache-2.0 */
/* Filling in struct diag (diag.h): always bounded, never a format from outside. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void diag_print(char *out, size_t size, const char *fmt, va_list args)
{
    /* Every caller has started `args`; the analyzer loses that across the call. */
    int n =
        vsnprintf(out, size, fmt, args); /* NOLINT(clang-analyzer-valist.Uninitialized): started by callers */
    if (n < 0)
        out[0] = '\0';
}

enum corral_err diag_set(struct diag *d, enum corral_err code, const char *fmt, ...)
{
    if (!d)
        return code;
    va_list args;
    va_start(args, fmt);
    diag_print(d->message, sizeof(d->message), fmt, args);
    va_end(args);
    d->code = code;
    d->hint[0] = '\0';
    d->object[0] = '\0';
    return code;
}

void diag_hint(struct diag *d, const char *fmt, ...)
{
    if (!d)
        return;
    va_list args;
    va_start(args, fmt);
    diag_print(d->hint, sizeof(d->hint), fmt, args);
    va_end(args);
}

void diag_object(struct diag *d, const char *fmt, ...)
{
    if (!d)
        return;
    va_list args;
    va_start(args, fmt);
    diag_print(d->object, sizeof(d->object), fmt, args);
    va_end(args);
}

enum corral_err diag_prefix(struct diag *d, const char *fmt, ...)
{
    if (!d)
        return CORRAL_ERR_FAILED;
    char prefix[sizeof(d->message)];
    char both[2 * sizeof(d->message) + 2];
    va_list args;
    va_start(args, fmt);
    diag_print(prefix, sizeof(prefix), fmt, args);
    va_end(args);
    snprintf(both, sizeof(both), "%s: %s", prefix, d->message);
    memcpy(d->message, both, sizeof(d->message) - 1);
    d->message[sizeof(d->message) - 1] = '\0';
    return d->code;
}

void diag_keep_first(enum corral_err *first, struct diag *d, enum corral_err err, const struct diag *seen)
{
    if (err == CORRAL_OK || *first != CORRAL_OK)
        return;
    *first = err;
    if (d)
        *d = *seen;
}
