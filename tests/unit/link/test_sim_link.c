/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual board as a link: time, cost on the wire, images, and what a foreign file is answered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "coresight/rom_table.h"
#include "link/dry.h"
#include "link/link_backend.h"
#include "link/sim.h"

#define SRAM       0x20060000u /* in the shared half, where no image keeps anything */
#define DWT_CYCCNT 0xE0001004u
#define DWT_CTRL   0xE0001000u
#define DEMCR      0xE000EDFCu

struct bench {
    struct host_clock *clock;
    struct link *link;
};

static struct bench open_board(const char *board)
{
    struct bench b = {.clock = host_clock_new_virtual()};
    struct link_sim_options o = {.clock = b.clock, .log_accesses = true, .board = board};
    struct diag d = DIAG_INIT;
    b.link = link_sim_open(&o, &d);
    if (!b.link)
        fail_msg("%s", d.message);
    assert_int_equal(dp_power_up(b.link, &d), CORRAL_OK);
    return b;
}

static struct bench open_bench(void)
{
    return open_board(NULL);
}

static void close_bench(struct bench *b)
{
    link_close(b->link);
    /* without its driver the clock still works */
    int64_t now = host_clock_now(b->clock);
    host_clock_sleep(b->clock, 5);
    assert_int_equal(host_clock_now(b->clock), now + 5);
    host_clock_free(b->clock);
}

static void test_time_passes_on_the_wire(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct link_sim_info info;
    uint32_t v;
    assert_true(link_sim_get_info(b.link, &info));
    assert_int_equal(info.clocks_per_transfer, 46);
    assert_int_equal(info.swclk_hz, 4000000);
    assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_OK);
    int64_t t0 = host_clock_now(b.clock);
    uint64_t w0 = link_wire_clocks(b.link);
    assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_OK);
    assert_int_equal(link_wire_clocks(b.link) - w0, 2 * 46); /* DRW and RDBUFF */
    assert_int_equal(host_clock_now(b.clock) - t0, 2 * 11500);
    close_bench(&b);
}

static void test_the_board_runs_while_somebody_sleeps(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    uint32_t before, after, v;
    assert_int_equal(link_read32(b.link, 0, DEMCR, &v, &d), CORRAL_OK);
    assert_int_equal(link_write32(b.link, 0, DEMCR, v | 1u << 24, &d), CORRAL_OK);
    assert_int_equal(link_read32(b.link, 0, DWT_CTRL, &v, &d), CORRAL_OK);
    assert_int_equal(link_write32(b.link, 0, DWT_CTRL, v | 1, &d), CORRAL_OK);
    assert_int_equal(link_read32(b.link, 0, DWT_CYCCNT, &before, &d), CORRAL_OK);
    int64_t t0 = host_clock_now(b.clock);
    host_clock_sleep(b.clock, 3 * NS_PER_MS);
    assert_int_equal(host_clock_now(b.clock), t0 + 3 * NS_PER_MS);
    assert_int_equal(link_read32(b.link, 0, DWT_CYCCNT, &after, &d), CORRAL_OK);
    /* 3 ms at 100 MHz, and the transfers of one read */
    assert_in_range(after - before, 300000 + 1 * 1150, 300000 + 3 * 1150);
    close_bench(&b);
}

static void test_4_kib_cost_a_transfer_a_word(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    uint8_t in[4096], out[4096];
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(i * 13 + (i >> 8));
    assert_int_equal(link_write_bytes(b.link, 0, SRAM, in, sizeof(in), &d), CORRAL_OK);
    uint64_t w0 = link_wire_clocks(b.link);
    assert_int_equal(link_read_bytes(b.link, 1, SRAM, out, sizeof(out), &d),
                     CORRAL_OK); /* one memory, both APs */
    assert_memory_equal(out, in, sizeof(in));
    uint64_t transfers = (link_wire_clocks(b.link) - w0) / 46;
    assert_in_range(transfers, 1024, 1024 + 24);
    close_bench(&b);
}

static void test_a_bus_error_is_an_error_and_the_next_access_works(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    uint32_t v;
    assert_int_equal(link_read32(b.link, 0, 0x70000000, &v, &d), CORRAL_ERR_LINK_FAULT);
    assert_non_null(strstr(d.message, "0x70000000"));
    assert_int_equal(link_write32(b.link, 1, 0x70000000, 1, &d), CORRAL_ERR_LINK_FAULT);
    assert_non_null(strstr(d.message, "0x70000000"));
    assert_int_equal(link_write32(b.link, 0, SRAM, 0x55AA55AA, &d), CORRAL_OK);
    assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x55AA55AA);
    assert_int_equal(link_read32(b.link, 5, SRAM, &v, &d), CORRAL_ERR_NO_AP);
    close_bench(&b);
}

