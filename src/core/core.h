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

/* What became of one core in core_start_all. */
struct core_start {
    bool done; /* else it has not been tried: core_resume */
    enum corral_err err;
    struct diag why; /* with err */
};

/* What a state means, where its name alone does not say it. */
enum core_why {
    CORE_WHY_NONE,
    CORE_WHY_IN_RESET,       /* held in reset */
    CORE_WHY_LOCKUP,         /* two faults deep: it executes nothing any more */
    CORE_WHY_NO_POWER,       /* its debug registers answer with a bus fault */
    CORE_WHY_NO_CLOCK,       /* they do not answer, or it sleeps and a request does not reach it */
    CORE_WHY_DEBUG_DISABLED, /* DHCSR.C_DEBUGEN stays 0 (authentication), or its access port is disabled */
    CORE_WHY_STUB,           /* behind a gdb stub that does not tell */
};
/* How a sentence goes on after "it is": "held in reset"; "" for CORE_WHY_NONE. Never NULL. */
const char *core_why_text(enum core_why why);

/*
 * A snapshot of one core, read from the hardware (never from a cache). A core that cannot be asked (no power,
 * no clock) is told here as CORE_UNPOWERED or CORE_UNKNOWN with its `why`; reading the status then succeeds.
 */
struct core_status {
    enum core_state state;
    enum halt_reason reason; /* while halted */
    uint32_t dfsr;           /* reason bits as read, before they were cleared (Cortex-M) */
    bool asleep;
    bool pc_known;
    uint32_t pc;
    enum core_why why;
    /* Halted, but not where or by what the core says (with `reason` only): Cortex-M7 erratum 3092511, a
     * breakpoint that collided with an exception; r0p0 and r0p1: an interrupt was taken in a masked step.
     * To be resumed unseen, and in a group that it dragged along the whole group. */
    bool false_halt;
    bool debug_enabled; /* DHCSR.C_DEBUGEN reads 1 */
    uint32_t resets; /* how many resets were seen since the core was opened: compare, then look at its CTI */
};

enum core_arch { CORE_ARCH_UNKNOWN, CORE_ARCH_V6M, CORE_ARCH_V7M, CORE_ARCH_V8M_BASE, CORE_ARCH_V8M_MAIN };
const char *core_arch_name(enum core_arch arch); /* "Armv7-M", ...; never NULL */

struct core_info {
    enum core_arch arch;
    uint32_t cpuid;           /* 0 = not known */
    const char *part;         /* "Cortex-M7"; "" when it is not one that is known. A string literal */
    unsigned revision, patch; /* rNpM */
    unsigned breakpoints, watchpoints; /* comparators; 0 = none, or not known */
    unsigned breakpoint_version;       /* FPB 1 or 2; version 1 ends below 0x20000000 */
    bool has_cycle_counter;            /* DWT_CYCCNT */
    bool has_restart_flag;             /* DHCSR.S_RESTART_ST (v8-M) proves restarts */
    bool has_core_reset;               /* AIRCR.VECTRESET (v7-M) */
    bool has_security, has_fpu;
};

/* Numbers for core_read_register. 0..0x7F are DCRSR.REGSEL; those above are parts of register 20. */
enum core_register_number {
    CORE_REGISTER_SP = 13,
    CORE_REGISTER_LR = 14,
    CORE_REGISTER_PC = 15,
    CORE_REGISTER_XPSR = 16,
    CORE_REGISTER_MSP = 17,
    CORE_REGISTER_PSP = 18,
    CORE_REGISTER_PRIMASK = 0x100,
    CORE_REGISTER_BASEPRI = 0x101,
    CORE_REGISTER_FAULTMASK = 0x102,
    CORE_REGISTER_CONTROL = 0x103,
};

struct core_register {
    const char *name; /* "r0", "sp", "pc", "xpsr", "msplim", ... */
    unsigned number;
    unsigned bits; /* 32, 8 or 1 that mean something */
};

enum core_reset {
    CORE_RESET_SYSTEM, /* AIRCR.SYSRESETREQ: what the device makes of it, as a rule everything but debug */
    CORE_RESET_CORE,   /* AIRCR.VECTRESET: this core alone; v7-M only */
};

enum core_watch { CORE_WATCH_READ = 1, CORE_WATCH_WRITE = 2, CORE_WATCH_ACCESS = 3 };

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
    enum corral_err (*reset)(struct core *c, enum core_reset kind, struct diag *d);
    /* Optional: see core_expect_reset. */
    enum corral_err (*expect_reset)(struct core *c, struct diag *d);
    void (*was_reset)(struct core *c);
    enum corral_err (*vector_catch)(struct core *c, bool on, struct diag *d);
    enum corral_err (*detach)(struct core *c, bool leave_halted, struct diag *d);
    enum corral_err (*info)(struct core *c, struct core_info *info, struct diag *d);
    enum corral_err (*registers)(struct core *c, const struct core_register **list, size_t *count,
                                 struct diag *d);
    enum corral_err (*set_watchpoint)(struct core *c, uint32_t address, uint32_t size, enum core_watch watch,
                                      struct diag *d);
    enum corral_err (*clear_watchpoint)(struct core *c, uint32_t address, uint32_t size, struct diag *d);
    /* Optional. Bytes of the core's memory: as read, breakpoints of ours are taken out of them; as about to
     * be written, what is under such a breakpoint is kept aside and the breakpoint put into them. `bytes`
     * NULL only asks. True when one of them is there. */
    bool (*screen)(struct core *c, bool write, uint64_t address, uint8_t *bytes, size_t size);
    enum corral_err (*attach)(struct core *c, struct diag *d);
    /* NULL: halts and runs by itself. Else what it shares with all cores that stop and start as it does. */
    const void *(*run_domain)(const struct core *c);
    /* Optional: see core_read_registers. */
    enum corral_err (*read_registers)(struct core *c, const unsigned *numbers, size_t count, uint32_t *values,
                                      struct diag *d);
    /* Optional, both or none: core_look of cores of this kind on one link, and core_start_all with `started`.
     */
    void (*look)(struct core *const *cores, size_t count, struct core_start *started);
    void (*forget_look)(struct core *c);
};

