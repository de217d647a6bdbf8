/* SPDX-License-Identifier: Apache-2.0 */
/* The JTAG link against the virtual board behind a JTAG-DP, and against servers that misbehave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/core.h"
#include "coresight/rom_table.h"
#include "link/jtag.h"
#include "tests/unit/link/jtag_peer.h"

#define SRAM     0x20060000u /* in the shared half, where no image keeps anything */
#define SRAM_END 0x20080000u
#define NOWHERE  0x70000000u
#define WORDS    1500u /* more than one TAR range and one batch */

struct bench {
    struct jtag_peer *peer;
    struct host_clock *clock;
    struct link *link;
};

static struct bench open_bench(const struct jtag_peer_options *options)
{
    struct bench b = {.peer = jtag_peer_start(options), .clock = host_clock_new_real()};
    struct diag d = DIAG_INIT;
    b.link = link_jtag_open(jtag_peer_words(b.peer), NULL, b.clock, &d);
    if (!b.link)
        fail_msg("%s", d.message);
    assert_int_equal(dp_power_up(b.link, &d), CORRAL_OK);
    return b;
}

static uint64_t close_bench(struct bench *b)
{
    link_close(b->link);
    host_clock_free(b->clock);
    return jtag_peer_stop(b->peer);
}

static void test_the_port_is_identified(void **state)
{
    (void)state;
    struct bench b = open_bench(NULL);
    struct diag d = DIAG_INIT;
    struct link_jtag_info info;
    uint32_t v = 0;
    assert_true(link_jtag_get_info(b.link, &info));
    assert_int_equal(info.taps, 1);
    assert_int_equal(info.dap, 0);
    assert_int_equal(info.idcode[0], JTAG_PEER_IDCODE);
    assert_int_equal(link_read_dp(b.link, 0x0, &v, &d), CORRAL_OK);
    assert_int_equal(v, JTAG_PEER_IDCODE);
    assert_int_equal(link_read_dp(b.link, 0x4, &v, &d), CORRAL_OK);
    assert_int_equal(v & 0xF0000032, 0xF0000000);
    assert_int_equal(link_read_ap(b.link, 0, 0xFC, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x84770001);
    assert_true(link_caps(b.link) & LINK_CAP_WIRE);
    close_bench(&b);
}

static void test_the_cores_are_found(void **state)
{
    (void)state;
    struct bench b = open_bench(NULL);
    struct diag d = DIAG_INIT;
    struct cs_topology *t = cs_scan(b.link, NULL, &d);
    if (!t)
        fail_msg("%s", d.message);
    assert_int_equal(t->core_count, 2);
    assert_int_equal(t->cores[0].ap, 0);
    assert_int_equal(t->cores[1].ap, 1);
    assert_true(t->cores[0].has_cti && t->cores[1].has_cti);
    cs_topology_free(t);
    close_bench(&b);
}

/* A block of each kind there and back. */
static void block_there_and_back(struct link *link, uint32_t seed)
{
    static uint32_t out[WORDS], in[WORDS];
    struct diag d = DIAG_INIT;
    for (uint32_t i = 0; i < WORDS; i++)
        out[i] = seed + i * 0x9E3779B9u;
    struct link_access a[] = {
        {.op = LINK_MEM_WRITE, .size = 4, .address = SRAM + 8, .count = WORDS, .data = out},
        {.op = LINK_MEM_READ, .size = 4, .address = SRAM + 8, .count = WORDS, .data = in},
    };
    memset(in, 0, sizeof(in));
    if (link_execute(link, a, 2, &d) != CORRAL_OK)
        fail_msg("%s", d.message);
    assert_int_equal(a[0].done, WORDS);
    assert_int_equal(a[1].done, WORDS);
    assert_memory_equal(out, in, sizeof(in));
}

static void test_memory_in_all_sizes(void **state)
{
    (void)state;
    struct bench b = open_bench(NULL);
    struct diag d = DIAG_INIT;
    uint8_t bytes[37], back[37];
    uint16_t halves[5] = {0x1122, 0x3344, 0x5566, 0x7788, 0x99AA}, got[5];
    uint32_t v;
    block_there_and_back(b.link, 1);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(3 * i + 1);
    assert_int_equal(link_write_bytes(b.link, 1, SRAM + 3, bytes, sizeof(bytes), &d), CORRAL_OK);
    assert_int_equal(link_read_bytes(b.link, 0, SRAM + 3, back, sizeof(back), &d), CORRAL_OK);
    assert_memory_equal(bytes, back, sizeof(bytes));
    struct link_access h[] = {
        {.op = LINK_MEM_WRITE, .size = 2, .address = SRAM + 0x3FE, .count = 5, .data = halves},
        {.op = LINK_MEM_READ, .size = 2, .address = SRAM + 0x3FE, .count = 5, .data = got},
    };
    assert_int_equal(link_execute(b.link, h, 2, &d), CORRAL_OK);
    assert_memory_equal(halves, got, sizeof(got));
    assert_int_equal(link_read32(b.link, 0, SRAM + 0x400, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x55663344);
    assert_int_equal(link_write8(b.link, 0, SRAM + 0x401, 0xEE, &d), CORRAL_OK);
    assert_int_equal(link_read32(b.link, 0, SRAM + 0x400, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x5566EE44);
    close_bench(&b);
}

static void test_the_wires_clocks_are_counted(void **state)
{
    (void)state;
    struct bench b = open_bench(NULL);
    struct diag d = DIAG_INIT;
    static uint32_t words[256];
    uint32_t v;
    assert_int_equal(link_read_bytes(b.link, 0, SRAM, words, sizeof(words), &d), CORRAL_OK);
    uint64_t from = link_wire_clocks(b.link);
    assert_int_equal(link_read_bytes(b.link, 0, SRAM, words, sizeof(words), &d), CORRAL_OK);
    uint64_t block = link_wire_clocks(b.link) - from;
    assert_in_range(block, 256 * 40, 256 * 44); /* 40 clocks a scan at least; one scan a word */
    from = link_wire_clocks(b.link);
    assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_OK);
    assert_in_range(link_wire_clocks(b.link) - from, 3 * 40, 6 * 60);
    uint64_t all = link_wire_clocks(b.link);
    assert_int_equal(close_bench(&b), all); /* the server has seen as many */
}

static void test_a_bus_error_is_an_error_and_the_next_access_works(void **state)
{
    (void)state;
    struct bench b = open_bench(NULL);
    struct diag d = DIAG_INIT;
    uint32_t v = 0, words[8] = {0};
    assert_int_equal(link_write32(b.link, 0, SRAM, 0x12345678, &d), CORRAL_OK);
    assert_int_equal(link_read32(b.link, 0, NOWHERE, &v, &d), CORRAL_ERR_LINK_FAULT);
    assert_non_null(strstr(d.message, "0x70000000"));
    assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x12345678);
    struct link_access a[] = {
        {.op = LINK_MEM_WRITE, .size = 4, .address = SRAM + 4, .count = 1, .data = &v},
        {.op = LINK_MEM_WRITE, .size = 4, .address = NOWHERE, .count = 8, .data = words},
        {.op = LINK_MEM_READ, .size = 4, .address = SRAM, .count = 1, .data = &v},
    };
    assert_int_equal(link_execute(b.link, a, 3, &d), CORRAL_ERR_LINK_FAULT);
    assert_int_equal(a[0].status, CORRAL_OK);
    assert_int_equal(a[1].status, CORRAL_ERR_LINK_FAULT);
    assert_int_equal(a[1].done, 0); /* case B21: nothing is known of a block with a fault in it */
    assert_int_equal(a[2].status, CORRAL_ERR_INTERRUPTED);
    a[1].op = LINK_MEM_READ;
    assert_int_equal(link_execute(b.link, a, 3, &d), CORRAL_ERR_LINK_FAULT);
    assert_int_equal(a[1].done, 0);
    block_there_and_back(b.link, 2);
    assert_int_equal(link_read32(b.link, 7, SRAM, &v, &d), CORRAL_ERR_NO_AP);
    assert_int_equal(link_read32(b.link, 1, SRAM + 8, &v, &d), CORRAL_OK);
    assert_int_equal(v, 2);
    close_bench(&b);
}

/* The acknowledge of JTAG says nothing of a fault: CTRL/STAT is looked at once, behind the block, and then it
 * is not known which words are good. */
static void test_b21_a_block_that_runs_into_nothing_gives_no_data(void **state)
{
    (void)state;
    struct bench b = open_bench(NULL);
    struct diag d = DIAG_INIT;
    uint32_t words[32], v = 0;
    memset(words, 0x5A, sizeof(words));
    struct link_access a = {
        .op = LINK_MEM_READ, .size = 4, .address = SRAM_END - 64, .count = 32, .data = words};
    assert_int_equal(link_execute(b.link, &a, 1, &d), CORRAL_ERR_LINK_FAULT);
    assert_int_equal(
        a.done,
        16); /* TAR is written anew at SRAM_END, a multiple of 1 KiB: what is before it is another block */
    for (size_t i = 16; i < 32; i++)
        assert_int_equal(words[i], 0x5A5A5A5A);
    /* within one block nothing at all */
    memset(words, 0x5A, sizeof(words));
    assert_int_equal(link_write32(b.link, 0, SRAM, 1, &d), CORRAL_OK);
    a = (struct link_access){.op = LINK_MEM_READ, .size = 4, .address = NOWHERE, .count = 32, .data = words};
    assert_int_equal(link_execute(b.link, &a, 1, &d), CORRAL_ERR_LINK_FAULT);
    assert_int_equal(a.done, 0);
    for (size_t i = 0; i < 32; i++)
        assert_int_equal(words[i], 0x5A5A5A5A);
    assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_OK);
    assert_int_equal(v, 1);
    close_bench(&b);
}

