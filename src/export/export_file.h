/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that appears whole or not at all: written under a temporary name in the same folder, renamed at the
 * end. What exists and is no regular file (a pipe, a terminal, /dev/null) is written directly, since it must
 * not be replaced. Private to src/export.
 */
#ifndef CORRAL_EXPORT_EXPORT_FILE_H
#define CORRAL_EXPORT_EXPORT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"

struct export_file {
    FILE *out;
    char *path;
    char *temporary; /* NULL when written directly */
};

enum corral_err export_file_begin(struct export_file *f, const char *path, struct diag *d);
/* Closes and renames; on any error, also one of earlier writes, nothing is left. */
enum corral_err export_file_end(struct export_file *f, struct diag *d);
/* Closes and leaves nothing. Allowed after a failed begin and after an end. */
void export_file_abandon(struct export_file *f);

/* `text` as a JSON string with its quotes; bytes that are not UTF-8 come out as \xNN text. */
void export_file_json_string(FILE *out, const char *text);

#endif
