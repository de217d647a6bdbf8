/* SPDX-License-Identifier: Apache-2.0 */
/* The page of corral sync-check, and the same as JSON. */
#ifndef CORRAL_CLI_RENDER_SYNC_CHECK_H
#define CORRAL_CLI_RENDER_SYNC_CHECK_H

#include "session/sync_check.h"

void render_sync_check_text(const struct session_sync_check *c);
enum corral_err render_sync_check_json(const struct session_sync_check *c, struct diag *d);

#endif
