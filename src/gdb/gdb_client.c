/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client: each request, and its one reply. Cross-trigger sheet 10.1 (what gdb really sends) and 10.3.
 *
 * An error in answer to a resume would be taken for a stop with signal 0: a resume that cannot be done is
 * answered with a stop, and with a text (D28), but for requests that make no sense at all.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "gdb/gdb_parts.h"

/* Signals as gdb numbers them. */
enum { SIGNAL_INT = 2, SIGNAL_TRAP = 5, SIGNAL_SEGV = 11 };

static struct gdb_payload start_reply(struct gdb_client *c)
{
    struct gdb_payload r;
    gdb_payload_start(&r, c->hub->payload, GDB_PACKET_MAX);
    return r;
}

void gdb_client_reply(struct gdb_client *client, const struct gdb_payload *r, enum gdb_send how)
{
    if (r->cut)
        client->send(client->ctx, "E01", 3, how);
    else
        client->send(client->ctx, r->data, r->size, how);
}

void gdb_client_ok(struct gdb_client *client)
{
    client->send(client->ctx, "OK", 2, GDB_SEND_REPLY);
}

/* The textual form: gdb shows it as it is. */
void gdb_client_error(struct gdb_client *client, const char *text)
{
    char payload[320];
    int n = snprintf(payload, sizeof(payload), "E.%s", text);
    size_t size = n < 0 ? 0 : (size_t)n < sizeof(payload) ? (size_t)n : sizeof(payload) - 1;
    client->send(client->ctx, payload, size, GDB_SEND_REPLY);
}

void gdb_client_print(struct gdb_client *client, const char *text)
{
    char data[2 * 400 + 1];
    struct gdb_payload r;
    for (size_t left = strlen(text); left;) {
        size_t n = left < 400 ? left : 400;
        gdb_payload_start(&r, data, sizeof(data));
        gdb_payload_text(&r, "O");
        gdb_payload_hex(&r, text, n);
        client->send(client->ctx, r.data, r.size, GDB_SEND_REPLY);
        text += n;
        left -= n;
    }
}

/* ---- stops */

static int64_t thread_of(const struct gdb_client *c, size_t core)
{
    return c->core == GDB_ALL_CORES ? (int64_t)core + 1 : 1;
}

/* The core a thread number means; false for one that is none of this client's. */
static bool core_of(const struct gdb_client *c, int64_t thread, size_t *core)
{
    if (thread < 1 || thread > (c->core == GDB_ALL_CORES ? (int64_t)c->hub->core_count : 1))
        return false;
    *core = c->core == GDB_ALL_CORES ? (size_t)thread - 1 : c->core;
    return true;
}

/* Only what this client put there itself: at a place where gdb knows of none it would go on by itself, for
 * ever (sheet 10.1). A core that was dragged along has no such reason (D18). */
static void tell_cause(struct gdb_client *c, struct gdb_payload *r, size_t core, const struct event_core *e)
{
    if (e->reason != HALT_REASON_BREAKPOINT && e->reason != HALT_REASON_WATCHPOINT)
        return;
    const struct gdb_point *p = gdb_points_at(c, core, e->reason == HALT_REASON_WATCHPOINT, e->pc);
    static const char *const words[] = {"swbreak", "hwbreak", "watch", "rwatch", "awatch"};
    if (!p || (p->type == 0 && !c->swbreak) || (p->type == 1 && !c->hwbreak))
        return;
    if (p->type >= 2)
        gdb_payload_format(r, "%s:%" PRIx32 ";", words[p->type], p->address);
    else
        gdb_payload_format(r, "%s:;", words[p->type]);
}

static unsigned signal_of(const struct event_core *e)
{
    switch (e->reason) {
    case HALT_REASON_BREAKPOINT:
    case HALT_REASON_WATCHPOINT:
    case HALT_REASON_VECTOR_CATCH:
    case HALT_REASON_STEP:
        return SIGNAL_TRAP;
    case HALT_REASON_FAULT:
        return SIGNAL_SEGV;
    default: /* asked for, dragged along, or not halted at all */
        return SIGNAL_INT;
    }
}

