/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the Cortex-M back end share. Only files of src/core/ include this. */
#ifndef CORRAL_CORE_CORTEX_M_H
#define CORRAL_CORE_CORTEX_M_H

#include "core/core_internal.h"

/* Registers and bits of sheet 3.1. */
#define CORTEX_M_DHCSR 0xE000EDF0u
#define CORTEX_M_DCRSR 0xE000EDF4u
#define CORTEX_M_DCRDR 0xE000EDF8u
#define CORTEX_M_DEMCR 0xE000EDFCu
#define CORTEX_M_DFSR  0xE000ED30u
#define CORTEX_M_AIRCR 0xE000ED0Cu

#define DBGKEY       0xA05F0000u
#define C_DEBUGEN    0x1u
#define C_HALT       0x2u
#define C_STEP       0x4u
#define C_MASKINTS   0x8u
#define S_REGRDY     (1u << 16)
#define S_HALT       (1u << 17)
#define S_SLEEP      (1u << 18)
#define S_LOCKUP     (1u << 19)
#define S_RETIRE_ST  (1u << 24)
#define S_RESET_ST   (1u << 25)
#define S_RESTART_ST (1u << 26)

#define DFSR_HALTED   0x01u
#define DFSR_BKPT     0x02u
#define DFSR_DWTTRAP  0x04u
#define DFSR_VCATCH   0x08u
#define DFSR_EXTERNAL 0x10u
#define DFSR_PMU      0x20u
#define DFSR_ALL      0x3Fu

#define DEMCR_VC_CORERESET 1u
#define DEMCR_TRCENA       (1u << 24)

#define CORTEX_M_MAX_BREAKPOINTS 128 /* FP_CTRL.NUM_CODE has seven bits */
#define CORTEX_M_MAX_WATCHPOINTS 15  /* DWT_CTRL.NUMCOMP has four */
#define CORTEX_M_MAX_PATCHES     64
#define CORTEX_M_MAX_REGISTERS   72
#define CORTEX_M_LOOK            EVENT_MAX_CORES /* cores looked at together */

struct cortex_m_fpb {
    bool known;
    bool was_enabled; /* as found: FP_CTRL.ENABLE */
    bool written;     /* FP_CTRL, by us */
    unsigned version; /* 1 or 2 */
    unsigned count;
    bool used[CORTEX_M_MAX_BREAKPOINTS];
    uint32_t address[CORTEX_M_MAX_BREAKPOINTS];
};

struct cortex_m_watch {
    bool used;
    uint32_t address, size;
    uint32_t comp, mask, function; /* as written */
};

/* A BKPT instruction of ours in RAM, and what it stands upon. */
struct cortex_m_patch {
    bool used;
    uint32_t address;
    uint16_t original;
};

struct cortex_m {
    /* DHCSR bits that reading clears, gathered since prepare_run. */
    uint32_t sticky;
    /* DFSR bits since the core halted: read and cleared once, told as often as asked. */
    uint32_t dfsr;
    /* DFSR is clear, and every DHCSR read since showed the core in debug state without having left it: a
     * restart can be proven without clearing anything first. */
    bool dfsr_clear;
    struct {
        bool known;
        uint32_t dhcsr;
    } look;       /* core_look: until it is forgotten, or anything is written or read anew */
    bool stepped; /* the halt it is in was a single step's */
    bool was_locked_up;
    bool false_halt;      /* the halt it is in is not what it seems (core_status.false_halt) */
    bool false_judged;    /* and that has been looked into */
    bool halt_asked;      /* by us, and not seen yet */
    bool found_in_halt;   /* it has not run since it was opened */
    bool in_reset;        /* as last read: S_RESET_ST was set */
    bool disabled;        /* C_DEBUGEN does not stick */
    bool detached;        /* as it was found: C_DEBUGEN stays as it is until something is asked of the core */
    bool rearm;           /* a reset was seen: comparators may be gone */
    uint32_t resets;      /* seen so far */
    uint32_t resets_open; /* of them before it was opened */
    uint32_t resets_expected; /* when core_expect_reset was called */
    struct {
        bool known, halted;
        uint32_t dhcsr, demcr;
    } found;                /* as it was opened, for detach */
    uint32_t demcr_ours;    /* bits of DEMCR that we have changed */
    bool cyccnt_ours;       /* DWT_CTRL.CYCCNTENA was 0 */
    bool identified, known; /* info: CPUID and what follows from it; all of it */
    struct core_info info;
    struct core_register registers[CORTEX_M_MAX_REGISTERS];
    size_t register_count;
    struct cortex_m_fpb fpb;
    struct cortex_m_watch watch[CORTEX_M_MAX_WATCHPOINTS];
    struct cortex_m_patch patch[CORTEX_M_MAX_PATCHES];
};

