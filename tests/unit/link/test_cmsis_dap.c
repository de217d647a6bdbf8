/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CMSIS-DAP link against the board behind its CMSIS-DAP front: on SWD and JTAG, with packets of all
 * sizes, several under way. Misbehaving probes are test_cmsis_dap_probe.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/core.h"
#include "coresight/rom_table.h"
#include "link/cmsis_dap.h"
#include "link/sim.h"
#include "tests/unit/link/cmsis_dap_peer.h"

#define SRAM    0x20060000u /* in the shared half, where no image keeps anything */
#define NOWHERE 0x70000000u
#define WORDS   1500u /* more than one TAR range and one packet */

struct bench {
    struct cmsis_dap_peer peer;
    struct host_clock *clock;
    struct link *link;
};

static const struct cmsis_dap_peer_options shapes[] = {
    {0},                                                    /* as the front is: 1024 bytes, 4 packets */
    {.packet_size = 64, .packet_count = 1, .padded = true}, /* the oldest HID probes */
    {.packet_size = 64, .packet_count = 8, .padded = true},
    {.packet_size = 512, .packet_count = 2},
    {.packet_size = 71, .packet_count = 255}, /* nothing fits evenly */
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static void open_bench(struct bench *b, const struct cmsis_dap_peer_options *peer,
                       enum link_protocol protocol)
{
    struct link_options options = {.protocol = protocol};
    struct diag d = DIAG_INIT;
    cmsis_dap_peer_start(&b->peer, peer);
    b->clock = host_clock_new_real();
    struct cmsis_dap_wire wire = cmsis_dap_peer_wire(&b->peer);
    b->link = link_cmsis_dap_open_wire(&wire, "cmsis-dap", &options, b->clock, &d);
    if (!b->link)
        fail_msg("%s", d.message);
    assert_int_equal(dp_power_up(b->link, &d), CORRAL_OK);
}

static void close_bench(struct bench *b)
{
    link_close(b->link);
    host_clock_free(b->clock);
    assert_int_equal(b->peer.wrong, 0);
    assert_int_equal(b->peer.waiting, 0);
    assert_int_equal(b->peer.hung_up, 1); /* DAP_Disconnect */
    cmsis_dap_peer_stop(&b->peer);
}

static void test_the_probe_and_the_port_are_identified(void **state)
{
    (void)state;
    static const enum link_protocol protocols[] = {LINK_PROTOCOL_SWD, LINK_PROTOCOL_JTAG};
    for (size_t i = 0; i < 2; i++) {
        struct bench b;
        struct diag d = DIAG_INIT;
        struct link_cmsis_dap_info info;
        uint32_t v = 0;
        open_bench(&b, NULL, protocols[i]);
        assert_true(link_cmsis_dap_get_info(b.link, &info));
        assert_string_equal(info.vendor, "Corral");
        assert_string_equal(info.serial, "CORRALBOARD");
        assert_string_equal(info.protocol, "2.1.1");
        assert_int_equal(info.packet_size, 1024);
        assert_int_equal(info.packet_count, 4);
        assert_int_equal(info.connected, protocols[i]);
        assert_int_equal(info.dpidr, i ? PEER_IDCODE : 0x6BA02477);
        assert_int_equal(b.peer.clock_hz, LINK_CMSIS_DAP_DEFAULT_HZ);
        assert_int_equal(link_read_dp(b.link, 0x0, &v, &d), CORRAL_OK);
        assert_int_equal(v, info.dpidr);
        assert_int_equal(link_read_dp(b.link, 0x4, &v, &d), CORRAL_OK);
        assert_int_equal(v & 0xF0000032, 0xF0000000);
        assert_int_equal(link_read_ap(b.link, 0, 0xFC, &v, &d), CORRAL_OK);
        assert_int_equal(v, 0x84770001);
        assert_false(link_caps(b.link) & LINK_CAP_WIRE); /* the probe alone knows its clocks */
        close_bench(&b);
    }
}

static void test_the_cores_are_found(void **state)
{
    (void)state;
    struct bench b;
    struct diag d = DIAG_INIT;
    open_bench(&b, &(struct cmsis_dap_peer_options){.run = true}, LINK_PROTOCOL_ANY);
    struct cs_topology *t = cs_scan(b.link, NULL, &d);
    if (!t)
        fail_msg("%s", d.message);
    assert_int_equal(t->core_count, 2);
    assert_true(t->cores[0].has_cti && t->cores[1].has_cti);
    cs_topology_free(t);
    close_bench(&b);
}

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

static void all_sizes(struct link *link)
{
    struct diag d = DIAG_INIT;
    uint8_t bytes[137], back[137];
    uint16_t halves[5] = {0x1122, 0x3344, 0x5566, 0x7788, 0x99AA}, got[5];
    uint32_t v;
    block_there_and_back(link, 1);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(3 * i + 1);
    assert_int_equal(link_write_bytes(link, 1, SRAM + 3, bytes, sizeof(bytes), &d), CORRAL_OK);
    assert_int_equal(link_read_bytes(link, 0, SRAM + 3, back, sizeof(back), &d), CORRAL_OK);
    assert_memory_equal(bytes, back, sizeof(bytes));
    struct link_access h[] = {
        {.op = LINK_MEM_WRITE, .size = 2, .address = SRAM + 0x3FE, .count = 5, .data = halves},
        {.op = LINK_MEM_READ, .size = 2, .address = SRAM + 0x3FE, .count = 5, .data = got},
        {.op = LINK_MEM_WRITE,
         .size = 1,
         .ap = 1,
         .address = SRAM + 0x500,
         .count = sizeof(bytes),
         .data = bytes},
        {.op = LINK_MEM_READ, .size = 1, .address = SRAM + 0x500, .count = sizeof(bytes), .data = back},
    };
    assert_int_equal(link_execute(link, h, 4, &d), CORRAL_OK);
    assert_memory_equal(halves, got, sizeof(got));
    assert_memory_equal(bytes, back, sizeof(back));
    assert_int_equal(link_read32(link, 0, SRAM + 0x400, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x55663344);
    assert_int_equal(link_write8(link, 0, SRAM + 0x401, 0xEE, &d), CORRAL_OK);
    assert_int_equal(link_read32(link, 0, SRAM + 0x400, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x5566EE44);
}

static void test_memory_in_all_sizes_with_packets_of_all_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        struct bench b;
        open_bench(&b, &shapes[i], LINK_PROTOCOL_SWD);
        all_sizes(b.link);
        close_bench(&b);
        open_bench(&b, &shapes[i], LINK_PROTOCOL_JTAG);
        all_sizes(b.link);
        close_bench(&b);
    }
}

static void test_packets_are_under_way_together(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, &shapes[2], LINK_PROTOCOL_SWD);
    b.peer.most_waiting = 0;
    block_there_and_back(b.link, 1);
    assert_int_equal(b.peer.most_waiting, 8); /* as many as the probe takes, and no more (close_bench) */
    close_bench(&b);
    open_bench(&b, &shapes[1], LINK_PROTOCOL_SWD);
    block_there_and_back(b.link, 1);
    assert_int_equal(b.peer.most_waiting, 1);
    close_bench(&b);
}

