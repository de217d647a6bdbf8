/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer of the firmware log: staged records handed to the host through one shared buffer. Firmware-log
 * sheet 1 (formats) and 3 (state machine), in two modes.
 *
 * Careful, with the robust choices of the sheet's section 6: the buffer is free only when owner is 0; a batch
 * is cut between records and the rest stays; nothing is dropped while it can be kept; a drop is counted,
 * leaves a hole in the sequence and is told in a record; no store ever lands past the buffer, whatever its
 * size; the version byte survives the hand-off; in a panic the last lines go before the first ones.
 *
 * Compatible (tlog_compatible.c): what released firmware does, drop for drop, for tests of hosts.
 *
 * No heap, no library, no state of its own. Not re-entrant: the caller serialises the calls (one context, or
 * a lock, or masked interrupts). No call takes longer than copying the staging buffer once out and once down.
 *
 * docs/target.md has the sizes of both modes, and how to build it into a firmware. Stack about 200 bytes and
 * what the port's functions take. A compiler may turn its loops into calls of memcpy and memset: supply them,
 * or build it with -fno-builtin.
 */
#ifndef CORRAL_TARGET_TLOG_PRODUCER_H
#define CORRAL_TARGET_TLOG_PRODUCER_H

#include "target/port.h"

#define TLOG_PRODUCER_MAGIC         0x544C4F47u
#define TLOG_PRODUCER_BUFFER_HEADER 16u
#define TLOG_PRODUCER_RECORD_HEADER 12u
#define TLOG_PRODUCER_RECORD_MIN    13u   /* an empty text still has its NUL */
#define TLOG_PRODUCER_STAGING       4096u /* the usual staging size */
/* Flush when fewer bytes than a usual record are free: 12 and 256 of text. */
#define TLOG_PRODUCER_NEAR 268u
/* A smaller buffer cannot take even an empty record in whole words. */
#define TLOG_PRODUCER_BUFFER_MIN 32u
/* The least size that released firmware takes: header, record header and a NUL. */
#define TLOG_PRODUCER_COMPATIBLE_MIN 29u

enum tlog_producer_level { TLOG_NONE = 0, TLOG_ERR = 1, TLOG_WRN = 2, TLOG_INF = 3, TLOG_DBG = 4 };
enum tlog_producer_source { TLOG_SMC = 0, TLOG_DMC = 1 };

/* How the producer behaves where the sheet's section 3.4 lists what released firmware does. */
enum tlog_producer_mode { TLOG_PRODUCER_CAREFUL = 0, TLOG_PRODUCER_COMPATIBLE = 1 };

/* Which modes are built: 1 careful, 2 compatible (then with tlog_compatible.c), 3 both. */
#ifndef TLOG_PRODUCER_MODES
#define TLOG_PRODUCER_MODES 1
#endif

struct tlog_producer_config {
    const struct target_port *port;
    uint8_t *staging; /* any size: a record that is too long for it is cut, one that cannot fit is dropped */
    uint32_t staging_size;
    uint8_t mode;          /* enum tlog_producer_mode */
    uint8_t version;       /* protocol version for the shared header: 0 */
    uint8_t notice_source; /* source of the producer's own "N messages dropped" */
    bool flush_on_error;   /* try to hand over right after each error record */
    /* Compatible mode: so many bytes past the buffer may be overwritten, as released firmware does when the
     * buffer's size is no multiple of 4: 3 gives the whole fault, 0 to 2 what fits. Else n is rounded down.
     */
    uint8_t slack;
    /* Careful mode, in a panic: reads of an owner byte that says "host" before a hand-over is given up. */
    uint32_t panic_polls;
};

/* Each counts since init, modulo 2^32. logged + notices == delivered + torn + dropped + still staged. */
struct tlog_producer_counts {
    uint32_t logged;    /* calls of tlog_producer_log, and what tlog_producer_lost was told */
    uint32_t notices;   /* "N messages dropped" records */
    uint32_t delivered; /* records handed over, notices included */
    uint32_t dropped;   /* records lost, each with its sequence number used up */
    uint32_t cut;       /* texts shortened to fit */
    uint32_t batches;
    uint32_t busy;      /* flushes that found the buffer with the host */
    uint32_t bad_owner; /* flushes that found an owner other than 0 and 1 */
    uint32_t bad_magic; /* flushes that found the header destroyed, or no window */
    uint32_t torn;      /* compatible mode: records whose end was cut off at a hand-over */
};

/* All state; the members are the producer's own. */
struct tlog_producer {
    const struct target_port *port;
    uint8_t *staging;
    uint32_t staging_size;
    uint32_t used;    /* staged bytes: whole records */
    uint64_t address; /* of the shared buffer */
    uint32_t room;    /* payload bytes usable there, in careful mode a multiple of 4; 0 = no host */
    uint32_t sequence;
    uint32_t unreported; /* drops since the last notice */
    uint8_t mode, version, notice_source, slack;
    bool flush_on_error, panicking;
    uint32_t panic_polls;
    struct tlog_producer_counts counts;
};

/* False when the port lacks read32, write32 or now, there is no staging memory, slack is above 3, or the mode
 * is not built in. */
bool tlog_producer_init(struct tlog_producer *p, const struct tlog_producer_config *config);

/*
 * SETUP: adopt the shared buffer at `address` and write its header. Records staged so far wait for the first
 * flush. False, and the old buffer stays in use, when address is 0 or not a multiple of 4, the size is below
 * TLOG_PRODUCER_BUFFER_MIN, or the window cannot be mapped. Bytes past the last whole word are left alone.
 *
 * Compatible mode takes any size from TLOG_PRODUCER_COMPATIBLE_MIN on, and address 0. Released firmware takes
 * an unaligned address too; the port's accesses cannot.
 */
bool tlog_producer_attach(struct tlog_producer *p, uint64_t address, uint32_t size);

/* RELEASE: forget the buffer without touching it. Staged records wait for the next host. */
void tlog_producer_detach(struct tlog_producer *p);

static inline bool tlog_producer_attached(const struct tlog_producer *p)
{
    return p->room != 0;
}

/*
 * Append one record, `length` bytes of text without NUL; no byte of it is interpreted. A text longer than the
 * room left is cut to an exact prefix. False when not even an empty record fits: the record is lost, counted,
 * and its sequence number skipped.
 */
bool tlog_producer_log(struct tlog_producer *p, uint8_t level, uint8_t source, const char *text,
                       uint32_t length);

/* `n` messages never came here: a lock was not to be had, a queue before this one was full. They use up their
 * sequence numbers and count as dropped. */
void tlog_producer_lost(struct tlog_producer *p, uint32_t n);

/* Hand over what is staged if the buffer is free. True when a batch went out. Call it periodically. */
bool tlog_producer_tick(struct tlog_producer *p);

/*
 * The program is about to end. Takes no lock, and may be called out of a fault that interrupted the producer.
 * From now on each record is handed over at once if that can be, with what was staged before it, and where
 * there is no room the oldest staged record goes instead of the newest. Call tlog_producer_tick after the
 * last record, or without one, and as long as the program can.
 *
 * Compatible mode: one flush here, and records logged afterwards are only staged.
 */
void tlog_producer_panic(struct tlog_producer *p);

#endif
