/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See front_server.h. Sockets, buffers and the board's pace; what is said on the sockets is the fronts'.
 *
 * Each client has one buffer each way. While answers wait to be sent, nothing more is read from that client,
 * so neither buffer can grow; the other fronts and the board's time go on.
 */
#include "sim/front_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/host_clock.h"
#include "sim/board_control.h"
#include "sim/control_socket.h"

#define PATIENCE_MS 10000
#define LOOK_MS     100               /* how often the stop flag is looked at when nothing happens */
#define SLICE_NS    (2 * NS_PER_MS)   /* of board time, pace real */
#define BEHIND_NS   (100 * NS_PER_MS) /* further behind is given up */
#define MAX_SLICES  1000u             /* of a second of board time, pace max */

struct station {
    struct front *front;
    int listener, client; /* -1 = none; of the listener: the probe is gone */
    uint16_t port;
    bool closing; /* hang up when the answers are sent */
    int64_t stuck_since;
    size_t in_size, out_from, out_size;
    struct front_report report;
    uint8_t in[FRONT_IN_MAX], out[FRONT_OUT_MAX];
};

struct front_server {
    struct board *board;
    enum front_pace pace;
    int64_t patience_ns;
    unsigned count;
    struct station *station[FRONT_SERVER_FRONTS];
    bool controlled;
    struct control_socket socket;
    struct board_control control;
    bool awaited; /* the probes' state of `control` comes into force after so many transfers: */
    uint64_t turning_point;
    enum board_probes probes; /* the one in force */
    int64_t due, behind_ns;   /* pace real: the host time that the board has reached */
};

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

struct front_server *front_server_new(struct board *b, enum front_pace pace, int patience_ms, struct diag *d)
{
    struct front_server *s = calloc(1, sizeof(*s));

    if (!s) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    s->board = b;
    s->pace = pace;
    s->patience_ns = (patience_ms > 0 ? patience_ms : PATIENCE_MS) * NS_PER_MS;
    return s;
}

static void hang_up(struct station *t)
{
    if (t->client >= 0)
        close(t->client);
    if (t->front->pulls_reset)
        board_pin_reset(t->front->board, false);
    t->front->pulls_reset = false;
    t->client = -1;
    t->closing = false;
    t->in_size = t->out_from = t->out_size = 0;
    t->stuck_since = 0;
}

void front_server_free(struct front_server *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < s->count; i++) {
        struct station *t = s->station[i];
        hang_up(t);
        if (t->listener >= 0)
            close(t->listener);
        t->front->kind->release(t->front);
        free(t);
    }
    if (s->controlled)
        control_socket_close(&s->socket);
    free(s);
}

static int listen_on(uint16_t *port)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(own);
    int on = 1;
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    own.sin_port = htons(*port);
    if (s < 0)
        return -1;
    if (setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(s, (const struct sockaddr *)&own, size) != 0 || listen(s, 1) != 0 ||
        getsockname(s, (struct sockaddr *)&own, &size) != 0) {
        int why = errno;
        close(s);
        errno = why;
        return -1;
    }
    *port = ntohs(own.sin_port);
    return s;
}

enum corral_err front_server_add(struct front_server *s, const struct front_kind *kind, uint16_t *port,
                                 struct diag *d)
{
    struct station *t = NULL;
    uint16_t wanted = *port;

    if (s->count == FRONT_SERVER_FRONTS)
        return diag_set(d, CORRAL_ERR_USAGE, "more fronts than a board has");
    t = calloc(1, sizeof(*t));
    if (t)
        t->front = kind->make(s->board);
    if (!t || !t->front) {
        free(t);
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    }
    t->report.name = kind->name;
    t->client = -1;
    t->listener = listen_on(port);
    if (t->listener < 0) {
        diag_set(d, CORRAL_ERR_IO, "%s: cannot listen on TCP port %u: %s", kind->name, wanted,
                 strerror(errno));
        kind->release(t->front);
        free(t);
        return CORRAL_ERR_IO;
    }
    t->port = *port;
    s->station[s->count++] = t;
    return CORRAL_OK;
}

