/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's half of the firmware log: poll the owner byte, copy the batch, hand the byte back at once, then
 * decode the copy into events. The firmware-log sheet, sections 4 and 6.
 *
 * It writes nothing until it has seen the right magic since the last reset, whoever set the buffer up. Owner
 * thread of the link only.
 */
#ifndef CORRAL_TLOG_CONSUMER_H
#define CORRAL_TLOG_CONSUMER_H

#include "event/sink.h"
#include "link/link.h"
#include "tlog/tlog_decode.h"
#include "tlog/tlog_frame.h"

struct tlog_consumer;

struct tlog_consumer_options {
    const char *stream; /* event.stream; copied */
    const char *core;   /* event.core or NULL; copied */
    uint32_t ap;
    uint64_t address;
    uint32_t capacity;     /* bytes: 29..1 MiB */
    uint32_t staging;      /* 0 = TLOG_STAGING_DEFAULT */
    uint32_t timestamp_hz; /* 0 = 1000 (milliseconds) */
    /*
     * Each batch as it was copied (status ok), before it is decoded: the first `size` bytes of the buffer,
     * header included. Zero bytes follow up to the capacity, so the whole buffer may be kept just as well.
     * For the capture file. May be NULL; consumer only.
     */
    void (*raw)(void *ctx, const uint8_t *data, size_t size, int64_t host_ns);
    void *raw_ctx;
};

struct tlog_consumer_stats {
    uint64_t polls, batches, records, bytes, gaps, lost, restarts, torn, anomalies;
};

/* What a decode of `stream` adds up to; shared by `decode tlog` and the live consumer. */
struct tlog_emitter;

struct tlog_consumer *tlog_consumer_new(const struct tlog_consumer_options *options, struct event_bus *bus,
                                        struct diag *d);
void tlog_consumer_free(struct tlog_consumer *c); /* NULL is allowed */

/* One poll: reads the header; takes at most one batch. *took says whether there was one (may be NULL). Link
 * errors are returned; everything else becomes events. */
enum corral_err tlog_consumer_poll(struct tlog_consumer *c, struct link *link, bool *took, struct diag *d);

/* The target was reset: forget the baseline and the magic. */
void tlog_consumer_reset(struct tlog_consumer *c);
/* The firmware goes on in another buffer of the same size: loss is counted across the move. */
void tlog_consumer_move(struct tlog_consumer *c, uint64_t address);
/* The firmware was started again, and its buffer set up anew: the next record is a restart, whatever its
 * sequence. */
void tlog_consumer_restarted(struct tlog_consumer *c);
/* Had the buffer another magic at the last poll (but not that of a dead link)? The firmware finds it too and
 * hands over no more: whoever set the buffer up does it again. */
bool tlog_consumer_bad_magic(const struct tlog_consumer *c);
void tlog_consumer_get_stats(const struct tlog_consumer *c, struct tlog_consumer_stats *stats);

/*
 * Decode one private copy of a buffer and publish: anomalies and records as met, a gap or restart before the
 * record that shows it, then the batch event when `file` is not NULL (INTERFACE.md).
 */
struct tlog_emitter *tlog_emitter_new(const struct tlog_consumer_options *options, struct event_bus *bus);
void tlog_emitter_free(struct tlog_emitter *e);
/* Returns tlog_decode_batch's status as int (enum tlog_status) and whether to release. */
int tlog_emitter_batch(struct tlog_emitter *e, const uint8_t *data, size_t capacity, const char *file,
                       int64_t host_ns, bool *release);
/* The target was reset: forget the sequence baseline and the time base. */
void tlog_emitter_reset(struct tlog_emitter *e);
/* The firmware was started again: the next record is a restart, whatever its sequence. */
void tlog_emitter_restarted(struct tlog_emitter *e);
/* Publish one anomaly that was found outside a decode (the live consumer's re-checks), and count it. */
void tlog_emitter_anomaly(struct tlog_emitter *e, enum tlog_anomaly reason, uint32_t offset, uint32_t value,
                          int64_t host_ns);

/* A record that somebody else has decoded and counted (the Linux driver): what it says is passed on as
 * events, nothing is concluded from the sequence. */
void tlog_emitter_frame(struct tlog_emitter *e, const struct tlog_frame_view *frame);
void tlog_emitter_get_stats(const struct tlog_emitter *e, struct tlog_consumer_stats *stats);

#endif