/* SELECT and TAR go out with the access they are for, and an AP that is slow with them mixes nothing up. */
static void test_what_is_queued_reaches_its_place(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    for (unsigned every = 1; every < 6; every++) {
        struct bench b = open_bench(&(struct jtag_peer_options){.slow_every = every, .slow_for = 2});
        for (uint32_t i = 0; i < 24; i++)
            assert_int_equal(link_write32(b.link, i % 2, SRAM + 4 * i, i * 0x01010101u, &d), CORRAL_OK);
        for (uint32_t i = 0; i < 24; i++) {
            uint32_t v = 0;
            uint8_t low = 0;
            assert_int_equal(link_read32(b.link, 1 - i % 2, SRAM + 4 * i, &v, &d), CORRAL_OK);
            assert_int_equal(v, i * 0x01010101u);
            assert_int_equal(link_read8(b.link, i % 2, SRAM + 4 * i + 3, &low, &d), CORRAL_OK);
            assert_int_equal(low, i);
        }
        uint32_t tar = 0;
        assert_int_equal(link_write_ap(b.link, 1, 4, 0x20001230, &d), CORRAL_OK);
        assert_int_equal(link_read_ap(b.link, 1, 4, &tar, &d), CORRAL_OK);
        assert_int_equal(tar, 0x20001230);
        close_bench(&b);
    }
}

