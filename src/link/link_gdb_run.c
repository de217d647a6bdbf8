/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run control, registers and breakpoints through a gdb stub. Cross-trigger sheet 10.1. All-stop: one request
 * starts all cores, and whatever stops one stops all. Each start has exactly one stop reply, which is taken
 * before anything else is asked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link/link_gdb_target.h"

#define STEP_MS    3000
#define STOP_MS    3000
#define G_XPSR_FPA (16u * 8 + 8 * 24 + 8) /* where xPSR lies in a g packet that has the old FPA registers */
#define G_XPSR_M   (16u * 8)              /* and in one that has not */

enum corral_err link_gdb_require_stopped(const struct link_gdb *g, struct diag *d)
{
    if (g->state.ended)
        return diag_set(d, CORRAL_ERR_LINK_DOWN, "the program behind the gdb stub has ended");
    if (!g->state.running)
        return CORRAL_OK;
    diag_set(d, CORRAL_ERR_CORE_STATE, "a gdb stub answers nothing while its target runs");
    diag_hint(d, "halt it first");
    return CORRAL_ERR_CORE_STATE;
}

/* A packet that came while the target ran: its stop, or the refusal of what started it. */
static enum corral_err take_stop(struct link_gdb *g, const char *packet, struct diag *d)
{
    struct rsp_stop stop;
    int number;
    const char *words;
    if (rsp_reply_is_error(packet, &number, &words)) {
        g->state.running = false;
        g->state.stop = (struct rsp_stop){0};
        enum corral_err err = link_gdb_refusal(g, packet, "start its target", d);
        return err ? err : CORRAL_ERR_LINK_FAULT;
    }
    if (!rsp_reply_stop(packet, &stop))
        return link_gdb_nonsense(g, "what its target does", d);
    g->state.running = false;
    g->state.ended = stop.kind == RSP_STOP_ENDED;
    g->state.stop = stop;
    g->state.core = link_gdb_core_of(g, &stop);
    g->selected = -1; /* a stub may go to the core that stopped */
    return CORRAL_OK;
}

enum corral_err link_gdb_poll(struct link *link, int ms, struct link_gdb_state *state, struct diag *d)
{
    struct link_gdb *g = link_gdb_of(link);
    enum corral_err err = CORRAL_OK;
    const char *packet = NULL;
    if (g->state.running)
        err = rsp_wait(g->rpc, ms, &packet, d);
    if (!err && packet)
        err = take_stop(g, packet, d);
    *state = g->state;
    return err;
}

enum corral_err link_gdb_halt(struct link *link, struct diag *d)
{
    struct link_gdb *g = link_gdb_of(link);
    g->keep = true;
    if (!g->state.running || g->state.asked)
        return CORRAL_OK;
    enum corral_err err = rsp_interrupt(g->rpc, d);
    g->state.asked = !err;
    return err;
}

static enum corral_err start(struct link_gdb *g, const char *packet, struct diag *d)
{
    enum corral_err err = rsp_send(g->rpc, packet, strlen(packet), d);
    if (err)
        return err;
    g->keep = true;
    g->never_started = false;
    g->state = (struct link_gdb_state){.running = true};
    return CORRAL_OK;
}

enum corral_err link_gdb_run(struct link *link, struct diag *d)
{
    struct link_gdb *g = link_gdb_of(link);
    if (g->state.running)
        return CORRAL_OK;
    enum corral_err err = link_gdb_require_stopped(g, d);
    if (!err && !g->vcont)
        err = link_gdb_expect_ok(g, "Hc-1", "start all its cores", d);
    return err ? err : start(g, g->vcont ? "vCont;c" : "c", d);
}

