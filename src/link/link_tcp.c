/* SPDX-License-Identifier: Apache-2.0 */
/* See link_tcp.h. */
#include "link/link_tcp.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

#define CONNECT_MS 3000

int64_t link_tcp_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t link_tcp_limit(struct host_clock *clock, int64_t when)
{
    if (when == LINK_NO_DEADLINE)
        return INT64_MAX;
    int64_t left = (when - host_clock_now(clock)) / NS_PER_MS;
    return link_tcp_now() + (left > 0 ? left : 0) + 1;
}

int64_t link_tcp_open_limit(const struct link_options *options)
{
    if (!options || options->open_ns <= 0)
        return INT64_MAX;
    return link_tcp_now() + options->open_ns / NS_PER_MS + 1;
}

int link_tcp_left(int64_t limit, int most)
{
    int64_t now = link_tcp_now();
    if (limit <= now)
        return 0;
    return limit - now < most ? (int)(limit - now) : most;
}

/* Waits for `events` until `end`; -1 with errno = ETIMEDOUT when it comes to nothing. */
static int wait_for(int fd, short events, int64_t end)
{
    for (;;) {
        int64_t left = end - link_tcp_now();
        struct pollfd p = {.fd = fd, .events = events};
        int n = poll(&p, 1, left > 0 ? (int)left : 0);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -1;
        if (n == 0 && left <= 0) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
}

static int connect_one(const struct addrinfo *a, int ms)
{
    int one = 1, error = 0;
    socklen_t size = sizeof(error);
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
    if (fd < 0)
        return -1;
    if (connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
        if (errno != EINPROGRESS || wait_for(fd, POLLOUT, link_tcp_now() + ms) != 0)
            error = errno;
        else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
            error = errno;
    }
    if (error) {
        close(fd);
        errno = error;
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

/* HOST and PORT apart; brackets around an IPv6 address go. */
static bool split(const char *words, char *host, size_t room, char *port, size_t port_room)
{
    const char *colon = strrchr(words, ':');
    if (!colon || colon == words)
        return false;
    size_t length = (size_t)(colon - words), digits = strlen(colon + 1);
    if (words[0] == '[' && length > 2 && words[length - 1] == ']') {
        words++;
        length -= 2;
    }
    if (length >= room || digits == 0 || digits >= port_room)
        return false;
    unsigned long number = 0;
    for (size_t i = 1; i <= digits; i++) {
        if (colon[i] < '0' || colon[i] > '9')
            return false;
        number = number * 10 + (unsigned long)(colon[i] - '0');
    }
    memcpy(host, words, length);
    host[length] = '\0';
    memcpy(port, colon + 1, digits + 1);
    return number > 0 && number <= 65535;
}

int link_tcp_connect(const char *words, const char *kind, char name[LINK_TCP_NAME], struct diag *d)
{
    return link_tcp_connect_within(words, kind, CONNECT_MS, name, d);
}

int link_tcp_connect_within(const char *words, const char *kind, int ms, char name[LINK_TCP_NAME],
                            struct diag *d)
{
    char host[256], port[8];
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    text_escape((const uint8_t *)words, strlen(words), name, LINK_TCP_NAME);
    if (!split(words, host, sizeof(host), port, sizeof(port))) {
        diag_set(d, CORRAL_ERR_USAGE, "--link %s: '%s' is not HOST:PORT", kind, name);
        diag_hint(d, "for example --link %s:127.0.0.1:%s", kind, strcmp(kind, "jtag") == 0 ? "9999" : "6666");
        return -1;
    }
    int err = getaddrinfo(host, port, &hints, &list);
    int fd = -1;
    for (const struct addrinfo *a = list; !err && a && fd < 0; a = a->ai_next)
        fd = connect_one(a, ms < CONNECT_MS ? ms : CONNECT_MS);
    int error = errno;
    if (list)
        freeaddrinfo(list);
    if (fd < 0) {
        diag_set(d, CORRAL_ERR_LINK_DOWN, "cannot reach %s: %s", name,
                 err ? gai_strerror(err) : strerror(error));
        diag_object(d, "%s", name);
    }
    return fd;
}

int link_tcp_send(int fd, const void *data, size_t size, int ms)
{
    const uint8_t *p = data;
    int64_t end = link_tcp_now() + ms;
    while (size) {
        ssize_t n = send(fd, p, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            p += n;
            size -= (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (wait_for(fd, POLLOUT, end) != 0)
                return -1;
        } else if (errno != EINTR) {
            return -1;
        }
    }
    return 0;
}

ssize_t link_tcp_receive(int fd, void *data, size_t room, int ms)
{
    int64_t end = link_tcp_now() + ms;
    for (;;) {
        ssize_t n = recv(fd, data, room, MSG_DONTWAIT);
        if (n >= 0)
            return n;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (wait_for(fd, POLLIN, end) != 0)
                return -1;
        } else if (errno != EINTR) {
            return -1;
        }
    }
}
