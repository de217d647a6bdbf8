/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pack's debug sequences on a link: which access port a sequence means, what its accesses are there, and
 * the order of connecting and leaving. Cross-trigger sheet 4.6 to 4.9; case C37.
 *
 * Everything but _new, _free and the questions runs on the link's thread.
 */
#ifndef CORRAL_SESSION_SEQUENCES_H
#define CORRAL_SESSION_SEQUENCES_H

#include "event/sink.h"
#include "link/link.h"
#include "pack/pack.h"
#include "sequence/sequence_run.h"

struct sequences;

struct sequences_options {
    const struct pack_device *device;       /* must outlive it */
    const struct sequence_program *program; /* of the device; likewise */
    struct event_bus *bus;                  /* NULL = none; else accesses and messages are events there */
    bool trace;                             /* each access an event */
    bool sync;                              /* __options bit 0 */
    enum pack_protocol protocol; /* of the link; PACK_PROTOCOL_ANY = what the device says, else SWD */
    uint64_t connection;         /* __connection: 1 debug, 2 flash, ... (sheet 4.6) */
    bool tolerant;               /* connecting and leaving go on past a sequence that failed, and say so */
    const atomic_bool *stop;     /* may be NULL */
    int64_t timeout_ns;          /* over one sequence; 0 or less = the interpreter's own */
    /* A sentence for people: what Message() says, what is odd at run time, what was left out. May be NULL. */
    void (*say)(void *ctx, enum sequence_message kind, const char *sentence);
    void *ctx;
};
#define SEQUENCES_STREAM "sequence"

/* NULL with *d set: memory. */
struct sequences *sequences_new(const struct sequences_options *options, struct diag *d);
void sequences_free(struct sequences *s); /* NULL is allowed */

/* What is spoken on a link of these words, where --protocol says `asked`. */
enum pack_protocol sequences_protocol(const char *link_words, enum link_protocol asked);
/* The processor that is meant where a sequence is for all of them: start-pname, else the first. NULL without
 * one. */
const struct pack_processor *sequences_start_processor(const struct pack_device *device);
/*
 * An access port on a link: its number (ADIv5), base address (ADIv6), or LINK_NESTED_FIRST and up for one
 * that is behind another. False for an __apid that is not declared, or whose address no link can reach.
 */
bool sequences_ap_of_id(const struct pack_device *device, uint32_t id, uint32_t *ap);
bool sequences_ap_of(const struct pack_device *device, const struct pack_processor *processor, uint32_t *ap);

/* From now on what is meant for access port `ap` goes to `other`: where one target stands in for another.
 * CORRAL_ERR_LIMIT when there are too many. */
enum corral_err sequences_stand_in(struct sequences *s, uint32_t ap, uint32_t other, struct diag *d);

/* One sequence for processor `pname` (NULL = the start processor). As sequence_run. */
enum corral_err sequences_run(struct sequences *s, struct link *link, const char *name, const char *pname,
                              struct sequence_result *result, struct diag *d);
/* Does the file itself have a usable sequence of this name for the processor? */
bool sequences_has(const struct sequences *s, const char *name, const char *pname);
void sequences_set_sync(struct sequences *s, bool on);
/* What is run from now on comes to its end, *stop or not: run control and leaving, which must not stop half
 * way. It is bounded in time all the same. */
void sequences_ignore_stop(struct sequences *s);

/*
 * DebugPortSetup, DebugPortStart of each debug port, DebugDeviceUnlock. Where the link's server owns the
 * wires (no LINK_CAP_RAW) the port is set up already: that is left to it, and said where the pack has its
 * own. A sequence with errors is left out, and that is said; one that fails is the result.
 */
enum corral_err sequences_connect(struct sequences *s, struct link *link, struct diag *d);
/* DebugCoreStop of processor `pname`, where the pack has one: what the default does, core_detach has done. */
enum corral_err sequences_stop_core(struct sequences *s, struct link *link, const char *pname,
                                    struct diag *d);
/* DebugPortStop. */
enum corral_err sequences_disconnect(struct sequences *s, struct link *link, struct diag *d);
/* As sequences_run, but one that has errors is left out and said; with `tolerant` one that fails, too. */
enum corral_err sequences_run_usable(struct sequences *s, struct link *link, const char *name,
                                     const char *pname, struct diag *d);

#endif
