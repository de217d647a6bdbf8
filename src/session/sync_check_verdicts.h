/* SPDX-License-Identifier: Apache-2.0 */
/* The judging half of session_sync_check: from what was proven to what a user can count on. Pure. */
#ifndef CORRAL_SESSION_SYNC_CHECK_VERDICTS_H
#define CORRAL_SESSION_SYNC_CHECK_VERDICTS_H

#include "session/sync_check.h"

/* Fills out->verdicts from out->cores, out->islands and the skews. */
void sync_check_judge(struct session_sync_check *out);

#endif
