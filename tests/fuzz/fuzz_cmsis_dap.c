/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the CMSIS-DAP link: the probe's answers. The first byte chooses protocol and words, the next
 * three the packets' size and number; then a byte for each answer says whether it is right, right but for one
 * byte, a length and as many bytes of the input, or none at all. What a link promises (link/link.h) is
 * checked after each access.
 */
#include <string.h>

#include "base/bytes.h"
#include "fuzz_target.h"
#include "link/cmsis_dap.h"
#include "link/cmsis_dap_wire.h"

#define EXCHANGES 3000u

struct probe {
    const uint8_t *data;
    size_t size, at;
    unsigned packet, count;
    struct {
        uint8_t data[CMSIS_DAP_PACKET_MAX + 8];
        size_t size;
        bool none;
    } answer[16];
    unsigned first, waiting, exchanges;
    unsigned captured; /* bits of the chain since its reset */
    struct host_clock *clock;
    bool closed;
};

static uint8_t next(struct probe *p)
{
    return p->at < p->size ? p->data[p->at++] : 0;
}

static void answer_info(struct probe *p, uint8_t id, uint8_t *out, size_t *n)
{
    static const char text[] = "text";
    out[1] = id == 0xFF ? 2 : id == 0xFE || id == 0xF0 ? 1 : sizeof(text);
    if (id == 0xFF)
        store_le16(out + 2, (uint16_t)p->packet);
    else if (id == 0xFE || id == 0xF0)
        out[2] = (uint8_t)(id == 0xFE ? p->count : 3);
    else
        memcpy(out + 2, text, sizeof(text));
    *n = 2u + out[1];
}

/* A word that was read: mostly what lets the link go on. */
static uint32_t word(struct probe *p, uint8_t request)
{
    uint8_t c = next(p);
    uint32_t likely = (request & 1u) ? 0x84770001u : (request & 0xCu) == 0 ? 0x6BA02477u : 0xF0000000u;
    return c < 0x80 ? likely : likely ^ 1u << (c & 31u);
}

static void answer_transfer(struct probe *p, const uint8_t *in, size_t size, uint8_t *out, size_t *n)
{
    bool block = in[0] == 6;
    unsigned count = block ? load_le16(in + 2) : in[2], head = block ? 4 : 3;
    size_t at = block ? 5 : 3;
    *n = head;
    for (unsigned i = 0; i < count; i++) {
        uint8_t request = block ? in[4] : in[at++];
        if (request & 2u) {
            FUZZ_CHECK(*n + 4 <= CMSIS_DAP_PACKET_MAX); /* it may have lied about its size */
            store_le32(out + *n, block ? i : word(p, request));
            *n += 4;
        } else {
            at += 4;
        }
        FUZZ_CHECK(at <= size);
    }
    out[1] = (uint8_t)count;
    if (block)
        out[2] = (uint8_t)(count >> 8);
    out[head - 1] = 1;
}

/* A debug port alone on its chain: its IDCODE and ones, then four instruction bits. */
static void answer_chain(struct probe *p, const uint8_t *in, uint8_t *out, size_t *n)
{
    unsigned bits = in[2] & 0x3Fu ? in[2] & 0x3Fu : 64;
    *n = 2;
    if (!(in[2] & 0x80u))
        return;
    for (unsigned i = 0; i < bits; i++, p->captured++) {
        unsigned at = p->captured;
        bool one = at < 32 ? 0x4BA00477u >> at & 1u : at < 292;
        if (i % 8 == 0)
            out[(*n)++] = 0;
        out[*n - 1] |= (uint8_t)((one ? 1u : 0u) << i % 8);
    }
}

static void honest(struct probe *p, const uint8_t *in, size_t size, uint8_t *out, size_t *n)
{
    memset(out, 0, 16);
    out[0] = in[0];
    *n = 2;
    if (in[0] == 0x00)
        answer_info(p, in[1], out, n);
    else if (in[0] == 0x02)
        out[1] = in[1];
    else if (in[0] == 0x05 || in[0] == 0x06)
        answer_transfer(p, in, size, out, n);
    else if (in[0] == 0x14)
        answer_chain(p, in, out, n);
    else if (in[0] == 0x16) {
        store_le32(out + 2, 0x4BA00477u);
        *n = 6;
    } else if (in[0] == 0x1D)
        *n = 3;
    else if (in[0] == 0x12)
        p->captured = in[2] == 0xFF ? 0 : p->captured;
}