static void test_the_bus_log_holds_what_came_through_the_ports(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct link_sim_bus_record r[4];
    size_t from = 0;
    while (link_sim_bus_log(b.link, from, r, 1) == 1)
        from++;
    assert_int_equal(link_write8(b.link, 1, SRAM + 1, 0x42, &d), CORRAL_OK);
    assert_int_equal(link_sim_bus_log(b.link, from, r, 4), 1);
    assert_int_equal(r[0].ap, 1);
    assert_int_equal(r[0].address, SRAM + 1);
    assert_int_equal(r[0].size, 1);
    assert_true(r[0].write);
    close_bench(&b);
}

static void test_images_and_other_links(void **state)
{
    (void)state;
    struct bench b = open_bench();
    const uint8_t *image;
    size_t size;
    assert_string_equal(link_name(b.link), "sim");
    for (unsigned core = 0; core < LINK_SIM_CORES; core++) {
        assert_true(link_sim_image(b.link, core, &image, &size));
        assert_true(size > 52);
        assert_memory_equal(image, "\177ELF", 4);
    }
    assert_false(link_sim_image(b.link, LINK_SIM_CORES, &image, &size));
    struct diag d = DIAG_INIT;
    struct link *dry = link_dry_open("dry", b.clock, &d);
    struct link_sim_info info;
    assert_non_null(dry);
    assert_false(link_sim_get_info(dry, &info));
    assert_int_equal(link_sim_log_count(dry), 0);
    link_close(dry);
    close_bench(&b);
}

/* Opens with `data` as the image of core 0; the diag's sentence names the file. */
static void refused(const void *data, size_t size, enum corral_err code)
{
    char path[] = "sim-link-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    close(fd);
    struct host_clock *clock = host_clock_new_virtual();
    struct link_sim_options o = {.clock = clock, .elf = {path, path}};
    struct diag d = DIAG_INIT;
    assert_null(link_sim_open(&o, &d));
    unlink(path);
    assert_int_equal(d.code, code);
    assert_int_equal(corral_err_exit_code(d.code), 1);
    assert_non_null(strstr(d.message, path));
    host_clock_free(clock);
}

static void test_bad_images_are_refused_by_name(void **state)
{
    (void)state;
    struct bench b = open_bench();
    const uint8_t *image;
    size_t size;
    assert_true(link_sim_image(b.link, 0, &image, &size));
    uint8_t *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, image, size);
    refused("", 0, CORRAL_ERR_ELF);
    refused("no ELF at all", 13, CORRAL_ERR_ELF);
    refused(copy, 40, CORRAL_ERR_ELF);
    refused(copy, 300, CORRAL_ERR_ELF);
    copy[18] = 0x3E; /* e_machine: another processor */
    refused(copy, size, CORRAL_ERR_ELF);
    free(copy);
    close_bench(&b);
}

static void test_an_image_that_is_not_there(void **state)
{
    (void)state;
    struct host_clock *clock = host_clock_new_virtual();
    struct diag d = DIAG_INIT;
    struct link_sim_options o = {.clock = clock, .elf = {"no/such.elf", "no/such.elf"}};
    assert_null(link_sim_open(&o, &d));
    assert_int_equal(d.code, CORRAL_ERR_IO);
    assert_non_null(strstr(d.message, "no/such.elf"));
    o.elf[0] = NULL; /* core 1's alone: the board is led by core 0 */
    assert_null(link_sim_open(&o, &d));
    assert_int_equal(d.code, CORRAL_ERR_USAGE);
    o = (struct link_sim_options){0};
    assert_null(link_sim_open(&o, &d));
    host_clock_free(clock);
}

static void test_two_boards_are_alike(void **state)
{
    (void)state;
    uint32_t pcs[2];
    for (size_t i = 0; i < 2; i++) {
        struct bench b = open_bench();
        struct diag d = DIAG_INIT;
        host_clock_sleep(b.clock, 20 * NS_PER_MS);
        assert_int_equal(link_read32(b.link, 0, 0xE000101C, &pcs[i], &d), CORRAL_OK); /* DWT_PCSR */
        close_bench(&b);
    }
    assert_int_equal(pcs[0], pcs[1]);
}

