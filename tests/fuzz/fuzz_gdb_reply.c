/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of what a gdb stub answers: the first byte says how the rest is cut into pieces, which must not
 * change a packet of what comes out. Each packet is then taken apart in every way there is
 * (link/rsp_reply.h), and what the parsers promise is checked.
 */
#include <string.h>

#include "fuzz_target.h"
#include "link/rsp_frame.h"
#include "link/rsp_reply.h"

struct seen {
    uint64_t digest, packets;
};

static void mix(struct seen *s, const void *data, size_t size)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < size; i++)
        s->digest = (s->digest ^ p[i]) * UINT64_C(0x100000001b3);
}

static void check_hex(const char *text)
{
    size_t n = strlen(text);
    uint8_t *bytes = malloc(n / 2 + 1);
    FUZZ_CHECK(bytes);
    bytes[n / 2] = 0xA5; /* one more than may be written */
    bool good = rsp_reply_hex(text, bytes, n / 2);
    FUZZ_CHECK(bytes[n / 2] == 0xA5);
    FUZZ_CHECK(!good || n % 2 == 0);
    FUZZ_CHECK(!rsp_reply_hex(text, bytes, n / 2 + 1));
    free(bytes);
}

static void check_threads(const char *text)
{
    struct rsp_thread_id list[4];
    size_t count = 1;
    bool last;
    bool good = rsp_reply_threads(text, list, 4, &count, &last);
    FUZZ_CHECK(count >= 1 && count <= 4);
    for (size_t i = 1; good && i < count; i++)
        FUZZ_CHECK(list[i].tid > 0 && list[i].pid >= 0);
}

static void check_registers(const char *text)
{
    static struct rsp_registers r;
    memset(&r, 0, sizeof(r));
    rsp_reply_registers(text, &r);
    rsp_reply_registers(text, &r); /* the second file adds to the first */
    FUZZ_CHECK(r.count <= RSP_REGISTERS && r.includes <= RSP_INCLUDES);
    for (size_t i = 0; i < r.count; i++) {
        FUZZ_CHECK(r.reg[i].name[0] && memchr(r.reg[i].name, '\0', sizeof(r.reg[i].name)));
        FUZZ_CHECK(strpbrk(r.reg[i].name, "\x1b\n<>\"/ ") == NULL && r.reg[i].bits <= 4096);
    }
    for (size_t i = 0; i < r.includes; i++)
        FUZZ_CHECK(r.include[i][0] && strpbrk(r.include[i], "/: \x1b") == NULL);
}

static void check_packet(const char *text)
{
    struct rsp_stop stop;
    struct rsp_features features;
    const char *words;
    int number;
    if (rsp_reply_stop(text, &stop)) {
        FUZZ_CHECK(strchr("TSWX", text[0]) && stop.signal <= 0xFF);
        FUZZ_CHECK((stop.kind == RSP_STOP_ENDED) == (text[0] == 'W' || text[0] == 'X'));
    }
    if (rsp_reply_is_error(text, &number, &words))
        FUZZ_CHECK(text[0] == 'E' && number >= -1 && number <= 0xFF && words);
    rsp_reply_features(text, &features);
    check_hex(text);
    check_threads(text);
    check_registers(text);
}

/* In pieces of `step` bytes, each an allocation of its own; 0 = all at once. */
static void run(const uint8_t *data, size_t size, size_t step, struct seen *s)
{
    static struct rsp_frame f;
    memset(&f, 0, sizeof(f));
    while (size) {
        size_t n = step && step < size ? step : size;
        uint8_t *piece = malloc(n);
        FUZZ_CHECK(piece);
        memcpy(piece, data, n);
        for (size_t at = 0; at < n;) {
            size_t used = 0;
            enum rsp_frame_event e = rsp_frame_feed(&f, piece + at, n - at, &used);
            FUZZ_CHECK(used > 0 && used <= n - at && (e != RSP_FRAME_MORE || used == n - at));
            at += used;
            if (e == RSP_FRAME_MORE)
                continue;
            FUZZ_CHECK(f.size <= RSP_FRAME_MAX);
            mix(s, &e, sizeof(e));
            if (e != RSP_FRAME_PACKET && e != RSP_FRAME_NOTIFICATION)
                continue;
            FUZZ_CHECK(f.data[f.size] == '\0');
            s->packets++;
            mix(s, f.data, f.size);
            if (step == 0)
                check_packet((const char *)f.data);
        }
        free(piece);
        data += n;
        size -= n;
    }
}

/* What is framed comes out of the frame as it went in. */
static void check_round_trip(const uint8_t *data, size_t size)
{
    static struct rsp_frame f;
    uint8_t *out = malloc(2 * size + 4);
    size_t used = 0;
    FUZZ_CHECK(out);
    size_t n = rsp_frame_write(data, size, out, 2 * size + 4);
    memset(&f, 0, sizeof(f));
    FUZZ_CHECK(n >= size + 4);
    FUZZ_CHECK(rsp_frame_feed(&f, out, n, &used) == RSP_FRAME_PACKET);
    FUZZ_CHECK(used == n && f.size == size && memcmp(f.data, data, size) == 0);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen whole = {0}, cut = {0};
    if (size < 2 || size > RSP_FRAME_MAX)
        return 0;
    run(data + 1, size - 1, 0, &whole);
    run(data + 1, size - 1, 1 + data[0] % 31u, &cut);
    FUZZ_CHECK(whole.digest == cut.digest && whole.packets == cut.packets);
    check_round_trip(data + 1, size - 1);
    /* Without a frame around it, too: a mutated checksum must not hide the parsers. */
    char *text = malloc(size);
    FUZZ_CHECK(text);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    check_packet(text);
    free(text);
    return 0;
}
