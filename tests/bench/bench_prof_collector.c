/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `make bench`: what a full profile packet of 1428 bytes costs the collector's thread, beside a loop that
 * takes the same datagrams with recvmmsg and throws them away; both in one run, over loopback, with and
 * without UDP_GRO. Reports, asserts nothing but that no packet is missing.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "prof/analysis.h"
#include "prof/collector.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define PACKET   1428u
#define SAMPLES  49u
#define PACKETS  100000u
#define WARM_UP  2000u /* not measured */
#define BATCH    32u
#define PER_SEND 40u /* datagrams in one segmented send */
#define AHEAD    400u
#define ROOM     65536u

static int64_t clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

struct span {
    uint64_t count;
    int64_t begin, end; /* CPU time of the receiving thread */
};

static void count_in(struct span *s)
{
    s->count++;
    if (s->count == WARM_UP)
        s->begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (s->count == PACKETS)
        s->end = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* Sample i: 64 hot addresses, as programs have them. */
static void fill(uint8_t *p, uint32_t seq)
{
    memset(p, 0, 252);
    store_be16(p, 0x3EB1);
    p[2] = 252;
    p[3] = SAMPLES;
    store_be32(p + 4, seq * 100000);
    store_be32(p + 8, seq * 50000);
    store_be16(p + 76, 1);
    store_be32(p + 164, 250000000);
    store_be32(p + 168, seq);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        uint8_t *s = p + 252 + i * 24;
        uint32_t x = (seq * SAMPLES + i) * 2654435761u;
        memset(s, 0, 24);
        store_be32(s, 0x40000000 + (x >> 26) * 4);
        store_be32(s + 4, 0x40010000 + (x >> 29) * 64);
        store_be16(s + 16, 1);
    }
}

/* ---- the loop to compare with ---- */

struct bare {
    int fd;
    bool gro;
    atomic_uint_fast64_t taken;
    struct span span;
};

static size_t datagrams_in(struct msghdr *h, size_t size)
{
    for (struct cmsghdr *m = CMSG_FIRSTHDR(h); m; m = CMSG_NXTHDR(h, m)) {
        int each = 0;
        if (m->cmsg_level == SOL_UDP && m->cmsg_type == UDP_GRO) {
            memcpy(&each, CMSG_DATA(m), sizeof(each));
            return each > 0 ? (size + (size_t)each - 1) / (size_t)each : 1;
        }
    }
    return 1;
}

static void *discard(void *ctx)
{
    struct bare *b = ctx;
    size_t room = b->gro ? ROOM : PROF_MAX_DATAGRAM;
    uint8_t *data = malloc(BATCH * room);
    struct mmsghdr messages[BATCH];
    struct iovec parts[BATCH];
    struct sockaddr_storage from[BATCH];
    union {
        struct cmsghdr align;
        char room[64];
    } control[BATCH];
    if (!data)
        fail("malloc");
    while (b->span.count < PACKETS) {
        struct pollfd p = {.fd = b->fd, .events = POLLIN};
        poll(&p, 1, 1000);
        for (size_t i = 0; i < BATCH; i++) {
            parts[i] = (struct iovec){.iov_base = data + i * room, .iov_len = room};
            messages[i].msg_hdr = (struct msghdr){.msg_name = &from[i],
                                                  .msg_namelen = sizeof(from[i]),
                                                  .msg_iov = &parts[i],
                                                  .msg_iovlen = 1,
                                                  .msg_control = &control[i],
                                                  .msg_controllen = sizeof(control[i])};
        }
        int n = recvmmsg(b->fd, messages, BATCH, MSG_DONTWAIT | MSG_TRUNC, NULL);
        for (int i = 0; i < n; i++)
            for (size_t k = datagrams_in(&messages[i].msg_hdr, messages[i].msg_len); k; k--)
                count_in(&b->span);
        atomic_store(&b->taken, b->span.count);
    }
    free(data);
    return NULL;
}

/* ---- sending ---- */

static int open_sender(uint16_t port, bool segmented)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), each = PACKET;
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
        fail("sender");
    if (segmented && setsockopt(fd, SOL_UDP, UDP_SEGMENT, &each, sizeof(each)) != 0)
        fail("UDP_SEGMENT");
    return fd;
}