static void test_a_polled_register_costs_one_packet(void **state)
{
    (void)state;
    static const enum link_protocol protocols[] = {LINK_PROTOCOL_SWD, LINK_PROTOCOL_JTAG};
    for (size_t i = 0; i < 2; i++) {
        struct bench b;
        struct diag d = DIAG_INIT;
        uint32_t v;
        open_bench(&b, NULL, protocols[i]);
        assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_OK);
        unsigned before = b.peer.packets;
        assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_OK);
        assert_int_equal(b.peer.packets - before, 1);
        before = b.peer.packets;
        assert_int_equal(link_write32(b.link, 0, SRAM, v, &d), CORRAL_OK);
        assert_int_equal(b.peer.packets - before, 1);
        /* SELECT, CSW and TAR ride along. */
        assert_int_equal(link_read32(b.link, 1, SRAM, &v, &d), CORRAL_OK);
        for (uint32_t k = 0; k < 4; k++) {
            before = b.peer.packets;
            assert_int_equal(link_read32(b.link, k % 2, SRAM + 4 * k, &v, &d), CORRAL_OK);
            assert_int_equal(link_write8(b.link, k % 2, SRAM + 400 + k, 1, &d), CORRAL_OK);
            assert_int_equal(b.peer.packets - before, 2);
        }
        /* A register that somebody wrote has been written when that is said. */
        assert_int_equal(link_write_ap(b.link, 1, 0x4, SRAM + 0x123, &d), CORRAL_OK);
        uint32_t select = 1u << 24;
        assert_int_equal(board_dap_access(b.peer.board, false, false, 0x8, &select), 1);
        assert_int_equal(board_dap_access(b.peer.board, true, true, 0x4, &v), 1);
        assert_int_equal(board_dap_access(b.peer.board, false, true, 0xC, &v), 1);
        assert_int_equal(v, SRAM + 0x123);
        close_bench(&b);
    }
}

