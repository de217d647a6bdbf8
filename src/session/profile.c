/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile of a session: the collector, and on the virtual board the datagram ports as UDP sockets. The
 * board waits (bounded, in real time: the collector has no other) until each datagram it sent has been taken
 * from the real socket, so that with the virtual clock the order of everything is the same in every run.
 * Where that did not come about, a marker says so.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "session/session_internal.h"

#define DATAGRAM_WAIT_NS (2 * NS_PER_S)

static void on_raw_datagram(void *ctx, const char *address, uint16_t port, const uint8_t *data, size_t size,
                            int64_t host_ns)
{
    struct session *s = ctx;
    struct capture_writer *capture = s->capture; /* may be set while this thread runs */
    if (capture) /* an error stays with the writer and is reported when it is closed */
        capture_writer_udp(capture, s->capture_udp, host_ns, address, port,
                           s->options.listen ? s->options.listen : "127.0.0.1",
                           prof_collector_port(s->collector), data, size, NULL);
}

/* A UDP socket for one core's datagram port; its number is known before anything is sent. */
static enum corral_err open_sender(struct session *s, unsigned core, struct diag *d)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    char source[32], name[16];
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
        int e = errno;
        if (fd >= 0)
            close(fd);
        return diag_set(d, CORRAL_ERR_IO, "cannot open the board's datagram port: %s", strerror(e));
    }
    s->senders[core] = fd;
    snprintf(source, sizeof(source), "127.0.0.1:%u", ntohs(address.sin_port));
    snprintf(name, sizeof(name), "core%u", core);
    return prof_streams_name(s->streams, source, name, d);
}

static enum corral_err connect_sender(struct session *s, unsigned core, struct diag *d)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(prof_collector_port(s->collector))};
    const char *listen = s->options.listen ? s->options.listen : "127.0.0.1";
    if (inet_pton(AF_INET, listen, &to.sin_addr) != 1)
        return diag_set(d, CORRAL_ERR_USAGE, "'%s' is not an IPv4 address", listen);
    if (to.sin_addr.s_addr == htonl(INADDR_ANY))
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(s->senders[core], (struct sockaddr *)&to, sizeof(to)) != 0)
        return diag_set(d, CORRAL_ERR_IO, "cannot reach %s: %s", listen, strerror(errno));
    return CORRAL_OK;
}

/* The command line, then corral.yml, then the defaults. */
static void apply_config(struct session *s)
{
    const struct config *c = s->options.config;
    if (!c)
        return;
    if (!s->options.listen && c->listen[0])
        s->options.listen = c->listen;
    if (s->options.listen_port < 0)
        s->options.listen_port = c->listen_port;
}

/* Senders that corral.yml names by address and port. One without a port cannot be told before it sends. */
static enum corral_err name_sources(struct session *s, struct diag *d)
{
    const struct config *c = s->options.config;
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; c && i < c->source_count && err == CORRAL_OK; i++) {
        char source[96];
        if (c->sources[i].port < 0)
            continue;
        snprintf(source, sizeof(source), "%s:%d", c->sources[i].address, c->sources[i].port);
        err = prof_streams_name(s->streams, source, c->cores[c->sources[i].core].name, d);
    }
    return err;
}

enum corral_err session_profile_open(struct session *s, struct diag *d)
{
    apply_config(s);
    s->analysis = prof_analysis_new();
    s->aggregate = s->analysis ? prof_analysis_aggregate(s->analysis) : NULL;
    s->streams = s->analysis ? prof_streams_new(s->bus, s->analysis) : NULL;
    if (!s->streams)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    bool board = session_is_board(s);
    for (unsigned i = 0; board && i < LINK_SIM_CORES; i++)
        if (open_sender(s, i, d) != CORRAL_OK)
            return d->code;
    if (name_sources(s, d) != CORRAL_OK)
        return d->code;
    struct prof_collector_options options = {
        .address = s->options.listen,
        .port = (uint16_t)(s->options.listen_port < 0 ? PROF_PORT : s->options.listen_port),
        .streams = s->streams,
        .raw = on_raw_datagram,
        .ctx = s,
        .clock = s->clock,
    };
    s->collector = prof_collector_start(&options, d);
    if (!s->collector)
        return d->code;
    for (unsigned i = 0; board && i < LINK_SIM_CORES; i++)
        if (connect_sender(s, i, d) != CORRAL_OK)
            return d->code;
    return CORRAL_OK;
}

