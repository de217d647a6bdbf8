/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the links cost: a 64 KiB block read and written, one word, the registers that gdb asks for, all cores
 * halted and run, in wire clocks of the board, round trips and time. Over `jtag:` against OpenOCD's own on
 * the same front in the same run, as ratios; the target is to be better in each. Reports and asserts no
 * speed.
 *
 * Arguments: the path of corral; that of openocd, where there is one.
 *
 * Between the two ends stands a relay that counts. A round trip is a wait: the client sent something after
 * all that it had asked for was there.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "coresight/rom_table.h"
#include "group/group.h"
#include "link/openocd_rpc.h"
#include "tests/unit/link/link_places.h"

#define BLOCK     65536u
#define SRAM      0x20060000u
#define SWCLK     4000000u
#define SINGLES   64u
#define TURNS     16u
#define GENERAL   17u /* registers: r0 to r15, xpsr */
#define JTAG_TCK  4u  /* in the characters '0' to '7' */
#define RELAY_BUF 65536u

enum measure { READ_BLOCK, WRITE_BLOCK, ONE_WORD, REGISTERS, HALT, RUN, HALT_SYNC, RUN_SYNC, MEASURES };
static const char *const names[MEASURES] = {"64 KiB read", "64 KiB write", "one word",   "17 registers",
                                            "halt both",   "run both",     "halt, sync", "run, sync"};

struct cost {
    bool known;
    double clocks, trips, us;
};

/* ---- the relay ---- */

struct relay {
    int listener;
    uint16_t port, to;
    bool jtag; /* counts the answers that were asked for, else a direction's change */
    pthread_t thread;
    atomic_bool end;
    atomic_ullong trips;
};

static int call(uint16_t port)
{
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s >= 0 && connect(s, (struct sockaddr *)&a, sizeof(a)) != 0) {
        close(s);
        return -1;
    }
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return s;
}

static bool send_all(int s, const char *data, ssize_t n)
{
    while (n > 0) {
        ssize_t k = send(s, data, (size_t)n, MSG_NOSIGNAL);
        if (k <= 0)
            return false;
        data += k;
        n -= k;
    }
    return true;
}

static void serve(struct relay *r, int client, int server)
{
    char *buffer = malloc(RELAY_BUF);
    int64_t asked = 0;
    bool answered = false;
    struct pollfd p[2] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    while (buffer && !r->end && poll(p, 2, 50) >= 0) {
        ssize_t n;
        if (p[1].revents) {
            if ((n = recv(server, buffer, RELAY_BUF, 0)) <= 0 || !send_all(client, buffer, n))
                break;
            asked -= n;
            answered = true;
        }
        if (p[0].revents) {
            if ((n = recv(client, buffer, RELAY_BUF, 0)) <= 0 || !send_all(server, buffer, n))
                break;
            if (answered && (!r->jtag || asked == 0)) {
                r->trips++;
                answered = false;
            }
            for (ssize_t i = 0; r->jtag && i < n; i++)
                asked += buffer[i] == 'R';
        }
        p[0].revents = p[1].revents = 0;
    }
    free(buffer);
}

static void *relay_main(void *ctx)
{
    struct relay *r = ctx;
    int one = 1;
    while (!r->end) {
        struct pollfd p = {.fd = r->listener, .events = POLLIN};
        if (poll(&p, 1, 50) != 1)
            continue;
        int client = accept(r->listener, NULL, NULL), server = call(r->to);
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        if (client >= 0 && server >= 0)
            serve(r, client, server);
        if (client >= 0)
            close(client);
        if (server >= 0)
            close(server);
    }
    return NULL;
}

static bool relay_start(struct relay *r, uint16_t to, bool jtag)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(a);
    *r = (struct relay){.to = to, .jtag = jtag};
    r->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (r->listener < 0 || bind(r->listener, (struct sockaddr *)&a, sizeof(a)) != 0 ||
        listen(r->listener, 1) != 0 || getsockname(r->listener, (struct sockaddr *)&a, &size) != 0)
        return false;
    r->port = ntohs(a.sin_port);
    return pthread_create(&r->thread, NULL, relay_main, r) == 0;
}

static void relay_stop(struct relay *r)
{
    r->end = true;
    pthread_join(r->thread, NULL);
    close(r->listener);
}

/* ---- what is counted ---- */

