/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The UDP end of the profiler: profiler sheet 1 (one packet a datagram, bursts) and 11 (rows 59 and 60).
 * Takes datagrams off the socket in batches, hands each to the stream decoder and only then counts it, so
 * that who waits for the count finds its events published. Decodes nothing itself.
 */
#include "prof/collector.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/udp.h>
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

#include "prof/packet.h"

#define BATCH            32
#define WANTED_BUFFER    (4 * 1024 * 1024) /* several seconds of bursts */
#define POLL_MS          1000              /* nothing depends on it; no wait is without end */
#define LAST_BATCHES     256               /* taken after the stop, for what had come before it */
#define SOURCE_NAME_ROOM (INET6_ADDRSTRLEN + 16)
#define MAX_WAIT_NS      (3600 * NS_PER_S)
#define COALESCED_MAX    65536u /* what UDP_GRO puts together at most */
#define KNOWN_SENDERS    64u    /* whose names are kept as text; a power of two */
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

/* A sender's address as text: making it anew for each datagram costs more than decoding one. */
struct known_sender {
    struct sockaddr_storage address;
    char host[INET6_ADDRSTRLEN];
    char source[SOURCE_NAME_ROOM];
};

struct prof_collector {
    int socket;
    int stop_event;
    uint16_t port;
    size_t receive_buffer;
    bool gro;
    struct host_clock *clock;
    struct prof_streams *streams;
    void (*raw)(void *ctx, const char *source_address, uint16_t source_port, const uint8_t *data, size_t size,
                int64_t host_ns);
    void *ctx;
    pthread_t thread;
    bool finished; /* the thread has ended and was joined */
    pthread_mutex_t mutex;
    pthread_cond_t more;
    uint64_t taken;        /* under mutex */
    uint32_t kernel_drops; /* as the kernel last said */
    struct mmsghdr messages[BATCH];
    struct iovec parts[BATCH];
    struct sockaddr_storage from[BATCH];
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(uint32_t)) + CMSG_SPACE(sizeof(int))];
    } control[BATCH];
    struct known_sender known[KNOWN_SENDERS];
    size_t room;   /* bytes for each message */
    uint8_t *data; /* BATCH times `room` */
};

/* "127.0.0.1" or "::1" into *address, with the port. */
static bool parse_address(const char *text, uint16_t port, struct sockaddr_storage *address, socklen_t *size)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;

    memset(address, 0, sizeof(*address));
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        *size = sizeof(*v4);
        return true;
    }
    if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        *size = sizeof(*v6);
        return true;
    }
    return false;
}

static uint16_t port_of(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
    return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

/* "ADDR" as host and "ADDR:PORT" (IPv6 in brackets) as source. */
static void write_names(struct known_sender *sender, const struct sockaddr_storage *from)
{
    bool v6 = from->ss_family == AF_INET6;
    const void *address = v6 ? (const void *)&((const struct sockaddr_in6 *)from)->sin6_addr
                             : (const void *)&((const struct sockaddr_in *)from)->sin_addr;

    sender->address = *from;
    if (!inet_ntop(v6 ? AF_INET6 : AF_INET, address, sender->host, sizeof(sender->host)))
        memcpy(sender->host, "?", 2);
    snprintf(sender->source, sizeof(sender->source), v6 ? "[%s]:%u" : "%s:%u", sender->host,
             (unsigned)port_of(from));
}

static bool same_sender(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    if (a->ss_family != b->ss_family || port_of(a) != port_of(b))
        return false;
    if (a->ss_family == AF_INET6)
        return memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                      &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr)) == 0;
    return a->ss_family == AF_INET && ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
                                          ((const struct sockaddr_in *)b)->sin_addr.s_addr;
}

/* One place a port: senders that share it take turns, and only pay for the text again. */
static const struct known_sender *name_sender(struct prof_collector *c, const struct sockaddr_storage *from)
{
    struct known_sender *sender = &c->known[port_of(from) % KNOWN_SENDERS];

    if (!same_sender(&sender->address, from))
        write_names(sender, from);
    return sender;
}

