/* SPDX-License-Identifier: Apache-2.0 */
/* See rsp.h. Cross-trigger sheet 10.1. */
#include "link/rsp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MS  10000
#define SEND_MS    5000
#define RESENDS    3    /* of a packet, or of an answer that came damaged */
#define CONSOLE    1000 /* packets of output before an answer */
#define LATE_READS 16   /* buffers that are still read when the time is up */
#define INTERRUPT  0x03

struct rsp {
    int fd, patience;
    bool no_ack, failed;
    bool unheard; /* what was sent has not been acknowledged: what comes before that is no answer to it */
    size_t limit;
    size_t filled, taken; /* of `in` */
    size_t out_size;
    char name[LINK_TCP_NAME];
    struct diag why;
    void (*output)(void *ctx, const char *hex);
    void *output_ctx;
    struct rsp_frame frame;
    uint8_t in[8192];
    uint8_t out[2 * RSP_FRAME_MAX + 8];
};

struct rsp *rsp_open(const char *words, struct diag *d)
{
    struct rsp *r = calloc(1, sizeof(*r));
    if (!r) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    r->limit = RSP_FRAME_MAX;
    r->patience = ANSWER_MS;
    r->fd = link_tcp_connect(words, "gdb", r->name, d);
    if (r->fd >= 0)
        return r;
    free(r);
    return NULL;
}

void rsp_close(struct rsp *r)
{
    if (!r)
        return;
    close(r->fd);
    free(r);
}

const char *rsp_name(const struct rsp *r)
{
    return r->name;
}

void rsp_no_ack(struct rsp *r)
{
    r->no_ack = true;
    r->unheard = false;
}

void rsp_limit(struct rsp *r, size_t size)
{
    if (size < r->limit)
        r->limit = size;
}

void rsp_patience(struct rsp *r, int ms)
{
    r->patience = ms > 0 && ms < ANSWER_MS ? ms : ANSWER_MS;
}

void rsp_listen(struct rsp *r, void (*output)(void *ctx, const char *hex), void *ctx)
{
    r->output = output;
    r->output_ctx = ctx;
}

size_t rsp_room(const struct rsp *r)
{
    return r->limit;
}

static enum corral_err fail(struct rsp *r, enum corral_err err, const char *what, struct diag *d)
{
    r->failed = true;
    diag_set(&r->why, err, "the gdb stub at %s %s", r->name, what);
    diag_object(&r->why, "%s", r->name);
    if (d)
        *d = r->why;
    return err;
}

static enum corral_err dead(const struct rsp *r, struct diag *d)
{
    if (d)
        *d = r->why;
    return r->why.code;
}

static enum corral_err send_bytes(struct rsp *r, const void *data, size_t size, struct diag *d)
{
    if (link_tcp_send(r->fd, data, size, SEND_MS) == 0)
        return CORRAL_OK;
    return fail(r, CORRAL_ERR_LINK_DOWN, errno == ETIMEDOUT ? "takes nothing any more" : "went away", d);
}

/* One event, or RSP_FRAME_MORE when `end` came first. */
static enum corral_err next_event(struct rsp *r, int64_t end, enum rsp_frame_event *event, struct diag *d)
{
    unsigned late = 0;
    *event = RSP_FRAME_MORE;
    for (;;) {
        while (r->taken < r->filled) {
            size_t used = 0;
            *event = rsp_frame_feed(&r->frame, r->in + r->taken, r->filled - r->taken, &used);
            r->taken += used;
            if (*event != RSP_FRAME_MORE)
                return CORRAL_OK;
        }
        int64_t left = end - link_tcp_now();
        ssize_t n = link_tcp_receive(r->fd, r->in, sizeof(r->in), left > 0 ? (int)left : 0);
        r->taken = 0;
        r->filled = n > 0 ? (size_t)n : 0;
        if (n == 0)
            return fail(r, CORRAL_ERR_LINK_DOWN, "closed the connection", d);
        if (n < 0 && errno == ETIMEDOUT)
            return CORRAL_OK;
        if (n < 0)
            return fail(r, CORRAL_ERR_LINK_DOWN, "went away", d);
        /* What was there at the end is still looked at; but a peer that never falls silent is not waited out.
         */
        if (left <= 0 && ++late > LATE_READS)
            return CORRAL_OK;
    }
}