/* The port refuses SELECT because of an error that nobody has seen yet: it is written once that is cleared.
 */
static void test_a_select_that_was_refused_is_written_later(void **state)
{
    (void)state;
    struct bench b;
    struct diag d = DIAG_INIT;
    uint32_t v = 0, nowhere = NOWHERE, value = 0;
    open_bench(&b, NULL, LINK_PROTOCOL_SWD);
    assert_int_equal(link_write32(b.link, 0, SRAM, 0xAAAA0000, &d), CORRAL_OK);
    assert_true(board_ap_fault(b.peer.board, 0, SRAM + 4, UINT32_MAX));
    assert_int_equal(link_read32(b.link, 1, SRAM + 4, &v, &d), CORRAL_OK);
    assert_int_equal(link_write32(b.link, 1, SRAM + 4, 0xBBBB0000, &d), CORRAL_OK);
    /* Behind the link's back: a sticky error, through AP 1, which is selected. */
    assert_int_equal(board_dap_access(b.peer.board, true, false, 0x4, &nowhere), 1);
    board_dap_access(b.peer.board, true, true, 0xC, &value);
    assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_ERR_LINK_FAULT);
    /* AP 0 is what is selected now, for mem_ap.c: it must be. */
    assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0xAAAA0000);
    assert_int_equal(link_read32(b.link, 0, SRAM + 4, &v, &d), CORRAL_ERR_LINK_FAULT);
    link_forget(b.link);
    assert_int_equal(link_read32(b.link, 1, SRAM + 4, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0xBBBB0000);
    close_bench(&b);
}

/* The same batch on the link `sim`: same codes, same counts. */
static void test_errors_are_the_same_as_on_link_sim(void **state)
{
    (void)state;
    struct bench b;
    struct diag d = DIAG_INIT;
    for (size_t shape = 0; shape < SHAPES; shape++) {
        struct host_clock *clock = host_clock_new_virtual();
        struct link *sim = link_sim_open(&(struct link_sim_options){.clock = clock}, &d);
        assert_non_null(sim);
        assert_int_equal(dp_power_up(sim, &d), CORRAL_OK);
        open_bench(&b, &shapes[shape], LINK_PROTOCOL_SWD);
        struct link *links[2] = {sim, b.link};
        /* Where a block runs out of memory: the last word of the SRAM, and nothing behind it. */
        static const struct {
            enum link_op op;
            uint64_t address;
            uint32_t count;
        } cases[] = {
            {LINK_MEM_READ, NOWHERE, 1},       {LINK_MEM_WRITE, NOWHERE, 1},
            {LINK_MEM_READ, NOWHERE, 200},     {LINK_MEM_WRITE, NOWHERE, 200},
            {LINK_MEM_READ, 0x2007FFE0u, 40},  {LINK_MEM_WRITE, 0x2007FFE0u, 40},
            {LINK_MEM_READ, 0x2007FFFCu, 2},   {LINK_MEM_WRITE, 0x2007FFFCu, 2},
            {LINK_MEM_READ, 0x2007FC00u, 300}, {LINK_MEM_WRITE, 0x2007FC00u, 300},
        };
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            enum corral_err err[2];
            struct link_access a[2][3];
            struct diag said[2] = {DIAG_INIT, DIAG_INIT};
            static uint32_t words[2][300], one[2];
            for (int k = 0; k < 2; k++) {
                memset(words[k], 0x5A, sizeof(words[k]));
                one[k] = 0x12345678;
                a[k][0] = (struct link_access){
                    .op = LINK_MEM_WRITE, .size = 4, .address = SRAM, .count = 1, .data = &one[k]};
                a[k][1] = (struct link_access){.op = cases[i].op,
                                               .size = 4,
                                               .address = cases[i].address,
                                               .count = cases[i].count,
                                               .data = words[k]};
                a[k][2] = (struct link_access){
                    .op = LINK_MEM_READ, .size = 4, .address = SRAM, .count = 1, .data = &one[k]};
                err[k] = link_execute(links[k], a[k], 3, &said[k]);
            }
            assert_int_equal(err[0], CORRAL_ERR_LINK_FAULT);
            assert_int_equal(err[1], err[0]);
            assert_string_equal(said[1].message, said[0].message);
            for (int n = 0; n < 3; n++) {
                assert_int_equal(a[1][n].status, a[0][n].status);
                assert_int_equal(a[1][n].done, a[0][n].done);
            }
            if (cases[i].op == LINK_MEM_READ)
                assert_memory_equal(words[0], words[1], 4 * a[0][1].done);
            /* Sticky errors are cleared: the next access works. */
            uint32_t v = 0;
            assert_int_equal(link_read32(b.link, 1, SRAM, &v, &d), CORRAL_OK);
            assert_int_equal(v, 0x12345678);
        }
        close_bench(&b);
        link_close(sim);
        host_clock_free(clock);
    }
}

