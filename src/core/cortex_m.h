/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the Cortex-M back end share. Only files of src/core/ include this. */
#ifndef CORRAL_CORE_CORTEX_M_H
#define CORRAL_CORE_CORTEX_M_H

#include "core/core_internal.h"

#define CORTEX_M_MAX_BREAKPOINTS 128 /* FP_CTRL.NUM_CODE has seven bits */

struct cortex_m_fpb {
    bool known;
    unsigned version; /* 1 or 2 */
    unsigned count;
    bool used[CORTEX_M_MAX_BREAKPOINTS];
    uint32_t address[CORTEX_M_MAX_BREAKPOINTS];
};

struct cortex_m {
    /* DHCSR bits that reading clears, gathered since prepare_run. */
    uint32_t sticky;
    /* DFSR bits since the core halted: read and cleared once, told as often as asked. */
    uint32_t dfsr;
    bool stepped; /* the halt it is in was a single step's */
    bool was_locked_up;
    struct cortex_m_fpb fpb;
};

/* fpb.c: hardware breakpoints (sheet 3.1). */
enum corral_err cortex_m_set_breakpoint(struct core *c, uint32_t address, struct diag *d);
enum corral_err cortex_m_clear_breakpoint(struct core *c, uint32_t address, struct diag *d);
bool cortex_m_has_breakpoint(const struct core *c, uint32_t address);
/* Switch the comparator of a breakpoint off or on again, keeping it ours. */
enum corral_err cortex_m_enable_breakpoint(struct core *c, uint32_t address, bool on, struct diag *d);

#endif