enum corral_err link_gdb_step(struct link *link, size_t core, struct diag *d)
{
    struct link_gdb *g = link_gdb_of(link);
    char packet[48];
    enum corral_err err = link_gdb_require_stopped(g, d);
    if (!err && core >= g->cores)
        err = diag_set(d, CORRAL_ERR_NO_CORE, "the gdb stub has no core number %zu", core);
    if (!err && g->vcont) {
        /* Threads that no action is for stand still. */
        snprintf(packet, sizeof(packet), "vCont;s:%s", g->id[core]);
        err = start(g, packet, d);
    } else if (!err) {
        snprintf(packet, sizeof(packet), "Hc%s", g->id[core]);
        err = g->cores > 1 ? link_gdb_expect_ok(g, packet, "step one core", d) : CORRAL_OK;
        if (!err)
            err = start(g, "s", d);
    }
    struct link_gdb_state now;
    if (!err)
        err = link_gdb_poll(link, STEP_MS, &now, d);
    if (!err && now.running) { /* it waits for something that does not come */
        err = link_gdb_halt(link, d);
        if (!err)
            err = link_gdb_poll(link, STOP_MS, &now, d);
        if (!err)
            err = diag_set(d, CORRAL_ERR_TIMEOUT, "the gdb stub did not get one instruction done in time");
    }
    g->state.stepped = !err;
    return err;
}

static enum corral_err check_bits(const struct rsp_register *reg, struct diag *d)
{
    return reg->bits && reg->bits <= 64 && reg->bits % 8 == 0
               ? CORRAL_OK
               : diag_set(d, CORRAL_ERR_UNSUPPORTED, "register %s has %" PRIu32 " bits", reg->name,
                          reg->bits);
}

/* Where a register of 32 bits lies in the answer to g, in digits; -1 when it is not in it. */
static long place_in_g(const struct rsp_register *reg, size_t length)
{
    size_t at = SIZE_MAX;
    if (reg->number < 16)
        at = 8 * (size_t)reg->number;
    else if (strcmp(reg->name, "xpsr") == 0)
        at = length >= G_XPSR_FPA + 8 ? G_XPSR_FPA : G_XPSR_M;
    return at <= length && length - at >= 8 ? (long)at : -1;
}

enum corral_err link_gdb_read_register(struct link *link, size_t core, const struct rsp_register *reg,
                                       uint64_t *value, struct diag *d)
{
    struct link_gdb *g = link_gdb_of(link);
    char packet[24], what[48], digits[9] = "";
    uint8_t bytes[8] = {0};
    const char *answer;
    enum corral_err err = link_gdb_require_stopped(g, d);
    if (!err)
        err = check_bits(reg, d);
    if (!err)
        err = link_gdb_select_core(g, core, d);
    snprintf(packet, sizeof(packet), "p%" PRIx32, reg->number);
    snprintf(what, sizeof(what), "read register %s", reg->name);
    if (!err)
        err = link_gdb_ask(g, packet, &answer, d);
    if (err)
        return err;
    if (answer[0] == '\0' && reg->bits == 32) { /* no p packet: all of them at once */
        if ((err = link_gdb_ask(g, "g", &answer, d)))
            return err;
        long at = answer[0] == 'E' ? -1 : place_in_g(reg, strlen(answer));
        if (at >= 0) {
            memcpy(digits, answer + at, 8);
            answer = digits;
        }
    }
    if (!rsp_reply_hex(answer, bytes, reg->bits / 8)) {
        err = link_gdb_refusal(g, answer, what, d);
        return err ? err : link_gdb_nonsense(g, what, d);
    }
    *value = 0;
    for (unsigned i = 0; i < reg->bits / 8; i++)
        *value |= (uint64_t)bytes[i] << 8 * i;
    return CORRAL_OK;
}

