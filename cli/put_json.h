/* SPDX-License-Identifier: Apache-2.0 */
/* The one JSON document of a command that ends (INTERFACE.md "General"). */
#ifndef CORRAL_CLI_PUT_JSON_H
#define CORRAL_CLI_PUT_JSON_H

#include <jansson.h>

#include "base/diag.h"

/* Prints it as a line on stdout, and takes it. NULL is what came of a want of memory. */
enum corral_err cli_put_json(json_t *document, struct diag *d);

#endif
