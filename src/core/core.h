/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One core as an object: halt, resume, step, registers, breakpoints, reason. Back ends fill struct core_ops.
 * A core does not know of other cores. Owner thread of the link only.
 */
#ifndef CORRAL_CORE_CORE_H
#define CORRAL_CORE_CORE_H

#include "coresight/cti_driver.h"
#include "event/event.h"
#include "link/link.h"

struct core;

/* A snapshot of one core, read from the hardware (never from a cache). */
struct core_status {
    enum core_state state;
    enum halt_reason reason; /* while halted */
    uint32_t dfsr;           /* reason bits as read, before they were cleared (Cortex-M) */
    bool asleep;
    bool pc_known;
    uint32_t pc;
};

struct core_ops {
    const char *type; /* "cortex-m" */
    /* Request a halt and return at once; core_wait_halted waits. */
    enum corral_err (*request_halt)(struct core *c, struct diag *d);
    /* Read state; with `reason`, also DFSR (which is cleared by writing back what was read) and pc. */
    enum corral_err (*read_status)(struct core *c, bool reason, struct core_status *status, struct diag *d);
    /* Make a halted core ready to leave debug state by an outside restart: no step, interrupts unmasked,
     * reason bits cleared. */
    enum corral_err (*prepare_run)(struct core *c, struct diag *d);
    /* Resume by the core's own debug register. */
    enum corral_err (*resume)(struct core *c, struct diag *d);
    /* Prove that the core left debug state since prepare_run (sheet 3.5). */
    enum corral_err (*confirm_run)(struct core *c, bool *restarted, struct diag *d);
    enum corral_err (*step)(struct core *c, struct diag *d);
    enum corral_err (*read_register)(struct core *c, unsigned number, uint32_t *value, struct diag *d);
    enum corral_err (*write_register)(struct core *c, unsigned number, uint32_t value, struct diag *d);
    enum corral_err (*set_breakpoint)(struct core *c, uint32_t address, struct diag *d);
    enum corral_err (*clear_breakpoint)(struct core *c, uint32_t address, struct diag *d);
    /* The free-running cycle count that stands still in debug state. CORRAL_ERR_UNSUPPORTED without one. */
    enum corral_err (*read_cycles)(struct core *c, uint32_t *cycles, struct diag *d);
    void (*free)(struct core *c);
    /* As read_status with `reason`, but changes nothing: DFSR is not cleared. */
    enum corral_err (*peek_status)(struct core *c, struct core_status *status, struct diag *d);
};

/* A Cortex-M core on MEM-AP `ap` of `link`. Enables halting debug (DHCSR.C_DEBUGEN) without halting. `cti`
 * may be NULL; it becomes the core's, but stays the caller's on failure. `hz` is the core clock, 0 where it
 * is not known. `name` is copied. */
struct core *core_cortex_m_open(struct link *link, uint32_t ap, const char *name, uint32_t hz,
                                struct cti *cti, struct diag *d);
void core_close(struct core *c); /* leaves the target as it is; NULL is allowed */

const char *core_name(const struct core *c);
uint32_t core_hz(const struct core *c);
struct cti *core_cti(struct core *c); /* NULL when it has none */
struct link *core_link(struct core *c);
uint32_t core_ap(const struct core *c);

#define CORE_WAIT_NS (1000 * NS_PER_MS) /* default bound for a core to halt or restart */

enum corral_err core_request_halt(struct core *c, struct diag *d);
/* Polls until the core is halted, at most `wait_ns` of host_clock time. */
enum corral_err core_wait_halted(struct core *c, int64_t wait_ns, struct diag *d);
enum corral_err core_read_status(struct core *c, bool reason, struct core_status *status, struct diag *d);
enum corral_err core_peek_status(struct core *c, struct core_status *status, struct diag *d);
enum corral_err core_prepare_run(struct core *c, struct diag *d);
enum corral_err core_resume(struct core *c, struct diag *d);
enum corral_err core_confirm_run(struct core *c, bool *restarted, struct diag *d);
enum corral_err core_step(struct core *c, struct diag *d);
enum corral_err core_read_register(struct core *c, unsigned number, uint32_t *value, struct diag *d);
enum corral_err core_write_register(struct core *c, unsigned number, uint32_t value, struct diag *d);
enum corral_err core_set_breakpoint(struct core *c, uint32_t address, struct diag *d);
enum corral_err core_clear_breakpoint(struct core *c, uint32_t address, struct diag *d);
enum corral_err core_read_cycles(struct core *c, uint32_t *cycles, struct diag *d);

#endif
