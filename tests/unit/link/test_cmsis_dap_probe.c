/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CMSIS-DAP link against probes that lie, fall silent and vanish, a wire that loses its target, several
 * debug ports on one wire (case B22), and over TCP.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "link/cmsis_dap.h"
#include "link/link_tcp.h"
#include "sim/front_server.h"
#include "tests/unit/link/cmsis_dap_peer.h"

#define SRAM 0x20060000u

struct bench {
    struct cmsis_dap_peer peer;
    struct host_clock *clock;
    struct link *link;
    struct diag d;
};

/* Opening, which may fail. */
static void try_bench(struct bench *b, const struct cmsis_dap_peer_options *peer, const char *spec,
                      enum link_protocol protocol)
{
    struct link_options options = {.protocol = protocol};
    cmsis_dap_peer_start(&b->peer, peer);
    b->clock = host_clock_new_real();
    b->d = (struct diag)DIAG_INIT;
    struct cmsis_dap_wire wire = cmsis_dap_peer_wire(&b->peer);
    b->link = link_cmsis_dap_open_wire(&wire, spec, &options, b->clock, &b->d);
}

static void open_bench(struct bench *b, const struct cmsis_dap_peer_options *peer, const char *spec)
{
    try_bench(b, peer, spec, LINK_PROTOCOL_ANY);
    if (!b->link)
        fail_msg("%s", b->d.message);
    uint32_t power = 0x50000000;
    assert_int_equal(link_write_dp(b->link, 0x4, power, &b->d), CORRAL_OK);
}

static void close_bench(struct bench *b)
{
    link_close(b->link);
    host_clock_free(b->clock);
    cmsis_dap_peer_stop(&b->peer);
}

static void refused_on(enum link_protocol protocol, const struct cmsis_dap_peer_options *peer,
                       enum corral_err code, const char *words)
{
    struct bench b;
    try_bench(&b, peer, "cmsis-dap", protocol);
    assert_null(b.link);
    if (b.d.code != code || !strstr(b.d.message, words))
        fail_msg("%d: %s", b.d.code, b.d.message);
    close_bench(&b);
}

static void refused(const struct cmsis_dap_peer_options *peer, enum corral_err code, const char *words)
{
    refused_on(LINK_PROTOCOL_ANY, peer, code, words);
}

static void test_probes_that_lie_about_themselves(void **state)
{
    (void)state;
    const enum corral_err protocol = CORRAL_ERR_LINK_PROTOCOL;
    refused(&(struct cmsis_dap_peer_options){.announce_zero_size = true}, protocol, "less than 64 bytes");
    refused(&(struct cmsis_dap_peer_options){.packet_size = 63}, protocol, "less than 64 bytes");
    refused(&(struct cmsis_dap_peer_options){.announce_zero_count = true}, protocol, "no packets");
    refused(&(struct cmsis_dap_peer_options){.long_text = true}, protocol, "less about itself");
    refused_on(LINK_PROTOCOL_SWD, &(struct cmsis_dap_peer_options){.jtag_only = true}, CORRAL_ERR_UNSUPPORTED,
               "cannot do SWD");
    refused_on(LINK_PROTOCOL_JTAG, &(struct cmsis_dap_peer_options){.swd_only = true}, CORRAL_ERR_UNSUPPORTED,
               "cannot do JTAG");
}

/* Whatever goes wrong, and whenever: an error with a sentence, and every answer that was due is accounted
 * for. */