static void test_cores_halt_and_run(void **state)
{
    (void)state;
    struct bench b = open_bench(NULL);
    struct diag d = DIAG_INIT;
    for (uint32_t ap = 0; ap < 2; ap++) {
        struct core *c = core_cortex_m_open(b.link, ap, "core", 0, NULL, &d);
        struct core_status s;
        uint32_t pc = 0, r0 = 0;
        assert_non_null(c);
        assert_int_equal(core_request_halt(c, &d), CORRAL_OK);
        assert_int_equal(core_wait_halted(c, CORE_WAIT_NS, &d), CORRAL_OK);
        assert_int_equal(core_read_status(c, true, &s, &d), CORRAL_OK);
        assert_int_equal(s.state, CORE_HALTED);
        assert_int_equal(core_read_register(c, 15, &pc, &d), CORRAL_OK);
        assert_int_equal(pc, s.pc);
        assert_int_equal(core_read_register(c, 0, &r0, &d), CORRAL_OK);
        assert_int_equal(core_resume(c, &d), CORRAL_OK);
        assert_int_equal(core_read_status(c, false, &s, &d), CORRAL_OK);
        assert_int_not_equal(s.state, CORE_HALTED);
        core_close(c);
    }
    close_bench(&b);
}

static void test_waits_neither_lose_nor_repeat(void **state)
{
    (void)state;
    static const struct jtag_peer_options options[] = {
        {.slow_every = 1, .slow_for = 1},   {.slow_every = 3, .slow_for = 1},
        {.slow_every = 7, .slow_for = 3},   {.slow_every = 100, .slow_for = 12},
        {.slow_every = 256, .slow_for = 1}, {.slow_every = 257, .slow_for = 20},
    };
    struct bench b = open_bench(NULL);
    struct diag d = DIAG_INIT;
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        uint32_t v = 0;
        jtag_peer_change(b.peer, &options[i]);
        block_there_and_back(b.link, (uint32_t)(100 + i));
        for (uint32_t k = 0; k < 20; k++) {
            assert_int_equal(link_write32(b.link, k % 2, SRAM + 4 * k, k + 77, &d), CORRAL_OK);
            assert_int_equal(link_read32(b.link, k / 2 % 2, SRAM + 4 * k, &v, &d), CORRAL_OK);
            assert_int_equal(v, k + 77);
        }
        assert_int_equal(link_read32(b.link, 0, NOWHERE, &v, &d), CORRAL_ERR_LINK_FAULT);
    }
    close_bench(&b);
}

