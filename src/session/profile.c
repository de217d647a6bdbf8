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
                           s->options.listen ? s->options.listen : "127.0.0.1", session_profile_port(s), data,
                           size, NULL);
}

/* A UDP socket for one core's datagram port; its number is known before anything is sent. */
static enum corral_err open_sender(struct session *s, unsigned core, struct diag *d)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    char source[32], name[SESSION_LABEL_MAX];
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
    return profiling_name_sender(s->profiling, source, session_core_label(s, core, name), d);
}

static enum corral_err connect_sender(struct session *s, unsigned core, struct diag *d)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(session_profile_port(s))};
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

/* The board's ports are the first senders, in the order of the APs; then those that corral.yml names. */
static enum corral_err name_senders(struct session *s, bool board, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    for (unsigned i = 0; board && i < LINK_SIM_CORES && err == CORRAL_OK; i++)
        err = open_sender(s, i, d);
    return err == CORRAL_OK ? profiling_use_config(s->profiling, s->options.config, false, d) : err;
}

static enum corral_err start_listening(struct session *s, bool board, struct diag *d)
{
    const struct prof_collector_options options = {
        .address = s->options.listen,
        .port = (uint16_t)(s->options.listen_port < 0 ? PROF_PORT : s->options.listen_port),
        .raw = on_raw_datagram,
        .ctx = s,
    };
    enum corral_err err = profiling_listen(s->profiling, &options, d);
    for (unsigned i = 0; board && i < LINK_SIM_CORES && err == CORRAL_OK; i++)
        err = connect_sender(s, i, d);
    return err;
}

enum corral_err session_profile_open(struct session *s, struct diag *d)
{
    const struct profiling_options options = {.bus = s->bus, .clock = s->clock};
    bool board = session_is_board(s) && !s->options.no_listen;
    apply_config(s);
    s->profiling = profiling_new(&options, d);
    if (!s->profiling)
        return d->code;
    enum corral_err err = name_senders(s, board, d);
    return err == CORRAL_OK && !s->options.no_listen ? start_listening(s, board, d) : err;
}

/* What runs on each core is what its samples are named after. */
enum corral_err session_profile_images(struct session *s, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; s->profiling && i < s->core_count && err == CORRAL_OK; i++)
        err = profiling_add_image(s->profiling, core_name(s->cores[i]), s->symbols[i], d);
    return err;
}

void session_profile_close(struct session *s)
{
    if (s->profiling) {
        profiling_finish(s->profiling);
        session_capture_stats(s);
    }
    session_profile_fetch_free(s);
    profiling_free(s->profiling);
    s->profiling = NULL;
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
    if (core >= LINK_SIM_CORES || s->senders[core] < 0 || s->profile_stopped)
        return;
    if (send(s->senders[core], data, size, MSG_NOSIGNAL) != (ssize_t)size) {
        mark(s, core, "could not be sent: this host's socket refused it");
        return;
    }
    s->datagrams_sent++;
    if (prof_collector_wait(profiling_collector(s->profiling), s->datagrams_sent, DATAGRAM_WAIT_NS))
        return;
    /* The kernel dropped it, or this host is very busy. The next ones must not wait for it again. */
    s->datagrams_sent = prof_collector_taken(profiling_collector(s->profiling));
    mark(s, core, "was not taken in time: it is lost or late, and this run cannot be repeated exactly");
}

uint16_t session_profile_port(const struct session *s)
{
    struct prof_collector *collector = s->profiling ? profiling_collector(s->profiling) : NULL;
    return collector ? prof_collector_port(collector) : 0;
}

void session_profile_totals(const struct session *s, struct prof_totals *totals)
{
    *totals = (struct prof_totals){0};
    if (s->profiling)
        prof_streams_get_totals(profiling_streams(s->profiling), totals);
}

struct profiling *session_profiling(struct session *s)
{
    return s->profiling;
}

enum corral_err session_export_profile(struct session *s, const char *format, const char *path,
                                       struct diag *d)
{
    if (!s->profiling)
        return diag_set(d, CORRAL_ERR_USAGE, "no profile is collected");
    return profiling_export(s->profiling, format, path, d);
}
