/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The error codes of every room, and the exit code a command turns each into.
 *
 * Numbers are stable: they appear in JSON ("error":{"code":N,...}) and scripts compare them.
 * Each layer owns a range of twenty; new codes go at the end of a range.
 */
#ifndef CORRAL_BASE_ERR_H
#define CORRAL_BASE_ERR_H

enum corral_err {
    CORRAL_OK = 0,

    /* 1..19: any layer */
    CORRAL_ERR_FAILED = 1,      /* an operation failed and no better code fits */
    CORRAL_ERR_NO_MEMORY = 2,   /* an allocation failed */
    CORRAL_ERR_LIMIT = 3,       /* a documented limit was reached */
    CORRAL_ERR_USAGE = 4,       /* the caller's words are wrong: option, argument, value */
    CORRAL_ERR_IO = 5,          /* a host file or socket refused */
    CORRAL_ERR_INTERRUPTED = 6, /* a signal or a cancel ended it */
    CORRAL_ERR_TIMEOUT = 7,     /* a bounded wait ran out */
    CORRAL_ERR_UNSUPPORTED = 8, /* known, but not offered here */
    CORRAL_ERR_FORMAT = 9,      /* a file or packet is not what it claims to be */
    CORRAL_ERR_DATA_LOST = 10,  /* data was lost and the caller asked to fail on that */

    /* 20..39: session and corral.yml */
    CORRAL_ERR_CONFIG = 20, /* corral.yml says something it cannot mean */

    /* 40..59: link */
    CORRAL_ERR_LINK_DOWN = 40,     /* the probe or target went away, or was never there */
    CORRAL_ERR_LINK_FAULT = 41,    /* the target answered FAULT (bus error, sticky error) */
    CORRAL_ERR_LINK_WAIT = 42,     /* the target kept answering WAIT */
    CORRAL_ERR_LINK_PROTOCOL = 43, /* an answer that the wire protocol does not allow */

    /* 60..79: coresight */
    CORRAL_ERR_NO_POWER = 60,     /* debug power-up was not acknowledged */
    CORRAL_ERR_NO_AP = 61,        /* no such access port */
    CORRAL_ERR_ROM_TABLE = 62,    /* a ROM table that cannot be walked */
    CORRAL_ERR_CTI_UNUSABLE = 63, /* DEVID without channels, or a write did not stick */
    CORRAL_ERR_CTI_STUCK = 64,    /* a trigger output did not drop after acknowledge */
    CORRAL_ERR_CTI_PARTIAL = 65,  /* some of a CTI's registers took what was written, others did not */

    /* 80..99: core */
    CORRAL_ERR_NO_CORE = 80,      /* no such core */
    CORRAL_ERR_CORE_STATE = 81,   /* the core is in the wrong state for this */
    CORRAL_ERR_CORE_NO_HALT = 82, /* the core did not halt in time */
    CORRAL_ERR_CORE_NO_RUN = 83,  /* the core did not restart in time */

    /* 100..119: group */
    CORRAL_ERR_NO_CROSS_TRIGGER = 100, /* the group cannot be cross-triggered; the reason is in the message */

    /* 120..139: tlog */
    CORRAL_ERR_TLOG_MAGIC = 120,   /* the buffer does not carry the TLOG magic */
    CORRAL_ERR_TLOG_QUEUE = 121,   /* the message queue is not one, or does not behave like one */
    CORRAL_ERR_TLOG_REFUSED = 122, /* the firmware refused SETUP or RELEASE */

    /* 140..159: prof */
    CORRAL_ERR_PROF_PORT = 140, /* the UDP port cannot be had */

    /* 160..179: symbol */
    CORRAL_ERR_ELF = 160, /* not an ELF file, or one that cannot be read */
    CORRAL_ERR_NO_SYMBOL = 161,

    /* 180..199: capture and export */
    CORRAL_ERR_CAPTURE = 180, /* a capture file that cannot be read */

    /* 200..219: sequence and pack */
    CORRAL_ERR_SEQUENCE = 200, /* a debug sequence ended itself: Message(2, ...), a division by 0 */
};

/* The code's stable short name ("link-down"), for JSON. Never NULL; "unknown" for a number not listed. */
const char *corral_err_name(enum corral_err err);

/* The process exit code of INTERFACE.md for this error: 0, 1, 2, 3, 4, 5 or 130. */
int corral_err_exit_code(enum corral_err err);

#endif
