/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client of a profiler daemon's control channel: profiler sheet 6. Opening talks in order and waits,
 * bounded; then a thread takes what comes unasked and sends what is asked for. The daemon serves one client
 * and drops the connection at a process number above 32767, so such a number is never sent.
 *
 * Its waits are in real time: it talks to a real socket, whatever clock the session has.
 */
#include "prof/control.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/host_clock.h"
#include "base/text.h"

#define MAX_REQUESTS 64
#define MAX_PID      32767u
#define DEFAULT_WAIT (5 * NS_PER_S)
#define GOODBYE_WAIT (1 * NS_PER_S)
#define POLL_MS      1000 /* nothing depends on it; no wait is without end */
#define READ_ROOM    4096
#define COMMAND_ROOM 64
#define REQUEST_VMA  UINT32_MAX
#define MAX_ANSWER   (16u << 20) /* bytes before the first "done": no kernel's map is longer */

struct prof_control {
    int socket;
    int wake;
    struct prof_control_sink user;
    struct prof_control_text *text;
    char name[160]; /* of the target, escaped */
    bool done;      /* the first answer is whole; the opening thread's, then the client's */
    pthread_t thread;
    bool running;
    pthread_mutex_t lock; /* guards what follows */
    uint32_t requests[MAX_REQUESTS];
    size_t first, count;
    bool stop, closed;
    struct prof_control_counts counts; /* as of the bytes read last */
};

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* Wait until `fd` is ready for `events`, at most until `end`: 1 ready, 0 too late, -1 failed (errno). */
static int wait_for(int fd, short events, int64_t end)
{
    for (;;) {
        struct pollfd p = {.fd = fd, .events = events};
        int64_t left = end - now_ns();
        if (left <= 0)
            return 0;
        int64_t ms = left / NS_PER_MS + 1;
        int n = poll(&p, 1, ms > POLL_MS ? POLL_MS : (int)ms);
        if (n > 0)
            return 1;
        if (n < 0 && errno != EINTR)
            return -1;
    }
}

static enum corral_err unreachable(const struct prof_control *c, const char *why, struct diag *d)
{
    diag_set(d, CORRAL_ERR_LINK_DOWN, "the profiler's control channel at %s: %s", c->name, why);
    diag_hint(d, "the target's daemon listens on TCP port %d and serves one client at a time",
              PROF_CONTROL_PORT);
    diag_object(d, "%s", c->name);
    return CORRAL_ERR_LINK_DOWN;
}

static enum corral_err too_late(const struct prof_control *c, const char *what, struct diag *d)
{
    diag_set(d, CORRAL_ERR_TIMEOUT, "the profiler's control channel at %s %s in time", c->name, what);
    diag_hint(d, "another client may hold it: the daemon serves one at a time");
    diag_object(d, "%s", c->name);
    return CORRAL_ERR_TIMEOUT;
}

/* One address of the target. */
static enum corral_err connect_to(struct prof_control *c, const struct addrinfo *a, int64_t end,
                                  struct diag *d)
{
    int why = 0;
    socklen_t size = sizeof(why);

    c->socket = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (c->socket < 0)
        return unreachable(c, strerror(errno), d);
    if (connect(c->socket, a->ai_addr, a->ai_addrlen) != 0) {
        if (errno != EINPROGRESS)
            return unreachable(c, strerror(errno), d);
        int ready = wait_for(c->socket, POLLOUT, end);
        if (ready == 0)
            return too_late(c, "did not take the connection", d);
        if (ready < 0 || getsockopt(c->socket, SOL_SOCKET, SO_ERROR, &why, &size) != 0)
            why = errno;
        if (why != 0)
            return unreachable(c, strerror(why), d);
    }
    return CORRAL_OK;
}

