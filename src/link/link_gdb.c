/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See gdb.h: opening and closing. Cross-trigger sheet 10.1; QEMU's dual Cortex-M33 has a process for
 * each core, which must be attached to before it is listed, seen or stopped for.
 */
#include "link/link_gdb.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "link/link_backend.h"
#include "link/link_gdb_target.h"

#define PACKET_DEFAULT 400u /* bytes, where the stub does not say */
#define PACKET_LEAST   64u
#define LIST_PACKETS   64
#define XML_CHUNK      0x800

enum corral_err link_gdb_ask(struct link_gdb *g, const char *packet, const char **answer, struct diag *d)
{
    return rsp_ask(g->rpc, packet, strlen(packet), answer, d);
}

/* The stub's refusal as a sentence. CORRAL_OK when the answer is none. */
enum corral_err link_gdb_refusal(const struct link_gdb *g, const char *answer, const char *what,
                                 struct diag *d)
{
    char said[100];
    const char *words;
    int number;
    if (answer[0] == '\0')
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "the gdb stub at %s cannot %s", rsp_name(g->rpc), what);
    if (!rsp_reply_is_error(answer, &number, &words))
        return CORRAL_OK;
    if (number >= 0)
        return diag_set(d, CORRAL_ERR_LINK_FAULT, "the gdb stub failed to %s (error %02x)", what,
                        (unsigned)number);
    text_escape((const uint8_t *)words, strlen(words), said, sizeof(said));
    return diag_set(d, CORRAL_ERR_LINK_FAULT, "the gdb stub failed to %s: %s", what, said);
}

enum corral_err link_gdb_nonsense(const struct link_gdb *g, const char *about, struct diag *d)
{
    return diag_set(d, CORRAL_ERR_LINK_PROTOCOL, "the gdb stub at %s answered nonsense about %s",
                    rsp_name(g->rpc), about);
}

enum corral_err link_gdb_expect_ok(struct link_gdb *g, const char *packet, const char *what, struct diag *d)
{
    const char *answer;
    enum corral_err err = link_gdb_ask(g, packet, &answer, d);
    if (!err && strcmp(answer, "OK") != 0) {
        err = link_gdb_refusal(g, answer, what, d);
        err = err ? err : link_gdb_nonsense(g, what, d);
    }
    return err;
}

static bool is_listed(const struct link_gdb *g, const struct rsp_thread_id *id)
{
    for (size_t i = 0; i < g->cores; i++)
        if (g->core[i].pid == id->pid && g->core[i].tid == id->tid)
            return true;
    return false;
}

static enum corral_err list_threads(struct link_gdb *g, struct diag *d)
{
    struct rsp_thread_id list[LINK_GDB_CORES];
    size_t count = 0;
    bool last = false;
    const char *answer;
    for (int i = 0; i < LIST_PACKETS && !last; i++) {
        enum corral_err err = link_gdb_ask(g, i ? "qsThreadInfo" : "qfThreadInfo", &answer, d);
        if (err)
            return err;
        if (i == 0 && answer[0] == '\0')
            break; /* a stub without threads */
        if (!rsp_reply_threads(answer, list, LINK_GDB_CORES, &count, &last))
            return link_gdb_nonsense(g, "its threads", d);
    }
    for (size_t i = 0; i < count; i++)
        if (g->cores < LINK_GDB_CORES && !is_listed(g, &list[i]))
            g->core[g->cores++] = list[i];
    return CORRAL_OK;
}

/* QEMU lists the threads of those processes only that somebody attached to, and has one for each cluster of
 * cores. Others' processes are none of our business. */
static enum corral_err attach_processes(struct link_gdb *g, struct diag *d)
{
    const char *answer;
    for (int32_t pid = 1; g->qemu && g->features.multiprocess && pid <= LINK_GDB_CORES; pid++) {
        char packet[24];
        bool known = false;
        for (size_t i = 0; i < g->cores; i++)
            known |= g->core[i].pid == pid;
        if (known)
            continue;
        snprintf(packet, sizeof(packet), "vAttach;%" PRIx32, (uint32_t)pid);
        enum corral_err err = link_gdb_ask(g, packet, &answer, d);
        if (err)
            return err;
        struct rsp_stop stop;
        if (!rsp_reply_stop(answer, &stop))
            break; /* there are no more */
    }
    return list_threads(g, d);
}

