/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board behind a profiler daemon (profile_target.h): the loop that runs the board in slices of real time,
 * and the daemon's sockets. What is said on them is profile_daemon.c's. Profiler sheet 1 and 6.
 */
#include "sim/profile_target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/host_clock.h"
#include "sim/board.h"
#include "sim/board_file.h"
#include "sim/profile_daemon.h"

#define PROFILE_UDP_PORT 51080
#define SLICE_NS         (2 * NS_PER_MS)
#define BEHIND_NS        (100 * NS_PER_MS) /* further behind is given up */
#define READ_ROOM        512

struct profile_target {
    struct board *board;
    struct profile_daemon daemon;
    int listener, client;
    int udp[BOARD_CORES];
    uint16_t port, udp_port;
    int64_t run_ns; /* how long; 0 = for ever */
    int64_t behind_ns;
    struct profile_target_report report;
};

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* A datagram from a core's port, or a maps packet (from core 0's): to the client, or to nobody. */
static void send_datagram(struct profile_target *t, unsigned core, const uint8_t *data, size_t size)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(t->udp_port)};

    memcpy(&to.sin_addr, t->daemon.address, sizeof(to.sin_addr));
    if (sendto(t->udp[core], data, size, MSG_NOSIGNAL, (const struct sockaddr *)&to, sizeof(to)) ==
        (ssize_t)size)
        t->report.datagrams++;
    else
        t->report.refused++;
}

static void on_datagram(void *ctx, unsigned core, const uint8_t *data, size_t size)
{
    struct profile_target *t = ctx;

    if (core >= BOARD_CORES)
        return;
    if (t->client < 0 || !t->daemon.started || !t->daemon.address_known)
        t->report.discarded++;
    else
        send_datagram(t, core, data, size);
}

static void on_maps(void *ctx, const uint8_t *data, size_t size)
{
    send_datagram(ctx, 0, data, size);
}

static void hang_up(struct profile_target *t)
{
    if (t->client >= 0)
        close(t->client);
    t->client = -1;
    profile_daemon_begin(&t->daemon); /* the next client starts from nothing */
}

/* A client that does not read its answers is put off: the board must not wait for it. */
static void on_answer(void *ctx, const char *text, size_t size)
{
    struct profile_target *t = ctx;

    if (t->client >= 0 && send(t->client, text, size, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)size)
        t->daemon.closing = true;
}

static enum corral_err open_sockets(struct profile_target *t, uint16_t port, struct diag *d)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(own);
    int on = 1;

    for (unsigned i = 0; i < BOARD_CORES; i++) {
        t->udp[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (t->udp[i] < 0)
            return diag_set(d, CORRAL_ERR_IO, "the board's datagram port cannot be opened: %s",
                            strerror(errno));
    }
    own.sin_port = htons(port);
    t->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (t->listener < 0 || setsockopt(t->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(t->listener, (const struct sockaddr *)&own, size) != 0 || listen(t->listener, 1) != 0 ||
        getsockname(t->listener, (struct sockaddr *)&own, &size) != 0)
        return diag_set(d, CORRAL_ERR_IO, "the control channel cannot listen on TCP port %u: %s", port,
                        strerror(errno));
    t->port = ntohs(own.sin_port);
    return CORRAL_OK;
}

static enum corral_err open_board(struct profile_target *t, uint64_t seed, struct diag *d)
{
    struct board_config config = {.seed = seed, .datagram = on_datagram, .ctx = t};

    t->board = board_new(&config, d);
    if (!t->board)
        return d ? d->code : CORRAL_ERR_NO_MEMORY;
    enum corral_err err = board_load_words(t->board, NULL, d);
    if (err == CORRAL_OK)
        board_reset(t->board);
    return err;
}

struct profile_target *profile_target_open(const struct profile_target_options *options, struct diag *d)
{
    struct profile_target *t = calloc(1, sizeof(*t));

    if (!t) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    t->listener = t->client = -1;
    for (unsigned i = 0; i < BOARD_CORES; i++)
        t->udp[i] = -1;
    t->udp_port = options->udp_port ? options->udp_port : PROFILE_UDP_PORT;
    t->run_ns = options->seconds > 0 ? (int64_t)(options->seconds * 1e9) : 0;
    t->daemon = (struct profile_daemon){.ctx = t, .answer = on_answer, .maps = on_maps};
    if (open_sockets(t, options->control_port, d) != CORRAL_OK ||
        open_board(t, options->seed, d) != CORRAL_OK) {
        profile_target_free(t);
        return NULL;
    }
    return t;
}

void profile_target_free(struct profile_target *t)
{
    if (!t)
        return;
    hang_up(t);
    if (t->listener >= 0)
        close(t->listener);
    for (unsigned i = 0; i < BOARD_CORES; i++)
        if (t->udp[i] >= 0)
            close(t->udp[i]);
    board_free(t->board);
    free(t);
}

uint16_t profile_target_port(const struct profile_target *t)
{
    return t->port;
}

static void take_client(struct profile_target *t)
{
    t->client = accept4(t->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (t->client < 0)
        return;
    t->report.clients++;
    profile_daemon_begin(&t->daemon);
}

static void take_words(struct profile_target *t)
{
    uint8_t data[READ_ROOM];
    ssize_t n = recv(t->client, data, sizeof(data), MSG_DONTWAIT);

    if (n > 0)
        profile_daemon_feed(&t->daemon, data, (size_t)n);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) || t->daemon.closing)
        hang_up(t);
}

/* Serve the sockets until `until`; also when it is past, once. */
static void serve_until(struct profile_target *t, int64_t until)
{
    do {
        int64_t left = until - now_ns();
        struct pollfd p = {.fd = t->client >= 0 ? t->client : t->listener, .events = POLLIN};
        if (poll(&p, 1, left > 0 ? (int)((left + NS_PER_MS - 1) / NS_PER_MS) : 0) <= 0)
            continue;
        if (t->client >= 0)
            take_words(t);
        else
            take_client(t);
    } while (now_ns() < until);
}

enum corral_err profile_target_run(struct profile_target *t, const atomic_bool *stop, struct diag *d)
{
    uint64_t hz = board_tick_hz(t->board);
    uint64_t slice = hz / (uint64_t)(NS_PER_S / SLICE_NS);
    int64_t begin = now_ns(), due = begin;

    (void)d;
    while (!atomic_load(stop) && (t->run_ns == 0 || now_ns() - begin < t->run_ns)) {
        board_run_until(t->board, board_tick(t->board) + slice);
        due += SLICE_NS;
        serve_until(t, due);
        if (now_ns() - due > BEHIND_NS) {
            t->behind_ns += now_ns() - due;
            due = now_ns();
        }
    }
    hang_up(t);
    t->report.board_seconds = (double)board_tick(t->board) / (double)hz;
    t->report.fell_behind_seconds = (double)t->behind_ns / 1e9;
    return CORRAL_OK;
}

void profile_target_get_report(const struct profile_target *t, struct profile_target_report *report)
{
    *report = t->report;
    report->commands = t->daemon.commands;
    report->unknown_commands = t->daemon.unknown;
}