/* cortex_m.c */
enum corral_err cortex_m_write32(struct core *c, uint32_t address, uint32_t value, struct diag *d);
enum corral_err cortex_m_read_dhcsr(struct core *c, uint32_t *value,
                                    struct diag *d);          /* gathers sticky bits */
void cortex_m_note_dhcsr(struct cortex_m *m, uint32_t value); /* what each value read of it is told to */
/* Make ready to be restarted; see core_ops.prepare_run. */
enum corral_err cortex_m_prepare_run(struct core *c, struct diag *d);
/* Set bits of DEMCR, or clear them; nothing is written where they are so already. */
enum corral_err cortex_m_change_demcr(struct core *c, uint32_t bits, bool on, struct diag *d);

/* cortex_m_info.c: what kind of core it is, reset, leaving it (sheet 3.1, cases A24, A25). */
enum corral_err cortex_m_identify(struct core *c, struct diag *d); /* CPUID alone: one read, once */
bool cortex_m_is_v8(const struct cortex_m *m);
bool cortex_m_is_m7(const struct cortex_m *m);
enum corral_err cortex_m_info(struct core *c, struct core_info *info, struct diag *d);
enum corral_err cortex_m_registers(struct core *c, const struct core_register **list, size_t *count,
                                   struct diag *d);
enum corral_err cortex_m_expect_reset(struct core *c, struct diag *d);
void cortex_m_was_reset(struct core *c);
enum corral_err cortex_m_reset(struct core *c, enum core_reset kind, struct diag *d);
enum corral_err cortex_m_vector_catch(struct core *c, bool on, struct diag *d);
enum corral_err cortex_m_detach(struct core *c, bool leave_halted, struct diag *d);

/* cortex_m_registers.c: through DCRSR and DCRDR. */
enum corral_err cortex_m_read_register(struct core *c, unsigned number, uint32_t *value, struct diag *d);
enum corral_err cortex_m_read_registers(struct core *c, const unsigned *numbers, size_t count,
                                        uint32_t *values, struct diag *d);
enum corral_err cortex_m_write_register(struct core *c, unsigned number, uint32_t value, struct diag *d);

/* fpb.c: hardware breakpoints (sheet 3.1); what they cannot reach is handed on to code_patch.c. */
enum corral_err cortex_m_set_breakpoint(struct core *c, uint32_t address, struct diag *d);
enum corral_err cortex_m_clear_breakpoint(struct core *c, uint32_t address, struct diag *d);
bool cortex_m_has_breakpoint(const struct core *c, uint32_t address);
/* Switch the comparator of a breakpoint off or on again, keeping it ours. */
enum corral_err cortex_m_enable_breakpoint(struct core *c, uint32_t address, bool on, struct diag *d);
enum corral_err cortex_m_discover_fpb(struct core *c, struct diag *d);
/* Does any comparator, ours or another tool's, stand at `address`? */
enum corral_err cortex_m_comparator_at(struct core *c, uint32_t address, bool *there, struct diag *d);
enum corral_err cortex_m_rearm_fpb(struct core *c, struct diag *d);   /* after a reset */
enum corral_err cortex_m_release_fpb(struct core *c, struct diag *d); /* as it was found */

/* code_patch.c: BKPT instructions in RAM. */
enum corral_err cortex_m_set_patch(struct core *c, uint32_t address, struct diag *d);
enum corral_err cortex_m_clear_patch(struct core *c, uint32_t address, struct diag *d);
bool cortex_m_has_patch(const struct core *c, uint32_t address);
enum corral_err cortex_m_enable_patch(struct core *c, uint32_t address, bool on, struct diag *d);
enum corral_err cortex_m_release_patches(struct core *c, struct diag *d);
bool cortex_m_screen(struct core *c, bool write, uint64_t address, uint8_t *bytes, size_t size);

/* dwt.c: watchpoints and the cycle count. */
enum corral_err cortex_m_set_watchpoint(struct core *c, uint32_t address, uint32_t size,
                                        enum core_watch watch, struct diag *d);
enum corral_err cortex_m_clear_watchpoint(struct core *c, uint32_t address, uint32_t size, struct diag *d);
enum corral_err cortex_m_read_cycles(struct core *c, uint32_t *cycles, struct diag *d);
enum corral_err cortex_m_read_dwt(struct core *c, unsigned *watchpoints, bool *cycle_counter, struct diag *d);
enum corral_err cortex_m_rearm_dwt(struct core *c, struct diag *d);
enum corral_err cortex_m_release_dwt(struct core *c, struct diag *d);

#endif
