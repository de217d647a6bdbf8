/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of what an OpenOCD answers. link_tcp.h is filled in here: what is "received" is the input, up
 * to the next 0x1A for each command. The first byte of each answer says what goes ahead of it: bit 0 the mark
 * of the command that was sent, bit 1 the code of an error, bit 2 two good targets, bit 3 cut into single
 * bytes. Whatever comes, reads give what was asked for or fail, and all ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fuzz_target.h"
#include "link/link.h"
#include "link/link_tcp.h"
#include "link/openocd.h"

#define END     0x1A
#define TARGETS "m0 mem_ap c.dap 0;m1 mem_ap c.dap 1;"
#define ANSWER  (80u << 10)

/* The peer; the target of a fuzzer has no other place for it, since link_tcp.h knows a descriptor only. */
static struct {
    const uint8_t *data;
    size_t size, at;
    char answer[ANSWER];
    size_t length, sent;
    size_t step;
    unsigned commands;
} peer;

int link_tcp_connect_within(const char *words, const char *kind, int ms, char name[LINK_TCP_NAME],
                            struct diag *d)
{
    (void)kind;
    (void)ms;
    (void)d;
    snprintf(name, LINK_TCP_NAME, "%s", words);
    return open("/dev/null", O_RDWR | O_CLOEXEC);
}

int link_tcp_connect(const char *words, const char *kind, char name[LINK_TCP_NAME], struct diag *d)
{
    return link_tcp_connect_within(words, kind, 1, name, d);
}

int64_t link_tcp_now(void)
{
    return 0;
}

int64_t link_tcp_limit(struct host_clock *clock, int64_t when)
{
    (void)clock;
    (void)when;
    return INT64_MAX;
}

int64_t link_tcp_open_limit(const struct link_options *options)
{
    (void)options;
    return INT64_MAX;
}

int link_tcp_left(int64_t limit, int most)
{
    (void)limit;
    return most;
}

static void add(const void *bytes, size_t n)
{
    if (n > ANSWER - peer.length)
        n = ANSWER - peer.length;
    memcpy(peer.answer + peer.length, bytes, n);
    peer.length += n;
}

int link_tcp_send(int fd, const void *data, size_t size, int ms)
{
    static const char before[] = "|%s|%s {";
    (void)fd;
    (void)ms;
    FUZZ_CHECK(size > 0 && ((const char *)data)[size - 1] == END);
    FUZZ_CHECK(memchr(data, END, size - 1) == NULL); /* one command */
    peer.length = peer.sent = 0;
    peer.step = ANSWER;
    peer.commands++;
    if (peer.at == peer.size)
        return 0;
    uint8_t how = peer.data[peer.at++];
    const uint8_t *rest = peer.data + peer.at, *end = memchr(rest, END, peer.size - peer.at);
    size_t n = end ? (size_t)(end - rest) + 1 : peer.size - peer.at;
    const char *mark = memmem(data, size, before, sizeof(before) - 1);
    FUZZ_CHECK(mark);
    mark += sizeof(before) - 1;
    if (how & 1) {
        add(mark, strcspn(mark, "}"));
        add(how & 2 ? "1|" : "0|", 2);
    }
    if (how & 4)
        add(TARGETS, sizeof(TARGETS) - 1);
    if (how & 8)
        peer.step = 1;
    add(rest, n);
    peer.at += n;
    return 0;
}

ssize_t link_tcp_receive(int fd, void *data, size_t room, int ms)
{
    size_t n = peer.length - peer.sent;
    (void)fd;
    (void)ms;
    FUZZ_CHECK(room > 0);
    if (n == 0) {
        errno = ETIMEDOUT;
        return peer.at == peer.size ? 0 : -1;
    }
    n = n < room ? n : room;
    n = n < peer.step ? n : peer.step;
    memcpy(data, peer.answer + peer.sent, n);
    peer.sent += n;
    return (ssize_t)n;
}

static void use(struct link *link)
{
    struct diag d = DIAG_INIT;
    uint32_t words[300], word = 0, reg = 0;
    uint8_t bytes[3];
    struct link_access a[] = {
        {.op = LINK_MEM_READ, .size = 4, .ap = 0, .address = 0x20000000, .count = 300, .data = words},
        {.op = LINK_MEM_WRITE, .size = 4, .ap = 1, .address = 0x20000000, .count = 1, .data = &word},
        {.op = LINK_MEM_READ, .size = 1, .ap = 1, .address = 0x20000001, .count = 3, .data = bytes},
        {.op = LINK_AP_READ, .size = 4, .ap = 0, .address = 0xFC, .count = 1, .data = &reg},
        {.op = LINK_DP_READ, .size = 4, .ap = 0, .address = 4, .count = 1, .data = &reg}};
    for (unsigned round = 0; round < 3; round++) {
        enum corral_err err = link_execute(link, a, 5, &d);
        bool failed = false;
        for (size_t i = 0; i < 5; i++) {
            FUZZ_CHECK(a[i].done <= a[i].count);
            FUZZ_CHECK(a[i].status != CORRAL_OK || a[i].done == a[i].count);
            FUZZ_CHECK(!failed || a[i].status == CORRAL_ERR_INTERRUPTED);
            failed |= a[i].status != CORRAL_OK;
        }
        FUZZ_CHECK(failed == (err != CORRAL_OK));
        FUZZ_CHECK(!err || (d.code == err && d.message[0]));
    }
    link_drive_reset(link, true, &d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct host_clock *clock = host_clock_new_virtual();
    struct diag d = DIAG_INIT;
    struct link_options options = {.wire_hz = size % 2 ? 1000000 : 0};
    peer.data = data;
    peer.size = size;
    peer.at = peer.length = peer.sent = peer.commands = 0;
    FUZZ_CHECK(clock);
    struct link *link = link_openocd_open("openocd:127.0.0.1:6666", &options, clock, &d);
    FUZZ_CHECK(link || (d.code != CORRAL_OK && d.message[0]));
    if (link)
        use(link);
    FUZZ_CHECK(peer.commands < 1000);
    link_close(link);
    host_clock_free(clock);
    return 0;
}
