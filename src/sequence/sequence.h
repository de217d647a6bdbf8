/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The language of CMSIS debug sequences: a set compiled, with every mistake found at that time (cross-trigger
 * sheet 4.2 to 4.7, cases 12.C). Runs nothing: sequence_run.h does.
 */
#ifndef CORRAL_SEQUENCE_SEQUENCE_H
#define CORRAL_SEQUENCE_SEQUENCE_H

#include "sequence/sequence_set.h"

/* ---- what is wrong */

enum sequence_severity { SEQUENCE_WARNING, SEQUENCE_ERROR };

struct sequence_problem {
    enum sequence_severity severity;
    struct sequence_place place;
    unsigned width;                   /* columns to underline; at least 1 */
    char sequence[SEQUENCE_NAME_MAX]; /* "" = in none */
    char text[240];                   /* a sentence without a full stop; untrusted text in it is escaped */
};

#define SEQUENCE_MAX_PROBLEMS 1000 /* more are counted only */

struct sequence_problems {
    struct sequence_problem *list; /* in the order found */
    size_t count, room;
    size_t dropped; /* beyond SEQUENCE_MAX_PROBLEMS, or for want of memory */
    size_t errors;  /* of all, dropped ones too */
};
void sequence_problems_clear(struct sequence_problems *p); /* frees; start with zeros */
/* The same sentence at the same place is kept once. */
void sequence_problems_add(struct sequence_problems *p, enum sequence_severity severity,
                           struct sequence_place place, unsigned width, const char *sequence, const char *fmt,
                           ...) __attribute__((format(printf, 6, 7)));

/* ---- compiling */

/* What the predefined variables and defaults depend on. */
struct sequence_processor {
    const char *pname; /* "" with a single processor without one */
    bool vector_reset; /* Armv7-M: ResetProcessor has a default (AIRCR.VECTRESET) */
};

struct sequence_setting {
    const struct sequence_processor *processors;
    size_t processor_count;
    bool has_access_ports; /* accessportV1/V2 elements exist: __apid, and not __ap (case C35) */
};

struct sequence_program;

/*
 * All of the set with the defaults of sheet 4.8 under it. `set` must outlive the program. A program comes
 * back also where problems hold errors: what has none can be run. NULL only with *d set (memory, limits).
 */
struct sequence_program *sequence_compile(const struct sequence_set *set,
                                          const struct sequence_setting *setting,
                                          struct sequence_problems *problems, struct diag *d);
void sequence_program_free(struct sequence_program *program); /* NULL is allowed */
const struct sequence_set *sequence_program_set(const struct sequence_program *program);

/* ---- what there is */

struct sequence_info {
    const char *name, *pname; /* pname "" = for all processors. Borrowed from the program, as `info` */
    const char *info;         /* "" = none */
    struct sequence_place place;
    bool is_default, disabled, predefined;
    bool has_errors; /* it, or one that it calls */
};
size_t sequence_count(const struct sequence_program *program);
bool sequence_get(const struct sequence_program *program, size_t i, struct sequence_info *info);
/* The one that counts for processor `pname` (NULL or "" = none named): its own before the one for all. False
 * when there is none: then, of a predefined name, nothing runs, and of another it is a mistake. */
bool sequence_find(const struct sequence_program *program, const char *name, const char *pname,
                   struct sequence_info *info);
bool sequence_is_predefined(const char *name);
/* True when the file itself, not a default, has it (disabled too). */
bool sequence_is_defined(const struct sequence_program *program, const char *name, const char *pname);

/* Give a debugvar or a predefined read-only variable (`__connection` ...) another value: --var. Where
 * `pname` is NULL for all processors. CORRAL_ERR_USAGE for a name that there is not. */
enum corral_err sequence_set_value(struct sequence_program *program, const char *name, uint64_t value,
                                   struct diag *d);

#endif