/* A Cortex-M core on MEM-AP `ap` of `link`. Enables halting debug (DHCSR.C_DEBUGEN) without halting. `cti`
 * may be NULL; it becomes the core's, but stays the caller's on failure. `hz` is the core clock, 0 where it
 * is not known. `name` is copied. */
struct core *core_cortex_m_open(struct link *link, uint32_t ap, const char *name, uint32_t hz,
                                struct cti *cti, struct diag *d);
/* Core number `number` behind a gdb stub (link_gdb.h). Halting or running one halts or runs all. It has no
 * debug registers, no CTI and no cycle count. `name` is copied. */
struct core *core_gdb_stub_open(struct link *link, size_t number, const char *name, uint32_t hz,
                                struct diag *d);
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
/*
 * Several cores in one batch of the link, where they are of a kind: what core_look sees is what the next
 * core_read_status (without reason), core_prepare_run and core_confirm_run of each of them go by, until
 * something else is asked of it, or core_forget_look. Who looks must forget: what was seen grows old.
 */
void core_look(struct core *const *cores, size_t count);
void core_forget_look(struct core *const *cores, size_t count);
/* core_resume of all in this order, as close together as can be, then core_look. */
void core_start_all(struct core *const *cores, size_t count, struct core_start *started);
enum corral_err core_step(struct core *c, struct diag *d);
enum corral_err core_read_register(struct core *c, unsigned number, uint32_t *value, struct diag *d);
/* Several at once: one round trip where the link has batches. */
enum corral_err core_read_registers(struct core *c, const unsigned *numbers, size_t count, uint32_t *values,
                                    struct diag *d);
enum corral_err core_write_register(struct core *c, unsigned number, uint32_t value, struct diag *d);
enum corral_err core_set_breakpoint(struct core *c, uint32_t address, struct diag *d);
enum corral_err core_clear_breakpoint(struct core *c, uint32_t address, struct diag *d);
enum corral_err core_read_cycles(struct core *c, uint32_t *cycles, struct diag *d);

/* Ask for a reset, and return once it was asked for (at most some milliseconds): the core may be in reset
 * still. With vector_catch on it halts at its first instruction (reason vector-catch). Breakpoints and
 * watchpoints that it lost are set again with the next core_prepare_run or core_read_status. */
enum corral_err core_reset(struct core *c, enum core_reset kind, struct diag *d);
/* The same where somebody else asks for the reset (a debug sequence), and may read away that it came:
 * core_expect_reset before that, core_was_reset afterwards. */
enum corral_err core_expect_reset(struct core *c, struct diag *d);
void core_was_reset(struct core *c);
/* DEMCR.VC_CORERESET. Works while the core runs; may fail while it is in reset. */
enum corral_err core_vector_catch(struct core *c, bool on, struct diag *d);
/*
 * Leave the core as it was found at open: breakpoints and watchpoints of ours gone, DEMCR and DHCSR back, and
 * running if it ran then, unless `leave_halted`. A core that was found halted stays halted. The core can
 * still be used afterwards. Touches no CTI: take the group's cross triggers down first (case A24).
 */
enum corral_err core_detach(struct core *c, bool leave_halted, struct diag *d);
/* After core_detach: halting debug on again, and what is found now is what the next core_detach puts back. */
enum corral_err core_attach(struct core *c, struct diag *d);
/* What kind of core it is. Read once, then remembered. */
enum corral_err core_get_info(struct core *c, struct core_info *info, struct diag *d);
/* The registers it has, in the order for people. The list is the core's. */
enum corral_err core_registers(struct core *c, const struct core_register **list, size_t *count,
                               struct diag *d);
/* By name, in any case of letters; also "r13".."r15". CORRAL_ERR_USAGE for one that it does not have. */
enum corral_err core_find_register(struct core *c, const char *name, const struct core_register **found,
                                   struct diag *d);
/* Halt at accesses to `size` bytes (a power of two) at `address` (a multiple of it). */
enum corral_err core_set_watchpoint(struct core *c, uint32_t address, uint32_t size, enum core_watch watch,
                                    struct diag *d);
enum corral_err core_clear_watchpoint(struct core *c, uint32_t address, uint32_t size, struct diag *d);
/* Memory as the core's program has it: breakpoints of ours that are instructions in RAM do not show in what
 * is read, and stay where they are in what is written. Any address and length. */
enum corral_err core_read_memory(struct core *c, uint64_t address, void *out, size_t size, struct diag *d);
enum corral_err core_write_memory(struct core *c, uint64_t address, const void *bytes, size_t size,
                                  struct diag *d);
/* Not NULL: a request to halt or run one core does it to every core with the same value (a gdb stub that
 * stops all): mechanism `stub`. */
const void *core_run_domain(const struct core *c);
const char *core_type(const struct core *c); /* "cortex-m", "gdb-stub" */

#endif
