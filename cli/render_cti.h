/* SPDX-License-Identifier: Apache-2.0 */
/* Cross trigger interfaces for people and as JSON. */
#ifndef CORRAL_CLI_RENDER_CTI_H
#define CORRAL_CLI_RENDER_CTI_H

#include "session/cti_control.h"

/* On stdout: tables, or one JSON document. */
enum corral_err render_ctis(bool json, const struct session_cti_view *views, size_t count, struct diag *d);

#endif