static void name_cores(struct link_gdb *g)
{
    if (g->cores == 0) { /* one core that has no number */
        g->core[0] = (struct rsp_thread_id){.pid = 0, .tid = 0};
        g->cores = 1;
    }
    for (size_t i = 0; i < g->cores; i++) {
        const struct rsp_thread_id *id = &g->core[i];
        if (id->pid)
            snprintf(g->id[i], sizeof(g->id[i]), "p%" PRIx32 ".%" PRIx32, (uint32_t)id->pid,
                     (uint32_t)id->tid);
        else
            snprintf(g->id[i], sizeof(g->id[i]), "%" PRIx32, (uint32_t)id->tid);
    }
}

size_t link_gdb_core_of(const struct link_gdb *g, const struct rsp_stop *stop)
{
    for (size_t i = 0; stop->has_thread && i < g->cores; i++)
        if (g->core[i].tid == stop->thread.tid && (!stop->thread.pid || g->core[i].pid == stop->thread.pid))
            return i;
    return 0;
}

/* The layout that every Arm stub has which does not describe its own: gdb's arm-m-profile. */
static void default_registers(struct rsp_registers *r)
{
    static const char *const names[] = {"r0", "r1", "r2",  "r3",  "r4",  "r5", "r6", "r7",
                                        "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc"};
    *r = (struct rsp_registers){0};
    for (uint32_t i = 0; i < 16; i++) {
        snprintf(r->reg[i].name, sizeof(r->reg[i].name), "%s", names[i]);
        r->reg[i].number = i;
        r->reg[i].bits = 32;
    }
    snprintf(r->reg[16].name, sizeof(r->reg[16].name), "xpsr");
    r->reg[16].number = 25;
    r->reg[16].bits = 32;
    r->count = 17;
}

/* One file of the description into g->xml; false when it cannot be had whole. */
static bool read_xml(struct link_gdb *g, const char *name)
{
    size_t size = 0;
    while (size < LINK_GDB_XML_MAX) {
        char packet[128];
        const char *answer;
        snprintf(packet, sizeof(packet), "qXfer:features:read:%s:%zx,%x", name, size, XML_CHUNK);
        if (link_gdb_ask(g, packet, &answer, NULL) || (answer[0] != 'm' && answer[0] != 'l'))
            return false;
        size_t n = strlen(answer + 1);
        if (n > LINK_GDB_XML_MAX - size || (n == 0 && answer[0] == 'm'))
            return false;
        memcpy(g->xml + size, answer + 1, n);
        size += n;
        g->xml[size] = '\0';
        if (answer[0] == 'l')
            return true;
    }
    return false;
}

static const struct rsp_register *find_register(const struct rsp_registers *r, const char *name)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->reg[i].name, name) == 0)
            return &r->reg[i];
    return NULL;
}

enum corral_err link_gdb_select_core(struct link_gdb *g, size_t core, struct diag *d)
{
    char packet[40];
    if (core >= g->cores)
        return diag_set(d, CORRAL_ERR_NO_AP, "the gdb stub has no core number %zu", core);
    if (g->selected == (int)core)
        return CORRAL_OK;
    snprintf(packet, sizeof(packet), "Hg%s", g->id[core]);
    const char *answer;
    enum corral_err err = link_gdb_ask(g, packet, &answer, d);
    /* A stub with one thread may not know the packet. */
    if (!err && strcmp(answer, "OK") != 0 && !(answer[0] == '\0' && g->cores == 1)) {
        err = link_gdb_refusal(g, answer, "choose a core", d);
        err = err ? err : link_gdb_nonsense(g, "choosing a core", d);
    }
    g->selected = err ? -1 : (int)core;
    return err;
}

