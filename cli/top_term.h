/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal of `corral top`: cells out, keys in, and the terminal as it was before, however the process
 * ends (but for SIGKILL). One a process, because signal handlers can reach nothing but file scope.
 */
#ifndef CORRAL_CLI_TOP_TERM_H
#define CORRAL_CLI_TOP_TERM_H

#include <stdatomic.h>

#include "base/diag.h"
#include "cli/top_canvas.h"

/* From now on SIGINT, SIGTERM and SIGHUP set the flag; a later second one ends the process at once. */
const atomic_bool *top_term_signals(void);
enum corral_err top_term_open(bool colour, struct diag *d);
/* Gives the terminal back. Allowed at any time. */
void top_term_close(void);

void top_term_size(unsigned *rows, unsigned *columns);
void top_term_show(const struct top_canvas *c);
/* Everything is to be drawn anew. */
void top_term_repaint(void);
/* Until a key, a signal or `ms`. */
void top_term_wait(int ms);
/* The next key: a code point or enum top_key. False = none for now. *resized is set when it is another size.
 */
bool top_term_key(uint32_t *key, bool *resized);
/* What signals have asked for: stops here while suspended. True = draw anew. */
bool top_term_attend(void);

#endif