/* A burst must fit while the thread does not run. The kernel may give less than it is asked for, or twice. */
static size_t enlarge_buffer(int socket)
{
    int wanted = WANTED_BUFFER;
    int real = 0;
    socklen_t size = sizeof(real);

    if (setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof(wanted)) != 0)
        (void)setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof(wanted)); /* the size read tells */
    if (getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &real, &size) != 0 || real < 0)
        return 0;
    return (size_t)real;
}

static enum corral_err open_socket(struct prof_collector *c, const char *text, uint16_t port, struct diag *d)
{
    struct sockaddr_storage address;
    socklen_t size;
    int on = 1;

    if (!parse_address(text, port, &address, &size)) {
        diag_set(d, CORRAL_ERR_PROF_PORT, "'%s' is not an IP address to listen on", text);
        diag_hint(d, "give a numeric address of this machine, as in 127.0.0.1:%d", PROF_PORT);
        return CORRAL_ERR_PROF_PORT;
    }
    c->socket = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (c->socket < 0 || bind(c->socket, (const struct sockaddr *)&address, size) != 0) {
        int why = errno;
        if (why == EADDRINUSE) {
            diag_set(d, CORRAL_ERR_PROF_PORT, "UDP port %u on %s is in use by another program", port, text);
            diag_hint(d, "stop the other collector ('ss -lunp' names it), or listen on another port (0: any "
                         "free one)");
        } else {
            diag_set(d, CORRAL_ERR_PROF_PORT, "UDP port %u on %s cannot be listened on: %s", port, text,
                     strerror(why));
            diag_hint(d, "the address must be one of this machine; ports below 1024 need privileges");
        }
        diag_object(d, "udp:%s:%u", text, port);
        return CORRAL_ERR_PROF_PORT;
    }
    (void)setsockopt(c->socket, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof(on)); /* else gaps alone tell of loss */
    c->gro = c->gro && setsockopt(c->socket, SOL_UDP, UDP_GRO, &on, sizeof(on)) == 0;
    c->receive_buffer = enlarge_buffer(c->socket);
    size = sizeof(address);
    if (getsockname(c->socket, (struct sockaddr *)&address, &size) != 0)
        return diag_set(d, CORRAL_ERR_IO, "the port of a UDP socket cannot be read: %s", strerror(errno));
    c->port = port_of(&address);
    return CORRAL_OK;
}

static void prepare_messages(struct prof_collector *c)
{
    for (size_t i = 0; i < BATCH; i++) {
        c->parts[i] = (struct iovec){.iov_base = c->data + i * c->room, .iov_len = c->room};
        c->messages[i].msg_hdr = (struct msghdr){
            .msg_name = &c->from[i],
            .msg_namelen = sizeof(c->from[i]),
            .msg_iov = &c->parts[i],
            .msg_iovlen = 1,
            .msg_control = &c->control[i],
            .msg_controllen = sizeof(c->control[i]),
        };
    }
}

/* The kernel counts every datagram it dropped at this socket so far; the difference is news. */
static void note_drops(struct prof_collector *c, uint32_t drops, int64_t now)
{
    if (drops != c->kernel_drops)
        prof_streams_kernel_drops(c->streams, drops - c->kernel_drops, now);
    c->kernel_drops = drops;
}

/* It tells with each datagram what it had dropped before that one; what came to nothing behind the last one
 * must be asked for. */
static void ask_drops(struct prof_collector *c)
{
    uint32_t info[SK_MEMINFO_VARS];
    socklen_t size = sizeof(info);

    if (getsockopt(c->socket, SOL_SOCKET, SO_MEMINFO, info, &size) == 0 &&
        size >= (SK_MEMINFO_DROPS + 1) * sizeof(info[0]))
        note_drops(c, info[SK_MEMINFO_DROPS], host_clock_now(c->clock));
}

