/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of sequences.h share. Private to src/session/. */
#ifndef CORRAL_SESSION_SEQUENCES_INTERNAL_H
#define CORRAL_SESSION_SEQUENCES_INTERNAL_H

#include "session/sequences.h"

struct sequences {
    struct sequences_options o;
    struct {
        uint32_t ap, other;
    } stand_ins[PACK_MAX_PROCESSORS];
    size_t stand_in_count;
    const struct link *prepared; /* knows of the access ports behind others */
    /* Of the run under way. */
    struct link *link;
    const char *name;
    uint64_t dp;      /* the debug port that the link is at */
    int64_t deadline; /* host_clock time: no delay lasts beyond it */
};

/* sequences.c: does it take accesses of every debug port? Else it is at one, and stays there. */
bool sequences_any_dp(struct link *link);

/* sequences_access.c: sequence_target.access; `ctx` is a struct sequences. */
enum corral_err sequences_access(void *ctx, struct sequence_access *list, size_t count, bool atomic,
                                 size_t *done, struct diag *d);

#endif
