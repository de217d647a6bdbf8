/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one event type. Sources make events, sinks draw them; loss is an event like any other (EVENT_GAP).
 *
 * Field names and meanings are INTERFACE.md's table "Events (JSON lines)". All pointers in an event are
 * borrowed: they live until the call that was handed the event returns; who keeps an event clones it.
 */
#ifndef CORRAL_EVENT_EVENT_H
#define CORRAL_EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/profile_event.h"

#define EVENT_NO_TIME      INT64_MIN /* host_ns or target_ns is not known */
#define EVENT_LOST_UNKNOWN (-1)      /* gap.lost: how many is not known */
#define EVENT_MAX_CORES    16

enum event_kind {
    EVENT_LOG,
    EVENT_GAP,
    EVENT_RESTART,
    EVENT_ANOMALY,
    EVENT_BATCH,
    EVENT_PROFILE,
    EVENT_COUNTERS,
    EVENT_MAPS,
    EVENT_REJECT,
    EVENT_HALT,
    EVENT_RUN,
    EVENT_CLOCK,
    EVENT_LINK,
    EVENT_MARKER,
    EVENT_ACCESS,
    EVENT_KIND_COUNT,
};

/* Names as in JSON; never NULL. */
const char *event_kind_name(enum event_kind kind);

struct event_log {
    uint8_t level;      /* Zephyr's: 0 raw, 1 err, 2 wrn, 3 inf, 4 dbg, others as they came */
    uint8_t source;     /* 0 SMC, 1 DMC, others unknown */
    bool torn;          /* cut by the producer */
    uint32_t timestamp; /* as sent: milliseconds of firmware uptime, low 32 bits */
    uint32_t sequence;
    const char *text; /* cleaned (base/text.h), NUL-terminated */
};

#define EVENT_LOG_NAME_MAX 8
/* "raw", "err", "wrn", "inf", "dbg" or "lvlN" into buf; returns buf. */
const char *event_log_level_name(uint8_t level, char buf[EVENT_LOG_NAME_MAX]);
/* "SMC", "DMC" or "srcN" into buf; returns buf. */
const char *event_log_source_name(uint8_t source, char buf[EVENT_LOG_NAME_MAX]);

struct event_gap {
    uint32_t expected;  /* first missing */
    uint32_t sequence;  /* what came instead */
    int64_t lost;       /* how many, or EVENT_LOST_UNKNOWN */
    const char *reason; /* "sequence", "sink", "kernel", ...: a string literal */
};

struct event_restart {
    uint32_t previous; /* last sequence seen before */
    uint32_t sequence;
};

struct event_anomaly {
    const char *reason; /* a string literal: owner write-offset buffer-size magic ... */
    uint64_t offset;    /* of the field; for msg-size of the record */
    uint64_t value;
};

struct event_batch {
    const char *file;   /* as the user named it; NULL live */
    const char *status; /* a string literal: ok empty bad-magic link-down */
    bool release;
    uint32_t torn_header_bytes;
};

enum core_state {
    CORE_UNKNOWN,
    CORE_HALTED,
    CORE_RUNNING,
    CORE_RESET,
    CORE_LOCKUP,
    CORE_UNPOWERED,
};
const char *core_state_name(enum core_state state);

enum halt_reason {
    HALT_REASON_NONE, /* JSON null */
    HALT_REASON_REQUEST,
    HALT_REASON_BREAKPOINT,
    HALT_REASON_WATCHPOINT,
    HALT_REASON_VECTOR_CATCH,
    HALT_REASON_STEP,
    HALT_REASON_CROSS_TRIGGER,
    HALT_REASON_FAULT,
};
const char *halt_reason_name(enum halt_reason reason);

enum group_mechanism {
    GROUP_MECHANISM_NONE,
    GROUP_MECHANISM_CTI,
    GROUP_MECHANISM_SOFTWARE,
    GROUP_MECHANISM_STUB,
    GROUP_MECHANISM_SEQUENCE,
};
const char *group_mechanism_name(enum group_mechanism mechanism);

struct event_core {
    const char *name;
    enum core_state state;
    enum halt_reason reason; /* halt only */
    bool first;              /* halt only: this core stopped first (several may have) */
    bool restarted;          /* run only: proven to have left debug state */
    uint32_t pc;             /* halt only, when pc_known */
    bool pc_known;
};

struct event_halt { /* also used for EVENT_RUN */
    enum group_mechanism mechanism;
    int64_t skew_ns;       /* EVENT_NO_TIME where it cannot be measured */
    int64_t skew_error_ns; /* likewise */
    size_t core_count;
    struct event_core cores[EVENT_MAX_CORES];
};

struct event_clock {
    const char *domain;
    int64_t domain_time; /* ns on the domain's own scale, 64-bit, unwrapped; host time is event.host_ns */
};

struct event_link {
    const char *state; /* a string literal: up down reset */
    const char *message;
};

struct event_marker {
    const char *text;
};

struct event_access {
    bool write;
    const char *space; /* a string literal: mem ap dp */
    uint32_t ap;
    uint64_t address;
    uint8_t size;
    uint64_t value;
};

struct event {
    enum event_kind kind;
    const char *stream; /* which source; never NULL */
    const char *core;   /* NULL where it is not known */
    int64_t host_ns;    /* host_clock time, or EVENT_NO_TIME */
    int64_t target_ns;  /* the target's own clock, unwrapped, or EVENT_NO_TIME */
    union {
        struct event_log log;
        struct event_gap gap;
        struct event_restart restart;
        struct event_anomaly anomaly;
        struct event_batch batch;
        struct profile_packet profile;
        struct profile_counters counters;
        struct profile_maps maps;
        struct profile_reject reject;
        struct event_halt halt; /* EVENT_HALT and EVENT_RUN */
        struct event_clock clock;
        struct event_link link;
        struct event_marker marker;
        struct event_access access;
    };
};

/* An event of `kind` on `stream` with no times and everything else zero. */
struct event event_make(enum event_kind kind, const char *stream);

/* A deep copy in one allocation, NULL when memory is out; event_free frees it (NULL is allowed). */
struct event *event_clone(const struct event *event);
void event_free(struct event *event);

#endif
