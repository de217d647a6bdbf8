/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board's CTIs and the channel matrix (CTM) between them. Cross-trigger sheet 1.1 to 1.5; every rule
 * names its clause of 1.4. The part that needs no code here: clause 14 (the CTI is in its core's private
 * peripheral bus, ppb.c).
 *
 * Must not halt a core itself: it drives lines, and the debug unit looks at them.
 */
#include "sim/cti.h"

#include "sim/board_internal.h"

#define CTI_CONTROL  0x000u
#define CTI_INTACK   0x010u
#define CTI_APPSET   0x014u
#define CTI_APPCLEAR 0x018u
#define CTI_APPPULSE 0x01Cu
#define CTI_INEN0    0x020u
#define CTI_OUTEN0   0x0A0u
#define CTI_TRIGIN   0x130u
#define CTI_TRIGOUT  0x134u
#define CTI_CHIN     0x138u
#define CTI_CHOUT    0x13Cu
#define CTI_GATE     0x140u
#define CTI_ASICCTL  0x144u
#define CTI_ITCTRL   0xF00u
#define CTI_CLAIMSET 0xFA0u
#define CTI_CLAIMCLR 0xFA4u
#define CTI_LAR      0xFB0u
#define CTI_LSR      0xFB4u
#define CTI_LAR_KEY  0xC5ACCE55u
#define CTI_GLBEN    1u
#define CTI_CHANNELS ((1u << BOARD_CTI_CHANNELS) - 1u)
#define CTI_CLAIMS   0xFu
#define LSR_PRESENT  1u
#define LSR_LOCKED   2u
#define CTI_AUTH     0xFB8u
#define AUTH_OFF     0x0Au /* non-secure debug, invasive and not: implemented and disabled */

/* Clause 4: these stay asserted until software acknowledges them; the restart acknowledges itself; all others
 * lead nowhere. */
static uint32_t latched_outputs(const struct board_core *k)
{
    const struct board_cti_info *t = &k->identity->cti;
    return 1u << t->debug_request | ((1u << t->irqs) - 1u) << t->irq;
}

bool board_cti_here(const struct board_core *k, uint32_t address)
{
    const struct board_config *c = &k->board->config;
    return (address & ~0xFFFu) == c->cti_base[k->number] && !c->no_cti[k->number];
}

void board_cti_reset(struct board_core *k)
{
    /* Clause 12: the architecture leaves the mapping UNKNOWN at reset; here it is 0 and the gate is open.
     * Clause 13: only power-on (debug reset) comes here, a system reset keeps all of it. */
    k->cti = (struct board_cti){.locked = k->identity->cti.lock, .gate = CTI_CHANNELS};
}

static bool enabled(const struct board_core *k)
{
    return (k->cti.control & CTI_GLBEN) != 0;
}

static void set_output(struct board_core *k, unsigned n, bool high)
{
    uint32_t bit = 1u << n;
    bool was = (k->cti.trigout & bit) != 0;
    k->cti.trigout = high ? k->cti.trigout | bit : k->cti.trigout & ~bit;
    if (was == high)
        return;
    if (n == k->identity->cti.debug_request) {
        board_debug_request(k, high);
    } else {
        cpu_irq_level(&k->cpu, BOARD_IRQ_CTI0 + n - k->identity->cti.irq, high);
        board_core_wake(k);
    }
}

void board_cti_irq_lines(struct board_core *k)
{
    const struct board_cti_info *t = &k->identity->cti;
    for (unsigned i = 0; i < t->irqs; i++)
        cpu_irq_level(&k->cpu, BOARD_IRQ_CTI0 + i, (k->cti.trigout >> (t->irq + i) & 1u) != 0);
}

/* Clause 8: the channels that inputs hold active as long as they are high. */
static uint32_t held_by_inputs(const struct board_cti *c)
{
    uint32_t held = 0;
    for (unsigned n = 0; n < BOARD_CTI_TRIGGERS; n++)
        held |= c->trigin >> n & 1u ? c->inen[n] : 0;
    return held;
}

/*
 * Work out the internal channel bus after a change; `pulse` are the channels that see one event now.
 * Clause 1: an output is the OR of its channels, a channel the OR of what drives it.
 */
static void settle(struct board_core *k, uint32_t pulse)
{
    struct board_cti *c = &k->cti;
    /* Clause 3: with GLBEN = 0 no mapping is active. An output that waits for its acknowledge stays. */
    uint32_t now = enabled(k) ? c->appset | held_by_inputs(c) | c->channel_in : 0;
    uint32_t latched = latched_outputs(k), restart_bit = 1u << k->identity->cti.restart;
    /* Clause 6: a pulse has no effect on a channel that is active already. */
    uint32_t events = enabled(k) ? (pulse | now) & ~c->active : 0;
    c->active = now;
    bool line = false, restart = false;
    for (unsigned n = 0; n < BOARD_CTI_TRIGGERS; n++) {
        bool high = (c->outen[n] & now) != 0, edge = (c->outen[n] & events) != 0;
        if ((latched >> n & 1u) && (high || edge))
            set_output(k, n, true);
        if (restart_bit >> n & 1u) {
            line = high;
            restart = edge || (high && !c->restart_line);
        }
    }
    c->restart_line = line;
    /* Clauses 4 and 10: the restart acknowledges itself, whether or not the core was in debug state. */
    if (restart)
        board_debug_restart(k);
}

