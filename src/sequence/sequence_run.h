/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter: one sequence of a program, on whatever the caller makes of its accesses. Cross-trigger
 * sheet 4.2 (values), 4.3 (scope), 4.4 (control), 4.5 (atomic), 4.6, 4.7; the faults of sheet 6 are not
 * repeated.
 */
#ifndef CORRAL_SEQUENCE_SEQUENCE_RUN_H
#define CORRAL_SEQUENCE_SEQUENCE_RUN_H

#include <stdatomic.h>

#include "base/host_clock.h"
#include "sequence/sequence.h"

#define SEQUENCE_CALL_DEPTH 32 /* sequences calling sequences (case C23) */

/* Where an access goes: the variables __dp, __ap and __apid as they are then. */
struct sequence_port {
    uint64_t dp;
    bool by_id; /* the file has accessport elements: `id` counts, else `ap` */
    uint64_t ap, id;
};

enum sequence_access_op {
    SEQUENCE_MEM,           /* Read8 .. Write64 */
    SEQUENCE_AP,            /* ReadAP, WriteAP */
    SEQUENCE_AP_SPACE,      /* ReadAccessAP, WriteAccessAP: registers in the AP address space of the DP */
    SEQUENCE_DP,            /* ReadDP, WriteDP */
    SEQUENCE_ABORT,         /* DAP_WriteABORT */
    SEQUENCE_PINS,          /* DAP_SWJ_Pins: value = out; address = select | wait_us << 8; result = pins */
    SEQUENCE_CLOCK,         /* DAP_SWJ_Clock: value = Hz */
    SEQUENCE_SWJ_SEQUENCE,  /* DAP_SWJ_Sequence: size = bits 1..64, value = them, LSB first */
    SEQUENCE_JTAG_SEQUENCE, /* DAP_JTAG_Sequence: size = cycles 1..64, address = tms, value = tdi, result =
                               tdo */
    SEQUENCE_DELAY,         /* DAP_Delay: value = microseconds, after all before it has reached the target */
};

struct sequence_access {
    enum sequence_access_op op;
    bool write;    /* true of all that is not a read: of wires and delays too */
    unsigned size; /* MEM: bytes 1, 2, 4, 8; AP, DP: 4 */
    struct sequence_port port;
    uint64_t address;
    uint64_t value; /* written; or out: what was read. Reads of `size` bytes; pins 32 bits (case C40) */
};

enum sequence_message { SEQUENCE_INFO, SEQUENCE_WARN, SEQUENCE_FATAL };

#define SEQUENCE_QUERY_VALUE 4 /* `type` of query for QueryValue; those of Query are 0 to 3 */

/* What a sequence is run on. Every function returns within a bounded time. */
struct sequence_target {
    /* Do the accesses in this order, one uninterrupted batch where `atomic` (sheet 4.5). One that cannot be
     * done at all is refused before anything is sent: CORRAL_ERR_UNSUPPORTED. On failure sticky errors are
     * cleared, and *done says how many went well. */
    enum corral_err (*access)(void *ctx, struct sequence_access *list, size_t count, bool atomic,
                              size_t *done, struct diag *d);
    /* Message(); text is safe to show. May be NULL. */
    void (*message)(void *ctx, enum sequence_message kind, const char *text);
    /* Query() and QueryValue() (type SEQUENCE_QUERY_VALUE): *answer holds the default. NULL = batch: the
     * default is the answer. */
    enum corral_err (*query)(void *ctx, unsigned type, const char *text, uint64_t *answer, struct diag *d);
    /* LoadDebugInfo(): 0 or 1. NULL = 1, with a message that it is not supported. */
    uint64_t (*load_debug_info)(void *ctx, const char *file);
};

/* Values of the predefined variables when it begins (sheet 4.6). */
struct sequence_start {
    uint64_t dp, ap, apid;
    uint64_t connection, protocol, traceout, traceclockin, traceclockout;
    uint64_t flash_op, flash_addr, flash_len, flash_arg;
    uint64_t options; /* the seed's proposal: bit 0 = simultaneous run and halt */
};

struct sequence_run {
    const struct sequence_target *target;
    void *ctx;
    struct host_clock *clock;
    const char *pname; /* the processor it is run for; NULL or "" = none named */
    struct sequence_start start;
    const atomic_bool *stop; /* may be NULL; when true the run ends with CORRAL_ERR_INTERRUPTED */
    int64_t timeout_ns;      /* over all; 0 or less = SEQUENCE_TIMEOUT_NS. Then CORRAL_ERR_TIMEOUT */
    /* Called for what is odd at run time (an unknown specifier ...); the sentence begins with FILE:LINE. May
     * be NULL. */
    void (*warn)(void *ctx, const char *sentence);
};
#define SEQUENCE_TIMEOUT_NS (60 * NS_PER_S)

struct sequence_result {
    bool ran;        /* false: disabled, or predefined without a default */
    uint64_t result; /* __Result at the end: 0, or 2^64 - 1 */
    uint64_t statements, accesses;
};

/*
 * CORRAL_OK when it came to its end (with __errorcontrol also past failed accesses: see result). Otherwise *d
 * has the words, `FILE:LINE:COLUMN in NAME` as its object. CORRAL_ERR_USAGE: no such sequence;
 * CORRAL_ERR_FORMAT: it, or one it calls, has errors; CORRAL_ERR_SEQUENCE: it ended itself (Message 2, a
 * division by 0, ...); the target's own code where an access failed.
 */
enum corral_err sequence_run(const struct sequence_program *program, const char *name,
                             const struct sequence_run *run, struct sequence_result *result, struct diag *d);

#endif