/* A hole in the memory, at a word inside a block. */
static void test_a_block_with_a_fault_in_it_is_done_up_to_there(void **state)
{
    (void)state;
    static const enum link_protocol protocols[] = {LINK_PROTOCOL_SWD, LINK_PROTOCOL_JTAG};
    for (size_t i = 0; i < 2; i++)
        for (size_t shape = 0; shape < SHAPES; shape++)
            for (uint32_t hole = 0; hole < 100; hole += 11) {
                struct bench b;
                struct diag d = DIAG_INIT;
                uint32_t words[100], v = 0;
                char where[16];
                open_bench(&b, &shapes[shape], protocols[i]);
                for (uint32_t n = 0; n < 100; n++)
                    words[n] = n + 1;
                assert_int_equal(link_write_bytes(b.link, 0, SRAM, words, sizeof(words), &d), CORRAL_OK);
                assert_true(board_ap_fault(b.peer.board, 0, SRAM + 4 * hole, UINT32_MAX));
                snprintf(where, sizeof(where), "0x%08x", SRAM + 4 * (i ? 0 : hole));
                for (int write = 0; write < 2; write++) {
                    struct link_access a = {.op = write ? LINK_MEM_WRITE : LINK_MEM_READ,
                                            .size = 4,
                                            .address = SRAM,
                                            .count = 100,
                                            .data = words};
                    if (!write)
                        memset(words, 0, sizeof(words));
                    assert_int_equal(link_execute(b.link, &a, 1, &d), CORRAL_ERR_LINK_FAULT);
                    assert_non_null(strstr(d.message, where));
                    /* Case B21: on JTAG nothing is known of a block with a fault in it. */
                    assert_int_equal(a.done, i ? 0 : hole);
                    for (uint32_t n = 0; !write && n < a.done; n++)
                        assert_int_equal(words[n], n + 1);
                }
                assert_int_equal(link_read32(b.link, 0, SRAM + 4 * (hole + 1), &v, &d), CORRAL_OK);
                board_ap_mend(b.peer.board);
                close_bench(&b);
            }
}

