/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run control beyond halt and run (session.h): one core's steps, resets, what a dead tool left, remarks, and
 * leaving the target. After session_connect.
 */
#ifndef CORRAL_SESSION_RUN_CONTROL_H
#define CORRAL_SESSION_RUN_CONTROL_H

#include "session/session.h"

/* Remarks since the last call (group.h), copied: at most `most` of them, the rest is gone. */
size_t session_take_remarks(struct session *s, struct group_remark *out, size_t most);
/* Name and take away what a tool left latched that ended without detaching: remarks say what. */
enum corral_err session_repair(struct session *s, size_t *repaired, struct diag *d);
/* Member `core` executes `count` instructions, the others stand or run as they do. */
enum corral_err session_step(struct session *s, size_t core, unsigned count, struct event *event,
                             struct diag *d);
enum corral_err session_reset(struct session *s, const struct group_reset *reset, struct event *event,
                              struct diag *d);
/* One core, with why its state is what it is; nothing is changed. */
enum corral_err session_core_status(struct session *s, size_t core, struct core_status *status,
                                    struct diag *d);
/* How member `core` is reached now: copied; strings live as long as the session. */
enum corral_err session_member(struct session *s, size_t core, struct group_member *member, struct diag *d);

/*
 * Leave the target: every CTI as it was found, then every core, but for those halted with `leave_halted`.
 * Goes on past failures and tells the first. Takes as long as it takes, whatever --timeout says;
 * session_close does it too (with leave_halted false), but cannot tell. The session can only be closed then.
 */
enum corral_err session_detach(struct session *s, bool leave_halted, struct diag *d);

#endif
