/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debug port's registers by hand on each link, as debug sequences use them: SELECT's bank, ABORT,
 * TARGETSEL, the AP address space of ADIv6 (cross-trigger sheet 2.1, 4.7; cases B22, C26, C42).
 */
#include "tests/unit/link/raw_bench.h"

/* CTRL/STAT, and another register of the same address. */
static void check_banks(struct bench *b, uint32_t target_id)
{
    uint32_t v = 0;
    check_memory(b, 1);
    write_dp(b, 0x8, BANK_TARGETID);
    assert_int_equal(read_dp(b, 0x4), target_id);
    check_memory(b, 2);
    assert_int_equal(read_dp(b, 0x4), target_id); /* memory in between changes nothing */
    must(b, link_read_ap(b->link, 1, 0xFC, &v, &b->d));
    assert_int_not_equal(v, 0);
    assert_int_equal(read_dp(b, 0x4), target_id);
    write_dp(b, 0x8, 0x01000000); /* AP 1 in it: means nothing to accesses that name their AP */
    assert_int_equal(read_dp(b, 0x4) & 0xF0000000, 0xF0000000);
    check_memory(b, 3);
    assert_int_equal(read_dp(b, 0x4) & 0xF0000000, 0xF0000000);
    check_memory(b, 4);
}

static void test_the_bank_of_dp_registers_is_who_wrote_it(void **state)
{
    (void)state;
    for (enum kind k = SIM; k < KINDS; k++) {
        struct bench b;
        open_bench(&b, k);
        write_dp(&b, 0x8, BANK_TARGETID);
        uint32_t target_id = read_dp(&b, 0x4);
        assert_int_equal(target_id, k == DRY ? 0 : TARGETID);
        write_dp(&b, 0x8, 0);
        check_banks(&b, target_id);
        close_bench(&b);
    }
}

/* The same in one batch. */
static void test_the_bank_in_a_batch(void **state)
{
    (void)state;
    for (enum kind k = SIM; k < KINDS; k++) {
        struct bench b;
        open_bench(&b, k);
        check_memory(&b, 0x77);
        uint32_t bank = BANK_TARGETID, none = 0, v[6] = {0};
        struct link_access a[] = {
            {.op = LINK_DP_WRITE, .size = 4, .address = 8, .count = 1, .data = &bank},
            {.op = LINK_DP_READ, .size = 4, .address = 4, .count = 1, .data = &v[0]},
            {.op = LINK_MEM_READ, .size = 4, .address = SRAM, .count = 1, .data = &v[1]},
            {.op = LINK_DP_READ, .size = 4, .address = 4, .count = 1, .data = &v[2]},
            {.op = LINK_DP_WRITE, .size = 4, .address = 8, .count = 1, .data = &none},
            {.op = LINK_MEM_READ, .size = 4, .address = SRAM, .count = 1, .data = &v[3]},
            {.op = LINK_DP_READ, .size = 4, .address = 4, .count = 1, .data = &v[4]},
            {.op = LINK_DP_READ, .size = 4, .address = 0, .count = 1, .data = &v[5]},
        };
        must(&b, link_execute(b.link, a, sizeof(a) / sizeof(a[0]), &b.d));
        assert_int_equal(v[0], k == DRY ? 0 : TARGETID);
        assert_int_equal(v[2], v[0]);
        assert_int_equal(v[1], 0x77);
        assert_int_equal(v[3], 0x77);
        assert_int_equal(v[4] & 0xF0000000, 0xF0000000);
        assert_int_not_equal(v[5], 0);
        close_bench(&b);
    }
}

/* Bank 0, which it mostly is, costs nothing: a DP read between two words is one transfer. */
static void test_the_bank_costs_nothing_where_it_is_right(void **state)
{
    (void)state;
    struct bench b;
    uint32_t v;
    open_bench(&b, SIM);
    struct link_sim_info info;
    assert_true(link_sim_get_info(b.link, &info));
    write_dp(&b, 0x8, 0);
    must(&b, link_read32(b.link, 0, SRAM, &v, &b.d));
    uint64_t before = link_wire_clocks(b.link);
    read_dp(&b, 0x4);
    must(&b, link_read32(b.link, 0, SRAM, &v, &b.d));
    assert_int_equal(link_wire_clocks(b.link) - before, 3 * info.clocks_per_transfer); /* DP, DRW, RDBUFF */
    close_bench(&b);
}

/* Overruns of the board's own port: what only ABORT clears. */
static void make_sticky(struct board *board)
{
    uint32_t ctrl = 0x50000001;
    assert_int_equal(board_dap_access(board, false, false, 4, &ctrl), 1);
    board_dap_overrun(board);
}