static enum corral_err open_connection(struct prof_control *c, const struct prof_control_options *o,
                                       int64_t end, struct diag *d)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    char port[8];
    enum corral_err err;

    snprintf(port, sizeof(port), "%u", o->port ? o->port : PROF_CONTROL_PORT);
    int why = getaddrinfo(o->host, port, &hints, &list);
    if (why != 0)
        return unreachable(c, gai_strerror(why), d);
    err = unreachable(c, "it has no address", d);
    for (const struct addrinfo *a = list; a && err != CORRAL_OK; a = a->ai_next) {
        if (c->socket >= 0)
            close(c->socket);
        c->socket = -1;
        err = connect_to(c, a, end, d);
    }
    freeaddrinfo(list);
    return err;
}

static enum corral_err send_line(struct prof_control *c, const char *line, int64_t end, struct diag *d)
{
    size_t size = strlen(line);

    while (size) {
        int ready = wait_for(c->socket, POLLOUT, end);
        if (ready == 0)
            return too_late(c, "did not take a command", d);
        ssize_t n = ready < 0 ? -1 : send(c->socket, line, size, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n < 0)
            return unreachable(c, strerror(errno), d);
        line += n;
        size -= (size_t)n;
    }
    return CORRAL_OK;
}

/* 1 = bytes were fed, 0 = nothing now, -1 = the other side is gone. */
static int feed(struct prof_control *c, size_t *got)
{
    uint8_t data[READ_ROOM];
    ssize_t n = recv(c->socket, data, sizeof(data), MSG_DONTWAIT);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (n == 0)
        return -1;
    prof_control_text_feed(c->text, data, (size_t)n);
    pthread_mutex_lock(&c->lock);
    prof_control_text_counts(c->text, &c->counts);
    pthread_mutex_unlock(&c->lock);
    *got += (size_t)n;
    return 1;
}

static enum corral_err wait_for_done(struct prof_control *c, int64_t end, struct diag *d)
{
    size_t got = 0;

    while (!c->done) {
        int ready = wait_for(c->socket, POLLIN, end);
        if (ready == 0)
            return too_late(c, "did not answer", d);
        if (ready < 0 || feed(c, &got) < 0)
            return unreachable(c, "it closed the connection", d);
        if (got > MAX_ANSWER)
            return unreachable(c, "its answer has no end", d);
    }
    return CORRAL_OK;
}

/* Where the target is to send: what the user said, else this end of the connection. IPv4 is all it knows. */
static enum corral_err own_address(struct prof_control *c, const char *given, char out[INET_ADDRSTRLEN],
                                   struct diag *d)
{
    struct sockaddr_storage own = {0};
    struct in_addr v4 = {0};
    socklen_t size = sizeof(own);

    if (given) {
        if (inet_pton(AF_INET, given, &v4) != 1)
            return diag_set(d, CORRAL_ERR_USAGE, "'%s' is not an IPv4 address to send the profile to", given);
    } else if (getsockname(c->socket, (struct sockaddr *)&own, &size) != 0) {
        return diag_set(d, CORRAL_ERR_IO, "this end of the connection has no address: %s", strerror(errno));
    } else if (own.ss_family == AF_INET) {
        v4 = ((const struct sockaddr_in *)&own)->sin_addr;
    } else {
        struct sockaddr_in6 six;
        memcpy(&six, &own, sizeof(six));
        if (!IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
            diag_set(d, CORRAL_ERR_UNSUPPORTED,
                     "%s is reached over IPv6, and its daemon sends over IPv4 only", c->name);
            diag_hint(d, "name this machine's IPv4 address");
            return CORRAL_ERR_UNSUPPORTED;
        }
        memcpy(&v4, &six.sin6_addr.s6_addr[12], sizeof(v4));
    }
    return inet_ntop(AF_INET, &v4, out, INET_ADDRSTRLEN) ? CORRAL_OK
                                                         : diag_set(d, CORRAL_ERR_IO, "%s", strerror(errno));
}