static void reply_stop(struct gdb_client *c, size_t core)
{
    struct gdb_payload r = start_reply(c);
    const struct event_core *e = &c->hub->cores[core].last;
    bool halted = e->state == CORE_HALTED;
    gdb_payload_format(&r, "T%02x", halted ? signal_of(e) : SIGNAL_INT);
    if (halted)
        tell_cause(c, &r, core, e);
    gdb_payload_format(&r, "thread:%" PRIx64 ";", (uint64_t)thread_of(c, core));
    gdb_client_reply(c, &r, GDB_SEND_REPLY);
}

void gdb_client_stopped(struct gdb_client *client, size_t core)
{
    client->state = GDB_CLIENT_IDLE;
    client->range.on = client->came_to_running = client->looked = client->kept.known = false;
    client->seen_epoch = gdb_domain_of(client->hub, core)->epoch;
    if (client->core == GDB_ALL_CORES)
        client->registers_of = core;
    reply_stop(client, core);
}

static void stop_reason(struct gdb_client *c)
{
    struct gdb_hub *hub = c->hub;
    struct diag d = DIAG_INIT;
    /* The only client of a running target comes to debug it; a second one only wants to look (D16). */
    if (gdb_domain_of(hub, c->registers_of)->running && gdb_client_alone(c) &&
        hub->cores[c->registers_of].last.state == CORE_RUNNING)
        gdb_hub_halt(hub, c->registers_of, &d);
    c->seen_epoch = gdb_domain_of(hub, c->registers_of)->epoch;
    const char *why;
    c->came_to_running = !gdb_core_halted(hub, c->registers_of, &why);
    c->looked = c->kept.known = false;
    reply_stop(c, c->registers_of);
}

/* ---- resume */

static void refuse_resume(struct gdb_client *c, size_t core, const char *text)
{
    c->state = GDB_CLIENT_WAITING; /* so that a text may be shown */
    gdb_client_print(c, text);
    gdb_client_print(c, "\n");
    gdb_client_stopped(c, core);
}

/* Step one core; the others stay (D7). */
static void step(struct gdb_client *c, size_t core, const struct gdb_action *a)
{
    struct diag d = DIAG_INIT;
    const char *why;
    /* Somebody else has started the group: gdb steps off its own breakpoint before it continues, and would
     * take an error for a stop. It joins, as by continue. Its breakpoints stay as they are: it has lifted
     * them for this one step. */
    if (gdb_domain_of(c->hub, core)->running) {
        c->state = GDB_CLIENT_WAITING;
        return;
    }
    if (c->seen_epoch < gdb_domain_of(c->hub, core)->epoch) {
        gdb_client_stopped(c, core); /* likewise of a stop that it has not heard of (D1) */
        return;
    }
    if (!gdb_core_halted(c->hub, core, &why)) {
        gdb_client_error(c, why);
        return;
    }
    gdb_points_settle(c);
    c->state = GDB_CLIENT_WAITING;
    enum corral_err err = gdb_hub_step(c->hub, core, &d);
    if (err == CORRAL_ERR_LINK_DOWN)
        return; /* gdb_hub_lost tells it */
    if (err) {
        refuse_resume(c, core, d.message);
        return;
    }
    const struct event_core *last = &c->hub->cores[core].last;
    if (a->kind == GDB_RANGE_STEP && last->reason == HALT_REASON_STEP && last->pc_known &&
        last->pc >= a->start && last->pc < a->end) {
        c->range.on = true;
        c->range.core = core;
        c->range.start = (uint32_t)a->start;
        c->range.end = (uint32_t)a->end;
        return; /* gdb_hub_poll goes on with it */
    }
    gdb_client_stopped(c, core);
}

