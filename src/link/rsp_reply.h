/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a gdb stub answers, taken apart: hex, errors, stop replies, thread lists, features, register
 * descriptions. Pure, bounded; every text is the peer's and hostile. Cross-trigger sheet 10.1.
 */
#ifndef CORRAL_LINK_RSP_REPLY_H
#define CORRAL_LINK_RSP_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RSP_NAME      16
#define RSP_REGISTERS 128
#define RSP_INCLUDES  8

/* "pPID.TID" (multiprocess) or "TID", in hex. A pid or tid of -1 means all, 0 any. */
struct rsp_thread_id {
    int32_t pid, tid; /* pid 0: not given */
};

enum rsp_stop_kind {
    RSP_STOP_SIGNAL,
    RSP_STOP_WATCH, /* watch, rwatch, awatch: `address` */
    RSP_STOP_BREAK, /* swbreak, hwbreak */
    RSP_STOP_ENDED, /* W or X: there is no program any more */
};

struct rsp_stop {
    enum rsp_stop_kind kind;
    unsigned signal;
    uint64_t address;
    bool has_thread;
    struct rsp_thread_id thread;
};

struct rsp_features {
    uint32_t packet_size; /* 0: not told */
    bool multiprocess, no_ack, vcont, target_xml;
};

struct rsp_register {
    char name[RSP_NAME];
    uint32_t number;
    uint32_t bits;
};

struct rsp_registers {
    size_t count, includes;
    uint32_t next; /* the number of the next one that is not given its own */
    struct rsp_register reg[RSP_REGISTERS];
    char include[RSP_INCLUDES][64]; /* names of further files */
};

/* All of `text` as pairs of hex digits; false when it is anything else, or not `size` bytes. */
bool rsp_reply_hex(const char *text, uint8_t *out, size_t size);
/* "Enn" or "E.text". *number is -1 with a text. */
bool rsp_reply_is_error(const char *text, int *number, const char **words);
/* T, S, W and X packets. */
bool rsp_reply_stop(const char *text, struct rsp_stop *stop);
/* "m1,2,..." into `list` (appended, at most `room`); false when it is no list. "l" is one, too, and the end.
 */
bool rsp_reply_threads(const char *text, struct rsp_thread_id *list, size_t room, size_t *count, bool *last);
bool rsp_reply_thread_id(const char *text, struct rsp_thread_id *id, const char **rest);
void rsp_reply_features(const char *text, struct rsp_features *f);
/* <reg .../> and <xi:include href="..."/> of one file of a target description; adds to *r. */
void rsp_reply_registers(const char *xml, struct rsp_registers *r);

#endif
