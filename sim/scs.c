/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system control space: NVIC, system control block, feature registers (DDI0403E B3.2, B3.4; what Armv6-M
 * lacks, DDI0419E B3.2; what Armv8-M adds, DDI0553 D1.2).
 *
 * DFSR, DHCSR, DCRSR, DCRDR and DEMCR belong to the debug unit and are refused here. SysTick: systick.c.
 */
#include "sim/cpu_internal.h"

/* 0xD40..0xD7C: without FPU, MPU and caches; Armv6-M has none of these registers. */
static const uint32_t feature_registers[3][16] = {
    [CPU_V7EM] = {0x00000030, 0x00000200, 0x00100000, 0x00000000, 0x00100030, 0x00000000, 0x01000000,
                  0x00000000, 0x01101110, 0x02112000, 0x20232231, 0x01111131, 0x01310132, 0x00000000,
                  0x00000000, 0x8000C000},
    [CPU_V8M] = {0x00000030, 0x00000200, 0x00200000, 0x00000000, 0x00100030, 0x00000000, 0x01000000,
                 0x00000000, 0x01101110, 0x02212000, 0x20232232, 0x01111131, 0x01310132, 0x00000000,
                 0x00000000, 0x8000C000},
};

static const uint8_t component_ids[12] = {0x04, 0, 0, 0, 0x0C, 0xB0, 0x0B, 0x00, 0x0D, 0xE0, 0x05, 0xB1};

#define VTOR_BITS 0xFFFFFF80u

uint32_t cpu_ccr(const struct cpu *c, uint32_t v)
{
    const uint32_t v7 = CPU_CCR_STKALIGN | CPU_CCR_BFHFNMIGN | CPU_CCR_DIV_0_TRP | CPU_CCR_UNALIGN_TRP |
                        CPU_CCR_USERSETMPEND | CPU_CCR_NONBASETHRDENA;

    switch (c->architecture) {
    case CPU_V6M: /* read only: aligned stacks, aligned accesses */
        return CPU_CCR_STKALIGN | CPU_CCR_UNALIGN_TRP;
    case CPU_V8M: /* aligned stacks, and thread mode can be reached from any level */
        return (v & (v7 | CPU_CCR_STKOFHFNMIGN)) | CPU_CCR_STKALIGN | CPU_CCR_NONBASETHRDENA;
    case CPU_V7EM:
    default:
        return v & v7;
    }
}

/* The registers of the system control block that Armv6-M has: CPUID..CCR, SHPR2, SHPR3, SHCSR. */
static bool in_v6m(uint32_t offset)
{
    return (offset >= 0xD00 && offset < 0xD18) || (offset >= 0xD1C && offset < 0xD28) || offset >= 0xFD0;
}

static uint32_t read_icsr(const struct cpu *c)
{
    int priority, limit = 256;
    unsigned n = cpu_highest_pending(c, &priority);
    unsigned active = (unsigned)(__builtin_popcount(c->sys_active) + __builtin_popcount(c->irq_active));

    /* VECTPENDING knows BASEPRI and FAULTMASK, but not PRIMASK. */
    if (c->basepri)
        limit = cpu_group_priority(c, c->basepri);
    if (c->faultmask)
        limit = -1;
    if (n && cpu_group_priority(c, priority) >= limit)
        n = 0;
    return (uint32_t)(c->sys_pending >> CPU_EXC_NMI & 1u) << 31 |
           (uint32_t)(c->sys_pending >> CPU_EXC_PENDSV & 1u) << 28 |
           (uint32_t)(c->sys_pending >> CPU_EXC_SYSTICK & 1u) << 26 | (c->irq_pending ? 1u << 22 : 0) |
           (uint32_t)n << 12 | (active <= 1 && c->architecture != CPU_V6M ? 1u << 11 : 0) | c->ipsr;
}

