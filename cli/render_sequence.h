/* SPDX-License-Identifier: Apache-2.0 */
/* How `corral sequence` shows things: problems with their source line, accesses, summaries. */
#ifndef CORRAL_CLI_RENDER_SEQUENCE_H
#define CORRAL_CLI_RENDER_SEQUENCE_H

#include <stdio.h>

#include "cli/cli.h"
#include "pack/pack.h"
#include "sequence/sequence_run.h"

/*
 * `FILE:LINE:COLUMN: error: sentence`, then the line as it stands, and under it ^~~~. `width`: columns of the
 * terminal, 0 = not one; a longer line is cut around the place. `set` may be NULL: then without the line.
 */
void render_sequence_problem(FILE *out, bool colour, unsigned width, const struct pack_file *file,
                             const struct sequence_set *set, const struct sequence_problem *problem);
unsigned render_sequence_width(FILE *out); /* of the terminal that `out` is; 0 = none */

/* One access of --trace: text for people, or a JSON line. A sink for the bus. NULL when memory is out. */
struct sink *render_sequence_trace(FILE *out, bool json);
void render_sequence_access(FILE *out, const struct event_access *a);

/* One sequence has ended. */
void render_sequence_summary(FILE *out, bool json, const char *name, const struct sequence_result *r);

#endif
