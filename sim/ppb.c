/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private peripheral bus of a core, 0xE0000000..0xE00FFFFF: which component an address belongs to.
 * The same for the core and for its access port; `debugger` in the core tells which of them it is. The core
 * itself keeps unprivileged code away (cpu_memory.c).
 */
#include "sim/board_internal.h"

#define SCS_SYSTICK     0x010u
#define SCS_SYSTICK_END 0x020u
#define SCS_AIRCR       0xD0Cu
#define SCS_ID_FIRST    0xFD0u
#define AIRCR_KEY       0x05FAu
#define AIRCR_RESETS    0x5u   /* SYSRESETREQ, VECTRESET */
#define SCS_DAUTHSTATUS 0xFB8u /* Armv8-M */
#define AIRCR_VECTRST   0x1u

#define ITM_TER 0xE00u
#define ITM_TPR 0xE40u
#define ITM_TCR 0xE80u

static void itm_read(const struct board_core *k, uint32_t offset, uint32_t *value)
{
    if (offset < 0x80)
        *value = 1; /* the stimulus ports are always ready: there is no trace sink, nothing is kept */
    else if (offset == ITM_TER)
        *value = k->itm.ter;
    else if (offset == ITM_TPR)
        *value = k->itm.tpr;
    else if (offset == ITM_TCR)
        *value = k->itm.tcr;
    else
        *value = board_component_id(k->identity, BOARD_ID_ITM, offset);
}

static void itm_write(struct board_core *k, uint32_t offset, uint32_t value)
{
    if (offset == ITM_TER)
        k->itm.ter = value;
    else if (offset == ITM_TPR)
        k->itm.tpr = value & 0xFu;
    else if (offset == ITM_TCR)
        k->itm.tcr = value & 0x007F0F1Fu;
}

/* Where the identification registers begin: with class 9 at DAUTHSTATUS and DEVARCH. */
static uint32_t scs_id_first(const struct board_core *k)
{
    return k->identity->architecture == CPU_V8M ? SCS_DAUTHSTATUS : SCS_ID_FIRST;
}

static bool scs_read(struct board_core *k, uint32_t address, unsigned size, uint32_t *value)
{
    if (size != 4 && k->identity->architecture == CPU_V6M) /* Armv6-M: words only */
        return false;
    if (size == 4 && board_debug_read(k, address, value))
        return true;
    if ((address & 0xFFFu) >= scs_id_first(k)) {
        if ((address & 0xFFFu) == SCS_DAUTHSTATUS) { /* non-secure debug: implemented, and enabled */
            *value = k->board->config.no_debug[k->number] ? 0x0Au : 0x0Fu;
            return true;
        }
        *value = board_component_id(k->identity, BOARD_ID_SCS, address & 0xFFCu) >> (address & 3u) * 8;
        return true;
    }
    if (!cpu_scs_read(&k->cpu, address, size, value, k->debugger))
        *value = 0;
    if ((address & 0xFFFu) >= SCS_SYSTICK && (address & 0xFFFu) < SCS_SYSTICK_END)
        board_core_set_due(k); /* the counter was brought up to now, and may just have expired */
    return true;
}

static bool scs_write(struct board_core *k, uint32_t address, unsigned size, uint32_t value)
{
    if (size != 4 && k->identity->architecture == CPU_V6M)
        return false;
    if (size == 4 && board_debug_write(k, address, value))
        return true;
    if ((address & 0xFFFu) >= scs_id_first(k))
        return true;
    if ((address & 0xFFFu) == SCS_AIRCR && size == 4 && value >> 16 == AIRCR_KEY) {
        uint32_t reset = value & AIRCR_RESETS;
        if (k->identity->architecture != CPU_V7EM)
            reset &= ~AIRCR_VECTRST;
        /* VECTRESET is the debugger's: unpredictable from a program, here without effect. */
        if (reset & ~AIRCR_VECTRST || (reset && k->debugger))
            board_request_reset(k, reset);
        value &= ~AIRCR_RESETS;
    }
    cpu_scs_write(&k->cpu, address, size, value, k->debugger);
    cpu_update(&k->cpu);
    board_core_set_due(k); /* SysTick may have changed; wakes the core where something is pending now */
    return true;
}

bool board_ppb_read(struct board_core *k, uint32_t address, unsigned size, uint32_t *value)
{
    uint32_t offset = address & 0xFFFu;
    switch (address & ~0xFFFu) {
    case BOARD_SCS_BASE:
        return scs_read(k, address, size, value);
    case BOARD_ITM_BASE: /* the stimulus ports take bytes and halfwords too */
        if (!k->identity->component[BOARD_ID_ITM].present)
            return false;
        itm_read(k, offset & ~3u, value);
        return true;
    default:
        break;
    }
    if (size != 4)
        return false;
    switch (address & ~0xFFFu) {
    case BOARD_DWT_BASE:
        if (offset < 0xF00)
            board_dwt_read(k, offset, value);
        else
            *value = board_component_id(k->identity, BOARD_ID_DWT, offset);
        return true;
    case BOARD_FPB_BASE:
        if (offset < 0xF00)
            board_fpb_read(k, offset, value);
        else
            *value = board_component_id(k->identity, BOARD_ID_FPB, offset);
        return true;
    case BOARD_ROM_BASE:
        *value = board_rom_table(k, offset);
        return true;
    default:
        if (!board_cti_here(k, address))
            return false;
        board_cti_read(k, offset, value);
        return true;
    }
}

bool board_ppb_write(struct board_core *k, uint32_t address, unsigned size, uint32_t value)
{
    uint32_t offset = address & 0xFFFu;
    switch (address & ~0xFFFu) {
    case BOARD_SCS_BASE:
        return scs_write(k, address, size, value);
    case BOARD_ITM_BASE:
        if (!k->identity->component[BOARD_ID_ITM].present)
            return false;
        if (size == 4)
            itm_write(k, offset, value);
        return true;
    default:
        break;
    }
    if (size != 4)
        return false;
    switch (address & ~0xFFFu) {
    case BOARD_DWT_BASE:
        board_dwt_write(k, offset, value);
        return true;
    case BOARD_FPB_BASE:
        board_fpb_write(k, offset, value);
        return true;
    case BOARD_ROM_BASE: /* read only */
        return true;
    default:
        if (!board_cti_here(k, address))
            return false;
        board_cti_write(k, offset, value);
        return true;
    }
}