static void write_icsr(struct cpu *c, uint32_t v)
{
    if (v & (1u << 31))
        cpu_set_sys_pending(c, CPU_EXC_NMI);
    if (v & (1u << 28))
        cpu_set_sys_pending(c, CPU_EXC_PENDSV);
    else if (v & (1u << 27))
        c->sys_pending &= (uint16_t) ~(1u << CPU_EXC_PENDSV);
    if (v & (1u << 26))
        cpu_set_sys_pending(c, CPU_EXC_SYSTICK);
    else if (v & (1u << 25))
        c->sys_pending &= (uint16_t) ~(1u << CPU_EXC_SYSTICK);
}

/* SHCSR: active and pending bits live in sys_active and sys_pending, the enables in shcsr. */
static const struct {
    uint8_t bit, number;
    bool pending;
} shcsr_bits[] = {
    {0, CPU_EXC_MEMMANAGE, false}, {1, CPU_EXC_BUSFAULT, false},   {3, CPU_EXC_USAGEFAULT, false},
    {7, CPU_EXC_SVCALL, false},    {8, CPU_EXC_DEBUGMON, false},   {10, CPU_EXC_PENDSV, false},
    {11, CPU_EXC_SYSTICK, false},  {12, CPU_EXC_USAGEFAULT, true}, {13, CPU_EXC_MEMMANAGE, true},
    {14, CPU_EXC_BUSFAULT, true},  {15, CPU_EXC_SVCALL, true},
};
#define SHCSR_BITS (sizeof shcsr_bits / sizeof shcsr_bits[0])

#define SHCSR_SVCALLPENDED (1u << 15)
#define SHCSR_HARDFAULTACT (1u << 2)
#define SHCSR_NMIACT       (1u << 5)

static uint32_t read_shcsr(const struct cpu *c)
{
    uint32_t v = c->shcsr;

    if (c->architecture == CPU_V6M)
        return c->sys_pending >> CPU_EXC_SVCALL & 1u ? SHCSR_SVCALLPENDED : 0;
    if (c->architecture == CPU_V8M) {
        v |= c->sys_active >> CPU_EXC_HARDFAULT & 1u ? SHCSR_HARDFAULTACT : 0;
        v |= c->sys_active >> CPU_EXC_NMI & 1u ? SHCSR_NMIACT : 0;
    }
    for (unsigned k = 0; k < SHCSR_BITS; k++) {
        uint32_t set = shcsr_bits[k].pending ? c->sys_pending : c->sys_active;
        v |= (set >> shcsr_bits[k].number & 1u) << shcsr_bits[k].bit;
    }
    return v;
}

static void write_shcsr(struct cpu *c, uint32_t v)
{
    if (c->architecture == CPU_V6M) {
        c->sys_pending = (uint16_t)((c->sys_pending & ~(1u << CPU_EXC_SVCALL)) |
                                    (v & SHCSR_SVCALLPENDED ? 1u << CPU_EXC_SVCALL : 0));
        return;
    }
    c->shcsr = v & (CPU_SHCSR_MEMFAULTENA | CPU_SHCSR_BUSFAULTENA | CPU_SHCSR_USGFAULTENA);
    for (unsigned k = 0; k < SHCSR_BITS; k++) {
        uint16_t *set = shcsr_bits[k].pending ? &c->sys_pending : &c->sys_active;
        uint16_t bit = (uint16_t)(1u << shcsr_bits[k].number);
        *set = (uint16_t)(v >> shcsr_bits[k].bit & 1u ? *set | bit : *set & ~bit);
    }
}

static void write_aircr(struct cpu *c, uint32_t v, bool debugger)
{
    if (v >> 16 != 0x05FA)
        return;
    c->aircr = c->architecture == CPU_V6M ? 0 : v & 0x700u; /* Armv6-M has no PRIGROUP */
    if ((v & 2u) && debugger) {                             /* VECTCLRACTIVE */
        c->sys_active = 0;
        c->irq_active = 0;
        if (cpu_using_psp(c) != ((c->control & 2u) != 0))
            cpu_swap_stacks(c);
        c->ipsr = 0;
    }
    if (c->architecture != CPU_V7EM)
        v &= ~1u; /* VECTRESET */
    if ((v & 5u) && c->hooks.reset_request)
        c->hooks.reset_request(c->hooks.ctx);
}