/* map, its answer, ip, start: the order of the original tool. */
static enum corral_err begin(struct prof_control *c, const struct prof_control_options *o, struct diag *d)
{
    int64_t wait = o->timeout_ns > 0 ? o->timeout_ns : DEFAULT_WAIT;
    char ip[INET_ADDRSTRLEN], line[COMMAND_ROOM];
    enum corral_err err = open_connection(c, o, now_ns() + wait, d);

    if (err == CORRAL_OK)
        err = own_address(c, o->own_ip, ip, d);
    if (err == CORRAL_OK)
        err = send_line(c, "map\n", now_ns() + wait, d);
    if (err == CORRAL_OK)
        err = wait_for_done(c, now_ns() + wait, d);
    if (err != CORRAL_OK || o->no_start)
        return err;
    snprintf(line, sizeof(line), "ip %s\n", ip);
    err = send_line(c, line, now_ns() + wait, d);
    return err == CORRAL_OK ? send_line(c, "start\n", now_ns() + wait, d) : err;
}

/* The next request as a command; false when there is none. */
static bool next_request(struct prof_control *c, char line[COMMAND_ROOM], bool *stop)
{
    uint32_t what = 0;

    pthread_mutex_lock(&c->lock);
    bool any = c->count > 0;
    *stop = c->stop;
    if (any) {
        what = c->requests[c->first];
        c->first = (c->first + 1) % MAX_REQUESTS;
        c->count--;
    }
    pthread_mutex_unlock(&c->lock);
    if (what == REQUEST_VMA)
        snprintf(line, COMMAND_ROOM, "vma\n");
    else
        snprintf(line, COMMAND_ROOM, "pid %u\n", what);
    return any;
}

