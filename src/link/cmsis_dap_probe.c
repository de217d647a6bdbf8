/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See cmsis_dap_probe.h. DAP_Info, and the matching of answers to commands.
 *
 * Must not know what a command does to a target.
 */
#include "link/cmsis_dap_probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "link/link_tcp.h"

#define ANSWER_MS  5000
#define GRACE_MS   100 /* behind the limit, for what is under way with a probe that is well */
#define DEPTH_MAX  16u
#define PACKET_MIN 64u /* of every probe there is; the smallest commands are sure to fit */

enum {
    INFO_VENDOR = 0x01,
    INFO_PRODUCT = 0x02,
    INFO_SERIAL = 0x03,
    INFO_PROTOCOL = 0x04,
    INFO_FIRMWARE = 0x09,
    INFO_CAPABILITIES = 0xF0,
    INFO_PACKET_COUNT = 0xFE,
    INFO_PACKET_SIZE = 0xFF,
};

struct cmsis_dap_probe {
    struct cmsis_dap_wire wire;
    struct link_cmsis_dap_info info;
    size_t packet;
    unsigned depth;
    uint8_t waiting[DEPTH_MAX]; /* commands whose answers are due, a ring */
    unsigned first, under_way;
    int64_t limit; /* of all waits, link_tcp_now */
    bool failed;
    struct diag why;
    uint8_t out[CMSIS_DAP_PACKET_MAX], in[CMSIS_DAP_PACKET_MAX];
};

void cmsis_dap_probe_refuse(struct cmsis_dap_probe *p, const char *what)
{
    if (p->failed)
        return;
    p->failed = true;
    diag_set(&p->why, CORRAL_ERR_LINK_PROTOCOL, "the probe %s %s", p->wire.name, what);
    diag_object(&p->why, "%s", p->wire.name);
}

static int wait_ms(const struct cmsis_dap_probe *p)
{
    int left = link_tcp_left(p->limit, ANSWER_MS);
    return left > GRACE_MS ? left : GRACE_MS;
}

bool cmsis_dap_probe_send(struct cmsis_dap_probe *p, const uint8_t *request, size_t size)
{
    if (p->failed)
        return false;
    if (size == 0 || size > p->packet || p->under_way == p->depth) {
        cmsis_dap_probe_refuse(p, "has no room for a command");
        return false;
    }
    memcpy(p->out, request, size);
    if (p->wire.padded) {
        memset(p->out + size, 0, p->packet - size);
        size = p->packet;
    }
    if (p->wire.ops->send(p->wire.ctx, p->out, size, wait_ms(p), &p->why) != CORRAL_OK) {
        p->failed = true;
        return false;
    }
    p->waiting[(p->first + p->under_way++) % DEPTH_MAX] = request[0];
    return true;
}

const uint8_t *cmsis_dap_probe_take(struct cmsis_dap_probe *p, size_t least, size_t *size)
{
    size_t n = 0;
    if (p->failed || p->under_way == 0)
        return NULL;
    if (p->wire.ops->receive(p->wire.ctx, p->in, p->packet, &n, wait_ms(p), &p->why) != CORRAL_OK) {
        p->failed = true;
        return NULL;
    }
    uint8_t command = p->waiting[p->first];
    p->first = (p->first + 1) % DEPTH_MAX;
    p->under_way--;
    if (n == 0 || n > p->packet) {
        cmsis_dap_probe_refuse(p, n ? "sent a packet that is too long" : "sent an empty packet");
    } else if (p->in[0] == 0xFF && command != 0xFF) {
        p->failed = true;
        diag_set(&p->why, CORRAL_ERR_UNSUPPORTED, "the probe %s does not know command 0x%02X", p->wire.name,
                 command);
        diag_hint(&p->why, "its firmware is older than what this needs, or speaks another protocol");
        diag_object(&p->why, "%s", p->wire.name);
    } else if (p->in[0] != command) {
        p->failed = true;
        diag_set(&p->why, CORRAL_ERR_LINK_PROTOCOL,
                 "the probe %s answered command 0x%02X with the answer to 0x%02X", p->wire.name, command,
                 p->in[0]);
        diag_hint(&p->why, "another program may be using this probe");
        diag_object(&p->why, "%s", p->wire.name);
    } else if (n < least) {
        p->failed = true;
        diag_set(&p->why, CORRAL_ERR_LINK_PROTOCOL,
                 "the probe %s answered command 0x%02X with %zu bytes, of which there must be %zu",
                 p->wire.name, command, n, least);
        diag_object(&p->why, "%s", p->wire.name);
    }
    if (p->failed)
        return NULL;
    if (size)
        *size = n;
    return p->in;
}

const uint8_t *cmsis_dap_probe_ask(struct cmsis_dap_probe *p, const uint8_t *request, size_t size,
                                   size_t least)
{
    return cmsis_dap_probe_send(p, request, size) ? cmsis_dap_probe_take(p, least, NULL) : NULL;
}