/* What the kernel says beside a message. Returns the size
 * of the datagrams that were put together in this message, 0 when it is one. */
static size_t read_control(struct prof_collector *c, struct msghdr *header, int64_t now)
{
    int each = 0;

    for (struct cmsghdr *m = CMSG_FIRSTHDR(header); m; m = CMSG_NXTHDR(header, m)) {
        uint32_t drops;
        if (m->cmsg_level == SOL_UDP && m->cmsg_type == UDP_GRO && m->cmsg_len >= CMSG_LEN(sizeof(each)))
            memcpy(&each, CMSG_DATA(m), sizeof(each));
        if (m->cmsg_level != SOL_SOCKET || m->cmsg_type != SO_RXQ_OVFL ||
            m->cmsg_len < CMSG_LEN(sizeof(drops)))
            continue;
        memcpy(&drops, CMSG_DATA(m), sizeof(drops));
        note_drops(c, drops, now);
    }
    return each > 0 ? (size_t)each : 0;
}

static void handle(struct prof_collector *c, const struct known_sender *sender, const uint8_t *data,
                   size_t size, int64_t now)
{
    size_t kept = size < PROF_MAX_DATAGRAM ? size : PROF_MAX_DATAGRAM;

    if (c->raw)
        c->raw(c->ctx, sender->host, port_of(&sender->address), data, kept, now);
    prof_streams_datagram(c->streams, sender->source, data, size, now);
}

/* One message, which may be several datagrams of one sender; returns how many. */
static size_t take_message(struct prof_collector *c, size_t index, int64_t now)
{
    struct msghdr *header = &c->messages[index].msg_hdr;
    const uint8_t *data = c->data + index * c->room;
    size_t size = c->messages[index].msg_len; /* with MSG_TRUNC the true length, also when it was cut */
    size_t each = read_control(c, header, now), taken = 0;
    const struct known_sender *sender = name_sender(c, &c->from[index]);

    if (each == 0 || each >= size || size > c->room) {
        if ((header->msg_flags & MSG_TRUNC) && size <= PROF_MAX_DATAGRAM)
            size = PROF_MAX_DATAGRAM + 1; /* cut all the same: must not pass for whole */
        handle(c, sender, data, size, now);
        return 1;
    }
    for (size_t at = 0; at < size; at += each, taken++)
        handle(c, sender, data + at, each < size - at ? each : size - at, now);
    return taken;
}

/* Take one batch. False when there was none. */
static bool take_batch(struct prof_collector *c)
{
    prepare_messages(c);
    int n = recvmmsg(c->socket, c->messages, BATCH, MSG_DONTWAIT | MSG_TRUNC, NULL);
    if (n <= 0)
        return false;
    int64_t now = host_clock_now(c->clock);
    size_t taken = 0;
    for (size_t i = 0; i < (size_t)n; i++)
        taken += take_message(c, i, now);
    pthread_mutex_lock(&c->mutex);
    c->taken += taken;
    pthread_cond_broadcast(&c->more);
    pthread_mutex_unlock(&c->mutex);
    return true;
}

static void *collect(void *ctx)
{
    struct prof_collector *c = ctx;
    struct pollfd waits[2] = {{.fd = c->socket, .events = POLLIN}, {.fd = c->stop_event, .events = POLLIN}};

    for (;;) {
        int n = poll(waits, 2, POLL_MS);
        if (n > 0 && waits[1].revents)
            break;
        if (n > 0 && waits[0].revents && !take_batch(c))
            (void)poll(&waits[1], 1, 1); /* an error that stays must not turn this into a busy loop */
    }
    for (int i = 0; i < LAST_BATCHES && take_batch(c); i++)
        ;
    ask_drops(c);
    return NULL;
}

static enum corral_err start_thread(struct prof_collector *c, struct diag *d)
{
    sigset_t all, before;