static void arrive(struct board_core *k, uint32_t level, uint32_t pulse)
{
    if (k->unpowered) /* it hears nothing; board_cti_join asks again */
        return;
    /* DEVID.INOUT = 0, clause 8's corollary: the gate of the receiving CTI does not keep channels away. */
    k->cti.channel_in = level;
    settle(k, pulse);
}

/* The last change on the way to core `to`; NULL when there is none. */
static struct board_ctm_arrival *last_to(struct board_ctm *m, unsigned to)
{
    for (unsigned i = m->count; i > 0; i--) {
        struct board_ctm_arrival *a = &m->queue[(m->head + i - 1) % BOARD_CTM_QUEUE];
        if (a->to == to)
            return a;
    }
    return NULL;
}

static void send(struct board_core *from, uint32_t level, uint32_t pulse)
{
    struct board *b = from->board;
    struct board_ctm *m = &b->ctm;
    for (unsigned n = 0; n < BOARD_CORES && !b->config.separate_ctm; n++) {
        if (n == from->number)
            continue;
        if (b->ctm_latency == 0) {
            arrive(&b->core[n], level, pulse);
            continue;
        }
        struct board_ctm_arrival *last = last_to(m, n);
        /* Room for one change to each core is kept: another core's must not take this one's place. */
        if (m->count >= BOARD_CTM_QUEUE - BOARD_CORES && last) {
            /* Clause 6: pulses too close to each other may merge. The last one on the way takes both. */
            last->pulse |= pulse;
            last->level = level;
            continue;
        }
        uint64_t tick = b->tick + b->ctm_latency;
        m->queue[(m->head + m->count++) % BOARD_CTM_QUEUE] =
            (struct board_ctm_arrival){.tick = tick, .pulse = pulse, .level = level, .to = n};
        if (tick < b->limit)
            b->limit = tick;
    }
}

/* Bring own outputs and the matrix up to date; `pulse` as in settle. */
static void drive(struct board_core *k, uint32_t pulse)
{
    struct board_cti *c = &k->cti;
    /* Clause 2: the gate sits between the internal bus and the matrix: own outputs follow in any case. */
    uint32_t level = enabled(k) ? (c->appset | held_by_inputs(c)) & c->gate : 0;
    uint32_t out = enabled(k) ? pulse & c->gate & ~c->channel_out & ~level : 0;
    bool change = level != c->channel_out || out;
    c->channel_out = level;
    if (change)
        send(k, level, out);
    settle(k, pulse);
}

void board_cti_input(struct board_core *k, unsigned trigger)
{
    /* Clause 8: all trigger inputs of a Cortex-M7 are pulses. Clause 2: the core that halts gets its own
     * debug request latched too. */
    drive(k, k->cti.inen[trigger]);
}

void board_cti_halted(struct board_core *k, bool halted)
{
    uint32_t bit = 1u << k->identity->cti.halted;
    if (!k->board->config.level_halted) {
        if (halted)
            board_cti_input(k, k->identity->cti.halted);
        return;
    }
    if (((k->cti.trigin & bit) != 0) == halted)
        return;
    k->cti.trigin ^= bit;
    drive(k, 0);
}

void board_cti_lose(struct board *b, unsigned core)
{
    if (core >= BOARD_CORES)
        return;
    struct board_core *k = &b->core[core];
    uint32_t arrives = k->cti.channel_in;
    uint32_t trigin = k->cti.trigin; /* a line of the core's, not a register */
    if (k->cti.channel_out)
        send(k, 0, 0);
    board_cti_reset(k);
    k->cti.channel_in = arrives;
    k->cti.trigin = trigin;
    board_debug_request(k, false);
    board_cti_irq_lines(k);
}

void board_cti_join(struct board_core *k)
{
    const struct board *b = k->board;
    for (unsigned n = 0; n < BOARD_CORES && !b->config.separate_ctm && !k->unpowered; n++)
        if (n != k->number)
            k->cti.channel_in |= b->core[n].cti.channel_out;
}

uint64_t board_ctm_due(const struct board *b)
{
    return b->ctm.count ? b->ctm.queue[b->ctm.head].tick : BOARD_NEVER;
}

void board_ctm_deliver(struct board *b)
{
    struct board_ctm *m = &b->ctm;
    while (m->count && m->queue[m->head].tick <= b->tick) {
        struct board_ctm_arrival a = m->queue[m->head];
        m->head = (m->head + 1) % BOARD_CTM_QUEUE;
        m->count--;
        arrive(&b->core[a.to], a.level, a.pulse);
    }
}

