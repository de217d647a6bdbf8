/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A core behind a gdb stub: no debug registers, only the stub's commands (link/link_gdb.h). Halting and
 * starting is the stub's, and does all its cores at once (mechanism `stub`). Cross-trigger sheet 10.1. What
 * the stub does not tell is said to be unknown, never guessed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/core_internal.h"
#include "link/link_gdb.h"

#define CPUID          0xE000ED00u
#define HALT_POLL_MS   20 /* a stop that was asked for is on its way */
#define RUN_POLL_MS    1
#define MAX_POINTS     64
#define OTHER_REGISTER 0x1000u /* numbers of registers that core.h has no name for: this and their place */
#define THUMB_SIZE     2u
#define SIGNAL_TRAP    5u

struct point {
    bool used;
    unsigned type; /* of the Z packet */
    uint32_t address, size;
};

struct gdb_stub {
    size_t number;
    bool catches; /* its reset */
    struct point point[MAX_POINTS];
    struct core_register registers[RSP_REGISTERS];
    size_t place[RSP_REGISTERS]; /* of each in the stub's own list */
    size_t register_count;
};

static const struct core_register known[] = {
    {"sp", CORE_REGISTER_SP, 32},
    {"lr", CORE_REGISTER_LR, 32},
    {"pc", CORE_REGISTER_PC, 32},
    {"xpsr", CORE_REGISTER_XPSR, 32},
    {"msp", CORE_REGISTER_MSP, 32},
    {"psp", CORE_REGISTER_PSP, 32},
    {"primask", CORE_REGISTER_PRIMASK, 1},
    {"basepri", CORE_REGISTER_BASEPRI, 8},
    {"faultmask", CORE_REGISTER_FAULTMASK, 1},
    {"control", CORE_REGISTER_CONTROL, 8},
};

/* r0 to r12 are numbers; -1 for any other name. */
static int plain_number(const char *name)
{
    char text[4];
    for (int i = 0; i <= 12; i++) {
        snprintf(text, sizeof(text), "r%d", i);
        if (strcasecmp(name, text) == 0)
            return i;
    }
    return -1;
}

/* The stub's registers, as far as 32 bits go, under core.h's numbers. */
static void list_registers(struct gdb_stub *m, const struct rsp_registers *r)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->reg[i].bits == 0 || r->reg[i].bits > 32)
            continue;
        int plain = plain_number(r->reg[i].name);
        struct core_register reg = {
            .name = r->reg[i].name, .number = OTHER_REGISTER + (unsigned)i, .bits = r->reg[i].bits};
        if (plain >= 0)
            reg.number = (unsigned)plain;
        for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
            if (strcasecmp(reg.name, known[k].name) == 0)
                reg = known[k];
        m->place[m->register_count] = i;
        m->registers[m->register_count++] = reg;
    }
}

static const struct rsp_register *stub_register(struct core *c, unsigned number)
{
    const struct gdb_stub *m = c->priv;
    const struct rsp_registers *r = link_gdb_registers(c->link, m->number);
    for (size_t i = 0; i < m->register_count; i++)
        if (m->registers[i].number == number)
            return &r->reg[m->place[i]];
    return NULL;
}

static enum corral_err read_register(struct core *c, unsigned number, uint32_t *value, struct diag *d)
{
    const struct gdb_stub *m = c->priv;
    const struct rsp_register *reg = stub_register(c, number);
    uint64_t wide = 0;
    if (!reg)
        return diag_set(d, CORRAL_ERR_USAGE, "the gdb stub has no register %u", number);
    enum corral_err err = link_gdb_read_register(c->link, m->number, reg, &wide, d);
    *value = (uint32_t)wide;
    return err;
}