static uint64_t bare_taken(void *ctx)
{
    struct bare *b = ctx;
    return atomic_load(&b->taken);
}

static uint64_t collector_taken(void *ctx)
{
    return prof_collector_taken(ctx);
}

/* Never so far ahead that the socket's buffer could overflow. */
static void send_all(int fd, bool segmented, uint64_t (*taken)(void *), void *ctx)
{
    static uint8_t data[PER_SEND * PACKET];
    size_t per = segmented ? PER_SEND : 1;
    for (uint32_t seq = 0; seq < PACKETS; seq += (uint32_t)per) {
        for (size_t i = 0; i < per; i++)
            fill(data + i * PACKET, seq + (uint32_t)i);
        while (seq > AHEAD && taken(ctx) < seq - AHEAD)
            usleep(100);
        if (send(fd, data, per * PACKET, 0) != (ssize_t)per * (ssize_t)PACKET)
            fail("send");
    }
    for (int i = 0; i < 100000 && taken(ctx) < PACKETS; i++)
        usleep(100);
}

static double run_bare(bool gro)
{
    struct bare b = {.gro = gro};
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(own);
    int buffer = 4 << 20, on = 1;
    pthread_t thread;
    b.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (b.fd < 0 || bind(b.fd, (struct sockaddr *)&own, size) != 0 ||
        getsockname(b.fd, (struct sockaddr *)&own, &size) != 0)
        fail("receiver");
    if (setsockopt(b.fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer)) != 0)
        setsockopt(b.fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
    if (gro && setsockopt(b.fd, SOL_UDP, UDP_GRO, &on, sizeof(on)) != 0)
        fail("UDP_GRO");
    if (pthread_create(&thread, NULL, discard, &b) != 0)
        fail("thread");
    int fd = open_sender(ntohs(own.sin_port), gro);
    send_all(fd, gro, bare_taken, &b);
    pthread_join(thread, NULL);
    close(fd);
    close(b.fd);
    return (double)(b.span.end - b.span.begin) / (PACKETS - WARM_UP);
}

static void on_raw(void *ctx, const char *address, uint16_t port, const uint8_t *data, size_t size,
                   int64_t host_ns)
{
    (void)address, (void)port, (void)data, (void)size, (void)host_ns;
    count_in(ctx);
}

static double run_collector(bool gro)
{
    struct span span = {0};
    struct diag d = DIAG_INIT;
    struct host_clock *clock = host_clock_new_real();
    struct prof_analysis *analysis = prof_analysis_new();
    struct prof_streams *streams = prof_streams_new(NULL, analysis);
    struct prof_collector_options options = {
        .clock = clock, .streams = streams, .gro = gro, .raw = on_raw, .ctx = &span};
    struct prof_collector *c = prof_collector_start(&options, &d);
    struct prof_totals totals;
    if (!c) {
        fprintf(stderr, "%s\n", d.message);
        exit(1);
    }
    int fd = open_sender(prof_collector_port(c), gro);
    send_all(fd, gro, collector_taken, c);
    prof_collector_stop(c);
    close(fd);
    prof_streams_get_totals(streams, &totals);
    if (totals.packets != PACKETS || totals.lost != 0)
        fprintf(stderr, "%" PRIu64 " of %u packets came, %" PRIu64 " lost\n", totals.packets, PACKETS,
                totals.lost);
    prof_streams_free(streams);
    prof_analysis_free(analysis);
    host_clock_free(clock);
    return totals.packets == PACKETS ? (double)(span.end - span.begin) / (PACKETS - WARM_UP) : 0;
}

int main(void)
{
    for (int round = 0; round < 3; round++)
        for (int gro = 0; gro < 2; gro++) {
            double bare = run_bare(gro), ours = run_collector(gro);
            printf("packet of %u bytes%s: recvmmsg and discard %.0f ns, collector %.0f ns of its thread's "
                   "CPU: ratio "
                   "%.2f (%u samples decoded, placed and counted: %.1f ns each)\n",
                   PACKET, gro ? ", UDP_GRO" : "", bare, ours, ours / bare, SAMPLES, (ours - bare) / SAMPLES);
        }
    return 0;
}