enum corral_err front_server_control(struct front_server *s, const char *path, struct diag *d)
{
    enum corral_err err = control_socket_open(&s->socket, path, d);
    s->controlled = err == CORRAL_OK;
    s->control.board = s->board;
    return err;
}

static uint64_t transfers(const struct front_server *s)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < s->count; i++)
        sum += s->station[i]->front->transfers;
    return sum;
}

/* What a controller asked for, once its time has come. */
static void turn(struct front_server *s)
{
    if (!s->awaited || transfers(s) < s->turning_point)
        return;
    s->awaited = false;
    s->probes = s->control.probes;
    for (unsigned i = 0; i < s->count; i++) {
        struct station *t = s->station[i];
        if (s->probes == BOARD_PROBES_GONE) {
            if (t->listener >= 0) /* first: who sees the end of his connection finds nobody any more */
                close(t->listener);
            t->listener = -1;
            hang_up(t);
        } else if (t->listener < 0) {
            t->listener = listen_on(&t->port); /* somebody else may have it by now: it stays away */
        }
    }
}

static const char *command(void *ctx, const char *line)
{
    struct front_server *s = ctx;
    const char *answer = board_control_line(&s->control, line);

    if (s->control.probes_asked) {
        s->control.probes_asked = false;
        s->awaited = true;
        s->turning_point = transfers(s) + s->control.after;
        turn(s);
    }
    return answer;
}

/* Nothing of a probe that is gone or stuck is seen or heard any more. */
static bool silent(const struct front_server *s)
{
    return s->probes != BOARD_PROBES_THERE;
}

static void take_client(struct station *t)
{
    int on = 1;

    t->client = accept4(t->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (t->client < 0)
        return;
    setsockopt(t->client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    t->report.clients++;
    t->front->kind->begin(t->front);
}

static bool sending(const struct station *t)
{
    return t->out_size > t->out_from;
}

static void send_answers(struct station *t, int64_t patience_ns)
{
    ssize_t n = send(t->client, t->out + t->out_from, t->out_size - t->out_from, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n > 0) {
        t->out_from += (size_t)n;
        t->stuck_since = 0;
    } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
        hang_up(t);
        return;
    }
    if (!sending(t)) {
        t->out_from = t->out_size = 0;
        t->stuck_since = 0;
        if (t->closing)
            hang_up(t);
        return;
    }
    if (!t->stuck_since) {
        t->stuck_since = now_ns();
    } else if (now_ns() - t->stuck_since > patience_ns) {
        t->report.put_off++;
        hang_up(t);
    }
}

/* The front takes what it can of what was received. Only with an empty output buffer. */
static void work(struct station *t)
{
    struct front_io io = {.in = t->in, .size = t->in_size, .out = t->out, .room = sizeof(t->out)};

    t->front->kind->work(t->front, &io);
    memmove(t->in, t->in + io.used, t->in_size - io.used);
    t->in_size -= io.used;
    t->out_size = io.filled;
    t->closing = io.close;
    if (!io.close && io.used == 0 && io.filled == 0 && t->in_size == sizeof(t->in))
        t->closing = true; /* a message that no buffer can hold */
    if (t->closing && t->in_size > 0)
        t->report.nonsense++;
}

static void receive(struct front_server *s, struct station *t)
{
    int64_t patience_ns = s->patience_ns;
    ssize_t n = recv(t->client, t->in + t->in_size, sizeof(t->in) - t->in_size, MSG_DONTWAIT);

    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        hang_up(t);
        return;
    }
    if (n > 0)
        t->in_size += (size_t)n;
    /* As long as messages are taken and their answers leave at once. */
    for (size_t before = t->in_size + 1; t->client >= 0 && t->in_size > 0 && t->in_size < before;) {
        before = t->in_size;
        work(t);
        turn(s);
        if (silent(s))
            return;
        if (sending(t) || t->closing)
            send_answers(t, patience_ns);
        if (t->client < 0 || sending(t))
            return;
    }
}

