/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a target as a command sees it: elements of 1, 2 or 4 bytes through a core or an access port, and
 * addresses by name. Reads and writes while cores run; halts nothing.
 */
#ifndef CORRAL_SESSION_TARGET_MEMORY_H
#define CORRAL_SESSION_TARGET_MEMORY_H

#include "session/session.h"

#define SESSION_MEMORY_MOST (64u << 20) /* bytes in one go */

/* Through whose eyes memory is seen: core number `core` of the session, or an access port alone. */
struct session_view {
    bool by_ap;
    uint32_t ap; /* number (ADIv5) or base address (ADIv6) */
    size_t core; /* !by_ap */
};

/* Powers the debug port up and looks for nothing: enough for a view by access port. Instead of
 * session_connect; on a link without a debug port it does nothing. */
enum corral_err session_connect_port(struct session *s, struct diag *d);
/* The view of the session's first core (of those its options name); on a link that reaches memory only, that
 * memory. After session_connect. */
enum corral_err session_first_view(struct session *s, struct session_view *view, struct diag *d);

/*
 * "0x20000000", "NAME" or "NAME+OFFSET": a symbol of the program of the view's core. *size is that of the
 * symbol, 0 where there is none or the offset leaves it. CORRAL_ERR_USAGE, CORRAL_ERR_NO_SYMBOL.
 */
enum corral_err session_address(struct session *s, const struct session_view *view, const char *words,
                                uint64_t *address, uint64_t *size, struct diag *d);

/* `count` elements of `size` bytes (1, 2 or 4), from `address` on, which is a multiple of `size`. */
struct session_memory {
    struct session_view view;
    uint64_t address;
    unsigned size;
    uint32_t count;
};

/*
 * Into `out`, count * size bytes: as they lie in the target's memory (little-endian). *done says how many
 * elements were read, also when it fails: the one behind them is the one that could not be.
 * CORRAL_ERR_INTERRUPTED once *stop (may be NULL) is true.
 */
enum corral_err session_read_memory(struct session *s, const struct session_memory *m, uint8_t *out,
                                    uint32_t *done, const atomic_bool *stop, struct diag *d);
/* The other way. `verify`: what was written is read back, and the first element that differs is named in *d
 * (CORRAL_ERR_FAILED). */
enum corral_err session_write_memory(struct session *s, const struct session_memory *m, const uint8_t *in,
                                     bool verify, uint32_t *done, const atomic_bool *stop, struct diag *d);

/* One place that is looked at again and again. */
struct session_watched {
    uint64_t address;
    unsigned size;
    uint32_t value;
    bool known; /* else it could not be read this time, and `why` says so */
    struct diag why;
};
#define SESSION_WATCHED_MOST 64

/* All of them in one go, as near to each other in time as the link can. A place that answers with a fault is
 * told with the place; it is an error that nothing could be read, or that the link is gone. *host_ns is when.
 */
enum corral_err session_read_watched(struct session *s, const struct session_view *view,
                                     struct session_watched *list, size_t count, int64_t *host_ns,
                                     struct diag *d);

#endif