/* A file request of the program behind the stub: there are no files here. */
static enum corral_err refuse_file_request(struct rsp *r, struct diag *d)
{
    uint8_t out[32];
    size_t n = rsp_frame_write("F-1,16", 6, out, sizeof(out));
    return send_bytes(r, out, n, d);
}

/* The next packet that is not output; *packet stays NULL when none came by `end`. */
static enum corral_err next_packet(struct rsp *r, int64_t end, const char **packet, struct diag *d)
{
    int resends = 0, damaged = 0;
    *packet = NULL;
    for (int i = 0; i < CONSOLE; i++) {
        enum rsp_frame_event event;
        enum corral_err err = next_event(r, end, &event, d);
        if (err || event == RSP_FRAME_MORE)
            return err;
        switch (event) {
        case RSP_FRAME_PACKET:
            if (!r->no_ack && (err = send_bytes(r, "+", 1, d)))
                return err;
            const char *text = (const char *)r->frame.data;
            if (r->unheard) /* QEMU tells of the stop that connecting was, unasked */
                continue;
            if (text[0] == 'O' && strcmp(text, "OK") != 0) {
                if (r->output)
                    r->output(r->output_ctx, text + 1);
                continue;
            }
            if (text[0] == 'F') {
                if ((err = refuse_file_request(r, d)))
                    return err;
                continue;
            }
            *packet = text;
            return CORRAL_OK;
        case RSP_FRAME_NAK:
            if (r->no_ack || ++resends > RESENDS)
                return fail(r, CORRAL_ERR_LINK_PROTOCOL, "refuses every packet", d);
            if ((err = send_bytes(r, r->out, r->out_size, d)))
                return err;
            break;
        case RSP_FRAME_BAD:
        case RSP_FRAME_TOO_LONG:
            if (r->no_ack || event == RSP_FRAME_TOO_LONG || ++damaged > RESENDS)
                return fail(r, CORRAL_ERR_LINK_PROTOCOL, "answered with a packet that is damaged or too long",
                            d);
            if ((err = send_bytes(r, "-", 1, d)))
                return err;
            break;
        case RSP_FRAME_ACK:
            r->unheard = false;
            break;
        default:
            break;
        }
    }
    return fail(r, CORRAL_ERR_LINK_PROTOCOL, "says much, and nothing that was asked", d);
}

enum corral_err rsp_send(struct rsp *r, const void *data, size_t size, struct diag *d)
{
    if (r->failed)
        return dead(r, d);
    size_t n = size <= r->limit ? rsp_frame_write(data, size, r->out, sizeof(r->out)) : 0;
    if (n == 0)
        return diag_set(d, CORRAL_ERR_LIMIT, "a packet of %zu bytes is too long for this gdb stub", size);
    r->out_size = n;
    r->unheard = !r->no_ack;
    return send_bytes(r, r->out, n, d);
}

enum corral_err rsp_ask(struct rsp *r, const void *data, size_t size, const char **answer, struct diag *d)
{
    *answer = "";
    enum corral_err err = rsp_send(r, data, size, d);
    if (!err)
        err = next_packet(r, link_tcp_now() + r->patience, answer, d);
    if (!err && !*answer)
        err = fail(r, CORRAL_ERR_LINK_DOWN, "does not answer", d);
    if (err)
        *answer = "";
    return err;
}

enum corral_err rsp_wait(struct rsp *r, int ms, const char **packet, struct diag *d)
{
    *packet = NULL;
    return r->failed ? dead(r, d) : next_packet(r, link_tcp_now() + ms, packet, d);
}

enum corral_err rsp_interrupt(struct rsp *r, struct diag *d)
{
    static const uint8_t byte = INTERRUPT;
    return r->failed ? dead(r, d) : send_bytes(r, &byte, 1, d);
}