static void test_an_access_that_never_ends_is_aborted(void **state)
{
    (void)state;
    for (unsigned at = 1; at <= 5; at++) {
        struct bench b = open_bench(NULL);
        struct diag d = DIAG_INIT;
        static uint32_t words[40];
        uint32_t v;
        assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_OK);
        jtag_peer_change(b.peer, &(struct jtag_peer_options){.hang_at = at});
        enum corral_err err = link_read_bytes(b.link, 0, SRAM + 64, words, sizeof(words), &d);
        assert_int_equal(err, CORRAL_ERR_LINK_WAIT);
        assert_non_null(strstr(d.message, "WAIT without end"));
        block_there_and_back(b.link, at);
        close_bench(&b);
    }
}

static void test_a_port_that_does_not_detect_overruns_is_no_silent_loss(void **state)
{
    (void)state;
    static const struct jtag_peer_options options = {.slow_every = 20, .slow_for = 1, .no_overruns = true};
    struct bench b = open_bench(NULL);
    struct diag d = DIAG_INIT;
    static uint32_t words[100];
    jtag_peer_change(b.peer, &options);
    assert_int_equal(link_write_bytes(b.link, 0, SRAM, words, sizeof(words), &d), CORRAL_ERR_LINK_PROTOCOL);
    assert_non_null(strstr(d.message, "WAIT"));
    block_there_and_back(b.link, 5);
    close_bench(&b);
}

static void test_another_tap_on_the_chain(void **state)
{
    (void)state;
    static const struct jtag_peer_options options[] = {{.other_behind = true}, {.other_ahead = true}};
    for (size_t i = 0; i < 2; i++) {
        struct bench b = open_bench(&options[i]);
        struct link_jtag_info info;
        assert_true(link_jtag_get_info(b.link, &info));
        assert_int_equal(info.taps, 2);
        assert_int_equal(info.dap, options[i].other_behind);
        assert_int_equal(info.idcode[info.dap], JTAG_PEER_IDCODE);
        assert_int_equal(info.idcode[1 - info.dap], JTAG_PEER_OTHER);
        block_there_and_back(b.link, 9);
        close_bench(&b);
    }
}

/* Opening must fail with this. */
static void refused(const struct jtag_peer_options *options, enum corral_err code, const char *words)
{
    struct jtag_peer *p = jtag_peer_start(options);
    struct host_clock *clock = host_clock_new_real();
    struct diag d = DIAG_INIT;
    assert_null(link_jtag_open(jtag_peer_words(p), NULL, clock, &d));
    assert_int_equal(d.code, code);
    if (!strstr(d.message, words))
        fail_msg("%s", d.message);
    host_clock_free(clock);
    jtag_peer_stop(p);
}

static void test_servers_that_lie_at_once(void **state)
{
    (void)state;
    refused(&(struct jtag_peer_options){.misdeed = PEER_CLOSES}, CORRAL_ERR_LINK_DOWN, "closed");
    refused(&(struct jtag_peer_options){.misdeed = PEER_CLOSES, .misdeed_after = 300}, CORRAL_ERR_LINK_DOWN,
            "closed");
    refused(&(struct jtag_peer_options){.misdeed = PEER_SENDS_LETTERS}, CORRAL_ERR_LINK_PROTOCOL, "0 or 1");
    refused(&(struct jtag_peer_options){.misdeed = PEER_SENDS_MORE, .misdeed_after = 100},
            CORRAL_ERR_LINK_PROTOCOL, "more");
    refused(&(struct jtag_peer_options){.misdeed = PEER_TDO_LOW}, CORRAL_ERR_LINK_DOWN, "always 0");
    refused(&(struct jtag_peer_options){.misdeed = PEER_TDO_HIGH}, CORRAL_ERR_LINK_DOWN, "always 1");
    refused(&(struct jtag_peer_options){.misdeed = PEER_IS_SILENT}, CORRAL_ERR_LINK_DOWN, "does not answer");
    refused(&(struct jtag_peer_options){.bad_ack = 5}, CORRAL_ERR_LINK_PROTOCOL, "acknowledge 5");
}

