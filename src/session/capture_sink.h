/* SPDX-License-Identifier: Apache-2.0 */
/* A sink that puts what has no raw form of its own (halts, runs, clock pairs, markers, losses) into a capture
 * file, as JSON under CAPTURE_LINKTYPE_EVENT. */
#ifndef CORRAL_SESSION_CAPTURE_SINK_H
#define CORRAL_SESSION_CAPTURE_SINK_H

#include "capture/capture_writer.h"
#include "event/sink.h"

/* `capture` stays the caller's and must outlive the sink. NULL with *d set. */
struct sink *capture_sink_new(struct capture_writer *capture, struct diag *d);

#endif