struct gauge {
    struct place *place;
    struct relay *relay; /* or NULL */
    const char *control;
    double clocks, us;
    uint64_t trips;
};

/* The board's time is its wire's: it stands still without one. */
static double wire_clocks(const struct gauge *g)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char answer[128] = "";
    if (g->place->kind == PLACE_SIM)
        return (double)link_wire_clocks(g->place->link);
    snprintf(a.sun_path, sizeof(a.sun_path), "%s", g->control);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t used = 0;
    if (s >= 0 && connect(s, (struct sockaddr *)&a, sizeof(a)) == 0 &&
        send(s, "ticks\n", 6, MSG_NOSIGNAL) == 6)
        for (ssize_t n; used < sizeof(answer) - 1 && !strchr(answer, '\n') &&
                        (n = recv(s, answer + used, sizeof(answer) - 1 - used, 0)) > 0;)
            used += (size_t)n;
    if (s >= 0)
        close(s);
    char *rest = NULL;
    uint64_t tick = strncmp(answer, "ok ", 3) == 0 ? strtoull(answer + 3, &rest, 10) : 0;
    uint64_t hz = rest ? strtoull(rest, NULL, 10) : 0;
    return hz ? (double)tick * SWCLK / (double)hz : 0;
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void begin(struct gauge *g)
{
    g->clocks = wire_clocks(g);
    g->trips = g->relay ? g->relay->trips : 0;
    g->us = now_us();
}

static void end(struct gauge *g, struct cost *c, unsigned times)
{
    double us = now_us() - g->us;
    *c = (struct cost){.known = true,
                       .us = us / times,
                       .clocks = (wire_clocks(g) - g->clocks) / times,
                       .trips = g->relay ? (double)(g->relay->trips - g->trips) / times : 0};
}

/* ---- Corral ---- */

static bool measure_corral(struct gauge *g, struct cost cost[MEASURES], struct diag *d)
{
    struct link *link = g->place->link;
    static uint8_t block[BLOCK];
    struct core *core[2] = {NULL, NULL};
    struct cs_topology *t = cs_scan(link, NULL, d);
    bool good = t && t->core_count == 2;
    for (size_t i = 0; good && i < 2; i++) {
        const struct cs_core *c = &t->cores[i];
        struct cti *cti = cti_open(link, c->cti.ap, c->cti.address, c->cti.restart_output, d);
        core[i] = core_cortex_m_open(link, c->ap, c->name, 100000000, cti, d);
        good = core[i] != NULL;
    }
    cs_topology_free(t);
    struct group *group = good ? group_new(core, 2, NULL, "group") : NULL;
    good = group && group_halt(group, 0, NULL, d) == CORRAL_OK;
    begin(g);
    good = good && link_write_bytes(link, 0, SRAM, block, BLOCK, d) == CORRAL_OK;
    end(g, &cost[WRITE_BLOCK], 1);
    begin(g);
    good = good && link_read_bytes(link, 0, SRAM, block, BLOCK, d) == CORRAL_OK;
    end(g, &cost[READ_BLOCK], 1);
    begin(g);
    for (uint32_t i = 0, v; good && i < SINGLES; i++)
        good = link_read32(link, 0, SRAM + i % 2 * 0x1000, &v, d) == CORRAL_OK;
    end(g, &cost[ONE_WORD], SINGLES);
    unsigned numbers[GENERAL];
    uint32_t values[GENERAL];
    for (unsigned i = 0; i < GENERAL; i++)
        numbers[i] = i;
    begin(g);
    good = good && core_read_registers(core[0], numbers, GENERAL, values, d) == CORRAL_OK;
    end(g, &cost[REGISTERS], 1);
    for (unsigned sync = 0; good && sync < 2; sync++) {
        good = !sync || group_enable_sync(group, d) == CORRAL_OK;
        struct cost halt = {0}, run = {0};
        for (unsigned i = 0; good && i < TURNS; i++) {
            struct cost c;
            begin(g);
            good = group_run(group, 0, NULL, d) == CORRAL_OK;
            end(g, &c, TURNS);
            run = (struct cost){true, run.clocks + c.clocks, run.trips + c.trips, run.us + c.us};
            good = good && place_let_pass(g->place, 2);
            begin(g);
            good = good && group_halt(group, 0, NULL, d) == CORRAL_OK;
            end(g, &c, TURNS);
            halt = (struct cost){true, halt.clocks + c.clocks, halt.trips + c.trips, halt.us + c.us};
        }
        cost[sync ? HALT_SYNC : HALT] = halt;
        cost[sync ? RUN_SYNC : RUN] = run;
    }
    if (good)
        good = group_disable_sync(group, d) == CORRAL_OK;
    group_free(group);
    core_close(core[0]);
    core_close(core[1]);
    return good;
}

