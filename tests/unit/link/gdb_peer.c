/* SPDX-License-Identifier: Apache-2.0 */
/* See gdb_peer.h. */
#include "tests/unit/link/gdb_peer.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link/rsp_frame.h"

#define LOG_MAX (1u << 20)

struct gdb_peer {
    int listener;
    char spec[48];
    const struct gdb_peer_rule *rules;
    pthread_t thread;
    bool no_ack;
    size_t logged;
    struct rsp_frame frame;
    char log[LOG_MAX];
};

/* As QEMU 7.2 with mps2-an521 answers. */
static const struct gdb_peer_rule qemu[] = {
    {"qSupported", "PacketSize=1000;qXfer:features:read+;vContSupported+;multiprocess+", false, false},
    {"QStartNoAckMode", "OK", false, false},
    {"qqemu.sstepbits", "ENABLE=1,NOIRQ=2,NOTIMER=4", false, false},
    {"qRcmd", "OK", false, false},
    {"vCont?", "vCont;c;C;s;S", false, false},
    {"?", "T05thread:p01.01;", false, false},
    {"qfThreadInfo", "mp01.01,p02.02", false, false},
    {"qsThreadInfo", "l", false, false},
    {"vAttach;1", "T05thread:p01.01;", false, false},
    {"vAttach;2", "T05thread:p02.02;", false, false},
    {"vAttach", "E16", false, false},
    {"Hg", "OK", false, false},
    {"Hc", "OK", false, false},
    {"qXfer:features:read:target.xml:",
     "l<?xml version=\"1.0\"?><target><xi:include href=\"arm-m-profile.xml\"/></target>", false, false},
    {"qXfer:features:read:arm-m-profile.xml:",
     "l<feature name=\"m\"><reg name=\"r0\" bitsize=\"32\"/><reg name=\"sp\" bitsize=\"32\" regnum=\"13\"/>"
     "<reg name=\"lr\" bitsize=\"32\"/><reg name=\"pc\" bitsize=\"32\"/>"
     "<reg name=\"xpsr\" bitsize=\"32\" regnum=\"25\"/></feature>",
     false, false},
    {"pf", "00000010", false, false}, /* pc 0x10000000 */
    {"p", "78563412", false, false},
    {"P", "OK", false, false},
    {"Z", "OK", false, false},
    {"z", "OK", false, false},
    {"D", "OK", false, false},
    {NULL, NULL, false, false},
};

static void note(struct gdb_peer *p, const char *text, size_t size)
{
    for (size_t i = 0; i < size && p->logged + 2 < LOG_MAX; i++) {
        unsigned char c = (unsigned char)text[i];
        p->log[p->logged++] = c < 0x20 || c > 0x7E ? '?' : (char)c;
    }
    p->log[p->logged++] = '\n';
    p->log[p->logged] = '\0';
}

static const struct gdb_peer_rule *rule_for(const struct gdb_peer_rule *rules, const char *packet)
{
    for (; rules->packet; rules++)
        if (strncmp(packet, rules->packet, strlen(rules->packet)) == 0)
            return rules;
    return NULL;
}

static bool send_all(int fd, const void *data, size_t size)
{
    const char *p = data;
    while (size) {
        ssize_t n = send(fd, p, size, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

/* False when the connection is to end. */
static bool answer(struct gdb_peer *p, int fd, const char *packet, size_t size)
{
    static uint8_t out[2 * RSP_FRAME_MAX + 8];
    note(p, packet, size);
    if (!p->no_ack && !send_all(fd, "+", 1))
        return false;
    const struct gdb_peer_rule *r = rule_for(p->rules, packet);
    if (!r)
        r = rule_for(qemu, packet);
    const char *reply = r ? r->reply : "";
    if (reply && r && r->raw) {
        if (!send_all(fd, reply, strlen(reply)))
            return false;
    } else if (reply) {
        size_t n = rsp_frame_write(reply, strlen(reply), out, sizeof(out));
        if (!send_all(fd, out, n))
            return false;
        if (strcmp(packet, "QStartNoAckMode") == 0 && strcmp(reply, "OK") == 0)
            p->no_ack = true;
    }
    return !(r && r->close);
}

static void serve(struct gdb_peer *p, int fd)
{
    uint8_t in[4096];
    const struct gdb_peer_rule *greeting = rule_for(p->rules, "^connect");
    if (greeting && !send_all(fd, greeting->reply, strlen(greeting->reply)))
        return;
    for (;;) {
        ssize_t n = recv(fd, in, sizeof(in), 0);
        if (n <= 0)
            return;
        for (size_t at = 0; at < (size_t)n;) {
            if (in[at] == 0x03 && p->frame.state == 0) { /* between packets */
                at++;
                const struct gdb_peer_rule *r = rule_for(p->rules, "^C");
                note(p, "^C", 2);
                uint8_t out[64];
                const char *reply = r ? r->reply : "T02thread:p01.01;";
                if (reply && !send_all(fd, out, rsp_frame_write(reply, strlen(reply), out, sizeof(out))))
                    return;
                continue;
            }
            size_t used = 0;
            size_t most = (size_t)n - at;
            /* One byte at a time, so that a 0x03 behind a packet is seen. */
            enum rsp_frame_event e = rsp_frame_feed(&p->frame, in + at, most ? 1 : 0, &used);
            at += used;
            if (e == RSP_FRAME_PACKET && !answer(p, fd, (const char *)p->frame.data, p->frame.size))
                return;
        }
    }
}

static void *run(void *ctx)
{
    struct gdb_peer *p = ctx;
    int fd = accept(p->listener, NULL, NULL);
    int one = 1;
    if (fd < 0)
        return NULL;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    serve(p, fd);
    close(fd);
    return NULL;
}

struct gdb_peer *gdb_peer_start(const struct gdb_peer_rule *rules)
{
    struct gdb_peer *p = calloc(1, sizeof(*p));
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(a);
    if (!p)
        abort();
    p->rules = rules;
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (p->listener < 0 || bind(p->listener, (struct sockaddr *)&a, sizeof(a)) != 0 ||
        listen(p->listener, 1) != 0 || getsockname(p->listener, (struct sockaddr *)&a, &size) != 0 ||
        pthread_create(&p->thread, NULL, run, p) != 0)
        abort();
    snprintf(p->spec, sizeof(p->spec), "gdb:127.0.0.1:%u", (unsigned)ntohs(a.sin_port));
    return p;
}

const char *gdb_peer_spec(const struct gdb_peer *p)
{
    return p->spec;
}

char *gdb_peer_stop(struct gdb_peer *p)
{
    shutdown(p->listener, SHUT_RDWR); /* where nobody ever came */
    pthread_join(p->thread, NULL);
    close(p->listener);
    char *log = strdup(p->log);
    free(p);
    return log;
}