static void *serve(void *ctx)
{
    struct prof_control *c = ctx;
    char line[COMMAND_ROOM];
    bool stop = false, alive = true;

    while (!stop && alive) {
        struct pollfd waits[2] = {{.fd = c->socket, .events = POLLIN}, {.fd = c->wake, .events = POLLIN}};
        size_t got = 0;
        uint64_t rung;
        if (poll(waits, 2, POLL_MS) > 0 && waits[1].revents && read(c->wake, &rung, sizeof(rung)) < 0 &&
            errno != EAGAIN)
            break;
        if (waits[0].revents && feed(c, &got) < 0)
            alive = false;
        while (alive && next_request(c, line, &stop))
            alive = send_line(c, line, now_ns() + GOODBYE_WAIT, NULL) == CORRAL_OK;
    }
    if (alive) { /* best effort: the target also notices the closed connection */
        alive = send_line(c, "stop\n", now_ns() + GOODBYE_WAIT, NULL) == CORRAL_OK &&
                send_line(c, "close\n", now_ns() + GOODBYE_WAIT, NULL) == CORRAL_OK;
        (void)alive;
    }
    pthread_mutex_lock(&c->lock);
    c->closed = true;
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static void on_done(void *ctx, uint32_t pid, const char *reason)
{
    struct prof_control *c = ctx;

    c->done = true;
    if (c->user.done)
        c->user.done(c->user.ctx, pid, reason);
}

static void on_begin(void *ctx, uint32_t pid, const char *version)
{
    struct prof_control *c = ctx;
    if (c->user.begin)
        c->user.begin(c->user.ctx, pid, version);
}

static void on_command(void *ctx, uint32_t pid, const char *command_line)
{
    struct prof_control *c = ctx;
    if (c->user.command)
        c->user.command(c->user.ctx, pid, command_line);
}

static void on_map(void *ctx, uint32_t pid, const struct prof_control_map *map)
{
    struct prof_control *c = ctx;
    if (c->user.map)
        c->user.map(c->user.ctx, pid, map);
}

static void on_module(void *ctx, const struct prof_control_module *module)
{
    struct prof_control *c = ctx;
    if (c->user.module)
        c->user.module(c->user.ctx, module);
}

static void on_bad_line(void *ctx, const char *line)
{
    struct prof_control *c = ctx;
    if (c->user.bad_line)
        c->user.bad_line(c->user.ctx, line);
}

static void release(struct prof_control *c)
{
    if (c->socket >= 0)
        close(c->socket);
    if (c->wake >= 0)
        close(c->wake);
    prof_control_text_free(c->text);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static enum corral_err start_thread(struct prof_control *c, struct diag *d)
{
    sigset_t all, before;

    sigfillset(&all); /* signals are the main thread's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int why = pthread_create(&c->thread, NULL, serve, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (why != 0)
        return diag_set(d, CORRAL_ERR_FAILED, "the control channel's thread cannot be started: %s",
                        strerror(why));
    c->running = true;
    return CORRAL_OK;
}

struct prof_control *prof_control_open(const struct prof_control_options *options, struct diag *d)
{
    struct prof_control *c = calloc(1, sizeof(*c));
    struct prof_control_sink sink = {.ctx = c,
                                     .begin = on_begin,
                                     .command = on_command,
                                     .map = on_map,
                                     .module = on_module,
                                     .done = on_done,
                                     .bad_line = on_bad_line};

    if (!c || pthread_mutex_init(&c->lock, NULL) != 0) {
        free(c);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory for the control channel");
        return NULL;
    }
    c->socket = -1;
    c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    c->text = prof_control_text_new(&sink);
    if (options->sink)
        c->user = *options->sink;
    text_escape((const uint8_t *)options->host, strnlen(options->host, 30), c->name, sizeof(c->name));
    enum corral_err err = CORRAL_OK;
    if (c->wake < 0 || !c->text)
        err = diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory for the control channel");
    if (err == CORRAL_OK)
        err = begin(c, options, d);
    if (err == CORRAL_OK)
        err = start_thread(c, d);
    if (err != CORRAL_OK) {
        release(c);
        return NULL;
    }
    return c;
}

static void wake(struct prof_control *c)
{
    uint64_t one = 1;
    ssize_t written;

    do
        written = write(c->wake, &one, sizeof(one)); /* full means it is awake already */
    while (written < 0 && errno == EINTR);
}

static enum corral_err ask(struct prof_control *c, uint32_t what, struct diag *d)
{
    pthread_mutex_lock(&c->lock);
    bool closed = c->closed, room = c->count < MAX_REQUESTS;
    if (!closed && room)
        c->requests[(c->first + c->count++) % MAX_REQUESTS] = what;
    pthread_mutex_unlock(&c->lock);
    if (closed)
        return unreachable(c, "it closed the connection", d);
    if (!room)
        return diag_set(d, CORRAL_ERR_LIMIT, "%d requests to %s wait already", MAX_REQUESTS, c->name);
    wake(c);
    return CORRAL_OK;
}

enum corral_err prof_control_ask_pid(struct prof_control *c, uint32_t pid, struct diag *d)
{
    if (pid > MAX_PID)
        return diag_set(d, CORRAL_ERR_USAGE, "the target's daemon takes process numbers up to %u", MAX_PID);
    return ask(c, pid, d);
}

enum corral_err prof_control_ask_vma(struct prof_control *c, struct diag *d)
{
    return ask(c, REQUEST_VMA, d);
}

bool prof_control_alive(struct prof_control *c)
{
    pthread_mutex_lock(&c->lock);
    bool alive = !c->closed;
    pthread_mutex_unlock(&c->lock);
    return alive;
}

void prof_control_get_counts(struct prof_control *c, struct prof_control_counts *counts)
{
    pthread_mutex_lock(&c->lock);
    *counts = c->counts;
    pthread_mutex_unlock(&c->lock);
}

void prof_control_close(struct prof_control *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->stop = true;
    pthread_mutex_unlock(&c->lock);
    wake(c);
    if (c->running)
        pthread_join(c->thread, NULL);
    release(c);
}