static void test_abort_clears_what_is_sticky(void **state)
{
    (void)state;
    static const enum kind kinds[] = {SIM, DAP_SWD, DAP_JTAG};
    for (size_t i = 0; i < 3; i++)
        for (unsigned way = 0; way < 4; way++) {
            struct bench b;
            open_bench(&b, kinds[i]);
            check_memory(&b, 1);
            write_dp(&b, 0x8, way & 2 ? BANK_TARGETID : 0); /* whichever bank is selected */
            if (way & 2)
                read_dp(&b, 0x4);
            struct board *board = kinds[i] == SIM ? link_sim_board(b.link) : b.dap.board;
            if (way & 2 && kinds[i] == DAP_JTAG) {
                /* The peer's port has SWD's rules, where SELECT cannot be written now: seen is the write. */
                abort_with(&b, 0x1E);
                assert_int_equal(read_dp(&b, 0x4), TARGETID);
                write_dp(&b, 0x8, 0);
                assert_int_equal(read_dp(&b, 0x4) & 0xF0000032, 0xF0000000);
                close_bench(&b);
                continue;
            }
            make_sticky(board);
            uint32_t stat = 0;
            if (!(way & 2)) {
                assert_int_equal(board_dap_access(board, false, true, 4, &stat), 1);
                assert_int_equal(stat & 0x2, 0x2);
            }
            if (way & 1)
                abort_with(&b, 0x1E);
            else
                write_dp(&b, 0x0, 0x1E);
            write_dp(&b, 0x8, 0);
            assert_int_equal(read_dp(&b, 0x4) & 0x32, 0);
            check_memory(&b, 2);
            close_bench(&b);
        }
}

/* DAPABORT: what the AP was told last is not taken for granted afterwards. */
static void test_dapabort_by_hand(void **state)
{
    (void)state;
    for (enum kind k = SIM; k < KINDS; k++) {
        struct bench b;
        open_bench(&b, k);
        check_memory(&b, 1);
        write_dp(&b, 0x8, BANK_TARGETID);
        abort_with(&b, 0x1F);
        assert_int_equal(read_dp(&b, 0x4), k == DRY ? 0 : TARGETID); /* the bank stays */
        check_memory(&b, 2);
        write_dp(&b, 0x0, 0x1F);
        check_memory(&b, 3);
        close_bench(&b);
    }
}

/* In a batch a write of ABORT takes nothing away from those ahead of it. */
static void test_abort_behind_other_writes(void **state)
{
    (void)state;
    for (enum kind k = SIM; k < KINDS; k++) {
        struct bench b;
        open_bench(&b, k);
        check_memory(&b, 1);
        uint32_t select = BANK_TARGETID, clear = 0x1E, word = 0x99, v = 0;
        struct link_access a[] = {
            {.op = LINK_MEM_WRITE, .size = 4, .address = SRAM, .count = 1, .data = &word},
            {.op = LINK_DP_WRITE, .size = 4, .address = 8, .count = 1, .data = &select},
            {.op = LINK_DP_WRITE, .size = 4, .address = 0, .count = 1, .data = &clear},
            {.op = LINK_DP_READ, .size = 4, .address = 4, .count = 1, .data = &v},
        };
        must(&b, link_execute(b.link, a, 4, &b.d));
        assert_int_equal(v, k == DRY ? 0 : TARGETID);
        must(&b, link_read32(b.link, 0, SRAM, &v, &b.d));
        assert_int_equal(v, 0x99);
        close_bench(&b);
    }
}

/* A failing access leaves no sticky error and the bank as it was; the next one works. */
static void test_c26_the_next_access_works(void **state)
{
    (void)state;
    for (enum kind k = SIM; k < KINDS; k++) {
        struct bench b;
        uint32_t v = 0, word = 1;
        if (k == DRY)
            continue; /* whose memory has no holes */
        open_bench(&b, k);
        for (unsigned write = 0; write < 2; write++) {
            write_dp(&b, 0x8, BANK_TARGETID);
            struct link_access a = {.op = write ? LINK_MEM_WRITE : LINK_MEM_READ,
                                    .size = 4,
                                    .address = NOWHERE,
                                    .count = 1,
                                    .data = &word};
            assert_int_equal(link_execute(b.link, &a, 1, &b.d), CORRAL_ERR_LINK_FAULT);
            assert_int_equal(read_dp(&b, 0x4), TARGETID);
            write_dp(&b, 0x8, 0);
            assert_int_equal(read_dp(&b, 0x4) & 0x32, 0);
            check_memory(&b, write);
            assert_int_equal(link_execute(b.link, &a, 1, &b.d), CORRAL_ERR_LINK_FAULT);
            must(&b, link_read_ap(b.link, 1, 0xFC, &v, &b.d));
            assert_int_not_equal(v, 0);
        }
        close_bench(&b);
    }
}

