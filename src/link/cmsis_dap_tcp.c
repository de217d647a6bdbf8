/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CMSIS-DAP packets over TCP, in the frames that OpenOCD uses (after 0.12): 8 bytes "DAP\0", length, kind
 * (1 request, 2 answer), 0; then the packet. Must not look into packets.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "link/cmsis_dap_wire.h"
#include "link/link_tcp.h"

#define HEADER       8u
#define SIGNATURE    0x00504144u
#define KIND_REQUEST 1u
#define KIND_ANSWER  2u
#define FIRST_PACKET 1024u

struct tcp {
    int fd;
    char name[LINK_TCP_NAME];
    size_t have; /* bytes of what came that nobody has taken yet */
    uint8_t in[HEADER + CMSIS_DAP_PACKET_MAX];
};

static enum corral_err gone(const struct tcp *t, struct diag *d)
{
    if (errno == ETIMEDOUT)
        diag_set(d, CORRAL_ERR_LINK_DOWN, "the probe %s does not answer", t->name);
    else
        diag_set(d, CORRAL_ERR_LINK_DOWN, "the probe %s is gone: %s", t->name, strerror(errno));
    diag_object(d, "%s", t->name);
    return CORRAL_ERR_LINK_DOWN;
}

static enum corral_err tcp_send(void *ctx, const uint8_t *packet, size_t size, int ms, struct diag *d)
{
    struct tcp *t = ctx;
    uint8_t frame[HEADER + CMSIS_DAP_PACKET_MAX] = {0};
    store_le32(frame, SIGNATURE);
    store_le16(frame + 4, (uint16_t)size);
    frame[6] = KIND_REQUEST;
    memcpy(frame + HEADER, packet, size);
    return link_tcp_send(t->fd, frame, HEADER + size, ms) == 0 ? CORRAL_OK : gone(t, d);
}

static enum corral_err tcp_receive(void *ctx, uint8_t *packet, size_t room, size_t *size, int ms,
                                   struct diag *d)
{
    struct tcp *t = ctx;
    int64_t end = link_tcp_now() + ms;
    for (;;) {
        size_t length = t->have >= HEADER ? load_le16(t->in + 4) : 0;
        if (t->have >= HEADER &&
            (load_le32(t->in) != SIGNATURE || t->in[6] != KIND_ANSWER || length > room)) {
            diag_set(d, CORRAL_ERR_LINK_PROTOCOL, "the probe %s sent what is no answer in its frame",
                     t->name);
            diag_hint(d, "is that port one of a CMSIS-DAP server?");
            diag_object(d, "%s", t->name);
            return CORRAL_ERR_LINK_PROTOCOL;
        }
        if (t->have >= HEADER && t->have >= HEADER + length) {
            memcpy(packet, t->in + HEADER, length);
            t->have -= HEADER + length;
            memmove(t->in, t->in + HEADER + length, t->have);
            *size = length;
            return CORRAL_OK;
        }
        int64_t left = end - link_tcp_now();
        ssize_t n =
            link_tcp_receive(t->fd, t->in + t->have, sizeof(t->in) - t->have, left > 0 ? (int)left : 0);
        if (n < 0)
            return gone(t, d);
        if (n == 0) {
            diag_set(d, CORRAL_ERR_LINK_DOWN, "the probe %s closed the connection", t->name);
            diag_object(d, "%s", t->name);
            return CORRAL_ERR_LINK_DOWN;
        }
        t->have += (size_t)n;
    }
}

static void tcp_close(void *ctx)
{
    struct tcp *t = ctx;
    close(t->fd);
    free(t);
}

static const struct cmsis_dap_wire_ops tcp_ops = {
    .send = tcp_send, .receive = tcp_receive, .close = tcp_close};

bool cmsis_dap_tcp_open(struct cmsis_dap_wire *wire, const char *words, int ms, struct diag *d)
{
    struct tcp *t = calloc(1, sizeof(*t));
    if (!t) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return false;
    }
    t->fd = link_tcp_connect_within(words, "cmsis-dap:tcp", ms, t->name, d);
    if (t->fd < 0) {
        free(t);
        return false;
    }
    *wire = (struct cmsis_dap_wire){.ops = &tcp_ops, .ctx = t, .packet = FIRST_PACKET};
    memcpy(wire->name, t->name, sizeof(wire->name));
    return true;
}
