/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile packets that a target leaves in its RAM, read over any link: docs/profile-records.md. Takes a slot
 * as soon as it is the host's, hands it back at once, then gives each packet of the copy to the streams.
 * Hostile input: the target may write anything at any time. Owner thread of the link only.
 */
#ifndef CORRAL_PROF_RECORDS_H
#define CORRAL_PROF_RECORDS_H

#include "link/link.h"
#include "prof/stream.h"

#define PROF_RECORDS_BUFFER_MIN (16u + 2u * 1456u) /* bytes */
#define PROF_RECORDS_BUFFER_MAX (1u << 20)

struct prof_records_reader;

struct prof_records_options {
    const char *source; /* the streams' name of the sender; copied */
    uint32_t ap;
    uint64_t address;             /* a multiple of 4 */
    uint32_t size;                /* bytes: PROF_RECORDS_BUFFER_MIN to PROF_RECORDS_BUFFER_MAX */
    struct prof_streams *streams; /* borrowed */
    /* Each packet as it came, before it is decoded (capture). May be NULL. */
    void (*raw)(void *ctx, const char *source, const uint8_t *data, size_t size, int64_t host_ns);
    void *ctx;
};

/* CORRAL_ERR_USAGE for an address or size that cannot be. NULL with *d set. Does not touch the target. */
struct prof_records_reader *prof_records_reader_new(const struct prof_records_options *options,
                                                    struct diag *d);
void prof_records_reader_free(struct prof_records_reader *r); /* NULL is allowed */

/* Take at most one slot. *took says whether there was one (may be NULL). Errors of the link are returned;
 * what is wrong with the memory is counted. Costs three words when there is nothing. */
enum corral_err prof_records_poll(struct prof_records_reader *r, struct link *link, bool *took,
                                  struct diag *d);

struct prof_records_stats {
    bool ready; /* the magic and a sensible shape were seen */
    uint64_t polls, batches, packets, bytes;
    uint64_t lost;        /* packets the target says it had no room for */
    uint64_t restarts;    /* the target began anew */
    uint64_t bad_shapes;  /* headers refused */
    uint64_t bad_owners;  /* owner words that are neither 0 nor 1 */
    uint64_t bad_batches; /* a used count that is too large, or no multiple of 4 */
    uint64_t bad_records; /* a length that cannot be: the rest of its batch went with it */
};
void prof_records_reader_stats(const struct prof_records_reader *r, struct prof_records_stats *stats);

#endif
