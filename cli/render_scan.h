/* SPDX-License-Identifier: Apache-2.0 */
/* What a scan found, for people and as JSON (INTERFACE.md "scan"). */
#ifndef CORRAL_CLI_RENDER_SCAN_H
#define CORRAL_CLI_RENDER_SCAN_H

#include <stdbool.h>
#include <stdio.h>

#include "coresight/rom_table.h"

void render_scan_tree(FILE *out, bool colour, const struct cs_topology *t);
/* One line of JSON; the caller frees. NULL when memory is out. */
char *render_scan_json(const struct cs_topology *t);

#endif