/* The AP address space of ADIv6 by its own addresses: the root table at 0, an AP's registers at its base. */
static void test_registers_in_the_ap_address_space(void **state)
{
    (void)state;
    static const enum kind kinds[] = {SIM, DAP_SWD};
    for (size_t i = 0; i < 2; i++) {
        struct bench b = {.kind = kinds[i]};
        uint32_t idr[2] = {0}, v = 0;
        if (kinds[i] == SIM) {
            b.clock = host_clock_new_virtual();
            b.link = link_sim_open(&(struct link_sim_options){.clock = b.clock, .board = "--adiv6"}, &b.d);
            assert_non_null(b.link);
            must(&b, dp_power_up(b.link, &b.d));
        } else {
            open_with(&b, DAP_SWD, &(struct cmsis_dap_peer_options){.adiv6 = true}, "cmsis-dap");
        }
        must(&b, link_read_ap(b.link, 0, 0xFBC, &v, &b.d)); /* DEVARCH */
        assert_int_equal(v & 0xFFFF, 0x0AF7);
        write_dp(&b, 0x8, 1); /* DPIDR1 */
        assert_int_equal(read_dp(&b, 0) & 0x7F, 32);
        uint32_t entry[2] = {0};
        must(&b, link_read_ap(b.link, 0, 0x000, &entry[0], &b.d));
        must(&b, link_read_ap(b.link, 0, 0x004, &entry[1], &b.d));
        assert_int_equal(read_dp(&b, 0) & 0x7F, 32); /* still, not DPIDR */
        for (size_t n = 0; n < 2; n++) {
            uint32_t base = entry[n] & 0xFFFFF000;
            assert_int_not_equal(base, 0);
            must(&b, link_read_ap(b.link, base, 0xDFC, &idr[n], &b.d));
            assert_int_equal(idr[n] >> 13 & 0xF, 8); /* a MEM-AP */
            uint32_t address = SRAM, back = 0;
            must(&b, link_write_ap(b.link, base, 0xD04, address, &b.d)); /* TAR */
            must(&b, link_read_ap(b.link, base, 0xD04, &back, &b.d));
            assert_int_equal(back, address);
            must(&b, link_write32(b.link, base, SRAM + 8, 0x50 + (uint32_t)n, &b.d));
            must(&b, link_read32(b.link, base, SRAM + 8, &back, &b.d));
            assert_int_equal(back, 0x50 + n);
        }
        assert_int_equal(link_read_ap(b.link, 0, 0x1000, &v, &b.d), CORRAL_ERR_USAGE);
        assert_int_equal(link_read_ap(b.link, 0x104, 0, &v, &b.d), CORRAL_ERR_NO_AP);
        must(&b, link_read32(b.link, entry[0] & 0xFFFFF000, SRAM + 8, &v, &b.d));
        close_bench(&b);
    }
}

/* Multidrop by hand: the write of TARGETSEL that nobody acknowledges, then DPIDR (case B22). */
static void test_targetsel_by_hand(void **state)
{
    (void)state;
    struct bench b;
    uint32_t v = 0;
    open_with(&b, DAP_SWD, &(struct cmsis_dap_peer_options){.instances = 2},
              "cmsis-dap?targetsel=0x01002927");
    check_memory(&b, 1);
    line_reset(&b);
    write_dp(&b, 0xC, PEER_TARGETSEL + (1u << 28));
    assert_int_equal(b.dap.selected, PEER_TARGETSEL + (1u << 28));
    read_dp(&b, 0);
    write_dp(&b, 0x8, 3);
    assert_int_equal(read_dp(&b, 0x4) >> 28, 1); /* DLPIDR.TINSTANCE */
    check_memory(&b, 2);
    /* One that is not there. */
    line_reset(&b);
    write_dp(&b, 0xC, PEER_TARGETSEL + (5u << 28));
    assert_int_equal(link_read_dp(b.link, 0, &v, &b.d), CORRAL_ERR_LINK_DOWN);
    line_reset(&b);
    write_dp(&b, 0xC, PEER_TARGETSEL);
    read_dp(&b, 0);
    check_memory(&b, 3);
    close_bench(&b);
}

/* The board's APs have none, on whichever link, and nothing is sent. */
static void test_c42_no_64_bits_on_the_board(void **state)
{
    (void)state;
    for (enum kind k = SIM; k < KINDS; k++) {
        struct bench b;
        uint64_t v = 0;
        struct link_access a = {.op = LINK_MEM_READ, .size = 8, .address = SRAM, .count = 1, .data = &v};
        open_bench(&b, k);
        assert_int_equal(link_execute(b.link, &a, 1, &b.d), CORRAL_ERR_UNSUPPORTED);
        assert_string_equal(b.d.message, "access port 0 has no 64-bit accesses");
        check_memory(&b, 1);
        close_bench(&b);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_bank_of_dp_registers_is_who_wrote_it),
        cmocka_unit_test(test_the_bank_in_a_batch),
        cmocka_unit_test(test_the_bank_costs_nothing_where_it_is_right),
        cmocka_unit_test(test_abort_clears_what_is_sticky),
        cmocka_unit_test(test_dapabort_by_hand),
        cmocka_unit_test(test_abort_behind_other_writes),
        cmocka_unit_test(test_c26_the_next_access_works),
        cmocka_unit_test(test_registers_in_the_ap_address_space),
        cmocka_unit_test(test_targetsel_by_hand),
        cmocka_unit_test(test_c42_no_64_bits_on_the_board),
    };
    return cmocka_run_group_tests_name("link-port", tests, NULL, NULL);
}
