/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pack's debug sequences on a session's link: which processor is which core, which access port a sequence
 * means, and the order of sheet 4.9. Cross-trigger sheet 4.6 to 4.9, 13.
 *
 * Everything but _new and _free runs on the link's thread.
 */
#ifndef CORRAL_SESSION_SEQUENCES_H
#define CORRAL_SESSION_SEQUENCES_H

#include "event/sink.h"
#include "link/link.h"
#include "pack/pack.h"
#include "sequence/sequence_run.h"

struct sequences;

struct sequences_options {
    const struct pack_device *device; /* must outlive it */
    struct sequence_program *program; /* of the device; likewise, and is changed by --var */
    struct event_bus *bus;            /* NULL = none; accesses and messages are events on stream "sequence" */
    bool trace;                       /* each access an event */
    bool sync;                        /* __options bit 0 */
    enum pack_protocol protocol;      /* of the link; PACK_PROTOCOL_ANY = what the device says, else SWD */
    uint64_t connection;              /* __connection: 1 debug, 2 flash; sheet 4.6 */
    const atomic_bool *stop;          /* may be NULL */
    int64_t timeout_ns;               /* over one sequence; 0 or less = the interpreter's own */
    /* A sentence for people: Message(0 and 1), what is odd at run time. On the link's thread. May be NULL. */
    void (*say)(void *ctx, enum sequence_message kind, const char *sentence);
    void *ctx;
};
struct sequences *sequences_new(const struct sequences_options *options, struct diag *d);
void sequences_free(struct sequences *s); /* NULL is allowed */

/* Access ports behind others get their numbers on this link (link_add_nested_ap). Before the first run. */
enum corral_err sequences_prepare(struct sequences *s, struct link *link, struct diag *d);
/* The AP of a processor on the link: a number (ADIv5) or base (ADIv6), or that of one behind another. False
 * for an __apid that is not declared. */
bool sequences_ap_of(const struct sequences *s, const struct pack_processor *processor, uint32_t *ap);

/* One sequence for processor `pname` (NULL = none named). As sequence_run. */
enum corral_err sequences_run(struct sequences *s, struct link *link, const char *name, const char *pname,
                              struct sequence_result *result, struct diag *d);
void sequences_set_sync(struct sequences *s, bool on);

/* DebugPortSetup, then DebugPortStart and DebugDeviceUnlock; a link whose server owns the port (openocd:,
 * gdb:) is left as it is, unless the pack itself has a sequence for it. */
enum corral_err sequences_connect(struct sequences *s, struct link *link, struct diag *d);
/* DebugCoreStart of each processor, then what of DebugCoreStop and DebugPortStop on leaving. */
enum corral_err sequences_start_cores(struct sequences *s, struct link *link, struct diag *d);
enum corral_err sequences_disconnect(struct sequences *s, struct link *link, struct diag *d);

#endif
