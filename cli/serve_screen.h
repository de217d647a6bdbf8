/* SPDX-License-Identifier: Apache-2.0 */
/* What `corral serve` shows on stdout: every event, log lines from a level on that may be changed meanwhile.
 */
#ifndef CORRAL_CLI_SERVE_SCREEN_H
#define CORRAL_CLI_SERVE_SCREEN_H

#include "cli/cli.h"

/* `level` is borrowed and looked at for each line: this and worse is shown, 0 (raw) always. NULL when memory
 * is out. */
struct sink *serve_screen_new(bool json, bool colour, const atomic_uint *level);

#endif