static enum corral_err probe_send(void *ctx, const uint8_t *packet, size_t size, int ms, struct diag *d)
{
    struct probe *p = ctx;
    FUZZ_CHECK(!p->closed && ms > 0 && size > 0 && size <= CMSIS_DAP_PACKET_MAX);
    FUZZ_CHECK(p->waiting < 16);
    if (p->exchanges++ == EXCHANGES)
        return diag_set(d, CORRAL_ERR_LINK_DOWN, "enough");
    unsigned slot = (p->first + p->waiting++) % 16;
    uint8_t *out = p->answer[slot].data;
    size_t n;
    honest(p, packet, size, out, &n);
    uint8_t how = next(p);
    if (how >= 0xC0 && how < 0xE0) {
        uint8_t at = next(p);
        out[at % n] = next(p);
    } else if (how >= 0xE0 && how < 0xF8) {
        n = next(p) & 0x3Fu;
        for (size_t i = 0; i < n; i++)
            out[i] = next(p);
    }
    p->answer[slot].none = how >= 0xF8;
    p->answer[slot].size = n;
    return CORRAL_OK;
}

static enum corral_err probe_receive(void *ctx, uint8_t *packet, size_t room, size_t *size, int ms,
                                     struct diag *d)
{
    struct probe *p = ctx;
    FUZZ_CHECK(!p->closed && ms > 0 && p->waiting > 0);
    host_clock_set(p->clock, host_clock_now(p->clock) + NS_PER_MS);
    if (p->answer[p->first].none)
        return diag_set(d, CORRAL_ERR_LINK_DOWN, "no answer");
    *size = p->answer[p->first].size;
    if (*size > room)
        return diag_set(d, CORRAL_ERR_LINK_PROTOCOL, "too long");
    memcpy(packet, p->answer[p->first].data, *size);
    p->first = (p->first + 1) % 16;
    p->waiting--;
    return CORRAL_OK;
}

static void probe_close(void *ctx)
{
    struct probe *p = ctx;
    FUZZ_CHECK(!p->closed);
    p->closed = true;
}

static const struct cmsis_dap_wire_ops ops = {
    .send = probe_send, .receive = probe_receive, .close = probe_close};

static void check(const struct link_access *a, size_t count, enum corral_err err, const struct diag *d)
{
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        FUZZ_CHECK(a[i].done <= a[i].count);
        FUZZ_CHECK(a[i].status != CORRAL_OK || a[i].done == a[i].count);
        failed += a[i].status != CORRAL_OK;
    }
    FUZZ_CHECK((err != CORRAL_OK) == (failed != 0));
    FUZZ_CHECK(err == CORRAL_OK || (d->code == err && d->message[0]));
}

static void use(struct link *link)
{
    static uint32_t words[300];
    uint8_t byte = 1;
    uint32_t stat = 0, power = 0x50000000;
    struct link_access batch[] = {
        {.op = LINK_DP_WRITE, .size = 4, .address = 4, .count = 1, .data = &power},
        {.op = LINK_DP_READ, .size = 4, .address = 4, .count = 1, .data = &stat},
        {.op = LINK_MEM_READ, .size = 4, .address = 0x20000010, .count = 1, .data = words},
        {.op = LINK_MEM_WRITE, .size = 4, .address = 0x20000000, .count = 300, .data = words},
        {.op = LINK_MEM_READ, .size = 4, .ap = 1, .address = 0x20000000, .count = 300, .data = words},
        {.op = LINK_MEM_WRITE, .size = 1, .address = 0x20000003, .count = 1, .data = &byte},
        {.op = LINK_AP_READ, .size = 4, .address = 0xFC, .count = 1, .data = &stat},
    };
    for (int round = 0; round < 3; round++) {
        struct diag d = DIAG_INIT;
        size_t count = sizeof(batch) / sizeof(batch[0]);
        power = 0x50000000;
        enum corral_err err = link_execute(link, batch, count, &d);
        check(batch, count, err, &d);
        for (size_t i = 0; i < count; i++) {
            err = link_execute(link, &batch[i], 1, &d);
            check(&batch[i], 1, err, &d);
        }
        link_drive_reset(link, round & 1, &d);
        link_forget(link);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct probe p;
    static const char *const specs[] = {"cmsis-dap", "cmsis-dap?targetsel=0x01002927"};
    struct diag d = DIAG_INIT;
    p = (struct probe){.data = data, .size = size, .clock = host_clock_new_virtual()};
    if (!p.clock)
        return 0;
    uint8_t shape = next(&p);
    p.packet = 64 + next(&p) * 4u;
    p.count = next(&p);
    struct link_options options = {.protocol = shape & 1 ? LINK_PROTOCOL_JTAG : LINK_PROTOCOL_SWD};
    struct cmsis_dap_wire wire = {.ops = &ops, .ctx = &p, .packet = 64, .padded = shape & 4, .name = "probe"};
    struct link *link = link_cmsis_dap_open_wire(&wire, specs[shape >> 1 & 1], &options, p.clock, &d);
    FUZZ_CHECK(link || (d.code && d.message[0]));
    if (link)
        use(link);
    link_close(link);
    FUZZ_CHECK(p.closed);
    host_clock_free(p.clock);
    return 0;
}