static enum corral_err write_register(struct core *c, unsigned number, uint32_t value, struct diag *d)
{
    const struct gdb_stub *m = c->priv;
    const struct rsp_register *reg = stub_register(c, number);
    if (!reg)
        return diag_set(d, CORRAL_ERR_USAGE, "the gdb stub has no register %u", number);
    return link_gdb_write_register(c->link, m->number, reg, value, d);
}

static struct point *find_point(struct gdb_stub *m, bool watch, uint32_t address, uint32_t size)
{
    for (unsigned i = 0; i < MAX_POINTS; i++)
        if (m->point[i].used && (m->point[i].type >= 2) == watch && m->point[i].address == address &&
            m->point[i].size == size)
            return &m->point[i];
    return NULL;
}

static enum corral_err request_halt(struct core *c, struct diag *d)
{
    return link_gdb_halt(c->link, d);
}

/* Of the core that the stop is about; an own reason is preferred to our having asked. */
static enum halt_reason own_reason(struct core *c, const struct link_gdb_state *now, uint32_t pc)
{
    const struct gdb_stub *m = c->priv;
    unsigned type;
    if (now->stop.kind == RSP_STOP_WATCH)
        return HALT_REASON_WATCHPOINT;
    if (now->stop.kind == RSP_STOP_BREAK || (now->stop.signal == SIGNAL_TRAP && !now->stepped &&
                                             link_gdb_stops_at(c->link, m->number, pc & ~1u, &type)))
        return HALT_REASON_BREAKPOINT;
    if (now->stepped)
        return HALT_REASON_STEP;
    if (now->asked)
        return HALT_REASON_REQUEST;
    switch (now->stop.signal) {
    case 2: /* SIGINT */
        return HALT_REASON_REQUEST;
    case SIGNAL_TRAP:
        return HALT_REASON_BREAKPOINT;
    case 4: /* SIGILL, SIGBUS in two ways, SIGFPE, SIGSEGV */
    case 7:
    case 8:
    case 10:
    case 11:
        return HALT_REASON_FAULT;
    default:
        return HALT_REASON_NONE;
    }
}

static enum corral_err read_status(struct core *c, bool reason, struct core_status *status, struct diag *d)
{
    struct gdb_stub *m = c->priv;
    struct link_gdb_state now;
    enum corral_err err = link_gdb_poll(c->link, 0, &now, d);
    if (!err && now.running && now.asked)
        err = link_gdb_poll(c->link, HALT_POLL_MS, &now, d);
    if (err)
        return err;
    status->debug_enabled = true;
    status->state = now.ended ? CORE_UNKNOWN : now.running ? CORE_RUNNING : CORE_HALTED;
    status->why = now.ended ? CORE_WHY_STUB : CORE_WHY_NONE;
    if (status->state != CORE_HALTED || !reason)
        return CORRAL_OK;
    err = read_register(c, CORE_REGISTER_PC, &status->pc, d);
    status->pc_known = !err;
    if (now.core == m->number)
        status->reason = own_reason(c, &now, status->pc);
    else /* it stands because the stub stops all */
        status->reason = now.asked || now.stepped ? HALT_REASON_REQUEST : HALT_REASON_CROSS_TRIGGER;
    return err;
}

static enum corral_err peek_status(struct core *c, struct core_status *status, struct diag *d)
{
    return read_status(c, true, status, d);
}

/* Get off the breakpoint that the core stands on, where there is one: it would stop there again. Another core
 * may have set it. */
static enum corral_err leave_point(struct core *c, bool *stepped, struct diag *d)
{
    const struct gdb_stub *m = c->priv;
    uint32_t pc = 0;
    unsigned type = 0;
    *stepped = false;
    enum corral_err err = read_register(c, CORE_REGISTER_PC, &pc, d);
    pc &= ~1u;
    if (err || !link_gdb_stops_at(c->link, m->number, pc, &type))
        return err;
    err = link_gdb_lift_point(c->link, m->number, true, type, pc, THUMB_SIZE, d);
    if (err)
        return err;
    err = link_gdb_step(c->link, m->number, d);
    *stepped = !err;
    enum corral_err after =
        link_gdb_lift_point(c->link, m->number, false, type, pc, THUMB_SIZE, err ? NULL : d);
    return err ? err : after;
}

