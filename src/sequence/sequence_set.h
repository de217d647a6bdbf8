/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug sequences as a description file has them: what the readers of src/pack/ hand over, and what
 * sequence.h compiles. CMSIS debug sequences: cross-trigger sheet 4.1 (elements, inheritance), 4.4, 4.5.
 *
 * Texts are those of the language, XML entities and YAML indentation gone; marks say where they stand in the
 * file, so that a mistake can be shown there. The set copies all that it is given, but for files that it is
 * lent.
 */
#ifndef CORRAL_SEQUENCE_SEQUENCE_SET_H
#define CORRAL_SEQUENCE_SEQUENCE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define SEQUENCE_NAME_MAX   64                 /* of sequences, processors and variables, with the NUL */
#define SEQUENCE_MAX_TEXT   (10 * 1024 * 1024) /* bytes of all texts of a set together */
#define SEQUENCE_MAX_FILE   (16 * 1024 * 1024) /* bytes of a file that is kept for showing its lines */
#define SEQUENCE_MAX_COUNT  4096               /* sequences of a set */
#define SEQUENCE_MAX_DEPTH  10                 /* controls within controls (sheet 4.4) */
#define SEQUENCE_MAX_VALUES 1024               /* debugvars */

struct sequence_set;

/* Where something stands. `file` as sequence_set_add_file gave it; line and column from 1, 0 = not known. */
struct sequence_place {
    unsigned file, line, column;
};

/* From byte `offset` of a text on, its characters stand one after the other at this place of the file; behind
 * a line feed the next line's first column. */
struct sequence_mark {
    size_t offset;
    unsigned line, column;
};

struct sequence_text {
    const char *bytes; /* may hold anything, NUL too */
    size_t size;
    unsigned file;
    const struct sequence_mark *marks; /* by offset; the first one's is 0 */
    size_t mark_count;                 /* 0: it is not known where it stands */
};

struct sequence_set *sequence_set_new(void); /* NULL when memory is out */
void sequence_set_free(struct sequence_set *set);

/* A file, for its name and lines in messages; `bytes` may be NULL. CORRAL_ERR_LIMIT when it is too large. */
enum corral_err sequence_set_add_file(struct sequence_set *set, const char *name, const char *bytes,
                                      size_t size, unsigned *file, struct diag *d);
/* The same without a copy: `bytes` must outlive the set. */
enum corral_err sequence_set_lend_file(struct sequence_set *set, const char *name, const char *bytes,
                                       size_t size, unsigned *file, struct diag *d);
const char *sequence_set_file_name(const struct sequence_set *set, unsigned file); /* "" = none such */
/* Line `line` without its end, not terminated; false when it is not there. */
bool sequence_set_line(const struct sequence_set *set, unsigned file, unsigned line, const char **bytes,
                       size_t *size);

/*
 * A sequence, from begin to end with blocks and controls in between. `level`: 0 = default, then the higher
 * the nearer to the device (family 1, subfamily 2, device 3, variant 4, a cbuild-run file 5): of one name and
 * Pname the highest level counts, on one level the last one, with a warning (case C36).
 */
struct sequence_head {
    const char *name;
    const char *pname; /* NULL or "" = for all processors */
    const char *info;  /* NULL = none */
    bool disabled;     /* a predefined name: not even its default runs */
    unsigned level;
    struct sequence_place place;
};
enum corral_err sequence_set_begin(struct sequence_set *set, const struct sequence_head *head,
                                   struct diag *d);
enum corral_err sequence_set_end(struct sequence_set *set, struct diag *d);

enum corral_err sequence_set_block(struct sequence_set *set, const struct sequence_text *text, bool atomic,
                                   struct sequence_place place, struct diag *d);
/* Texts are NULL where the attribute is not there; `timeout` is one too: it is a number, in microseconds. */
struct sequence_control {
    const struct sequence_text *if_, *while_, *timeout;
    struct sequence_place place;
};
enum corral_err sequence_set_begin_control(struct sequence_set *set, const struct sequence_control *control,
                                           struct diag *d);
enum corral_err sequence_set_end_control(struct sequence_set *set, struct diag *d);

/* debugvars: `__var name = constant;` ... At one level with and without `pname` as with sequences. A later
 * declaration of the same name at a higher level wins. */
enum corral_err sequence_set_variables(struct sequence_set *set, const struct sequence_text *text,
                                       const char *pname, unsigned level, struct diag *d);
/* A .dbgconf: assignments of constants to variables that sequence_set_variables declared (case C45). */
enum corral_err sequence_set_configuration(struct sequence_set *set, const struct sequence_text *text,
                                           struct diag *d);

#endif