/* 10.3, 1: start, join, or be told of the stop that one has not heard of yet. */
static void go_on(struct gdb_client *c, size_t core)
{
    struct gdb_domain *domain = gdb_domain_of(c->hub, core);
    struct diag d = DIAG_INIT;
    /* Whatever comes of it, gdb has put all that it wants in place by now. */
    gdb_points_settle(c);
    c->state = GDB_CLIENT_WAITING;
    if (domain->running)
        return; /* c: join */
    if (c->seen_epoch < domain->epoch) {
        gdb_client_stopped(c, core); /* b: D1 */
        return;
    }
    enum corral_err err = gdb_hub_run(c->hub, core, &d); /* a */
    for (size_t i = 0; !err && c->core == GDB_ALL_CORES && i < c->hub->domain_count; i++)
        if (!c->hub->domains[i].running)
            err = gdb_hub_run(c->hub, c->hub->domains[i].first, &d);
    if (!err || err == CORRAL_ERR_LINK_DOWN) /* gdb_hub_lost tells it */
        return;
    gdb_client_print(c, d.message);
    gdb_client_print(c, "\n");
    if (c->state == GDB_CLIENT_WAITING) /* the halt after the failure may have answered it already */
        gdb_client_stopped(c, core);
}

/* Which action is a core's: the leftmost that names its thread, or all. NULL = it keeps its state. */
static const struct gdb_action *action_of(const struct gdb_client *c, const struct gdb_request *r,
                                          size_t core)
{
    for (size_t i = 0; i < r->actions.count; i++) {
        const struct gdb_action *a = &r->actions.list[i];
        size_t named;
        if (a->thread == GDB_THREAD_ALL || a->thread == GDB_THREAD_ANY ||
            (core_of(c, a->thread, &named) && named == core))
            return a;
    }
    return NULL;
}

static bool actions_make_sense(struct gdb_client *c, const struct gdb_request *r)
{
    for (size_t i = 0; i < r->actions.count; i++) {
        const struct gdb_action *a = &r->actions.list[i];
        size_t core;
        if (a->kind == GDB_STOP || (a->thread > 0 && !core_of(c, a->thread, &core))) {
            gdb_client_error(c, a->kind == GDB_STOP ? "stop actions belong to non-stop mode"
                                                    : "there is no such thread"); /* D9 */
            return false;
        }
    }
    return true;
}

static bool set_pc(struct gdb_client *c, size_t core, const struct gdb_action *a)
{
    struct diag d = DIAG_INIT;
    const char *why;
    if (!a->address_set)
        return true;
    if (!gdb_core_halted(c->hub, core, &why)) {
        gdb_client_error(c, why);
        return false;
    }
    if (core_write_register(c->hub->cores[core].core, CORE_REGISTER_PC, (uint32_t)a->address, &d)) {
        gdb_client_error(c, d.message);
        return false;
    }
    return true;
}

static void resume(struct gdb_client *c, const struct gdb_request *r)
{
    size_t first = c->core == GDB_ALL_CORES ? 0 : c->core;
    size_t end = c->core == GDB_ALL_CORES ? c->hub->core_count : c->core + 1;
    const struct gdb_action *go = NULL;
    size_t leader = first;
    if (c->state == GDB_CLIENT_WAITING) {
        gdb_client_error(c, "the last resume has not ended yet");
        return;
    }
    if (!actions_make_sense(c, r))
        return;
    if (r->actions.old_form && c->control_of != GDB_ALL_CORES) {
        first = c->control_of;
        end = first + 1;
        leader = first;
    }
    for (size_t i = first; i < end; i++) {
        const struct gdb_action *a = action_of(c, r, i);
        /* A step moves that core alone: with others running meanwhile it would not be one (D7). */
        if (a && (a->kind == GDB_STEP || a->kind == GDB_RANGE_STEP)) {
            if (set_pc(c, i, a))
                step(c, i, a);
            return;
        }
        if (a && !go) {
            go = a;
            leader = i;
        }
    }
    if (!go)
        gdb_client_error(c, "there is no such thread");
    else if (set_pc(c, leader, go))
        go_on(c, leader);
}

/* ---- registers */

static bool want_halted(struct gdb_client *c)
{
    const char *why;
    if (gdb_core_halted(c->hub, c->registers_of, &why))
        return true;
    gdb_client_error(c, why);
    return false;
}

#define DWT_PCSR 0xE000101Cu

/*
 * gdb reads registers as soon as it has connected, and leaves again on an error or where pc is marked
 * unavailable (13.1). To one that comes to a core that is not halted, its first look is answered with a
 * sample of pc, 0 where there is none, and zeros; the next one with the reason.
 */