static void print_costs(const char *name, const struct cost cost[MEASURES])
{
    for (unsigned i = 0; i < MEASURES; i++)
        if (cost[i].known)
            printf("  %-12s %-14s %12.0f %10.1f %12.1f\n", i ? "" : name, names[i], cost[i].clocks,
                   cost[i].trips, cost[i].us);
}

static bool bench_place(enum place_kind kind, const char *corral, const char *openocd,
                        struct cost cost[MEASURES])
{
    struct place p;
    struct relay relay;
    struct diag d = DIAG_INIT;
    char control[] = "bench_link_XXXXXX", more[64];
    bool relayed = false;
    close(mkstemp(control)); /* a name that is free */
    unlink(control);
    snprintf(more, sizeof(more), "--control %s", control);
    bool good = place_start(&p, kind, corral, openocd, kind == PLACE_SIM ? NULL : more, &d);
    if (good && kind != PLACE_SIM) {
        uint16_t *port = kind == PLACE_OPENOCD ? &p.tcl : &p.port;
        relayed = good = relay_start(&relay, *port, kind == PLACE_JTAG);
        *port = relay.port;
    }
    struct gauge g = {.place = &p, .relay = relayed ? &relay : NULL, .control = control};
    good = good && place_link(&p, NULL, &d) && dp_power_up(p.link, &d) == CORRAL_OK &&
           measure_corral(&g, cost, &d);
    if (!good)
        fprintf(stderr, "bench: %s: %s\n", p.name, d.message);
    place_close(&p);
    if (relayed)
        relay_stop(&relay);
    unlink(control);
    return good;
}

/* ---- OpenOCD's own ---- */

static bool command(struct openocd_rpc *rpc, struct gauge *g, struct cost *c, unsigned times,
                    const char *script, struct diag *d)
{
    const char *result = NULL, *error = NULL;
    if (c)
        begin(g);
    if (openocd_rpc_run(rpc, script, &result, &error, d) != CORRAL_OK)
        return false;
    if (error) {
        diag_set(d, CORRAL_ERR_FAILED, "%s: %.120s", script, error);
        return false;
    }
    if (c)
        end(g, c, times);
    return true;
}

static bool measure_openocd(struct openocd_rpc *rpc, struct gauge *g, struct cost cost[MEASURES],
                            struct diag *d)
{
    static const char halt[] =
        "foreach t {c0 c1} {$t arp_halt}; foreach t {c0 c1} {$t arp_waitstate halted 2000}";
    /* both look whether the core runs; Corral's proves that it did start, and that it was this start */
    static const char run[] = "foreach t {c0 c1} {targets $t; resume}; foreach t {c0 c1} {$t arp_poll}";
    struct cost h = {0}, r = {0}, c = {0};
    bool good =
        command(rpc, g, NULL, 1, halt, d) &&
        command(rpc, g, NULL, 1, "set l [lrepeat 16384 0x12345678]; expr 1", d) &&
        command(rpc, g, &cost[WRITE_BLOCK], 1, "c0 write_memory 0x20060000 32 $l", d) &&
        command(rpc, g, &cost[READ_BLOCK], 1, "targets c0; dump_image /dev/null 0x20060000 0x10000", d) &&
        command(rpc, g, &cost[ONE_WORD], SINGLES,
                "for {set i 0} {$i < 32} {incr i} {c0 read_memory 0x20060000 32 1; "
                "c0 read_memory 0x20061000 32 1}",
                d);
    for (unsigned i = 0; good && i < TURNS; i++) {
        good = command(rpc, g, &c, TURNS, run, d);
        r = (struct cost){true, r.clocks + c.clocks, r.trips + c.trips, r.us + c.us};
        good = good && command(rpc, g, NULL, 1, "c0 read_memory 0x20060000 32 256", d) &&
               command(rpc, g, &c, TURNS, halt, d);
        h = (struct cost){true, h.clocks + c.clocks, h.trips + c.trips, h.us + c.us};
    }
    cost[HALT] = h;
    cost[RUN] = r;
    return good;
}