/* Case B21: JTAG shows no FAULT. */
static void test_b21_a_fault_on_jtag_is_seen_and_nothing_of_its_block_is_known(void **state)
{
    (void)state;
    struct bench b;
    struct diag d = DIAG_INIT;
    uint32_t v = 0, words[40] = {0};
    open_bench(&b, NULL, LINK_PROTOCOL_JTAG);
    assert_int_equal(link_write32(b.link, 0, SRAM, 0x12345678, &d), CORRAL_OK);
    assert_int_equal(link_read32(b.link, 0, NOWHERE, &v, &d), CORRAL_ERR_LINK_FAULT);
    assert_non_null(strstr(d.message, "0x70000000"));
    assert_int_equal(link_write32(b.link, 0, NOWHERE, v, &d), CORRAL_ERR_LINK_FAULT);
    for (int k = 0; k < 2; k++) {
        struct link_access a = {.op = k ? LINK_MEM_READ : LINK_MEM_WRITE,
                                .size = 4,
                                .address = NOWHERE,
                                .count = 40,
                                .data = words};
        assert_int_equal(link_execute(b.link, &a, 1, &d), CORRAL_ERR_LINK_FAULT);
        assert_int_equal(a.done, 0);
    }
    assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x12345678);
    assert_int_equal(link_read32(b.link, 7, SRAM, &v, &d), CORRAL_ERR_NO_AP);
    close_bench(&b);
}

static void test_cores_halt_and_run(void **state)
{
    (void)state;
    static const enum link_protocol protocols[] = {LINK_PROTOCOL_SWD, LINK_PROTOCOL_JTAG};
    for (size_t i = 0; i < 2; i++) {
        struct bench b;
        struct diag d = DIAG_INIT;
        open_bench(
            &b, &(struct cmsis_dap_peer_options){.run = true, .packet_size = 64, .packet_count = i ? 4 : 1},
            protocols[i]);
        for (uint32_t ap = 0; ap < 2; ap++) {
            struct core *c = core_cortex_m_open(b.link, ap, "core", 0, NULL, &d);
            struct core_status s;
            uint32_t pc = 0;
            assert_non_null(c);
            assert_int_equal(core_request_halt(c, &d), CORRAL_OK);
            assert_int_equal(core_wait_halted(c, CORE_WAIT_NS, &d), CORRAL_OK);
            assert_int_equal(core_read_status(c, true, &s, &d), CORRAL_OK);
            assert_int_equal(s.state, CORE_HALTED);
            assert_int_equal(core_read_register(c, 15, &pc, &d), CORRAL_OK);
            assert_int_equal(pc, s.pc);
            assert_int_equal(core_resume(c, &d), CORRAL_OK);
            assert_int_equal(core_read_status(c, false, &s, &d), CORRAL_OK);
            assert_int_not_equal(s.state, CORE_HALTED);
            core_close(c);
        }
        close_bench(&b);
    }
}

/* A target that is slow: each n-th access of an AP waits for so many transfers. */
struct slow {
    struct board *board;
    unsigned every, waits;
    unsigned at_access; /* this one only, and then `waits` transfers, of whatever port */
    unsigned accesses, left;
    bool was_read;
};

static unsigned slow_port(void *ctx, bool ap, bool read, uint8_t addr)
{
    struct slow *s = ctx;
    if (!ap && (read ? addr == 4 || addr == 0 : addr == 0)) {
        if (!read)
            s->left = 0; /* ABORT */
        return 0;
    }
    if (s->left) {
        s->left--;
        return 2;
    }
    if (ap) {
        s->accesses++;
        if ((s->every && s->accesses % s->every == 0) || (s->at_access && s->accesses == s->at_access))
            s->left = s->waits;
    }
    return 0;
}

/* Bus accesses of AP 0 to the range of `n` words, writes or reads. */
static unsigned count_accesses(struct board *board, size_t from, bool write)
{
    const struct board_bus_record *r;
    size_t n = board_bus_log(board, &r);
    unsigned count = 0;
    for (size_t i = from; i < n; i++)
        count += r[i].write == write && r[i].address >= SRAM && r[i].address < SRAM + 0x4000;
    return count;
}