static void test_the_boards_switches(void **state)
{
    (void)state;
    struct bench b = open_board("--core-hz 100000000,64000000 --ctm-latency 9 --cti-base=0xE0043000");
    struct diag d = DIAG_INIT;
    struct link_sim_info info;
    uint32_t v;
    assert_true(link_sim_get_info(b.link, &info));
    assert_true(info.core_hz[0] == 100000000 && info.core_hz[1] == 64000000 && info.ctm_latency == 9);
    assert_int_equal(link_read32(b.link, 1, 0xE0043FF0, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x0D);
    close_bench(&b);
    /* What is given as a number goes before the words. */
    struct link_sim_options o = {.clock = host_clock_new_virtual(), .board = "--ctm-latency 9 --seed 4"};
    o.ctm_latency_set = true;
    struct link *link = link_sim_open(&o, &d);
    assert_non_null(link);
    assert_true(link_sim_get_info(link, &info));
    assert_int_equal(info.ctm_latency, 0);
    link_close(link);
    static const char *const wrong[] = {"--identity m1,m2", "--core-hz 99999989,99999971", "--elf a,",
                                        "--elf nowhere.elf", "level-halted"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        o.board = wrong[i];
        assert_null(link_sim_open(&o, &d));
        assert_int_equal(d.code, i == 3 ? CORRAL_ERR_IO : CORRAL_ERR_USAGE);
        assert_true(d.message[0] != '\0');
        /* Each alone, but for what only the board can say. */
        assert_int_equal(link_sim_check_board(wrong[i], &d), i == 0 || i == 4 ? CORRAL_ERR_USAGE : CORRAL_OK);
    }
    host_clock_free(o.clock);
}

static void test_the_reset_line(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    uint32_t v;
    assert_int_equal(link_drive_reset(b.link, true, &d), CORRAL_OK);
    for (uint32_t ap = 0; ap < 2; ap++)
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(link_read32(b.link, ap, 0xE000EDF0, &v, &d), CORRAL_OK);
            assert_int_equal(v >> 25 & 1, 1);
        }
    assert_int_equal(link_drive_reset(b.link, false, &d), CORRAL_OK);
    assert_int_equal(link_read32(b.link, 1, 0xE000EDF0, &v, &d), CORRAL_OK);
    assert_int_equal(link_read32(b.link, 1, 0xE000EDF0, &v, &d), CORRAL_OK);
    assert_int_equal(v >> 25 & 1, 0);
    close_bench(&b);
}

static void test_misfortunes_by_command(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    uint32_t v;
    assert_string_equal(link_sim_command(b.link, "power core1 off"), "ok\n");
    assert_int_equal(link_read32(b.link, 1, SRAM, &v, &d), CORRAL_ERR_LINK_FAULT);
    assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_OK);
    assert_string_equal(link_sim_command(b.link, "power core1 on"), "ok\n");
    assert_int_equal(link_read32(b.link, 1, SRAM, &v, &d), CORRAL_OK);
    assert_int_equal(strncmp(link_sim_command(b.link, "power core7 on"), "error: ", 7), 0);
    assert_string_equal(link_sim_command(b.link, "vanish after 3"), "ok\n");
    assert_int_equal(link_read32(b.link, 1, SRAM, &v, &d), CORRAL_OK); /* DRW and RDBUFF */
    assert_int_equal(link_read32(b.link, 1, SRAM, &v, &d), CORRAL_ERR_LINK_DOWN);
    assert_non_null(strstr(d.message, "does not answer"));
    assert_string_equal(link_sim_command(b.link, "vanish off"), "ok\n");
    assert_int_equal(link_read32(b.link, 1, SRAM, &v, &d), CORRAL_OK);
    struct host_clock *clock = host_clock_new_virtual();
    struct link *other = link_dry_open("dry", clock, &d);
    assert_non_null(other);
    assert_null(link_sim_command(other, "ticks"));
    link_close(other);
    host_clock_free(clock);
    close_bench(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_passes_on_the_wire),
        cmocka_unit_test(test_the_board_runs_while_somebody_sleeps),
        cmocka_unit_test(test_4_kib_cost_a_transfer_a_word),
        cmocka_unit_test(test_a_bus_error_is_an_error_and_the_next_access_works),
        cmocka_unit_test(test_the_bus_log_holds_what_came_through_the_ports),
        cmocka_unit_test(test_images_and_other_links),
        cmocka_unit_test(test_bad_images_are_refused_by_name),
        cmocka_unit_test(test_an_image_that_is_not_there),
        cmocka_unit_test(test_two_boards_are_alike),
        cmocka_unit_test(test_the_boards_switches),
        cmocka_unit_test(test_the_reset_line),
        cmocka_unit_test(test_misfortunes_by_command),
    };
    return cmocka_run_group_tests_name("link-sim", tests, NULL, NULL);
}
