/* SPDX-License-Identifier: Apache-2.0 */
/* The measuring half of session_sync_check: clocks beside each other, rounds of run and halt. */
#ifndef CORRAL_SESSION_SYNC_CHECK_ROUNDS_H
#define CORRAL_SESSION_SYNC_CHECK_ROUNDS_H

#include "session/sync_check.h"

/* Each core's clock by that of the first that counts, while they run. What cannot be measured stays 0. */
enum corral_err sync_check_ratios(struct session *s, struct session_sync_check *out, struct diag *d);

/* Rounds without and with cross triggers, between the first two cores that run and count cycles. Where there
 * are none the reason is in both. Cores run again afterwards; CTIs are as they were. */
enum corral_err sync_check_rounds(struct session *s, unsigned rounds, const atomic_bool *stop,
                                  struct session_sync_check *out, struct diag *d);

#endif
