/* SPDX-License-Identifier: Apache-2.0 */
/* What `corral profile` writes is none of the files that it reads, and each file once: checked before any is
 * opened for writing. */
#ifndef CORRAL_CLI_PROFILE_FILES_H
#define CORRAL_CLI_PROFILE_FILES_H

#include "cli/profile_options.h"
#include "session/profiling.h"

/* CORRAL_ERR_USAGE with *d set where an export would overwrite a capture, an image, or another export. */
enum corral_err profile_files_check(const struct profile_options *o, struct profiling *profiling,
                                    struct diag *d);

#endif