    c->stop_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (c->stop_event < 0)
        return diag_set(d, CORRAL_ERR_IO, "the profile collector cannot be started: %s", strerror(errno));
    sigfillset(&all); /* signals are the main thread's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int why = pthread_create(&c->thread, NULL, collect, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (why != 0)
        return diag_set(d, CORRAL_ERR_FAILED, "the profile collector's thread cannot be started: %s",
                        strerror(why));
    return CORRAL_OK;
}

static bool prepare_waiting(struct prof_collector *c)
{
    pthread_condattr_t attributes;

    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool done = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(&c->more, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    if (done && pthread_mutex_init(&c->mutex, NULL) != 0) {
        pthread_cond_destroy(&c->more);
        done = false;
    }
    return done;
}

static void release(struct prof_collector *c)
{
    pthread_mutex_destroy(&c->mutex);
    pthread_cond_destroy(&c->more);
    if (c->socket >= 0)
        close(c->socket);
    if (c->stop_event >= 0)
        close(c->stop_event);
    free(c->data);
    free(c);
}

struct prof_collector *prof_collector_start(const struct prof_collector_options *options, struct diag *d)
{
    struct prof_collector *c = calloc(1, sizeof(*c));

    if (c) {
        c->room = options->gro ? COALESCED_MAX : PROF_MAX_DATAGRAM;
        c->data = malloc(BATCH * c->room);
    }
    if (!c || !c->data || !prepare_waiting(c)) {
        if (c)
            free(c->data);
        free(c);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory for the profile collector");
        return NULL;
    }
    c->socket = -1;
    c->stop_event = -1;
    c->gro = options->gro;
    c->clock = options->clock;
    c->streams = options->streams;
    c->raw = options->raw;
    c->ctx = options->ctx;
    const char *address = options->address ? options->address : "127.0.0.1";
    if (open_socket(c, address, options->port, d) != CORRAL_OK || start_thread(c, d) != CORRAL_OK) {
        release(c);
        return NULL;
    }
    return c;
}

uint16_t prof_collector_port(const struct prof_collector *c)
{
    return c->port;
}

size_t prof_collector_receive_buffer(const struct prof_collector *c)
{
    return c->receive_buffer;
}

bool prof_collector_gro(const struct prof_collector *c)
{
    return c->gro;
}

uint64_t prof_collector_taken(struct prof_collector *c)
{
    pthread_mutex_lock(&c->mutex);
    uint64_t taken = c->taken;
    pthread_mutex_unlock(&c->mutex);
    return taken;
}

bool prof_collector_wait(struct prof_collector *c, uint64_t count, int64_t wait_ns)
{
    struct timespec until;
    int64_t ns = wait_ns < 0 ? 0 : wait_ns > MAX_WAIT_NS ? MAX_WAIT_NS : wait_ns;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(ns / NS_PER_S);
    until.tv_nsec += (long)(ns % NS_PER_S);
    if (until.tv_nsec >= NS_PER_S) {
        until.tv_sec++;
        until.tv_nsec -= NS_PER_S;
    }
    pthread_mutex_lock(&c->mutex);
    while (c->taken < count && pthread_cond_timedwait(&c->more, &c->mutex, &until) == 0)
        ;
    bool reached = c->taken >= count;
    pthread_mutex_unlock(&c->mutex);
    return reached;
}

void prof_collector_finish(struct prof_collector *c)
{
    if (!c || c->finished)
        return;
    uint64_t one = 1;
    ssize_t written;
    do
        written = write(c->stop_event, &one, sizeof(one)); /* an eventfd at 0 takes it */
    while (written < 0 && errno == EINTR);
    pthread_join(c->thread, NULL);
    c->finished = true;
}

void prof_collector_stop(struct prof_collector *c)
{
    if (!c)
        return;
    prof_collector_finish(c);
    release(c);
}