static void test_servers_that_go_wrong_later(void **state)
{
    (void)state;
    static const struct {
        enum peer_misdeed misdeed;
        enum corral_err code;
        const char *words;
        bool for_good;
    } cases[] = {
        {PEER_CLOSES, CORRAL_ERR_LINK_DOWN, "closed the connection", true},
        {PEER_SENDS_LETTERS, CORRAL_ERR_LINK_PROTOCOL, "something else", true},
        {PEER_SENDS_MORE, CORRAL_ERR_LINK_PROTOCOL, "more than it was asked", true},
        {PEER_TDO_HIGH, CORRAL_ERR_LINK_DOWN, "TDO is high", false},
        {PEER_TDO_LOW, CORRAL_ERR_LINK_DOWN, "TDO is low", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (uint64_t after = 0; after < 2; after++) {
            struct bench b = open_bench(NULL);
            struct diag d = DIAG_INIT;
            static uint32_t words[256];
            jtag_peer_change(b.peer, &(struct jtag_peer_options){.misdeed = cases[i].misdeed,
                                                                 .misdeed_after = after * 35 * 100});
            enum corral_err err = link_read_bytes(b.link, 0, SRAM, words, sizeof(words), &d);
            assert_int_equal(err, cases[i].code);
            if (!strstr(d.message, cases[i].words))
                fail_msg("%s", d.message);
            if (cases[i].for_good) {
                d = (struct diag)DIAG_INIT;
                assert_int_equal(link_read_bytes(b.link, 0, SRAM, words, 4, &d), cases[i].code);
                assert_non_null(strstr(d.message, cases[i].words));
            } else { /* the cable is back */
                jtag_peer_change(b.peer, &(struct jtag_peer_options){0});
                link_forget(b.link);
                block_there_and_back(b.link, 3);
            }
            close_bench(&b);
        }
}

static void test_words_and_ports_that_lead_nowhere(void **state)
{
    (void)state;
    static const char *const bad[] = {"jtag",     "jtag:",        "jtag:host", "jtag::1",  "jtag:h:",
                                      "jtag:h:0", "jtag:h:65536", "jtag:h:9x", "jtag:h:-1"};
    struct host_clock *clock = host_clock_new_real();
    struct diag d = DIAG_INIT;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_null(link_jtag_open(bad[i], NULL, clock, &d));
        assert_int_equal(d.code, CORRAL_ERR_USAGE);
    }
    struct jtag_peer *p = jtag_peer_start(NULL);
    char words[40];
    strcpy(words, jtag_peer_words(p));
    jtag_peer_stop(p);
    assert_null(link_jtag_open(words, NULL, clock, &d));
    assert_int_equal(d.code, CORRAL_ERR_LINK_DOWN);
    assert_non_null(strstr(d.message, "cannot reach 127.0.0.1:"));
    assert_null(link_jtag_open(words, NULL, clock, NULL));
    host_clock_free(clock);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_port_is_identified),
        cmocka_unit_test(test_the_cores_are_found),
        cmocka_unit_test(test_memory_in_all_sizes),
        cmocka_unit_test(test_the_wires_clocks_are_counted),
        cmocka_unit_test(test_a_bus_error_is_an_error_and_the_next_access_works),
        cmocka_unit_test(test_b21_a_block_that_runs_into_nothing_gives_no_data),
        cmocka_unit_test(test_what_is_queued_reaches_its_place),
        cmocka_unit_test(test_cores_halt_and_run),
        cmocka_unit_test(test_waits_neither_lose_nor_repeat),
        cmocka_unit_test(test_an_access_that_never_ends_is_aborted),
        cmocka_unit_test(test_a_port_that_does_not_detect_overruns_is_no_silent_loss),
        cmocka_unit_test(test_another_tap_on_the_chain),
        cmocka_unit_test(test_servers_that_lie_at_once),
        cmocka_unit_test(test_servers_that_go_wrong_later),
        cmocka_unit_test(test_words_and_ports_that_lead_nowhere),
    };
    return cmocka_run_group_tests_name("link-jtag", tests, NULL, NULL);
}