static void test_probes_that_lie_while_they_are_opened(void **state)
{
    (void)state;
    static const struct {
        enum dap_misdeed misdeed;
        enum corral_err code;
        const char *words;
    } cases[] = {
        {DAP_SHORT, CORRAL_ERR_LINK_PROTOCOL, ""},
        {DAP_EMPTY, CORRAL_ERR_LINK_PROTOCOL, "empty packet"},
        {DAP_LONG, CORRAL_ERR_LINK_PROTOCOL, "too long"},
        {DAP_OTHER_ECHO, CORRAL_ERR_LINK_PROTOCOL, "with the answer to"},
        {DAP_UNKNOWN, CORRAL_ERR_UNSUPPORTED, "does not know command"},
        {DAP_SILENT, CORRAL_ERR_LINK_DOWN, "does not answer"},
        {DAP_GONE, CORRAL_ERR_LINK_DOWN, "gone"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (unsigned after = 0; after < 16; after += 3)
            refused(&(struct cmsis_dap_peer_options){.misdeed = cases[i].misdeed, .misdeed_after = after},
                    cases[i].code, cases[i].words);
    refused(&(struct cmsis_dap_peer_options){.misdeed = DAP_NO_ACK}, CORRAL_ERR_LINK_DOWN, "finds no target");
    refused(&(struct cmsis_dap_peer_options){.misdeed = DAP_PARITY}, CORRAL_ERR_LINK_PROTOCOL, "DPIDR");
    refused(&(struct cmsis_dap_peer_options){.misdeed = DAP_MORE_DONE}, CORRAL_ERR_LINK_PROTOCOL, "count");
    refused(&(struct cmsis_dap_peer_options){.misdeed = DAP_LESS_DONE}, CORRAL_ERR_LINK_PROTOCOL, "count");
}

static void test_probes_that_go_wrong_later(void **state)
{
    (void)state;
    static const struct {
        enum dap_misdeed misdeed;
        enum corral_err code;
        const char *words;
        bool for_good;
    } cases[] = {
        {DAP_SHORT, CORRAL_ERR_LINK_PROTOCOL, "", true},
        {DAP_EMPTY, CORRAL_ERR_LINK_PROTOCOL, "empty packet", true},
        {DAP_LONG, CORRAL_ERR_LINK_PROTOCOL, "too long", true},
        {DAP_OTHER_ECHO, CORRAL_ERR_LINK_PROTOCOL, "with the answer to", true},
        {DAP_SILENT, CORRAL_ERR_LINK_DOWN, "does not answer", true},
        {DAP_GONE, CORRAL_ERR_LINK_DOWN, "gone", true},
        {DAP_MORE_DONE, CORRAL_ERR_LINK_PROTOCOL, "counts other", true},
        {DAP_LESS_DONE, CORRAL_ERR_LINK_PROTOCOL, "counts other", true},
        {DAP_NO_ACK, CORRAL_ERR_LINK_DOWN, "no acknowledge", false},
        {DAP_PARITY, CORRAL_ERR_LINK_PROTOCOL, "protocol error", false},
        {DAP_ACK_5, CORRAL_ERR_LINK_PROTOCOL, "acknowledge 5", false},
    };
    static uint32_t words[256], back[256];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (unsigned after = 0; after < 18; after++)
            for (int write = 0; write < 2; write++) {
                struct bench b;
                struct cmsis_dap_peer_options o = {
                    .packet_size = 64, .packet_count = 4, .padded = after & 1u};
                open_bench(&b, &o, "cmsis-dap");
                memset(words, 0x11, sizeof(words));
                assert_int_equal(link_write_bytes(b.link, 0, SRAM, words, sizeof(words), &b.d), CORRAL_OK);
                if (o.padded && (cases[i].misdeed == DAP_SHORT || cases[i].misdeed == DAP_LONG)) {
                    close_bench(&b); /* a report has its length from the bus */
                    continue;
                }
                o.misdeed = cases[i].misdeed;
                o.misdeed_after = after;
                cmsis_dap_peer_change(&b.peer, &o);
                struct link_access a = {.op = write ? LINK_MEM_WRITE : LINK_MEM_READ,
                                        .size = 4,
                                        .address = SRAM,
                                        .count = 256,
                                        .data = words};
                memset(words, 0x22, sizeof(words));
                enum corral_err err = link_execute(b.link, &a, 1, &b.d);
                if (err != cases[i].code || !strstr(b.d.message, cases[i].words))
                    fail_msg("%zu, after %u: %d %s", i, after, err, b.d.message);
                assert_true(a.done < 256);
                for (uint32_t n = 0; !write && n < a.done; n++)
                    assert_int_equal(words[n], 0x11111111);
                if (cases[i].for_good) {
                    b.d = (struct diag)DIAG_INIT;
                    assert_int_equal(link_read_bytes(b.link, 0, SRAM, back, 4, &b.d), cases[i].code);
                    assert_non_null(strstr(b.d.message, cases[i].words));
                } else { /* the cable is back */
                    unsigned resets = b.peer.line_resets;
                    o.misdeed = DAP_HONEST;
                    cmsis_dap_peer_change(&b.peer, &o);
                    memset(words, 0x33, sizeof(words));
                    assert_int_equal(link_write_bytes(b.link, 0, SRAM, words, sizeof(words), &b.d),
                                     CORRAL_OK);
                    assert_int_equal(link_read_bytes(b.link, 0, SRAM, back, sizeof(back), &b.d), CORRAL_OK);
                    assert_memory_equal(words, back, sizeof(back));
                    assert_true(b.peer.line_resets > resets);
                }
                close_bench(&b);
            }
}

static void test_a_target_in_dormant_state_is_woken(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &(struct cmsis_dap_peer_options){.dormant = true}, "cmsis-dap");
    assert_true(b.peer.awake);
    close_bench(&b);
}

static void test_a_reset_line_that_does_not_move_is_said(void **state)
{
    (void)state;
    struct bench b;
    /* The pin reads high whatever is asked. */
    open_bench(&b, &(struct cmsis_dap_peer_options){.stuck_reset = true}, "cmsis-dap");
    assert_int_equal(link_drive_reset(b.link, true, &b.d), CORRAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(b.d.message, "nRESET stays high"));
    close_bench(&b);
}

/* Case B22. */
static void test_b22_one_of_several_ports_on_a_wire(void **state)
{
    (void)state;
    static const struct cmsis_dap_peer_options two = {.instances = 2, .dormant = true};
    static const char *const specs[2] = {"cmsis-dap?targetsel=0x01002927",
                                         "cmsis-dap:X?targetsel=0x11002927"};
    for (uint32_t i = 0; i < 2; i++) {
        struct bench b;
        uint32_t v = 0, word = 0xC0FFEE + i;
        open_bench(&b, &two, specs[i]);
        assert_int_equal(b.peer.selected, PEER_TARGETSEL | i << 28);
        assert_int_equal(b.peer.wrong, 0); /* parity */
        assert_int_equal(link_write32(b.link, 0, SRAM, word, &b.d), CORRAL_OK);
        /* After a line reset nobody is selected: the same one must be again. */
        struct cmsis_dap_peer_options o = two;
        o.misdeed = DAP_NO_ACK;
        cmsis_dap_peer_change(&b.peer, &o);
        assert_int_equal(link_read32(b.link, 0, SRAM, &v, &b.d), CORRAL_ERR_LINK_DOWN);
        cmsis_dap_peer_change(&b.peer, &two);
        assert_int_equal(link_read32(b.link, 0, SRAM, &v, &b.d), CORRAL_OK);
        assert_int_equal(v, word);
        assert_int_equal(b.peer.selected, PEER_TARGETSEL | i << 28);
        close_bench(&b);
    }
}

static void test_b22_a_wrong_instance_is_an_error(void **state)
{
    (void)state;
    struct bench b;
    try_bench(&b, &(struct cmsis_dap_peer_options){.instances = 2, .lie_instance = 3},
              "cmsis-dap?targetsel=0x11002927", LINK_PROTOCOL_ANY);
    assert_null(b.link);
    assert_int_equal(b.d.code, CORRAL_ERR_LINK_PROTOCOL);
    assert_non_null(strstr(b.d.message, "instance 3, not 1"));
    close_bench(&b);
    /* A single port, which takes no notice of TARGETSEL, is instance 0 of nothing. */
    try_bench(&b, NULL, "cmsis-dap?targetsel=0x11002927", LINK_PROTOCOL_ANY);
    assert_null(b.link);
    assert_int_equal(b.d.code, CORRAL_ERR_LINK_PROTOCOL);
    close_bench(&b);
    /* Nobody of that name. */
    try_bench(&b, &(struct cmsis_dap_peer_options){.instances = 2}, "cmsis-dap?targetsel=0x21002927",
              LINK_PROTOCOL_ANY);
    assert_null(b.link);
    assert_int_equal(b.d.code, CORRAL_ERR_LINK_DOWN);
    assert_non_null(strstr(b.d.message, "TARGETSEL"));
    close_bench(&b);
    /* Several ports, and nobody said which: they are left alone. */
    refused(&(struct cmsis_dap_peer_options){.instances = 2}, CORRAL_ERR_LINK_DOWN, "nobody answers");
    try_bench(&b, NULL, "cmsis-dap?targetsel=0x01002927", LINK_PROTOCOL_JTAG);
    assert_null(b.link);
    assert_int_equal(b.d.code, CORRAL_ERR_USAGE);
    close_bench(&b);
}

static void test_words_that_mean_nothing(void **state)
{
    (void)state;
    static const char *const bad[] = {"cmsis-dap?",
                                      "cmsis-dap?targetsel=",
                                      "cmsis-dap?targetsel=0x01002926",
                                      "cmsis-dap?targetsel=x",
                                      "cmsis-dap?speed=1",
                                      "cmsis-dap?targetsel=0x101002927",
                                      "cmsis-dap?targetsel=0x01002927x",
                                      "cmsis-dap?targetsel=-1",
                                      "cmsis-dap:tcp:",
                                      "cmsis-dap:tcp:host",
                                      "cmsis-dap:tcp:h:0",
                                      "cmsis-dap:tcp:h:65536",
                                      "cmsis-dap:tcp:127.0.0.1:1?x"};
    struct host_clock *clock = host_clock_new_real();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct diag d = DIAG_INIT;
        assert_null(link_cmsis_dap_open(bad[i], NULL, clock, &d));
        if (d.code != CORRAL_ERR_USAGE)
            fail_msg("%s: %s", bad[i], d.message);
        assert_null(link_cmsis_dap_open(bad[i], NULL, clock, NULL));
    }
    host_clock_free(clock);
}