static void running_registers(struct gdb_client *c, struct gdb_payload *r)
{
    struct core *core = c->hub->cores[c->registers_of].core;
    uint32_t pc = 0;
    if (link_read32(core_link(core), core_ap(core), DWT_PCSR, &pc, NULL) != CORRAL_OK || pc == UINT32_MAX)
        pc = 0;
    for (unsigned i = 0; i < GDB_GENERAL_REGISTERS; i++)
        gdb_payload_hex32(r, i == CORE_REGISTER_PC ? pc : 0);
}

static enum corral_err read_general(struct gdb_client *c, uint32_t *values, struct diag *d)
{
    struct core *core = c->hub->cores[c->registers_of].core;
    unsigned numbers[GDB_GENERAL_REGISTERS];
    for (unsigned i = 0; i < GDB_GENERAL_REGISTERS; i++)
        numbers[i] = i;
    return core_read_registers(core, numbers, GDB_GENERAL_REGISTERS, values, d);
}

/* gdb reads registers after every stop, also after the step off a breakpoint that it does unseen. If another
 * client has started the cores by then, an error would leave it in no state at all. */
void gdb_client_keep_registers(struct gdb_client *client)
{
    const char *why;
    if (client->looked || !gdb_core_halted(client->hub, client->registers_of, &why))
        return;
    client->kept.known = read_general(client, client->kept.values, NULL) == CORRAL_OK;
}

static void reply_registers(struct gdb_client *c, const uint32_t *values)
{
    struct gdb_payload r = start_reply(c);
    for (unsigned i = 0; i < GDB_GENERAL_REGISTERS; i++)
        gdb_payload_hex32(&r, values[i]);
    gdb_client_reply(c, &r, GDB_SEND_REPLY);
}

static void read_registers(struct gdb_client *c)
{
    struct gdb_payload r = start_reply(c);
    uint32_t values[GDB_GENERAL_REGISTERS] = {0};
    struct diag d = DIAG_INIT;
    const char *why;
    if (c->came_to_running && !gdb_core_halted(c->hub, c->registers_of, &why)) {
        c->came_to_running = false;
        running_registers(c, &r);
        gdb_client_reply(c, &r, GDB_SEND_REPLY);
        return;
    }
    if (c->kept.known && !gdb_core_halted(c->hub, c->registers_of, &why)) {
        c->kept.known = false;
        reply_registers(c, c->kept.values);
        return;
    }
    if (!want_halted(c))
        return;
    if (read_general(c, values, &d)) {
        gdb_client_error(c, d.message);
        return;
    }
    c->looked = true;
    reply_registers(c, values);
}

static void write_registers(struct gdb_client *c, const struct gdb_request *q)
{
    struct core *core = c->hub->cores[c->registers_of].core;
    struct diag d = DIAG_INIT;
    if (q->data_size != 4 * GDB_GENERAL_REGISTERS) {
        gdb_client_error(c, "seventeen registers are wanted");
        return;
    }
    if (!want_halted(c))
        return;
    for (unsigned i = 0; i < GDB_GENERAL_REGISTERS; i++)
        if (core_write_register(core, i, load_le32(q->data + 4 * (size_t)i), &d)) {
            gdb_client_error(c, d.message);
            return;
        }
    gdb_client_ok(c);
}

static void one_register(struct gdb_client *c, const struct gdb_request *q)
{
    struct core *core = c->hub->cores[c->registers_of].core;
    struct diag d = DIAG_INIT;
    unsigned number, bits;
    uint32_t value = 0;
    if (!gdb_register_number(c->hub, c->registers_of, q->number, &number, &bits)) {
        gdb_client_error(c, "there is no such register");
        return;
    }
    const char *why;
    if (q->kind == GDB_READ_REGISTER && c->came_to_running &&
        !gdb_core_halted(c->hub, c->registers_of, &why)) {
        c->send(c->ctx, "00000000", 8, GDB_SEND_REPLY); /* as running_registers */
        return;
    }
    if (!want_halted(c))
        return;
    enum corral_err err;
    if (q->kind == GDB_WRITE_REGISTER) {
        if (q->data_size != 4) {
            gdb_client_error(c, "a register has four bytes");
            return;
        }
        err = core_write_register(core, number, load_le32(q->data), &d);
    } else {
        err = core_read_register(core, number, &value, &d);
    }
    if (err) {
        gdb_client_error(c, d.message);
        return;
    }
    if (q->kind == GDB_WRITE_REGISTER) {
        gdb_client_ok(c);
        return;
    }
    struct gdb_payload r = start_reply(c);
    gdb_payload_hex32(&r, value);
    gdb_client_reply(c, &r, GDB_SEND_REPLY);
}