static bool bench_openocd(const char *corral, const char *openocd, struct cost cost[MEASURES])
{
    struct place p;
    struct relay relay;
    struct diag d = DIAG_INIT;
    char control[] = "bench_link_XXXXXX", more[64], words[400], config[] = "bench_link_cfg_XXXXXX";
    bool relayed = false;
    close(mkstemp(control));
    unlink(control);
    snprintf(more, sizeof(more), "--control %s", control);
    int fd = mkstemp(config);
    bool good = fd >= 0 && place_start(&p, PLACE_JTAG, corral, openocd, more, &d);
    if (good)
        relayed = good = relay_start(&relay, p.port, true);
    struct gauge g = {.place = &p, .relay = relayed ? &relay : NULL, .control = control};
    if (good)
        dprintf(fd,
                "adapter driver remote_bitbang\nremote_bitbang host 127.0.0.1\nremote_bitbang port %u\n"
                "transport select jtag\njtag newtap c cpu -irlen 4 -expected-id 0x4ba00477\n"
                "dap create c.dap -chain-position c.cpu\n"
                "target create c0 cortex_m -dap c.dap -ap-num 0\n"
                "target create c1 cortex_m -dap c.dap -ap-num 1\n",
                relay.port);
    close(fd);
    snprintf(words, sizeof(words), "spawn:%s", config);
    struct openocd_rpc *rpc = good ? openocd_rpc_open(words, "", INT64_MAX, &d) : NULL;
    good = rpc && measure_openocd(rpc, &g, cost, &d);
    if (!good)
        fprintf(stderr, "bench: OpenOCD: %s\n", d.message);
    openocd_rpc_close(rpc);
    place_close(&p);
    if (relayed)
        relay_stop(&relay);
    unlink(control);
    unlink(config);
    return good;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static void compare(const struct cost ours[MEASURES], const struct cost theirs[MEASURES])
{
    printf("jtag against OpenOCD's own on the same front (target: below 1 in each)\n");
    printf("  %-12s %-14s %12s %10s %12s\n", "", "", "wire clocks", "trips", "time");
    for (unsigned i = 0; i < MEASURES; i++)
        if (theirs[i].known)
            printf("  %-12s %-14s %12.2f %10.2f %12.2f\n", "", names[i],
                   ratio(ours[i].clocks, theirs[i].clocks), ratio(ours[i].trips, theirs[i].trips),
                   ratio(ours[i].us, theirs[i].us));
}

static void print_json(const char *name, const struct cost cost[MEASURES], const char *end_of_it)
{
    printf("\"%s\":{", name);
    for (unsigned i = 0, n = 0; i < MEASURES; i++)
        if (cost[i].known)
            printf("%s\"%s\":{\"wire_clocks\":%.0f,\"round_trips\":%.1f,\"us\":%.1f}", n++ ? "," : "",
                   names[i], cost[i].clocks, cost[i].trips, cost[i].us);
    printf("}%s", end_of_it);
}

int main(int argc, char **argv)
{
    static struct cost cost[PLACE_KINDS][MEASURES], own[MEASURES];
    if (argc < 2) {
        fprintf(stderr, "usage: bench_link CORRAL [OPENOCD]\n");
        return 2;
    }
    const char *openocd = argc > 2 ? argv[2] : NULL;
    bool good = true;
    printf("  %-12s %-14s %12s %10s %12s\n", "link", "", "wire clocks", "trips", "us");
    for (enum place_kind k = PLACE_SIM; k <= PLACE_OPENOCD; k++) {
        if (k == PLACE_OPENOCD && !openocd)
            continue;
        good = bench_place(k, argv[1], openocd, cost[k]) && good;
        static const char *const shown[] = {"sim", "jtag", "cmsis-dap", "openocd"};
        print_costs(shown[k], cost[k]);
    }
    if (openocd && bench_openocd(argv[1], openocd, own)) {
        print_costs("OpenOCD, jtag", own);
        compare(cost[PLACE_JTAG], own);
    }
    printf("{\"bench\":\"link\",");
    print_json("sim", cost[PLACE_SIM], ",");
    print_json("jtag", cost[PLACE_JTAG], ",");
    print_json("cmsis-dap", cost[PLACE_CMSIS_DAP], ",");
    print_json("openocd", cost[PLACE_OPENOCD], ",");
    print_json("openocd-own-jtag", own, "}\n");
    return good ? 0 : 1;
}
