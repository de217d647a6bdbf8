/* SPDX-License-Identifier: Apache-2.0 */
/* What status, halt, run, step and reset share: options, remarks, the event shown, how the target is left. */
#ifndef CORRAL_CLI_RUN_REQUEST_H
#define CORRAL_CLI_RUN_REQUEST_H

#include "cli/cli.h"

enum run_action { RUN_STATUS, RUN_HALT, RUN_RUN, RUN_STEP, RUN_RESET };

int run_request(const struct cli *cli, const struct cli_command *command, int argc, char **argv,
                enum run_action action);

struct session;
/* Print the group's remarks as warnings. */
void run_tell_remarks(const struct cli *cli, struct session *s);
/* The same of access ports behind which a core may be that nobody sees. */
void run_tell_silent_ports(const struct cli *cli, const struct session *s);

#endif