/* What each interface received and lost, once nothing comes any more. */
static void write_capture_stats(struct session *s)
{
    struct prof_totals totals;
    if (!s->capture)
        return;
    int64_t now = host_clock_now(s->clock);
    session_profile_totals(s, &totals);
    if (s->collector) /* errors stay with the writer */
        capture_writer_stats(s->capture, s->capture_udp, now, prof_collector_taken(s->collector), totals.lost,
                             NULL);
    for (size_t i = 0; i < s->log_count; i++) {
        struct tlog_consumer_stats stats;
        tlog_consumer_get_stats(s->logs[i].consumer, &stats);
        capture_writer_stats(s->capture, s->capture_logs[s->logs[i].core], now, stats.batches, stats.lost,
                             NULL);
    }
}

void session_profile_close(struct session *s)
{
    prof_collector_finish(s->collector);
    write_capture_stats(s);
    prof_collector_stop(s->collector);
    s->collector = NULL;
    prof_streams_free(s->streams);
    s->streams = NULL;
    prof_analysis_free(s->analysis);
    s->analysis = NULL;
    s->aggregate = NULL;
    for (unsigned i = 0; i < LINK_SIM_CORES; i++)
        if (s->senders[i] >= 0)
            close(s->senders[i]);
}

static void mark(struct session *s, unsigned core, const char *what)
{
    char text[160];
    struct event e = event_make(EVENT_MARKER, "profile");
    snprintf(text, sizeof(text), "a profile packet of core %u %s", core, what);
    e.host_ns = host_clock_now(s->clock);
    e.marker.text = text;
    event_bus_publish(s->bus, &e);
}

/* On the link's thread, while the board stands still. */
void session_on_datagram(void *ctx, unsigned core, const uint8_t *data, size_t size)
{
    struct session *s = ctx;
    if (core >= LINK_SIM_CORES || s->senders[core] < 0)
        return;
    if (send(s->senders[core], data, size, MSG_NOSIGNAL) != (ssize_t)size) {
        mark(s, core, "could not be sent: this host's socket refused it");
        return;
    }
    s->datagrams_sent++;
    if (prof_collector_wait(s->collector, s->datagrams_sent, DATAGRAM_WAIT_NS))
        return;
    /* The kernel dropped it, or this host is very busy. The next ones must not wait for it again. */
    s->datagrams_sent = prof_collector_taken(s->collector);
    mark(s, core, "was not taken in time: it is lost or late, and this run cannot be repeated exactly");
}

uint16_t session_profile_port(const struct session *s)
{
    return s->collector ? prof_collector_port(s->collector) : 0;
}

void session_profile_totals(const struct session *s, struct prof_totals *totals)
{
    *totals = (struct prof_totals){0};
    if (s->streams)
        prof_streams_get_totals(s->streams, totals);
}

struct prof_aggregate *session_aggregate(struct session *s)
{
    return s->aggregate;
}

enum corral_err session_capture(struct session *s, struct capture_writer *capture, struct diag *d)
{
    if (s->options.listen && strchr(s->options.listen, ':'))
        return diag_set(
            d, CORRAL_ERR_UNSUPPORTED,
            "a capture file takes profile packets over IPv4 only, and the collector listens on %s",
            s->options.listen);
    enum corral_err err =
        capture_writer_interface(capture, CAPTURE_LINKTYPE_RAW_IP, "profile", &s->capture_udp, d);
    if (err == CORRAL_OK)
        s->capture = capture;
    return err == CORRAL_OK && s->group ? session_capture_cores(s, d) : err;
}

enum corral_err session_capture_cores(struct session *s, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; s->capture && i < s->core_count && err == CORRAL_OK; i++) {
        char name[64];
        snprintf(name, sizeof(name), "log %s", core_name(s->cores[i]));
        err = capture_writer_interface(s->capture, CAPTURE_LINKTYPE_TLOG, name, &s->capture_logs[i], d);
    }
    return err;
}