/* ---- queries */

static void supported(struct gdb_client *c, const struct gdb_request *q)
{
    struct gdb_payload r = start_reply(c);
    c->swbreak = q->supported.swbreak;
    c->hwbreak = q->supported.hwbreak;
    gdb_payload_format(&r,
                       "PacketSize=%x;QStartNoAckMode+;vContSupported+;qXfer:features:read+;"
                       "qXfer:threads:read+;swbreak+;hwbreak+;error-message+",
                       GDB_PACKET_MAX);
    if (c->hub->options.region_count)
        gdb_payload_text(&r, ";qXfer:memory-map:read+");
    gdb_client_reply(c, &r, GDB_SEND_REPLY);
}

static void transfer(struct gdb_client *c, const struct gdb_request *q)
{
    struct gdb_payload r = start_reply(c);
    size_t size = 0;
    const char *text = gdb_describe(c, q->xfer.object, q->xfer.annex, &size);
    if (!text) {
        if (strcmp(q->xfer.object, "features") == 0 || strcmp(q->xfer.object, "threads") == 0)
            gdb_client_reply(c, (gdb_payload_text(&r, "E00"), &r), GDB_SEND_REPLY);
        else
            c->send(c->ctx, "", 0, GDB_SEND_REPLY);
        return;
    }
    size_t at = q->xfer.offset < size ? (size_t)q->xfer.offset : size;
    size_t n = size - at < q->xfer.length ? size - at : (size_t)q->xfer.length;
    if (n > GDB_PACKET_MAX - 1)
        n = GDB_PACKET_MAX - 1;
    gdb_payload_text(&r, at + n < size ? "m" : "l");
    gdb_payload_bytes(&r, text + at, n);
    gdb_client_reply(c, &r, GDB_SEND_REPLY);
}

static void list_threads(struct gdb_client *c)
{
    struct gdb_payload r = start_reply(c);
    size_t n = c->core == GDB_ALL_CORES ? c->hub->core_count : 1;
    gdb_payload_text(&r, "m");
    for (size_t i = 0; i < n; i++)
        gdb_payload_format(&r, "%s%zx", i ? "," : "", i + 1);
    gdb_client_reply(c, &r, GDB_SEND_REPLY);
}

static void thread_info(struct gdb_client *c, const struct gdb_request *q)
{
    struct gdb_payload r = start_reply(c);
    char text[128];
    size_t core;
    const char *why;
    if (!core_of(c, q->thread, &core)) {
        gdb_client_error(c, "there is no such thread");
        return;
    }
    const struct gdb_core *k = &c->hub->cores[core];
    if (gdb_core_halted(c->hub, core, &why))
        snprintf(text, sizeof(text), "%s: halted, %s", core_name(k->core), halt_reason_name(k->last.reason));
    else
        snprintf(text, sizeof(text), "%s: %s", core_name(k->core), why);
    gdb_payload_hex(&r, text, strlen(text));
    gdb_client_reply(c, &r, GDB_SEND_REPLY);
}

static void select_thread(struct gdb_client *c, const struct gdb_request *q)
{
    size_t core = c->core;
    bool any = q->select.thread == GDB_THREAD_ANY || q->select.thread == GDB_THREAD_ALL;
    if (!any && !core_of(c, q->select.thread, &core)) {
        gdb_client_error(c, "there is no such thread");
        return;
    }
    if (q->select.operation == 'c')
        c->control_of = core;
    else if (core != GDB_ALL_CORES)
        c->registers_of = core;
    gdb_client_ok(c);
}