/* One word of the system control block; false = not there. */
static bool read_block(const struct cpu *c, uint32_t offset, uint32_t *v)
{
    *v = 0;
    if (c->architecture == CPU_V6M && !in_v6m(offset))
        return false;
    switch (offset) {
    case 0xD00:
        *v = c->cpuid;
        return true;
    case 0xD04:
        *v = read_icsr(c);
        return true;
    case 0xD08:
        *v = c->vtor;
        return true;
    case 0xD0C:
        *v = 0xFA050000u | c->aircr;
        return true;
    case 0xD10:
        *v = c->scr;
        return true;
    case 0xD14:
        *v = c->ccr;
        return true;
    case 0xD18:
    case 0xD1C:
    case 0xD20:
        memcpy(v, &c->shpr[offset - 0xD18], 4);
        return true;
    case 0xD24:
        *v = read_shcsr(c);
        return true;
    case 0xD28:
        *v = c->cfsr;
        return true;
    case 0xD2C:
        *v = c->hfsr;
        return true;
    case 0xD34:
        *v = c->mmfar;
        return true;
    case 0xD38:
        *v = c->bfar;
        return true;
    case 0xD3C: /* AFSR */
    case 0xD80: /* CCSIDR */
    case 0xD84: /* CSSELR */
    case 0xD88: /* CPACR: no coprocessor to enable */
    case 0xF00: /* STIR */
    case 0xF34: /* FPCCR and the media feature registers: no FPU */
    case 0xF40:
    case 0xF44:
    case 0xF48:
        *v = 0;
        return true;
    default:
        if (offset >= 0xD40 && offset < 0xD80) {
            *v = feature_registers[c->architecture][(offset - 0xD40) / 4];
            return true;
        }
        if (offset >= 0xFD0) {
            *v = component_ids[(offset - 0xFD0) / 4];
            return true;
        }
        return false;
    }
}

static bool read_nvic(const struct cpu *c, uint32_t offset, uint32_t *v)
{
    *v = 0;
    if (offset >= 0x400 && offset < 0x7F0) {
        if (offset < 0x400 + CPU_IRQS)
            memcpy(v, &c->irq_priority[offset - 0x400], 4);
        return true;
    }
    if (offset >= 0x340 || (c->architecture == CPU_V6M && offset >= 0x300)) /* no active bits in Armv6-M */
        return false;
    switch (offset) {
    case 0x100:
    case 0x180:
        *v = c->irq_enabled;
        break;
    case 0x200:
    case 0x280:
        *v = c->irq_pending;
        break;
    case 0x300:
        *v = c->irq_active;
        break;
    default: /* lines that do not exist read as zero */
        break;
    }
    return true;
}

bool cpu_scs_read(struct cpu *c, uint32_t address, unsigned size, uint32_t *value, bool debugger)
{
    uint32_t offset = address & 0xFFCu, v = 0;
    bool known;

    *value = 0;
    if (size != 4 && c->architecture == CPU_V6M)
        return false;
    if (offset < 0x10)
        known =
            offset == 8 || (offset == 4 && c->architecture != CPU_V6M); /* ICTR: 32 lines; ACTLR: nothing */
    else if (offset < 0x20) {
        v = cpu_systick_read(c, offset, debugger);
        known = true;
    } else if (offset >= 0x100 && offset < 0xD00)
        known = read_nvic(c, offset, &v);
    else
        known = read_block(c, offset, &v);
    v >>= (address & 3u) * 8u;
    *value = size == 4 ? v : v & ((1u << (size * 8u)) - 1u);
    return known;
}

static void write_block(struct cpu *c, uint32_t offset, uint32_t v, bool debugger)
{
    switch (offset) {
    case 0xD04:
        write_icsr(c, v);
        break;
    case 0xD08:
        c->vtor = v & VTOR_BITS;
        break;
    case 0xD0C:
        write_aircr(c, v, debugger);
        break;
    case 0xD10:
        c->scr = v & 0x16u;
        break;
    case 0xD14:
        c->ccr = cpu_ccr(c, v);
        break;
    case 0xD24:
        write_shcsr(c, v);
        break;
    case 0xD28:
        c->cfsr &= ~v;
        break;
    case 0xD2C:
        c->hfsr &= ~v;
        break;
    case 0xD34:
        c->mmfar = v;
        break;
    case 0xD38:
        c->bfar = v;
        break;
    case 0xF00:
        if ((v & 0x1FFu) < CPU_IRQS)
            cpu_irq_pend(c, v & 0x1FFu);
        break;
    default: /* read-only */
        break;
    }
}

