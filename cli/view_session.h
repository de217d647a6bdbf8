/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands share that look at one core or one access port: --core, --ap, and the session for it. */
#ifndef CORRAL_CLI_VIEW_SESSION_H
#define CORRAL_CLI_VIEW_SESSION_H

#include "cli/pack_options.h"
#include "session/target_memory.h"

enum { VIEW_OPT_CORE = 1024, VIEW_OPT_AP };

/* For the option table of a command; view_take understands them. */
#define VIEW_OPTIONS                                  \
    {"core", required_argument, NULL, VIEW_OPT_CORE}, \
    {                                                 \
        "ap", required_argument, NULL, VIEW_OPT_AP    \
    }

struct view_request {
    const char *core; /* NULL = not given */
    bool ap_set;
    uint32_t ap;
    struct pack_options pack; /* what the command line says of it, before corral.yml */
};

/* An option of VIEW_OPTIONS; false when the answer has been given (a usage error). */
bool view_take(const struct cli *cli, const struct cli_command *command, int c, struct view_request *r);

struct config;
struct view_session {
    struct config *config;
    struct pack_target target; /* that corral.yml names */
    struct event_bus *bus;
    struct session *s;
    struct session_view view;
    const char *names[1];
};

/* Opens link and session, finds the cores (by access port: only powers the port up), and lets a board that
 * has just been switched on come to something. view_close in any case. */
enum corral_err view_open(const struct cli *cli, const struct view_request *r, struct view_session *v,
                          struct diag *d);
/* Leaves the target as it was found (but for `leave_halted`) and frees everything. */
enum corral_err view_close(struct view_session *v, bool leave_halted, struct diag *d);

/* The session's options that every command takes from the command line and corral.yml. */
struct session_options;
struct session_options cli_session_options(const struct cli *cli, const struct config *config,
                                           struct event_bus *bus);
/* Leave the target as it was found and close. Returns `err`, or where that is CORRAL_OK what the leaving
 * failed with, then in *d. `s` may be NULL. */
enum corral_err cli_leave(struct session *s, enum corral_err err, struct diag *d);
/* A board in this process has only just been powered on: let its programs come to something. */
enum corral_err cli_warm_up(struct session *s, struct diag *d);

#endif