static void test_waits_neither_lose_nor_repeat(void **state)
{
    (void)state;
    /* Below and above what the probe waits for by itself (1024 on SWD). */
    static const struct slow slows[] = {
        {.every = 1, .waits = 1},     {.every = 3, .waits = 5},     {.every = 7, .waits = 900},
        {.every = 31, .waits = 1024}, {.every = 61, .waits = 1600},
    };
    static const uint32_t sizes[] = {1, 2, 13, 100, 300};
    static uint32_t out[300], in[300];
    for (size_t shape = 0; shape < SHAPES; shape++)
        for (size_t i = 0; i < sizeof(slows) / sizeof(slows[0]); i++) {
            struct bench b;
            struct diag d = DIAG_INIT;
            open_bench(&b, &shapes[shape], LINK_PROTOCOL_SWD);
            struct slow s = slows[i];
            board_dap_inject(b.peer.board, slow_port, &s);
            for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
                const struct board_bus_record *r;
                for (uint32_t n = 0; n < sizes[k]; n++)
                    out[n] = (uint32_t)(1000 * k + n);
                memset(in, 0, sizeof(in));
                struct link_access a[] = {
                    {.op = LINK_MEM_WRITE, .size = 4, .address = SRAM + 16, .count = sizes[k], .data = out},
                    {.op = LINK_MEM_READ, .size = 4, .address = SRAM + 16, .count = sizes[k], .data = in},
                };
                size_t from = board_bus_log(b.peer.board, &r);
                enum corral_err err = link_execute(b.link, a, 2, &d);
                unsigned writes = count_accesses(b.peer.board, from, true);
                unsigned reads = count_accesses(b.peer.board, from, false);
                /* Packets that were on their way behind the one that was given up may have got through. */
                if (err == CORRAL_ERR_LINK_WAIT && s.waits > 1024 && shape != 1) {
                    assert_in_range(writes, a[0].done, sizes[k]);
                    assert_in_range(reads, a[1].done, sizes[k]);
                    assert_memory_equal(out, in, 4 * a[1].done);
                    continue;
                }
                if (err)
                    fail_msg("every %u, %u waits, %u words: %s", s.every, s.waits, sizes[k], d.message);
                assert_memory_equal(out, in, 4 * sizes[k]);
                assert_int_equal(writes, sizes[k]);
                assert_int_equal(reads, sizes[k]);
            }
            close_bench(&b);
        }
}

/* The probe gives up a single access that the port has taken, and the link waits on. */
static void test_an_access_that_outlasts_the_probe_is_not_repeated(void **state)
{
    (void)state;
    for (unsigned waits = 1024; waits < 5000; waits += 1300) {
        struct bench b;
        struct diag d = DIAG_INIT;
        const struct board_bus_record *r;
        uint32_t v = 0;
        open_bench(&b, NULL, LINK_PROTOCOL_SWD);
        assert_int_equal(link_write32(b.link, 0, SRAM, 0x600DF00D, &d), CORRAL_OK);
        for (int write = 0; write < 2; write++) {
            struct slow s = {.at_access = 1, .waits = waits};
            board_dap_inject(b.peer.board, slow_port, &s);
            size_t from = board_bus_log(b.peer.board, &r);
            if (write)
                assert_int_equal(link_write32(b.link, 0, SRAM, 0xFEEDBEEF, &d), CORRAL_OK);
            else
                assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_OK);
            assert_int_equal(s.left, 0);
            assert_int_equal(count_accesses(b.peer.board, from, write), 1);
            assert_int_equal(count_accesses(b.peer.board, from, !write), 0);
        }
        assert_int_equal(v, 0x600DF00D);
        close_bench(&b);
    }
}

static void test_an_access_that_never_ends_is_aborted(void **state)
{
    (void)state;
    static const enum link_protocol protocols[] = {LINK_PROTOCOL_SWD, LINK_PROTOCOL_JTAG};
    for (size_t p = 0; p < 2; p++)
        for (unsigned at = 1; at <= 5; at += 2)
            for (int write = 0; write < 2; write++) {
                struct bench b;
                struct diag d = DIAG_INIT;
                static uint32_t words[40];
                uint32_t v;
                open_bench(&b, &shapes[at % SHAPES], protocols[p]);
                assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_OK);
                struct slow s = {.at_access = at, .waits = UINT32_MAX};
                board_dap_inject(b.peer.board, slow_port, &s);
                struct link_access a = {.op = write ? LINK_MEM_WRITE : LINK_MEM_READ,
                                        .size = 4,
                                        .address = SRAM + 64,
                                        .count = 40,
                                        .data = words};
                assert_int_equal(link_execute(b.link, &a, 1, &d), CORRAL_ERR_LINK_WAIT);
                assert_non_null(strstr(d.message, "WAIT without end"));
                assert_true(a.done < 6);
                s.at_access = 0;
                block_there_and_back(b.link, at);
                close_bench(&b);
            }
}