static void describe(struct link_gdb *g, struct rsp_registers *r)
{
    if (g->features.target_xml && read_xml(g, "target.xml")) {
        rsp_reply_registers(g->xml, r);
        for (size_t i = 0; i < r->includes; i++) { /* files that include others: the list grows, bounded */
            char name[sizeof(r->include[0])];
            snprintf(name, sizeof(name), "%s", r->include[i]);
            if (read_xml(g, name))
                rsp_reply_registers(g->xml, r);
        }
    }
    if (!find_register(r, "pc") || !find_register(r, "r0"))
        default_registers(r);
}

/* A process has one description for all its threads. */
static enum corral_err read_registers(struct link_gdb *g, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; !err && i < g->cores; i++) {
        size_t same = 0;
        while (same < i && g->core[same].pid != g->core[i].pid)
            same++;
        if (same < i) {
            g->registers[i] = g->registers[same];
            continue;
        }
        err = link_gdb_select_core(g, i, d);
        if (!err)
            describe(g, &g->registers[i]);
    }
    return err;
}

static enum corral_err negotiate(struct link_gdb *g, struct diag *d)
{
    const char *answer;
    enum corral_err err = link_gdb_ask(
        g, "qSupported:multiprocess+;swbreak+;hwbreak+;vContSupported+;xmlRegisters=arm", &answer, d);
    if (err)
        return err;
    rsp_reply_features(answer, &g->features);
    uint32_t size = g->features.packet_size ? g->features.packet_size : PACKET_DEFAULT;
    rsp_limit(g->rpc, size < PACKET_LEAST ? PACKET_LEAST : size);
    if (g->features.no_ack || !g->features.packet_size) {
        err = link_gdb_ask(g, "QStartNoAckMode", &answer, d);
        if (err)
            return err;
        if (strcmp(answer, "OK") == 0)
            rsp_no_ack(g->rpc);
    }
    err = link_gdb_ask(g, "qqemu.sstepbits", &answer, d);
    if (!err)
        g->qemu = strncmp(answer, "ENABLE=", 7) == 0;
    if (!err)
        err = link_gdb_ask(g, "vCont?", &answer, d);
    if (!err)
        g->vcont = strncmp(answer, "vCont", 5) == 0 && strstr(answer, ";c") && strstr(answer, ";s");
    return err;
}

/* A line of QEMU's monitor, in hex. */
static void on_monitor(void *ctx, const char *hex)
{
    struct link_gdb *g = ctx;
    uint8_t line[256];
    size_t n = strlen(hex) / 2;
    if (n >= sizeof(line) || !rsp_reply_hex(hex, line, n))
        return;
    line[n] = '\0';
    g->never_started |= strstr((const char *)line, "prelaunch") != NULL;
}

/* Was it ever started? QEMU's monitor tells; connecting has stopped it if it ran. */
static enum corral_err ask_monitor(struct link_gdb *g, struct diag *d)
{
    const char *answer;
    rsp_listen(g->rpc, on_monitor, g);
    enum corral_err err = link_gdb_ask(g, "qRcmd,696e666f20737461747573", &answer, d); /* "info status" */
    rsp_listen(g->rpc, NULL, NULL);
    return err;
}

static enum corral_err connect_stub(struct link_gdb *g, struct diag *d)
{
    const char *answer;
    struct rsp_stop stop;
    enum corral_err err = negotiate(g, d);
    if (!err && g->qemu)
        err = ask_monitor(g, d);
    if (!err)
        err = link_gdb_ask(g, "?", &answer, d);
    if (!err && !rsp_reply_stop(answer, &stop))
        return diag_set(d, CORRAL_ERR_LINK_PROTOCOL,
                        "the gdb stub at %s does not say that its target stopped", rsp_name(g->rpc));
    if (!err && stop.kind == RSP_STOP_ENDED)
        return diag_set(d, CORRAL_ERR_LINK_DOWN, "the gdb stub at %s has no program any more",
                        rsp_name(g->rpc));
    if (!err)
        err = list_threads(g, d);
    if (!err)
        err = attach_processes(g, d);
    if (err)
        return err;
    err = link_gdb_ask(g, "X0,0:", &answer, d);
    if (err)
        return err;
    g->binary = strcmp(answer, "OK") == 0;
    name_cores(g);
    if ((err = read_registers(g, d)))
        return err;
    g->state = (struct link_gdb_state){.asked = true, .stop = stop, .core = link_gdb_core_of(g, &stop)};
    return CORRAL_OK;
}

