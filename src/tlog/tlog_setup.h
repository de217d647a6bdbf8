/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Giving the firmware a log buffer, and taking it back: SETUP and RELEASE over the message queue. The
 * firmware-log sheet, sections 2 and 6, section 8 cases 34, 35, 37, 38. The records are the consumer's
 * business (consumer.h).
 *
 * Only for a device that nobody else owns: a second SETUP takes the stream away from the first in silence.
 * Owner thread of the link only.
 */
#ifndef CORRAL_TLOG_TLOG_SETUP_H
#define CORRAL_TLOG_TLOG_SETUP_H

#include "link/link.h"
#include "tlog/arc_queue.h"

struct tlog_setup;

struct tlog_setup_options {
    uint32_t ap;
    uint64_t address;               /* of the buffer, as link and firmware see it */
    uint32_t size;                  /* bytes */
    uint64_t scratch, doorbell;     /* arc_queue.h */
    uint64_t valid_base, valid_end; /* likewise */
    unsigned queue;
    int64_t response_ns; /* 0 = ARC_RESPONSE_NS */
};

enum tlog_setup_state {
    TLOG_SETUP_OFF,         /* not tried yet, or released */
    TLOG_SETUP_ACTIVE,      /* the firmware writes to the buffer */
    TLOG_SETUP_NOT_READY,   /* the firmware has no message queue yet */
    TLOG_SETUP_UNSUPPORTED, /* it does not know the log: nothing to complain about */
    TLOG_SETUP_REFUSED,     /* tlog_setup_answer says why */
    TLOG_SETUP_BUSY,        /* it was busy each time */
    TLOG_SETUP_UNKNOWN,     /* no answer: it may be active; the buffer must not be used for anything else */
    TLOG_SETUP_DEAD,        /* all ones */
    TLOG_SETUP_BAD_QUEUE,   /* what is there cannot be a queue */
    TLOG_SETUP_BAD_MAGIC,   /* it agreed, but its header is not in the buffer */
    TLOG_SETUP_BAD_VERSION, /* it agreed on a version that is not known here */
};
/* "active", "not-ready", ...: stable names. Never NULL. */
const char *tlog_setup_state_name(enum tlog_setup_state state);

/*
 * May a buffer of `size` bytes at `address` be given to a firmware? CORRAL_ERR_USAGE with the reason: size
 * below 29, above 1 MiB or not a multiple of 4, address 0 or not a multiple of 4, across a multiple of 16
 * MiB.
 */
enum corral_err tlog_setup_check(uint64_t address, uint32_t size, struct diag *d);

/* NULL with *d set. Touches nothing yet. */
struct tlog_setup *tlog_setup_new(const struct tlog_setup_options *options, struct diag *d);
void tlog_setup_free(struct tlog_setup *s); /* NULL is allowed; does not RELEASE */

/* A sentence about a size that works, but badly (below 4112 records are cut all the time), or NULL. */
const char *tlog_setup_warning(const struct tlog_setup *s);

/* Is the firmware's message queue there? One word is read. */
enum corral_err tlog_setup_ready(struct tlog_setup *s, struct link *link, bool *ready, struct diag *d);

/*
 * Clear the buffer's header, SETUP, and check what the firmware then wrote. CORRAL_OK exactly when the state
 * is TLOG_SETUP_ACTIVE; else the state tells and *d says it in a sentence. Busy is tried again a few times.
 */
enum corral_err tlog_setup_run(struct tlog_setup *s, struct link *link, struct diag *d);

/* Has the firmware been started again since it answered SETUP, with yes or no (so that tlog_setup_run is
 * due)? A few words are read. Told once: the state is TLOG_SETUP_OFF then. */
enum corral_err tlog_setup_restarted(struct tlog_setup *s, struct link *link, bool *restarted,
                                     struct diag *d);

/* RELEASE, where SETUP did or may have succeeded. The last batch may still be in the buffer: poll once more.
 * After an error the firmware may go on writing. */
enum corral_err tlog_setup_release(struct tlog_setup *s, struct link *link, struct diag *d);

enum tlog_setup_state tlog_setup_state(const struct tlog_setup *s);
/* Word 0 of the last answer to SETUP; all ones when none came. */
uint32_t tlog_setup_answer(const struct tlog_setup *s);

#endif