bool cmsis_dap_probe_do(struct cmsis_dap_probe *p, const uint8_t *request, size_t size)
{
    const uint8_t *answer = cmsis_dap_probe_ask(p, request, size, 2);
    return answer && answer[1] == 0;
}

/* What the probe says about `id`: *size bytes, 0 where it knows nothing. NULL when it is given up. */
static const uint8_t *ask_info(struct cmsis_dap_probe *p, uint8_t id, size_t *size)
{
    const uint8_t request[] = {CMD_INFO, id};
    size_t n = 0;
    if (!cmsis_dap_probe_send(p, request, sizeof(request)))
        return NULL;
    const uint8_t *answer = cmsis_dap_probe_take(p, 2, &n);
    if (!answer)
        return NULL;
    if (answer[1] > n - 2) {
        cmsis_dap_probe_refuse(p, "says less about itself than it announces");
        return NULL;
    }
    *size = answer[1];
    return answer + 2;
}

static bool ask_text(struct cmsis_dap_probe *p, uint8_t id, char out[LINK_CMSIS_DAP_TEXT])
{
    size_t size = 0;
    const uint8_t *text = ask_info(p, id, &size);
    if (text)
        text_escape(text, size, out, LINK_CMSIS_DAP_TEXT);
    return text != NULL;
}

static bool ask_number(struct cmsis_dap_probe *p, uint8_t id, unsigned width, unsigned *out)
{
    size_t size = 0;
    const uint8_t *bytes = ask_info(p, id, &size);
    *out = bytes && size >= width ? load_le(bytes, width) : 0;
    return bytes != NULL;
}

static bool ask_limits(struct cmsis_dap_probe *p)
{
    struct link_cmsis_dap_info *i = &p->info;
    if (!ask_number(p, INFO_PACKET_SIZE, 2, &i->packet_size) ||
        !ask_number(p, INFO_PACKET_COUNT, 1, &i->packet_count))
        return false;
    if (i->packet_size < PACKET_MIN || i->packet_count == 0) {
        cmsis_dap_probe_refuse(p, i->packet_count ? "says that its packets hold less than 64 bytes"
                                                  : "says that it takes no packets");
        return false;
    }
    p->packet = i->packet_size < CMSIS_DAP_PACKET_MAX ? i->packet_size : CMSIS_DAP_PACKET_MAX;
    p->depth = i->packet_count < DEPTH_MAX ? i->packet_count : DEPTH_MAX;
    if (p->wire.ops->set_packet)
        p->wire.ops->set_packet(p->wire.ctx, p->packet);
    return true;
}

static bool ask_all(struct cmsis_dap_probe *p)
{
    struct link_cmsis_dap_info *i = &p->info;
    unsigned capabilities = 0;
    /* The size first: what is longer than the size assumed until then could not be told. */
    if (!ask_limits(p) || !ask_number(p, INFO_CAPABILITIES, 1, &capabilities))
        return false;
    i->swd = capabilities & 1u;
    i->jtag = capabilities & 2u;
    return ask_text(p, INFO_VENDOR, i->vendor) && ask_text(p, INFO_PRODUCT, i->product) &&
           ask_text(p, INFO_SERIAL, i->serial) && ask_text(p, INFO_PROTOCOL, i->protocol) &&
           ask_text(p, INFO_FIRMWARE, i->firmware);
}

void cmsis_dap_probe_set_limit(struct cmsis_dap_probe *p, int64_t limit)
{
    p->limit = limit;
}

struct cmsis_dap_probe *cmsis_dap_probe_open(const struct cmsis_dap_wire *wire, int64_t limit, struct diag *d)
{
    struct cmsis_dap_probe *p = calloc(1, sizeof(*p));
    if (!p) {
        wire->ops->close(wire->ctx);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    p->wire = *wire;
    p->packet =
        wire->packet >= PACKET_MIN && wire->packet <= CMSIS_DAP_PACKET_MAX ? wire->packet : PACKET_MIN;
    p->depth = 1;
    p->limit = limit;
    if (ask_all(p))
        return p;
    if (d)
        *d = p->why;
    cmsis_dap_probe_close(p);
    return NULL;
}

void cmsis_dap_probe_close(struct cmsis_dap_probe *p)
{
    if (!p)
        return;
    p->wire.ops->close(p->wire.ctx);
    free(p);
}

const struct link_cmsis_dap_info *cmsis_dap_probe_info(const struct cmsis_dap_probe *p)
{
    return &p->info;
}

const char *cmsis_dap_probe_name(const struct cmsis_dap_probe *p)
{
    return p->wire.name;
}

size_t cmsis_dap_probe_packet(const struct cmsis_dap_probe *p)
{
    return p->packet;
}

unsigned cmsis_dap_probe_depth(const struct cmsis_dap_probe *p)
{
    return p->depth;
}

bool cmsis_dap_probe_failed(const struct cmsis_dap_probe *p)
{
    return p->failed;
}

const struct diag *cmsis_dap_probe_why(const struct cmsis_dap_probe *p)
{
    return &p->why;
}
