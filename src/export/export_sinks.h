/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sinks that write files: JSON lines, and Chrome trace events. Both finish their file properly on close.
 */
#ifndef CORRAL_EXPORT_EXPORT_SINKS_H
#define CORRAL_EXPORT_EXPORT_SINKS_H

#include <stdio.h>

#include "event/sink.h"

/* JSON lines to `path` (created), or to an open stream that stays the caller's. NULL with *d set. */
struct sink *export_jsonl_open(const char *path, struct diag *d);
struct sink *export_jsonl_stream(FILE *out);

/* Chrome trace events (JSON object form): a lane per core with run/halted slices, log lines and samples as
 * instants, gaps as instants that say how many. Written whole on close, through a temporary file. */
struct sink *export_timeline_open(const char *path, struct diag *d);

#endif