static void pend_lines(struct cpu *c, uint32_t lines)
{
    if ((lines & ~c->irq_pending) && (c->scr & CPU_SCR_SEVONPEND))
        c->event = true;
    c->irq_pending |= lines;
}

static void write_nvic(struct cpu *c, uint32_t offset, uint32_t v)
{
    switch (offset) {
    case 0x100:
        c->irq_enabled |= v;
        break;
    case 0x180:
        c->irq_enabled &= ~v;
        break;
    case 0x200:
        pend_lines(c, v);
        break;
    case 0x280: /* a line that is high and not being served pends again at once */
        c->irq_pending &= ~v;
        c->irq_pending |= v & c->irq_level & ~c->irq_active;
        break;
    default:
        break;
    }
}

/* Priorities may be written by the byte and the half-word. SHPR1's last byte and the reserved ones stay 0. */
static void write_priorities(struct cpu *c, uint32_t offset, unsigned size, uint32_t v)
{
    for (unsigned k = 0; k < size; k++, v >>= 8) {
        uint32_t at = offset + k;
        uint8_t p = (uint8_t)(v & cpu_priority_bits(c));
        if (at >= 0x400 && at < 0x400 + CPU_IRQS) {
            c->irq_priority[at - 0x400] = p;
        } else if (at >= 0xD18 && at < 0xD24) {
            unsigned n = at - 0xD18 + 4;
            bool main = c->architecture != CPU_V6M &&
                        ((n >= CPU_EXC_MEMMANAGE && n <= CPU_EXC_USAGEFAULT) || n == CPU_EXC_DEBUGMON);
            if (main || n == CPU_EXC_SVCALL || n >= CPU_EXC_PENDSV)
                c->shpr[n - 4] = p;
        }
    }
}

bool cpu_scs_write(struct cpu *c, uint32_t address, unsigned size, uint32_t value, bool debugger)
{
    uint32_t offset = address & 0xFFFu, ignored;

    if (size != 4 && c->architecture == CPU_V6M) /* words only, priorities too */
        return false;
    if ((offset >= 0x400 && offset < 0x7F0) || (offset >= 0xD18 && offset < 0xD24)) {
        write_priorities(c, offset, size, value);
    } else if (offset >= 0xD28 && offset < 0xD2C &&
               c->architecture != CPU_V6M) { /* MMFSR, BFSR and UFSR have their own addresses */
        c->cfsr &= ~(value << ((offset & 3u) * 8u));
    } else if (size != 4) {
        return false;
    } else if (offset < 0x10) {
        return offset == 8 || (offset == 4 && c->architecture != CPU_V6M);
    } else if (offset < 0x20) {
        cpu_systick_write(c, offset, value);
    } else if (offset >= 0x100 && offset < 0x340) {
        write_nvic(c, offset, value);
    } else if (read_block(c, offset, &ignored)) {
        write_block(c, offset, value, debugger);
    } else {
        return false;
    }
    cpu_update(c);
    return true;
}

void cpu_irq_level(struct cpu *c, unsigned irq, bool high)
{
    uint32_t bit = 1u << (irq % CPU_IRQS);

    if (high == ((c->irq_level & bit) != 0))
        return;
    if (high) {
        c->irq_level |= bit;
        pend_lines(c, bit);
        cpu_update(c);
    } else {
        c->irq_level &= ~bit; /* what is pending stays pending */
    }
}

void cpu_irq_pend(struct cpu *c, unsigned irq)
{
    pend_lines(c, 1u << (irq % CPU_IRQS));
    cpu_update(c);
}

void cpu_set_event(struct cpu *c)
{
    c->event = true;
    cpu_update(c);
}
