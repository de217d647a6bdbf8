/* SPDX-License-Identifier: Apache-2.0 */
/* See put_json.h. Whether stdout took it is asked when it is closed (cli_close_stdout). */
#include "cli/put_json.h"

#include <stdio.h>
#include <stdlib.h>

enum corral_err cli_put_json(json_t *document, struct diag *d)
{
    char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;
    json_decref(document);
    if (!text)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    puts(text);
    free(text);
    return CORRAL_OK;
}
