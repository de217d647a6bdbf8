/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands to an OpenOCD's Tcl port and their answers. Knows framing, errors and processes, not accesses. For
 * openocd.c only. What failed once stays dead.
 */
#ifndef CORRAL_LINK_OPENOCD_RPC_H
#define CORRAL_LINK_OPENOCD_RPC_H

#include "link/link_tcp.h"

#define OPENOCD_SCRIPT_MAX (24u << 10)
#define OPENOCD_ANSWER_MAX (64u << 10)

struct openocd_rpc;

/* "HOST:PORT" or "spawn:CFG"; NULL with *d set. A spawned one has `setup` run behind CFG. */
struct openocd_rpc *openocd_rpc_open(const char *words, const char *setup, int64_t limit, struct diag *d);
/* No wait goes beyond `limit` (link_tcp_now) from now on; INT64_MAX = its own bounds only. */
void openocd_rpc_set_limit(struct openocd_rpc *r, int64_t limit);
/* How long an answer may take from now on, in ms, for commands that are slow by nature; 0 = as usual. */
void openocd_rpc_set_patience(struct openocd_rpc *r, int ms);
void openocd_rpc_close(struct openocd_rpc *r); /* a spawned OpenOCD ends and is reaped; NULL is allowed */

/*
 * Run `script`, which leaves its result in the Tcl variable corral_r, whether or not it fails half way. Both
 * texts are OpenOCD's: not checked, NUL-terminated, borrowed until the next call; *error is NULL when the
 * script succeeded.
 */
enum corral_err openocd_rpc_run(struct openocd_rpc *r, const char *script, const char **result,
                                const char **error, struct diag *d);
const char *openocd_rpc_name(const struct openocd_rpc *r); /* escaped */

#endif