static void acknowledge(struct board_core *k, uint32_t bits)
{
    struct board_cti *c = &k->cti;
    bits &= latched_outputs(k);
    for (unsigned n = 0; n < BOARD_CTI_TRIGGERS; n++)
        /* Clause 5: ignored when not asserted or while a mapped channel is still active. Clause 7: so a held
         * APPSET on the halt channel makes the debug request impossible to acknowledge; clause 8: and so does
         * HALTED as a level. */
        if ((bits >> n & 1u) && !(c->outen[n] & c->active))
            set_output(k, n, false);
}

void board_cti_read(struct board_core *k, uint32_t offset, uint32_t *value)
{
    const struct board_cti *c = &k->cti;
    const struct board_cti_info *t = &k->identity->cti;
    *value = 0; /* write-only registers */
    if (offset >= CTI_INEN0 && offset < CTI_INEN0 + 4 * BOARD_CTI_TRIGGERS) {
        *value = c->inen[(offset - CTI_INEN0) / 4];
        return;
    }
    if (offset >= CTI_OUTEN0 && offset < CTI_OUTEN0 + 4 * BOARD_CTI_TRIGGERS) {
        *value = c->outen[(offset - CTI_OUTEN0) / 4];
        return;
    }
    switch (offset) {
    case CTI_CONTROL:
        *value = c->control;
        break;
    case CTI_APPSET:
        *value = c->appset;
        break;
    case CTI_TRIGIN: /* pulses read 0 */
        *value = c->trigin;
        break;
    case CTI_TRIGOUT:
        *value = c->trigout;
        break;
    case CTI_CHIN:
        *value = c->channel_in;
        break;
    case CTI_CHOUT:
        *value = c->channel_out;
        break;
    case CTI_GATE:
        *value = c->gate;
        break;
    case CTI_ASICCTL:
        *value = c->asicctl;
        break;
    case CTI_ITCTRL:
        *value = c->itctrl;
        break;
    case CTI_CLAIMSET:
        *value = t->claim ? CTI_CLAIMS : 0u;
        break;
    case CTI_CLAIMCLR:
        *value = t->claim ? c->claim : 0u;
        break;
    case CTI_LSR:
        *value = t->lock ? LSR_PRESENT | (c->locked ? LSR_LOCKED : 0u) : 0u;
        break;
    case CTI_AUTH:
        *value = board_component_id(k->identity, BOARD_ID_CTI, offset);
        if (*value && k->board->config.no_debug[k->number])
            *value = AUTH_OFF;
        break;
    default:
        *value = board_component_id(k->identity, BOARD_ID_CTI, offset);
        break;
    }
}

void board_cti_write(struct board_core *k, uint32_t offset, uint32_t value)
{
    struct board_cti *c = &k->cti;
    if (offset == CTI_LAR) {
        c->locked = k->identity->cti.lock && value != CTI_LAR_KEY;
        return;
    }
    if (k->board->config.no_debug[k->number]) /* Clause 16: not authenticated, nothing is written */
        return;
    if (c->locked) /* Clause 15: as on parts where the lock holds for the debug port too */
        return;
    if (offset >= CTI_INEN0 && offset < CTI_INEN0 + 4 * BOARD_CTI_TRIGGERS) {
        c->inen[(offset - CTI_INEN0) / 4] = value & CTI_CHANNELS;
        drive(k, 0); /* of an input that is high right now */
        return;
    }
    if (offset >= CTI_OUTEN0 && offset < CTI_OUTEN0 + 4 * BOARD_CTI_TRIGGERS) {
        c->outen[(offset - CTI_OUTEN0) / 4] = value & CTI_CHANNELS;
        settle(k, 0);
        return;
    }
    switch (offset) {
    case CTI_CONTROL:
        c->control = value & CTI_GLBEN;
        drive(k, 0);
        break;
    case CTI_INTACK:
        acknowledge(k, value);
        break;
    case CTI_APPSET: /* Clause 7: a level. Clause 3: kept, but without effect, while GLBEN = 0. */
        c->appset |= value & CTI_CHANNELS;
        drive(k, 0);
        break;
    case CTI_APPCLEAR:
        c->appset &= ~value;
        drive(k, 0);
        break;
    case CTI_APPPULSE: /* Clause 6: leaves APPSET alone. Clause 11: this part has levels and pulses. */
        drive(k, value & CTI_CHANNELS);
        break;
    case CTI_GATE:
        c->gate = value & CTI_CHANNELS;
        drive(k, 0);
        break;
    case CTI_ASICCTL:
        c->asicctl = value & 0xFFu;
        break;
    case CTI_ITCTRL:
        c->itctrl = value & 1u;
        break;
    case CTI_CLAIMSET:
        c->claim |= value & CTI_CLAIMS;
        break;
    case CTI_CLAIMCLR:
        c->claim &= ~value;
        break;
    default:
        break;
    }
}
