/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile packets out of files (profiling.h): captures, and single raw datagrams. The same path as a live
 * collection from the datagram on. What stands before a damage counts; the damage is told, not guessed over.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture_reader.h"
#include "session/profiling_internal.h"

#define PROBE        24    /* bytes that tell a capture from anything else; a live one has no more at first */
#define RAW_MAX      65536 /* no UDP datagram is this long; one byte more tells nothing more */
#define WAIT_MS      100   /* how long a quiet pipe is waited for before the stop is looked at */
#define TELL_PACKETS 4096  /* how often progress is told */

struct reading {
    struct profiling *p;
    const char *path;
    uint16_t port;
    const atomic_bool *stop;
    void (*progress)(void *ctx, uint64_t done, uint64_t size);
    void *ctx;
    struct profiling_file_stats *stats;
    FILE *file;
    bool pipe;     /* a stop is its end: what came before is taken to the last packet */
    uint64_t size; /* of the file, 0 = not known */
};

static bool stopped(const struct reading *r)
{
    return r->stop && atomic_load(r->stop);
}

static enum corral_err interrupted(struct diag *d)
{
    return diag_set(d, CORRAL_ERR_INTERRUPTED, "interrupted");
}

/* --- a stream that can be stopped while nothing comes --------------------------------------------------- */

struct pipe_cookie {
    int fd;
    const atomic_bool *stop;
};

/* A stop looks like the end of the stream; who reads it looks at the stop before believing that. */
static ssize_t pipe_read(void *cookie, char *data, size_t size)
{
    struct pipe_cookie *c = cookie;
    struct pollfd wait = {.fd = c->fd, .events = POLLIN};
    for (;;) {
        if (c->stop && atomic_load(c->stop))
            return 0;
        int n = poll(&wait, 1, WAIT_MS);
        if (n < 0 && errno != EINTR)
            return -1;
        if (n <= 0)
            continue;
        ssize_t got = read(c->fd, data, size);
        if (got >= 0 || (errno != EINTR && errno != EAGAIN))
            return got;
    }
}

static int pipe_close(void *cookie)
{
    struct pipe_cookie *c = cookie;
    int result = close(c->fd);
    free(c);
    return result;
}

static FILE *open_pipe(int fd, const atomic_bool *stop)
{
    static const cookie_io_functions_t functions = {.read = pipe_read, .close = pipe_close};
    struct pipe_cookie *c = malloc(sizeof(*c));
    if (!c) {
        close(fd);
        errno = ENOMEM;
        return NULL;
    }
    *c = (struct pipe_cookie){.fd = fd, .stop = stop};
    FILE *file = fopencookie(c, "rb", functions);
    if (!file)
        pipe_close(c);
    return file;
}

static bool is_standard_input(const char *path)
{
    return strcmp(path, "-") == 0;
}

static enum corral_err open_file(struct reading *r, struct diag *d)
{
    struct stat st;
    if (is_standard_input(r->path)) {
        int fd = dup(STDIN_FILENO);
        bool regular = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
        r->pipe = !regular;
        r->file = fd < 0 ? NULL : regular ? fdopen(fd, "rb") : open_pipe(fd, r->stop);
    } else {
        r->file = fopen(r->path, "rbe");
    }
    if (!r->file)
        return diag_set(d, CORRAL_ERR_IO, "cannot open '%.200s': %s", r->path, strerror(errno));
    int fd = fileno(r->file);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        r->size = (uint64_t)st.st_size;
    return CORRAL_OK;
}

/* --- captures and raw datagrams ------------------------------------------------------------------------- */

/* Hand one datagram on and draw what comes of it, so that no sink's queue ever fills. */
static enum corral_err take(struct reading *r, const char *source, const uint8_t *data, size_t size,
                            int64_t ns, struct diag *d)
{
    prof_streams_datagram(r->p->streams, source, data, size, ns);
    enum corral_err err = r->p->bus ? event_bus_drain(r->p->bus, d) : CORRAL_OK;
    return err == CORRAL_OK && !r->pipe && stopped(r) ? interrupted(d) : err;
}

static void tell(const struct reading *r, uint64_t packets)
{
    if (!r->progress || packets % TELL_PACKETS)
        return;
    off_t at = r->size ? ftello(r->file) : 0;
    r->progress(r->ctx, at > 0 ? (uint64_t)at : 0, r->size);
}

