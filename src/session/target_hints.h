/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a target before it is looked at: corral.yml's words, then its SDF's, then those of the
 * description of the device, as discovery takes them.
 */
#ifndef CORRAL_SESSION_TARGET_HINTS_H
#define CORRAL_SESSION_TARGET_HINTS_H

#include "coresight/hints.h"
#include "pack/pack.h"
#include "session/config.h"

struct target_hints;

/* Both may be NULL: then nothing is known. Reads the SDF that corral.yml names. NULL with *d set. */
struct target_hints *target_hints_new(const struct config *config, const struct pack_device *pack,
                                      struct diag *d);
const struct cs_hints *target_hints_get(const struct target_hints *h); /* lives as long as `h` */
void target_hints_free(struct target_hints *h);                        /* NULL is allowed */

#endif