static void leave(struct gdb_client *c, bool answer)
{
    c->leaving = true;
    if (answer)
        c->send(c->ctx, "OK", 2, GDB_SEND_CLOSE);
    else
        c->send(c->ctx, NULL, 0, GDB_SEND_CLOSE);
}

static void answer(struct gdb_client *c, const struct gdb_request *q)
{
    struct gdb_payload r = start_reply(c);
    size_t core;
    switch (q->kind) {
    case GDB_MALFORMED:
        gdb_client_error(c, q->fault);
        return;
    case GDB_SUPPORTED:
        supported(c, q);
        return;
    case GDB_NO_ACK:
        c->send(c->ctx, "OK", 2, GDB_SEND_NO_ACK);
        return;
    case GDB_EXTENDED:
    case GDB_SYMBOL:
        gdb_client_ok(c);
        return;
    case GDB_STOP_REASON:
        stop_reason(c);
        return;
    case GDB_SELECT_THREAD:
        select_thread(c, q);
        return;
    case GDB_THREAD_ALIVE:
        if (core_of(c, q->thread, &core))
            gdb_client_ok(c);
        else
            gdb_client_error(c, "there is no such thread");
        return;
    case GDB_CURRENT_THREAD:
        gdb_payload_format(&r, "QC%" PRIx64, (uint64_t)thread_of(c, c->registers_of));
        gdb_client_reply(c, &r, GDB_SEND_REPLY);
        return;
    case GDB_FIRST_THREADS:
        list_threads(c);
        return;
    case GDB_NEXT_THREADS:
        c->send(c->ctx, "l", 1, GDB_SEND_REPLY);
        return;
    case GDB_THREAD_INFO:
        thread_info(c, q);
        return;
    case GDB_ATTACHED:
    case GDB_ATTACH:
    case GDB_RUN:
    case GDB_RESTART:
        break;
    case GDB_XFER_READ:
        transfer(c, q);
        return;
    case GDB_COMMAND:
        gdb_monitor(c, q->text);
        return;
    case GDB_CRC:
        gdb_memory_crc(c, q);
        return;
    case GDB_READ_REGISTERS:
        read_registers(c);
        return;
    case GDB_WRITE_REGISTERS:
        write_registers(c, q);
        return;
    case GDB_READ_REGISTER:
    case GDB_WRITE_REGISTER:
        one_register(c, q);
        return;
    case GDB_READ_MEMORY:
        gdb_memory_read(c, q);
        return;
    case GDB_WRITE_MEMORY:
        gdb_memory_write(c, q);
        return;
    case GDB_RESUME_ACTIONS:
        gdb_payload_text(&r, "vCont;c;C;s;S;r");
        gdb_client_reply(c, &r, GDB_SEND_REPLY);
        return;
    case GDB_RESUME:
        resume(c, q);
        return;
    case GDB_BREAKPOINT:
        gdb_points_request(c, q);
        return;
    case GDB_FLASH_ERASE:
    case GDB_FLASH_WRITE:
    case GDB_FLASH_DONE:
        gdb_flash_request(c, q);
        return;
    case GDB_DETACH:
        leave(c, true);
        return;
    case GDB_KILL:
        leave(c, false);
        return;
    case GDB_TRACE_STATUS:
    case GDB_UNKNOWN:
        c->send(c->ctx, "", 0, GDB_SEND_REPLY);
        return;
    }
    /* Extended mode: there is one program, it was there before us, and it is started again by a reset. */
    if (q->kind == GDB_ATTACHED) {
        gdb_payload_text(&r, "1");
        gdb_client_reply(c, &r, GDB_SEND_REPLY);
        return;
    }
    struct diag d = DIAG_INIT;
    if (q->kind != GDB_ATTACH && gdb_hub_reset(c->hub, c->registers_of, true, &d)) {
        gdb_client_error(c, d.message);
        return;
    }
    if (q->kind != GDB_RESTART) /* R has no answer */
        stop_reason(c);
}

void gdb_client_packet(struct gdb_client *client, char *payload, size_t size)
{
    struct gdb_request q;
    if (client->leaving)
        return;
    gdb_request_parse(&q, payload, size);
    answer(client, &q);
}