static void add_stats(struct profiling_file_stats *sum, const struct capture_reader *reader)
{
    struct capture_reader_stats one;
    capture_reader_get_stats(reader, &one);
    sum->packets += one.packets;
    sum->udp += one.udp;
    sum->other += one.other;
    sum->fragments += one.fragments;
    sum->cut += one.cut;
    sum->unknown_linktype += one.unknown_linktype;
}

/* What ended the reading before the end of the file. */
static enum corral_err judge_damage(struct reading *r, const struct diag *damage, struct diag *d)
{
    if (stopped(r))
        return interrupted(d);
    if (damage->code == CORRAL_ERR_IO) {
        if (d)
            *d = *damage;
        return damage->code;
    }
    r->stats->damaged = true;
    r->stats->damage = *damage;
    return CORRAL_OK;
}

/* The rest of the file, of which `size` bytes have been read: it may be a pipe. Closes it. */
static enum corral_err read_packets(struct reading *r, const uint8_t *data, size_t size, struct diag *d)
{
    struct diag damage = DIAG_INIT;
    struct capture_packet packet;
    struct capture_udp udp;
    enum corral_err err = CORRAL_OK;
    uint64_t packets = 0;
    int more = 1;
    struct capture_reader *reader = capture_reader_open_stream(r->file, data, size, r->path, &damage);
    if (!reader) {
        if (d)
            *d = damage;
        return damage.code;
    }
    while (err == CORRAL_OK && (more = capture_reader_next(reader, &packet, &damage)) > 0) {
        tell(r, ++packets);
        const char *source = capture_reader_profile(&packet);
        if (source)
            udp = (struct capture_udp){.data = packet.data, .size = packet.size};
        else if (capture_reader_udp(reader, &packet, &udp) && udp.dest_port == r->port)
            source = udp.source;
        else
            continue;
        if (!r->p->start_ns)
            r->p->start_ns = packet.ns;
        err = take(r, source, udp.data, udp.size, packet.ns, d);
    }
    if (err == CORRAL_OK && more < 0)
        err = judge_damage(r, &damage, d);
    else if (err == CORRAL_OK && stopped(r))
        err = interrupted(d);
    add_stats(r->stats, reader);
    capture_reader_close(reader);
    return err;
}

/* All raw files are one sender, named after the first. */
static enum corral_err read_raw(struct reading *r, const uint8_t *data, size_t size, struct diag *d)
{
    if (!r->p->raw_source)
        r->p->raw_source = strdup(r->path);
    if (!r->p->raw_source)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    return take(r, r->p->raw_source, data, size, EVENT_NO_TIME, d);
}

static enum corral_err read_file(struct reading *r, uint8_t *data, bool raw_allowed, struct diag *d)
{
    errno = 0;
    size_t size = fread(data, 1, PROBE, r->file);
    enum corral_err err;
    if (capture_reader_probe(data, size) && !ferror(r->file))
        return read_packets(r, data, size, d);
    size += raw_allowed ? fread(data + size, 1, RAW_MAX - size, r->file) : 0;
    int why = errno;
    if (ferror(r->file)) {
        err = diag_set(d, CORRAL_ERR_IO, "cannot read '%.200s': %s", r->path, strerror(why));
    } else if (stopped(r)) {
        err = interrupted(d);
    } else if (!raw_allowed) {
        err = diag_set(d, CORRAL_ERR_CAPTURE,
                       "'%.200s' is no capture file: it begins neither like pcap nor "
                       "like pcapng",
                       r->path);
        diag_hint(d, "'corral decode prof' reads single raw datagrams, too");
    } else {
        err = read_raw(r, data, size, d);
    }
    fclose(r->file);
    return err;
}

enum corral_err profiling_read_capture(struct profiling *p, const char *path, uint16_t port, bool raw_allowed,
                                       const atomic_bool *stop,
                                       void (*progress)(void *ctx, uint64_t done, uint64_t size), void *ctx,
                                       struct profiling_file_stats *stats, struct diag *d)
{
    struct profiling_file_stats own;
    struct reading r = {.p = p, .path = path, .port = port, .stop = stop, .progress = progress, .ctx = ctx};
    r.stats = stats ? stats : &own;
    *r.stats = (struct profiling_file_stats){0};
    uint8_t *data = malloc(RAW_MAX);
    if (!data)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    enum corral_err err = open_file(&r, d);
    if (err == CORRAL_OK)
        err = read_file(&r, data, raw_allowed, d);
    free(data);
    return err;
}
