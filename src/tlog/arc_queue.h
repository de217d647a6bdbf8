/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ARC message queue, both ends, over plain memory accessors: the firmware-log sheet, sections 2 and 5.
 *
 * Whatever the other side writes is checked before it is used: queue shape, addresses, pointers; all ones is
 * a dead link. The shape is read once; a later look must find the same. One exchange at a time, bounded by
 * deadlines of the host clock. Not thread-safe: a queue has one user.
 */
#ifndef CORRAL_TLOG_ARC_QUEUE_H
#define CORRAL_TLOG_ARC_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/host_clock.h"
#include "tlog/arc_queue_layout.h"

/* Aligned 32-bit words in host byte order. A store must be visible to the other side before a later one. An
 * error ends the exchange and is returned as it is. */
struct arc_memory {
    void *ctx;
    enum corral_err (*read32)(void *ctx, uint64_t address, uint32_t *value, struct diag *d);
    enum corral_err (*write32)(void *ctx, uint64_t address, uint32_t value, struct diag *d);
};

/* ---- the host's end ---- */

#define ARC_READY_NS    (500 * NS_PER_MS)  /* waiting for boot status bit 0 */
#define ARC_SPACE_NS    (1000 * NS_PER_MS) /* waiting for a free request slot */
#define ARC_RESPONSE_NS (1000 * NS_PER_MS) /* waiting for the answer */

struct arc_client_options {
    struct arc_memory memory;
    struct host_clock *clock;                /* must outlive the client */
    uint64_t scratch;                        /* address of scratch register 0 */
    uint64_t doorbell;                       /* where 0 is written after a request; 0 = nowhere */
    uint64_t valid_base, valid_end;          /* where control block and queues may lie: [base, end) */
    unsigned queue;                          /* ARC_QUEUE_TOOLS, ... */
    int64_t ready_ns, space_ns, response_ns; /* 0 = the times above */
};

struct arc_client;

/*
 * Finds the queue and brings it into step (a TEST message whose answer is recognised by its value), so that
 * no answer to somebody's earlier request is taken for one of ours. NULL with *d set: CORRAL_ERR_LINK_DOWN
 * (all ones), CORRAL_ERR_TIMEOUT (not ready, or no answer), CORRAL_ERR_TLOG_QUEUE (what is there cannot be a
 * queue), or the accessor's error.
 */
struct arc_client *arc_client_open(const struct arc_client_options *options, struct diag *d);
void arc_client_close(struct arc_client *c); /* NULL is allowed */

/*
 * Send a request and wait for its answer. After CORRAL_ERR_TIMEOUT the request may still take effect; its
 * late answer is never returned to a later exchange. CORRAL_ERR_TLOG_QUEUE: the queue changed under us, its
 * pointers are impossible, or somebody else uses it.
 */
enum corral_err arc_client_exchange(struct arc_client *c, const uint32_t request[ARC_MESSAGE_WORDS],
                                    uint32_t response[ARC_MESSAGE_WORDS], struct diag *d);

/*
 * Has the firmware been started again since the last exchange? One to three words are read, nothing is
 * written. *restarted also when it is not ready now. After that the client must be opened anew.
 */
enum corral_err arc_client_restarted(struct arc_client *c, bool *restarted, struct diag *d);

/* Answers thrown away because they were to nobody's question, since open. */
uint64_t arc_client_stale(const struct arc_client *c);
unsigned arc_client_entries(const struct arc_client *c);

/* ---- the firmware's end (the emulator's, and the tests') ---- */

enum arc_reply {
    ARC_REPLY_ANSWER,  /* response[] is the answer */
    ARC_REPLY_UNKNOWN, /* answered with ARC_MSG_UNKNOWN */
    ARC_REPLY_NONE,    /* not answered now; arc_server_respond may do it later */
};

struct arc_server_options {
    struct arc_memory memory;
    uint64_t control;     /* where the control block goes */
    uint64_t queues;      /* where queue 0 goes; ARC_QUEUE_SIZE(entries) * queue_count bytes */
    unsigned entries;     /* a queue; 1..ARC_ENTRIES_MAX; 0 = ARC_ENTRIES_DEFAULT */
    unsigned queue_count; /* 1..ARC_QUEUES_MAX; 0 = ARC_QUEUES_DEFAULT */
    /* A request other than TEST; response[] is all 0. May be NULL: everything is unknown. */
    enum arc_reply (*handle)(void *ctx, unsigned queue, const uint32_t request[ARC_MESSAGE_WORDS],
                             uint32_t response[ARC_MESSAGE_WORDS]);
    void *ctx;
};

struct arc_server;

/* Writes empty queues and the control block. Scratch registers are the caller's: the control block's address
 * first, then the ready bit. NULL with *d set. */
struct arc_server *arc_server_new(const struct arc_server_options *options, struct diag *d);
void arc_server_free(struct arc_server *s); /* NULL is allowed */

/*
 * Serve what is there: at most a full queue of requests each, and only while an answer slot is free. A queue
 * whose host-side pointers are impossible is left alone and counted. *served (may be NULL) is how many.
 */
enum corral_err arc_server_poll(struct arc_server *s, unsigned *served, struct diag *d);

/* Put an answer into a queue by hand: a late one, or one that nobody asked for. CORRAL_ERR_LIMIT when there
 * is no free slot. */
enum corral_err arc_server_respond(struct arc_server *s, unsigned queue,
                                   const uint32_t response[ARC_MESSAGE_WORDS], struct diag *d);

/* Polls of queues that were refused because of their pointers. */
uint64_t arc_server_bad_pointers(const struct arc_server *s);

/* ---- the firmware log's messages ---- */

struct arc_tlog_request {
    uint8_t subcommand; /* ARC_TLOG_SETUP, ARC_TLOG_RELEASE, or what came */
    uint8_t version;    /* the host's protocol version */
    uint64_t address;   /* SETUP: of the buffer */
    uint32_t size;
};

void arc_tlog_encode(const struct arc_tlog_request *request, uint32_t words[ARC_MESSAGE_WORDS]);
/* False when it is not an ARC_MSG_TLOG. */
bool arc_tlog_decode(const uint32_t words[ARC_MESSAGE_WORDS], struct arc_tlog_request *request);

/* What word 0 of an answer means for a host. */
enum arc_answer {
    ARC_ANSWER_OK,
    ARC_ANSWER_UNSUPPORTED, /* 0xFF: this firmware has no log; nothing to complain about */
    ARC_ANSWER_FAULT,       /* 0x01, 0x13, 0x16 and what is not known: ours or the part's; report it */
    ARC_ANSWER_BUSY,        /* 0xF0..0xF5: try again */
    ARC_ANSWER_DEAD,        /* all ones: the device is gone */
};
enum arc_answer arc_answer_of(uint32_t word0);
/* The same as a sentence's middle: "refused the buffer's size". Never NULL. */
const char *arc_answer_text(uint32_t word0);

#endif