/* A packet is given up after the probe's own patience, and the target is ready again for the next one, which
 * is on its way already: its words must not land where the ones before it should have gone. */
static void test_words_behind_a_wait_are_never_misplaced(void **state)
{
    (void)state;
    for (unsigned at = 3; at < 60; at += 4) {
        struct bench b;
        struct diag d = DIAG_INIT;
        static uint32_t out[256], in[256];
        open_bench(&b, &shapes[2], LINK_PROTOCOL_SWD);
        memset(out, 0, sizeof(out));
        assert_int_equal(link_write_bytes(b.link, 0, SRAM, out, sizeof(out), &d), CORRAL_OK);
        for (uint32_t i = 0; i < 256; i++)
            out[i] = SRAM + 4 * i;
        struct slow s = {.at_access = at, .waits = 1030};
        board_dap_inject(b.peer.board, slow_port, &s);
        struct link_access a = {.op = LINK_MEM_WRITE, .size = 4, .address = SRAM, .count = 256, .data = out};
        enum corral_err err = link_execute(b.link, &a, 1, &d);
        board_dap_inject(b.peer.board, NULL, NULL);
        assert_true(err == CORRAL_OK || err == CORRAL_ERR_LINK_WAIT);
        assert_true(err != CORRAL_OK || a.done == 256);
        assert_int_equal(link_read_bytes(b.link, 0, SRAM, in, sizeof(in), &d), CORRAL_OK);
        for (uint32_t i = 0; i < 256; i++) {
            assert_true(in[i] == out[i] || (in[i] == 0 && i >= a.done));
        }
        close_bench(&b);
    }
}

static void test_the_reset_line(void **state)
{
    (void)state;
    struct bench b;
    struct diag d = DIAG_INIT;
    uint32_t v = 0, again = 0;
    open_bench(&b, &(struct cmsis_dap_peer_options){.run = true}, LINK_PROTOCOL_ANY);
    /* DHCSR.S_RESET_ST says that there was one, once. */
    assert_int_equal(link_read32(b.link, 0, 0xE000EDF0, &v, &d), CORRAL_OK);
    assert_int_equal(link_read32(b.link, 0, 0xE000EDF0, &v, &d), CORRAL_OK);
    assert_int_equal(v & 1u << 25, 0);
    assert_int_equal(link_drive_reset(b.link, true, &d), CORRAL_OK);
    assert_int_equal(link_drive_reset(b.link, false, &d), CORRAL_OK);
    assert_int_equal(link_read32(b.link, 0, 0xE000EDF0, &v, &d), CORRAL_OK);
    assert_int_equal(link_read32(b.link, 0, 0xE000EDF0, &again, &d), CORRAL_OK);
    assert_int_equal(v & 1u << 25, 1u << 25);
    assert_int_equal(again & 1u << 25, 0);
    block_there_and_back(b.link, 4);
    close_bench(&b);
}