/* The board's own server, in a thread. */
struct server {
    struct board *board;
    struct front_server *fronts;
    atomic_bool stop;
    pthread_t thread;
    char words[64];
};

static void *serve(void *arg)
{
    struct server *s = arg;
    front_server_run(s->fronts, &s->stop, NULL);
    return NULL;
}

static void start_server(struct server *s)
{
    struct board_config config = {0};
    struct diag d = DIAG_INIT;
    uint16_t port = 0;
    s->board = board_new(&config, &d);
    s->fronts = front_server_new(s->board, FRONT_PACE_WIRE, 0, &d);
    assert_int_equal(front_server_add(s->fronts, &front_cmsis_dap, &port, &d), CORRAL_OK);
    atomic_init(&s->stop, false);
    snprintf(s->words, sizeof(s->words), "cmsis-dap:tcp:127.0.0.1:%u", port);
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void stop_server(struct server *s)
{
    atomic_store(&s->stop, true);
    pthread_join(s->thread, NULL);
    front_server_free(s->fronts);
    board_free(s->board);
}

static void test_over_tcp(void **state)
{
    (void)state;
    static struct server s;
    static uint32_t out[5000], in[5000];
    struct host_clock *clock = host_clock_new_real();
    struct diag d = DIAG_INIT;
    start_server(&s);
    for (uint32_t round = 0; round < 2; round++) { /* a client after the other */
        struct link *link = link_cmsis_dap_open(s.words, NULL, clock, &d);
        if (!link)
            fail_msg("%s", d.message);
        assert_string_equal(link_name(link), s.words);
        assert_int_equal(link_write_dp(link, 0x4, 0x50000000, &d), CORRAL_OK);
        for (uint32_t i = 0; i < 5000; i++)
            out[i] = i * 77 + round;
        assert_int_equal(link_write_bytes(link, 0, SRAM, out, sizeof(out), &d), CORRAL_OK);
        assert_int_equal(link_read_bytes(link, 1, SRAM, in, sizeof(in), &d), CORRAL_OK);
        assert_memory_equal(out, in, sizeof(in));
        link_close(link);
    }
    stop_server(&s);
    assert_null(link_cmsis_dap_open(s.words, NULL, clock, &d)); /* nobody there any more */
    assert_int_equal(d.code, CORRAL_ERR_LINK_DOWN);
    assert_non_null(strstr(d.message, "cannot reach 127.0.0.1:"));
    host_clock_free(clock);
}

/* A server that says these bytes to the first that comes, and then closes, or says nothing more. */
struct speaker {
    int listener;
    const uint8_t *bytes;
    size_t size;
    bool stays;
    pthread_t thread;
    char words[64];
};

static void *speak(void *arg)
{
    struct speaker *s = arg;
    uint8_t in[64];
    int fd = accept(s->listener, NULL, NULL);
    if (fd < 0)
        return NULL;
    assert_true(recv(fd, in, sizeof(in), 0) > 0);
    assert_int_equal(send(fd, s->bytes, s->size, MSG_NOSIGNAL), (ssize_t)s->size);
    while (s->stays && recv(fd, in, sizeof(in), 0) > 0)
        ;
    shutdown(fd, SHUT_WR);
    close(fd);
    return NULL;
}

static void spoken(const void *bytes, size_t size, bool stays, enum corral_err code, const char *words)
{
    struct speaker s = {.bytes = bytes, .size = size, .stays = stays};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    struct host_clock *clock = host_clock_new_real();
    struct link_options options = {.open_ns = 200 * NS_PER_MS};
    struct diag d = DIAG_INIT;
    s.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s.listener, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(s.listener, 1), 0);
    assert_int_equal(getsockname(s.listener, (struct sockaddr *)&address, &length), 0);
    snprintf(s.words, sizeof(s.words), "cmsis-dap:tcp:127.0.0.1:%u", ntohs(address.sin_port));
    assert_int_equal(pthread_create(&s.thread, NULL, speak, &s), 0);
    assert_null(link_cmsis_dap_open(s.words, &options, clock, &d));
    if (d.code != code || !strstr(d.message, words))
        fail_msg("%d: %s", d.code, d.message);
    pthread_join(s.thread, NULL);
    close(s.listener);
    host_clock_free(clock);
}

