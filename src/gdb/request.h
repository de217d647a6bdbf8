/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a packet from gdb asks for, as a struct: every field checked, numbers bounded, data decoded. GDB
 * manual, appendix "Remote Protocol"; cross-trigger sheet 10.1. Pure: bytes only.
 *
 * Must not answer, and must not know cores: a thread here is a number. What is not known here is answered
 * with an empty packet, so that gdb goes on without it.
 */
#ifndef CORRAL_GDB_REQUEST_H
#define CORRAL_GDB_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gdb_request_kind {
    GDB_UNKNOWN,   /* to be answered with an empty packet */
    GDB_MALFORMED, /* known, but it makes no sense: `fault` says why; answered with an error */

    GDB_SUPPORTED,      /* qSupported: .supported */
    GDB_NO_ACK,         /* QStartNoAckMode */
    GDB_EXTENDED,       /* ! */
    GDB_STOP_REASON,    /* ? */
    GDB_SELECT_THREAD,  /* Hg, Hc: .select */
    GDB_THREAD_ALIVE,   /* T: .thread */
    GDB_CURRENT_THREAD, /* qC */
    GDB_FIRST_THREADS,  /* qfThreadInfo */
    GDB_NEXT_THREADS,   /* qsThreadInfo */
    GDB_THREAD_INFO,    /* qThreadExtraInfo: .thread */
    GDB_ATTACHED,       /* qAttached */
    GDB_TRACE_STATUS,   /* qTStatus */
    GDB_SYMBOL,         /* qSymbol:: */
    GDB_XFER_READ,      /* qXfer:OBJECT:read:ANNEX:OFFSET,LENGTH: .xfer */
    GDB_COMMAND,        /* qRcmd: .text, decoded */
    GDB_CRC,            /* qCRC: .memory */

    GDB_READ_REGISTERS,  /* g */
    GDB_WRITE_REGISTERS, /* G: .data */
    GDB_READ_REGISTER,   /* p: .number */
    GDB_WRITE_REGISTER,  /* P: .number, .data */
    GDB_READ_MEMORY,     /* m: .memory */
    GDB_WRITE_MEMORY,    /* M or X: .memory, .data */

    GDB_RESUME_ACTIONS, /* vCont? */
    GDB_RESUME,         /* vCont, c, C, s, S: .actions */
    GDB_BREAKPOINT,     /* Z or z: .breakpoint */

    GDB_DETACH,      /* D */
    GDB_KILL,        /* k or vKill */
    GDB_RESTART,     /* R */
    GDB_RUN,         /* vRun */
    GDB_ATTACH,      /* vAttach */
    GDB_FLASH_ERASE, /* vFlashErase: .memory */
    GDB_FLASH_WRITE, /* vFlashWrite: .memory (length 0), .data */
    GDB_FLASH_DONE,  /* vFlashDone */
};

/* Thread numbers of packets: gdb writes -1 for all and 0 for any. */
#define GDB_THREAD_ALL (-1)
#define GDB_THREAD_ANY 0

enum gdb_action_kind { GDB_CONTINUE, GDB_STEP, GDB_RANGE_STEP, GDB_STOP };

/* One action of a resume packet. For each thread the leftmost that matches it counts. */
struct gdb_action {
    enum gdb_action_kind kind;
    unsigned signal;     /* of C and S; 0 = none. A core has no signals: it is not delivered */
    int64_t thread;      /* GDB_THREAD_ALL where none was named */
    uint64_t start, end; /* GDB_RANGE_STEP: go on stepping while start <= pc < end */
    bool address_set;    /* the old forms c and s: go on from `address` */
    uint64_t address;
};

#define GDB_ACTIONS_MAX 32

/* The stub features that gdb offers (qSupported) and that make a difference to us. */
struct gdb_supported {
    bool swbreak, hwbreak, multiprocess, error_message;
};

struct gdb_request {
    enum gdb_request_kind kind;
    const char *fault; /* GDB_MALFORMED: a sentence; a string literal */
    union {
        struct gdb_supported supported;
        struct {
            char operation; /* 'g' or 'c' */
            int64_t thread;
        } select;
        int64_t thread;
        struct {
            const char *object, *annex; /* in the payload, ended by NULs */
            uint64_t offset, length;
        } xfer;
        const char *text; /* ended by a NUL; none inside */
        struct {
            struct gdb_action list[GDB_ACTIONS_MAX];
            size_t count;
            bool old_form; /* c, C, s, S: means the thread of Hc */
        } actions;
        struct {
            bool insert;
            unsigned type; /* 0 software, 1 hardware, 2 write, 3 read, 4 access watchpoint */
            uint64_t address;
            uint64_t kind; /* breakpoints: 2, 3 or 4 (Thumb); watchpoints: bytes */
        } breakpoint;
        struct {
            uint64_t address, length;
        } memory;
        uint64_t number;
    };
    /* Decoded, in the payload; NULL where the request has none. */
    const uint8_t *data;
    size_t data_size;
};

/*
 * Parse a packet's payload, which is changed: data and texts are decoded in place, and `*r` points into it.
 * `payload` has a NUL at [size].
 */
void gdb_request_parse(struct gdb_request *r, char *payload, size_t size);

#endif