static void serve_station(struct front_server *s, struct station *t, bool ready)
{
    if (t->client < 0) {
        if (ready)
            take_client(t);
    } else if (sending(t)) {
        send_answers(t, s->patience_ns); /* also when it is not ready: patience ends some time */
        if (t->client >= 0 && !sending(t) && t->in_size > 0)
            receive(s, t);
    } else if (ready) {
        receive(s, t);
    }
}

static void serve(struct front_server *s, int timeout_ms)
{
    struct pollfd p[FRONT_SERVER_FRONTS + 2] = {0};
    int ready = 0;

    for (unsigned i = 0; i < s->count; i++) {
        const struct station *t = s->station[i];
        p[i] = (struct pollfd){.fd = t->client >= 0 ? t->client : t->listener,
                               .events = t->client >= 0 && sending(t) ? POLLOUT : POLLIN};
        if (silent(s))
            p[i].fd = -1;
    }
    p[s->count] = (struct pollfd){.fd = s->controlled ? s->socket.listener : -1, .events = POLLIN};
    p[s->count + 1] = (struct pollfd){.fd = s->controlled ? s->socket.client : -1, .events = POLLIN};
    ready = poll(p, s->count + 2, timeout_ms);
    for (unsigned i = 0; i < s->count && !silent(s); i++)
        serve_station(s, s->station[i], ready > 0 && p[i].revents != 0);
    if (ready > 0 && p[s->count + 1].revents)
        control_socket_input(&s->socket, command, s);
    if (ready > 0 && p[s->count].revents)
        control_socket_accept(&s->socket);
}

static void run_slice(struct front_server *s, uint64_t ticks)
{
    board_run_until(s->board, board_tick(s->board) + ticks);
}

/* A slice of board time for each slice of real time that has passed. */
static void serve_real(struct front_server *s)
{
    uint64_t slice = board_tick_hz(s->board) / (uint64_t)(NS_PER_S / SLICE_NS);
    int64_t left = s->due - now_ns();

    serve(s, left > 0 ? (int)((left + NS_PER_MS - 1) / NS_PER_MS) : 0);
    if (now_ns() < s->due)
        return;
    run_slice(s, slice);
    s->due += SLICE_NS;
    if (now_ns() - s->due > BEHIND_NS) {
        s->behind_ns += now_ns() - s->due;
        s->due = now_ns();
    }
}

enum corral_err front_server_run(struct front_server *s, const atomic_bool *stop, struct diag *d)
{
    (void)d;
    s->due = now_ns();
    while (!atomic_load(stop)) {
        if (s->pace == FRONT_PACE_REAL) {
            serve_real(s);
        } else {
            serve(s, s->pace == FRONT_PACE_WIRE ? LOOK_MS : 0);
            if (s->pace == FRONT_PACE_MAX)
                run_slice(s, board_tick_hz(s->board) / MAX_SLICES);
        }
    }
    for (unsigned i = 0; i < s->count; i++)
        hang_up(s->station[i]);
    return CORRAL_OK;
}

void front_server_get_report(const struct front_server *s, struct front_server_report *report)
{
    *report = (struct front_server_report){.fronts = s->count};
    for (unsigned i = 0; i < s->count; i++) {
        report->front[i] = s->station[i]->report;
        report->front[i].transfers = s->station[i]->front->transfers;
    }
    report->wire_clocks = board_wire_clocks(s->board);
    report->board_seconds = (double)board_tick(s->board) / (double)board_tick_hz(s->board);
    report->fell_behind_seconds = (double)s->behind_ns / 1e9;
}
