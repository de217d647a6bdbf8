/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SysTick (DDI0403E B3.3): a 24-bit down-counter kept as its value at one cycle, so that no step counts it.
 *
 * There is no reference clock (CALIB.NOREF): CLKSOURCE reads as one.
 */
#include "sim/cpu_internal.h"

#define ENABLE    1u
#define TICKINT   2u
#define CLKSOURCE 4u
#define COUNTFLAG (1u << 16)

/* From value 0 the counter takes a cycle to reload; with a reload value of 0 it stays there. */
static void schedule(struct cpu *c)
{
    const struct cpu_systick *s = &c->systick;

    if (!(s->csr & ENABLE) || (s->current == 0 && s->reload == 0))
        c->next_event = UINT64_MAX;
    else
        c->next_event = s->since + (s->current ? s->current : (uint64_t)s->reload + 1u);
}

static void settle(struct cpu *c)
{
    struct cpu_systick *s = &c->systick;
    uint64_t passed = c->cycles - s->since;

    s->since = c->cycles;
    if (!(s->csr & ENABLE))
        return;
    if (passed <= s->current && s->current != 0) {
        s->current -= (uint32_t)passed;
        if (s->current != 0 || passed == 0)
            return;
        passed = 0;
    } else if (s->current != 0) {
        passed -= s->current;
        s->current = 0;
    } else if (passed <= s->reload) { /* still before the first expiry: 0, then reload and down */
        s->current = passed == 0 || s->reload == 0 ? 0 : s->reload - (uint32_t)(passed - 1u);
        return;
    } else if (s->reload == 0) {
        return;
    } else {
        passed -= (uint64_t)s->reload + 1u;
    }
    /* It reached zero `passed` cycles ago, perhaps several times since. */
    s->csr |= COUNTFLAG;
    if (s->csr & TICKINT)
        cpu_set_sys_pending(c, CPU_EXC_SYSTICK);
    if (s->reload != 0) {
        passed %= (uint64_t)s->reload + 1u;
        s->current = passed == 0 ? 0 : s->reload - (uint32_t)(passed - 1u);
    }
}

void cpu_timed_event(struct cpu *c)
{
    settle(c);
    schedule(c);
    cpu_update(c);
}

void cpu_systick_reset(struct cpu *c)
{
    c->systick = (struct cpu_systick){.csr = CLKSOURCE, .since = c->cycles};
    c->next_event = UINT64_MAX;
}

uint32_t cpu_systick_read(struct cpu *c, uint32_t offset, bool debugger)
{
    struct cpu_systick *s = &c->systick;
    uint32_t v;

    switch (offset) {
    case 0x10:
        settle(c);
        schedule(c);
        v = s->csr;
        if (!debugger)
            s->csr &= ~COUNTFLAG;
        cpu_update(c);
        return v;
    case 0x14:
        return s->reload;
    case 0x18:
        settle(c);
        schedule(c);
        cpu_update(c);
        return s->current;
    default:
        return 1u << 31; /* CALIB: NOREF, ten-millisecond value not known */
    }
}

void cpu_systick_write(struct cpu *c, uint32_t offset, uint32_t v)
{
    struct cpu_systick *s = &c->systick;

    settle(c);
    if (offset == 0x10) {
        s->csr = (s->csr & COUNTFLAG) | CLKSOURCE | (v & (ENABLE | TICKINT));
    } else if (offset == 0x14) {
        s->reload = v & 0xFFFFFFu;
    } else if (offset == 0x18) { /* any value clears it, without an exception */
        s->current = 0;
        s->csr &= ~COUNTFLAG;
    }
    schedule(c);
}