static void test_servers_that_speak_something_else(void **state)
{
    (void)state;
    static const uint8_t request[] = {'D', 'A', 'P', 0, 4, 0, 1, 0, 0, 2, 0, 4};
    static const uint8_t huge[] = {'D', 'A', 'P', 0, 1, 4, 2, 0, 0, 2, 0, 4};
    static const uint8_t none[] = {'D', 'A', 'P', 0, 0, 0, 2, 0};
    static const uint8_t half[] = {'D', 'A', 'P', 0, 5, 0, 2, 0, 0, 2, 0};
    const enum corral_err protocol = CORRAL_ERR_LINK_PROTOCOL, down = CORRAL_ERR_LINK_DOWN;
    spoken("HTTP/1.1 400 no\r\n\r\n", 19, false, protocol, "no answer in its frame");
    spoken(request, sizeof(request), false, protocol, "no answer in its frame");
    spoken(huge, sizeof(huge), false, protocol, "no answer in its frame");
    spoken(none, sizeof(none), false, protocol, "empty");
    spoken(half, sizeof(half), false, down, "closed the connection");
    spoken(half, sizeof(half), true, down, "does not answer"); /* within the time it was given */
    spoken("", 0, true, down, "does not answer");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probes_that_lie_about_themselves),
        cmocka_unit_test(test_probes_that_lie_while_they_are_opened),
        cmocka_unit_test(test_probes_that_go_wrong_later),
        cmocka_unit_test(test_a_target_in_dormant_state_is_woken),
        cmocka_unit_test(test_a_reset_line_that_does_not_move_is_said),
        cmocka_unit_test(test_b22_one_of_several_ports_on_a_wire),
        cmocka_unit_test(test_b22_a_wrong_instance_is_an_error),
        cmocka_unit_test(test_words_that_mean_nothing),
        cmocka_unit_test(test_over_tcp),
        cmocka_unit_test(test_servers_that_speak_something_else),
    };
    return cmocka_run_group_tests_name("link-cmsis-dap-probe", tests, NULL, NULL);
}
