/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What went wrong, for a person: one sentence, a hint, and the object it is about.
 *
 * Functions return enum corral_err and fill a struct diag that the caller owns. Nothing under src/ prints.
 * Every function that takes a struct diag * accepts NULL.
 */
#ifndef CORRAL_BASE_DIAG_H
#define CORRAL_BASE_DIAG_H

#include "base/err.h"

struct diag {
    enum corral_err code;
    char message[320]; /* one sentence, no final full stop, no line break; untrusted text in it is escaped */
    char hint[240];    /* what to do about it; "" when there is nothing to say */
    char object[160];  /* file:line, port, core name, ...; "" when there is none */
};

#define DIAG_INIT             \
    {                         \
        CORRAL_OK, "", "", "" \
    }

/* Set code and message (cut to fit); clears hint and object. Returns `code`, so callers can return it. */
enum corral_err diag_set(struct diag *d, enum corral_err code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Add a hint, or name the object, of the diag last set. */
void diag_hint(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void diag_object(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Of several steps that are all tried, the first failure counts: takes `err` with its words `seen` (both may
 * be those of a step that went well) unless *first holds one already. `d` may be NULL. */
void diag_keep_first(enum corral_err *first, struct diag *d, enum corral_err err, const struct diag *seen);

/* Put "prefix: " before the message, for a caller that knows more. Keeps the code and returns it. */
enum corral_err diag_prefix(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