static void test_a_port_of_version_3(void **state)
{
    (void)state;
    static const uint32_t aps[2] = {0x2000, 0x4000};
    for (size_t shape = 0; shape < SHAPES; shape++) {
        struct bench b;
        struct diag d = DIAG_INIT;
        struct cmsis_dap_peer_options o = shapes[shape];
        uint32_t v = 0;
        o.adiv6 = o.run = true;
        open_bench(&b, &o, LINK_PROTOCOL_SWD);
        struct cs_topology *t = cs_scan(b.link, NULL, &d);
        if (!t)
            fail_msg("%s", d.message);
        assert_int_equal(t->core_count, 2);
        for (int i = 0; i < 2; i++) {
            uint32_t words[200], back[200];
            assert_int_equal(t->cores[i].ap, aps[i]);
            assert_true(t->cores[i].has_cti);
            memset(words, 0x40 + i, sizeof(words));
            assert_int_equal(link_write_bytes(b.link, aps[i], SRAM + 12, words, sizeof(words), &d),
                             CORRAL_OK);
            assert_int_equal(link_read_bytes(b.link, aps[1 - i], SRAM + 12, back, sizeof(back), &d),
                             CORRAL_OK);
            assert_memory_equal(words, back, sizeof(back));
            unsigned before = b.peer.packets;
            assert_int_equal(link_read32(b.link, aps[i], SRAM + 64, &v, &d), CORRAL_OK);
            assert_int_equal(link_read32(b.link, aps[1 - i], SRAM + 68, &v, &d), CORRAL_OK);
            assert_int_equal(b.peer.packets - before, 2);
        }
        cs_topology_free(t);
        close_bench(&b);
    }
}

static void test_other_taps_on_the_chain(void **state)
{
    (void)state;
    static const struct cmsis_dap_peer_options chains[] = {
        {.others_ahead = 1}, {.others_behind = 1}, {.others_ahead = 3}, {.others_behind = 2}};
    for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]); i++) {
        struct bench b;
        open_bench(&b, &chains[i], LINK_PROTOCOL_JTAG);
        unsigned taps = 1 + chains[i].others_ahead + chains[i].others_behind, bits = 0;
        assert_int_equal(b.peer.ir_lengths, taps);
        for (unsigned k = 0; k < taps; k++)
            bits += b.peer.ir_length[k];
        assert_int_equal(bits, 4 + 5 * (taps - 1));
        block_there_and_back(b.link, 9);
        close_bench(&b);
    }
}

static void test_options_are_the_probes(void **state)
{
    (void)state;
    struct cmsis_dap_peer peer;
    struct diag d = DIAG_INIT;
    struct host_clock *clock = host_clock_new_real();
    cmsis_dap_peer_start(&peer, &(struct cmsis_dap_peer_options){.jtag_only = true});
    struct cmsis_dap_wire wire = cmsis_dap_peer_wire(&peer);
    struct link_options options = {.wire_hz = 123456};
    struct link *link = link_cmsis_dap_open_wire(&wire, "cmsis-dap", &options, clock, &d);
    assert_non_null(link);
    struct link_cmsis_dap_info info;
    assert_true(link_cmsis_dap_get_info(link, &info));
    assert_int_equal(info.connected, LINK_PROTOCOL_JTAG); /* what it can */
    assert_int_equal(peer.clock_hz, 123456);
    assert_string_equal(link_name(link), "cmsis-dap");
    link_close(link);
    cmsis_dap_peer_stop(&peer);
    host_clock_free(clock);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_probe_and_the_port_are_identified),
        cmocka_unit_test(test_the_cores_are_found),
        cmocka_unit_test(test_memory_in_all_sizes_with_packets_of_all_sizes),
        cmocka_unit_test(test_packets_are_under_way_together),
        cmocka_unit_test(test_a_polled_register_costs_one_packet),
        cmocka_unit_test(test_a_select_that_was_refused_is_written_later),
        cmocka_unit_test(test_errors_are_the_same_as_on_link_sim),
        cmocka_unit_test(test_a_block_with_a_fault_in_it_is_done_up_to_there),
        cmocka_unit_test(test_b21_a_fault_on_jtag_is_seen_and_nothing_of_its_block_is_known),
        cmocka_unit_test(test_cores_halt_and_run),
        cmocka_unit_test(test_waits_neither_lose_nor_repeat),
        cmocka_unit_test(test_an_access_that_outlasts_the_probe_is_not_repeated),
        cmocka_unit_test(test_an_access_that_never_ends_is_aborted),
        cmocka_unit_test(test_words_behind_a_wait_are_never_misplaced),
        cmocka_unit_test(test_the_reset_line),
        cmocka_unit_test(test_a_port_of_version_3),
        cmocka_unit_test(test_other_taps_on_the_chain),
        cmocka_unit_test(test_options_are_the_probes),
    };
    return cmocka_run_group_tests_name("link-cmsis-dap", tests, NULL, NULL);
}
