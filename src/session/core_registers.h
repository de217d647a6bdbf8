/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of one core of a session, by name. Only while it is halted: nothing here halts unasked. */
#ifndef CORRAL_SESSION_CORE_REGISTERS_H
#define CORRAL_SESSION_CORE_REGISTERS_H

#include "session/session.h"

#define SESSION_REGISTERS_MOST 128

struct session_register {
    const char *name; /* the core's; lives as long as the session */
    unsigned bits;    /* that mean something */
    uint32_t value;
};

/* `names`, or all that the core has where name_count is 0, into `out` (room for SESSION_REGISTERS_MOST).
 * CORRAL_ERR_CORE_STATE says that the core is not halted, and what it is; CORRAL_ERR_USAGE names a register
 * that it does not have. */
enum corral_err session_read_registers(struct session *s, size_t core, const char *const *names,
                                       size_t name_count, struct session_register *out, size_t *count,
                                       struct diag *d);
enum corral_err session_write_register(struct session *s, size_t core, const char *name, uint32_t value,
                                       struct diag *d);
/* Halt this core alone and wait for it (bounded); *ran says that it was not halted before. */
enum corral_err session_halt_core(struct session *s, size_t core, bool *ran, struct diag *d);
/* Start this core alone, and prove it. */
enum corral_err session_run_core(struct session *s, size_t core, struct diag *d);

#endif