static enum corral_err require_halted(struct core *c, const char *what, struct diag *d)
{
    struct link_gdb_state now;
    enum corral_err err = link_gdb_poll(c->link, 0, &now, d);
    if (!err && (now.running || now.ended))
        err = diag_set(d, CORRAL_ERR_CORE_STATE, "the core cannot %s: it is not halted", what);
    return err;
}

static enum corral_err prepare_run(struct core *c, struct diag *d)
{
    bool stepped;
    enum corral_err err = require_halted(c, "be started", d);
    return err ? err : leave_point(c, &stepped, d);
}

static enum corral_err resume(struct core *c, struct diag *d)
{
    return link_gdb_run(c->link, d);
}

/* A stub that does not start its target says so; one that starts it says nothing until it stops again. */
static enum corral_err confirm_run(struct core *c, bool *restarted, struct diag *d)
{
    struct link_gdb_state now;
    enum corral_err err = link_gdb_poll(c->link, RUN_POLL_MS, &now, d);
    *restarted = !err && !now.ended;
    return err;
}

static enum corral_err step(struct core *c, struct diag *d)
{
    const struct gdb_stub *m = c->priv;
    bool stepped = false;
    enum corral_err err = require_halted(c, "step", d);
    if (!err)
        err = leave_point(c, &stepped, d);
    return err || stepped ? err : link_gdb_step(c->link, m->number, d);
}

static enum corral_err set_point(struct core *c, unsigned type, uint32_t address, uint32_t size,
                                 struct diag *d)
{
    struct gdb_stub *m = c->priv;
    struct point *p = find_point(m, type >= 2, address, size);
    if (p)
        return p->type == type || type < 2
                   ? CORRAL_OK
                   : diag_set(d, CORRAL_ERR_USAGE, "0x%08" PRIx32 " is watched already", address);
    for (unsigned i = 0; !p && i < MAX_POINTS; i++)
        if (!m->point[i].used)
            p = &m->point[i];
    if (!p)
        return diag_set(d, CORRAL_ERR_LIMIT, "all %d breakpoints and watchpoints are in use", MAX_POINTS);
    enum corral_err err = link_gdb_set_point(c->link, m->number, true, type, address, size, d);
    if (!err)
        *p = (struct point){.used = true, .type = type, .address = address, .size = size};
    return err;
}

static enum corral_err clear_point(struct core *c, bool watch, uint32_t address, uint32_t size,
                                   struct diag *d)
{
    struct gdb_stub *m = c->priv;
    struct point *p = find_point(m, watch, address, size);
    if (!p)
        return diag_set(d, CORRAL_ERR_USAGE, "there is no %s at 0x%08" PRIx32,
                        watch ? "watchpoint" : "breakpoint", address);
    enum corral_err err = link_gdb_set_point(c->link, m->number, false, p->type, address, size, d);
    if (!err)
        p->used = false;
    return err;
}

static enum corral_err set_breakpoint(struct core *c, uint32_t address, struct diag *d)
{
    struct diag why = DIAG_INIT;
    enum corral_err err = set_point(c, 1, address & ~1u, THUMB_SIZE, &why);
    if (err == CORRAL_ERR_UNSUPPORTED || err == CORRAL_ERR_LINK_FAULT) { /* no hardware one, or none free */
        why = (struct diag)DIAG_INIT;
        err = set_point(c, 0, address & ~1u, THUMB_SIZE, &why);
    }
    if (err && d)
        *d = why;
    return err;
}

static enum corral_err clear_breakpoint(struct core *c, uint32_t address, struct diag *d)
{
    return clear_point(c, false, address & ~1u, THUMB_SIZE, d);
}