static enum corral_err execute(void *ctx, struct link_access *accesses, size_t count, struct diag *d)
{
    for (size_t i = 0; i < count; i++) {
        accesses[i].status = link_gdb_access_memory(ctx, &accesses[i], d);
        if (accesses[i].status)
            return accesses[i].status;
    }
    return CORRAL_OK;
}

/* As gdb goes: what stopped because we came goes on. */
static void let_go(struct link_gdb *g)
{
    const char *answer;
    char packet[24];
    if (!g->features.multiprocess) {
        link_gdb_ask(g, "D", &answer, NULL);
        return;
    }
    for (size_t i = 0; i < g->cores; i++) {
        bool done = false; /* a process has one D for all its threads */
        for (size_t k = 0; k < i; k++)
            done |= g->core[k].pid == g->core[i].pid;
        snprintf(packet, sizeof(packet), "D;%" PRIx32, (uint32_t)g->core[i].pid);
        if (!done && link_gdb_ask(g, packet, &answer, NULL) != CORRAL_OK)
            return;
    }
}

static void close_gdb(void *ctx)
{
    struct link_gdb *g = ctx;
    if (!g)
        return;
    if (g->rpc && g->cores && !g->keep && !g->never_started && !g->state.running && !g->state.ended)
        let_go(g);
    rsp_close(g->rpc);
    free(g);
}

static const struct link_backend link_gdb_backend = {
    .caps = LINK_CAP_MEM,
    .execute = execute,
    .close = close_gdb,
};

struct link_gdb *link_gdb_of(struct link *link)
{
    return link_backend_ctx(link, &link_gdb_backend);
}

struct link *link_gdb_open(const char *spec, const struct link_options *options, struct host_clock *clock,
                           struct diag *d)
{
    const char *words = strncmp(spec, "gdb:", 4) == 0 ? spec + 4 : "";
    if (options && (options->wire_hz || options->protocol)) {
        diag_set(d, CORRAL_ERR_USAGE, "link '%s': the wire behind a gdb stub is the stub's to set", spec);
        return NULL;
    }
    struct link_gdb *g = calloc(1, sizeof(*g));
    if (!g) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    g->selected = -1;
    g->rpc = rsp_open(words, d);
    struct link *link = NULL;
    if (g->rpc && options && options->open_ns > 0)
        rsp_patience(g->rpc,
                     (int)(options->open_ns / NS_PER_MS < INT_MAX ? options->open_ns / NS_PER_MS : 0));
    if (g->rpc && connect_stub(g, d) == CORRAL_OK) {
        rsp_patience(g->rpc, 0);
        link = link_new(&link_gdb_backend, g, spec, clock);
        if (!link)
            diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    }
    if (!link)
        close_gdb(g);
    return link;
}

size_t link_gdb_core_count(struct link *link)
{
    const struct link_gdb *g = link_gdb_of(link);
    return g ? g->cores : 0;
}

const char *link_gdb_core_id(struct link *link, size_t core)
{
    const struct link_gdb *g = link_gdb_of(link);
    return g && core < g->cores ? g->id[core] : "";
}

const struct rsp_registers *link_gdb_registers(struct link *link, size_t core)
{
    return &link_gdb_of(link)->registers[core < LINK_GDB_CORES ? core : 0];
}

void link_gdb_keep(struct link *link, bool keep)
{
    link_gdb_of(link)->keep = keep;
}