enum corral_err link_gdb_write_register(struct link *link, size_t core, const struct rsp_register *reg,
                                        uint64_t value, struct diag *d)
{
    struct link_gdb *g = link_gdb_of(link);
    char packet[48], what[48];
    enum corral_err err = link_gdb_require_stopped(g, d);
    if (!err)
        err = check_bits(reg, d);
    if (!err)
        err = link_gdb_select_core(g, core, d);
    if (err)
        return err;
    int n = snprintf(packet, sizeof(packet), "P%" PRIx32 "=", reg->number);
    for (unsigned i = 0; i < reg->bits / 8; i++)
        n += snprintf(packet + n, sizeof(packet) - (size_t)n, "%02x", (unsigned)(value >> 8 * i & 0xFF));
    snprintf(what, sizeof(what), "write register %s", reg->name);
    return link_gdb_expect_ok(g, packet, what, d);
}

static size_t owner(const struct link_gdb *g, size_t core)
{
    return g->qemu ? SIZE_MAX : core;
}

static struct link_gdb_point *find_point(struct link_gdb *g, size_t core, unsigned type, uint32_t address,
                                         uint32_t size)
{
    for (size_t i = 0; i < LINK_GDB_POINTS; i++) {
        struct link_gdb_point *p = &g->points[i];
        if (p->users && p->core == owner(g, core) && p->type == type && p->address == address &&
            p->size == size)
            return p;
    }
    return NULL;
}

enum corral_err link_gdb_lift_point(struct link *link, size_t core, bool lift, unsigned type,
                                    uint32_t address, uint32_t size, struct diag *d)
{
    struct link_gdb *g = link_gdb_of(link);
    char packet[48], what[64];
    enum corral_err err = link_gdb_require_stopped(g, d);
    if (!err)
        err = link_gdb_select_core(g, core, d);
    snprintf(packet, sizeof(packet), "%c%u,%" PRIx32 ",%" PRIx32, lift ? 'z' : 'Z', type, address, size);
    snprintf(what, sizeof(what), "%s a %s at 0x%08" PRIx32, lift ? "clear" : "set",
             type < 2 ? "breakpoint" : "watchpoint", address);
    return err ? err : link_gdb_expect_ok(g, packet, what, d);
}

enum corral_err link_gdb_set_point(struct link *link, size_t core, bool set, unsigned type, uint32_t address,
                                   uint32_t size, struct diag *d)
{
    struct link_gdb *g = link_gdb_of(link);
    struct link_gdb_point *p = find_point(g, core, type, address, size);
    if (!set && !p)
        return CORRAL_OK;
    if (p && (set || p->users > 1)) {
        p->users = set ? p->users + 1 : p->users - 1;
        return CORRAL_OK;
    }
    for (size_t i = 0; !p && i < LINK_GDB_POINTS; i++)
        if (!g->points[i].users)
            p = &g->points[i];
    if (!p)
        return diag_set(d, CORRAL_ERR_LIMIT, "all %d breakpoints of the gdb stub are in use",
                        LINK_GDB_POINTS);
    enum corral_err err = link_gdb_lift_point(link, core, !set, type, address, size, d);
    if (!err)
        *p = (struct link_gdb_point){
            .users = set ? 1 : 0, .type = type, .core = owner(g, core), .address = address, .size = size};
    return err;
}

bool link_gdb_stops_at(struct link *link, size_t core, uint32_t address, unsigned *type)
{
    const struct link_gdb *g = link_gdb_of(link);
    for (size_t i = 0; i < LINK_GDB_POINTS; i++) {
        const struct link_gdb_point *p = &g->points[i];
        if (p->users && p->type < 2 && p->core == owner(g, core) && p->address == address) {
            *type = p->type;
            return true;
        }
    }
    return false;
}

enum corral_err link_gdb_reset(struct link *link, struct diag *d)
{
    struct link_gdb *g = link_gdb_of(link);
    if (!g->qemu)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "the gdb stub at %s has no reset", rsp_name(g->rpc));
    enum corral_err err = link_gdb_require_stopped(g, d);
    if (!err)
        err = link_gdb_expect_ok(g, "qRcmd,73797374656d5f7265736574", "reset its target",
                                 d); /* "system_reset" */
    if (!err) {
        g->keep = true;
        g->state = (struct link_gdb_state){.asked = true};
    }
    return err;
}
