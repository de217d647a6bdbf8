/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire log: every access that went through a link, as lines of text (docs/wire-log.md). For link.c, which
 * writes one, and link/replay.c, which reads one.
 *
 * Each call is written as whole lines before it returns, so that a log ends with a whole line whatever
 * happens to this process. A file that takes no more ends the log and nothing else.
 */
#ifndef CORRAL_LINK_WIRE_LOG_H
#define CORRAL_LINK_WIRE_LOG_H

#include "link/link.h"

#define WIRE_LOG_MAGIC   "corral-wire-log"
#define WIRE_LOG_VERSION 1u
#define WIRE_LOG_VALUES \
    256u /* on one line (of 64 bits, half of it); more go on in lines that begin with '.' */
#define WIRE_LOG_LINE 4096u /* no line is longer */

/* What a log says that its link could: a kind of access, or one thing that can be done with its wires. */
struct wire_log_cap {
    const char *word;
    unsigned cap, raw; /* one of them: LINK_CAP_..., 1 << LINK_RAW_... */
};
extern const struct wire_log_cap wire_log_caps[];
#define WIRE_LOG_CAPS 9

/* The word of a raw operation, in a log's first line and in its own. */
const char *wire_log_raw_word(enum link_raw_op op);

struct wire_log;

/* An existing file is overwritten. NULL with *d set. */
struct wire_log *wire_log_open(const char *path, struct diag *d);
void wire_log_close(struct wire_log *log); /* NULL is allowed */

/* `virtual_clock`: host times are those of a clock that only accesses and sleeping move. */
/* `raws`: as in struct link_backend. */
void wire_log_header(struct wire_log *log, const char *link_name, unsigned caps, unsigned raws,
                     bool virtual_clock, int64_t now);
/* What one link_execute did from `start` to `end`, and how it ended; `d` has the sentence where it failed. */
void wire_log_accesses(struct wire_log *log, int64_t start, int64_t end, uint64_t wire_clocks,
                       const struct link_access *accesses, size_t count, enum corral_err err,
                       const struct diag *d);
/* One that was refused, since its time had passed. */
void wire_log_late(struct wire_log *log, int64_t now, size_t count);
void wire_log_reset(struct wire_log *log, int64_t start, int64_t end, uint64_t wire_clocks, bool asserted,
                    enum corral_err err, const struct diag *d);
void wire_log_raw(struct wire_log *log, int64_t start, int64_t end, uint64_t wire_clocks,
                  const struct link_raw *raw, enum corral_err err, const struct diag *d);

/* True once after the file took no more, with the reason in *d. */
bool wire_log_stopped(struct wire_log *log, struct diag *d);

#endif