static enum corral_err set_watchpoint(struct core *c, uint32_t address, uint32_t size, enum core_watch watch,
                                      struct diag *d)
{
    return set_point(c, watch == CORE_WATCH_ACCESS ? 4 : watch == CORE_WATCH_READ ? 3 : 2, address, size, d);
}

static enum corral_err clear_watchpoint(struct core *c, uint32_t address, uint32_t size, struct diag *d)
{
    return clear_point(c, true, address, size, d);
}

static enum corral_err reset(struct core *c, enum core_reset kind, struct diag *d)
{
    if (kind != CORE_RESET_SYSTEM)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "a gdb stub resets all or nothing");
    const struct gdb_stub *m = c->priv;
    enum corral_err err = link_gdb_reset(c->link, d);
    return err || m->catches ? err : link_gdb_run(c->link, d);
}

/* The stub's monitor leaves a target that it resets halted at its first instruction. */
static enum corral_err vector_catch(struct core *c, bool on, struct diag *d)
{
    struct gdb_stub *m = c->priv;
    (void)d;
    m->catches = on;
    return CORRAL_OK;
}

static enum corral_err detach(struct core *c, bool leave_halted, struct diag *d)
{
    struct gdb_stub *m = c->priv;
    enum corral_err err = CORRAL_OK;
    struct link_gdb_state now;
    err = link_gdb_poll(c->link, 0, &now, d);
    for (unsigned i = 0; !err && !now.running && !now.ended && i < MAX_POINTS; i++)
        if (m->point[i].used)
            err = clear_point(c, m->point[i].type >= 2, m->point[i].address, m->point[i].size, d);
    if (!err && !now.running)
        link_gdb_keep(c->link, leave_halted);
    return err;
}

static enum corral_err info(struct core *c, struct core_info *out, struct diag *d)
{
    uint32_t cpuid = 0;
    enum corral_err err = link_read32(c->link, c->ap, CPUID, &cpuid, d);
    if (!err)
        core_part_of_cpuid(cpuid, out);
    return err;
}

static enum corral_err registers(struct core *c, const struct core_register **list, size_t *count,
                                 struct diag *d)
{
    const struct gdb_stub *m = c->priv;
    (void)d;
    *list = m->registers;
    *count = m->register_count;
    return CORRAL_OK;
}

static const void *run_domain(const struct core *c)
{
    return c->link;
}

static void free_stub(struct core *c)
{
    free(c->priv);
}

static const struct core_ops gdb_stub_ops = {
    .type = "gdb-stub",
    .request_halt = request_halt,
    .read_status = read_status,
    .prepare_run = prepare_run,
    .resume = resume,
    .confirm_run = confirm_run,
    .step = step,
    .read_register = read_register,
    .write_register = write_register,
    .set_breakpoint = set_breakpoint,
    .clear_breakpoint = clear_breakpoint,
    .free = free_stub,
    .peek_status = peek_status,
    .reset = reset,
    .vector_catch = vector_catch,
    .detach = detach,
    .info = info,
    .registers = registers,
    .set_watchpoint = set_watchpoint,
    .clear_watchpoint = clear_watchpoint,
    .run_domain = run_domain,
};

struct core *core_gdb_stub_open(struct link *link, size_t number, const char *name, uint32_t hz,
                                struct diag *d)
{
    if (number >= link_gdb_core_count(link)) {
        diag_set(d, CORRAL_ERR_NO_CORE, "the gdb stub has no core number %zu", number);
        return NULL;
    }
    struct core *c = core_alloc(link, (uint32_t)number, name, hz, NULL);
    struct gdb_stub *m = calloc(1, sizeof(*m));
    if (!c || !m) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        free(m);
        free(c);
        return NULL;
    }
    c->ops = &gdb_stub_ops;
    c->priv = m;
    m->number = number;
    list_registers(m, link_gdb_registers(link, number));
    return c;
}
