/* SPDX-License-Identifier: Apache-2.0 */
/* What the terminal description says. Apart from top_term.c because <term.h> makes macros of common words. */
#ifndef CORRAL_CLI_TOP_TERMINFO_H
#define CORRAL_CLI_TOP_TERMINFO_H

#include <stddef.h>

#include "base/diag.h"

#define TOP_TERMINFO_ROOM 256

/* Can a screen be drawn here? CORRAL_ERR_USAGE when standard input or output is no terminal, or it is one
 * that nobody knows or whose cursor does not move. */
enum corral_err top_terminfo_check(struct diag *d);
/* What gives the terminal back, as bytes to write; of the terminal that is open. Returns how many. */
size_t top_terminfo_reset(char out[TOP_TERMINFO_ROOM]);

#endif
