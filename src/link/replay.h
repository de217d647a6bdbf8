/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "replay:FILE": a wire log (docs/wire-log.md) in place of a target. The same accesses get the same answers
 * after the same host time; anything else is a divergence, which ends the link with a sentence. The file is
 * not trusted.
 */
#ifndef CORRAL_LINK_REPLAY_H
#define CORRAL_LINK_REPLAY_H

#include <stdio.h>

#include "link/link.h"

/* `clock` must be a virtual one and outlive the link. NULL with *d set. */
struct link *link_replay_open(const char *spec, struct host_clock *clock, struct diag *d);
/* The same from an open file, which becomes the link's, also on failure. */
struct link *link_replay_open_file(FILE *file, const char *name, struct host_clock *clock, struct diag *d);

#endif
